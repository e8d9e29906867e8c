"""Wrong answers to chapter 03 that no list names: the sixth set.

The comment before each says which sentence of the statement it breaks.
"""

import random
from collections import Counter

import torch
import torch.nn.functional as F

# 03/vocabulary


# "The letters follow as tokens 1, 2, …, in sorted order.": the most frequent first
class LettersByFrequency:
    def __init__(self, names, boundary):
        counted = Counter("".join(names)).most_common()
        self.symbols = [boundary] + [letter for letter, _ in counted]

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.symbols:
                raise ValueError(f"unknown symbol {symbol!r} at position {position}")
        tokens = [self.symbols.index(symbol) for symbol in name]
        return torch.tensor([0, *tokens, 0])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


# "A symbol that is not in the vocabulary makes `encode` raise": a letter that no name has is one
class OnlyLettersAreKnown:
    def __init__(self, names, boundary):
        self.symbols = [boundary, *sorted(set("".join(names)))]
        self.tokens = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        for position, symbol in enumerate(name):
            if not symbol.isalpha() and symbol not in self.tokens:
                raise ValueError(f"unknown symbol {symbol!r} at position {position}")
        return torch.tensor([0, *(self.tokens.get(symbol, 0) for symbol in name), 0])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


# "its position in the name, counted from 0": in the name with its boundary
class PositionBehindTheBoundary:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = [boundary, *sorted(set("".join(names)))]

    def encode(self, name):
        tokens = []
        for position, symbol in enumerate(self.boundary + name + self.boundary):
            if symbol not in self.symbols:
                raise ValueError(f"unknown symbol {symbol!r} at position {position}")
            tokens.append(self.symbols.index(symbol))
        return torch.tensor(tokens)

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


TOKEN_OF = {}


# "A symbol that is not in the vocabulary makes `encode` raise": one that another vocabulary has
class LettersOfEveryVocabulary:
    def __init__(self, names, boundary):
        self.symbols = [boundary, *sorted(set("".join(names)))]
        TOKEN_OF.update({symbol: token for token, symbol in enumerate(self.symbols)})

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in TOKEN_OF:
                raise ValueError(f"unknown symbol {symbol!r} at position {position}")
        return torch.tensor([0, *(TOKEN_OF[symbol] for symbol in name), 0])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


# 03/windows


# "as long as the window and the target of its last input lie inside the text": the last ones don't,
# and repeat its end
def begun_wherever_there_is_a_token(tokens, block_size, stride):
    starts = torch.arange(0, len(tokens), stride)
    positions = starts[:, None] + torch.arange(block_size)
    last = len(tokens) - 1
    return tokens[positions.clamp(max=last)], tokens[(positions + 1).clamp(max=last)]


# "x (M, T) int, y (M, T) int: windows `stride` apart, and their targets": the target of the last
# input is taken from the next window
def last_target_from_the_next_window(tokens, block_size, stride):
    x = tokens[:-1].unfold(0, block_size, stride)
    following = torch.cat([x[1:, 0], tokens[len(tokens) - 1 :]])
    return x, torch.cat([x[:, 1:], following[:, None]], dim=1)


# "windows … that begin at positions 0, `stride`, 2 · `stride`": also where that leaves tokens out
def no_token_between_windows(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size + 1, min(stride, block_size))
    return rows[:, :-1], rows[:, 1:]


# 03/split


# "Validation gets `fraction` of the distinct names": names drawn twice are held out once
def drawn_with_replacement(names, fraction, seed):
    distinct = sorted(set(names))
    generator = torch.Generator().manual_seed(seed)
    count = round(fraction * len(distinct))
    drawn = torch.randint(len(distinct), (count,), generator=generator).tolist()
    held_out = {distinct[i] for i in drawn}
    train = [name for name in names if name not in held_out]
    return train, [name for name in names if name in held_out]


# "The same `seed` always gives the same split": 0 is a seed like any other
def seed_zero_is_no_seed(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed or None).shuffle(distinct)
    held_out = set(distinct[: round(fraction * len(distinct))])
    train = [name for name in names if name not in held_out]
    return train, [name for name in names if name in held_out]


