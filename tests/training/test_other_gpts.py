"""Models that readers bring are trained, loaded and sampled, or refused before anything changes."""

import math

import pytest
import torch
from other_gpts import NanoGPT
from small_trainings import QUIET, assert_same_weights, weights
from torch import nn
from torch.nn import functional as F

from course_lib import checkpoints, data, nanogpt, training
from course_lib.data import Corpus
from course_lib.errors import CheckpointError, ConfigError, ShapeError
from course_lib.model import GPT, fuse
from course_lib.sampling import generate
from course_lib.training import evaluate, evaluate_within, fit


@pytest.fixture
def theirs(corpus):
    torch.manual_seed(5)
    return NanoGPT(len(corpus.vocabulary))


def shaken(model):
    """The model with every parameter drawn anew, biases and norms included; no query biases."""
    C = model.config.n_embd
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(std=0.3)
            if name.endswith("c_attn.bias"):
                parameter[:C] = 0
    return model


# Training


def test_a_gpt_that_ignores_minus_one_is_trained_evaluated_and_sampled(corpus, theirs):
    before = evaluate(theirs, corpus.validation, 8)
    history = fit(theirs, corpus, steps=60, lr=0.01, **QUIET)
    assert history.validation < before - 1
    assert history.tokens == 60 * 8 * 8  # block_size came from its config
    with pytest.raises(ConfigError, match="block_size = 9: the model has 8 positions"):
        fit(theirs, corpus, steps=1, block_size=9, **QUIET)
    assert generate(theirs, torch.zeros(1, 1, dtype=torch.int64), 20).shape == (1, 21)


@pytest.mark.parametrize("overlap", [0, 3])
@pytest.mark.parametrize("N", [100, 97, 5])
def test_its_evaluation_is_that_of_the_same_weights_in_the_courses_gpt(corpus, theirs, overlap, N):
    ours, split = nanogpt.gpt_of(theirs.state_dict(), 2), corpus.validation[:N]
    expected = evaluate(ours, split, 8, overlap)
    assert evaluate(theirs, split, 8, overlap) == pytest.approx(expected, abs=1e-6)


def test_a_model_that_reads_whole_windows_only_is_evaluated_to_the_end(corpus):
    class Whole(NanoGPT):
        def forward(self, idx, targets=None):
            if idx.shape[1] not in (2, 8):  # 2: the trial before training
                raise AssertionError(f"{idx.shape[1]} tokens")
            return super().forward(idx, targets)

    model = Whole(len(corpus.vocabulary))
    assert len(corpus.validation) % 8 != 1
    assert fit(model, corpus, steps=2, **QUIET).validation == evaluate(model, corpus.validation, 8)


class Table(nn.Module):
    """A bigram whose answer has the form that a test wants."""

    def __init__(self, V, form):
        super().__init__()
        self.table, self.form = nn.Embedding(V, V), form

    def forward(self, idx, targets=None):
        logits = self.table(idx)
        loss = None if targets is None else F.cross_entropy(logits.mT, targets)
        return self.form(logits, loss)


@pytest.mark.parametrize(
    ("form", "error", "message"),
    [
        (lambda logits, _: logits, ConfigError, "a Table returns Tensor; fit calls `logits, loss"),
        (lambda logits, loss: {"loss": loss}, ConfigError, "returns dict"),
        (lambda logits, loss: (logits, loss, None), ConfigError, "returns tuple"),
        (lambda logits, loss: (loss, logits), ShapeError, r"returns \(\) and \(1, 2, 16\)"),
        (lambda logits, loss: (logits[:, -1:], loss), ShapeError, r"returns \(1, 1, 16\)"),
        (lambda logits, _: (logits, None), ShapeError, r"\(1, 2, 16\) and None"),
        (lambda logits, loss: (logits, loss.expand(2)), ShapeError, r"and \(2,\)"),
        (lambda _, loss: (None, loss), ShapeError, r"returns None and \(\)"),
    ],
)
def test_an_answer_of_another_form_is_refused_before_anything_changes(corpus, form, error, message):
    model = Table(16, form)
    before = weights(model)
    few = Corpus("few", corpus.text, corpus.vocabulary, corpus.splits)
    with pytest.raises(error, match=message):
        fit(model, few, steps=2, block_size=8, **QUIET)
    assert_same_weights(weights(model), before)


