"""Wrong answers to chapter 03 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

# 03/vocabulary


class PositionAmongTheUnknown:
    """Counts the position in the list of unknown symbols, not in the name: it is always 0."""

    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names))))
        self.token_of = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        unknown = [symbol for symbol in name if symbol not in self.token_of]
        for position, symbol in enumerate(unknown):
            raise ValueError(f"unknown symbol {symbol!r} at position {position}")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


# 03/windows


def targets_rolled_through_rows(tokens, block_size, stride):
    """Rolls x without dims: the last target of a row is the first input of the next window."""
    x = tokens[:-1].unfold(0, block_size, stride)
    return x, x.roll(-1)


# 03/split


def removed_while_iterating(names, fraction, seed):
    """Removes from the list it loops over, which skips the entry after each one removed."""
    distinct = sorted(set(names))
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(distinct), generator=generator).tolist()
    held_out = {distinct[i] for i in order[: round(fraction * len(distinct))]}
    train, validation = list(names), []
    for name in train:
        if name in held_out:
            train.remove(name)
            validation.append(name)
    return train, validation


# 03/batch


def _pushed_right(piece, block_size, filler):
    return F.pad(piece, (block_size - len(piece), 0), value=filler)


def slice_from_negative_start(tokens, ends, block_size, padding):
    """Slices from a negative start, which counts from the end: short rows come out empty."""
    x, y = [], []
    for end in ends.tolist():
        start = end - block_size + 1
        x.append(_pushed_right(tokens[start : end + 1], block_size, padding))
        y.append(_pushed_right(tokens[start + 1 : end + 2], block_size, -100))
    return torch.stack(x), torch.stack(y)


# 03/sequential


def as_many_rows_as_chunk_gives(tokens, batch_size, block_size, padding):
    """Cuts rows with chunk, which gives fewer than B rows where the last ones would be empty."""

    def lay_out(row, filler):
        rows = pad_sequence(row.chunk(batch_size), batch_first=True, padding_value=filler)
        rows = F.pad(rows, (0, -rows.shape[1] % block_size), value=filler)
        return rows.view(len(rows), -1, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


# 03/evaluation


def last_strides_worth_of_short_window(tokens, block_size, stride):
    """Counts the last `stride` targets of the short last window, of which some are not new."""
    inputs = len(tokens) - 1
    M = 1 + max(0, -(-(inputs - block_size) // stride))
    x = torch.zeros(M, block_size, dtype=torch.long)
    y = torch.full((M, block_size), -100)
    for m in range(M):
        start = m * stride
        n = min(block_size, inputs - start)
        new = 0 if m == 0 else max(0, n - stride)
        x[m, :n] = tokens[start : start + n]
        y[m, new:n] = tokens[start + new + 1 : start + n + 1]
    return x, y


# 03/seen-before


def earlier_validation_counts_too():
    """Looks for each piece in training and in the validation text before it."""
    return {"text": "shakespeare", "seen_4": 0.9805, "seen_8": 0.5503, "seen_16": 0.02853}


WRITTEN = {
    "03/vocabulary": [PositionAmongTheUnknown],
    "03/windows": [targets_rolled_through_rows],
    "03/split": [removed_while_iterating],
    "03/batch": [slice_from_negative_start],
    "03/sequential": [as_many_rows_as_chunk_gives],
    "03/evaluation": [last_strides_worth_of_short_window],
    "03/seen-before": [earlier_validation_counts_too],
}
