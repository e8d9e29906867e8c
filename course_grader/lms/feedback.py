"""Pages of feedback in the form in which a learning platform takes them back.

Moodle's *Upload multiple feedback files in a zip* looks at the beginning of each name, and Canvas's
*Upload Submissions* at the two numbers in it: both have to be those that the platform itself wrote
around the submission. So what `course collect` noted decides; nothing is guessed.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from course_grader.assignment import Assignment, read
from course_grader.atomic import write_atomically
from course_grader.course import Course
from course_grader.errors import UnreadableNotebookError
from course_grader.gradebook.standing import StudentGrades, standing
from course_grader.lms import records
from course_grader.lms.records import Record
from course_grader.options import CourseGrade
from course_grader.reports.student_page import About, page
from course_lib.errors import ConfigError

FORMS = ("moodle", "canvas", "folders")

# A zip's entries have a time; a fixed one makes the same archive of the same pages.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass
class FedBack:
    """What was written for students.

    Attributes
    ----------
    path : Path
        The archive, or the folder of folders.
    done : list of str
        Students whose page is in it.
    left : list of (str, str)
        Students whose page is not, and why.
    """

    path: Path
    done: list[str] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)


def write(
    course: Course,
    assignment: str,
    form: str,
    *,
    out: Path | None = None,
    url: str | None = None,
) -> FedBack:
    """Write every student's page of feedback, for a platform or as folders.

    Parameters
    ----------
    course : Course
    assignment : str
        Its full name.
    form : str
        One of `FORMS`.
    out : Path, optional
        What is written; in `exports/` by default.
    url : str, optional
        Of the gradebook.

    Raises
    ------
    ConfigError
        If there is no such form, or a folder stands where the archive belongs.
    NothingToCollectError
        If what `course collect` noted was changed.
    GradebookError, NotWrittenError
    """
    if form not in FORMS:
        raise ConfigError(f"there is no form {form!r}; there are {', '.join(FORMS)}")
    found = standing(course, assignment, url)
    target = out or course.root / "exports" / f"{assignment}-feedback-{form}"
    if out is None and form != "folders":
        target = target.with_name(f"{target.name}.zip")
    if target.is_dir() != (form == "folders") and target.exists():
        kind = "a folder" if target.is_dir() else "a file"
        raise ConfigError(f"{target} is {kind}: name another place with --out, or move it away")
    about = about_class(course, assignment)
    known = records.read(course, assignment)
    done = FedBack(target)
    pages: dict[str, str] = {}
    for one in found.handed_in:
        name, why = _named(one, known.get(one.student, Record()), form, assignment)
        if one.unfinished or not name:
            done.left.append((one.student, one.unfinished or why))
            continue
        pages[name] = page(one, found, about)
        done.done.append(one.student)
    if form == "folders":
        for name, text in pages.items():
            write_atomically(target / name, text)
    else:
        write_atomically(target, _zipped(pages))
    return done


def about_class(course: Course, assignment: str) -> About:
    """What the pages of a class have in common."""
    title, questions = assignment, dict[str, str]()
    try:
        released = read(course.exercises / assignment / f"{assignment}.ipynb")
    except UnreadableNotebookError:  # the points are in the gradebook all the same
        pass
    else:
        questions = {one.grade_id: one.title for one in Assignment.of(released).questions}
        heads = (cell.source for cell in released.cells if cell.cell_type == "markdown")
        first = next(heads, "").splitlines()
        title = first[0].lstrip("# ") if first else assignment
    chapters = tuple(course.assignments)
    book = CourseGrade.of(course).book
    return About(title, questions, chapters, book, _policy(course))


def _policy(course: Course) -> str:
    from course_grader.gradebook.late_policy import PercentPerDay
    from course_grader.gradebook.record import late_plugin

    plugin = late_plugin(course)
    return plugin.in_words() if isinstance(plugin, PercentPerDay) else ""


def _named(one: StudentGrades, record: Record, form: str, assignment: str) -> tuple[str, str]:
    """Where a student's page stands in the archive; or nothing, and why it cannot."""
    file = f"{assignment}-feedback.html"
    if form == "folders":
        return f"{one.student}/{file}", ""
    if record.platform != form:
        from_where = f"from {record.platform.capitalize()}" if record.platform else "from a folder"
        return "", f"collected {from_where}: {form.capitalize()} does not say whose number it has"
    if form == "moodle":
        if not record.number:
            return "", "Moodle wrote no participant's number around it: hand the page over yourself"
        return f"{record.name}_{record.number}_assignsubmission_file_/{file}", ""
    if not record.number or not record.upload:
        return "", "Canvas knows no file of this student's: attach the page in SpeedGrader"
    late = "LATE_" if record.late else ""
    return f"{record.name}_{late}{record.number}_{record.upload}_{file}", ""


def _zipped(pages: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(pages.items()):
            info = zipfile.ZipInfo(name, _NO_TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, text.encode("utf-8", "replace"))
    return data.getvalue()
