"""Wrong answers to chapter 09, second set."""

import math

import torch
import torch.nn.functional as F


def _parts(names, test, validation):
    return (
        [name for name in names if name.lower() not in test | validation],
        [name for name in names if name.lower() in validation],
        [name for name in names if name.lower() in test],
    )


def split_numbered_in_sorted_order(names, order, held_out):
    distinct = sorted({name.lower() for name in names})
    test = {distinct[number] for number in order[:held_out]}
    return _parts(names, test, {distinct[number] for number in order[held_out : 2 * held_out]})


def split_by_counting_entries(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    lowered = [name.lower() for name in names]
    parts, numbers = [], list(order)
    for _ in range(2):
        part, entries = set(), 0
        while entries < held_out and numbers:
            name = distinct[numbers.pop(0)]
            part.add(name)
            entries += lowered.count(name)
        parts.append(part)
    return _parts(names, *parts)


def split_in_the_order_of_the_drawing(names, order, held_out):
    """The entries of each part come in the order of the drawing, not of the list."""
    distinct = list(dict.fromkeys(name.lower() for name in names))

    def entries(numbers):
        return [name for i in numbers for name in names if name.lower() == distinct[i]]

    return (
        entries(order[2 * held_out :]),
        entries(order[held_out : 2 * held_out]),
        entries(order[:held_out]),
    )


def _laid_out(rows, block_size, steps):
    x = torch.stack([row[: steps * block_size].view(steps, block_size) for row in rows], dim=1)
    y = torch.stack([row[1 : steps * block_size + 1].view(steps, block_size) for row in rows], 1)
    return x, y


def _row(names, order):
    row = [0]
    for i in order:
        row += [*names[i], 0]
    return torch.tensor(row)


def stream_as_long_as_the_longest(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = [_row(names, order[b * each : (b + 1) * each]) for b in range(batch_size)]
    steps = max(len(row) - 1 for row in rows) // block_size
    rows = [F.pad(row, (0, max(0, steps * block_size + 1 - len(row)))) for row in rows]
    return _laid_out(rows, block_size, steps)


def stream_dealt_like_cards(names, order, batch_size, block_size):
    rows = [_row(names, order[b::batch_size]) for b in range(batch_size)]
    return _laid_out(rows, block_size, min(len(row) - 1 for row in rows) // block_size)


def stream_in_the_order_of_the_list(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = [_row(names, range(b * each, (b + 1) * each)) for b in range(batch_size)]
    return _laid_out(rows, block_size, min(len(row) - 1 for row in rows) // block_size)


def _read(model, batches, restart):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = restart(tuple(part.detach() for part in state), fresh)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
    return losses


def read_blank_if_any_is_fresh(model, batches):
    return _read(model, batches, lambda state, fresh: None if fresh.any() else state)


def read_with_the_cell_kept(model, batches):
    return _read(
        model,
        batches,
        lambda state, fresh: (state[0].masked_fill(fresh[None, :, None], 0.0), state[1]),
    )


def read_with_the_others_blank(model, batches):
    """Clears the rows that continue, and carries the ones that start over."""
    return _read(
        model,
        batches,
        lambda state, fresh: tuple(part * fresh[None, :, None] for part in state),
    )


def losses_without_the_last_target(model, tokens, lengths):
    found = []
    for T in lengths:
        windows = tokens[:-1].unfold(0, T + 1, 1)[max(lengths) - T :]
        with torch.no_grad():
            logits = model(windows[:, :-1])[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


def losses_from_short_to_long(model, tokens, lengths):
    found = []
    for T in sorted(lengths):
        windows = tokens.unfold(0, T + 1, 1)[max(lengths) - T :]
        with torch.no_grad():
            logits = model(windows[:, :-1])[0][:, -1]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


def losses_after_the_first_token(model, tokens, lengths):
    """Takes the logits at the first token of each window."""
    found = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[max(lengths) - T :]
        with torch.no_grad():
            logits = model(windows[:, :-1])[0][:, 0]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


def _by_place(logits, x, y, longest, began):
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    place = torch.arange(x.shape[1]) - began
    return losses, [(place == k) & (y >= 0) for k in range(longest)]


def _began(tokens, boundary):
    where = torch.arange(tokens.shape[1]).expand_as(tokens)
    return torch.where(tokens == boundary, where, -1_000_000).cummax(dim=1).values


def letters_counted_from_the_target(logits, x, y, boundary, longest):
    losses, places = _by_place(logits, x, y, longest, _began(y, boundary))
    return torch.stack([losses[place].mean() for place in places])


def letters_as_shares_of_all(logits, x, y, boundary, longest):
    losses, places = _by_place(logits, x, y, longest, _began(x, boundary))
    return torch.stack([(losses * place).mean() for place in places])


def letters_from_the_start_of_the_row(logits, x, y, boundary, longest):
    """Counts what stands before the first boundary as a name."""
    losses, places = _by_place(logits, x, y, longest, _began(x, boundary).clamp(min=0))
    return torch.stack([losses[place].mean() for place in places])


def _cycle(step, steps, turn, first, peak, last, low, high):
    def between(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    if step <= turn:
        return between(first, peak, step / turn), between(high, low, step / turn)
    share = (step - turn) / max(steps - 1 - turn, 1)
    return between(peak, last, share), between(low, high, share)


def cycle_that_ends_by_the_peak(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn, first = round(rise * steps) - 1, peak / start_factor
    return _cycle(step, steps, turn, first, peak, peak / final_factor, low, high)


def cycle_that_turns_a_step_late(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn, first = round(rise * steps), peak / start_factor
    return _cycle(step, steps, turn, first, peak, first / final_factor, low, high)


def cycle_with_momentum_along_the_rate(
    step, steps, rise, peak, start_factor, final_factor, low, high
):
    turn, first = round(rise * steps) - 1, peak / start_factor
    return _cycle(step, steps, turn, first, peak, first / final_factor, high, low)


def _spell(model, prefix, uniform, temperature, over, cut):
    was_training = model.training
    model.eval()
    letters = list(prefix)
    for u in uniform:
        if over(letters):
            break
        context = torch.tensor([0, *letters])[-model.block_size :]
        with torch.no_grad():
            logits = model(context[None])[0][0, -1] / temperature
        token = int((cut(logits, letters).cumsum(dim=-1) <= u).sum())
        if token == 0 or token == len(logits):
            break
        letters.append(token)
    model.train(was_training)
    return letters


def _no_boundary(shortest):
    def cut(logits, letters):
        if len(letters) < shortest:
            logits[0] = -torch.inf
        return logits.softmax(dim=-1)

    return cut


def spelled_longest_beyond_the_prefix(model, prefix, shortest, longest, temperature, uniform):
    def over(letters):
        return len(letters) == len(prefix) + longest

    return _spell(model, prefix, uniform, temperature, over, _no_boundary(shortest))


def spelled_without_dividing_again(model, prefix, shortest, longest, temperature, uniform):
    def cut(logits, letters):
        probabilities = logits.softmax(dim=-1)
        if len(letters) < shortest:
            probabilities[0] = 0
        return probabilities

    return _spell(model, prefix, uniform, temperature, lambda found: len(found) == longest, cut)


def spelled_one_letter_too_short(model, prefix, shortest, longest, temperature, uniform):
    """Allows the boundary when one letter is still missing."""
    return _spell(
        model,
        prefix,
        uniform,
        temperature,
        lambda found: len(found) == longest,
        _no_boundary(shortest - 1),
    )


WRITTEN = {
    "09/split": [
        split_numbered_in_sorted_order,
        split_by_counting_entries,
        split_in_the_order_of_the_drawing,
    ],
    "09/stream": [
        stream_as_long_as_the_longest,
        stream_dealt_like_cards,
        stream_in_the_order_of_the_list,
    ],
    "09/carried": [
        read_blank_if_any_is_fresh,
        read_with_the_cell_kept,
        read_with_the_others_blank,
    ],
    "09/last": [
        losses_without_the_last_target,
        losses_from_short_to_long,
        losses_after_the_first_token,
    ],
    "09/by-letter": [
        letters_counted_from_the_target,
        letters_as_shares_of_all,
        letters_from_the_start_of_the_row,
    ],
    "09/one-cycle": [
        cycle_that_ends_by_the_peak,
        cycle_that_turns_a_step_late,
        cycle_with_momentum_along_the_rate,
    ],
    "09/spell": [
        spelled_longest_beyond_the_prefix,
        spelled_without_dividing_again,
        spelled_one_letter_too_short,
    ],
}

ASIDE = {
    "split_in_the_order_of_the_drawing",
    "stream_in_the_order_of_the_list",
    "read_with_the_others_blank",
    "losses_after_the_first_token",
    "letters_from_the_start_of_the_row",
    "cycle_with_momentum_along_the_rate",
    "spelled_one_letter_too_short",
}
