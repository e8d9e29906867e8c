"""Judges 09/stream: rows of whole names that continue from step to step."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from itertools import groupby

import numpy as np
import torch

from course_judges.ch09_names.sections import ROWS
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import holds_integers, integers
from course_judges.wording import listed, unwrapped
from course_tasks.verdict import Finding


def name_stream(names, order, batch_size, block_size):
    """A right answer."""
    each = len(order) // batch_size  # the number of names of a row
    rows = []
    for b in range(batch_size):
        share = order[b * each : (b + 1) * each]  # the names of a row
        tokens = [0]  # the beginning of a row
        for i in share:
            tokens += [*names[i], 0]  # a name and its boundary
        rows.append(torch.tensor(tokens))
    shortest = min(len(row) for row in rows)
    steps = (shortest - 1) // block_size  # the number of steps
    used = steps * block_size  # the length that you use
    cut = torch.stack([row[: used + 1] for row in rows])
    inputs = cut[:, :-1]  # your inputs (B, S · T)
    targets = cut[:, 1:]  # your targets (B, S · T)
    shape = batch_size, steps, block_size
    x = inputs.reshape(shape).transpose(0, 1)  # your windows of inputs (S, B, T)
    y = targets.reshape(shape).transpose(0, 1)  # your windows of targets (S, B, T)
    return x, y


def _rows(names, order, batch_size):
    """The whole text of each row of the batch."""
    return [_text(names, group) for group in _groups(order, batch_size)]


def _groups(order, batch_size):
    """Which names each row of the batch has, in order."""
    each = len(order) // batch_size
    return [order[b * each : (b + 1) * each] for b in range(batch_size)]


def _text(names, group):
    tokens = [0]
    for i in group:
        tokens += [*names[i], 0]
    return torch.tensor(tokens)


def _lay_out(rows, T):
    steps = min(len(row) - 1 for row in rows) // T
    x = torch.stack([row[: steps * T].view(steps, T) for row in rows], dim=1)  # (S, B, T)
    y = torch.stack([row[1 : steps * T + 1].view(steps, T) for row in rows], dim=1)
    return x, y


def _begins(evidence: Evidence) -> bool:
    x = evidence.yours("stream.x")
    each = len(evidence.inputs["order"]) // evidence.number("batch_size")
    ends = evidence.inputs["lengths"].cumsum()
    starts = [int(evidence.inputs["letters"][end - n]) for end, n in
              zip(ends, evidence.inputs["lengths"], strict=True)]  # fmt: skip
    first = [starts[i] for i in evidence.inputs["order"][::each]]
    return bool((x[0, :, 0] == 0).all()) and [int(t) for t in x[0, :, 1]] == first


def _continues(evidence: Evidence) -> bool:
    """True if rows go on from step to step and hold more than a third of the letters: an answer
    that repeats one batch goes on, too, but holds a quarter at most.
    """
    x, y = evidence.yours("stream.x"), evidence.yours("stream.y")
    names = set(evidence.inputs["letters"].tolist())
    return (
        len(x) > 1
        and x.ndim == 3
        and len(names & set(x.ravel().tolist())) > len(names) / 3
        and bool((y[:-1, :, -1] == x[1:, :, 0]).all())
    )


def _off(evidence: Evidence, part: str = "x") -> str:
    """The first wrong window, row by row."""
    mine, right = evidence.yours(f"stream.{part}"), evidence.right(f"stream.{part}")
    word = {"x": "inputs", "y": "targets"}[part]
    S = min(len(mine), len(right))
    wrong = np.argwhere((mine[:S] != right[:S]).any(axis=2).T)  # row, step
    if not len(wrong):
        return f"You return {len(mine)} steps instead of {len(right)}."
    b, n = (int(i) for i in wrong[0])
    return unwrapped(f"""In row {b} of step {n} your {word} are `{_told(mine[n, b])}` instead of
    `{_told(right[n, b])}`.""")


def _told(window) -> str:
    return " ".join(str(int(token)) for token in window)


def _counted(evidence: Evidence) -> str:
    mine, right = (int((side("stream.x") == 0).sum()) for side in (evidence.yours, evidence.right))
    return f"Your inputs contain {mine} boundaries instead of {right}."


@mistake("You left the names in the order of the list.", _off)
def _order_ignored(names, order, batch_size, block_size):
    return name_stream(names, range(len(names)), batch_size, block_size)


@mistake(
    "You cut one long row into B equal pieces, which cuts through names.",
    lambda e: unwrapped(f"""{_off(e)} Each row starts with a blank state, and that is right only
    where a name begins."""),
)
def _cut_anywhere(names, order, batch_size, block_size):
    stream = _text(names, order)
    length = (len(stream) - 1) // (batch_size * block_size) * block_size
    rows = [stream[b * length : (b + 1) * length + 1] for b in range(batch_size)]
    return _lay_out(rows, block_size)


@mistake(
    "You dealt the names out in turn, but each row gets names next to each other in `order`.", _off
)
def _dealt_like_cards(names, order, batch_size, block_size):
    rows = [_text(names, order[b::batch_size]) for b in range(batch_size)]
    return _lay_out(rows, block_size)


@mistake(
    "You didn't put boundaries between the names.",
    _counted,
)
def _boundaries_missing(names, order, batch_size, block_size):
    groups = _groups(order, batch_size)
    return _lay_out(
        [torch.tensor([0, *(t for i in g for t in names[i])]) for g in groups], block_size
    )


_last_window_missing = mistake(
    "If the shortest row ends exactly where a window ends, you leave that window out.",
    lambda e: unwrapped(f"""With B = 1, you return {len(e.yours("other.x"))} steps instead of
    {len(e.right("other.x"))}. Does each of your rows end with a boundary? A row of L tokens has
    L − 1 inputs with a target, so don't subtract one more."""),
)(Like("used-2-instead-of-1-in-the-number-of-steps"))


