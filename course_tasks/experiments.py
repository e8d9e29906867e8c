"""An experiment in an assignment: predict, run, and write down what you saw.

The run takes seconds and needs the text, so it happens at the desk only. What is judged is the
numbers that were written down, which nothing but the run gives.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from course_lib.data import Corpus

Numbers: TypeAlias = Mapping[str, Any]
Study: TypeAlias = "Callable[[Corpus], Numbers]"


@dataclass(frozen=True)
class Outcome:
    """What was predicted, and what a run gave; a notebook shows it as a table.

    Attributes
    ----------
    predicted, observed : mapping of str to number or str
        The second holds the text's name and what the run returned; the first may hold less.
    """

    predicted: Numbers
    observed: Numbers

    def __str__(self) -> str:
        rows = [("", "predicted", "observed"), *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        return "\n".join(
            f"{name:<{widths[0]}}  {guess:>{widths[1]}}  {seen:>{widths[2]}}"
            for name, guess, seen in rows
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = "".join(
            "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>"
            for row in self._rows()
        )
        return f"<table><tr><th></th><th>predicted</th><th>observed</th></tr>{cells}</table>"

    def _rows(self) -> list[tuple[str, str, str]]:
        return [
            (name, _shown(self.predicted.get(name)), _shown(value))
            for name, value in self.observed.items()
        ]


@dataclass(frozen=True)
class NotRun:
    """What `experiment` gives where nothing is run, and why."""

    why: str

    def __str__(self) -> str:
        return self.why

    __repr__ = __str__


def experiment(study: Study, predicted: Callable[[], Numbers], text: str) -> Outcome | NotRun:
    """Run an experiment on a text, and show what it gives beside what was predicted.

    Parameters
    ----------
    study : callable (Corpus) -> mapping of str to number
        Runs, and returns what it measured.
    predicted : callable () -> mapping of str to number
        Asked first: a prediction comes before its experiment. It costs no points.
    text : str
        Which corpus, as `data.load` takes it; where it cannot be had, the play stands in.

    Returns
    -------
    Outcome or NotRun
        The second as long as one of the two functions is not written yet.
    """
    try:
        guesses = dict(predicted())
    except NotImplementedError:
        return NotRun("Write down your prediction first: fill `predicted` and run its cell.")
    from course_lib import data  # and with it torch, which whoever only asks needs not wait for

    try:
        corpus = data.load(text)
        seen = study(corpus)
    except NotImplementedError:
        return NotRun("The prediction is noted. Now fill `study` and run its cell, then this one.")
    return Outcome(guesses, {"text": corpus.name, **seen})


def experiment_elsewhere(
    study: Study,  # noqa: ARG001
    predicted: Callable[[], Numbers],  # noqa: ARG001
    text: str,  # noqa: ARG001
) -> NotRun:
    """Stands for `experiment` in a graded run."""
    return NotRun("Experiments are not run again for grading; the numbers that you noted count.")


def _shown(value: Any) -> str:
    if value is None or value is ...:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
