"""Judging 01/masked-softmax: a softmax over what may be seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch01_averages.sections import FILL, KERNEL, SIDES, SOFTMAX, WRITES
from course_judges.ch01_averages.weights import positions, right_but_alone
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import NEGLIGIBLE, rows_sum_to_one, scores_times_a_factor
from course_judges.wording import number, row, rows_apart, unwrapped, word
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def masked_softmax(scores: Tensor, visible: Tensor) -> Tensor:
    """A right answer to 01/masked-softmax: (B, T, T), (B, T, T) → (B, T, T)."""
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)


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
        {number(mine[b, t, s])}. {_hidden_share(evidence)}
        {_hidden_alike(evidence) or _hidden_weights(evidence)}""").strip(),
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
        (ones & (np.arange(visible.shape[-1]) == 0), "all position 0, the first column"),
        (ones & (np.arange(visible.shape[-1])[::-1] == 0), "all in the last column"),
    ):
        if np.array_equal(seen & told, where & told):
            return f"These are {words}."
    return ""


def _hidden_weights(evidence: Evidence) -> str:
    """What can be said of the weights of hidden positions, and of those of visible ones."""
    mine, right = evidence.yours("weights"), evidence.right("weights")
    visible, scores = evidence.inputs["visible"], evidence.inputs["scores"]
    counts = visible.sum(-1)
    packed = np.zeros_like(right)
    for place in np.ndindex(counts.shape):
        packed[place][: counts[place]] = right[place][visible[place]]
    if np.allclose(mine, packed, atol=1e-4):
        return unwrapped("""Your rows hold the right weights, but packed at the beginning. The
        weight of position s belongs in column s.""")
    if np.allclose(mine[visible], right[visible], atol=1e-4):
        return "Your visible weights are right, so what is left is to set all others to 0."
    rows = (np.abs(scores) < 20).all(-1) & (counts < visible.shape[-1])
    high = np.where(visible, -np.inf, mine)[rows].max(-1)
    low = np.where(visible, np.inf, mine)[rows].min(-1)
    if (high - low < 1e-6).all() and (low > NEGLIGIBLE).all():
        return "In each row, all hidden positions have the same weight."
    return ""


@mistake(
    "Your mask is the wrong way round, so you hid what may be seen.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} `visible` is True where you may look, but
    `masked_fill` writes where its mask is True, so what has to be hidden is `~visible`."""),
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
    "Your mask has no effect, so these are the weights without any mask.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} If you did call `masked_fill`, keep what it
    returns, because it makes a new tensor and leaves the old one as it was."""),
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


@families.zero_mask(lambda e: f"{_row_of_the_sample(e)} {_hidden_share(e)}", FILL)
def _zero_mask(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, 0).softmax(dim=-1)


def _hidden_zero(evidence: Evidence) -> str:
    zero = (evidence.inputs["scores"] == 0.0) & evidence.inputs["visible"]
    b, t, s = (int(i) for i in np.argwhere(zero)[0])
    return unwrapped(f"""In sample {b}, row {t} may see position {s}, whose score is 0. Your weight
    there is {number(evidence.yours("weights")[b, t, s])}, but it should be
    {number(evidence.right("weights")[b, t, s])}.""")


@families.zeros_hidden(_hidden_zero, FILL, cases=("weights", "precise"))
def _zeros_hidden(scores: Tensor, visible: Tensor) -> Tensor:
    seen = scores * visible
    return seen.masked_fill(seen == 0, -torch.inf).softmax(dim=-1)


