"""`course new task`: begin a task, so that only what is particular to it is left to write."""

from __future__ import annotations

from typing import Annotated

import typer

from course_grader.commands.arguments import CourseFolder
from course_grader.commands.messages import explained, within

new = typer.Typer(no_args_is_help=True, help="Begin something new; each file says what to fill.")


@new.command("task")
def new_task(
    task: Annotated[str, typer.Argument(help="Chapter and name, for example 14/pointers.")],
    title: Annotated[str | None, typer.Option(help="Of the task, for its heading.")] = None,
    chapter: Annotated[
        str | None, typer.Option(help="Title of a chapter that does not exist yet.")
    ] = None,
    course: CourseFolder = None,
) -> None:
    """Write the probe, the judge, the students and the notebook's cells of a task.

    Until it is filled in, each piece fails with a sentence that says what to write, and where.
    Nothing that is there already is touched but the notebook, which gets three more cells.

    Exit code: 0 if the files are written, 2 if not.

    **Examples**

        course new task 05/temperature --title "A softmax that listens"
        course new task 14/pointers --chapter "Pointers"
    """
    with explained():
        from course_grader.course import Course
        from course_grader.new_task import write_task

        root = Course.find(course).root
        for path in write_task(root, task, title=title, chapter_title=chapter):
            print(within(root, path))
        print(f"See what is left to write: pytest tests/tasks -k {task.partition('/')[2]}")
