"""nbgrader's own tools on a class that the course graded: formgrader in a browser, its commands."""

import contextlib
import csv
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from html.parser import HTMLParser

import pytest
from browsing import browser  # noqa: F401 - a fixture
from classes import NAME, checks, nbgrader, questions
from hostile_folder import plant
from nbformat.v4 import new_code_cell, new_markdown_cell

from course_grader.batch import grade
from course_grader.course import Course
from course_grader.gradebook.standing import standing
from course_grader.outcome import Status

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

LINK = "[x](javascript:document.title='owned') ![x](https://example.org/pixel.png)"
OWNED = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture
def handed_in(entered, editable):
    """Three who handed in: a right one who writes scripts, a cheat, and a file that is broken."""
    hand_in(entered, editable)
    return entered


@pytest.fixture(scope="module")
def shown(template, editable, tmp_path_factory):
    """The same class, graded, in a formgrader that several tests look at: (course, address).

    Hostile files lie beside eve's notebooks, and her name is markup.
    """
    folder = tmp_path_factory.mktemp("shown")
    course = Course(shutil.copytree(template, folder / "course"))
    hand_in(course, editable)
    assert grade(course, NAME, jobs=2).complete
    for place in (course.submitted, course.autograded):
        plant(place / "eve" / NAME, folder / "mark")
    with (course.root / "students.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "last_name", "first_name"], ["eve", OWNED, "O'Neil"]])
    nbgrader(course, "db", "student", "import", "students.csv")
    with formgrader(course, folder) as address:
        yield course, address
    assert not (folder / "mark").exists(), (folder / "mark").read_text()


def hand_in(course, editable):
    """Hand in for three students."""
    solved = editable(course.solutions / NAME / f"{NAME}.ipynb")
    sources = {name: solved.cell(name).source for name in solved.ids("answer-")}

    def submit(student, change):
        book = editable(course.exercises / NAME / f"{NAME}.ipynb")
        change(book)
        path = book.save(course.submitted / student / NAME / f"{NAME}.ipynb")
        (path.parent / "timestamp.txt").write_text("2026-03-01 10:00:00 UTC")
        return path

    def right(book):
        for name, source in sources.items():
            book.cell(name).source = source
        for name in questions(course):
            book.cell(name).source = f"Because $p < 1$. {OWNED} {LINK}"
        book.cells.insert(1, new_markdown_cell(f"{OWNED} {LINK}", id="owned"))
        html = f"from IPython.display import HTML\nHTML({OWNED!r})"
        book.cells.insert(1, new_code_cell(html, id="shown"))

    def cheat(book):
        first, second, third = [check.grade_id for check in checks(course)][:3]
        book.cell(first).source = "1.0 * 99"
        book.repeat(second)
        book.remove(third)
        secret = f"print(open({str(course.root / 'gradebook.db')!r}, 'rb').read(6))"
        book.cells.insert(1, new_code_cell(secret, id="secret"))

    submit("ada", right)
    submit("eve", cheat)
    submit("zip", lambda book: None).write_text("{")


def points(course):
    return {
        one.student: {cell.name: cell.points for cell in one.cells}
        for one in standing(course, NAME).students
    }


def full(course):
    return {check.grade_id: check.points for check in checks(course)}


def test_nbgraders_commands_use_the_sandbox_and_the_judge(handed_in):
    """A forged, a doubled and a missing check gain nothing, and nothing of the host is seen."""
    shutil.rmtree(handed_in.submitted / "zip")  # it would stop the command
    nbgrader(handed_in, "autograde", NAME)
    found = points(handed_in)
    assert {name: found["ada"][name] for name in full(handed_in)} == full(handed_in)
    assert sum(found["eve"].values()) == 0
    runs = {one.student: one.run for one in standing(handed_in, NAME).students}
    assert all(run.status is Status.GRADED and run.sandboxed for run in runs.values())
    assert len(runs["eve"].notes) == 3
    graded = (handed_in.autograded / "eve" / NAME / f"{NAME}.ipynb").read_text()
    assert "SQLite" not in graded
    assert "FileNotFoundError" in graded or "PermissionError" in graded

    nbgrader(handed_in, "generate_feedback", NAME, "--force")
    page = (handed_in.feedback / "ada" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    title = next(one for one in standing(handed_in, NAME).students if one.student == "ada")
    assert all(str(found.verdict["title"]) in page for found in title.findings)
    assert not live(page)

    nbgrader(handed_in, "export", "--to", "grades.csv")
    assert "ada" in (handed_in.root / "grades.csv").read_text()


def live(page):
    """What of the student's would run in a page."""
    found = ["script"] if OWNED[:30] in page else []

    class Look(HTMLParser):
        def handle_starttag(self, tag, attrs):
            for name, value in attrs:
                fetched = name == "src" and "pixel" in value
                if name == "onerror" or fetched or (name == "href" and "owned" in value):
                    found.append(tag)

    Look().feed(page)
    return found


@contextlib.contextmanager
def page_of(browser, address):  # noqa: F811
    """A page of somebody who has opened formgrader."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.route("**/*", wall(address))
    page = context.new_page()
    page.goto(f"{address}formgrader?token=formgrader")
    yield page
    context.close()


def test_class_is_shown_in_formgrader_and_graded_there_by_hand(shown, browser):  # noqa: F811
    course, address = shown
    cells = standing(course, NAME).cells
    # The points below go to the answer that can earn most.
    question = max(questions(course), key=cells.get)
    with page_of(browser, address) as page:
        rows = submissions(page, address)
        assert {student: row["autograded"] for student, row in rows.items()} == dict.fromkeys(
            ("ada", "eve", "zip"), True
        )
        page.goto(f"{address}formgrader/manage_submissions/{NAME}")
        page.get_by_text("ada", exact=True).first.wait_for()

        page.goto(f"{address}formgrader/gradebook/{NAME}/{NAME}")
        page.get_by_text("Submission #1").wait_for()
        for student in ("ada", "zip"):
            page.goto(f"{address}formgrader/submissions/{ids(course)[student]}/")
            field = page.locator(f"input.score#{question}")
            field.wait_for()
            for name in questions(course):
                assert page.get_by_text(f"Marking scheme ({cells[name]:g} points)").count() == 1
            assert "owned" not in page.title()
            assert page.locator("img[onerror], img[src*=pixel], a[href*=owned]").count() == 0
            names = page.locator("input.score").evaluate_all("all => all.map(one => one.id)")
            assert set(names) == {*full(course), *questions(course)}
            with page.expect_response(lambda answer: answer.request.method == "PUT") as saved:
                field.fill("2.5")
                field.blur()
            assert saved.value.ok
    assert points(course)["ada"][question] == 2.5
    again = grade(course, NAME, students=("ada",), force=True, jobs=1)
    assert again.complete
    assert points(course)["ada"] == {
        **full(course),
        **dict.fromkeys(questions(course), 0.0),
        question: 2.5,
    }


def test_formgrader_lists_the_assignments_and_its_button_grades_as_the_course_does(shown):
    course, address = shown
    listed = asked(f"{address}formgrader/api/assignments")
    answer = asked(f"{address}formgrader/api/submission/{NAME}/eve/autograde", b"")
    assert [one["name"] for one in listed] == [NAME]
    assert listed[0]["max_score"] == sum(standing(course, NAME).cells.values())
    assert answer["success"], answer
    assert sum(points(course)["eve"].values()) == 0
    runs = {one.student: one.run for one in standing(course, NAME).students}
    assert len(runs["eve"].notes) == 3


def test_buttons_clicked_with_a_hostile_folder_run_nothing_of_it(
    handed_in,
    browser,  # noqa: F811
    tmp_path,
):
    """Autograde, generate feedback, grade by hand, and every page beside, in a real browser."""
    mark = tmp_path / "mark"
    plant(handed_in.submitted / "eve" / NAME, mark)
    plant(handed_in.submitted / "ada" / NAME, mark)
    (handed_in.submitted / "zip" / NAME / "timestamp.txt").write_text("no time at all, " * 9)
    (question, *_) = questions(handed_in)
    with formgrader(handed_in, tmp_path) as address:
        context = browser.new_context(viewport={"width": 1200, "height": 900})
        context.route("**/*", wall(address))
        page = context.new_page()
        page.goto(f"{address}formgrader?token=formgrader")
        page.goto(f"{address}formgrader/manage_submissions/{NAME}")
        for student in ("ada", "eve", "zip"):
            row = page.locator("tr", has=page.get_by_text(student, exact=True))
            row.wait_for()
            assert press(page, row.locator(".autograde a"))["success"], student
            assert press(page, row.locator(".generate-feedback a"))["success"], student
        assert {
            student: sum(points(handed_in)[student].values()) for student in ("eve", "zip")
        } == {
            "eve": 0,
            "zip": 0,
        }
        found = points(handed_in)["ada"]
        assert {name: found[name] for name in full(handed_in)} == full(handed_in)

        for student, number in ids(handed_in).items():
            page.goto(f"{address}formgrader/submissions/{number}/")
            page.locator(f"input.score#{question}").wait_for()
            assert "owned" not in page.title(), student
            assert page.locator("img[onerror], a[href*=owned]").count() == 0
        for path in (
            "manage_assignments",
            f"gradebook/{NAME}/{NAME}",
            "manage_students",
            "manage_students/eve",
            f"manage_students/eve/{NAME}",
        ):
            page.goto(f"{address}formgrader/{path}")
            page.locator("tbody tr").first.wait_for()
        context.close()
    assert not mark.exists(), mark.read_text()
    for student in ("ada", "eve", "zip"):
        made = sorted(path.name for path in (handed_in.autograded / student / NAME).iterdir())
        assert set(made) <= {f"{NAME}.ipynb", "timestamp.txt"}
        pages = [path.name for path in (handed_in.feedback / student / NAME).iterdir()]
        assert pages == [f"{NAME}.html"]
        assert not live((handed_in.feedback / student / NAME / pages[0]).read_text())


def press(page, button):
    """Click one of formgrader's buttons; what its server answers."""
    with page.expect_response(
        lambda answer: answer.request.method == "POST", timeout=300_000
    ) as answered:
        button.click()
    told = answered.value.json()
    page.locator(".modal.in").get_by_role("button", name="Close").last.click()
    page.locator(".modal-backdrop").wait_for(state="detached")
    return told


def test_link_to_formgrader_opens_no_other_folder(shown, tmp_path):
    """Opening one runs its settings, and anybody can write such a link."""
    course, address = shown
    folder = course.submitted / "eve" / NAME
    assert (folder / "nbgrader_config.py").is_file()  # its mark is looked for at the end of all
    for path in (folder.relative_to(course.root), folder, tmp_path):
        assert status(f"{address}formgrader?path={path}") == 403
    assert status(f"{address}formgrader?path={course.root}") == 200
    assert status(f"{address}formgrader/api/assignments") == 200


def test_file_beside_a_graded_notebook_is_no_page_of_formgraders(shown, browser):  # noqa: F811
    course, address = shown
    plant(course.autograded / "eve" / NAME, course.root.parent / "mark")
    with page_of(browser, address) as page:
        for name in ("page.html", "picture.svg"):
            page.goto(f"{address}formgrader/submissions/{ids(course)['eve']}/{name}")
            assert "owned" not in page.title()
            assert page.evaluate("() => window.owned") is None


def test_names_are_text_in_formgraders_pages(shown, browser):  # noqa: F811
    """A name comes from a learning platform, where students choose it; an address, from a link."""
    course, address = shown
    with page_of(browser, address) as page:
        page.goto(f"{address}formgrader/submissions/{ids(course)['eve']}/")
        page.get_by_text("O'Neil").first.wait_for(state="attached")
        assert page.title() == NAME
        assert page.locator("img[onerror]").count() == 0
        for name in (
            "%3Cscript%3Edocument.title='owned'%3C%2Fscript%3E",
            "%22;document.title='owned';%22",
            "%5C/;document.title='owned'%2F%2F",
        ):
            page.goto(f"{address}formgrader/manage_students/{name}")
            assert "owned" not in page.title(), name
        page.goto(f"{address}formgrader/manage_students/eve")
        page.locator("tbody tr").first.wait_for()


def status(url):
    """What a server answers, as a number."""
    import urllib.error
    import urllib.request

    request = urllib.request.Request(url, headers={"Authorization": "token formgrader"})
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def ids(course):
    """nbgrader's own id of each student's notebook."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "averages-to-transformers") as book:
        return {one.student.id: one.id for one in book.notebook_submissions(NAME, NAME)}


def submissions(page, address):
    """What formgrader's own pages ask for."""
    told = page.request.get(f"{address}formgrader/api/submissions/{NAME}").json()
    return {row["student"]: row for row in told}


def wall(address):
    """Nothing leaves the machine: formgrader's page asks a CDN for its formulas."""

    def route(one):
        one.continue_() if one.request.url.startswith(address) else one.abort()

    return route


def asked(url, data=None):
    import urllib.request

    request = urllib.request.Request(url, data, {"Authorization": "token formgrader"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.loads(answer.read())


@contextlib.contextmanager
def formgrader(course, tmp_path):
    """The address of a JupyterLab in the course's folder."""
    runtime = tmp_path / "runtime"
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ServerApp.port=0", "--IdentityProvider.token=formgrader"]
    command += ["--ServerApp.ip=127.0.0.1"]
    environment = {
        **os.environ,
        "PATH": f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}",
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "settings"),
        "JUPYTER_DATA_DIR": str(tmp_path / "data"),
    }
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=course.root, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        yield address_of(server, runtime)
    finally:
        server.terminate()
        server.wait(30)


def address_of(server, runtime):
    """Where a server that was just started listens, as soon as it says so."""
    for _ in range(1200):
        for note in runtime.glob("jpserver-*.json"):
            with contextlib.suppress(json.JSONDecodeError, ConnectionError):  # not yet
                said = json.loads(note.read_text())
                with socket.create_connection(("127.0.0.1", said["port"])):
                    return said["url"]
        assert server.poll() is None, "JupyterLab did not start"
        time.sleep(0.1)
    raise AssertionError("JupyterLab says nothing of where it listens")
