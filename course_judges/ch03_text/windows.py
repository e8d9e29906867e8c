"""How windows with a stride are judged."""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch

from course_judges.ch03_text.sections import EXAMPLES, TARGET
from course_judges.ch03_text.targets import IGNORED, begins, not_the_next_token, row, successors
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import holds_integers, integers
from course_judges.wording import listed, unwrapped


def windows(tokens, block_size, stride):
    """A right answer."""
    starts = torch.arange(0, len(tokens) - block_size, stride)  # where your windows begin (M,)
    positions = starts[:, None] + torch.arange(block_size)  # the positions of your inputs (M, T)
    after = positions + 1  # the positions of your targets (M, T)
    return tokens[positions], tokens[after]


def _targets_follow(evidence: Evidence) -> bool:
    """True for any windows in which each target is the token after its input."""
    others = "longer", "apart", "single", "tiny"
    for case, tokens in (("exact", "tokens"), *((name, name) for name in others)):
        T = 1 if case == "tiny" else evidence.number("block_size")
        x, y = evidence.yours(f"{case}.x"), evidence.yours(f"{case}.y")
        after = successors(evidence.inputs[tokens])
        if x.shape != y.shape or x.ndim != 2 or not x.size or x.shape[1] != T:
            return False
        if [after.get(int(token)) for token in x.flat] != [int(token) for token in y.flat]:
            return False
    return integers(evidence, "exact.x", "exact.y")


def _first_rows(case: str) -> Callable[[Evidence], str]:
    return lambda e: (
        f"Your first row of inputs is `{row(e.yours(f'{case}.x')[0])}` and its targets are "
        f"`{row(e.yours(f'{case}.y')[0])}`."
    )


_unshifted_targets = mistake(
    "Your targets are the inputs themselves.",
    lambda e: unwrapped(f"""{_first_rows("exact")(e)} A model that copies its input would have a
    loss of 0 without predicting anything. The target of {int(e.right("exact.x")[0, 0])} should be
    {int(e.right("exact.y")[0, 0])}."""),
)(Like("left-out-1-in-the-positions-of-your-targets"))


@mistake(
    "You shifted the targets the wrong way, so each is the token before its input.",
    lambda e: unwrapped(f"""{_first_rows("exact")(e)} This asks a model to remember instead of
    predict. Your inputs and targets are swapped."""),
)
def _shifted_backwards(tokens, block_size, stride):
    x, y = windows(tokens, block_size, stride)
    return y, x


def _other_count(evidence: Evidence) -> str:
    """The number of windows, if that is wrong too."""
    mine, right = len(evidence.yours("exact.x")), len(evidence.right("exact.x"))
    stride = evidence.number("stride")
    counted = f" With windows {stride} apart, {right} fit into the text, but you return {mine}."
    return counted if mine != right else ""


@mistake(
    "Your targets are the inputs of the next window.",
    lambda e: unwrapped(f"""{_first_rows("exact")(e)} Your targets are a whole stride of
    {e.number("stride")} tokens further on, but the target of an input is the very next token. A
    window and its targets are T + 1 = {e.number("block_size") + 1} tokens in a
    row.{_other_count(e)}"""),
)
def _next_row_as_target(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size, stride)
    return rows[:-1], rows[1:]


@mistake(
    "You give each window only one target, the token after its end.",
    lambda e: unwrapped(f"""Each of the {e.number("block_size")} positions of a row needs its own
    target, so your targets should have shape {e.right("exact.y").shape} instead of
    {e.yours("exact.y").shape}."""),
    EXAMPLES,
)
def _one_target_a_window(tokens, block_size, stride):
    x, y = windows(tokens, block_size, stride)
    return x, y[:, -1]


# What PyTorch, NumPy and Python say of an index past the end, or of rows of different lengths.
_READS_TOO_FAR = (
    "out of range",
    "out of bounds",
    "equal size",
    "same shape",
    "inhomogeneous",
    "expected sequence of length",
)


