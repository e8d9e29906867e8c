"""The `course` command: each command asks the library and shows what it says.

Nothing heavy is imported before a command needs it, so that `course --help` answers at once.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from course_lib import __version__
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_grader.check_notebook import Finding, Report, Result

COULD_NOT = 2
"""Exit code when the question could not even be asked; 1 is an answer: no."""

_STUDENTS, _INSTRUCTORS = "For students", "For instructors"

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""From Averages to Transformers, on the command line.

**Students**, in this order:

1. `course doctor`: does everything work on this machine?
2. `course data`: fetch the texts once, while there is a network
3. `jupyter lab exercises/`: fill an assignment; every task checks itself
4. `course check exercises/01-averages/01-averages.ipynb`: run all of it from the top, as a grader
   does

**Instructors**, after editing a notebook in solutions/:

1. `course release 01`: make the exercises of it
2. `course release 01 --gradebook`: once a class, also enter it into the gradebook
3. `course collect 01 submissions.zip`: put what was handed in where grading looks for it
4. `course grade 01`: grade what lies in submitted/, in a sandbox
5. `course export 01`: write the scores for your learning platform

`course COMMAND --help` shows examples of each command.
""",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"course {__version__}")
        raise typer.Exit


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


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Common to all commands; the help of the application is above."""


@app.command(rich_help_panel=_STUDENTS)
def doctor() -> None:
    """Say what works on this machine, what does not, and how to mend it.

    Everything is tried, not believed: a kernel is started, the texts are read, the sandbox and the
    browser run.

    Exit code: 0 if all that **students** need works, 1 if not. What only instructors or
    contributors need is shown and does not count, nor do missing texts: the built-in play stands
    in for them.

    **Example**

        course doctor
    """
    from course_grader.doctor import Diagnosis, examine

    console = Console()
    table = Table("", "What", "Needed by", "Found", box=None, pad_edge=False)
    found: list[Diagnosis] = []
    with console.status("Trying …") as status:
        for one in examine():
            found.append(one)
            status.update(f"Trying … {one.name}")
    for one in found:
        sign = "[green]✓[/]" if one.works else "[yellow]–[/]" if one.optional else "[red]✗[/]"
        remedy = f"\n[bold]→ {escape(one.remedy)}[/]" if one.remedy and not one.works else ""
        table.add_row(sign, one.name, one.need.value, escape(one.found) + remedy)
    console.print(table)
    broken = [one.name for one in found if one.stops_students]
    if broken:
        console.print(f"\n[red]Students cannot work yet:[/] mend {', '.join(broken)}.")
        raise typer.Exit(1)
    others = [one.name for one in found if not one.works and not one.optional]
    rest = f" Only instructors or contributors need: {', '.join(others)}." if others else ""
    console.print(f"\n[green]Everything that students need works.[/]{rest}")


@app.command(rich_help_panel=_STUDENTS)
def data(
    name: Annotated[
        str | None,
        typer.Argument(help="shakespeare, names or play; all of them by default.", metavar="NAME"),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Only look on this machine; fetch nothing.")
    ] = False,
) -> None:
    """Fetch the texts that the course reads, and show where they are.

    A text is looked for in the folder that COURSE_DATA names, then in the cache (the folder that
    COURSE_CACHE names, or the system's own), then at its public address; its SHA-256 digest is
    always compared. The play is written by the course itself: `course data play` shows what the
    program that wrote it knows, the loss that no model can beat.

    Exit code: 0 if every text that was asked for is there, 1 if not.

    **Examples**

        course data                every text, fetched where it is missing
        course data shakespeare    one of them
        course data --offline      what is here already
        course data play           the floor of the play and its dependencies
    """
    with _explained():
        from course_lib.data import NAMES
        from course_lib.data.corpora import SOURCES
        from course_lib.errors import UnknownCorpusError

        if name is not None and name not in NAMES:
            raise UnknownCorpusError(f"there is no text {name!r}; there are {', '.join(NAMES)}")
        console = Console()
        if name == "play":
            _show_play(console)
            return
        wanted = [name] if name else list(SOURCES)
        table = Table("Text", "Where", "Characters", "Symbols", "SHA-256", box=None, pad_edge=False)
        missing = []
        for one in wanted:
            row, problem = _corpus_row(one, offline)
            table.add_row(*row)
            if problem:
                missing.append(problem)
        if name is None:
            table.add_row("play", "written when it is asked for", "", "", "[dim]no file[/]")
        console.print(table)
        for problem in missing:
            console.print(f"\n[red]✗[/] {escape(problem)}", soft_wrap=True)
        if missing:
            raise typer.Exit(1)


@app.command(rich_help_panel=_STUDENTS)
def check(
    notebook: Annotated[
        Path, typer.Argument(help="An assignment, filled or not.", metavar="NOTEBOOK")
    ],
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=1,
            help="A cell that takes longer is stopped, and the next one runs.",
        ),
    ] = 120.0,
) -> None:
    """Run your notebook from the top in a fresh kernel, and show what every check says.

    This is how a grader runs it: nothing is left over from cells that you deleted or ran in
    another order. The notebook itself stays as it is, so save it first. Its code runs with your
    rights: check your own notebooks only.

    Exit code: 0 if every task has all its points, 1 if not, 2 if the notebook could not be run.

    **Examples**

        course check exercises/01-averages/01-averages.ipynb
        course check 01-averages.ipynb --timeout 300    on a slow machine
    """
    from course_grader.check_notebook import check_notebook

    console = Console()
    with _explained():
        with console.status("Starting a kernel …") as status:
            report = check_notebook(
                notebook,
                cell_seconds=timeout,
                progress=lambda cell, cells: status.update(f"Running cell {cell} of {cells} …"),
            )
        _show_report(console, report)
    if not report.passed:
        raise typer.Exit(1)


@app.command(rich_help_panel=_INSTRUCTORS)
def release(
    assignments: Annotated[
        list[str] | None,
        typer.Argument(
            help="For example 01-averages, or 01; all by default.", metavar="[ASSIGNMENT]..."
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Write nothing; fail if the exercises are not what release makes."
        ),
    ] = False,
    gradebook: Annotated[
        bool,
        typer.Option(
            "--gradebook",
            help="Also enter the assignment into the gradebook, which grading a class needs.",
        ),
    ] = False,
    db: Database = None,
    course: CourseFolder = None,
) -> None:
    """Make the exercises that students get from the solved notebooks.

    nbgrader's own conversion clears the solutions; before it, every task is inspected (points,
    solution region, check, a judge that awards as many points), and after it, that nothing of a
    solution is left. Files in exercises/ are made here and never edited by hand.

    Exit code: 0 if the exercises are made (with --check: if they are as they should be), 1 if
    --check found a difference, 2 if a solution cannot be released.

    **Examples**

        course release                   every assignment
        course release 01                one of them
        course release --check           what CI runs
        course release 01 --gradebook    before `course grade 01`
        course release 01 --gradebook --db sqlite:///other.db
    """
    with _explained():
        from course_grader.course import Course
        from course_grader.release import differences, orphans
        from course_grader.release import release as make

        here = Course.find(course)
        console = Console()
        names = [here.assignment(name) for name in assignments or here.assignments]
        if check:
            found = [one for name in names for one in differences(here, name)]
            if not assignments:
                found += orphans(here)
            for one in found:
                console.print(f"[red]✗[/] {_within(here.root, one.path)} {one.what}")
            if found:
                console.print("Mend it: course release")
                raise typer.Exit(1)
            console.print(f"[green]✓[/] The exercises of {len(names)} assignments are as released.")
            return
        for name in names:
            changed = make(here, name, gradebook=gradebook or db is not None, url=db)
            for path in changed:
                console.print(f"[green]✓[/] {_within(here.root, path)}")
            if not changed:
                console.print(f"[green]✓[/] {name} is as it was")


@app.command(rich_help_panel=_INSTRUCTORS)
def grade(
    assignment: AssignmentName,
    student: Annotated[
        list[str] | None,
        typer.Option("--student", help="Only this one; give it again for more.", metavar="NAME"),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Submissions at once; as many as there are cores."),
    ] = None,
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
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="Run on a Dask cluster's workers."),
    ] = None,
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

    Defaults of --jobs, --timeout, --memory, --scheduler and --db, the other limits, and the address
    of your book can stand in nbgrader_config.py, which names them all:
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

    with _explained():
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
            sandboxed=not no_sandbox,
            as_json=as_json,
        )
    if not complete:
        raise typer.Exit(1)


@app.command(rich_help_panel=_INSTRUCTORS)
def collect(
    assignment: AssignmentName,
    sources: Annotated[
        list[Path], typer.Argument(help="Folders and zips of submissions.", metavar="SOURCE...")
    ],
    times: Annotated[
        Path | None,
        typer.Option(
            "--times",
            metavar="FILE",
            help="When each handed in: a CSV file with the columns student and submitted.",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Replace the work of several students without asking.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing; only say what would be done.")
    ] = False,
    course: CourseFolder = None,
) -> None:
    """Put what students handed in where grading looks for it: submitted/STUDENT/ASSIGNMENT/.

    Reads what Canvas and Moodle give as a download, and folders or zips with a folder, a zip or a
    notebook for each student. Only the first level, which the platform named, says whose a file is;
    everything below belongs to the same student. A notebook may have another name or lie deeper.
    What is replaced is kept in submitted/.replaced/; before the work of more than one student is
    replaced, the command asks. Archives that climb out of their folder or explode are refused. No
    file that was handed in is changed.

    No archive says when something was handed in: for late penalties, give the times with --times.

    Exit code: 0 if everything was taken, 1 if something was refused, 2 if nothing was written: the
    download could not be read, or nobody agreed to replace the work of several students.

    **Examples**

        course collect 04 ~/Downloads/submissions.zip       from Canvas or Moodle
        course collect 04 inbox/ --dry-run                  what would be done
        course collect 04 submissions.zip --times times.csv when each handed in
    """
    with _explained():
        from course_grader.course import Course
        from course_grader.lms.collect import Action
        from course_grader.lms.collect import collect as put

        here = Course.find(course)
        name = here.assignment(assignment)
        confirm = (lambda _: True) if yes else _confirm_replacing if sys.stdin.isatty() else None
        found = put(here, name, sources, submitted=times, dry_run=dry_run, confirm=confirm)
        table = Table("", "Student", "", "Handed in (UTC)", "Notes", box=None, pad_edge=False)
        signs = {Action.REFUSED: "[red]✗[/]", Action.KEPT: "[yellow]–[/]"}
        for one in found:
            table.add_row(
                signs.get(one.action, "[green]✓[/]"),
                escape(one.student),
                one.action.value,
                f"{one.timestamp}" if one.timestamp else "[dim]unknown[/]",
                escape("; ".join(one.notes)),
            )
        console = Console()
        console.print(table)
        refused = [one for one in found if one.action is Action.REFUSED]
        would = " would be" if dry_run else ""
        console.print(f"\n{len(found) - len(refused)} students{would} collected.")
        if times is None:
            console.print(
                "No archive says when something was handed in. For late penalties, give the times "
                "that the platform shows: --times FILE.csv",
                style="dim",
                soft_wrap=True,
            )
        if refused:
            console.print(f"[red]{len(refused)} refused[/], for the reasons above.")
            raise typer.Exit(1)


def _confirm_replacing(students: Sequence[str]) -> bool:
    Console().print(
        f"The work of {len(students)} students would be replaced: "
        f"{escape(', '.join(students))}. What is replaced is kept in submitted/.replaced/.",
        soft_wrap=True,
    )
    return typer.confirm("Replace it?")


@app.command(rich_help_panel=_INSTRUCTORS)
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
    with _explained():
        from course_grader.course import Course
        from course_grader.lms.export import export as write

        here = Course.find(course)
        name = here.assignment(assignment)
        done = write(here, name, to, into=into, out=out, column=column, url=db)
        console = Console()
        for row, why in done.left:
            console.print(f"[yellow]–[/] {escape(row)}: {escape(why)}", soft_wrap=True)
        for note in done.notes:
            console.print(f"[yellow]![/] {escape(note)}", soft_wrap=True)
        where = _within(here.root, done.path)
        console.print(f"[green]✓[/] {len(done.filled)} scores are in {where}")
        if done.left:
            raise typer.Exit(1)


# What the system refuses to any command, and what helps.
_REMEDIES = {
    errno.ENOSPC: "make room in the course's folder and in the system's folder for temporary files",
    errno.EDQUOT: "make room, or ask for a larger quota",
    errno.EROFS: "put the course's folder where it can be written",
    errno.EACCES: "give yourself the right to read and write it",
    errno.EPERM: "give yourself the right to read and write it",
    errno.EMFILE: "allow more open files (ulimit -n), or lower --jobs",
}


new = typer.Typer(no_args_is_help=True, help="Begin something new; each file says what to fill.")
app.add_typer(new, name="new", rich_help_panel="For contributors")


@new.command("task")
def new_task(
    task: Annotated[str, typer.Argument(help="Chapter and name, for example 11/induction.")],
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
        course new task 11/induction --chapter "Induction heads"
    """
    with _explained():
        from course_grader.course import Course
        from course_grader.new_task import write_task

        root = Course.find(course).root
        for path in write_task(root, task, title=title, chapter_title=chapter):
            print(_within(root, path))
        print(f"See what is left to write: pytest tests/tasks -k {task.partition('/')[2]}")


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Show an error that the course raises on purpose, or a disk that is full or not to be written,
    as a message without a traceback.
    """
    try:
        yield
        return
    except CourseError as error:
        raised: Exception = error
        said = str(error)
    except OSError as error:
        raised = error
        remedy = next((words for number, words in _REMEDIES.items() if _is(number, error)), None)
        if remedy is None:
            raise
        said = f"{error}: {remedy}, then run the command again"
    Console(stderr=True).print(f"[red]✗[/] {escape(said)}", soft_wrap=True)
    raise typer.Exit(COULD_NOT) from raised


def _is(number: int, error: OSError) -> bool:
    """`shutil` gathers errors of several files, and keeps only their words."""
    return error.errno == number or (error.errno is None and os.strerror(number) in str(error))


def _within(root: Path, path: Path) -> str:
    return escape(str(path.relative_to(root) if path.is_relative_to(root) else path))


def _corpus_row(name: str, offline: bool) -> tuple[tuple[str, ...], str]:
    """Cells of a text's row in the table, and why it is not there, or nothing."""
    from course_lib.data import find, load
    from course_lib.data.corpora import SOURCES
    from course_lib.errors import CorpusUnavailableError

    digest = SOURCES[name].sha256[:12] + "…"
    if offline and find(name) is None:
        problem = f"{name} is not on this machine; fetch it: course data {name}"
        return (name, "[red]not here[/]", "", "", digest), problem
    try:
        corpus = load(name, fallback=False)
    except CorpusUnavailableError as error:
        return (name, "[red]not to be had[/]", "", "", digest), str(error)
    return (
        name,
        escape(str(find(name))),
        f"{len(corpus.text):,}",
        str(len(corpus.vocabulary)),
        f"[green]✓[/] {digest}",
    ), ""


