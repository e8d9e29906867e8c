"""What people see of a submission runs nothing, asks nobody, and is never taken for points."""

import base64
import stat
import struct
import zlib
from html.parser import HTMLParser

import nbformat
import pytest
from classes import NAME, checks, outcome, questions, ran, released, work
from hypothesis import given
from hypothesis import strategies as st
from nbconvert.filters import markdown2html
from nbformat.v4 import new_output
from nbgrader.utils import determine_grade
from threat_suite import Live

from course_grader.atomic import write_atomically
from course_grader.errors import NotWrittenError
from course_grader.outcome import Results, Status
from course_grader.reports.feedback import (
    MOST_CHARACTERS_OF_OUTPUTS,
    MOST_CHARACTERS_OF_TEXT,
    MOST_PICTURE_CHARACTERS,
    feedback,
    notebook,
)
from course_grader.reports.untrusted import (
    MOST_CHARACTERS_OF_A_LINE,
    MOST_PIXELS,
    inert,
    on_one_line,
    safe_data,
)
from course_grader.sandbox.protocol import StepResult
from course_grader.sandbox.sanitize import Step

SCRIPT = "<script>document.title = 'owned'</script>"


def png(width=1, height=1, *between, drawn=None):
    """A picture in base64: its header says its size, whatever is drawn."""

    def part(kind, data):
        check = zlib.crc32(kind + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + kind + data + check

    pixels = zlib.compress(b"\0" * (height + width * height)) if drawn is None else drawn
    parts = [
        part(b"IHDR", struct.pack("!IIBBBBB", width, height, 8, 0, 0, 0, 0)),
        *(part(kind, data) for kind, data in between),
        part(b"IDAT", pixels),
        part(b"IEND", b""),
    ]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


PNG = png()

DISPLAYED = {
    "html": new_output("display_data", data={"text/html": SCRIPT}),
    "svg": new_output("display_data", data={"image/svg+xml": f"<svg>{SCRIPT}</svg>"}),
    "javascript": new_output("display_data", data={"application/javascript": "owned()"}),
    "markdown": new_output("display_data", data={"text/markdown": SCRIPT}),
    "widget": new_output("display_data", data={"application/vnd.jupyter.widget-view+json": {}}),
    "no picture": new_output("display_data", data={"image/png": "PHN2Zz4="}),
    "stream": new_output("stream", text=SCRIPT),
    "result": new_output("execute_result", data={"text/plain": "4.0", "text/html": SCRIPT}),
    "error": new_output("error", ename=SCRIPT, evalue=SCRIPT, traceback=[f"\x1b[31m{SCRIPT}"]),
}


class Tags(HTMLParser):
    """Tags of a page, and all that an attribute makes live or fetches."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.live = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            fetched = name in ("src", "href") and not value.startswith(("data:image/png", "../"))
            if name.startswith("on") or fetched:
                self.live.append((tag, name, value))


def showing(course, *outputs, **more):
    """A submission whose first cell left these outputs."""
    steps = work(course, "Because.", Step("code", "show()"))
    return outcome(course, "ada", work=steps, ran=ran(*outputs), **more)


@pytest.mark.parametrize("kind", DISPLAYED)
def test_nothing_that_a_cell_displayed_is_live(entered, kind):
    one = showing(entered, DISPLAYED[kind])
    page = Tags(feedback(one, {}, "Title"))
    assert "script" not in page.tags
    assert not page.live
    shown = notebook(one, released(entered)).cells[0].outputs
    assert all(set(output.get("data", {})) <= {"text/plain"} for output in shown)
    assert all(output.output_type != "execute_result" for output in shown)


def test_picture_is_shown_as_a_picture(entered):
    one = showing(entered, new_output("display_data", data={"image/png": PNG}))
    assert f"data:image/png;base64,{PNG}" in feedback(one, {}, "Title")
    assert safe_data({"image/png": PNG})["image/png"] == PNG


def shown_pictures(course, *pictures):
    """Pictures on the page and in the notebook, and what is said in their place."""
    displayed = (new_output("display_data", data={"image/png": one}) for one in pictures)
    one = showing(course, *displayed)
    page = feedback(one, {}, "Title")
    cells = notebook(one, released(course)).cells
    kept = [
        o for cell in cells for o in cell.get("outputs", ()) if "image/png" in o.get("data", {})
    ]
    assert page.count("data:image/png") == len(kept)
    return len(kept), page


def test_picture_of_enormous_size_is_dropped_with_a_sentence_and_the_others_stay(entered):
    bomb = png(30_000, 30_000, drawn=zlib.compress(bytes(10**5)))
    assert len(bomb) < 1000
    kept, page = shown_pictures(entered, PNG, bomb, PNG)
    assert kept == 2
    assert "a picture of 30,000 × 30,000 pixels, not shown" in page


def test_pictures_of_a_page_are_bounded_in_sum(entered):
    large = png(4000, 2500, drawn=b"x")
    kept, page = shown_pictures(entered, *[large] * 5, PNG)
    assert kept == MOST_PIXELS // 10**7 + 1
    assert page.count("not shown") == 3


@pytest.mark.parametrize(
    "broken",
    [
        "iVBORw0KGgo=",
        base64.b64encode(base64.b64decode(PNG)[:-12]).decode(),
        base64.b64encode(base64.b64decode(PNG)[:8] + base64.b64decode(PNG)[33:]).decode(),
        png(9, 9, (b"IHDR", struct.pack("!IIBBBBB", 50_000, 50_000, 8, 0, 0, 0, 0))),
    ],
    ids=["nothing", "no end", "no header", "two headers"],
)
def test_what_is_no_whole_picture_is_not_shown(broken):
    assert safe_data({"image/png": broken, "text/plain": "<Figure>"}) == {"text/plain": "<Figure>"}


def test_of_a_picture_only_that_is_kept_which_draws_it():
    """Frames of an animation, profiles and texts each unfold to more than the header says."""
    frames = [(b"acTL", struct.pack("!II", 10_000, 0)), (b"iCCP", b"x"), (b"zTXt", b"y")]
    (shown,) = [safe_data({"image/png": png(1, 1, *frames, (b"pHYs", bytes(9)))})["image/png"]]
    assert shown == png(1, 1, (b"pHYs", bytes(9)))


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT,
        "<img src=x onerror=alert(1)>",
        "`<b>` <b onclick=x>",
        "</div><iframe src=//x>",
        "<!-- <x> -->",
        "$a<b$ $\\href{javascript:x}{y}$",
    ],
)
def test_written_answers_are_read_as_text_by_nbgraders_own_pages(entered, text):
    one = outcome(entered, "ada", work=work(entered, text), reason=text, notes=(text,))
    for cell in notebook(one, released(entered)).cells:
        if cell.cell_type == "markdown" and cell.source != "YOUR ANSWER HERE":
            page = Tags(markdown2html(cell.source))
            assert not page.tags & {"script", "img", "iframe", "b", "x"}
            assert "\\href" not in cell.source
    assert not Tags(feedback(one, {}, text)).live


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x]( <javascript:alert(1)> 'title')",
        "[x](&#106;avascript:alert(1))",
        "[x](java&Tab;script:alert(1))",
        "[x][y]\n\n[y]: javascript:alert(1)",
        "[y]\n\n> [y]:\n> javascript:alert(1)",
        "[y]\n\n- [y]:\n  <javascript:alert(1)>",
        "<javascript:alert(1)>",
        "[x](data:text/html,y) [y](vbscript:x) [z](//example.org) [u](/formgrader) [v](x.html)",
        "![x](https://example.org/pixel.png)",
        "![x][y]\n\n[y]: https://example.org/pixel.png",
        "[![x](https://example.org/pixel.png)](javascript:alert(1))",
        "![pasted](attachment:pasted.png)",
        "``` mermaid\ngraph LR\n```",
        "~~~~\tMermaid\ngraph LR\n~~~~",
        "$\\href{javascript:x}{y} \\mmlToken{mi}[href=javascript:x]{y} \\bbox[url(//x)]{y}$",
    ],
)
def test_written_text_leads_nowhere_and_asks_nobody(text):
    assert not Live(inert(text)).found
    assert not any(word in inert(text) for word in ("\\href", "\\mmlToken", "\\bbox"))


_PIECES = [
    "[",
    "]",
    "(",
    ")",
    ":",
    "!",
    "<",
    ">",
    "\\",
    "`",
    "```",
    "~~~",
    "\n",
    "\n\n",
    " ",
    "\t",
    "x",
]
_PIECES += [
    "javascript:alert(1)",
    "&#106;avascript:x",
    "https://example.org",
    "HTTP://x",
    "'t'",
    "|",
]
_PIECES += [
    "mermaid",
    "attachment:x",
    "data:x",
    "> ",
    "- ",
    "#",
    "$",
    "$$",
    "\u00a0",
    "\u200b",
    "\x0c",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=30).map("".join))
def test_no_text_at_all_leads_anywhere_but_to_a_web_page(text):
    assert not Live(inert(text)).found


@pytest.mark.parametrize(
    "text",
    [
        "[a](https://example.org/a)",
        "[a][c] [c]\n\n[c]: http://e.org",
        "[c]\n\n[c]:\n  <http://e.org>",
        "see https://example.org/d or HTTP://example.org",
        "<https://example.org>",
        "[a](http://localhost:8888/formgrader?path=submitted/eve/01-averages)",
    ],
)
def test_links_are_text(text):
    """In a page of Jupyter's one click acts with the rights of whoever reads an answer."""
    assert "href" not in markdown2html(inert(text))
    assert inert(text).replace("\u200b", "") == text


@pytest.mark.parametrize("fence", ["```", "~~~~", "> ```", "- ~~~", "   ```"])
@pytest.mark.parametrize(
    "language", ["python", " python", "\tdot", "\u2028python", "{=html}", "x y"]
)
def test_block_of_code_chooses_no_program_to_color_it(fence, language):
    assert "highlight" not in markdown2html(inert(f"{fence}{language}\nx = 1\n{fence}"))


@pytest.mark.parametrize("text", ["```", "~~~", "<!--", "<details>", "</div></div>", "$$", "    x"])
def test_nothing_that_is_left_open_swallows_what_follows(entered, text):
    one = outcome(entered, "ada", work=work(entered, text), reason=text, notes=(text, "the last"))
    cells = notebook(one, released(entered)).cells
    said = markdown2html(cells[0].source)
    assert said.count("<li>") == 3
    assert "<code>" not in said
    for cell in cells:
        if cell.cell_type == "markdown":
            opened = Balance(markdown2html(cell.source))
            assert not opened.left
    page = feedback(one, {}, "Title")
    assert Balance(page).left == []
    assert "the last" in page


class Balance(HTMLParser):
    """Elements that are opened and not closed, or closed and not opened."""

    _ALONE = frozenset(("img", "br", "hr", "meta", "input", "link"))

    def __init__(self, page):
        super().__init__()
        self.left = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in self._ALONE:
            self.left.append(tag)

    def handle_endtag(self, tag):
        if self.left and self.left[-1] == tag:
            self.left.pop()
        else:
            self.left.append(f"/{tag}")


class TestRoom:
    """A page of anybody's opens, and formgrader goes on serving the others."""

    def huge(self, course, count=1000):
        """A submission of many cells: text and code that take long to show, outputs, pictures."""
        picture = png(drawn=bytes(10**6))
        left = [
            new_output("stream", text="x" * 10**5),
            new_output("error", ename="E", evalue="e", traceback=["y" * 10**4] * 100),
            new_output("display_data", data={"image/png": picture}),
        ]
        extra = [Step("text", "\\\\[" * 6000), Step("code", "a." * 10**5)] * (count // 2)
        steps = work(course, "The answer that a person reads.", *extra)
        runs = tuple(StepResult(list(left)) for _ in range(count // 2))
        return outcome(course, "eve", work=steps, ran=Results(runs, "", 0.1))

    @pytest.mark.slow
    def test_all_that_a_notebook_shows_is_bounded(self, entered):
        one = self.huge(entered)
        made, page = notebook(one, released(entered)), feedback(one, {}, "Title")
        most = MOST_PICTURE_CHARACTERS + 2 * MOST_CHARACTERS_OF_OUTPUTS + 10**6
        assert len(nbformat.writes(made)) < most
        assert len(page) < most
        own = [cell.source for cell in made.cells if "nbgrader" not in cell.metadata]
        texts = [c.source for c in made.cells if c.cell_type == "markdown" and c.source in own]
        assert sum(map(len, texts)) < MOST_CHARACTERS_OF_TEXT + 200 * len(texts)
        assert max(len(line) for source in own for line in source.split("\n")) <= 20_100
        code = [c.source for c in made.cells if c.cell_type == "code"]
        longest = max(len(line) for source in code for line in source.split("\n"))
        assert longest < MOST_CHARACTERS_OF_A_LINE + 100

    @pytest.mark.slow
    def test_what_is_left_out_is_said_and_the_answer_stays(self, entered):
        one = self.huge(entered)
        made, page = notebook(one, released(entered)), feedback(one, {}, "Title")
        assert made.cells[-1].source == "The answer that a person reads."
        assert "The answer that a person reads." in page
        assert "more than is shown" in page
        assert any("more than is shown" in cell.source for cell in made.cells)
        assert all(
            "text/plain" in c.outputs[-1].data
            for c in made.cells
            if c.metadata.get("nbgrader", {}).get("grade") and c.cell_type == "code"
        )

    def test_a_million_empty_outputs_are_not_shown(self, entered):
        left = [new_output("stream", text="")] * 10**5
        one = outcome(
            entered,
            "eve",
            work=work(entered, "Because.", Step("code", "x")),
            ran=Results((StepResult(left),), "", 0.1),
        )
        assert len(notebook(one, released(entered)).cells[0].outputs) < 10_100

    def test_honest_notebook_is_shown_whole(self, entered):
        source = "def mean(x):\n    return x.sum() / len(x)  # a comment"
        one = outcome(entered, "ada", work=work(entered, "Because.", Step("code", source)))
        assert notebook(one, released(entered)).cells[0].source == source


def test_formulas_and_emphasis_of_an_answer_stay():
    assert inert("**so** $-\\log p < 2$ and `a < b`") == "**so** $-\\log p < 2$ and `a < b`"


def test_text_of_the_assignment_itself_stays_as_it_is(entered):
    book = released(entered)
    text = next(
        c.source for c in book.cells if c.cell_type == "markdown" and "<details>" in c.source
    )
    one = outcome(entered, "ada", work=work(entered, "Because.", Step("text", text)))
    assert notebook(one, book).cells[0].source == text


class TestPoints:
    def points(self, one, course):
        """What nbgrader's own rule reads from the autograded notebook."""
        cells = notebook(one, released(course)).cells
        graded = [c for c in cells if c.metadata.get("nbgrader", {}).get("grade")]
        return {c.metadata.nbgrader.grade_id: determine_grade(c)[0] for c in graded}

    def test_nbgrader_reads_the_judges_points(self, entered):
        read = self.points(outcome(entered, "ada", 0.5), entered)
        assert {c.grade_id: read[c.grade_id] for c in checks(entered)} == {
            c.grade_id: c.points / 2 for c in checks(entered)
        }

    def test_check_without_a_verdict_is_never_full_points(self, entered):
        for one in (
            outcome(entered, "ada", status=Status.SET_ASIDE, reason="broken", work=None),
            outcome(entered, "ada", status=Status.SET_ASIDE, reason="no verdict"),
        ):
            read = self.points(one, entered)
            assert {read[check.grade_id] for check in checks(entered)} == {0.0}

    @pytest.mark.parametrize("noise", ["stderr", "error", "result"])
    def test_what_a_function_leaves_during_its_check_counts_nothing(self, entered, noise):
        left = {
            "stderr": new_output("stream", name="stderr", text="old"),
            "error": DISPLAYED["error"],
            "result": DISPLAYED["result"],
        }[noise]
        results = tuple(StepResult([left]) for _ in checks(entered))
        read = self.points(outcome(entered, "ada", 0.5, ran=Results(results, "", 0.1)), entered)
        assert read[checks(entered)[0].grade_id] == checks(entered)[0].points / 2


def test_notebook_that_cannot_be_read_still_has_a_field_for_every_score(entered):
    one = outcome(entered, "ada", status=Status.SET_ASIDE, reason="broken", work=None)
    cells = notebook(one, released(entered)).cells
    graded = {
        c.metadata.nbgrader.grade_id for c in cells if c.metadata.get("nbgrader", {}).get("grade")
    }
    assert graded == {*(check.grade_id for check in checks(entered)), *questions(entered)}
    assert "broken" in cells[0].source


def test_long_and_odd_text_is_cut_and_cleaned():
    assert len(on_one_line("x" * 10**6)) < 30_000
    assert on_one_line("a\x1b[31mb\x07\u202ec\ud800\r\nd") == "abc d"


class TestWriting:
    def test_file_is_replaced_as_a_whole(self, tmp_path):
        write_atomically(tmp_path / "deep" / "page.html", "new \ud800")
        assert (tmp_path / "deep" / "page.html").read_text() == "new ?"
        assert stat.S_IMODE((tmp_path / "deep" / "page.html").stat().st_mode) == 0o644

    def test_failure_leaves_the_old_file_and_no_draft(self, tmp_path, monkeypatch):
        path = tmp_path / f"{NAME}.html"
        path.write_text("old")

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.replace", full)
        with pytest.raises(NotWrittenError, match="No space left"):
            write_atomically(path, "new")
        assert [each.name for each in tmp_path.iterdir()] == [path.name]
        assert path.read_text() == "old"
