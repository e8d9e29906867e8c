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
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import holds_integers, integers
from course_judges.wording import listed, unwrapped
from course_tasks.verdict import Finding


def name_stream(names, order, batch_size, block_size):
    """A right answer."""
    return _lay_out(_rows(names, order, batch_size), block_size)


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


def _joint(evidence: Evidence) -> str:
    """The first step that does not go on where the one before it ended."""
    x, y = evidence.yours("stream.x"), evidence.yours("stream.y")
    n, b = (int(i) for i in np.argwhere(y[:-1, :, -1] != x[1:, :, 0])[0])
    return unwrapped(f"""Row {b} of your step {n} ends with the target {int(y[n, b, -1])}, but in
    step {n + 1} it goes on with the input {int(x[n + 1, b, 0])}. These should be the same
    token.""")


def _counted(evidence: Evidence) -> str:
    mine, right = (int((side("stream.x") == 0).sum()) for side in (evidence.yours, evidence.right))
    return f"Your inputs contain {mine} boundaries instead of {right}."


@mistake("You left the names in the order of the list.", _off)
def _order_ignored(names, order, batch_size, block_size):
    return name_stream(names, range(len(names)), batch_size, block_size)


@mistake(
    "You read `order[i]` as the place of name i, but it is the number of the name at place i.",
    lambda e: (
        f"`order` begins with {int(e.inputs['order'][0])}, so name {int(e.inputs['order'][0])}"
        f" comes first. {_off(e)}"
    ),
)
def _order_inverted(names, order, batch_size, block_size):
    places = sorted(range(len(order)), key=order.__getitem__)
    return name_stream(names, places, batch_size, block_size)


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


@mistake("You filled each step row by row, so no row goes on in the next step.", _joint)
def _rows_do_not_continue(names, order, batch_size, block_size):
    stream = _text(names, order)
    steps = (len(stream) - 1) // (batch_size * block_size)
    used, shape = steps * batch_size * block_size, (steps, batch_size, block_size)
    return stream[:used].view(shape), stream[1 : used + 1].view(shape)


@mistake(
    "You dealt the names out in turn, but each row gets names next to each other in `order`.", _off
)
def _dealt_like_cards(names, order, batch_size, block_size):
    rows = [_text(names, order[b::batch_size]) for b in range(batch_size)]
    return _lay_out(rows, block_size)


@mistake("You viewed (B, S · T) as (S, B, T), which mixes rows and steps.", _joint)
def _view_without_transpose(names, order, batch_size, block_size):
    parts = name_stream(names, order, batch_size, block_size)
    return tuple(part.transpose(0, 1).reshape(part.shape) for part in parts)


@mistake(
    "Your first axis counts rows instead of steps.",
    lambda e: unwrapped(f"""Your `x` has shape {e.yours("stream.x").shape} instead of (S, B, T) =
    {e.right("stream.x").shape}. `x[n]` should be the batch of step n."""),
)
def _rows_before_steps(names, order, batch_size, block_size):
    return tuple(p.transpose(0, 1) for p in name_stream(names, order, batch_size, block_size))


@mistake(
    "Your targets are the inputs themselves, not the tokens that follow them.",
    lambda e: unwrapped(f"""{(e.yours("stream.x") == e.yours("stream.y")).mean():.0%} of your
    targets equal their inputs, so a model could reach a loss of 0 by copying."""),
)
def _unshifted_targets(names, order, batch_size, block_size):
    x, _ = name_stream(names, order, batch_size, block_size)
    return x, x


def _last_targets_filled(names, order, batch_size, block_size):
    x, _ = name_stream(names, order, batch_size, block_size)
    return x, torch.nn.functional.pad(x[:, :, 1:], (0, 1))


