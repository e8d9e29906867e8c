"""The class report: who made which mistake, what waits, what failed; harmless and alone."""

import csv
import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from classes import NAME, checks, outcome, questions
from nbgrader.api import Gradebook

from course_grader.gradebook.database import database_url
from course_grader.gradebook.record import Recorder
from course_grader.gradebook.standing import standing
from course_grader.outcome import Status
from course_grader.reports import report
from course_grader.reports.tally import count
from course_lib import __version__

EVIL = '=HYPERLINK("x"),<script>alert(1)</script>'


@pytest.fixture
def graded(entered):
    """A class: right, wrong in two named ways, empty, set aside, failed, hostile by name."""
    outcomes = [
        outcome(entered, "right"),
        outcome(entered, "half", 0.5, mistake="forgets the mask", written=False),
        outcome(entered, "none", 0.0, mistake="forgets the mask"),
        outcome(entered, "other", 0.0, mistake="divides twice", seconds={"run": 9.87}),
        outcome(entered, "aside", status=Status.SET_ASIDE, reason="it is not JSON", work=None),
        outcome(entered, "failed", status=Status.FAILED, reason="the sandbox is gone"),
        outcome(entered, EVIL, notes=(f"a note {EVIL}",), reason="ended early <b>"),
    ]
    with Recorder(entered) as recorder:
        for one in outcomes:
            recorder.record(one, "key")
    return entered


@pytest.fixture
def page(graded):
    return report.write(graded, NAME).read_text(encoding="utf-8")


