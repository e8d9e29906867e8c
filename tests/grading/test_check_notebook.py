"""`course check`: a student's notebook runs from the top, and every task is told what was found."""

import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from course_grader import check_notebook
from course_grader.assignment import Assignment
from course_grader.check_as_graded import check_as_graded
from course_grader.course import Course
from course_grader.errors import CellFailedError, NothingToCheckError, UnreadableNotebookError
from course_grader.sandbox import bubblewrap
from course_tasks import verdict

HERE = Course(Path(__file__).parents[2])


def test_verdict_is_read_under_the_name_under_which_it_is_written():
    assert check_notebook.VERDICT == verdict.MEDIA_TYPE


# Every other assignment is tried unfilled and solved in the sandbox, with the same judge.
@pytest.mark.slow
class TestAssignment:
    def test_unfilled_exercise_is_not_attempted_and_shows_no_traceback(self, exercise):
        report = check_notebook.check_notebook(exercise.path)
        assert {result.state for result in report.results} == {"not attempted"}
        assert report.points == 0
        assert report.failures == ()
        assert not any(question.changed for question in report.questions)

    def test_solution_gets_every_point(self, solution):
        checks = Assignment.of(solution.notebook).checks
        report = check_notebook.check_notebook(solution.path)
        assert report.passed, report.results
        assert [(r.task, r.points) for r in report.results] == [(c.task, c.points) for c in checks]
        assert report.failures == ()
        assert all(question.changed for question in report.questions)


def answers_of(book):
    """Grade id of an answer, and what the check below it checks."""
    checks = Assignment.of(book.notebook).checks
    answers = Assignment.of(book.notebook).answers
    return [
        (next(a.grade_id for a in answers if check.answer in a.defines), check) for check in checks
    ]


def ample_seconds():
    """What is enough for any cell that ends, on a machine as busy as this one is now: a notebook's
    longest one imports torch.
    """
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import torch, course_tasks"], check=True)
    return max(8, round(5 * (time.monotonic() - began)))


@pytest.mark.slow
def test_each_thing_that_goes_wrong_is_named_and_stops_nothing_else(exercise, solution):
    """One notebook, one run: another trouble in every task, and the experiment not begun."""
    limit = ample_seconds()
    tasks = answers_of(exercise)
    names = [check.answer for _, check in tasks]
    cells = [exercise.cell(grade_id) for grade_id, _ in tasks]
    unclosed, endless, raising, renamed, _, right = cells[:6]
    unclosed.source = f"def {names[0]}(x:\n    return x"
    endless.source = f"def {names[1]}(*given):\n    while True:\n        pass"
    raising.source = f"1 / 0\ndef {names[2]}(*given):\n    return 1"
    renamed.source = f"def my_{names[3]}(*given):\n    return 1"
    silenced = exercise.cell(tasks[4][1].grade_id)
    silenced.source = f"verdict = {silenced.source}"
    solved = solution.cell(tasks[5][0]).source
    right.source = "import sys\n\n" + solved.replace(
        "### BEGIN SOLUTION", "print('hm', file=sys.stderr)"
    )
    exercise.cells.append(nbformat.v4.new_code_cell("raise ValueError('played')", id="played"))
    path = exercise.save(exercise.path.with_name("mine.ipynb"))
    before = path.read_bytes()

    report = check_notebook.check_notebook(path, cell_seconds=limit)

    first, second, third, fourth, fifth, sixth, experiment = report.results
    assert first.state == third.state == fourth.state == fifth.state == "no verdict"
    assert first.findings[0].what == f"`{names[0]}` is not defined."
    assert "stopped with SyntaxError: '(' was never closed (line 1)" in first.findings[0].effect
    assert second.state == "interrupted"
    assert second.findings[0].what == f"Your answer ran for more than {limit} s and was stopped."
    assert "ZeroDivisionError: division by zero" in third.findings[0].effect
    assert "was it renamed" in fourth.findings[0].effect
    assert fifth.findings[0].what == "This cell shows no verdict."
    assert sixth.passed
    assert "hm" in " ".join(sixth.notes)
    assert experiment.state == "not attempted"
    assert report.points == sixth.points > 0
    assert report.out_of == sum(check.points for _, check in tasks)
    assert not report.passed
    assert "ValueError: played" in str(report.failures[-1])
    assert path.read_bytes() == before, "the student's file is not written"


