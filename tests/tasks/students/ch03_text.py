"""Answers to the tasks of chapter 03, Text as tensors."""

import random

import numpy as np
import torch

# vocabulary


class WithDictionaries:
    def __init__(self, names, boundary):
        letters = []
        for name in names:
            for letter in name:
                if letter not in letters:
                    letters.append(letter)
        letters.sort()
        self.symbols = [boundary, *letters]
        self.stoi = {s: i for i, s in enumerate(self.symbols)}
        self.itos = {i: s for s, i in self.stoi.items()}

    def encode(self, name):
        for i, letter in enumerate(name):
            if letter not in self.stoi:
                raise ValueError(f"I do not know {letter} (position {i})")
        return [0] + [self.stoi[letter] for letter in name] + [0]

    def decode(self, tokens):
        return "".join(self.itos[int(t)] for t in tokens if int(t) != 0)


class WithAString:
    def __init__(self, names, boundary):
        self.symbols = boundary + "".join(sorted({c for name in names for c in name}))

    def encode(self, name):
        tokens = [self.symbols.find(c) for c in name]
        if -1 in tokens:
            where = tokens.index(-1)
            raise ValueError(f"{name}: symbol number {where}, {name[where]!r}, is new to me")
        return np.array([0, *tokens, 0])

    def decode(self, tokens):
        return "".join(self.symbols[t] for t in tokens)[1:-1]


class WithACodeTable:
    def __init__(self, names, boundary):
        self.symbols = (boundary, *sorted(set().union(*names)))
        self.codes = torch.tensor([ord(s) for s in self.symbols])

    def encode(self, name):
        text = self.symbols[0] + name + self.symbols[0]
        hit = torch.tensor([ord(c) for c in text])[:, None] == self.codes
        if not hit.any(1).all():
            where = int((~hit.any(1)).nonzero()[0]) - 1
            raise ValueError(f"position {where}: {name[where]!r} is not in the vocabulary")
        return hit.int().argmax(1)

    def decode(self, tokens):
        return "".join(chr(c) for c in self.codes[tokens].tolist()[1:-1])


class InAppearance(WithDictionaries):
    def __init__(self, names, boundary):
        self.symbols = [boundary]
        for letter in "".join(names):
            if letter not in self.symbols:
                self.symbols.append(letter)
        self.stoi = {s: i for i, s in enumerate(self.symbols)}
        self.itos = dict(enumerate(self.symbols))


class SortedWithBoundary(WithDictionaries):
    def __init__(self, names, boundary):
        self.symbols = sorted(set(boundary.join(names)))
        self.stoi = {s: i for i, s in enumerate(self.symbols)}
        self.itos = dict(enumerate(self.symbols))
        self.boundary = boundary

    def encode(self, name):
        for i, letter in enumerate(name):
            if letter not in self.stoi:
                raise ValueError(f"I do not know {letter} (position {i})")
        text = self.boundary + name + self.boundary
        return [self.stoi[letter] for letter in text]

    def decode(self, tokens):
        return "".join(self.itos[t] for t in tokens).replace(self.boundary, "")


class LettersOnly(WithDictionaries):
    def encode(self, name):
        return super().encode(name)[1:-1]


class OpenEnd(WithDictionaries):
    def encode(self, name):
        return super().encode(name)[:-1]


class SkipsStrangers(WithDictionaries):
    def encode(self, name):
        return [0] + [self.stoi[c] for c in name if c in self.stoi] + [0]


class StrangersAreZero(WithDictionaries):
    def encode(self, name):
        tokens = [0]
        for c in name:
            tokens.append(self.symbols.index(c) if c in self.symbols else 0)
        return [*tokens, 0]


class PlainLookup(WithDictionaries):
    def encode(self, name):
        return [0] + [self.stoi[c] for c in name] + [0]


class PlainIndex(WithDictionaries):
    """`list.index` raises a ValueError of its own, which says nothing of use."""

    def encode(self, name):
        return [0] + [self.symbols.index(c) for c in name] + [0]


