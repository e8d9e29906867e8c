"""Wrong answers to chapter 09 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 09/split


def order_read_as_places(names, order, held_out):
    """Reads order[i] as the place of name i in the draw, not as the number of the i-th drawn."""
    distinct = list(dict.fromkeys(name.lower() for name in names))
    place = dict(zip(distinct, order, strict=True))
    train, validation, test = [], [], []
    for name in names:
        drawn = place[name.lower()]
        if drawn < held_out:
            test.append(name)
        elif drawn < 2 * held_out:
            validation.append(name)
        else:
            train.append(name)
    return train, validation, test


# 09/stream


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


# 09/carried


def averages_over_batches(model, batches):
    """Goes backward through loss / len(batches), so the gradients are averaged, not added up."""
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            hidden, cell = state
            blank = fresh.view(1, -1, 1)
            state = hidden.detach().masked_fill(blank, 0), cell.detach().masked_fill(blank, 0)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        (loss / len(batches)).backward()
        losses.append(loss.item())
    return losses


# 09/last


def positions_of_the_longest(model, tokens, lengths):
    """Reads the longest windows once and takes position T - 1 of them: targets differ with T."""
    windows = tokens.unfold(0, max(lengths) + 1, 1)
    x, y = windows[:, :-1], windows[:, 1:]
    with torch.no_grad():
        logits, _ = model(x)
    return [F.cross_entropy(logits[:, T - 1], y[:, T - 1]).item() for T in lengths]


# 09/by-letter


def lumps_the_rest_together(logits, x, y, boundary, longest):
    """Clamps the places, so all later letters are counted at place longest - 1."""
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    sums, counts = torch.zeros(longest), torch.zeros(longest)
    for b in range(x.shape[0]):
        place = None
        for t in range(x.shape[1]):
            if x[b, t] == boundary:
                place = 0
            elif place is not None:
                place += 1
            if place is not None and y[b, t] != -100:
                sums[min(place, longest - 1)] += losses[b, t]
                counts[min(place, longest - 1)] += 1
    return sums / counts


# 09/one-cycle


def momentum_follows_the_rate(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Computes momentum from the rate's height above the first rate, so it ends above `high`."""
    first = peak / start_factor
    last = first / final_factor
    top = round(rise * steps) - 1
    if step <= top:
        a, b, s = first, peak, step / top
    else:
        a, b, s = peak, last, (step - top) / (steps - 1 - top)
    rate = b + (a - b) / 2 * (1 + math.cos(math.pi * s))
    momentum = high - (high - low) * (rate - first) / (peak - first)
    return rate, momentum


# 09/spell


def number_by_letter(model, prefix, shortest, longest, temperature, uniform):
    """Draws letter i with uniform[i]: after a prefix, the first numbers are skipped."""
    was_training = model.training
    model.eval()
    letters = list(prefix)
    with torch.no_grad():
        for i in range(len(prefix), longest):
            context = torch.tensor([[0, *letters][-model.block_size :]])
            logits = model(context)[0][0, -1] / temperature
            if len(letters) < shortest:
                logits[0] = -torch.inf
            cumulative = logits.softmax(dim=-1).cumsum(dim=-1)
            token = int((cumulative <= uniform[i]).sum())
            if token == 0:
                break
            letters.append(token)
    model.train(was_training)
    return letters


# 09/letters-of-past


def counted_by_indexing():
    """Counts with counts[rows] += 1, which adds 1 however often a row occurs: all are 0 or 1."""
    return {
        "text": "names",
        "one": 3.2688,
        "two": 3.1587,
        "three": 3.0263,
        "four": 3.0054,
    }


WRITTEN = {
    "09/split": [order_read_as_places],
    "09/stream": [windows_of_one_more],
    "09/carried": [averages_over_batches],
    "09/last": [positions_of_the_longest],
    "09/by-letter": [lumps_the_rest_together],
    "09/one-cycle": [momentum_follows_the_rate],
    "09/spell": [number_by_letter],
    "09/letters-of-past": [counted_by_indexing],
}
