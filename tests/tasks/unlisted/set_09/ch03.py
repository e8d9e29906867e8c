"""Wrong answers to chapter 03 that no list names: the ninth set.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import random

import torch
import torch.nn.functional as F

# 03/vocabulary


# Put the boundaries on first and then went through what there was.
# "its position in the name, counted from 0"
class PositionsWithTheBoundary:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = [boundary, *sorted(set("".join(names)))]
        self.stoi = {s: i for i, s in enumerate(self.symbols)}

    def encode(self, name):
        tokens = []
        for i, s in enumerate(self.boundary + name + self.boundary):
            if s not in self.stoi:
                raise ValueError(f"unknown symbol {s!r} at position {i}")
            tokens.append(self.stoi[s])
        return torch.tensor(tokens)

    def decode(self, tokens):
        return "".join(self.symbols[int(i)] for i in tokens[1:-1])


# Comes from Keras, whose tokenizer makes everything lower case.
# "then the letters that occur in `names`, each once"
class EverythingInLowerCase:
    def __init__(self, names, boundary):
        letters = sorted(set("".join(names).lower()))
        self.symbols = [boundary, *letters]
        self.index = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        name = name.lower()
        for position, symbol in enumerate(name):
            if symbol not in self.index:
                raise ValueError(f"{symbol} at position {position} is not in the vocabulary")
        return torch.tensor([0] + [self.index[symbol] for symbol in name] + [0])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens if token != 0)


# Turned the KeyError into the error that was asked for and stopped there.
# "a `ValueError` whose message contains the symbol and its position in the name"
class SymbolWithoutItsPosition:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = [boundary, *sorted({letter for name in names for letter in name})]
        self.token_of = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, name):
        try:
            inside = [self.token_of[letter] for letter in name]
        except KeyError as error:
            raise ValueError(f"unknown symbol {error} in the name") from error
        return torch.tensor([0, *inside, 0])

    def decode(self, tokens):
        text = "".join(self.symbols[token] for token in tokens)
        return text.strip(self.boundary)


# 03/windows


# Cut inputs and targets each on their own.
# "as long as the window *and the target of its last input* lie inside the text"
def inputs_cut_without_their_targets(tokens, block_size, stride):
    x = tokens.unfold(0, block_size, stride)
    y = tokens[1:].unfold(0, block_size, stride)
    return x, y


# Took one off for the target and another one off for `range`.
# "as long as the window *and the target of its last input* lie inside the text"
def last_start_left_out(tokens, block_size, stride):
    starts = range(0, len(tokens) - block_size - 1, stride)
    x = torch.stack([tokens[i : i + block_size] for i in starts])
    y = torch.stack([tokens[i + 1 : i + block_size + 1] for i in starts])
    return x, y


# 03/split


# Had all names in a set and built both lists from it.
# "Split it in two and keep every entry."
def every_name_kept_once(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    n = round(fraction * len(distinct))
    return sorted(distinct[n:]), sorted(distinct[:n])


# Tosses a coin for each name, as in a simulation.
# "Validation gets `fraction` of the distinct names (rounded)"
def coin_for_each_name(names, fraction, seed):
    generator = torch.Generator().manual_seed(seed)
    distinct = sorted(set(names))
    chosen = torch.rand(len(distinct), generator=generator) < fraction
    where = dict(zip(distinct, chosen.tolist(), strict=True))
    train = [name for name in names if not where[name]]
    validation = [name for name in names if where[name]]
    return train, validation


# Draws from the distinct names but counts the list that was given.
# "`fraction` of the *distinct* names"
def share_of_all_entries_in_names(names, fraction, seed):
    unique = sorted(set(names))
    g = torch.Generator().manual_seed(seed)
    perm = torch.randperm(len(unique), generator=g).tolist()
    n_val = round(fraction * len(names))
    val = {unique[i] for i in perm[:n_val]}
    return [n for n in names if n not in val], [n for n in names if n in val]


# 03/batch


# Padded the text once and marked the padding among the targets afterwards.
# "A target that would itself lie before the text is −100.": no other one, whatever token it is
def every_padding_token_ignored(tokens, ends, block_size, padding):
    padded = F.pad(tokens, (block_size, 0), value=padding)
    x, y = [], []
    for end in ends.tolist():
        x.append(padded[end + 1 : end + 1 + block_size])
        y.append(padded[end + 2 : end + 2 + block_size])
    x, y = torch.stack(x), torch.stack(y)
    y[y == padding] = -100
    return x, y


# Cut as Python cuts, without the end.
# "row b contains the T tokens up to and **including** position `ends[b]`"
def rows_stop_before_the_end(tokens, ends, block_size, padding):
    positions = ends[:, None] + torch.arange(-block_size, 0)
    x = torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])
    targets = positions + 1
    y = torch.where(targets < 0, -100, tokens[targets.clamp(min=0)])
    return x, y


# 03/sequential


# Counted the tokens when it was the inputs that are laid out.
# "every row takes L = ⌈(N − 1) / B⌉ of them (rounded up)"
def rows_measured_in_tokens(tokens, batch_size, block_size, padding):
    L = -(-len(tokens) // batch_size)
    S = -(-L // block_size)
    results = []
    for row, filler in ((tokens[:-1], padding), (tokens[1:], -100)):
        rows = F.pad(row, (0, batch_size * L - len(row)), value=filler).view(batch_size, L)
        rows = F.pad(rows, (0, S * block_size - L), value=filler)
        results.append(rows.view(batch_size, S, block_size).transpose(0, 1))
    return results[0], results[1]


# Knows `np.array_split`, which makes the parts as equal as possible.
# "every row takes L …, and the last row takes the rest"
def rows_as_equal_as_possible(tokens, batch_size, block_size, padding):
    inputs = torch.tensor_split(tokens[:-1], batch_size)
    targets = torch.tensor_split(tokens[1:], batch_size)
    longest = max(len(row) for row in inputs)
    steps = -(-longest // block_size)
    x = torch.full((batch_size, steps * block_size), padding)
    y = torch.full((batch_size, steps * block_size), -100)
    for b in range(batch_size):
        x[b, : len(inputs[b])] = inputs[b]
        y[b, : len(targets[b])] = targets[b]
    x = x.view(batch_size, steps, block_size).transpose(0, 1)
    y = y.view(batch_size, steps, block_size).transpose(0, 1)
    return x, y


# Laid the inputs out and shifted every row by itself.
# "The target of the last input of a row is the first input of the next row"
def each_row_shifted_by_itself(tokens, batch_size, block_size, padding):
    N = len(tokens)
    L = (N - 1 + batch_size - 1) // batch_size
    S = (L + block_size - 1) // block_size
    x = torch.full((batch_size, S * block_size), padding)
    y = torch.full((batch_size, S * block_size), -100)
    for b in range(batch_size):
        row = tokens[b * L : min((b + 1) * L, N - 1)]
        x[b, : len(row)] = row
        if len(row) > 1:
            y[b, : len(row) - 1] = row[1:]
    y[-1, len(row) - 1] = tokens[-1]
    x = x.reshape(batch_size, S, block_size).permute(1, 0, 2)
    y = y.reshape(batch_size, S, block_size).permute(1, 0, 2)
    return x, y


# 03/evaluation


# Remembered that each target counts once and let the later window have it.
# "in the first window that contains it"
def last_window_counts(tokens, block_size, stride):
    inputs = len(tokens) - 1
    M = 1
    while (M - 1) * stride + block_size < inputs:
        M += 1
    x = torch.zeros(M, block_size, dtype=tokens.dtype)
    y = torch.full((M, block_size), -100)
    for m in range(M):
        begin = m * stride
        end = min(begin + block_size, inputs)
        x[m, : end - begin] = tokens[begin:end]
        counted = end if m == M - 1 else begin + stride
        y[m, : counted - begin] = tokens[begin + 1 : counted + 1]
    return x, y


# Adapted the loop with which a well-known library measures perplexity, and treats all windows
# alike.
# "every target … must count once"
def beginning_of_the_first_window_ignored(tokens, block_size, stride):
    N = len(tokens)
    xs, ys = [], []
    for begin in range(0, N - 1, stride):
        end = min(begin + block_size, N - 1)
        missing = block_size - (end - begin)
        input_ids = F.pad(tokens[begin:end], (0, missing), value=0)
        target_ids = F.pad(tokens[begin + 1 : end + 1], (0, missing), value=-100)
        target_ids[:-stride] = -100
        xs.append(input_ids)
        ys.append(target_ids)
        if end == N - 1:
            break
    return torch.stack(xs), torch.stack(ys)


# Found padding a waste and moved the last window back to where it is full.
# "Pad the last window with 0 in x and −100 in y."
def last_window_moved_back(tokens, block_size, stride):
    inputs = len(tokens) - 1
    xs, ys = [], []
    done = 0
    begin = 0
    while done < inputs:
        start = max(0, min(begin, inputs - block_size))
        end = min(start + block_size, inputs)
        x = torch.zeros(block_size, dtype=torch.long)
        y = torch.full((block_size,), -100)
        x[: end - start] = tokens[start:end]
        y[done - start : end - start] = tokens[done + 1 : end + 1]
        xs.append(x)
        ys.append(y)
        done = end
        begin += stride
    return torch.stack(xs), torch.stack(ys)


WRITTEN = {
    "03/vocabulary": [PositionsWithTheBoundary, EverythingInLowerCase, SymbolWithoutItsPosition],
    "03/windows": [
        inputs_cut_without_their_targets,
        last_start_left_out,
    ],
    "03/split": [every_name_kept_once, coin_for_each_name, share_of_all_entries_in_names],
    "03/batch": [
        every_padding_token_ignored,
        rows_stop_before_the_end,
    ],
    "03/sequential": [
        rows_measured_in_tokens,
        rows_as_equal_as_possible,
        each_row_shifted_by_itself,
    ],
    "03/evaluation": [
        last_window_counts,
        beginning_of_the_first_window_ignored,
        last_window_moved_back,
    ],
}

ASIDE = {
    "last_start_left_out",
    "every_name_kept_once",
    "share_of_all_entries_in_names",
    "rows_measured_in_tokens",
    "last_window_counts",
    "last_window_moved_back",
}
