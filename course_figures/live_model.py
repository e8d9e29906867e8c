"""A GPT of this course that lives in the page: it reads a prompt, writes, and shows its heads."""

from __future__ import annotations

import base64
import functools
import tempfile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from course_figures import still
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.sampling import bars, drawn_symbols, uniforms
from course_figures.traits import Number, Text

if TYPE_CHECKING:
    from torch import nn

    from course_lib.config import Config
    from course_lib.data import Vocabulary
    from course_lib.model import GPT

PROMPT = "ROMEO:\nBut soft, "

MOST_SYMBOLS = 4000
"""The text stops growing there: about two pages."""

CORPORA = MappingProxyType({"shakespeare": "Tiny Shakespeare", "play": "the play"})
"""What a model may have been trained on, as readers call it."""


class LiveModel(Figure):
    """A GPT of the course in JavaScript, equal to the torch model but for torch's own rounding.

    The page computes in float64, and differs from the torch model in float64 by less than 1e-9.
    In float32, torch rounds attention by less than 1e-5, and logits, which reach 16, by a few 1e-5.

    The model is the one that `course_figures.live_training` trained; `LiveModel.of` shows yours.

    Parameters
    ----------
    prompt : str
        How the text begins, at most 500 symbols; empty is as after a line break. Of a longer
        context than block_size, the last block_size symbols are read.
    text : str
        The prompt and what has been written, at most 4,000 symbols. The prompt if left out.
    temperature : float
        Logits are divided by it, 0 to 2; 0 takes the most likely symbol.
    seed : int
        Fixes what is drawn.
    layer, head : int
        Which head is looked at, from 0.
    weights : str
        A checkpoint of another model in base64, as `LiveModel.of` makes it; empty: the course's.

    Raises
    ------
    FigureError
        If the text does not begin with the prompt, or a number is outside its range.
    UnknownSymbolError
        If the text holds a symbol that the model does not know.
    """

    title = "Live model"

    prompt = Text(PROMPT, most=500)
    text = Text(PROMPT, most=MOST_SYMBOLS + 500)
    temperature = Number(0.8, 0, 2)
    seed = Number(1, 0, 2**31, whole=True)
    layer = Number(2, 0, 999, whole=True)
    head = Number(0, 0, 999, whole=True)
    weights = Text("", most=20_000_000)

    def __init__(self, prompt: str = PROMPT, **state: Any) -> None:
        super().__init__(prompt=prompt, **{"text": prompt, **state})

    @classmethod
    def of(
        cls,
        model: nn.Module,
        vocabulary: Vocabulary,
        prompt: str = "",
        *,
        config: Config | None = None,
        **state: Any,
    ) -> LiveModel:
        """The figure for a GPT of yours, its matrices rounded to 8 bits.

        Parameters
        ----------
        model : GPT
            Plain or fused, of the library or as chapter 08 writes it, or with `config` a program of
            yours; it stays as it is.
        vocabulary : Vocabulary
            The one that it was trained with.
        prompt : str
            How the text begins.
        config : Config, optional
            The sizes of a program of yours, whose parts `course_lib.role_map` then finds.
        **state
            Further traits.

        Raises
        ------
        ConfigError
            If the model is no GPT, or computes something else than the GPT of the library.
        CheckpointError
            Names the part of a program of yours that has no place in it.
        """
        from course_figures.live_weights import write_packed
        from course_lib.role_map import gpt_of

        shown: Any = model if config is None else gpt_of(model, config)

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "weights.safetensors"
            write_packed(path, shown, {"vocabulary": "".join(vocabulary.symbols)})
            packed = base64.b64encode(path.read_bytes()).decode("ascii")
        state = {"layer": shown.config.n_layer - 1, **state}
        return cls(prompt, weights=packed, **state)

    def check(self) -> None:
        """Refuse a text that does not begin with the prompt, or holds an unknown symbol."""
        if not self.text.startswith(self.prompt):
            raise FigureError(
                f"LiveModel.text begins with {self.text[:20]!r}, the prompt is "
                f"{self.prompt[:20]!r}: change both at once, change(prompt=…, text=…)"
            )
        self._loaded()[1].encode(self.text)

    @computed
    def probabilities(self) -> np.ndarray:
        """(V,) float32: of the symbol that follows the text, by the torch model."""
        import torch

        from course_lib.sampling import next_probabilities

        model, vocabulary, _ = self._loaded()
        tokens = vocabulary.encode(self.text or vocabulary.symbols[0])[-model.block_size :]
        with torch.inference_mode():
            logits = model(tokens.unsqueeze(0))[0][0, -1]  # (V,)
        return next_probabilities(logits, self.temperature).numpy()

    def write(self, count: int) -> str:
        """Let the torch model write on, with the very numbers that the page draws with.

        Parameters
        ----------
        count : int
            Symbols to add.

        Returns
        -------
        str
            The whole text, which the figure then holds.
        """
        written = len(self.text) - len(self.prompt)
        symbols = self._loaded()[1].symbols
        for number in uniforms(self.seed, written + count)[written:]:
            self.text += symbols[int(drawn_symbols(self.probabilities, np.array([number]))[0])]
        return str(self.text)

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        facts = self._loaded()[2]
        trained = ""
        if "validation_loss" in facts:
            corpus = CORPORA.get(facts["corpus"], facts["corpus"])
            loss = facts["validation_loss"]
            trained = f", trained on {corpus} to a validation loss of {loss:.3f} nats,"
        sizes = facts["model"]["config"]
        return (
            f"A GPT of {sizes['n_layer']} layers with {sizes['n_head']} heads each{trained} "
            f"continues the text “{self._end()}”: the probabilities of the next symbol, and where "
            "each head looks."
        )

    def still(self) -> str:
        """The ten most likely symbols after the text."""
        symbols = self._loaded()[1].symbols
        shares = self.probabilities
        order = np.argsort(-shares, kind="stable")[:10]
        heading = f"next symbol after “{self._end()}”"
        return bars([symbols[v] for v in order], shares[order], heading, self.alt)

    def _end(self) -> str:
        return "".join(map(still.visible, self.text[-40:]))

    def _loaded(self) -> tuple[GPT, Vocabulary, dict[str, Any]]:
        return _load(str(self.weights))


@functools.lru_cache(maxsize=2)
def _load(weights: str) -> tuple[GPT, Vocabulary, dict[str, Any]]:
    from course_figures.live_weights import live_model

    if not weights:
        return live_model()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.safetensors"
        path.write_bytes(base64.b64decode(weights))
        return live_model(path)
