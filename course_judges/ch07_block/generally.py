"""Whether something general is true of a wrong array, which says more than an example."""

from __future__ import annotations

from course_judges import comparisons, relations
from course_judges.judging import Evidence


def more_is_known(evidence: Evidence, value: str) -> bool:
    """True if the array comes from the right one, or from what was given, in a known way."""
    mine, right = evidence.yours(value), evidence.right(value)
    return bool(
        comparisons.compared(mine, right) or relations.related(mine, right, evidence.inputs)
    )
