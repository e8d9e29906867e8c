"""Answers that write faster: shared keys and values, a cache, a softmax in chunks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.peer_problems.attention import attend, past
from benchmarks.peer_problems.problem import Answer, Problem

# Heads that share: (B, T, H · D), (B, T, G · D), (B, T, G · D), H, G, what is seen → (B, T, H · D).


def _cut(x: Tensor, n: int) -> Tensor:
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


def _merged(found: Tensor) -> Tensor:
    return found.transpose(1, 2).flatten(2)


def _spread(x: Tensor, G: int, H: int) -> Tensor:
    return _cut(x, G).repeat_interleave(H // G, dim=1)


def _repeated(x: Tensor, G: int, H: int) -> Tensor:
    return _cut(x, G).repeat(1, H // G, 1, 1)


def _cut_by_view(x: Tensor, G: int, H: int) -> Tensor:
    return x.reshape(x.shape[0], G, x.shape[1], -1).repeat_interleave(H // G, dim=1)


def _grouped(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    H: int,
    G: int,
    seen: Tensor | None,
    *,
    keys: Answer = _spread,
    values: Answer = _spread,
    **slip: Any,
) -> Tensor:
    return _merged(attend(_cut(q, H), keys(k, G, H), values(v, G, H), seen=seen, **slip))


def _group_by_group(q: Tensor, k: Tensor, v: Tensor, H: int, G: int, seen: Tensor | None) -> Tensor:
    queries = _cut(q, H).chunk(G, dim=1)
    shared = zip(queries, _cut(k, G).split(1, dim=1), _cut(v, G).split(1, dim=1), strict=True)
    return _merged(torch.cat([attend(*one, seen=seen) for one in shared], dim=1))


def _shared_queries(q: Tensor, k: Tensor, v: Tensor, H: int, G: int, seen: Tensor | None) -> Tensor:
    pooled = _cut(q, H).unflatten(1, (G, -1)).mean(dim=2)
    found = attend(pooled, _cut(k, G), _cut(v, G), seen=seen)
    return _merged(found.repeat_interleave(H // G, dim=1))


def _grouped_with(**slip: Any) -> Answer:
    return lambda *given: _grouped(*given, **slip)


def _first_for_all(x: Tensor, G: int, H: int) -> Tensor:
    return _cut(x, G)[:, :1].expand(-1, H, -1, -1)


def _mean_for_all(x: Tensor, G: int, H: int) -> Tensor:
    return _cut(x, G).mean(dim=1, keepdim=True).expand(-1, H, -1, -1)


def _groups_for_us(answer: Answer) -> Any:
    def ours(
        x: Tensor, query: Tensor, key: Tensor, value: Tensor, n_head: int, n_group: int
    ) -> Tensor:
        pooled = (
            weight.unflatten(0, (n_group, n_head // n_group, -1)).mean(dim=1).flatten(0, 1)
            for weight in (key, value)
        )
        k, v = (x @ weight.T for weight in pooled)
        found: Tensor = answer(x @ query.T, k, v, n_head, n_group, past(x.shape[1]))
        return found

    return ours


def _groups_for_them(answer: Answer) -> Any:
    class GroupQueryAttention(nn.Module):
        def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
            super().__init__()
            self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
            shared = num_kv_heads * (d_model // num_heads)
            self.W_q, self.W_o = (nn.Linear(d_model, d_model) for _ in range(2))
            self.W_k, self.W_v = (nn.Linear(d_model, shared) for _ in range(2))

        def forward(self, x: Tensor) -> Tensor:
            q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
            mixed: Tensor = self.W_o(answer(q, k, v, self.num_heads, self.num_kv_heads, None))
            return mixed

    return GroupQueryAttention


GROUPS = Problem(
    "12/groups",
    "gqa",
    _groups_for_us,
    _groups_for_them,
    {
        "spread": _grouped,
        "group by group": _group_by_group,
        "torch's own": lambda q, k, v, H, G, seen: _merged(
            F.scaled_dot_product_attention(
                _cut(q, H), _cut(k, G), _cut(v, G), attn_mask=seen, enable_gqa=True
            )
        ),
    },
    {
        "repeated": _grouped_with(keys=_repeated, values=_repeated),
        "values repeated": _grouped_with(values=_repeated),
        "first group for all": _grouped_with(keys=_first_for_all, values=_first_for_all),
        "mean for all": _grouped_with(keys=_mean_for_all, values=_mean_for_all),
        "queries shared": _shared_queries,
        "cut by view": _grouped_with(keys=_cut_by_view, values=_cut_by_view),
        "merged by view": lambda q, k, v, H, G, seen: attend(
            _cut(q, H), _spread(k, G, H), _spread(v, G, H), seen=seen
        ).reshape(q.shape),
        "scale by channels": lambda *given: _grouped(*given, scale=given[0].shape[-1] ** 0.5),
        "no scale": _grouped_with(scale=1.0),
        "over queries": _grouped_with(dim=-2),
    },
)


# A cache: new queries, keys and values (B, H, T, D), old keys and values (B, H, P, D) → what is
# found (B, H, T, D), all keys and all values (B, H, P + T, D).

Cached = tuple[Tensor, Tensor, Tensor]


def _looking(q: Tensor, k: Tensor, v: Tensor, shift: int = 0, **slip: Any) -> Tensor:
    """Each new token sees itself and all before it; `shift` moves the edge of what it sees."""
    T, S = q.shape[2], k.shape[2]
    seen = torch.ones(T, S, dtype=torch.bool).tril(S - T + shift)
    return attend(q, k, v, seen=seen, **slip)


def _joined(old: Tensor, new: Tensor) -> Tensor:
    return torch.cat([old, new], dim=2)


def _appended(q: Tensor, k: Tensor, v: Tensor, old_k: Tensor, old_v: Tensor, **slip: Any) -> Cached:
    k, v = _joined(old_k, k), _joined(old_v, v)
    return _looking(q, k, v, **slip), k, v


def _torch_appended(q: Tensor, k: Tensor, v: Tensor, old_k: Tensor, old_v: Tensor) -> Cached:
    k, v = _joined(old_k, k), _joined(old_v, v)
    seen = torch.arange(k.shape[2]) <= torch.arange(old_k.shape[2], k.shape[2])[:, None]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen), k, v


def _triangle_from_first(q: Tensor, k: Tensor, v: Tensor, old_k: Tensor, old_v: Tensor) -> Cached:
    return _appended(q, k, v, old_k, old_v, shift=-old_k.shape[2])


def _not_kept(q: Tensor, k: Tensor, v: Tensor, old_k: Tensor, old_v: Tensor) -> Cached:
    return _appended(q, k, v, old_k, old_v)[0], old_k, old_v


def _in_front(q: Tensor, k: Tensor, v: Tensor, old_k: Tensor, old_v: Tensor) -> Cached:
    found, _, _ = _appended(q, k, v, old_k, old_v)
    return found, _joined(k, old_k), _joined(v, old_v)


def _swapped(q: Tensor, k: Tensor, v: Tensor, old_k: Tensor, old_v: Tensor) -> Cached:
    found, k, v = _appended(q, k, v, old_k, old_v)
    return found, v, k


def _cache_for_us(answer: Answer) -> Any:
    def ours(
        query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
    ) -> Cached:
        keys, values, found = keys.clone(), values.clone(), []
        for b, n in enumerate(lengths.tolist()):
            row = slice(b, b + 1)
            new = (part[row, :, None] for part in (query, key, value))
            out, k, v = answer(*new, keys[row, :, :n].clone(), values[row, :, :n].clone())
            found.append(out[:, :, 0])
            keys[row, :, : k.shape[2]], values[row, :, : v.shape[2]] = k, v
        return torch.cat(found), keys, values

    return ours


def _cache_for_them(answer: Answer) -> Any:
    class KVCacheAttention(nn.Module):
        def __init__(self, d_model: int, num_heads: int):
            super().__init__()
            self.num_heads = num_heads
            self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

        def forward(
            self, x: Tensor, cache: tuple[Tensor, Tensor] | None = None
        ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
            q, k, v = (_cut(layer(x), self.num_heads) for layer in (self.W_q, self.W_k, self.W_v))
            found, k, v = answer(q, k, v, *(cache or (k[:, :, :0], v[:, :, :0])))
            return self.W_o(_merged(found)), (k, v)

    return KVCacheAttention


CACHE = Problem(
    "12/cache-step",
    "kv_cache",
    _cache_for_us,
    _cache_for_them,
    {"appended": _appended, "torch's own": _torch_appended},
    {
        "new token unseen": lambda *given: _appended(*given, shift=-1),
        "triangle from the first": _triangle_from_first,
        "not kept": _not_kept,
        "new ones alone": lambda q, k, v, old_k, old_v: (_looking(q, k, v), k, v),  # noqa: ARG005
        "put in front": _in_front,
        "last place overwritten": lambda q, k, v, old_k, old_v: _appended(
            q, k, v, old_k[:, :, :-1], old_v[:, :, :-1]
        ),
        "returned in turned order": _swapped,
        "keys for values": lambda q, k, v, old_k, old_v: _appended(q, k, k, old_k, old_v),  # noqa: ARG005
        "no scale": lambda *given: _appended(*given, scale=1.0),
        "over queries": lambda *given: _appended(*given, dim=-2),
    },
)


# A softmax in chunks: the largest score so far (…, T), the sum so far (…, T), chunks of scores
# (…, T, S) and values (…, S, E) → (…, T, E). A sink is what has been read before the first chunk.

Chunks = Iterable[tuple[Tensor, Tensor]]


def _streamed(
    most: Tensor,
    total: Tensor,
    chunks: Chunks,
    *,
    rescale_total: bool = True,
    rescale_found: bool = True,
    backwards: bool = False,
    divide: str = "once",
) -> Tensor:
    found = torch.zeros(*most.shape, 1)
    for scores, values in chunks:
        largest = torch.maximum(most, scores.amax(dim=-1))
        shrink = (largest - most if backwards else most - largest).exp()
        shares = (scores - largest[..., None]).exp()
        total = total * (shrink if rescale_total else 1) + shares.sum(dim=-1)
        found = found * (shrink[..., None] if rescale_found else 1) + shares @ values
        if divide == "each time":
            found = found / total[..., None]
        most = largest
    return found if divide == "never" else found / total[..., None]


def _by_logsumexp(most: Tensor, total: Tensor, chunks: Chunks) -> Tensor:
    so_far, found = most + total.log(), torch.zeros(*most.shape, 1)
    for scores, values in chunks:
        now = torch.logaddexp(so_far, scores.logsumexp(dim=-1))
        found = found * (so_far - now).exp()[..., None] + (scores - now[..., None]).exp() @ values
        so_far = now
    return found


def _chunks_averaged(most: Tensor, total: Tensor, chunks: Chunks) -> Tensor:
    each = [_streamed(most, total, [chunk]) for chunk in chunks]
    return torch.stack(each).mean(dim=0)


def _last_alone(most: Tensor, total: Tensor, chunks: Chunks) -> Tensor:
    return _streamed(most, total, list(chunks)[-1:])


def _no_maximum(most: Tensor, total: Tensor, chunks: Chunks) -> Tensor:
    total, found = total * most.exp(), torch.zeros(*most.shape, 1)
    for scores, values in chunks:
        total, found = total + scores.exp().sum(dim=-1), found + scores.exp() @ values
    return found / total[..., None]


def _streamed_with(**slip: Any) -> Answer:
    return lambda *given: _streamed(*given, **slip)


def _stream_for_us(answer: Answer) -> Any:
    return lambda chunks, sink: answer(sink, torch.ones_like(sink), chunks)


def _stream_for_them(answer: Answer) -> Any:
    def theirs(Q: Tensor, K: Tensor, V: Tensor, block_size: int = 32) -> Tensor:
        def chunks(q: Tensor) -> Chunks:
            for k, v in zip(K.split(block_size, 1), V.split(block_size, 1), strict=True):
                yield q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, v

        parts = []
        for q in Q.split(block_size, 1):
            nothing = torch.zeros(q.shape[:2])
            parts.append(answer(nothing - torch.inf, nothing, chunks(q)))
        return torch.cat(parts, dim=1)

    return theirs


STREAM = Problem(
    "12/sink",
    "flash_attention",
    _stream_for_us,
    _stream_for_them,
    {"rescaled": _streamed, "by logsumexp": _by_logsumexp},
    {
        "sum not rescaled": _streamed_with(rescale_total=False),
        "values not rescaled": _streamed_with(rescale_found=False),
        "nothing rescaled": _streamed_with(rescale_total=False, rescale_found=False),
        "rescaled the wrong way": _streamed_with(backwards=True),
        "not divided": _streamed_with(divide="never"),
        "divided each time": _streamed_with(divide="each time"),
        "chunks averaged": _chunks_averaged,
        "last chunk alone": _last_alone,
        "no maximum": _no_maximum,
    },
)
