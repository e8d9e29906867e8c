"""What kind of thing an answer returned: an error, no value, a text, or numbers of some shape."""

from __future__ import annotations

import itertools

import numpy as np

from course_judges.equality import same_value
from course_judges.evidence import Evidence
from course_judges.wording import first_upper, results_by_name, sentence
from course_tasks.answers import Answers, Array, Raised, Value
from course_tasks.verdict import Finding, Section

# What the kinds of arrays are called.
_KINDS = {"f": "decimal numbers", "i": "whole numbers", "u": "whole numbers", "b": "True and False"}

# Errors whose words are said as they are (`course_tasks.errors.ExplainedError`), and what these
# findings are called.
_EXPLAINED = {
    "ScaffoldLineError": "scaffold-line-left",
    "ComputedNumbersError": "computes",
}


def error(evidence: Evidence, section: Section) -> Finding | None:
    """An exception that a right answer doesn't raise, or something returned that is no value."""
    for case, raised in evidence.answers.errors.items():
        if case in evidence.expected.errors:
            continue  # the reference raises here, too, and a part compares the kind of error
        where = f" at `{raised.line}`" if raised.line else ""
        if raised.not_attempted:
            return Finding(
                "partly-attempted",
                f"Part of the scaffold still raises NotImplementedError{where}.",
                "",
                section,
            )
        if raised.kind in _EXPLAINED:
            what, _, effect = raised.message.partition("\n")
            return Finding(_EXPLAINED[raised.kind], what, effect, section)
        with_what = evidence.called_with(case)
        if raised.kind == "ReturnedTypeError":
            return _returned(raised, with_what, section)
        # Without a line of the student's own, the check may have stumbled over what was returned.
        stopped = "Your answer" if where else "The check of your answer"
        return Finding(
            "error",
            f"{stopped} stopped with {raised.kind}{where}.",
            f"{_message(raised)} {with_what}".strip(),
            section,
        )
    return None


def _message(raised: Raised) -> str:
    if not raised.message.strip():
        return "It came without a message."
    return f"The error says: {sentence(raised.message)}"


def _returned(raised: Raised, with_what: str, section: Section) -> Finding:
    """Nothing was raised, but what came back can't be compared."""
    what, _, wanted = raised.message.partition("; ")
    effect = f"{first_upper(sentence(wanted)) if wanted else ''} {with_what}"
    return Finding("type", f"Your answer {what}.", effect.strip(), section)


def kind(evidence: Evidence, section: Section) -> Finding | None:
    """Whether the right kind of thing was returned: one array, several, or a text."""
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.values.get(name)
        case = name.split(".")[0]
        if mine is None:
            if case in evidence.answers.errors:
                continue
            if of_each := _each_of_another_shape(evidence.answers, name, right):
                return Finding("shape", of_each, evidence.called_with(name), section)
            return Finding(
                "type",
                f"Your answer returns {_kinds(evidence.answers, case)} instead of "
                f"{_kinds(evidence.expected, case)}.",
                "",
                section,
            )
        if isinstance(right, str) != isinstance(mine, str):
            return Finding(
                "type",
                f"Your answer returns {_described(mine)} instead of {_described(right)}.",
                "",
                section,
            )
    return None


def _each_of_another_shape(answers: Answers, name: str, right: Value) -> str:
    """A sentence on results of several calls that the probe puts together, if each has another
    shape than the right ones; empty if that isn't so.
    """
    if isinstance(right, str) or not right.ndim:
        return ""
    each = [answers.array(f"{name}.{n}") for n in range(len(right))]
    shapes = {None if one is None else one.shape for one in each}
    shape = shapes.pop() if len(shapes) == 1 else None
    if shape is None:
        return ""
    return f"Your answer returns {_of_shape(shape)} instead of {_of_shape(right.shape[1:])}."


def _kinds(answers: Answers, case: str) -> str:
    """What a case returned: "a text", "two values", "numbers of shape (3, 4)"."""
    if case in answers.values:
        return _described(answers.values[case])
    parts = [name for name in answers.values if name.startswith(f"{case}.")]
    if not parts:
        return "an empty tuple, list or dict"
    names = [name.removeprefix(f"{case}.") for name in parts]
    if all(name.isdigit() for name in names):
        return f"{len(parts)} values" if len(parts) > 1 else "a tuple or list of one value"
    return f"{len(parts)} values ({', '.join(f'`{name}`' for name in names[:6])[:120]})"


def _described(value: Value) -> str:
    if isinstance(value, str):
        return "a text"
    return _of_shape(value.shape)


def _of_shape(shape: tuple[int, ...]) -> str:
    return f"an array of shape {shape}" if shape else "one number"


def has_another_shape(evidence: Evidence) -> bool:
    """True if one of the arrays has another shape than the right one."""
    values = evidence.answers.values
    return any(
        isinstance(right, np.ndarray) and name in values and np.shape(values[name]) != right.shape
        for name, right in evidence.expected.values.items()
    )


def shape(evidence: Evidence, section: Section) -> Finding | None:
    """The first array of another shape than the right one."""
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.array(name)
        if isinstance(right, np.ndarray) and mine is not None and mine.shape != right.shape:
            said = f"is {_described(mine)} instead of {_described(right)}"
            if mine.shape and right.shape:
                said = f"has shape {mine.shape} instead of {right.shape}"
            return Finding(
                "shape",
                f"{_whose(evidence, name)} {said}.",
                f"{_one_axis(mine.shape, right.shape)} {evidence.called_with(name)}".strip(),
                section,
            )
    return None


def of_number(evidence: Evidence, section: Section) -> Finding | None:
    """The first array that holds another kind of number, such as decimals for whole numbers."""
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.array(name)
        if not isinstance(right, np.ndarray) or mine is None:
            continue
        held, wanted = (_KINDS.get(one.dtype.kind, "") for one in (mine, right))
        if held and wanted and held != wanted:
            return Finding(
                "kind-of-number",
                f"{_whose(evidence, name)} holds {held} instead of {wanted}.",
                f"{_whether_equal(mine, right)} {evidence.called_with(name)}".strip(),
                section,
            )
    return None


def _whether_equal(mine: Array, right: Array) -> str:
    """A sentence on numbers of another kind than the right ones."""
    if same_value(mine, right):
        return "The values are right, so only their kind has to change."
    return "The numbers themselves may be right."


def _whose(evidence: Evidence, value: str) -> str:
    """What an array is called at the beginning of a sentence."""
    case, _, result = value.partition(".")
    one_of_several = result in itertools.chain(*evidence.results(case))
    return first_upper(results_by_name([result])) if one_of_several else "Your answer"


def _one_axis(mine: tuple[int, ...], right: tuple[int, ...]) -> str:
    """A sentence on the axis in which two shapes differ, if it is the only one."""
    axes = [axis for axis, (a, b) in enumerate(zip(mine, right, strict=False)) if a != b]
    if len(mine) != len(right) or len(mine) < 2 or len(axes) != 1:
        return ""
    axis = axes[0]
    return f"Axis {axis} has length {mine[axis]} instead of {right[axis]}, and the rest is right."
