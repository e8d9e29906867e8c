"""The map of attention: its weights are the model's, and its switches do what they say."""

import itertools

import numpy as np
import pytest
import torch
from interactions import message, settle, shown, too_wide, trait, violations, words

from course_figures.attention_map import AttentionMap
from course_figures.errors import FigureError
from course_lib.data import Vocabulary
from course_lib.errors import ShapeError, UnknownSymbolError
from course_lib.model import GPT, Bigram, Config, ManyHeads, OneHead, fuse

VOCABULARY = Vocabulary("abcdefgh \n")
V = len(VOCABULARY)
browser = pytest.mark.browser


def models():
    torch.manual_seed(5)
    gpt = GPT(Config(V, 12, n_layer=2, n_head=3, n_embd=12))
    with torch.no_grad():
        for parameter in gpt.parameters():
            parameter.mul_(8)
    return {
        "OneHead": OneHead(V, 12, 8, 5),
        "ManyHeads": ManyHeads(V, 12, 8, 2),
        "GPT": gpt,
        "fused": fuse(gpt),
    }


def expected(model, tokens):
    """(L, H, T, T) by the model's own heads."""
    x = model.embedding(tokens)
    if isinstance(model, OneHead):
        return model.head.weights(x)[None]
    if isinstance(model, ManyHeads):
        return torch.cat([head.weights(x) for head in model.attention.heads])[None]
    layers = []
    for block in model.blocks:
        normed = block.attention_norm(x)
        layers.append(torch.cat([head.weights(normed) for head in block.attention.heads]))
        x = block(x)
    return torch.stack(layers)


@pytest.mark.parametrize("name", ["OneHead", "ManyHeads", "GPT", "fused"])
def test_weights_are_those_of_the_models_own_heads(name):
    model = models()[name]
    figure = AttentionMap(model, "bad cab\nhead", VOCABULARY)
    plain = models()["GPT"] if name == "fused" else model
    with torch.no_grad():
        weights = expected(plain, VOCABULARY.encode("bad cab\nhead")[None])
    assert figure.weights.shape == weights.shape
    assert np.allclose(figure.weights, weights, atol=1e-5)


def test_without_positions_a_symbol_asks_the_same_wherever_it_stands():
    figure = AttentionMap(models()["OneHead"], "abab", VOCABULARY, positioned=False, masked=False)
    assert np.allclose(figure.weights[..., 0, :], figure.weights[..., 2, :], atol=1e-6)
    figure.positioned = True
    assert not np.allclose(figure.weights[..., 0, :], figure.weights[..., 2, :], atol=1e-3)


def test_dropout_is_off_and_the_model_keeps_its_mode():
    model = GPT(Config(V, 12, 2, 3, 12, dropout=0.9)).train()
    first, second = (AttentionMap(model, "bad cab", VOCABULARY).weights for _ in range(2))
    assert np.array_equal(first, second)
    assert model.training


