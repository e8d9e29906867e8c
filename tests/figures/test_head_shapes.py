"""The figure of heads as shapes: its cells are torch's, right and wrong ways, and its hands."""

import itertools

import pytest
import torch
from interactions import centre, message, settle, shown, too_wide, trait, violations, words

from course_figures import HeadShapes
from course_figures.errors import FigureError
from course_figures.head_shapes import stages

STATE = ("batch", "time", "heads", "head_size", "split", "merge", "stage", "selected")
ROUTES = list(itertools.product(["transpose", "view"], repeat=2))


def torch_route(B, T, H, D, split, merge):
    """Key → tensor of every stage, by torch's own operations."""
    x = torch.arange(B * T * H * D).view(B, T, H * D)
    found = {"x": x}
    if split == "transpose":
        found["view"] = x.view(B, T, H, D)
        found["split"] = found["view"].transpose(1, 2)
    else:
        found["split"] = x.view(B, H, T, D)
    found["heads"] = found["split"].clone(memory_format=torch.contiguous_format)
    if merge == "transpose":
        found["transposed"] = found["heads"].transpose(1, 2)
        found["merged"] = found["transposed"].reshape(B, T, H * D)
    else:
        found["merged"] = found["heads"].view(B, T, H * D)
    return found


def cell(page, number):
    return page.locator(f".head-shapes-cell[data-number='{number}']")


def assert_agrees(page):
    settle(page)
    figure = HeadShapes(**{name: trait(page, name) for name in STATE})
    now = figure.current
    assert shown(page, "source").tolist() == now.source.ravel().tolist()
    assert shown(page, "belongs").tolist() == now.belongs.ravel().tolist()
    assert tuple(shown(page, "strides")) == now.strides
    wrong = [
        cell(page, n).get_attribute("data-wrong") == "true" for n in now.source.ravel().tolist()
    ]
    assert wrong == now.wrong.ravel().tolist()
    assert words(page) == figure.alt


@pytest.mark.parametrize(("split", "merge"), ROUTES)
@pytest.mark.parametrize("sizes", [(2, 3, 2, 2), (1, 4, 4, 2), (2, 3, 2, 4)])
def test_stages_are_what_torch_does(sizes, split, merge):
    expected = torch_route(*sizes, split, merge)
    found = stages(*sizes, split, merge)
    assert [stage.key for stage in found] == list(expected)
    for stage in found:
        tensor = expected[stage.key]
        assert stage.source.tolist() == tensor.tolist(), stage.key
        assert stage.strides == tensor.stride(), stage.key
        assert stage.contiguous == tensor.is_contiguous(), stage.key


def test_the_transpose_mends_what_view_alone_breaks():
    right = {stage.key: stage for stage in stages(2, 3, 2, 2, "transpose", "transpose")}
    assert not any(stage.wrong.any() for stage in right.values())
    for split, merge in [("view", "transpose"), ("transpose", "view")]:
        assert stages(2, 3, 2, 2, split, merge)[-1].wrong.any()


def test_two_mistakes_hide_each_other_at_the_end_only():
    both = {stage.key: stage for stage in stages(2, 3, 2, 2, "view", "view")}
    assert both["heads"].wrong.sum() == 16
    assert not both["merged"].wrong.any()


def test_with_one_position_or_one_head_view_alone_is_right():
    for time, heads in ((1, 4), (4, 1)):
        assert not any(s.wrong.any() for s in stages(2, time, heads, 2, "view", "view"))


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({"heads": 4, "head_size": 3}, "heads · head_size = 12"),
        ({"selected": 24}, "24 numbers"),
        ({"time": 5}, "1 to 4"),
        ({"split": "reshape"}, "'transpose', 'view'"),
    ],
)
def test_python_refuses_what_cannot_be_shown(state, says):
    with pytest.raises(FigureError, match=says):
        HeadShapes(**state)


@pytest.mark.browser
@pytest.mark.parametrize(("split", "merge"), ROUTES)
def test_page_shows_every_stage_as_python_has_it(figure_page, split, merge):
    page = figure_page(HeadShapes(split=split, merge=merge, time=4, head_size=3))
    for button in page.locator(".head-shapes-steps button").all():
        button.click()
        assert_agrees(page)


