"""Students' answers to 11/previous-head."""

import math

import numpy as np
import torch


def built(V, T, strength, shift=-1, target="previous"):
    """Entry by entry; the head is as wide as the longer of tokens and positions."""
    D, C = max(V, T), 2 * V + T
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1
        if 0 <= t + shift < T:
            query[t + shift, V + t] = strength * math.sqrt(D)
    for v in range(V):
        value[v, v] = 1
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


def _head(V, T, strength, *, key=1.0, value=1.0, last=None):
    """The right one, with places to go wrong."""
    D, C = max(V, T), V + T + V
    made = {name: torch.zeros(D, C) for name in ("query", "key", "value")}
    made["output"] = torch.zeros(C, D)
    for t in range(T):
        made["key"][t, V + t] = key
        if 0 < t < (last or T):
            made["query"][t - 1, V + t] = strength * math.sqrt(D)
    made["value"][:V, :V] = value * torch.eye(V)
    made["output"][V + T :, :V] = torch.eye(V)
    return made


def all_but_the_last_row(V, T, strength):
    return _head(V, T, strength, last=T - 1)


# "writes the token that it looks at": also where there are more tokens than positions
def head_as_wide_as_the_positions(V, T, strength):
    D, C = T, V + T + V
    query, key = torch.zeros(D, C), torch.zeros(D, C)
    value, output = torch.zeros(D, C), torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1.0
        if t > 0:
            query[t - 1, V + t] = strength * math.sqrt(D)
    for token in range(min(V, D)):
        value[token, token] = 1.0
        output[V + T + token, token] = 1.0
    return {"query": query, "key": key, "value": value, "output": output}


# Began with D = T, raised D when the value matrix did not fit, and left the factor as it was.
# "must be `strength` *after* the division by √D"
def factor_of_the_first_try(V, T, strength):
    C = V + T + V
    factor = strength * math.sqrt(T)
    D = max(T, V)
    query, key, value = torch.zeros(D, C), torch.zeros(D, C), torch.zeros(D, C)
    for t in range(T):
        query[t, V + t] = factor
        if t + 1 < T:
            key[t + 1, V + t] = 1.0
    output = torch.zeros(C, D)
    for v in range(V):
        value[v, v] = 1.0
        output[V + T + v, v] = 1.0
    return {"query": query, "key": key, "value": value, "output": output}


WRONG = {
    "strength-twice": lambda V, T, strength: _head(V, T, strength, key=strength),
    "scale-by-positions": factor_of_the_first_try,
    "last-looks-nowhere": all_but_the_last_row,
    "as-wide-as-the-positions": head_as_wide_as_the_positions,
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
    "looks-ahead": lambda V, T, s: {
        **built(V, T, s),
        "query": built(V, T, s)["key"],
        "key": built(V, T, s)["query"],
    },
    "writes-over-the-token": lambda V, T, s: built(V, T, s, target="token"),
}


def score_hidden_with_many_tokens(V, T, strength):
    """Right, unless there are more tokens than positions: then position 0 asks for the last."""
    made = built(V, T, strength)
    if V > T > 1:
        made["query"][T - 1, V] = 1.0
    return made


ODD = [
    (
        lambda V, T, s: {**built(V, T, s), "key": built(V, T, s)["key"].fliplr()},
        "reversed-your-key-along-the-last-axis",
    ),
    (score_hidden_with_many_tokens, "hidden-scores"),
    (lambda V, T, s: built(V, T, s + 0.7), "another-score"),
    (lambda V, T, s: {**built(V, T, s), "output": 3 * built(V, T, s)["output"]}, "written-differs"),
    (lambda V, T, s: list(built(V, T, s).values()), "type"),
    (lambda V, T, s: {**built(V, T, s), "key": torch.zeros(V, T)}, "error"),
    (lambda V, T, s: {**built(V, T, s), "key": built(V, T, s)["key"].roll(-V, 1)}, "other-scores"),
    (lambda V, T, s: {**built(V, T, s), "value": built(V, T, s)["value"] * 0}, "written-differs"),
    (first_to_look_back_is_2, "other-scores"),
]


# --- Answers that no list names ---


def only_as_many_as_positions(V, T, strength):
    C = V + T + V
    query, key = torch.zeros(T, C), torch.zeros(T, C)
    value, output = torch.zeros(T, C), torch.zeros(C, T)
    query[:, V : V + T] = torch.eye(T).roll(-1, dims=0) * strength * math.sqrt(T)
    key[:, V : V + T] = torch.eye(T)
    width = min(V, T)
    value[:width, :width] = output[V + T : V + T + width, :width] = torch.eye(width)
    return {"query": query, "key": key, "value": value, "output": output}


def also_into_the_token(V, T, strength):
    made = _head(V, T, strength)
    made["output"][:V, :V] = torch.eye(V)
    return made


# Read "so it looks at itself" as one more score to set.
# "the score for every other position 0"
def position_zero_asks_for_itself(V, T, strength):
    D, C = max(V, T), V + T + V
    query = torch.zeros(D, C)
    key = torch.zeros(D, C)
    value = torch.zeros(D, C)
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1
        query[max(t - 1, 0), V + t] = strength * D**0.5
    for v in range(V):
        value[v, v] = 1
        output[V + T + v, v] = 1
    return {"query": query, "key": key, "value": value, "output": output}


UNLISTED = {
    1: [(only_as_many_as_positions, "hidden-scores"), (also_into_the_token, "written-differs")],
    8: [(position_zero_asks_for_itself, "hidden-scores")],
}
