"""Students' answers to 11/previous-head."""

import math

import numpy as np
import torch


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


WRONG = {
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


def strength_of_both(V, T, strength):
    return _head(V, T, strength, key=strength)


# Builds the model as one remembers it and forgets that it divides.
# "must be `strength` *after* the division by √D"
def strength_before_the_division(V, T, strength):
    C = 2 * V + T
    D = V + T
    query = torch.zeros(D, C)
    key = torch.zeros(D, C)
    value = torch.zeros(D, C)
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1
    for t in range(1, T):
        query[t - 1, V + t] = strength
    for i in range(V):
        value[i, i] = 1
        output[V + T + i, i] = 1
    return {"query": query, "key": key, "value": value, "output": output}


def first_position_looks_at_the_last(V, T, strength):
    D, C = max(V, T), V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1.0
        query[t - 1, V + t] = strength * math.sqrt(D)
    value[:V, :V] = output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


def scaled_for_positions_only(V, T, strength):
    """Multiplies by the root of T, but its head has D = V + T rows, so the scores are too small."""
    D, C = V + T, V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[V + t, V + t] = 1.0
        if t > 0:
            query[V + t - 1, V + t] = strength * math.sqrt(T)
    value[:V, :V] = torch.eye(V)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


ODD = [
    (lambda V, T, s: {**built(V, T, s), "key": built(V, T, s)["key"].fliplr()}, "other-scores"),
    (score_hidden_with_many_tokens, "hidden-scores"),
    (lambda V, T, strength: built(V, T, int(strength)), "another-score"),
    (strength_of_both, "another-score"),
    (strength_before_the_division, "another-score"),
    (lambda V, T, s: {**built(V, T, s), "output": 2 * built(V, T, s)["output"]}, "written-differs"),
    (lambda V, T, s: list(built(V, T, s).values()), "type"),
    (lambda V, T, s: {**built(V, T, s), "key": torch.zeros(V, T)}, "error"),
    (lambda V, T, s: built(V, T, s + 0.7), "another-score"),
    (first_position_looks_at_the_last, "hidden-scores"),
    (scaled_for_positions_only, "another-score"),
    (lambda V, T, s: built(V, T, 1.0), "another-score"),
    (lambda V, T, s: {**built(V, T, s), "key": built(V, T, s)["key"].roll(-V, 1)}, "other-scores"),
    (lambda V, T, s: {**built(V, T, s), "value": built(V, T, s)["value"] * 0}, "written-differs"),
    (
        lambda V, T, s: {**built(V, T, s), "output": built(V, T, s)["output"].roll(-1, 0)},
        "written-differs",
    ),
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


def value_times_strength(V, T, strength):
    return _head(V, T, strength, value=strength)


def _head_of_set_2(V, T, D, score, back, into):
    C = V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1.0
        if t >= back:
            query[t - back, V + t] = score
    value[:V, :V] = output[into : into + V, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


def head_with_the_whole_size(V, T, strength):
    D = max(V, T)
    return _head_of_set_2(V, T, D, strength * D, 1, V + T)


def head_that_looks_at_itself(V, T, strength):
    D = max(V, T)
    return _head_of_set_2(V, T, D, strength * math.sqrt(D), 0, V + T)


def head_that_writes_over_the_token(V, T, strength):
    D = max(V, T)
    return _head_of_set_2(V, T, D, strength * math.sqrt(D), 1, 0)


# "The head writes the token that it looks at", whichever of V it is: D is T here, and tokens from
# T on are lost.
def as_many_rows_as_positions(V, T, strength):
    D, C = T, V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1.0
        if t > 0:
            query[t - 1, V + t] = strength * math.sqrt(D)
    for token in range(min(V, D)):
        value[token, token] = output[V + T + token, token] = 1.0
    return {"query": query, "key": key, "value": value, "output": output}


# "The score of position t for position t − 1 must be `strength` after the division by √D"
def root_of_the_streams_channels(V, T, strength):
    D, C = max(V, T), V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1.0
        if t > 0:
            query[t - 1, V + t] = strength * math.sqrt(C)
    value[:V, :V] = output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


# "strength after the division by √D": D is the number of rows of the query, not the channels
def root_of_the_channels(V, T, strength):
    D, C = max(V, T), V + T + V
    query, key, value, output = (torch.zeros(D, C) for _ in range(4))
    for t in range(T):
        key[t, V + t] = 1.0
        if t > 0:
            query[t - 1, V + t] = strength * math.sqrt(C)
    value[:V, :V] = torch.eye(V)
    output[:V, V + T :] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output.T}


# "the score for every other position 0": position 0 has the last one before it here
def ring_of_positions(V, T, strength):
    D, C = max(V, T), V + T + V
    query, key, value, output = (torch.zeros(D, C) for _ in range(4))
    key[:T, V : V + T] = torch.eye(T)
    query[:T, V : V + T] = torch.eye(T).roll(-1, dims=0) * strength * math.sqrt(D)
    value[:V, :V] = torch.eye(V)
    output[:V, V + T :] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output.T}


# "The head writes the token that it looks at", whichever of the V: T channels are too few for it
# where there are more tokens than positions
def as_many_tokens_as_positions(V, T, strength):
    C = V + T + V
    query, key, value = (torch.zeros(T, C) for _ in range(3))
    output = torch.zeros(C, T)
    key[:, V : V + T] = torch.eye(T)
    query[: T - 1, V + 1 : V + T] = torch.eye(T - 1) * strength * math.sqrt(T)
    value[:, :V] = torch.eye(T, V)
    output[V + T :] = torch.eye(V, T)
    return {"query": query, "key": key, "value": value, "output": output}


# Shifts with NumPy's roll, which brings the last row to the front.
# "and the score for every other position 0": position 0 gives `strength` to the last one
def shifted_around_the_end(V, T, strength):
    C = V + T + V
    D = max(V, T)
    positions = torch.eye(T)
    query, key = torch.zeros(D, C), torch.zeros(D, C)
    query[:T, V : V + T] = torch.roll(positions, -1, dims=0) * strength * math.sqrt(D)
    key[:T, V : V + T] = positions
    value, output = torch.zeros(D, C), torch.zeros(C, D)
    value[:V, :V] = torch.eye(V)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


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


# A reader of the chapter, where the scale was that of the channels.
# "The score of position t for position t − 1 must be `strength` *after* the division by √D"
def strength_times_root_of_channels(V, T, strength):
    D, C = max(V, T), V + T + V
    query, key, value = torch.zeros(D, C), torch.zeros(D, C), torch.zeros(D, C)
    output = torch.zeros(C, D)
    key[:T, V : V + T] = torch.eye(T)
    query[: T - 1, V + 1 : V + T] = torch.eye(T - 1) * strength * math.sqrt(C)
    value[:V, :V] = torch.eye(V)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


# A NumPy user, who took the diagonal above the main one for the one before.
# "Write the four matrices of a head that looks one position back"
def diagonal_on_the_other_side(V, T, strength):
    D, C = V + T, V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    query[:T, V : V + T] = strength * math.sqrt(D) * torch.eye(T)
    key[:T, V : V + T] = torch.diag(torch.ones(T - 1), 1)
    value[:V, :V] = torch.eye(V)
    output = torch.zeros(C, D)
    output[V + T :, :V] = torch.eye(V)
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


# Remembers that the scale comes from the number of channels, and takes those of the stream:
# "must be `strength` *after* the division by √D"
def root_of_the_channels_of_the_stream(V, T, strength):
    C = V + T + V
    D = max(V, T)
    query = torch.zeros(D, C)
    key = torch.zeros(D, C)
    key[:T, V : V + T] = torch.eye(T)
    query[: T - 1, V + 1 : V + T] = torch.eye(T - 1) * strength * math.sqrt(C)
    value = torch.zeros(D, C)
    value[:V, :V] = torch.eye(V)
    output = torch.zeros(C, D)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


def as_many_tokens_as_positions_of_set_12(V, T, strength):
    """Takes D = T, enough for positions, and torch.eye(T, V) then loses the tokens from T on."""
    C, D = V + T + V, T
    query, key, value = torch.zeros(D, C), torch.zeros(D, C), torch.zeros(D, C)
    output = torch.zeros(C, D)
    key[:, V : V + T] = torch.eye(T)
    for t in range(1, T):
        query[t - 1, V + t] = strength * math.sqrt(D)
    value[:, :V] = torch.eye(T, V)
    output[V + T :] = torch.eye(V, T)
    return {"query": query, "key": key, "value": value, "output": output}


def last_position_asks_nothing(V, T, strength):
    """Its loop over the queries ends one early, so the last position has score 0 everywhere."""
    D, C = max(V, T), V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1.0
    for t in range(1, T - 1):
        query[t - 1, V + t] = strength * math.sqrt(D)
    value[:V, :V] = torch.eye(V)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


def writes_where_it_read(V, T, strength):
    """Takes the transposed value as output, so the token is written into the first V channels."""
    D, C = max(V, T), V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    key[:T, V : V + T] = torch.eye(T)
    query[: T - 1, V + 1 : V + T] = strength * math.sqrt(D) * torch.eye(T - 1)
    value[:V, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": value.T.clone()}


def root_in_both(V, T, strength):
    """Multiplies query and key both by √D, so the score comes out as strength · √D."""
    D, C = max(V, T), V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = math.sqrt(D)
        if t > 0:
            query[t - 1, V + t] = strength * math.sqrt(D)
    value[:V, :V] = torch.eye(V)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


def tokens_shifted_as_well(V, T, strength):
    """Query and key pass tokens on as well as positions, so token i also scores token i − 1."""
    D, C = V + T, V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    key[:, :D] = torch.eye(D)
    query[:, :D] = torch.diag(torch.ones(D - 1), 1) * strength * math.sqrt(D)
    query[V - 1] = 0.0  # a position is not matched with a token
    value[:V, :V] = torch.eye(V)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


UNLISTED = {
    1: [
        only_as_many_as_positions,
        strength_of_both,
        also_into_the_token,
        value_times_strength,
        all_but_the_last_row,
    ],
    2: [head_with_the_whole_size, head_that_looks_at_itself, head_that_writes_over_the_token],
    3: [first_position_looks_at_the_last],
    4: [head_as_wide_as_the_positions],
    5: [as_many_rows_as_positions, root_of_the_streams_channels],
    6: [root_of_the_channels, ring_of_positions, as_many_tokens_as_positions],
    7: [strength_before_the_division],
    8: [shifted_around_the_end, position_zero_asks_for_itself],
    9: [strength_times_root_of_channels, diagonal_on_the_other_side],
    10: [factor_of_the_first_try],
    11: [root_of_the_channels_of_the_stream],
    12: [as_many_tokens_as_positions_of_set_12],
    13: [scaled_for_positions_only, last_position_asks_nothing, writes_where_it_read],
    14: [root_in_both],
    15: [tokens_shifted_as_well],
}
