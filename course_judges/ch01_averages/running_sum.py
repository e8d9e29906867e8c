"""Judging 01/running-sum: sums of the past along the last axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch01_averages.sections import FUTURE, SIDES, TRIANGLE
from course_judges.ch01_averages.weights import all_look, positions
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import NEGLIGIBLE
from course_judges.wording import number, row, rows_apart, unwrapped, word
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def running_sum(x: Tensor) -> Tensor:
    """A right answer to 01/running-sum: (B, C, T) → (B, C, T)."""
    T = x.shape[-1]
    return x @ torch.triu(torch.ones(T, T))  # (B, C, T) @ (T, T) → (B, C, T)


def _last_is_the_total(evidence: Evidence) -> bool:
    mine = evidence.yours("sums")
    right = evidence.right("sums")
    return mine.shape == right.shape and np.allclose(
        mine[..., -1], right[..., -1], rtol=1e-4, atol=1e-5
    )


def _mixes_time_alone(evidence: Evidence) -> bool:
    """True if the weights read off the identity also make the output of x."""
    x, weights = evidence.inputs["x"], evidence.yours("weights")
    mine = evidence.yours("sums")
    return mine.shape == x.shape and np.allclose(x @ weights[0], mine, rtol=1e-3, atol=1e-4)


def _future_in_time_last(evidence: Evidence) -> Finding | None:
    if not _mixes_time_alone(evidence):
        return None
    seen = evidence.yours("weights")[0].T  # row t: what output t makes of each position
    later = np.argwhere(np.abs(np.triu(seen, 1)) > NEGLIGIBLE)
    if not len(later):
        return None
    t, s = (int(i) for i in later[0])
    return Finding(
        "sees-the-future",
        "Your answer sees the future.",
        f"Output {t} counts position {s}, which comes after it, with weight {number(seen[t, s])}.",
        FUTURE,
    )


@mistake(
    "Each of your sums covers what comes after its position instead of what comes before it.",
    lambda e: unwrapped(f"""Position 0 of your output holds the sum of all {word(e.number("T"))}
    positions, and position {e.number("T") - 1} holds only its own value. If you multiply by a
    triangle from the right, output t is x times column t of the matrix, so column t needs its ones
    in the rows s ≤ t. Otherwise, check from which end you add."""),
)
def _triangle_not_turned(x: Tensor) -> Tensor:
    T = x.shape[-1]
    return x @ torch.tril(torch.ones(T, T))


@mistake(
    "You reshaped (B, C, T) to (B, T, C), which doesn't exchange channels and time.",
    unwrapped("""`view` and `reshape` keep the numbers in their order and only cut them into rows of
    another length. The first row of your (T, C) is therefore the beginning of channel 0 instead of
    position 0 of all channels. To put time first, exchange the two dimensions with
    `transpose(1, 2)`."""),
    cases=("sums", "square"),
    also=(
        lambda x: x.reshape(x.shape[0], x.shape[2], x.shape[1]).cumsum(dim=1),
        lambda x: x.reshape(x.shape[0], x.shape[2], x.shape[1]).cumsum(dim=1).transpose(1, 2),
    ),
)
def _reshaped_for_transposed(x: Tensor) -> Tensor:
    B, C, T = x.shape
    return x.reshape(B, T, C).cumsum(dim=1).reshape(B, C, T)


def _along_channels(evidence: Evidence) -> bool:
    """True if both inputs are summed along the channels, or the one that isn't square stops."""
    for step in (1, -1):  # from the first channel on, or from the last one
        sums, square = (
            evidence.inputs[name][:, ::step].cumsum(axis=1)[:, ::step] for name in ("x", "square")
        )
        if close(evidence.yours("square"), square).all() and (
            "sums" in evidence.answers.errors or close(evidence.yours("sums"), sums).all()
        ):
            return True
    return False


