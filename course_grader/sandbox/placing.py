"""Where each check of a submission is asked: behind the last cell that answers it.

Students copy cells, write below a scaffold that they leave empty, or hand in a notebook that some
program has doubled. Whichever cell they wrote in, what it defines is asked. That gains nothing for
whoever plays with cells: points come from what the definition returns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from course_grader.cell_source import Bindings, bindings, is_as_released

if TYPE_CHECKING:
    from course_grader.assignment import Check


class Step(Protocol):
    """What is read of a step of `sanitize`, which imports this module."""

    @property
    def kind(self) -> str:
        """What the runner does with it."""

    @property
    def source(self) -> str:
        """Its code."""


@dataclass(frozen=True)
class Places:
    """Where a notebook gives a name a meaning, as places among its steps.

    Attributes
    ----------
    filled : tuple of int
        Cells that define it, and are not as they were released.
    scaffolds : tuple of int
        Cells that define it as they were released, or only raise NotImplementedError.
    overwriting : tuple of int
        Cells that put a result of the function in its place.
    """

    filled: tuple[int, ...]
    scaffolds: tuple[int, ...]
    overwriting: tuple[int, ...]

    @property
    def defining(self) -> tuple[int, ...]:
        """Cells that define it, filled or not."""
        return tuple(sorted(self.filled + self.scaffolds))

    def after(self, place: int) -> int | None:
        """The next cell behind a place that gives the name another meaning."""
        later = [each for each in (*self.defining, *self.overwriting) if each > place]
        return min(later, default=None)


class Definitions:
    """What cells define; each is parsed once, and only if the name that is looked for is in it.

    Parameters
    ----------
    released : collection of str
        Sources of the released cells in which students write.
    """

    def __init__(self, released: Collection[str]):
        self._released = released
        self._known: dict[str, Bindings] = {}
        self._as_released: dict[str, bool] = {}

    def places(self, steps: Sequence[Step], name: str) -> Places:
        """Where the cells define and overwrite a name."""
        filled: list[int] = []
        scaffolds: list[int] = []
        overwriting: list[int] = []
        for place, step in enumerate(steps):
            # Python takes some other letters for those of a name.
            if (
                not name
                or step.kind != "code"
                or (name not in step.source and step.source.isascii())
            ):
                continue
            found = self._of(step.source)
            if name in found.defined:
                empty = name in found.unwritten or self._empty(step.source)
                (scaffolds if empty else filled).append(place)
            elif name in found.overwritten:
                overwriting.append(place)
        return Places(tuple(filled), tuple(scaffolds), tuple(overwriting))

    def _of(self, source: str) -> Bindings:
        if source not in self._known:
            self._known[source] = bindings(source)
        return self._known[source]

    def _empty(self, source: str) -> bool:
        if source not in self._as_released:
            self._as_released[source] = is_as_released(source, self._released)
        return self._as_released[source]


@dataclass(frozen=True)
class Placed:
    """Where a check is asked.

    Attributes
    ----------
    place : int
        Before which step it is asked, all of the student's counted.
    note : str
        What the student should know of it; empty if it is asked where it stood.
    another : bool
        Whether it asks another filled definition than the one that stood above it.
    """

    place: int
    note: str = ""
    another: bool = False


def placed(
    check: Check, steps: Sequence[Step], copies: Sequence[int], own: Sequence[bool], where: Places
) -> Placed:
    """Find the place for a check.

    Parameters
    ----------
    check : Check
    steps : sequence of Step
        All of the student's, with every copy of every check.
    copies : sequence of int
        Places of this check's copies.
    own : sequence of bool
        Which of the steps are the student's own, and were never released.
    where : Places
        Of what the check asks for.
    """
    first = copies[0] if copies else None
    known = where.filled or where.scaffolds
    if not known:
        return Placed(len(steps) if first is None else first)
    last = known[-1]
    end = where.after(last)
    fitting = [each for each in copies if last < each and (end is None or each < end)]
    if not where.filled and first is not None and first > known[0]:
        return Placed(first)
    if fitting:
        return Placed(fitting[0])
    place = last + 1
    # What the student wrote right below belongs to the answer: a function that it calls, perhaps.
    while place < (len(steps) if end is None else end) and own[place]:
        place += 1
    if first is None:
        return Placed(place)
    another = first < last and any(each < first for each in where.filled)
    return Placed(place, _why_moved(check, first, last, where, another), another)


def _why_moved(check: Check, first: int, last: int, where: Places, another: bool) -> str:
    name = f"the check `{check.grade_id}`"
    if another:
        return (
            f"{len(where.filled)} cells define `{check.answer}`; the last one counts, so {name} "
            "was run below it"
        )
    if first < last:
        return f"{name} stood above its answer; it was run below it"
    if where.after(last) in where.overwriting:
        return (
            f"below its definition, a cell overwrites `{check.answer}` with what it returned; "
            f"{name} was run before that cell"
        )
    return (
        f"between the answer and {name}, a cell that is still to be filled defines "
        f"`{check.answer}` again; the check was run before that cell"
    )
