"""Wrong answers to chapter 09 that no list names: the seventh set, what students hand in.

The comment before each says who wrote it and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 09/split


# Has train, validation, test in mind and deals out the numbers in that order.
# "The first `held_out` of them are for test, the next `held_out` for validation"
def validation_before_test(names, order, held_out):
    distinct = []
    for name in names:
        if name.lower() not in distinct:
            distinct.append(name.lower())
    validation_keys = [distinct[i] for i in order[:held_out]]
    test_keys = [distinct[i] for i in order[held_out : 2 * held_out]]
    train, validation, test = [], [], []
    for name in names:
        if name.lower() in validation_keys:
            validation.append(name)
        elif name.lower() in test_keys:
            test.append(name)
        else:
            train.append(name)
    return train, validation, test


# 09/stream


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


# 09/carried


# Starts all rows over as soon as one is fresh.
# "every other row starts from the state that it had at the end of the batch before"
def all_rows_blank(model, batches):
    losses = []
    state = None
    for x, y, fresh in batches:
        if fresh.any():
            state = None
        logits, state = model.read(x, state)
        state = (state[0].detach(), state[1].detach())
        loss = F.cross_entropy(logits.transpose(1, 2), y)
        loss.backward()
        losses.append(loss.item())
    return losses


# Adds the losses up and goes backward once, to save time, divided by how many they are.
# "Go backward through the loss of every batch, and let the gradients … add up."
def mean_of_the_batches(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = [s.detach() * (~fresh)[None, :, None] for s in state]
        logits, state = model.read(x, None if state is None else tuple(state))
        losses.append(F.cross_entropy(logits.flatten(0, 1), y.flatten()))
    torch.stack(losses).mean().backward()
    return [loss.item() for loss in losses]


# 09/last


# Writes the loop over the targets with Python's range and loses one at the end.
# "Every such token of the text is a target, the last one too."
def last_target_lost(model, tokens, lengths):
    longest = max(lengths)
    result = []
    for T in lengths:
        starts = range(longest - T, len(tokens) - T - 1)
        x = torch.stack([tokens[i : i + T] for i in starts])
        y = torch.stack([tokens[i + T] for i in starts])
        with torch.no_grad():
            logits, _ = model(x)
        result.append(F.cross_entropy(logits[:, -1], y).item())
    return result


# Reads the longest windows once and takes the logits at position T − 1 of them.
# "the model reads the T tokens right before the target and nothing else"
def one_pass_for_all_lengths(model, tokens, lengths):
    longest = max(lengths)
    windows = tokens.unfold(0, longest + 1, 1)
    with torch.no_grad():
        logits, _ = model(windows[:, :-1])
    losses = []
    for T in lengths:
        losses.append(F.cross_entropy(logits[:, T - 1], windows[:, T]).item())
    return losses


# 09/by-letter


# Trusts ignore_index, which gives a loss of 0 and not none.
# "Targets of −100 do not count."
def ignored_as_zero(logits, x, y, boundary, longest):
    B, T, V = logits.shape
    loss = F.cross_entropy(logits.view(B * T, V), y.view(B * T), reduction="none").view(B, T)
    sums, counts = [0.0] * longest, [0] * longest
    for b in range(B):
        place = None
        for t in range(T):
            if x[b, t] == boundary:
                place = 0
            elif place is not None:
                place += 1
            if place is not None and place < longest:
                sums[place] += loss[b, t].item()
                counts[place] += 1
    return torch.tensor([s / n for s, n in zip(sums, counts, strict=True)])


# Begins the counter of every row with 0, as loops do.
# "Before the first boundary of a row the place is unknown. Those positions do not count."
def rows_begin_at_zero(logits, x, y, boundary, longest):
    losses = F.cross_entropy(logits.permute(0, 2, 1), y, reduction="none")
    places = torch.zeros_like(x)
    for b in range(x.shape[0]):
        place = 0
        for t in range(x.shape[1]):
            place = 0 if x[b, t] == boundary else place + 1
            places[b, t] = place
    valid = y != -100
    return torch.stack([losses[valid & (places == k)].mean() for k in range(longest)])


# 09/one-cycle


# Remembers that one-cycle ends far below the peak, and divides the peak.
# "ends at its *first* value divided by `final_factor`"
def peak_by_final_factor(step, steps, rise, peak, start_factor, final_factor, low, high):
    def cosine(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    top = round(rise * steps) - 1
    if step <= top:
        s = step / top
        return cosine(peak / start_factor, peak, s), cosine(high, low, s)
    s = (step - top) / (steps - 1 - top)
    return cosine(peak, peak / final_factor, s), cosine(low, high, s)


# 09/spell


# Sets the probability of the boundary to 0 and draws from what is left.
# "its probability is 0, and the others sum to 1"
def not_renormalized(model, prefix, shortest, longest, temperature, uniform):
    mode = model.training
    model.eval()
    letters = prefix[:]
    numbers = iter(uniform)
    while len(letters) < longest:
        context = [0, *letters][-model.block_size :]
        with torch.no_grad():
            logits, _ = model(torch.tensor([context]))
        probabilities = F.softmax(logits[0, -1] / temperature, dim=-1)
        if len(letters) < shortest:
            probabilities[0] = 0.0
        u = next(numbers)
        token = len(probabilities) - 1
        total = 0.0
        for i, p in enumerate(probabilities.tolist()):
            total += p
            if total > u:
                token = i
                break
        if token == 0:
            break
        letters.append(token)
    model.train(mode)
    return letters


WRITTEN = {
    "09/split": [validation_before_test],
    "09/stream": [dealt_in_turn],
    "09/carried": [all_rows_blank, mean_of_the_batches],
    "09/last": [last_target_lost, one_pass_for_all_lengths],
    "09/by-letter": [ignored_as_zero, rows_begin_at_zero],
    "09/one-cycle": [peak_by_final_factor],
    "09/spell": [not_renormalized],
}
