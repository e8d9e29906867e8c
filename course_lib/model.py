"""The models of chapters 04 to 08, from a bigram table to a GPT, and the fused form they lead to.

Every language model here is called as `logits, loss = model(tokens, targets)`: tokens (B, T),
logits (B, T, V), and a scalar loss, or None without targets. Targets of -100 count for nothing.
"""

from __future__ import annotations

import copy
import math
from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.config import Config
from course_lib.errors import ConfigError, ShapeError

Prediction: TypeAlias = tuple[Tensor, Tensor | None]
"""Logits (B, T, V) and their mean loss, or None without targets."""


def with_loss(logits: Tensor, targets: Tensor | None) -> Prediction:
    """How every language model ends: its logits, and their loss if targets are given (chapter 04).

    Parameters
    ----------
    logits : (B, T, V) float
        Of the next symbol at each position.
    targets : (B, T) int64 or None
        The symbols that followed; −100 counts for nothing.

    Returns
    -------
    logits : (B, T, V) float
        As they came.
    loss : () float or None
        Mean cross-entropy in nats; None without targets.
    """
    if targets is None:
        return logits, None
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())  # (B·T, V), (B·T,)
    return logits, loss


class Bigram(nn.Module):
    """A table that holds, for each symbol, the logits of the symbol that follows (chapter 04).

    Parameters
    ----------
    vocab_size : int
        V; the table is (V, V).
    """

    def __init__(self, vocab_size: int):
        super().__init__()
        self.table = nn.Embedding(vocab_size, vocab_size)  # one row for each current symbol

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> Prediction:
        """Logits (B, T, V) of the next symbol, and the mean loss if targets (B, T) are given."""
        logits = self.table(tokens)  # (B, T, V)
        return with_loss(logits, targets)


class TokensAndPositions(nn.Module):
    """The embedding of a symbol plus the embedding of its position (chapter 05).

    Parameters
    ----------
    vocab_size, block_size, n_embd : int
        V symbols, at most block_size positions, C channels.
    """

    def __init__(self, vocab_size: int, block_size: int, n_embd: int):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, n_embd)
        self.positions = nn.Embedding(block_size, n_embd)

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, T) integer → (B, T, C); a context longer than block_size is a ShapeError."""
        T, block_size = tokens.shape[1], self.positions.num_embeddings
        if T > block_size:
            raise ShapeError(
                f"the context holds {T} tokens, the model has {block_size} positions: "
                f"pass the last {block_size} only, tokens[:, -{block_size}:]"
            )
        where = torch.arange(T, device=tokens.device)
        return self.tokens(tokens) + self.positions(where)  # (B, T, C) + (T, C)


class Head(nn.Module):
    """One head of causal self-attention (chapter 05).

    Parameters
    ----------
    n_embd, head_size, block_size : int
        C channels in, D channels out, at most block_size positions.
    dropout : float
        Share of the attention weights dropped in training.

    Source: Vaswani et al. (2017), eq. 1, with the mask of section 3.2.3.
    """

    past: Tensor

    def __init__(self, n_embd: int, head_size: int, block_size: int, dropout: float = 0.0):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.dropout = nn.Dropout(dropout)
        past = torch.ones(block_size, block_size, dtype=torch.bool).tril()
        self.register_buffer("past", past, persistent=False)

    def weights(self, x: Tensor) -> Tensor:
        """How much each position looks at each: (B, T, C) → (B, T, T), rows sum to 1."""
        T = x.shape[1]
        query, key = self.query(x), self.key(x)  # (B, T, D) each
        scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])  # (B, T, T)
        scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        return scores.softmax(dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, D)."""
        return self.dropout(self.weights(x)) @ self.value(x)  # (B, T, T) @ (B, T, D)


class MultiHead(nn.Module):
    """Heads side by side, concatenated, then mixed by a projection (chapter 06).

    Parameters
    ----------
    n_embd, n_head, block_size : int
        C channels in and out, H heads of size D = C / H, at most block_size positions.
    dropout : float
        Share of the attention weights, and of the output, dropped in training.

    Raises
    ------
    ConfigError
        If H does not divide C.

    Source: Vaswani et al. (2017), section 3.2.2.
    """

    def __init__(self, n_embd: int, n_head: int, block_size: int, dropout: float = 0.0):
        super().__init__()
        if n_embd % n_head != 0:
            raise ConfigError(f"n_embd = {n_embd}, n_head = {n_head}: n_head must divide n_embd")
        head_size = n_embd // n_head
        self.heads = nn.ModuleList(
            [Head(n_embd, head_size, block_size, dropout) for _ in range(n_head)]
        )
        self.projection = nn.Linear(n_embd, n_embd)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        together = torch.cat([head(x) for head in self.heads], dim=-1)  # H × (B, T, D) → (B, T, C)
        return self.dropout(self.projection(together))


