"""Which two dimensions didn't match, according to torch's error."""

from __future__ import annotations

import re

from course_judges.judging import Evidence

_SAID = re.compile(r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)")


def do_not_fit(evidence: Evidence, case: str, one: str, other: str) -> bool:
    """True if a case stopped because a dimension of one number met one of another.

    Parameters
    ----------
    evidence : Evidence
    case : str
    one, other : str
        Inputs that are whole numbers, such as "T" and "B".
    """
    raised = evidence.answers.errors.get(case)
    said = _SAID.search(raised.message) if raised else None
    wanted = {evidence.number(one), evidence.number(other)}
    return said is not None and {int(said[1]), int(said[2])} == wanted
