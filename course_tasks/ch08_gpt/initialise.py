"""What 08/initialise asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from course_tasks.ch08_gpt.probe_models import Stack
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe

# Which matrices end a branch, the list says, and no name that a model happens to use.
END_LAYERS = ("narrow", "second", "down")


def _initialise_inputs(rng: Rng) -> Inputs:
    V, T = int(rng.integers(70, 90)), int(rng.integers(20, 30))
    return {
        "V": whole(V),
        "T": whole(T),
        "C": whole(int(rng.integers(42, 54))),
        "K": whole(int(rng.integers(5, 9))),
        "end": whole(int(rng.integers(len(END_LAYERS)))),
        # Not near 0.02, which the chapter has.
        "std": number(int(rng.choice([13, 14, 15, 16, 25, 26, 27, 28, 29, 30])) / 1000),
        "tokens": rng.integers(V, size=(12, T)).astype(np.int64),
        "targets": rng.integers(V, size=(12, T)).astype(np.int64),
        "seed": whole(int(rng.integers(2**31))),
    }


def _initialised(answer: Any, given: Inputs) -> Any:
    V, T, C, K = (int(given[name]) for name in "VTCK")
    end = END_LAYERS[int(given["end"])]
    model = Stack(V, T, C, K, end)
    seeded = torch.Generator().manual_seed(int(given["seed"]))
    with torch.no_grad():
        for parameter in model.parameters():  # nothing is right before the answer touches it
            parameter.copy_(torch.randn(parameter.shape, generator=seeded) * 0.7 + 0.4)
    torch.manual_seed(int(given["seed"]))
    ends = [f"branches.{k}.{end}.weight" for k in range(K)]
    before = dict(model.named_parameters())
    values_before = {name: value.detach().clone() for name, value in before.items()}
    returned = answer(model, ends.copy(), float(given["std"]))
    named = dict(model.named_parameters())
    plain = (
        "tokens.weight",
        "positions",
        f"before.branches.0.{end}.weight",
        *(f"branches.{k}.widen.weight" for k in range(K)),
    )
    of_norms = {name: value for name, value in named.items() if name.endswith("norm.weight")}
    norms = list(of_norms.values())
    first, *others = ([f"branches.{k}.widen.weight", ends[k]] for k in range(K))
    biases = {name: value for name, value in named.items() if name.endswith("bias")}
    with torch.no_grad():
        logits = model(tensor(given["tokens"])).flatten(0, 1)  # (B·T, V)
        loss = F.cross_entropy(logits, tensor(given["targets"]).flatten())
        return {
            "loss": loss,
            "plain": [named[name].std() for name in plain],
            "ends": [named[name].std() for name in ends],
            "farthest": [named[name].abs().max() / named[name].std() for name in (*plain, *ends)],
            "means": [named[name].mean() for name in (*plain, *ends)],
            "left": [torch.equal(named[name], values_before[name]) for name in (*plain, *ends)],
            "repeated": [
                torch.equal(named[one], named[other])
                for names in others
                for one, other in zip(first, names, strict=True)
            ],
            "norms": [value.sub(1).abs().max() for value in norms],
            "norms_mean": [value.mean() for value in norms],
            "norms_kept": all(
                name in values_before and torch.equal(value, values_before[name])
                for name, value in of_norms.items()
            ),
            "biases": [value.abs().max() for value in biases.values()],
            "biases_mean": [value.mean() for value in biases.values()],
            "biases_of_norms": [".norm." in f".{name}" for name in biases],
            "biases_left": [
                name in values_before and torch.equal(value, values_before[name])
                for name, value in biases.items()
            ],
            "tied": model.output.weight is model.tokens.weight,
            "in_place": all(named.get(name) is value for name, value in before.items()),
            "trainable": all(value.requires_grad for value in named.values()),
            "nothing_returned": returned is None,
        }


PROBE = Probe(_initialise_inputs, {"start": _initialised})
