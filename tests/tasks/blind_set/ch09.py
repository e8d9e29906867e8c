"""Wrong answers to chapter 09 that no list names: the seventeenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 09/split


def entries_in_the_drawn_order(names, order, held_out):
    """Goes through the names as drawn, so the entries of a part are not in the list's order."""
    distinct = list(dict.fromkeys(name.lower() for name in names))
    train, validation, test = [], [], []
    for i, number in enumerate(order):
        entries = [name for name in names if name.lower() == distinct[number]]
        if i < held_out:
            test += entries
        elif i < 2 * held_out:
            validation += entries
        else:
            train += entries
    return train, validation, test


def order_read_as_places(names, order, held_out):
    """Reads order[number] as the place where a name was drawn, which is the order turned round."""
    numbers = {}
    for name in names:
        numbers.setdefault(name.lower(), len(numbers))
    parts = {"train": [], "validation": [], "test": []}
    for name in names:
        place = order[numbers[name.lower()]]
        if place < held_out:
            parts["test"].append(name)
        elif place < 2 * held_out:
            parts["validation"].append(name)
        else:
            parts["train"].append(name)
    return parts["train"], parts["validation"], parts["test"]


# 09/stream


def every_name_between_two_boundaries(names, order, batch_size, block_size):
    """Puts a boundary before and after each name, so there are two between neighbors."""
    share = len(order) // batch_size
    rows = []
    for b in range(batch_size):
        row = []
        for number in order[b * share : (b + 1) * share]:
            row += [0, *names[number], 0]
        rows.append(row)
    steps = (min(len(row) for row in rows) - 1) // block_size
    length = steps * block_size
    x = torch.tensor([row[:length] for row in rows])
    y = torch.tensor([row[1 : length + 1] for row in rows])
    shape = (batch_size, steps, block_size)
    return x.view(shape).transpose(0, 1), y.view(shape).transpose(0, 1)


def windows_that_leave_a_token_out(names, order, batch_size, block_size):
    """Cuts rows into pieces of T + 1, whose last token is a target and never an input."""
    per_row = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        tokens = [0]
        for k in order[b * per_row : b * per_row + per_row]:
            tokens.extend(names[k])
            tokens.append(0)
        rows.append(torch.tensor(tokens))
    S = min(map(len, rows)) // (block_size + 1)
    cut = [row[: S * (block_size + 1)].view(S, block_size + 1) for row in rows]
    pieces = torch.stack(cut, dim=1)  # (S, B, T + 1)
    return pieces[:, :, :-1], pieces[:, :, 1:]


# 09/carried


def blanks_after_reading(model, batches):
    """Blanks the fresh rows after the batch that says so, which is one batch too late."""
    state = None
    losses = []
    for x, y, fresh in batches:
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
        blank = fresh[None, :, None]
        state = tuple(part.detach().masked_fill(blank, 0.0) for part in state)
    return losses


def gradients_of_the_mean_of_batches(model, batches):
    """Divides each loss by the number of batches before going backward, as for one mean."""
    losses, hidden, cell = [], None, None
    for x, y, fresh in batches:
        if hidden is None:
            state = None
        else:
            keep = (~fresh).to(hidden.dtype).view(1, -1, 1)
            state = (hidden.detach() * keep, cell.detach() * keep)
        logits, (hidden, cell) = model.read(x, state)
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))
        (loss / len(batches)).backward()
        losses.append(loss.item())
    return losses


# 09/last


@torch.no_grad()
def last_target_left_out(model, tokens, lengths):
    """Stops one target early, so the last token of the text is never asked for."""
    training = model.training
    model.eval()
    longest = max(lengths)
    places = torch.arange(longest, len(tokens) - 1)
    losses = []
    for T in lengths:
        past = torch.stack([tokens[t - T : t] for t in places.tolist()])
        logits, _ = model(past)
        losses.append(F.cross_entropy(logits[:, -1], tokens[places]).item())
    model.train(training)
    return losses


def all_lengths_out_of_one_pass(model, tokens, lengths):
    """Reads the longest windows once and looks at position T − 1, where the target is another."""
    mode = model.training
    model.eval()
    windows = tokens.unfold(0, max(lengths) + 1, 1)
    x, y = windows[:, :-1], windows[:, 1:]
    with torch.no_grad():
        logits, _ = model(x)
    model.train(mode)
    return [float(F.cross_entropy(logits[:, T - 1], y[:, T - 1])) for T in lengths]


# 09/by-letter


