"""Wrong answers to chapter 13 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
from torch import nn

# 13/positions


def speeds_down_to_base(tokens, n_embd, base):
    """Spreads the speeds as base^(−i / (C/2 − 1)), so the last is 1 / base."""
    real = tokens != 0
    places = real.cumsum(dim=1) - 1
    half = n_embd // 2
    speeds = base ** (-torch.arange(half) / max(half - 1, 1))
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * real[:, :, None]


# 13/masks


def of_the_same_kind(source, target):
    """Lets a row see all earlier places of its own kind, so padding sees the padding before it."""
    B, T = target.shape
    past = torch.ones(T, T, dtype=torch.bool).tril()
    own = past & (target[:, :, None] == target[:, None, :])
    cross = source[:, None, :].expand(B, T, source.shape[1])
    return own, cross


# 13/cross-block


class NullPlaceInTheSoftmax(nn.Module):
    """Adds an empty place with score 0 to each softmax, which takes weight from real words."""

    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        parts = self.query(self.norm(x)), self.key(memory), self.value(memory)
        query, key, value = (part.unflatten(2, (self.n_head, -1)).transpose(1, 2) for part in parts)
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])  # (B, H, T, S)
        scores = scores.masked_fill(~real[:, None, None], -torch.inf)
        nothing = torch.zeros_like(scores[..., :1])
        weights = torch.cat([scores, nothing], dim=-1).softmax(dim=-1)[..., :-1]
        found = (weights @ value).transpose(1, 2).flatten(2)
        return x + self.projection(found)


# 13/teacher


def longest_text_first(texts, start, end, pad, longest):
    """Sorts the texts by length before padding, so the rows are no longer in the order given."""
    rows = [torch.tensor([start, *text, end]) for text in sorted(texts, key=len, reverse=True)]
    x = [row[:-1][:longest] for row in rows]
    y = [row[1:][:longest] for row in rows]
    return (
        nn.utils.rnn.pad_sequence(x, batch_first=True, padding_value=pad),
        nn.utils.rnn.pad_sequence(y, batch_first=True, padding_value=-100),
    )


# 13/beam


def stops_when_finished_leads(log_probabilities, start, end, width, longest, power):
    """Stops as soon as a finished text has a larger sum than all live ones, despite lengths."""
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = []
        for (tokens, total), row in zip(live, log_probabilities(x).tolist(), strict=True):
            grown += [([*tokens, token], total + gain) for token, gain in enumerate(row)]
        kept = sorted(grown, key=lambda one: one[1], reverse=True)[:width]
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live:
            break
        # sums only get smaller, so nothing live can overtake the best finished text
        if finished and max(s for _, s in finished) > max(s for _, s in live):
            break
    values = [(tokens, total / len(tokens) ** power) for tokens, total in finished + live]
    return max(values, key=lambda one: one[1])


# 13/alignment


def links_add_up(weights, links, real):
    """Adds up the weights of all linked words and compares the sum with the largest other word."""
    weights = weights * real[:, None, None]  # padding gets 0
    links = links[:, None]  # (B, 1, T, S)
    linked = (weights * links).sum(dim=-1)  # (B, H, T)
    others = weights.masked_fill(links, 0.0).amax(dim=-1)  # (B, H, T)
    counts = links.any(dim=-1)  # (B, 1, T)
    right = (linked > others) & counts
    return right.sum(dim=(0, 2)) / counts.sum()


# 13/longer


def single_steps_repeated(table, shift, trained):
    """Learns the step by one place and takes its power, so n positions give n − 1 pairs."""
    before, after = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        step = torch.linalg.pinv(table[: n - 1]) @ table[1:n]
        M = torch.linalg.matrix_power(step, shift)
        gap = before[n - shift :] @ M - after[n - shift :]
        errors.append(gap.square().mean().sqrt().item())
    return errors


WRITTEN = {
    "13/positions": [speeds_down_to_base],
    "13/masks": [of_the_same_kind],
    "13/cross-block": [NullPlaceInTheSoftmax],
    "13/teacher": [longest_text_first],
    "13/beam": [stops_when_finished_leads],
    "13/alignment": [links_add_up],
    "13/longer": [single_steps_repeated],
}
