"""The gradebook: all or nothing, hands and penalties respected, errors in words."""

import contextlib
import sqlite3
import threading
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sql
from classes import NAME, checks, outcome, questions
from nbgrader.api import Assignment, Grade, Gradebook
from traitlets.config import Config

from course_grader.course import Course
from course_grader.errors import GradebookError
from course_grader.gradebook import record, runs
from course_grader.gradebook.database import database_url, gradebook, without_password
from course_grader.gradebook.record import Recorder
from course_grader.gradebook.standing import standing
from course_grader.outcome import Status
from course_grader.release import release
from course_lib import __version__


def of(course, student, url=None):
    return next(one for one in standing(course, NAME, url).students if one.student == student)


def put(course, *outcomes, key="key", timestamp=None, **settings):
    with Recorder(course, **settings) as recorder:
        for one in outcomes:
            recorder.record(one, key, timestamp)


def by_hand(course, student, name, score):
    """What formgrader does when a person enters a score."""
    with Gradebook(database_url(course), "averages-to-transformers") as book:
        grade = book.find_grade(name, NAME, NAME, student)
        grade.manual_score = score
        grade.needs_manual_grade = False
        book.db.commit()


def test_points_and_what_waits_are_as_nbgrader_would_leave_them(entered):
    put(entered, outcome(entered, "ada"), outcome(entered, "ben", 0.5, written=False))
    ada, ben = of(entered, "ada"), of(entered, "ben")
    full = sum(check.points for check in checks(entered))
    assert (ada.points, ben.points) == (full, full / 2)
    assert list(ada.waiting) == questions(entered)
    assert ben.waiting == ()


def test_score_set_by_hand_survives_regrading_and_asks_to_be_looked_at(entered):
    name = checks(entered)[0].grade_id
    put(entered, outcome(entered, "ada", 0.0))
    by_hand(entered, "ada", name, 1.5)
    put(entered, outcome(entered, "ada", 1.0), key="other")
    cell = next(cell for cell in of(entered, "ada").cells if cell.name == name)
    assert (cell.points, cell.by_hand, cell.waits) == (1.5, True, True)


def test_run_that_failed_leaves_the_grades_and_is_tried_again(entered):
    put(entered, outcome(entered, "ada"))
    put(entered, outcome(entered, "ada", status=Status.FAILED, reason="the machine"), key="new")
    ada = of(entered, "ada")
    assert ada.points == sum(check.points for check in checks(entered))
    assert ada.run.status is Status.FAILED
    with Recorder(entered) as recorder:
        assert recorder.keys(NAME) == {}


def test_failed_first_run_is_nobodys_zero(entered):
    put(entered, outcome(entered, "ada", status=Status.FAILED, reason="the machine"))
    ada = of(entered, "ada")
    assert not ada.submitted
    assert ada.unfinished == "the run failed: the machine"


def test_what_is_set_aside_waits_with_every_cell(entered):
    put(entered, outcome(entered, "ada"))
    put(entered, outcome(entered, "ada", status=Status.SET_ASIDE, reason="broken", work=None))
    ada = of(entered, "ada")
    assert set(ada.waiting) == set(standing(entered, NAME).cells)
    assert ada.unfinished == "set aside: broken"


def test_code_that_only_a_person_grades_waits(entered):
    """A graded cell without a task of the course is not a zero."""
    one = outcome(entered, "ada")
    missing = one.tasks[0].grade_id
    put(entered, type(one)(**{**vars(one), "tasks": one.tasks[1:]}))
    assert missing in of(entered, "ada").waiting


def test_submission_is_written_as_a_whole_or_not_at_all(entered, monkeypatch):
    put(entered, outcome(entered, "ada", 0.0))
    before = of(entered, "ada")

    def broken(*_, **__):
        raise RuntimeError("killed")

    monkeypatch.setattr(runs, "note", broken)
    with pytest.raises(RuntimeError, match="killed"):
        put(entered, outcome(entered, "ada", 1.0), outcome(entered, "ben"))
    assert of(entered, "ada") == before
    assert "ben" not in {one.student for one in standing(entered, NAME).students}


def test_cells_added_after_a_first_grading_get_their_grades(entered):
    put(entered, outcome(entered, "ada"))
    with gradebook(entered) as book:
        row = book.find_grade(checks(entered)[0].grade_id, NAME, NAME, "ada")
        book.db.delete(row)
        book.db.commit()
    put(entered, outcome(entered, "ada"))
    assert len(of(entered, "ada").cells) == len(standing(entered, NAME).cells)


