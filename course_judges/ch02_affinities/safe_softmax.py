"""Judging 02/safe-softmax: a softmax for scores of any size, and for rows that see nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch02_affinities.sections import DEPENDS, STABLE
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, any_of, matches, mistake
from course_judges.properties import rows_sum_to_one, scores_times_a_factor
from course_judges.wording import number, row, rows_apart, unwrapped
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


def _one_maximum(scores: Tensor) -> Tensor:
    return _as_written(scores - scores.max())


def _without_keepdim(scores: Tensor) -> Tensor:
    return scores.exp() / scores.exp().sum(dim=-1)


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


def _farthest_row(evidence: Evidence, case: str) -> int:
    gap = np.abs(evidence.yours(case) - evidence.right(case))
    return int(np.nan_to_num(gap, nan=np.inf).max(-1).argmax())


def _first_row_off(evidence: Evidence, case: str = "ordinary") -> str:
    mine, right = evidence.yours(case), evidence.right(case)
    t = _farthest_row(evidence, case)
    yours, wanted = rows_apart(mine[t], right[t])
    return f"Row {t} of your weights is {yours}, but it should be {wanted}."


def _empty_row(evidence: Evidence) -> str:
    t = int(np.flatnonzero(np.isneginf(evidence.inputs["empty"]).all(-1))[0])
    return f"Row {t} may see nothing, but your weights are {row(evidence.yours('empty')[t])}."


def _row_made_equal(evidence: Evidence) -> int:
    """The first row of `large` whose visible scores all got the same weight above 0; if there is
    none, the one that is farthest off.
    """
    scores, mine = evidence.inputs["large"], evidence.yours("large")
    seen = np.isfinite(scores)
    low = np.where(seen, mine, np.inf).min(-1)
    equal = (seen.sum(-1) > 1) & (low > 0) & (np.where(seen, mine, 0).max(-1) - low < 1e-6)
    return int(equal.argmax()) if equal.any() else _farthest_row(evidence, "large")


def _clamped(scores: Tensor) -> Tensor:
    return _as_written(scores.clamp(-80, 80))


def _visible_clamped(scores: Tensor) -> Tensor:
    return safe_softmax(scores.clamp(-80, 80).masked_fill(scores.isneginf(), -torch.inf))


_clamped_scores = mistake(
    "You cut off the scores, or their powers, at a limit.",
    lambda e: unwrapped(f"""{_row_of_large(e, _row_made_equal(e))} What lies beyond the limit
    became equal. Replacing infinite powers by one number does the same. A row may be shifted
    without loss, but not cut off."""),
    recognized=any_of(
        SAFE_SOFTMAX,
        ("large",),
        _visible_clamped,
        lambda scores: scores.clamp(min=-10_000).softmax(dim=-1),
        *(
            f
            for c in (_clamped, lambda scores: _as_written(scores.clamp(max=80)))
            for f in (c, _then_cleaned(c))
        ),
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

_keepdim_forgotten = mistake(
    "You gave column s a number that belongs to row s, because `keepdim=True` is missing.",
    lambda e: unwrapped(f"""{_first_row_off(e)} Without `keepdim=True`, a maximum or a sum over
    `dim=-1` has shape ({e.number("T")},), and broadcasting gives row s's number to column s. That
    raises no error, because the matrix is square."""),
    also=(
        lambda scores: _without_keepdim(scores - scores.amax(dim=-1)),
        lambda scores: _without_keepdim(scores - scores.amax(dim=-1, keepdim=True)),
    ),
)(Like("left-out-keepdim-for-the-maximum-in-the-largest-scores"))


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
)(Like("left-out-the-division-by-the-divisors-in-your-weights"))


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
    "You returned the logarithms of the weights.",
    lambda e: unwrapped(f"""{_first_row_off(e)} `log_softmax`, or a score minus the logarithm of the
    sum, is the logarithm of a weight, so the exponential is missing at the end."""),
    also=(_then_cleaned(lambda scores: scores.log_softmax(dim=-1)),),
)
def _logarithms(scores: Tensor) -> Tensor:
    return scores.log_softmax(dim=-1)


def _causal(scores: Tensor) -> Tensor:
    return scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -torch.inf).softmax(dim=-1)


_causal_too = mistake(
    "You hid the future as well, but here −∞ alone says what is hidden.",
    lambda e: unwrapped(f"""{_first_row_off(e)} The chapter's weights were causal, but this softmax
    gets its mask with the scores."""),
    also=(_then_cleaned(_causal),),
)(_causal)


def _seen_by(evidence: Evidence, case: str, t: int) -> str:
    """Between which numbers the visible scores of a row lie, as the beginning of a sentence."""
    scores = evidence.inputs[case][t]
    seen = scores[np.isfinite(scores)]
    if len(seen) == 1:
        return f"Row {t} sees one position, with the score {number(float(seen[0]), 6)}"
    low, high = number(float(seen.min()), 6), number(float(seen.max()), 6)
    return f"Row {t} has scores from {low} to {high}"


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
    added = powers * (1 / held - 1)
    if np.ptp(added) > 1e-3 * np.abs(added).max() or abs(added[0]) < 1e-4:
        return None
    by = number(float(added[0]))
    return Finding(
        "something-added",
        f"You divide your rows by {by} more than the sum of their powers.",
        unwrapped(f"""Row 0 sums to {number(float(held[0]))}. If this keeps the sum of an empty row
        away from 0, it must not change any other sum. Once each row is shifted by its maximum,
        every other sum is 1 or more, so `clamp(min=1e-30)` changes none of them."""),
        STABLE,
    )


_TAKEN_FOR_EMPTY: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("in which something is hidden", lambda s: s.isneginf().any(-1)),
    ("whose first score is −∞", lambda s: s[:, 0].isneginf()),
    ("in which no score is above −10,000", lambda s: s.amax(-1) <= -10_000),
)


def _with_rows_emptied(empty: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda scores: safe_softmax(scores) * ~empty(scores)[:, None]


def _emptied_rows(evidence: Evidence) -> str:
    """Which rows were taken for empty, in words; empty if none of the list."""
    fits = (
        words
        for words, empty in _TAKEN_FOR_EMPTY
        if any_of(SAFE_SOFTMAX, ("ordinary", "large"), _with_rows_emptied(empty))(evidence)
    )
    return next(fits, "")


_emptied = mistake(
    "You give no weight at all in rows that see something.",
    lambda e: unwrapped(f"""Your weights are 0 in all rows {_emptied_rows(e)}, and right in the
    others. Only a row of nothing but −∞ is empty, so ask whether all of its scores are −∞."""),
    recognized=lambda e: bool(_emptied_rows(e)),
)(_with_rows_emptied(_TAKEN_FOR_EMPTY[0][1]))


def _zero_rows(evidence: Evidence) -> Finding | None:
    """All weights 0 in rows that see something."""
    for case in ("ordinary", "large"):
        scores, mine = evidence.inputs[case], evidence.yours(case)
        empty = ~mine.any(axis=-1)
        if mine.shape == scores.shape and empty.any():
            return Finding(
                "zero-rows",
                "You give no weight at all in a row that sees something.",
                unwrapped(f"""{_seen_by(evidence, case, int(np.flatnonzero(empty)[0]))}, but your
                weights there are all 0. If you look for empty rows, only one of nothing but −∞ is
                empty. If you subtract a number from each row, it has to be finite there and near
                the row's own maximum, or all powers become 0 or NaN."""),
                STABLE,
            )
    return None


