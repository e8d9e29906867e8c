"""How alike the programs of a class are: the distance of their syntax trees, as a hint and no more.

Names, numbers, texts, comments and layout don't count; what is compared are runs of kinds of
syntax, such as "a call within an assignment within a function". Two programs are alike in the share
of runs that both have. People who follow one chapter write alike, too, so nothing follows from a
hint: a person reads both programs and asks.

`python -m course_grader.likeness FILE…` compares notebooks in a process of its own, which what
somebody handed in may bring down without harm.
"""

from __future__ import annotations

import ast
import itertools
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# Kinds of syntax in a row. Fewer are the same in all programs, more are changed by every edit.
RUN = 6
# What is reported. Programs of the course's tests that were written apart share at most 0.3, and
# those that one change separates 0.9.
ALIKE = 0.7
MOST_CHARACTERS = 60_000
MOST_BYTES = 5_000_000
SECONDS = 120.0


@dataclass(frozen=True)
class Pair:
    """Two students whose programs are alike.

    Attributes
    ----------
    one, other : str
    share : float
        Of runs that both have, of those that any of them has.
    """

    one: str
    other: str
    share: float


def runs_of(source: str) -> frozenset[tuple[str, ...]]:
    """The runs of kinds of syntax in a program; none if it is no Python.

    >>> runs_of("a = [f(b) for b in c]") == runs_of("total = [g(x) for x in rows]  # other names")
    True
    """
    try:
        kinds = list(_kinds(ast.parse(source[:MOST_CHARACTERS])))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(zip(*(kinds[n:] for n in range(RUN)), strict=False))


def _kinds(tree: ast.AST) -> Iterator[str]:
    """The kinds of syntax of a program, in the order in which they stand there."""
    left = [tree]
    while left:
        node = left.pop()
        if not isinstance(node, ast.Load | ast.Store):
            yield type(node).__name__
        left.extend(reversed(list(ast.iter_child_nodes(node))))


def share(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """Of runs that both have, of those that any of them has: 0 to 1."""
    return len(one & other) / len(one | other) if one and other else 0.0


def compared(programs: Mapping[str, str], least: float = ALIKE) -> list[Pair]:
    """Pairs of programs that are alike, the most alike first.

    Parameters
    ----------
    programs : mapping of str to str
        Student to source.
    least : float
        The least share that is worth a look.
    """
    runs = {student: runs_of(source) for student, source in programs.items()}
    pairs = (
        Pair(one, other, share(runs[one], runs[other]))
        for one, other in itertools.combinations(sorted(runs), 2)
    )
    found = [pair for pair in pairs if pair.share >= least]
    return sorted(found, key=lambda pair: (-pair.share, pair.one, pair.other))


def of_class(paths: Mapping[str, Path]) -> tuple[list[Pair], str]:
    """Pairs of notebooks whose programs are alike.

    Parameters
    ----------
    paths : mapping of str to Path
        Student to notebook.

    Returns
    -------
    list of Pair
    str
        Why there are none, if they could not be compared; otherwise empty.
    """
    request = json.dumps({student: str(path) for student, path in paths.items()})
    try:
        done = subprocess.run(
            [sys.executable, "-m", "course_grader.likeness"],
            input=request,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [], f"comparing them took longer than {SECONDS:.0f} s"
    if done.returncode != 0:
        return [], f"comparing them stopped with exit code {done.returncode}"
    return [Pair(*row) for row in json.loads(done.stdout)], ""


def _program(path: Path) -> str:
    """The cells that a student writes in a notebook; empty if there is none that can be read."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return ""
        cells = json.loads(path.read_bytes())["cells"]
        return "\n".join(
            "".join(cell["source"])
            for cell in cells
            if cell["cell_type"] == "code"
            and not cell.get("metadata", {}).get("nbgrader", {}).get("locked", False)
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""  # the report says elsewhere that it could not be read


def _main(lines: Iterable[str]) -> None:
    paths = json.loads("".join(lines))
    programs = {student: _program(Path(path)) for student, path in paths.items()}
    found = compared({student: source for student, source in programs.items() if source})
    print(json.dumps([(pair.one, pair.other, pair.share) for pair in found]))


if __name__ == "__main__":
    _main(sys.stdin)
