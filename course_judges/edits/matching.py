"""Which edit of the answer's own steps a wrong answer equals, and what it is told."""

from __future__ import annotations

import re
from collections.abc import Sequence

from course_judges.counterfactuals import trivial
from course_judges.describing import SAYS_LITTLE, of_the_task
from course_judges.edits.table import Variant, ending, same_compared, tells, variants
from course_judges.equality import same_value
from course_judges.evidence import ODD_DATA, Evidence
from course_judges.rubric import Step, Task
from course_judges.wrong_arrays import comparisons, relations
from course_judges.wrong_arrays.differences import Comparison, Difference, largest
from course_tasks.answers import Answers, Array
from course_tasks.probing import Probe
from course_tasks.verdict import Finding, Tells


def recognize_edit(
    task: Task, probe: Probe, failing: Sequence[Evidence], right: Evidence | None
) -> Finding | None:
    """The edit with which the task's answer gives what the student's gives, in all cases of every
    draw.

    Parameters
    ----------
    task : Task
    probe : Probe
        Of the same task; runs the variants.
    failing : sequence of Evidence
        The draws in which the answer is wrong; one at least.
    right : Evidence, optional
        A draw in which it is right.
    """
    draws = [*failing, *([right] if right is not None else [])]
    if not tells(failing[0].answers, failing[0], probe) or says_nothing(failing[0], probe):
        return None
    ends = [[ending(draw.answers, draw, case) for case in probe.cases] for draw in draws]
    found = [
        variant
        for variant in variants(task)
        if all(_may_end(variant, of_draw) for of_draw in ends)
        and all(_equals(variant, probe, draw) for draw in draws)
    ]
    if not found:
        return None
    known = of_the_task(task.section, task.properties, failing)
    return _finding(found, task, failing[0], known)


def says_nothing(evidence: Evidence, probe: Probe) -> bool:
    """True if an answer returns an input where it is wrong and largest, or one number
    everywhere: many edits may do that, none of which was made.
    """
    wrong = [case for case in probe.cases if not evidence.same(case)]
    given = evidence.inputs.values()
    held = (evidence.answers.array(name) for name in evidence.wrong_values)
    returned = [value for value in held if value is not None and value.size > 1]
    # A small one, such as a text of one symbol, may equal an input for another reason.
    most = max((value.size for value in returned), default=0)
    alike = bool(wrong) and all(trivial(evidence, case) for case in wrong)
    return alike or any(
        value.size == most and any(same_value(value, x) for x in given) for value in returned
    )


def _may_end(variant: Variant, ends: Sequence[str]) -> bool:
    """True unless a variant is known to end otherwise, which is faster than to run it."""
    return any(
        all(known in ("?", mine) for known, mine in zip(of_pass.split(" "), ends, strict=True))
        for of_pass in variant.ends
    )


def _equals(variant: Variant, probe: Probe, evidence: Evidence) -> bool:
    def other(case: str, made: Answers) -> bool:
        return not same_compared(evidence.answers, made, evidence.expected, case)

    made = evidence.variants.answers(variant.answer, probe, evidence.inputs, other)
    return not any(other(case, made) for case in probe.cases)


def _finding(
    found: Sequence[Variant], task: Task, evidence: Evidence, known: Finding | None
) -> Finding:
    """What is said of an edit, with what a property that the task looks for itself says of the
    data, which is plainer than what holds of any array.
    """
    first = found[0]
    step = task.step(first.step) if first.step else None
    about = step or _changed_afterwards(first, task)
    others = [*first.alike, *(one.says for one in found[1:])]
    others = [one for one in others if not _says_the_same(one, first.says)]
    # What was done to the value of a right step can be done in other ways than those of the table,
    # so a property that knows more comes first.
    if known and step is None:
        what, said = known.what, [known.effect, f"It would be the same if you had {first.says}."]
    elif others or step is None:
        what = f"Your answer gives the same as if you had {first.says}."
        said = [f"It would be the same if you had {others[0]}."] if len(others) == 1 else []
    else:
        what, said = f"You {first.says}.", []
    if known is None:
        said = [first.teaches, _numbers(evidence), *said, about.why if about else ""]
    elif step:
        said = [_unless_said(first.teaches, known.effect), known.what, known.effect, *said]
    section = next((one.section for one in (step, known, about) if one and one.section), None)
    return Finding(
        first.name, what, " ".join(filter(None, said)), section or task.section, tells=Tells.CAUSE
    )


def _changed_afterwards(variant: Variant, task: Task) -> Step | None:
    """The step whose value something was done to."""
    if " by " not in variant.says:  # what comes after it is another value
        for name, step in task.steps.items():
            if variant.says.endswith(f" {name}"):
                return step
    last = list(task.steps)[-1]
    return task.steps[last] if last in variant.says else None


def _says_the_same(one: str, other: str) -> bool:
    """True if one of two phrases leaves out a factor, and the other puts 1 in its place."""
    for first, second in ((one, other), (other, one)):
        left_out = re.match(r"left out the factor (\S+) in ", first)
        if left_out and second == f"used 1 instead of {left_out[1]} in {first[left_out.end() :]}":
            return True
    return False


def _unless_said(lesson: str, effect: str) -> str:
    """A lesson, unless a property quotes the same code or ends alike, and so says the same."""
    quoted = (code.strip("`nx/ ") for code in re.findall("`[^`]+`", lesson))
    end = " ".join(lesson.split()[-4:])
    return "" if any(code in effect for code in quoted) or end in effect else lesson


def _numbers(evidence: Evidence) -> str:
    """What that does to the data of this draw, in the first array that is wrong."""
    for name in evidence.wrong_values:
        mine, right = evidence.answers.array(name), evidence.expected.array(name)
        if mine is None or right is None:
            continue
        yours = evidence.yours(name)
        for compare in (comparisons.compared, _related(evidence)):
            try:
                known = compare(yours, right)
            except ODD_DATA:
                continue
            if known:
                return f"{known.what} {known.effect}"
        return largest(mine, right)
    return ""


def _related(evidence: Evidence) -> Comparison:
    """What rows, columns and signs have in common, unless that says little."""

    def compare(mine: Array, right: Array) -> Difference | None:
        if mine.shape != right.shape:
            return None
        found = relations.related(mine, right, evidence.inputs)
        return None if found is None or found.name in SAYS_LITTLE else found

    return compare
