"""The whole model in one drawing: the way of one letter, from the text to the next letter."""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from course_figures import still
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.sampling import bars, drawn_symbols, uniforms
from course_figures.traits import Number, Text

if TYPE_CHECKING:
    import torch

    from course_lib.data import Vocabulary
    from course_lib.model import GPT

TEXT = "But soft, what li"
STAGE = "head 1 2"


class FollowLetter(Figure):
    """Follow one letter of a text through the course's live model, down to a single number.

    Parameters
    ----------
    text : str
        What the model reads, 1 to 64 symbols that it knows.
    position : int
        t, the place of the letter that is followed, from 0; what comes behind it does not count.
    stage : str
        What is open: "embedding", "position", "stream 0"; in block l "norm l", "head l h",
        "found l", "attention l", "middle l", "forward norm l", "hidden l", "forward l" and
        "stream l+1"; "norm", "logits", "probabilities". Blocks and heads count from 0.
    place : int
        Which number of the stage is open, from 0; the largest if left out.
    seed : int
        Fixes which letter is drawn.

    Raises
    ------
    FigureError
        If there is no such position, stage or number.
    UnknownSymbolError
        If the text holds a symbol that the model does not know.
    """

    title = "Follow one letter"

    text = Text(TEXT, most=64, empty=False)
    position = Number(len(TEXT) - 1, 0, 63, whole=True)
    stage = Text(STAGE, most=40)
    place = Number(0, 0, 9999, whole=True)
    seed = Number(1, 0, 2**31, whole=True)

    def __init__(self, text: str = TEXT, **state: Any) -> None:
        begin = {"position": len(text) - 1, "stage": STAGE, **state}
        if "place" not in begin and 0 <= begin["position"] < len(text):
            # The largest number of the stage; one that there is not is refused below.
            values = _trace(text[: begin["position"] + 1]).get(begin["stage"], np.zeros(1))
            begin["place"] = int(np.abs(values).argmax())
        super().__init__(text=text, **begin)

    def check(self) -> None:
        """Refuse a position, a stage or a number that there is not."""
        if self.position >= len(self.text):
            raise FigureError(
                f"FollowLetter.position is {self.position}: the text has {len(self.text)} symbols, "
                f"give 0 to {len(self.text) - 1}"
            )
        vectors = self._vectors()
        if self.stage not in vectors:
            raise FigureError(
                f"FollowLetter.stage is {self.stage!r}: give one of {', '.join(vectors)}"
            )
        if self.place >= len(vectors[self.stage]):
            raise FigureError(
                f"FollowLetter.place is {self.place}: {self.stage} has "
                f"{len(vectors[self.stage])} numbers"
            )

    @computed
    def vectors(self) -> dict[str, np.ndarray]:
        """Every stage's numbers, float64, by the torch model in double precision."""
        return self._vectors()

    @computed
    def probabilities(self) -> np.ndarray:
        """(V,) float64: of the symbol that follows the letter."""
        return self.vectors["probabilities"]

    @computed
    def drawn(self) -> str:
        """The letter that is drawn with this seed."""
        shares = self.vectors["probabilities"].astype(np.float32)
        token = drawn_symbols(shares, uniforms(self.seed, 1))[0]
        return _model()[1].symbols[int(token)]

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        vectors = self._vectors()
        shares = vectors["probabilities"]
        best = _model()[1].symbols[int(shares.argmax())]
        letter = still.visible(self.text[self.position])
        number = vectors[self.stage][self.place]
        return (
            f"The way of “{letter}” at position {self.position} of "
            f"“{still.visible_all(self.text)}” through a GPT of three blocks. Open: {self.stage}, "
            f"number {self.place}: {number:.3f}. At the end, “{still.visible(best)}” is the most "
            f"likely next letter with {100 * shares.max():.1f} %."
        )

    def still(self) -> str:
        """What each block adds to the residual stream is drawn live; here, what comes out."""
        shares = self._vectors()["probabilities"]
        symbols = _model()[1].symbols
        order = np.argsort(-shares, kind="stable")[:8]
        heading = f"next letter after “{still.visible_all(self.text[: self.position + 1])}”"
        return bars([symbols[v] for v in order], shares[order], heading, self.alt)

    def _vectors(self) -> dict[str, np.ndarray]:
        return _trace(self.text[: self.position + 1])


@functools.cache
def _model() -> tuple[GPT, Vocabulary]:
    from course_figures.live_weights import live_model

    model, vocabulary, _ = live_model()
    return copy.deepcopy(model).double(), vocabulary


@functools.lru_cache(maxsize=16)
def _trace(text: str) -> dict[str, np.ndarray]:
    """Every stage's numbers at the last symbol of a text, in the order of their computation."""
    import torch

    model, vocabulary = _model()
    tokens = vocabulary.encode(text)
    t = len(tokens) - 1
    found: dict[str, torch.Tensor] = {}
    with torch.inference_mode():
        embedding = model.embedding.tokens(tokens)  # (T, C)
        position = model.embedding.positions(torch.arange(t + 1))  # (T, C)
        x = embedding + position
        found |= {"embedding": embedding[t], "position": position[t], "stream 0": x[t]}
        blocks: Any = model.blocks  # torch says of a part's parts only that they are modules
        for layer, block in enumerate(blocks):
            normed = block.attention_norm(x)
            heads = block.attention.heads
            weights = [head.weights(normed[None])[0] for head in heads]  # H × (T, T)
            values = [head.value(normed) for head in heads]  # H × (T, D)
            pairs = zip(weights, values, strict=True)
            together = torch.cat([row @ value for row, value in pairs], dim=-1)  # (T, C)
            attention = block.attention.projection(together)
            middle = x + attention
            again = block.feed_forward_norm(middle)
            hidden = block.feed_forward.layers[1](block.feed_forward.layers[0](again))  # (T, 4C)
            forward = block.feed_forward.layers[2](hidden)
            x = middle + forward
            found[f"norm {layer}"] = normed[t]
            found |= {f"head {layer} {head}": row[t] for head, row in enumerate(weights)}
            found |= {
                f"found {layer}": together[t],
                f"attention {layer}": attention[t],
                f"middle {layer}": middle[t],
                f"forward norm {layer}": again[t],
                f"hidden {layer}": hidden[t],
                f"forward {layer}": forward[t],
                f"stream {layer + 1}": x[t],
            }
        last = model.norm(x)
        logits = model.output(last)[t]
        found |= {"norm": last[t], "logits": logits, "probabilities": logits.softmax(dim=-1)}
    return {name: values.numpy() for name, values in found.items()}
