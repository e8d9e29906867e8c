"""How a batch of windows with given endings is judged."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from course_judges.ch03_text.sections import ONCE, RANDOM, TARGET
from course_judges.ch03_text.targets import IGNORED, held_for_ignored, row
from course_judges.judging import Evidence, Like, Part, Step, Task, mistake
from course_judges.properties import holds_integers, integers
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def batch_ending_at(tokens, ends, block_size, padding):
    """A right answer."""
    back = torch.arange(1 - block_size, 1)  # the steps back from an end (T,)
    positions = ends[:, None] + back  # the positions of your inputs (B, T)
    after = positions + 1  # the positions of your targets (B, T)
    x = torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])  # your inputs (B, T)
    y = torch.where(after < 0, -100, tokens[after.clamp(min=0)])  # your targets (B, T)
    return x, y


def _positions(ends, block_size):
    return ends[:, None] + torch.arange(1 - block_size, 1)


def _copies_inputs(evidence: Evidence) -> bool:
    """Targets equal the inputs wherever the inputs are tokens."""
    x, y = evidence.yours("batch.x"), evidence.yours("batch.y")
    known = _is_token(evidence)
    return evidence.same("batch.x") and x.shape == y.shape and bool((x == y)[known].all())


def _batch_part(value: str, chosen: Callable[[Evidence], Array]) -> Callable[[Evidence], bool]:
    """A claim: the answer is right at the chosen (B, T) places, and everywhere if the text is
    shorter than a row.
    """
    young = value.replace("batch", "young")

    def holds(evidence: Evidence) -> bool:
        tiny = value.replace("batch", "tiny")
        if not evidence.comparable(value) or not evidence.same(young, tiny):
            return False
        return bool((evidence.yours(value) == evidence.right(value))[chosen(evidence)].all())

    return holds


def _is_token(evidence: Evidence) -> Array:
    return np.not_equal(evidence.right("batch.x"), evidence.number("padding"))


def _is_whole_row(evidence: Evidence) -> Array:
    return np.all(_is_token(evidence), axis=1)


def _short_row(evidence: Evidence) -> int:
    """The first row that begins before the text does."""
    return int(np.flatnonzero(~_is_whole_row(evidence))[0])


def _short_inputs(evidence: Evidence) -> str:
    b = _short_row(evidence)
    return unwrapped(f"""The row that ends at position {int(evidence.inputs["ends"][b])} should be
    `{row(evidence.right("batch.x")[b])}`, but yours is `{row(evidence.yours("batch.x")[b])}`.""")


def _short_targets(evidence: Evidence) -> str:
    b = _short_row(evidence)
    return unwrapped(f"""The inputs `{row(evidence.right("batch.x")[b])}` have the targets
    `{row(evidence.right("batch.y")[b])}`, but yours are `{row(evidence.yours("batch.y")[b])}`.""")


@mistake(
    "At positions before the text, you read tokens from its end.",
    lambda e: unwrapped(f"""{_short_inputs(e)} A negative index counts from the end without raising
    an error, so the end of the text became the past of its beginning."""),
)
def _wraps_to_the_end(tokens, ends, block_size, padding):
    positions = _positions(ends, block_size)
    return tokens[positions], tokens[positions + 1]


@mistake(
    "At positions before the text, you repeat its first token.",
    lambda e: unwrapped(f"""{_short_inputs(e)} `clamp` alone turns every negative position into 0,
    so put `padding` where the position was negative."""),
)
def _repeats_the_first_token(tokens, ends, block_size, padding):
    positions = _positions(ends, block_size)
    return tokens[positions.clamp(min=0)], tokens[(positions + 1).clamp(min=0)]


@mistake(
    "At positions before the text, you put a number other than `padding`.",
    lambda e: unwrapped(f"""{_short_inputs(e)} Everything else in x is right. The caller chooses the
    filler and passes it as `padding`, which is {e.number("padding")} here."""),
    cases=("batch.x", "young.x"),
)
def _padding_ignored(tokens, ends, block_size, padding):
    return batch_ending_at(tokens, ends, block_size, 0)


_first_token_padded = mistake(
    "You treat the first token of the text as padding.",
    lambda e: unwrapped(f"""{_short_inputs(e)} Position 0 is part of the text, and only negative
    positions are before it."""),
    cases=("batch.x", "young.x"),
)(Like("compared-with-less-or-equal-instead-of-less-in-your-inputs"))


def _begin_there(evidence: Evidence) -> bool:
    """True if the rows begin at the positions where they should end."""
    x, tokens, ends = (
        evidence.yours("batch.x"),
        evidence.inputs["tokens"],
        evidence.inputs["ends"],
    )
    early = ends < len(tokens) - 2
    return (
        x.ndim == 2
        and x.shape[1] > 1
        and np.array_equal(x[:, 0], tokens[ends])
        and np.array_equal(x[early, 1], tokens[ends + 1][early])
    )


@mistake(
    "Your rows begin at `ends` instead of ending there.",
    lambda e: unwrapped(f"""The row for position {int(e.inputs["ends"][-1])} should be
    `{row(e.right("batch.x")[-1])}`, but yours is `{row(e.yours("batch.x")[-1])}`. A row goes back
    from its end, with steps from 1 − T to 0."""),
    recognized=_begin_there,
)
def _begins_at_the_end(tokens, ends, block_size, padding):
    positions = ends[:, None] + torch.arange(block_size)
    positions = positions.clamp(max=len(tokens) - 2)
    return tokens[positions], tokens[positions + 1]


@mistake(
    "You moved rows that would begin before the text into it.",
    lambda e: unwrapped(f"""{_short_inputs(e)} Such a row should still end at `ends[b]`, so fill the
    places before the text with `padding` instead of reading tokens after that end."""),
)
def _moved_into_the_text(tokens, ends, block_size, padding):
    starts = (ends - block_size + 1).clamp(min=0)
    positions, last = starts[:, None] + torch.arange(block_size), len(tokens) - 1
    return tokens[positions.clamp(max=last)], tokens[(positions + 1).clamp(max=last)]


def _short_rows_are_empty(evidence: Evidence) -> bool:
    """True if the rows that begin before the text hold only padding, and the others are right."""
    x, right, whole = evidence.yours("batch.x"), evidence.right("batch.x"), _is_whole_row(evidence)
    return bool((x[~whole] == evidence.number("padding")).all()) and np.array_equal(
        x[whole], right[whole]
    )


@mistake(
    lambda e: (
        unwrapped(f"""In a text of {len(e.inputs["tokens"])} tokens, your rows that begin before
    it are all padding.""")
    ),
    lambda e: (
        unwrapped(f"""{_short_inputs(e)} If you slice the text, a negative start counts from its
    end, so `tokens[-2:3]` begins after it ends and is empty. Slice from `max(0, end − T + 1)` on,
    and fill up the rest of the row with padding.""")
    ),
    recognized=_short_rows_are_empty,
)
def _short_rows_empty(tokens, ends, block_size, padding):
    x, y = batch_ending_at(tokens, ends, block_size, padding)
    whole = (ends >= block_size - 1)[:, None]
    return torch.where(whole, x, padding), torch.where(whole, y, IGNORED)


@mistake(
    "When the text is shorter than T, your rows are as short as the text.",
    lambda e: unwrapped(f"""With T = {e.number("block_size")} and a text of {len(e.inputs["young"])}
    tokens, your x has shape {e.yours("young.x").shape} instead of {e.right("young.x").shape}. A row
    still has T tokens, with `padding` on the left."""),
    recognized=lambda e: (
        e.comparable("batch.x") and e.yours("young.x").shape[1] == len(e.inputs["young"])
    ),
)
def _cut_to_the_text(tokens, ends, block_size, padding):
    return batch_ending_at(tokens, ends, min(block_size, len(tokens)), padding)


_end_excluded = mistake(
    "Your rows end one token too early.",
    lambda e: unwrapped(f"""Position {int(e.inputs["ends"][-1])} holds token
    {int(e.right("batch.x")[-1, -1])}, which should be the last of its row, but yours ends with
    {int(e.yours("batch.x")[-1, -1])}. Note that `torch.arange` and slices leave out their end."""),
)(Like("subtracted-1-from-the-steps-back-from-an-end"))


@mistake(
    "Your rows run backwards, with the newest token first.",
    lambda e: unwrapped(f"""Your last row is `{row(e.yours("batch.x")[-1])}` instead of
    `{row(e.right("batch.x")[-1])}`. A row is read from left to right like the text, so let the
    steps rise from 1 − T to 0."""),
)
def _newest_first(tokens, ends, block_size, padding):
    x, y = batch_ending_at(tokens, ends, block_size, padding)
    return x.flip(1), y.flip(1)


@mistake(
    "You put the padding on the right.",
    lambda e: unwrapped(f"""{_short_inputs(e)} The newest token belongs in the last column of every
    row, so the padding goes on the left."""),
)
def _padded_on_the_right(tokens, ends, block_size, padding):
    x = torch.full((len(ends), block_size), padding)
    y = torch.full((len(ends), block_size), IGNORED)
    for b, end in enumerate(ends.tolist()):
        first = max(0, end - block_size + 1)
        x[b, : end + 1 - first] = tokens[first : end + 1]
        y[b, : end + 1 - first] = tokens[first + 1 : end + 2]
    return x, y


@mistake(
    "Your targets are the inputs themselves.",
    lambda e: unwrapped(f"""Your last row of inputs is `{row(e.yours("batch.x")[-1])}` and its
    targets are `{row(e.yours("batch.y")[-1])}`. The last target should be
    {int(e.right("batch.y")[-1, -1])}, the token after the end."""),
    TARGET,
    recognized=_copies_inputs,
)
def _unshifted_targets(tokens, ends, block_size, padding):
    x, _ = batch_ending_at(tokens, ends, block_size, padding)
    return x, torch.where(_positions(ends, block_size) < 0, IGNORED, x)


def _rolls_its_rows(evidence: Evidence) -> bool:
    """True if in rows that begin in the text the targets are the inputs, rolled by one."""
    whole = _is_whole_row(evidence)
    x, y = evidence.yours("batch.x")[whole], evidence.yours("batch.y")[whole]
    return evidence.same("batch.x") and np.array_equal(y, np.roll(x, -1, axis=1))


@mistake(
    "The last target of each of your rows is the row's own first input.",
    lambda e: unwrapped(f"""Row 0 has the inputs `{row(e.yours("batch.x")[0])}` and the targets
    `{row(e.yours("batch.y")[0])}`. If you roll a row by itself, its first token comes round to the
    end. The target of its last input should be {int(e.right("batch.y")[0, -1])}, the token after
    `ends[0]` = {int(e.inputs["ends"][0])}."""),
    TARGET,
    recognized=_rolls_its_rows,
)
def _rolled_in_itself(tokens, ends, block_size, padding):
    x, _ = batch_ending_at(tokens, ends, block_size, padding)
    return x, x.roll(-1, dims=1)


@mistake(
    "Your targets are two tokens ahead of their inputs instead of one.",
    lambda e: unwrapped(f"""Row 0 has the inputs `{row(e.yours("batch.x")[0])}` and the targets
    `{row(e.yours("batch.y")[0])}`, but its first target should be
    {int(e.right("batch.y")[0, 0])}, the token right after {int(e.right("batch.x")[0, 0])}."""),
    TARGET,
    recognized=lambda e: (
        e.same("batch.x")
        and np.array_equal(e.yours("batch.y")[0, :-1], e.right("batch.y")[0, 1:])
        and not e.same("batch.y")
    ),
)
def _two_ahead(tokens, ends, block_size, padding):
    x, _ = batch_ending_at(tokens, ends, block_size, padding)
    positions = _positions(ends, block_size) + 2
    return x, torch.where(positions < 0, IGNORED, tokens[positions.clamp(0, len(tokens) - 1)])


@mistake(
    "You ignore one target too many, the first token of the text.",
    lambda e: unwrapped(f"""{_short_targets(e)} The last padding is followed by token
    {int(e.inputs["tokens"][0])} at position 0 of the text. By predicting it from padding, a model
    learns how a text begins."""),
    ONCE,
    cases=("batch.y",),
)
def _first_token_never_learned(tokens, ends, block_size, padding):
    x, y = batch_ending_at(tokens, ends, block_size, padding)
    return x, torch.where(_positions(ends, block_size) < 0, IGNORED, y)


def _in_place_of_ignored(evidence: Evidence) -> int | None:
    """The one number that is where −100 belongs, if all other targets are right; None if it is the
    first token, which may have been read there.
    """
    held = held_for_ignored(evidence, "batch.y")
    return None if len(held) != 1 or held & {IGNORED, evidence.inputs["tokens"][0]} else held.pop()


@mistake(
    lambda e: f"Your targets hold {number(_in_place_of_ignored(e) or 0)} where −100 belongs.",
    lambda e: unwrapped(f"""{_short_targets(e)} A loss leaves out only −100, so it would count these
    targets and teach the model to predict something that isn't text."""),
    ONCE,
    recognized=lambda e: _in_place_of_ignored(e) is not None,
)
def _padding_is_a_target(tokens, ends, block_size, padding):
    x, y = batch_ending_at(tokens, ends, block_size, padding)
    return x, torch.where(y == IGNORED, padding, y)


