"""Judging 02/evenness: the entropy of each row as a share of what it could be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges.ch02_affinities.sections import ENTROPY
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Mistake, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, row, unwrapped
from course_tasks.answers import Array
from course_tasks.ch02_affinities.evenness import PROBE as EVENNESS
from course_tasks.probing import run
from course_tasks.verdict import Finding


def evenness(weights: Tensor) -> Tensor:
    """A right answer to 02/evenness: (B, T, T) → (B, T)."""
    entropies = -torch.special.xlogy(weights, weights).sum(dim=-1)  # your entropies (B, T)
    counts = torch.arange(1, weights.shape[-1] + 1)  # how many positions each row may see (T,)
    most = counts.log()  # the largest entropies (T,)
    divisors = most.clamp(min=1e-9)  # your divisors (T,): of row 0, anything but 0
    return entropies / divisors  # your shares (B, T)


def _entropy(weights: Tensor) -> Tensor:
    """(B, T, T) → (B, T): in nats."""
    return -torch.special.xlogy(weights, weights).sum(dim=-1)


def _visible(weights: Tensor) -> Tensor:
    """How many positions each row may see: (T,)."""
    return torch.arange(1, weights.shape[-1] + 1)


def _log_of_zero(weights: Tensor) -> Tensor:
    return -(weights * weights.log()).sum(dim=-1) / _visible(weights).log()


def _of_what_is_seen(weights: Tensor) -> Tensor:
    return _entropy(weights) / (weights > 0).sum(dim=-1).log()


def _after_row_0(evidence: Evidence) -> Array:
    mine = evidence.yours("evenness")
    if mine.shape != evidence.right("evenness").shape:
        raise ValueError("the answer has another shape")
    return np.asarray(mine[:, 1:], dtype=np.float64)


def _as_after_row_0(*variants: Any) -> Callable[[Evidence], bool]:
    """True of an answer that equals one of these from row 1 on, as row 0 has its own rules."""

    def fits(evidence: Evidence) -> bool:
        mine, right = _after_row_0(evidence), evidence.right("evenness")[:, 1:]
        outcomes = (run(EVENNESS, v, evidence.inputs).answers.array("evenness") for v in variants)
        return not np.allclose(mine, right, rtol=1e-4, atol=1e-5) and any(
            o is not None and np.allclose(mine, o[:, 1:], rtol=1e-4, atol=1e-5, equal_nan=True)
            for o in outcomes
        )

    return fits


def _proportional(evidence: Evidence) -> bool:
    """True if each row's entropies are right up to a positive factor that all samples share."""
    mine, right = _after_row_0(evidence), evidence.right("evenness")[:, 1:]
    if not np.isfinite(mine).all():
        return False
    rows = right.shape[1]
    largest = right.argmax(axis=0), np.arange(rows)
    # A row that looks at only one position in every sample has 0, whatever the factor.
    factor = np.divide(mine[largest], right[largest], where=right[largest] > 0, out=np.ones(rows))
    return bool((factor > 1e-3).all() and np.allclose(mine, right * factor, rtol=1e-3, atol=1e-5))


def _last_row(evidence: Evidence) -> str:
    mine, right = evidence.yours("evenness")[0, -1], evidence.right("evenness")[0, -1]
    return f"For the last row of sample 0 you return {number(mine)} instead of {number(right)}."


def _row_one(evidence: Evidence) -> str:
    weights = evidence.inputs["weights"][0, 1, :2]
    return unwrapped(f"""Row 1 of sample 0 is {row(weights)}, followed by zeros. You return
    {number(evidence.yours("evenness")[0, 1])} for it instead of
    {number(evidence.right("evenness")[0, 1])}.""")


def _another_divisor(evidence: Evidence) -> Finding | None:
    """Right entropies that are divided by another number than the largest possible one."""
    mine, right = evidence.yours("evenness"), evidence.right("evenness")
    if mine.shape != right.shape or not _proportional(evidence):
        return None
    off = [
        t
        for t in range(1, right.shape[1])
        if right[:, t].max() >= 1e-3
        and not np.allclose(mine[:, t], right[:, t], rtol=1e-4, atol=1e-5)
    ]
    if not off:
        return None
    t = off[0]
    b = int(right[:, t].argmax())
    most, taken = float(np.log(t + 1)), right[b, t] * np.log(t + 1) / mine[b, t]
    taken_by_row = {
        row_off: float(np.nanmedian(_divisor(mine[:, row_off], right[:, row_off], row_off)))
        for row_off in off
    }
    few = len(off) < right.shape[1] - 1  # row 0 has nothing to divide by
    divided = f"row{'s' if len(off) > 1 else ''} {listed(off)}" if few else "them"
    return Finding(
        "another-divisor",
        f"Your entropies are right, but you don't divide {divided} by the largest possible one.",
        f"Row {t} of sample {b} has the entropy {number(right[b, t] * most)} and is "
        f"{number(mine[b, t])} in your answer, as if divided by {number(taken)}. With {t + 1} "
        f"positions, the largest entropy is log {t + 1} = {number(most)}."
        + _of_the_divisors(taken_by_row),
        ENTROPY,
    )


