"""A model that learns in the page: its loss, what it writes, and what its heads look at."""

from __future__ import annotations

import base64
import functools
import json
import math
import zlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from course_figures import sources, still
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.traits import Choice, Number, Text

MODELS = ("bigram", "one head", "four heads", "one block", "four blocks")

PUBLISHED: Mapping[str, float] = MappingProxyType(
    {"bigram": 2.50, "one head": 2.409, "four heads": 2.239, "four blocks": 2.009}
)
"""Losses on Tiny Shakespeare that the book compares itself with; see its page on notation."""

SHAKESPEARE = (1_115_394, 65, "First Citizen:\n")
"""Symbols, different symbols and first line of Tiny Shakespeare."""

LEAST_SYMBOLS, MOST_SYMBOLS, MOST_DIFFERENT = 2_000, 5_000_000, 256
LONGEST = 32
TRAIN_SHARE = 0.9


class TrainingRun(Figure):
    """Trains a small model of the course in the page, in plain JavaScript.

    Forward pass, gradients and AdamW are written by hand over float32 arrays, in a worker, so that
    the page goes on answering. Gradients equal those of torch to 1e-4, and so do the losses of
    50 steps to 1e-3.

    Parameters
    ----------
    model : "bigram" | "one head" | "four heads" | "one block" | "four blocks"
        What is trained, with the sizes of chapters 04 to 08.
    rate : float
        Learning rate of AdamW, 0.0001 to 1; it may be changed while it runs.
    batch : int
        Windows in a batch, 1 to 256.
    context : int
        T, symbols in a window, 2 to 32.
    seed : int
        Fixes the first weights and the windows.
    text : str
        What it learns from, 2,000 to 5,000,000 symbols, of which at most 256 differ; empty: the
        beginning of the course's play. The first nine tenths are for training.

    Raises
    ------
    FigureError
        If the text is too short, or has too many different symbols.
    """

    title = "A model that learns"

    model = Choice(*MODELS, default="one head")
    rate = Number(0.01, 0.0001, 1)
    batch = Number(64, 1, 256, whole=True)
    context = Number(8, 2, LONGEST, whole=True)
    seed = Number(1, 0, 2**31, whole=True)
    text = Text("", most=MOST_SYMBOLS)

    def check(self) -> None:
        """Refuse a text that nothing can be learned from."""
        if not self.text:
            return
        if len(self.text) < LEAST_SYMBOLS:
            raise FigureError(
                f"TrainingRun.text has {len(self.text)} symbols: give at least {LEAST_SYMBOLS:,}"
            )
        different = len(set(self.text))
        if different > MOST_DIFFERENT:
            raise FigureError(
                f"TrainingRun.text has {different} different symbols: give one with at most "
                f"{MOST_DIFFERENT}"
            )

    @computed
    def lines(self) -> dict[str, float]:
        """Losses to compare with, from the largest: of a guess, of counting, and what is known.

        "guess": ln V. "counted": a table of pairs, counted on the training split, one added to
        each. "reached": of Tiny Shakespeare the published loss of the model, of the play what the
        same model reaches in torch. "floor": of the play the loss that no model can beat.
        """
        counted, different = _counted(self._text())
        found = {"guess": math.log(different), "counted": counted}
        if not self.text:
            known = excerpt()
            found |= {"reached": known["reached"][self.model], "floor": known["floor"]}
        elif self._shakespeare() and self.model in PUBLISHED:
            found["reached"] = PUBLISHED[self.model]
        return found

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        lines = self.lines
        known = ""
        if "reached" in lines:
            where = "published" if self.text else "in torch"
            known = f", this model reaches {lines['reached']:.3f} {where}"
        if "floor" in lines:
            known += f", and no model can come below {lines['floor']:.3f}"
        return (
            f"Training of {_with_article(self.model)} on {self._name()}, in the page. A guess "
            f"among all symbols has a loss of {lines['guess']:.2f} nats, counting pairs "
            f"{lines['counted']:.3f}{known}."
        )

    def still(self) -> str:
        """The losses to compare with, as bars."""
        names = {
            "guess": "guess among all symbols",
            "counted": "count which symbol follows which",
            "reached": f"{self.model}, {'published' if self.text else 'in torch'}",
            "floor": "no model can come below",
        }
        lines = self.lines
        parts = [still.text(0, 12, "loss on the validation text, in nats", "start")]
        for row, (key, loss) in enumerate(lines.items()):
            y = 30 + 44 * row
            width = 460 * loss / lines["guess"]
            parts += [
                still.text(0, y + 4, names[key], "start"),
                f'<rect x="0" y="{y + 14}" width="{width:g}" height="16" rx="2" '
                'fill-opacity="0.35"/>',
                still.text(width + 6, y + 22, f"{loss:.3f}", "start"),
            ]
        return still.picture(540, 34 + 44 * len(lines), self.alt, parts)

    def _text(self) -> str:
        return str(self.text) or excerpt()["text"]

    def _name(self) -> str:
        if not self.text:
            return "the beginning of the play"
        return "Tiny Shakespeare" if self._shakespeare() else "a text of your own"

    def _shakespeare(self) -> bool:
        symbols, different, start = SHAKESPEARE
        text = str(self.text)
        return len(text) == symbols and text.startswith(start) and len(set(text)) == different


def _with_article(model: str) -> str:
    return "a bigram table" if model == "bigram" else model


@functools.cache
def excerpt() -> dict[str, Any]:
    """What the committed excerpt of the play says of itself, with its text."""
    known = json.loads(sources.PLAY_EXCERPT.read_text(encoding="utf-8"))
    text = zlib.decompress(base64.b64decode(known.pop("packed"))).decode("utf-8")
    return {**known, "text": text}


@functools.lru_cache(maxsize=4)
def _counted(text: str) -> tuple[float, int]:
    """Validation loss of counted pairs, and how many different symbols the text has."""
    symbols, tokens = np.unique(np.array(list(text)), return_inverse=True)
    V = len(symbols)
    cut = int(TRAIN_SHARE * len(tokens))
    train, validation = tokens[:cut], tokens[cut:]
    pairs = np.bincount(train[:-1] * V + train[1:], minlength=V * V).reshape(V, V) + 1.0
    rates = -np.log(pairs / pairs.sum(axis=1, keepdims=True))  # (V, V)
    return float(rates[validation[:-1], validation[1:]].mean()), V
