"""Wrong answers to chapter 07, second set."""

import math

import torch
from torch import nn


def norm_of_every_nth_channel(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = x.view(B, T, C // groups, groups)
    centred = parts - parts.mean(dim=2, keepdim=True)
    variance = centred.square().mean(dim=2, keepdim=True)
    return gain * (centred / (variance + eps).sqrt()).view(B, T, C) + shift


def norm_after_the_gain(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = (gain * x + shift).view(B, T, groups, C // groups)
    centred = parts - parts.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return (centred / (variance + eps).sqrt()).view(B, T, C)


def norm_without_the_root(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    centred = parts - parts.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return gain * (centred / (variance + eps)).view(B, T, C) + shift


class _Gated(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)


class GateOnBothSides(_Gated):
    def forward(self, x):
        return self.down(self.gate(x).relu() * self.up(x).relu())


class GateAdded(_Gated):
    def forward(self, x):
        return self.down(self.gate(x).relu() + self.up(x))


class GateOpenOrClosed(_Gated):
    def forward(self, x):
        return self.down((self.gate(x) > 0) * self.up(x))


class _Stream(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)


class StreamDividedWhole(_Stream):
    def forward(self, x):
        for branch in self.branches:
            x = (x + branch(x)) / math.sqrt(len(self.branches))
        return x


class StreamDividedByTheTurn(_Stream):
    def forward(self, x):
        for turn, branch in enumerate(self.branches, start=1):
            x = x + branch(x) / math.sqrt(turn)
        return x


class StreamDividedByTheChannels(_Stream):
    def forward(self, x):
        for branch in self.branches:
            x = x + branch(x) / math.sqrt(x.shape[-1])
        return x


class _Decoder(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_norm = nn.LayerNorm(n_embd)
        self.cross_attention = cross_attention
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.feed_forward = feed_forward


class DecoderWithOneNorm(_Decoder):
    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.attention_norm(x), memory)
        return x + self.feed_forward(self.attention_norm(x))


class DecoderWithoutTheCrossSkip(_Decoder):
    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = self.cross_attention(self.cross_norm(x), memory)
        return x + self.feed_forward(self.feed_forward_norm(x))


class DecoderThatLooksAtItself(_Decoder):
    """Gives the stream to the cross-attention as its memory."""

    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), self.cross_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))


def _counts(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    C = n_embd
    return {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * C * hidden + bias * (hidden + C)),
        "norms": (2 * n_layer + 1) * (1 + bias) * C,
        "output": 0 if tied else vocab_size * C,
    }


def count_with_four_biases(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    counts = _counts(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied)
    counts["attention"] = n_layer * 4 * (n_embd**2 + bias * n_embd)
    return counts | {"total": sum(counts.values())}


def count_with_a_bias_at_the_output(
    vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied
):
    counts = _counts(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied)
    if not tied:
        counts["output"] += bias * vocab_size
    return counts | {"total": sum(counts.values())}


def count_of_one_block(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    """Attention is that of one block; the rest and the total are those of the model."""
    counts = _counts(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied)
    total = sum(counts.values())
    counts["attention"] //= n_layer
    return counts | {"total": total}


def _inspected(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)
    later = x.clone()
    later[:, T // 2 :] = torch.randn(B, T - T // 2, C)
    future = not torch.allclose(block(later)[:, : T // 2], y[:, : T // 2], atol=1e-4)
    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        untouched = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[untouched], y[untouched], atol=1e-4)
    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


def inspector_that_doubles_the_stream(block, B, T, C):
    x = torch.randn(B, T, C)
    stream = not torch.allclose(block(2 * x), 2 * block(x), atol=1e-4)
    return _inspected(block, B, T, C) | {"stream": stream}


def inspector_that_changes_the_last_sample(block, B, T, C):
    x = torch.randn(B, T, C)
    other = x.clone()
    other[-1] = torch.randn(T, C)
    batch = not torch.allclose(block(other), block(x), atol=1e-4)
    return _inspected(block, B, T, C) | {"batch": batch}


def inspector_of_the_past(block, B, T, C):
    """Changes what comes first and looks whether what comes later changes."""
    x = torch.randn(B, T, C)
    other = x.clone()
    other[:, : T // 2] = torch.randn(B, T // 2, C)
    future = not torch.allclose(block(other)[:, T // 2 :], block(x)[:, T // 2 :], atol=1e-4)
    return _inspected(block, B, T, C) | {"future": future}


def losses_as_differences():
    return {
        "text": "shakespeare",
        "all_four": 2.351,
        "without_first": 2.820,
        "without_last": 0.165,
    }


WRITTEN = {
    "07/layer-norm": [norm_of_every_nth_channel, norm_after_the_gain, norm_without_the_root],
    "07/feed-forward": [GateOnBothSides, GateAdded, GateOpenOrClosed],
    "07/residual": [StreamDividedWhole, StreamDividedByTheTurn, StreamDividedByTheChannels],
    "07/pre-norm-block": [
        DecoderWithOneNorm,
        DecoderWithoutTheCrossSkip,
        DecoderThatLooksAtItself,
    ],
    "07/parameter-count": [
        count_with_four_biases,
        count_with_a_bias_at_the_output,
        count_of_one_block,
    ],
    "07/find-fault": [
        inspector_that_doubles_the_stream,
        inspector_that_changes_the_last_sample,
        inspector_of_the_past,
    ],
    "07/without-a-block": [losses_as_differences],
}

ASIDE = {
    "norm_without_the_root",
    "GateOpenOrClosed",
    "StreamDividedByTheChannels",
    "DecoderThatLooksAtItself",
    "count_of_one_block",
    "inspector_of_the_past",
}
