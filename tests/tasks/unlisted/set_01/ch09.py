"""Unlisted wrong answers to chapter 09."""

import math

import torch
import torch.nn.functional as F

# 09/split


def _split(names, order, held_out, key=str.lower, out=lambda name: name):
    distinct = list(dict.fromkeys(key(name) for name in names))
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[held_out : 2 * held_out]}
    return (
        [out(n) for n in names if key(n) not in test | validation],
        [out(n) for n in names if key(n) in validation],
        [out(n) for n in names if key(n) in test],
    )


def sets_of_names(names, order, held_out):
    return tuple(list(set(part)) for part in _split(names, order, held_out))


def first_letter_only(names, order, held_out):
    return _split(names, order, held_out, key=lambda name: name[:1].lower() + name[1:])


def one_name_more_held_out(names, order, held_out):
    return _split(names, order, held_out + 1)


def validation_overlaps(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[held_out - 1 : 2 * held_out - 1]}
    return (
        [n for n in names if n.lower() not in test | validation],
        [n for n in names if n.lower() in validation],
        [n for n in names if n.lower() in test],
    )


def drawn_from_the_end(names, order, held_out):
    return _split(names, order[::-1], held_out)


def sorted_parts(names, order, held_out):
    return tuple(sorted(part) for part in _split(names, order, held_out))


# 09/stream


def _rows(names, order, B, ends=True):
    each = len(names) // B
    rows = []
    for b in range(B):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row += [*names[i], 0]
        rows.append(torch.tensor(row))
    return rows


def _cut(rows, T, steps):
    x = torch.stack([row[: steps * T].view(steps, T) for row in rows], 1)
    return x, torch.stack([row[1 : steps * T + 1].view(steps, T) for row in rows], 1)


