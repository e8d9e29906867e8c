"""Blocks that an inspector is given: some are sound, some are not.

Each is called as `block(weights, gains, x)`: weights (2, C, C) of the two branches, gains (2, C) of
the two norms, x (B, T, C) float64; it returns (B, T, C).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Suspect = Callable[[Tensor, Tensor, Tensor], Tensor]


def _norm(x: Tensor, gain: Tensor, over: tuple[int, ...] = (2,)) -> Tensor:
    centred = x - x.mean(dim=over, keepdim=True)
    return gain * centred / (centred.square().mean(dim=over, keepdim=True) + 1e-5).sqrt()


def _gather(x: Tensor, weight: Tensor, *, masked: bool = True) -> Tensor:
    """Attention without learned queries: (B, T, C) → (B, T, C)."""
    T = x.shape[1]
    scores = x @ weight @ x.transpose(1, 2) / x.shape[2]  # (B, T, T)
    if masked:
        future = torch.ones(T, T, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, -torch.inf)
    return scores.softmax(dim=-1) @ x


def _think(x: Tensor, weight: Tensor) -> Tensor:
    return (x @ weight).relu()


def _sound(weights: Tensor, gains: Tensor, x: Tensor) -> Tensor:
    x = x + _gather(_norm(x, gains[0]), weights[0])
    return x + _think(_norm(x, gains[1]), weights[1])


def _without_mask(weights: Tensor, gains: Tensor, x: Tensor) -> Tensor:
    x = x + _gather(_norm(x, gains[0]), weights[0], masked=False)
    return x + _think(_norm(x, gains[1]), weights[1])


def _norm_over_sequence(weights: Tensor, gains: Tensor, x: Tensor) -> Tensor:
    x = x + _gather(_norm(x, gains[0], (1,)), weights[0])
    return x + _think(_norm(x, gains[1], (1,)), weights[1])


def _norm_over_batch(weights: Tensor, gains: Tensor, x: Tensor) -> Tensor:
    x = x + _gather(_norm(x, gains[0]), weights[0])
    return x + _think(_norm(x, gains[1], (0, 1)), weights[1])


def _batch_for_time(weights: Tensor, gains: Tensor, x: Tensor) -> Tensor:
    # (B, T, C) → (T, B, C) and back: each sample looks at the samples before it.
    heard = _gather(_norm(x, gains[0]).transpose(0, 1), weights[0]).transpose(0, 1)
    x = x + heard
    return x + _think(_norm(x, gains[1]), weights[1])


def _without_residual(weights: Tensor, gains: Tensor, x: Tensor) -> Tensor:
    return _think(_norm(_gather(_norm(x, gains[0]), weights[0]), gains[1]), weights[1])


def _residual_twice(weights: Tensor, gains: Tensor, x: Tensor) -> Tensor:
    x = x + _gather(_norm(x, gains[0]), weights[0])
    return x + x + _think(_norm(x, gains[1]), weights[1])


def _post_norm(weights: Tensor, gains: Tensor, x: Tensor) -> Tensor:
    x = _norm(x + _gather(x, weights[0]), gains[0])
    return _norm(x + _think(x, weights[1]), gains[1])


SUSPECTS: dict[str, Suspect] = {
    "sound": _sound,
    "no mask": _without_mask,
    "norm over the sequence": _norm_over_sequence,
    "norm over the batch": _norm_over_batch,
    "batch for time": _batch_for_time,
    "no residual": _without_residual,
    "residual twice": _residual_twice,
    "post-norm": _post_norm,
}
"""Name to block. The order in which they are shown is drawn anew each time."""
