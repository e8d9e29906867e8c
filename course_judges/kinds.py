"""Of what kind the returned thing is: an error, no value, a text or numbers, of which shape."""

from __future__ import annotations

import numpy as np

from course_judges.evidence import Evidence
from course_judges.wording import sentence
from course_tasks.answers import Answers, Raised, Value
from course_tasks.verdict import Finding, Section

# How the kinds of arrays are called.
_KINDS = {"f": "decimal numbers", "i": "whole numbers", "u": "whole numbers", "b": "True and False"}


def error(evidence: Evidence, section: Section) -> Finding | None:
    """An exception where a right answer has none, or a return value that is no value at all."""
    for case, raised in evidence.answers.errors.items():
        if case in evidence.expected.errors:
            continue  # the reference raises here, too; its kind is the part's business
        where = f" at `{raised.line}`" if raised.line else ""
        if raised.not_attempted:
            return Finding(
                "partly-attempted",
                f"A part of the scaffold still raises NotImplementedError{where}.",
                "",
                section,
            )
        with_what = evidence.called_with(case)
        if raised.kind == "ReturnedTypeError":
            return _returned(raised, with_what, section)
        return Finding(
            "error",
            f"Your answer stopped with {raised.kind}{where}.",
            f"{sentence(raised.message)} {with_what}".strip(),
            section,
        )
    return None


def _returned(raised: Raised, with_what: str, section: Section) -> Finding:
    """What came back is nothing that can be compared; nothing stopped."""
    what, _, wanted = raised.message.partition("; ")
    wanted = f"{wanted[:1].upper()}{wanted[1:]}"
    return Finding(
        "type",
        f"Your answer {what}.",
        " ".join(filter(None, (sentence(wanted), with_what))),
        section,
    )


def kind(evidence: Evidence, section: Section) -> Finding | None:
    """Of what kind the returned thing is: one array, several, a text."""
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.values.get(name)
        case = name.split(".")[0]
        if mine is None:
            if case in evidence.answers.errors:
                continue
            return Finding(
                "type",
                f"Your answer returns {_kinds(evidence.answers, case)}; "
                f"expected {_kinds(evidence.expected, case)}.",
                "",
                section,
            )
        if isinstance(right, str) != isinstance(mine, str):
            return Finding(
                "type",
                f"Your answer returns {_described(mine)}; expected {_described(right)}.",
                "",
                section,
            )
    return None


def _kinds(answers: Answers, case: str) -> str:
    """What a case returned: "a text", "two values", "numbers of shape (3, 4)"."""
    if case in answers.values:
        return _described(answers.values[case])
    parts = [name for name in answers.values if name.startswith(f"{case}.")]
    if not parts:
        return "an empty tuple, list or dict"
    names = [name.removeprefix(f"{case}.") for name in parts]
    if all(name.isdigit() for name in names):
        return f"{len(parts)} {'values' if len(parts) > 1 else 'value in a tuple or list'}"
    return f"{len(parts)} values ({', '.join(f'`{name}`' for name in names[:6])[:120]})"


def _described(value: Value) -> str:
    if isinstance(value, str):
        return "a text"
    return "one number" if not value.shape else f"numbers of shape {value.shape}"


def has_another_shape(evidence: Evidence) -> bool:
    """True if one of the arrays has another shape than the right one."""
    return any(
        isinstance(right, np.ndarray) and mine is not None and np.shape(mine) != right.shape
        for right, mine in _pairs(evidence)
    )


def _pairs(evidence: Evidence) -> list[tuple[Value, Value | None]]:
    values = evidence.answers.values
    return [(right, values.get(name)) for name, right in evidence.expected.values.items()]


def shape(evidence: Evidence, section: Section) -> Finding | None:
    """The first array of another shape than the right one."""
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.array(name)
        if isinstance(right, np.ndarray) and mine is not None and mine.shape != right.shape:
            has = f"has shape {mine.shape}" if mine.shape else "is one number"
            wanted = f"shape {right.shape}" if right.shape else "one number"
            return Finding(
                "shape",
                f"Your answer {has}; expected {wanted}.",
                f"{_one_axis(mine.shape, right.shape)} {evidence.called_with(name)}".strip(),
                section,
            )
    return None


def of_number(evidence: Evidence, section: Section) -> Finding | None:
    """The first array that holds decimals in place of whole numbers, or truths, or the like."""
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.array(name)
        if not isinstance(right, np.ndarray) or mine is None:
            continue
        held, wanted = (_KINDS.get(one.dtype.kind, "") for one in (mine, right))
        if held and wanted and held != wanted:
            result = name.partition(".")[2]
            what = f"`{result}`" if result and not result.isdigit() else "What you return"
            return Finding(
                "kind-of-number",
                f"{what} holds {held}; asked for are {wanted}.",
                f"The numbers themselves may be right. {evidence.called_with(name)}".strip(),
                section,
            )
    return None


def _one_axis(mine: tuple[int, ...], right: tuple[int, ...]) -> str:
    """A sentence on the only axis in which two shapes differ, if it is the only one."""
    axes = [axis for axis, (a, b) in enumerate(zip(mine, right, strict=False)) if a != b]
    if len(mine) != len(right) or len(mine) < 2 or len(axes) != 1:
        return ""
    axis = axes[0]
    return f"Axis {axis} has {mine[axis]} items instead of {right[axis]}; the others are right."
