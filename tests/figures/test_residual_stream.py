"""The figure of the residual stream: its lengths and angles, its switches, and bad input."""

import base64

import numpy as np
import pytest
import torch
from interactions import centre, message, settle, shown, too_wide, trait, violations, words

from course_figures import ResidualStream
from course_figures.errors import FigureError
from course_figures.residual_stream import LARGEST
from course_figures.stream_measures import measure
from course_figures.stream_weights import stream_model, train, write
from course_lib.data import Vocabulary
from course_lib.errors import CheckpointError, ShapeError
from course_lib.model import GPT, Config, fuse

STATE = ("text", "norm", "on", "position")
ROWS = ("stream", "part", "cosine", "total")


def small_gpt(seed=0, **sizes):
    """A GPT with weights large enough that every part matters."""
    torch.manual_seed(seed)
    sizes = {"vocab_size": 5, "block_size": 7, "n_layer": 2, "n_head": 2, "n_embd": 6} | sizes
    model = GPT(Config(**sizes))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.4 * torch.randn_like(parameter))
    return model.eval()


VOCABULARY = Vocabulary("abcde")
TOKENS = torch.tensor([0, 3, 1, 4, 2])


def switch(page, name):
    return page.get_by_label(name, exact=True)


def ribbon(page):
    return page.get_by_role("slider", name="Position in the text")


def assert_agrees(page, figure):
    settle(page)
    figure.change(**{name: trait(page, name) for name in STATE})
    now = figure.measures
    for name in ROWS:
        assert np.allclose(shown(page, name), getattr(now, name).ravel(), atol=1e-6), name
    assert np.allclose(shown(page, "loss"), now.loss, atol=1e-6)
    assert words(page) == figure.alt