@mistake(
    "You summed along the channels instead of along time.",
    lambda e: unwrapped(f"""Your output at channel c and position t adds up numbers of several
    channels at that position. In one of the calls there are as many channels as positions,
    {e.number("T")} each, so no shape gives it away. Time is the last dimension, but a matrix from
    the left mixes the one before it, and so does `dim=1`."""),
    recognized=_along_channels,
)
def _sums_channels(x: Tensor) -> Tensor:
    C = x.shape[1]
    return torch.tril(torch.ones(C, C)) @ x


@mistake(
    "Your sums are right, but time and channels are exchanged.",
    lambda e: unwrapped(f"""x has shape {e.right("sums").shape}, but your output has shape
    {e.yours("sums").shape}. Exchange the last two dimensions back at the end, or multiply from the
    other side so that you don't have to exchange anything."""),
    cases=("sums", "square"),
)
def _time_not_put_back(x: Tensor) -> Tensor:
    T = x.shape[-1]
    return torch.tril(torch.ones(T, T)) @ x.transpose(1, 2)


@mistake(
    "You returned means, but the task asks for sums.",
    lambda e: unwrapped(f"""The last position of your first row is
    {number(e.yours("sums")[0, 0, -1])}, but the {word(e.number("T"))} values add up to
    {number(e.right("sums")[0, 0, -1])}."""),
    TRIANGLE,
)
def _means_not_sums(x: Tensor) -> Tensor:
    return running_sum(x) / torch.arange(1, x.shape[-1] + 1)


@mistake(
    "Each of your sums leaves out the position itself.",
    lambda e: unwrapped(f"""Position 0 of your output is 0, but the sum there should be its own
    value, {number(e.right("sums")[0, 0, 0])}. The task counts positions 0 … t including t, so a
    triangle has to keep its diagonal."""),
    FUTURE,
)
def _diagonal_excluded(x: Tensor) -> Tensor:
    T = x.shape[-1]
    return x @ torch.triu(torch.ones(T, T), diagonal=1)


@mistake(
    "Each of your sums holds what is still to come, without the position itself.",
    lambda e: unwrapped(f"""Position 0 of your first row is {number(e.yours("sums")[0, 0, 0])}, the
    sum of all positions after it, but it should be its own value,
    {number(e.right("sums")[0, 0, 0])}. The total minus the running sum is the rest, not the past.
    If you multiply by a triangle from the right, the ones have to be above the diagonal and on
    it."""),
    FUTURE,
)
def _what_is_to_come(x: Tensor) -> Tensor:
    T = x.shape[-1]
    return x @ torch.tril(torch.ones(T, T), diagonal=-1)


@mistake(
    "Every position of yours holds the sum of the whole sequence.",
    lambda e: unwrapped(f"""Position 0 of your first row is {number(e.yours("sums")[0, 0, 0])}, the
    same as position {e.number("T") - 1}. If you multiply by a matrix of ones, half of it has to
    become 0. If you collect a running total in a list, keep a copy of it each time, because
    `total += …` changes the tensor that is already in the list, while `total = total + …` makes a
    new one."""),
    TRIANGLE,
)
def _no_triangle(x: Tensor) -> Tensor:
    T = x.shape[-1]
    return x @ torch.ones(T, T)


@mistake(
    "Your sum runs on from one channel into the next.",
    lambda e: unwrapped(f"""Channel 1 of sample 0 should begin with its own first value,
    {number(e.right("sums")[0, 1, 0])}, but yours begins with {number(e.yours("sums")[0, 1, 0])},
    because the total of channel 0 is still in it. If you loop, start each channel of each sample
    with a total of 0. Otherwise, sum along the last dimension of (B, C, T) without flattening
    it."""),
    cases=("sums", "square"),
    also=(lambda x: x.flatten().cumsum(dim=0).view_as(x),),
)
def _channels_run_on(x: Tensor) -> Tensor:
    return x.flatten(1).cumsum(dim=1).view_as(x)


