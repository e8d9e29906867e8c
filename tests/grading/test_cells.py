"""What a cell is made into before it runs."""

import pytest
from IPython.core.async_helpers import _should_be_async
from IPython.core.inputtransformer2 import TransformerManager

from course_tasks.runner.cells import CellTransformers, passing_shell

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


WAITING = (
    "import asyncio\nawait asyncio.sleep(0)",
    "async with lock:\n    pass",
    "[x async for x in them]",
    "async def later():\n    await asyncio.sleep(0)",
    "awaited = 'await'",
    "awaited =",
    "\N{MATHEMATICAL BOLD SMALL A}wait f()",  # a name's letter, but none of a keyword's
    "x = 1",
    "",
)


@pytest.mark.parametrize("source", WAITING)
def test_cell_waits_where_ipython_says_so(source):
    shell = passing_shell()
    assert shell.should_run_async(source, transformed_cell=source) == _should_be_async(source)