@mistake(
    "You probably filled the hidden places with +inf, but what should vanish needs −inf.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("weights")).sum())} of {e.yours("weights").size}
    weights are NaN, because e^(+inf) is infinite, and inf / inf is not a number."""),
    FILL,
)
def _plus_infinity(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, torch.inf).softmax(dim=-1)


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


def _to_the_largest(scores: Tensor, visible: Tensor) -> Tensor:
    weights = scores.softmax(dim=-1) * visible
    best = scores.masked_fill(~visible, -torch.inf).argmax(dim=-1, keepdim=True)
    return weights.scatter_add(-1, best, 1 - weights.sum(dim=-1, keepdim=True))


@mistake(
    "You gave the weight of hidden positions to the visible ones, but not in proportion.",
    _dealt_out,
    also=(_to_the_largest,),
)
def _hidden_share_dealt_out(scores: Tensor, visible: Tensor) -> Tensor:
    weights = scores.softmax(dim=-1) * visible
    missing = 1 - weights.sum(dim=-1, keepdim=True)
    return weights + missing * visible / visible.sum(dim=-1, keepdim=True)


@mistake(
    "All visible positions count the same, because your scores have no effect.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} The chapter's scores were all 0, and equal
    scores make equal weights, but with these scores the row should be
    {row(e.right("weights")[0, 0])}."""),
    KERNEL,
)
def _scores_ignored(scores: Tensor, visible: Tensor) -> Tensor:
    return torch.zeros_like(scores).masked_fill(~visible, -torch.inf).softmax(dim=-1)


@families.softmax_over_queries(
    lambda e: unwrapped(f"""In sample 0, column 0 of your weights sums to
    {number(np.asarray(e.yours("weights"))[0, :, 0].sum())}, but row 0 sums to
    {number(_sample(e)[0].sum())}."""),
    SIDES,
)
def _softmax_over_queries(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-2)


@mistake(
    "Your softmax runs over the samples of the batch.",
    lambda e: unwrapped(f"""Row 0 of sample 0 is {row(_sample(e)[0])}, because its weights compete
    with those of other samples instead of with each other. `dim=-1` runs along a row, but a softmax
    of three dimensions without `dim` takes `dim=0`."""),
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
    """A right softmax of another mask; `empty` fills rows that this mask hides completely."""

    def answer(scores: Tensor, visible: Tensor) -> Tensor:
        weights = masked_softmax(scores, change(visible).expand_as(visible))
        return weights if empty is None else weights.nan_to_num(empty)

    return answer


@mistake(
    "You returned scores, not weights: the softmax is missing, or you didn't keep its result.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} Weights lie between 0 and 1, and each row sums
    to 1. `softmax` returns a new tensor and leaves the old one as it was."""),
    also=(
        lambda scores, visible: scores.masked_fill(~visible, -1e9),
        lambda scores, visible: scores * visible,
    ),
)
def _scores_returned(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -torch.inf)


@mistake(
    "You returned the logarithms of the weights.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} `log_softmax` is the logarithm of a softmax.
    Every row of its exponentials sums to 1, and −∞ is the logarithm of 0."""),
)
def _logarithms(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -torch.inf).log_softmax(dim=-1)


