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
    """A step with one thing done otherwise."""

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
        if empties:  # what is hidden holds zeros, and has a share all the same
            read = read * visible.unsqueeze(-1)
        return (weights.unsqueeze(-1) * read).sum(dim=2), keys, values

    return step


def _with_ones(scores: Tensor) -> Tensor:
    """What a softmax over one query gives where something is seen."""
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
    "Each row looks at all S places, also at those behind its own length.",
    lambda e: f"What lies there is left from other texts. {_lengths(e)}",
)(_variant(seen=lambda place, lengths: (place >= 0).expand(len(lengths), -1)))

_longest_for_all = mistake(
    "All rows look back as far as the longest one; each row has its own length.", _lengths
)(_variant(seen=lambda place, lengths: place <= lengths.max() + 0 * lengths))

_first_row_for_all = mistake("All rows use the length of row 0.", _lengths)(
    _variant(seen=lambda place, lengths: place <= lengths[0] + 0 * lengths)
)

_new_token_hidden = mistake(
    "The new token does not see itself.",
    lambda e: f"Row t of the triangle ends with position t itself. {_lengths(e)}",
)(_variant(seen=lambda place, lengths: place < lengths))

_one_too_far = mistake("Each row sees one place too many, behind the new token.", _lengths)(
    _variant(seen=lambda place, lengths: place <= lengths + 1)
)

_overwrites_the_last = mistake(
    "The new token was written over the last one that was kept.",
    lambda e: f"With n tokens kept, places 0 … n − 1 are taken and n is free. {_kept_lengths(e)}",
    cases=_KEPT,
    also=(
        _variant(goes=_last_kept),
        _variant(goes=_last_kept, seen=lambda place, lengths: place <= _last_kept(lengths)),
    ),
)(_variant(goes=lambda lengths: lengths - 1))

_begins_again = mistake(
    "The new token is written to place 0 and sees itself only, as if no row had held any before.",
    lambda e: f"It belongs behind the tokens of its row, and sees these, too. {_kept_lengths(e)}",
)(_variant(goes=lambda lengths: 0 * lengths, seen=lambda place, lengths: place <= 0 * lengths))

_written_at_the_end = mistake(
    "The new token was written into the last place, S − 1, whatever the row's length.",
    _kept_lengths,
    cases=_KEPT,
)(_variant(goes=lambda lengths: 0 * lengths - 1))

_written_behind_the_longest = mistake(
    "All rows got the new token at one place, behind the longest row; each has a place of its own.",
    _kept_lengths,
    cases=_KEPT,
)(_variant(goes=lambda lengths: 0 * lengths + lengths.max()))

_value_not_written = mistake(
    "The new key was kept, the new value was not.", lambda e: farthest(e, "kept.values", "values")
)(_variant(writes=(True, False)))

_key_not_written = mistake(
    "The new value was kept, the new key was not.", lambda e: farthest(e, "kept.keys", "keys")
)(_variant(writes=(False, True)))

_old_values_read = mistake(
    "What was found is made of the values before the new one was written.",
    lambda e: unwrapped(f"""The new key is compared, but its place still holds a value that was left
    over. Write key and value first, then look. {_lengths(e)}"""),
)(_variant(reads_old=True))

_nothing_written = mistake(
    "Neither the new key nor the new value was kept.", lambda e: farthest(e, "kept.keys", "keys")
)(_variant(writes=(False, False)))

_no_scale = families.no_scale(_lengths)(
    _variant(scores=lambda query, keys: (query.unsqueeze(2) * keys).sum(-1))
)

_only_place_0_seen = mistake(
    "Each row sees its place 0 only; a new token sees all that the row kept, and itself.",
    lambda e: unwrapped(f"""That is row 0 of the triangle, which `is_causal=True` gives a single
    query, too. The new token of a row that kept n stands at position n: row n. {_lengths(e)}"""),
)(_variant(seen=lambda place, lengths: place <= 0 * lengths))

_new_token_alone = mistake(
    "What is found is the value of the new token alone; it sees all that its row kept, too.",
    _lengths,
    cases=("out", "short"),
)(_variant(seen=lambda place, lengths: place == lengths))