def steps_of_the_whole_row(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    return _cut(rows, block_size, min((len(row)) // block_size for row in rows))


def one_step_too_few(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    return _cut(rows, block_size, min((len(row) - 2) // block_size for row in rows))


def no_boundary_in_front(names, order, batch_size, block_size):
    rows = [row[1:] for row in _rows(names, order, batch_size)]
    return _cut(rows, block_size, min((len(row) - 1) // block_size for row in rows))


def targets_two_ahead(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    steps = min((len(row) - 2) // block_size for row in rows)
    x = torch.stack([row[: steps * block_size].view(steps, -1) for row in rows], 1)
    return x, torch.stack([row[2 : steps * block_size + 2].view(steps, -1) for row in rows], 1)


def rows_reversed(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)[::-1]
    return _cut(rows, block_size, min((len(row) - 1) // block_size for row in rows))


def two_boundaries(names, order, batch_size, block_size):
    return _stream([[0, *name] for name in names], order, batch_size, block_size)


def _stream(names, order, batch_size, block_size):
    rows = _rows(names, order, batch_size)
    return _cut(rows, block_size, min((len(row) - 1) // block_size for row in rows))


# 09/carried


def _read(model, batches, blank=None, scale=lambda loss, x: loss, first=None):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            gone = fresh[None, :, None] if blank is None else blank(fresh)
            state = tuple(s.detach().masked_fill(gone, 0.0) for s in state)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        scale(loss, x).backward()
        losses.append(loss.item())
    return losses


def gradients_cleared_first(model, batches):
    for parameter in model.parameters():
        parameter.grad = None
    return _read(model, batches)


def mean_of_the_batches(model, batches):
    return _read(model, batches, scale=lambda loss, x: loss / len(batches))


def sums_of_losses(model, batches):
    return [loss * batches[0][0].numel() for loss in _read(model, batches)]


def blank_a_batch_late(model, batches):
    state, losses, before = None, [], None
    for x, y, fresh in batches:
        if state is not None:
            state = tuple(s.detach().masked_fill(before[None, :, None], 0.0) for s in state)
        before = fresh
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
    return losses


def states_exchanged(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = tuple(s.detach().masked_fill(fresh[None, :, None], 0.0) for s in state[::-1])
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses.append(loss.item())
    return losses


def last_position_only(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            state = tuple(s.detach().masked_fill(fresh[None, :, None], 0.0) for s in state)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits[:, -1], y[:, -1])
        loss.backward()
        losses.append(loss.item())
    return losses


# 09/last


def _last(model, tokens, lengths, first=None, place=-1):
    found = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[first(lengths, T) if first else max(lengths) - T :]
        logits = model(windows[:, :-1])[0][:, place]
        found.append(F.cross_entropy(logits, windows[:, -1]).item())
    return found


def lengths_sorted(model, tokens, lengths):
    return _last(model, tokens, sorted(lengths))


def last_token_no_target(model, tokens, lengths):
    return _last(model, tokens[:-1], lengths)


def averaged_over_the_window(model, tokens, lengths):
    found = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[max(lengths) - T :]
        logits = model(windows[:, :-1])[0]
        found.append(F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten()).item())
    return found


def one_target_more(model, tokens, lengths):
    return _last(model, tokens, lengths, first=lambda ls, T: max(max(ls) - T - 1, 0))


def same_windows_for_all(model, tokens, lengths):
    longest = max(lengths)
    windows = tokens.unfold(0, longest + 1, 1)
    logits = model(windows[:, :-1])[0]
    return [F.cross_entropy(logits[:, T - 1], windows[:, T]).item() for T in lengths]


def perplexities(model, tokens, lengths):
    return [math.exp(loss) for loss in _last(model, tokens, lengths)]


# 09/by-letter


def _by_letter(logits, x, y, boundary, longest, count=None, shift=0, begin=-10_000):
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    where = torch.arange(x.shape[1]).expand_as(x)
    place = where - torch.where(x == boundary, where, begin).cummax(1).values + shift
    counts = (y != -100) if count is None else count(y)
    return torch.stack([losses[(place == k) & counts].mean() for k in range(longest)])


def boundary_is_zero(logits, x, y, boundary, longest):
    return _by_letter(logits, x, y, 0, longest).nan_to_num(0.0)


def boundary_targets_left_out(logits, x, y, boundary, longest):
    return _by_letter(logits, x, y, boundary, longest, lambda y: (y != -100) & (y != boundary))


def places_from_one(logits, x, y, boundary, longest):
    return _by_letter(logits, x, y, boundary, longest + 1)[1:]


def up_to_that_place(logits, x, y, boundary, longest):
    means = _by_letter(logits, x, y, boundary, longest)
    return means.cumsum(0) / torch.arange(1, longest + 1)


def zero_targets_left_out(logits, x, y, boundary, longest):
    return _by_letter(logits, x, y, boundary, longest, lambda y: y > 0)


def probability_for_loss(logits, x, y, boundary, longest):
    return (-_by_letter(logits, x, y, boundary, longest)).exp()


# 09/one-cycle


def _cycle(step, steps, rise, peak, start_factor, final_factor, low, high, turn=None, last=None):
    turn = round(rise * steps) - 1 if turn is None else turn
    first = peak / start_factor
    last = first / final_factor if last is None else last

    def half(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    if step <= turn:
        return half(first, peak, step / turn), half(high, low, step / turn)
    s = (step - turn) / (steps - 1 - turn)
    return half(peak, last, s), half(low, high, s)


def turn_truncated(step, steps, rise, **rest):
    return _cycle(step, steps, rise, **rest, turn=int(rise * steps) - 1)


def ends_one_step_beyond(step, steps, rise, **rest):
    return _cycle(step, steps + 1, rise * steps / (steps + 1), **rest)


def results_exchanged(*given, **named):
    return _cycle(*given, **named)[::-1]


def ends_at_zero(step, steps, rise, **rest):
    return _cycle(step, steps, rise, **rest, last=0.0)


def whole_cosine(step, steps, rise, peak, start_factor, final_factor, low, high):
    rate, momentum = _cycle(step, steps, rise, peak, start_factor, final_factor, low, high)
    turn = round(rise * steps) - 1
    if step > turn:
        rate = peak * (1 + math.cos(2 * math.pi * (step - turn) / (steps - 1 - turn))) / 2
    return rate, momentum


def low_and_high_exchanged(step, steps, rise, peak, start_factor, final_factor, low, high):
    return _cycle(step, steps, rise, peak, start_factor, final_factor, high, low)


# 09/spell


@torch.no_grad()
def _spell(
    model, prefix, shortest, longest, temperature, uniform, right=True, reverse=False, early=0
):
    mode = model.training
    model.eval()
    letters = list(prefix)
    for u in uniform:
        if len(letters) >= longest:
            break
        context = torch.tensor([[0, *letters][-model.block_size :]])
        logits = model(context)[0][0, -1] / temperature
        if len(letters) < shortest + early:
            logits[0] = -torch.inf
        shares = logits.softmax(0)
        if reverse:
            shares = shares.flip(0)
        token = int(torch.searchsorted(shares.cumsum(0), torch.tensor(u), right=right))
        token = len(shares) - 1 - token if reverse else min(token, len(shares) - 1)
        if token == 0:
            break
        letters.append(token)
    model.train(mode)
    return letters


def equal_counts_as_larger(*given):
    return _spell(*given, right=False)


def drawn_from_the_other_end(*given):
    return _spell(*given, reverse=True)


def one_letter_longer_at_least(*given):
    return _spell(*given, early=1)


def training_mode_in_the_end(model, *given):
    letters = _spell(model, *given)
    model.train()
    return letters


def same_number_every_time(model, prefix, shortest, longest, temperature, uniform):
    return _spell(model, prefix, shortest, longest, temperature, uniform[:1] * len(uniform))


def grows_the_prefix(model, prefix, *given):
    letters = _spell(model, prefix, *given)
    prefix.extend(letters[len(prefix) :])
    return prefix


WRITTEN = {
    "09/split": [
        sets_of_names,
        first_letter_only,
        drawn_from_the_end,
        one_name_more_held_out,
        validation_overlaps,
        sorted_parts,
    ],
    "09/stream": [
        steps_of_the_whole_row,
        one_step_too_few,
        rows_reversed,
        no_boundary_in_front,
        targets_two_ahead,
        two_boundaries,
    ],
    "09/carried": [
        gradients_cleared_first,
        mean_of_the_batches,
        states_exchanged,
        sums_of_losses,
        blank_a_batch_late,
        last_position_only,
    ],
    "09/last": [
        lengths_sorted,
        last_token_no_target,
        same_windows_for_all,
        averaged_over_the_window,
        one_target_more,
        perplexities,
    ],
    "09/by-letter": [
        boundary_is_zero,
        boundary_targets_left_out,
        zero_targets_left_out,
        places_from_one,
        up_to_that_place,
        probability_for_loss,
    ],
    "09/one-cycle": [
        turn_truncated,
        ends_one_step_beyond,
        whole_cosine,
        results_exchanged,
        ends_at_zero,
        low_and_high_exchanged,
    ],
    "09/spell": [
        equal_counts_as_larger,
        one_letter_longer_at_least,
        drawn_from_the_other_end,
        training_mode_in_the_end,
        grows_the_prefix,
        same_number_every_time,
    ],
}

ASIDE = ()
