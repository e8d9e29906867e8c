"""Whole programs as students write them: one that is right, and changes that make others of it.

A style is a right program, a slip a wrong one: (name, what is replaced, by what). A replaced text
stands in the program exactly once, so that a change that changes nothing is an error.
"""

import functools
import linecache

PLAIN = """
import math
import time

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, n_embd, n_head, block_size):
        super().__init__()
        self.n_head = n_head
        self.queries = nn.Linear(n_embd, n_embd, bias=False)
        self.keys = nn.Linear(n_embd, n_embd, bias=False)
        self.values = nn.Linear(n_embd, n_embd, bias=False)
        self.out = nn.Linear(n_embd, n_embd)
        self.register_buffer("mask", torch.ones(block_size, block_size).tril() == 0)

    def forward(self, x):
        B, T, C = x.shape
        H = self.n_head
        q = self.queries(x).view(B, T, H, C // H).transpose(1, 2)
        k = self.keys(x).view(B, T, H, C // H).transpose(1, 2)
        v = self.values(x).view(B, T, H, C // H).transpose(1, 2)
        scores = q @ k.transpose(2, 3) / math.sqrt(C // H)
        scores = scores.masked_fill(self.mask[:T, :T], float("-inf"))
        weights = F.softmax(scores, dim=-1)
        found = (weights @ v).transpose(1, 2).reshape(B, T, C)
        return self.out(found)


class MLP(nn.Module):
    def __init__(self, n_embd):
        super().__init__()
        self.up = nn.Linear(n_embd, 4 * n_embd)
        self.down = nn.Linear(4 * n_embd, n_embd)

    def forward(self, x):
        return self.down(F.relu(self.up(x)))


class Layer(nn.Module):
    def __init__(self, n_embd, n_head, block_size):
        super().__init__()
        self.norm1 = nn.LayerNorm(n_embd)
        self.attention = Attention(n_embd, n_head, block_size)
        self.norm2 = nn.LayerNorm(n_embd)
        self.mlp = MLP(n_embd)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return x


class GPT(nn.Module):
    def __init__(self, vocab_size, block_size, n_embd, n_head, n_layer):
        super().__init__()
        self.block_size = block_size
        self.token = nn.Embedding(vocab_size, n_embd)
        self.position = nn.Embedding(block_size, n_embd)
        self.layers = nn.ModuleList([Layer(n_embd, n_head, block_size) for _ in range(n_layer)])
        self.norm = nn.LayerNorm(n_embd)
        self.head = nn.Linear(n_embd, vocab_size, bias=False)
        for part in self.modules():
            if isinstance(part, (nn.Linear, nn.Embedding)):
                nn.init.normal_(part.weight, std=0.02)

    def forward(self, tokens, targets=None):
        T = tokens.shape[1]
        x = self.token(tokens) + self.position(torch.arange(T))
        for layer in self.layers:
            x = layer(x)
        logits = self.head(self.norm(x))
        if targets is None:
            return logits, None
        loss = F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))
        return logits, loss


def train(text, seconds):
    start = time.monotonic()
    symbols = sorted(set(text))
    numbers = {symbol: number for number, symbol in enumerate(symbols)}
    data = torch.tensor([numbers[symbol] for symbol in text])
    model = GPT(len(symbols), 24, 32, 4, 2)
    model.symbols = symbols
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.004)
    while time.monotonic() - start < seconds:
        places = torch.randint(len(data) - 24, (16, 1)) + torch.arange(24)
        x, y = data[places], data[places + 1]
        loss = model(x, y)[1]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    return model


@torch.no_grad()
def write(model, prompt, n):
    mode = model.training
    model.eval()
    tokens = torch.tensor([[model.symbols.index(symbol) for symbol in prompt]])
    for _ in range(n):
        logits = model(tokens[:, -model.block_size :])[0][:, -1]
        probabilities = F.softmax(logits, dim=-1)
        following = torch.multinomial(probabilities, 1)
        tokens = torch.cat([tokens, following], dim=1)
    model.train(mode)
    return "".join(model.symbols[token] for token in tokens[0].tolist())
"""

