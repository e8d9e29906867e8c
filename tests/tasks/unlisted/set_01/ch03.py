"""Unlisted wrong answers to chapter 03."""

import random

import torch
import torch.nn.functional as F


class LetterByLetter:
    """Tokens begin at 1 for the boundary."""

    def __init__(self, names, boundary):
        self.symbols = [boundary, *sorted(set("".join(names)))]
        self.boundary = boundary

    def encode(self, name):
        text = self.boundary + name + self.boundary
        for i, c in enumerate(name):
            if c not in self.symbols:
                raise ValueError(f"{c} at {i}")
        return torch.tensor([self.symbols.index(c) + 1 for c in text])

    def decode(self, tokens):
        return "".join(self.symbols[int(t) - 1] for t in tokens[1:-1])


class Shared:
    """Keeps its letters in the class, so that a second vocabulary knows those of the first."""

    letters = set()  # noqa: RUF012 - the mistake itself

    def __init__(self, names, boundary):
        for name in names:
            self.letters.update(name)
        self.boundary = boundary
        self.symbols = [boundary, *sorted(self.letters)]

    def encode(self, name):
        for i, c in enumerate(name):
            if c not in self.symbols:
                raise ValueError(f"unknown symbol {c!r} at position {i}")
        return [self.symbols.index(c) for c in self.boundary + name + self.boundary]

    def decode(self, tokens):
        return "".join(self.symbols[int(t)] for t in tokens[1:-1])


