"""Judging 02/safe-softmax: a softmax for scores of any size, and for rows that see nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch02_affinities.sections import DEPENDS, STABLE
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Step, Task, any_of, matches, mistake
from course_judges.properties import rows_sum_to_one, scores_times_a_factor
from course_judges.wording import listed, number, row, rows_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.ch02_affinities.safe_softmax import PROBE as SAFE_SOFTMAX
from course_tasks.verdict import Finding


def safe_softmax(scores: Tensor) -> Tensor:
    """A right answer to 02/safe-softmax: (T, T) → (T, T)."""
    largest = scores.amax(dim=-1, keepdim=True)  # the largest scores (T, 1)
    start = largest.nan_to_num(neginf=0.0)  # what is subtracted (T, 1): 0 where nothing is visible
    lowered = scores - start  # the lowered scores (T, T)
    powers = lowered.exp()  # the powers (T, T)
    sums = powers.sum(dim=-1, keepdim=True)  # the sums (T, 1)
    divisor = sums.clamp(min=1e-30)  # the divisors (T, 1): never 0
    return powers / divisor  # your weights (T, T)


def _shares(powers: Tensor) -> Tensor:
    return powers / powers.sum(dim=-1, keepdim=True)


def _as_written(scores: Tensor) -> Tensor:
    return _shares(scores.exp())


def _causal(scores: Tensor) -> Tensor:
    return scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf).softmax(dim=-1)


def _one_maximum(scores: Tensor) -> Tensor:
    return _as_written(scores - scores.max())


def _column_maximum(scores: Tensor) -> Tensor:
    return _as_written(scores - scores.amax(dim=0))


def _mean_subtracted(scores: Tensor) -> Tensor:
    return _as_written(scores - scores.mean(dim=-1, keepdim=True))


def _mean_of_the_visible(scores: Tensor) -> Tensor:
    visible = scores > -torch.inf
    mean = scores.nan_to_num(neginf=0.0).sum(-1, keepdim=True) / visible.sum(-1, keepdim=True)
    return _as_written(scores - mean)


def _divided_by_maximum(scores: Tensor) -> Tensor:
    return _as_written(scores / scores.amax(dim=-1, keepdim=True))


def _divided_and_safe(scores: Tensor) -> Tensor:
    return (scores / scores.amax(dim=-1, keepdim=True)).softmax(dim=-1)


def _clamped(scores: Tensor) -> Tensor:
    return _as_written(scores.clamp(-80, 80))


def _clamped_above(scores: Tensor) -> Tensor:
    return _as_written(scores.clamp(max=80))


def _powers_alone(scores: Tensor) -> Tensor:
    return (scores - scores.amax(dim=-1, keepdim=True)).exp()


def _sum_without_keepdim(scores: Tensor) -> Tensor:
    powers = _powers_alone(scores)
    return powers / powers.sum(dim=-1)


def _both_without_keepdim(scores: Tensor) -> Tensor:
    powers = (scores - scores.amax(dim=-1)).exp()
    return powers / powers.sum(dim=-1)


def _then_cleaned(answer: object) -> object:
    """The same answer with NaN replaced by 0, as many write once they have seen one."""
    return lambda scores: answer(scores).nan_to_num(nan=0.0)  # type: ignore[operator]


def _top_row(evidence: Evidence) -> int:
    """The row of `large` whose smallest visible score is the largest."""
    scores = evidence.inputs["large"]
    return int(np.argmax(np.where(np.isfinite(scores), scores, np.inf).min(-1)))


def _bottom_row(evidence: Evidence) -> int:
    """The row of `large` whose largest score is the smallest."""
    return int(np.argmin(evidence.inputs["large"].max(-1)))


def _row_of_large(evidence: Evidence, t: int) -> str:
    scores = evidence.inputs["large"][t]
    low = number(scores[np.isfinite(scores)].min(), 5)
    return unwrapped(f"""Row {t} has scores from {low} to {number(scores.max(), 5)}, and your
    weights are {row(evidence.yours("large")[t])}.""")


def _first_row_off(evidence: Evidence, case: str = "ordinary") -> str:
    mine, right = evidence.yours(case), evidence.right(case)
    t = int(np.argmax(np.nan_to_num(np.abs(mine - right), nan=np.inf).max(-1)))
    yours, wanted = rows_apart(mine[t], right[t])
    return f"Row {t} of your weights is {yours}, but it should be {wanted}."


def _empty_row(evidence: Evidence) -> str:
    t = int(np.flatnonzero(np.isneginf(evidence.inputs["empty"]).all(-1))[0])
    return f"Row {t} may see nothing, but your weights are {row(evidence.yours('empty')[t])}."


_clamped_scores = mistake(
    "You cut off the scores, or their powers, at a limit.",
    lambda e: unwrapped(f"""{_row_of_large(e, _top_row(e))} All of that row lies above the limit, so
    it became equal. Replacing infinite powers by one number does the same. A row may be shifted
    without loss, but not cut off."""),
    recognized=any_of(
        SAFE_SOFTMAX,
        ("large",),
        *(f for c in (_clamped, _clamped_above) for f in (c, _then_cleaned(c))),
    ),
)(_clamped)

_overflow = mistake(
    "You took the exponential of the scores as they are.",
    lambda e: unwrapped(f"""{_row_of_large(e, _top_row(e))} e^710 is more than even float64 holds,
    so the power is infinite, and ∞ / ∞ is NaN. Shift the row first, which keeps its weights."""),
    cases=("large",),
    also=(_then_cleaned(_as_written),),
)(_as_written)

_global_maximum = mistake(
    "You shifted all rows by the same number, such as the maximum of the whole matrix.",
    lambda e: unwrapped(f"""{_row_of_large(e, _bottom_row(e))} Its scores lie so far below the
    maximum of the matrix that all powers are rounded to 0, and so is their sum. Each row has to be
    shifted by its own maximum, `amax(dim=-1, keepdim=True)`."""),
    cases=("large",),
    also=(_then_cleaned(_one_maximum),),
)(_one_maximum)

_subtracts_mean = mistake(
    "You shifted each row by another number than its maximum, such as its mean or its minimum.",
    lambda e: unwrapped(f"""{_first_row_off(e, "large")} If the scores of a row lie far apart, the
    largest still overflows, and with a −∞ in the row its mean and its minimum are −∞ themselves.
    Shift by the maximum, so that no power exceeds 1."""),
    recognized=any_of(
        SAFE_SOFTMAX,
        ("large",),
        *(
            f
            for m in (
                _mean_subtracted,
                _mean_of_the_visible,
                lambda scores: _as_written(scores - scores.amin(dim=-1, keepdim=True)),
            )
            for f in (m, _then_cleaned(m))
        ),
    ),
)(_mean_subtracted)


@mistake(
    "You gave column s a number that belongs to row s, because `keepdim=True` is missing.",
    lambda e: unwrapped(f"""{_first_row_off(e)} Without `keepdim=True`, a maximum or a sum over
    `dim=-1` has shape ({e.number("T")},), and broadcasting gives row s's number to column s. That
    raises no error, because the matrix is square."""),
    also=(
        _sum_without_keepdim,
        _both_without_keepdim,
    ),
)
def _keepdim_forgotten(scores: Tensor) -> Tensor:
    return _as_written(scores - scores.amax(dim=-1))


_maximum_of_columns = mistake(
    "You subtracted the maximum of each column instead of each row.",
    lambda e: unwrapped(f"""{_first_row_off(e)} The scores of a row were all shifted by different
    numbers, but only a shift that is the same along the row leaves its weights alone."""),
    also=(_then_cleaned(_column_maximum),),
)(_column_maximum)

_divides_by_maximum = mistake(
    "You divided by the maximum, but a shift is a subtraction.",
    lambda e: unwrapped(f"""{_first_row_off(e)} Dividing scores works like a temperature, so it
    changes how sharply a row looks, and by another factor in each row."""),
    also=(
        _then_cleaned(_divided_by_maximum),
        _divided_and_safe,
        _then_cleaned(_divided_and_safe),
    ),
)(_divided_by_maximum)


@families.softmax_over_queries(
    lambda e: unwrapped(f"""Column 0 of your weights sums to
    {number(e.yours("ordinary")[:, 0].sum())}, but row 0 sums to
    {number(e.yours("ordinary")[0].sum())}."""),
    DEPENDS,
)
def _softmax_over_queries(scores: Tensor) -> Tensor:
    return scores.softmax(dim=0)


_not_normalised = mistake(
    "You returned the powers, but you haven't divided them by their sum yet.",
    lambda e: unwrapped(f"""Row 0 sums to {number(e.yours("ordinary")[0].sum())}, but the weights of
    an average sum to 1."""),
)(_powers_alone)


@mistake(
    "You replaced −∞ by 0, so what was hidden can be seen again.",
    lambda e: unwrapped(f"""{_first_row_off(e)} A score of 0 is a score like any other, because e⁰ =
    1. The maximum may need replacing where it is −∞, but the scores never do."""),
)
def _zero_mask(scores: Tensor) -> Tensor:
    return scores.nan_to_num(neginf=0.0).softmax(dim=-1)


@mistake(
    "You let a row that may see nothing see everything.",
    lambda e: unwrapped(f"""{_empty_row(e)} A large negative number instead of −∞ does that, because
    it is the same everywhere in the row, and equal scores make equal weights. So does 1 / T instead
    of NaN. All weights of such a row should be 0."""),
    cases=("large", "empty"),
)
def _empty_row_uniform(scores: Tensor) -> Tensor:
    return scores.nan_to_num(neginf=-1e9).softmax(dim=-1)


def _nan_row(evidence: Evidence, case: str) -> int:
    """The first row of a matrix in which the answer holds NaN; raises if there is none."""
    return int(np.flatnonzero(np.isnan(evidence.yours(case)).any(-1))[0])


def _nan_where_empty(evidence: Evidence) -> bool:
    if not evidence.same("ordinary", "large"):
        return False
    for case in ("empty", "single"):
        mine, right = evidence.yours(case), evidence.right(case)
        if not evidence.same(case):
            if mine.shape != right.shape or not np.isnan(mine).any():
                return False
            bad = np.isnan(mine).any(-1)
            empty = np.isneginf(evidence.inputs[case]).all(-1)
            return bool((bad <= empty).all() and close(mine[~bad], right[~bad]).all())
    return False


def _says_where_empty(evidence: Evidence) -> str:
    case = "single" if evidence.same("empty") else "empty"
    t, scores = _nan_row(evidence, case), evidence.inputs[case]
    return unwrapped(f"""Row {t} of a matrix of shape {scores.shape} may see nothing, but your
    weights are {row(evidence.yours(case)[t])}. Its maximum is −∞, and −∞ − (−∞) is not a number. If
    the maximum of a row is −∞, shift that row by 0, and don't divide it by a sum of
    0.{" In float32, a number such as 1e-50 is 0 as well." * evidence.same("empty")}""")


@mistake(
    "You return NaN for a row that may see nothing.", _says_where_empty, recognized=_nan_where_empty
)
def _empty_row_nan(scores: Tensor) -> Tensor:
    return scores.softmax(dim=-1)


@mistake(
    "You divide by sums of powers that weren't shifted.",
    lambda e: unwrapped(f"""{_first_row_off(e)} Shift both alike: e^(score − maximum), divided by
    the sum of the same powers."""),
)
def _sum_not_shifted(scores: Tensor) -> Tensor:
    return _powers_alone(scores) / scores.exp().sum(dim=-1, keepdim=True)


@mistake(
    "You hid the future as well, but here −∞ alone says what is hidden.",
    lambda e: unwrapped(f"""{_first_row_off(e)} The chapter's weights were causal, but this softmax
    gets its mask with the scores."""),
    also=(_then_cleaned(_causal),),
)
def _causal_too(scores: Tensor) -> Tensor:
    return _causal(scores)


@mistake(
    "You took the sigmoid instead of the power e^score.",
    lambda e: f"{_first_row_off(e)} A sigmoid never grows beyond 1, however large its score is.",
    also=(lambda scores: _shares(scores.sigmoid()).nan_to_num(0.0),),
)
def _sigmoids(scores: Tensor) -> Tensor:
    return _shares(scores.sigmoid())


def _nan_where_large(evidence: Evidence) -> bool:
    return evidence.same("ordinary") and _nan_row(evidence, "large") >= 0


@mistake(
    "You return NaN for a row of scores that are far from 0 or far apart.",
    lambda e: unwrapped(f"""{_row_of_large(e, _nan_row(e, "large"))} NaN is ∞ / ∞ where a power has
    become too large, or 0 / 0 where all powers are rounded to 0. If each row is shifted by its own
    maximum, no power is above 1, and one of them is 1."""),
    recognized=_nan_where_large,
)
def _shifted_by_another_number(scores: Tensor) -> Tensor:
    lowest = scores.masked_fill(scores.isneginf(), torch.inf).amin(dim=-1, keepdim=True)
    return _as_written(scores - lowest)


@mistake(
    "You took the softmax of the negated scores, so the largest score gets the smallest weight.",
    lambda e: f"{_first_row_off(e)} It's e^score that grows with the score, not e^(−score).",
    also=(lambda scores: (-scores).masked_fill(scores.isneginf(), -torch.inf).softmax(dim=-1),),
)
def _negated_scores(scores: Tensor) -> Tensor:
    return safe_softmax((-scores).masked_fill(scores.isneginf(), -torch.inf))


@mistake(
    "You returned the logarithms of the weights.",
    lambda e: unwrapped(f"""{_first_row_off(e)} `log_softmax`, or a score minus the logarithm of the
    sum, is the logarithm of a weight, so the exponential is missing at the end."""),
    also=(_then_cleaned(lambda scores: scores.log_softmax(dim=-1)),),
)
def _logarithms(scores: Tensor) -> Tensor:
    return scores.log_softmax(dim=-1)


def _seen_by(evidence: Evidence, case: str, t: int) -> str:
    """Between which numbers the visible scores of a row lie, as the beginning of a sentence."""
    scores = evidence.inputs[case][t]
    seen = scores[np.isfinite(scores)]
    if len(seen) == 1:
        return f"Row {t} sees one position, with the score {number(float(seen[0]), 6)}"
    low, high = number(float(seen.min()), 6), number(float(seen.max()), 6)
    return f"Row {t} has scores from {low} to {high}"


def _hidden_too(weights: Array, seen: Array) -> str:
    """A sentence on hidden places that became as large as the visible ones."""
    if seen.all() or not np.allclose(weights[~seen], weights[seen][0], rtol=1e-6):
        return ""
    return " The limit has caught −∞ as well, so what is hidden has the same weight."


def _made_equal(evidence: Evidence) -> Finding | None:
    """Different scores with the same weight, only in rows that lie far from 0."""
    scores, mine = evidence.inputs["large"], evidence.yours("large")
    if not evidence.same("ordinary") or mine.shape != scores.shape:
        return None
    for t, (given, weights) in enumerate(zip(scores, mine, strict=True)):
        seen = np.isfinite(given)
        held = weights[seen]
        if np.ptp(given[seen]) > 0.1 and held.min() > 0 and np.ptp(held) < 1e-6 * held.max():
            return Finding(
                "made-equal",
                "You give the same weight to different scores far from 0.",
                unwrapped(f"""{_seen_by(evidence, "large", t)}, but all of them have the weight
                {number(float(held[0]))} in your answer. This happens when scores are cut off at a
                limit before the exponential (`clamp`), because everything beyond the limit becomes
                equal. A row may be shifted without loss, but not cut
                off.{_hidden_too(weights, seen)}"""),
                STABLE,
            )
    return None


def _something_added(evidence: Evidence) -> Finding | None:
    """Rows that are too small, or too large, by one number in what they are divided by."""
    scores, mine = evidence.inputs["ordinary"], evidence.yours("ordinary")
    right = evidence.right("ordinary")
    if mine.shape != right.shape or not np.isfinite(mine).all():
        return None
    held = mine.sum(-1)
    if not np.allclose(mine, right * held[:, None], rtol=1e-4, atol=1e-6) or (held <= 0).any():
        return None
    powers = np.exp(scores - scores.max(-1, keepdims=True)).sum(-1)
    for sums, words in (
        (powers, "after each row's maximum was subtracted"),
        (
            np.exp(scores).sum(-1),
            "of the scores as they are",
        ),
    ):
        added = sums * (1 / held - 1)
        if np.ptp(added) < 1e-3 * np.abs(added).max() and abs(added[0]) > 1e-4:
            more = "more" if added[0] > 0 else "less"
            by = number(abs(float(added[0])))
            return Finding(
                "something-added",
                f"You divide your rows by {by} {more} than the sum of their powers.",
                unwrapped(f"""Row 0 sums to {number(float(held[0]))}. All rows are what they would
                be with {by} {"added to" if added[0] > 0 else "taken off"} the sum of the powers
                {words}. If this keeps the sum of an empty row away from 0, it must not change any
                other sum. Once each row is shifted by its maximum, every other sum is 1 or more, so
                `clamp(min=1e-30)` changes none of them."""),
                STABLE,
            )
    return None


def _emptied_rows(scores: Array) -> tuple[tuple[Any, str, str], ...]:
    """Which rows an answer may have emptied: as (T,) of bool, in words, and why."""
    hidden, largest = np.isneginf(scores), scores.max(axis=-1)
    return (
        (hidden.any(axis=-1), "all rows in which something is hidden", ""),
        (~hidden.any(axis=-1), "all rows in which nothing is hidden", ""),
        ((~hidden).sum(axis=-1) == 1, "all rows that see one position", ""),
        (hidden[:, 0], "all rows whose first score is −∞", ""),
        (hidden[:, -1], "all rows whose last score is −∞", ""),
        (np.diagonal(hidden), "all rows whose score on the diagonal is −∞", ""),
        (
            largest < -100,
            "all rows in which every score is far below 0",
            "A maximum of absolute values, or one that is at least 0, is far above such a row, so "
            "its powers become 0. And a row below 0 isn't empty.",
        ),
        (
            largest < 0,
            "all rows of nothing but negative scores",
            "A row below 0 isn't empty. Only one of nothing but −∞ is.",
        ),
    )


def _emptied(evidence: Evidence) -> Finding | None:
    """All weights 0 in rows that see something."""
    for case in ("ordinary", "large"):
        scores, mine = evidence.inputs[case], evidence.yours(case)
        if mine.shape != scores.shape or (case == "large" and not evidence.same("ordinary")):
            return None
        empty = ~mine.any(axis=-1)
        if not empty.any():
            continue
        t = int(np.flatnonzero(empty)[0])
        why = (
            "If you look for empty rows, only one of nothing but −∞ is empty. If you subtract a "
            "number from each row, it has to be finite there and near the row's own maximum, or "
            "all powers become 0 or NaN."
        )
        # What empties rows of large scores leaves such rows of ordinary scores alone.
        found = [
            (words, hint)
            for (fits, words, hint), (ordinary, _, _) in zip(
                _emptied_rows(scores), _emptied_rows(evidence.inputs["ordinary"]), strict=True
            )
            if (empty == fits).all() and not (case == "large" and ordinary.any())
        ]
        if found:
            also = "".join(f" These are also {words}." for words, _ in found[1:])
            hints = [hint for _, hint in found if hint][:1]
            why = (
                f"In this matrix, so are {found[0][0]}, and no others.{also} "
                f"{' '.join(hints) or why}"
            )
        elif empty.sum() == 1 and t in (0, len(scores) - 1):
            why = f"No other row is empty. If you loop over the rows, does the loop reach row {t}?"
        return Finding(
            "emptied",
            "You give no weight at all in a row that sees something.",
            f"{_seen_by(evidence, case, t)}, but your weights there are all 0. {why}",
            STABLE,
        )
    return None


@mistake(
    "You took the softmax twice, and the second time of weights instead of scores.",
    lambda e: f"{_first_row_off(e)} A softmax of numbers between 0 and 1 is nearly flat.",
    also=(
        lambda scores: scores.softmax(dim=-1).softmax(dim=-1).nan_to_num(0.0),
        lambda scores: safe_softmax(safe_softmax(scores)),
    ),
)
def _softmax_twice(scores: Tensor) -> Tensor:
    return scores.softmax(dim=-1).softmax(dim=-1)


def _hidden_weigh(evidence: Evidence) -> Finding | None:
    """Weight on hidden places of ordinary rows, and which score they seem to have."""
    scores, mine = evidence.inputs["ordinary"], evidence.yours("ordinary").astype(np.float64)
    hidden = np.isneginf(scores)
    if mine.shape != scores.shape or not (mine[hidden] > 1e-5).any() or not (mine > 0).all():
        return None
    visible = np.where(hidden, 0, scores)
    offset = np.where(hidden, 0, np.log(mine) - visible).sum(-1) / (~hidden).sum(-1)
    if np.abs(np.where(hidden, 0, np.log(mine) - visible - offset[:, None])).max() > 1e-3:
        return None
    implied = np.log(mine) - offset[:, None]
    as_if = ""
    for words, base in (
        ("", 0),
        ("the largest score of its row", scores.max(-1, keepdims=True)),
        (
            "the smallest visible score of its row",
            np.where(hidden, np.inf, scores).min(-1)[:, None],
        ),
    ):
        fills = (implied - base)[hidden]
        if np.ptp(fills) < 1e-3:
            off = float(fills.mean())
            if not words:
                as_if = number(off)
            else:
                as_if = words + f" {'+' if off > 0 else '−'} {number(abs(off))}" * (abs(off) > 1e-3)
            break
    t, s = (int(i) for i in np.argwhere(hidden & (mine > 1e-5))[0])
    filled = f" All hidden places weigh as if −∞ had been replaced by {as_if}." * bool(as_if)
    return Finding(
        "hidden-weigh",
        "You give weight to hidden places.",
        unwrapped(f"""In row {t}, position {s} has the score −∞, but you give it the weight
        {number(mine[t, s])}.{filled} Only the maximum of an empty row needs replacing. A score of
        −∞ minus a finite number is −∞, and its power is 0."""),
        STABLE,
    )


def _large_rows_scaled(evidence: Evidence) -> Finding | None:
    """Rows of large scores that are the softmax of scores times some factor."""
    scores, mine = evidence.inputs["large"], evidence.yours("large").astype(np.float64)
    if mine.shape != scores.shape or not evidence.same("ordinary"):
        return None
    right = evidence.right("large")
    for t in np.flatnonzero(~close(mine, right).all(-1)):
        seen = np.isfinite(scores[t]) & (mine[t] > 1e-30)
        if seen.sum() < 3:
            continue
        given = scores[t][seen] - scores[t][seen].mean()
        logs = np.log(mine[t][seen])
        logs -= logs.mean()
        factor = float((given * logs).sum() / (given * given).sum())
        if 0 < factor < 0.99 and np.allclose(logs, factor * given, atol=1e-4):
            return Finding(
                "large-scores-scaled",
                "You make large scores smaller before you take the exponential.",
                unwrapped(f"""{_row_of_large(evidence, int(t))} That is the softmax of these scores
                times {number(factor)}, so the row is flatter than it should be. A row may be
                shifted without loss, but not scaled."""),
                STABLE,
            )
    return None


def _nan_in_large(evidence: Evidence) -> Finding | None:
    mine = evidence.yours("large")
    if mine.shape != evidence.inputs["large"].shape or not np.isnan(mine).any():
        return None
    return Finding(
        "nan-where-large",
        "You return NaN for a row of scores that are far from 0 or far apart.",
        unwrapped(f"""{_row_of_large(evidence, _nan_row(evidence, "large"))} If each row is shifted
        by its own maximum, no power is above 1, and one of them is 1."""),
        STABLE,
    )


def _limit_on_sums(evidence: Evidence) -> Finding | None:
    """Rows that are divided by a limit because the sum of their powers lies below it."""
    scores, mine = evidence.inputs["ordinary"], evidence.yours("ordinary")
    right = evidence.right("ordinary")
    held = mine.sum(-1)
    if not np.allclose(mine, right * held[:, None], rtol=1e-4, atol=1e-6):
        return None
    for powers, words in (
        (np.exp(scores - scores.max(-1, keepdims=True)).sum(-1), "shifted powers"),
        (np.exp(scores).sum(-1), "powers"),
    ):
        off = ~np.isclose(held, 1, atol=1e-5)
        if not off.any():
            return None
        limits = powers[off] / held[off]
        if np.ptp(limits) < 1e-4 * limits.max() and (powers[~off] >= limits.max() * 0.999).all():
            t = int(np.flatnonzero(off)[0])
            if np.isclose(limits.mean(), powers.sum(), rtol=1e-3):
                return Finding(
                    "one-divisor-for-all",
                    "You divide all rows by the sum of all powers of the matrix.",
                    unwrapped(f"""It is {number(limits.mean())}, while the {words} of row {t} sum to
                    {number(float(powers[t]))}, so the row sums to {number(float(held[t]))}. Each
                    row has its own sum, `sum(dim=-1, keepdim=True)`."""),
                    DEPENDS,
                )
            return Finding(
                "limit-too-high",
                f"The limit that keeps your sums away from 0 is too high: {number(limits.mean())}.",
                unwrapped(f"""In row {t} the {words} sum to {number(float(powers[t]))}, and divided
                by {number(limits.mean())}, the row sums to {number(float(held[t]))}. Once each row
                is shifted by its maximum, only the sum of an empty row is below 1, so
                `clamp(min=1e-30)` changes no other."""),
                STABLE,
            )
    return None


def _largest_alone(evidence: Evidence) -> Finding | None:
    scores, mine = evidence.inputs["ordinary"], evidence.yours("ordinary")
    best = np.arange(scores.shape[1]) == scores.argmax(-1)[:, None]
    if mine.shape != scores.shape or not np.allclose(mine, best, atol=1e-6):
        return None
    return Finding(
        "largest-alone",
        "You give all the weight of a row to its largest score.",
        f"{_first_row_off(evidence)} A softmax gives the others a share as well.",
        DEPENDS,
    )


def _of_other_scores(evidence: Evidence) -> Finding | None:
    """A softmax of something that was made of the scores, where they are ordinary."""
    scores, mine = evidence.inputs["ordinary"], evidence.yours("ordinary")
    if mine.shape != scores.shape or evidence.same("ordinary"):
        return None
    seen = np.isfinite(scores)
    known = np.where(seen, scores, 0)
    for words, made in (
        ("absolute values of the scores", np.abs(known)),
        ("scores in which negative ones became 0", known.clip(0)),
        ("squared scores", known**2),
        ("sigmoids of the scores", 1 / (1 + np.exp(-known))),
        ("rounded scores", known.round()),
        ("scores without their fractions", np.trunc(known)),
        ("exponentials of the scores", np.exp(known)),
    ):
        powers = np.where(seen, np.exp(made), 0)
        if np.allclose(mine, powers / powers.sum(-1, keepdims=True), atol=1e-5):
            return Finding(
                "softmax-of-other-scores",
                f"You took the softmax of {words}.",
                f"{_first_row_off(evidence)} Leave the scores as they are, except for the shift.",
                DEPENDS,
            )
    return None


def _hidden_places_weigh(evidence: Evidence) -> Finding | None:
    """Weight on hidden places of a row with low scores, where ordinary rows have none."""
    scores, mine = evidence.inputs["large"], evidence.yours("large")
    if not evidence.same("ordinary") or mine.shape != scores.shape:
        return None
    hidden = np.isneginf(scores)
    leaks = np.where(hidden, mine, 0.0).sum(axis=-1)
    if leaks.max() < 1e-4:
        return None
    t = int(leaks.argmax())
    return Finding(
        "hidden-places-weigh",
        "You give weight to hidden places in a row of low scores.",
        unwrapped(f"""{_seen_by(evidence, "large", t)}, but {100 * leaks[t]:.0f} % of your weight
        lies where −∞ is. Scores can be as low as any number that you put there instead, so leave −∞
        as it is."""),
        STABLE,
    )


def _all_emptied(evidence: Evidence) -> Finding | None:
    """Nothing but zeros in a matrix in which some rows may see nothing, and others right."""
    mine, right = evidence.yours("empty"), evidence.right("empty")
    if not evidence.same("ordinary", "large") or mine.shape != right.shape or mine.any():
        return None
    empty = np.asarray(np.isneginf(evidence.inputs["empty"]).all(-1))
    return Finding(
        "all-emptied",
        "You set all rows to 0 when some of them may see nothing.",
        unwrapped(f"""Of {len(empty)} rows, {listed(np.flatnonzero(empty))} may see nothing, but
        your weights are 0 in all rows. Ask each row whether it is empty: `.any()` and `.all()`
        without `dim` ask the whole matrix."""),
        STABLE,
    )


def _nothing_to_see_weighs(evidence: Evidence) -> Finding | None:
    """Weight in a row of nothing but −∞, where rows with something to see are right."""
    if not evidence.same("ordinary", "large"):
        return None
    for case in ("empty", "single"):
        scores, mine = evidence.inputs[case], evidence.yours(case)
        rows = np.isneginf(scores).all(-1)
        if mine.shape == scores.shape and (mine[rows] != 0).any():
            t = int(np.flatnonzero(rows & (mine != 0).any(-1))[0])
            return Finding(
                "nothing-to-see-weighs",
                "You give weight in a row that may see nothing.",
                unwrapped(f"""Row {t} of a matrix of shape {scores.shape} is all −∞, so its weights
                should all be 0, but yours are {row(mine[t])}."""),
                STABLE,
            )
    return None


TASK = Task(
    "A softmax that survives",
    safe_softmax,
    STABLE,
    (
        Part("Rows of ordinary scores are right.", 1, matches("ordinary")),
        Part("Rows of scores as large as ±10,000 are right.", 2, matches("large")),
        Part(
            "Rows that may see nothing are 0, and the others right.", 1, matches("empty", "single")
        ),
    ),
    properties=(
        _made_equal,
        _emptied,
        _something_added,
        _limit_on_sums,
        _hidden_weigh,
        _large_rows_scaled,
        _largest_alone,
        _of_other_scores,
        _hidden_places_weigh,
        _all_emptied,
        _nothing_to_see_weighs,
        rows_sum_to_one("ordinary", STABLE),
        _nan_in_large,
        rows_sum_to_one("large", STABLE),
        scores_times_a_factor("ordinary", lambda e: e.inputs["ordinary"], STABLE),
    ),
    cases=("ordinary",),
    steps={
        "the largest scores": Step("Each row has a largest score of its own."),
        "what is subtracted": Step(
            "A row that sees nothing has the largest score −∞, and −∞ − (−∞) is NaN."
        ),
        "the lowered scores": Step("Relative to its largest score, no power of a row overflows."),
        "the powers": Step("A softmax is made of powers of e."),
        "the sums": Step("Each row is divided by its own sum."),
        "the divisors": Step("A row that sees nothing has the sum 0, and 0 / 0 is NaN."),
        "your weights": Step("Each row is divided by its own sum."),
    },
)
