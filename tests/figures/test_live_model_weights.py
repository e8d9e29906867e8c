"""Whose model lives in the page: the library's or a reader's own, whole or refused in words."""

import base64
from dataclasses import replace

import numpy as np
import pytest
import torch
from interactions import message, settle, shown, trait, words

from course_figures import live_training, live_weights, pages, sources
from course_figures.errors import FigureError
from course_figures.live_model import LiveModel
from course_figures.live_training import train
from course_figures.live_weights import live_model, pack, quantize, unpack
from course_lib import data
from course_lib.errors import CheckpointError, ConfigError
from course_lib.model import GPT, Bigram, Config, fuse

browser = pytest.mark.browser


def own_model(**sizes):
    torch.manual_seed(2)
    settings = {"vocab_size": 5, "block_size": 12, "n_layer": 2, "n_head": 3, "n_embd": 12} | sizes
    return GPT(Config(**settings)), data.Vocabulary("abcde"[: settings["vocab_size"]])


@browser
def test_a_model_of_ones_own_lives_in_the_page_too(figure_page):
    model, vocabulary = own_model()
    figure = LiveModel.of(model, vocabulary, "abc")
    page = figure_page(figure)
    page.wait_for_function("document.querySelector('.course-figure').shown")
    assert np.allclose(shown(page, "probabilities"), figure.probabilities, atol=1e-5)
    assert "2 layers of 3 heads" in words(page)


@browser
def test_a_model_of_ones_own_is_saved_as_one_light_page_that_writes_offline(visit, tmp_path):
    model, vocabulary = own_model()
    figure = LiveModel.of(model, vocabulary, "abc")
    file = figure.save(tmp_path / "my-gpt.html", "A GPT of five letters")
    assert file == tmp_path / "my-gpt.html"
    assert list(tmp_path.iterdir()) == [file]
    assert file.stat().st_size < 1_000_000 + len(figure.weights)
    friend = visit(file.as_uri())
    friend.page.goto(file.as_uri())
    friend.page.locator("[data-mounted]").wait_for()
    friend.page.get_by_role("button", name="One symbol").click()
    settle(friend.page)
    assert trait(friend.page, "text") == figure.write(1)
    assert friend.page.title() == "A GPT of five letters"
    assert friend.faults == []


def test_figure_that_has_no_folder_to_be_saved_in_says_which_to_create(tmp_path):
    with pytest.raises(FigureError, match=r"there\.html has no folder to be in: create .*not"):
        LiveModel("O").save(tmp_path / "not" / "there.html")


@browser
def test_weights_that_are_not_numbers_are_told_and_the_rest_of_the_page_works(figure_page):
    model, vocabulary = own_model()
    with torch.no_grad():
        model.blocks[1].feed_forward.layers[0].weight[0, 0] = torch.nan
    page = figure_page(LiveModel.of(model, vocabulary, "abc"), LiveModel("O"), faulty=True)
    assert "not a number" in message(page, 0)
    assert "Train again" in message(page, 0)
    assert message(page, 1) == ""


@browser
@pytest.mark.parametrize("damage", ["shape", "cut", "noise"])
def test_damaged_weights_are_told(figure_page, damage):
    model, vocabulary = own_model()
    figure = LiveModel.of(model, vocabulary, "abc")
    packed = base64.b64decode(figure.weights)
    if damage == "shape":
        packed = packed.replace(b'\\"n_embd\\": 12', b'\\"n_embd\\": 15')
    packed = {"cut": packed[:-400], "noise": b"nonsense" * 9}.get(damage, packed)
    page = figure_page(LiveModel("O"), faulty=True)
    broken = base64.b64encode(packed).decode()
    page.evaluate(
        """(weights) => {
          const model = document.querySelector(".course-figure-mount").figureModel;
          model.set("weights", weights);
          model.save_changes();
        }""",
        broken,
    )
    told = {"shape": "not those of this model"}.get(damage, "The weights cannot be read")
    assert told in message(page)
    page.get_by_role("button", name="Start again").click()
    assert message(page) == ""


