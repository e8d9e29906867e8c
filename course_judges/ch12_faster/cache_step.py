"""Judges 12/cache-step: one new token for rows of different lengths."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.attention_weights import weights_on
from course_judges.ch12_faster.numbers import farthest, row_of_weights
from course_judges.ch12_faster.sections import ROW
from course_judges.ch12_faster.weights import (
    READABLE,
    Sight,
    factor_of_scores,
    of_a_factor,
    of_no_softmax,
    of_one_place,
    sight,
    total_of_each,
)
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, row, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

CacheStep = Callable[..., tuple[Tensor, Tensor, Tensor]]


def cache_step(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """A right answer to 12/cache-step: (B, H, D) three times, (B, H, S, D) twice, (B,) → (B, H, D)
    and both caches.
    """
    keys, values = keys.clone(), values.clone()
    rows = torch.arange(len(keys))
    D = keys.shape[-1]  # D
    free = lengths.clone()  # the free places (B,)
    keys[rows, :, free] = key  # the new keys
    values[rows, :, free] = value  # the new values
    last = lengths[:, None]  # the last place of each row (B, 1)
    visible = torch.arange(keys.shape[2]) <= last  # the mask (B, S)
    products = (query.unsqueeze(2) * keys).sum(dim=-1)  # the products of queries and keys (B, H, S)
    scores = products / math.sqrt(D)  # the scores (B, H, S)
    masked = scores.masked_fill(~visible[:, None], -torch.inf)  # the masked scores (B, H, S)
    weights = masked.softmax(dim=-1)  # the weights (B, H, S)
    found = (weights.unsqueeze(-1) * values).sum(dim=2)  # your output (B, H, D)
    return found, keys, values


def _written(
    key: Tensor, value: Tensor, keys: Tensor, values: Tensor, places: Tensor
) -> tuple[Tensor, Tensor]:
    """(B, H, D) twice, (B, H, S, D) twice, (B,) → both caches with the new token."""
    rows = torch.arange(len(keys))
    keys, values = keys.clone(), values.clone()
    keys[rows, :, places], values[rows, :, places] = key, value
    return keys, values


def _seen(keys: Tensor, lengths: Tensor) -> Tensor:
    """(B, S) True up to each row's new token."""
    return torch.arange(keys.shape[2]) <= lengths[:, None]


def _looked(
    query: Tensor, keys: Tensor, values: Tensor, seen: Tensor, lowered: float = math.inf
) -> Tensor:
    """What the queries find, (B, H, D), if scores are lowered where `seen` (B, S) is False."""
    scores = (query.unsqueeze(2) * keys).sum(dim=-1) / math.sqrt(keys.shape[-1])
    weights = torch.where(seen[:, None], scores, scores - lowered).softmax(dim=-1)
    return (weights.unsqueeze(-1) * values).sum(dim=2)


def _places(evidence: Evidence) -> str:
    return (
        f"There is room for {evidence.number('S')} tokens in each row, and the rows held "
        f"{listed(evidence.inputs['lengths'])} before the new one."
    )


def _lengths(evidence: Evidence) -> str:
    return f"{_places(evidence)} {farthest(evidence, 'out', 'output')}"


_KEPT = ("kept", "kept_short")
_NEW = ("query", "key", "value")


def _kept_lengths(evidence: Evidence) -> str:
    return f"{_places(evidence)} {farthest(evidence, 'kept.keys', 'keys')}"


