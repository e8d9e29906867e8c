"""Students' answers to 09/stream."""

import itertools

import numpy as np
import torch
import torch.nn.functional as F


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


def stream_filled_by_step(names, order, batch_size, block_size):
    tokens = _one_row(names, order).numpy()
    per_step = batch_size * block_size
    steps = (len(tokens) - 1) // per_step
    x = [tokens[n * per_step : (n + 1) * per_step] for n in range(steps)]
    y = [tokens[n * per_step + 1 : (n + 1) * per_step + 1] for n in range(steps)]
    return tuple(np.stack(p).reshape(steps, batch_size, block_size) for p in (x, y))


def stream_as_cards(names, order, batch_size, block_size):
    dealt = np.array(order).reshape(-1, batch_size).T.ravel().tolist()
    return stream_loop(names, dealt, batch_size, block_size)


def stream_viewed(names, order, batch_size, block_size):
    x, y = stream_numpy(names, order, batch_size, block_size)
    rows = x.swapaxes(0, 1).ravel(), y.swapaxes(0, 1).ravel()
    return tuple(part.reshape(-1, batch_size, block_size) for part in rows)


def stream_rows_in_front(names, order, batch_size, block_size):
    return tuple(np.moveaxis(p, 0, 1) for p in stream_numpy(names, order, batch_size, block_size))


def stream_copies(names, order, batch_size, block_size):
    x, _ = stream_loop(names, order, batch_size, block_size)
    return x, x


def stream_wraps(names, order, batch_size, block_size):
    x, _ = stream_unfolded(names, order, batch_size, block_size)
    return x, torch.cat([x[:, :, 1:], x[:, :, :1]], dim=2)


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


def stream_by_places(names, order, batch_size, block_size):
    numbers = np.argsort(order).tolist()
    return stream_loop(names, numbers, batch_size, block_size)


def stream_as_long_as_the_first(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = [_one_row(names, order[b * each : (b + 1) * each]).tolist() for b in range(batch_size)]
    steps = (len(rows[0]) - 1) // block_size
    end = steps * block_size
    x = torch.tensor([row[:end] for row in rows]).view(batch_size, steps, block_size)
    y = torch.tensor([row[1 : end + 1] for row in rows]).view(batch_size, steps, block_size)
    return x.transpose(0, 1), y.transpose(0, 1)


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


def stream_without_last_names(names, order, batch_size, block_size):
    each = len(names) // batch_size
    shares = [order[b * each : b * each + each - 1] for b in range(batch_size)]
    rows = [_one_row(names, share) for share in shares]
    return windows_of(rows, block_size, lambda row, used: row[:used])


def stream_overlapping(names, order, batch_size, block_size):
    x, y = [], []
    rows = rows_of_names(names, order, batch_size)
    for t in range(min(map(len, rows)) - block_size):
        x.append([row[t : t + block_size].tolist() for row in rows])
        y.append([row[t + 1 : t + 1 + block_size].tolist() for row in rows])
    return x, y


def stream_in_shares_of_four(names, order, batch_size, block_size):
    share = 4 if len(names) // batch_size > 4 else 3
    rows = [_one_row(names, order[b * share : (b + 1) * share]) for b in range(batch_size)]
    return windows_of(rows, block_size, lambda row, used: row[:used])


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
    "rows-of-different-lengths": stream_as_long_as_the_first,
    "last-name-missing": stream_without_last_names,
    "overlapping": stream_overlapping,
    "shares-of-another-length": stream_in_shares_of_four,
    "more-windows-than-tokens": stream_rounded_up,
    "boundaries-not-counted": stream_as_long_as_its_letters,
    "first-boundary-missing": stream_from_the_first_letter,
    "beginning-left-out": stream_from_the_end,
    "a-token-between": stream_apart,
    "more-than-the-shortest": stream_padded,
    "last-window-missing": stream_without_the_last_boundary,
    "order-inverted": stream_by_places,
    "two-boundaries": two_boundaries_between_names,
    "order-ignored": stream_unshuffled,
    "cut-anywhere": stream_stretches,
    "rows-do-not-continue": stream_filled_by_step,
    "dealt-like-cards": stream_as_cards,
    "view-without-transpose": stream_viewed,
    "rows-before-steps": stream_rows_in_front,
    "unshifted-targets": stream_copies,
    "wraps-in-the-window": stream_wraps,
    "boundaries-missing": stream_glued,
}


