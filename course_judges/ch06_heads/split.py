"""Judges 06/split: the three parts of each head, out of one projection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torch import Tensor

from course_judges.ch06_heads import wording
from course_judges.ch06_heads.sections import STACK, VIEW
from course_judges.ch06_heads.wording import axes_apart, origin, rows_of_view, shape
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import unwrapped
from course_tasks.verdict import Finding

Three = tuple[Tensor, Tensor, Tensor]


def split_heads(x: Tensor, n_head: int) -> Three:
    """Queries, keys and values (B, H, T, D) out of (B, T, H·3·D)."""
    heads = x.unflatten(-1, (n_head, 3, -1))  # the heads of each position (B, T, H, 3, D)
    D = heads.shape[-1]  # D
    moved = heads.flatten(-2).transpose(1, 2)  # the heads in front of time (B, H, T, 3·D)
    query = moved[..., :D]  # your queries (B, H, T, D)
    key = moved[..., D : 2 * D]  # your keys (B, H, T, D)
    value = moved[..., 2 * D :]  # your values (B, H, T, D)
    return query, key, value


def _each(change: Callable[[Tensor], Tensor]) -> Callable[[Tensor, int], Three]:
    """The right parts, all changed in the same way."""

    def answer(x: Tensor, n_head: int) -> Three:
        query, key, value = split_heads(x, n_head)
        return change(query), change(key), change(value)

    return answer


def _first_wrong(evidence: Evidence) -> str:
    """An entry of yours that came from the wrong place, and from which."""
    for name, word in (("query", "queries"), ("key", "keys"), ("value", "values")):
        mine, right = evidence.yours(f"heads.{name}"), evidence.right(f"heads.{name}")
        if mine.shape != right.shape:
            continue
        wrong = np.argwhere(mine != right)
        if len(wrong):
            b, h, t, d = (int(i) for i in wrong[0])
            came = origin(evidence.inputs["x"], float(mine[b, h, t, d]))
            wanted = origin(evidence.inputs["x"], float(right[b, h, t, d]))
            assert wanted is not None
            told = "isn't in x"
            if came is not None:
                sample = f"sample {came[0]}, " if came[0] != b else ""
                told = f"comes from {sample}position {came[1]}, channel {came[2]} of x"
            return unwrapped(f"""In your {word} of sample {b}, head {h}, position {t}, entry {d}
            {told}, but it should come from position {wanted[1]}, channel {wanted[2]}.""")
    return ""


def _layout(evidence: Evidence) -> str:
    D = evidence.number("D")
    return unwrapped(f"""In x, the first {3 * D} channels belong to head 0: {D} for its query, {D}
    for its key and {D} for its value. {_first_wrong(evidence)}""")


def _axes(evidence: Evidence) -> str:
    """Along which axes of x entries are wrong, and in which of the three results. A head has three
    parts: query, key and value.
    """
    B, T, H, D = (evidence.number(name) for name in "BTHD")
    x = evidence.inputs["x"].reshape(B, T, H, 3, D)
    off = [name for name in _RESULTS if not evidence.same(f"heads.{name}")]
    good = [word for name, word in _RESULTS.items() if name not in off]
    told = f"Your {' and '.join(good)} are right. " if good and off else ""
    for name in off:
        mine, right = evidence.yours(f"heads.{name}"), evidence.right(f"heads.{name}")
        axes = axes_apart(x, mine, right, ("samples", "positions", "heads", "parts", "channels"))
        if axes:
            return f"{told}In your {_RESULTS[name]}, {axes}"
    return told.strip()


def _other_entries(evidence: Evidence) -> Finding | None:
    told = f"{_first_wrong(evidence)} {_axes(evidence)}".strip()
    if " isn't in x, " in told:
        told += " Splitting moves entries and changes none."
        return Finding(
            "entries-changed", "Some of your entries are numbers that aren't in x.", told, STACK
        )
    return Finding("entries-from-elsewhere", "Some entries come from the wrong place.", told, STACK)


_NAMES = ("queries", "keys", "values")
_RESULTS = dict(zip(("query", "key", "value"), _NAMES, strict=True))


def _taken_for(evidence: Evidence) -> list[int]:
    """Which of the three right results each of yours is.

    Raises
    ------
    ValueError
        If one of them is none.
    """
    right = [evidence.right(f"heads.{name}") for name in ("query", "key", "value")]
    taken = []
    for name in ("query", "key", "value"):
        mine = evidence.yours(f"heads.{name}")
        taken.append([np.array_equal(mine, one) for one in right].index(True))
    return taken


@mistake("You cut x as in the chapter: all queries, then all keys, then all values.", _layout)
def _other_layout(x: Tensor, n_head: int) -> Three:
    B, T, width = x.shape
    parts = x.view(B, T, 3, n_head, width // (3 * n_head)).permute(2, 0, 3, 1, 4)
    return parts[0], parts[1], parts[2]


_view_without_transpose = mistake(
    wording.MOVED_BY_VIEW,
    lambda e: f"{rows_of_view(e)} {_first_wrong(e)}",
    VIEW,
)(Like("used-view-or-reshape-instead-of-a-transpose-in-the-heads-in-front-of-time"))

_time_last = mistake(
    "You swapped time and channels: (B, H, D, T).",
    lambda e: f"{shape(e, 'heads.query')} Transpose the keys where you need them, not here.",
)(_each(lambda part: part.transpose(2, 3)))

_heads_before_batch = mistake(
    "Your heads come before the batch: (H, B, T, D).", lambda e: shape(e, "heads.query")
)(_each(lambda part: part.transpose(0, 1)))


@mistake("You took every third channel, but the D channels of a query are side by side.", _layout)
def _takes_every_third(x: Tensor, n_head: int) -> Three:
    B, T, width = x.shape
    parts = x.view(B, T, n_head, width // (3 * n_head), 3).permute(4, 0, 2, 1, 3)
    return parts[0], parts[1], parts[2]


@mistake(wording.DEALT_OUT, _layout)
def _heads_take_turns(x: Tensor, n_head: int) -> Three:
    B, T, width = x.shape
    parts = x.view(B, T, 3, width // (3 * n_head), n_head).permute(2, 0, 4, 1, 3)
    return parts[0], parts[1], parts[2]


@mistake(
    "Your heads begin D channels apart, but each has 3 · D, for a query, a key and a value.",
    _layout,
)
def _heads_too_close(x: Tensor, n_head: int) -> Three:
    D = x.shape[-1] // (3 * n_head)
    parts = x.unfold(-1, 3 * D, D)[:, :, :n_head].transpose(1, 2)  # (B, H, T, 3D)
    query, key, value = parts.chunk(3, dim=-1)
    return query, key, value


@mistake(
    lambda e: unwrapped(f"""You returned {", ".join(_NAMES[n] for n in _taken_for(e))} instead of
    queries, keys, values."""),
    _first_wrong,
    recognized=lambda e: _taken_for(e) != [0, 1, 2],
)
def _results_in_another_order(x: Tensor, n_head: int) -> Three:
    query, key, value = split_heads(x, n_head)
    return query, value, key


_heads_reversed = mistake(
    "Your heads are in reverse order: the last one comes first.", _first_wrong
)(_each(lambda part: part.flip(1)))

_heads_for_samples = mistake(
    "You mixed up heads and samples: the heads of one sample are spread over several.",
    lambda e: unwrapped(f"""{_first_wrong(e)} (H · B, T, D) and (B · H, T, D) hold the same texts in
    a different order, and a `view` or `reshape` doesn't move the batch to the front."""),
    VIEW,
)(_each(lambda part: part.transpose(0, 1).reshape(part.shape)))


TASK = Task(
    "Splitting heads",
    split_heads,
    STACK,
    (
        Part("The values of every head and position are right.", 2, matches("heads.value")),
        Part(
            "Queries and keys are right, and in this order.",
            2,
            matches("heads.query", "heads.key"),
        ),
    ),
    properties=(_other_entries,),
    steps={
        "the heads of each position": Step("The 3 · D channels of a head are side by side in x."),
        "the heads in front of time": Step(
            "With `@`, heads that come after time would look at each other at each position, and "
            "only a transpose moves them to the front.",
            VIEW,
        ),
        "D": Step("What is left of a head's channels is D for each of its three parts."),
        "your queries": Step("The first D channels of a head are its query."),
        "your keys": Step("The second D channels of a head are its key."),
        "your values": Step("The last D channels of a head are its value."),
    },
)
