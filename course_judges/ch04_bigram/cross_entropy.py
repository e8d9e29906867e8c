"""Judges 04/cross-entropy: the loss of a batch of logits, written by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges.ch04_bigram.outcomes import words
from course_judges.ch04_bigram.sections import FLAT, GUESS, TABLE
from course_judges.judging import Evidence, Mistake, Part, Task, matches


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy over the targets that are not negative."""
    shifted = logits - logits.amax(dim=-1, keepdim=True)  # (B, T, V)
    log_probabilities = shifted - shifted.exp().sum(dim=-1, keepdim=True).log()
    counted = targets >= 0
    losses = -log_probabilities[counted].gather(1, targets[counted][:, None])  # (count, 1)
    return losses.mean()


def _losses(log_probabilities: Tensor, targets: Tensor) -> Tensor:
    """(count,) the loss of every target that is not negative."""
    counted = targets >= 0
    return -log_probabilities[counted, targets[counted]]


def _softmax_first(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits.softmax(dim=-1), targets)


def _overflows(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits - logits.exp().sum(dim=-1, keepdim=True).log(), targets).mean()


def _log_of_softmax(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.softmax(dim=-1).log(), targets).mean()


def _ignored_counted(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.log_softmax(dim=-1), targets).sum() / targets.numel()


