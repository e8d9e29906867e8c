"""Models that the probes of chapter 08 hand to an answer."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_tasks.stand_ins import CERTAIN


class Branch(nn.Module):
    """Norm, a layer of 2C, ReLU, and back: what is added to the residual stream.

    Parameters
    ----------
    n_embd : int
        C.
    end : str
        The name of the layer that leads back.
    """

    def __init__(self, n_embd: int, end: str):
        super().__init__()
        self._end = end
        self.norm = nn.LayerNorm(n_embd)
        self.widen = nn.Linear(n_embd, 2 * n_embd)
        self.add_module(end, nn.Linear(2 * n_embd, n_embd))

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        back: Tensor = self.get_submodule(self._end)(F.relu(self.widen(self.norm(x))))
        return back


class Stack(nn.Module):
    """A small language model of branches on a residual stream, with tied embeddings.

    Before the first branch there is a layer that doesn't end a branch, but whose name ends like
    that of the layer that ends the first branch.

    Parameters
    ----------
    vocab_size, block_size, n_embd, branches : int
        V, longest context, C, and how many branches add to the residual stream.
    end : str
        The name of the layer that ends each branch.
    """

    def __init__(self, vocab_size: int, block_size: int, n_embd: int, branches: int, end: str):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, n_embd)
        self.positions = nn.Parameter(torch.zeros(block_size, n_embd))  # of no layer
        self._end = end
        layer = nn.ModuleDict({end: nn.Linear(n_embd, n_embd)})
        self.before = nn.ModuleDict({"branches": nn.ModuleList([layer])})
        self.branches = nn.ModuleList([Branch(n_embd, end) for _ in range(branches)])
        self.norm = nn.LayerNorm(n_embd)
        self.output = nn.Linear(n_embd, vocab_size)
        self.output.weight = self.tokens.weight

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V) of tokens (B, T)."""
        x = self.tokens(tokens) + self.positions[: tokens.shape[1]]  # (B, T, C)
        x = self.before.get_submodule(f"branches.0.{self._end}")(x)
        for branch in self.branches:
            x = x + branch(x)
        return self.output(self.norm(x))


class Progression(nn.Module):
    """A language model that goes on in equal strides: after a and b comes 2b − a, modulo V.

    After a symbol twice comes the next one, so that a text that was filled up does not stay as it
    is by itself.

    It stops with an IndexError on contexts beyond `block_size`, and its logits of earlier positions
    speak of the symbols there. In training mode it is off by one, as dropout would put a real model
    off.

    Parameters
    ----------
    vocab_size, block_size : int
        V and the longest context.

    Attributes
    ----------
    lengths : list of int
        Of the contexts that it was shown.
    """

    def __init__(self, vocab_size: int, block_size: int):
        super().__init__()
        self.vocab_size = vocab_size
        self.block_size = block_size
        self.lengths: list[int] = []
        self.dropout = nn.Dropout()  # never asked: only its mode is looked at

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, None]:  # noqa: ARG002
        """Logits (B, T, V) of the next symbol, and no loss."""
        T = tokens.shape[1]
        self.lengths.append(T)
        if T > self.block_size:
            raise IndexError(
                f"the context holds {T} tokens, the model has positions for {self.block_size}"
            )
        before = torch.cat([tokens[:, :1], tokens[:, :-1]], dim=1)  # (B, T)
        drops = self.training or self.dropout.training
        stays = (tokens == before).long()
        following = (2 * tokens - before + stays + int(drops)) % self.vocab_size  # (B, T)
        return F.one_hot(following, self.vocab_size) * CERTAIN, None  # (B, T, V)
