"""The book for e-readers: XHTML that parses, stills for figures, and links that lead somewhere."""

import json
import posixpath
import shutil
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pytest
import yaml

from course_figures import Averaging
from course_lib import __version__
from course_lib.mime import PAGE_HTML
from setup import ebook
from setup.ebook_pages import leaf

ROOT = Path(__file__).parents[2]
HTML = "{http://www.w3.org/1999/xhtml}"
CONFIG = {"title": "A small book", "author": "Somebody", "copyright": "2026 · CC BY 4.0"}
TOC = {"root": "book/index", "parts": [{"caption": "Part I", "chapters": [{"file": "book/one"}]}]}
DRAWING = (
    '<svg viewbox="0 0 9 9" role="group"><a href="index.html#top"><text x=1>to &amp; fro</text></a>'
    '<clipPath id="c"/></svg>'
)
PAGE = """<html><body><div class="body"><section id="one"><h1>One <i>page</i></h1>
<section id="below"><h2>Below</h2><p>a<br>b&nbsp;c <a href="#below">here</a>
<a href="index.xhtml#top">there</a> <a href="../one.ipynb">a notebook</a>
<a href="https://example.org/">elsewhere</a></p>
<details class="hide"><summary>Show code</summary>folded code</details>
<details name="x" open><summary>A hint</summary><p>Look back.</p></details>
<script>gone()</script><button class="copybtn">Copy</button>
<math><mtable displaystyle="true" scriptlevel="0"><mtr><mtd><mi>x</mi></mtd></mtr></mtable></math>
{more}</section></section></div></body></html>"""
INDEX = (
    '<html><body><div class="body"><section id="top"><h1>Book</h1></section></div></body></html>'
)


@pytest.fixture
def pages(tmp_path):
    """Writes two pages as Sphinx does, with something more on the second."""

    def write(more=""):
        folder = tmp_path / "pages"
        for name, text in (("book/index", INDEX), ("book/one", PAGE.format(more=more))):
            file = folder / f"{name}.xhtml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        (folder / "_static").mkdir(exist_ok=True)
        shutil.copy(ROOT / "book" / "_assets" / "you_are_here.css", folder / "_static")
        return folder

    return write


def files(folder):
    return ebook.book_files(folder, ebook.contents(TOC), CONFIG)


def astray(package):
    """Links of a package's pages that lead to no file and no place in it."""
    trees = {name: ET.fromstring(text) for name, text in package.items() if name.endswith(".xhtml")}
    places = {name: {one.get("id") for one in tree.iter()} for name, tree in trees.items()}
    for name, tree in trees.items():
        for one in tree.iter():
            address = one.get("href") or one.get("src") or ""
            if not address or address.startswith(("https:", "data:")):
                continue
            path, _, place = address.partition("#")
            there = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
            there = there if path else name
            if there not in package or (place and place not in places[there]):
                yield f"{name} → {address}"


def test_page_is_xml_in_which_nothing_waits_for_a_click(pages):
    text = files(pages(DRAWING))["book/one.xhtml"]
    page = ET.fromstring(text)
    words = "".join(page.itertext())
    assert "a\u00a0" not in words
    assert "b\u00a0c" in words
    assert "Look back." in words
    assert "folded code" not in words
    assert not {"script", "button", "details", "summary"} & {
        one.tag.removeprefix(HTML) for one in page.iter()
    }
    svg = page.find(".//{http://www.w3.org/2000/svg}svg")
    assert svg.get("viewBox") == "0 0 9 9"
    assert svg.find("{http://www.w3.org/2000/svg}clipPath") is not None
    assert svg.find(".//{http://www.w3.org/2000/svg}title").text == "to & fro"
    style = page.find(".//{http://www.w3.org/1998/Math/MathML}mstyle")
    assert style.attrib == {"displaystyle": "true", "scriptlevel": "0"}


def test_links_lead_somewhere_and_files_outside_the_book_are_words(pages):
    package = files(pages(DRAWING))
    assert list(astray(package)) == []
    page = ET.fromstring(package["book/one.xhtml"])
    leads = {one.get("href"): "".join(one.itertext()) for one in page.iter(f"{HTML}a")}
    assert leads == {
        "#below": "here",
        "index.xhtml#top": "there",
        "https://example.org/": "elsewhere",
    }
    assert "a notebook" in "".join(page.itertext())


