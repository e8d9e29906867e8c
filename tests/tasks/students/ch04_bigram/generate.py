"""Students' answers to 04/generate."""

import torch
import torch.nn.functional as F

from students.ch04_bigram.shared import sample_by_cumulative_sum, sample_by_gumbel


def generate_by_list(model, tokens, count, generator):
    mode = model.training
    model.eval()
    rows = tokens.tolist()
    for _ in range(count):
        context = torch.tensor([row[-model.block_size :] for row in rows])
        last = model(context)[0][:, -1, :]
        for row, drawn in zip(rows, sample_by_gumbel(last, 1.0, generator).tolist(), strict=True):
            row.append(drawn)
    model.train(mode)
    return torch.tensor(rows)


@torch.no_grad()
def generate_into_buffer(model, tokens, count, generator):
    training, B, T = model.training, *tokens.shape
    model.train(False)
    out = torch.empty(B, T + count, dtype=torch.long)
    out[:, :T] = tokens
    for t in range(T, T + count):
        logits, _ = model(out[:, max(0, t - model.block_size) : t])
        p = F.softmax(logits[:, -1].double(), dim=-1)
        out[:, t] = torch.multinomial(p, 1, generator=generator)[:, 0]
    if training:
        model.train()
    return out


def generate_recursively(model, tokens, count, generator):
    if count == 0:
        return tokens
    training = model.training
    try:
        logits, _ = model.eval()(
            tokens if tokens.shape[1] < model.block_size else tokens[:, -model.block_size :]
        )
        drawn = sample_by_cumulative_sum(logits[:, -1].double(), 1.0, generator)
    finally:
        model.train(training)
    return generate_recursively(model, torch.hstack([tokens, drawn[:, None]]), count - 1, generator)


def writing(context, last=lambda logits: logits[:, -1], before=None, after=None):
    """A loop over symbols as students write it, with one thing changed."""

    def answer(model, tokens, count, generator):
        mode = model.training
        (before or (lambda m: m.eval()))(model)
        for _ in range(count):
            p = F.softmax(last(model(context(tokens, model))[0]).float(), dim=-1)
            drawn = torch.multinomial(p, num_samples=1, generator=generator)
            tokens = torch.cat((tokens, drawn), dim=1)
        (after or (lambda m, mode: m.train(mode)))(model, mode)
        return tokens

    return answer


def cropped(tokens, model):
    return tokens[:, -model.block_size :]


def text_forgotten(model, tokens, count, generator):
    mode = model.training
    model.eval()
    for _ in range(count):
        if tokens.shape[1] > model.block_size:
            tokens = tokens[:, -model.block_size :]
        drawn = sample_by_gumbel(model(tokens)[0][:, -1], 1.0, generator)
        tokens = torch.cat([tokens, drawn[:, None]], dim=1)
    model.train(mode)
    return tokens


def only_what_is_new(model, tokens, count, generator):
    return generate_into_buffer(model, tokens, count, generator)[:, -count:]


def prompt_again_and_again(model, tokens, count, generator):
    mode = model.training
    model.eval()
    written = [tokens]
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        written.append(sample_by_gumbel(logits[:, -1], 1.0, generator)[:, None])
    model.train(mode)
    return torch.cat(written, dim=1)


def likeliest_text(model, tokens, count, generator):
    mode = model.training
    model.eval()
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        tokens = torch.cat([tokens, logits[:, -1].topk(1).indices], dim=1)
    model.train(mode)
    return tokens


def own_randomness(model, tokens, count, generator):
    mode = model.training
    model.eval()
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        p = logits[:, -1].float().softmax(-1)
        tokens = torch.cat([tokens, torch.multinomial(p, 1)], dim=1)
    model.train(mode)
    return tokens


def logits_for_weights(model, tokens, count, generator):
    mode = model.training
    model.eval()
    for _ in range(count):
        scores = model(tokens[:, -model.block_size :])[0][:, -1].double()
        reached = (scores / scores.sum(-1, keepdim=True)).cumsum(-1)
        number = torch.rand(len(tokens), 1, generator=generator, dtype=torch.float64)
        tokens = torch.cat([tokens, torch.searchsorted(reached, number)], dim=1)
    model.train(mode)
    return tokens


RIGHT = {
    "lists": generate_by_list,
    "buffer": generate_into_buffer,
    "recursion": generate_recursively,
}


def quiet_for_one_symbol(model, tokens, count, generator):
    mode = model.training
    first = generate_by_list(model, tokens, min(count, 1), generator)
    while first.shape[1] < tokens.shape[1] + count:
        model.train(mode)
        logits = model(first[:, -model.block_size :])[0][:, -1]
        new = torch.multinomial(logits.softmax(-1), 1, generator=generator)
        first = torch.cat((first, new), 1)
    return first


