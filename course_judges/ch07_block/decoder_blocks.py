"""A block with three branches, built right and built wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

_NORMS = {
    "attention": "attention_norm",
    "cross_attention": "cross_norm",
    "feed_forward": "feed_forward_norm",
}


class DecoderBlock(nn.Module):
    """Attention, cross-attention and a feed-forward network, each with a norm in front."""

    def __init__(
        self,
        n_embd: int,
        attention: nn.Module,
        cross_attention: nn.Module,
        feed_forward: nn.Module,
    ):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_norm = nn.LayerNorm(n_embd)
        self.cross_attention = cross_attention
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.feed_forward = feed_forward

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        """(B, T, C) and (B, S, C) → (B, T, C)."""
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory)
        return x + self.feed_forward(self.feed_forward_norm(x))


class NormsWithoutShift(DecoderBlock):
    """A block whose norms have a gain only."""

    def __init__(self, n_embd: int, *branches: nn.Module):
        super().__init__(n_embd, *branches)
        for name in _NORMS.values():
            setattr(self, name, nn.LayerNorm(n_embd, bias=False))


def going(forward: Callable[[Any, Tensor, Tensor], Tensor]) -> type[DecoderBlock]:
    """The same parts with another forward pass."""

    class Answer(DecoderBlock):
        def forward(self, x: Tensor, memory: Tensor) -> Tensor:
            return forward(self, x, memory)

    return Answer


def adding(step: Callable[[Tensor, nn.Module, Callable[[Tensor], Tensor]], Tensor]) -> Any:
    """Three branches, each added to the stream in another way."""

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        x = step(x, m.attention_norm, m.attention)
        x = step(x, m.cross_norm, lambda h: m.cross_attention(h, memory))
        return step(x, m.feed_forward_norm, m.feed_forward)

    return going(forward)


def norm_replaces(x: Tensor, norm: nn.Module, branch: Callable[[Tensor], Tensor]) -> Tensor:
    """The normalized stream replaces the stream."""
    x = norm(x)
    return x + branch(x)


def one_norm_replaces(which: str) -> type[DecoderBlock]:
    """At one of the three branches, the normalized stream replaces the stream."""

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        branches = {
            "attention": (m.attention_norm, m.attention),
            "cross_attention": (m.cross_norm, lambda h: m.cross_attention(h, memory)),
            "feed_forward": (m.feed_forward_norm, m.feed_forward),
        }
        for name, (norm, branch) in branches.items():
            x = norm_replaces(x, norm, branch) if name == which else x + branch(norm(x))
        return x

    return going(forward)


def middle(
    read: Callable[[Any, Tensor, Tensor], tuple[Tensor, Tensor]],
) -> type[DecoderBlock]:
    """Other inputs for cross-attention."""

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        x = x + m.attention(m.attention_norm(x))
        x = x + m.cross_attention(*read(m, x, memory))
        return x + m.feed_forward(m.feed_forward_norm(x))

    return going(forward)


def _branches(m: Any, memory: Tensor) -> dict[str, Callable[[Tensor], Tensor]]:
    """The three branches of a block by their names, in order, each with its norm in front."""
    return {
        "attention": lambda x: m.attention(m.attention_norm(x)),
        "cross_attention": lambda x: m.cross_attention(m.cross_norm(x), memory),
        "feed_forward": lambda x: m.feed_forward(m.feed_forward_norm(x)),
    }


def without_a_skip(which: str) -> type[DecoderBlock]:
    """One of the three branches replaces the stream; the others add to it."""

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        for name, branch in _branches(m, memory).items():
            x = branch(x) if name == which else x + branch(x)
        return x

    return going(forward)


def in_order(order: str) -> type[DecoderBlock]:
    """The three branches in another order, by their first letters: "fac"."""

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        branches = {name[0]: branch for name, branch in _branches(m, memory).items()}
        for letter in order:
            x = x + branches[letter](x)
        return x

    return going(forward)


def reading(cross_attention: str = "xa", feed_forward: str = "xac") -> type[DecoderBlock]:
    """Two branches read a sum of these: the block's input (x), and what attention (a) and
    cross-attention (c) returned.
    """

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        known = {"x": x, "a": m.attention(m.attention_norm(x))}

        def total(which: str) -> Tensor:
            return torch.stack([known[letter] for letter in which]).sum(dim=0)

        known["c"] = m.cross_attention(m.cross_norm(total(cross_attention)), memory)
        return total("xac") + m.feed_forward(m.feed_forward_norm(total(feed_forward)))

    return going(forward)


def thinks_first(m: Any, x: Tensor, memory: Tensor) -> Tensor:
    """Feed-forward before cross-attention."""
    x = x + m.attention(m.attention_norm(x))
    x = x + m.feed_forward(m.feed_forward_norm(x))
    return x + m.cross_attention(m.cross_norm(x), memory)


def listens_first(m: Any, x: Tensor, memory: Tensor) -> Tensor:
    """Cross-attention before self-attention."""
    x = x + m.cross_attention(m.cross_norm(x), memory)
    x = x + m.attention(m.attention_norm(x))
    return x + m.feed_forward(m.feed_forward_norm(x))


def memory_unheard(m: Any, x: Tensor, memory: Tensor) -> Tensor:  # noqa: ARG001
    """Two branches only."""
    x = x + m.attention(m.attention_norm(x))
    return x + m.feed_forward(m.feed_forward_norm(x))


def unnormed(*which: str) -> type[DecoderBlock]:
    """These branches read the raw stream."""

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        read = {
            name: (lambda x: x) if name in which else getattr(m, norm)
            for name, norm in _NORMS.items()
        }
        x = x + m.attention(read["attention"](x))
        x = x + m.cross_attention(read["cross_attention"](x), memory)
        return x + m.feed_forward(read["feed_forward"](x))

    return going(forward)


def twice(which: str) -> type[DecoderBlock]:
    """One of the three branches runs twice in a row."""

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        for name, branch in _branches(m, memory).items():
            for _ in range(1 + (name == which)):
                x = x + branch(x)
        return x

    return going(forward)


def back_to_the_start(*which: str) -> type[DecoderBlock]:
    """These branches are added to the block's input, so earlier branches are lost."""

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        start, x = x, x + m.attention(m.attention_norm(x))
        heard = m.cross_attention(m.cross_norm(x), memory)
        x = heard + (start if "cross_attention" in which else x)
        return m.feed_forward(m.feed_forward_norm(x)) + (start if "feed_forward" in which else x)

    return going(forward)


