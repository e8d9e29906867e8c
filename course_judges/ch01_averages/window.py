"""Judging 01/window: equal weights on the last few positions."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch01_averages.sections import FILL, FUTURE, MEANS, TRIANGLE
from course_judges.ch01_averages.weights import (
    divides_by_another_count,
    laid_along_a_row,
    matrix,
    positions,
    right_but_alone,
    same_places,
    sees_the_future,
    sees_the_right_positions,
    uneven,
)
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import rows_sum_to_one
from course_judges.wording import listed, number, row, unwrapped, word


def window_weights(T: int, width: int) -> Tensor:
    """A right answer to 01/window: (T, T)."""
    t = torch.arange(T)
    old = t[:, None] - t <= width - 1  # the left edge (t, s)
    new = t <= t[:, None]  # the right edge (t, s)
    seen = (old & new).float()  # your window (t, s)
    counts = seen.sum(dim=1, keepdim=True)  # how many positions each window holds (t, 1)
    return seen / counts  # your weights (t, s)


def _last_row_sees(evidence: Evidence) -> str:
    T, width = evidence.number("T"), evidence.number("width")
    mine = matrix(evidence)[T - 1]
    return unwrapped(f"""With `width = {width}`, row {T - 1} gives weight to {positions(mine)}, but
    the last {word(width)} up to and including {T - 1} are {listed(range(T - width, T))}.""")


_divides_by_width = mistake(
    "The first rows are too small.",
    lambda e: unwrapped(f"""With `width = {e.number("width")}`, row 0 of your matrix sums to
    {matrix(e)[0].sum():.2f}, but the rows of an average always sum to 1. You gave each position
    the weight 1 / `width`, but row 0 has only one position to average. Divide by the number of
    positions that are there."""),
)(Like("used-width-instead-of-how-many-positions-each-window-holds-in-your-weights"))


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
    weights = torch.ones(T, T).tril().triu(1 - width)
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


def _full_windows(T: int, width: int) -> Tensor:
    weights = torch.zeros(T, T)
    for t in range(T):
        weights[t, t - width + 1 : t + 1] = 1 / width
    return weights


_window_one_too_wide = mistake(
    "Your window holds one position too many.",
    _last_row_sees,
    FUTURE,
)(Like("left-out-the-subtraction-of-1-in-the-left-edge"))


_keepdim_forgotten = families.keepdim_forgotten(laid_along_a_row)(
    Like("left-out-keepdim-for-the-sum-in-how-many-positions-each-window-holds")
)


_upper_triangle = families.upper_triangle(
    lambda e: unwrapped(f"""With `width = {e.number("width")}`, row 0 gives weight to
    {positions(matrix(e)[0])}, but it may only see position 0."""),
    FUTURE,
)(Like("transposed-your-window"))


def _window_before(T: int, width: int, least: float = 0.0) -> Tensor:
    weights = torch.ones(T, T).tril(-1).triu(-width)
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=least)


def _without_itself(T: int, width: int) -> Tensor:
    weights = window_weights(T, width).tril(-1)
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=1e-9)


_diagonal_excluded = mistake(
    "Your window ends one position too early, so no position sees itself.",
    lambda e: (
        _last_row_sees(e)
        + " Before position 0 comes nothing, so your row 0 is 0 / 0, which is NaN."
        * bool(np.isnan(matrix(e)[0]).any())
    ),
    FUTURE,
    also=(
        lambda T, width: _window_before(T, width, 1.0),
        _without_itself,
        Like("compared-with-less-instead-of-less-or-equal-in-the-right-edge"),
    ),
)(_window_before)


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


_divides_by_the_past = mistake(
    "You divided each row by all positions up to it instead of only those in its window.",
    lambda e: unwrapped(f"""Row {e.number("T") - 1} sees the right positions, but sums to
    {number(matrix(e)[-1].sum())}, as if divided by {e.number("T")}. This happens if you average the
    whole past first and then cut the window out of it, or if you divide by t + 1. Cut first, then
    divide by the number of positions that are left."""),
)(Like("used-the-right-edge-instead-of-your-window-in-how-many-positions-each-window-holds"))


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


_whole_number_division = mistake(
    "You divided whole numbers without a remainder.",
    lambda e: unwrapped(f"""Row {e.number("T") - 1} of yours is {row(matrix(e)[-1])}. `//` cuts off
    what comes after the point, so 1 // {e.number("width")} is 0. The same happens to a share that
    is written into a tensor of integers."""),
)(Like("rounded-your-weights-to-whole-numbers"))


_multiplied_mask = mistake(
    "You took the softmax of a band of ones and zeros.",
    lambda e: unwrapped(f"""Row 0 of your matrix is {row(matrix(e)[0])}. A score of 0 isn't hidden,
    because it gets e⁰ = 1 next to e¹ = 2.72. What may not be seen needs −inf."""),
    FILL,
)(Like("applied-a-softmax-to-your-window"))


@mistake(
    "You limit `width` to less than T.",
    lambda e: unwrapped(f"""With T = {e.number("T")} and `width = {int(e.inputs["wider"][0])}`, your
    last row gives weight to {positions(e.yours("wide")[-1])}, but it should see
    {positions(e.right("wide")[-1])}. A window may be as wide as the sequence or wider. Then a row
    averages its whole past."""),
    cases=("weights", "wide", "full"),
    also=(lambda T, width: window_weights(T, min(width, T - 2)),),
)
def _width_limited(T: int, width: int) -> Tensor:
    return window_weights(T, min(width, T - 1))


@mistake(
    "Where t − width + 1 is negative, your rows look at the end.",
    lambda e: unwrapped(f"""Row 0 gives weight to {positions(matrix(e)[0])}, but it may only see
    position 0. An index of −1 is the last position, so start at `max(0, t - width + 1)`."""),
    FUTURE,
)
def _from_the_end(T: int, width: int) -> Tensor:
    weights = torch.zeros(T, T)
    for t in range(T):
        for back in range(min(width, T)):
            weights[t, t - back] = 1
    return weights / weights.sum(dim=1, keepdim=True)


@mistake(
    "Your rows have `width` positions from the beginning on, so the first ones look ahead.",
    lambda e: unwrapped(f"""Row 0 gives weight to {positions(matrix(e)[0])}, but it may only see
    position 0. A row with fewer than `width` positions averages those that it has."""),
    FUTURE,
)
def _filled_up(T: int, width: int) -> Tensor:
    weights = window_weights(T, width)
    weights[: width - 1, :width] = 1 / width
    return weights


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
        sees_the_future("weights"),
        sees_the_right_positions,
        divides_by_another_count("weights", "wide", "full"),
        uneven("weights", "wide"),
        rows_sum_to_one("weights", MEANS),
    ),
    cases=("weights",),
    steps={
        "the left edge": Step(
            "The last `width` positions, t included, are those from 0 to width − 1 steps back.",
            FUTURE,
        ),
        "the right edge": Step(
            "A window ends with position t itself, and holds nothing after it.", FUTURE
        ),
        "your window": Step("A window has two edges, and it holds what lies between them."),
        "how many positions each window holds": Step(
            "The first rows have fewer than `width` positions, so each row has a count of its own."
        ),
        "your weights": Step(
            "Each row is an average, so the weights of what it sees are equal and sum to 1."
        ),
    },
)
