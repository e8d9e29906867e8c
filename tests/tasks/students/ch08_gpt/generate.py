"""Students' answers to 08/generate."""

import torch
import torch.nn.functional as F


def pick(logits, generator):
    """Gumbel's way to draw: another stream of numbers than multinomial's."""
    u = torch.rand(logits.shape, generator=generator).clamp(1e-12, 1 - 1e-7)
    return (logits - (-u.log()).log()).argmax(-1)


def generate_by_lists(model, tokens, count, stop, generator):
    mode = model.training
    model.eval()
    rows, finished = tokens.tolist(), [False] * len(tokens)
    for _ in range(count):
        if all(finished):
            break
        context = torch.tensor([row[-model.block_size :] for row in rows])
        for b, new in enumerate(pick(model(context)[0][:, -1], generator).tolist()):
            rows[b].append(stop if finished[b] else new)
            finished[b] = finished[b] or new == stop
    model.train(mode)
    return torch.tensor(rows)


@torch.no_grad()
def generate_into_buffer(model, tokens, count, stop, generator):
    training, (B, T) = model.training, tokens.shape
    model.train(False)
    out = torch.full((B, T + count), stop)
    out[:, :T] = tokens
    end = T
    while end < T + count and not (out[:, T:end] == stop).any(1).all():
        going = ~(out[:, T:end] == stop).any(1)
        p = model(out[:, max(0, end - model.block_size) : end])[0][:, -1].double().softmax(-1)
        drawn = torch.multinomial(p, 1, generator=generator)[:, 0]
        out[going, end] = drawn[going]
        end += 1
    model.train(training)
    return out[:, :end]


def generate_and_cut(model, tokens, count, stop, generator):
    """Writes on and tidies up afterwards."""
    T, mode = tokens.shape[1], model.training
    model.eval()
    for _ in range(count):
        new = pick(model(tokens[:, -model.block_size :])[0][:, -1], generator)
        tokens = torch.hstack([tokens, new[:, None]])
    model.train(mode)
    new = tokens[:, T:]
    stopped = (new == stop).cumsum(1)
    new = torch.where(stopped.cumsum(1) > 1, stop, new)
    needed = (stopped == 0).sum(1).max() + 1
    return torch.hstack([tokens[:, :T], new[:, : min(count, needed)]])


def writing(
    crop=lambda t, n: t[:, -n:],
    last=lambda z: z[:, -1],
    choose=pick,
    before=lambda m: m.eval(),
    after=lambda m, mode: m.train(mode),
    filled=True,
    end=all,
    prompt_counts=False,
    include_stop=True,
):
    """The loop as students write it, with one thing changed."""

    def answer(model, tokens, count, stop, generator):
        mode = model.training
        before(model)
        over = [prompt_counts and stop in row for row in tokens.tolist()]
        for _ in range(count):
            if end(over):
                break
            new = choose(last(model(crop(tokens, model.block_size))[0]), generator)
            if filled:
                new = torch.where(torch.tensor(over), stop, new)
            over = [o or n == stop for o, n in zip(over, new.tolist(), strict=True)]
            if not include_stop and any(over):
                break
            tokens = torch.column_stack([tokens, new])
        after(model, mode)
        return tokens

    return answer


def new_part(model, tokens, count, stop, generator):
    return generate_by_lists(model, tokens, count, stop, generator)[:, tokens.shape[1] :]


def stops_repeated(model, tokens, count, stop, generator):
    return torch.cat([tokens, torch.full((len(tokens), count), stop)], 1)


RIGHT = {
    "lists": generate_by_lists,
    "buffer": generate_into_buffer,
    "cut afterwards": generate_and_cut,
}


