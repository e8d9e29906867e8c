"""Honest work is never a silent zero: what is in an unexpected place is found, and where an answer
may have been missed, a person looks before the grade stands.
"""

import copy
import re
from dataclasses import dataclass, replace

import nbformat
import pytest
from classes import NAME, class_without_gradebook, outcome
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

from course_grader.assignment import Assignment, read
from course_grader.course import Course
from course_grader.grade_one import grade_one
from course_grader.gradebook.record import Recorder
from course_grader.gradebook.standing import standing
from course_grader.outcome import Status
from course_grader.reports import report, student_page
from course_grader.reports.tally import count
from course_grader.submissions import Submission

ANSWER = "window_weights"


class Notebook:
    """The first assignment, filled with its own right answers."""

    def __init__(self, course):
        self.released = read(course.exercises / NAME / f"{NAME}.ipynb")
        solved = Assignment.of(read(course.solutions / NAME / f"{NAME}.ipynb"))
        right = {answer.grade_id: answer.source for answer in solved.answers}
        self.whole = copy.deepcopy(self.released)
        for cell in self.whole.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            cell.source = right.get(name, cell.source)
        self.cells = self.whole.cells
        self.imports, self.answer = self.cells[1], self.cell("answer-window")
        self.right = self.answer.source

    def cell(self, grade_id):
        return next(c for c in self.cells if c.get("id") == grade_id)

    def unfill(self):
        self.answer.source = self.stub

    @property
    def stub(self):
        return next(c for c in self.released.cells if c.get("id") == "answer-window").source

    def add(self, source, *, below=None):
        place = len(self.cells) if below is None else self.cells.index(self.cell(below)) + 1
        self.cells.insert(place, new_code_cell(source))


def renamed(cells):
    """Cells with ids of their own, as programs give them to copies."""
    for cell in cells:
        cell["id"] = f"again-{cell['id']}"
    return cells


def doubled(book, stale_first=True):
    stale = renamed(copy.deepcopy(book.released.cells))
    both = [stale, book.cells] if stale_first else [book.cells, stale]
    book.whole.cells = both[0] + both[1]


def copied(book, *ids):
    """Copies of cells, with all that they bring, below the check; the first cell stays unfilled."""
    cells = renamed([copy.deepcopy(book.cell(each)) for each in ids])
    at = book.cells.index(book.cell("check-window")) + 1
    book.cells[at:at] = cells
    book.unfill()


def at_the_end(book):
    book.unfill()
    book.add(book.right)


def first_line(*lines):
    def change(book):
        book.imports.source = "\n".join([*lines, book.imports.source])

    return change


def of_a_package(book):
    first_line("from jaxtyping import Float", "from torch import Tensor")(book)
    book.answer.source = book.right.replace("-> torch.Tensor", "-> Tensor")


def needing(line, call):
    def change(book):
        first_line(line)(book)
        book.answer.source = call(book.right)

    return change


def answered(source):
    def change(book):
        book.answer.source = source.format(right=book.right)

    return change


def beside(source, below="answer-window"):
    def change(book):
        book.add(source.format(right=book.right), below=below)

    return change


def unfilled(*lines):
    def change(book):
        book.whole.cells = copy.deepcopy(book.released.cells)
        book.whole.cells[1].source = "\n".join([*lines, book.whole.cells[1].source])

    return change


@dataclass(frozen=True)
class Case:
    """A notebook, and what comes of its third task: points of four, and what is said where."""

    change: object
    points: float = 4.0
    note: str = ""
    failed: str = ""
    reason: str = ""
    waits: str = ""
    finding: str = ""


CASES = {
    "doubled, the stale copy first": Case(doubled, note="7 checks are there twice"),
    "doubled, the stale copy last": Case(
        lambda book: doubled(book, stale_first=False), note="7 checks are there twice"
    ),
    "task copied": Case(
        lambda book: copied(book, "answer-window", "check-window"), note="is there twice"
    ),
    "answer copied below its check": Case(
        lambda book: copied(book, "answer-window"), note="was run below it"
    ),
    "at the end": Case(at_the_end, note="was run below it"),
    "overwritten by its own result": Case(
        beside(f"{ANSWER} = {ANSWER}(6, 3)\n{ANSWER}"), note="overwrites"
    ),
    "scratch line above": Case(answered("print(not_there)\n{right}"), failed="`print(not_there)`"),
    "package": Case(of_a_package, failed="No module named 'jaxtyping'"),
    "drive": Case(
        first_line("from google.colab import drive", "drive.mount('/content/drive')"),
        failed="google",
    ),
    "folder": Case(
        first_line("import os", "os.chdir('/content/course')"), failed="/content/course"
    ),
    "helper module": Case(first_line("from my_helpers import *"), failed="my_helpers"),
    "helper module that is needed": Case(
        needing("import my_helpers", lambda right: f"@my_helpers.timed\n{right}"),
        0.0,
        failed="my_helpers",
        reason="the cell that should define it stopped with NameError",
        waits="an earlier cell had failed: `import my_helpers` stopped with ModuleNotFoundError",
    ),
    "helper module that is called": Case(
        needing("import my_helpers", lambda _: f"def {ANSWER}(T, w):\n    return my_helpers.w(T)"),
        0.0,
        failed="my_helpers",
        finding="error",
        waits="an earlier cell had failed",
    ),
    "scaffold's line left": Case(
        answered(
            f"def {ANSWER}(T, width):\n    raise NotImplementedError\n    return T  # the answer"
        ),
        0.0,
        finding="scaffold-line-left",
    ),
    "%%timeit": Case(
        answered("%%timeit\n{right}"), 0.0, reason="begins with `%%timeit`", waits="`%%timeit`"
    ),
    "%%writefile": Case(
        answered("%%writefile mine.py\n{right}"), 0.0, reason="`%%writefile`", waits="`%%writefile`"
    ),
    "misspelled": Case(
        lambda book: answered(book.right.replace(ANSWER, "windows_weights"))(book),
        0.0,
        reason="defines `windows_weights`",
        waits="misspelled",
    ),
    "deleted again": Case(
        beside(f"del {ANSWER}"), 0.0, reason="it was not there", waits="it was not there"
    ),
    "wrong below, right above": Case(
        beside(f"def {ANSWER}(T, width):\n    return None", below="check-vowels"),
        0.0,
        note="the last one counts",
        finding="type",
        waits="more than once",
    ),
    "broken cell below an empty one": Case(
        lambda book: (book.unfill(), beside(f"def {ANSWER}(T:\n    return 1")(book)),
        0.0,
        finding="not-attempted",
        waits="another cell seems to define",
        failed="SyntaxError",
    ),
    # Nothing to look at for a person:
    "broken answer": Case(
        answered(f"def {ANSWER}(T:\n    return 1"), 0.0, reason="SyntaxError", failed="SyntaxError"
    ),
    "wrong answer": Case(
        answered(f"def {ANSWER}(T, width):\n    return None"), 0.0, finding="type"
    ),
    "unfilled": Case(unfilled(), 0.0, finding="not-attempted"),
    "unfilled, a package": Case(
        unfilled("import jaxtyping"), 0.0, failed="jaxtyping", finding="not-attempted"
    ),
}


