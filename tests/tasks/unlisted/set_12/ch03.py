"""Wrong answers to chapter 03 that no list names: the twelfth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

# 03/vocabulary


class PositionAmongUnknown:
    """Counts the position of an unknown symbol among the unknown ones, not in the name."""

    def __init__(self, names, boundary):
        self.symbols = [boundary, *sorted(set("".join(names)))]

    def encode(self, name):
        unknown = [symbol for symbol in name if symbol not in self.symbols]
        for position, symbol in enumerate(unknown):
            raise ValueError(f"unknown symbol {symbol!r} at position {position}")
        inside = [self.symbols.index(symbol) for symbol in name]
        return torch.tensor([0, *inside, 0])

    def decode(self, tokens):
        return "".join(self.symbols[int(token)] for token in tokens[1:-1])


# 03/windows


def whole_strides_only(tokens, block_size, stride):
    """Cuts the list of all windows down to whole strides, so the last window is often lost."""
    every = tokens.unfold(0, block_size + 1, 1)
    whole = len(every) // stride * stride
    chosen = every[:whole:stride]
    return chosen[:, :-1], chosen[:, 1:]


# 03/split


def last_k_of_the_order(names, fraction, seed):
    """Takes the last k of the shuffled names with [-k:], which are all of them when k is 0."""
    distinct = sorted(set(names))
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(distinct), generator=generator).tolist()
    k = round(fraction * len(distinct))
    held_out = {distinct[i] for i in order[-k:]}
    train = [name for name in names if name not in held_out]
    validation = [name for name in names if name in held_out]
    return train, validation


# 03/batch


def padding_among_the_targets(tokens, ends, block_size, padding):
    """Turns every target that equals the padding into −100, also where the text has that token."""
    positions = ends[:, None] + torch.arange(1 - block_size, 2)
    row = torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])
    x, y = row[:, :-1], row[:, 1:].clone()
    y[y == padding] = -100
    return x, y


# 03/sequential


def rows_as_they_split(tokens, batch_size, block_size, padding):
    """Splits the inputs into pieces of L, which are fewer than B when the last rows have none."""
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)

    def lay_out(row, filler):
        rows = pad_sequence(row.split(length), batch_first=True, padding_value=filler)
        rows = F.pad(rows, (0, steps * block_size - length), value=filler)
        return rows.view(len(rows), steps, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


# 03/evaluation


def windows_no_longer_than_the_text(tokens, block_size, stride):
    """Makes the window as short as the text when the text has fewer than T inputs."""
    inputs = len(tokens) - 1
    block_size = min(block_size, inputs)
    M = 1 + -(-(inputs - block_size) // stride)
    row, column = torch.arange(M)[:, None], torch.arange(block_size)
    positions = row * stride + column
    inside = positions < inputs
    fresh = (row == 0) | (column >= block_size - stride)
    at = positions.clamp(max=inputs - 1)
    x = torch.where(inside, tokens[at], 0)
    y = torch.where(inside & fresh, tokens[at + 1], -100)
    return x, y


# 03/seen-before


def different_pieces_once():
    """Made a set of the validation pieces as well, so that each of them counts once."""
    return {"text": "shakespeare", "seen_4": 0.8909, "seen_8": 0.4133, "seen_16": 0.01304}


WRITTEN = {
    "03/vocabulary": [PositionAmongUnknown],
    "03/windows": [whole_strides_only],
    "03/split": [last_k_of_the_order],
    "03/batch": [padding_among_the_targets],
    "03/sequential": [rows_as_they_split],
    "03/evaluation": [windows_no_longer_than_the_text],
    "03/seen-before": [different_pieces_once],
}
