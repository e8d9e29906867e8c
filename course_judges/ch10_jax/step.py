"""Judges 10/step: a training step that takes everything in and gives everything back."""

from __future__ import annotations

from collections.abc import Callable

from course_judges.ch10_jax import lengths
from course_judges.ch10_jax.sections import STEP, TRACED
from course_judges.ch10_jax.stepping import (
    Variant,
    decides_in_python,
    divided_by_the_norm,
    each_clipped,
    entries_clipped,
    overwrites,
    rescaled,
    rescaled_with_care,
    squared_norm_clipped,
    takes_a_float,
)
from course_judges.ch10_jax.wording import (
    DECIDED,
    TRACED_ERRORS,
    changed_what_was_given,
    gap,
    instead,
    others_than_given,
    says,
    traced_error,
)
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, unwrapped
from course_tasks.ch10_jax.sides import InTorch


def _input(evidence: Evidence, name: str) -> str:
    return number(float(evidence.inputs[name]))


def _plain(evidence: Evidence) -> str:
    rate, momentum = _input(evidence, "learning_rate"), _input(evidence, "momentum")
    return f"The learning rate is {rate} and the momentum {momentum}. {gap(evidence, 'plain')}"


def _clipped(evidence: Evidence) -> str:
    return f"The largest norm is {_input(evidence, 'largest_norm')}. {gap(evidence, 'clipped')}"


_CASES = ("plain", "clipped")


_uphill = mistake("You added the step, but the gradient points to where the loss grows.", _plain)(
    InTorch(Variant(move=lambda p, v, old, r: p + r * v))  # noqa: ARG005
)

_momentum_forgotten = mistake(
    "Your new velocity is only the gradient, without momentum · velocity.", _plain
)(InTorch(Variant(gather=lambda m, v, g, r: g)))  # noqa: ARG005

_moves_by_old_velocity = mistake(
    "You moved the parameters by the old velocity instead of the new one.", _plain
)(InTorch(Variant(move=lambda p, v, old, r: p - r * old)))  # noqa: ARG005

_nesterov_momentum = mistake(
    "You took Nesterov's step instead of moving by the new velocity.",
    lambda e: unwrapped(f"""Nesterov moves by momentum · new velocity + gradient, but here the
    parameters move by the new velocity alone. {_plain(e)}"""),
)(InTorch(Variant(ahead=True)))

_gradient_shrunk = mistake(
    "You multiplied the gradient by the momentum as well, but only the old velocity shrinks.",
    _plain,
)(InTorch(Variant(move=lambda p, v, old, r: p - r * v, gather=lambda m, v, g, r: m * (v + g))))  # noqa: ARG005

_averaged_gradient = mistake(
    "You averaged velocity and gradient instead of taking momentum · velocity + gradient.", _plain
)(InTorch(Variant(gather=lambda m, v, g, r: m * v + (1 - m) * g)))  # noqa: ARG005

_moves_by_gradient = mistake(
    "You moved the parameters by the gradient instead of by the new velocity.", _plain
)(InTorch(Variant(by_gradient=True)))

_rate_in_velocity = mistake(
    "You put the learning rate into the velocity, but it belongs where the parameters move.",
    _plain,
    # As in Keras.
    also=(
        InTorch(
            Variant(gather=lambda m, v, g, r: m * v - r * g, move=lambda p, v, old, r: p + v)  # noqa: ARG005
        ),
    ),
)(InTorch(Variant(gather=lambda m, v, g, r: m * v + r * g, move=lambda p, v, old, r: p - v)))  # noqa: ARG005

_velocity_not_returned = mistake(
    "You return the old velocity, so the next step would start from it again.", _plain
)(InTorch(Variant(old_velocity=True)))

_loss_afterwards = mistake(
    "You return the loss after the step instead of the one before it.", _plain
)(InTorch(Variant(loss_after=True)))

