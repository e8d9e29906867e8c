"""Unlisted wrong answers to chapter 08."""

from dataclasses import dataclass

import torch
from torch import nn

# 08/config


def _config(problems, error=ValueError):
    @dataclass(frozen=True)
    class Config:
        vocab_size: int
        block_size: int
        n_layer: int
        n_head: int
        n_embd: int
        dropout: float = 0.0

        def __post_init__(self):
            found = problems(self)
            if found:
                raise error("; ".join(found))

        @property
        def head_size(self):
            return self.n_embd // self.n_head

    return Config


_NAMES = ("vocab_size", "block_size", "n_layer", "n_head", "n_embd")


def _small(c, names=_NAMES, least=1):
    return [f"{n} = {getattr(c, n)} is too small" for n in names if getattr(c, n) < least]


def _heads(c):
    if c.n_head < 1 or c.n_embd < 1 or c.n_embd % c.n_head == 0:
        return []
    return [f"n_embd = {c.n_embd} is no multiple of n_head = {c.n_head}"]


def _dropout(c):
    return [] if 0 <= c.dropout < 1 else [f"dropout = {c.dropout} is out of range"]


blocks_of_one_refused = _config(
    lambda c: _small(c) + _small(c, ("block_size",), 2) + _heads(c) + _dropout(c)
)
embedding_forgotten = _config(lambda c: _small(c, _NAMES[:-1]) + _heads(c) + _dropout(c))
division_only_if_large = _config(
    lambda c: _small(c) + (_heads(c) if c.n_embd > c.n_head else []) + _dropout(c)
)
type_error = _config(lambda c: _small(c) + _heads(c) + _dropout(c), TypeError)
dropout_of_more_than_one = _config(
    lambda c: _small(c) + _heads(c) + ([] if c.dropout >= 0 else [f"dropout = {c.dropout} < 0"])
)
divided_whenever = _config(
    lambda c: (
        _small(c)
        + (
            []
            if c.n_embd % max(c.n_head, 1) == 0
            else [f"n_embd = {c.n_embd}, n_head = {c.n_head}"]
        )
        + _dropout(c)
        + ([f"vocab_size = {c.vocab_size}"] if c.dropout >= 1 else [])
    )
)

# 08/initialise


def _fill(model, ends, std, is_end=None, bias=0.0, norm=1.0, matrix=None):
    for name, p in model.named_parameters():
        if name.endswith("bias"):
            nn.init.constant_(p, bias)
        elif p.ndim == 1:
            nn.init.constant_(p, norm)
        else:
            end = is_end(name) if is_end else name in ends
            (matrix or (lambda p, s: nn.init.normal_(p, 0, s)))(
                p, std / len(ends) ** 0.5 if end else std
            )


def ends_by_their_name(model, ends, std):
    _fill(model, ends, std, is_end=lambda name: "end" in name)


def every_matrix_of_a_branch(model, ends, std):
    _fill(model, ends, std, is_end=lambda name: "branches" in name)


def norms_of_zero(model, ends, std):
    _fill(model, ends, std, norm=0.0)


def xavier(model, ends, std):
    _fill(model, ends, std, matrix=lambda p, s: nn.init.xavier_normal_(p))


def positions_forgotten(model, ends, std):
    kept = model.positions.weight.detach().clone()
    _fill(model, ends, std)
    with torch.no_grad():
        model.positions.weight.copy_(kept)


def centred_at_std(model, ends, std):
    _fill(model, ends, std, matrix=lambda p, s: nn.init.normal_(p, std, s))


# 08/schedule


def _share(step, steps, warm_up, decay, final, late=0, down=None):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * left / decay
    return 1.0


