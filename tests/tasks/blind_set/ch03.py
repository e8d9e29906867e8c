"""Wrong answers to chapter 03 that no list names: the seventeenth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F

# 03/vocabulary


class PositionCountsTheBoundary:
    """Looks for unknown symbols after the boundary was put in front: positions are one too high."""

    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = [boundary, *sorted(set("".join(names)))]
        self.token = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        whole = self.boundary + name + self.boundary
        for position, symbol in enumerate(whole):
            if symbol not in self.token:
                raise ValueError(f"unknown symbol {symbol!r} at position {position}")
        return torch.tensor([self.token[symbol] for symbol in whole])

    def decode(self, tokens):
        return "".join(self.symbols[int(token)] for token in tokens[1:-1])


class LettersSharedByAllVocabularies:
    """Keeps the set of letters in the class: a second vocabulary has the letters of the first."""

    letters = set()  # noqa: RUF012

    def __init__(self, names, boundary):
        for name in names:
            self.letters.update(name)
        self.symbols = [boundary, *sorted(self.letters - {boundary})]

    def encode(self, name):
        tokens = [0]
        for i, letter in enumerate(name):
            if letter not in self.symbols:
                raise ValueError(f"{letter!r} (position {i}) is not in the vocabulary")
            tokens.append(self.symbols.index(letter))
        return torch.tensor([*tokens, 0])

    def decode(self, tokens):
        return "".join(self.symbols[int(t)] for t in tokens if int(t) != 0)


# 03/windows


def last_fitting_window_forgotten(tokens, block_size, stride):
    """Ends the range at N - T - 1, so a window whose last target is the last token is missing."""
    starts = range(0, len(tokens) - block_size - 1, stride)
    steps = torch.arange(block_size)
    at = torch.tensor(list(starts), dtype=torch.long)[:, None] + steps
    return tokens[at], tokens[at + 1]


def targets_from_the_next_window(tokens, block_size, stride):
    """Takes the next window for the targets: they are `stride` ahead, not one."""
    cut = tokens.unfold(0, block_size, stride)
    return cut[:-1], cut[1:]


# 03/split


def share_of_the_entries(names, fraction, seed):
    """Takes the fraction of all entries as the number of distinct names."""
    distinct = sorted(set(names))
    n = round(fraction * len(names))
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(distinct), generator=generator).tolist()
    chosen = {distinct[i] for i in order[:n]}
    training = [name for name in names if name not in chosen]
    validation = [name for name in names if name in chosen]
    return training, validation


def numbers_of_distinct_names_read_in_the_list(names, fraction, seed):
    """Draws numbers of distinct names, and looks them up in the list that has repeats."""
    n_distinct = len(set(names))
    g = torch.Generator()
    g.manual_seed(seed)
    drawn = torch.randperm(n_distinct, generator=g)[: round(fraction * n_distinct)]
    held_out = {names[i] for i in drawn.tolist()}
    training, validation = [], []
    for name in names:
        (validation if name in held_out else training).append(name)
    return training, validation


# 03/batch


def no_target_after_padding(tokens, ends, block_size, padding):
    """Hides targets wherever the input is padding, so the first token is never a target."""
    at = ends[:, None] + torch.arange(1 - block_size, 1)
    before = at < 0
    x = torch.where(before, padding, tokens[at.clamp(min=0)])
    y = torch.where(before, -100, tokens[(at + 1).clamp(min=0)])
    return x, y


def padding_known_by_its_value(tokens, ends, block_size, padding):
    """Hides every target equal to `padding`, also where that is a symbol of the text."""
    padded = F.pad(tokens, (block_size, 0), value=padding)
    x, y = [], []
    for end in ends.tolist():
        begin = end + 1
        x.append(padded[begin : begin + block_size])
        y.append(padded[begin + 1 : begin + block_size + 1])
    x, y = torch.stack(x), torch.stack(y)
    return x, y.masked_fill(y == padding, -100)


# 03/sequential


def steps_viewed_in_front_of_rows(tokens, batch_size, block_size, padding):
    """Views the rows as (S, B, T) at once: no axes change places, so steps mix up the rows."""
    n = len(tokens) - 1
    length = -(-n // batch_size)
    steps = -(-length // block_size)

    def lay_out(row, filler):
        row = F.pad(row, (0, batch_size * length - n), value=filler).view(batch_size, length)
        row = F.pad(row, (0, steps * block_size - length), value=filler)
        return row.reshape(steps, batch_size, block_size)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


def rows_end_without_a_target(tokens, batch_size, block_size, padding):
    """Shifts inside each row, so the last input of a row has no target."""
    n = len(tokens) - 1
    L = -(-n // batch_size)
    S = -(-L // block_size)
    inputs = F.pad(tokens[:-1], (0, batch_size * L - n), value=padding).view(batch_size, L)
    targets = F.pad(tokens[1:], (0, batch_size * L - n), value=-100).view(batch_size, L).clone()
    targets[:-1, -1] = -100
    inputs = F.pad(inputs, (0, S * block_size - L), value=padding)
    targets = F.pad(targets, (0, S * block_size - L), value=-100)
    x = inputs.view(batch_size, S, block_size).transpose(0, 1)
    y = targets.view(batch_size, S, block_size).transpose(0, 1)
    return x, y


# 03/evaluation


def overlap_taken_for_the_stride(tokens, block_size, stride):
    """Hides the first `stride` targets of later windows; the overlap is T - stride."""
    n = len(tokens) - 1
    M = 1 + max(0, -(-(n - block_size) // stride))
    row = torch.arange(M)[:, None]
    column = torch.arange(block_size)
    at = row * stride + column
    inside = at < n
    new = (row == 0) | (column >= stride)
    x = torch.where(inside, tokens[at.clamp(max=n - 1)], 0)
    y = torch.where(inside & new, tokens[(at + 1).clamp(max=n)], -100)
    return x, y


def windows_that_count_nothing(tokens, block_size, stride):
    """Makes a window at every multiple of `stride` in the text: the last ones have no target."""
    n = len(tokens) - 1
    xs, ys = [], []
    counted = 0
    for begin in range(0, max(n, 1), stride):
        x = tokens[begin : min(begin + block_size, n)]
        y = tokens[begin + 1 : begin + 1 + block_size].clone()
        y[: max(0, counted - begin)] = -100
        counted = max(counted, begin + len(y))
        xs.append(F.pad(x, (0, block_size - len(x)), value=0))
        ys.append(F.pad(y, (0, block_size - len(y)), value=-100))
    return torch.stack(xs), torch.stack(ys)


WRITTEN = {
    "03/vocabulary": [PositionCountsTheBoundary, LettersSharedByAllVocabularies],
    "03/windows": [last_fitting_window_forgotten, targets_from_the_next_window],
    "03/split": [share_of_the_entries, numbers_of_distinct_names_read_in_the_list],
    "03/batch": [no_target_after_padding, padding_known_by_its_value],
    "03/sequential": [steps_viewed_in_front_of_rows, rows_end_without_a_target],
    "03/evaluation": [overlap_taken_for_the_stride, windows_that_count_nothing],
}
