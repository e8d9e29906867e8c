"""What `course defend` shows of a class: progress, then where everything is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from course_grader.atomic import write_atomically
from course_grader.commands.messages import escape, within
from course_grader.course import Course
from course_grader.defend import banks, papers, scores, sheets
from course_grader.defend import pdf as print_with
from course_grader.defend.asking import Asked


def defend_class(
    start: Path | None,
    assignment: str,
    *,
    students: Sequence[str] = (),
    task: str = "",
    jobs: int | None = None,
    fresh: bool = False,
    pdf: bool = False,
    url: str | None = None,
) -> bool:
    """Make the papers of a class and say what came of it.

    Parameters
    ----------
    start : path or None
        A folder of the course; the working directory by default.
    assignment : str
        Its name, or the beginning of it.
    students, task, jobs, fresh, url
        See `course_grader.defend.papers.make`.
    pdf : bool
        Whether papers and key are printed, too.

    Returns
    -------
    bool
        Whether everybody who passed a task has a paper.

    Raises
    ------
    CourseError
        If nothing can be made.
    """
    course = Course.find(start)
    name = course.assignment(assignment)
    console = Console()
    if pdf:
        print_with.browser()  # said before anything is run
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        whole = bar.add_task("Trying the sandbox's walls …")

        def tell(_: Asked, done: int, count: int) -> None:
            bar.update(whole, description=name, completed=done, total=count)

        made = papers.make(
            course,
            name,
            students=students,
            task=task,
            jobs=jobs,
            fresh=fresh,
            url=url,
            progress=tell,
        )
    write_pages(made, fresh=fresh)
    if pdf:
        for page in ("papers", "key"):
            print_with.print_pdf(made.folder / f"{page}.html", made.folder / f"{page}.pdf")
    for student, why in made.left:
        console.print(f"[yellow]–[/] {escape(student)}: {escape(why)}", soft_wrap=True)
    count = len(made.papers)
    said = "1 paper is" if count == 1 else f"{count} papers are"
    console.print(
        f"[green]✓[/] {said} in {within(course.root, made.folder)}, with key.html for you"
    )
    return not [why for _, why in made.left if not why.startswith("passed no task")]


def write_pages(made: papers.Defended, *, fresh: bool = False) -> None:
    """A page for each student, all of them in one, the key, and all other forms.

    Parameters
    ----------
    made : Defended
    fresh : bool
        Whether the questions are new: a table of answers to others is put aside.
    """
    title = f"Defend it · {made.assignment}"
    for one in made.papers:
        page = sheets.page([one], f"{title} · {one.student}")
        write_atomically(made.folder / one.student / "paper.html", page)
    write_atomically(made.folder / "papers.html", sheets.page(made.papers, title))
    write_atomically(
        made.folder / "key.html", sheets.page(made.papers, f"{title} · key", keys=True)
    )
    write_atomically(made.folder / "aloud.html", sheets.aloud(made.papers, f"{title} · aloud"))
    write_atomically(made.folder / "moodle.xml", banks.moodle(made.papers, title))
    write_atomically(made.folder / "gift.txt", banks.gift(made.papers, title))
    results = made.folder / "results.csv"
    if fresh and results.is_file():
        results.replace(made.folder / "results-before.csv")
    if not results.is_file():  # it may be filled by now
        scores.template(results, made.papers)


def enter_scores(
    start: Path | None, assignment: str, table: Path, *, cell: str = "", url: str | None = None
) -> None:
    """Put what a class answered into the gradebook, and say what came of it.

    Parameters
    ----------
    start, assignment
        See `defend_class`.
    table, cell, url
        See `course_grader.defend.scores.enter`.
    """
    course = Course.find(start)
    name = course.assignment(assignment)
    done = scores.enter(course, name, table, papers.kept(course, name), cell=cell, url=url)
    console = Console()
    for student, points in sorted(done.points.items()):
        console.print(f"{escape(student)} {points:g} of {done.out_of:g}", highlight=False)
    for student in done.left:
        console.print(f"[yellow]–[/] {escape(student)}: no answer stands in the table")
    count = len(done.points)
    said = "1 score is" if count == 1 else f"{count} scores are"
    console.print(
        f"[green]✓[/] {said} in the gradebook: {escape(done.cell)} of {escape(done.assignment)}, "
        "graded by hand",
        soft_wrap=True,
    )
