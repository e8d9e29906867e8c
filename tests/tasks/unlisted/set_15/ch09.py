"""Wrong answers to chapter 09 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 09/split


def spellings_grouped_together(names, order, held_out):
    """Puts all spellings of a name behind its first entry: a part isn't in the list's order."""
    spellings = {}
    for name in names:
        spellings.setdefault(name.lower(), []).append(name)
    groups = list(spellings.values())
    test = set(order[:held_out])
    validation = set(order[held_out : 2 * held_out])
    parts = [], [], []
    for number, group in enumerate(groups):
        part = 2 if number in test else 1 if number in validation else 0
        parts[part].extend(group)
    return parts


# 09/stream


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


# 09/carried


def detached_after_every_token(model, batches):
    """Reads token by token and detaches after each, so no gradient flows inside a batch either."""
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = tuple(part.masked_fill(fresh.view(1, -1, 1), 0.0) for part in state)
        answers = []
        for t in range(x.shape[1]):
            logits, state = model.read(x[:, t : t + 1], state)
            state = tuple(part.detach() for part in state)
            answers.append(logits)
        loss = F.cross_entropy(torch.cat(answers, dim=1).flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
    return losses


# 09/last


def short_pasts_filled_with_zeros(model, tokens, lengths):
    """Blanks the older tokens with token 0, which the model reads in front of a short past."""
    windows = tokens.unfold(0, max(lengths) + 1, 1)
    x, y = windows[:, :-1], windows[:, -1]
    found = []
    for T in lengths:
        past = x.clone()
        past[:, : max(lengths) - T] = 0
        with torch.no_grad():
            logits, _ = model(past)
        found.append(F.cross_entropy(logits[:, -1], y).item())
    return found


# 09/by-letter


def mean_of_the_rows_means(logits, x, y, boundary, longest):
    """Takes each row's mean at a place, then the mean of the rows, however many names they hold."""
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    where = torch.arange(x.shape[1]).expand_as(x)
    began = torch.where(x == boundary, where, -1_000_000).cummax(dim=1).values
    place = (where - began).masked_fill(y == -100, -1)
    found = []
    for k in range(longest):
        rows = losses.masked_fill(place != k, torch.nan).nanmean(dim=1)
        found.append(rows.nanmean())
    return torch.stack(found)


# 09/one-cycle


def peak_rounded_up(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Rounds rise * steps up by ceil: where it is a little too large, the peak is a step late."""
    top = math.ceil(rise * steps) - 1
    first = peak / start_factor

    def cosine(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    if step <= top:
        s = step / top
        return cosine(first, peak, s), cosine(high, low, s)
    s = (step - top) / (steps - 1 - top)
    return cosine(peak, first / final_factor, s), cosine(low, high, s)


# 09/spell


def draws_again_if_too_short(model, prefix, shortest, longest, temperature, uniform):
    """Throws a boundary that comes too early away and takes the next number, not zeroing it."""
    was_training = model.training
    model.eval()
    letters = list(prefix)
    numbers = iter(uniform)
    with torch.no_grad():
        while len(letters) < longest:
            context = torch.tensor([0, *letters])[-model.block_size :]
            logits = model(context[None])[0][0, -1] / temperature
            cumulative = logits.softmax(dim=-1).cumsum(dim=-1)
            token = int((cumulative <= next(numbers)).sum())
            if token == 0 and len(letters) < shortest:
                continue
            if token == 0:
                break
            letters.append(token)
    model.train(was_training)
    return letters


# 09/letters-of-past


def contexts_end_at_the_boundary():
    """Writes boundaries for all letters before the name began, so no context reaches across."""
    return {
        "text": "names",
        "one": 2.4592,
        "two": 2.2471,
        "three": 2.2239,
        "four": 2.3969,
    }


WRITTEN = {
    "09/split": [spellings_grouped_together],
    "09/stream": [targets_rolled_in_the_cut_row],
    "09/carried": [detached_after_every_token],
    "09/last": [short_pasts_filled_with_zeros],
    "09/by-letter": [mean_of_the_rows_means],
    "09/one-cycle": [peak_rounded_up],
    "09/spell": [draws_again_if_too_short],
    "09/letters-of-past": [contexts_end_at_the_boundary],
}
