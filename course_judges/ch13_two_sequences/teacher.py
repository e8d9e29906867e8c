"""Judges 13/teacher: what the decoder reads and what it predicts."""

# mypy: allow-untyped-defs

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from course_judges.ch13_two_sequences.sections import BATCH
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import holds_integers, integers
from course_judges.wording import listed, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

_CASES = ("alike", "padded", "cut")
_READ, _PREDICTED = (tuple(f"{case}.{name}" for case in _CASES) for name in "xy")
_TOKENS = tuple(f"{case}.{name}" for case in _CASES for name in "xy")


@dataclass(frozen=True)
class Teacher:
    """An answer with one of its choices replaced."""

    shifted: int = 1
    ends: str = "kept"
    room: int = 0
    cut: bool = True
    to_longest: bool = False
    reads_end: bool = False
    left: bool = False
    ignored: bool = True
    x_ignored: bool = False
    starts: bool = True
    empty: bool = True
    tight: bool = True
    last: bool = False
    by_symbol: bool = False
    replaced: bool = False
    end_ignored: bool = False

    def _row(self, text, start, end, longest):
        """What is read and what is predicted for one text."""
        whole = [*text, end] if self.ends != "none" else list(text)
        if not self.tight and len(whole) == longest:
            whole = list(text)
        if self.cut:
            kept = whole[: longest + self.room]
            if self.ends == "forced" and len(kept) < len(whole):
                kept[-1] = end
            elif self.ends == "added" and len(kept) < len(whole):
                kept.append(end)
        else:
            kept = whole
        if self.last and len(whole) > longest:
            held = [start, *whole]
            return held[:-1][-longest:], whole[-longest:]
        before = [start, *kept] if self.starts else kept
        read = before[: len(kept) + self.reads_end]
        if self.replaced:
            read = [start, *kept[1:]]
        predicted = before[self.shifted :] if self.starts else kept
        return read, predicted[: len(kept)]

    def __call__(self, texts, start, end, pad, longest):
        """(B, T) what is read, (B, T) what is predicted."""
        kept = [text for text in texts if text or self.empty]
        rows = [self._row(text, start, end, longest) for text in kept]
        T = longest if self.to_longest else max(len(predicted) for _, predicted in rows)
        fill_x, fill_y = -100 if self.x_ignored else pad, -100 if self.ignored else pad

        def filled(row, value):
            room = [value] * (T - len(row))
            return (room + row if self.left else row + room)[:T]

        if self.end_ignored:
            rows = [(read, [-100 if k == end else k for k in made]) for read, made in rows]
        x = [filled(read, fill_x) for read, _ in rows]
        y = torch.tensor([filled(predicted, fill_y) for _, predicted in rows])
        return torch.tensor(x), y.masked_fill(y == pad, -100) if self.by_symbol else y


teacher_forced = Teacher()


def _rows(evidence: Evidence, of: str = "xy") -> str:
    for case in _CASES:
        for name, does in (("x", "reads"), ("y", "predicts")):
            if name not in of:
                continue
            value = f"{case}.{name}"
            mine, right = evidence.yours(value), evidence.right(value)
            if mine.ndim != 2 or len(mine) != len(right):
                return f"Your `{name}` has shape {mine.shape}; expected {right.shape}."
            for b in range(len(right)):
                if not np.array_equal(mine[b], right[b]):
                    return unwrapped(f"""Row {b} {does} [{listed(mine[b])}]; expected
                    [{listed(right[b])}].""")
    return ""


def _marks(evidence: Evidence, of: str = "xy") -> str:
    start, end, pad = (evidence.number(name) for name in ("start", "end", "pad"))
    return f"start = {start}, end = {end}, pad = {pad}. {_rows(evidence, of)}"


_not_shifted = mistake(
    "The decoder has to predict the token that it reads.",
    lambda e: f"{_marks(e)} What is predicted is the same text one step later.",
)(Teacher(shifted=0))

_no_start = mistake("What is read doesn't begin with `start`.", _marks)(Teacher(starts=False))

_no_end = mistake(
    "The end is never predicted.",
    lambda e: f"{_marks(e)} A model that never sees an end never stops.",
)(Teacher(ends="none"))

_end_read = mistake(
    "In rows that are shorter than the longest one the decoder reads the end.",
    lambda e: f"{_marks(e)} After the end there is nothing left to predict.",
    cases=_READ,
)(Teacher(reads_end=True))

_padding_counts = mistake(
    "Padding is predicted: fill what is predicted with −100.",
    lambda e: _marks(e, "y"),
    cases=_PREDICTED,
)(Teacher(ignored=False))

_padding_ignored_twice = mistake(
    "What is read is filled with −100 too; no embedding has that number.", _marks
)(Teacher(x_ignored=True))

_start_read_in_place = mistake(
    "You put `start` in the place of the first token; it comes before it, and nothing is lost.",
    _marks,
    cases=_READ,
)(Teacher(replaced=True))

_end_ignored = mistake(
    "You put −100 in the place of the end; it is predicted, only what comes after it is not.",
    lambda e: _marks(e, "y"),
    cases=_PREDICTED,
)(Teacher(end_ignored=True))

_left = mistake("Your rows are padded on the left; they should begin together.", _rows)(
    Teacher(left=True)
)

