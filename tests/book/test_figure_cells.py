"""Words that speak of a row or a cell light it up in the figure, while they are pointed at."""

import json
import re
from dataclasses import dataclass

import pytest
from browsing import figures_mounted, violations
from reader import ROOT

from course_figures import AttentionMap, Averaging
from course_figures.pages import standalone
from course_lib.data import Vocabulary
from course_lib.model import OneHead

MARK = re.compile(r'<span class="figure-cell"(?P<data>[^>]*)>(?P<words>.*?)</span>')
DATA = re.compile(r' data-(figure|row|column)="([^"]*)"')
STATE = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
LABELS = {
    "averaging": lambda state: list(map(str, range(state["values"]["shape"][0]))),
    "attention_map": lambda state: state["symbols"],
    "bigram_table": lambda state: state["symbols"],
}


@dataclass(frozen=True)
class Mark:
    page: str
    cell: int
    words: str
    figure: str
    row: str | None = None
    column: str | None = None


def notebooks():
    for path in sorted((ROOT / "book").glob("*.ipynb")):
        yield path.stem, json.loads(path.read_text(encoding="utf-8"))["cells"]


def marks():
    for page, cells in notebooks():
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "markdown":
                for found in MARK.finditer("".join(cell["source"])):
                    yield Mark(page, number, found["words"], **dict(DATA.findall(found["data"])))


def state_of(mark):
    """The state of the figure that a mark speaks of, found as a page finds it."""
    before, after = [], []
    for number, cell in enumerate(dict(notebooks())[mark.page]):
        for output in cell.get("outputs", []):
            markup = "".join(output.get("data", {}).get("text/vnd.course.page+html", ""))
            for content in map(json.loads, STATE.findall(markup)):
                if content["module"] == mark.figure:
                    (before if number < mark.cell else after).append(content["state"])
    return (before[-1:] or after[:1])[0]


def test_words_of_five_chapters_are_marked():
    assert {mark.page[:2] for mark in marks()} >= {"01", "02", "04", "05", "06"}
    text = "".join("".join(cell["source"]) for _, cells in notebooks() for cell in cells)
    assert len(list(marks())) == text.count("figure-cell")


@pytest.mark.parametrize("mark", list(marks()), ids=lambda mark: f"{mark.page}-{mark.words}")
def test_every_mark_names_a_place_that_its_figure_has(mark):
    labels = LABELS[mark.figure](state_of(mark))
    assert (mark.row, mark.column) != (None, None)
    for wanted in {mark.row, mark.column} - {None}:
        if re.fullmatch(r"-?\d+", wanted):
            assert -len(labels) <= int(wanted) < len(labels)
        else:
            assert wanted in labels


def cell(figure, words, **place):
    data = "".join(f' data-{name}="{value}"' for name, value in place.items())
    return f'<span class="figure-cell" data-figure="{figure}"{data}>{words}</span>'


@pytest.fixture
def page_of(visit, tmp_path):
    """Opens a page of a folder with figures, and words behind the first and behind all of them."""
    visits = []

    def start(*figures, behind_first="", behind_all="", **reader):
        markup = standalone(*figures).replace(
            "</script></div>", f"</script></div><p>{behind_first}</p>", 1
        )
        markup = markup.replace("</main>", f"<p>and {behind_all}</p></main>")
        (tmp_path / "page.html").write_text(markup, encoding="utf-8")
        visited = visit(tmp_path.as_uri(), viewport={"width": 1000, "height": 900}, **reader)
        visits.append(visited)
        page = visited.open(f"{tmp_path.as_uri()}/page.html")
        figures_mounted(page)
        return page

    yield start
    assert [fault for visited in visits for fault in visited.faults] == []


def lit(page):
    """Middle and size of what is lit, and in which figure of the page; None if nothing is."""
    return page.evaluate("""() => {
      const all = [...document.querySelectorAll('.cf-highlight')];
      const rings = all.filter(one => !one.hidden);
      if (rings.length !== 1) return rings.length ? 'several' : null;
      const box = rings[0].getBoundingClientRect();
      return {figure: all.indexOf(rings[0]), x: box.x + box.width / 2, y: box.y + box.height / 2,
        width: rings[0].clientWidth, height: rings[0].clientHeight};
    }""")


