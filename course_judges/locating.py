"""What is said of an answer that is right at some places and wrong at others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from course_judges import conditions
from course_judges.counterfactuals import OtherArguments
from course_judges.equality import close
from course_judges.evidence import Evidence
from course_judges.recognition import recognize_where_wrong
from course_judges.rubric import Task
from course_tasks.probing import Probe
from course_tasks.verdict import Finding

# Findings that say no more than at which places an answer is wrong.
SAYS_WHERE = frozenset(
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
    the arguments have in common there.

    A finding that says more already stays as it is, except that it loses numbers with which no
    wrong call was made, and that a factor may get a name.

    Parameters
    ----------
    finding : Finding
        About everything that is wrong.
    task : Task
    probe : Probe
        Of the same task.
    failing : sequence of Evidence
        The draws in which the answer is wrong; one at least.
    others : OtherArguments
        The right answer of the task, called with other arguments, beside this answer.
    """
    finding = _without_other_numbers(finding, failing[0])
    if finding.name == "constant-ratio":
        return _with_its_name(finding, failing)
    if finding.name not in SAYS_WHERE:
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
    """Which parts of an answer are right and which are wrong, if a finding says it."""
    return finding.effect if finding.effect.startswith("Right: ") else ""


def _with_condition(finding: Finding, failing: Sequence[Evidence]) -> Finding:
    """The same, with what the arguments have in common where the answer is wrong."""
    said = conditions.common(failing)
    before, called, sizes = finding.effect.partition(" It was called with ")
    return replace(finding, effect=f"{f'{before} {said}'.strip()}{called}{sizes}")


def _without_other_numbers(finding: Finding, evidence: Evidence) -> Finding:
    """The same without "It is right with T = 5, but wrong with T = 7" if no wrong call had these
    numbers, because a case may exchange two of the draw, or add one to a third.
    """
    drawn = evidence.sizes("iuf")
    before, said, after = finding.effect.rpartition(" It is right with ")
    if not said or not after.endswith(f", but wrong with {drawn}."):
        return finding
    calls = (evidence.called_with(value) for value in evidence.wrong_values)
    if any(_agree(_numbers(call), _numbers(drawn)) for call in calls):
        return finding
    return replace(finding, effect=before)


def _agree(some: dict[str, str], others: dict[str, str]) -> bool:
    """True if no name has two different numbers."""
    return all(others.get(name, value) == value for name, value in some.items())


def _numbers(said: str) -> dict[str, str]:
    """ "T = 5, eps = 0.1." as {"T": "5", "eps": "0.1"}."""
    return dict(re.findall(r"(\w+) = (-?[\d.e+-]*\d)", said))


def _with_its_name(finding: Finding, failing: Sequence[Evidence]) -> Finding:
    """The same, with the dimension that the factor is, if it is the same one in every draw."""
    value = next((name for name in failing[0].wrong_values if _factor(failing[0], name)), "")
    named = [_names_of(_factor(draw, value), draw) for draw in failing]
    common = [name for name in named[0] if all(name in others for others in named)]
    if len(common) != 1:
        return finding
    said = rf"\g<0>, which is {common[0]}"
    return replace(
        finding, effect=re.sub(r"^The factor is \S+ here", said, finding.effect, count=1)
    )


def _factor(evidence: Evidence, value: str) -> float | None:
    """The factor between the right numbers and the answer's; None if there is none."""
    if not evidence.comparable(value):
        return None
    mine, right = (side(value).astype(float) for side in (evidence.yours, evidence.right))
    square = float((right * right).sum())
    factor = float((mine * right).sum()) / square if square else 0.0
    return factor if factor and close(mine, factor * right).all() else None


def _names_of(factor: float | None, evidence: Evidence) -> list[str]:
    """What a factor is in the dimensions of a draw: "T", "1 / T", "√T"."""
    if factor is None:
        return []
    ways = [
        (said.format(name), held**power)
        for name, given in evidence.inputs.items()
        if _is_a_dimension(name) and given.ndim == 0 and (held := float(given)) > 1
        for said, power in (("{}", 1), ("1 / {}", -1), ("√{}", 0.5), ("1 / √{}", -0.5))
    ]
    return [name for name, made in ways if abs(factor - made) < 1e-3 * made]


def _is_a_dimension(name: str) -> bool:
    """True of the names that tasks have for dimensions: T, n_head."""
    return (len(name) == 1 and name.isupper()) or name.startswith("n_")
