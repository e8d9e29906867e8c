"""Judges 09/one-cycle: rate up and down, momentum down and up, both along half a cosine."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from course_judges.ch09_names.sections import CYCLE
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import first_upper, number, unwrapped
from course_tasks.answers import Array
from course_tasks.ch09_names.one_cycle import SHORT
from course_tasks.verdict import Finding


def _half_cosine(a, b, share):
    return b + (a - b) / 2 * (1 + math.cos(math.pi * share))


def _line(a, b, share):
    return a + (b - a) * share


def _cycle(
    between=_half_cosine,
    begin=None,
    end=None,
    shift=0,
    top=-1,
    momentum=None,
    whole=float,
    beyond=0,
    held=0,
    momentum_between=None,
):
    """An answer with one of its choices replaced."""

    def answer(step, steps, rise, peak, start_factor, final_factor, low, high):
        first = peak / start_factor if begin is None else begin(peak, start_factor)
        last = peak / start_factor / final_factor
        last = last if end is None else end(peak, start_factor, final_factor)
        step, turn = step + shift, whole(rise * steps) + top
        of_momentum = momentum_between or between
        if step <= turn + 1e-9:
            share = step / turn
            rate, moment = between(first, peak, share), of_momentum(high, low, share)
        else:
            share = (step - turn - held) / max(steps - 1 + beyond - turn - held, 1)
            rate, moment = between(peak, last, share), of_momentum(low, high, share)
        return rate, moment if momentum is None else momentum(moment, low, high)

    return answer


one_cycle = _cycle()


# In one case rise · steps is a little below a whole number, in the other a little above.
_CASES = {"cycle": "", "above": "_above"}


def _turn(evidence: Evidence, kind: str = "") -> int:
    return round(float(evidence.inputs[f"rise{kind}"]) * evidence.number(f"steps{kind}")) - 1


def _rates(evidence: Evidence, rising: bool) -> bool:
    for case, kind in _CASES.items():
        mine, right = evidence.yours(f"{case}.rate"), evidence.right(f"{case}.rate")
        turn = _turn(evidence, kind)
        part = slice(0, turn + 1) if rising else slice(turn + 1, None)
        if mine.shape != right.shape or not np.allclose(mine[part], right[part], 1e-4, 1e-5):
            return False
    return True


def _rises(evidence: Evidence) -> bool:
    return _rates(evidence, rising=True) and evidence.same("early.rate")


def _falls(evidence: Evidence) -> bool:
    return _rates(evidence, rising=False) and evidence.same(
        "cycle.end", "above.end", "late.rate", "late.end"
    )


def _results_exchanged(evidence: Evidence) -> Finding | None:
    peak = float(evidence.inputs["peak"])  # the unit of rates
    rate, momentum = (
        evidence.right(f"cycle.{name}") * unit
        for name, unit in (("momentum", 1 / peak), ("rate", peak))
    )
    if not (
        np.allclose(evidence.yours("cycle.rate"), rate)
        and np.allclose(evidence.yours("cycle.momentum"), momentum)
    ):
        return None
    return Finding(
        "exchanged",
        "You returned your two results in the wrong order.",
        "The rate comes first, then the momentum.",
        CYCLE,
    )


# What the rate or the momentum does at the first step, at the peak and at the last step.
_VERBS = ("begin", "turn", "end")


def _anchors(evidence: Evidence) -> Finding | None:
    """A rate or a momentum that is wrong at the first step, at the peak or at the last step; or, if
    it is right there, somewhere in between.
    """
    turn, last = _turn(evidence), evidence.number("steps") - 1
    for what, unit in (("rate", float(evidence.inputs["peak"])), ("momentum", 1.0)):
        if evidence.same(f"cycle.{what}") or not evidence.comparable(f"cycle.{what}"):
            continue
        mine, right = (unit * side(f"cycle.{what}") for side in (evidence.yours, evidence.right))
        places = {"at step 0": 0, f"at the peak (step {turn})": turn, "at the last step": last}
        if np.allclose(mine[0] * right, right[0] * mine, 1e-3):
            return None  # all of it is scaled by one factor
        off = [where for where, n in places.items() if abs(mine[n] - right[n]) > 1e-4 * right[n]]
        told = ", ".join(
            f"{number(float(mine[places[where]]), 4)} instead of"
            f" {number(float(right[places[where]]), 4)} {where}"
            for where in off
        )
        if off:
            right_ones = " and ".join(where for where in places if where not in off)
            verbs = [verb for verb, where in zip(_VERBS, places, strict=True) if where in off]
            *before, final = verbs
            does_not = f"{', '.join(before)} or {final}" if before else final
            values = "values" if before else "value"
            rest = f" It is right {right_ones}." if right_ones else ""
            return Finding(
                f"{what}-at-the-ends",
                f"Your {what} doesn't {does_not} at the right {values}.",
                f"It is {told}.{rest}",
                CYCLE,
            )
        n = int((~(abs(mine - right) <= 1e-4 * right)).argmax())
        return Finding(
            f"{what}-between",
            f"Your {what} begins, turns and ends as it should, but is wrong in between.",
            f"At step {n} it is {number(float(mine[n]), 4)} instead of"
            f" {number(float(right[n]), 4)}. Half a cosine is flat at both ends and steepest"
            " halfway.",
            CYCLE,
        )
    return None


# The two halves of a cycle, as they are called.
_WAYS = ("up to the peak", "from the peak to the end")


def _half(evidence: Evidence, what: str, way: int) -> tuple[Array, Array]:
    """Your values and the right ones of one half, the peak included; rates in their own unit."""
    turn, unit = _turn(evidence), float(evidence.inputs["peak"]) if what == "rate" else 1.0
    part = slice(turn, None) if way else slice(turn + 1)
    mine, right = (
        unit * side(f"cycle.{what}").astype(float)[part]
        for side in (evidence.yours, evidence.right)
    )
    return mine, right


def _alike(mine: Array | float, right: Array | float, scale: float) -> bool:
    return bool(np.allclose(mine, right, rtol=0, atol=1e-4 * abs(scale)))


def _same(mine: Array, right: Array) -> bool:
    return np.allclose(mine, right, rtol=1e-4, atol=1e-7)


def _called(evidence: Evidence, value: float) -> str:
    """A value, and which of the settings it is."""
    names = ("peak", "start_factor", "final_factor", "low", "high")
    peak, start, final, low, high = (float(evidence.inputs[name]) for name in names)
    known = {
        "`peak`": peak,
        "`peak / start_factor`": peak / start,
        "`peak / final_factor`": peak / final,
        "`peak · start_factor`": peak * start,
        "`peak / start_factor / final_factor`": peak / start / final,
        "`peak / start_factor · final_factor`": peak / start * final,
        "`low`": low,
        "`high`": high,
    }
    name = next((name for name, one in known.items() if abs(one - value) < 1e-5 * abs(one)), "")
    return f"{number(value, 4)} ({name})" if name else number(value, 4)


def _cosine(a: float, b: float, share: Array) -> Array:
    return np.asarray(b + (a - b) / 2 * (1 + np.cos(np.pi * share)))


def _share(mine: Array, right: Array, way: int) -> tuple[float, float] | None:
    """The shares s at the first and the last step of a half, if yours is half a cosine between the
    right values, but with another s that is kept between 0 and 1. The peak is a step of the rise.
    """
    a, b = float(right[0]), float(right[-1])
    angle = 2 * (mine[way:] - b) / (a - b) - 1
    if (abs(angle) > 1 + 1e-6).any():
        return None
    found = np.arccos(angle.clip(-1, 1)) / np.pi
    steps = np.arange(len(found))
    inside = (found > 0.02) & (found < 0.98)
    if inside.sum() < 3:
        return None
    slope, start = np.polyfit(steps[inside], found[inside], 1)
    shares = (start + slope * steps).clip(0, 1)
    if not _alike(_cosine(a, b, shares), mine[way:], b - a):
        return None
    return float(shares[0]), float(shares[-1])


# Which part of the way is gone at a share s of the steps, in place of half a cosine's.
_OTHER_COURSES: dict[str, Callable[[Array], Array]] = {
    "a quarter of a cosine": lambda s: 1 - np.cos(np.pi / 2 * s),
    "a quarter of a sine": lambda s: np.sin(np.pi / 2 * s),
    "s²": lambda s: s**2,
    "1 − (1 − s)²": lambda s: 1 - (1 - s) ** 2,
    "√s": np.sqrt,
    "the polynomial 3 s² − 2 s³": lambda s: 3 * s**2 - 2 * s**3,
}


def _course(evidence: Evidence, what: str, way: int) -> str:
    """How your rate or your momentum goes in one half, in words; empty if nothing is known."""
    mine, right = _half(evidence, what, way)
    other = "momentum" if what == "rate" else "rate"
    if np.allclose(mine, _half(evidence, other, way)[1], rtol=1e-4):
        return f"is what your {other} should be. Do you return the two in the wrong order there?"
    a, b, scale = float(mine[0]), float(mine[-1]), float(abs(right[-1] - right[0]))
    even = np.linspace(0, 1, len(mine))
    ends = f"from {_called(evidence, a)} to {_called(evidence, b)}"
    should = f"from {number(float(right[0]), 4)} to {number(float(right[-1]), 4)}"
    if _alike(mine, a, scale):
        return f"stays at {_called(evidence, a)}, but should go {should}."
    if _alike(mine[:-1], a, scale):
        return (
            f"stays at {_called(evidence, a)} until its last step. Is your share s a whole number,"
            " because you divide with `//`?"
        )
    if _alike(mine, a + (b - a) * even, scale):
        same = _alike(a, right[0], scale) and _alike(b, right[-1], scale)
        return f"goes along a straight line {'instead of half a cosine' if same else ends}."
    if _alike(mine, _cosine(a, b, even), scale):
        return f"is half a cosine {ends}, but should go {should}."
    if _alike(mine, _cosine(float(right[0]), float(right[-1]), 2 * even), scale):
        return "goes along a whole cosine, there and back, instead of half of one."
    if (mine > 0).all() and _alike(np.log(mine), _cosine(np.log(a), np.log(b), even), 1.0):
        return "has a logarithm that goes along half a cosine, but it should do so itself."
    if (mine > 0).all() and _alike(np.log(mine), np.log(a) + np.log(b / a) * even, 1.0):
        return f"grows or shrinks by the same factor at each step, {ends}."
    sine = right[-1] + (right[0] - right[-1]) / 2 * (1 + np.sin(np.pi * even))
    if _alike(mine[way:], sine[way:], scale):
        return "follows the sine of π s instead of the cosine."
    for said, of in _OTHER_COURSES.items():
        if _alike(mine[way:], (right[0] + (right[-1] - right[0]) * of(even))[way:], scale):
            return f"goes along {said} instead of half a cosine."
    shares = _share(mine, right, way)
    if shares is None:
        return ""
    first, last, wanted = (number(round(share, 4) + 0.0) for share in (*shares, even[way]))
    begin, end = (
        (_turn(evidence) + 1, evidence.number("steps") - 1) if way else (0, _turn(evidence))
    )
    return (
        f"is a cosine between the right values, but its share s is {first} at step {begin} and"
        f" {last} at step {end} instead of {wanted} and 1."
    )


def _turns_elsewhere(evidence: Evidence) -> Finding | None:
    """A momentum that has its lowest value, or a rate that has its highest, at another step than
    the peak.
    """
    turn, last = _turn(evidence), evidence.number("steps") - 1
    for what, most, farthest in (("rate", "highest", np.argmax), ("momentum", "lowest", np.argmin)):
        if evidence.same(f"cycle.{what}") or not evidence.comparable(f"cycle.{what}"):
            continue
        mine, right = evidence.yours(f"cycle.{what}"), evidence.right(f"cycle.{what}")
        found = int(farthest(mine))
        # It has to turn only once, a step at least from where it should and from either end.
        way = np.sign(np.diff(mine))
        turns = int((way[1:] * way[:-1] < 0).sum())
        if turns > 1 or abs(found - turn) < 2 or found in (0, last):
            return None
        half = (
            " That is halfway through all the steps, but the peak should come at rise · steps − 1."
            if abs(found - last / 2) <= 0.5
            else ""
        )
        unit = float(evidence.inputs["peak"]) if what == "rate" else 1.0
        one, other = (number(float(unit * side[turn]), 4) for side in (mine, right))
        return Finding(
            f"{what}-turns-elsewhere",
            f"Your {what} is {most} at step {found} instead of at the peak, step {turn}.",
            f"At step {turn} it is {one} instead of {other}.{half}",
            CYCLE,
        )
    return None


def _other_course(evidence: Evidence) -> Finding | None:
    """How each wrong half of the rate or the momentum goes instead."""
    quantities = ("rate", "momentum")
    if not all(evidence.comparable(f"cycle.{what}") for what in quantities):
        return None
    mine, right = evidence.yours("cycle.rate"), evidence.right("cycle.rate")
    if not evidence.same("cycle.rate") and np.allclose(mine[0] * right, right[0] * mine, 1e-3):
        return None  # all of it is scaled by one factor
    told: list[str] = []
    wrong: dict[str, list[str]] = {}  # where each of them is wrong
    for way, where in enumerate(_WAYS):
        halves = {what: _half(evidence, what, way) for what in quantities}
        # The peak is a step of the rise, even if the fall begins there.
        off = [w for w, (mine, right) in halves.items() if not _same(mine[way:], right[way:])]
        if off:
            wrong.setdefault(f"your {' and your '.join(off)} {_is_or_are(off)} wrong", []).append(
                where
            )
        courses = {what: course for what in off if (course := _course(evidence, what, way))}
        if not courses:
            continue
        one, *other = courses
        told.append(f"{first_upper(where)}, your {one} {courses[one]}")
        if other and courses[other[0]] == courses[one]:
            told.append(f"The same is true of your {other[0]}.")
        elif other:
            told.append(f"Your {other[0]} {courses[other[0]]}")
    if not told:
        return None
    what = ", and ".join(f"{said} {' and '.join(where)}" for said, where in wrong.items())
    return Finding("other-course", f"{first_upper(what)}.", " ".join(told), CYCLE)


def _is_or_are(quantities: Sequence[str]) -> str:
    return "are" if len(quantities) > 1 else "is"


def _short_cycle(evidence: Evidence) -> Finding | None:
    """Wrong only where the rise or the fall is a single step."""
    if not evidence.same("cycle", "above"):
        return None
    for case, (steps, rise) in SHORT.items():
        for what in ("rate", "momentum"):
            if evidence.same(f"{case}.{what}") or not evidence.comparable(f"{case}.{what}"):
                continue
            mine, right = (side(f"{case}.{what}") for side in (evidence.yours, evidence.right))
            step = int((~(abs(mine - right) <= 1e-4 * right)).argmax())
            unit = float(evidence.inputs["peak"]) if what == "rate" else 1.0
            way = "rise" if case == "early" else "fall"
            return Finding(
                "short-cycle",
                "Your cycle is right with many steps, but wrong with a few.",
                unwrapped(f"""With steps = {steps} and rise = {rise:g}, the {way} is a single step.
                At step {step} your {what} is {number(unit * float(mine[step]), 4)} instead of
                {number(unit * float(right[step]), 4)}."""),
                CYCLE,
            )
    return None


def _missed_from_above(evidence: Evidence) -> str:
    turn, steps = _turn(evidence, "_above"), evidence.number("steps_above")
    product = float(evidence.inputs["rise_above"]) * steps
    return unwrapped(f"""With {steps} steps, rise · steps is {turn + 1}, but in floating point it
    comes out as {product!r}. The peak should be at step {turn}, but yours is at step {turn + 1}.
    You get that from `ceil(…) − 1`, or from `int(…)` without the − 1. Use `round(…) − 1`.""")


def _rate(evidence: Evidence, step: int) -> str:
    peak = float(evidence.inputs["peak"])
    mine, right = (peak * side("cycle.rate")[step] for side in (evidence.yours, evidence.right))
    return f"At step {step} your rate is {number(mine, 4)} instead of {number(right, 4)}."


def _momentum(evidence: Evidence) -> str:
    turn = _turn(evidence)
    mine = evidence.yours("cycle.momentum")[turn]
    right = evidence.right("cycle.momentum")[turn]
    return unwrapped(f"""At the peak (step {turn}) your momentum is {number(mine, 4)} instead of
    {number(right, 4)}. Where steps are large, momentum should be low.""")


def _momentum_at(evidence: Evidence, step: int) -> str:
    mine, right = (side("cycle.momentum")[step] for side in (evidence.yours, evidence.right))
    return f"At step {step} your momentum is {number(mine, 4)} instead of {number(right, 4)}."


def _at_turn(evidence: Evidence) -> str:
    return _rate(evidence, _turn(evidence))


def _at_start(evidence: Evidence) -> str:
    return _rate(evidence, 0)


def _at_end(evidence: Evidence) -> str:
    return _rate(evidence, -1).replace("step -1", "the last step")


def _halfway(evidence: Evidence) -> str:
    return _rate(evidence, max(1, _turn(evidence) // 3))


_straight_lines = mistake(
    "You used straight lines, as the chapter does, but the task asks for half cosines.", _halfway
)(_cycle(between=_line))

_final_from_the_peak = mistake(
    "You divide the peak by `final_factor`, but it divides the first rate.", _at_end
)(_cycle(end=lambda peak, _, final: peak / final))

_ends_where_it_began = mistake(
    "Your rate ends where it began, as if there were no `final_factor`.", _at_end
)(_cycle(end=lambda peak, start, _: peak / start))

_starts_at_zero = mistake("Your rate starts at 0, so the first step is wasted.", _at_start)(
    _cycle(begin=lambda *_: 0.0)
)

_counts_from_one = mistake("You count steps from 1, but the first step is 0.", _at_start)(
    _cycle(shift=1)
)

_turns_one_step_late = mistake(
    "Your rate peaks one step late instead of at step rise · steps − 1.", _at_turn
)(_cycle(top=0))


_falls_one_step_late = mistake(
    "Your fall begins one step late, so the rate stays at its peak for two steps.",
    lambda e: unwrapped(f"""The share s of the fall is 0 at the peak (step {_turn(e)}), and one step
    later it is already 1 / (steps − 1 − {_turn(e)}). {_rate(e, _turn(e) + 1)}"""),
)(_cycle(held=1))

_ends_one_step_late = mistake(
    "Your fall would end one step after the last one, which is step steps − 1.", _at_end
)(_cycle(beyond=1))

_rounded_down = mistake(
    "You rounded rise · steps down, but it should be rounded to the nearest whole number.",
    lambda e: unwrapped(f"""rise · steps is {_turn(e) + 1}, but in floating point it comes out as
    {float(e.inputs["rise"]) * e.number("steps")!r}, which `int` and `//` cut to {_turn(e)}. Use
    `round`. {_at_turn(e)}"""),
)(_cycle(whole=int))


_rounded_up = mistake(
    "Where rise · steps comes out a little too large, your peak is one step late.",
    _missed_from_above,
)(_cycle(whole=math.ceil))


@mistake("Your rate starts at its peak and never rises.", _at_start)
def _never_rises(step, steps, rise, peak, start_factor, final_factor, low, high):
    last = peak / start_factor / final_factor
    share = step / (steps - 1)
    return _half_cosine(peak, last, share), _half_cosine(low, high, share)


_momentum_along = mistake("Your momentum rises and falls together with the rate.", _momentum)(
    _cycle(momentum=lambda m, low, high: low + high - m)
)


@mistake(
    "You computed the momentum from rate / peak, but it follows half cosines of its own.",
    lambda e: unwrapped(f"""The rate doesn't begin or end at 0, so your momentum doesn't begin or
    end at `high`. {_momentum_at(e, 0)}"""),
)
def _momentum_of_the_rate(step, steps, rise, peak, start_factor, final_factor, low, high):
    rate, _ = one_cycle(step, steps, rise, peak, start_factor, final_factor, low, high)
    return rate, high - (high - low) * rate / peak


@mistake(
    "You mirrored the rate to get the momentum, but it follows half cosines of its own.",
    lambda e: unwrapped(f"""The rate ends below where it began, so your momentum ends above `high`.
    {_momentum_at(e, -1).replace("step -1", "the last step")}"""),
)
def _momentum_mirrored(step, steps, rise, peak, start_factor, final_factor, low, high):
    rate, _ = one_cycle(step, steps, rise, peak, start_factor, final_factor, low, high)
    first = peak / start_factor
    return rate, high - (high - low) * (rate - first) / (peak - first)


@mistake("You count the steps of the rise from 1, so step 0 is already part of the way.", _at_start)
def _rise_from_one(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn = round(rise * steps) - 1
    if step > turn:
        return one_cycle(step, steps, rise, peak, start_factor, final_factor, low, high)
    share = (step + 1) / (turn + 1)
    return _half_cosine(peak / start_factor, peak, share), _half_cosine(high, low, share)


_momentum_straight = mistake(
    "Your momentum follows straight lines, but it should follow half cosines, as the rate does.",
    lambda e: _momentum_at(e, max(1, _turn(e) // 3)),
)(_cycle(momentum_between=_line))

_momentum_constant = mistake("Your momentum never changes.", _momentum)(
    _cycle(momentum=lambda *found: found[2])
)


TASK = Task(
    "One cycle by hand",
    one_cycle,
    CYCLE,
    (
        Part("The rate rises as it should.", 1, _rises),
        Part("The rate falls as it should, to its end.", 1, _falls),
        Part(
            "The momentum goes the other way.",
            2,
            matches(*(f"{case}.momentum" for case in (*_CASES, *SHORT))),
        ),
    ),
    properties=(_results_exchanged, _short_cycle, _turns_elsewhere, _other_course, _anchors),
    cases=tuple(_CASES),
)
