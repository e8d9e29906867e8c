"""Wrong answers to chapter 03 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

from collections import Counter

import torch
import torch.nn.functional as F

# 03/vocabulary


class MostCommonLettersFirst:
    """Numbers the letters by how often they occur, most frequent first, instead of sorting them."""

    def __init__(self, names, boundary):
        self.boundary = boundary
        counts = Counter("".join(sorted(names)))
        self.symbols = [boundary] + [letter for letter, _ in counts.most_common()]
        self.token_of = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.token_of:
                raise ValueError(f"unknown symbol {symbol!r} at position {position} of {name!r}")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[int(token)] for token in tokens[1:-1])


class WholeRangeOfLetters:
    """Takes every character from the smallest letter to the largest, also those in no name."""

    def __init__(self, names, boundary):
        self.boundary = boundary
        letters = "".join(names)
        first, last = ord(min(letters)), ord(max(letters))
        self.symbols = [boundary] + [chr(code) for code in range(first, last + 1)]
        self.token_of = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.token_of:
                raise ValueError(f"unknown symbol {symbol!r} at position {position} of {name!r}")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[int(token)] for token in tokens[1:-1])


class CodePointInMessage:
    """The message names an unknown symbol by its code point (U+00EB), not by the symbol itself."""

    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = [boundary, *sorted(set("".join(names)))]
        self.token_of = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        for position, symbol in enumerate(name):
            if symbol not in self.token_of:
                raise ValueError(f"character U+{ord(symbol):04X} at position {position} not known")
        return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[int(token)] for token in tokens[1:-1])


# 03/windows


def gaps_of_a_stride(tokens, block_size, stride):
    """Leaves `stride` tokens between windows: they begin block_size + stride apart."""
    rows = tokens.unfold(0, block_size + 1, block_size + stride)
    return rows[:, :-1], rows[:, 1:]


def last_window_added(tokens, block_size, stride):
    """Adds a window that ends with the text, so that no token is left out at the end."""
    starts = list(range(0, len(tokens) - block_size, stride))
    if starts and starts[-1] != len(tokens) - block_size - 1:
        starts.append(len(tokens) - block_size - 1)
    positions = torch.tensor(starts, dtype=torch.long)[:, None] + torch.arange(block_size)
    return tokens[positions], tokens[positions + 1]


def targets_a_stride_later(tokens, block_size, stride):
    """Shifts the targets by `stride` instead of by one: y is the text from `stride` on."""
    x = tokens[:-stride].unfold(0, block_size, stride)
    y = tokens[stride:].unfold(0, block_size, stride)
    return x, y


# 03/split


def drawn_with_replacement(names, fraction, seed):
    """Draws the validation names with randint, so a name drawn twice leaves too few of them."""
    distinct = sorted(set(names))
    generator = torch.Generator().manual_seed(seed)
    count = round(fraction * len(distinct))
    drawn = torch.randint(len(distinct), (count,), generator=generator)
    held_out = {distinct[i] for i in drawn.tolist()}
    train = [name for name in names if name not in held_out]
    return train, [name for name in names if name in held_out]


def quota_of_entries(names, fraction, seed):
    """Holds out shuffled names until they have `fraction` of the entries, not of the names."""
    distinct = sorted(set(names))
    entries = Counter(names)
    generator = torch.Generator().manual_seed(seed)
    wanted = round(fraction * len(names))
    held_out, taken = set(), 0
    for i in torch.randperm(len(distinct), generator=generator).tolist():
        if taken >= wanted:
            break
        held_out.add(distinct[i])
        taken += entries[distinct[i]]
    train = [name for name in names if name not in held_out]
    return train, [name for name in names if name in held_out]


def ordered_by_hash(names, fraction, seed):
    """Shuffles by hash((seed, name)), and Python salts hash of strings anew in every run."""
    distinct = sorted(set(names), key=lambda name: hash((seed, name)))
    held_out = set(distinct[: round(fraction * len(distinct))])
    train = [name for name in names if name not in held_out]
    return train, [name for name in names if name in held_out]


# 03/batch


def slices_with_negative_start(tokens, ends, block_size, padding):
    """Slices tokens[end − T + 1 : end + 1]; a negative start counts from the end of the text."""
    x = torch.full((len(ends), block_size), padding)
    y = torch.full((len(ends), block_size), -100)
    for b, end in enumerate(ends.tolist()):
        inputs = tokens[end - block_size + 1 : end + 1]
        targets = tokens[end - block_size + 2 : end + 2]
        x[b, block_size - len(inputs) :] = inputs
        y[b, block_size - len(targets) :] = targets
    return x, y


def padding_symbol_never_a_target(tokens, ends, block_size, padding):
    """Sets targets to −100 where they equal `padding`, also where the text has that symbol."""
    padded = F.pad(tokens, (block_size, 0), value=padding)
    positions = ends[:, None] + torch.arange(1, block_size + 1)  # in the padded text
    x, y = padded[positions], padded[positions + 1]
    return x, y.masked_fill(y == padding, -100)


def ends_as_lengths(tokens, ends, block_size, padding):
    """Pads T − ends[b] columns instead of T − 1 − ends[b]; the first token of the text is lost."""
    column = torch.arange(block_size)
    positions = ends[:, None] + column - block_size + 1
    missing = block_size - ends[:, None]  # (B, 1)
    x = torch.where(column < missing, padding, tokens[positions.clamp(min=0)])
    y = torch.where(column < missing - 1, -100, tokens[(positions + 1).clamp(min=0)])
    return x, y


# 03/sequential


def rows_of_equal_share(tokens, batch_size, block_size, padding):
    """Shares the inputs out evenly with tensor_split, so not only the last row is shorter."""
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)

    def lay_out(row, filler):
        parts = row.tensor_split(batch_size)
        rows = torch.stack(
            [F.pad(part, (0, steps * block_size - len(part)), value=filler) for part in parts]
        )
        return rows.view(batch_size, steps, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


def rows_of_whole_steps(tokens, batch_size, block_size, padding):
    """Pads once, behind the whole text, to B · S · T: a row takes S · T inputs instead of L."""
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)
    missing = batch_size * steps * block_size - (len(tokens) - 1)

    def lay_out(row, filler):
        row = F.pad(row, (0, missing), value=filler)
        return row.view(batch_size, steps, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


def row_ends_padded_with_zeros(tokens, batch_size, block_size, padding):
    """Pads each row to whole steps with the default of F.pad, 0, in the inputs and the targets."""
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)

    def lay_out(row, filler):
        rows = F.pad(row, (0, batch_size * length - len(row)), value=filler)
        rows = F.pad(rows.view(batch_size, length), (0, steps * block_size - length))
        return rows.view(batch_size, steps, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


# 03/evaluation


def last_window_moved_back(tokens, block_size, stride):
    """Moves the last window back so that it ends with the text, instead of padding it."""
    inputs = len(tokens) - 1
    M = 1 + max(0, -(-(inputs - block_size) // stride))
    x = torch.zeros(M, block_size, dtype=tokens.dtype)
    y = torch.full((M, block_size), -100)
    counted = 0
    for m in range(M):
        start = max(0, min(m * stride, inputs - block_size))
        end = min(start + block_size, inputs)
        x[m, : end - start] = tokens[start:end]
        y[m, counted - start : end - start] = tokens[counted + 1 : end + 1]
        counted = end
    return x, y


def masked_after_the_padding(tokens, block_size, stride):
    """Masks all but the last k columns after padding, but in the last window these are padding."""
    inputs = len(tokens) - 1
    rows_x, rows_y, counted = [], [], 0
    for start in range(0, inputs, stride):
        end = min(start + block_size, inputs)
        missing = block_size - (end - start)
        x = F.pad(tokens[start:end], (0, missing), value=0)
        y = F.pad(tokens[start + 1 : end + 1], (0, missing), value=-100)
        if start > 0:
            y[: -(end - counted)] = -100
        rows_x.append(x)
        rows_y.append(y)
        counted = end
        if end == inputs:
            break
    return torch.stack(rows_x), torch.stack(rows_y)


def targets_inside_the_window(tokens, block_size, stride):
    """Takes targets from the window's own inputs only, so the last column never has a target."""
    inputs = len(tokens) - 1
    M = 1 + max(0, -(-(inputs - block_size) // stride))
    row, column = torch.arange(M)[:, None], torch.arange(block_size)
    positions = row * stride + column
    inside = positions < inputs
    fresh = (row == 0) | (column >= block_size - stride)
    x = torch.where(inside, tokens[positions.clamp(max=inputs - 1)], 0)
    y = torch.full((M, block_size), -100)
    y[:, :-1] = x[:, 1:]
    has_target = inside & fresh
    has_target[:, :-1] &= inside[:, 1:]
    return x, torch.where(has_target, y, -100)


# 03/seen-before


def training_pieces_in_validation():
    """Swaps the splits: the share of the pieces of training that validation has."""
    return {"text": "shakespeare", "seen_4": 0.83279, "seen_8": 0.19709, "seen_16": 0.00196}


def windows_of_inputs_and_target():
    """Cuts n inputs and their target as the chapter's windows do, so pieces have n + 1 symbols."""
    return {"text": "shakespeare", "seen_4": 0.89883, "seen_8": 0.36382, "seen_16": 0.00903}


def training_cut_end_to_end():
    """Puts only the pieces of training into the set that begin at multiples of n."""
    return {"text": "shakespeare", "seen_4": 0.91935, "seen_8": 0.24743, "seen_16": 0.00134}


WRITTEN = {
    "03/vocabulary": [MostCommonLettersFirst, WholeRangeOfLetters, CodePointInMessage],
    "03/windows": [gaps_of_a_stride, last_window_added, targets_a_stride_later],
    "03/split": [drawn_with_replacement, quota_of_entries, ordered_by_hash],
    "03/batch": [slices_with_negative_start, padding_symbol_never_a_target, ends_as_lengths],
    "03/sequential": [rows_of_equal_share, rows_of_whole_steps, row_ends_padded_with_zeros],
    "03/evaluation": [last_window_moved_back, masked_after_the_padding, targets_inside_the_window],
    "03/seen-before": [
        training_pieces_in_validation,
        windows_of_inputs_and_target,
        training_cut_end_to_end,
    ],
}

ASIDE = {
    "MostCommonLettersFirst",
    "drawn_with_replacement",
    "ends_as_lengths",
    "last_window_moved_back",
    "rows_of_whole_steps",
    "targets_a_stride_later",
    "windows_of_inputs_and_target",
}
