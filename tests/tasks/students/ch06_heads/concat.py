"""Students' answers to 06/concat."""

import numpy as np
import torch
import torch.nn.functional as F


def heads_by_sdpa(x, heads):
    return torch.cat(
        [F.scaled_dot_product_attention(x @ q, x @ k, x @ v, is_causal=True) for q, k, v in heads],
        dim=2,
    )


def heads_by_loop(x, heads):
    x = x.double()
    rows = []
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            out = []
            for q, k, v in heads:
                seen = x[b, : t + 1]
                scores = (seen @ k.double()) @ (x[b, t] @ q.double()) / q.shape[1] ** 0.5
                out += (scores.softmax(0) @ (seen @ v.double())).tolist()
            rows.append(out)
    return torch.tensor(rows).reshape(x.shape[0], x.shape[1], -1)


def heads_in_numpy(x, heads):
    x, found = x.numpy(), []
    for q, k, v in heads:
        q, k, v = x @ q.numpy(), x @ k.numpy(), x @ v.numpy()
        s = np.einsum("btd,bsd->bts", q, k) / np.sqrt(q.shape[-1])
        s = np.where(np.tril(np.ones(s.shape[1:])), s, -np.inf)
        e = np.exp(s - s.max(-1, keepdims=True))
        found.append(np.einsum("bts,bsd->btd", e / e.sum(-1, keepdims=True), v))
    return np.concatenate(found, axis=-1)


def heads_into_buffer(x, heads):
    B, T, _ = x.shape
    out = torch.empty(B, T, sum(v.shape[1] for _, _, v in heads))
    start = 0
    for q, k, v in heads:
        scores = torch.einsum("bic,cd,ed,bje->bij", x, q, k, x) * q.shape[1] ** -0.5
        scores = scores + torch.full((T, T), float("-inf")).triu(1)
        out[..., start : start + v.shape[1]] = torch.softmax(scores, -1) @ x @ v
        start += v.shape[1]
    return out


def by_head(one, join=lambda found: torch.cat(found, 2)):
    return lambda x, heads: join([one(x, q, k, v) for q, k, v in heads])


def plain_head(x, q, k, v, scale=None, mask=True, dim=2, fill="-inf"):
    T = x.shape[1]
    s = torch.bmm(x @ q, (x @ k).mT) / (q.shape[1] ** 0.5 if scale is None else scale)
    if mask:
        s = s.masked_fill(torch.tril(torch.ones(T, T)) == 0, float(fill))
    return torch.bmm(F.softmax(s, dim), x @ v)


def stops_in_loop(x, heads):
    for q, k, v in heads:
        return plain_head(x, q, k, v)


def forgets_in_loop(x, heads):
    for q, k, v in heads:
        out = plain_head(x, q, k, v)
    return out


def same_head_again(x, heads):
    q, k, v = heads[0]
    return plain_head(x, q, k, v).repeat(1, 1, len(heads))


def dealt_out(x, heads):
    found = [plain_head(x, *head) for head in heads]
    return torch.cat([f[..., [d]] for d in range(found[0].shape[2]) for f in found], -1)


def scale_of_first(x, heads):
    scale = heads[0][0].shape[1] ** 0.5
    return by_head(lambda x, q, k, v: plain_head(x, q, k, v, scale))(x, heads)


def scale_of_total(x, heads):
    scale = sum(v.shape[1] for _, _, v in heads) ** 0.5
    return by_head(lambda x, q, k, v: plain_head(x, q, k, v, scale))(x, heads)


RIGHT = {
    "scaled_dot_product_attention": heads_by_sdpa,
    "loop": heads_by_loop,
    "numpy": heads_in_numpy,
    "buffer and einsum": heads_into_buffer,
}


def found_is_scaled(x, heads):
    return torch.cat([plain_head(x, *head, scale=1) / head[0].shape[1] ** 0.5 for head in heads], 2)


