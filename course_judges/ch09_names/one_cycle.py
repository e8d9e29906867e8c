"""Judges 09/one-cycle: rate up and down, momentum down and up, both along half a cosine."""

# mypy: allow-untyped-defs

from __future__ import annotations

import math

import numpy as np

from course_judges.ch09_names.sections import CYCLE
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import first_upper, number, unwrapped
from course_tasks.ch09_names.one_cycle import SHORT
from course_tasks.verdict import Finding


def _half_cosine(a, b, share):
    return b + (a - b) / 2 * (1 + math.cos(math.pi * share))


def _line(a, b, share):
    return a + (b - a) * share


def one_cycle(step, steps, rise, peak, start_factor, final_factor, low, high):
    """A right answer."""
    turn = round(rise * steps) - 1  # the step of the peak
    first = peak / start_factor
    last = first / final_factor  # the last rate
    if step <= turn:
        share = step / turn
        rate = _half_cosine(first, peak, share)
        momentum = _half_cosine(high, low, share)
    else:
        share = (step - turn) / (steps - 1 - turn)  # the share of the fall
        rate = _half_cosine(peak, last, share)
        momentum = _half_cosine(low, high, share)  # your momentum on the way down
    return rate, momentum


def _cycle(rising=_half_cosine, falling=_half_cosine, moments=_half_cosine, whole=round):
    """An answer with other courses, or another way to a whole number."""

    def answer(step, steps, rise, peak, start_factor, final_factor, low, high):
        turn, first = whole(rise * steps) - 1, peak / start_factor
        if step <= turn:
            return rising(first, peak, step / turn), moments(high, low, step / turn)
        share = (step - turn) / (steps - 1 - turn)
        return falling(peak, first / final_factor, share), moments(low, high, share)

    return answer


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
    return None


def _other_course(evidence: Evidence) -> Finding | None:
    """Which halves of the rate and of the momentum are wrong, and the first wrong step of each."""
    turn = _turn(evidence)
    where: dict[str, list[str]] = {}
    first: dict[str, int] = {}
    for way, part in (("up to the peak", slice(turn + 1)), ("after it", slice(turn + 1, None))):
        off = []
        for what in ("rate", "momentum"):
            mine, right = (side(f"cycle.{what}") for side in (evidence.yours, evidence.right))
            if np.allclose(mine[0] * right, right[0] * mine, 1e-3) and mine[0] != right[0]:
                return None  # all of it is scaled by one factor
            places = np.arange(len(right))[part][~np.isclose(mine[part], right[part], 1e-4, 1e-7)]
            if len(places):
                off.append(what)
                first.setdefault(what, int(places[0]))
        if off:
            verb = "is" if len(off) == 1 else "are"
            where.setdefault(f"your {' and your '.join(off)} {verb} wrong", []).append(way)
    if not where:
        return None
    wrong = ", and ".join(f"{said} {' and '.join(ways)}" for said, ways in where.items())
    told = [(_rate if what == "rate" else _momentum_at)(evidence, n) for what, n in first.items()]
    return Finding(
        "other-course",
        f"{first_upper(wrong).replace('wrong after it', 'wrong after the peak', 1)}.",
        f"{' '.join(told)} The peak is at step {turn}. Half a cosine is flat at both ends and"
        " steepest halfway.",
        CYCLE,
    )


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


def _at_end(evidence: Evidence) -> str:
    return _rate(evidence, -1).replace("step -1", "the last step")


def _halfway(evidence: Evidence) -> str:
    return _rate(evidence, max(1, _turn(evidence) // 3))


_results_exchanged = mistake(
    "You returned your two results in the wrong order.", "The rate comes first, then the momentum."
)(lambda *given, **settings: one_cycle(*given, **settings)[::-1])

_straight_lines = mistake(
    "You used straight lines, as the chapter does, but the task asks for half cosines.", _halfway
)(_cycle(_line, _line, _line))

_momentum_straight = mistake(
    "Your momentum follows straight lines, but it should follow half cosines, as the rate does.",
    lambda e: _momentum_at(e, max(1, _turn(e) // 3)),
)(_cycle(moments=_line))

_momentum_along = mistake("Your momentum rises and falls together with the rate.", _momentum)(
    _cycle(moments=lambda a, b, share: _half_cosine(b, a, share))
)

_final_from_the_peak = mistake(
    "You divide the peak by `final_factor`, but it divides the first rate.", _at_end
)(Like("used-peak-instead-of-first-in-the-last-rate"))

_ends_at_zero = mistake("Your rate ends at 0, so the last step is wasted.", _at_end)(
    _cycle(falling=lambda peak, _, share: _half_cosine(peak, 0.0, share))
)

_turns_one_step_late = mistake(
    "Your rate peaks one step late instead of at step rise · steps − 1.", _at_turn
)(Like("left-out-the-subtraction-of-1-in-the-step-of-the-peak"))

_ends_one_step_late = mistake(
    "Your fall would end one step after the last one, which is step steps − 1.", _at_end
)(Like("left-out-the-subtraction-of-1-in-the-share-of-the-fall"))

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


@mistake(
    "Your fall begins one step late, so the rate stays at its peak for two steps.",
    lambda e: unwrapped(f"""The share s of the fall is 0 at the peak (step {_turn(e)}), and one step
    later it is already 1 / (steps − 1 − {_turn(e)}). {_rate(e, _turn(e) + 1)}"""),
)
def _falls_one_step_late(step, steps, rise, **settings):
    top = round(rise * steps)
    if step < top:
        return one_cycle(step, steps, rise, **settings)
    return one_cycle(step - 1, max(steps - 1, top + 1), top / max(steps - 1, top + 1), **settings)


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


@mistake(
    "You count the steps of the rise from 1, so step 0 is already part of the way.",
    lambda e: _rate(e, 0),
)
def _rise_from_one(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn = round(rise * steps) - 1
    if step > turn:
        return one_cycle(step, steps, rise, peak, start_factor, final_factor, low, high)
    share = (step + 1) / (turn + 1)
    return _half_cosine(peak / start_factor, peak, share), _half_cosine(high, low, share)


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
    properties=(_anchors, _other_course),
    cases=tuple(_CASES),
    steps={
        "the step of the peak": Step(
            "The steps of the rise are the nearest whole number to rise · steps, and the first of "
            "them is step 0."
        ),
        "the last rate": Step("`final_factor` divides the first rate."),
        "the share of the fall": Step(
            "The share is 0 at the peak and 1 at the last step, steps − 1."
        ),
        "your momentum on the way down": Step(
            "While the rate falls, the momentum rises again, from `low` to `high`."
        ),
    },
)
