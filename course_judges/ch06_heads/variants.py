"""The fused layer, right and with one step changed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from course_judges.ch06_heads.attention import looks


def fused_attention(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
    """(B, T, C) → (B, T, C); position t of head h sees the last reach[h] positions."""
    B, T, C = x.shape
    H = len(reach)
    # (B, T, 3C) → (B, T, 3, H, D) → (3, B, H, T, D)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    back = torch.arange(T)[:, None] - torch.arange(T)  # (T, T): how far back s is from t
    visible = (back >= 0) & (back < torch.tensor(reach)[:, None, None])  # (H, T, T)
    found = looks(query, key, value, visible, scale=math.sqrt(C // H))
    return found.transpose(1, 2).flatten(2) @ projection.T  # (B, H, T, D) → (B, T, C)


def stack(x: Tensor, B: int, T: int, H: int) -> Tensor:
    """(B, T, 3C), queries, keys, values → (3, B, H, T, D)."""
    return x.view(B, T, 3, H, -1).permute(2, 0, 3, 1, 4)


def by_view(x: Tensor, B: int, T: int, H: int) -> Tensor:
    """The same, but heads are moved before time by view alone."""
    return torch.stack([part.reshape(B, H, T, -1) for part in x.chunk(3, dim=-1)])


def head_by_head(x: Tensor, B: int, T: int, H: int) -> Tensor:
    """The same, but cut as if each head's query, key and value were side by side."""
    return x.view(B, T, H, 3, -1).permute(3, 0, 2, 1, 4)


def windows(T: int, reach: list[int], more: int = 0) -> Tensor:
    """(H, T, T) True where a position of a head may look."""
    t, s = torch.arange(T)[:, None], torch.arange(T)
    return torch.stack([(s <= t) & (t - s < width + more) for width in reach])


def sideways(T: int, reach: list[int]) -> Tensor:
    """(H, T, T) True in the window, and in the future as well."""
    t, s = torch.arange(T)[:, None], torch.arange(T)
    return torch.stack([t - s < width for width in reach])


@dataclass(frozen=True)
class Variant:
    """An answer that differs from the right one in one place."""

    split: Callable[[Tensor, int, int, int], Tensor] = stack
    order: tuple[int, int, int] = (0, 1, 2)
    visible: Callable[[int, list[int]], Tensor] = windows
    scale: Callable[[int, int], float] = lambda C, D: math.sqrt(D)  # noqa: ARG005
    fill: float = -math.inf
    dim: int = -1
    transposes: bool = True
    merge: Callable[[Tensor], Tensor] = lambda found: found.transpose(1, 2).flatten(2)
    mix: Callable[[Tensor, Tensor], Tensor] = lambda found, projection: found @ projection.T

    def __call__(self, x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        B, T, C = x.shape
        H = len(reach)
        if not self.transposes:
            qkv = qkv.view(3, C, C).mT.reshape(3 * C, C)
        parts = self.split(x @ qkv.T, B, T, H)  # (3, B, H, T, D)
        query, key, value = (parts[n] for n in self.order)
        found = looks(
            query,
            key,
            value,
            self.visible(T, reach),
            scale=self.scale(C, C // H),
            fill=self.fill,
            dim=self.dim,
        )
        return self.mix(self.merge(found), projection)


def flat(found: Tensor) -> Tensor:
    """(B, H, T, D) → (B, T, C) by view alone."""
    return found.reshape(found.shape[0], found.shape[2], -1)


def across_heads(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
    """Heads that look at each other, position by position."""
    B, T, _ = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, -1).permute(2, 0, 1, 3, 4)
    everyone = torch.ones(H, H, dtype=torch.bool)
    found = looks(query, key, value, everyone, scale=math.sqrt(query.shape[-1]))  # (B, T, H, D)
    return found.flatten(2) @ projection.T
