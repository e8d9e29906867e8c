"""The figure of windows: inputs, targets, sliding, resizing, and texts that cannot be cut."""

import numpy as np
import pytest
import torch
from interactions import message, mouse_drag, settle, shown, touch_drag, trait, words

from course_figures import Windows
from course_figures.errors import FigureError
from course_lib.data import Vocabulary
from course_lib.errors import CorpusTooShortError, UnknownSymbolError

pytestmark = pytest.mark.browser

TEXT = "to be or not to be, that is the question"


def ribbon(page):
    return page.locator(".cf-stage canvas").nth(0)


def tile(page, place):
    """The middle of a symbol of the text, in pixels of the window."""
    ribbon(page).scroll_into_view_if_needed()
    box = ribbon(page).bounding_box()
    wide, line, columns = shown(page, "text")
    row, column = divmod(place, int(columns))
    return box["x"] + (column + 0.5) * wide, box["y"] + row * line + 10


def target(page, row, column):
    """The middle of a cell of the second table, in pixels of the window."""
    tables = page.locator(".cf-stage canvas").nth(1)
    tables.scroll_into_view_if_needed()
    box = tables.bounding_box()
    x, y, wide, high = shown(page, "tables")[4:]
    return box["x"] + x + (column + 0.5) * wide, box["y"] + y + (row + 0.5) * high


def test_windows_are_those_that_the_library_cuts(figure_page):
    tokens = Vocabulary.of(TEXT).encode(TEXT)
    starts = torch.tensor([0, 7, 22])
    rows = tokens.unfold(0, 9, 1)[starts]  # (N−T, T+1) → (B, T+1)
    figure = Windows(text=TEXT, starts=starts, block_size=8)
    assert np.array_equal(figure.inputs, rows[:, :-1])
    assert np.array_equal(figure.targets, rows[:, 1:])
    page = figure_page(figure)
    assert shown(page, "inputs").tolist() == rows[:, :-1].flatten().tolist()
    assert shown(page, "targets").tolist() == rows[:, 1:].flatten().tolist()


def test_mouse_slides_a_window_and_a_click_asks_for_a_target(figure_page):
    page = figure_page(Windows(text=TEXT, starts=[0, 20], block_size=6))
    mouse_drag(page, tile(page, 2), tile(page, 7))
    assert trait(page, "starts").tolist() == [5, 20]
    page.mouse.click(*target(page, 1, 3))
    settle(page)
    assert (trait(page, "row"), trait(page, "column")) == (1, 3)
    seen, asked = TEXT[20:24], TEXT[24].replace(" ", "␣")
    assert f"sees “{seen.replace(' ', '␣')}” and is asked for “{asked}”" in words(page)


def test_finger_asks_for_a_target_and_slides_a_window(figure_page):
    page = figure_page(Windows(text=TEXT, starts=[0], block_size=6), phone=True, touch=True)
    page.touchscreen.tap(*target(page, 0, 2))
    settle(page)
    assert trait(page, "column") == 2
    ribbon(page).scroll_into_view_if_needed()
    touch_drag(page, tile(page, 1), tile(page, 5))
    assert trait(page, "starts").tolist() == [4]


def test_keys_slide_choose_resize_and_read(figure_page):
    page = figure_page(Windows(text=TEXT, starts=[3, 20], block_size=6, row=0, column=0))
    ribbon(page).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("+")
    settle(page)
    assert trait(page, "row") == 1
    assert trait(page, "block_size") == 7
    figure = Windows(text=TEXT, starts=[4, len(TEXT) - 8], block_size=7)
    assert shown(page, "inputs").tolist() == figure.inputs.ravel().tolist()
    page.locator(".cf-stage canvas").nth(1).focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    assert (trait(page, "row"), trait(page, "column")) == (0, 6)
    assert "is asked for" in page.locator(".cf-hidden[role=status]").inner_text()


