"""Students' answers to 14/last-seen."""

import numpy as np
import torch


def by_loop(tokens):
    places = torch.full_like(tokens, -1)
    for b, row in enumerate(tokens.tolist()):
        for t, token in enumerate(row):
            for s in range(t):
                if row[s] == token:
                    places[b, t] = s
    return places


def by_dictionary(tokens):
    rows = []
    for row in tokens.tolist():
        last = {}
        rows.append([])
        for t, token in enumerate(row):
            rows[-1].append(last.get(token, -1))
            last[token] = t
    return rows


def in_numpy(tokens):
    x = tokens.numpy()
    T = x.shape[1]
    same = (x[:, :, None] == x[:, None]) & np.tri(T, k=-1, dtype=bool)
    return np.where(same, np.arange(T), -1).max(-1)


def chosen(tokens, choose):
    """For each position what is chosen, of its own place and those of all equal symbols."""
    rows = tokens.tolist()
    return torch.tensor(
        [
            [
                choose(t, [s for s, other in enumerate(row) if other == token])
                for t, token in enumerate(row)
            ]
            for row in rows
        ]
    )


RIGHT = {"loop": by_loop, "dictionary": by_dictionary, "numpy": in_numpy}

WRONG = {
    "first-not-last": lambda x: chosen(x, lambda t, places: places[0] if places[0] < t else -1),
}

# What no mistake names: the edits of the answer's own steps, and what is true of the data.
ODD = [
    (
        lambda x: chosen(x, lambda t, places: t),
        "left-out-diagonal-for-tril-in-the-places-before",
    ),
    (
        lambda x: chosen(x, lambda t, places: max(places)),
        "used-triu-instead-of-tril-in-the-places-before",
    ),
    (lambda x: by_loop(x) + 1, "added-1-to-their-numbers"),
    (lambda x: by_loop(x)[0], "shape"),
]
