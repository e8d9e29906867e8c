"""Judges 09/split: three splits of a list in which a name may be spelled in several ways."""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import chain

from course_judges.ch09_names.sections import SPLIT
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import unwrapped
from course_tasks.answers import input_text
from course_tasks.verdict import Finding

_HALVES = ("train", "validation", "test")
_CALLED = dict(zip(_HALVES, ("training", "validation", "test"), strict=True))


def split_names(names, order, held_out):
    """A right answer."""
    lowered = [name.lower() for name in names]  # the names in lowercase
    distinct = list(dict.fromkeys(lowered))  # the distinct names
    drawn = [distinct[number] for number in order]  # the drawn names
    of_test = drawn[:held_out]  # the names for test
    of_validation = drawn[held_out : 2 * held_out]  # the names for validation
    of_training = drawn[2 * held_out :]  # the names for training
    train = [name for name in names if name.lower() in of_training]  # your training split
    validation = [name for name in names if name.lower() in of_validation]  # your validation split
    test = [name for name in names if name.lower() in of_test]  # your test split
    return train, validation, test


def _split(names, order, held_out, distinct, key=str.lower):
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[held_out : 2 * held_out]}
    return (
        [n for n in names if key(n) not in test | validation],
        [n for n in names if key(n) in validation],
        [n for n in names if key(n) in test],
    )


def _first_spellings(part):
    kept: dict[str, str] = {}
    for name in part:
        kept.setdefault(name.lower(), name)
    return list(kept.values())


def _parts_of(evidence: Evidence) -> dict[str, list[str]]:
    texts = {half: str(evidence.answers.values[f"split.{half}"]) for half in _HALVES}
    return {half: text.split("\n") if text else [] for half, text in texts.items()}


def _listed(evidence: Evidence) -> list[str]:
    return input_text(evidence.inputs["names"]).split("\n")


def _nothing_lost(evidence: Evidence) -> bool:
    parts = _parts_of(evidence)
    return _filled(evidence, parts) and Counter(chain(*parts.values())) == Counter(
        _listed(evidence)
    )


def _filled(evidence: Evidence, parts: Mapping[str, Collection[str]]) -> bool:
    """True if no part is empty, except training if all names are held out."""
    rest = evidence.number("K") > 2 * evidence.number("held_out")
    return all(names or (half == "train" and not rest) for half, names in parts.items())


def _keys(evidence: Evidence) -> dict[str, set[str]]:
    return {half: {n.lower() for n in part} for half, part in _parts_of(evidence).items()}


def _leaks(evidence: Evidence) -> list[str]:
    train, validation, test = _keys(evidence).values()
    return sorted(train & (validation | test) | validation & test)


def _apart(evidence: Evidence) -> bool:
    everything = {n.lower() for n in _listed(evidence)}
    keys = _keys(evidence)
    return (
        _filled(evidence, keys)
        and set().union(*keys.values()) == everything
        and not _leaks(evidence)
        and len(keys["test"]) == len(keys["validation"]) == evidence.number("held_out")
    )


def _deduplicated(evidence: Evidence) -> bool:
    """True if each split has the right names, and each of them only once."""
    fewer = sum(map(len, _parts_of(evidence).values())) < len(_listed(evidence))
    wanted = {half: _lowered(part) for half, part in _right_parts(evidence).items()}
    return fewer and all(
        Counter(_lowered(part)) == Counter({*wanted[half]})
        for half, part in _parts_of(evidence).items()
    )


def _lowered(part: Collection[str]) -> list[str]:
    return [name.lower() for name in part]


def _where(evidence: Evidence, name: str) -> str:
    """Which splits a name is in: "in the training split"."""
    splits = [_CALLED[half] for half, keys in _keys(evidence).items() if name in keys]
    return f"in the {' split and in the '.join(splits)} split" if splits else "in no split"


def _says_leak(evidence: Evidence) -> str:
    leaks = _leaks(evidence)
    where = _spread(evidence, leaks[0])
    if len(leaks) == 1:
        return f"{where}. It is the only name in more than one split."
    return f"{where}, and it is one of {len(leaks)} names in more than one split."


