"""Judges 12/cache-step: one new token for rows of different lengths."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch12_faster.numbers import farthest, row_of_weights
from course_judges.ch12_faster.sections import ROW
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.mixtures import weights_on
from course_judges.wording import listed, number, row, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

Step = Callable[..., tuple[Tensor, Tensor, Tensor]]
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
    empties: bool = False,
    adds: bool = False,
    all_places: bool = False,
    looks_first: bool = False,
    weighs: Callable[[Tensor], Tensor] = lambda scores: scores.softmax(dim=-1),
) -> Step:
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
            else (rows, slice(None), goes(lengths))
        )
        new = (key.unsqueeze(2), value.unsqueeze(2)) if all_places else (key, value)
        for written, held, one in zip(writes, (keys, values), new, strict=True):
            if written:
                held[at] = held[at] + one if adds else one
        place = torch.arange(keys.shape[2])
        visible = seen(place, lengths[:, None])[:, None]  # (B, 1, S)
        found = scores(query, keys_before if looks_first else keys)
        found = found - lowered * ~visible if lowered else found.masked_fill(~visible, hidden)
        if after_softmax:
            found = scores(query, keys)
        weights = weighs(found) * (visible if after_softmax else 1)
        read = before if reads_old or looks_first else values
        if empties:  # hidden places hold zeros, but still have a share
            read = read * visible.unsqueeze(-1)
        return (weights.unsqueeze(-1) * read).sum(dim=2), keys, values

    return step


def _with_ones(scores: Tensor) -> Tensor:
    """What a softmax over a single query gives: 1 at every place that is seen."""
    return torch.isfinite(scores).to(scores.dtype)


def _places(evidence: Evidence) -> str:
    return (
        f"There is room for {evidence.number('S')} tokens in each row, and the rows held "
        f"{listed(evidence.inputs['lengths'])} before the new one."
    )


def _lengths(evidence: Evidence) -> str:
    return f"{_places(evidence)} {farthest(evidence, 'out', 'output')}"


_KEPT = ("kept", "kept_short")


def _kept_lengths(evidence: Evidence) -> str:
    return f"{_places(evidence)} {farthest(evidence, 'kept.keys', 'keys')}"


_sees_what_is_left_over = mistake(
    "Each of your rows looks at all S places, even at those behind its own length.",
    lambda e: f"Those places hold leftovers of other texts. {_lengths(e)}",
)(_variant(seen=lambda place, lengths: (place >= 0).expand(len(lengths), -1)))

_longest_for_all = mistake(
    "You used the length of the longest row for all rows, but each row has its own.", _lengths
)(_variant(seen=lambda place, lengths: place <= lengths.max() + 0 * lengths))

_first_row_for_all = mistake(
    "You used the length of row 0 for all rows, but each row has its own.", _lengths
)(_variant(seen=lambda place, lengths: place <= lengths[0] + 0 * lengths))

_new_token_hidden = mistake(
    "Your new token doesn't see itself.",
    lambda e: f"In the triangle, row t ends with position t itself. {_lengths(e)}",
)(_variant(seen=lambda place, lengths: place < lengths))

_one_too_far = mistake(
    "Each of your rows sees one place too many, the one behind the new token.", _lengths
)(_variant(seen=lambda place, lengths: place <= lengths + 1))

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
)(_variant(goes=lambda lengths: 0 * lengths - 1))

_written_behind_the_longest = mistake(
    "You wrote the new tokens of all rows behind the longest row, but each row has its own place.",
    _kept_lengths,
    cases=_KEPT,
)(_variant(goes=lambda lengths: 0 * lengths + lengths.max()))

_value_not_written = mistake(
    "You kept the new key but not the new value.", lambda e: farthest(e, "kept.values", "values")
)(_variant(writes=(True, False)))

_key_not_written = mistake(
    "You kept the new value but not the new key.", lambda e: farthest(e, "kept.keys", "keys")
)(_variant(writes=(False, True)))

_old_values_read = mistake(
    "You averaged the old values, without the new one.",
    lambda e: unwrapped(f"""Your scores use the new key, but its place still holds a leftover value.
    Write key and value first, and look afterwards. {_lengths(e)}"""),
)(_variant(reads_old=True))

_nothing_written = mistake(
    "You kept neither the new key nor the new value.", lambda e: farthest(e, "kept.keys", "keys")
)(_variant(writes=(False, False)))

_no_scale = families.no_scale(_lengths)(
    _variant(scores=lambda query, keys: (query.unsqueeze(2) * keys).sum(-1))
)

_only_place_0_seen = mistake(
    "Each of your rows sees only place 0, but a new token sees its whole row and itself.",
    lambda e: unwrapped(f"""That is row 0 of the triangle, and `is_causal=True` uses it for a single
    query, too. After n tokens the new one is at position n, so it needs row n. {_lengths(e)}"""),
)(_variant(seen=lambda place, lengths: place <= 0 * lengths))

_new_token_alone = mistake(
    "You return the value of the new token alone, but it should also see the tokens of its row.",
    _lengths,
    cases=("out", "short"),
)(_variant(seen=lambda place, lengths: place == lengths))

_zero_mask = mistake(
    "You gave hidden places a score of 0, which doesn't hide them because e⁰ = 1.",
    lambda e: (
        unwrapped(f"""Hidden places need a score of −inf. If you wrote −1e−9, which is almost 0,
    did you mean −1e9? {_lengths(e)}""")
    ),
    also=(_variant(hidden=0.0, empties=True),),
)(_variant(hidden=0.0))

_scale_by_places = mistake(
    "You divided the scores by √S, the root of the number of places, instead of √D.",
    lambda e: f"A score is a sum of D products, so its scale is √D. {_lengths(e)}",
)(
    _variant(
        scores=lambda query, keys: (query.unsqueeze(2) * keys).sum(-1) / math.sqrt(keys.shape[2])
    )
)

_scale_by_heads = mistake("You divided the scores by √H instead of √D.", _lengths)(
    _variant(
        scores=lambda query, keys: (query.unsqueeze(2) * keys).sum(-1) / math.sqrt(keys.shape[1])
    )
)

_scale_without_the_root = mistake("You divided the scores by D instead of √D.", _lengths)(
    _variant(scores=lambda query, keys: (query.unsqueeze(2) * keys).sum(-1) / keys.shape[-1])
)

_masked_after_softmax = families.masked_after_softmax(_lengths)(_variant(after_softmax=True))

_sees_what_comes_after = mistake(
    "Each of your rows sees the places behind its new token instead of those before it.",
    _lengths,
    also=(_variant(seen=lambda place, lengths: place > lengths),),
)(_variant(seen=lambda place, lengths: place >= lengths))

_place_0_hidden = mistake(
    "You hid place 0, which holds the first token of each row.",
    _lengths,
    also=(_variant(seen=lambda place, lengths: (place <= lengths) & (place > 0)),),
)(_variant(seen=lambda place, lengths: (place <= lengths) & ((place > 0) | (lengths == 0))))

_empty_row_sees_more = mistake(
    "Your row of length 0 sees two places, but only place 0 belongs to it.", _lengths
)(_variant(seen=lambda place, lengths: place <= lengths.clamp(min=1)))

_added_to_what_was_there = mistake(
    "You added the new key and value to what was in their place instead of replacing it.",
    lambda e: f"A free place still holds leftovers of other texts. {_kept_lengths(e)}",
)(_variant(adds=True))

_written_at_all_places = mistake(
    "You wrote each row's new token to the places of all rows instead of its own only.",
    lambda e: unwrapped(f"""`keys[:, :, lengths]` selects all these places in every row, but
    `keys[torch.arange(B), :, lengths]` selects one place a row, (B, H, D). {_kept_lengths(e)}"""),
)(_variant(all_places=True))

_lowered_too_little = mistake(
    "You lower the scores of hidden places by a fixed number, which isn't enough here.",
    lambda e: (
        f"Leftovers can have larger scores than that, but −inf hides any score. {_lengths(e)}"
    ),
    also=tuple(_variant(lowered=by) for by in (1.0, 10.0, 1000.0)),
)(_variant(lowered=100.0))

_seen_before_written = mistake(
    "You look before you write the new token, so you see what was in its place before.",
    lambda e: f"Write key and value first, and use the written cache to look. {_lengths(e)}",
    cases=("out", "short", *_KEPT),
)(_variant(looks_first=True))


@mistake(
    "Your softmax runs over the heads instead of the places.",
    lambda e: f"Each head's weights should sum to 1 over the places. {_lengths(e)}",
)
def _softmax_over_heads(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    _, keys, values = _variant()(query, key, value, keys, values, lengths)
    hidden = torch.arange(keys.shape[2]) > lengths[:, None, None]
    weights = _scores(query, keys).masked_fill(hidden, -1e9).softmax(dim=1)
    return (weights.masked_fill(hidden, 0.0).unsqueeze(-1) * values).sum(dim=2), keys, values


@mistake(
    "You gave each place that you look at a weight of 1, but a head's weights should sum to 1.",
    lambda e: unwrapped(f"""A softmax over the queries does that, since there is only one query. It
    should run over the places, which is `dim=-1` of scores (B, H, S). {_lengths(e)}"""),
    also=(_variant(weighs=_with_ones, seen=lambda place, lengths: place >= 0 * lengths),),
)
def _softmax_over_queries(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    return _variant(weighs=_with_ones)(query, key, value, keys, values, lengths)


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


def _put_in_front(whole: bool) -> Step:
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


def _exchanged(whole: bool) -> Step:
    def step(
        query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        found, new_keys, new_values = _variant()(query, key, value, keys, values, lengths)
        if whole:
            return found, new_values, new_keys
        own = (torch.arange(keys.shape[2]) <= lengths[:, None])[:, None, :, None]  # (B, 1, S, 1)
        return (
            found,
            torch.where(own, new_values, new_keys),
            torch.where(own, new_keys, new_values),
        )

    return step


_keys_and_values_exchanged = mistake(
    "You swapped keys and values in what you return.",
    lambda e: f"The output comes first, then the keys, then the values. {_kept_lengths(e)}",
    also=(_exchanged(whole=False),),
)(_exchanged(whole=True))


@mistake(
    "You wrote the new key among the values, too, where the new value belongs.",
    lambda e: f"Your output is then partly made of a key. {farthest(e, 'kept.values', 'values')}",
)
def _key_for_value(
    query: Tensor,
    key: Tensor,
    value: Tensor,  # noqa: ARG001
    keys: Tensor,
    values: Tensor,
    lengths: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    return _variant()(query, key, key, keys, values, lengths)


_changed_in_place = mistake(
    "Your step writes into the tensors that it was given instead of returning new ones.",
    "Anyone who still needs the old cache, to try another continuation, will find it changed.",
)(_variant(copies=False))


def _where(mine: Array, given: Array, new: Array, n: int) -> str:
    """Where one row's new vectors, (H, D), are among its places, (H, S, D), and which other places
    have changed; empty if all is right.
    """
    at = [s for s in range(mine.shape[1]) if close(mine[:, s], new).all()]
    others = [s for s in range(mine.shape[1]) if s not in at]
    moved = [s for s in others if not close(mine[:, s], given[:, s]).all()]
    if at == [n] and not moved:
        return ""
    found = f"is at place {listed(at)}" if at else "isn't anywhere"
    kept = f", and the old numbers of place {listed(moved)} are gone" if moved else ""
    return f"{found}{kept}"


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


def _other_weights(evidence: Evidence) -> Finding | None:
    """If keys and values are right but the output isn't, its weights are solved for."""
    if not evidence.same(*_KEPT) or evidence.same("out"):
        return None
    values, mine, right = (
        evidence.right("kept.values"),
        evidence.yours("out"),
        evidence.right("out"),
    )
    wrong = np.argwhere(~close(mine, right).all(axis=-1))
    lengths = evidence.inputs["lengths"]
    b, h = (int(i) for i in min(wrong, key=lambda place: (lengths[place[0]] == 0, tuple(place))))
    n = int(lengths[b])
    begin = f"In row {b}, with {n} tokens before the new one, head {h}"
    weights, wanted = (weights_on(values[b, h], side[b, h]) for side in (mine, right))
    if wanted is None:  # with so few numbers, other weights could give the same output
        return Finding(
            "other-found",
            "Your keys and values are right, but your output isn't.",
            f"{begin} finds {row(mine[b, h])}, but expected was {row(right[b, h])}.",
            ROW,
        )
    if weights is None:
        return Finding(
            "other-found",
            "Your keys and values are right, but your output isn't a weighted sum of these values.",
            f"{begin} finds something that no weights make of the values you return for this row "
            "and head. Did you use others, such as those before the new one was written, or those "
            "of another row or head?",
            ROW,
        )
    behind = weights[n + 1 :]
    leftovers = (
        f" The places behind the new token get {number(float(behind.sum()))}."
        if abs(behind).max(initial=0) > 1e-3
        else ""
    )
    total = (
        f", which sum to {number(float(weights.sum()))}" if abs(weights.sum() - 1) > 1e-3 else ""
    )
    return Finding(
        "other-found",
        "Your keys and values are right, but the weights with which you look at them aren't.",
        f"{begin} looks at places 0 to {n} with {row_of_weights(weights[: n + 1])}{total}. "
        f"Expected were {row_of_weights(wanted[: n + 1])}.{leftovers}",
        ROW,
    )


TASK = Task(
    "A step with a cache",
    _variant(),
    ROW,
    (
        Part("Each row looks at its own past and at itself.", 3, matches("out", "short")),
        Part("Key and value are behind what the row had, in new tensors.", 3, matches(*_KEPT)),
    ),
    properties=(_misplaced, _other_weights),
)
