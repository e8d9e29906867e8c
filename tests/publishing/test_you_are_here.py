"""The drawing at the head of every chapter: one part lit, every part a link, in the built page."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml
from you_are_here import STOPS, below, drawing

ROOT = Path(__file__).parents[2]


def chapters():
    """Pages of the chapters, in the order of the table of contents."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [entry["file"] for part in contents["parts"] for entry in part["chapters"]]
    return [file for file in files if re.match(r"book/\d\d-", file)]


def drawn(page, address=lambda page: f"{page}.html"):
    return ET.fromstring(drawing(page, address))


def layouts(figure):
    return figure.findall("svg/svg")


def test_every_chapter_has_its_part_in_the_order_of_the_book():
    assert [stop.page for stop in STOPS] == chapters()


@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: stop.number)
def test_the_part_of_the_chapter_is_lit_and_what_comes_later_is_ahead(stop):
    for layout in layouts(drawn(stop.page)):
        links = {link.get("href"): link for link in layout.iter("a")}
        assert set(links) == {f"{other.page}.html" for other in STOPS}
        place = STOPS.index(stop)
        for i, other in enumerate(STOPS):
            link = links[f"{other.page}.html"]
            state = "known" if i < place else "lit" if i == place else "ahead"
            assert link.get("class") == state
            assert (link.get("aria-current") == "page") == (state == "lit")
            assert f"{other.number} {other.part}" in [text.text for text in link.iter("text")]


def test_both_layouts_say_the_same_and_words_stand_beside_the_drawing():
    figure = drawn("book/05-head")
    wide, narrow = (sorted(text.text for text in layout.iter("text")) for layout in layouts(figure))
    assert wide == narrow
    assert len(figure.find("svg").get("aria-label")) > 100
    words = "".join(figure.find("figcaption").itertext())
    assert words.startswith("You are here: 05 · a head. Scores, weights and an average")


def test_what_is_drawn_lies_within_its_frame():
    for layout in layouts(drawn("book/08-gpt")):
        width, height = map(float, layout.get("viewBox").split()[2:])
        for box in layout.iter("rect"):
            x, y, wide, high = (float(box.get(name)) for name in ("x", "y", "width", "height"))
            assert x >= 0
            assert y >= 0
            assert x + wide <= width
            assert y + high <= height


def test_a_chapter_that_is_not_in_the_book_is_drawn_without_a_link():
    figure = drawn("book/01-averages", {"book/02-affinities": "02-affinities.html"}.get)
    for layout in layouts(figure):
        assert [link.get("href") for link in layout.iter("a")] == ["02-affinities.html"]
        names = [text.text for text in layout.iter("text")]
        assert all(f"{stop.number} {stop.part}" in names for stop in STOPS)


def test_last_chapter_has_nothing_ahead():
    figure = drawn(STOPS[-1].page)
    assert not [part for part in figure.iter() if part.get("class") == "ahead"]
    assert "still to come" not in "".join(figure.itertext())


def test_the_drawing_stands_below_the_title_of_its_own_chapter():
    book = '<i id="document-a"></i><h2>A</h2>a<i id="document-b"></i>\n<h2>B</h2>b<h3>C</h3>'
    found = below(book, r'id="document-b".*?</h\d>', "here")
    assert found == book.replace("B</h2>", "B</h2>here")
    assert below(book, r'id="document-c".*?</h\d>', "here") == book


def test_no_notebook_stores_the_drawing():
    for page in chapters():
        assert "you-are-here" not in (ROOT / f"{page}.ipynb").read_text(encoding="utf-8")


def test_path_on_the_first_page_leads_to_every_chapter():
    path = ET.parse(ROOT / "book" / "_assets" / "path.svg").getroot()
    links = [link.get("href") for link in path.iter("{http://www.w3.org/2000/svg}a")]
    assert links == [f"{page.removeprefix('book/')}.html" for page in chapters()]
    words = path.find("{http://www.w3.org/2000/svg}desc").text
    assert all(stop.number in words for stop in STOPS)