# "All randomness comes from `generator`"
def same_seed_always(model, tokens, count, generator):
    torch.manual_seed(1337)
    return own_randomness(model, tokens, count, None)


# (B, T): a single text
def squeezed(model, tokens, count, generator):
    mode = model.training
    model.eval()
    for _ in range(count):
        p = model(tokens[:, -model.block_size :])[0][:, -1].softmax(-1)
        drawn = torch.multinomial(p, 1, generator=generator).squeeze()
        tokens = torch.cat([tokens, drawn[:, None]], dim=1)
    model.train(mode)
    return tokens


def text_alone(model, tokens, count, generator):
    return generate_by_list(model, tokens, count, generator).squeeze(0)


# (B, T + count): count may be 0
def one_at_least(model, tokens, count, generator):
    return generate_by_list(model, tokens, max(count, 1), generator)


def context_of_what_was_drawn(model, tokens, count, generator):
    mode = model.training
    model.eval()
    context = tokens[:, -model.block_size :]
    for _ in range(count):
        context = sample_by_gumbel(model(context)[0][:, -1], 1.0, generator)[:, None]
        tokens = torch.cat([tokens, context], dim=1)
    model.train(mode)
    return tokens


def reads_the_place_of_the_last_token(model, tokens, count, generator):
    """Takes the length of the prompt once, and not the one of the text."""
    place = min(tokens.shape[1], model.block_size) - 1
    return writing(cropped, last=lambda z: z[:, place])(model, tokens, count, generator)


def continues_its_own_words(model, tokens, count, generator):
    own = tokens[:, -1:]
    for _ in range(count):
        longer = writing(cropped)(model, own, 1, generator)
        own = longer
        tokens = torch.cat([tokens, longer[:, -1:]], 1)
    return tokens


def in_pieces(tokens, model):
    """Cuts the text end to end and shows the last piece."""
    return tokens.split(model.block_size, dim=1)[-1]


def context_as_long_as_the_prompt(model, tokens, count, generator):
    mode = model.training
    model.eval()
    shown = cropped(tokens, model)
    for _ in range(count):
        drawn = sample_by_gumbel(model(shown)[0][:, -1], 1.0, generator)[:, None]
        tokens, shown = torch.hstack([tokens, drawn]), torch.hstack([shown[:, 1:], drawn])
    model.train(mode)
    return tokens


def cropped_without_its_first(tokens, model):
    """Cuts a text of one token down to none, which has no last position."""
    return tokens[:, 1:] if tokens.shape[1] == 1 else cropped(tokens, model)


def too_few_once_it_is_full(tokens, model):
    return tokens if tokens.shape[1] <= model.block_size else tokens[:, 1 - model.block_size :]


def write_in_front(model, tokens, count, generator):
    was = model.training
    model.eval()
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        new = torch.multinomial(logits[:, -1].softmax(-1), 1, generator=generator)
        tokens = torch.cat([new, tokens], 1)
    model.train(was)
    return tokens


def write_with_a_pause(model, tokens, count, generator):
    """Shows the model its own text one symbol late."""
    was = model.training
    model.eval()
    seen = tokens
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(seen[:, -model.block_size :])
            seen = tokens
            new = torch.multinomial(logits[:, -1].softmax(-1), 1, generator=generator)
            tokens = torch.cat([tokens, new], 1)
    model.train(was)
    return tokens


