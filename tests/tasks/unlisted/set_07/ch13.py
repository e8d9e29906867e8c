"""Wrong answers to chapter 13 that no list names: the seventh set, what students hand in.

The comment before each says who wrote it and which sentence of the statement it breaks.
"""

import torch
from torch import nn

# 13/positions


# Copied a table of positions that has all sines first.
# "holds sin(place · speed) and cos(place · speed), side by side"
def sines_then_cosines(tokens, n_embd, base):
    mask = (tokens != 0).float()
    place = (mask.cumsum(dim=1) - 1).clamp(min=0)
    i = torch.arange(n_embd // 2)
    speed = base ** (-2 * i / n_embd)
    angle = place.unsqueeze(-1) * speed
    return torch.cat([angle.sin(), angle.cos()], dim=-1) * mask.unsqueeze(-1)


# 13/masks


# Treats rows and columns alike, as in the first mask.
# "every row, padding or not, sees all words of the source"
def padding_sees_no_source(source, target):
    T = target.shape[1]
    tril = torch.tril(torch.ones(T, T, dtype=torch.bool))
    own = tril & target[:, :, None] & target[:, None, :]
    own = own | torch.eye(T, dtype=torch.bool)
    cross = target[:, :, None] & source[:, None, :]
    return own, cross


# 13/cross-block


# Overwrites x with its norm, and adds to what x is then.
# "The result is `x` plus the projection of what was found."
class SkipAfterTheNorm(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.h = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        x = self.norm(x)
        B, T, C = x.shape
        D = C // self.h
        q = self.query(x).reshape(B, T, self.h, D).permute(0, 2, 1, 3)
        k = self.key(memory).reshape(B, -1, self.h, D).permute(0, 2, 3, 1)
        v = self.value(memory).reshape(B, -1, self.h, D).permute(0, 2, 1, 3)
        scores = (q @ k) / D**0.5
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
        weights = torch.nan_to_num(scores.softmax(dim=-1), nan=0.0)
        found = (weights @ v).permute(0, 2, 1, 3).reshape(B, T, C)
        return x + self.projection(found)


# 13/teacher


# Reserves the last place for the end, as tokenizers do when they truncate.
# "if text and end don't fit, the first `longest` tokens are predicted and there is no end"
def always_an_end(texts, start, end, pad, longest):
    cut = [text[: longest - 1] for text in texts]
    T = max(len(text) + 1 for text in cut)
    x, y = [], []
    for text in cut:
        fill = T - len(text) - 1
        x.append([start] + text + [pad] * fill)
        y.append(text + [end] + [-100] * fill)
    return torch.tensor(x), torch.tensor(y)


# Makes tensors of the largest shape and fills them in.
# "T is the largest number of tokens that are predicted for a text of this batch."
def always_the_longest(texts, start, end, pad, longest):
    x = torch.full((len(texts), longest), pad)
    y = torch.full((len(texts), longest), -100)
    for b, text in enumerate(texts):
        row = [start, *list(text), end]
        n = min(len(row) - 1, longest)
        x[b, :n] = torch.tensor(row[:n])
        y[b, :n] = torch.tensor(row[1 : n + 1])
    return x, y


# 13/beam


# Does not count the end among the tokens of a text.
# "n is the number of its tokens, without `start` and with `end` if it has one"
def length_without_the_end(log_probabilities, start, end, width, longest, power):
    live, finished = [([start], 0.0)], []
    while live and len(live[0][0]) <= longest:
        rows = log_probabilities(torch.tensor([text for text, _ in live])).tolist()
        grown = []
        for (text, total), row in zip(live, rows, strict=True):
            grown += [([*text, v], total + row[v]) for v in range(len(row))]
        grown = sorted(grown, key=lambda g: -g[1])[:width]
        finished += [g for g in grown if g[0][-1] == end]
        live = [g for g in grown if g[0][-1] != end]

    def value(one):
        n = len([token for token in one[0] if token not in (start, end)])
        return one[1] / max(n, 1) ** power

    best = max(finished + live, key=value)
    return best[0][1:], value(best)


# 13/alignment


# Averages the samples, each with its own share.
# "over all words of all samples that count": all words weigh the same
def mean_of_the_samples(weights, links, real):
    B, H, T = weights.shape[:3]
    scores = []
    for b in range(B):
        w = weights[b][:, :, real[b]]
        link = links[b][:, real[b]]
        counted = links[b].any(dim=-1)
        if not counted.any():
            continue
        best = w.argmax(dim=-1)
        right = torch.stack([link[torch.arange(T), best[h]] for h in range(H)])
        scores.append(right[:, counted].float().mean(dim=1))
    return torch.stack(scores).mean(dim=0)


# Takes the mean over words and samples, with False where nothing is linked.
# "Words without any link don't count."
def unlinked_words_as_wrong(weights, links, real):
    weights = weights.masked_fill(~real[:, None, None, :], 0.0)
    best = weights.argmax(dim=-1)
    expanded = links[:, None].expand(-1, weights.shape[1], -1, -1)
    right = expanded.gather(-1, best.unsqueeze(-1)).squeeze(-1)
    return right.float().mean(dim=(0, 2))


# 13/longer


# Tests where the model has not been at all, from position n on.
# "over all pairs of the table that are *not* within the first n positions"
def tested_from_n_on(table, shift, trained):
    result = []
    for n in trained:
        X, Y = table[: n - shift], table[shift:n]
        M = torch.linalg.pinv(X) @ Y
        before, after = table[n:-shift], table[n + shift :]
        result.append(((before @ M - after) ** 2).mean().sqrt().item())
    return result


WRITTEN = {
    "13/positions": [sines_then_cosines],
    "13/masks": [padding_sees_no_source],
    "13/cross-block": [SkipAfterTheNorm],
    "13/teacher": [always_an_end, always_the_longest],
    "13/beam": [length_without_the_end],
    "13/alignment": [mean_of_the_samples, unlinked_words_as_wrong],
    "13/longer": [tested_from_n_on],
}
