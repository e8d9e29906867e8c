"""Judges 09/stream: rows of whole names that continue from step to step."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001

from __future__ import annotations

import numpy as np
import torch

from course_judges.ch09_names.sections import ROWS
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import holds_integers, integers
from course_judges.wording import unwrapped


def name_stream(names, order, batch_size, block_size):
    """A right answer."""
    return _lay_out(_rows(names, order, batch_size), block_size)


def _rows(names, order, batch_size):
    """The whole text of each row of the batch."""
    return [_text(names, group) for group in _groups(order, batch_size)]


def _groups(order, batch_size):
    """Which names each row of the batch has, one after the other."""
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
    """True of rows of names only: whatever never changes goes on as it was."""
    x, y = evidence.yours("stream.x"), evidence.yours("stream.y")
    names = set(evidence.inputs["letters"].tolist())
    return (
        len(x) > 1
        and x.ndim == 3
        and len(names & set(x.ravel().tolist())) > len(names) / 2
        and bool((y[:-1, :, -1] == x[1:, :, 0]).all())
    )


def _off(evidence: Evidence, part: str = "x") -> str:
    """The first window, row by row, that is not as it should be."""
    mine, right = evidence.yours(f"stream.{part}"), evidence.right(f"stream.{part}")
    word = {"x": "inputs", "y": "targets"}[part]
    S = min(len(mine), len(right))
    wrong = np.argwhere((mine[:S] != right[:S]).any(axis=2).T)  # row, step
    if not len(wrong):
        return f"You return {len(mine)} steps; expected {len(right)}."
    b, n = (int(i) for i in wrong[0])
    return unwrapped(f"""In step {n}, row {b} your {word} are `{_told(mine[n, b])}`; expected
    `{_told(right[n, b])}`.""")


def _told(window) -> str:
    return " ".join(str(int(token)) for token in window)


def _joint(evidence: Evidence) -> str:
    """The first step that does not go on where the one before it ended."""
    x, y = evidence.yours("stream.x"), evidence.yours("stream.y")
    n, b = (int(i) for i in np.argwhere(y[:-1, :, -1] != x[1:, :, 0])[0])
    return unwrapped(f"""Row {b} of your step {n} ends with the target {int(y[n, b, -1])}; step
    {n + 1} goes on with the input {int(x[n + 1, b, 0])}. They should be the same token.""")


@mistake("You left the names in the order of the list.", _off)
def _order_ignored(names, order, batch_size, block_size):
    return name_stream(names, range(len(names)), batch_size, block_size)


@mistake(
    "You read `order` as the place of each name; it lists the names' numbers.",
    lambda e: (
        f"`order` begins with {int(e.inputs['order'][0])}, so name {int(e.inputs['order'][0])}"
        f" stands first. {_off(e)}"
    ),
)
def _order_inverted(names, order, batch_size, block_size):
    places = sorted(range(len(order)), key=order.__getitem__)
    return name_stream(names, places, batch_size, block_size)


@mistake(
    "You cut one long row into B equal stretches, in the middle of names.",
    lambda e: f"{_off(e)} A blank state is right only where a name begins.",
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
    "You dealt the names out in turn; each row gets names that stand together in `order`.", _off
)
def _dealt_like_cards(names, order, batch_size, block_size):
    rows = [_text(names, order[b::batch_size]) for b in range(batch_size)]
    return _lay_out(rows, block_size)


@mistake("Rows and steps got mixed: (B, S · T) was viewed as (S, B, T).", _joint)
def _view_without_transpose(names, order, batch_size, block_size):
    parts = name_stream(names, order, batch_size, block_size)
    return tuple(part.transpose(0, 1).reshape(part.shape) for part in parts)


@mistake(
    "Your first axis counts rows, not steps.",
    lambda e: unwrapped(f"""Yours has shape {e.yours("stream.x").shape}; expected (S, B, T) =
    {e.right("stream.x").shape}, so that `x[n]` is the batch of step n."""),
)
def _rows_before_steps(names, order, batch_size, block_size):
    return tuple(p.transpose(0, 1) for p in name_stream(names, order, batch_size, block_size))


@mistake(
    "Your targets are the inputs themselves.",
    lambda e: unwrapped(f"""{(e.yours("stream.x") == e.yours("stream.y")).mean():.0%} of your
    targets equal their inputs. A model would reach a loss of 0 by copying."""),
)
def _unshifted_targets(names, order, batch_size, block_size):
    x, _ = name_stream(names, order, batch_size, block_size)
    return x, x


def _last_targets_filled(names, order, batch_size, block_size):
    x, _ = name_stream(names, order, batch_size, block_size)
    return x, torch.nn.functional.pad(x[:, :, 1:], (0, 1))


@mistake(
    "The last target of each window is not the token that follows it in the row.",
    lambda e: unwrapped(f"""{_off(e, "y")} The last target is the first input of the next step; the
    window itself, moved by one, does not hold it."""),
    also=(_last_targets_filled,),
)
def _wraps_in_the_window(names, order, batch_size, block_size):
    x, _ = name_stream(names, order, batch_size, block_size)
    return x, x.roll(-1, dims=2)


@mistake(
    "There is no boundary between your names.",
    lambda e: unwrapped(f"""Your inputs hold {int((e.yours("stream.x") == 0).sum())} boundaries; the
    right ones hold {int((e.right("stream.x") == 0).sum())}."""),
)
def _boundaries_missing(names, order, batch_size, block_size):
    groups = _groups(order, batch_size)
    return _lay_out(
        [torch.tensor([0, *(t for i in g for t in names[i])]) for g in groups], block_size
    )


@mistake(
    "Where the shortest row ends just where a window does, that window is missing.",
    lambda e: unwrapped(f"""With B = 1 you return {len(e.yours("other.x"))} steps, where
    {len(e.right("other.x"))} are asked for. Does each row end with a boundary? And a row of L
    tokens has L − 1 inputs with a target, not one fewer."""),
)
def _last_window_missing(names, order, batch_size, block_size):
    return _lay_out([row[:-1] for row in _rows(names, order, batch_size)], block_size)


@mistake(
    "Your rows begin with a letter; a boundary stands before their first name, too.",
    _off,
    cases=("stream",),
)
def _first_boundary_missing(names, order, batch_size, block_size):
    return _lay_out([row[1:] for row in _rows(names, order, batch_size)], block_size)


@mistake(
    "Your windows lie T + 1 tokens apart, so the last target of a window is no input of the next.",
    lambda e: (
        unwrapped(f"""{_joint(e)} The inputs of step 1 should begin right after those of step 0,
    {e.number("block_size")} tokens further on; each last target is the next first input.""")
    ),
    cases=("stream",),
)
def _a_token_between(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    shortest = min(len(row) for row in rows)
    cut = torch.stack([row[:shortest] for row in rows]).unfold(1, block_size + 1, block_size + 1)
    return cut[:, :, :-1].transpose(0, 1), cut[:, :, 1:].transpose(0, 1)


@mistake(
    "You leave out the beginning of rows that are longer than the windows; leave out their end.",
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
    """True if what is right is followed by more steps."""
    mine, right = evidence.yours("stream.x"), evidence.right("stream.x")
    S = len(right)
    return (
        mine.shape[1:] == right.shape[1:]
        and len(mine) > S
        and np.array_equal(mine[:S], right)
        and np.array_equal(evidence.yours("stream.y")[:S], evidence.right("stream.y"))
    )


@mistake(
    "You return more windows than the shortest row has whole ones.",
    lambda e: unwrapped(f"""Your rows should have {", ".join(map(str, _row_lengths(e)))} tokens. The
    shortest has {min(_row_lengths(e)) - 1} inputs with a target, which is
    {len(e.right("stream.x"))} whole windows of {e.number("block_size")}; you return
    {len(e.yours("stream.x"))}. The first ones are right."""),
    recognized=_goes_on,
)
def _more_than_the_shortest(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    longest = max(len(row) for row in rows)
    padded = [torch.nn.functional.pad(row, (0, longest - len(row))) for row in rows]
    return _lay_out(padded, block_size)


@mistake(
    "Two boundaries stand between your names; one is the end of a name and the beginning of the "
    "next.",
    lambda e: unwrapped(f"""Your inputs hold {int((e.yours("stream.x") == 0).sum())} boundaries; the
    right ones hold {int((e.right("stream.x") == 0).sum())}. A row is the boundary, a name, the
    boundary, the next name."""),
)
def _two_boundaries(names, order, batch_size, block_size):
    groups = _groups(order, batch_size)
    return _lay_out(
        [torch.tensor([t for i in g for t in (0, *names[i], 0)]) for g in groups], block_size
    )


_TOKENS = ("stream.x", "stream.y", "other.x", "other.y")


TASK = Task(
    "Rows of whole names",
    name_stream,
    ROWS,
    (
        Part("Each row begins with a boundary and the first of its own names.", 1, _begins),
        Part("Row b of step n + 1 continues row b of step n.", 1, _continues),
        Part("The inputs are right.", 1, matches("stream.x", "other.x")),
        Part(
            "The targets are right, and all tokens are integers.",
            1,
            lambda e: e.same("stream.y", "other.y") and integers(e, *_TOKENS),
        ),
    ),
    properties=(holds_integers(_TOKENS, ROWS),),
)