_zero_mask = mistake(
    "Hidden places have a score of 0 in yours, which is a score like any other: e⁰ = 1.",
    lambda e: unwrapped(f"""What is hidden needs −inf. If you wrote −1e−9: that is as good as 0, did
    you mean −1e9? {_lengths(e)}"""),
    also=(_variant(hidden=0.0, empties=True),),
)(_variant(hidden=0.0))

_scale_by_places = mistake(
    "You divided the scores by √S, the root of the number of places; the scale is √D.",
    lambda e: f"A score is a sum of D products. {_lengths(e)}",
)(
    _variant(
        scores=lambda query, keys: (query.unsqueeze(2) * keys).sum(-1) / math.sqrt(keys.shape[2])
    )
)

_scale_by_heads = mistake("You divided the scores by √H; the scale is √D.", _lengths)(
    _variant(
        scores=lambda query, keys: (query.unsqueeze(2) * keys).sum(-1) / math.sqrt(keys.shape[1])
    )
)

_scale_without_the_root = mistake("You divided the scores by D; the scale is √D.", _lengths)(
    _variant(scores=lambda query, keys: (query.unsqueeze(2) * keys).sum(-1) / keys.shape[-1])
)

_masked_after_softmax = families.masked_after_softmax(_lengths)(_variant(after_softmax=True))

_sees_what_comes_after = mistake(
    "Each row sees its new token and what lies behind it; it should see what lies before it.",
    _lengths,
    also=(_variant(seen=lambda place, lengths: place > lengths),),
)(_variant(seen=lambda place, lengths: place >= lengths))

_place_0_hidden = mistake(
    "Place 0 is hidden; it holds the first token of each row.",
    _lengths,
    also=(_variant(seen=lambda place, lengths: (place <= lengths) & (place > 0)),),
)(_variant(seen=lambda place, lengths: (place <= lengths) & ((place > 0) | (lengths == 0))))

_empty_row_sees_more = mistake(
    "A row of length 0 sees a place behind its new token; only place 0 is its own.", _lengths
)(_variant(seen=lambda place, lengths: place <= lengths.clamp(min=1)))

_added_to_what_was_there = mistake(
    "The new key and value are added to what lay in their place; they should replace it.",
    lambda e: f"A free place holds leftovers of other texts. {_kept_lengths(e)}",
)(_variant(adds=True))

_written_at_all_places = mistake(
    "Each row got its new token at the places of all rows; it belongs to its own place only.",
    lambda e: unwrapped(f"""`keys[:, :, lengths]` takes all these places of every row;
    `keys[torch.arange(B), :, lengths]` takes one of each, (B, H, D). {_kept_lengths(e)}"""),
)(_variant(all_places=True))

_lowered_too_little = mistake(
    "You lower the scores of hidden places by a number; scores of leftovers are larger than that.",
    lambda e: f"However large a score is, −inf hides it. {_lengths(e)}",
    also=tuple(_variant(lowered=by) for by in (1.0, 10.0, 1000.0)),
)(_variant(lowered=100.0))

_seen_before_written = mistake(
    "You look before the new token is in its place: what lay there before is seen instead.",
    lambda e: f"Write key and value first, and look with what you have written. {_lengths(e)}",
    cases=("out", "short", *_KEPT),
)(_variant(looks_first=True))