def _spread(evidence: Evidence, name: str) -> str:
    """Which splits a name is in, in two spellings if they tell two splits apart."""
    spelled = {
        half: {entry for entry in part if entry.lower() == name}
        for half, part in _parts_of(evidence).items()
    }
    one, other = [half for half, entries in spelled.items() if entries][:2]
    mine, theirs = sorted(spelled[one] - spelled[other]), sorted(spelled[other] - spelled[one])
    if not mine or not theirs:
        return f"`{name}` is {_where(evidence, name)}"
    return unwrapped(f"""`{mine[0]}` is in the {_CALLED[one]} split, but `{theirs[0]}` is in the
    {_CALLED[other]} split""")


def _numbered(evidence: Evidence) -> list[str]:
    """The distinct names in the order of their numbers."""
    return list(dict.fromkeys(name.lower() for name in _listed(evidence)))


def _first_misplaced(evidence: Evidence) -> str:
    """Which name is the first in the wrong split, and where it should be; empty if none is."""
    names, shuffled = _numbered(evidence), evidence.inputs["order"].tolist()
    keys, held_out = _keys(evidence), evidence.number("held_out")
    for place, number in enumerate(shuffled):
        wanted = _HALVES[::-1][min(place // held_out, 2)]
        places = [half for half, held in keys.items() if names[number] in held]
        if places != [wanted]:
            return (
                f"`order[{place}]` is {number}, so name number {number}, `{names[number]}`,"
                f" belongs in the {_CALLED[wanted]} split. In your answer it is"
                f" {_where(evidence, names[number])}."
            )
    return ""


def _worked_out(evidence: Evidence) -> Finding | None:
    told = _first_misplaced(evidence)
    what = "Some names aren't in the split that they were drawn for."
    return Finding("other-parts", what, told, SPLIT) if told else None


def _sizes(evidence: Evidence) -> str:
    parts = _parts_of(evidence)
    return unwrapped(f"""The list has {len(_listed(evidence))} entries. Your training split has
    {len(parts["train"])}, your validation split {len(parts["validation"])} and your test split
    {len(parts["test"])}.""")


def _lengths(parts: Mapping[str, Collection[str]]) -> str:
    return ", ".join(str(len(part)) for part in parts.values())


def _right_parts(evidence: Evidence) -> dict[str, list[str]]:
    texts = {half: str(evidence.expected.values[f"split.{half}"]) for half in _HALVES}
    return {half: text.split("\n") if text else [] for half, text in texts.items()}


def _runs(places: Collection[int]) -> list[tuple[int, int]]:
    """Numbers as ranges without gaps, each with its first and its last one."""
    found: list[tuple[int, int]] = []
    for place in sorted(places):
        if found and place == found[-1][1] + 1:
            found[-1] = found[-1][0], place
        else:
            found.append((place, place))
    return found


def _told(runs: Collection[tuple[int, int]]) -> str:
    """Ranges in words: "those at 0 to 4", "those at 5 and 10 to 29"."""
    ranges = [f"{first} to {last}" if last > first else str(first) for first, last in runs]
    return f"those at {' and '.join(ranges)}" if ranges else "no name"


def _other_ranges(evidence: Evidence) -> Finding | None:
    """Which places of `order` a split takes, if these are ranges, but not those asked for."""
    names = _numbered(evidence)
    place = {names[number]: place for place, number in enumerate(evidence.inputs["order"])}
    mine, right = (
        {half: _runs({place[name] for name in _lowered(part)}) for half, part in parts.items()}
        for parts in (_parts_of(evidence), _right_parts(evidence))
    )
    wrong = [half for half in _HALVES[::-1] if mine[half] != right[half]]
    if not wrong or max(len(mine["test"]), len(mine["validation"]), len(mine["train"]) - 1) > 1:
        return None
    told = ", and ".join(
        f"your {_CALLED[half]} split has {_told(mine[half])} instead of {_told(right[half])}"
        for half in wrong
    )
    return Finding(
        "other-ranges",
        f"Your {_CALLED[wrong[0]]} split doesn't take the part of `order` that it should.",
        f"With held_out = {evidence.number('held_out')}, count the names in the order in which they"
        f" were drawn, from 0 to {evidence.number('K') - 1}. Then {told}.",
        SPLIT,
    )


def _first_of(part: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in part[:3])


def _begins_with(evidence: Evidence) -> str:
    mine, right = _parts_of(evidence)["train"], _right_parts(evidence)["train"]
    return unwrapped(f"""Each split has the right entries, but your training split begins with
    {_first_of(mine)} instead of {_first_of(right)}. Go through `names` once and keep the order.""")


def _other_counts(evidence: Evidence) -> Finding | None:
    """How many distinct names are held out, if it is the wrong number."""
    keys, wanted = _keys(evidence), evidence.number("held_out")
    if len(keys["test"]) == wanted == len(keys["validation"]):
        return None
    return Finding(
        "other-counts",
        "Your test split or your validation split has the wrong number of names.",
        f"With held_out = {wanted}, both should have {wanted} distinct names, but your test split"
        f" has {len(keys['test'])} and your validation split {len(keys['validation'])}.",
        SPLIT,
    )


def _still_leaks(evidence: Evidence) -> Finding | None:
    if not _leaks(evidence):
        return None
    what = "You put a name in more than one split."
    if _nothing_lost(evidence):
        what = "Each entry is in one split, but entries of the same name are in different splits."
    return Finding("leaks", what, _says_leak(evidence), SPLIT)


@mistake("You count `Anna` and `anna` as two names.", _says_leak)
def _capitals_leak(names, order, held_out):
    return _split(names, order, held_out, list(dict.fromkeys(names)), key=str)


@mistake(
    "You used `order` to index the list, but it numbers the distinct names.",
    lambda e: unwrapped(f"""The list has {len(_listed(e))} entries, but only K = {e.number("K")}
    distinct names. {_says_leak(e)}"""),
)
def _entries_drawn(names, order, held_out):
    test, validation = order[:held_out], order[held_out : 2 * held_out]
    rest = [i for i in range(len(names)) if i not in {*test, *validation}]
    return tuple([names[i] for i in sorted(part)] for part in (rest, validation, test))


@mistake(
    "You read `order[i]` as the place of name i, but it is the number of the name at place i.",
    _first_misplaced,
)
def _order_inverted(names, order, held_out):
    return split_names(names, sorted(range(len(order)), key=order.__getitem__), held_out)


@mistake(
    "You numbered the distinct names in sorted order instead of in the order of the list.",
    lambda e: unwrapped(f"""Number 0 should be `{_listed(e)[0].lower()}`, which comes first in the
    list, but in your order it is `{min(n.lower() for n in _listed(e))}`."""),
)
def _sorted_first(names, order, held_out):
    return _split(names, order, held_out, sorted({n.lower() for n in names}))


@mistake(
    "You numbered a name by the place of its first entry, which leaves gaps.",
    lambda e: (
        unwrapped(f"""The numbers in `order` go from 0 to {e.number("K") - 1} without gaps, but
    the list has {len(_listed(e))} entries. So some of your names never get drawn, and your
    validation and test splits have {len(_keys(e)["validation"])} and {len(_keys(e)["test"])}
    distinct names instead of {e.number("held_out")} each.""")
    ),
)
def _numbered_with_gaps(names, order, held_out):
    lowered = [n.lower() for n in names]
    numbers = [lowered.index(n) for n in lowered]
    test, validation = {*order[:held_out]}, {*order[held_out : 2 * held_out]}
    rest = {*range(len(names))} - test - validation
    return tuple(
        [n for n, i in zip(names, numbers, strict=True) if i in part]
        for part in (rest, validation, test)
    )


def _spellings_once(evidence: Evidence) -> bool:
    """True if each split has the right entries, but those that are equal only once."""
    mine, right = _parts_of(evidence), _right_parts(evidence)
    return mine != right and all(Counter(mine[h]) == Counter({*right[h]}) for h in _HALVES)


@mistake(
    "You kept each spelling only once, but entries that are exactly the same count as well.",
    lambda e: f"{_sizes(e)} A dict or a set keeps only one of several equal entries.",
    recognized=_spellings_once,
)
def _repeats_dropped(names, order, held_out):
    return tuple(list(dict.fromkeys(part)) for part in split_names(names, order, held_out))


@mistake(
    "You kept each name only once, but every entry of the list belongs in a split.",
    _sizes,
    recognized=_deduplicated,
)
def _duplicates_dropped(names, order, held_out):
    parts = split_names(names, order, held_out)
    return tuple(_first_spellings(part) for part in parts)


@mistake(
    "You return the names in lowercase instead of as they are spelled in the list.",
    lambda e: unwrapped(f"""{sum(n != n.lower() for n in _listed(e))} entries of the list have
    capitals, but none in your splits do. Compare in lowercase, but return what you were given."""),
)
def _spelling_changed(names, order, held_out):
    return tuple([n.lower() for n in part] for part in split_names(names, order, held_out))


_splits_exchanged = mistake(
    "You swapped validation and test.",
    lambda e: unwrapped(f"""The first {e.number("held_out")} numbers of `order` are for test, but
    you put them into validation."""),
)(
    Like(
        "exchanged-the-names-for-validation-and-the-names-for-test-in-your-validation-split-and-your-test-split"
    )
)


@mistake(
    "Your three splits are right, but you return them in the wrong order.",
    lambda e: unwrapped(f"""Your splits have {_lengths(_parts_of(e))} entries in this order, but
    training, validation and test should have {_lengths(_right_parts(e))}."""),
    also=(
        lambda *given: split_names(*given)[1:] + split_names(*given)[:1],
        lambda *given: split_names(*given)[2:] + split_names(*given)[:2],
        lambda *given: (*split_names(*given)[1::-1], split_names(*given)[2]),
    ),
)
def _parts_in_another_order(names, order, held_out):
    return split_names(names, order, held_out)[::-1]


@mistake(
    "You look for each held-out name in one spelling only, so its other spellings go to training.",
    lambda e: f"{_says_leak(e)} Compare in lowercase on both sides.",
)
def _first_spelling_sought(names, order, held_out):
    distinct = _first_spellings(names)
    test = {distinct[i] for i in order[:held_out]}
    validation = {distinct[i] for i in order[held_out : 2 * held_out]}
    return (
        [n for n in names if n not in test | validation],
        [n for n in names if n in validation],
        [n for n in names if n in test],
    )


@mistake(
    "You sorted your entries, but they should stay in the order of the list.",
    _begins_with,
)
def _entries_sorted(names, order, held_out):
    return tuple(sorted(part) for part in split_names(names, order, held_out))


def _together(names, order, held_out, drawn):
    """All entries of a name one after the other: names as they were drawn, or as in the list."""
    distinct = list(dict.fromkeys(name.lower() for name in names))
    numbers = order[2 * held_out :], order[held_out : 2 * held_out], order[:held_out]
    return tuple(
        [n for i in (part if drawn else sorted(part)) for n in names if n.lower() == distinct[i]]
        for part in numbers
    )


_entries_together = mistake(
    "You put all entries of a name together, but they should stay in the order of the list.",
    _begins_with,
    also=(lambda names, order, held_out: _together(names, order, held_out, drawn=False),),
)(lambda names, order, held_out: _together(names, order, held_out, drawn=True))

_drawn_from_the_end = mistake(
    "You went through `order` from its end, but the first names that it holds are for test.",
    _first_misplaced,
)(lambda names, order, held_out: split_names(names, order[::-1], held_out))


@mistake(
    "You bring only the first letter to lowercase, so `ANNA` and `Anna` count as two names.",
    _says_leak,
)
def _first_letter_lowered(names, order, held_out):
    def key(name):
        return name[:1].lower() + name[1:]

    return _split(names, order, held_out, list(dict.fromkeys(map(key, names))), key)


_IN_TURN = (
    "The first `held_out` names that were drawn are for test, the next `held_out` for validation "
    "and the rest for training."
)
_OWN_NAMES = "Each split has all entries of its own names and no others."

TASK = Task(
    "A split with no leakage",
    split_names,
    SPLIT,
    (
        Part("Every entry is in one split, as it is spelled.", 1, _nothing_lost),
        Part("No name is in two splits, however it is spelled.", 1, _apart),
        Part("The drawn names are in test and in validation.", 2, matches("split")),
    ),
    properties=(
        _other_ranges,
        _still_leaks,
        _other_counts,
    ),
    examples=(_worked_out,),
    steps={
        "the names in lowercase": Step("Names that differ only in capitals are one name."),
        "the distinct names": Step("Each name has one number, whatever its spellings."),
        "the drawn names": Step("`order` holds the numbers of the distinct names."),
        "the names for test": Step(_IN_TURN),
        "the names for validation": Step(_IN_TURN),
        "the names for training": Step(_IN_TURN),
        "your training split": Step(_OWN_NAMES),
        "your validation split": Step(_OWN_NAMES),
        "your test split": Step(_OWN_NAMES),
    },
)