@mistake(
    "You took the softmax of the negated scores, so the largest score gets the smallest weight.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} With the scores as they are, the row should be
    {row(e.right("weights")[0, 0])}."""),
)
def _negated_scores(scores: Tensor, visible: Tensor) -> Tensor:
    return masked_softmax(-scores, visible)


@mistake(
    "You filled the hidden places after the softmax, so they hold −∞ instead of 0.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} It's the exponential in the softmax that turns a
    score of −inf into a weight of 0, so fill first, then take the softmax."""),
    FILL,
)
def _filled_after_softmax(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.softmax(dim=-1).masked_fill(~visible, -torch.inf)


@mistake(
    "All your weights are NaN.",
    unwrapped("""One NaN in a row of scores makes all of its weights NaN. If you multiply a mask of
    0 and 1 by −inf, you get one because 0 · ∞ is NaN, and −∞ − (−∞) makes one, too. To put −inf
    where something is hidden and nothing elsewhere, use `masked_fill` or `torch.where`."""),
    FILL,
)
def _nothing_but_nan(scores: Tensor, visible: Tensor) -> Tensor:
    return (scores + ~visible * -torch.inf).softmax(dim=-1)


@mistake(
    "You hid the future instead of what `visible` hides.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} {_hidden_share(e)} This mask is no triangle, and
    each sample has its own, so use `visible` instead of a `tril`."""),
)
def _triangle_for_visible(scores: Tensor, visible: Tensor) -> Tensor:
    return masked_softmax(scores, torch.ones_like(visible).tril())


def _turned(visible: Tensor) -> Tensor:
    return visible.transpose(1, 2)


_mask_turned = mistake(
    "You exchanged the rows and columns of the mask.",
    lambda e: unwrapped(f"""{_row_of_the_sample(e)} You let row t look where column t of `visible`
    is True. `visible` and the scores have the same order, (sample, row t, column s), so don't
    exchange anything."""),
    SIDES,
    also=(_mask_of(_turned, 0.0),),
)(_mask_of(_turned))


_causal_too = mistake(
    "You hid the future as well, but `visible` alone says what may be seen.",
    lambda e: unwrapped(f"""{_an_unseen_future(e)} Not every mask is a triangle, and this one may
    show later positions, too."""),
    also=(
        _mask_of(torch.tril, 0.0),
        # A large negative number for −inf leaves equal weights where all is hidden.
        lambda scores, visible: _mask_of(torch.tril, 1 / scores.shape[-1])(scores, visible),
    ),
)(_mask_of(torch.tril))


_mask_of_the_first_sample = mistake(
    "You used the mask of sample 0 for all samples.",
    lambda e: unwrapped(f"""{_hidden_share(e)} `visible` has shape {e.inputs["visible"].shape}, so
    each of the {word(e.number("B"))} samples has its own mask, and `visible[0]` is only the
    first."""),
    WRITES,
)(_mask_of(lambda visible: visible[:1]))


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


def _powers(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.exp() * visible


@mistake(
    "You returned the powers e^score, but you haven't divided them by their sum yet.",
    lambda e: unwrapped(f"""Row 0 of sample 0 sums to {number(_sample(e)[0].sum())}, so divide each
    row by its own sum, `sum(dim=-1, keepdim=True)`."""),
)
def _powers_alone(scores: Tensor, visible: Tensor) -> Tensor:
    return _powers(scores, visible)


@mistake(
    "You divided by sums that belong to other rows, probably because a `keepdim=True` is missing.",
    lambda e: unwrapped(f"""Row 0 of sample 0 sums to {number(_sample(e)[0].sum())}. Without
    `keepdim=True`, sums over `dim=-1` have shape ({e.number("B")}, {e.number("T")}), but they have
    to be a column, (B, T, 1), so that each row is divided by its own."""),
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


@mistake(
    "You multiplied scores by −inf, so a negative score became +∞.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("weights")).sum())} of {e.yours("weights").size}
    weights are NaN, because a row with +∞ has no softmax. `masked_fill` and `torch.where` put −inf
    where a score was, whatever its sign."""),
    FILL,
)
def _scores_times_infinity(scores: Tensor, visible: Tensor) -> Tensor:
    return torch.where(visible, scores, scores * -torch.inf).softmax(dim=-1)


@mistake(
    "You multiplied hidden scores by a large negative number, so negative ones became very large.",
    lambda e: unwrapped(f"""{_hidden_share(e)} A score of −0.5 times −1e9 is 5e8. Replace hidden
    scores instead, whatever they are: `masked_fill(~visible, -torch.inf)`."""),
    FILL,
    also=(
        lambda scores, visible: torch.where(visible, scores, scores * -1e4).softmax(dim=-1),
        lambda scores, visible: torch.where(visible, scores, scores * -100).softmax(dim=-1),
    ),
)
def _hidden_multiplied(scores: Tensor, visible: Tensor) -> Tensor:
    return torch.where(visible, scores, scores * -1e9).softmax(dim=-1)


