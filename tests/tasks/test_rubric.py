"""A rubric says ✓ of what is earned, ✗ of what was seen to fail, and – of what nothing tells."""

import numpy as np
import pytest
import torch

from course_judges.judging import Part, Task, judge, matches
from course_tasks.probing import Probe, run
from course_tasks.verdict import Section, State

HERE = Section("01-averages", "From sums to means")


def parts_of(x):
    return {"double": 2 * x, "square": x * x, "count": torch.tensor(float(len(x)))}


TASK = Task(
    "Three numbers",
    parts_of,
    HERE,
    (
        Part("Doubles are right.", 2, matches("all.double")),
        Part("On top of that, squares are right.", 1, lambda e: right(e, "double", "square")),
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
        "  ✓ 1 other part (1)",
        "  – 1 part not looked at (1)",
    ]
    assert "not looked at" in given.to_html()
    assert [part.get("looked_at", True) for part in given.to_json()["parts"]] == [True, False, True]


def test_same_claim_about_several_results_is_one_line():
    from course_tasks import check

    noted = {"text": "shakespeare", "last_1": 9.12, "last_4": 9.13, "all": 0.237}
    given = str(check("01/vowels", lambda: noted))
    assert "  ✗ `last_1`, `last_4` as in our runs (2)" in given.splitlines()