class DotsRemain(WithDictionaries):
    def decode(self, tokens):
        return "".join(self.itos[int(t)] for t in tokens)


class CountsTheBoundary(WithDictionaries):
    def encode(self, name):
        text = self.symbols[0] + name + self.symbols[0]
        for i, letter in enumerate(text):
            if letter not in self.stoi:
                raise ValueError(f"I do not know {letter} (position {i})")
        return [self.stoi[letter] for letter in text]


class DescendingLetters(WithDictionaries):
    def __init__(self, names, boundary):
        self.symbols = [boundary, *sorted(set("".join(names)), reverse=True)]
        self.stoi = {s: i for i, s in enumerate(self.symbols)}
        self.itos = dict(enumerate(self.symbols))


class UnfilledVocabulary:
    def __init__(self, names, boundary):
        raise NotImplementedError

    def encode(self, name):
        raise NotImplementedError

    def decode(self, tokens):
        raise NotImplementedError


# windows


def windows_loop(tokens, block_size, stride):
    x, y = [], []
    start = 0
    while start + block_size + 1 <= len(tokens):
        x.append(tokens[start : start + block_size].tolist())
        y.append(tokens[start + 1 : start + block_size + 1].tolist())
        start += stride
    return x, y


def windows_slices(tokens, block_size, stride):
    starts = range(0, len(tokens) - block_size, stride)
    return (
        [tokens[i : i + block_size] for i in starts],
        [tokens[i + 1 : i + 1 + block_size] for i in starts],
    )


def windows_gather(tokens, block_size, stride):
    starts = torch.arange(0, len(tokens) - block_size, stride)
    at = starts[:, None] + torch.arange(block_size)
    return tokens[at], tokens[at + 1]


def windows_numpy(tokens, block_size, stride):
    view = np.lib.stride_tricks.sliding_window_view(tokens.numpy(), block_size + 1)[::stride]
    return view[:, :-1], view[:, 1:]


def windows_two_unfolds(tokens, block_size, stride):
    return tokens[:-1].unfold(0, block_size, stride), tokens[1:].unfold(0, block_size, stride)


def windows_unshifted(tokens, block_size, stride):
    x, _ = windows_loop(tokens, block_size, stride)
    return torch.tensor(x), torch.tensor(x)


def windows_backwards(tokens, block_size, stride):
    at = torch.arange(1, len(tokens) - block_size + 1, stride)[:, None] + torch.arange(block_size)
    return tokens[at], tokens[at - 1]


def windows_next_row(tokens, block_size, stride):
    x = [
        tokens[i : i + block_size].tolist() for i in range(0, len(tokens) - block_size + 1, stride)
    ]
    return x[:-1], x[1:]


def windows_too_few(tokens, block_size, stride):
    at = torch.arange(0, len(tokens) - block_size - 1, stride)[:, None] + torch.arange(block_size)
    return tokens[at], tokens[at + 1]


def windows_ragged(tokens, block_size, stride):
    at = torch.arange(0, len(tokens) - block_size + 1, stride)[:, None] + torch.arange(block_size)
    return tokens[at], tokens[at + 1]  # an IndexError, where slices give a RuntimeError


def windows_rolled(tokens, block_size, stride):
    at = torch.arange(0, len(tokens) - block_size + 1, stride)[:, None] + torch.arange(block_size)
    return tokens[at], tokens[(at + 1) % len(tokens)]


def windows_every_token(tokens, block_size, stride):
    x, y = windows_loop(tokens, block_size, 1)
    return np.array(x), np.array(y)


def windows_side_by_side(tokens, block_size, stride):
    return windows_gather(tokens, block_size, block_size)


def windows_last_target_only(tokens, block_size, stride):
    x, y = windows_gather(tokens, block_size, stride)
    return x, [row[-1] for row in y.tolist()]


