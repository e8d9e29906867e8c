"""Wrong answers to chapter 13 that no list names: the eighth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 13/positions


# Clamped the places of padding to 0, and holds that for "zeros in all channels".
# "Padding gets zeros in all channels": the cosine of 0 is 1
def padding_at_place_zero(tokens, n_embd, base):
    places = ((tokens != 0).cumsum(dim=1) - 1).clamp(min=0)
    speeds = base ** (-torch.arange(0, n_embd, 2) / n_embd)
    angles = places.unsqueeze(-1) * speeds
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)


# Took one step of the exponent for each pair, in a formula with 2i.
# "speed = base^(−2i / C) for i = 0 … C/2 − 1"
def exponent_without_the_two(tokens, n_embd, base):
    real = (tokens != 0).long()
    place = torch.cumsum(real, dim=1) - 1
    i = torch.arange(n_embd // 2)
    speed = base ** (-i / n_embd)
    angle = place[..., None] * speed
    out = torch.zeros(*tokens.shape, n_embd)
    out[..., 0::2] = torch.sin(angle)
    out[..., 1::2] = torch.cos(angle)
    out[tokens == 0] = 0.0
    return out


# 13/masks


# Comes from the encoder, where the mask is an outer product of words.
# "every row, padding or not, sees all words of the source"
def padding_looks_at_no_source(source, target):
    T = target.shape[1]
    causal = torch.tril(torch.ones(T, T)).bool()
    own = causal & target.unsqueeze(1) & target.unsqueeze(2)
    own = own | torch.eye(T).bool()
    cross = target.unsqueeze(2) & source.unsqueeze(1)
    return own, cross


# Masked the columns, and saw that no row was empty any more once the diagonal was in.
# "A row of padding sees itself and nothing else."
def padding_looks_at_words_before(source, target):
    B, T = target.shape
    S = source.shape[1]
    triangle = torch.ones(T, T, dtype=torch.bool).tril()
    own = triangle[None] & target[:, None, :]
    own = own | torch.eye(T, dtype=torch.bool)
    return own, source[:, None, :].expand(B, T, S)


# 13/cross-block


# Knows −1e9 from a tutorial on transformers.
# "Where a sample has no word in its memory, `x` comes out unchanged."
class LargeNegativeNumber(nn.Module):
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
        S = memory.shape[1]
        D = C // self.n_head
        q = self.query(self.norm(x)).view(B, T, self.n_head, D).transpose(1, 2)
        k = self.key(memory).view(B, S, self.n_head, D).transpose(1, 2)
        v = self.value(memory).view(B, S, self.n_head, D).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(D)
        scores = scores.masked_fill(real[:, None, None, :] == 0, -1e9)
        out = (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(B, T, C)
        return x + self.projection(out)


# Saw NaN in the result and replaced it there.
# "`x` comes out unchanged"
class NanReplacedAtTheEnd(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        q, k, v = (
            part.unflatten(-1, (self.n_head, -1)).transpose(1, 2)
            for part in (self.query(self.norm(x)), self.key(memory), self.value(memory))
        )
        mask = real[:, None, None, :]
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
        found = (weights @ v).transpose(1, 2).flatten(2)
        return torch.nan_to_num(x + self.projection(found))


# Normalizes the stream on the first line, and goes on with it under its old name.
# "The result is `x` plus the projection of what was found."
class AddedToTheNormalizedStream(nn.Module):
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
        heads = []
        queries = self.query(x).chunk(self.n_head, dim=-1)
        keys = self.key(memory).chunk(self.n_head, dim=-1)
        values = self.value(memory).chunk(self.n_head, dim=-1)
        for q, k, v in zip(queries, keys, values, strict=True):
            scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])  # (B, T, S)
            weights = scores.masked_fill(~real[:, None, :], -torch.inf).softmax(dim=-1)
            heads.append(weights.nan_to_num(0.0) @ v)
        return x + self.projection(torch.cat(heads, dim=-1))


# 13/teacher


# Holds that a text without an end is no text.
# "if text and end don't fit, the first `longest` tokens are predicted and there is no end"
def end_in_any_case(texts, start, end, pad, longest):
    x, y = [], []
    for text in texts:
        cut = text[: longest - 1]
        x.append(torch.tensor([start, *cut]))
        y.append(torch.tensor([*cut, end]))
    x = nn.utils.rnn.pad_sequence(x, batch_first=True, padding_value=pad)
    y = nn.utils.rnn.pad_sequence(y, batch_first=True, padding_value=-100)
    return x, y


# Pads one row for both, and moves it by one place.
# "The end is never read."
def one_row_moved_by_a_place(texts, start, end, pad, longest):
    rows = [[start, *text, end][: longest + 1] for text in texts]
    T = max(len(row) for row in rows) - 1
    x = torch.tensor([(row + [pad] * (T + 1 - len(row)))[:-1] for row in rows])
    y = torch.tensor([(row + [-100] * (T + 1 - len(row)))[1:] for row in rows])
    return x, y


# 13/beam


# Chooses among texts that are complete, if there are any.
# "Of all finished texts and all that are still live, the one with the largest … wins"
def finished_texts_first(log_probabilities, start, end, width, longest, power):
    live, done = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        logp = log_probabilities(x)
        sums = torch.tensor([[total] for _, total in live]) + logp
        V = sums.shape[1]
        best, where = sums.flatten().topk(min(width, sums.numel()))
        new = []
        for total, index in zip(best.tolist(), where.tolist(), strict=True):
            tokens = live[index // V][0] + [index % V]
            if tokens[-1] == end:
                done.append((tokens, total))
            else:
                new.append((tokens, total))
        live = new
        if not live:
            break
    candidates = done or live
    values = [(total / len(tokens) ** power, tokens) for tokens, total in candidates]
    value, tokens = max(values)
    return tokens, value


# Stops as the chapter's greedy loop does, when a text is at its end.
# "It goes on until there is no live text"
def stops_at_the_first_end(log_probabilities, start, end, width, longest, power):
    beams, finished = [([], 0.0)], []
    for _ in range(longest):
        table = log_probabilities(torch.tensor([[start, *t] for t, _ in beams])).tolist()
        grown = []
        for (tokens, total), row in zip(beams, table, strict=True):
            grown += [([*tokens, v], total + gain) for v, gain in enumerate(row)]
        grown = sorted(grown, key=lambda pair: -pair[1])[:width]
        finished = [pair for pair in grown if pair[0][-1] == end]
        beams = [pair for pair in grown if pair[0][-1] != end]
        if finished:
            break
    tokens, total = max(finished + beams, key=lambda pair: pair[1] / len(pair[0]) ** power)
    return tokens, total / len(tokens) ** power


# 13/alignment


# Computes a share for each sample, as one does for a table of results.
# "over all words of all samples that count"
def mean_of_the_samples(weights, links, real):
    shares = []
    for w, link, r in zip(weights, links, real, strict=True):
        best = w.masked_fill(~r, -torch.inf).argmax(dim=-1)  # (H, T)
        right = torch.stack([link.gather(1, b[:, None])[:, 0] for b in best])  # (H, T)
        counts = link.any(dim=-1)
        if counts.any():
            shares.append(right[:, counts].float().mean(dim=1))
    return torch.stack(shares).mean(dim=0)


# Turned the links into the origins of the chapter, of which there was one for each word.
# "A row may have one link, several or none."
def first_link_alone(weights, links, real):
    origin = links.int().argmax(dim=-1)  # (B, T)
    linked = links.any(dim=-1)
    best = weights.masked_fill(~real[:, None, None, :], 0.0).argmax(dim=-1)  # (B, H, T)
    right = (best == origin[:, None]) & linked[:, None]
    return right.sum(dim=(0, 2)) / linked.sum()


# 13/longer


# Counts pairs, where the statement counts positions.
# "take the pairs (t, t + shift) that lie *within* the first n positions"
def n_pairs_instead_of_positions(table, shift, trained):
    x, y = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        M = torch.linalg.pinv(x[:n]) @ y[:n]
        difference = x[n:] @ M - y[n:]
        errors.append((difference**2).mean().sqrt().item())
    return errors


# Tests the map on the pairs that begin after the first n positions.
# "all pairs of the table that are *not* within the first n positions"
def pairs_across_the_border_left_out(table, shift, trained):
    errors = []
    for n in trained:
        M = torch.linalg.pinv(table[: n - shift]) @ table[shift:n]
        gap = table[n:-shift] @ M - table[n + shift :]
        errors.append(math.sqrt(gap.square().mean()))
    return errors


WRITTEN = {
    "13/positions": [padding_at_place_zero, exponent_without_the_two],
    "13/masks": [padding_looks_at_no_source, padding_looks_at_words_before],
    "13/cross-block": [LargeNegativeNumber, NanReplacedAtTheEnd, AddedToTheNormalizedStream],
    "13/teacher": [end_in_any_case, one_row_moved_by_a_place],
    "13/beam": [finished_texts_first, stops_at_the_first_end],
    "13/alignment": [mean_of_the_samples, first_link_alone],
    "13/longer": [n_pairs_instead_of_positions, pairs_across_the_border_left_out],
}

ASIDE = {
    "end_in_any_case",
    "first_link_alone",
}
