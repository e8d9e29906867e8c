"""Chapter 13, the fifth set: task -> wrong answers, each beside the sentence that it breaks."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# "speed = base^(−2i / C)": the division leaves whole numbers.
def speeds_by_whole_numbers(tokens, n_embd, base):
    real = tokens != 0
    places = real.cumsum(dim=1) - 1
    speeds = base ** (-torch.arange(0, n_embd, 2) // n_embd).float()
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * real[:, :, None]


# "sees all words of the source and none of its padding", also where it is nothing but padding.
def an_empty_source_is_seen(source, target):
    T = target.shape[1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    words = target[:, :, None] & target[:, None, :]
    own = past & words | torch.eye(T, dtype=torch.bool)
    seen = source | ~source.any(dim=1, keepdim=True)
    return own, seen[:, None, :].expand(-1, T, -1)


# "A row of padding sees itself and nothing else."
def padding_sees_the_first_place(source, target):
    T = target.shape[1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    own = past & target[:, :, None] & target[:, None, :]
    own[:, :, 0] |= ~target
    return own, source[:, None, :].expand(-1, T, -1)


class Cross(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head, self.n_memory = n_head, n_memory
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def heads(self, x, memory):
        parts = self.query(self.norm(x)), self.key(memory), self.value(memory)
        return (part.unflatten(2, (self.n_head, -1)).transpose(1, 2) for part in parts)


# "Where a sample has no word in its memory, x comes out unchanged": a large negative number makes
# its padding all alike.
class HidesByALargeNumber(Cross):
    def forward(self, x, memory, real):
        query, key, value = self.heads(x, memory)
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])
        weights = scores.masked_fill(~real[:, None, None], -1e9).softmax(dim=-1)
        return x + self.projection((weights @ value).transpose(1, 2).flatten(2))


# "Padding gets no weight. ... Where a sample has no word": one that has none takes the memory from
# all the others.
class OneEmptyMemoryEmptiesAll(Cross):
    def forward(self, x, memory, real):
        if not real.any(dim=1).all():
            return x
        query, key, value = self.heads(x, memory)
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])
        weights = scores.masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
        return x + self.projection((weights @ value).transpose(1, 2).flatten(2))


# "Each text is followed by `end`", a text of no tokens as well.
def empty_texts_are_left_out(texts, start, end, pad, longest):
    rows = [torch.tensor([start, *text, end]) for text in texts if text]
    return (
        nn.utils.rnn.pad_sequence([r[:-1][:longest] for r in rows], True, pad),
        nn.utils.rnn.pad_sequence([r[1:][:longest] for r in rows], True, -100),
    )


# "if text and end don't fit ... there is no end": where they fit exactly, there is one.
def exact_fit_loses_its_end(texts, start, end, pad, longest):
    rows = [[*text, end] if len(text) + 1 < longest else text[:longest] for text in texts]
    x = [torch.tensor([start, *row[:-1]]) for row in rows]
    y = [torch.tensor(row) for row in rows]
    return nn.utils.rnn.pad_sequence(x, True, pad), nn.utils.rnn.pad_sequence(y, True, -100)


# "T is the largest number of tokens that are predicted for a text of this batch."
def always_the_longest(texts, start, end, pad, longest):
    x, y = torch.full((len(texts), longest), pad), torch.full((len(texts), longest), -100)
    for b, text in enumerate(texts):
        row = torch.tensor([start, *text, end])
        n = min(len(row) - 1, longest)
        x[b, :n], y[b, :n] = row[:n], row[1 : n + 1]
    return x, y


def searched(log_probabilities, start, end, width, longest, enough, room):
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = [
            ([*tokens, token], total + gain)
            for (tokens, total), row in zip(live, log_probabilities(x).tolist(), strict=True)
            for token, gain in enumerate(row)
        ]
        kept = sorted(grown, key=lambda one: one[1], reverse=True)[: room(finished)]
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live or enough(finished):
            break
    return live, finished


# "It goes on until there is no live text, or texts have `longest` tokens"
def stops_when_width_texts_are_finished(log_probabilities, start, end, width, longest, power):
    live, finished = searched(
        log_probabilities,
        start,
        end,
        width,
        longest,
        lambda done: len(done) >= width,
        lambda done: width,
    )
    values = [(tokens, total / len(tokens) ** power) for tokens, total in finished + live]
    return max(values, key=lambda one: one[1])


# "the `width` best of them are kept": in each step, however many are finished already.
def finished_texts_take_room(log_probabilities, start, end, width, longest, power):
    live, finished = searched(
        log_probabilities,
        start,
        end,
        width,
        longest,
        lambda done: False,
        lambda done: max(width - len(done), 0),
    )
    values = [(tokens, total / len(tokens) ** power) for tokens, total in finished + live]
    return max(values, key=lambda one: one[1])


# "the one with the largest sum / n ** power wins"
def penalty_of_the_translation_paper(log_probabilities, start, end, width, longest, power):
    live, finished = searched(
        log_probabilities,
        start,
        end,
        width,
        longest,
        lambda done: False,
        lambda done: width,
    )
    values = [
        (tokens, total / ((5 + len(tokens)) / 6) ** power) for tokens, total in finished + live
    ]
    return max(values, key=lambda one: one[1])


# "the one with the largest weight", however large it is.
def more_than_half_of_the_weight(weights, links, real):
    large = (weights * real[:, None, None]) > 0.5
    right = (large & links[:, None]).any(dim=-1)
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


# "Words without any link don't count", and all others do: also where a head looks at padding.
def words_that_look_at_padding_do_not_count(weights, links, real):
    best = weights.argmax(dim=-1)
    chosen = F.one_hot(best, weights.shape[-1]).bool()
    counts = (chosen & real[:, None, None]).any(dim=-1) & links.any(dim=-1)[:, None]
    right = (chosen & links[:, None]).any(dim=-1) & counts
    return right.sum(dim=(0, 2)) / counts.sum(dim=(0, 2)).clamp(min=1)


# "in the sense of least squares", of the gap alone.
def least_squares_with_a_penalty(table, shift, trained):
    before, after = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        known = n - shift
        X, Y = before[:known], after[:known]
        ridge = 1e-2 * torch.eye(table.shape[1], dtype=table.dtype)
        M = torch.linalg.solve(X.T @ X + ridge, X.T @ Y)
        gap = before[known:] @ M - after[known:]
        errors.append(gap.square().mean().sqrt().item())
    return errors


# "the root of the mean square ..., over all channels and over all pairs": a root for each pair,
# and then their mean.
def mean_of_the_roots(table, shift, trained):
    before, after = table[:-shift], table[shift:]
    errors = []
    for n in trained:
        known = n - shift
        M = torch.linalg.pinv(before[:known]) @ after[:known]
        gap = before[known:] @ M - after[known:]
        errors.append(gap.square().mean(dim=1).sqrt().mean().item())
    return errors


WRITTEN = {
    "13/positions": [speeds_by_whole_numbers],
    "13/masks": [an_empty_source_is_seen, padding_sees_the_first_place],
    "13/cross-block": [HidesByALargeNumber, OneEmptyMemoryEmptiesAll],
    "13/teacher": [empty_texts_are_left_out, exact_fit_loses_its_end, always_the_longest],
    "13/beam": [
        stops_when_width_texts_are_finished,
        finished_texts_take_room,
        penalty_of_the_translation_paper,
    ],
    "13/alignment": [more_than_half_of_the_weight, words_that_look_at_padding_do_not_count],
    "13/longer": [least_squares_with_a_penalty, mean_of_the_roots],
}

ASIDE = {
    "speeds_by_whole_numbers",
    "HidesByALargeNumber",
    "exact_fit_loses_its_end",
    "stops_when_width_texts_are_finished",
    "penalty_of_the_translation_paper",
    "words_that_look_at_padding_do_not_count",
    "mean_of_the_roots",
}