def _ignored_as_index(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def _ignored_as_zero(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits, targets.clamp(min=0))


def _summed(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.log_softmax(dim=-1), targets).sum()


def _mean_of_row_means(logits: Tensor, targets: Tensor) -> Tensor:
    rows = [cross_entropy(row[None], aim[None]) for row, aim in zip(logits, targets, strict=True)]
    return torch.stack(rows).mean()


def _unsigned(logits: Tensor, targets: Tensor) -> Tensor:
    return -cross_entropy(logits, targets)


def _softmax_over_time(logits: Tensor, targets: Tensor) -> Tensor:
    return _losses(logits.log_softmax(dim=1), targets).mean()


def _cross_entropy_in_bits(logits: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(logits, targets) / math.log(2)


def _not_flattened(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits, targets)


def _takes_time_for_classes(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("plain")
    return raised is not None and "Expected target size" in raised.message


def _is_overflow(evidence: Evidence) -> bool:
    return evidence.same("plain") and not np.isfinite(evidence.yours("shifted")).all()


def _is_log_of_softmax(evidence: Evidence) -> bool:
    return evidence.same("plain", "shifted") and not evidence.same("spread")


def _uses_ignored_as_index(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("ignored")
    return evidence.same("plain") and raised is not None and not raised.not_attempted


def _two_losses(case: str) -> Callable[[Evidence], str]:
    def say(evidence: Evidence) -> str:
        mine, right = (np.ravel(v)[0] for v in (evidence.yours(case), evidence.right(case)))
        return f"Your loss is {mine:.4g}; it should be {right:.4g} (with {evidence.sizes()})."

    return say


def _ignored_count(evidence: Evidence) -> str:
    ignored = evidence.inputs["ignored"]
    return (
        f"Of {ignored.size} targets {int((ignored < 0).sum())} are negative and count for nothing, "
        f"so the mean is over {int((ignored >= 0).sum())}."
    )


TASK = Task(
    "Cross-entropy by hand",
    cross_entropy,
    FLAT,
    (
        Part("The mean surprise of the targets comes out.", 1, matches("plain")),
        Part("Negative targets count for nothing.", 1, matches("ignored")),
        Part("Adding the same large number to all logits changes nothing.", 1, matches("shifted")),
        Part("A target with a vanishing probability gets its finite loss.", 1, matches("spread")),
    ),
    (
        Mistake(
            "softmax-before-cross-entropy",
            _softmax_first,
            "You took the softmax twice: the probabilities were treated as logits once more.",
            lambda e: (
                "Probabilities lie between 0 and 1, so a second softmax makes them almost equal:"
                f" with V = {e.number('V')} the loss stays near log {e.number('V')} ="
                f" {math.log(e.number('V')):.3f} and can never come near 0."
                f" {_two_losses('plain')(e)}"
            ),
            FLAT,
            cases=("plain",),
        ),
        Mistake(
            "loss-not-flattened",
            _not_flattened,
            "The logits went into `F.cross_entropy` as (B, T, V); it takes the second size for the"
            " classes.",
            lambda e: (
                f"It took T = {e.number('T')} for the number of classes. It says: "
                f"“{words(e, 'plain')}”."
            ),
            FLAT,
            recognised=_takes_time_for_classes,
        ),
        Mistake(
            "sign-forgotten",
            _unsigned,
            "The minus sign is missing: a log-probability is below 0, a loss above.",
            _two_losses("plain"),
            GUESS,
            cases=("plain",),
        ),
        Mistake(
            "sum-not-mean",
            _summed,
            "You summed the losses and did not divide by their number.",
            lambda e: (
                f"The sum grows with the batch: {e.number('B')} · {e.number('T')} targets here."
                f" {_two_losses('plain')(e)}"
            ),
            GUESS,
            cases=("plain",),
        ),
        Mistake(
            "bits-not-nats",
            _cross_entropy_in_bits,
            "You used the logarithm to the base 2, which counts bits; this course counts nats.",
            lambda e: f"{_two_losses('plain')(e)} The ratio is 1 / log 2 = 1.443.",
            GUESS,
            cases=("plain",),
        ),
        Mistake(
            "softmax-over-time",
            _softmax_over_time,
            "You normalised over the positions (T); the V symbols compete with each other at each"
            " position.",
            lambda e: (
                f"Your probabilities sum to 1 down each column of T = {e.number('T')} positions,"
                f" not over the V = {e.number('V')} symbols. {_two_losses('plain')(e)}"
            ),
            TABLE,
            cases=("plain",),
        ),
        Mistake(
            "ignored-indexed",
            _ignored_as_index,
            "A negative target was used as the number of a symbol.",
            lambda e: (
                "It says:"
                f" “{words(e, 'ignored')}”."
                f" {_ignored_count(e)} Take them out before you look anything up."
            ),
            FLAT,
            recognised=_uses_ignored_as_index,
        ),
        Mistake(
            "ignored-counted",
            _ignored_counted,
            "You left the ignored targets out of the sum, and counted them in the division.",
            lambda e: f"{_ignored_count(e)} {_two_losses('ignored')(e)}",
            FLAT,
            cases=("plain", "ignored"),
        ),
        Mistake(
            "ignored-as-zero",
            _ignored_as_zero,
            "Ignored targets were replaced by symbol 0, and then counted as if it were the answer.",
            lambda e: f"{_ignored_count(e)} {_two_losses('ignored')(e)}",
            FLAT,
            cases=("plain", "ignored"),
        ),
        Mistake(
            "mean-of-row-means",
            _mean_of_row_means,
            "You took the mean of each row first, and then the mean of the rows.",
            lambda e: (
                f"{_ignored_count(e)} The rows hold"
                f" {', '.join(str(int(n)) for n in (e.inputs['ignored'] >= 0).sum(axis=1))} of"
                f" them, so a mean of means weighs them unequally. {_two_losses('ignored')(e)}"
            ),
            FLAT,
            cases=("plain", "ignored"),
        ),
        Mistake(
            "overflow",
            _overflows,
            "The exponential overflows: subtract the largest logit of each position first.",
            lambda e: (
                f"With logits near {float(e.inputs['shift']):.0f}, `exp` is infinite and your loss"
                f" is {float(e.yours('shifted')):.3g}. Only differences between logits matter, so"
                " subtracting the maximum changes no probability."
            ),
            TABLE,
            recognised=_is_overflow,
        ),
        Mistake(
            "log-of-softmax",
            _log_of_softmax,
            "You took the logarithm of rounded probabilities.",
            lambda e: (
                "Where one logit is 900 above the rest, the others' probabilities are rounded to 0"
                f" before the logarithm sees them. {_two_losses('spread')(e)} Stay with logarithms:"
                " log p = logit − log Σ exp(logits)."
            ),
            TABLE,
            recognised=_is_log_of_softmax,
        ),
    ),
)
