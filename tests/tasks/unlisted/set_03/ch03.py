"""Wrong answers to chapter 03 that no list names: the third set."""

import torch
import torch.nn.functional as F

# 03/vocabulary


class ErrorOfTheTuple:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = (boundary, *sorted(set("".join(names))))

    def encode(self, name):
        return torch.tensor([self.symbols.index(s) for s in self.boundary + name + self.boundary])

    def decode(self, tokens):
        return "".join(self.symbols[token] for token in tokens[1:-1])


# 03/windows


def one_input_too_many_at_an_exact_end(tokens, block_size, stride):
    return tokens.unfold(0, block_size, stride), tokens[1:].unfold(0, block_size, stride)


# 03/split


def drawn_with_replacement(names, fraction, seed):
    distinct = sorted(set(names))
    generator = torch.Generator().manual_seed(seed)
    count = round(fraction * len(distinct))
    drawn = torch.randint(len(distinct), (count,), generator=generator).tolist()
    held_out = {distinct[i] for i in drawn}
    return [n for n in names if n not in held_out], [n for n in names if n in held_out]


# 03/batch


def first_token_in_place_of_padding(tokens, ends, block_size, padding):
    positions = ends[:, None] + torch.arange(1 - block_size, 1)
    x = tokens[positions.clamp(min=0)]
    y = torch.where(positions + 1 < 0, -100, tokens[(positions + 1).clamp(min=0)])
    return x, y


# 03/sequential


def _steps(row, filler, lengths, block_size, steps):
    rows = [F.pad(part, (0, steps * block_size - len(part)), value=filler) for part in row]
    return torch.stack(rows).view(len(lengths), steps, block_size).transpose(0, 1)


def row_length_from_all_tokens(tokens, batch_size, block_size, padding):
    length = -(-len(tokens) // batch_size)
    steps = -(-length // block_size)
    x, y = tokens[:-1].split(length), tokens[1:].split(length)
    x = x + (tokens[:0],) * (batch_size - len(x))
    y = y + (tokens[:0],) * (batch_size - len(y))
    return (
        _steps(x, padding, x, block_size, steps),
        _steps(y, -100, y, block_size, steps),
    )


def rows_as_equal_as_possible(tokens, batch_size, block_size, padding):
    x, y = tokens[:-1].tensor_split(batch_size), tokens[1:].tensor_split(batch_size)
    steps = -(-max(len(row) for row in x) // block_size)
    return (
        _steps(x, padding, x, block_size, steps),
        _steps(y, -100, y, block_size, steps),
    )


# 03/evaluation


def last_window_moved_back_to_the_end(tokens, block_size, stride):
    inputs = len(tokens) - 1
    xs, ys, counted, begin = [], [], 0, 0
    while True:
        begin = max(0, min(begin, inputs - block_size))
        end = min(begin + block_size, inputs)
        x, y = tokens[begin:end].clone(), tokens[begin + 1 : end + 1].clone()
        y[: counted - begin] = -100
        xs.append(F.pad(x, (0, block_size - len(x)), value=0))
        ys.append(F.pad(y, (0, block_size - len(y)), value=-100))
        counted = end
        if end == inputs:
            return torch.stack(xs), torch.stack(ys)
        begin += stride


WRITTEN = {
    "03/vocabulary": [ErrorOfTheTuple],
    "03/windows": [one_input_too_many_at_an_exact_end],
    "03/split": [drawn_with_replacement],
    "03/batch": [first_token_in_place_of_padding],
    "03/sequential": [row_length_from_all_tokens, rows_as_equal_as_possible],
    "03/evaluation": [last_window_moved_back_to_the_end],
}
