"""How a split into training and validation names is judged."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice, pairwise

import torch

from course_judges.ch03_text.sections import SPLITS
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.wording import number, unwrapped
from course_tasks.answers import input_text
from course_tasks.verdict import Finding


def _shuffled(distinct, seed):
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    return [distinct[i] for i in torch.randperm(len(distinct), generator=generator).tolist()]


def _hold_out(names, held):
    held = set(held)
    return [n for n in names if n not in held], [n for n in names if n in held]


def split_names(names, fraction, seed):
    """A right answer."""
    shuffled = _shuffled(sorted(set(names)), seed)
    return _hold_out(names, shuffled[: round(fraction * len(shuffled))])


# The list that each case splits.
_SPLIT_CASES = {"split": "names", "again": "names", "other": "names", "others": "others"}


def _parts_of(evidence: Evidence, case: str = "split") -> tuple[list[str], list[str]]:
    """Training and validation names that the answer returned."""
    both = (evidence.answers.values[f"{case}.{half}"] for half in ("training", "validation"))
    train, validation = (str(text).split("\n") if str(text) else [] for text in both)
    return train, validation


def _all_splits(evidence: Evidence) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """The list of each case, and the two halves of it."""
    for case, listed in _SPLIT_CASES.items():
        yield _names_of(evidence, listed), *_parts_of(evidence, case)


def _names_of(evidence: Evidence, listed: str = "names") -> list[str]:
    return input_text(evidence.inputs[listed]).split("\n")


def _fraction(evidence: Evidence) -> float:
    return float(evidence.inputs["fraction"])


def _wanted(evidence: Evidence, listed: str = "names") -> int:
    return round(_fraction(evidence) * len(set(_names_of(evidence, listed))))


def _nothing_lost(evidence: Evidence) -> bool:
    return all(
        t and v and Counter(t) + Counter(v) == Counter(names)
        for names, t, v in _all_splits(evidence)
    )


def _apart(evidence: Evidence) -> bool:
    return all(
        t and v and set(t) | set(v) == set(names) and not set(t) & set(v)
        for names, t, v in _all_splits(evidence)
    )


def _same_split(evidence: Evidence, case: str) -> bool:
    (t, v), (other_t, other_v) = _parts_of(evidence), _parts_of(evidence, case)
    return set(t) == set(other_t) and set(v) == set(other_v)


def _seeded(evidence: Evidence) -> bool:
    return (
        all(t and v and set(t) | set(v) == set(names) for names, t, v in _all_splits(evidence))
        and _same_split(evidence, "again")
        and not _same_split(evidence, "other")
        and not _depends_on_the_run(evidence)
        and not _evenly_spaced(evidence)
        and not _chosen_by(evidence)
    )


def _evenly_spaced(evidence: Evidence) -> int:
    """1 if the first validation split holds neighbors of the sorted names, 2 if it holds every
    second name of a stretch, and so on; 0 if a split isn't evenly spaced, as one drawn at random.
    """
    steps: list[int] = []
    for names, _, validation in _all_splits(evidence):
        distinct = sorted(set(names))
        places = sorted({distinct.index(name) for name in validation})
        apart = {b - a for a, b in pairwise(places)}
        if len(apart) != 1:
            return 0
        steps.extend(apart)
    return steps[0]


# Properties of a name that a random draw doesn't depend on.
_TRAITS: dict[str, Callable[[list[str], str], int]] = {
    "how long they are": lambda _, name: len(name),
    "how often they occur": lambda names, name: names.count(name),
}


def _chosen_by(evidence: Evidence) -> str:
    """The trait that separates every validation split from its training split; empty if none does.
    With so many names, a random draw makes no such split.
    """
    for trait, of in _TRAITS.items():
        orders = set()
        for names, train, validation in _all_splits(evidence):
            if set(train) | set(validation) != set(names):
                return ""
            left, held = ({of(names, one) for one in set(part)} for part in (train, validation))
            orders.add(
                "least" if max(held) <= min(left) else "most" if max(left) <= min(held) else ""
            )
        if len(orders) == 1 and "" not in orders:
            return trait
    return ""


def _depends_on_the_run(evidence: Evidence) -> bool:
    """True if other hashes give another valid split.

    If they give none, the answer mixes texts of the list with its own, which says nothing about
    another run.
    """
    train, validation = _parts_of(evidence, "another_run")
    usual = _parts_of(evidence)
    return (
        Counter(train) + Counter(validation) == Counter(usual[0]) + Counter(usual[1])
        and len(set(validation)) == len(set(usual[1]))
        and not set(train) & set(validation)
        and not _same_split(evidence, "another_run")
    )


def _none_or_all_held_out(evidence: Evidence) -> bool:
    """True if a fraction that rounds to no name leaves all entries in training, and a fraction of 1
    leaves none there.
    """
    train, validation = _parts_of(evidence, "few")
    if _all_of_few(evidence):
        train, validation = validation, train
    return not validation and sorted(train) == sorted(_names_of(evidence, "few"))


def _all_of_few(evidence: Evidence) -> bool:
    return float(evidence.inputs["of_few"][0]) == 1


def _right_size(evidence: Evidence) -> bool:
    return _none_or_all_held_out(evidence) and _right_where_some_are_held_out(evidence)


def _right_where_some_are_held_out(evidence: Evidence) -> bool:
    return all(
        t and len(set(v)) == round(_fraction(evidence) * len(set(names)))
        for names, t, v in _all_splits(evidence)
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _entries_lost(evidence: Evidence) -> Finding | None:
    if _nothing_lost(evidence):
        return None
    for listed, train, validation in _all_splits(evidence):
        names, found = Counter(listed), Counter(train) + Counter(validation)
        wrong = sorted(n for n in names | found if names[n] != found[n])
        if wrong:
            return Finding(
                "entries-lost",
                "Together, your two splits don't hold exactly the entries of the list.",
                f"`{wrong[0]}` is {_times(names[wrong[0]])} on the list, but "
                f"{_times(found[wrong[0]])} in your two splits together.",
                SPLITS,
            )
    return None


def _what_made_the_size(evidence: Evidence) -> str:
    """What may have made the wrong size: entries that were counted, or chance."""
    halves = [(names, validation) for names, _, validation in _all_splits(evidence)]
    one, other = (len(set(_parts_of(evidence, case)[1])) for case in ("split", "other"))
    more = [len(set(v)) - round(_fraction(evidence) * len(set(n))) for n, v in halves]
    if len(set(more)) == 1:
        count = "one name" if abs(more[0]) == 1 else f"{abs(more[0])} names"
        off = "many" if more[0] > 0 else "few"
        return f" In each of four splits you hold out {count} too {off}."
    seeds = f" With one seed it holds {one}, with another {other}." if one != other else ""
    if not seeds and not min(more) < 0 == max(0, *more) and min(more) <= 0:
        return ""
    return (
        f"{seeds} If you draw entries, or decide for each name separately, or may draw a name "
        "several times, the number is up to chance. If you shuffle the distinct names, each of "
        "them once, and take the first few, you get exactly as many as you want."
    )


def _another_size(evidence: Evidence) -> Finding | None:
    if _right_where_some_are_held_out(evidence):
        return None
    return Finding(
        "another-size",
        "Your validation split has the wrong size.",
        f"{_size(evidence)}{_what_made_the_size(evidence)}",
        SPLITS,
    )


def _size(evidence: Evidence) -> str:
    """How many names should be held out of the first list of which it is another number."""
    for names, _, validation in _all_splits(evidence):
        share, held = _fraction(evidence) * len(set(names)), len(set(validation))
        if held != round(share):
            return (
                f"{_fraction(evidence):.0%} of {len(set(names))} distinct names are "
                f"{number(share, 4)}, or {round(share)} rounded, but you hold out {held}."
            )
    return ""


def _in_order(evidence: Evidence) -> bool:
    train, validation = _parts_of(evidence)
    return max(train) <= min(validation) or max(validation) <= min(train)


def _shared(evidence: Evidence) -> list[str]:
    train, validation = _parts_of(evidence)
    return sorted(set(train) & set(validation))


def _of_zero(evidence: Evidence) -> str:
    zero = evidence.number("seed") == 0
    return " A seed of 0 counts as False. Do you take it for no seed?" if zero else ""


def _says_shared(evidence: Evidence) -> str:
    shared, (_, validation) = _shared(evidence), _parts_of(evidence)
    return unwrapped(f"""{len(shared)} of the {len(set(validation))} names in your validation split
    are also in the training split, `{shared[0]}` for example. If you drew entries instead of names,
    remember that popular names are on the list several times, so decide once for each distinct
    name. The names that you hold out must not be in training.""")


@mistake(
    "You cut the list without shuffling it.",
    lambda e: unwrapped(f"""Your validation names run from `{min(_parts_of(e)[1])}` to
    `{max(_parts_of(e)[1])}`, and another seed changes nothing. The list is sorted, so the model
    would be tested mostly on initials that it never saw in training."""),
    recognized=lambda e: _same_split(e, "other") and _in_order(e),
)
def _not_shuffled(names, fraction, seed):
    distinct = sorted(set(names))
    return _hold_out(names, distinct[len(distinct) - round(fraction * len(distinct)) :])


@mistake(
    "Two calls with the same seed give different splits.",
    lambda e: unwrapped(f"""With seed = {e.number("seed")}, the first call put
    {len(set(_parts_of(e)[1]) - set(_parts_of(e, "again")[1]))} names into validation that the
    second call put into training. If you train today and validate tomorrow, names have leaked. Draw
    from `torch.Generator().manual_seed(seed)`.{_of_zero(e)}"""),
    recognized=lambda e: not _same_split(e, "again"),
)
def _unseeded(names, fraction, seed):
    return split_names(names, fraction, None)


def _by_chance(held_out: Callable) -> Callable:
    """An answer in which the names of a list that are held out are drawn in another way."""

    def answer(names, fraction, seed):
        distinct, generator = sorted(set(names)), torch.Generator().manual_seed(seed)
        return _hold_out(names, held_out(distinct, fraction, generator))

    return answer


def _drawn_again(distinct, fraction, generator):
    count = round(fraction * len(distinct))
    places = torch.randint(len(distinct), (count,), generator=generator).tolist()
    return [distinct[place] for place in places]


def _tossed(distinct, fraction, generator):
    coins = torch.rand(len(distinct), generator=generator) < fraction
    return [name for name, held in zip(distinct, coins.tolist(), strict=True) if held]


_up_to_chance = mistake(
    "How many names you hold out is up to chance.",
    lambda e: unwrapped(f"""{_size(e)} If you draw a name several times, as `randint` does, or
    decide for each name by itself, the number changes from seed to seed. Shuffle the distinct
    names, each of them once, and take the first few."""),
    cases=("split", "again", "other", "others"),
    also=(_by_chance(_tossed),),
)(_by_chance(_drawn_again))


@mistake(
    "You filled up validation until it holds `fraction` of the entries.",
    lambda e: f"{_size(e)} Count each distinct name once, however often it is on the list.",
    cases=("split", "again", "other", "others"),
)
def _filled_with_entries(names, fraction, seed):
    held = set()
    for name in _shuffled(sorted(set(names)), seed):
        if sum(one in held for one in names) < round(fraction * len(names)):
            held.add(name)
    return _hold_out(names, held)


@mistake(
    "Your split depends on the hashes of the names, which change with every run of Python.",
    lambda e: unwrapped(f"""With the same seed, another run puts
    {len(set(_parts_of(e)[1]) - set(_parts_of(e, "another_run")[1]))} of your
    {len(set(_parts_of(e)[1]))} validation names into training, because the `hash` of a text changes
    from run to run, and so does the order of a set. Sort the distinct names with
    `sorted(set(names))` and let only the seed decide."""),
    recognized=lambda e: _same_split(e, "again") and _apart(e) and _depends_on_the_run(e),
)
def _order_of_a_set(names, fraction, seed):
    shuffled = _shuffled(list(set(names)), seed)
    return _hold_out(names, shuffled[: round(fraction * len(shuffled))])


@mistake(
    "You rounded the number of names down instead of to the nearest.",
    lambda e: f"{_size(e)} `int` and `//` cut off the decimals, so use `round`.",
    recognized=lambda e: (
        _apart(e)
        and all(
            len(set(v)) == int(_fraction(e) * len(set(names))) for names, _, v in _all_splits(e)
        )
    ),
)
def _cut_not_rounded(names, fraction, seed):
    shuffled = _shuffled(sorted(set(names)), seed)
    return _hold_out(names, shuffled[: int(fraction * len(shuffled))])


def _all_hold_out(evidence: Evidence, count: Callable[[list[str]], int]) -> bool:
    """True if validation holds this many distinct names of each list, and training none of them."""
    return _apart(evidence) and all(
        len(set(v)) == count(names) for names, _, v in _all_splits(evidence)
    )


@mistake(
    "You took the fraction of all entries instead of the distinct names.",
    lambda e: unwrapped(f"""The list has {len(_names_of(e))} entries but only
    {len(set(_names_of(e)))} distinct names. You hold out {len(set(_parts_of(e)[1]))} names, which
    is {_fraction(e):.0%} of the entries, but {_fraction(e):.0%} of the distinct names are
    {_wanted(e)}."""),
    recognized=lambda e: _all_hold_out(e, lambda names: round(_fraction(e) * len(names))),
)
def _fraction_of_the_entries(names, fraction, seed):
    shuffled = _shuffled(sorted(set(names)), seed)
    return _hold_out(names, shuffled[: round(fraction * len(names))])


def _share_up(evidence: Evidence, names: list[str]) -> int:
    return math.ceil(_fraction(evidence) * len(set(names)))


@mistake(
    "You rounded the number of names up instead of to the nearest.",
    lambda e: unwrapped(f"""{_size(e)} `math.ceil` and `int(…) + 1` round up, and so do
    you if you cut the size of the training split with `int`. Use `round` for the names that you
    hold out."""),
    recognized=lambda e: _all_hold_out(e, lambda names: _share_up(e, names)),
)
def _rounded_up(names, fraction, seed):
    shuffled = _shuffled(sorted(set(names)), seed)
    return _hold_out(names, shuffled[: math.ceil(fraction * len(shuffled))])


@mistake(
    lambda e: (
        "Your validation split is a stretch of neighbors in the sorted list."
        if _evenly_spaced(e) == 1
        else f"Your validation split takes one in every {_evenly_spaced(e)} of the sorted names."
    ),
    lambda e: (
        f"It goes from `{min(_parts_of(e)[1])}` to `{max(_parts_of(e)[1])}` "
        + (
            "and leaves out no name between them. Names that begin alike are similar, so this "
            "tests a kind of name that training hasn't seen. Draw each name at random."
            if _evenly_spaced(e) == 1
            else "in equal steps. So few splits are possible that most pairs of names are never "
            "held out together. Draw each name at random."
        )
    ),
    recognized=lambda e: bool(_evenly_spaced(e)),
)
def _neighbors_held_out(names, fraction, seed):
    distinct = sorted(set(names))
    count = round(fraction * len(distinct))
    start = seed % (len(distinct) - count)
    return _hold_out(names, distinct[start : start + count])


@mistake(
    lambda e: f"You chose the validation names by {_chosen_by(e)} instead of at random.",
    lambda e: unwrapped(f"""In four splits, you always held out the names that come first or last by
    {_chosen_by(e)}. What you test on has to be like what you train on, so draw each distinct name
    with the same chance."""),
    recognized=lambda e: bool(_chosen_by(e)),
)
def _chosen_by_a_trait(names, fraction, seed):
    ranked = sorted(_shuffled(sorted(set(names)), seed), key=names.count)
    return _hold_out(names, ranked[: round(fraction * len(ranked))])


def _by_initials(evidence: Evidence) -> bool:
    """True if in every split, names that begin alike are all in the same half."""
    return _apart(evidence) and all(
        not {name[0] for name in train} & {name[0] for name in validation}
        for _, train, validation in _all_splits(evidence)
    )


@mistake(
    "Names that begin with the same letter are always in the same split.",
    lambda e: unwrapped(f"""Your validation split holds all names with the initials
    {", ".join(sorted({f"`{name[0]}`" for name in _parts_of(e)[1]}))}, and no others. So the model
    would be tested on initials that it never saw in training. Draw names instead of initials, each
    with the same chance."""),
    recognized=_by_initials,
)
def _initials_held_out(names, fraction, seed):
    initials = _shuffled(sorted({name[0] for name in names}), seed)
    held = set(initials[: round(fraction * len(initials))])
    return [n for n in names if n[0] not in held], [n for n in names if n[0] in held]


@mistake(
    "Another seed gives the same split.",
    lambda e: unwrapped(f"""Seeds {e.number("seed")} and {int(e.inputs["other"][0])} put the same
    {len(set(_parts_of(e)[1]))} names into validation. Without other splits, nobody can tell how
    much of a result is the luck of one split. Use `seed`."""),
    recognized=lambda e: _same_split(e, "other"),
)
def _seed_ignored(names, fraction, seed):
    return split_names(names, fraction, 1337)


@mistake(
    "Your two splits hold the same names.",
    lambda e: unwrapped(f"""All {len(set(_parts_of(e)[0]))} distinct names of your training split
    are also in validation, and the other way round. Keep the held-out names in validation, with
    `in`, and all others in training, with `not in`."""),
    recognized=lambda e: set(_parts_of(e)[0]) == set(_parts_of(e)[1]),
)
def _both_the_same(names, fraction, seed):
    _, validation = split_names(names, fraction, seed)
    return validation, validation


def _skips_after_each_moved(evidence: Evidence) -> bool:
    """True if every split is what a loop gives that misses the entry after each one it moves."""
    for names, train, validation in _all_splits(evidence):
        held, left, moved = set(validation), list[str](), list[str]()
        entries = iter(names)
        for name in entries:
            if name in held:
                moved.append(name)
                left.extend(islice(entries, 1))
            else:
                left.append(name)
        if sorted(left) != sorted(train) or sorted(moved) != sorted(validation):
            return False
    return True


@mistake(
    "Your training split keeps the entry after each one that you move to validation.",
    lambda e: unwrapped(f"""{len(_shared(e))} of the {len(set(_parts_of(e)[1]))} names in your
    validation split are also in the training split, `{_shared(e)[0]}` for example. Each of these
    entries in training comes right after one that you moved. If you remove from a list while you
    loop over it, the loop skips the entry after each one removed, so build two new lists."""),
    recognized=lambda e: bool(_shared(e)) and _skips_after_each_moved(e),
)
def _removed_in_the_loop(names, fraction, seed):
    held = set(split_names(names, fraction, seed)[1])
    train, validation = list(names), []
    for name in train:
        if name in held:
            train.remove(name)
            validation.append(name)
    return train, validation


@mistake(
    "Some names are in both of your splits.", _says_shared, recognized=lambda e: bool(_shared(e))
)
def _duplicates_across_splits(names, fraction, seed):
    order = torch.randperm(len(names), generator=torch.Generator().manual_seed(seed)).tolist()
    cut = round(fraction * len(names))
    return [names[i] for i in order[cut:]], [names[i] for i in order[:cut]]


@mistake(
    "You keep names only once even if they occur several times.",
    lambda e: unwrapped(f"""The list has {len(_names_of(e))} entries, but your two splits hold only
    {sum(map(len, _parts_of(e)))}. How often a name occurs is part of the data. Choose among the
    distinct names, and then go through the whole list."""),
    recognized=lambda e: (
        _apart(e)
        and sum(map(len, _parts_of(e))) < len(_names_of(e))
        and any(len(part) == len(set(part)) for part in _parts_of(e))
    ),
)
def _duplicates_dropped(names, fraction, seed):
    return tuple(sorted(set(part)) for part in split_names(names, fraction, seed))


@mistake(
    "You swapped training and validation.",
    lambda e: unwrapped(f"""Your validation split holds {len(set(_parts_of(e)[1]))} distinct names
    and your training split {len(set(_parts_of(e)[0]))}, but `fraction` = {_fraction(e):g} is the
    share of validation. Return training first, and hold out this share instead of the rest."""),
    recognized=lambda e: _apart(e) and len(set(_parts_of(e)[0])) == _wanted(e),
)
def _splits_exchanged(names, fraction, seed):
    return split_names(names, fraction, seed)[::-1]


def _says_few(evidence: Evidence) -> str:
    names, (train, validation) = _names_of(evidence, "few"), _parts_of(evidence, "few")
    if _all_of_few(evidence):
        return unwrapped(f"""With fraction = 1, all {len(names)} entries belong in validation and
        none in training, but you have {len(validation)} in validation and {len(train)} in
        training.""")
    distinct = len(set(names))
    held = "all of them" if len(set(validation)) == distinct else f"{len(set(validation))} of them"
    slices = (
        " If you count from the end, `order[-0:]` is the whole list, so count from the front. If "
        "you always hold out at least one name, don't, because here it should be none."
        if not train
        else ""
    )
    return unwrapped(f"""With fraction = {_fraction(evidence):g} of {distinct} distinct
    {"name" if distinct == 1 else "names"}, the rounded number for validation is 0, so all entries
    belong in training. You have {held} in validation and {len(train)}
    {"entry" if len(train) == 1 else "entries"} in training.{slices}""")


@mistake(
    lambda e: (
        "Your split is wrong when the fraction is 1."
        if _all_of_few(e)
        else "Your split is wrong when the fraction rounds to no name at all."
    ),
    _says_few,
    recognized=lambda e: (
        _nothing_lost(e)
        and _apart(e)
        and _seeded(e)
        and _right_where_some_are_held_out(e)
        and not _none_or_all_held_out(e)
    ),
)
def _none_becomes_all(names, fraction, seed):
    shuffled = _shuffled(sorted(set(names)), seed)
    return _hold_out(names, shuffled[-round(fraction * len(shuffled)) :])


TASK = Task(
    "Split without leakage",
    split_names,
    SPLITS,
    (
        Part("Every entry of the list is in one of the two.", 1, _nothing_lost),
        Part("No name is in both.", 1, _apart),
        Part("The seed decides which names go where, and nothing else does.", 1, _seeded),
        Part("Validation holds the wanted fraction of the distinct names.", 1, _right_size),
    ),
    properties=(_entries_lost, _another_size),
)
