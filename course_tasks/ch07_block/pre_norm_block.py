"""What 07/pre-norm-block asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course_tasks.ch07_block.shared import Branch, Recorder, drawn, sizes
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe

NORMS = ("attention_norm", "cross_norm", "feed_forward_norm")
"""The names that the scaffold of the block fixes."""


class Gathering(nn.Module):
    """A substitute for self-attention: the running mean of the past, and a layer."""

    weight: Tensor

    def __init__(self, weight: Tensor, recorder: Recorder | None = None):
        super().__init__()
        self.register_buffer("weight", weight)
        self._recorder = recorder

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        if self._recorder is not None:
            self._recorder.note(0, x)
        count = torch.arange(1, x.shape[1] + 1, dtype=x.dtype)[:, None]  # (T, 1)
        return torch.tanh((x.cumsum(dim=1) / count) @ self.weight.T)


class Listening(nn.Module):
    """A substitute for cross-attention: x asks, memory (B, S, C) answers."""

    weight: Tensor

    def __init__(self, weight: Tensor, recorder: Recorder | None = None):
        super().__init__()
        self.register_buffer("weight", weight)
        self._recorder = recorder

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        """(B, T, C) and (B, S, C) → (B, T, C)."""
        if self._recorder is not None:
            self._recorder.note(1, x, memory)
        scores = x @ self.weight.T @ memory.transpose(1, 2)  # (B, T, S)
        return scores.softmax(dim=-1) @ memory


def block_inputs(rng: Rng) -> Inputs:
    """A stream, a memory, the branches and the weights of three norms."""
    B, T, C = sizes(rng)
    return _parts(rng, B, T, C, other=C + 2)


def _least(rng: Rng) -> Inputs:
    """One sample, and a memory with a single position instead of a long one."""
    return _parts(rng, 1, 5, int(rng.integers(7, 10)), other=1)


def _parts(rng: Rng, B: int, T: int, C: int, *, other: int) -> Inputs:
    S = 4  # between B and T, so that no two sizes are equal
    given = {
        "x": rng.normal(size=(B, T, C)).astype(np.float32) * 2 + 0.5,
        "memory": rng.normal(size=(B, S, C)).astype(np.float32) * 2 + 0.5,
        "other_memory": rng.normal(size=(B, other, C)).astype(np.float32) * 2 + 0.5,
        "gather": drawn(rng, C, C) * 2,
        "listen": drawn(rng, C, C),
        "think": drawn(rng, C, C),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "S": whole(S),
    }
    for name in NORMS:
        given[f"{name}.weight"] = rng.uniform(0.4, 2.0, C).astype(np.float32)
        given[f"{name}.bias"] = rng.normal(size=C).astype(np.float32)
    return given


def _block(answer: Any, given: Inputs, recorder: Recorder | None = None) -> Any:
    return answer(
        int(given["C"]),
        Gathering(tensor(given["gather"]), recorder),
        Listening(tensor(given["listen"]), recorder),
        Branch(tensor(given["think"]), recorder, 2),
    )


def _norm_parameters(block: Any) -> dict[str, nn.Parameter]:
    """The norms' parameters by the scaffold's names; one norm may have several names."""
    have = dict(block.named_parameters(remove_duplicate=False))
    wanted = [f"{name}.{kind}" for name in NORMS for kind in ("weight", "bias")]
    missing = [name for name in wanted if name not in have]
    if missing:
        raise AttributeError(
            f"the block has no parameter named {missing[0]!r}; its parameters: "
            + (", ".join(have) or "none at all")
        )
    return {name: have[name] for name in wanted}


def block_plain(answer: Any, given: Inputs) -> Any:
    """The output of a fresh block."""
    with torch.no_grad():
        return _block(answer, given)(tensor(given["x"]), tensor(given["memory"]))


def block_other(answer: Any, given: Inputs) -> Any:
    """The output of a fresh block with a memory of another length; what it then makes of the first
    position alone and the usual memory; and whether a gradient finds its way back to the memory.
    """
    x, memory = tensor(given["x"]), tensor(given["other_memory"])
    begin, other = x[:, :1].clone(), tensor(given["memory"])
    block = _block(answer, given)
    for parameter in block.parameters():
        parameter.requires_grad_(False)
    whole = block(x, memory.clone().requires_grad_())
    return {"whole": whole, "first": block(begin, other), "learns": whole.requires_grad}


def block_reads(answer: Any, given: Inputs) -> Any:
    """What the branches of a fresh block read, and what cross-attention is given as the memory."""
    recorder = Recorder(*given["x"].shape)
    with torch.no_grad():
        _block(answer, given, recorder)(tensor(given["x"]), tensor(given["memory"]))
    return recorder.told()


def block_weighted_reads(answer: Any, given: Inputs) -> Any:
    """What the branches read if the norms have learned."""
    recorder = Recorder(*given["x"].shape)
    _weighted(answer, given, recorder=recorder)
    return recorder.told()


def _weighted(
    answer: Any, given: Inputs, silenced: str = "", recorder: Recorder | None = None
) -> Any:
    block = _block(answer, given, recorder)
    with torch.no_grad():
        for name, parameter in _norm_parameters(block).items():
            parameter.copy_(tensor(given[name]))
        if silenced:
            _norm_parameters(block)[f"{silenced}.weight"].zero_()
        return block(tensor(given["x"].copy()), tensor(given["memory"].copy()))


def block_weighted(answer: Any, given: Inputs) -> Any:
    """The output of a block whose norms have learned."""
    return _weighted(answer, given)


def block_norms(answer: Any, given: Inputs) -> Any:
    """Which gains do something, and how many norms there are."""
    usual = _weighted(answer, given)
    felt = [bool((_weighted(answer, given, name) - usual).abs().max() > 1e-4) for name in NORMS]
    distinct = len({id(p) for p in _norm_parameters(_block(answer, given)).values()}) // 2
    return {"felt": felt, "distinct": distinct}


PROBE = Probe(
    block_inputs,
    {
        "plain": block_plain,
        "other": block_other,
        "weighted": block_weighted,
        "norms": block_norms,
        "reads": block_reads,
        "weighted_reads": block_weighted_reads,
    },
    second=_least,
)
