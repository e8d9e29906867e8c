"""What a task asks: contract, inputs, probe, and answers as plain data.

All of it may run beside student code, since only `course_judges` knows what is right. `runner` is
the part that runs inside the grader's sandbox.
"""

from course_tasks.checking import check
from course_tasks.experiments import experiment
from course_tasks.verdict import Finding, Section, State, Tells, Verdict

__all__ = ["Finding", "Section", "State", "Tells", "Verdict", "check", "experiment"]