@mistake(
    "Your sums are right, but a reshape put them in the wrong places.",
    lambda e: unwrapped(f"""You computed them with time before the channels. `reshape` and `view` to
    {e.right("sums").shape} keep the numbers in that order and only cut them into rows of another
    length, so numbers of several channels end up in one row. To put time last again, exchange the
    two dimensions with `transpose(1, 2)`."""),
    cases=("sums", "square"),
)
def _reshaped_not_turned_back(x: Tensor) -> Tensor:
    return x.transpose(1, 2).cumsum(dim=1).reshape(x.shape)


@mistake(
    "You added up from the end, and your sums are in reverse order.",
    lambda e: unwrapped(f"""Position 0 of your first row is {number(e.yours("sums")[0, 0, 0])}, the
    value of the last position, but it should be {number(e.right("sums")[0, 0, 0])}, that of the
    first. You don't have to reverse anything if you begin at position 0."""),
    cases=("sums", "square"),
)
def _from_the_end(x: Tensor) -> Tensor:
    return x.flip(-1).cumsum(dim=-1)


@mistake(
    "Each of your sums includes the next position, too.",
    lambda e: unwrapped(f"""Position 0 of your first row is {number(e.yours("sums")[0, 0, 0])}, the
    sum of positions 0 and 1, but it should be its own value, {number(e.right("sums")[0, 0, 0])}. If
    you multiply by a triangle, `diagonal=-1` of `triu` keeps one diagonal below the main one, and
    `diagonal=1` of `tril` keeps one above it. If you slice, the end is left out, so
    `x[..., : t + 1]` ends with position t."""),
    FUTURE,
)
def _next_included(x: Tensor) -> Tensor:
    T = x.shape[-1]
    return x @ torch.triu(torch.ones(T, T), diagonal=-1)


@mistake(
    "You returned only the total of each channel, but the task asks for the sum at every position.",
    lambda e: unwrapped(f"""Your answer has shape {e.yours("sums").shape}, but
    {e.right("sums").shape} is expected. Position t holds the sum of positions 0 … t, so the total
    is only the last of these sums."""),
    TRIANGLE,
    cases=("sums", "square"),
    also=(lambda x: x.sum(dim=-1, keepdim=True),),
)
def _total_alone(x: Tensor) -> Tensor:
    return x.sum(dim=-1)


@mistake(
    "Your sums add up the channels as well, but each channel has its own sum.",
    lambda e: unwrapped(f"""Position 0 of sample 0 is {number(e.yours("sums")[0, 0, 0])} in channel
    0 and {number(e.yours("sums")[0, 1, 0])} in channel 1, but the values there are
    {number(e.right("sums")[0, 0, 0])} and {number(e.right("sums")[0, 1, 0])}. Add along the last
    dimension only, because `sum()` without `dim` adds up all of them."""),
    SIDES,
    cases=("sums", "square"),
    also=(lambda x: x.sum(dim=(0, 1), keepdim=True).cumsum(dim=-1).expand_as(x),),
)
def _channels_added_up(x: Tensor) -> Tensor:
    return x.sum(dim=1, keepdim=True).cumsum(dim=-1).expand_as(x)


