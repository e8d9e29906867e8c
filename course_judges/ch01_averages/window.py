"""Judging 01/window: equal weights on the last few positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch01_averages.sections import FILL, FUTURE, MEANS, TRIANGLE
from course_judges.ch01_averages.weights import (
    column_sums,
    divides_by_another_count,
    laid_along_a_row,
    matrix,
    not_divided,
    positions,
    right_but_alone,
    same_places,
    sees_the_future,
    sees_the_right_positions,
    uneven,
)
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import NEGLIGIBLE, rows_sum_to_one
from course_judges.wording import listed, number, row, rows_apart, unwrapped, word
from course_tasks.verdict import Finding


def _band(T: int, width: int) -> Tensor:
    return torch.triu(torch.tril(torch.ones(T, T)), diagonal=1 - width)


def window_weights(T: int, width: int) -> Tensor:
    """A right answer to 01/window: (T, T)."""
    weights = _band(T, width)
    return weights / weights.sum(dim=1, keepdim=True)


def _window_before(T: int, width: int, least: float = 0.0) -> Tensor:
    weights = torch.tril(torch.ones(T, T), -1).triu(-width)
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=least)


def _full_windows(T: int, width: int) -> Tensor:
    weights = torch.zeros(T, T)
    for t in range(T):
        weights[t, t - width + 1 : t + 1] = 1 / width
    return weights


def _last_row_sees(evidence: Evidence) -> str:
    T, width = evidence.number("T"), evidence.number("width")
    mine = matrix(evidence)[T - 1]
    return unwrapped(f"""With `width = {width}`, row {T - 1} gives weight to {positions(mine)}, but
    the last {word(width)} up to and including {T - 1} are {listed(range(T - width, T))}.""")


@mistake(
    "The first rows are too small.",
    lambda e: unwrapped(f"""With `width = {e.number("width")}`, row 0 of your matrix sums to
    {matrix(e)[0].sum():.2f}, but the rows of an average always sum to 1. You gave each position
    the weight 1 / `width`, but row 0 has only one position to average. Divide by the number of
    positions that are there."""),
)
def _divides_by_width(T: int, width: int) -> Tensor:
    return _band(T, width) / width


@mistake(
    "Position 0 counts several times in rows with fewer than `width` positions.",
    lambda e: unwrapped(f"""With `width = {int(e.inputs["wider"][0])}`, row 1 of your matrix is
    {row(e.yours("wide")[1])}. Besides its own weight, position 0 has that of everything that would
    lie before the beginning. If you clamp positions to 0 or repeat the first one, leave out those
    below 0 instead, and divide by the number of positions that are there."""),
    cases=("weights", "wide"),
)
def _first_position_repeated(T: int, width: int) -> Tensor:
    t = torch.arange(T)
    before = (width - 1 - t).clamp(min=0)
    weights = _band(T, width)
    weights[:, 0] += before
    return weights / width


@mistake(
    "Your first rows are empty.",
    lambda e: unwrapped(f"""With `width = {e.number("width")}`, row 0 of your matrix sums to
    {number(matrix(e)[0].sum())}. You choose nothing in rows with fewer than `width` positions, but
    the task asks for the average of those that exist. If you cut slices, one that starts at a
    negative number counts from the end, so `[{1 - e.number("width")}:1]` holds nothing: start at
    `max(0, t - width + 1)`. If you loop, does the loop begin at row 0? Divide each row by the
    number of positions that there are."""),
    also=(lambda T, width: _full_windows(T, width) / (torch.arange(T)[:, None] >= width - 1),),
)
def _negative_slice(T: int, width: int) -> Tensor:
    return _full_windows(T, width)


@mistake(
    "Your window holds one position too many.",
    _last_row_sees,
    FUTURE,
    also=(lambda T, width: _band(T, width + 1) / width,),
)
def _window_one_too_wide(T: int, width: int) -> Tensor:
    return window_weights(T, width + 1)


@mistake("Your window holds one position too few.", _last_row_sees, FUTURE)
def _window_one_too_narrow(T: int, width: int) -> Tensor:
    return window_weights(T, width - 1)


@mistake(
    "Your window has no left edge, so every row averages its whole past.", _last_row_sees, TRIANGLE
)
def _no_window(T: int, width: int) -> Tensor:
    return window_weights(T, max(T, width))


_sums_not_means = mistake(
    "You chose the right positions, but you haven't divided yet.",
    not_divided,
)(_band)


@families.divides_columns(column_sums)
def _divides_columns(T: int, width: int) -> Tensor:
    weights = _band(T, width)
    return weights / weights.sum(dim=0)


@families.keepdim_forgotten(laid_along_a_row)
def _keepdim_forgotten(T: int, width: int) -> Tensor:
    weights = _band(T, width)
    return weights / weights.sum(dim=1)


@families.upper_triangle(
    lambda e: unwrapped(f"""With `width = {e.number("width")}`, row 0 gives weight to
    {positions(matrix(e)[0])}, but it may only see position 0."""),
    FUTURE,
)
def _upper_triangle(T: int, width: int) -> Tensor:
    weights = _band(T, width).T
    return weights / weights.sum(dim=1, keepdim=True)


@mistake(
    "Your window is centered on each position, so part of it lies in the future.",
    lambda e: unwrapped(f"""Row 0 gives weight to {positions(matrix(e)[0])}, but it may only see
    position 0. The window ends at position t."""),
    FUTURE,
    also=(lambda T, width: _around(T, width - 1), lambda T, width: _around(T, width)),
)
def _centred_window(T: int, width: int) -> Tensor:
    return _around(T, width // 2)


def _around(T: int, reach: int) -> Tensor:
    t = torch.arange(T)
    weights = ((t[:, None] - t).abs() <= reach).float()
    return weights / weights.sum(dim=1, keepdim=True)


@mistake(
    "Your window has a left edge but no right one, so it goes on into the future.",
    lambda e: unwrapped(f"""Row 0 gives weight to {positions(matrix(e)[0])}, but it may only see
    position 0. `triu` cuts off what is too old and `tril` what comes after t, and a window needs
    both."""),
    FUTURE,
)
def _open_to_the_right(T: int, width: int) -> Tensor:
    weights = torch.triu(torch.ones(T, T), diagonal=1 - width)
    return weights / weights.sum(dim=1, keepdim=True)


_diagonal_excluded = mistake(
    "Your window ends one position too early, so no position sees itself.",
    _last_row_sees,
    FUTURE,
    also=(
        lambda T, width: _window_before(T, width, 1.0),
        lambda T, width: _without_itself(T, width),
        lambda T, width: _without_itself(T, width).nan_to_num(0.0),
    ),
)(_window_before)


def _without_itself(T: int, width: int) -> Tensor:
    weights = _band(T, width).tril(-1)
    return weights / weights.sum(dim=1, keepdim=True)


@mistake(
    "You divided each row by all positions up to it instead of only those in its window.",
    lambda e: unwrapped(f"""Row {e.number("T") - 1} sees the right positions, but sums to
    {number(matrix(e)[-1].sum())}, as if divided by {e.number("T")}. This happens if you average the
    whole past first and then cut the window out of it, or if you divide by t + 1. Cut first, then
    divide by the number of positions that are left."""),
)
def _divides_by_the_past(T: int, width: int) -> Tensor:
    return _band(T, width) / torch.arange(1, T + 1)[:, None]


@mistake(
    "You don't hide anything, so every row averages the whole sequence.",
    lambda e: unwrapped(f"""Every weight of yours is {number(matrix(e)[0, 0])}, one over T. Before a
    softmax, a score of 0 among scores of 0 hides nothing, so what may not be seen needs −inf."""),
    FILL,
)
def _nothing_hidden(T: int, width: int) -> Tensor:  # noqa: ARG001
    return torch.ones(T, T) / T


@mistake(
    "Your window always has 3 positions, whatever `width` is.",
    lambda e: unwrapped(f"""With `width = {int(e.inputs["wider"][0])}`, the last row of your matrix
    is {", but ".join(rows_apart(e.yours("wide")[-1], e.right("wide")[-1]))} is expected. The width
    is only 3 in the task's example, so use the argument."""),
    cases=("weights", "wide"),
)
def _width_ignored(T: int, width: int) -> Tensor:  # noqa: ARG001
    return window_weights(T, 3)


