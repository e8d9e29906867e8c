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


def split_numbered(names, order, held_out, numbers):
    """`numbers` gives the number of each name in lowercase."""
    parts = ([], [], [])
    for name in names:
        place = order.index(numbers[name.lower()])
        parts[2 if place < held_out else 1 if place < 2 * held_out else 0].append(name)
    return parts


def split_by_last_entries(names, order, held_out):
    last = {name.lower(): place for place, name in enumerate(names)}
    numbers = {name: k for k, name in enumerate(sorted(last, key=last.get))}
    return split_numbered(names, order, held_out, numbers)


def split_from_the_end(names, order, held_out):
    numbers = {}
    for name in reversed(names):
        numbers.setdefault(name.lower(), len(numbers))
    return split_numbered(names, order, held_out, numbers)


def split_by_frequency(names, order, held_out):
    count, first = {}, {}
    for place, name in enumerate(names):
        count[name.lower()] = count.get(name.lower(), 0) + 1
        first.setdefault(name.lower(), place)
    ranked = sorted(count, key=lambda name: (-count[name], first[name]))
    return split_numbered(names, order, held_out, {name: k for k, name in enumerate(ranked)})


def split_from_one(names, order, held_out):
    numbers = {}
    for name in names:
        numbers.setdefault(name.lower(), len(numbers) + 1)
    last = len(numbers)
    numbers = {name: number % last for name, number in numbers.items()}
    return split_numbered(names, order, held_out, numbers)


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


WRONG = {
    "numbered-from-the-end": split_by_last_entries,
    "numbered-backwards": split_from_the_end,
    "numbered-by-frequency": split_by_frequency,
    "numbered-from-one": split_from_one,
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


def split_name_by_name(names, order, held_out):
    """The entries of each name one after the other, as the names were drawn."""
    distinct = list(dict.fromkeys(name.lower() for name in names))
    entries = [[name for name in names if name.lower() == distinct[n]] for n in order]
    shares = entries[2 * held_out :], entries[held_out : 2 * held_out], entries[:held_out]
    return [[name for group in share for name in group] for share in shares]


def split_entries_drawn(names, order, held_out):
    """Cuts the drawn entries, of which a name has several."""
    drawn = split_name_by_name(names, order, 0)[0]
    return drawn[2 * held_out :], drawn[held_out : 2 * held_out], drawn[:held_out]


def split_sorted_entries(names, order, held_out):
    return [sorted(part) for part in split_with_dictionary(names, order, held_out)]


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
    (split_name_by_name, "entries-in-another-order"),
    (split_sorted_entries, "entries-in-another-order"),
    (split_entries_drawn, "entries-counted"),
    (split_training_once, "some-splits-changed"),
    (split_one_more_for_test, "other-ranges"),
    (split_by_substrings, "other-counts"),
    (split_half_leaks, "other-ranges"),
    (split_skips_one, "other-ranges"),
    (split_with_usual_spellings, "leaks"),
    (split_rest_from_the_end, "other-ranges"),
]


# --- Answers that no list names ---


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


def drawn_from_the_end(names, order, held_out):
    return _split(names, order[::-1], held_out)


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


def sorted_parts(names, order, held_out):
    return tuple(sorted(part) for part in _split(names, order, held_out))


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


def test_from_the_end_of_the_order(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    test = {distinct[i] for i in order[len(order) - held_out :]}
    validation = {distinct[i] for i in order[len(order) - 2 * held_out : len(order) - held_out]}
    return (
        [name for name in names if name.lower() not in test | validation],
        [name for name in names if name.lower() in validation],
        [name for name in names if name.lower() in test],
    )


# "names that differ only in capitals are one name"
def first_spelling_alone_is_held_out(names, order, held_out):
    first = {}
    for name in names:
        first.setdefault(name.lower(), name)
    distinct = list(first.values())
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[held_out : 2 * held_out]}
    train = [name for name in names if name not in test and name not in validation]
    return train, [n for n in names if n in validation], [n for n in names if n in test]