@pytest.mark.parametrize("late", [True, False])
def test_late_penalty_is_nbgraders_and_never_more_than_the_score(entered, late, monkeypatch):
    plugin = entered.root / "mercy.py"
    plugin.write_text(
        "from nbgrader.plugins import LateSubmissionPlugin\n"
        "class Mercy(LateSubmissionPlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
        "        return 1.0 if student_id == 'ada' else 1000.0\n"
    )
    monkeypatch.syspath_prepend(str(entered.root))
    entered.settings.merge(Config({"AssignLatePenalties": {"plugin_class": "mercy.Mercy"}}))
    due = datetime(2026, 3, 1)
    with gradebook(entered) as book:
        book.db.query(Assignment).filter_by(name=NAME).one().duedate = due
        book.db.commit()
    handed_in = due + timedelta(hours=1 if late else -1)
    put(entered, outcome(entered, "ada"), outcome(entered, "ben"), timestamp=handed_in)
    full = sum(check.points for check in checks(entered))
    assert of(entered, "ada").score == full - late
    assert of(entered, "ben").score == full * (not late)
    assert of(entered, "ben").penalty == full * late


def test_odd_text_is_stored(entered):
    reason = "NUL \0, half a pair \ud800, and long " + "x" * 10_000
    put(entered, outcome(entered, "ada", reason=reason, notes=("\ud800\0",)))
    assert of(entered, "ada").run.reason.startswith("NUL \N{REPLACEMENT CHARACTER}")
    assert len(of(entered, "ada").run.reason) < 3000


def test_each_result_says_which_release_graded_it(entered):
    put(entered, outcome(entered, "ada"))
    assert of(entered, "ada").run.graded_by == __version__


def test_gradebook_of_a_release_that_did_not_say_it_is_read_and_goes_on(entered):
    put(entered, outcome(entered, "ada"))
    with contextlib.closing(sqlite3.connect(entered.root / "gradebook.db")) as older:
        older.execute("alter table course_runs drop column graded_by")
        older.commit()
    assert of(entered, "ada").run.graded_by == ""
    put(entered, outcome(entered, "ben"))
    assert of(entered, "ben").run.graded_by == __version__


def test_hand_has_to_look_again_unless_the_work_is_known_to_be_the_same(entered):
    put(entered, outcome(entered, "ada"))
    (question, *_) = questions(entered)
    for same, waits in ((True, False), (False, True)):
        with gradebook(entered) as book:
            grade = book.find_grade(question, NAME, NAME, "ada")
            grade.manual_score, grade.needs_manual_grade = 3.0, False
            book.db.commit()
        with Recorder(entered) as recorder:
            recorder.record(outcome(entered, "ada"), "key", same_work=same)
        (cell,) = (cell for cell in of(entered, "ada").cells if cell.name == question)
        assert (cell.points, cell.waits) == (3.0, waits)


