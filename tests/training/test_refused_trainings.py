"""What cannot be trained on is refused with its value, before anything has changed."""

import math

import pytest
import torch
from small_trainings import QUIET, assert_same_weights, weights

from course_lib.data import Corpus, corpora
from course_lib.errors import ConfigError, CorpusTooShortError, ShapeError
from course_lib.model import Bigram
from course_lib.training import evaluate, fit


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


@pytest.mark.parametrize("overlap", [-1, 8])
def test_an_overlap_that_leaves_no_target_is_refused(corpus, build, overlap):
    with pytest.raises(ConfigError, match=f"overlap = {overlap}"):
        evaluate(build(), corpus.validation, 8, overlap)
