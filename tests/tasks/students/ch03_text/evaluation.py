"""Students' answers to 03/evaluation."""

import numpy as np
import torch
import torch.nn.functional as F


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
    "loop and lists": evaluation_loop,
    "padded and unfolded": evaluation_unfold,
    "numpy": evaluation_numpy,
}


def fillers_known_by_their_number(tokens, block_size, stride):
    x, y = (torch.as_tensor(part).clone() for part in evaluation_unfold(tokens, block_size, stride))
    y[y == 0] = -100
    return x, y


def evaluation_hides_the_stride(tokens, block_size, stride):
    x, y = evaluation_all_count(tokens, block_size, stride)
    return x, np.where((np.arange(len(y)) > 0)[:, None] & (np.arange(block_size) < stride), -100, y)


def evaluation_wraps(tokens, block_size, stride):
    """Reads on at the beginning of the text."""
    x, y = evaluation_numpy(tokens, block_size, stride)
    at = np.arange(len(x))[:, None] * stride + np.arange(block_size)
    return np.asarray(tokens)[at % (len(tokens) - 1)], y


# "(M, T)", of a short text too
def evaluation_of_what_is_there(tokens, block_size, stride):
    if len(tokens) <= block_size:
        return tokens[None, :-1], tokens[None, 1:]
    return evaluation_numpy(tokens, block_size, stride)


def _overlapping(tokens, T, stride):
    x, y = [], []
    while not y or (len(y) - 1) * stride + T < len(tokens) - 1:
        start, row, targets = len(y) * stride, [], []
        for at in range(start, start + T):
            inside = at < len(tokens) - 1
            fresh = start == 0 or at >= start + T - stride
            row.append(int(tokens[at]) if inside else 0)
            targets.append(int(tokens[at + 1]) if inside and fresh else -100)
        x.append(row)
        y.append(targets)
    return torch.tensor(x), torch.tensor(y)


def _beyond(tokens, T, stride):
    M = len(_overlapping(tokens, T, stride)[0])
    return torch.arange(M)[:, None] * stride + torch.arange(T) > len(tokens) - 2


def evaluation_filled_in_front(tokens, T, stride):
    x, y = _overlapping(tokens, T, stride)
    missing = int(_beyond(tokens, T, stride)[-1].sum())
    for part in (x, y):
        part[-1] = torch.cat([part[-1][T - missing :], part[-1][: T - missing]])
    return x, y


def evaluation_of_new_symbols(tokens, T, stride):
    x, _ = _overlapping(tokens, T, stride)
    seen, y = set(), []
    for m in range(len(x)):
        inside = tokens[m * stride + 1 :][:T].tolist()
        y.append([-100 if t in seen or t in inside[:i] else t for i, t in enumerate(inside)])
        y[-1] += [-100] * (T - len(inside))
        seen.update(inside)
    return x, y


