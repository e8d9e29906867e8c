"""Students' answers to 12/cache-step."""

import math

import torch
import torch.nn.functional as F


def row_by_row(
    query,
    key,
    value,
    keys,
    values,
    lengths,
    *,
    reach=1,
    at=None,
    scale=None,
    key_goes=True,
    value_goes=True,
):
    keys, values, out = keys.clone(), values.clone(), []
    for b, n in enumerate(lengths.tolist()):
        place = n if at is None else at(n)
        if key_goes:
            keys[b, :, place] = key[b]
        if value_goes:
            values[b, :, place] = value[b]
        end = n + reach
        out.append(
            F.scaled_dot_product_attention(
                query[b][:, None], keys[b][:, :end], values[b][:, :end], scale=scale
            )[:, 0]
        )
    return torch.stack(out), keys, values


def with_a_mask(query, key, value, keys, values, lengths):
    S = keys.shape[2]
    here = F.one_hot(lengths, S)[:, None, :, None].bool()
    keys = torch.where(here, key[:, :, None], keys)
    values = torch.where(here, value[:, :, None], values)
    mask = (torch.arange(S)[None] <= lengths[:, None])[:, None, None]
    out = F.scaled_dot_product_attention(query[:, :, None], keys, values, attn_mask=mask)
    return out.squeeze(2), keys, values


def by_einsum(query, key, value, keys, values, lengths):
    B, H, S, D = keys.shape
    keys, values = keys + 0, values + 0
    index = lengths.view(B, 1, 1, 1).expand(B, H, 1, D)
    keys.scatter_(2, index, key[:, :, None])
    values.scatter_(2, index, value[:, :, None])
    scores = torch.einsum("bhd,bhsd->bhs", query, keys) * D**-0.5
    scores[(torch.arange(S) > lengths[:, None])[:, None].expand(B, H, S)] = -torch.inf
    return torch.einsum("bhs,bhsd->bhd", scores.softmax(-1), values), keys, values


def masked(make, fill=-torch.inf):
    def answer(query, key, value, keys, values, lengths):
        _, keys, values = row_by_row(query, key, value, keys, values, lengths)
        B, H, S, D = keys.shape
        scores = torch.einsum("bhd,bhsd->bhs", query, keys) / D**0.5
        mask = make(torch.arange(S), lengths)[:, None].expand(B, H, S)
        weights = torch.where(mask, scores, torch.tensor(fill)).softmax(-1)
        return torch.einsum("bhs,bhsd->bhd", weights, values), keys, values

    return answer


def cut_afterwards(query, key, value, keys, values, lengths):
    _, keys, values = with_a_mask(query, key, value, keys, values, lengths)
    weights = (torch.einsum("bhd,bhsd->bhs", query, keys) / query.shape[-1] ** 0.5).softmax(-1)
    weights = weights * (torch.arange(keys.shape[2]) <= lengths[:, None])[:, None]
    return torch.einsum("bhs,bhsd->bhd", weights, values), keys, values


RIGHT = {"rows": row_by_row, "mask": with_a_mask, "einsum": by_einsum}


def looks_and_then_writes(query, key, value, keys, values, lengths):
    mask = (torch.arange(keys.shape[2]) <= lengths[:, None])[:, None, None]
    out = F.scaled_dot_product_attention(query[:, :, None], keys, values, attn_mask=mask)
    return out[:, :, 0], *with_a_mask(query, key, value, keys, values, lengths)[1:]


def cut_and_joined(join=lambda old, new: torch.cat([old, new], 1), look=None, back=None):
    """Each row is cut to its own tokens, (H, n, D), and joined with the new one."""

    def answer(query, key, value, keys, values, lengths):
        keys, values, out = keys.clone(), values.clone(), []
        for b, n in enumerate(lengths.tolist()):
            k = join(keys[b, :, :n], key[b].unsqueeze(1))
            v = join(values[b, :, :n], value[b].unsqueeze(1))
            scores = (query[b].unsqueeze(1) @ k.mT) / key.shape[-1] ** 0.5  # (H, 1, n + 1)
            out.append(((look or (lambda x: x.softmax(-1)))(scores) @ v).squeeze(1))
            k, v = back(k, v) if back else (k, v)
            keys[b, :, : k.shape[1]], values[b, :, : v.shape[1]] = k, v
        return torch.stack(out), keys, values

    return answer


def causal_flag(scores):
    return scores.masked_fill(torch.ones(scores.shape[1:]).tril() == 0, -torch.inf).softmax(-1)


def exchanged(*given):
    out, keys, values = by_einsum(*given)
    return out, values, keys