@pytest.fixture(scope="module")
def graded(running, template, tmp_path_factory):
    """Grade a notebook of the first assignment, and read its pages."""
    judges, sandbox = running
    course = Course(template)

    def grade(change):
        made = tmp_path_factory.mktemp("one")
        where = (made / "graded.ipynb", made / "page.html")
        book = Notebook(course)
        change(book)
        folder = made / "ada" / NAME
        folder.mkdir(parents=True)
        nbformat.write(book.whole, folder / f"{NAME}.ipynb")
        whole = class_without_gradebook(course, NAME, where)
        return grade_one(Submission("ada", NAME, folder), whole, sandbox, judges), where

    return grade


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("name", CASES)
def test_honest_notebook_gets_its_points_or_a_person(graded, name):
    case = CASES[name]
    outcome, (notebook, page) = graded(case.change)
    assert outcome.status is Status.GRADED
    task = next(task for task in outcome.tasks if task.task == "01/window")
    assert (task.points, bool(task.waits)) == (case.points, bool(case.waits)), task
    for said, wanted in (
        (" ".join(outcome.notes), case.note),
        (outcome.failed_cell, case.failed),
        (task.reason, case.reason),
        (task.waits, case.waits),
        (" ".join(task.mistakes), case.finding),
    ):
        assert wanted in said
        assert wanted or not said
    others = [task for task in outcome.tasks if task.task != "01/window"]
    assert [task.waits for task in others] == [""] * len(others)
    right = 0.0 if name.startswith("unfilled") else 1.0
    assert [task.points for task in others] == [right * task.out_of for task in others]
    for place in (notebook, page):
        shown = re.sub(r"\s+", " ", place.read_text(encoding="utf-8"))
        assert ("The first cell that failed" in shown) == bool(case.failed)


@pytest.mark.slow
@pytest.mark.sandbox
def test_verdicts_come_in_the_order_of_the_tasks_whatever_that_of_the_notebook(graded, template):
    released = read(Course(template).exercises / NAME / f"{NAME}.ipynb")

    def reverse(book):
        book.whole.cells = book.cells[:2] + book.cells[:1:-1]

    outcome, _ = graded(reverse)
    assert [task.grade_id for task in outcome.tasks] == [
        check.grade_id for check in Assignment.of(released).checks
    ]


class TestRecorded:
    """What waits, waits in the gradebook, and says so wherever people look."""

    WHY = "the notebook defines `windows_weights`; is one of the two names misspelled?"
    CELL = "`import my_helpers` stopped with ModuleNotFoundError: No module named 'my_helpers'"

    @pytest.fixture
    def course(self, entered):
        one = outcome(entered, "ada", failed_cell=self.CELL)
        first, *others = one.tasks
        doubted = replace(first, points=0.0, verdict={}, reason="Nothing.", waits=self.WHY)
        with Recorder(entered) as recorder:
            recorder.record(replace(one, tasks=(doubted, *others)), "key")
            recorder.record(outcome(entered, "bob"), "key")
        return entered

    def waiting(self, course):
        found = standing(course, NAME)
        return {one.student: one.waiting for one in found.students}, count(found)

    def test_grade_waits_in_the_gradebook_until_a_person_has_given_one(self, course):
        first = Assignment.of(read(course.exercises / NAME / f"{NAME}.ipynb")).checks[0].grade_id
        waiting, tally = self.waiting(course)
        assert first in waiting["ada"]
        assert first not in waiting["bob"]
        assert [(who, why) for who, _, why in tally.doubted] == [("ada", self.WHY)]
        assert tally.failed_cells == (("ada", self.CELL),)
        with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
            grade = book.find_grade(first, NAME, NAME, "ada")
            grade.manual_score, grade.needs_manual_grade = 2.0, False
            book.db.commit()
        waiting, tally = self.waiting(course)
        assert first not in waiting["ada"]
        assert tally.doubted == ()

    def test_report_and_page_say_so(self, course):
        words = report.page(self.waiting(course)[1])
        for said in ("may be there", "windows_weights", "The first cell that failed", "my_helpers"):
            assert said in words
        found = standing(course, NAME)
        about = student_page.About("Averages", {})
        page = student_page.page(found.students[0], found, about)
        assert page.index("my_helpers") < page.index("<section>")
        assert "windows_weights" in page