_OF_OTHERS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("the products of positions 0 … t instead of their sums", lambda x: x.cumprod(-1)),
    (
        "the largest of positions 0 … t instead of their sum",
        lambda x: np.maximum.accumulate(x, axis=-1),
    ),
    (
        "the logarithm of the sum of exponentials instead of the sum",
        lambda x: np.logaddexp.accumulate(x, axis=-1),
    ),
    ("running sums of absolute values", lambda x: np.abs(x).cumsum(-1)),
    ("running sums of squares", lambda x: np.square(x).cumsum(-1)),
    ("running sums of numbers whose fractions were cut off", lambda x: np.trunc(x).cumsum(-1)),
    ("running sums of rounded numbers", lambda x: x.round().cumsum(-1)),
    ("rounded running sums", lambda x: x.cumsum(-1).round()),
    ("running sums whose fractions were cut off", lambda x: np.trunc(x.cumsum(-1))),
    ("running sums in which negative numbers count as 0", lambda x: x.clip(0).cumsum(-1)),
    ("absolute values of the running sums", lambda x: np.abs(x.cumsum(-1))),
    ("running sums that never fall below 0", lambda x: x.cumsum(-1).clip(0)),
    (
        "the running sums of channel 0 in every channel",
        lambda x: np.broadcast_to(x[:, :1].cumsum(-1), x.shape),
    ),
    (
        "the running sums of sample 0 in every sample",
        lambda x: np.broadcast_to(x[:1].cumsum(-1), x.shape),
    ),
    (
        "running sums of all samples together, not of each by itself",
        lambda x: np.broadcast_to(x.sum(0).cumsum(-1), x.shape),
    ),
    ("running sums over the samples, dimension 0, instead of over time", lambda x: x.cumsum(0)),
    ("sums over time and over the samples, one after the other", lambda x: x.cumsum(-1).cumsum(0)),
    ("sums over time and over the channels, one after the other", lambda x: x.cumsum(-1).cumsum(1)),
    (
        "the running sums of the mean over the channels in every channel",
        lambda x: np.broadcast_to(x.mean(1, keepdims=True).cumsum(-1), x.shape),
    ),
    (
        "sums that run on from one sample into the next",
        lambda x: x.cumsum(-1) + (x.sum(-1).cumsum(0) - x.sum(-1))[..., None],
    ),
    ("differences between neighbors instead of sums", lambda x: np.diff(x, prepend=0)),
)


def _channel_worked_out(x: Array, mine: Array, right: Array, which: str) -> str:
    yours, sums = rows_apart(mine, right)
    return f"{which} holds {row(x)}, and its running sums are {sums}, but you return {yours}."


def _sums_of_something_else(evidence: Evidence) -> Finding | None:
    x, mine, right = evidence.inputs["x"], evidence.yours("sums"), evidence.right("sums")
    for words, made in _OF_OTHERS:
        other = made(x.astype(np.float64))
        if mine.shape == other.shape and close(mine, other).all() and not evidence.same("sums"):
            b, c = (int(i) for i in np.argwhere(~close(mine, right))[0][:2])
            return Finding(
                "sums-of-something-else",
                f"You return {words}.",
                _channel_worked_out(x[b, c], mine[b, c], right[b, c], f"Channel {c} of sample {b}"),
                SIDES,
            )
    return None


def _right_at_first(evidence: Evidence) -> Finding | None:
    """A channel worked out, if position 0 is right everywhere and what follows is no sum."""
    x, mine, right = evidence.inputs["x"], evidence.yours("sums"), evidence.right("sums")
    if mine.shape != right.shape or not np.allclose(mine[..., 0], right[..., 0], atol=1e-4):
        return None
    b, c, _ = (int(i) for i in np.unravel_index(int(np.abs(mine - right).argmax()), right.shape))
    return Finding(
        "another-sum",
        "Position 0 is right, but the positions after it don't hold their running sums.",
        _channel_worked_out(x[b, c], mine[b, c], right[b, c], f"Channel {c} of sample {b}"),
        TRIANGLE,
    )


def _not_along_time(evidence: Evidence) -> Finding:
    x, mine, right = evidence.inputs["x"], evidence.yours("sums"), evidence.right("sums")
    shown = "" if mine.shape != right.shape else f", but you return {row(mine[-1, -1])}"
    return Finding(
        "not-along-time",
        "Your answer doesn't seem to add up anything along time.",
        unwrapped(f"""It returns the identity, given as a single sample, unchanged. Channel
        {x.shape[1] - 1} of sample {len(x) - 1} holds {row(x[-1, -1])}, and its running sums are
        {row(right[-1, -1])}{shown}. Along which dimension do you add? Time is the last."""),
        SIDES,
    )


