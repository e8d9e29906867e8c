"""The search box finds the section that answers a question, while it is typed."""

import gzip
import json
import re
import tomllib
from pathlib import Path

import pytest
import section_search
from browsing import violations
from docutils.nodes import make_id
from reader import ROOT

QUESTIONS = tomllib.loads(
    (Path(__file__).parent / "search_questions.toml").read_text(encoding="utf-8")
)["question"]
WIDE = {"width": 1300, "height": 900}
PHONE = {"width": 390, "height": 800}

PAGE = """<html><body><nav>Contents</nav><article>
<section id="heads"><h1>06 · Heads<a class="headerlink" href="#heads">#</a></h1>
<div><svg viewBox="0 0 9 9"><title>The way here</title><text>08 the whole</text></svg></div>
<p>All of them.</p>
<section id="views"><h2>What view does</h2><section id="unnamed"><p>It<br> cuts.</section>
<div class="highlight"><pre>x.view(B, T, H, D)</pre></div>
<div class="cell_output"><div class="highlight"><pre>0.123</pre></div></div></section></section>
</article></body></html>"""

GLOSSARY = """<article><section id="glossary"><h1>Glossary</h1><dl class="glossary simple">
<dt id="term-logit">logit</dt><dd><p>A number before the softmax.</p></dd></dl></section>
</article>"""


def test_section_has_its_own_text_and_code_and_no_outputs_nor_pictures():
    whole, part = section_search.sections("book/06-heads.html", PAGE)
    assert (whole.address, whole.kind) == ("book/06-heads.html#heads", "chapter")
    assert (whole.title, whole.text, whole.code) == ("06 · Heads", "All of them.", "")
    assert (part.title, part.inside) == ("What view does", "06 · Heads")
    assert (part.text, part.code) == ("It cuts.", "x.view(B, T, H, D)")


def test_term_of_the_glossary_is_a_place_of_its_own():
    term, page = section_search.sections("book/glossary.html", GLOSSARY)
    assert (term.kind, term.title, term.anchor) == ("glossary", "logit", "term-logit")
    assert term.text == "A number before the softmax."
    assert page.text == ""


def test_words_of_learners_stand_beside_their_section():
    found = list(section_search.sections("book/06-heads.html", PAGE))
    script = section_search.script(found, {"book/06-heads.html#views": ["reshape", "contiguous"]})
    assert "reshape; contiguous" in script


def headings(page):
    """Ids of the sections of a page, from its source."""
    path = ROOT / page.replace(".html", ".ipynb")
    if path.exists():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        text = "\n".join(texts)
    else:
        text = path.with_suffix(".md").read_text(encoding="utf-8")
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return {make_id(re.sub(r"[`*$]", "", one)) for one in re.findall(r"^#{1,4} (.+)$", text, re.M)}


def test_sections_that_have_words_or_answer_a_question_are_in_the_book():
    words = tomllib.loads(section_search.WORDS.read_text(encoding="utf-8"))
    places = {place for question in QUESTIONS for place in question["places"]}
    named = [one.split("#") for one in {*words, *places}]
    ready = ("book/field-guide.html", "book/glossary.html")  # their places are no headings
    gone = [f"{page}#{at}" for page, at in named if page not in ready and at not in headings(page)]
    assert gone == []


def test_kinds_are_told_apart():
    kinds = map(
        section_search.kind_of,
        ("book/05-head.html", "exercises/05-head/05-head.html", "book/field-guide.html"),
    )
    assert list(kinds) == ["chapter", "exercise", "field guide"]
    assert section_search.kind_of("book/glossary.html") == "glossary"
    assert section_search.kind_of("book/speed.html") == "page"


@pytest.mark.slow
def test_index_is_light_and_loaded_only_when_the_box_is_used(book):
    index = (book / "_static/search/sections.js").read_bytes()
    assert len(gzip.compress(index, 9)) <= 250_000
    page = (book / "book/05-head.html").read_text(encoding="utf-8")
    assert "search_box.js" in page
    assert "sections.js" not in page
    assert "minisearch.js" not in page


