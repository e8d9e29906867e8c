"""Interactive figures in the built book: mounted where they stand, and weightless elsewhere."""

import re

import pytest
from reader import pages

WIDE = {"width": 1300, "height": 900}
MOST_BYTES = 200_000
HEAVY = {"live_model"}  # carries a whole GPT; its weights have a limit of their own

PLACE = ".course-figure-mount"


@pytest.fixture(scope="session")
def with_figures(book):
    """Pages that hold figures, and their HTML."""
    found = {name: (book / f"{name}.html").read_text(encoding="utf-8") for name in pages()}
    return {name: text for name, text in found.items() if 'data-course-figure="' in text}


def modules(text):
    return set(re.findall(r'data-course-figure="(\w+)"', text))


@pytest.mark.slow
def test_chapters_and_gallery_hold_figures(with_figures):
    assert {"book/01-averages", "book/03-text", "book/04-bigram", "book/gallery"} <= set(
        with_figures
    )


@pytest.mark.slow
def test_page_loads_the_scripts_of_its_own_figures_and_others_load_none(book, with_figures):
    for name in pages():
        text = (book / f"{name}.html").read_text(encoding="utf-8")
        loaded = set(re.findall(r"_static/figures/(\w+)\.js", text))
        wanted = modules(with_figures.get(name, ""))
        assert loaded == (wanted | {"shared"} if wanted else set()), name


@pytest.mark.slow
def test_figures_of_a_page_with_state_and_scripts_are_light(book, with_figures):
    static = book / "_static"
    for name, text in with_figures.items():
        state = re.findall(r'<div class="course-figure-mount".*?</script></div>', text, re.DOTALL)
        light = [one for one in state if not modules(one) & HEAVY]
        scripts = [static / "figures.js", static / "figures" / "figures.css"]
        scripts += [
            static / "figures" / f"{one}.js" for one in ({"shared"} | modules(text)) - HEAVY
        ]
        weight = sum(len(one.encode()) for one in light)
        weight += sum(script.stat().st_size for script in scripts)
        if name != "book/gallery":  # all figures of the book on one page
            assert weight < MOST_BYTES, f"{name}: {weight:,} bytes"


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("over", ["http", "file"])
def test_every_figure_of_every_page_is_mounted(book, served, visit, with_figures, over):
    address = served if over == "http" else book.as_uri()
    for name in with_figures:
        reader = visit(address, viewport=WIDE)
        page = reader.open(f"{address}/{name}.html")
        count = page.locator(PLACE).count()
        for index in range(count):
            page.locator(PLACE).nth(index).and_(page.locator("[data-mounted]")).wait_for()
        assert page.locator(".course-figure").count() == count > 0
        assert not page.locator(".cf-fault:visible").count()
        assert reader.faults == []
        reader.context.close()


@pytest.mark.browser
@pytest.mark.slow
def test_still_pictures_stand_in_the_book_with_scripts_switched_off(served, visit, with_figures):
    for name in with_figures:
        reader = visit(served, viewport=WIDE, java_script_enabled=False)
        reader.page.goto(f"{served}/{name}.html")
        stills = reader.page.locator(".course-figure-still")
        assert stills.count() == reader.page.locator(PLACE).count()
        for index in range(stills.count()):
            assert stills.nth(index).locator("svg").is_visible()
            assert len(stills.nth(index).locator("figcaption").inner_text()) > 40
        reader.context.close()
