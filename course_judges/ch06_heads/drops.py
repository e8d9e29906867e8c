"""Answers that drop heads: the right one, and ways to get it wrong."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def drop_heads(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:
    """Whole heads of (B, H, T, D) set to 0 with probability p, the rest divided by 1 − p."""
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    kept = torch.rand(B, H, 1, 1, generator=generator) >= p  # (B, H, 1, 1)
    return found * kept / (1 - p)


Drop = Callable[[Tensor, float, bool, torch.Generator], Tensor]
_Sizes = Callable[[Tensor], tuple[int, ...]]


def drops(
    sizes: _Sizes = lambda found: (*found.shape[:2], 1, 1),
    factor: Callable[[float], float] = lambda p: 1 / (1 - p) if p < 1 else 0.0,
    keeps: Callable[[float], float] = lambda p: 1 - p,
    in_evaluation: Callable[[float], float] = lambda p: 1.0,  # noqa: ARG005
) -> Drop:
    """An answer that differs from the right one in one place."""

    def answer(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:
        if not training:
            return found * in_evaluation(p)
        kept = torch.rand(sizes(found), generator=generator) < keeps(p)
        return found * kept * factor(p)

    return answer


def always(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    """Drops in evaluation, too."""
    return drop_heads(found, p, True, generator)


def by_count(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:
    """Scaled by how many heads happened to be kept."""
    if not training:
        return found
    B, H = found.shape[:2]
    kept = (torch.rand(B, H, 1, 1, generator=generator) >= p).float()
    return found * kept * H / kept.sum(dim=1, keepdim=True).clamp(min=1)


def by_share(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:
    """Scaled by the share of all heads that happened to be kept."""
    if not training:
        return found
    kept = (torch.rand(*found.shape[:2], 1, 1, generator=generator) >= p).float()
    return found * kept / kept.mean()


def own_chance(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    """With randomness from elsewhere."""
    return drop_heads(found, p, training, torch.default_generator)


def reseeded(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    """With the same seed in every call."""
    return drop_heads(found, p, training, torch.Generator().manual_seed(1))


def restarted(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:
    """With the seed of the generator, as if nothing had been drawn."""
    copy = torch.Generator().manual_seed(generator.initial_seed())
    return drop_heads(found, p, training, copy)


def zero_over_zero(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:
    """Doesn't treat p = 1 separately."""
    if not training:
        return found
    kept = torch.rand(*found.shape[:2], 1, 1, generator=generator) >= p
    return found * kept / torch.tensor(1 - p)


def exact_share(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:
    """As many heads of the batch as p says, no more and no fewer."""
    if not training or p == 0 or p == 1:
        return drop_heads(found, p, training, generator)
    B, H = found.shape[:2]
    kept = torch.randperm(B * H, generator=generator).view(B, H, 1, 1) >= round(p * B * H)
    return found * kept / (1 - p)


def nothing(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    """Without dropping anything."""
    return found