@mistake(
    "Your targets don't take into account where the text begins.",
    lambda e: unwrapped(f"""{_short_targets(e)} The positions of targets can be negative too, and
    then what you read there isn't what follows. Put −100 where `positions + 1` is negative."""),
    recognized=lambda e: (
        bool(
            np.where(
                e.right("batch.y") == IGNORED,
                e.yours("batch.y") != IGNORED,
                e.yours("batch.y") == e.right("batch.y"),
            ).all()
        )
        and e.comparable("batch.y")
    ),
)
def _targets_before_the_text(tokens, ends, block_size, padding):
    x, _ = batch_ending_at(tokens, ends, block_size, padding)
    return x, tokens[_positions(ends, block_size) + 1]


def _inputs_up_to(tokens, ends, block_size, padding):
    positions = _positions(ends, block_size)
    return torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])


def _one_later(evidence: Evidence) -> Array:
    """The inputs of rows that end one token after their end."""
    tokens, ends = (torch.from_numpy(evidence.inputs[name]) for name in ("tokens", "ends"))
    T, padding = evidence.number("block_size"), evidence.number("padding")
    return np.asarray(_inputs_up_to(tokens, ends + 1, T, padding))


@mistake(
    "Your rows end one token too late.",
    lambda e: unwrapped(f"""Position {int(e.inputs["ends"][-1])} holds token
    {int(e.right("batch.x")[-1, -1])}, which should be the last of its row, but yours ends with
    {int(e.yours("batch.x")[-1, -1])}, the token after it. That one is the last target."""),
    recognized=lambda e: np.array_equal(e.yours("batch.x"), _one_later(e)),
)
def _ends_too_late(tokens, ends, block_size, padding):
    _, y = batch_ending_at(tokens, ends, block_size, padding)
    return _inputs_up_to(tokens, ends + 1, block_size, padding), y