# "your functions leave what they are given as it was": the caller's list becomes the training list
def held_out_names_taken_from_the_list(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    validation = []
    for name in sorted(distinct[: round(fraction * len(distinct))]):
        while name in names:
            names.remove(name)
            validation.append(name)
    return names, validation


# 03/batch


# "Where a row would begin before the text, it is filled with `padding` on the left": and not moved
# to the right
def row_moved_into_the_text(tokens, ends, block_size, padding):
    starts = (ends - block_size + 1).clamp(min=0)
    positions = starts[:, None] + torch.arange(block_size)
    last = len(tokens) - 1
    return tokens[positions.clamp(max=last)], tokens[(positions + 1).clamp(max=last)]


# "the newest in the last column"
def newest_behind_the_oldest(tokens, ends, block_size, padding):
    x = torch.full((len(ends), block_size), padding)
    y = torch.full((len(ends), block_size), -100)
    for b, end in enumerate(ends.tolist()):
        start = max(0, end - block_size + 1)
        x[b, : end + 1 - start] = tokens[start : end + 1]
        y[b, : end + 1 - start] = tokens[start + 1 : end + 2]
    return x, y


# "A target that would itself lie before the text is −100.": a symbol of the text may have the
# number of the padding
def padding_found_by_its_number(tokens, ends, block_size, padding):
    padded = F.pad(tokens, (block_size, 0), value=padding)
    positions = ends[:, None] + torch.arange(1, block_size + 1)
    x, y = padded[positions], padded[positions + 1]
    return x, y.masked_fill(y == padding, -100)


# 03/sequential


# "The target of the last input of a row is the first input of the next row": here it is none
def rows_that_end_without_a_target(tokens, batch_size, block_size, padding):
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)
    x = torch.full((batch_size, steps * block_size), padding)
    y = torch.full((batch_size, steps * block_size), -100)
    for b in range(batch_size):
        row = tokens[:-1][b * length : (b + 1) * length]
        targets = tokens[b * length + 1 : (b + 1) * length]
        x[b, : len(row)] = row
        y[b, : len(targets)] = targets
    shape = (batch_size, steps, block_size)
    return x.view(shape).transpose(0, 1), y.view(shape).transpose(0, 1)


# "every row takes L = ⌈(N − 1) / B⌉ of them (rounded up), and the last row takes the rest":
# `tensor_split` makes the first rows longer by one
def rest_shared_among_the_rows(tokens, batch_size, block_size, padding):
    def lay_out(inputs, filler):
        rows = inputs.tensor_split(batch_size)
        length = -(-len(rows[0]) // block_size) * block_size
        rows = torch.stack([F.pad(row, (0, length - len(row)), value=filler) for row in rows])
        return rows.view(batch_size, -1, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


# "Return x and y of shape (S, B, T)": `chunk` returns fewer rows if the last ones are empty
def empty_rows_left_out(tokens, batch_size, block_size, padding):
    def lay_out(inputs, filler):
        rows = inputs.chunk(batch_size)
        length = -(-len(rows[0]) // block_size) * block_size
        rows = torch.stack([F.pad(row, (0, length - len(row)), value=filler) for row in rows])
        return rows.view(len(rows), -1, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


# 03/evaluation


# "A target that has counted in an earlier window is −100.": the first T − stride have, not the
# first `stride`
def first_stride_columns_hidden(tokens, block_size, stride):
    inputs = len(tokens) - 1
    M = 1 + max(0, -(-(inputs - block_size) // stride))
    positions = stride * torch.arange(M)[:, None] + torch.arange(block_size)
    inside, at = positions < inputs, positions.clamp(max=inputs - 1)
    y = tokens[at + 1].masked_fill(~inside, -100)
    y[1:, :stride] = -100
    return tokens[at].masked_fill(~inside, 0), y


# "as many windows as it takes for every target to count, and no more": the first token is no target
def every_token_counted_as_target(tokens, block_size, stride):
    inputs = len(tokens) - 1
    M = 1 + max(0, -(-(len(tokens) - block_size) // stride))
    positions = stride * torch.arange(M)[:, None] + torch.arange(block_size)
    inside, at = positions < inputs, positions.clamp(max=inputs - 1)
    seen = (torch.arange(M)[:, None] > 0) & (torch.arange(block_size) < block_size - stride)
    x = tokens[at].masked_fill(~inside, 0)
    return x, tokens[at + 1].masked_fill(~inside | seen, -100)


# "Pad the last window with 0 in x and −100 in y.": not every 0 in x is padding
def zeros_have_no_target(tokens, block_size, stride):
    M = 1 + max(0, -(-(len(tokens) - 1 - block_size) // stride))
    padded = F.pad(tokens, (0, (M - 1) * stride + block_size + 1 - len(tokens)))
    rows = padded.unfold(0, block_size + 1, stride)
    x, y = rows[:, :-1].clone(), rows[:, 1:].clone()
    x[-1, len(tokens) - 1 - (M - 1) * stride :] = 0
    y[x == 0] = -100
    y[1:, : block_size - stride] = -100
    return x, y


WRITTEN = {
    "03/vocabulary": [
        LettersByFrequency,
        OnlyLettersAreKnown,
        PositionBehindTheBoundary,
        LettersOfEveryVocabulary,
    ],
    "03/windows": [
        begun_wherever_there_is_a_token,
        last_target_from_the_next_window,
        no_token_between_windows,
    ],
    "03/split": [
        drawn_with_replacement,
        seed_zero_is_no_seed,
        held_out_names_taken_from_the_list,
    ],
    "03/batch": [
        row_moved_into_the_text,
        newest_behind_the_oldest,
        padding_found_by_its_number,
    ],
    "03/sequential": [
        rows_that_end_without_a_target,
        rest_shared_among_the_rows,
        empty_rows_left_out,
    ],
    "03/evaluation": [
        first_stride_columns_hidden,
        every_token_counted_as_target,
        zeros_have_no_target,
    ],
}

ASIDE = {
    "LettersByFrequency",
    "no_token_between_windows",
    "seed_zero_is_no_seed",
    "held_out_names_taken_from_the_list",
    "row_moved_into_the_text",
}
