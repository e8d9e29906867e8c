"""A rubric says ✓ of what is earned, ✗ of what was seen to fail, and – of what nothing tells."""

from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch

from course_judges import catalogue as judges
from course_judges.judging import MOST_WORDS, Part, Task, judge, matches
from course_tasks.probing import Probe, run
from course_tasks.verdict import MEDIA_TYPE, Finding, Section, State

SOLUTIONS = sorted((Path(__file__).parents[2] / "solutions").glob("*/*.ipynb"))
HERE = Section("01-averages", "From sums to means")


def parts_of(x):
    return {"double": 2 * x, "square": x * x, "count": torch.tensor(float(len(x)))}


TASK = Task(
    "Three numbers",
    parts_of,
    HERE,
    (
        Part("Doubles are right.", 2, matches("all.double")),
        Part("Squares are right.", 1, lambda e: right(e, "double", "square")),
        Part("The count is right.", 1, lambda e: right(e, "count")),
    ),
)
PROBE = Probe(
    lambda rng: {"x": rng.normal(size=5)},
    {"all": lambda answer, given: answer(torch.from_numpy(given["x"]))},
)


def right(evidence, *names):
    return all(
        np.allclose(evidence.yours(f"all.{name}"), evidence.right(f"all.{name}")) for name in names
    )


def verdict(answer):
    inputs = PROBE.inputs(np.random.default_rng(0))
    return judge("none", TASK, PROBE, inputs, run(PROBE, answer, inputs).answers)


def signs(answer):
    return [
        "✓" if part.earned else "✗" if part.looked_at else "–" for part in verdict(answer).parts
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"double": lambda x: 3 * x}, "✗–✓"),
        ({"square": lambda x: x + 1}, "✓✗✓"),
        ({"double": lambda x: 3 * x, "square": lambda x: x + 1}, "✗✗✓"),
        ({"double": lambda x: x[:2]}, "––✓"),
        ({"count": lambda x: len(x) + 1.0}, "✓✓✗"),
    ],
)
def test_part_is_said_to_fail_only_if_something_of_its_own_is_wrong(change, expected):
    def answer(x):
        return parts_of(x) | {name: make(x) for name, make in change.items()}

    assert signs(answer) == list(expected)


def test_nothing_is_said_to_fail_in_an_answer_that_stops():
    assert signs(lambda x: 1 / 0) == ["–", "–", "–"]


def test_parts_that_are_not_looked_at_are_counted_and_those_that_fail_named():
    given = verdict(lambda x: parts_of(x) | {"double": 3 * x})
    assert given.state is State.PARTLY
    shown = str(given).splitlines()
    assert shown[1:4] == [
        "  ✗ Doubles are right. (2)",
        "  ✓ 1 other (1)",
        "  – 1 not looked at (1)",
    ]
    assert "not looked at" in given.to_html()
    assert [part.get("looked_at", True) for part in given.to_json()["parts"]] == [True, False, True]


def test_same_claim_about_several_results_is_one_line():
    from course_tasks import check

    noted = {"text": "shakespeare", "last_1": 9.12, "last_4": 9.13, "all": 0.237}
    given = str(check("01/vowels", lambda: noted))
    assert "  ✗ `last_1`, `last_4` as in our runs (2)" in given.splitlines()


def test_no_verdict_is_longer_than_anyone_reads_unless_it_works_an_example_out():
    long = " ".join(f"Number {n} is one of very many that nobody reads." for n in range(12))

    def unlike(x):
        return parts_of(x) | {"double": (17 * x).sin(), "square": (9 * x).cos()}

    def says(_):
        return Finding("too-long", "It is wrong.", long, HERE)

    for where, most in (("properties", MOST_WORDS), ("examples", 1000)):
        task = replace(TASK, **{where: (says,)})
        inputs = PROBE.inputs(np.random.default_rng(0))
        answers = run(PROBE, unlike, inputs).answers
        shown = str(judge("none", task, PROBE, inputs, answers))
        assert (len(shown.split()) <= MOST_WORDS) == (most == MOST_WORDS)
        assert shown.splitlines()[-2].endswith("that nobody reads.")


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_stored_verdicts_of_solutions_name_the_parts_of_today(path):
    stored = [
        output["data"][MEDIA_TYPE]
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
        if MEDIA_TYPE in output.get("data", {})
    ]
    assert stored
    for verdict in stored:
        names = [part.name for part in judges.task(verdict["task"]).parts]
        assert [part["name"] for part in verdict["parts"]] == names
