"""Sampling in the page follows `course_lib.sampling`, edges included, and shows what it cuts."""

import itertools

import numpy as np
import pytest
import torch
from engine_weights import SAMPLING, open_engine
from interactions import message, settle, shown, too_wide, trait, violations, words

from course_figures.errors import FigureError
from course_figures.sampling import ALL, Sampling, drawn_symbols, uniforms
from course_lib.data import Vocabulary
from course_lib.errors import ShapeError
from course_lib.model import OneHead
from course_lib.sampling import next_probabilities

browser = pytest.mark.browser

EDGES = {
    "ties": [1.0, 2.0, 2.0, 0.5, 2.0, 1.0],
    "never": [1.0, -np.inf, 0.0, -np.inf, 2.0, 0.5],
    "far apart": [90.0, -90.0, 0.0, 1.0, 89.0, 2.0],
    "equal": [0.0] * 6,
}


@browser
def test_distribution_is_that_of_the_library_with_every_setting(figure_page):
    page = open_engine(figure_page(Sampling()), SAMPLING)
    rows = [*Sampling().logits.tolist(), *EDGES.values()]
    temperatures, tops = [0, 1e-40, 1e-6, 0.3, 1, 2.5, 5], [None, 1, 2, 3, 6, ALL]
    shares = [None, 0, 1e-9, 0.3, 0.5, 0.9, 0.999, 1]
    cases = list(itertools.product(temperatures, tops, shares))
    for row in rows:
        written = [None if v == -np.inf else v for v in row]
        found = page.evaluate(
            """([row, cases]) => {
              const logits = Float32Array.from(row, (v) => (v === null ? -Infinity : v));
              return cases.map(([temperature, topK, topP]) => Array.from(
                room.nextProbabilities(logits, { temperature, topK, topP }).probabilities));
            }""",
            [written, cases],
        )
        for case, mine in zip(cases, found, strict=True):
            expected = next_probabilities(torch.tensor(row), *case).numpy()
            assert np.allclose(mine, expected, atol=1e-6), case
            assert np.array_equal(np.array(mine) == 0, expected == 0), case


@browser
def test_cut_symbols_and_draws_are_those_of_python(figure_page):
    figure = Sampling(temperature=0.8, top_k=6, top_p=0.85, seed=11, draws=300)
    page = figure_page(figure)
    assert np.allclose(shown(page, "after"), figure.probabilities, atol=1e-6)
    assert shown(page, "drawn").tolist() == figure.drawn.tolist()
    assert np.array_equal(shown(page, "counts"), np.bincount(figure.drawn, minlength=65))
    kept = np.count_nonzero(figure.probabilities)
    assert f"{kept} of 65 symbols may be drawn: top-k cuts 59" in words(page)
    assert "cut by top-k" in page.locator(".sampling-table").inner_text()


@browser
def test_greedy_settings_leave_the_first_of_equals(figure_page):
    for settings in ({"temperature": 0}, {"top_k": 1}, {"top_p": 0}):
        page = figure_page(Sampling([1.0, 2.0, 2.0], symbols=list("abc"), draws=20, **settings))
        assert shown(page, "after").tolist() == [0, 1, 0]
        assert set(shown(page, "drawn")) == {1}


def test_a_symbol_of_probability_0_is_never_drawn():
    points = np.array([0.0, 0.3, 0.5, 0.999999999])
    assert drawn_symbols(np.array([0, 0.5, 0, 0.5, 0]), points).tolist() == [1, 1, 3, 3]


def test_numbers_of_a_seed_fill_the_unit_evenly():
    numbers = uniforms(5, 4000)
    assert np.all((numbers >= 0) & (numbers < 1))
    assert np.abs(np.histogram(numbers, 10, (0, 1))[0] - 400).max() < 100
    assert not np.array_equal(uniforms(6, 10), numbers[:10])


