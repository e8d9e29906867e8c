"""Judges 08/schedule: up, level, down."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from course_judges.ch08_gpt.sections import RATE
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import number, sentence, unwrapped
from course_tasks.ch08_gpt.schedule import CASES, trainings
from course_tasks.verdict import Finding


def share(step: int, steps: int, warm_up: int, decay: int, final: float) -> float:
    """The share of the full rate at a step."""
    full = 1.0  # the full rate
    left = steps - 1 - step  # the count of steps that are left
    if step < warm_up:  # the end of your warm-up
        return (step + 1) / warm_up  # your warm-up
    if left < decay:  # the beginning of your decay
        above = (1 - final) * left / decay  # your height above `final`
        return final + above  # your decay
    return full  # your level


_Rise = Callable[[int, int], float]
_Fall = Callable[[float, float], float]


def _shaped(
    rise: _Rise = lambda step, warm_up: (step + 1) / warm_up,
    fall: _Fall = lambda remaining, final: final + (1 - final) * remaining,
    *,
    left_over: int = 0,
) -> Callable[..., float]:
    """An answer that differs from the right one on its way up or down."""

    def answer(step: int, steps: int, warm_up: int, decay: int, final: float) -> float:
        if step < warm_up:
            return rise(step, warm_up)
        left = steps - 1 - step + left_over
        return fall(left / decay, final) if left < decay else 1.0

    return answer


def _shaped_decay(remaining: Callable[[int, int], float]) -> Callable[..., float]:
    """An answer with another share of the fall left: `remaining(left, decay)`."""

    def answer(step: int, steps: int, warm_up: int, decay: int, final: float) -> float:
        left = steps - 1 - step
        if step < warm_up or left >= decay:
            return share(step, steps, warm_up, decay, final)
        return final + (1 - final) * remaining(left, decay)

    return answer


def _at(evidence: Evidence, step: int) -> str:
    steps = evidence.number("steps")
    step %= steps
    mine, right = _apart(*(float(side("rates")[step]) for side in (evidence.yours, evidence.right)))
    return f"At step {step} of {steps} you return {mine} instead of {right}."


def _apart(*shares: float) -> list[str]:
    """Shares with at least four digits, and more where different ones would look alike."""
    exact = [round(share, 6) for share in shares]
    for digits in range(4, 8):
        shown = [number(share, digits) for share in exact]
        if len(set(shown)) == len(set(exact)):
            break
    return shown


def _first_wrong(evidence: Evidence) -> str:
    gap = np.abs(evidence.yours("rates") - evidence.right("rates"))
    return _at(evidence, int(np.argmax(gap > 1e-5)))


def _rise_right(evidence: Evidence) -> bool:
    n = evidence.number("warm_up")
    return evidence.comparable("rates") and np.allclose(
        evidence.yours("rates")[:n], evidence.right("rates")[:n], atol=1e-5
    )


def _level_right(evidence: Evidence) -> bool:
    """Full in between, and below that somewhere else: a constant is no schedule."""
    first, last = evidence.number("warm_up"), evidence.number("steps") - evidence.number("decay")
    if not evidence.comparable("rates"):
        return False
    mine = evidence.yours("rates")
    elsewhere = np.concatenate([mine[:first], mine[last:]])
    return np.allclose(mine[first:last], 1) and not np.allclose(elsewhere, 1)


def _fall_right(evidence: Evidence) -> bool:
    n = evidence.number("decay")
    return evidence.comparable("rates") and np.allclose(
        evidence.yours("rates")[-n:], evidence.right("rates")[-n:], atol=1e-5
    )


def _beyond_full(evidence: Evidence) -> Finding | None:
    if not evidence.comparable("rates") or evidence.yours("rates").max() <= 1 + 1e-6:
        return None
    step = int(evidence.yours("rates").argmax())
    first = evidence.number("warm_up")
    after = (
        f" The warm-up ends with step {first - 1}, so the rate should already be level here."
        if step == first
        else ""
    )
    return Finding(
        "above-full", "Your rate rises above the full rate.", _at(evidence, step) + after, RATE
    )


_PARTS = {
    "warm-up": lambda e: slice(0, e.number("warm_up")),
    "level": lambda e: slice(e.number("warm_up"), e.number("steps") - e.number("decay")),
    "decay": lambda e: slice(e.number("steps") - e.number("decay"), e.number("steps")),
}


def _part_off(evidence: Evidence) -> Finding | None:
    """The first of the three parts that is wrong: from where to where it goes, and how fast."""
    if not evidence.comparable("rates"):
        return None
    for name, of in _PARTS.items():
        part = of(evidence)
        mine, right = evidence.yours("rates")[part], evidence.right("rates")[part]
        if np.allclose(mine, right, 1e-4, 1e-5):
            continue
        strides = np.diff(mine)
        even = len(strides) > 1 and np.allclose(strides, strides[0], atol=1e-6)
        *ends, second, third = _apart(
            *map(float, (mine[0], mine[-1], right[0], right[-1], mine[1], mine[2]))
        )
        going = (
            f"stays at {ends[0]}"
            if even and abs(strides[0]) < 1e-6
            else f"goes from {ends[0]} to {ends[1]}, by {number(abs(strides[0]), 4)} a step"
            if even
            else f"is {ends[0]}, {second}, {third}, …, {ends[1]}"
        )
        wanted = (
            "should stay at 1"
            if name == "level"
            else f"should go from {ends[2]} to {ends[3]}, by"
            f" {number(abs(right[1] - right[0]), 4)} a step"
        )
        steps = range(evidence.number("steps"))[part]
        too_soon = name == "level" and (strides <= 1e-6).all() and mine[-1] < min(mine[0], 1 - 1e-4)
        return Finding(
            f"other-{name}",
            "Your rate starts to fall while more than `decay` steps are left."
            if too_soon
            else f"Your {name} isn't the one that the task asks for.",
            f"From step {steps[0]} to step {steps[-1]} your share {going}, but it {wanted}.",
            RATE,
        )
    return None


def _kind(steps: int, warm_up: int, decay: int, final: float) -> str:
    """In words, what is special about a training."""
    if steps == 1:
        return "of a single step"
    if warm_up + decay == 0:
        return "with neither warm-up nor decay"
    if not warm_up or not decay:
        return "without a warm-up" if not warm_up else "without a decay"
    if final == 1:
        return "with final = 1"
    return "with short parts" if warm_up == 1 else "without level steps"


def _unusual(evidence: Evidence) -> Finding | None:
    """Mistakes that show only when one of the three parts is missing or has a single step."""
    if not evidence.same("rates"):
        return None
    case = next(case for case in CASES if not evidence.same(case))
    steps, warm_up, decay, final = trainings(evidence.inputs)[case]
    mine, right = evidence.yours(case), evidence.right(case)
    step = int((~(np.abs(mine - right) <= 1e-5)).argmax())
    return Finding(
        "unusual-training",
        "Your rate is right in an ordinary training, but wrong in one "
        f"{_kind(steps, warm_up, decay, final)}.",
        unwrapped(f"""With steps = {steps}, warm_up = {warm_up}, decay = {decay} and final =
        {final:g}, you return {number(float(mine[step]), 4)} at step {step} instead of
        {number(float(right[step]), 4)}."""),
        RATE,
    )


def _stride(evidence: Evidence) -> str:
    """By how much the rate falls from step to step of the decay."""
    return number((1 - float(evidence.inputs["final"])) / evidence.number("decay"), 4)


_starts_at_zero = mistake(
    "Your rate is 0 at the first step, so the model learns nothing from the first batch.",
    lambda e: (
        f"{_at(e, 0)} The first step should have a rate of 1 / warm_up, and the last step of the "
        f"warm-up, step {e.number('warm_up') - 1}, should have 1."
    ),
    also=(_shaped(rise=lambda step, warm_up: step / max(warm_up - 1, 1)),),
)(_shaped(rise=lambda step, warm_up: step / warm_up))

_full_one_step_late = mistake(
    "Your warm-up reaches the full rate one step too late.",
    lambda e: f"{_at(e, e.number('warm_up') - 1)} That is the last step of the warm-up.",
)(_shaped(rise=lambda step, warm_up: (step + 1) / (warm_up + 1)))


def _is_rounded(evidence: Evidence) -> bool:
    """True if all shares of the ordinary training are the right ones with one to three digits."""
    mine, right = evidence.yours("rates").astype(float), evidence.right("rates")
    return not evidence.same("rates") and any(
        bool((np.abs(mine - right) <= 0.5 / 10**digits + 1e-6).all())
        and np.allclose(mine * 10**digits, np.round(mine * 10**digits), atol=1e-4)
        for digits in (1, 2, 3)
    )


_rounded = mistake(
    "You rounded the rate, so it doesn't change by equal amounts.",
    lambda e: f"{_first_wrong(e)} Return the share as it is.",
    recognized=_is_rounded,
)(lambda *asked: round(share(*asked), 2))

_no_warm_up = mistake(
    "Your schedule has no warm-up: it begins with the full rate.", lambda e: _at(e, 0)
)(_shaped(rise=lambda *_: 1.0))

_whole_division = mistake(
    "Your rate is 0 until the last step of the warm-up.",
    lambda e: f"{_at(e, 0)} `//` and `int` round down to 0 here. Divide with `/`.",
)(_shaped(rise=lambda step, warm_up: (step + 1) // warm_up))


_never_falls = mistake("Your rate never falls: it stays full to the end.", lambda e: _at(e, -1))(
    Like("used-steps-instead-of-the-count-of-steps-that-are-left-in-the-beginning-of-your-decay")
)


@mistake(
    unwrapped("""Your rate starts to fall right after the warm-up, but it should stay full until
    only `decay` steps are left."""),
    _first_wrong,
)
def _no_level(step: int, steps: int, warm_up: int, decay: int, final: float) -> float:
    if step < warm_up:
        return (step + 1) / warm_up
    return final + (1 - final) * (steps - 1 - step) / (steps - warm_up) if decay else 1.0


@mistake(
    "Your decay comes right after the warm-up, but it belongs at the end of the training.",
    _first_wrong,
)
def _decay_comes_first(step: int, steps: int, warm_up: int, decay: int, final: float) -> float:
    if step < warm_up:
        return (step + 1) / warm_up
    if not decay:
        return 1.0
    return max(final, 1 - (1 - final) * (step + 1 - warm_up) / decay) if steps else 1.0


_decay_takes_longer_strides = mistake(
    "Your decay starts at 1, so it has to fall too fast to reach `final` in time.",
    lambda e: unwrapped(f"""{_first_wrong(e)} In the first of the last {e.number("decay")} steps the
    rate should already be lower, because it falls as many times as there are steps."""),
)(_shaped_decay(lambda left, decay: left / max(decay - 1, 1)))

_decay_one_step_short = mistake(
    "The first step of your decay still has the full rate, but the others are right.",
    lambda e: unwrapped(f"""{_first_wrong(e)} With steps = {e.number("steps")} and decay =
    {e.number("decay")}, step {e.number("steps") - e.number("decay")} is the first of the last
    {e.number("decay")}."""),
)(_shaped_decay(lambda left, decay: left / decay if left < decay - 1 else 1.0))

_falls_to_zero = mistake("Your rate falls to 0 instead of `final`.", lambda e: _at(e, -1))(
    _shaped(fall=lambda remaining, _: remaining)
)

_cut_at_final = mistake(
    "Your rate falls as if it went to 0 and is cut off at `final`, so it falls too fast.",
    lambda e: unwrapped(f"""{_first_wrong(e)} You subtract 1 / decay = {
        number(1 / e.number("decay"), 4)
    } at each step. To reach final = {float(e.inputs["final"]):g} in {e.number("decay")} steps,
    subtract (1 − final) / decay = {_stride(e)}."""),
)(_shaped(fall=lambda remaining, final: max(final, remaining)))

_stops_above_final = mistake(
    "Your decay is one step late, so it would reach `final` only after the last step.",
    lambda e: _at(e, -1),
)(_shaped(left_over=1))

_equal_factors = mistake(
    "Your rate falls by equal factors, but it should fall by equal amounts.",
    lambda e: f"{_first_wrong(e)} Subtract the same number at each step.",
)(_shaped(fall=lambda remaining, final: final ** (1 - remaining)))

_cosine_for_line = mistake(
    "Your rate falls along a cosine, but the task asks for a straight line.", _first_wrong
)(
    _shaped(
        fall=lambda remaining, final: (
            final + (1 - final) * 0.5 * (1 - math.cos(math.pi * remaining))
        )
    )
)


def _stopped_in(evidence: Evidence) -> str:
    """The first training in which the answer stops."""
    return next(case for case in CASES if case in evidence.answers.errors)


def _where_it_stops(evidence: Evidence) -> str:
    """With which training, at which line and with which words an answer stops."""
    case = _stopped_in(evidence)
    raised, training = evidence.answers.errors[case], trainings(evidence.inputs)[case]
    steps, warm_up, decay, final = training
    at = f" at `{raised.line}`" if raised.line else ""
    hint = (
        " Before you divide, check whether the step lies in that part at all."
        if raised.kind == "ZeroDivisionError" and steps > 1 and warm_up * decay == 0
        else " If you fill the last `decay` entries of a list with `[-decay:]`, that is the whole"
        " list for decay = 0."
        if decay == 0 and raised.kind in ("IndexError", "RuntimeError", "ValueError")
        else ""
    )
    return unwrapped(f"""The error says{at}: {sentence(raised.message)} It came with steps =
    {steps}, warm_up = {warm_up}, decay = {decay} and final = {final:g}.{hint}""")


@mistake(
    lambda e: unwrapped(f"""In an ordinary training your rates are right, but in one
    {_kind(*trainings(e.inputs)[_stopped_in(e)])} your function stops with
    {e.answers.errors[_stopped_in(e)].kind}."""),
    _where_it_stops,
    recognized=lambda e: e.same("rates") and bool(e.answers.errors),
)
def _stops_in_some(step: int, steps: int, warm_up: int, decay: int, final: float) -> float:
    shares = [1.0] * steps
    shares[:warm_up] = [(n + 1) / warm_up for n in range(warm_up)]
    shares[-decay:] = [1 - (1 - final) * (n + 1) / decay for n in range(decay)]
    return shares[step]


TASK = Task(
    "Up, level, down",
    share,
    RATE,
    (
        Part(
            "The rate rises in equal steps.",
            1,
            _rise_right,
        ),
        Part("Between warm-up and decay it stays full.", 1, _level_right),
        Part("It falls in equal steps to `final`.", 1, _fall_right),
        Part(
            "It works without warm-up or decay.",
            1,
            matches(*CASES),
        ),
    ),
    properties=(_beyond_full, _part_off, _unusual),
    cases=("rates",),
    steps={
        "the full rate": Step("It is the share 1."),
        "the end of your warm-up": Step("Steps 0 to `warm_up` − 1 belong to the warm-up."),
        "your warm-up": Step("The first step has 1 / `warm_up` and the last one of them 1."),
        "the count of steps that are left": Step(
            "Steps are counted from 0, so the last one is `steps` − 1, and none is left after it."
        ),
        "the beginning of your decay": Step(
            "In the first of the last `decay` steps, `decay` − 1 are left after it."
        ),
        "your height above `final`": Step(
            "The way from 1 down to `final` is divided among `decay` steps of equal height."
        ),
        "your decay": Step("It ends at `final`, so that is what remains when no step is left."),
        "your level": Step("Between warm-up and decay the rate is full, whatever `final` is."),
    },
)
