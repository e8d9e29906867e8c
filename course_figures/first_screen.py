"""The first page's figure: a model learns to write, and a larger one goes on from there."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path

import numpy as np

from course_figures import still
from course_figures.base import Figure, computed
from course_figures.live_model import LiveModel
from course_figures.sampling import uniforms
from course_figures.training_run import TrainingRun, excerpt
from course_figures.traits import Number, Text

MARKUP = Path(__file__).resolve().parents[1] / "book" / "_assets" / "first_screen.html"
"""The figure for the first page; `course_figures.live_training` writes it."""

PROMPT = "ROMEO:\n"
MODEL = "four heads"
SHOWN = 150
"""Symbols of each of the two texts in the still picture."""


class FirstScreen(Figure):
    """Trains a small model when the page is opened, and lets the live model go on from there.

    What it says of the model that learns is measured in the page: its loss beside that of counted
    pairs, and how many words of its last sample are words of the play. Out of sight it rests; where
    the reader wants nothing to move, it waits for a button.

    Parameters
    ----------
    prompt : str
        What the live model goes on from, at most 60 symbols that it knows.
    seed : int
        Fixes the first weights, the windows and what is drawn.

    Raises
    ------
    UnknownSymbolError
        If the prompt holds a symbol that the live model does not know.
    """

    title = "A model learns to write"

    prompt = Text(PROMPT, most=60)
    seed = Number(1, 0, 2**31, whole=True)

    def check(self) -> None:
        """Refuse a prompt with a symbol that the live model does not know."""
        LiveModel(self.prompt)

    @computed
    def before(self) -> str:
        """What guessing writes: symbols of the play, each as likely as any other."""
        symbols = sorted(set(excerpt()["text"]))
        drawn = (uniforms(self.seed, SHOWN) * len(symbols)).astype(np.int64)
        return "".join(symbols[token] for token in drawn)

    @computed
    def after(self) -> str:
        """What the live model writes after the prompt."""
        return LiveModel(self.prompt, seed=self.seed).write(SHOWN)

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        lines = TrainingRun(model=MODEL).lines
        return (
            "Before and after learning. Before, a model guesses among all letters, with a loss of "
            f"{lines['guess']:.3f} nats; counting which letter follows which gives "
            f"{lines['counted']:.3f}, and a model of four heads {lines['reached']:.3f}. After, a "
            f"larger one writes: “{_line(self.after)}”"
        )

    def still(self) -> str:
        """Text before and after on the left, the three losses on the right."""
        lines = TrainingRun(model=MODEL).lines
        parts = []
        for top, heading, text in ((12, "before", self.before), (152, "after", self.after)):
            parts.append(still.text(0, top, heading, "start"))
            parts += [
                still.text(0, top + 24 + 20 * row, line, "start", 14)
                for row, line in enumerate(_lines(text))
            ]
        names = {"guess": "guessing", "counted": "counting pairs", "reached": "four heads"}
        parts.append(still.text(400, 12, "loss in nats", "start"))
        for row, (key, name) in enumerate(names.items()):
            y = 36 + 48 * row
            width = 200 * lines[key] / math.log(65)
            parts += [
                still.text(400, y, name, "start"),
                f'<rect x="400" y="{y + 10}" width="{width:g}" height="16" rx="2" '
                'fill-opacity="0.35"/>',
                still.text(400 + width + 6, y + 18, f"{lines[key]:.3f}", "start"),
            ]
        return still.picture(660, 280, self.alt, parts)


def _line(text: str) -> str:
    return " ".join(text.split())


def _lines(text: str) -> list[str]:
    """A text in up to five lines as long as the picture has room for."""
    return textwrap.wrap(_line(text), 42)[:5]
