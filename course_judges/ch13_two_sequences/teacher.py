"""Judges 13/teacher: what the decoder reads and what it predicts."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG005

from __future__ import annotations

import numpy as np
import torch

from course_judges.ch13_two_sequences.sections import BATCH
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import holds_integers, integers
from course_judges.wording import listed, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

_CASES = ("alike", "padded", "cut")
_READ, _PREDICTED = (tuple(f"{case}.{name}" for case in _CASES) for name in "xy")
_TOKENS = tuple(f"{case}.{name}" for case in _CASES for name in "xy")


def teacher_forced(texts, start, end, pad, longest):
    """A right answer to 13/teacher: (B, T) what is read, (B, T) what is predicted."""
    rows = [[start, *text, end][: longest + 1] for text in texts]  # the rows
    read = [row[:-1] for row in rows]  # what is read
    predicted = [row[1:] for row in rows]  # what is predicted
    T = max(len(row) for row in predicted)  # the width
    x = torch.tensor([(row + [pad] * T)[:T] for row in read])  # `x`
    y = torch.tensor([(row + [-100] * T)[:T] for row in predicted])  # `y`
    return x, y


def _taught(rows, pad, T=None):
    """What is read and what is predicted of other rows, in another width."""
    T = T or max(len(row) for row in rows) - 1
    x = torch.tensor([(row[:-1] + [pad] * T)[:T] for row in rows])
    y = torch.tensor([(row[1:] + [-100] * T)[:T] for row in rows])
    return x, y


def _changed(change):
    """The right answer with its two results changed."""

    def answer(texts, start, end, pad, longest):
        return change(*teacher_forced(texts, start, end, pad, longest), pad)

    return answer


def _rows(evidence: Evidence, of: str = "xy") -> str:
    for case in _CASES:
        for name, does in (("x", "reads"), ("y", "predicts")):
            if name not in of:
                continue
            value = f"{case}.{name}"
            mine, right = evidence.yours(value), evidence.right(value)
            if mine.ndim != 2 or len(mine) != len(right):
                return f"Your `{name}` has shape {mine.shape} instead of {right.shape}."
            if not np.array_equal(mine, right):
                b = _wrong_row(mine, right, -100 if name == "y" else evidence.number("pad"))
                return unwrapped(f"""Row {b} {does} [{listed(mine[b])}] instead of
                [{listed(right[b])}].""")
    return ""


def _wrong_row(mine: Array, right: Array, fill: int) -> int:
    """The first row that is wrong without what it is filled with, or else with that."""
    T = max(mine.shape[1], right.shape[1])
    one, other = (
        np.pad(side, ((0, 0), (0, T - side.shape[1])), constant_values=fill)
        for side in (mine, right)
    )
    return int((one != other).any(axis=1).argmax())


def _predicted(evidence: Evidence) -> str:
    """The first wrong row, of what is predicted if there is one."""
    return _rows(evidence, "y") or _rows(evidence)


def _marks(evidence: Evidence, of: str = "xy") -> str:
    start, end, pad = (evidence.number(name) for name in ("start", "end", "pad"))
    return f"Here start = {start}, end = {end} and pad = {pad}. {_rows(evidence, of)}"


def _longest(evidence: Evidence) -> str:
    return f"Here longest = {evidence.number('longest')}. {_rows(evidence)}"


_no_end = mistake(
    "Your decoder never has to predict the end.",
    lambda e: f"{_marks(e, 'y')} A model that never learns to predict the end won't stop.",
)(
    lambda texts, start, end, pad, longest: _taught(
        [[start, *text][: longest + 1] for text in texts], pad
    )
)

_end_read = mistake(
    "In rows shorter than the longest one, your decoder reads the end.",
    lambda e: f"{_marks(e)} After the end there is nothing left to predict.",
    cases=_READ,
)(Like("used-a-slice-to-the-end-in-what-is-read"))

_padding_counts = mistake(
    "Your decoder has to predict padding. Fill what is predicted with −100.",
    lambda e: _marks(e, "y"),
    cases=_PREDICTED,
)(_changed(lambda x, y, pad: (x, y.masked_fill(y == -100, pad))))


_first_ignored = mistake(
    "You replaced the first prediction by −100, but after `start` the first token is predicted.",
    lambda e: _marks(e, "y"),
    cases=_PREDICTED,
)(_changed(lambda x, y, pad: (x, torch.nn.functional.pad(y[:, 1:], (1, 0), value=-100))))


def _pushed(x, y, _):
    """Both with their padding in front."""
    counts = (y != -100).sum(dim=1).tolist()
    return tuple(
        torch.stack([row.roll(len(row) - n) for row, n in zip(one, counts, strict=True)])
        for one in (x, y)
    )


_left = mistake("You padded the rows on the left, but they should begin together.", _rows)(
    _changed(_pushed)
)

_to_longest = mistake(
    "You padded the batch to `longest` instead of to its longest row.",
    _longest,
)(
    lambda texts, start, end, pad, longest: _taught(
        [[start, *text, end][: longest + 1] for text in texts], pad, longest
    )
)


def _too_long(evidence: Evidence) -> str:
    """What is read of the longest text."""
    b, longest = int(evidence.inputs["cut"].argmax()), evidence.number("longest")
    mine, right = evidence.yours("cut.x")[b], evidence.right("cut.x")[b]
    return unwrapped(f"""Here longest = {longest}, and text {b} has {evidence.inputs["cut"][b]}
    tokens. Its row reads [{listed(mine)}] instead of [{listed(right)}]. `start` is one of the
    {longest} tokens that may be read, and nothing is predicted after your last one.""")


def _read_on(*, both_wider):
    def answer(texts, start, end, pad, longest):
        _, y = teacher_forced(texts, start, end, pad, longest)
        read = [[start, *text][: longest + 1] for text in texts]
        T = max(len(row) for row in read)
        x = torch.tensor([(row + [pad] * T)[:T] for row in read])
        filled = torch.nn.functional.pad(y, (0, T - y.shape[1]), value=-100)
        return x, filled if both_wider else y

    return answer


_one_more_read = mistake(
    "Of a text that is too long, you read one token more than you predict.",
    _too_long,
    also=(_read_on(both_wider=True),),
)(_read_on(both_wider=False))

_last_tokens_kept = mistake(
    "You kept the last `longest` tokens of a text that is too long instead of the first ones.",
    _longest,
)(
    lambda texts, start, end, pad, longest: _taught(
        [[start, *text, end][-longest - 1 :] for text in texts], pad
    )
)

_end_after_cut = mistake(
    "You put `end` at the end of a text that was cut, but it goes on, so it should have none.",
    lambda e: unwrapped(f"""{_predicted(e)} The end takes the place of the last token that should be
    predicted, so cut the text to `longest` tokens and not to `longest` − 1. The model would learn
    to stop in the middle of a text."""),
)(
    lambda texts, start, end, pad, longest: _taught(
        [[start, *text[: longest - 1], end] for text in texts], pad
    )
)


def _tight(texts, start, end, pad, longest):
    """Without the end of a text that just fits with it."""
    return _taught(
        [[start, *text, *[end] * (len(text) + 1 != longest)][: longest + 1] for text in texts], pad
    )


def _tight_end_not_predicted(texts, start, end, pad, longest):
    """Reads as it should, but doesn't predict an end that just fits."""
    x, _ = teacher_forced(texts, start, end, pad, longest)
    _, y = _tight(texts, start, end, pad, longest)
    return x, y