@mistake(
    "The last target of each of your windows isn't the token that follows it in the row.",
    lambda e: unwrapped(f"""{_off(e, "y")} The last target is the first input of the next step, so
    you can't get it from the window itself."""),
    also=(_last_targets_filled,),
)
def _wraps_in_the_window(names, order, batch_size, block_size):
    x, _ = name_stream(names, order, batch_size, block_size)
    return x, x.roll(-1, dims=2)


@mistake(
    "You didn't put boundaries between the names.",
    _counted,
)
def _boundaries_missing(names, order, batch_size, block_size):
    groups = _groups(order, batch_size)
    return _lay_out(
        [torch.tensor([0, *(t for i in g for t in names[i])]) for g in groups], block_size
    )


@mistake(
    "If the shortest row ends exactly where a window ends, you leave that window out.",
    lambda e: unwrapped(f"""With B = 1, you return {len(e.yours("other.x"))} steps instead of
    {len(e.right("other.x"))}. Does each of your rows end with a boundary? A row of L tokens has
    L − 1 inputs with a target, so don't subtract one more."""),
)
def _last_window_missing(names, order, batch_size, block_size):
    return _lay_out([row[:-1] for row in _rows(names, order, batch_size)], block_size)


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
    lambda e: unwrapped(f"""{_joint(e)} The inputs of step 1 should begin right after those of step
    0, which is {e.number("block_size")} tokens further on."""),
    cases=("stream",),
)
def _a_token_between(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    shortest = min(len(row) for row in rows)
    cut = torch.stack([row[:shortest] for row in rows]).unfold(1, block_size + 1, block_size + 1)
    return cut[:, :, :-1].transpose(0, 1), cut[:, :, 1:].transpose(0, 1)


@mistake(
    "You left out the beginning of rows that are too long instead of their end.",
    _off,
    cases=("stream",),
)
def _beginning_left_out(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    steps = min(len(row) - 1 for row in rows) // block_size
    return _lay_out([row[-(steps * block_size + 1) :] for row in rows], block_size)


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


@mistake(
    "You put two boundaries between names, but one both ends a name and begins the next.",
    lambda e: unwrapped(f"""{_counted(e)} A row is a boundary, a name, a boundary, the next name,
    and so on."""),
)
def _two_boundaries(names, order, batch_size, block_size):
    groups = _groups(order, batch_size)
    return _lay_out(
        [torch.tensor([t for i in g for t in (0, *names[i], 0)]) for g in groups], block_size
    )


@mistake(
    "Each of your rows has one name too few.",
    lambda e: unwrapped(f"""A row gets {_each(e)} names, but the last one of each share is missing
    from yours. With B = 1, you return {len(e.yours("other.x"))} windows instead of
    {len(e.right("other.x"))}. A slice [a : b] of `order` ends before place b."""),
)
def _last_name_missing(names, order, batch_size, block_size):
    rows = [_text(names, group[:-1]) for group in _groups(order, batch_size)]
    return _lay_out(rows, block_size)


@mistake(
    "Your windows overlap, because each begins one token after the one before it.",
    lambda e: unwrapped(f"""You return {len(e.yours("stream.x"))} windows instead of
    {len(e.right("stream.x"))}. They should lie side by side, T = {e.number("block_size")} tokens
    apart."""),
)
def _overlapping(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    shortest = min(len(row) for row in rows)
    cut = torch.stack([row[:shortest].unfold(0, block_size + 1, 1) for row in rows], dim=1)
    return cut[:, :, :-1], cut[:, :, 1:]


_RAGGED = ("expected sequence of length", "equal size", "inhomogeneous shape")


def _ragged(evidence: Evidence) -> bool:
    """True if rows of different lengths should become one array."""
    raised = evidence.answers.errors.get("stream")
    return raised is not None and any(said in raised.message for said in _RAGGED)


@mistake(
    "You put rows of different lengths into one array.",
    lambda e: unwrapped(f"""Your function stopped with {e.answers.errors["stream"].kind}. Your rows
    should have {listed(_row_lengths(e))} tokens. Find out first how many whole windows the shortest
    has, which is {len(e.right("stream.x"))} here, and take as many from every row."""),
    recognized=_ragged,
)
def _rows_of_different_lengths(names, order, batch_size, block_size):
    return _lay_out([torch.stack(_rows(names, order, batch_size)).flatten()], block_size)


def _share(evidence: Evidence) -> int | None:
    """How many places of `order` are between the first names of your rows, if always the same."""
    order = evidence.inputs["order"].tolist()
    begins = [order.index(_names_read(evidence, row)[0]) for row in _your_rows(evidence)]
    share = begins[1]
    return share if begins == [b * share for b in range(len(begins))] else None


@mistake(
    "Your rows have shares of `order` with the wrong number of names.",
    lambda e: unwrapped(f"""Your row 1 begins {_share(e)} names after row 0. With
    K = {len(e.inputs["order"])} names and B = {e.number("batch_size")}, it should be K / B =
    {_each(e)}."""),
    recognized=lambda e: _share(e) not in (None, _each(e)),
)
def _shares_of_another_length(names, order, batch_size, block_size):
    each = min(block_size, len(order) // batch_size + 1)
    rows = [_text(names, order[b * each : (b + 1) * each]) for b in range(batch_size)]
    return _lay_out(rows, block_size)


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


def _each(evidence: Evidence) -> int:
    """How many names each row has."""
    return len(evidence.inputs["order"]) // evidence.number("batch_size")


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


def _letters_in_another_order(evidence: Evidence) -> Finding | None:
    """A row with the right names whose letters aren't in their order."""
    for row, right in zip(_your_rows(evidence), _right_rows(evidence), strict=False):
        mine, read = ([token for token in tokens if token] for tokens in (row, right))
        names = _names_read(evidence, row)
        if mine == read[: len(mine)] or names != _names_read(evidence, right)[: len(names)]:
            continue
        first = names[0]
        letters = [token for token in mine if _names_read(evidence, [token]) == [first]]
        n = evidence.inputs["lengths"][first]
        wanted = [token for token in read if _names_read(evidence, [token]) == [first]]
        if len(letters) != n or letters == wanted:
            continue
        return Finding(
            "letters-in-another-order",
            "Your rows have the right names, but their letters are in another order.",
            f"The letters of name {first} are `{_told(wanted)}`, but you have `{_told(letters)}`.",
            ROWS,
        )
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


def _other_targets(evidence: Evidence) -> Finding | None:
    """Which targets are wrong if all inputs are right."""
    if not evidence.same("stream.x") or not evidence.comparable("stream.y"):
        return None
    mine, right = evidence.yours("stream.y"), evidence.right("stream.y")
    off = mine != right
    if not off.any():
        return None
    rows, T = _right_rows(evidence), evidence.number("block_size")
    for shift in range(-2, 5):
        moved = [row[max(shift, 0) :] for row in rows]
        if shift not in (0, 1) and all(
            moved[b][n * T + min(shift, 0) : (n + 1) * T + min(shift, 0)] == mine[n, b].tolist()
            for n, b in np.ndindex(*mine.shape[:2])
            if n * T + min(shift, 0) >= 0 and len(moved[b]) >= (n + 1) * T
        ):
            return Finding(
                "targets-shifted",
                f"Your targets are {abs(shift)} tokens {'after' if shift > 0 else 'before'} their"
                " inputs, but the target of an input is the token right after it.",
                _off(evidence, "y"),
                ROWS,
            )
    where = "the last window of each row" if not off[:-1].any() else "some windows"
    if not off[:, :, :-1].any():
        return Finding(
            "last-targets",
            f"Your inputs are right, but the last target is wrong in {where}.",
            f"{_off(evidence, 'y')} The last target of a window is the token after it in its row.",
            ROWS,
        )
    return None


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
        _letters_in_another_order,
        _other_windows,
        _other_targets,
    ),
)
