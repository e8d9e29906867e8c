"""Chapter 09, the fifth set: task -> wrong answers, each beside the sentence that it breaks."""

import math

import torch
import torch.nn.functional as F


# "The K distinct names are numbered ... in the order in which they first appear": a name that
# comes again gets a new number, which another name gets, too.
def repeats_are_numbered_again(names, order, held_out):
    numbers = {}
    for name in names:
        numbers[name.lower()] = len(numbers)
    test, validation = set(order[:held_out]), set(order[held_out : 2 * held_out])
    parts = ([], [], [])
    for name in names:
        number = numbers[name.lower()]
        parts[2 if number in test else 1 if number in validation else 0].append(name)
    return parts


# "Names that differ only in capitals are one name", ANNA as well.
def only_the_first_letter_is_folded(names, order, held_out):
    def key(name):
        return name[:1].lower() + name[1:]

    distinct = list(dict.fromkeys(key(name) for name in names))
    kept = [number for number in order if number < len(distinct)]
    test = {distinct[number] for number in kept[:held_out]}
    validation = {distinct[number] for number in kept[held_out : 2 * held_out]}
    return (
        [name for name in names if key(name) not in test | validation],
        [name for name in names if key(name) in validation],
        [name for name in names if key(name) in test],
    )


# "your functions leave what they are given as it was"
def numbers_are_popped_off_the_order(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    test = {distinct[order.pop(0)] for _ in range(held_out)}
    validation = {distinct[order.pop(0)] for _ in range(held_out)}
    return (
        [name for name in names if name.lower() not in test | validation],
        [name for name in names if name.lower() in validation],
        [name for name in names if name.lower() in test],
    )


def cut(rows, T, steps):
    x = torch.stack([row[: steps * T].view(steps, T) for row in rows], dim=1)
    y = torch.stack([row[1 : steps * T + 1].view(steps, T) for row in rows], dim=1)
    return x, y


# "your functions leave what they are given as it was": the names are lists of the caller's.
def boundary_is_appended_to_the_names(names, order, batch_size, block_size):
    each = len(names) // batch_size
    for name in names:
        name.append(0)
    rows = [
        torch.tensor([0] + [s for i in order[b * each : (b + 1) * each] for s in names[i]])
        for b in range(batch_size)
    ]
    return cut(rows, block_size, min(len(row) - 1 for row in rows) // block_size)


# "it ends with a boundary", which is the last target where the windows fit exactly.
def row_without_its_last_boundary(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = [
        torch.tensor([s for i in order[b * each : (b + 1) * each] for s in (0, *names[i])])
        for b in range(batch_size)
    ]
    return cut(rows, block_size, min(len(row) - 1 for row in rows) // block_size)


# "Take as many whole windows of T inputs as the shortest row has": one fewer where they fit
# exactly.
def last_window_is_lost_in_a_range(names, order, batch_size, block_size):
    each, T = len(names) // batch_size, block_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row += [*names[i], 0]
        rows.append(torch.tensor(row))
    shortest = min(len(row) for row in rows)
    starts = range(0, shortest - 1 - T, T)
    x = torch.stack([torch.stack([row[s : s + T] for row in rows]) for s in starts])
    y = torch.stack([torch.stack([row[s + 1 : s + T + 1] for row in rows]) for s in starts])
    return x, y


# "Go backward through the loss of every batch": of its mean over the batches it is a fraction.
def loss_divided_by_the_batches(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = tuple(part.detach().masked_fill(fresh[None, :, None], 0.0) for part in state)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        (loss / len(batches)).backward()
        losses.append(loss.item())
    return losses


# "let the gradients in the parameters add up": they are shortened in between.
def gradients_are_clipped(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = tuple(part.detach().masked_fill(fresh[None, :, None], 0.0) for part in state)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        losses.append(loss.item())
    return losses


# "A row that is fresh starts blank": `fresh` is read when the batch is over.
def blanks_after_the_batch(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        logits, state = model.read(x, state)
        state = tuple(part.detach().masked_fill(fresh[None, :, None], 0.0) for part in state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
    return losses


# "Return one mean loss for each entry of `lengths`": a length that comes twice is answered once.
def a_length_is_answered_once(model, tokens, lengths):
    found = {}
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[max(lengths) - T :]
        with torch.no_grad():
            logits = model(windows[:, :-1])[0][:, -1]
        found[T] = F.cross_entropy(logits, windows[:, -1]).item()
    return list(found.values())


# "the model reads the T tokens right before the target and nothing else": it reads zeros, too.
def shorter_pasts_are_filled_with_zeros(model, tokens, lengths):
    longest, found = max(lengths), []
    windows = tokens.unfold(0, longest + 1, 1)
    for T in lengths:
        past = windows[:, :-1].clone()
        past[:, : longest - T] = 0
        with torch.no_grad():
            logits = model(past)[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


# "Return one mean loss for each entry": the mean of the means of chunks, the last of which is
# smaller.
def mean_of_the_means_of_chunks(model, tokens, lengths):
    found = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[max(lengths) - T :]
        means = []
        for chunk in windows.split(8):
            with torch.no_grad():
                logits = model(chunk[:, :-1])[0][:, -1]
            means.append(F.cross_entropy(logits, chunk[:, -1]).item())
        found.append(sum(means) / len(means))
    return found


# "Where x[b, t] is the boundary, the target is letter 0 ... One position on it is letter 1": a
# target that does not count takes its place all the same.
def place_waits_at_ignored_targets(logits, x, y, boundary, longest):
    sums, counts = torch.zeros(longest), torch.zeros(longest)
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    for b in range(len(x)):
        place = None
        for t in range(x.shape[1]):
            if x[b, t] == boundary:
                place = 0
            if place is None or y[b, t] < 0:
                continue
            if place < longest:
                sums[place] += losses[b, t]
                counts[place] += 1
            place += 1
    return sums / counts


# "later places do not count": here they count as the last one.
def later_places_count_as_the_last(logits, x, y, boundary, longest):
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    where = torch.arange(x.shape[1]).expand_as(x)
    began = torch.where(x == boundary, where, -1_000_000).cummax(dim=1).values
    counts = (began >= 0) & (y >= 0)
    place = (where - began).clamp(max=longest - 1)
    return torch.stack([losses[(place == k) & counts].mean() for k in range(longest)])


# "Rows do not continue each other": the place goes on in the next row.
def place_goes_on_in_the_next_row(logits, x, y, boundary, longest):
    losses = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
    where = torch.arange(x.numel())
    began = torch.where(x.flatten() == boundary, where, -1_000_000).cummax(dim=0).values
    place, counts = where - began, y.flatten() >= 0
    return torch.stack([losses[(place == k) & counts].mean() for k in range(longest)])


def half_cosine(a, b, share):
    return b + (a - b) / 2 * (1 + math.cos(math.pi * share))


# "In floating point the product may miss that number by a little", upwards as well.
def peak_is_rounded_up(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn, first = math.ceil(rise * steps) - 1, peak / start_factor
    if step <= turn:
        share = step / turn
        return half_cosine(first, peak, share), half_cosine(high, low, share)
    share = (step - turn) / (steps - 1 - turn)
    return half_cosine(peak, first / final_factor, share), half_cosine(low, high, share)


# "The momentum begins at `high` ... Both go along half a cosine": it follows the rate instead.
def momentum_follows_the_rate(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn, first = round(rise * steps) - 1, peak / start_factor
    if step <= turn:
        rate = half_cosine(first, peak, step / turn)
    else:
        share = (step - turn) / (steps - 1 - turn)
        rate = half_cosine(peak, first / final_factor, share)
    return rate, high - (high - low) * rate / peak


# "Steps are numbered from 0": the rate does not begin at its first value.
def share_counts_from_one(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn, first = round(rise * steps) - 1, peak / start_factor
    if step <= turn:
        share = (step + 1) / (turn + 1)
        return half_cosine(first, peak, share), half_cosine(high, low, share)
    share = (step - turn) / (steps - 1 - turn)
    return half_cosine(peak, first / final_factor, share), half_cosine(low, high, share)


# "draws the first token whose cumulative probability is larger than u": searchsorted looks for one
# that is at least u.
def searches_for_at_least_u(model, prefix, shortest, longest, temperature, uniform):
    was_training = model.training
    model.eval()
    letters = list(prefix)
    for u in uniform:
        if len(letters) == longest:
            break
        context = torch.tensor([0, *letters])[-model.block_size :]
        with torch.no_grad():
            logits = model(context[None])[0][0, -1] / temperature
        if len(letters) < shortest:
            logits[0] = -torch.inf
        token = int(torch.searchsorted(logits.softmax(dim=-1).cumsum(dim=-1), u))
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


# "of which it reads the last model.block_size tokens": the boundary is kept in front of them.
def boundary_stays_in_front(model, prefix, shortest, longest, temperature, uniform):
    was_training = model.training
    model.eval()
    letters = list(prefix)
    for u in uniform:
        if len(letters) == longest:
            break
        context = torch.tensor([0, *letters[-(model.block_size - 1) :]])
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


# "your functions leave what they are given as it was": the numbers are the caller's list.
def numbers_are_popped_off_the_list(model, prefix, shortest, longest, temperature, uniform):
    was_training = model.training
    model.eval()
    letters = list(prefix)
    while len(letters) < longest:
        context = torch.tensor([0, *letters])[-model.block_size :]
        with torch.no_grad():
            logits = model(context[None])[0][0, -1] / temperature
        if len(letters) < shortest:
            logits[0] = -torch.inf
        u = uniform.pop(0)
        token = int((logits.softmax(dim=-1).cumsum(dim=-1) <= u).sum())
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


# "The next number u of `uniform`": with a prefix it begins further on in the list.
def numbers_by_place_in_the_name(model, prefix, shortest, longest, temperature, uniform):
    was_training = model.training
    model.eval()
    letters = list(prefix)
    while len(letters) < longest:
        context = torch.tensor([0, *letters])[-model.block_size :]
        with torch.no_grad():
            logits = model(context[None])[0][0, -1] / temperature
        if len(letters) < shortest:
            logits[0] = -torch.inf
        u = uniform[len(letters) % len(uniform)]
        token = int((logits.softmax(dim=-1).cumsum(dim=-1) <= u).sum())
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


# "Measure the mean loss in nats": these are bits.
def bits():
    return {"text": "names", "one": 3.548, "two": 3.245, "three": 3.259, "four": 3.689}


WRITTEN = {
    "09/split": [
        repeats_are_numbered_again,
        only_the_first_letter_is_folded,
        numbers_are_popped_off_the_order,
    ],
    "09/stream": [
        boundary_is_appended_to_the_names,
        row_without_its_last_boundary,
        last_window_is_lost_in_a_range,
    ],
    "09/carried": [loss_divided_by_the_batches, gradients_are_clipped, blanks_after_the_batch],
    "09/last": [
        a_length_is_answered_once,
        shorter_pasts_are_filled_with_zeros,
        mean_of_the_means_of_chunks,
    ],
    "09/by-letter": [
        place_waits_at_ignored_targets,
        later_places_count_as_the_last,
        place_goes_on_in_the_next_row,
    ],
    "09/one-cycle": [peak_is_rounded_up, momentum_follows_the_rate, share_counts_from_one],
    "09/spell": [
        searches_for_at_least_u,
        boundary_stays_in_front,
        numbers_are_popped_off_the_list,
        numbers_by_place_in_the_name,
    ],
    "09/letters-of-past": [bits],
}

ASIDE = {
    "numbers_are_popped_off_the_order",
    "row_without_its_last_boundary",
    "last_window_is_lost_in_a_range",
    "loss_divided_by_the_batches",
    "a_length_is_answered_once",
    "later_places_count_as_the_last",
    "momentum_follows_the_rate",
    "share_counts_from_one",
}
