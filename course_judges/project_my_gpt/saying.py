"""How findings about a program are made: from a condition and two sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from course_judges.evidence import Evidence
from course_tasks.verdict import Finding, Section

# Errors of ours, whose words go on where "your …" begins.
_OURS = ("ReturnedTypeError", "CheckpointError")


def finding(
    name: str,
    what: str,
    section: Section,
    when: Callable[[Evidence], bool],
    effect: Callable[[Evidence], str],
) -> Callable[[Evidence], Finding | None]:
    """What is said when something holds of the data."""
    return lambda e: Finding(name, what, effect(e).strip(), section) if when(e) else None


def stopped(e: Evidence, calls: Mapping[str, str], section: Section) -> Finding | None:
    """The first case that raised: what stopped, where, and in what call."""
    for case, raised in e.answers.errors.items():
        words = raised.message.strip().rstrip(".")
        call = f"It was {calls[case]}." if calls[case].startswith("asked") else ""
        call = call or f"The call was: {calls[case].rstrip(',')}."
        if raised.kind == "ExplainedError":
            what, _, effect = words.partition("\n")
            return Finding("error", what, f"{effect}.", section)
        if raised.kind in _OURS:
            return Finding("error", f"What was called {words}.", call, section)
        where = f" at `{raised.line}`" if raised.line else ""
        return Finding(
            "error",
            f"Your program stopped with {raised.kind}{where}.",
            f"{words + '. ' if words else ''}{call}",
            section,
        )
    return None