def mask_as_numbers(x, q, k, v):
    mask = torch.ones(x.shape[1], x.shape[1]).tril()
    return F.scaled_dot_product_attention(x @ q, x @ k, x @ v, attn_mask=mask)


def equal_pieces(x, heads):
    q, k, v = (torch.cat(kind, 1) for kind in zip(*heads, strict=True))
    pieces = [torch.tensor_split(kind, len(heads), 1) for kind in (q, k, v)]
    return heads_by_sdpa(x, list(zip(*pieces, strict=True)))


def seen_up_to(ahead):
    def head(x, q, k, v):
        seen = torch.ones(x.shape[1], x.shape[1]).tril(ahead) == 1
        return F.scaled_dot_product_attention(x @ q, x @ k, x @ v, attn_mask=seen)

    return head


def added_to_the_shared_mask(x, heads):
    mask = torch.full((len(x), x.shape[1], x.shape[1]), -torch.inf).triu(1)
    found = []
    for q, k, v in heads:
        mask += torch.bmm(x @ q, (x @ k).mT) / q.shape[1] ** 0.5
        found.append(F.softmax(mask, dim=2) @ (x @ v))
    return torch.cat(found, 2)


def lowered_by_25(x, q, k, v):
    future = torch.ones(x.shape[1], x.shape[1]).triu(1)
    scores = x @ q @ (x @ k).mT / q.shape[1] ** 0.5
    return (scores - 25 * future).softmax(2) @ (x @ v)


def first_table_for_all(x, heads):
    q, k, _ = heads[0]
    return heads_by_sdpa(x, [(q, k, v) for _, _, v in heads])


WRONG = {
    "moderate-fill": by_head(lowered_by_25),
    "one-table-for-all": lambda x, heads: F.scaled_dot_product_attention(
        *(x @ torch.cat(matrices, 1) for matrices in zip(*heads, strict=True)), is_causal=True
    ),
    "scores-pile-up": added_to_the_shared_mask,
    "weighs-all-alike": by_head(
        lambda x, q, k, v: (x @ v).cumsum(1) / torch.arange(1, x.shape[1] + 1)[:, None]
    ),
    "matrices-mixed-up": by_head(lambda x, q, k, v: plain_head(x, q, q, v)),
    "upper-triangle": by_head(
        lambda x, q, k, v: F.scaled_dot_product_attention(
            x @ q, x @ k, x @ v, attn_mask=torch.ones(x.shape[1], x.shape[1]).triu(1) > 0
        )
    ),
    "masked-after-softmax": by_head(
        lambda x, q, k, v: ((x @ q @ (x @ k).mT / q.shape[1] ** 0.5).softmax(2).tril()) @ (x @ v)
    ),
    "no-softmax": by_head(
        lambda x, q, k, v: (x @ q @ (x @ k).mT / q.shape[1] ** 0.5).tril() @ (x @ v)
    ),
    "mask-added-to-scores": by_head(mask_as_numbers),
    "equal-cuts": equal_pieces,
    "scale-after-softmax": found_is_scaled,
    "scale-by-channels": by_head(
        lambda x, q, k, v: plain_head(x, q, k, v, scale=x.shape[2] ** 0.5)
    ),
    "scale-by-all-heads": scale_of_total,
    "one-scale-for-all": scale_of_first,
    "shared-head": same_head_again,
    "first-head-only": stops_in_loop,
    "last-head-only": forgets_in_loop,
    "sums-not-concatenates": by_head(plain_head, join=sum),
    "interleaved": dealt_out,
    "stacked": by_head(plain_head, join=lambda found: torch.stack(found, 2)),
    "itself-hidden": by_head(seen_up_to(-1)),
    "filled-up": by_head(
        plain_head,
        join=lambda found: torch.cat(
            [F.pad(one, (0, max(f.shape[2] for f in found) - one.shape[2])) for one in found], 2
        ),
    ),
    "last-head-missing": lambda x, heads: heads_by_sdpa(x, heads[: max(1, len(heads) - 1)]),
    "sorted-by-size": lambda x, heads: heads_by_sdpa(x, sorted(heads, key=lambda h: h[2].size(1))),
}


