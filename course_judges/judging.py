"""How an answer is judged: against a right answer, against named wrong ones, and by what is true of
its data.

This half of a task knows the answers, so it never runs beside student code. Everything it reads is
plain data. A task's judge imports from here what it is written with: `Task`, `Part` and `mistake`
from `course_judges.rubric`, and `Evidence` from `course_judges.evidence`.

Points are decided here. For a wrong answer, words are looked for in this order: a named mistake
(`recognition`), an edit of the answer's own steps (`edits`), something that is true of its data
(`describing`), other arguments with which it would be right (`counterfactuals`), and what its wrong
places have in common (`locating`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from functools import partial as bound
from typing import Any, TypeVar

from course_judges import field_guide
from course_judges.counterfactuals import OtherArguments
from course_judges.describing import asked, describe
from course_judges.edits.matching import recognize_edit
from course_judges.equality import same_value
from course_judges.evidence import GIVEN, Evidence, same_case
from course_judges.locating import locate
from course_judges.part_results import results
from course_judges.recognition import recognize
from course_judges.rubric import Like, Mistake, Part, Property, Says, Step, Task, matches, mistake
from course_judges.wording import results_by_name
from course_tasks.answers import Answers
from course_tasks.probing import REPEATED, SECOND, Inputs, Probe, Run, passes, run
from course_tasks.verdict import Finding, PartResult, Section, State, Tells, Verdict

__all__ = [
    "Evidence",
    "Judge",
    "Like",
    "Mistake",
    "Part",
    "Property",
    "RightAnswerError",
    "Says",
    "Step",
    "Task",
    "any_of",
    "interrupted",
    "judge",
    "matches",
    "mistake",
    "not_attempted",
    "reference_of",
]


# Several times as long as the longest sentence of a judge about an ordinary answer.
MOST_CHARACTERS_OF_A_FINDING = 1500
# A verdict is read late at night; `benchmarks/verdict_words.py` counts.
MOST_WORDS = 120

_SENTENCES = re.compile(r"(?<=[.!?”)])\s+(?=[A-Z“`])")

T = TypeVar("T")


class RightAnswerError(RuntimeError):
    """The right answer stops on inputs of its own task, so no answer can be compared with it.

    What was handed in is not at fault, and an answer that stops in the same way is not right.
    """


class Judge:
    """Judges answers to one task that were given on the same inputs. The right results and those of
    the named mistakes are computed once, however many students are judged.

    Parameters
    ----------
    name : str
        The task, for example "01/window".
    task : Task
    probe : Probe
        Of the same task; runs the reference and the mistakes, never the student's code.
    inputs : mapping of str to ndarray
        The same inputs as those of the answers, with what the probe keeps back.
    """

    def __init__(self, name: str, task: Task, probe: Probe, inputs: Inputs):
        self._name, self._task, self._probe = name, task, probe
        self._draws = {
            prefix: Evidence(drawn, _reference(task, probe, drawn), Answers())
            for prefix, drawn in passes(inputs)
            if prefix != REPEATED
        }

    def verdict(self, answers: Answers) -> Verdict:
        """What a student's answers earn, and what is said of them.

        No evidence means no points. Global random states may change.
        """
        name, task, probe = self._name, self._task, self._probe
        if not answers.attempted:
            return not_attempted(name, task)
        draws = self._evidence(answers)
        held = [[part.earned_by(draw) for part in task.parts] for draw in draws]
        earned = [all(of_a_part) for of_a_part in zip(*held, strict=True)]
        if not all(earned):
            finding = _found(task, probe, draws, [all(of_a_draw) for of_a_draw in held])
            state = State.PARTLY if any(earned) else State.WRONG
            finding = replace(finding, entry=field_guide.entry(name, finding.name))
            parts = results(task.parts, draws, earned)
            verdict = Verdict(name, task.title, state, parts, (_cut(finding),))
            return (
                verdict if _short(verdict) or _example(task, finding, draws) else _cut_to(verdict)
            )
        changed = next((draw for draw in draws if draw.changed), None)
        if changed is None or task.may_change:
            return Verdict(name, task.title, State.RIGHT, results(task.parts, draws, earned))
        finding = _changes_what_it_is_given(changed, task.section)
        finding = replace(finding, entry=field_guide.entry(name, finding.name))
        parts = _without_the_cheapest(results(task.parts, draws, earned))
        state = State.PARTLY if any(part.earned for part in parts) else State.WRONG
        return _cut_to(Verdict(name, task.title, state, parts, (_cut(finding),)))

    def earns_everything(self, answers: Answers) -> bool:
        """True if `verdict` would give these answers every point; it is faster, since it looks for
        no words.
        """
        if not answers.attempted:
            return False
        draws = self._evidence(answers)
        return all(part.earned_by(draw) for draw in draws for part in self._task.parts) and (
            self._task.may_change or not any(draw.changed for draw in draws)
        )

    def _evidence(self, answers: Answers) -> list[Evidence]:
        """What is known of a student's answers pass by pass."""
        made = [
            replace(draw, answers=_of_a_pass(answers, prefix))
            for prefix, draw in self._draws.items()
        ]
        if len(made) > 1:  # and then the first inputs again
            again = _of_a_pass(answers, REPEATED)
            made[0] = replace(made[0], again=again)
            made.append(replace(made[0], answers=again, again=made[0].answers, after_others=True))
        return made


