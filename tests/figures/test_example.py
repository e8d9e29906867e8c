"""The example notebook: every cell runs, and every figure takes what a reader brings along."""

import ast
import json

import pytest
from reader import ROOT

import course_figures as figures
from course_figures.base import Figure

EXAMPLE = ROOT / "examples" / "figures.ipynb"


def run(cell, names):
    """What the last line of a cell gives, if it is an expression; the rest is run before it."""
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, cell["id"], "exec"), names)
    return eval(compile(ast.Expression(last.value), cell["id"], "eval"), names) if last else None


@pytest.mark.slow
def test_every_cell_of_the_example_runs_and_every_figure_is_among_what_it_shows():
    names, shown = {}, set()
    for cell in json.loads(EXAMPLE.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        value = run(cell, names)
        if isinstance(value, Figure):
            assert "cannot be shown" not in value._repr_mimebundle_()[0]["text/plain"]
            shown.add(type(value).__name__)
    assert shown == set(figures.MODULES)
