"""What can be said of a wrong training step: the norm of its gradient, how its parameters move."""

from __future__ import annotations

import numpy as np

from course_judges.ch10_jax.sections import STEP
from course_judges.judging import Evidence
from course_judges.wording import number, unwrapped
from course_tasks.answers import Answers, Array
from course_tasks.verdict import Finding

# The arrays of a tree, as they are called in an answer and in the inputs.
_LEAVES = {
    "first.weight": "weight",
    "first.bias": "bias",
    "last.0": "last_0",
    "last.1": "last_1",
}
_NEAR = 1e-3


def _trees(evidence: Evidence, case: str, *which: str) -> bool:
    """True if these of the three results are right in a case."""
    return not any(
        name.startswith(tuple(f"{case}.{one}" for one in which)) for name in evidence.wrong_values
    )


def _gradient(evidence: Evidence, answers: Answers, case: str) -> dict[str, Array]:
    """What the answer added to momentum · velocity, array by array."""
    momentum = float(evidence.inputs["momentum"])
    found = {}
    for leaf, name in _LEAVES.items():
        new, old = answers.array(f"{case}.velocity.{leaf}"), evidence.inputs[f"velocity_{name}"]
        if new is None or new.shape != old.shape:
            raise ValueError(leaf)
        found[leaf] = new.astype(float) - momentum * old.astype(float)
    return found


def _factors(mine: dict[str, Array], right: dict[str, Array]) -> dict[str, float] | None:
    """The factor by which each array is a multiple of the right one; None if one isn't."""
    found = {}
    for leaf, one in right.items():
        length = float((one * one).sum())
        if length == 0:
            return None
        found[leaf] = float((mine[leaf] * one).sum()) / length
        if not np.allclose(mine[leaf], found[leaf] * one, rtol=_NEAR, atol=1e-5):
            return None
    return found


def _one(factors: dict[str, float]) -> float | None:
    """The factor of all arrays, if they share one."""
    values = np.array(list(factors.values()))
    return float(values.mean()) if np.allclose(values, values[0], rtol=_NEAR, atol=1e-5) else None


def stretched(evidence: Evidence) -> Finding | None:
    """A gradient that is multiplied by a factor although it is short enough already."""
    if _trees(evidence, "plain", "velocity") or evidence.inputs["solved"]:
        return None
    right = _gradient(evidence, evidence.expected, "plain")
    factors = _factors(_gradient(evidence, evidence.answers, "plain"), right)
    factor = None if factors is None else _one(factors)
    if factor is None:
        return None
    return Finding(
        "gradient-multiplied",
        "You multiplied the gradient by a factor although it was short enough.",
        unwrapped(f"""With a largest norm of 1e6, nothing should be shortened, but in your velocity
        the gradient is {number(factor)} times the right one. What should the factor be if the norm
        is small enough?"""),
        STEP,
    )


def shortened(evidence: Evidence) -> Finding | None:
    """A long gradient that is shortened to the wrong norm, or array by array."""
    if not evidence.same("plain") or _trees(evidence, "clipped", "velocity"):
        return None
    right = _gradient(evidence, evidence.expected, "clipped")
    factors = _factors(_gradient(evidence, evidence.answers, "clipped"), right)
    if factors is None or min(factors.values()) < 0:
        return None
    largest = float(evidence.inputs["largest_norm"])
    one = _one(factors)
    if one is not None:
        return Finding(
            "another-length",
            "You multiplied the whole gradient by one factor, but the factor is wrong.",
            unwrapped(f"""In your velocity, the gradient has a norm of {number(one * largest)}
            instead of {number(largest)}, the largest norm allowed. Check how you combine all arrays
            in the norm, and what your factor divides by what."""),
            STEP,
        )
    said = ", ".join(f"{number(value)} for `{leaf}`" for leaf, value in factors.items())
    return Finding(
        "factors-of-their-own",
        "You multiplied the arrays of the gradient by different factors.",
        unwrapped(f"""The right factor is the same for all of them, the largest norm divided by the
        norm of all arrays together. Relative to it, yours are {said}."""),
        STEP,
    )


def moved_otherwise(evidence: Evidence) -> Finding | None:
    """The new velocity is right, but the parameters move by the wrong multiple of it."""
    if not _trees(evidence, "plain", "velocity") or _trees(evidence, "plain", "parameters"):
        return None
    moves, velocity = {}, {}
    for leaf, name in _LEAVES.items():
        mine = evidence.yours(f"plain.parameters.{leaf}").astype(float)
        if not evidence.comparable(f"plain.parameters.{leaf}"):
            return None
        moves[leaf] = evidence.inputs[f"parameters_{name}"].astype(float) - mine
        velocity[leaf] = evidence.right(f"plain.velocity.{leaf}").astype(float)
    factors = _factors(moves, velocity)
    factor = None if factors is None else _one(factors)
    if factor is None:
        return None
    said = (
        "Your parameters are still those that came in,"
        if abs(factor) < _NEAR
        else f"You subtract {number(factor)} times the new velocity,"
    )
    return Finding(
        "another-rate",
        "Your velocity is right, but you don't subtract learning rate · velocity.",
        f"{said} but the learning rate is {number(float(evidence.inputs['learning_rate']))}.",
        STEP,
    )


def loss_alone(evidence: Evidence) -> Finding | None:
    """Both trees are right, but the loss isn't."""
    if not _trees(evidence, "plain", "velocity", "parameters") or evidence.same("plain"):
        return None
    mine, right = float(evidence.yours("plain.loss")), float(evidence.right("plain.loss"))
    times = f", which is {number(mine / right, 4)} times the right one" if right else ""
    return Finding(
        "loss-alone",
        "Without clipping, both your trees are right, but the loss that you return isn't.",
        unwrapped(f"""Your loss is {number(mine, 4)}{times}. Before the step,
        `loss(parameters, batch)` is {number(right, 4)}."""),
        STEP,
    )


PROPERTIES = (stretched, shortened, moved_otherwise, loss_alone)
