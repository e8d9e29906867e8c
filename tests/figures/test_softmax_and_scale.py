"""The figure of softmax and scale: its numbers, its hands, and what it says of bad input."""

import numpy as np
import pytest
import torch
from interactions import (
    centre,
    message,
    mouse_drag,
    settle,
    shown,
    too_wide,
    touch_drag,
    trait,
    violations,
    words,
)

from course_figures import SoftmaxAndScale
from course_figures.errors import FigureError
from course_figures.softmax_and_scale import (
    LARGEST,
    PAIRS,
    dot_products,
    normal_pairs,
    softmax_row,
    variances,
)
from course_lib.errors import ShapeError

STATE = ("scores", "temperature", "head_size", "scaled", "seed")


def knob(page, t):
    return page.get_by_role("slider", name=f"score {t}", exact=True)


def sampled(page):
    """Wait until all vectors of the present seed are drawn."""
    settle(page)
    page.wait_for_function(
        "() => document.querySelector('.course-figure').shown?.seed?.[0] === "
        "document.querySelector('.course-figure-mount').figureModel.get('seed')"
    )


def same(page):
    """Python's figure in the state of the page."""
    sampled(page)
    return SoftmaxAndScale(**{name: trait(page, name) for name in STATE})


def assert_agrees(page):
    figure = same(page)
    for name in ("logits", "weights", "entropy", "gradient"):
        assert np.allclose(shown(page, name), getattr(figure.row, name), atol=1e-9), name
    assert words(page) == figure.alt


@pytest.mark.parametrize("scaled", [True, False])
def test_gradient_is_the_norm_of_the_jacobian_that_torch_finds(scaled):
    scores = torch.tensor([1.5, -0.25, 0.75, 3.0], dtype=torch.float64)
    row = softmax_row(scores.numpy(), 0.7, 5, scaled)
    logits = scores * (1 if scaled else 5**0.5) / 0.7
    jacobian = torch.autograd.functional.jacobian(lambda z: z.softmax(-1), logits)
    assert np.allclose(row.weights, logits.softmax(-1))
    assert np.isclose(row.gradient, jacobian.norm().item())
    assert np.isclose(row.entropy, torch.distributions.Categorical(logits=logits).entropy().item())


def test_entropy_and_gradient_reach_their_bounds():
    even = softmax_row(np.zeros(2), 1, 1, True)
    assert np.isclose(even.entropy, np.log(2))
    assert np.isclose(even.gradient, 0.5)
    hard = softmax_row(np.array([10.0, -10.0, 0.0]), 0.1, 128, False)
    assert hard.entropy == 0
    assert hard.gradient == 0


def test_sampled_vectors_are_standard_normal_and_independent():
    query, key = normal_pairs(7, PAIRS * LARGEST)
    for sample in (query, key):
        assert abs(sample.mean()) < 0.02
        assert abs(sample.var() - 1) < 0.03
        assert abs((sample**4).mean() - 3) < 0.2
    assert abs((query * key).mean()) < 0.02
    assert abs((query[1:] * query[:-1]).mean()) < 0.02


def test_variance_grows_like_the_head_size_and_not_after_the_division():
    over_seeds = np.mean([variances(seed) for seed in range(20)], axis=0)
    sizes = np.arange(1, LARGEST + 1)
    assert np.allclose(over_seeds / sizes, 1, atol=0.12)
    figure = SoftmaxAndScale(head_size=64, seed=3)
    raw, scaled = figure.variances
    assert np.isclose(raw, np.var(dot_products(3)[:, 63]))
    assert np.isclose(scaled, np.var(dot_products(3)[:, 63] / 8))


@pytest.mark.parametrize(
    ("state", "error", "says"),
    [
        ({"scores": [1.0]}, FigureError, "2 to 8"),
        ({"scores": np.zeros(9)}, FigureError, "9 scores"),
        ({"scores": [0, 11]}, FigureError, "reaches 11"),
        ({"scores": [0, np.nan]}, FigureError, "NaN"),
        ({"scores": np.zeros((2, 2))}, ShapeError, r"\(T\)"),
        ({"temperature": 0}, FigureError, "0.1 to 10"),
        ({"head_size": 2.5}, FigureError, "whole number"),
    ],
)
def test_python_refuses_what_cannot_be_shown(state, error, says):
    with pytest.raises(error, match=says):
        SoftmaxAndScale(**state)


