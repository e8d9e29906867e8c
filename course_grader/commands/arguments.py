"""Arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AssignmentName = Annotated[
    str, typer.Argument(help="For example 01-averages, or 01.", metavar="ASSIGNMENT")
]
CourseFolder = Annotated[
    Path | None,
    typer.Option(help="The course's folder; found from the working directory by default."),
]
Students = Annotated[
    list[str] | None,
    typer.Option("--student", help="Only this one; give it again for more.", metavar="NAME"),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--assignment", help="Only this one; all by default. Again for more.", metavar="NAME"
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, help="Submissions at once; as many as there are cores."),
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="Run on a Dask cluster's workers."),
]
Isolation = Annotated[
    str | None,
    typer.Option(
        "--isolation",
        metavar="process|container",
        help="Run the sandbox of each submission in a process of this machine, or in a container.",
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        help="The gradebook's database; by default what nbgrader_config.py says, or gradebook.db.",
    ),
]
