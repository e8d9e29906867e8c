"""Answers that turn neighbors: rotary positions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from benchmarks.peer_problems.problem import Answer, Problem

# Rotary positions: (…, T, R), positions (…, T), base → (…, T, R).


def _angles(positions: Tensor, R: int, base: float, power: float = -2.0) -> Tensor:
    return positions[..., None] * base ** (power * torch.arange(R // 2) / R)  # (…, T, R / 2)


def _pairs(a: Tensor, b: Tensor) -> Tensor:
    return torch.stack([a, b], dim=-1).flatten(-2)


def _turned(x: Tensor, angles: Tensor) -> Tensor:
    a, b = x[..., 0::2], x[..., 1::2]
    return _pairs(a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos())


def _neighbors(x: Tensor, positions: Tensor, base: float, power: float = -2.0) -> Tensor:
    return _turned(x, _angles(positions, x.shape[-1], base, power))


def _complex(x: Tensor, positions: Tensor, base: float) -> Tensor:
    angles = _angles(positions, x.shape[-1], base)
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * torch.polar(
        torch.ones_like(angles), angles
    )
    return torch.view_as_real(turned).flatten(-2)


def _doubled(x: Tensor, positions: Tensor, base: float) -> Tensor:
    angles = _angles(positions, x.shape[-1], base).repeat_interleave(2, dim=-1)
    return x * angles.cos() + _pairs(-x[..., 1::2], x[..., 0::2]) * angles.sin()


def _halves(x: Tensor, positions: Tensor, base: float) -> Tensor:
    angles = _angles(positions, x.shape[-1], base)
    a, b = x.chunk(2, dim=-1)
    return torch.cat(
        [a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=-1
    )


def _overwritten(x: Tensor, positions: Tensor, base: float) -> Tensor:
    angles = _angles(positions, x.shape[-1], base)
    a, b = x[..., 0::2], x[..., 1::2]
    a = a * angles.cos() - b * angles.sin()
    return _pairs(a, a * angles.sin() + b * angles.cos())


def _both_plus(x: Tensor, positions: Tensor, base: float) -> Tensor:
    angles = _angles(positions, x.shape[-1], base)
    a, b = x[..., 0::2], x[..., 1::2]
    return _pairs(a * angles.cos() + b * angles.sin(), a * angles.sin() + b * angles.cos())


def _side_by_side(x: Tensor, positions: Tensor, base: float) -> Tensor:
    turned = _neighbors(x, positions, base)
    return torch.cat([turned[..., 0::2], turned[..., 1::2]], dim=-1)


def _added(x: Tensor, positions: Tensor, base: float) -> Tensor:
    angles = _angles(positions, x.shape[-1], base)
    return x + _pairs(angles.sin(), angles.cos())


def _rotary_for_us(answer: Answer) -> Any:
    def ours(x: Tensor, positions: Tensor, rotated: int, base: float) -> Tensor:
        turned = answer(x[..., :rotated], positions[:, None], base)
        return torch.cat([turned, x[..., rotated:]], dim=-1)

    return ours


def _rotary_for_them(answer: Answer) -> Any:
    def theirs(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        turned = (answer(x, torch.arange(x.shape[1]), 10_000.0) for x in (q, k))
        return next(turned), next(turned)

    return theirs


ROTARY = Problem(
    "12/rotary",
    "rope",
    _rotary_for_us,
    _rotary_for_them,
    {"every second": _neighbors, "complex numbers": _complex, "angles doubled": _doubled},
    {
        "halves for neighbors": _halves,
        "turned back": lambda x, t, base: _neighbors(x, -t, base),
        "both signs plus": _both_plus,
        "overwritten": _overwritten,
        "side by side": _side_by_side,
        "exponent not doubled": lambda x, t, base: _neighbors(x, t, base, power=-1.0),
        "exponent's sign": lambda x, t, base: _neighbors(x, t, base, power=2.0),
        "one angle for all": lambda x, t, base: _neighbors(x, t, base, power=0.0),
        "added": _added,
    },
)