_fitting_end_lost = mistake(
    "You dropped the end of a text that just fits with its end.",
    lambda e: f"Here longest = {e.number('longest')}, and the end is included. {_predicted(e)}",
    also=(_tight_end_not_predicted,),
)(_tight)

_pad_by_its_symbol = mistake(
    "You put −100 wherever `pad` is predicted, but only what comes after the end is padding.",
    lambda e: f"The same symbol may be both end and padding. {_marks(e)}",
)(_changed(lambda x, y, pad: (x, y.masked_fill(y == pad, -100))))


def _without_empty(evidence: Evidence) -> str:
    mine, right = evidence.yours("cut.y"), evidence.right("cut.y")
    return unwrapped(f"""One of {len(right)} texts has no tokens, and you return only {len(mine)}
    rows. In its row, `start` is read and `end` is predicted.""")


_empty_left_out = mistake("You left out the row of a text without tokens.", _without_empty)(
    lambda texts, start, end, pad, longest: teacher_forced(
        [text for text in texts if text], start, end, pad, longest
    )
)


def _shapes(evidence: Evidence) -> str:
    x, y, right = (evidence.yours("alike.x"), evidence.yours("alike.y"), evidence.right("alike.x"))
    return f"`x` has shape {x.shape} and `y` {y.shape}, but both should have {right.shape}."


_batch_axis_second = mistake(
    "Your rows run down the columns: you return (T, B) instead of (B, T).",
    lambda e: (
        f"`pad_sequence` puts the batch second unless you say `batch_first=True`. {_shapes(e)}"
    ),
    also=(_changed(lambda x, y, _: (x.T, y)), _changed(lambda x, y, _: (x, y.T))),
)(_changed(lambda x, y, _: (x.T, y.T)))


def _columns(evidence: Evidence) -> str:
    return next(
        unwrapped(f"""Texts of {listed(evidence.inputs[case])} tokens should give
        {evidence.right(f"{case}.y").shape[1]} columns, but yours have
        {evidence.yours(f"{case}.y").shape[1]}. Here longest = {evidence.number("longest")}.""")
        for case in _CASES
        if evidence.yours(f"{case}.y").shape != evidence.right(f"{case}.y").shape
    )


_end_not_in_width = mistake(
    "You took T from the texts without their ends, so the longest text loses its last prediction.",
    lambda e: f"{_columns(e)} T counts all tokens that are predicted, the end included.",
)(
    lambda texts, start, end, pad, longest: _taught(
        [[start, *text, end][: longest + 1] for text in texts],
        pad,
        min(longest, max(len(text) for text in texts)),
    )
)


