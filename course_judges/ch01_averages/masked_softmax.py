"""Judging 01/masked-softmax: a softmax over what may be seen."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch01_averages.sections import FILL, SIDES, SOFTMAX, WRITES
from course_judges.ch01_averages.weights import positions, right_but_alone
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import NEGLIGIBLE, rows_sum_to_one, scores_times_a_factor
from course_judges.wording import number, row, rows_apart, unwrapped, word
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def masked_softmax(scores: Tensor, visible: Tensor) -> Tensor:
    """A right answer to 01/masked-softmax: (B, T, T), (B, T, T) → (B, T, T)."""
    hidden = ~visible  # what you hide (B, T, T)
    masked = scores.masked_fill(hidden, -torch.inf)  # the masked scores (B, T, T)
    return masked.softmax(dim=-1)  # your weights (B, T, T)


def _fill_read_off(evidence: Evidence) -> float | None:
    """The score that was filled into the hidden places, worked out from the weights.

    Two weights of a row have the same quotient as the exponentials of their scores, so a hidden
    score is a visible one plus the difference of the weights' logarithms. None if the hidden places
    don't share one finite score.
    """
    mine = np.asarray(evidence.yours("precise"), dtype=np.float64)
    scores, visible = evidence.inputs["scores"], evidence.inputs["visible"]
    if mine.shape != scores.shape or not (mine > 0).all():
        return None
    implied = np.log(mine) - scores
    offset = np.where(visible, implied, 0).sum(-1) / visible.sum(-1)
    fills = (np.log(mine) - offset[..., None])[~visible]
    consistent = np.abs(np.where(visible, implied - offset[..., None], 0)).max() < 1e-5
    return float(np.median(fills)) if consistent and np.ptp(fills) < 1e-5 else None


def _shows_tiny_fill(evidence: Evidence) -> bool:
    fill = _fill_read_off(evidence)
    digits = 1e-12 if evidence.yours("precise").dtype == np.float64 else 1e-5
    return fill is not None and abs(fill) > digits


def _sample(evidence: Evidence, case: str = "weights") -> tuple[Array, Array]:
    """Row 0 of sample 0: the student's weights, and what it may see."""
    mine = np.asarray(evidence.yours(case), dtype=np.float64)
    return mine[0, 0], evidence.inputs["visible"][0, 0]


def _row_of_the_sample(evidence: Evidence) -> str:
    mine, visible = _sample(evidence)
    return f"Row 0 of sample 0 may see {positions(visible)}, and your weights are {row(mine)}."


def _hidden_share(evidence: Evidence) -> str:
    mine, visible = np.asarray(evidence.yours("weights")), evidence.inputs["visible"]
    share = np.where(visible, 0, mine).sum() / mine.sum()
    percent = "100" if share > 0.995 else number(100 * share, 2)
    return f"{percent} % of all your weight lies on hidden positions."


def _an_unseen_future(evidence: Evidence) -> str:
    """A later position that may be seen, in words."""
    b, t, s = (int(i) for i in np.argwhere(np.triu(evidence.inputs["visible"], 1))[0])
    given = number(evidence.yours("weights")[b, t, s])
    return f"In sample {b}, row {t} may see position {s}, but you give it the weight {given}."


def _right_proportions(evidence: Evidence) -> bool:
    if not evidence.comparable("weights"):
        return False
    mine, right = evidence.yours("weights"), evidence.right("weights")
    sums = mine.sum(-1, keepdims=True)
    if not np.isfinite(sums).all() or (sums <= 0).any():
        return False
    return np.allclose(mine / sums, right, rtol=1e-4, atol=1e-5)


def _sees_what_is_hidden(evidence: Evidence) -> Finding | None:
    mine, visible = evidence.yours("weights"), evidence.inputs["visible"]
    seen = np.argwhere(~visible & (np.abs(mine) > NEGLIGIBLE))
    if not len(seen):
        return None
    b, t, s = (int(i) for i in seen[0])
    return Finding(
        "sees-what-is-hidden",
        "You give weight to hidden positions.",
        unwrapped(f"""In sample {b}, row {t} may not see position {s}, but you give it the weight
        {number(mine[b, t, s])}. {_hidden_share(evidence)}"""),
        FILL,
    )


