"""A language model in one file: `python whole_program.py TEXT [STEPS]` learns TEXT, then writes."""

import math
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def windows(tokens: Tensor, B: int, T: int) -> tuple[Tensor, Tensor]:  # chapter 03
    """B pieces of the text (B, T), and the symbol that follows each of their symbols (B, T)."""
    places = torch.randint(len(tokens) - T, (B, 1)) + torch.arange(T)  # (B, 1) + (T,) → (B, T)
    return tokens[places], tokens[places + 1]


class Attention(nn.Module):  # chapter 06
    """Every position averages over its past, n_head times side by side."""

    def __init__(self, n_embd: int, n_head: int, block_size: int):
        super().__init__()
        self.n_head = n_head
        self.query_key_value = nn.Linear(n_embd, 3 * n_embd, bias=False)  # chapter 05
        self.projection = nn.Linear(n_embd, n_embd)  # chapter 06
        past = torch.ones(block_size, block_size, dtype=torch.bool).tril()  # chapter 01
        self.register_buffer("past", past)

    def forward(self, x: Tensor) -> Tensor:  # chapter 05
        B, T, C = x.shape
        parts = self.query_key_value(x).view(B, T, 3, self.n_head, C // self.n_head)  # chapter 06
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # (B, H, T, D) each
        scores = query @ key.mT / math.sqrt(C // self.n_head)  # chapter 02
        scores = scores.masked_fill(~self.past[:T, :T], -math.inf)  # chapter 01
        weights = scores.softmax(dim=-1)  # (B, H, T, T)
        together = (weights @ value).transpose(1, 2).flatten(2)  # chapter 06
        return self.projection(together)  # (B, T, C)


class Block(nn.Module):  # chapter 07
    """Attention, then two layers at each position by itself; both add to x."""

    def __init__(self, n_embd: int, n_head: int, block_size: int):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = Attention(n_embd, n_head, block_size)
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        widen, narrow = nn.Linear(n_embd, 4 * n_embd), nn.Linear(4 * n_embd, n_embd)
        self.feed_forward = nn.Sequential(widen, nn.ReLU(), narrow)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))


class GPT(nn.Module):  # chapter 08
    """Symbols (B, T) in; out come logits (B, T, V) of the symbols that follow."""

    def __init__(self, V: int, block_size: int, n_embd: int, n_head: int, n_layer: int):
        super().__init__()
        self.block_size = block_size
        self.symbols = nn.Embedding(V, n_embd)  # chapter 05
        self.positions = nn.Embedding(block_size, n_embd)
        blocks = [Block(n_embd, n_head, block_size) for _ in range(n_layer)]
        self.blocks = nn.Sequential(*blocks)  # chapter 08
        self.norm = nn.LayerNorm(n_embd)
        self.output = nn.Linear(n_embd, V, bias=False)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.symbols(tokens) + self.positions.weight[: tokens.shape[1]]  # chapter 05
        return self.output(self.norm(self.blocks(x)))  # chapter 08


def loss_of(model: GPT, x: Tensor, y: Tensor) -> Tensor:  # chapter 04
    """How surprised the model is by the symbols that came, in nats a symbol."""
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())  # (B·T, V), (B·T,)


def train(model: GPT, tokens: Tensor, held_out: Tensor, steps: int) -> None:  # chapter 08
    """Predict, compare with what came, move every weight a little."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, betas=(0.9, 0.95))  # chapter 04
    T = model.block_size
    x, y = [part[: len(part) // T * T].view(-1, T) for part in (held_out[:-1], held_out[1:])]
    for step in range(1, steps + 1):
        for group in optimizer.param_groups:  # chapter 08
            falling = 0.05 + 0.95 * (1 + math.cos(math.pi * step / steps)) / 2
            group["lr"] = 0.01 * min(step / 25, falling)
        loss = loss_of(model, *windows(tokens, 128, T))  # chapter 04
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # chapter 08
        optimizer.step()  # chapter 04
        if step % math.ceil(steps / 10) == 0 or step == steps:
            with torch.no_grad():
                print(f"step {step:5}, held-out loss {loss_of(model, x, y):.3f}", flush=True)


@torch.no_grad()
def write(model: GPT, tokens: Tensor, count: int) -> Tensor:  # chapter 04
    """Draw the next symbol from the model's probabilities, append it, and ask again."""
    for _ in range(count):
        logits = model(tokens[None, -model.block_size :])[0, -1]  # (V,)
        tokens = torch.cat([tokens, torch.multinomial(logits.softmax(dim=-1), 1)])
    return tokens


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    text = Path(sys.argv[1]).read_text(encoding="utf-8")  # chapter 03
    alphabet = sorted(set(text))
    tokens = torch.tensor([alphabet.index(symbol) for symbol in text])
    cut = int(0.9 * len(tokens))
    torch.manual_seed(1)
    gpt = GPT(len(alphabet), block_size=8, n_embd=32, n_head=4, n_layer=4)  # chapter 08
    train(gpt, tokens[:cut], tokens[cut:], steps=int(sys.argv[2]) if sys.argv[2:] else 2500)
    print("".join(alphabet[token] for token in write(gpt, tokens[:1], 400)))
