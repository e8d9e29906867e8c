"""Students' answers to 03/windows."""

import numpy as np
import torch


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


def windows_ragged(tokens, block_size, stride):
    at = torch.arange(0, len(tokens) - block_size + 1, stride)[:, None] + torch.arange(block_size)
    return tokens[at], tokens[at + 1]  # an IndexError, where slices give a RuntimeError


def windows_last_target_only(tokens, block_size, stride):
    x, y = windows_gather(tokens, block_size, stride)
    return x, [row[-1] for row in y.tolist()]


def windows_two_further(tokens, block_size, stride):
    starts = torch.arange(0, len(tokens) - block_size, stride)
    at = starts[:, None] + torch.arange(block_size)
    return tokens[at], tokens[(at + 2).clamp(max=len(tokens) - 1)]


def windows_end_to_end_at_most(tokens, block_size, stride):
    return windows_loop(tokens, block_size, block_size if stride > block_size else stride)


RIGHT = {
    "loop and lists": windows_loop,
    "lists of slices": windows_slices,
    "gather": windows_gather,
    "numpy view": windows_numpy,
    "two unfolds": windows_two_unfolds,
}


def windows_turned_in_themselves(tokens, T, stride):
    starts = range(0, len(tokens) - T, stride)
    x = torch.stack([tokens[start : start + T] for start in starts])
    return x, torch.cat([x[:, 1:], x[:, :1]], dim=1)


def _windows_from(tokens, T, stride):
    starts = range(0, len(tokens) - T, stride)
    x = torch.stack([tokens[start : start + T] for start in starts])
    return x, torch.stack([tokens[start + 1 : start + 1 + T] for start in starts])


def windows_of_strides(tokens, T, stride):
    """Takes every `stride`-th token of the text into a row."""
    starts = range(len(tokens) - T * stride)
    x = [tokens[start::stride][:T].tolist() for start in starts]
    return x, [tokens[start + 1 :: stride][:T].tolist() for start in starts]


WRONG = {
    "stride-within-a-window": windows_of_strides,
    "one-input-too-many": lambda tokens, T, stride: (
        tokens.unfold(0, T + 1, stride),
        windows_gather(tokens, T, stride)[1],
    ),
    "targets-inside-the-window": lambda tokens, T, stride: (
        windows_gather(tokens, T, stride)[0],
        windows_gather(tokens, T, stride)[0].reshape(-1).roll(-1).reshape(-1, T),
    ),
    "rolled-in-itself": windows_turned_in_themselves,
    "arguments-exchanged": lambda tokens, T, stride: _windows_from(tokens, stride, T),
    "another-stride": lambda tokens, T, stride: _windows_from(tokens, T, stride + 2),
    "unshifted-targets": windows_unshifted,
    "shifted-backwards": windows_backwards,
    "next-row-as-target": windows_next_row,
    "one-target-a-window": windows_last_target_only,
    "reads-past-the-end": windows_ragged,
    "two-ahead": lambda tokens, T, stride: (
        tokens[:-2].unfold(0, T, stride),
        tokens[2:].unfold(0, T, stride),
    ),
    "one-input-too-few": lambda tokens, T, stride: windows_gather(tokens, T - 1, stride),
    "another-number-of-windows": lambda tokens, T, stride: windows_gather(
        torch.cat([tokens, tokens[:stride]]), T, stride
    ),
}


def windows_of_decimals(tokens, block_size, stride):
    return tuple(part.float() for part in windows_gather(tokens, block_size, stride))


def windows_end_to_end_lose_one(tokens, block_size, stride):
    """Where windows stand end to end, the last one has no target, it is thought."""
    x, y = windows_gather(tokens, block_size, stride)
    return (x[:-1], y[:-1]) if stride == block_size else (x, y)


ODD = [
    (windows_end_to_end_at_most, "another-stride"),
    (lambda tokens, T, stride: windows_gather(tokens[stride:], T, stride), "another-stride"),
    (windows_two_further, "two-ahead"),
    (windows_of_decimals, "kind-of-number"),
    (lambda *given: [part.squeeze(1) for part in windows_gather(*given)], "axis-of-one"),
    (windows_end_to_end_lose_one, "another-number-of-windows"),
    (lambda tokens, block_size, stride: tokens.unfold(0, block_size, stride), "type"),
]


# --- Answers that no list names ---


def windows_backwards_of_set_1(tokens, block_size, stride):
    rows = tokens.unfold(0, block_size + 1, stride).flip(0)
    return rows[:, :-1], rows[:, 1:]


# "x (M, T) int, y (M, T) int: windows `stride` apart, and their targets": the target of the last
# input is taken from the next window
def last_target_from_the_next_window(tokens, block_size, stride):
    x = tokens[:-1].unfold(0, block_size, stride)
    following = torch.cat([x[1:, 0], tokens[len(tokens) - 1 :]])
    return x, torch.cat([x[:, 1:], following[:, None]], dim=1)


def last_window_added(tokens, block_size, stride):
    """Adds a window that ends with the text, so that no token is left out at the end."""
    starts = list(range(0, len(tokens) - block_size, stride))
    if starts and starts[-1] != len(tokens) - block_size - 1:
        starts.append(len(tokens) - block_size - 1)
    positions = torch.tensor(starts, dtype=torch.long)[:, None] + torch.arange(block_size)
    return tokens[positions], tokens[positions + 1]


UNLISTED = {
    1: [
        (windows_backwards_of_set_1, "another-stride"),
    ],
    6: [(last_target_from_the_next_window, "targets-inside-the-window")],
    13: [(last_window_added, "another-stride")],
}
