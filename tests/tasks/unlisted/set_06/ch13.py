"""Wrong answers to chapter 13 that no list names: the sixth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 13/positions


# "speed = base^(−2i / C) for i = 0 … C/2 − 1": here the exponent is half of that
def speeds_half_as_spread(tokens, n_embd, base):
    real = tokens != 0
    places = real.cumsum(dim=1) - 1
    speeds = base ** (-torch.arange(n_embd // 2) / n_embd)
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * real[:, :, None]


# "The first word of each row is at place 0": here that of the longest row
def places_of_the_longest_row(tokens, n_embd, base):
    real = tokens != 0
    padding = int((~real).sum(dim=1).min())
    places = torch.arange(tokens.shape[1]) - padding
    speeds = base ** (-torch.arange(0, n_embd, 2) / n_embd)
    angles = places[:, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return waves * real[:, :, None]


# "Padding gets zeros in all channels", also in a row that holds no word
def zeros_before_the_first_word(tokens, n_embd, base):
    first = (tokens != 0).int().argmax(dim=1)
    places = torch.arange(tokens.shape[1]) - first[:, None]
    speeds = base ** (-torch.arange(0, n_embd, 2) / n_embd)
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves.masked_fill((places < 0)[:, :, None], 0.0)


# 13/masks


# "every row, padding or not, sees all words of the source"
def padding_sees_no_source(source, target):
    T = target.shape[1]
    words = target[:, :, None] & target[:, None, :]
    own = words.tril() | torch.eye(T, dtype=torch.bool)
    return own, target[:, :, None] & source[:, None, :]


# "A row of padding sees itself and nothing else": here only where it would see nothing
def only_empty_rows_see_themselves(source, target):
    B, T = target.shape
    own = target[:, None, :].expand(B, T, T).tril()
    empty = ~own.any(dim=-1, keepdim=True)
    own = own | (empty & torch.eye(T, dtype=torch.bool))
    return own, source[:, None, :].expand(B, T, source.shape[1])


# "The second mask, (B, T, S)": this one has a single row, to be broadcast
def one_row_to_broadcast(source, target):
    T = target.shape[1]
    words = target[:, :, None] & target[:, None, :]
    own = words.tril() | torch.eye(T, dtype=torch.bool)
    return own, source[:, None, :]


# 13/cross-block


# "head h has channels h · D to (h + 1) · D − 1": here every H-th channel
class ChannelsDealtToHeads(nn.Module):
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
        q, k, v = (part.unflatten(2, (-1, self.n_head)).permute(0, 3, 1, 2) for part in parts)
        scores = q @ k.transpose(2, 3) / math.sqrt(k.shape[-1])
        weights = scores.masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
        weights = weights.masked_fill(~real.any(dim=1)[:, None, None, None], 0.0)
        return x + self.projection((weights @ v).permute(0, 2, 3, 1).flatten(2))


# "Where a sample has no word in its memory, x comes out unchanged": also beside samples that have
# one
class OnlyIfAllAreEmpty(nn.Module):
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
        parts = self.query(self.norm(x)), self.key(memory), self.value(memory)
        q, k, v = (part.unflatten(2, (self.n_head, -1)).transpose(1, 2) for part in parts)
        mask = real[:, None, None].expand(-1, -1, x.shape[1], -1)
        scores = (q @ k.transpose(2, 3) / math.sqrt(k.shape[-1])).masked_fill(~mask, -1e9)
        return x + self.projection((scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2))


# "Padding gets no weight": its scores are 0 here, which is not no weight
class PaddingHasScoreZero(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        memory = memory * real[:, :, None]
        parts = self.query(self.norm(x)), self.key(memory), self.value(memory)
        q, k, v = (part.unflatten(2, (self.n_head, -1)).transpose(1, 2) for part in parts)
        found = F.scaled_dot_product_attention(q, k, v)
        return x + self.projection(found.transpose(1, 2).flatten(2))


# 13/teacher


# "The end is never read": a row that is shorter than T has room for it
def end_is_read(texts, start, end, pad, longest):
    T = min(max(len(text) + 1 for text in texts), longest)
    x = torch.full((len(texts), T), pad)
    y = torch.full((len(texts), T), -100)
    for b, text in enumerate(texts):
        read, predicted = [start, *text, end][:T], [*text, end][:T]
        x[b, : len(read)] = torch.tensor(read)
        y[b, : len(predicted)] = torch.tensor(predicted)
    return x, y


# "After the end of a text [...] what is predicted with −100": not wherever the number of the
# padding occurs, which may be that of the end
def padding_known_by_its_number(texts, start, end, pad, longest):
    x = [torch.tensor([start, *text][:longest]) for text in texts]
    y = [torch.tensor([*text, end][:longest]) for text in texts]
    x = nn.utils.rnn.pad_sequence(x, batch_first=True, padding_value=pad)
    y = nn.utils.rnn.pad_sequence(y, batch_first=True, padding_value=pad)
    return x, y.masked_fill(y == pad, -100)


# "Each text is followed by end": also one without any token
def empty_texts_left_out(texts, start, end, pad, longest):
    texts = [text for text in texts if text]
    x = [torch.tensor([start, *text][:longest]) for text in texts]
    y = [torch.tensor([*text, end][:longest]) for text in texts]
    return (
        nn.utils.rnn.pad_sequence(x, batch_first=True, padding_value=pad),
        nn.utils.rnn.pad_sequence(y, batch_first=True, padding_value=-100),
    )


# 13/beam


def _best(texts, power):
    values = [(tokens, total / len(tokens) ** power) for tokens, total in texts]
    return max(values, key=lambda one: one[1])


# "all continuations of all live texts compete": here each text sends its best one only
def best_of_each_text(log_probabilities, start, end, width, longest, power):
    live, finished = [([], 0.0)], []
    for step in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        each = width if step == 0 else 1
        grown = []
        for (tokens, total), row in zip(live, log_probabilities(x), strict=True):
            best = row.topk(min(each, len(row)))
            for gain, token in zip(best.values.tolist(), best.indices.tolist(), strict=True):
                grown.append(([*tokens, token], total + gain))
        kept = sorted(grown, key=lambda one: -one[1])[:width]
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live:
            break
    return _best(finished + live, power)


# "the width best of them are kept": of the V that there are in the first step, which may be fewer
def topk_of_too_few(log_probabilities, start, end, width, longest, power):
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        sums = log_probabilities(x) + torch.tensor([total for _, total in live])[:, None]
        best = sums.flatten().topk(width)
        kept = []
        for total, place in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            text, token = divmod(place, sums.shape[1])
            kept.append(([*live[text][0], token], total))
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live:
            break
    return _best(finished + live, power)


# "It goes on until there is no live text, or texts have longest tokens": not until there are as
# many finished ones as the beam is wide
def stops_with_enough_finished(log_probabilities, start, end, width, longest, power):
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = [
            ([*tokens, token], total + gain)
            for (tokens, total), row in zip(live, log_probabilities(x).tolist(), strict=True)
            for token, gain in enumerate(row)
        ]
        kept = sorted(grown, key=lambda one: -one[1])[:width]
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live or len(finished) >= width:
            break
    return _best(finished + live, power)


# 13/alignment


# "the one with the largest weight is linked to it": not "most of its weight is on words that are"
def most_of_the_weight(weights, links, real):
    weights = weights * real[:, None, None]
    weights = weights / weights.sum(dim=-1, keepdim=True)
    right = (weights * links[:, None]).sum(dim=-1) > 0.5
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


# "A row may have one link, several or none": here the first link is the only one that counts
def first_link_only(weights, links, real):
    best = weights.masked_fill(~real[:, None, None], -torch.inf).argmax(dim=-1)
    origin = links.int().argmax(dim=-1)
    counted = links.any(dim=-1)
    right = (best == origin[:, None]) & counted[:, None]
    return right.sum(dim=(0, 2)) / counted.sum()


# "among the real source words, the one with the largest weight": one of weight 0, where all the
# weight is on padding
def padding_times_zero(weights, links, real):
    best = (weights * real[:, None, None]).argmax(dim=-1)
    B, H, T, S = weights.shape
    right = links[:, None].expand(B, H, T, S).gather(-1, best[..., None]).squeeze(-1)
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


# 13/longer


# "find the C × C matrix [...] in the sense of least squares": a ridge finds another one
def with_a_little_ridge(table, shift, trained):
    before, after = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        X, Y = before[: n - shift], after[: n - shift]
        M = torch.linalg.solve(X.T @ X + 0.01 * torch.eye(X.shape[1], dtype=X.dtype), X.T @ Y)
        gap = before[n - shift :] @ M - after[n - shift :]
        errors.append(gap.square().mean().sqrt().item())
    return errors


# "over all pairs of the table that are not within the first n positions": also those that begin
# within them
def pairs_that_begin_beyond(table, shift, trained):
    before, after = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        M = torch.linalg.pinv(before[: n - shift]) @ after[: n - shift]
        gap = before[n:] @ M - after[n:]
        errors.append(gap.square().mean().sqrt().item())
    return errors


# "the root of the mean square [...] over all channels and over all pairs": here the mean over the
# pairs of a root for each
def mean_of_a_root_for_each_pair(table, shift, trained):
    before, after = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        M = torch.linalg.pinv(before[: n - shift]) @ after[: n - shift]
        gap = before[n - shift :] @ M - after[n - shift :]
        errors.append(gap.square().mean(dim=1).sqrt().mean().item())
    return errors


WRITTEN = {
    "13/positions": [
        speeds_half_as_spread,
        places_of_the_longest_row,
        zeros_before_the_first_word,
    ],
    "13/masks": [padding_sees_no_source, only_empty_rows_see_themselves, one_row_to_broadcast],
    "13/cross-block": [ChannelsDealtToHeads, OnlyIfAllAreEmpty, PaddingHasScoreZero],
    "13/teacher": [end_is_read, padding_known_by_its_number, empty_texts_left_out],
    "13/beam": [best_of_each_text, topk_of_too_few, stops_with_enough_finished],
    "13/alignment": [most_of_the_weight, first_link_only, padding_times_zero],
    "13/longer": [with_a_little_ridge, pairs_that_begin_beyond, mean_of_a_root_for_each_pair],
}

ASIDE = {
    "only_empty_rows_see_themselves",
    "one_row_to_broadcast",
    "OnlyIfAllAreEmpty",
    "PaddingHasScoreZero",
    "topk_of_too_few",
    "stops_with_enough_finished",
    "most_of_the_weight",
    "padding_times_zero",
    "pairs_that_begin_beyond",
}
