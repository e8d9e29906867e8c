"""Wrong answers to chapter 03 that no list names: the eleventh set.

The comment before each says who the student is and which sentence of the statement it breaks.
"""

import numpy as np
import torch
import torch.nn.functional as F

# 03/vocabulary


# Puts the boundaries around the name first and looks every symbol up in one loop.
# "its position in the name, counted from 0": counted from the boundary
class CountsTheBoundary:
    def __init__(self, names, boundary):
        self.boundary = boundary
        letters = sorted(set("".join(names)))
        self.symbols = [boundary, *letters]
        self.index = {s: i for i, s in enumerate(self.symbols)}

    def encode(self, name):
        tokens = []
        for position, symbol in enumerate(self.boundary + name + self.boundary):
            if symbol not in self.index:
                raise ValueError(f"unknown symbol {symbol!r} at position {position}")
            tokens.append(self.index[symbol])
        return torch.tensor(tokens)

    def decode(self, tokens):
        return "".join(self.symbols[t] for t in tokens.tolist()[1:-1])


# 03/split


# Comes from NumPy, whose `choice` draws with replacement unless told otherwise.
# "Validation gets `fraction` of the distinct names (rounded)": names drawn twice leave it fewer
def drawn_with_replacement(names, fraction, seed):
    distinct = sorted(set(names))
    rng = np.random.default_rng(seed)
    count = round(fraction * len(distinct))
    chosen = set(rng.choice(distinct, size=count).tolist())
    train = [n for n in names if n not in chosen]
    validation = [n for n in names if n in chosen]
    return train, validation


# 03/batch


# Pads the text once, cuts rows from it, and replaces the padding among the targets at the end.
# "A target that would itself lie before the text is −100": so are symbols equal to the padding
def every_padding_is_no_target(tokens, ends, block_size, padding):
    padded = F.pad(tokens, (block_size - 1, 0), value=padding)
    rows = padded.unfold(0, block_size + 1, 1)[ends]
    x = rows[:, :-1].clone()
    y = rows[:, 1:].clone()
    y[y == padding] = -100
    return x, y


# 03/sequential


# Is tired and pads only once, to the B · S · T places that are there in the end.
# "every row takes L = ⌈(N − 1) / B⌉ of them": every row takes S · T
def rows_filled_to_whole_steps(tokens, batch_size, block_size, padding):
    inputs = tokens[:-1]
    targets = tokens[1:]
    L = -(-len(inputs) // batch_size)
    S = -(-L // block_size)
    missing = batch_size * S * block_size - len(inputs)
    x = F.pad(inputs, (0, missing), value=padding)
    y = F.pad(targets, (0, missing), value=-100)
    x = x.view(batch_size, S, block_size).transpose(0, 1)
    y = y.view(batch_size, S, block_size).transpose(0, 1)
    return x, y


WRITTEN = {
    "03/vocabulary": [CountsTheBoundary],
    "03/split": [drawn_with_replacement],
    "03/batch": [every_padding_is_no_target],
    "03/sequential": [rows_filled_to_whole_steps],
}
