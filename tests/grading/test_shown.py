"""What people see of a submission runs nothing, asks nobody, and is never taken for points."""

import base64
import stat
from html.parser import HTMLParser

import pytest
from classes import NAME, checks, outcome, questions, ran, released, work
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_output
from nbgrader.utils import determine_grade
from threat_suite import Live

from course_lib.errors import NotWritten
from course_lib.grading.outcome import Results, Status
from course_lib.grading.reports.shown import feedback, notebook, write_atomically
from course_lib.grading.reports.untrusted import inert, on_one_line, safe_data
from course_lib.grading.sandbox.exchange import StepResult
from course_lib.grading.sandbox.sanitise import Step

SCRIPT = "<script>document.title = 'owned'</script>"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()

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
    from nbconvert.filters import markdown2html

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


def test_links_to_web_pages_stay():
    text = "[a](https://example.org/a) and [b][c] and https://example.org/d\n\n[c]: http://e.org"
    assert inert(text) == text


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
        with pytest.raises(NotWritten, match="No space left"):
            write_atomically(path, "new")
        assert [each.name for each in tmp_path.iterdir()] == [path.name]
        assert path.read_text() == "old"