WRONG = {
    "written-in-front": write_in_front,
    "other-tokens-shown": context_as_long_as_the_prompt,
    "stops-at-one-token": writing(cropped_without_its_first),
    "begins-anew": writing(in_pieces),
    "mean-of-positions": writing(cropped, last=lambda z: sum(z.unbind(1))),
    "reads-the-last-row": writing(cropped, last=lambda z: z[-1:, -1].repeat(len(z), 1)),
    "reads-where-the-prompt-ends": reads_the_place_of_the_last_token,
    "long-prompt-cut": lambda model, tokens, count, generator: writing(cropped)(
        model, cropped(tokens, model), count, generator
    ),
    "softmax-twice": writing(cropped, last=lambda z: z[:, -1].softmax(-1)),
    "equal-chances": writing(cropped, last=lambda z: z.softmax(dim=1)[:, -1].log()),
    "another-size": writing(lambda tokens, model: tokens[:, -8:]),
    "always-in-training": writing(cropped, before=lambda model: model.train()),
    "seed-fixed-inside": same_seed_always,
    "mode-restored-too-early": quiet_for_one_symbol,
    "no-crop": writing(lambda tokens, model: tokens),
    "reads-first-logits": writing(cropped, last=lambda logits: logits[:, 0, :]),
    "last-token-only": writing(lambda tokens, model: tokens[:, [-1]]),
    "crops-the-end": writing(lambda tokens, model: tokens[:, : model.block_size]),
    "cropped-for-good": text_forgotten,
    "prompt-dropped": only_what_is_new,
    "context-not-extended": prompt_again_and_again,
    "train-mode-sampling": writing(
        cropped, before=lambda model: None, after=lambda model, mode: None
    ),
    "mode-not-restored": writing(cropped, after=lambda model, mode: model.train()),
    "argmax-for-sampling": likeliest_text,
    "no-softmax": logits_for_weights,
    "generator-ignored": own_randomness,
    "reads-the-first-row": writing(cropped, last=lambda z: z[[0] * len(z), -1]),
    "reads-last-but-one": writing(cropped, last=lambda z: z[:, max(0, z.shape[1] - 2)]),
    "filled-up-in-front": writing(
        lambda tokens, model: F.pad(tokens, (model.block_size, 0))[:, -model.block_size :]
    ),
    "returns-what-fits": lambda m, tokens, count, g: generate_into_buffer(m, tokens, count, g)[
        :, -m.block_size :
    ],
    "first-row-for-all": lambda m, tokens, count, g: generate_by_list(
        m, tokens[:1], count, g
    ).repeat(len(tokens), 1),
    "writes-one-too-many": lambda m, tokens, count, g: generate_into_buffer(
        m, tokens, count + 1, g
    ),
    "count-for-length": lambda m, tokens, count, g: generate_by_list(
        m, tokens, max(0, count - tokens.shape[1]), g
    ),
    "stops-when-full": lambda m, tokens, count, g: generate_by_list(
        m, tokens, max(0, min(count, m.block_size - tokens.shape[1])), g
    ),
    "writes-one-too-few": lambda m, tokens, count, g: generate_by_list(
        m, tokens, max(0, count - 1), g
    ),
}


def each_new_token_twice(model, tokens, count, generator):
    mode, shown = model.training, tokens
    model.eval()
    for _ in range(count):
        drawn = sample_by_gumbel(model(cropped(shown, model))[0][:, -1], 1.0, generator)[:, None]
        tokens, shown = torch.hstack([tokens, drawn]), torch.hstack([shown, drawn, drawn])
    model.train(mode)
    return tokens


def mode_of_the_outer_module_only(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.training = was_training
    return tokens


ODD = [
    (write_with_a_pause, "other-tokens-shown"),
    (context_of_what_was_drawn, "other-tokens-shown"),
    (continues_its_own_words, "other-tokens-shown"),
    (writing(lambda tokens, model: cropped(tokens, model).flip(1)), "other-tokens-shown"),
    (
        writing(
            lambda tokens, model: (
                tokens
                if tokens.shape[1] <= model.block_size
                else torch.hstack([tokens[:, [0]], tokens[:, -(model.block_size - 1) :]])
            )
        ),
        "other-tokens-shown",
    ),
    (writing(too_few_once_it_is_full), "other-tokens-shown"),
    (writing(lambda tokens, model: cropped(tokens[:, :-1], model)), "other-tokens-shown"),
    (each_new_token_twice, "another-symbol"),
    (writing(lambda tokens, model: cropped(tokens, model)[:, 1:]), "other-tokens-shown"),
    (writing(lambda tokens, model: tokens[:, -3:]), "other-tokens-shown"),
    (
        writing(cropped, last=lambda logits: logits[:, -1] / 3),
        "wrong-frequencies",
    ),
    (squeezed, "error"),
    (text_alone, "axis-of-one"),
    (one_at_least, "one-too-many"),
    (mode_of_the_outer_module_only, "mode-not-restored"),
]


# --- Answers that no list names ---


def _write(model, tokens, count, generator, start=-1, read=-1, extra=0):
    was = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count + extra):
            logits, _ = model(tokens[:, -model.block_size :])
            p = logits[:, read].softmax(-1)
            tokens = torch.cat([tokens, torch.multinomial(p, 1, generator=generator)], 1)
    model.train(was)
    return tokens


def write_the_second_last(model, tokens, count, generator):
    return _write(model, tokens, count, generator, read=-2)


# "The model writes in evaluation mode": only the first symbol
def mode_restored_inside_the_loop(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            weights = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(weights, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
            model.train(was_training)
    return tokens


UNLISTED = {
    1: [
        (write_the_second_last, "reads-last-but-one"),
    ],
    5: [(mode_restored_inside_the_loop, "mode-restored-too-early")],
}
