"""Answers to the tasks of chapter 09, Names."""

import bisect
import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def unfilled(*_, **__):
    raise NotImplementedError


# split


def split_with_dictionary(names, order, held_out):
    number = {}
    for name in names:
        number.setdefault(name.casefold(), len(number))
    rank = {k: order.index(k) for k in number.values()}
    parts = ([], [], [])
    for name in names:
        place = rank[number[name.casefold()]]
        parts[2 if place < held_out else 1 if place < 2 * held_out else 0].append(name)
    return parts


def split_with_numpy(names, order, held_out):
    lower = np.array([name.lower() for name in names])
    _, first = np.unique(lower, return_index=True)
    distinct = lower[np.sort(first)]
    test = np.isin(lower, distinct[order[:held_out]])
    validation = np.isin(lower, distinct[order[held_out : 2 * held_out]])
    listed = np.array(names)
    return listed[~(test | validation)], listed[validation], listed[test]


def split_with_sets(names, order, held_out):
    seen = []
    for name in names:
        if name.upper() not in seen:
            seen.append(name.upper())
    where = ["train"] * len(seen)
    for k in range(2 * held_out):
        where[order[k]] = "test" if k < held_out else "validation"
    return [
        [n for n in names if where[seen.index(n.upper())] == part]
        for part in ("train", "validation", "test")
    ]


def split_by_spelling(names, order, held_out):
    seen = []
    for name in names:
        if name not in seen:
            seen.append(name)
    test = [seen[i] for i in order[:held_out]]
    validation = [seen[i] for i in order[held_out : held_out * 2]]
    return (
        [n for n in names if n not in test and n not in validation],
        [n for n in names if n in validation],
        [n for n in names if n in test],
    )


def split_places(names, order, held_out):
    test, validation = set(order[:held_out]), set(order[held_out : 2 * held_out])
    places = range(len(names))
    return (
        [names[i] for i in places if i not in test and i not in validation],
        [names[i] for i in places if i in validation],
        [names[i] for i in places if i in test],
    )


def split_sorted(names, order, held_out):
    distinct = sorted(set(map(str.lower, names)))
    rank = {distinct[number]: place for place, number in enumerate(order)}
    parts = {"train": [], "validation": [], "test": []}
    for name in names:
        place = rank[name.lower()] // held_out
        parts["test" if place == 0 else "validation" if place == 1 else "train"].append(name)
    return tuple(parts.values())


def split_once_each(names, order, held_out):
    kept = []
    for part in split_with_dictionary(names, order, held_out):
        seen, once = set(), []
        for name in part:
            if name.lower() not in seen:
                seen.add(name.lower())
                once.append(name)
        kept.append(once)
    return kept


def split_small_letters(names, order, held_out):
    return split_with_dictionary([name.lower() for name in names], order, held_out)


def split_exchanged(names, order, held_out):
    a, b, c = split_with_dictionary(names, order, held_out)
    return a, c, b


def split_training_whole(names, order, held_out):
    _, b, c = split_with_dictionary(names, order, held_out)
    return list(names), b, c


def split_half_leaks(names, order, held_out):
    a, b, c = split_with_dictionary(names, order, held_out)
    return a + c[:1], b, c


# stream


def stream_loop(names, order, batch_size, block_size):
    each = len(names) // batch_size
    rows = []
    for b in range(batch_size):
        row = [0]
        for i in order[b * each : (b + 1) * each]:
            row.extend(names[i])
            row.append(0)
        rows.append(row)
    steps = (min(map(len, rows)) - 1) // block_size
    x = [[row[n * block_size : (n + 1) * block_size] for row in rows] for n in range(steps)]
    y = [[row[n * block_size + 1 : (n + 1) * block_size + 1] for row in rows] for n in range(steps)]
    return x, y


