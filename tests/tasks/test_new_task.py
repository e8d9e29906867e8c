"""A task is begun by one command, found by its place, and gone with its three files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from course_grader.cli import app
from course_grader.errors import NewTaskError
from course_grader.new_task import write_task
from course_grader.release import faults

ROOT = Path(__file__).parents[2]
FILLED = Path(__file__).parent / "filled_task"
NAME, CHAPTER = "14/last-seen", "14-pointers"
MODULE = "ch14_pointers/last_seen.py"
BOOK = f"solutions/{CHAPTER}/{CHAPTER}.ipynb"

# Each piece of a task is tried, as its checks, its judge and its tests would do.
PIECES = """
from course_judges import catalogue as judges
from course_tasks import catalogue, check
from course_tasks.errors import UnfilledTaskError
from students import students_of

name = "14/last-seen"
probe, known, students = catalogue.probe(name), judges.task(name), students_of(name)
mistake = known.mistakes[0]
pieces = [
    lambda: check(name, print),
    lambda: probe.cases["output"](print, {}),
    lambda: known.answer(0),
    lambda: known.parts[0].holds(None),
    lambda: mistake.answer(0),
    lambda: mistake.what(None),
    lambda: mistake.effect(None),
    *students.RIGHT.values(),
    *students.WRONG.values(),
    students.ODD[0][0],
]
for piece in pieces:
    try:
        piece()
        print("nothing is said")
    except UnfilledTaskError as error:
        print(error)
"""
SENTENCES = """\
course_tasks.ch14_pointers.last_seen: draw the inputs
course_tasks.ch14_pointers.last_seen: call the answer with its inputs
course_judges.ch14_pointers.last_seen: write a right answer, as a student would
course_judges.ch14_pointers.last_seen: say what the points are for
course_judges.ch14_pointers.last_seen: write a wrong answer that people really give
course_judges.ch14_pointers.last_seen: say what was done
course_judges.ch14_pointers.last_seen: say what that does to the data, in numbers of the run
students.ch14_pointers.last_seen: write a right answer with loops
students.ch14_pointers.last_seen: write a right answer in a second style
students.ch14_pointers.last_seen: write a right answer in a third style
students.ch14_pointers.last_seen: make the mistake in other code than the judge's
students.ch14_pointers.last_seen: write what is wrong and no known mistake
"""


@pytest.fixture
def course(tmp_path):
    """A copy of the course with one chapter."""
    others = shutil.ignore_patterns(
        "__pycache__", "project_*", *(f"ch{n:02}_*" for n in range(2, 14))
    )
    for package in (
        "course_lib",
        "course_tasks",
        "course_judges",
        "tests/tasks",
        "tests/selection",
    ):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=others)
    for name in ("solutions/01-averages", "book"):
        (tmp_path / name).mkdir(parents=True)
    for name in (
        "solutions/01-averages/01-averages.ipynb",
        "book/01-averages.ipynb",
        "nbgrader_config.py",
        "pyproject.toml",
    ):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run_in(course, *arguments):
    tests = course / "tests"
    paths = os.pathsep.join(map(str, (course, tests / "tasks")))
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=course,
        env=os.environ | {"PYTHONPATH": paths, "COURSE_TEST_DRAWS": "2"},
        capture_output=True,
        text=True,
        check=False,
    )


def texts_of(course):
    return {p: p.read_bytes() for p in course.rglob("*") if p.is_file() and p.suffix != ".pyc"}


def fill(course):
    """As an author would: the modules, and the notebook's cells in the order of the sentences."""
    for part, package in (
        ("probe", "course_tasks"),
        ("judge", "course_judges"),
        ("students", "tests/tasks/students"),
    ):
        shutil.copy(FILLED / f"{part}.py", course / package / MODULE)
    book = nbformat.read(course / BOOK, as_version=4)
    about, _, asked, answer, check = book.cells
    about.source = "# Exercises 14 · Pointers\n\nWhat a head finds to continue a pattern."
    asked.source = "## Task 1 · Where a symbol stood last  ●●○○ · 10 minutes · 2 points\n\nFind it."
    answer.source = (
        "def last_seen(tokens: torch.Tensor) -> torch.Tensor:\n"
        "    ### BEGIN SOLUTION\n"
        "    T = tokens.shape[1]\n"
        "    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)\n"
        "    return torch.where(same, torch.arange(T), -1).amax(dim=-1)\n"
        "    ### END SOLUTION"
    )
    check.metadata.nbgrader.points = 2
    nbformat.write(book, course / BOOK)
    chapter = nbformat.v4.new_notebook()
    chapter.cells = [nbformat.v4.new_markdown_cell("## Where a symbol stood last")]
    nbformat.write(chapter, course / "book" / f"{CHAPTER}.ipynb")