@pytest.mark.browser
@pytest.mark.parametrize("over", ["http", "file"])
def test_wrong_cells_are_marked_by_a_sign_and_named(figure_page, over):
    page = figure_page(HeadShapes(stage="split", split="view"), over=over)
    assert_agrees(page)
    assert "×" in cell(page, 2).inner_text()
    assert "×" not in cell(page, 0).inner_text()
    assert cell(page, 2).get_attribute("aria-label").endswith("wrong place")
    said = page.locator(".cf-readout").inner_text()
    assert "16 of 24 cells are in a wrong head or position" in said
    assert "later position" in said
    page.get_by_role("radio", name="in: view, transpose").check()
    settle(page)
    assert "All 24 cells are where they belong" in page.locator(".cf-readout").inner_text()


@pytest.mark.browser
def test_one_number_is_followed_through_the_operations_with_keys(figure_page):
    page = figure_page(HeadShapes(), calm=True)
    cell(page, 0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    settle(page)
    assert trait(page, "selected") == 5
    assert page.evaluate("() => document.activeElement.dataset.number") == "5"
    page.get_by_role("button", name=".transpose(1, 2)").first.press("Enter")
    settle(page)
    assert trait(page, "stage") == "split"
    assert (
        "is at [0, 0, 1, 1], address 0·12 + 0·2 + 1·4 + 1·1 = 5"
        in page.locator(".cf-readout").inner_text()
    )
    cell(page, 5).focus()
    page.keyboard.press("End")
    settle(page)
    assert trait(page, "selected") == 23
    assert_agrees(page)


@pytest.mark.browser
def test_sizes_stay_narrow_enough_and_keep_the_number_inside(figure_page):
    page = figure_page(HeadShapes(selected=23))
    page.get_by_label("D, channels of a head").select_option("4")
    page.get_by_label("H, heads").select_option("4")
    settle(page)
    assert (trait(page, "heads"), trait(page, "head_size")) == (4, 2)
    page.get_by_label("B, sequences").select_option("1")
    page.get_by_label("T, positions").select_option("1")
    settle(page)
    assert trait(page, "selected") == 7
    assert_agrees(page)
    assert message(page) == ""


@pytest.mark.browser
def test_a_finger_chooses_a_cell(figure_page):
    page = figure_page(HeadShapes(), phone=True, touch=True)
    page.touchscreen.tap(*centre(cell(page, 10)))
    settle(page)
    assert trait(page, "selected") == 10
    page.mouse.click(*centre(cell(page, 3)))
    settle(page)
    assert trait(page, "selected") == 3


@pytest.mark.browser
def test_nothing_moves_where_the_reader_wants_it_calm(figure_page):
    page = figure_page(HeadShapes(), calm=True)
    seconds = cell(page, 0).evaluate("(e) => getComputedStyle(e).transitionDuration")
    assert seconds == "0s"


@pytest.mark.browser
def test_a_state_of_another_page_is_explained(figure_page):
    page = figure_page(HeadShapes(), faulty=True)
    page.evaluate(
        "() => { const m = document.querySelector('.course-figure-mount').figureModel;"
        " m.set('selected', 60); m.save_changes(); }"
    )
    assert "no number 60" in message(page)
    page.get_by_role("button", name="Start again").click()
    assert message(page) == ""


@pytest.mark.browser
def test_nothing_is_too_wide_or_hard_to_reach(figure_page):
    figure = HeadShapes(time=4, heads=4, stage="split", split="view")
    page = figure_page(figure, phone=True)
    assert too_wide(page) <= 0
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        settle(page)
        assert violations(page) == [], theme
    box = cell(page, 0).bounding_box()
    assert min(box["width"], box["height"]) >= 24


@pytest.mark.browser
def test_without_javascript_the_still_picture_says_the_same(figure_page):
    figure = HeadShapes(stage="split", split="view")
    page = figure_page(figure, scripts=False)
    assert figure.alt in page.locator("figcaption").inner_text()
    assert page.locator("figure svg text", has_text="×").count() == figure.current.wrong.sum()
