"""Wrong answers to chapter 03 that no list names: the eighth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F

# 03/vocabulary


# Puts the boundaries around the name first, and counts from the first of them.
# "its position in the name, counted from 0"
class PositionCountsTheBoundary:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = [boundary, *sorted(set("".join(names)))]
        self.token_of = {s: i for i, s in enumerate(self.symbols)}

    def encode(self, name):
        tokens = []
        for i, s in enumerate(self.boundary + name + self.boundary):
            if s not in self.token_of:
                raise ValueError(f"unknown symbol {s!r} at position {i}")
            tokens.append(self.token_of[s])
        return torch.tensor(tokens)

    def decode(self, tokens):
        return "".join(self.symbols[i] for i in tokens[1:-1])


# Lets the dictionary complain, and hands its complaint on.
# "a `ValueError` whose message contains the symbol and its position in the name"
class DictionaryComplains:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = [boundary, *sorted(set("".join(names)))]
        self.token_of = {s: i for i, s in enumerate(self.symbols)}

    def encode(self, name):
        try:
            return torch.tensor([self.token_of[s] for s in self.boundary + name + self.boundary])
        except KeyError as error:
            raise ValueError(f"unknown symbol {error} in {name!r}") from None

    def decode(self, tokens):
        return "".join(self.symbols[i] for i in tokens[1:-1])


# Removed the doubles with a dictionary, which keeps the order of the names.
# "The letters follow as tokens 1, 2, …, in sorted order."
class LettersAsTheyCome:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = [boundary, *dict.fromkeys("".join(names))]

    def encode(self, name):
        for position, s in enumerate(name):
            if s not in self.symbols:
                raise ValueError(f"{s!r} at position {position} is not in the vocabulary")
        return torch.tensor([self.symbols.index(s) for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[i] for i in tokens[1:-1])


# 03/windows


# Worked M out as so many whole strides, and rounded down.
# "as long as the window and the target of its last input lie inside the text"
def whole_strides_only(tokens, block_size, stride):
    M = (len(tokens) - block_size) // stride
    starts = torch.arange(M) * stride
    positions = starts[:, None] + torch.arange(block_size)
    return tokens[positions], tokens[positions + 1]


# Took the next window for the target.
# "windows of T inputs …, and their targets": a target is the next token
def targets_a_stride_ahead(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size + stride, stride)
    return rows[:, :block_size], rows[:, stride:]


# 03/split


# Takes a sample as pollsters do, every so-manyth name from a start that the seed gives.
# "drawn at random", "another seed gives another split"
def every_so_manyth_name(names, fraction, seed):
    distinct = sorted(set(names))
    step = max(1, round(1 / fraction))
    held_out = set(distinct[seed % step :: step])
    train = [name for name in names if name not in held_out]
    validation = [name for name in names if name in held_out]
    return train, validation


# Shuffles the names and fills the validation list until it is long enough.
# "Validation gets `fraction` of the *distinct* names (rounded)"
def share_of_the_entries(names, fraction, seed):
    distinct = sorted(set(names))
    generator = torch.Generator().manual_seed(seed)
    held_out, count = set(), 0
    for i in torch.randperm(len(distinct), generator=generator).tolist():
        if count >= round(fraction * len(names)):
            break
        held_out.add(distinct[i])
        count += names.count(distinct[i])
    train = [name for name in names if name not in held_out]
    validation = [name for name in names if name in held_out]
    return train, validation


# Splits the names and forgot that there was a list.
# "Split it in two and keep every entry."
def each_name_once(names, fraction, seed):
    distinct = sorted(set(names))
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(distinct), generator=generator).tolist()
    n = round(fraction * len(distinct))
    validation = sorted(distinct[i] for i in order[:n])
    train = sorted(distinct[i] for i in order[n:])
    return train, validation


# 03/batch


# Pads the text and cuts windows, then looks for the padding among the targets.
# "A target that would itself lie before the text is −100.", and no other
def every_padding_token_ignored(tokens, ends, block_size, padding):
    longer = F.pad(tokens, (block_size, 0), value=padding)
    rows = longer.unfold(0, block_size + 1, 1)[ends + 1]
    x, y = rows[:, :-1].clone(), rows[:, 1:].clone()
    y[y == padding] = -100
    return x, y


# Writes a loop that cuts the same stretch twice.
# "The first token of the text is a target like any other, because it follows the last padding."
def first_token_never_asked(tokens, ends, block_size, padding):
    x = torch.full((len(ends), block_size), padding)
    y = torch.full((len(ends), block_size), -100)
    for b, end in enumerate(ends.tolist()):
        begin = max(0, end - block_size + 1)
        x[b, block_size - (end + 1 - begin) :] = tokens[begin : end + 1]
        y[b, block_size - (end + 1 - begin) :] = tokens[begin + 1 : end + 2]
    return x, y


# 03/sequential


# Fills up once, at the very end, so that one `view` does the rest.
# "every row takes L = ⌈(N − 1) / B⌉ of them (rounded up), and the last row takes the rest"
def filled_up_once(tokens, batch_size, block_size, padding):
    n = len(tokens) - 1
    steps = -(-n // (batch_size * block_size))
    missing = batch_size * steps * block_size - n
    x = F.pad(tokens[:-1], (0, missing), value=padding)
    y = F.pad(tokens[1:], (0, missing), value=-100)
    shape = batch_size, steps, block_size
    return x.view(shape).transpose(0, 1), y.view(shape).transpose(0, 1)


# Comes from NumPy, whose `array_split` makes the rows as equal as it can.
# "every row takes L = ⌈(N − 1) / B⌉ of them (rounded up), and the last row takes the rest"
def rows_as_equal_as_possible(tokens, batch_size, block_size, padding):
    inputs = torch.tensor_split(tokens[:-1], batch_size)
    targets = torch.tensor_split(tokens[1:], batch_size)
    steps = -(-len(inputs[0]) // block_size)
    width = steps * block_size
    x = torch.stack([F.pad(row, (0, width - len(row)), value=padding) for row in inputs])
    y = torch.stack([F.pad(row, (0, width - len(row)), value=-100) for row in targets])
    x = x.view(batch_size, steps, block_size).transpose(0, 1)
    return x, y.view(batch_size, steps, block_size).transpose(0, 1)


# 03/evaluation


# Tried it on the example, where T − stride and stride are the same.
# "A target that has counted in an earlier window is −100."
def stride_columns_ignored(tokens, block_size, stride):
    inputs = len(tokens) - 1
    M = 1 + max(0, -(-(inputs - block_size) // stride))
    length = (M - 1) * stride + block_size
    x = F.pad(tokens[:-1], (0, length - inputs), value=0).unfold(0, block_size, stride).clone()
    y = F.pad(tokens[1:], (0, length - inputs), value=-100).unfold(0, block_size, stride).clone()
    y[1:, :stride] = -100
    return x, y


# Read "first" and thought of the window in which the target is first.
# "in the first window that contains it, because there it has the longest context"
def counted_in_the_last_window(tokens, block_size, stride):
    inputs = len(tokens) - 1
    M = 1 + max(0, -(-(inputs - block_size) // stride))
    positions = torch.arange(M)[:, None] * stride + torch.arange(block_size)
    at = positions.clamp(max=inputs - 1)
    x = torch.where(positions < inputs, tokens[at], 0)
    y = torch.where(positions < inputs, tokens[at + 1], -100)
    y[:-1, stride:] = -100
    return x, y


# Copied the loop of a well-known library, whose last window ends where the text does.
# "they begin at 0, `stride`, 2 · `stride`, …", "Pad the last window with 0 in x and −100 in y."
def last_window_moved_back(tokens, block_size, stride):
    inputs = len(tokens) - 1
    xs, ys, counted = [], [], 0
    for begin in range(0, inputs, stride):
        end = min(begin + block_size, inputs)
        begin = max(0, end - block_size)
        y = tokens[begin + 1 : end + 1].clone()
        y[: counted - begin] = -100
        xs.append(F.pad(tokens[begin:end], (0, block_size - (end - begin)), value=0))
        ys.append(F.pad(y, (0, block_size - (end - begin)), value=-100))
        counted = end
        if end == inputs:
            break
    return torch.stack(xs), torch.stack(ys)


WRITTEN = {
    "03/vocabulary": [PositionCountsTheBoundary, DictionaryComplains, LettersAsTheyCome],
    "03/windows": [whole_strides_only, targets_a_stride_ahead],
    "03/split": [every_so_manyth_name, share_of_the_entries, each_name_once],
    "03/batch": [every_padding_token_ignored, first_token_never_asked],
    "03/sequential": [filled_up_once, rows_as_equal_as_possible],
    "03/evaluation": [
        stride_columns_ignored,
        counted_in_the_last_window,
        last_window_moved_back,
    ],
}

ASIDE = {
    "LettersAsTheyCome",
    "targets_a_stride_ahead",
    "filled_up_once",
    "last_window_moved_back",
}
