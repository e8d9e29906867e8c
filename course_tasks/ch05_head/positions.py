"""What 05/positions asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.inputs import Rng, tensor, values, whole
from course_tasks.probing import Inputs, Probe


def _positions_inputs(rng: Rng) -> Inputs:
    B = int(rng.integers(3, 5))
    T = int(rng.integers(6, 9))
    block_size = T + int(rng.integers(2, 5))
    V = block_size - 1  # so that a token used as a position raises no error
    C = int(rng.choice([c for c in (3, 4, 5) if c != B]))
    start = rng.integers(1, T - 2, size=B)
    start[0], start[2] = rng.permutation([1, 3])  # at least two that differ
    start[1] = 0  # a text without padding between others that have some
    return {
        "tokens": rng.integers(V, size=(B, T)).astype(np.int64),
        "exact": rng.integers(V, size=(B, block_size)).astype(np.int64),
        "too_many": rng.integers(V, size=(B, block_size + 1)).astype(np.int64),
        "token_table": values(rng, V, C),
        "position_table": values(rng, block_size, C),
        "none": np.zeros(B, dtype=np.int64),
        "start": start.astype(np.int64),
        # Only the last text begins so early that it has more symbols than the table has rows.
        "last_too_long": np.append(start[start > 0], 0).astype(np.int64),
        "fits": np.zeros(B, dtype=np.int64),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "V": whole(V),
        "block_size": whole(block_size),
    }


def _inputs_at_the_edge(rng: Rng) -> Inputs:
    """A text of one symbol, and one with as many symbols as the table has rows behind padding that
    is longer than the table, so that no row stands for its negative positions.
    """
    given = _positions_inputs(rng)
    T, V, block_size = (int(given[name]) for name in ("T", "V", "block_size"))
    padding = block_size + int(rng.integers(1, 4))
    return {
        **given,
        **{name: given[name][:1] for name in ("tokens", "too_many", "none")},
        "start": np.array([T - 1]),
        "exact": rng.integers(V, size=(1, padding + block_size)).astype(np.int64),
        "fits": np.array([padding]),
        "last_too_long": np.zeros(1, dtype=np.int64),
        "B": whole(1),
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
        _place(answer, given, "too_many", "last_too_long")
    except NotImplementedError:
        raise
    except Exception:  # any error will do: the task doesn't say which
        return True
    return False


PROBE = Probe(
    _positions_inputs,
    {
        "short": lambda answer, given: _place(answer, given, "tokens", "none"),
        "padded": lambda answer, given: _place(answer, given, "tokens", "start"),
        "exact": lambda answer, given: _place(answer, given, "exact", "fits"),
        "refused": _place_too_many,
    },
    second=_inputs_at_the_edge,
)