def _counted_otherwise(evidence: Evidence) -> Finding | None:
    """What is wrong with how often positions count, read off the answer to the identity."""
    mine = evidence.yours("weights").reshape(evidence.right("weights").shape)[0]
    right = evidence.right("weights")[0]
    if np.array_equal(mine, evidence.inputs["identity"][0]) and not _mixes_time_alone(evidence):
        return _not_along_time(evidence)
    wrong = np.argwhere(np.abs(mine - right) > 1e-4)
    if len(wrong) and not _mixes_time_alone(evidence):
        return _right_at_first(evidence)
    if not len(wrong):
        return Finding(
            "no-weighted-sum",
            unwrapped("""Your answer is right for the identity, a single sample of zeros and ones,
            but wrong for others."""),
            unwrapped(f"""For B = {evidence.number("B")} samples of numbers with signs and
            fractions, it isn't the running sum. Do you mix the samples, or do you round numbers,
            cut them off or make them positive?"""),
            SIDES,
        )
    if np.isin(mine, (0, 1)).all():
        return _adds_other_positions(mine, right)
    s, t = (int(i) for i in wrong[0])
    return Finding(
        "counts-otherwise",
        "Some positions count with another weight than 1.",
        unwrapped(
            f"""Position {s} counts {number(mine[s, t])} times in your position {t}, but it should
            {"count once" if right[s, t] else "not count at all"}. {_how_often(mine)}"""
        ).strip(),
        SIDES,
    )


def _how_often(mine: Array) -> str:
    """How often positions count by their distance, if that is the same in all sums."""
    T = len(mine)
    back = np.arange(T) - np.arange(T)[:, None]  # of source s in output t
    by_distance = mine[::-1, -1].astype(np.float64)
    if np.abs(np.where(back >= 0, mine - by_distance[np.abs(back)], mine)).max() > 1e-4:
        if not np.allclose(mine.sum(1), 1, atol=1e-4):
            return ""
        return unwrapped("""What a position gives to all of your sums adds up to 1, as if you had
        divided by how many of them count it. A sum needs ones, without any division.""")
    said = unwrapped(f"""In position {T - 1}, the positions from the last one back to the first
    count {row(by_distance, 3)} times.""")
    if np.allclose(by_distance, np.arange(1, T + 1)):
        return f"{said} That is a running sum of running sums, so you add up twice."
    if np.allclose(by_distance, 2.0 ** np.arange(T)):
        return f"{said} Each sum adds the one before it twice."
    if np.allclose(by_distance[1:], 1):
        return f"{said} Only the position itself is counted otherwise."
    if np.allclose(by_distance[1:], by_distance[:-1] * by_distance[1], atol=1e-4):
        return (
            f"{said} Each sum takes over {number(float(by_distance[1]))} times the one before it."
        )
    return said


def _adds_other_positions(mine: Array, right: Array) -> Finding:
    """Which positions are added up where the sum is wrong, and what such places have in common."""
    wrong = (mine != right).any(axis=0)
    t = int(np.flatnonzero(wrong)[0])
    added = positions(mine[:, t])
    last = len(right) - 1
    if wrong.tolist() == [False] * last + [True]:
        hint = " All others are right. If you loop over the positions, does the loop reach the end?"
    elif not mine[0].any():
        hint = " Position 0 counts in none of yours. If you loop from 1, where is it added?"
    elif pattern := all_look(mine.T != 0, "sum", "hold"):
        hint = f" {pattern}"
    elif np.array_equal(mine != right, np.eye(len(right), dtype=bool) & wrong):
        hint = " The position itself is missing in all wrong ones. A slice `[:t]` ends before t."
    else:
        hint = "" if wrong.all() else f" Your sums are right at {positions(~wrong)}."
    return Finding(
        "other-positions-added",
        "You don't add up positions 0 … t everywhere.",
        f"Your position {t} adds up {added}, but it should add up {positions(right[:, t])}.{hint}",
        TRIANGLE,
    )


TASK = Task(
    "Running sum, time last",
    running_sum,
    SIDES,
    (
        Part("The last position holds the sum of all positions.", 1, _last_is_the_total),
        Part("Every position holds the sum of its past.", 1, matches("sums", "square", "mono")),
    ),
    properties=(_sums_of_something_else, _future_in_time_last, _counted_otherwise),
    cases=("sums", "square", "weights"),
)
