"""What is kept of a student can be deleted, and a class can be given away without names."""

import json

import pytest
from classes import NAME, outcome
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from course_grader.cli import app
from course_grader.errors import GradebookError, StudentNotFoundError
from course_grader.gradebook.database import database_url
from course_grader.gradebook.record import Recorder
from course_grader.gradebook.standing import standing
from course_grader.lms import records
from course_grader.lms.records import Record
from course_grader.privacy import anonymize, forget, traces, without_words
from course_lib.errors import ConfigError

WHO = "ada_lovelace_4711"


@pytest.fixture
def graded(entered):
    """Two students with everything that a term leaves of them."""
    with Recorder(entered) as recorder:
        for student in (WHO, "ben"):
            recorder.record(
                outcome(entered, student, 0.5, mistake="bias", reason=f"by {student}"), "key"
            )
    with Gradebook(database_url(entered), "averages-to-transformers") as book:
        book.update_or_create_student(WHO, last_name="Lovelace", first_name="Ada")
    answer = "def strict_past_mean(x):\n    '''By Ada'''\n    return x  # Ada"
    cell = {
        "cell_type": "code",
        "source": answer,
        "outputs": [],
        "execution_count": None,
        "id": "a",
    }
    cell["metadata"] = {
        "nbgrader": {"grade": False, "solution": True, "grade_id": "answer-past-mean"}
    }
    page = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})
    for student in (WHO, "ben"):
        for folder in (entered.submitted, entered.autograded, entered.feedback):
            (folder / student / NAME).mkdir(parents=True)
            (folder / student / NAME / f"{NAME}.ipynb").write_text(page)
        (entered.submitted / ".replaced" / student / f"{NAME}.1").mkdir(parents=True)
    records.write(entered, NAME, {WHO: Record("moodle", "5", "Ada Lovelace"), "ben": Record()})
    (entered.root / "exports").mkdir()
    (entered.root / "exports" / "old.csv").write_text(f"student\n{WHO}\n")
    (entered.root / "exports" / "other.csv").write_text("student\nben\n")
    (entered.root / "reports").mkdir()
    (entered.root / "reports" / f"{NAME}.html").write_text(WHO)
    return entered


def holding(course, *words):
    return {
        path.relative_to(course.root).as_posix()
        for path in course.root.rglob("*")
        if path.is_file() and any(word.encode() in path.read_bytes() for word in words)
    }


def test_nothing_of_a_forgotten_student_is_left_but_what_is_named(graded):
    assert len(holding(graded, WHO)) >= 3
    found = forget(graded, WHO)
    assert found.mentioned == (graded.root / "exports" / "old.csv",)
    # The notebooks of the test say "Ada" for everybody; the id is this student's alone.
    assert holding(graded, WHO, "Lovelace") == {"exports/old.csv"}
    assert not list(graded.root.rglob(WHO))
    assert {one.student for one in standing(graded, NAME).students} == {"ben"}
    assert (graded.submitted / "ben" / NAME / f"{NAME}.ipynb").is_file()
    assert records.read(graded, NAME).keys() == {"ben"}


def test_nobody_is_forgotten_by_a_name_that_is_nearly_right(graded):
    before = {path for path in graded.root.rglob("*") if "lock" not in path.name}
    for name in ("ada_lovelace", "", "..", f"../submitted/{WHO}", ".collected/../ben"):
        with pytest.raises(StudentNotFoundError):
            forget(graded, name)
    with pytest.raises(StudentNotFoundError, match=f"did you mean {WHO}"):
        traces(graded, "ada_lovelace")
    assert {path for path in graded.root.rglob("*") if "lock" not in path.name} == before


def test_command_asks_and_a_dry_run_deletes_nothing(graded):
    def run(*more):
        return CliRunner().invoke(
            app, ["forget", WHO, "--course", str(graded.root), *more], env={"COLUMNS": "200"}
        )

    for more, code in ((["--dry-run"], 0), ([], 2)):
        done = run(*more)
        assert done.exit_code == code, done.output
        assert f"autograded/{WHO}/" in done.output
        assert traces(graded, WHO).in_gradebook
    done = run("--yes")
    assert (done.exit_code, "exports/old.csv" in done.output) == (1, True)
    assert run("--yes").exit_code == 2


def test_anonymous_copy_names_nobody(graded, tmp_path):
    done = anonymize(graded, tmp_path / "given", [NAME, "02-affinities"], answers=True)
    assert (done.students, done.assignments) == (2, (NAME,))
    text = "".join(path.read_text() for path in done.path.iterdir())
    assert not any(word in text for word in (WHO, "ben", "Ada", "Lovelace", "2026-"))
    points = (done.path / "points.csv").read_text().splitlines()
    cells = standing(graded, NAME).cells
    assert len(points) == 1 + 2 * len(cells)
    assert {line.split(",")[1] for line in points[1:]} == {"student-0001", "student-0002"}
    assert "bias" in (done.path / "findings.csv").read_text()
    code = json.loads((done.path / "answers.jsonl").read_text().splitlines()[0])
    assert code["code"] == 'def strict_past_mean(x):\n    """"""\n    return x'


def test_folder_that_holds_something_and_a_class_of_nobody_are_refused(graded, tmp_path):
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(ConfigError, match="is there already"):
        anonymize(graded, tmp_path, [NAME])
    with pytest.raises(GradebookError, match="nothing to write"):
        anonymize(graded, tmp_path / "new", ["02-affinities"])


def test_table_of_an_instructor_that_names_the_student_is_named(graded):
    tables = {
        "roster.csv": "first name,last name\nAda,Lovelace\n",
        "times.csv": f"student,submitted\n{WHO},2026-03-01 10:00 UTC\n",
        "moodle.csv": "Full name\nAda Lovelace\n",
        "other.csv": "student\nben\n",
    }
    for name, text in tables.items():
        (graded.root / name).write_text(text)
    named = {path.name for path in forget(graded, WHO).mentioned}
    assert named >= {"roster.csv", "times.csv", "moodle.csv"}
    assert "other.csv" not in named


def test_names_that_a_student_chose_are_numbered_in_answers(graded, tmp_path):
    for page in graded.autograded.rglob("*.ipynb"):
        page.write_text(
            page.read_text().replace("return x", "adas_mean = x.mean(0)\\n    return adas_mean")
        )
    anonymize(graded, tmp_path / "given", [NAME], answers=True)
    code = (tmp_path / "given" / "answers.jsonl").read_text()
    assert "def strict_past_mean(x)" in code
    assert "name_1 = x.mean(0)" in code
    assert "ada" not in code.lower()


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("import ada_lib.x as torch", "import name_1.x as torch"),
        ("from ada_lib import x as ada", "from name_1 import x as name_2"),
        ("class Ada(x):\n    def ada(self, *, lovelace=1):\n        self.ada = lovelace", None),
        ("def x(ada):\n    global lovelace\n    return x(lovelace=ada.ada)", None),
        ("try:\n    x\nexcept x as ada:\n    ada.lovelace()", None),
        ("match x:\n    case {'a': ada, **lovelace}:\n        x = [ada for lovelace in x]", None),
    ],
)
def test_every_kind_of_name_is_numbered_or_public(source, given):
    found = without_words(source, frozenset(("x", "torch", "self")))
    assert "ada" not in found.lower()
    assert "lovelace" not in found.lower()
    assert given is None or found == given


def test_no_text_of_an_answer_is_given_away():
    assert without_words('f(f"Ada {x}", b"Ada", "Ada")  # Ada') == "f('', b'', '')"
    assert without_words("def (") == ""
