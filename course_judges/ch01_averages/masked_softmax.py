"""Judging 01/masked-softmax: a softmax over what may be seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch01_averages.sections import FILL, KERNEL, SIDES, SOFTMAX, WRITES
from course_judges.ch01_averages.weights import right_but_alone
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import NEGLIGIBLE, rows_sum_to_one, scores_times_a_factor
from course_judges.wording import listed, number, row, unwrapped, word
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def masked_softmax(scores: Tensor, visible: Tensor) -> Tensor:
    """A right answer to 01/masked-softmax: (B, T, T), (B, T, T) → (B, T, T)."""
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)


def _fill_read_off(evidence: Evidence) -> float | None:
    """The number that stood in the hidden places, worked out from the weights.

    Two weights of a row have the quotient of their exponentials, so a hidden one's score is that
    of a visible one plus the difference of their logarithms. None if the hidden places do not
    share one finite number.
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
    return unwrapped(f"""Row 0 of sample 0 may see position{"s" if visible.sum() > 1 else ""}
    {listed(np.flatnonzero(visible))}; your weights are {row(mine)}.""")


def _hidden_share(evidence: Evidence) -> str:
    mine, visible = np.asarray(evidence.yours("weights")), evidence.inputs["visible"]
    share = np.where(visible, 0, mine).sum() / mine.sum()
    percent = "100" if share > 0.995 else number(100 * share, 2)
    return f"{percent} % of all weight lies on hidden positions."


def _an_unseen_future(evidence: Evidence) -> str:
    """A later position that may be seen, in words."""
    b, t, s = (int(i) for i in np.argwhere(np.triu(evidence.inputs["visible"], 1))[0])
    given = number(evidence.yours("weights")[b, t, s])
    return f"In sample {b}, row {t} may see position {s}, and you give it the weight {given}."


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
        "Hidden positions have weight.",
        f"In sample {b}, row {t} may not see position {s}, but gives it {number(mine[b, t, s])}. "
        f"{_hidden_share(evidence)} {_hidden_alike(evidence)}".strip(),
        FILL,
    )


def _hidden_alike(evidence: Evidence) -> str:
    """What the hidden positions that have weight have in common; empty if nothing."""
    visible = evidence.inputs["visible"]
    seen = ~visible & (np.abs(evidence.yours("weights")) > NEGLIGIBLE)
    # A weight may be negligible although nothing hides it.
    told = ~visible & (evidence.inputs["scores"] > -20) & (evidence.inputs["scores"] < 20)
    told &= ~(evidence.inputs["scores"] > 20).any(-1, keepdims=True)
    told &= (evidence.inputs["scores"] > -20).all(-1, keepdims=True)
    ones = np.ones_like(visible)
    for where, words in (
        (ones & np.eye(visible.shape[-1], dtype=bool), "the positions themselves, s = t"),
        (np.tril(ones, -1), "positions of the past, s < t"),
        (np.tril(ones), "positions up to t, s ≤ t"),
        (np.triu(ones, 1), "positions of the future, s > t"),
        (ones & visible.any(axis=0), "positions that some other sample may see"),
    ):
        if np.array_equal(seen & told, where & told):
            return f"These are {words}."
    return ""


@mistake(
    "Your mask is the wrong way round: you hid what may be seen.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} `visible` is True where you may look, and
    `masked_fill` writes where its mask is True: what has to be hidden is `~visible`."""),
    WRITES,
    also=(
        lambda scores, visible: (scores - 1e9 * visible.to(scores.dtype)).softmax(dim=-1),
        lambda scores, visible: scores.masked_fill(visible, -1e9).softmax(dim=-1),
        lambda scores, visible: masked_softmax(scores, ~visible).nan_to_num(0.0),
        lambda scores, visible: scores.softmax(dim=-1).masked_fill(visible, 0),
    ),
)
def _inverted_mask(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(visible, -torch.inf).softmax(dim=-1)


@mistake(
    "Your mask has no effect: these are the weights without any mask.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} If you did call `masked_fill`: it returns a
    new tensor and leaves the old one as it was, so keep what it returns."""),
    WRITES,
)
def _dropped_result(scores: Tensor, visible: Tensor) -> Tensor:
    scores.masked_fill(~visible, -torch.inf)
    return scores.softmax(dim=-1)


