"""What is said of an answer that is right at some places and wrong at others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from course_judges import conditions
from course_judges.counterfactuals import OtherArguments
from course_judges.evidence import Evidence
from course_judges.recognition import recognize_where_wrong
from course_judges.rubric import Task
from course_tasks.probing import Probe
from course_tasks.verdict import Finding

# Findings that say no more than at which places an answer is wrong.
_SAYS_WHERE = frozenset(
    {
        "some-rows",
        "some-samples",
        "some-positions",
        "one-number-where-wrong",
        "one-number-missed",
        "zeros",
        "too-many-true",
        "too-few-true",
        "some-results",
        "some-inputs",
        "difference",
        "only-the-first",
        "only-the-last",
    }
)


def locate(
    finding: Finding,
    task: Task,
    probe: Probe,
    failing: Sequence[Evidence],
    others: OtherArguments,
) -> Finding:
    """What more can be said than where an answer is wrong: a mistake that is made there, or what
    the arguments have in common there. A finding that says more already stays as it is.

    Parameters
    ----------
    finding : Finding
        Of all that is wrong.
    task : Task
    probe : Probe
        Of the same task.
    failing : sequence of Evidence
        The draws in which the answer is wrong; one at least.
    others : OtherArguments
        The right answer of the task, called with other arguments, beside this answer.
    """
    if finding.name not in _SAYS_WHERE:
        return finding
    made = recognize_where_wrong(task, probe, failing, _places(finding))
    if made is not None:
        return made
    located = _with_condition(finding, failing)
    known = others.explain_where_wrong()
    if known is None:
        return located
    return replace(known, effect=f"{known.effect} {_places(located)}".strip())


def _places(finding: Finding) -> str:
    """Which parts of an answer are right and which are not, where a finding says it."""
    return finding.effect if finding.effect.startswith("Right: ") else ""


def _with_condition(finding: Finding, failing: Sequence[Evidence]) -> Finding:
    """The same, and what the arguments have in common where the answer is wrong."""
    said = conditions.common(failing)
    before, called, sizes = finding.effect.partition(" It was called with ")
    return replace(finding, effect=f"{f'{before} {said}'.strip()}{called}{sizes}")