def normed_at_the_end(m: Any, x: Tensor, memory: Tensor) -> Tensor:
    """A right block whose output is normalized."""
    return m.feed_forward_norm(DecoderBlock.forward(m, x, memory))


def memory_added(m: Any, x: Tensor, memory: Tensor) -> Tensor:
    """The mean of the memory is added to the stream, too."""
    x = x + m.attention(m.attention_norm(x))
    x = x + m.cross_attention(m.cross_norm(x), memory) + memory.mean(dim=1, keepdim=True)
    return x + m.feed_forward(m.feed_forward_norm(x))


def one_norm(m: Any, x: Tensor, memory: Tensor) -> Tensor:
    """The first norm for all three branches."""
    x = x + m.attention(m.attention_norm(x))
    x = x + m.cross_attention(m.attention_norm(x), memory)
    return x + m.feed_forward(m.attention_norm(x))


def memory_cut(m: Any, x: Tensor, memory: Tensor) -> Tensor:
    """The memory is cut to the length of the stream."""
    return DecoderBlock.forward(m, x, memory[:, : x.shape[1]])


def norms_in_order(order: tuple[int, int, int]) -> type[DecoderBlock]:
    """The three branches use the norms with these numbers."""

    def forward(m: Any, x: Tensor, memory: Tensor) -> Tensor:
        norms = [(m.attention_norm, m.cross_norm, m.feed_forward_norm)[n] for n in order]
        x = x + m.attention(norms[0](x))
        x = x + m.cross_attention(norms[1](x), memory)
        return x + m.feed_forward(norms[2](x))

    return going(forward)
