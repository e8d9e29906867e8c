"""A wrong answer that would be right with other arguments is told which, and no other answer is."""

import numpy as np
import pytest
import torch
from torch import nn

from course_judges.judging import Part, Task, judge, matches
from course_tasks.inputs import number, tensor, values, whole
from course_tasks.probing import Probe, both, run
from course_tasks.verdict import Section, State

SECTION = Section("01-averages", "Averages that look ahead")


def mixed(x, y, k, share):
    """(B, C) each; a share of x with y rolled by k."""
    return share * x + (1 - share) * y.roll(k, dims=1)


def _inputs(rng):
    B, C = int(rng.integers(3, 5)), int(rng.integers(6, 9))
    return {
        "x": values(rng, B, C),
        "y": values(rng, B, C),
        "k": whole(int(rng.integers(2, 4))),
        "share": number(float(rng.uniform(0.6, 0.8))),
    }


def _ask(answer, given):
    return answer(tensor(given["x"]), tensor(given["y"]), int(given["k"]), float(given["share"]))


PROBE = Probe(_inputs, {"mixed": _ask})
TASK = Task("Mixed", mixed, SECTION, (Part("The mixture is right.", 1, matches("mixed")),))


def said_of(answer, *, probe=PROBE, task=TASK, seed=0):
    rng = np.random.default_rng(seed)
    inputs = both(probe.inputs(rng), probe.inputs(rng))
    verdict = judge("mixed", task, probe, inputs, run(probe, answer, inputs).answers)
    assert verdict.state is not State.RIGHT
    return verdict.findings[0]


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (lambda x, y, k, share: mixed(x, y, k + 1, share), "as-if-k-one-more"),
        (lambda x, y, k, share: mixed(x, y, 0, share), "as-if-k-0"),
        (lambda x, y, k, share: mixed(y, x, k, share), "as-if-x-and-y-exchanged"),
        (lambda x, y, k, share: mixed(x, x, k, share), "as-if-y-were-x"),
        (lambda x, y, k, share: mixed(x, y, k, 1 - share), "as-if-share-1-minus"),
        (lambda x, y, k, share: mixed(x, y[:1].expand_as(y), k, share), "as-if-y-first-for-all"),
        (lambda x, y, k, share: mixed(x, y.flip(1), k, share), "as-if-y-flipped-1"),
    ],
)
def test_other_arguments_are_named(wrong, name):
    for seed in range(3):
        found = said_of(wrong, seed=seed)
        assert found.name == name
        assert found.what.startswith("Your answer would be right with ")
        assert "It was called with x of shape" in found.effect


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, y, k, share: mixed(x, y, k, share).sin(),
        lambda x, y, k, share: torch.zeros_like(x),  # right with many arguments
        lambda x, y, k, share: 1 / 0,
        lambda x, y, k, share: None,
    ],
)
def test_nothing_is_said_of_other_answers(wrong):
    assert not said_of(wrong).name.startswith("as-if")


def test_a_coincidence_in_one_draw_is_not_named():
    def wrong(x, y, k, share):
        return mixed(x, y, k + 1 if k == 2 else k + 2, share)

    seen = [said_of(wrong, seed=seed).name for seed in range(12)]
    both_sizes = [seed for seed in range(12) if len(_sizes(seed)) == 2]
    assert both_sizes  # there are draws in which the two rules differ
    assert not any(seen[seed].startswith("as-if-k") for seed in both_sizes)


def _sizes(seed):
    rng = np.random.default_rng(seed)
    return {int(_inputs(rng)["k"]) for _ in range(2)}


class Scaled(nn.Module):
    """x times a factor, in groups."""

    def __init__(self, size, times):
        super().__init__()
        self.gain = nn.Parameter(torch.arange(1.0, size + 1))
        self.times = times

    def forward(self, x):
        return x * self.gain * self.times + x.roll(1, dims=1)


def test_arguments_of_a_class_are_changed_too():
    probe = Probe(
        _inputs,
        {"out": lambda answer, given: answer(given["x"].shape[1], 3)(tensor(given["x"])).detach()},
    )
    task = Task("Scaled", Scaled, SECTION, (Part("It is scaled.", 1, matches("out")),))

    class Wrong(Scaled):
        def forward(self, x):
            return super().forward(x.flip(0))

    assert said_of(lambda size, times: Scaled(size, times - 1), probe=probe, task=task).name == (
        "as-if-times-one-less"
    )
    assert said_of(Wrong, probe=probe, task=task).name == "as-if-x-flipped-0"
