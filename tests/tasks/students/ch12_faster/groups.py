"""Students' answers to 12/groups."""

import math

import torch
import torch.nn.functional as F


def head_by_head(
    x,
    query,
    key,
    value,
    n_head,
    n_group,
    *,
    members=None,
    pool=lambda ws: sum(ws) / len(ws),
    key_pool=None,
    value_pool=None,
    scale=None,
    causal=True,
    join=lambda outs: torch.cat(outs, dim=-1),
):
    each = n_head // n_group
    members = members or (lambda h: range(h // each * each, h // each * each + each))
    q, k, v = (w.chunk(n_head) for w in (query, key, value))
    outs = []
    for h in range(n_head):
        own = (
            x @ q[h].T,
            x @ (key_pool or pool)([k[i] for i in members(h)]).T,
            x @ (value_pool or pool)([v[i] for i in members(h)]).T,
        )
        outs.append(F.scaled_dot_product_attention(*own, is_causal=causal, scale=scale))
    return join(outs)


def fused(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D = len(query) // n_head
    k, v = (w.view(n_group, -1, D, C).mean(1).reshape(-1, C) for w in (key, value))
    q = (x @ query.T).view(B, T, n_head, D).transpose(1, 2)
    k, v = ((x @ w.T).view(B, T, n_group, D).transpose(1, 2) for w in (k, v))
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return found.transpose(1, 2).reshape(B, T, -1)


def pooled_after(x, query, key, value, n_head, n_group):
    """Pools keys and values rather than weights, which is the same: both are linear."""
    B, T, _ = x.shape
    q, k, v = ((x @ w.T).view(B, T, n_group, n_head // n_group, -1) for w in (query, key, value))
    k, v = k.mean(3), v.mean(3)
    scores = torch.einsum("btgnd,bsgd->bgnts", q, k) / q.shape[-1] ** 0.5
    scores = scores + torch.full((T, T), -torch.inf).triu(1)
    return torch.einsum("bgnts,bsgd->btgnd", scores.softmax(-1), v).flatten(2)


def every_nth(x, query, key, value, n_head, n_group):
    def members(h):
        return range(h % n_group, n_head, n_group)

    return head_by_head(x, query, key, value, n_head, n_group, members=members)


def in_turn(x, query, key, value, n_head, n_group):
    def members(h):
        each = n_head // n_group
        return range(h % n_group * each, h % n_group * each + each)

    return head_by_head(x, query, key, value, n_head, n_group, members=members)


def alternating(outs):
    return torch.stack(outs, dim=-1).flatten(2)


RIGHT = {"heads": head_by_head, "fused": fused, "pooled afterwards": pooled_after}


def with_other_mask(change):
    def answer(x, query, key, value, n_head, n_group):
        B, T, C = x.shape
        each, D = n_head // n_group, len(query) // n_head
        k, v = (w.view(n_group, each, D, C).mean(1) for w in (key, value))
        k, v = (w.repeat_interleave(each, 0).reshape(-1, C) for w in (k, v))
        q, k, v = ((x @ w.T).view(B, T, n_head, D).transpose(1, 2) for w in (query, k, v))
        weights = change(q @ k.transpose(2, 3) / D**0.5)
        return (weights @ v).transpose(1, 2).reshape(B, T, -1)

    return answer


def as_read(change, *, key=True, value=True):
    """Pools weights in another way before heads are told apart: `change(w, n_head, n_group)`."""

    def answer(x, query, key_weights, value_weights, n_head, n_group):
        def mean(w):
            return w.view(n_group, n_head // n_group, -1, w.shape[-1]).mean(1)

        def spread(w):
            return w.repeat_interleave(n_head // n_group, 0).flatten(0, 1)

        k = change(key_weights, n_head, n_group) if key else mean(key_weights)
        v = change(value_weights, n_head, n_group) if value else mean(value_weights)
        return head_by_head(x, query, spread(k), spread(v), n_head, n_head)

    return answer


def members_innermost(w, n_head, n_group):
    return w.view(n_group, -1, n_head // n_group, w.shape[-1]).mean(2)


def _mean(n_group):
    def pool(part):
        each = part.shape[1] // n_group
        return part.unflatten(1, (n_group, each)).mean(dim=2).repeat_interleave(each, dim=1)

    return pool


def queries_shared_too(x, query, key, value, n_head, n_group):
    B, T, _ = x.shape
    D = len(query) // n_head
    pool = _mean(n_group)
    q, k, v = (
        pool((x @ part.T).view(B, T, n_head, D).transpose(1, 2)) for part in (query, key, value)
    )
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return found.transpose(1, 2).flatten(2)


def channels_before_heads(x, query, key, value, n_head, n_group):
    B, T, _ = x.shape
    D = len(query) // n_head
    pool = _mean(n_group)
    q, k, v = (
        (x @ part.T).view(B, T, D, n_head).permute(0, 3, 1, 2) for part in (query, key, value)
    )
    found = F.scaled_dot_product_attention(q, pool(k), pool(v), is_causal=True)
    return found.permute(0, 2, 3, 1).flatten(2)


# "scores are divided by √D": D is what a head has, and H · D need not be C
def root_of_channels_by_heads(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D, each = len(query) // n_head, n_head // n_group
    key, value = (
        part.view(n_group, each, D, C).mean(dim=1).repeat_interleave(each, dim=0).flatten(0, 1)
        for part in (key, value)
    )
    q, k, v = ((x @ w.T).view(B, T, n_head, D).transpose(1, 2) for w in (query, key, value))
    scale = 1 / math.sqrt(C / n_head)
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)
    return found.transpose(1, 2).flatten(2)


def _grouped(x, query, key, value, n_head, n_group, pool, *, scale=None, causal=True):
    B, T, _ = x.shape
    D = len(query) // n_head
    q, k, v = ((x @ part.T).view(B, T, n_head, D).transpose(1, 2) for part in (query, key, value))
    found = F.scaled_dot_product_attention(q, pool(k), pool(v), is_causal=causal, scale=scale)
    return found.transpose(1, 2).flatten(2)


def group_as_number_of_members(x, query, key, value, n_head, n_group):
    return _grouped(x, query, key, value, n_head, n_group, _mean(n_head // n_group))


WRONG = {
    "members-after-rows": as_read(members_innermost),
    "last-head-of-each-group": lambda *given: head_by_head(*given, pool=lambda ws: ws[-1]),
    "zero-mask": with_other_mask(lambda scores: scores.tril().softmax(-1)),
    "queries-pooled": queries_shared_too,
    "rows-in-turn": channels_before_heads,
    "scale-by-a-share-of-channels": root_of_channels_by_heads,
    "group-is-every-nth-head": every_nth,
    "repeated-in-turn": in_turn,
    "no-scale": lambda *given: head_by_head(*given, scale=1.0),
    "no-causal-mask": lambda *given: head_by_head(*given, causal=False),
    "channels-interleaved": lambda *given: head_by_head(*given, join=alternating),
    "members-for-groups": group_as_number_of_members,
}


def key_scaled_again(x, query, key, *given):
    return head_by_head(x, query, 1.7 * key, *given)


def mean_of_members(x, query, key, value, n_head, n_group):
    found = head_by_head(x, query, key, value, n_head, n_group)
    each = found.unflatten(-1, (n_group, n_head // n_group, -1))
    return each.mean(dim=3, keepdim=True).expand_as(each).flatten(2)


def members_outside(x, query, key, value, n_head, n_group):
    found = head_by_head(x, query, key, value, n_head, n_group)
    return found.unflatten(-1, (n_group, n_head // n_group, -1)).transpose(2, 3).flatten(2)


ODD = [
    (members_outside, "heads-in-another-order"),
    (with_other_mask(lambda scores: scores.tril(1).softmax(-1)), "other-weights"),
    (with_other_mask(lambda scores: scores.softmax(1)), "other-weights"),
    (lambda *given: head_by_head(*given, pool=lambda ws: sum(ws) / 4), "shared-otherwise"),
    (
        lambda *given: head_by_head(*given, members=lambda h: [(h + 1) % given[4]]),
        "shared-otherwise",
    ),
    (mean_of_members, "heads-of-a-group-alike"),
    (key_scaled_again, "other-weights"),
    (lambda x, *_: x, "shape"),
    (lambda *given: head_by_head(*given) * 1.1, "constant-ratio"),
    (lambda x, *_: x[99], "error"),
]


# --- Answers that no list names ---


# Put the axis of the groups where the members belong.
# "groups of neighbors"
def members_from_all_over(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D = query.shape[0] // n_head
    size = n_head // n_group
    pooled_key = key.view(size, n_group, D, C).mean(dim=0)  # (groups, D, C)
    pooled_value = value.view(size, n_group, D, C).mean(dim=0)
    pooled_key = pooled_key.repeat_interleave(size, dim=0).reshape(n_head * D, C)
    pooled_value = pooled_value.repeat_interleave(size, dim=0).reshape(n_head * D, C)
    q = (x @ query.T).view(B, T, n_head, D).transpose(1, 2)
    k = (x @ pooled_key.T).view(B, T, n_head, D).transpose(1, 2)
    v = (x @ pooled_value.T).view(B, T, n_head, D).transpose(1, 2)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return out.transpose(1, 2).reshape(B, T, n_head * D)


UNLISTED = {
    8: [(members_from_all_over, "shared-otherwise")],
}
