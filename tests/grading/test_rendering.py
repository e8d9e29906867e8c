"""Pages come from templates in which everything is text, except what was drawn or judged here."""

import re
from html.parser import HTMLParser

import pytest
from classes import NAME, checks, outcome, questions, ran, work
from jinja2 import UndefinedError
from nbformat.v4 import new_output

from course_grader.outcome import Status, TaskOutcome
from course_grader.reports.feedback import feedback, verdict_html
from course_grader.reports.rendering import TEMPLATES, environment, render
from course_grader.sandbox.sanitize import Step

EVIL = """</title></style></pre>'"><script>alert(1)</script><img src=x onerror=alert(1)>"""


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.names = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)


def test_every_template_escapes_and_none_makes_an_exception():
    names = environment().list_templates()
    assert {"feedback.html", "report.html", "no_verdict.html"} <= set(names)
    for name in names:
        source = (TEMPLATES / name).read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape|Markup", source), name
        assert environment().get_template(name).environment.autoescape is True


def test_value_that_a_template_names_and_nobody_gives_is_an_error():
    with pytest.raises(UndefinedError):
        render("no_verdict.html")


def test_object_of_pythons_is_never_shown_as_python_writes_it():
    with pytest.raises(TypeError, match="would show a list"):
        environment().from_string("{{ found }}").render(found=["a"])


def test_page_of_feedback_takes_titles_names_and_reasons_for_text(entered):
    titles = dict.fromkeys(questions(entered), EVIL)
    answer = work(entered, EVIL, Step("text", EVIL), Step("code", EVIL))
    said = new_output("stream", text=EVIL)
    one = outcome(entered, EVIL, work=answer, ran=ran(said), reason=EVIL, notes=(EVIL,))
    page = feedback(one, titles, EVIL)
    assert not Tags(page).names & {"script", "img"}
    assert page.count("&lt;script&gt;") >= 7
    aside = feedback(outcome(entered, EVIL, status=Status.SET_ASIDE, reason=EVIL), titles, EVIL)
    assert not Tags(aside).names & {"script", "img"}


def test_reason_for_no_verdict_is_text(entered):
    check = checks(entered)[0]
    task = TaskOutcome(check.grade_id, check.task, 0.0, 1.0, {}, "", reason=EVIL)
    assert Tags(verdict_html(task)).names == {"div", "p", "strong", "br"}
    assert "0 of 1 points" in verdict_html(task)
    assert NAME not in verdict_html(None)
    assert "a person looks at it" in verdict_html(None)
