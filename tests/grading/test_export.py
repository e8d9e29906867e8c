"""Scores leave for other programs: one field filled, every other byte as it was, no formula."""

import csv
import json

import pytest
from classes import NAME, checks, outcome, questions
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from course_grader.cli import app
from course_grader.errors import GradebookError, NothingToCollectError, UnreadableSheetError
from course_grader.gradebook.database import database_url
from course_grader.gradebook.record import Recorder
from course_grader.gradebook.standing import standing
from course_grader.lms import records
from course_grader.lms.export import export
from course_grader.lms.records import Record
from course_grader.lms.sheets import Sheet, harmless, number
from course_grader.outcome import Status
from course_lib.errors import ConfigError


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
    """What `course collect` notes."""
    known = records.read(course, NAME)
    known[student] = Record(platform=platform, number=number, name=name)
    records.write(course, NAME, known)


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


class TestWhose:
    """A row is filled if it is beyond doubt whose it is; otherwise it is left, and named."""

    @pytest.fixture
    def fill(self, entered, tmp_path):
        """Exports students' shares of the points into Moodle's rows; returns what is in them."""
        out_of = standing(entered, NAME).out_of

        def run(scores, rows, **details):
            with Recorder(entered) as recorder:
                for student, share in scores.items():
                    recorder.record(outcome(entered, student, share, written=False), "key")
            with Gradebook(database_url(entered), "averages-to-transformers") as book:
                for student in scores:
                    book.update_or_create_student(student, **details.get(student, {}))
            head = "Identifier,Full name,Email address,Username,Grade,Maximum Grade"
            lines = [
                f"Participant {number},{name},{mail},{user},,{out_of}"
                for number, name, mail, user in rows
            ]
            table = given(tmp_path, "\n".join([head, *lines, ""]))
            done = export(entered, NAME, "moodle", into=table)
            sheet = Sheet(done.path)
            grades = [sheet.value(row, 4) for row in range(len(rows))]
            full = sum(check.points for check in checks(entered))
            return [round(float(grade) / full, 2) if grade else None for grade in grades], done

        return run

    def test_number_comes_before_a_name_that_another_one_took(self, entered, fill):
        collected(entered, "Ada_Lovelace", "moodle", "55", "Ada Lovelace")
        collected(entered, "Eve", "moodle", "66", "Eve")
        rows = [
            ("66", "Ada Lovelace", "eve@x.org", "eve"),  # she calls herself so now
            ("55", "A. Lovelace", "ada@x.org", "ada"),
        ]
        grades, done = fill({"Ada_Lovelace": 1.0, "Eve": 0.5}, rows)
        assert grades == [0.5, 1.0]
        assert done.left == done.notes == []

    def test_name_that_two_have_is_nobodys(self, entered, fill):
        rows = [("55", "Ada Lovelace", "", ""), ("66", "ada  lovelace", "", "")]
        grades, done = fill({"Ada_Lovelace": 1.0}, rows)
        assert grades == [None, None]
        left = dict(done.left)
        assert "2 rows have the full name of Ada_Lovelace" in left["Participant 55"]
        assert "2 rows" in left["Participant 66"]
        assert "no row that is surely theirs" in left["Ada_Lovelace"]

    def test_name_of_two_students_is_nobodys(self, fill):
        people = {"a1": {"first_name": "Ada", "last_name": "Lovelace"}}
        grades, done = fill(
            {"a1": 1.0, "Ada_Lovelace": 0.5}, [("55", "Ada Lovelace", "", "")], **people
        )
        assert grades == [None]
        assert "fits Ada_Lovelace and a1" in dict(done.left)["Participant 55"]

    def test_student_with_another_number_is_not_found_by_name_or_account(self, entered, fill):
        collected(entered, "Ada_Lovelace", "moodle", "55", "Ada Lovelace")
        people = {"Ada_Lovelace": {"email": "ada@x.org"}}
        rows = [("66", "Ada Lovelace", "", ""), ("67", "", "ada@x.org", "")]
        grades, done = fill({"Ada_Lovelace": 1.0}, rows, **people)
        assert grades == [None, None]
        left = dict(done.left)
        assert "number 55" in left["Participant 66"]
        assert "number 55" in left["Participant 67"]

    def test_account_comes_before_a_name(self, fill):
        people = {"ada": {"email": "Ada@x.org", "first_name": "Eve", "last_name": "Byron"}}
        rows = [("55", "Eve Byron", "eve@x.org", "eve"), ("66", "A. L.", "ada@x.org", "")]
        grades, done = fill({"ada": 1.0}, rows, **people)
        assert grades == [None, 1.0]
        assert "whose row is another one" in dict(done.left)["Participant 55"]

    def test_accounts_that_contradict_each_other_are_nobodys(self, fill):
        people = {"ada": {"email": "ada@x.org"}}
        rows = [("55", "", "ada@x.org", "ben")]
        grades, done = fill({"ada": 1.0, "ben": 0.5}, rows, **people)
        assert grades == [None]
        assert "fits ada and ben" in dict(done.left)["Participant 55"]

    def test_display_name_is_no_user_name_address_or_number(self, entered, fill):
        for name, its_own in (("ben_k", "66"), ("ben@x.org", "67"), ("55", "68")):
            collected(entered, name, "moodle", its_own, name)
        rows = [("55", "Ben", "ben@x.org", "ben_k")]
        grades, done = fill({"ben_k": 1.0, "ben@x.org": 1.0, "55": 1.0}, rows)
        assert grades == [None]
        assert dict(done.left)["Participant 55"]

    def test_match_by_full_name_alone_is_said(self, fill):
        grades, done = fill({"Ada_Lovelace": 1.0}, [("55", "Ada Lovelace", "", "")])
        assert grades == [1.0]
        assert "by the full name alone" in done.notes[0]
        assert "Participant 55 is Ada_Lovelace" in done.notes[0]

    def test_file_in_a_submission_says_nothing(self, entered, fill):
        forged = {"platform": "moodle", "number": "55", "name": "Ada Lovelace"}
        path = entered.submitted / "eve" / NAME / "collected.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(forged))
        grades, done = fill({"eve": 1.0}, [("55", "Ada Lovelace", "", "")])
        assert grades == [None]
        assert "knows nobody" in dict(done.left)["Participant 55"]

    def test_records_that_were_changed_stop_the_export(self, entered, fill):
        path = records.place(entered, NAME)
        path.parent.mkdir(parents=True)
        path.write_text("{")
        with pytest.raises(NothingToCollectError, match="move it away"):
            fill({"eve": 1.0}, [("55", "Ada Lovelace", "", "")])

    def test_canvas_finds_by_its_id_before_a_name(self, entered, tmp_path):
        with Recorder(entered) as recorder:
            recorder.record(outcome(entered, "lovelaceada_1", 1.0, written=False), "key")
        collected(entered, "lovelaceada_1", "canvas", "1", "lovelaceada")
        table = "Student,ID,SIS Login ID,01-averages (7)\nPoints Possible,,,\n"
        table += '"lovelaceada 1",2,lovelaceada_1,\n"King, A.",1,ada,\n'
        done = export(entered, NAME, "canvas", into=given(tmp_path, table))
        sheet = Sheet(done.path)
        assert sheet.value(1, 3) == ""
        assert sheet.value(2, 3)
        assert "whose row is another one" in done.left[0][1]


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
        ("Student,ID,01-averages (1)\n", "no rows of students"),
        ('Student,ID,01-averages (1)\n"Ada,1,\n', "never closed"),
        ("", "no rows of students"),
    ],
)
def test_file_that_is_not_the_platforms_is_refused_and_nothing_written(
    graded, tmp_path, content, words
):
    with pytest.raises(UnreadableSheetError, match=words):
        export(graded, NAME, "canvas", into=given(tmp_path, content))
    assert not (graded.root / "exports").exists()


def test_what_is_missing_is_named(graded, tmp_path):
    with pytest.raises(ConfigError, match="--into"):
        export(graded, NAME, "canvas")
    with pytest.raises(ConfigError, match="no format 'blackboard'"):
        export(graded, NAME, "blackboard")
    with pytest.raises(GradebookError, match="not in the gradebook"):
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
        ("\t=1", "' =1"),
        ("Ada;=1+1", "Ada;'=1+1"),
        ('Ada; "=1+1"', 'Ada;\' "=1+1"'),
        ("Ada;\t-1;;@x", "Ada;' -1;;'@x"),
        ("Ada; Lovelace", "Ada; Lovelace"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\x1b[2JAda\x9b1m", "\N{REPLACEMENT CHARACTER}[2JAda\N{REPLACEMENT CHARACTER}1m"),
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