_returned_in_another_order = mistake(
    "You returned velocity and parameters in the wrong order.", _plain
)(InTorch(Variant(exchanged=True)))

_never_clips = mistake("You don't shorten gradients that are too long.", _clipped)(
    InTorch(Variant(clip=lambda gradients, largest: gradients))  # noqa: ARG005
)

_clips_each_leaf = mistake(
    "You shorten each array by its own norm instead of by the norm of the whole tree.",
    lambda e: f"This changes the direction of the step. {_clipped(e)}",
)(InTorch(Variant(clip=each_clipped)))

_clips_entries = mistake(
    "You clip every entry separately, but one factor has to shorten all of them.",
    lambda e: f"This changes the direction of the step. {_clipped(e)}",
)(InTorch(Variant(clip=entries_clipped)))

_always_rescales = mistake(
    "You scale every gradient to the largest norm, even if it is shorter.",
    lambda e: f"A shorter gradient stays as it is, so the factor is at most 1. {_plain(e)}",
    also=(InTorch(Variant(clip=rescaled_with_care)),),
)(InTorch(Variant(clip=rescaled)))

_norm_not_rooted = mistake("Your norm is the sum of squares without the square root.", _clipped)(
    InTorch(Variant(clip=squared_norm_clipped))
)

_clips_velocity = mistake(
    "You shorten the velocity instead of the gradient before you add it.", _clipped
)(InTorch(Variant(clip_after=True)))

_shortens_momentum_too = mistake(
    "You shorten the old velocity as well, but only the gradient should be shortened.", _clipped
)(InTorch(Variant(with_momentum=True)))

_returns_the_move = mistake(
    "You return learning rate · velocity instead of the velocity.",
    lambda e: f"The next step would multiply it by the learning rate again. {_plain(e)}",
)(InTorch(Variant(hands_over=lambda v, r: r * v)))


_divides_by_a_norm_of_zero = mistake(
    "If the gradient is 0, your factor is 0 / 0.",
    lambda e: unwrapped(f"""If the loss is already 0, all entries of its gradient are 0 as well. A
    norm of 0 isn't above the largest one, so nothing should be shortened. {_plain(e)} Which factor
    is right there, and how do you get it without dividing by the norm?"""),
)(InTorch(Variant(clip=divided_by_the_norm)))


def _stopped_by(kinds: frozenset[str]) -> Callable[[Evidence], bool]:
    return lambda e: (
        e.same(*_CASES)
        and traced_error(e, "compiled")
        and e.answers.errors["compiled"].kind in kinds
    )


_python_if_on_traced = mistake(
    "Your step lets Python decide by a number that isn't known during tracing.",
    lambda e: f"{says(e, 'compiled')} {instead(e, 'compiled')}",
    TRACED,
    recognized=_stopped_by(frozenset({DECIDED})),
)(decides_in_python)

_number_of_a_traced = mistake(
    "Your step needs the number in an array, but during tracing it isn't known.",
    lambda e: f"{says(e, 'compiled')} {instead(e, 'compiled')}",
    TRACED,
    recognized=_stopped_by(TRACED_ERRORS - {DECIDED}),
)(takes_a_float)

_overwrites_the_trees = mistake(
    "Your step changes the trees that it is given.",
    lambda e: unwrapped(f"""JAX arrays can't change, but the dictionaries and lists that hold them
    can. {others_than_given(e)}"""),
    recognized=lambda e: e.same(*_CASES) and changed_what_was_given(e),
)(InTorch(overwrites))


TASK = Task(
    "A training step",
    InTorch(Variant()),
    STEP,
    (
        Part("Parameters, velocity and loss are right without clipping.", 3, matches("plain")),
        Part("A long gradient is shortened as a whole.", 2, matches("clipped")),
        Part(
            "It is pure, and compiles.",
            1,
            matches("compiled", "kept"),
        ),
    ),
    properties=lengths.PROPERTIES,
    cases=_CASES,
)