@pytest.mark.slow
def test_definition_below_its_check_is_named_and_a_copied_check_does_not_count(exercise, solution):
    (below, first), (given, second) = answers_of(solution)[:2]
    exercise.remove(below)
    exercise.cells.append(nbformat.v4.new_code_cell(solution.cell(below).source, id="below"))
    exercise.cell(given).source = solution.cell(given).source
    exercise.cells.append(nbformat.v4.new_code_cell(second.source, id="copied"))
    report = check_notebook.check_notebook(exercise.save())
    assert report.results[0].findings[0].what == f"`{first.answer}` is not defined."
    where = f"Cell {len(exercise.cells) - 1} defines it, below"
    assert where in report.results[0].findings[0].effect
    assert len(report.results) == len(Assignment.of(exercise.notebook).checks) - 1
    assert report.points == second.points


@pytest.mark.slow
def test_missing_imports_are_named_as_such(exercise):
    imports = next(cell for cell in exercise.cells if "import check" in cell.source)
    imports.source = "import nothing_of_the_kind\nfrom course_tasks import check"
    report = check_notebook.check_notebook(exercise.save())
    finding = report.results[0].findings[0]
    assert "not defined" in finding.what
    told = finding.effect + " ".join(map(str, report.failures))
    assert "ModuleNotFoundError: No module named 'nothing_of_the_kind'" in told


@pytest.mark.slow
def test_dead_kernel_is_told_with_its_cell_and_the_rest_is_not_run(exercise):
    grade_id, _ = answers_of(exercise)[0]
    exercise.cell(grade_id).source = "import os\nos._exit(1)"
    report = check_notebook.check_notebook(exercise.save())
    assert "the kernel died in cell" in report.stopped
    assert "`import os`" in report.stopped
    assert {result.findings[0].what for result in report.results} == {"This check was not run."}
    assert not report.passed


@pytest.mark.slow
def test_cell_that_ignores_the_interruption_ends_the_run(tmp_path, monkeypatch):
    """Nothing in this notebook imports torch, so that a second is enough for each cell."""
    monkeypatch.setattr(check_notebook, "SECONDS_TO_STOP", 1.0)
    stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass"
    sources = [stubborn, 'check("01/window", mine)']
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "mine.ipynb")
    report = check_notebook.check_notebook(tmp_path / "mine.ipynb", cell_seconds=1)
    assert "could not be interrupted" in report.stopped
    assert report.results[0].findings[0].what == "This check was not run."


@pytest.fixture(params=["sandbox", "no sandbox"])
def as_graded(request, monkeypatch):
    """Checks a notebook as a grader runs it, on a machine with a sandbox and on one without."""
    if request.param == "no sandbox":
        monkeypatch.setattr(bubblewrap.shutil, "which", lambda name: None)
    return request.param, check_as_graded


@pytest.mark.slow
@pytest.mark.sandbox
def test_check_meets_what_a_graded_run_meets(exercise, solution, as_graded):
    """No text, no network and no experiment; what was noted by hand is right, here as there."""
    where, check = as_graded
    for grade_id, _ in answers_of(exercise):
        exercise.cell(grade_id).source = solution.cell(grade_id).source
    numbers = solution.cell("answer-observed").source
    sources = [
        "from course_lib import data\nassert data.load('shakespeare').name == 'play'",
        "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 9), timeout=5)\n"
        "except OSError as error:\n    assert not isinstance(error, ConnectionRefusedError)\n",
        "assert 'not run again' in str(experiment(lambda corpus: {}, lambda: {}, 'play'))",
    ]
    exercise.cells.extend(
        nbformat.v4.new_code_cell(source, id=f"tried-{n}") for n, source in enumerate(sources)
    )
    report = check(exercise.save())
    assert report.passed, report.results
    assert report.failures == report.remarks == ()
    assert ("in the sandbox" in report.conditions) == (where == "sandbox")
    assert ("bubblewrap is not installed" in report.conditions) == (where != "sandbox")

    exercise.cell("answer-observed").source = (
        f"{numbers}\n\nfrom course_lib import data\nnoted = observed\n"
        "def observed():\n    data.load('shakespeare')\n    return noted()"
    )
    report = check(exercise.save())
    assert report.points == report.out_of - report.results[-1].out_of
    assert "it loads a text" in report.results[-1].findings[0].what