@mistake(
    "Your last window reads past the end of the tokens.",
    lambda e: unwrapped(f"""With N = {len(e.inputs["longer"])}, T = {e.number("block_size")} and
    stride = {e.number("stride")}, the inputs of a window still fit at position
    {len(e.inputs["longer"]) - e.number("block_size")}, but its last target would be at
    {len(e.inputs["longer"])}, where there is no token. So a slice comes out one token short, and an
    index is out of range."""),
    recognized=lambda e: (
        "exact" not in e.answers.errors
        and any(said in e.answers.errors["longer"].message for said in _READS_TOO_FAR)
    ),
)
def _reads_past_the_end(tokens, block_size, stride):
    starts = range(0, len(tokens) - block_size + 1, stride)
    x = torch.stack([tokens[s : s + block_size] for s in starts])
    return x, torch.stack([tokens[s + 1 : s + block_size + 1] for s in starts])


@mistake(
    "Your targets are two tokens ahead of their inputs instead of one.",
    lambda e: unwrapped(f"""{_first_rows("exact")(e)} The target of {int(e.right("exact.x")[0, 0])}
    should be the token right after it, {int(e.right("exact.y")[0, 0])}."""),
    recognized=lambda e: (
        np.array_equal(e.yours("exact.x")[0], e.right("exact.x")[0])
        and np.array_equal(e.yours("exact.y")[0, :-1], e.right("exact.y")[0, 1:])
    ),
)
def _two_ahead(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size + 2, stride)
    return rows[:, :-2], rows[:, 2:]


@mistake(
    "Your windows have one input too few.",
    lambda e: unwrapped(f"""With T = {e.number("block_size")} your rows have
    {e.yours("exact.x").shape[1]} inputs. Together, {e.number("block_size")} inputs and the target
    of the last one are T + 1 tokens in a row."""),
    recognized=lambda e: (
        e.yours("exact.x").shape[1] == e.number("block_size") - 1
        and np.array_equal(e.yours("exact.x")[0], e.right("exact.x")[0, :-1])
    ),
)
def _one_input_too_few(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size, stride)
    return rows[:, :-1], rows[:, 1:]


@mistake(
    "Your windows have one input too many.",
    lambda e: unwrapped(f"""With T = {e.number("block_size")} your rows have
    {e.yours("exact.x").shape[1]} inputs. A window of T + 1 tokens holds T inputs and the target of
    the last one, so `row[:-1]` are the inputs and `row[1:]` the targets."""),
    recognized=lambda e: (
        e.yours("exact.x").shape[1] == e.number("block_size") + 1
        and np.array_equal(e.yours("exact.x")[0, :-1], e.right("exact.x")[0])
    ),
)
def _one_input_too_many(tokens, block_size, stride):
    return windows(tokens, block_size + 1, stride)


def _targets_but_the_last(evidence: Evidence) -> bool:
    """True if each window's targets are its own later inputs, and its last one is something else
    than the next token.
    """
    x, y = evidence.yours("exact.x"), evidence.yours("exact.y")
    after = successors(evidence.inputs["tokens"])
    return (
        x.shape == y.shape == evidence.right("exact.x").shape
        and np.array_equal(y[:, :-1], x[:, 1:])
        and all(after.get(int(a)) != int(b) for a, b in zip(x[:-1, -1], y[:-1, -1], strict=True))
    )


def _which_last_targets(evidence: Evidence) -> str:
    """What the last targets of windows are, if they are known."""
    ends, firsts = evidence.yours("exact.y")[:, -1], evidence.yours("exact.x")[:, 0]
    if not np.array_equal(ends[:-1], firsts[1:]):
        return "The last target of each of your windows isn't the next token."
    if ends[-1] != firsts[0]:
        return (
            "The last target of each of your windows but the last one is the first input of the "
            "next window."
        )
    return (
        "The last target of each of your windows is the first input of the next window, and that "
        "of the last window is the first input of all."
    )


@mistake(
    _which_last_targets,
    lambda e: unwrapped(f"""{_first_rows("exact")(e)} The last input is
    {int(e.right("exact.x")[0, -1])}, and the text goes on with {int(e.right("exact.y")[0, -1])}. A
    window and its targets are T + 1 = {e.number("block_size") + 1} tokens in a row, so the last
    target lies outside of the window."""),
    recognized=lambda e: _targets_but_the_last(e) and not _rolls(e),
)
def _targets_inside_the_window(tokens, block_size, stride):
    x, y = windows(tokens, block_size, stride)
    y = y.clone()
    y[:, -1] = IGNORED
    return x, y


def _rolls(evidence: Evidence) -> bool:
    """True if each window's targets are its inputs, rolled by one."""
    return np.array_equal(evidence.yours("exact.y"), np.roll(evidence.yours("exact.x"), -1, axis=1))


