"""Answers that stand for something larger: whole numbers for weights, drafts for a model's text."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.peer_problems.problem import Answer, Problem

# Whole numbers: weights (N, M), the largest code → codes (N, M), scales (N, 1).

Quantized = tuple[Tensor, Tensor]


def _as_codes(numbers: Tensor, most: int) -> Tensor:
    return numbers.clamp(-most - 1, most).to(torch.int8)


def _largest(weight: Tensor) -> Tensor:
    return weight.abs().amax(dim=1, keepdim=True)


def _with_scales(weight: Tensor, scales: Tensor, most: int) -> Quantized:
    return _as_codes((weight / scales).round(), most), scales


def _row_by_row(weight: Tensor, most: int) -> Quantized:
    codes, scales = torch.empty(weight.shape, dtype=torch.int8), torch.empty(len(weight), 1)
    for n, row in enumerate(weight):
        scales[n] = max(row.max(), -row.min()) / most
        codes[n] = torch.round(row / scales[n])
    return codes, scales


def _turned_scale(weight: Tensor, most: int) -> Quantized:
    codes, scales = _with_scales(weight, _largest(weight) / most, most)
    return codes, 1 / scales


def _zeros_for_us(answer: Answer) -> Any:
    """Groups become rows, and those of zeros, of which only we ask, are no part of the answer."""

    def ours(weight: Tensor, bits: int, group: int) -> Quantized:
        rows = weight.reshape(-1, group)
        empty = (rows == 0).all(dim=1)
        codes, scales = torch.zeros(rows.shape, dtype=torch.int8), torch.ones(len(rows), 1)
        found, their_scales = answer(rows[~empty], 2 ** (bits - 1) - 1)
        codes[~empty], scales[~empty] = found, their_scales
        return codes.reshape(weight.shape), scales.reshape(len(weight), -1)

    return ours


def _layer_for_them(answer: Answer) -> Any:
    class Int8Linear(nn.Module):
        weight_int8: Tensor
        scale: Tensor

        def __init__(self, weight: Tensor, bias: Tensor | None = None):
            super().__init__()
            codes, scales = answer(weight, 127)
            self.register_buffer("weight_int8", codes)
            self.register_buffer("scale", scales)
            self.bias = bias

        def forward(self, x: Tensor) -> Tensor:
            return F.linear(x, self.weight_int8.float() * self.scale, self.bias)

    return Int8Linear


QUANTIZE = Problem(
    "12/quantize",
    "int8_quantization",
    _zeros_for_us,
    _layer_for_them,
    {
        "rounded": lambda w, most: _with_scales(w, _largest(w) / most, most),
        "row by row": _row_by_row,
    },
    {
        "one scale for all": lambda w, most: _with_scales(
            w, (w.abs().max() / most).expand(len(w), 1), most
        ),
        "cut off": lambda w, most: (_as_codes(w / (_largest(w) / most), most), _largest(w) / most),
        "rounded down": lambda w, most: (
            _as_codes((w / (_largest(w) / most)).floor(), most),
            _largest(w) / most,
        ),
        "largest, not absolute": lambda w, most: _with_scales(
            w, w.amax(dim=1, keepdim=True) / most, most
        ),
        "one code too many": lambda w, most: _with_scales(w, _largest(w) / (most + 1), most),
        "scale turned": _turned_scale,
        "range over all codes": lambda w, most: _with_scales(
            w, (w.amax(dim=1, keepdim=True) - w.amin(dim=1, keepdim=True)) / (2 * most + 1), most
        ),
        "mean for largest": lambda w, most: _with_scales(
            w, w.abs().mean(dim=1, keepdim=True) / most, most
        ),
        "not divided by the code": lambda w, most: _with_scales(w, _largest(w), most),
        "rounded before": lambda w, most: _with_scales(w.round(), _largest(w) / most, most),
    },
)


# A draft at one place of N texts: the model's distribution (N, V), the draft's (N, V), the symbols
# that were drawn from it (N,), generator or None → which are kept (N,), what stands in their place
# otherwise (N,).

Decided = tuple[Tensor, Tensor]


def _drawn(shares: Tensor, generator: torch.Generator | None) -> Tensor:
    """(N,): from each row; from rows that are empty, where nothing is needed, anything."""
    empty = (shares <= 0).all(dim=-1, keepdim=True)
    return torch.multinomial(torch.where(empty, 1.0, shares), 1, generator=generator)[:, 0]


def _of(shares: Tensor, symbols: Tensor) -> Tensor:
    return shares.gather(-1, symbols[:, None])[:, 0]


def _coins(symbols: Tensor, generator: torch.Generator | None) -> Tensor:
    return torch.rand(symbols.shape, generator=generator)


def _by_ratio(p: Tensor, q: Tensor, x: Tensor, g: torch.Generator | None) -> Tensor:
    return _coins(x, g) * _of(q, x) < _of(p, x)


def _decided(p: Tensor, q: Tensor, x: Tensor, g: torch.Generator | None) -> Decided:
    return _by_ratio(p, q, x, g), _drawn((p - q).clamp(min=0), g)


def _by_sums(p: Tensor, q: Tensor, x: Tensor, g: torch.Generator | None) -> Decided:
    kept = (_of(p, x) / _of(q, x)).clamp(max=1).bernoulli(generator=g).bool()
    sums = (p - q).relu().cumsum(dim=-1)  # (N, V)
    place = _coins(x, g)[:, None] * sums[:, -1:]
    return kept, (sums <= place).sum(dim=-1).clamp(max=p.shape[-1] - 1)


def _drafts_for_us(answer: Answer) -> Any:
    def ours(
        p: Tensor, q: Tensor, draft: Tensor, drafted: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        rows = torch.arange(len(p))
        symbol = _drawn(p[rows, drafted], generator)  # of rows that keep all of their drafts
        count, goes_on = torch.zeros_like(drafted), torch.ones_like(drafted, dtype=torch.bool)
        for i in range(draft.shape[1]):
            kept, other = answer(p[:, i], q[:, i], draft[:, i], generator)
            goes_on = goes_on & (i < drafted)
            symbol = torch.where(goes_on & ~kept, other, symbol)
            goes_on = goes_on & kept
            count = count + goes_on
        return count, symbol

    return ours


def _drafts_for_them(answer: Answer) -> Any:
    def theirs(target_probs: Tensor, draft_probs: Tensor, draft_tokens: Tensor) -> list[int]:
        accepted: list[int] = []
        for p, q, x in zip(target_probs, draft_probs, draft_tokens, strict=True):
            kept, other = answer(p[None], q[None], x[None], None)
            accepted.append(int(x if kept else other))
            if not kept:
                break
        return accepted

    return theirs


DRAFTS = Problem(
    "12/drafts",
    "speculative_decoding",
    _drafts_for_us,
    _drafts_for_them,
    {"by ratio": _decided, "by running sums": _by_sums},
    {
        "all kept": lambda p, q, x, g: (
            torch.ones_like(x, dtype=torch.bool),
            _drawn((p - q).clamp(min=0), g),
        ),
        "none kept": lambda p, q, x, g: (torch.zeros_like(x, dtype=torch.bool), _drawn(p, g)),  # noqa: ARG005
        "ratio turned": lambda p, q, x, g: (
            _by_ratio(q, p, x, g),
            _drawn((p - q).clamp(min=0), g),
        ),
        "kept with p": lambda p, q, x, g: (
            _coins(x, g) < _of(p, x),
            _drawn((p - q).clamp(min=0), g),
        ),
        "kept if likelier": lambda p, q, x, g: (
            _of(p, x) >= _of(q, x),
            _drawn((p - q).clamp(min=0), g),
        ),
        "kept if the likeliest": lambda p, q, x, g: (
            x == p.argmax(dim=-1),
            _drawn((p - q).clamp(min=0), g),
        ),
        "drawn from the model": lambda p, q, x, g: (_by_ratio(p, q, x, g), _drawn(p, g)),
        "drawn from the draft's": lambda p, q, x, g: (_by_ratio(p, q, x, g), _drawn(q, g)),
        "difference turned": lambda p, q, x, g: (
            _by_ratio(p, q, x, g),
            _drawn((q - p).clamp(min=0), g),
        ),
        "difference without sign": lambda p, q, x, g: (
            _by_ratio(p, q, x, g),
            _drawn((p - q).abs(), g),
        ),
        "the likeliest instead": lambda p, q, x, g: (
            _by_ratio(p, q, x, g),
            (p - q).argmax(dim=-1),
        ),
    },
)