_inverted_mask = mistake(
    "Your mask is the wrong way round, so you hid what may be seen.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} `visible` is True where you may look, but
    `masked_fill` writes where its mask is True, so what has to be hidden is `~visible`."""),
    WRITES,
    also=(
        lambda scores, visible: (scores - 1e9 * visible.to(scores.dtype)).softmax(dim=-1),
        lambda scores, visible: scores.masked_fill(visible, -1e9).softmax(dim=-1),
    ),
)(Like("left-out-the-negation-in-what-you-hide"))


_dropped_result = mistake(
    "Your mask has no effect, so these are the weights without any mask.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} If you did call `masked_fill`, keep what it
    returns, because it makes a new tensor and leaves the old one as it was."""),
    WRITES,
)(Like("left-out-the-mask-in-the-masked-scores"))


@mistake(
    lambda e: unwrapped(f"""You filled the hidden places with {number(_fill_read_off(e) or 0.0)},
    which is too close to the scores."""),
    lambda e: (
        f"{_hidden_share(e)} "
        + "(−1e-9 is −0.000000001, while −1e9 is a large negative number.) "
        * (abs(_fill_read_off(e) or 0.0) < 1e-3)
        + "Next to any finite score, −inf gets a weight of exactly 0, but a large negative number "
        "does so only while other scores are far above it."
    ),
    FILL,
    recognized=_shows_tiny_fill,
)
def _tiny_fill(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -1e-9).softmax(dim=-1)


_zero_mask = families.zero_mask(lambda e: f"{_row_of_the_sample(e)} {_hidden_share(e)}", FILL)(
    Like("filled-with-0-instead-of-minus-infinity-in-the-masked-scores")
)


_plus_infinity = mistake(
    "You probably filled the hidden places with +inf, but what should vanish needs −inf.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("weights")).sum())} of {e.yours("weights").size}
    weights are NaN, because e^(+inf) is infinite, and inf / inf is not a number."""),
    FILL,
)(Like("left-out-the-sign-in-the-masked-scores"))


@families.masked_after_softmax(
    lambda e: f"Row 0 of sample 0 sums to {number(_sample(e)[0].sum())}."
)
def _masked_after_softmax(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.softmax(dim=-1) * visible


def _beside_a_hidden_score(evidence: Evidence) -> str:
    mine, scores = evidence.yours("far"), evidence.inputs["far"]
    b, t = (int(i) for i in np.argwhere(~close(mine, evidence.right("far")).all(-1))[0])
    visible = evidence.inputs["visible"][b, t]
    return unwrapped(f"""In sample {b}, row {t} sees scores of at most
    {number(scores[b, t][visible].max())} and hides one of {number(scores[b, t].max())}. Beside
    that, the visible weights are 0 in float32, and dividing them by their sum is 0 / 0. Hide scores
    before the softmax.""")


@mistake(
    "You lose a row in which a hidden score lies far above the visible ones.",
    _beside_a_hidden_score,
    FILL,
    cases=("far",),
)
def _hidden_score_sets_the_scale(scores: Tensor, visible: Tensor) -> Tensor:
    weights = scores.softmax(dim=-1) * visible
    return weights / weights.sum(dim=-1, keepdim=True)


def _dealt_out(evidence: Evidence) -> str:
    """A row, what a softmax over all of its scores gives to visible positions, and what was added
    to that.
    """
    scores, visible = evidence.inputs["scores"], evidence.inputs["visible"]
    mine, right = np.asarray(evidence.yours("weights")), evidence.right("weights")
    ordinary = (np.abs(scores) < 20).all(-1, keepdims=True)  # some rows are 50 higher or lower
    b, t, _ = np.unravel_index(int((np.abs(mine - right) * ordinary).argmax()), mine.shape)
    seen = visible[b, t]
    powers = np.exp(scores[b, t])
    unmasked = (powers / powers.sum())[seen]
    return unwrapped(f"""In sample {b}, row {t} may see {positions(seen)}, which a softmax over all
    scores gives {row(unmasked)}. That leaves {number(1 - unmasked.sum(), 2)} for hidden
    positions, and you added it as {row(mine[b, t][seen] - unmasked)}. Visible weights have to keep
    their proportions, so divide them by their own sum, or mask before the softmax.""")


@mistake(
    "You gave the weight of hidden positions to the visible ones, but not in proportion.",
    _dealt_out,
)
def _hidden_share_dealt_out(scores: Tensor, visible: Tensor) -> Tensor:
    weights = scores.softmax(dim=-1) * visible
    missing = 1 - weights.sum(dim=-1, keepdim=True)
    return weights + missing * visible / visible.sum(dim=-1, keepdim=True)


_softmax_over_queries = families.softmax_over_queries(
    lambda e: unwrapped(f"""In sample 0, column 0 of your weights sums to
    {number(np.asarray(e.yours("weights"))[0, :, 0].sum())}, but row 0 sums to
    {number(_sample(e)[0].sum())}."""),
    SIDES,
)(Like("used-axis-minus-2-instead-of-axis-minus-1-for-the-softmax-in-your-weights"))


@mistake(
    "All visible positions count the same, because your scores have no effect.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} The chapter's scores were all 0, and equal
    scores make equal weights, but with these scores the row should be
    {row(e.right("weights")[0, 0])}."""),
)
def _scores_ignored(scores: Tensor, visible: Tensor) -> Tensor:
    return masked_softmax(torch.zeros_like(scores), visible)


