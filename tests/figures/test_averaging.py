"""The figure of averages: its numbers, its hands, and what it says when something is wrong."""

import numpy as np
import pytest
import torch
from interactions import message, mouse_drag, settle, shown, touch_drag, trait, words

from course_figures import Averaging
from course_figures.errors import FigureError
from course_lib.errors import ShapeError

pytestmark = pytest.mark.browser


def drawing(page):
    return page.locator(".cf-stage svg")


def cell(page, t, s):
    """The middle of a cell of the matrix, in pixels of the window."""
    box = drawing(page).bounding_box()
    x, y, size = shown(page, "cells")
    return box["x"] + x + (s + 0.5) * size, box["y"] + y + (t + 0.5) * size


def agrees(page, figure):
    """Whether the page shows what Python computes from the page's state."""
    names = ("values", "matrix", "scores", "mode", "masked")
    same = Averaging(**{name: trait(page, name) for name in names})
    settle(page)
    return np.allclose(shown(page, "outputs"), same.outputs, atol=1e-6) and np.allclose(
        shown(page, "weights"), same.weights.ravel(), atol=1e-6
    )


@pytest.mark.parametrize("mode", ["weights", "scores"])
def test_outputs_are_what_python_and_torch_compute(figure_page, mode):
    generator = torch.Generator().manual_seed(3)
    values, scores = torch.randn(6, generator=generator), torch.randn(6, 6, generator=generator)
    figure = Averaging(values, matrix=scores, scores=scores, mode=mode)
    weights = scores
    if mode == "scores":
        future = torch.ones(6, 6, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
    page = figure_page(figure)
    assert np.allclose(figure.outputs, weights @ values, atol=1e-6)
    assert np.allclose(shown(page, "outputs"), weights @ values, atol=1e-6)


def test_presets_give_the_matrices_that_they_name(figure_page):
    page = figure_page(Averaging())
    ones, T = torch.ones(8, 8), 8
    expected = {
        "ones": ones,
        "tril": ones.tril(),
        "window of 3": ones.tril() - ones.tril(-3),
        "running mean": ones.tril() / torch.arange(1, T + 1)[:, None],
        "decay": (0.6 ** (torch.arange(T)[:, None] - torch.arange(T))).tril(),
    }
    for name in ("window of 3", "decay"):
        expected[name] = expected[name] / expected[name].sum(1, True)
    for name, matrix in expected.items():
        page.get_by_role("button", name=name, exact=True).click()
        assert np.allclose(trait(page, "matrix"), matrix, atol=1e-6), name
        assert agrees(page, None)
    page.get_by_role("button", name="tril", exact=True).click()
    page.get_by_role("button", name="rows ÷ their sums").click()
    assert np.allclose(trait(page, "matrix"), expected["running mean"], atol=1e-6)
    page.get_by_role("radio", name="scores").check()
    settle(page)
    distance = torch.arange(T)[:, None] - torch.arange(T)  # (T, 1) − (T,) → (T, T)
    expected = {"near counts more": -distance.abs(), "bell": -(distance**2) / 8, "zeros": 0 * ones}
    for name, scores in expected.items():
        page.get_by_role("button", name=name, exact=True).click()
        assert np.allclose(trait(page, "scores"), scores, atol=1e-6), name
        assert agrees(page, None)


def test_dragging_a_cell_changes_its_weight_alone(figure_page):
    page = figure_page(Averaging())
    before = trait(page, "matrix").copy()
    x, y = cell(page, 5, 1)
    mouse_drag(page, (x, y), (x + 60, y))
    after = trait(page, "matrix")
    assert after[5, 1] > before[5, 1] + 0.1
    assert np.delete(after.ravel(), 5 * 8 + 1).tolist() == np.delete(before.ravel(), 41).tolist()
    assert agrees(page, None)


def test_finger_drags_a_cell_and_taps_a_row(figure_page):
    page = figure_page(Averaging(), phone=True, touch=True)
    drawing(page).scroll_into_view_if_needed()
    x, y = cell(page, 6, 0)
    touch_drag(page, (x, y), (x + 60, y))
    assert trait(page, "matrix")[6, 0] > 0.3
    page.touchscreen.tap(*cell(page, 2, 7))
    settle(page)
    assert trait(page, "row") == 2
    assert "Output 2" in words(page)


def test_keys_move_change_type_and_clear(figure_page):
    page = figure_page(Averaging())
    drawing(page).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert trait(page, "row") == 4
    page.keyboard.press("+")
    assert trait(page, "matrix")[4, 1] == pytest.approx(0.25)
    page.keyboard.type("0.7")
    assert trait(page, "matrix")[4, 1] == pytest.approx(0.7)
    page.keyboard.press("Delete")
    assert trait(page, "matrix")[4, 1] == 0
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")  # past the last column stand the values
    page.keyboard.type("9")
    assert trait(page, "values")[4] == 9
    assert "value 4: 9" in page.locator(".cf-hidden[role=status]").inner_text()
    assert agrees(page, None)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ("5 + 2", 2),
        ("5 - 2", 2),
        ("0 . 7 . 5", 0.75),
        ("_ 3", -3),
        ("5 _ 0 , 5", -0.5),
        ("Shift+Minus 4", -4),
        ("5 Delete 2", 2),
        ("5 Tab Shift+Tab 2", 2),
    ],
)
def test_digits_begin_anew_after_any_other_change_and_minus_can_be_typed(figure_page, keys, value):
    page = figure_page(Averaging())
    drawing(page).focus()
    for key in keys.split():
        page.keyboard.press(key)
    assert trait(page, "matrix")[3, 0] == pytest.approx(value)
    assert message(page) == ""


