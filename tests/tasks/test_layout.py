"""Tasks are found by their place, and mistakes by theirs."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
import students

import course_judges
import course_tasks
from course_judges.judging import Task, mistake
from course_lib.errors import CourseError
from course_tasks import Section, catalogue
from course_tasks.errors import UnknownTaskError

HERE, THERE = Section("01-averages", "Here"), Section("01-averages", "There")


def modules_that_hold(package, name):
    """Their names below the package, of the modules of chapters."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    names = [
        module.name
        for module in found
        if re.search(r"\.(ch\d\d|project)_", module.name) and not module.ispkg
    ]
    return {
        module.partition(".")[2]
        for module in names
        if hasattr(importlib.import_module(module), name)
    }


def test_every_task_has_a_judge_and_students_and_nothing_else_has():
    asked = modules_that_hold(course_tasks, "PROBE")
    assert asked == modules_that_hold(course_judges, "TASK")
    assert asked == modules_that_hold(students, "RIGHT")
    assert len(asked) == len(catalogue.names())


@pytest.mark.slow
def test_check_loads_no_other_chapter():
    code = (
        "import sys; from course_tasks import check; check('03/windows', print)\n"
        "print({name.split('.')[1] for name in sys.modules if '.ch' in name"
        " and name.startswith(('course_tasks.ch', 'course_judges.ch')) "
        "and name.split('.')[1] not in ('checking', 'chance')})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "{'ch03_text'}"


@pytest.mark.slow
@pytest.mark.parametrize("package", [course_tasks, course_judges], ids=lambda one: one.__name__)
def test_chapters_import_nothing_from_each_other(package):
    """A grade goes stale when its own chapter changes, but not when another one does."""
    for path in Path(package.__path__[0]).glob("ch*/**/*.py"):
        own = path.relative_to(package.__path__[0]).parts[0]
        named = set(re.findall(r"\bch\d\d_\w+", " ".join(imported(path))))
        assert named <= {own}, f"{path}: {sorted(named - {own})}"


def imported(path):
    """The modules that a file imports, and the names that it takes from them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield " ".join([node.module or "", *(one.name for one in node.names)])
        elif isinstance(node, ast.Import):
            yield " ".join(one.name for one in node.names)


@pytest.mark.parametrize("name", ["01/shared", "01/find_fault", "01/window.PROBE", "01/", "01/.."])
def test_what_is_no_task_is_not_found(name):
    with pytest.raises(UnknownTaskError):
        catalogue.probe(name)


def task_with(**module):
    return Task("Doubling", lambda x: 2 * x, HERE, ()).with_mistakes(module)


class TestMistakesOfAModule:
    def test_variable_is_the_name_whatever_it_holds(self):
        @mistake("Squared.", "4 becomes 16.")
        def _too_large(x):
            return x * x

        @mistake("Halved.", "4 becomes 2.")
        class _TooSmall:
            pass

        value = mistake("Counted.", "4 becomes N.")(4)
        found = task_with(
            _too_large=_too_large, _TooSmall=_TooSmall, other=3, _divided_by_N=value
        ).mistakes
        assert [one.name for one in found] == ["too-large", "too-small", "divided-by-N"]
        assert found[0].answer(3) == 9
        assert found[2].answer == 4

    def test_section_is_the_tasks_unless_another_is_said(self):
        found = task_with(
            _one=mistake("One.", "1")(1), _two=mistake("Two.", "2", THERE)(2)
        ).mistakes
        assert [one.section for one in found] == [HERE, THERE]

    def test_two_of_one_name_are_refused(self):
        with pytest.raises(CourseError, match="two mistakes with the name 'too-large'"):
            task_with(_too_large=mistake("a", "b")(1), _TooLarge=mistake("a", "b")(2))
