"""The figure of pairs: probabilities, search, rows, and what is drawn from them."""

import numpy as np
import pytest
import torch
from interactions import centre, message, settle, shown, trait, words

from course_figures import BigramTable
from course_figures.errors import FigureError
from course_lib.data import Vocabulary
from course_lib.errors import ShapeError

pytestmark = pytest.mark.browser

TEXT = "the quick brown fox jumps over the lazy dog and the cat that sat on the mat"


@pytest.fixture
def counted():
    vocabulary = Vocabulary.of(TEXT)
    tokens, V = vocabulary.encode(TEXT), len(vocabulary)
    counts = torch.bincount(tokens[:-1] * V + tokens[1:], minlength=V * V).view(V, V)
    return counts, vocabulary


def matrix(page):
    return page.locator("canvas.cf-matrix")


def at(page, row, column, V):
    """The middle of a cell, in pixels of the window."""
    matrix(page).scroll_into_view_if_needed()
    box = matrix(page).bounding_box()
    left, top = 18, 18
    size = (box["width"] - left - 2) // V
    return box["x"] + left + (column + 0.5) * size, box["y"] + top + (row + 0.5) * size


@pytest.mark.parametrize("k", [0.0, 0.1, 10.0])
def test_row_is_what_python_and_torch_compute(figure_page, counted, k):
    counts, vocabulary = counted
    row = vocabulary.symbols.index("t")
    figure = BigramTable(counts, vocabulary.symbols, row=row, smoothing=k)
    expected = (counts + k)[row] / (counts + k)[row].sum()
    page = figure_page(figure)
    assert np.allclose(figure.probabilities[row], expected, atol=1e-6)
    assert np.allclose(shown(page, "row"), expected, atol=1e-6)
    best = sorted(expected[expected > 0].tolist(), reverse=True)[:10]
    assert np.allclose(shown(page, "likeliest"), best, atol=1e-6)


def test_pointing_reads_a_cell_and_clicking_draws_from_its_row(figure_page, counted):
    counts, vocabulary = counted
    V, symbols = len(vocabulary), vocabulary.symbols
    page = figure_page(BigramTable(counts, symbols))
    q = symbols.index("q")
    page.mouse.move(*at(page, q, 3, V))
    settle(page)
    assert trait(page, "row") == q
    assert "After “q” the likeliest are “u” 100\N{NO-BREAK SPACE}%" in words(page)
    page.mouse.click(*at(page, q, 3, V))
    assert trait(page, "text") == "qu"
    settle(page)
    assert "qu" in page.locator(".cf-bigram-text").inner_text()


def test_tap_draws_from_a_row(figure_page, counted):
    counts, vocabulary = counted
    page = figure_page(BigramTable(counts, vocabulary.symbols), phone=True, touch=True)
    q = vocabulary.symbols.index("q")
    matrix(page).scroll_into_view_if_needed()
    page.touchscreen.tap(*at(page, q, 2, len(vocabulary)))
    assert trait(page, "text") == "qu"


def test_keys_move_and_draw(figure_page, counted):
    counts, vocabulary = counted
    page = figure_page(BigramTable(counts, vocabulary.symbols))
    matrix(page).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Home")
    settle(page)
    assert trait(page, "row") == 1
    said = page.locator(".cf-hidden[role=status]").inner_text()
    assert said.startswith(f"{vocabulary.symbols[1]}, then space: ")
    page.keyboard.press("Enter")
    assert trait(page, "text")[0] == vocabulary.symbols[1]
    assert len(trait(page, "text")) == 2


def test_search_finds_symbols_and_pairs_and_says_what_is_not_there(figure_page, counted):
    counts, vocabulary = counted
    page = figure_page(BigramTable(counts, vocabulary.symbols))
    field = page.get_by_label("Find a symbol or a pair")
    field.fill("th")
    settle(page)
    assert trait(page, "row") == vocabulary.symbols.index("t")
    assert "After t (seen" in page.locator(".cf-bigram-side p").inner_text()
    assert ": h " in page.locator(".cf-bigram-side p").inner_text()
    field.fill("ß")
    assert "“ß” is none of the" in message(page)
    field.fill("q")
    settle(page)
    assert message(page) == ""


