"""Students' answers to 09/by-letter."""

import numpy as np
import torch
import torch.nn.functional as F


def _nats(logits, y):
    B, T, V = logits.shape
    return F.cross_entropy(logits.reshape(-1, V), y.reshape(-1), reduction="none").view(B, T)


def letters_loop(
    logits, x, y, boundary, longest, *, padded=False, clamp=False, carry=False, source=None
):
    losses, buckets, place = _nats(logits, y), [[] for _ in range(longest)], None
    for b in range(len(x)):
        if not carry:
            place = None
        for t in range(x.shape[1]):
            if (x if source is None else source)[b, t] == boundary:
                place = 0
            elif place is not None:
                place += 1
            where = place
            if where is not None and clamp:
                where = min(where, longest - 1)
            if where is not None and where < longest and (padded or y[b, t] != -100):
                buckets[where].append(losses[b, t])
    return torch.stack([torch.stack(bucket).mean() for bucket in buckets])


def letters_numpy(logits, x, y, boundary, longest):
    losses, x, y = _nats(logits, y).numpy(), x.numpy(), y.numpy()
    total, count = np.zeros(longest), np.zeros(longest)
    for b, row in enumerate(x):
        for begin in np.flatnonzero(row == boundary):
            for k in range(longest):
                t = begin + k
                if t >= len(row) or (k and row[t] == boundary):
                    break
                if y[b, t] >= 0:
                    total[k] += losses[b, t]
                    count[k] += 1
    return total / count


def letters_scatter(logits, x, y, boundary, longest):
    is_first = x == boundary
    group = is_first.cumsum(1)
    steps = torch.arange(x.shape[1])
    began = torch.zeros_like(x)
    for b in range(len(x)):
        places = F.pad(is_first[b].nonzero().squeeze(1), (1, 0))
        began[b] = places[group[b]]
    place = steps - began
    good = (group > 0) & (place < longest) & (y >= 0)
    total = torch.zeros(longest).index_add(0, place[good], _nats(logits, y)[good])
    return total / torch.bincount(place[good], minlength=longest)


def letters_of_window(logits, x, y, boundary, longest):
    losses, good = _nats(logits, y)[:, :longest], (y >= 0)[:, :longest]
    return (losses * good).sum(0) / good.sum(0)


def letters_by_target(logits, x, y, boundary, longest):
    return letters_loop(logits, x, y, boundary, longest, source=y)


def letters_from_the_edge(logits, x, y, boundary, longest):
    losses, found = _nats(logits, y), [[] for _ in range(longest)]
    for b in range(len(x)):
        place = 0
        for t in range(x.shape[1]):
            place = 0 if x[b, t] == boundary else place + (t > 0)
            if place < longest and y[b, t] >= 0:
                found[place].append(losses[b, t].item())
    return [sum(bucket) / len(bucket) for bucket in found]


def letters_loop_list(logits, x, y, boundary, longest):
    found = [[] for _ in range(longest)]
    losses = _nats(logits, y)
    for b in range(len(x)):
        place = None
        for t in range(x.shape[1]):
            place = 0 if x[b, t] == boundary else None if place is None else place + 1
            if place is not None and place < longest and y[b, t] >= 0:
                found[place].append((b, losses[b, t].item()))
    return found


def letters_row_means(logits, x, y, boundary, longest):
    means = []
    for bucket in letters_loop_list(logits, x, y, boundary, longest):
        rows = {}
        for b, loss in bucket:
            rows.setdefault(b, []).append(loss)
        means.append(np.mean([np.mean(losses) for losses in rows.values()]))
    return np.array(means)


RIGHT = {"loop": letters_loop, "numpy": letters_numpy, "index_add": letters_scatter}


def letters_from_zeros(logits, x, y, boundary, longest):
    return letters_loop(logits, x, y, 0, longest)


def letters_without_ends(logits, x, y, boundary, longest):
    return letters_numpy(logits, x, torch.where(y == boundary, -100, y), boundary, longest)


def letters_from_argmax(logits, x, y, boundary, longest):
    first = (x == boundary).int().argmax(dim=1)
    losses, found = _nats(logits, y), [[] for _ in range(longest)]
    for b in range(len(x)):
        place = -1
        for t in range(int(first[b]), x.shape[1]):
            place = 0 if x[b, t] == boundary else place + 1
            if place < longest and y[b, t] >= 0:
                found[place].append(losses[b, t].item())
    return [float(np.mean(bucket)) for bucket in found]


def letters_at(place_of, counts=lambda y: y != -100, target=lambda y: y):
    """By the places (B, T) that a function of x and of the boundary gives."""

    def answer(logits, x, y, boundary, longest):
        losses, place, good = _nats(logits, target(y)), place_of(x, boundary), counts(y)
        return [losses[good & (place == k)].mean() for k in range(longest)]

    return answer


def _by_counter(x, boundary, first=-1000, offset=0):
    rows = []
    for row in x.tolist():
        count, rows_of = first, []
        for symbol in row:
            count = 0 if symbol == boundary else count + 1
            rows_of.append(count + offset)
        rows.append(rows_of)
    return torch.tensor(rows)


def letters_up_to(logits, x, y, boundary, longest):
    losses, place = _nats(logits, y), _by_counter(x, boundary)
    good = (place >= 0) & (y >= 0)
    return torch.stack([losses[good & (place < k + 1)].mean() for k in range(longest)])


