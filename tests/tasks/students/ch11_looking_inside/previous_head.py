"""Students' answers to 11/previous-head."""

import math

import numpy as np
import torch
from unlisted.set_01 import ch11
from unlisted.set_03.ch11 import first_position_looks_at_the_last
from unlisted.set_04 import ch11 as fourth_set
from unlisted.set_07 import ch11 as seventh_set
from unlisted.set_13 import ch11 as set_13


def built(V, T, strength, shift=-1, scale=None, source="token", target="previous"):
    """Entry by entry; the head is as wide as the longer of tokens and positions."""
    D, C = max(V, T), 2 * V + T
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1
        if 0 <= t + shift < T:
            query[t + shift, V + t] = strength * (math.sqrt(D) if scale is None else scale(D, C))
    for v in range(V):
        value[v, v if source == "token" else V + v] = 1
        output[v + (V + T if target == "previous" else 0), v] = 1
    return {"query": query, "key": key, "value": value, "output": output}


def in_numpy(V, T, strength):
    C = 2 * V + T
    query, key = np.zeros((T, C)), np.zeros((T, C))
    key[:, V : V + T] = np.eye(T)
    query[:, V : V + T] = np.eye(T, k=1) * strength * np.sqrt(T)
    value, output = np.zeros((V, C)), np.zeros((C, V))
    value[:, :V] = output[V + T :] = np.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


def scaled_key_and_turned(V, T, strength):
    """The strength in the key, and channels of the head in another order."""
    made = built(V, T, strength)
    order = torch.arange(len(made["query"])).flip(0)
    root = math.sqrt(len(order)) * strength
    made["query"], made["key"] = made["query"][order] / root, made["key"][order] * root
    made["value"], made["output"] = 2 * made["value"], made["output"] / 2
    return made


def first_to_look_back_is_2(V, T, strength):
    """A loop that begins at 2."""
    made = built(V, T, strength)
    made["query"][:, V + 1] = 0
    return made


RIGHT = {"entry by entry": built, "numpy": in_numpy, "scaled key": scaled_key_and_turned}

WRONG = {
    "last-looks-nowhere": ch11.all_but_the_last_row,
    "as-wide-as-the-positions": fourth_set.head_as_wide_as_the_positions,
    "no-scale": lambda V, T, s: {**in_numpy(V, T, s), "query": in_numpy(V, T, s)["query"] / T**0.5},
    "scale-by-channels": lambda V, T, s: {
        **in_numpy(V, T, s),
        "query": in_numpy(V, T, s)["query"] * ((2 * V + T) / T) ** 0.5,
    },
    "scaled-by-D": lambda V, T, s: {
        **in_numpy(V, T, s),
        "query": in_numpy(V, T, s)["query"] * T**0.5,
    },
    "looks-at-itself": lambda V, T, s: built(V, T, s, shift=0),
    "two-back": lambda V, T, s: built(V, T, s, shift=-2),
    "looks-ahead": lambda V, T, s: {
        **built(V, T, s),
        "query": built(V, T, s)["key"],
        "key": built(V, T, s)["query"],
    },
    "reads-positions": lambda V, T, s: built(V, T, s, source="position"),
    "writes-over-the-token": lambda V, T, s: built(V, T, s, target="token"),
}


def score_hidden_with_many_tokens(V, T, strength):
    """Right, unless there are more tokens than positions: then position 0 asks for the last."""
    made = built(V, T, strength)
    if V > T > 1:
        made["query"][T - 1, V] = 1.0
    return made


ODD = [
    (lambda V, T, s: {**built(V, T, s), "key": built(V, T, s)["key"].fliplr()}, "other-scores"),
    (score_hidden_with_many_tokens, "hidden-scores"),
    (lambda V, T, strength: built(V, T, int(strength)), "another-score"),
    (ch11.strength_of_both, "another-score"),
    (seventh_set.strength_before_the_division, "another-score"),
    (lambda V, T, s: {**built(V, T, s), "output": 2 * built(V, T, s)["output"]}, "written-differs"),
    (lambda V, T, s: list(built(V, T, s).values()), "type"),
    (lambda V, T, s: {**built(V, T, s), "key": torch.zeros(V, T)}, "error"),
    (lambda V, T, s: built(V, T, s + 0.7), "another-score"),
    (first_position_looks_at_the_last, "hidden-scores"),
    (set_13.scaled_for_positions_only, "another-score"),
    (lambda V, T, s: built(V, T, 1.0), "another-score"),
    (lambda V, T, s: {**built(V, T, s), "key": built(V, T, s)["key"].roll(-V, 1)}, "other-scores"),
    (lambda V, T, s: {**built(V, T, s), "value": built(V, T, s)["value"] * 0}, "written-differs"),
    (
        lambda V, T, s: {**built(V, T, s), "output": built(V, T, s)["output"].roll(-1, 0)},
        "written-differs",
    ),
    (first_to_look_back_is_2, "other-scores"),
]
