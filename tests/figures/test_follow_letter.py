"""The way of one letter: every number is that of torch, and the sum of its terms."""

import numpy as np
import pytest
from interactions import message, settle, shown, trait, words

from course_figures import FollowLetter
from course_figures.errors import FigureError
from course_lib.errors import UnknownSymbolError

browser = pytest.mark.browser

TEXT = "But soft, what light"
OPEN = """([stage, place]) => {
  const { figureModel } = document.querySelector(".course-figure-mount");
  figureModel.set("stage", stage);
  figureModel.set("place", place);
  figureModel.save_changes();
}"""


@browser
def test_every_number_on_the_way_is_that_of_torch_and_the_sum_of_its_terms(figure_page):
    figure = FollowLetter(TEXT, position=13)
    page = figure_page(figure)
    for stage, values in figure.vectors.items():
        place = int(np.abs(values).argmax())
        page.evaluate(OPEN, [stage, place])
        settle(page)
        assert np.abs(shown(page, "values") - values).max() < 1e-9, stage
        terms = shown(page, "terms").sum()
        if stage.startswith(("embedding", "position", "norm", "forward norm", "prob")):
            continue  # not a sum: a row of a table, or a number that is scaled
        if stage.startswith("head"):
            others = [np.log(values[place])]  # the score, up to what all scores share
            page.evaluate(OPEN, [stage, 3])
            settle(page)
            difference = terms - shown(page, "terms").sum()
            assert difference == pytest.approx(others[0] - np.log(values[3]), abs=1e-6), stage
        else:
            assert terms == pytest.approx(values[place], abs=1e-9), stage
    assert message(page) == ""


@browser
def test_a_term_leads_back_to_where_it_comes_from_until_the_embedding(figure_page):
    page = figure_page(FollowLetter(TEXT, stage="logits"), over="file")
    trail = []
    for _ in range(40):
        settle(page)
        trail.append(trait(page, "stage"))
        back = page.locator(".follow_letter-terms button")
        if back.count() == 0:
            break
        back.first.press("Enter")
        settle(page)
        assert page.locator(".follow_letter-box input:checked").evaluate(
            "input => input === document.activeElement"
        )
    assert trail[:2] == ["logits", "norm"]
    assert trail[-1].split()[0] in ("embedding", "position", "head")
    assert len(trail) > 5


@browser
def test_reader_types_a_text_and_takes_the_letter_that_is_drawn(figure_page):
    figure = FollowLetter("The kin")
    page = figure_page(figure)
    page.get_by_label("Text", exact=True).fill("To be or no")
    settle(page)
    figure.change(text="To be or no", position=10, place=0)
    assert trait(page, "position") == 10
    assert np.abs(shown(page, "probabilities") - figure.probabilities).max() < 1e-9
    page.get_by_role("button", name="Take the letter").click()
    settle(page)
    assert trait(page, "text") == "To be or no" + figure.drawn
    page.get_by_label("Text", exact=True).fill("é")
    settle(page)
    assert "“é” is not one of the 65 symbols" in message(page)
    page.get_by_label("Text", exact=True).fill("e")
    assert message(page) == ""


@browser
def test_keyboard_goes_from_the_text_to_the_stage_to_the_number(figure_page):
    page = figure_page(FollowLetter(TEXT, stage="stream 1"))
    page.locator(".follow_letter-letter input:checked").press("ArrowLeft")
    settle(page)
    assert trait(page, "position") == len(TEXT) - 2
    page.locator(".follow_letter-box input:checked").press("ArrowRight")
    settle(page)
    assert trait(page, "stage") == "norm 1"
    before = trait(page, "place")
    page.locator(".cf-matrix").press("ArrowUp" if before >= 16 else "ArrowDown")
    page.locator(".cf-matrix").press("Enter")
    settle(page)
    assert abs(trait(page, "place") - before) == 16
    assert f"“{TEXT[-2]}” at position {len(TEXT) - 2}" in words(page)


@browser
def test_stages_lead_to_their_chapters_where_the_page_knows_them(figure_page):
    page = figure_page(FollowLetter(TEXT, stage="head 0 0"))
    heading = page.locator(".follow_letter-stage .live_model-head")
    assert heading.inner_text() == "Block 1: head 1 (chapter 05)"
    assert heading.locator("a").count() == 0
    page.evaluate(
        """() => document.body.insertAdjacentHTML(
          "afterbegin", '<nav><a href="x/05-head.html">5</a></nav>')"""
    )
    page.evaluate(OPEN, ["head 0 1", 0])
    settle(page)
    assert heading.locator("a").get_attribute("href").endswith("/x/05-head.html")


@pytest.mark.parametrize(
    ("state", "error", "says"),
    [
        ({"position": 30}, FigureError, "give 0 to 19"),
        ({"stage": "head 5 5"}, FigureError, "give one of embedding, position, stream 0"),
        ({"stage": "hidden 2", "place": 256}, FigureError, "hidden 2 has 256 numbers"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(state, error, says):
    with pytest.raises(error, match=says):
        FollowLetter(TEXT, **state)


def test_unknown_symbol_is_refused():
    with pytest.raises(UnknownSymbolError, match="é"):
        FollowLetter("é")


def test_heads_look_at_nothing_behind_the_letter_that_is_followed():
    short, long = FollowLetter(TEXT[:9]), FollowLetter(TEXT, position=8)
    for stage, values in short.vectors.items():
        assert np.array_equal(values, long.vectors[stage])
        if stage.startswith("head"):
            assert values.shape == (9,)
            assert values.sum() == pytest.approx(1)
