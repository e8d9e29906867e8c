"""Findings say what the numbers show. A cause is named only if its alternatives were tried."""

import itertools
import sys
from collections import Counter

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from benchmarks import unlisted
from course_judges import at_desk
from course_judges.judging import Part, Task, judge, matches
from course_tasks import Tells, check
from course_tasks.errors import ReturnedTypeError
from course_tasks.inputs import integer, parts_of, tensor
from course_tasks.probing import Probe, run
from course_tasks.verdict import Section

HERE = Section("01-averages", "From sums to means")


def said_of(answer, right, cases, inputs):
    """The first finding on an answer to a task with these cases."""
    task = Task("A task", right, HERE, (Part("It is right.", 1, matches(*cases)),))
    probe = Probe(lambda _: inputs, cases)
    given = run(probe, answer, inputs).answers
    return judge("none", task, probe, inputs, given).findings[0]


X = {"x": np.arange(12.0).reshape(3, 4) ** 2, "y": np.arange(12.0).reshape(3, 4) + 5}


def first_of(answer, right):
    return said_of(answer, right, {"x": lambda f, given: f(tensor(given["x"]))}, X)


def test_array_for_a_number_is_told_by_its_shape_and_not_as_several_values():
    def both(answer, given):
        return [answer(tensor(given["x"])), answer(tensor(given["y"]))]

    finding = said_of(lambda x: x.mean(0)[:2], torch.mean, {"both": both}, X)
    assert finding.name == "shape"
    assert finding.what == "Your answer returns an array of shape (2,) instead of one number."


def test_module_or_function_for_a_result_is_called_what_it_is():
    class Head(nn.Module):
        pass

    for returned, name in ((Head(), "a module, `Head`"), (first_of, "the function `first_of`")):
        finding = first_of(lambda _, returned=returned: returned, torch.mean)
        assert name in finding.what
    # Here the probe itself stumbles over what it was given.
    assert "a module, `Head`" in check("09/last", lambda *_: Head(), seed=0).findings[0].what


def test_results_without_names_are_counted():
    cases = {"x": lambda f, given: parts_of(f(tensor(given["x"])), "0", "1")}
    finding = said_of(lambda x: [x], lambda x: [x, x], cases, X)
    assert "2 results" in finding.effect
    assert "`0`" not in finding.effect


@pytest.mark.parametrize("make", [lambda x: x.expand(2, 3, 4), lambda x: torch.stack([x * 3, x])])
def test_right_answer_along_an_axis_too_many_is_seen(make):
    finding = first_of(make, lambda x: x)
    assert finding.name == "axis-too-many"
    assert "axis 0 of length 2" in finding.what


def test_argument_that_makes_no_difference_is_named():
    cases = {f"k{k}": lambda f, given, k=k: f(x=tensor(given["x"]), k=k, scale=2.0) for k in (1, 3)}
    finding = said_of(
        lambda x, k, scale: (x + 1) * scale, lambda x, k, scale: (x + k) ** 2 * scale, cases, X
    )
    assert finding.name == "argument-ignored"
    assert finding.what == "`k` makes no difference to your answer, but it should."
    assert "with 1 and with 3" in finding.effect


def test_whole_number_written_as_a_float_is_the_number():
    assert integer(280.0, "counts") == integer(torch.tensor(280), "counts") == 280
    with pytest.raises(ReturnedTypeError, match=r"1\.5"):
        integer(1.5, "counts")


def test_small_number_in_the_sum_of_powers_is_not_called_a_limit_on_scores():
    def with_eps(scores, visible):
        powers = (scores.exp() + 1e-8) * visible
        return powers / powers.sum(dim=-1, keepdim=True)

    for seed in range(4):
        said = str(check("01/masked-softmax", with_eps, seed=seed))
        assert "are cut off at a limit" not in said


def test_another_shape_of_draws_is_not_called_another_temperature():
    def as_rows(logits, temperature, generator):
        drawn = torch.multinomial((logits / max(temperature, 1e-3)).softmax(-1), 1)
        return drawn.reshape(2, -1) if len(drawn) > 2 and len(drawn) % 2 == 0 else drawn.squeeze(1)

    assert check("04/sample", as_rows, seed=0).findings[0].name != "another-temperature"


def test_answer_that_refuses_a_temperature_of_0_is_not_said_to_divide_by_it():
    def refuses(logits, temperature, generator):
        if temperature == 0:
            raise ValueError("the temperature must not be 0 or inf")
        weights = (logits / temperature).softmax(dim=-1)
        return torch.multinomial(weights, 1, generator=generator).squeeze(1)

    finding = check("04/sample", refuses, seed=0).findings[0]
    assert "you divide by 0" not in finding.what


