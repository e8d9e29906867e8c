"""Wrong answers to chapter 09 that no list names: the third set."""

import math

import torch
import torch.nn.functional as F

# 09/split


def test_from_the_end_of_the_order(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    test = {distinct[i] for i in order[len(order) - held_out :]}
    validation = {distinct[i] for i in order[len(order) - 2 * held_out : len(order) - held_out]}
    return (
        [name for name in names if name.lower() not in test | validation],
        [name for name in names if name.lower() in validation],
        [name for name in names if name.lower() in test],
    )


# 09/stream


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


# 09/carried


def gradients_averaged_over_the_batches(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = tuple(part.detach() * ~fresh[None, :, None] for part in state)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        (loss / len(batches)).backward()
        losses.append(loss.item())
    return losses


# 09/last


def as_many_targets_but_the_first_ones(model, tokens, lengths):
    found, count = [], len(tokens) - max(lengths)
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[:count]
        with torch.no_grad():
            logits = model(windows[:, :-1])[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


# 09/by-letter


def places_run_on_into_the_next_row(logits, x, y, boundary, longest):
    losses = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
    where = torch.arange(x.numel())
    began = torch.where(x.flatten() == boundary, where, -1_000_000).cummax(dim=0).values
    place, counts = where - began, y.flatten() >= 0
    return torch.stack([losses[(place == k) & counts].mean() for k in range(longest)])


# 09/one-cycle


def fall_that_never_quite_ends(step, steps, rise, peak, start_factor, final_factor, low, high):
    def between(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    turn = round(rise * steps) - 1
    first = peak / start_factor
    if step <= turn:
        return between(first, peak, step / turn), between(high, low, step / turn)
    share = (step - turn) / (steps - turn)
    return between(peak, first / final_factor, share), between(low, high, share)


# 09/spell


def boundary_always_in_front(model, prefix, shortest, longest, temperature, uniform):
    was_training = model.training
    model.eval()
    letters = list(prefix)
    for u in uniform:
        if len(letters) == longest:
            break
        context = torch.tensor([0, *letters[max(0, len(letters) - model.block_size + 1) :]])
        with torch.no_grad():
            logits = model(context[None])[0][0, -1] / temperature
        if len(letters) < shortest:
            logits[0] = -torch.inf
        cumulative = logits.softmax(dim=-1).cumsum(dim=-1)
        token = int((cumulative <= u).sum())
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


WRITTEN = {
    "09/split": [test_from_the_end_of_the_order],
    "09/stream": [a_boundary_on_both_sides],
    "09/carried": [gradients_averaged_over_the_batches],
    "09/last": [as_many_targets_but_the_first_ones],
    "09/by-letter": [places_run_on_into_the_next_row],
    "09/one-cycle": [fall_that_never_quite_ends],
    "09/spell": [boundary_always_in_front],
}
