"""Who looks at whom, and why: attention of every head over a text (chapters 05 and 06)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from course_figures import still
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.foreign import missing
from course_figures.traits import Array, Flag, Number, Text, Texts
from course_lib.errors import CourseError, ShapeError

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from course_lib.data import Vocabulary

TEXT = "the king and the queen"

LIVE_HEAD = 3
"""Of the live model's first layer, the head that is shown first: it looks one symbol back."""

_ARRAYS = ("query_vectors", "key_vectors", "query_vectors_without", "key_vectors_without")


class AttentionMap(Figure):
    """Attention of every head of a model over one text, recomputed from its queries and keys.

    The mask and the scale are switched for the weights that are shown; positions are left out of
    the whole model, from the embedding on.

    Parameters
    ----------
    model : nn.Module, optional
        A `OneHead`, `ManyHeads` or `GPT`, plain or fused, of the course or of your own with the
        same parts. It stays with the figure in JupyterLab, where the text can be changed. The live
        model if left out.
    text : str
        1 to block_size symbols.
    vocabulary : Vocabulary
        The one that the model was trained with.
    query_vectors, key_vectors : (L, H, T, D) float
        Of each layer and head; follow from model and text, or stand in for them.
    query_vectors_without, key_vectors_without : (L, H, T, D) float
        The same with the position embeddings left out.
    symbols : list of str
        The T symbols of the text.
    layer, head : int
        Which head is looked at, from 0.
    query, key : int
        Which pair is written out, 0 … T − 1.
    masked, scaled, positioned : bool
        Mask on the future, division by √D, position embeddings.
    problem : str
        Why the text that was typed in JupyterLab cannot be read; empty where it was. The figure
        shows it.

    Raises
    ------
    FigureError
        If the text is empty, or the model has no parts that this figure knows.
    ShapeError
        If the text is longer than the model's context, or arrays differ in a size.
    UnknownSymbolError
        If the text holds a symbol that the vocabulary lacks.
    """

    title = "Attention map"

    text = Text(TEXT, most=1000)
    symbols = Texts(["a"])
    query_vectors = Array("L", "H", "T", "D", default=np.zeros((1, 1, 1, 1)))
    key_vectors = Array("L", "H", "T", "D", default=np.zeros((1, 1, 1, 1)))
    query_vectors_without = Array("L", "H", "T", "D", default=np.zeros((1, 1, 1, 1)))
    key_vectors_without = Array("L", "H", "T", "D", default=np.zeros((1, 1, 1, 1)))
    layer = Number(0, 0, 999, whole=True)
    head = Number(0, 0, 999, whole=True)
    query = Number(0, 0, 9999, whole=True)
    key = Number(0, 0, 9999, whole=True)
    masked = Flag(True)
    scaled = Flag(True)
    positioned = Flag(True)
    problem = Text("")

    def __init__(
        self,
        model: nn.Module | None = None,
        text: str = TEXT,
        vocabulary: Vocabulary | None = None,
        **state: Any,
    ) -> None:
        self._source: tuple[nn.Module, Vocabulary] | None = None
        if model is None and "query_vectors" not in state:
            from course_figures.live_weights import live_model

            model, vocabulary, _ = live_model()
            state = {"head": LIVE_HEAD, **state}
        if model is not None:
            if vocabulary is None:
                raise FigureError("AttentionMap(model, text) lacks the vocabulary: give it third")
            self._source = (model, vocabulary)
            state = _read(model, vocabulary, text) | state
        else:
            state = _without_model(text, state)
        T = state["query_vectors"].shape[2]
        state = {"query": T - 1, "key": max(0, T - 2), **state}
        super().__init__(text=text, **state)

    def check(self) -> None:
        """Refuse sizes that do not go together."""
        shapes = {name: getattr(self, name).shape for name in _ARRAYS}
        if len(set(shapes.values())) > 1:
            named = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise ShapeError(f"all four must have one shape (L, H, T, D), got {named}")
        L, H, T, _ = self.query_vectors.shape
        if len(self.symbols) != T:
            raise ShapeError(f"queries have T = {T}, but there are {len(self.symbols)} symbols")
        sizes = {"layer": L, "head": H, "query": T, "key": T}
        for name, size in sizes.items():
            if getattr(self, name) >= size:
                raise FigureError(
                    f"AttentionMap.{name} is {getattr(self, name)}: give 0 to {size - 1}"
                )

    @traitlets.observe("text")
    def _reread(self, change: Any) -> None:
        """A text typed in JupyterLab: compute it anew, or say in the figure why that cannot be."""
        if self._source is None or not self.symbols or change.new == "".join(self.symbols):
            return
        try:
            state = _read(*self._source, change.new)
        except CourseError as error:
            self.problem = str(error)
            return
        T = state["query_vectors"].shape[2]
        self.change(problem="", query=T - 1, key=max(0, T - 2), **state)

    @computed
    def scores(self) -> np.ndarray:
        """(L, H, T, T) float: q · k as the switches stand, −∞ where the future is masked."""
        suffix = "" if self.positioned else "_without"
        query = getattr(self, f"query_vectors{suffix}").astype(np.float64)
        key = getattr(self, f"key_vectors{suffix}").astype(np.float64)
        scores = query @ key.swapaxes(2, 3)  # (L, H, T, D) @ (L, H, D, T) → (L, H, T, T)
        if self.scaled:
            scores = scores / np.sqrt(query.shape[-1])
        past = np.tri(query.shape[2], dtype=bool)
        return np.where(past, scores, -np.inf) if self.masked else scores

    @computed
    def weights(self) -> np.ndarray:
        """(L, H, T, T) float: the softmax of the scores; rows sum to 1."""
        scores = self.scores
        raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return raised / raised.sum(axis=-1, keepdims=True)

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        L, H, T, _ = self.query_vectors.shape
        which = f"layer {self.layer + 1}, head {self.head + 1}" if L * H > 1 else "one head"
        row = self.weights[self.layer, self.head, self.query]
        if not np.isfinite(row).all():
            return f"Attention of {which} cannot be shown: the queries or keys hold NaN."
        best = int(row.argmax())
        return (
            f"A {T} by {T} map of the attention of {which} over the text "
            f"“{''.join(map(still.visible, self.symbols))}”. The query "
            f"“{still.visible(self.symbols[self.query])}” at place {self.query} looks most at "
            f"“{still.visible(self.symbols[best])}” at place {best}, with weight "
            f"{still.number(row[best])}."
        )

    def still(self) -> str:
        """The map of the head that is looked at."""
        weights = np.nan_to_num(self.weights[self.layer, self.head])
        T = len(weights)
        size = min(26.0, 620 / T)
        left = top = 30
        parts = []
        for t in range(T):
            middle = (t + 0.5) * size
            parts.append(still.text(left - 8, top + middle, self.symbols[t], "end", size=11))
            parts.append(still.text(left + middle, top - 10, self.symbols[t], size=11))
            parts += [
                still.cell(left + s * size, top + t * size, size, weights[t, s])
                for s in range(T)
                if weights[t, s] >= 0.005
            ]
        parts.append(
            f'<rect x="{left - 1}" y="{top - 1}" width="{T * size + 1:g}" '
            f'height="{T * size + 1:g}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>'
        )
        return still.picture(left + T * size + 6, top + T * size + 6, self.alt, parts)


