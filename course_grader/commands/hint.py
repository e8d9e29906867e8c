"""`course hint`: what the check says of one task, and one folded hint: for an assistant that reads
JSON, and for people.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from course_grader.commands.messages import escape, explained


def hint(
    task: Annotated[str, typer.Argument(help="For example 05/scores.", metavar="TASK")],
    notebook: Annotated[
        Path | None,
        typer.Option(help="The assignment; looked for in this folder and below exercises/."),
    ] = None,
    after: Annotated[
        int, typer.Option(min=0, help="How many hints are known already: the next one is shown.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="For a program to read.")] = False,
) -> None:
    """Say what the check of one task says of your notebook, and show its next folded hint.

    The notebook is run from the top as `course check` does; save it first. Nothing of a solution
    is shown, and no task but this one.

    Exit code: 0 if the task has all its points, 1 if not, 2 if the notebook could not be run.

    **Examples**

        course hint 05/scores                the verdict, and the first hint
        course hint 05/scores --after 1      the second one
        course hint 05/scores --json         for an assistant that is to help and not to answer
    """
    with explained():
        from course_grader.assignment import read
        from course_grader.check_as_graded import check_as_graded
        from course_grader.hints import hints_of

        path = notebook or notebook_of(task)
        hints = hints_of(read(path), task, path)
        console = Console()
        with console.status("Running the notebook …"):
            report = check_as_graded(path)
    result = next(one for one in report.results if one.task == task)
    following = next((one for one in hints if one.number == after + 1), None)
    if result.passed:
        following = None  # there is nothing left to help with
    if as_json:
        said = {
            "task": task,
            "state": result.state,
            "points": result.points,
            "out_of": result.out_of,
            "findings": [vars(finding) for finding in result.findings],
            "hint": vars(following) if following else None,
        }
        typer.echo(json.dumps(said, ensure_ascii=False, indent=2))
    else:
        console.print(f"[bold]{escape(result.title or task)}[/]: {result.state}, ", end="")
        console.print(f"{result.points:g} of {result.out_of:g} points")
        for finding in result.findings:
            words = " ".join(filter(None, (finding.what, finding.effect)))
            where = f" [dim]See {escape(finding.where)}.[/]" if finding.where else ""
            console.print(escape(words) + where)
        if following:
            console.print(f"\nHint {following.number} of {following.of}: {escape(following.text)}")
        elif hints and not result.passed:
            console.print(f"\n[dim]The task has no more hints than these {len(hints)}.[/]")
    if not result.passed:
        raise typer.Exit(1)


def notebook_of(task: str) -> Path:
    """The assignment that asks a task, near the working directory."""
    from course_grader.errors import UnreadableNotebookError

    chapter = task.partition("/")[0]
    places = (f"{chapter}-*.ipynb", f"{chapter}-*/{chapter}-*.ipynb")
    folders = (Path(), Path("exercises"))
    for found in (sorted(folder.glob(place)) for folder in folders for place in places):
        if found:
            return found[0]
    raise UnreadableNotebookError(
        f"no notebook of {task} lies here or in exercises/: name yours with --notebook"
    )
