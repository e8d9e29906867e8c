"""Students' answers to 13/positions."""

import math

import numpy as np
import torch


def by_loop(
    tokens, n_embd, base, *, begin=0, skip=True, order="sc", power=None, blank=True, apart=False
):
    power = power or (lambda c: (c // 2) * 2 / n_embd)
    out = torch.zeros(*tokens.shape, n_embd)
    for b, row in enumerate(tokens.tolist()):
        words = [t for t, token in enumerate(row) if token != 0]
        first = words[0] if skip and words else 0
        for t, token in enumerate(row):
            if token == 0 and blank:
                continue
            for c in range(n_embd):
                place = max(t - first, -1) + begin
                angle = place / base ** power(c)
                wave = math.sin if order[c % 2] == "s" else math.cos
                where = c // 2 + (c % 2) * n_embd // 2 if apart else c
                out[b, t, where] = wave(angle)
    return out


def in_numpy(tokens, n_embd, base):
    tokens = tokens.numpy()
    place = np.maximum(np.cumsum(tokens > 0, axis=1) - 1, 0)
    angle = place[..., None] * np.exp(-np.log(base) * np.arange(0, n_embd, 2) / n_embd)
    out = np.zeros((*tokens.shape, n_embd))
    out[..., 0::2] = np.sin(angle)
    out[..., 1::2] = np.cos(angle)
    return np.where(tokens[..., None] > 0, out, 0)


def by_table(tokens, n_embd, base):
    T = tokens.shape[1]
    table = torch.zeros(T + 1, n_embd)  # the last row stays zero, for padding
    where = torch.arange(T).unsqueeze(1)
    speed = 1 / base ** (torch.arange(0, n_embd, 2) / n_embd)
    table[:T, ::2], table[:T, 1::2] = torch.sin(where * speed), torch.cos(where * speed)
    pad = (tokens == 0).sum(1, keepdim=True)
    place = torch.arange(T) - pad
    return table[torch.where(place < 0, T, place)]


def as_rotation(tokens, n_embd, base):
    speed = base ** (-torch.arange(0, n_embd, 2).double() / n_embd)
    pad = (tokens == 0).sum(1, keepdim=True)
    place = (torch.arange(tokens.shape[1]) - pad).double()
    turn = torch.polar(torch.ones(()).double(), torch.pi / 2 - place[..., None] * speed)
    waves = torch.stack([turn.imag, turn.real], -1).flatten(2).flip(-1)
    waves = waves.view(*tokens.shape, -1, 2).flip(-2).flatten(2)  # sine, cosine of each pair
    return waves * (place >= 0)[..., None]


def otherwise(**how):
    return lambda tokens, n_embd, base: by_loop(tokens, n_embd, base, **how)


def from_the_first_word(tokens, n_embd, base):
    """Right, unless a row holds no word: `argmax` says 0 then."""
    first = (tokens > 0).float().argmax(1).tolist()
    marked = torch.stack(
        [torch.cat([row[:k] * 0, row[k:] * 0 + 1]) for row, k in zip(tokens, first, strict=True)]
    )
    return by_loop(marked, n_embd, base)


def from_the_longest_row(tokens, n_embd, base):
    least = int((tokens == 0).sum(1).min())
    whole = torch.ones_like(tokens)
    whole[:, :least] = 0
    return by_loop(whole, n_embd, base) * (tokens != 0).unsqueeze(-1)


RIGHT = {
    "loop": by_loop,
    "numpy": in_numpy,
    "a table and a gather": by_table,
    "complex numbers": as_rotation,
}


def places_by_tokens(tokens, n_embd, base):
    """Places are running sums of the tokens, minus 1."""
    speeds = 1 / base ** (torch.arange(0, n_embd, 2) / n_embd)
    turn = (tokens.cumsum(1) - 1)[..., None] * speeds
    waves = torch.zeros(*tokens.shape, n_embd)
    waves[..., ::2], waves[..., 1::2] = turn.sin(), turn.cos()
    return waves.where((tokens > 0)[..., None], torch.zeros(()))


def first_word_taken_for_padding(tokens, n_embd, base):
    """Tells padding by place 0, which the first word has as well, so the first word gets zeros."""
    places = ((tokens != 0).cumsum(dim=1) - 1).clamp(min=0)  # (B, T)
    speeds = base ** (-torch.arange(0, n_embd, 2) / n_embd)
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * (places != 0)[:, :, None]


def _waves(places, n_embd, base, real):
    speeds = base ** (-torch.arange(0, n_embd, 2) / n_embd)
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * real[:, :, None]


def places_from_the_end(tokens, n_embd, base):
    real = tokens != 0
    places = real.flip(1).cumsum(dim=1).flip(1) - 1
    return _waves(places, n_embd, base, real)


# "speed = base^(−2i / C)": the division leaves whole numbers.
def speeds_by_whole_numbers(tokens, n_embd, base):
    real = tokens != 0
    places = real.cumsum(dim=1) - 1
    speeds = base ** (-torch.arange(0, n_embd, 2) // n_embd).float()
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * real[:, :, None]


WRONG = {
    "starts-at-one": otherwise(begin=1),
    "tokens-summed": places_by_tokens,
    "first-word-blank": first_word_taken_for_padding,
    "counted-from-the-end": places_from_the_end,
    "no-word-placed": from_the_first_word,
    "places-of-the-longest-row": from_the_longest_row,
    "whole-exponents": speeds_by_whole_numbers,
    "counts-padding": otherwise(skip=False),
    "every-channel": lambda x, C, base: by_loop(x, C, base, power=lambda c: c / C),
    "exponent-to-the-end": lambda x, C, base: by_loop(
        x, C, base, power=lambda c: (c // 2) / (C // 2 - 1)
    ),
    "faster": lambda x, C, base: by_loop(x, C, 1 / base),
    "padding-placed": lambda x, C, base: torch.from_numpy(in_numpy(torch.ones_like(x), C, base))[0][
        (torch.arange(x.shape[1]) - (x == 0).sum(1, keepdim=True)).clamp(min=-1)
    ].where((x > 0)[..., None], _before(x, C, base)),
}


def _before(x, C, base):
    place = (torch.arange(x.shape[1]) - (x == 0).sum(1, keepdim=True)).clamp(min=-1)
    angle = place[..., None].double() / base ** (torch.arange(0, C, 2).double() / C)
    return torch.stack([angle.sin(), angle.cos()], 3).flatten(2)


def places_as_shares(tokens, n_embd, base):
    real = tokens != 0
    places = (real.cumsum(dim=1) - 1) / real.sum(dim=1, keepdim=True).clamp(min=1)
    return _waves(places, n_embd, base, real)


def words_only_to_the_first(tokens, n_embd, base):
    real = tokens != 0
    pad = (~real).sum(dim=1, keepdim=True)
    places = torch.arange(tokens.shape[1]) - pad.max()
    return _waves(places.clamp(min=0).expand_as(tokens), n_embd, base, real)


ODD = [
    (lambda x, C, base: by_loop(x, C, base, power=lambda c: (c // 2 + 1) * 2 / C), "other-angles"),
    (places_as_shares, "other-angles"),
    (words_only_to_the_first, "other-places"),
    (lambda x, C, base: by_loop(x, C, base) * 2, "doubled-your-positions"),
    (lambda x, C, base: by_loop(x, C, base)[:, :-1], "last-missing"),
]
