"""Wrong answers to chapter 13, second set."""

import math

import torch
from torch import nn


def _waves(tokens, places, speeds):
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * (tokens != 0)[:, :, None]


def positions_with_twice_the_exponent(tokens, n_embd, base):
    places = (tokens != 0).cumsum(dim=1) - 1
    return _waves(tokens, places, base ** (-2 * torch.arange(0, n_embd, 2) / n_embd))


def positions_from_one(tokens, n_embd, base):
    places = (tokens != 0).cumsum(dim=1)
    return _waves(tokens, places, base ** (-torch.arange(0, n_embd, 2) / n_embd))


def positions_from_the_longest(tokens, n_embd, base):
    """Counts all rows from the first word of the longest one."""
    first = (tokens != 0).float().argmax(dim=1).min()
    places = (torch.arange(tokens.shape[1]) - first).expand_as(tokens)
    return _waves(tokens, places, base ** (-torch.arange(0, n_embd, 2) / n_embd))


def _masks(source, target):
    B, T = target.shape
    past = torch.ones(T, T, dtype=torch.bool).tril()
    words = target[:, :, None] & target[:, None, :]
    own = past & words | torch.eye(T, dtype=torch.bool)
    return own, source[:, None, :].expand(B, T, source.shape[1])


def masks_where_padding_reads(source, target):
    T = target.shape[1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    _, cross = _masks(source, target)
    return past & target[:, None, :] | torch.eye(T, dtype=torch.bool), cross


def masks_where_padding_never_asks(source, target):
    own, cross = _masks(source, target)
    return own, cross & target[:, :, None]


def masks_of_the_strict_past(source, target):
    """A word sees the words before it, and itself only if there are none."""
    own, cross = _masks(source, target)
    T = target.shape[1]
    strict = own & ~torch.eye(T, dtype=torch.bool)
    nobody = ~strict.any(dim=-1, keepdim=True)
    return strict | nobody & torch.eye(T, dtype=torch.bool), cross


class _Cross(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def heads(self, part):
        return part.unflatten(2, (self.n_head, -1)).transpose(1, 2)

    def found(self, asks, memory, real, hidden=-torch.inf):
        query, key, value = (
            self.heads(part) for part in (self.query(asks), self.key(memory), self.value(memory))
        )
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])
        weights = scores.masked_fill(~real[:, None, None], hidden).softmax(dim=-1)
        return self.projection((weights.nan_to_num(0.0) @ value).transpose(1, 2).flatten(2))


class CrossOnTheNormedStream(_Cross):
    def forward(self, x, memory, real):
        x = self.norm(x)
        return x + self.found(x, memory, real)


class CrossWithHeadsInterleaved(_Cross):
    def heads(self, part):
        return part.unflatten(2, (-1, self.n_head)).permute(0, 3, 1, 2)

    def forward(self, x, memory, real):
        return x + self.found(self.norm(x), memory, real)


class CrossThatReadsEmptyMemories(_Cross):
    """Hides padding by a large negative number, so an empty memory is read evenly."""

    def forward(self, x, memory, real):
        return x + self.found(self.norm(x), memory, real, hidden=-1e9)


def _taught(rows, longest, pad):
    width = longest or max(len(row) - 1 for row in rows)
    x = torch.full((len(rows), width), pad)
    y = torch.full((len(rows), width), -100)
    for b, row in enumerate(rows):
        x[b, : len(row) - 1] = torch.tensor(row[:-1])
        y[b, : len(row) - 1] = torch.tensor(row[1:])
    return x, y


def teacher_that_always_ends(texts, start, end, pad, longest):
    return _taught([[start, *text[: longest - 1], end] for text in texts], None, pad)


def teacher_as_wide_as_allowed(texts, start, end, pad, longest):
    return _taught([[start, *text, end][: longest + 1] for text in texts], longest, pad)


def teacher_that_reads_the_end(texts, start, end, pad, longest):
    """Predicts padding behind the end, and reads the end to do so."""
    rows = [[start, *text, end][: longest + 1] for text in texts]
    x, y = _taught(rows, None, pad)
    for b, row in enumerate(rows):
        if row[-1] == end and len(row) - 1 < x.shape[1]:
            x[b, len(row) - 1], y[b, len(row) - 1] = end, pad
    return x, y


def _beam(log_probabilities, start, end, longest, keep, value):
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = [
            ([*tokens, token], total + gain)
            for (tokens, total), row in zip(live, log_probabilities(x).tolist(), strict=True)
            for token, gain in enumerate(row)
        ]
        done, live = keep(sorted(grown, key=lambda one: one[1], reverse=True), end)
        finished += done
        if not live:
            break
    values = [(tokens, value(tokens, total)) for tokens, total in finished + live]
    return max(values, key=lambda one: one[1])


