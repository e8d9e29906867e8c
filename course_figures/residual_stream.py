"""The residual stream: how long it is, and how far and where each part of a GPT moves it."""

from __future__ import annotations

import base64
import copy
from typing import Any

import numpy as np
import torch
import traitlets

from course_figures import still
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.foreign import need_gpt
from course_figures.stream_measures import Measures, measure, weights_of
from course_figures.stream_weights import stream_model
from course_figures.traits import Array, Choice, Number, Text, Texts
from course_lib.data import Vocabulary
from course_lib.errors import CourseError
from course_lib.model import GPT

LARGEST = 20_000
"""A model of at most so many weights travels with its figure: 53 kB as half-precision base64."""


class ResidualStream(Figure):
    """The residual stream of a GPT at one position of a text, part by part.

    Parameters
    ----------
    model : GPT
        Any of the course, trained or fresh; if left out, a small one that was trained on Tiny
        Shakespeare (see `stream_weights`). The figure keeps a copy. A model of up to 20,000
        weights travels with the page, rounded to half precision, and everything the figure shows
        is that rounded model; a larger one is measured in Python, and on a page without Python
        its switches rest.
    vocabulary : Vocabulary
        Of the model; needed with one.
    text : str
        From 2 to block_size symbols of the vocabulary.
    norm : "pre" | "post"
        See `stream_measures.measure`.
    on : (L, 2) bool
        Which parts work: attention and feed-forward of each block.
    position : int
        t, the position that is looked at, 0 … T − 1.
    symbols : list of str
        The V symbols of the vocabulary; follow from it.
    sizes : (5,) int
        V, block_size, L, H and C of the model; follow from it.
    weights : str
        The weights of a model that travels, in the order of `stream_measures.weights_of`, as
        half-precision numbers in base64; empty for a larger one. They follow from the model.
    measured : (8L + 2, T) float
        For a model that does not travel, what the page cannot compute: the rows of `Measures`,
        2L + 1 of stream, 2L each of part, cosine and total, 1 of chance. They follow from model,
        text, norm and on.

    Raises
    ------
    FigureError
        If the model comes without a vocabulary, holds weights that are no finite numbers, or has
        another number of symbols than the vocabulary; if the text is too short, too long, or holds
        a symbol that the vocabulary does not know; if there is no such position.
    ShapeError
        If `on` has another shape.
    """

    title = "The residual stream"

    text = Text("", most=10_000)
    symbols = Texts()
    sizes = Array(5, kind="int", default=(1, 2, 1, 1, 1))  # V, block_size, L, H, C
    weights = Text("", most=100_000)
    measured = Array("rows", "T", default=((0.0,),))
    norm = Choice("pre", "post")
    on = Array("L", 2, kind="bool", default=((True, True),))
    position = Number(0, 0, 9_999, whole=True)

    def __init__(
        self,
        model: GPT | None = None,
        vocabulary: Vocabulary | None = None,
        text: str = "O what a noble mind is here",
        **state: Any,
    ) -> None:
        if model is None:
            model, vocabulary = stream_model()
        if vocabulary is None:
            raise FigureError(
                "ResidualStream has a model but no vocabulary: give the one of the text that the "
                "model was trained on, as in ResidualStream(model, corpus.vocabulary, text)"
            )
        need_gpt("ResidualStream", model)
        config = model.config
        _refuse_broken(model, vocabulary)
        self._vocabulary = vocabulary
        self._model, weights = _carried(model)
        sizes = (config.vocab_size, config.block_size, config.n_layer, config.n_head, config.n_embd)
        state = {"on": np.ones((config.n_layer, 2), bool), **state}
        super().__init__(
            text=text,
            symbols=list(vocabulary.symbols),
            sizes=sizes,
            weights=weights,
            **state,
        )
        self._measure()

    def check(self) -> None:
        """Refuse a text that the model cannot read, and switches or a position it has not."""
        self._check_input()
        if self.position >= len(self.text):
            raise FigureError(
                f"ResidualStream.position is {self.position}: the text has positions 0 to "
                f"{len(self.text) - 1}"
            )

    def _check_input(self) -> None:
        L, block_size = int(self.sizes[2]), int(self.sizes[1])
        if len(self.on) != L:
            raise FigureError(
                f"ResidualStream.on has {len(self.on)} rows, the model {L} blocks: give ({L}, 2)"
            )
        if not 2 <= len(self.text) <= block_size:
            raise FigureError(
                f"ResidualStream.text has {len(self.text)} symbols: give 2 to {block_size}, the "
                "most that the model reads at once"
            )
        strange = sorted(set(self.text) - set(self.symbols))
        if strange:
            raise FigureError(
                f"ResidualStream.text holds {', '.join(map(repr, strange))}, which the model's "
                "vocabulary does not: leave it out or write it differently"
            )

    @computed
    def measures(self) -> Measures:
        """Everything that is shown, at every position."""
        return self._now()

    def _now(self) -> Measures:
        tokens = self._vocabulary.encode(self.text)
        return measure(self._model, tokens, self.norm, self.on)

    @traitlets.observe("text", "norm", "on")
    def _measure(self, _: Any = None) -> None:
        """Measure for a page that cannot: its model is too large to travel."""
        if self.weights or len(self.symbols) == 0:
            return
        try:
            self._check_input()
        except CourseError:
            return  # the page finds the same, and says so in the figure
        now = self._now()
        rows = (now.stream, now.part, now.cosine, now.total, now.chance[None])
        self.measured = np.concatenate(rows)  # (8L + 2, T)

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        now, t, n = self.measures, self.position, still.number
        off = [_name(s) for s in range(len(now.part)) if not self.on.reshape(-1)[s]]
        longest = int(now.part[:, t].argmax())
        switched = f" Switched off: {', '.join(off)}." if off else ""
        return (
            f"Residual stream at position {t}, “{still.visible(self.text[t])}”, {self.norm}-norm: "
            f"it begins with length {n(float(now.stream[0, t]))} and ends with "
            f"{n(float(now.stream[-1, t]))}. The longest addition is {_name(longest)}, "
            f"{n(float(now.part[longest, t]))} long, cosine with the stream "
            f"{n(float(now.cosine[longest, t]))}.{switched} Loss on the text "
            f"{n(now.loss)} nats per symbol."
        )

    def still(self) -> str:
        """The stream as a line for each part, and what the part adds at its true angle."""
        now, t = self.measures, self.position
        rises = now.part[:, t] * np.sqrt(np.clip(1 - now.cosine[:, t] ** 2, 0, None))
        most = max(now.stream[:, t].max(), now.total[:, t].max())
        scale = min(280 / most, 44 / max(rises.max(), 1e-9))
        height, parts = (
            54,
            [still.text(150, 16, "the stream, and what each part adds", "start", 14)],
        )
        for s, rise in enumerate(rises):
            y = 74 + s * height
            tip = 150 + scale * now.stream[s, t]
            end = tip + scale * now.part[s, t] * now.cosine[s, t]
            top = y - scale * rise
            parts += [
                still.text(140, y, _name(s), "end", 12),
                f'<path d="M150 {y}L{end:.1f} {top:.1f}" stroke="currentColor" '
                'stroke-opacity="0.6" stroke-dasharray="4 3"/>',
                f'<path d="M150 {y}H{tip:.1f}" stroke="currentColor" stroke-width="2" '
                'stroke-opacity="0.6"/>',
                f'<path d="M{tip:.1f} {y}L{end:.1f} {top:.1f}" stroke="currentColor" '
                'stroke-width="3"/>',
                still.text(450, y, f"stream {now.stream[s, t]:.2f}", "start", 12),
                still.text(535, y, f"adds {now.part[s, t]:.2f}", "start", 12),
                still.text(605, y, f"cosine {still.number(now.cosine[s, t])}", "start", 12),
            ]
        return still.picture(700, 74 + len(now.part) * height, self.alt, parts)


def _name(part: int) -> str:
    return f"{('attention', 'feed-forward')[part % 2]} {part // 2}"


def _refuse_broken(model: GPT, vocabulary: Vocabulary) -> None:
    broken = [name for name, p in model.named_parameters() if not bool(p.isfinite().all())]
    if broken:
        raise FigureError(
            f"the model's {', '.join(broken[:3])} hold NaN or ∞, so its stream has no length: "
            "train it again with a lower learning rate, or load another checkpoint"
        )
    if len(vocabulary.symbols) != model.config.vocab_size:
        raise FigureError(
            f"the vocabulary has {len(vocabulary.symbols)} symbols, the model "
            f"{model.config.vocab_size}: give the vocabulary that the model was trained with"
        )


def _carried(model: GPT) -> tuple[GPT, str]:
    """A copy to measure, in double precision, and its weights as text if it is small."""
    kept = copy.deepcopy(model).cpu()
    small = sum(weights.numel() for weights in weights_of(kept)) <= LARGEST
    if not small:
        return kept.double(), ""
    kept = kept.half()
    flat = torch.cat([weights.detach().flatten() for weights in weights_of(kept)])
    data = flat.numpy().astype("<f2").tobytes()
    return kept.double(), base64.b64encode(data).decode("ascii")
