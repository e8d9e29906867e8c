"""A few questions for one person, of several kinds and about several lines, and not what the others
of a class are asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from course_judges.defending.contract import KINDS, Paper, Question

QUESTIONS = 8
# A paper with fewer questions says little.
FEWEST = 6
# So much of a paper may stand in that of somebody else, who was asked about the same task.
MOST_ALIKE = 0.2
# If there are too few questions for that, as little more as possible.
_MORE_ALIKE = (0.4, 0.6, 0.8, 1.0)
# More of one kind tire, and are easier one after the other.
MOST_OF_A_KIND = 3
_MOST = {"scale": 2, "shape": 2, "nan": 1, "leak": 2, "stop": 2}
# These ask for other numbers each time.
_NUMBERS = ("read", "change", "find")
# In which order kinds are drawn from; a kind that has no question left is passed over.
_ROUNDS = (
    ("change", "read", "shape", "same", "find", "leak", "scale", "nan", "stop"),
    ("read", "change", "find", "same", "shape", "scale", "leak", "stop"),
)


def seed_of(*parts: object) -> int:
    """A seed from the class's own, a task and a student: nobody has to write it down."""
    words = "\0".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.sha256(words).digest()[:8], "big")


def chosen(whole: Paper, seed: int, most: int = QUESTIONS, others: Sequence[Paper] = ()) -> Paper:
    """A paper of some of the questions that can be asked.

    Parameters
    ----------
    whole : Paper
        With all of them; see `course_judges.defending.papers.everything`.
    seed : int
        See `seed_of`.
    most : int
        How many questions it has, if there are so many.
    others : sequence of Paper
        Of the same class. No more than `MOST_ALIKE` of any of them is asked again, unless fewer
        than `FEWEST` questions were left then.
    """
    same_task = [one for one in others if one.task == whole.task]
    taken: list[Question] = []
    for share in (MOST_ALIKE, *_MORE_ALIKE):
        length = most
        while True:
            taken = _choose(whole.questions, seed, length, _Others(same_task, length, share))
            if len(taken) >= length:
                break
            length = len(taken)  # of a shorter paper, less may be asked elsewhere
        if not same_task or len(taken) >= min(FEWEST, most):
            break
    lacking = whole.lacking if not whole.questions else ""
    if whole.questions and len(taken) < most:
        lacking = f"only {len(taken)} questions can be asked about this code"
        lacking += f", because {whole.lacking}" if whole.lacking else ""
    order = sorted(taken, key=lambda one: KINDS.index(one.kind))
    return replace(whole, questions=tuple(order), lacking=lacking)


def overlap(one: Paper, other: Paper) -> float:
    """The share of a paper that is asked in another one, too."""
    mine, theirs = ({q.asks for q in paper.questions} for paper in (one, other))
    return len(mine & theirs) / max(1, len(mine), len(theirs))


class _Others:
    """What others are asked, and how much of it may be asked again."""

    def __init__(self, papers: Sequence[Paper], length: int, share: float) -> None:
        self._papers = [{q.asks for q in one.questions} for one in papers]
        self._left = [int(share * max(length, len(one))) for one in self._papers]

    def allow(self, question: Question) -> bool:
        asks = question.asks
        return all(
            left or asks not in one for one, left in zip(self._papers, self._left, strict=True)
        )

    def take(self, question: Question) -> None:
        asks = question.asks
        for number, one in enumerate(self._papers):
            self._left[number] -= asks in one


def _choose(pool: Sequence[Question], seed: int, most: int, others: _Others) -> list[Question]:
    """Some of the questions, so many of each kind that a paper has variety."""
    rng = np.random.default_rng(seed)
    taken: list[Question] = []
    left: dict[str, list[Question]] = {}
    for kind in KINDS:
        ones = [one for one in pool if one.kind == kind]
        left[kind] = [ones[n] for n in rng.permutation(len(ones))]
    may = {kind: most if kind in _NUMBERS else _MOST.get(kind, MOST_OF_A_KIND) for kind in KINDS}

    def take(kind: str) -> bool:
        fitting = [one for one in left[kind] if others.allow(one)] if may[kind] else []
        if not fitting:
            return False
        # Rather about lines that were not asked about.
        asked = {line for one in taken for line, _ in one.lines}
        one = next((q for q in fitting if not {line for line, _ in q.lines} & asked), fitting[0])
        left[kind].remove(one)
        may[kind] -= 1
        others.take(one)
        taken.append(one)
        return True

    if most >= QUESTIONS // 2:
        take("why")
    number, found = 0, True
    while len(taken) < most and found:
        # A shorter paper begins anywhere, or everybody would be asked the same kinds.
        kinds, found = list(_ROUNDS[min(number, 1)]), False
        if most < len(kinds):
            kinds = [kinds[n] for n in rng.permutation(len(kinds))]
        for kind in kinds:
            if len(taken) < most and take(kind):
                found = True
        number += 1
    return taken