def with_an_added_mask(query, key, value, keys, values, lengths):
    _, keys, values = with_a_mask(query, key, value, keys, values, lengths)
    mask = (torch.arange(keys.shape[2])[None] <= lengths[:, None]).float()[:, None, None]
    out = F.scaled_dot_product_attention(query[:, :, None], keys, values, attn_mask=mask)
    return out[:, :, 0], keys, values


def one_head_written(query, key, value, keys, values, lengths):
    return row_by_row(query, key[:, :1].expand_as(key), value, keys, values, lengths)


def without_a_softmax(query, key, value, keys, values, lengths):
    _, keys, values = with_a_mask(query, key, value, keys, values, lengths)
    scores = (keys @ query[..., None])[..., 0] / key.shape[-1] ** 0.5
    scores = scores * (torch.arange(keys.shape[2]) <= lengths[:, None])[:, None]
    return (scores[..., None] * values).sum(2), keys, values


def _cache(query, key, value, keys, values, lengths, *, at=None, seen=None, scale=None):
    keys, values = keys.clone(), values.clone()
    rows, S = torch.arange(len(keys)), keys.shape[2]
    at = lengths if at is None else at
    keys[rows, :, at], values[rows, :, at] = key, value
    scores = torch.einsum("bhd,bhsd->bhs", query, keys) / (scale or math.sqrt(keys.shape[-1]))
    seen = torch.arange(S) <= lengths[:, None] if seen is None else seen(S)
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return torch.einsum("bhs,bhsd->bhd", weights, values), keys, values


def hides_the_first(query, key, value, keys, values, lengths):
    def seen(S):
        places = torch.arange(S)
        return (places <= lengths[:, None]) & ((places > 0) | (lengths == 0)[:, None])

    return _cache(query, key, value, keys, values, lengths, seen=seen)


# "0 ≤ lengths[b]", and a row of length 0 sees its new token alone.
def an_empty_row_sees_a_leftover(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    rows, S = torch.arange(len(keys)), keys.shape[2]
    keys[rows, :, lengths] = key
    values[rows, :, lengths] = value
    scores = (query.unsqueeze(2) * keys).sum(dim=-1) / math.sqrt(keys.shape[-1])
    seen = torch.arange(S) <= lengths.clamp(min=1)[:, None]
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(-1) * values).sum(dim=2), keys, values


def _looked(query, keys, values, seen):
    scores = (query.unsqueeze(2) * keys).sum(dim=-1) / math.sqrt(keys.shape[-1])
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(-1) * values).sum(dim=2)


def step_that_adds_to_the_place(query, key, value, keys, values, lengths):
    """Adds the new key and value to what was left over in their place."""
    keys, values = keys.clone(), values.clone()
    rows = torch.arange(len(keys))
    keys[rows, :, lengths] += key
    values[rows, :, lengths] += value
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]
    return _looked(query, keys, values, seen), keys, values


def written_at_the_places_of_all_rows(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    keys[:, :, lengths] = key.unsqueeze(2)
    values[:, :, lengths] = value.unsqueeze(2)
    scores = (query.unsqueeze(2) * keys).sum(dim=-1) / math.sqrt(keys.shape[-1])
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(-1) * values).sum(dim=2), keys, values


# "The places after them hold leftovers of other texts and mean nothing", however large they are
def leftovers_lowered_by_a_hundred(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    rows, S = torch.arange(len(keys)), keys.shape[2]
    keys[rows, :, lengths], values[rows, :, lengths] = key, value
    unseen = torch.arange(S) > lengths[:, None]
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(keys.shape[-1])
    weights = (scores - 100.0 * unseen[:, None]).softmax(dim=-1)
    return (weights.unsqueeze(2) @ values).squeeze(2), keys, values


def attend(query, keys, values, seen):
    scores = (query.unsqueeze(2) * keys).sum(dim=-1) / math.sqrt(keys.shape[-1])
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(-1) * values).sum(dim=2)


# "its key and value go to the first free place of its row"
def written_behind_the_longest_row(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    place = int(lengths.max())
    keys[:, :, place], values[:, :, place] = key, value
    at = torch.arange(keys.shape[2])
    seen = (at < lengths[:, None]) | (at == place)
    return attend(query, keys, values, seen), keys, values


def step_with_the_value_too_late(query, key, value, keys, values, lengths):
    keys, before = keys.clone(), values
    rows, values = torch.arange(len(keys)), values.clone()
    keys[rows, :, lengths] = key
    values[rows, :, lengths] = value
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]
    return _looked(query, keys, before, seen), keys, values


