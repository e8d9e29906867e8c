"""Judging 02/evenness: the entropy of each row as a share of what it could be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course_judges.ch02_affinities.entropies import (
    bits_over_nats,
    cleared_sample,
    cleared_sample_too,
    column_kept,
    columns,
    difference_to_the_most,
    divided_by_count,
    entropy,
    entropy_in_bits,
    evenness,
    first_row_nan,
    first_row_one,
    largest_weight,
    log_of_t,
    log_of_t_cleaned,
    log_of_zero,
    mean_of_terms,
    nats_over_bits,
    negative,
    number_of_positions,
    of_all,
    of_the_largest_found,
    of_the_largest_in_its_sample,
    of_what_is_seen,
    seen_and_cleaned,
    softmax_again,
    softmax_over_log_of_all,
    whole_matrix,
    width_share,
)
from course_judges.ch02_affinities.sections import DEPENDS, ENTROPY
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import listed, number, row, unwrapped
from course_tasks.answers import Array
from course_tasks.ch02_affinities.evenness import PROBE as EVENNESS
from course_tasks.probing import run
from course_tasks.verdict import Finding


def _after_row_0(evidence: Evidence) -> Array:
    mine = evidence.yours("evenness")
    if mine.shape != evidence.right("evenness").shape:
        raise ValueError("the answer has another shape")
    return np.asarray(mine[:, 1:], dtype=np.float64)


def _as_after_row_0(*variants: Any) -> Callable[[Evidence], bool]:
    """True of an answer that equals one of these from row 1 on, as row 0 has its own rules."""

    def fits(evidence: Evidence) -> bool:
        mine = _after_row_0(evidence)
        outcomes = (run(EVENNESS, v, evidence.inputs).answers.array("evenness") for v in variants)
        return any(
            o is not None
            and np.allclose(mine, o[:, 1:], rtol=1e-4, atol=1e-5, equal_nan=True)
            and not evidence.same("evenness")
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


def _out_of_range(evidence: Evidence) -> Finding | None:
    mine = evidence.yours("evenness")
    if mine.min() >= -1e-4 and mine.max() <= 1 + 1e-4:
        return None
    return Finding(
        "not-a-share",
        "Some of your shares don't lie between 0 and 1.",
        f"They go from {number(mine.min())} to {number(mine.max())}.",
        ENTROPY,
    )


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
    few = len(off) < right.shape[1] - 1  # row 0 has nothing to divide by
    divided = f"row{'s' if len(off) > 1 else ''} {listed(off)}" if few else "them"
    return Finding(
        "another-divisor",
        f"Your entropies are right, but you don't divide {divided} by the largest possible one.",
        f"Row {t} of sample {b} has the entropy {number(right[b, t] * most)} and is "
        f"{number(mine[b, t])} in your answer, as if divided by {number(taken)}. With {t + 1} "
        f"positions, the largest entropy is log {t + 1} = {number(most)}."
        + " If a limit keeps your divisors away from 0, it is too high, since log 2 is below 1."
        * bool(few and np.isclose(taken, 1, rtol=1e-3)),
        ENTROPY,
    )


_zero_log_nan = mistake(
    "A weight of 0 made your entropy NaN.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("evenness")).sum())} of {e.yours("evenness").size}
    rows are NaN, because log 0 is −∞, and 0 · (−∞) is not a number. A weight of 0 adds nothing,
    which `torch.special.xlogy` takes care of."""),
    recognized=_as_after_row_0(log_of_zero),
)(log_of_zero)

_entropy_not_share = mistake(
    "You returned the entropy itself, but the task asks for its share of the largest possible.",
    lambda e: unwrapped(f"""{_last_row(e)} Row t may see t + 1 positions, so its entropy is at most
    log (t + 1). Divide by that."""),
    recognized=_as_after_row_0(entropy, entropy_in_bits),
)(entropy)

