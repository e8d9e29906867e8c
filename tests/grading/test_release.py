"""Exercises are what release makes of solutions, and nothing that cannot be graded is released."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from course_grader.assignment import Assignment
from course_grader.cli import app
from course_grader.course import Course
from course_grader.errors import (
    CourseNotFoundError,
    FaultyAssignmentError,
    GradebookError,
    UnreadableNotebookError,
)
from course_grader.gradebook.record import Recorder
from course_grader.release import differences, orphans, release
from course_lib.errors import ConfigError
from course_tasks import catalogue

HERE = Course(Path(__file__).parents[2])
FIRST = "01-averages"
STUB = "raise NotImplementedError  # replace this line with your answer"


def exercise_of(course, name):
    return course.exercises / name / f"{name}.ipynb"


def test_there_is_an_assignment_for_every_chapter_that_has_tasks():
    chapters = set(catalogue.chapters())
    assert {"01", "my-gpt"} <= chapters
    assert {catalogue.chapter_of(name) for name in HERE.assignments} == chapters


@pytest.mark.parametrize("name", HERE.assignments)
def test_exercises_are_what_release_makes_of_the_solution(name):
    assert differences(HERE, name) == []


def test_no_exercises_are_left_without_a_solution():
    assert orphans(HERE) == []


@pytest.mark.parametrize("name", HERE.assignments)
def test_released_notebook_holds_no_answer_and_no_output(name):
    released = nbformat.read(exercise_of(HERE, name), as_version=4)
    solved = nbformat.read(HERE.solutions / name / f"{name}.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in released.cells)
    before, after = Assignment.of(solved), Assignment.of(released)
    assert before.answers
    for answer in before.answers:
        body = answer.source.partition("### BEGIN SOLUTION\n")[2].partition("### END")[0]
        assert body.strip()
        assert body not in text
    for question in before.questions:
        assert question.source not in text
    assert all(STUB in answer.source for answer in after.answers)
    assert all(question.source == "YOUR ANSWER HERE" for question in after.questions)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in released.cells)


@pytest.mark.parametrize("name", HERE.assignments)
def test_released_checks_cannot_be_edited_and_keep_their_points(name):
    released = nbformat.read(exercise_of(HERE, name), as_version=4)
    solved = nbformat.read(HERE.solutions / name / f"{name}.ipynb", as_version=4)
    checks = Assignment.of(released).checks
    assert [(c.task, c.points) for c in checks] == [
        (c.task, c.points) for c in Assignment.of(solved).checks
    ]
    for check in checks:
        metadata = released.cells[check.number - 1].metadata
        assert (metadata.editable, metadata.deletable) == (False, False)


def test_release_makes_the_same_bytes_again_and_says_that_nothing_changed(course):
    path = exercise_of(course, FIRST)
    kept = path.read_bytes()
    path.unlink()
    assert release(course, FIRST) == [path]
    assert path.read_bytes() == kept
    assert release(course, FIRST) == []


def test_release_leaves_no_gradebook(course):
    release(course, FIRST)
    assert not list(course.root.glob("gradebook*"))


@pytest.mark.slow
def test_gradebook_that_is_named_knows_the_released_tasks(course, monkeypatch, tmp_path):
    """An address is read from where the command is given, as that of `course grade` is."""
    monkeypatch.chdir(tmp_path)
    url = "sqlite:///other.db"
    with pytest.raises(GradebookError, match=r"--gradebook --db sqlite:///other\.db"):
        Recorder(course, url)
    done = CliRunner().invoke(app, ["release", "01", "--db", url, "--course", str(course.root)])
    assert done.exit_code == 0, done.output
    assert not (course.root / "gradebook.db").exists()
    assert differences(course, FIRST) == []
    with Recorder(course, url) as recorder:
        recorder.prepare(FIRST)
        with pytest.raises(GradebookError, match=r"release 05-head --gradebook --db sqlite"):
            recorder.prepare("05-head")
    with Gradebook(url, "averages-to-transformers") as book:
        graded = {
            cell.name: cell.max_score for cell in book.find_notebook(FIRST, FIRST).grade_cells
        }
    notebook = Assignment.of(nbformat.read(exercise_of(course, FIRST), as_version=4))
    assert graded == {
        part.grade_id: part.points for part in (*notebook.checks, *notebook.questions)
    }


@pytest.mark.slow
def test_nbgraders_own_command_makes_the_same_exercise(course):
    path = exercise_of(course, FIRST)
    kept = path.read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", FIRST, "--force"],
        cwd=course.root,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == kept


class TestDifferences:
    def test_edited_exercise_is_found(self, course, exercise):
        exercise.cells[0].source += "\nMore."
        exercise.save()
        assert [(one.path, one.what) for one in differences(course, FIRST)] == [
            (exercise.path, "differs")
        ]

    def test_changed_solution_is_found(self, course, solution):
        solution.cells[0].source += "\nMore."
        solution.save()
        assert [one.what for one in differences(course, FIRST)] == ["differs"]

    def test_missing_exercise_is_found(self, course, exercise):
        exercise.path.unlink()
        assert [one.what for one in differences(course, FIRST)] == ["missing"]

    def test_file_without_a_source_is_found_and_removed(self, course):
        stale = course.exercises / FIRST / "old.csv"
        stale.write_text("1")
        assert [(one.path, one.what) for one in differences(course, FIRST)] == [
            (stale, "has no solution")
        ]
        assert release(course, FIRST) == [stale]
        assert not stale.exists()

    def test_assignment_without_a_solution_is_found(self, course):
        (course.exercises / "99-gone").mkdir()
        (course.exercises / "99-gone" / "99-gone.ipynb").write_text("{}")
        assert [one.path.name for one in orphans(course)] == ["99-gone"]

    def test_what_editors_and_python_leave_behind_is_no_difference(self, course):
        for place in (course.exercises / FIRST, course.solutions / FIRST):
            for trace in (".ipynb_checkpoints/x.ipynb", "__pycache__/x.pyc", ".DS_Store"):
                (place / trace).parent.mkdir(exist_ok=True)
                (place / trace).write_text("x")
        assert differences(course, FIRST) == []

    def test_files_beside_the_notebook_are_released_with_it(self, course):
        (course.solutions / FIRST / "rows.csv").write_text("1,2\n")
        release(course, FIRST)
        assert (course.exercises / FIRST / "rows.csv").read_text() == "1,2\n"


def without_points(book):
    del book.cell(book.ids("check-")[0]).metadata.nbgrader["points"]


def with_no_worth(book):
    book.cell(book.ids("check-")[0]).metadata.nbgrader["points"] = 0


def with_other_points(book):
    book.cell(book.ids("check-")[0]).metadata.nbgrader["points"] += 1


def without_a_region(book):
    cell = book.cell(book.ids("answer-")[0])
    cell.source = "\n".join(line for line in cell.source.splitlines() if "SOLUTION" not in line)


def with_an_open_region(book):
    cell = book.cell(book.ids("answer-")[0])
    cell.source = cell.source.replace("### END SOLUTION", "")


def with_a_region_within_a_region(book):
    cell = book.cell(book.ids("answer-")[0])
    cell.source = cell.source.replace("### END", "### BEGIN SOLUTION\n    ### END")


def with_an_end_alone(book):
    cell = book.cell(book.ids("answer-")[0])
    cell.source = cell.source.replace("### BEGIN SOLUTION", "")


def with_a_region_outside_of_answers(book):
    book.cells.append(
        nbformat.v4.new_code_cell("### BEGIN SOLUTION\nx = 1\n### END SOLUTION", id="outside")
    )


def without_a_check(book):
    book.remove(book.ids("check-")[0])


def without_a_task(book):
    book.remove(book.ids("check-")[0])
    book.remove(book.ids("answer-")[0])


def without_an_answer(book):
    book.remove(book.ids("answer-")[0])


def with_an_answer_that_is_not_marked(book):
    del book.cell(book.ids("answer-")[0]).metadata["nbgrader"]


def with_a_repeated_id(book):
    first, second, *_ = book.ids("answer-")
    book.cell(second).metadata.nbgrader["grade_id"] = first


def with_no_id(book):
    book.cell(book.ids("answer-")[0]).metadata.nbgrader["grade_id"] = ""


def with_a_task_checked_twice(book):
    book.repeat(book.ids("check-")[0]).metadata.nbgrader["grade_id"] = "check-again"


def with_an_unknown_task(book):
    cell = book.cell(book.ids("check-")[0])
    cell.source = cell.source.replace('", ', 'x", ')


def with_a_task_of_another_chapter(book):
    cell = book.cell(book.ids("check-")[0])
    cell.source = cell.source.replace('"01/', '"98/')


def with_a_check_that_is_not_graded(book):
    del book.cell(book.ids("check-")[0]).metadata["nbgrader"]


def with_a_check_that_does_more(book):
    book.cell(book.ids("check-")[0]).source += "\nprint(1)"


def with_an_unpaid_question(book):
    book.cell(book.ids("written-")[0]).metadata.nbgrader["points"] = 0


def with_a_solution_told_in_a_hint(book):
    body = book.cell(book.ids("answer-")[0]).source.partition("### BEGIN SOLUTION\n")[2]
    telling = max(body.splitlines(), key=len)
    book.cells[0].source += f"\n\n{telling.strip()}"


def with_a_model_answer_told_above(book):
    answer = max(book.cell(book.ids("written-")[0]).source.splitlines(), key=len)
    book.cells[0].source += f"\n{answer}"


def with_hidden_tests_left_open(book):
    book.cell(book.ids("check-")[0]).source = "### BEGIN HIDDEN TESTS\n1"


def with_a_signature_in_the_region(book):
    cell = book.cell(book.ids("answer-")[0])
    lines = [line for line in cell.source.splitlines() if "BEGIN SOLUTION" not in line]
    cell.source = "\n".join([*lines[:1], "### BEGIN SOLUTION", *lines[1:]])


def with_a_picture_of_the_answer(book):
    book.cell(book.ids("written-")[0])["attachments"] = {"a.png": {"image/png": "AAAA"}}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (without_points, "check-.* has no points"),
        (with_no_worth, "check-.* has no points"),
        (with_other_points, r"has \d+ points, but the parts of '01/.*' are worth \d+"),
        (without_a_region, "answer-.* has no solution region"),
        (with_an_open_region, "marks that do not match: BEGIN SOLUTION;"),
        (with_a_region_within_a_region, "marks that do not match"),
        (with_an_end_alone, "marks that do not match: END SOLUTION;"),
        (with_a_region_outside_of_answers, "not marked as a solution"),
        (without_a_check, "answer-.* has no check"),
        (without_a_task, "task '01/.*' has no check in the notebook"),
        (without_an_answer, "which no answer cell above it defines"),
        (with_an_answer_that_is_not_marked, "not marked as a solution"),
        (with_a_repeated_id, "grade_id 'answer-.*' is given to 2 cells"),
        (with_no_id, "have no grade_id"),
        (with_a_task_checked_twice, "is checked 2 times"),
        (with_an_unknown_task, "there is no task .*; did you mean '01/"),
        (with_a_task_of_another_chapter, "a task of another chapter than 01"),
        (with_a_check_that_is_not_graded, "calls `check` but is not graded"),
        (with_a_check_that_does_more, "is graded but is not one call"),
        (with_an_unpaid_question, "graded by hand and has no points"),
        (with_a_solution_told_in_a_hint, "holds a line of the solution in cell"),
        (with_a_model_answer_told_above, "holds a line of the solution in cell"),
        (with_hidden_tests_left_open, "is graded but is not one call"),
        (with_a_signature_in_the_region, "is not valid Python without its solution"),
        (with_a_picture_of_the_answer, "keeps a picture of the model answer"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_release_refuses_a_solution_and_says_why(course, solution, exercise, spoil, said):
    before = exercise.path.read_bytes()
    spoil(solution)
    solution.save()
    with pytest.raises(FaultyAssignmentError, match=said):
        release(course, FIRST)
    assert exercise.path.read_bytes() == before


def test_every_fault_is_named_at_once(course, solution):
    without_a_region(solution)
    with_an_unpaid_question(solution)
    solution.save()
    with pytest.raises(FaultyAssignmentError, match=r"(?s)no solution region.*no points"):
        release(course, FIRST)


def test_solution_that_is_no_notebook_is_named(course, solution):
    solution.path.write_text("{")
    with pytest.raises(UnreadableNotebookError, match="only a part of one"):
        release(course, FIRST)


class TestCourse:
    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("c.CourseGrade.jobs = (", "SyntaxError: '(' was never closed"),
            ("1 / 0", "ZeroDivisionError: division by zero"),
            ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ],
    )
    def test_settings_that_cannot_be_read_are_named_with_the_line(self, course, line, said):
        file = course.root / "nbgrader_config.py"
        file.write_text(f"c = get_config()\n\n{line}\n")
        with pytest.raises(ConfigError, match=re.escape(f"line 3 of {file}: {said}")):
            _ = course.exercises

    def test_is_found_from_inside(self, course):
        assert Course.find(course.solutions / FIRST).root == course.root

    def test_folder_without_one_says_what_is_missing(self, tmp_path):
        with pytest.raises(CourseNotFoundError, match=r"nbgrader_config\.py"):
            Course.find(tmp_path)

    def test_beginning_of_a_name_is_enough(self, course):
        assert course.assignment("01") == FIRST
        assert course.assignment(f"solutions/{FIRST}/") == FIRST

    def test_beginning_that_fits_several_names_them(self, course):
        with pytest.raises(CourseNotFoundError, match=f"can be {FIRST} or .*03-text"):
            course.assignment("0")

    def test_unknown_assignment_names_the_nearest(self, course):
        with pytest.raises(CourseNotFoundError, match=f"did you mean '{FIRST}'"):
            course.assignment("01-avarages")
