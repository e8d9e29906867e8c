"""Graded tasks: what they ask (`probes`), how an answer is judged (`judges`), and `check`, which
does both at a desk.

`probing`, `answers` and the chapters' `probes` may stand beside student code; `judging` and the
chapters' `judges` hold the answers and may not. The two meet in `desk.check`, or, in a graded run,
as bytes in two files.
"""

from course_tasks.checking import check
from course_tasks.verdict import Finding, Section, State, Verdict

__all__ = ["Finding", "Section", "State", "Verdict", "check"]
