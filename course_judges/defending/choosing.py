"""A few questions for one person, of several kinds and about several lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_judges import catalogue
from course_judges.defending.asking import Found
from course_judges.defending.contract import Paper, Question
from course_judges.defending.kinds import KINDS, questions
from course_judges.defending.shown import Shown

QUESTIONS = 8
# More of one kind tire, and are easier one after the other.
MOST_OF_A_KIND = 3
_MOST = {"scale": 2, "shape": 2, "nan": 1, "leak": 2}
# These ask for other numbers each time.
_NUMBERS = ("read", "change", "find")
# In which order kinds are drawn from; a kind that has no question left is passed over.
_ROUNDS = (
    ("change", "read", "shape", "same", "find", "leak", "scale", "nan"),
    ("read", "change", "find", "same", "shape", "scale", "leak"),
)


def paper(found: Found, student: str, seed: int, most: int = QUESTIONS) -> Paper:
    """The paper of one student about one task.

    Parameters
    ----------
    found : Found
    student : str
    seed : int
        See `course_judges.defending.asking.seed_of`.
    most : int
        How many questions it has, if there are so many.
    """
    rng = np.random.default_rng(seed)
    shown = Shown(found)
    task = catalogue.as_written(found.plan.task)
    code = found.program.quoted(1, len(found.program.lines))
    made = Paper(found.plan.task, task.title, student, code)
    if found.own.error or found.own.stopped(0):
        said = found.own.error or found.own.stopped(0)
        return Paper(*(made.task, made.title, student, code), lacking=f"the code stopped: {said}")
    chosen = choose(questions(shown, rng), rng, most)
    lacking = ""
    if len(chosen) < most:
        lacking = f"only {len(chosen)} questions can be asked about this code"
        if not shown.on_paper:
            lacking += ", because its inputs don't fit on paper"
    return Paper(made.task, made.title, student, code, shown.given, tuple(chosen), lacking)


def choose(pool: Sequence[Question], rng: np.random.Generator, most: int) -> list[Question]:
    """Some of the questions, in the order of their kinds.

    Parameters
    ----------
    pool : sequence of Question
    rng : Generator
    most : int
    """
    of_kind = {kind: [one for one in pool if one.kind == kind] for kind in KINDS}
    left = {
        kind: [ones[n] for n in rng.permutation(len(ones))][: _MOST.get(kind, MOST_OF_A_KIND)]
        if kind not in _NUMBERS
        else [ones[n] for n in rng.permutation(len(ones))]
        for kind, ones in of_kind.items()
    }
    chosen: list[Question] = []
    if left["why"] and most >= QUESTIONS // 2:
        chosen.append(left["why"].pop())
    number = 0
    while len(chosen) < most and any(left[kind] for kind in KINDS if kind != "why"):
        # A shorter paper begins anywhere, or everybody would be asked the same kinds.
        kinds = list(_ROUNDS[min(number, 1)])
        if most < len(kinds):
            kinds = [kinds[n] for n in rng.permutation(len(kinds))]
        for kind in kinds:
            if len(chosen) < most and left[kind]:
                chosen.append(_next(left[kind], chosen))
        number += 1
    return sorted(chosen, key=lambda one: KINDS.index(one.kind))


def _next(left: list[Question], chosen: Sequence[Question]) -> Question:
    """The first that quotes other lines than those that were asked about, and take it away."""
    asked = {line for one in chosen for line, _ in one.lines}
    new = next((q for q in left if not {line for line, _ in q.lines} & asked), left[0])
    left.remove(new)
    return new
