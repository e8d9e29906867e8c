"""Scores leave for other programs: one field filled, every other byte as it was, no formula."""

import csv
import json

import pytest
from classes import NAME, checks, outcome, questions
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from course_lib.cli import app
from course_lib.errors import ConfigError, GradebookUnusable, SheetUnreadable
from course_lib.grading.exporting.export import export
from course_lib.grading.exporting.sheets import Sheet, harmless, number
from course_lib.grading.gradebook.database import database_url
from course_lib.grading.gradebook.record import Recorder
from course_lib.grading.gradebook.standing import standing
from course_lib.grading.outcome import Status


def graded_by_hand(course, student):
    """A person has read every answer of a student."""
    with Gradebook(database_url(course), "averages-to-transformers") as book:
        for name in questions(course):
            grade = book.find_grade(name, NAME, NAME, student)
            grade.manual_score, grade.needs_manual_grade = 1.0, False
        book.db.commit()


@pytest.fixture
def graded(entered):
    """Ada is done, Ben's answer waits, Cem's run failed, Dora handed in nothing."""
    with Recorder(entered) as recorder:
        for student, share in (("lovelace_ada_1234", 1.0), ("ben", 0.5)):
            recorder.record(outcome(entered, student, share, mistake="bias"), "key")
        failed = outcome(entered, "cem", status=Status.FAILED, reason="the machine")
        recorder.record(failed, "key")
    with Gradebook(database_url(entered), "averages-to-transformers") as book:
        book.add_student("dora")
    graded_by_hand(entered, "lovelace_ada_1234")
    collected(entered, "lovelace_ada_1234", "canvas", "1234", "lovelace_ada")
    return entered


def collected(course, student, platform, number, name):
    """The note that `course collect` leaves."""
    path = course.submitted / student / NAME / "collected.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"platform": platform, "number": number, "name": name}))


def points(course):
    return sum(check.points for check in checks(course)) + len(questions(course))


def given(tmp_path, content):
    path = tmp_path / "given.csv"
    path.write_bytes(content.encode("utf-8"))
    return path


def test_nbgraders_table_has_its_columns_and_no_formula(graded):
    with Recorder(graded) as recorder:
        recorder.record(outcome(graded, "=1+1,x", 1.0, written=False), "key")
    done = export(graded, NAME, "nbgrader")
    with done.path.open(newline="") as file:
        found = {row["student_id"]: row for row in csv.DictReader(file)}
    assert list(found["dora"]) == [
        *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
        *("raw_score", "late_submission_penalty", "score", "max_score"),
    ]
    assert float(found["lovelace_ada_1234"]["score"]) == points(graded)
    assert "'=1+1,x" in found
    assert {student for student, _ in done.left} == {"ben", "cem", "dora"}


CANVAS = (
    "\N{ZERO WIDTH NO-BREAK SPACE}Student,ID,SIS User ID,SIS Login ID,Section,"
    "01-averages (77),Final Score\r\n"
    '"    Points Possible",,,,,{most},"(read only)"\r\n'
    '"Lovelace, Ada ""the"" Countess",1234,,ada@x.org,"Two\nlines",,=1+1\r\n'
    "Ben,9,,ben,S1,3, 7 \r\n"
    "Cem,10,cem,,S1,,\r\n"
    "Nobody,11,,,S1,,\r\n"
    '"Student, Test",99,,xyz,S1,,\r\n'
)


def test_canvas_column_is_filled_and_every_other_byte_stays(graded, tmp_path):
    text = CANVAS.replace("{most}", f"{standing(graded, NAME).out_of:g}")
    before = given(tmp_path, text)
    done = export(graded, NAME, "canvas", into=before)
    expected = text.replace('lines",,=1+1', f'lines",{number(points(graded))},=1+1')
    assert done.path.read_bytes() == expected.encode()
    assert before.read_bytes() == text.encode()
    left = dict(done.left)
    assert left["Ben"].startswith("waits for a person")
    assert left["Cem"] == "the run failed: the machine"
    assert "nobody" in left["Nobody"]
    assert done.filled == ["lovelace_ada_1234"]