def test_link_that_leads_nowhere_is_named(pages):
    with pytest.raises(ebook.EbookError, match=r"book/one → book/index#gone"):
        files(pages('<a href="index.xhtml#gone">x</a>'))


def test_picture_that_is_not_there_is_named(pages):
    with pytest.raises(ebook.EbookError, match=r"book/one shows book/gone.png"):
        files(pages('<img src="gone.png" alt="">'))


def test_package_lists_every_file_and_says_what_pages_hold(pages):
    package = files(pages(DRAWING + '<img src="data:image/png;base64,aGVsbG8=" alt="a dot">'))
    opf = "{http://www.idpf.org/2007/opf}"
    described = ET.fromstring(package["book.opf"])
    items = {one.get("href"): one for one in described.iter(f"{opf}item")}
    assert set(items) == set(package) - {"book.opf"}
    assert items["book/one.xhtml"].get("properties") == "mathml svg"
    assert items["book/index.xhtml"].get("properties") is None
    assert [package[name] for name in items if name.endswith(".png")] == [b"hello"]
    names = {one.get("id"): name for name, one in items.items()}
    order = [names[one.get("idref")] for one in described.iter(f"{opf}itemref")]
    assert order[-2:] == ["book/index.xhtml", "book/one.xhtml"]
    assert __version__ in package["title.xhtml"]
    assert CONFIG["copyright"] in package["title.xhtml"]
    contents = ET.fromstring(package["contents.xhtml"])
    assert [
        (one.get("href"), "".join(one.itertext()))
        for one in contents.find(f".//{HTML}nav").iter(f"{HTML}a")
    ] == [
        ("book/index.xhtml", "Book"),
        ("book/one.xhtml", "One page"),
        ("book/one.xhtml#below", "Below"),
    ]


def test_of_a_drawing_with_two_layouts_the_wide_one_is_kept():
    drawing = (
        '<svg><svg class="wide" viewbox="0 0 4 1"><text>wide</text></svg>'
        '<svg class="narrow" viewbox="0 0 2 2"><text>narrow</text></svg></svg>'
    )
    made = leaf(PAGE.format(more=drawing), "book/one", lambda _: True)
    assert "wide" in made.markup
    assert "narrow" not in made.markup
    assert 'viewBox="0 0 4 1"' in made.markup


@pytest.mark.slow
def test_book_of_two_pages_becomes_one_file(tmp_path):
    toc = yaml.safe_dump({"format": "jb-book", **TOC}, sort_keys=False)
    (tmp_path / "_toc.yml").write_text(toc, encoding="utf-8")
    shutil.copy(ROOT / "_config.yml", tmp_path)
    for part in ("_assets", "_ext", "field_guide", "recorded_verdicts"):
        shutil.copytree(ROOT / "book" / part, tmp_path / "book" / part)
    shutil.copy(ROOT / "book" / "references.bib", tmp_path / "book")
    (tmp_path / "book" / "index.md").write_text("# A book\n\nSee [one](one.ipynb).\n")
    figure = {"text/plain": "Figure", PAGE_HTML: Averaging([4, 0, 6, 7]).html()}
    output = {"output_type": "execute_result", "data": figure, "metadata": {}, "execution_count": 1}
    code = {"cell_type": "code", "source": "figure", "metadata": {}, "execution_count": 1}
    text = {"cell_type": "markdown", "metadata": {}, "source": "# One\n\nA formula, $x^2$."}
    cells = [text | {"id": "a"}, code | {"id": "b", "outputs": [output]}]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}
    (tmp_path / "book" / "one.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    with zipfile.ZipFile(ebook.make(tmp_path)) as package:
        first = package.infolist()[0]
        found = {name.removeprefix("EPUB/"): package.read(name) for name in package.namelist()}
    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
    assert list(astray(found)) == []
    page = ET.fromstring(found["book/one.xhtml"])
    still = page.find(f".//{HTML}figure[@class='course-figure-still']")
    assert still.find("{http://www.w3.org/2000/svg}svg") is not None
    assert page.find(".//{http://www.w3.org/1998/Math/MathML}msup") is not None
    assert not list(page.iter(f"{HTML}script"))
    assert "STIXTwoMath.woff" in found
    assert not (tmp_path / "_build" / "making-epub").exists()
