"""Findings quote numbers and factors of the calls that are wrong."""

import numpy as np
import pytest
import torch

from course_judges.judging import Part, Task, judge, matches
from course_tasks.inputs import values, whole
from course_tasks.probing import Probe, both, run
from course_tasks.verdict import Section

SECTION = Section("01-averages", "Averages that look ahead")


def table(A, B):
    """(A, B)."""
    return torch.arange(1, A + 1)[:, None] ** 0.5 + torch.arange(B) ** 1.5


def _drawn(A, B):
    return lambda rng: {"x": values(rng, 3), "A": whole(A), "B": whole(B)}


PROBE = Probe(
    _drawn(4, 6),
    {
        "first": lambda answer, given: answer(int(given["A"]), int(given["B"])),
        "turned": lambda answer, given: answer(int(given["B"]), int(given["A"])),
    },
)
TASK = Task("A table", table, SECTION, (Part("The table.", 1, matches("first", "turned")),))


def said_of(answer, second):
    rng = np.random.default_rng(0)
    inputs = both(PROBE.inputs(rng), _drawn(*second)(rng))
    return judge("table", TASK, PROBE, inputs, run(PROBE, answer, inputs).answers).findings[0]


def bent(where):
    """The right answer, with noise for some A and B."""

    def answer(A, B):
        noise = torch.tensor([0.3, -1.0, 2.0, 0.1, -0.7, 1.4, 0.9])
        return table(A, B) + (noise[:A, None] * noise[:B] if where(A, B) else 0)

    return answer


def test_numbers_of_a_draw_are_quoted_where_a_wrong_call_had_them():
    effect = said_of(bent(lambda A, B: A == 4 and B == 6), (2, 3)).effect
    assert effect.endswith("It is right with A = 2, B = 3, but wrong with A = 4, B = 6.")


def test_numbers_of_a_draw_are_not_quoted_where_no_wrong_call_had_them():
    effect = said_of(bent(lambda A, B: A > 4), (2, 3)).effect
    assert "It was called with A = 6, B = 4." in effect
    assert "It is right with" not in effect


@pytest.mark.parametrize(("power", "name"), [(1, "A"), (-1, "1 / A"), (0.5, "√A")])
def test_a_factor_is_called_by_the_dimension_that_it_is(power, name):
    effect = said_of(lambda A, B: table(A, B) * A**power, (5, 3)).effect
    assert f" here, which is {name}. " in effect


@pytest.mark.parametrize("factor", [4, 2.7])
def test_a_factor_that_is_no_dimension_in_all_draws_has_no_name(factor):
    effect = said_of(lambda A, B: table(A, B) * factor, (5, 3)).effect
    assert f"The factor is {factor} here. " in effect
