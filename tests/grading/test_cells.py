"""What a cell is made into before it runs."""

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from course_tasks.runner.cells import CellTransformers

CELLS = (
    "x = 1",
    "",
    "\n\n  x = 1\n  y = 2\n",
    ">>> x = 1\n>>> x + 1",
    "In [1]: x = 1",
    "%time x = 1",
    "%%time\nx = 1\n",
    "x = %time 3",
    "files = !ls",
    "!ls",
    "x?",
    "if x:\n    %time y()\n",
    "if x:\n    !ls\n",
    ",print a b",
    "    ;print a b",
    "/print 1, 2",
    "x = (1\n, 2)",
    "print('100 %!?')\nx = 7 % 2 // 3",
    "def f(x):\n    '''Text\n\n    ; of lines'''\n    return x\n",
)


@pytest.mark.parametrize("source", CELLS)
def test_cell_is_made_into_what_ipython_makes_of_it(source):
    manager = CellTransformers()
    assert manager.transform_cell(source) == TransformerManager().transform_cell(source)


def test_what_a_notebook_adds_of_its_own_is_asked():
    manager = CellTransformers()
    asked = []

    class Own:
        priority = 1

        def __init__(self, at):
            self.start_line, self.start_col = at, 0

        @classmethod
        def find(cls, lines):
            asked.append(lines)

    manager.token_transformers.append(Own)
    manager.transform_cell("x = 1")
    assert asked
