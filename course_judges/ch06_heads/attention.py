"""One causal head on plain matrices, with a switch for each way to get it wrong."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def by_head_size(query: Tensor) -> float:
    """√D, for queries (…, T, D)."""
    return math.sqrt(query.shape[-1])


def past(T: int) -> Tensor:
    """(T, T) True where position t may look: at s ≤ t."""
    return torch.ones(T, T, dtype=torch.bool).tril()


def looks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    visible: Tensor,
    *,
    scale: float,
    fill: float = -math.inf,
    dim: int = -1,
) -> Tensor:
    """What heads find: (…, T, D) each and visible (…, T, T) → (…, T, D)."""
    scores = query @ key.transpose(-2, -1) / scale  # (…, T, T)
    return scores.masked_fill(~visible, fill).softmax(dim=dim) @ value