@mistake(
    "Your weights are right, but you exchanged their rows and columns at the end.",
    lambda e: unwrapped(f"""Column 0 of sample 0 sums to
    {number(np.asarray(e.yours("weights"))[0, :, 0].sum())}, but it's row 0 that should sum to 1,
    and it sums to {number(_sample(e)[0].sum())}."""),
    SIDES,
)
def _weights_turned(scores: Tensor, visible: Tensor) -> Tensor:
    return masked_softmax(scores, visible).transpose(1, 2)


_OTHER_MASKS: tuple[tuple[str, Callable[[Array], Any]], ...] = (
    ("row 0 of each sample's mask for all of its rows", lambda v: v[:, :1]),
    ("the last row of each sample's mask for all of its rows", lambda v: v[:, -1:]),
    ("column 0 of each sample's mask for all of its columns", lambda v: v[:, :, :1]),
    ("the last column of each sample's mask for all of its columns", lambda v: v[:, :, -1:]),
    ("the diagonal of the mask for all rows", lambda v: np.diagonal(v, axis1=1, axis2=2)[:, None]),
    ("the mask of sample 0 for all samples", lambda v: v[:1]),
    ("the mask of the last sample for all samples", lambda v: v[-1:]),
    ("one mask for all samples, with what any of them may see", lambda v: v.any(0, keepdims=True)),
    ("one mask for all samples, with what all of them may see", lambda v: v.all(0, keepdims=True)),
    ("one mask for all rows, with what any row may see", lambda v: v.any(1, keepdims=True)),
    ("one mask for all rows, with what all rows may see", lambda v: v.all(1, keepdims=True)),
    ("a mask that shows past positions even if `visible` doesn't", lambda v: v | _past(v)),
    ("a mask that shows each position itself even if `visible` doesn't", lambda v: v | _itself(v)),
    ("a mask that hides each position from itself", lambda v: v & ~_itself(v)),
    ("a mask that hides the past", lambda v: v & ~(_past(v) & ~_itself(v))),
    ("a mask that shows what row t or column t of `visible` shows", lambda v: v | _turned_back(v)),
    ("a mask that shows what row t and column t of `visible` show", lambda v: v & _turned_back(v)),
    ("`visible` moved by one column", lambda v: np.roll(v, 1, axis=2)),
    ("`visible` moved back by one column", lambda v: np.roll(v, -1, axis=2)),
    ("`visible` moved by one row", lambda v: np.roll(v, 1, axis=1)),
    ("`visible` moved back by one row", lambda v: np.roll(v, -1, axis=1)),
)


def _past(visible: Array) -> Array:
    return np.tril(np.ones_like(visible))


def _itself(visible: Array) -> Array:
    return np.broadcast_to(np.eye(visible.shape[-1], dtype=bool), visible.shape)


def _turned_back(visible: Array) -> Array:
    return np.swapaxes(visible, 1, 2)


def _another_mask(evidence: Evidence) -> Finding | None:
    """A softmax over what another mask shows; rows that it hides completely don't count."""
    mine, scores = evidence.yours("weights"), evidence.inputs["scores"]
    if mine.shape != scores.shape:
        return None
    visible = evidence.inputs["visible"]
    for words, change in _OTHER_MASKS:
        shown = np.broadcast_to(change(visible), visible.shape)
        rows = np.asarray(shown.any(-1))
        if shown.all() or (shown == visible).all() or rows.sum() < 2:
            continue
        made = _softmax(np.where(shown, scores, -np.inf)[rows])
        empty = np.nan_to_num(mine[~rows])  # NaN, 0 or equal weights where nothing is left
        if not np.allclose(mine[rows], made, rtol=1e-3, atol=1e-5) or np.ptp(empty, -1).any():
            continue
        b, t, s = (int(i) for i in np.argwhere((shown != visible) & rows[..., None])[0])
        may = "may" if visible[b, t, s] else "may not"
        return Finding(
            "another-mask",
            f"You used {words}.",
            unwrapped(f"""In sample {b}, row {t} {may} see position {s}, but you give it the weight
            {number(mine[b, t, s])}. Entry (b, t, s) of `visible` is about this pair alone, so use
            the mask as it is."""),
            WRITES,
        )
    return None


