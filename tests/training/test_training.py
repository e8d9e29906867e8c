"""The loop learns, measures what it says, and leaves alone what it should not touch."""

import math

import pytest
import torch
from small_trainings import QUIET, assert_same_weights, weights

from course_lib import data, optimizers, training
from course_lib.model import Bigram, ManyHeads, OneHead, fuse
from course_lib.training import evaluate, fit, step


@pytest.mark.parametrize("optimizer", ["adamw", "muon", "sgd"])
def test_every_optimizer_brings_the_loss_down(corpus, build, optimizer):
    model = build()
    before = evaluate(model, corpus.validation, 8)
    lr = 0.5 if optimizer == "sgd" else 0.01
    history = fit(model, corpus, steps=120, lr=lr, optimizer=optimizer, **QUIET)
    assert history.validation < before - 1
    assert history.validation == evaluate(model, corpus.validation, 8)
    assert history.tokens == 120 * 8 * 8


@pytest.mark.parametrize("form", ["Bigram", "OneHead", "ManyHeads", "fused"])
def test_every_model_of_the_course_can_be_trained(corpus, build, form):
    V = len(corpus.vocabulary)
    model = {
        "Bigram": lambda: Bigram(V),
        "OneHead": lambda: OneHead(V, 8, 12, 6),
        "ManyHeads": lambda: ManyHeads(V, 8, 12, 3),
        "fused": lambda: fuse(build()),
    }[form]()
    before = evaluate(model, corpus.validation, 8)
    assert fit(model, corpus, steps=100, lr=0.03, block_size=8, **QUIET).validation < before - 0.3


@pytest.mark.parametrize("block_size", [1, 5, 8])
def test_evaluation_is_the_mean_over_every_target_exactly_once(
    corpus, build, block_size, monkeypatch
):
    monkeypatch.setattr(training, "EVALUATION_TOKENS", 50)  # many batches, the last one smaller
    model, split = build(dropout=0.5), corpus.validation[:333]
    total = 0.0
    for start in range(0, 332, block_size):
        x = split[start : min(start + block_size, 332)]
        y = split[start + 1 : start + 1 + len(x)]
        with torch.no_grad():
            logits = model.eval()(x.unsqueeze(0))[0]
        total -= logits.log_softmax(-1)[0, torch.arange(len(x)), y].double().sum().item()
    model.train()
    assert evaluate(model, split, block_size) == pytest.approx(total / 332, abs=1e-5)
    assert model.training


def test_gradients_longer_than_clip_are_shortened_to_it(corpus, build, monkeypatch):
    seen = []
    original = torch.optim.SGD.step

    def recorded(self, *arguments):
        gradients = [p.grad for group in self.param_groups for p in group["params"]]
        seen.append(torch.stack([g.norm() for g in gradients]).norm().item())
        return original(self, *arguments)

    monkeypatch.setattr(torch.optim.SGD, "step", recorded)
    fit(build(), corpus, steps=5, optimizer="sgd", **QUIET)
    free, seen[:] = list(seen), []
    fit(build(), corpus, steps=5, optimizer="sgd", clip=free[0] / 2, **QUIET)
    assert max(seen) <= free[0] / 2 * 1.001


def test_the_schedule_decides_the_learning_rate_of_each_step(corpus, build, monkeypatch):
    seen = []
    original = torch.optim.SGD.step

    def recorded(self, *arguments):
        seen.append(self.param_groups[0]["lr"])
        return original(self, *arguments)

    monkeypatch.setattr(torch.optim.SGD, "step", recorded)
    shares = [0.5, 1.0, 0.25, 0.125]
    fit(build(), corpus, steps=4, lr=0.2, optimizer="sgd", schedule=lambda s, _: shares[s], **QUIET)
    assert seen == pytest.approx([0.2 * share for share in shares])


def test_bfloat16_learns_as_well(corpus, build):
    exact = fit(build(), corpus, steps=60, lr=0.01, **QUIET)
    mixed = fit(build(), corpus, steps=60, lr=0.01, precision="bfloat16", **QUIET)
    assert exact.losses != mixed.losses
    assert mixed.validation == pytest.approx(exact.validation, abs=0.1)


def test_a_step_gives_the_loss_before_it_and_moves_every_weight(corpus, build):
    model = build()
    x, y = data.random_windows(corpus.train, 8, 8)
    before, expected = weights(model), model(x, y)[1].item()
    (adamw,) = optimizers.build("adamw", model, 0.01)
    loss, norm = step(model, [adamw], (x, y), rate=0.5, clip=1.0)
    assert loss == expected
    assert norm > 0
    assert adamw.param_groups[0]["lr"] == 0.005
    assert all(not torch.equal(value, before[name]) for name, value in weights(model).items())
    assert model(x, y)[1].item() < loss


@pytest.mark.parametrize("clip", [None, 1.0])
def test_a_step_whose_loss_is_not_finite_moves_nothing(corpus, build, clip):
    model = build()
    before = weights(model)
    x, y = data.random_windows(corpus.train, 8, 8)

    def broken(x, y):
        return None, model(x, y)[1] * math.nan

    found = step(model, optimizers.build("adamw", model, 0.01), (x, y), forward=broken, clip=clip)
    assert math.isnan(found[0])
    assert_same_weights(weights(model), before)


def test_batches_of_ones_own_train_as_the_windows_of_fit_do(corpus, build):
    windows = training.random_batches(corpus.train, 8, 8, torch.Generator().manual_seed(0))
    given = fit(build(), None, batches=windows, steps=9, progress=False)
    drawn = fit(build(), corpus, steps=9, **QUIET)
    assert given.losses == drawn.losses
    assert given.evaluations == []


def test_a_schedule_without_steps_follows_the_clock(corpus, build):
    asked = []

    def schedule(step, steps):
        asked.append(step / steps)
        return 1.0

    history = fit(build(), corpus, steps=None, seconds=0.2, schedule=schedule, **QUIET)
    assert history.stopped == "seconds"
    assert asked[0] == 0
    assert asked == sorted(asked)
    assert asked[-1] < 1


def test_modes_are_restored_after_training(corpus, build):
    model = build(dropout=0.5).eval()
    model.norm.train()
    modes = [part.training for part in model.modules()]
    fit(model, corpus, steps=2, **QUIET)
    assert [part.training for part in model.modules()] == modes


@pytest.mark.parametrize("overlap", [1, 3, 7])
def test_an_overlap_gives_every_target_more_context_and_counts_it_once(corpus, build, overlap):
    model, split = build().eval(), corpus.validation[:100]
    total, begin = 0.0, 0
    while begin < 99:
        x = split[begin : begin + 8]
        with torch.no_grad():
            logs = model(x.unsqueeze(0))[0][0].log_softmax(-1)
        for t in range(0 if begin == 0 else overlap, 8):
            if begin + t + 1 < 100:
                total -= logs[t, split[begin + t + 1]].double().item()
        begin += 8 - overlap
    assert evaluate(model, split, 8, overlap) == pytest.approx(total / 99, abs=1e-5)
