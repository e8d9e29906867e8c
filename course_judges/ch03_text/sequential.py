"""How windows that continue each other from step to step are judged."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from course_judges.ch03_text.sections import CONTINUE, EXAMPLES, ONCE, TARGET
from course_judges.ch03_text.targets import (
    IGNORED,
    counted_otherwise,
    held_for_ignored,
    not_the_next_token,
    place,
    row,
    successors,
    targets_once,
)
from course_judges.judging import Evidence, Part, Step, Task, matches, mistake
from course_judges.properties import holds_integers, integers
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array

# The input that holds the text of each case.
_TEXTS = {"steps": "tokens", "exact": "exact", "over": "over", "few": "few"}


def sequential_windows(tokens, batch_size, block_size, padding):
    """A right answer."""
    inputs = len(tokens) - 1  # the number of inputs
    length = -(-inputs // batch_size)  # the length of your rows: L, rounded up
    steps = -(-length // block_size)  # the number of steps: S, rounded up
    starts = torch.arange(batch_size)[:, None] * length  # where your rows begin (B, 1)
    columns = torch.arange(steps * block_size)  # the places in a row (S·T,)
    positions = starts + columns  # the positions of your inputs (B, S·T)
    inside = (columns < length) & (positions < inputs)  # the places with an input (B, S·T)
    positions = positions.clamp(max=inputs - 1)
    in_steps = (batch_size, steps, block_size)
    x = torch.where(inside, tokens[positions], padding)  # your inputs (B, S·T)
    y = torch.where(inside, tokens[positions + 1], -100)  # your targets (B, S·T)
    return x.view(in_steps).transpose(0, 1), y.view(in_steps).transpose(0, 1)


def _rows_continue(evidence: Evidence) -> bool:
    """A claim: each row goes on with the token after its last input in the step before."""
    x, padding = evidence.yours("steps.x"), evidence.number("padding")
    B, T = evidence.number("batch_size"), evidence.number("block_size")
    after = successors(evidence.inputs["tokens"])
    if x.ndim != 3 or x.shape[1:] != (B, T) or len(x) < 2:
        return False
    joints = [
        (int(last), int(first))
        for last, first in zip(x[:-1, :, -1].flat, x[1:, :, 0].flat, strict=True)
        if first != padding
    ]
    return len(joints) >= B and all(after.get(last) == first for last, first in joints)


def _step_targets_follow(evidence: Evidence) -> bool:
    x, y = evidence.yours("steps.x"), evidence.yours("steps.y")
    after = successors(evidence.inputs["tokens"])
    pairs = [(int(a), int(b)) for a, b in zip(x.flat, y.flat, strict=True) if int(a) in after]
    follow = len(pairs) > x.size / 2 and all(after[a] == b for a, b in pairs)
    return follow and integers(evidence, "steps.x", "steps.y")


def _joint(evidence: Evidence) -> str:
    x = evidence.yours("steps.x")
    return unwrapped(f"""In your step 0, row 0 ends with {int(x[0, 0, -1])}, but in step 1 it goes
    on with {int(x[1, 0, 0])}.""")


def _first_inputs(evidence: Evidence) -> str:
    mine, right = evidence.yours("steps.x")[0, 0], evidence.right("steps.x")[0, 0]
    return f"Row 0 of your step 0 is `{row(mine)}` instead of `{row(right)}`."


def _last_input(evidence: Evidence) -> int:
    """The last input of row 0 before its padding."""
    row = evidence.right("steps.x")[:, 0].ravel()
    return int(row[row != evidence.number("padding")][-1])


@mistake(
    "Your rows don't continue each other from step to step.",
    lambda e: unwrapped(f"""{_joint(e)} The token after {int(e.yours("steps.x")[0, 0, -1])} is
    {int(e.yours("steps.x")[0, 1, 0])}, but you put that into row 1 of step 0. Cut the text into B
    long rows first, and then cut the rows into steps."""),
)
def _rows_do_not_continue(tokens, batch_size, block_size, padding):
    missing = -(len(tokens) - 1) % (batch_size * block_size)
    x = F.pad(tokens[:-1], (0, missing), value=padding).view(-1, batch_size, block_size)
    y = F.pad(tokens[1:], (0, missing), value=IGNORED).view(-1, batch_size, block_size)
    return x, y


@mistake(
    "You viewed (B, S·T) as (S, B, T), which mixes up your rows.",
    lambda e: unwrapped(f"""{_joint(e)} A view keeps the numbers in their order, so it can't swap
    rows and steps. View as (B, S, T), then transpose the first two axes."""),
)
def _view_without_transpose(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    return x.transpose(0, 1).reshape(x.shape), y.transpose(0, 1).reshape(y.shape)


@mistake(
    "Your rows take S · T inputs each instead of L, so the end of the text runs short.",
    lambda e: unwrapped(f"""Row 1 of your step 0 begins with {int(e.yours("steps.x")[0, 1, 0])},
    which is at position {place(e, int(e.yours("steps.x")[0, 1, 0]))} of the tokens. With L = ⌈(N −
    1) / B⌉ inputs per row, it should begin at {place(e, int(e.right("steps.x")[0, 1, 0]))}. Give
    every row L inputs, then pad each row."""),
)
def _filled_at_the_end_only(tokens, batch_size, block_size, padding):
    missing = -(len(tokens) - 1) % (batch_size * block_size)
    x = F.pad(tokens[:-1], (0, missing), value=padding).view(batch_size, -1, block_size)
    y = F.pad(tokens[1:], (0, missing), value=IGNORED).view(batch_size, -1, block_size)
    return x.transpose(0, 1), y.transpose(0, 1)


def _steps_missing(evidence: Evidence) -> str:
    """The first case in which your steps are the right ones, but some are missing at the end; empty
    if there is none.
    """
    for case in _TEXTS:
        mine, right = evidence.yours(f"{case}.x"), evidence.right(f"{case}.x")
        if mine.shape[1:] == right.shape[1:] and len(mine) < len(right):
            return case if np.array_equal(mine, right[: len(mine)]) else ""
    return ""


@mistake(
    "You leave out steps at the end.",
    lambda e: unwrapped(f"""For {len(e.inputs[_TEXTS[_steps_missing(e)]])} tokens you return
    {len(e.yours(f"{_steps_missing(e)}.x"))} of {len(e.right(f"{_steps_missing(e)}.x"))} steps. A
    step in which some rows have no inputs left still belongs to the result. Fill it up with
    `padding` in x and −100 in y."""),
    ONCE,
    recognized=lambda e: bool(_steps_missing(e)),
)
def _padded_steps_dropped(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    full = (x != padding).flatten(1).all(dim=1)
    return x[full], y[full]


@mistake(
    "Your first axis counts rows instead of steps.",
    lambda e: unwrapped(f"""Your inputs have shape {e.yours("steps.x").shape}, which is (B, S, T),
    but the task asks for (S, B, T) = {e.right("steps.x").shape}, so that `x[n]` is the batch of
    step n."""),
)
def _rows_before_steps(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    return x.transpose(0, 1), y.transpose(0, 1)


@mistake(
    "Your targets are the inputs themselves.",
    lambda e: unwrapped(f"""Row 0 of step 0 has the inputs `{row(e.yours("steps.x")[0, 0])}` and the
    targets `{row(e.yours("steps.y")[0, 0])}`. The first target should be
    {int(e.right("steps.y")[0, 0, 0])}."""),
    TARGET,
    recognized=lambda e: (
        e.same("steps.x")
        and e.comparable("steps.y")
        and bool(
            (e.yours("steps.x") == e.yours("steps.y"))[
                e.right("steps.x") != e.number("padding")
            ].all()
        )
    ),
)
def _unshifted_targets(tokens, batch_size, block_size, padding):
    x, _ = sequential_windows(tokens, batch_size, block_size, padding)
    return x, torch.where(x == padding, IGNORED, x)


def _in_place_of_ignored(evidence: Evidence) -> int | None:
    """The one number that is where −100 belongs, if all other targets are right."""
    held = held_for_ignored(evidence, "steps.y") - {IGNORED}
    return held.pop() if len(held) == 1 else None


def _not_ignored(evidence: Evidence) -> int:
    """At how many places without an input that number is."""
    mine, right = evidence.yours("steps.y"), evidence.right("steps.y")
    return int((mine[right == IGNORED] != IGNORED).sum())


@mistake(
    lambda e: f"Your targets hold {number(_in_place_of_ignored(e) or 0)} where −100 belongs.",
    lambda e: unwrapped(f"""{int((e.right("steps.y") == IGNORED).sum())} places have no input, and
    {_not_ignored(e)} of them have {number(_in_place_of_ignored(e) or 0)} as a target in your y. A
    loss leaves out only −100, so it would count these places too. Pad targets in the same places as
    inputs, but with −100."""),
    ONCE,
    recognized=lambda e: _in_place_of_ignored(e) is not None,
)
def _padding_is_a_target(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    return x, torch.where(y == IGNORED, padding, y)


def _last_of_rows(evidence: Evidence) -> Array:
    """(S, B, T) True at the last input of each row."""
    there = evidence.right("steps.x") != evidence.number("padding")
    S, B, T = there.shape
    rows = there.transpose(1, 0, 2).reshape(B, S * T)
    last = rows & ~np.pad(rows[:, 1:], ((0, 0), (0, 1)))
    return last.reshape(B, S, T).transpose(1, 0, 2)


def _last_target(evidence: Evidence) -> int:
    """Your target of the last input of row 0."""
    return int(evidence.yours("steps.y")[:, 0][_last_of_rows(evidence)[:, 0]][0])


def _ends_of_rows_alone(evidence: Evidence) -> bool:
    """True if only the last target of each row is wrong, maybe except that of the last row, and
    what is at places without an input.
    """
    mine, right = evidence.yours("steps.y"), evidence.right("steps.y")
    last, counted = _last_of_rows(evidence), right != IGNORED
    wrong = mine != right
    return bool(wrong[:, :-1][last[:, :-1]].all()) and not (wrong & counted & ~last).any()


@mistake(
    lambda e: (
        "You leave out the last target of each row."
        if _last_target(e) == IGNORED
        else "The last target of your rows isn't the token that follows in the text."
    ),
    lambda e: unwrapped(f"""Row 0 ends with the input {int(_last_input(e))}. Its target is the first
    token of row 1, {int(e.right("steps.x")[0, 1, 0])}, but yours is {number(_last_target(e))}.
    Shift the text by one before you cut it into rows."""),
    recognized=lambda e: e.same("steps.x") and _ends_of_rows_alone(e),
)
def _targets_stop_at_the_row(tokens, batch_size, block_size, padding):
    x, _ = sequential_windows(tokens, batch_size, block_size, padding)
    rows = x.transpose(0, 1).reshape(batch_size, -1)  # (B, S·T)
    y = F.pad(rows[:, 1:], (0, 1), value=padding).view(batch_size, -1, block_size)
    return x, torch.where(y == padding, IGNORED, y).transpose(0, 1)


@mistake(
    "You leave out the last target of the text.",
    lambda e: unwrapped(f"""The target of the last input, {int(e.inputs["tokens"][-2])}, is
    {int(e.inputs["tokens"][-1])}, the last token of the text. It is no input, but it is a target
    like any other."""),
    ONCE,
    cases=("steps", "exact"),
)
def _last_target_missing(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    return x, torch.where((x == tokens[-2]) & (y == tokens[-1]), IGNORED, y)


@mistake(
    "You leave out the last target of each window.",
    lambda e: unwrapped(f"""Your first row of targets is `{row(e.yours("steps.y")[0, 0])}`, so one
    in {e.number("block_size")} targets is lost, the one with the longest past. It should be
    {int(e.right("steps.y")[0, 0, -1])}, the first input of the next step."""),
    EXAMPLES,
    cases=("steps.y",),
)
def _targets_stop_at_the_window(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    y = y.clone()
    y[:, :, -1] = IGNORED
    return x, y


def _filled_otherwise(evidence: Evidence) -> bool:
    """True if every input is in its place, but the places without one don't hold the padding."""
    mine, right = evidence.yours("steps.x"), evidence.right("steps.x")
    there = right != evidence.number("padding")
    if mine.shape != right.shape or not np.array_equal(mine[there], right[there]):
        return False
    other = set(mine[mine != right].tolist())
    return bool(other) and not other & set(evidence.inputs["tokens"].tolist())