def stream_numpy(names, order, batch_size, block_size):
    dealt = np.array(order).reshape(batch_size, -1)
    rows = [np.concatenate([[0, *names[i]] for i in group] + [[0]]) for group in dealt]
    steps = (min(len(row) for row in rows) - 1) // block_size
    cut = np.stack([row[: steps * block_size + 1] for row in rows])
    shape = (batch_size, steps, block_size)
    return tuple(part.reshape(shape).swapaxes(0, 1) for part in (cut[:, :-1], cut[:, 1:]))


def stream_unfolded(names, order, batch_size, block_size):
    groups = torch.tensor(order).view(batch_size, -1).tolist()
    rows = []
    for group in groups:
        text = [*itertools.chain.from_iterable([0, *names[i]] for i in group), 0]
        rows.append(torch.tensor(text).unfold(0, block_size + 1, block_size))
    shortest = min(map(len, rows))
    both = torch.stack([row[:shortest] for row in rows], dim=1)
    return both[:, :, :-1], both[:, :, 1:]


def stream_unshuffled(names, order, batch_size, block_size):
    return stream_loop(names, list(range(len(order))), batch_size, block_size)


def _one_row(names, order):
    return torch.tensor([0, *(t for i in order for t in [*names[i], 0])])


def stream_stretches(names, order, batch_size, block_size):
    tokens = _one_row(names, order)
    windows = tokens.unfold(0, block_size + 1, 1)
    steps = (len(tokens) - 1) // (batch_size * block_size)
    starts = torch.arange(batch_size) * steps * block_size
    both = torch.stack([windows[starts + n * block_size] for n in range(steps)])
    return both[..., :-1], both[..., 1:]


def stream_filled_by_step(names, order, batch_size, block_size):
    tokens = _one_row(names, order).numpy()
    per_step = batch_size * block_size
    steps = (len(tokens) - 1) // per_step
    x = [tokens[n * per_step : (n + 1) * per_step] for n in range(steps)]
    y = [tokens[n * per_step + 1 : (n + 1) * per_step + 1] for n in range(steps)]
    return tuple(np.stack(p).reshape(steps, batch_size, block_size) for p in (x, y))


def stream_as_cards(names, order, batch_size, block_size):
    dealt = np.array(order).reshape(-1, batch_size).T.ravel().tolist()
    return stream_loop(names, dealt, batch_size, block_size)


def stream_viewed(names, order, batch_size, block_size):
    x, y = stream_numpy(names, order, batch_size, block_size)
    rows = x.swapaxes(0, 1).ravel(), y.swapaxes(0, 1).ravel()
    return tuple(part.reshape(-1, batch_size, block_size) for part in rows)


def stream_rows_in_front(names, order, batch_size, block_size):
    return tuple(np.moveaxis(p, 0, 1) for p in stream_numpy(names, order, batch_size, block_size))


def stream_copies(names, order, batch_size, block_size):
    x, _ = stream_loop(names, order, batch_size, block_size)
    return x, x


def stream_wraps(names, order, batch_size, block_size):
    x, _ = stream_unfolded(names, order, batch_size, block_size)
    return x, torch.cat([x[:, :, 1:], x[:, :, :1]], dim=2)


def stream_glued(names, order, batch_size, block_size):
    rows = []
    for group in np.array_split(order, batch_size):
        row = [0]
        for i in group:
            row += names[i]
        rows.append(row)
    steps = (min(map(len, rows)) - 1) // block_size
    end = steps * block_size
    x = np.stack([np.reshape(row[:end], (steps, block_size)) for row in rows], 1)
    y = np.stack([np.reshape(row[1 : end + 1], (steps, block_size)) for row in rows], 1)
    return x, y


def stream_two_further(names, order, batch_size, block_size):
    x, y = stream_numpy(names, order, batch_size, block_size)
    return x, y + 1


# carried


def _cross(logits, y):
    return F.cross_entropy(logits.permute(0, 2, 1), y)


def carried_each(model, batches):
    hidden = cell = None
    losses = []
    for x, y, fresh in batches:
        state = None
        if hidden is not None:
            keep = 1 - fresh.float().view(1, -1, 1)
            state = (hidden.detach() * keep, cell.detach() * keep)
        logits, (hidden, cell) = model.read(x, state)
        loss = _cross(logits, y)
        loss.backward()
        losses.append(loss)
    return losses


