"""Judges 09/split: three splits of a list in which a name may be spelled in several ways."""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import chain

from course_judges.ch09_names.sections import SPLIT
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import unwrapped
from course_tasks.answers import input_text
from course_tasks.verdict import Finding

_HALVES = ("train", "validation", "test")
_CALLED = dict(zip(_HALVES, ("training", "validation", "test"), strict=True))


def split_names(names, order, held_out):
    """A right answer."""
    return _split(names, order, held_out, list(dict.fromkeys(n.lower() for n in names)))


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
    right = {half: str(evidence.expected.values[f"split.{half}"]) for half in _HALVES}
    wanted = {half: {*text.lower().split("\n")} - {""} for half, text in right.items()}
    parts = _parts_of(evidence)
    fewer = sum(map(len, parts.values())) < len(_listed(evidence))
    return wanted == _keys(evidence) and fewer and all(len(p) == len({*p}) for p in parts.values())


def _where(evidence: Evidence, name: str) -> str:
    """Which splits a name is in: "in the training split"."""
    splits = [_CALLED[half] for half, keys in _keys(evidence).items() if name in keys]
    return f"in the {' split and in the '.join(splits)} split" if splits else "in no split"


def _says_leak(evidence: Evidence) -> str:
    leaks = _leaks(evidence)
    where = f"`{leaks[0]}` is {_where(evidence, leaks[0])}"
    if len(leaks) == 1:
        return f"{where}. It is the only name in more than one split."
    return f"{where}, and it is one of {len(leaks)} names in more than one split."


def _numbered(evidence: Evidence) -> list[str]:
    """The distinct names in the order of their numbers."""
    return list(dict.fromkeys(name.lower() for name in _listed(evidence)))


def _where_is_it(evidence: Evidence) -> str:
    """In which split the first name of `order` is."""
    name = _numbered(evidence)[int(evidence.inputs["order"][0])]
    return f"In your answer it is {_where(evidence, name)}."


def _worked_out(evidence: Evidence) -> Finding | None:
    """Which name is the first in the wrong split, and where it should be."""
    names, shuffled = _numbered(evidence), evidence.inputs["order"].tolist()
    keys, held_out = _keys(evidence), evidence.number("held_out")
    for place, number in enumerate(shuffled):
        wanted = _HALVES[::-1][min(place // held_out, 2)]
        places = [half for half, held in keys.items() if names[number] in held]
        if places != [wanted]:
            return Finding(
                "other-parts",
                "Some names aren't in the split that they were drawn for.",
                f"`order[{place}]` is {number}, so name number {number}, `{names[number]}`,"
                f" belongs in the {_CALLED[wanted]} split. In your answer it is"
                f" {_where(evidence, names[number])}.",
                SPLIT,
            )
    return None


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
    return Finding("leaks", "You put a name in more than one split.", _says_leak(evidence), SPLIT)


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
    lambda e: unwrapped(f"""`order` begins with {int(e.inputs["order"][0])}, so the name with that
    number, `{_numbered(e)[int(e.inputs["order"][0])]}`, is the first for test.
    {_where_is_it(e)}"""),
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


@mistake(
    "You swapped validation and test.",
    lambda e: unwrapped(f"""The first {e.number("held_out")} numbers of `order` are for test, but
    you put them into validation."""),
)
def _splits_exchanged(names, order, held_out):
    train, validation, test = split_names(names, order, held_out)
    return train, test, validation


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


@mistake("Your training split is the whole list.", lambda e: f"{_says_leak(e)} {_sizes(e)}")
def _training_keeps_everything(names, order, held_out):
    return (names, *split_names(names, order, held_out)[1:])


TASK = Task(
    "A split with no leakage",
    split_names,
    SPLIT,
    (
        Part("Every entry of the list is in one split, as it is spelled.", 1, _nothing_lost),
        Part("No name is in two splits, however it is spelled.", 1, _apart),
        Part("The drawn names are in test and in validation.", 2, matches("split")),
    ),
    properties=(_still_leaks, _other_counts),
    examples=(_worked_out,),
)
