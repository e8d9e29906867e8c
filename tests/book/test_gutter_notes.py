"""Notes in the gutter: what a term means and which work is cited, without leaving the page."""

import re

import pytest
from reader import pages

WIDE = {"width": 1400, "height": 900}
NARROW = {"width": 700, "height": 900}
NOTE = ".gutter-note"
TERM = "article p a[href$='glossary.html#term-head']"
WORK = "article p a[href*='references.html#']"

TITLED = re.compile(r'<a class="reference internal" href="[^"]*#(term-[^"]+)"([^>]*)>')


@pytest.mark.slow
def test_every_link_to_a_term_says_what_it_means(book):
    glossary = (book / "book" / "glossary.html").read_text(encoding="utf-8")
    terms = set(re.findall(r'<dt id="(term-[^"]+)"', glossary))
    assert len(terms) > 50
    for name in pages():
        links = TITLED.findall((book / f"{name}.html").read_text(encoding="utf-8"))
        assert {term for term, _ in links} <= terms, name
        assert [term for term, rest in links if ' title="' not in rest] == [], name


@pytest.mark.browser
@pytest.mark.slow
def test_note_beside_the_text_says_what_a_term_means_and_goes_with_escape(served, visit):
    reader = visit(served, viewport=WIDE)
    page = reader.open(f"{served}/book/05-head.html")
    note, link = page.locator(NOTE), page.locator(TERM).first
    meaning = link.get_attribute("title")
    assert len(meaning) > 20
    link.hover()
    assert note.inner_text() == f"{link.inner_text()}: {meaning}"
    text, box = page.locator("article section > p").first.bounding_box(), note.bounding_box()
    assert box["x"] > text["x"] + text["width"]
    assert box["x"] + box["width"] <= WIDE["width"]
    assert link.get_attribute("title") is None  # the browser would show it a second time
    page.mouse.move(box["x"] + 20, box["y"] + 10, steps=4)
    page.mouse.move(box["x"] + 30, box["y"] + 10)
    assert note.is_visible()  # as long as the pointer is on it
    page.keyboard.press("Escape")
    assert not note.is_visible()
    assert link.get_attribute("title") == meaning
    assert reader.faults == []


@pytest.mark.browser
@pytest.mark.slow
def test_note_is_there_for_the_keyboard_and_only_where_there_is_a_gutter(served, visit):
    reader = visit(served, viewport=WIDE)
    page = reader.open(f"{served}/book/05-head.html")
    note, link = page.locator(NOTE), page.locator(WORK).first
    page.keyboard.press("Tab")  # what has the focus is shown to those who use the keyboard
    link.focus()
    assert note.inner_text() == link.get_attribute("title")  # which a screen reader reads
    link.blur()
    assert not note.is_visible()
    page.set_viewport_size(NARROW)
    link.focus()
    assert not note.is_visible()
    assert reader.faults == []
