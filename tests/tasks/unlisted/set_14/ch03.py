"""Wrong answers to chapter 03 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F

# 03/vocabulary


class TableSharedByAll:
    """Keeps its table in the class, so it also knows the symbols of vocabularies built before."""

    token_of = {}  # noqa: RUF012 - the slip

    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names))))
        for token, symbol in enumerate(self.symbols):
            self.token_of[symbol] = token

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.token_of:
                raise ValueError(f"unknown symbol {symbol!r} at position {position}")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


# 03/windows


def next_window_as_target(tokens, block_size, stride):
    """Takes the next window as the target of each, so targets are `stride` ahead instead of one."""
    rows = tokens.unfold(0, block_size, stride)
    return rows[:-1], rows[1:]


# 03/split


def drawn_with_replacement(names, fraction, seed):
    """Draws names with randint, so some are drawn twice and validation gets too few of them."""
    distinct = sorted(set(names))
    generator = torch.Generator().manual_seed(seed)
    count = round(fraction * len(distinct))
    drawn = torch.randint(len(distinct), (count,), generator=generator).tolist()
    held_out = {distinct[i] for i in drawn}
    train = [name for name in names if name not in held_out]
    validation = [name for name in names if name in held_out]
    return train, validation


# 03/batch


def rows_no_longer_than_the_text(tokens, ends, block_size, padding):
    """Cuts T down to the length of the text where that is shorter, so the batch is too narrow."""
    block_size = min(block_size, len(tokens))
    positions = ends[:, None] + torch.arange(1 - block_size, 1)
    x = torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])
    y = torch.where(positions + 1 < 0, -100, tokens[(positions + 1).clamp(min=0)])
    return x, y


# 03/sequential


def rest_spread_over_rows(tokens, batch_size, block_size, padding):
    """Cuts rows with tensor_split, which spreads the shortfall over several rows, not the last."""
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)

    def lay_out(row, filler):
        parts = row.tensor_split(batch_size)
        rows = [F.pad(part, (0, steps * block_size - len(part)), value=filler) for part in parts]
        return torch.stack(rows).view(batch_size, steps, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


# 03/evaluation


def last_window_moved_back(tokens, block_size, stride):
    """Moves the last window back until it is full, instead of padding it where it should begin."""
    inputs = len(tokens) - 1
    M = 1 + max(0, -(-(inputs - block_size) // stride))
    x = torch.zeros(M, block_size, dtype=torch.long)
    y = torch.full((M, block_size), -100)
    counted = 0
    for m in range(M):
        start = max(0, min(m * stride, inputs - block_size))
        end = min(start + block_size, inputs)
        x[m, : end - start] = tokens[start:end]
        y[m, counted - start : end - start] = tokens[counted + 1 : end + 1]
        counted = end
    return x, y


# 03/seen-before


def capitals_ignored():
    """Lowers both splits first, so pieces that differ only in capitals count as the same."""
    return {"text": "shakespeare", "seen_4": 0.9752, "seen_8": 0.5186, "seen_16": 0.01572}


WRITTEN = {
    "03/vocabulary": [TableSharedByAll],
    "03/windows": [next_window_as_target],
    "03/split": [drawn_with_replacement],
    "03/batch": [rows_no_longer_than_the_text],
    "03/sequential": [rest_spread_over_rows],
    "03/evaluation": [last_window_moved_back],
    "03/seen-before": [capitals_ignored],
}
