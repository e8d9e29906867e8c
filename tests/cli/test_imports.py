"""Imports run one way, and none runs before it is needed."""

import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(path.parent.name for path in ROOT.glob("course_*/__init__.py"))


def test_every_module_keeps_the_declared_contracts():
    """`pyproject.toml` says which package may import which; import-linter reads every module."""
    done = subprocess.run(
        ["lint-imports", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_no_modules_import_each_other_in_a_ring():
    """Not even where a type is named, or in a function: one has to be readable before the other."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    # Of torch's twin, a tensor, its gradient and the functions of it name each other.
    apart = [one for one in graph.modules if not one.startswith("course_page.torch_twin.")]
    TopologicalSorter(
        {module: graph.find_modules_directly_imported_by(module) & {*apart} for module in apart}
    ).prepare()  # raises a `CycleError` that names them


def test_the_contracts_cover_every_package_of_the_course():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for package in ROOT.glob("course_*/__init__.py"):
        assert f'"{package.parent.name}"' in settings.split("[tool.importlinter]")[1]


def test_tasks_and_judges_of_a_chapter_stand_by_themselves():
    """So that a change to one chapter makes no grade of another stale."""
    for path in [*ROOT.glob("course_tasks/ch*/**/*.py"), *ROOT.glob("course_judges/ch*/**/*.py")]:
        chapter = path.relative_to(ROOT).parts[1]
        named = re.findall(r"course_(?:tasks|judges)\.(ch\d\d_\w+)", path.read_text("utf-8"))
        assert set(named) <= {chapter}, f"{path} imports from another chapter"


@pytest.mark.parametrize(
    "module",
    ["course_lib", "course_lib.errors", "course_figures", "course_judges", "course_grader.cli"],
)
def test_importing_it_loads_neither_torch_nor_matplotlib(module):
    code = f"import sys, {module}; print(sorted({{'torch', 'matplotlib'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_grading_starts_its_processes_before_it_imports_what_takes_long():
    """They import torch meanwhile."""
    code = (
        "import sys, course_grader.batch\n"
        "print(sorted({'filelock', 'nbformat', 'nbgrader', 'sqlalchemy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_gradebook_brings_no_server_and_nothing_to_unpack_archives():
    code = (
        "import sys\n"
        "from course_grader.importing import NOT_FOR_A_GRADEBOOK, put_off\n"
        "for package in NOT_FOR_A_GRADEBOOK: put_off(package)\n"
        "import course_grader.gradebook.record\n"
        "print(sorted({'setuptools', 'jupyter_server', 'notebook'} & set(sys.modules)))\n"
        "from nbgrader.utils import parse_utc\n"  # put off, and there when it is asked for
        "print(parse_utc('2026-01-02 03:04:05 UTC').year)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "2026"]