def returns_from_the_loop(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    over = torch.zeros(len(tokens), dtype=torch.bool)
    for _ in range(count):
        logits = model(tokens[:, -model.block_size :])[0][:, -1]
        new = pick(logits, generator)
        new = torch.where(over, stop, new.flatten())
        tokens = torch.hstack([tokens, new[:, None]])
        over |= new == stop
        if over.all():
            return tokens
    model.train(was_training)
    return tokens


def writes_then_asks(model, tokens, count, stop, generator):
    return writing()(model, tokens, count or 1, stop, generator)


def squeezed(*asked):
    return writing()(*asked).squeeze()


def keeps_the_context_alone(model, tokens, count, stop, generator):
    mode, over = model.training, [False] * len(tokens)
    model.eval()
    for _ in range(count):
        if all(over):
            break
        tokens = tokens[:, -model.block_size :]
        new = pick(model(tokens)[0][:, -1], generator)
        new[torch.tensor(over)] = stop
        over = [was or symbol == stop for was, symbol in zip(over, new.tolist(), strict=True)]
        tokens = torch.column_stack([tokens, new])
    model.train(mode)
    return tokens


def zero_ends_a_row(model, tokens, count, stop, generator):
    mode = model.training
    model.eval()
    over = torch.zeros(len(tokens), dtype=torch.bool)
    for _ in range(count):
        if over.all():
            break
        new = pick(model(tokens[:, -model.block_size :])[0][:, -1], generator)
        new = torch.where(over, stop, new)
        over = over | (new == 0)
        tokens = torch.column_stack([tokens, new])
    model.train(mode)
    return tokens


def prompt_cut_to_the_context(model, tokens, *others):
    return generate_by_lists(model, tokens[:, -model.block_size :], *others)


def until_the_text_has_that_length(model, tokens, count, *others):
    return generate_by_lists(model, tokens, max(count - tokens.shape[1], 0), *others)


def step_by_step(change):
    """Writing in which `change` says, from what is over and what was drawn, what is written and
    what is over then.
    """

    def answer(model, tokens, count, stop, generator):
        mode = model.training
        model.eval()
        over = torch.zeros(len(tokens), dtype=torch.bool)
        for n in range(count):
            if over.all():
                break
            new = pick(model(tokens[:, -model.block_size :])[0][:, -1], generator)
            last = tokens[:, -1] if n else torch.full((len(tokens),), -1)
            new, over = change(over, new, last, stop)
            tokens = torch.column_stack([tokens, new])
        model.train(mode)
        return tokens

    return answer


def asks_the_text_before(over, new, last, stop):
    return torch.where(over, stop, new), over | (last == stop)


def repeats_the_last(over, new, last, stop):
    over = over | (new == stop)
    return torch.where(over, last, new), over


def fills_with_another(over, new, last, stop):
    return torch.where(over, (stop + 1) % 13, new), over | (new == stop)


def over_by_the_last_draw(over, new, last, stop):
    return torch.where(over, stop, new), new == stop


def sharper(model, tokens, count, stop, generator):
    class Cold(torch.nn.Module):
        block_size = model.block_size

        def forward(self, tokens):
            return model(tokens)[0] / 0.8, None

    mode = model.training
    model.eval()
    written = generate_by_lists(Cold().eval(), tokens, count, stop, generator)
    model.train(mode)
    return written


# "from then on it is filled with stop"
def filled_with_zeros(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            if done.all():
                break
            logits, _ = model(tokens[:, -model.block_size :])
            p = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(p, 1, generator=generator).squeeze(1)
            drawn = drawn.masked_fill(done, 0)
            done = done | (drawn == stop)
            tokens = torch.cat([tokens, drawn[:, None]], dim=1)
    model.train(was_training)
    return tokens


# "Continue a batch of prompts until each row has written the symbol stop": the last one too
@torch.no_grad()
def last_stop_left_out(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        drawn = torch.multinomial(logits[:, -1].softmax(dim=-1), 1, generator=generator)[:, 0]
        drawn = drawn.masked_fill(done, stop)
        done |= drawn == stop
        if done.all():
            break
        tokens = torch.cat([tokens, drawn[:, None]], dim=1)
    model.train(was_training)
    return tokens


@torch.no_grad()
def _generate(model, tokens, count, stop, generator, draw=None, done_from=None):
    mode = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    for _ in range(count):
        if done.all():
            break
        logits, _ = model(tokens[:, -model.block_size :])
        probabilities = logits[:, -1].float().softmax(-1)
        new = (
            draw(probabilities, generator)
            if draw
            else torch.multinomial(probabilities, 1, generator=generator)[:, 0]
        )
        new = torch.where(done, stop, new)
        done = done | (new == stop)
        tokens = torch.cat([tokens, new[:, None]], 1)
    model.train(mode)
    return tokens


def one_symbol_more(model, tokens, count, stop, generator):
    return _generate(model, tokens, count + 1, stop, generator)


def one_draw_for_the_batch(model, tokens, count, stop, generator):
    return _generate(
        model, tokens, count, stop, generator,
        lambda p, g: torch.multinomial(p[:1], 1, generator=g)[0].expand(len(p)),
    )  # fmt: skip


def uniform_draws(model, tokens, count, stop, generator):
    return _generate(
        model, tokens, count, stop, generator,
        lambda p, g: torch.randint(p.shape[1], (len(p),), generator=g),
    )  # fmt: skip


WRONG = {
    "noticed-late": step_by_step(asks_the_text_before),
    "count-is-the-length": until_the_text_has_that_length,
    "zero-for-stop": zero_ends_a_row,
    "logits-averaged": writing(last=lambda z: z.mean(dim=1)),
    "softmax-twice": writing(choose=lambda z, g: pick(z.softmax(-1), g)),
    "long-prompt-cut": prompt_cut_to_the_context,
    "text-cut": keeps_the_context_alone,
    "filled-with-zero": filled_with_zeros,
    "last-step-left-out": last_stop_left_out,
    "one-more-than-count": one_symbol_more,
    "one-fewer-than-count": lambda model, tokens, count, *others: generate_by_lists(
        model, tokens, count - 1, *others
    ),
    "row-zero-for-all": one_draw_for_the_batch,
    "draws-are-even": uniform_draws,
    "no-crop": writing(crop=lambda t, n: t),
    "reads-first-logits": writing(last=lambda z: z[:, 0, :]),
    "last-token-only": writing(crop=lambda t, n: t[:, [-1]]),
    "context-too-short": writing(crop=lambda t, n: t[:, 1 - n :]),
    "one-row-refused": squeezed,
    "crops-the-end": writing(crop=lambda t, n: t[:, :n]),
    "prompt-dropped": new_part,
    "done-is-replaced": step_by_step(over_by_the_last_draw),
    "stop-ignored": writing(filled=False, end=lambda over: False),
    "writes-after-stop": writing(filled=False),
    "runs-to-the-count": writing(end=lambda over: False),
    "first-stop-ends-all": writing(end=any),
    "stop-left-out": writing(include_stop=False),
    "stops-at-the-prompt": writing(prompt_counts=True),
    "train-mode-sampling": writing(before=lambda m: m, after=lambda m, mode: m),
    "mode-lost-at-the-stop": returns_from_the_loop,
    "one-in-any-case": writes_then_asks,
    "mode-not-restored": writing(after=lambda m, mode: m.train()),
    "argmax-for-sampling": writing(choose=lambda z, g: z.argmax(-1)),
    "generator-ignored": writing(choose=lambda z, g: pick(z, None)),
}


def restarted(model, tokens, count, stop, generator):
    """As reproducible as can be: each call begins with the generator's seed."""
    own = torch.Generator().manual_seed(generator.initial_seed())
    return generate_by_lists(model, tokens, count, stop, own)


def asks_the_last_token(model, tokens, count, stop, generator):
    mode = model.training
    model.eval()
    for _ in range(count):
        over = tokens[:, -1] == stop
        if over.all():
            break
        new = pick(model(tokens[:, -model.block_size :])[0][:, -1], generator)
        tokens = torch.column_stack([tokens, torch.where(over, stop, new)])
    model.train(mode)
    return tokens


def window_of_the_prompt(model, tokens, count, stop, generator):
    T = tokens.shape[1]
    answer = writing(crop=lambda t, n: t[:, -min(T, n) :])
    return answer(model, tokens, count, stop, generator)


def nothing_in_evaluation(model, tokens, count, stop, generator):
    if count == 0:
        model.eval()
        return tokens
    return generate_by_lists(model, tokens, count, stop, generator)


def padded_in_front(text, size):
    return F.pad(text, (max(0, size - text.shape[1]), 0))[:, -size:]


def one_number_for_all(z, generator):
    u = torch.rand(1, generator=generator)
    return (z.softmax(-1).cumsum(-1) < u).sum(-1).clamp(max=z.shape[-1] - 1)


ODD = [
    (step_by_step(repeats_the_last), "stop-replaced"),
    (step_by_step(fills_with_another), "filled-with-another"),
    (sharper, "other-shares"),
    (stops_repeated, "only-the-last"),
    (lambda *asked: generate_by_lists(*asked).float(), "kind-of-number"),
    (restarted, "generator-begins-anew"),
    (asks_the_last_token, "stops-at-the-prompt"),
    (window_of_the_prompt, "context-does-not-grow"),
    (nothing_in_evaluation, "mode-lost-at-nothing"),
    (writing(choose=one_number_for_all), "one-draw-for-all"),
    (writing(crop=padded_in_front), "context-padded"),
    (lambda m, t, n, stop, g: writing()(m, t, n, stop or -1, g), "some-rows"),
]