def judge(name: str, task: Task, probe: Probe, inputs: Inputs, answers: Answers) -> Verdict:
    """Judge the answers of one student; see `Judge`."""
    return Judge(name, task, probe, inputs).verdict(answers)


def any_of(probe: Probe, cases: tuple[str, ...], *variants: Any) -> Callable[[Evidence], bool]:
    """A condition: the answer equals one of several ways to make the same mistake."""

    def fits(evidence: Evidence) -> bool:
        outcomes = (
            evidence.variants.answers(variant, probe, evidence.inputs) for variant in variants
        )
        return any(
            all(same_case(evidence.answers, wrong, case) for case in cases) for wrong in outcomes
        )

    return fits


def reference_of(task: Task, probe: Probe, inputs: Inputs, *, watched: bool = False) -> Run:
    """The right results for some inputs, without the values in which answers are not compared.

    Parameters
    ----------
    task : Task
    probe : Probe
        Of the same task; runs the right answer.
    inputs : mapping of str to ndarray
        Of one draw.
    watched : bool
        Whether it is watched and its calls are described.

    Raises
    ------
    RightAnswerError
        If it stops in some case.
    """
    made = run(probe, task.answer, inputs, watched=watched, described=watched, restored=False)
    for case, raised in made.answers.errors.items():
        raise RightAnswerError(
            f"the right answer to {task.title!r} stops in the case {case!r} with {raised.kind}: "
            f"{raised.message}. Fix it, or the inputs that the task draws."
        )
    right = {
        name: value
        for name, value in made.answers.values.items()
        if not set(name.removeprefix(SECOND).removeprefix(REPEATED).split("."))
        & set(task.uncompared)
    }
    return replace(made, answers=replace(made.answers, values=right))


def _reference(task: Task, probe: Probe, drawn: Inputs) -> Callable[..., Run]:
    """Computes the right results of one draw, once; of a whole program there are none."""
    if task.explained:
        return lambda **_: Run(Answers())
    known = cache(bound(reference_of, task, probe, drawn))
    # A reference that takes long runs only once, and is watched in case words are needed.
    return _always(bound(known, watched=True)) if probe.one_draw else known


def _always(make: Callable[[], Run]) -> Callable[..., Run]:
    """The same run, whether it is asked for watched or not."""
    return lambda **_: make()


def _of_a_pass(answers: Answers, prefix: str) -> Answers:
    others = tuple(other for other in (SECOND, REPEATED) if other != prefix)

    def own(named: Mapping[str, T]) -> dict[str, T]:
        return {
            name.removeprefix(prefix): value
            for name, value in named.items()
            if name.startswith(prefix) and not name.startswith(others)
        }

    return Answers(own(answers.values), own(answers.errors), own(answers.changed))


def _without_the_cheapest(parts: tuple[PartResult, ...]) -> tuple[PartResult, ...]:
    """All parts but the one with the fewest points, since what was computed is right after all."""
    least = min(parts, key=lambda part: part.points)
    return tuple(
        replace(part, earned=False, because="not counted, since an argument is changed")
        if part is least
        else part
        for part in parts
    )


def _changes_what_it_is_given(evidence: Evidence, section: Section) -> Finding:
    case, names = next(iter(evidence.changed.items()))
    what = f"{results_by_name(names.split(', '))}, which" if names else "a tensor that"
    return Finding(
        "changes-its-input",
        f"What you return is right, but your answer changes {what} it was given.",
        "The caller still needs the old values, so work on a copy (`clone()`), or use what returns "
        "something new: `masked_fill` instead of `masked_fill_`, `a = a + b` instead of `a += b`. "
        f"{evidence.called_with(case)}".strip(),
        section,
        tells=Tells.CAUSE,
    )


