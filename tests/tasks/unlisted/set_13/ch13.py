"""Wrong answers to chapter 13 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 13/positions


def empty_rows_start_at_the_left(tokens, n_embd, base):
    """Finds the first word by argmax, which says 0 for a row without words: it gets positions."""
    T = tokens.shape[1]
    first = (tokens != 0).int().argmax(dim=1)  # (B,)
    places = torch.arange(T) - first[:, None]  # (B, T), negative on padding
    speeds = base ** (-torch.arange(0, n_embd, 2) / n_embd)
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * (places >= 0)[:, :, None]


def speeds_down_to_one_over_base(tokens, n_embd, base):
    """Spaces the exponents with linspace from 0 to 1, so that the last speed is 1 / base."""
    real = tokens != 0
    places = real.cumsum(dim=1) - 1
    speeds = base ** -torch.linspace(0, 1, n_embd // 2)
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * real[:, :, None]


def first_word_taken_for_padding(tokens, n_embd, base):
    """Tells padding by place 0, which the first word has as well, so the first word gets zeros."""
    places = ((tokens != 0).cumsum(dim=1) - 1).clamp(min=0)  # (B, T)
    speeds = base ** (-torch.arange(0, n_embd, 2) / n_embd)
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * (places != 0)[:, :, None]


# 13/masks


def same_kind_sees_each_other(source, target):
    """Asks whether row and column are of the same kind, so padding sees the padding before it."""
    B, T = target.shape
    past = torch.ones(T, T, dtype=torch.bool).tril()
    own = past & (target[:, :, None] == target[:, None, :])
    return own, source[:, None, :].expand(B, T, source.shape[1])


def source_is_causal_too(source, target):
    """Puts the causal mask on the source as well: row t sees only its first t + 1 words."""
    T, S = target.shape[1], source.shape[1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    own = past & target[:, :, None] & target[:, None, :] | torch.eye(T, dtype=torch.bool)
    cross = source[:, None, :] & torch.ones(T, S, dtype=torch.bool).tril()
    return own, cross


def words_come_first(source, target):
    """Counts the words of a text and takes that many from the left, wherever the padding is."""

    def from_the_left(real):
        return torch.arange(real.shape[1]) < real.sum(dim=1, keepdim=True)

    source, target = from_the_left(source), from_the_left(target)
    B, T = target.shape
    past = torch.ones(T, T, dtype=torch.bool).tril()
    own = past & target[:, :, None] & target[:, None, :] | torch.eye(T, dtype=torch.bool)
    return own, source[:, None, :].expand(B, T, source.shape[1])


# 13/cross-block


class MemoryZeroedInsteadOfMasked(nn.Module):
    """Sets the padding of the memory to 0 but masks no score, so padding still takes weight."""

    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        """(B, T, C), (B, S, M), (B, S) → (B, T, C)."""
        memory = memory * real[:, :, None]
        parts = self.query(self.norm(x)), self.key(memory), self.value(memory)
        query, key, value = (part.unflatten(2, (self.n_head, -1)).transpose(1, 2) for part in parts)
        weights = (query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])).softmax(dim=-1)
        found = (weights @ value).transpose(1, 2).flatten(2)
        return x + self.projection(found)


class EmptyOnlyIfAllAreEmpty(nn.Module):
    """Returns x if no sample has a memory; one empty sample beside others still becomes NaN."""

    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        """(B, T, C), (B, S, M), (B, S) → (B, T, C)."""
        if not real.any():
            return x
        parts = self.query(self.norm(x)), self.key(memory), self.value(memory)
        query, key, value = (part.unflatten(2, (self.n_head, -1)).transpose(1, 2) for part in parts)
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])
        weights = scores.masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
        found = (weights @ value).transpose(1, 2).flatten(2)
        return x + self.projection(found)


class DividedByRootOfHeads(nn.Module):
    """Unpacks the shape of the queries as (B, T, D) after the split: divides by the root of H."""

    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        """(B, T, C), (B, S, M), (B, S) → (B, T, C)."""
        parts = self.query(self.norm(x)), self.key(memory), self.value(memory)
        query, key, value = (part.unflatten(2, (self.n_head, -1)).transpose(1, 2) for part in parts)
        scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[1])
        scores = scores.masked_fill(~real[:, None, None], -torch.inf)
        weights = scores.softmax(dim=-1).nan_to_num(0.0)
        found = (weights @ value).transpose(1, 2).flatten(2)
        return x + self.projection(found)


# 13/teacher


def batch_axis_second(texts, start, end, pad, longest):
    """Forgets batch_first=True in pad_sequence, so x and y come out as (T, B)."""
    rows = [torch.tensor([start, *text, end]) for text in texts]
    x = [row[:-1][:longest] for row in rows]
    y = [row[1:][:longest] for row in rows]
    return (
        nn.utils.rnn.pad_sequence(x, padding_value=pad),
        nn.utils.rnn.pad_sequence(y, padding_value=-100),
    )


def end_needs_one_place_to_spare(texts, start, end, pad, longest):
    """Drops the end also where text and end just fit into longest (< where <= is meant)."""
    x, y = [], []
    for text in texts:
        predicted = text[:longest]
        if len(text) + 1 < longest:
            predicted = [*text, end]
        x.append(torch.tensor([start, *predicted[:-1]]))
        y.append(torch.tensor(predicted))
    return (
        nn.utils.rnn.pad_sequence(x, batch_first=True, padding_value=pad),
        nn.utils.rnn.pad_sequence(y, batch_first=True, padding_value=-100),
    )


def width_without_the_end(texts, start, end, pad, longest):
    """Takes T from the lengths of the texts without their ends: the longest one loses its end."""
    T = min(longest, max(len(text) for text in texts))
    x = torch.full((len(texts), T), pad)
    y = torch.full((len(texts), T), -100)
    for i, text in enumerate(texts):
        read, predicted = [start, *text][:T], [*text, end][:T]
        x[i, : len(read)] = torch.tensor(read)
        y[i, : len(predicted)] = torch.tensor(predicted)
    return x, y


# 13/beam


def stops_when_no_live_text_leads(log_probabilities, start, end, width, longest, power):
    """Stops once a finished text has a better value than all live ones, which could still rise."""
    live, finished = [([], 0.0)], []

    def value(one):
        return one[1] / len(one[0]) ** power

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
        if finished and max(map(value, finished)) >= max(map(value, live)):
            break
    best = max(finished + live, key=value)
    return best[0], value(best)


def length_penalty_of_a_paper(log_probabilities, start, end, width, longest, power):
    """Divides by ((5 + n) / 6) ** power, the length penalty known from GNMT, not by n ** power."""
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
    values = [
        (tokens, total / ((5 + len(tokens)) / 6) ** power) for tokens, total in finished + live
    ]
    return max(values, key=lambda one: one[1])


def live_only_if_none_finished(log_probabilities, start, end, width, longest, power):
    """Lets texts that are still live compete in the end only if no text is finished."""
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
    values = [(tokens, total / len(tokens) ** power) for tokens, total in finished or live]
    return max(values, key=lambda one: one[1])


# 13/alignment


def only_the_first_link(weights, links, real):
    """Takes the first link of a word for its only one, so its other origins count as wrong."""
    best = weights.masked_fill(~real[:, None, None], -1.0).argmax(dim=-1)  # (B, H, T)
    counts = links.any(dim=-1)  # (B, T)
    origin = links.int().argmax(dim=-1)  # (B, T)
    right = (best == origin[:, None]) & counts[:, None]
    return right.sum(dim=(0, 2)) / counts.sum()


def looks_at_padding_not_counted(weights, links, real):
    """Leaves a word out for a head that looks most at padding, and doesn't take its best word."""
    best = weights.argmax(dim=-1)  # (B, H, T)
    B, H, T, S = weights.shape
    right = links[:, None].expand(B, H, T, S).gather(3, best[..., None])[..., 0]
    at_word = real[:, None, None].expand(B, H, T, S).gather(3, best[..., None])[..., 0]
    counts = links.any(dim=-1)[:, None] & at_word  # (B, H, T)
    return (right & counts).sum(dim=(0, 2)) / counts.sum(dim=(0, 2)).clamp(min=1)