def carried_sum(model, batches):
    state, total, losses = None, 0, []
    for x, y, fresh in batches:
        if state is not None:
            state = [torch.where(fresh[:, None], 0.0, s) for s in state]
        logits, state = model.read(x, state)
        state = [s.detach() for s in state]
        losses.append(_cross(logits, y))
        total = total + losses[-1]
    total.backward()
    return torch.stack(losses)


def carried_in_place(model, batches):
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            for part in state:
                part[:, fresh] = 0
        logits, new = model.read(x, state)
        loss = -logits.log_softmax(-1).gather(-1, y[..., None]).mean()
        loss.backward()
        losses.append(loss.detach().numpy().item())
        state = tuple(part.detach().clone() for part in new)
    return losses


def carried(blank=True, detach=(True, True), retain=False, when="each"):
    """Walks the batches; what is done to the states says `blank(part, fresh, which)`."""

    def walk(model, batches):
        state, losses = None, []
        for x, y, fresh in batches:
            if state is not None:
                state = [
                    (part.detach() if cut else part)
                    for part, cut in zip(state, detach, strict=True)
                ]
                state = [
                    blank(part, fresh.view(1, -1, 1), which) for which, part in enumerate(state)
                ]
            logits, state = model.read(x, state)
            loss = _cross(logits, y)
            if when == "last":
                for parameter in model.parameters():
                    parameter.grad = None
            if when != "never":
                loss.backward(retain_graph=retain)
            losses.append(loss.item())
        return losses

    return walk


def only_fresh(part, fresh, _):
    return part * ~fresh


def carried_no_grad(model, batches):
    with torch.inference_mode():
        return carried(only_fresh, when="never")(model, batches)


def carried_wrong_sign(model, batches):
    return [-loss for loss in carried(only_fresh, when="never")(model, batches)]


# last


@torch.no_grad()
def last_loop(model, tokens, lengths):
    found = []
    for T in lengths:
        losses = []
        for place in range(max(lengths), len(tokens)):
            logits, _ = model(tokens[None, place - T : place])
            losses.append(F.cross_entropy(logits[0, -1:], tokens[place : place + 1]))
        found.append(torch.stack(losses).mean())
    return found


@torch.no_grad()
def last_gather(model, tokens, lengths):
    ends = torch.arange(max(lengths), len(tokens))
    found = []
    for T in lengths:
        x = tokens[ends[:, None] - torch.arange(T, 0, -1)]
        p = model(x)[0][:, -1].double().log_softmax(-1)
        found.append(-p.gather(1, tokens[ends][:, None]).mean().item())
    return np.array(found)


@torch.no_grad()
def last_from_one_pass(model, tokens, lengths):
    windows = tokens.unfold(0, max(lengths) + 1, 1)
    targets = windows[:, -1]
    return torch.tensor(
        [F.cross_entropy(model(windows[:, -1 - T : -1])[0][:, T - 1], targets) for T in lengths]
    )


def last_loss(own=False, cut=0, place=-1, back=0, stride=1, reduction="mean", everywhere=False):
    @torch.no_grad()
    def ask(model, tokens, lengths):
        found = []
        for T in lengths:
            first = T if own or stride == 0 else max(lengths)
            ends = torch.arange(first, len(tokens) - cut, T if stride == 0 else 1)
            x = tokens[ends[:, None] + torch.arange(-T, 0)]
            y = tokens[ends[:, None] + torch.arange(-T + 1, 1)]
            logits = model(x)[0]
            if everywhere:
                found.append(F.cross_entropy(logits.permute(0, 2, 1), y).item())
            else:
                wanted = tokens[ends - back]
                found.append(F.cross_entropy(logits[:, place], wanted, reduction=reduction).item())
        return found

    return ask


def last_longest(model, tokens, lengths):
    return last_gather(model, tokens, [max(lengths)] * len(lengths))