WRONG = {
    "overwrites-the-last": lambda *given: row_by_row(*given, at=lambda n: n - 1),
    "put-before-the-row": cut_and_joined(lambda old, new: torch.cat([new, old], 1)),
    "begins-again": cut_and_joined(lambda old, new: new),
    "new-one-not-returned": lambda *given: (by_einsum(*given)[0], given[3], given[4]),
    "float-mask-added": with_an_added_mask,
    "only-place-0-seen": cut_and_joined(look=causal_flag),
    "softmax-over-queries": cut_and_joined(look=lambda scores: scores.softmax(-2)),
    "keys-and-values-exchanged": exchanged,
    "seen-before-written": looks_and_then_writes,
    "masked-after-softmax": cut_afterwards,
    "place-0-hidden": hides_the_first,
    "empty-row-sees-more": an_empty_row_sees_a_leftover,
    "added-to-what-was-there": step_that_adds_to_the_place,
    "written-at-all-places": written_at_the_places_of_all_rows,
    "lowered-too-little": leftovers_lowered_by_a_hundred,
    "written-behind-the-longest": written_behind_the_longest_row,
    "written-at-the-end": lambda *given: row_by_row(*given, at=lambda n: -1),
    "old-values-read": step_with_the_value_too_late,
    "no-scale": lambda *given: row_by_row(*given, scale=1.0),
    "zero-mask": masked(lambda s, n: s[None] <= n[:, None], fill=0.0),
}


def one_number_written(query, key, value, keys, values, lengths):
    place = lengths.long().view(-1, 1, 1, 1)
    keys = keys.scatter(2, place, key.unsqueeze(2))
    values = values.scatter(2, place, value.unsqueeze(2))
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]
    mask = seen[:, None, None]
    found = F.scaled_dot_product_attention(query.unsqueeze(2), keys, values, attn_mask=mask)
    return found.squeeze(2), keys, values


def scored_by_the_old_keys(query, key, value, keys, values, lengths):
    _, new_keys, new_values = row_by_row(query, key, value, keys, values, lengths)
    scores = (keys @ query[..., None])[..., 0] / key.shape[-1] ** 0.5
    hidden = (torch.arange(keys.shape[2]) > lengths[:, None])[:, None]
    weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
    return (weights[:, :, None] @ new_values)[:, :, 0], new_keys, new_values


ODD = [
    (masked(lambda s, n: s[None] <= n.min().expand(len(n), 1)), "other-found"),
    (scored_by_the_old_keys, "other-found"),
    (without_a_softmax, "other-found"),
    (one_head_written, "misplaced"),
    (one_number_written, "misplaced"),
    (masked(lambda s, n: (s[None] <= n[:, None]) & (s[None] > n[:, None] - 2)), "other-found"),
    (
        lambda *given: row_by_row(*given, scale=-(given[0].shape[2] ** -0.5)),
        "turned-the-sign-of-the-products-of-queries-and-keys",
    ),
    (lambda *given: (3 * row_by_row(*given)[0], *row_by_row(*given)[1:]), "other-found"),
    (lambda q, k, v, keys, values, n: (q, keys, values), "misplaced"),
    (lambda q, k, v, keys, values, n: q, "type"),
    (lambda q, k, v, keys, values, n: (q / 0, keys, values), "not-finite"),
    (lambda q, k, v, keys, values, n: (q[0], keys, values), "shape"),
]


# --- Answers that no list names ---


def everybodys_length(query, key, value, keys, values, lengths):
    longest = lengths.max().expand(len(lengths))
    return _cache(query, key, value, keys, values, longest)


def step_at_the_place_of_the_longest(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    place = int(lengths.max())
    keys[:, :, place], values[:, :, place] = key, value
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]
    return _looked(query, keys, values, seen), keys, values


# "as new tensors: the ones you are given stay as they are": the values too
def values_written_in_place(query, key, value, keys, values, lengths):
    rows = torch.arange(len(keys))
    keys = keys.index_put((rows[:, None], torch.arange(keys.shape[1]), lengths[:, None]), key)
    values[rows, :, lengths] = value
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(keys.shape[-1])
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(2) @ values).squeeze(2), keys, values


def trimmed_too_short(query, key, value, keys, values, lengths):
    """Sees only the first max(lengths) places, so the longest row misses its own new token."""
    keys, values = keys.clone(), values.clone()
    rows = torch.arange(len(lengths))
    keys[rows, :, lengths] = key
    values[rows, :, lengths] = value
    used = int(lengths.max())
    scores = torch.einsum("bhd,bhsd->bhs", query, keys[:, :, :used]) / math.sqrt(query.shape[-1])
    seen = torch.arange(used) <= lengths[:, None]
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return torch.einsum("bhs,bhsd->bhd", weights, values[:, :, :used]), keys, values


UNLISTED = {
    1: [(everybodys_length, "misplaced")],
    2: [(step_at_the_place_of_the_longest, "written-behind-the-longest")],
    6: [(values_written_in_place, "changes-its-input")],
    13: [(trimmed_too_short, "other-found")],
}