def row_predicts_the_next_word(weights, links, real):
    """Compares row t of the weights with the links of word t + 1, as if row t had predicted it."""
    weights, links = weights[:, :, :-1], links[:, 1:]
    best = weights.masked_fill(~real[:, None, None], -1.0).argmax(dim=-1)
    chosen = F.one_hot(best, weights.shape[-1]).bool()
    right = (chosen & links[:, None]).any(dim=-1)
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


# 13/longer


def pairs_go_round(table, shift, trained):
    """Shifts with roll, so the last positions are tested against the first ones again."""
    after = table.roll(-shift, dims=0)
    errors = []
    for n in trained:
        known = n - shift
        M = torch.linalg.pinv(table[:known]) @ after[:known]
        gap = table[known:] @ M - after[known:]
        errors.append(gap.square().mean().sqrt().item())
    return errors


def root_for_each_channel(table, shift, trained):
    """Takes the root of the mean square for each channel, and the mean of these roots."""
    before, after = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        known = n - shift
        M = torch.linalg.pinv(before[:known]) @ after[:known]
        gap = before[known:] @ M - after[known:]
        errors.append(gap.square().mean(dim=0).sqrt().mean().item())
    return errors


def small_entries_by_a_ridge(table, shift, trained):
    """Keeps the entries small by adding 0.01 to the diagonal of the normal equations."""
    before, after = table[:-shift], table[shift:]
    ridge = 0.01 * torch.eye(table.shape[1], dtype=table.dtype)
    errors = []
    for n in trained:
        known = n - shift
        X, Y = before[:known], after[:known]
        M = torch.linalg.solve(X.T @ X + ridge, X.T @ Y)
        gap = before[known:] @ M - after[known:]
        errors.append(gap.square().mean().sqrt().item())
    return errors


WRITTEN = {
    "13/positions": [
        empty_rows_start_at_the_left,
        speeds_down_to_one_over_base,
        first_word_taken_for_padding,
    ],
    "13/masks": [same_kind_sees_each_other, source_is_causal_too, words_come_first],
    "13/cross-block": [
        MemoryZeroedInsteadOfMasked,
        EmptyOnlyIfAllAreEmpty,
        DividedByRootOfHeads,
    ],
    "13/teacher": [batch_axis_second, end_needs_one_place_to_spare, width_without_the_end],
    "13/beam": [
        stops_when_no_live_text_leads,
        length_penalty_of_a_paper,
        live_only_if_none_finished,
    ],
    "13/alignment": [
        only_the_first_link,
        looks_at_padding_not_counted,
        row_predicts_the_next_word,
    ],
    "13/longer": [pairs_go_round, root_for_each_channel, small_entries_by_a_ridge],
}

ASIDE = {
    "DividedByRootOfHeads",
    "end_needs_one_place_to_spare",
    "length_penalty_of_a_paper",
    "only_the_first_link",
    "small_entries_by_a_ridge",
    "speeds_down_to_one_over_base",
    "words_come_first",
}
