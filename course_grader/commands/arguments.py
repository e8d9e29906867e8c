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
Database = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        help="The gradebook's database; by default what nbgrader_config.py says, or gradebook.db.",
    ),
]