def _divisor(mine: Array, right: Array, t: int) -> Array:
    """What the entropies of row t were divided by, one for each sample; NaN if it doesn't show."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(right > 1e-3, right * np.log(t + 1) / mine, np.nan)


def _of_the_divisors(taken: dict[int, float]) -> str:
    """Which logarithms the divisors of the wrong rows are, in a sentence."""
    logs = {t: np.exp(one) for t, one in taken.items()}
    whole = {t: round(one) for t, one in logs.items() if abs(one - round(one)) < 1e-2 and one < 100}
    if len(taken) < 2 or len(whole) < len(taken) - 1:
        return ""
    said = ", ".join(f"log {count}" for count in whole.values())
    return f" Your divisors for rows {listed(whole)} are {said}."


def _share(what: str, advice: str, *made: Callable[[Tensor], Tensor]) -> Mistake:
    """Wrong shares, (B, T, T) → (B, T), which are `made` in one of these ways but for row 0."""
    return mistake(
        what,
        lambda e: f"{_row_one(e)} {advice}",
        recognized=_as_after_row_0(*made),
    )(made[0])


_zero_log_nan = mistake(
    "A weight of 0 made your entropy NaN.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("evenness")).sum())} of {e.yours("evenness").size}
    rows are NaN, because log 0 is −∞, and 0 · (−∞) is not a number. A weight of 0 adds nothing,
    which `torch.special.xlogy` takes care of."""),
    recognized=_as_after_row_0(_log_of_zero),
)(_log_of_zero)

_log_of_T = _share(
    "You divided every row by the logarithm of T.",
    "It may see 2 positions, not T, so its entropy is at most log 2.",
    lambda weights: _entropy(weights) / _visible(weights)[-1].log(),
)

_log_of_t = _share(
    "You divided row t by log t, but it sees t + 1 positions.",
    "Counting starts at 0, so row 1 sees positions 0 and 1, but log 1 is 0.",
    lambda weights: _entropy(weights) / (_visible(weights) - 1).log(),
    lambda weights: (_entropy(weights) / (_visible(weights) - 1).log()).nan_to_num(),
)

_mixed_units = _share(
    "Your entropy and your largest entropy are in different units.",
    "One is in nats (`log`) and the other in bits (`log2`), so their quotient is off by the factor "
    "log 2 = 0.693. Take the same logarithm for both.",
    lambda weights: evenness(weights) / float(np.log(2)),
    lambda weights: evenness(weights) * float(np.log(2)),
)

_width_not_entropy = _share(
    "You compared numbers of positions, e^H with t + 1, but the task compares entropies.",
    "The task divides H by log (t + 1), before any exponential, so a row that sees only one "
    "position has 0, not 1 / (t + 1).",
    lambda weights: _entropy(weights).exp() / _visible(weights),
)

_counts_what_is_seen = mistake(
    "You counted the weights above 0, but the largest entropy counts what may be seen.",
    lambda e: unwrapped(f"""{_last_row(e)} It may see {e.number("T")} positions and gives one of
    them weight 0. That is a choice, and it makes the row less even."""),
    recognized=_as_after_row_0(_of_what_is_seen, lambda w: _of_what_is_seen(w).nan_to_num(0.0)),
)(_of_what_is_seen)

_largest_found = _share(
    "You divided by the largest entropy that you found, not by the largest that a row could have.",
    "It shouldn't matter what other rows or samples look like, because a row with t + 1 positions "
    "could have log (t + 1) at most.",
    lambda weights: _entropy(weights) / _entropy(weights).max(),
    lambda weights: _entropy(weights) / _entropy(weights).amax(dim=-1, keepdim=True),
    lambda weights: _entropy(weights) / _entropy(weights).amax(dim=0).clamp(min=1e-9),
)

_one_minus = _share(
    "You returned 1 minus the evenness.",
    "An evenness of 1 means that all positions count the same, and 0 that one has everything.",
    lambda weights: 1 - evenness(weights),
)

