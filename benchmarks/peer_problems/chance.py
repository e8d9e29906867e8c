"""Answers that draw, or say from what is drawn: dropout, top-k, top-p."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.peer_problems.problem import Answer, Problem

# What is left of a row of logits: (V,), k → (V,) probabilities; the same with p.


def _top_k_for_us(answer: Answer) -> Any:
    return lambda logits, k: torch.stack(
        [answer(row, int(n)) for row, n in zip(logits, k.tolist(), strict=True)]
    )


def _sampled(logits: Tensor, temperature: float, shares: Callable[[Tensor], Tensor]) -> int:
    return int(torch.multinomial(shares(logits / temperature), 1))


def _top_k_for_them(answer: Answer) -> Any:
    def theirs(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> int:  # noqa: ARG001
        return _sampled(logits, temperature, lambda z: answer(z, top_k or len(z)))

    return theirs


def _left(logits: Tensor, keep: Tensor) -> Tensor:
    return logits.masked_fill(~keep, -torch.inf).softmax(dim=-1)


def _last(logits: Tensor, k: int) -> Tensor:
    return logits.sort(descending=True).values[min(k, len(logits)) - 1]


TOP_K = Problem(
    "08/top-k",
    "topk_sampling",
    _top_k_for_us,
    _top_k_for_them,
    {
        "threshold": lambda z, k: _left(z, z >= _last(z, k)),
        "counted": lambda z, k: _left(z, (z[None, :] > z[:, None]).sum(dim=1) < k),
    },
    {
        "one too many": lambda z, k: _left(z, z >= _last(z, k + 1)),
        "least likely": lambda z, k: _left(z, z <= z.sort().values[min(k, len(z)) - 1]),
        "first columns": lambda z, k: _left(z, torch.arange(len(z)) < k),
        "all alike": lambda z, k: (z >= _last(z, k)).float() / (z >= _last(z, k)).sum(),
        "nothing cut": lambda z, k: z.softmax(-1),  # noqa: ARG005
        "left sorted": lambda z, k: _left(z, z >= _last(z, k)).sort(descending=True).values,
    },
)


def _top_p_for_us(answer: Answer) -> Any:
    def ours(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
        rows = []
        for row in logits / temperature:
            shares = answer(row, p)
            likeliest = row.sort(descending=True, stable=True).indices[: max(least, 1)]
            kept = torch.zeros_like(row, dtype=torch.bool).index_fill(0, likeliest, True)
            rows.append(shares if bool((shares[kept] > 0).all()) else _left(row, kept))
        return torch.stack(rows)

    return ours


def _top_p_for_them(answer: Answer) -> Any:
    def theirs(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> int:
        def shares(z: Tensor) -> Tensor:
            found: Tensor = answer(_left(z, z >= _last(z, top_k or len(z))).log(), top_p)
            return found

        return _sampled(logits, temperature, shares)

    return theirs


def _nucleus(z: Tensor, p: float, before: bool = True, upwards: bool = False) -> Tensor:
    ranked, order = z.softmax(-1).sort(descending=not upwards, stable=True)
    held = ranked.cumsum(-1) - (ranked if before else 0)
    kept = torch.zeros_like(z, dtype=torch.bool).scatter(0, order, held < p)
    kept[z.argmax()] = True
    return _left(z, kept)


TOP_P = Problem(
    "08/top-p",
    "topk_sampling",
    _top_p_for_us,
    _top_p_for_them,
    {"what is held before": _nucleus},
    {
        "crossing one dropped": lambda z, p: _nucleus(z, p, before=False),
        "summed upwards": lambda z, p: _nucleus(z, p, upwards=True),
        "single probabilities": lambda z, p: _left(
            z, z.softmax(-1) >= min(1 - p, z.softmax(-1).max())
        ),
        "nothing cut": lambda z, p: z.softmax(-1),  # noqa: ARG005
        "the likeliest only": lambda z, p: _left(z, z >= z.max()),  # noqa: ARG005
    },
)


# Dropout: anything, p, whether in training, generator or None → the same shape.


def _dropped(
    x: Tensor, p: float, training: bool, generator: torch.Generator | None, factor: float = -1.0
) -> Tensor:
    if not training:
        return x
    if p == 1:
        return torch.zeros_like(x)
    kept = torch.rand(x.shape, generator=generator) >= p
    return x * kept * (1 / (1 - p) if factor < 0 else factor)


def _dropout_for_us(answer: Answer) -> Any:
    def ours(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:
        coins = torch.ones(*found.shape[:2], 1, 1)  # one for each sample and head
        dropped: Tensor = found * answer(coins, p, training, generator)
        return dropped

    return ours


def _dropout_for_them(answer: Answer) -> Any:
    class MyDropout(nn.Module):
        def __init__(self, p: float = 0.5):
            super().__init__()
            self.p = p

        def forward(self, x: Tensor) -> Tensor:
            dropped: Tensor = answer(x, self.p, self.training, None)
            return dropped

    return MyDropout


DROPOUT = Problem(
    "06/dropout",
    "dropout",
    _dropout_for_us,
    _dropout_for_them,
    {
        "compared with p": _dropped,
        "bernoulli": lambda x, p, t, g: (
            x * torch.full(x.shape, 1 - p).bernoulli(generator=g) / max(1 - p, 1e-9) if t else x
        ),
    },
    {
        "not scaled": lambda x, p, t, g: _dropped(x, p, t, g, factor=1.0),
        "in evaluation": lambda x, p, t, g: _dropped(x, p, True, g),  # noqa: ARG005
        "keeps with p": lambda x, p, t, g: _dropped(x, 1 - p, t, g, factor=1 / max(1 - p, 1e-9)),
        "divided by p": lambda x, p, t, g: _dropped(x, p, t, g, factor=1 / max(p, 1e-9)),
        "one coin a row": lambda x, p, t, g: (
            x * _dropped(torch.ones(*x.shape[:1], *[1] * (x.dim() - 1)), p, t, g)
        ),
        "0 divided by 0": lambda x, p, t, g: (
            x * (torch.rand(x.shape, generator=g) >= p) / torch.tensor(1 - p) if t else x
        ),
        "normal for uniform": lambda x, p, t, g: (
            x * (torch.randn(x.shape, generator=g) >= p) / max(1 - p, 1e-9) if t else x
        ),
    },
)
