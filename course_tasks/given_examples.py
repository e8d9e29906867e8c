"""A check by examples, for tasks whose judge is only on the grader's machine.

`course release` writes the examples into the notebook, with what a right answer returns. The check
says whether an answer runs, returns the right shapes, and agrees with the examples. It awards no
points, because an answer could return the numbers of the examples without computing them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from course_tasks.answers import ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE
from course_tasks.errors import InvalidExamplesError
from course_tasks.scaffold_line import left_above_an_answer
from course_tasks.verdict import MEDIA_TYPE, Finding, State, Verdict

# Enough digits for the tolerances, but few enough to be readable.
_DIGITS = 6


@dataclass(frozen=True)
class Example:
    """One call, and what a right answer returns.

    Attributes
    ----------
    arguments : tuple
        Tensors, numbers, truth values and texts.
    returns : object
        The same, or a list of such; None where an error is right.
    raises : str
        The name of the error that is right; empty if none is.
    """

    arguments: tuple[Any, ...]
    returns: Any = None
    raises: str = ""


@dataclass(frozen=True)
class ExampleVerdict(Verdict):
    """What a check by examples says; it has no points."""

    examples: int = 0

    @property
    def headline(self) -> str:
        """One line: how the answer fared, and who awards the points."""
        if self.state is State.NOT_ATTEMPTED:
            return f"Not attempted · {self.title}"
        how = {State.RIGHT: f"as in all {self.examples} examples", State.WRONG: "not right yet"}
        return f"{self.title}: {how[self.state]} · your course's grader awards the points"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "text/plain": str(self),
            "text/html": self.to_html(),
            MEDIA_TYPE: self.to_json(),
        }


def write_examples(examples: Sequence[Example]) -> str:
    """Examples as text that people can read, one a line.

    Raises
    ------
    InvalidExamplesError
        If an argument or a result is of another kind than `Example` says.
    """
    lines = [
        json.dumps(
            {
                "arguments": [_plain(each) for each in one.arguments],
                **({"raises": one.raises} if one.raises else {"returns": _plain(one.returns)}),
            }
        )
        for one in examples
    ]
    return "\n".join(lines)


def given_examples(text: str) -> tuple[Example, ...]:
    """The examples of a cell that `course release` wrote.

    Raises
    ------
    InvalidExamplesError
        If the text was changed so that it cannot be read.
    """
    try:
        said = [json.loads(line) for line in text.strip().splitlines()]
        return tuple(
            Example(
                tuple(_value(each) for each in one["arguments"]),
                _value(one.get("returns")),
                str(one.get("raises", "")),
            )
            for one in said
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidExamplesError(
            f"the examples cannot be read ({error}). Copy the cell again from the notebook as it "
            "was handed out"
        ) from error


def check_by_examples(task: str, answer: Any, examples: Sequence[Example]) -> ExampleVerdict:
    """Try an answer on the examples, and say what is wrong in the first one that it fails.

    Parameters
    ----------
    task : str
        For example "05/capped-scores".
    answer : callable
        The student's function.
    examples : sequence of Example
    """
    title = task.partition("/")[2].replace("-", " ").capitalize()
    right = ExampleVerdict(task, title, State.RIGHT, (), examples=len(examples))
    for number, one in enumerate(examples, start=1):
        try:
            finding = _tried(answer, one)
        except NotImplementedError as error:
            left = left_above_an_answer(error)
            if left is not None:
                what, _, effect = str(left).partition("\n")
                said = Finding("scaffold-line-left", what, effect)
                return replace(right, state=State.WRONG, findings=(said,))
            said = Finding("not-attempted", "Fill the cell above, run it, then run this one.")
            return replace(right, state=State.NOT_ATTEMPTED, findings=(said,))
        if finding is not None:
            effect = f"This is example {number} of {len(examples)}. {finding.effect}".strip()
            return replace(right, state=State.WRONG, findings=(replace(finding, effect=effect),))
    return right


def _tried(answer: Any, one: Example) -> Finding | None:
    given = [each.clone() if isinstance(each, Tensor) else each for each in one.arguments]
    try:
        returned = answer(*given)
    except NotImplementedError:
        raise
    except Exception as error:  # an answer may raise anything
        name = type(error).__name__
        if one.raises:
            known = {each.__name__ for each in type(error).__mro__}
            what = f"Your function raises {name} instead of {one.raises}."
            return None if one.raises in known else Finding("another-error", what)
        return Finding("raises", f"Your function raises {name}: {str(error)[:300]}")
    if one.raises:
        return Finding("no-error", f"Your function should raise {one.raises}, but it returns.")
    return _compared(returned, one.returns, "Your function returns")


def _compared(mine: Any, right: Any, where: str) -> Finding | None:
    if isinstance(right, list):
        if not isinstance(mine, list | tuple) or len(mine) != len(right):
            size = f" of {len(mine)}" if isinstance(mine, list | tuple) else ""
            return Finding("kind", f"{where} {_kind(mine)}{size} instead of {len(right)} values.")
        pairs = enumerate(zip(mine, right, strict=True))
        found = (_compared(a, b, f"Value {n} of what it returns is") for n, (a, b) in pairs)
        return next((each for each in found if each is not None), None)
    if isinstance(right, Tensor):
        return _compared_tensors(mine, right, where)
    if isinstance(right, float | int) and not isinstance(right, bool):
        if isinstance(mine, Tensor) and mine.ndim == 0:
            mine = mine.item()
        if not isinstance(mine, float | int) or isinstance(mine, bool):
            return Finding("kind", f"{where} {_kind(mine)} instead of a number.")
        close = abs(mine - right) <= ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * abs(right)
        return None if close else Finding("values", f"{where} {mine:g} instead of {right:g}.")
    same = type(mine) is type(right) and mine == right
    return None if same else Finding("values", f"{where} {mine!r:.100} instead of {right!r}.")


def _compared_tensors(mine: Any, right: Tensor, where: str) -> Finding | None:
    if not isinstance(mine, Tensor):
        return Finding("kind", f"{where} {_kind(mine)} instead of a tensor.")
    if mine.shape != right.shape:
        shapes = f"{tuple(mine.shape)} instead of {tuple(right.shape)}"
        return Finding("shape", f"{where} a tensor of shape {shapes}.")
    if mine.is_floating_point() != right.is_floating_point() or mine.is_complex():
        return Finding("kind", f"{where} a tensor of {mine.dtype} instead of {right.dtype}.")
    a, b = mine.detach().double(), right.double()
    far = ~torch.isclose(a, b, rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE, equal_nan=True)
    if not far.any():
        return None
    place = tuple(int(n) for n in far.nonzero()[0])
    return Finding(
        "values",
        f"{int(far.sum())} of {far.numel()} numbers differ from those in the example.",
        f"At {place} you have {a[place].item():.{_DIGITS}g} instead of "
        f"{b[place].item():.{_DIGITS}g}.",
    )


def _kind(value: Any) -> str:
    return "None (is a `return` missing?)" if value is None else f"one {type(value).__name__}"


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        if value.is_floating_point():
            numbers = _rounded(value.detach().double().tolist())
        else:
            numbers = value.tolist()
        return {"tensor": numbers, "dtype": str(value.dtype).removeprefix("torch.")}
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    raise InvalidExamplesError(
        f"examples are of tensors, numbers, truth values and texts, not of a {type(value).__name__}"
    )


def _rounded(numbers: Any) -> Any:
    if isinstance(numbers, list):
        return [_rounded(each) for each in numbers]
    return float(f"{numbers:.{_DIGITS}g}")


def _value(said: Any) -> Any:
    if isinstance(said, dict):
        return torch.tensor(said["tensor"], dtype=getattr(torch, said["dtype"]))
    if isinstance(said, list):
        return [_value(each) for each in said]
    return said
