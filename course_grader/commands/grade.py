"""`course grade`: grade what lies in submitted/, each notebook in a sandbox of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from course_grader.commands.arguments import (
    AssignmentName,
    CourseFolder,
    Database,
    Isolation,
    Jobs,
    Scheduler,
    Students,
)
from course_grader.commands.messages import explained


def grade(
    assignment: AssignmentName,
    student: Students = None,
    jobs: Jobs = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also those that have not changed since.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", help="For one cell or one check."),
    ] = None,
    memory: Annotated[
        int | None, typer.Option("--memory", metavar="MEGABYTES", help="For one submission.")
    ] = None,
    db: Database = None,
    scheduler: Scheduler = None,
    isolation: Isolation = None,
    no_sandbox: Annotated[
        bool,
        typer.Option(
            "--no-sandbox",
            help="Run student code with **your** rights; every report then says so.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say it for machines.")] = False,
    course: CourseFolder = None,
) -> None:
    """Grade what lies in submitted/, each notebook in a sandbox of its own.

    Before the first submission every wall of the sandbox is tried; where one does not hold,
    nothing is graded. What has not changed since the last run is left as it is, so a run that was
    interrupted goes on where it stopped; whose pages were deleted is graded again. Grades go into
    the gradebook, pages into feedback/, the class report into reports/; formgrader shows the rest.
    Points that were set by hand stay.

    Defaults of --jobs, --timeout, --memory, --scheduler, --isolation and --db, the other limits,
    and the address of your book can stand in nbgrader_config.py, which names them all:
    `c.CourseGrade.jobs = 8`, `c.CourseGrade.memory_megabytes = 4096` …

    Exit code: 0 if every submission stands in the gradebook (those that wait for a person, too),
    1 if the machine failed on some, 2 if grading could not start or go on.

    **Examples**

        course grade 04                         a class
        course grade 04 --student ada --force   one of it, again
        course grade 04 --jobs 8 --timeout 120  many cores, slow ones
        course grade 04 --json > result.json    for a program
    """
    from course_grader.grade_command import grade_class

    with explained():
        complete = grade_class(
            course,
            assignment,
            students=student or (),
            jobs=jobs,
            force=force,
            cell_seconds=timeout,
            memory_megabytes=memory,
            url=db,
            scheduler=scheduler,
            isolation=isolation,
            sandboxed=not no_sandbox,
            as_json=as_json,
        )
    if not complete:
        raise typer.Exit(1)
