"""What 12/seconds asks: where the seconds of generation go, on a model whose seconds are known.

The model's parts move the clock themselves, so an answer is exact, however busy the machine is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course_tasks.inputs import Rng, entries_of, tensor, whole
from course_tasks.probing import Inputs, Probe

PARTS = ("embedding", "attention", "feed_forward", "output", "elsewhere")
"""Where a second can have gone."""

_VOCABULARY = 7


class Clock:
    """Tells the seconds that parts have taken; called as `time.perf_counter` is."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Seconds since some moment."""
        return self.now


class Part(nn.Module):
    """Takes a time that depends on how much it is given, and passes that on."""

    def __init__(self, clock: Clock, each: float, pair: float = 0.0, symbol: float = 0.0):
        super().__init__()
        self._clock, self._each, self._pair, self._symbol = clock, each, pair, symbol
        self._called = False

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, …) → the same."""
        T = x.shape[1]
        took = self._each * T + self._pair * T * T + self._symbol * float(x.sum())
        self._clock.now += took if self._called else 5 * took  # the first call is slower
        self._called |= T > 0  # an empty text prepares nothing
        return x


class Block(nn.Module):
    """Attention and feed-forward, and some time between them."""

    def __init__(self, clock: Clock, rng: Rng):
        super().__init__()
        self._clock, self._between = clock, float(rng.uniform(0.1, 0.3))
        self.attention = Part(clock, *rng.uniform(0.5, 1.5, 2).tolist())
        self.feed_forward = Part(clock, float(rng.uniform(1, 3)))

    def forward(self, x: Tensor) -> Tensor:
        """(B, T) → (B, T)."""
        x = self.attention(x)
        self._clock.now += self._between
        return self.feed_forward(x)


class Model(nn.Module):
    """Has the parts of a GPT by their names; the next symbol is the sum of those read, modulo V."""

    def __init__(self, clock: Clock, block_size: int, n_layer: int, rng: Rng):
        super().__init__()
        self.block_size = block_size
        # Rarer symbols take longer to find, so that it matters which text is written.
        self.embedding = Part(clock, float(rng.uniform(0.2, 0.6)), symbol=0.1)
        self.blocks = nn.Sequential(*[Block(clock, rng) for _ in range(n_layer)])
        self.output = Part(clock, float(rng.uniform(0.3, 0.9)))

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, None]:  # noqa: ARG002
        """(B, T) → logits (B, T, V), and no loss."""
        if tokens.shape[1] > self.block_size:
            raise ValueError(
                f"the model was given {tokens.shape[1]} tokens and reads at most {self.block_size}"
            )
        x = self.output(self.blocks(self.embedding(tokens)))
        return nn.functional.one_hot(x.cumsum(dim=1) % _VOCABULARY, _VOCABULARY).float(), None


def _inputs(rng: Rng) -> Inputs:
    T, n_layer = int(rng.integers(3, 5)), int(rng.integers(3, 5))
    count, short = int(rng.integers(5, 8)), T + 2
    while True:
        given = _of(rng, T, count, short, n_layer)
        # An answer that keeps reading the beginning of the text should read other symbols, which
        # take another time.
        if _read(given, slice(-short, None)) != _read(given, slice(short)):
            return given


def _smallest(rng: Rng) -> Inputs:
    """A model of one block writes one symbol after one, which is all that it can read."""
    return _of(rng, 1, 1, 1, 1)


def _of(rng: Rng, T: int, count: int, short: int, n_layer: int) -> Inputs:
    return {
        "prompt": rng.integers(0, _VOCABULARY, (1, T)),
        "T": whole(T),
        "count": whole(count),
        "long": whole(30),
        "short": whole(short),
        "n_layer": whole(n_layer),
        "cost": whole(int(rng.integers(2**31))),
    }


def _read(given: Inputs, shown: slice) -> int:
    """The sum of all symbols that the model reads if each call shows it this part of the text."""
    text, total = given["prompt"][0].tolist(), 0
    for _ in range(int(given["count"])):
        read = sum(text[shown])
        text.append(read % _VOCABULARY)
        total += read
    return total


def _looks_on(*_: Any) -> None:
    """A hook that changes nothing."""


def _measured(answer: Any, given: Inputs, block_size: int, *, training: bool) -> Any:
    clock = Clock()
    rng = np.random.default_rng(int(given["cost"]))
    model = Model(clock, block_size, int(given["n_layer"]), rng).train(training)
    modules = list(model.modules())
    # Hooks of somebody else, which should still be there afterwards.
    others = (
        model.embedding.register_forward_pre_hook(_looks_on),
        model.output.register_forward_hook(_looks_on),
    )
    found = entries_of(answer(model, tensor(given["prompt"]), int(given["count"]), clock), PARTS)
    hooks = sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in modules)
    there = [
        others[0].id in model.embedding._forward_pre_hooks,
        others[1].id in model.output._forward_hooks,
    ]
    # A `forward` may be put back as an attribute of its part: it is still that of the class.
    replaced = sum(getattr(m.forward, "__func__", None) is not type(m).forward for m in modules)
    return {
        "seconds": {name: torch.tensor(float(found[name])) for name in PARTS},
        "given": {
            "hooks": hooks - sum(there),
            "removed": there.count(False),
            "replaced": replaced,
            "other_mode": sum(module.training != training for module in modules),
        },
    }


def _growing(answer: Any, given: Inputs) -> Any:
    return _measured(answer, given, int(given["long"]), training=True)


def _cropped(answer: Any, given: Inputs) -> Any:
    return _measured(answer, given, int(given["short"]), training=False)


PROBE = Probe(_inputs, {"growing": _growing, "cropped": _cropped}, second=_smallest)
