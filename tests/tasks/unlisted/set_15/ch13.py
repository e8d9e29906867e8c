"""Wrong answers to chapter 13 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 13/positions


def tokens_summed(tokens, n_embd, base):
    """Takes the running sum of the tokens themselves, so a place depends on the words."""
    places = tokens.cumsum(dim=1) - 1
    speeds = base ** (-torch.arange(0, n_embd, 2) / n_embd)
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * (tokens != 0)[:, :, None]


# 13/masks


def counted_from_the_left(source, target):
    """Goes by the numbers of words, as if all words of a text came first and all padding last."""
    B, T = target.shape
    S = source.shape[1]
    source = torch.arange(S) < source.sum(dim=1, keepdim=True)
    target = torch.arange(T) < target.sum(dim=1, keepdim=True)
    past = torch.ones(T, T, dtype=torch.bool).tril()
    own = past & target[:, :, None] & target[:, None, :]
    own = own | torch.eye(T, dtype=torch.bool)
    cross = source[:, None, :].expand(B, T, S)
    return own, cross


# 13/cross-block


class WholeBatchUnchanged(nn.Module):
    """Returns x for the whole batch as soon as one sample has no word in its memory."""

    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        if (~real).all(dim=1).any():  # nothing to look at
            return x
        parts = self.query(self.norm(x)), self.key(memory), self.value(memory)
        query, key, value = (part.unflatten(2, (self.n_head, -1)).transpose(1, 2) for part in parts)
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])  # (B, H, T, S)
        weights = scores.masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
        found = (weights @ value).transpose(1, 2).flatten(2)
        return x + self.projection(found)


# 13/teacher


def padded_on_the_left(texts, start, end, pad, longest):
    """Fills the rows up on the left, as in task 1, so that all texts end together."""
    rows = [torch.tensor([start, *text, end]) for text in texts]
    sides = [row[:-1][:longest] for row in rows], [row[1:][:longest] for row in rows]
    T = max(len(row) for row in sides[0])
    x, y = (
        torch.stack([F.pad(row, (T - len(row), 0), value=fill) for row in side])
        for side, fill in zip(sides, (pad, -100), strict=True)
    )
    return x, y


# 13/beam


def finished_take_a_place(log_probabilities, start, end, width, longest, power):
    """Makes the beam narrower by one for each finished text, instead of keeping its width."""
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = []
        for (tokens, total), row in zip(live, log_probabilities(x).tolist(), strict=True):
            grown += [([*tokens, token], total + gain) for token, gain in enumerate(row)]
        kept = sorted(grown, key=lambda one: one[1], reverse=True)[: width - len(finished)]
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live:
            break
    values = [(tokens, total / len(tokens) ** power) for tokens, total in finished + live]
    return max(values, key=lambda one: one[1])


# 13/alignment


def row_before_the_word(weights, links, real):
    """Takes row t − 1 for word t, as if row t were the attention after word t has been read."""
    weights, links = weights[:, :, :-1], links[:, 1:]
    best = weights.masked_fill(~real[:, None, None], -1.0).argmax(dim=-1)  # (B, H, T − 1)
    chosen = F.one_hot(best, weights.shape[-1]).bool()
    right = (chosen & links[:, None]).any(dim=-1)  # (B, H, T − 1)
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


# 13/longer


def own_predictions_continued(table, shift, trained):
    """Beyond the trained positions, applies M to its own predictions, not to rows of the table."""
    errors = []
    for n in trained:
        M = torch.linalg.pinv(table[: n - shift]) @ table[shift:n]
        rows = list(table[:n])
        for t in range(n - shift, len(table) - shift):
            rows.append(rows[t] @ M)
        gap = torch.stack(rows[n:]) - table[n:]
        errors.append(gap.square().mean().sqrt().item())
    return errors


WRITTEN = {
    "13/positions": [tokens_summed],
    "13/masks": [counted_from_the_left],
    "13/cross-block": [WholeBatchUnchanged],
    "13/teacher": [padded_on_the_left],
    "13/beam": [finished_take_a_place],
    "13/alignment": [row_before_the_word],
    "13/longer": [own_predictions_continued],
}
