"""Wrong answers to chapter 03 that no list names: the fifth set.

The comment before each says which sentence of the statement it breaks.
"""

from typing import ClassVar

import torch
import torch.nn.functional as F

# 03/vocabulary


# "the letters that occur in `names`, each once": capitals are lost
class LowerCase:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names).lower())))
        self.token_of = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        for position, symbol in enumerate(name.lower()):
            if symbol not in self.token_of:
                raise ValueError(f"{symbol!r} at position {position} is unknown")
        letters = [self.token_of[symbol] for symbol in name.lower()]
        return torch.tensor([0, *letters, 0])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


# "A symbol that is not in the vocabulary makes `encode` raise": letters of another list are known
class TokensOfTheClass:
    token_of: ClassVar[dict] = {}

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


# "contains the symbol and its position in the name": of two unknown ones, the position of one
# and the symbol of the other
class SymbolOfOnePositionOfAnother:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names))))
        self.token_of = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        unknown = sorted(set(name) - set(self.symbols))
        if unknown:
            position = max(name.index(symbol) for symbol in unknown)
            raise ValueError(f"unknown symbol {unknown[0]} at {position}")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


# 03/windows


# "the target of its last input": targets come one position later, not a stride later
def targets_are_the_next_window(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size, stride)
    return rows[:-1], rows[1:]


# "windows of T inputs that begin at positions 0, `stride`, 2 · `stride`, …": also where they
# leave tokens out between them
def stride_at_most_a_window(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size + 1, min(stride, block_size))
    return rows[:, :-1], rows[:, 1:]


# "as long as the window and the target of its last input lie inside the text"
def last_window_wants_one_more(tokens, block_size, stride):
    starts = range(0, len(tokens) - block_size - 1, stride)
    x = torch.stack([tokens[start : start + block_size] for start in starts])
    y = torch.stack([tokens[start + 1 : start + block_size + 1] for start in starts])
    return x, y


# 03/split


# "Validation gets `fraction` of the distinct names (rounded)": where that is none, a slice that
# begins at −0 takes all
def last_none_are_all(names, fraction, seed):
    distinct = sorted(set(names))
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(distinct), generator=generator).tolist()
    held_out = {distinct[i] for i in order[-round(fraction * len(distinct)) :]}
    train = [name for name in names if name not in held_out]
    return train, [name for name in names if name in held_out]


# "with all of their entries"
def each_held_out_name_once(names, fraction, seed):
    distinct = sorted(set(names))
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(distinct), generator=generator).tolist()
    validation = sorted(distinct[i] for i in order[: round(fraction * len(distinct))])
    return [name for name in names if name not in validation], validation


# "The same `seed` always gives the same split, in every run of Python"
def order_by_hash(names, fraction, seed):
    distinct = sorted(set(names), key=lambda name: hash((seed, name)))
    held_out = set(distinct[: round(fraction * len(distinct))])
    train = [name for name in names if name not in held_out]
    return train, [name for name in names if name in held_out]


# 03/batch


# "A target that would itself lie before the text is −100": and no other, though a token of the
# text may be the same number as the padding
def padding_recognized_by_its_number(tokens, ends, block_size, padding):
    positions = ends[:, None] + torch.arange(1 - block_size, 2)
    rows = torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])
    x, y = rows[:, :-1], rows[:, 1:]
    return x, torch.where(y == padding, -100, y)


# "Unless a task says otherwise, your functions leave what they are given as it was."
def ends_moved_in_place(tokens, ends, block_size, padding):
    ends -= block_size - 1
    positions = ends[:, None] + torch.arange(block_size)
    x = torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])
    y = torch.where(positions < -1, -100, tokens[(positions + 1).clamp(min=0)])
    return x, y


# "The whole text may be shorter than T": a row has T tokens all the same
def rows_no_longer_than_the_text(tokens, ends, block_size, padding):
    T = min(block_size, len(tokens))
    positions = ends[:, None] + torch.arange(1 - T, 1)
    x = torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])
    y = torch.where(positions < -1, -100, tokens[(positions + 1).clamp(min=0)])
    return x, y


# 03/sequential


