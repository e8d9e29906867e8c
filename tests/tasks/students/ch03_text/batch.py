"""Students' answers to 03/batch."""

import numpy as np
import torch
import torch.nn.functional as F


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
    x = np.where(at >= 0, tokens.numpy()[np.maximum(at, 0)], padding)
    y = np.where(at + 1 >= 0, tokens.numpy()[np.maximum(at + 1, 0)], -100)
    return x.astype(np.int32), y.astype(np.int16)


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


def batch_in_the_order_of_the_text(tokens, ends, block_size, padding):
    return batch_numpy(tokens, ends.sort().values, block_size, padding)


RIGHT = {
    "padded in front": batch_by_padding,
    "loop and lists": batch_loop,
    "numpy": batch_numpy,
}


def batch_from_position_1(tokens, ends, block_size, padding):
    x, y = batch_numpy(tokens, ends, block_size, padding)
    at = ends.numpy()[:, None] - np.arange(block_size)[::-1]
    return np.where(at > 0, x, padding), y


def _batch_in_a_loop(tokens, ends, T, padding):
    x, y = torch.full((len(ends), T), padding), torch.full((len(ends), T), -100)
    for b, end in enumerate(ends.tolist()):
        for column in range(T):
            at = end + 1 - T + column
            if at >= 0:
                x[b, column] = tokens[at]
            if at >= -1 and at + 1 < len(tokens):
                y[b, column] = tokens[at + 1]
    return x, y


def batch_one_target(tokens, ends, T, padding):
    x, _ = _batch_in_a_loop(tokens, ends, T, padding)
    return x, tokens[ends + 1]


def batch_each_end_once(tokens, ends, block_size, padding):
    return batch_numpy(
        tokens, torch.tensor(list(dict.fromkeys(ends.tolist()))), block_size, padding
    )


def slices_with_negative_start(tokens, ends, block_size, padding):
    """Slices tokens[end − T + 1 : end + 1]; a negative start counts from the end of the text."""
    x = torch.full((len(ends), block_size), padding)
    y = torch.full((len(ends), block_size), -100)
    for b, end in enumerate(ends.tolist()):
        inputs = tokens[end - block_size + 1 : end + 1]
        targets = tokens[end - block_size + 2 : end + 2]
        x[b, block_size - len(inputs) :] = inputs
        y[b, block_size - len(targets) :] = targets
    return x, y


# "a target that would itself lie before the text is −100": not one that looks like padding
def padding_known_by_its_value(tokens, ends, block_size, padding):
    positions = ends[:, None] + torch.arange(1 - block_size, 2)
    rows = torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])
    x, y = rows[:, :-1], rows[:, 1:].clone()
    y[y == padding] = -100
    return x, y


def batch_last_target_only(tokens, ends, block_size, padding):
    p = ends[:, None] + torch.arange(1 - block_size, 1)
    x = torch.where(p < 0, padding, tokens[p.clamp(min=0)])
    y = torch.full_like(x, -100)
    y[:, -1] = tokens[ends + 1]
    return x, y


WRONG = {
    "last-target-only": batch_last_target_only,
    "ends-too-late": lambda tokens, ends, T, padding: _batch_in_a_loop(
        tokens, ends + 1, T, padding
    ),
    "one-target-a-row": batch_one_target,
    "results-exchanged": lambda *given: _batch_in_a_loop(*given)[::-1],
    "ends-in-order": batch_in_the_order_of_the_text,
    "short-rows-empty": slices_with_negative_start,
    "rolled-in-itself": lambda *given: (
        batch_by_padding(*given)[0],
        batch_by_padding(*given)[0].roll(-1, 1),
    ),
    "two-ahead": lambda tokens, ends, T, padding: (
        batch_by_padding(tokens, ends, T, padding)[0],
        batch_by_padding(torch.cat([tokens[1:], tokens[-1:]]), ends, T, padding)[1],
    ),
    "equal-ends-once": batch_each_end_once,
    "padding-known-by-its-number": padding_known_by_its_value,
    "wraps-to-the-end": batch_negative,
    "repeats-the-first-token": batch_clamped,
    "end-excluded": batch_python_end,
    "newest-first": batch_backwards,
    "padded-on-the-right": batch_left_aligned,
    "unshifted-targets": batch_same,
    "first-token-never-learned": batch_masks_with_inputs,
    "padding-is-a-target": batch_counts_padding,
    "targets-before-the-text": batch_clamps_targets,
    "first-token-padded": batch_from_position_1,
    "begins-at-the-end": lambda tokens, ends, T, padding: [
        F.pad(one, (0, T), value=padding).unfold(0, T, 1)[ends] for one in (tokens, tokens[1:])
    ],
    "padding-ignored": lambda tokens, ends, T, padding: batch_numpy(tokens, ends, T, 0),
    "moved-into-the-text": lambda tokens, ends, T, padding: batch_numpy(
        torch.cat([tokens, tokens[-1:].expand(T)]), ends.clamp(min=T - 1), T, padding
    ),
    "cut-to-the-text": lambda tokens, ends, T, padding: batch_numpy(
        tokens, ends, min(T, len(tokens)), padding
    ),
}


def batch_of_one_token_has_no_target(tokens, ends, block_size, padding):
    x, y = batch_numpy(tokens, ends, block_size, padding)
    return x, np.where(block_size == 1, -100, y)


def batch_one_padding_hides_a_target(tokens, ends, block_size, padding):
    x, y = batch_numpy(tokens, ends, block_size, padding)
    y[ends.numpy() == block_size - 2, 0] = -100
    return x, y


ODD = [
    (batch_two_further, "other-targets"),
    (lambda *given: [part.astype(float) for part in batch_numpy(*given)], "kind-of-number"),
    (lambda *given: [part.squeeze() for part in batch_numpy(*given)], "axis-of-one"),
    (batch_of_one_token_has_no_target, "all-alike"),
    (batch_one_padding_hides_a_target, "targets-missing"),
    (lambda tokens, ends, block_size, padding: tokens[ends + 99], "error"),
]


# --- Answers that no list names ---


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


def first_token_in_place_of_padding(tokens, ends, block_size, padding):
    positions = ends[:, None] + torch.arange(1 - block_size, 1)
    x = tokens[positions.clamp(min=0)]
    y = torch.where(positions + 1 < 0, -100, tokens[(positions + 1).clamp(min=0)])
    return x, y


# "Unless a task says otherwise, your functions leave what they are given as it was."
def ends_moved_in_place(tokens, ends, block_size, padding):
    ends -= block_size - 1
    positions = ends[:, None] + torch.arange(block_size)
    x = torch.where(positions < 0, padding, tokens[positions.clamp(min=0)])
    y = torch.where(positions < -1, -100, tokens[(positions + 1).clamp(min=0)])
    return x, y


def ends_as_lengths(tokens, ends, block_size, padding):
    """Pads T − ends[b] columns instead of T − 1 − ends[b]; the first token of the text is lost."""
    column = torch.arange(block_size)
    positions = ends[:, None] + column - block_size + 1
    missing = block_size - ends[:, None]  # (B, 1)
    x = torch.where(column < missing, padding, tokens[positions.clamp(min=0)])
    y = torch.where(column < missing - 1, -100, tokens[(positions + 1).clamp(min=0)])
    return x, y


UNLISTED = {
    1: [
        (batch_of_one_end, "argument-ignored"),
    ],
    3: [(first_token_in_place_of_padding, "repeats-the-first-token")],
    5: [(ends_moved_in_place, "changes-its-input")],
    13: [(ends_as_lengths, "first-token-padded")],
}
