"""What 04/sample asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.ch04_bigram.shared import DRAWS
from course_tasks.inputs import Rng, number, seeded, tensor, values, whole
from course_tasks.probing import Inputs, Probe

# A temperature near 0 that is not 0.
COOL = 0.01


def _inputs_at_the_edge(rng: Rng) -> Inputs:
    """Temperature 0 for a single row, and a temperature above 1: below it the least likely symbols
    hardly ever come.
    """
    given = _sample_inputs(rng)
    hot = number(rng.choice([1.8, 2.0]))
    return {**given, "cold": given["cold"][:1], "temperature": hot}


def _sample_inputs(rng: Rng) -> Inputs:
    V = int(rng.integers(5, 8))
    ladder = np.arange(V) * rng.uniform(0.7, 0.9)
    # Two kinds of rows with their symbols in another order: one's best is the other's worst.
    order = rng.permutation(V)
    # One row's logits lie far above the other's: nothing may depend on that.
    kinds = np.stack([ladder[order], ladder[::-1][order]]) + rng.permutation([-2.0, 2.0])[:, None]
    cold = rng.normal(size=(V + 2, V)) * 2
    cold[0] = np.eye(V)[V - 1] * 3
    # Another row has the largest logit of all, for a symbol that is neither the first nor the last.
    cold[2, 2] = 12.0
    # In the other rows two symbols are nearly alike, so that a low temperature still draws both.
    last, best = np.argsort(cold[1:], axis=1)[:, -2:].T
    rows = np.arange(1, len(cold))
    cold[rows, last] = cold[rows, best] - 1e-4
    # In another all logits are negative, and one is −∞.
    cold[1] = -1 - np.abs(cold[1])
    cold[1, (cold[1].argmax() + 1) % V] = -np.inf
    # One row alone, and in it all logits but one are −inf: there is nothing to choose.
    alone = np.full((1, V), -np.inf, dtype=np.float32)
    alone[0, rng.integers(V)] = rng.normal()
    hidden = int(rng.integers(V))
    return {
        "logits": kinds.astype(np.float32),
        "alone": alone,
        # Symbol `hidden` is; so hot that any number in place of −inf would be drawn now and then.
        "masked": np.where(np.arange(V) == hidden, np.float32(-np.inf), values(rng, V)),
        "hidden": np.array([hidden]),
        "temperature": number(rng.choice([0.5, 0.55])),
        "cold": cold.astype(np.float32),
        "V": whole(V),
        "seed": whole(int(rng.integers(2**31))),
    }


def _sample_many(answer: Any, given: Inputs) -> Any:
    logits = tensor(given["logits"]).repeat(DRAWS, 1)  # (2 · DRAWS, V): kinds take turns
    return answer(logits, float(given["temperature"]), seeded(int(given["seed"])))


def _sample_cold(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["cold"]), 0.0, seeded(int(given["seed"])))


def _sample_alone(answer: Any, given: Inputs) -> Any:
    temperature = float(given["temperature"])
    return answer(tensor(given["alone"]), temperature, seeded(int(given["seed"])))


def _sample_masked(answer: Any, given: Inputs) -> Any:
    """How often the hidden symbol came up at a temperature at which differences hardly count."""
    logits = tensor(given["masked"]).expand(DRAWS, -1).clone()
    drawn = torch.as_tensor(answer(logits, 50.0, seeded(int(given["seed"]))))
    return {"hidden": (drawn == int(given["hidden"][0])).sum()}


def _sample_cool(answer: Any, given: Inputs) -> Any:
    """So cool that one symbol has all the probability, and e to the power of its logit, divided by
    the temperature, is infinite.
    """
    return answer(2 * tensor(given["logits"]), COOL, seeded(int(given["seed"])))


def _sample_again(answer: Any, given: Inputs) -> Any:
    # Flat logits, so that two independent draws of 60 rows cannot agree by chance; they stay flat
    # at any temperature but 0.
    logits = torch.zeros(60, int(given["V"]))
    generator = seeded(int(given["seed"]))
    return {
        "first": answer(logits, COOL, generator),
        "second": answer(logits, COOL, generator),
        "repeated": answer(logits, COOL, seeded(int(given["seed"]))),
        **{
            f"other_seed_{n}": answer(logits, COOL, seeded(int(given["seed"]) + n))
            for n in (1, 2, 3)
        },
    }


PROBE = Probe(
    _sample_inputs,
    {
        "many": _sample_many,
        "cold": _sample_cold,
        "alone": _sample_alone,
        "masked": _sample_masked,
        "seeded": _sample_again,
        "cool": _sample_cool,
    },
    second=_inputs_at_the_edge,
)
