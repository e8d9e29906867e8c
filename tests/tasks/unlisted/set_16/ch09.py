"""Wrong answers to chapter 09 that no list names: the sixteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 09/split


def order_read_as_places(names, order, held_out):
    """Takes order[i] for the place of name i in the draw, not for the i-th name that is drawn."""
    distinct = list(dict.fromkeys(name.lower() for name in names))
    place = dict(zip(distinct, order, strict=True))
    train, validation, test = [], [], []
    for name in names:
        if place[name.lower()] < held_out:
            test.append(name)
        elif place[name.lower()] < 2 * held_out:
            validation.append(name)
        else:
            train.append(name)
    return train, validation, test


# 09/stream


def boundary_on_both_sides(names, order, batch_size, block_size):
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


# 09/carried


def gradients_averaged_over_batches(model, batches):
    """Divides each loss by the number of batches before backward: gradients do not add up."""
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            hidden, cell = state
            blank = fresh[None, :, None]
            state = (
                hidden.detach().masked_fill(blank, 0.0),
                cell.detach().masked_fill(blank, 0.0),
            )
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        (loss / len(batches)).backward()
        losses.append(loss.item())
    return losses


# 09/last


def older_tokens_zeroed(model, tokens, lengths):
    """Gives the longest past for every T, with zeros in place of what lies further back than T."""
    longest = max(lengths)
    windows = tokens.unfold(0, longest + 1, 1)
    found = []
    for T in lengths:
        x = windows[:, :-1].clone()
        x[:, : longest - T] = 0
        with torch.no_grad():
            logits, _ = model(x)
        found.append(F.cross_entropy(logits[:, -1], windows[:, -1]).item())
    return found


# 09/by-letter


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


# 09/one-cycle


def rise_counted_from_one(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Counts the steps of the rise from 1, so step 0 is already above the first rate."""

    def half_cosine(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    first = peak / start_factor
    up = round(rise * steps)
    if step < up:
        s = (step + 1) / up
        return half_cosine(first, peak, s), half_cosine(high, low, s)
    s = (step + 1 - up) / (steps - up)
    return half_cosine(peak, first / final_factor, s), half_cosine(low, high, s)


# 09/spell


def boundary_always_in_front(model, prefix, shortest, longest, temperature, uniform):
    """Cuts the letters and then puts the boundary in front, also where it is too far back."""
    was_training = model.training
    model.eval()
    letters = list(prefix)
    for u in uniform:
        if len(letters) >= longest:
            break
        recent = letters[max(0, len(letters) - model.block_size + 1) :]
        context = torch.tensor([[0, *recent]])
        with torch.no_grad():
            logits = model(context)[0][0, -1] / temperature
        if len(letters) < shortest:
            logits[0] = -torch.inf
        cumulative = logits.softmax(dim=-1).cumsum(dim=-1)
        token = int((cumulative <= u).sum())
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


# 09/letters-of-past


def grams_for_letters():
    """Takes n for the length of the n-gram, the letter itself included: pasts of 0 to 3 letters."""
    return {
        "text": "names",
        "one": 2.827,
        "two": 2.459,
        "three": 2.249,
        "four": 2.259,
    }


WRITTEN = {
    "09/split": [order_read_as_places],
    "09/stream": [boundary_on_both_sides],
    "09/carried": [gradients_averaged_over_batches],
    "09/last": [older_tokens_zeroed],
    "09/by-letter": [ignored_ones_take_no_place],
    "09/one-cycle": [rise_counted_from_one],
    "09/spell": [boundary_always_in_front],
    "09/letters-of-past": [grams_for_letters],
}