@mistake(
    "The last target of each of your windows is the window's own first input.",
    lambda e: unwrapped(f"""{_first_rows("exact")(e)} If you roll a window by itself, its first
    token comes round to the end. The target of its last input should be the token after the window,
    {int(e.right("exact.y")[0, -1])}, because a window and its targets are T + 1 =
    {e.number("block_size") + 1} tokens in a row."""),
    recognized=lambda e: _rolls(e) and np.array_equal(e.yours("exact.x")[0], e.right("exact.x")[0]),
)
def _rolled_in_itself(tokens, block_size, stride):
    x, _ = windows(tokens, block_size, stride)
    return x, x.roll(-1, dims=1)


def _steps_within(evidence: Evidence) -> int:
    """How far apart in the text neighbors of your first row are; 1 if they are neighbors there or
    unevenly spaced.
    """
    text = evidence.inputs["tokens"].tolist()
    apart = np.diff([text.index(token) for token in evidence.yours("exact.x")[0].tolist()])
    return int(apart[0]) if len(apart) and (apart == apart[0]).all() else 1


@mistake(
    "Neighbors in your rows aren't neighbors in the text.",
    lambda e: (
        unwrapped(f"""{_first_rows("exact")(e)} These inputs are {_steps_within(e)} tokens apart
    in the text. The stride is from one window to the next, and within a window each input is the
    token after the one before it.""")
    ),
    recognized=lambda e: _steps_within(e) > 1,
)
def _stride_within_a_window(tokens, block_size, stride):
    starts = torch.arange(max(0, len(tokens) - block_size * stride))
    positions = starts[:, None] + torch.arange(block_size) * stride
    return tokens[positions], tokens[positions + 1]


@mistake(
    "You swapped `block_size` and `stride`.",
    lambda e: unwrapped(f"""Your x has shape {e.yours("exact.x").shape} instead of
    {e.right("exact.x").shape}. A row should have T = {e.number("block_size")} inputs, and windows
    should begin {e.number("stride")} tokens apart. `unfold(0, size, step)` takes the size of a
    window before the step."""),
    cases=("exact.x",),
)
def _arguments_exchanged(tokens, block_size, stride):
    return windows(tokens, stride, block_size)


# The inputs of each case: its text, and the length and stride of its windows.
_ASKED = {
    "exact": ("tokens", "block_size", "stride"),
    "longer": ("longer", "block_size", "stride"),
    "apart": ("apart", "block_size", "large_stride"),
    "single": ("single", "block_size", "stride"),
    "tiny": ("tiny", "one", "one"),
}


def _begins_in(evidence: Evidence, case: str) -> list[int]:
    """Where in the text of a case your windows begin; none if one of them is no stretch of it."""
    return begins(evidence.yours(f"{case}.x"), evidence.inputs[_ASKED[case][0]])


def _grid(evidence: Evidence, case: str, count: int) -> list[int]:
    """Where so many windows should begin."""
    return [int(evidence.inputs[_ASKED[case][2]].flat[0]) * m for m in range(count)]


def _begin_elsewhere(evidence: Evidence) -> str:
    """The first case in which your windows have the right length, but don't begin where windows
    should; empty if there is none.
    """
    for case in _ASKED:
        if f"{case}.x" in evidence.answers.values:
            mine = _begins_in(evidence, case)
            long_enough = (
                evidence.yours(f"{case}.x").shape[1:] == evidence.right(f"{case}.x").shape[1:]
            )
            if long_enough and mine != _grid(evidence, case, len(mine)):
                return case
    return ""


def _which_begin_elsewhere(evidence: Evidence) -> str:
    case = _begin_elsewhere(evidence)
    mine = _begins_in(evidence, case)
    if sorted(mine) == _grid(evidence, case, len(mine)):
        return "Your windows are the right ones, but in another order."
    if mine[:-1] == _grid(evidence, case, len(mine) - 1):
        return "Your last window doesn't begin `stride` tokens after the one before it."
    if mine[0]:
        return "Your first window doesn't begin at the beginning of the text."
    return "Your windows don't begin `stride` tokens apart."


