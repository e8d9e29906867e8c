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
_ALOUD = (
    "Five minutes a student: show them their code, ask these without options, and let them point. "
    "The answer stands below each."
)
# So many are asked in person, of kinds that need no list of options.
_ASKED_ALOUD = 3
_KINDS_ALOUD = ("shape", "read", "change", "scale", "why")
# Options that are shorter stand in two columns.
_SHORT = 44
# Of a line of text, and of a page; a longer paper is set smaller.
_CHARACTERS, _POINTS_OF_A_PAGE = 95, 770


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
        dense=Markup(' class="dense"'),
    )


def _of_paper(paper: Paper) -> dict[str, Any]:
    return {
        "title": paper.title,
        "dense": _points(paper) > _POINTS_OF_A_PAGE,
        "student": paper.student,
        "code": paper.code,
        "given": [one.line for one in paper.given],
        "questions": [_of_question(one) for one in paper.questions],
    }


def _points(paper: Paper) -> float:
    """About how long a paper is when it is printed, in points."""
    given = sum(1 + len(one.line) // _CHARACTERS for one in paper.given)
    lines = 0
    for one in paper.questions:
        rows = [1 + len(option.text) // _CHARACTERS for option in one.options] or [2]
        short = max(len(option.text) for option in one.options) <= _SHORT if one.options else False
        lines += 1 + len(one.text) // _CHARACTERS + (len(rows) // 2 if short else sum(rows))
    return 150 + 11 * (len(paper.code) + given) + 12.8 * lines + 10 * len(paper.questions)


def _of_question(question: Question) -> dict[str, Any]:
    return {
        "text": question.text,
        "long": any(len(option.text) > _SHORT for option in question.options),
        "options": [vars(option) for option in question.options],
        "model_answer": question.model_answer,
    }


def aloud(papers: Sequence[Paper], title: str) -> str:
    """A sheet to read out, for the instructor; the parameters are those of `page`."""
    return rendering.render(
        "defense_aloud.html",
        papers=[
            {
                "student": one.student,
                "title": one.title,
                "code": "\n".join(f"{number:3}  {text}" for number, text in one.code),
                "given": "\n".join(given.line for given in one.given),
                "questions": [
                    {"text": question.text, "answer": _answer(question)}
                    for question in _for_the_ear(one)
                ],
            }
            for one in papers
        ],
        title=title,
        about=_ALOUD,
    )


def _for_the_ear(paper: Paper) -> list[Question]:
    fit = [one for one in paper.questions if one.kind in _KINDS_ALOUD]
    by_kind = sorted(fit, key=lambda one: _KINDS_ALOUD.index(one.kind))
    different = [
        one for n, one in enumerate(by_kind) if one.kind not in {o.kind for o in by_kind[:n]}
    ]
    rest = [one for one in by_kind if one not in different]
    return [*different, *rest][:_ASKED_ALOUD]


def _answer(question: Question) -> str:
    if not question.options:
        return question.model_answer
    right = question.options[question.right]
    return f"{right.text} {right.reason}"