@mistake(
    lambda e: unwrapped(f"""You filled the hidden places with {number(_fill_read_off(e) or 0.0)},
    which is too close to the scores."""),
    lambda e: (
        f"{_hidden_share(e)} "
        + (
            "(−1e-9 is −0.000000001; −1e9 is a large number.) "
            if abs(_fill_read_off(e) or 0.0) < 1e-3
            else ""
        )
        + "Beside any finite score −inf gets a weight of exactly 0; a large negative number does "
        "so only while other scores are far above it."
    ),
    FILL,
    recognized=_shows_tiny_fill,
)
def _tiny_fill(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -1e-9).softmax(dim=-1)


@families.zero_mask(lambda e: f"{_row_of_the_sample(e)} {_hidden_share(e)}", FILL)
def _zero_mask(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, 0).softmax(dim=-1)


def _hidden_zero(evidence: Evidence) -> str:
    zero = (evidence.inputs["scores"] == 0.0) & evidence.inputs["visible"]
    b, t, s = (int(i) for i in np.argwhere(zero)[0])
    return unwrapped(f"""In sample {b} row {t} may see position {s}, whose score is 0. Your weight
    there is {number(evidence.yours("weights")[b, t, s])}; expected
    {number(evidence.right("weights")[b, t, s])}.""")


@families.zeros_hidden(_hidden_zero, FILL, cases=("weights", "precise"))
def _zeros_hidden(scores: Tensor, visible: Tensor) -> Tensor:
    seen = scores * visible
    return seen.masked_fill(seen == 0, -torch.inf).softmax(dim=-1)


@mistake(
    "The sign of your infinity is wrong.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("weights")).sum())} of {e.yours("weights").size}
    weights are NaN: e^(+inf) is infinite, and inf / inf is not a number. What is to vanish needs
    −inf."""),
    FILL,
)
def _plus_infinity(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, torch.inf).softmax(dim=-1)


@families.masked_after_softmax(
    lambda e: f"Row 0 of sample 0 sums to {number(_sample(e)[0].sum())}."
)
def _masked_after_softmax(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.softmax(dim=-1) * visible


@mistake(
    "All visible positions count the same; the scores have no effect.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} The chapter's scores were all 0, and equal
    scores make equal weights. With these scores, the row is {row(e.right("weights")[0, 0])}."""),
    KERNEL,
)
def _scores_ignored(scores: Tensor, visible: Tensor) -> Tensor:
    return torch.zeros_like(scores).masked_fill(~visible, -torch.inf).softmax(dim=-1)


@families.softmax_over_queries(
    lambda e: unwrapped(f"""In sample 0, column 0 of your weights sums to
    {number(np.asarray(e.yours("weights"))[0, :, 0].sum())}, row 0 to
    {number(_sample(e)[0].sum())}."""),
    SIDES,
)
def _softmax_over_queries(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-2)


@mistake(
    "Your softmax runs over the samples of the batch.",
    lambda e: unwrapped(f"""Row 0 of sample 0 is {row(_sample(e)[0])}: its weights compete with
    those of the other {word(e.number("B") - 1)} samples, not with each other. `dim=-1` runs along a
    row; a softmax of three dimensions without `dim` takes `dim=0`."""),
    SIDES,
    also=(
        lambda scores, visible: (
            scores.masked_fill(~visible, -torch.inf).softmax(dim=0).nan_to_num(0.0)
        ),
    ),
)
def _softmax_over_batch(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=0)


def _mask_of(change: Callable[[Tensor], Tensor], empty: float | None = None) -> Any:
    """A right softmax of another mask; `empty` stands in a row that this mask hides wholly."""

    def answer(scores: Tensor, visible: Tensor) -> Tensor:
        weights = masked_softmax(scores, change(visible).expand_as(visible))
        return weights if empty is None else weights.nan_to_num(empty)

    return answer


