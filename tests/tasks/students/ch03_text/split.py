"""Students' answers to 03/split."""

import math
import random

import numpy as np
import torch


def split_with_random(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    held_out = set(distinct[: round(len(distinct) * fraction)])
    train, validation = [], []
    for name in names:
        (validation if name in held_out else train).append(name)
    return train, validation


def split_with_numpy(names, fraction, seed):
    distinct = np.array(list(dict.fromkeys(names)))
    count = round(len(distinct) * fraction)
    chosen = np.random.default_rng(seed).choice(distinct, count, replace=False)
    inside = np.isin(names, chosen)
    return list(np.array(names)[~inside]), list(np.array(names)[inside])


def split_with_global_seed(names, fraction, seed):
    torch.manual_seed(seed)
    distinct = sorted(set(names))
    where = dict(zip(distinct, torch.randperm(len(distinct)).tolist(), strict=True))
    cut = round(fraction * len(distinct))
    return (
        tuple(n for n in names if where[n] >= cut),
        tuple(n for n in names if where[n] < cut),
    )


def split_in_order(names, fraction, seed):
    distinct = sorted(set(names))
    first = distinct[round(fraction * len(distinct))]
    return [n for n in names if n >= first], [n for n in names if n < first]


def split_anew(names, fraction, seed):
    distinct = sorted(set(names))
    random.shuffle(distinct)
    held_out = distinct[: round(len(distinct) * fraction)]
    return [n for n in names if n not in held_out], [n for n in names if n in held_out]


def split_always_42(names, fraction, seed):
    return split_with_random(names, fraction, 42)


def split_list(names, fraction, seed):
    shuffled = list(names)
    random.Random(seed).shuffle(shuffled)
    cut = len(shuffled) - round(fraction * len(shuffled))
    return shuffled[:cut], shuffled[cut:]


def split_set(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    cut = round(len(distinct) * fraction)
    return distinct[cut:], distinct[:cut]


def split_validation_first(names, fraction, seed):
    train, validation = split_with_random(names, fraction, seed)
    return validation, train


def split_by_entries(names, fraction, seed):
    """Fills validation name by name until half of the entries are in it."""
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    held_out = set()
    while sum(n in held_out for n in names) < len(names) / 2:
        held_out.add(distinct.pop())
    return [n for n in names if n not in held_out], [n for n in names if n in held_out]


def split_loses_one(names, fraction, seed):
    train, validation = split_with_random(names, fraction, seed)
    return [name for name in train if name != train[0]], validation


def split_hashed(names, fraction, seed):
    pool = [*{*names}]
    random.Random(seed).shuffle(pool)
    held_out = pool[: round(len(pool) * fraction)]
    return [n for n in names if n not in held_out], [n for n in names if n in held_out]


def split_floor(names, fraction, seed):
    pool = sorted({*names})
    random.Random(seed).shuffle(pool)
    held_out = pool[: int(len(pool) * fraction)]
    return [n for n in names if n not in held_out], [n for n in names if n in held_out]


def split_counter(names, fraction, seed):
    """A right one that makes texts of its own of the names."""
    pool = np.random.RandomState(seed).permutation(np.unique(names)).tolist()
    held_out = {str(n) for n in pool[: round(len(pool) * fraction)]}
    return [str(n) for n in names if n not in held_out], [n for n in names if n in held_out]


RIGHT = {
    "own texts": split_counter,
    "random.Random": split_with_random,
    "numpy, first appearance": split_with_numpy,
    "global seed, tuples": split_with_global_seed,
}


def split_from_the_end(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    held = distinct[-round(len(distinct) * fraction) :]
    return [n for n in names if n not in held], [n for n in names if n in held]


def split_by_how_often(names, fraction, seed):
    """Whoever occurs several times is known, and stays in training, it is thought."""
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    distinct.sort(key=names.count)
    held = distinct[: round(fraction * len(distinct))]
    return [n for n in names if n not in held], [n for n in names if n in held]


def split_short_ones(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    distinct.sort(key=len)
    held = distinct[: round(fraction * len(distinct))]
    return [n for n in names if n not in held], [n for n in names if n in held]


def split_in_steps(names, fraction, seed):
    """Every second name from a place on that the seed says."""
    distinct = sorted(set(names))
    count = round(fraction * len(distinct))
    start = random.Random(seed).randrange(len(distinct) - 2 * count + 2)
    held = distinct[start::2][:count]
    return [n for n in names if n not in held], [n for n in names if n in held]


def split_initials(names, fraction, seed):
    initials = sorted({name[0] for name in names})
    random.Random(seed).shuffle(initials)
    held = initials[: round(fraction * len(initials))]
    return [n for n in names if n[0] not in held], [n for n in names if n[0] in held]


def split_pops(names, fraction, seed):
    """Takes entries out of the list that its loop goes through."""
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    held = distinct[: round(fraction * len(distinct))]
    train, validation = names[:], []
    for i, name in enumerate(train):
        if name in held:
            validation.append(train.pop(i))
    return train, validation


def _split(names, held_out):
    return [n for n in names if n not in held_out], [n for n in names if n in held_out]


def split_by_neighbors(names, fraction, seed):
    """Holds out a stretch of the sorted names, which begins at a place drawn by the seed."""
    distinct = sorted(set(names))
    count = round(fraction * len(distinct))
    start = seed % (len(distinct) - count)
    return _split(names, set(distinct[start : start + count]))


# "Validation gets `fraction` of the distinct names": names drawn twice are held out once
def drawn_with_replacement(names, fraction, seed):
    distinct = sorted(set(names))
    generator = torch.Generator().manual_seed(seed)
    count = round(fraction * len(distinct))
    drawn = torch.randint(len(distinct), (count,), generator=generator).tolist()
    held_out = {distinct[i] for i in drawn}
    train = [name for name in names if name not in held_out]
    return train, [name for name in names if name in held_out]


# Shuffles the names and fills the validation list until it is long enough.
# "Validation gets `fraction` of the *distinct* names (rounded)"
def share_of_the_entries(names, fraction, seed):
    distinct = sorted(set(names))
    generator = torch.Generator().manual_seed(seed)
    held_out, count = set(), 0
    for i in torch.randperm(len(distinct), generator=generator).tolist():
        if count >= round(fraction * len(names)):
            break
        held_out.add(distinct[i])
        count += names.count(distinct[i])
    train = [name for name in names if name not in held_out]
    validation = [name for name in names if name in held_out]
    return train, validation


WRONG = {
    "up-to-chance": drawn_with_replacement,
    "filled-with-entries": share_of_the_entries,
    "removed-in-the-loop": split_pops,
    "initials-held-out": split_initials,
    "chosen-by-a-trait": split_by_how_often,
    "none-becomes-all": split_from_the_end,
    "neighbors-held-out": split_by_neighbors,
    "not-shuffled": split_in_order,
    "unseeded": split_anew,
    "seed-ignored": split_always_42,
    "duplicates-across-splits": split_list,
    "order-of-a-set": split_hashed,
    "cut-not-rounded": split_floor,
    "duplicates-dropped": split_set,
    "splits-exchanged": split_validation_first,
    "fraction-of-the-entries": lambda names, fraction, seed: split_with_random(
        names, fraction * len(names) / len(set(names)), seed
    ),
    "rounded-up": lambda names, fraction, seed: split_with_random(
        names, math.ceil(fraction * len(set(names))) / len(set(names)), seed
    ),
    "both-the-same": lambda *given: [split_with_random(*given)[0]] * 2,
}


def split_trains_on_one_at_least(names, fraction, seed):
    return split_with_random(names, min(fraction, 1 - 1 / len(set(names))), seed)


def split_anew_with_seed_0(names, fraction, seed):
    return split_with_random(names, fraction, seed or None)


ODD = [
    (split_short_ones, "chosen-by-a-trait"),
    (split_in_steps, "neighbors-held-out"),
    (split_loses_one, "entries-lost"),
    (split_by_entries, "another-size"),
    (split_trains_on_one_at_least, "none-becomes-all"),
    (split_anew_with_seed_0, "unseeded"),
]


# --- Answers that no list names ---


def split_sorted_validation(names, fraction, seed):
    r = random.Random(seed)
    held = set(r.sample(sorted(set(names)), max(1, round(fraction * len(set(names))) - 1)))
    return [n for n in names if n not in held], sorted(n for n in names if n in held)


# "your functions leave what they are given as it was"
def takes_names_out_of_the_given_list(names, fraction, seed):
    distinct = sorted(set(names))
    random.Random(seed).shuffle(distinct)
    held_out = set(distinct[: round(fraction * len(distinct))])
    validation = [name for name in names if name in held_out]
    for name in validation:
        names.remove(name)
    return names, validation


UNLISTED = {
    1: [(split_sorted_validation, "another-size")],
    4: [(takes_names_out_of_the_given_list, "changes-its-input")],
}
