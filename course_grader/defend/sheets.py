"""Papers as pages: for students, with keys for the instructor, and to be read out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course_grader.reports import rendering
from course_judges.defending.contract import Paper, Question

ABOUT = (
    "These questions are about the code that you handed in. Paper and a calculator are enough. One "
    "answer of each question is right. Numbers are rounded to two decimals."
)
_FOOTER = (
    "Every key was run: your own code, and versions of it with one change, on the input above and "
    "on 40 others."
)
# Options that are shorter stand in two columns.
_SHORT = 44


def page(papers: Sequence[Paper], title: str, *, keys: bool = False) -> str:
    """Papers as one page of HTML, each on a sheet of its own when it is printed.

    Parameters
    ----------
    papers : sequence of Paper
    title : str
    keys : bool
        Whether it is the instructor's: with the right options and every reason.
    """
    from markupsafe import Markup

    return rendering.render(
        "defense.html",
        papers=[_of_paper(one) for one in papers],
        title=title,
        keys=keys,
        about=ABOUT,
        footer=_FOOTER,
        short=Markup(' class="short"'),
        right=Markup(' class="right"'),
    )


def _of_paper(paper: Paper) -> dict[str, Any]:
    return {
        "title": paper.title,
        "student": paper.student,
        "code": paper.code,
        "given": [one.line for one in paper.given],
        "questions": [_of_question(one) for one in paper.questions],
    }


def _of_question(question: Question) -> dict[str, Any]:
    return {
        "text": question.text,
        "long": any(len(option.text) > _SHORT for option in question.options),
        "options": [vars(option) for option in question.options],
        "model_answer": question.model_answer,
    }