@pytest.mark.slow
def test_every_piece_of_a_new_task_says_what_to_write_until_all_is_green(course):
    write_task(course, NAME, title="Where a symbol stood last", chapter_title="Pointers")
    said = run_in(course, "-c", PIECES)
    assert said.stdout == SENTENCES, said.stderr
    assert [fault.partition(": ")[2] for fault in faults_of(course)] == [
        "Say what these exercises are about.",
        "Say what is asked, and set dots, minutes and points.",
        "Ask what helps a little.",
        "Say what helps more.",
        "Say which shapes come in and go out.",
        "Write a right answer.",
    ]
    fill(course)
    assert faults_of(course) == []
    made = run_in(course, "-m", "course_judges.edits.making", NAME)
    assert "14/last-seen: " in made.stdout, made.stderr
    tests = run_in(
        course, "-m", "pytest", "-q", "-n", "0", "tests/tasks/test_judgement.py", "-k", "last-seen"
    )
    assert tests.returncode == 0, tests.stdout
    assert " passed" in tests.stdout


def faults_of(course):
    """What keeps the notebook from being released, of what its own cells say."""
    found = faults(nbformat.read(course / BOOK, as_version=4), CHAPTER)
    return [fault for fault in found if "there is no task" not in fault]


@pytest.mark.slow
def test_task_is_gone_with_its_three_files_and_its_cells(course):
    names = "from course_tasks import catalogue; print(*catalogue.names())"
    assert "01/window" in run_in(course, "-c", names).stdout.split()
    for package in ("course_tasks", "course_judges", "tests/tasks/students"):
        (course / package / "ch01_averages" / "window.py").unlink()
    left = run_in(course, "-c", names).stdout.split()
    assert len(left) == 6
    assert "01/window" not in left
    asked = run_in(course, "-c", "from course_tasks import check; check('01/window', print)")
    assert "there is no task '01/window'; did you mean" in asked.stderr
    tests = run_in(course, "-m", "pytest", "-q", "-n", "0", "--co", "tests/tasks/test_judgement.py")
    assert tests.returncode == 0, tests.stdout
    assert "01/past-mean" in tests.stdout
    assert "01/window" not in tests.stdout


@pytest.mark.slow
def test_task_without_a_judge_is_named_with_the_module_that_it_lacks(course):
    (course / "course_judges" / "ch01_averages" / "window.py").unlink()
    asked = run_in(course, "-c", "from course_tasks import check; check('01/window', print)")
    assert "there is no module course_judges.ch01_averages.window" in asked.stderr


def test_cells_of_a_further_task_stand_below_all_tasks_and_above_the_experiment(course):
    write_task(course, "01/further")
    book = nbformat.read(course / "solutions/01-averages/01-averages.ipynb", as_version=4)
    ids = [cell.id for cell in book.cells]
    place = ids.index("task-further")
    assert ids[place - 1] == "check-find-fault"
    assert ids[place : place + 3] == ["task-further", "answer-further", "check-further"]
    assert book.cells[place].source.startswith("## Task 7 · Further")
    assert book.cells[place + 3].source.startswith("## Experiment")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("01/window", "course_tasks/ch01_averages/window.py, .* there already"),
        ("01/shared", "course_tasks/ch01_averages/shared.py, .* there already"),
        ("15/anything", "chapter 15 does not exist yet: give it a title"),
        ("1/window", "cannot be a task"),
        ("01/Window", "cannot be a task"),
        ("01/return", "cannot be a task"),
        ("01/../window", "cannot be a task"),
    ],
)
def test_what_cannot_be_begun_is_refused_and_nothing_is_written(course, name, why):
    before = texts_of(course)
    with pytest.raises(NewTaskError, match=why):
        write_task(course, name)
    assert texts_of(course) == before


def test_notebook_that_checks_the_task_already_is_left_alone(course):
    for package in ("course_tasks", "course_judges", "tests/tasks/students"):
        (course / package / "ch01_averages" / "window.py").unlink()
    before = texts_of(course)
    with pytest.raises(NewTaskError, match="checks 01/window already"):
        write_task(course, "01/window")
    assert texts_of(course) == before


def test_command_lists_what_it_wrote_and_explains_what_it_refuses(course):
    begin = ["new", "task", NAME, "--chapter", "Pointers", "--course", str(course)]
    written = CliRunner().invoke(app, begin)
    assert written.exit_code == 0, written.output
    assert f"course_tasks/{MODULE}" in written.output
    assert BOOK in written.output
    again = CliRunner().invoke(app, begin)
    assert again.exit_code == 2
    assert "is there already" in again.output
