"""What 13/teacher asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, parts_of, whole
from course_tasks.probing import Inputs, Probe


def _inputs(rng: Rng) -> Inputs:
    B, alike = int(rng.integers(3, 5)), int(rng.integers(5, 7))
    start, end, pad = (int(n) for n in rng.permutation([40, 41, 42]))
    # Longer than the texts of one length are with their end, so that rows that are all filled up to
    # `longest` show it there, too; the single text fits exactly.
    longest = int(rng.integers(alike + 2, 10))
    # One text is as long as what fits with its end, one has a token too many, one is a lot longer,
    # and one has no token at all.
    lengths = {
        "alike": np.full(B, alike),
        "padded": rng.permutation(np.arange(2, 2 + B)),
        "cut": rng.permutation(np.array([0, longest - 1, longest, longest + 2, 5])[: B + 1]),
    }
    return _of(rng, lengths, longest, (start, end, pad))


def _one_text(rng: Rng) -> Inputs:
    """One text alone, of which two tokens are predicted; padding and end are one symbol."""
    start, end = (int(n) for n in rng.permutation([40, 41]))
    lengths = {"alike": np.array([1]), "padded": np.array([2]), "cut": np.array([3])}
    return _of(rng, lengths, 2, (start, end, end))


def _of(rng: Rng, lengths: dict[str, Array], longest: int, marks: tuple[int, int, int]) -> Inputs:
    start, end, pad = marks
    given = {name: count.astype(np.int64) for name, count in lengths.items()}
    given |= {f"{name}_tokens": rng.integers(1, 30, int(n.sum())) for name, n in lengths.items()}
    return given | {
        "start": whole(start),
        "end": whole(end),
        "pad": whole(pad),
        "longest": whole(longest),
    }


def _on(answer: Any, given: Inputs, name: str) -> Any:
    ends = np.cumsum(given[name])[:-1]
    texts = [part.tolist() for part in np.split(given[f"{name}_tokens"], ends)]
    marks = {mark: int(given[mark]) for mark in ("start", "end", "pad", "longest")}
    return parts_of(answer(texts, **marks), "x", "y")


PROBE = Probe(
    _inputs,
    {
        "alike": lambda answer, given: _on(answer, given, "alike"),
        "padded": lambda answer, given: _on(answer, given, "padded"),
        "cut": lambda answer, given: _on(answer, given, "cut"),
    },
    second=_one_text,
)
