"""One judge for a whole class computes the right results once, and tells each student the same as a
judge of their own.
"""

from itertools import chain, islice

import numpy as np
import pytest
from parameters import rows
from students import students_of

from course_judges import catalogue as judges
from course_judges import variants
from course_judges.judging import Judge, Mistake, Part, Task, matches
from course_judges.variants import Variants
from course_tasks import Section, State, catalogue
from course_tasks.observing import nothing
from course_tasks.probing import Probe, run

FEW = 5
SHORT = [
    task
    for task in catalogue.names()
    # Some train for seconds, and chapter 10 compiles.
    if task not in ("08/train", "my-gpt/train", "my-gpt/write")
    and not task.startswith("10/")
    and catalogue.probe(task).inputs != nothing
]
HERE = Section("01-averages", "Somewhere")


@pytest.mark.parametrize("task", rows((task,) for task in SHORT))
def test_judge_of_a_class_says_what_a_fresh_one_says(task):
    known, probe, students = judges.task(task), catalogue.probe(task), students_of(task)
    inputs = judges.inputs(task, np.random.default_rng(5))
    of_the_class = Judge(task, known, probe, inputs)
    wrong = islice(chain(students.WRONG.values(), (m.answer for m in known.mistakes)), FEW)
    for answer in (known.answer, *wrong, *students.RIGHT.values(), known.answer):
        answers = run(probe, answer, inputs).answers
        alone = Judge(task, known, probe, inputs).verdict(answers)
        assert of_the_class.verdict(answers) == alone
        assert (alone.state is State.RIGHT) == of_the_class.earns_everything(answers)


class Doubling:
    """A task whose right answer and mistakes count how often they are called."""

    def __init__(self):
        self.calls = dict.fromkeys(("right", "squared", "same"), 0)
        self.probe = Probe(
            lambda rng: {"x": rng.normal(size=5) + 3, "y": rng.normal(size=4) - 3},
            {name: lambda answer, given, name=name: answer(given[name]) for name in "xy"},
        )
        self.task = Task(
            "Doubling",
            self.counted("right", lambda x: 2 * x),
            HERE,
            (Part("doubled", 2, matches("x", "y")),),
            tuple(
                Mistake(name, self.counted(name, answer), "What was done.", "What it does.", HERE)
                for name, answer in (("squared", lambda x: x * x), ("same", lambda x: x))
            ),
        )
        self.inputs = self.probe.inputs(np.random.default_rng(0))

    def counted(self, name, answer):
        def call(x):
            self.calls[name] += 1
            return answer(x)

        return call

    def told(self, judge, answer):
        (finding,) = judge.verdict(run(self.probe, answer, self.inputs).answers).findings
        return finding.name


def test_right_answer_and_mistakes_run_once_for_a_class():
    doubling = Doubling()
    judge = Judge("00/double", doubling.task, doubling.probe, doubling.inputs)
    for _ in range(3):
        assert doubling.told(judge, lambda x: x.copy()) == "same"
        assert doubling.told(judge, lambda x: x * x) == "squared"
    # The first look at `squared` ends at the case in which it differs; the second goes on.
    assert doubling.calls["squared"] <= 3
    assert doubling.calls["same"] == 2
    right = doubling.calls["right"]
    assert doubling.told(judge, lambda x: x * x) == "squared"
    assert doubling.calls["right"] == right


def test_variant_that_was_left_early_is_finished_when_more_is_asked():
    doubling = Doubling()
    kept = Variants()
    squared = doubling.task.mistakes[0].answer

    def asked(until=None):
        return kept.answers(squared, doubling.probe, doubling.inputs, until)

    assert set(asked(lambda case, _: case == "x").values) == {"x"}
    assert set(asked(lambda case, _: case == "x").values) == {"x"}
    assert doubling.calls["squared"] == 1
    assert set(asked(lambda case, _: False).values) == {"x", "y"}
    assert set(asked().values) == {"x", "y"}
    assert doubling.calls["squared"] == 3


def test_what_is_kept_of_variants_has_a_bound(monkeypatch):
    doubling = Doubling()
    monkeypatch.setattr(variants, "MOST_BYTES", 8 * 9 + 1)  # nine numbers: one variant's
    kept = Variants()
    for _ in range(2):
        for mistake in doubling.task.mistakes:
            assert set(kept.answers(mistake.answer, doubling.probe, doubling.inputs).values) == {
                "x",
                "y",
            }
    assert doubling.calls["squared"] == 2
    assert doubling.calls["same"] == 4