def _softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


_OTHER_FUNCTIONS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("the scores themselves", lambda s: s),
    ("the scores, with 0 for negative ones", lambda s: s.clip(0)),
    ("the absolute values of the scores", np.abs),
    ("the squares of the scores", np.square),
    ("the sigmoids of the scores", lambda s: 1 / (1 + np.exp(-s.clip(-700)))),
    ("log(1 + e^score)", lambda s: np.logaddexp(0, s)),
)


def _another_function(evidence: Evidence) -> Finding | None:
    """Weights in proportion to something else than the exponential of the scores."""
    mine, scores = evidence.yours("weights"), evidence.inputs["scores"]
    visible = evidence.inputs["visible"]
    if mine.shape != scores.shape:
        return None
    b, t, _ = np.unravel_index(int(np.abs(mine - evidence.right("weights")).argmax()), mine.shape)
    seen = visible[b, t]
    given = f"In sample {b}, row {t} may see {positions(seen)}, with the scores " + row(
        scores[b, t][seen]
    )
    ordinary = (np.abs(scores) < 20).all(-1) & (visible.sum(-1) > 1)
    best = np.where(visible, scores, -np.inf).argmax(-1)[..., None] == np.arange(scores.shape[-1])
    if np.allclose(mine[ordinary], best[ordinary], atol=1e-4):
        return Finding(
            "largest-alone",
            "You give all the weight of a row to its largest visible score.",
            f"{given}. A softmax gives the others a share as well: "
            f"{row(evidence.right('weights')[b, t][seen])}.",
            SOFTMAX,
        )
    for words, function in _OTHER_FUNCTIONS:
        made = np.where(visible, function(scores), 0)[ordinary]
        sums = made.sum(-1, keepdims=True)
        told = np.abs(sums[:, 0]) > 0.05
        if not told.any() or not np.allclose(
            mine[ordinary][told], made[told] / sums[told], rtol=1e-3, atol=1e-4
        ):
            continue
        yours, wanted = rows_apart(mine[b, t][seen], evidence.right("weights")[b, t][seen])
        return Finding(
            "another-function",
            f"Your weights are in proportion to {words}, not to e^score.",
            f"{given}. In proportion to e^score, the weights are {wanted}, but yours are {yours}.",
            SOFTMAX,
        )
    return None


_OTHER_SCORES: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("absolute values of the scores", np.abs),
    ("scores in which negative ones became 0", lambda s: s.clip(0)),
    ("squared scores", np.square),
    ("sigmoids of the scores", lambda s: 1 / (1 + np.exp(-s))),
    ("hyperbolic tangents of the scores", np.tanh),
    ("exponentials of the scores", np.exp),
    ("scores without their fractions", np.trunc),
    ("rounded scores", np.round),
    ("scores that were divided by the spread of their row", lambda s: s / s.std(-1)[..., None]),
    (
        "scores that were divided by the spread of their row",
        lambda s: s / s.std(-1, ddof=1)[..., None],
    ),
    (
        "scores that were divided by the length of their row",
        lambda s: s / np.linalg.norm(s, axis=-1, keepdims=True),
    ),
    (
        "scores that were divided by the largest of their row",
        lambda s: s / s.max(-1, keepdims=True),
    ),
    (
        "scores that were divided by the largest absolute value of their row",
        lambda s: s / np.abs(s).max(-1, keepdims=True),
    ),
)