def beam_that_counts_the_start(log_probabilities, start, end, width, longest, power):
    def keep(grown, end):
        kept = grown[:width]
        return [one for one in kept if one[0][-1] == end], [o for o in kept if o[0][-1] != end]

    def value(tokens, total):
        return total / (len(tokens) + 1) ** power

    return _beam(log_probabilities, start, end, longest, keep, value)


def beam_that_refills_its_live_texts(log_probabilities, start, end, width, longest, power):
    def keep(grown, end):
        live = [one for one in grown if one[0][-1] != end][:width]
        return [one for one in grown[:width] if one[0][-1] == end], live

    def value(tokens, total):
        return total / len(tokens) ** power

    return _beam(log_probabilities, start, end, longest, keep, value)


def beam_that_forgets_unfinished_texts(log_probabilities, start, end, width, longest, power):
    """Chooses among the finished texts, if there is one."""

    def keep(grown, end):
        kept = grown[:width]
        return [one for one in kept if one[0][-1] == end], [o for o in kept if o[0][-1] != end]

    def value(tokens, total):
        return total / len(tokens) ** power - (0 if tokens[-1] == end else 1e6)

    tokens, found = _beam(log_probabilities, start, end, longest, keep, value)
    return tokens, found if tokens[-1] == end else found + 1e6


def _right(weights, links):
    best = weights.argmax(dim=-1)
    return links[:, None].expand_as(weights).gather(-1, best[..., None]).squeeze(-1)


def _hidden(weights, real):
    return weights.masked_fill(~real[:, None, None], -1.0)


def alignment_with_the_first_link(weights, links, real):
    best = _hidden(weights, real).argmax(dim=-1)
    right = (best == links.float().argmax(dim=-1)[:, None]) & links.any(dim=-1)[:, None]
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


def alignment_of_all_rows(weights, links, real):
    return _right(_hidden(weights, real), links).float().mean(dim=(0, 2))


def alignment_by_weight(weights, links, real):
    """The mean weight on the linked words, not how often the largest is on one."""
    on_links = (weights * links[:, None]).sum(dim=(0, 2, 3))
    return on_links / links.any(dim=-1).sum()


def _errors(table, shift, trained, error):
    before, after = table[:-shift], table[shift:]
    return [error(before, after, n) for n in trained]


def longer_with_absolute_errors(table, shift, trained):
    def error(before, after, n):
        known = n - shift
        M = torch.linalg.pinv(before[:known]) @ after[:known]
        return (before[known:] @ M - after[known:]).abs().mean().item()

    return _errors(table, shift, trained, error)


def longer_with_the_map_transposed(table, shift, trained):
    def error(before, after, n):
        known = n - shift
        M = torch.linalg.pinv(before[:known]) @ after[:known]
        return (before[known:] @ M.T - after[known:]).square().mean().sqrt().item()

    return _errors(table, shift, trained, error)


def longer_with_pairs_that_reach_out(table, shift, trained):
    """Takes the pairs that begin within the first n positions."""

    def error(before, after, n):
        M = torch.linalg.pinv(before[:n]) @ after[:n]
        return (before[n:] @ M - after[n:]).square().mean().sqrt().item()

    return _errors(table, shift, trained, error)


WRITTEN = {
    "13/positions": [
        positions_with_twice_the_exponent,
        positions_from_one,
        positions_from_the_longest,
    ],
    "13/masks": [
        masks_where_padding_reads,
        masks_where_padding_never_asks,
        masks_of_the_strict_past,
    ],
    "13/cross-block": [
        CrossOnTheNormedStream,
        CrossWithHeadsInterleaved,
        CrossThatReadsEmptyMemories,
    ],
    "13/teacher": [
        teacher_that_always_ends,
        teacher_as_wide_as_allowed,
        teacher_that_reads_the_end,
    ],
    "13/beam": [
        beam_that_counts_the_start,
        beam_that_refills_its_live_texts,
        beam_that_forgets_unfinished_texts,
    ],
    "13/alignment": [
        alignment_with_the_first_link,
        alignment_of_all_rows,
        alignment_by_weight,
    ],
    "13/longer": [
        longer_with_absolute_errors,
        longer_with_the_map_transposed,
        longer_with_pairs_that_reach_out,
    ],
}

ASIDE = {
    "positions_from_the_longest",
    "masks_of_the_strict_past",
    "CrossThatReadsEmptyMemories",
    "teacher_that_reads_the_end",
    "beam_that_forgets_unfinished_texts",
    "alignment_by_weight",
    "longer_with_pairs_that_reach_out",
}
