"""Judging 01/running-sum: sums of the past along the last axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch01_averages.sections import FUTURE, SIDES, TRIANGLE
from course_judges.ch01_averages.weights import all_look, positions
from course_judges.equality import close, same_value
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import NEGLIGIBLE
from course_judges.wording import number, row, rows_apart, unwrapped
from course_judges.wrong_arrays.differences import shapes_apart
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def running_sum(x: Tensor) -> Tensor:
    """A right answer to 01/running-sum: (B, C, T) → (B, C, T)."""
    T = x.shape[-1]
    t = torch.arange(T)
    held = (t[:, None] < t + 1).float()  # what each sum holds (s, t)
    return x @ held  # your sums (B, C, T)


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
        unwrapped(f"""Output {t} counts position {s}, which comes after it, with weight
        {number(seen[t, s])}. {all_look(np.abs(seen) > NEGLIGIBLE, "sum", "hold")}""").strip(),
        FUTURE,
    )


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


_time_not_put_back = mistake(
    "Your sums are right, but time and channels are exchanged.",
    lambda e: unwrapped(f"""x has shape {e.right("sums").shape}, but your output has shape
    {e.yours("sums").shape}. Exchange the last two dimensions back at the end, or multiply from the
    other side so that you don't have to exchange anything."""),
    cases=("sums", "square"),
)(Like("transposed-your-sums"))


# What somebody may return instead, of x (B, C, T).
_OF_OTHERS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    (
        "running means instead of running sums",
        lambda x: x.cumsum(-1) / np.arange(1, x.shape[-1] + 1),
    ),
    ("running sums from the end, in reverse order", lambda x: x[..., ::-1].cumsum(-1)),
    ("only the total of each channel instead of the sum at every position", lambda x: x.sum(-1)),
    (
        "only the total of each channel instead of the sum at every position",
        lambda x: x.sum(-1, keepdims=True),
    ),
    ("the products of positions 0 … t instead of their sums", lambda x: x.cumprod(-1)),
    (
        "the largest of positions 0 … t instead of their sum",
        lambda x: np.maximum.accumulate(x, axis=-1),
    ),
    ("running sums of absolute values", lambda x: np.abs(x).cumsum(-1)),
    (
        "the running sums of channel 0 in every channel",
        lambda x: np.broadcast_to(x[:, :1].cumsum(-1), x.shape),
    ),
    (
        "the running sums of all channels together in every channel",
        lambda x: np.broadcast_to(x.sum(1, keepdims=True).cumsum(-1), x.shape),
    ),
    (
        "running sums of all samples together, not of each by itself",
        lambda x: np.broadcast_to(x.sum(0).cumsum(-1), x.shape),
    ),
    ("running sums over the samples, dimension 0, instead of over time", lambda x: x.cumsum(0)),
)


def _other(evidence: Evidence) -> str:
    """What was returned instead of running sums; empty if nothing of the list was."""
    for words, made in _OF_OTHERS:
        if all(
            same_value(evidence.yours(case), made(evidence.inputs[given].astype(np.float64)))
            for case, given in (("sums", "x"), ("square", "square"))
        ):
            return words
    return ""


def _first_channel(evidence: Evidence) -> str:
    mine, right = evidence.yours("sums"), evidence.right("sums")
    if mine.shape != right.shape:
        return shapes_apart(mine, right)
    b, c = (int(i) for i in np.argwhere(~close(mine, right))[0][:2])
    yours, sums = rows_apart(mine[b, c], right[b, c])
    return unwrapped(f"""Channel {c} of sample {b} holds {row(evidence.inputs["x"][b, c])}, and its
    running sums are {sums}, but you return {yours}.""")


@mistake(
    lambda e: f"You return {_other(e)}.",
    _first_channel,
    recognized=lambda e: bool(_other(e)),
)
def _sums_of_something_else(x: Tensor) -> Tensor:
    return x.abs().cumsum(dim=-1)


def _counted_otherwise(evidence: Evidence) -> Finding | None:
    """What is wrong with how often positions count, read off the answer to the identity."""
    mine = evidence.yours("weights").reshape(evidence.right("weights").shape)[0]
    right = evidence.right("weights")[0]
    wrong = np.argwhere(np.abs(mine - right) > 1e-4)
    if not len(wrong) or not _mixes_time_alone(evidence):
        return None
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
        return ""
    said = unwrapped(f"""In position {T - 1}, the positions from the last one back to the first
    count {row(by_distance, 3)} times.""")
    if np.allclose(by_distance, np.arange(1, T + 1)):
        return f"{said} That is a running sum of running sums, so you add up twice."
    return said


def _adds_other_positions(mine: Array, right: Array) -> Finding:
    """Which positions are added up where the sum is wrong, and what such places have in common."""
    wrong = (mine != right).any(axis=0)
    t = int(np.flatnonzero(wrong)[0])
    added = positions(mine[:, t])
    last = len(right) - 1
    if wrong.tolist() == [False] * last + [True]:
        hint = " All others are right. If you loop over the positions, does the loop reach the end?"
    elif pattern := all_look(mine.T != 0, "sum", "hold"):
        hint = f" {pattern}"
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
    properties=(_future_in_time_last, _counted_otherwise),
    cases=("sums", "square", "weights"),
    steps={
        "what each sum holds": Step(
            "The sum at position t holds the positions 0 … t, each of them once.", TRIANGLE
        ),
        "your sums": Step(
            "Each channel of each sample has running sums of its own, along the last dimension."
        ),
    },
)
