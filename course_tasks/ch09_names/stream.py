"""What 09/stream asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_tasks.answers import Array
from course_tasks.inputs import Rng, parts_of, whole
from course_tasks.probing import Inputs, Probe


def _stacked(result: Any) -> Any:
    tensors = isinstance(result, list | tuple) and all(isinstance(r, Tensor) for r in result)
    return torch.stack(list(result)) if tensors and result else result


def _stream_inputs(rng: Rng) -> Inputs:
    B = int(rng.choice([3, 4]))
    while True:
        others = [n for n in (4, 5, 6, 7) if n != B]
        T, other, each = (int(n) for n in rng.choice(others, size=3, replace=False))
        K = B * each
        named = rng.integers(4, 10, size=(B, each))  # as they stand in the rows
        shortest = int(rng.integers(1, B - 1))
        named[shortest] = rng.integers(3, 7, size=each)
        named[-1, 0] = 1
        # One name each grows until windows end where `_tells_apart` wants them to.
        named[shortest, -1] += (T - 1 - (named[shortest] + 1).sum()) % T
        named[0, 0] += -(named + 1).sum() % other
        if _tells_apart((named + 1).sum(axis=1), T, other):
            break
    order = rng.permutation(K)
    lengths = np.zeros(K, dtype=np.int64)
    lengths[order] = named.ravel()
    # A letter also says where it came from.
    letters = rng.permutation(int(lengths.sum())) + 1
    return {
        "letters": letters.astype(np.int64),
        "lengths": lengths,
        "order": order.astype(np.int64),
        "batch_size": whole(B),
        "block_size": whole(T),
        "other_block_size": whole(other),
    }


def _tells_apart(rows: Array, T: int, other: int) -> bool:
    """True of rows with so many inputs that have a target, if one input too many, or too few,
    changes the number of steps, and so does any row but the shortest, which is neither the first
    nor the last; and if neither T nor B is that number. In one row of all names, windows of the
    other length fit exactly.
    """
    shortest, whole_text = int(rows.min()), int(rows.sum())
    steps = rows // T
    return bool(
        0 < rows.argmin() < len(rows) - 1
        and (np.delete(steps, rows.argmin()) > steps.min()).all()
        and shortest % T == T - 1
        and whole_text % other == 0
        and rows[0] % T  # a cut after whole windows would be right
        and steps.min() not in (T, len(rows))
        and whole_text // other not in (other, 1)
        and steps.min() > 3
    )


def _asked(answer: Any, given: Inputs, batch_size: int, block_size: int) -> Any:
    names = [part.tolist() for part in np.split(given["letters"], given["lengths"].cumsum()[:-1])]
    result = answer(names, given["order"].tolist(), batch_size, block_size)
    return {name: _stacked(part) for name, part in parts_of(result, "x", "y").items()}


def _stream(answer: Any, given: Inputs) -> Any:
    return _asked(answer, given, int(given["batch_size"]), int(given["block_size"]))


def _other_windows(answer: Any, given: Inputs) -> Any:
    """One row of all names, which ends where a window does."""
    return _asked(answer, given, 1, int(given["other_block_size"]))


PROBE = Probe(_stream_inputs, {"stream": _stream, "other": _other_windows})
