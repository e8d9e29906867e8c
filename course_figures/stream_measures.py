"""Lengths and angles of a GPT's residual stream, before and after each of its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.model import GPT, Block, FusedMultiHead, MultiHead


@dataclass(frozen=True)
class Measures:
    """The stream at every position, before and after each of the 2L parts.

    Parts are numbered in the order in which they work: attention of block 0, feed-forward of
    block 0, attention of block 1, … Lengths are Euclidean norms over the C channels.

    Attributes
    ----------
    stream : (2L + 1, T) float
        Length of the stream before each part, and after the last.
    part : (2L, T) float
        Length of what each part adds; 0 where it is switched off.
    cosine : (2L, T) float
        Cosine of the angle between what the part adds and the stream it is added to; 0 where one
        of the two is 0.
    total : (2L, T) float
        Length of their sum. Post-norm then norms it; in pre-norm it is the next row of `stream`.
    chance : (T,) float
        Probability that the model gives to the symbol that really follows; NaN at the last
        position, which nothing follows.
    """

    stream: np.ndarray
    part: np.ndarray
    cosine: np.ndarray
    total: np.ndarray
    chance: np.ndarray

    @property
    def loss(self) -> float:
        """Mean of −log(chance) over the positions that something follows, in nats."""
        return -float(np.log(self.chance[:-1]).mean())


@torch.no_grad()
def measure(model: GPT, tokens: Tensor, norm: str = "pre", on: Any = None) -> Measures:
    """Run a GPT over one text and measure its residual stream.

    Parameters
    ----------
    model : GPT
        Plain or fused, trained or fresh. Dropout is off while it is measured.
    tokens : (T,) int64
        2 ≤ T ≤ block_size.
    norm : "pre" | "post"
        "pre" is the model as it is: x ← x + part(norm(x)), and a last norm before the logits.
        "post" takes the same weights in the order of the first transformer:
        x ← norm(x + part(x)), each part with the LayerNorm that stands before it in pre-norm, and
        no last norm, as the stream is normed already. A model that was trained one way is not
        trained the other way: its loss is then no verdict on the order.
    on : (L, 2) bool, optional
        Attention and feed-forward of each block; what is False adds 0. All are on by default.

    Returns
    -------
    Measures
        In the precision of the model.

    Source: He et al. (2016) for the stream; Vaswani et al. (2017), section 3.1, for post-norm;
    Radford et al. (2019), section 2.3, for pre-norm.
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        return _measured(model, tokens, norm, on)
    finally:
        for module, mode in modes:
            module.training = mode


def _measured(model: GPT, tokens: Tensor, norm: str, on: Any) -> Measures:
    x = model.embedding(tokens[None])  # (1, T, C)
    stream, part, cosine, total = [x.norm(dim=-1)[0]], [], [], []
    for layer, module in enumerate(model.blocks):
        block = cast(Block, module)
        branches: tuple[tuple[nn.Module, nn.Module], ...] = (
            (block.attention_norm, block.attention),
            (block.feed_forward_norm, block.feed_forward),
        )
        for which, (normed, branch) in enumerate(branches):
            added = branch(normed(x) if norm == "pre" else x)  # (1, T, C)
            if on is not None and not on[layer][which]:
                added = torch.zeros_like(x)
            part.append(added.norm(dim=-1)[0])
            lengths = x.norm(dim=-1) * added.norm(dim=-1)  # (1, T)
            dots = (x * added).sum(dim=-1)
            cosine.append(torch.where(lengths > 0, dots / lengths, 0.0)[0])
            x = x + added
            total.append(x.norm(dim=-1)[0])
            x = x if norm == "pre" else normed(x)
            stream.append(x.norm(dim=-1)[0])
    logits = model.output(model.norm(x) if norm == "pre" else x)[0]  # (T, V)
    chance = F.softmax(logits, dim=-1)[:-1].gather(1, tokens[1:, None])[:, 0]  # (T − 1,)
    chance = F.pad(chance, (0, 1), value=torch.nan)  # (T,)
    rows = (torch.stack(stream), torch.stack(part), torch.stack(cosine), torch.stack(total))
    return Measures(*(row.double().cpu().numpy() for row in (*rows, chance)))


def weights_of(model: GPT) -> list[Tensor]:
    """The weights of a GPT in the order in which the figure's module reads them.

    Parameters
    ----------
    model : GPT
        Plain or fused.

    Returns
    -------
    list of Tensor
        Tokens (V, C), positions (block_size, C); for each block its first norm (C,), (C,), the
        heads' queries, keys and values below each other (3C, C), projection (C, C), (C,), second
        norm (C,), (C,), feed-forward (4C, C), (4C,), (C, 4C), (C,); last norm (C,), (C,); output
        (V, C).
    """
    found = [model.embedding.tokens.weight, model.embedding.positions.weight]
    for module in model.blocks:
        block = cast(Block, module)
        attention: nn.Module = block.attention
        if isinstance(attention, MultiHead):
            attention = FusedMultiHead.of(attention)
        fused = cast(FusedMultiHead, attention)
        found += [*block.attention_norm.parameters(), fused.query_key_value.weight]
        found += [*fused.projection.parameters(), *block.feed_forward_norm.parameters()]
        found += [*block.feed_forward.parameters()]
    return [*found, *model.norm.parameters(), model.output.weight]
