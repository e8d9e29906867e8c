import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def notebook(tmp_path):
    """Writes a notebook of cells; each is (type, source) or (type, source, other keys)."""

    def write(*cells, name="draft.ipynb", **top):
        content = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
            **top,
            "cells": [_cell(number, *cell) for number, cell in enumerate(cells)],
        }
        path = tmp_path / name
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


def _cell(number, kind, source, extra=None):
    cell = {"id": f"cell-{number}", "cell_type": kind, "metadata": {}, "source": source}
    if kind == "code":
        cell |= {"outputs": [], "execution_count": None}
    return cell | (extra or {})


@pytest.fixture
def cells():
    """Reads the cells of a notebook file."""
    return lambda path: json.loads(path.read_text(encoding="utf-8"))["cells"]
