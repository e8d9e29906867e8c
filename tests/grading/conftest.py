"""Courses and submissions to try release, check and nbgrader on, none of them in the project."""

import copy
import shutil
from pathlib import Path

import nbformat
import pytest

from course_lib.grading.course import Course
from course_lib.grading.release import release

ROOT = Path(__file__).parents[2]
FIRST = "01-averages"


@pytest.fixture
def course(tmp_path):
    """A copy of the course's solutions and settings, with the exercises as they are."""
    root = tmp_path / "course"
    root.mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for folder in ("solutions", "exercises"):
        shutil.copytree(
            ROOT / folder, root / folder, ignore=shutil.ignore_patterns(".ipynb_checkpoints")
        )
    return Course(root)


class Editable:
    """A notebook of a course, by the grade ids of its cells."""

    def __init__(self, path):
        self.path = path
        self.notebook = nbformat.read(path, as_version=4)

    @property
    def cells(self):
        return self.notebook.cells

    def cell(self, grade_id):
        return next(
            cell
            for cell in self.cells
            if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
        )

    def ids(self, beginning):
        """Grade ids that begin so, in the order of the notebook."""
        ids = [cell.metadata.get("nbgrader", {}).get("grade_id", "") for cell in self.cells]
        return [one for one in ids if one.startswith(beginning)]

    def remove(self, grade_id):
        self.cells.remove(self.cell(grade_id))

    def repeat(self, grade_id):
        again = copy.deepcopy(self.cell(grade_id))
        again.id = "repeated"
        self.cells.append(again)
        return again

    def save(self, path=None):
        target = Path(path or self.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(self.notebook, target)
        return target


@pytest.fixture
def solution(course):
    """The first assignment's solution in the copied course."""
    return Editable(course.solutions / FIRST / f"{FIRST}.ipynb")


@pytest.fixture
def exercise(course):
    """The first assignment as students get it, in the copied course."""
    return Editable(course.exercises / FIRST / f"{FIRST}.ipynb")


@pytest.fixture
def editable():
    """Reads any notebook into the same form."""
    return Editable


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """A course with the first assignment only, entered into its gradebook; to be copied."""
    root = tmp_path_factory.mktemp("template") / "course"
    for folder in ("solutions", "exercises"):
        shutil.copytree(ROOT / folder / FIRST, root / folder / FIRST)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    release(Course(root), FIRST, gradebook=True)
    return root


@pytest.fixture
def entered(template, tmp_path):
    """A course of one assignment that is in the gradebook."""
    shutil.copytree(template, tmp_path / "course")
    return Course(tmp_path / "course")