_log_of_T = mistake(
    "You divided every row by the logarithm of T.",
    lambda e: unwrapped(f"""{_row_one(e)} It may see 2 positions, not {e.number("T")}, so its
    entropy is at most log 2, not log {e.number("T")}."""),
    recognized=_as_after_row_0(of_all),
)(of_all)

_log_of_t = mistake(
    "You divided row t by log t, but it sees t + 1 positions.",
    lambda e: unwrapped(f"""{_row_one(e)} Counting starts at 0, so row 1 sees positions 0 and 1, but
    log 1 is 0."""),
    recognized=_as_after_row_0(log_of_t, log_of_t_cleaned),
)(log_of_t)

_mixed_units = mistake(
    "Your entropy and your largest entropy are in different units.",
    lambda e: unwrapped(f"""{_row_one(e)} One is in nats (`log`) and the other in bits (`log2`), so
    their quotient is off by the factor log 2 = 0.693. Take the same logarithm for both."""),
    recognized=_as_after_row_0(bits_over_nats, nats_over_bits),
)(bits_over_nats)

_sign_forgotten = mistake(
    "The minus sign is missing.",
    lambda e: unwrapped(f"""{_last_row(e)} The logarithm of a weight below 1 is negative, and the
    minus in front of the sum makes up for that."""),
    recognized=_as_after_row_0(negative),
)(negative)

_sums_columns = mistake(
    "You added up along the columns.",
    lambda e: unwrapped(f"""{_row_one(e)} Row t holds the weights of position t, so the sum runs
    along it, `dim=-1`."""),
    DEPENDS,
    recognized=_as_after_row_0(columns),
)(columns)

_width_not_entropy = mistake(
    "You compared numbers of positions, e^H with t + 1, but the task compares entropies.",
    lambda e: unwrapped(f"""{_last_row(e)} The task divides H by log (t + 1), before any
    exponential, so a row that sees only one position has 0, not 1 / (t + 1)."""),
    recognized=_as_after_row_0(width_share),
)(width_share)

_count_not_log = mistake(
    "You divided the entropy by a number of positions, but its largest value is a logarithm.",
    lambda e: unwrapped(f"""{_row_one(e)} Two equal weights have the entropy log 2 = 0.693, not 2,
    so divide by log (t + 1)."""),
    recognized=_as_after_row_0(divided_by_count),
)(divided_by_count)

_mean_not_sum = mistake(
    "You took the mean of the terms, but an entropy is their sum.",
    lambda e: unwrapped(f"""{_last_row(e)} The mean divides by {e.number("T")}, although each term
    is already weighted by its own weight."""),
    recognized=_as_after_row_0(mean_of_terms),
)(mean_of_terms)

_counts_what_is_seen = mistake(
    "You counted the weights above 0, but the largest entropy counts what may be seen.",
    lambda e: unwrapped(f"""{_last_row(e)} It may see {e.number("T")} positions and gives one of
    them weight 0. That is a choice, and it makes the row less even."""),
    recognized=_as_after_row_0(of_what_is_seen, seen_and_cleaned),
)(of_what_is_seen)

_largest_found = mistake(
    "You divided by the largest entropy that you found, not by the largest that a row could have.",
    lambda e: unwrapped(f"""{_row_one(e)} It shouldn't matter what other rows look like, because a
    row with t + 1 positions could have log (t + 1) at most."""),
    recognized=_as_after_row_0(of_the_largest_found, of_the_largest_in_its_sample),
)(of_the_largest_found)

_softmax_again = mistake(
    "You took a softmax of the weights, which are weights already.",
    lambda e: unwrapped(f"""{_last_row(e)} A softmax of numbers between 0 and 1 is nearly flat, and
    it gives weight to the future, where the weights are 0."""),
    recognized=_as_after_row_0(softmax_again, softmax_over_log_of_all),
)(softmax_again)

