"""Wrong answers to chapter 13 that no list names: the ninth set.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 13/positions


# One who saw negative places, lifted them to 0 and forgot what the cosine of 0 is.
# "Padding gets zeros in all channels, also in a row that holds no word."
def padding_at_place_zero(tokens, n_embd, base):
    places = ((tokens != 0).cumsum(dim=1) - 1).clamp(min=0)
    speeds = base ** (-torch.arange(0, n_embd, 2) / n_embd)
    angles = places.unsqueeze(-1) * speeds
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


# One who knows the paper, where the power stands below the line, and multiplied all the same.
# "speed = base^(−2i / C)"
def speeds_that_grow(tokens, n_embd, base):
    B, T = tokens.shape
    real = tokens != 0
    places = real.cumsum(dim=1) - 1
    speeds = base ** (torch.arange(0, n_embd, 2) / n_embd)
    angles = places[:, :, None] * speeds
    out = torch.zeros(B, T, n_embd)
    out[:, :, 0::2] = angles.sin()
    out[:, :, 1::2] = angles.cos()
    return out.masked_fill(~real[:, :, None], 0.0)


# 13/masks


# One who knows from a library how to save a softmax: rows without any True see everything.
# "A row of padding sees itself and nothing else."
def empty_rows_see_all(source, target):
    T = target.shape[1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    own = past[None] & target[:, None, :] & target[:, :, None]
    own = own | ~own.any(dim=-1, keepdim=True)
    cross = source[:, None, :].repeat(1, T, 1)
    return own, cross


# One who did to the second mask what was right for the first.
# "every row, padding or not, sees all words of the source and none of its padding"
def padding_rows_see_no_source(source, target):
    T = target.shape[1]
    past = torch.tril(torch.ones(T, T, dtype=torch.bool))
    own = past & target[:, :, None] & target[:, None, :]
    own = own | torch.eye(T, dtype=torch.bool)
    cross = target[:, :, None] & source[:, None, :]
    return own, cross


# 13/cross-block


# One who overwrites `x` in the first line.
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
        B, T, C = x.shape
        S, D = memory.shape[1], C // self.n_head
        x = self.norm(x)
        q = self.query(x).view(B, T, self.n_head, D).transpose(1, 2)
        k = self.key(memory).view(B, S, self.n_head, D).transpose(1, 2)
        v = self.value(memory).view(B, S, self.n_head, D).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(D)
        scores = scores.masked_fill(~real[:, None, None, :], -torch.inf)
        weights = scores.softmax(dim=-1).nan_to_num(0.0)
        found = (weights @ v).transpose(1, 2).reshape(B, T, C)
        return x + self.projection(found)


# One who splits the channels as they do in Keras with the heads last.
# "head h has channels h · D to (h + 1) · D − 1 of queries, keys and values"
class HeadsAsTheLastAxis(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        q = self.query(self.norm(x)).unflatten(-1, (-1, self.n_head))  # (B, T, D, H)
        k = self.key(memory).unflatten(-1, (-1, self.n_head))
        v = self.value(memory).unflatten(-1, (-1, self.n_head))
        scores = torch.einsum("btdh,bsdh->bhts", q, k) / math.sqrt(q.shape[2])
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
        weights = torch.nan_to_num(scores.softmax(dim=-1))
        found = torch.einsum("bhts,bsdh->btdh", weights, v)
        return x + self.projection(found.flatten(2))


# One who thought of a batch without any word, and of no sample in it.
# "Where a sample has no word in its memory, `x` comes out unchanged."
class EmptyOnlyAllTogether(nn.Module):
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
        parts = (self.query(self.norm(x)), self.key(memory), self.value(memory))
        q, k, v = (part.unflatten(2, (self.n_head, -1)).transpose(1, 2) for part in parts)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        weights = scores.masked_fill(~real[:, None, None], -1e9).softmax(dim=-1)
        found = (weights @ v).transpose(1, 2).flatten(2)
        return x + self.projection(found)


# 13/teacher


# One who leaves room for the end in every text.
# "if text and end don't fit, the first `longest` tokens are predicted and there is no end"
def room_for_the_end(texts, start, end, pad, longest):
    x, y = [], []
    for text in texts:
        text = text[: longest - 1]
        x.append(torch.tensor([start, *text]))
        y.append(torch.tensor([*text, end]))
    x = nn.utils.rnn.pad_sequence(x, batch_first=True, padding_value=pad)
    y = nn.utils.rnn.pad_sequence(y, batch_first=True, padding_value=-100)
    return x, y


# One who pads first and shifts the whole batch afterwards.
# "The end is never read."
def batch_shifted_after_padding(texts, start, end, pad, longest):
    rows = [torch.tensor([start, *text, end]) for text in texts]
    x = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)
    y = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-100)
    return x[:, :-1][:, :longest], y[:, 1:][:, :longest]


# 13/beam


# One who knows a library in which finished texts make room for others.
# "the `width` best of them are kept. Those that end in `end` are finished and set aside"
def beam_filled_up_again(log_probabilities, start, end, width, longest, power):
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        table = log_probabilities(x).tolist()
        grown = []
        for (tokens, total), row in zip(live, table, strict=True):
            for token, gain in enumerate(row):
                grown.append(([*tokens, token], total + gain))
        grown.sort(key=lambda pair: pair[1], reverse=True)
        finished += [pair for pair in grown[:width] if pair[0][-1] == end]
        live = [pair for pair in grown if pair[0][-1] != end][:width]
        if not live:
            break
    values = [(tokens, total / len(tokens) ** power) for tokens, total in finished + live]
    return max(values, key=lambda pair: pair[1])


# One to whom a text without an end is none, if there is another.
# "Of all finished texts and all that are still live, the one with the largest sum / n ** power"
def finished_texts_first(log_probabilities, start, end, width, longest, power):
    live, finished = [([], 0.0)], []
    step = 0
    while live and step < longest:
        logp = log_probabilities(torch.tensor([[start, *tokens] for tokens, _ in live]))
        V = logp.shape[1]
        sums = (logp + torch.tensor([total for _, total in live])[:, None]).flatten()
        top = sums.topk(min(width, len(sums)))
        following = []
        for total, index in zip(top.values.tolist(), top.indices.tolist(), strict=True):
            tokens = [*live[index // V][0], index % V]
            (finished if tokens[-1] == end else following).append((tokens, total))
        live = following
        step += 1
    candidates = finished if finished else live
    tokens, total = max(candidates, key=lambda pair: pair[1] / len(pair[0]) ** power)
    return tokens, total / len(tokens) ** power


# One who chooses by the value and returns the sum that lies beside it.
# "Return its tokens, without `start` and with `end` if it has one, and that value."
def sum_instead_of_value(log_probabilities, start, end, width, longest, power):
    live, finished = [([start], 0.0)], []
    for _ in range(longest):
        if not live:
            break
        logp = log_probabilities(torch.tensor([tokens for tokens, _ in live])).tolist()
        grown = [
            ([*tokens, token], total + gain)
            for (tokens, total), row in zip(live, logp, strict=True)
            for token, gain in enumerate(row)
        ]
        grown = sorted(grown, key=lambda pair: -pair[1])[:width]
        finished.extend(pair for pair in grown if pair[0][-1] == end)
        live = [pair for pair in grown if pair[0][-1] != end]
    best = max(finished + live, key=lambda pair: pair[1] / (len(pair[0]) - 1) ** power)
    return best[0][1:], best[1]


# 13/alignment


# A statistician, who adds up the weight on all the origins and asks for a majority.
# "the one with the largest weight is linked to it"
def majority_on_the_links(weights, links, real):
    weights = weights * real[:, None, None, :]
    weights = weights / weights.sum(dim=-1, keepdim=True)
    linked = (weights * links[:, None]).sum(dim=-1)  # (B, H, T)
    counts = links.any(dim=-1)  # (B, T)
    right = (linked > 0.5) & counts[:, None]
    return right.sum(dim=(0, 2)) / counts.sum()


# One who adapted the chapter's line, which knew a single origin.
# "A row may have one link, several or none."
def first_link_only(weights, links, real):
    origin = links.int().argmax(dim=-1)  # (B, T)
    counts = links.any(dim=-1)
    best = weights.masked_fill(~real[:, None, None, :], 0.0).argmax(dim=-1)
    right = (best == origin[:, None]) & counts[:, None]
    return right.float().sum(dim=(0, 2)) / counts.sum()


# One who takes the mean of the samples' shares.
# "over all words of all samples that count"
def shares_of_samples(weights, links, real):
    best = weights.masked_fill(~real[:, None, None, :], -torch.inf).argmax(dim=-1)
    chosen = F.one_hot(best, weights.shape[-1]).bool()
    right = (chosen & links[:, None]).any(dim=-1)  # (B, H, T)
    counts = links.any(dim=-1).sum(dim=-1).clamp(min=1)  # (B,)
    return (right.sum(dim=-1) / counts[:, None]).mean(dim=0)


# 13/longer


# A statistician, who never inverts without a ridge.
# "Where many matrices fit equally well, take the one with the smallest entries"
def with_a_ridge(table, shift, trained):
    before, after = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        X, Y = before[: n - shift], after[: n - shift]
        ridge = 0.01 * torch.eye(table.shape[1], dtype=table.dtype)
        M = torch.linalg.solve(X.T @ X + ridge, X.T @ Y)
        gap = before[n - shift :] @ M - after[n - shift :]
        errors.append(gap.square().mean().sqrt().item())
    return errors


# One who tests from the first position that is new.
# "over all pairs of the table that are *not* within the first n positions"
def pairs_that_begin_later(table, shift, trained):
    errors = []
    for n in trained:
        known, new = table[:n], table[n:]
        M = torch.linalg.pinv(known[:-shift]) @ known[shift:]
        gap = new[:-shift] @ M - new[shift:]
        errors.append(float((gap**2).mean() ** 0.5))
    return errors


WRITTEN = {
    "13/positions": [padding_at_place_zero, speeds_that_grow],
    "13/masks": [empty_rows_see_all, padding_rows_see_no_source],
    "13/cross-block": [SkipFromTheNorm, HeadsAsTheLastAxis, EmptyOnlyAllTogether],
    "13/teacher": [room_for_the_end, batch_shifted_after_padding],
    "13/beam": [beam_filled_up_again, finished_texts_first, sum_instead_of_value],
    "13/alignment": [majority_on_the_links, first_link_only, shares_of_samples],
    "13/longer": [with_a_ridge, pairs_that_begin_later],
}

ASIDE = {
    "speeds_that_grow",
    "empty_rows_see_all",
    "EmptyOnlyAllTogether",
    "batch_shifted_after_padding",
    "finished_texts_first",
    "first_link_only",
    "shares_of_samples",
    "with_a_ridge",
}
