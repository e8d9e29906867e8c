"""The room of an interactive figure in its page: one screen, which its still picture holds free."""

import pytest
from browsing import figures_mounted
from test_figures import WANTED
from test_pages import SHIFTS

LAPTOP = {"width": 1400, "height": 900}
TABLET = {"width": 1024, "height": 768}
PHONE = {"width": 390, "height": 844}

HIGHEST = 640
"""Pixels of a laptop's window that a figure takes at most."""

# Heights when all is read and no script has run yet.
BEFORE = """
document.addEventListener("DOMContentLoaded", () => {
  window.before = [...document.querySelectorAll(".course-figure-mount")].map(e => e.offsetHeight);
});
"""
NOW = """
() => [...document.querySelectorAll(".course-figure-mount")].map((place, n) => ({
  name: place.dataset.courseFigure,
  before: window.before[n],
  after: place.offsetHeight,
  high: place.querySelector(".course-figure").offsetHeight,
}))
"""


def visited(served, visit, name, window):
    reader = visit(served, viewport=window, reduced_motion="reduce")
    reader.page.add_init_script(BEFORE)
    reader.page.add_init_script(SHIFTS)
    page = reader.open(f"{served}/{name}.html")
    assert figures_mounted(page) >= 1
    page.wait_for_function("!document.querySelector('.course-figure[data-drawing]')")
    assert reader.faults == []
    return page


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", WANTED)
def test_a_figure_takes_one_screen_and_what_its_still_picture_held_free(served, visit, name):
    page = visited(served, visit, name, LAPTOP)
    for figure in page.evaluate(NOW):
        assert figure["high"] <= HIGHEST, figure
        assert figure["after"] == figure["before"], figure
    assert sum(page.evaluate("window.shifts")) <= 0.02


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in WANTED if "gallery" in name])
def test_on_a_tablet_a_figure_takes_one_screen_too(served, visit, name):
    page = visited(served, visit, name, TABLET)
    for figure in page.evaluate(NOW):
        assert figure["high"] <= TABLET["height"], figure
        assert figure["after"] == figure["before"], figure
    assert sum(page.evaluate("window.shifts")) <= 0.02


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in WANTED if "gallery" in name])
def test_a_link_to_a_figure_lands_on_it_after_all_have_arrived(served, visit, name):
    page = visited(served, visit, name, LAPTOP)
    titles = page.locator("article section section[id]")
    for anchor in titles.evaluate_all("all => all.map(one => one.id)"):
        page.goto("about:blank")
        page.goto(f"{served}/{name}.html#{anchor}")
        figures_mounted(page)
        top = page.evaluate("id => document.getElementById(id).getBoundingClientRect().top", anchor)
        assert 0 <= top < 150, anchor


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in WANTED if "gallery" in name])
def test_little_moves_when_figures_arrive_on_a_phone(served, visit, name):
    page = visited(served, visit, name, PHONE)
    assert sum(page.evaluate("window.shifts")) <= 0.02
