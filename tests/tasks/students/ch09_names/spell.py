"""Students' answers to 09/spell."""

import bisect
import itertools
import math

import numpy as np
import torch


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


RIGHT = {"plain Python": spell_loop, "tensors": spell_tensors, "numpy": spell_numpy}


def spell_into_the_prefix(model, prefix, shortest, longest, temperature, uniform):
    new = spell_loop(model, prefix, shortest, longest, temperature, uniform)[len(prefix) :]
    prefix += new
    return prefix


def spelled_with(context=None, temper=None, draw=None, most=None, least=None, returned=None):
    """Right but for what is given."""

    def write(model, prefix, shortest, longest, temperature, uniform):
        was = model.training
        model.eval()
        letters, numbers = list(prefix), iter(uniform)
        while len(letters) < (most(longest, prefix) if most else longest):
            shown = [0, *letters][-model.block_size :]
            shown = context(letters, model.block_size) if context else shown
            z = model(torch.tensor([shown]))[0][0, -1].double()
            z = z if temper else z / temperature
            if len(letters) < (least(shortest, longest) if least else shortest):
                z[0] = -torch.inf
            p = z.softmax(-1)
            u = next(numbers)
            token = draw(p, u, uniform) if draw else int((p.cumsum(-1) <= u).sum())
            if token == 0:
                break
            letters.append(token)
        model.train(was)
        return returned(letters) if returned else letters

    return write


def _how_many(p, u):
    return int((p.cumsum(-1) <= u).sum())


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


def boundary_always_in_front(model, prefix, shortest, longest, temperature, uniform):
    was_training = model.training
    model.eval()
    letters = list(prefix)
    for u in uniform:
        if len(letters) == longest:
            break
        context = torch.tensor([0, *letters[max(0, len(letters) - model.block_size + 1) :]])
        with torch.no_grad():
            logits = model(context[None])[0][0, -1] / temperature
        if len(letters) < shortest:
            logits[0] = -torch.inf
        cumulative = logits.softmax(dim=-1).cumsum(dim=-1)
        token = int((cumulative <= u).sum())
        if token == 0:
            break
        letters.append(token)
    model.train(was_training)
    return letters


WRONG = {
    "crops-the-end": spelled_with(lambda letters, size: [0, *letters][:size]),
    "last-token-only": spelled_with(lambda letters, size: ([0, *letters])[-1:]),
    "one-number-for-all": spelled_with(draw=lambda p, _, uniform: _how_many(p, uniform[0])),
    "drawn-letters-up-to-longest": spelled_with(most=lambda longest, p: longest + len(p)),
    "one-more-than-shortest": spelled_with(least=lambda shortest, longest: shortest + 1),
    "as-large-is-enough": searches_for_at_least_u,
    "numbers-by-place": numbers_by_place_in_the_name,
    "prefix-changed": spell_into_the_prefix,
    "no-start-boundary": spelled(start=False),
    "no-crop": spelled(crop=False),
    "boundary-pinned": boundary_always_in_front,
    "reads-first-logits": spelled(place=0),
    "temperature-multiplied": spelled(times=True),
    "most-likely": spelled(best=True),
    "zero-mask": spelled(ban="zero"),
    "not-renormalised": spelled(ban="after"),
    "boundary-counted": spelled(count=lambda letters, _: len(letters) + 1),
    "prefix-forgotten": spelled(whole=False),
    "training-mode": spelled(mode="never"),
    "left-in-evaluation": spelled(mode="evaluation"),
}


def spell_at_least_one(model, prefix, shortest, longest, *how):
    return spell_loop(model, prefix, shortest, max(longest, len(prefix) + 1), *how)


def drawn_again(model, prefix, shortest, longest, temperature, uniform):
    mode = model.training
    model.eval()
    letters, us = [*prefix], iter([*uniform, *uniform])
    while len(letters) < longest:
        text = torch.tensor([[0, *letters][-model.block_size :]])
        p = (model(text)[0][0, -1].double() / temperature).softmax(0).tolist()
        v = bisect.bisect_right(list(itertools.accumulate(p)), next(us))
        if v == 0 and len(letters) >= shortest:
            break
        if v > 0:
            letters.append(v)
    model.train(mode)
    return letters


def spell_with_pop(model, prefix, shortest, longest, temperature, uniform):
    return spell_loop(model, prefix, shortest, longest, temperature, uniform[::-1])


WRONG |= {
    "drawn-again": drawn_again,
    "complete-prefix-goes-on": spell_at_least_one,
}


ODD = [
    (spell_with_pop, "other-names"),
    (spelled(ban="none"), "left-out-the-logit-of-a-forbidden-boundary"),
]


# --- Answers that no list names ---


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


def drawn_from_the_other_end(*given):
    return _spell(*given, reverse=True)


def training_mode_in_the_end(model, *given):
    letters = _spell(model, *given)
    model.train()
    return letters


def _spelled(model, prefix, uniform, temperature, over, cut):
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


def spelled_without_dividing_again(model, prefix, shortest, longest, temperature, uniform):
    def cut(logits, letters):
        probabilities = logits.softmax(dim=-1)
        if len(letters) < shortest:
            probabilities[0] = 0
        return probabilities

    return _spelled(model, prefix, uniform, temperature, lambda found: len(found) == longest, cut)


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


UNLISTED = {
    1: [(drawn_from_the_other_end, "other-names"), (training_mode_in_the_end, "mode-not-restored")],
    2: [(spelled_without_dividing_again, "boundary-still-drawn")],
    5: [(numbers_are_popped_off_the_list, "changes-its-input")],
}