def test_number_beyond_float32_is_refused_before_it_is_kept(figure_page):
    page = figure_page(Averaging())
    field = page.get_by_label("weight in row 3, column 0")
    field.fill("1e39")
    field.press("Enter")
    assert "too large for float32" in message(page)
    page.reload()
    page.locator(".course-figure-mount[data-mounted]").wait_for()
    drawing(page).press("Delete")
    assert message(page) == ""
    assert trait(page, "matrix")[3, 0] == 0


def test_number_typed_into_the_field_is_taken_and_nonsense_is_refused(figure_page):
    page = figure_page(Averaging())
    field = page.get_by_label("weight in row 3, column 0")
    field.fill("−0,5")
    field.press("Enter")
    settle(page)
    assert trait(page, "matrix")[3, 0] == -0.5
    field.fill("many")
    field.press("Enter")
    assert "not a number" in message(page)
    assert trait(page, "matrix")[3, 0] == -0.5
    field.fill("1")
    field.press("Enter")
    assert message(page) == ""


def test_pointing_at_a_row_writes_its_dot_product_out(figure_page):
    page = figure_page(Averaging())
    page.mouse.move(*cell(page, 1, 6))
    settle(page)
    text = page.locator(".cf-readout").inner_text()
    assert "output 1 = 0.5·4 + 0.5·0 = 2" in text
    assert "add up to 1: an average" in text


def test_mask_on_the_scores_hides_the_future_before_the_softmax(figure_page):
    page = figure_page(Averaging(mode="scores"))
    page.get_by_role("button", name="drawn at random").click()
    settle(page)
    weights = shown(page, "weights").reshape(8, 8)
    assert (np.triu(weights, 1) == 0).all()
    assert np.allclose(weights.sum(1), 1)
    page.get_by_label("mask the future").uncheck()
    settle(page)
    assert (shown(page, "weights") > 0).all()
    assert agrees(page, None)


def test_drawing_follows_reduced_motion_and_phone_in_both_views(figure_page):
    page = figure_page(Averaging(mode="scores"), phone=True, calm=True, theme="dark")
    page.get_by_role("radio", name="weights").check()
    settle(page)
    assert trait(page, "mode") == "weights"
    box = drawing(page).bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


@pytest.mark.parametrize(
    ("state", "error"),
    [
        ({"values": [1.0]}, FigureError),
        ({"values": 3.0}, ShapeError),
        ({"values": torch.tensor(3.0)}, ShapeError),
        ({"values": [1.0, 1e39]}, FigureError),
        ({"values": np.zeros(13)}, FigureError),
        ({"values": [1, 2, float("nan")]}, FigureError),
        ({"matrix": np.full((8, 8), np.inf)}, FigureError),
        ({"matrix": np.zeros((7, 7))}, ShapeError),
        ({"scores": np.zeros((8, 7))}, ShapeError),
        ({"labels": ["a"]}, FigureError),
        ({"row": 8}, FigureError),
    ],
)
def test_wrong_state_is_refused_in_python(state, error):
    with pytest.raises(error):
        Averaging(**state)
