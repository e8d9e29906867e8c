"""In every task of every chapter, right answers pass in any style, wrong ones are called by their
name, and odd ones are described by something that is true of them.
"""

import functools
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from parameters import rows
from students import seeds_of, students_of, unfilled

from course_judges import catalogue as judges
from course_judges.judging import judge
from course_tasks import State, catalogue, check
from course_tasks.answers import Answers, arrays_to_bytes
from course_tasks.observing import nothing
from course_tasks.probing import run, run_on_bytes

ROOT = Path(__file__).parents[2]


def tricks_of(task):
    return getattr(students_of(task), "TRICKS", {})


TASKS = catalogue.names()
TRIED = rows((t,) for t in TASKS)
DRAWN = rows((t,) for t in TASKS if catalogue.probe(t).inputs is not nothing)
MISTAKES = rows((t, m.name) for t in TASKS for m in judges.task(t).mistakes)
STYLES = rows((t, style) for t in TASKS for style in students_of(t).RIGHT)
TRICKS = rows((t, name) for t in TASKS for name in tricks_of(t))
ODD = rows((t, i) for t in TASKS for i in range(len(getattr(students_of(t), "ODD", []))))


pytestmark = pytest.mark.usefixtures("kept_runs")


@pytest.mark.parametrize("task", TASKS)
def test_reference_gets_every_point(task):
    for seed in seeds_of(task):
        verdict = check(task, judges.task(task).answer, seed=seed)
        assert verdict.state is State.RIGHT, f"seed {seed}: {verdict}"
        assert verdict.points == judges.task(task).points


@pytest.mark.parametrize(("task", "style"), STYLES)
def test_right_answer_in_another_style_gets_every_point(task, style):
    for seed in seeds_of(task):
        verdict = check(task, students_of(task).RIGHT[style], seed=seed)
        assert verdict.state is State.RIGHT, f"seed {seed}: {verdict}"


@pytest.mark.parametrize("task", TASKS)
def test_at_least_three_right_styles_are_tried(task):
    assert len(students_of(task).RIGHT) >= 3


def verdicts_of(task, answer, seeds):
    """What is said of an answer in each draw. It earns the same in all, as points are not luck."""
    verdicts = {seed: check(task, answer, seed=seed) for seed in seeds}
    points = {seed: verdict.points for seed, verdict in verdicts.items()}
    assert len(set(points.values())) <= 1, f"points differ from seed to seed: {points}"
    return verdicts


@pytest.mark.parametrize(("task", "mistake"), MISTAKES)
def test_mistake_is_rejected_called_by_its_name_and_explained(task, mistake):
    answer = students_of(task).WRONG[mistake]
    for seed, verdict in verdicts_of(task, answer, seeds_of(task)).items():
        assert verdict.points < verdict.out_of, f"seed {seed}: {verdict}"
        assert verdict.findings[0].name == mistake, f"seed {seed}: {verdict}"
    # It says what was done, what that does to the data, and where to look.
    finding = verdict.findings[0]
    assert len(finding.what) > 15
    assert len(finding.effect) > 15
    assert finding.section is not None


@pytest.mark.parametrize("task", TRIED)
def test_every_part_of_the_rubric_is_lost_by_a_wrong_answer(task):
    """A part that every known answer earns would be points for nothing."""
    seed = seeds_of(task)[0]
    kept = {part.name for part in judges.task(task).parts}
    odd = [answer for answer, _ in getattr(students_of(task), "ODD", [])]
    for answer in (*students_of(task).WRONG.values(), *odd):
        verdict = check(task, answer, seed=seed)
        assert verdict.points < verdict.out_of
        kept -= {part.name for part in verdict.parts if not part.earned}
        if not kept:
            return
    pytest.fail(f"no wrong answer loses {', '.join(sorted(kept))}")


@pytest.mark.parametrize(("task", "mistake"), MISTAKES)
def test_judges_own_copy_of_a_mistake_is_recognized(task, mistake):
    copy = next(m for m in judges.task(task).mistakes if m.name == mistake)
    for seed, verdict in verdicts_of(task, copy.answer, seeds_of(task)[::2]).items():
        assert verdict.points < verdict.out_of, f"seed {seed}: {verdict}"
        assert verdict.findings[0].name == mistake, f"seed {seed}: {verdict}"


@pytest.mark.parametrize(("task", "index"), ODD)
def test_odd_answer_is_rejected_and_described_by_what_is_true_of_it(task, index):
    answer, name = students_of(task).ODD[index]
    for seed, verdict in verdicts_of(task, answer, seeds_of(task)).items():
        assert verdict.points < verdict.out_of, f"seed {seed}: {verdict}"
        assert verdict.findings[0].name == name, f"seed {seed}: {verdict}"


