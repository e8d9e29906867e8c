"""Judging 02/evenness: the entropy of each row as a share of what it could be."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from course_judges.ch02_affinities.entropies import (
    added_in_the_logarithm,
    added_to_the_weights,
    averaged_so_far,
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
    gini,
    largest_weight,
    limited_in_the_logarithm,
    limited_logarithm,
    log_of_t,
    log_of_t_cleaned,
    log_of_zero,
    mean_of_terms,
    nats_over_bits,
    negative,
    number_of_positions,
    of_all,
    of_squares,
    of_the_largest_found,
    of_the_largest_in_its_sample,
    of_the_largest_so_far,
    of_the_largest_weight,
    of_what_is_seen,
    one_minus,
    positions_as_share,
    seen_and_cleaned,
    seen_and_one,
    softmax_again,
    softmax_over_log_of_all,
    whole_matrix,
    width_share,
    without_itself,
    without_the_first,
    without_weights,
)
from course_judges.ch02_affinities.sections import DEPENDS, ENTROPY
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import listed, number, numbers_apart, row, unwrapped
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


def _worst_row(evidence: Evidence) -> str:
    mine, right = evidence.yours("evenness"), evidence.right("evenness")
    b, t = (int(i) for i in np.unravel_index(int(np.abs(mine - right).argmax()), right.shape))
    yours, wanted = numbers_apart(float(mine[b, t]), float(right[b, t]))
    return f"For row {t} of sample {b} you return {yours} instead of {wanted}."


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
        + _of_the_divisors(mine, taken_by_row)
        + " If a limit keeps your divisors away from 0, it is too high, since log 2 is below 1."
        * bool(few and np.isclose(taken, 1, rtol=1e-3)),
        ENTROPY,
    )


def _divisor(mine: Array, right: Array, t: int) -> Array:
    """What the entropies of row t were divided by, one for each sample; NaN if it doesn't show."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(right > 1e-3, right * np.log(t + 1) / mine, np.nan)


def _of_the_divisors(mine: Array, taken: dict[int, float]) -> str:
    """What the divisors of the wrong rows have in common, in a sentence."""
    samples = len(mine)
    if samples > 1:
        largest = np.array([mine[:, t].max() for t in taken])
        if np.allclose(largest, 1, atol=1e-3):
            return (
                " In each of these rows, the sample with the largest entropy is 1 in your answer, "
                "so you divide by the largest that you found. It shouldn't matter what the other "
                "samples look like."
            )
        if np.allclose([mine[:, t].mean() for t in taken], 1, atol=1e-3):
            return (
                " In each of these rows, your numbers are 1 on average over the samples, so you "
                "divide by their mean entropy. It shouldn't matter what other samples look like."
            )
    logs = {t: np.exp(one) for t, one in taken.items()}
    whole = {t: round(one) for t, one in logs.items() if abs(one - round(one)) < 1e-2}
    if len(taken) > 1 and len(whole) >= len(taken) - 1:
        said = ", ".join(f"log {count}" for count in whole.values())
        return f" Your divisors for rows {listed(whole)} are {said}."
    if len(taken) < 2:
        return ""
    bases = {t: one / np.log(t + 1) for t, one in taken.items()}
    values = np.array(list(bases.values()))
    if np.ptp(values) < 1e-3 * values.max():
        return (
            f" All your divisors are {number(float(values.mean()))} times the right ones."
            + " That is 1 / log 10, so one of your logarithms is `log10`."
            * bool(np.isclose(values.mean(), 1 / np.log(10), rtol=1e-3))
        )
    return ""


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

_without_weights = mistake(
    "You added up the logarithms without their weights.",
    lambda e: f"{_row_one(e)} Each term of an entropy is a weight times its logarithm, −w log w.",
    recognized=_as_after_row_0(without_weights),
)(without_weights)

_without_itself = mistake(
    "Your entropies leave out the position itself.",
    lambda e: (
        unwrapped(f"""{_row_one(e)} Row t has t + 1 weights, up to the diagonal. A slice `[:t]`
    ends before position t, and `tril(-1)` has no diagonal.""")
    ),
    recognized=_as_after_row_0(without_itself),
)(without_itself)

_without_the_first = mistake(
    "Your entropies leave out position 0.",
    lambda e: (
        f"{_row_one(e)} Row t has t + 1 weights, and the first of them is that of position 0."
    ),
    recognized=_as_after_row_0(without_the_first),
)(without_the_first)

_one_minus = mistake(
    "You returned 1 minus the evenness.",
    lambda e: unwrapped(f"""{_row_one(e)} An evenness of 1 means that all positions count the same,
    and 0 that one has everything."""),
    recognized=_as_after_row_0(one_minus),
)(one_minus)

_gini = mistake(
    "You measured the evenness by squared weights, but the task asks for entropies.",
    lambda e: f"{_row_one(e)} The entropy is −Σ w log w, and its largest value is log (t + 1).",
    recognized=_as_after_row_0(gini),
)(gini)

_way_to_all_positions = mistake(
    "You compared numbers of positions, e^H − 1 with t, but the task compares entropies.",
    lambda e: f"{_row_one(e)} Divide the entropy H itself by log (t + 1).",
    recognized=_as_after_row_0(positions_as_share),
)(positions_as_share)

_seen_and_one = mistake(
    unwrapped(
        """You counted the weights above 0, and gave rows with a single one the evenness 1."""
    ),
    lambda e: unwrapped(f"""{_last_row(e)} The largest entropy counts what may be seen, t + 1
    positions. And a row that gives one position everything has the entropy 0, and so the evenness
    0."""),
    recognized=_as_after_row_0(seen_and_one),
)(seen_and_one)

