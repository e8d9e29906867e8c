"""Wrong answers to chapter 09 that no list names: the tenth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 09/split


# Cleans the data first, as in every other project: "Every entry of the list goes where its name
# goes"
def one_entry_for_each_name(names, order, held_out):
    spelled = {}
    for name in names:
        spelled.setdefault(name.lower(), name)
    unique = list(spelled.values())
    test = set(order[:held_out])
    validation = set(order[held_out : 2 * held_out])
    parts = [], [], []
    for i, name in enumerate(unique):
        parts[2 if i in test else 1 if i in validation else 0].append(name)
    return parts


# 09/stream


# Cuts pieces of T + 1 and takes both from each, so that the last of a piece is never an input: "row
# b of step n + 1 continues row b of step n"
def pieces_with_one_more(names, order, batch_size, block_size):
    per_row = len(order) // batch_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for number in order[b * per_row : (b + 1) * per_row]:
            row.extend(names[number])
            row.append(0)
        rows.append(row)
    length = block_size + 1
    steps = min(len(row) for row in rows) // length
    data = torch.tensor([row[: steps * length] for row in rows])
    data = data.view(batch_size, steps, length).transpose(0, 1)
    return data[:, :, :-1], data[:, :, 1:]


# 09/carried


# Takes `fresh` for the end of a text rather than its beginning: "A row that is fresh starts blank"
def blanks_after_the_batch(model, batches):
    losses = []
    state = None
    for x, y, fresh in batches:
        logits, (hidden, cell) = model.read(x, state)
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))
        loss.backward()
        losses.append(loss.item())
        keep = (~fresh).float().view(1, -1, 1)
        state = hidden.detach() * keep, cell.detach() * keep
    return losses


# 09/last


# Makes the numbers of targets equal, and takes the windows in front: "Every such token of the text
# is a target, the last one too."
def as_many_windows_from_the_start(model, tokens, lengths):
    n = len(tokens) - max(lengths)
    losses = []
    with torch.no_grad():
        for T in lengths:
            x = torch.stack([tokens[i : i + T] for i in range(n)])
            y = torch.stack([tokens[i + T] for i in range(n)])
            logits, _ = model(x)
            losses.append(F.cross_entropy(logits[:, -1, :], y).item())
    return losses


# 09/by-letter


# Met "index out of bounds" at long names and clamped the place: "later places do not count"
def later_places_with_the_last(logits, x, y, boundary, longest):
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    sums, counts = torch.zeros(longest), torch.zeros(longest)
    for b in range(x.shape[0]):
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


# Copied the straight lines of the chapter for the momentum: "Both go along half a cosine, up and
# down"
def momentum_along_straight_lines(step, steps, rise, peak, start_factor, final_factor, low, high):
    first = peak / start_factor
    last = first / final_factor
    top = round(rise * steps) - 1
    if step <= top:
        s = step / top
        rate = peak + (first - peak) / 2 * (1 + math.cos(math.pi * s))
        return rate, high + (low - high) * s
    s = (step - top) / (steps - 1 - top)
    rate = last + (peak - last) / 2 * (1 + math.cos(math.pi * s))
    return rate, low + (high - low) * s


# 09/spell


# Asks about the boundary only where there is nothing else: "The model is asked about the boundary
# followed by the letters so far"
def boundary_if_there_is_no_letter(model, prefix, shortest, longest, temperature, uniform):
    training = model.training
    model.eval()
    letters = prefix.copy()
    i = 0
    while len(letters) < longest:
        context = letters[-model.block_size :] if letters else [0]
        with torch.no_grad():
            logits, _ = model(torch.tensor([context]))
        logits = logits[0, -1] / temperature
        if len(letters) < shortest:
            logits[0] = float("-inf")
        cumulative = torch.softmax(logits, dim=-1).cumsum(dim=-1)
        token = (cumulative > uniform[i]).nonzero()[0].item()
        i += 1
        if token == 0:
            break
        letters.append(token)
    model.train(training)
    return letters


WRITTEN = {
    "09/split": [one_entry_for_each_name],
    "09/stream": [pieces_with_one_more],
    "09/carried": [blanks_after_the_batch],
    "09/last": [as_many_windows_from_the_start],
    "09/by-letter": [later_places_with_the_last],
    "09/one-cycle": [momentum_along_straight_lines],
    "09/spell": [boundary_if_there_is_no_letter],
}
