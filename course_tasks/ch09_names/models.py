"""Small models that the tasks of chapter 09 hand to an answer: their numbers come from the inputs.

None of them learns anything sensible; each makes what it was given visible in what it returns.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn

State = tuple[Tensor, Tensor]


class Echoes(nn.Module):
    """Logits from a fading memory of the window: `logits, loss = model(tokens)`.

    Parameters
    ----------
    table : (V, V) float
        What each symbol says about the next.
    fading : float
        The share of the memory that each step keeps.
    block_size : int
        The longest window that it reads.
    """

    table: Tensor

    def __init__(self, table: Tensor, fading: float, block_size: int):
        super().__init__()
        self.register_buffer("table", table)
        self.fading, self.block_size = fading, block_size
        self.dropout = nn.Dropout()  # never asked: only its mode is looked at

    def forward(self, tokens: Tensor, _: Tensor | None = None) -> tuple[Tensor, None]:
        """(B, T) → logits (B, T, V) and None: no loss is given away."""
        T = tokens.shape[1]
        if T > self.block_size:
            raise IndexError(f"{T} tokens are more than block_size = {self.block_size}")
        logits = _kept(self.fading, T) @ self.table[tokens]  # (T, T) @ (B, T, V)
        # Stands for dropout: in training mode every answer is another one, always the same.
        drops = self.training or self.dropout.training
        return (logits.flip(-1) if drops else logits), None


@cache
def _kept(fading: float, T: int) -> Tensor:
    """(T, T) float: the share of what was read at s that is left at t."""
    back = (torch.arange(T)[:, None] - torch.arange(T)).float()  # (T, T): t − s
    return torch.where(back >= 0, fading ** back.clamp(min=0), 0.0)


class Recurrent(nn.Module):
    """A recurrent layer of two states: `logits, state = model.read(tokens, state)`.

    Parameters
    ----------
    weights : mapping-like of Tensor
        `embedding` (V, C), `inward` (C, H), `across` (H, H), `output` (H, V).
    """

    def __init__(self, embedding: Tensor, inward: Tensor, across: Tensor, output: Tensor):
        super().__init__()
        self.embedding = nn.Parameter(embedding)
        self.inward = nn.Parameter(inward)
        self.across = nn.Parameter(across)
        self.output = nn.Parameter(output)

    def read(self, tokens: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """(B, T) → logits (B, T, V) and two states (1, B, H); None starts blank."""
        B, T = tokens.shape
        if state is None:
            blank = torch.zeros(1, B, self.across.shape[0])
            state = (blank, blank)
        hidden, cell = state[0][0], state[1][0]  # (B, H) each
        logits = []
        for t in range(T):
            new = (self.embedding[tokens[:, t]] @ self.inward + hidden @ self.across).tanh()
            cell = 0.8 * cell + new
            hidden = (0.5 * cell).tanh()
            logits.append(hidden @ self.output)
        return torch.stack(logits, dim=1), (hidden[None], cell[None])  # T × (B, V) → (B, T, V)
