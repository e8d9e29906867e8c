"""What 04/generate asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course_tasks.ch04_bigram.shared import DRAWS
from course_tasks.inputs import Rng, seeded, tensor, whole
from course_tasks.probing import Inputs, Probe
from course_tasks.stand_ins import CERTAIN, Dice, in_mode


class Clockwork(nn.Module):
    """A language model whose next symbol is certain and depends on every token it is shown.

    Parameters
    ----------
    wheels : (block_size,) int
        By how much a token at each position turns the clock.
    vocab_size : int
        V.

    While it or its dropout is in training mode it is off by one, as dropout puts a real model off.
    """

    def __init__(self, wheels: Tensor, vocab_size: int):
        super().__init__()
        self.wheels = wheels
        self.vocab_size = vocab_size
        self.block_size = len(wheels)
        self.dropout = nn.Dropout()  # only its mode is looked at

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, None]:  # noqa: ARG002
        """Logits (B, T, V) of the next symbol, and no loss."""
        T = tokens.shape[1]
        if T > self.block_size:
            raise IndexError(
                f"the context holds {T} tokens, the model has positions for {self.block_size}"
            )
        # The 1 moves the clock at every position: no token is one that may as well be missing.
        turned = ((tokens + 1) * self.wheels[:T] + 1).cumsum(dim=1)  # (B, T)
        turned = turned + int(self.training or self.dropout.training)
        certain = nn.functional.one_hot(turned % self.vocab_size, self.vocab_size)  # (B, T, V)
        return certain * CERTAIN, None


def _generate_inputs(rng: Rng) -> Inputs:
    V, block_size = int(rng.choice([11, 13, 17])), int(rng.integers(5, 8))
    return _drawn(rng, V, int(rng.integers(2, 4)), int(rng.integers(2, 4)), block_size)


def _inputs_at_the_edge(rng: Rng) -> Inputs:
    """One text, which is as long as the model can read: short of nothing, and nothing to write."""
    V = int(rng.choice([11, 13, 17]))
    block_size = int(rng.integers(5, 8))
    return _drawn(rng, V, 1, block_size, block_size)


def _drawn(rng: Rng, V: int, B: int, T: int, block_size: int) -> Inputs:
    return {
        "wheels": rng.permutation(np.arange(1, V))[:block_size].astype(np.int64),
        "prompt": rng.integers(V, size=(B, T)).astype(np.int64),
        "long_prompt": rng.integers(V, size=(B, block_size + 5)).astype(np.int64),
        "dice": (rng.permutation(5) * rng.uniform(0.8, 0.9)).astype(np.float32),
        "B": whole(B),
        "T": whole(T),
        "V": whole(V),
        "block_size": whole(block_size),
        "seed": whole(int(rng.integers(2**31))),
    }


def _generate(
    answer: Any, given: Inputs, prompt: str, count: int, *, training: bool = False
) -> dict[str, Any]:
    model = Clockwork(tensor(given["wheels"]), int(given["V"])).train(training)
    tokens = answer(model, tensor(given[prompt]), count, seeded(int(given["seed"])))
    return {
        "tokens": tokens,
        "training_afterwards": model.training,
        "whole_afterwards": in_mode(model, training=model.training),
    }


def _generate_short(answer: Any, given: Inputs) -> Any:
    # The last symbol is drawn from a context of at most block_size − 1 tokens.
    count = int(given["block_size"]) - int(given["T"])
    return _generate(answer, given, "prompt", count)["tokens"]


def _generate_beyond(answer: Any, given: Inputs) -> Any:
    return _generate(answer, given, "prompt", 12)["tokens"]


def _generate_long_prompt(answer: Any, given: Inputs) -> Any:
    return _generate(answer, given, "long_prompt", 10)["tokens"]


def _generate_in_training(answer: Any, given: Inputs) -> Any:
    count = int(given["block_size"]) - int(given["T"])
    trained = _generate(answer, given, "prompt", count, training=True)
    kept = _generate(answer, given, "prompt", count, training=False)
    return trained | {"evaluation_kept": not kept["training_afterwards"]}


def _generate_by_chance(answer: Any, given: Inputs) -> Any:
    model = Dice(tensor(given["dice"])).eval()
    prompt = torch.zeros(DRAWS, 1, dtype=torch.int64)
    seed = int(given["seed"])
    few = torch.zeros(60, 1, dtype=torch.int64)
    generator = seeded(seed)
    return {
        "tokens": answer(model, prompt, 2, seeded(seed)),
        "first": answer(model, few, 2, generator),
        "second": answer(model, few, 2, generator),
        "repeated": answer(model, few, 2, seeded(seed)),
    }


PROBE = Probe(
    _generate_inputs,
    {
        "short": _generate_short,
        "beyond": _generate_beyond,
        "long": _generate_long_prompt,
        "training": _generate_in_training,
        "chance": _generate_by_chance,
    },
    second=_inputs_at_the_edge,
)
