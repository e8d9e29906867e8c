"""Which cells of a released notebook a page makes editable, and what belongs to which task."""

import json

import pytest
from reader import ROOT

from course_grader.assignment import Assignment
from course_grader.assignment import read as read_notebook
from course_page import assignments
from course_page.errors import PageError

RELEASED = sorted((ROOT / "exercises").glob("*/*.ipynb"))


def _cell(text, grade_id="", cell_type="code", **said):
    nbgrader = {"grade_id": grade_id, "grade": False, "solution": False} | said
    metadata = {"nbgrader": nbgrader} if grade_id else {}
    return {"cell_type": cell_type, "source": [text], "metadata": metadata}


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_a_page_has_the_tasks_points_and_questions_that_the_grader_sees(path):
    page = assignments.read(json.loads(path.read_text(encoding="utf-8")))
    graded = Assignment.of(read_notebook(path))
    assert [(one.task, one.points) for one in page.tasks] == [
        (check.task, check.points) for check in graded.checks
    ]
    assert [one.cell for one in page.questions] == [one.grade_id for one in graded.questions]
    assert list(page.order) == [one.grade_id for one in graded.answers]
    for one, check in zip(page.tasks, graded.checks, strict=True):
        assert one.answer == graded.answer_to(check).grade_id
        assert one.answer in one.cells


def test_only_what_stands_above_the_first_answer_is_run_before_it():
    page = assignments.read(
        {
            "cells": [
                _cell("import torch"),
                _cell("def f(x): ...", "answer-f", solution=True),
                _cell('check("01/f", f)', "check-f", grade=True, points=2),
                _cell("a_long_training()"),
            ]
        }
    )
    assert page.setup == ("import torch",)
    assert page.names == ("torch",)
    assert [(one.task, one.cells, one.points) for one in page.tasks] == [("01/f", ("answer-f",), 2)]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("print(f)", "should be one call"),
        ('check("01/f", g)', "defines g"),
    ],
)
def test_a_check_that_no_page_could_offer_is_refused(call, says):
    cells = [
        _cell("def f(x): ...", "answer-f", solution=True),
        _cell(call, "check-f", grade=True, points=2),
    ]
    with pytest.raises(PageError, match=says):
        assignments.read({"cells": cells})