@mistake(
    "You give each row only one target, the token after its end.",
    lambda e: unwrapped(f"""Your targets have shape {e.yours("batch.y").shape} instead of
    {e.right("batch.y").shape}, because every input of a row needs its own target, the token after
    it."""),
    TARGET,
    cases=("batch.y",),
)
def _one_target_a_row(tokens, ends, block_size, padding):
    x, y = batch_ending_at(tokens, ends, block_size, padding)
    return x, y[:, -1]


@mistake(
    "Only the last input of each of your rows has a target of its own.",
    lambda e: unwrapped(f"""{_targets_of(e, 0)} Every input has the token after it as its target,
    and a row is T examples, not one."""),
    TARGET,
    cases=("batch",),
    also=(
        lambda tokens, ends, T, padding: (
            batch_ending_at(tokens, ends, T, padding)[0],
            tokens[ends + 1][:, None].expand(-1, T),
        ),
    ),
)
def _last_target_only(tokens, ends, block_size, padding):
    x, y = batch_ending_at(tokens, ends, block_size, padding)
    y[:, :-1] = IGNORED
    return x, y


@mistake(
    "You swapped inputs and targets, so each target is the token before its input.",
    lambda e: unwrapped(f"""Your last row of inputs is `{row(e.yours("batch.x")[-1])}` and its
    targets are `{row(e.yours("batch.y")[-1])}`. Return x first, which is the row up to its end, and
    then y, which is one token ahead."""),
    TARGET,
    cases=("batch",),
)
def _results_exchanged(tokens, ends, block_size, padding):
    x, y = batch_ending_at(tokens, ends, block_size, padding)
    return y, x