_gini = _share(
    "You measured the evenness by squared weights, but the task asks for entropies.",
    "The entropy is −Σ w log w, and its largest value is log (t + 1).",
    lambda weights: (1 - weights.square().sum(dim=-1)) / (1 - 1 / _visible(weights)),
    lambda weights: 1 - weights.square().sum(dim=-1),
)

_without_itself = _share(
    "Your entropies leave out the position itself.",
    "Row t has t + 1 weights, up to the diagonal. A slice `[:t]` ends before position t, and "
    "`tril(-1)` has no diagonal.",
    lambda weights: _entropy(weights.tril(-1)) / _visible(weights).log(),
)

_limit_of_1 = mistake(
    "You keep your divisors at 1 or above, but log 2 is below 1.",
    lambda e: unwrapped(f"""{_row_one(e)} Its largest entropy is log 2 = 0.693, and you divide by 1.
    Only row 0 would be divided by 0, so a limit has to stay below log 2."""),
)(Like("used-1-instead-of-1eminus-9-in-your-divisors"))

_first_row_nan = mistake(
    "Your row 0 is NaN in every sample.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("evenness")).sum())} entries are NaN, one per
    sample. Row 0 has no choice, so its entropy is 0, and so is log 1. The task defines its evenness
    as 0."""),
)(Like("left-out-the-limit-in-your-divisors"))


def _one_in_row_0(weights: Tensor) -> Tensor:
    shares = evenness(weights)
    shares[:, 0] = 1
    return shares


_first_row_one = mistake(
    "Your row 0 is 1, but the task defines it as 0.",
    unwrapped("""Row 0 gives all its weight to one position, as a row with entropy 0 does, so the
    task counts it as no choice at all."""),
    cases=("evenness", "alone"),
    also=(lambda w: evenness(w) if w.shape[-1] > 1 else _one_in_row_0(w),),
)(_one_in_row_0)


def _first_sample_alone(evidence: Evidence) -> Finding | None:
    """Only sample 0 is there, and all others are 0."""
    mine, right = evidence.yours("evenness"), evidence.right("evenness")
    if mine.shape != right.shape or len(mine) < 2 or mine[1:].any():
        return None
    if not close(mine[0], right[0]).all():
        return None
    return Finding(
        "first-sample-alone",
        "Sample 0 is right, but all others are 0.",
        f"There are {len(mine)} samples. If you loop over them, does the loop reach all of them? "
        "And if you return inside a loop, is that after the last one?",
        ENTROPY,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    mine, right = evidence.yours("evenness"), evidence.right("evenness")
    if mine.shape != right.shape:
        return None
    off = np.abs(mine - right)
    off[:, 0] = 0  # row 0 has its own rules
    b, t = (int(i) for i in np.unravel_index(int(off.argmax()), right.shape))
    weights = evidence.inputs["weights"][b, t, : t + 1]
    if t == 0:
        return None
    most = float(np.log(t + 1))
    return Finding(
        "another-share",
        "Your numbers aren't the share of the largest entropy that a row could have.",
        unwrapped(f"""In sample {b}, row {t} gives its {t + 1} positions the weights {row(weights)}.
        Its entropy −Σ w log w is {number(right[b, t] * most)}, and it could be log {t + 1} =
        {number(most)} at most, so its evenness is {number(right[b, t])}, but yours is
        {number(mine[b, t])}."""),
        ENTROPY,
    )


TASK = Task(
    "How evenly a row looks",
    evenness,
    ENTROPY,
    (
        Part("The entropies are right, up to a factor for each row.", 2, _proportional),
        Part(
            "Each is a share of the largest possible.",
            3,
            matches("evenness", "alone"),
        ),
    ),
    properties=(_first_sample_alone, _another_divisor),
    examples=(_worked_out,),
    cases=("evenness",),
    steps={
        "your entropies": Step(
            "Each row has an entropy of its own, −Σ w · log w, to which a weight of 0 adds nothing."
        ),
        "how many positions each row may see": Step(
            "Row t may see the t + 1 positions 0 … t, even if it gives some of them no weight."
        ),
        "the largest entropies": Step(
            "A row is as even as it can be if its t + 1 weights are alike, with the entropy "
            "log (t + 1)."
        ),
        "your divisors": Step(
            "Only row 0 would be divided by log 1 = 0, and all others by log 2 = 0.693 or more."
        ),
        "your shares": Step(
            "A share is a quotient of two entropies in the same units, so it goes from 0 to 1."
        ),
    },
)
