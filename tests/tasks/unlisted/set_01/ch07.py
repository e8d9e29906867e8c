"""Unlisted wrong answers to chapter 07."""

import math

import torch
from torch import nn

# 07/layer-norm


def _norm(x, gain, shift, groups, eps, dim=-1, power=0.5):
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    mean = parts.mean(dim, keepdim=True)
    variance = ((parts - mean) ** 2).mean(dim, keepdim=True)
    return ((parts - mean) / (variance + eps) ** power).view(B, T, C) * gain + shift


def mean_absolute_deviation(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    centred = parts - parts.mean(-1, keepdim=True)
    return (centred / (centred.abs().mean(-1, keepdim=True) + eps)).view(B, T, C) * gain + shift


def gain_of_the_group(x, gain, shift, groups, eps):
    C = x.shape[-1]
    gain = gain[: C // groups].repeat(groups)
    return _norm(x, gain, shift, groups, eps)


def size_for_number(x, gain, shift, groups, eps):
    C = x.shape[-1]
    return _norm(x, gain, shift, C // groups if groups > 1 else 1, eps)


def shift_subtracted(x, gain, shift, groups, eps):
    return _norm(x, gain, -shift, groups, eps)


def eps_squared(x, gain, shift, groups, eps):
    return _norm(x, gain, shift, groups, eps**2)


def one_plus_gain(x, gain, shift, groups, eps):
    return _norm(x, 1 + gain, shift, groups, eps)


# 07/feed-forward


class _Gated(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        return self.down(torch.relu(self.gate(x)) * self.up(x))


class BiasOnTheWayDown(_Gated):
    def __init__(self, n_embd, hidden):
        super().__init__(n_embd, hidden)
        self.down = nn.Linear(hidden, n_embd)


class HardGate(_Gated):
    def forward(self, x):
        return self.down((self.gate(x) > 0) * self.up(x))


class GateAndUpExchanged(_Gated):
    def forward(self, x):
        return self.down(self.gate(x) * torch.relu(self.up(x)))


class AbsoluteGate(_Gated):
    def forward(self, x):
        return self.down(self.gate(x).abs() * self.up(x))


class LeakyGate(_Gated):
    def forward(self, x):
        return self.down(nn.functional.leaky_relu(self.gate(x)) * self.up(x))


class SquaredGate(_Gated):
    def forward(self, x):
        return self.down(torch.relu(self.gate(x)) ** 2 * self.up(x))


# 07/residual


class _Stream(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for branch in self.branches:
            x = x + branch(x) / len(self.branches) ** 0.5
        return x


class OneMoreThanN(_Stream):
    def forward(self, x):
        for branch in self.branches:
            x = x + branch(x) / math.sqrt(len(self.branches) + 1)
        return x


class RootOfTheNumberSoFar(_Stream):
    def forward(self, x):
        for n, branch in enumerate(self.branches, 1):
            x = x + branch(x) / math.sqrt(n)
        return x


class LastBranchForgotten(_Stream):
    def forward(self, x):
        for branch in self.branches[:-1]:
            x = x + branch(x) / math.sqrt(len(self.branches))
        return x


class StreamDividedBeforeTheBranch(_Stream):
    def forward(self, x):
        for branch in self.branches:
            x = x + branch(x / math.sqrt(len(self.branches)))
        return x


class EndDivided(_Stream):
    def forward(self, x):
        for branch in self.branches:
            x = x + branch(x)
        return x / math.sqrt(len(self.branches))


class BranchesCopied(_Stream):
    def __init__(self, branches):
        super().__init__([branches[0]] * len(branches))


# 07/pre-norm-block


class _Decoder(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward

    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory)
        return x + self.feed_forward(self.feed_forward_norm(x))


class NormsExchanged(_Decoder):
    def forward(self, x, memory):
        x = x + self.attention(self.cross_norm(x))
        x = x + self.cross_attention(self.attention_norm(x), memory)
        return x + self.feed_forward(self.feed_forward_norm(x))


class MemoryReversed(_Decoder):
    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory[:1].expand_as(memory))
        return x + self.feed_forward(self.feed_forward_norm(x))


class FinalNorm(_Decoder):
    def forward(self, x, memory):
        x = super().forward(x, memory)
        return nn.functional.layer_norm(x, x.shape[-1:])


class LastNotAdded(_Decoder):
    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory)
        return self.feed_forward(self.feed_forward_norm(x))


class MemoryAdded(_Decoder):
    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory) + memory.mean(1, keepdim=True)
        return x + self.feed_forward(self.feed_forward_norm(x))


class AttentionTwice(_Decoder):
    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        return super().forward(x, memory)


# 07/parameter-count


def _count(V, T, N, H, C, F, bias, tied, **other):
    counts = {
        "embeddings": (V + T) * C,
        "attention": N * (4 * C * C + bias * C),
        "feed_forward": N * (2 * C * F + bias * (F + C)),
        "norms": (2 * N + 1) * (1 + bias) * C,
        "output": 0 if tied else V * C,
    } | other
    return counts | {"total": sum(counts.values())}


def _counting(change):
    def answer(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
        sizes = (vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied)
        return _count(*sizes, **change(*sizes))

    return answer


final_norm_in_every_block = _counting(lambda V, T, N, H, C, F, b, t: {"norms": 3 * N * (1 + b) * C})
heads_divide = _counting(
    lambda V, T, N, H, C, F, b, t: {"attention": N * (3 * C * C // H + C * C + b * C)}
)
half_a_parameter = _counting(
    lambda V, T, N, H, C, F, b, t: {"attention": N * (4 * C * C + b * C) + 0.3}
)
one_too_many = _counting(lambda V, T, N, H, C, F, b, t: {"embeddings": (V + T) * C + 1})
tied_takes_off_the_embedding = _counting(
    lambda V, T, N, H, C, F, b, t: {"embeddings": (T if t else V + T) * C}
)
output_of_the_block_size = _counting(lambda V, T, N, H, C, F, b, t: {"output": 0 if t else T * C})

# 07/find-fault


def _tries(block, B, T, C, tolerance=1e-4, again=True):
    x = torch.randn(B, T, C)
    y = block(x)
    t = T // 2
    later = x.clone()
    later[:, t:] = torch.randn(B, T - t, C)
    future = (block(later)[:, :t] - y[:, :t]).abs().max() > tolerance
    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        rest = torch.arange(B) != b
        batch = batch or (block(other)[rest] - y[rest]).abs().max() > tolerance
    stream = (block(x + 3) - y - 3).abs().max() > tolerance
    return {"future": bool(future), "batch": bool(batch), "stream": bool(stream)}


def tolerance_of_ten(block, B, T, C):
    return _tries(block, B, T, C, tolerance=10.0)


def no_tolerance(block, B, T, C):
    return _tries(block, B, T, C, tolerance=0.0)


def only_the_last_position(block, B, T, C):
    found = _tries(block, B, T, C)
    x = torch.randn(B, T, C)
    later = x.clone()
    later[:, -1] = 0
    found["future"] = bool((block(later)[:, -1] - block(x)[:, -1]).abs().max() > 1e-4)
    return found


def faults_stay(block, B, T, C, seen={}):  # noqa: B006 - the mistake
    for name, found in _tries(block, B, T, C).items():
        seen[name] = seen.get(name, False) or found
    return dict(seen)


def scaled_stream(block, B, T, C):
    found = _tries(block, B, T, C)
    x = torch.randn(B, T, C)
    found["stream"] = bool((block(2 * x) - 2 * block(x)).abs().max() > 1e-4)
    return found


def answers_turned(block, B, T, C):
    return {name: not found for name, found in _tries(block, B, T, C).items()}


WRITTEN = {
    "07/layer-norm": [
        mean_absolute_deviation,
        gain_of_the_group,
        shift_subtracted,
        size_for_number,
        eps_squared,
        one_plus_gain,
    ],
    "07/feed-forward": [
        BiasOnTheWayDown,
        HardGate,
        AbsoluteGate,
        GateAndUpExchanged,
        LeakyGate,
        SquaredGate,
    ],
    "07/residual": [
        OneMoreThanN,
        RootOfTheNumberSoFar,
        LastBranchForgotten,
        StreamDividedBeforeTheBranch,
        BranchesCopied,
        EndDivided,
    ],
    "07/pre-norm-block": [
        NormsExchanged,
        MemoryReversed,
        LastNotAdded,
        FinalNorm,
        MemoryAdded,
        AttentionTwice,
    ],
    "07/parameter-count": [
        final_norm_in_every_block,
        heads_divide,
        tied_takes_off_the_embedding,
        half_a_parameter,
        one_too_many,
        output_of_the_block_size,
    ],
    "07/find-fault": [
        tolerance_of_ten,
        no_tolerance,
        scaled_stream,
        only_the_last_position,
        faults_stay,
        answers_turned,
    ],
}

ASIDE = ()