class FeedForward(nn.Module):
    """Two layers that each position goes through by itself: C → 4C, ReLU, 4C → C (chapter 07).

    Parameters
    ----------
    n_embd : int
        C channels in and out.
    dropout : float
        Share of the output dropped in training.

    Source: Vaswani et al. (2017), section 3.3.
    """

    def __init__(self, n_embd: int, dropout: float = 0.0):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_embd, 4 * n_embd),
            nn.ReLU(),
            nn.Linear(4 * n_embd, n_embd),
            nn.Dropout(dropout),
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C), each position by itself."""
        return self.layers(x)


class Block(nn.Module):
    """Attention, then feed-forward: each reads a normalized x and adds to it (chapter 07).

    Parameters
    ----------
    n_embd, n_head, block_size : int
        C channels, H heads, at most block_size positions.
    dropout : float
        Share of the attention weights, and of each branch's output, dropped in training.

    Source: pre-norm as in Radford et al. (2019), section 2.3.
    """

    def __init__(self, n_embd: int, n_head: int, block_size: int, dropout: float = 0.0):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = MultiHead(n_embd, n_head, block_size, dropout)
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.feed_forward = FeedForward(n_embd, dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        x = x + self.attention(self.attention_norm(x))
        x = x + self.feed_forward(self.feed_forward_norm(x))
        return x


class OneHead(nn.Module):
    """The language model of chapter 05: tokens and positions, one head, logits.

    Parameters
    ----------
    vocab_size, block_size, n_embd, head_size : int
        V, longest context, C and D.
    """

    def __init__(self, vocab_size: int, block_size: int, n_embd: int, head_size: int):
        super().__init__()
        self.block_size = block_size
        self.embedding = TokensAndPositions(vocab_size, block_size, n_embd)
        self.head = Head(n_embd, head_size, block_size)
        self.output = nn.Linear(head_size, vocab_size)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> Prediction:
        """Logits (B, T, V) of the next symbol, and the mean loss if targets (B, T) are given."""
        x = self.embedding(tokens)  # (B, T, C)
        logits = self.output(self.head(x))  # (B, T, D) → (B, T, V)
        return with_loss(logits, targets)


class ManyHeads(nn.Module):
    """The language model of chapter 06: tokens and positions, heads side by side, logits.

    Parameters
    ----------
    vocab_size, block_size, n_embd, n_head : int
        V, longest context, C and H.
    """

    def __init__(self, vocab_size: int, block_size: int, n_embd: int, n_head: int):
        super().__init__()
        self.block_size = block_size
        self.embedding = TokensAndPositions(vocab_size, block_size, n_embd)
        self.attention = MultiHead(n_embd, n_head, block_size)
        self.output = nn.Linear(n_embd, vocab_size)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> Prediction:
        """Logits (B, T, V) of the next symbol, and the mean loss if targets (B, T) are given."""
        x = self.embedding(tokens)  # (B, T, C)
        logits = self.output(self.attention(x))  # (B, T, C) → (B, T, V)
        return with_loss(logits, targets)


def last_linear(branch: nn.Module) -> nn.Linear:
    """The layer that writes what a branch has found onto the residual stream."""
    return [part for part in branch.modules() if isinstance(part, nn.Linear)][-1]


class GPT(nn.Module):
    """A decoder-only transformer: blocks on a residual stream, a last norm, logits (chapter 08).

    Parameters
    ----------
    config : Config
        Its sizes.

    Source: Radford et al. (2019); initialization as in section 2.3.
    """

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.block_size = config.block_size
        self.embedding = TokensAndPositions(config.vocab_size, config.block_size, config.n_embd)
        self.blocks = nn.Sequential(
            *[
                Block(config.n_embd, config.n_head, config.block_size, config.dropout)
                for _ in range(config.n_layer)
            ]
        )
        self.norm = nn.LayerNorm(config.n_embd)
        self.output = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        if config.tied:
            self.output.weight = self.embedding.tokens.weight
        self.initialize()

    def initialize(self) -> None:
        """Small weights: the first guess is nearly uniform, and the first loss nearly ln V."""
        branches = [part for part in self.modules() if isinstance(part, MultiHead | FeedForward)]
        ends = [last_linear(branch) for branch in branches]
        for part in self.modules():
            if part is self.output and self.config.tied:
                continue  # its weights are the embedding's, and have been drawn
            if isinstance(part, nn.Linear | nn.Embedding):
                # 2 · n_layer branches add up on the residual stream. Smaller weights at their ends
                # keep its variance nearly the same at every depth.
                smaller = math.sqrt(2 * self.config.n_layer) if part in ends else 1
                nn.init.normal_(part.weight, std=0.02 / smaller)
            if isinstance(part, nn.Linear) and part.bias is not None:
                nn.init.zeros_(part.bias)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> Prediction:
        """Logits (B, T, V) of the next symbol, and the mean loss if targets (B, T) are given."""
        x = self.embedding(tokens)  # (B, T, C)
        x = self.norm(self.blocks(x))  # (B, T, C)
        logits = self.output(x)  # (B, T, V)
        return with_loss(logits, targets)


class FusedMultiHead(nn.Module):
    """`MultiHead` as one projection and one call: the same numbers, fewer and larger operations.

    Parameters
    ----------
    n_embd, n_head, block_size, dropout
        As for `MultiHead`; so is the ConfigError if H does not divide C.
    """

    def __init__(self, n_embd: int, n_head: int, block_size: int, dropout: float = 0.0):
        super().__init__()
        if n_embd % n_head != 0:
            raise ConfigError(f"n_embd = {n_embd}, n_head = {n_head}: n_head must divide n_embd")
        self.n_head = n_head
        self.block_size = block_size
        self.query_key_value = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd)
        self.dropout = nn.Dropout(dropout)

    @classmethod
    def of(cls, plain: MultiHead) -> FusedMultiHead:
        """The fused form of `plain`, with copies of its weights."""
        heads = [head for head in plain.heads if isinstance(head, Head)]
        first = heads[0]
        C, block_size = first.query.in_features, len(first.past)
        fused = cls(C, len(heads), block_size, plain.dropout.p)
        rows = [h.query.weight for h in heads] + [h.key.weight for h in heads]
        rows += [h.value.weight for h in heads]
        with torch.no_grad():
            fused.query_key_value.weight.copy_(torch.cat(rows))  # 3H × (D, C) → (3C, C)
            fused.projection.load_state_dict(plain.projection.state_dict())
        return fused.to(first.query.weight.device).train(plain.training)

    def split(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of x (B, T, C): each (B, H, T, D)."""
        B, T, C = x.shape
        # (B, T, 3C) → (B, T, 3, H, D) → (3, B, H, T, D)
        parts = self.query_key_value(x).view(B, T, 3, self.n_head, C // self.n_head)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        return query, key, value

    def merge(self, together: Tensor) -> Tensor:
        """What the heads found (B, H, T, D), side by side and mixed: (B, T, C)."""
        together = together.transpose(1, 2).flatten(2)  # (B, H, T, D) → (B, T, H, D) → (B, T, C)
        return self.dropout(self.projection(together))

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        query, key, value = self.split(x)
        found = F.scaled_dot_product_attention(
            query, key, value, is_causal=True, dropout_p=self.dropout.p if self.training else 0.0
        )
        return self.merge(found)


def fuse(model: nn.Module) -> nn.Module:
    """A copy of a model in which every `MultiHead` is a `FusedMultiHead` with the same weights.

    Parameters
    ----------
    model : nn.Module
        Any model of this module, trained or fresh. It is left as it is.

    Returns
    -------
    nn.Module
        Gives the same logits up to rounding, faster; holds no tensor in common with `model`.
    """
    if isinstance(model, MultiHead):
        return FusedMultiHead.of(model)
    fused = copy.deepcopy(model)
    for name, child in list(fused.named_modules()):
        if isinstance(child, MultiHead):
            parent, _, attribute = name.rpartition(".")
            setattr(fused.get_submodule(parent), attribute, FusedMultiHead.of(child))
    return fused


def count_parameters(model: nn.Module) -> int:
    """How many numbers the model learns; a weight that two layers share counts once."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