def _softmax_of_other_scores(evidence: Evidence) -> Finding | None:
    """A softmax over what is visible, but of something that was made of the scores."""
    mine, right, scores = evidence.yours("weights"), evidence.right("weights"), _scores(evidence)
    visible = evidence.inputs["visible"]
    if mine.shape != scores.shape or np.allclose(mine, right, atol=1e-4):
        return None
    ordinary = (np.abs(scores) < 20).all(-1)
    for words, made in _OTHER_SCORES:
        with np.errstate(all="ignore"):
            other = _softmax(np.where(visible[ordinary], made(scores[ordinary]), -np.inf))
        if np.allclose(mine[ordinary], other, atol=1e-4):
            place = np.unravel_index(int(np.abs(mine - right).argmax()), mine.shape)
            b, t, _ = (int(one) for one in place)
            seen = visible[b, t]
            yours, wanted = rows_apart(mine[b, t][seen], right[b, t][seen])
            return Finding(
                "softmax-of-other-scores",
                f"You took the softmax of {words}.",
                unwrapped(f"""In sample {b}, row {t} may see {positions(seen)}, with the scores
                {row(scores[b, t][seen])}. Their softmax is {wanted}, but yours is {yours}. Leave
                visible scores as they are."""),
                SOFTMAX,
            )
    far = ~(np.abs(np.where(visible, scores, 0)) < 20).all(-1)
    wrong = np.asarray((np.abs(mine - right) > 1e-4).any(-1))
    if not wrong.any() or (wrong & ~far).any():
        return None
    b, t = (int(i) for i in np.argwhere(wrong)[0])
    seen = visible[b, t]
    if np.ptp(mine[b, t][seen]) > 1e-6:
        return None
    return Finding(
        "cut-off",
        "You give the same weight to different scores far from 0.",
        unwrapped(f"""In sample {b}, row {t} may see {positions(seen)}, with the scores
        {row(scores[b, t][seen], 3)}, and all of them have the weight
        {number(float(mine[b, t][seen][0]))} in your answer. Two things make them equal: a limit
        on scores (`clamp`), or a small number added to powers that are nearly 0."""),
        SOFTMAX,
    )


def _scores(evidence: Evidence) -> Array:
    return np.asarray(evidence.inputs["scores"], dtype=np.float64)


def _rounded(evidence: Evidence) -> Finding | None:
    mine, right = evidence.yours("precise"), evidence.right("precise")
    for digits in range(1, 5):
        if mine.shape == right.shape and np.allclose(mine, right.round(digits), atol=1e-7):
            return Finding(
                "rounded",
                f"You rounded your weights to {word(digits)} digit{'s' * (digits > 1)}.",
                "Rounded weights of a row don't sum to 1 in general. Round only what you print.",
                SOFTMAX,
            )
    return None


def _shifted_together(evidence: Evidence) -> Finding | None:
    """Wrong only in rows that lie far below others."""
    case = next(one for one in ("weights", "far", "deep") if not evidence.same(one))
    mine, right = evidence.yours(case), evidence.right(case)
    scores = evidence.inputs["scores" if case == "weights" else case].astype(np.float64)
    if mine.shape != right.shape:
        return None
    wrong = ~close(mine, right).all(-1)
    most = np.where(evidence.inputs["visible"], scores, -np.inf).max(-1)
    low = (most < scores.max() - 60) | (most < scores.max(-1) - 20)
    if not wrong.any() or (wrong & ~low).any():
        return None
    b, t = (int(i) for i in np.argwhere(wrong)[0])
    yours, wanted = rows_apart(mine[b, t], right[b, t])
    return Finding(
        "far-below",
        "You lose a row whose visible scores lie far below others.",
        unwrapped(f"""Row {t} of sample {b} is {yours} instead of {wanted}. Its visible scores are
        at most {number(float(most[b, t]))}, while the row's largest score is
        {number(scores[b, t].max())}, and the largest of all {number(scores.max())}. If you take the
        exponential yourself, first shift each row by the maximum of what it may see. With one shift
        for all rows, or with a hidden maximum, such powers are nearly 0, and a limit or a small
        number that you add outweighs them. `softmax` does the right shift."""),
        SOFTMAX,
    )


