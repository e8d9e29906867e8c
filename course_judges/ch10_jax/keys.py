"""Judges 10/keys: a tree drawn from one key, by what is true of the numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from course_judges.ch10_jax.sections import KEYS
from course_judges.ch10_jax.seeds import (
    initialise,
    one_seed_twice,
    split,
    splits_a_used_key,
    uniform,
)
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.wording import number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

LEAVES = ("tokens", "head.query", "head.key", "head.value", "output")

# The smallest leaf has some 480 numbers, whose spread is right to 3.3 %: six times that, and all
# other spreads that the judge names are off by a quarter and more.
SPREAD_TOLERANCE = 0.2
# The kurtosis of normal numbers is 3 (± 0.1 for some ten thousand), of uniform ones 1.8, of normal
# ones that are cut off at two standard deviations 2.4.
LEAST_KURTOSIS = 2.7
# The mean of some ten thousand standard normal numbers is 0 ± 0.01.
MEAN_TOLERANCE = 0.1


def _leaf(evidence: Evidence, name: str, case: str = "first") -> Array:
    if not evidence.comparable(f"{case}.tree.{name}"):
        raise KeyError(name)
    return evidence.yours(f"{case}.tree.{name}").astype(float)


def _next(evidence: Evidence) -> Array:
    return evidence.yours("first.next").astype(float)


def same_draws(one: Array, two: Array) -> bool:
    """True if two arrays begin with the same numbers, up to a factor and a shift."""
    a, b = one.ravel(), two.ravel()
    count = min(len(a), len(b))
    if a[:count].std() == 0 or b[:count].std() == 0:
        return False
    return bool(abs(np.corrcoef(a[:count], b[:count])[0, 1]) > 0.99)


def _ratio(leaf: Array) -> float:
    """Spread of a leaf, in units of the one asked for."""
    return float(leaf.std() * np.sqrt(len(leaf)))


def _spread(evidence: Evidence) -> bool:
    return all(abs(_ratio(_leaf(evidence, n)) - 1) < SPREAD_TOLERANCE for n in LEAVES) and (
        abs(_standardised(evidence).mean()) < MEAN_TOLERANCE
    )


def _standardised(evidence: Evidence) -> Array:
    parts = [_leaf(evidence, n).ravel() * np.sqrt(len(_leaf(evidence, n))) for n in LEAVES]
    return np.concatenate(parts)


def _kurtosis(evidence: Evidence) -> float:
    values = _standardised(evidence)
    values = values - values.mean()
    return float((values**4).mean() / (values**2).mean() ** 2)


def _normal(evidence: Evidence) -> bool:
    return _kurtosis(evidence) > LEAST_KURTOSIS


def _pairs(evidence: Evidence) -> list[tuple[str, str]]:
    """Leaves that begin with the same numbers."""
    return [
        (a, b)
        for a, b in itertools.combinations(LEAVES, 2)
        if same_draws(_leaf(evidence, a), _leaf(evidence, b))
    ]


def _hands_back_given(evidence: Evidence) -> bool:
    return same_draws(_next(evidence), evidence.yours("given").astype(float))


def _hands_back_used(evidence: Evidence) -> bool:
    return any(same_draws(_next(evidence), _leaf(evidence, name)) for name in LEAVES)


def _reused(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("watched")
    return raised is not None and raised.kind == "KeyReuseError"


def _disciplined(evidence: Evidence) -> bool:
    alive = all(_leaf(evidence, name).std() > 0 for name in LEAVES) and _next(evidence).std() > 0
    used = _pairs(evidence) or _hands_back_given(evidence) or _hands_back_used(evidence)
    # A key that is the same for every seed was made of nothing that was given.
    own = not np.array_equal(_next(evidence), evidence.yours("other.next").astype(float))
    return alive and own and not used and evidence.same("watched")


def _obeys(evidence: Evidence) -> bool:
    return all(
        np.array_equal(_leaf(evidence, name), _leaf(evidence, name, "again"))
        and not np.array_equal(_leaf(evidence, name), _leaf(evidence, name, "other"))
        for name in LEAVES
    )


def _spread_is(expected: Callable[[Array], float]) -> Callable[[Evidence], bool]:
    def fits(evidence: Evidence) -> bool:
        leaves = [_leaf(evidence, name) for name in LEAVES]
        return _normal(evidence) and all(
            abs(leaf.std() / expected(leaf) - 1) < SPREAD_TOLERANCE for leaf in leaves
        )

    return fits


def _how_wide(evidence: Evidence) -> str:
    leaf = _leaf(evidence, "head.query")
    return unwrapped(f"""Your `query` of shape {leaf.shape} has a standard deviation of
    {number(leaf.std())}; asked for is 1 / √{len(leaf)} = {number(len(leaf) ** (-0.5))}.""")


def _which_pair(evidence: Evidence) -> str:
    a, b = _pairs(evidence)[0]
    first, second = _leaf(evidence, a).ravel()[:2], _leaf(evidence, b).ravel()[:2]
    return unwrapped(f"""`{a}` begins with {number(first[0])}, {number(first[1])} and `{b}` with
    {number(second[0])}, {number(second[1])}: the same numbers, up to their spread.
    {len(_pairs(evidence))} of 10 pairs of leaves are alike.""")


def _wide(evidence: Evidence) -> Finding | None:
    off = {name: abs(_ratio(_leaf(evidence, name)) - 1) for name in LEAVES}
    wrong = [name for name in LEAVES if off[name] >= SPREAD_TOLERANCE]
    if not wrong:
        return None
    few = len(wrong) < len(LEAVES)
    which = f"Of your leaves {_named(wrong)}" if few else "Every leaf of yours"
    has = "have" if few and len(wrong) > 1 else "has"
    rest = "The other leaves have the right one. " if few else ""
    worst = max(wrong, key=lambda name: off[name])
    leaf = _leaf(evidence, worst)
    return Finding(
        "wrong-spread",
        f"{which} {has} another spread than asked for.",
        unwrapped(f"""{rest}`{worst}` of shape {leaf.shape} has a standard deviation of
        {number(leaf.std())}; asked for is 1 / √{len(leaf)} = {number(len(leaf) ** (-0.5))}.
        {_beside(evidence)}""").strip(),
        KEYS,
    )


def _named(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _beside(evidence: Evidence) -> str:
    values = np.concatenate([_leaf(evidence, name).ravel() for name in LEAVES])
    mean = float(values.mean())
    far = abs(mean) > MEAN_TOLERANCE * values.std()
    return f"And the mean of all is {number(mean)}, not 0." if far else ""


def _around(evidence: Evidence) -> Finding | None:
    mean = float(_standardised(evidence).mean())
    if abs(mean) < MEAN_TOLERANCE:
        return None
    return Finding(
        "wrong-mean",
        "Your numbers are not spread around 0.",
        f"In units of 1 / √rows their mean is {number(mean)}; asked for is 0.",
        KEYS,
    )


def _other_each_time(evidence: Evidence) -> list[str]:
    """Leaves that the same key draws differently."""
    return [
        name
        for name in LEAVES
        if not np.array_equal(_leaf(evidence, name), _leaf(evidence, name, "again"))
    ]


def _whatever_the_key(evidence: Evidence) -> list[str]:
    """Leaves that another key draws alike."""
    return [
        name
        for name in LEAVES
        if _leaf(evidence, name).std() > 0
        and np.array_equal(_leaf(evidence, name), _leaf(evidence, name, "other"))
    ]


def _fixed(evidence: Evidence) -> str:
    names = _whatever_the_key(evidence)
    begins = f"`{names[0]}` begins with {number(_leaf(evidence, names[0])[0, 0])} both times."
    if len(names) == len(LEAVES):
        return f"{begins} Every model of every run would start alike."
    return f"These are {_named(names)}: {begins} With which key are they drawn?"


_randomness_from_elsewhere = mistake(
    "The same key gave another tree: something besides the key decides on your numbers.",
    lambda e: (
        unwrapped(f"""Two calls with one key differ in {_named(_other_each_time(e))}. Draw with
    `jax.random`, and with keys that come from `key` and from nothing that changes from call to
    call.""")
    ),
    recognized=lambda e: bool(_other_each_time(e)),
)(initialise(lambda key: np.random.SeedSequence().spawn(6)))  # noqa: ARG005

_key_fixed_inside = mistake(
    lambda e: (
        "Another key gave the same tree: the key that you are given does not reach it."
        if len(_whatever_the_key(e)) == len(LEAVES)
        else "Some leaves are the same with another key: the one that you are given does not reach "
        "them."
    ),
    _fixed,
    recognized=lambda e: bool(_whatever_the_key(e)),
)(initialise(lambda key: split(np.random.SeedSequence(0))))  # noqa: ARG005

_one_key_for_all = mistake(
    "All leaves are drawn with one key.", _which_pair, recognized=lambda e: len(_pairs(e)) == 10
)(initialise(lambda key: [key] * 5 + key.spawn(1)))

_key_used_twice = mistake(
    "A key drew more than one leaf.", _which_pair, recognized=lambda e: bool(_pairs(e))
)(initialise(one_seed_twice))

_hands_back_given_key = mistake(
    "You hand back the key that you were given.",
    "Your leaves come of it, so whoever goes on with it may draw your numbers once more. Make one "
    "key more than there are leaves, for later.",
    recognized=_hands_back_given,
)(initialise(lambda key: [*key.spawn(5), key]))

_hands_back_fixed_key = mistake(
    "The key that you hand back is the same whatever key you are given.",
    lambda e: (
        unwrapped(f"""Two keys came in, and both times {number(_next(e)[0])} is the first number
    that the returned one draws. Every run would go on alike; split one off the key that you
    are given.""")
    ),
    recognized=lambda e: bool(
        _next(e).std() > 0 and np.array_equal(_next(e), e.yours("other.next").astype(float))
    ),
)(initialise(lambda key: [*key.spawn(5), np.random.SeedSequence(0)]))

_hands_back_used_key = mistake(
    "The key that you hand back has drawn a leaf already.",
    lambda e: unwrapped(f"""The first number that it draws is {number(_next(e)[0])}, which stands in
    your tree as well, up to the spread."""),
    recognized=_hands_back_used,
)(initialise(lambda key: (keys := key.spawn(5)) + [keys[-1]]))

_splits_a_used_key = mistake(
    "A key was used a second time; once it has drawn numbers or was split, it is used up.",
    lambda e: (
        "Watched by `jax.debug_key_reuse`, it came to a KeyReuseError"
        + (
            f" at `{line}`"
            if (line := e.answers.errors["watched"].line)
            else ", perhaps with the key that you hand back"
        )
        + ". The numbers of this run do not show it; nothing promises that others will not."
    ),
    recognized=_reused,
)(splits_a_used_key)

_spread_of_one = mistake(
    "Your numbers are standard normal; they have to be scaled by 1 / √rows.",
    _how_wide,
    recognized=_spread_is(lambda leaf: 1.0),  # noqa: ARG005
)(initialise(split, lambda shape: 1.0))  # noqa: ARG005

_spread_by_columns = mistake(
    "You scaled by the number of columns; asked for is the number of rows.",
    _how_wide,
    recognized=_spread_is(lambda leaf: leaf.shape[1] ** -0.5),
)(initialise(split, lambda shape: shape[1] ** -0.5))

_spread_not_rooted = mistake(
    "You divided by the number of rows; the root is missing.",
    _how_wide,
    recognized=_spread_is(lambda leaf: 1 / len(leaf)),
)(initialise(split, lambda shape: 1 / shape[0]))

_not_normal = mistake(
    "Mean and spread are right, and the numbers are not normally distributed.",
    lambda e: f"Their kurtosis is {number(_kurtosis(e))}; normal numbers have 3, uniform ones 1.8.",
    recognized=lambda e: _spread(e) and not _normal(e),
)(initialise(split, draw=uniform))


TASK = Task(
    "A tree from one key",
    initialise(split),
    KEYS,
    (
        Part(
            "Every leaf has its shape, and normal numbers of the right spread.",
            2,
            lambda e: _spread(e) and _normal(e),
        ),
        Part("No key is used twice, and the one that comes back is unused.", 2, _disciplined),
        Part("The same key draws the same tree, another key another one.", 1, _obeys),
    ),
    properties=(_wide, _around),
)
