"""Wrong answers to chapter 09 that no list names: the ninth set.

The comment before each says who the student is, and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 09/split


# keeps the spelling that came first, and looks entries up as they are: "Names that differ only in
# capitals are one name"
def looked_up_as_first_spelled(names, order, held_out):
    first = {}
    for name in names:
        first.setdefault(name.lower(), name)
    distinct = list(first.values())
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[held_out : 2 * held_out]}
    parts = [], [], []
    for name in names:
        parts[2 if name in test else 1 if name in validation else 0].append(name)
    return parts


# comes from pandas and collects the entries group by group: "in the order of the list"
def group_by_group(names, order, held_out):
    groups = {}
    for name in names:
        groups.setdefault(name.lower(), []).append(name)
    spellings = list(groups.values())
    shuffled = [spellings[number] for number in order]
    test = [name for group in shuffled[:held_out] for name in group]
    validation = [name for group in shuffled[held_out : 2 * held_out] for name in group]
    train = [name for group in shuffled[2 * held_out :] for name in group]
    return train, validation, test


# 09/stream


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


# 09/carried


# did what the error message said: "no gradient flows from one batch into the one before"
def graph_retained(model, batches):
    losses = []
    state = None
    for x, y, fresh in batches:
        if state is not None:
            hidden, cell = state
            keep = (~fresh).float().view(1, -1, 1)
            state = (hidden * keep, cell * keep)
        logits, state = model.read(x, state)
        B, T, V = logits.shape
        loss = F.cross_entropy(logits.reshape(B * T, V), y.reshape(B * T))
        loss.backward(retain_graph=True)
        losses.append(loss.item())
    return losses


# takes `fresh` for what comes after the batch: "A row that is fresh starts blank"
def blank_after_the_batch(model, batches):
    losses = []
    state = None
    for x, y, fresh in batches:
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
        state = tuple(s.detach().masked_fill(fresh.view(1, -1, 1), 0) for s in state)
    return losses


# in a hurry, starts the whole batch again: "every other row starts from the state that it had at
# the end of the batch before"
def one_fresh_row_is_enough(model, batches):
    losses, state = [], None
    for x, y, fresh in batches:
        if fresh.any():
            state = None
        if state is not None:
            state = (state[0].detach(), state[1].detach())
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.transpose(1, 2), y)
        loss.backward()
        losses.append(loss.item())
    return losses


# 09/last


# sorts the lengths to find the longest: "one mean loss for each entry of `lengths`, in that order"
def sorted_to_find_the_longest(model, tokens, lengths):
    lengths.sort()
    longest = lengths[-1]
    losses = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[longest - T :]
        with torch.no_grad():
            logits, _ = model(windows[:, :-1])
        losses.append(F.cross_entropy(logits[:, -1], windows[:, -1]).item())
    return losses


# cuts the windows of the longest past from the wrong end: "the T tokens right before the target"
def front_of_the_longest_past(model, tokens, lengths):
    windows = tokens.unfold(0, max(lengths) + 1, 1)
    targets = windows[:, -1]
    result = []
    for T in lengths:
        with torch.no_grad():
            logits, _ = model(windows[:, :T])
        result.append(F.cross_entropy(logits[:, -1, :], targets).item())
    return result


# 09/by-letter


# sets the counter once, before the loop over rows: "Rows do not continue each other"
def counter_goes_on_in_the_next_row(logits, x, y, boundary, longest):
    losses = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none").view(y.shape)
    sums = torch.zeros(longest)
    counts = torch.zeros(longest)
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


# comes from statistics and closes the table with a class of "and more": "later places do not count"
def last_place_and_beyond(logits, x, y, boundary, longest):
    B, T = x.shape
    losses = F.cross_entropy(logits.view(B * T, -1), y.view(-1), reduction="none").view(B, T)
    place = torch.full((B, T), -1)
    for b in range(B):
        k = -1
        for t in range(T):
            if x[b, t] == boundary:
                k = 0
            elif k >= 0:
                k = min(k + 1, longest - 1)
            place[b, t] = k
    place[y == -100] = -1
    return torch.stack([losses[place == k].mean() for k in range(longest)])


# thinks that only letters are letters: "the boundary at the end of a name is counted as if it were
# its next letter"
def letters_without_the_end(logits, x, y, boundary, longest):
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    found = [[] for _ in range(longest)]
    for b in range(len(x)):
        place = None
        for t in range(x.shape[1]):
            if x[b, t] == boundary:
                place = 0
            elif place is not None:
                place += 1
            if place is None or place >= longest or y[b, t] < 0 or y[b, t] == boundary:
                continue
            found[place].append(losses[b, t])
    return torch.stack([torch.stack(place).mean() for place in found])


# 09/one-cycle


# computes the momentum from the rate, as its mirror image: "and ends at `high`", whereas the rate
# ends below where it began
def momentum_mirrors_the_rate(step, steps, rise, peak, start_factor, final_factor, low, high):
    first = peak / start_factor
    last = first / final_factor
    top = round(rise * steps) - 1
    if step <= top:
        s = step / top
        rate = peak + (first - peak) / 2 * (1 + math.cos(math.pi * s))
    else:
        s = (step - top) / (steps - 1 - top)
        rate = last + (peak - last) / 2 * (1 + math.cos(math.pi * s))
    momentum = high - (high - low) * (rate - first) / (peak - first)
    return rate, momentum


# copies the line of the first half and forgets to turn the momentum round: "is at `low` where the
# rate is at its peak, and ends at `high`"
def momentum_falls_twice(step, steps, rise, peak, start_factor, final_factor, low, high):
    def half_cosine(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    initial = peak / start_factor
    top = round(rise * steps) - 1
    if step <= top:
        s = step / top
        return half_cosine(initial, peak, s), half_cosine(high, low, s)
    s = (step - top) / (steps - 1 - top)
    return half_cosine(peak, initial / final_factor, s), half_cosine(high, low, s)


# 09/spell


# keeps the boundary in front of whatever the model reads: "of which it reads the last
# `model.block_size` tokens"
def boundary_always_in_front(model, prefix, shortest, longest, temperature, uniform):
    mode = model.training
    model.eval()
    name = list(prefix)
    numbers = iter(uniform)
    while len(name) < longest:
        recent = name[-(model.block_size - 1) :] if model.block_size > 1 else []
        with torch.no_grad():
            logits, _ = model(torch.tensor([[0, *recent]]))
        logits = logits[0, -1] / temperature
        if len(name) < shortest:
            logits[0] = float("-inf")
        cumulative = torch.cumsum(torch.softmax(logits, dim=0), dim=0)
        token = int((cumulative <= next(numbers)).sum())
        if token == 0:
            break
        name.append(token)
    model.train(mode)
    return name


# comes from Java and counts the random numbers like the letters: "The next number u of `uniform`",
# the first of which is for the first letter that is drawn
def number_by_place_in_the_name(model, prefix, shortest, longest, temperature, uniform):
    was_training = model.training
    model.eval()
    letters = prefix.copy()
    for i in range(len(prefix), longest):
        context = [0, *letters][-model.block_size :]
        with torch.no_grad():
            logits, _ = model(torch.tensor([context]))
        last = logits[0, -1, :] / temperature
        if i < shortest:
            last[0] = -torch.inf
        cumulative = last.softmax(dim=0).cumsum(dim=0)
        token = (cumulative <= uniform[i]).sum().item()
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


WRITTEN = {
    "09/split": [looked_up_as_first_spelled, group_by_group],
    "09/stream": [dealt_like_cards, padded_to_the_longest, boundary_on_both_sides],
    "09/carried": [graph_retained, blank_after_the_batch, one_fresh_row_is_enough],
    "09/last": [sorted_to_find_the_longest, front_of_the_longest_past],
    "09/by-letter": [
        counter_goes_on_in_the_next_row,
        last_place_and_beyond,
        letters_without_the_end,
    ],
    "09/one-cycle": [momentum_mirrors_the_rate, momentum_falls_twice],
    "09/spell": [boundary_always_in_front, number_by_place_in_the_name],
}

ASIDE = {
    "looked_up_as_first_spelled",
    "boundary_on_both_sides",
    "blank_after_the_batch",
    "one_fresh_row_is_enough",
    "counter_goes_on_in_the_next_row",
    "momentum_mirrors_the_rate",
    "boundary_always_in_front",
}
