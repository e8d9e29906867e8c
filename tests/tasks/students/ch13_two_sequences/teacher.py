"""Students' answers to 13/teacher."""

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


def by_library(texts, start, end, pad, longest):
    xs = [torch.tensor([start, *text])[:longest] for text in texts]
    ys = [torch.tensor([*text, end])[:longest] for text in texts]
    x = pad_sequence(xs, batch_first=True, padding_value=pad)
    return x, pad_sequence(ys, batch_first=True, padding_value=-100)


def in_numpy(texts, start, end, pad, longest):
    T = min(longest, max(map(len, texts)) + 1)
    x, y = np.full((len(texts), T), pad), np.full((len(texts), T), -100)
    for b, text in enumerate(texts):
        row = np.array([start, *text, end])
        n = min(len(row) - 1, T)
        x[b, :n], y[b, :n] = row[:n], row[1 : n + 1]
    return x, y


def by_loop(
    texts,
    start,
    end,
    pad,
    longest,
    *,
    shift=1,
    stop=True,
    cut=None,
    fill=-100,
    fill_x=None,
    width=None,
    right=False,
    begin=True,
    read_on=False,
    last=None,
):
    limit = cut(longest) if cut else longest
    x, y = [], []
    for text in texts:
        whole = ([start] if begin else []) + text + ([end] if stop else [])
        too_long = len(text) + stop > limit
        reads, says = whole[:limit], whole[shift if begin else 0 :][:limit]
        if begin and not read_on:
            reads = whole[:-1][:limit]
        elif read_on and not too_long:
            reads = whole[: limit + 1]
        if shift == 0:
            reads, says = whole[:-1][:limit], whole[:-1][:limit]
        if too_long and last == "put":
            says[-1] = end
        if too_long and last == "add":
            says.append(end)
            reads = whole[: limit + 1]
        x.append(reads)
        y.append(says)
    T = width or max(map(len, y))
    for rows, value in ((x, pad if fill_x is None else fill_x), (y, fill)):
        for b, row in enumerate(rows):
            gap = [value] * (T - len(row))
            rows[b] = (gap + row if right else row + gap)[:T]
    return torch.tensor(x), torch.tensor(y)


def but(**how):
    return lambda texts, start, end, pad, longest: by_loop(texts, start, end, pad, longest, **how)


def pad_by_its_symbol(texts, start, end, pad, longest):
    rows = [torch.tensor([*text, end])[:longest] for text in texts]
    x, _ = by_library(texts, start, end, pad, longest)
    y = pad_sequence(rows, batch_first=True, padding_value=pad)
    return x, torch.where(y == pad, -100, y)


RIGHT = {"pad_sequence": by_library, "numpy": in_numpy, "loop": by_loop}


def batch_axis_second(texts, start, end, pad, longest):
    """Forgets batch_first=True in pad_sequence, so x and y come out as (T, B)."""
    rows = [torch.tensor([start, *text, end]) for text in texts]
    x = [row[:-1][:longest] for row in rows]
    y = [row[1:][:longest] for row in rows]
    return (
        nn.utils.rnn.pad_sequence(x, padding_value=pad),
        nn.utils.rnn.pad_sequence(y, padding_value=-100),
    )


def width_without_the_end(texts, start, end, pad, longest):
    """Takes T from the lengths of the texts without their ends: the longest one loses its end."""
    T = min(longest, max(len(text) for text in texts))
    x = torch.full((len(texts), T), pad)
    y = torch.full((len(texts), T), -100)
    for i, text in enumerate(texts):
        read, predicted = [start, *text][:T], [*text, end][:T]
        x[i, : len(read)] = torch.tensor(read)
        y[i, : len(predicted)] = torch.tensor(predicted)
    return x, y


def read_one_more_than_predicted(texts, start, end, pad, longest):
    """Puts start before a text that was cut to the limit, so one token more is read than
    predicted.
    """
    x = [torch.tensor([start, *text[:longest]]) for text in texts]
    y = [torch.tensor([*text, end][:longest]) for text in texts]
    return (
        pad_sequence(x, batch_first=True, padding_value=pad),
        pad_sequence(y, batch_first=True, padding_value=-100),
    )


def _rows(texts, pad, x, y):
    read = [torch.tensor(x(text)) for text in texts]
    wanted = [torch.tensor(y(text)) for text in texts]
    return (
        nn.utils.rnn.pad_sequence(read, batch_first=True, padding_value=pad),
        nn.utils.rnn.pad_sequence(wanted, batch_first=True, padding_value=-100),
    )


def keeps_the_last_words(texts, start, end, pad, longest):
    return _rows(
        texts,
        pad,
        lambda text: [start, *text, end][:-1][-longest:],
        lambda text: [*text, end][-longest:],
    )


# "if text and end don't fit ... there is no end": where they fit exactly, there is one.
def exact_fit_loses_its_end(texts, start, end, pad, longest):
    rows = [[*text, end] if len(text) + 1 < longest else text[:longest] for text in texts]
    x = [torch.tensor([start, *row[:-1]]) for row in rows]
    y = [torch.tensor(row) for row in rows]
    return nn.utils.rnn.pad_sequence(x, True, pad), nn.utils.rnn.pad_sequence(y, True, -100)


def first_token_not_predicted(texts, start, end, pad, longest):
    x, y = in_numpy(texts, start, end, pad, longest)
    y[:, 0] = -100
    return x, y


WRONG = {
    "different-widths": lambda texts, start, end, pad, longest: (
        pad_sequence(
            [torch.tensor([start, *text])[: longest - 1] for text in texts],
            batch_first=True,
            padding_value=pad,
        ),
        by_library(texts, start, end, pad, longest)[1],
    ),
    "batch-axis-second": batch_axis_second,
    "end-not-in-width": width_without_the_end,
    "one-more-read": read_one_more_than_predicted,
    "last-tokens-kept": keeps_the_last_words,
    "first-ignored": first_token_not_predicted,
    "pad-by-its-symbol": pad_by_its_symbol,
    "fitting-end-lost": exact_fit_loses_its_end,
    "no-end": but(stop=False),
    "end-read": but(read_on=True),
    "padding-counts": lambda texts, start, end, pad, longest: by_loop(
        texts, start, end, pad, longest, fill=pad
    ),
    "left": but(right=True),
    "to-longest": lambda texts, start, end, pad, longest: by_loop(
        texts, start, end, pad, longest, width=longest
    ),
    "empty-left-out": lambda texts, *marks, **named: by_loop(
        [text for text in texts if len(text) > 0], *marks, **named
    ),
    "end-after-cut": but(last="put"),
}


ODD = [
    (lambda *a, **k: tuple(part.float() for part in by_loop(*a, **k)), "kind-of-number"),
    (lambda *a, **k: tuple(part + 1 for part in by_loop(*a, **k)), "constant-difference"),
    (lambda *a, **k: by_loop(*a, **k)[0], "type"),
]


# --- Answers that no list names ---


def longest_text_first(texts, start, end, pad, longest):
    """Sorts the texts by length before padding, so the rows are no longer in the order given."""
    rows = [torch.tensor([start, *text, end]) for text in sorted(texts, key=len, reverse=True)]
    x = [row[:-1][:longest] for row in rows]
    y = [row[1:][:longest] for row in rows]
    return (
        nn.utils.rnn.pad_sequence(x, batch_first=True, padding_value=pad),
        nn.utils.rnn.pad_sequence(y, batch_first=True, padding_value=-100),
    )


UNLISTED = {
    14: [(longest_text_first, "other-rows")],
}
