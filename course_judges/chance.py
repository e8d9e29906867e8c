"""Whether draws can have come from a distribution, by a bound of Chernoff.

The last functions ask this of an answer that wrote with `course_tasks.stand_ins.Dice`. Its case
"chance" has the many `tokens`, and `first` and `repeated`, which are drawn with the same seed.
"""

from __future__ import annotations

import numpy as np

from course_judges.judging import Evidence
from course_tasks.answers import Array

# Chernoff: a share f of n draws with probability p has n · KL(f ‖ p) above this once in 2 · e⁻²⁸
# per symbol: with the few dozen symbols that a task looks at, a right answer is accused in
# fewer than one in 10⁹ checks.
IMPLAUSIBLE = 28.0


def _surprise(count: Array, draws: int, probability: Array) -> Array:
    """n · KL(f ‖ p) of each symbol's share f, elementwise."""
    f = count / draws

    def term(a: Array, b: Array) -> Array:
        return np.where(a > 0, a * np.log(np.maximum(a, 1e-300) / np.maximum(b, 1e-300)), 0.0)

    return draws * (term(f, probability) + term(1 - f, 1 - probability))


def follows(drawn: Array, probability: Array) -> bool:
    """True if draws can have come from a distribution.

    Parameters
    ----------
    drawn : (n,) int
        Symbols between 0 and V − 1.
    probability : (V,) float
    """
    drawn = whole(drawn)
    if drawn.dtype.kind not in "iu" or drawn.min() < 0 or drawn.max() >= len(probability):
        return False
    count = np.bincount(drawn, minlength=len(probability))
    return bool((_surprise(count, len(drawn), probability) < IMPLAUSIBLE).all())


def whole(numbers: Array) -> Array:
    """Numbers as integers, if that changes none of them: a part of its own asks for their kind."""
    numbers = np.asarray(numbers)
    if numbers.dtype.kind != "f" or not np.array_equal(numbers, np.rint(numbers)):
        return numbers
    return numbers.astype(np.int64)


def softmax(logits: Array) -> Array:
    """Softmax over the last axis."""
    e: Array = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def _percent(share: float) -> str:
    return "less than 0.1 %" if 0 < share < 0.001 else f"{100 * share:.1f} %"


def worst_share(drawn: Array, probability: Array) -> str:
    """A sentence on the symbol whose share is the least plausible, with its probability."""
    count = np.bincount(np.clip(drawn, 0, len(probability) - 1), minlength=len(probability))
    v = int(np.argmax(_surprise(count, len(drawn), probability)))
    return (
        f"Symbol {v} came up in {_percent(count[v] / len(drawn))} of {len(drawn)} draws, but its "
        f"probability is {_percent(probability[v])}."
    )


def dice_right(evidence: Evidence) -> bool:
    """True if the symbols written with loaded dice come up as often as the dice say."""
    if not evidence.comparable("chance.tokens"):
        return False
    tokens, wanted = evidence.yours("chance.tokens"), softmax(evidence.inputs["dice"])
    return all(follows(drawn, wanted) for drawn in tokens.T[1:])


def dice_share(evidence: Evidence) -> str:
    """A sentence on the first place where a symbol was drawn too often or too rarely."""
    tokens, wanted = evidence.yours("chance.tokens"), softmax(evidence.inputs["dice"])
    off = (drawn for drawn in tokens.T[1:] if not follows(drawn, wanted))
    return worst_share(next(off, tokens[:, 1]), wanted)


def repeats(evidence: Evidence) -> bool:
    """True if two generators with the same seed gave the same text."""
    return evidence.comparable("chance.first") and np.array_equal(
        evidence.yours("chance.first"), evidence.yours("chance.repeated")
    )


def only_the_best(evidence: Evidence) -> bool:
    """True if every symbol that was written is the likeliest one."""
    written = evidence.yours("chance.tokens")[:, 1:]
    best = evidence.inputs["dice"].argmax()
    return evidence.comparable("chance.tokens") and bool((written == best).all())
