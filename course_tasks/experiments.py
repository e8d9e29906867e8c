"""An experiment in an assignment: predict, run, and write down what you saw.

The run takes seconds and needs the text, so it only happens at the desk. The numbers that were
written down are judged, since only the run gives them.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never, TypeAlias

from course_tasks.errors import ComputedNumbersError

if TYPE_CHECKING:
    from course_lib.data import Corpus

Numbers: TypeAlias = Mapping[str, Any]
Study: TypeAlias = "Callable[[Corpus], Numbers]"


class Observed(dict[str, Any]):
    """What a run gave; a check knows by this class that no graded run will have it."""


@dataclass(frozen=True)
class Outcome:
    """What was predicted and what a run gave; a notebook shows them as a table.

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
    """What `experiment` returns if nothing is run, with the reason."""

    why: str

    def __str__(self) -> str:
        return self.why

    __repr__ = __str__

    @property
    def observed(self) -> Never:
        """Nothing was.

        Raises
        ------
        ComputedNumbersError
            Says what to do instead.
        """
        raise ComputedNumbersError(self.why)

    predicted = observed


NOT_RUN_AGAIN = NotRun(
    "Experiments are not run again for grading. The numbers that you noted count."
)


def experiment(study: Study, predicted: Callable[[], Numbers], text: str) -> Outcome | NotRun:
    """Run an experiment on a text, and show its results beside the predictions.

    Parameters
    ----------
    study : callable (Corpus) -> mapping of str to number
        Runs, and returns what it measured.
    predicted : callable () -> mapping of str to number
        Asked first, since a prediction comes before its experiment. It costs no points.
    text : str
        Which corpus, as `data.load` takes it; if it is not available, the play is used instead.

    Returns
    -------
    Outcome or NotRun
        A `NotRun` as long as one of the two functions is not written yet.
    """
    try:
        guesses = dict(predicted())
    except NotImplementedError:
        return NotRun("Write down your prediction first: fill `predicted` and run its cell.")
    from course_lib import data  # not above, because it takes torch with it

    try:
        corpus = data.load(text)
        seen = study(corpus)
    except NotImplementedError:
        return NotRun("Your prediction is noted. Now fill `study`, run its cell, then this one.")
    return Outcome(guesses, Observed({"text": corpus.name, **seen}))


def experiment_elsewhere(
    study: Study,  # noqa: ARG001
    predicted: Callable[[], Numbers],  # noqa: ARG001
    text: str,  # noqa: ARG001
) -> NotRun:
    """Replaces `experiment` in a graded run."""
    return NOT_RUN_AGAIN


def _shown(value: Any) -> str:
    if value is None or value is ...:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
