"""`course export`: write the scores for a learning platform."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from course_grader.commands.arguments import AssignmentName, CourseFolder, Database
from course_grader.commands.messages import escape, explained, within


def export(
    assignment: AssignmentName,
    to: Annotated[
        str, typer.Option("--to", help="nbgrader, canvas, moodle or gradescope.", metavar="FORMAT")
    ] = "nbgrader",
    into: Annotated[
        Path | None,
        typer.Option(
            "--into",
            metavar="FILE",
            help="Canvas's exported gradebook, or Moodle's offline grading worksheet; not changed.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="What is written; in exports/ by default.")
    ] = None,
    column: Annotated[
        str, typer.Option("--column", help="The assignment's column in Canvas, by its name.")
    ] = "",
    db: Database = None,
    course: CourseFolder = None,
) -> None:
    """Write the scores for your learning platform, hand-set points and late penalties included.

    Canvas and Moodle get their own file back with one column filled, every other byte as it was.
    Students without a final score (their answer waits for a person, their run failed) are left as
    they are, and named.

    Exit code: 0 if everybody is in it, 1 if some were left, 2 if it could not be written.

    **Examples**

        course export 04                                        nbgrader's table
        course export 04 --to canvas --into Grades.csv          to upload to Canvas
        course export 04 --to moodle --into Worksheet.csv       to upload to Moodle
        course export 04 --to gradescope                        a results.json a student
    """
    with explained():
        from course_grader.course import Course
        from course_grader.lateness import settle_now
        from course_grader.lms.export import export as write

        here = Course.find(course)
        name = here.assignment(assignment)
        settle_now(here, name, db)
        done = write(here, name, to, into=into, out=out, column=column, url=db)
        console = Console()
        for row, why in done.left:
            console.print(f"[yellow]–[/] {escape(row)}: {escape(why)}", soft_wrap=True)
        for note in done.notes:
            console.print(f"[yellow]![/] {escape(note)}", soft_wrap=True)
        where = within(here.root, done.path)
        count = len(done.filled)
        scores = "1 score is" if count == 1 else f"{count} scores are"
        console.print(f"[green]✓[/] {scores} in {where}")
        if done.left:
            raise typer.Exit(1)