def test_a_notebooks_own_classes_will_do():
    class Tokens(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.positions = torch.nn.Embedding(V, 8), torch.nn.Embedding(12, 8)

        def forward(self, tokens):
            return self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))

    class Mine(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.head = Tokens(), models()["OneHead"].head

    assert AttentionMap(Mine(), "bad", VOCABULARY).weights.shape == (1, 1, 3, 3)


@browser
@pytest.mark.parametrize("name", ["OneHead", "GPT"])
def test_page_shows_what_python_computes_with_every_switch(figure_page, name):
    figure = AttentionMap(models()[name], "bad cab head", VOCABULARY)
    page = figure_page(figure)
    labels = {"masked": "mask", "scaled": "scale by 1/√D", "positioned": "positions"}
    seen = []
    for setting in itertools.product([True, False], repeat=3):
        for (trait_name, label), on in zip(labels.items(), setting, strict=True):
            page.get_by_label(label).set_checked(on)
            setattr(figure, trait_name, on)
        settle(page)
        assert np.allclose(shown(page, "weights"), figure.weights.ravel(), atol=1e-5)
        seen.append(figure.weights)
    assert all(not np.allclose(a, b, atol=1e-4) for a, b in itertools.combinations(seen, 2))


@browser
def test_pair_is_written_out_as_python_computes_it(figure_page):
    figure = AttentionMap(models()["GPT"], "bad cab", VOCABULARY, layer=1, head=2, query=5, key=3)
    page = figure_page(figure)
    said = page.locator(".cf-readout").text_content().replace("−", "-")
    score = float(figure.scores[1, 2, 5, 3])
    D = figure.query_vectors.shape[-1]
    assert "“a” (5) asks “␣” (3)" in said
    assert f"q · k = {round(score * D**0.5, 2):g}" in said
    assert f"divided by √{D}: {round(score, 2):g}" in said
    assert f"weight {round(float(figure.weights[1, 2, 5, 3]), 3):g}." in said
    assert said.partition("by one")[2].count("·") == D + 1


@browser
def test_future_is_said_to_be_masked(figure_page):
    page = figure_page(AttentionMap(models()["OneHead"], "bad", VOCABULARY, query=0, key=2))
    assert "the mask puts −∞" in page.locator(".cf-readout").inner_text()


@browser
def test_keyboard_alone_moves_over_pairs_and_heads(figure_page):
    page = figure_page(AttentionMap(models()["GPT"], "bad cab", VOCABULARY), over="file")
    page.locator(".cf-matrix").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    settle(page)
    assert (trait(page, "query"), trait(page, "key")) == (5, 4)
    page.keyboard.press("Home")
    settle(page)
    assert trait(page, "key") == 0
    assert "query 5" in page.locator(".cf-hidden[role=status]").text_content()
    page.locator(".cf-heads input").first.focus()
    page.keyboard.press("ArrowDown")
    settle(page)
    assert (trait(page, "layer"), trait(page, "head")) == (0, 1)
    assert "layer 1, head 2" in words(page)


def corner(page, T):
    """The middle of the last cell of the map, in pixels of its canvas."""
    box = page.locator(".cf-matrix").bounding_box()
    return {"x": box["width"] - 12, "y": box["height"] - 12}


@browser
def test_mouse_over_a_cell_writes_it_out(figure_page):
    page = figure_page(AttentionMap(models()["OneHead"], "bad cab", VOCABULARY, query=1, key=0))
    page.locator(".cf-matrix").hover(position=corner(page, 7))
    settle(page)
    assert (trait(page, "query"), trait(page, "key")) == (6, 6)


@browser
def test_finger_on_a_cell_and_on_a_head_chooses_them(figure_page):
    figure = AttentionMap(models()["GPT"], "bad cab", VOCABULARY, query=1, key=0)
    page = figure_page(figure, phone=True, touch=True)
    page.locator(".cf-matrix").tap(position=corner(page, 7))
    page.locator(".cf-heads label").nth(4).tap()
    settle(page)
    assert (trait(page, "query"), trait(page, "key")) == (6, 6)
    assert (trait(page, "layer"), trait(page, "head")) == (1, 1)


@browser
def test_numbers_that_are_none_become_a_message(figure_page):
    model = models()["OneHead"]
    with torch.no_grad():
        model.head.query.weight[0, 0] = torch.nan
    figure = AttentionMap(model, "bad", VOCABULARY)
    assert "NaN" in figure.alt
    page = figure_page(figure)
    assert "The array of queries holds NaN" in message(page)


@browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_long_text_on_a_phone_fits_and_breaks_no_rule(figure_page, theme):
    page = figure_page(AttentionMap(text="the king and the queen and the"), phone=True, theme=theme)
    assert too_wide(page) == 0
    assert violations(page) == []


@browser
def test_without_javascript_the_map_stands_as_a_picture(figure_page):
    page = figure_page(AttentionMap(models()["OneHead"], "bad cab", VOCABULARY), scripts=False)
    assert page.locator(".course-figure-still svg").is_visible()
    assert "looks most at" in page.locator(".course-figure-still").inner_text()


def test_another_text_is_computed_anew():
    model = models()["OneHead"]
    figure = AttentionMap(model, "bad cab", VOCABULARY)
    figure.text = "head"
    assert "".join(figure.symbols) == "head"
    assert np.array_equal(figure.weights, AttentionMap(model, "head", VOCABULARY).weights)
    assert (figure.query, figure.key) == (3, 2)


@pytest.mark.parametrize(
    ("text", "told"),
    [("", "empty"), ("bad!", "'!'"), ("a" * 13, "13 symbols, and the model reads 12")],
)
def test_a_text_that_cannot_be_read_is_told_in_the_figure(text, told):
    figure = AttentionMap(models()["OneHead"], "bad cab", VOCABULARY)
    figure.text = text
    assert told in figure.problem
    assert "".join(figure.symbols) == "bad cab"
    figure.text = "cab"
    assert figure.problem == ""


@browser
def test_the_problem_stands_inside_the_page_too(figure_page):
    figure = AttentionMap(models()["OneHead"], "bad cab", VOCABULARY)
    figure.text = "bad!"
    page = figure_page(figure)
    assert "'!'" in message(page)
    assert "Type another text" in message(page)


@pytest.mark.parametrize(
    ("text", "error"), [("", FigureError), ("bad!", UnknownSymbolError), ("a" * 13, ShapeError)]
)
def test_a_text_that_cannot_be_read_is_refused_at_the_start(text, error):
    with pytest.raises(error):
        AttentionMap(models()["OneHead"], text, VOCABULARY)


def test_what_is_missing_or_does_not_fit_is_named():
    with pytest.raises(FigureError, match="lacks the vocabulary"):
        AttentionMap(models()["OneHead"], "bad")
    with pytest.raises(FigureError, match="Bigram has no attribute `embedding`"):
        AttentionMap(Bigram(V), "bad", VOCABULARY)
    with pytest.raises(ShapeError, match="one shape"):
        AttentionMap(
            text="ab", query_vectors=np.zeros((1, 1, 2, 3)), key_vectors=np.zeros((1, 1, 2, 4))
        )
    with pytest.raises(FigureError, match="head is 1: give 0 to 0"):
        AttentionMap(models()["OneHead"], "bad", VOCABULARY, head=1)


@browser
def test_long_text_and_the_numbers_of_a_row_fit_a_laptops_window(figure_page):
    model = OneHead(V, 40, 8, 5)
    figure = AttentionMap(model, "bad cab\nhead fed a beach face\ngag a bad ", VOCABULARY)
    page = figure_page(figure)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.reload()
    page.wait_for_selector("[data-mounted]")
    settle(page)
    matrix = page.locator(".cf-matrix").first.bounding_box()
    bars = page.locator(".attention_map-vectors").bounding_box()
    assert bars["y"] + bars["height"] - matrix["y"] < 720 - 60  # below the page's header
    assert matrix["height"] >= 290
