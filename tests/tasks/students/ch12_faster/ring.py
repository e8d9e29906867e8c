"""Students' answers to 12/ring."""

import math

import torch


def by_age(
    query,
    key,
    value,
    keys,
    values,
    count,
    slope,
    *,
    place=None,
    oldest=None,
    newest=0,
    bias=None,
    scale=None,
):
    """Walks from the newest token to the oldest one."""
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    at = count % W if place is None else place(count, W)
    keys[:, at], values[:, at] = key, value
    last = min(count, W - 1) if oldest is None else oldest(count, W)
    ages = list(range(newest, last + 1))
    slots = [(count - age) % W for age in ages]
    cost = torch.tensor([float(age if bias is None else bias(age, count, W)) for age in ages])
    scores = torch.einsum("bd,bwd->bw", query, keys[:, slots]) * (scale or D**-0.5)
    weights = (scores - slope * cost).softmax(-1)
    return torch.einsum("bw,bwd->bd", weights, values[:, slots]), keys, values


def by_numbers(query, key, value, keys, values, count, slope):
    """The number of the token in each place, by going through all tokens."""
    W = keys.shape[1]
    held = torch.full((W,), -1)
    for n in range(count + 1):
        held[n % W] = n
    here = (torch.arange(W) == count % W)[None, :, None]
    keys, values = torch.where(here, key[:, None], keys), torch.where(here, value[:, None], values)
    scores = (keys * query[:, None]).sum(-1) / keys.shape[-1] ** 0.5 - slope * (count - held)
    scores[:, held < 0] = -torch.inf
    return (scores.softmax(-1)[..., None] * values).sum(1), keys, values


def by_rolling(query, key, value, keys, values, count, slope):
    """Brings the ring into order first."""
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    at = count % W
    keys[:, at], values[:, at] = key, value
    k, v = (part.roll(W - 1 - at, dims=1) for part in (keys, values))
    scores = (k @ query[:, :, None])[..., 0] / D**0.5 - slope * torch.arange(W - 1, -1, -1)
    seen = min(count + 1, W)
    weights = scores[:, W - seen :].softmax(-1)
    return (weights[:, None] @ v[:, W - seen :])[:, 0], keys, values


def by_shift(query, key, value, keys, values, count, slope):
    keys, values = keys.roll(-1, 1), values.roll(-1, 1)
    keys[:, -1], values[:, -1] = key, value
    W, D = keys.shape[1:]
    seen = min(count + 1, W)
    scores = (keys[:, -seen:] @ query[:, :, None])[..., 0] / D**0.5
    weights = (scores - slope * torch.arange(seen - 1, -1, -1)).softmax(-1)
    return (weights[:, None] @ values[:, -seen:])[:, 0], keys, values


def biased(bias):
    return lambda *given: by_age(*given, bias=bias)


RIGHT = {"ages": by_age, "numbers": by_numbers, "rolled": by_rolling}


def other_ring(*, hide=None, scale=None, cut=False, early=False):
    """Hides empty places in another way, scales in another way, or looks too early."""

    def answer(query, key, value, keys, values, count, slope):
        _, new_keys, new_values = by_age(query, key, value, keys, values, count, slope)
        k, v = (keys, values) if early else (new_keys, new_values)
        W, D = k.shape[1:]
        age = (count - torch.arange(W)) % W
        scores = torch.einsum("bd,bwd->bw", query, k) / (scale or D) ** 0.5 - slope * age
        if cut:
            weights = scores.softmax(-1) * (age <= count)
        else:
            value_of_empty = -torch.inf if hide is None else hide
            weights = torch.where(age <= count, scores, value_of_empty).softmax(-1)
        return torch.einsum("bw,bwd->bd", weights, v), new_keys, new_values

    return answer


def with_the_taken_places_alone(query, key, value, keys, values, count, slope):
    """Works on a slice of the ring, and returns it."""
    found, new_keys, new_values = by_numbers(query, key, value, keys, values, count, slope)
    taken = torch.arange(keys.shape[1]) <= count
    return found, new_keys[:, taken], new_values[:, taken]


def values_too_late(query, key, value, keys, values, count, slope):
    _, new_keys, new_values = by_numbers(query, key, value, keys, values, count, slope)
    out, _, _ = by_rolling(query, key, values[:, count % keys.shape[1]], keys, values, count, slope)
    return out, new_keys, new_values