@torch.no_grad()
def last_aligned_left(model, tokens, lengths):
    count = len(tokens) - max(lengths)
    found = []
    for T in lengths:
        x = torch.stack([tokens[i : i + T] for i in range(count)])
        y = torch.stack([tokens[i + T] for i in range(count)])
        found.append(F.cross_entropy(model(x)[0][:, -1], y).item())
    return found


# by-letter


def _nats(logits, y):
    B, T, V = logits.shape
    return F.cross_entropy(logits.reshape(-1, V), y.reshape(-1), reduction="none").view(B, T)


def letters_loop(
    logits, x, y, boundary, longest, *, padded=False, clamp=False, carry=False, source=None
):
    losses, buckets, place = _nats(logits, y), [[] for _ in range(longest)], None
    for b in range(len(x)):
        if not carry:
            place = None
        for t in range(x.shape[1]):
            if (x if source is None else source)[b, t] == boundary:
                place = 0
            elif place is not None:
                place += 1
            where = place
            if where is not None and clamp:
                where = min(where, longest - 1)
            if where is not None and where < longest and (padded or y[b, t] != -100):
                buckets[where].append(losses[b, t])
    return torch.stack([torch.stack(bucket).mean() for bucket in buckets])


def letters_numpy(logits, x, y, boundary, longest):
    losses, x, y = _nats(logits, y).numpy(), x.numpy(), y.numpy()
    total, count = np.zeros(longest), np.zeros(longest)
    for b, row in enumerate(x):
        for begin in np.flatnonzero(row == boundary):
            for k in range(longest):
                t = begin + k
                if t >= len(row) or (k and row[t] == boundary):
                    break
                if y[b, t] >= 0:
                    total[k] += losses[b, t]
                    count[k] += 1
    return total / count


def letters_scatter(logits, x, y, boundary, longest):
    is_first = x == boundary
    group = is_first.cumsum(1)
    steps = torch.arange(x.shape[1])
    began = torch.zeros_like(x)
    for b in range(len(x)):
        places = is_first[b].nonzero().squeeze(1)
        began[b] = places[(group[b] - 1).clamp(min=0)]
    place = steps - began
    good = (group > 0) & (place < longest) & (y >= 0)
    total = torch.zeros(longest).index_add(0, place[good], _nats(logits, y)[good])
    return total / torch.bincount(place[good], minlength=longest)


def letters_of_window(logits, x, y, boundary, longest):
    losses, good = _nats(logits, y)[:, :longest], (y >= 0)[:, :longest]
    return (losses * good).sum(0) / good.sum(0)


def letters_by_target(logits, x, y, boundary, longest):
    return letters_loop(logits, x, y, boundary, longest, source=y)


def letters_from_the_edge(logits, x, y, boundary, longest):
    losses, found = _nats(logits, y), [[] for _ in range(longest)]
    for b in range(len(x)):
        place = 0
        for t in range(x.shape[1]):
            place = 0 if x[b, t] == boundary else place + (t > 0)
            if place < longest and y[b, t] >= 0:
                found[place].append(losses[b, t].item())
    return [sum(bucket) / len(bucket) for bucket in found]


def letters_summed(logits, x, y, boundary, longest):
    means = letters_numpy(logits, x, y, boundary, longest)
    counts = [len(letters_loop_list(logits, x, y, boundary, longest)[k]) for k in range(longest)]
    return means * np.array(counts)


def letters_loop_list(logits, x, y, boundary, longest):
    found = [[] for _ in range(longest)]
    losses = _nats(logits, y)
    for b in range(len(x)):
        place = None
        for t in range(x.shape[1]):
            place = 0 if x[b, t] == boundary else None if place is None else place + 1
            if place is not None and place < longest and y[b, t] >= 0:
                found[place].append((b, losses[b, t].item()))
    return found


def letters_row_means(logits, x, y, boundary, longest):
    means = []
    for bucket in letters_loop_list(logits, x, y, boundary, longest):
        rows = {}
        for b, loss in bucket:
            rows.setdefault(b, []).append(loss)
        means.append(np.mean([np.mean(losses) for losses in rows.values()]))
    return np.array(means)