_SMALL = (0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 1e-4)

_added_in_the_logarithm = mistake(
    "The number that keeps your logarithms finite is too large.",
    lambda e: unwrapped(f"""{_worst_row(e)} If it is added to the weights, or if they are raised to
    it, it has to be tiny: next to weights of a few percent, such a number changes
    the entropy. A weight of 0 adds nothing at all, which `torch.special.xlogy` takes care of. With
    1e-12, the change would be too small to see."""),
    recognized=_as_after_row_0(
        *(
            partial(change, much=much)
            for change in (
                added_in_the_logarithm,
                added_to_the_weights,
                limited_in_the_logarithm,
                limited_logarithm,
            )
            for much in _SMALL
        )
    ),
)(partial(added_in_the_logarithm, much=0.01))

_another_entropy = mistake(
    "You took another measure than the entropy −Σ w log w.",
    lambda e: unwrapped(f"""{_row_one(e)} Neither the logarithm of a sum of squares nor that of the
    largest weight is asked for: add up each weight times its own logarithm."""),
    recognized=_as_after_row_0(of_squares, of_the_largest_weight),
)(of_squares)

_largest_so_far = mistake(
    "You divided by the largest entropy of the rows so far, not by the largest that is possible.",
    lambda e: f"{_row_one(e)} A row with t + 1 positions could have log (t + 1).",
    recognized=_as_after_row_0(of_the_largest_so_far),
)(of_the_largest_so_far)

_averaged_so_far = mistake(
    "You averaged over the rows up to each row, but every row has its own evenness.",
    lambda e: _row_one(e),
    recognized=_as_after_row_0(averaged_so_far),
)(averaged_so_far)

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


def _some_samples(evidence: Evidence) -> Finding | None:
    """Only sample 0 is there, and all others are 0."""
    mine, right = evidence.yours("evenness"), evidence.right("evenness")
    if mine.shape != right.shape or len(mine) < 2 or not close(mine[0], right[0]).all():
        return None
    if mine[1:].any():
        return None
    return Finding(
        "first-sample-alone",
        "Sample 0 is right, but all others are 0.",
        f"There are {len(mine)} samples. If you loop over them, does the loop reach all of them? "
        "And if you return inside a loop, is that after the last one?",
        ENTROPY,
    )


def _one_where_nothing(evidence: Evidence) -> Finding | None:
    """1 where an entropy is 0, and right otherwise."""
    mine, right = evidence.yours("evenness"), evidence.right("evenness")
    if mine.shape != right.shape:
        return None
    zero = np.abs(right) < 1e-6
    if not close(mine, right)[~zero].all() or not np.allclose(mine[zero], 1, atol=1e-4):
        return None
    b, t = (int(i) for i in np.argwhere(zero & (np.arange(right.shape[1]) > 0))[0])
    return Finding(
        "one-where-nothing",
        "You return 1 where the entropy is 0.",
        unwrapped(f"""In sample {b}, row {t} gives one of its {t + 1} positions everything, so its
        evenness is 0, and so is that of row 0. If you replace NaN or an entropy of 0, it is by
        0."""),
        ENTROPY,
    )


def _another_measure(evidence: Evidence) -> Finding | None:
    """What else than an entropy the answer makes of the weights, after row 0."""
    mine, right = evidence.yours("evenness"), evidence.right("evenness")
    if mine.shape != right.shape:
        return None
    weights = evidence.inputs["weights"].astype(np.float64)
    counts = np.arange(2, right.shape[1] + 1)
    squares, largest = (np.square(weights).sum(-1)[:, 1:], weights.max(-1)[:, 1:])
    entropies = right[:, 1:] * np.log(counts)
    for words, made in (
        ("1 minus the sum of the squared weights", 1 - squares),
        ("1 minus the sum of the squared weights, as a share", (1 - squares) / (1 - 1 / counts)),
        ("the sum of the squared weights", squares),
        ("1 divided by the sum of the squared weights", 1 / squares),
        ("1 divided by the sum of the squared weights, as a share", 1 / squares / counts),
        ("1 minus the largest weight", 1 - largest),
        ("1 minus the largest weight, as a share", (1 - largest) / (1 - 1 / counts)),
        ("1 minus the evenness", 1 - right[:, 1:]),
        ("numbers of positions, (e^H − 1) / t", (np.exp(entropies) - 1) / (counts - 1)),
    ):
        if close(mine[:, 1:], made).all():
            b, t = (int(i) for i in np.argwhere(~close(mine, right))[0])
            yours, wanted = numbers_apart(float(mine[b, t]), float(right[b, t]))
            return Finding(
                "another-measure",
                f"You return another measure than the task asks for: {words}.",
                unwrapped(f"""In sample {b}, row {t} is {yours} in your answer instead of {wanted}.
                The task asks for the entropy of a row, −Σ w · log w, divided by log (t + 1)."""),
                ENTROPY,
            )
    return None


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
        Part("The entropies are right, up to a factor for each row.", 2, _proportional),
        Part(
            "Each is a share of the largest possible.",
            3,
            matches("evenness", "alone"),
        ),
    ),
    properties=(
        _some_samples,
        _one_where_nothing,
        _another_measure,
        _another_divisor,
        _out_of_range,
    ),
    examples=(_worked_out,),
    cases=("evenness",),
)
