"""Wrong answers to chapter 03 that no list names: the seventh set, as students hand them in.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import random

import torch
import torch.nn.functional as F

# 03/vocabulary


# Comes from Java and wants a set that keeps its order.
# "The letters follow as tokens 1, 2, …, in sorted order."
class LettersInTheirFirstOrder:
    def __init__(self, names, boundary):
        self.boundary = boundary
        letters = list(dict.fromkeys("".join(names)))
        self.symbols = [boundary, *letters]
        self.index = {s: i for i, s in enumerate(self.symbols)}

    def encode(self, name):
        for i, letter in enumerate(name):
            if letter not in self.index:
                raise ValueError(f"unknown symbol {letter} at position {i}")
        text = self.boundary + name + self.boundary
        return torch.tensor([self.index[s] for s in text])

    def decode(self, tokens):
        return "".join(self.symbols[int(i)] for i in tokens[1:-1])


# Counts along the text with its boundaries. "its position in the name, counted from 0"
class PositionsWithBoundaries:
    def __init__(self, names, boundary):
        self.boundary = boundary
        self.symbols = [boundary, *sorted(set("".join(names)))]
        self.stoi = {s: i for i, s in enumerate(self.symbols)}

    def encode(self, name):
        tokens = []
        for i, s in enumerate(self.boundary + name + self.boundary):
            try:
                tokens.append(self.stoi[s])
            except KeyError:
                raise ValueError(f"symbol '{s}' at position {i} is not known") from None
        return torch.tensor(tokens)

    def decode(self, tokens):
        return "".join(self.symbols[i] for i in tokens.tolist() if i != 0)


# 03/windows


# Copied `len(data) - block_size - 1` from a well-known script.
# "as long as the window *and the target of its last input* lie inside the text"
def bound_of_a_script(tokens, block_size, stride):
    starts = range(0, len(tokens) - block_size - 1, stride)
    x = torch.stack([tokens[i : i + block_size] for i in starts])
    y = torch.stack([tokens[i + 1 : i + block_size + 1] for i in starts])
    return x, y


# 03/split


# Works with sets to the end. "Split it in two and keep every entry."
def every_name_once(names, fraction, seed):
    distinct = sorted(set(names))
    generator = random.Random(seed)
    generator.shuffle(distinct)
    n = round(fraction * len(distinct))
    return sorted(distinct[n:]), sorted(distinct[:n])


# Takes the length of the wrong list. "Validation gets `fraction` of the *distinct* names"
def fraction_of_the_entries(names, fraction, seed):
    distinct = sorted(set(names))
    g = torch.Generator()
    g.manual_seed(seed)
    perm = torch.randperm(len(distinct), generator=g)
    n_val = round(len(names) * fraction)
    chosen = {distinct[i] for i in perm[:n_val]}
    train = [n for n in names if n not in chosen]
    val = [n for n in names if n in chosen]
    return train, val


# 03/batch


# Thinks of Python's slices, which end before their end.
# "the T tokens up to and **including** position `ends[b]`"
def slices_before_the_end(tokens, ends, block_size, padding):
    pos = ends.unsqueeze(1) + torch.arange(-block_size, 0)
    x = torch.where(pos >= 0, tokens[pos.clamp(min=0)], padding)
    nxt = pos + 1
    y = torch.where(nxt >= 0, tokens[nxt.clamp(min=0)], -100)
    return x, y


# Reasons that padding predicts nothing.
# "The first token of the text is a target like any other, because it follows the last padding."
def no_target_after_padding(tokens, ends, block_size, padding):
    pos = ends[:, None] + torch.arange(block_size) - block_size + 1
    before = pos < 0
    pos = pos.clamp(min=0)
    x = tokens[pos].masked_fill(before, padding)
    y = tokens[pos + 1].masked_fill(before, -100)
    return x, y


# 03/sequential


# Cuts the rows with the chapter's `//`. "L = ⌈(N − 1) / B⌉ of them (rounded up)"
def rows_rounded_down(tokens, batch_size, block_size, padding):
    length = (len(tokens) - 1) // batch_size
    x = tokens[: batch_size * length].view(batch_size, length)
    y = tokens[1 : batch_size * length + 1].view(batch_size, length)
    missing = -length % block_size
    x = F.pad(x, (0, missing), value=padding)
    y = F.pad(y, (0, missing), value=-100)
    x = x.view(batch_size, -1, block_size).transpose(0, 1)
    y = y.view(batch_size, -1, block_size).transpose(0, 1)
    return x, y


# Read off the shape that is asked for and viewed it so.
# "so that row b of step n + 1 continues row b of step n"
def viewed_in_the_final_shape(tokens, batch_size, block_size, padding):
    n = len(tokens) - 1
    length = (n + batch_size - 1) // batch_size
    steps = (length + block_size - 1) // block_size
    total = steps * batch_size * block_size
    x = F.pad(tokens[:-1], (0, total - n), value=padding)
    y = F.pad(tokens[1:], (0, total - n), value=-100)
    shape = (steps, batch_size, block_size)
    return x.view(shape), y.view(shape)


# 03/evaluation


# Was satisfied with the example, where T − stride is stride.
# "each must count once, **in the first window that contains it**"
def fresh_from_the_stride_on(tokens, block_size, stride):
    n = len(tokens) - 1
    M = 1
    while (M - 1) * stride + block_size < n:
        M += 1
    x = torch.zeros(M, block_size, dtype=tokens.dtype)
    y = torch.full((M, block_size), -100)
    for m in range(M):
        piece = tokens[m * stride : m * stride + block_size + 1]
        k = len(piece) - 1
        x[m, :k] = piece[:-1]
        y[m, :k] = piece[1:]
        if m > 0:
            y[m, :stride] = -100
    return x, y


# Adapted the loop of a library's page on perplexity and lost its `break`.
# "Make as many windows as it takes for every target to count, and no more."
def loop_without_its_break(tokens, block_size, stride):
    n = len(tokens) - 1
    xs, ys = [], []
    prev_end = 0
    for begin in range(0, n, stride):
        end = min(begin + block_size, n)
        trg_len = end - prev_end
        x = tokens[begin:end].clone()
        y = tokens[begin + 1 : end + 1].clone()
        y[:-trg_len] = -100
        pad = block_size - len(x)
        xs.append(F.pad(x, (0, pad), value=0))
        ys.append(F.pad(y, (0, pad), value=-100))
        prev_end = end
    return torch.stack(xs), torch.stack(ys)


WRITTEN = {
    "03/vocabulary": [LettersInTheirFirstOrder, PositionsWithBoundaries],
    "03/windows": [bound_of_a_script],
    "03/split": [every_name_once, fraction_of_the_entries],
    "03/batch": [slices_before_the_end, no_target_after_padding],
    "03/sequential": [rows_rounded_down, viewed_in_the_final_shape],
    "03/evaluation": [fresh_from_the_stride_on, loop_without_its_break],
}