# "Where x[b, t] is the boundary, the target is letter 0 ... One position on it is letter 1": a
# target that does not count takes its place all the same.
def place_waits_at_ignored_targets(logits, x, y, boundary, longest):
    sums, counts = torch.zeros(longest), torch.zeros(longest)
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    for b in range(len(x)):
        place = None
        for t in range(x.shape[1]):
            if x[b, t] == boundary:
                place = 0
            if place is None or y[b, t] < 0:
                continue
            if place < longest:
                sums[place] += losses[b, t]
                counts[place] += 1
            place += 1
    return sums / counts


def _by_place(logits, x, y, longest, began):
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    place = torch.arange(x.shape[1]) - began
    return losses, [(place == k) & (y >= 0) for k in range(longest)]


def _began(tokens, boundary):
    where = torch.arange(tokens.shape[1]).expand_as(tokens)
    return torch.where(tokens == boundary, where, -1_000_000).cummax(dim=1).values


def letters_as_shares_of_all(logits, x, y, boundary, longest):
    losses, places = _by_place(logits, x, y, longest, _began(x, boundary))
    return torch.stack([(losses * place).mean() for place in places])


WRONG = {
    "counts-from-the-row": letters_at(lambda x, boundary: _by_counter(x, boundary, first=0)),
    "token-zero-left-out": letters_at(_by_counter, counts=lambda y: y >= 1),
    "places-from-one": letters_at(lambda x, boundary: _by_counter(x, boundary, offset=-1)),
    "up-to-that-place": letters_up_to,
    "zero-for-the-boundary": letters_from_zeros,
    "ends-left-out": letters_without_ends,
    "no-boundary-taken-for-one": letters_from_argmax,
    "counted-from-the-target": letters_by_target,
    "window-taken-for-a-name": letters_from_the_edge,
    "padding-counts": lambda *given: letters_loop(*given, padded=True),
    "places-cross-rows": lambda *given: letters_loop(*given, carry=True),
    "rest-in-the-last-place": lambda *given: letters_loop(*given, clamp=True),
    "ignored-take-no-place": place_waits_at_ignored_targets,
    "shares-of-all": letters_as_shares_of_all,
    "rows-averaged-first": letters_row_means,
}


def letters_of_two_places(logits, x, y, boundary, longest):
    return letters_numpy(logits, x, y, boundary, max(longest, 2))


def letters_by_row_means(logits, x, y, boundary, longest):
    """Weighs rows by their targets, after a mean over the targets of each row."""
    total = torch.zeros(())
    for row, wanted in zip(logits, y, strict=True):
        total = total + F.cross_entropy(row, wanted) * (wanted >= 0).sum()
    found = letters_loop(logits, x, y, boundary, longest)
    return found * (total / _nats(logits, y).sum())


def letters_with(losses_of=_nats, mean=np.mean):
    """With other losses, or with something else than their mean."""

    def answer(logits, x, y, boundary, longest):
        losses = losses_of(logits, y)
        places = np.full(x.shape, -1)
        for b, row in enumerate(x.tolist()):
            for t, token in enumerate(row):
                began = t > 0 and places[b, t - 1] >= 0
                places[b, t] = 0 if token == boundary else places[b, t - 1] + 1 if began else -1
        good = (y >= 0).numpy() & (places >= 0)
        return [float(mean(losses.numpy()[(places == k) & good])) for k in range(longest)]

    return answer


def letters_per_row(logits, x, y, boundary, longest):
    """Divides every sum by the number of rows."""
    found = letters_with(mean=np.sum)(logits, x, y, boundary, longest)
    return np.array(found) / len(x)


def letters_smoothed(logits, x, y, boundary, longest):
    smooth = F.cross_entropy(logits.transpose(1, 2), y, reduction="none", label_smoothing=0.2)
    return letters_with(lambda *_: smooth)(logits, x, y, boundary, longest)


def letters_without_first_names(logits, x, y, boundary, longest):
    """Leaves out all that comes before the second boundary of a row."""
    losses = F.cross_entropy(logits.mT, y, reduction="none")
    where = torch.arange(x.shape[1]).expand_as(x)
    last = torch.where(x == boundary, where, -1).cummax(1).values
    counts = ((x == boundary).cumsum(1) > 1) & (y != -100)
    return [losses[counts & (where - last == k)].mean() for k in range(longest)]


ODD = [
    (letters_per_row, "other-places"),
    (letters_smoothed, "other-losses"),
    (lambda *given: np.exp(letters_with()(*given)), "raised-e-to-the-power-of-your-losses"),
    (letters_of_window, "left-out-the-subtraction-of-where-the-last-name-began-in-the-places"),
    (letters_without_first_names, "nothing-counts"),
    (letters_of_two_places, "one-too-many"),
    (letters_by_row_means, "not-finite"),
    (lambda *given: letters_loop(*given).squeeze(), "axis-of-one"),
]


# --- Answers that no list names ---


def ignored_ones_take_no_place(logits, x, y, boundary, longest):
    """Skips a target of -100 before it looks at x, so the counter stands still there."""
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    sums, counts = torch.zeros(longest), torch.zeros(longest)
    for b in range(len(x)):
        place = None
        for t in range(x.shape[1]):
            if y[b, t] == -100:
                continue
            if x[b, t] == boundary:
                place = 0
            elif place is not None:
                place += 1
            if place is not None and place < longest:
                sums[place] += losses[b, t]
                counts[place] += 1
    return sums / counts


UNLISTED = {
    16: [(ignored_ones_take_no_place, "ignored-take-no-place")],
}