_row_lost = mistake(
    "You averaged over the rows, but each row has its own evenness.",
    lambda e: unwrapped(f"""Your answer has shape {e.yours("evenness").shape}, but
    {e.right("evenness").shape} is expected, one number per row."""),
    cases=("evenness",),
)(whole_matrix)

_sample_lost = mistake(
    "You averaged over the samples, but each row of each sample has its own evenness.",
    lambda e: unwrapped(f"""Your answer has shape {e.yours("evenness").shape}, but
    {e.right("evenness").shape} is expected, one number per row and sample."""),
    cases=("evenness",),
)(lambda weights: evenness(weights).mean(dim=0))

_column_kept = mistake(
    "Your entropies are in a column, so each of them is divided by all the divisors.",
    lambda e: unwrapped(f"""Your answer has shape {e.yours("evenness").shape}, but
    {e.right("evenness").shape} is expected. Entropies of shape (B, T, 1) over divisors of shape
    (T,) make (B, T, T). Without `keepdim=True`, entropies of shape (B, T) meet the divisors of
    their own rows."""),
    recognized=lambda e: bool(
        close(
            e.yours("evenness")[..., -1],  # each row's, over the last row's divisor
            column_kept(torch.from_numpy(e.inputs["weights"])).numpy()[..., -1],
        ).all()
    ),
)(column_kept)

_cleared_sample = mistake(
    "You set sample 0 to 0, but it's row 0 of every sample that should be 0.",
    lambda e: unwrapped(f"""Your sample 0 is {row(e.yours("evenness")[0])}. The first index of (B,
    T) is the sample, so `y[0] = 0` clears sample 0, while `y[:, 0] = 0` clears row 0."""),
    cases=("evenness",),
    also=(cleared_sample_too,),
)(cleared_sample)

_largest_weight = mistake(
    "You returned the largest weight of each row, which isn't an entropy.",
    lambda e: unwrapped(f"""{_row_one(e)} The entropy is −Σ w log w over the row, and the task asks
    for its share of log (t + 1)."""),
    recognized=_as_after_row_0(largest_weight),
)(largest_weight)

_shortfall = mistake(
    "You returned how far the entropy falls short of the largest one, but a share is a quotient.",
    lambda e: f"{_row_one(e)} Divide the entropy by log (t + 1).",
    recognized=_as_after_row_0(difference_to_the_most),
)(difference_to_the_most)

_positions_not_share = mistake(
    unwrapped("""You returned e^H, a number of positions, but the task asks for a share of the
    largest entropy."""),
    lambda e: f"{_row_one(e)} Divide the entropy H itself by log (t + 1).",
    recognized=_as_after_row_0(number_of_positions),
)(number_of_positions)

_first_row_nan = mistake(
    "Your row 0 is NaN in every sample.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("evenness")).sum())} entries are NaN, one per
    sample. Row 0 has no choice, so its entropy is 0, and so is log 1. The task defines its evenness
    as 0."""),
)(first_row_nan)

_first_row_one = mistake(
    "Your row 0 is 1, but the task defines it as 0.",
    unwrapped("""Row 0 gives all its weight to one position, as a row with entropy 0 does, so the
    task counts it as no choice at all."""),
    cases=("evenness", "alone"),
    also=(lambda w: evenness(w) if w.shape[-1] > 1 else first_row_one(w),),
)(first_row_one)


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
        Its entropy is {number(right[b, t] * most)}, and it could be log {t + 1} = {number(most)} at
        most, so its evenness is {number(right[b, t])}, but yours is {number(mine[b, t])}."""),
        ENTROPY,
    )


TASK = Task(
    "How evenly a row looks",
    evenness,
    ENTROPY,
    (
        Part(
            "From row 1 on, the entropies are right, up to a factor for each row.", 2, _proportional
        ),
        Part(
            "On top of that, each is a share of the largest possible, and 0 in row 0.",
            3,
            matches("evenness", "alone"),
        ),
    ),
    properties=(_another_divisor, _out_of_range),
    examples=(_worked_out,),
    cases=("evenness",),
)
