"""An answer that is wrong at some places only is told what is true of those places."""

import numpy as np
import pytest
import torch

from course_judges.judging import Part, Task, judge, matches, mistake
from course_tasks.inputs import tensor, values
from course_tasks.probing import Probe, both, run
from course_tasks.verdict import Section

SECTION = Section("01-averages", "Averages that look ahead")


def times(x, k):
    """(B, C) rows times their own k, and the sums of the rows."""
    return x * k[:, None], x.sum(dim=1)


def _inputs(rng):
    B, C = int(rng.integers(6, 9)), int(rng.integers(9, 12))
    return {"x": values(rng, B, C), "k": rng.permutation(np.arange(2, 2 + B))}


def _ask(answer, given):
    rows, sums = answer(tensor(given["x"]), tensor(given["k"]))
    return {"rows": rows, "sums": sums}


@mistake("You multiplied by the square of k.", "It should be k.")
def _squared(x, k):
    return times(x, k * k)


PROBE = Probe(_inputs, {"times": _ask})
TASK = Task(
    "Times", times, SECTION, (Part("Rows and sums are right.", 1, matches("times")),)
).with_mistakes({"_squared": _squared})


def in_large_rows(other):
    """The right answer, with another one in the rows where k is above 4."""

    def answer(x, k):
        rows, sums = times(x, k)
        return torch.where((k > 4)[:, None], other(x, k), rows), sums

    return answer


def said_of(answer, seed):
    rng = np.random.default_rng(seed)
    inputs = both(PROBE.inputs(rng), PROBE.inputs(rng))
    return judge("times", TASK, PROBE, inputs, run(PROBE, answer, inputs).answers).findings[0]


@pytest.mark.parametrize("seed", range(2))
def test_argument_that_tells_wrong_rows_from_right_ones_is_named(seed):
    noise = torch.randn(9, 12)
    found = said_of(in_large_rows(lambda x, k: x * noise[: len(x), : x.shape[1]]), seed)
    assert "Where it is wrong, `k` is 5, 6" in found.effect
    assert "and where it is right, `k` is 2, 3, 4." in found.effect


@pytest.mark.parametrize("seed", range(2))
def test_mistake_that_is_made_in_some_rows_is_called_by_its_name(seed):
    found = said_of(in_large_rows(lambda x, k: _squared.answer(x, k)[0]), seed)
    assert found.name == "squared"
    assert found.effect.startswith("This explains everything that is wrong")


@pytest.mark.parametrize("seed", range(2))
def test_other_argument_that_is_used_in_some_rows_is_named(seed):
    found = said_of(in_large_rows(lambda x, k: times(x, k + 1)[0]), seed)
    assert found.name == "as-if-k-one-more"
    assert found.what.startswith("Where your answer is wrong, it would be right with `k` + 1")


@pytest.mark.parametrize("seed", range(2))
def test_result_that_is_wrong_is_named_beside_those_that_are_right(seed):
    off = torch.tensor([1.5, -2.0, 0.5, -0.3, 4.0, -1.1, 0.7, -3.0, 2.2])

    def uneven_sums(x, k):
        rows, sums = times(x, k)
        return rows, sums * off[: len(x)] + off.flip(0)[: len(x)]

    found = said_of(uneven_sums, seed)
    assert found.name == "some-results"
    assert found.what == "`sums` is wrong, but `rows` is right."


@pytest.mark.parametrize("seed", range(2))
def test_no_argument_is_named_where_none_tells_the_wrong_rows_apart(seed):
    def every_other(x, k):
        rows, sums = times(x, k)
        noisy = torch.where((k % 2 == 0)[:, None], x.cumsum(dim=1).sin(), rows)
        return noisy, sums

    found = said_of(every_other, seed)
    assert "Where it is wrong" not in found.effect
    assert "exactly the places" not in found.effect