def _two_widths(evidence: Evidence) -> tuple[str, Array, Array]:
    """The first case in which what is read and what is predicted have different widths."""
    for case in _CASES:
        x, y = evidence.yours(f"{case}.x"), evidence.yours(f"{case}.y")
        if x.ndim == y.ndim == 2 and len(x) == len(y) and x.shape != y.shape:
            return case, x, y
    raise ValueError("both have the same width")


def _says_widths(evidence: Evidence) -> str:
    case, x, y = _two_widths(evidence)
    right = evidence.right(f"{case}.x")
    return unwrapped(f"""Of texts with {listed(evidence.inputs[case])} tokens, `x` has shape
    {x.shape} and `y` {y.shape}, but both should have {right.shape}. {_rows(evidence)}""")


_different_widths = mistake(
    "What is read and what is predicted have different widths.",
    _says_widths,
    recognized=lambda e: bool(_two_widths(e)),
)(
    lambda texts, start, end, pad, longest: (
        teacher_forced(texts, start, end, pad, longest)[0][:, :-1],
        teacher_forced(texts, start, end, pad, longest)[1],
    )
)


def _other_filling(evidence: Evidence) -> Finding | None:
    """If all tokens are right, but rows are filled with a wrong number."""
    for case in _CASES:
        for name, does, wanted in (("x", "read", "pad"), ("y", "predicted", "−100")):
            mine, right = evidence.yours(f"{case}.{name}"), evidence.right(f"{case}.{name}")
            if mine.shape != right.shape:
                return None
            behind = evidence.right(f"{case}.y") == -100
            if (mine == right).all():
                continue
            held = np.unique(mine[behind & (mine != right)])
            if (mine != right)[~behind].any() or len(held) != 1:
                return None
            names = ("start", "end", "pad")
            said = next(
                (f"`{n}` = {held[0]}" for n in names if evidence.number(n) == held[0]), held[0]
            )
            wanted = f"`pad` = {evidence.number('pad')}" if wanted == "pad" else wanted
            return Finding(
                "other-filling",
                f"You filled what is {does} with the wrong number.",
                f"All texts are right, but after their ends, you filled what is {does} with {said} "
                f"instead of {wanted}. {_marks(evidence, name)}",
                BATCH,
            )
    return None


def _reordered(mine: Array, right: Array) -> bool:
    return bool(sorted(mine.tolist()) == sorted(right.tolist()))


def _other_row(evidence: Evidence) -> Finding | None:
    """The first row that is wrong, next to the right one."""
    if not all(evidence.comparable(name) for name in _TOKENS) or not _rows(evidence):
        return None
    mine = [evidence.yours(f"alike.{name}") for name in "xy"]
    right = [evidence.right(f"alike.{name}") for name in "yx"]
    if all((one == other).all() for one, other in zip(mine, right, strict=True)):
        return None  # saying that the two are swapped tells more
    if np.ptp(evidence.yours("alike.x") - evidence.right("alike.x")) == 0 and not evidence.same(
        "alike.x"
    ):
        return None  # saying that all differ by the same number tells more
    if all(_reordered(evidence.yours(name), evidence.right(name)) for name in _TOKENS):
        return Finding(
            "other-rows",
            "Your rows are right, but not in the order of the texts.",
            f"{_marks(evidence)} Row b should belong to text b, however long it is.",
            BATCH,
        )
    wrong = [name for name in ("x", "y") if not evidence.same(*(f"{c}.{name}" for c in _CASES))]
    does = {"x": "what is read", "y": "what is predicted"}
    return Finding(
        "other-rows",
        f"Your rows of {' and of '.join(does[name] for name in wrong)} aren't right.",
        f"{_marks(evidence, wrong[0])} Write start, text and end as one row. What is read begins "
        "and ends one token before what is predicted.",
        BATCH,
    )


TASK = Task(
    "A teacher for a batch",
    teacher_forced,
    BATCH,
    (
        Part("Texts of one length are shifted by one.", 2, matches("alike")),
        Part("Shorter texts are filled up, and padding isn't predicted.", 1, matches("padded")),
        Part(
            "Texts that are too long are cut.",
            1,
            lambda e: e.same("cut") and integers(e, *_TOKENS),
        ),
    ),
    properties=(holds_integers(_TOKENS, BATCH), _other_filling, _other_row),
    steps={
        "the rows": Step("Of start, text and end, `longest` tokens are read."),
        "what is read": Step("After a row's last token nothing is predicted, so it isn't read."),
        "what is predicted": Step("The decoder predicts the token after the one that it reads."),
        "the width": Step("The batch is as wide as its longest row, the end included."),
        "`x`": Step("Rows begin together, and what is read is filled with `pad`."),
        "`y`": Step("Rows begin together, and what is predicted is filled with −100."),
    },
)
