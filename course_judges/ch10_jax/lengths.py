"""What can be said of a wrong training step: the norm of its gradient, how its parameters move."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from course_judges.ch10_jax.sections import STEP
from course_judges.judging import Evidence
from course_judges.wording import number, numbers_apart, unwrapped
from course_tasks.answers import Answers, Array
from course_tasks.ch10_jax.step import squared_loss
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


def _full_gradient(evidence: Evidence) -> dict[str, Array]:
    """The gradient before it is shortened, array by array."""
    tensors = {
        leaf: torch.from_numpy(evidence.inputs[f"parameters_{n}"]) for leaf, n in _LEAVES.items()
    }
    batch = torch.from_numpy(evidence.inputs["x"]), torch.from_numpy(evidence.inputs["y"])

    def loss(leaves: dict[str, Tensor]) -> Tensor:
        first = {"weight": leaves["first.weight"], "bias": leaves["first.bias"]}
        found: Tensor = squared_loss(
            {"first": first, "last": [leaves["last.0"], leaves["last.1"]]}, batch
        )
        return found

    return {leaf: g.double().numpy() for leaf, g in torch.func.grad(loss)(tensors).items()}


def _if_added_up(evidence: Evidence, norm: float) -> str:
    """Whether this is the sum of the norms of the arrays, in words; empty if it isn't."""
    known = sum(float(np.linalg.norm(g)) for g in _full_gradient(evidence).values())
    return ", which is the sum of the norms of the arrays" if np.isclose(norm, known, 1e-4) else ""


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
    if one:
        yours, wanted = numbers_apart(one * largest, largest)
        full = np.concatenate([g.ravel() for g in _full_gradient(evidence).values()])
        whole = float((full * full).sum() ** 0.5)
        return Finding(
            "another-length",
            "You multiplied the whole gradient by one factor, but the factor is wrong.",
            unwrapped(f"""In your velocity, the gradient has a norm of {yours} instead of {wanted},
            the largest norm allowed. That is what you get if you divide the largest norm by
            {number(whole / one, 4)}{_if_added_up(evidence, whole / one)}. The norm of all arrays
            together is {number(whole, 4)}."""),
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


def velocity_mixed(evidence: Evidence) -> Finding | None:
    """A new velocity of other multiples of the old one and the gradient than the right ones."""
    # What has been solved has no gradient without clipping.
    case = "clipped" if evidence.inputs["solved"] else "plain"
    if _trees(evidence, case, "velocity"):
        return None
    gradient = _gradient(evidence, evidence.expected, case)
    mine, old, new = [], [], []
    for leaf, name in _LEAVES.items():
        if not evidence.comparable(f"{case}.velocity.{leaf}"):
            return None
        mine.append(evidence.yours(f"{case}.velocity.{leaf}").astype(float).ravel())
        old.append(evidence.inputs[f"velocity_{name}"].astype(float).ravel())
        new.append(gradient[leaf].ravel())
    both = np.stack([np.concatenate(old), np.concatenate(new)], axis=1)
    (kept, added), *_ = np.linalg.lstsq(both, np.concatenate(mine), rcond=None)
    momentum = float(evidence.inputs["momentum"])
    if not np.allclose(both @ (kept, added), np.concatenate(mine), rtol=_NEAR, atol=1e-5):
        return None
    if abs(kept - momentum) < _NEAR and added > 0:
        return None  # the gradient alone is scaled
    return Finding(
        "velocity-mixed",
        "You mix the old velocity and the gradient in the wrong shares.",
        unwrapped(f"""Your new velocity is {number(kept)} times the old one plus
        {number(added)} times the gradient. With a momentum of {number(momentum)}, it should be
        {number(momentum)} times the old one plus the gradient."""),
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
    return Finding(
        "another-rate",
        "Your velocity is right, but you don't subtract learning rate · velocity.",
        unwrapped(f"""You subtract {number(factor)} times the new velocity, but the learning rate is
        {number(float(evidence.inputs["learning_rate"]))}."""),
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


PROPERTIES = (velocity_mixed, stretched, shortened, moved_otherwise, loss_alone)