# The layers are the first axis of each weight, and one table has the gains of all norms.
STACKED = """
import time
import torch
import torch.nn.functional as F
import torch.nn as nn


class GPT(nn.Module):
    def __init__(self, vocab_size, block_size, n_embd, n_head, n_layer):
        super().__init__()
        V, T, C, L = vocab_size, block_size, n_embd, n_layer
        self.block_size, self.n_head, self.n_layer = T, n_head, L
        self.E = nn.Parameter(torch.randn(V, C) * 0.1)
        self.P = nn.Parameter(torch.randn(T, C) * 0.1)
        self.Wqkv = nn.Parameter(torch.randn(L, C, 3 * C) / C ** 0.5)
        self.Wo = nn.Parameter(torch.randn(L, C, C) * 0.5 / C ** 0.5)
        self.W1 = nn.Parameter(torch.randn(L, C, 4 * C) / C ** 0.5)
        self.b1 = nn.Parameter(torch.zeros(L, 4 * C))
        self.W2 = nn.Parameter(torch.randn(L, 4 * C, C) * 0.25 / C ** 0.5)
        self.b2 = nn.Parameter(torch.zeros(L, C))
        self.g = nn.Parameter(torch.ones(2 * L + 1, C))
        self.U = nn.Parameter(torch.randn(C, V) * 0.02)

    def norm(self, x, i):
        x = x - x.mean(-1, keepdim=True)
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * self.g[i]

    def forward(self, idx, targets=None):
        B, T = idx.shape
        x = self.E[idx] + self.P[:T]
        C = x.shape[-1]
        H = self.n_head
        D = C // H
        past = torch.ones(T, T, dtype=torch.bool).tril()
        for l in range(self.n_layer):
            # attention
            h = self.norm(x, 2 * l)
            qkv = (h @ self.Wqkv[l]).view(B, T, 3, H, D).permute(2, 0, 3, 1, 4)
            q, k, v = qkv[0], qkv[1], qkv[2]
            s = (q / D ** 0.5) @ k.transpose(2, 3)
            s = torch.where(past, s, torch.tensor(-1e30))
            w = torch.exp(s - s.max(-1, keepdim=True).values)
            w = w / w.sum(-1, keepdim=True)
            y = (w @ v).permute(0, 2, 1, 3).reshape(B, T, C)
            x = x + y @ self.Wo[l]
            # feed-forward network
            h = self.norm(x, 2 * l + 1)
            h = F.silu(h @ self.W1[l] + self.b1[l])
            x = x + h @ self.W2[l] + self.b2[l]
        logits = self.norm(x, -1) @ self.U
        if targets is None:
            return logits, None
        right = logits.gather(2, targets.unsqueeze(2)).squeeze(2)
        loss = (torch.logsumexp(logits, dim=2) - right).mean()
        return logits, loss
"""

# A file of the shape that many people know, with the three names of the contract.
OF_A_KNOWN_SHAPE = """
import math
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F


class LayerNorm(nn.Module):
    def __init__(self, ndim, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(ndim))
        self.bias = nn.Parameter(torch.zeros(ndim)) if bias else None

    def forward(self, input):
        return F.layer_norm(input, self.weight.shape, self.weight, self.bias, 1e-5)


class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.attn_dropout = nn.Dropout(config.dropout)
        self.resid_dropout = nn.Dropout(config.dropout)
        self.n_head, self.n_embd = config.n_head, config.n_embd
        mask = torch.tril(torch.ones(config.block_size, config.block_size))
        self.register_buffer("bias", mask.view(1, 1, config.block_size, config.block_size))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = self.attn_dropout(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd, bias=config.bias)
        self.gelu = nn.GELU()
        self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd, bias=config.bias)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x):
        return self.dropout(self.c_proj(self.gelu(self.c_fc(x))))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = LayerNorm(config.n_embd, bias=config.bias)
        self.attn = CausalSelfAttention(config)
        self.ln_2 = LayerNorm(config.n_embd, bias=config.bias)
        self.mlp = MLP(config)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


@dataclass
class GPTConfig:
    block_size: int
    vocab_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.1
    bias: bool = True


class GPT(nn.Module):
    def __init__(self, vocab_size, block_size, n_embd, n_head, n_layer):
        super().__init__()
        config = GPTConfig(block_size, vocab_size, n_layer, n_head, n_embd)
        self.config = config
        self.transformer = nn.ModuleDict(dict(
            wte=nn.Embedding(config.vocab_size, config.n_embd),
            wpe=nn.Embedding(config.block_size, config.n_embd),
            drop=nn.Dropout(config.dropout),
            h=nn.ModuleList([Block(config) for _ in range(config.n_layer)]),
            ln_f=LayerNorm(config.n_embd, bias=config.bias),
        ))
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.transformer.wte.weight = self.lm_head.weight
        self.apply(self._init_weights)
        for pn, p in self.named_parameters():
            if pn.endswith("c_proj.weight"):
                nn.init.normal_(p, mean=0.0, std=0.02 / math.sqrt(2 * config.n_layer))

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, idx, targets=None):
        b, t = idx.size()
        assert t <= self.config.block_size
        pos = torch.arange(0, t, dtype=torch.long, device=idx.device)
        x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(pos))
        for block in self.transformer.h:
            x = block(x)
        x = self.transformer.ln_f(x)
        if targets is not None:
            logits = self.lm_head(x)
            loss = F.cross_entropy(
                logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1
            )
        else:
            logits = self.lm_head(x[:, [-1], :])
            loss = None
        return logits, loss

    @torch.no_grad()
    def generate(self, idx, max_new_tokens):
        for _ in range(max_new_tokens):
            size = self.config.block_size
            idx_cond = idx if idx.size(1) <= size else idx[:, -size:]
            logits, _ = self(idx_cond)
            probs = F.softmax(logits[:, -1, :], dim=-1)
            idx = torch.cat((idx, torch.multinomial(probs, num_samples=1)), dim=1)
        return idx


def train(text, seconds):
    chars = sorted(list(set(text)))
    stoi = {ch: i for i, ch in enumerate(chars)}
    data = torch.tensor([stoi[c] for c in text], dtype=torch.long)
    model = GPT(len(chars), 24, 32, 4, 2)
    model.stoi, model.itos = stoi, dict(enumerate(chars))
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    end = time.time() + seconds
    model.train()
    while time.time() < end:
        ix = torch.randint(len(data) - 24, (16,))
        x = torch.stack([data[i : i + 24] for i in ix])
        y = torch.stack([data[i + 1 : i + 25] for i in ix])
        _, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return model


def write(model, prompt, n):
    was = model.training
    model.eval()
    idx = torch.tensor([[model.stoi[c] for c in prompt]])
    out = model.generate(idx, n)[0].tolist()
    model.train(was)
    return "".join(model.itos[i] for i in out)
"""

