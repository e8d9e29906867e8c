"""From logits to a drawn symbol, with what temperature, top-k and top-p cut away (chapter 08)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from course_figures import still
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.traits import Array, Number, Texts
from course_lib.errors import ShapeError

if TYPE_CHECKING:
    from torch import nn

    from course_lib.data import Vocabulary

CONTEXTS = ("My lord, I ", "The k", "ROMEO:\nO", "To be, or not ")
"""What the figure starts with where no logits are given."""

MOST_DRAWS = 2000
"""So many draws of 65 symbols stay well below the time of a frame."""

ALL = 100_000
"""A top-k that leaves every symbol of any vocabulary."""


def uniforms(seed: int, count: int) -> np.ndarray:
    """Numbers in [0, 1) that a seed fixes: the page's own generator, number for number.

    Parameters
    ----------
    seed : int
        Taken modulo 2³².
    count : int
        How many.

    Returns
    -------
    (count,) float64

    Source: mulberry32 (public domain), as in `runtime/random.js`.
    """
    numbers, mask = np.empty(count), 0xFFFFFFFF
    for i in range(count):
        seed = (seed + 0x6D2B79F5) & mask
        mixed = (seed ^ (seed >> 15)) * (seed | 1) & mask
        mixed ^= (mixed + ((mixed ^ (mixed >> 7)) * (mixed | 61) & mask)) & mask
        numbers[i] = (mixed ^ (mixed >> 14)) / 2**32
    return numbers


def drawn_symbols(probabilities: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The symbol on whose piece of [0, 1) each number falls.

    Parameters
    ----------
    probabilities : (V,) float
        Pieces lie side by side in the order of the symbols.
    numbers : (N,) float
        In [0, 1).

    Returns
    -------
    (N,) int64
        Never a symbol of probability 0.
    """
    edges = np.cumsum(probabilities, dtype=np.float64)  # (V,)
    found = np.searchsorted(edges, numbers * edges[-1], side="right")
    return np.minimum(found, int(np.flatnonzero(probabilities)[-1]))


