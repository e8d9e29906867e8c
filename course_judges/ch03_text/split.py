"""How a split into training and validation names is judged."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

import torch

from course_judges.ch03_text.sections import SPLITS
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.wording import unwrapped
from course_tasks.answers import input_text
from course_tasks.verdict import Finding


def _divide(names, fraction, generator):
    distinct = sorted(set(names))
    order = torch.randperm(len(distinct), generator=generator).tolist()
    chosen = {distinct[i] for i in order[: round(fraction * len(distinct))]}
    return [n for n in names if n not in chosen], [n for n in names if n in chosen]


def split_names(names, fraction, seed):
    """A right answer."""
    return _divide(names, fraction, torch.Generator().manual_seed(seed))


# Each case and the list that it splits.
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
    """1 if the first validation split holds neighbors of the sorted names, 2 if every second name
    of a stretch, and so on; 0 if one of the splits is not evenly spaced, as chance leaves it.
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


# What chance does not ask when it draws a name.
_TRAITS: dict[str, Callable[[list[str], str], int]] = {
    "how long they are": lambda _, name: len(name),
    "how often they occur": lambda names, name: names.count(name),
}


def _chosen_by(evidence: Evidence) -> str:
    """By which trait every validation split can be told from what is left; empty if by none. Of so
    many names that are drawn, chance makes no such split.
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
    """True if other hashes make another split, and one that is as good.

    Where they make none, the answer mixes the list's texts with texts of its own, which says
    nothing about another run.
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
    """True where a fraction that rounds to no name leaves all entries in training, and a fraction
    of 1 none.
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


def _entries_lost(evidence: Evidence) -> Finding | None:
    if _nothing_lost(evidence):
        return None
    for listed, train, validation in _all_splits(evidence):
        names, found = Counter(listed), Counter(train) + Counter(validation)
        wrong = sorted(n for n in names | found if names[n] != found[n])
        if wrong:
            return Finding(
                "entries-lost",
                "The two splits together are not the list.",
                f"`{wrong[0]}` is on the list {names[wrong[0]]} times and in your splits "
                f"{found[wrong[0]]} times.",
                SPLITS,
            )
    return None


def _what_made_the_size(evidence: Evidence) -> str:
    """What may have made another size: entries that were counted, or chance."""
    halves = [(names, validation) for names, _, validation in _all_splits(evidence)]
    one, other = (len(set(_parts_of(evidence, case)[1])) for case in ("split", "other"))
    # A name occurs three times at most.
    if all(0 <= len(v) - round(_fraction(evidence) * len(n)) < 3 for n, v in halves):
        names, validation = halves[0]
        return (
            f" It holds {len(validation)} of the {len(names)} entries, which are about "
            f"{_fraction(evidence):.0%}: count distinct names, however often each occurs."
        )
    if all(len(set(v)) == round(0.1 * len(set(n))) for n, v in halves):
        return " It is 10 % of them: is `fraction` used?"
    fewer = [len(set(v)) - round(_fraction(evidence) * len(set(n))) for n, v in halves]
    seeds = f" With one seed it is {one}, with another {other}." if one != other else ""
    if not seeds and not min(fewer) < 0 == max(0, *fewer):
        return ""
    return (
        f"{seeds} Where each name is drawn by itself, or one name may come several times, the "
        "number is up to chance. The first ones of a shuffled order of the distinct names are "
        "always as many as you take."
    )


def _another_size(evidence: Evidence) -> Finding | None:
    if _right_where_some_are_held_out(evidence):
        return None
    for names, _, validation in _all_splits(evidence):
        share = _fraction(evidence) * len(set(names))
        if len(set(validation)) != round(share):
            return Finding(
                "another-size",
                "Validation has another size than was asked for.",
                f"{_fraction(evidence):.0%} of {len(set(names))} distinct names are {share:.1f}, "
                f"rounded {round(share)}; yours holds {len(set(validation))} distinct names."
                f"{_what_made_the_size(evidence)}",
                SPLITS,
            )
    return None


def _in_order(evidence: Evidence) -> bool:
    train, validation = _parts_of(evidence)
    return max(train) <= min(validation) or max(validation) <= min(train)


def _shared(evidence: Evidence) -> list[str]:
    train, validation = _parts_of(evidence)
    return sorted(set(train) & set(validation))


def _of_zero(evidence: Evidence) -> str:
    zero = evidence.number("seed") == 0
    return " A seed of 0 counts as False: is it taken for no seed?" if zero else ""


def _says_shared(evidence: Evidence) -> str:
    shared, (_, validation) = _shared(evidence), _parts_of(evidence)
    return unwrapped(f"""{len(shared)} of the {len(set(validation))} names in your validation split
    are in the training split, too, `{shared[0]}` for one. If you drew among the entries: popular
    names stand on the list several times, so decide once for each distinct name. Whatever is held
    out has to be left out of training.""")


@mistake(
    "You cut the list without shuffling it.",
    lambda e: unwrapped(f"""Validation runs from `{min(_parts_of(e)[1])}` to
    `{max(_parts_of(e)[1])}` and the seed changes nothing. The list is sorted, so the model would be
    tested on initials that it was never shown."""),
    recognized=lambda e: _same_split(e, "other") and _in_order(e),
)
def _not_shuffled(names, fraction, seed):
    distinct = sorted(set(names))
    chosen = set(distinct[len(distinct) - round(fraction * len(distinct)) :])
    return [n for n in names if n not in chosen], [n for n in names if n in chosen]


@mistake(
    "Two calls with the same seed give two splits.",
    lambda e: unwrapped(f"""With seed = {e.number("seed")} the first call put
    {len(set(_parts_of(e)[1]) - set(_parts_of(e, "again")[1]))} names into validation that the
    second call put into training. Train today, validate tomorrow, and the names have leaked. Draw
    from `torch.Generator().manual_seed(seed)`.{_of_zero(e)}"""),
    recognized=lambda e: not _same_split(e, "again"),
)
def _unseeded(names, fraction, seed):
    return _divide(names, fraction, None)


@mistake(
    "Your split depends on the hashes of the names, which are others in every run of Python.",
    lambda e: unwrapped(f"""With the same seed, another run puts
    {len(set(_parts_of(e)[1]) - set(_parts_of(e, "another_run")[1]))} of your
    {len(set(_parts_of(e)[1]))} validation names into training: `hash` of a text changes from run
    to run, and with it the order of a set. Sort the distinct names, `sorted(set(names))`, and let
    the seed alone decide."""),
    recognized=lambda e: _same_split(e, "again") and _apart(e) and _depends_on_the_run(e),
)
def _order_of_a_set(names, fraction, seed):
    distinct = list(set(names))
    order = torch.randperm(len(distinct), generator=torch.Generator().manual_seed(seed)).tolist()
    chosen = {distinct[i] for i in order[: round(fraction * len(distinct))]}
    return [n for n in names if n not in chosen], [n for n in names if n in chosen]


@mistake(
    "The share of the names is cut off, not rounded.",
    lambda e: unwrapped(f"""{_fraction(e):.0%} of {len(set(_names_of(e)))} distinct names are
    {_fraction(e) * len(set(_names_of(e))):.1f}; you hold out {len(set(_parts_of(e)[1]))}, and
    rounded it is {_wanted(e)}. `int` and `//` cut; use `round`."""),
    recognized=lambda e: (
        _apart(e)
        and all(
            len(set(v)) == int(_fraction(e) * len(set(names))) for names, _, v in _all_splits(e)
        )
    ),
)
def _cut_not_rounded(names, fraction, seed):
    distinct = sorted(set(names))
    order = torch.randperm(len(distinct), generator=torch.Generator().manual_seed(seed)).tolist()
    chosen = {distinct[i] for i in order[: int(fraction * len(distinct))]}
    return [n for n in names if n not in chosen], [n for n in names if n in chosen]


def _all_hold_out(evidence: Evidence, count: Callable[[list[str]], int]) -> bool:
    """True if so many distinct names of each list are in validation, and they are in it alone."""
    return _apart(evidence) and all(
        len(set(v)) == count(names) for names, _, v in _all_splits(evidence)
    )


@mistake(
    "You took the fraction of all entries, not of the distinct names.",
    lambda e: unwrapped(f"""The list has {len(_names_of(e))} entries and
    {len(set(_names_of(e)))} distinct names. You hold out {len(set(_parts_of(e)[1]))} names, which
    is {_fraction(e):.0%} of the entries; {_fraction(e):.0%} of the distinct names are
    {_wanted(e)}."""),
    recognized=lambda e: _all_hold_out(e, lambda names: round(_fraction(e) * len(names))),
)
def _fraction_of_the_entries(names, fraction, seed):
    distinct = sorted(set(names))
    order = torch.randperm(len(distinct), generator=torch.Generator().manual_seed(seed)).tolist()
    chosen = {distinct[i] for i in order[: round(fraction * len(names))]}
    return [n for n in names if n not in chosen], [n for n in names if n in chosen]


def _share_up(evidence: Evidence, names: list[str]) -> int:
    return math.ceil(_fraction(evidence) * len(set(names)))


@mistake(
    "The share of the names is rounded up.",
    lambda e: unwrapped(f"""{_fraction(e):.0%} of {len(set(_names_of(e, "others")))} distinct names
    are {_fraction(e) * len(set(_names_of(e, "others"))):.1f}; of these you hold out
    {len(set(_parts_of(e, "others")[1]))}, and rounded it is {_wanted(e, "others")}. `math.ceil`
    and `int(…) + 1` round up, and so does what is left when the other share is cut with `int`; use
    `round` for the share that is held out."""),
    recognized=lambda e: _all_hold_out(e, lambda names: _share_up(e, names)),
)
def _rounded_up(names, fraction, seed):
    distinct = sorted(set(names))
    order = torch.randperm(len(distinct), generator=torch.Generator().manual_seed(seed)).tolist()
    chosen = {distinct[i] for i in order[: math.ceil(fraction * len(distinct))]}
    return [n for n in names if n not in chosen], [n for n in names if n in chosen]


@mistake(
    lambda e: (
        "Your validation split is a stretch of neighbors in the sorted list."
        if _evenly_spaced(e) == 1
        else f"Your validation split takes one in {_evenly_spaced(e)} of the sorted names."
    ),
    lambda e: (
        f"It goes from `{min(_parts_of(e)[1])}` to `{max(_parts_of(e)[1])}` "
        + (
            "and leaves out no name between them. Names that begin alike are alike, so this tests "
            "other names than it trains. Draw each name by chance."
            if _evenly_spaced(e) == 1
            else "in equal steps. So few splits are possible that most pairs of names are never "
            "held out together. Draw each name by chance."
        )
    ),
    recognized=lambda e: bool(_evenly_spaced(e)),
)
def _neighbors_held_out(names, fraction, seed):
    distinct = sorted(set(names))
    count = round(fraction * len(distinct))
    start = seed % (len(distinct) - count)
    held = set(distinct[start : start + count])
    return [n for n in names if n not in held], [n for n in names if n in held]


@mistake(
    lambda e: f"Your validation names are chosen by {_chosen_by(e)}, not by chance alone.",
    lambda e: unwrapped(f"""In four splits, no name was held out while one that comes before it by
    {_chosen_by(e)} was not. What is tested has to be like what is trained on: draw each distinct
    name with the same chance."""),
    recognized=lambda e: bool(_chosen_by(e)),
)
def _chosen_by_a_trait(names, fraction, seed):
    distinct = sorted(set(names))
    order = torch.randperm(len(distinct), generator=torch.Generator().manual_seed(seed)).tolist()
    ranked = sorted((distinct[i] for i in order), key=names.count)
    held = set(ranked[: round(fraction * len(distinct))])
    return [n for n in names if n not in held], [n for n in names if n in held]


@mistake(
    "Another seed gives the same split.",
    lambda e: unwrapped(f"""Seeds {e.number("seed")} and {int(e.inputs["other"][0])} put the same
    {len(set(_parts_of(e)[1]))} names into validation. Nobody can then tell how much of a result is
    luck of the split. Use `seed`."""),
    recognized=lambda e: _same_split(e, "other"),
)
def _seed_ignored(names, fraction, seed):
    return split_names(names, fraction, 1337)


@mistake(
    "Your training split is the whole list.",
    lambda e: unwrapped(f"""All {len(set(_parts_of(e)[1]))} names of your validation split are in
    training, `{_shared(e)[0]}` for one. What is held out has to be left out of training."""),
    recognized=lambda e: (
        bool(_shared(e)) and set(_parts_of(e)[0]) == set(_names_of(e)) and not _nothing_lost(e)
    ),
)
def _training_keeps_everything(names, fraction, seed):
    return names, split_names(names, fraction, seed)[1]


@mistake(
    "Your two splits hold the same names.",
    lambda e: unwrapped(f"""All {len(set(_parts_of(e)[0]))} distinct names of your training split
    are in validation, and the other way round. Of the two conditions, one is `in` what is held out
    and the other `not in`."""),
    recognized=lambda e: set(_parts_of(e)[0]) == set(_parts_of(e)[1]),
)
def _both_the_same(names, fraction, seed):
    _, validation = split_names(names, fraction, seed)
    return validation, validation


@mistake(
    "The same name stands in both splits.", _says_shared, recognized=lambda e: bool(_shared(e))
)
def _duplicates_across_splits(names, fraction, seed):
    order = torch.randperm(len(names), generator=torch.Generator().manual_seed(seed)).tolist()
    cut = round(fraction * len(names))
    return [names[i] for i in order[cut:]], [names[i] for i in order[:cut]]


@mistake(
    "Names that occur several times are there once.",
    lambda e: unwrapped(f"""The list has {len(_names_of(e))} entries and your two splits hold
    {sum(map(len, _parts_of(e)))}. How often a name occurs is part of the data. Choose among
    distinct names, then go through the whole list."""),
    recognized=lambda e: (
        _apart(e)
        and sum(map(len, _parts_of(e))) < len(_names_of(e))
        and any(len(part) == len(set(part)) for part in _parts_of(e))
    ),
)
def _duplicates_dropped(names, fraction, seed):
    return tuple(sorted(set(part)) for part in split_names(names, fraction, seed))


@mistake(
    "Training and validation are exchanged.",
    lambda e: unwrapped(f"""Validation holds {len(set(_parts_of(e)[1]))} distinct names and training
    {len(set(_parts_of(e)[0]))}; `fraction` = {_fraction(e):g} is validation's. Return training
    first, and hold out so many names, not all others."""),
    recognized=lambda e: _apart(e) and len(set(_parts_of(e)[0])) == _wanted(e),
)
def _splits_exchanged(names, fraction, seed):
    return split_names(names, fraction, seed)[::-1]


def _says_few(evidence: Evidence) -> str:
    names, (train, validation) = _names_of(evidence, "few"), _parts_of(evidence, "few")
    if _all_of_few(evidence):
        return unwrapped(f"""With fraction = 1, all {len(names)} entries belong to validation, and
        none to training; yours has {len(validation)} in validation, and {len(train)} in
        training.""")
    distinct = len(set(names))
    held = "all of them" if len(set(validation)) == distinct else f"{len(set(validation))} of them"
    slices = (
        " If you count from the end, `order[-0:]` is the whole list: count from the front. If you "
        "hold out one name at least, none is meant here."
        if not train
        else ""
    )
    return unwrapped(f"""With fraction = {_fraction(evidence):g}, {distinct} distinct
    {"name" if distinct == 1 else "names"} rounded give 0 for validation and {len(names)} entries
    for training; yours has {held} in validation, and {len(train)}
    {"entry" if len(train) == 1 else "entries"} in training.{slices}""")


@mistake(
    lambda e: (
        "Where the fraction is 1, your split is another."
        if _all_of_few(e)
        else "Where the fraction rounds to no name at all, your split is another."
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
    distinct = sorted(set(names))
    order = torch.randperm(len(distinct), generator=torch.Generator().manual_seed(seed)).tolist()
    chosen = {distinct[i] for i in order[-round(fraction * len(distinct)) :]}
    return [n for n in names if n not in chosen], [n for n in names if n in chosen]


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