def _rows_exchanged(evidence: Evidence) -> bool:
    """True if the rows of inputs and targets are right, but in another order."""
    if not all(evidence.comparable(name) for name in ("batch.x", "batch.y")):
        return False
    both = [
        sorted(np.concatenate([of("batch.x"), of("batch.y")], axis=1).tolist())
        for of in (evidence.yours, evidence.right)
    ]
    return both[0] == both[1] and not evidence.same("batch.x")


@mistake(
    "Your rows aren't in the order of `ends`.",
    lambda e: unwrapped(f"""`ends` is {listed(e.inputs["ends"])}, and row b belongs to `ends[b]`,
    whatever their order. Anyone who asks for a batch has to know which row is which."""),
    recognized=_rows_exchanged,
)
def _ends_in_order(tokens, ends, block_size, padding):
    return batch_ending_at(tokens, ends.sort().values, block_size, padding)


@mistake(
    "You make only one row of several equal ends.",
    lambda e: unwrapped(f"""`ends` is {listed(e.inputs["ends"])}, which is {len(e.inputs["ends"])}
    ends, but you return {len(e.yours("batch.x"))} rows. Row b belongs to `ends[b]`, even if another
    row has the same end. `unique` and `set` keep each number only once."""),
    recognized=lambda e: (
        len(e.yours("batch.x")) == len(set(e.inputs["ends"].tolist())) < len(e.inputs["ends"])
    ),
)
def _equal_ends_once(tokens, ends, block_size, padding):
    return batch_ending_at(tokens, ends.unique(), block_size, padding)