@mistake(
    "Your softmax runs over the heads; each head's weights sum to 1 over the places.",
    _lengths,
)
def _softmax_over_heads(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    _, keys, values = _variant()(query, key, value, keys, values, lengths)
    hidden = torch.arange(keys.shape[2]) > lengths[:, None, None]
    weights = _scores(query, keys).masked_fill(hidden, -1e9).softmax(dim=1)
    return (weights.masked_fill(hidden, 0.0).unsqueeze(-1) * values).sum(dim=2), keys, values


@mistake(
    "Each place that you look at has a weight of 1; the weights of a head should sum to 1.",
    lambda e: unwrapped(f"""So it is after a softmax over queries, of which there is one here: it
    should run over the places, `dim=-1` of scores (B, H, S). {_lengths(e)}"""),
    also=(_variant(weighs=_with_ones, seen=lambda place, lengths: place >= 0 * lengths),),
)
def _softmax_over_queries(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    return _variant(weighs=_with_ones)(query, key, value, keys, values, lengths)


@mistake(
    "You find the right thing with the new token, and return keys and values without it.",
    lambda e: unwrapped(f"""The next step would not see it: return the tensors into which you wrote.
    {_kept_lengths(e)}"""),
)
def _new_one_not_returned(
    query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    found, _, _ = _variant()(query, key, value, keys, values, lengths)
    return found, keys.clone(), values.clone()


def _put_in_front(whole: bool) -> Step:
    """In front of a row's tokens; what lies behind them moves, too, or keeps its place."""

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
    "The new token was put in front of its row, at place 0, and the row's tokens moved up by one.",
    lambda e: (
        unwrapped(f"""A step finds the same in any order of its tokens. But the place is a token's
    position, and each row has its first free place behind its tokens. {_kept_lengths(e)}""")
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
    "Keys and values changed places in what you return: the rows' values lie where keys belong.",
    lambda e: f"What is found comes first, then keys, then values. {_kept_lengths(e)}",
    also=(_exchanged(whole=False),),
)(_exchanged(whole=True))


@mistake(
    "The new key was written among the values, too, where the new value belongs.",
    lambda e: f"What is found is then made with it. {farthest(e, 'kept.values', 'values')}",
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
    "Your step writes into the tensors that it was given; the task asks for new ones.",
    "Whoever still holds the old cache, to try another continuation, finds it changed.",
)(_variant(copies=False))


def _where(mine: Array, given: Array, new: Array, n: int) -> str:
    """What became of one row's places, (H, S, D), and of its new vectors (H, D); empty if all is
    right.
    """
    at = [s for s in range(mine.shape[1]) if close(mine[:, s], new).all()]
    others = [s for s in range(mine.shape[1]) if s not in at]
    moved = [s for s in others if not close(mine[:, s], given[:, s]).all()]
    if at == [n] and not moved:
        return ""
    found = f"lies at place {listed(at)}" if at else "lies nowhere"
    kept = f", and what lay there before is gone from place {listed(moved)}" if moved else ""
    return f"{found} in yours{kept}"


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
                    said += f"; the new {other} lies at place {n}"
                if said:
                    return Finding(
                        "misplaced",
                        f"Your `{held}` are not those you were given with each row's new {one} at "
                        "its first free place.",
                        f"Row {b} has {n} tokens, so its new {one} belongs to place {n}. It "
                        f"{said}. All other places of the row keep what they hold.",
                        ROW,
                    )
    return None


def _other_weights(evidence: Evidence) -> Finding | None:
    """Keys and values are right, and what is found is not: its weights are read off the values."""
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
    if wanted is None:  # so few numbers that other weights could have made them as well
        return Finding(
            "other-found",
            "Keys and values are kept as they should be; what is found is another thing.",
            f"{begin} finds {row(mine[b, h])} in yours; expected {row(right[b, h])}.",
            ROW,
        )
    if weights is None:
        return Finding(
            "other-found",
            "Keys and values are kept as they should be; what is found is not made of these "
            "values.",
            f"{begin} finds no sum of the values that you return for this row and head, whatever "
            "their weights. Is it made of others: of those before the new one was written, or of "
            "another row's or head's?",
            ROW,
        )
    behind = weights[n + 1 :]
    leftovers = (
        f" On what lies behind the new token it puts {number(float(behind.sum()))}."
        if abs(behind).max(initial=0) > 1e-3
        else ""
    )
    total = (
        f", which sum to {number(float(weights.sum()))}" if abs(weights.sum() - 1) > 1e-3 else ""
    )
    return Finding(
        "other-found",
        "Keys and values are kept as they should be; the weights with which you look are others.",
        f"{begin} looks at places 0 to {n} with {row_of_weights(weights[: n + 1])} in yours{total}"
        f"; expected {row_of_weights(wanted[: n + 1])}.{leftovers}",
        ROW,
    )


TASK = Task(
    "A step with a cache",
    _variant(),
    ROW,
    (
        Part("Each row looks at its own past and at itself.", 3, matches("out", "short")),
        Part("Key and value stand behind what the row had, in new tensors.", 3, matches(*_KEPT)),
    ),
    properties=(_misplaced, _other_weights),
)