@pytest.mark.slow
@pytest.mark.browser
def test_questions_of_public_forums_have_their_place_among_the_first_three(served, visit):
    assert len(QUESTIONS) == 50
    reader = visit(served, viewport=WIDE)
    page = reader.open(f"{served}/book/notation.html")
    answers = page.evaluate(
        """async (questions) => {
          const found = [];
          for (const one of questions)
            found.push((await courseSearch.ask(one)).map(s => `${s.page}#${s.anchor}`));
          return found;
        }""",
        [question["words"] for question in QUESTIONS],
    )
    missed = {
        question["words"]: found[:3]
        for question, found in zip(QUESTIONS, answers, strict=True)
        if not set(found[:3]) & set(question["places"])
    }
    assert len(missed) <= 5, missed
    assert reader.faults == []


@pytest.mark.slow
@pytest.mark.browser
def test_places_of_the_questions_are_sections_of_the_site(served, visit):
    page = visit(served, viewport=WIDE).open(f"{served}/book/notation.html")
    there = page.evaluate(
        """async () => { await courseSearch.ask('head');
          return courseSections.map(([page, anchor]) => `${page}#${anchor}`); }"""
    )
    named = {place for question in QUESTIONS for place in question["places"]}
    assert named - set(there) == set()


def ask(page, question):
    page.keyboard.press("Control+k")
    page.keyboard.type(question)
    page.locator(".search-box li").first.wait_for()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("over", ["http", "file"])
def test_results_come_while_typing_and_lead_to_the_section(request, visit, over):
    site = request.getfixturevalue("served" if over == "http" else "book")
    address = site if over == "http" else site.as_uri()
    reader = visit(address, viewport=WIDE)
    page = reader.open(f"{address}/book/notation.html")
    ask(page, "why sqrt d")
    rows = page.locator(".search-box li")
    titles = rows.locator("b").all_inner_texts()
    assert "Why the root of D" in titles[:3]
    assert {"field guide", "chapter"} <= set(rows.locator(".search-box-kind").all_inner_texts())
    place = titles.index("Why the root of D")
    for _ in range(place + 1):
        page.keyboard.press("ArrowDown")
    assert rows.nth(place).get_by_role("option").get_attribute("aria-selected") == "true"
    page.keyboard.press("Enter")
    page.wait_for_url("**/book/02-affinities.html#why-the-root-of-d")
    marks = "CSS.highlights.get('course-search')"
    page.wait_for_function(f"{marks} !== undefined")
    texts = page.evaluate(f"[...{marks}].map(one => one.toString())")
    assert all(len(text) > 2 for text in texts), texts
    assert len(texts) < 40
    page.reload()
    page.wait_for_load_state("load")
    assert page.evaluate(f"{marks} === undefined")
    assert reader.faults == []


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("window", [WIDE, PHONE])
def test_open_box_breaks_no_rule_and_fits(served, visit, window):
    reader = visit(served, viewport=window)
    page = reader.open(f"{served}/book/notation.html")
    ask(page, "loss not decreasing")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(f"() => document.documentElement.dataset.theme === '{theme}'")
        assert violations(page) == [], theme
    assert page.evaluate("document.documentElement.scrollWidth") <= window["width"]
    box = page.locator("dialog .search-box").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= window["width"]


@pytest.mark.slow
@pytest.mark.browser
def test_where_the_index_cannot_be_loaded_enter_leads_to_the_page_of_results(served, visit):
    reader = visit(served, viewport=WIDE)
    reader.page.route("**/search/sections.js", lambda route: route.abort())
    page = reader.open(f"{served}/book/notation.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("perplexity")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=perplexity*")
    page.locator("#search-results li").first.wait_for()
