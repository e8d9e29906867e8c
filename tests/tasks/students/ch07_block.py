"""Answers to the tasks of chapter 07, as students write them."""

import math
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# --- layer-norm -----------------------------------------------------------------------------------


def norm_by_library(x, gain, shift, groups, eps):
    B, T, C = x.shape
    y = F.layer_norm(x.reshape(B, T, groups, C // groups), (C // groups,), eps=eps)
    return y.reshape(B, T, C) * gain + shift


def norm_by_group_norm(x, gain, shift, groups, eps):
    B, T, C = x.shape
    return F.group_norm(x.reshape(B * T, C), groups, gain, shift, eps).view(B, T, C)


def norm_by_loop(x, gain, shift, groups, eps):
    y = torch.empty_like(x)
    size = x.shape[-1] // groups
    for g in range(groups):
        these = slice(g * size, (g + 1) * size)
        part = x[..., these]
        mean = part.sum(-1, keepdim=True) / size
        variance = ((part - mean) ** 2).sum(-1, keepdim=True) / size
        y[..., these] = (part - mean) / torch.sqrt(variance + eps)
    return y * gain + shift


def norm_in_numpy(x, gain, shift, groups, eps):
    parts = np.stack(np.split(x.numpy(), groups, axis=-1))
    normed = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + eps)
    return np.concatenate(list(normed), axis=-1) * gain.numpy() + shift.numpy()


def norm_of_lists(x, gain, shift, groups, eps):
    size = x.shape[-1] // groups
    out = []
    for sample in x.tolist():
        rows = []
        for row in sample:
            new = []
            for c, value in enumerate(row):
                part = row[c // size * size : c // size * size + size]
                mean = sum(part) / size
                variance = sum((v - mean) ** 2 for v in part) / size
                new.append((value - mean) / math.sqrt(variance + eps) * gain[c] + shift[c])
            rows.append([float(v) for v in new])
        out.append(rows)
    return out


def norming(statistics, dims=-1, divide=None):
    """A norm by groups with other statistics."""
    divide = divide or (lambda part, eps: torch.sqrt(part.var(dims, False, keepdim=True) + eps))

    def answer(x, gain, shift, groups, eps):
        B, T, C = x.shape
        part = x.view(B, T, groups, C // groups)
        return ((part - statistics(part)) / divide(part, eps)).reshape(B, T, C) * gain + shift

    return answer


def own_mean(part):
    return part.mean(-1, keepdim=True)


def along(*dims):
    return norming(lambda part: part.mean(dims, keepdim=True), dims)


def whole_layer_norm(x, gain, shift, groups, eps):
    return F.layer_norm(x, (x.shape[-1],), gain, shift, eps)


def every_other_channel(x, gain, shift, groups, eps):
    y = torch.empty_like(x)
    for g in range(groups):
        part = x[..., g::groups]
        y[..., g::groups] = F.layer_norm(part, (part.shape[-1],), eps=eps)
    return y * gain + shift


# --- feed-forward ---------------------------------------------------------------------------------


class GatedBase(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)


def gated(forward):
    return type("Gated", (GatedBase,), {"forward": forward})


class GatedInAnotherOrder(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.down = nn.Linear(hidden, n_embd)
        self.up = nn.Linear(n_embd, hidden)
        self.gate = nn.Linear(n_embd, hidden)
        self.relu = nn.ReLU()

    def forward(self, x):
        opened = self.relu(self.gate(x))
        opened *= self.up(x)
        return self.down(opened)


def gated_by_where(self, x):
    gate = self.gate(x)
    return self.down(torch.where(gate > 0, gate * self.up(x), 0.0))


def gated_by_einsum(self, x):
    gate = torch.einsum("btc,hc->bth", x, self.gate.weight)
    up = torch.einsum("btc,hc->bth", x, self.up.weight)
    return torch.einsum("bth,bth,ch->btc", gate.clamp(min=0), up, self.down.weight)


def gated_by_loop(self, x):
    rows = []
    for sample in x:
        rows.append(
            torch.stack(
                [
                    self.down(torch.maximum(self.gate(v), torch.zeros(())) * self.up(v))
                    for v in sample
                ]
            )
        )
    return torch.stack(rows)


# --- residual -------------------------------------------------------------------------------------


class StreamOfList(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.layers = nn.ModuleList()
        for branch in branches:
            self.layers.append(branch)
        self.scale = len(branches) ** -0.5

    def forward(self, x):
        y = x.clone()
        for layer in self.layers:
            y += self.scale * layer(y.clone())
        return y


class StreamByName(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.n = len(branches)
        for i, branch in enumerate(branches):
            self.add_module(f"branch{i}", branch)

    def forward(self, x):
        for i in range(self.n):
            x = torch.add(x, getattr(self, f"branch{i}")(x), alpha=1 / math.sqrt(self.n))
        return x


class StreamOfSteps(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.steps = nn.Sequential(*[Step(branch, len(branches)) for branch in branches])

    def forward(self, x):
        return self.steps(x)


class Step(nn.Module):
    def __init__(self, branch, n):
        super().__init__()
        self.branch, self.root = branch, n**0.5

    def forward(self, x):
        return x + self.branch(x) / self.root


def streaming(forward, keep=nn.ModuleList):
    """A stream whose forward is a function of the branches, √N and x."""

    class Stream(nn.Module):
        def __init__(self, branches):
            super().__init__()
            self.kept = keep(branches)

        def forward(self, x):
            return forward(self.kept, len(self.kept) ** 0.5, x)

    return Stream


def rightly(branches, root, x):
    for branch in branches:
        x = x + branch(x) / root
    return x


def one_after_another(branches, root, x):
    for branch in branches:
        x = branch(x) / root
    return x


def sequential(branches, root, x):
    return nn.Sequential(*branches)(x)


def doubled(branches, root, x):
    for branch in branches:
        x = 2 * x + branch(x) / root
    return x


def unscaled(branches, root, x):
    for branch in branches:
        x = x + branch(x)
    return x


def by_the_number(branches, root, x):
    for branch in branches:
        x = x + branch(x) / len(branches)
    return x


def everything_shrinks(branches, root, x):
    for branch in branches:
        x = x / root + branch(x) / root
    return x


def parallel(branches, root, x):
    return x + sum(branch(x) for branch in branches) / root


def always_from_the_start(branches, root, x):
    stream = x
    for branch in branches:
        stream = x + branch(stream) / root
    return stream


def backwards(branches, root, x):
    return rightly(reversed(branches), root, x)


def plus_equals(branches, root, x):
    for branch in branches:
        x.add_(branch(x) / root)
    return x


def without_gradient(branches, root, x):
    for branch in branches:
        with torch.no_grad():
            written = branch(x)
        x = x + written / root
    return x


def stream_without_gradient(branches, root, x):
    for branch in branches:
        x = torch.add(branch(x) / root, x.detach())
    return x


# --- pre-norm-block -------------------------------------------------------------------------------


class BlockBase(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attn, self.cross, self.ffn = attention, cross_attention, feed_forward
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.attention_norm = nn.LayerNorm(n_embd)

    def forward(self, x, memory):
        h = x + self.attn(self.attention_norm(x))
        h = h + self.cross(self.cross_norm(h), memory)
        h = h + self.ffn(self.feed_forward_norm(h))
        return h


class OwnNorm(nn.Module):
    def __init__(self, n_embd):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n_embd))
        self.bias = nn.Parameter(torch.zeros(n_embd))

    def forward(self, x):
        return norm_by_loop(x, self.weight, self.bias, 1, 1e-5)


class BlockWithOwnNorms(BlockBase):
    def __init__(self, n_embd, *branches):
        super().__init__(n_embd, *branches)
        self.attention_norm = OwnNorm(n_embd)
        self.cross_norm = OwnNorm(n_embd)
        self.feed_forward_norm = OwnNorm(n_embd)


def blocked(forward, base=BlockBase):
    return type("SomeBlock", (base,), {"forward": forward})


def block_of_written(self, x, memory):
    written = self.attn(self.attention_norm(x))
    written = written + self.cross(self.cross_norm(x + written), memory)
    return x + written + self.ffn(self.feed_forward_norm(x + written))


def block_in_place(self, x, memory):
    y = x.clone()
    y += self.attn(self.attention_norm(y))
    y += self.cross(self.cross_norm(y), memory)
    y += self.ffn(self.feed_forward_norm(y))
    return y


class SharedNorm(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        norm = nn.LayerNorm(n_embd)
        self.attention_norm, self.cross_norm, self.feed_forward_norm = norm, norm, norm
        self.attn, self.cross, self.ffn = attention, cross_attention, feed_forward

    forward = BlockBase.forward


def after_the_sum(self, x, memory):
    x = self.attention_norm(x + self.attn(x))
    x = self.cross_norm(x + self.cross(x, memory))
    return self.feed_forward_norm(x + self.ffn(x))


def after_the_branch(self, x, memory):
    x = x + self.attention_norm(self.attn(x))
    x = x + self.cross_norm(self.cross(x, memory))
    return x + self.feed_forward_norm(self.ffn(x))


def overwritten_by_norm(self, x, memory):
    x = self.attention_norm(x)
    x = x + self.attn(x)
    x = self.cross_norm(x)
    x = x + self.cross(x, memory)
    x = self.feed_forward_norm(x)
    return x + self.ffn(x)


def in_a_row(self, x, memory):
    x = self.attn(self.attention_norm(x))
    x = self.cross(self.cross_norm(x), memory)
    return self.ffn(self.feed_forward_norm(x))


def added_again(self, x, memory):
    x = x + (x + self.attn(self.attention_norm(x)))
    x = x + (x + self.cross(self.cross_norm(x), memory))
    return x + (x + self.ffn(self.feed_forward_norm(x)))


def never_normed(self, x, memory):
    x = x + self.attn(x)
    x = x + self.cross(x, memory)
    return x + self.ffn(x)


def raw_thinking(self, x, memory):
    x = x + self.attn(self.attention_norm(x))
    x = x + self.cross(self.cross_norm(x), memory)
    return self.ffn(x) + x


def listening(ask):
    def forward(self, x, memory):
        x = x + self.attn(self.attention_norm(x))
        x = x + self.cross(*ask(self, x, memory))
        return x + self.ffn(self.feed_forward_norm(x))

    return forward


def two_branches(self, x, memory):
    x = x + self.attn(self.attention_norm(x))
    return x + self.ffn(self.feed_forward_norm(x))


def thinking_second(self, x, memory):
    x = x + self.attn(self.attention_norm(x))
    x = x + self.ffn(self.feed_forward_norm(x))
    return x + self.cross(self.cross_norm(x), memory)


def listening_first(self, x, memory):
    x = x + self.cross(self.cross_norm(x), memory)
    x = x + self.attn(self.attention_norm(x))
    return x + self.ffn(self.feed_forward_norm(x))


def all_at_once(self, x, memory):
    branches = [
        self.attn(self.attention_norm(x)),
        self.cross(self.cross_norm(x), memory),
        self.ffn(self.feed_forward_norm(x)),
    ]
    return x + sum(branches)


# --- parameter-count ------------------------------------------------------------------------------


def counted_by_building(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    def size(*modules):
        return sum(p.numel() for m in modules for p in m.parameters())

    D = n_embd // n_head
    heads = [nn.Linear(n_embd, D, bias=False) for _ in range(3 * n_head)]
    attention = size(*heads, nn.Linear(n_embd, n_embd, bias=bias))
    thinking = size(nn.Linear(n_embd, hidden, bias=bias), nn.Linear(hidden, n_embd, bias=bias))
    found = {
        "embeddings": size(nn.Embedding(vocab_size, n_embd), nn.Embedding(block_size, n_embd)),
        "attention": n_layer * attention,
        "feed_forward": n_layer * thinking,
        "norms": (2 * n_layer + 1) * size(nn.LayerNorm(n_embd, bias=bias)),
        "output": 0 if tied else size(nn.Linear(n_embd, vocab_size, bias=False)),
    }
    found["total"] = sum(found.values())
    return found


def counted_by_loop(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    found = dict.fromkeys(["attention", "feed_forward", "norms"], 0)
    for _ in range(n_layer):
        for _ in range(n_head):
            found["attention"] += 3 * n_embd * (n_embd // n_head)
        found["attention"] += n_embd * n_embd
        found["feed_forward"] += n_embd * hidden + hidden * n_embd
        found["norms"] += 2 * n_embd
        if bias:
            found["attention"] += n_embd
            found["feed_forward"] += hidden + n_embd
            found["norms"] += 2 * n_embd
    found["norms"] += n_embd + (n_embd if bias else 0)
    found["embeddings"] = vocab_size * n_embd + block_size * n_embd
    found["output"] = vocab_size * n_embd * (not tied)
    found["total"] = sum(found.values())
    return found


def counted_in_tensors(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    return {k: torch.tensor(v) for k, v in counted_by_loop(**locals()).items()}


def miscounted(**parts):
    """Right but for some parts; each is a function of V, T, N, H, C, F and b (0 or 1)."""

    def answer(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
        found = counted_by_loop(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied)
        for part, formula in parts.items():
            if part != "output" or not tied:
                found[part] = formula(
                    vocab_size, block_size, n_layer, n_head, n_embd, hidden, int(bias)
                )
        del found["total"]
        return {**found, "total": sum(found.values())}

    return answer


def tied_and_counted(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    return counted_by_loop(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, False)


# --- find-fault -----------------------------------------------------------------------------------


def inspect_by_positions(block, B, T, C):
    torch.manual_seed(5)
    x = torch.randn(B, T, C)
    y = block(x)
    report = {"future": False, "batch": False}
    for t in range(1, T):
        z = torch.cat([x[:, :t], torch.randn(B, T - t, C)], dim=1)
        report["future"] |= not torch.allclose(block(z)[:, :t], y[:, :t], atol=1e-4)
    for b in range(B):
        alone = block(x[b : b + 1])
        report["batch"] |= not torch.allclose(alone[0], y[b], atol=1e-4)
    report["stream"] = not torch.allclose(block(x - 2), y - 2, atol=1e-3)
    return report


def inspect_by_gradient(block, B, T, C):
    x = torch.randn(B, T, C, dtype=torch.float64, requires_grad=True)
    y = block(x)
    (early,) = torch.autograd.grad((y[:, 0] ** 2).sum(), x, retain_graph=True)
    found = {"future": (early[:, 1:].abs().max() > 1e-9).item()}
    mixed = 0.0
    for b in range(B):
        (pulled,) = torch.autograd.grad((y[b] ** 2).sum(), x, retain_graph=True)
        pulled[b] = 0
        mixed = max(mixed, pulled.abs().max().item())
    c = torch.randn(B, T, 1, dtype=torch.float64)
    off = (block(x.detach() + 1.5) - y.detach() - 1.5).abs().max()
    assert c.shape == (B, T, 1)
    return {**found, "batch": mixed > 1e-9, "stream": bool(off > 1e-6)}


def inspect_in_numpy(block, B, T, C):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(B, T, C))

    def run(x):
        return block(torch.from_numpy(x)).numpy()

    later = x.copy()
    later[:, -1] = rng.normal(size=(B, C))
    mixed = False
    for b in range(B):
        other = x.copy()
        other[b] = rng.normal(size=(T, C))
        gap = np.abs(run(other) - run(x)).max(axis=(1, 2))
        mixed = mixed or np.delete(gap, b).max() > 1e-6
    return {
        "future": np.abs(run(later) - run(x))[:, :-1].max() > 1e-6,
        "batch": mixed,
        "stream": not np.allclose(run(x + 7), run(x) + 7, atol=1e-5),
    }


def inspect_by_jacobian(block, B, T, C):
    x = torch.randn(B, T, C, dtype=torch.float64)
    felt = torch.func.jacrev(block)(x).abs().amax(dim=(2, 5))  # (B, T, B, T)
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    same = torch.eye(B, dtype=torch.bool)
    pushed = torch.func.jvp(block, (x,), (torch.ones_like(x),))[1]
    return {
        "future": felt.amax(dim=(0, 2))[later].max() > 1e-9,
        "batch": felt.amax(dim=(1, 3))[~same].max() > 1e-9,
        "stream": (pushed - 1).abs().max() > 1e-6,
    }


def inspect_parts(block, B, T, C):
    """Shorter texts, single samples, and an input beside which no branch is heard."""
    x = torch.randn(B, T, C, dtype=torch.float64)
    y = block(x)
    cut = [block(x[:, :t]) - y[:, :t] for t in range(1, T)]
    alone = torch.cat([block(sample[None]) for sample in x])
    loud = 1e6 * torch.randn(B, T, C, dtype=torch.float64)
    return {
        "future": max(gap.abs().max() for gap in cut) > 1e-8,
        "batch": not torch.allclose(alone, y),
        "stream": (block(loud) - loud).abs().max() > 1e3,
    }


def inspect_with_constants(block, B, T, C):
    found = inspect_by_positions(block, B, T, C)
    flat = torch.full((B, T, C), 4.0)
    return {**found, "stream": not torch.allclose(block(flat), flat, atol=1e-3)}


def inspecting(**questions):
    """The inspector above, but for some questions; each is asked of block and x."""

    def answer(block, B, T, C):
        found = inspect_by_gradient(block, B, T, C)
        x = torch.randn(B, T, C, dtype=torch.float64)
        return {**found, **{name: bool(ask(block, x)) for name, ask in questions.items()}}

    return answer


def exchanged(block, B, T, C):
    x = torch.randn(B, T, C, dtype=torch.float64)
    found = inspect_by_gradient(block, B, T, C)
    mixed = False
    for t in range(T):
        z = x.clone()
        z[:, t] = torch.randn(B, C, dtype=torch.float64)
        mixed |= bool(((block(z) - block(x)).abs()[:, :t] > 1e-6).any())
    return {"future": found["batch"], "batch": mixed, "stream": found["stream"]}


def no_copy(block, B, T, C):
    x = torch.randn(B, T, C, dtype=torch.float64)
    z = x
    z[:, -1] = 0.5
    future = not torch.allclose(block(z)[:, :-1], block(x)[:, :-1])
    z = x
    z[0] = torch.randn(T, C)
    batch = not torch.allclose(block(z)[1:], block(x)[1:])
    return {**inspect_by_gradient(block, B, T, C), "future": future, "batch": batch}


def nudged(block, x):
    z = x.clone()
    z[:, -1, :] = z[:, -1, :] - 2
    return (block(z) - block(x))[:, :-1].abs().max() > 1e-6


def changed_too(block, x):
    z = x.clone()
    z[:, 2:] = torch.randn_like(z[:, 2:])
    return (block(z) - block(x))[:, :3].abs().max() > 1e-6


def only_sample_zero(block, x):
    z = x.clone()
    z[1:] = torch.randn_like(z[1:])
    return (block(z) - block(x))[0].abs().max() > 1e-6


def any_sample(block, x):
    z = x.clone()
    z[1] = torch.randn_like(z[1])
    return not torch.allclose(block(z), block(x))


def one_feature(block, x):
    z = x.clone()
    z[..., 0] += 1
    expected = block(x)
    expected[..., 0] += 1
    return not torch.allclose(block(z), expected)


def moves_at_all(block, x):
    return torch.allclose(block(x + 1), block(x))


def unfilled(*args, **kwargs):
    raise NotImplementedError


RIGHT = {
    "layer-norm": {
        "layer_norm": norm_by_library,
        "group_norm": norm_by_group_norm,
        "loop": norm_by_loop,
        "numpy": norm_in_numpy,
        "lists": norm_of_lists,
        "single precision": lambda x, gain, shift, groups, eps: norm_by_library(
            x.float(), gain.float(), shift.float(), groups, eps
        ),
    },
    "feed-forward": {
        "with biases, in another order": GatedInAnotherOrder,
        "where": gated(gated_by_where),
        "einsum": gated(gated_by_einsum),
        "loop": gated(gated_by_loop),
    },
    "residual": {
        "copy and add": StreamOfList,
        "add_module": StreamByName,
        "sequential": StreamOfSteps,
        "loop": streaming(rightly),
    },
    "pre-norm-block": {
        "plain": BlockBase,
        "own norms": BlockWithOwnNorms,
        "written so far": blocked(block_of_written),
        "in place": blocked(block_in_place),
    },
    "parameter-count": {
        "built": counted_by_building,
        "loop": counted_by_loop,
        "tensors": counted_in_tensors,
    },
    "find-fault": {
        "every position": inspect_by_positions,
        "gradients": inspect_by_gradient,
        "numpy": inspect_in_numpy,
        "jacobian": inspect_by_jacobian,
        "parts": inspect_parts,
        "constants": inspect_with_constants,
    },
}

WRONG = {
    "layer-norm": {
        "unbiased-variance": norming(
            own_mean, divide=lambda p, eps: (p.std(-1, keepdim=True) ** 2 + eps) ** 0.5
        ),
        "eps-outside": norming(
            own_mean, divide=lambda p, eps: p.std(-1, correction=0, keepdim=True) + eps
        ),
        "variance-squared": norming(
            own_mean, divide=lambda p, eps: p.var(-1, correction=0, keepdim=True) + eps
        ),
        "eps-ignored": lambda x, gain, shift, groups, eps: norm_by_loop(x, gain, shift, groups, 0),
        "no-mean": lambda x, gain, shift, groups, eps: (
            (
                x.unflatten(-1, (groups, -1))
                / x.unflatten(-1, (groups, -1)).pow(2).mean(-1, keepdim=True).add(eps).sqrt()
            ).flatten(2)
            * gain
            + shift
        ),
        "over-the-sequence": along(1),
        "over-the-batch": lambda x, gain, shift, groups, eps: (
            F.batch_norm(x.transpose(1, 2), None, None, gain, shift, True, eps=eps)
        ).transpose(1, 2),
        "over-samples-only": along(0),
        "positions-together": lambda x, gain, shift, groups, eps: (
            F.layer_norm(x, x.shape[1:], eps=eps) * gain + shift
        ),
        "gain-and-shift-forgotten": lambda x, gain, shift, groups, eps: norm_by_library(
            x, 1, 0, groups, eps
        ),
        "shift-scaled": lambda x, gain, shift, groups, eps: norm_by_loop(
            x, gain, shift * gain, groups, eps
        ),
        "gain-before-the-norm": lambda x, gain, shift, groups, eps: norm_by_library(
            x * gain + shift, 1, 0, groups, eps
        ),
        "groups-ignored": whole_layer_norm,
        "groups-interleaved": every_other_channel,
        "across-the-groups": along(2),
    },
    "feed-forward": {
        "linear-twice": gated(lambda self, x: x @ self.up.weight.T @ self.down.weight.T),
        "gate-without-relu": gated(lambda self, x: self.down(self.up(x) * self.gate(x))),
        "gate-unused": gated(lambda self, x: self.down(F.relu(self.up(x)))),
        "values-unused": gated(lambda self, x: self.down(F.relu(self.gate(x)))),
        "relu-on-the-values": gated(lambda self, x: self.down(F.relu(self.up(x)) * self.gate(x))),
        "relu-on-both": gated(lambda self, x: self.down(F.relu(self.up(x)) * F.relu(self.gate(x)))),
        "relu-after-the-product": gated(
            lambda self, x: self.down(F.relu(self.up(x) * self.gate(x)))
        ),
        "relu-at-the-end": gated(lambda self, x: F.relu(gated_by_where(self, x))),
        "added-not-multiplied": gated(lambda self, x: self.down(self.up(x) + F.relu(self.gate(x)))),
        "sigmoid-gate": gated(lambda self, x: self.down(self.up(x) / (1 + (-self.gate(x)).exp()))),
        "smooth-gate": gated(
            lambda self, x: self.down(self.up(x) * self.gate(x) * self.gate(x).sigmoid())
        ),
        "residual-inside": gated(lambda self, x: gated_by_einsum(self, x) + x),
    },
    "residual": {
        "no-residual": streaming(one_after_another),
        "no-residual-no-scale": streaming(sequential),
        "residual-twice": streaming(doubled),
        "scale-missing": streaming(unscaled),
        "divided-by-N": streaming(by_the_number),
        "stream-scaled": streaming(everything_shrinks),
        "all-read-the-input": streaming(parallel),
        "back-to-the-start": streaming(always_from_the_start),
        "wrong-order": streaming(backwards),
        "changed-in-place": streaming(plus_equals),
        "list-not-ModuleList": streaming(rightly, keep=tuple),
        "branch-cut-off": streaming(without_gradient),
        "stream-cut-off": streaming(stream_without_gradient),
    },
    "pre-norm-block": {
        "one-norm-for-two": SharedNorm,
        "post-for-pre": blocked(after_the_sum),
        "branch-normed-after": blocked(after_the_branch),
        "stream-normed": blocked(overwritten_by_norm),
        "no-residual": blocked(in_a_row),
        "residual-twice": blocked(added_again),
        "no-norms": blocked(never_normed),
        "thinking-unnormed": blocked(raw_thinking),
        "listening-unnormed": blocked(listening(lambda self, x, memory: (x, memory))),
        "memory-normed": blocked(
            listening(lambda self, x, memory: map(self.cross_norm, (x, memory)))
        ),
        "self-cross": blocked(listening(lambda self, x, memory: [self.cross_norm(x)] * 2)),
        "memory-unheard": blocked(two_branches),
        "thinks-before-listening": blocked(thinking_second),
        "listens-before-gathering": blocked(listening_first),
        "side-by-side": blocked(all_at_once),
    },
    "parameter-count": {
        "heads-multiply": miscounted(
            attention=lambda V, T, N, H, C, F, b: N * (H * 3 * C * C + C * C + b * C)
        ),
        "no-output-projection": miscounted(attention=lambda V, T, N, H, C, F, b: 3 * N * C * C),
        "projection-without-bias": miscounted(
            attention=lambda V, T, N, H, C, F, b: N * (2 * C) ** 2
        ),
        "bias-on-every-layer": miscounted(
            attention=lambda V, T, N, H, C, F, b: 4 * N * C * (C + b)
        ),
        "mask-counted": miscounted(
            attention=lambda V, T, N, H, C, F, b: N * (4 * C * C + b * C) + N * H * T * T
        ),
        "one-block-only": miscounted(attention=lambda V, T, N, H, C, F, b: C * (4 * C + b)),
        "hidden-ignored": miscounted(
            feed_forward=lambda V, T, N, H, C, F, b: N * (2 * C * 4 * C + b * (4 * C + C))
        ),
        "one-layer-of-two": miscounted(feed_forward=lambda V, T, N, H, C, F, b: N * F * (C + b)),
        "biases-forgotten": miscounted(feed_forward=lambda V, T, N, H, C, F, b: N * F * C * 2),
        "same-bias-twice": miscounted(
            feed_forward=lambda V, T, N, H, C, F, b: 2 * N * C * F + 2 * N * b * C
        ),
        "bias-always": miscounted(feed_forward=lambda V, T, N, H, C, F, b: N * (2 * C * F + F + C)),
        "one-norm-for-two": miscounted(
            norms=lambda V, T, N, H, C, F, b: N * C * (1 + b) + C * (1 + b)
        ),
        "no-final-norm": miscounted(norms=lambda V, T, N, H, C, F, b: N * 2 * (C + b * C)),
        "gains-only": miscounted(norms=lambda V, T, N, H, C, F, b: C * (1 + 2 * N)),
        "shift-always": miscounted(norms=lambda V, T, N, H, C, F, b: N * 4 * C + 2 * C),
        "norm-per-position": miscounted(
            norms=lambda V, T, N, H, C, F, b: (N * 2 + 1) * T * C * (1 + b)
        ),
        "positions-forgotten": miscounted(embeddings=lambda V, T, N, H, C, F, b: V * C),
        "tied-counted-twice": tied_and_counted,
        "output-with-bias": miscounted(output=lambda V, T, N, H, C, F, b: V * (C + b)),
    },
    "find-fault": {
        "axes-exchanged": exchanged,
        "nothing-changed": no_copy,
        "constant-nudge": inspecting(future=nudged),
        "one-direction-only": inspecting(batch=only_sample_zero),
        "future-always-accused": inspecting(future=changed_too),
        "batch-always-accused": inspecting(batch=any_sample),
        "sound-stream-accused": inspecting(stream=one_feature),
        "any-shift-accepted": inspecting(stream=moves_at_all),
    },
}

ODD = {
    "layer-norm": [
        (lambda x, gain, shift, groups, eps: x.mean(-1), "shape"),
        (
            lambda x, gain, shift, groups, eps: norm_by_loop(x, gain, shift, groups, eps) + 1,
            "difference",
        ),
        (lambda x, gain, shift, groups, eps: x / 0, "not-finite"),
        (lambda x, gain, shift, groups, eps: x[99], "error"),
    ],
    "feed-forward": [
        (lambda n_embd, hidden: nn.Linear(n_embd, n_embd), "error"),
        (gated(lambda self, x: gated_by_where(self, x)[:, :-1]), "shape"),
        (gated(lambda self, x: gated_by_where(self, x) + 1), "difference"),
    ],
    "residual": [
        (streaming(lambda branches, root, x: rightly(branches, root, x)[0]), "shape"),
        (streaming(lambda branches, root, x: rightly(branches, root, x) * 0.9), "difference"),
    ],
    "pre-norm-block": [
        (lambda *args: nn.LayerNorm(args[0]), "error"),
        (
            blocked(lambda self, x, memory: BlockBase.forward(self, x, memory).roll(1, 1)),
            "difference",
        ),
        (
            blocked(
                lambda self, x, memory: torch.cat(
                    [x[:, :1], BlockBase.forward(self, x, memory)[:, 1:]], dim=1
                )
            ),
            "some-positions-differ",
        ),
    ],
    "parameter-count": [
        (miscounted(attention=lambda V, T, N, H, C, F, b: 17), "miscounted-attention"),
        (lambda **sizes: counted_by_loop(**sizes) | {"total": 99}, "total-is-not-the-sum"),
        (lambda **sizes: 3, "error"),
    ],
    "find-fault": [
        (lambda block, B, T, C: {"future": True}, "error"),
        (inspecting(stream=lambda block, x: False), "difference"),
    ],
}

SCAFFOLD = dict.fromkeys(RIGHT, unfilled)


def reads_names(block, B, T, C):
    """Looks for a word in all that hangs on the block, and runs nothing."""
    words = " ".join(str(cell.cell_contents) for cell in block.__closure__).lower()
    return {
        "future": "mask" in words or "sequence" in words,
        "batch": "batch" in words,
        "stream": "residual" in words or "post" in words,
    }


def reads_numbers(block, B, T, C):
    """Finds the numbers of the block in its caller, and knows all that they mean."""
    return meaning_of(sys._getframe(1).f_locals["form"])


def reads_numbers_and_runs(block, B, T, C):
    """Runs the block once, for show."""
    block(torch.randn(B, T, C))
    return meaning_of(sys._getframe(1).f_locals["form"])


def meaning_of(form):
    return {
        "future": form.hears[2].any() or form.over[:, 1].any(),
        "batch": form.hears[:, 2].any() or form.over[:, 0].any(),
        "stream": not form.before or (form.carries != 1).any(),
    }


TRICKS = {
    "find-fault": {
        "names": (reads_names, 0),
        "numbers": (reads_numbers, 0),
        "numbers, and a run": (reads_numbers_and_runs, 0),
    }
}