def _filled_by_row(evidence: Evidence) -> Finding | None:
    """Hidden scores that were replaced by a number of their row, read off in double precision."""
    mine = np.asarray(evidence.yours("precise"), dtype=np.float64)
    scores, visible = evidence.inputs["scores"], evidence.inputs["visible"]
    if mine.shape != scores.shape or not (mine >= 0).all():
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(mine)
        offset = np.where(visible, logs - scores, 0).sum(-1) / visible.sum(-1)
        filled = logs - offset[..., None]
    rows = (~visible).any(-1) & (np.abs(scores) < 20).all(-1)
    if not np.isfinite(filled[rows]).all():
        return None
    low = np.where(visible, scores, np.inf).min(-1)
    for words, number_of in (
        ("the smallest score of their row", scores.min(-1)),
        ("the smallest visible score of their row", low),
        ("the mean score of their row", scores.mean(-1)),
        (
            "the mean visible score of their row",
            np.where(visible, scores, 0).sum(-1) / visible.sum(-1),
        ),
        ("their negative, −score", -scores),
    ):
        held = number_of if number_of.ndim == 3 else number_of[..., None]
        off = np.where(visible, 0, filled - held)[rows]
        if np.abs(off).max() < 1e-4:
            return Finding(
                "filled-by-row",
                f"You replaced hidden scores by {words}.",
                f"{_hidden_share(evidence)} A score that is as large as others isn't hidden. What "
                "may not be seen needs −inf, which becomes a weight of 0.",
                FILL,
            )
    return None


def _sums_off(evidence: Evidence) -> Finding | None:
    """Rows of the right proportions with another sum than 1, and what they seem divided by."""
    mine, visible = evidence.yours("weights"), evidence.inputs["visible"]
    if not _right_proportions(evidence):
        return None
    held = np.asarray(mine, dtype=np.float64).sum(-1)
    off = np.abs(held - 1) > 1e-4
    if not off.any():
        return None
    powers = np.where(visible, np.exp(evidence.inputs["scores"]), 0).sum(-1)
    limits, counts = powers[off] / held[off], held * visible.sum(-1)
    why = "Divide each row by the sum of its own visible powers, and by nothing else."
    if (
        off.sum() > 1
        and np.ptp(limits) < 1e-3 * limits.max()
        and not (powers[~off] < limits.max() * 0.999).any()
    ):
        why = unwrapped(f"""All rows whose visible powers sum to less than {number(limits.mean())}
        are divided by {number(limits.mean())} instead. A limit such as `clamp(min=…)` has to be
        smaller than any sum that occurs, and as every row sees something, none is needed.""")
    elif np.allclose(np.square(mine.astype(np.float64)).sum(-1)[powers > 0.1], 1, atol=1e-3):
        why = "The squares of its weights sum to 1, so you divided by the root of a sum of squares."
    elif np.allclose(counts, 1, atol=1e-3):
        why = (
            "That is 1 over the number of positions that it may see, so you divided once too often."
        )
    elif np.allclose(held * visible.shape[-1], 1, atol=1e-3):
        why = f"That is 1 / T, with T = {visible.shape[-1]}, so you divided once too often."
    b, t = (int(i) for i in np.unravel_index(int(np.abs(held - 1).argmax()), held.shape))
    return Finding(
        "rows-do-not-sum-to-one",
        "The rows of your weights don't sum to 1.",
        f"In sample {b}, row {t} sums to {number(float(held[b, t]))}. {why}",
        SOFTMAX,
    )


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
        ((0, 2), "All rows with the same t, one per sample, together sum to 1"),
    ):
        if np.allclose(mine.sum(axis=axes), 1, atol=1e-3):
            return Finding(
                "rows-together",
                "Several of your rows share a sum of 1, but each row should sum to 1.",
                unwrapped(f"""{words}, but row 0 of sample 0 sums to {number(mine[0, 0].sum())}. If
                you pick what is visible with one index, it all ends up in one line, and a sum
                without `dim=-1` adds up more than a row."""),
                SIDES,
            )
    return None


