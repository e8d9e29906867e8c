"""The whole book as one PDF: contents, an outline, and links that lead to the right place."""

import pytest

from setup import paper

pytestmark = pytest.mark.browser

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Book</title></head><body>
<article><section id="book"><h1>Book</h1><p><a href="02-two.html">two</a></p>
<div class="toctree-wrapper">
<span id="document-book/01-one"></span><section id="one"><h2>One</h2>
<p><a href="#summary">below</a> <a href="book/index.html#only-two">there</a></p>
<details name="h"><summary>Hint</summary>Look back.</details>
<details name="h"><summary>Hint</summary>Look ahead.</details>
<section id="summary"><h3>Summary</h3><p>first</p></section></section>
<span id="document-book/02-two"></span><section id="two"><h2>Two</h2>
<p><a href="#summary">below</a> <a href="01-one.html#summary">of one</a></p>
<section id="only-two"><h3>Only here</h3></section>
<section id="summary"><h3>Summary</h3><p>second</p></section></section>
</div>{more}</section></article></body></html>"""


def test_links_lead_to_their_own_page_first():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        page = paper.chromium.launch(playwright).new_page()
        page.set_content(PAGE.format(more=""))
        assert page.evaluate(paper.script()) == []
        leads = page.evaluate(
            "[...document.querySelectorAll('article p > a')].map(a => [a.textContent, "
            "document.getElementById(a.getAttribute('href').slice(1))?.textContent.trim()])"
        )
        assert page.locator("details[open]").count() == page.locator("details").count() == 2
        page.evaluate(paper.NUMBER_CONTENTS, {"01-one--one": 3, "02-two--two": 4})
        lines = page.locator(".paper-contents p").all_inner_texts()
        assert ["".join(line.split()) for line in lines] == ["One3", "Two4"]
    seen = {(words, (target or "").split("\n")[0][:40]) for words, target in leads}
    assert ("below", "Summaryfirst") in seen
    assert ("below", "Summarysecond") in seen
    assert ("of one", "Summaryfirst") in seen
    assert ("there", "Only here") in seen
    assert {"One", "Two"} <= {words for words, _ in seen}  # the list of contents


def test_book_is_printed_with_an_outline(tmp_path):
    whole, made = tmp_path / "whole.html", tmp_path / "book.pdf"
    whole.write_text(PAGE.format(more=""), encoding="utf-8")
    paper.print_pdf(whole, made)
    printed = made.read_bytes()
    assert printed.startswith(b"%PDF")
    assert b"/Outlines" in printed
    assert b"/Dest" in printed  # a link within
    numbers = paper.page_numbers(printed)
    assert (numbers["01-one--one"], numbers["02-two--two"]) == (3, 4)  # after the contents


DRAWING = '<svg {words} width="40" height="40"><rect width="40" height="40"/></svg>'


def test_paper_is_tagged_and_its_pictures_have_words(tmp_path):
    whole, made = tmp_path / "whole.html", tmp_path / "book.pdf"
    named = DRAWING.format(words='role="img" aria-label="A black square"')
    whole.write_text(PAGE.format(more=named), encoding="utf-8")
    paper.print_pdf(whole, made)
    printed = made.read_bytes()
    assert paper.untagged(printed) == []
    assert b"A black square" in printed
    for mark in (b"/Marked true", b"/StructTreeRoot", b"/Lang", b"/Alt"):
        assert paper.untagged(printed.replace(mark, b"/Gone")) != [], mark


def test_picture_without_words_is_not_printed(tmp_path):
    whole, made = tmp_path / "whole.html", tmp_path / "book.pdf"
    whole.write_text(PAGE.format(more=DRAWING.format(words='role="img"')), encoding="utf-8")
    with pytest.raises(paper.PaperError, match="1 of 1 pictures have no alternative"):
        paper.print_pdf(whole, made)
    assert not made.exists()


def test_paper_shows_what_a_page_shows_without_scripts(tmp_path):
    (tmp_path / "figure.js").write_text(
        "const link = document.createElement('a'); link.href = '#by-a-script';"
        "document.querySelector('article').append(link);"
    )
    whole = tmp_path / "whole.html"
    more = '<script src="figure.js?v=1"></script>'
    whole.write_text(PAGE.format(more=more), encoding="utf-8")
    paper.print_pdf(whole, tmp_path / "book.pdf")  # the script's link leads nowhere


def test_link_that_leads_nowhere_is_named(tmp_path):
    whole = tmp_path / "whole.html"
    whole.write_text(PAGE.format(more='<a href="#gone">x</a>'), encoding="utf-8")
    with pytest.raises(paper.PaperError, match="#gone"):
        paper.print_pdf(whole, tmp_path / "book.pdf")
    assert not (tmp_path / "book.pdf").exists()