# "pad the last window with 0 in x and −100 in y"
def last_window_slides_back(tokens, block_size, stride):
    inputs = len(tokens) - 1
    M = 1 + max(0, -(-(inputs - block_size) // stride))
    x = torch.zeros(M, block_size, dtype=torch.long)
    y = torch.full((M, block_size), -100)
    counted = 0
    for m in range(M):
        start = max(0, min(m * stride, inputs - block_size))
        end = min(start + block_size, inputs)
        x[m, : end - start] = tokens[start:end]
        y[m, counted - start : end - start] = tokens[counted + 1 : end + 1]
        counted = end
    return x, y


def targets_inside_the_window(tokens, block_size, stride):
    """Takes targets from the window's own inputs only, so the last column never has a target."""
    inputs = len(tokens) - 1
    M = 1 + max(0, -(-(inputs - block_size) // stride))
    row, column = torch.arange(M)[:, None], torch.arange(block_size)
    positions = row * stride + column
    inside = positions < inputs
    fresh = (row == 0) | (column >= block_size - stride)
    x = torch.where(inside, tokens[positions.clamp(max=inputs - 1)], 0)
    y = torch.full((M, block_size), -100)
    y[:, :-1] = x[:, 1:]
    has_target = inside & fresh
    has_target[:, :-1] &= inside[:, 1:]
    return x, torch.where(has_target, y, -100)


WRONG = {
    "targets-inside-the-window": targets_inside_the_window,
    "results-exchanged": lambda *given: _overlapping(*given)[::-1],
    "padded-on-the-left": evaluation_filled_in_front,
    "counted-by-symbol": evaluation_of_new_symbols,
    "another-stride": lambda tokens, T, stride: _overlapping(tokens, T, max(1, stride - 1)),
    "padding-known-by-its-number": fillers_known_by_their_number,
    "last-window-moved-back": last_window_slides_back,
    "first-window-cut": evaluation_same_mask_for_all,
    "least-past": evaluation_early,
    "last-window-dropped": evaluation_whole_rows,
    "no-overlap": evaluation_of_the_chapter,
    "unshifted-targets": evaluation_same,
    "padding-is-a-target": evaluation_zero_targets,
    "inputs-hidden-too": lambda tokens, T, stride: [
        np.where(evaluation_numpy(tokens, T, stride)[1] == -100, filler, part)
        for part, filler in zip(evaluation_numpy(tokens, T, stride), (0, -100), strict=True)
    ],
    "stride-hidden": evaluation_hides_the_stride,
    "no-window-for-a-short-text": lambda tokens, T, stride: [
        part[: len(tokens) // (T + 1) * len(part)] for part in evaluation_numpy(tokens, T, stride)
    ],
    "window-as-short-as-the-text": evaluation_of_what_is_there,
    "too-many-windows": lambda tokens, T, stride: [
        np.concatenate([part, np.full((1, T), filler)])
        for part, filler in zip(evaluation_numpy(tokens, T, stride), (0, -100), strict=True)
    ],
    "not-filled-with-zeros": evaluation_wraps,
}


def evaluation_of_three_tokens_at_least(tokens, block_size, stride):
    return evaluation_numpy(tokens, max(block_size, 3), stride)


ODD = [
    (evaluation_one_more, "not-the-next-token"),
    (lambda *given: [part.astype(float) for part in evaluation_numpy(*given)], "kind-of-number"),
    (evaluation_of_three_tokens_at_least, "shape"),
]


# --- Answers that no list names ---


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


def masked_after_the_padding(tokens, block_size, stride):
    """Masks all but the last k columns after padding, but in the last window these are padding."""
    inputs = len(tokens) - 1
    rows_x, rows_y, counted = [], [], 0
    for start in range(0, inputs, stride):
        end = min(start + block_size, inputs)
        missing = block_size - (end - start)
        x = F.pad(tokens[start:end], (0, missing), value=0)
        y = F.pad(tokens[start + 1 : end + 1], (0, missing), value=-100)
        if start > 0:
            y[: -(end - counted)] = -100
        rows_x.append(x)
        rows_y.append(y)
        counted = end
        if end == inputs:
            break
    return torch.stack(rows_x), torch.stack(rows_y)


def last_strides_worth_of_short_window(tokens, block_size, stride):
    """Counts the last `stride` targets of the short last window, of which some are not new."""
    inputs = len(tokens) - 1
    M = 1 + max(0, -(-(inputs - block_size) // stride))
    x = torch.zeros(M, block_size, dtype=torch.long)
    y = torch.full((M, block_size), -100)
    for m in range(M):
        start = m * stride
        n = min(block_size, inputs - start)
        new = 0 if m == 0 else max(0, n - stride)
        x[m, :n] = tokens[start : start + n]
        y[m, new:n] = tokens[start + new + 1 : start + n + 1]
    return x, y


UNLISTED = {
    7: [(loop_without_its_break, "too-many-windows")],
    13: [(masked_after_the_padding, "not-counted-once")],
    15: [(last_strides_worth_of_short_window, "not-counted-once")],
}
