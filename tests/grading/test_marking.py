"""Who marks by hand has the marking scheme beside the answer, and a number in place of a name."""

from types import SimpleNamespace

import pytest
from classes import NAME, outcome, questions, ran, released
from nbconvert.exporters import HTMLExporter

from course_grader import formgrader
from course_grader.marking import schemes, with_schemes
from course_grader.reports.feedback import notebook

WHO = "lovelace_77"

RESOURCES = {
    "assignment_id": NAME,
    "index": 4,
    "student": WHO,
    "last_name": "Lovelace",
    "first_name": "Ada",
    "notebook_path": f"/autograded/{WHO}/x.ipynb",
}


@pytest.fixture
def graded(entered):
    """Ada's graded notebook, and what formgrader hands to its exporter."""
    from nbformat.v4 import writes

    made = notebook(outcome(entered, WHO, ran=ran()), released(entered))
    path = entered.autograded / WHO / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(writes(made))
    handler = SimpleNamespace(
        settings={"nbgrader_exporter": Exported()},
        coursedir=SimpleNamespace(root=str(entered.root)),
    )
    return entered, path, handler


class Exported(HTMLExporter):
    """Keeps what formgrader's template would be given."""

    def from_notebook_node(self, nb, resources=None, **rest):
        self.given = resources
        return super().from_notebook_node(nb, resources, **rest)


def test_scheme_stands_below_each_answer_and_in_no_file(graded):
    course, path, handler = graded
    before = path.read_bytes()
    page, _ = formgrader.MarkingExporter(handler).from_filename(str(path), dict(RESOURCES))
    assert set(schemes(course, NAME)) == set(questions(course))
    assert page.count("Only you see this") == len(questions(course))
    assert page.index("Because.") < page.index("Marking scheme (4 points)")
    assert path.read_bytes() == before
    assert handler.settings["nbgrader_exporter"].given["last_name"] == "Lovelace"


def test_course_without_the_solution_is_marked_without_a_scheme(graded):
    course, path, handler = graded
    (course.solutions / NAME / f"{NAME}.ipynb").unlink()
    page, _ = formgrader.MarkingExporter(handler).from_filename(str(path), dict(RESOURCES))
    assert "Because." in page
    assert "Only you see this" not in page


def test_scheme_that_a_notebook_has_no_question_for_goes_nowhere(entered):
    made = released(entered)
    count = len(made.cells)
    assert len(with_schemes(made, {"another": "…"}).cells) == count


def test_numbers_stand_for_names_where_marking_is_anonymous(graded):
    course, path, handler = graded
    settings = course.root / "nbgrader_config.py"
    listed = [{"student": WHO, "last_name": "Lovelace", "first_name": "Ada", "index": 4}]
    checked = formgrader.in_numbers(lambda *_: [dict(one) for one in listed])
    assert checked(handler, NAME, NAME) == listed
    settings.write_text(settings.read_text() + "\nc.CourseGrade.anonymous_marking = True\n")
    page, _ = formgrader.MarkingExporter(handler).from_filename(str(path), dict(RESOURCES))
    told = f"{page}{handler.settings['nbgrader_exporter'].given}{checked(handler, NAME, NAME)}"
    assert "Submission #5" in told
    assert not [word for word in (WHO, "Ada,", "Lovelace") if word in told]


def test_settings_that_cannot_be_read_are_said(graded):
    course, path, handler = graded
    settings = course.root / "nbgrader_config.py"
    settings.write_text(settings.read_text() + "\nc.CourseGrade.anonymous_marking = 'often'\n")
    with pytest.raises(ValueError, match="anonymous_marking"):
        formgrader.MarkingExporter(handler).from_filename(str(path), dict(RESOURCES))
