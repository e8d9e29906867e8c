"""Imports run one way, and none runs before it is needed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parents[2] / "course_lib"

# What must not be imported, not even inside a function, by a part of the library.
FORBIDDEN = {
    "errors": {""},
    "model": {"data", "training", "sampling", "plots", "tasks", "grading", "publishing"},
    "data": {"training", "sampling", "plots", "tasks", "grading", "publishing"},
    "training": {"tasks", "grading", "publishing"},
    "sampling": {"tasks", "grading", "publishing"},
    "plots": {"tasks", "grading", "publishing"},
    "tasks": {"grading", "publishing"},
}


def part_of(path):
    """ "data" for course_lib/data/corpora.py, "model" for course_lib/model.py."""
    return path.relative_to(LIBRARY).parts[0].removesuffix(".py")


def imported_parts(path):
    """Parts of the library that a module names in any import, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are written in full"
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for module in modules:
            first, *rest = module.split(".")
            if first == "course_lib":
                yield (rest[0] if rest else ""), node.lineno


MODULES = sorted(LIBRARY.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(LIBRARY)))
def test_module_imports_only_what_is_below_it(path):
    part = part_of(path)
    for imported, line in imported_parts(path):
        where = f"{path.relative_to(LIBRARY.parent)}:{line} imports course_lib.{imported}"
        assert imported not in FORBIDDEN.get(part, set()), where
        assert imported != "cli", f"{where}: nothing imports the command"


def test_every_part_with_a_rule_is_there():
    assert set(FORBIDDEN) <= {part_of(path) for path in MODULES}


@pytest.mark.parametrize("module", ["course_lib", "course_lib.errors", "course_grader.cli"])
def test_importing_it_loads_neither_torch_nor_matplotlib(module):
    code = f"import sys, {module}; print(sorted({{'torch', 'matplotlib'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