def _letters_alone(names, order, batch_size, block_size, less=0):
    """As many windows as there would be if only letters counted, less some, but the right ones."""
    rows = _rows(names, order, batch_size)
    steps = (min(int((row != 0).sum()) for row in rows) - less) // block_size
    return _lay_out([row[: steps * block_size + 1] for row in rows], block_size)


_boundaries_not_counted = mistake(
    "You return only as many windows as the letters fill, but boundaries are tokens, too.",
    lambda e: unwrapped(f"""With B = 1, the row has {len(e.inputs["letters"])} letters and
    {len(e.inputs["lengths"]) + 1} boundaries. Together they are enough for
    {len(e.right("other.x"))} windows of {e.number("other_block_size")}, but you return
    {len(e.yours("other.x"))}. Do you take the length of a row from its names?"""),
    also=(functools.partial(_letters_alone, less=1),),
)(_letters_alone)


@mistake(
    "Your rows begin with a letter, but there is a boundary before their first name, too.",
    _off,
    cases=("stream",),
)
def _first_boundary_missing(names, order, batch_size, block_size):
    return _lay_out([row[1:] for row in _rows(names, order, batch_size)], block_size)


@mistake(
    "Your windows start T + 1 tokens apart, but they should start T tokens apart.",
    lambda e: unwrapped(f"""{_off(e)} The inputs of step 1 should begin right after those of step
    0, which is {e.number("block_size")} tokens further on."""),
    cases=("stream",),
)
def _a_token_between(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    shortest = min(len(row) for row in rows)
    cut = torch.stack([row[:shortest] for row in rows]).unfold(1, block_size + 1, block_size + 1)
    return cut[:, :, :-1].transpose(0, 1), cut[:, :, 1:].transpose(0, 1)


def _row_lengths(evidence: Evidence) -> list[int]:
    """How many tokens each row has, boundaries included."""
    lengths = evidence.inputs["lengths"][evidence.inputs["order"]]
    rows = lengths.reshape(evidence.number("batch_size"), -1)
    return [int(row.sum()) + len(row) + 1 for row in rows]


def _goes_on(evidence: Evidence) -> bool:
    """True if all the right steps are there, followed by more."""
    mine, right = evidence.yours("stream.x"), evidence.right("stream.x")
    S = len(right)
    return (
        mine.shape[1:] == right.shape[1:]
        and len(mine) > S
        and np.array_equal(mine[:S], right)
        and np.array_equal(evidence.yours("stream.y")[:S], evidence.right("stream.y"))
    )


@mistake(
    "You return more windows than fit into the shortest row.",
    lambda e: unwrapped(f"""Your rows should have {", ".join(map(str, _row_lengths(e)))} tokens. The
    shortest has {min(_row_lengths(e)) - 1} inputs with a target, which is enough for
    {len(e.right("stream.x"))} whole windows of {e.number("block_size")}, but you return
    {len(e.yours("stream.x"))}. The first {len(e.right("stream.x"))} are right."""),
    recognized=_goes_on,
)
def _more_than_the_shortest(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    longest = max(len(row) for row in rows)
    padded = [torch.nn.functional.pad(row, (0, longest - len(row))) for row in rows]
    return _lay_out(padded, block_size)


def _bounded(names, order, batch_size, block_size, before):
    """Rows in which each name has a boundary on both sides, and some more come before the first."""
    rows = [[t for i in g for t in (0, *names[i], 0)] for g in _groups(order, batch_size)]
    return _lay_out([torch.tensor([0] * before + row) for row in rows], block_size)


_two_boundaries = mistake(
    "You put two boundaries between names, but one both ends a name and begins the next.",
    lambda e: unwrapped(f"""{_counted(e)} A row is a boundary, a name, a boundary, the next name,
    and so on."""),
    also=(functools.partial(_bounded, before=1),),
)(functools.partial(_bounded, before=0))


def _cut_wrongly(evidence: Evidence) -> tuple[str, int, int, int] | None:
    """The case in which a row was viewed as windows that don't fit, with their number, their length
    and how many tokens were viewed.
    """
    for case, name in (("stream", "block_size"), ("other", "other_block_size")):
        raised = evidence.answers.errors.get(case)
        said = raised and re.search(
            r"shape '\[(\d+), (\d+)\]' is invalid for input of size (\d+)", raised.message
        )
        if said:
            windows, length, tokens = (int(found) for found in said.groups())
            if length == evidence.number(name):
                return case, windows, length, tokens
    return None


def _says_cut(evidence: Evidence) -> str:
    found = _cut_wrongly(evidence)
    assert found is not None  # or the mistake is not recognized
    case, windows, length, tokens = found
    told = unwrapped(f"""You view {tokens} tokens as {windows} windows of {length}, which takes
    {windows * length} tokens.""")
    if case == "other":
        return f"{told} This is with B = 1, where all names are in a single row."
    lengths = _row_lengths(evidence)
    return unwrapped(f"""{told} Your rows should have {listed(lengths)} tokens. The shortest has
    {min(lengths) - 1} inputs with a target, which is enough for
    {(min(lengths) - 1) // length} whole windows.""")


@mistake(
    "You cut a row into windows that its tokens don't fill.",
    _says_cut,
    recognized=lambda e: _cut_wrongly(e) is not None,
)
def _more_windows_than_tokens(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    steps = -(-min(len(row) - 1 for row in rows) // block_size)
    used = steps * block_size
    x = torch.stack([row[:used].view(steps, block_size) for row in rows], dim=1)
    return x, torch.stack([row[1 : used + 1].view(steps, block_size) for row in rows], dim=1)


def _right_rows(evidence: Evidence) -> list[list[int]]:
    """The whole text of each row."""
    ends = evidence.inputs["lengths"].cumsum()
    names = [part.tolist() for part in np.split(evidence.inputs["letters"], ends[:-1])]
    order = evidence.inputs["order"].tolist()
    return [row.tolist() for row in _rows(names, order, evidence.number("batch_size"))]


def _your_rows(evidence: Evidence) -> list[list[int]]:
    """The inputs of each row, window after window, or none if `x` isn't (S, B, T)."""
    x = evidence.yours("stream.x")
    shape = (evidence.number("batch_size"), evidence.number("block_size"))
    if x.ndim != 3 or x.shape[1:] != shape:
        return []
    return [x[:, b].ravel().astype(int).tolist() for b in range(x.shape[1])]


def _names_read(evidence: Evidence, tokens: Sequence[int]) -> list[int]:
    """The numbers of the names whose letters are among these tokens, one after the other."""
    owners = np.repeat(np.arange(len(evidence.inputs["lengths"])), evidence.inputs["lengths"])
    owner = dict(zip(evidence.inputs["letters"].tolist(), owners.tolist(), strict=True))
    found = [owner[token] for token in tokens if token in owner]
    return [name for name, _ in groupby(found)]


def _other_names(evidence: Evidence) -> Finding | None:
    """Rows that read other names than theirs, or these in another order."""
    shares = np.split(evidence.inputs["order"], evidence.number("batch_size"))
    for b, (row, share) in enumerate(zip(_your_rows(evidence), shares, strict=False)):
        mine, right = _names_read(evidence, row), share.tolist()
        if len(mine) > 2 * len(right) or mine == right[: len(mine)]:
            continue  # of jumbled letters, the names say nothing
        told = unwrapped(f"""Your row {b} reads the names {listed(mine)}, one after the other, but
        its share of `order` is {listed(right)}.""")
        if {*mine} <= {*right} and len(mine) == len({*mine}):
            what = "Your rows have their own names, but in another order."
        elif mine[: len(right)] == right:
            what = "Your rows go on with names of another row."
        else:
            what = "Your rows have names that belong in other rows."
        return Finding("other-names-read", what, told, ROWS)
    return None


def _places(row: Sequence[int], window: Sequence[int]) -> list[int]:
    """Where the letters of a window are in its row; empty if one isn't there."""
    letters = [int(token) for token in window if token]
    return [row.index(token) for token in letters] if all(t in row for t in letters) else []


def _other_windows(evidence: Evidence) -> Finding | None:
    """Windows that begin at other places of their rows, or whose tokens aren't neighbors."""
    x, T = evidence.yours("stream.x"), evidence.number("block_size")
    if not _your_rows(evidence) or np.array_equal(x, evidence.right("stream.y")):
        return None  # inputs and targets that are exchanged are described as such
    for n, b in np.ndindex(*x.shape[:2]):
        row = _right_rows(evidence)[b]
        window, right = x[n, b].tolist(), row[n * T : (n + 1) * T]
        found = _places(row, window)
        if window == right or not found:
            continue
        where = f"Window {n} of row {b} should have the tokens at {n * T} to {n * T + T - 1} of it"
        start = next((s for s in range(len(row)) if row[s : s + T] == window), None)
        if start is not None:
            return Finding(
                "other-windows",
                "Your windows don't begin where they should.",
                f"{where}, counted from 0, but yours begins at {start}."
                + (" The boundary before the row's first name is missing." if start == 1 else ""),
                ROWS,
            )
        if len({row.index(token) - i for i, token in enumerate(window) if token}) > 1:
            return Finding(
                "windows-with-gaps",
                "The tokens of your windows aren't neighbors in their row.",
                f"{where}, counted from 0, but the letters of yours are at {listed(found)}.",
                ROWS,
            )
        return None
    return None


def _last_targets(evidence: Evidence) -> Finding | None:
    """Right inputs, and targets of which only the last of a window is wrong."""
    off = evidence.yours("stream.y") != evidence.right("stream.y")
    if not evidence.same("stream.x") or not off.any() or off[:, :, :-1].any():
        return None
    where = "some windows" if off[:-1].any() else "the last window of each row"
    return Finding(
        "last-targets",
        f"Your inputs are right, but the last target is wrong in {where}.",
        f"{_off(evidence, 'y')} The last target of a window is the token after it in its row.",
        ROWS,
    )


_GOES_ON = "In the next step, each row goes on where its window of this step ended."
_TOKENS = ("stream.x", "stream.y", "other.x", "other.y")


TASK = Task(
    "Rows of whole names",
    name_stream,
    ROWS,
    (
        Part("Each row begins with its own first name.", 1, _begins),
        Part("Row b of step n + 1 continues row b of step n.", 1, _continues),
        Part("The inputs are right.", 1, matches("stream.x", "other.x")),
        Part(
            "The targets are right, and all tokens are integers.",
            1,
            lambda e: e.same("stream.y", "other.y") and integers(e, *_TOKENS),
        ),
    ),
    properties=(
        holds_integers(_TOKENS, ROWS),
        _other_names,
        _other_windows,
        _last_targets,
    ),
    steps={
        "the number of names of a row": Step("Each row gets K / B names."),
        "the names of a row": Step("A row gets names that are next to each other in `order`."),
        "the beginning of a row": Step("There is a boundary before the first name of each row."),
        "a name and its boundary": Step("One boundary both ends a name and begins the next."),
        "the number of steps": Step(
            "A row of L tokens has L − 1 inputs with a target, and the shortest row decides."
        ),
        "the length that you use": Step("Every row gives as many whole windows as the shortest."),
        "your inputs": Step("The inputs of a row are its tokens from the first one on."),
        "your targets": Step("The target of an input is the token right after it."),
        "your windows of inputs": Step(_GOES_ON),
        "your windows of targets": Step(_GOES_ON),
    },
)
