"""`course defend`: questions about one's own code, whose keys were run."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from course_grader.commands.arguments import CourseFolder, Database, Jobs, Students
from course_grader.commands.messages import escape, explained

if TYPE_CHECKING:
    from course_judges.defending.contract import Paper, Question

_LETTERS = "abcd"


def defend(
    what: Annotated[
        str, typer.Argument(help="A task with --me, else an assignment.", metavar="TASK|ASSIGNMENT")
    ],
    me: Annotated[
        bool, typer.Option("--me", help="Ask me, here and now, about my own notebook.")
    ] = False,
    notebook: Annotated[
        Path | None,
        typer.Option(help="With --me: looked for in this folder and below exercises/."),
    ] = None,
    questions: Annotated[
        int, typer.Option(min=1, max=8, help="With --me: how many questions.")
    ] = 3,
    task: Annotated[
        str,
        typer.Option(help="Ask all about this one; by default, what most have passed."),
    ] = "",
    student: Students = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ask other questions than the last time.")
    ] = False,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Print papers and key, with Chromium.")
    ] = False,
    scores: Annotated[
        Path | None,
        typer.Option(help="A table of what was answered: its points go into the gradebook."),
    ] = None,
    cell: Annotated[
        str,
        typer.Option(help="With --scores: the question, graded by hand, that gets the points."),
    ] = "",
    jobs: Jobs = None,
    db: Database = None,
    course: CourseFolder = None,
) -> None:
    """Ask about code that was handed in: what it does line by line, and what a change would do.

    Every key was run: the code itself, with small inputs, and dozens of versions of it with one
    change. With --me you answer at the terminal, and are told at once where each answer comes from.
    It counts nowhere.

    Without it, everybody who passed a task of the assignment gets a paper about their own answer,
    one sheet with eight questions, in exports/, beside the key. Students' code runs in the sandbox
    only. The same papers are made again until --fresh asks for others. Beside them lie question
    banks for Moodle and GIFT, a sheet to ask in person, and a table for what was answered: filled
    with letters, or with points, it goes into nbgrader's gradebook as a score given by hand.

    Exit code: 0, 1 if somebody who passed a task has no paper, 2 if nothing could be made.

    **Examples**

        course defend 05/scores --me                three questions about my own answer
        course defend 05/scores --me --questions 8  eight
        course defend 05-head                       papers for a class
        course defend 05-head --task 05/weights     about this task only
        course defend 05-head --pdf                 as PDF, too
        course defend 05-head --scores exports/05-head-defense/results.csv
    """
    with explained():
        if me:
            _ask_me(what, notebook, questions)
            return
        from course_grader.defend.command import defend_class, enter_scores

        if scores is not None:
            enter_scores(course, what, scores, cell=cell, url=db)
            return
        complete = defend_class(
            course,
            what,
            students=student or (),
            task=task,
            jobs=jobs,
            fresh=fresh,
            pdf=pdf,
            url=db,
        )
    if not complete:
        raise typer.Exit(1)


def _ask_me(task: str, notebook: Path | None, most: int) -> None:
    from course_grader.assignment import read
    from course_grader.commands.hint import notebook_of
    from course_grader.defend.asking import ask_me
    from course_grader.errors import NothingToAskError
    from course_judges.defending.choosing import chosen

    path, seed = notebook or notebook_of(task), secrets.randbits(63)
    console = Console()
    with console.status("Running your code, and versions of it with one change …"):
        asked, conditions = ask_me(path, read(path), [task], seed)
    paper = chosen(asked.papers[0], seed) if asked.papers else None
    if paper is None or not paper.questions:
        why = asked.problem or (paper.lacking if paper else "")
        raise NothingToAskError(
            f"no question can be made about {task} in {path}: {why}. "
            "`course check` says whether the notebook runs."
        )
    if conditions:
        console.print(f"[dim]{escape(conditions)}[/]")
    show_code(console, paper)
    some = _some(paper, most)
    right = sum(_ask(console, number, one) for number, one in enumerate(some, start=1))
    console.print(f"\n{right} of {len(some)} right. It counts nowhere; ask again for others.")


def _some(paper: Paper, most: int) -> list[Question]:
    """Those that are answered with a letter, of as many kinds as there are questions."""
    left = [one for one in paper.questions if one.options]
    step = max(1.0, len(left) / most)
    return [left[int(n * step)] for n in range(min(most, len(left)))]


def show_code(console: Console, paper: Paper) -> None:
    """A student's own code and its inputs, as questions speak of them."""
    console.print(f"[bold]{escape(paper.title)}[/]: your code, without its docstrings")
    for number, text in paper.code:
        console.print(f"[dim]{number:3}[/]  {escape(text)}", highlight=False, soft_wrap=True)
    if paper.given:
        console.print("\nThe input:")
    for one in paper.given:
        console.print(f"  {escape(one.line)}", highlight=False, soft_wrap=True)


def _ask(console: Console, number: int, question: Question) -> bool:
    console.print(f"\n[bold]{number}.[/] {escape(question.text)}", highlight=False)
    for letter, option in zip(_LETTERS, question.options, strict=False):
        console.print(f"   {letter}) {escape(option.text)}", highlight=False, soft_wrap=True)
    letters = _LETTERS[: len(question.options)]
    said = ""
    while said not in tuple(letters):
        said = typer.prompt(f"Your answer ({', '.join(letters)})").strip().lower()[:1]
    chosen, right = question.options[letters.index(said)], question.options[question.right]
    if chosen.right:
        console.print(f"[green]✓[/] {escape(chosen.reason)}", highlight=False, soft_wrap=True)
        return True
    console.print(f"[yellow]✗[/] {escape(chosen.reason)}", highlight=False, soft_wrap=True)
    known = f"{letters[question.right]}) {right.text}. {right.reason}"
    console.print(f"  Right is {escape(known)}", highlight=False, soft_wrap=True)
    return False
