"""What 07/residual asks."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np
import torch

from course_tasks.ch07_block.shared import Branch, drawn, sizes
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe


def residual_inputs(rng: Rng) -> Inputs:
    """A stream and the weights of its branches."""
    return _streams(rng, *sizes(rng), int(rng.integers(3, 6)))


def _least(rng: Rng) -> Inputs:
    """One sample of one channel, and one branch."""
    return _streams(rng, 1, 2, 1, 1)


def _streams(rng: Rng, B: int, T: int, C: int, n: int) -> Inputs:
    return {
        "x": rng.normal(size=(B, T, C)).astype(np.float32),
        "weights": drawn(rng, n, C, C),
        "pull": rng.normal(size=(B, T, C)).astype(np.float32),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "N": whole(n),
    }


def _residual_stream(answer: Any, given: Inputs) -> Any:
    return answer(_branches(given))


def _branches(given: Inputs) -> list[Branch]:
    return [Branch(tensor(weight)) for weight in given["weights"]]


def stream(answer: Any, given: Inputs) -> Any:
    """What leaves the stream, and what is then in the tensor that entered."""
    x = tensor(given["x"])
    with torch.no_grad():
        out = _residual_stream(answer, given)(x)
    return {"out": out, "x": x}


def stream_again(answer: Any, given: Inputs) -> Any:
    """What leaves the stream when a second text enters, a shorter one."""
    x = tensor(given["x"])
    with torch.no_grad():
        module = _residual_stream(answer, given)
        module(x.clone())
        return module(x[:, : (x.shape[1] + 1) // 2].clone())


def stream_gradient(answer: Any, given: Inputs) -> Any:
    """The gradient of some weighting of the output, at the input."""
    leaf = tensor(given["x"]).requires_grad_()
    out = _residual_stream(answer, given)(leaf * 1.0)
    (gradient,) = torch.autograd.grad((out * tensor(given["pull"])).sum(), leaf)
    return gradient


def stream_parameters(answer: Any, given: Inputs) -> Any:
    """How many parameters the module knows of, and which branches are left in the list that it was
    given.
    """
    branches = _branches(given)
    listed = list(branches)
    module = answer(branches)
    return {
        "count": sum(p.numel() for p in module.parameters()),
        "given": [branch is one for branch, one in zip_longest(branches, listed)],
    }


PROBE = Probe(
    residual_inputs,
    {
        "stream": stream,
        "again": stream_again,
        "gradient": stream_gradient,
        "parameters": stream_parameters,
    },
    second=_least,
)
