"""Unlisted wrong answers to chapters 01 to 04 that were written when the judges were finished, and
looked at once: how judges speak of what they were not tuned on.
"""

import itertools
import math
import random

import torch
import torch.nn.functional as F


def sum_restarts(x):
    """Begins anew in the middle, as if a batch ended there."""
    half = x.shape[-1] // 2
    return torch.cat([x[..., :half].cumsum(-1), x[..., half:].cumsum(-1)], -1)


def sum_over_the_batch(x):
    return x.sum(0, keepdim=True).cumsum(-1).expand_as(x)


def mean_divided_by_all(x):
    T = x.shape[1]
    return torch.tril(torch.ones(T, T), -1) @ x / T


def mean_without_the_oldest(x):
    out = torch.zeros_like(x)
    for t in range(2, x.shape[1]):
        out[:, t] = x[:, 1:t].mean(1)
    return out


def window_in_steps_of_two(T, width):
    w = torch.zeros(T, T)
    for t in range(T):
        w[t, list(range(t, max(-1, t - 2 * width), -2))] = 1
    return w / w.sum(1, keepdim=True)


def window_transposed(T, width):
    w = torch.tril(torch.ones(T, T)).triu(1 - width)
    return (w / w.sum(1, keepdim=True)).T


def decay_whole_steps(T, decay):
    w = torch.zeros(T, T)
    for t in range(T):
        for s in range(t + 1):
            w[t, s] = decay ** ((t - s) // 2)
    return w / w.sum(1, keepdim=True)


def masked_by_minus_ten(scores, visible):
    return (scores - 10.0 * ~visible).softmax(-1)


def masked_by_argmax(scores, visible):
    best = scores.masked_fill(~visible, -torch.inf).argmax(-1)
    return F.one_hot(best, scores.shape[-1]).float()


def fault_sums_of_absolutes(weights):
    s = weights.abs().sum(1)
    ok = torch.isclose(s, torch.ones(len(weights))) & (weights.triu(1) == 0).all(1)
    return ~(ok | weights.isnan().any(1))


def cosine_of_unit_sums(x, y):
    x = x / x.sum(-1, keepdim=True).clamp(min=1e-8)
    y = y / y.sum(-1, keepdim=True).clamp(min=1e-8)
    return x @ y.transpose(1, 2)


def softmax_dropping_small(scores):
    p = scores.softmax(-1).nan_to_num()
    return torch.where(p < 0.05, torch.zeros_like(p), p)


def variance_of_means(queries, keys):
    sums = (queries * keys).cumsum(1)
    return sums.var(0), sums.var(0).sqrt()


def evenness_against_seen_after(weights):
    e = -torch.special.xlogy(weights, weights).sum(-1)
    return e / math.log(weights.shape[-1] + 1)


def map_flat(at, known, values, width):
    w = (-(torch.cdist(at, known) ** 2) / (2 * width**2)).softmax(-1)
    return w @ values.sort(0).values


def inspector_that_says_sum(x, weights):
    names = ["sound", "no scale", "divided by C", "no mask", "zero mask", "columns"]
    if not torch.allclose(weights.sum(1), torch.ones(len(weights), dtype=weights.dtype)):
        return "scaled too late"
    return random.Random(int(weights.sum() * 1e6)).choice(names)


class OneToken:
    """Encodes every letter that comes twice only once."""

    def __init__(self, names, boundary):
        self.symbols = [boundary, *sorted(set("".join(names)))]

    def encode(self, name):
        for i, c in enumerate(name):
            if c not in self.symbols:
                raise ValueError(f"{c!r} at position {i} is unknown")
        inner = list(dict.fromkeys(name))
        return torch.tensor([0, *(self.symbols.index(c) for c in inner), 0])

    def decode(self, tokens):
        return "".join(self.symbols[int(t)] for t in tokens[1:-1])


def windows_backwards(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size + 1, stride).flip(0)
    return rows[:, :-1], rows[:, 1:]


def split_sorted_validation(names, fraction, seed):
    r = random.Random(seed)
    held = set(r.sample(sorted(set(names)), max(1, round(fraction * len(set(names))) - 1)))
    return [n for n in names if n not in held], sorted(n for n in names if n in held)


def batch_with_a_shared_target(tokens, ends, block_size, padding):
    p = ends[:, None] + torch.arange(1 - block_size, 1)
    x = torch.where(p < 0, padding, tokens[p.clamp(min=0)])
    return x, tokens[ends + 1][:, None].expand_as(x)


def sequential_without_the_last_target(tokens, batch_size, block_size, padding):
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)

    def lay(row, filler):
        row = F.pad(row, (0, batch_size * length - len(row)), value=filler).view(batch_size, -1)
        row = F.pad(row, (0, steps * block_size - length), value=filler)
        return row.view(batch_size, steps, block_size).transpose(0, 1)

    y = tokens[1:].clone()
    y[-1] = -100
    return lay(tokens[:-1], padding), lay(y, -100)