def rows(course):
    with (course.root / "reports" / f"{NAME}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def words(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_mistakes_are_counted_by_student_with_their_sentence(graded, page):
    found = count(standing(graded, NAME)).mistakes
    first = [one for one in found if one.task == checks(graded)[0].task]
    assert [(one.name, one.students) for one in first] == [
        ("forgets the mask", ("half", "none")),
        ("divides twice", ("other",)),
    ]
    assert re.search(r"2 \S+ You did forgets the mask \. See chapter 01", words(page))


def test_empty_answers_are_no_mistakes(entered):
    with Recorder(entered) as recorder:
        one = outcome(entered, "ada", 0.0, mistake="not attempted")
        for task in one.tasks:
            task.verdict["state"] = "not attempted"
        recorder.record(one, "key")
    tally = count(standing(entered, NAME))
    assert tally.mistakes == ()
    (first, *_) = tally.tasks
    assert (first.not_attempted, first.wrong) == (1, 0)


def test_answers_that_different_errors_stopped_are_different_mistakes(entered):
    errors = {
        "one": "Your answer stopped with NameError at `return F.x`.",
        "two": "Your answer stopped with NameError at `return G.x`.",
        "three": "Your answer stopped with TypeError.",
    }
    with Recorder(entered) as recorder:
        for student, what in errors.items():
            said = outcome(entered, student, 0.0, mistake="error")
            said.tasks[0].verdict["findings"][0]["what"] = what
            for task in said.tasks[1:]:
                task.verdict["findings"].clear()
            recorder.record(said, "key")
    found = count(standing(entered, NAME)).mistakes
    assert {one.students: one.sentence for one in found} == {
        ("one", "two"): errors["one"],
        ("three",): errors["three"],
    }


def test_answer_whose_cell_stopped_is_counted_among_the_mistakes_under_its_title(entered):
    reason = "`running_sum` is not defined when the check is reached"
    with Recorder(entered) as recorder:
        recorder.record(outcome(entered, "ada"), "key")
        said = outcome(entered, "ben", 0.0)
        first, second = said.tasks[:2]
        undefined = replace(first, verdict={}, html="", reason=reason)
        ended = replace(second, verdict={}, html="", reason="The run ended before this check.")
        recorder.record(replace(said, tasks=(undefined, ended)), "key")
    (found,) = count(standing(entered, NAME)).mistakes
    assert (found.task, found.students, found.sentence) == (first.task, ("ben",), f"{reason}.")


def test_tasks_say_how_many_had_all_some_and_none_in_the_assignments_order(graded):
    found = count(standing(graded, NAME)).tasks
    released = [check.grade_id for check in checks(graded)]
    assert [one.name for one in found] == [*released, *questions(graded)]
    assert (found[0].right, found[0].partly, found[0].wrong) == (2, 1, 2)
    assert (found[-1].waiting, found[-1].not_attempted) == (4, 1)


def test_what_needs_a_person_or_failed_stands_there_with_its_reason(page):
    said = words(page)
    for reason in ("it is not JSON", "the sandbox is gone", "ended early", "9.87 s"):
        assert reason in said
    assert "Slowest student run other 9.87 s" in said
    assert re.search(rf"{NAME[:0]}written-\S+ 4", said)


def test_page_and_table_say_which_release_graded(graded, page):
    assert f"UTC, by release {__version__} of the course." in words(page)
    assert {row["release"] for row in rows(graded)} == {__version__}


def test_nobody_who_handed_in_is_missing(graded):
    """A name that no gradebook holds, and somebody whose turn has not come."""
    long, late = "x" * 200, "late"
    for student in (long, late, "right"):
        (graded.submitted / student / NAME).mkdir(parents=True)
    with Gradebook(database_url(graded), "averages-to-transformers") as book:
        book.update_or_create_student(late)
        book.update_or_create_student("idle")
    said = words(report.write(graded, NAME).read_text(encoding="utf-8"))
    assert "a gradebook holds 128: rename it" in said
    assert "late not graded yet" in said
    assert "not graded 2" in said
    assert "nothing handed in 1" in said
    assert {row["student"]: row["reason"] for row in rows(graded)}[late] == "not graded yet"
    status = {row["student"]: row["status"] for row in rows(graded)}
    assert (status[long], status[late], status["right"]) == ("not graded", "not graded", "graded")
    assert status["idle"] == "nothing handed in"


def test_page_is_complete_in_itself(page):
    """No script, no request, no tag of a student's; pictures are drawn in the page."""
    seen = []

    class Look(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.append(tag)
            for name, value in attrs:
                assert not name.startswith("on")
                assert name not in ("src", "href", "xlink:href") or value.startswith(("#", "data:"))

    Look().feed(page)
    assert not {"script", "link", "iframe", "object"} & set(seen)
    assert seen.count("svg") == 2
    assert "default-src 'none'" in page
    assert "&lt;script&gt;" in page


def test_name_that_is_markup_is_text_wherever_the_page_says_it(graded):
    """In every list of the page: of mistakes, who was set aside, failed, changed, or is missing."""
    evil = [f"{EVIL}{number}" for number in range(4)]
    with Recorder(graded) as recorder:
        for one in (
            outcome(graded, evil[0], 0.0, mistake=f"{EVIL} `{EVIL}`"),
            outcome(graded, evil[1], status=Status.SET_ASIDE, reason=EVIL, work=None),
            outcome(graded, evil[2], status=Status.FAILED, reason=EVIL),
        ):
            recorder.record(one, "key")
    with Gradebook(database_url(graded), "averages-to-transformers") as book:
        book.update_or_create_student(evil[0], first_name="<b>", last_name='"><img src=x>')
    (graded.submitted / "<script>late<" / NAME).mkdir(parents=True)
    page = report.write(graded, NAME).read_text(encoding="utf-8")
    tags = set()

    class Look(HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.add(tag)

    Look().feed(page)
    assert not tags & {"script", "b", "img"}
    for student in (*evil[:3], "<script>late<", '"><img src=x>'):
        assert student in html.unescape(page)


def test_table_holds_no_formula_and_one_row_a_student(graded, page):
    assert page
    found = rows(graded)
    assert len(found) == len(standing(graded, NAME).students)
    for row in found:
        assert not any(str(cell).startswith(("=", "+", "-", "@")) for cell in row.values())
    evil = next(row for row in found if "HYPERLINK" in row["student"])
    assert evil["student"] == f"'{EVIL}"
    assert "\n" not in evil["notes"]


def test_missing_sandbox_is_said_loudly_and_remembered(graded):
    assert "WITHOUT a sandbox" not in report.write(graded, NAME).read_text()
    assert "WITHOUT a sandbox" in report.write(graded, NAME, sandboxed=False).read_text()
    with Recorder(graded, sandboxed=False) as recorder:
        recorder.record(outcome(graded, "right"), "key")
    page = report.write(graded, NAME).read_text()
    assert "1 of 7 submissions" in words(page)
    assert [row["sandbox"] for row in rows(graded) if row["student"] == "right"] == ["NO"]


def test_hands_and_names_come_from_the_gradebook(graded):
    name = checks(graded)[0].grade_id
    with Gradebook(database_url(graded), "averages-to-transformers") as book:
        book.update_or_create_student("none", first_name="Grace", last_name="-Hopper")
        book.find_grade(name, NAME, NAME, "none").manual_score = 1.25
        book.db.commit()
    report.write(graded, NAME)
    row = next(row for row in rows(graded) if row["student"] == "none")
    assert (row["points"], row["last name"], row[name]) == ("1.25", "'-Hopper", "1.25")


def test_class_in_which_nothing_is_graded_has_a_page_too(entered):
    assert "graded" in words(report.write(entered, NAME).read_text())
    with Recorder(entered) as recorder:
        recorder.record(outcome(entered, "a", status=Status.FAILED, reason="x"), "key")
    assert "nobody's zero" in words(report.write(entered, NAME).read_text())


def test_programs_that_are_alike_are_a_hint_on_the_report_of_a_project(graded, monkeypatch):
    assert "Programs that are alike" not in report.write(graded, NAME).read_text(encoding="utf-8")
    monkeypatch.setattr(report.catalogue, "chapters", lambda: {NAME: "of a project"})
    for student, name in (("half", "scores"), ("none", "numbers")):
        source = f"def program(x):\n    {name} = [x * n + 1 for n in range(9) if n % 2]\n"
        source += f"    return max({name}) if {name} else None\n"
        cell = {"cell_type": "code", "source": [source], "metadata": {}}
        path = graded.submitted / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    told = words(report.write(graded, NAME).read_text(encoding="utf-8"))
    assert "half none 100 %" in told
    assert "a hint and no verdict" in told