@mistake(
    "You returned scores, not weights: the softmax is missing, or its result was not kept.",
    lambda e: (
        unwrapped(f"""{_row_of_the_sample(e)} Weights lie between 0 and 1, and each row sums to
    1. `softmax` returns a new tensor and leaves the old one as it was.""")
    ),
    also=(
        lambda scores, visible: scores.masked_fill(~visible, -1e9),
        lambda scores, visible: scores * visible,
    ),
)
def _scores_returned(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -torch.inf)


@mistake(
    "You returned logarithms of the weights.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} `log_softmax` is the logarithm of a softmax:
    every row of its exponentials sums to 1, and −∞ stands for 0."""),
)
def _logarithms(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -torch.inf).log_softmax(dim=-1)


@mistake(
    "You took the softmax of the negated scores: the largest score gets the smallest weight.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} With the scores as they are, the row is
    {row(e.right("weights")[0, 0])}."""),
)
def _negated_scores(scores: Tensor, visible: Tensor) -> Tensor:
    return masked_softmax(-scores, visible)


@mistake(
    "You filled the hidden places after the softmax: they hold −∞ and not 0.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} A score of −inf becomes a weight of 0 by the
    exponential in the softmax: fill first, then take the softmax."""),
    FILL,
)
def _filled_after_softmax(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.softmax(dim=-1).masked_fill(~visible, -torch.inf)


@mistake(
    "All your weights are NaN.",
    unwrapped("""One NaN in a row of scores makes all of its weights NaN. Multiplying a mask of 0
    and 1 by −inf does that, since 0 · ∞ is NaN, and so does −∞ − (−∞). To put −inf where something
    is hidden and nothing elsewhere, use `masked_fill` or `torch.where`."""),
    FILL,
)
def _nothing_but_nan(scores: Tensor, visible: Tensor) -> Tensor:
    return (scores + ~visible * -torch.inf).softmax(dim=-1)


@mistake(
    "You hid the future, and what `visible` hides was not asked for.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} {_hidden_share(e)} This mask is no triangle, and
    each sample has one of its own: take `visible` in place of a `tril`."""),
)
def _triangle_for_visible(scores: Tensor, visible: Tensor) -> Tensor:
    return masked_softmax(scores, torch.ones_like(visible).tril())


def _turned(visible: Tensor) -> Tensor:
    return visible.transpose(1, 2)


