"""Judges 13/teacher: what the decoder reads and what it predicts."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001, ARG005

from __future__ import annotations

import functools
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
    """An answer that makes one of its choices differently."""

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
    reads_on: str = ""

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
        if self.reads_on and len(whole) > longest:
            read = before
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
        T_x = max(len(read) for read, _ in rows) if self.reads_on else T
        T = T_x if self.reads_on == "with as many predicted" else T

        def filled(row, value, T):
            room = [value] * (T - len(row))
            return (room + row if self.left else row + room)[:T]

        if self.end_ignored:
            rows = [(read, [-100 if k == end else k for k in made]) for read, made in rows]
        x = [filled(read, fill_x, T_x) for read, _ in rows]
        y = torch.tensor([filled(predicted, fill_y, T) for _, predicted in rows])
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


_not_shifted = mistake(
    "Your decoder has to predict the very token that it reads.",
    lambda e: f"{_marks(e)} It should predict the token that comes next.",
)(Teacher(shifted=0))

_no_start = mistake("What your decoder reads doesn't begin with `start`.", _marks)(
    Teacher(starts=False)
)

_no_end = mistake(
    "Your decoder never has to predict the end.",
    lambda e: f"{_marks(e, 'y')} A model that never learns to predict the end won't stop.",
)(Teacher(ends="none"))

_end_read = mistake(
    "In rows shorter than the longest one, your decoder reads the end.",
    lambda e: f"{_marks(e)} After the end there is nothing left to predict.",
    cases=_READ,
)(Teacher(reads_end=True))

_padding_counts = mistake(
    "Your decoder has to predict padding. Fill what is predicted with −100.",
    lambda e: _marks(e, "y"),
    cases=_PREDICTED,
)(Teacher(ignored=False))

_padding_ignored_twice = mistake(
    "You filled what is read with −100, too, but no embedding has that index.", _marks
)(Teacher(x_ignored=True))

_start_read_in_place = mistake(
    "You replaced the first token by `start`, but `start` should come before it.",
    _marks,
    cases=_READ,
)(Teacher(replaced=True))

_end_ignored = mistake(
    "You replaced the end by −100, but the end is predicted, and only padding after it isn't.",
    lambda e: _marks(e, "y"),
    cases=_PREDICTED,
)(Teacher(end_ignored=True))

_left = mistake("You padded the rows on the left, but they should begin together.", _rows)(
    Teacher(left=True)
)

_to_longest = mistake(
    "You padded the batch to `longest` instead of to its longest row.",
    _longest,
)(Teacher(to_longest=True))

_never_cut = mistake(
    "You didn't cut texts that are too long.",
    _longest,
)(Teacher(cut=False))

_end_on_top = mistake(
    "You allowed `longest` tokens and an end after them, but the end is one of the `longest`.",
    _longest,
)(Teacher(room=1))


def _too_long(evidence: Evidence) -> str:
    """What is read of the longest text."""
    b, longest = int(evidence.inputs["cut"].argmax()), evidence.number("longest")
    mine, right = evidence.yours("cut.x")[b], evidence.right("cut.x")[b]
    return unwrapped(f"""Here longest = {longest}, and text {b} has {evidence.inputs["cut"][b]}
    tokens. Its row reads [{listed(mine)}] instead of [{listed(right)}]. `start` is one of the
    {longest} tokens that may be read, and nothing is predicted after your last one.""")


def _of_the_longest(evidence: Evidence) -> str:
    """What is predicted of the longest text."""
    b = int(evidence.inputs["cut"].argmax())
    mine, right = evidence.yours("cut.y")[b], evidence.right("cut.y")[b]
    return unwrapped(f"""Here longest = {evidence.number("longest")}, and text {b} has
    {evidence.inputs["cut"][b]} tokens. Of it you predict [{listed(mine)}] instead of
    [{listed(right)}].""")


_one_more_read = mistake(
    "Of a text that is too long, you read one token more than you predict.",
    _too_long,
    also=(Teacher(reads_on="with as many predicted"),),
)(Teacher(reads_on="alone"))

_last_tokens_kept = mistake(
    "You kept the last `longest` tokens of a text that is too long instead of the first ones.",
    _longest,
)(Teacher(last=True))

_end_after_cut = mistake(
    "You put `end` at the end of a text that was cut, but it goes on, so it should have none.",
    lambda e: unwrapped(f"""{_predicted(e)} The end takes the place of the last token that should be
    predicted, so cut the text to `longest` tokens and not to `longest` − 1. The model would learn
    to stop in the middle of a text."""),
)(Teacher(ends="forced"))

_end_added_after_cut = mistake(
    "You added an `end` after a text that was cut, but it goes on, so it should have none.",
    lambda e: unwrapped(f"""{_of_the_longest(e)} The model would learn to stop in the middle of a
    text."""),
)(Teacher(ends="added"))


def _tight_end_not_predicted(texts, start, end, pad, longest):
    """Reads as it should, but doesn't predict an end that just fits."""
    x, _ = teacher_forced(texts, start, end, pad, longest)
    _, y = Teacher(tight=False)(texts, start, end, pad, longest)
    return x, y