_LOOP = " If you loop, does the loop reach them?"


def _emptied(evidence: Evidence) -> Finding | None:
    """All weights 0 in rows that see something."""
    mine, visible = evidence.yours("weights"), evidence.inputs["visible"]
    if mine.shape != visible.shape or mine.any(-1).all():
        return None
    empty = np.asarray(~mine.any(-1))
    b, t = (int(i) for i in np.argwhere(empty)[0])
    samples, rows = np.arange(len(empty))[:, None], np.arange(empty.shape[1])
    largest = np.where(visible, evidence.inputs["scores"], -np.inf).max(-1)
    which, why = (
        "",
        " If you replaced NaN by 0, where does it come from? "
        + unwrapped("""−∞ − (−∞)
    and 0 / 0 make it, and a mean or a sum over scores of −∞ is −∞ itself."""),
    )
    for fits, words, hint in (
        (~visible.all(-1), "all rows in which something is hidden", ""),
        (visible.sum(-1) == 1, "all rows that see one position", ""),
        (largest < 0, "all rows that see only negative scores", ""),
        ((rows == 0) | (samples < 0), "the first rows of all samples", _LOOP),
        ((rows == rows[-1]) | (samples < 0), "the last rows of all samples", _LOOP),
        ((samples > 0) & (rows >= 0), "all rows of all samples but the first", _LOOP),
    ):
        if np.array_equal(empty, fits):
            which, why = f" So are {words}, and no others.", hint or why
            break
    return Finding(
        "emptied",
        "You give no weight at all in a row that sees something.",
        unwrapped(f"""In sample {b}, row {t} may see {positions(visible[b, t])}, but your weights
        there are all 0.{which}{why}"""),
        SOFTMAX,
    )


def _something_added(evidence: Evidence) -> Finding | None:
    """Rows that are too small, as if one number had been added to the sums of their powers."""
    mine, right = evidence.yours("weights"), evidence.right("weights")
    if mine.shape != right.shape:
        return None
    held = np.asarray(mine, dtype=np.float64).sum(-1)
    powers = np.where(evidence.inputs["visible"], np.exp(evidence.inputs["scores"]), 0).sum(-1)
    told = held < 0.999
    if told.sum() < 2 or (held <= 0).any() or (held > 1 + 1e-3).any():
        return None
    added = powers[told] * (1 / held[told] - 1)
    if np.ptp(added) > 0.05 * added.max():
        # Or to what a softmax over all scores gives to visible positions.
        shares = np.where(evidence.inputs["visible"], _softmax(evidence.inputs["scores"]), 0)
        powers = shares.sum(-1)
        added = powers[told] * (1 / held[told] - 1)
    if np.ptp(added) > 0.05 * added.max():
        return None
    b, t = (int(i) for i in np.argwhere(told)[held[told].argmin()])
    return Finding(
        "something-added",
        "You divide your rows by more than the sum of their powers.",
        unwrapped(f"""In sample {b}, row {t} sums to {number(held[b, t])}, as if
        {number(added.mean())} had been added to what it is divided by, which is
        {number(powers[b, t])}. Every row has something to see, so its sum is never 0 and nothing
        has to be added."""),
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
        "You make hidden positions count less, but they still count.",
        unwrapped(f"""Your weights are those of scores in which the hidden ones are
        {number(float(by.mean()))} lower than given, compared with the visible ones.
        {_hidden_share(evidence)} Adding the mask as a number isn't enough: what is hidden needs
        −inf."""),
        FILL,
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
        _lowered,
        _rounded,
        _another_mask,
        _another_function,
        _softmax_of_other_scores,
        _filled_by_row,
        _sees_what_is_hidden,
        _rows_together,
        _emptied,
        _something_added,
        _shifted_together,
        _sums_off,
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
