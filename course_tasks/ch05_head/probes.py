"""What the tasks of chapter 05 ask: inputs and calls, no answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from course_tasks.answers import Array
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe, load_weights


def _different(rng: Rng, choices: range, count: int) -> list[int]:
    """Sizes that all differ, so that no axis can be taken for another."""
    return [int(n) for n in rng.choice(list(choices), size=count, replace=False)]


def _maps(rng: Rng, *shapes: tuple[int, int]) -> list[Array]:
    """Weights of linear maps, a little larger than at the start so that no row comes out flat."""
    return [rng.normal(size=shape) * 1.5 / np.sqrt(shape[0]) for shape in shapes]


# --- scores ---------------------------------------------------------------------------------------


def _scores_inputs(rng: Rng) -> Inputs:
    B, H = _different(rng, range(2, 5), 2)
    T, D = _different(rng, range(5, 9), 2)
    C = int(rng.integers(11, 15))
    w_query, w_key = _maps(rng, (C, D), (C, D))
    return {
        "x": rng.normal(size=(B, T, C)),
        "one": rng.normal(size=(T, C)),
        "stack": rng.normal(size=(B, H, T, C)),
        "w_query": w_query,
        "w_key": w_key,
        "B": whole(B),
        "H": whole(H),
        "T": whole(T),
        "C": whole(C),
        "D": whole(D),
    }


def _score(answer: Any, given: Inputs, x: str) -> Any:
    return answer(tensor(given[x]), tensor(given["w_query"]), tensor(given["w_key"]))


# --- weights --------------------------------------------------------------------------------------


def _triangle(size: int) -> Array:
    return np.tril(np.ones((size, size), dtype=bool))


def _weights_inputs(rng: Rng) -> Inputs:
    B = int(rng.integers(3, 5))
    T = int(rng.integers(6, 9))
    block_size = T + int(rng.integers(2, 5))
    start = rng.integers(2, T - 2, size=B)
    start[0] = 0  # a text without padding, whose rows are those of the chapter
    return {
        # Far from 0 on one side: a fill of 0 or a multiplied mask moves every row.
        "scores": rng.normal(size=(B, T, T)) * 1.5 + 1.0,
        "past": _triangle(block_size),
        "whole": _triangle(T),
        "none": np.zeros(B, dtype=np.int64),
        "start": start.astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "block_size": whole(block_size),
    }


def _weigh(answer: Any, given: Inputs, past: str, start: str) -> Any:
    return answer(tensor(given["scores"]), tensor(given[past]), tensor(given[start]))


# --- head -----------------------------------------------------------------------------------------


def _head_inputs(rng: Rng) -> Inputs:
    B = int(rng.integers(2, 4))
    T, D, E = _different(rng, range(4, 8), 3)
    C = int(rng.integers(11, 15))
    t = int(rng.integers(2, T))
    x = rng.normal(size=(B, T, C)).astype(np.float32)
    later = x.copy()
    later[:, t:] = rng.normal(size=(B, T - t, C))
    w_query, w_key, w_value = _maps(rng, (C, D), (C, D), (C, E))
    return {
        "x": x,
        "later": later,
        "full": rng.normal(size=(B, T + 3, C)).astype(np.float32),
        # As linear layers keep them: outputs first.
        "query.weight": w_query.T.astype(np.float32),
        "key.weight": w_key.T.astype(np.float32),
        "value.weight": w_value.T.astype(np.float32),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "D": whole(D),
        "E": whole(E),
        "t": whole(t),
    }


def _attend(answer: Any, given: Inputs, x: str, *, causal: bool) -> Any:
    """The output of the student's head with the given weights; a bias, where there is one, is 0."""
    C, D, E, T = (int(given[name]) for name in ("C", "D", "E", "T"))
    head = answer(C, D, E, T + 3, causal)
    if not isinstance(head, nn.Module):
        raise TypeError(f"`Head(…)` should make an nn.Module; it made a {type(head).__name__}")
    names = ("query.weight", "key.weight", "value.weight")
    load_weights(head, {name: given[name] for name in names})
    with torch.no_grad():
        for name, parameter in head.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
    head.eval()
    return head(tensor(given[x]))


# --- positions ------------------------------------------------------------------------------------


