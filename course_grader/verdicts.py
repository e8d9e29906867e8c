"""What a task asks of a submission, and what the answers to it earn.

Only a process with limits, which never held student code, draws inputs and judges answers; see
`submission_worker`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from course_grader.assignment import Check
from course_grader.outcome import TaskOutcome
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_judges.judging import Judge


class Questions:
    """What a class is asked: the inputs of its tasks, drawn once and the same for everybody, so
    that equal answers earn equal points.

    Parameters
    ----------
    seed : int
        Of the class.
    """

    def __init__(self, seed: int):
        self._seed = seed
        self._drawn: dict[str, tuple[bytes, Judge]] = {}

    def shown(self, task: str) -> bytes:
        """The inputs of a task as they leave for the sandbox: without what the probe keeps back."""
        return self._of(task)[0]

    def judge(self, task: str) -> Judge:
        """Who judges what was answered on these inputs."""
        return self._of(task)[1]

    def _of(self, task: str) -> tuple[bytes, Judge]:
        if task not in self._drawn:
            self._drawn[task] = self._draw(task)
        return self._drawn[task]

    def _draw(self, task: str) -> tuple[bytes, Judge]:
        import numpy as np

        from course_judges import catalogue as judges
        from course_judges.judging import Judge
        from course_tasks import catalogue
        from course_tasks.answers import arrays_to_bytes

        probe = catalogue.probe(task)
        inputs = judges.inputs(task, np.random.default_rng([self._seed, *task.encode()]))
        shown = arrays_to_bytes(probe.shown(inputs))
        return shown, Judge(task, judges.task(task), probe, inputs)


def lacking(tasks: Sequence[str]) -> tuple[str, ...]:
    """Packages that answers to these tasks are written with, and that are not installed here."""
    from course_tasks import catalogue

    return tuple(sorted({name for task in tasks for name in catalogue.missing(task)}))


def judge_all(
    asked: list[tuple[Check, bytes, str]], questions: Questions, book: str
) -> tuple[TaskOutcome, ...]:
    """The verdicts on a submission's answers; no evidence, no points, and the reason.

    Parameters
    ----------
    asked : list of (Check, bytes, str)
        Each with its answers, or with why there are none.
    questions : Questions
        Those on whose inputs the answers were given.
    book : str
        Address of the published book; empty: no links.
    """
    return tuple(_judge_one(check, answers, why, questions, book) for check, answers, why in asked)


def _judge_one(check: Check, data: bytes, why: str, questions: Questions, book: str) -> TaskOutcome:
    from course_judges import catalogue as judges
    from course_tasks.answers import Answers

    assert check.task is not None
    task = judges.task(check.task)
    out_of = float(check.points if check.points is not None else task.points)
    if not data:
        why = why or "no answer came"
        return TaskOutcome(check.grade_id, check.task, 0.0, out_of, reason=why, title=task.title)
    try:
        verdict = questions.judge(check.task).verdict(Answers.from_bytes(data))
    except CourseError as error:
        return TaskOutcome(check.grade_id, check.task, 0.0, out_of, reason=str(error))
    return TaskOutcome(
        check.grade_id,
        check.task,
        min(float(verdict.points), out_of),
        out_of,
        verdict.to_json(),
        verdict.to_html(book),
    )
