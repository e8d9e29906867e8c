"""A student's notebook under the grader's conditions: in its sandbox where that starts, or else in
a process that finds no network, no text and no experiment.
"""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from course_grader.assignment import Assignment, Check, read
from course_grader.check_notebook import (
    CELL_SECONDS,
    Finding,
    Progress,
    Report,
    Result,
    check_notebook,
    result_of,
)
from course_grader.errors import (
    FaultyAssignmentError,
    MachineError,
    NoVerdictError,
    SandboxUnavailableError,
)
from course_tasks.runner.limits import Limits

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from course_grader.outcome import Outcome, TaskOutcome

IN_SANDBOX = "Run as a grader runs it: in the sandbox, without network and texts."
BESIDE_IT = (
    "Run without network and texts, as a grader does, but with your own packages and files: the "
    "grader's sandbox does not start here ({reason})."
)


def check_as_graded(
    path: str | Path, *, cell_seconds: float = CELL_SECONDS, progress: Progress | None = None
) -> Report:
    """Run a notebook as a grader would, and gather what its checks say.

    Parameters
    ----------
    path, cell_seconds, progress
        See `check_notebook`.

    Returns
    -------
    Report
        Its `conditions` say how it was run.

    Raises
    ------
    CourseError
        See `check_notebook`.
    """
    path = Path(path)
    notebook = read(path)
    assignment = Assignment.of(notebook)
    checks = {one.grade_id: one for one in assignment.checks if one.grade_id and one.task}
    if not checks:
        return check_notebook(path, cell_seconds=cell_seconds, progress=progress)
    try:
        return _in_sandbox(path, notebook, assignment, checks, cell_seconds)
    except (SandboxUnavailableError, MachineError, NoVerdictError, FaultyAssignmentError) as error:
        reason = str(error)
    except ImportError as error:
        reason = f"{error}"
    report = check_notebook(path, cell_seconds=cell_seconds, progress=progress, as_graded=True)
    return replace(report, conditions=BESIDE_IT.format(reason=reason.splitlines()[0]))


def _in_sandbox(
    path: Path,
    notebook: NotebookNode,
    assignment: Assignment,
    checks: Mapping[str, Check],
    cell_seconds: float,
) -> Report:
    """The report that the grader's own steps give."""
    from course_grader.grade_one import ClassSettings, grade_one
    from course_grader.judge_pool import JudgePool
    from course_grader.outcome import Status
    from course_grader.sandbox.sandbox import Sandbox
    from course_grader.submissions import Submission

    limits = Limits(
        cell_seconds=cell_seconds,
        total_seconds=max(Limits().total_seconds, len(checks) * cell_seconds),
    )
    with tempfile.TemporaryDirectory(prefix="course-check-") as made:
        name = path.stem
        folder = Path(made) / "you" / name
        folder.mkdir(parents=True)
        shutil.copyfile(path, folder / f"{name}.ipynb")
        whole = ClassSettings(
            released=json.dumps(as_if_released(notebook)),
            checks=checks,
            places=lambda _: (Path(made) / "graded.ipynb", Path(made) / "page.html"),
            limits=limits,
        )
        with Sandbox() as sandbox, JudgePool(1) as judges:
            judges.require(whole.tasks)
            outcome = grade_one(Submission("you", name, folder), whole, sandbox, judges, alone=True)
    if outcome.status is not Status.GRADED:
        raise NoVerdictError(outcome.reason)
    return Report(
        path,
        tuple(_results(outcome, checks)),
        assignment.questions,
        (),
        outcome.reason,
        conditions=IN_SANDBOX,
        remarks=outcome.remarks[bool(outcome.reason) :],
    )


def as_if_released(notebook: NotebookNode) -> NotebookNode:
    """What stands for the released notebook: the same with empty answers, since the student's is
    the only one that is known to be here.
    """
    released = copy.deepcopy(notebook)
    for cell in released.cells:
        said = cell.metadata.get("nbgrader")
        if isinstance(said, Mapping) and said.get("solution"):
            cell.source = ""
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return released


def _results(outcome: Outcome, checks: Mapping[str, Check]) -> list[Result]:
    return [_result(task, checks[task.grade_id]) for task in outcome.tasks]


def _result(task: TaskOutcome, check: Check) -> Result:
    if task.verdict:
        return result_of(check.number, task.verdict)
    return Result(
        *(check.number, task.task, task.title, "no verdict", 0.0, task.out_of),
        findings=(Finding(f"{task.reason}."),),
    )
