"""Imports run one way, and none runs before it is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_every_module_keeps_the_declared_contracts():
    """`pyproject.toml` says which package may import which; import-linter reads every module."""
    done = subprocess.run(
        ["lint-imports", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_contracts_cover_every_package_of_the_course():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for package in ROOT.glob("course_*/__init__.py"):
        assert f'"{package.parent.name}"' in settings.split("[tool.importlinter]")[1]


@pytest.mark.parametrize(
    "module",
    ["course_lib", "course_lib.errors", "course_figures", "course_judges", "course_grader.cli"],
)
def test_importing_it_loads_neither_torch_nor_matplotlib(module):
    code = f"import sys, {module}; print(sorted({{'torch', 'matplotlib'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