MIX = """        q = self.queries(x).view(B, T, H, C // H).transpose(1, 2)
        k = self.keys(x).view(B, T, H, C // H).transpose(1, 2)
        v = self.values(x).view(B, T, H, C // H).transpose(1, 2)
"""
SCORES = """        scores = q @ k.transpose(2, 3) / math.sqrt(C // H)
        scores = scores.masked_fill(self.mask[:T, :T], float("-inf"))
        weights = F.softmax(scores, dim=-1)
        found = (weights @ v).transpose(1, 2).reshape(B, T, C)
"""
THREE = """        self.queries = nn.Linear(n_embd, n_embd, bias=False)
        self.keys = nn.Linear(n_embd, n_embd, bias=False)
        self.values = nn.Linear(n_embd, n_embd, bias=False)
"""
INIT = """        for part in self.modules():
            if isinstance(part, (nn.Linear, nn.Embedding)):
                nn.init.normal_(part.weight, std=0.02)
"""
LAYER = """        x = x + self.attention(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
"""
MLP = """        self.up = nn.Linear(n_embd, 4 * n_embd)
        self.down = nn.Linear(4 * n_embd, n_embd)

    def forward(self, x):
        return self.down(F.relu(self.up(x)))
"""
_ATTENTION = PLAIN[PLAIN.index("class Attention") : PLAIN.index("class MLP")]
EMBED = "x = self.token(tokens) + self.position(torch.arange(T))"

_HEAD_BY_HEAD = """class OneHead(nn.Module):
    def __init__(self, n_embd, head_size, block_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)

    def forward(self, x):
        T = x.shape[1]
        scores = self.query(x) @ self.key(x).transpose(1, 2) * self.key.weight.shape[0] ** -0.5
        scores = scores.masked_fill(torch.ones(T, T).tril() == 0, float("-inf"))
        return scores.softmax(-1) @ self.value(x)


class Attention(nn.Module):
    def __init__(self, n_embd, n_head, block_size):
        super().__init__()
        size = n_embd // n_head
        self.heads = nn.ModuleList([OneHead(n_embd, size, block_size) for _ in range(n_head)])
        self.out = nn.Linear(n_embd, n_embd)

    def forward(self, x):
        return self.out(torch.cat([head(x) for head in self.heads], dim=-1))


"""

_EINSUM = """class Attention(nn.Module):
    def __init__(self, n_embd, n_head, block_size):
        super().__init__()
        D = n_embd // n_head
        self.wq = nn.Parameter(torch.randn(n_embd, n_head, D) * 0.05)
        self.wk = nn.Parameter(torch.randn(n_embd, n_head, D) * 0.05)
        self.wv = nn.Parameter(torch.randn(n_embd, n_head, D) * 0.05)
        self.wo = nn.Parameter(torch.randn(n_head, D, n_embd) * 0.05)

    def forward(self, x):
        T, D = x.shape[1], self.wq.shape[2]
        q = torch.einsum("btc,chd->bthd", x, self.wq)
        k = torch.einsum("btc,chd->bthd", x, self.wk)
        v = torch.einsum("btc,chd->bthd", x, self.wv)
        scores = torch.einsum("bthd,bshd->bhts", q, k) / D**0.5
        scores = scores + torch.full((T, T), float("-inf")).triu(1)
        found = torch.einsum("bhts,bshd->bthd", scores.softmax(-1), v)
        return torch.einsum("bthd,hdc->btc", found, self.wo)


"""