@pytest.mark.parametrize("form", [lambda model: model, fuse], ids=["plain", "fused"])
def test_pre_norm_measures_are_those_of_the_model_itself(form):
    model = form(small_gpt())
    now = measure(model, TOKENS)
    _, loss = model(TOKENS[None, :-1], TOKENS[None, 1:])
    assert np.isclose(now.loss, loss.item(), atol=1e-5)
    with torch.no_grad():
        x = model.embedding(TOKENS[None])
        ends = [x, *(x := block(x) for block in model.blocks)]
    for layer, end in enumerate(ends):
        assert np.allclose(now.stream[2 * layer], end[0].norm(dim=-1), atol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_lengths_and_cosine_obey_the_law_of_cosines(norm):
    now = measure(small_gpt().double(), TOKENS, norm)
    before = now.stream[:-1]
    squares = before**2 + now.part**2 + 2 * before * now.part * now.cosine
    assert np.allclose(now.total**2, squares)
    if norm == "pre":
        assert np.allclose(now.total, now.stream[1:])


def test_post_norm_norms_the_sum_with_the_norm_of_the_part():
    model = small_gpt()
    now = measure(model, TOKENS, "post")
    block = model.blocks[0]
    with torch.no_grad():
        x = model.embedding(TOKENS[None])
        x = block.attention_norm(x + block.attention(x))
        x = block.feed_forward_norm(x + block.feed_forward(x))
    assert np.allclose(now.stream[2], x[0].norm(dim=-1), atol=1e-5)


def test_a_part_that_is_off_adds_nothing():
    on = np.ones((2, 2), bool)
    on[0, 1] = False
    model = small_gpt()
    now = measure(model, TOKENS, "pre", on)
    assert not now.part[1].any()
    assert not now.cosine[1].any()
    assert np.allclose(now.stream[2], now.stream[1])
    with torch.no_grad():
        model.blocks[0].feed_forward.layers[2].weight.zero_()
        model.blocks[0].feed_forward.layers[2].bias.zero_()
    assert np.isclose(now.loss, measure(model, TOKENS).loss)


def test_measuring_leaves_the_model_in_its_mode():
    model = small_gpt(dropout=0.5).train()
    first, second = measure(model, TOKENS), measure(model, TOKENS)
    assert np.array_equal(first.stream, second.stream)
    assert model.blocks[0].attention.training


def test_small_models_travel_in_half_precision_and_large_ones_do_not():
    figure = ResidualStream(small_gpt(), VOCABULARY, "abca")
    exact = measure(small_gpt(), VOCABULARY.encode("abca"))
    assert np.allclose(figure.measures.stream, exact.stream, rtol=5e-3)
    large = small_gpt(n_embd=36, n_layer=2)
    assert sum(p.numel() for p in large.parameters()) > LARGEST
    assert ResidualStream(large, VOCABULARY, "abca").weights == ""
    default = ResidualStream()
    assert len(default.html().encode()) < 60_000


def test_python_measures_anew_for_a_model_that_does_not_travel():
    figure = ResidualStream(small_gpt(n_embd=36), VOCABULARY, "abca")
    figure.on = [[True, True], [True, False]]
    rows = np.concatenate([getattr(figure.measures, name) for name in ROWS])
    assert np.allclose(figure.measured[:-1], rows, rtol=1e-5)
    figure.text = "abcde"
    assert figure.measured.shape == (8 * 2 + 2, 5)
    figure.position = 4
    figure.text = "ab"  # shorter than the position: measured all the same, and told when asked for
    assert figure.measured.shape == (8 * 2 + 2, 2)
    with pytest.raises(FigureError, match="position is 4"):
        figure.measures  # noqa: B018
    figure.text = "a"
    with pytest.raises(FigureError, match="1 symbols"):
        figure.measures  # noqa: B018
    figure.change(text="abc", position=0)
    assert np.allclose(figure.measured[0], figure.measures.stream[0], rtol=1e-5)


def broken(kind):
    model = small_gpt()
    with torch.no_grad():
        model.blocks[1].feed_forward.layers[0].weight[2, 1] = kind
    return model


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: ResidualStream(small_gpt(), VOCABULARY, ""), FigureError, "0 symbols"),
        (lambda: ResidualStream(small_gpt(), VOCABULARY, "abcdabcd"), FigureError, "2 to 7"),
        (lambda: ResidualStream(small_gpt(), VOCABULARY, "abz"), FigureError, "'z'"),
        (lambda: ResidualStream(small_gpt(), VOCABULARY, "ab", position=2), FigureError, "0 to 1"),
        (lambda: ResidualStream(small_gpt(), Vocabulary("ab"), "ab"), FigureError, "2 symbols"),
        (lambda: ResidualStream(small_gpt()), FigureError, "no vocabulary"),
        (lambda: ResidualStream(broken(torch.nan), VOCABULARY, "ab"), FigureError, r"layers\.0"),
        (
            lambda: ResidualStream(small_gpt(), VOCABULARY, "ab", on=np.ones((3, 2), bool)),
            FigureError,
            "3 rows",
        ),
        (
            lambda: ResidualStream(small_gpt(), VOCABULARY, "ab", on=np.ones(4, bool)),
            ShapeError,
            r"\(L, 2\)",
        ),
    ],
)
def test_python_refuses_what_cannot_be_shown(make, error, says):
    with pytest.raises(error, match=says):
        make()


def test_the_stored_model_has_learned_and_its_file_is_checked(tmp_path):
    model, vocabulary = stream_model()
    assert len(vocabulary.symbols) == model.config.vocab_size == 65
    text = "O what a noble mind is here"
    assert measure(model, vocabulary.encode(text)).loss < 2.2
    with pytest.raises(CheckpointError):
        stream_model(tmp_path / "absent.safetensors")


@pytest.mark.slow
def test_training_writes_what_is_read_back(tmp_path):
    from course_lib.data import load

    corpus = load("play")
    model = train(corpus, steps=4)
    path = tmp_path / "stream.safetensors"
    write(path, model, corpus)
    again, vocabulary = stream_model(path)
    assert vocabulary.symbols == corpus.vocabulary.symbols
    for one, other in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.browser