_softmax_over_batch = mistake(
    "Your softmax runs over the samples of the batch.",
    lambda e: unwrapped(f"""Row 0 of sample 0 is {row(_sample(e)[0])}, because its weights compete
    with those of other samples instead of with each other. `dim=-1` runs along a row, but a softmax
    of three dimensions without `dim` takes `dim=0`."""),
    SIDES,
    also=(lambda scores, visible: _over_samples(scores, visible).nan_to_num(0.0),),
)(Like("used-axis-minus-3-instead-of-axis-minus-1-for-the-softmax-in-your-weights"))


def _over_samples(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=0)


_scores_returned = mistake(
    "You returned scores, not weights: the softmax is missing, or you didn't keep its result.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} Weights lie between 0 and 1, and each row sums
    to 1. `softmax` returns a new tensor and leaves the old one as it was."""),
)(Like("left-out-the-softmax-in-your-weights"))


_mask_turned = mistake(
    "You exchanged the rows and columns of the mask.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} You let row t look where column t of `visible`
    is True. `visible` and the scores have the same order, (sample, row t, column s), so don't
    exchange anything."""),
    SIDES,
    also=(lambda scores, visible: masked_softmax(scores, visible.mT).nan_to_num(0.0),),
)(Like("transposed-what-you-hide"))


_causal_too = mistake(
    "You hid the future as well, but `visible` alone says what may be seen.",
    lambda e: unwrapped(f"""{_an_unseen_future(e)} Not every mask is a triangle, and this one may
    show later positions, too."""),
    also=(
        lambda scores, visible: masked_softmax(scores, visible.tril()).nan_to_num(0.0),
        # A large negative number for −inf leaves equal weights where all is hidden.
        lambda scores, visible: masked_softmax(scores, visible.tril()).nan_to_num(
            1 / scores.shape[-1]
        ),
    ),
)(Like("masked-the-future-in-what-you-hide"))


_mask_of_the_first_sample = mistake(
    "You used the mask of sample 0 for all samples.",
    lambda e: unwrapped(f"""{_hidden_share(e)} `visible` has shape {e.inputs["visible"].shape}, so
    each of the {word(e.number("B"))} samples has its own mask, and `visible[0]` is only the
    first."""),
    WRITES,
)(Like("used-the-first-item-of-what-you-hide-for-all-items"))


@mistake(
    "You give all the weight of a row to its largest visible score.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} A softmax gives the others a share as well:
    {row(e.right("weights")[0, 0])}."""),
)
def _largest_alone(scores: Tensor, visible: Tensor) -> Tensor:
    best = scores.masked_fill(~visible, -torch.inf).argmax(dim=-1)
    return torch.nn.functional.one_hot(best, scores.shape[-1])


@mistake(
    "You took one softmax over many rows, but each row should sum to 1.",
    lambda e: unwrapped(f"""Row 0 of sample 0 sums to {number(_sample(e)[0].sum())}, and all weights
    of sample 0 together sum to {number(np.asarray(e.yours("weights"))[0].sum())}. If you pick what
    is visible with one index, or flatten, several rows end up in one line, but `dim=-1` of (B, T,
    T) runs along each row."""),
    SIDES,
    also=(
        lambda scores, visible: (
            scores.masked_fill(~visible, -torch.inf).flatten(1).softmax(dim=1).view_as(scores)
        ),
    ),
)
def _one_softmax_for_all(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -torch.inf).flatten().softmax(dim=0).view_as(scores)


@mistake(
    "You took the softmax twice, and the second time of weights instead of scores.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} With one softmax, of the visible scores, the row
    is {row(e.right("weights")[0, 0])}. The mask only has to put −inf into the scores."""),
    also=(
        lambda scores, visible: masked_softmax(scores, visible).softmax(dim=-1),
        lambda scores, visible: masked_softmax(masked_softmax(scores, visible), visible),
        lambda scores, visible: (scores.softmax(dim=-1) * visible).softmax(dim=-1),
    ),
)
def _softmax_twice(scores: Tensor, visible: Tensor) -> Tensor:
    return masked_softmax(scores.softmax(dim=-1), visible)


