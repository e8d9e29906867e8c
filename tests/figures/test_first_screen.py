"""The first page's figure learns while it is watched, says what it measured, and hands over."""

import json
import re

import pytest
from interactions import message, settle, shown, too_wide, trait, violations, words

from course_figures import TrainingRun
from course_figures.first_screen import MARKUP, FirstScreen
from course_lib.errors import UnknownSymbolError

browser = pytest.mark.browser

TOLD = ".first_screen-told li"
TEXT = ".first_screen-text"


def wait_for(page, name, at_least):
    page.wait_for_function(
        "([name, least]) => document.querySelector('.course-figure').shown?.[name][0] >= least",
        arg=[name, at_least],
    )


def write(page, beginning):
    page.get_by_label("Type your own beginning").fill(beginning)
    page.get_by_label("Type your own beginning").press("Enter")


@browser
def test_it_learns_on_arrival_and_says_what_it_measured(figure_page):
    page = figure_page(FirstScreen(), over="file")
    wait_for(page, "step", 20)
    counted = shown(page, "counted")[0]
    assert counted == pytest.approx(TrainingRun(model="four heads").lines["counted"], abs=1e-6)
    losses = shown(page, "validation")
    first = page.locator(TOLD).first.inner_text()
    known, every = map(int, re.search(r"(\d+) of its (\d+) longer words", first).groups())
    assert f"loss {losses[0]:.3f}" in first
    assert 0 <= known <= every
    page.locator(TOLD).nth(1).wait_for()  # after about five seconds of training
    second = page.locator(TOLD).nth(1).inner_text()
    assert any(f"loss {loss:.3f}".rstrip("0") in second for loss in shown(page, "validation"))
    assert f"({counted:.3f})" in second
    assert shown(page, "validation")[-1] < losses[0] - 0.2


@browser
def test_a_beginning_of_ones_own_is_gone_on_from_and_the_link_takes_it_along(figure_page):
    page = figure_page(FirstScreen())
    page.evaluate(
        """document.body.insertAdjacentHTML("beforeend",
             '<a class="look-inside" href="whole.html#letter">Look inside it</a>')"""
    )
    write(page, "My lord, ")
    wait_for(page, "letters", 12)
    page.get_by_role("button", name="Pause").click()
    settle(page)
    assert trait(page, "prompt") == "My lord, "
    text = page.locator(TEXT).inner_text()
    assert text.startswith("My lord, ")
    assert len(text) >= len("My lord, ") + 12
    link = page.locator("a.look-inside").get_attribute("href")
    assert "follow_letter.text=" in link
    assert link.endswith("#letter")
    assert "The text" not in message(page)


@browser
def test_a_symbol_that_the_model_does_not_know_is_told_at_the_field(figure_page):
    page = figure_page(FirstScreen())
    write(page, "É")
    field = page.get_by_label("Type your own beginning")
    assert "does not know “É”" in field.evaluate("field => field.validationMessage")
    assert trait(page, "prompt") == FirstScreen().prompt
    write(page, "O")
    wait_for(page, "letters", 1)


@browser
def test_out_of_sight_it_rests(figure_page):
    page = figure_page(FirstScreen())
    page.evaluate("document.querySelector('main').style.paddingBottom = '4000px'")
    wait_for(page, "step", 5)
    page.evaluate("scrollTo(0, 3500)")
    before = -1
    while (now := int(shown(page, "step")[0])) != before:
        before = now
        page.wait_for_timeout(900)
    page.evaluate("scrollTo(0, 0)")
    wait_for(page, "step", before + 5)


@browser
def test_where_nothing_may_move_it_shows_before_and_after_and_waits(figure_page):
    page = figure_page(FirstScreen(), calm=True, phone=True)
    wait_for(page, "step", 0)
    settle(page)
    noise = page.locator(".first_screen-before").inner_text()
    assert len(noise) > 100
    assert page.locator(TEXT).inner_text().strip()
    assert page.locator(TEXT).inner_text() not in noise
    page.wait_for_timeout(600)
    assert shown(page, "step")[0] == 0
    page.get_by_role("button", name="Train it").click()
    page.locator(TOLD).nth(1).wait_for(timeout=60_000)
    assert "steps: loss" in page.locator(TOLD).nth(1).inner_text()


@browser
@pytest.mark.parametrize("phone", [False, True], ids=["screen", "phone"])
def test_it_fits_keeps_its_room_and_breaks_no_rule(figure_page, phone):
    page = figure_page(FirstScreen(), phone=phone, touch=phone)
    wait_for(page, "step", 1)
    before = page.locator(".course-figure").bounding_box()["height"]
    write(page, "O")
    wait_for(page, "letters", 3)
    assert page.locator(".course-figure").bounding_box()["height"] == before
    page.get_by_role("button", name="Pause").click()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        settle(page)
        assert too_wide(page) == 0
        assert violations(page) == []
    page.emulate_media(forced_colors="active")
    settle(page)
    assert violations(page) == []
    assert "learns" in words(page)


@browser
def test_without_scripts_the_texts_before_and_after_stand_as_a_picture(figure_page):
    figure = FirstScreen()
    page = figure_page(figure, scripts=False)
    still = page.locator(".course-figure-still")
    assert still.locator("svg").is_visible()
    assert figure.alt in still.inner_text()


def test_prompt_that_the_live_model_cannot_read_is_refused():
    with pytest.raises(UnknownSymbolError, match="é"):
        FirstScreen(prompt="é")


@pytest.mark.slow
def test_markup_of_the_first_page_is_the_figure_as_it_is_now():
    def state(markup):
        return json.loads(markup.partition('json">')[2].partition("</script>")[0])

    stored = MARKUP.read_text(encoding="utf-8")
    assert state(stored) == state(FirstScreen().html())
    assert "2.433" in stored
