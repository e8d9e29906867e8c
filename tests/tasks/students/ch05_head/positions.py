"""Students' answers to 05/positions."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def embed_by_loop(tokens, token_table, position_table, start):
    B, T = tokens.shape
    out = [[[0.0] * token_table.shape[1] for _ in range(T)] for _ in range(B)]
    for b in range(B):
        for t in range(int(start[b]), T):
            total = token_table[tokens[b, t]] + position_table[t - int(start[b])]
            out[b][t] = total.tolist()
    return out


def embed_by_layers(tokens, token_table, position_table, start):
    symbols = nn.Embedding.from_pretrained(token_table)
    places = nn.Embedding.from_pretrained(position_table)
    where = torch.arange(tokens.size(1)).expand_as(tokens) - start.unsqueeze(-1)
    real = (where >= 0).unsqueeze(-1)
    return (symbols(tokens) + places(where * (where > 0))) * real


def embed_in_numpy(tokens, token_table, position_table, start):
    where = np.arange(tokens.shape[1])[None] - start.numpy()[:, None]
    x = token_table.numpy()[tokens.numpy()] + position_table.numpy()[np.maximum(where, 0)]
    x[where < 0] = 0
    return x


def embed_row_by_row(tokens, token_table, position_table, start):
    out = torch.zeros(*tokens.shape, token_table.shape[1])
    for row, text, first in zip(out, tokens, start, strict=True):
        n = len(text) - first
        if n > len(position_table):
            raise ValueError(f"{n} symbols, {len(position_table)} positions")
        row[first:] = token_table[text[first:]] + position_table[:n]
    return out


def blank(x, start):
    x = x.clone()
    for b, first in enumerate(start.tolist()):
        x[b, :first] = 0
    return x


def embedded(place):
    """Symbols plus the row `place(t, first, T, size)` of the table."""

    def answer(tokens, token_table, position_table, start):
        T, size = tokens.shape[1], len(position_table)
        rows = [[place(t, first, T, size) for t in range(T)] for first in start.tolist()]
        return blank(token_table[tokens] + position_table[torch.tensor(rows)], start)

    return answer


def table_whole(tokens, token_table, position_table, start):
    return F.embedding(tokens, token_table) + position_table[None]


def no_places(tokens, token_table, position_table, start):
    return F.embedding(tokens, token_table)


def places_alone(tokens, token_table, position_table, start):
    T = tokens.shape[1]
    return position_table[:T].repeat(len(tokens), 1, 1)


def times(tokens, token_table, position_table, start):
    return token_table[tokens] * position_table[: tokens.shape[1]]


def side_by_side(tokens, token_table, position_table, start):
    places = position_table[: tokens.shape[1]].expand(len(tokens), -1, -1)
    return torch.cat((token_table[tokens], places), 2)


def looked_up_by_symbol(tokens, token_table, position_table, start):
    return F.embedding(tokens, token_table) + F.embedding(tokens, position_table)


def along_the_batch(tokens, token_table, position_table, start):
    return token_table[tokens] + position_table[torch.arange(len(tokens))].unsqueeze(1)


def wrapped(tokens, token_table, position_table, start):
    rows = torch.stack([torch.arange(tokens.shape[1]) - first for first in start])
    return token_table[tokens] + position_table[rows]


def padding_not_blank(tokens, token_table, position_table, start):
    rows = torch.relu(torch.arange(tokens.shape[1]) - start[:, None])
    return token_table[tokens] + F.embedding(rows, position_table)


def clamped(tokens, token_table, position_table, start):
    T = tokens.shape[1]
    where = (torch.arange(T) - start[:, None]).clip(0, len(position_table) - 1)
    return blank(token_table[tokens] + position_table[where], start)


def shorter_only(tokens, token_table, position_table, start):
    if not tokens.size(1) < position_table.size(0):
        raise IndexError("no room")
    return embedded(lambda t, first, T, size: t - first)(tokens, token_table, position_table, start)


# the table has to have as many rows as the text has symbols, not as the row has positions
def rows_up_to_the_table(tokens, token_table, position_table, start):
    assert tokens.size(1) <= position_table.size(0)
    return embed_row_by_row(tokens, token_table, position_table, start)


# a single text; and one of a single symbol
def squeezed(tokens, token_table, position_table, start):
    return embed_row_by_row(tokens, token_table, position_table, start).squeeze()


def single_symbol_is_padding(tokens, token_table, position_table, start):
    x = embed_row_by_row(tokens, token_table, position_table, start)
    return x * (start < tokens.shape[1] - 1)[:, None, None]


def token_table_scaled(tokens, token_table, position_table, start):
    scaled = token_table * token_table.shape[1] ** 0.5
    return embed_row_by_row(tokens, scaled, position_table, start)


# A product of the floats that are given with floats of one's own
def embed_by_one_hot(tokens, token_table, position_table, start):
    real = torch.arange(tokens.shape[1]) >= start[:, None]
    at = (torch.arange(tokens.shape[1]) - start[:, None]).clamp(min=0)
    symbols = F.one_hot(tokens, len(token_table)).float() @ token_table
    return (symbols + F.one_hot(at, len(position_table)).float() @ position_table) * real[..., None]


RIGHT = {
    "loop, lists": embed_by_loop,
    "embedding layers": embed_by_layers,
    "numpy": embed_in_numpy,
    "row by row": embed_row_by_row,
    "one-hot rows": embed_by_one_hot,
}


def as_late_as_the_latest(tokens, token_table, position_table, start):
    latest = torch.full_like(start, int(start.max()))
    return embed_by_layers(tokens, token_table, position_table, latest)


def symbol_0_is_padding(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    x[tokens == 0] = 0
    return x


def start_as_it_is(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    return x * (where >= 0)[:, None]


def without_padding_in_front(tokens, token_table, position_table, start):
    out = torch.zeros(*tokens.shape, token_table.shape[1])
    for b, n in enumerate(start.tolist()):
        for t in range(tokens.shape[1] - n):
            out[b, t] = token_table[tokens[b, n + t]] + position_table[t]
    return out


def blank_at_the_end(tokens, token_table, position_table, start):
    real = torch.arange(tokens.shape[1]).flip(0) >= start[:, None]
    return (token_table[tokens] + position_table[: tokens.shape[1]]) * real[..., None]


def from_the_earliest(tokens, token_table, position_table, start):
    t = torch.arange(tokens.shape[1])
    x = token_table[tokens] + position_table[(t - min(start.tolist())).clamp(min=0)]
    return x * (t >= start[:, None]).unsqueeze(-1)


def counts_backwards(tokens, token_table, position_table, start):
    where = start[:, None] - torch.arange(tokens.shape[1])
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    return x * (where <= 0).unsqueeze(-1)


WRONG = {
    "earliest-start-for-all": from_the_earliest,
    "moved-to-the-front": without_padding_in_front,
    "padding-at-the-end": blank_at_the_end,
    "start-along-the-positions": start_as_it_is,
    "table-not-cut": table_whole,
    "no-positions": no_places,
    "positions-only": places_alone,
    "multiplied": times,
    "concatenated": side_by_side,
    "positions-by-token": looked_up_by_symbol,
    "positions-along-the-batch": along_the_batch,
    "last-rows": embedded(lambda t, first, T, size: size - T + t - first),
    "counted-from-one": embedded(lambda t, first, T, size: max(t - first, 0) + 1),
    "counted-from-the-end": embedded(lambda t, first, T, size: T - t - 1),
    "exact-fit-refused": shorter_only,
    "long-rows-refused": rows_up_to_the_table,
    "start-ignored": embedded(lambda t, first, T, size: t),
    "start-added": embedded(lambda t, first, T, size: min(t + first, size - 1)),
    "padding-wraps": wrapped,
    "padding-filled": padding_not_blank,
    "too-long-accepted": clamped,
    "one-start-for-all": as_late_as_the_latest,
    "token-0-for-padding": symbol_0_is_padding,
}


ODD = [
    (counts_backwards, "other-rows"),
    (lambda tokens, e, p, start: tokens, "shape"),
    (token_table_scaled, "one-of-them-scaled"),
    (
        lambda tokens, e, p, start: embed_by_loop(tokens, e, -p, start),
        "subtracted-instead-of-adding-the-vectors-of-the-positions-in-the-sums",
    ),
    (squeezed, "axis-of-one"),
    (single_symbol_is_padding, "other-rows"),
]


# --- Answers that no list names ---


def averaged(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = (token_table[tokens] + position_table[where.clamp(min=0)]) / 2
    return x.masked_fill((where < 0)[:, :, None], 0.0)


UNLISTED = {
    1: [
        (averaged, "halved-your-vectors"),
    ],
}
