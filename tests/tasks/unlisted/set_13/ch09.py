"""Wrong answers to chapter 09 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 09/split


def order_read_as_ranks(names, order, held_out):
    """Reads order backward: name number i goes by order[i], as if that were its drawn rank."""
    distinct = list(dict.fromkeys(name.lower() for name in names))
    rank = dict(zip(distinct, order, strict=True))
    train, validation, test = [], [], []
    for name in names:
        drawn = rank[name.lower()]
        if drawn < held_out:
            test.append(name)
        elif drawn < 2 * held_out:
            validation.append(name)
        else:
            train.append(name)
    return train, validation, test


def numbered_by_first_entry(names, order, held_out):
    """A name's number is the index of its first entry, so repeated entries leave gaps."""
    lowered = [name.lower() for name in names]
    numbers = [lowered.index(name) for name in lowered]
    test = set(order[:held_out])
    validation = set(order[held_out : 2 * held_out])
    return (
        [n for n, i in zip(names, numbers, strict=True) if i not in test | validation],
        [n for n, i in zip(names, numbers, strict=True) if i in validation],
        [n for n, i in zip(names, numbers, strict=True) if i in test],
    )


def parts_in_drawn_order(names, order, held_out):
    """Collects the entries name by name as drawn, so the parts are not in the list's order."""
    entries = {}
    for name in names:
        entries.setdefault(name.lower(), []).append(name)
    groups = list(entries.values())

    def gather(numbers):
        return [name for number in numbers for name in groups[number]]

    return (
        gather(order[2 * held_out :]),
        gather(order[held_out : 2 * held_out]),
        gather(order[:held_out]),
    )


# 09/stream


def boundary_on_both_sides(names, order, batch_size, block_size):
    """Puts a boundary before and after every name, so two stand between neighbors."""
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = []
        for i in order[b * each : (b + 1) * each]:
            row += [0, *names[i], 0]
        rows.append(torch.tensor(row))
    steps = min(len(row) - 1 for row in rows) // block_size
    used = steps * block_size
    x = torch.stack([row[:used].view(steps, block_size) for row in rows], dim=1)
    y = torch.stack([row[1 : used + 1].view(steps, block_size) for row in rows], dim=1)
    return x, y


def blocks_with_their_own_target(names, order, batch_size, block_size):
    """Cuts rows into separate blocks of T + 1, so a token is skipped between two steps."""
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row += [*names[i], 0]
        rows.append(torch.tensor(row))
    size = block_size + 1
    steps = min(len(row) for row in rows) // size
    blocks = torch.stack([row[: steps * size].view(steps, size) for row in rows], dim=1)
    return blocks[:, :, :-1], blocks[:, :, 1:]


def no_boundary_at_the_end(names, order, batch_size, block_size):
    """Writes a boundary before each name only, so a row lacks its last one and a target."""
    each = len(names) // batch_size
    rows = []
    for share in torch.tensor(order).view(batch_size, each).tolist():
        row = []
        for i in share:
            row.append(0)
            row.extend(names[i])
        rows.append(torch.tensor(row))
    steps = min(len(row) - 1 for row in rows) // block_size
    used = steps * block_size
    x = torch.stack([row[:used].view(steps, block_size) for row in rows], dim=1)
    y = torch.stack([row[1 : used + 1].view(steps, block_size) for row in rows], dim=1)
    return x, y


# 09/carried


def blank_after_a_fresh_batch(model, batches):
    """Blanks a fresh row's state after its batch, for the next one, and not before it."""
    state, losses = None, []
    for x, y, fresh in batches:
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
        blank = fresh[None, :, None]
        state = tuple(part.detach().masked_fill(blank, 0.0) for part in state)
    return losses


def gradients_averaged_over_batches(model, batches):
    """Divides each loss by the number of batches before backward, so gradients are a mean."""
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            blank = fresh[None, :, None]
            state = tuple(part.detach().masked_fill(blank, 0.0) for part in state)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        (loss / len(batches)).backward()
        losses.append(loss.item())
    return losses


