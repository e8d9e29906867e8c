"""Wrong answers to chapter 13 that no list names: the third set."""

import math

import torch
from torch import nn

# 13/positions


def places_counted_from_the_last_word(tokens, n_embd, base):
    real = tokens != 0
    places = torch.arange(tokens.shape[1]).flip(0).expand_as(tokens)
    speeds = base ** (-torch.arange(0, n_embd, 2) / n_embd)
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * real[:, :, None]


# 13/masks


def padding_sees_the_words_before_it(source, target):
    B, T = target.shape
    past = torch.ones(T, T, dtype=torch.bool).tril()
    own = past & target[:, None, :] | torch.eye(T, dtype=torch.bool)
    return own, source[:, None, :].expand(B, T, source.shape[1])


# 13/cross-block


class UnchangedIfOneMemoryIsEmpty(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        if not real.any(dim=1).all():
            return x
        parts = self.query(self.norm(x)), self.key(memory), self.value(memory)
        query, key, value = (p.unflatten(2, (self.n_head, -1)).transpose(1, 2) for p in parts)
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])
        weights = scores.masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
        return x + self.projection((weights @ value).transpose(1, 2).flatten(2))


# 13/teacher


def always_as_wide_as_the_longest_allowed(texts, start, end, pad, longest):
    x = torch.full((len(texts), longest), pad)
    y = torch.full((len(texts), longest), -100)
    for b, text in enumerate(texts):
        read, predicted = [start, *text][:longest], [*text, end][:longest]
        x[b, : len(read)] = torch.tensor(read)
        y[b, : len(predicted)] = torch.tensor(predicted)
    return x, y


# 13/beam


def ends_when_enough_are_finished(log_probabilities, start, end, width, longest, power):
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
        if not live or len(finished) >= width:
            break
    values = [(tokens, total / len(tokens) ** power) for tokens, total in finished + live]
    return max(values, key=lambda one: one[1])


# 13/alignment


def more_than_half_on_the_links(weights, links, real):
    words = weights * real[:, None, None]
    words = words / words.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    right = (words * links[:, None]).sum(dim=-1) > 0.5
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


# 13/longer


def mean_length_of_the_gaps(table, shift, trained):
    before, after = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        known = n - shift
        M = torch.linalg.pinv(before[:known]) @ after[:known]
        gap = before[known:] @ M - after[known:]
        errors.append(gap.norm(dim=1).mean().item())
    return errors


WRITTEN = {
    "13/positions": [places_counted_from_the_last_word],
    "13/masks": [padding_sees_the_words_before_it],
    "13/cross-block": [UnchangedIfOneMemoryIsEmpty],
    "13/teacher": [always_as_wide_as_the_longest_allowed],
    "13/beam": [ends_when_enough_are_finished],
    "13/alignment": [more_than_half_on_the_links],
    "13/longer": [mean_length_of_the_gaps],
}