class CountsFromOne(LetterByLetter):
    def encode(self, name):
        for i, c in enumerate(name, 1):
            if c not in self.symbols:
                raise ValueError(f"unknown symbol {c!r} at position {i}")
        return torch.tensor([self.symbols.index(c) for c in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[int(t)] for t in tokens[1:-1])


class DecodesToList(CountsFromOne):
    def encode(self, name):
        for i, c in enumerate(name):
            if c not in self.symbols:
                raise ValueError(f"unknown symbol {c!r} at position {i}")
        return torch.tensor([self.symbols.index(c) for c in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return [self.symbols[int(t)] for t in tokens[1:-1]]


class Lowers(LetterByLetter):
    def __init__(self, names, boundary):
        super().__init__(names, boundary)
        self.symbols = [boundary, *sorted(set("".join(names)), reverse=True)]

    def encode(self, name):
        for i, c in enumerate(name):
            if c not in self.symbols:
                raise ValueError(f"unknown symbol {c!r} at position {i}")
        return torch.tensor([self.symbols.index(c) for c in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[int(t)] for t in tokens[1:-1])


def windows_first_only(tokens, block_size, stride):
    n = (len(tokens) - 1) // stride
    rows = [tokens[i * stride : i * stride + block_size + 1] for i in range(n)]
    rows = [r for r in rows if len(r) == block_size + 1][:-1]
    rows = torch.stack(rows)
    return rows[:, :-1], rows[:, 1:]


def windows_from_stride(tokens, block_size, stride):
    rows = tokens[stride:].unfold(0, block_size + 1, stride)
    return rows[:, :-1], rows[:, 1:]


def windows_two_ahead(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size + 2, stride)
    return rows[:, :-2], rows[:, 2:]


def windows_swapped(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size + 1, stride)
    return rows[:, 1:], rows[:, :-1]


def windows_short(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size, stride)
    return rows[:, :-1], rows[:, 1:]


def split_by_coin(names, fraction, seed):
    r = random.Random(seed)
    held = {n for n in sorted(set(names)) if r.random() < fraction}
    return [n for n in names if n not in held], [n for n in names if n in held]


def split_of_entries(names, fraction, seed):
    distinct = sorted(set(names))
    r = random.Random(seed)
    held = set(r.sample(distinct, round(fraction * len(names))))
    return [n for n in names if n not in held], [n for n in names if n in held]


def split_of_the_rest(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    held = set(distinct[round(fraction * len(distinct)) :])
    return [n for n in names if n in held], [n for n in names if n in held]


def split_up(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    held = set(distinct[: int(fraction * len(distinct)) + 1])
    return [n for n in names if n not in held], [n for n in names if n in held]


def batch_of_one_end(tokens, ends, block_size, padding):
    rows = []
    for _ in ends:
        e = int(ends[0])
        rows.append(
            [int(tokens[p]) if p >= 0 else padding for p in range(e - block_size + 1, e + 1)]
        )
    x = torch.tensor(rows)
    y = torch.where(x == padding, -100, x + 1)
    return x, y


def batch_one_early(tokens, ends, block_size, padding):
    p = ends[:, None] + torch.arange(-block_size, 0)
    q = p.clamp(min=0)
    return torch.where(p < 0, padding, tokens[q]), torch.where(
        p < -1, -100, tokens[(p + 1).clamp(min=0)]
    )


def batch_padded_with_zero(tokens, ends, block_size, padding):
    p = ends[:, None] + torch.arange(1 - block_size, 1)
    q = p.clamp(min=0)
    return torch.where(p < 0, 0, tokens[q]), torch.where(p < -1, -100, tokens[(p + 1).clamp(min=0)])


def batch_last_target_only(tokens, ends, block_size, padding):
    p = ends[:, None] + torch.arange(1 - block_size, 1)
    x = torch.where(p < 0, padding, tokens[p.clamp(min=0)])
    y = torch.full_like(x, -100)
    y[:, -1] = tokens[ends + 1]
    return x, y


def _laid_out(tokens, B, T, padding, length):
    steps = -(-length // T)
    x = torch.full((B, steps * T), padding)
    y = torch.full((B, steps * T), -100)
    for b in range(B):
        a, z = tokens[:-1][b * length : (b + 1) * length], tokens[1:][b * length : (b + 1) * length]
        x[b, : len(a)], y[b, : len(z)] = a, z
    cut = lambda m: m.view(B, steps, T).transpose(0, 1)  # noqa: E731
    return cut(x), cut(y)


def sequential_rows_cut_short(tokens, batch_size, block_size, padding):
    return _laid_out(tokens, batch_size, block_size, padding, (len(tokens) - 1) // batch_size)


def sequential_one_step_more(tokens, batch_size, block_size, padding):
    length = -(-(len(tokens) - 1) // batch_size)
    x, y = _laid_out(tokens, batch_size, block_size, padding, length)
    if length % block_size == 0:
        x = torch.cat([x, torch.full_like(x[:1], padding)])
        y = torch.cat([y, torch.full_like(y[:1], -100)])
    return x, y


def sequential_padded_with_zero(tokens, batch_size, block_size, padding):
    return _laid_out(tokens, batch_size, block_size, 0, -(-(len(tokens) - 1) // batch_size))


def sequential_of_all_tokens(tokens, batch_size, block_size, padding):
    return _laid_out(tokens, batch_size, block_size, padding, -(-len(tokens) // batch_size) + 1)


def overlapping_one_window_more(tokens, block_size, stride):
    n = len(tokens) - 1
    starts = range(0, n, stride)
    x = torch.zeros(len(starts), block_size, dtype=torch.long)
    y = torch.full((len(starts), block_size), -100)
    done = 0
    for m, s in enumerate(starts):
        for i in range(block_size):
            if s + i < n:
                x[m, i] = tokens[s + i]
                if s + i >= done:
                    y[m, i] = tokens[s + i + 1]
        done = max(done, min(n, s + block_size))
    return x, y


def overlapping_half(tokens, block_size, stride):
    n = len(tokens) - 1
    M = 1 + max(0, -(-(n - block_size) // stride))
    p = torch.arange(M)[:, None] * stride + torch.arange(block_size)
    x = torch.where(p < n, tokens[p.clamp(max=n - 1)], 0)
    fresh = (torch.arange(M)[:, None] == 0) | (torch.arange(block_size) >= block_size // 2)
    return x, torch.where((p < n) & fresh, tokens[(p + 1).clamp(max=n)], -100)


def overlapping_wraps(tokens, block_size, stride):
    n = len(tokens) - 1
    M = 1 + max(0, -(-(n - block_size) // stride))
    p = torch.arange(M)[:, None] * stride + torch.arange(block_size)
    x = tokens[p % n]
    fresh = (torch.arange(M)[:, None] == 0) | (torch.arange(block_size) >= block_size - stride)
    return x, torch.where((p < n) & fresh, tokens[(p + 1).clamp(max=n)], -100)


def overlapping_counts_the_last(tokens, block_size, stride):
    n = len(tokens)
    M = 1 + max(0, -(-(n - block_size) // stride))
    p = torch.arange(M)[:, None] * stride + torch.arange(block_size)
    x = torch.where(p < n, tokens[p.clamp(max=n - 1)], 0)
    fresh = (torch.arange(M)[:, None] == 0) | (torch.arange(block_size) >= block_size - stride)
    return x, torch.where((p + 1 < n) & fresh, tokens[(p + 1).clamp(max=n - 1)], -100)


# Written later, when the judges had been tuned on the others.


class OneToken:
    """Encodes every letter that comes twice only once."""

    def __init__(self, names, boundary):
        self.symbols = [boundary, *sorted(set("".join(names)))]

    def encode(self, name):
        for i, c in enumerate(name):
            if c not in self.symbols:
                raise ValueError(f"{c!r} at position {i} is unknown")
        inner = list(dict.fromkeys(name))
        return torch.tensor([0, *(self.symbols.index(c) for c in inner), 0])

    def decode(self, tokens):
        return "".join(self.symbols[int(t)] for t in tokens[1:-1])


def windows_backwards(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size + 1, stride).flip(0)
    return rows[:, :-1], rows[:, 1:]


def split_sorted_validation(names, fraction, seed):
    r = random.Random(seed)
    held = set(r.sample(sorted(set(names)), max(1, round(fraction * len(set(names))) - 1)))
    return [n for n in names if n not in held], sorted(n for n in names if n in held)


def batch_with_a_shared_target(tokens, ends, block_size, padding):
    p = ends[:, None] + torch.arange(1 - block_size, 1)
    x = torch.where(p < 0, padding, tokens[p.clamp(min=0)])
    return x, tokens[ends + 1][:, None].expand_as(x)


def sequential_without_the_last_target(tokens, batch_size, block_size, padding):
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)

    def lay(row, filler):
        row = F.pad(row, (0, batch_size * length - len(row)), value=filler).view(batch_size, -1)
        row = F.pad(row, (0, steps * block_size - length), value=filler)
        return row.view(batch_size, steps, block_size).transpose(0, 1)

    y = tokens[1:].clone()
    y[-1] = -100
    return lay(tokens[:-1], padding), lay(y, -100)


def overlapping_longest_first(tokens, block_size, stride):
    n = len(tokens) - 1
    M = 1 + max(0, -(-(n - block_size) // stride))
    p = torch.arange(M)[:, None] * stride + torch.arange(block_size)
    x = torch.where(p < n, tokens[p.clamp(max=n - 1)], 0)
    y = torch.where(p < n, tokens[(p + 1).clamp(max=n)], -100)
    y[1:, :stride] = -100
    return x, y


WRITTEN = {
    "03/vocabulary": [LetterByLetter, Shared, CountsFromOne, DecodesToList, Lowers, OneToken],
    "03/windows": [
        windows_first_only,
        windows_from_stride,
        windows_two_ahead,
        windows_swapped,
        windows_short,
        windows_backwards,
    ],
    "03/split": [
        split_by_coin,
        split_of_entries,
        split_of_the_rest,
        split_up,
        split_sorted_validation,
    ],
    "03/batch": [
        batch_of_one_end,
        batch_one_early,
        batch_padded_with_zero,
        batch_last_target_only,
        batch_with_a_shared_target,
    ],
    "03/sequential": [
        sequential_rows_cut_short,
        sequential_one_step_more,
        sequential_padded_with_zero,
        sequential_of_all_tokens,
        sequential_without_the_last_target,
    ],
    "03/evaluation": [
        overlapping_one_window_more,
        overlapping_half,
        overlapping_wraps,
        overlapping_counts_the_last,
        overlapping_longest_first,
    ],
}

ASIDE = ()
