"""One submission's questions, from its cells to its papers, in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from course_grader.assignment import Assignment
from course_grader.judge_job import Job
from course_grader.sandbox.protocol import RunResult, read_steps
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_judges import catalogue as judges
from course_judges.defending.asking import Plan, found, plan, unasked
from course_judges.defending.choosing import seed_of
from course_judges.defending.contract import Paper
from course_judges.defending.papers import everything
from course_judges.defending.program import program_of
from course_judges.defending.values import OddValueError

if TYPE_CHECKING:
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Defense:
    """What is asked of one submission.

    Attributes
    ----------
    student : str
    seed : int
        Of the class.
    work : SanitizedSubmission
        Its cells, and behind them a step for each plan.
    plans : tuple of Plan
    lacking : mapping of str to str
        Why there is no plan for a task.
    tasks : tuple of str
        All that questions were wanted for.
    job : Job
    """

    student: str
    seed: int
    work: SanitizedSubmission
    plans: tuple[Plan, ...]
    lacking: dict[str, str]
    tasks: tuple[str, ...]
    job: Job

    @classmethod
    def of(
        cls,
        job: Job,
        work: SanitizedSubmission,
        released: NotebookNode,
        assignment: Assignment,
        tasks: Sequence[str],
    ) -> Defense:
        """What is to be run for a submission.

        Parameters
        ----------
        job : Job
            Its seed is that of the class, whose papers are the same each time.
        work : SanitizedSubmission
        released : NotebookNode
            What is given there is nobody's own code.
        assignment : Assignment
        tasks : sequence of str
        """
        solutions = {answer.number for answer in assignment.answers}
        given = {
            str(cell.source).strip()
            for number, cell in enumerate(released.cells, start=1)
            if cell.cell_type == "code" and number not in solutions
        }
        code = tuple(step for step in work.steps if step.kind == "code")
        own = [step.source for step in code if step.source.strip() not in given]
        answers = {check.task: check.answer for check in assignment.checks if check.task}
        plans, lacking = [], {}
        for task in tasks:
            if reason := unasked(task):
                lacking[task] = reason
                continue
            program = program_of(own, str(answers.get(task)))
            if program is None:
                lacking[task] = (
                    f"no definition of {answers.get(task)} was found that could be asked about"
                )
                continue
            plans.append(plan(task, program, seed_of(job.seed, task, job.student)))
        steps = (*code, *(Step("defend", one.task) for one in plans))
        asked = SanitizedSubmission(steps)
        return cls(job.student, job.seed, asked, tuple(plans), lacking, tuple(tasks), job)

    def asked(self) -> tuple[dict[str, Any], list[bytes]]:
        """The steps that are run, and a message for each plan."""
        steps = [(step.kind, step.source) for step in self.work.steps]
        messages = [one.message() for one in self.plans]
        return {"steps": steps, "tasks": [one.task for one in self.plans]}, messages

    def papers(self, ran: RunResult) -> list[Paper]:
        """For each task all that can be asked; without questions where there are none, and why."""
        steps, wrong = read_steps(ran, self.work, self.job.limits)
        first = len(self.work.steps) - len(self.plans)
        made: dict[str, Paper] = {}
        for number, one in enumerate(self.plans, start=first):
            if number >= len(steps):
                self.lacking[one.task] = ran.ended or wrong or "the run ended before this task"
            elif steps[number].problem or not steps[number].answers:
                self.lacking[one.task] = steps[number].problem or "nothing came back"
            else:
                try:
                    seen = found(one, steps[number].answers)
                    seed = seed_of(self.seed, one.task, self.student, "questions")
                    made[one.task] = everything(seen, self.student, seed)
                except OddValueError as error:
                    self.lacking[one.task] = f"what its run sent is not a result: {error}"
        return [made.get(task) or self._empty(task) for task in self.tasks]

    def _empty(self, task: str) -> Paper:
        title = judges.as_written(task).title
        return Paper(task, title, self.student, (), lacking=self.lacking.get(task, "not run"))
