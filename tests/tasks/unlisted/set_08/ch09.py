"""Wrong answers to chapter 09 that no list names: the eighth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 09/split


# Groups the entries by name first, as in SQL, and walks through `order`.
# "and in the order of the list"
def parts_in_the_drawn_order(names, order, held_out):
    groups = {}
    for name in names:
        groups.setdefault(name.lower(), []).append(name)
    entries = list(groups.values())
    parts = order[2 * held_out :], order[held_out : 2 * held_out], order[:held_out]
    train, validation, test = ([n for i in part for n in entries[i]] for part in parts)
    return train, validation, test


# Keeps the first spelling of each name and forgets that others have to be found again.
# "Every entry of the list goes where its name goes, spelled as it was"
def first_spelling_sought(names, order, held_out):
    first = {}
    for name in names:
        if name.lower() not in first:
            first[name.lower()] = name
    distinct = list(first.values())
    test = [distinct[i] for i in order[:held_out]]
    validation = [distinct[i] for i in order[held_out : 2 * held_out]]
    return (
        [name for name in names if name not in test and name not in validation],
        [name for name in names if name in validation],
        [name for name in names if name in test],
    )


# 09/stream


# Distributes the names as cards are dealt.
# "Row b gets the b-th of B equal shares of it: … row 0 gets the first three of `order`"
def names_dealt_like_cards(names, order, batch_size, block_size):
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


# 09/carried


# Followed the advice of the error message "Trying to backward through the graph a second time".
# "no gradient flows from one batch into the one before"
def graph_retained(model, batches):
    state = None
    losses = []
    for x, y, fresh in batches:
        if state is not None:
            keep = (~fresh).float()[None, :, None]
            state = (state[0] * keep, state[1] * keep)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.view(-1, logits.shape[-1]), y.view(-1))
        loss.backward(retain_graph=True)
        losses.append(loss.item())
    return losses


# Blanks the state after the batch that says where rows are fresh.
# "A row that is fresh starts blank": here it starts the next batch blank
def blank_one_batch_late(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
        h, c = state
        mask = fresh.view(1, -1, 1)
        state = (h.detach().masked_fill(mask, 0.0), c.detach().masked_fill(mask, 0.0))
    return losses


# Thinks of the hidden vector as the state, and of the cell as something internal.
# "With `state=None` every row starts blank, which is all zeros": the cell as well
def cell_of_fresh_rows_kept(model, batches):
    losses = []
    hidden = cell = None
    for x, y, fresh in batches:
        state = None
        if hidden is not None:
            hidden = hidden.detach() * (~fresh).view(1, -1, 1)
            state = (hidden, cell.detach())
        logits, (hidden, cell) = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
    return losses


# 09/last


# Wants to spare runs: the model reads each long window once.
# "For a length T the model reads the T tokens right before the target": here others follow it
def long_windows_read_once(model, tokens, lengths):
    longest = max(lengths)
    windows = tokens.unfold(0, longest + 1, 1)
    x, y = windows[:, :-1], windows[:, 1:]
    with torch.no_grad():
        logits, _ = model(x)
    return [F.cross_entropy(logits[:, T - 1], y[:, T - 1]).item() for T in lengths]


# Goes through the targets in batches of 16, and averages what the batches give.
# "the mean loss": the last batch is smaller, and its targets count more
def mean_of_the_means_of_batches(model, tokens, lengths):
    start = max(lengths)
    result = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[start - T :]
        losses = []
        for part in windows.split(16):
            with torch.no_grad():
                logits, _ = model(part[:, :-1])
            losses.append(F.cross_entropy(logits[:, -1], part[:, -1]).item())
        result.append(sum(losses) / len(losses))
    return result


# 09/by-letter


# Trusts that `ignore_index` takes care of −100 with reduction="none", too.
# "Targets of −100 do not count": their zeros are averaged in
def ignored_targets_as_zeros(logits, x, y, boundary, longest):
    B, T, V = logits.shape
    losses = F.cross_entropy(
        logits.reshape(B * T, V), y.reshape(B * T), reduction="none", ignore_index=-100
    ).view(B, T)
    sums, counts = torch.zeros(longest), torch.zeros(longest)
    for b in range(B):
        place = None
        for t in range(T):
            if x[b, t] == boundary:
                place = 0
            elif place is not None:
                place += 1
            if place is not None and place < longest:
                sums[place] += losses[b, t]
                counts[place] += 1
    return sums / counts


# Sets the counter before both loops.
# "Rows do not continue each other."
def counter_goes_on_into_the_next_row(logits, x, y, boundary, longest):
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    found = [[] for _ in range(longest)]
    letter = None
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            if x[b, t] == boundary:
                letter = 0
            elif letter is not None:
                letter += 1
            if letter is not None and letter < longest and y[b, t] != -100:
                found[letter].append(losses[b, t])
    return torch.stack([torch.stack(one).mean() for one in found])


# 09/one-cycle


# Cuts off decimals, as a cast to int does in Java.
# "In floating point the product may miss that number by a little"
def turn_cut_off(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn = int(rise * steps) - 1
    first = peak / start_factor
    last = first / final_factor
    if step <= turn:
        s = step / turn
        a, b, c, d = first, peak, high, low
    else:
        s = (step - turn) / (steps - 1 - turn)
        a, b, c, d = peak, last, low, high
    wave = (1 + math.cos(math.pi * s)) / 2
    return b + (a - b) * wave, d + (c - d) * wave


# Used the cosine for the rate, and a straight line for the momentum, as in the chapter.
# "Both go along half a cosine, up and down"
def momentum_on_straight_lines(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn = round(rise * steps) - 1
    first = peak / start_factor
    final = first / final_factor
    if step <= turn:
        s = step / turn
        rate = peak + (first - peak) / 2 * (1 + math.cos(math.pi * s))
        momentum = high + (low - high) * s
    else:
        s = (step - turn) / (steps - 1 - turn)
        rate = final + (peak - final) / 2 * (1 + math.cos(math.pi * s))
        momentum = low + (high - low) * s
    return rate, momentum


# 09/spell


# Keeps the boundary at the front of each context, so that the model knows where names begin.
# "of which it reads the last `model.block_size` tokens"
def boundary_always_in_front(model, prefix, shortest, longest, temperature, uniform):
    mode = model.training
    model.eval()
    letters = list(prefix)
    n = model.block_size - 1
    for u in uniform:
        if len(letters) >= longest:
            break
        context = [0, *letters[max(0, len(letters) - n) :]]
        with torch.no_grad():
            logits, _ = model(torch.tensor([context]))
        logits = logits[0, -1] / temperature
        if len(letters) < shortest:
            logits[0] = float("-inf")
        cumulative = torch.cumsum(torch.softmax(logits, dim=-1), dim=-1)
        token = int((cumulative <= u).sum())
        if token == 0:
            break
        letters.append(token)
    model.train(mode)
    return letters


# Sets the probability to 0 after the softmax, and forgets what that does to the sum.
# "its probability is 0, and the others sum to 1"
def boundary_taken_out_of_the_probabilities(model, prefix, shortest, longest, temperature, uniform):
    was_training = model.training
    model.eval()
    letters = [*prefix]
    draws = iter(uniform)
    while len(letters) < longest:
        context = torch.tensor([[0, *letters]])[:, -model.block_size :]
        with torch.no_grad():
            logits, _ = model(context)
        probabilities = torch.softmax(logits[0, -1] / temperature, dim=0)
        if len(letters) < shortest:
            probabilities[0] = 0.0
        u = next(draws)
        above = (probabilities.cumsum(0) > u).nonzero()
        token = above[0].item() if len(above) else len(probabilities) - 1
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


WRITTEN = {
    "09/split": [parts_in_the_drawn_order, first_spelling_sought],
    "09/stream": [names_dealt_like_cards, no_boundary_at_the_end],
    "09/carried": [
        graph_retained,
        blank_one_batch_late,
        cell_of_fresh_rows_kept,
    ],
    "09/last": [long_windows_read_once, mean_of_the_means_of_batches],
    "09/by-letter": [ignored_targets_as_zeros, counter_goes_on_into_the_next_row],
    "09/one-cycle": [turn_cut_off, momentum_on_straight_lines],
    "09/spell": [
        boundary_always_in_front,
        boundary_taken_out_of_the_probabilities,
    ],
}

ASIDE = {
    "cell_of_fresh_rows_kept",
    "long_windows_read_once",
    "ignored_targets_as_zeros",
    "boundary_always_in_front",
}