def _a_row_filled_otherwise(evidence: Evidence) -> tuple[int, ...]:
    mine, right = evidence.yours("steps.x"), evidence.right("steps.x")
    return tuple(int(i) for i in np.argwhere((mine != right).any(axis=-1))[-1])


@mistake(
    "At places without an input, you put a number other than `padding`.",
    lambda e: unwrapped(f"""Every input is in its place. But in the last step with such a place, row
    {_a_row_filled_otherwise(e)[1]} is `{row(e.yours("steps.x")[_a_row_filled_otherwise(e)])}`
    instead of `{row(e.right("steps.x")[_a_row_filled_otherwise(e)])}`. The caller chooses the
    filler and passes it as `padding`, which is {e.number("padding")} here."""),
    recognized=_filled_otherwise,
)
def _padding_ignored(tokens, batch_size, block_size, padding):
    return sequential_windows(tokens, batch_size, block_size, 0)


@mistake(
    "You make one step too many when the last one is full.",
    lambda e: unwrapped(f"""With L = {len(e.right("exact.x")) * e.number("block_size")} and T =
    {e.number("block_size")} there are {len(e.right("exact.x"))} steps, but you return
    {len(e.yours("exact.x"))}, and the last of them is all padding. L // T + 1 is one too many when
    nothing is left over, while ⌈L / T⌉ is `-(-L // T)`."""),
    cases=("steps", "exact"),
)
def _one_step_more(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    if -(-(len(tokens) - 1) // batch_size) % block_size:
        return x, y
    return (
        torch.cat([x, torch.full_like(x[:1], padding)]),
        torch.cat([y, torch.full_like(y[:1], IGNORED)]),
    )


@mistake(
    "You use the last token of the text as an input, but nothing follows it.",
    lambda e: unwrapped(f"""{len(e.inputs["tokens"])} tokens have {len(e.inputs["tokens"]) - 1}
    inputs, because token {int(e.inputs["tokens"][-1])} at the end is only a target. In x, its place
    should hold `padding`."""),
    recognized=lambda e: (
        e.comparable("steps.x")
        and e.yours("steps.x")[e.yours("steps.x") != e.right("steps.x")].tolist()
        == [e.inputs["tokens"][-1]]
    ),
)
def _last_token_is_an_input(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    rows = x.transpose(0, 1).reshape(batch_size, -1)
    free = int((rows[-1] != padding).sum())
    if free < rows.shape[1]:
        rows[-1, free] = tokens[-1]
    return rows.view(batch_size, -1, block_size).transpose(0, 1), y


def _apart(evidence: Evidence) -> int:
    """How far apart in the text neighbors of row 0 in your step 0 are, if that is always the same;
    else 1.
    """
    text, first = evidence.inputs["tokens"].tolist(), evidence.yours("steps.x")[0, 0].tolist()
    apart = np.diff([text.index(token) for token in first if token in text])
    same = len(apart) > 0 and bool((apart == apart[0]).all())
    return int(apart[0]) if same and evidence.comparable("steps.x") else 1


@mistake(
    "Neighbors in your rows aren't neighbors in the text.",
    lambda e: unwrapped(f"""{_first_inputs(e)} These inputs are {abs(_apart(e))} tokens apart in the
    text. A row of B · S · T numbers is read with `view(B, S, T)`, in which the last axis runs over
    neighbors, and only then are axes transposed."""),
    recognized=lambda e: _apart(e) != 1,
)
def _last_axis_over_steps(tokens, batch_size, block_size, padding):
    def viewed_otherwise(part):
        rows = part.transpose(0, 1).reshape(batch_size, block_size, -1)  # (B, T, S)
        return rows.permute(2, 0, 1)

    return tuple(map(viewed_otherwise, sequential_windows(tokens, batch_size, block_size, padding)))


@mistake(
    "You put the padding at the beginning instead of the end.",
    lambda e: unwrapped(f"""{_first_inputs(e)} `F.pad(row, (0, k))` puts k numbers after a row, and
    `(k, 0)` puts them in front of it."""),
)
def _filled_on_the_left(tokens, batch_size, block_size, padding):
    length = -(-(len(tokens) - 1) // batch_size)

    def moved(part):
        rows = part.transpose(0, 1).reshape(batch_size, -1).roll(-length % block_size, dims=1)
        return rows.view(batch_size, -1, block_size).transpose(0, 1)

    return tuple(map(moved, sequential_windows(tokens, batch_size, block_size, padding)))


@mistake(
    "You swapped inputs and targets, so each target is the token before its input.",
    lambda e: unwrapped(f"""Row 0 of step 0 has the inputs `{row(e.yours("steps.x")[0, 0])}` and the
    targets `{row(e.yours("steps.y")[0, 0])}`. Return x first, and then y, which is one token
    ahead."""),
    TARGET,
    cases=("steps",),
)
def _results_exchanged(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    return y, x


@mistake(
    "You swapped `batch_size` and `block_size`.",
    lambda e: unwrapped(f"""Your x has shape {e.yours("steps.x").shape} instead of (S, B, T) =
    {e.right("steps.x").shape}, with {e.number("batch_size")} rows of which each step reads
    {e.number("block_size")} tokens."""),
    cases=("steps.x",),
)
def _sizes_exchanged(tokens, batch_size, block_size, padding):
    return sequential_windows(tokens, block_size, batch_size, padding)


def _runs_on(evidence: Evidence) -> bool:
    """True if every input is in its place, and row 0 goes on with what row 1 begins with."""
    mine, right = evidence.yours("steps.x"), evidence.right("steps.x")
    there = right != evidence.number("padding")
    free = np.flatnonzero(~there[-1, 0])
    return (
        mine.shape == right.shape
        and np.array_equal(mine[there], right[there])
        and mine[-1, 0, free[0]] == right[0, 1, 0]
    )


@mistake(
    "The last step of each of your rows runs on into the next row.",
    lambda e: unwrapped(f"""Row 0 of your last step is `{row(e.yours("steps.x")[-1, 0])}` instead of
    `{row(e.right("steps.x")[-1, 0])}`. A row ends after its L inputs, because row 1 reads what
    comes next. Otherwise these inputs are read twice."""),
    recognized=_runs_on,
)
def _runs_into_the_next_row(tokens, batch_size, block_size, padding):
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)
    at = length * torch.arange(batch_size)[:, None] + torch.arange(steps * block_size)
    inside, at = at < len(tokens) - 1, at.clamp(max=len(tokens) - 2)
    x = torch.where(inside, tokens[at], padding).view(batch_size, steps, block_size)
    y = torch.where(inside, tokens[at + 1], IGNORED).view(batch_size, steps, block_size)
    return x.transpose(0, 1), y.transpose(0, 1)


def _other_length(evidence: Evidence) -> tuple[str, int]:
    """The first case in which all rows take the same number of inputs, but not L, and that number;
    no case if there is none.
    """
    B, T = evidence.number("batch_size"), evidence.number("block_size")
    for case, text in (("steps", "tokens"), ("exact", "exact"), ("over", "over")):
        x, tokens = evidence.yours(f"{case}.x"), evidence.inputs[text].tolist()
        if x.ndim != 3 or x.shape[1:] != (B, T) or not len(x):
            continue
        begins = [tokens.index(first) for first in x[0, :, 0].tolist() if first in tokens]
        apart = begins[1] if len(begins) > 1 else 0
        length = -(-(len(tokens) - 1) // B)
        if apart > 1 and apart != length and begins == [apart * b for b in range(len(begins))]:
            read = x[:, 0].ravel()[: min(apart, len(x) * T)].tolist()
            return (case, apart) if read == tokens[: len(read)] else ("", 0)
    return "", 0


def _says_how_long(evidence: Evidence) -> str:
    case, length = _other_length(evidence)
    N = len(evidence.inputs["tokens" if case == "steps" else case])
    B = evidence.number("batch_size")
    return unwrapped(f"""With N = {N} and B = {B}, your row 1 begins at position {length} of the
    tokens. There is one input fewer than tokens, N − 1 = {N - 1}, so each row takes L = ⌈{N - 1} /
    {B}⌉ = {-(-(N - 1) // B)} of them. `-(-a // b)` rounds a division up.""")


@mistake(
    "You don't give each row L inputs.",
    _says_how_long,
    recognized=lambda e: bool(_other_length(e)[0]),
)
def _rows_of_another_length(tokens, batch_size, block_size, padding):
    length = (len(tokens) - 1) // batch_size
    return sequential_windows(tokens[: batch_size * length + 1], batch_size, block_size, padding)


def _shares(evidence: Evidence, case: str) -> list[int]:
    """How many inputs each of your rows takes, if all inputs are there in their order, followed by
    padding in each row; an empty list if not.
    """
    x, inputs = evidence.yours(f"{case}.x"), evidence.inputs[_TEXTS[case]][:-1]
    B = evidence.number("batch_size")
    if x.ndim != 3 or x.shape[1:] != (B, evidence.number("block_size")):
        return []
    rows = x.transpose(1, 0, 2).reshape(B, -1)
    there = rows != evidence.number("padding")
    ends = there.sum(axis=1)
    packed = np.array_equal(there, np.arange(rows.shape[1]) < ends[:, None])
    return ends.tolist() if packed and np.array_equal(rows[there], inputs) else []


def _right_shares(evidence: Evidence, case: str) -> list[int]:
    """How many inputs each row should take."""
    N, B = len(evidence.inputs[_TEXTS[case]]) - 1, evidence.number("batch_size")
    L = -(-N // B)
    return [max(0, min(L, N - b * L)) for b in range(B)]


def _shared_otherwise(evidence: Evidence) -> str:
    """The first case in which your rows share the inputs in another way; empty if none does."""
    for case in _TEXTS:
        mine = _shares(evidence, case)
        if mine and mine != _right_shares(evidence, case):
            return case
    return ""


def _says_shares(evidence: Evidence) -> str:
    case = _shared_otherwise(evidence)
    mine, right = _shares(evidence, case), _right_shares(evidence, case)
    return unwrapped(f"""Your {len(mine)} rows take {listed(mine)} of the {sum(mine)} inputs, but
    they should take {listed(right)}. Each takes L = {right[0]}, and only the end of the text has
    fewer left.""")


@mistake(
    lambda e: (
        "You made all rows as equal as possible, but every row except the last takes L inputs."
        if np.ptp(_shares(e, _shared_otherwise(e))) == 1
        else "Your rows don't take L inputs each, with the rest in the last row."
    ),
    _says_shares,
    recognized=lambda e: bool(_shared_otherwise(e)),
)
def _rows_as_equal_as_possible(tokens, batch_size, block_size, padding):
    x, y = tokens[:-1].tensor_split(batch_size), tokens[1:].tensor_split(batch_size)
    steps = -(-len(x[0]) // block_size)

    def lay_out(rows, filler):
        filled = [F.pad(row, (0, steps * block_size - len(row)), value=filler) for row in rows]
        return torch.stack(filled).view(batch_size, steps, block_size).transpose(0, 1)

    return lay_out(x, padding), lay_out(y, IGNORED)


@mistake(
    "You leave out rows for which there are no inputs left.",
    lambda e: unwrapped(f"""With {len(e.inputs["few"]) - 1} inputs in {e.number("batch_size")} rows,
    x should have shape {e.right("few.x").shape}, but yours has {e.yours("few.x").shape}. `chunk`
    and `split` stop when nothing is left, but such a row should be all padding, with −100 as
    targets."""),
    cases=("steps", "few"),
)
def _empty_rows_missing(tokens, batch_size, block_size, padding):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    rows = -(-(len(tokens) - 1) // -(-(len(tokens) - 1) // batch_size))
    return x[:, :rows], y[:, :rows]


@mistake(
    "You took a symbol of the text for padding because it has the same number.",
    lambda e: unwrapped(f"""With `padding` = {e.number("symbol")}, which is also a symbol of this
    text, {int((e.yours("common.y") == IGNORED).sum())} of your targets are −100, but only
    {int((e.right("common.y") == IGNORED).sum())} places have no input. Look at the position instead
    of the number that is there."""),
    cases=("steps", "common"),
    also=(lambda *given: _without_padding(*given, of_y=False),),
)
def _padding_known_by_its_number(tokens, batch_size, block_size, padding):
    return _without_padding(tokens, batch_size, block_size, padding)


def _without_padding(tokens, batch_size, block_size, padding, *, of_y=True):
    x, y = sequential_windows(tokens, batch_size, block_size, padding)
    ignored = (x == padding) | ((y == padding) & of_y)
    return x, torch.where(ignored, IGNORED, y)


TASK = Task(
    "Sequential windows that lose nothing",
    sequential_windows,
    CONTINUE,
    (
        Part("Row b of step n + 1 continues row b of step n.", 1, _rows_continue),
        Part(
            "The inputs are all there, in B rows of equal length.",
            1,
            matches("steps.x", "exact.x", "over.x", "few.x", "tiny.x"),
        ),
        Part("Each target is the token that follows its input.", 1, _step_targets_follow),
        Part(
            "Every token but the first is a target, once.",
            2,
            lambda e: all(
                targets_once(*one)(e)
                for one in (
                    ("steps.y", "tokens"),
                    ("exact.y", "exact"),
                    ("over.y", "over"),
                    ("few.y", "few"),
                    ("common.y", "tokens"),
                    ("tiny.y", "tiny"),
                )
            ),
        ),
    ),
    properties=(
        not_the_next_token("steps.x", "steps.y", "tokens"),
        counted_otherwise("steps.y"),
        holds_integers(("steps.x", "steps.y"), TARGET),
    ),
    cases=("steps.x",),
    steps={
        "the number of inputs": Step("The last token of a text is only a target."),
        "the length of your rows": Step("Each row takes L = ⌈(N − 1) / B⌉ inputs."),
        "the number of steps": Step("A row of L inputs takes S = ⌈L / T⌉ steps."),
        "where your rows begin": Step("Each row takes the L inputs after those of the one before."),
        "the places in a row": Step("A row has S · T places, of which L hold an input."),
        "the positions of your inputs": Step("A row is a stretch of the text."),
        "the places with an input": Step(
            "A row ends after its L inputs, because the next one reads what comes then."
        ),
        "your inputs": Step("What has no input is filled with `padding`."),
        "your targets": Step(
            "The target of an input is the token right after it, also at the end of a row.", TARGET
        ),
    },
)
