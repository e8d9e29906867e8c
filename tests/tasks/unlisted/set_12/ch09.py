"""Wrong answers to chapter 09 that no list names: the twelfth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 09/split


def order_read_as_places(names, order, held_out):
    """Reads order[i] as the place of name i in the shuffle, instead of the name at place i."""
    numbers = {}
    for name in names:
        numbers.setdefault(name.lower(), len(numbers))
    train, validation, test = [], [], []
    for name in names:
        place = order[numbers[name.lower()]]
        if place < held_out:
            test.append(name)
        elif place < 2 * held_out:
            validation.append(name)
        else:
            train.append(name)
    return train, validation, test


# 09/stream


def length_without_boundaries(names, order, batch_size, block_size):
    """Counts the letters of the shortest row without its boundaries, and finds too few windows."""
    share = len(order) // batch_size
    rows, lengths = [], []
    for b in range(batch_size):
        chosen = [names[i] for i in order[b * share : (b + 1) * share]]
        lengths.append(sum(len(name) for name in chosen))
        rows.append(torch.tensor([0, *(token for name in chosen for token in [*name, 0])]))
    S = min(lengths) // block_size
    n = S * block_size
    x = torch.stack([row[:n].view(S, block_size) for row in rows], dim=1)
    y = torch.stack([row[1 : n + 1].view(S, block_size) for row in rows], dim=1)
    return x, y


# 09/carried


def gradients_of_the_mean(model, batches):
    """Divides each loss by the number of batches before backward, as when gradients accumulate."""
    state, losses = None, []
    for x, y, fresh in batches:
        if state is not None:
            keep = (~fresh).float()[None, :, None]
            state = tuple(part.detach() * keep for part in state)
        logits, state = model.read(x, state)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        (loss / len(batches)).backward()
        losses.append(loss.item())
    return losses


# 09/last


def mean_of_the_chunks_means(model, tokens, lengths):
    """Reads 16 windows at a time and takes the mean of means,
    so a short last chunk counts too much.
    """
    found = []
    for T in lengths:
        windows = tokens.unfold(0, T + 1, 1)[max(lengths) - T :]
        means = []
        for chunk in windows.split(16):
            with torch.no_grad():
                logits, _ = model(chunk[:, :-1])
            means.append(F.cross_entropy(logits[:, -1], chunk[:, -1]).item())
        found.append(sum(means) / len(means))
    return found


# 09/by-letter


def later_letters_in_the_last_place(logits, x, y, boundary, longest):
    """Keeps the places inside the result with a clamp, so all later letters count at the
    last place.
    """
    losses = F.cross_entropy(logits.transpose(1, 2), y, reduction="none")
    total, number = torch.zeros(longest), torch.zeros(longest)
    for b in range(x.shape[0]):
        place = None
        for t in range(x.shape[1]):
            if x[b, t] == boundary:
                place = 0
            elif place is not None:
                place = min(place + 1, longest - 1)
            if place is not None and y[b, t] != -100:
                total[place] += losses[b, t]
                number[place] += 1
    return total / number


# 09/one-cycle


def momentum_mirrors_the_rate(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Computes the momentum from the rate's share of its rise, which falls below 0 at the end."""

    def half_cosine(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    top = round(rise * steps) - 1
    first = peak / start_factor
    if step <= top:
        rate = half_cosine(first, peak, step / top)
    else:
        rate = half_cosine(peak, first / final_factor, (step - top) / (steps - 1 - top))
    height = (rate - first) / (peak - first)
    return rate, high - (high - low) * height


# 09/spell


def boundary_always_in_front(model, prefix, shortest, longest, temperature, uniform):
    """Keeps the boundary in front when the context is cut, and drops one letter more for it."""
    was_training = model.training
    model.eval()
    letters, numbers = list(prefix), iter(uniform)
    while len(letters) < longest:
        context = [0, *letters]
        if len(context) > model.block_size:
            context = [0, *letters[len(letters) - model.block_size + 1 :]]
        with torch.no_grad():
            logits = model(torch.tensor([context]))[0][0, -1] / temperature
        if len(letters) < shortest:
            logits[0] = -torch.inf
        cumulative = logits.softmax(dim=-1).cumsum(dim=-1)
        token = int((cumulative <= next(numbers)).sum())
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


# 09/letters-of-past


def losses_on_the_training_split():
    """Measured the tables on the training split, where they were counted, not on validation."""
    return {"text": "names", "one": 2.455, "two": 2.213, "three": 2.111, "four": 2.233}


WRITTEN = {
    "09/split": [order_read_as_places],
    "09/stream": [length_without_boundaries],
    "09/carried": [gradients_of_the_mean],
    "09/last": [mean_of_the_chunks_means],
    "09/by-letter": [later_letters_in_the_last_place],
    "09/one-cycle": [momentum_mirrors_the_rate],
    "09/spell": [boundary_always_in_front],
    "09/letters-of-past": [losses_on_the_training_split],
}