def stream_of_floats(*given):
    return tuple(part.float() for part in stream_unfolded(*given))


def stream_squeezed(*given):
    return tuple(part.squeeze() for part in stream_unfolded(*given))


def stream_without_the_last_window(names, order, batch_size, block_size):
    """Asks for one token more than a window with its targets needs."""
    each = len(names) // batch_size
    rows = [_one_row(names, order[b * each : (b + 1) * each]) for b in range(batch_size)]
    steps = (min(map(len, rows)) - 2) // block_size
    both = torch.stack([row.unfold(0, block_size + 1, block_size)[:steps] for row in rows], dim=1)
    return both[:, :, :-1], both[:, :, 1:]


def stream_of_sorted_shares(names, order, batch_size, block_size):
    each = len(names) // batch_size
    shares = [sorted(order[b * each : (b + 1) * each]) for b in range(batch_size)]
    return stream_loop(names, [i for share in shares for i in share], batch_size, block_size)


def stream_spelled_backwards(names, *rest):
    return stream_loop([name[::-1] for name in names], *rest)


def stream_column_by_column(names, order, batch_size, block_size):
    """Fills (T, S) and transposes, so neighbors in a window are S tokens apart."""
    x, y = (part.transpose(0, 1) for part in stream_unfolded(names, order, batch_size, block_size))
    return tuple(part.reshape(batch_size, block_size, -1).permute(2, 0, 1) for part in (x, y))


def stream_two_ahead(names, order, batch_size, block_size):
    """Takes as target the token after the next."""
    rows = rows_of_names(names, order, batch_size)
    steps = (min(map(len, rows)) - 1) // block_size
    rows = [torch.nn.functional.pad(row, (0, 1)) for row in rows]
    starts = [n * block_size for n in range(steps)]
    return tuple(
        torch.stack([torch.stack([row[s + ahead :][:block_size] for row in rows]) for s in starts])
        for ahead in (0, 2)
    )


def stream_goes_round(*given):
    """The very last target of a row is its first token."""
    x, y = stream_unfolded(*given)
    y = y.clone()
    y[-1, :, -1] = x[0, :, 0]
    return x, y


