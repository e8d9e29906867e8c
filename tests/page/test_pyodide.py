"""In Pyodide, whose indices have 32 bits, answers get the verdicts that they get elsewhere."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from course_page import archive, runtime
from course_page.errors import RuntimeMissingError

TESTS = Path(__file__).parents[1]

# The tasks that count draws, index by what they computed, or keep small integers.
SAMPLE = (
    "04:0:sample,probabilities:1",
    "05:0:scores,weights:2",
    "08:0:generate:1",
    "12:0:quantize:1",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What a page loads, in one folder."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed, which runs Pyodide outside a browser")
    try:
        parts = runtime.fetch(quiet=True)
    except RuntimeMissingError as error:
        pytest.skip(f"what runs Python in a page cannot be had: {error}")
    place = tmp_path_factory.mktemp("pyodide")
    for name, path in parts.items():
        shutil.copy(path, place / name)
    (place / "pyodide-lock.json").write_bytes(runtime.lock())
    (place / "course.zip").write_bytes(archive.build())
    return place


@pytest.fixture(scope="module")
def rows(folder):
    """What Pyodide says, a row for each answer and one on products of matrices."""
    script = Path(__file__).with_name("in_pyodide.cjs")
    done = subprocess.run(
        ["node", script, folder, TESTS, *SAMPLE, "products.py"],
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


@pytest.mark.slow
def test_products_of_matrices_by_the_kernel_are_right_to_the_last_digits(rows):
    (found,) = (row for row in rows if "kernel" in row)
    assert found["kernel"]
    assert found["calls"] == 1
    assert len(found["worst"]) == 6
    assert max(found["worst"].values()) < 2e-6


@pytest.mark.slow
def test_answers_get_the_same_verdicts_in_pyodide(rows):
    rows = [row for row in rows if "kernel" not in row]
    assert {row["task"] for row in rows} == {
        "04/sample",
        "04/probabilities",
        "05/scores",
        "05/weights",
        "08/generate",
        "12/quantize",
    }
    for row in rows:
        assert "failed" not in row, row
        if row["kind"] == "right":
            assert row["points"] == row["out_of"], row["text"]
        else:
            assert row["finding"] == row["name"], row["text"]
