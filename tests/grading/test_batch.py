"""A class is graded once, whatever interrupts it, and no submission stops another's."""

import os
import re
import shutil
import threading

import nbformat
import pytest
from graded_class import NAME, command, full, points

from course_grader import grade_one
from course_grader.assignment import Assignment, read
from course_grader.batch import grade
from course_grader.course import Course
from course_grader.errors import AlreadyGradingError
from course_grader.gradebook.standing import standing
from course_grader.outcome import Status
from course_grader.release import release
from course_grader.reports.pages import places
from course_grader.submission_worker import WITHOUT_SANDBOX
from course_grader.submissions import submissions
from course_tasks.runner.limits import Limits

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


def test_second_run_grades_only_what_changed(class_of, editable):
    course = class_of("ada", "ben")
    assert len(grade(course, NAME).outcomes) == 2
    again = grade(course, NAME)
    assert (again.outcomes, again.unchanged) == ([], ["ada", "ben"])
    shutil.rmtree(course.feedback / "ada")
    assert [one.student for one in grade(course, NAME).outcomes] == ["ada"]
    shutil.rmtree(course.autograded)
    assert {one.student for one in grade(course, NAME).outcomes} == {"ada", "ben"}
    assert all(path.is_file() for one in submissions(course, NAME) for path in places(course, one))
    solved = editable(course.solutions / NAME / f"{NAME}.ipynb")
    solved.save(course.submitted / "ben" / NAME / f"{NAME}.ipynb")
    third = grade(course, NAME)
    assert [(o.student, o.points) for o in third.outcomes] == [("ben", full(course))]
    other = grade(course, NAME, limits=Limits(cell_seconds=50), students=["ada"])
    assert [one.student for one in other.outcomes] == ["ada"]
    assert len(grade(course, NAME, force=True).outcomes) == 2


def test_what_was_not_run_in_a_sandbox_says_so_and_is_run_again_in_one(class_of):
    course = class_of("ada")
    feedback = command(course, "01", "--no-sandbox")
    assert feedback.exit_code == 0
    assert "Without a sandbox" in feedback.output
    (bare,) = standing(course, NAME).students
    assert bare.points == full(course)
    assert WITHOUT_SANDBOX in bare.run.notes
    assert "without a sandbox" in (course.feedback / "ada" / NAME / f"{NAME}.html").read_text()
    (boxed,) = grade(course, NAME).outcomes
    assert boxed.notes == ()


def test_second_grader_is_told_who_holds_the_course(class_of):
    course = class_of("ada")
    said = []

    def other(outcome, done, count):
        with pytest.raises(AlreadyGradingError) as error:
            grade(Course(course.root), NAME)
        said.append(str(error.value))

    thread = threading.Thread(target=lambda: grade(course, NAME, progress=other))
    thread.start()
    thread.join()
    assert said
    assert f"process {os.getpid()} on " in said[0]
    assert grade(course, NAME).unchanged == ["ada"]


def test_class_on_postgresql_is_graded_by_one_grader_at_a_time(class_of, postgres, tmp_path):
    course = class_of("ada", "ben")
    release(course, NAME, gradebook=True, url=postgres)
    elsewhere = Course(shutil.copytree(course.root, tmp_path / "other machine"))
    said = []

    def other(outcome, done, count):
        with pytest.raises(AlreadyGradingError) as error:
            grade(elsewhere, NAME, url=postgres)
        said.append(str(error.value))

    summary = grade(course, NAME, url=postgres, progress=other)
    assert summary.complete
    assert f"process {os.getpid()} on " in said[0]
    given = {one.student: one.points for one in standing(course, NAME, postgres).students}
    assert given == {"ada": full(course), "ben": 0.0}
    assert grade(course, NAME, url=postgres).unchanged == ["ada", "ben"]
    assert grade(elsewhere, NAME, url=postgres, force=True).complete
    assert points(course) == {}, "SQLite's file holds the assignment and no grades"


def test_odd_names_are_graded_and_impossible_ones_are_named(class_of):
    odd = [" ", "..a", "=1+1", 'a,b"c', "<b>x<", "Zoë 李", "-rf", "%s{0}", "a" * 128]
    impossible = ["\udcff", "b" * 129]
    course = class_of(*odd, *impossible)
    summary = grade(course, NAME)
    outcomes = {one.student: one for one in summary.outcomes}
    assert {one for one in odd if outcomes[one].status is Status.GRADED} == set(odd)
    assert set(points(course)) == set(odd)
    for name in impossible:
        assert outcomes[name].status is Status.FAILED
        assert "rename it" in outcomes[name].reason
    assert not summary.complete


def test_fault_of_the_grader_over_one_submission_is_nobodys_zero_and_stops_nobody(
    class_of, monkeypatch
):
    course = class_of("ada", "ben", "cem")
    real = grade_one.job_of

    def faulty(one, *rest):
        if one.student == "ben":
            raise ZeroDivisionError("of the grader")
        return real(one, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(grade_one, "job_of", faulty)
        summary = grade(course, NAME)
    status = {one.student: one.status for one in summary.outcomes}
    assert status == {"ada": Status.GRADED, "ben": Status.FAILED, "cem": Status.GRADED}
    assert set(points(course)) == {"ada", "cem"}
    assert [one.student for one in grade(course, NAME).outcomes] == ["ben"]
    assert set(points(course)) == {"ada", "ben", "cem"}


@pytest.mark.parametrize("address", ["", "https://book.example/course"])
def test_feedback_links_to_the_published_book_and_to_nothing_else(class_of, address):
    course = class_of("ada")
    settings = course.root / "nbgrader_config.py"
    settings.write_text(f"{settings.read_text()}\nc.CourseGrade.book = {address!r}\n")
    path = course.submitted / "ada" / NAME / f"{NAME}.ipynb"
    notebook = read(path)
    assignment = Assignment.of(notebook)
    for check in assignment.checks:
        cell = notebook.cells[assignment.answer_to(check).number - 1]
        cell.source = f"def {check.answer}(x, *rest, **named):\n    return x"
    nbformat.write(notebook, path)
    grade(Course(course.root), NAME)
    page = (course.root / "feedback" / "ada" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"]*)"', page)
    assert re.search(r"See (<a [^>]*>)?chapter 01, “", page)
    assert all(link.startswith(f"{address}/book/01-averages.html#") for link in links)
    assert bool(links) == bool(address)
