"""Answers that work on rows of numbers: softmax, the cross-entropy, layer norm."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.peer_problems.problem import Answer, Problem

# Softmax of rows: (…, T) → (…, T).


def _softmax_for_us(answer: Answer) -> Any:
    def ours(scores: Tensor) -> Tensor:
        empty = (scores == -torch.inf).all(dim=-1, keepdim=True)
        return torch.where(empty, 0.0, answer(torch.where(empty, 0.0, scores)))

    return ours


def _over(x: Tensor, dim: int = -1) -> Tensor:
    e = (x - x.amax(dim=-1, keepdim=True)).exp()
    return e / e.sum(dim=dim, keepdim=True)


SOFTMAX = Problem(
    "02/safe-softmax",
    "softmax",
    _softmax_for_us,
    lambda answer: lambda x, dim=-1: answer(x),  # noqa: ARG005
    {
        "maximum subtracted": _over,
        "by logsumexp": lambda x: (x - x.logsumexp(dim=-1, keepdim=True)).exp(),
        "torch's own": lambda x: x.softmax(dim=-1),
    },
    {
        "overflows": lambda x: x.exp() / x.exp().sum(dim=-1, keepdim=True),
        "one maximum for all": lambda x: (
            (x - x.max()).exp() / (x - x.max()).exp().sum(dim=-1, keepdim=True)
        ),
        "clamped": lambda x: x.clamp(max=50).exp() / x.clamp(max=50).exp().sum(-1, keepdim=True),
        "mean subtracted": lambda x: (
            (x - x.mean()).exp() / (x - x.mean()).exp().sum(-1, keepdim=True)
        ),
        "over columns": lambda x: _over(x, 0),
        "not divided": lambda x: (x - x.amax(dim=-1, keepdim=True)).exp(),
        "base 2": lambda x: torch.softmax(x * math.log(2), dim=-1),
    },
)


# Mean cross-entropy: (N, V), (N,) → ().


def _loss_for_us(answer: Answer) -> Any:
    def ours(logits: Tensor, targets: Tensor) -> Tensor:
        counts = targets.flatten() >= 0
        flat: Tensor = logits.flatten(0, -2)[counts]
        found: Tensor = answer(flat, targets.flatten()[counts])
        return found

    return ours


def _nats(logits: Tensor, targets: Tensor) -> Tensor:
    return logits.logsumexp(dim=-1) - logits.gather(-1, targets[:, None])[:, 0]


CROSS_ENTROPY = Problem(
    "04/cross-entropy",
    "cross_entropy",
    _loss_for_us,
    lambda answer: answer,
    {
        "logsumexp": lambda z, y: _nats(z, y).mean(),
        "log_softmax": lambda z, y: -z.log_softmax(-1)[torch.arange(len(y)), y].mean(),
        "torch's own": F.cross_entropy,
    },
    {
        "overflows": lambda z, y: (z.exp().sum(-1).log() - z.gather(-1, y[:, None])[:, 0]).mean(),
        "sum for mean": lambda z, y: _nats(z, y).sum(),
        "sign": lambda z, y: -_nats(z, y).mean(),
        "softmax before": lambda z, y: _nats(z.softmax(-1), y).mean(),
        "base 2": lambda z, y: _nats(z, y).mean() / math.log(2),
        "clamped probabilities": lambda z, y: (
            -(z.softmax(-1).gather(-1, y[:, None]).clamp(min=1e-3).log().mean())
        ),
        "not averaged": _nats,
        "negative for logits": lambda z, y: _nats(-z, y).mean(),
    },
)


# Layer norm: (…, C), (C,), (C,), eps → (…, C).


def _normed(
    x: Tensor, gain: Tensor, shift: Tensor, eps: float, dim: int = -1, correction: int = 0
) -> Tensor:
    variance = x.var(dim=dim, keepdim=True, correction=correction)
    return (x - x.mean(dim=dim, keepdim=True)) / (variance + eps).sqrt() * gain + shift


def _norm_for_us(answer: Answer) -> Any:
    def ours(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
        if groups == 1:
            whole: Tensor = answer(x, gain, shift, eps)
            return whole
        parts = x.unflatten(-1, (groups, -1))  # (B, T, G, C / G)
        one, zero = torch.ones_like(gain), torch.zeros_like(gain)
        size = parts.shape[-1]
        return answer(parts, one[:size], zero[:size], eps).flatten(-2) * gain + shift

    return ours


LAYER_NORM = Problem(
    "07/layer-norm",
    "layernorm",
    _norm_for_us,
    lambda answer: lambda x, gamma, beta, eps=1e-5: answer(x, gamma, beta, eps),
    {
        "by hand": _normed,
        "torch's own": lambda x, g, s, eps: F.layer_norm(x, x.shape[-1:], g, s, eps),
    },
    {
        "unbiased variance": lambda x, g, s, eps: _normed(x, g, s, eps, correction=1),
        "eps outside": lambda x, g, s, eps: (
            (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, correction=0) + eps) * g + s
        ),
        "no eps": lambda x, g, s, eps: _normed(x, g, s, 0.0 * eps),
        "variance for root": lambda x, g, s, eps: (
            (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + eps) * g + s
        ),
        "over positions": lambda x, g, s, eps: _normed(x, g, s, eps, dim=-2),
        "no shift": lambda x, g, s, eps: _normed(x, g, 0 * s, eps),
        "no mean": lambda x, g, s, eps: (
            x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * g + s
        ),
        "shift scaled": lambda x, g, s, eps: _normed(x, torch.ones_like(g), s, eps) * g,
    },
)
