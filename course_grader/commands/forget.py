"""`course forget` and `course anonymize`: what is kept of people, and how it ends."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from course_grader.commands.arguments import Assignments, CourseFolder, Database
from course_grader.commands.messages import COULD_NOT, escape, explained, within

if TYPE_CHECKING:
    from course_grader.privacy import Traces


def forget(
    student: Annotated[str, typer.Argument(help="The name of the student's folder.")],
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Delete nothing; only say what is kept.")
    ] = False,
    db: Database = None,
    course: CourseFolder = None,
) -> None:
    """Delete all that is kept of a student: submissions, pages, scores, findings, records.

    Class reports are made anew without them. Files that were made of the whole class (exports,
    archives of feedback) are named, because nobody can be taken out of them; so is what this
    command cannot know of: your backups, and what your platform keeps.

    Exit code: 0 if nothing is left here, or --dry-run; 1 if files of the class are left to delete
    by hand; 2 if nothing was deleted, or not all.

    **Examples**

        course forget ada --dry-run    what is kept
        course forget ada
    """
    with explained():
        from course_grader.course import Course
        from course_grader.privacy import forget as delete
        from course_grader.privacy import traces

        here = Course.find(course)
        console = Console()
        found = traces(here, student, db)
        _show(console, here.root, found)
        if dry_run:
            return
        if not yes and not _agreed(console, student):
            raise typer.Exit(COULD_NOT)
        left = delete(here, student, db).mentioned
        console.print(f"[green]✓[/] {escape(student)} is forgotten.")
        if left:
            console.print("Made of the whole class: delete them, or make them again:")
            for path in left:
                console.print(f"  {within(here.root, path)}", soft_wrap=True)
        console.print(
            "Your backups and your learning platform keep what they have: see to them, too.",
            style="dim",
        )
        if left:
            raise typer.Exit(1)


def _show(console: Console, root: Path, found: Traces) -> None:
    console.print(f"Of {escape(found.student)} is kept:")
    for folder in found.folders:
        console.print(f"  {within(root, folder)}/", soft_wrap=True)
    if found.in_gradebook:
        console.print("  scores, comments, runs and findings in the gradebook")
    for name in found.assignments:
        console.print(f"  where it was collected from: {escape(name)}")
    for path in found.mentioned:
        console.print(f"  perhaps in {within(root, path)}, made of the whole class", soft_wrap=True)


def _agreed(console: Console, student: str) -> bool:
    if not sys.stdin.isatty():
        console.print("Nothing was deleted: nobody can be asked here. Look at it, then say --yes.")
        return False
    return typer.confirm(f"Delete all of it? Nothing brings {student} back.")


def anonymize(
    target: Annotated[Path, typer.Argument(help="A folder that is not there yet.")],
    assignment: Assignments = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Also the code of answers, without any words.")
    ] = False,
    db: Database = None,
    course: CourseFolder = None,
) -> None:
    """Write a copy of the class's results that names nobody, for research.

    Points, states and findings of each task, under numbers that are drawn anew each time. No names,
    times, comments, written answers or outputs. With --answers, the code as well, without comments
    and with every text in it empty; names of variables stay. In a small class somebody may still be
    recognized by an unusual result: look before you give it away.

    Exit code: 0 if it is written, 2 if not.

    **Examples**

        course anonymize ../for-research
        course anonymize ../for-research --assignment 04 --answers
    """
    with explained():
        from course_grader.course import Course
        from course_grader.privacy import anonymize as write

        here = Course.find(course)
        names = [here.assignment(name) for name in assignment or here.assignments]
        done = write(here, target, names, answers=answers, url=db)
        Console().print(
            f"[green]✓[/] {done.students} students, {len(done.assignments)} assignments: "
            f"{within(here.root, done.path)}"
        )
