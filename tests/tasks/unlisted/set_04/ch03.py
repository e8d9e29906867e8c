"""Wrong answers to chapter 03 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import math
import random

import torch
import torch.nn.functional as F

# 03/vocabulary


# "the letters that occur in names, each once"
class LowercaseVocabulary:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names).lower())))
        self.token_of = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        name = name.lower()
        for position, symbol in enumerate(name):
            if symbol not in self.token_of:
                raise ValueError(f"{symbol!r} at position {position} of {name!r} is unknown")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


# "a symbol that is not in the vocabulary makes encode raise a ValueError"
class TableSharedByAllVocabularies:
    token_of = {}  # noqa: RUF012

    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names))))
        for token, symbol in enumerate(self.symbols):
            self.token_of[symbol] = token

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.token_of:
                raise ValueError(f"{symbol!r} at position {position} of {name!r} is unknown")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


# 03/windows


# "the target of its last input": targets follow their inputs by one
def targets_a_stride_later(tokens, block_size, stride):
    starts = range(0, len(tokens) - block_size - stride + 1, stride)
    x = torch.stack([tokens[i : i + block_size] for i in starts])
    y = torch.stack([tokens[i + stride : i + stride + block_size] for i in starts])
    return x, y


# "as long as the window and the target of its last input lie inside the text"
def last_window_needs_room_for_another(tokens, block_size, stride):
    M = max(1, (len(tokens) - block_size - 1) // stride)
    at = stride * torch.arange(M)[:, None] + torch.arange(block_size)
    return tokens[at], tokens[at + 1]


# 03/split


# "your functions leave what they are given as it was"
def takes_names_out_of_the_given_list(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    held_out = set(distinct[: round(fraction * len(distinct))])
    validation = [name for name in names if name in held_out]
    for name in validation:
        names.remove(name)
    return names, validation


# "fraction of the distinct names (rounded)"
def rounded_up(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    held_out = set(distinct[: math.ceil(fraction * len(distinct))])
    train = [name for name in names if name not in held_out]
    return train, [name for name in names if name in held_out]


# 03/batch


# "a target that would itself lie before the text is −100": not one that looks like padding
def padding_known_by_its_value(tokens, ends, block_size, padding):
    positions = ends[:, None] + torch.arange(1 - block_size, 2)
    rows = torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])
    x, y = rows[:, :-1], rows[:, 1:].clone()
    y[y == padding] = -100
    return x, y


# 03/sequential


# "the target of the last input of a row is the first input of the next row"
def rows_end_without_a_target(tokens, batch_size, block_size, padding):
    inputs = tokens[:-1]
    length = -(-len(inputs) // batch_size)
    steps = -(-length // block_size)
    missing = batch_size * length - len(inputs)
    x = F.pad(inputs, (0, missing), value=padding).view(batch_size, length)
    y = F.pad(tokens[1:], (0, missing), value=-100).view(batch_size, length).clone()
    y[:-1, -1] = -100
    x = F.pad(x, (0, steps * block_size - length), value=padding)
    y = F.pad(y, (0, steps * block_size - length), value=-100)
    return tuple(part.view(batch_size, steps, block_size).transpose(0, 1) for part in (x, y))


# "every row takes L = ⌈(N − 1) / B⌉ of them, and the last row takes the rest"
def rows_as_equal_as_possible(tokens, batch_size, block_size, padding):
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)

    def lay_out(row, filler):
        rows = torch.full((batch_size, steps * block_size), filler)
        for b, part in enumerate(torch.tensor_split(row, batch_size)):
            rows[b, : len(part)] = part
        return rows.view(batch_size, steps, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


# 03/evaluation


# "pad the last window with 0 in x and −100 in y"
def last_window_slides_back(tokens, block_size, stride):
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


# "the share of pieces that do, between 0 and 1"
def in_percent():
    return {"text": "shakespeare", "seen_4": 95.8, "seen_8": 50.34, "seen_16": 1.507}


WRITTEN = {
    "03/vocabulary": [LowercaseVocabulary, TableSharedByAllVocabularies],
    "03/windows": [targets_a_stride_later, last_window_needs_room_for_another],
    "03/split": [takes_names_out_of_the_given_list, rounded_up],
    "03/batch": [padding_known_by_its_value],
    "03/sequential": [rows_end_without_a_target, rows_as_equal_as_possible],
    "03/evaluation": [last_window_slides_back],
    "03/seen-before": [in_percent],
}

ASIDE = {
    "LowercaseVocabulary",
    "TableSharedByAllVocabularies",
    "targets_a_stride_later",
    "last_window_needs_room_for_another",
    "rounded_up",
    "padding_known_by_its_value",
    "rows_end_without_a_target",
}
