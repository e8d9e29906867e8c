"""The figure that takes a small model apart: what it computes, its switches, and bad input."""

import numpy as np
import pytest
import torch
from interactions import message, settle, shown, trait

from course_figures import LookingInside
from course_figures.errors import FigureError
from course_lib.data import Vocabulary
from course_lib.model import GPT, Config, fuse

VOCABULARY = Vocabulary("^abcde")


def small(seed=0):
    """A fused GPT with weights large enough that every head matters."""
    torch.manual_seed(seed)
    model = GPT(Config(6, 12, n_layer=2, n_head=2, n_embd=8))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.4 * torch.randn_like(parameter))
    return fuse(model)


def figure_of(model, **state):
    return LookingInside.of(model, VOCABULARY, "^abcdabcd", position=6, **state)


def test_all_heads_on_is_the_model_itself_and_its_last_lens_the_logits():
    model = small()
    figure = figure_of(model)
    tokens = VOCABULARY.encode("^abcdabcd")[None]
    logits, _ = model(tokens)
    # The figure's matrices are rounded to 8 bits.
    assert np.allclose(figure.whole.lens[-1], logits[0].detach(), atol=0.2)
    assert np.allclose(figure.whole.losses, figure.broken.losses)
    assert figure.exact == ["", "", "", "", "", "b", "c", "d", "a"]


def test_model_without_feed_forward_networks_is_taken_too():
    model = small()
    with torch.no_grad():
        for block in model.blocks:
            for parameter in block.feed_forward.parameters():
                parameter.zero_()
    expected = figure_of(model).whole.losses
    for block in model.blocks:
        block.feed_forward_norm = block.feed_forward = torch.nn.Identity()
    assert np.allclose(figure_of(model).whole.losses, expected, atol=1e-6)


@pytest.mark.browser
def test_page_computes_what_torch_does_with_heads_on_and_off(figure_page):
    figure = figure_of(small())
    page = figure_page(figure)
    for off in ([], ["1.2"], ["1.2", "2.1"]):
        for name in off:
            page.get_by_label(name, exact=True).uncheck()
        settle(page)
        figure.off = off
        assert list(trait(page, "off")) == off
        assert np.allclose(shown(page, "whole"), figure.whole.losses, atol=1e-4)
        assert np.allclose(shown(page, "broken"), figure.broken.losses, atol=1e-4)
        lens = torch.tensor(figure.broken.lens[:, figure.position]).softmax(-1)
        assert np.allclose(shown(page, "lens"), lens, atol=1e-4)
        assert "exact answer: “c”" in page.locator("caption").inner_text()
    assert not np.allclose(figure.whole.losses, figure.broken.losses, atol=1e-2)
    page.get_by_role("button", name="All heads on").click()
    settle(page)
    assert trait(page, "off") == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("state", "words"),
    [({"text": "a"}, "The text has 1 symbols"), ({"text": "abZ"}, "does not know “Z”")],
)
def test_text_that_the_model_cannot_read_is_named(figure_page, state, words):
    page = figure_page(figure_of(small()), faulty=True)
    page.get_by_label("text", exact=True).fill(state["text"])
    settle(page)
    assert words in message(page)


@pytest.mark.parametrize(
    "state",
    [{"off": ["3.1"]}, {"layer": 2}, {"position": 9}, {"text": "a"}, {"text": "abcde" * 3}],
)
def test_state_that_cannot_be_shown_is_refused(state):
    figure = figure_of(small())
    with pytest.raises(FigureError):
        figure.change(**state)