def test_what_is_written_has_only_pairs_that_were_seen_in_their_proportions(figure_page, counted):
    counts, vocabulary = counted
    page = figure_page(BigramTable(counts, vocabulary.symbols, row=0), calm=True)
    for _ in range(40):
        page.get_by_role("button", name="write 60").click()
    text = trait(page, "text")
    assert len(text) == 2401
    tokens = vocabulary.encode(text)
    pairs = counts[tokens[:-1], tokens[1:]]
    assert (pairs > 0).all()
    space = tokens[:-1] == 0
    drawn = torch.bincount(tokens[1:][space], minlength=len(vocabulary)) / space.sum()
    expected = counts[0] / counts[0].sum()
    assert (drawn - expected).abs().max() < 0.08  # over 400 draws: four standard deviations


def test_same_seed_writes_the_same_and_clear_begins_another(figure_page, counted):
    counts, vocabulary = counted
    page = figure_page(*(BigramTable(counts, vocabulary.symbols) for _ in range(2)), calm=True)
    for index in range(2):
        page.get_by_role("button", name="write 60").nth(index).click()
    first = trait(page, "text", 0)
    assert first == trait(page, "text", 1)
    page.get_by_role("button", name="clear").nth(0).click()
    assert trait(page, "text", 0) == ""
    page.get_by_role("button", name="write 60").nth(0).click()
    assert trait(page, "text", 0) != first


def test_text_grows_before_the_eye_where_motion_is_wanted(figure_page, counted):
    counts, vocabulary = counted
    page = figure_page(BigramTable(counts, vocabulary.symbols))
    page.get_by_role("button", name="write 60").click()
    page.wait_for_function(
        "() => document.querySelector('.course-figure-mount').figureModel.get('text').length === 61"
    )


def test_full_text_says_so_and_takes_no_symbol_from_any_row(figure_page):
    text = "ab" * 2499 + "a"
    page = figure_page(BigramTable(np.ones((2, 2)), ["a", "b"], text=text, row=0), calm=True)
    page.get_by_role("button", name="draw one").click()
    assert len(trait(page, "text")) == 5000
    assert message(page) == ""
    for row in ("a", "b"):
        page.get_by_label("Find a symbol or a pair").fill(row)
        for name in ("draw one", "write 60"):
            page.get_by_role("button", name=name).click()
            assert "5,000 symbols are written. Press “clear” to write on." in message(page)
            assert len(trait(page, "text")) == 5000
    page.get_by_role("button", name="clear").click()
    page.get_by_role("button", name="draw one").click()
    assert message(page) == ""
    assert len(trait(page, "text")) == 2


def test_row_that_nothing_follows_is_said_and_smoothing_mends_it(figure_page):
    counts = np.array([[0, 3], [0, 0]])
    page = figure_page(BigramTable(counts, ["a", "b"], row=1))
    page.get_by_role("button", name="draw one").click()
    assert "Nothing was ever seen after “b”" in message(page)
    page.get_by_label("k added").fill("2")
    assert message(page) == ""
    page.get_by_role("button", name="draw one").click()
    assert len(trait(page, "text")) == 2


def test_whole_table_of_65_symbols_is_drawn_on_a_phone(figure_page):
    V = 65
    symbols = [chr(33 + i) for i in range(V)]
    counts = np.random.default_rng(0).poisson(1.0, (V, V))
    page = figure_page(BigramTable(counts, symbols), phone=True)
    box = matrix(page).bounding_box()
    assert box["x"] + box["width"] <= 390
    assert centre(matrix(page))[0] > 100


@pytest.mark.parametrize(
    ("counts", "symbols", "error", "says"),
    [
        (np.zeros((2, 3)), "ab", ShapeError, "counts"),
        (np.zeros((2, 2)), "abc", ShapeError, "3 symbols"),
        (-np.ones((2, 2)), "ab", FigureError, "-1"),
        (np.full((2, 2), np.nan), "ab", FigureError, "NaN"),
        (np.ones((2, 2)), None, FigureError, "both"),
        (np.ones((2, 2)), ["ab", "c"], FigureError, "one character each"),
    ],
)
def test_wrong_state_is_refused_in_python(counts, symbols, error, says):
    with pytest.raises(error, match=says):
        BigramTable(counts, symbols)