_mask_turned = mistake(
    "Your mask is turned: you exchanged its rows and columns.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} You let row t look where *column* t of `visible`
    is True. `visible` and the scores have the same order, (sample, row t, column s), so nothing has
    to be exchanged."""),
    SIDES,
    also=(_mask_of(_turned, 0.0),),
)(_mask_of(_turned))


_causal_too = mistake(
    "You hid the future as well; `visible` alone says what may be seen.",
    lambda e: unwrapped(f"""{_an_unseen_future(e)} Not every mask is a triangle: this one may show
    later positions, too."""),
    also=(
        _mask_of(torch.tril, 0.0),
        # A large negative number for −inf leaves equal weights where all is hidden.
        lambda scores, visible: _mask_of(torch.tril, 1 / scores.shape[-1])(scores, visible),
    ),
)(_mask_of(torch.tril))


_mask_of_the_first_sample = mistake(
    "You used the mask of sample 0 for all samples.",
    lambda e: unwrapped(f"""{_hidden_share(e)} `visible` has shape {e.inputs["visible"].shape}: each
    of the {word(e.number("B"))} samples has a mask of its own, so `visible[0]` is too little."""),
    WRITES,
)(_mask_of(lambda visible: visible[:1]))


@mistake(
    "You took one softmax for many rows; each row is to sum to 1.",
    lambda e: unwrapped(f"""Row 0 of sample 0 sums to {number(_sample(e)[0].sum())}, and all weights
    of sample 0 together to {number(np.asarray(e.yours("weights"))[0].sum())}. Picking what is
    visible with one index, or flattening, puts several rows into one line: `dim=-1` of
    (B, T, T) runs along each row."""),
    SIDES,
    also=(
        lambda scores, visible: (
            scores.masked_fill(~visible, -torch.inf).flatten(1).softmax(dim=1).view_as(scores)
        ),
    ),
)
def _one_softmax_for_all(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -torch.inf).flatten().softmax(dim=0).view_as(scores)


def _powers(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.exp() * visible


@mistake(
    "You returned the powers e^score; they are not divided by their sum yet.",
    lambda e: unwrapped(f"""Row 0 of sample 0 sums to {number(_sample(e)[0].sum())}; divide each row
    by its own sum, `sum(dim=-1, keepdim=True)`."""),
)
def _powers_alone(scores: Tensor, visible: Tensor) -> Tensor:
    return _powers(scores, visible)


@mistake(
    "You divided by sums that belong to other rows: a `keepdim=True` is missing.",
    lambda e: unwrapped(f"""Row 0 of sample 0 sums to {number(_sample(e)[0].sum())}. Sums over
    `dim=-1` without it have shape ({e.number("B")}, {e.number("T")}), and have to be put in a
    column, (B, T, 1), so that each row is divided by its own."""),
    SIDES,
    also=(
        lambda scores, visible: (
            _powers(scores, visible) / _powers(scores, visible).sum(-1)[:, None]
        ),
    ),
)
def _divisors_along_a_row(scores: Tensor, visible: Tensor) -> Tensor:
    powers = _powers(scores, visible)
    return powers / powers.sum(-1, keepdim=True).transpose(1, 2)


@mistake(
    "You took a softmax of weights: a second one, after the first.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} With one softmax, of the scores that may be
    seen, the row is {row(e.right("weights")[0, 0])}. To fill in −inf before it is all that the mask
    has to do."""),
    also=(
        lambda scores, visible: masked_softmax(scores, visible).softmax(dim=-1),
        lambda scores, visible: masked_softmax(masked_softmax(scores, visible), visible),
        lambda scores, visible: (scores.softmax(dim=-1) * visible).softmax(dim=-1),
    ),
)
def _softmax_twice(scores: Tensor, visible: Tensor) -> Tensor:
    return masked_softmax(scores.softmax(dim=-1), visible)


