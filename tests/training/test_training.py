"""The loop learns, stops when it should, repeats itself exactly, and loses nothing."""

import functools
import math
import os
import signal

import pytest
import torch
from torch import nn

from course_lib import checkpoints, data, optimizers, training
from course_lib.data import Corpus, corpora
from course_lib.errors import (
    CheckpointError,
    ConfigError,
    CorpusTooShortError,
    NonFiniteLossError,
    ShapeError,
)
from course_lib.history import Evaluation, History
from course_lib.mime import PAGE_HTML
from course_lib.model import Bigram, ManyHeads, OneHead, fuse
from course_lib.training import evaluate, fit, step

QUIET = {"progress": False, "batch_size": 8}


def weights(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def assert_same_weights(one: dict, other: dict) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert torch.equal(one[name], other[name]), name


class Failing(nn.Module):
    """Does as another model does, until its n-th training step, where it fails as told."""

    def __init__(self, model: nn.Module, step: int, how):
        super().__init__()
        self.model, self.how, self.block_size = model, how, 8
        self.left = step

    def forward(self, tokens, targets=None):
        logits, loss = self.model(tokens, targets)
        if self.training and targets is not None:
            self.left -= 1
            if self.left == 0:
                return logits, self.how(loss)
        return logits, loss


# --- learning ---------------------------------------------------------------------------------


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


# --- one step ---------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "corpus = None: give batches"),
        ({"batches": iter([]), "target": 1.0}, "no target"),
        ({"batches": iter([]), "checkpoint": "a file"}, "checkpoint or resume = a file"),
        ({"batches": iter([]), "steps": None}, "steps = None, seconds = None"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(build, settings, message):
    with pytest.raises(ConfigError, match=message):
        fit(build(), None, **settings)


# --- the same again ---------------------------------------------------------------------------


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


# --- stopping ---------------------------------------------------------------------------------


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


def test_modes_are_restored_after_training(corpus, build):
    model = build(dropout=0.5).eval()
    model.norm.train()
    modes = [part.training for part in model.modules()]
    fit(model, corpus, steps=2, **QUIET)
    assert [part.training for part in model.modules()] == modes


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps = 0"),
        ({"steps": -5}, "steps = -5"),
        ({"steps": 2.5}, r"steps = 2\.5"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"block_size": 9}, "block_size = 9: the model has 8 positions"),
        ({"evaluate_every": 0}, "evaluate_every = 0"),
        ({"optimizer": "adam2"}, "optimizer = 'adam2': known are 'adamw', 'muon', 'sgd'"),
        ({"lr": 0}, "lr = 0"),
        ({"lr": math.nan}, "lr = nan"),
        ({"betas": (0.9, 1.0)}, "betas"),
        ({"weight_decay": -1}, "weight_decay = -1"),
        ({"schedule": "cosinus"}, "schedule = 'cosinus': known are 'constant'"),
        ({"clip": 0}, "clip = 0"),
        ({"seconds": 0}, "seconds = 0"),
        ({"precision": "float8"}, "precision = 'float8'"),
        ({"device": "tpu9"}, "device = 'tpu9'"),
        ({"target": 0.0}, "target = 0"),
        ({"target": -1}, "target = -1"),
    ],
)
def test_an_impossible_setting_is_named_with_its_value_and_nothing_happens(
    corpus, build, settings, message
):
    model = build()
    before = weights(model)
    with pytest.raises(ConfigError, match=message):
        fit(model, corpus, **{"steps": 3, **QUIET, **settings})
    assert_same_weights(weights(model), before)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has what is asked for")
def test_a_device_that_is_not_there_is_an_explained_error(corpus, build):
    with pytest.raises(ConfigError, match=r"device = 'cuda': this machine.*'cpu'"):
        fit(build(), corpus, steps=1, device="cuda", **QUIET)


