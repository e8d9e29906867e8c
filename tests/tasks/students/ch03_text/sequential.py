"""Students' answers to 03/sequential."""

import numpy as np
import torch
import torch.nn.functional as F


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
    y[-1, 0, 0] = -100
    return x, y


RIGHT = {
    "divmod": sequential_loop,
    "split and stack": sequential_chunks,
    "gather": sequential_gather,
}


def fillers_known_by_their_number(tokens, batch_size, block_size, padding):
    x, y = (
        torch.as_tensor(part).clone()
        for part in sequential_gather(tokens, batch_size, block_size, padding)
    )
    y[(x == padding) | (y == padding)] = -100
    return x, y


def sequential_rows_that_are_there(tokens, batch_size, block_size, padding):
    """`chunk` makes fewer rows where nothing is left for the last ones."""
    rows = len(tokens[:-1].chunk(batch_size))
    x, y = sequential_gather(tokens, batch_size, block_size, padding)
    return x[:, :rows], y[:, :rows]


def sequential_filled_in_front(tokens, batch_size, block_size, padding):
    L = -(-(len(tokens) - 1) // batch_size)
    S = -(-L // block_size)
    x = np.full((batch_size, S * block_size), padding)
    y = np.full((batch_size, S * block_size), -100)
    for b in range(batch_size):
        mine = tokens[:-1][b * L : (b + 1) * L].numpy()
        begin = S * block_size - L
        x[b, begin : begin + len(mine)] = mine
        y[b, begin : begin + len(mine)] = tokens[1:][b * L : (b + 1) * L].numpy()
    return [one.reshape(batch_size, S, block_size).swapaxes(0, 1) for one in (x, y)]


def sequential_runs_on(tokens, batch_size, block_size, padding):
    L = -(-(len(tokens) - 1) // batch_size)
    S = -(-L // block_size)
    x = np.full((S, batch_size, block_size), padding)
    y = np.full((S, batch_size, block_size), -100)
    for n in range(S):
        for b in range(batch_size):
            mine = tokens[b * L + n * block_size :][: block_size + 1].tolist()
            x[n, b, : max(0, len(mine) - 1)] = mine[:-1]
            y[n, b, : max(0, len(mine) - 1)] = mine[1:]
    return x, y


def _rows_in_a_loop(tokens, B, T, padding):
    L = -(-(len(tokens) - 1) // B)
    S = -(-L // T)
    x, y = torch.full((S, B, T), padding), torch.full((S, B, T), -100)
    for b in range(B):
        for i in range(L):
            at = b * L + i
            if at + 1 < len(tokens):
                x[i // T, b, i % T] = tokens[at]
                y[i // T, b, i % T] = tokens[at + 1]
    return x, y


def rows_of_all_tokens(tokens, B, T, padding):
    """The text is laid out whole; its last token has nothing to predict."""
    x, y = _rows_in_a_loop(tokens, B, T, padding)
    free = (x[:, -1] == padding).nonzero()
    if len(free):
        step, place = free[0].tolist()
        x[step, -1, place] = tokens[-1]
    return x, y


def rows_of_steps(tokens, B, T, padding):
    """Numbers T before S, so that neighbors are S tokens apart."""
    x, y = (part.transpose(0, 1) for part in _rows_in_a_loop(tokens, B, T, padding))
    return [part.reshape(B, T, -1).movedim(2, 0) for part in (x, y)]


def steps_that_are_full(tokens, B, T, padding):
    x, y = _rows_in_a_loop(tokens, B, T, padding)
    full = [n for n in range(len(x)) if padding not in x[n].tolist()[-1]]
    return x[full], y[full]


def _steps(row, filler, lengths, block_size, steps):
    rows = [F.pad(part, (0, steps * block_size - len(part)), value=filler) for part in row]
    return torch.stack(rows).view(len(lengths), steps, block_size).transpose(0, 1)


def rows_as_equal_as_possible(tokens, batch_size, block_size, padding):
    x, y = tokens[:-1].tensor_split(batch_size), tokens[1:].tensor_split(batch_size)
    steps = -(-max(len(row) for row in x) // block_size)
    return (
        _steps(x, padding, x, block_size, steps),
        _steps(y, -100, y, block_size, steps),
    )


# "S = ⌈L / T⌉ steps": one more where the division leaves nothing
def one_step_more_than_full(tokens, batch_size, block_size, padding):
    L = -(-(len(tokens) - 1) // batch_size)
    steps = L // block_size + 1

    def lay_out(line, filler):
        rows = F.pad(line, (0, batch_size * L - len(line)), value=filler).view(batch_size, L)
        rows = F.pad(rows, (0, steps * block_size - L), value=filler)
        return rows.view(batch_size, steps, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


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


def sequential_without_the_last_target(tokens, batch_size, block_size, padding):
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)

    def lay(row, filler):
        row = F.pad(row, (0, batch_size * length - len(row)), value=filler).view(batch_size, -1)
        row = F.pad(row, (0, steps * block_size - length), value=filler)
        return row.view(batch_size, steps, block_size).transpose(0, 1)

    y = tokens[1:].clone()
    y[-1] = -100
    return lay(tokens[:-1], padding), lay(y, -100)


WRONG = {
    "last-target-missing": sequential_without_the_last_target,
    "last-axis-over-steps": rows_of_steps,
    "padded-steps-dropped": steps_that_are_full,
    "results-exchanged": lambda *given: _rows_in_a_loop(*given)[::-1],
    "sizes-exchanged": lambda tokens, B, T, padding: _rows_in_a_loop(tokens, T, B, padding),
    "last-token-is-an-input": rows_of_all_tokens,
    "empty-rows-missing": sequential_rows_that_are_there,
    "padding-known-by-its-number": fillers_known_by_their_number,
    "rows-do-not-continue": sequential_by_step,
    "view-without-transpose": sequential_reshaped,
    "filled-at-the-end-only": sequential_long_rows,
    "rows-before-steps": sequential_transposed,
    "unshifted-targets": sequential_same,
    "padding-is-a-target": sequential_counts_padding,
    "targets-stop-at-the-row": sequential_row_shift,
    "targets-stop-at-the-window": sequential_window_shift,
    "rows-as-equal-as-possible": rows_as_equal_as_possible,
    "filled-on-the-left": sequential_filled_in_front,
    "runs-into-the-next-row": sequential_runs_on,
    "padding-ignored": lambda tokens, B, T, padding: sequential_gather(tokens, B, T, 0),
    "one-step-more": one_step_more_than_full,
    "rows-of-another-length": row_length_from_all_tokens,
}


ODD = [
    (sequential_two_further, "not-the-next-token"),
    (sequential_one_target_less, "not-counted-once"),
    (lambda *given: [part.float() for part in sequential_gather(*given)], "kind-of-number"),
    (lambda *given: [part.squeeze(1) for part in sequential_gather(*given)], "axis-of-one"),
]


# --- Answers that no list names ---


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


def row_ends_padded_with_zeros(tokens, batch_size, block_size, padding):
    """Pads each row to whole steps with the default of F.pad, 0, in the inputs and the targets."""
    length = -(-(len(tokens) - 1) // batch_size)
    steps = -(-length // block_size)

    def lay_out(row, filler):
        rows = F.pad(row, (0, batch_size * length - len(row)), value=filler)
        rows = F.pad(rows.view(batch_size, length), (0, steps * block_size - length))
        return rows.view(batch_size, steps, block_size).transpose(0, 1)

    return lay_out(tokens[:-1], padding), lay_out(tokens[1:], -100)


UNLISTED = {
    7: [(rows_rounded_down, "rows-of-another-length")],
    13: [(row_ends_padded_with_zeros, "padding-is-a-target")],
}
