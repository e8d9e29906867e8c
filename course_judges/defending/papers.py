"""Papers about an answer whose variants have been run."""

from __future__ import annotations

import numpy as np

from course_judges import catalogue
from course_judges.defending.asking import Found
from course_judges.defending.choosing import QUESTIONS, chosen
from course_judges.defending.contract import Paper
from course_judges.defending.kinds import questions
from course_judges.defending.shown import Shown

# Of each kind, for a class: who hands in the same code as many others is asked something else.
_OF_A_KIND = 12


def everything(found: Found, student: str, seed: int, most: int | None = _OF_A_KIND) -> Paper:
    """All questions that can be asked about an answer.

    Parameters
    ----------
    found : Found
    student : str
    seed : int
        See `course_judges.defending.choosing.seed_of`.
    most : int, optional
        So many of a kind.
    """
    task = catalogue.as_written(found.plan.task)
    code = found.program.quoted(1, len(found.program.lines))
    made = (found.plan.task, task.title, student, code)
    if said := found.own.error or found.own.stopped(0):
        return Paper(*made, lacking=f"the code stopped: {said}")
    shown = Shown(found)
    asked = questions(shown, np.random.default_rng(seed), most)
    lacking = "" if shown.on_paper else "its inputs don't fit on paper"
    return Paper(*made, shown.given, tuple(asked), lacking)


def paper(found: Found, student: str, seed: int, most: int = QUESTIONS) -> Paper:
    """The paper of one student about one task; the parameters are those of `everything`, and
    `most` is how many questions it has, if there are so many.
    """
    return chosen(everything(found, student, seed), seed, most)
