"""What 07/residual asks."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np
import torch

from course_tasks.ch07_block.shared import Branch, Recorder, drawn
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe


def residual_inputs(rng: Rng) -> Inputs:
    """A stream and the weights of its branches."""
    # Neither N nor one more or less is another size or, like √(5 − 1), an integer next to √N, so
    # that a root tells what it is of. More branches would make much of what float32 leaves.
    return _streams(rng, int(rng.integers(2, 4)), 8, int(rng.integers(9, 11)), 6)


def _least(rng: Rng) -> Inputs:
    """One sample of one channel, and one branch."""
    return _streams(rng, 1, 2, 1, 1)


def _streams(rng: Rng, B: int, T: int, C: int, n: int) -> Inputs:
    return {
        "x": rng.normal(size=(B, T, C)).astype(np.float32),
        "weights": drawn(rng, n, C, C),
        # The first branch comes again where there are others.
        "order": np.array([*range(n), 0] if n > 1 else [0]),
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


def stream_reads(answer: Any, given: Inputs) -> Any:
    """What each branch reads, in the order in which they are called."""
    recorder = Recorder(*given["x"].shape)
    branches = [Branch(tensor(w), recorder, n) for n, w in enumerate(given["weights"])]
    with torch.no_grad():
        answer(branches)(tensor(given["x"]))
    return recorder.told()


def stream_again(answer: Any, given: Inputs) -> Any:
    """What leaves the stream when a second text enters, a shorter one."""
    x = tensor(given["x"])
    with torch.no_grad():
        module = _residual_stream(answer, given)
        module(x.clone())
        return module(x[:, : (x.shape[1] + 1) // 2].clone())


def stream_gradient(answer: Any, given: Inputs) -> Any:
    """The gradient of some weighting of the output, at the input and at each branch; zeros where
    none arrives.
    """
    leaf, branches = tensor(given["x"]).requires_grad_(), _branches(given)
    out = answer(list(branches))(leaf * 1.0)
    if out.requires_grad:
        (out * tensor(given["pull"])).sum().backward()
    arrived = [
        torch.zeros_like(one) if one.grad is None else one.grad
        for one in (leaf, *(branch.weight for branch in branches))
    ]
    return {"x": arrived[0], "branches": torch.stack(arrived[1:])}


def stream_parameters(answer: Any, given: Inputs) -> Any:
    """How many parameters the module knows of, and of which branches that it was given; which of
    those are still in the list, and which have kept their weights.
    """
    before = given["weights"].copy()
    branches = _branches(given)
    listed = list(branches)
    known = {id(one): one.numel() for one in answer(branches).parameters()}
    return {
        "count": sum(known.values()),
        "branches": [all(id(one) in known for one in branch.parameters()) for branch in listed],
        "kept": [
            torch.equal(branch.weight, tensor(weight))
            for branch, weight in zip(listed, before, strict=True)
        ],
        "given": [branch is one for branch, one in zip_longest(branches, listed)],
    }


def stream_of_a_branch_twice(answer: Any, given: Inputs) -> Any:
    """The output if the same branch is in the list twice."""
    branches = _branches(given)
    with torch.no_grad():
        return answer([branches[n] for n in given["order"]])(tensor(given["x"]))


PROBE = Probe(
    residual_inputs,
    {
        "stream": stream,
        "again": stream_again,
        "gradient": stream_gradient,
        "twice": stream_of_a_branch_twice,
        "parameters": stream_parameters,
        "reads": stream_reads,
    },
    second=_least,
)