_fitting_end_lost = mistake(
    "You dropped the end of a text that just fits with its end.",
    lambda e: f"Here longest = {e.number('longest')}, and the end is included. {_predicted(e)}",
    also=(_tight_end_not_predicted,),
)(Teacher(tight=False))

_one_too_few = mistake(
    "You cut texts one token too early.",
    lambda e: f"Here longest = {e.number('longest')} tokens may be predicted. {_rows(e)}",
)(Teacher(room=-1))


_pad_by_its_symbol = mistake(
    "You put −100 wherever `pad` is predicted, but only what comes after the end is padding.",
    lambda e: f"The same symbol may be both end and padding. {_marks(e)}",
)(Teacher(by_symbol=True))


def _without_empty(evidence: Evidence) -> str:
    mine, right = evidence.yours("cut.y"), evidence.right("cut.y")
    return unwrapped(f"""One of {len(right)} texts has no tokens, and you return only {len(mine)}
    rows. In its row, `start` is read and `end` is predicted.""")


_empty_left_out = mistake("You left out the row of a text without tokens.", _without_empty)(
    Teacher(empty=False)
)


def _transposed_results(*which: int):
    """The right answer with these of its two results as (T, B)."""

    def answer(texts, start, end, pad, longest):
        made = teacher_forced(texts, start, end, pad, longest)
        return tuple(one.T if n in which else one for n, one in enumerate(made))

    return answer


def _shapes(evidence: Evidence) -> str:
    x, y, right = (evidence.yours("alike.x"), evidence.yours("alike.y"), evidence.right("alike.x"))
    return f"`x` has shape {x.shape} and `y` {y.shape}, but both should have {right.shape}."


_batch_axis_second = mistake(
    "Your rows run down the columns: you return (T, B) instead of (B, T).",
    lambda e: (
        f"`pad_sequence` puts the batch second unless you say `batch_first=True`. {_shapes(e)}"
    ),
    also=(_transposed_results(0), _transposed_results(1)),
)(_transposed_results(0, 1))


def _in_columns(width):
    """The right rows, in as many columns as a function of all lengths says."""

    def answer(texts, start, end, pad, longest):
        x, y = teacher_forced(texts, start, end, pad, longest)
        T = width([len(text) for text in texts], longest)
        more = max(0, T - x.shape[1])
        return tuple(
            torch.nn.functional.pad(one, (0, more), value=fill)[:, :T]
            for one, fill in ((x, pad), (y, -100))
        )

    return answer


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
)(_in_columns(lambda lengths, longest: min(longest, max(lengths))))

_width_of_uncut_texts = mistake(
    "You took T from the texts before they were cut, so the batch is wider than `longest`.",
    _columns,
    also=(_in_columns(lambda lengths, longest: max(lengths)),),
)(_in_columns(lambda lengths, longest: max(lengths) + 1))

_one_column_more = mistake(
    "Your batch has one column more than the longest row needs, and it holds only filling.",
    _columns,
)(_in_columns(lambda lengths, longest: min(longest, max(lengths) + 1) + 1))

_width_of_the_shortest = mistake(
    "You cut all rows to the shortest one instead of filling up the shorter ones.", _columns
)(_in_columns(lambda lengths, longest: min(longest, min(lengths) + 1)))


def _predictions(y: Array) -> list[list[int]]:
    return [[int(k) for k in row if k != -100] for row in y]