def letters_next(logits, x, y, boundary, longest):
    return letters_numpy(logits, x, y, boundary, longest + 1)[1:]


# one-cycle


def cycle_of_torch(step, steps, rise, peak, start_factor, final_factor, low, high):
    optimizer = torch.optim.AdamW([nn.Parameter(torch.zeros(1))], betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, peak, total_steps=steps, pct_start=rise, div_factor=start_factor,
        final_div_factor=final_factor, base_momentum=low, max_momentum=high,
    )  # fmt: skip
    for _ in range(step):
        optimizer.step()
        schedule.step()
    group = optimizer.param_groups[0]
    return group["lr"], group["betas"][0]


def cycle_by_hand(step, steps, rise, peak, start_factor, final_factor, low, high):
    first, turn = peak / start_factor, round(rise * steps) - 1
    if step <= turn:
        up = (1 - math.cos(math.pi * step / turn)) / 2  # 0 → 1
        return first + (peak - first) * up, high - (high - low) * up
    last = first / final_factor
    down = (1 - math.cos(math.pi * (step - turn) / (steps - 1 - turn))) / 2
    return peak - (peak - last) * down, low + (high - low) * down


def cycle_interpolated(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn = rise * steps - 1
    angle = np.interp(step, [0, turn, steps - 1], [0, np.pi, 2 * np.pi])
    height = (1 - np.cos(angle)) / 2
    floor = peak / start_factor if step <= turn else peak / start_factor / final_factor
    return torch.tensor(floor + (peak - floor) * height), high + (low - high) * height


def cycle(shape="cosine", start=None, end=None, shift=0, late=0, momentum="against"):
    def at(step, steps, rise, peak, start_factor, final_factor, low, high):
        turn = rise * steps - 1 + late
        points = [0.0, turn, steps - 1]
        first = peak / start_factor if start is None else start
        last = end(peak, start_factor, final_factor) if end else first / final_factor
        if end is None and start is not None:
            last = peak / start_factor / final_factor
        t = step + shift
        if shape == "line":
            rate = np.interp(t, points, [first, peak, last])
            height = np.interp(t, points, [0, 1, 0])
        else:
            angle = (
                math.pi * t / turn if t <= turn else math.pi * (1 + (t - turn) / (steps - 1 - turn))
            )
            height = (1 - math.cos(angle)) / 2
            floor = first if t <= turn else last
            rate = floor + (peak - floor) * height
        moment = {"against": high - (high - low) * height, "along": low + (high - low) * height}
        return rate, moment.get(momentum, high)

    return at


def cycle_falls(step, steps, rise, peak, start_factor, final_factor, low, high):
    share = (1 + math.cos(math.pi * step / (steps - 1))) / 2
    last = peak / start_factor / final_factor
    return last + (peak - last) * share, high - (high - low) * share


def cycle_twice_as_fast(step, steps, rise, peak, start_factor, final_factor, low, high):
    rate, moment = cycle_by_hand(step, steps, rise, peak, start_factor, final_factor, low, high)
    return 2 * rate, moment


# spell


def spell_loop(model, prefix, shortest, longest, temperature, uniform):
    mode = model.training
    model.eval()
    letters = [int(p) for p in prefix]
    numbers = iter(uniform)
    while len(letters) < longest:
        context = torch.tensor([[0, *letters][-model.block_size :]])
        logits = model(context)[0][0, -1].tolist()
        banned = {0} if len(letters) < shortest else set()
        weights = [0.0 if v in banned else math.exp(z / temperature) for v, z in enumerate(logits)]
        edges = list(itertools.accumulate(weights))
        v = bisect.bisect_right(edges, next(numbers) * edges[-1])
        if v == 0:
            break
        letters.append(v)
    model.train(mode)
    return letters


def spell_tensors(model, prefix, shortest, longest, temperature, uniform):
    was, _ = model.training, model.eval()
    text = torch.tensor([0, *prefix])
    for u in torch.tensor(uniform):
        if len(text) > longest:
            break
        logits = model(text[-model.block_size :][None])[0][:, -1].flatten()
        if len(text) <= shortest:
            logits = torch.cat([torch.full((1,), -torch.inf), logits[1:]])
        cumulated = torch.softmax(logits.double() / temperature, 0).cumsum(0)
        token = torch.searchsorted(cumulated, u.double(), right=True)
        if token == 0:
            break
        text = torch.cat([text, token[None]])
    model.train(was)
    return text[1:]


def spell_numpy(model, prefix, shortest, longest, temperature, uniform):
    was = model.training
    try:
        model.train(False)
        letters = np.array(prefix, dtype=int)
        for k in range(longest - len(prefix)):
            context = torch.from_numpy(np.append(0, letters)[-model.block_size :])
            z = model(context[None])[0].detach().numpy()[0, -1].astype(float) / temperature
            if len(letters) < shortest:
                z[0] = -np.inf
            p = np.exp(z - z.max())
            token = int(np.argmax(np.cumsum(p / p.sum()) > uniform[k]))
            if not token:
                break
            letters = np.append(letters, token)
        return letters.tolist()
    finally:
        model.train(was)


def spelled(
    mode="both", start=True, crop=True, place=-1, times=False, ban=None, count=None, best=False,
    stop=True, keep=False, whole=True,
):  # fmt: skip
    def write(model, prefix, shortest, longest, temperature, uniform):
        was = model.training
        if mode != "never":
            model.eval()
        letters = list(prefix)
        for u in uniform[: longest - len(prefix)]:
            context = ([0] if start or not letters else []) + letters
            context = context[-model.block_size :] if crop else context
            z = model(torch.tensor(context)[None])[0][0, place].double()
            z = z * temperature if times else z / temperature
            so_far = len(letters) if count is None else count(letters, prefix)
            p = z.softmax(0)
            if so_far < shortest and ban != "none":
                if ban == "after":
                    p = p * (torch.arange(len(p)) > 0)
                else:
                    z = torch.where(torch.arange(len(z)) == 0, 0.0 if ban else -torch.inf, z)
                    p = z.softmax(0)
            edges = p.cumsum(0).tolist()
            token = int(p.argmax()) if best else min(bisect.bisect_right(edges, u), len(p) - 1)
            if token == 0 and stop:
                letters = [*letters, 0] if keep else letters
                break
            letters.append(token)
        if mode == "both":
            model.train(was)
        return letters if whole else letters[len(prefix) :]

    return write


def spell_reversed(*arguments):
    return spell_loop(*arguments)[::-1]


RIGHT = {
    "split": {
        "dictionary": split_with_dictionary,
        "numpy": split_with_numpy,
        "lists": split_with_sets,
    },
    "stream": {"loops": stream_loop, "numpy": stream_numpy, "unfold": stream_unfolded},
    "carried": {
        "each batch": carried_each,
        "sum at the end": carried_sum,
        "blanked in place": carried_in_place,
    },
    "last": {"loop": last_loop, "gather": last_gather, "cut windows": last_from_one_pass},
    "by-letter": {"loop": letters_loop, "numpy": letters_numpy, "index_add": letters_scatter},
    "one-cycle": {
        "torch's own": cycle_of_torch,
        "by hand": cycle_by_hand,
        "one angle": cycle_interpolated,
    },
    "spell": {"plain Python": spell_loop, "tensors": spell_tensors, "numpy": spell_numpy},
}

WRONG = {
    "split": {
        "capitals-leak": split_by_spelling,
        "entries-drawn": split_places,
        "sorted-first": split_sorted,
        "duplicates-dropped": split_once_each,
        "spelling-changed": split_small_letters,
        "splits-exchanged": split_exchanged,
        "training-keeps-everything": split_training_whole,
    },
    "stream": {
        "order-ignored": stream_unshuffled,
        "cut-anywhere": stream_stretches,
        "rows-do-not-continue": stream_filled_by_step,
        "dealt-like-cards": stream_as_cards,
        "view-without-transpose": stream_viewed,
        "rows-before-steps": stream_rows_in_front,
        "unshifted-targets": stream_copies,
        "wraps-in-the-window": stream_wraps,
        "boundaries-missing": stream_glued,
    },
    "carried": {
        "graph-kept": carried(only_fresh, detach=(True, False)),
        "not-detached": carried(only_fresh, detach=(False, False), retain=True),
        "only-hidden-detached": carried(only_fresh, detach=(True, False), retain=True),
        "only-cell-detached": carried(only_fresh, detach=(False, True), retain=True),
        "not-carried": carried(lambda part, *_: part * 0),
        "fresh-ignored": carried(lambda part, *_: part),
        "all-rows-blank": carried(lambda part, fresh, _: part * (not fresh.any())),
        "fresh-inverted": carried(lambda part, fresh, _: part * fresh),
        "only-hidden-blanked": carried(lambda part, fresh, which: part if which else part * ~fresh),
        "last-gradient-only": carried(only_fresh, when="last"),
        "no-gradient": carried_no_grad,
    },
    "last": {
        "other-targets": last_loss(own=True),
        "first-targets": last_aligned_left,
        "all-positions": last_loss(everywhere=True),
        "side-by-side": last_loss(stride=0),
        "last-target-lost": last_loss(cut=1),
        "reads-first-logits": last_loss(place=0),
        "unshifted-targets": last_loss(back=1),
        "longest-for-all": last_longest,
        "summed": last_loss(reduction="sum"),
    },
    "by-letter": {
        "by-window-position": letters_of_window,
        "counted-from-the-target": letters_by_target,
        "window-taken-for-a-name": letters_from_the_edge,
        "padding-counts": lambda *given: letters_loop(*given, padded=True),
        "places-cross-rows": lambda *given: letters_loop(*given, carry=True),
        "rest-in-the-last-place": lambda *given: letters_loop(*given, clamp=True),
        "summed": letters_summed,
        "rows-averaged-first": letters_row_means,
    },
    "one-cycle": {
        "straight-lines": cycle(shape="line"),
        "final-from-the-peak": cycle(end=lambda peak, _, final: peak / final),
        "ends-where-it-began": cycle(end=lambda peak, start, _: peak / start),
        "starts-at-zero": cycle(start=0.0),
        "counts-from-one": cycle(shift=1),
        "turns-one-step-late": cycle(late=1),
        "never-rises": cycle_falls,
        "momentum-along": cycle(momentum="along"),
        "momentum-constant": cycle(momentum="constant"),
    },
    "spell": {
        "boundary-kept": spelled(keep=True),
        "writes-on": spelled(stop=False),
        "no-start-boundary": spelled(start=False),
        "no-crop": spelled(crop=False),
        "reads-first-logits": spelled(place=0),
        "temperature-multiplied": spelled(times=True),
        "most-likely": spelled(best=True),
        "ends-too-soon": spelled(ban="none"),
        "zero-mask": spelled(ban="zero"),
        "not-renormalised": spelled(ban="after"),
        "prefix-not-counted": spelled(count=lambda letters, prefix: len(letters) - len(prefix)),
        "boundary-counted": spelled(count=lambda letters, _: len(letters) + 1),
        "prefix-forgotten": spelled(whole=False),
        "training-mode": spelled(mode="never"),
        "left-in-evaluation": spelled(mode="evaluation"),
    },
}

ODD = {
    "split": [(split_half_leaks, "leaks")],
    "stream": [(stream_two_further, "difference")],
    "carried": [(carried_wrong_sign, "difference")],
    "last": [(lambda model, tokens, lengths: model(tokens), "error")],
    "by-letter": [(letters_next, "difference")],
    "one-cycle": [(cycle_twice_as_fast, "difference")],
    "spell": [(spell_reversed, "difference")],
}

SCAFFOLD = dict.fromkeys(RIGHT, unfilled)
