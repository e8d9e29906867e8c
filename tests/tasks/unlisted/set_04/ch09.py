"""Wrong answers to chapter 09 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 09/split


# "names that differ only in capitals are one name"
def first_spelling_alone_is_held_out(names, order, held_out):
    first = {}
    for name in names:
        first.setdefault(name.lower(), name)
    distinct = list(first.values())
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[held_out : 2 * held_out]}
    train = [name for name in names if name not in test and name not in validation]
    return train, [n for n in names if n in validation], [n for n in names if n in test]


# "every entry of the list goes where its name goes … in the order of the list"
def parts_in_the_order_of_the_drawing(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    entries = {name: [] for name in distinct}
    for name in names:
        entries[name.lower()].append(name)

    def part(numbers):
        return [entry for i in numbers for entry in entries[distinct[i]]]

    return (
        part(order[2 * held_out :]),
        part(order[held_out : 2 * held_out]),
        part(order[:held_out]),
    )


# 09/stream


def in_steps(rows, block_size):
    T = block_size
    rows = [torch.tensor(row) for row in rows]
    steps = min(len(row) - 1 for row in rows) // T
    x = torch.stack([row[: steps * T].view(steps, T) for row in rows], dim=1)
    y = torch.stack([row[1 : steps * T + 1].view(steps, T) for row in rows], dim=1)
    return x, y


# "with 6 names and B = 2, row 0 gets the first three of order"
def names_dealt_like_cards(names, order, batch_size, block_size):
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b::batch_size]:
            row += [*names[i], 0]
        rows.append(row)
    return in_steps(rows, block_size)


# "a row is the boundary, its first name, the boundary, its second name, and so on"
def two_boundaries_between_names(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = [
        [token for i in order[b * each : (b + 1) * each] for token in (0, *names[i], 0)]
        for b in range(batch_size)
    ]
    return in_steps(rows, block_size)


# 09/carried


# "blank, which is all zeros": hidden and cell
def cell_is_never_blank(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            hidden, cell = (part.detach() for part in state)
            state = (hidden.masked_fill(fresh[None, :, None], 0.0), cell)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
    return losses


# "go backward through the loss of every batch, and let the gradients in the parameters add up"
def gradient_averaged_over_batches(model, batches):
    state, losses = None, []
    batches = list(batches)
    for x, y, fresh in batches:
        if state is not None:
            state = tuple(part.detach() * ~fresh[None, :, None] for part in state)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        (loss / len(batches)).backward()
        losses.append(loss.item())
    return losses


# 09/last


# "return one mean loss for each entry of lengths, in that order"
def shortest_length_first(model, tokens, lengths):
    found = []
    for T in sorted(lengths):
        windows = tokens.unfold(0, T + 1, 1)[max(lengths) - T :]
        with torch.no_grad():
            logits = model(windows[:, :-1])[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


# "the model reads the T tokens right before the target"
def first_tokens_of_the_longest_past(model, tokens, lengths):
    longest = max(lengths)
    windows = tokens.unfold(0, longest + 1, 1)
    found = []
    for T in lengths:
        with torch.no_grad():
            logits = model(windows[:, :T])[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


# 09/by-letter


# "rows do not continue each other"; "before the first boundary of a row the place is unknown"
def rows_read_as_one_text(logits, x, y, boundary, longest):
    losses = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
    place, now = [], -1
    for token in x.flatten().tolist():
        now = 0 if token == boundary else (now + 1 if now >= 0 else -1)
        place.append(now)
    place = torch.tensor(place)
    counts = y.flatten() >= 0
    return torch.stack([losses[(place == k) & counts].mean() for k in range(longest)])


# 09/one-cycle


# "the end at step steps − 1"
def end_is_one_step_beyond(step, steps, rise, peak, start_factor, final_factor, low, high):
    def between(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    turn = round(rise * steps) - 1
    first = peak / start_factor
    if step <= turn:
        share = step / turn
        return between(first, peak, share), between(high, low, share)
    share = (step - turn) / (steps - turn)
    return between(peak, first / final_factor, share), between(low, high, share)


# 09/spell


# "the boundary followed by the letters so far, of which it reads the last block_size tokens"
def boundary_always_in_sight(model, prefix, shortest, longest, temperature, uniform):
    was_training = model.training
    model.eval()
    letters = list(prefix)
    for u in uniform:
        if len(letters) == longest:
            break
        room = model.block_size - 1
        context = torch.tensor([0, *(letters[-room:] if room else [])])
        with torch.no_grad():
            logits = model(context[None])[0][0, -1] / temperature
        if len(letters) < shortest:
            logits[0] = -torch.inf
        token = int((logits.softmax(dim=-1).cumsum(dim=-1) <= u).sum())
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


# 09/letters-of-past


# "measure the mean loss in nats"
def perplexities():
    return {"text": "names", "one": 11.69, "two": 9.478, "three": 9.574, "four": 12.9}


WRITTEN = {
    "09/split": [first_spelling_alone_is_held_out, parts_in_the_order_of_the_drawing],
    "09/stream": [names_dealt_like_cards, two_boundaries_between_names],
    "09/carried": [cell_is_never_blank, gradient_averaged_over_batches],
    "09/last": [shortest_length_first, first_tokens_of_the_longest_past],
    "09/by-letter": [rows_read_as_one_text],
    "09/one-cycle": [end_is_one_step_beyond],
    "09/spell": [boundary_always_in_sight],
    "09/letters-of-past": [perplexities],
}

ASIDE = {
    "first_tokens_of_the_longest_past",
    "perplexities",
}
