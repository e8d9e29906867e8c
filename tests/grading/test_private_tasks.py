"""A private task is asked, checked by examples at the desk, and judged on the grader's machine."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from nbgrader.api import Gradebook

from course_grader import private_tasks
from course_grader.assignment import Assignment, read
from course_grader.batch import grade
from course_grader.course import Course
from course_grader.errors import PrivateTaskError
from course_grader.gradebook.database import database_url
from course_grader.gradebook.standing import standing
from course_grader.release import differences, release
from course_grader.staleness import judging_key
from course_tasks import catalogue
from course_tasks.errors import InvalidExamplesError, UnknownTaskError
from course_tasks.given_examples import Example, check_by_examples, given_examples, write_examples

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "private_tasks"
NAME, TASK, ID = "05-head", "05/capped-scores", "check-capped-scores"

RIGHT = """import torch
def capped_scores(x, w_query, w_key, cap):
    s = torch.einsum("...tc,cd,...sd->...ts", x, w_query, x @ w_key) * w_key.shape[1] ** -0.5
    return cap * (s / cap).tanh()
"""
CLAMPED = RIGHT.replace("cap * (s / cap).tanh()", "s.clamp(-cap, cap)")


@pytest.fixture
def course(tmp_path):
    """A course of chapter 05 beside a folder of private tasks, which its settings name."""
    root = tmp_path / "course"
    for folder in ("solutions", "exercises"):
        shutil.copytree(ROOT / folder / NAME, root / folder / NAME)
    shutil.copytree(EXAMPLE, tmp_path / "private", ignore=shutil.ignore_patterns("__pycache__"))
    settings = (ROOT / "nbgrader_config.py").read_text()
    (root / "nbgrader_config.py").write_text(
        f'{settings}\nc.CourseGrade.private_tasks = "../private"\n'
    )
    return Course(root)


def notebook(course):
    return read(course.exercises / NAME / f"{NAME}.ipynb")


def fill(course, student, source):
    book = notebook(course)
    for cell in book.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "answer-capped-scores":
            cell.source = source
    path = course.submitted / student / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(book))


def test_release_puts_it_in_with_examples_and_nothing_of_its_judge(course):
    release(course, NAME)
    asked = [check.task for check in Assignment.of(notebook(course)).checks]
    assert asked[-1] == TASK
    assert set(asked[:-1]) == {name for name in catalogue.names() if name.startswith("05/")}
    text = (course.exercises / NAME / f"{NAME}.ipynb").read_text()
    assert "tanh(pairs" not in text
    assert "Scores are not divided by the cap" not in text
    assert differences(course, NAME) == []
    with pytest.raises(UnknownTaskError):
        catalogue.module_of(TASK)


@pytest.mark.slow
def test_check_at_the_desk_knows_the_examples_only(course, tmp_path):
    """In a process that has no private folder, as a student's kernel is."""
    release(course, NAME)
    book = notebook(course)
    given = next(cell.source for cell in book.cells if "given_examples(" in cell.source)
    check = next(cell.source for cell in book.cells if cell.source.startswith(f'check("{TASK}"'))
    answers = {
        RIGHT: "as in all 2 examples",
        CLAMPED: "numbers differ from those in the example",
        "def capped_scores(*_):\n    return 1.0": "one float instead of a tensor",
        "def capped_scores(*_):\n    raise NotImplementedError": "Not attempted",
    }
    between = "-- next answer --"
    asked = f"\nprint({between!r})\n".join(f"{one}\n{given}\nprint({check})" for one in answers)
    done = subprocess.run(
        [sys.executable, "-c", f"from course_tasks import check\n{asked}"],
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k != private_tasks.VARIABLE},
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for said, wanted in zip(done.stdout.split(between), answers.values(), strict=True):
        assert wanted in said
        assert "points" not in said.replace("awards the points", "")


@pytest.mark.slow
@pytest.mark.sandbox
def test_class_is_judged_by_the_private_judge(course):
    release(course, NAME, gradebook=True)
    fill(course, "ada", RIGHT)
    fill(course, "ben", CLAMPED)
    spy = "import course_tasks.ch05_head.capped_scores as own\nprint(own.__file__)\n"
    spy += "try:\n    import course_judges\nexcept ImportError:\n    print('no judge')\n"
    fill(course, "eve", spy + RIGHT)
    assert grade(course, NAME).complete
    found = {one.student: one for one in standing(course, NAME).students}
    points = {
        student: next(cell.points for cell in one.cells if cell.name == ID)
        for student, one in found.items()
    }
    assert points["ada"] == 4
    assert points["ben"] in (0, 1)
    said = next(each for each in found["ben"].findings if each.task == TASK).verdict["findings"]
    assert [each["name"] for each in said] == ["clamped"]
    graded = (course.autograded / "eve" / NAME / f"{NAME}.ipynb").read_text()
    assert "no judge" in graded
    assert str(course.root.parent) not in graded


