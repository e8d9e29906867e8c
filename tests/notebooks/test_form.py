"""Notebooks are stored in one form, and what may differ between machines is vouched for."""

import ast
import json
import re
from pathlib import Path

import nbformat
import pytest

from course_grader.notebook_form import machine_paths, normalize

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "book").glob("*.ipynb"))
SOLUTIONS = sorted((ROOT / "solutions").glob("[!.]*/*.ipynb"))
EXERCISES = sorted((ROOT / "exercises").glob("[!.]*/*.ipynb"))

IGNORED, ASSERTION = "nbval-ignore-output", "assertion"

# What an experiment gives is checked by its judge. How far a training of some seconds comes depends
# on the machine, and so does whether a check is told to take long: `tests/tasks/test_my_gpt.py`
# says that the solution is the judge's own program, which is tried for as many steps everywhere.
VOUCHED_FOR_ELSEWHERE = {"run-experiment", "project-04", "project-07", "project-10"}
CLOCKS = {"perf_counter", "perf_counter_ns", "monotonic", "process_time", "timeit", "time_ns"}


def named(paths):
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


def code_cells(path):
    """Number and cell of every code cell."""
    cells = nbformat.read(path, as_version=4).cells
    return [(number, cell) for number, cell in enumerate(cells, 1) if cell.cell_type == "code"]


def tags(cell):
    return set(cell.metadata.get("tags", []))


@pytest.mark.parametrize("path", named(CHAPTERS + SOLUTIONS + EXERCISES))
def test_notebook_is_normal_and_shows_no_path_of_a_machine(path):
    assert not normalize(path, check=True), "to fix it: make format"
    assert machine_paths(path) == []


@pytest.mark.parametrize("path", named(CHAPTERS + SOLUTIONS))
def test_notebook_is_stored_as_from_one_clean_run(path):
    ran = [cell.execution_count for _, cell in code_cells(path) if cell.source.strip()]
    assert ran == list(range(1, len(ran) + 1))
    for number, cell in code_cells(path):
        errors = [o.ename for o in cell.outputs if o.output_type == "error"]
        assert not errors or "raises-exception" in tags(cell), f"cell {number}: {errors}"
        noise = [o.text for o in cell.outputs if o.get("name") == "stderr"]
        assert not noise, f"cell {number} writes on stderr: {noise}"


@pytest.mark.parametrize("path", named(CHAPTERS + SOLUTIONS))
def test_output_that_may_differ_is_followed_by_an_assertion(path):
    cells = code_cells(path)
    for (number, cell), following in zip(cells, [*cells[1:], None], strict=True):
        if IGNORED not in tags(cell) or cell.id in VOUCHED_FOR_ELSEWHERE:
            continue
        assert following is not None, f"cell {number} is ignored, and no cell vouches for it"
        asserting, next_cell = following
        where = f"cell {asserting}, which vouches for cell {number},"
        assert ASSERTION in tags(next_cell), f"{where} is not tagged {ASSERTION!r}"
        asserts = [n for n in ast.walk(ast.parse(next_cell.source)) if isinstance(n, ast.Assert)]
        assert asserts, f"{where} asserts nothing"
        assert not any(isinstance(n.test, ast.Constant) for n in asserts), f"{where} is empty"


@pytest.mark.parametrize("path", named(CHAPTERS))
def test_cell_that_asserts_is_folded_with_the_checks(path):
    for number, cell in code_cells(path):
        if any(isinstance(node, ast.Assert) for node in ast.parse(cell.source).body):
            missing = {ASSERTION, "hide-input"} - tags(cell)
            assert not missing, f"cell {number} asserts, and is not tagged {sorted(missing)}"


@pytest.mark.parametrize("path", named(CHAPTERS + SOLUTIONS))
def test_cell_that_reads_a_clock_and_shows_it_is_ignored(path):
    for number, cell in code_cells(path):
        if cell.source.lstrip().startswith("%") or "%time" in cell.source:
            assert IGNORED in tags(cell), f"cell {number} shows times"
            continue
        names = {
            node.attr if isinstance(node, ast.Attribute) else node.id
            for node in ast.walk(ast.parse(cell.source))
            if isinstance(node, ast.Attribute | ast.Name)
        }
        if names & CLOCKS and cell.outputs:
            assert IGNORED in tags(cell), f"cell {number} shows times"


def glued(path):
    """Name and number of every value that prose takes from the run, with two decimals or more."""
    for _, cell in code_cells(path):
        for output in cell.outputs:
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            for kind, text in output.get("data", {}).items():
                if name and kind.endswith("text/plain"):
                    found = re.fullmatch(r"'?([−-]?\d+\.\d{2,})'?", "".join(text))
                    if found:
                        yield name, found.group(1)


@pytest.mark.parametrize("path", named(CHAPTERS))
def test_number_that_the_run_gives_is_not_typed_into_the_prose(path):
    values = {number: name for name, number in glued(path)}
    for place, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1):
        if cell["cell_type"] != "markdown":
            continue
        prose = re.sub(r"(?s)```.*?```|\$\$.*?\$\$|`[^`]*`|\$[^$]*\$", "", "".join(cell["source"]))
        for number in re.findall(r"(?<![\d.,])\d+\.\d{2,}(?![\d.])", prose):
            assert number not in values, (
                f"cell {place} types {number}, which the run gives: "
                f"write {{glue:text}}`{values.get(number)}`"
            )
