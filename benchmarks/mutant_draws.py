"""Whether an answer that was changed in one place survives one draw of its task.

A check would say as much. This asks less: most mutants lose a part in the first case of the first
pass, and nobody reads the words that a check would find for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_judges import catalogue as judges
from course_judges.evidence import same_case
from course_judges.judging import Evidence, Judge, Part, reference_of
from course_tasks import catalogue
from course_tasks.answers import Answers
from course_tasks.probing import Inputs, Run, passes, run


@dataclass(frozen=True)
class Draw:
    """The inputs of one check, and what is right of its first pass, which most mutants fail.

    Attributes
    ----------
    task : str
    inputs : mapping of str to ndarray
    right : Run
        Found where no mutant has run.
    """

    task: str
    inputs: Inputs
    right: Run

    @classmethod
    def of(cls, task: str, seed: int) -> Draw:
        """The draw of a seed."""
        inputs = judges.inputs(task, np.random.default_rng(seed))
        right = reference_of(judges.task(task), catalogue.probe(task), passes(inputs)[0][1])
        return cls(task, inputs, right)

    @property
    def first(self) -> Inputs:
        """The inputs of the first pass."""
        return passes(self.inputs)[0][1]


def survives(answer: Any, draw: Draw) -> bool:
    """True if an answer earns every point in a draw.

    Parts are earned in every pass or not at all. So the first pass ends where a part is lost, and
    only its survivors are asked everything.
    """
    task, probe = judges.task(draw.task), catalogue.probe(draw.task)
    asked: list[str] = []

    def lost(case: str, so_far: Answers) -> bool:
        asked.append(case)
        evidence = _SoFar(
            draw.first, lambda **_: draw.right, _Unknown(), so_far=so_far, asked=tuple(asked)
        )
        return any(evidence.refutes(part) for part in task.parts)

    answers = run(probe, answer, draw.first, until=lost).answers
    at_first = Evidence(draw.first, lambda **_: draw.right, answers)
    if not all(part.earned_by(at_first) for part in task.parts):
        return False
    if len(passes(draw.inputs)) > 1:
        answers = run(probe, answer, draw.inputs).answers
    return Judge(draw.task, task, probe, draw.inputs).earns_everything(answers)


class NotAskedError(Exception):
    """A part looks at more than the cases that were asked."""


class _Unknown(Answers):
    """Stands for answers of which not all are known: whoever looks at one is stopped."""

    def __getattribute__(self, name: str) -> Any:
        raise NotAskedError(name)


@dataclass(frozen=True)
class _SoFar(Evidence):
    """What is known of an answer before all cases are asked; `answers` are none to look at."""

    so_far: Answers = field(default_factory=Answers)
    asked: tuple[str, ...] = ()

    def same(self, *cases: str) -> bool:
        for case in cases:
            if case not in self.asked:
                raise NotAskedError(case)
            if not same_case(self.so_far, self.expected, case):
                return False
        return True

    def refutes(self, part: Part) -> bool:
        """True if the part is lost whatever the other cases bring."""
        try:
            return not part.earned_by(self)
        except NotAskedError:
            return False