def in_order_of_age(*given):
    out, keys, values = by_age(*given)
    turn = -1 - given[5] % keys.shape[1]
    return out, keys.roll(turn, 1), values.roll(turn, 1)


def _ring(query, keys, values, age, seen, slope):
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(keys.shape[-1]) - slope * age
    weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1)


def ring_blind_to_the_new_one(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W = keys.shape[1]
    keys[:, count % W], values[:, count % W] = key, value
    age = (count - torch.arange(W)) % W
    seen = torch.arange(W) < count if 0 < count < W else age <= count
    return _ring(query, keys, values, age, seen, slope), keys, values


WRONG = {
    "query-of-row-0": lambda query, *rest: by_age(query[[0] * len(query)], *rest),
    "old-values-read": values_too_late,
    "empty-places-cut-off": with_the_taken_places_alone,
    "zero-mask": other_ring(hide=0.0),
    "seen-before-written": other_ring(early=True),
    "age-by-place": biased(lambda age, n, W: abs(n % W - (n - age) % W)),
    "places-in-order": biased(lambda age, n, W: W - 1 - (n - age) % W),
    "oldest-hidden": lambda *given: by_age(*given, oldest=lambda n, W: min(n, W - 2)),
    "new-token-hidden-at-first": ring_blind_to_the_new_one,
    "moved-up": by_shift,
    "no-scale": lambda *given: by_age(*given, scale=1.0),
    "only-up-to-the-new-place": lambda *given: by_age(*given, oldest=lambda n, W: n % W),
    "first-token-forgotten": lambda *given: by_age(
        *given, oldest=lambda n, W: max(0, min(n - 1, W - 1))
    ),
}


ODD = [
    (in_order_of_age, "misplaced"),
    (biased(lambda age, n, W: (age - 1) % W), "wrong-after"),
    (lambda *given: by_age(*given, scale=-0.5), "wrong-after"),
    (lambda query, *_: query, "type"),
    (lambda q, k, v, keys, values, *_: (v[0], keys, values), "shape"),
    (lambda *given: (by_rolling(*given)[0].squeeze(), *by_rolling(*given)[1:]), "axis-of-one"),
]


# --- Answers that no list names ---


# "token number n, counted from 0, goes into place n mod W": a queue that moves on holds the same
# tokens in other places.
def a_queue_when_it_is_full(query, key, value, keys, values, count, slope):
    W, D = keys.shape[1:]
    if count < W:
        keys, values = keys.clone(), values.clone()
        keys[:, count], values[:, count] = key, value
        age = count - torch.arange(W)
    else:
        keys = torch.cat([keys[:, 1:], key[:, None]], dim=1)
        values = torch.cat([values[:, 1:], value[:, None]], dim=1)
        age = torch.arange(W).flip(0)
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(D) - slope * age
    weights = scores.masked_fill(age < 0, -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), keys, values


# One who comes from Java, where the rest of −1 by 4 is −1, and looked for the same here.
# "Places that no token has taken yet must not be seen."
def rest_with_the_sign_of_java(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1], keys.shape[2]
    keys[:, count % W] = key
    values[:, count % W] = value
    age = torch.fmod(count - torch.arange(W), W)
    scores = (keys * query[:, None, :]).sum(dim=-1) / math.sqrt(D)
    scores = scores - slope * age
    scores = scores.masked_fill(age > count, -torch.inf)
    weights = scores.softmax(dim=-1)
    return (weights[:, :, None] * values).sum(dim=1), keys, values


def scored_before_written(query, key, value, keys, values, count, slope):
    """Computes the scores before the new key is written, so its place has the old key's score."""
    W, D = keys.shape[1:]
    scores = torch.einsum("bd,bwd->bw", query, keys) / math.sqrt(D)
    keys, values = keys.clone(), values.clone()
    keys[:, count % W] = key
    values[:, count % W] = value
    age = (count - torch.arange(W)) % W
    scores = (scores - slope * age).masked_fill(age > count, -torch.inf)
    weights = scores.softmax(dim=-1)
    return torch.einsum("bw,bwd->bd", weights, values), keys, values


UNLISTED = {
    5: [(a_queue_when_it_is_full, "moved-up")],
    9: [(rest_with_the_sign_of_java, "wrong-after")],
    14: [(scored_before_written, "wrong-after")],
}
