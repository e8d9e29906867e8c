"""What 06/dropout asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.answers import Array
from course_tasks.inputs import Rng, seeded, tensor, values, whole
from course_tasks.probing import Case, Inputs, Probe

# Samples whose heads are dropped: enough to tell a share of 0.25 from one of 0.3.
SAMPLES = 2000
# Samples and heads that are dropped several times, with the same seed and another: enough that
# chance never drops all, none or the same ones twice, even if one draw serves all samples.
AGAIN, HEADS_AGAIN = 60, 24
# Samples that come one by one: enough that chance won't keep the same number of heads in all.
ALONE = 24
ALONE_P = 0.5


def _dropout_inputs(rng: Rng) -> Inputs:
    H, T, D = int(rng.integers(3, 6)), 2, 3
    return _heads(rng, H, T, D, float(rng.choice([0.2, 0.25, 0.3, 0.7])), few=(5, H, 7, D))


def _least(rng: Rng) -> Inputs:
    """Nearly all heads are dropped; the few that nothing should happen to have one position."""
    return _heads(rng, 3, 2, 2, 0.95, few=(1, 12, 1, 1))


def _heads(rng: Rng, H: int, T: int, D: int, p: float, *, few: tuple[int, ...]) -> Inputs:
    return {
        "found": _far_from_zero(rng, SAMPLES, H, T, D),
        "again": _far_from_zero(rng, AGAIN, HEADS_AGAIN, T, D),
        "p": np.asarray(p),
        "few": values(rng, *few),
        "seed": whole(int(rng.integers(2**31))),
    }


def _far_from_zero(rng: Rng, *shape: int) -> Array:
    """Numbers far enough from 0 to tell a dropped one from a small one."""
    signs = rng.choice([-1.0, 1.0], size=shape)
    return (signs * rng.uniform(0.5, 2.0, size=shape)).astype(np.float32)


def _drop(training: bool, found: str, p: float | None = None) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        share = float(given["p"]) if p is None else p
        return answer(tensor(given[found]), share, training, seeded(int(given["seed"])))

    return ask


def _drop_again(answer: Any, given: Inputs) -> Any:
    found, seed = tensor(given["again"]), int(given["seed"])
    generator = seeded(seed)
    return {
        "first": answer(found.clone(), 0.5, True, generator),
        "second": answer(found.clone(), 0.5, True, generator),
        "repeated": answer(found.clone(), 0.5, True, seeded(seed)),
        "other": answer(found.clone(), 0.5, True, seeded(seed + 1)),
    }


def _drop_one_by_one(answer: Any, given: Inputs) -> Any:
    """Batches of one sample, one after the other, and a last one that loses nothing."""
    found, generator = tensor(given["found"][:ALONE]), seeded(int(given["seed"]))
    kept = [torch.as_tensor(answer(one[None].clone(), ALONE_P, True, generator)) for one in found]
    return {"each": torch.stack(kept), "whole": answer(found[:1].clone(), 0.0, True, generator)}


PROBE = Probe(
    _dropout_inputs,
    {
        "many": _drop(True, "found"),
        "evaluation": _drop(False, "few"),
        # Evaluation changes nothing, even at p = 1.
        "evaluation_at_one": _drop(False, "few", 1.0),
        "none": _drop(True, "few", 0.0),
        # Many, to tell a probability of nearly 1 from 1.
        "every": _drop(True, "found", 1.0),
        "seeded": _drop_again,
        "one_by_one": _drop_one_by_one,
    },
    second=_least,
)
