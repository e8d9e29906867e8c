"""Judges 12/ring: a cache of the last W tokens, each in the place of the oldest."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch12_faster.numbers import farthest, row_of_weights
from course_judges.ch12_faster.sections import SLIDE
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.mixtures import weights_on
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

# Weights are read off numbers in single precision: smaller ones say little.
_READABLE = 1e-3

_RING = ("keys", "values")

Ages = Callable[[Tensor, int, int], Tensor]


def _ages(place: Tensor, count: int, W: int) -> Tensor:
    """(W,): how many tokens ago each place was written to, if it ever was."""
    return (count - place) % W


def _variant(
    *,
    ages: Ages = _ages,
    taken: Callable[[Tensor, int, int], Tensor] = lambda age, count, _: age <= count,
    places: Callable[[Tensor, int], Tensor] | None = None,
    goes: Callable[[int, int], int] = lambda count, W: count % W,
    scale: Callable[[int], float] = math.sqrt,
    sign: float = 1.0,
    age_divided: bool = False,
    copies: bool = True,
    hidden: float = -math.inf,
    after_softmax: bool = False,
    looks_first: bool = False,
    by_places: bool = False,
) -> Callable[..., tuple[Tensor, Tensor, Tensor]]:
    def answer(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        keys: Tensor,
        values: Tensor,
        count: int,
        slope: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        before = keys, values
        if copies:
            keys, values = keys.clone(), values.clone()
        W, D = keys.shape[1:]
        keys[:, goes(count, W)], values[:, goes(count, W)] = key, value
        age = ages(torch.arange(W), count, W)  # (W,)
        less = sign * slope * age / (scale(D) if age_divided else 1)
        seen_keys, seen_values = before if looks_first else (keys, values)
        scores = (seen_keys @ query.unsqueeze(-1)).squeeze(-1) / scale(W if by_places else D) - less
        seen = taken(_ages(torch.arange(W), count, W), count, W)
        if places is not None:
            seen = places(torch.arange(W), count)
        weights = scores.softmax(dim=-1) * seen if after_softmax else None
        if weights is None:
            weights = scores.masked_fill(~seen, hidden).softmax(dim=-1)
        return (weights.unsqueeze(1) @ seen_values).squeeze(1), keys, values  # (B, D)

    return answer


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


_empty_places_seen = mistake(
    "You also average places that no token has taken yet.",
    _filling,
    cases=("filling", "full"),
)(_variant(taken=lambda age, *_: age >= 0))

_age_by_place = mistake(
    "You took the distance between places as the age, but the oldest token is next to the newest.",
    _full,
    cases=("filling", "full"),
)(_variant(ages=lambda place, count, W: (count % W - place).abs()))

_age_is_the_place = mistake(
    "You took the number of a place as the age of its token.",
    _full,
    cases=("filling", "full"),
)(_variant(ages=lambda place, *_: place))

_only_up_to_the_new_place = mistake(
    "You see only the places up to the new token's, but in a full ring all W places are seen.",
    _full,
    cases=("filling", "full"),
)(_variant(taken=lambda age, count, W: age <= count % W))

_first_token_forgotten = mistake(
    "While the ring fills up, you don't see token number 0, whose age is `count`.",
    _filling,
    cases=("filling", "full"),
)(_variant(taken=lambda age, count, _: (age < count) | (age == 0)))

_places_in_order = mistake(
    "In a full ring, your ages fall by 1 from place to place, as if tokens were in order.",
    lambda e: (
        unwrapped(f"""This happens if you subtract the place from W − 1 or from `count` and don't
    take the difference mod W, which turns an age below 0 into that of an old token. {_full(e)}""")
    ),
    cases=("full",),
)(_variant(ages=lambda place, _, W: W - 1 - place))

_oldest_hidden = mistake(
    "Your window is one token too short: you see W − 1 tokens, the new one included, instead of W.",
    _full,
    cases=("filling", "full"),
)(_variant(taken=lambda age, count, W: (age <= count) & (age < W - 1)))

_new_token_hidden = mistake(
    "Your new token doesn't see itself.",
    _full,
    cases=("filling", "full"),
)(_variant(taken=lambda age, count, _: (age <= count) & (age > 0)))

_new_token_hidden_at_first = mistake(
    "While the ring fills up, your new token doesn't see itself.",
    lambda e: f"With n tokens before it, n + 1 places are taken once it is written. {_filling(e)}",
    cases=("filling", "full"),
)(_variant(taken=lambda age, count, W: (age <= count) & ((age > 0) | (count >= W) | (count == 0))))

_always_the_last_place = mistake(
    "When the ring is full, you write into the last place instead of that of the oldest token.",
    _full,
    cases=("filling", "full"),
)(_variant(goes=lambda count, W: min(count, W - 1)))

_one_place_ahead = mistake(
    "You wrote token number n into place (n + 1) mod W instead of n mod W.",
    _full,
    cases=("filling", "full"),
    also=(lambda *given: _variant()(*given[:5], given[5] + 1, given[6]),),  # seen as such, too
)(_variant(goes=lambda count, W: (count + 1) % W))


_one_empty_place_seen = mistake(
    "While the ring fills up, you see one place too many, the first of the empty ones.",
    lambda e: f"With n tokens before the new one, places 0 to n are taken. {_filling(e)}",
    cases=("filling", "full"),
)(_variant(places=lambda place, count: place <= count + 1))


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
    found, keys, values = _variant()(query, key, value, keys, values, count, slope)
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
    W, D = keys.shape[1:]
    age = W - 1 - torch.arange(W)
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(D) - slope * age
    scores = scores.masked_fill(age > count, -torch.inf)
    return (scores.softmax(dim=-1).unsqueeze(1) @ values).squeeze(1), keys, values


_no_slope = mistake(
    "Your scores don't depend on the age of a token.", _full, cases=("filling", "full")
)(_variant(sign=0.0))

_older_is_larger = mistake(
    "Your scores grow with the age of a token, but slope · age should lower them.",
    lambda e: (
        unwrapped(f"""Either you add slope · age, or you count ages from the oldest token, although
    the new one should have age 0. {_full(e)}""")
    ),
    cases=("filling", "full"),
)(_variant(sign=-1.0))

_age_divided = mistake(
    "You divided slope · age by √D, too, but only the dot product should be.",
    _full,
    cases=("filling", "full"),
)(_variant(age_divided=True))

_no_scale = families.no_scale(_full, cases=("filling", "full"))(_variant(scale=lambda _: 1.0))

_zero_mask = families.zero_mask(_filling, cases=("filling", "full"))(_variant(hidden=0.0))

_masked_after_softmax = families.masked_after_softmax(_filling, cases=("filling", "full"))(
    _variant(after_softmax=True)
)

_seen_before_written = mistake(
    "You look before you write the new token, so you see what was in its place before.",
    lambda e: f"Write key and value first, and use the written ring to look. {_full(e)}",
    cases=("filling", "full"),
)(_variant(looks_first=True))

_scale_by_places = mistake(
    "You divided the dot products by √W, the root of the number of places, instead of √D.",
    _full,
    cases=("filling", "full"),
)(_variant(by_places=True))

_changed_in_place = mistake(
    "Your step writes into the tensors that it was given instead of returning new ones.",
    "Anyone who still needs the old cache will find it changed.",
    cases=("filling", "full"),
)(_variant(copies=False))


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


def _ages_read_off(evidence: Evidence, weights: Array, case: str, count: int, b: int) -> str:
    """The ages that explain weights, (W,), if all places are seen: what each score lacks, divided
    by the slope.
    """
    W, slope = evidence.number("W"), float(evidence.inputs["slope"])
    if weights.min() < _READABLE:
        return ""
    keys = evidence.right(f"{case}.keys")[b].astype(float)
    products = keys @ evidence.inputs["query"][b].astype(float) / math.sqrt(keys.shape[1])
    ages = (products - np.log(weights)) / slope
    ages -= ages[count % W]
    if not np.allclose(ages, ages.round(), atol=0.05):
        return ""
    right = (count - np.arange(W)) % W
    return (
        " Your weights belong to tokens with the ages "
        f"{', '.join(number(float(age)) for age in ages.round())}, from place 0 on, but their ages "
        f"are {listed(right)}."
    )


def _by_weights(evidence: Evidence) -> Finding | None:
    """Which weights the places of one ring have, if some are wrong."""
    W, after = evidence.number("W"), _after(evidence)
    wrong = [case for case in after if not evidence.same(f"{case}.found")]
    if not _kept(evidence) or not wrong:
        return None
    case = "full" if "full" in wrong else "filling" if "filling" in wrong else wrong[-1]
    count = after[case]
    mine, right = evidence.yours(f"{case}.found"), evidence.right(f"{case}.found")
    b = int(np.argwhere(~close(mine, right).all(axis=-1))[0][0])
    values = evidence.right(f"{case}.values")[b]
    weights, wanted = (weights_on(values, side[b]) for side in (mine, right))
    if weights is None or wanted is None:
        return _by_count(evidence)  # under the same name, as not every draw can be solved
    total, empty = float(weights.sum()), weights[count + 1 :]
    told = ""
    if abs(total - 1) > _READABLE:
        told += f" Yours sum to {number(total)}."
    if abs(empty).max(initial=0) > _READABLE:
        told += f" But {_still_empty(count + 1, W)}."
    if unseen := np.flatnonzero((abs(weights) < _READABLE / 10) & (wanted > _READABLE)).tolist():
        told += f" You don't see place {listed(unseen)}."
    told = told or _ages_read_off(evidence, weights, case, count, b)
    return Finding(
        "wrong-after",
        "Your keys and values are in the right places, but you look at them with wrong weights.",
        f"After {count} tokens, with W = {W}, you look at places 0 to {W - 1} of row {b} with "
        f"{row_of_weights(weights)}, but expected was {row_of_weights(wanted)}.{told} "
        f"The new token is in place {count % W}.",
        SLIDE,
    )


TASK = Task(
    "A cache that is a ring",
    _variant(),
    SLIDE,
    (
        Part(
            "While the ring fills up, empty places have no share.", 3, matches("filling", "first")
        ),
        Part(
            "In a full ring, the oldest token gives way, and ages go around.",
            5,
            matches("full", "last_place", "round", "alone"),
        ),
    ),
    properties=(_by_weights,),
)