_RMS = """class RMSNorm(nn.Module):
    def __init__(self, n_embd):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(n_embd))

    def forward(self, x):
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * self.gain


class Layer("""

_SWIGLU = """        hidden = 8 * n_embd // 3
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        gate = self.gate(x)
        return self.down(gate * torch.sigmoid(gate) * self.up(x))
"""

_ROTATE = """
def rotate(x):
    T, D = x.shape[2], x.shape[3]
    angles = torch.arange(T).view(T, 1) * 100.0 ** (-torch.arange(0, D, 2) / D)
    cos, sin = torch.cos(angles), torch.sin(angles)
    a, b = x[..., : D // 2], x[..., D // 2 :]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


class Attention("""

# name -> changes that leave a right program right
STYLES = {
    "plain": (),
    "fused": (
        (THREE, "        self.qkv = nn.Linear(n_embd, 3 * n_embd, bias=False)\n"),
        (
            MIX,
            "        q, k, v = self.qkv(x).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)\n",
        ),
    ),
    "fused head by head": (
        (THREE, "        self.qkv = nn.Linear(n_embd, 3 * n_embd, bias=False)\n"),
        (
            MIX,
            "        q, k, v = self.qkv(x).view(B, T, H, 3, C // H).permute(3, 0, 2, 1, 4)\n",
        ),
    ),
    "keys and values fused": (
        (
            THREE,
            "        self.q = nn.Linear(n_embd, n_embd, bias=False)\n"
            "        self.kv = nn.Linear(n_embd, 2 * n_embd, bias=False)\n",
        ),
        (
            MIX,
            "        q = self.q(x).view(B, T, H, C // H).transpose(1, 2)\n"
            "        k, v = self.kv(x).view(B, T, 2, H, C // H).permute(2, 0, 3, 1, 4)\n",
        ),
    ),
    "branches in one row": (
        (
            "        x = x + self.attention(self.norm1(x))\n"
            "        x = x + self.mlp(self.norm2(x))\n        return x\n",
            "        return x\n\n\n"
            "class Branch(nn.Module):\n    def __init__(self, width, inner):\n"
            "        super().__init__()\n        self.norm = nn.LayerNorm(width)\n"
            "        self.inner = inner\n\n    def forward(self, x):\n"
            "        return x + self.inner(self.norm(x))\n",
        ),
        (
            "        self.layers = nn.ModuleList([Layer(n_embd, n_head, block_size) "
            "for _ in range(n_layer)])\n",
            "        row = []\n        for _ in range(n_layer):\n"
            "            row.append(Branch(n_embd, Attention(n_embd, n_head, block_size)))\n"
            "            row.append(Branch(n_embd, MLP(n_embd)))\n"
            "        self.layers = nn.Sequential(*row)\n",
        ),
    ),
    "distances move scores": (
        (
            "        self.out = nn.Linear(n_embd, n_embd)\n",
            "        self.out = nn.Linear(n_embd, n_embd)\n"
            "        self.near = nn.Parameter(0.2 * torch.randn(n_head, block_size))\n",
        ),
        (
            "        scores = scores.masked_fill(",
            "        t = torch.arange(T)\n        distances = (t[:, None] - t).clamp(min=0)\n"
            "        scores = scores + self.near[:, distances]\n"
            "        scores = scores.masked_fill(",
        ),
        ("        self.position = nn.Embedding(block_size, n_embd)\n", ""),
        (" + self.position(torch.arange(T))", ""),
    ),
    "einsum": ((_ATTENTION, _EINSUM),),
    "head by head": ((_ATTENTION, _HEAD_BY_HEAD),),
    "scaled_dot_product_attention": (
        (
            SCORES,
            "        found = F.scaled_dot_product_attention(q, k, v, is_causal=True)\n"
            "        found = found.transpose(1, 2).reshape(B, T, C)\n",
        ),
    ),
    "a loop over positions": (
        (
            SCORES,
            "        found = torch.zeros(B, T, C)\n"
            "        rows = []\n"
            "        for t in range(T):\n"
            "            past = q[:, :, t : t + 1] @ k[:, :, : t + 1].transpose(2, 3)\n"
            "            share = (past * (C // H) ** -0.5).softmax(-1)\n"
            "            rows.append((share @ v[:, :, : t + 1]).reshape(B, C))\n"
            "        found = torch.stack(rows, dim=1)\n",
        ),
    ),
    "matrices times columns": (
        (
            "        self.up = nn.Linear(n_embd, 4 * n_embd)\n"
            "        self.down = nn.Linear(4 * n_embd, n_embd)\n",
            "        self.up = nn.Parameter(torch.randn(n_embd, 4 * n_embd) * 0.05)\n"
            "        self.down = nn.Parameter(torch.randn(4 * n_embd, n_embd) * 0.05)\n",
        ),
        ("self.down(F.relu(self.up(x)))", "F.relu(x @ self.up) @ self.down"),
    ),
    "tied": ((INIT, INIT + "        self.head.weight = self.token.weight\n"),),
    "a GELU": (("F.relu(", "F.gelu("),),
    "a bias on the output": (("vocab_size, bias=False)", "vocab_size)"),),
    "biases everywhere": (
        (THREE, THREE.replace(", bias=False", "")),
        ("vocab_size, bias=False)", "vocab_size)"),
    ),
    "default initialization": ((INIT, ""),),
    "RMS norms": (
        ("class Layer(", _RMS),
        ("self.norm1 = nn.LayerNorm(", "self.norm1 = RMSNorm("),
        ("self.norm2 = nn.LayerNorm(", "self.norm2 = RMSNorm("),
        ("self.norm = nn.LayerNorm(", "self.norm = RMSNorm("),
    ),
    "SwiGLU": ((MLP, _SWIGLU),),
    "norms afterwards": (
        (
            LAYER,
            "        x = self.norm1(x + self.attention(x))\n"
            "        x = self.norm2(x + self.mlp(x))\n",
        ),
        ("logits = self.head(self.norm(x))", "logits = self.head(x)"),
        ("        self.norm = nn.LayerNorm(n_embd)\n", ""),
    ),
    "rotary positions": (
        ("class Attention(", _ROTATE.lstrip("\n")),
        ("        scores = q @ k", "        q, k = rotate(q), rotate(k)\n        scores = q @ k"),
        ("        self.position = nn.Embedding(block_size, n_embd)\n", ""),
        (EMBED, "x = self.token(tokens)"),
    ),
    "sines and cosines": (
        (
            "        self.position = nn.Embedding(block_size, n_embd)\n",
            "        angles = torch.arange(block_size).view(-1, 1) / 50.0 ** (\n"
            "            torch.arange(0, n_embd, 2) / n_embd\n"
            "        )\n"
            "        table = torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)\n"
            '        self.register_buffer("position", table * 0.1)\n',
        ),
        ("self.position(torch.arange(T))", "self.position[:T]"),
    ),
    "dropout": (
        (
            "        return self.out(found)",
            "        return F.dropout(self.out(found), 0.1, self.training)",
        ),
    ),
    "only logits": (
        ("            return logits, None\n", "            return logits\n"),
        (
            "        return logits, loss\n",
            "        return loss, logits.view(-1, logits.shape[-1])\n",
        ),
        ("model(x, y)[1]", "model(x, y)[0]"),
        (
            "model(tokens[:, -model.block_size :])[0][:, -1]",
            "model(tokens[:, -model.block_size :])[:, -1]",
        ),
    ),
    "branches side by side": (
        (LAYER, "        x = x + self.attention(self.norm1(x)) + self.mlp(self.norm2(x))\n"),
    ),
    "branches that begin at zero": (
        (
            INIT,
            INIT + "        for layer in self.layers:\n"
            "            nn.init.zeros_(layer.attention.out.weight)\n"
            "            nn.init.zeros_(layer.mlp.down.weight)\n",
        ),
    ),
}


def changed(changes, source=PLAIN):
    """The program with these replacements; each has to be made exactly once."""
    for old, new in changes:
        found = source.count(old)
        if found != 1:
            raise ValueError(f"stands {found} times in the program: {old!r}")
        source = source.replace(old, new)
    return source


@functools.cache
def names_of(source):
    """What a program defines, as a notebook would hold it."""
    file = f"<program {abs(hash(source))}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"__name__": "__main__"}
    exec(compile(source, file, "exec"), space)
    return space


def right_programs():
    """Style -> what it defines."""
    programs = {style: names_of(changed(changes)) for style, changes in STYLES.items()}
    return programs | {
        "a file of a known shape": names_of(OF_A_KNOWN_SHAPE),
        "layers as an axis of each weight": names_of(STACKED),
    }
