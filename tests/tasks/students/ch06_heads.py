"""Answers to the tasks of chapter 06, as students write them."""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# --- concat ---------------------------------------------------------------------------------------


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


# --- projection -----------------------------------------------------------------------------------


class MixedPlainly(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.projection = nn.Linear(head_size * len(heads), n_embd, bias=True)
        self.parts = nn.ModuleList(heads)

    def join(self, found):
        return torch.cat(found, dim=2)

    def forward(self, x):
        return self.projection(self.join([part(x) for part in self.parts]))


class MixedByHand(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        for h, head in enumerate(heads):
            self.add_module(f"head_{h}", head)
        self.count = len(heads)
        self.projection = nn.Module()
        self.projection.weight = nn.Parameter(torch.zeros(n_embd, head_size * self.count))
        self.projection.bias = nn.Parameter(torch.zeros(n_embd))

    def forward(self, x):
        found = [getattr(self, f"head_{h}")(x) for h in range(self.count)]
        blocks = self.projection.weight.chunk(self.count, 1)
        return sum(f @ w.T for f, w in zip(found, blocks, strict=True)) + self.projection.bias


class MixedWithZeroDropout(MixedPlainly):
    def __init__(self, *args):
        super().__init__(*args)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        return self.dropout(super().forward(x))


class NeverProjected(MixedPlainly):
    def forward(self, x):
        return self.join([part(x) for part in self.parts])


class FromTheChapter(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(n_embd, n_embd)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        together = torch.cat([head(x) for head in self.heads], dim=-1)
        return self.dropout(self.projection(together))


class Added(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(head_size, n_embd)

    def forward(self, x):
        return self.projection(sum(head(x) for head in self.heads))


class NoBias(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        super().__init__(heads, head_size, n_embd)
        self.projection.bias = None


class FirstHeadAgain(MixedPlainly):
    def forward(self, x):
        return self.projection(self.parts[0](x).repeat(1, 1, len(self.parts)))


class WithResidual(MixedPlainly):
    def forward(self, x):
        x = x + super().forward(x)
        return x


class ReluAfter(MixedPlainly):
    def forward(self, x):
        return F.relu(super().forward(x))


class ReluBefore(MixedPlainly):
    def join(self, found):
        return torch.cat([f.clamp(min=0) for f in found], -1)


class Dealt(MixedPlainly):
    def join(self, found):
        B, T, _ = found[0].shape
        return torch.stack(found, 3).reshape(B, T, -1)


class Backwards(MixedPlainly):
    def join(self, found):
        return torch.cat(found[::-1], -1)


class InAList(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = list(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        return self.projection(torch.cat([h(x) for h in self.heads], -1))


class CopiedHeads(MixedPlainly):
    def __init__(self, heads, head_size, n_embd):
        super().__init__([copy.deepcopy(h) for h in [*heads, heads[0]]], head_size, n_embd)


# --- split ----------------------------------------------------------------------------------------


def split_by_chunks(x, n_head):
    heads = [piece.chunk(3, dim=-1) for piece in x.chunk(n_head, dim=-1)]
    return tuple(torch.stack([head[n] for head in heads], dim=1) for n in range(3))


def split_by_slices(x, n_head):
    D = x.shape[-1] // (3 * n_head)
    q, k, v = [], [], []
    for h in range(n_head):
        first = 3 * h * D
        q.append(x[:, :, first : first + D])
        k.append(x[:, :, first + D : first + 2 * D])
        v.append(x[:, :, first + 2 * D : first + 3 * D])
    return [torch.stack(part, 1) for part in (q, k, v)]


def split_by_transpose(x, n_head):
    B, T, width = x.shape
    x = x.view(B, T, n_head, -1).transpose(1, 2)
    return x.split(width // n_head // 3, dim=-1)


def split_in_numpy(x, n_head):
    B, T, _ = x.shape
    x = x.numpy().reshape(B, T, n_head, 3, -1)
    return np.einsum("bthkd->kbhtd", x)


def three(x, *shape, turn=(2, 0, 3, 1, 4)):
    return tuple(x.reshape(*shape).permute(*turn))


def chapters_split(x, n_head):
    B, T, C3 = x.shape
    return three(x, B, T, 3, n_head, C3 // 3 // n_head)


def cut_directly(x, n_head):
    B, T, width = x.shape
    D = width // (3 * n_head)
    x = x.view(B, n_head, T, 3 * D)
    return x[..., :D], x[..., D : 2 * D], x[..., 2 * D :]


def after(change):
    return lambda x, n_head: tuple(change(part) for part in split_by_chunks(x, n_head))


def slices_of_three(x, n_head):
    B, T, width = x.shape
    x = x.reshape(B, T, n_head, width // n_head).transpose(1, 2)
    return x[..., 0::3], x[..., 1::3], x[..., 2::3]


def dealt_to_heads(x, n_head):
    thirds = x.chunk(3, -1)
    return tuple(torch.stack([third[..., h::n_head] for h in range(n_head)], 1) for third in thirds)


def reordered(*order):
    def answer(x, n_head):
        parts = split_by_slices(x, n_head)
        return tuple(parts[n] for n in order)

    return answer


# --- merge ----------------------------------------------------------------------------------------


def merge_by_list(found, silenced):
    heads = [
        torch.zeros_like(found[:, h]) if h in silenced else found[:, h]
        for h in range(found.shape[1])
    ]
    return torch.cat(heads, dim=-1)


def merge_by_mask(found, silenced):
    B, H, T, D = found.shape
    keep = torch.tensor([h not in silenced for h in range(H)], dtype=found.dtype)
    return torch.einsum("bhtd,h->bthd", found, keep).reshape(B, T, H * D)


def merge_in_numpy(found, silenced):
    out = found.numpy().copy()
    out[:, silenced] = 0
    B, H, T, D = out.shape
    return np.moveaxis(out, 1, 2).reshape(B, T, H * D)


def merge_into_buffer(found, silenced):
    B, H, T, D = found.shape
    out = torch.zeros(B, T, H * D)
    for h in range(H):
        if h not in silenced:
            out[:, :, h * D : (h + 1) * D] = found[:, h]
    return out


def silenced_first(join):
    def answer(found, silenced):
        found = found.clone()
        for h in silenced:
            found[:, h] = 0.0
        return join(found)

    return answer


def view_alone(found):
    B, H, T, D = found.shape
    return found.view(B, T, H * D)


def merge_rightly(found):
    return torch.cat(found.unbind(1), -1)


def wrong_zeros(set_zeros):
    def answer(found, silenced):
        out = merge_rightly(found)
        set_zeros(out, silenced)
        return out

    return answer


def zero_channels(out, silenced):
    for h in silenced:
        out[..., h] = 0


def zero_positions(out, silenced):
    for t in silenced:
        out[:, t] = 0


def zero_others(found, silenced):
    if not silenced:
        return merge_rightly(found)
    out = torch.zeros_like(found)
    out[:, silenced] = found[:, silenced]
    return merge_rightly(out)


def left_out(found, silenced):
    return torch.cat([found[:, h] for h in range(found.shape[1]) if h not in silenced], -1)


def zeros_written(found, silenced):
    for h in silenced:
        found[:, h].zero_()
    return merge_rightly(found)


# --- dropout --------------------------------------------------------------------------------------


def drop_by_bernoulli(found, p, training, generator):
    if not training:
        return found
    if p >= 1:
        return found * 0
    kept = torch.full(found.shape[:2], 1 - p).bernoulli(generator=generator)
    return torch.einsum("bhtd,bh->bhtd", found, kept) / (1 - p)


def drop_by_loop(found, p, training, generator):
    found = found.clone()
    if not training or p == 0:
        return found
    coins = torch.rand(found.shape[0], found.shape[1], generator=generator).tolist()
    for b, row in enumerate(coins):
        for h, coin in enumerate(row):
            if coin < p:
                found[b, h] = 0
            else:
                found[b, h] /= 1 - p
    return found


def drop_in_numpy(found, p, training, generator):
    found = found.numpy().astype(np.float64)
    if not training:
        return found
    kept = torch.rand(*found.shape[:2], generator=generator).numpy()[..., None, None] > p
    return np.where(kept, found / max(1 - p, 1e-9), 0.0)


def dropping(mask, scale=lambda p: 1 / (1 - p + 1e-12)):
    def answer(found, p, training, generator):
        if training:
            found = found * mask(found, p, generator) * scale(p)
        return found

    return answer


def head_mask(found, p, generator):
    B, H, _, _ = found.shape
    return (torch.rand((B, H), generator=generator) > p)[:, :, None, None]


def smaller_in_evaluation(found, p, training, generator):
    return found * head_mask(found, p, generator) if training else found * (1 - p)


def training_not_read(found, p, training, generator):
    return dropping(head_mask)(found, p, True, generator)


def kept_by_p(found, p, generator):
    return head_mask(found, 1 - p, generator)


def each_entry(found, p, generator):
    return torch.rand(found.shape, generator=generator) > p


def each_position(found, p, generator):
    B, H, T, _ = found.shape
    return torch.rand(B, H, T, 1, generator=generator) > p


def for_the_batch(found, p, generator):
    return (torch.rand(found.shape[1], generator=generator) > p)[:, None, None]


def for_the_sample(found, p, generator):
    return (torch.rand(len(found), generator=generator) > p).view(-1, 1, 1, 1)


def by_kept_heads(found, p, training, generator):
    if not training:
        return found
    mask = head_mask(found, p, generator).to(found.dtype)
    number = mask.sum(1, keepdim=True)
    return torch.where(number > 0, found * mask * found.shape[1] / number, 0.0)


def division_at_one(found, p, training, generator):
    return found * head_mask(found, p, generator) / (1 - p) if training else found


def unseeded(found, p, generator):
    return torch.rand(*found.shape[:2], 1, 1) > p


def own_seed(found, p, generator):
    torch.manual_seed(0)
    return unseeded(found, p, generator)


# --- fused ----------------------------------------------------------------------------------------


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


def unfilled(*args):
    raise NotImplementedError


class Unfilled(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        raise NotImplementedError


RIGHT = {
    "concat": {
        "scaled_dot_product_attention": heads_by_sdpa,
        "loop": heads_by_loop,
        "numpy": heads_in_numpy,
        "buffer and einsum": heads_into_buffer,
    },
    "projection": {
        "another attribute": MixedPlainly,
        "blocks by hand": MixedByHand,
        "with dropout": MixedWithZeroDropout,
        "a function": lambda heads, size, C: MixedPlainly(heads, size, C),
    },
    "split": {
        "chunks": split_by_chunks,
        "slices": split_by_slices,
        "transpose, then split": split_by_transpose,
        "numpy": split_in_numpy,
    },
    "merge": {
        "list": merge_by_list,
        "mask": merge_by_mask,
        "numpy": merge_in_numpy,
        "buffer": merge_into_buffer,
        "double": lambda found, silenced: merge_by_list(found.double(), silenced),
    },
    "dropout": {
        "bernoulli": drop_by_bernoulli,
        "loop": drop_by_loop,
        "numpy": drop_in_numpy,
    },
    "fused": {
        "scaled_dot_product_attention": fused_by_sdpa,
        "loop": fused_by_loop,
        "einsum": fused_by_einsum,
    },
}

WRONG = {
    "concat": {
        "no-causal-mask": by_head(lambda x, q, k, v: plain_head(x, q, k, v, mask=False)),
        "scale-by-channels": by_head(
            lambda x, q, k, v: plain_head(x, q, k, v, scale=x.shape[2] ** 0.5)
        ),
        "scale-by-all-heads": scale_of_total,
        "no-scale": by_head(lambda x, q, k, v: plain_head(x, q, k, v, scale=1)),
        "one-scale-for-all": scale_of_first,
        "softmax-over-queries": by_head(lambda x, q, k, v: plain_head(x, q, k, v, dim=1)),
        "zero-mask": by_head(lambda x, q, k, v: plain_head(x, q, k, v, fill="0")),
        "swapped-query-key": by_head(lambda x, q, k, v: plain_head(x, k, q, v)),
        "raw-values": by_head(lambda x, q, k, v: plain_head(x, q, k, torch.eye(x.shape[2]))),
        "shared-head": same_head_again,
        "first-head-only": stops_in_loop,
        "last-head-only": forgets_in_loop,
        "sums-not-concatenates": by_head(plain_head, join=sum),
        "concatenated-along-time": by_head(plain_head, join=lambda found: torch.cat(found, 1)),
        "interleaved": dealt_out,
        "stacked": by_head(plain_head, join=lambda found: torch.stack(found, 2)),
    },
    "projection": {
        "no-output-projection": NeverProjected,
        "assumes-full-width": FromTheChapter,
        "sums-not-concatenates": Added,
        "no-bias": NoBias,
        "shared-head": FirstHeadAgain,
        "residual-added": WithResidual,
        "non-linear": ReluAfter,
        "non-linear-before": ReluBefore,
        "interleaved": Dealt,
        "heads-reversed": Backwards,
        "list-not-ModuleList": InAList,
    },
    "split": {
        "other-layout": chapters_split,
        "view-without-transpose": cut_directly,
        "heads-not-in-front": after(lambda part: part.permute(0, 2, 1, 3)),
        "time-last": after(lambda part: part.mT),
        "heads-before-batch": after(lambda part: part.permute(1, 0, 2, 3)),
        "takes-every-third": slices_of_three,
        "heads-take-turns": dealt_to_heads,
        "swapped-query-key": reordered(1, 0, 2),
        "value-first": reordered(2, 0, 1),
    },
    "merge": {
        "merge-without-transpose": silenced_first(view_alone),
        "interleaved": silenced_first(lambda found: torch.stack(found.unbind(1), -1).flatten(2)),
        "sums-not-concatenates": silenced_first(lambda found: sum(found.unbind(1))),
        "averages-heads": silenced_first(lambda found: found.mean(1)),
        "merged-into-time": silenced_first(lambda found: torch.cat(found.unbind(1), 1)),
        "silenced-ignored": lambda found, silenced: merge_rightly(found),
        "silenced-removed": left_out,
        "silences-the-others": zero_others,
        "silences-channels": wrong_zeros(zero_channels),
        "silences-positions": wrong_zeros(zero_positions),
        "writes-into-the-input": zeros_written,
    },
    "dropout": {
        "nothing-dropped": lambda found, p, training, generator: found.clone(),
        "scaled-in-evaluation": smaller_in_evaluation,
        "dropout-in-evaluation": training_not_read,
        "keeps-with-p": dropping(kept_by_p),
        "entries-not-heads": dropping(each_entry),
        "one-draw-for-all": dropping(for_the_batch),
        "drops-samples": dropping(for_the_sample),
        "dropout-unscaled": dropping(head_mask, scale=lambda p: 1),
        "divides-by-p": dropping(head_mask, scale=lambda p: 1 / max(p, 1e-12)),
        "multiplies-by-share": dropping(head_mask, scale=lambda p: 1 - p),
        "rescaled-by-count": by_kept_heads,
        "zero-over-zero": division_at_one,
        "seed-fixed-inside": dropping(own_seed),
        "generator-ignored": dropping(unseeded),
    },
    "fused": {
        "no-transpose-at-all": fused(split="", merge=""),
        "view-without-transpose": fused(split=""),
        "merge-without-transpose": fused(merge=""),
        "attends-across-heads": heads_see_heads,
        "other-layout": as_in_task_three,
        "swapped-query-key": fused(thirds=(1, 0, 2)),
        "values-first": fused(thirds=(1, 2, 0)),
        "scale-by-channels": fused(scale=lambda C, H: C**0.5),
        "no-scale": fused(scale=lambda C, H: 1),
        "no-causal-mask": fused(mask=lambda t, s, reach, h: (s + t) > -1),
        "reach-without-past": fused(mask=lambda t, s, reach, h: s > t - reach[h]),
        "softmax-over-queries": fused(dim=2),
        "zero-mask": fused(fill=0.0),
        "no-output-projection": fused(end=lambda y, w: y),
        "projection-not-transposed": fused(end=torch.matmul),
        "reach-ignored": fused(mask=in_past),
        "one-reach-for-all": fused(
            mask=lambda t, s, reach, h: in_past(t, s, reach, h) & (s > t - reach[0])
        ),
        "reach-one-too-many": fused(
            mask=lambda t, s, reach, h: in_past(t, s, reach, h) & (s >= t - reach[h])
        ),
        "reach-one-too-few": fused(
            mask=lambda t, s, reach, h: in_past(t, s, reach, h) & (s > t - reach[h] + 1)
        ),
        "reach-reversed": fused(
            mask=lambda t, s, reach, h: in_past(t, s, reach, h) & (s > t - reach[-1 - h])
        ),
    },
}

ODD = {
    "concat": [
        (lambda x, heads: x[..., :2], "shape"),
        (lambda x, heads: torch.full_like(heads_by_sdpa(x, heads), torch.nan), "not-finite"),
        (lambda x, heads: 2 * heads_by_sdpa(x, heads), "difference"),
    ],
    "projection": [
        (lambda heads, size, C: heads[0], "error"),
        (CopiedHeads, "error"),
    ],
    "split": [
        (lambda x, n_head: x[0], "error"),
        (after(lambda part: part.flip(2)), "entries-from-elsewhere"),
        (after(lambda part: part.flatten(1)), "shape"),
    ],
    "merge": [
        (lambda found, silenced: merge_rightly(found.flip(2)), "entries-from-elsewhere"),
        (
            lambda found, silenced: merge_rightly(found) * (0 if silenced else 1),
            "wrong-zeros",
        ),
        (lambda found, silenced: found.flatten(2), "shape"),
    ],
    "dropout": [
        (dropping(each_position), "entries-not-heads"),
        (dropping(lambda f, p, g: head_mask(f, p / 2, g)), "wrong-share"),
        (dropping(head_mask, scale=lambda p: 3.0), "wrong-factor"),
        (
            lambda f, p, training, g: dropping(head_mask)(f, p, training, g) + (not training),
            "wrong-without-chance",
        ),
    ],
    "fused": [
        (
            lambda x, qkv, w, reach: fused_by_sdpa(x, qkv, w, reach) + x.mean(1, keepdim=True),
            "sees-the-future",
        ),
        (
            lambda x, qkv, w, reach: fused_by_sdpa(x, qkv, w, reach) + x[:, :1].mean(0),
            "mixes-the-batch",
        ),
        (lambda x, qkv, w, reach: fused_by_sdpa(x, qkv, w, reach)[:, 1:], "shape"),
        (lambda x, qkv, w, reach: 2 * fused_by_sdpa(x, qkv, w, reach), "difference"),
    ],
}

SCAFFOLD = dict.fromkeys(RIGHT, unfilled) | {"projection": Unfilled}