@pytest.mark.slow
def test_button_of_formgrader_releases_what_the_command_releases(course):
    """*Generate* calls this; private cells are in the exercise and in the gradebook."""
    release(course, NAME)
    path = course.exercises / NAME / f"{NAME}.ipynb"
    made = path.read_bytes()
    path.unlink()
    done = generate(course)
    assert done["success"], done["log"]
    assert path.read_bytes() == made
    with Gradebook(database_url(course), "averages-to-transformers") as book:
        assert book.find_grade_cell(ID, NAME, NAME).max_score == 4
    private = course.root.parent / "private"
    drop(private / "course_judges/ch05_head/capped_scores.py")
    refused = generate(course)
    assert not refused["success"]
    assert "nothing there judges it" in refused["log"]


def generate(course):
    """What the button calls, in the server's own process."""
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    settings = Config(course.settings)
    settings.CourseDirectory.root = str(course.root)
    api = NbGraderAPI(CourseDirectory(config=settings), config=settings)
    return api.generate_assignment(NAME)


def test_change_of_a_private_judge_makes_grades_stale_and_only_of_its_chapter(course):
    judge = course.root.parent / "private" / "course_judges" / "ch05_head" / "capped_scores.py"
    with private_tasks.of(course):
        before = judging_key(["05/scores"]), judging_key(["06/split"])
    judge.write_text(judge.read_text() + "\n# mended\n")
    _digest_again()
    with private_tasks.of(course):
        after = judging_key(["05/scores"]), judging_key(["06/split"])
    assert before[0] != after[0]
    assert before[1] == after[1]
    _digest_again()


def _digest_again():
    from course_grader import staleness

    staleness.digest_of.cache_clear()


def drop(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda p: drop(p), "there is no such folder"),
        (lambda p: drop(p / "course_tasks"), "holds no task"),
        (lambda p: drop(p / "course_judges/ch05_head/capped_scores.py"), "nothing there judges it"),
        (lambda p: drop(p / "solutions"), "has no cells"),
        (
            lambda p: [
                (p / part / "ch05_head/capped_scores.py").rename(p / part / "ch05_head/scores.py")
                for part in ("course_tasks", "course_judges")
            ],
            "a name of its own",
        ),
        (
            lambda p: [
                (p / part / "ch05_head").rename(p / part / "ch77_none")
                for part in ("course_tasks", "course_judges")
            ],
            "of no chapter of the course",
        ),
        (lambda p: rewrite(p, "EXAMPLES = (", "SAMPLES = ("), "has no examples"),
        (lambda p: rewrite(p, "        4.0,\n", "        {},\n"), "05/capped-scores"),
    ],
)
def test_folder_that_is_wrong_is_named_and_nothing_is_released(course, change, said):
    before = (course.exercises / NAME / f"{NAME}.ipynb").read_bytes()
    change(course.root.parent / "private")
    with pytest.raises(PrivateTaskError, match=said):
        release(course, NAME)
    assert (course.exercises / NAME / f"{NAME}.ipynb").read_bytes() == before
    assert private_tasks.folder() is None


def rewrite(folder, before, after):
    path = folder / "course_tasks" / "ch05_head" / "capped_scores.py"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, after, 1))


def test_folder_inside_the_course_is_refused(course):
    (course.root.parent / "private").rename(course.root / "private")
    settings = course.root / "nbgrader_config.py"
    settings.write_text(settings.read_text().replace('"../private"', '"private"'))
    with pytest.raises(PrivateTaskError, match="lies in the course's own folder"):
        release(Course(course.root), NAME)


@pytest.mark.parametrize(
    ("answer", "returns", "said"),
    [
        (lambda x: x[0], torch.ones(2, 2), "shape"),
        (lambda x: x.int(), torch.ones(2, 2), "kind"),
        (lambda x: None, torch.ones(2, 2), "kind"),
        (lambda x: x * float("nan"), torch.ones(2, 2), "values"),
        (lambda x: 1 / 0, torch.ones(2, 2), "raises"),
        (lambda x: (x, x), [torch.ones(2, 2)], "kind"),
        (lambda x: [x], [torch.ones(2, 2)], None),
        (lambda x: torch.tensor(3.0), 3.0, None),
        (lambda x: 3, 3.1, "values"),
        (lambda x: "a", "b", "values"),
        (lambda x: x, torch.ones(2, 2), None),
    ],
)
def test_first_thing_that_is_wrong_is_said(answer, returns, said):
    (example,) = given_examples(write_examples([Example((torch.ones(2, 2),), returns)]))
    found = check_by_examples("05/x", answer, [example]).findings
    assert [each.name for each in found] == ([said] if said else [])


def test_error_can_be_what_is_right():
    (example,) = given_examples(write_examples([Example((1.0,), raises="ValueError")]))

    def raises(_):
        raise KeyError("x")

    def right(_):
        raise ValueError("x")

    names = [
        [each.name for each in check_by_examples("05/x", answer, [example]).findings]
        for answer in (right, raises, float)
    ]
    assert names == [[], ["another-error"], ["no-error"]]


def test_examples_that_were_changed_are_named():
    with pytest.raises(InvalidExamplesError, match="as it was handed out"):
        given_examples("{'arguments'")
