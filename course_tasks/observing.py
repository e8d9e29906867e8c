"""How an experiment is asked for: the numbers that a student wrote down after the run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from course_tasks.as_graded import asked_as_graded
from course_tasks.errors import ReturnedTypeError
from course_tasks.inputs import Rng
from course_tasks.probing import Inputs, Probe


def observation(*names: str) -> Probe:
    """The probe of an experiment: it asks for the numbers that were written down.

    Parameters
    ----------
    *names : str
        What the answer's dictionary has to hold besides `text`, the name of the corpus.
    """

    example = ", ".join(f'"{name}": 0.123' for name in names)
    wanted = f'it should return a dictionary like {{"text": "shakespeare", {example}}}'

    def noted(answer: Any, _: Inputs) -> dict[str, Any]:
        values = asked_as_graded(answer)
        if not isinstance(values, Mapping):
            kind = "None" if values is None else f"one {type(values).__name__}"
            raise ReturnedTypeError(f"returned {kind}; {wanted}")
        missing = [name for name in ("text", *names) if name not in values]
        if missing:
            raise ReturnedTypeError(f"returned a dictionary without {missing[0]!r}; {wanted}")
        return {
            "text": str(values["text"]),
            **{name: _one_number(name, values[name]) for name in names},
        }

    return Probe(nothing, {"observed": noted})


def nothing(_rng: Rng) -> Inputs:
    """The inputs of an experiment, which has none, since the student has run it already."""
    return {}


def _one_number(name: str, value: Any) -> float:
    """A value as a float.

    Raises
    ------
    ReturnedTypeError
        If it is no number.
    ValueError
        If it is not a finite one.
    """
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ReturnedTypeError(
            f"returned {value!r:.60} as {name!r}; it should be a number"
        ) from error
    if not math.isfinite(number):
        raise ValueError(f"{name!r} should be a finite number, but it is {number}")
    return number
