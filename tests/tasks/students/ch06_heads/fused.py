"""Students' answers to 06/fused."""

import numpy as np
import torch
import torch.nn.functional as F


def fused_by_sdpa(x, qkv, projection, reach):
    B, T, C = x.shape
    q, k, v = (
        part.view(B, T, len(reach), -1).transpose(1, 2) for part in F.linear(x, qkv).chunk(3, -1)
    )
    masks = [torch.ones(T, T).tril().triu(1 - r).bool() for r in reach]
    found = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.stack(masks))
    return F.linear(found.transpose(1, 2).reshape(B, T, C), projection)


def fused_by_loop(x, qkv, projection, reach):
    T, C = x.shape[1:]
    D = C // len(reach)
    found = []
    for h, r in enumerate(reach):
        q, k, v = (x @ qkv[n * C + h * D : n * C + (h + 1) * D].T for n in range(3))
        s = q @ k.mT / D**0.5
        for t in range(T):
            s[:, t, t + 1 :] = -torch.inf
            s[:, t, : max(0, t - r + 1)] = -torch.inf
        found.append(s.softmax(-1) @ v)
    return torch.cat(found, -1) @ projection.T


def fused_by_einsum(x, qkv, projection, reach):
    T, C = x.shape[1:]
    H, D = len(reach), C // len(reach)
    w = qkv.double().reshape(3, H, D, C)
    q, k, v = torch.einsum("btc,nhdc->nbhtd", x.double(), w)
    s = torch.einsum("bhtd,bhsd->bhts", q, k) / np.sqrt(D)
    t = torch.arange(T)
    far = (t[:, None] - t)[None] >= torch.tensor(reach).view(-1, 1, 1)
    s[:, far | (t > t[:, None])] = float("-inf")
    return torch.einsum(
        "bhts,bhsd,chd->btc", s.softmax(-1), v, projection.double().reshape(C, H, D)
    )