class Sampling(Figure):
    """Real logits, three settings, and draws from what they leave.

    `course_lib.sampling` has the rules; the figure follows them, edges included.

    Parameters
    ----------
    logits : (N, V) float
        A model's answers after N contexts; one row is looked at. The live model's after four
        contexts if left out.
    symbols : list of str
        The V symbols.
    contexts : list of str
        The N texts that the logits follow.
    context : int
        Which of them is looked at, 0 … N − 1.
    temperature : float
        Logits are divided by it, 0 to 3; 0 takes the most likely symbol.
    top_k : int
        Only the k most likely symbols stay; V or more keeps all.
    top_p : float
        Only the smallest set that reaches this share stays; 1 keeps all.
    seed, draws : int
        The first `draws` numbers that follow from `seed` decide what is drawn; at most 2,000.

    Raises
    ------
    ShapeError
        If logits, symbols and contexts differ in V or N.
    FigureError
        If a setting is outside its range.
    """

    title = "Sampling"

    logits = Array("N", "V", default=[[2.0, 1.0, 0.0]])
    symbols = Texts(["a", "b", "c"])
    contexts = Texts(["ab"])
    context = Number(0, 0, 99, whole=True)
    temperature = Number(1.0, 0, 3)
    top_k = Number(ALL, 1, ALL, whole=True)
    top_p = Number(1.0, 0, 1)
    seed = Number(1, 0, 2**31, whole=True)
    draws = Number(0, 0, MOST_DRAWS, whole=True)

    def __init__(self, logits: Any = None, **state: Any) -> None:
        if logits is None and not {"symbols", "contexts"} & set(state):
            state |= _state(*_live(), CONTEXTS)
        elif logits is not None:
            logits = np.atleast_2d(logits.detach().cpu() if hasattr(logits, "detach") else logits)
            N, V = logits.shape[0], logits.shape[-1]
            state.setdefault("symbols", [str(v) for v in range(V)])
            state.setdefault("contexts", [f"row {n}" for n in range(N)])
            state["logits"] = logits
        super().__init__(**state)

    @classmethod
    def of(cls, model: nn.Module, vocabulary: Vocabulary, *texts: str, **state: Any) -> Sampling:
        """The figure for a model's logits after some texts.

        Parameters
        ----------
        model : nn.Module
            Any language model of the course.
        vocabulary : Vocabulary
            The one that it was trained with.
        *texts : str
            Contexts; of each, the last block_size symbols are read. At least one, none empty.
        **state
            Further traits.

        Raises
        ------
        FigureError
            If there is no text, or an empty one.
        UnknownSymbolError
            If a text holds a symbol that the vocabulary lacks.
        """
        if not texts or not all(texts):
            raise FigureError(f"texts are {texts!r}: give at least one, none empty")
        return cls(**(_state(model, vocabulary, texts) | state))

    def check(self) -> None:
        """Refuse sizes that do not go together."""
        N, V = self.logits.shape
        if len(self.symbols) != V:
            raise ShapeError(f"logits have V = {V}, but there are {len(self.symbols)} symbols")
        if len(self.contexts) != N:
            raise ShapeError(f"logits have {N} rows, but there are {len(self.contexts)} contexts")
        if self.context >= N:
            raise FigureError(f"Sampling.context is {self.context}: give 0 to {N - 1}")

    @computed
    def probabilities(self) -> np.ndarray:
        """(V,) float32: what is drawn from, by `course_lib.sampling.next_probabilities`."""
        import torch

        from course_lib.sampling import next_probabilities

        logits = torch.tensor(self.logits[self.context])
        left = next_probabilities(logits, self.temperature, self.top_k, self.top_p)
        return left.numpy()

    @computed
    def drawn(self) -> np.ndarray:
        """(draws,) int64: symbols drawn so far, in order."""
        return drawn_symbols(self.probabilities, uniforms(self.seed, self.draws))

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        said = f"after the text “{_in_signs(self.contexts[self.context])}”"
        if not np.isfinite(self.logits[self.context].max()):
            return f"No distribution {said}: the logits hold a value that is not a number."
        left = self.probabilities
        best = int(left.argmax())
        return (
            f"The distribution of the next symbol {said}, at temperature "
            f"{still.number(self.temperature)}: {np.count_nonzero(left)} of {len(left)} symbols "
            f"may be drawn, and the most likely is “{still.visible(self.symbols[best])}” with "
            f"{still.number(100 * left[best], 1)} %."
        )

    def still(self) -> str:
        """The ten most likely symbols as bars."""
        if not np.isfinite(self.logits[self.context].max()):
            return still.picture(480, 40, self.alt, [still.text(240, 20, "no distribution: NaN")])
        left = self.probabilities
        order = np.argsort(-left, kind="stable")[:10]
        return bars(
            [self.symbols[v] for v in order],
            left[order],
            f"next symbol after “{_in_signs(self.contexts[self.context])}”",
            self.alt,
        )


def bars(symbols: Sequence[str], shares: np.ndarray, heading: str, alt: str) -> str:
    """Probabilities as horizontal bars with their numbers, for a still picture."""
    largest = max(float(shares.max()), 1e-9)
    parts = [still.text(0, 12, heading, anchor="start")]
    for i, (symbol, share) in enumerate(zip(symbols, shares, strict=True)):
        y = 28 + 22 * i
        parts.append(still.text(14, y + 9, symbol, size=14))
        parts.append(
            f'<rect x="32" y="{y}" width="{max(1, 360 * float(share) / largest):.4g}" height="17" '
            'rx="3" fill-opacity="0.35"/>'
        )
        parts.append(still.text(400, y + 9, f"{100 * float(share):.1f} %", anchor="start"))
    return still.picture(480, 30 + 22 * len(symbols), alt, parts)


def _in_signs(text: str) -> str:
    return "".join(map(still.visible, text))


def _live() -> tuple[nn.Module, Vocabulary]:
    from course_figures.live_weights import live_model

    return live_model()[:2]


def _state(model: nn.Module, vocabulary: Vocabulary, texts: Sequence[str]) -> dict[str, Any]:
    import torch

    from course_lib.config import longest_context
    from course_lib.contexts import evaluation_mode

    rows = []
    with evaluation_mode(model), torch.inference_mode():
        for text in texts:
            tokens = vocabulary.encode(text)[-(longest_context(model) or len(text)) :]
            tokens = tokens.to(next(model.parameters()).device)
            rows.append(model(tokens.unsqueeze(0))[0][0, -1].cpu())  # (V,)
    return {
        "logits": torch.stack(rows),
        "symbols": list(vocabulary.symbols),
        "contexts": list(texts),
    }
