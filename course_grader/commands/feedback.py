"""`course feedback`: write what students get back, in their platform's form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from course_grader.commands.arguments import AssignmentName, CourseFolder, Database
from course_grader.commands.messages import escape, explained, within


def feedback(
    assignment: AssignmentName,
    form: Annotated[
        str, typer.Option("--for", help="moodle, canvas or folders.", metavar="PLATFORM")
    ] = "folders",
    out: Annotated[
        Path | None, typer.Option("--out", help="What is written; in exports/ by default.")
    ] = None,
    db: Database = None,
    course: CourseFolder = None,
) -> None:
    """Write what students get back: final points, findings, comments, and what to read again.

    Moodle and Canvas get an archive that they take back as it is, by the names and numbers that
    they wrote around the submissions; so collect from the same platform. Students without a final
    score (their answer waits for a person, their run failed) are left out, and named.

    Exit code: 0 if everybody's page is written, 1 if some were left out, 2 if it could not be
    written.

    **Examples**

        course feedback 04 --for moodle      "Upload multiple feedback files in a zip"
        course feedback 04 --for canvas      "Upload Submissions"
        course feedback 04                   a folder for each student
    """
    with explained():
        from course_grader.course import Course
        from course_grader.lateness import settle_now
        from course_grader.lms.feedback import write

        here = Course.find(course)
        name = here.assignment(assignment)
        settle_now(here, name, db)
        done = write(here, name, form, out=out, url=db)
        console = Console()
        for student, why in done.left:
            console.print(f"[yellow]–[/] {escape(student)}: {escape(why)}", soft_wrap=True)
        count = len(done.done)
        pages = "1 page is" if count == 1 else f"{count} pages are"
        console.print(f"[green]✓[/] {pages} in {within(here.root, done.path)}")
        if done.left:
            raise typer.Exit(1)
