"""Wrong answers to chapter 13 that no list names: the eleventh set.

The comment before each says who wrote it and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 13/masks


# Repairs only the rows that gave NaN, so padding after words keeps looking at them: "A row of
# padding sees itself and nothing else."
def only_empty_rows_see_themselves(source, target):
    B, T = target.shape
    S = source.shape[1]
    causal = torch.tril(torch.ones(T, T)).bool()
    own = causal & target[:, None, :]
    empty = ~own.any(dim=-1)
    own = own | (empty[:, :, None] & torch.eye(T).bool())
    cross = source[:, None, :].repeat(1, T, 1)
    assert cross.shape == (B, T, S)
    return own, cross


# 13/cross-block


# Tried a single sample without words, saw NaN, and asks about the whole batch: "Where a sample has
# no word in its memory, `x` comes out unchanged."
class NothingToSeeInTheWholeBatch(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        if not real.any():
            return x
        B, T, C = x.shape
        S, H = memory.shape[1], self.n_head
        q = self.query(self.norm(x)).view(B, T, H, C // H).transpose(1, 2)
        k = self.key(memory).view(B, S, H, C // H).transpose(1, 2)
        v = self.value(memory).view(B, S, H, C // H).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(C // H)
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
        out = F.softmax(scores, dim=-1) @ v
        return x + self.projection(out.transpose(1, 2).reshape(B, T, C))


# 13/teacher


# Knows tgt[:, :-1] and tgt[:, 1:] from a tutorial on translation, where shorter texts read their
# ends: "The end is never read."
def ends_of_shorter_texts_are_read(texts, start, end, pad, longest):
    rows = [[start, *text, end][: longest + 1] for text in texts]
    T = max(len(row) for row in rows)
    tgt = torch.tensor([row + [pad] * (T - len(row)) for row in rows])
    x = tgt[:, :-1]
    y = tgt[:, 1:].clone()
    for b, row in enumerate(rows):
        y[b, len(row) - 1 :] = -100
    return x, y


# 13/beam


# Knows early stopping from a library and ends with as many finished texts as the beam is wide: "It
# goes on until there is no live text"
def stop_at_width_finished_texts(log_probabilities, start, end, width, longest, power):
    live = [([start], 0.0)]
    finished = []
    for _ in range(longest):
        logp = log_probabilities(torch.tensor([tokens for tokens, _ in live]))
        sums = logp + torch.tensor([score for _, score in live])[:, None]
        best = sums.flatten().topk(min(width, sums.numel()))
        grown = []
        for score, index in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            row, token = divmod(index, logp.shape[1])
            text = (live[row][0] + [token], score)
            if token == end:
                finished.append(text)
            else:
                grown.append(text)
        live = grown
        if not live or len(finished) >= width:
            break
    candidates = [(tokens[1:], score) for tokens, score in finished + live]
    scored = [(tokens, score / len(tokens) ** power) for tokens, score in candidates]
    return max(scored, key=lambda pair: pair[1])


# 13/alignment


# Counts what is True in `links`, although a word may have several: "the share of right words",
# over all words that count
def share_of_the_links(weights, links, real):
    masked = weights.masked_fill(~real[:, None, None, :], float("-inf"))
    best = masked.argmax(dim=-1, keepdim=True)
    B, H, T, S = weights.shape
    right = links[:, None].expand(B, H, T, S).gather(-1, best).squeeze(-1)
    return right.float().sum(dim=(0, 2)) / links.sum()


# 13/longer


# Tests from position n on, as with training and test data: "over all pairs of the table that are
# *not* within the first n positions"
def pairs_that_begin_after_the_first_n(table, shift, trained):
    errors = []
    for n in trained:
        X, Y = table[: n - shift], table[shift:n]
        M = torch.linalg.pinv(X) @ Y
        X_test, Y_test = table[n:-shift], table[n + shift :]
        errors.append(((X_test @ M - Y_test) ** 2).mean().sqrt().item())
    return errors


WRITTEN = {
    "13/masks": [only_empty_rows_see_themselves],
    "13/cross-block": [NothingToSeeInTheWholeBatch],
    "13/teacher": [ends_of_shorter_texts_are_read],
    "13/beam": [stop_at_width_finished_texts],
    "13/alignment": [share_of_the_links],
    "13/longer": [pairs_that_begin_after_the_first_n],
}
