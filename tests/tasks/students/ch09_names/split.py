"""Students' answers to 09/split."""

import numpy as np


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


RIGHT = {
    "dictionary": split_with_dictionary,
    "numpy": split_with_numpy,
    "lists": split_with_sets,
}


def split_by_places(names, order, held_out):
    number = {}
    for name in names:
        number.setdefault(name.lower(), len(number))
    parts = ([], [], [])
    for name in names:
        parts[2 - min(order[number[name.lower()]] // held_out, 2)].append(name)
    return parts


def split_skips_one(names, order, held_out):
    """The second share begins one number too late."""
    shifted = [*order[:held_out], *order[held_out + 1 :], order[held_out]]
    return split_with_dictionary(names, shifted, held_out)


def split_by_first_spelling(names, order, held_out):
    first = {}
    for name in names:
        first.setdefault(name.lower(), name)
    distinct = list(first.values())
    test, validation = (
        [distinct[n] for n in part] for part in (order[:held_out], order[held_out : 2 * held_out])
    )
    train = [name for name in names if name not in test and name not in validation]
    return train, *([name for name in names if name in part] for part in (validation, test))


WRONG = {
    "parts-in-another-order": lambda *given: tuple(reversed(split_with_sets(*given))),
    "first-spelling-sought": split_by_first_spelling,
    "order-inverted": split_by_places,
    "capitals-leak": split_by_spelling,
    "entries-drawn": split_places,
    "sorted-first": split_sorted,
    "duplicates-dropped": split_once_each,
    "spelling-changed": split_small_letters,
    "splits-exchanged": split_exchanged,
    "training-keeps-everything": split_training_whole,
}


def split_with_usual_spellings(names, order, held_out):
    """Knows `anna`, `Anna` and `ANNA`, and takes `aNNA` for another name."""

    def key(name):
        return name.lower() if name in (name.upper(), name.capitalize()) else name

    distinct = list(dict.fromkeys(key(name) for name in names if key(name).islower()))
    places = {distinct[number]: place // held_out for place, number in enumerate(order)}
    parts = ([], [], [])
    for name in names:
        parts[2 - min(places.get(key(name), 2), 2)].append(name)
    return parts


def split_rest_from_the_end(names, order, held_out):
    """What is left is counted from the end, where `order[-0:]` is all of it."""
    distinct = list(dict.fromkeys(name.lower() for name in names))
    numbers = (
        order[-(len(order) - 2 * held_out) :],
        order[held_out : 2 * held_out],
        order[:held_out],
    )
    kept = [{distinct[number] for number in part} for part in numbers]
    return [[name for name in names if name.lower() in part] for part in kept]


def split_by_substrings(names, order, held_out):
    """Looks a name up in a text of all that are held out, where parts of names are found, too."""
    distinct = list(dict.fromkeys(name.lower() for name in names))
    test = " ".join(distinct[number] for number in order[:held_out])
    validation = " ".join(distinct[number] for number in order[held_out : 2 * held_out])
    parts = ([], [], [])
    for name in names:
        parts[2 if name.lower() in test else 1 if name.lower() in validation else 0].append(name)
    return parts


ODD = [
    (split_by_substrings, "other-counts"),
    (split_half_leaks, "leaks"),
    (split_skips_one, "other-parts"),
    (split_with_usual_spellings, "leaks"),
    (split_rest_from_the_end, "leaks"),
]
