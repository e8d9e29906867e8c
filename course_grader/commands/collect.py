"""`course collect`: put what students handed in where grading looks for it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from course_grader.commands.arguments import AssignmentName, CourseFolder
from course_grader.commands.messages import escape, explained


def collect(
    assignment: AssignmentName,
    sources: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders and zips of submissions.", metavar="SOURCE..."),
    ] = None,
    exchange: Annotated[
        bool,
        typer.Option(
            "--exchange",
            help="SOURCE is the inbound folder of nbgrader's exchange; by default, yours.",
        ),
    ] = False,
    times: Annotated[
        Path | None,
        typer.Option(
            "--times",
            metavar="FILE",
            help="When each handed in: a CSV file with the columns student and submitted.",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Replace the work of several students without asking.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing; only say what would be done.")
    ] = False,
    course: CourseFolder = None,
) -> None:
    """Put what students handed in where grading looks for it: submitted/STUDENT/ASSIGNMENT/.

    Reads what Canvas and Moodle give as a download, and folders or zips with a folder, a zip or a
    notebook for each student. Only the first level, which the platform named, says whose a file is;
    everything below belongs to the same student. A notebook may have another name or lie deeper.
    What is replaced is kept in submitted/.replaced/; before the work of more than one student is
    replaced, the command asks. Archives that climb out of their folder or explode are refused. No
    file that was handed in is changed.

    With --exchange, the user who owns a folder says whose it is, whatever its name says, and the
    time is the folder's on the server. A notebook that is a link, or another user's, is refused.

    No archive says when something was handed in: for late penalties, give the times with --times.

    Exit code: 0 if everything was taken, 1 if something was refused, 2 if nothing was written: the
    download could not be read, or nobody agreed to replace the work of several students.

    **Examples**

        course collect 04 ~/Downloads/submissions.zip       from Canvas or Moodle
        course collect 04 inbox/ --dry-run                  what would be done
        course collect 04 submissions.zip --times times.csv when each handed in
        course collect 04 --exchange                        from nbgrader's exchange
    """
    with explained():
        from course_grader.course import Course
        from course_grader.lms.collect import Action
        from course_grader.lms.collect import collect as put
        from course_grader.lms.exchange import inbound_of

        here = Course.find(course)
        name = here.assignment(assignment)
        if exchange and not sources:
            sources = [inbound_of(here)]
        elif not sources:
            raise typer.BadParameter("name a folder or a zip, or say --exchange")
        confirm = (lambda _: True) if yes else _confirm_replacing if sys.stdin.isatty() else None
        found = put(
            *(here, name, sources),
            submitted=times,
            exchange=exchange,
            dry_run=dry_run,
            confirm=confirm,
        )
        table = Table("", "Student", "", "Handed in (UTC)", "Notes", box=None, pad_edge=False)
        others = dict.fromkeys((Action.KEPT, Action.ABSENT), "[yellow]–[/]")
        signs = {Action.REFUSED: "[red]✗[/]", **others}
        for one in found:
            table.add_row(
                signs.get(one.action, "[green]✓[/]"),
                escape(one.student),
                one.action.value,
                f"{one.timestamp}" if one.timestamp else "[dim]unknown[/]",
                escape("; ".join(one.notes)),
            )
        console = Console()
        console.print(table)
        refused = [one for one in found if one.action is Action.REFUSED]
        would = " would be" if dry_run else ""
        count = sum(one.action not in (Action.REFUSED, Action.ABSENT) for one in found)
        who = "student" if count == 1 else "students"
        console.print(f"\n{count} {who}{would} collected.")
        if times is None and not exchange:
            console.print(
                "No archive says when something was handed in. For late penalties, give the times "
                "that the platform shows: --times FILE.csv",
                style="dim",
                soft_wrap=True,
            )
        if refused:
            console.print(f"[red]{len(refused)} refused[/], for the reasons above.")
            raise typer.Exit(1)


def _confirm_replacing(students: Sequence[str]) -> bool:
    Console().print(
        f"The work of {len(students)} students would be replaced: "
        f"{escape(', '.join(students))}. What is replaced is kept in submitted/.replaced/.",
        soft_wrap=True,
    )
    return typer.confirm("Replace it?")
