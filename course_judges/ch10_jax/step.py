"""Judges 10/step: a training step that takes everything in and gives everything back."""

from __future__ import annotations

from typing import Any

from course_judges.ch10_jax.sections import STEP, TRACED
from course_judges.ch10_jax.stepping import (
    Variant,
    decides_in_python,
    each_clipped,
    entries_clipped,
    overwrites,
    rescaled,
    squared_norm_clipped,
)
from course_judges.ch10_jax.wording import (
    changed_what_was_given,
    gap,
    says,
    traced_error,
)
from course_judges.judging import Evidence, Mistake, Part, Task, matches
from course_judges.wording import number
from course_tasks.ch10_jax.sides import InTorch


def _input(evidence: Evidence, name: str) -> str:
    return number(float(evidence.inputs[name]))


def _plain(evidence: Evidence) -> str:
    rate, momentum = _input(evidence, "learning_rate"), _input(evidence, "momentum")
    return f"With learning rate {rate} and momentum {momentum}: {gap(evidence, 'plain')}"


def _clipped(evidence: Evidence) -> str:
    return f"With a largest norm of {_input(evidence, 'largest_norm')}: {gap(evidence, 'clipped')}"


_CASES = ("plain", "clipped")


def _mistake(name: str, wrong: Any, what: str, effect: Any) -> Mistake:
    return Mistake(name, InTorch(wrong), what, effect, STEP, cases=_CASES)


_UPDATE = (
    _mistake(
        "uphill",
        Variant(move=lambda p, v, old, r: p + r * v),  # noqa: ARG005
        "You added the step; a gradient points to where the loss grows.",
        _plain,
    ),
    _mistake(
        "momentum-forgotten",
        Variant(gather=lambda m, v, g, r: g),  # noqa: ARG005
        "The new velocity is the gradient alone; momentum times the old velocity is missing.",
        _plain,
    ),
    _mistake(
        "moves-by-old-velocity",
        Variant(move=lambda p, v, old, r: p - r * old),  # noqa: ARG005
        "The parameters moved by the velocity that came in, not by the new one.",
        _plain,
    ),
    _mistake(
        "gradient-shrunk",
        Variant(
            move=lambda p, v, old, r: p - r * v,  # noqa: ARG005
            gather=lambda m, v, g, r: m * (v + g),  # noqa: ARG005
        ),
        "You multiplied the gradient by the momentum as well; only the old velocity shrinks.",
        _plain,
    ),
    _mistake(
        "averaged-gradient",
        Variant(gather=lambda m, v, g, r: m * v + (1 - m) * g),  # noqa: ARG005
        "You averaged velocity and gradient; asked for is momentum · velocity + gradient.",
        _plain,
    ),
    _mistake(
        "rate-in-velocity",
        Variant(
            gather=lambda m, v, g, r: m * v + r * g,
            move=lambda p, v, old, r: p - v,  # noqa: ARG005
        ),
        "The learning rate went into the velocity; it belongs to the move of the parameters.",
        _plain,
    ),
    _mistake(
        "velocity-not-returned",
        Variant(old_velocity=True),
        "You return the velocity that came in; the next step would start from the old one.",
        _plain,
    ),
    _mistake(
        "loss-afterwards",
        Variant(loss_after=True),
        "You return the loss of the new parameters; asked for is the one before the step.",
        _plain,
    ),
    _mistake(
        "returned-in-another-order",
        Variant(exchanged=True),
        "Velocity and parameters came back in the other order.",
        _plain,
    ),
)

_CLIPPING = (
    _mistake(
        "never-clips",
        Variant(clip=lambda gradients, largest: gradients),  # noqa: ARG005
        "Long gradients are not shortened.",
        _clipped,
    ),
    _mistake(
        "clips-each-leaf",
        Variant(clip=each_clipped),
        "You shorten every array by itself; the norm is that of the whole tree.",
        lambda e: "The direction of the step changes. " + _clipped(e),
    ),
    _mistake(
        "clips-entries",
        Variant(clip=entries_clipped),
        "You cut every entry by itself; one factor has to shorten all of them.",
        lambda e: "The direction of the step changes. " + _clipped(e),
    ),
    _mistake(
        "always-rescales",
        Variant(clip=rescaled),
        "You bring every gradient to the largest norm, short ones as well.",
        lambda e: (
            "A gradient that is shorter stays as it is: the factor is at most 1. " + _plain(e)
        ),
    ),
    _mistake(
        "norm-not-rooted",
        Variant(clip=squared_norm_clipped),
        "Your norm is the sum of squares; its root is missing.",
        _clipped,
    ),
    _mistake(
        "clips-velocity",
        Variant(clip_after=True),
        "You shorten the velocity; asked for is the gradient, before it joins the velocity.",
        _clipped,
    ),
)

_PURITY = (
    Mistake(
        "python-if-on-traced",
        decides_in_python,
        "Python decides by a number that is not there while the step is being traced.",
        lambda e: says(e, "compiled") + " `jnp.where` or `jnp.minimum` decides in the program.",
        TRACED,
        recognised=lambda e: e.same(*_CASES) and traced_error(e, "compiled"),
    ),
    Mistake(
        "overwrites-the-trees",
        InTorch(overwrites),
        "Your step puts its results into the trees that it is given.",
        lambda e: (
            "The arrays cannot change, and the dictionaries that hold them can: after the call, "
            + gap(e, "kept")
        ),
        STEP,
        recognised=lambda e: e.same(*_CASES) and changed_what_was_given(e),
    ),
)

TASK = Task(
    "A training step",
    InTorch(Variant()),
    STEP,
    (
        Part("Parameters, velocity and loss are right without clipping.", 3, matches("plain")),
        Part("A long gradient is shortened, the whole tree by one factor.", 2, matches("clipped")),
        Part(
            "It is pure: it compiles, and leaves what it is given alone.",
            1,
            matches("compiled", "kept"),
        ),
    ),
    (*_UPDATE, *_CLIPPING, *_PURITY),
)