@pytest.mark.parametrize(("task", "trick"), TRICKS)
def test_trick_earns_no_more_than_the_work_in_it(task, trick):
    """As in a graded run, only bytes go to the answer and back, and the judge has what was kept."""
    answer, points = tricks_of(task)[trick]
    known, probe = judges.task(task), catalogue.probe(task)
    for seed in seeds_of(task):
        inputs = judges.inputs(task, np.random.default_rng(seed))
        sent = run_on_bytes(probe, answer, arrays_to_bytes(probe.shown(inputs)))
        verdict = judge(task, known, probe, inputs, Answers.from_bytes(sent))
        assert verdict.points <= points, f"seed {seed}: {verdict}"


@pytest.mark.parametrize("task", TASKS)
def test_unfilled_scaffold_is_not_attempted(task):
    verdict = check(task, getattr(students_of(task), "SCAFFOLD", unfilled), seed=0)
    assert verdict.state is State.NOT_ATTEMPTED
    assert verdict.points == 0


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "answer",
    [
        None,
        3,
        "text",
        lambda *_, **__: None,
        lambda *_, **__: 0,
        lambda *_, **__: "",
        lambda *a, **__: a[0] if a else 0,
    ],
    ids=[
        "None",
        "number",
        "text",
        "returns None",
        "returns 0",
        "returns empty text",
        "returns its input",
    ],
)
def test_nonsense_earns_nothing_and_raises_nothing(task, answer):
    verdict = check(task, answer, seed=0)
    assert verdict.points == 0, str(verdict)
    assert verdict.findings


@pytest.mark.parametrize("task", TASKS)
def test_no_evidence_means_no_points(task):
    probe = catalogue.probe(task)
    inputs = judges.inputs(task, np.random.default_rng(0))
    verdict = judge(task, judges.task(task), probe, inputs, Answers())
    assert verdict.points == 0


@pytest.mark.parametrize("task", TRIED)
def test_warnings_cost_nothing(task, capfd):
    import sys

    answer = next(iter(students_of(task).RIGHT.values()))

    def loud(*args, **kwargs):
        warnings.warn("something will change some day", stacklevel=1)
        print("a line on stderr", file=sys.stderr)
        return answer(*args, **kwargs)

    loud.__wrapped__ = answer  # as a decorator leaves it, so that what stands beside it is found

    verdict = check(task, loud, seed=0)
    assert verdict.points == verdict.out_of
    assert "something will change" in str(verdict)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("task", TRIED)
def test_bytes_between_probe_and_judge_change_nothing(task):
    known, probe = judges.task(task), catalogue.probe(task)
    inputs = judges.inputs(task, np.random.default_rng(1))
    sent = arrays_to_bytes(probe.shown(inputs))
    answers = Answers.from_bytes(run_on_bytes(probe, known.answer, sent))
    assert judge(task, known, probe, inputs, answers) == judge(
        task, known, probe, inputs, run(probe, known.answer, inputs).answers
    )
    assert judge(task, known, probe, inputs, answers).state is State.RIGHT


@pytest.mark.parametrize("task", TRIED)
def test_parts_are_not_earned_by_zeros(task):
    """A claim that is true of an empty answer would be points for nothing."""
    known, probe = judges.task(task), catalogue.probe(task)
    for seed in seeds_of(task):
        inputs = judges.inputs(task, np.random.default_rng(seed))
        expected = run(probe, known.answer, inputs).answers
        zeros = {
            n: "" if isinstance(v, str) else np.zeros_like(v) for n, v in expected.values.items()
        }
        verdict = judge(task, known, probe, inputs, Answers(zeros))
        assert verdict.points == 0, str(verdict)


@pytest.mark.parametrize("task", DRAWN)
def test_inputs_differ_from_draw_to_draw(task):
    draws = {arrays_to_bytes(judges.inputs(task, np.random.default_rng(seed))) for seed in range(6)}
    assert len(draws) >= 5


@functools.cache  # a chapter is named in hundreds of sections
def headings(chapter):
    """Every heading of a chapter."""
    notebook = (ROOT / "book" / f"{chapter}.ipynb").read_text(encoding="utf-8")
    return set(re.findall(r'"#+ (.+?)(?:\\n)?"', notebook))


@pytest.mark.parametrize("task", TASKS)
def test_sections_named_in_feedback_exist_in_the_book(task):
    known = judges.task(task)
    of_steps = {step.section for step in known.steps.values() if step.section}
    for section in {known.section, *of_steps, *(m.section for m in known.mistakes)}:
        assert section.heading in headings(section.chapter), f"{section} is not in the book"