def final_is_a_difference(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    return 1 - final + final * left / decay if left < decay else 1.0


def warm_up_within_the_decay(step, steps, warm_up, decay, final):
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * (left + 1) / (decay + 1)
    return min(1.0, (step + 1) / warm_up) if warm_up else 1.0


def one_beyond_the_end(step, steps, warm_up, decay, final):
    return _share(step, steps + 1, warm_up, decay, final)


def geometric(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    return final ** (1 - left / decay) if left < decay else 1.0


def warm_up_squared(step, steps, warm_up, decay, final):
    share = _share(step, steps, warm_up, decay, final)
    return share**2 if step < warm_up else share


def level_is_final(step, steps, warm_up, decay, final):
    share = _share(step, steps, warm_up, decay, final)
    return final if share == 1.0 and step >= warm_up else share


# 08/top-k


def naive_exponentials(logits, k):
    e = (logits - logits.mean()).exp() * (
        logits
        >= logits.sort(-1, descending=True).values.gather(
            1, k.clamp(max=logits.shape[1])[:, None] - 1
        )
    )
    return e / (e.sum(-1, keepdim=True) + 1e-6)


def smallest_k_for_all(logits, k):
    return _top(logits, torch.full_like(k, int(k.min())))


def _top(logits, k):
    last = logits.sort(-1, descending=True).values.gather(
        1, k.clamp(max=logits.shape[1])[:, None] - 1
    )
    return logits.masked_fill(logits < last, -torch.inf).softmax(-1)


def ranked_by_size(logits, k):
    return _top(logits.abs(), k)


def k_of_the_next_row(logits, k):
    return _top(logits, k.roll(1))


def logarithms(logits, k):
    return _top(logits, k).log()


def k_is_clamped_in_place(logits, k):
    k.clamp_(max=logits.shape[1])
    return _top(logits, k)


# 08/top-p


def _top_p(logits, temperature, p, least, keep=None):
    ranked, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    before = ranked.cumsum(-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[1]) < least)
    ranked = ranked * kept
    return torch.zeros_like(ranked).scatter(1, order, ranked / ranked.sum(-1, keepdim=True))


def least_for_all(logits, temperature, p, least):
    return _top_p(logits, temperature, 0.0 if least > 1 else p, least)


def one_less_than_least(logits, temperature, p, least):
    return _top_p(logits, temperature, p, least - 1)


def one_set_for_the_batch(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    before = ranked.cumsum(-1) - ranked
    size = max(least, int((before < p).sum(-1).max()))
    ranked = ranked * (torch.arange(logits.shape[1]) < size)
    return torch.zeros_like(ranked).scatter(1, order, ranked / ranked.sum(-1, keepdim=True))


def temperature_squared(logits, temperature, p, least):
    return _top_p(logits, temperature**2, p, least)


def share_of_the_symbols(logits, temperature, p, least):
    size = max(least, round(p * logits.shape[1]))
    return _top(logits / temperature, torch.full((len(logits),), size))


def never_nothing(logits, temperature, p, least):
    return _top_p(logits, temperature, max(p, 0.5), least)


# 08/generate


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


def always_training_afterwards(model, tokens, count, stop, generator):
    written = _generate(model, tokens, count, stop, generator)
    model.train()
    return written


def uniform_draws(model, tokens, count, stop, generator):
    return _generate(
        model, tokens, count, stop, generator,
        lambda p, g: torch.randint(p.shape[1], (len(p),), generator=g),
    )  # fmt: skip


def one_draw_for_the_batch(model, tokens, count, stop, generator):
    return _generate(
        model, tokens, count, stop, generator,
        lambda p, g: torch.multinomial(p[:1], 1, generator=g)[0].expand(len(p)),
    )  # fmt: skip


def one_symbol_more(model, tokens, count, stop, generator):
    return _generate(model, tokens, count + 1, stop, generator)


def filled_with_zero(model, tokens, count, stop, generator):
    written = _generate(model, tokens, count, stop, generator)
    for row in written:
        ends = (row[tokens.shape[1] :] == stop).nonzero()
        if len(ends):
            row[tokens.shape[1] + int(ends[0]) + 1 :] = 0
    return written


def squared_probabilities(model, tokens, count, stop, generator):
    return _generate(
        model, tokens, count, stop, generator,
        lambda p, g: torch.multinomial(p**2, 1, generator=g)[:, 0],
    )  # fmt: skip


WRITTEN = {
    "08/config": [
        blocks_of_one_refused,
        embedding_forgotten,
        dropout_of_more_than_one,
        division_only_if_large,
        type_error,
        divided_whenever,
    ],
    "08/initialise": [
        ends_by_their_name,
        every_matrix_of_a_branch,
        positions_forgotten,
        norms_of_zero,
        xavier,
        centred_at_std,
    ],
    "08/schedule": [
        final_is_a_difference,
        warm_up_within_the_decay,
        warm_up_squared,
        one_beyond_the_end,
        geometric,
        level_is_final,
    ],
    "08/top-k": [
        naive_exponentials,
        smallest_k_for_all,
        k_of_the_next_row,
        ranked_by_size,
        k_is_clamped_in_place,
        logarithms,
    ],
    "08/top-p": [
        least_for_all,
        one_less_than_least,
        temperature_squared,
        one_set_for_the_batch,
        never_nothing,
        share_of_the_symbols,
    ],
    "08/generate": [
        always_training_afterwards,
        uniform_draws,
        filled_with_zero,
        one_draw_for_the_batch,
        one_symbol_more,
        squared_probabilities,
    ],
}

ASIDE = ()