def _read(model: nn.Module, vocabulary: Vocabulary, text: str) -> dict[str, Any]:
    """Symbols, queries and keys of a text, with and without positions."""
    import torch

    from course_lib.config import longest_context
    from course_lib.contexts import evaluation_mode

    if not text:
        raise FigureError("The text is empty: type at least one symbol")
    block_size = longest_context(model)
    if block_size is not None and len(text) > block_size:
        raise ShapeError(
            f"The text has {len(text)} symbols, and the model reads {block_size} at once: "
            f"take {len(text) - block_size} away"
        )
    device = next(model.parameters()).device
    tokens = vocabulary.encode(text).unsqueeze(0).to(device)  # (1, T)
    with evaluation_mode(model), torch.inference_mode():
        queries, keys = queries_and_keys(model, tokens, positioned=True)
        queries_without, keys_without = queries_and_keys(model, tokens, positioned=False)
    return {
        "symbols": list(text),
        "query_vectors": queries,
        "key_vectors": keys,
        "query_vectors_without": queries_without,
        "key_vectors_without": keys_without,
    }


def queries_and_keys(
    model: nn.Module, tokens: Tensor, *, positioned: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """What every head of a model asks and answers.

    Parameters
    ----------
    model : nn.Module
        With `embedding`, and either `head`, `attention` or `blocks`, as `OneHead`, `ManyHeads` and
        `GPT` have them.
    tokens : (1, T) int64
        One text.
    positioned : bool
        Whether position embeddings are added.

    Returns
    -------
    queries, keys : (L, H, T, D) float
        Of each layer and head.

    Raises
    ------
    FigureError
        If the model lacks these parts.
    """
    import torch

    absent = missing(model, ("embedding.tokens", "embedding.positions"))
    if absent:
        raise FigureError(
            f"{type(model).__name__} has no attribute `{absent}`: give a OneHead, ManyHeads or GPT"
        )
    embedding: Any = model.embedding
    x = embedding(tokens) if positioned else embedding.tokens(tokens)  # (1, T, C)
    layers = []
    for part in ("head", "attention"):
        if hasattr(model, part):
            layers = [_of_layer(getattr(model, part), x)]
    for block in getattr(model, "blocks", ()):
        layers.append(_of_layer(block.attention, block.attention_norm(x)))
        x = block(x)
    if not layers:
        raise FigureError(
            f"{type(model).__name__} has neither attribute `head`, `attention` nor `blocks`: "
            "give a OneHead, ManyHeads or GPT"
        )
    queries, keys = (torch.stack(one) for one in zip(*layers, strict=True))  # L × (H, T, D)
    return queries.cpu(), keys.cpu()


def _of_layer(attention: Any, x: Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    import torch

    if hasattr(attention, "split"):  # fused
        query, key, _ = attention.split(x)  # (1, H, T, D) each
        return query[0], key[0]
    heads = getattr(attention, "heads", [attention])
    query = torch.cat([head.query(x) for head in heads])  # H × (1, T, D) → (H, T, D)
    return query, torch.cat([head.key(x) for head in heads])


def _without_model(text: str, state: dict[str, Any]) -> dict[str, Any]:
    """Arrays given as they are: what is missing of them follows from the rest."""
    state = dict(state)
    for name in ("query_vectors", "key_vectors"):
        if name not in state:
            raise FigureError(f"AttentionMap has no {name}: give queries and keys, or a model")
        state.setdefault(f"{name}_without", state[name])
    state.setdefault("symbols", list(text))
    return state
