"""A right program, which earns everything, in the order in which the chapters built it."""

from __future__ import annotations

import math
import time

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Attention(nn.Module):
    """Every position averages over its past, n_head times side by side."""

    past: Tensor

    def __init__(self, block_size: int, n_embd: int, n_head: int):
        super().__init__()
        self.n_head = n_head
        self.query_key_value = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd)
        past = torch.ones(block_size, block_size, dtype=torch.bool).tril()
        self.register_buffer("past", past)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        B, T, C = x.shape
        parts = self.query_key_value(x).view(B, T, 3, self.n_head, C // self.n_head)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # (B, H, T, D) each
        scores = query @ key.transpose(-2, -1) / math.sqrt(C // self.n_head)
        weights = scores.masked_fill(~self.past[:T, :T], -math.inf).softmax(dim=-1)
        return self.projection((weights @ value).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention, then two layers at each position by itself; both add to x."""

    def __init__(self, block_size: int, n_embd: int, n_head: int):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = Attention(block_size, n_embd, n_head)
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.widen = nn.Linear(n_embd, 4 * n_embd)
        self.narrow = nn.Linear(4 * n_embd, n_embd)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        x = x + self.attention(self.attention_norm(x))
        return x + self.narrow(self.widen(self.feed_forward_norm(x)).relu())


class GPT(nn.Module):
    """Logits of what follows each symbol, and their loss if that is given."""

    def __init__(self, vocab_size: int, block_size: int, n_embd: int, n_head: int, n_layer: int):
        super().__init__()
        self.block_size = block_size
        self.alphabet: list[str] = []
        self.tokens = nn.Embedding(vocab_size, n_embd)
        self.positions = nn.Embedding(block_size, n_embd)
        self.blocks = nn.ModuleList([Block(block_size, n_embd, n_head) for _ in range(n_layer)])
        self.norm = nn.LayerNorm(n_embd)
        self.output = nn.Linear(n_embd, vocab_size, bias=False)
        for part in self.modules():
            if isinstance(part, nn.Linear | nn.Embedding):
                nn.init.normal_(part.weight, std=0.02)

    def forward(
        self, tokens: Tensor, targets: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """(B, T) → (B, T, V), and a loss or None."""
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = self.output(self.norm(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def train(text: str, seconds: float) -> GPT:
    """A model of the text, after so many seconds."""
    began, T = time.monotonic(), 32
    alphabet = sorted(set(text))
    numbers = {symbol: number for number, symbol in enumerate(alphabet)}
    data = torch.tensor([numbers[symbol] for symbol in text])
    model = GPT(len(alphabet), T, 48, 4, 2)
    model.alphabet = alphabet
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.004)
    while (spent := time.monotonic() - began) < seconds:
        for group in optimizer.param_groups:
            group["lr"] = 0.004 * min(1.0, 1.1 - spent / seconds)
        places = torch.randint(len(data) - T, (16, 1)) + torch.arange(T)
        loss = model(data[places], data[places + 1])[1]
        assert loss is not None
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def write(model: GPT, prompt: str, n: int) -> str:
    """The prompt, and n symbols drawn from the model's probabilities."""
    mode = model.training
    model.eval()
    tokens = torch.tensor([model.alphabet.index(symbol) for symbol in prompt])
    with torch.no_grad():
        for _ in range(n):
            logits = model(tokens[None, -model.block_size :])[0][0, -1]  # (V,)
            tokens = torch.cat([tokens, torch.multinomial(logits.softmax(dim=-1), 1)])
    model.train(mode)
    return "".join(model.alphabet[token] for token in tokens.tolist())