def _found(task: Task, probe: Probe, draws: list[Evidence], right: list[bool]) -> Finding:
    """What to say of a wrong answer: the name of a mistake, or something true of its data."""
    failing = [draw for draw, good in zip(draws, right, strict=True) if not good]
    if task.explained:
        asks = (asked(ask, draw) for ask in task.explained for draw in failing)
        return next(finding for finding in asks if finding is not None)
    if all(draw.after_others for draw in failing):
        return _another_time(task.section)
    failing = [draw for draw in failing if not draw.after_others]
    good = next((draw for draw, held in zip(draws, right, strict=True) if held), None)

    others = OtherArguments(task.answer, probe, task.section, failing, good)
    explained = cache(others.explain_all)

    def as_if(_: Evidence) -> Finding | None:
        return explained()  # It looks at all draws at once.

    return (
        recognize(task, probe, failing, good)
        or recognize_edit(task, probe, failing, good)
        or _written_into_what_is_given(task, failing)
        or _not_repeatable(task, probe, draws)
        or locate(
            describe(task.section, (*task.properties, as_if), task.examples, failing, good),
            task,
            probe,
            failing,
            others,
        )
    )


def _written_into_what_is_given(task: Task, failing: Sequence[Evidence]) -> Finding | None:
    """What was returned is right, but the arguments that the task looks at afterwards are not."""
    wrong = [name for draw in failing for name in draw.wrong_values]
    if not failing[0].changed or not all(GIVEN in name.split(".")[1:] for name in wrong):
        return None
    return _changes_what_it_is_given(failing[0], task.section)


def _another_time(section: Section) -> Finding:
    return Finding(
        "keeps-state",
        "Your answer is right at first, but wrong when it is called with the same inputs again.",
        "In between, it was called with other inputs. Does it keep something from one call to the "
        "next, in a default argument, a global variable or an attribute of the class? Or does it "
        "draw random numbers of its own?",
        section,
    )


def _not_repeatable(task: Task, probe: Probe, draws: list[Evidence]) -> Finding | None:
    """Other values for the same inputs, although the right answer gives the same ones."""
    first = draws[0]
    if first.again is None or first.repeatable:
        return None
    second = reference_of(task, probe, first.inputs).answers
    if not all(same_value(second.values[n], v) for n, v in first.expected.values.items()):
        return None
    return Finding(
        "not-repeatable",
        "Your answer gives different results for the same inputs.",
        "It was called with them twice, and with other inputs in between. Does it keep something "
        "from one call to the next, or draw random numbers of its own?",
        task.section,
    )


def _cut(finding: Finding) -> Finding:
    """The same, cut to a length that fits a page, since it may quote what a student returned."""
    most = MOST_CHARACTERS_OF_A_FINDING
    what, effect = (
        text if len(text) <= most else f"{text[:most]}…" for text in (finding.what, finding.effect)
    )
    return replace(finding, what=what, effect=effect)


def _short(verdict: Verdict) -> bool:
    return len(str(verdict).split()) <= MOST_WORDS


def _example(task: Task, finding: Finding, draws: Sequence[Evidence]) -> bool:
    """True if a finding is an example that is worked out at one place, and may be longer."""
    return any(
        (one := asked(example, draw)) is not None and one.name == finding.name
        for example in task.examples
        for draw in draws
    )


def _cut_to(verdict: Verdict) -> Verdict:
    """The same, without the last sentences, until it is short enough to be read."""
    (finding,) = verdict.findings
    sentences = _SENTENCES.split(finding.effect)
    while len(sentences) > 1 and not _short(verdict):
        sentences.pop()
        shorter = replace(finding, effect=" ".join(sentences))
        verdict = replace(verdict, findings=(shorter,))
    return verdict


def not_attempted(name: str, task: Task) -> Verdict:
    """The verdict on an unfilled scaffold."""
    finding = Finding("not-attempted", "Fill the cell above, run it, then run this one.")
    return Verdict(name, task.title, State.NOT_ATTEMPTED, _nothing(task), (finding,))


def interrupted(name: str, task: Task, seconds: float, *, compiled: bool = False) -> Verdict:
    """The verdict on an answer that a person stopped, perhaps while it was compiled."""
    finding = Finding(
        "interrupted",
        f"You stopped your answer after {seconds:.0f} s, before it returned.",
        "The first call compiles its operations, which can take a minute on a slow machine."
        if compiled
        else "A right answer to this task returns within seconds. "
        "Is there a loop whose condition never becomes false?",
        task.section,
    )
    return Verdict(name, task.title, State.INTERRUPTED, _nothing(task), (finding,))


def _nothing(task: Task) -> tuple[PartResult, ...]:
    return tuple(PartResult(part.name, part.points, earned=False) for part in task.parts)
