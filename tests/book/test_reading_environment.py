"""The book is built with what the list for reading brings, without NumPy, PyTorch and the rest."""

import os
import subprocess
import sys

import pytest
from reader import ROOT

SCRIPT = """
import sys
from pathlib import Path

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numpy", "torch", "matplotlib", "nbgrader", "typer", "rich"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import python_pages
from course_figures import pages
from course_page import projects

pages.around(*projects.FIGURES, title=projects.TITLE)
print(*python_pages._data(Path(sys.argv[1]), ["python"]))
"""


@pytest.mark.slow
def test_what_pages_know_is_put_together_without_what_runs_in_them():
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "book" / "_ext")))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, ROOT],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert {"book", "chapter-05", "05-head"} <= set(done.stdout.split())
