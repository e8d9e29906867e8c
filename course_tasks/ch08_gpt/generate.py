"""What 08/generate asks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch

from course_tasks.ch08_gpt.probe_models import Progression
from course_tasks.inputs import Rng, seeded, tensor, whole
from course_tasks.probing import Inputs, Probe
from course_tasks.stand_ins import Dice, in_mode

# Rows that share one distribution: enough that chance and mistake cannot be taken for each other.
DRAWS = 8000


def _generate_inputs(rng: Rng, *, any_stop: bool = True) -> Inputs:
    V = int(rng.choice([13, 17, 19]))
    B, T, block_size = 3, int(rng.integers(4, 6)), int(rng.integers(6, 8))
    stop = int(rng.integers(1, V)) if any_stop else 0
    strides = rng.permutation(np.arange(1, V))[:B]
    # Row b meets the stop symbol after so many further symbols; all strides differ, and so do rows.
    after = rng.permutation([2, 4, 7])
    prompt = (stop - strides[:, None] * (after[:, None] + np.arange(T - 1, -1, -1))) % V
    seen = prompt.copy()
    # A stop symbol in the prompt is text like any other, also right before what is written.
    seen[:, 0] = seen[0, -1] = stop
    return {
        "prompt": prompt.astype(np.int64),
        "stop_in_prompt": seen.astype(np.int64),
        "after": after.astype(np.int64),
        "stop": whole(stop),
        "dice": (rng.permutation(5) * rng.uniform(0.5, 0.7)).astype(np.float32),
        "B": whole(B),
        "T": whole(T),
        "V": whole(V),
        "block_size": whole(block_size),
        "seed": whole(int(rng.integers(2**31))),
    }


def _write(
    answer: Any, given: Inputs, prompt: str, count: int, *, training: bool = False
) -> dict[str, Any]:
    model = Progression(int(given["V"]), int(given["block_size"])).train(training)
    tokens = answer(
        model, tensor(given[prompt]), count, int(given["stop"]), seeded(int(given["seed"]))
    )
    return {
        "tokens": tokens,
        "training_afterwards": model.training,
        "whole_afterwards": in_mode(model, training=model.training),
        "shortest": min(model.lengths, default=0),
        "longest": max(model.lengths, default=0),
    }


def _write_few(answer: Any, given: Inputs) -> Any:
    return _write(answer, given, "prompt", 1)["tokens"]


def _write_nothing(answer: Any, given: Inputs) -> Any:
    return _write(answer, given, "prompt", 0)["tokens"]


def _write_some(answer: Any, given: Inputs) -> Any:
    return _write(answer, given, "prompt", 5)["tokens"]


def _write_to_the_end(answer: Any, given: Inputs) -> Any:
    return _write(answer, given, "prompt", 12)["tokens"]


def _write_alone(answer: Any, given: Inputs) -> Any:
    """One row, whose prompt is longer than what the model reads, and what it was not shown."""
    V, size, stop = (int(given[name]) for name in ("V", "block_size", "stop"))
    stride = int(given["prompt"][0, 1] - given["prompt"][0, 0]) % V
    steps = int(given["after"][0]) + np.arange(size + 1, -1, -1)
    model = Progression(V, size).eval()
    prompt = torch.from_numpy((stop - stride * steps) % V)[None]
    tokens = answer(model, prompt, 9, stop, seeded(int(given["seed"])))
    return {"tokens": tokens, "shown": min(model.lengths, default=0)}


def _write_after_stop(answer: Any, given: Inputs) -> Any:
    """Texts that grow beyond what the model reads, and the contexts that it was shown."""
    written = _write(answer, given, "stop_in_prompt", 5)
    return {name: written[name] for name in ("tokens", "shortest", "longest")}


def _write_in_training(answer: Any, given: Inputs) -> Any:
    trained = _write(answer, given, "prompt", 1, training=True)
    nothing = _write(answer, given, "prompt", 0, training=True)
    kept = _write(answer, given, "prompt", 1, training=False)
    early = _write(answer, given, "prompt", 12, training=True)  # every row stops before that
    return {
        "tokens": trained["tokens"],
        "training_afterwards": trained["training_afterwards"],
        "whole_afterwards": trained["whole_afterwards"],
        "training_after_nothing": nothing["training_afterwards"],
        "evaluation_kept": not kept["training_afterwards"],
        "training_after_stops": early["training_afterwards"],
    }


def _write_by_chance(answer: Any, given: Inputs) -> Any:
    model = Dice(tensor(given["dice"])).eval()
    many, few = torch.zeros(DRAWS, 1, dtype=torch.int64), torch.zeros(60, 1, dtype=torch.int64)
    generator = seeded(int(given["seed"]))
    return {
        "tokens": answer(model, many, 1, 0, seeded(int(given["seed"]))),
        "first": answer(model, few, 1, 0, generator),
        "further": answer(model, few, 1, 0, generator),
        "repeated": answer(model, few, 1, 0, seeded(int(given["seed"]))),
    }


PROBE = Probe(
    _generate_inputs,
    {
        "one": _write_few,
        "none": _write_nothing,
        "some": _write_some,
        "all": _write_to_the_end,
        "seen": _write_after_stop,
        "alone": _write_alone,
        "training": _write_in_training,
        "chance": _write_by_chance,
    },
    # Symbol 0 stops like any other.
    second=partial(_generate_inputs, any_stop=False),
)
