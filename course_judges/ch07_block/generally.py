"""Whether a general statement describes a wrong array, which helps more than an example."""

from __future__ import annotations

from course_judges.judging import Evidence
from course_judges.wrong_arrays import comparisons, relations


def more_is_known(evidence: Evidence, value: str) -> bool:
    """True if the array follows from the right one, or from the inputs, in a known way."""
    mine, right = evidence.yours(value), evidence.right(value)
    return bool(
        comparisons.compared(mine, right) or relations.related(mine, right, evidence.inputs)
    )