def test_words_name_the_corpus_that_the_model_was_trained_on(tmp_path):
    model, vocabulary = own_model()
    facts = {"vocabulary": "".join(vocabulary.symbols), "corpus": "play", "validation_loss": 1.5}
    path = tmp_path / "w.safetensors"
    live_weights.write_packed(path, model, facts)
    packed = base64.b64encode(path.read_bytes()).decode("ascii")
    assert "trained on the play to" in LiveModel("abc", weights=packed).alt
    assert "trained on Tiny Shakespeare to" in LiveModel("abc").alt


def test_weights_in_the_library_are_light_and_say_where_they_come_from():
    model, vocabulary, facts = live_model()
    assert sources.LIVE_WEIGHTS.stat().st_size <= 600_000
    own = pages.scripts("live_model")
    assert sum(len(text.encode()) for name, text in own.items() if name != pages.SHARED) <= 600_000
    assert facts["corpus"] == "shakespeare"
    assert facts["steps"] == live_training.STEPS
    assert len(facts["corpus_sha256"]) == 64
    assert 1.3 < facts["validation_loss"] < 1.65
    assert facts["validation_loss"] - facts["exact_validation_loss"] < 0.005
    assert len(vocabulary) == model.config.vocab_size == 65


def test_rounding_moves_no_weight_by_more_than_half_a_step():
    matrix = torch.randn(7, 30, generator=torch.Generator().manual_seed(1))
    matrix[2] = 0
    whole, scale = quantize(matrix)
    back = whole.float() * scale[:, None]
    assert (back - matrix).abs().le(scale[:, None] / 2 * 1.0001).all()
    assert (back[2] == 0).all()


def test_stored_weights_come_back_as_a_plain_model_with_the_same_logits(tmp_path):
    model, vocabulary = own_model()
    facts = {"vocabulary": "".join(vocabulary.symbols)}
    live_weights.write_packed(tmp_path / "w.safetensors", model, facts)
    back, known, _ = live_model(tmp_path / "w.safetensors")
    rounded = fuse(model)
    rounded.load_state_dict(unpack(pack(rounded)))
    tokens = torch.randint(5, (2, 9), generator=torch.Generator().manual_seed(0))
    assert known == vocabulary
    assert torch.allclose(back(tokens)[0], rounded(tokens)[0], atol=1e-6)


def test_changed_weights_are_refused(tmp_path):
    from course_lib.checkpoints import read_checkpoint, write_checkpoint

    packed, facts = read_checkpoint(sources.LIVE_WEIGHTS)
    packed["norm.bias"] = packed["norm.bias"] + 1
    write_checkpoint(tmp_path / "w.safetensors", packed, facts)
    with pytest.raises(CheckpointError, match="other weights than its digest"):
        live_model(tmp_path / "w.safetensors")


def test_only_a_gpt_can_live_in_the_page():
    with pytest.raises(ConfigError, match="a Bigram cannot live"):
        LiveModel.of(Bigram(5), data.Vocabulary("abcde"))


def test_a_gpt_of_the_readers_own_class_lives_in_the_page_if_it_computes_the_same():
    model, vocabulary = own_model()

    class Written(torch.nn.Module):  # as a notebook defines it: no GPT of the library
        def __init__(self, factor):
            super().__init__()
            self.config, self.factor = model.config, factor
            for name, part in model.named_children():
                setattr(self, name, part)

        def forward(self, tokens):
            return self.factor * GPT.forward(self, tokens)[0], None

    page_of = [LiveModel.of(one, vocabulary, "abc").probabilities for one in (Written(1), model)]
    assert np.array_equal(*page_of)
    with pytest.raises(ConfigError, match=r"this Written .* computes other logits"):
        LiveModel.of(Written(2), vocabulary)
    model.norm = torch.nn.Identity()
    with pytest.raises(ConfigError, match=r"parameters are not those.*norm\.weight"):
        LiveModel.of(Written(1), vocabulary)


def test_training_again_gives_the_same_weights():
    play = data.load("play")
    corpus = replace(play, splits={name: tokens[:2000] for name, tokens in play.splits.items()})
    first, second = (train(corpus, 2, progress=False)[0].state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
