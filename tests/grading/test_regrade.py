"""Nothing of a regrading is written before somebody has agreed; test_term.py regrades a class."""

import pytest
from classes import outcome
from typer.testing import CliRunner

from course_grader import regrade
from course_grader.cli import app
from course_grader.gradebook.standing import Cell, Finding, StudentGrades
from course_grader.regrade import Difference


class Found:
    """A trial that has run, and remembers whether it was written."""

    differences = (Difference("ada", 3.0, 5.0, (("check-x", 0.0, 2.0),), ("check-y",)),)
    unchanged, failed = ("ben",), ()
    left_out = ("worker w3: it has torch 2.9.1",)
    written = 0

    def __init__(self, *_, **__):
        type(self).written = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def write(self):
        type(self).written += 1


@pytest.mark.parametrize(
    ("more", "code", "written"), [([], 2, 0), (["--dry-run"], 0, 0), (["--yes"], 0, 1)]
)
def test_without_anybody_to_ask_nothing_is_written_unless_it_is_said(
    entered, monkeypatch, more, code, written
):
    monkeypatch.setattr(regrade, "Trial", Found)
    done = CliRunner().invoke(
        app, ["regrade", "01", "--course", str(entered.root), *more], env={"COLUMNS": "200"}
    )
    assert (done.exit_code, Found.written) == (code, written), done.output
    assert "gains" in done.output
    assert "check-x 0 → 2" in done.output
    assert "Left out: worker w3: it has torch 2.9.1" in done.output
    assert "check-y: points given by hand stay" in done.output


def test_machine_that_fails_on_somebody_is_said_and_changes_nothing_of_theirs(entered, monkeypatch):
    class Failing(Found):
        differences, failed = (), (("cem", "the machine"),)

    monkeypatch.setattr(regrade, "Trial", Failing)
    done = CliRunner().invoke(app, ["regrade", "01", "--course", str(entered.root), "--yes"])
    assert (done.exit_code, Failing.written) == (1, 0)
    assert "cem: the machine" in done.output


def test_student_who_handed_nothing_in_is_named_and_nothing_is_left_behind(entered):
    before = set(entered.root.iterdir())
    done = CliRunner().invoke(
        app, ["regrade", "01", "--student", "zoe", "--course", str(entered.root)]
    )
    assert done.exit_code == 2
    assert "no submission of zoe" in " ".join(done.output.split())
    assert {path for path in entered.root.iterdir() if "lock" not in path.name} == before


def test_points_of_a_hand_are_kept_and_named_where_the_judge_says_otherwise(entered):
    now = outcome(entered, "ada", 0.0)
    (first, second, *_) = now.tasks
    before = StudentGrades(
        "ada",
        cells=(
            Cell(first.grade_id, 2.0, 4.0, False, True),
            Cell(second.grade_id, 4.0, 4.0, False, False),
        ),
        findings=tuple(
            Finding(task.grade_id, task.task, task.out_of, task.out_of, {}, "")
            for task in now.tasks
        ),
    )
    after = StudentGrades(
        "ada",
        cells=(
            Cell(first.grade_id, 2.0, 4.0, False, True),
            Cell(second.grade_id, 0.0, 4.0, False, False),
        ),
    )
    found = regrade.difference(before, after, now)
    assert found.kept == (first.grade_id,)
    assert found.tasks == ((second.grade_id, 4.0, 0.0),)
    assert (found.before, found.after) == (6.0, 2.0)