def _says_where_they_begin(evidence: Evidence) -> str:
    case = _begin_elsewhere(evidence)
    mine, N = _begins_in(evidence, case), len(evidence.inputs[_ASKED[case][0]])
    right = _grid(evidence, case, len(evidence.right(f"{case}.x")))
    stride, T = (int(evidence.inputs[name].flat[0]) for name in (_ASKED[case][2], _ASKED[case][1]))
    rest = (
        " Tokens that are left over at the end are in no window."
        if mine[-1] % stride and mine[-1] + T + 1 == N
        else ""
    )
    apart = {b - a for a, b in pairwise(mine)}
    gap = (
        f" They are {T + stride} tokens apart, which is block_size + stride. A stride is counted "
        "from the beginning of a window to the beginning of the next."
        if apart == {T + stride}
        else ""
    )
    far = (
        " A stride may be larger than a window, and then the tokens between two windows are in "
        "neither."
        if stride > T
        else ""
    )
    return unwrapped(f"""With N = {N} and stride = {stride}, your windows begin at positions
    {_some(mine)}, but they should begin at {_some(right)}.{gap}{far}{rest}""")


def _some(places: list[int]) -> str:
    """Positions, without those in the middle if there are many."""
    few = len(places) < 7
    return listed(places) if few else f"{listed(places[:3])}, …, {listed(places[-2:])}"


@mistake(
    _which_begin_elsewhere,
    _says_where_they_begin,
    recognized=lambda e: bool(_begin_elsewhere(e)),
)
def _another_stride(tokens, block_size, stride):
    return windows(tokens, block_size, stride + 1)


def _miscounted(evidence: Evidence) -> str:
    """The first case with too many or too few windows that are right as far as they go."""
    for case in _ASKED:
        if f"{case}.x" not in evidence.answers.values:
            continue
        mine, right = evidence.yours(f"{case}.x"), evidence.right(f"{case}.x")
        both = min(len(mine), len(right))
        if mine.shape[1:] == right.shape[1:] and len(mine) != len(right) and len(mine):
            return case if np.array_equal(mine[:both], right[:both]) else ""
    return ""


def _says_how_many(evidence: Evidence) -> str:
    case = _miscounted(evidence)
    text, *sizes = _ASKED[case]
    N, (T, stride) = len(evidence.inputs[text]), (int(evidence.inputs[s].flat[0]) for s in sizes)
    mine, right = len(evidence.yours(f"{case}.x")), len(evidence.right(f"{case}.x"))
    other = (
        f"Another one would have its last target at {right * stride + T}, but the text ends at "
        f"{N - 1}."
        if mine > right
        else "If you use a `range`, its end has to be N − T, because it stops before its end. If "
        "you count windows, there is one at position 0 and (N − T − 1) // stride after it."
    )
    return unwrapped(f"""With N = {N}, T = {T} and stride = {stride} there are {right}, but you
    return {mine}. The last one begins at {(right - 1) * stride}, and its last target is at
    {(right - 1) * stride + T}. {other}""")


@mistake(
    lambda e: (
        "You return more windows than fit into the text with their targets."
        if len(e.yours(f"{_miscounted(e)}.x")) > len(e.right(f"{_miscounted(e)}.x"))
        else "You return fewer windows than fit into the text with their targets."
    ),
    _says_how_many,
    recognized=lambda e: bool(_miscounted(e)),
)
def _another_number_of_windows(tokens, block_size, stride):
    starts = torch.arange(0, len(tokens), stride)[:, None] + torch.arange(block_size)
    last = len(tokens) - 1
    return tokens[starts.clamp(max=last)], tokens[(starts + 1).clamp(max=last)]


TASK = Task(
    "Windows with a stride",
    windows,
    TARGET,
    (
        Part("Each target is the token that follows its input.", 2, _targets_follow),
        Part(
            "Every window that fits is there, and no other.",
            2,
            matches("exact.x", "longer.x", "apart.x", "single.x", "tiny.x"),
        ),
    ),
    properties=(
        not_the_next_token("exact.x", "exact.y", "tokens"),
        holds_integers(("exact.x", "exact.y"), TARGET),
    ),
    cases=("exact", "longer"),
    steps={
        "where your windows begin": Step(
            "Windows begin at 0, `stride`, 2 · `stride`, … as long as the last target is in the "
            "text.",
            EXAMPLES,
        ),
        "the positions of your inputs": Step(
            "A window is a stretch of T tokens, one after the other.", EXAMPLES
        ),
        "the positions of your targets": Step("The target of an input is the very next token."),
    },
)
