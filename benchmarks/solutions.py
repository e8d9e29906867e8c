"""The solution of every task, as its notebook has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course_grader import assignment, release_inspection
from course_judges.edits.operators import Mutant

ROOT = Path(__file__).parents[1]
BEGIN, END = f"### {release_inspection.BEGIN}", f"### {release_inspection.END}"


@dataclass(frozen=True)
class Solved:
    """A task's solution, as its notebook has it.

    Attributes
    ----------
    task : str
    name : str
        Of the function or class that is checked.
    before : str
        The notebook's code above it, without checks.
    source : str
        The cell.
    lines : range
        Of the cell, between the marks of the solution.
    """

    task: str
    name: str
    before: str
    source: str
    lines: range

    def line(self, mutant: Mutant) -> str:
        """The line that a mutant changes, without blanks at its ends."""
        return self.source.splitlines()[mutant.line - 1].strip()


def solutions(folder: Path = ROOT / "solutions") -> Iterator[Solved]:
    """The solution of every task, in the order of chapters."""
    for path in sorted(folder.glob("[!.]*/*.ipynb")):
        notebook = assignment.read(path)
        cells = assignment.Assignment.of(notebook)
        for asked in cells.checks:
            solved = cells.answer_to(asked)
            if solved is None or asked.task is None or asked.answer is None:
                continue  # `course release` refuses such a notebook, and says why
            before = [
                cell.source
                for cell in notebook.cells[: solved.number - 1]
                if cell.cell_type == "code" and not assignment.called_check(cell.source)
            ]
            yield Solved(
                asked.task,
                asked.answer,
                "\n".join(before),
                solved.source,
                _solution_lines(solved.source),
            )


def _solution_lines(source: str) -> range:
    lines = source.splitlines()
    marks = [n for n, line in enumerate(lines, 1) if line.strip() in (BEGIN, END)]
    return range(min(marks, default=1), max(marks, default=len(lines)) + 1)
