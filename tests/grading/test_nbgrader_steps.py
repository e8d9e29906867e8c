"""Nothing that was handed in is imported, run, rendered or read as configuration, in no step of
nbgrader's that the guide leads to.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from classes import NAME, checks, nbgrader, questions
from hostile_folder import link_out, plant

from course_grader.batch import grade
from course_grader.course import Course
from course_grader.errors import CourseNotFoundError
from course_grader.gradebook.standing import standing

STAMP = "2026-03-01 10:00:00 UTC"


@pytest.fixture
def mark(tmp_path):
    """Exists as soon as something of a student's was run."""
    return tmp_path / "mark"


def submit(course, editable, student, *, solved=True):
    """Hand in the first assignment, with its tasks solved or not."""
    book = editable(course.exercises / NAME / f"{NAME}.ipynb")
    if solved:
        solution = editable(course.solutions / NAME / f"{NAME}.ipynb")
        for name in solution.ids("answer-"):
            book.cell(name).source = solution.cell(name).source
    for name in questions(course):
        book.cell(name).source = "Because."
    path = book.save(course.submitted / student / NAME / f"{NAME}.ipynb")
    (path.parent / "timestamp.txt").write_text(STAMP)
    return path


def points(course, student):
    one = next(one for one in standing(course, NAME).students if one.student == student)
    return {cell.name: cell.points for cell in one.cells if cell.name not in questions(course)}


def full(course):
    return {check.grade_id: check.points for check in checks(course)}


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.slow
@pytest.mark.sandbox
class TestCommands:
    def test_all_steps_leave_a_hostile_folder_unread(self, entered, editable, mark):
        for student in ("ada", "eve"):
            folder = submit(entered, editable, student).parent
        plant(folder, mark)
        nbgrader(entered, "autograde", NAME)
        assert not mark.exists(), mark.read_text()
        for student in ("ada", "eve"):
            assert points(entered, student) == full(entered)
            assert files(entered.autograded / student / NAME) == [f"{NAME}.ipynb", "timestamp.txt"]
        # As older graders left it beside a notebook.
        plant(entered.autograded / "eve" / NAME, mark)
        nbgrader(entered, "generate_feedback", NAME, "--force")
        assert files(entered.feedback / "eve" / NAME) == [f"{NAME}.html"]
        nbgrader(entered, "export", "--to", "grades.csv")
        students = entered.root / "students.csv"
        students.write_text("id,last_name,first_name,email\neve,=cmd(),Eve,e@example.org\n")
        nbgrader(entered, "db", "student", "import", "students.csv")
        nbgrader(entered, "generate_assignment", NAME, "--force")
        assert grade(entered, NAME, jobs=1, force=True).complete
        assert not mark.exists(), mark.read_text()

    def test_no_file_that_is_odd_stops_anyone_or_is_followed(self, entered, editable, tmp_path):
        """One class: notebooks that nobody can read, links that lead out, stamps that are none."""
        unreadable = {"deep": "[" * 10**6, "empty": "", "text": "{"}
        for student, content in unreadable.items():
            submit(entered, editable, student).write_text(content)
        secret = tmp_path / "host" / "secret.txt"
        secret.parent.mkdir()
        secret.write_text("the host's own")
        folder = submit(entered, editable, "linked").parent
        link_out(folder, secret)
        (folder / "timestamp.txt").unlink()
        os.symlink("/dev/zero", folder / "timestamp.txt")
        folder = submit(entered, editable, "stamped").parent
        (folder / "timestamp.txt").write_text("99999999999-99 x" * 10)
        submit(entered, editable, "zoe")
        nbgrader(entered, "autograde", NAME, most_bytes=2**27)
        runs = {one.student: one.run for one in standing(entered, NAME).students}
        for student in unreadable:
            assert runs[student].status.value == "set aside"
        for student in ("linked", "stamped", "zoe"):
            assert points(entered, student) == full(entered)
        assert files(entered.autograded / "linked" / NAME) == [f"{NAME}.ipynb"]


class TestFindingTheCourse:
    """Where a command is run must not decide whose Python it runs."""

    def test_settings_in_a_students_folder_are_not_a_course(self, course, mark):
        folder = course.submitted / "eve" / NAME
        plant(folder, mark)
        for start in (folder, folder / "classic", course.submitted / "eve"):
            with pytest.raises(CourseNotFoundError, match=str(course.root)):
                Course.find(start)
        assert not mark.exists()

    @pytest.mark.parametrize("name", ["submitted", "autograded", "feedback"])
    def test_no_command_works_from_a_students_folder(self, course, name):
        folder = getattr(course, name) / "eve" / NAME
        folder.mkdir(parents=True)
        with pytest.raises(CourseNotFoundError, match="handed in"):
            Course.find(folder)

    def test_folder_that_the_settings_name_is_known_too(self, course):
        path = course.root / "nbgrader_config.py"
        path.write_text(path.read_text() + "\nc.CourseDirectory.submitted_directory = 'inbox'\n")
        folder = course.root / "inbox" / "eve" / NAME
        folder.mkdir(parents=True)
        with pytest.raises(CourseNotFoundError, match="handed in"):
            Course.find(folder)

    def test_class_that_lies_outside_its_course_is_no_course(self, tmp_path, mark):
        folder = tmp_path / "class" / "submitted" / "eve" / NAME
        plant(folder, mark)
        with pytest.raises(CourseNotFoundError, match="handed in"):
            Course.find(folder)
        assert not mark.exists()

    def test_course_inside_a_course_is_ambiguous(self, course):
        inner = course.root / "trial"
        inner.mkdir()
        shutil.copy(course.root / "nbgrader_config.py", inner)
        with pytest.raises(CourseNotFoundError, match="trial"):
            Course.find(inner)

    @pytest.mark.slow
    def test_command_run_in_a_students_folder_runs_nothing_of_it(self, course, mark):
        folder = course.submitted / "eve" / NAME
        plant(folder, mark)
        program = Path(sys.executable).with_name("course")
        for command in (["grade", "01"], ["release", "--check"], ["export", "01"]):
            done = subprocess.run(
                [str(program), *command], cwd=folder, capture_output=True, text=True, check=False
            )
            assert done.returncode == 2, done.stdout + done.stderr
        assert not mark.exists(), mark.read_text()