def place_goes_on_in_the_next_row(logits, x, y, boundary, longest):
    """Sets the place to unknown once, before all rows, so a row goes on where the last ended."""
    losses = F.cross_entropy(logits.transpose(1, 2), y.long(), reduction="none")
    sums, counts = torch.zeros(longest), torch.zeros(longest)
    place = None
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            if x[b, t] == boundary:
                place = 0
            elif place is not None:
                place += 1
            if place is not None and place < longest and y[b, t] != -100:
                sums[place] += losses[b, t]
                counts[place] += 1
    return sums / counts


def place_waits_where_no_target_is(logits, x, y, boundary, longest):
    """Skips a target of −100 before it has moved the place on, so later ones count as earlier."""
    logs = logits.log_softmax(dim=-1)
    found = [[] for _ in range(longest)]
    for b in range(len(x)):
        place = -1  # unknown
        for t, token in enumerate(x[b].tolist()):
            target = int(y[b, t])
            if target == -100:
                continue
            if token == boundary:
                place = 0
            elif place >= 0:
                place += 1
            if 0 <= place < longest:
                found[place].append(-logs[b, t, target])
    return torch.stack([torch.stack(f).mean() if f else torch.tensor(math.nan) for f in found])


# 09/one-cycle


def second_half_never_arrives(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Divides by steps minus the peak's step, one too many, so the end is never reached."""

    def cosine(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    first = peak / start_factor
    last = first / final_factor
    top = round(rise * steps) - 1
    if step <= top:
        s = step / top if top else 1.0
        return cosine(first, peak, s), cosine(high, low, s)
    s = (step - top) / (steps - top)
    return cosine(peak, last, s), cosine(low, high, s)


def momentum_as_a_mirror_of_the_rate(
    step, steps, rise, peak, start_factor, final_factor, low, high
):
    """Computes the momentum from the rate, which ends below its start, so it ends above high."""
    first = peak / start_factor
    last = first / final_factor
    top = round(rise * steps) - 1
    if step < top:
        a, b, s = first, peak, step / top
    else:
        a, b, s = peak, last, (step - top) / (steps - 1 - top)
    rate = b + 0.5 * (a - b) * (1 + math.cos(math.pi * s))
    momentum = high - (high - low) * (rate - first) / (peak - first)
    return rate, momentum


# 09/spell


def boundary_always_in_front(model, prefix, shortest, longest, temperature, uniform):
    """Cuts only the letters, and keeps the boundary in front of a window that has left it."""
    mode = model.training
    model.eval()
    letters = list(prefix)
    numbers = iter(uniform)
    with torch.no_grad():
        while len(letters) < longest:
            room = model.block_size - 1
            context = [0, *letters[max(0, len(letters) - room) :]]
            logits, _ = model(torch.tensor([context]))
            scores = logits[0, -1] / temperature
            if len(letters) < shortest:
                scores[0] = -math.inf
            cumulated = scores.softmax(dim=-1).cumsum(dim=-1)
            new = int((cumulated <= next(numbers)).sum().clamp(max=len(scores) - 1))
            if new == 0:
                break
            letters.append(new)
    model.train(mode)
    return letters


@torch.no_grad()
def number_of_the_letters_place(model, prefix, shortest, longest, temperature, uniform):
    """Takes the number at its letter's place, and skips one for each prefix letter."""
    was_training = model.training
    model.eval()
    text = [0, *prefix]
    while len(text) - 1 < longest:
        n = len(text) - 1
        x = torch.tensor(text[-model.block_size :])[None]
        z = model(x)[0][0, -1].clone() / temperature
        if n < shortest:
            z[0] = float("-inf")
        total = torch.cumsum(F.softmax(z, dim=0), dim=0)
        u = uniform[n]
        token = min(int((total <= u).sum()), z.numel() - 1)
        if token == 0:
            break
        text.append(token)
    model.train(was_training)
    return text[1:]


WRITTEN = {
    "09/split": [entries_in_the_drawn_order, order_read_as_places],
    "09/stream": [every_name_between_two_boundaries, windows_that_leave_a_token_out],
    "09/carried": [blanks_after_reading, gradients_of_the_mean_of_batches],
    "09/last": [last_target_left_out, all_lengths_out_of_one_pass],
    "09/by-letter": [place_goes_on_in_the_next_row, place_waits_where_no_target_is],
    "09/one-cycle": [second_half_never_arrives, momentum_as_a_mirror_of_the_rate],
    "09/spell": [boundary_always_in_front, number_of_the_letters_place],
}
