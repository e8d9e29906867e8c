"""Judges 12/ring: a cache of the last W tokens, each in the place of the oldest."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.attention_weights import weights_on
from course_judges.ch12_faster.numbers import farthest, row_of_weights
from course_judges.ch12_faster.sections import SLIDE
from course_judges.ch12_faster.weights import (
    NOTHING,
    READABLE,
    Sight,
    of_no_softmax,
    of_one_place,
    sight,
    total_of_each,
)
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

# Fewer scores than this are explained by some factors or ages by chance.
_ENOUGH = 4
# How far a factor and an age that are read off may be from the right ones.
_NEAR, _OF_AN_AGE = 3e-2, 0.1

_RING = ("keys", "values")

RingStep = Callable[..., tuple[Tensor, Tensor, Tensor]]


def ring_step(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    keys: Tensor,
    values: Tensor,
    count: int,
    slope: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """A right answer to 12/ring: (B, D) three times, (B, W, D) twice → (B, D) and both rings."""
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    new = count % W  # the new place
    keys[:, new] = key
    values[:, new] = value
    places = torch.arange(W)
    age = (count - places) % W  # the ages (W,)
    taken = age <= count  # the mask (W,)
    products = (keys @ query.unsqueeze(-1)).squeeze(-1)
    less = slope * age  # slope times age (W,)
    scores = products / math.sqrt(D) - less  # the scores (B, W)
    weights = scores.masked_fill(~taken, -torch.inf).softmax(dim=-1)  # the weights (B, W)
    found = (weights.unsqueeze(1) @ values).squeeze(1)  # what you find (B, D)
    return found, keys, values


def _written(
    key: Tensor, value: Tensor, keys: Tensor, values: Tensor, count: int
) -> tuple[Tensor, Tensor]:
    """Both rings with the new token."""
    keys, values = keys.clone(), values.clone()
    keys[:, count % keys.shape[1]], values[:, count % keys.shape[1]] = key, value
    return keys, values


def _looked(query: Tensor, keys: Tensor, values: Tensor, less: Tensor, taken: Tensor) -> Tensor:
    """What queries find at the places that are taken (W,), if scores are lowered by `less`."""
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(keys.shape[2]) - less
    weights = scores.masked_fill(~taken, -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1)


def _ages(count: int, W: int) -> Tensor:
    """(W,): how many tokens ago each place was written to, if it ever was."""
    return (count - torch.arange(W)) % W


def _aged(ages: Callable[[int, int], Tensor]) -> RingStep:
    """A step with other ages."""

    def step(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        keys: Tensor,
        values: Tensor,
        count: int,
        slope: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        keys, values = _written(key, value, keys, values, count)
        W = keys.shape[1]
        taken = _ages(count, W) <= count
        return _looked(query, keys, values, slope * ages(count, W), taken), keys, values

    return step


def _seeing(taken: Callable[[Tensor, int, int], Tensor]) -> RingStep:
    """A step that sees other places."""

    def step(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        keys: Tensor,
        values: Tensor,
        count: int,
        slope: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        keys, values = _written(key, value, keys, values, count)
        age = _ages(count, keys.shape[1])
        seen = taken(age, count, keys.shape[1])
        return _looked(query, keys, values, slope * age, seen), keys, values

    return step


def _still_empty(first: int, W: int) -> str:
    """The places from `first` on in words: "places 5 to 7 are still empty"."""
    last = W - 1
    if first == last:
        return f"place {last} is still empty"
    return f"places {first} to {last} are still empty"


def _filling(evidence: Evidence) -> str:
    few, W = evidence.number("few"), evidence.number("W")
    return (
        f"With W = {W} places and {few} tokens before, {_still_empty(few + 1, W)}. "
        f"{farthest(evidence, 'filling.found')}"
    )


def _full(evidence: Evidence) -> str:
    count, W = evidence.number("many"), evidence.number("W")
    return (
        f"With W = {W} places, token number {count} goes into place {count % W}, and place "
        f"{(count + 1) % W} holds the oldest one, {W - 1} tokens ago. "
        f"{farthest(evidence, 'full.found')}"
    )


_query_of_row_0 = mistake(
    "You used the query of row 0 in all rows, but each row has its own.",
    _full,
    cases=("filling", "full"),
)(lambda query, *rest: ring_step(query[:1].expand_as(query), *rest))


_age_by_place = mistake(
    "You took the distance between places as the age, but the oldest token is next to the newest.",
    _full,
    cases=("filling", "full"),
)(_aged(lambda count, W: (count % W - torch.arange(W)).abs()))

_only_up_to_the_new_place = mistake(
    "You see only the places up to the new token's, but in a full ring all W places are seen.",
    _full,
    cases=("filling", "full"),
)(Like("used-the-new-place-instead-of-count-in-the-mask"))

_first_token_forgotten = mistake(
    "While the ring fills up, you don't see token number 0, whose age is `count`.",
    _filling,
    cases=("filling", "full"),
)(_seeing(lambda age, count, _: (age < count) | (age == 0)))

_places_in_order = mistake(
    "In a full ring, your ages fall by 1 from place to place, as if tokens were in order.",
    lambda e: (
        unwrapped(f"""This happens if you subtract the place from W − 1 or from `count` and don't
    take the difference mod W, which turns an age below 0 into that of an old token. {_full(e)}""")
    ),
    cases=("full",),
)(_aged(lambda _, W: W - 1 - torch.arange(W)))

_oldest_hidden = mistake(
    "Your window is one token too short: you see W − 1 tokens, the new one included, instead of W.",
    _full,
    cases=("filling", "full"),
)(_seeing(lambda age, count, W: (age <= count) & (age < W - 1)))

_new_token_hidden_at_first = mistake(
    "While the ring fills up, your new token doesn't see itself.",
    lambda e: f"With n tokens before it, n + 1 places are taken once it is written. {_filling(e)}",
    cases=("filling", "full"),
)(_seeing(lambda age, count, W: (age <= count) & ((age > 0) | (count >= W) | (count == 0))))


def _cut_off(evidence: Evidence) -> str:
    few, W = evidence.number("few"), evidence.number("W")
    return unwrapped(f"""With W = {W} places and {few} tokens before, {_still_empty(few + 1, W)}.
    The keys and values that you return have {few + 1} places, but the next token needs an empty
    one, so they should have {W}, as those that you were given. Hide empty places from the query,
    and return the whole ring.""")


@mistake(
    "What you found is right, but you return the ring without its empty places.",
    _cut_off,
    cases=("filling", "full", "first"),
)
def _empty_places_cut_off(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    keys: Tensor,
    values: Tensor,
    count: int,
    slope: float,
) -> tuple[Tensor, Tensor, Tensor]:
    found, keys, values = ring_step(query, key, value, keys, values, count, slope)
    return found, keys[:, : count + 1], values[:, : count + 1]


@mistake(
    "You moved all tokens by one place, but a ring moves nothing and overwrites only the oldest.",
    lambda e: (
        "Each step then copies the whole cache, and place n mod W doesn't hold token number n. "
        f"{_full(e)}"
    ),
    cases=("full",),
)
def _moved_up(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    keys: Tensor,
    values: Tensor,
    count: int,
    slope: float,
) -> tuple[Tensor, Tensor, Tensor]:
    keys = torch.cat([keys[:, 1:], key[:, None]], dim=1)
    values = torch.cat([values[:, 1:], value[:, None]], dim=1)
    age = torch.arange(keys.shape[1]).flip(0)
    return _looked(query, keys, values, slope * age, age <= count), keys, values


_no_scale = families.no_scale(_full, cases=("filling", "full"))(
    Like("left-out-the-division-by-root-of-D-in-the-scores")
)

_zero_mask = families.zero_mask(_filling, cases=("filling", "full"))(
    Like("filled-with-0-instead-of-minus-infinity-in-the-weights")
)


@mistake(
    "You look before you write the new token, so you see what was in its place before.",
    lambda e: f"Write key and value first, and use the written ring to look. {_full(e)}",
    cases=("filling", "full"),
)
def _seen_before_written(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    keys: Tensor,
    values: Tensor,
    count: int,
    slope: float,
) -> tuple[Tensor, Tensor, Tensor]:
    age = _ages(count, keys.shape[1])
    found = _looked(query, keys, values, slope * age, age <= count)
    return found, *_written(key, value, keys, values, count)


@mistake(
    "You averaged the old values, without the new one.",
    lambda e: unwrapped(f"""Your scores use the new key, but its place still holds the old value.
    Write key and value first, and look afterwards. {_full(e)}"""),
    cases=("filling", "full"),
)
def _old_values_read(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    keys: Tensor,
    values: Tensor,
    count: int,
    slope: float,
) -> tuple[Tensor, Tensor, Tensor]:
    new_keys, new_values = _written(key, value, keys, values, count)
    age = _ages(count, keys.shape[1])
    return _looked(query, new_keys, values, slope * age, age <= count), new_keys, new_values


def _after(evidence: Evidence) -> dict[str, int]:
    """How many tokens came before the new one in each case with all rows."""
    W = evidence.number("W")
    few, round_, many = (evidence.number(name) for name in ("few", "round", "many"))
    return {"first": 0, "filling": few, "last_place": W - 1, "round": round_, "full": many}


def _kept(evidence: Evidence) -> bool:
    return evidence.same(*(f"{case}.{name}" for case in _after(evidence) for name in _RING))


def _by_count(evidence: Evidence) -> Finding | None:
    """After how many tokens the output is right, if keys and values are."""
    W, many, after = evidence.number("W"), evidence.number("many"), _after(evidence)
    wrong = [case for case in after if not evidence.same(f"{case}.found")]
    if not _kept(evidence) or not wrong:
        return None
    good = listed(after[case] for case in after if case not in wrong)
    right = f"right after {good} tokens but " if good else ""
    return Finding(
        "wrong-after",
        "Your keys and values are in the right places, but what you find isn't right.",
        f"With W = {W} places, what you find is {right}wrong after "
        f"{listed(after[case] for case in wrong)}. So check the ages, which places are seen, and "
        f"the scores. After {many} tokens, place {many % W} holds the new one, with age 0, and "
        "place "
        f"{(many + 1) % W} the oldest one, with age {W - 1}.",
        SLIDE,
    )


def _by_age(evidence: Evidence, mine: Array, case: str, count: int) -> str:
    """A sentence on the ages that explain all weights (B, W), or on what is subtracted at each age;
    empty if rows have nothing in common.
    """
    W, slope = evidence.number("W"), float(evidence.inputs["slope"])
    keys = evidence.right(f"{case}.keys").astype(float)
    dots = np.einsum("bwd,bd->bw", keys, evidence.inputs["query"].astype(float))
    readable = mine.min(axis=0) > NOTHING
    if readable.sum() < _ENOUGH:
        return ""
    less = (dots / math.sqrt(keys.shape[2]) - np.log(np.where(readable, mine, 1)))[:, readable]
    less -= less.min(axis=1, keepdims=True)
    found, places = less.mean(axis=0), np.flatnonzero(readable)
    right = (count - places) % W
    if not np.allclose(less, found, atol=_OF_AN_AGE * slope):
        return ""
    ages = (found / slope).round()
    if np.allclose(found / slope, ages, atol=_OF_AN_AGE):
        return (
            f"Counted from the youngest token, your weights belong to the ages {listed(ages)} at "
            f"places {listed(places)}, but the ages there are {listed(right)}."
        )
    order = right.argsort()
    told = ", ".join(number(float(one), 2) for one in found[order] - found[order[0]])
    return unwrapped(f"""At the ages {listed(right[order])} you seem to subtract {told} from the
    scores, compared with the youngest of them. It should be slope · age, with a slope of
    {number(slope)}.""")


def _what_is_seen(sights: Sight | None, count: int, W: int) -> str:
    """A sentence on the places that are seen or not seen, if that is wrong; empty otherwise."""
    if sights is None:
        return ""
    missed = [s for s in sights.unseen if s <= count]
    more = [s for s in sights.seen if s > count]
    said = [f"don't see {_of_places(missed)}"] if missed else []
    said += [f"see {_of_places(more)}, though {_still_empty(count + 1, W)}"] if more else []
    return f"You {' and '.join(said)}. What you see has the right proportions." if said else ""


def _of_places(places: list[int]) -> str:
    return f"place {places[0]}" if len(places) == 1 else f"places {listed(places)}"


def _of_all_weights(evidence: Evidence, mine: Array, right: Array, case: str) -> str:
    """What the weights of all rows, (B, W), have in common; empty if nothing is known."""
    W, count = evidence.number("W"), _after(evidence)[case]
    allowed = np.arange(W) <= count
    if said := of_no_softmax(mine, right, np.tile(allowed, (len(mine), 1))):
        return said
    if total_of_each(mine, right) is not None:
        return "Your weights have the right proportions, but those of a row should sum to 1."
    if np.allclose(mine.sum(axis=1), 1, atol=READABLE):
        said = _what_is_seen(sight(mine, right, allowed), count, W) or _by_age(
            evidence, mine, case, count
        )
        if said:
            return said
    off = {of_one_place(*both) for both in zip(mine, right, strict=True)}
    if len(off) == 1 and (place := off.pop()) is not None:
        age = (count - place) % W
        which = "the new token" if age == 0 else "the oldest token" if age == W - 1 else "one token"
        return f"Only the weight of {which}, in place {place}, is out of proportion to the others."
    return ""


def _by_weights(evidence: Evidence) -> Finding | None:
    """Which weights the places of one ring have, if some are wrong."""
    W, after = evidence.number("W"), _after(evidence)
    wrong = [case for case in after if not evidence.same(f"{case}.found")]
    if not _kept(evidence) or not wrong:
        return None
    case = "full" if "full" in wrong else "filling" if "filling" in wrong else wrong[-1]
    count = after[case]
    found = [side(f"{case}.found") for side in (evidence.yours, evidence.right)]
    values = evidence.right(f"{case}.values")
    solved = [[weights_on(*row) for row in zip(values, side, strict=True)] for side in found]
    if any(weights is None for side in solved for weights in side):
        return _by_count(evidence)  # under the same name, as not every draw can be solved
    mine, right = (np.array(side) for side in solved)
    b = int(abs(mine - right).sum(axis=1).argmax())
    total = float(mine[b].sum())
    sums = f" Yours sum to {number(total)}." if abs(total - 1) > READABLE else ""
    good = [after[one] for one in after if one not in wrong]
    where = f" What you find after {listed(good)} tokens is right." if good else ""
    return Finding(
        "wrong-after",
        "Your keys and values are in the right places, but you look at them with wrong weights.",
        f"{_of_all_weights(evidence, mine, right, case)} After {count} tokens, with W = {W}, you "
        f"look at places 0 to {W - 1} of row {b} with {row_of_weights(mine[b])} instead of "
        f"{row_of_weights(right[b])}.{sums} The new token is in place {count % W}.{where}".strip(),
        SLIDE,
    )


def _rolled_by(mine: Array, right: Array) -> int | None:
    """By how many places all vectors of a ring (B, W, D) are moved, if by equally many."""
    ways = range(1, right.shape[1])
    return next((by for by in ways if close(mine, np.roll(right, by, axis=1)).all()), None)


def _misplaced(evidence: Evidence) -> Finding | None:
    """Where the new key and value went in a ring, and what else changed."""
    W = evidence.number("W")
    for case, count in _after(evidence).items():
        for held, one in (("keys", "key"), ("values", "value")):
            mine, given = evidence.yours(f"{case}.{held}"), evidence.inputs[held]
            if mine.shape != given.shape:
                return None
            new, place = evidence.inputs[one], count % W
            at = [s for s in range(W) if close(mine[:, s], new).all()]
            moved = [
                s for s in range(W) if s not in at and not close(mine[:, s], given[:, s]).all()
            ]
            if at == [place] and not moved:
                continue
            if close(mine, evidence.right(f"{case}.{'values' if one == 'key' else 'keys'}")).all():
                return None  # that the two are exchanged says more
            found = f"is in {_of_places(at)}" if at else "isn't anywhere"
            gone = f", and the old numbers of {_of_places(moved)} are gone" if moved else ""
            other = evidence.inputs["value" if one == "key" else "key"]
            if close(mine[:, place], other).all():
                gone += f", and place {place} holds the new {'value' if one == 'key' else 'key'}"
            if (by := _rolled_by(mine, evidence.right(f"{case}.{held}"))) is not None:
                gone = f", because your whole ring is rolled by {by} places"
            return Finding(
                "misplaced",
                f"You didn't return the given `{held}` with the new {one} in place n mod W.",
                f"After {count} tokens, with W = {W}, the new {one} belongs into place {place}. In "
                f"your `{held}` it {found}{gone}. All other places should stay as they are.",
                SLIDE,
            )
    return None


TASK = Task(
    "A cache that is a ring",
    ring_step,
    SLIDE,
    (
        Part(
            "While the ring fills up, empty places have no share.", 3, matches("filling", "first")
        ),
        Part(
            "In a full ring, the oldest token gives way.",
            5,
            matches("full", "last_place", "round", "alone"),
        ),
    ),
    properties=(_misplaced, _by_weights),
    steps={
        "the new place": Step("Token number n, counted from 0, goes into place n mod W."),
        "the ages": Step(
            "Tokens lie in a ring, so the age of what a place holds is (n − place) mod W."
        ),
        "the mask": Step("While the ring fills up, only places 0 to n are taken."),
        "slope times age": Step("The new token has age 0, and each step back costs one slope."),
        "the scores": Step(
            "A dot product is a sum of D terms, so √D is its scale, and age is subtracted as it is."
        ),
        "the weights": Step(
            "Weights sum to 1 over the places of a row, and an empty place must get none."
        ),
        "what you find": Step("What is found is the weighted average of the values."),
    },
)
