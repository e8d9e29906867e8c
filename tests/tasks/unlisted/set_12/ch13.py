"""Wrong answers to chapter 13 that no list names: the twelfth set.

Each docstring says what the student did wrong.
"""

import math

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

# 13/positions


def first_word_by_argmax(tokens, n_embd, base):
    """Finds the first word with argmax, which is 0 for a row without words: it gets places
    as well.
    """
    first = (tokens != 0).int().argmax(dim=1)
    places = torch.arange(tokens.shape[1]) - first[:, None]
    speeds = base ** (-torch.arange(0, n_embd, 2) / n_embd)
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves.masked_fill((places < 0)[:, :, None], 0.0)


# 13/masks


def padding_separates(source, target):
    """Takes padding for the end of a text, so that a word doesn't see the words before a gap."""
    B, T = target.shape
    past = torch.ones(T, T, dtype=torch.bool).tril()
    text = (~target).cumsum(dim=1)
    together = text[:, :, None] == text[:, None, :]
    words = target[:, :, None] & target[:, None, :]
    own = past & words & together | torch.eye(T, dtype=torch.bool)
    return own, source[:, None, :].expand(B, T, source.shape[1])


# 13/cross-block


class EmptyWithAnyPadding(nn.Module):
    """Takes a memory for empty as soon as not all of it is words: all instead of any."""

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
        H, S = self.n_head, memory.shape[1]
        query = self.query(self.norm(x)).view(B, T, H, C // H).transpose(1, 2)
        key = self.key(memory).view(B, S, H, C // H).transpose(1, 2)
        value = self.value(memory).view(B, S, H, C // H).transpose(1, 2)
        scores = query @ key.transpose(2, 3) / math.sqrt(C // H)
        weights = scores.masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
        weights = weights.masked_fill(~real.all(dim=1)[:, None, None, None], 0.0)
        found = (weights @ value).transpose(1, 2).reshape(B, T, C)
        return x + self.projection(found)


# 13/teacher


def read_one_more_than_predicted(texts, start, end, pad, longest):
    """Puts start before a text that was cut to the limit, so one token more is read than
    predicted.
    """
    x = [torch.tensor([start, *text[:longest]]) for text in texts]
    y = [torch.tensor([*text, end][:longest]) for text in texts]
    return (
        pad_sequence(x, batch_first=True, padding_value=pad),
        pad_sequence(y, batch_first=True, padding_value=-100),
    )


# 13/beam


def stops_with_enough_finished(log_probabilities, start, end, width, longest, power):
    """Stops as soon as as many texts are finished as the beam is wide, though others still live."""
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        sums = torch.tensor([total for _, total in live])[:, None] + log_probabilities(x)
        V = sums.shape[1]
        best = sums.flatten().topk(min(width, sums.numel()))
        grown = [
            (live[i // V][0] + [i % V], total)
            for i, total in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]
        finished += [text for text in grown if text[0][-1] == end]
        live = [text for text in grown if text[0][-1] != end]
        if not live or len(finished) >= width:
            break
    values = [(tokens, total / len(tokens) ** power) for tokens, total in finished + live]
    return max(values, key=lambda pair: pair[1])


# 13/alignment


def more_on_links_than_elsewhere(weights, links, real):
    """Calls a word right if all linked words together have more weight than all the others."""
    weights = weights * real[:, None, None]
    linked = (weights * links[:, None]).sum(dim=-1)
    right = linked > weights.sum(dim=-1) - linked
    counts = links.any(dim=-1)
    return (right & counts[:, None]).sum(dim=(0, 2)) / counts.sum()


# 13/longer


def one_step_learned_and_repeated(table, shift, trained):
    """Learns the map of a single step and takes its power, because a shift is that many steps."""
    errors = []
    for n in trained:
        step = torch.linalg.pinv(table[: n - 1]) @ table[1:n]
        M = torch.linalg.matrix_power(step, shift)
        gap = table[n - shift : -shift] @ M - table[n:]
        errors.append(gap.square().mean().sqrt().item())
    return errors


WRITTEN = {
    "13/positions": [first_word_by_argmax],
    "13/masks": [padding_separates],
    "13/cross-block": [EmptyWithAnyPadding],
    "13/teacher": [read_one_more_than_predicted],
    "13/beam": [stops_with_enough_finished],
    "13/alignment": [more_on_links_than_elsewhere],
    "13/longer": [one_step_learned_and_repeated],
}