class TestUnusable:
    def test_no_gradebook_names_the_command_and_makes_none(self, entered):
        (entered.root / "gradebook.db").unlink()
        with pytest.raises(GradebookError, match="course release"):
            Recorder(entered)
        assert not (entered.root / "gradebook.db").exists()

    def test_file_that_is_no_database_is_named(self, entered):
        (entered.root / "gradebook.db").write_text("no database " * 1000)
        with pytest.raises(
            GradebookError, match=r"not a database.*your last copy.*run `course grade`"
        ):
            Recorder(entered)

    def test_database_of_another_program_is_left_alone(self, entered):
        path = entered.root / "gradebook.db"
        path.unlink()
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute("create table songs (title)")
            other.commit()
        before = path.read_bytes()
        with pytest.raises(GradebookError, match="not a gradebook, it holds: songs"):
            Recorder(entered)
        assert path.read_bytes() == before

    def test_older_schema_names_nbgraders_remedy(self, entered):
        with contextlib.closing(sqlite3.connect(entered.root / "gradebook.db")) as book:
            book.execute("alter table grade drop column extra_credit")
            book.commit()
        with pytest.raises(GradebookError, match=r"grade lacks extra_credit.*nbgrader db upgrade"):
            Recorder(entered)

    def test_assignment_changed_since_is_named(self, entered, editable):
        book = editable(entered.exercises / NAME / f"{NAME}.ipynb")
        name = checks(entered)[0].grade_id
        book.cell(name).metadata.nbgrader.points = 99
        book.save()
        with Recorder(entered) as recorder, pytest.raises(GradebookError, match=name):
            recorder.prepare(NAME)

    def test_assignment_that_was_never_entered_is_named(self, entered):
        with Recorder(entered) as recorder, pytest.raises(GradebookError, match="02-x is not"):
            recorder.record(
                type(outcome(entered, "ada"))("ada", "02-x", Status.SET_ASIDE), "key", None
            )

    def test_full_disk_loses_nothing_and_says_so(self, entered):
        put(entered, outcome(entered, "ada"))
        with Recorder(entered) as recorder:
            pages = recorder.book.db.execute(sql.text("pragma page_count")).scalar()
            recorder.book.db.execute(sql.text(f"pragma max_page_count = {pages}"))

            def whole_class():
                for number in range(200):
                    recorder.record(outcome(entered, f"s{number}"), "key")

            with pytest.raises(GradebookError, match=r"full.*Make room"):
                whole_class()
        assert of(entered, "ada").points == sum(check.points for check in checks(entered))

    def test_writer_beside_is_waited_for(self, entered, monkeypatch):
        monkeypatch.setattr(record, "SECONDS_BETWEEN", 0.1)
        other = sqlite3.connect(entered.root / "gradebook.db", check_same_thread=False)
        with Recorder(entered) as recorder:
            recorder.book.db.execute(sql.text("pragma busy_timeout = 1"))
            recorder.book.db.commit()
            other.execute("begin immediate")
            release_later = threading.Timer(0.3, other.rollback)
            release_later.start()
            recorder.record(outcome(entered, "ada"), "key")
            release_later.join()
        other.close()
        assert of(entered, "ada").submitted

    def test_address_that_is_none_and_password_are_not_shown(self, entered):
        with pytest.raises(GradebookError, match="An address looks like"):
            Recorder(entered, "gradebook")
        assert without_password("postgresql://me:secret@host/db") == "postgresql://me:***@host/db"


@pytest.mark.slow
def test_postgresql_by_address_does_all_of_it(entered, postgres):
    with pytest.raises(GradebookError, match="is empty"):
        Recorder(entered, postgres)
    config = entered.root / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}\nc.CourseDirectory.db_url = {postgres!r}\n")
    course = Course(entered.root)
    release(course, NAME, gradebook=True)
    odd = outcome(course, "Ada =1+1, <b>", 0.5, mistake="bias", reason="NUL \0")
    put(course, odd, outcome(course, "ben"), timestamp=datetime(2026, 3, 1))
    by_hand(course, "ben", checks(course)[0].grade_id, 0.5)
    put(course, outcome(course, "ben"), key="again")
    with Recorder(course) as recorder:
        recorder.prepare(NAME)
        assert recorder.keys(NAME) == {"Ada =1+1, <b>": "key", "ben": "again"}
    ada, ben = of(course, "Ada =1+1, <b>"), of(course, "ben")
    full = sum(check.points for check in checks(course))
    assert ada.points == full / 2
    assert ben.points == full - checks(course)[0].points + 0.5
    assert ada.findings[0].verdict["findings"][0]["name"] == "bias"
    with gradebook(course) as book:
        assert book.db.bind.dialect.name == "postgresql"
        assert book.db.query(Grade).count() == 2 * len(standing(course, NAME).cells)


def test_whole_class_is_read_with_few_questions(entered):
    """What the report and every export read does not ask the database once a student or cell."""
    asked = []

    def count(connection, cursor, statement, *_):
        if statement.lstrip().lower().startswith("select"):
            asked.append(statement)

    def asked_of(students):
        put(entered, *(outcome(entered, f"s{number}") for number in range(students)))
        asked.clear()
        sql.event.listen(sql.Engine, "before_cursor_execute", count)
        try:
            stands = standing(entered, NAME)
        finally:
            sql.event.remove(sql.Engine, "before_cursor_execute", count)
        assert len(stands.students) == students
        return list(asked)

    few = asked_of(2)
    assert asked_of(20) == few
    assert len([one for one in few if "sqlite_master" not in one]) < 10
