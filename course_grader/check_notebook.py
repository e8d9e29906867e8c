"""A student's notebook, run once from top to bottom as it stands, and what its checks found.

The code runs on this machine with the rights of whoever calls: it is for one's own notebook, not
for those of a class that nobody vetted.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_grader.assignment import Assignment, Check, Question, read
from course_grader.cell_source import first_line, should_define
from course_grader.errors import CellFailedError, NothingToCheckError

if TYPE_CHECKING:
    from nbclient import NotebookClient
    from nbformat import NotebookNode

KERNEL = "python3"

# Answers return within two seconds and torch takes a few more to import; a chapter's longest
# training task stays under a minute.
CELL_SECONDS = 120.0

# An interrupted cell ends within moments, unless it catches the interruption and goes on.
SECONDS_TO_STOP = 10.0

# As `course_tasks.verdict` writes it; that module brings torch, which nothing here needs.
VERDICT = "application/vnd.course.verdict+json"

# How IPython names a cell in a SyntaxError: "(2838697158.py, line 1)".
_CELL_FILE = re.compile(r"\(\d+\.py, line ")

# What a kernel runs before the first cell to be like a graded run.
_FROM_THE_DESK = (
    "--IPKernelApp.exec_lines=from course_tasks.as_graded import leave_the_desk as _leave",
    "--IPKernelApp.exec_lines=_leave()",
)

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Finding:
    """What is said of an answer.

    Attributes
    ----------
    what : str
        What was done, in one sentence.
    effect : str
        What that does to the data; may be empty.
    where : str
        The section to look at again; may be empty.
    """

    what: str
    effect: str = ""
    where: str = ""


@dataclass(frozen=True)
class Result:
    """The outcome of one check.

    Attributes
    ----------
    cell : int
        The place of the check in the notebook, from 1.
    task, title : str
        For example "01/window" and "Sliding window"; the title is empty without a verdict.
    state : str
        "right", "partly right", "not right yet", "not attempted", "interrupted", or "no verdict".
    points, out_of : float
    findings : tuple of Finding
    notes : tuple of str
        Said beside the verdict and never counted.
    """

    cell: int
    task: str
    title: str
    state: str
    points: float
    out_of: float
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the task earned all of its points."""
        return self.state == "right" and self.points == self.out_of


@dataclass(frozen=True)
class Failure:
    """A cell that did not run to its end.

    Attributes
    ----------
    cell : int
        Its place in the notebook, from 1.
    line : str
        Its first line.
    how : str
        For example "stopped with SyntaxError: '(' was never closed (line 1)".
    """

    cell: int
    line: str
    how: str

    def __str__(self) -> str:
        return f"cell {self.cell} (`{self.line}`) {self.how}"


@dataclass(frozen=True)
class Report:
    """All that a run of a notebook found.

    Attributes
    ----------
    path : Path
    results : tuple of Result
        One for each check, in the order of the notebook.
    questions : tuple of Question
        What waits for a person; never part of `points`.
    failures : tuple of Failure
        Cells other than checks that stopped with an error.
    stopped : str
        Why the run ended before the notebook did; empty if it did not.
    conditions : str
        How it was run, in words; empty if as the caller would run it.
    remarks : tuple of str
        What a grader would say of the notebook as a whole.
    """

    path: Path
    results: tuple[Result, ...]
    questions: tuple[Question, ...]
    failures: tuple[Failure, ...]
    stopped: str = ""
    conditions: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """Points earned in all checks."""
        return sum(result.points for result in self.results)

    @property
    def out_of(self) -> float:
        """Points that all checks can give."""
        return sum(result.out_of for result in self.results)

    @property
    def passed(self) -> bool:
        """Whether every check earned all of its points."""
        return all(result.passed for result in self.results)


