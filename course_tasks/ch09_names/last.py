"""What 09/last asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.ch09_names.shared import echoing_model, random_echoes
from course_tasks.inputs import Rng, tensor
from course_tasks.probing import Inputs, Probe
from course_tasks.stand_ins import in_mode


def _last_inputs(rng: Rng) -> Inputs:
    V, longest = int(rng.integers(9, 13)), int(rng.integers(6, 9))
    # The longest is neither the first nor the last of them.
    first, last = rng.permutation([1, int(rng.integers(3, 5))])
    # Whoever takes the targets in chunks has a smaller one left, whatever size the chunks have.
    targets = int(rng.choice([37, 41, 43]))
    return {
        **random_echoes(rng, V, longest),
        "tokens": rng.integers(V, size=longest + targets).astype(np.int64),
        "lengths": np.array([first, longest, last], dtype=np.int64),
    }


def _last(answer: Any, given: Inputs) -> Any:
    model = echoing_model(given).eval()
    found = answer(model, tensor(given["tokens"]), given["lengths"].tolist())
    return [float(loss) for loss in found]


def _twice(answer: Any, given: Inputs) -> Any:
    """One length twice, on a text that has a single target; and which mode the model is left in."""
    lengths = given["lengths"].tolist()
    lengths += lengths[:1]
    model = echoing_model(given).eval()
    found = answer(model, tensor(given["tokens"][: max(lengths) + 1]), lengths)
    return {
        "losses": [float(loss) for loss in found],
        "evaluation_kept": in_mode(model, training=False),
        "training_kept": _training_kept(answer, given, lengths),
    }


def _training_kept(answer: Any, given: Inputs, lengths: list[int]) -> bool:
    """Whether a model that comes in training mode is left in it. Its losses are not asked for,
    since the task leaves open what dropout does to them.
    """
    model = echoing_model(given).train()
    answer(model, tensor(given["tokens"][: max(lengths) + 1]), lengths)
    return in_mode(model, training=True)


PROBE = Probe(_last_inputs, {"losses": _last, "twice": _twice})
