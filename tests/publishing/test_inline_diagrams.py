"""Diagrams become part of a page, follow its theme, and leave the rest of the page alone."""

import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from inline_diagrams import DiagramError, inline

from course_lib import plots
from setup import book_site

ROOT = Path(__file__).parents[2]
DIAGRAMS = sorted((ROOT / "book" / "_assets" / "diagrams").glob("*.svg"))
PHONE = 352  # the least width of a diagram, 22rem in course.css, where a phone of 390 has 358

SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 80" width="300" height="80"
 aria-labelledby="name"><title id="name">An arrow</title>
<style>
  /* Letters are dark. */
  text{fill:#1b1f24} .line, .box > rect{stroke:#57606a}
  .end{marker-end:url(#tip)}
  @media (prefers-color-scheme: dark){text{fill:#e6e9ed} .line{stroke:#a9b3be}}
</style>
<defs><marker id="tip"><path d="M0 0 L4 2 L0 4"/></marker></defs>
<path class="line" d="M0 9 H90" marker-end="url(#tip)"/><use href="#tip"/>
<text x="9" y="30">query &amp; key</text>
</svg>"""


def test_drawing_stands_in_the_page_with_its_words():
    page = ET.fromstring(inline(SVG, "head", "A query meets a key."))
    (svg,) = page
    assert svg.tag == "svg"
    assert svg.get("aria-label") == "A query meets a key."
    assert svg.get("aria-labelledby") is None  # it would come before the words
    assert svg.get("role") == "img"
    assert [text.text for text in svg.iter("text")] == ["query & key"]
    assert not list(svg.iter("title"))  # a hint over the whole drawing
    assert "300px" in svg.get("style")
    assert svg.get("width") is None
    assert svg.get("height") is None


def test_style_reaches_no_element_of_the_rest_of_the_page():
    style = ET.fromstring(inline(SVG, "head", "An arrow.")).find("svg/style").text
    selectors = [one for head in re.findall(r"([^{}]+)\{[^}]*\}", style) for one in head.split(",")]
    assert len(selectors) == 6
    assert all("#diagram-head " in selector for selector in selectors)


def test_what_is_said_for_a_dark_system_is_said_for_a_dark_page():
    style = ET.fromstring(inline(SVG, "head", "An arrow.")).find("svg/style").text
    assert "prefers-color-scheme" not in style
    assert 'html[data-theme="dark"] #diagram-head text { fill:#e6e9ed }' in style
    assert 'html[data-theme="dark"] #diagram-head .line { stroke:#a9b3be }' in style
    assert "\n#diagram-head .line, #diagram-head .box > rect { stroke:#57606a }" in style


def test_two_diagrams_of_a_page_share_no_id():
    pages = [inline(SVG, name, "An arrow.") for name in ("head", "block")]
    ids = [set(re.findall(r'\bid="([^"]+)"', page)) for page in pages]
    assert ids[0] == {"diagram-head", "diagram-head-tip"}
    assert not ids[0] & ids[1]
    for name, page in zip(("head", "block"), pages, strict=True):
        assert page.count(f"url(#diagram-{name}-tip)") == 2
        assert f'href="#diagram-{name}-tip"' in page
        assert "(#tip)" not in page


@pytest.mark.parametrize(
    ("svg", "alt", "why"),
    [
        (SVG, " ", "what it shows"),
        (SVG.replace("</svg>", ""), "An arrow.", "well-formed"),
        (SVG.replace("viewBox", "view"), "An arrow.", "viewBox"),
        ("<p>no drawing</p>", "An arrow.", "svg element"),
        (SVG.replace("@media (prefers", "@media (not-prefers"), "An arrow.", "@media"),
        (SVG.replace("a9b3be}}", "a9b3be}"), "An arrow.", "breaks off"),
        (SVG.replace("/* Letters are dark. */", "text"), "An arrow.", None),
    ],
)
def test_what_cannot_be_put_into_a_page_is_refused_by_name(svg, alt, why):
    if why is None:  # a descendant selector is fine
        assert "#diagram-head text\n" in inline(svg, "head", alt)
        return
    with pytest.raises(DiagramError, match=why) as caught:
        inline(svg, "head", alt)
    assert "head" in str(caught.value)


@pytest.mark.parametrize("file", DIAGRAMS, ids=lambda file: file.stem)
def test_diagram_of_the_book_can_be_read(file):
    """By day and by night, on a page and on a phone, with colors that are never the only sign."""
    svg = file.read_text(encoding="utf-8")
    page = ET.fromstring(inline(svg, file.stem, "words"))
    drawing = page.find("svg")
    width = float(drawing.get("viewBox").split()[2])
    assert len(list(drawing.iter("text"))) > 3
    assert "prefers-color-scheme: dark" in svg
    assert "<title" in svg
    sizes = [float(size) for size in re.findall(r"font(?:-size)?\s*:[^;}]*?([\d.]+)px", svg)]
    assert sizes
    assert min(sizes) >= 13
    assert min(sizes) * PHONE / width >= plots.SMALLEST_LETTERS


@pytest.mark.slow
def test_book_holds_the_drawing_in_its_page(tmp_path):
    shutil.copy(ROOT / "_config.yml", tmp_path)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/index\n", encoding="utf-8")
    for part in ("_assets", "_ext", "field_guide", "recorded_verdicts"):
        shutil.copytree(ROOT / "book" / part, tmp_path / "book" / part)
    shutil.copy(ROOT / "book" / "references.bib", tmp_path / "book")
    diagrams = tmp_path / "book" / "_assets" / "diagrams"
    diagrams.mkdir(exist_ok=True)
    (diagrams / "arrow.svg").write_text(SVG, encoding="utf-8")
    index = tmp_path / "book" / "index.md"
    index.write_text("# A book\n\n![A query meets a key.](_assets/diagrams/arrow.svg)\n")
    page = (book_site.build(tmp_path) / "book" / "index.html").read_text(encoding="utf-8")
    assert '<div class="diagram"' in page
    assert 'id="diagram-arrow"' in page
    assert "<img" not in page.partition("<article")[2].partition("</article")[0]

    index.write_text("# A book\n\nSee ![an arrow](_assets/diagrams/arrow.svg) here.\n")
    with pytest.raises(book_site.BuildError, match="paragraph of its own"):
        book_site.build(tmp_path)