def check_notebook(
    path: str | Path,
    *,
    cell_seconds: float = CELL_SECONDS,
    progress: Progress | None = None,
    as_graded: bool = False,
) -> Report:
    """Run a student's notebook in a fresh kernel and gather what its checks say.

    The notebook is run in its own folder, all of it, whatever its cells raise. The file stays as it
    is.

    Parameters
    ----------
    path : path
        An assignment notebook, filled or not.
    cell_seconds : float
        A cell that takes longer is interrupted, and the next one runs.
    progress : callable (cell, cells), optional
        Told before each cell is run.
    as_graded : bool
        Whether it finds no network, no text and no experiment, as in a graded run.

    Raises
    ------
    UnreadableNotebookError
        If there is no such file, or it is no notebook.
    NothingToCheckError
        If the notebook holds no check of the course.
    CellFailedError
        If no kernel can be started.
    """
    path = Path(path)
    notebook = read(path)
    assignment = Assignment.of(notebook)
    # A check that a student copied to play with has no metadata and does not count twice.
    checks = [check for check in assignment.checks if check.grade_id] or list(assignment.checks)
    if not checks:
        raise NothingToCheckError(
            f"{path} holds no check of the course: no cell calls `check(…)`. "
            "Assignments are in exercises/, for example exercises/01-averages/01-averages.ipynb."
        )
    run = asyncio.run(_run(notebook, path, cell_seconds, progress, as_graded=as_graded))
    numbers = {check.number for check in checks}
    return Report(
        path,
        tuple(_result(check, notebook, run, cell_seconds) for check in checks),
        assignment.questions,
        tuple(failure for number, failure in run.failures.items() if number not in numbers),
        run.stopped,
    )


@dataclass
class _Run:
    """How the cells of a notebook ended; their outputs are in the notebook."""

    failures: dict[int, Failure]
    overtime: set[int]
    last: int = 0
    stopped: str = ""


async def _run(
    notebook: NotebookNode,
    path: Path,
    cell_seconds: float,
    progress: Progress | None,
    *,
    as_graded: bool,
) -> _Run:
    from jupyter_client.kernelspec import NoSuchKernel
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    quiet = logging.Logger("course check")  # the report says what nbclient would log
    quiet.addHandler(logging.NullHandler())
    client = NotebookClient(
        notebook,
        log=quiet,
        kernel_name=KERNEL,
        timeout=cell_seconds,
        interrupt_on_timeout=True,
        allow_errors=True,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent.resolve())}},
        # No warning about a local, keyed socket.
        extra_arguments=["--IPKernelApp.log_level=40", *(_FROM_THE_DESK if as_graded else ())],
    )
    run = _Run({}, set())
    environment = dict(os.environ)
    try:
        async with contextlib.AsyncExitStack() as stack:
            if as_graded:
                empty = stack.enter_context(tempfile.TemporaryDirectory(prefix="course-check-"))
                environment |= {"COURSE_DATA": "", "COURSE_CACHE": empty}
            await stack.enter_async_context(client.async_setup_kernel(env=environment))
            for number, cell in enumerate(notebook.cells, start=1):
                if cell.cell_type != "code" or not cell.source.strip():
                    continue
                if progress is not None:
                    progress(number, len(notebook.cells))
                began = time.monotonic()
                try:
                    await _run_cell(client, cell, number, cell_seconds)
                except (DeadKernelError, TimeoutError):
                    run.stopped = _why_stopped(cell, number, time.monotonic() - began, cell_seconds)
                    break
                run.last = number
                if time.monotonic() - began >= cell_seconds:
                    run.overtime.add(number)
                error = _error(cell)
                if error is not None:
                    how = f"stopped with {error}"
                    if number in run.overtime:
                        how = f"ran for more than {cell_seconds:g} s and was stopped"
                    run.failures[number] = Failure(number, first_line(cell.source), how)
    except (NoSuchKernel, RuntimeError) as error:  # nbclient: "Kernel died before replying …"
        raise CellFailedError(
            f"the kernel {KERNEL!r} cannot be started: {error}. "
            "`course doctor` looks for the cause."
        ) from error
    return run


async def _run_cell(
    client: NotebookClient, cell: NotebookNode, number: int, cell_seconds: float
) -> None:
    """Run one cell; nbclient interrupts it after its time and then waits, here not for ever."""
    await asyncio.wait_for(
        client.async_execute_cell(cell, number - 1), cell_seconds + SECONDS_TO_STOP
    )


