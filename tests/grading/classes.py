"""Outcomes as the grader hands them over, made without a run; and nbgrader's commands."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

from course_grader.assignment import Assignment, read
from course_grader.grade_one import ClassSettings
from course_grader.outcome import Outcome, Results, Status, TaskOutcome
from course_grader.sandbox.protocol import StepResult
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_tasks.runner.limits import Limits

NAME = "01-averages"


def nbgrader(course, *command, most_bytes=None):
    """Run a command of nbgrader in a course's folder; it must succeed.

    With `most_bytes` no file that it writes gets larger.
    """

    def bounded():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *command],
        cwd=course.root,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=bounded if most_bytes else None,
    )
    assert done.returncode == 0, done.stderr[-4000:]


def released(course):
    return read(course.exercises / NAME / f"{NAME}.ipynb")


def checks(course):
    return Assignment.of(released(course)).checks


def questions(course):
    return [question.grade_id for question in Assignment.of(released(course)).questions]


def verdict(title, mistake=None, state="not right yet"):
    """A verdict as the judge writes it, with one mistake or none."""
    said = {"name": mistake, "what": f"You did `{mistake}`.", "effect": "", "section": "chapter 01"}
    return {
        "title": title,
        "state": state if mistake else "right",
        "findings": [said] if mistake else [],
    }


def outcome(
    course, student, share=1.0, *, status=Status.GRADED, mistake=None, written=True, **rest
):
    """A submission whose tasks all have the same share of their points."""
    tasks = ()
    if status is Status.GRADED:
        tasks = tuple(
            TaskOutcome(
                check.grade_id,
                check.task,
                share * check.points,
                check.points,
                verdict(check.task, mistake if share < 1 else None),
                f"<p>{check.task}</p>",
            )
            for check in checks(course)
        )
    rest.setdefault("work", work(course, "Because." if written else None))
    known = rest["work"]
    rest.setdefault("unanswered", known.unanswered if known else frozenset())
    rest.setdefault("seconds", {"read": 0.01, "run": 0.25, "judge": 0.02})
    return Outcome(student, NAME, status, tasks=tasks, **rest)


def work(course, answer, *extra):
    """The steps of a submission: the checks, and an answer to each question, or none."""
    steps = [*extra]
    steps += [Step("check", one.source, one.grade_id, one) for one in checks(course)]
    given = questions(course)
    steps += [Step("question", answer or "YOUR ANSWER HERE", name) for name in given]
    return SanitizedSubmission(tuple(steps), unanswered=frozenset() if answer else frozenset(given))


def ran(*outputs):
    """A run whose first step left these outputs."""
    return Results((StepResult(list(outputs)),), "", 0.1)


def class_without_gradebook(course, name, where, **settings):
    """What `grade_one` needs of an assignment; its pages are written to the same place for all."""
    notebook = read(course.exercises / name / f"{name}.ipynb")
    cells = {one.grade_id: one for one in Assignment.of(notebook).checks}
    # A failure comes again: the command itself draws a seed that nobody can foresee.
    settings = {"limits": Limits(), "seed": 0, **settings}
    return ClassSettings(json.dumps(notebook), cells, lambda _one: where, **settings)