def read_in_steps(rows, block_size, filler):
    B, L = rows.shape
    steps = -(-L // block_size)
    rows = F.pad(rows, (0, steps * block_size - L), value=filler)
    return rows.view(B, steps, block_size).transpose(0, 1)


# "every row takes L = ⌈(N − 1) / B⌉ of them (rounded up), and the last row takes the rest"
def rows_as_equal_as_possible(tokens, batch_size, block_size, padding):
    def lay_out(line, filler):
        rows = torch.tensor_split(line, batch_size)
        longest = max(len(row) for row in rows)
        rows = [F.pad(row, (0, longest - len(row)), value=filler) for row in rows]
        return read_in_steps(torch.stack(rows), block_size, filler)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


# "S = ⌈L / T⌉ steps": one more where the division leaves nothing
def one_step_more_than_full(tokens, batch_size, block_size, padding):
    L = -(-(len(tokens) - 1) // batch_size)
    steps = L // block_size + 1

    def lay_out(line, filler):
        rows = F.pad(line, (0, batch_size * L - len(line)), value=filler).view(batch_size, L)
        rows = F.pad(rows, (0, steps * block_size - L), value=filler)
        return rows.view(batch_size, steps, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


# "Where there is no input, x is `padding` and y is −100": not where an input is that number
def no_target_after_a_padding(tokens, batch_size, block_size, padding):
    L = -(-(len(tokens) - 1) // batch_size)

    def lay_out(line):
        rows = F.pad(line, (0, batch_size * L - len(line)), value=padding)
        return read_in_steps(rows.view(batch_size, L), block_size, padding)

    x, y = lay_out(tokens[:-1]), lay_out(tokens[1:])
    return x, y.masked_fill(x == padding, -100)


# 03/evaluation


# "There is always at least one."
def no_window_for_a_short_text(tokens, block_size, stride):
    inputs = len(tokens) - 1
    M = 1 + -(-(inputs - block_size) // stride)
    row, column = torch.arange(max(M, 0))[:, None], torch.arange(block_size)
    positions = row * stride + column
    inside = positions < inputs
    fresh = (row == 0) | (column >= block_size - stride)
    at = positions.clamp(max=inputs - 1)
    return torch.where(inside, tokens[at], 0), torch.where(inside & fresh, tokens[at + 1], -100)


# "each must count once, in the first window that contains it"
def counted_in_the_last_window(tokens, block_size, stride):
    inputs = len(tokens) - 1
    M = 1 + max(0, -(-(inputs - block_size) // stride))
    row, column = torch.arange(M)[:, None], torch.arange(block_size)
    positions = row * stride + column
    inside = positions < inputs
    last = (row == M - 1) | (column < stride)
    at = positions.clamp(max=inputs - 1)
    return torch.where(inside, tokens[at], 0), torch.where(inside & last, tokens[at + 1], -100)


# "Make as many windows as it takes for every target to count, and no more."
def a_window_at_every_stride(tokens, block_size, stride):
    inputs = len(tokens) - 1
    starts = torch.arange(0, inputs, stride)[:, None]
    column = torch.arange(block_size)
    positions = starts + column
    inside = positions < inputs
    fresh = (starts == 0) | (column >= block_size - stride)
    at = positions.clamp(max=inputs - 1)
    return torch.where(inside, tokens[at], 0), torch.where(inside & fresh, tokens[at + 1], -100)


# 03/seen-before


# "A piece that occurs several times in the validation split counts each time."
def every_piece_once():
    return {"text": "shakespeare", "seen_4": 0.8909, "seen_8": 0.4133, "seen_16": 0.01304}


# "one beginning at each symbol": pieces end to end
def pieces_end_to_end():
    return {"text": "shakespeare", "seen_4": 0.9583, "seen_8": 0.5049, "seen_16": 0.0132}


WRITTEN = {
    "03/vocabulary": [LowerCase, TokensOfTheClass, SymbolOfOnePositionOfAnother],
    "03/windows": [
        targets_are_the_next_window,
        stride_at_most_a_window,
        last_window_wants_one_more,
    ],
    "03/split": [last_none_are_all, each_held_out_name_once, order_by_hash],
    "03/batch": [
        padding_recognized_by_its_number,
        ends_moved_in_place,
        rows_no_longer_than_the_text,
    ],
    "03/sequential": [
        rows_as_equal_as_possible,
        one_step_more_than_full,
        no_target_after_a_padding,
    ],
    "03/evaluation": [
        no_window_for_a_short_text,
        counted_in_the_last_window,
        a_window_at_every_stride,
    ],
    "03/seen-before": [every_piece_once, pieces_end_to_end],
}

ASIDE = {
    "padding_recognized_by_its_number",
    "rows_no_longer_than_the_text",
    "rows_as_equal_as_possible",
    "one_step_more_than_full",
    "counted_in_the_last_window",
}
