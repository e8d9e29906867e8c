"""What a task asks: contract, inputs, probe, and answers as plain data.

All of it may stand beside student code: what is right is known to `course_judges` alone. `runner`
is what runs inside the grader's sandbox.
"""

from course_tasks.checking import check
from course_tasks.experiments import experiment
from course_tasks.verdict import Finding, Section, State, Verdict

__all__ = ["Finding", "Section", "State", "Verdict", "check", "experiment"]
