"""Wrong answers to chapter 09 that no list names: the sixth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 09/split


# "the next held_out for validation": here the last ones
def validation_at_the_end(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[len(order) - held_out :]}
    parts = [], [], []
    for name in names:
        key = name.lower()
        parts[2 if key in test else 1 if key in validation else 0].append(name)
    return parts


# "Names that differ only in capitals are one name": `ß` and `ss` differ in more than that
def folded_case(names, order, held_out):
    distinct = list(dict.fromkeys(name.casefold() for name in names))
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[held_out : 2 * held_out]}
    parts = [], [], []
    for name in names:
        key = name.casefold()
        parts[2 if key in test else 1 if key in validation else 0].append(name)
    return parts


# "your functions leave what they are given as it was": `order` is used up
def order_used_up(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    test = {distinct[order.pop(0)] for _ in range(held_out)}
    validation = {distinct[order.pop(0)] for _ in range(held_out)}
    train = {distinct[i] for i in order}
    return tuple([n for n in names if n.lower() in part] for part in (train, validation, test))


# 09/stream


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


# 09/carried


# "A row that is fresh starts blank": here it is blank one batch later
def blank_one_batch_late(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
        state = tuple(part.detach().masked_fill(fresh[None, :, None], 0.0) for part in state)
    return losses


# "starts blank, which is all zeros": hidden and cell
def cell_carried_over(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            hidden, cell = (part.detach() for part in state)
            state = hidden.masked_fill(fresh[None, :, None], 0.0), cell
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
    return losses


# "let the gradients in the parameters add up [...] and set nothing to zero": also what was there
# before
def gradients_cleared_first(model, batches):
    for parameter in model.parameters():
        parameter.grad = None
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = tuple(p.detach().masked_fill(fresh[None, :, None], 0.0) for p in state)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
    return losses


# 09/last


# "the T tokens right before the target": here the first T of the longest window, and another
# target
@torch.no_grad()
def first_tokens_of_the_longest(model, tokens, lengths):
    windows = tokens.unfold(0, max(lengths) + 1, 1)
    found = []
    for T in lengths:
        logits = model(windows[:, :T])[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, T]).item())
    return found


# "at least max(lengths) tokens before it": the lengths may come in any order
@torch.no_grad()
def longest_is_named_last(model, tokens, lengths):
    found = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[max(0, lengths[-1] - T) :]
        logits = model(windows[:, :-1])[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


# "one mean loss for each entry of lengths": also where an entry comes twice
@torch.no_grad()
def one_for_each_length(model, tokens, lengths):
    found = {}
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[max(lengths) - T :]
        logits = model(windows[:, :-1])[0][:, -1]
        found[T] = F.cross_entropy(logits, windows[:, -1]).item()
    return list(found.values())


# 09/by-letter


# "Rows do not continue each other": the counter is not forgotten at the end of a row
def counter_runs_on(logits, x, y, boundary, longest):
    losses = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none").tolist()
    sums, counts = torch.zeros(longest), torch.zeros(longest)
    place = None
    for loss, token, target in zip(losses, x.flatten().tolist(), y.flatten().tolist(), strict=True):
        if token == boundary:
            place = 0
        elif place is not None:
            place += 1
        if place is not None and place < longest and target != -100:
            sums[place] += loss
            counts[place] += 1
    return sums / counts


# "the boundary at the end of a name is counted as if it were its next letter"
def ends_left_out(logits, x, y, boundary, longest):
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    where = torch.arange(x.shape[1]).expand_as(x)
    place = where - torch.where(x == boundary, where, -(10**6)).cummax(dim=1).values
    counted = (y >= 0) & (y != boundary)
    return torch.stack([losses[(place == k) & counted].mean() for k in range(longest)])


# "later places do not count": here they count at the last place
def later_places_in_the_last(logits, x, y, boundary, longest):
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    sums, counts = torch.zeros(longest), torch.zeros(longest)
    for b in range(len(x)):
        place = None
        for t in range(x.shape[1]):
            if x[b, t] == boundary:
                place = 0
            elif place is not None:
                place = min(place + 1, longest - 1)
            if place is not None and y[b, t] != -100:
                sums[place] += losses[b, t]
                counts[place] += 1
    return sums / counts


# 09/one-cycle


# "Both go along half a cosine": here the momentum goes straight
def straight_momentum(step, steps, rise, peak, start_factor, final_factor, low, high):
    top = round(rise * steps) - 1
    first = peak / start_factor
    if step <= top:
        s, a, b, c, d = step / top, first, peak, high, low
    else:
        s = (step - top) / (steps - 1 - top)
        a, b, c, d = peak, first / final_factor, low, high
    return b + (a - b) / 2 * (1 + math.cos(math.pi * s)), c + (d - c) * s


# "In the second half s [...] 0 at the peak": here one step later, so that the peak lasts two steps
def peak_held_for_two_steps(step, steps, rise, peak, start_factor, final_factor, low, high):
    def half(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    up = round(rise * steps)
    first = peak / start_factor
    if step < up:
        s = step / (up - 1)
        return half(first, peak, s), half(high, low, s)
    s = (step - up) / max(steps - 1 - up, 1)
    return half(peak, first / final_factor, s), half(low, high, s)


# "In floating point the product may miss that number by a little", upwards as well:
# 0.07 * 100 is 7.000000000000001
def peak_rounded_up(step, steps, rise, peak, start_factor, final_factor, low, high):
    def half(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    top = math.ceil(rise * steps) - 1
    first = peak / start_factor
    if step <= top:
        return half(first, peak, step / top), half(high, low, step / top)
    s = (step - top) / (steps - 1 - top)
    return half(peak, first / final_factor, s), half(low, high, s)


# 09/spell


# "of which it reads the last model.block_size tokens": here the boundary is always among them
@torch.no_grad()
def boundary_always_in_front(model, prefix, shortest, longest, temperature, uniform):
    was_training = model.training
    model.eval()
    letters, numbers = list(prefix), iter(uniform)
    while len(letters) < longest:
        past = letters[max(0, len(letters) - model.block_size + 1) :]
        logits = model(torch.tensor([[0, *past]]))[0][0, -1] / temperature
        if len(letters) < shortest:
            logits[0] = -torch.inf
        cumulated = logits.softmax(dim=-1).cumsum(dim=-1)
        token = int((cumulated <= next(numbers)).sum())
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


# "the first token whose cumulative probability is larger than u": a boundary that must not be
# drawn has 0, which is not larger than a u of 0
@torch.no_grad()
def at_least_u(model, prefix, shortest, longest, temperature, uniform):
    was_training = model.training
    model.eval()
    letters, numbers = list(prefix), iter(uniform)
    while len(letters) < longest:
        logits = model(torch.tensor([[0, *letters]])[:, -model.block_size :])[0][0, -1]
        logits = logits / temperature
        if len(letters) < shortest:
            logits[0] = -torch.inf
        cumulated = logits.softmax(dim=-1).cumsum(dim=-1)
        token = int((cumulated < next(numbers)).sum())
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


# "The name ends [...] when it has longest letters. Letters of the prefix count": a prefix that has
# them all gets one more
@torch.no_grad()
def one_letter_in_any_case(model, prefix, shortest, longest, temperature, uniform):
    was_training = model.training
    model.eval()
    letters = [*prefix]
    for u in uniform:
        logits = model(torch.tensor([[0, *letters]])[:, -model.block_size :])[0][0, -1]
        logits = logits / temperature
        if len(letters) < shortest:
            logits[0] = -torch.inf
        token = int((logits.softmax(dim=-1).cumsum(dim=-1) <= u).sum())
        if token == 0:
            break
        letters.append(token)
        if len(letters) >= longest:
            break
    model.train(was_training)
    return letters


WRITTEN = {
    "09/split": [validation_at_the_end, folded_case, order_used_up],
    "09/stream": [windows_of_the_first_row, last_name_left_open, last_input_without_target],
    "09/carried": [blank_one_batch_late, cell_carried_over, gradients_cleared_first],
    "09/last": [first_tokens_of_the_longest, longest_is_named_last, one_for_each_length],
    "09/by-letter": [counter_runs_on, ends_left_out, later_places_in_the_last],
    "09/one-cycle": [straight_momentum, peak_held_for_two_steps, peak_rounded_up],
    "09/spell": [boundary_always_in_front, at_least_u, one_letter_in_any_case],
}

ASIDE = {
    "validation_at_the_end",
    "folded_case",
    "order_used_up",
    "windows_of_the_first_row",
    "last_name_left_open",
    "boundary_always_in_front",
    "at_least_u",
}
