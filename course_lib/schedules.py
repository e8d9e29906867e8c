"""Learning-rate schedules: the share of the full rate at each step of a training."""

from __future__ import annotations

import math
from collections.abc import Callable

from course_lib.errors import ConfigError

Schedule = Callable[[int, int], float]
"""`schedule(step, steps)`, step in 0 … steps − 1, gives the factor on the learning rate."""


def constant(warm_up: int = 0) -> Schedule:
    """The full rate after `warm_up` steps that rise to it."""
    _check(warm_up, 0.0)
    return lambda step, _: _rise(step, warm_up)


def linear(warm_up: int = 0, final: float = 0.0) -> Schedule:
    """Rise for `warm_up` steps, then a straight line down to the share `final`."""
    _check(warm_up, final)

    def factor(step: int, steps: int) -> float:
        if step < warm_up:
            return _rise(step, warm_up)
        return 1 - (1 - final) * _done(step, steps, warm_up)

    return factor


def cosine(warm_up: int = 0, final: float = 0.1) -> Schedule:
    """Rise for `warm_up` steps, then half a cosine down to the share `final`.

    Source: Loshchilov and Hutter (2017), eq. 5, one cycle; the warm-up as in Vaswani et al. (2017).
    """
    _check(warm_up, final)

    def factor(step: int, steps: int) -> float:
        if step < warm_up:
            return _rise(step, warm_up)
        return final + (1 - final) * 0.5 * (1 + math.cos(math.pi * _done(step, steps, warm_up)))

    return factor


def one_cycle(rise: float = 0.2, start: float = 0.04, final: float = 0.0) -> Schedule:
    """A straight line up from `start` over the share `rise` of all steps, then one down to `final`.

    Source: Smith and Topin (2018), one cycle of super-convergence.
    """
    if not 0 < rise < 1 or not 0 <= start <= 1:
        raise ConfigError(f"rise = {rise}, start = {start}: shares between 0 and 1")
    _check(0, final)

    def factor(step: int, steps: int) -> float:
        top = rise * steps
        if step < top:
            return start + (1 - start) * (step + 1) / (top + 1)
        return 1 - (1 - final) * (step + 1 - top) / (steps + 1 - top)

    return factor


SCHEDULES: dict[str, Callable[[], Schedule]] = {
    "constant": constant,
    "cosine": cosine,
    "linear": linear,
    "one_cycle": one_cycle,
}


def named(schedule: str | Schedule) -> Schedule:
    """A schedule by its name, with its default settings; a function is returned as it is.

    Raises
    ------
    ConfigError
        If no schedule has this name.
    """
    if callable(schedule):
        return schedule
    if schedule not in SCHEDULES:
        known = ", ".join(map(repr, SCHEDULES))
        raise ConfigError(f"schedule = {schedule!r}: known are {known}, or a function")
    return SCHEDULES[schedule]()


def _rise(step: int, warm_up: int) -> float:
    """Never 0: a step that changes nothing is a step wasted."""
    return min(1.0, (step + 1) / (warm_up + 1))


def _done(step: int, steps: int, warm_up: int) -> float:
    """The share of the way down that is behind: 1 at the last step."""
    return min(1.0, (step + 1 - warm_up) / max(1, steps - warm_up))


def _check(warm_up: int, final: float) -> None:
    if warm_up < 0:
        raise ConfigError(f"warm_up = {warm_up}: a number of steps, at least 0")
    if not 0 <= final <= 1:
        raise ConfigError(f"final = {final}: a share of the full rate, between 0 and 1")
