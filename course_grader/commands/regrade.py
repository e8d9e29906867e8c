"""`course regrade`: grade again, and see who gains and who loses before it is written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from course_grader.commands.arguments import (
    AssignmentName,
    CourseFolder,
    Database,
    Jobs,
    Scheduler,
    Students,
)
from course_grader.commands.messages import COULD_NOT, escape, explained

if TYPE_CHECKING:
    from course_grader.regrade import Trial


def regrade(
    assignment: AssignmentName,
    student: Students = None,
    jobs: Jobs = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write it without asking.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing; only say what would change.")
    ] = False,
    db: Database = None,
    scheduler: Scheduler = None,
    course: CourseFolder = None,
) -> None:
    """Grade again what was graded, and see who gains and who loses before it is written.

    For a faulty judge that has been fixed, or for one student who disagrees. Everything runs in the
    sandbox again, beside the gradebook; then the command names whose score would change,
    and asks. What is written is what was shown. Points that were set by hand stay, and so does
    what a person has looked at; where a judge now awards other points than a hand did, it is said.

    Exit code: 0 if it is written, or nothing would change, or --dry-run; 1 if the machine failed on
    some; 2 if nothing was written.

    **Examples**

        course regrade 04 --dry-run         who would gain, who would lose
        course regrade 04                   the same, then ask
        course regrade 04 --student ada     a dispute
    """
    with explained():
        from course_grader.course import Course
        from course_grader.isolation import containers_of
        from course_grader.options import CourseGrade
        from course_grader.regrade import Trial

        here = Course.find(course)
        options = CourseGrade.of(here)
        console = Console()
        limits, count = options.limits(), jobs or options.jobs or None
        trying = Trial(
            here,
            here.assignment(assignment),
            students=student or (),
            jobs=count,
            limits=limits,
            url=db,
            scheduler=scheduler if scheduler is not None else options.scheduler,
            containers=None if scheduler else containers_of(options, None, limits, count),
        )
        console.print("Grading again, beside the gradebook …", style="dim")
        with trying as trial:
            _show(console, trial)
            if dry_run or not trial.differences:
                console.print("Nothing was written.")
            elif yes or _agreed(console):
                trial.write()
                console.print(f"[green]✓[/] Written: {len(trial.differences)} changed.")
            else:
                raise typer.Exit(COULD_NOT)
        if trial.failed:
            raise typer.Exit(1)


def _show(console: Console, trial: Trial) -> None:
    if trial.differences:
        table = Table("Student", "Before", "After", "", "Tasks", box=None, pad_edge=False)
        for one in trial.differences:
            sign = "[green]gains[/]" if one.after > one.before else "[red]loses[/]"
            tasks = [f"{name} {was:g} → {now:g}" for name, was, now in one.tasks]
            tasks += [f"{name}: points given by hand stay" for name in one.kept]
            table.add_row(
                escape(one.student),
                f"{one.before:.4g}",
                f"{one.after:.4g}",
                "same" if one.before == one.after else sign,
                escape("; ".join(tasks)),
            )
        console.print(table)
    for left in trial.left_out:
        console.print(f"[yellow]Left out[/]: {escape(left)}", soft_wrap=True)
    gain = sum(one.after > one.before for one in trial.differences)
    lose = sum(one.after < one.before for one in trial.differences)
    console.print(f"{gain} gain, {lose} lose, {len(trial.unchanged)} stay as they are.")
    for student, why in trial.failed:
        console.print(
            f"[red]✗[/] {escape(student)}: {escape(why)}; nothing of theirs will change",
            soft_wrap=True,
        )


def _agreed(console: Console) -> bool:
    if not sys.stdin.isatty():
        console.print("Nothing was written: nobody can be asked here. Look at it, then say --yes.")
        return False
    return typer.confirm("Write it?")