def _positions_inputs(rng: Rng) -> Inputs:
    B = int(rng.integers(3, 5))
    T = int(rng.integers(6, 9))
    block_size = T + int(rng.integers(2, 5))
    V = block_size - 1  # so that a token can be taken for a position without an error
    C = int(rng.choice([c for c in (3, 4, 5) if c != B]))
    start = rng.integers(1, T - 2, size=B)
    start[:2] = rng.permutation([1, 3])  # at least two that differ
    return {
        "tokens": rng.integers(V, size=(B, T)).astype(np.int64),
        "too_many": rng.integers(V, size=(B, block_size + 2)).astype(np.int64),
        "token_table": rng.normal(size=(V, C)),
        "position_table": rng.normal(size=(block_size, C)),
        "none": np.zeros(B, dtype=np.int64),
        "start": start.astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "V": whole(V),
        "block_size": whole(block_size),
    }


def _place(answer: Any, given: Inputs, tokens: str, start: str) -> Any:
    return answer(
        tensor(given[tokens]),
        tensor(given["token_table"]),
        tensor(given["position_table"]),
        tensor(given[start]),
    )


def _place_too_many(answer: Any, given: Inputs) -> Any:
    try:
        _place(answer, given, "too_many", "none")
    except NotImplementedError:
        raise
    except Exception:  # any refusal will do: the task does not fix its kind
        return True
    return False


# --- distance -------------------------------------------------------------------------------------


def _distance_inputs(rng: Rng) -> Inputs:
    B = int(rng.integers(2, 5))
    T = int(rng.integers(5, 9))
    return {
        "scores": rng.normal(size=(B, T, T)) * 1.2 + 0.8,
        "slope": number(rng.choice([0.3, 0.35, 0.4, 0.45])),
        "B": whole(B),
        "T": whole(T),
    }


def _penalise(answer: Any, given: Inputs, slope: float) -> Any:
    return answer(tensor(given["scores"]), slope)


# --- cross ----------------------------------------------------------------------------------------


def _cross_inputs(rng: Rng) -> Inputs:
    B = int(rng.integers(2, 4))
    T, S, D, E = _different(rng, range(4, 9), 4)
    C = int(rng.integers(11, 15))
    w_query, w_key, w_value = _maps(rng, (C, D), (C, D), (C, E))
    lengths = rng.permutation(np.arange(2, 2 + B))
    return {
        "x": rng.normal(size=(B, T, C)),
        "memory": rng.normal(size=(B, S, C)),
        "w_query": w_query,
        "w_key": w_key,
        "w_value": w_value,
        "full": np.full(B, S, dtype=np.int64),
        "lengths": np.minimum(lengths, S - 1).astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "S": whole(S),
        "C": whole(C),
        "D": whole(D),
        "E": whole(E),
    }


def _ask(answer: Any, given: Inputs, lengths: str) -> Any:
    names = ("x", "memory", "w_query", "w_key", "w_value", lengths)
    return answer(*(tensor(given[name]) for name in names))


PROBES: dict[str, Probe] = {
    "scores": Probe(
        _scores_inputs,
        {
            "batch": lambda answer, given: _score(answer, given, "x"),
            "one": lambda answer, given: _score(answer, given, "one"),
            "stack": lambda answer, given: _score(answer, given, "stack"),
        },
    ),
    "weights": Probe(
        _weights_inputs,
        {
            "whole": lambda answer, given: _weigh(answer, given, "whole", "none"),
            "cut": lambda answer, given: _weigh(answer, given, "past", "none"),
            "padded": lambda answer, given: _weigh(answer, given, "past", "start"),
        },
    ),
    "head": Probe(
        _head_inputs,
        {
            "causal": lambda answer, given: _attend(answer, given, "x", causal=True),
            "later": lambda answer, given: _attend(answer, given, "later", causal=True),
            "full": lambda answer, given: _attend(answer, given, "full", causal=True),
            "both_ways": lambda answer, given: _attend(answer, given, "x", causal=False),
        },
    ),
    "positions": Probe(
        _positions_inputs,
        {
            "short": lambda answer, given: _place(answer, given, "tokens", "none"),
            "padded": lambda answer, given: _place(answer, given, "tokens", "start"),
            "refused": _place_too_many,
        },
    ),
    "distance": Probe(
        _distance_inputs,
        {
            "level": lambda answer, given: _penalise(answer, given, 0.0),
            "gentle": lambda answer, given: _penalise(answer, given, float(given["slope"])),
            "steep": lambda answer, given: _penalise(answer, given, 3 * float(given["slope"])),
        },
    ),
    "cross": Probe(
        _cross_inputs,
        {
            "full": lambda answer, given: _ask(answer, given, "full"),
            "padded": lambda answer, given: _ask(answer, given, "lengths"),
        },
    ),
}