def test_small_amount_that_was_added_is_not_called_rounding():
    def with_more(tokens, vocab_size, k):
        counts = torch.zeros(vocab_size, vocab_size)
        for row in tokens:
            for one, other in itertools.pairwise(row):
                counts[one, other] += 1
        counts += k
        sums = counts.sum(dim=1, keepdim=True)
        uniform = torch.full_like(counts, 1 / vocab_size)
        return torch.where(sums > 0, counts / sums.clamp(min=1e-9), uniform) + 1e-4

    said = str(check("04/probabilities", with_more, seed=0))
    assert "Don't round" not in said
    assert "are rounded to" not in said


def test_heads_that_take_another_samples_mask_are_told_whose():
    class Folded(nn.Module):
        def __init__(self, n_embd, n_memory, n_head):
            super().__init__()
            self.n_head, self.norm = n_head, nn.LayerNorm(n_embd)
            self.query = nn.Linear(n_embd, n_embd, bias=False)
            self.key = nn.Linear(n_memory, n_embd, bias=False)
            self.value = nn.Linear(n_memory, n_embd, bias=False)
            self.projection = nn.Linear(n_embd, n_embd, bias=False)

        def forward(self, x, memory, real):
            B, H = len(x), self.n_head

            def fold(p):
                return p.unflatten(2, (H, -1)).transpose(1, 2).flatten(0, 1)  # (B·H, T, D)

            q, k, v = (
                fold(self.query(self.norm(x))),
                fold(self.key(memory)),
                fold(self.value(memory)),
            )
            hidden = ~real.repeat(H, 1)[:, None]
            scores = q @ k.mT / q.shape[-1] ** 0.5
            weights = scores.masked_fill(hidden, -torch.inf).softmax(-1).nan_to_num(0.0)
            return x + self.projection(
                (weights @ v).unflatten(0, (B, H)).transpose(1, 2).flatten(2)
            )

    for seed in range(3):
        finding = check("13/cross-block", Folded, seed=seed).findings[0]
        assert finding.name == "mask-of-another-sample"
        assert "In sample 0, head 1 sees what `real` shows of sample 1" in finding.effect


def test_nobody_is_told_of_an_endless_loop_while_jax_may_compile(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jax", sys)
    at_desk._say_how_to_stop()
    assert "loop" not in capsys.readouterr().out
    monkeypatch.delitem(sys.modules, "jax")
    at_desk._say_how_to_stop()
    assert "loop" in capsys.readouterr().out


def test_answer_that_changes_what_it_is_given_is_led_to_its_own_section_and_entry():
    def in_place(scores, visible):
        return F.softmax(scores.masked_fill_(~visible, -torch.inf), dim=-1)

    finding = check("01/masked-softmax", in_place, seed=0).findings[0]
    assert finding.name == "changes-its-input"
    assert finding.section.chapter == "01-averages"
    assert finding.entry == "changed-in-place"


def test_only_an_answer_that_was_run_and_gave_the_same_is_a_cause():
    def transposed(x, w_query, w_key):
        return (x @ w_key) @ (x @ w_query).mT / w_key.shape[1] ** 0.5

    def noise(x, w_query, w_key):
        scores = (x @ w_query) @ (x @ w_key).mT / w_key.shape[1] ** 0.5
        return scores + torch.linspace(1, 2, scores.numel()).sin().view(scores.shape)

    assert check("05/scores", transposed, seed=0).findings[0].tells is Tells.CAUSE
    assert check("05/scores", noise, seed=0).findings[0].tells is Tells.PLACE
    right = {"x": np.arange(24.0).reshape(2, 3, 4) ** 1.5}
    cases = {"x": lambda f, given: f(tensor(given["x"]))}
    # Every number is off by another amount, so there is nothing to say.
    finding = said_of(lambda x: x + (7 * x).sin(), lambda x: x, cases, right)
    assert (finding.name, finding.tells) == ("difference", Tells.NOTHING)
    # The first sample is right: that is a place.
    finding = said_of(lambda x: torch.cat([x[:1], x[1:].sin()]), lambda x: x, cases, right)
    assert finding.tells is Tells.PLACE


def test_benchmark_of_unlisted_answers_says_what_changed():
    before = {"a": {"how": "place", "points": [1], "name": ["x"], "says": ["X"]}}
    same = {"a": before["a"], "b": before["a"]}
    assert not list(unlisted.changes(before, same))
    (more,) = unlisted.changes(before, {"a": {**before["a"], "how": "cause", "name": ["y"]}})
    assert more.startswith("more a")
    points, less = unlisted.changes(
        before, {"a": {"how": "nothing", "points": [0], "name": ["x"], "says": ["X"]}}
    )
    assert points.startswith("POINTS a: [1] → [0]")
    assert less.startswith("LESS a")
    assert "| all | 3 | 0 | 1 | 0 | 2 |" in unlisted.table(
        {"set_01": Counter(cause=2), "set_02": Counter(nothing=1)}
    )