def overlapping_longest_first(tokens, block_size, stride):
    n = len(tokens) - 1
    M = 1 + max(0, -(-(n - block_size) // stride))
    p = torch.arange(M)[:, None] * stride + torch.arange(block_size)
    x = torch.where(p < n, tokens[p.clamp(max=n - 1)], 0)
    y = torch.where(p < n, tokens[(p + 1).clamp(max=n)], -100)
    y[1:, :stride] = -100
    return x, y


def table_of_both_neighbours(tokens, vocab_size, k):
    c = torch.zeros(vocab_size, vocab_size)
    for row in tokens.tolist():
        for a, b in itertools.pairwise(row):
            c[a, b] += 1
            c[b, a] += 1
    c += k
    return c / c.sum(1, keepdim=True)


def score_by_the_largest(probabilities, texts):
    s = torch.cat([-probabilities[t[:-1]].max(1).values.log() for t in texts])
    return float(s.mean()), float(s.mean().exp())


def loss_of_the_median(logits, targets):
    keep = targets >= 0
    s = -logits[keep].log_softmax(-1).gather(1, targets[keep][:, None])
    return s.median()


def descend_with_decay(table, x, y, learning_rate, steps):
    losses = []
    table = table.clone()
    for _ in range(steps):
        t = table.clone().requires_grad_()
        loss = F.cross_entropy(t[x].flatten(0, 1), y.flatten())
        (g,) = torch.autograd.grad(loss, t)
        table = table * (1 - 0.01 * learning_rate) - learning_rate * g
        losses.append(loss.item())
    return table, losses


def sample_with_noise(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    noise = torch.randn(logits.shape, generator=generator, dtype=logits.dtype)
    return (logits / temperature + noise).argmax(-1)


def write_with_a_pause(model, tokens, count, generator):
    """Shows the model its own text one symbol late."""
    was = model.training
    model.eval()
    seen = tokens
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(seen[:, -model.block_size :])
            seen = tokens
            new = torch.multinomial(logits[:, -1].softmax(-1), 1, generator=generator)
            tokens = torch.cat([tokens, new], 1)
    model.train(was)
    return tokens


WRITTEN = {
    "01/running-sum": [sum_restarts, sum_over_the_batch],
    "01/past-mean": [mean_divided_by_all, mean_without_the_oldest],
    "01/window": [window_in_steps_of_two, window_transposed],
    "01/decay": [decay_whole_steps],
    "01/masked-softmax": [masked_by_minus_ten, masked_by_argmax],
    "01/find-fault": [fault_sums_of_absolutes],
    "02/cosine": [cosine_of_unit_sums],
    "02/safe-softmax": [softmax_dropping_small],
    "02/variance": [variance_of_means],
    "02/evenness": [evenness_against_seen_after],
    "02/smoother": [map_flat],
    "02/find-fault": [inspector_that_says_sum],
    "03/vocabulary": [OneToken],
    "03/windows": [windows_backwards],
    "03/split": [split_sorted_validation],
    "03/batch": [batch_with_a_shared_target],
    "03/sequential": [sequential_without_the_last_target],
    "03/evaluation": [overlapping_longest_first],
    "04/probabilities": [table_of_both_neighbours],
    "04/nll": [score_by_the_largest],
    "04/cross-entropy": [loss_of_the_median],
    "04/sgd-step": [descend_with_decay],
    "04/sample": [sample_with_noise],
    "04/generate": [write_with_a_pause],
}
