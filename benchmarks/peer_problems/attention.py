"""Answers that attend: one head, one head that sees the past, several heads at once."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.peer_problems.problem import Answer, Problem

# Attention: (B, T, D), (B, S, D), (B, S, E) → (B, T, E).


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float | None = None,
    dim: int = -1,
    seen: Tensor | None = None,
    fill: float = -torch.inf,
) -> Tensor:
    """Attend with one head, or slip as the keywords say; `seen` is where a query may look."""
    scores = q @ k.transpose(-2, -1) / (q.shape[-1] ** 0.5 if scale is None else scale)
    if seen is not None:
        scores = scores.masked_fill(~seen, fill)
    found: Tensor = scores.softmax(dim=dim) @ v
    return found


def _cross_for_us(answer: Answer) -> Any:
    def ours(x: Tensor, memory: Tensor, *rest: Tensor) -> Tensor:
        w_query, w_key, w_value, lengths = rest
        query, key, value = x @ w_query, memory @ w_key, memory @ w_value
        if bool((lengths == memory.shape[1]).all()):
            whole: Tensor = answer(query, key, value)
            return whole
        return torch.cat(
            [
                answer(query[b : b + 1], key[b : b + 1, :n], value[b : b + 1, :n])
                for b, n in enumerate(lengths.tolist())
            ]
        )

    return ours


ATTENTION = Problem(
    "05/cross",
    "attention",
    _cross_for_us,
    lambda answer: answer,
    {
        "matrices": attend,
        "einsum": lambda q, k, v: torch.einsum(
            "bts,bse->bte",
            (torch.einsum("btd,bsd->bts", q, k) / math.sqrt(q.shape[-1])).softmax(-1),
            v,
        ),
        "torch's own": F.scaled_dot_product_attention,
    },
    {
        "no scale": lambda q, k, v: attend(q, k, v, scale=1.0),
        "scale without root": lambda q, k, v: attend(q, k, v, scale=q.shape[-1]),
        "scale by values": lambda q, k, v: attend(q, k, v, scale=v.shape[-1] ** 0.5),
        "over queries": lambda q, k, v: attend(q, k, v, dim=-2),
        "scaled after": lambda q, k, v: attend(q, k, v, scale=1.0) / q.shape[-1] ** 0.5,
        "sigmoid": lambda q, k, v: (q @ k.mT / q.shape[-1] ** 0.5).sigmoid() @ v,
        "one key hidden": lambda q, k, v: attend(q, k[:, 1:], v[:, 1:]),
        "first sample for all": lambda q, k, v: attend(q[:1], k[:1], v).expand(len(q), -1, -1),
    },
)


def past(T: int, diagonal: int = 0) -> Tensor:
    """(T, T): True where a position may look."""
    return torch.ones(T, T, dtype=torch.bool).tril(diagonal)


def _concat_for_us(answer: Answer) -> Any:
    return lambda x, heads: torch.cat([answer(x @ q, x @ k, x @ v) for q, k, v in heads], dim=-1)


CAUSAL = Problem(
    "06/concat",
    "causal_attention",
    _concat_for_us,
    lambda answer: answer,
    {
        "masked": lambda q, k, v: attend(q, k, v, seen=past(q.shape[1])),
        "torch's own": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "a large fill": lambda q, k, v: attend(q, k, v, seen=past(q.shape[1]), fill=-1e9),
    },
    {
        "no mask": attend,
        "fill of 0": lambda q, k, v: attend(q, k, v, seen=past(q.shape[1]), fill=0.0),
        "no scale": lambda q, k, v: attend(q, k, v, scale=1.0, seen=past(q.shape[1])),
        "scale without root": lambda q, k, v: attend(
            q, k, v, scale=q.shape[-1], seen=past(q.shape[1])
        ),
        "over queries": lambda q, k, v: attend(q, k, v, dim=-2, seen=past(q.shape[1])),
        "one ahead": lambda q, k, v: attend(q, k, v, seen=past(q.shape[1], 1)),
        "first key only": lambda q, k, v: v[:, :1].expand_as(v) + 0 * (q.sum() + k.sum()),
        "values alone": lambda q, k, v: v + 0 * (q.sum() + k.sum()),
        "plain mean": lambda q, k, v: (
            v.cumsum(1) / torch.arange(1, v.shape[1] + 1)[:, None] + 0 * (q.sum() + k.sum())
        ),
    },
)


# Heads together: (B, T, C), (B, S, C), (B, S, C), H, what is seen or None → (B, T, C).


def heads(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    H: int,
    seen: Tensor | None,
    *,
    scale: float | None = None,
    dim: int = -1,
    split: bool = True,
    merge: bool = True,
) -> Tensor:
    """Attend with several heads, or slip as the keywords say."""
    B, T, C = q.shape

    def cut(x: Tensor) -> Tensor:
        if split:
            return x.unflatten(-1, (H, -1)).transpose(1, 2)
        return x.reshape(B, H, x.shape[1], -1)

    found = attend(cut(q), cut(k), cut(v), scale=scale, dim=dim, seen=seen)
    return found.transpose(1, 2).reshape(B, T, C) if merge else found.reshape(B, T, C)


def _fused_for_us(answer: Answer) -> Any:
    def ours(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
        T = x.shape[1]
        back = torch.arange(T)[:, None] - torch.arange(T)
        seen = (back >= 0) & (back < torch.tensor(reach)[:, None, None])
        found: Tensor = answer(*(x @ qkv.T).chunk(3, dim=-1), len(reach), seen)
        return found @ projection.T

    return ours


def _module_for_them(answer: Answer) -> Any:
    class MultiHeadAttention(nn.Module):
        def __init__(self, d_model: int, num_heads: int):
            super().__init__()
            self.num_heads = num_heads
            self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

        def forward(self, Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
            found = answer(self.W_q(Q), self.W_k(K), self.W_v(V), self.num_heads, None)
            mixed: Tensor = self.W_o(found)
            return mixed

    return MultiHeadAttention


MULTI_HEAD = Problem(
    "06/fused",
    "mha",
    _fused_for_us,
    _module_for_them,
    {
        "transposed": heads,
        "a loop": lambda q, k, v, H, seen: torch.cat(
            [
                attend(a, b, c, seen=None if seen is None else seen[h])
                for h, (a, b, c) in enumerate(
                    zip(*(x.chunk(H, dim=-1) for x in (q, k, v)), strict=True)
                )
            ],
            dim=-1,
        ),
    },
    {
        "cut by view": lambda q, k, v, H, seen: heads(q, k, v, H, seen, split=False),
        "merged by view": lambda q, k, v, H, seen: heads(q, k, v, H, seen, merge=False),
        "view both ways": lambda q, k, v, H, seen: heads(
            q, k, v, H, seen, split=False, merge=False
        ),
        "scale by channels": lambda q, k, v, H, seen: heads(
            q, k, v, H, seen, scale=q.shape[-1] ** 0.5
        ),
        "no scale": lambda q, k, v, H, seen: heads(q, k, v, H, seen, scale=1.0),
        "over queries": lambda q, k, v, H, seen: heads(q, k, v, H, seen, dim=-2),
        "one head": lambda q, k, v, H, seen: attend(  # noqa: ARG005
            q, k, v, seen=None if seen is None else seen[0]
        ),
    },
)
