"""Which step of keeping drafts is wrong: what is kept, what is written after a rejection, or what
is written after the last draft, and which rule it follows instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from course_judges.ch12_faster.draft_outcomes import counts, exact, normed
from course_judges.ch12_faster.sections import DRAFTS
from course_judges.chance import follows
from course_judges.evidence import Evidence
from course_judges.wording import number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

# Fewer rows than this may all do the same by chance.
_ENOUGH = 50


class Place(NamedTuple):
    """The rows that have `most` drafts and kept all those before one place.

    Attributes
    ----------
    most, i : int
        How many drafts the rows have, and which of them is looked at.
    kept, drafted, written : (n,)
        Whether each row keeps its draft, the draft, and the symbol that it writes after its drafts.
    """

    most: int
    i: int
    kept: Array
    drafted: Array
    written: Array


Shares = Callable[[Array, Array, int], Array]


def _places(evidence: Evidence) -> list[Place]:
    count, symbol = counts(evidence)
    drafted, draft = evidence.inputs["drafted"], evidence.inputs["draft"]
    found = []
    for most in np.unique(drafted)[::-1]:
        for i in range(most):
            rows = (drafted == most) & (count >= i)
            if rows.any():
                found.append(Place(int(most), i, count[rows] > i, draft[rows, i], symbol[rows]))
    return found


def _distributions(evidence: Evidence) -> tuple[Array, Array]:
    return evidence.inputs["p"].astype(float), evidence.inputs["q"].astype(float)


def _kept_of_each(place: Place) -> Iterator[tuple[int, Array]]:
    """For each symbol that is drafted: 1 for each row that keeps it, 0 for the others."""
    for symbol in np.unique(place.drafted):
        yield int(symbol), place.kept[place.drafted == symbol].astype(int)


def _written_after_each(place: Place) -> Iterator[tuple[int, Array]]:
    """For each symbol that is rejected: what is written instead."""
    for symbol in np.unique(place.drafted[~place.kept]):
        yield int(symbol), place.written[~place.kept & (place.drafted == symbol)]


def _of_keeping(place: Place, shares: Array) -> list[tuple[Array, Array]]:
    """What happens to each drafted symbol, and how probable that is if it is kept with its share,
    (V,).
    """
    shares = np.clip(shares, 0, 1)
    return [(kept, np.array([1 - shares[d], shares[d]])) for d, kept in _kept_of_each(place)]


def _of_writing(place: Place, shares: Array) -> list[tuple[Array, Array]]:
    """The same for what is written after a rejection, with shares (V,), or (V, V) for each rejected
    symbol.
    """
    by_symbol = np.broadcast_to(shares, (shares.shape[-1],) * 2)
    return [
        (written, by_symbol[d] / max(float(by_symbol[d].sum()), 1e-12))
        for d, written in _written_after_each(place)
    ]


Outcomes = Callable[[Place, Array], list[tuple[Array, Array]]]


def _fits(outcomes: Outcomes, place: Place, shares: Array) -> bool:
    return all(follows(*one) for one in outcomes(place, shares))


def _surprise(outcomes: Outcomes, place: Place, shares: Array) -> float:
    """Minus the logarithm of how probable it is that this happened."""
    return sum(
        -float(np.log(np.maximum(probable[happened], 1e-12)).sum())
        for happened, probable in outcomes(place, shares)
    )


def _without_each(shares: Array) -> Array:
    """(V,) → (V, V): the same without symbol d, in row d."""
    return np.asarray(shares * (1 - np.eye(len(shares))))


def _quotient(p: Array, q: Array, i: int) -> Array:
    return np.asarray(np.minimum(1, p[i] / q[i]))


def _normal_below(limits: Array) -> Array:
    return np.array([0.5 * (1 + math.erf(one / math.sqrt(2))) for one in limits])


_KEPT: dict[str, Shares] = {
    "1 − min(1, p / q)": lambda p, q, i: 1 - _quotient(p, q, i),
    "p / (p + q)": lambda p, q, i: p[i] / (p[i] + q[i]),
    "p / q with the p of the place after it": lambda p, q, i: p[i + 1] / q[i],
    "p / q of the first place, at all places": lambda p, q, i: p[0] / q[0],  # noqa: ARG005
    "p / q with the q of the place after it": lambda p, q, i: p[i] / q[min(i + 1, len(q) - 1)],
    "p / q with the p of the first place": lambda p, q, i: p[0] / q[i],
    "p / q with the q of the first place": lambda p, q, i: p[i] / q[0],
    "1 − |p − q|": lambda p, q, i: 1 - abs(p[i] - q[i]),
    "p − q": lambda p, q, i: p[i] - q[i],
    "e^(p − q)": lambda p, q, i: np.exp(p[i] - q[i]),
    "p / max p": lambda p, q, i: p[i] / p[i].max(),  # noqa: ARG005
    "min(p, q)": lambda p, q, i: np.minimum(p[i], q[i]),
    "q": lambda p, q, i: q[i],  # noqa: ARG005
    "(p / q)²": lambda p, q, i: (p[i] / q[i]) ** 2,
    "√(p / q)": lambda p, q, i: np.sqrt(p[i] / q[i]),
    "1 where p / q is above 0.5, and 0 elsewhere": lambda p, q, i: (p[i] > q[i] / 2).astype(float),
    "that of a normal number below p / q, as from `randn` instead of `rand`": (
        lambda p, q, i: _normal_below(p[i] / q[i])
    ),
}

_AFTER_A_REJECTION: dict[str, Shares] = {
    "p without the rejected symbol": lambda p, q, i: _without_each(p[i]),  # noqa: ARG005
    "q without the rejected symbol": lambda p, q, i: _without_each(q[i]),  # noqa: ARG005
    "p": lambda p, q, i: p[i],  # noqa: ARG005
    "q": lambda p, q, i: q[i],  # noqa: ARG005
    "p at the place after it": lambda p, q, i: p[i + 1],  # noqa: ARG005
    "p / q": lambda p, q, i: p[i] / q[i],
    "max(0, p − q)²": lambda p, q, i: np.maximum(0, p[i] - q[i]) ** 2,
    "√max(0, p − q)": lambda p, q, i: np.sqrt(np.maximum(0, p[i] - q[i])),
    "p where it is above q": lambda p, q, i: p[i] * (p[i] > q[i]),
    "p / q where p is above q": lambda p, q, i: p[i] / q[i] * (p[i] > q[i]),
    "min(p, q)": lambda p, q, i: np.minimum(p[i], q[i]),
    "1 − q": lambda p, q, i: 1 - q[i],  # noqa: ARG005
    "the softmax of max(0, p − q)": lambda p, q, i: np.exp(np.maximum(0, p[i] - q[i])),
    "the softmax of p − q": lambda p, q, i: np.exp(p[i] - q[i]),
    "all symbols alike": lambda p, q, i: np.ones_like(p[i]),  # noqa: ARG005
    "all symbols with p > q alike": lambda p, q, i: (p[i] > q[i]).astype(float),
    "max(0, p − q) at the first place": lambda p, q, i: np.maximum(0, p[0] - q[0]),  # noqa: ARG005
    "max(0, p − q) at the last place": lambda p, q, i: np.maximum(0, p[-2] - q[-1]),  # noqa: ARG005
    "max(0, p − q) at the place before it": (
        lambda p, q, i: np.maximum(0, p[max(0, i - 1)] - q[max(0, i - 1)])
    ),
    "max(0, p − q) with the q of the place after it": (
        lambda p, q, i: np.maximum(0, p[i] - q[(i + 1) % len(q)])
    ),
    "max(0, p − q) with the p of the place after it": lambda p, q, i: np.maximum(
        0, p[i + 1] - q[i]
    ),
    "max(0, p − q) at the place after it": (
        lambda p, q, i: np.maximum(0, p[min(i + 1, len(q) - 1)] - q[min(i + 1, len(q) - 1)])
    ),
}


def _rule(
    candidates: dict[str, Shares], outcomes: Outcomes, places: list[Place], p: Array, q: Array
) -> str:
    """The rule that explains best what happens at all places; empty if none does."""
    fitting = {
        said: shares
        for said, shares in candidates.items()
        if all(_fits(outcomes, place, np.asarray(shares(p, q, place.i))) for place in places)
    }

    def surprise(said: str) -> float:
        own = fitting[said]
        return sum(_surprise(outcomes, one, np.asarray(own(p, q, one.i))) for one in places)

    return min(fitting, key=surprise, default="")


def _at(place: Place) -> str:
    return f"at place {place.i} of rows with {place.most} draft{'s' if place.most > 1 else ''}"


def _only_at(off: list[Place], places: list[Place]) -> str:
    """A sentence on the places that are wrong, if others are right; empty if all are wrong."""
    if len(off) == len(places):
        return ""
    for which, is_it in (
        ("first", lambda one: one.i == 0),
        ("last", lambda one: one.i == one.most - 1),
    ):
        if [one for one in places if is_it(one)] == off:
            return f"Only the {which} draft of a row is treated otherwise."
    return f"This goes wrong {', '.join(map(_at, off))}, and nowhere else."


def _kept_otherwise(evidence: Evidence, places: list[Place], p: Array, q: Array) -> Finding | None:
    """If drafts are kept with other probabilities: which, or how they differ."""
    off = [place for place in places if not _fits(_of_keeping, place, _quotient(p, q, place.i))]
    if not off or _by_equality(places, p):
        return None
    place = off[0]
    V = len(p[0])
    number_drafted = np.bincount(place.drafted, minlength=V)
    shares = np.bincount(place.drafted[place.kept], minlength=V) / np.maximum(1, number_drafted)
    rule = _quotient(p, q, place.i)
    d = int(np.where(number_drafted > _ENOUGH, abs(shares - rule), 0).argmax())
    at = _at(place)
    shown = unwrapped(f"""{at[0].upper()}{at[1:]}, symbol {d} has p = {number(p[place.i, d])} and
    q = {number(q[place.i, d])}, so min(1, p / q) is {100 * rule[d]:.1f} %, but you keep it in
    {100 * shares[d]:.1f} % of the rows that draft it.""")
    # These may follow the rule and yet count otherwise, so the headline doesn't name the rule.
    counted = (
        _all_or_nothing(evidence) or _never_all(evidence, off, places) or _same_for_all_rows(places)
    )
    if counted:
        what, more = counted
        return Finding("other-share-kept", what, f"{more} {shown}".strip(), DRAFTS)
    said = _whatever_the_symbol(places)
    if not said and (name := _rule(_KEPT, _of_keeping, places, p, q)):
        said = f"Your probability of keeping a draft seems to be {name}."
    if not said and (said := _only_at(off, places)) and all(one.kept.all() for one in off):
        said += " You always keep it there."
    return Finding(
        "other-share-kept",
        "You don't keep drafts with min(1, p / q), and what you write doesn't follow the model.",
        f"{said} {shown}".strip(),
        DRAFTS,
    )


def _by_equality(places: list[Place], p: Array) -> bool:
    """Whether drafts are kept with probability p, as if they equal a symbol drawn from p."""
    return all(_fits(_of_keeping, place, p[place.i]) for place in places)


def _all_or_nothing(evidence: Evidence) -> tuple[str, str] | None:
    """On rows that keep all of their drafts or none: what is done, and more about it."""
    count, _ = counts(evidence)
    drafted = evidence.inputs["drafted"]
    several = drafted > 1
    none, all_ = count[several] == 0, count[several] == drafted[several]
    if not (none | all_).all() or none.all() or all_.all():
        return None
    return (
        "Your rows keep all of their drafts or none, but those before the first rejected one stay.",
        "So what you write doesn't follow the model.",
    )


def _never_all(evidence: Evidence, off: list[Place], places: list[Place]) -> tuple[str, str] | None:
    """On rows that never keep all of their drafts, and on whether the others are right."""
    count, _ = counts(evidence)
    drafted = evidence.inputs["drafted"]
    never = {}
    for most in np.unique(drafted[drafted > 0])[::-1]:
        kept = count[drafted == most]
        if kept.any() and kept.max() < most:
            never[int(most)] = int(kept.max())
    if not never:
        return None
    most, largest = next(iter(never.items()))
    told = f"Their largest count is {largest}, so what you write doesn't follow the model."
    if largest == most - 1:
        told += " If you look for the first rejected draft, think of rows in which none is."
    wrong = {place.most for place in off}
    if wrong == set(never) and any(place.most not in wrong for place in places):
        told += " All other rows keep drafts with min(1, p / q), as they should."
    return f"No row with {most} draft{'s' * (most > 1)} keeps all of them.", told


def _whatever_the_symbol(places: list[Place]) -> str:
    """A sentence on drafts that are all kept equally often, whatever their symbol."""
    if any(place.kept.all() or not place.kept.any() for place in places):
        return ""
    V = max(int(place.drafted.max()) for place in places) + 1
    share = float(np.concatenate([place.kept for place in places]).mean())
    if not all(_fits(_of_keeping, place, np.full(V, share)) for place in places):
        return ""
    return f"You keep every symbol equally often, in {100 * share:.0f} % of its drafts."


def _same_for_all_rows(places: list[Place]) -> tuple[str, str] | None:
    """On symbols that are kept in all rows or in none."""
    alike = all(
        len(kept) < _ENOUGH or kept.all() or not kept.any()
        for place in places
        for _, kept in _kept_of_each(place)
    )
    if not alike or not any(place.kept.any() and not place.kept.all() for place in places):
        return None
    return (
        "At each place, all your rows that draft the same symbol do the same.",
        "Each draft needs a random number of its own, (B, K) in all, and not one for all rows, or "
        "a fixed limit.",
    )


def _written_otherwise(places: list[Place], p: Array, q: Array) -> Finding | None:
    """If another symbol than the right one is written after a rejection: by which rule."""

    def lacking(p: Array, q: Array, i: int) -> Array:
        return np.asarray(np.maximum(0, p[i] - q[i]))

    by_equality = _by_equality(places, p)
    rule: Shares = (lambda p, q, i: _without_each(p[i])) if by_equality else lacking  # noqa: ARG005
    off = [place for place in places if not _fits(_of_writing, place, rule(p, q, place.i))]
    if not off:
        return None
    if name := _rule(_AFTER_A_REJECTION, _of_writing, places, p, q):
        said = f"You seem to draw from {name}."
    else:
        said = _only_at(off, places)
    if by_equality:
        what = (
            "You keep drafts with probability p, as if they equal a symbol drawn from p, but "
            "otherwise you don't write that very symbol."
        )
        right = "p without the rejected symbol"
    else:
        what = (
            "You keep drafts with min(1, p / q), but after a rejection you don't draw from "
            "max(0, p − q)."
        )
        right = "max(0, p − q)"
    return Finding(
        "other-symbol-after-a-rejection",
        what,
        f"{said} {_worst_written(off[0], rule(p, q, off[0].i), right)}".strip(),
        DRAFTS,
    )


def _worst_written(place: Place, shares: Array, right: str) -> str:
    """A sentence on the symbol that is written too often or too rarely after a rejection."""
    V = shares.shape[-1]
    rejected = np.bincount(place.drafted[~place.kept], minlength=V)
    d = int(rejected.argmax())
    only = shares.ndim == 2  # it depends on which symbol was rejected
    rows = ~place.kept & (place.drafted == d) if only else ~place.kept
    found = np.bincount(np.clip(place.written[rows], 0, V - 1), minlength=V) / max(1, rows.sum())
    wanted = normed(shares[d] if only else shares)
    worst = int(abs(found - wanted).argmax())
    after = f"After symbol {d} is rejected" if only else "After a rejection"
    return unwrapped(f"""{after} {_at(place)}, you write symbol {worst} with a share of
    {number(found[worst])}, but {right}, divided by its sum, is {number(wanted[worst])} there.""")


def _after_all_kept(evidence: Evidence, p: Array) -> Iterator[tuple[int, Array]]:
    """How many drafts rows have that keep them all, and what they write."""
    count, symbol = counts(evidence)
    drafted = evidence.inputs["drafted"]
    for most in np.unique(drafted)[::-1]:
        written = symbol[(drafted == most) & (count == most)]
        if len(written) and not follows(written, p[most]):
            yield int(most), written


def _after_all(evidence: Evidence, p: Array, q: Array) -> Finding | None:
    """If another symbol than the right one is written after all drafts of a row: which."""
    found = list(_after_all_kept(evidence, p))
    if not found:
        return None
    most, written = found[0]
    shares = np.bincount(np.clip(written, 0, len(p[0]) - 1), minlength=len(p[0])) / len(written)
    worst = int(abs(shares - p[most]).argmax())
    ways: dict[str, Callable[[int], Array]] = {
        "the likeliest symbol of the right distribution": (
            lambda k: (np.arange(len(p[k])) == p[k].argmax()).astype(float)
        ),
        "a symbol from `p[b, drafted[b] − 1]`": lambda k: p[max(0, k - 1)],
        "a symbol from `p[b, drafted[b] + 1]`": lambda k: p[min(len(p) - 1, k + 1)],
        f"a symbol from `p[b, {len(p) - 1}]`": lambda k: p[-1],  # noqa: ARG005
        "a symbol from `p[b, 0]`": lambda k: p[0],  # noqa: ARG005
        "a symbol from the q of the last draft": lambda k: q[max(0, k - 1)],
        "all symbols alike": lambda k: np.ones_like(p[k]) / len(p[k]),
        "max(0, p − q) of the last draft": (
            lambda k: normed(np.maximum(0, p[max(0, k - 1)] - q[max(0, k - 1)]))
        ),
    }
    name = next(
        (
            said
            for said, own in ways.items()
            if all(follows(symbols, own(k)) for k, symbols in found)
        ),
        "",
    )
    which = f" You seem to write {name}." if name else ""
    rows = "no draft" if most == 0 else f"{most} drafts" if most > 1 else "1 draft"
    return Finding(
        "other-symbol-after-all",
        "You treat drafts as you should, but where a row has no further draft, you write a wrong "
        "symbol.",
        unwrapped(f"""Rows with {rows} that keep all of them write symbol {worst} with a share of
        {number(shares[worst])}, but `p[b, {most}]` gives it {number(p[most, worst])}.{which}"""),
        DRAFTS,
    )


def wrong_step(evidence: Evidence) -> Finding | None:
    """The first step that is wrong if what is written doesn't follow the model."""
    count, _ = counts(evidence)
    if exact(evidence) or (count < 0).any() or (count > evidence.inputs["drafted"]).any():
        return None
    p, q = _distributions(evidence)
    places = _places(evidence)
    return (
        _kept_otherwise(evidence, places, p, q)
        or _written_otherwise(places, p, q)
        or _after_all(evidence, p, q)
    )
