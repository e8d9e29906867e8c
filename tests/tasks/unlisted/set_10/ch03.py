"""Wrong answers to chapter 03 that no list names: the tenth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F

# 03/vocabulary


# Comes from Java: put the boundaries around the name first, and then went through the whole of it.
# "whose message contains the symbol and its position in the name, counted from 0"
class PositionBehindTheBoundary:
    def __init__(self, names, boundary):
        self.boundary = boundary
        letters = sorted({letter for name in names for letter in name})
        self.symbols = [boundary, *letters]
        self.index = {symbol: i for i, symbol in enumerate(self.symbols)}

    def encode(self, name):
        tokens = []
        for position, symbol in enumerate(self.boundary + name + self.boundary):
            if symbol not in self.index:
                raise ValueError(f"unknown symbol {symbol} at position {position}")
            tokens.append(self.index[symbol])
        return torch.tensor(tokens)

    def decode(self, tokens):
        return "".join(self.symbols[int(token)] for token in tokens[1:-1])


# 03/split


# Adapted the usual `n = int(0.9 * len(data))`, which rounds the training part down.
# "Validation gets `fraction` of the distinct names (rounded)"
def training_rounded_down(names, fraction, seed):
    generator = torch.Generator().manual_seed(seed)
    distinct = sorted(set(names))
    order = torch.randperm(len(distinct), generator=generator)
    n = int((1 - fraction) * len(distinct))
    chosen = {distinct[i] for i in order[:n]}
    train = [name for name in names if name in chosen]
    validation = [name for name in names if name not in chosen]
    return train, validation


# 03/batch


# Filled both with padding, and then turned the padding of the targets into −100, wherever the text
# holds the same number. "A target that would itself lie before the text is −100."
def every_target_like_padding_left_out(tokens, ends, block_size, padding):
    padded = F.pad(tokens, (block_size, 0), value=padding)
    x, y = [], []
    for end in ends.tolist():
        x.append(padded[end + 1 : end + 1 + block_size])
        y.append(padded[end + 2 : end + 2 + block_size])
    x, y = torch.stack(x), torch.stack(y)
    y[y == padding] = -100
    return x, y


# 03/sequential


# Comes from NumPy, whose `array_split` shares the rest among the rows.
# "every row takes L = ⌈(N − 1) / B⌉ of them (rounded up), and the last row takes the rest"
def rows_as_equal_as_possible(tokens, batch_size, block_size, padding):
    L = -(-(len(tokens) - 1) // batch_size)
    S = -(-L // block_size)
    x = torch.full((batch_size, S * block_size), padding)
    y = torch.full((batch_size, S * block_size), -100)
    inputs = torch.tensor_split(tokens[:-1], batch_size)
    targets = torch.tensor_split(tokens[1:], batch_size)
    for b in range(batch_size):
        x[b, : len(inputs[b])] = inputs[b]
        y[b, : len(targets[b])] = targets[b]
    x = x.view(batch_size, S, block_size).transpose(0, 1)
    y = y.view(batch_size, S, block_size).transpose(0, 1)
    return x, y


# 03/evaluation


# Copied the loop with which a well-known library measures perplexity, and lost its `break`.
# "Make as many windows as it takes for every target to count, and no more."
def loop_without_its_break(tokens, block_size, stride):
    length = len(tokens) - 1
    xs, ys = [], []
    previous_end = 0
    for begin in range(0, length, stride):
        end = min(begin + block_size, length)
        target_length = end - previous_end
        x = tokens[begin:end]
        y = tokens[begin + 1 : end + 1].clone()
        y[:-target_length] = -100
        missing = block_size - len(x)
        xs.append(F.pad(x, (0, missing), value=0))
        ys.append(F.pad(y, (0, missing), value=-100))
        previous_end = end
    return torch.stack(xs), torch.stack(ys)


WRITTEN = {
    "03/vocabulary": [PositionBehindTheBoundary],
    "03/split": [training_rounded_down],
    "03/batch": [every_target_like_padding_left_out],
    "03/sequential": [rows_as_equal_as_possible],
    "03/evaluation": [loop_without_its_break],
}
