"""Run below a chapter's cells: which carry it, and that each gives what the chapter shows."""

import json

import pytest
from reader import ROOT

from course_page import runs

CHAPTERS = sorted(path.stem for path in (ROOT / "book").glob("[01][0-9]-*.ipynb"))
LEAST = 100
"""Cells of all chapters that carry Run; 177 did when it came."""

IN_A_PAGE = """
import json, sys
from course_lib.data import fetching
from course_page import session
fetching._transfer = lambda source: fetching.Attempt(source.url, "not asked, as in a page")
for before, source in json.load(sys.stdin):
    print(session.run(json.dumps({"before": before, "source": source, "quiet": True})))
"""


def notebook(chapter):
    return json.loads((ROOT / "book" / f"{chapter}.ipynb").read_text(encoding="utf-8"))


def shown(cell):
    """What a chapter shows below a cell, as text."""
    parts = [
        one["text"] if one["output_type"] == "stream" else one["data"].get("text/plain", "")
        for one in cell["outputs"]
    ]
    return "".join("".join(part) for part in parts).strip()


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_cell_that_carries_run_gives_what_the_chapter_shows(in_page, chapter):
    found = runs.of_chapter(notebook(chapter))
    asked = json.dumps([[["\n".join(one.imports), *one.before], one.source] for one in found])
    done = in_page("-c", IN_A_PAGE, typed=asked, timeout=580)
    assert done.returncode == 0, done.stderr[-2000:]
    cells = {cell["id"]: cell for cell in notebook(chapter)["cells"]}
    for run, line in zip(found, done.stdout.splitlines(), strict=True):
        given, cell = json.loads(line), cells[run.cell]
        assert given["error"] is None, (run.source, given["error"])
        tags = cell["metadata"].get("tags", [])
        if run.seeded and not run.loads and "nbval-ignore-output" not in tags:
            assert (given["stdout"] + (given["result"] or "")).strip() == shown(cell)


@pytest.mark.slow
def test_many_cells_carry_it():
    count = {chapter: len(runs.of_chapter(notebook(chapter))) for chapter in CHAPTERS}
    assert sum(count.values()) >= LEAST, count
    assert all(count[chapter] for chapter in CHAPTERS if not chapter.startswith("10")), count


def cell(source, **metadata):
    return {"cell_type": "code", "id": source, "source": source, "metadata": metadata}


def carried(*cells):
    """What is run for each cell that carries Run."""
    found = runs.of_chapter(
        {"cells": [one if isinstance(one, dict) else cell(one) for one in cells]}
    )
    return {one.cell: [*one.imports, *one.before] for one in found}


IMPORTS = "import math\nimport torch\nfrom course_lib import data, plots\nfrom myst_nb import glue"
TRAINS = "def train(model):\n    torch.optim.SGD(model.parameters()).step()"


def test_what_a_cell_needs_is_run_first_and_no_more():
    found = carried(
        IMPORTS, "a = torch.ones(2)", "b = 3", "def twice(x):\n    return x * b", "twice(a)"
    )
    assert found["twice(a)"] == [
        "import torch",
        "a = torch.ones(2)",
        "b = 3",
        "def twice(x):\n    return x * b",
    ]


def test_the_last_value_of_a_name_counts_and_what_was_changed_since():
    found = carried("a = [1]", "a = [2]", "a.append(3)", "print(len('x'))", "a")
    assert found["a"] == ["a = [2]", "a.append(3)"]
    assert (
        carried("for k in range(3):\n    print(k)", "[k for k in range(2)]")[
            "[k for k in range(2)]"
        ]
        == []
    )


def test_random_numbers_begin_where_the_chapter_begins_them():
    found = carried(IMPORTS, "torch.manual_seed(1)", "x = torch.rand(2)", "print(x)")
    assert found["print(x)"] == ["import torch", "torch.manual_seed(1)", "x = torch.rand(2)"]


@pytest.mark.parametrize(
    "cells",
    [
        ["model = torch.nn.Linear(1, 1)", TRAINS, "train(model)", "print(model.weight)"],
        ["from pathlib import Path", "text = Path('x').read_text()", "len(text)"],
        ["glue('a', 1)"],
        ["from course_lib import jax_model", "jax_model.GPT"],
        ["import time", "time.perf_counter()"],
        ["print(of_a_hidden_cell)"],
    ],
    ids=["trains", "reads a file", "not in a page", "JAX", "a clock", "unknown"],
)
def test_a_cell_that_a_page_cannot_run_carries_nothing(cells):
    assert cells[-1] not in carried(IMPORTS, *cells)


def test_imports_and_definitions_alone_carry_nothing_and_a_cell_may_refuse():
    refuses = cell("1 + 1", course={"run": False})
    tests = cell("2 + 2", tags=["assertion"])
    assert carried(IMPORTS, "def f():\n    pass", refuses, tests, "3 + 3") == {"3 + 3": []}