def test_muon_is_refused_where_there_are_no_blocks(corpus):
    model = Bigram(len(corpus.vocabulary))
    with pytest.raises(ConfigError, match="'muon' with a Bigram"):
        fit(model, corpus, steps=1, block_size=8, optimizer="muon", **QUIET)


def test_a_model_without_block_size_asks_for_one(corpus):
    with pytest.raises(ConfigError, match="block_size is missing"):
        fit(Bigram(len(corpus.vocabulary)), corpus, steps=1, **QUIET)


@pytest.mark.parametrize("V", [5, 200])
def test_a_model_of_another_v_than_the_corpus_is_refused(corpus, build, V):
    with pytest.raises(ShapeError, match=f"V = {V}, the corpus 'rhyme' has"):
        fit(build(vocab_size=V), corpus, steps=1, **QUIET)


@pytest.mark.parametrize("split", ["train", "validation"])
def test_a_corpus_shorter_than_a_window_is_refused(corpus, build, split):
    short = {**corpus.splits, split: corpus.splits[split][:1]}
    with pytest.raises(CorpusTooShortError):
        fit(build(), Corpus("short", "", corpus.vocabulary, short), steps=1, **QUIET)


def test_a_target_below_the_floor_of_the_play_is_refused(corpus, build, monkeypatch):
    class Written:
        text = corpus.text

        def floor(self, where):
            assert where == slice(3600, None)
            return 0.91

    monkeypatch.setattr(corpora, "play_once", Written)
    as_play = Corpus("play", corpus.text, corpus.vocabulary, corpus.splits)
    with pytest.raises(ConfigError, match=r"target = 0\.9: no model gets below 0\.9100"):
        fit(build(), as_play, steps=1, target=0.9, **QUIET)
    assert fit(build(), as_play, steps=1, target=0.92, **QUIET).steps == 1
    other = Corpus("play", "another text", corpus.vocabulary, corpus.splits)
    assert fit(build(), other, steps=1, target=0.9, **QUIET).steps == 1


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


@pytest.mark.parametrize("overlap", [-1, 8])
def test_an_overlap_that_leaves_no_target_is_refused(corpus, build, overlap):
    with pytest.raises(ConfigError, match=f"overlap = {overlap}"):
        evaluate(build(), corpus.validation, 8, overlap)


# --- checkpoints ------------------------------------------------------------------------------


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("form", [lambda m: m, fuse], ids=["plain", "fused"])
def test_a_saved_gpt_comes_back_without_being_told_its_sizes(corpus, build, tied, form, tmp_path):
    model = form(build(tied=tied)).eval()
    path = checkpoints.save(tmp_path / "deep" / "gpt.safetensors", model)
    again = checkpoints.load(path)
    x = corpus.validation[:8].unsqueeze(0)
    torch.testing.assert_close(again(x)[0], model(x)[0], atol=0, rtol=0)
    assert not again.training
    assert again.config == model.config


def test_models_without_config_are_loaded_into_one_of_the_same_sizes(tmp_path):
    model = ManyHeads(7, 8, 12, 3)
    path = checkpoints.save(tmp_path / "heads.safetensors", model)
    with pytest.raises(CheckpointError, match="ManyHeads, which has no Config"):
        checkpoints.load(path)
    twin = ManyHeads(7, 8, 12, 3)
    assert checkpoints.load(path, twin) is twin
    assert_same_weights(weights(twin), weights(model))


