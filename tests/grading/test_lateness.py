"""Being late is counted from the platform's times, and nothing has to be graded for it."""

import unicodedata
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from classes import NAME, checks, outcome
from nbgrader.api import Assignment
from traitlets.config import Config
from typer.testing import CliRunner

from course_grader import lateness
from course_grader.cli import app
from course_grader.errors import UnreadableSheetError
from course_grader.gradebook.database import gradebook
from course_grader.gradebook.late_policy import PercentPerDay, seconds_late
from course_grader.gradebook.record import Recorder
from course_grader.gradebook.standing import standing
from course_grader.lms import records
from course_grader.lms.records import Record
from course_grader.reports.student_page import lateness as said_of
from course_lib.errors import ConfigError

DUE = datetime(2026, 3, 1, 9)
SETTINGS = """
c.CourseGrade.due = {"01": "2026-03-01 10:00 +01:00"}
c.PercentPerDay.percent_per_day = 10
c.PercentPerDay.grace_minutes = 15
"""


@pytest.mark.parametrize(
    ("hours", "percent"),
    [(0.2, 0), (0.25, 0), (0.3, 10), (24, 10), (24.1, 20), (72, 30), (2400, 50)],
)
def test_each_day_begun_costs_its_share_after_the_grace_and_up_to_the_most(hours, percent):
    policy = PercentPerDay(percent_per_day=10, grace_minutes=15, most_percent=50)
    assert policy.percent(hours * 3600) == percent
    taken = policy.late_submission_penalty("ada", 20.0, hours * 3600)
    assert taken == (pytest.approx(20 * percent / 100) if percent else None)


@pytest.mark.parametrize(
    ("zone", "due", "handed_in", "days"),
    [
        # Clocks are put back on 25 October: the day that began at 20:00 has 25 hours.
        ("Europe/Berlin", "2026-10-24 18:00", "2026-10-25 18:30", 1),
        ("Europe/Berlin", "2026-10-24 18:00", "2026-10-25 19:30", 2),
        ("UTC", "2026-10-24 18:00", "2026-10-25 18:30", 2),
        # And forward on 29 March, when it has 23.
        ("Europe/Berlin", "2026-03-28 19:00", "2026-03-29 18:30", 2),
        ("Europe/Berlin", "2026-03-28 19:00", "2026-03-29 17:30", 1),
        ("America/New_York", "2026-03-28 19:00", "2026-03-29 18:30", 1),
        # A minute late stays a minute late, when an hour is counted twice.
        ("Europe/Berlin", "2026-10-25 00:30", "2026-10-25 01:10", 1),
    ],
)
def test_days_are_those_of_the_courses_clocks(zone, due, handed_in, days):
    late = seconds_late(*map(datetime.fromisoformat, (due, handed_in)), ZoneInfo(zone))
    assert PercentPerDay(percent_per_day=10).percent(late) == 10 * days


def test_time_zone_of_the_settings_is_the_one_that_counts(handed_in):
    configure(
        handed_in,
        'c.CourseGrade.due = {"01": "2026-10-24 20:00 +02:00"}\n'
        'c.CourseGrade.extensions = ""\n'
        'c.CourseGrade.timezone = "Europe/Berlin"\n',
    )
    stamp = handed_in.submitted / "ben" / NAME / "timestamp.txt"
    stamp.write_text("2026-10-25 18:30 UTC")
    settle(handed_in)
    assert of(handed_in)["ben"].penalty == pytest.approx(0.1 * full(handed_in))


def test_time_zone_that_there_is_none_of_is_an_error(handed_in):
    configure(handed_in, 'c.CourseGrade.timezone = "Europe/Berlim"\n')
    with pytest.raises(ConfigError, match="Europe/Berlim"):
        settle(handed_in)


def test_extension_is_found_however_accents_are_stored(handed_in):
    decomposed = unicodedata.normalize("NFD", "Zoë")
    (handed_in.submitted / "ben").rename(handed_in.submitted / "Zoë")
    extend(handed_in, f"{decomposed},01,2026-03-05 10:00 +01:00")
    assert settle(handed_in).strangers == ()


def test_nothing_is_taken_until_a_course_says_how_much():
    assert PercentPerDay().late_submission_penalty("ada", 20.0, 1e6) is None
    assert PercentPerDay().in_words() == ""


@pytest.fixture
def handed_in(entered):
    """Ada is in time, Ben a day and a half late, Cem as late and extended; of Dee nobody knows."""
    times = {
        "ada": DUE,
        "ben": DUE + timedelta(hours=36),
        "cem": DUE + timedelta(hours=36),
        "dee": None,
    }
    with Recorder(entered) as recorder:
        for student, time in times.items():
            folder = entered.submitted / student / NAME
            folder.mkdir(parents=True)
            (folder / f"{NAME}.ipynb").write_text("{}")
            recorder.record(outcome(entered, student), "key")
            if time:
                (folder / "timestamp.txt").write_text(f"{time} UTC")
    configure(entered, SETTINGS + 'c.CourseGrade.extensions = "extensions.csv"\n')
    extend(entered, "cem,01,2026-03-03 10:00 +01:00")
    return entered


def configure(course, lines):
    path = course.root / "nbgrader_config.py"
    path.write_text(path.read_text() + lines)
    course.__dict__.pop("settings", None)