def _with_fill(fill: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """An answer that puts a number where −∞ is, and still knows which rows are empty."""

    def answer(scores: Tensor) -> Tensor:
        filled = torch.where(scores.isneginf(), fill(scores), scores)
        return filled.softmax(dim=-1) * scores.isfinite().any(-1, keepdim=True)

    return answer


_low_fill = mistake(
    "You replaced −∞ by a number that scores can be as low as.",
    lambda e: f"Scores may be −10,000 and below. {_hidden_weights(e, 'large')}",
    recognized=any_of(
        SAFE_SOFTMAX,
        ("large",),
        _with_fill(lambda s: s.new_tensor(-10_000.0)),
        _with_fill(lambda s: s.masked_fill(s.isneginf(), torch.inf).amin(-1, keepdim=True)),
        _with_fill(lambda s: s.masked_fill(s.isneginf(), torch.inf).min()),
    ),
)(_with_fill(lambda s: s.new_tensor(-10_000.0)))


def _hidden_weights(evidence: Evidence, case: str) -> str:
    scores, mine = evidence.inputs[case], evidence.yours(case)
    shares = np.where(np.isneginf(scores), mine, 0.0).sum(axis=-1)
    t = int(shares.argmax())
    return unwrapped(f"""{_seen_by(evidence, case, t)}, but {100 * shares[t]:.0f} % of your weight
    lies where −∞ is. A score of −∞ has no weight, whatever the others are, so leave it as it
    is.""")


def _hidden_places_weigh(evidence: Evidence) -> Finding | None:
    """Weight on hidden places of a row that sees something."""
    for case in ("ordinary", "large"):
        scores, mine = evidence.inputs[case], evidence.yours(case)
        if mine.shape == scores.shape and (mine[np.isneginf(scores)] > 1e-4).any():
            return Finding(
                "hidden-places-weigh",
                "You give weight to hidden places.",
                _hidden_weights(evidence, case),
                STABLE,
            )
    return None


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
        _zero_rows,
        _something_added,
        _hidden_places_weigh,
        _nothing_to_see_weighs,
        rows_sum_to_one("ordinary", STABLE),
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