def test_a_checkpoint_of_another_config_names_what_differs_and_changes_nothing(
    corpus, build, tmp_path
):
    path = checkpoints.save(tmp_path / "gpt.safetensors", build())
    other = build(n_embd=32, block_size=6)
    before = weights(other)
    with pytest.raises(CheckpointError) as refusal:
        checkpoints.load(path, other)
    assert "block_size: 8 in the file, 6 in the model" in str(refusal.value)
    assert "n_embd: 16 in the file, 32 in the model" in str(refusal.value)
    with pytest.raises(CheckpointError):
        fit(other, corpus, steps=2, resume=path, **QUIET)
    assert_same_weights(weights(other), before)
    with pytest.raises(CheckpointError, match="heads plain in the file, fused in the model"):
        checkpoints.load(path, fuse(build()))
    with pytest.raises(CheckpointError, match=r"table\.weight: \(7, 7\) in the file, \(8, 8\)"):
        checkpoints.load(checkpoints.save(tmp_path / "b", Bigram(7)), Bigram(8))


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_a_truncated_checkpoint_is_refused_and_left_alone(corpus, build, tmp_path, share):
    path = tmp_path / "run.safetensors"
    settings = {"steps": 4, **QUIET}
    fit(build(), corpus, checkpoint=path, **settings)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    model = build()
    before = weights(model)
    with pytest.raises(CheckpointError, match="not a whole checkpoint"):
        fit(model, corpus, resume=path, **settings)
    with pytest.raises(CheckpointError, match="not a whole checkpoint"):
        checkpoints.load(path)
    assert_same_weights(weights(model), before)
    assert path.read_bytes() == whole[: int(len(whole) * share)]


def test_files_that_are_no_checkpoints_are_refused(tmp_path):
    import pickle

    from safetensors.torch import save_file

    with pytest.raises(CheckpointError, match="no such file"):
        checkpoints.load(tmp_path / "none")
    (tmp_path / "pickle").write_bytes(pickle.dumps(_Bomb(tmp_path / "exploded")))
    with pytest.raises(CheckpointError, match="not a whole checkpoint"):
        checkpoints.load(tmp_path / "pickle")
    assert not (tmp_path / "exploded").exists()
    save_file({"a": torch.zeros(2)}, tmp_path / "foreign")
    with pytest.raises(CheckpointError, match="not a checkpoint of this course"):
        checkpoints.load(tmp_path / "foreign")


class _Bomb:
    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_a_crash_while_writing_leaves_the_old_checkpoint(build, tmp_path, monkeypatch):
    path = checkpoints.save(tmp_path / "gpt.safetensors", build())
    before = path.read_bytes()

    def crash(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(OSError, match="No space left"):
        checkpoints.save(path, build(n_embd=32))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["gpt.safetensors"]


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


# --- history ----------------------------------------------------------------------------------


def test_history_draws_itself_and_reads_as_a_line(corpus, build):
    history = fit(build(), corpus, steps=10, **QUIET)
    bundle, _ = history._repr_mimebundle_()
    assert "<svg" in bundle[PAGE_HTML]
    assert f"{history.validation:.3f}" in bundle[PAGE_HTML]
    assert bundle["text/plain"].startswith("History: 10 steps")
    assert "ended by steps" in str(history)
    assert "seconds" in history.plot(against="seconds").markup
    with pytest.raises(ConfigError, match="against = 'minutes'"):
        history.plot(against="minutes")


def test_an_empty_history_can_be_shown():
    history = History()
    assert math.isnan(history.validation)
    assert "0 steps" in str(history)
    assert "<svg" in history._repr_mimebundle_()[0][PAGE_HTML]


def test_seconds_to_a_loss_is_when_it_was_first_reached():
    evaluations = [Evaluation(1, 1.0, 3.0), Evaluation(2, 2.0, 2.0), Evaluation(3, 3.0, 1.0)]
    assert History(evaluations=evaluations).seconds_to(2.5) == 2.0


def test_a_progress_bar_shows_loss_and_tokens_per_second(corpus, build, capsys, monkeypatch):
    # a bar redraws itself every tenth of a second: these steps may take less
    monkeypatch.setattr(training, "tqdm", functools.partial(training.tqdm, mininterval=0))
    fit(build(), corpus, steps=20, batch_size=8)
    shown = capsys.readouterr().err
    assert "loss=" in shown
    assert "tokens/s=" in shown
    fit(build(), corpus, steps=20, **QUIET)
    assert capsys.readouterr().err == ""