def test_canvas_counts_out_of_something_else_and_it_is_said(graded, tmp_path):
    done = export(graded, NAME, "canvas", into=given(tmp_path, CANVAS.replace("{most}", "100")))
    share = points(graded) / standing(graded, NAME).out_of
    sheet = Sheet(done.path)
    assert sheet.value(1, 5) == number(100 * share)
    assert "scaled" in done.notes[0]


MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (grade),Feedback comments\n"
    "Participant 55,Ada Lovelace,ada@x.org,Submitted,,{most},Yes,-,\n"
    "Participant 56,Ben,ben@x.org,Submitted,,{most},Yes,-,\n"
    "Participant 57,Kim,kim@x.org,Submitted,,{most},No,-,\n"
)


def test_moodle_worksheet_is_filled_by_its_own_numbers(graded, tmp_path):
    with Recorder(graded) as recorder:
        for student in ("Ada_Lovelace", "Kim"):
            recorder.record(outcome(graded, student, written=False), "key")
    collected(graded, "Ada_Lovelace", "moodle", "55", "Ada Lovelace")
    text = MOODLE.replace("{most}", f"{standing(graded, NAME).out_of:g}")
    done = export(graded, NAME, "moodle", into=given(tmp_path, text))
    full = number(sum(check.points for check in checks(graded)))
    expected = text.replace("Submitted,,", f"Submitted,{full},", 1)
    assert done.path.read_text() == expected
    left = dict(done.left)
    assert "cannot be changed" in left["Participant 57"]
    assert left["Participant 56"].startswith("waits")


def test_gradescope_gets_one_result_a_student_with_what_was_found(graded):
    with Recorder(graded) as recorder:
        recorder.record(outcome(graded, "eve", 0.5, mistake="bias", written=False), "key")
    done = export(graded, NAME, "gradescope")
    result = json.loads((done.path / "eve" / "results.json").read_text())
    assert result["score"] == sum(check.points for check in checks(graded)) / 2
    first = next(t for t in result["tests"] if t["name"] == checks(graded)[0].task)
    assert (first["score"], first["status"]) == (checks(graded)[0].points / 2, "failed")
    assert "You did `bias`." in first["output"]
    assert sorted(path.name for path in done.path.iterdir()) == ["eve", "lovelace_ada_1234"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Student,ID\nAda,1\n", "no column is named '01-averages'"),
        ("Student,ID,01-averages (1),01-averages (2)\nAda,1,,\n", "several columns"),
        ("Student,01-averages (1)\nAda,\n", "no column 'ID'"),
        ("Student,ID,01-averages (1)\n", "no row of a student"),
        ('Student,ID,01-averages (1)\n"Ada,1,\n', "never closed"),
        ("", "no row of a student"),
    ],
)
def test_file_that_is_not_the_platforms_is_refused_and_nothing_written(
    graded, tmp_path, content, words
):
    with pytest.raises(SheetUnreadable, match=words):
        export(graded, NAME, "canvas", into=given(tmp_path, content))
    assert not (graded.root / "exports").exists()


def test_what_is_missing_is_named(graded, tmp_path):
    with pytest.raises(ConfigError, match="--into"):
        export(graded, NAME, "canvas")
    with pytest.raises(ConfigError, match="no format 'blackboard'"):
        export(graded, NAME, "blackboard")
    with pytest.raises(GradebookUnusable, match="not in the gradebook"):
        export(graded, "99-none", "nbgrader")
    path = given(tmp_path, CANVAS)
    with pytest.raises(ConfigError, match="overwritten"):
        export(graded, NAME, "canvas", into=path, out=path)


@pytest.mark.parametrize(
    ("value", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("\t=1", "'\t=1"),
        ("  =1", "'  =1"),
        ("a\nb\r\nc", "a b  c"),
        ("Zoë, the first", "Zoë, the first"),
        (-2.5, -2.5),
        (None, ""),
    ],
)
def test_cells_are_harmless_in_a_spreadsheet(value, safe):
    assert harmless(value) == safe


def test_command_names_who_is_left_and_exits_with_1(graded):
    done = CliRunner().invoke(app, ["export", "01", "--course", str(graded.root)])
    assert done.exit_code == 1
    assert "ben: waits for a person" in " ".join(done.output.split())
    assert f"exports/{NAME}-nbgrader.csv" in done.output.replace("\n", "")
