"""A training repeats itself exactly, and goes on where it was stopped as if it had not been."""

import math
import os
import signal

import pytest
import torch
from small_trainings import QUIET, Failing, assert_same_weights, weights
from torch import nn

from course_lib.data import Corpus
from course_lib.errors import CheckpointError, NonFiniteLossError
from course_lib.training import evaluate, fit


def test_same_seed_same_losses_and_other_seed_other_losses(corpus, build):
    runs = [
        fit(build(dropout=0.2), corpus, steps=12, seed=seed, **QUIET).losses for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_losses_do_not_depend_on_the_global_seed_and_leave_it_alone(corpus, build):
    models = [build(dropout=0.2), build(dropout=0.2)]
    torch.manual_seed(1)
    first = fit(models[0], corpus, steps=6, **QUIET).losses
    torch.manual_seed(2)
    before = torch.get_rng_state()
    assert fit(models[1], corpus, steps=6, **QUIET).losses == first
    assert torch.equal(torch.get_rng_state(), before)


def test_how_often_is_evaluated_changes_no_loss(corpus, build):
    rarely = fit(build(dropout=0.2), corpus, steps=9, **QUIET, evaluate_every=9)
    often = fit(build(dropout=0.2), corpus, steps=9, **QUIET, evaluate_every=1)
    assert rarely.losses == often.losses
    assert [e.step for e in rarely.evaluations] == [9]
    assert [e.step for e in often.evaluations] == list(range(1, 10))
    assert rarely.validation == often.validation


@pytest.mark.parametrize("optimizer", ["adamw", "muon", "sgd"])
@pytest.mark.parametrize("tied", [False, True])
def test_a_resumed_training_meets_the_losses_of_an_uninterrupted_one(
    corpus, build, optimizer, tied, tmp_path
):
    settings = {"steps": 24, "optimizer": optimizer, "schedule": "cosine", "evaluate_every": 6}
    settings |= {"clip": 1.0, **QUIET}
    whole_model = build(dropout=0.3, tied=tied)
    whole = fit(whole_model, corpus, **settings)

    def interrupt(loss):
        raise KeyboardInterrupt

    path = tmp_path / "run.safetensors"
    cut = build(dropout=0.3, tied=tied)
    first = fit(Failing(cut, 15, interrupt).model, corpus, **settings | {"seconds": 1e-9})
    assert first.steps == 1  # the budget ended it: nothing was written, nothing is resumed
    cut = build(dropout=0.3, tied=tied)
    stopper = _StopAt(15)
    with stopper.installed(cut):
        first = fit(cut, corpus, checkpoint=path, **settings)
    assert first.stopped == "interrupted"
    assert first.losses == whole.losses[: first.steps]
    assert 0 < first.steps < 24
    fresh = build(dropout=0.3, tied=tied, **{})
    with torch.no_grad():
        fresh.norm.weight.mul_(3)  # whatever it holds is replaced
    rest = fit(fresh, corpus, resume=path, **settings)
    assert rest.losses == whole.losses
    assert [(e.step, e.loss) for e in rest.evaluations] == [
        (e.step, e.loss) for e in whole.evaluations
    ]
    assert_same_weights(weights(fresh), weights(whole_model))
    assert rest.seconds > first.seconds
    assert rest.stopped == "steps"


class _StopAt:
    """Presses Ctrl-C during the n-th training forward of a model."""

    def __init__(self, step: int):
        self.left = step

    def installed(self, model: nn.Module):
        def press(module, arguments):
            if module.training:
                self.left -= 1
                if self.left == 0:
                    os.kill(os.getpid(), signal.SIGINT)

        return model.register_forward_pre_hook(press)


def test_ctrl_c_finishes_the_step_and_keeps_history_and_model(corpus, build):
    whole = fit(build(), corpus, steps=20, evaluate_every=20, **QUIET)
    handler = signal.getsignal(signal.SIGINT)
    model = build()
    with _StopAt(7).installed(model):
        history = fit(model, corpus, steps=20, evaluate_every=20, **QUIET)
    assert history.stopped == "interrupted"
    assert history.losses == whole.losses[:7]
    short = build()
    fit(short, corpus, steps=7, **QUIET)
    assert_same_weights(weights(model), weights(short))
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_keyboard_interrupt_inside_the_model_keeps_history_too(corpus, build):
    def interrupt(loss):
        raise KeyboardInterrupt

    history = fit(Failing(build(), 5, interrupt), corpus, steps=20, **QUIET)
    assert history.stopped == "interrupted"
    assert history.steps == 4


def test_a_step_that_was_broken_off_is_repeated_exactly_after_resuming(corpus, build, tmp_path):
    settings = {"steps": 10, **QUIET}
    whole = fit(build(dropout=0.3), corpus, **settings)
    model, path = build(dropout=0.3), tmp_path / "run.safetensors"
    forward, left = model.forward, iter(range(6))

    def break_off(*arguments):
        answer = forward(*arguments)  # dropout has been drawn
        if model.training and next(left, None) is None:
            raise KeyboardInterrupt
        return answer

    model.forward = break_off
    first = fit(model, corpus, checkpoint=path, evaluate_every=10, **settings)
    assert (first.stopped, first.steps) == ("interrupted", 6)
    rest = fit(build(dropout=0.3), corpus, resume=path, evaluate_every=10, **settings)
    assert rest.losses == whole.losses


def test_training_stops_at_its_target(corpus, build):
    history = fit(build(), corpus, steps=500, lr=0.02, target=1.5, evaluate_every=10, **QUIET)
    assert history.stopped == "target"
    assert history.steps < 500
    assert history.evaluations[-2].loss > 1.5 >= history.validation
    assert history.seconds_to(1.5) == history.evaluations[-1].seconds
    assert history.seconds_to(0.01) is None


def test_training_stops_when_its_time_is_over_and_says_how_good_it_is(corpus, build):
    history = fit(build(), corpus, steps=10**6, seconds=0.05, **QUIET)
    assert history.stopped == "seconds"
    assert history.steps < 10**6
    assert history.evaluations[-1].step == history.steps


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_stops_with_step_value_causes_and_nothing_lost(
    corpus, build, value
):
    inner = build()
    model = Failing(inner, 6, lambda loss: loss * value)
    with pytest.raises(NonFiniteLossError) as stop:
        fit(model, corpus, steps=20, lr=0.005, **QUIET)
    message = str(stop.value)
    assert f"step 6: the loss is {value}" in message
    assert "learning rate" in message
    assert "lr = 0.005" in message
    assert stop.value.history.steps == 5
    until = build()
    fit(until, corpus, steps=5, lr=0.005, **QUIET)
    assert_same_weights(weights(inner), weights(until))


def test_causes_name_weights_that_are_broken_and_losses_that_rose(corpus, build):
    model = build()
    with torch.no_grad():
        model.norm.bias[3] = math.nan
    with pytest.raises(NonFiniteLossError, match=r"step 1: .*not finite already \(norm\.bias\)"):
        fit(model, corpus, steps=3, **QUIET)
    values = iter([3.0, 2.5, 3.5, math.nan])
    model = Failing(build(), 0, None)
    model.model.register_forward_hook(lambda *call: _with_loss(call[2], model, values))
    with pytest.raises(
        NonFiniteLossError, match=r"rose from 2\.500 to 3\.500 before; try lr = 0\.0001"
    ):
        fit(model, corpus, steps=300, lr=1e-3, **QUIET)


def _with_loss(answer, model, values):
    logits, loss = answer
    if loss is not None and model.training:
        loss = loss - loss.detach() + next(values)
    return logits, loss


def test_a_gradient_that_is_not_finite_is_caught_before_it_reaches_the_weights(corpus, build):
    inner = build()
    before = weights(inner)

    def endless_slope(loss):  # finite itself
        return loss + (loss - loss.detach()).abs().sqrt()

    with pytest.raises(NonFiniteLossError, match="norm of the gradient"):
        fit(Failing(inner, 1, endless_slope), corpus, steps=3, clip=1.0, **QUIET)
    assert_same_weights(weights(inner), before)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lr": 0.002}, "lr: 0.001 in the file, 0.002 now"),
        ({"seed": 5}, "seed: 0 in the file, 5 now"),
        ({"schedule": "linear"}, "schedule"),
        ({"optimizer": "sgd"}, "optimizer: adamw in the file, sgd now"),
        ({"steps": 9}, "steps: 4 in the file, 9 now"),
    ],
)
def test_a_checkpoint_of_another_training_names_what_differs(
    corpus, build, tmp_path, changed, message
):
    path, settings = tmp_path / "run.safetensors", {"steps": 4, **QUIET}
    fit(build(), corpus, checkpoint=path, **settings)
    model = build()
    before = weights(model)
    with pytest.raises(CheckpointError, match=message):
        fit(model, corpus, resume=path, **{**settings, **changed})
    assert_same_weights(weights(model), before)


def test_a_checkpoint_of_another_corpus_is_refused(corpus, build, tmp_path):
    path, settings = tmp_path / "run.safetensors", {"steps": 4, **QUIET}
    fit(build(), corpus, checkpoint=path, **settings)
    other = Corpus("other", "", corpus.vocabulary, {**corpus.splits, "train": corpus.train.flip(0)})
    with pytest.raises(CheckpointError, match="corpus is another"):
        fit(build(), other, resume=path, **settings)


def test_a_finished_training_resumes_to_itself(corpus, build, tmp_path):
    path, settings = tmp_path / "run.safetensors", {"steps": 4, **QUIET}
    done = fit(build(), corpus, checkpoint=path, **settings)
    model = build()
    again = fit(model, corpus, resume=path, **settings)
    assert again.losses == done.losses
    assert evaluate(model, corpus.validation, 8) == done.validation
