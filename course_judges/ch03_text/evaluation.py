"""How overlapping windows that count every target once are judged."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001

from __future__ import annotations

import numpy as np
import torch

from course_judges.ch03_text.sections import ONCE, TARGET
from course_judges.ch03_text.targets import (
    IGNORED,
    counted_otherwise,
    held_for_ignored,
    not_the_next_token,
    row,
    targets_once,
)
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import holds_integers, integers
from course_judges.wording import number, unwrapped


def overlapping_windows(tokens, block_size, stride):
    """A right answer."""
    inputs = len(tokens) - 1  # the number of inputs
    M = 1 + max(0, -(-(inputs - block_size) // stride))  # the number of windows
    starts = torch.arange(M)[:, None] * stride  # where your windows begin (M, 1)
    columns = torch.arange(block_size)  # the columns of a window (T,)
    positions = starts + columns  # the positions of your inputs (M, T)
    inside = positions < inputs  # what the text fills (M, T)
    fresh = columns >= block_size - stride  # which targets are new (T,)
    counted = inside & (fresh | (starts == 0))  # which targets count (M, T)
    positions = positions.clamp(max=inputs - 1)
    x = torch.where(inside, tokens[positions], 0)  # your inputs (M, T)
    y = torch.where(counted, tokens[positions + 1], -100)  # your targets (M, T)
    return x, y


def _all_targets(tokens, block_size, stride):
    """The same windows with every target in them counted."""
    x, _ = overlapping_windows(tokens, block_size, stride)
    positions = torch.arange(len(x))[:, None] * stride + torch.arange(block_size)
    last = len(tokens) - 1
    return x, torch.where(positions < last, tokens[(positions + 1).clamp(max=last)], IGNORED)


def _count(evidence: Evidence) -> int:
    return int((evidence.yours("long.y") != IGNORED).sum())


def _targets_there_are(evidence: Evidence) -> int:
    return len(evidence.inputs["tokens"]) - 1


def _last_inputs(evidence: Evidence) -> str:
    mine, right = evidence.yours("long.x")[-1], evidence.right("long.x")[-1]
    return f"Your last row of inputs is `{row(mine)}` instead of `{row(right)}`."


_CASES = ("long", "short", "exact", "single", "dense", "sparse")


def _once_in_all(evidence: Evidence) -> bool:
    asked = (
        *((f"{case}.y", "tokens") for case in ("long", "dense", "sparse")),
        *((f"{case}.y", case) for case in ("short", "exact", "single")),
    )
    return all(targets_once(value, tokens)(evidence) for value, tokens in asked)


@mistake(
    "You don't count the targets at the beginning of the text.",
    lambda e: unwrapped(f"""Your first row of targets is `{row(e.yours("long.y")[0])}`. There is no
    window before the first one, so all of its {e.number("block_size")} targets are new."""),
)
def _first_window_cut(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    y[0, : block_size - stride] = IGNORED
    return x, y


@mistake(
    "You count each target where it has the least past.",
    lambda e: unwrapped(f"""Row 1 of your targets is `{row(e.yours("long.y")[1])}`, in which the
    first {e.number("stride")} count. Earlier windows hold them with more tokens before them.
    Overlapping windows only help if the last {e.number("stride")} count."""),
)
def _least_past(tokens, block_size, stride):
    x, y = _all_targets(tokens, block_size, stride)
    y[:-1, stride:] = IGNORED
    return x, y


@mistake(
    "You leave out the last target of each window.",
    lambda e: unwrapped(f"""Row 0 of your targets is `{row(e.yours("long.y")[0])}` instead of
    `{row(e.right("long.y")[0])}`. The target of the last input is the token after the window, so
    read targets from the text, not from the window itself."""),
    TARGET,
    cases=("long",),
)
def _targets_inside_the_window(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    last = (y != IGNORED).flip(1).cumsum(dim=1).flip(1) == 1
    return x, torch.where(last, IGNORED, y)


@mistake(
    "You leave out the last window because the text doesn't fill it.",
    lambda e: unwrapped(f"""You return {len(e.yours("long.x"))} of {len(e.right("long.x"))} windows
    and count {_count(e)} of {_targets_there_are(e)} targets. Pad the last row instead."""),
    cases=("long",),
)
def _last_window_dropped(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    full = max(0, (len(tokens) - 1 - block_size) // stride + 1)
    return x[:full], y[:full]


@mistake(
    "You moved the last window back until the text fills it, but it should stay in its place.",
    lambda e: unwrapped(f"""{_last_inputs(e)} A window begins one stride after the one before, and
    where the text doesn't fill it, x holds 0 and y holds −100."""),
    cases=("long",),
)
def _last_window_moved_back(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    inputs = len(tokens) - 1
    back = (len(x) - 1) * stride + block_size - inputs
    if 0 < back <= inputs - block_size + stride and len(x) > 1:
        x[-1] = tokens[inputs - block_size : inputs]
        y[-1] = IGNORED
        y[-1, block_size - stride + back :] = tokens[-(stride - back) :]
    return x, y


@mistake(
    "Your windows don't overlap.",
    lambda e: unwrapped(f"""Your second window begins at position {e.number("block_size")} instead
    of {e.number("stride")}, so its first target has only one token before it. The chapter's windows
    do that, but here each begins one stride after the one before."""),
    cases=("long.x",),
)
def _no_overlap(tokens, block_size, stride):
    return overlapping_windows(tokens, block_size, block_size)


_unshifted_targets = mistake(
    "Your targets are the inputs themselves.",
    lambda e: unwrapped(f"""Your first row of inputs is `{row(e.yours("long.x")[0])}` and its
    targets are `{row(e.yours("long.y")[0])}`. The first target should be
    {int(e.right("long.y")[0, 0])}."""),
    TARGET,
)(Like("left-out-1-in-your-targets"))


@mistake(
    "You swapped inputs and targets, so each target is the token before its input.",
    lambda e: unwrapped(f"""Your first row of inputs is `{row(e.yours("long.x")[0])}` and its
    targets are `{row(e.yours("long.y")[0])}`. Return x first, and then y, which is one token
    ahead."""),
    TARGET,
)
def _results_exchanged(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    return y, x


@mistake(
    "You put the padding of the last window on the left.",
    lambda e: unwrapped(f"""{_last_inputs(e)} The window begins one stride after the one before, so
    its first column holds the token at that position, and what is missing is filled up on the
    right."""),
    cases=("long.x",),
)
def _padded_on_the_left(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    missing = max(0, (len(x) - 1) * stride + block_size - (len(tokens) - 1))
    for part in (x, y):
        part[-1] = part[-1].roll(missing)
    return x, y


@mistake(
    "You look for a target that has counted by its symbol instead of its position.",
    lambda e: unwrapped(f"""A text that holds each symbol only once comes out right. But in one with
    {int((e.inputs["zeros"] == 0).sum())} zeros, {int((e.yours("zeros.y") == IGNORED).sum())} of
    your targets are −100 instead of {int((e.right("zeros.y") == IGNORED).sum())}. A symbol that
    occurs again is another target."""),
    cases=("long", "zeros"),
)
def _counted_by_symbol(tokens, block_size, stride):
    x, y = _all_targets(tokens, block_size, stride)
    counted = set()
    rows: list[list[int]] = []
    for targets in y.tolist():
        rows.append([])
        for target in targets:
            rows[-1].append(IGNORED if target in counted else target)
            counted.add(target)
    return x, torch.tensor(rows)


@mistake(
    "You took token 0 in the text for padding.",
    lambda e: unwrapped(f"""Token 0 is a symbol like any other. In a text with
    {int((e.inputs["zeros"] == 0).sum())} of them, {int((e.yours("zeros.y") == IGNORED).sum())} of
    your targets are −100 instead of {int((e.right("zeros.y") == IGNORED).sum())}. Look at the
    position instead of the number that is there."""),
    cases=("long", "zeros"),
    also=(lambda *given: _without_zeros(*given, of_y=True),),
)
def _padding_known_by_its_number(tokens, block_size, stride):
    return _without_zeros(tokens, block_size, stride)


def _without_zeros(tokens, block_size, stride, *, of_y=False):
    x, y = overlapping_windows(tokens, block_size, stride)
    return x, torch.where((y if of_y else x) == 0, IGNORED, y)


# The cases with several windows, and the inputs that hold their width and stride.
_SIZES = {
    "long": ("block_size", "stride"),
    "dense": ("narrow", "one"),
    "sparse": ("block_size", "most"),
}


def _sizes(evidence: Evidence, case: str) -> tuple[int, int]:
    width, stride = (int(evidence.inputs[name].flat[0]) for name in _SIZES[case])
    return width, stride


def _hidden_in(evidence: Evidence) -> tuple[str, int]:
    """The first case in which the rows after the first only hide a wrong number of targets at their
    beginning, and that number; no case if nothing is wrong, or something else.
    """
    case = next((case for case in _SIZES if not evidence.same(f"{case}.y")), "")
    if not case or not evidence.same(*(f"{one}.x" for one in _SIZES)):
        return "", 0
    mine = evidence.yours(f"{case}.y")
    width, stride = _sizes(evidence, case)
    _, everything = _all_targets(torch.from_numpy(evidence.inputs["tokens"]), width, stride)
    if mine.shape != everything.shape:
        return "", 0
    for hidden in range(width + 1):
        made = everything.numpy().copy()
        made[1:, :hidden] = IGNORED
        if np.array_equal(mine, made):
            return case, hidden
    return "", 0


def _says_how_many_are_hidden(evidence: Evidence) -> str:
    case, hidden = _hidden_in(evidence)
    width, stride = _sizes(evidence, case)
    return unwrapped(f"""With T = {width} and stride = {stride}, row 1 of your targets is
    `{row(evidence.yours(f"{case}.y")[1])}`, which hides {hidden}. A row shares {width - stride}
    target{"s" if width - stride > 1 else ""} with the one before, and its last
    {"one is" if stride == 1 else f"{stride} are"} new, so it should be
    `{row(evidence.right(f"{case}.y")[1])}`.""")


_inputs_hidden_too = mistake(
    "You hid inputs together with their targets.",
    lambda e: unwrapped(f"""Row 1 of your inputs is `{row(e.yours("long.x")[1])}` instead of
    `{row(e.right("long.x")[1])}`. A target that has counted before is −100 in y, but its input
    stays in x, because later targets need it as their past."""),
    cases=("long.x",),
)(Like("used-which-targets-count-instead-of-what-the-text-fills-in-your-inputs"))


@mistake(
    "You don't hide T − stride targets at the beginning of a row.",
    _says_how_many_are_hidden,
    recognized=lambda e: bool(_hidden_in(e)[0]),
)
def _stride_hidden(tokens, block_size, stride):
    x, y = _all_targets(tokens, block_size, stride)
    y[1:, :stride] = IGNORED
    return x, y


def _in_place_of_ignored(evidence: Evidence) -> int | None:
    """The one number that is where −100 belongs, if all other targets are right."""
    held = held_for_ignored(evidence, "long.y") - {IGNORED}
    return held.pop() if len(held) == 1 and not held & set(evidence.inputs["tokens"]) else None


@mistake(
    lambda e: f"Your targets hold {number(_in_place_of_ignored(e) or 0)} where −100 belongs.",
    lambda e: unwrapped(f"""Your last row of targets is `{row(e.yours("long.y")[-1])}` instead of
    `{row(e.right("long.y")[-1])}`. `cross_entropy` leaves out only −100, so a model would have to
    predict what isn't text."""),
    recognized=lambda e: _in_place_of_ignored(e) is not None,
)
def _padding_is_a_target(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    return x, torch.where(y == IGNORED, 0, y)


def _begin_apart(evidence: Evidence) -> int:
    """How many tokens apart the windows begin, if that is not the stride; 0 if they aren't evenly
    spaced from position 0.
    """
    x, tokens = evidence.yours("long.x"), evidence.inputs["tokens"].tolist()
    width, stride = _sizes(evidence, "long")
    if x.ndim != 2 or x.shape[1] != width or len(x) < 3:
        return 0
    begins = [tokens.index(first) if first in tokens else -1 for first in x[:, 0].tolist()]
    step = begins[1]
    even = 0 < step != stride and begins == [step * m for m in range(len(x))]
    return step if even and x[1].tolist() == tokens[step : step + width] else 0


@mistake(
    "Your windows don't begin `stride` tokens apart.",
    lambda e: unwrapped(f"""Your second window begins at position {_begin_apart(e)}, but with stride
    = {e.number("stride")} windows should begin at 0, {e.number("stride")},
    {2 * e.number("stride")}, …"""),
    recognized=lambda e: _begin_apart(e) > 0,
)
def _another_stride(tokens, block_size, stride):
    return overlapping_windows(tokens, block_size, stride - 1)


@mistake(
    "You return no window when the text doesn't fill one.",
    lambda e: unwrapped(f"""With {len(e.inputs["short"])} tokens and T = {e.number("block_size")}
    your x has shape {e.yours("short.x").shape} instead of {e.right("short.x").shape}. There is
    always at least one window. Pad it with 0 in x and −100 in y."""),
    recognized=lambda e: not len(e.yours("short.x")) and e.same("long", "exact"),
)
def _no_window_for_a_short_text(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    full = len(tokens) > block_size
    return x[: len(x) * full], y[: len(y) * full]


@mistake(
    "Your window is narrower than `block_size` when the text doesn't fill it.",
    lambda e: unwrapped(f"""With {len(e.inputs["short"])} tokens and T = {e.number("block_size")}
    your x has shape {e.yours("short.x").shape} instead of {e.right("short.x").shape}. A window has
    T columns however short the text is, so pad it with 0 in x and −100 in y."""),
    recognized=lambda e: (
        0 < e.yours("short.x").shape[1] < e.number("block_size") and e.same("long", "exact")
    ),
)
def _window_as_short_as_the_text(tokens, block_size, stride):
    return overlapping_windows(tokens, min(block_size, len(tokens) - 1), stride)


def _too_many_in(evidence: Evidence) -> str:
    """The first case with more windows than needed after the right ones; empty if none has."""
    for case in _CASES:
        mine, right = evidence.yours(f"{case}.x"), evidence.right(f"{case}.x")
        if len(mine) > len(right) and np.array_equal(mine[: len(right)], right):
            return case
    return ""


def _says_how_many(evidence: Evidence) -> str:
    case = _too_many_in(evidence)
    text = evidence.inputs[case if case in evidence.inputs else "tokens"]
    mine, right = evidence.yours(f"{case}.x"), evidence.right(f"{case}.x")
    return unwrapped(f"""For {len(text)} tokens you return {len(mine)} windows, but the first
    {len(right)} already hold all {len(text) - 1} targets. Stop at the first window that reaches the
    last target, because later ones have no new targets.""")


@mistake(
    "You make more windows than you need.",
    _says_how_many,
    recognized=lambda e: bool(_too_many_in(e)),
)
def _too_many_windows(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    return torch.cat([x, 0 * x[:1]]), torch.cat([y, 0 * y[:1] + IGNORED])


def _off_beyond_the_end_alone(evidence: Evidence) -> bool:
    """True if the inputs are right except where the text doesn't fill the windows."""
    mine, right = evidence.yours("long.x"), evidence.right("long.x")
    windows, width = right.shape
    at = np.arange(windows)[:, None] * evidence.number("stride") + np.arange(width)
    beyond = at >= len(evidence.inputs["tokens"]) - 1
    return (
        mine.shape == right.shape
        and np.array_equal(mine[~beyond], right[~beyond])
        and bool(mine[beyond].any())
    )


def _what_fills(evidence: Evidence) -> str:
    """A sentence on what is after the last input instead of 0."""
    mine, right = evidence.yours("long.x"), evidence.right("long.x")
    held, tokens = mine[mine != right].tolist(), evidence.inputs["tokens"].tolist()
    if held == tokens[-1:]:
        return " You use the last token as an input as well."
    return " Does an index wrap around, or do your windows read on past the last input?"


@mistake(
    "Your inputs aren't 0 where the text doesn't fill the last window.",
    lambda e: unwrapped(f"""{_last_inputs(e)} {len(e.inputs["tokens"])} tokens have
    {len(e.inputs["tokens"]) - 1} inputs, because the last token, {int(e.inputs["tokens"][-1])}, is
    only a target, and after the last input comes 0.{_what_fills(e)}"""),
    recognized=_off_beyond_the_end_alone,
)
def _not_filled_with_zeros(tokens, block_size, stride):
    x, y = overlapping_windows(tokens, block_size, stride)
    positions = torch.arange(len(x))[:, None] * stride + torch.arange(block_size)
    return tokens[positions.clamp(max=len(tokens) - 1)], y


TASK = Task(
    "Overlapping windows, every target once",
    overlapping_windows,
    ONCE,
    (
        Part(
            "Windows begin every `stride` tokens and the last is filled up.",
            1,
            lambda e: (
                # The fillers of "zeros", too: its targets are asked for below, and no inputs.
                e.same(*(f"{case}.x" for case in (*_CASES, "zeros")))
                and integers(e, "long.x", "long.y")
            ),
        ),
        Part("Every token but the first is a target, once.", 3, _once_in_all),
        Part(
            "A target counts where it has the most past.",
            2,
            matches(*(f"{case}.y" for case in (*_CASES, "zeros"))),
        ),
    ),
    properties=(
        not_the_next_token("long.x", "long.y", "tokens"),
        counted_otherwise("long.y"),
        holds_integers(("long.x", "long.y"), TARGET),
    ),
    cases=("long", "short", "exact"),
    steps={
        "the number of inputs": Step("The last token of a text is only a target."),
        "the number of windows": Step("The last window is the first that reaches the last target."),
        "where your windows begin": Step("Each window begins one stride after the one before."),
        "the columns of a window": Step("A window has T columns, however short the text is."),
        "the positions of your inputs": Step(
            "A window is a stretch of T tokens, one after the other."
        ),
        "what the text fills": Step("As long as there is an input, it has a target."),
        "which targets are new": Step(
            "A window shares T − stride targets with the one before, where they had more past."
        ),
        "which targets count": Step(
            "No window is before the first one, so all of its targets are new."
        ),
        "your inputs": Step("x holds 0 where the text doesn't fill the window, and only there."),
        "your targets": Step("The target of an input is the token right after it.", TARGET),
    },
)
