"""Wrong answers to chapter 13 that no list names: the seventeenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 13/positions


def adds_up_the_tokens(tokens, n_embd, base):
    """Adds up the numbers of the tokens, where it should count the words."""
    words = tokens != 0
    places = tokens.cumsum(dim=1) - 1
    i = torch.arange(n_embd // 2)
    speeds = base ** (-2 * i / n_embd)
    angles = places[:, :, None] * speeds
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return pairs * words[:, :, None]


def first_word_taken_for_padding(tokens, n_embd, base):
    """Blanks where the place is 0, which is padding but the first word as well."""
    place = ((tokens != 0).long().cumsum(1) - 1).clamp(min=0)
    speed = torch.tensor([base ** (-2 * i / n_embd) for i in range(n_embd // 2)])
    result = torch.zeros(*tokens.shape, n_embd)
    result[..., 0::2] = torch.sin(place.unsqueeze(-1) * speed)
    result[..., 1::2] = torch.cos(place.unsqueeze(-1) * speed)
    result[place == 0] = 0.0
    return result


# 13/masks


def padding_rows_do_not_look_at_the_source(source, target):
    """Asks that the row is a word in the second mask too, so rows of padding see no source."""
    T = target.shape[1]
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    words = target[:, :, None] & target[:, None, :]
    own = (words & causal) | torch.eye(T, dtype=torch.bool)
    cross = target[:, :, None] & source[:, None, :]
    return own, cross


def only_empty_rows_see_themselves(source, target):
    """Helps only rows without any True, so padding behind words sees the words and not itself."""
    B, T = target.shape
    own = target[:, None, :].expand(B, T, T).tril()
    empty = ~own.any(dim=-1, keepdim=True)
    own = own | (empty & torch.eye(T, dtype=torch.bool))
    cross = source.unsqueeze(1).repeat(1, T, 1)
    return own, cross


# 13/cross-block


class SkipsFromTheNormedStream(nn.Module):
    """Overwrites x with its norm, and adds what was found to that."""

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
        S, H = memory.shape[1], self.n_head
        x = self.norm(x)
        q = self.query(x).view(B, T, H, C // H).transpose(1, 2)
        k = self.key(memory).view(B, S, H, C // H).transpose(1, 2)
        v = self.value(memory).view(B, S, H, C // H).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(C // H)
        scores = scores.masked_fill(~real[:, None, None, :], -math.inf)
        empty = ~real.any(dim=1)
        weights = scores.masked_fill(empty[:, None, None, None], 0.0).softmax(dim=-1)
        weights = weights.masked_fill(empty[:, None, None, None], 0.0)
        found = (weights @ v).transpose(1, 2).reshape(B, T, C)
        return x + self.projection(found)


class HeadsTakeEveryNthChannel(nn.Module):
    """Splits the channels into (D, H), so a head has channels that are H apart."""

    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.heads, self.size = n_head, n_embd // n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def split(self, t):
        return t.unflatten(-1, (self.size, self.heads)).permute(0, 3, 1, 2)

    def forward(self, x, memory, real):
        q = self.split(self.query(self.norm(x)))
        k = self.split(self.key(memory))
        v = self.split(self.value(memory))
        scores = torch.einsum("bhtd,bhsd->bhts", q, k) * self.size**-0.5
        scores = scores.masked_fill(~real[:, None, None], -1e9)
        weights = F.softmax(scores, dim=-1) * real[:, None, None]
        found = torch.einsum("bhts,bhsd->btdh", weights, v).flatten(2)
        return x + self.projection(found)


# 13/teacher


def end_comes_on_top_of_longest(texts, start, end, pad, longest):
    """Cuts the text to longest tokens and then adds the end, which is one token too many."""
    x, y = [], []
    for text in texts:
        kept = list(text[:longest])
        x.append(torch.tensor([start, *kept]))
        y.append(torch.tensor([*kept, end]))
    x = nn.utils.rnn.pad_sequence(x, batch_first=True, padding_value=pad)
    y = nn.utils.rnn.pad_sequence(y, batch_first=True, padding_value=-100)
    return x, y


def keeps_the_last_tokens(texts, start, end, pad, longest):
    """Cuts long texts at the front, so that the end always fits."""
    predicted = [[*text, end][-longest:] for text in texts]
    T = max(len(row) for row in predicted)
    x = torch.full((len(texts), T), pad)
    y = torch.full((len(texts), T), -100)
    for b, row in enumerate(predicted):
        y[b, : len(row)] = torch.tensor(row)
        x[b, : len(row)] = torch.tensor([start, *row[:-1]])
    return x, y


# 13/beam


def start_counts_as_a_token(log_probabilities, start, end, width, longest, power):
    """Divides by the length with the start, so n is one too large for every text."""
    live = [([start], 0.0)]
    finished = []
    for _ in range(longest):
        if not live:
            break
        logs = log_probabilities(torch.tensor([tokens for tokens, _ in live]))
        sums = logs + torch.tensor([total for _, total in live])[:, None]
        V = sums.shape[1]
        best = sums.flatten().topk(min(width, sums.numel()))
        candidates = []
        for total, flat in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            text = live[flat // V][0] + [flat % V]
            if text[-1] == end:
                finished.append((text, total))
            else:
                candidates.append((text, total))
        live = candidates
    tokens, total = max(finished + live, key=lambda pair: pair[1] / len(pair[0]) ** power)
    return tokens[1:], total / len(tokens) ** power


def divided_sum_is_carried_on(log_probabilities, start, end, width, longest, power):
    """Divides by the length in every step and adds the next log to what was divided already."""
    beams = [((start,), 0.0)]
    done = []
    for n in range(1, longest + 1):
        logs = log_probabilities(torch.tensor([list(text) for text, _ in beams]))
        options = []
        for (text, value), row in zip(beams, logs.tolist(), strict=True):
            for token, log in enumerate(row):
                options.append(((*text, token), (value + log) / n**power))
        options.sort(key=lambda option: option[1], reverse=True)
        beams = []
        for option in options[:width]:
            (done if option[0][-1] == end else beams).append(option)
        if not beams:
            break
    text, value = max(done + beams, key=lambda option: option[1])
    return list(text[1:]), value


# 13/alignment


def divides_by_the_links(weights, links, real):
    """Divides by the number of links, for that of words that have any."""
    hidden = weights.masked_fill(~real[:, None, None, :], -1.0)
    choice = hidden.argmax(dim=-1)  # (B, H, T)
    B, H, T, S = weights.shape
    every = links[:, None].expand(B, H, T, S)
    right = every.gather(3, choice[..., None])[..., 0]
    return right.sum(dim=(0, 2)) / links.sum()


def only_the_first_link_counts(weights, links, real):
    """Compares the place with the argmax of the links, which is only the first of several."""
    best = torch.where(real[:, None, None], weights, -torch.inf).argmax(-1)
    origin = links.int().argmax(-1)  # (B, T)
    counted = links.any(-1)
    right = (best == origin[:, None]) & counted[:, None]
    return right.float().sum((0, 2)) / counted.sum()


# 13/longer


def tested_from_position_n_on(table, shift, trained):
    """Tests pairs that begin at n or later, and leaves out those that cross the border."""
    errors = []
    for n in trained:
        before, after = table[: max(n - shift, 0)], table[shift : max(n, shift)]
        M = torch.linalg.pinv(before) @ after
        difference = table[n:-shift] @ M - table[n + shift :]
        errors.append(difference.pow(2).mean().sqrt().item())
    return errors


def squares_summed_over_the_channels(table, shift, trained):
    """Sums the squares over the channels and averages over pairs only, as if of distances."""
    x, y = table[: len(table) - shift], table[shift:]
    result = []
    for n in trained:
        k = max(n - shift, 0)
        m = torch.linalg.pinv(x[:k]) @ y[:k]
        squares = ((x[k:] @ m - y[k:]) ** 2).sum(dim=1)
        result.append(math.sqrt(squares.mean()))
    return result


WRITTEN = {
    "13/positions": [adds_up_the_tokens, first_word_taken_for_padding],
    "13/masks": [padding_rows_do_not_look_at_the_source, only_empty_rows_see_themselves],
    "13/cross-block": [SkipsFromTheNormedStream, HeadsTakeEveryNthChannel],
    "13/teacher": [end_comes_on_top_of_longest, keeps_the_last_tokens],
    "13/beam": [start_counts_as_a_token, divided_sum_is_carried_on],
    "13/alignment": [divides_by_the_links, only_the_first_link_counts],
    "13/longer": [tested_from_position_n_on, squares_summed_over_the_channels],
}
