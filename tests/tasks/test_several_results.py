"""If a function returns several things, a verdict says which one it is about, in the words of the
task's statement.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from course_grader.assignment import Assignment, read
from course_judges import catalogue as judges
from course_judges.ch12_faster import ring, seconds
from course_judges.evidence import Evidence
from course_judges.judging import Part, Task, judge, matches, reference_of
from course_tasks import catalogue, check
from course_tasks.answers import Answers
from course_tasks.inputs import values
from course_tasks.probing import Probe, both, run
from course_tasks.verdict import Section

EXERCISES = sorted((Path(__file__).parents[2] / "exercises").glob("*/*.ipynb"))
TRAINS = {"08/train", "my-gpt/train", "my-gpt/write"}


PROBE = Probe(lambda rng: {"x": values(rng, 5)}, {"all": lambda answer, given: answer(given["x"])})
THREE = Task(
    "Three results",
    lambda x: (x + 1, 2 * x, x - 3),
    Section("01-averages", "Averages that look ahead"),
    (Part("All three.", 1, matches("all")),),
)


def said_of(task, answer):
    (finding,) = check(task, answer).findings
    return f"{finding.what} {finding.effect}"


def ring_step(change):
    return lambda *given: change(*ring.ring_step(*given))


class TestOfWhichResult:
    def test_one_is_wrong_and_the_others_are_right(self):
        inputs = both(*(PROBE.inputs(np.random.default_rng(seed)) for seed in (0, 1)))
        answers = run(PROBE, lambda x: (x + 1, 5 * x, x - 3), inputs).answers
        (finding,) = judge("three", THREE, PROBE, inputs, answers).findings
        assert "This is about result 2. Result 1 and result 3 are right." in finding.effect

    def test_two_are_wrong_in_different_ways(self):
        said = said_of(
            "12/ring",
            ring_step(lambda found, keys, values: (2 * found, keys.flip(-1), values)),
        )
        assert re.search(r"This is about `(found|keys)`\. `values` is right", said)

    def test_two_are_wrong_in_one_way(self):
        said = said_of(
            "12/ring",
            ring_step(lambda found, keys, values: (2 * found, 2 * keys, values)),
        )
        assert "another" not in said

    def test_entry_of_a_dict_is_called_by_its_key(self):
        right = seconds._variant()

        def doubled(*given):
            found = right(*given)
            return found | {"attention": 2 * found["attention"]}

        said = said_of("12/seconds", doubled)
        assert "`attention` is wrong" in said
        assert "2 for attention, 1 for feed_forward" in said


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_results_have_the_names_of_their_statement(path):
    notebook = read(path)
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    for one in Assignment.of(notebook).checks:
        # Compiled answers take seconds. What an experiment observes is named by the experiment.
        if one.task is None or one.task in TRAINS or catalogue.requires(one.task):
            continue
        if one.answer == "observed":
            continue
        inputs = judges.inputs(one.task, np.random.default_rng(0))
        task, probe = judges.task(one.task), catalogue.probe(one.task)
        reference = reference_of(task, probe, inputs, watched=True)
        evidence = Evidence(inputs, lambda watched=False, found=reference: found, Answers())
        statement = "\n".join(s for s in code if re.search(rf"(def|class) {one.answer}\b", s))
        for case in {name.split(".")[0] for name in reference.answers.values}:
            for result in evidence.results(case)[1]:
                words = {word for word in re.split(r"[._]", result) if not word.isdigit()}
                assert words <= set(re.findall(r"[A-Za-z]+", statement)), f"{one.task}: {result}"
