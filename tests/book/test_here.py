"""The drawing of the whole in the built book: below each chapter's title, and nowhere else."""

import re

import pytest
from reader import pages
from you_are_here import STOPS


@pytest.mark.slow
def test_chapters_and_no_other_pages_begin_with_the_drawing(book):
    chapters = {stop.page for stop in STOPS}
    for name in pages():
        text = (book / f"{name}.html").read_text(encoding="utf-8")
        found = re.findall(r'</h1><figure class="you-are-here">(.*?)</figure>', text, re.DOTALL)
        assert len(found) == text.count("you-are-here") == (name in chapters), name
        for drawn in found:
            leads = {(book / name).parent / link for link in re.findall(r'href="([^"]+)"', drawn)}
            others = {book / f"{chapter}.html" for chapter in chapters - {name}}
            assert others <= leads
            assert len(leads) == len(chapters)  # the chapter's own is there too, as "#"


FITTING = """() => [...document.querySelectorAll(".you-are-here text.name")].flatMap((name) => {
  const frame = name.parentElement.querySelector(".halo") ??
    (name.parentElement.childElementCount === 2 && name.parentElement.querySelector(".frame"));
  if (!frame || !name.getClientRects().length) return [];
  const [inner, outer] = [name, frame].map((one) => one.getBoundingClientRect());
  return [[name.textContent, inner.left - outer.left, outer.right - inner.right]];
})"""


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("width", [1300, 390])
@pytest.mark.parametrize("font", ["Arial", "DejaVu Sans"])
def test_names_stay_inside_their_frames_in_wide_letters_too(served, visit, width, font):
    for name in [stop.page for stop in STOPS[:2]]:  # the narrowest frames, with bold names
        page = visit(served, viewport={"width": width, "height": 900}).open(f"{served}/{name}.html")
        page.add_style_tag(content=f".you-are-here text {{ font-family: '{font}' !important }}")
        found = page.evaluate(FITTING)
        assert len(found) > 4
        for words, left, right in found:
            assert left > 0, (name, words)
            assert right > 0, (name, words)
