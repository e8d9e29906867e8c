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


def split_by_first_places(names, order, held_out):
    lowered = [name.lower() for name in names]
    test, validation = order[:held_out], order[held_out : 2 * held_out]
    parts = ([], [], [])
    for name in names:
        number = lowered.index(name.lower())
        parts[2 if number in test else 1 if number in validation else 0].append(name)
    return parts


def split_without_repeats(names, order, held_out):
    return split_with_dictionary(list(dict.fromkeys(names)), order, held_out)


def split_sorted_entries(names, order, held_out):
    return [sorted(part) for part in split_with_dictionary(names, order, held_out)]


def split_name_by_name(names, order, held_out):
    """The entries of each name one after the other, as the names were drawn."""
    distinct = list(dict.fromkeys(name.lower() for name in names))
    entries = [[name for name in names if name.lower() == distinct[n]] for n in order]
    shares = entries[2 * held_out :], entries[held_out : 2 * held_out], entries[:held_out]
    return [[name for group in share for name in group] for share in shares]


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


def test_from_the_end_of_the_order(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    test = {distinct[i] for i in order[len(order) - held_out :]}
    validation = {distinct[i] for i in order[len(order) - 2 * held_out : len(order) - held_out]}
    return (
        [name for name in names if name.lower() not in test | validation],
        [name for name in names if name.lower() in validation],
        [name for name in names if name.lower() in test],
    )


WRONG = {
    "splits-exchanged": split_exchanged,
    "entries-sorted": split_sorted_entries,
    "entries-together": split_name_by_name,
    "first-letter-lowered": only_the_first_letter_is_folded,
    "drawn-from-the-end": test_from_the_end_of_the_order,
    "numbered-with-gaps": split_by_first_places,
    "repeats-dropped": split_without_repeats,
    "parts-in-another-order": lambda *given: tuple(reversed(split_with_sets(*given))),
    "first-spelling-sought": split_by_first_spelling,
    "order-inverted": split_by_places,
    "capitals-leak": split_by_spelling,
    "entries-drawn": split_places,
    "sorted-first": split_sorted,
    "duplicates-dropped": split_once_each,
    "spelling-changed": split_small_letters,
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


def split_training_once(names, order, held_out):
    """Training has distinct names, the other two splits have entries."""
    a, b, c = split_with_dictionary(names, order, held_out)
    return list(dict.fromkeys(name.lower() for name in a)), b, c


def split_one_more_for_test(names, order, held_out):
    """Goes on to place `held_out` itself."""
    _, b, c = split_with_dictionary(names, order, held_out)
    more = split_with_dictionary(names, order, held_out + 1)[2]
    return [name for name in names if name not in {*b, *c, *more}], b, more


ODD = [
    (split_training_once, "used-the-distinct-names-instead-of-names-in-your-training-split"),
    (split_one_more_for_test, "used-a-slice-that-ended-one-place-later-in-the-names-for-test"),
    (split_by_substrings, "other-counts"),
    (split_half_leaks, "other-ranges"),
    (split_skips_one, "other-ranges"),
    (split_with_usual_spellings, "leaks"),
    (split_rest_from_the_end, "other-ranges"),
]


# --- Answers that no list names ---


def one_name_more_held_out(names, order, held_out):
    return split_with_dictionary(names, order, held_out + 1)


def validation_overlaps(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[held_out - 1 : 2 * held_out - 1]}
    return (
        [n for n in names if n.lower() not in test | validation],
        [n for n in names if n.lower() in validation],
        [n for n in names if n.lower() in test],
    )


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


# "Names that differ only in capitals are one name": `ß` and `ss` differ in more than that
def folded_case(names, order, held_out):
    distinct = list(dict.fromkeys(name.casefold() for name in names))
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[held_out : 2 * held_out]}
    parts = [], [], []
    for name in names:
        key = name.casefold()
        parts[2 if key in test else 1 if key in validation else 0].append(name)
    return parts


# "your functions leave what they are given as it was": `order` is used up
def order_used_up(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    test = {distinct[order.pop(0)] for _ in range(held_out)}
    validation = {distinct[order.pop(0)] for _ in range(held_out)}
    train = {distinct[i] for i in order}
    return tuple([n for n in names if n.lower() in part] for part in (train, validation, test))


UNLISTED = {
    1: [(one_name_more_held_out, "other-ranges"), (validation_overlaps, "other-ranges")],
    5: [(repeats_are_numbered_again, "other-counts")],
    6: [
        (order_used_up, "changes-its-input"),
    ],
}
ACCEPTED = {
    6: [(folded_case, "It differs at the letter ß.")],
}