def _written_to(place: Callable[[Tensor], Tensor]) -> CacheStep:
    """A step that writes to other places, chosen by the lengths."""

    def step(
        query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        keys, values = _written(key, value, keys, values, place(lengths))
        return _looked(query, keys, values, _seen(keys, lengths)), keys, values

    return step


Seen = Callable[[Tensor, Tensor], Tensor]


def _up_to_the_new_one(place: Tensor, lengths: Tensor) -> Tensor:
    """(S,), (B, 1) → (B, S) bool."""
    return place <= lengths


def _last_kept(lengths: Tensor) -> Tensor:
    return (lengths - 1).clamp(min=0)


def _scores(query: Tensor, keys: Tensor) -> Tensor:
    return (query.unsqueeze(2) * keys).sum(-1) / math.sqrt(keys.shape[-1])  # (B, H, S)


def _variant(
    *,
    seen: Seen = _up_to_the_new_one,
    goes: Callable[[Tensor], Tensor] = lambda lengths: lengths,
    scores: Callable[[Tensor, Tensor], Tensor] = _scores,
    hidden: float = -math.inf,
    lowered: float = 0.0,
    after_softmax: bool = False,
    writes: tuple[bool, bool] = (True, True),
    copies: bool = True,
    reads_old: bool = False,
    reads_keys: bool = False,
    empties: bool = False,
    adds: bool = False,
    wraps: bool = False,
    asks_with_the_key: bool = False,
    old_keys: bool = False,
    all_places: bool = False,
    looks_first: bool = False,
    weighs: Callable[[Tensor], Tensor] = lambda scores: scores.softmax(dim=-1),
) -> CacheStep:
    """A step that does one thing differently."""

    def step(
        query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        keys_before, before = keys, values
        if copies:
            keys, values = keys.clone(), values.clone()
        rows = torch.arange(len(keys))
        at = (
            (slice(None), slice(None), lengths)
            if all_places
            else (rows, slice(None), goes(lengths) % keys.shape[2] if wraps else goes(lengths))
        )
        new = (key.unsqueeze(2), value.unsqueeze(2)) if all_places else (key, value)
        for written, held, one in zip(writes, (keys, values), new, strict=True):
            if written:
                held[at] = held[at] + one if adds else one
        place = torch.arange(keys.shape[2])
        visible = seen(place, lengths[:, None])[:, None]  # (B, 1, S)
        found = scores(
            key if asks_with_the_key else query, keys_before if looks_first or old_keys else keys
        )
        found = found - lowered * ~visible if lowered else found.masked_fill(~visible, hidden)
        if after_softmax:
            found = scores(query, keys)
        weights = weighs(found) * (visible if after_softmax else 1)
        read = before if reads_old or looks_first else keys if reads_keys else values
        if empties:  # hidden places hold zeros, but still have a share
            read = read * visible.unsqueeze(-1)
        return (weights.unsqueeze(-1) * read).sum(dim=2), keys, values

    return step


_overwrites_the_last = mistake(
    "You wrote the new token over the last one that was kept.",
    lambda e: (
        f"With n tokens kept, places 0 to n − 1 are taken and place n is free. {_kept_lengths(e)}"
    ),
    cases=_KEPT,
    also=(
        _variant(goes=_last_kept),
        _variant(goes=_last_kept, seen=lambda place, lengths: place <= _last_kept(lengths)),
    ),
)(_variant(goes=lambda lengths: lengths - 1))


_begins_again = mistake(
    "You wrote the new token to place 0 and let it see only itself, as if all rows were empty.",
    lambda e: (
        f"It belongs behind the tokens of its row and should see them too. {_kept_lengths(e)}"
    ),
)(_variant(goes=lambda lengths: 0 * lengths, seen=lambda place, lengths: place <= 0 * lengths))


_written_at_the_end = mistake(
    "You wrote the new token into the last place, S − 1, whatever the length of its row.",
    _kept_lengths,
    cases=_KEPT,
)(_written_to(lambda lengths: 0 * lengths - 1))

_written_behind_the_longest = mistake(
    "You wrote the new tokens of all rows behind the longest row, but each row has its own place.",
    _kept_lengths,
    cases=_KEPT,
)(_written_to(lambda lengths: 0 * lengths + lengths.max()))


@mistake(
    "You averaged the old values, without the new one.",
    lambda e: unwrapped(f"""Your scores use the new key, but its place still holds a leftover value.
    Write key and value first, and look afterwards. {_lengths(e)}"""),
)
def _old_values_read(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    new_keys, new_values = _written(key, value, keys, values, lengths)
    return _looked(query, new_keys, values, _seen(keys, lengths)), new_keys, new_values


@mistake(
    "You look before you write the new token, so you see what was in its place before.",
    lambda e: f"Write key and value first, and use the written cache to look. {_lengths(e)}",
    cases=("out", "short", *_KEPT),
)
def _seen_before_written(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    found = _looked(query, keys, values, _seen(keys, lengths))
    return found, *_written(key, value, keys, values, lengths)


def _seeing(seen: Callable[[Tensor, Tensor], Tensor], lowered: float = math.inf) -> CacheStep:
    """A step in which each row sees other places; the rest is lowered by some number."""

    def step(
        query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        keys, values = _written(key, value, keys, values, lengths)
        places = torch.arange(keys.shape[2])
        return _looked(query, keys, values, seen(places, lengths[:, None]), lowered), keys, values

    return step


_no_scale = families.no_scale(_lengths)(Like("left-out-the-division-by-root-of-D-in-the-scores"))

_only_place_0_seen = mistake(
    "Each of your rows sees only place 0, but a new token sees its whole row and itself.",
    lambda e: unwrapped(f"""That is row 0 of the triangle, and `is_causal=True` uses it for a single
    query, too. After n tokens the new one is at position n, so it needs row n. {_lengths(e)}"""),
)(_seeing(lambda places, lengths: places <= 0 * lengths))

_place_0_hidden = mistake("You hid place 0, which holds the first token of each row.", _lengths)(
    _seeing(lambda places, lengths: (places <= lengths) & ((places > 0) | (lengths == 0)))
)

_empty_row_sees_more = mistake(
    "Your row of length 0 sees two places, but only place 0 belongs to it.", _lengths
)(_seeing(lambda places, lengths: places <= lengths.clamp(min=1)))

_float_mask_added = mistake(
    "You added your mask of 1 and 0 to the scores, which hides nothing.",
    lambda e: unwrapped(f"""Places that are seen get a score that is larger by 1, and that is all.
    A mask for `scaled_dot_product_attention` has to be of type bool, or hold 0 and −inf.
    {_lengths(e)}"""),
)(_seeing(torch.le, lowered=1.0))

_lowered_too_little = mistake(
    "You lower the scores of hidden places by a fixed number, which isn't enough here.",
    lambda e: (
        f"Leftovers can have larger scores than that, but −inf hides any score. {_lengths(e)}"
    ),
    also=tuple(_seeing(torch.le, lowered=by) for by in (10.0, 1000.0)),
)(_seeing(torch.le, lowered=100.0))


def _leftovers_become_zeros(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    new_keys, new_values = _written(key, value, keys, values, lengths)
    seen = _seen(keys, lengths)
    kept = seen[:, None, :, None]
    return _looked(query, new_keys * kept, new_values * kept, seen, 0.0), new_keys, new_values


_zero_mask = mistake(
    "You gave hidden places a score of 0, which doesn't hide them because e⁰ = 1.",
    lambda e: (
        unwrapped(f"""Hidden places need a score of −inf. If you wrote −1e−9, which is almost 0,
    did you mean −1e9? {_lengths(e)}""")
    ),
    also=(_leftovers_become_zeros,),
)(Like("filled-with-0-instead-of-minus-infinity-in-the-masked-scores"))


@families.masked_after_softmax(_lengths)
def _masked_after_softmax(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    new_keys, new_values = _written(key, value, keys, values, lengths)
    seen = _seen(keys, lengths)
    found = _looked(query, new_keys, new_values * seen[:, None, :, None], seen, 0.0)
    return found, new_keys, new_values


@mistake(
    "You gave each place that you look at a weight of 1, but a head's weights should sum to 1.",
    lambda e: unwrapped(f"""A softmax over the queries does that, since there is only one query. It
    should run over the places, which is `dim=-1` of scores (B, H, S). {_lengths(e)}"""),
)
def _softmax_over_queries(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    _, keys, values = cache_step(query, key, value, keys, values, lengths)
    return (_seen(keys, lengths)[:, None, :, None] * values).sum(dim=2), keys, values


@mistake(
    "You added the new key and value to what was in their place instead of replacing it.",
    lambda e: f"A free place still holds leftovers of other texts. {_kept_lengths(e)}",
)
def _added_to_what_was_there(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    rows = torch.arange(len(keys))
    old = keys[rows, :, lengths], values[rows, :, lengths]
    return cache_step(query, key + old[0], value + old[1], keys, values, lengths)


@mistake(
    "You wrote each row's new token to the places of all rows instead of its own only.",
    lambda e: unwrapped(f"""`keys[:, :, lengths]` selects all these places in every row, but
    `keys[torch.arange(B), :, lengths]` selects one place a row, (B, H, D). {_kept_lengths(e)}"""),
)
def _written_at_all_places(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    keys, values = keys.clone(), values.clone()
    keys[:, :, lengths], values[:, :, lengths] = key.unsqueeze(2), value.unsqueeze(2)
    return _looked(query, keys, values, _seen(keys, lengths)), keys, values


@mistake(
    "Your output is right, but the keys and values you return don't hold the new token.",
    lambda e: unwrapped(f"""The next step wouldn't see it. Return the tensors that you wrote into.
    {_kept_lengths(e)}"""),
)
def _new_one_not_returned(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    found, _, _ = _variant()(query, key, value, keys, values, lengths)
    return found, keys.clone(), values.clone()


def _put_in_front(whole: bool) -> CacheStep:
    """A step that puts the new token in front of its row; with `whole` the leftovers behind the row
    move up, too.
    """

    def step(
        query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        found, _, _ = _variant()(query, key, value, keys, values, lengths)
        place = torch.arange(keys.shape[2])
        behind = (place > lengths[:, None])[:, None, :, None]  # (B, 1, S, 1)
        moved = []
        for held, new in ((keys, key), (values, value)):
            after = torch.cat([new.unsqueeze(2), held[:, :, :-1]], dim=2)
            moved.append(after if whole else torch.where(behind, held, after))
        return found, moved[0], moved[1]

    return step


_put_before_the_row = mistake(
    "You put the new token in front of its row, at place 0, and moved the others up by one.",
    lambda e: (
        unwrapped(f"""The output of a step doesn't depend on the order of the tokens, but a token's
    place is its position, and the first free place is behind the row. {_kept_lengths(e)}""")
    ),
    also=(_put_in_front(whole=True),),
)(_put_in_front(whole=False))


@mistake(
    "You swapped keys and values in what you return.",
    lambda e: f"The output comes first, then the keys, then the values. {_kept_lengths(e)}",
)
def _keys_and_values_exchanged(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    found, keys, values = cache_step(query, key, value, keys, values, lengths)
    return found, values, keys


def _where(mine: Array, given: Array, new: Array, n: int) -> str:
    """Where one row's new vectors, (H, D), are among its places, (H, S, D), and which other places
    have changed; empty if all is right.
    """
    at = [s for s in range(mine.shape[1]) if close(mine[:, s], new).all()]
    others = [s for s in range(mine.shape[1]) if s not in at]
    moved = [s for s in others if not close(mine[:, s], given[:, s]).all()]
    if at == [n] and not moved:
        return ""
    found = f"is at {_of_places(at)}" if at else "isn't anywhere"
    if not at and (part := _in_part(mine[:, n], given[:, n], new)):
        found = f"{part}, and the others at place {n} are still the old ones"
        moved = [s for s in moved if s != n]
    if not moved:
        return found
    kept = np.asarray(close(mine[:, moved], given[:, moved])).any()
    gone = "0" if not mine[:, moved].any() else "no longer all there" if kept else "gone"
    return f"{found}, and the old numbers of {_of_places(moved)} are {gone}"


def _in_part(mine: Array, given: Array, new: Array) -> str:
    """Which of the new numbers (H, D) are at their place, if all others there are the old ones;
    empty if it isn't so.
    """
    fresh = np.asarray(close(mine, new))
    if not fresh.any() or not np.asarray(fresh | close(mine, given)).all():
        return ""
    heads = np.flatnonzero(fresh.all(axis=1))
    if fresh.sum() == fresh[heads].sum():
        return f"is right in head {listed(heads)} alone"
    h, d = (int(i) for i in np.argwhere(fresh)[0])
    such = "" if fresh.sum() == 1 else "such as "
    return unwrapped(f"""arrived with only {fresh.sum()} of its {fresh.size} numbers, {such}number
    {d} of head {h} (`scatter`, for one, writes only as many numbers as its index has)""")


def _misplaced(evidence: Evidence) -> Finding | None:
    """Where the new key and value of a row went, and what else changed."""
    for case, lengths in (("kept", "lengths"), ("kept_short", "short")):
        for held, one in (("keys", "key"), ("values", "value")):
            mine, given = evidence.yours(f"{case}.{held}"), evidence.inputs[held]
            if mine.shape != given.shape:
                return None
            for b, n in enumerate(evidence.inputs[lengths]):
                said = _where(mine[b], given[b], evidence.inputs[one][b], int(n))
                other = "value" if one == "key" else "key"
                if said and close(mine[b, :, n], evidence.inputs[other][b]).all():
                    said += f", and place {n} holds the new {other}"
                if said:
                    return Finding(
                        "misplaced",
                        f"You didn't return the given `{held}` with each row's new {one} at its "
                        "first free place.",
                        f"Row {b} has {n} tokens, so its new {one} belongs to place {n}. In your "
                        f"`{held}` it {said}. All other places of the row should stay as they are.",
                        ROW,
                    )
    return None


def _solved(evidence: Evidence) -> tuple[Array, Array] | None:
    """The weights of your output and of the right one, (B, H, S) each; None where the right ones
    can't be solved for, and NaN where yours aren't weights of the values.
    """
    values, found = evidence.right("kept.values"), (evidence.yours("out"), evidence.right("out"))
    mine, right = (np.full(values.shape[:3], np.nan) for _ in found)
    for b, h in np.ndindex(values.shape[:2]):
        for made, side in zip((mine, right), found, strict=True):
            weights = weights_on(values[b, h], side[b, h])
            if weights is not None:
                made[b, h] = weights
    return None if np.isnan(right).any() else (mine, right)


def _sights(mine: Array, right: Array, lengths: list[int]) -> list[Sight] | None:
    """What each row sees, if all weights have the right proportions there."""
    place = np.arange(mine.shape[2])
    sights = [
        sight(of_yours, of_right, place <= n)
        for of_yours, of_right, n in zip(mine, right, lengths, strict=True)
    ]
    found = [one for one in sights if one is not None]
    return found if len(found) == len(sights) else None


def _other_places(sights: list[Sight], lengths: list[int]) -> str:
    """What rows see that shouldn't, or don't see that should; empty if there is nothing."""
    rows = []
    for b, (one, n) in enumerate(zip(sights, lengths, strict=True)):
        missed = [s for s in one.unseen if s <= n]
        more = [s for s in one.seen if s > n]
        if missed or more:
            rows.append((b, n, missed, more))
    if not rows:
        return ""
    b, n, missed, more = max(rows, key=lambda one: (one[1] > 0, len(one[2]), -one[0]))
    said = [f"doesn't see {_of_places(missed)}"] if missed else []
    said += [f"sees {_of_places(more)} behind its new token"] if more else []
    new = f" Place {n} is that of the new token." if n in missed else ""
    return unwrapped(f"""Row {b} had {n} {"token" if n == 1 else "tokens"} before the new one, so it
    should see places 0 to {n}. It {" and ".join(said)}.{new}{_one_length(sights)} All that
    it sees has the right proportions, so look at what you hide.""")


def _one_length(sights: list[Sight]) -> str:
    """A sentence on the last place that all rows see, if they see equally many."""
    last = max(max(one.seen) for one in sights)
    alike = all(last in one.seen or min(one.unseen, default=0) > last for one in sights)
    if alike and all(s > last for one in sights for s in one.unseen):
        which = f"places 0 to {last}" if last else "place 0"
        return f" All your rows see {which}, whatever their lengths."
    return ""


def _of_places(places: list[int]) -> str:
    return f"place {places[0]}" if len(places) == 1 else f"places {listed(places)}"


def _along_the_heads(mine: Array, lengths: list[int]) -> str:
    """A sentence on weights (B, H, S) that sum to 1 over the heads instead of the places; empty if
    they don't.
    """
    seen = np.arange(mine.shape[2]) <= np.array(lengths)[:, None]  # (B, S)
    heads = mine.sum(axis=1)[seen]
    if mine.shape[1] > 1 and np.allclose(heads, 1, atol=READABLE):
        return "At each place that a row sees, your weights sum to 1 over the heads."
    return ""


def _of_all_weights(evidence: Evidence, mine: Array, right: Array) -> str:
    """What all weights have in common, (B, H, S) each; empty if nothing is known."""
    lengths = [int(n) for n in evidence.inputs["lengths"]]
    if said := _along_the_heads(mine, lengths):
        return f"{said} The softmax should run over the places, `dim=-1` of scores (B, H, S)."
    S, H = mine.shape[2], mine.shape[1]
    flat = mine.reshape(-1, S), right.reshape(-1, S)
    totals = total_of_each(*flat)
    if totals is not None:
        return "Your weights have the right proportions, but they should sum to 1."
    seen = np.arange(S) <= np.array(lengths).repeat(H)[:, None]
    if said := of_no_softmax(*flat, seen):
        return said
    factor = factor_of_scores(*flat)
    if factor is not None and abs(flat[0].sum(axis=1) - 1).max() < READABLE:
        D = evidence.number("D")
        return of_a_factor(factor, D, {"S": S, "H": H, "(H · D)": H * D})
    sights = _sights(mine, right, lengths)
    if sights is not None and (said := _other_places(sights, lengths)):
        return said
    off = [of_one_place(mine[b, h], right[b, h]) for b, h in np.ndindex(mine.shape[:2])]
    known = [(place, lengths[i // H]) for i, place in enumerate(off) if place is not None]
    if known and all(place == n for place, n in known):
        return "Only the weight of the new token is out of proportion to the others."
    return ""


def _right_rows(wrong: Array, B: int) -> str:
    """A sentence on the rows whose output is right, if there are any."""
    good = [b for b in range(B) if b not in wrong[:, 0]]
    if not good:
        return ""
    return f" Your output is right in {'row' if len(good) == 1 else 'rows'} {listed(good)}."


def _other_weights(evidence: Evidence) -> Finding | None:
    """If keys and values are right but the output isn't, its weights are solved for."""
    if not evidence.same(*_KEPT) or evidence.same("out"):
        return None
    mine, right = evidence.yours("out"), evidence.right("out")
    wrong = np.argwhere(~close(mine, right).all(axis=-1))
    lengths = evidence.inputs["lengths"]
    b, h = (int(i) for i in min(wrong, key=lambda place: (lengths[place[0]] == 0, tuple(place))))
    n = int(lengths[b])
    begin = f"In row {b}, with {n} tokens before the new one, head {h}"
    solved = _solved(evidence)
    if solved is None:  # with so few numbers, other weights could give the same output
        return Finding(
            "other-found",
            "Your keys and values are right, but your output isn't.",
            f"{begin} finds {row(mine[b, h])} instead of {row(right[b, h])}.",
            ROW,
        )
    weights, wanted = (side[b, h] for side in solved)
    if np.isnan(solved[0]).any():
        if any(close(mine - right, evidence.inputs[one]).all() for one in _NEW):
            return None  # that one of them was added says more
        b, h = (int(i) for i in np.argwhere(np.isnan(solved[0]).any(axis=-1))[0])
        return Finding(
            "other-found",
            "Your keys and values are right, but your output isn't a weighted sum of these values.",
            f"In row {b}, with {lengths[b]} tokens before the new one, head {h} finds something "
            "that no weights make of the values you return for this row and head. Did you use "
            "others, such as those before the new one was written, or those of another row or "
            "head?",
            ROW,
        )
    behind = weights[n + 1 :]
    leftovers = (
        f" The places behind the new token get {number(float(behind.sum()))}."
        if abs(behind).max(initial=0) > READABLE
        else ""
    )
    total = (
        f" Yours sum to {number(float(weights.sum()))}."
        if abs(weights.sum() - 1) > READABLE
        else ""
    )
    return Finding(
        "other-found",
        "Your keys and values are right, but the weights with which you look at them aren't.",
        f"{_of_all_weights(evidence, *solved)}{_right_rows(wrong, len(lengths))} {begin} looks at "
        f"places 0 to {n} with {row_of_weights(weights[: n + 1])} instead of "
        f"{row_of_weights(wanted[: n + 1])}.{total}{leftovers}".strip(),
        ROW,
    )


TASK = Task(
    "A step with a cache",
    cache_step,
    ROW,
    (
        Part("Each row looks at its own past and at itself.", 3, matches("out", "short")),
        Part("Key and value are behind what the row had.", 3, matches(*_KEPT)),
    ),
    properties=(_misplaced, _other_weights),
    steps={
        "the free places": Step(
            "Row b holds `lengths[b]` tokens, so the next one goes to place `lengths[b]`."
        ),
        "the new keys": Step("The new key belongs behind those of its own row."),
        "the new values": Step("The new value belongs behind those of its own row."),
        "the last place of each row": Step(
            "The new token is at place `lengths[b]`, and it sees itself, too."
        ),
        "the mask": Step("A row sees what it held before, and the new token."),
        "the products of queries and keys": Step("The new query meets every key of its own row."),
        "D": Step("A product is a sum of D terms, so D sets its scale."),
        "the scores": Step("A product is a sum of D terms, so D sets its scale."),
        "the masked scores": Step(
            "The places behind a row hold leftovers of other texts, so they get no weight at all."
        ),
        "the weights": Step("Each row is an average of its own, so its weights sum to 1."),
        "your output": Step("What a row gets is the weighted average of its values."),
    },
)
