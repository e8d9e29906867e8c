"""Stored outputs of chapters and solutions are what a run gives, and chapters run anywhere: without
a network, and without data.

`tests/selection/families.py` says which of them `make test` runs.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.data import SOURCES, find

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "book").glob("*.ipynb"))
SOLUTIONS = sorted((ROOT / "solutions").glob("[!.]*/*.ipynb"))
CELL_SECONDS = 300

# A port on which nothing listens: whoever asks for the network is refused at once.
NO_ROUTE = "http://127.0.0.1:9"
NO_NETWORK = {
    **{f"{scheme}_proxy": NO_ROUTE for scheme in ("http", "https", "all")},
    **{f"{scheme}_PROXY": NO_ROUTE for scheme in ("HTTP", "HTTPS", "ALL")},
    "no_proxy": "127.0.0.1,localhost",
    "NO_PROXY": "127.0.0.1,localhost",
}

pytestmark = pytest.mark.slow


def run(notebook, *options, environment=None):
    """One notebook under nbval, in a pytest of its own and without a network; fails with the end of
    what that says.
    """
    # Without what these tests set for themselves. JAX compiles anew, as a chapter shows.
    ours = ("PYTEST_", "JAX_COMPILATION_", "JAX_PERSISTENT_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    clean["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # all others take a second
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "--tb=short", "--color=no"),
            *("-p", "nbval.plugin", "-p", "tests.notebooks.glued_numbers"),
            *("-p", "pytest_timeout", "-p", "no:cacheprovider"),
            *("--nbval-kernel-name=python3", f"--nbval-cell-timeout={CELL_SECONDS}"),
            f"--nbval-sanitize-with={ROOT / 'tests' / 'notebooks' / 'sanitize.cfg'}",
            *options,
            str(notebook),
        ],
        cwd=ROOT,
        env=clean | NO_NETWORK | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        name = notebook.relative_to(ROOT) if notebook.is_relative_to(ROOT) else notebook
        pytest.fail(f"{name}:\n{done.stdout[-6000:]}{done.stderr[-1000:]}", pytrace=False)


def named(paths):
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


NOTEBOOKS = CHAPTERS + SOLUTIONS
MISSING = [name for name in SOURCES if find(name) is None]

# The others read no corpus: a run without data is the run that compares their outputs.
READ_A_CORPUS = [path for path in NOTEBOOKS if "load(" in path.read_text(encoding="utf-8")]


def test_there_are_chapters_and_solutions_and_some_read_a_corpus():
    assert CHAPTERS
    assert SOLUTIONS
    assert READ_A_CORPUS


@pytest.mark.parametrize("notebook", named(NOTEBOOKS))
def test_stored_outputs_are_what_a_run_gives(notebook):
    if MISSING and notebook in READ_A_CORPUS:
        pytest.skip(
            f"{' and '.join(MISSING)}: not on this machine, so outputs cannot be compared; "
            "set COURSE_DATA or run `course data`. The run on the play is tested"
        )
    run(notebook, "--nbval")


@pytest.mark.parametrize("notebook", named(READ_A_CORPUS))
def test_every_assertion_holds_on_the_play_without_data(notebook, tmp_path):
    nowhere = {"COURSE_DATA": "", "COURSE_CACHE": str(tmp_path / "cache")}
    run(notebook, "--nbval-lax", environment=nowhere)