ODD = [
    (stream_of_sorted_shares, "other-names-read"),
    (stream_spelled_backwards, "letters-in-another-order"),
    (stream_column_by_column, "windows-with-gaps"),
    (stream_two_ahead, "targets-shifted"),
    (stream_goes_round, "last-targets"),
    (stream_two_further, "constant-difference"),
    (stream_of_floats, "kind-of-number"),
    (stream_squeezed, "axis-of-one"),
    (stream_without_the_last_window, "last-window-missing"),
    (
        lambda *given: stream_as_long_as_its_letters(*given, beyond=1),
        "boundaries-not-counted",
    ),
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


def steps_of_the_whole_row(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    return _cut(rows, block_size, min((len(row)) // block_size for row in rows))


def one_step_too_few(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    return _cut(rows, block_size, min((len(row) - 2) // block_size for row in rows))


def rows_reversed(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)[::-1]
    return _cut(rows, block_size, min((len(row) - 1) // block_size for row in rows))


def no_boundary_in_front(names, order, batch_size, block_size):
    rows = [row[1:] for row in _rows(names, order, batch_size)]
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


def _laid_out(rows, block_size, steps):
    x = torch.stack([row[: steps * block_size].view(steps, block_size) for row in rows], dim=1)
    y = torch.stack([row[1 : steps * block_size + 1].view(steps, block_size) for row in rows], 1)
    return x, y


def _row(names, order):
    row = [0]
    for i in order:
        row += [*names[i], 0]
    return torch.tensor(row)


def stream_as_long_as_the_longest(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = [_row(names, order[b * each : (b + 1) * each]) for b in range(batch_size)]
    steps = max(len(row) - 1 for row in rows) // block_size
    rows = [F.pad(row, (0, max(0, steps * block_size + 1 - len(row)))) for row in rows]
    return _laid_out(rows, block_size, steps)


def stream_dealt_like_cards(names, order, batch_size, block_size):
    rows = [_row(names, order[b::batch_size]) for b in range(batch_size)]
    return _laid_out(rows, block_size, min(len(row) - 1 for row in rows) // block_size)


def stream_in_the_order_of_the_list(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = [_row(names, range(b * each, (b + 1) * each)) for b in range(batch_size)]
    return _laid_out(rows, block_size, min(len(row) - 1 for row in rows) // block_size)


def a_boundary_on_both_sides(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = []
        for i in order[b * each : (b + 1) * each]:
            row += [0, *names[i], 0]
        rows.append(torch.tensor(row))
    T = block_size
    steps = min(len(row) - 1 for row in rows) // T
    x = torch.stack([row[: steps * T].view(steps, T) for row in rows], dim=1)
    y = torch.stack([row[1 : steps * T + 1].view(steps, T) for row in rows], dim=1)
    return x, y


# "with 6 names and B = 2, row 0 gets the first three of order"
def names_dealt_like_cards(names, order, batch_size, block_size):
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b::batch_size]:
            row += [*names[i], 0]
        rows.append(row)
    return in_steps(rows, block_size)


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


# "it ends with a boundary", which is the last target where the windows fit exactly.
def row_without_its_last_boundary(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = [
        torch.tensor([s for i in order[b * each : (b + 1) * each] for s in (0, *names[i])])
        for b in range(batch_size)
    ]
    return cut(rows, block_size, min(len(row) - 1 for row in rows) // block_size)


# "Take as many whole windows of T inputs as the shortest row has": one fewer where they fit
# exactly.
def last_window_is_lost_in_a_range(names, order, batch_size, block_size):
    each, T = len(names) // batch_size, block_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row += [*names[i], 0]
        rows.append(torch.tensor(row))
    shortest = min(len(row) for row in rows)
    starts = range(0, shortest - 1 - T, T)
    x = torch.stack([torch.stack([row[s : s + T] for row in rows]) for s in starts])
    y = torch.stack([torch.stack([row[s + 1 : s + T + 1] for row in rows]) for s in starts])
    return x, y


# "Take as many whole windows of T inputs as the shortest row has": of what row 0 has, cut where
# another one ends
def windows_of_the_first_row(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row += [*names[i], 0]
        rows.append(row)
    steps = (len(rows[0]) - 1) // block_size
    need = steps * block_size + 1
    text = torch.tensor([(row + [0] * need)[:need] for row in rows])
    x = text[:, :-1].view(batch_size, steps, block_size).transpose(0, 1)
    y = text[:, 1:].view(batch_size, steps, block_size).transpose(0, 1)
    return x, y


# "it ends with a boundary", which may be the last target
def last_name_left_open(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = []
        for i in order[b * each : (b + 1) * each]:
            row += [0, *names[i]]
        rows.append(torch.tensor(row))
    T = block_size
    steps = min(len(row) - 1 for row in rows) // T
    x = torch.stack([row[: steps * T].view(steps, T) for row in rows], dim=1)
    y = torch.stack([row[1 : steps * T + 1].view(steps, T) for row in rows], dim=1)
    return x, y


# "each input with its target": a row of S · T tokens has one target too few
def last_input_without_target(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row += [*names[i], 0]
        rows.append(torch.tensor(row))
    T = block_size
    steps = min(len(row) for row in rows) // T
    x = torch.stack([row[: steps * T].view(steps, T) for row in rows], dim=1)
    y = torch.stack([row[1 : steps * T + 1].view(steps, T) for row in rows], dim=1)
    return x, y


# Slices lists with a step, as the rows of a table are dealt out.
# "with 6 names and B = 2, row 0 gets the first three of `order`"
def dealt_in_turn(names, order, batch_size, block_size):
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b::batch_size]:
            row += names[i] + [0]
        rows.append(torch.tensor(row))
    steps = (min(map(len, rows)) - 1) // block_size
    xs, ys = [], []
    for n in range(steps):
        a, e = n * block_size, (n + 1) * block_size
        xs.append(torch.stack([row[a:e] for row in rows]))
        ys.append(torch.stack([row[a + 1 : e + 1] for row in rows]))
    return torch.stack(xs), torch.stack(ys)


# Distributes the names as cards are dealt.
# "Row b gets the b-th of B equal shares of it: … row 0 gets the first three of `order`"
def names_dealt_like_cards_of_set_8(names, order, batch_size, block_size):
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b::batch_size]:
            row.extend(names[i])
            row.append(0)
        rows.append(row)
    S = (min(map(len, rows)) - 1) // block_size
    n = S * block_size
    x = torch.tensor([row[:n] for row in rows]).view(batch_size, S, block_size)
    y = torch.tensor([row[1 : n + 1] for row in rows]).view(batch_size, S, block_size)
    return x.transpose(0, 1), y.transpose(0, 1)


# Puts a boundary before each name, as the chapter does, and none at the end.
# "it ends with a boundary"
def no_boundary_at_the_end(names, order, batch_size, block_size):
    per_row = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = []
        for i in order[b * per_row : (b + 1) * per_row]:
            row += [0, *names[i]]
        rows.append(torch.tensor(row))
    steps = min((len(row) - 1) // block_size for row in rows)
    length = steps * block_size
    x = torch.stack([row[:length].view(steps, block_size) for row in rows], dim=1)
    y = torch.stack([row[1 : length + 1].view(steps, block_size) for row in rows], dim=1)
    return x, y


# deals the names out like cards: "Row b gets the b-th of B equal shares of it"
def dealt_like_cards(names, order, batch_size, block_size):
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b::batch_size]:
            row += names[i]
            row.append(0)
        rows.append(torch.tensor(row))
    S = min((len(row) - 1) // block_size for row in rows)
    N = S * block_size
    x = torch.stack([row[:N].view(S, block_size) for row in rows], dim=1)
    y = torch.stack([row[1 : N + 1].view(S, block_size) for row in rows], dim=1)
    return x, y


# comes from Keras and pads the rows: "as many whole windows of T inputs as the *shortest* row has"
def padded_to_the_longest(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row.extend(names[i])
            row.append(0)
        rows.append(torch.tensor(row))
    padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)  # (B, L)
    S = (padded.shape[1] - 1) // block_size
    x = padded[:, : S * block_size].reshape(batch_size, S, block_size)
    y = padded[:, 1 : S * block_size + 1].reshape(batch_size, S, block_size)
    return x.transpose(0, 1), y.transpose(0, 1)


# puts a boundary on both sides of each name: "the boundary, its first name, the boundary, its
# second name", with one between two names
def boundary_on_both_sides(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = []
        for i in order[b * each : (b + 1) * each]:
            row += [0, *names[i], 0]
        rows.append(row)
    steps = min(len(row) - 1 for row in rows) // block_size
    x, y = [], []
    for n in range(steps):
        start = n * block_size
        x.append([row[start : start + block_size] for row in rows])
        y.append([row[start + 1 : start + block_size + 1] for row in rows])
    return torch.tensor(x), torch.tensor(y)


# Cuts pieces of T + 1 and takes both from each, so that the last of a piece is never an input: "row
# b of step n + 1 continues row b of step n"
def pieces_with_one_more(names, order, batch_size, block_size):
    per_row = len(order) // batch_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for number in order[b * per_row : (b + 1) * per_row]:
            row.extend(names[number])
            row.append(0)
        rows.append(row)
    length = block_size + 1
    steps = min(len(row) for row in rows) // length
    data = torch.tensor([row[: steps * length] for row in rows])
    data = data.view(batch_size, steps, length).transpose(0, 1)
    return data[:, :, :-1], data[:, :, 1:]


def length_without_boundaries(names, order, batch_size, block_size):
    """Counts the letters of the shortest row without its boundaries, and finds too few windows."""
    share = len(order) // batch_size
    rows, lengths = [], []
    for b in range(batch_size):
        chosen = [names[i] for i in order[b * share : (b + 1) * share]]
        lengths.append(sum(len(name) for name in chosen))
        rows.append(torch.tensor([0, *(token for name in chosen for token in [*name, 0])]))
    S = min(lengths) // block_size
    n = S * block_size
    x = torch.stack([row[:n].view(S, block_size) for row in rows], dim=1)
    y = torch.stack([row[1 : n + 1].view(S, block_size) for row in rows], dim=1)
    return x, y


def boundary_on_both_sides_of_set_13(names, order, batch_size, block_size):
    """Puts a boundary before and after every name, so two stand between neighbors."""
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = []
        for i in order[b * each : (b + 1) * each]:
            row += [0, *names[i], 0]
        rows.append(torch.tensor(row))
    steps = min(len(row) - 1 for row in rows) // block_size
    used = steps * block_size
    x = torch.stack([row[:used].view(steps, block_size) for row in rows], dim=1)
    y = torch.stack([row[1 : used + 1].view(steps, block_size) for row in rows], dim=1)
    return x, y


def blocks_with_their_own_target(names, order, batch_size, block_size):
    """Cuts rows into separate blocks of T + 1, so a token is skipped between two steps."""
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row += [*names[i], 0]
        rows.append(torch.tensor(row))
    size = block_size + 1
    steps = min(len(row) for row in rows) // size
    blocks = torch.stack([row[: steps * size].view(steps, size) for row in rows], dim=1)
    return blocks[:, :, :-1], blocks[:, :, 1:]


def no_boundary_at_the_end_of_set_13(names, order, batch_size, block_size):
    """Writes a boundary before each name only, so a row lacks its last one and a target."""
    each = len(names) // batch_size
    rows = []
    for share in torch.tensor(order).view(batch_size, each).tolist():
        row = []
        for i in share:
            row.append(0)
            row.extend(names[i])
        rows.append(torch.tensor(row))
    steps = min(len(row) - 1 for row in rows) // block_size
    used = steps * block_size
    x = torch.stack([row[:used].view(steps, block_size) for row in rows], dim=1)
    y = torch.stack([row[1 : used + 1].view(steps, block_size) for row in rows], dim=1)
    return x, y


def windows_of_one_more(names, order, batch_size, block_size):
    """Cuts rows into windows of T + 1 tokens side by side: between steps one input is skipped."""
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row += names[i] + [0]
        rows.append(torch.tensor(row))
    size = block_size + 1
    steps = min(len(row) for row in rows) // size
    windows = torch.stack([row[: steps * size].view(steps, size) for row in rows], dim=1)
    return windows[:, :, :-1], windows[:, :, 1:]


def targets_rolled_in_the_cut_row(names, order, batch_size, block_size):
    """Rolls the row after it was cut: the last target of all is the row's first token."""
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row += names[i] + [0]
        rows.append(torch.tensor(row))
    steps = (min(len(row) for row in rows) - 1) // block_size
    x = torch.stack([row[: steps * block_size] for row in rows])
    y = x.roll(-1, dims=1)
    shape = batch_size, steps, block_size
    return x.view(shape).transpose(0, 1), y.view(shape).transpose(0, 1)


def boundary_on_both_sides_of_set_16(names, order, batch_size, block_size):
    """Puts a boundary before and after every name, so there are two between neighbors."""
    each = len(order) // batch_size
    rows = []
    for b in range(batch_size):
        row = []
        for i in order[b * each : (b + 1) * each]:
            row += [0, *names[i], 0]
        rows.append(torch.tensor(row))
    T = block_size
    steps = (min(len(row) for row in rows) - 1) // T
    x = torch.stack([row[: steps * T].view(steps, T) for row in rows], dim=1)
    y = torch.stack([row[1 : steps * T + 1].view(steps, T) for row in rows], dim=1)
    return x, y


UNLISTED = {
    1: [
        steps_of_the_whole_row,
        one_step_too_few,
        rows_reversed,
        no_boundary_in_front,
        targets_two_ahead,
        two_boundaries,
    ],
    2: [stream_as_long_as_the_longest, stream_dealt_like_cards, stream_in_the_order_of_the_list],
    3: [a_boundary_on_both_sides],
    4: [names_dealt_like_cards, two_boundaries_between_names],
    5: [
        boundary_is_appended_to_the_names,
        row_without_its_last_boundary,
        last_window_is_lost_in_a_range,
    ],
    6: [windows_of_the_first_row, last_name_left_open, last_input_without_target],
    7: [dealt_in_turn],
    8: [names_dealt_like_cards_of_set_8, no_boundary_at_the_end],
    9: [dealt_like_cards, padded_to_the_longest, boundary_on_both_sides],
    10: [pieces_with_one_more],
    12: [length_without_boundaries],
    13: [
        boundary_on_both_sides_of_set_13,
        blocks_with_their_own_target,
        no_boundary_at_the_end_of_set_13,
    ],
    14: [windows_of_one_more],
    15: [targets_rolled_in_the_cut_row],
    16: [boundary_on_both_sides_of_set_16],
}