_to_longest = mistake(
    "Every batch is padded to `longest`; the longest row of the batch is enough.",
    lambda e: f"longest = {e.number('longest')} here. {_rows(e)}",
)(Teacher(to_longest=True))

_never_cut = mistake(
    "Texts that are too long were not cut.",
    lambda e: f"longest = {e.number('longest')} here. {_rows(e)}",
)(Teacher(cut=False))

_end_on_top = mistake(
    "You left room for `longest` tokens and then an end; the end is one of the `longest`.",
    lambda e: f"longest = {e.number('longest')} here. {_rows(e)}",
)(Teacher(room=1))

_last_tokens_kept = mistake(
    "Of a text that is too long you keep the last `longest` tokens; the first ones are predicted.",
    lambda e: f"longest = {e.number('longest')} here. {_rows(e)}",
)(Teacher(last=True))

_end_after_cut = mistake(
    "A text that was cut ends with `end`; it goes on, so it should have none.",
    lambda e: unwrapped(f"""{_rows(e)} Of its tokens the last that should be predicted is missing:
    cut it to `longest`, not to `longest` − 1. The model would learn to stop in the middle of a
    text."""),
)(Teacher(ends="forced"))

_end_added_after_cut = mistake(
    "A text that was cut got an `end` behind it; it goes on, so it should have none.",
    lambda e: f"{_rows(e)} The model would learn to stop in the middle of a text.",
)(Teacher(ends="added"))

_fitting_end_lost = mistake(
    "A text that fits with its end, and only just, has no end in yours.",
    lambda e: f"longest = {e.number('longest')}, the end included. {_rows(e)}",
)(Teacher(tight=False))

_one_too_few = mistake(
    "Your texts are cut one token too early.",
    lambda e: f"longest = {e.number('longest')} tokens may be predicted. {_rows(e)}",
)(Teacher(room=-1))


_pad_by_its_symbol = mistake(
    "You put −100 wherever `pad` is predicted; only what comes after the end of a text is padding.",
    lambda e: f"Here one symbol is both end and padding. {_marks(e)}",
)(Teacher(by_symbol=True))


def _without_empty(evidence: Evidence) -> str:
    mine, right = evidence.yours("cut.y"), evidence.right("cut.y")
    return unwrapped(f"""One of {len(right)} texts has no tokens, and you return {len(mine)}
    rows. Of it, `start` is read and `end` is predicted.""")


_empty_left_out = mistake("A text without tokens got no row.", _without_empty)(Teacher(empty=False))


def _other_filling(evidence: Evidence) -> Finding | None:
    """All tokens are right, and behind them other numbers than those that were asked for."""
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
                (f"`{n}`, {held[0]}" for n in names if evidence.number(n) == held[0]), held[0]
            )
            wanted = f"`pad`, {evidence.number('pad')}" if wanted == "pad" else wanted
            return Finding(
                "other-filling",
                f"What is {does} is filled with another number than was asked for.",
                f"All texts are right. Behind their ends, what is {does} holds {said} in yours; "
                f"fill it with {wanted}. {_marks(evidence, name)}",
                BATCH,
            )
    return None


def _reordered(mine: Array, right: Array) -> bool:
    return bool(sorted(mine.tolist()) == sorted(right.tolist()))


def _other_row(evidence: Evidence) -> Finding | None:
    """The first row that is wrong, beside the right one."""
    if not all(evidence.comparable(name) for name in _TOKENS) or not _rows(evidence):
        return None
    mine = [evidence.yours(f"alike.{name}") for name in "xy"]
    right = [evidence.right(f"alike.{name}") for name in "yx"]
    if all((one == other).all() for one, other in zip(mine, right, strict=True)):
        return None  # that the two changed places says more
    if np.ptp(evidence.yours("alike.x") - evidence.right("alike.x")) == 0 and not evidence.same(
        "alike.x"
    ):
        return None  # one difference for all says more
    if all(_reordered(evidence.yours(name), evidence.right(name)) for name in _TOKENS):
        return Finding(
            "other-rows",
            "Your rows are right, and stand in another order than the texts.",
            f"{_marks(evidence)} Row b belongs to text b, however long it is.",
            BATCH,
        )
    wrong = [name for name in ("x", "y") if not evidence.same(*(f"{c}.{name}" for c in _CASES))]
    does = {"x": "what is read", "y": "what is predicted"}
    return Finding(
        "other-rows",
        f"Rows of {' and of '.join(does[name] for name in wrong)} are not as they should be.",
        f"{_marks(evidence, wrong[0])} Write start, text and end as one row: what is read ends one "
        "before what is predicted, and begins one before it.",
        BATCH,
    )


TASK = Task(
    "A teacher for a batch",
    teacher_forced,
    BATCH,
    (
        Part("Texts of one length are shifted by one, with start and end.", 2, matches("alike")),
        Part("Shorter texts are filled up, and padding is not predicted.", 1, matches("padded")),
        Part(
            "Texts that are too long are cut, without an end; and all tokens are integers.",
            1,
            lambda e: e.same("cut") and integers(e, *_TOKENS),
        ),
    ),
    properties=(holds_integers(_TOKENS, BATCH), _other_filling, _other_row),
)
