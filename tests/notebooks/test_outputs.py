"""Stored outputs of chapters and solutions are what a run gives, and chapters run anywhere."""

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

pytestmark = pytest.mark.slow


def run(notebook, *options, environment=None):
    """One notebook under nbval, in a pytest of its own; fails with the end of what that says."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "COURSE_PROBE"))
    }
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "--tb=short", "--color=no"),
            *("-p", "no:cacheprovider", "-p", "no:xdist"),
            *("--nbval-kernel-name=python3", f"--nbval-cell-timeout={CELL_SECONDS}"),
            f"--nbval-sanitize-with={ROOT / 'tests' / 'notebooks' / 'sanitize.cfg'}",
            *options,
            str(notebook),
        ],
        cwd=ROOT,
        env=clean | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        name = notebook.relative_to(ROOT)
        pytest.fail(f"{name}:\n{done.stdout[-6000:]}{done.stderr[-1000:]}", pytrace=False)


def named(paths):
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


def test_there_are_chapters_and_solutions():
    assert CHAPTERS
    assert SOLUTIONS


@pytest.mark.parametrize("notebook", named(CHAPTERS + SOLUTIONS))
def test_stored_outputs_are_what_a_run_gives(notebook):
    missing = [name for name in SOURCES if find(name) is None]
    if missing:
        pytest.skip(
            f"{' and '.join(missing)}: not on this machine, so outputs cannot be compared; "
            "set COURSE_DATA or run `course data`. The run on the play is tested"
        )
    run(notebook, "--nbval")


READS_CORPORA = [path for path in SOLUTIONS if "load(" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("notebook", named(CHAPTERS + READS_CORPORA))
def test_every_assertion_holds_on_the_play_without_data_and_without_a_network(notebook, tmp_path):
    closed = dict.fromkeys(
        [f"{scheme}_proxy" for scheme in ("http", "https", "all")]
        + [f"{scheme}_PROXY" for scheme in ("HTTP", "HTTPS", "ALL")],
        NO_ROUTE,
    )
    nowhere = {
        "COURSE_DATA": "",
        "COURSE_CACHE": str(tmp_path / "cache"),
        "no_proxy": "127.0.0.1,localhost",
        "NO_PROXY": "127.0.0.1,localhost",
    }
    run(notebook, "--nbval-lax", environment=closed | nowhere)