@pytest.mark.parametrize("area", [0, 1], ids=["text", "tables"])
def test_keys_of_the_browser_stay_the_browser_s(figure_page, area):
    page = figure_page(Windows(text=TEXT, starts=[3], block_size=6, column=2))
    taken = (
        page.locator(".cf-stage canvas")
        .nth(area)
        .evaluate(
            """area => ["altKey", "ctrlKey", "metaKey"].filter(held => !area.dispatchEvent(
          new KeyboardEvent("keydown", { key: "ArrowLeft", [held]: true, cancelable: true })))"""
        )
    )
    assert taken == []
    assert (trait(page, "starts").tolist(), trait(page, "column")) == ([3], 2)


def test_shorter_text_takes_windows_and_target_with_it_and_a_longer_one_brings_them_back(
    figure_page,
):
    page = figure_page(Windows(text=TEXT, starts=[0, 20], block_size=8, row=1, column=7))
    field = page.get_by_role("textbox", name="Text")
    field.fill("to be or not")
    settle(page)
    names = ("text", "symbols", "block_size", "starts", "row", "column")
    figure = Windows(**{name: trait(page, name) for name in names})
    assert figure.starts.tolist() == [0, 3]
    assert words(page) == figure.alt
    page.get_by_label("T, positions").fill("4")
    page.get_by_label("B, windows").fill("1")
    settle(page)
    figure = Windows(**{name: trait(page, name) for name in names})
    assert (figure.row, figure.column) == (0, 3)
    page.get_by_label("B, windows").fill("2")
    field.fill("")
    field.fill(TEXT)
    assert trait(page, "starts")[0] == 0
    assert message(page) == ""


def test_windows_come_back_to_where_they_were_put_when_a_text_is_typed_anew(figure_page):
    page = figure_page(Windows(text=TEXT, starts=[5, 20], block_size=4, column=0))
    field = page.get_by_role("textbox", name="Text")
    field.fill("")
    field.press_sequentially(TEXT)
    assert trait(page, "starts").tolist() == [5, 20]
    field.fill("to be or n")
    page.locator(".cf-stage canvas").first.press("Home")  # put by hand, in the short text
    field.fill(TEXT)
    assert trait(page, "starts").tolist() == [0, 5]


def test_sliders_change_t_and_b(figure_page):
    page = figure_page(Windows(text=TEXT, starts=[0, 20], block_size=6))
    page.get_by_label("T, positions").fill("4")
    page.get_by_label("B, windows").fill("4")
    settle(page)
    assert trait(page, "block_size") == 4
    assert len(trait(page, "starts")) == 4
    assert len(shown(page, "targets")) == 16


def test_text_that_cannot_be_cut_is_said_in_the_figure_and_can_be_mended(figure_page):
    page = figure_page(Windows(text=TEXT, symbols=sorted(set(TEXT)), starts=[0], block_size=8))
    field = page.get_by_role("textbox", name="Text")
    field.fill("")
    assert "The text is empty" in message(page)
    field.fill("to be")
    assert "5 symbols; T = 8 takes 9" in message(page)
    field.fill("to be or not to be naïve")
    assert "“ï” at place 21" in message(page)
    field.fill("not to be or to be")
    assert message(page) == ""
    field.fill("")
    page.get_by_role("button", name="Start again").click()
    assert message(page) == ""
    assert trait(page, "text") == TEXT


@pytest.mark.parametrize(
    ("state", "error", "says"),
    [
        ({"text": ""}, CorpusTooShortError, "0 symbols"),
        ({"text": "short", "starts": [0]}, CorpusTooShortError, "5 symbols.*takes 9"),
        ({"text": TEXT, "starts": [40]}, CorpusTooShortError, "from 0 to 31"),
        ({"symbols": ["a", "b"]}, UnknownSymbolError, "'A' at place 0"),
        ({"block_size": 17}, FigureError, "from 2 to 16"),
        ({"starts": [0] * 5}, FigureError, "give 1 to 4"),
        ({"column": 9}, FigureError, "column below 8"),
        ({"text": "x" * 301}, FigureError, "300"),
    ],
)
def test_wrong_state_is_refused_in_python(state, error, says):
    with pytest.raises(error, match=says):
        Windows(**state)