@mistake(
    "You multiplied scores by −inf: a negative score becomes +∞.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("weights")).sum())} of {e.yours("weights").size}
    weights are NaN: a row with +∞ has no softmax. `masked_fill` and `torch.where` put −inf in the
    place of a score, whatever its sign is."""),
    FILL,
)
def _scores_times_infinity(scores: Tensor, visible: Tensor) -> Tensor:
    return torch.where(visible, scores, scores * -torch.inf).softmax(dim=-1)


def _rows_together(evidence: Evidence) -> Finding | None:
    """One sum of 1 for several rows, whose weights have the right proportions or nearly so."""
    mine = np.asarray(evidence.yours("weights"), dtype=np.float64)
    rows = mine.sum(-1)
    if (
        mine.ndim != 3
        or not np.isfinite(mine).all()
        or not (rows > 0).all()
        or np.allclose(rows, 1, atol=1e-3)
    ):
        return None
    for axes, words in (
        ((0, 1, 2), "All your weights together sum to 1"),
        ((1, 2), "All weights of a sample together sum to 1"),
        ((0, 2), "All rows with the same t, one a sample, together sum to 1"),
    ):
        if np.allclose(mine.sum(axis=axes), 1, atol=1e-3):
            return Finding(
                "rows-together",
                "Several rows share a sum of 1; each row is to sum to 1.",
                f"{words}, and row 0 of sample 0 to {number(mine[0, 0].sum())}. Picking what is "
                "visible with one index puts it into one line, and a sum without `dim=-1` adds up "
                "more than a row.",
                SIDES,
            )
    return None


def _emptied(evidence: Evidence) -> Finding | None:
    """All weights 0 in rows that see something."""
    mine, visible = evidence.yours("weights"), evidence.inputs["visible"]
    if mine.shape != visible.shape or mine.any(-1).all():
        return None
    empty = ~mine.any(-1)
    b, t = (int(i) for i in np.argwhere(empty)[0])
    which = ""
    if np.array_equal(empty, ~visible.all(-1)):
        which = " So are all rows in which something is hidden, and no others."
    return Finding(
        "emptied",
        "A row that sees something is all 0.",
        f"In sample {b}, row {t} may see position{'s' if visible[b, t].sum() > 1 else ''} "
        f"{listed(np.flatnonzero(visible[b, t]))}, and your weights there are all 0.{which} If NaN "
        "was replaced by 0: where does it come from? −∞ − (−∞) and 0 / 0 make it, and a mean or a "
        "sum over scores of −∞ is −∞ itself.",
        SOFTMAX,
    )


def _something_added(evidence: Evidence) -> Finding | None:
    """Rows that are too small as if one number had been added to the sums of their powers."""
    mine, right = evidence.yours("weights"), evidence.right("weights")
    if mine.shape != right.shape:
        return None
    held = np.asarray(mine, dtype=np.float64).sum(-1)
    powers = np.where(evidence.inputs["visible"], np.exp(evidence.inputs["scores"]), 0).sum(-1)
    told = held < 0.999
    if not told.any() or (held <= 0).any() or (held > 1 + 1e-3).any():
        return None
    added = powers[told] * (1 / held[told] - 1)
    if np.ptp(added) > 0.05 * added.max():
        return None
    b, t = (int(i) for i in np.argwhere(told)[held[told].argmin()])
    return Finding(
        "something-added",
        "Your rows are divided by more than the sum of their powers.",
        f"In sample {b}, row {t} sums to {number(held[b, t])}: as if {number(added.mean())} had "
        f"been added to the sum of its powers, which is {number(powers[b, t])}. Every row has "
        "something to see, so its sum is never 0: nothing has to be added.",
        SOFTMAX,
    )


def _lowered(evidence: Evidence) -> Finding | None:
    """Hidden scores that were made smaller by one number, read off the weights in double
    precision.
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
    return Finding(
        "lowered",
        "What is hidden counts less, but it counts.",
        f"Your weights are those of scores of which the hidden ones are "
        f"{number(float(by.mean()))} lower than given, beside the visible ones. "
        f"{_hidden_share(evidence)} To add the mask as a number is not enough: what is hidden "
        "needs −inf.",
        FILL,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    mine, right = evidence.yours("weights"), evidence.right("weights")
    if mine.shape != right.shape or evidence.same("weights"):
        return None
    b, t, _ = np.unravel_index(int(np.abs(mine - right).argmax()), right.shape)
    visible = evidence.inputs["visible"][b, t]
    return Finding(
        "other-weights",
        "Your weights are not the softmax of what is visible.",
        f"In sample {b}, row {t} may see position{'s' if visible.sum() > 1 else ''} "
        f"{listed(np.flatnonzero(visible))}, with the scores "
        f"{row(evidence.inputs['scores'][b, t][visible])}: their softmax is "
        f"{row(right[b, t][visible])}. Yours is {row(mine[b, t][visible])}.",
        SOFTMAX,
    )


TASK = Task(
    "Masked softmax",
    masked_softmax,
    SOFTMAX,
    (
        Part(
            "Hidden positions get weight 0, visible ones weights in proportion to e^score.",
            2,
            _right_proportions,
        ),
        Part("On top of that, every row sums to 1.", 2, matches("weights", "alone")),
    ),
    properties=(
        right_but_alone("Position 0 may see itself, so its weight is 1.", SOFTMAX),
        _lowered,
        _sees_what_is_hidden,
        _rows_together,
        _emptied,
        _something_added,
        rows_sum_to_one("weights", SOFTMAX),
        scores_times_a_factor(
            "weights",
            lambda e: np.where(e.inputs["visible"], e.inputs["scores"], -np.inf),
            SOFTMAX,
        ),
        _worked_out,
    ),
    cases=("weights",),
)
