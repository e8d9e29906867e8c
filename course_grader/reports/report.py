"""What a class has understood: a page with pictures and a table beside it, from the gradebook.

The page is complete in itself: no script, no request to anywhere. Everything on it that a student
had a say in is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from course_grader import likeness
from course_grader.atomic import write_atomically
from course_grader.course import Course
from course_grader.gradebook.standing import ClassStanding, StudentGrades
from course_grader.gradebook.standing import standing as read_standing
from course_grader.lms import sheets
from course_grader.reports.pictures import points_of_class, success_of_tasks
from course_grader.reports.rendering import render
from course_grader.reports.tally import Tally, count, slowest, ungraded
from course_tasks import catalogue

if TYPE_CHECKING:
    from markupsafe import Markup

# Longer lists are read by nobody; the table beside the page has everybody.
MOST_ROWS = 25
SLOWEST = 8


def write(
    course: Course, assignment: str, url: str | None = None, *, sandboxed: bool = True
) -> Path:
    """Write `reports/<assignment>.html`, and the same as a table beside it.

    Parameters
    ----------
    course : Course
    assignment : str
        Its full name.
    url : str, optional
        Of the gradebook.
    sandboxed : bool
        False marks the page even if the gradebook holds no run without a sandbox.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    GradebookError
        If the gradebook cannot be read.
    NotWrittenError
        If the page cannot be written.
    """
    standing = read_standing(course, assignment, url)
    tally = count(standing, ungraded(course, standing))
    folder = course.root / "reports"
    table(tally, folder / f"{assignment}.csv")
    path = folder / f"{assignment}.html"
    alike: tuple[list[likeness.Pair], str] = ([], "")
    if assignment in catalogue.chapters():  # a project, where each wrote a whole program
        alike = likeness.of_class(
            {
                one.student: notebook
                for one in standing.students
                if (notebook := _handed_in(course, one.student, assignment)).is_file()
            }
        )
    write_atomically(path, page(tally, sandboxed=sandboxed, alike=alike))
    return path


def _handed_in(course: Course, student: str, assignment: str) -> Path:
    return course.submitted / student / assignment / f"{assignment}.ipynb"


def table(tally: Tally, path: Path) -> Path:
    """One row a student: points, each task, and why there is no final score yet.

    Parameters
    ----------
    tally : Tally
    path : Path
        Of the CSV file.
    """
    standing, ungraded = tally.standing, tally.ungraded
    names = list(standing.cells)
    header = ["student", "last name", "first name", "status", "points", "penalty", "score"]
    header += [
        "out of",
        "handed in",
        "waits for",
        "reason",
        *names,
        "seconds",
        "sandbox",
        "release",
        "notes",
        "first cell that failed",
    ]
    rows = []
    strangers = ungraded.keys() - {one.student for one in standing.students}
    for one in (*standing.students, *map(StudentGrades, sorted(strangers))):
        points = {cell.name: None if cell.waits else cell.points for cell in one.cells}
        run = one.run
        status = "not graded" if one.student in ungraded else _status(one)
        who = [one.student, one.last_name, one.first_name, status]
        numbers = [one.points, one.penalty, one.score] if one.submitted else ["", "", ""]
        rows.append(
            [
                *who,
                *numbers,
                standing.out_of,
                one.timestamp or "",
                " ".join(one.waiting),
                run.reason if run else ungraded.get(one.student, ""),
                *(points.get(name) for name in names),
                round(float(run.seconds.get("run", 0.0)), 2) if run else "",
                ("yes" if run.sandboxed else "NO") if run else "",
                run.graded_by if run else "",
                "; ".join(run.notes) if run else "",
                run.failed_cell if run else "",
            ]
        )
    return sheets.write(path, header, rows)


def page(
    tally: Tally,
    *,
    sandboxed: bool = True,
    alike: tuple[list[likeness.Pair], str] = ([], ""),
) -> str:
    """The report as HTML.

    Parameters
    ----------
    tally : Tally
    sandboxed : bool
        See `write`.
    alike : tuple of list of Pair and str
        Of a project, students whose programs are alike, and why none could be compared.
    """
    standing = tally.standing
    runs = [one.run for one in standing.students if one.run]
    return render(
        "report.html",
        assignment=standing.assignment,
        bare=_without_sandbox(standing, sandboxed),
        facts=_facts(tally),
        last_graded=max((run.graded_at for run in runs), default=None),
        releases=sorted({run.graded_by for run in runs if run.graded_by}),
        pictures=_pictures(tally) if tally.graded else None,
        mistakes=tally.mistakes,
        waiting=tally.waiting,
        doubted=tally.doubted,
        failed_cells=tally.failed_cells,
        set_aside=_reasons(tally.set_aside),
        alike=[(pair.one, pair.other, f"{100 * pair.share:.0f} %") for pair in alike[0]],
        not_compared=alike[1],
        changed=[
            (one.student, "; ".join(one.run.notes))
            for one in tally.graded
            if one.run and one.run.notes
        ],
        ungraded=sorted(tally.ungraded.items()),
        failed=_reasons(tally.failed),
        ended_early=[row for row in _reasons(tally.graded) if row[1]],
        slowest=[(one.student, seconds) for one, seconds in slowest(standing, SLOWEST)],
        everybody=[_in_a_row(one) for one in standing.students],
        out_of=standing.out_of,
        most_rows=MOST_ROWS,
    )


def _without_sandbox(standing: ClassStanding, sandboxed: bool) -> str:
    """Whose code ran with the instructor's rights; empty if nobody's."""
    bare = sum(bool(one.run and not one.run.sandboxed) for one in standing.students)
    if bare:
        return f"{bare} of {len(standing.handed_in)} submissions"
    return "" if sandboxed else "Submissions"


def _facts(tally: Tally) -> list[tuple[str, str]]:
    """The numbers at the top of the page, by name."""
    standing = tally.standing
    silent = {o.student for o in standing.students} - {o.student for o in standing.handed_in}
    absent = len(silent - tally.ungraded.keys())
    facts: list[tuple[str, int | str]] = [
        ("handed in", len(standing.handed_in) + len(tally.ungraded))
    ]
    if absent:
        facts.append(("nothing handed in", absent))
    if tally.ungraded:
        facts.append(("not graded", len(tally.ungraded)))
    facts += [
        ("graded", len(tally.graded)),
        ("set aside", len(tally.set_aside)),
        ("failed", len(tally.failed)),
        ("answers that wait", sum(map(len, tally.waiting.values()))),
        ("median", f"{tally.median:g} of {standing.out_of:g}" if tally.graded else "–"),
    ]
    return [(name, str(value)) for name, value in facts]


def _pictures(tally: Tally) -> dict[str, Markup]:
    return {
        "points": points_of_class(tally),
        "tasks": success_of_tasks(tally.tasks),
    }


def _in_a_row(one: StudentGrades) -> dict[str, str]:
    late = f" (late: −{one.penalty:.3g})" if one.penalty else ""
    return {
        "student": one.student,
        "name": " ".join(filter(None, (one.first_name, one.last_name))),
        "score": (f"{one.score:g}" if one.submitted else "–") + late,
        "state": one.unfinished or _status(one),
    }


def _reasons(people: Iterable[StudentGrades]) -> list[tuple[str, str]]:
    return [(one.student, one.run.reason) for one in people if one.run]


def _status(one: StudentGrades) -> str:
    if one.run is not None:
        return one.run.status.value
    return "graded by nbgrader" if one.submitted else "nothing handed in"