def _why_stopped(cell: NotebookNode, number: int, took: float, cell_seconds: float) -> str:
    where = f"cell {number} (`{first_line(cell.source)}`)"
    if took >= cell_seconds + SECONDS_TO_STOP:
        return (
            f"{where} ran for more than {cell_seconds:g} s and could not be interrupted, "
            "so nothing below it was run. Look for a loop that never ends."
        )
    return (
        f"the kernel died in {where}, so nothing below it was run. "
        "Is memory short, or does a cell end the process (`exit()`)?"
    )


def _error(cell: NotebookNode) -> str | None:
    """The error that ended a cell, as Python names it."""
    for output in cell.outputs:
        if output.output_type == "error":
            message = _CELL_FILE.sub("(line ", first_line(str(output.get("evalue", ""))))
            return f"{output.ename}: {message}" if message else str(output.ename)
    return None


def _result(check: Check, notebook: NotebookNode, run: _Run, cell_seconds: float) -> Result:
    cell = notebook.cells[check.number - 1]
    for output in cell.outputs:
        said = output.get("data", {}).get(VERDICT)
        if isinstance(said, Mapping):
            return _from_verdict(check.number, said, run, cell_seconds)
    if check.number > run.last:
        findings = [Finding("This check was not run.")]
    elif check.number in run.failures:
        findings = [_why_no_verdict(check, notebook, run.failures)]
    else:
        findings = [
            Finding(
                "This cell shows no verdict.",
                "It has to be one line, as it was released: `check(…)` and nothing after it.",
            )
        ]
    task = check.task or check.grade_id
    return Result(check.number, task, "", "no verdict", 0.0, check.points or 0.0, tuple(findings))


def _from_verdict(number: int, said: Mapping[str, Any], run: _Run, cell_seconds: float) -> Result:
    result = result_of(number, said)
    if result.state == "interrupted" and number in run.overtime and result.findings:
        first, *others = result.findings
        what = f"Your answer ran for more than {cell_seconds:g} s and was stopped."
        return replace(result, findings=(replace(first, what=what), *others))
    return result


def result_of(number: int, said: Mapping[str, Any]) -> Result:
    """What a verdict says, as a row of the report.

    Parameters
    ----------
    number : int
        The place of the check in the notebook, from 1.
    said : mapping
        As `Verdict.to_json` writes it.
    """
    findings = [
        Finding(finding["what"], finding["effect"], finding["section"])
        for finding in said["findings"]
    ]
    return Result(
        number,
        said["task"],
        said["title"],
        said["state"],
        float(said["points"]),
        float(said["out_of"]),
        tuple(findings),
        tuple(said["notes"]),
    )


def _why_no_verdict(
    check: Check, notebook: NotebookNode, failures: Mapping[int, Failure]
) -> Finding:
    """Why a check raised: mostly because the cell that defines what it checks did not run."""
    how = failures[check.number].how
    missing = re.search(r"NameError: name '(\w+)' is not defined", how)
    if missing is None:
        return Finding(f"The check itself {how}.")
    name = missing.group(1)
    cells = [
        number
        for number, cell in enumerate(notebook.cells, start=1)
        if cell.cell_type == "code" and should_define(cell.source, name)
    ]
    what = f"`{name}` is not defined."
    above = [number for number in cells if number < check.number]
    failed = _last(failures, above)
    if failed is not None:
        return Finding(what, f"The cell that should define it: {failed}.")
    if above:
        return Finding(what, f"Cell {above[-1]} should define it, but deletes or hides it.")
    if cells:
        return Finding(
            what, f"Cell {cells[0]} defines it, below this check: a run goes from top to bottom."
        )
    return Finding(what, "No cell of the notebook defines it: was it renamed, or its cell deleted?")


def _last(failures: Mapping[int, Failure], numbers: Sequence[int]) -> Failure | None:
    return next((failures[number] for number in reversed(numbers) if number in failures), None)
