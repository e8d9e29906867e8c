"""Exercises in the page: what a visitor with nothing but a browser sees and can do."""

import gzip
import json
import shutil
import subprocess
import sys
import threading

import pytest
from browsing import browser, violations
from reader import ROOT, Visit

from course_page import assignments, turns
from setup import book_site, site_server

__all__ = ["browser"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HEAD = "05-head"
SCORES = '[data-task="05/scores"]'
RIGHT = """def attention_scores(x, w_query, w_key):
    return (x @ w_query) @ (x @ w_key).transpose(-2, -1) / w_query.shape[-1] ** 0.5
"""
WRONG = """def attention_scores(x, w_query, w_key):
    print("no scale")
    return (x @ w_query) @ (x @ w_key).transpose(-2, -1)
"""
ENDLESS = """def attention_scores(x, w_query, w_key):
    while True:
        print("on and on")
"""
MOST_BEFORE = 60_000
"""Bytes, compressed, that a page may transfer beyond its own before the first press."""

SET = "([task, source, cell]) => coursePage.set(task, source, cell)"
CHECK = "(task) => coursePage.check(task)"
KEPT = "() => Object.keys(localStorage).filter((key) => key.startsWith('course-page'))"
SAID = (
    '<div class="course-verdict"><p>1 of 4 points</p><p>You left out the scale: divide by '
    "<code>math.sqrt(w_query.shape[-1])</code>, the root of the head size.</p></div>"
)
BOX = """
() => [...document.querySelectorAll('.cp-mark')]
  .map(one => one.closest('a').textContent.replace(/\\s+/g, ' ').trim())
"""


@pytest.fixture(scope="session")
def book():
    """The built book, with what checks answers in its pages."""
    return book_site.build(ROOT)


@pytest.fixture(scope="session")
def served(book):
    """Address of the book on this machine, without a slash at the end."""
    with site_server.server(book) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


class Reader(Visit):
    """A reader of exercise pages, with what went wrong there."""

    def __init__(self, browser, root, settings):
        super().__init__(browser, root, settings)
        self.scripts = settings.get("java_script_enabled", True)
        self.context.set_default_timeout(300_000)

    def opened(self, name):
        """A page, ready to be written in: an assignment's by its name, another by its address."""
        address = name if "/" in name else f"exercises/{name}/{name}"
        self.page.goto(f"{self.allowed}/{address}.html")
        if self.scripts:
            self.page.evaluate("() => coursePage.ready")
        return self.page

    def complaints(self):
        """What went wrong since this was asked last."""
        found, self.faults = self.faults, []
        # A worker that is ended, or a page that is left, asks for nothing any more.
        return [one for one in found if "/_static/page/python/" not in one]


@pytest.fixture
def desk(browser, served, book):
    """Opens an exercise page for a reader; at the end nothing may have gone wrong there.

    Call it with the assignment and, if wanted, `over` ("http" or "file") and a reader's settings.
    It returns Playwright's page with every request beyond this machine refused.
    """
    readers = []

    def start(assignment, over="http", **settings):
        root = served if over == "http" else book.as_uri()
        readers.append(Reader(browser, root, settings))
        return readers[-1].opened(assignment)

    yield start
    for reader in readers:
        reader.context.close()
        assert reader.complaints() == []


# The reader whose page has loaded Python, by the browser that runs.
_SHARED = {}


@pytest.fixture
def reader(browser, served):
    """A reader whose page of assignment 05 has loaded Python, without an answer in it.

    To load Python takes longer than most tests, so they share the page. One that costs it is
    given the next one.
    """
    shared = _SHARED.get(browser)
    if shared is None:
        shared = Reader(browser, served, {})
        shared.bars = two_pressed(shared.opened(HEAD))
        _SHARED[browser] = shared
    forget(shared.page)
    yield shared
    faults = shared.complaints()
    if faults or shared.page.is_closed():
        _SHARED.pop(browser).context.close()
    assert faults == []


def forget(page):
    page.get_by_role("button", name="Forget my answers").click()


def two_pressed(page):
    """Press two checks before Python is loaded; how many bars said so, once both are answered."""
    page.evaluate(SET, ["05/scores", RIGHT, None])
    for task in ("05/scores", "05/weights"):
        page.locator(f'[data-task="{task}"] [data-check]').click()
    bars = page.locator(".cp-progress progress:visible").count()
    for task in ("05/scores", "05/weights"):
        page.locator(f'[data-task="{task}"] .course-verdict').wait_for()
    return bars


def keep(page, kept, version=None, name=HEAD):
    """Come back to a page whose browser has kept something, of assignment 05 if nothing is said."""
    page.evaluate(
        "([kept, version, name]) => localStorage.setItem("
        "`course-page ${version ?? coursePageData.version} ${name}`, JSON.stringify(kept))",
        [kept, version, name],
    )
    page.reload()
    page.evaluate("() => coursePage.ready")


def solved(assignment):
    """The solution's text of every cell that a student writes, by its grade_id."""
    path = ROOT / "solutions" / assignment / f"{assignment}.ipynb"
    return {
        cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"])
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }


def tasks(assignment):
    path = ROOT / "exercises" / assignment / f"{assignment}.ipynb"
    return assignments.read(json.loads(path.read_text(encoding="utf-8"))).tasks


def judges(page):
    """A wrong answer is told what it is, as an object and in the page, and right ones are right."""
    page.evaluate(SET, ["05/scores", WRONG, None])
    verdict = page.evaluate(CHECK, "05/scores")
    assert (verdict["points"], verdict["outOf"]) == (1, 4)
    assert "You left out the division by √D" in verdict["text"]
    shown = page.locator(f"{SCORES} [data-verdict]")
    assert "You left out the division by √D" in shown.inner_text()
    assert "no scale" in page.locator(f"{SCORES} .cp-printed").inner_text()
    link = shown.locator("a").first.get_attribute("href")
    assert "/book/05-head.html#" in link
    page.evaluate(SET, ["05/scores", RIGHT, None])
    assert page.evaluate(CHECK, "05/scores")["points"] == 4
    page.evaluate(SET, ["05/head", solved(HEAD)["answer-head"], None])
    assert page.evaluate(CHECK, "05/head")["points"] == 4


def test_answers_are_judged_in_the_page(reader):
    judges(reader.page)


def test_answers_are_judged_in_a_page_of_a_folder(desk):
    judges(desk(HEAD, "file"))


LINES = """def attention_scores(x, w_query, w_key):
    query = x @ w_query
    key = x @ w_key
    return query @ key.transpose(-2, -1) / w_query.shape[-1] ** 0.5
"""


def test_an_answer_that_passed_is_asked_about_and_says_where_options_come_from(reader):
    page = reader.page
    task = page.locator(SCORES)
    assert task.locator(".cp-defense").count() == 0
    page.evaluate(SET, ["05/scores", LINES, None])
    page.evaluate(CHECK, "05/scores")
    task.locator(".cp-defense > summary").click()
    task.get_by_role("button", name="Ask me").click()
    task.locator(".cp-question").first.wait_for()
    assert task.locator(".cp-question").count() == 3
    assert "2      query = x @ w_query" in task.locator(".cp-defense pre").first.inner_text()
    signs = []
    for n in range(4):
        task.locator(".cp-question").first.locator("li button").nth(n).click()
        signs.append(task.locator(".cp-question").first.locator("[role=status]").inner_text())
    assert sorted(text[0] for text in signs) == ["✓", "✗", "✗", "✗"]
    assert all(len(text) > 10 for text in signs)
    # A wrong answer is not asked about.
    page.evaluate(SET, ["05/scores", WRONG, None])
    page.evaluate(CHECK, "05/scores")
    assert task.locator(".cp-defense").count() == 0


def test_checks_pressed_while_python_loads_wait_their_turn(reader):
    assert reader.bars == 2


def test_a_task_is_answered_with_the_keyboard_alone(reader):
    page = reader.page
    page.locator(f"{SCORES} :is(textarea, .cm-content)").first.focus()
    page.locator(f"{SCORES} .cm-content").wait_for()
    page.keyboard.press("Control+a")
    page.keyboard.type(
        "def attention_scores(x, w_query, w_key):\nquery = x @ w_query\nreturn query"
    )
    written = page.evaluate("() => coursePage.get('05/scores')")
    assert written.splitlines()[1:] == ["    query = x @ w_query", "    return query"]
    page.keyboard.press("Control+z")
    assert page.evaluate("() => coursePage.get('05/scores')") != written
    page.keyboard.press("Control+Enter")
    page.locator(f"{SCORES} .course-verdict").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Check"


def test_a_cell_of_ones_own_runs_with_the_answers_so_far(reader):
    page = reader.page
    page.evaluate(SET, ["05/scores", RIGHT, None])
    trial = page.locator(f"{SCORES} .cp-trial")
    trial.locator("summary").click()
    trial.locator("textarea").fill(
        "print('hello')\nattention_scores(torch.zeros(2, 3, 4), torch.eye(4), torch.eye(4)).shape"
    )
    trial.locator("button", has_text="Run").click()
    trial.locator(".cp-printed", has_text="torch.Size([2, 3, 3])").wait_for()
    # What is printed is drawn with the next frame, the value at once.
    trial.locator(".cp-printed", has_text="hello").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_wrong_with_a_page_in_use(reader, theme):
    page = reader.page
    page.emulate_media(color_scheme=theme)
    page.locator(f'html[data-theme="{theme}"]').wait_for()
    page.evaluate(SET, ["05/scores", WRONG, None])
    page.evaluate(CHECK, "05/scores")
    page.locator(f"{SCORES} :is(textarea, .cm-content)").first.focus()
    page.locator(f"{SCORES} .cm-content").first.wait_for()
    page.evaluate("(task) => { document.querySelector(`${task} .cp-trial`).open = true }", SCORES)
    page.locator(f"{SCORES} .cp-trial :is(textarea, .cm-content)").wait_for()
    assert violations(page, context={"include": [["article"]]}) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_an_endless_loop_costs_its_worker_and_nothing_else(reader):
    page = reader.page
    page.evaluate(SET, ["05/scores", ENDLESS, None])
    printed = page.locator(f"{SCORES} .cp-printed", has_text="on and on")
    page.locator(f"{SCORES} [data-check]").click()
    printed.wait_for()
    page.locator(f"{SCORES} .cp-progress button").first.click()
    page.locator(f"{SCORES} [data-verdict]", has_text="Stopped.").wait_for()
    page.clock.install()
    page.locator(f"{SCORES} [data-check]").click()
    page.locator(f"{SCORES} .cp-words", has_text="Running").wait_for()
    printed.wait_for()
    page.clock.fast_forward("01:00")  # nobody stops it: it is stopped
    page.locator(f"{SCORES} [data-verdict]", has_text="look for a loop that never ends").wait_for()
    page.evaluate(SET, ["05/scores", RIGHT, None])
    assert page.evaluate(CHECK, "05/scores")["points"] == 4


@pytest.mark.parametrize(("name", "data"), [(HEAD, HEAD), ("book/02-affinities", "chapter-02")])
def test_a_page_transfers_little_before_the_first_press(desk, book, name, data):
    page = desk(name)
    asked = page.evaluate(
        "() => performance.getEntriesByType('resource').map(one => new URL(one.name).pathname)"
    )
    ours = [name.lstrip("/") for name in asked if name.startswith("/_static/page/")]
    assert f"_static/page/{data}.js" in ours
    sizes = {name: len(gzip.compress((book / name).read_bytes())) for name in ours}
    assert sum(sizes.values()) <= MOST_BEFORE, sizes


def test_all_that_a_browser_keeps_is_exported_forgotten_and_taken_back_in_one_place(desk, tmp_path):
    page = desk(HEAD)
    keep(page, {"cells": {"answer-scores": RIGHT}, "verdicts": {}})
    keep(page, {"cells": {"06/dropped-weights": "x = 1"}, "verdicts": {}}, name="chapter-06")
    page.locator(".cp-panel a").click()
    panel = page.locator("#your-answers .cp-panel")
    panel.wait_for()
    assert "05-head" in panel.inner_text()
    assert "chapter-06" in panel.inner_text()
    before = sorted(page.evaluate(KEPT))
    assert len(before) == 2
    with page.expect_download() as download:
        panel.get_by_role("button", name="Export everything").click()
    path = tmp_path / "answers.json"
    download.value.save_as(path)
    panel.get_by_role("button", name="Forget everything").click()
    assert page.evaluate(KEPT) == []
    panel.get_by_role("button", name="Undo").click()
    assert sorted(page.evaluate(KEPT)) == before
    panel.get_by_role("button", name="Forget everything").click()
    panel.locator("input[type=file]").set_input_files(path)
    panel.locator(".cp-note", has_text="answers.json").wait_for()
    assert sorted(page.evaluate(KEPT)) == before
    kept = page.evaluate("(key) => localStorage.getItem(key)", before[0])
    assert json.loads(kept)["cells"] == {"answer-scores": RIGHT}
    path.write_text('{"cells": []}', encoding="utf-8")
    panel.locator("input[type=file]").set_input_files(path)
    panel.locator(".cp-note", has_text="is no file of exported answers").wait_for()
    assert sorted(page.evaluate(KEPT)) == before
    assert violations(page, context={"include": [["#your-answers"]]}) == []


def test_a_later_version_of_the_course_takes_over_answers_without_their_verdicts(desk):
    page = desk(HEAD)
    kept = {"cells": {"answer-scores": RIGHT}, "verdicts": {"05/scores": {"points": 4, "outOf": 4}}}
    keep(page, kept, "0.0.1")
    assert page.evaluate("() => coursePage.get('05/scores')") == RIGHT
    assert page.locator(f"{SCORES} [data-verdict]").inner_text() == ""


def test_stored_and_imported_text_is_data_and_nothing_of_it_runs(desk, tmp_path):
    page = desk(HEAD)
    page.evaluate("() => { window.ran = 0 }")
    evil = (
        '<div class="course-verdict" onclick="ran=1"><p style="position:fixed;color:red">4 points'
        '<img src=x onerror="ran=1"><script>ran=1</script><svg onload="ran=1"></svg></p>'
        '<a href="javascript:ran=1">a</a><a href="https://far.example/">b</a></div>'
    )
    kept = {"cells": {}, "verdicts": {"05/scores": {"points": 4, "outOf": 4, "html": evil}}}
    keep(page, kept)
    shown = page.locator(f"{SCORES} [data-verdict]")
    assert "4 points" in shown.inner_text()
    assert shown.locator("img, script, svg, a, [onclick]").count() == 0
    assert "fixed" not in (shown.locator("p").get_attribute("style") or "")
    notebook = page.evaluate("() => coursePage.notebook('05-head')")
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "answer-scores":
            cell["source"] = ["import js\n", "js.ran = 1\n"]
    path = tmp_path / "theirs.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    page.locator(".cp-panel input[type=file]").set_input_files(path)
    page.locator(".cp-panel", has_text="theirs.ipynb are in their places").wait_for()
    assert page.evaluate("() => coursePage.get('05/scores')") == "import js\njs.ran = 1\n"
    assert page.evaluate("() => window.ran ?? 0") == 0
    assert page.evaluate("() => coursePage.notebook().cells.length") == len(notebook["cells"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no JSON", "is not a notebook: it is not JSON"),
        ("{}", "is not a notebook: it has no cells"),
        ('{"cells": [{"cell_type": "code", "source": "1"}]}', "none of this assignment's cells"),
    ],
)
def test_a_file_that_is_no_notebook_of_this_assignment_is_refused_in_words(
    reader, tmp_path, text, says
):
    page = reader.page
    page.evaluate(SET, ["05/scores", RIGHT, None])
    path = tmp_path / "other.ipynb"
    path.write_text(text, encoding="utf-8")
    page.locator(".cp-panel input[type=file]").set_input_files(path)
    page.locator(".cp-panel", has_text=says).wait_for()
    assert page.evaluate("() => coursePage.get('05/scores')") == RIGHT


def test_what_is_forgotten_can_be_taken_back(reader):
    page = reader.page
    page.evaluate(SET, ["05/scores", RIGHT, None])
    forget(page)
    assert "NotImplementedError" in page.evaluate("() => coursePage.get('05/scores')")
    assert page.evaluate(KEPT) == []
    page.get_by_role("button", name="Undo").click()
    assert page.evaluate("() => coursePage.get('05/scores')") == RIGHT


@pytest.mark.sandbox
def test_an_assignment_done_in_the_page_is_there_again_and_gets_the_same_points(reader, tmp_path):
    page = reader.page
    answers = solved(HEAD)
    answers["answer-weights"] = answers["answer-weights"].replace(
        "start[:, None]", "start[:, None] + 1"
    )
    answers["answer-scores"] = WRONG
    shown = {}
    for task in tasks(HEAD):
        for cell in task.cells:
            page.evaluate(SET, [task.task, answers[cell], cell])
        shown[task.task] = page.evaluate(CHECK, task.task)["points"]
    assert shown["05/scores"] == 1
    assert sum(shown.values()) > 20
    page.locator('[data-written="written-explain"] textarea').fill("Because …")
    done = sum(shown[task.task] == task.points for task in tasks(HEAD))

    page.close()
    reader.page = reader.context.new_page()
    page = reader.opened(HEAD)
    assert page.evaluate("() => coursePage.get('05/scores')") == WRONG
    assert "1 of 4 points" in page.locator(f"{SCORES} [data-verdict]").inner_text()
    assert page.locator('[data-written="written-explain"] textarea').input_value() == "Because …"
    marks = page.evaluate(BOX)
    assert "Task 1 · Scores ◐ begun" in marks
    assert any(one.startswith("Exercises 05") and f"{done} of 7 tasks done" in one for one in marks)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download my notebook").click()
    page.close()  # whoever comes next loads Python anew
    root = tmp_path / "class"
    submitted = root / "submitted" / "ada" / HEAD
    submitted.mkdir(parents=True)
    download.value.save_as(submitted / f"{HEAD}.ipynb")
    assert graded(root) == shown


def graded(root):
    """The points of each task of the one submission of a class, as `course grade` gives them."""
    from nbgrader.api import Gradebook

    shutil.copy(ROOT / "nbgrader_config.py", root)
    for part in ("solutions", "exercises"):
        shutil.copytree(ROOT / part / HEAD, root / part / HEAD)
    # In processes of their own: while Playwright runs, its event loop does.
    for arguments in (["release", "05", "--gradebook"], ["grade", "05"]):
        done = subprocess.run(
            [sys.executable, "-m", "course_grader.cli", *arguments],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    with Gradebook(f"sqlite:///{root}/gradebook.db") as held:
        submission = held.find_submission(HEAD, "ada")
        grades = {
            grade.name: grade.auto_score for one in submission.notebooks for grade in one.grades
        }
    return {task.task: grades[task.check] for task in tasks(HEAD)}


def test_a_chapter_asks_for_a_few_lines_and_runs_its_cells(desk):
    page = desk("book/06-heads")
    turn = turns.find("06/dropped-weights")
    place = page.locator(f'[data-turn="{turn.name}"]')
    keep(page, {"cells": {turn.name: turn.answer}}, name="chapter-06")
    assert place.locator(".cp-own[open]").count() == 0
    place.locator("[data-check]").click()
    place.locator("[data-verdict]", has_text=turn.passed[:30]).wait_for()
    own = place.locator(".cp-own[open]")
    assert own.locator(".cell_output", has_text="rows after:").is_visible()
    own.get_by_role("button", name="Run").click()
    own.locator(".cp-output", has_text="rows after:").wait_for()
    stored = own.locator(".cell_output").inner_text().split()
    assert own.locator(".cp-output").inner_text().split() == stored


def test_without_scripts_a_page_is_what_it_was(desk):
    page = desk(HEAD, java_script_enabled=False)
    assert page.locator(".cp-panel, .cp-task, [data-check]").count() == 0
    assert page.locator("#cell-answer-scores", has_text="def attention_scores").is_visible()
    assert page.locator("#cell-check-scores", has_text='check("05/scores"').is_visible()


def test_a_phone_shows_a_task_whole(desk):
    page = desk(HEAD, viewport={"width": 390, "height": 800}, has_touch=True)
    said = {"points": 1, "outOf": 4, "html": SAID}
    keep(page, {"cells": {"answer-scores": WRONG}, "verdicts": {"05/scores": said}})
    assert "left out the scale" in page.locator(f"{SCORES} [data-verdict]").inner_text()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    box = page.locator(f"{SCORES} [data-check]").bounding_box()
    assert box["height"] >= 44


def test_tasks_that_a_page_leaves_out_say_so_and_lead_to_the_lab(desk):
    page = desk("10-jax")
    task = page.locator('[data-task="10/head"]')
    assert "JAX" in task.inner_text()
    assert "make lab" in task.inner_text()
    assert task.locator("[data-check]").count() == 0
    refusal = page.evaluate("() => coursePage.check('10/head').catch((error) => error.message)")
    assert "is not checked in the page" in refusal