def _show_play(console: Console) -> None:
    """The floor of the play, by position in its structure, and the worth of its dependencies."""
    from course_lib.data import load, play

    with console.status("Writing the play …"):
        comedy = play.write()
        corpus = load("play")
    validation = slice(len(corpus.train), None)
    console.print(
        f"The play: {len(comedy.text):,} characters, {len(corpus.vocabulary)} symbols, seed "
        f"{comedy.seed}; written when it is asked for, the same on every machine.\n"
        f"No model can beat [bold]{comedy.floor():.4f}[/] nats a character "
        f"([bold]{comedy.floor(validation):.4f}[/] on the validation split).\n"
    )
    table = Table("Position", "Share", "Nats a character", box=None, pad_edge=False)
    for position, (share, floor) in comedy.floor_by_position(validation).items():
        table.add_row(position, f"{share:.1%}", f"{floor:.4f}")
    console.print(table, "")
    table = Table("Dependency", "Characters back", "Nats it saves", "What it is", box=None)
    for one in comedy.dependencies():
        table.add_row(one.name, f"{one.length:.0f}", f"{one.worth:.4f}", escape(one.description))
    console.print(table)


def _show_report(console: Console, report: Report) -> None:
    table = Table("", "Task", "Points", "Finding", box=None, pad_edge=False)
    for result in report.results:
        table.add_row(
            _sign(result),
            escape(result.title or result.task),
            f"{result.points:g} of {result.out_of:g}",
            _words(result),
        )
    for question in report.questions:
        given = "waits for a person" if question.changed else "not answered yet; graded by a person"
        points = f"– of {question.points or 0:g}"
        table.add_row("[blue]✎[/]", escape(question.title), points, f"[dim]{given}[/]")
    console.print(table)
    told = " ".join(finding.effect for result in report.results for finding in result.findings)
    for failure in report.failures:
        if str(failure) not in told:
            console.print(f"\n[yellow]![/] {escape(_sentence(str(failure)))}")
    if report.stopped:
        console.print(f"\n[red]The run ended early.[/] {escape(_sentence(report.stopped))}")
    colour = "green" if report.passed else "yellow"
    console.print(f"\n[{colour}]{report.points:g} of {report.out_of:g} points[/]")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text[-1] in ".?!" else ".")


def _sign(result: Result) -> str:
    if result.passed:
        return "[green]✓[/]"
    if result.state == "not attempted":
        return "[dim]○[/]"
    return "[yellow]◐[/]" if result.points else "[red]✗[/]"


def _words(result: Result) -> str:
    if result.passed and not result.notes:
        return "[green]right[/]"
    if result.state == "not attempted":
        return "[dim]not attempted[/]"
    lines = [] if result.findings else [result.state]
    for finding in result.findings:
        lines += _sentences(finding)
    lines += [f"[dim]Note: {escape(note)}[/]" for note in result.notes]
    return "\n".join(lines)


def _sentences(finding: Finding) -> Iterator[str]:
    yield f"[bold]{escape(finding.what)}[/]"
    if finding.effect:
        yield escape(finding.effect)
    if finding.where:
        yield f"[dim]Look again at {escape(finding.where)}.[/]"


if __name__ == "__main__":
    app(prog_name="course")
