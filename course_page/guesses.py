"""Boxes that ask for a guess before a result is shown: what may be chosen, and what is right.

A box is a quote in a cell of text that begins with **Guess first:**. Its choices are a list at its
end, so that it reads in JupyterLab as it does on paper, and which of them is right stands in the
cell's metadata, where nobody reads it by accident::

    "course": {"guess": {"right": 2}}

A box without a list asks for a number, with how far off a guess may be, and its unit, if any::

    "course": {"guess": {"number": 13, "within": 5, "unit": "%"}}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_page.errors import PageError

KEY = "guess"
"""Under `course` in the metadata of a cell with a box."""

LABEL = "Guess first:"
"""What a box begins with, in bold."""

MOST_CHOICES = 4

_BOX = re.compile(r"^> \*\*" + re.escape(LABEL) + r"\*\*.*(?:\n>.*)*", re.MULTILINE)
_GLUED = "application/papermill.record/"


@dataclass(frozen=True)
class Guess:
    """A box, and what stays folded until somebody has guessed.

    Attributes
    ----------
    cell : str
        The id of the cell that holds the box.
    choices : tuple of str
        As they are written, in Markdown; empty if a number is asked for.
    right : int
        Which choice is right, from 1; 0 if a number is asked for.
    number, within : float
        The number, and how far from it a guess is still right.
    unit : str
        What stands behind the number.
    shown_by : tuple of int
        Cells of code whose outputs answer the question, by their place in the notebook: all from
        the box to the first text that follows an output.
    """

    cell: str
    choices: tuple[str, ...]
    right: int
    number: float
    within: float
    unit: str
    shown_by: tuple[int, ...]


def of_notebook(notebook: Mapping[str, Any]) -> tuple[Guess, ...]:
    """The boxes of a notebook, in their order.

    Parameters
    ----------
    notebook : mapping
        The notebook's JSON.

    Raises
    ------
    PageError
        If a box does not say what is right, or cannot: it names the cell.
    """
    cells = notebook["cells"]
    found = []
    for at, cell in enumerate(cells):
        boxes = _BOX.findall(_text(cell)) if cell["cell_type"] == "markdown" else []
        about = cell["metadata"].get("course", {}).get(KEY)
        if len(boxes) != (about is not None):
            raise PageError(
                f"cell {cell['id']} holds {len(boxes)} boxes with **{LABEL}** and "
                f"{'one' if about is not None else 'no'} `{KEY}` in its metadata: "
                "a cell has one of each, or none"
            )
        if boxes:
            found.append(_guess(cell["id"], boxes[0], about, _shown_by(cells, at)))
    return tuple(found)


def _guess(cell: str, box: str, about: Mapping[str, Any], shown_by: Sequence[int]) -> Guess:
    lines = [line.removeprefix(">").strip() for line in box.splitlines()]
    choices = tuple(line.removeprefix("- ") for line in lines if line.startswith("- "))
    if not shown_by:
        raise PageError(f"cell {cell} asks for a guess, and no output below answers it")
    if choices:
        right: int = about.get("right", 0)
        if not 2 <= len(choices) <= MOST_CHOICES or right not in range(1, len(choices) + 1):
            raise PageError(
                f"cell {cell} has {len(choices)} choices, of which {right} is right: "
                f"give 2 to {MOST_CHOICES}, and the right one's number from 1"
            )
        return Guess(cell, choices, right, 0.0, 0.0, "", tuple(shown_by))
    if not {"number", "within"} <= about.keys() <= {"number", "within", "unit"}:
        raise PageError(
            f"cell {cell} lists no choices, so its metadata need `number` and `within`, "
            f"and may have `unit`: {dict(about)}"
        )
    number, within = about["number"], about["within"]
    return Guess(cell, (), 0, number, within, about.get("unit", ""), tuple(shown_by))


def _shown_by(cells: Sequence[Mapping[str, Any]], box: int) -> list[int]:
    found: list[int] = []
    for at in range(box + 1, len(cells)):
        if cells[at]["cell_type"] == "markdown":
            if found:
                break
        elif _shows(cells[at]):
            found.append(at)
    return found


def _shows(cell: Mapping[str, Any]) -> bool:
    """Whether a reader sees an output of a cell: it is not hidden, nor only glued elsewhere."""
    if cell["cell_type"] != "code" or "remove-output" in cell["metadata"].get("tags", ()):
        return False
    return any(
        "text" in output or any(not kind.startswith(_GLUED) for kind in output.get("data", ()))
        for output in cell["outputs"]
    )


def _text(cell: Mapping[str, Any]) -> str:
    return "".join(cell["source"])
