"""A figure of a model that is not the course's says which attribute it misses."""

import pytest
import torch
from other_gpts import NanoGPT

from course_figures import AttentionMap, LiveModel, LookingInside, ResidualStream, Sampling
from course_figures.errors import FigureError
from course_lib.data import Vocabulary
from course_lib.errors import ConfigError
from course_lib.model import GPT, Bigram, Config

VOCABULARY = Vocabulary("abcde")


@pytest.mark.parametrize(
    ("model", "attribute"),
    [
        (lambda: NanoGPT(5), "embedding"),
        (lambda: Bigram(5), "config"),
        (lambda: torch.nn.Linear(5, 5), "config"),
    ],
    ids=["NanoGPT", "Bigram", "Linear"],
)
@pytest.mark.parametrize(
    "figure",
    [LookingInside.of, ResidualStream, LiveModel.of],
    ids=["LookingInside", "ResidualStream", "LiveModel"],
)
def test_the_missing_attribute_is_named(figure, model, attribute):
    torch.manual_seed(0)
    if figure == LiveModel.of and attribute == "embedding":
        attribute = "config.dropout"  # it takes any class that has the GPT's settings
    with pytest.raises((FigureError, ConfigError), match=rf"no attribute `{attribute}`"):
        figure(model(), VOCABULARY, "abc")


def test_an_attention_map_names_it_too():
    with pytest.raises(FigureError, match="NanoGPT has no attribute `embedding`: give a OneHead"):
        AttentionMap(NanoGPT(5), "abc", VOCABULARY)


def test_what_needs_only_logits_shows_any_gpt():
    torch.manual_seed(0)
    model = NanoGPT(5)
    text = "abcde" * 3  # longer than its context
    shown = Sampling.of(model, VOCABULARY, text).logits[0]
    expected = model(VOCABULARY.encode(text)[None, -8:])[0][0, -1]
    torch.testing.assert_close(torch.tensor(shown), expected.detach(), check_dtype=False)


def with_a_tanh(model):
    model.blocks[0].feed_forward.layers[1] = torch.nn.Tanh()
    return model


def test_looking_inside_refuses_a_gpt_that_computes_something_else():
    torch.manual_seed(0)
    model = GPT(Config(5, 8, 1, 2, 8))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
    LookingInside.of(model, VOCABULARY, "abcde")
    with pytest.raises(FigureError, match="this GPT computes other logits"):
        LookingInside.of(with_a_tanh(model), VOCABULARY, "abcde")
