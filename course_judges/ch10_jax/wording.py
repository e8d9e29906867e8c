"""Sentences about a run that several judges of chapter 10 use, and what they ask of its errors."""

from __future__ import annotations

import numpy as np

from course_judges.judging import Evidence
from course_judges.wording import number

# What JAX raises when Python asks a traced array for its numbers.
DECIDED = "TracerBoolConversionError"
_INSTEAD = {
    DECIDED: (
        "`if`, `while`, `and`, `not` and Python's own `min` and `max` need to know whether "
        "something is true. `jnp.where`, `jnp.minimum` and `&` leave that to the compiled program."
    ),
    "TracerArrayConversionError": (
        "NumPy's functions need the numbers, but those of `jnp` with the same names don't."
    ),
    "TracerIntegerConversionError": (
        "`range` and the index of a list need to know the number right away. Shapes are known "
        "during tracing, but values aren't."
    ),
    "NonConcreteBooleanIndexError": (
        "How many entries a mask selects depends on its values, which aren't known during tracing. "
        "`jnp.where` keeps the shape."
    ),
    "ConcretizationTypeError": (
        "`float`, `int`, `.item()` and a shape computed from values need the number right away. An "
        "array of shape () can usually stay an array."
    ),
}
TRACED_ERRORS = frozenset(_INSTEAD)


def gap(evidence: Evidence, case: str) -> str:
    """The entry that is furthest off, in the first value of a case that is wrong."""
    for name, right in evidence.expected.values.items():
        if name != case and not name.startswith(case + "."):
            continue
        mine = evidence.answers.array(name)
        if mine is None or not isinstance(right, np.ndarray):
            continue
        where = name.removeprefix(case).removeprefix(".")
        called = f"`{where}`" if where else "your answer"
        if mine.shape != right.shape:
            return f"The shape of {called} is {mine.shape} instead of {right.shape}."
        distance = np.nan_to_num(np.abs(mine.astype(float) - right.astype(float)), nan=np.inf)
        if distance.max(initial=0.0) > 1e-4:
            at = np.unravel_index(int(distance.argmax()), distance.shape)
            place = ", ".join(str(int(i)) for i in at)
            entry = f"Entry ({place}) of {called}" if place else called.capitalize()
            return f"{entry} is {number(mine[at])} instead of {number(right[at])}."
    return ""


def instead(evidence: Evidence, case: str) -> str:
    """What asks a traced array for its numbers, and what to write instead."""
    return _INSTEAD[evidence.answers.errors[case].kind]


def traced_error(evidence: Evidence, case: str) -> bool:
    """True if a case failed because a traced array was asked for its numbers."""
    raised = evidence.answers.errors.get(case)
    return raised is not None and raised.kind in TRACED_ERRORS


def says(evidence: Evidence, case: str) -> str:
    """The error of a case, and the line where it happened."""
    raised = evidence.answers.errors[case]
    where = f" at `{raised.line}`" if raised.line else ""
    return f"Under `jit`, your function stopped with {raised.kind}{where}."


def changed_what_was_given(evidence: Evidence) -> bool:
    """True if the trees that were passed in have changed after the call."""
    return "kept" not in evidence.answers.errors and not evidence.same("kept")


def others_than_given(evidence: Evidence) -> str:
    """Which entries of the trees that were passed in are missing, new or changed after the call."""
    given = {n for n in evidence.expected.values if n.startswith("kept.")}
    held = {n for n in evidence.answers.values if n.startswith("kept.")}
    found = []
    for names, what in (
        (given - held, "missing"),
        (held - given, "new"),
        (given & held & set(evidence.wrong_values), "changed"),
    ):
        if names:
            said = ", ".join(f"`{name.removeprefix('kept.')}`" for name in sorted(names))
            found.append(f"{said} {'is' if len(names) == 1 else 'are'} {what}")
    return f"After the call, {' and '.join(found)}." if found else ""