def _targets_missing(evidence: Evidence) -> Finding | None:
    """Targets that are −100 although the text has a symbol there."""
    mine, right = evidence.yours("batch.y"), evidence.right("batch.y")
    missing = (mine == IGNORED) & (right != IGNORED)
    if mine.shape != right.shape or not missing.any():
        return None
    return Finding(
        "targets-missing",
        "Some of your targets are −100 although the text has a symbol there.",
        f"You left out {int(missing.sum())} of {int((right != IGNORED).sum())} targets."
        f"{_targets_of(evidence, int(np.flatnonzero(missing.any(axis=1))[0]))}",
        TARGET,
    )


@mistake(
    "You took a symbol of the text for padding because it has the same number.",
    lambda e: unwrapped(f"""With `padding` = {e.number("symbol")}, which is also a symbol of this
    text, {int((e.yours("common.y") == IGNORED).sum())} of your targets are −100, but only
    {int((e.right("common.y") == IGNORED).sum())} are before the text. Look at the position instead
    of the number that is there."""),
    TARGET,
    cases=("batch", "young", "common"),
)
def _padding_known_by_its_number(tokens, ends, block_size, padding):
    x, y = batch_ending_at(tokens, ends, block_size, padding)
    return x, torch.where(y == padding, IGNORED, y)


def _targets_of(evidence: Evidence, b: int) -> str:
    return unwrapped(f"""Row {b} should have the targets `{row(evidence.right("batch.y")[b])}`, but
    yours are `{row(evidence.yours("batch.y")[b])}`.""")


def _worked_out(evidence: Evidence) -> Finding | None:
    if evidence.same("batch.x") and evidence.comparable("batch.y"):
        wrong = evidence.yours("batch.y") != evidence.right("batch.y")
        if wrong.any():
            return Finding(
                "other-targets",
                "Your inputs are right, but some of your targets aren't.",
                _targets_of(evidence, int(np.flatnonzero(wrong.any(axis=1))[0])),
                TARGET,
            )
    return None


TASK = Task(
    "A batch of given endings",
    batch_ending_at,
    RANDOM,
    (
        Part(
            "A row holds the T tokens up to and including its end.",
            2,
            _batch_part("batch.x", _is_whole_row),
        ),
        Part(
            "What would lie before the text is padding.",
            1,
            _batch_part("batch.x", lambda e: ~_is_whole_row(e)),
        ),
        Part(
            "Targets follow their inputs.",
            1,
            lambda e: (
                _batch_part("batch.y", _is_whole_row)(e)
                and e.same("common")
                and integers(e, "batch.x", "batch.y")
            ),
        ),
        Part(
            "Targets before the text are −100, and the first token is a target.",
            1,
            _batch_part("batch.y", lambda e: ~_is_whole_row(e)),
        ),
    ),
    properties=(_targets_missing, holds_integers(("batch.x", "batch.y"), TARGET)),
    examples=(_worked_out,),
    cases=("batch.x",),
    steps={
        "the steps back from an end": Step(
            "A row of T tokens goes back from its end, from 1 − T to 0."
        ),
        "the positions of your inputs": Step("Row b ends at position `ends[b]`."),
        "the positions of your targets": Step(
            "The target of an input is the token right after it.", TARGET
        ),
        "your inputs": Step("Only negative positions are before the text, and hold `padding`."),
        "your targets": Step(
            "Position 0 is the first that a target can be read at, and −100 belongs before it.",
            TARGET,
        ),
    },
)
