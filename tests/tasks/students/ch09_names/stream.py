"""Students' answers to 09/stream."""

import itertools

import numpy as np
import torch


def stream_loop(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row.extend(names[i])
            row.append(0)
        rows.append(row)
    steps = (min(map(len, rows)) - 1) // block_size
    x = [[row[n * block_size : (n + 1) * block_size] for row in rows] for n in range(steps)]
    y = [[row[n * block_size + 1 : (n + 1) * block_size + 1] for row in rows] for n in range(steps)]
    return x, y


def stream_numpy(names, order, batch_size, block_size):
    dealt = np.array(order).reshape(batch_size, -1)
    rows = [np.concatenate([[0, *names[i]] for i in group] + [[0]]) for group in dealt]
    steps = (min(len(row) for row in rows) - 1) // block_size
    cut = np.stack([row[: steps * block_size + 1] for row in rows])
    shape = (batch_size, steps, block_size)
    return tuple(part.reshape(shape).swapaxes(0, 1) for part in (cut[:, :-1], cut[:, 1:]))


def stream_unfolded(names, order, batch_size, block_size):
    groups = torch.tensor(order).view(batch_size, -1).tolist()
    rows = []
    for group in groups:
        text = [*itertools.chain.from_iterable([0, *names[i]] for i in group), 0]
        rows.append(torch.tensor(text).unfold(0, block_size + 1, block_size))
    shortest = min(map(len, rows))
    both = torch.stack([row[:shortest] for row in rows], dim=1)
    return both[:, :, :-1], both[:, :, 1:]


def stream_unshuffled(names, order, batch_size, block_size):
    return stream_loop(names, list(range(len(order))), batch_size, block_size)


def _one_row(names, order):
    return torch.tensor([0, *(t for i in order for t in [*names[i], 0])])


def stream_stretches(names, order, batch_size, block_size):
    tokens = _one_row(names, order)
    windows = tokens.unfold(0, block_size + 1, 1)
    steps = (len(tokens) - 1) // (batch_size * block_size)
    starts = torch.arange(batch_size) * steps * block_size
    both = torch.stack([windows[starts + n * block_size] for n in range(steps)])
    return both[..., :-1], both[..., 1:]


def stream_as_cards(names, order, batch_size, block_size):
    dealt = np.array(order).reshape(-1, batch_size).T.ravel().tolist()
    return stream_loop(names, dealt, batch_size, block_size)


def stream_copies(names, order, batch_size, block_size):
    x, _ = stream_loop(names, order, batch_size, block_size)
    return x, x


def stream_glued(names, order, batch_size, block_size):
    rows = []
    for group in np.array_split(order, batch_size):
        row = [0]
        for i in group:
            row += names[i]
        rows.append(row)
    steps = (min(map(len, rows)) - 1) // block_size
    end = steps * block_size
    x = np.stack([np.reshape(row[:end], (steps, block_size)) for row in rows], 1)
    y = np.stack([np.reshape(row[1 : end + 1], (steps, block_size)) for row in rows], 1)
    return x, y


def stream_two_further(names, order, batch_size, block_size):
    x, y = stream_numpy(names, order, batch_size, block_size)
    return x, y + 1


RIGHT = {"loops": stream_loop, "numpy": stream_numpy, "unfold": stream_unfolded}


def stream_without_the_last_boundary(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = [_one_row(names, order[b * each : (b + 1) * each])[:-1] for b in range(batch_size)]
    steps = min((len(row) - 1) // block_size for row in rows)
    both = torch.stack([row.unfold(0, block_size + 1, block_size)[:steps] for row in rows], dim=1)
    return both[:, :, :-1], both[:, :, 1:]


def windows_of(rows, T, first=lambda row, used: row, apart=0):
    """Windows of T + 1 tokens from rows that `first` cuts to the same length."""
    used = min(map(len, rows))
    used = (used - 1) // T * T + 1
    same = torch.stack([first(row, used) for row in rows], dim=1)
    windows = same.unfold(0, T + 1, T + apart)
    return windows[..., :-1], windows[..., 1:]


def rows_of_names(names, order, batch_size):
    each = len(names) // batch_size
    return [_one_row(names, order[b * each : (b + 1) * each]) for b in range(batch_size)]


def stream_from_the_first_letter(names, order, batch_size, block_size):
    rows = [row[1:] for row in rows_of_names(names, order, batch_size)]
    return windows_of(rows, block_size, lambda row, used: row[:used])


def stream_from_the_end(names, order, batch_size, block_size):
    rows = rows_of_names(names, order, batch_size)
    return windows_of(rows, block_size, lambda row, used: row[len(row) - used :])


def stream_apart(names, order, batch_size, block_size):
    rows = rows_of_names(names, order, batch_size)
    shortest = min(map(len, rows))
    return windows_of(rows, block_size, lambda row, _: row[:shortest], apart=1)


def stream_padded(names, order, batch_size, block_size):
    rows = torch.nn.utils.rnn.pad_sequence(rows_of_names(names, order, batch_size), True)
    return windows_of(list(rows), block_size, lambda row, used: row[:used])


def stream_as_long_as_its_letters(names, order, batch_size, block_size, beyond=0):
    spelled = np.array([len(names[i]) for i in order]).reshape(batch_size, -1)
    steps = (spelled.sum(axis=1).min() - beyond) // block_size
    x, y = stream_unfolded(names, order, batch_size, block_size)
    return x[:steps], y[:steps]


def stream_rounded_up(names, order, batch_size, block_size):
    rows = rows_of_names(names, order, batch_size)
    steps = (min(map(len, rows)) + block_size - 2) // block_size
    both = [row[: steps * block_size + 1] for row in rows]
    x = torch.stack([row[:-1].reshape(steps, block_size) for row in both], dim=1)
    return x, torch.stack([row[1:].reshape(steps, block_size) for row in both], dim=1)


def in_steps(rows, block_size):
    T = block_size
    rows = [torch.tensor(row) for row in rows]
    steps = min(len(row) - 1 for row in rows) // T
    x = torch.stack([row[: steps * T].view(steps, T) for row in rows], dim=1)
    y = torch.stack([row[1 : steps * T + 1].view(steps, T) for row in rows], dim=1)
    return x, y


# "a row is the boundary, its first name, the boundary, its second name, and so on"
def two_boundaries_between_names(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = [
        [token for i in order[b * each : (b + 1) * each] for token in (0, *names[i], 0)]
        for b in range(batch_size)
    ]
    return in_steps(rows, block_size)


WRONG = {
    "more-windows-than-tokens": stream_rounded_up,
    "boundaries-not-counted": stream_as_long_as_its_letters,
    "first-boundary-missing": stream_from_the_first_letter,
    "a-token-between": stream_apart,
    "more-than-the-shortest": stream_padded,
    "last-window-missing": stream_without_the_last_boundary,
    "two-boundaries": two_boundaries_between_names,
    "order-ignored": stream_unshuffled,
    "cut-anywhere": stream_stretches,
    "dealt-like-cards": stream_as_cards,
    "boundaries-missing": stream_glued,
}


def stream_of_floats(*given):
    return tuple(part.float() for part in stream_unfolded(*given))


def stream_squeezed(*given):
    return tuple(part.squeeze() for part in stream_unfolded(*given))


def stream_of_sorted_shares(names, order, batch_size, block_size):
    each = len(names) // batch_size
    shares = [sorted(order[b * each : (b + 1) * each]) for b in range(batch_size)]
    return stream_loop(names, [i for share in shares for i in share], batch_size, block_size)


def stream_column_by_column(names, order, batch_size, block_size):
    """Fills (T, S) and transposes, so neighbors in a window are S tokens apart."""
    x, y = (part.transpose(0, 1) for part in stream_unfolded(names, order, batch_size, block_size))
    return tuple(part.reshape(batch_size, block_size, -1).permute(2, 0, 1) for part in (x, y))


def stream_goes_round(*given):
    """The very last target of a row is its first token."""
    x, y = stream_unfolded(*given)
    y = y.clone()
    y[-1, :, -1] = x[0, :, 0]
    return x, y


ODD = [
    (stream_of_sorted_shares, "other-names-read"),
    (stream_from_the_end, "other-names-read"),
    (stream_column_by_column, "windows-with-gaps"),
    (
        stream_copies,
        "used-your-inputs-instead-of-your-targets-in-your-windows-of-targets",
    ),
    (stream_goes_round, "last-targets"),
    (stream_two_further, "added-1-to-your-targets"),
    (stream_of_floats, "kind-of-number"),
    (stream_squeezed, "axis-of-one"),
]


# --- Answers that no list names ---


def _rows(names, order, B, ends=True):
    each = len(names) // B
    rows = []
    for b in range(B):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row += [*names[i], 0]
        rows.append(torch.tensor(row))
    return rows


def _cut(rows, T, steps):
    x = torch.stack([row[: steps * T].view(steps, T) for row in rows], 1)
    return x, torch.stack([row[1 : steps * T + 1].view(steps, T) for row in rows], 1)


def rows_reversed(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)[::-1]
    return _cut(rows, block_size, min((len(row) - 1) // block_size for row in rows))


def targets_two_ahead(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    steps = min((len(row) - 2) // block_size for row in rows)
    x = torch.stack([row[: steps * block_size].view(steps, -1) for row in rows], 1)
    return x, torch.stack([row[2 : steps * block_size + 2].view(steps, -1) for row in rows], 1)


def two_boundaries(names, order, batch_size, block_size):
    return _stream([[0, *name] for name in names], order, batch_size, block_size)


def _stream(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    return _cut(rows, block_size, min((len(row) - 1) // block_size for row in rows))


def cut(rows, T, steps):
    x = torch.stack([row[: steps * T].view(steps, T) for row in rows], dim=1)
    y = torch.stack([row[1 : steps * T + 1].view(steps, T) for row in rows], dim=1)
    return x, y


# "your functions leave what they are given as it was": the names are lists of the caller's.
def boundary_is_appended_to_the_names(names, order, batch_size, block_size):
    each = len(names) // batch_size
    for name in names:
        name.append(0)
    rows = [
        torch.tensor([0] + [s for i in order[b * each : (b + 1) * each] for s in names[i]])
        for b in range(batch_size)
    ]
    return cut(rows, block_size, min(len(row) - 1 for row in rows) // block_size)


UNLISTED = {
    1: [
        (rows_reversed, "other-names-read"),
        (targets_two_ahead, "off-by-one-position"),
        (two_boundaries, "two-boundaries"),
    ],
    5: [(boundary_is_appended_to_the_names, "changes-its-input")],
}
