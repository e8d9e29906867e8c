"""Wrong answers to chapter 03, second set."""

import torch
import torch.nn.functional as F


class VocabularyThatCountsTheBoundary:
    """Says the position in the tokens, where the boundary is 0, and not that in the name."""

    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names))))
        self.token_of = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        tokens = []
        for position, symbol in enumerate(self.boundary + name + self.boundary):
            if symbol not in self.token_of:
                raise ValueError(f"unknown symbol {symbol!r} at position {position}")
            tokens.append(self.token_of[symbol])
        return torch.tensor(tokens)

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


class VocabularyThatNamesNoPosition(VocabularyThatCountsTheBoundary):
    def encode(self, name):
        unknown = set(name) - set(self.symbols)
        if unknown:
            raise ValueError(f"unknown symbols: {unknown}")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])


class VocabularyThatKeepsTheFirstBoundary(VocabularyThatCountsTheBoundary):
    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.token_of:
                raise ValueError(f"unknown symbol {symbol!r} at position {position}")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[:-1])


def windows_with_targets_a_stride_on(tokens, block_size, stride):
    starts = range(0, len(tokens) - block_size - stride + 1, stride)
    x = torch.stack([tokens[i : i + block_size] for i in starts])
    return x, torch.stack([tokens[i + stride : i + stride + block_size] for i in starts])


def windows_with_the_stride_inside(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size * stride + 1, stride)
    return rows[:, :-1:stride], rows[:, 1::stride]


def windows_without_room_for_the_target(tokens, block_size, stride):
    """Takes the window that ends the text, and repeats the last token as its target."""
    tokens = torch.cat([tokens, tokens[-1:]])
    rows = tokens.unfold(0, block_size + 1, stride)
    return rows[:, :-1], rows[:, 1:]


def _split(names, held_out):
    return [n for n in names if n not in held_out], [n for n in names if n in held_out]


def split_rounded_down(names, fraction, seed):
    distinct = sorted(set(names))
    order = torch.randperm(len(distinct), generator=torch.Generator().manual_seed(seed)).tolist()
    return _split(names, {distinct[i] for i in order[: int(fraction * len(distinct))]})


def split_by_hashes(names, fraction, seed):
    return _split(names, {n for n in names if hash((n, seed)) % 1000 < 1000 * fraction})


def split_by_neighbors(names, fraction, seed):
    """Holds out a stretch of the sorted names, which begins at a place drawn by the seed."""
    distinct = sorted(set(names))
    count = round(fraction * len(distinct))
    start = seed % (len(distinct) - count)
    return _split(names, set(distinct[start : start + count]))


def batch_with_padding_as_targets(tokens, ends, block_size, padding):
    positions = ends[:, None] + torch.arange(1 - block_size, 1)
    x = torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])
    return x, torch.cat([x[:, 1:], tokens[ends + 1][:, None]], dim=1)


def batch_padded_on_the_right(tokens, ends, block_size, padding):
    x = torch.full((len(ends), block_size), padding)
    y = torch.full((len(ends), block_size), -100)
    for b, end in enumerate(ends.tolist()):
        first = max(0, end - block_size + 1)
        x[b, : end - first + 1] = tokens[first : end + 1]
        y[b, : end - first + 1] = tokens[first + 1 : end + 2]
    return x, y


def sequential_in_full_rows(tokens, batch_size, block_size, padding):
    """Fills every row up to whole steps before it begins the next one."""
    inputs = len(tokens) - 1
    steps = -(-inputs // (batch_size * block_size))

    def lay_out(row, filler):
        row = F.pad(row, (0, batch_size * steps * block_size - inputs), value=filler)
        return row.view(batch_size, steps, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


def sequential_with_one_filler(tokens, batch_size, block_size, padding):
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)

    def lay_out(row):
        rows = F.pad(row, (0, batch_size * length - len(row)), value=padding)
        rows = F.pad(rows.view(batch_size, length), (0, steps * block_size - length), value=padding)
        return rows.view(batch_size, steps, block_size).transpose(0, 1)

    return lay_out(tokens[:-1]), lay_out(tokens[1:])


def overlapping_fresh_after_the_stride(tokens, block_size, stride):
    inputs = len(tokens) - 1
    count = 1 + max(0, -(-(inputs - block_size) // stride))
    row, column = torch.arange(count)[:, None], torch.arange(block_size)
    positions = row * stride + column
    inside = positions < inputs
    fresh = (row == 0) | (column >= stride)
    at = positions.clamp(max=inputs - 1)
    return torch.where(inside, tokens[at], 0), torch.where(inside & fresh, tokens[at + 1], -100)


def overlapping_with_too_many_windows(tokens, block_size, stride):
    inputs = len(tokens) - 1
    count = -(-inputs // stride)
    row, column = torch.arange(count)[:, None], torch.arange(block_size)
    positions = row * stride + column
    inside = positions < inputs
    fresh = (row == 0) | (column >= block_size - stride)
    at = positions.clamp(max=inputs - 1)
    return torch.where(inside, tokens[at], 0), torch.where(inside & fresh, tokens[at + 1], -100)


WRITTEN = {
    "03/vocabulary": [
        VocabularyThatCountsTheBoundary,
        VocabularyThatNamesNoPosition,
        VocabularyThatKeepsTheFirstBoundary,
    ],
    "03/windows": [
        windows_with_targets_a_stride_on,
        windows_with_the_stride_inside,
        windows_without_room_for_the_target,
    ],
    "03/split": [split_rounded_down, split_by_hashes, split_by_neighbors],
    "03/batch": [batch_with_padding_as_targets, batch_padded_on_the_right],
    "03/sequential": [sequential_in_full_rows, sequential_with_one_filler],
    "03/evaluation": [overlapping_fresh_after_the_stride, overlapping_with_too_many_windows],
}

ASIDE = {
    "VocabularyThatKeepsTheFirstBoundary",
    "windows_without_room_for_the_target",
    "split_by_neighbors",
    "sequential_in_full_rows",
    "overlapping_with_too_many_windows",
}