@browser
def test_same_seed_draws_the_same_and_another_differs(figure_page):
    page = figure_page(Sampling(), over="file")
    page.get_by_role("button", name="Draw 100").click()
    settle(page)
    first = shown(page, "drawn").tolist()
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="Draw 100").click()
    settle(page)
    assert shown(page, "drawn").tolist() == first
    page.get_by_role("button", name="Other seed").click()
    settle(page)
    assert shown(page, "drawn").tolist() != first


@browser
def test_keyboard_alone_sets_and_draws(figure_page):
    page = figure_page(Sampling())
    slider = page.get_by_label("temperature")
    slider.focus()
    page.keyboard.press("Home")
    assert trait(page, "temperature") == 0
    page.get_by_label("top-k").focus()
    page.keyboard.press("ArrowLeft")
    assert trait(page, "top_k") == 50
    page.get_by_role("button", name="Draw one").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    settle(page)
    assert trait(page, "draws") == 2
    assert "Draw 2" in page.locator(".cf-hidden[role=status]").text_content()


@browser
def test_mouse_moves_a_slider_and_finger_draws(figure_page):
    page = figure_page(Sampling(), phone=True, touch=True)
    box = page.get_by_label("top-p").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert 0.4 < trait(page, "top_p") < 0.6
    page.get_by_role("button", name="Draw one").tap()
    settle(page)
    assert shown(page, "counts").sum() == 1


@browser
def test_every_symbol_can_be_seen(figure_page):
    page = figure_page(Sampling())
    rows = page.locator(".sampling-table tbody tr")
    few = rows.count()
    page.get_by_role("button", name="Show all 65 symbols").click()
    settle(page)
    assert few < rows.count() == 65


@browser
def test_another_context_has_other_logits(figure_page):
    figure = Sampling()
    page = figure_page(figure)
    page.locator("select").select_option("2")
    settle(page)
    figure.context = 2
    assert np.allclose(shown(page, "after"), figure.probabilities, atol=1e-6)


@browser
def test_settings_outlive_a_reload(figure_page):
    page = figure_page(Sampling())
    page.get_by_role("button", name="Draw 100").click()
    page.reload()
    page.locator("[data-mounted]").wait_for()
    assert trait(page, "draws") == 100


@browser
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_logits_without_a_distribution_become_a_message(figure_page, value):
    logits = [value] * 3 if value == -np.inf else [0.0, value, 1.0]
    figure = Sampling(logits)
    assert "not a number" in figure.alt
    page = figure_page(figure, Sampling())
    assert "no distribution follows" in message(page, 0)
    assert message(page, 1) == ""


@browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_cuts_and_draws_fit_a_phone_and_break_no_rule(figure_page, theme):
    figure = Sampling(temperature=0.8, top_k=6, top_p=0.85, draws=30)
    page = figure_page(figure, phone=True, theme=theme)
    assert too_wide(page) == 0
    assert violations(page) == []


@browser
def test_without_javascript_the_likely_symbols_stand_as_a_picture(figure_page):
    page = figure_page(Sampling(), scripts=False)
    assert page.locator(".course-figure-still svg").is_visible()
    assert "symbols may be drawn" in page.locator(".course-figure-still").inner_text()


def test_a_model_gives_its_own_logits():
    vocabulary = Vocabulary("abc")
    torch.manual_seed(0)
    model = OneHead(3, 4, 8, 8)
    figure = Sampling.of(model, vocabulary, "ab", "abcabcabc")
    with torch.no_grad():
        assert np.allclose(
            figure.logits[1], model(vocabulary.encode("cabc"[-4:])[None])[0][0, -1], atol=1e-6
        )
    assert figure.contexts == ["ab", "abcabcabc"]


def test_what_does_not_fit_is_named():
    with pytest.raises(ShapeError, match="V = 3, but there are 2 symbols"):
        Sampling([1.0, 2.0, 3.0], symbols=["a", "b"])
    with pytest.raises(FigureError, match="temperature is -1"):
        Sampling(temperature=-1)
    with pytest.raises(FigureError, match="at least one, none empty"):
        Sampling.of(OneHead(3, 4, 8, 8), Vocabulary("abc"), "")