def fused(
    split="bthd->bhtd",
    merge="bhtd->bthd",
    thirds=(0, 1, 2),
    scale=lambda C, H: (C // H) ** 0.5,
    mask=None,
    dim=-1,
    fill=float("-inf"),
    end=lambda y, w: y @ w.T,
):
    """A fused layer in which one step can be replaced."""

    def answer(x, qkv, projection, reach):
        B, T, C = x.shape
        H = len(reach)
        parts = (x @ qkv.T).chunk(3, -1)
        parts = [parts[n] for n in thirds]
        if split:
            q, k, v = (torch.einsum(split, p.view(B, T, H, C // H)) for p in parts)
        else:
            q, k, v = (p.reshape(B, H, T, C // H) for p in parts)
        t = torch.arange(T)
        seen = [
            mask(t[:, None], t, reach, h)
            if mask
            else (t <= t[:, None]) & (t > t[:, None] - reach[h])
            for h in range(H)
        ]
        s = torch.where(torch.stack(seen), q @ k.mT / scale(C, H), fill)
        found = s.softmax(dim) @ v
        found = torch.einsum(merge, found) if merge else found
        return end(found.reshape(B, T, C), projection)

    return answer


def heads_see_heads(x, qkv, projection, reach):
    B, T = x.shape[:2]
    q, k, v = (p.view(B, T, len(reach), -1) for p in (x @ qkv.T).chunk(3, -1))
    return F.scaled_dot_product_attention(q, k, v).flatten(2) @ projection.T


def as_in_task_three(x, qkv, projection, reach):
    H, C = len(reach), x.shape[-1]
    # rows that are laid out head by head are brought into the order of the chapter
    rows = qkv.view(H, 3, C // H, C).transpose(0, 1).reshape(3 * C, C)
    return fused()(x, rows, projection, reach)


def in_past(t, s, reach, h):
    return s <= t


RIGHT = {
    "scaled_dot_product_attention": fused_by_sdpa,
    "loop": fused_by_loop,
    "einsum": fused_by_einsum,
}


def out_of_reach_cut_late(x, qkv, w, reach):
    """Each head alone, from its rows of `qkv`."""
    T, C = x.shape[1:]
    D = C // len(reach)
    found = []
    for h, width in enumerate(reach):
        q, k, v = (x @ part[h * D : (h + 1) * D].T for part in qkv.split(C))
        scores = torch.einsum("btd,bsd->bts", q, k) / D**0.5
        weights = scores.masked_fill(torch.ones(T, T).triu(1) == 1, -torch.inf).softmax(-1)
        found.append(weights.triu(1 - width) @ v)
    return torch.cat(found, -1) @ w.T


def mask_as_numbers(x, qkv, w, reach):
    B, T, C = x.shape
    q, k, v = (p.view(B, T, len(reach), -1).transpose(1, 2) for p in (x @ qkv.T).chunk(3, -1))
    mask = torch.stack([torch.ones(T, T).tril().triu(1 - r) for r in reach])
    found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return found.transpose(1, 2).reshape(B, T, C) @ w.T


def heads_dealt_out(x, qkv, projection, reach):
    H, C = len(reach), x.shape[-1]
    dealt = torch.arange(C).view(C // H, H).T.reshape(-1)
    rows = torch.cat([dealt, dealt + C, dealt + 2 * C])
    return fused_by_loop(x, qkv[rows], projection, reach)


def findings_dealt_out(x, qkv, projection, reach):
    C = x.shape[-1]
    dealt = torch.arange(C).view(len(reach), -1).T.reshape(-1)
    return fused_by_loop(x, qkv, torch.eye(C), reach)[..., dealt] @ projection.T


# "sees the last reach[h] positions": of the text
def windows_at_the_end(x, qkv, w, reach):
    _, T, C = x.shape
    q, k, v = (
        part.unflatten(2, (len(reach), -1)).transpose(1, 2) for part in (x @ qkv.T).split(C, 2)
    )
    scores = q @ k.mT / q.shape[3] ** 0.5
    for h, r in enumerate(reach):
        scores[:, h, :, : max(T - r, 0)] = -torch.inf
    weights = scores.masked_fill(torch.ones(T, T).triu(1) > 0, -torch.inf).softmax(-1)
    return torch.cat((weights.nan_to_num() @ v).unbind(1), -1) @ w.T


def future_hidden_reach_changed(x, qkv, w, reach, change=lambda s, r: s.triu(1 - r)):
    """Scores beyond the reach become 0, or what `change` makes of them."""
    _, T, C = x.shape
    q, k, v = (
        part.unflatten(2, (len(reach), -1)).transpose(1, 2) for part in (x @ qkv.T).split(C, 2)
    )
    s = q @ k.mT / q.shape[3] ** 0.5
    for h, r in enumerate(reach):
        s[:, h] = change(s[:, h], r)
    weights = s.masked_fill(torch.ones(T, T).triu(1) > 0, -torch.inf).softmax(-1)
    return torch.cat((weights @ v).unbind(1), -1) @ w.T


def from_slices(x, qkv, w, reach):
    B, T, C = x.shape
    H = len(reach)
    q, k, v = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    hidden = torch.ones(H, T, T, dtype=torch.bool)
    for h, width in enumerate(reach):
        for t in range(T):
            hidden[h, t, t + 1 - width : t + 1] = False
    scores = (q @ k.mT * (C // H) ** -0.5).masked_fill(hidden, -torch.inf)
    return (scores.softmax(-1).nan_to_num(0.0) @ v).transpose(1, 2).reshape(B, T, C) @ w.T


def one_table(x, qkv, w, reach):
    B, T, C = x.shape
    H = len(reach)
    q, k, v = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    back = torch.arange(T)[:, None] - torch.arange(T)
    near = torch.stack([(back >= 0) & (back < width) for width in reach])
    scores = (q @ k.mT * (C // H) ** -0.5).masked_fill(~near, -torch.inf)
    weights = scores.softmax(-1).mean(1, keepdim=True)
    return (weights @ v).transpose(1, 2).reshape(B, T, C) @ w.T


def attends_where_visible(x, qkv, projection, reach, visible):
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).flatten(2) @ projection.T


# "sees the last reach[h] positions, itself included"
def reach_counts_from_the_start(x, qkv, projection, reach):
    T = x.shape[1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    near = torch.arange(T) < torch.tensor(reach)[:, None, None]
    return attends_where_visible(x, qkv, projection, reach, past & near)


# "a reach may be larger than T"
def reach_ends_before_the_whole_text(x, qkv, projection, reach):
    T = x.shape[1]
    back = torch.arange(T)[:, None] - torch.arange(T)
    width = torch.tensor(reach).clamp(max=T - 1)[:, None, None]
    return attends_where_visible(x, qkv, projection, reach, (back >= 0) & (back < width))


def _fused(x, query, key, value, projection, visible):
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).flatten(2) @ projection.T


def _visible(T, reach):
    back = torch.arange(T)[:, None] - torch.arange(T)
    return (back >= 0) & (back < torch.tensor(reach)[:, None, None])


def fused_with_a_matrix_not_transposed(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (
        (x @ part).view(B, T, H, C // H).transpose(1, 2) for part in qkv.chunk(3, dim=0)
    )
    return _fused(x, query, key, value, projection, _visible(T, reach))


WRONG = {
    "slices-wrap": from_slices,
    "moderate-fill": fused(fill=-20.0),
    "scores-out-of-reach": future_hidden_reach_changed,
    "thirds-mixed-up": fused(thirds=(0, 2, 1)),
    "mask-turned-round": fused(
        mask=lambda t, s, reach, h: ~(in_past(t, s, reach, h) & (t - s < reach[h]))
    ),
    "heads-take-turns": heads_dealt_out,
    "interleaved": findings_dealt_out,
    "blocks-not-windows": fused(
        mask=lambda t, s, reach, h: in_past(t, s, reach, h) & (s // reach[h] == t // reach[h])
    ),
    "reach-from-the-end": windows_at_the_end,
    "first-always-seen": fused(
        mask=lambda t, s, reach, h: in_past(t, s, reach, h) & ((s > t - reach[h]) | (s == 0))
    ),
    "mask-added-to-scores": mask_as_numbers,
    "reach-after-softmax": out_of_reach_cut_late,
    "reach-from-the-start": reach_counts_from_the_start,
    "reach-capped-below-the-text": reach_ends_before_the_whole_text,
    "no-transpose-at-all": fused(split="", merge=""),
    "view-without-transpose": fused(split=""),
    "attends-across-heads": heads_see_heads,
    "other-layout": as_in_task_three,
    "matrix-not-transposed": fused_with_a_matrix_not_transposed,
    "scale-by-channels": fused(scale=lambda C, H: C**0.5),
    "scale-after-softmax": lambda x, qkv, w, reach: fused(scale=lambda C, H: 1)(
        x, qkv, w / (len(w) / len(reach)) ** 0.5, reach
    ),
    "no-causal-mask": fused(mask=lambda t, s, reach, h: (s + t) > -1),
    "windows-to-both-sides": fused(mask=lambda t, s, reach, h: (t - s).abs() < reach[h]),
    "projection-not-transposed": fused(end=torch.matmul),
}


def with_reach(change):
    """The right layer for other reaches: from what was given, and T."""
    return lambda x, qkv, w, reach: fused_by_sdpa(x, qkv, w, change(reach, x.shape[1]))


def caps_the_list(x, qkv, w, reach):
    for h in range(len(reach)):
        reach[h] = min(reach[h], x.shape[1])
    return fused_by_sdpa(x, qkv, w, reach)


ODD = [
    (fused(scale=lambda C, H: C // H / 2), "used-half-of-D-instead-of-root-of-D-in-the-scores"),
    (one_table, "some-positions"),
    (caps_the_list, "changes-its-input"),
    (with_reach(lambda reach, T: reach if len(reach) > 1 else [T]), "other-reaches"),
    (lambda x, qkv, w, reach: fused_by_sdpa(x, qkv, w, reach).squeeze(), "axis-of-one"),
    (
        lambda x, qkv, w, reach: fused_by_sdpa(x, qkv, w, reach) + x.mean(1, keepdim=True),
        "sees-the-future",
    ),
    (
        lambda x, qkv, w, reach: fused_by_sdpa(x, qkv, w, reach) + x[:, :1].mean(0),
        "mixes-the-batch",
    ),
    (lambda x, qkv, w, reach: fused_by_sdpa(x, qkv, w, reach)[:, 1:], "first-missing"),
    (lambda x, qkv, w, reach: 2 * fused_by_sdpa(x, qkv, w, reach), "doubled-your-output"),
]