@pytest.mark.slow
@pytest.mark.sandbox
def test_check_names_the_first_cell_that_failed_as_the_grader_does(exercise, solution):
    for grade_id, _ in answers_of(exercise):
        exercise.cell(grade_id).source = solution.cell(grade_id).source
    imports = next(cell for cell in exercise.cells if "import check" in cell.source)
    imports.source = f"import nothing_of_the_kind\n{imports.source}"
    report = check_as_graded(exercise.save(exercise.path.with_name("mine.ipynb")))
    assert report.passed, report.results
    (remark,) = report.remarks
    assert "No module named 'nothing_of_the_kind'" in remark


@pytest.mark.slow
def test_notebook_without_metadata_is_checked_by_its_calls(tmp_path):
    book = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("from course_tasks import check"),
            nbformat.v4.new_code_cell("def mine(*given):\n    raise NotImplementedError"),
            nbformat.v4.new_code_cell('check("01/window", mine)'),
        ]
    )
    nbformat.write(book, tmp_path / "mine.ipynb")
    (result,) = check_notebook.check_notebook(tmp_path / "mine.ipynb").results
    assert (result.task, result.state, result.out_of) == ("01/window", "not attempted", 4.0)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.ipynb", b"", "is empty"),
        ("a.ipynb", b"{", "only a part of one"),
        ("a.ipynb", b"[]", "has no nbformat"),
        ("a.ipynb", b'{"nbformat": "x"}', "has no nbformat"),
        ("a.ipynb", b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "broken notebook"),
        ("a.ipynb", b'{"nbformat": 4, "nbformat_minor": 5, "cells": [{}]}', "broken notebook"),
        ("a.ipynb", b"\xff\xfe\x00", "not UTF-8"),
        (
            "a.ipynb",
            b'{\n "cells": [\n<<<<<<< HEAD\n  1\n=======\n  2\n>>>>>>> 4e2b407\n ]\n}',
            "holds a merge conflict in line 3",
        ),
        ("a.ipynb", b"\n<!DOCTYPE html>\n<html><body>Sign in</body></html>", "is an HTML page"),
        (
            "a.ipynb",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
            "is a large-file pointer",
        ),
        ("a.ipynb", b"%PDF-1.7\n\xe2\xe3", "is a PDF"),
        ("a.ipynb", b"PK\x03\x04\x14\x00\xff", "is a zip archive"),
        ("a.ipynb.txt", b"{", "it is not JSON"),
        ("a.py", b"print(1)", r"its name ends in '\.py'"),
    ],
)
def test_file_that_is_no_notebook_is_refused_with_the_reason(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnreadableNotebookError, match=said):
        check_notebook.check_notebook(tmp_path / name)


def test_missing_file_and_folder_are_named(tmp_path, exercise):
    with pytest.raises(UnreadableNotebookError, match="there is no file"):
        check_notebook.check_notebook(tmp_path / "no.ipynb")
    with pytest.raises(
        UnreadableNotebookError, match=f"give the notebook in it: {exercise.path.name}"
    ):
        check_notebook.check_notebook(exercise.path.parent)


def test_notebook_without_checks_says_where_assignments_are(tmp_path):
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "a.ipynb")
    with pytest.raises(NothingToCheckError, match="exercises/"):
        check_notebook.check_notebook(tmp_path / "a.ipynb")


def test_kernel_that_cannot_be_started_points_to_the_doctor(exercise, monkeypatch):
    monkeypatch.setattr(check_notebook, "KERNEL", "no-such-kernel")
    with pytest.raises(CellFailedError, match="course doctor"):
        check_notebook.check_notebook(exercise.path)