def windows_two_further(tokens, block_size, stride):
    starts = torch.arange(0, len(tokens) - block_size, stride)
    at = starts[:, None] + torch.arange(block_size)
    return tokens[at], tokens[(at + 2).clamp(max=len(tokens) - 1)]


def unfilled(*args):
    raise NotImplementedError


# batch


def batch_by_padding(tokens, ends, block_size, padding):
    front = torch.full((block_size,), padding)
    x_long = torch.cat([front, tokens])
    y_long = torch.cat([torch.full((block_size - 1,), -100), tokens, torch.tensor([-100])])
    at = ends[:, None] + 1 + torch.arange(block_size)
    return x_long[at], y_long[at]


def batch_loop(tokens, ends, block_size, padding):
    text = tokens.tolist()
    x, y = [], []
    for end in ends.tolist():
        x.append([text[p] if p >= 0 else padding for p in range(end - block_size + 1, end + 1)])
        y.append([text[p] if p >= 0 else -100 for p in range(end - block_size + 2, end + 2)])
    return x, y


def batch_numpy(tokens, ends, block_size, padding):
    at = ends.numpy()[:, None] - np.arange(block_size)[::-1]
    x = np.where(at >= 0, tokens.numpy()[at], padding)
    y = np.where(at + 1 >= 0, tokens.numpy()[at + 1], -100)
    return x.astype(np.int32), y.astype(float)


def batch_negative(tokens, ends, block_size, padding):
    at = ends.view(-1, 1) - torch.arange(block_size - 1, -1, -1)
    y = torch.where(at < -1, torch.tensor(-100), tokens[at + 1])
    return tokens[at], y


def batch_clamped(tokens, ends, block_size, padding):
    at = (ends.view(-1, 1) - torch.arange(block_size - 1, -1, -1)).clamp(min=0)
    return tokens[at], tokens[at + 1]


def batch_python_end(tokens, ends, block_size, padding):
    x, y = batch_loop(tokens, ends - 1, block_size, padding)
    return np.array(x), np.array(y)


def batch_backwards(tokens, ends, block_size, padding):
    at = ends[:, None] - torch.arange(block_size)
    return (
        torch.where(at < 0, padding, tokens[at]),
        torch.where(at < -1, -100, tokens[at + 1]),
    )


def batch_left_aligned(tokens, ends, block_size, padding):
    text = tokens.tolist()
    x, y = [], []
    for end in ends.tolist():
        row = text[max(end - block_size + 1, 0) : end + 1]
        target = text[max(end - block_size + 1, 0) + 1 : end + 2]
        x.append(row + [padding] * (block_size - len(row)))
        y.append(target + [-100] * (block_size - len(target)))
    return torch.tensor(x), torch.tensor(y)


def batch_same(tokens, ends, block_size, padding):
    x, _ = batch_by_padding(tokens, ends, block_size, padding)
    return x, x


def batch_masks_with_inputs(tokens, ends, block_size, padding):
    x, y = batch_by_padding(tokens, ends, block_size, padding)
    y[x == padding] = -100
    return x, y


def batch_counts_padding(tokens, ends, block_size, padding):
    long = torch.cat([torch.full((block_size,), padding), tokens])
    at = ends[:, None] + 1 + torch.arange(block_size)
    return long[at], long[at + 1]


def batch_clamps_targets(tokens, ends, block_size, padding):
    x, _ = batch_by_padding(tokens, ends, block_size, padding)
    at = ends[:, None] + torch.arange(2 - block_size, 2)
    return x, tokens[at.clamp(min=0)]


def batch_two_further(tokens, ends, block_size, padding):
    x, y = batch_by_padding(tokens, ends, block_size, padding)
    return x, torch.where(y == -100, y, y + 1)


# sequential


