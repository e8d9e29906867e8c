"""What 06/merge asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.ch06_heads.shared import labels
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe


def _merge_inputs(rng: Rng) -> Inputs:
    # More than four heads, so that the numbers before those in the list aren't all others.
    B, H, D = 2, int(rng.choice([5, 9])), 3
    T = int(rng.integers(6, 9))
    # The later head first, since the list need not be sorted. A head between them isn't silenced,
    # so that neither a range nor a count can replace the list.
    # Nor can the numbers be counted from the end.
    while True:
        first = int(rng.integers(H - 2))
        last = int(rng.integers(first + 2, H))
        if first + last not in (H - 1, H):
            return _found(rng, B, H, T, D, [last, first])


def _least(rng: Rng) -> Inputs:
    """One sample, position and channel, of three heads."""
    return _found(rng, 1, 3, 1, 1, [0])


def _found(rng: Rng, B: int, H: int, T: int, D: int, silenced: list[int]) -> Inputs:
    return {
        # No entry is 0: zeros may come only from silenced heads.
        "found": labels(rng, B, H, T, D),
        "silenced": np.array(silenced, dtype=np.int64),
        "B": whole(B),
        "T": whole(T),
        "H": whole(H),
        "D": whole(D),
    }


def _merge_all(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["found"]), [])


def _merge_silenced(answer: Any, given: Inputs) -> Any:
    found = tensor(given["found"])
    # A copy, because a merged tensor may share its memory with the one that came in.
    silenced = given["silenced"].tolist()
    merged = torch.as_tensor(answer(found, silenced)).clone()
    return {"merged": merged, "given": found, "silenced": silenced}


def _merge_none(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["found"]), list(range(int(given["H"]))))


def _merge_without_the_first(answer: Any, given: Inputs) -> Any:
    """Only head 0 is silenced, whose number counts as False."""
    return answer(tensor(given["found"]), [0])


PROBE = Probe(
    _merge_inputs,
    {
        "all": _merge_all,
        "some": _merge_silenced,
        "nobody": _merge_none,
        "first": _merge_without_the_first,
    },
    second=_least,
)
