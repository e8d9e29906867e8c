"""`course roster`: whose submissions are there, and whose are not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from course_grader.commands.arguments import Assignments, CourseFolder, Database
from course_grader.commands.messages import escape, explained

if TYPE_CHECKING:
    from course_grader.lms.roster import Compared


def roster(
    students: Annotated[
        Path,
        typer.Argument(
            help="A CSV file: id, last_name, first_name, email, and lms_user_id if known.",
            metavar="STUDENTS.csv",
        ),
    ],
    assignment: Assignments = None,
    same: Annotated[
        list[str] | None,
        typer.Option(
            "--same", help="What you decided: this folder is this id's.", metavar="FOLDER=ID"
        ),
    ] = None,
    write: Annotated[
        bool,
        typer.Option("--write", help="Enter names and addresses of those that are sure."),
    ] = False,
    db: Database = None,
    course: CourseFolder = None,
) -> None:
    """Compare a list of the class with what was handed in; nobody is guessed.

    A folder is somebody's by the platform's number, by e-mail address or id, or by a full name that
    only one has. What merely looks alike is shown and stays undecided until you say so:
    --same lovelace_ada_1234=ada.lovelace. With --write, the gradebook gets name, address and number
    of everybody about whom there is no doubt, under the name of the folder.

    Exit code: 0 if every submission has a student and every student a submission, 1 if not, 2 if
    the list could not be read.

    **Examples**

        course roster students.csv
        course roster students.csv --assignment 04
        course roster students.csv --same lovelace_ada_1234=ada.lovelace --write
    """
    with explained():
        from course_grader.course import Course
        from course_grader.lms.roster import compare, folders, read

        here = Course.find(course)
        names = [here.assignment(name) for name in assignment or here.assignments]
        people = read(students)
        compared = compare(people, folders(here, names), _decided(same or []))
        console = Console()
        _show(console, compared)
        if write:
            from course_grader.gradebook.people import enter

            enter(here, compared.surely, db)
            console.print(f"[green]✓[/] {len(compared.surely)} are in the gradebook by name.")
        if compared.nobodys or compared.absent:
            raise typer.Exit(1)


def _decided(said: list[str]) -> dict[str, str]:
    from course_grader.errors import UnreadableSheetError

    decided = {}
    for each in said:
        folder, equals, person = each.rpartition("=")
        if not equals or not folder or not person:
            raise UnreadableSheetError(f"--same {each!r}: write FOLDER=ID")
        decided[folder.strip()] = person.strip()
    return decided


def _show(console: Console, compared: Compared) -> None:
    if compared.nobodys:
        console.print("[bold]Handed in, and whose it is is not sure[/]")
        table = Table("Folder", "Looks like", box=None, pad_edge=False)
        for folder, near in sorted(compared.nobodys.items()):
            alike = ", ".join(f"{one.id} ({one.name or 'no name'})" for one, _ in near)
            table.add_row(escape(folder), escape(alike) or "nobody of the list")
        console.print(table)
        console.print("Decide, for each that you are sure of: --same FOLDER=ID\n")
    if compared.absent:
        console.print("[bold]On the list, and nothing is surely theirs[/]")
        table = Table("Id", "Name", "", box=None, pad_edge=False)
        for one in compared.absent:
            table.add_row(escape(one.id), escape(one.name), escape(compared.doubts.get(one.id, "")))
        console.print(table)
    if compared.by_name:
        pairs = ", ".join(
            f"{folder} is {compared.surely[folder].id}" for folder in sorted(compared.by_name)
        )
        console.print(
            f"[yellow]![/] Found by the full name alone, look at them: {escape(pairs)}",
            soft_wrap=True,
        )
    console.print(f"[green]✓[/] {len(compared.surely)} submissions have their student.")