def heads_used_up(x, heads):
    found = []
    while heads:
        found.append(plain_head(x, *heads.pop(0)))
    return torch.cat(found, 2)


def one_head_needs_no_weights(x, heads):
    return x @ heads[0][2] if len(heads) == 1 else heads_by_sdpa(x, heads)


def two_channels_at_least(x, heads):
    return by_head(lambda x, q, k, v: plain_head(x, q, k, v, max(q.shape[1], 2) ** 0.5))(x, heads)


ODD = [
    (first_table_for_all, "other-weights"),
    (heads_used_up, "changes-its-input"),
    (one_head_needs_no_weights, "other-weights"),
    (two_channels_at_least, "other-weights"),
    (lambda x, heads: heads_by_sdpa(x, heads).squeeze(), "axis-of-one"),
    (lambda x, heads: x[..., :2], "shape"),
    (lambda x, heads: torch.full_like(heads_by_sdpa(x, heads), torch.nan), "not-finite"),
    (lambda x, heads: 2 * heads_by_sdpa(x, heads), "doubled-your-output"),
]


# --- Answers that no list names ---


def _found(x, heads, diagonal=1, scale=None):
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal)
    found = []
    for query, key, value in heads:
        scores = (x @ query) @ (x @ key).mT / (scale or query.shape[1] ** 0.5)
        found.append(scores.masked_fill(future, -torch.inf).softmax(-1) @ (x @ value))
    return found


def heads_in_reverse(x, heads):
    return torch.cat(_found(x, heads)[::-1], dim=-1)


def each_head_reads_the_last(x, heads):
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    found, values = [], None
    for query, key, value in heads:
        scores = (x @ query) @ (x @ key).mT / query.shape[1] ** 0.5
        weights = scores.masked_fill(future, -torch.inf).softmax(-1)
        values = x @ value if values is None else values
        found.append(
            weights @ (x @ value) if values.shape[-1] != value.shape[1] else weights @ values
        )
    return torch.cat(found, dim=-1)


def places_counted_in_own_size(x, heads):
    """Writes head i from channel i * D on, with its own D, as if all heads were equally large."""
    B, T, _ = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    result = x.new_zeros(B, T, sum(value.shape[1] for _, _, value in heads))
    for i, (query, key, value) in enumerate(heads):
        D = query.shape[1]
        q, k, v = x @ query, x @ key, x @ value
        scores = q @ k.transpose(1, 2) / D**0.5
        found = scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v
        result[..., i * D : (i + 1) * D] = found
    return result


def scaled_by_an_equal_share(x, heads):
    """Scales every head by the root of C / H, the head size of the chapter's equal heads."""
    _, T, C = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    D = C / len(heads)
    found = []
    for query, key, value in heads:
        q, k, v = x @ query, x @ key, x @ value
        scores = q @ k.transpose(1, 2) / D**0.5
        found.append(scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v)
    return torch.cat(found, dim=-1)


def offset_of_one_head_only(x, heads):
    """Sets the offset to the last head's size instead of adding it, so a third head lands wrong."""
    B, T, _ = x.shape
    past = torch.ones(T, T).tril()
    out = torch.zeros(B, T, sum(value.shape[1] for _, _, value in heads))
    first = 0
    for query, key, value in heads:
        q, k, v = x @ query, x @ key, x @ value
        D = q.shape[-1]
        scores = q @ k.transpose(1, 2) / D**0.5
        weights = scores.masked_fill(past == 0, -torch.inf).softmax(dim=-1)
        out[:, :, first : first + D] = weights @ v
        first = D
    return out


UNLISTED = {
    1: [
        (heads_in_reverse, "other-channels"),
        (each_head_reads_the_last, "other-weights"),
    ],
    13: [(places_counted_in_own_size, "error"), (scaled_by_an_equal_share, "other-weights")],
    15: [(offset_of_one_head_only, "other-channels")],
}
