"""Every address in the built book that stays in the book leads somewhere."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
import yaml
from pybtex.database import parse_file
from reader import ROOT


class Addresses(HTMLParser):
    """What a page links to and loads, and the places in it that others can link to."""

    def __init__(self, file):
        super().__init__()
        self.links, self.loaded, self.places = [], [], {"", "top"}
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.places |= {values.get("id") or "", values.get("name") or ""}
        if tag in ("a", "area"):
            self.links.append(values.get("href"))
        elif tag == "link" and values.get("rel") not in ("canonical", "alternate"):
            self.loaded.append(values.get("href"))
        else:
            self.loaded += [values.get("src"), values.get("poster")]


@pytest.fixture(scope="module", params=["book", "self_study"])
def edition(request):
    folder = request.getfixturevalue(request.param)
    files = sorted(folder.rglob("*.html"))
    return folder, {file: Addresses(file) for file in files}


def broken(folder, parsed, file, address):
    """Why an address does not hold, or None."""
    parts = urlsplit(address or "")
    if parts.scheme in ("http", "https", "mailto", "data"):
        return None
    if parts.scheme or parts.netloc:
        return "has a scheme that a reader cannot follow"
    target = file
    if parts.path:
        target = folder / unquote(urljoin(file.relative_to(folder).as_posix(), parts.path))
        if target.is_dir():
            target = target / "index.html"
    if not target.is_file():
        return "leads to no file"
    if target in parsed and unquote(parts.fragment) not in parsed[target].places:
        return "names a place that the page does not have"
    return None


@pytest.mark.slow
def test_every_link_within_the_book_leads_to_its_place(edition):
    folder, parsed = edition
    faults = [
        f"{file.relative_to(folder)}: {address} {why}"
        for file, found in parsed.items()
        for address in found.links
        if address is not None and (why := broken(folder, parsed, file, address))
    ]
    assert len(parsed) > 10
    assert not faults, "\n".join(faults)


@pytest.mark.slow
def test_everything_a_page_loads_lies_in_the_book(edition):
    folder, parsed = edition
    faults = [
        f"{file.relative_to(folder)}: {address}"
        for file, found in parsed.items()
        for address in found.loaded
        if address
        and (urlsplit(address).scheme not in ("", "data") or broken(folder, parsed, file, address))
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.slow
def test_every_page_says_its_language_and_its_title(edition):
    folder, parsed = edition
    for file in parsed:
        page = file.read_text(encoding="utf-8")
        assert '<html lang="en"' in page, file.relative_to(folder)
        assert re.search(r"<title>[^<]+</title>", page), file.relative_to(folder)


@pytest.mark.slow
def test_references_are_as_old_as_the_page_says(book):
    works = parse_file(ROOT / "book" / "references.bib").entries.values()
    titles = {plain(work.fields["title"]): int(work.fields["year"]) for work in works}
    page = (book / "book" / "references.html").read_text(encoding="utf-8")
    years = []
    for listed in page.split('<div class="citation"')[1:]:
        # One title may be a part of another.
        title = max((title for title in titles if title in plain(listed)), key=len)
        years.append(titles[title])
    assert years == sorted(years)
    assert len(years) == len(titles) > 10


def plain(text):
    """Letters and digits alone, whatever the markup, the braces and the capitals."""
    return re.sub(r"[\W_]+", " ", unescape(re.sub(r"<[^>]+>", "", text))).lower()


@pytest.mark.slow
def test_exercise_pages_offer_their_notebook(book):
    pages = sorted((book / "exercises").rglob("*.html"))
    assert pages
    for page in pages:
        (button,) = [a for a in Addresses(page).links if a and a.endswith(f"/{page.stem}.ipynb")]
        offered = (page.parent / button).resolve()
        source = ROOT / page.relative_to(book).with_suffix(".ipynb")
        given = json.loads(offered.read_text(encoding="utf-8"))["cells"]
        released = json.loads(source.read_text(encoding="utf-8"))["cells"]
        assert "make lab" in "".join(given[0]["source"])  # how to get what the notebook imports
        assert given[1:] == released[1:]


@pytest.mark.slow
def test_the_book_without_solutions_holds_none(book):
    held = [path for path in book.rglob("*") if "solutions" in path.relative_to(book).parts]
    assert not held
    assert not [
        file for file in book.rglob("*.ipynb") if "BEGIN SOLUTION" in file.read_text("utf-8")
    ]


def test_every_chapter_exercise_and_page_is_in_the_table_of_contents(contents_pages):
    written = {
        path.relative_to(ROOT).with_suffix("").as_posix()
        for pattern in ("book/*.md", "book/*.ipynb", "exercises/*/*.ipynb")
        for path in ROOT.glob(pattern)
    }
    assert written == set(contents_pages)


# A project stands below the chapter after which it can be done.
PROJECTS = {"08-gpt": ["exercises/my-gpt/my-gpt"]}


def test_every_exercise_stands_below_the_chapter_of_its_name():
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    for part in contents["parts"]:
        for chapter in part["chapters"]:
            name = Path(chapter["file"]).name
            sections = [section["file"] for section in chapter.get("sections", [])]
            own = [f"exercises/{name}/{name}"] if name[:2].isdigit() else []
            assert sections == [*own, *PROJECTS.get(name, [])]