def extend(course, *lines):
    path = course.root / "extensions.csv"
    path.write_text("\n".join(["student,assignment,until", *lines]) + "\n")


def settle(course):
    with Recorder(course) as recorder:
        return lateness.settle(recorder, NAME)


def of(course):
    return {one.student: one for one in standing(course, NAME).students}


def full(course):
    return sum(check.points for check in checks(course))


def test_policy_is_applied_to_what_was_graded_before(handed_in):
    before = {name: one.run.graded_at for name, one in of(handed_in).items()}
    settled = settle(handed_in)
    found = of(handed_in)
    assert found["ben"].penalty == pytest.approx(0.2 * full(handed_in))
    assert {name: one.penalty for name, one in found.items() if name != "ben"} == {
        "ada": 0,
        "cem": 0,
        "dee": 0,
    }
    assert (found["cem"].due, found["cem"].late) == (DUE + timedelta(days=2), timedelta())
    assert {name: one.run.graded_at for name, one in found.items()} == before
    assert settled.changed == ("ada", "ben", "cem")
    assert settle(handed_in).changed == ()


def test_what_is_changed_back_costs_nothing_again(handed_in):
    settle(handed_in)
    extend(handed_in, "ben,01-averages,2026-03-09 10:00 +01:00")
    assert settle(handed_in).changed == ("ben", "cem")
    found = of(handed_in)
    assert (found["ben"].penalty, found["cem"].extension) == (0, None)
    assert found["cem"].penalty == pytest.approx(0.2 * full(handed_in))


def test_student_is_named_by_the_platforms_number_too(handed_in):
    records.write(handed_in, NAME, {"ben": Record("moodle", "12345", "Ben")})
    extend(handed_in, "Participant 12345,01,2026-03-09 10:00 +01:00", "zoe,01,2026-03-09 10:00 UTC")
    assert settle(handed_in).strangers == ("zoe",)
    assert of(handed_in)["ben"].penalty == 0


def test_date_of_formgrader_counts_where_the_settings_have_none(handed_in):
    configure(handed_in, "c.CourseGrade.due = {}\n")
    with gradebook(handed_in) as book:
        book.db.query(Assignment).filter_by(name=NAME).one().duedate = DUE
        book.db.commit()
    settle(handed_in)
    assert of(handed_in)["ben"].late == timedelta(hours=36)


def test_students_are_told_what_it_cost_and_why(handed_in):
    settle(handed_in)
    rule = "10 % of the points earned for each day begun, after 15 minutes of grace"
    found = of(handed_in)
    words = said_of(found["ben"], rule)
    assert "1 day 12 hours late" in words
    assert f"{found['ben'].penalty:.3g} of {full(handed_in):g} points" in words
    assert rule in words
    assert "extended by 2 days): in time." in said_of(found["cem"], rule)
    assert said_of(found["dee"], rule) == ""


def test_command_shows_who_was_late_and_names_strangers(handed_in):
    extend(handed_in, "cem,01,2026-03-03 10:00 +01:00", "zoe,01,2026-03-09 10:00 UTC")
    done = CliRunner().invoke(
        app, ["late", "01", "--course", str(handed_in.root)], env={"COLUMNS": "200"}
    )
    assert done.exit_code == 1, done.output
    assert "1 late; 3 changed" in done.output
    assert "zoe has an extension" in done.output
    assert (handed_in.root / "reports" / f"{NAME}.html").is_file()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ben,01,2026-03-09", "does not say its time zone"),
        ("ben,01,soon", "'soon' is not a time"),
        ("ben,77,2026-03-09 10:00 UTC", "line 2: there is no assignment '77'"),
        (",01,2026-03-09 10:00 UTC", "line 2: no student is named"),
        ("ben,01,2026-02-01 10:00 UTC", "before it is due for everybody"),
        ("ben,01,2026-03-09 10:00 UTC\nben,01,2026-03-10 10:00 UTC", "twice"),
    ],
)
def test_table_of_extensions_that_is_wrong_is_named_and_changes_nothing(handed_in, line, said):
    extend(handed_in, line)
    with pytest.raises(UnreadableSheetError, match=said):
        settle(handed_in)
    assert of(handed_in)["ben"].penalty == 0


def test_table_that_is_missing_or_of_other_columns_is_named(handed_in):
    (handed_in.root / "extensions.csv").write_text("who,when\nben,later\n")
    with pytest.raises(UnreadableSheetError, match="no column assignment and no column student"):
        settle(handed_in)
    (handed_in.root / "extensions.csv").unlink()
    with pytest.raises(UnreadableSheetError, match=r"c\.CourseGrade\.extensions"):
        settle(handed_in)


@pytest.mark.parametrize(
    ("due", "said"),
    [
        ({"77": "2026-03-01 10:00 UTC"}, "there is no assignment '77'"),
        ({"01": "2026-03-01 10:00"}, "does not say its time zone"),
        ({}, "which has no due date"),
    ],
)
def test_due_date_that_is_wrong_is_named(handed_in, due, said):
    handed_in.settings.merge(Config({"CourseGrade": {"due": due}}))
    with pytest.raises(ConfigError, match=said):
        settle(handed_in)
