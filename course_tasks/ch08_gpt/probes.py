"""What the tasks of chapter 08 ask: inputs and calls, no answers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from course_tasks.ch08_gpt.probe_models import Stack
from course_tasks.ch08_gpt.training_probe import TRAINING
from course_tasks.ch08_gpt.writing_probes import GENERATE, TOP_K, TOP_P
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe

SETTINGS = ("vocab_size", "block_size", "n_layer", "n_head", "n_embd", "dropout")


# --- config ---------------------------------------------------------------------------------------


def _config_inputs(rng: Rng) -> Inputs:
    heads = int(rng.integers(3, 7))
    size = int(rng.choice([d for d in range(5, 10) if d != heads]))
    return {
        "vocab_size": whole(int(rng.integers(80, 99))),
        "block_size": whole(int(rng.integers(100, 130))),
        "n_layer": whole(int(rng.integers(61, 71))),
        "n_head": whole(heads),
        "n_embd": whole(heads * size),
        "dropout": number(int(rng.integers(11, 40)) / 100),
        "rest": number(int(rng.integers(1, heads))),
        "negative": number(-int(rng.integers(2, 9))),
        "too_much": number(int(rng.integers(11, 20)) / 10),
    }


def _settings(given: Inputs) -> dict[str, Any]:
    sizes: dict[str, Any] = {name: int(given[name]) for name in SETTINGS[:-1]}
    return sizes | {"dropout": float(given["dropout"])}


def _sizes_of(config: Any) -> list[float]:
    return [float(getattr(config, name)) for name in (*SETTINGS, "head_size")]


def _possible(answer: Any, given: Inputs) -> Any:
    return _sizes_of(answer(**_settings(given)))


def _edges(answer: Any, given: Inputs) -> Any:
    smallest = _settings(given) | {"n_layer": 1, "n_head": 1, "dropout": 0.0}
    return _sizes_of(answer(**smallest))


def _thin_heads(answer: Any, given: Inputs) -> Any:
    return _sizes_of(answer(**_settings(given) | {"n_embd": int(given["n_head"])}))


def _refusals(answer: Any, given: Inputs, changes: list[dict[str, Any]]) -> dict[str, Any]:
    """For each change, whether and how it was refused, and what the message speaks of.

    `outcome`: 0 accepted, 1 a ValueError, 2 an AssertionError, 3 any other error. `named` and
    `shown` (changes, settings): whether the message holds a setting's name, and its value.
    """
    outcomes, named, shown = [], [], []
    for change in changes:
        settings = _settings(given) | change
        outcome, message = 0, ""
        try:
            answer(**settings)
        except NotImplementedError:
            raise
        except Exception as error:
            kinds = (ValueError, AssertionError)
            outcome = next((n for n, kind in enumerate(kinds, 1) if isinstance(error, kind)), 3)
            message = str(error)
        outcomes.append(outcome)
        named.append([bool(re.search(rf"(?<!\w){name}(?!\w)", message)) for name in SETTINGS])
        shown.append(
            [
                bool(re.search(rf"(?<![\w.]){re.escape(str(settings[name]))}(?!\d|\.\d)", message))
                for name in SETTINGS
            ]
        )
    return {"outcome": np.array(outcomes), "named": np.array(named), "shown": np.array(shown)}


def _bad_sizes(answer: Any, given: Inputs) -> Any:
    values = (0, int(given["negative"]))
    changes = [{name: value} for value in values for name in SETTINGS[:-1]]
    return _refusals(answer, given, changes)


def _bad_heads(answer: Any, given: Inputs) -> Any:
    return _refusals(answer, given, [{"n_embd": int(given["n_embd"] + given["rest"])}])


def _bad_dropout(answer: Any, given: Inputs) -> Any:
    values = (-float(given["dropout"]), 1.0, float(given["too_much"]))
    return _refusals(answer, given, [{"dropout": value} for value in values])


def _several(answer: Any, given: Inputs) -> Any:
    dropout, off = float(given["too_much"]), int(given["n_embd"] + given["rest"])
    return _refusals(
        answer,
        given,
        [
            {"vocab_size": 0, "n_layer": int(given["negative"]), "dropout": dropout},
            {"block_size": int(given["negative"]), "n_embd": off},
        ],
    )


# --- initialise -----------------------------------------------------------------------------------


def _initialise_inputs(rng: Rng) -> Inputs:
    V, T = int(rng.integers(70, 90)), int(rng.integers(20, 30))
    return {
        "V": whole(V),
        "T": whole(T),
        "C": whole(int(rng.integers(42, 54))),
        "K": whole(int(rng.integers(5, 9))),
        "std": number(int(rng.integers(15, 31)) / 1000),
        "tokens": rng.integers(V, size=(12, T)).astype(np.int64),
        "targets": rng.integers(V, size=(12, T)).astype(np.int64),
        "seed": whole(int(rng.integers(2**31))),
    }


def _initialised(answer: Any, given: Inputs) -> Any:
    V, T, C, K = (int(given[name]) for name in "VTCK")
    model = Stack(V, T, C, K)
    seeded = torch.Generator().manual_seed(int(given["seed"]))
    with torch.no_grad():
        for parameter in model.parameters():  # nothing is right before the answer touches it
            parameter.copy_(torch.randn(parameter.shape, generator=seeded) * 0.7 + 0.4)
    torch.manual_seed(int(given["seed"]))
    ends = [f"branches.{k}.end.weight" for k in range(K)]
    answer(model, ends, float(given["std"]))
    named = dict(model.named_parameters())
    plain = ("tokens.weight", "positions.weight", *(f"branches.{k}.widen.weight" for k in range(K)))
    norms = [value for name, value in named.items() if name.endswith("norm.weight")]
    biases = [value for name, value in named.items() if name.endswith("bias")]
    with torch.no_grad():
        logits = model(tensor(given["tokens"])).flatten(0, 1)  # (B·T, V)
        loss = F.cross_entropy(logits, tensor(given["targets"]).flatten())
        return {
            "loss": loss,
            "plain": [named[name].std() for name in plain],
            "ends": [named[name].std() for name in ends],
            "means": [named[name].mean() for name in (*plain, *ends)],
            "norms": [value.sub(1).abs().max() for value in norms],
            "norms_mean": [value.mean() for value in norms],
            "biases": [value.abs().max() for value in biases],
            "tied": model.output.weight is model.tokens.weight,
        }


# --- schedule -------------------------------------------------------------------------------------


def _schedule_inputs(rng: Rng) -> Inputs:
    return {
        "steps": whole(int(rng.integers(30, 41))),
        "warm_up": whole(int(rng.integers(4, 7))),
        "decay": whole(int(rng.integers(8, 13))),
        "final": number(int(rng.integers(5, 21)) / 100),
    }


def _rates(answer: Any, given: Inputs, warm_up: int, decay: int) -> list[float]:
    steps, final = int(given["steps"]), float(given["final"])
    return [float(answer(step, steps, warm_up, decay, final)) for step in range(steps)]


def _every_step(answer: Any, given: Inputs) -> Any:
    return _rates(answer, given, int(given["warm_up"]), int(given["decay"]))


def _without_warm_up(answer: Any, given: Inputs) -> Any:
    return _rates(answer, given, 0, int(given["decay"]))


def _without_decay(answer: Any, given: Inputs) -> Any:
    return _rates(answer, given, int(given["warm_up"]), 0)


PROBES: dict[str, Probe] = {
    "config": Probe(
        _config_inputs,
        {
            "possible": _possible,
            "edges": _edges,
            "thin": _thin_heads,
            "sizes": _bad_sizes,
            "heads": _bad_heads,
            "dropout": _bad_dropout,
            "several": _several,
        },
    ),
    "initialise": Probe(_initialise_inputs, {"start": _initialised}),
    "schedule": Probe(
        _schedule_inputs,
        {"rates": _every_step, "no_warm_up": _without_warm_up, "no_decay": _without_decay},
    ),
    "top-k": TOP_K,
    "top-p": TOP_P,
    "generate": GENERATE,
    "train": TRAINING,
}
