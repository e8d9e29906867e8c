"""Judges 09/one-cycle: rate up and down, momentum down and up, both along half a cosine."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001

from __future__ import annotations

import math

import numpy as np

from course_judges.ch09_names.sections import CYCLE
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, unwrapped


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
):
    """An answer with one of its choices replaced."""

    def answer(step, steps, rise, peak, start_factor, final_factor, low, high):
        first = peak / start_factor if begin is None else begin(peak, start_factor)
        last = peak / start_factor / final_factor
        last = last if end is None else end(peak, start_factor, final_factor)
        step, turn = step + shift, whole(rise * steps) + top
        if step <= turn + 1e-9:
            share = step / turn
            rate, moment = between(first, peak, share), between(high, low, share)
        else:
            share = (step - turn) / (steps - 1 + beyond - turn)
            rate, moment = between(peak, last, share), between(low, high, share)
        return rate, moment if momentum is None else momentum(moment, low, high)

    return answer


one_cycle = _cycle()


def _turn(evidence: Evidence) -> int:
    return round(float(evidence.inputs["rise"]) * evidence.number("steps")) - 1


def _rates(evidence: Evidence, rising: bool) -> bool:
    mine, right = evidence.yours("cycle.rate"), evidence.right("cycle.rate")
    turn = _turn(evidence)
    part = slice(0, turn + 1) if rising else slice(turn + 1, None)
    return mine.shape == right.shape and np.allclose(mine[part], right[part], 1e-4, 1e-5)


def _falls(evidence: Evidence) -> bool:
    return _rates(evidence, rising=False) and evidence.same("cycle.end")


def _rate(evidence: Evidence, step: int) -> str:
    peak = float(evidence.inputs["peak"])
    mine, right = (peak * side("cycle.rate")[step] for side in (evidence.yours, evidence.right))
    return f"At step {step} your rate is {number(mine, 4)}; expected {number(right, 4)}."


def _momentum(evidence: Evidence) -> str:
    turn = _turn(evidence)
    mine = evidence.yours("cycle.momentum")[turn]
    right = evidence.right("cycle.momentum")[turn]
    return unwrapped(f"""At the top, step {turn}, your momentum is {number(mine, 4)}; expected
    {number(right, 4)}. Large steps need little of it.""")


def _at_turn(evidence: Evidence) -> str:
    return _rate(evidence, _turn(evidence))


def _at_start(evidence: Evidence) -> str:
    return _rate(evidence, 0)


def _at_end(evidence: Evidence) -> str:
    return _rate(evidence, -1).replace("step -1", "the last step")


def _halfway(evidence: Evidence) -> str:
    return _rate(evidence, max(1, _turn(evidence) // 3))


_straight_lines = mistake(
    "You go along straight lines, as the chapter does; asked for are half cosines.", _halfway
)(_cycle(between=_line))

_final_from_the_peak = mistake(
    "You divide the peak by `final_factor`; it divides the first rate.", _at_end
)(_cycle(end=lambda peak, _, final: peak / final))

_ends_where_it_began = mistake(
    "Your rate ends where it began, and `final_factor` is not used.", _at_end
)(_cycle(end=lambda peak, start, _: peak / start))

_starts_at_zero = mistake("Your rate starts at 0, and the first step is wasted.", _at_start)(
    _cycle(begin=lambda *_: 0.0)
)

_counts_from_one = mistake("You count steps from 1; the first step is number 0.", _at_start)(
    _cycle(shift=1)
)

_turns_one_step_late = mistake(
    "Your rate turns one step late: the rise takes steps 0 … rise · steps − 1.", _at_turn
)(_cycle(top=0))


_ends_one_step_late = mistake(
    "Your fall ends one step after the last: it takes the steps up to number steps − 1.", _at_end
)(_cycle(beyond=1))

_rounded_down = mistake(
    "You cut the digits behind the point off where rounding was needed.",
    lambda e: unwrapped(f"""rise · steps is {_turn(e) + 1}, and in floating point
    {float(e.inputs["rise"]) * e.number("steps")!r}, of which `int` makes {_turn(e)}. Use `round`.
    {_at_turn(e)}"""),
)(_cycle(whole=int))


@mistake("Your rate starts at its peak and only falls.", _at_start)
def _never_rises(step, steps, rise, peak, start_factor, final_factor, low, high):
    last = peak / start_factor / final_factor
    share = step / (steps - 1)
    return _half_cosine(peak, last, share), _half_cosine(low, high, share)


_momentum_along = mistake("Your momentum rises and falls together with the rate.", _momentum)(
    _cycle(momentum=lambda m, low, high: low + high - m)
)

_momentum_constant = mistake("Your momentum stays where it is.", _momentum)(
    _cycle(momentum=lambda *found: found[2])
)


TASK = Task(
    "One cycle by hand",
    one_cycle,
    CYCLE,
    (
        Part("The rate rises as it should.", 1, lambda e: _rates(e, rising=True)),
        Part("The rate falls as it should, to its end.", 1, _falls),
        Part("The momentum goes the other way.", 2, matches("cycle.momentum")),
    ),
)
