"""Answers to 07/find-fault that no recorder wrote show nothing, and stop nobody's judge."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from course_judges.ch07_block import find_fault
from course_tasks.ch07_block.find_fault import FAULTS

SHAPES = [(2, 3, 4), (1, 3, 4), (0, 3, 4), (2, 0, 4), (2, 3, 0), (2, 3, 5), (4,), ()]
FORGED = [np.zeros(shape, kind) for shape in SHAPES for kind in ("i8", "?", "u1", "f8", "c16")]
FORGED += [np.full((2, 3, 4), value) for value in (-(2**63), np.nan, np.inf, "x")]


def evidence(**values):
    known = {f"block_0.runs.{name}": value for name, value in values.items()}
    return SimpleNamespace(answers=SimpleNamespace(values=known), yours=known.__getitem__)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fault", FAULTS)
def test_forged_runs_show_a_fault_or_not_and_never_raise(fault):
    for first, second in itertools.product(FORGED, FORGED):
        shown = find_fault._shown(evidence(**{f"{fault}.0": first, f"{fault}.1": second}), 0, fault)
        assert shown in (True, False)
        if first.dtype.kind != "f" or second.dtype.kind != "f":
            assert not shown


@pytest.mark.parametrize("forged", [np.ones(3), np.zeros(0), np.ones((2, 2), int)])
def test_forged_count_of_derivatives_shows_nothing(forged):
    assert not find_fault._shown(evidence(derivatives=forged), 0, FAULTS[0])


def test_counted_derivative_shows_every_fault():
    for fault in FAULTS:
        assert find_fault._shown(evidence(derivatives=np.array(1)), 0, fault)
        assert not find_fault._shown(evidence(derivatives=np.array(0)), 0, fault)