def logits_viewed_as_classes_first(model, batches):
    """Brings the logits to (B, V, T) by a reshape and not a transpose, which scrambles them."""
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            blank = fresh[None, :, None]
            state = tuple(part.detach().masked_fill(blank, 0.0) for part in state)
        logits, state = model.read(x, state)
        B, T, V = logits.shape
        loss = F.cross_entropy(logits.reshape(B, V, T), y)
        loss.backward()
        losses.append(loss.item())
    return losses


# 09/last


def targets_inside_the_longest_windows(model, tokens, lengths):
    """Begins all lengths where the longest window begins, so each has other targets."""
    windows = tokens.unfold(0, max(lengths) + 1, 1)
    found = []
    for T in lengths:
        with torch.no_grad():
            logits = model(windows[:, :T])[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, T]).item())
    return found


def short_pasts_padded_with_zeros(model, tokens, lengths):
    """Fills short pasts up to the longest with token 0, which the model then reads as well."""
    longest = max(lengths)
    windows = tokens.unfold(0, longest + 1, 1)
    found = []
    for T in lengths:
        x = windows[:, :-1].clone()
        x[:, : longest - T] = 0
        with torch.no_grad():
            logits = model(x)[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


def targets_of_windows_side_by_side(model, tokens, lengths):
    """Lays the longest windows side by side, so only one token in max(lengths) is a target."""
    longest = max(lengths)
    windows = tokens.unfold(0, longest + 1, longest)
    found = []
    for T in lengths:
        with torch.no_grad():
            logits = model(windows[:, -T - 1 : -1])[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


# 09/by-letter


def later_places_in_the_last(logits, x, y, boundary, longest):
    """Clamps the place to longest - 1, so all later places count in the last mean."""
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    where = torch.arange(x.shape[1]).expand_as(x)
    began = torch.where(x == boundary, where, -1).cummax(dim=1).values
    place = (where - began).clamp(max=longest - 1)
    counts = (began >= 0) & (y >= 0)
    total = losses.new_zeros(longest).index_add_(0, place[counts], losses[counts])
    return total / torch.bincount(place[counts], minlength=longest)


def rows_without_a_boundary_counted(logits, x, y, boundary, longest):
    """Finds the first boundary by argmax, which is 0 for a row without any: that row counts."""
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    where = torch.arange(x.shape[1]).expand_as(x)
    is_boundary = x == boundary
    first = is_boundary.int().argmax(dim=1, keepdim=True)
    place = where - torch.where(is_boundary, where, 0).cummax(dim=1).values
    counts = (where >= first) & (y != -100)
    return torch.stack([losses[counts & (place == k)].mean() for k in range(longest)])


def mean_of_the_means_of_rows(logits, x, y, boundary, longest):
    """Takes each row's mean at a place first, then the mean of rows, however many each has."""
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    where = torch.arange(x.shape[1]).expand_as(x)
    began = torch.where(x == boundary, where, -1_000_000).cummax(dim=1).values
    place = where - began
    found = []
    for k in range(longest):
        chosen = (place == k) & (y >= 0)
        rows = [row[mask].mean() for row, mask in zip(losses, chosen, strict=True) if mask.any()]
        found.append(torch.stack(rows).mean())
    return torch.stack(found)


# 09/one-cycle


def momentum_computed_from_the_rate(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Derives momentum from the rate's share of the rise, so it ends above high."""

    def between(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    turn = round(rise * steps) - 1
    first = peak / start_factor
    if step <= turn:
        rate = between(first, peak, step / turn)
    else:
        rate = between(peak, first / final_factor, (step - turn) / (steps - 1 - turn))
    return rate, high - (high - low) * (rate - first) / (peak - first)


def straight_warm_up(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Goes up to the peak along a straight line, with a cosine only on the way down."""
    turn = round(rise * steps) - 1
    first = peak / start_factor
    if step <= turn:
        share = step / turn
        return first + (peak - first) * share, high + (low - high) * share
    share = (step - turn) / (steps - 1 - turn)
    down = (1 + math.cos(math.pi * share)) / 2
    last = first / final_factor
    return last + (peak - last) * down, high + (low - high) * down


def momentum_lowest_in_the_middle(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Moves the momentum along one whole cosine, lowest half-way and not at the rate's peak."""

    def between(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    turn = round(rise * steps) - 1
    first = peak / start_factor
    momentum = between(high, low, 2 * step / (steps - 1))
    if step <= turn:
        return between(first, peak, step / turn), momentum
    share = (step - turn) / (steps - 1 - turn)
    return between(peak, first / final_factor, share), momentum


# 09/spell


def drawn_again_while_too_short(model, prefix, shortest, longest, temperature, uniform):
    """Draws with the boundary allowed and, if the name is too short, takes the next number."""
    was_training = model.training
    model.eval()
    letters = list(prefix)
    for u in uniform:
        if len(letters) >= longest:
            break
        context = torch.tensor([0, *letters])[-model.block_size :]
        with torch.no_grad():
            logits = model(context[None])[0][0, -1] / temperature
        token = int((logits.softmax(dim=-1).cumsum(dim=-1) <= u).sum())
        if token == 0:
            if len(letters) < shortest:
                continue
            break
        letters.append(token)
    model.train(was_training)
    return letters


def number_chosen_by_length(model, prefix, shortest, longest, temperature, uniform):
    """Takes uniform[len(letters)], so a prefix skips as many random numbers as it has letters."""
    was_training = model.training
    model.eval()
    letters = list(prefix)
    while len(letters) < longest:
        context = torch.tensor([0, *letters])[-model.block_size :]
        with torch.no_grad():
            logits = model(context[None])[0][0, -1] / temperature
        if len(letters) < shortest:
            logits[0] = -torch.inf
        u = uniform[len(letters)]
        token = int((logits.softmax(dim=-1).cumsum(dim=-1) <= u).sum())
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


def length_checked_after_the_letter(model, prefix, shortest, longest, temperature, uniform):
    """Checks longest only after a letter was added, so a prefix of that length gets one more."""
    was_training = model.training
    model.eval()
    letters = list(prefix)
    for u in uniform:
        context = torch.tensor([0, *letters])[-model.block_size :]
        with torch.no_grad():
            logits = model(context[None])[0][0, -1] / temperature
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


# 09/letters-of-past


def counted_in_the_whole_text():
    """Counted the whole list, validation names included, and not the training split alone."""
    return {"text": "names", "one": 2.4563, "two": 2.2216, "three": 2.1472, "four": 2.3487}


def one_shared_by_a_row():
    """Added 1 / 27 to every count, so that each row gets 1 in all, and not 1 to every count."""
    return {"text": "names", "one": 2.4595, "two": 2.2458, "three": 2.2053, "four": 2.4536}


def mean_over_contexts():
    """Took the mean loss of each context and then the mean of contexts, not the mean of tokens."""
    return {"text": "names", "one": 2.2441, "two": 2.2423, "three": 2.4503, "four": 2.7362}


WRITTEN = {
    "09/split": [order_read_as_ranks, numbered_by_first_entry, parts_in_drawn_order],
    "09/stream": [boundary_on_both_sides, blocks_with_their_own_target, no_boundary_at_the_end],
    "09/carried": [
        blank_after_a_fresh_batch,
        gradients_averaged_over_batches,
        logits_viewed_as_classes_first,
    ],
    "09/last": [
        targets_inside_the_longest_windows,
        short_pasts_padded_with_zeros,
        targets_of_windows_side_by_side,
    ],
    "09/by-letter": [
        later_places_in_the_last,
        rows_without_a_boundary_counted,
        mean_of_the_means_of_rows,
    ],
    "09/one-cycle": [
        momentum_computed_from_the_rate,
        straight_warm_up,
        momentum_lowest_in_the_middle,
    ],
    "09/spell": [
        drawn_again_while_too_short,
        number_chosen_by_length,
        length_checked_after_the_letter,
    ],
    "09/letters-of-past": [counted_in_the_whole_text, one_shared_by_a_row, mean_over_contexts],
}

ASIDE = {
    "blocks_with_their_own_target",
    "drawn_again_while_too_short",
    "logits_viewed_as_classes_first",
    "momentum_lowest_in_the_middle",
    "one_shared_by_a_row",
    "order_read_as_ranks",
    "rows_without_a_boundary_counted",
    "targets_of_windows_side_by_side",
}
