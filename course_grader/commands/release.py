"""`course release`: make the exercises that students get from the solved notebooks."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from course_grader.commands.arguments import CourseFolder, Database
from course_grader.commands.messages import explained, within


def release(
    assignments: Annotated[
        list[str] | None,
        typer.Argument(
            help="For example 01-averages, or 01; all by default.", metavar="[ASSIGNMENT]..."
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Write nothing; fail if the exercises are not what release makes."
        ),
    ] = False,
    gradebook: Annotated[
        bool,
        typer.Option(
            "--gradebook",
            help="Also enter the assignment into the gradebook, which grading a class needs.",
        ),
    ] = False,
    db: Database = None,
    course: CourseFolder = None,
) -> None:
    """Make the exercises that students get from the solved notebooks.

    nbgrader's own conversion clears the solutions; before it, every task is inspected (points,
    solution region, check, a judge that awards as many points), and after it, that nothing of a
    solution is left. Files in exercises/ are made here and never edited by hand.

    Exit code: 0 if the exercises are made (with --check: if they are as they should be), 1 if
    --check found a difference, 2 if a solution cannot be released.

    **Examples**

        course release                   every assignment
        course release 01                one of them
        course release --check           what CI runs
        course release 01 --gradebook    before `course grade 01`
        course release 01 --gradebook --db sqlite:///other.db
    """
    with explained():
        from course_grader.course import Course
        from course_grader.release import differences, orphans
        from course_grader.release import release as make

        here = Course.find(course)
        console = Console()
        names = [here.assignment(name) for name in assignments or here.assignments]
        if check:
            found = [one for name in names for one in differences(here, name)]
            if not assignments:
                found += orphans(here)
            for one in found:
                console.print(f"[red]✗[/] {within(here.root, one.path)} {one.what}")
            if found:
                console.print("To fix it: course release")
                raise typer.Exit(1)
            console.print(f"[green]✓[/] The exercises of {len(names)} assignments are as released.")
            return
        for name in names:
            changed = make(here, name, gradebook=gradebook or db is not None, url=db)
            for path in changed:
                console.print(f"[green]✓[/] {within(here.root, path)}")
            if not changed:
                console.print(f"[green]✓[/] {name} is as it was")
            if gradebook or db is not None:
                console.print(f"[green]✓[/] {name} is in the gradebook")
