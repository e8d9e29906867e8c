"""Wrong answers to chapter 13 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
from torch import nn

# 13/positions


# speed = base^(−2i / C)
def exponent_without_the_two(tokens, n_embd, base):
    real = tokens != 0
    places = real.cumsum(dim=1) - 1
    speeds = base ** (-torch.arange(n_embd // 2) / n_embd)
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * real[:, :, None]


# 13/masks


# "a row of padding sees itself and nothing else"
def padding_sees_the_words_before_it(source, target):
    B, T = target.shape
    past = torch.ones(T, T, dtype=torch.bool).tril()
    own = past & target[:, None, :] | torch.eye(T, dtype=torch.bool)
    return own, source[:, None, :].expand(B, T, source.shape[1])


# 13/cross-block


class LayersOfCrossAttention(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)


# "where a sample has no word in its memory, x comes out unchanged"
class HiddenByALargeNumber(LayersOfCrossAttention):
    def forward(self, x, memory, real):
        parts = self.query(self.norm(x)), self.key(memory), self.value(memory)
        query, key, value = (p.unflatten(2, (self.n_head, -1)).transpose(1, 2) for p in parts)
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])
        weights = scores.masked_fill(~real[:, None, None], -1e9).softmax(dim=-1)
        return x + self.projection((weights @ value).transpose(1, 2).flatten(2))


# "head h has channels h · D to (h + 1) · D − 1"
class EveryNthChannelAHead(LayersOfCrossAttention):
    def forward(self, x, memory, real):
        parts = self.query(self.norm(x)), self.key(memory), self.value(memory)
        query, key, value = (p.unflatten(2, (-1, self.n_head)).movedim(3, 1) for p in parts)
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])
        weights = scores.masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
        weights = weights.nan_to_num(0.0)
        return x + self.projection((weights @ value).movedim(1, 3).flatten(2))


# 13/teacher


# "T is the largest number of tokens that are predicted for a text of this batch"
def always_as_wide_as_the_longest(texts, start, end, pad, longest):
    x = torch.full((len(texts), longest), pad)
    y = torch.full((len(texts), longest), -100)
    for b, text in enumerate(texts):
        row = torch.tensor([start, *text, end])
        n = min(len(row) - 1, longest)
        x[b, :n], y[b, :n] = row[:-1][:n], row[1:][:n]
    return x, y


# 13/beam


# "n is the number of its tokens, without start"
def start_counts_as_a_token(log_probabilities, start, end, width, longest, power):
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = [
            ([*tokens, token], total + gain)
            for (tokens, total), row in zip(live, log_probabilities(x).tolist(), strict=True)
            for token, gain in enumerate(row)
        ]
        kept = sorted(grown, key=lambda one: one[1], reverse=True)[:width]
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live:
            break
    values = [(tokens, total / (len(tokens) + 1) ** power) for tokens, total in finished + live]
    return max(values, key=lambda one: one[1])


# "the width best of them are kept", in each step
def finished_texts_keep_their_places(log_probabilities, start, end, width, longest, power):
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        room = width - len(finished)
        if not live or room <= 0:
            break
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = [
            ([*tokens, token], total + gain)
            for (tokens, total), row in zip(live, log_probabilities(x).tolist(), strict=True)
            for token, gain in enumerate(row)
        ]
        kept = sorted(grown, key=lambda one: one[1], reverse=True)[:room]
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
    values = [(tokens, total / len(tokens) ** power) for tokens, total in finished + live]
    return max(values, key=lambda one: one[1])


# 13/alignment


# "right if … the one with the largest weight is linked to it"
def more_than_half_of_the_weight(weights, links, real):
    weights = weights.masked_fill(~real[:, None, None], 0.0)
    right = (weights * links[:, None]).sum(dim=-1) > 0.5
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


# 13/longer


# "the error is the root of the mean square"
def mean_absolute_gap(table, shift, trained):
    before, after = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        known = n - shift
        M = torch.linalg.pinv(before[:known]) @ after[:known]
        errors.append((before[known:] @ M - after[known:]).abs().mean().item())
    return errors


WRITTEN = {
    "13/positions": [exponent_without_the_two],
    "13/masks": [padding_sees_the_words_before_it],
    "13/cross-block": [HiddenByALargeNumber, EveryNthChannelAHead],
    "13/teacher": [always_as_wide_as_the_longest],
    "13/beam": [start_counts_as_a_token, finished_texts_keep_their_places],
    "13/alignment": [more_than_half_of_the_weight],
    "13/longer": [mean_absolute_gap],
}

ASIDE = {
    "always_as_wide_as_the_longest",
    "more_than_half_of_the_weight",
}
