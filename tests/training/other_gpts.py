"""GPTs as readers bring them, written anew in the names, shapes and manners of nanoGPT."""

import types

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        C, T = config.n_embd, config.block_size
        self.n_head = config.n_head
        self.c_attn = nn.Linear(C, 3 * C, bias=config.bias)
        self.c_proj = nn.Linear(C, C, bias=config.bias)
        self.register_buffer("bias", torch.ones(T, T).tril().view(1, 1, T, T))

    def forward(self, x):
        query, key, value = (
            part.unflatten(-1, (self.n_head, -1)).transpose(1, 2)
            for part in self.c_attn(x).chunk(3, dim=-1)
        )
        scores = query @ key.mT / key.shape[-1] ** 0.5
        T = x.shape[1]
        scores = scores.masked_fill(self.bias[..., :T, :T] == 0, -torch.inf)
        return self.c_proj((scores.softmax(-1) @ value).transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd, bias=config.bias)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x)))


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd, bias=config.bias)
        self.attn = Attention(config)
        self.ln_2 = nn.LayerNorm(config.n_embd, bias=config.bias)
        self.mlp = Mlp(config)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class NanoGPT(nn.Module):
    """Targets of −1 count for nothing, those of −100 are an error; no targets, last logits only."""

    def __init__(self, vocab_size, block_size=8, n_layer=2, n_head=2, n_embd=12, bias=False):
        super().__init__()
        sizes = {"vocab_size": vocab_size, "block_size": block_size, "n_layer": n_layer}
        self.config = types.SimpleNamespace(**sizes, n_head=n_head, n_embd=n_embd, bias=bias)
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(vocab_size, n_embd),
                "wpe": nn.Embedding(block_size, n_embd),
                "h": nn.ModuleList([Layer(self.config) for _ in range(n_layer)]),
                "ln_f": nn.LayerNorm(n_embd, bias=bias),
            }
        )
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, idx, targets=None):
        T = idx.shape[1]
        assert self.config.block_size >= T, f"cannot read {T} tokens"
        x = self.transformer.wte(idx) + self.transformer.wpe(torch.arange(T))
        for layer in self.transformer.h:
            x = layer(x)
        x = self.transformer.ln_f(x)
        if targets is None:
            return self.lm_head(x[:, [-1]]), None
        logits = self.lm_head(x)
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)
