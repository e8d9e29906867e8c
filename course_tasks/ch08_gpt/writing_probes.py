"""What the tasks of chapter 08 about writing ask: top-k, top-p and generate."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.answers import Array
from course_tasks.ch08_gpt.probe_models import Progression
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe
from course_tasks.stand_ins import Dice

# Rows that share one distribution: enough that chance and mistake cannot be taken for each other.
DRAWS = 3000


# --- top-k ----------------------------------------------------------------------------------------


def _spread_logits(rng: Rng, B: int, V: int) -> Array:
    """(B, V): in each row V different values in an order of its own, some of them negative."""
    steps = rng.uniform(0.25, 0.7, size=(B, V)).cumsum(axis=1)
    return rng.permuted(steps - steps.mean(axis=1, keepdims=True), axis=1)


def _top_k_inputs(rng: Rng) -> Inputs:
    V, B = int(rng.integers(8, 12)), int(rng.integers(4, 6))
    k = rng.permutation(np.arange(2, V - 1))[:B]
    if k[0] == k.max():  # the first k and the largest one are two different mistakes
        k = k[::-1]
    return {
        "logits": _spread_logits(rng, B, V),
        "k": k.astype(np.int64),
        "large": np.array([V, V + 3, V, 1, V + 1][:B], dtype=np.int64),
        "B": whole(B),
        "V": whole(V),
    }


def _keep_k(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"]), tensor(given["k"]))


def _keep_all_or_one(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"]), tensor(given["large"]))


# --- top-p ----------------------------------------------------------------------------------------


def _sorted_shares(logits: Array) -> Array:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return -np.sort(-weights / weights.sum(axis=-1, keepdims=True), axis=-1)


def _tells_apart(tempered: Array, plain: Array, p: float) -> bool:
    """True if sorted shares (B, V) show where the edge of the set was taken from.

    It must lie elsewhere for one who takes the temperature afterwards, or looks at single shares,
    and never so near to p that rounding decides.
    """
    size = (tempered.cumsum(axis=-1) < p).sum(axis=-1) + 1  # (B,)
    untempered = (plain.cumsum(axis=-1) < p).sum(axis=-1) + 1
    alone = np.maximum(1, (tempered >= 1 - p).sum(axis=-1))
    clear = np.abs(np.stack([tempered, plain]).cumsum(axis=-1) - p).min() > 0.005
    return bool(
        (np.abs(untempered - size) >= 2).any()
        and (np.abs(alone - size) >= 2).any()
        and clear
        and np.abs(tempered - (1 - p)).min() > 0.005
        and tempered[:, 0].max() < p - 0.01
    )


def _top_p_inputs(rng: Rng) -> Inputs:
    while True:
        V, B = int(rng.integers(8, 12)), int(rng.integers(4, 6))
        logits = _spread_logits(rng, B, V)
        temperature = float(rng.choice([0.5, 0.6, 1.7, 2.0]))
        p = float(rng.integers(60, 90)) / 100
        if _tells_apart(_sorted_shares(logits / temperature), _sorted_shares(logits), p):
            break
    return {
        "logits": logits,
        "temperature": number(temperature),
        "p": number(p),
        "tiny": number(0.01),
        "least": whole(int(rng.integers(2, 5))),
        "B": whole(B),
        "V": whole(V),
    }


def _nucleus(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"]), float(given["temperature"]), float(given["p"]), 1)


def _at_least(answer: Any, given: Inputs) -> Any:
    least = int(given["least"])
    return answer(tensor(given["logits"]), float(given["temperature"]), float(given["tiny"]), least)


def _everything(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"]), float(given["temperature"]), 1.0, 1)


# --- generate -------------------------------------------------------------------------------------


def _generate_inputs(rng: Rng) -> Inputs:
    V = int(rng.choice([13, 17, 19]))
    B, T, block_size = 3, int(rng.integers(4, 6)), int(rng.integers(6, 8))
    stop = int(rng.integers(V))
    strides = rng.permutation(np.arange(1, V))[:B]
    # Row b meets the stop symbol after so many further symbols; all strides differ, and so do rows.
    after = rng.permutation([2, 4, 7])
    prompt = (stop - strides[:, None] * (after[:, None] + np.arange(T - 1, -1, -1))) % V
    seen = prompt.copy()
    seen[:, 0] = stop  # a stop symbol in the prompt is text like any other
    return {
        "prompt": prompt.astype(np.int64),
        "stop_in_prompt": seen.astype(np.int64),
        "after": after.astype(np.int64),
        "stop": whole(stop),
        "dice": rng.permutation(np.arange(5) * rng.uniform(0.5, 0.7)),
        "B": whole(B),
        "T": whole(T),
        "V": whole(V),
        "block_size": whole(block_size),
        "seed": whole(int(rng.integers(2**31))),
    }


def _seeded(given: Inputs) -> torch.Generator:
    return torch.Generator().manual_seed(int(given["seed"]))


def _write(
    answer: Any, given: Inputs, prompt: str, count: int, *, training: bool = False
) -> dict[str, Any]:
    model = Progression(int(given["V"]), int(given["block_size"])).train(training)
    tokens = answer(model, tensor(given[prompt]), count, int(given["stop"]), _seeded(given))
    return {"tokens": tokens, "training_afterwards": model.training}


def _write_few(answer: Any, given: Inputs) -> Any:
    return _write(answer, given, "prompt", 1)["tokens"]


def _write_some(answer: Any, given: Inputs) -> Any:
    return _write(answer, given, "prompt", 5)["tokens"]


def _write_to_the_end(answer: Any, given: Inputs) -> Any:
    return _write(answer, given, "prompt", 12)["tokens"]


def _write_after_stop(answer: Any, given: Inputs) -> Any:
    return _write(answer, given, "stop_in_prompt", 5)["tokens"]


def _write_in_training(answer: Any, given: Inputs) -> Any:
    trained = _write(answer, given, "prompt", 1, training=True)
    kept = _write(answer, given, "prompt", 1, training=False)
    return trained | {"evaluation_kept": not kept["training_afterwards"]}


def _write_by_chance(answer: Any, given: Inputs) -> Any:
    model = Dice(tensor(given["dice"])).eval()
    many, few = torch.zeros(DRAWS, 1, dtype=torch.int64), torch.zeros(60, 1, dtype=torch.int64)
    return {
        "tokens": answer(model, many, 1, 0, _seeded(given)),
        "first": answer(model, few, 1, 0, _seeded(given)),
        "repeated": answer(model, few, 1, 0, _seeded(given)),
    }


TOP_K = Probe(_top_k_inputs, {"kept": _keep_k, "edges": _keep_all_or_one})

TOP_P = Probe(_top_p_inputs, {"nucleus": _nucleus, "least": _at_least, "everything": _everything})

GENERATE = Probe(
    _generate_inputs,
    {
        "one": _write_few,
        "some": _write_some,
        "all": _write_to_the_end,
        "seen": _write_after_stop,
        "training": _write_in_training,
        "chance": _write_by_chance,
    },
)