def _cut_above(T: int, diagonal: int, least: float = 0.0) -> Tensor:
    weights = torch.ones(T, T).tril().triu(diagonal)
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=least)


@mistake(
    "Your matrix holds no weights.",
    lambda e: unwrapped(f"""Its row {e.number("T") - 1} is {row(matrix(e)[-1])}. If you cut a lower
    triangle with `triu(…, diagonal=k)`, a k above 0 keeps what lies above the main diagonal, where
    a lower triangle is 0. Diagonals below the main one have negative numbers."""),
    TRIANGLE,
    also=(
        lambda T, width: _cut_above(T, width - 1, 1.0),
        lambda T, width: _cut_above(T, width),
        lambda T, width: _cut_above(T, width, 1.0),
    ),
)
def _empty_band(T: int, width: int) -> Tensor:
    return _cut_above(T, width - 1)


@mistake(
    "Your windows don't move along with t: they start again after every `width` positions.",
    lambda e: unwrapped(f"""With `width = {e.number("width")}`, row {e.number("width")} gives weight
    to {positions(matrix(e)[e.number("width")])}, but it should see
    {positions(e.right("weights")[e.number("width")])}. If you divide positions by the width (`//`),
    you get blocks, but a window begins width − 1 steps before each position."""),
)
def _blocks(T: int, width: int) -> Tensor:
    t = torch.arange(T)
    weights = torch.tril((t[:, None] // width == t // width).float())
    return weights / weights.sum(dim=1, keepdim=True)


@mistake(
    "You divided whole numbers without a remainder.",
    lambda e: unwrapped(f"""Row {e.number("T") - 1} of yours is {row(matrix(e)[-1])}. `//` cuts off
    what comes after the point, so 1 // {e.number("width")} is 0. The same happens to a share that
    is written into a tensor of integers."""),
)
def _whole_number_division(T: int, width: int) -> Tensor:
    weights = _band(T, width).long()
    return weights // weights.sum(dim=1, keepdim=True)


@mistake(
    "You kept what lies before the window and left out the window itself.",
    _last_row_sees,
    TRIANGLE,
    also=(
        lambda T, width: _too_old(T, width, 0.0),
        lambda T, width: _too_old(T, width, 0.0).nan_to_num(0.0),
    ),
)
def _outside_the_window(T: int, width: int) -> Tensor:
    return _too_old(T, width, 1.0)


def _too_old(T: int, width: int, least: float) -> Tensor:
    weights = torch.ones(T, T).tril(-width)
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=least)


@mistake(
    "You took the softmax of a band of ones and zeros.",
    lambda e: unwrapped(f"""Row 0 of your matrix is {row(matrix(e)[0])}. A score of 0 isn't hidden,
    because it gets e⁰ = 1 next to e¹ = 2.72. What may not be seen needs −inf."""),
    FILL,
)
def _multiplied_mask(T: int, width: int) -> Tensor:
    return _band(T, width).softmax(dim=-1)


def _sees_the_future(evidence: Evidence) -> Finding | None:
    """Weight on the future, and whether it lies where negative indices point."""
    finding = sees_the_future("weights")(evidence)
    if finding is None:
        return None
    T, width = evidence.number("T"), evidence.number("width")
    t, s = np.arange(T)[:, None], np.arange(T)
    from_the_end = (s - T >= t - width + 1) & (s > t)
    ahead = np.triu(np.abs(matrix(evidence)) > NEGLIGIBLE, 1)
    if np.array_equal(ahead, (s < width) & (s > t)):
        return replace(
            finding,
            effect=f"{finding.effect} Only rows before row {width - 1} look ahead, and all of them "
            f"see the first {word(width)} positions. A row with fewer than `width` positions "
            "averages those that it has.",
        )
    if not np.array_equal(ahead, from_the_end):
        return finding
    return replace(
        finding,
        effect=f"{finding.effect} Only rows where t − width + 1 is negative look ahead, and they "
        "look at the end. Did an index become negative? −1 is the last position, so start at "
        "`max(0, t - width + 1)`.",
    )


def _wrong_at_another_width(evidence: Evidence) -> Finding | None:
    """What a row sees, where the window is right for one width and wrong for another."""
    T = evidence.number("T")
    widths = {"wide": int(evidence.inputs["wider"][0]), "full": T, "narrow": 1}
    if not evidence.same("weights"):
        return None
    for case, width in widths.items():
        mine, right = evidence.yours(case), evidence.right(case)
        wrong = np.flatnonzero(((np.abs(mine) > 1e-5) != (right > 1e-5)).any(axis=1))
        if len(wrong):
            t = int(wrong[0])
            return Finding(
                "wrong-at-another-width",
                unwrapped(f"""Your windows are right for `width = {evidence.number("width")}`, but
                not for `width = {width}`."""),
                f"With T = {T} and `width = {width}`, row {t} gives weight to "
                f"{positions(mine[t])}, but it should see {positions(right[t])}."
                + " A window may be as wide as the sequence or wider. Then a row averages its "
                "whole past." * (width >= T),
                MEANS,
            )
    return None


TASK = Task(
    "Sliding window",
    window_weights,
    MEANS,
    (
        Part(
            "The right positions are chosen.",
            2,
            same_places("weights"),
        ),
        Part(
            "Every row averages what it sees.",
            2,
            matches("weights", "wide", "narrow", "full", "alone"),
        ),
    ),
    properties=(
        right_but_alone("Position 0 sees itself, with weight 1.", MEANS),
        _sees_the_future,
        sees_the_right_positions,
        _wrong_at_another_width,
        divides_by_another_count("weights", "wide", "full"),
        uneven("weights", "wide"),
        rows_sum_to_one("weights", MEANS),
    ),
    cases=("weights",),
)
