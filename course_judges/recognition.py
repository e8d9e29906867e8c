"""Which named mistake of its task an answer makes, everywhere or only at some places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_judges import partial
from course_judges.equality import close
from course_judges.evidence import Evidence, same_case
from course_judges.rubric import Mistake, Part, Task, say
from course_tasks.answers import Answers
from course_tasks.probing import Probe
from course_tasks.verdict import Finding, Tells


def recognize(
    task: Task, probe: Probe, failing: Sequence[Evidence], right: Evidence | None
) -> Finding | None:
    """The first mistake that fits in every draw in which the answer is wrong; in a draw in which
    the answer is right, the mistake has to be right, too.

    Parameters
    ----------
    task : Task
    probe : Probe
        Of the same task; runs the mistakes.
    failing : sequence of Evidence
        The draws in which the answer is wrong; one at least.
    right : Evidence, optional
        A draw in which it is right.
    """
    for place, known in enumerate(task.mistakes):
        if not _made(known, task, probe, failing, right):
            continue
        others = [
            say(other.what, failing[0])
            for other in task.mistakes[place + 1 :]
            if known.inferred and other.inferred and _made(other, task, probe, failing, right)
        ]
        beside = f" Other slips give such numbers, too: {' '.join(others)}" if others else ""
        return Finding(
            known.name,
            say(known.what, failing[0]),
            f"{say(known.effect, failing[0])}{beside}",
            known.section or task.section,
            tells=Tells.CAUSE,
        )
    return None


def _made(
    known: Mistake, task: Task, probe: Probe, failing: Sequence[Evidence], right: Evidence | None
) -> bool:
    """True if a mistake fits in every draw."""
    return all(_fits(known, task, probe, draw) for draw in failing) and (
        right is None or _fits(known, task, probe, right, wrong_somewhere=False)
    )


def recognize_where_wrong(
    task: Task, probe: Probe, failing: Sequence[Evidence], places: str
) -> Finding | None:
    """The first mistake that explains everything that is wrong in an answer, but not all of it.

    Parameters
    ----------
    task : Task
    probe : Probe
        Of the same task.
    failing : sequence of Evidence
        The draws in which the answer is wrong; one at least.
    places : str
        Which parts of the answer are right and which are wrong; said at the end.
    """
    for known in task.mistakes:
        cases = known.cases or task.cases or tuple(probe.cases)
        if known.recognized is None and all(
            any(
                partial.explained(draw, draw.variants.answers(variant, probe, draw.inputs), cases)
                for variant in (known.answer, *known.also)
            )
            for draw in failing
        ):
            explained = (
                "This explains everything that is wrong in your answer, which is "
                f"{partial.share_wrong(failing[0], cases)}. The rest is right."
            )
            return Finding(
                known.name,
                say(known.what, failing[0]),
                f"{explained} {places}".strip(),
                known.section or task.section,
                tells=Tells.CAUSE,
            )
    return None


def _fits(
    known: Mistake, task: Task, probe: Probe, evidence: Evidence, *, wrong_somewhere: bool = True
) -> bool:
    if known.recognized is not None:
        if not wrong_somewhere:
            return True  # its statistics only make sense for wrong answers
        return Part(known.name, 0, known.recognized).earned_by(evidence)
    cases = known.cases or task.cases or tuple(probe.cases)
    variants = (known.answer, *known.also)
    others = task.cases or tuple(probe.cases)
    return any(
        _equals(variant, cases, others, probe, evidence, wrong_somewhere) for variant in variants
    )


def _equals(
    variant: Any,
    cases: tuple[str, ...],
    others: tuple[str, ...],
    probe: Probe,
    evidence: Evidence,
    wrong_somewhere: bool,
) -> bool:
    """True if the answer equals this wrong one in all of these cases, is wrong in one of them, and
    has nothing in the other cases that speaks against it.
    """

    def other(case: str, wrong: Answers) -> bool:
        return case in cases and not same_case(evidence.answers, wrong, case)

    # Most mistakes differ from the answer in the first case already, so the others are not run.
    wrong = evidence.variants.answers(variant, probe, evidence.inputs, other)
    return (
        all(same_case(evidence.answers, wrong, case) for case in cases)
        and (
            not wrong_somewhere
            or any(not same_case(wrong, evidence.expected, case) for case in cases)
        )
        and not any(_speaks_against(evidence, wrong, case) for case in others)
    )


def _speaks_against(evidence: Evidence, wrong: Answers, case: str) -> bool:
    """True if the answer holds wrong numbers in this case that differ from the mistake's numbers,
    which are wrong there as well.

    If the mistake's numbers are right, a wrong answer must contain another mistake besides, which
    doesn't speak against this one. Nor does an answer that is right, stopped or has another form,
    and nor does NaN.
    """
    for name, right in evidence.expected.values.items():
        mine, other = evidence.answers.values.get(name), wrong.values.get(name)
        if name.split(".")[0] != case or mine is None or other is None:
            continue
        if isinstance(mine, str) or isinstance(other, str) or isinstance(right, str):
            continue
        if (
            mine.shape == other.shape == right.shape
            and (
                ~(close(mine, right) | close(other, right) | close(mine, other))
                & np.isfinite(mine)
                & np.isfinite(other)
            ).any()
        ):
            return True
    return False