@pytest.mark.browser
def test_pointing_and_focusing_light_exactly_the_cell_and_leaving_puts_it_out(page_of):
    words = cell("averaging", "a cell", row=3, column=1) + " " + cell("averaging", "a row", row=-1)
    page = page_of(Averaging([4, 0, 6, 7]), behind_all=words)
    one, row = page.get_by_role("button", name="a cell"), page.get_by_role("button", name="a row")
    assert lit(page) is None
    one.hover()
    found = lit(page)
    x, y, size = page.evaluate("document.querySelector('.course-figure').shown.cells")
    corner = page.locator(".cf-stage svg").bounding_box()
    assert found["x"] == pytest.approx(corner["x"] + x + 1.5 * size, abs=1)
    assert found["y"] == pytest.approx(corner["y"] + y + 3.5 * size, abs=1)
    assert (found["width"], found["height"]) == (size, size)
    page.mouse.move(1, 1)
    assert lit(page) is None
    row.focus()
    found = lit(page)
    assert found["y"] == pytest.approx(corner["y"] + y + 3.5 * size, abs=1)
    assert (found["width"], found["height"]) == (4 * size, size)
    one.hover()
    assert lit(page)["width"] == size
    page.mouse.move(1, 1)
    assert lit(page)["width"] == 4 * size  # that one has the focus still
    row.blur()
    assert lit(page) is None
    assert violations(page) == []


@pytest.mark.browser
def test_tap_lights_the_cell_and_a_second_tap_or_one_elsewhere_puts_it_out(page_of):
    words = cell("averaging", "a cell", row=3, column=1) + " " + cell("averaging", "a row", row=-1)
    page = page_of(Averaging([4, 0, 6, 7]), behind_all=words, has_touch=True)
    one, row = page.get_by_role("button", name="a cell"), page.get_by_role("button", name="a row")
    size = page.evaluate("document.querySelector('.course-figure').shown.cells[2]")
    one.tap()
    assert lit(page)["width"] == size
    one.tap()
    assert lit(page) is None
    one.tap()
    row.tap()  # the other words take over
    assert lit(page)["width"] == 4 * size
    page.get_by_role("heading").first.tap()
    assert lit(page) is None
    row.focus()  # and a keyboard that is there as well still lights it
    row.press("Enter")
    assert lit(page)["width"] == 4 * size


@pytest.mark.browser
def test_words_speak_of_the_figure_before_them_and_enter_brings_it_into_sight(page_of):
    vocabulary = Vocabulary("abcdevwxyz")
    head = OneHead(len(vocabulary), 12, 8, 5)
    maps = [AttentionMap(head, text, vocabulary) for text in ("abcde", "vwxyz")]
    first = cell("attention_map", "up here", row=2, column="b")
    second = cell("attention_map", "down there", row=-1, column="v") + cell(
        "attention_map", "nowhere", row=2, column="b"
    )
    page = page_of(*maps, behind_first=first, behind_all=second)
    models = "[...document.querySelectorAll('.course-figure-mount')].map(one => one.figureModel)"
    for number, (words, query, key) in enumerate((("up here", 2, 1), ("down there", 4, 0))):
        marked = page.get_by_role("button", name=words)
        marked.focus()
        marked.press("Enter")
        found = lit(page)
        assert found["figure"] == number
        assert 0 < found["y"] < page.viewport_size["height"]
        page.mouse.move(found["x"], found["y"])  # the figure itself says which cell is there
        there = page.evaluate(f"{models}.map(one => [one.get('query'), one.get('key')])[{number}]")
        assert there == [query, key]
        said = page.locator(".course-figure").nth(number).locator(".cf-hidden[role=status]")
        assert f"query {query}" in said.text_content()
        marked.blur()
    page.get_by_role("button", name="nowhere").focus()
    assert lit(page) is None


@pytest.mark.browser
@pytest.mark.slow
def test_every_mark_of_the_book_lights_something_up(book, visit):
    reader = visit(book.as_uri(), viewport={"width": 1300, "height": 900})
    for name in sorted({mark.page for mark in marks()}):
        page = reader.open(f"{book.as_uri()}/book/{name}.html")
        figures_mounted(page)
        words = page.locator(".figure-cell")
        assert words.count() == sum(mark.page == name for mark in marks())
        for number in range(words.count()):
            words.nth(number).focus()
            assert isinstance(lit(page), dict), words.nth(number).text_content()
            words.nth(number).blur()
            assert lit(page) is None
    assert reader.faults == []
