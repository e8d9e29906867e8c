"""A small model taken apart in the page: heads that can be switched off, and what that changes."""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from course_figures import still
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.foreign import need_gpt
from course_figures.live_model import _load
from course_figures.traits import Number, Text, Texts

if TYPE_CHECKING:
    from course_lib.config import Config
    from course_lib.data import Vocabulary
    from course_lib.model import GPT


class Reading(NamedTuple):
    """What the model makes of a text.

    Attributes
    ----------
    losses : (T - 1,) float64
        −ln of the probability of each symbol after the first, given those before it.
    lens : (L + 1, T, V) float64
        Logits as if the model ended after so many blocks; the last are the model's own.
    weights : (L, H, T, T) float64
    """

    losses: np.ndarray
    lens: np.ndarray
    weights: np.ndarray


class LookingInside(Figure):
    """A GPT of the course, whose heads the reader switches off, one or several.

    A head that is switched off finds nothing: zeros go into the projection in its place. The exact
    answer is that of a text that repeats a word of distinct symbols: what followed the last place
    of the same symbol.

    Parameters
    ----------
    text : str
        What the model reads: from 2 symbols to its block_size.
    off : list of str
        Heads that are switched off, as "layer.head", counted from 1.
    layer, head : int
        Which head is looked at, from 0.
    position : int
        The position whose prediction is taken apart, from 0.
    weights : str
        A checkpoint in base64, as `LookingInside.of` makes it; empty: the course's live model.

    Raises
    ------
    FigureError
        If the text is too short or too long, or there is no such head or position.
    UnknownSymbolError
        If the text holds a symbol that the model does not know.
    """

    title = "Looking inside"

    text = Text("quickstep quickstep quickstep", most=1000)
    off = Texts()
    layer = Number(0, 0, 999, whole=True)
    head = Number(0, 0, 999, whole=True)
    position = Number(20, 0, 999, whole=True)
    weights = Text("", most=20_000_000)

    @classmethod
    def of(
        cls,
        model: Any,
        vocabulary: Vocabulary,
        text: str,
        position: int = 1,
        *,
        config: Config | None = None,
        **state: Any,
    ) -> LookingInside:
        """The figure for a GPT of yours, its matrices rounded to 8 bits.

        Parameters
        ----------
        model : GPT
            Plain or fused; its blocks may lack feed-forward networks. With `config`, a program of
            yours.
        vocabulary : Vocabulary
            The one that it was trained with.
        text : str
            What it reads.
        position : int
            Where to look first.
        config : Config, optional
            The sizes of a program of yours, whose parts `course_lib.role_map` then finds.
        **state
            Further traits.

        Raises
        ------
        FigureError
            If the model lacks a part of the GPT of chapter 08, or computes something else.
        CheckpointError
            Names the part of a program of yours that has no place in it.
        """
        import torch

        from course_figures.live_weights import like, write_packed
        from course_lib.checkpoints import describe_model
        from course_lib.model import GPT, fuse
        from course_lib.role_map import gpt_of

        if config is not None:
            model = gpt_of(model, config)
        need_gpt("LookingInside", model)
        gelu = describe_model(model)["gelu"]
        whole = fuse(like(model.config, model.state_dict(), gelu=gelu))
        fused = fuse(model)
        with torch.no_grad():
            for name, parameter in whole.named_parameters():
                if "feed_forward.layers" in name:
                    parameter.zero_()  # a network of zeros adds nothing
        whole.load_state_dict({**whole.state_dict(), **fused.state_dict()})
        assert isinstance(whole, GPT)
        if whole.state_dict().keys() == fused.state_dict().keys():
            _refuse_other_logits(model, whole)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "weights.safetensors"
            write_packed(path, whole, {"vocabulary": "".join(vocabulary.symbols)})
            packed = base64.b64encode(path.read_bytes()).decode("ascii")
        return cls(text=text, position=position, weights=packed, **state)

    def check(self) -> None:
        """Refuse what the model cannot read, and heads and positions that it has not."""
        model, vocabulary, _ = _load(str(self.weights))
        most = model.block_size
        if not 2 <= len(self.text) <= most:
            raise FigureError(
                f"LookingInside.text has {len(self.text)} symbols: give 2 to {most}, the most that "
                "the model reads at once"
            )
        vocabulary.encode(self.text)
        L, H = model.config.n_layer, model.config.n_head
        known = {f"{layer + 1}.{head + 1}" for layer in range(L) for head in range(H)}
        strange = sorted(set(self.off) - known)
        if strange or self.layer >= L or self.head >= H:
            raise FigureError(
                f"LookingInside has {L} layers of {H} heads; off = {list(self.off)}, layer = "
                f"{self.layer} and head = {self.head} name others: choose among {sorted(known)}"
            )
        if self.position >= len(self.text):
            raise FigureError(
                f"LookingInside.position is {self.position}: the text has positions 0 to "
                f"{len(self.text) - 1}"
            )

    @computed
    def whole(self) -> Reading:
        """The text read with all heads."""
        return self._read(frozenset())

    @computed
    def broken(self) -> Reading:
        """The text read without the heads that are switched off."""
        return self._read(frozenset(self.off))

    def _read(self, off: frozenset[str]) -> Reading:
        import torch

        model, vocabulary, _ = _load(str(self.weights))
        tokens = vocabulary.encode(self.text)[None]
        with torch.inference_mode():
            stream = model.embedding(tokens)
            streams, weights = [stream], []
            blocks: Any = model.blocks
            for layer, block in enumerate(blocks):
                normed = block.attention_norm(stream)
                heads = block.attention.heads
                weights.append(torch.stack([head.weights(normed)[0] for head in heads]))
                found = [
                    head(normed) * (f"{layer + 1}.{h + 1}" not in off)
                    for h, head in enumerate(heads)
                ]
                stream = stream + block.attention.projection(torch.cat(found, dim=-1))
                stream = stream + block.feed_forward(block.feed_forward_norm(stream))
                streams.append(stream)
            lens = model.output(model.norm(torch.cat(streams)))  # (L + 1, T, V)
            surprise = -lens[-1].log_softmax(dim=-1)
            losses = surprise[:-1].gather(1, tokens[0, 1:, None])[:, 0]
        return Reading(
            losses.double().numpy(), lens.double().numpy(), torch.stack(weights).double().numpy()
        )

    @computed
    def exact(self) -> list[str]:
        """(T,) for each position what must follow it if the text repeats itself, or nothing."""
        text = str(self.text)
        answers = []
        for t, symbol in enumerate(text):
            before = text.rfind(symbol, 0, t)
            answers.append(text[before + 1] if before >= 0 else "")
        return answers

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        n = still.number
        off = f" without the heads {', '.join(self.off)}" if len(self.off) else ""
        return (
            f"A model reads “{''.join(map(still.visible, self.text))}”: mean loss "
            f"{n(float(self.whole.losses.mean()))} nats with all heads"
            + (f", {n(float(self.broken.losses.mean()))}{off}." if off else ".")
            + f" At position {self.position} the exact answer is "
            + (f"“{still.visible(self.exact[self.position])}”." if self._known() else "unknown.")
        )

    def _known(self) -> bool:
        return bool(self.exact[self.position])

    def still(self) -> str:
        """The loss of each symbol as a bar."""
        losses = self.broken.losses
        scale = 120 / max(float(losses.max()), 1e-9)
        width = 660 / len(losses)
        parts = [still.text(20, 16, "loss of each symbol", "start", 14)]
        for t, loss in enumerate(losses):
            x, height = 20 + t * width, scale * float(loss)
            parts.append(
                f'<rect x="{x:.1f}" y="{150 - height:.1f}" width="{width * 0.8:.1f}" '
                f'height="{height:.1f}" fill="currentColor" fill-opacity="0.6"/>'
            )
            name = still.visible(self.text[t + 1])
            parts.append(still.text(x + width * 0.4, 168, name, "middle", 12))
        return still.picture(700, 180, self.alt, parts)


def _refuse_other_logits(model: GPT, whole: GPT) -> None:
    """Refuse a model that makes other logits of its weights than `whole`, which is shown."""
    import torch

    from course_lib.contexts import evaluation_mode

    tokens = torch.arange(min(whole.config.block_size, whole.config.vocab_size))[None]  # (1, T)
    with evaluation_mode(model), evaluation_mode(whole), torch.inference_mode():
        theirs = model(tokens.to(next(model.parameters()).device))[0].cpu()
        same = torch.allclose(whole(tokens)[0], theirs, rtol=1e-3, atol=1e-3, equal_nan=True)
    if not same:
        raise FigureError(
            "LookingInside shows the GPT of chapter 08, and from the same weights this "
            f"{type(model).__name__} computes other logits: it has norms after its branches, "
            "for example"
        )
