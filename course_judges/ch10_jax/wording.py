"""How findings of chapter 10 tell the numbers of a run, and what several judges ask of it."""

from __future__ import annotations

import numpy as np

from course_judges.judging import Evidence
from course_judges.wording import number

# What JAX raises when Python asks a traced array for its numbers.
DECIDED = "TracerBoolConversionError"
_INSTEAD = {
    DECIDED: (
        "`if`, `while`, `and`, `not`, and Python's own `min` and `max` ask whether a number is "
        "true; `jnp.where`, `jnp.minimum` and `&` decide in the program."
    ),
    "TracerArrayConversionError": (
        "NumPy's functions need the numbers; those of `jnp` with the same names do not."
    ),
    "TracerIntegerConversionError": (
        "Whoever counts or picks with a number, as `range` and the index of a list do, needs it "
        "at once; a shape is known while tracing, a value is not."
    ),
    "NonConcreteBooleanIndexError": (
        "How many entries a mask picks out is a value, too; `jnp.where` keeps the shape."
    ),
    "ConcretizationTypeError": (
        "`float`, `int`, `.item()`, and a shape that is made of values need the number at once; "
        "an array of shape () can stay one."
    ),
}
TRACED_ERRORS = frozenset(_INSTEAD)


def gap(evidence: Evidence, case: str) -> str:
    """Where a case is furthest off, in the first of its values that is."""
    for name, right in evidence.expected.values.items():
        if name != case and not name.startswith(case + "."):
            continue
        mine = evidence.answers.array(name)
        if mine is None or not isinstance(right, np.ndarray):
            continue
        where = name.removeprefix(case).removeprefix(".")
        called = f"`{where}`" if where else "your answer"
        if mine.shape != right.shape:
            return f"The shape of {called} is {mine.shape}; expected {right.shape}."
        distance = np.nan_to_num(np.abs(mine.astype(float) - right.astype(float)), nan=np.inf)
        if distance.max(initial=0.0) > 1e-4:
            at = np.unravel_index(int(distance.argmax()), distance.shape)
            place = ", ".join(str(int(i)) for i in at)
            entry = f"Entry ({place}) of {called}" if place else called.capitalize()
            return f"{entry} is {number(mine[at])}; expected {number(right[at])}."
    return ""


def instead(evidence: Evidence, case: str) -> str:
    """What to write in place of what asked a traced array for its numbers."""
    return _INSTEAD[evidence.answers.errors[case].kind]


def traced_error(evidence: Evidence, case: str) -> bool:
    """True if a case failed because a traced array was asked for its numbers."""
    raised = evidence.answers.errors.get(case)
    return raised is not None and raised.kind in TRACED_ERRORS


def says(evidence: Evidence, case: str) -> str:
    """The error of a case, and the line where it happened."""
    raised = evidence.answers.errors[case]
    where = f" at `{raised.line}`" if raised.line else ""
    return f"Under `jit` it stopped with {raised.kind}{where}."


def changed_what_was_given(evidence: Evidence) -> bool:
    """True if the trees that were passed in are others after the call."""
    return "kept" not in evidence.answers.errors and not evidence.same("kept")


def others_than_given(evidence: Evidence) -> str:
    """Which entries of the trees that were passed in are missing, new or others after the call."""
    given = {n for n in evidence.expected.values if n.startswith("kept.")}
    held = {n for n in evidence.answers.values if n.startswith("kept.")}
    found = []
    for names, what in (
        (given - held, "missing"),
        (held - given, "new"),
        (given & held & set(evidence.wrong_values), "not what was passed"),
    ):
        if names:
            said = ", ".join(f"`{name.removeprefix('kept.')}`" for name in sorted(names))
            found.append(f"{said} {'is' if len(names) == 1 else 'are'} {what}")
    return f"After the call, {'; '.join(found)}." if found else ""
