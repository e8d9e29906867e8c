"""Wrong answers to chapter 13 that no list names: the tenth set.

The comment before each says who wrote it and which sentence of the statement it breaks.
"""

import math

import torch
from torch import nn

# 13/positions


# Adapted a snippet whose range counts by twos already, and multiplies by 2 as the formula does.
# "with speed = base^(−2i / C) for i = 0 … C/2 − 1"
def twice_by_two(tokens, n_embd, base):
    real = (tokens != 0).long()
    places = (torch.cumsum(real, dim=1) - 1).clamp(min=0)
    i = torch.arange(0, n_embd, 2)
    speeds = torch.pow(torch.tensor(float(base)), -2 * i / n_embd)
    angles = places.unsqueeze(-1) * speeds
    positions = torch.zeros(*tokens.shape, n_embd)
    positions[:, :, 0::2] = torch.sin(angles)
    positions[:, :, 1::2] = torch.cos(angles)
    return positions * real.unsqueeze(-1)


# 13/masks


# Read only the last sentence, and so lets rows see themselves where they see nothing else.
# "A row of padding sees itself and nothing else."
def itself_only_in_empty_rows(source, target):
    T = target.shape[1]
    causal = torch.tril(torch.ones(T, T)).bool()
    own = causal.unsqueeze(0) & target.unsqueeze(1)
    empty = ~own.any(dim=2, keepdim=True)
    own = own | (empty & torch.eye(T).bool())
    cross = source.unsqueeze(1).repeat(1, T, 1)
    return own, cross


# 13/cross-block


# Hurried: overwrites x with its norm in the first line, and adds to that in the last.
# "The result is `x` plus the projection of what was found."
class SkipFromTheNorm(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        x = self.norm(x)
        B, T, C = x.shape
        S, H = memory.shape[1], self.n_head
        q = self.query(x).view(B, T, H, C // H).transpose(1, 2)
        k = self.key(memory).view(B, S, H, C // H).transpose(1, 2)
        v = self.value(memory).view(B, S, H, C // H).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(C // H)
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
        weights = torch.nan_to_num(scores.softmax(dim=-1))
        found = (weights @ v).transpose(1, 2).reshape(B, T, C)
        return x + self.projection(found)


# From a library that masks with the lowest number there is: no NaN, so nothing left to do.
# "Where a sample has no word in its memory, `x` comes out unchanged."
class LowestNumberForPadding(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.num_heads = n_head
        self.head_dim = n_embd // n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def split(self, states):
        return states.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def forward(self, x, memory, real):
        query = self.split(self.query(self.norm(x)))
        key, value = self.split(self.key(memory)), self.split(self.value(memory))
        scores = torch.matmul(query, key.transpose(-1, -2)) * self.head_dim**-0.5
        mask = real[:, None, None, :]
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        context = torch.matmul(weights, value).transpose(1, 2).flatten(-2)
        return x + self.projection(context)


# 13/teacher


# From Keras, where texts are padded to the largest length allowed.
# "T is the largest number of tokens that are predicted for a text of this batch."
def always_the_longest(texts, start, end, pad, longest):
    x = torch.full((len(texts), longest), pad)
    y = torch.full((len(texts), longest), -100)
    for b, text in enumerate(texts):
        predicted = [*text, end][:longest]
        read = [start, *text][: len(predicted)]
        x[b, : len(read)] = torch.tensor(read)
        y[b, : len(predicted)] = torch.tensor(predicted)
    return x, y


# 13/beam


# Knows from libraries that places of finished texts are filled again with unfinished ones.
# "the `width` best of them are kept. Those that end in `end` are finished and set aside; the rest
# are live in the next step"
def finished_texts_are_replaced(log_probabilities, start, end, width, longest, power):
    beams = [([start], 0.0)]
    done = []
    for _ in range(longest):
        log_p = log_probabilities(torch.tensor([tokens for tokens, _ in beams]))
        candidates = []
        for (tokens, score), row in zip(beams, log_p, strict=True):
            for token in range(len(row)):
                candidates.append(([*tokens, token], score + row[token].item()))
        candidates.sort(key=lambda c: c[1], reverse=True)
        done += [c for c in candidates[:width] if c[0][-1] == end]
        beams = [c for c in candidates if c[0][-1] != end][:width]
        if not beams:
            break
    best, best_value = None, -math.inf
    for tokens, score in done + beams:
        value = score / (len(tokens) - 1) ** power
        if value > best_value:
            best, best_value = tokens[1:], value
    return best, best_value


# 13/alignment


# Knows from the chapter that each word has one link, and counts links where words are meant.
# "Return the share of right words for each head, over all words of all samples that count."
def share_of_the_links(weights, links, real):
    weights = weights.masked_fill(~real[:, None, None, :], float("-inf"))
    best = weights.argmax(dim=-1, keepdim=True)  # (B, H, T, 1)
    every_head = links[:, None].expand(weights.shape)
    right = every_head.gather(3, best).squeeze(3)
    return right.float().sum(dim=(0, 2)) / links.sum()


# 13/longer


# A statistician who takes the error of each pair first and then averages the errors.
# "The error is the root of the mean square ..., over all channels and over all pairs"
def mean_of_the_roots(table, shift, trained):
    result = []
    for n in trained:
        pairs = n - shift
        X, Y = table[:pairs], table[shift:n]
        M = torch.linalg.pinv(X) @ Y
        difference = table[pairs:-shift] @ M - table[n:]
        each_pair = (difference**2).mean(dim=1).sqrt()
        result.append(float(each_pair.mean()))
    return result


WRITTEN = {
    "13/positions": [twice_by_two],
    "13/masks": [itself_only_in_empty_rows],
    "13/cross-block": [SkipFromTheNorm, LowestNumberForPadding],
    "13/teacher": [always_the_longest],
    "13/beam": [finished_texts_are_replaced],
    "13/alignment": [share_of_the_links],
    "13/longer": [mean_of_the_roots],
}