def sequential_loop(tokens, batch_size, block_size, padding):
    inputs, targets = tokens[:-1].tolist(), tokens[1:].tolist()
    length = (len(inputs) + batch_size - 1) // batch_size
    steps = (length + block_size - 1) // block_size
    x = np.full((steps, batch_size, block_size), padding)
    y = np.full((steps, batch_size, block_size), -100)
    for i, (a, b) in enumerate(zip(inputs, targets, strict=True)):
        row, column = divmod(i, length)
        step, t = divmod(column, block_size)
        x[step, row, t], y[step, row, t] = a, b
    return x, y


def sequential_chunks(tokens, batch_size, block_size, padding):
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)
    x = torch.full((batch_size, steps * block_size), padding)
    y = torch.full((batch_size, steps * block_size), -100)
    for b, (i, t) in enumerate(
        zip(tokens[:-1].split(length), tokens[1:].split(length), strict=True)
    ):
        x[b, : len(i)], y[b, : len(t)] = i, t
    return (
        torch.stack(x.split(block_size, dim=1)),
        torch.stack(y.split(block_size, dim=1)),
    )


def sequential_gather(tokens, batch_size, block_size, padding):
    last = len(tokens) - 1
    length = -(-last // batch_size)
    steps = -(-length // block_size)
    column = torch.arange(steps * block_size).view(steps, 1, block_size)
    at = torch.arange(batch_size).view(1, -1, 1) * length + column
    real = (column < length) & (at < last)
    at = at.clamp(max=last - 1)
    return torch.where(real, tokens[at], padding), torch.where(real, tokens[at + 1], -100)


def sequential_by_step(tokens, batch_size, block_size, padding):
    per_step = batch_size * block_size
    x = tokens[:-1].tolist()
    y = tokens[1:].tolist()
    while len(x) % per_step:
        x.append(padding)
        y.append(-100)
    return (
        np.array(x).reshape(-1, batch_size, block_size),
        np.array(y).reshape(-1, batch_size, block_size),
    )


def sequential_reshaped(tokens, batch_size, block_size, padding):
    x, y = sequential_loop(tokens, batch_size, block_size, padding)
    rows = x.swapaxes(0, 1).ravel(), y.swapaxes(0, 1).ravel()
    return tuple(row.reshape(-1, batch_size, block_size) for row in rows)


def sequential_long_rows(tokens, batch_size, block_size, padding):
    steps = -(-(len(tokens) - 1) // (batch_size * block_size))
    x = np.full(batch_size * steps * block_size, padding)
    y = np.full(batch_size * steps * block_size, -100)
    x[: len(tokens) - 1], y[: len(tokens) - 1] = tokens[:-1], tokens[1:]
    shape = (batch_size, steps, block_size)
    return x.reshape(shape).swapaxes(0, 1), y.reshape(shape).swapaxes(0, 1)


def sequential_from_the_chapter(tokens, batch_size, block_size, padding):
    rows = tokens.unfold(0, block_size + 1, 1)
    steps = (len(tokens) - 1) // (batch_size * block_size)
    starts = torch.arange(batch_size) * steps * block_size
    each = [rows[starts + n * block_size] for n in range(steps)]
    return torch.stack(each)[:, :, :-1], torch.stack(each)[:, :, 1:]


def sequential_same(tokens, batch_size, block_size, padding):
    x, _ = sequential_loop(tokens, batch_size, block_size, padding)
    return x, x


def sequential_counts_padding(tokens, batch_size, block_size, padding):
    x, y = sequential_loop(tokens, batch_size, block_size, padding)
    return x, np.where(y < 0, padding, y)


def sequential_row_shift(tokens, batch_size, block_size, padding):
    length = -(-(len(tokens) - 1) // batch_size)
    x, y = sequential_loop(tokens, batch_size, block_size, padding)
    row_ends = tokens[length - 1 : -1 : length]
    y[np.isin(x, row_ends.numpy())] = -100
    # The text's last input has its target in the text; a shift within the row loses it, too.
    y[x == int(tokens[-2])] = -100
    return x, y


def sequential_window_shift(tokens, batch_size, block_size, padding):
    x, y = sequential_gather(tokens, batch_size, block_size, padding)
    inner = y[:, :, :-1]
    return x, torch.cat([inner, torch.full_like(y[:, :, :1], -100)], dim=2)


def sequential_transposed(tokens, batch_size, block_size, padding):
    x, y = sequential_loop(tokens, batch_size, block_size, padding)
    return x.swapaxes(0, 1), y.swapaxes(0, 1)


def sequential_two_further(tokens, batch_size, block_size, padding):
    x, y = sequential_loop(tokens, batch_size, block_size, padding)
    return x, np.where(y == -100, y, y + 1)


def sequential_one_target_less(tokens, batch_size, block_size, padding):
    x, y = sequential_loop(tokens, batch_size, block_size, padding)
    y[1, 0, 0] = -100
    return x, y


# split


def split_with_random(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    held_out = set(distinct[: round(len(distinct) * fraction)])
    train, validation = [], []
    for name in names:
        (validation if name in held_out else train).append(name)
    return train, validation


def split_with_numpy(names, fraction, seed):
    distinct = np.array(list(dict.fromkeys(names)))
    count = round(len(distinct) * fraction)
    chosen = np.random.default_rng(seed).choice(distinct, count, replace=False)
    inside = np.isin(names, chosen)
    return list(np.array(names)[~inside]), list(np.array(names)[inside])


def split_with_global_seed(names, fraction, seed):
    torch.manual_seed(seed)
    distinct = sorted(set(names))
    where = dict(zip(distinct, torch.randperm(len(distinct)).tolist(), strict=True))
    cut = round(fraction * len(distinct))
    return (
        tuple(n for n in names if where[n] >= cut),
        tuple(n for n in names if where[n] < cut),
    )


def split_in_order(names, fraction, seed):
    distinct = sorted(set(names))
    first = distinct[round(fraction * len(distinct))]
    return [n for n in names if n >= first], [n for n in names if n < first]


def split_anew(names, fraction, seed):
    distinct = sorted(set(names))
    random.shuffle(distinct)
    held_out = distinct[: round(len(distinct) * fraction)]
    return [n for n in names if n not in held_out], [n for n in names if n in held_out]


def split_always_42(names, fraction, seed):
    return split_with_random(names, fraction, 42)


def split_list(names, fraction, seed):
    shuffled = list(names)
    random.Random(seed).shuffle(shuffled)
    cut = len(shuffled) - round(fraction * len(shuffled))
    return shuffled[:cut], shuffled[cut:]


def split_keeps_all(names, fraction, seed):
    _, validation = split_with_random(names, fraction, seed)
    return list(names), validation


def split_set(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    cut = round(len(distinct) * fraction)
    return distinct[cut:], distinct[:cut]


def split_validation_first(names, fraction, seed):
    train, validation = split_with_random(names, fraction, seed)
    return validation, train


def split_by_entries(names, fraction, seed):
    """Fills validation name by name until half of the entries are in it."""
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    held_out = set()
    while sum(n in held_out for n in names) < len(names) / 2:
        held_out.add(distinct.pop())
    return [n for n in names if n not in held_out], [n for n in names if n in held_out]


def split_loses_one(names, fraction, seed):
    train, validation = split_with_random(names, fraction, seed)
    return [name for name in train if name != train[0]], validation


# evaluation


def evaluation_loop(tokens, block_size, stride):
    text = tokens.tolist()
    x, y, counted, start = [], [], 1, 0
    while counted < len(text):
        row_x, row_y = [], []
        for p in range(start, start + block_size):
            row_x.append(text[p] if p + 1 < len(text) else 0)
            fresh = counted <= p + 1 < len(text)
            row_y.append(text[p + 1] if fresh else -100)
        counted = start + block_size + 1
        x.append(row_x)
        y.append(row_y)
        start += stride
    return x, y


def evaluation_unfold(tokens, block_size, stride):
    last = len(tokens) - 1
    missing = block_size - last if last < block_size else -(last - block_size) % stride
    x = torch.cat([tokens[:-1], torch.zeros(missing, dtype=torch.long)])
    y = torch.cat([tokens[1:], torch.full((missing,), -100)])
    x, y = x.unfold(0, block_size, stride), y.unfold(0, block_size, stride).clone()
    y[1:, : block_size - stride] = -100
    return x, y


def evaluation_numpy(tokens, block_size, stride):
    text = tokens.numpy()
    last = len(text) - 1
    starts = [0]
    while starts[-1] + block_size < last:
        starts.append(starts[-1] + stride)
    x = np.zeros((len(starts), block_size), int)
    y = np.full((len(starts), block_size), -100)
    for m, start in enumerate(starts):
        stop = min(start + block_size, last)
        x[m, : stop - start] = text[start:stop]
        first = 0 if m == 0 else block_size - stride
        y[m, first : stop - start] = text[start + first + 1 : stop + 1]
    return x, y


def evaluation_all_count(tokens, block_size, stride):
    last = len(tokens) - 1
    missing = block_size - last if last < block_size else -(last - block_size) % stride
    x = torch.cat([tokens[:-1], torch.zeros(missing, dtype=torch.long)])
    y = torch.cat([tokens[1:], torch.full((missing,), -100)])
    return x.unfold(0, block_size, stride), y.unfold(0, block_size, stride)


def evaluation_same_mask_for_all(tokens, block_size, stride):
    x, y = evaluation_all_count(tokens, block_size, stride)
    y = y.clone()
    y[:, : block_size - stride] = -100
    return x, y


def evaluation_early(tokens, block_size, stride):
    x, y = evaluation_all_count(tokens, block_size, stride)
    seen, rows = set(), []
    for row in y.flip(0).tolist():  # from the end: what a later window holds is its own
        rows.append([-100 if token in seen else token for token in row])
        seen.update(row)
    return x, rows[::-1]


def evaluation_whole_rows(tokens, block_size, stride):
    if len(tokens) <= block_size:
        nothing = torch.empty(0, block_size, dtype=torch.long)
        return nothing, nothing
    x = tokens[:-1].unfold(0, block_size, stride)
    y = tokens[1:].unfold(0, block_size, stride).clone()
    y[1:, : block_size - stride] = -100
    return x, y


def evaluation_of_the_chapter(tokens, block_size, stride):
    missing = -(len(tokens) - 1) % block_size
    x = torch.cat([tokens[:-1], torch.zeros(missing, dtype=torch.long)])
    y = torch.cat([tokens[1:], torch.full((missing,), -100)])
    return x.view(-1, block_size), y.view(-1, block_size)


def evaluation_same(tokens, block_size, stride):
    x, y = evaluation_numpy(tokens, block_size, stride)
    return x, np.where(y == -100, y, x)


def evaluation_zero_targets(tokens, block_size, stride):
    x, y = evaluation_unfold(tokens, block_size, stride)
    y[-1, x[-1] == 0] = 0
    return x, y


def evaluation_one_more(tokens, block_size, stride):
    x, y = evaluation_numpy(tokens, block_size, stride)
    return x, np.where(y == -100, y, y + 1)


RIGHT = {
    "vocabulary": {
        "dictionaries": WithDictionaries,
        "one string": WithAString,
        "tensor of code points": WithACodeTable,
    },
    "windows": {
        "loop and lists": windows_loop,
        "lists of slices": windows_slices,
        "gather": windows_gather,
        "numpy view": windows_numpy,
        "two unfolds": windows_two_unfolds,
    },
    "batch": {
        "padded in front": batch_by_padding,
        "loop and lists": batch_loop,
        "numpy": batch_numpy,
    },
    "sequential": {
        "divmod": sequential_loop,
        "split and stack": sequential_chunks,
        "gather": sequential_gather,
    },
    "split": {
        "random.Random": split_with_random,
        "numpy, first appearance": split_with_numpy,
        "global seed, tuples": split_with_global_seed,
    },
    "evaluation": {
        "loop and lists": evaluation_loop,
        "padded and unfolded": evaluation_unfold,
        "numpy": evaluation_numpy,
    },
}

WRONG = {
    "vocabulary": {
        "order-of-appearance": InAppearance,
        "boundary-sorted-in": SortedWithBoundary,
        "boundaries-forgotten": LettersOnly,
        "no-closing-boundary": OpenEnd,
        "decode-keeps-boundaries": DotsRemain,
        "unknown-dropped": SkipsStrangers,
        "unknown-to-zero": StrangersAreZero,
        "key-error-only": PlainLookup,
        "error-names-nothing": PlainIndex,
    },
    "windows": {
        "unshifted-targets": windows_unshifted,
        "shifted-backwards": windows_backwards,
        "next-row-as-target": windows_next_row,
        "one-target-a-window": windows_last_target_only,
        "last-window-dropped": windows_too_few,
        "reads-past-the-end": windows_ragged,
        "wraps-around": windows_rolled,
        "stride-ignored": windows_every_token,
        "stride-is-block-size": windows_side_by_side,
    },
    "batch": {
        "wraps-to-the-end": batch_negative,
        "repeats-the-first-token": batch_clamped,
        "end-excluded": batch_python_end,
        "newest-first": batch_backwards,
        "padded-on-the-right": batch_left_aligned,
        "unshifted-targets": batch_same,
        "first-token-never-learned": batch_masks_with_inputs,
        "padding-is-a-target": batch_counts_padding,
        "targets-before-the-text": batch_clamps_targets,
    },
    "sequential": {
        "rows-do-not-continue": sequential_by_step,
        "view-without-transpose": sequential_reshaped,
        "filled-at-the-end-only": sequential_long_rows,
        "leftover-dropped": sequential_from_the_chapter,
        "rows-before-steps": sequential_transposed,
        "unshifted-targets": sequential_same,
        "padding-is-a-target": sequential_counts_padding,
        "targets-stop-at-the-row": sequential_row_shift,
        "targets-stop-at-the-window": sequential_window_shift,
    },
    "split": {
        "not-shuffled": split_in_order,
        "unseeded": split_anew,
        "seed-ignored": split_always_42,
        "training-keeps-everything": split_keeps_all,
        "duplicates-across-splits": split_list,
        "duplicates-dropped": split_set,
        "splits-exchanged": split_validation_first,
    },
    "evaluation": {
        "counted-twice": evaluation_all_count,
        "first-window-cut": evaluation_same_mask_for_all,
        "least-past": evaluation_early,
        "last-window-dropped": evaluation_whole_rows,
        "no-overlap": evaluation_of_the_chapter,
        "unshifted-targets": evaluation_same,
        "padding-is-a-target": evaluation_zero_targets,
    },
}

ODD = {
    "vocabulary": [
        (CountsTheBoundary, "error-names-nothing"),
        (DescendingLetters, "difference"),
    ],
    "windows": [
        (windows_two_further, "not-the-next-token"),
        (lambda tokens, block_size, stride: tokens.unfold(0, block_size, stride), "error"),
    ],
    "batch": [
        (batch_two_further, "difference"),
        (lambda tokens, ends, block_size, padding: tokens[ends + 99], "error"),
    ],
    "sequential": [
        (sequential_two_further, "not-the-next-token"),
        (sequential_one_target_less, "not-counted-once"),
    ],
    "split": [(split_loses_one, "entries-lost"), (split_by_entries, "another-size")],
    "evaluation": [(evaluation_one_more, "not-the-next-token")],
}

SCAFFOLD = {
    "vocabulary": UnfilledVocabulary,
    "windows": unfilled,
    "batch": unfilled,
    "sequential": unfilled,
    "split": unfilled,
    "evaluation": unfilled,
}