@pytest.mark.parametrize("over", ["http", "file"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_page_computes_what_python_computes(figure_page, over, norm):
    on = np.ones((2, 2), bool)
    on[1, 0] = False
    figure = ResidualStream(small_gpt(), VOCABULARY, "abcdea", norm=norm, on=on, position=2)
    assert_agrees(figure_page(figure, over=over), figure)


@pytest.mark.browser
def test_switches_and_the_norm_recompute_everything(figure_page):
    figure = ResidualStream()
    page = figure_page(figure)
    whole = shown(page, "loss")[0]
    for name in ("attention 0", "feed-forward 2"):
        switch(page, name).press("Space")
        assert_agrees(page, figure)
    assert shown(page, "loss")[0] > whole
    assert "with all parts" in page.locator(".cf-readout").inner_text()
    page.get_by_role("radio", name="post-norm").check()
    assert_agrees(page, figure)
    page.get_by_role("button", name="all parts on").click()
    settle(page)
    assert trait(page, "on").all()


@pytest.mark.browser
def test_the_position_follows_keys_mouse_and_finger(figure_page):
    figure = ResidualStream()
    page = figure_page(figure, phone=True, touch=True)
    ribbon(page).focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    assert trait(page, "position") == 1
    assert ribbon(page).get_attribute("aria-valuetext") == "position 1, space"
    symbol = page.locator(".residual-stream-text > span")
    page.mouse.click(*centre(symbol.nth(5)))
    settle(page)
    assert trait(page, "position") == 5
    page.touchscreen.tap(*centre(symbol.nth(9)))
    settle(page)
    assert trait(page, "position") == 9
    assert_agrees(page, figure)


@pytest.mark.browser
def test_another_text_is_read_and_a_bad_one_is_explained(figure_page):
    figure = ResidualStream(position=20)
    page = figure_page(figure)
    field = page.get_by_label("text", exact=True)
    field.fill("To be, or not")
    settle(page)
    assert trait(page, "position") == 12
    assert_agrees(page, figure)
    for typed, says in (("", "too short"), ("x" * 40, "40 symbols"), ("Träume", "“ä”")):
        field.fill(typed)
        assert says in message(page)
        assert trait(page, "text") == "To be, or not"
    page.get_by_role("button", name="Start again").click()
    assert message(page) == ""
    assert trait(page, "text") == "O what a noble mind is here"


@pytest.mark.browser
def test_other_weights_are_read_anew(figure_page):
    figure, other = (ResidualStream(small_gpt(seed), VOCABULARY, "abcab") for seed in (0, 1))
    page = figure_page(figure)
    assert_agrees(page, figure)
    page.evaluate(
        """weights => {
          const model = document.querySelector('.course-figure-mount').figureModel;
          model.set('weights', weights);
          model.save_changes();
        }""",
        other.weights,
    )
    assert_agrees(page, other)


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["NaN", "too few"])
def test_weights_that_cannot_be_used_are_explained(figure_page, kind):
    figure = ResidualStream(small_gpt(), VOCABULARY, "abc")
    numbers = np.frombuffer(base64.b64decode(figure.weights), "<f2").copy()
    if kind == "NaN":
        numbers[7] = np.nan
    else:
        numbers = numbers[:-3]
    figure.weights = base64.b64encode(numbers.tobytes()).decode()
    page = figure_page(figure, faulty=True)
    assert ("not a number" if kind == "NaN" else "should have") in message(page)


@pytest.mark.browser
def test_a_model_that_stays_in_python_is_shown_with_its_switches_at_rest(figure_page):
    figure = ResidualStream(small_gpt(n_embd=36), VOCABULARY, "abcab", position=1)
    page = figure_page(figure)
    assert np.allclose(shown(page, "part"), figure.measures.part.ravel(), rtol=1e-5)
    assert switch(page, "attention 0").is_disabled()
    assert "too large" in page.locator(".cf-hints").inner_text()
    ribbon(page).press("ArrowRight")
    settle(page)
    assert trait(page, "position") == 2


@pytest.mark.browser
def test_nothing_is_too_wide_or_hard_to_reach(figure_page):
    page = figure_page(ResidualStream(norm="post"), phone=True)
    assert too_wide(page) <= 0
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        settle(page)
        assert violations(page) == [], theme


@pytest.mark.browser
def test_without_javascript_the_still_picture_says_the_same(figure_page):
    figure = ResidualStream(position=12)
    page = figure_page(figure, scripts=False)
    assert figure.alt in page.locator("figcaption").inner_text()
    assert page.locator("figure svg path").count() == 24