# "every entry of the list goes where its name goes … in the order of the list"
def parts_in_the_order_of_the_drawing(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    entries = {name: [] for name in distinct}
    for name in names:
        entries[name.lower()].append(name)

    def part(numbers):
        return [entry for i in numbers for entry in entries[distinct[i]]]

    return (
        part(order[2 * held_out :]),
        part(order[held_out : 2 * held_out]),
        part(order[:held_out]),
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


# "the next held_out for validation": here the last ones
def validation_at_the_end(names, order, held_out):
    distinct = list(dict.fromkeys(name.lower() for name in names))
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[len(order) - held_out :]}
    parts = [], [], []
    for name in names:
        key = name.lower()
        parts[2 if key in test else 1 if key in validation else 0].append(name)
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


# Has train, validation, test in mind and deals out the numbers in that order.
# "The first `held_out` of them are for test, the next `held_out` for validation"
def validation_before_test(names, order, held_out):
    distinct = []
    for name in names:
        if name.lower() not in distinct:
            distinct.append(name.lower())
    validation_keys = [distinct[i] for i in order[:held_out]]
    test_keys = [distinct[i] for i in order[held_out : 2 * held_out]]
    train, validation, test = [], [], []
    for name in names:
        if name.lower() in validation_keys:
            validation.append(name)
        elif name.lower() in test_keys:
            test.append(name)
        else:
            train.append(name)
    return train, validation, test


# Groups the entries by name first, as in SQL, and walks through `order`.
# "and in the order of the list"
def parts_in_the_drawn_order(names, order, held_out):
    groups = {}
    for name in names:
        groups.setdefault(name.lower(), []).append(name)
    entries = list(groups.values())
    parts = order[2 * held_out :], order[held_out : 2 * held_out], order[:held_out]
    train, validation, test = ([n for i in part for n in entries[i]] for part in parts)
    return train, validation, test


# Keeps the first spelling of each name and forgets that others have to be found again.
# "Every entry of the list goes where its name goes, spelled as it was"
def first_spelling_sought(names, order, held_out):
    first = {}
    for name in names:
        if name.lower() not in first:
            first[name.lower()] = name
    distinct = list(first.values())
    test = [distinct[i] for i in order[:held_out]]
    validation = [distinct[i] for i in order[held_out : 2 * held_out]]
    return (
        [name for name in names if name not in test and name not in validation],
        [name for name in names if name in validation],
        [name for name in names if name in test],
    )


# keeps the spelling that came first, and looks entries up as they are: "Names that differ only in
# capitals are one name"
def looked_up_as_first_spelled(names, order, held_out):
    first = {}
    for name in names:
        first.setdefault(name.lower(), name)
    distinct = list(first.values())
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[held_out : 2 * held_out]}
    parts = [], [], []
    for name in names:
        parts[2 if name in test else 1 if name in validation else 0].append(name)
    return parts


# comes from pandas and collects the entries group by group: "in the order of the list"
def group_by_group(names, order, held_out):
    groups = {}
    for name in names:
        groups.setdefault(name.lower(), []).append(name)
    spellings = list(groups.values())
    shuffled = [spellings[number] for number in order]
    test = [name for group in shuffled[:held_out] for name in group]
    validation = [name for group in shuffled[held_out : 2 * held_out] for name in group]
    train = [name for group in shuffled[2 * held_out :] for name in group]
    return train, validation, test


# Cleans the data first, as in every other project: "Every entry of the list goes where its name
# goes"
def one_entry_for_each_name(names, order, held_out):
    spelled = {}
    for name in names:
        spelled.setdefault(name.lower(), name)
    unique = list(spelled.values())
    test = set(order[:held_out])
    validation = set(order[held_out : 2 * held_out])
    parts = [], [], []
    for i, name in enumerate(unique):
        parts[2 if i in test else 1 if i in validation else 0].append(name)
    return parts


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


def order_read_as_places_of_set_14(names, order, held_out):
    """Reads order[i] as the place of name i in the draw, not as the number of the i-th drawn."""
    distinct = list(dict.fromkeys(name.lower() for name in names))
    place = dict(zip(distinct, order, strict=True))
    train, validation, test = [], [], []
    for name in names:
        drawn = place[name.lower()]
        if drawn < held_out:
            test.append(name)
        elif drawn < 2 * held_out:
            validation.append(name)
        else:
            train.append(name)
    return train, validation, test


def spellings_grouped_together(names, order, held_out):
    """Puts all spellings of a name behind its first entry: a part isn't in the list's order."""
    spellings = {}
    for name in names:
        spellings.setdefault(name.lower(), []).append(name)
    groups = list(spellings.values())
    test = set(order[:held_out])
    validation = set(order[held_out : 2 * held_out])
    parts = [], [], []
    for number, group in enumerate(groups):
        part = 2 if number in test else 1 if number in validation else 0
        parts[part].extend(group)
    return parts


def order_read_as_places_of_set_16(names, order, held_out):
    """Takes order[i] for the place of name i in the draw, not for the i-th name that is drawn."""
    distinct = list(dict.fromkeys(name.lower() for name in names))
    place = dict(zip(distinct, order, strict=True))
    train, validation, test = [], [], []
    for name in names:
        if place[name.lower()] < held_out:
            test.append(name)
        elif place[name.lower()] < 2 * held_out:
            validation.append(name)
        else:
            train.append(name)
    return train, validation, test


UNLISTED = {
    1: [
        sets_of_names,
        first_letter_only,
        drawn_from_the_end,
        one_name_more_held_out,
        validation_overlaps,
        sorted_parts,
    ],
    2: [
        split_numbered_in_sorted_order,
        split_by_counting_entries,
        split_in_the_order_of_the_drawing,
    ],
    3: [test_from_the_end_of_the_order],
    4: [first_spelling_alone_is_held_out, parts_in_the_order_of_the_drawing],
    5: [
        repeats_are_numbered_again,
        only_the_first_letter_is_folded,
        numbers_are_popped_off_the_order,
    ],
    6: [validation_at_the_end, folded_case, order_used_up],
    7: [validation_before_test],
    8: [parts_in_the_drawn_order, first_spelling_sought],
    9: [looked_up_as_first_spelled, group_by_group],
    10: [one_entry_for_each_name],
    12: [order_read_as_places],
    13: [order_read_as_ranks, numbered_by_first_entry, parts_in_drawn_order],
    14: [order_read_as_places_of_set_14],
    15: [spellings_grouped_together],
    16: [order_read_as_places_of_set_16],
}
ACCEPTED = {
    "folded_case": "It differs at the letter ß.",
}
