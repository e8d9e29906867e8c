"""The verdict on the first page and in the README is one that a student gets today."""

import html
import re
from pathlib import Path

from setup import shown_verdict

ROOT = Path(__file__).parents[2]
REMEDY = "its words changed: run python -m setup.shown_verdict and look at the picture"


def test_first_page_shows_verdicts_that_the_check_gives_today():
    assert len(shown_verdict.LINES) == 3
    stored = (shown_verdict.ASSETS / "verdict.html").read_text(encoding="utf-8")
    assert stored == shown_verdict.fragment(), REMEDY
    assert stored.count(" of 4 points") == len(shown_verdict.LINES)  # and no line is right
    assert "4 of 4 points" not in stored
    assert ":file: _assets/verdict.html" in (ROOT / "book/index.md").read_text(encoding="utf-8")


def test_picture_in_the_readme_says_in_words_what_it_shows():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (alt,) = re.findall(r"!\[([^\]]*)\]\(book/_assets/verdict\.png\)", readme)
    for sentence in re.split(r"(?<=[.:;]) ", html.unescape(alt)):
        assert sentence.rstrip(".:;") in shown_verdict.words().replace(" ,", ","), sentence
