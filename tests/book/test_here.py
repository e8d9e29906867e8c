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
