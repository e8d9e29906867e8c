"""What 04/cross-entropy asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe

# The probability of the target that is least expected.
RARE = 3e-4


def _cross_entropy_inputs(rng: Rng) -> Inputs:
    T, V = (int(n) for n in rng.choice([4, 5, 6, 7], size=2, replace=False))
    return _drawn(rng, int(rng.integers(2, 4)), T, V)


def _inputs_at_the_edge(rng: Rng) -> Inputs:
    """One sample, of one position where logits are spread, and all of the probability is on its
    target; and logits in the hundreds below 0.
    """
    T, V = (int(n) for n in rng.choice([4, 5, 6, 7], size=2, replace=False))
    given = _drawn(rng, 1, T, V)
    return {
        **given,
        "shift": -given["shift"],
        "spread": given["spread"][:, :1],
        "surprised": given["spread"][:, :1].argmax(axis=-1),
    }


def _drawn(rng: Rng, B: int, T: int, V: int) -> Inputs:
    targets = rng.integers(V, size=(B, T))
    targets[-1, 1] = 0  # a symbol like any other
    logits = _logits(rng, targets, V)
    ignored = targets.copy()
    ignored[0, 0] = -1
    ignored[0, 1] = -100
    ignored[-1, T - 1] = -int(rng.integers(2, 100))  # "or another number"
    # A sample may have nothing to predict at all, as long as another one has.
    nothing = ignored.copy()
    nothing[1:] = -1
    # The same ones in another batch: two losses cannot agree by chance.
    second_logits = _logits(rng, targets, V)
    spread = logits.copy()
    # In every other row of V one symbol is so likely that the others round to a probability of 0;
    # the rows between them are as they were.
    far = (np.arange(B)[:, None] + np.arange(T)) % 2 == 0
    high = spread.copy()
    # Each of them by another number, so that their mean tells how many of them were counted.
    heights = rng.choice(np.arange(900.0, 1000.0), size=(B, T, 1), replace=False)
    np.put_along_axis(high, rng.integers(V, size=(B, T, 1)), heights, axis=-1)
    spread = np.where(far[..., None], high, spread)
    wrong = int(np.argmin(spread[0, 0]))
    surprised = targets.copy()
    surprised[0, 0] = wrong
    return {
        "logits": logits,
        "targets": targets,
        "ignored": ignored,
        "nothing": nothing,
        "second_logits": second_logits,
        # The same guess everywhere: whatever is paired with what, each has the same loss.
        "equal": np.broadcast_to(logits[:1, -2:-1], logits.shape).copy(),
        "equal_target": np.array([targets[0, -2]]),
        "shift": number(int(rng.integers(800, 1000))),
        "spread": spread,
        "surprised": surprised,
        "B": whole(B),
        "T": whole(T),
        "V": whole(V),
    }


def _logits(rng: Rng, targets: Array, V: int) -> Array:
    """(B, T, V) float32 of so few digits that a shift by hundreds takes none from them.

    One target has the probability 3e-4 and none has less than that, so that it shows in every draw
    whether a limit for probabilities is above it or below.
    """
    logits = 1.5 * rng.normal(size=(*targets.shape, V)).clip(-2, 2)
    row, target = logits[0, -2], targets[0, -2]
    row[target] = np.log(RARE / (1 - RARE) * np.exp(np.delete(row, target)).sum())
    return (np.round(logits * 1024) / 1024).astype(np.float32)


def _loss_plain(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"]), tensor(given["targets"]))


def _loss_equal(answer: Any, given: Inputs) -> Any:
    B, T, _ = given["equal"].shape
    return answer(tensor(given["equal"]), tensor(given["equal_target"]).repeat(B, T))


def _loss_ignored(answer: Any, given: Inputs) -> Any:
    return [
        # A copy, so that the second call meets negative targets, whatever the first one wrote.
        answer(tensor(given[logits]), tensor(given[targets]).clone())
        for logits, targets in (("logits", "ignored"), ("second_logits", "nothing"))
    ]


def _loss_shifted(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"] + np.float32(given["shift"])), tensor(given["targets"]))


def _loss_spread(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["spread"]), tensor(given["surprised"]))


PROBE = Probe(
    _cross_entropy_inputs,
    {
        "plain": _loss_plain,
        "ignored": _loss_ignored,
        "shifted": _loss_shifted,
        "spread": _loss_spread,
        "equal": _loss_equal,
    },
    second=_inputs_at_the_edge,
)