@pytest.mark.browser
@pytest.mark.parametrize("over", ["http", "file"])
def test_page_shows_what_python_computes(figure_page, over):
    page = figure_page(
        SoftmaxAndScale(scores=[3, -2, 0.5], temperature=0.5, head_size=32, scaled=False, seed=9),
        over=over,
    )
    assert_agrees(page)
    assert np.allclose(shown(page, "dots"), dot_products(9).ravel(), atol=1e-9)
    assert np.allclose(shown(page, "variances"), variances(9), atol=1e-9)


@pytest.mark.browser
def test_keys_change_scores_and_settings(figure_page):
    page = figure_page(SoftmaxAndScale())
    knob(page, 2).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    settle(page)
    assert np.isclose(trait(page, "scores")[2], 1.6)
    page.keyboard.press("Delete")
    assert trait(page, "scores")[2] == 0
    assert page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.get_by_label("head size D").press("ArrowRight")
    page.get_by_label("temperature τ").press("ArrowLeft")
    page.get_by_label("divide q·k by √D").press("Space")
    settle(page)
    assert (trait(page, "head_size"), trait(page, "scaled")) == (32, False)
    assert trait(page, "temperature") < 1
    assert_agrees(page)


@pytest.mark.browser
def test_a_knob_is_dragged_sideways_with_mouse_and_finger(figure_page):
    page = figure_page(SoftmaxAndScale(), phone=True, touch=True)
    x, y = centre(knob(page, 0))
    mouse_drag(page, (x, y), (x - 60, y))
    by_mouse = trait(page, "scores")[0]
    assert by_mouse < 1
    x, y = centre(knob(page, 4))
    touch_drag(page, (x, y), (x + 60, y))
    assert trait(page, "scores")[4] > 0
    assert trait(page, "scores")[0] == by_mouse
    assert_agrees(page)


@pytest.mark.browser
def test_without_the_division_a_large_head_saturates_the_softmax(figure_page):
    page = figure_page(SoftmaxAndScale(head_size=128))
    sampled(page)
    scaled = shown(page, "gradient")[0]
    page.get_by_label("divide q·k by √D").uncheck()
    settle(page)
    assert shown(page, "gradient")[0] < 0.01 < scaled
    assert "saturated" in page.locator(".cf-readout").inner_text()


@pytest.mark.browser
def test_positions_come_and_go_and_other_vectors_are_drawn(figure_page):
    page = figure_page(SoftmaxAndScale(scores=[1, 2, 3]))
    sampled(page)
    page.get_by_role("button", name="− position").click()
    settle(page)
    assert page.get_by_role("button", name="− position").is_disabled()
    before = shown(page, "variances")
    page.get_by_role("button", name="draw again").click()
    sampled(page)
    assert trait(page, "seed") == 2
    assert not np.allclose(shown(page, "variances"), before)
    page.get_by_role("button", name="sampled scores").click()
    settle(page)
    first = dot_products(2)[:2, 15] / 4
    assert np.allclose(trait(page, "scores"), np.round(first, 2), atol=0.006)
    assert_agrees(page)


@pytest.mark.browser
def test_typed_scores_are_taken_and_bad_ones_are_explained(figure_page):
    page = figure_page(SoftmaxAndScale())
    field = page.get_by_label("scores", exact=True)
    field.fill("1, −2.5, 3")
    settle(page)
    assert np.allclose(trait(page, "scores"), [1, -2.5, 3])
    for typed, says in (("1, x", "not a number"), ("4", "2 to 8"), ("1, 99", "too large")):
        field.fill(typed)
        assert says in message(page)
        assert np.allclose(trait(page, "scores"), [1, -2.5, 3])
    page.get_by_role("button", name="Start again").click()
    assert message(page) == ""
    assert len(trait(page, "scores")) == 5


@pytest.mark.browser
def test_nothing_is_too_wide_or_hard_to_reach(figure_page):
    page = figure_page(SoftmaxAndScale(scores=np.zeros(8)), phone=True, touch=True)
    assert too_wide(page) <= 0
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        settle(page)
        assert violations(page) == [], theme
    assert knob(page, 0).bounding_box()["width"] >= 24


@pytest.mark.browser
def test_without_javascript_the_still_picture_says_the_same(figure_page):
    figure = SoftmaxAndScale(head_size=64, scaled=False)
    page = figure_page(figure, scripts=False)
    assert figure.alt in page.locator("figcaption").inner_text()
    assert page.locator("figure svg").get_attribute("aria-label") == figure.alt
