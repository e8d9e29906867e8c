"""What 04/sgd-step asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.inputs import Rng, number, parts_of, tensor, whole
from course_tasks.probing import Inputs, Probe

# A learning rate at which two symbols that follow another one take all probability in turns.
LONG = 60.0


def _sgd_inputs(rng: Rng) -> Inputs:
    V = int(rng.integers(6, 9))
    return _drawn(rng, V, int(rng.integers(2, 4)), int(rng.integers(4, 6)))


def _drawn(rng: Rng, V: int, B: int, T: int) -> Inputs:
    # The symbol V − 1 does not occur in x: its row must stay as it is. A pair that comes twice
    # must count twice.
    x = rng.integers(V - 1, size=(B, T))
    y = rng.integers(V, size=(B, T))
    x[1:2, :2], y[1:2, :2] = x[0, :2], y[0, :2]
    return {
        "table": rng.normal(size=(V, V)).astype(np.float32),
        "x": x.astype(np.int64),
        "y": y.astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "V": whole(V),
        "learning_rate": number(rng.choice([3.0, 4.0, 5.0, 6.0])),
    }


def _descend(answer: Any, given: Inputs, steps: int) -> Any:
    x, y = tensor(given["x"]), tensor(given["y"])
    result = answer(tensor(given["table"]), x, y, float(given["learning_rate"]), steps)
    # The table may change, the batch may not.
    return parts_of(result, "table", "losses") | {"given": {"x": x, "y": y}}


def _one_step(answer: Any, given: Inputs) -> Any:
    return _descend(answer, given, 1)


def _three_steps(answer: Any, given: Inputs) -> Any:
    return _descend(answer, given, 3)


def _steps_too_long(answer: Any, given: Inputs) -> Any:
    """The loss rises at once: nothing says that a descent stops there."""
    if given["x"].size == 1:  # much is right there, and wrong in any other batch
        return _three_steps(answer, given)
    # One symbol is followed by two others, by one of them twice as often. The first step takes both
    # so far up that the rarer one has hardly any probability left.
    common, rarer = np.argsort(given["table"][0])[2:4]
    following = np.array([[common, rarer, common], [common, common, rarer]])
    batch = {"x": np.zeros_like(following), "y": following}
    return _descend(answer, {**given, **batch, "learning_rate": number(LONG)}, 3)


def _inputs_at_the_edge(rng: Rng) -> Inputs:
    """A batch of one pair, which is the most surprising one: no gradient is longer."""
    given = _drawn(rng, int(rng.integers(6, 9)), 1, 1)
    return {**given, "y": given["table"][given["x"]].argmin(axis=-1)}


PROBE = Probe(
    _sgd_inputs,
    {"one": _one_step, "three": _three_steps, "long": _steps_too_long},
    second=_inputs_at_the_edge,
)