def _lowered_by(evidence: Evidence) -> float | None:
    """By how much hidden scores were made smaller, read off the weights in double precision; None
    if that isn't what was done.
    """
    mine = np.asarray(evidence.yours("precise"), dtype=np.float64)
    scores, visible = evidence.inputs["scores"], evidence.inputs["visible"]
    if mine.shape != scores.shape or not (mine > 0).all():
        return None
    shift = np.log(mine) - scores
    rows = (~visible).any(axis=-1)  # every row has something to see
    seen = np.where(visible, shift, 0).sum(-1)[rows] / visible[rows].sum(-1)
    hidden = np.where(visible, 0, shift).sum(-1)[rows] / (~visible[rows]).sum(-1)
    by = seen - hidden
    level = np.where(visible, shift, shift + by.mean())
    if np.ptp(by) > 1e-4 or np.ptp(level, axis=-1).max() > 1e-4 or by.mean() < 1e-3:
        return None
    return float(by.mean())


@mistake(
    "You make hidden positions count less, but they still count.",
    lambda e: unwrapped(f"""Your weights are those of scores in which the hidden ones are
    {number(_lowered_by(e) or 0.0)} lower than given, compared with the visible ones.
    {_hidden_share(e)} Adding the mask as a number isn't enough: what is hidden needs −inf."""),
    FILL,
    recognized=lambda e: _lowered_by(e) is not None,
)
def _lowered(scores: Tensor, visible: Tensor) -> Tensor:
    return (scores + visible).softmax(dim=-1)


def _emptied(evidence: Evidence) -> Finding | None:
    """All weights 0 in rows that see something."""
    mine, visible = evidence.yours("weights"), evidence.inputs["visible"]
    if mine.shape != visible.shape or mine.any(-1).all():
        return None
    b, t = (int(i) for i in np.argwhere(~mine.any(-1))[0])
    return Finding(
        "emptied",
        "You give no weight at all in a row that sees something.",
        unwrapped(f"""In sample {b}, row {t} may see {positions(visible[b, t])}, but your weights
        there are all 0. If you replaced NaN by 0, where does it come from? −∞ − (−∞) and 0 / 0 make
        it, and a mean or a sum over scores of −∞ is −∞ itself."""),
        SOFTMAX,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    mine, right = evidence.yours("weights"), evidence.right("weights")
    if mine.shape != right.shape or evidence.same("weights"):
        return None
    b, t, _ = np.unravel_index(int(np.abs(mine - right).argmax()), right.shape)
    visible = evidence.inputs["visible"][b, t]
    yours, wanted = rows_apart(mine[b, t][visible], right[b, t][visible])
    return Finding(
        "other-weights",
        "Your weights aren't the softmax of what is visible.",
        unwrapped(f"""In sample {b}, row {t} may see {positions(visible)}, with the scores
        {row(evidence.inputs["scores"][b, t][visible])}. Their softmax is
        {wanted}, but yours is {yours}."""),
        SOFTMAX,
    )


TASK = Task(
    "Masked softmax",
    masked_softmax,
    SOFTMAX,
    (
        Part(
            "Weights are in proportion to e^score, and 0 where hidden.",
            2,
            _right_proportions,
        ),
        Part("Every row sums to 1.", 2, matches("weights", "alone", "far", "deep")),
    ),
    properties=(
        right_but_alone("Position 0 may see itself, so its weight is 1.", SOFTMAX),
        _sees_what_is_hidden,
        _emptied,
        rows_sum_to_one("weights", SOFTMAX),
        scores_times_a_factor(
            "weights",
            lambda e: np.where(e.inputs["visible"], e.inputs["scores"], -np.inf),
            SOFTMAX,
        ),
        _worked_out,
    ),
    cases=("weights",),
    steps={
        "what you hide": Step(
            "`visible` is True where a position may be seen, and all others are hidden.", WRITES
        ),
        "the masked scores": Step(
            "e^−∞ is 0, so a score of −∞ gets no weight, whatever the other scores are.", FILL
        ),
        "your weights": Step(
            "Each row is an average over what it may see, so the softmax runs along each row."
        ),
    },
)
