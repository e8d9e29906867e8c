"""How windows with a stride are judged."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001

from __future__ import annotations

from collections.abc import Callable

import torch

from course_judges.ch03_text.sections import EXAMPLES, TARGET
from course_judges.ch03_text.targets import not_the_next_token, row, successors
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import holds_integers, integers
from course_judges.wording import unwrapped


def windows(tokens, block_size, stride):
    """A right answer."""
    rows = tokens.unfold(0, block_size + 1, stride)  # (M, T+1)
    return rows[:, :-1], rows[:, 1:]


def _targets_follow(evidence: Evidence) -> bool:
    """True of any windows, as long as each target is the token after its input."""
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


@mistake(
    "Your targets are the inputs themselves.",
    lambda e: unwrapped(f"""{_first_rows("exact")(e)} A model that copies its input would have a
    loss of 0 and predict nothing; the target of {int(e.right("exact.x")[0, 0])} is
    {int(e.right("exact.y")[0, 0])}."""),
)
def _unshifted_targets(tokens, block_size, stride):
    x, _ = windows(tokens, block_size, stride)
    return x, x.clone()


@mistake(
    "Your targets are shifted the wrong way: each is the token before its input.",
    lambda e: unwrapped(f"""{_first_rows("exact")(e)} This asks a model to remember, not to predict.
    Inputs and targets are exchanged."""),
)
def _shifted_backwards(tokens, block_size, stride):
    x, y = windows(tokens, block_size, stride)
    return y, x


@mistake(
    "Your targets are the inputs of the next window.",
    lambda e: unwrapped(f"""{_first_rows("exact")(e)} They are {e.number("stride")} tokens further,
    one stride; the target of an input is one token further."""),
)
def _next_row_as_target(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size, stride)
    return rows[:-1], rows[1:]


@mistake(
    "You give each window one target: the token after its end.",
    lambda e: unwrapped(f"""Your targets have shape {e.yours("exact.y").shape}. Every one of the
    {e.number("block_size")} positions of a row has a target of its own, so the shape is
    {e.right("exact.y").shape}."""),
    EXAMPLES,
)
def _one_target_a_window(tokens, block_size, stride):
    x, y = windows(tokens, block_size, stride)
    return x, y[:, -1]


@mistake(
    "Your last window is missing.",
    lambda e: unwrapped(f"""{len(e.inputs["tokens"])} tokens hold {len(e.right("exact.x"))} windows
    and you return {len(e.yours("exact.x"))}. The last one begins at
    {len(e.inputs["tokens"]) - e.number("block_size") - 1} = N − T − 1, and its last target is the
    last token. A `range` stops before its end."""),
)
def _last_window_dropped(tokens, block_size, stride):
    starts = range(0, len(tokens) - block_size - 1, stride)
    x = torch.stack([tokens[s : s + block_size] for s in starts])
    return x, torch.stack([tokens[s + 1 : s + block_size + 1] for s in starts])


@mistake(
    "Your last window reads past the end of the tokens.",
    lambda e: unwrapped(f"""With N = {len(e.inputs["longer"])}, T = {e.number("block_size")} and
    stride = {e.number("stride")} a window of inputs still fits at
    {len(e.inputs["longer"]) - e.number("block_size")}, but its last target would stand at
    {len(e.inputs["longer"])}, where there is none: a slice comes out one short, and an index is out
    of range."""),
    recognized=lambda e: (
        "longer" in e.answers.errors
        and not e.answers.errors["longer"].not_attempted
        and "exact" not in e.answers.errors
    ),
)
def _reads_past_the_end(tokens, block_size, stride):
    starts = range(0, len(tokens) - block_size + 1, stride)
    x = torch.stack([tokens[s : s + block_size] for s in starts])
    return x, torch.stack([tokens[s + 1 : s + block_size + 1] for s in starts])


@mistake(
    "Your last target wraps around to the beginning of the text.",
    lambda e: unwrapped(f"""`torch.roll` puts the first token, {int(e.inputs["longer"][0])}, behind
    the last one, {int(e.inputs["longer"][-1])}; your last row of targets is
    `{row(e.yours("longer.y")[-1])}`. Nothing follows the last token: that window has to go."""),
)
def _wraps_around(tokens, block_size, stride):
    return (
        tokens.unfold(0, block_size, stride),
        torch.roll(tokens, -1).unfold(0, block_size, stride),
    )


@mistake(
    "Your windows begin at every token.",
    lambda e: unwrapped(f"""You return {len(e.yours("exact.x"))} windows; with stride =
    {e.number("stride")} there are {len(e.right("exact.x"))}."""),
    cases=("exact.x", "longer.x"),
)
def _stride_ignored(tokens, block_size, stride):
    return windows(tokens, block_size, 1)


@mistake(
    "Your windows begin every T tokens, whatever the stride.",
    lambda e: unwrapped(f"""Your second window begins with {int(e.yours("exact.x")[1, 0])}, which is
    at position {e.number("block_size")}; with stride = {e.number("stride")} it begins with
    {int(e.right("exact.x")[1, 0])}."""),
    cases=("exact.x", "longer.x"),
)
def _stride_is_block_size(tokens, block_size, stride):
    return windows(tokens, block_size, block_size)


@mistake(
    "Where the stride is larger than T, your windows stand end to end.",
    lambda e: unwrapped(f"""With T = {e.number("block_size")} and stride =
    {int(e.inputs["large_stride"][0])} your second window begins with
    {int(e.yours("apart.x")[1, 0])}, which is at position {e.number("block_size")}; the one at
    position {int(e.inputs["large_stride"][0])} begins with {int(e.right("apart.x")[1, 0])}. A
    stride may be larger than a window: the tokens between two windows are then in none."""),
    cases=("exact", "longer", "apart.x"),
)
def _stride_cut_to_a_window(tokens, block_size, stride):
    return windows(tokens, block_size, min(stride, block_size))


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
)
