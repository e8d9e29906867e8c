"""What 09/stream asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_tasks.inputs import Rng, parts_of, whole
from course_tasks.probing import Inputs, Probe


def _stacked(result: Any) -> Any:
    tensors = isinstance(result, list | tuple) and all(isinstance(r, Tensor) for r in result)
    return torch.stack(list(result)) if tensors and result else result


def _stream_inputs(rng: Rng) -> Inputs:
    B, T = int(rng.choice([2, 3])), int(rng.choice([5, 6]))
    each = int(rng.integers(5, 7))
    K = B * each
    # At least four steps, so never as many as rows; a letter also says where it came from.
    lengths = rng.integers(4, 8, size=K)
    letters = rng.permutation(int(lengths.sum())) + 1
    order = rng.permutation(K)
    while (lengths[order[:each]] + 1).sum() % T == 0:  # a cut after whole windows would be right
        order = rng.permutation(K)
    return {
        "letters": letters.astype(np.int64),
        "lengths": lengths.astype(np.int64),
        "order": order.astype(np.int64),
        "batch_size": whole(B),
        "block_size": whole(T),
    }


def _stream(answer: Any, given: Inputs) -> Any:
    names = [part.tolist() for part in np.split(given["letters"], given["lengths"].cumsum()[:-1])]
    sizes = int(given["batch_size"]), int(given["block_size"])
    result = answer(names, given["order"].tolist(), *sizes)
    return {name: _stacked(part) for name, part in parts_of(result, "x", "y").items()}


PROBE = Probe(_stream_inputs, {"stream": _stream})