def _without_too_long(evidence: Evidence) -> bool:
    """Whether all rows are right but those of texts that are too long; without any text it may
    stop.
    """
    lengths, longest = evidence.inputs["cut"], evidence.number("longest")
    if "cut" in evidence.answers.errors:
        return bool((lengths >= longest).all())
    y, right = evidence.yours("cut.y"), _predictions(evidence.right("cut.y"))
    return len(y) < len(right) and any(
        _predictions(y) == [row for row, fits in zip(right, fit, strict=True) if fits]
        for fit in (lengths < longest, lengths <= longest)
    )


def _too_many_or_few(evidence: Evidence) -> str:
    texts = evidence.inputs["cut"]
    return unwrapped(f"""Of {len(texts)} texts with {listed(texts)} tokens, you return
    {len(evidence.yours("cut.y"))} rows. Here longest = {evidence.number("longest")}.""")


_too_long_left_out = mistake(
    "You left out texts that are too long, but they should be cut.",
    _too_many_or_few,
    recognized=_without_too_long,
)(
    lambda texts, start, end, pad, longest: teacher_forced(
        [text for text in texts if len(text) < longest], start, end, pad, longest
    )
)


def _whole(texts, start, end, fill, most):
    """Whole rows, from `start` to the end or to the number of entries that are kept."""
    return torch.nn.utils.rnn.pad_sequence(
        [torch.tensor([start, *text, end])[:most] for text in texts],
        batch_first=True,
        padding_value=fill,
    )


def _whole_both(texts, start, end, pad, longest, more=1):
    return tuple(_whole(texts, start, end, fill, longest + more) for fill in (pad, -100))


def _whole_read(texts, start, end, pad, longest, more=1):
    y = teacher_forced(texts, start, end, pad, longest)[1]
    return _whole(texts, start, end, pad, longest + more), y


_whole_rows = mistake(
    "Your decoder reads and predicts whole rows, from `start` to the end.",
    lambda e: (
        unwrapped(f"""{_rows(e)} What is read should leave out the last entry of such a row, and
    what is predicted the first one.""")
    ),
    also=(functools.partial(_whole_both, more=0),),
)(_whole_both)

_whole_rows_read = mistake(
    "Your decoder reads whole rows, from `start` to the end.",
    lambda e: f"{_rows(e)} The end is never read, since after it there is nothing to predict.",
    also=(functools.partial(_whole_read, more=0),),
)(_whole_read)

_shifted_twice = mistake(
    "What your decoder predicts begins with the second token of each text.",
    lambda e: f"{_rows(e)} When `start` has been read, the first token is predicted.",
    also=(
        lambda texts, start, end, pad, longest: tuple(
            torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=fill)
            for rows, fill in (
                ([torch.tensor([start, *t, end])[:-1][:longest] for t in texts], pad),
                ([torch.tensor([start, *t, end])[2:][:longest] for t in texts], -100),
            )
        ),
    ),
)(
    lambda texts, start, end, pad, longest: (
        teacher_forced(texts, start, end, pad, longest)[0],
        teacher_forced(texts, start, end, pad, longest)[1][:, 1:],
    )
)


def _changed_y(change):
    """The right answer with its predictions changed, given which rows are cut."""

    def answer(texts, start, end, pad, longest):
        x, y = teacher_forced(texts, start, end, pad, longest)
        return x, change(y.clone(), torch.tensor([len(text) >= longest for text in texts]))

    return answer


def _last_hidden(y, cut):
    y[cut, -1] = -100
    return y


def _first_hidden(y, cut):
    y[:, 0] = -100
    return y


def _filled_in_front(y, cut):
    return torch.stack([torch.cat([row[row == -100], row[row != -100]]) for row in y])


_last_of_cut_ignored = mistake(
    "You replaced the last token of a text that was cut by −100, but it is predicted.",
    _longest,
    cases=_PREDICTED,
)(_changed_y(_last_hidden))

_first_ignored = mistake(
    "You replaced the first prediction by −100, but after `start` the first token is predicted.",
    lambda e: _marks(e, "y"),
    cases=_PREDICTED,
)(_changed_y(_first_hidden))

_predicted_on_the_right = mistake(
    "You filled up what is predicted on the left, but its rows should begin together.",
    lambda e: _marks(e, "y"),
    cases=_PREDICTED,
)(_changed_y(_filled_in_front))


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
)
