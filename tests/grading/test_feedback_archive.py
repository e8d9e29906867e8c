"""Students get their final points, findings and comments back, in the form their platform takes."""

import re
import zipfile

import pytest
from classes import NAME, outcome, questions
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from course_grader.cli import app
from course_grader.gradebook.database import database_url
from course_grader.gradebook.record import Recorder
from course_grader.gradebook.standing import standing
from course_grader.lms import feedback, records
from course_grader.lms.records import Record
from course_grader.outcome import Status
from course_lib import __version__
from course_lib.errors import ConfigError

HOSTILE = "<script>alert(1)</script>"

COLLECTED = {
    "Ada_Lovelace": Record("moodle", "12345", "Ada Lovelace"),
    "ben": Record(),
    "kimlee_77": Record("canvas", "77", "kimlee", late=True, upload=5678),
    "noupload_78": Record("canvas", "78", "noupload"),
    "wait": Record("moodle", "12346", "Wait"),
    "fail": Record("moodle", "12347", "Fail"),
}


@pytest.fixture
def graded(entered):
    """All but two of a class are done; a person has read their answers, and commented."""
    with Recorder(entered) as recorder:
        for student in COLLECTED:
            how = {"status": Status.FAILED, "reason": "the machine"} if student == "fail" else {}
            recorder.record(outcome(entered, student, 0.5, mistake="bias", **how), "key")
    with Gradebook(database_url(entered), "averages-to-transformers") as book:
        for student in COLLECTED.keys() - {"wait", "fail"}:
            for name in questions(entered):
                grade = book.find_grade(name, NAME, NAME, student)
                grade.manual_score, grade.needs_manual_grade = 1.0, False
                comment = book.find_comment(name, NAME, NAME, student)
                comment.manual_comment = f"Well argued. {HOSTILE}"
        book.db.commit()
    records.write(entered, NAME, COLLECTED)
    return entered


def pages(path):
    with zipfile.ZipFile(path) as archive:
        return {info.filename: archive.read(info).decode() for info in archive.infolist()}


def taken_by_moodle(name):
    """The participant whom Moodle finds in a name: the first four parts are its own."""
    parts = name.split("_", 4)
    assert len(parts) == 5
    assert parts[2:4] == ["assignsubmission", "file"]
    return int(parts[1])


def taken_by_canvas(name):
    """User and file that Canvas finds in a name: the first two parts that are numbers."""
    numbers = [part for part in name.split("_") if re.fullmatch(r"\d+", part)]
    return int(numbers[0]), int(numbers[1])


def test_moodle_finds_the_participant_in_each_name(graded):
    done = feedback.write(graded, NAME, "moodle")
    assert [taken_by_moodle(name) for name in pages(done.path)] == [12345]
    left = dict(done.left)
    assert "from Canvas" in left["kimlee_77"]
    assert "from a folder" in left["ben"]
    assert left["wait"].startswith("waits for a person")
    assert left["fail"] == "the run failed: the machine"


def test_canvas_finds_user_and_file_in_each_name(graded):
    done = feedback.write(graded, NAME, "canvas")
    assert [taken_by_canvas(name) for name in pages(done.path)] == [(77, 5678)]
    assert "SpeedGrader" in dict(done.left)["noupload_78"]


def test_folders_are_for_everybody_who_is_done(graded):
    done = feedback.write(graded, NAME, "folders")
    made = {path.parent.name for path in done.path.rglob("*.html")}
    assert made == COLLECTED.keys() - {"wait", "fail"} == set(done.done)


def test_page_has_points_of_hand_and_judge_findings_comment_and_release(graded):
    (page,) = pages(feedback.write(graded, NAME, "moodle").path).values()
    found = {one.student: one for one in standing(graded, NAME).students}["Ada_Lovelace"]
    assert f"<strong>{found.score:g} of" in page
    assert "given by a person" in page
    assert "You did <code>bias</code>." in page
    assert "What to read again" in page
    assert "Well argued." in page
    assert HOSTILE not in page
    assert f"by release {__version__} of the course" in page
    assert "http" not in page.replace("http-equiv", "")


def test_sections_are_links_where_the_book_is_published(graded, monkeypatch):
    about = feedback.about_class(graded, NAME)
    found = feedback.About(about.title, about.questions, about.chapters, "https://book.example/x")
    from course_grader.reports.student_page import reading_of

    reading = reading_of("chapter 01, “The mean of the past”", found)
    assert reading.address == ("https://book.example/x/book/01-averages.html#the-mean-of-the-past")
    assert reading_of("chapter 01", found).address == ""


def test_same_pages_make_the_same_archive(graded):
    first = feedback.write(graded, NAME, "moodle").path.read_bytes()
    assert feedback.write(graded, NAME, "moodle").path.read_bytes() == first


def test_command_says_who_is_left_and_where_it_is(graded):
    def run(*more):
        return CliRunner().invoke(
            app,
            ["feedback", "01", "--course", str(graded.root), *more],
            env={"COLUMNS": "200"},
        )

    done = run("--for", "moodle")
    assert done.exit_code == 1
    assert "1 page is in exports/01-averages-feedback-moodle.zip" in done.output
    assert "ben: collected from a folder" in done.output
    done = run("--for", "blackboard")
    assert (done.exit_code, "there are moodle, canvas, folders" in done.output) == (2, True)


def test_place_of_another_kind_is_left_alone(graded, tmp_path):
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(ConfigError, match="is a file"):
        feedback.write(graded, NAME, "folders", out=tmp_path / "kept")
    assert (tmp_path / "kept").read_text() == "mine"