def test_a_model_that_takes_no_targets_is_refused(corpus):
    class Logits(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(16, 16)

        def forward(self, idx):
            return self.table(idx)

    with pytest.raises(ConfigError, match=r"a Logits cannot be called with targets \(.*forward"):
        fit(Logits(), corpus, steps=2, block_size=8, **QUIET)


# Seconds


def test_an_evaluation_without_time_reads_windows_from_all_over_and_says_how_many(
    corpus, build, monkeypatch
):
    monkeypatch.setattr(training, "EVALUATION_TOKENS", 32)
    seen, model = [], build()
    forward = model.forward
    monkeypatch.setattr(model, "forward", lambda x, y: seen.append(len(x)) or forward(x, y))
    N = len(corpus.validation) - 1
    loss, share = evaluate_within(0.0, model, corpus.validation, 8)
    assert seen == [4]  # one batch of 4 windows
    assert share == pytest.approx(32 / N)
    assert evaluate_within(0.0, model, corpus.validation, 8) == (loss, share)
    whole = evaluate_within(math.inf, model, corpus.validation, 8)
    assert whole == (evaluate(model, corpus.validation, 8), 1.0)
    assert evaluate_within(1e9, model, corpus.validation, 8) == pytest.approx(whole)
    assert loss != whole[0]


def test_seconds_bound_the_evaluations_of_a_training_as_well(corpus, build, monkeypatch):
    monkeypatch.setattr(training, "EVALUATION_TOKENS", 32)
    history = fit(build(), corpus, steps=None, seconds=1e-9, **QUIET)
    assert (history.steps, history.stopped) == (1, "seconds")
    (only,) = history.evaluations
    assert only.share == pytest.approx(32 / (len(corpus.validation) - 1))
    assert f"(on {only.share:.2g} of the split)" in str(history)
    assert f"(on {only.share:.2g} of the split)" in history.plot().markup
    enough = fit(build(), corpus, steps=2, seconds=1e9, **QUIET)
    assert {one.share for one in enough.evaluations} == {1.0}
    assert "of the split" not in str(enough)


def test_time_is_kept_for_the_last_evaluation_and_no_more_than_a_fifth(corpus, build, monkeypatch):
    clock = iter(range(10**6))  # each look at the clock takes a second
    monkeypatch.setattr(training.time, "perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr(training, "EVALUATION_TOKENS", 10**6)
    assert training.time_limits(build(), corpus, 8, None) == (math.inf, 0.0)
    assert training.time_limits(build(), corpus, 8, 1.0) == (1.0, 0.2)
    seconds, reserve = training.time_limits(build(), corpus, 8, 1000.0)
    assert seconds == 1000
    assert 0 < reserve < 10
    history = fit(build(), corpus, steps=None, seconds=100, evaluate_every=1000, **QUIET)
    assert history.evaluations[-1].seconds <= 100


def test_a_long_text_stays_small_while_it_is_trained_on(build):
    corpus = data.of_text("rhyme", "the cat sat on the mat. a dog ate the hat.\n" * 60)
    model = build(vocab_size=len(corpus.vocabulary))
    history = fit(model, corpus, steps=4, **QUIET)
    assert "train" not in vars(corpus)  # the int64 form was never made
    assert history.validation == evaluate(model, corpus.validation, 8)


def test_a_training_on_ones_own_text_is_resumed(tmp_path, build):
    corpus = data.of_text("rhyme", "the cat sat on the mat. a dog ate the hat.\n" * 60)
    path, V = tmp_path / "run.safetensors", len(corpus.vocabulary)
    settings = {"evaluate_every": 2, **QUIET}
    whole = fit(build(vocab_size=V), corpus, steps=6, checkpoint=path, **settings)
    again = fit(build(vocab_size=V), corpus, steps=6, resume=path, **settings)
    assert again.evaluations == whole.evaluations


# Weights


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("form", [lambda m: m, fuse], ids=["plain", "fused"])
def test_a_nanogpt_gives_the_same_logits_in_the_courses_gpt(corpus, tmp_path, bias, form):
    theirs = shaken(NanoGPT(len(corpus.vocabulary), bias=bias))
    x = corpus.validation[:8].unsqueeze(0)
    expected = theirs(x, x)[0]
    assert expected.std() > 0.2
    ours = form(nanogpt.gpt_of(theirs.state_dict(), n_head=2))
    torch.testing.assert_close(ours(x)[0], expected, atol=1e-5, rtol=1e-5)
    again = checkpoints.load(checkpoints.save(tmp_path / "gpt.safetensors", ours))
    torch.testing.assert_close(again(x)[0], ours(x)[0], atol=0, rtol=0)
    with pytest.raises(CheckpointError, match="networks with GELU in the file, ReLU in the model"):
        checkpoints.load(tmp_path / "gpt.safetensors", form(GPT(ours.config)))


def test_a_whole_ckpt_file_knows_its_heads_and_its_compiled_names(corpus, tmp_path):
    theirs = shaken(NanoGPT(len(corpus.vocabulary)))
    compiled = {f"_orig_mod.{name}": tensor for name, tensor in theirs.state_dict().items()}
    torch.save({"model": compiled, "model_args": {"n_head": 2}}, tmp_path / "ckpt.pt")
    ours = nanogpt.gpt_of(torch.load(tmp_path / "ckpt.pt", weights_only=True))
    assert ours.config.n_head == 2
    assert ours.config.tied
    x = corpus.validation[:8].unsqueeze(0)
    torch.testing.assert_close(ours(x)[0], theirs(x, x)[0], atol=1e-5, rtol=1e-5)


def changed(state, name, tensor):
    """A copy with one tensor changed, added or, if None, taken out."""
    state = {**state, name: tensor}
    return {name: tensor for name, tensor in state.items() if tensor is not None}


@pytest.mark.parametrize(
    ("name", "tensor", "message"),
    [
        (
            "transformer.h.0.attn.c_attn.bias",
            torch.ones(36),
            r"c_attn\.bias has query biases up to",
        ),
        ("transformer.h.1.attn.rope.weight", torch.ones(3), r"rope\.weight \(3,\) has no place"),
        (
            "transformer.h.1.mlp.c_fc.weight",
            torch.ones(12, 48),
            r"expected \(48, 12\); .*its \.t\(\)",
        ),
        ("transformer.ln_f.weight", torch.ones(5), r"ln_f\.weight is \(5,\), expected \(12,\)"),
        ("transformer.h.1.attn.c_attn.weight", None, r"nothing gives blocks\.1\..*key\.weight"),
        ("transformer.wpe.weight", None, r"no state of a nanoGPT.*wpe"),
    ],
)
def test_the_part_of_a_nanogpt_that_has_no_place_is_named(corpus, name, tensor, message):
    state = NanoGPT(len(corpus.vocabulary)).state_dict()
    with pytest.raises(CheckpointError, match=message):
        nanogpt.gpt_of(changed(state, name, tensor), 2)
    with pytest.raises(CheckpointError, match="n_head = None"):
        nanogpt.gpt_of(state)
    with pytest.raises(ConfigError, match="n_head must divide"):
        nanogpt.gpt_of(state, 5)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_file_of_torch_save_is_called_what_it_is(tmp_path, zipped):
    path = tmp_path / "theirs.pt"
    torch.save({"model": {}}, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(CheckpointError, match=r"is a pickle, as torch\.save.*weights_only=True"):
        checkpoints.load(path)
