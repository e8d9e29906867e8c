"""What `course grade` shows: progress for each submission, then a table, or JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from course_grader.batch import Summary, grade
from course_grader.commands.messages import escape
from course_grader.course import Course
from course_grader.gradebook.standing import Waiting, standing
from course_grader.isolation import containers_of
from course_grader.options import CourseGrade
from course_grader.outcome import Outcome, Status
from course_grader.sandbox.bubblewrap import IsolationMode
from course_lib.errors import ConfigError

_SIGNS = {
    Status.GRADED: "[green]✓[/]",
    Status.SET_ASIDE: "[yellow]✋[/]",
    Status.FAILED: "[red]✗[/]",
    Status.POSTPONED: "[dim]↻[/]",
}

_WITHOUT = (
    "[bold red]Without a sandbox:[/] every notebook runs with your rights and can read and change "
    "whatever you can. Each report says so."
)


def grade_class(
    start: Path | None,
    assignment: str,
    *,
    students: Sequence[str] = (),
    jobs: int | None = None,
    force: bool = False,
    cell_seconds: float | None = None,
    memory_megabytes: int | None = None,
    url: str | None = None,
    scheduler: str | None = None,
    isolation: str | None = None,
    sandboxed: bool = True,
    as_json: bool = False,
) -> bool:
    """Grade an assignment and say what came of it.

    Parameters
    ----------
    start : path or None
        A folder of the course; the working directory by default.
    assignment : str
        Its name, or the beginning of it.
    students, force, url
        See `course_grader.batch.grade`.
    jobs, cell_seconds, memory_megabytes, scheduler, isolation
        What `nbgrader_config.py` says, or its default, where None.
    sandboxed : bool
    as_json : bool
        Print one JSON object, and nothing else, to stdout.

    Returns
    -------
    bool
        Whether every submission stands in the gradebook.

    Raises
    ------
    CourseError
        If grading cannot start or go on; the message says why, and what helps.
    """
    course = Course.find(start)
    name = course.assignment(assignment)
    options = CourseGrade.of(course)
    limits = options.limits(cell_seconds=cell_seconds, memory_megabytes=memory_megabytes)
    if limits.cell_seconds > limits.total_seconds:
        raise ConfigError(
            f"a cell may take {limits.cell_seconds:g} s, but a notebook only "
            f"{limits.total_seconds:g} s: raise c.CourseGrade.total_seconds"
        )
    form: IsolationMode = "warm" if sandboxed else "bare"
    address = scheduler if scheduler is not None else options.scheduler
    containers = containers_of(options, isolation, limits, jobs or options.jobs or None)
    if containers is not None and (address or not sandboxed):
        other = f"--scheduler {address}" if address else "--no-sandbox"
        raise ConfigError(f"submissions run in containers or with {other}: choose one of the two")
    said = Console(stderr=as_json)
    if not sandboxed:
        said.print(_WITHOUT)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=said,
        transient=True,
    )
    with bar:
        whole = bar.add_task("Trying the sandbox's walls …" if sandboxed else "Starting …")

        def tell(outcome: Outcome, done: int, count: int) -> None:
            bar.update(whole, description=name, completed=done, total=count)
            if not as_json:
                bar.console.print(_line(outcome), soft_wrap=True, highlight=False)

        summary = grade(
            course,
            name,
            students=students,
            jobs=jobs or options.jobs or None,
            force=force,
            limits=limits,
            form=form,
            url=url,
            scheduler=address,
            containers=containers,
            progress=tell,
        )
    waiting = standing(course, name, url).waiting
    if as_json:
        print(json.dumps(as_plain(name, summary, waiting), ensure_ascii=False, indent=2))
    else:
        _show(said, course, name, summary, waiting)
    return summary.complete


def as_plain(assignment: str, summary: Summary, waiting: Waiting) -> dict[str, Any]:
    """What a run did, and what waits for a person in the class, as plain values for a program."""
    return {
        "assignment": assignment,
        "complete": summary.complete,
        "sandbox": {"warm": "warm", "cold": "cold"}.get(summary.form),
        "seconds": round(summary.seconds, 3),
        "unchanged": summary.unchanged,
        "left_out": summary.left_out,
        "waiting": {"students": waiting.students, "answers": waiting.answers},
        "submissions": [
            {
                "student": one.student.encode("utf-8", "replace").decode(),
                "status": one.status.value,
                "points": one.points if one.status is Status.GRADED else None,
                "out_of": one.out_of if one.status is Status.GRADED else None,
                "reason": one.reason,
                "notes": list(one.notes),
                "failed_cell": one.failed_cell,
                "seconds": {step: round(took, 4) for step, took in one.seconds.items()},
            }
            for one in sorted(summary.outcomes, key=lambda one: one.student)
        ],
    }


def _line(outcome: Outcome) -> str:
    student = escape(outcome.student)
    words = [_SIGNS[outcome.status], f"[bold]{student}[/]"]
    if outcome.status is Status.GRADED:
        words.append(f"{outcome.points:g} of {outcome.out_of:g}")
    else:
        words.append(outcome.status.value)
    if outcome.reason:
        words.append(f"[dim]{escape(_short(outcome.reason))}[/]")
    return " ".join(words)


def _short(words: str) -> str:
    """A reason is partly a student's own words: one line of it, without control characters."""
    line = "".join(c if c.isprintable() else " " for c in words)
    return line if len(line) <= 160 else line[:160] + "…"


def _show(
    console: Console, course: Course, assignment: str, summary: Summary, waiting: Waiting
) -> None:
    counts = {status: sum(one.status is status for one in summary.outcomes) for status in Status}
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("[green]✓[/] graded", str(counts[Status.GRADED]))
    table.add_row("[yellow]✋[/] set aside", str(counts[Status.SET_ASIDE]))
    answers = f" ({waiting.answers} answers)" if waiting.answers else ""
    table.add_row("  wait for a person, in the whole class", f"{waiting.students}{answers}")
    table.add_row("[red]✗[/] the machine failed", str(counts[Status.FAILED]))
    table.add_row("  unchanged since the last run", str(len(summary.unchanged)))
    table.add_row("  seconds", f"{summary.seconds:.1f}")
    console.print(table)
    if summary.form == "cold":
        console.print(
            "Warm starts cannot be had on this machine, or on a worker of the cluster: there each "
            "submission started a Python of its own, which takes seconds.",
            soft_wrap=True,
        )
    for left in summary.left_out:
        console.print(f"[yellow]Left out[/]: {escape(left)}", soft_wrap=True)
    for stranger in summary.late.strangers if summary.late else ():
        console.print(
            f"{escape(stranger)} has an extension, and handed in nothing under that name.",
            soft_wrap=True,
        )
    if counts[Status.FAILED]:
        console.print("Nobody got a zero for it: run the command again for those that failed.")
    if not CourseGrade.of(course).book:
        console.print(
            "Feedback names the sections to read again, without links: set c.CourseGrade.book in "
            "nbgrader_config.py to the address where your students read the book.",
            soft_wrap=True,
        )
    report = course.root / "reports" / f"{assignment}.html"
    if report.is_file():
        console.print(f"The class report: {escape(str(report.relative_to(course.root)))}")
