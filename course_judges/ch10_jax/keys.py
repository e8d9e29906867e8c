"""Judges 10/keys: a tree drawn from one key, judged by the statistics of its numbers."""

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

# The smallest leaf has about 480 numbers, so its spread varies by 3.3 %. The tolerance is six times
# that, and all the wrong spreads that the judge names are off by a quarter or more.
SPREAD_TOLERANCE = 0.2
# The kurtosis is 3 for normal numbers (± 0.1 for about ten thousand), 1.8 for uniform ones and 2.4
# for normal ones that are truncated at two standard deviations.
LEAST_KURTOSIS, LARGEST_KURTOSIS = 2.7, 3.35
# Of about ten thousand normal numbers, the largest is 3.9 standard deviations from 0; that none of
# them is further than 3.15 has a chance of less than one in a million.
LEAST_OUTLIER = 3.15
# The mean of about ten thousand standard normal numbers is 0 ± 0.01.
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
    """Spread of a leaf, in units of the right one."""
    return float(leaf.std() * np.sqrt(len(leaf)))


def _spread(evidence: Evidence) -> bool:
    return all(abs(_ratio(_leaf(evidence, n)) - 1) < SPREAD_TOLERANCE for n in LEAVES) and (
        abs(_standardised(evidence).mean()) < MEAN_TOLERANCE
    )


def _standardised(evidence: Evidence) -> Array:
    parts = [_leaf(evidence, n).ravel() * np.sqrt(len(_leaf(evidence, n))) for n in LEAVES]
    return np.concatenate(parts)


def _in_own_units(evidence: Evidence) -> Array:
    """All numbers, each leaf's without its own mean and in units of its own spread, whatever that
    is.
    """
    leaves = [_leaf(evidence, name) for name in LEAVES]
    return np.concatenate([((x - x.mean()) / (x.std() or 1.0)).ravel() for x in leaves])


def _kurtosis(evidence: Evidence) -> float:
    return float((_in_own_units(evidence) ** 4).mean())


def _normal(evidence: Evidence) -> bool:
    tails = LEAST_KURTOSIS < _kurtosis(evidence) < LARGEST_KURTOSIS
    return tails and _largest(evidence) > LEAST_OUTLIER


def _largest(evidence: Evidence) -> float:
    """How many standard deviations the number furthest from the mean is away from it."""
    return float(np.abs(_in_own_units(evidence)).max())


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
    # A key that is the same for every seed wasn't made from the one that was given.
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
    return f"Your `query` of shape {leaf.shape} {_deviates(leaf)}"


def _deviates(leaf: Array) -> str:
    return unwrapped(f"""has a standard deviation of {number(leaf.std())} instead of
    1 / √{len(leaf)} = {number(len(leaf) ** (-0.5))}.""")


def _which_pair(evidence: Evidence) -> str:
    a, b = _pairs(evidence)[0]
    first, second = _leaf(evidence, a).ravel()[:2], _leaf(evidence, b).ravel()[:2]
    return unwrapped(f"""`{a}` begins with {number(first[0])}, {number(first[1])} and `{b}` with
    {number(second[0])}, {number(second[1])}, which are the same numbers apart from their scale. Of
    10 pairs of leaves, {len(_pairs(evidence))} {"is" if len(_pairs(evidence)) == 1 else "are"}
    alike in this way.""")


def _wide(evidence: Evidence) -> Finding | None:
    off = {name: abs(_ratio(_leaf(evidence, name)) - 1) for name in LEAVES}
    wrong = [name for name in LEAVES if off[name] >= SPREAD_TOLERANCE]
    if not wrong:
        return None
    few = len(wrong) < len(LEAVES)
    which = f"Your {_named(wrong)}" if few else "All your leaves"
    has = "has" if len(wrong) == 1 else "have"
    rest = "The other leaves have the right one. " if few else ""
    worst = max(wrong, key=lambda name: off[name])
    leaf = _leaf(evidence, worst)
    if not leaf.any():
        return Finding(
            "zeros",
            f"{which} {'contains' if len(wrong) == 1 else 'contain'} zeros only.",
            f"Every leaf should have normal numbers, and `{worst}` a spread of 1 / √{len(leaf)}.",
            KEYS,
        )
    return Finding(
        "wrong-spread",
        f"{which} {has} the wrong spread.",
        unwrapped(f"""{rest}`{worst}` of shape {leaf.shape} {_deviates(leaf)}
        {_what_for_spread(evidence, wrong) or _root_of_columns(leaf)}
        {_beside(evidence)}""").strip(),
        KEYS,
    )


# Spreads that students give to a leaf of some shape.
_SPREADS: tuple[tuple[str, Callable[[tuple[int, ...]], float]], ...] = (
    ("√(2 / (rows + columns))", lambda shape: (2 / (shape[0] + shape[1])) ** 0.5),
    ("1, as `jax.random.normal` draws it", lambda shape: shape[0] ** 0.0),
    ("1 / √(12 · rows), that of `jax.random.uniform`", lambda shape: (12 * shape[0]) ** -0.5),
    ("1 / √(3 · rows), that of uniform numbers from −1 to 1", lambda shape: (3 * shape[0]) ** -0.5),
)


def _what_for_spread(evidence: Evidence, wrong: list[str]) -> str:
    """What the wrong spreads are; empty if that is not clear."""
    leaves = [_leaf(evidence, name) for name in wrong]
    spreads = [float(leaf.std()) for leaf in leaves]
    for said, spread in _SPREADS:
        shapes = [leaf.shape for leaf in leaves]
        if "uniform" in said and _kurtosis(evidence) > LEAST_KURTOSIS:
            continue
        if all(
            abs(mine / spread(shape) - 1) < 0.1 for mine, shape in zip(spreads, shapes, strict=True)
        ):
            return f"Yours is about {said}."
    if len(wrong) > 1 and max(spreads) < 1.1 * min(spreads):
        of_all = number(float(np.mean(spreads)))
        return f"The spread of all of them is about {of_all}, whatever their shape."
    return ""


def _root_of_columns(leaf: Array) -> str:
    """Says of a leaf with a wrong spread that it would fit its columns, if it does."""
    columns = leaf.shape[1]
    if abs(leaf.std() * columns**0.5 - 1) >= SPREAD_TOLERANCE / 2:
        return ""
    return f"Yours is about 1 / √{columns}, but {columns} is its number of columns, not of rows."


def _named(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _beside(evidence: Evidence) -> str:
    values = np.concatenate([_leaf(evidence, name).ravel() for name in LEAVES])
    mean = float(values.mean())
    far = abs(mean) > MEAN_TOLERANCE * values.std()
    return f"Also, the mean of all your numbers is {number(mean)} instead of 0." if far else ""


def _around(evidence: Evidence) -> Finding | None:
    mean = float(_standardised(evidence).mean())
    if abs(mean) < MEAN_TOLERANCE:
        return None
    return Finding(
        "wrong-mean",
        "The mean of your numbers isn't 0.",
        f"In units of 1 / √rows, it is {number(mean)}.",
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
    """Leaves that are the same with another key."""
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
        return f"{begins} Every model of every run would start with the same numbers."
    return f"This is so for {_named(names)}. {begins} Which key do you draw them with?"


_randomness_from_elsewhere = mistake(
    "Called twice with the same key, your function returned different trees.",
    lambda e: unwrapped(f"""The two trees differ in {_named(_other_each_time(e))}, so something
    besides the key decides your numbers. Draw with `jax.random`, and only with keys made from `key`
    in the same way at every call."""),
    recognized=lambda e: bool(_other_each_time(e)),
)(initialise(lambda key: np.random.SeedSequence().spawn(6)))  # noqa: ARG005

_key_fixed_inside = mistake(
    lambda e: (
        "With a different key, your tree stays the same."
        if len(_whatever_the_key(e)) == len(LEAVES)
        else "With a different key, some of your leaves stay the same."
    ),
    _fixed,
    recognized=lambda e: bool(_whatever_the_key(e)),
)(initialise(lambda key: split(np.random.SeedSequence(0))))  # noqa: ARG005

_key_used_twice = mistake(
    "You drew more than one leaf with the same key.",
    _which_pair,
    recognized=lambda e: bool(_pairs(e)),
)(initialise(one_seed_twice))

_hands_back_given_key = mistake(
    "You return the key that you were given.",
    "Your leaves were made from it, so anyone who goes on with it may draw the same numbers again. "
    "Make one more key than there are leaves, and return that one.",
    recognized=_hands_back_given,
)(initialise(lambda key: [*key.spawn(5), key]))

_hands_back_fixed_key = mistake(
    "You return the same key even if you are given a different one.",
    lambda e: unwrapped(f"""For two different keys, the key that you return draws
    {number(_next(e)[0])} as its first number, so every run would go on in the same way. Split a key
    off the one that you are given."""),
    recognized=lambda e: bool(
        _next(e).std() > 0 and np.array_equal(_next(e), e.yours("other.next").astype(float))
    ),
)(initialise(lambda key: [*key.spawn(5), np.random.SeedSequence(0)]))

_hands_back_used_key = mistake(
    "You return a key that has already drawn a leaf.",
    lambda e: unwrapped(f"""The first number that it draws is {number(_next(e)[0])}, which is also
    in your tree, apart from its scale."""),
    recognized=_hands_back_used,
)(initialise(lambda key: (keys := key.spawn(5)) + [keys[-1]]))

_splits_a_used_key = mistake(
    "You used a key again, but once it has drawn numbers or was split, it is used up.",
    lambda e: (
        "With `jax.debug_key_reuse`, your function stopped with a KeyReuseError"
        + (
            f" at `{line}`"
            if (line := e.answers.errors["watched"].line)
            else ", perhaps because of the key that you return"
        )
        + ". You don't see it in the numbers of this run, but you might in those of another."
    ),
    recognized=_reused,
)(splits_a_used_key)

_spread_of_one = mistake(
    "You drew standard normal numbers, but they have to be scaled by 1 / √rows.",
    _how_wide,
    recognized=_spread_is(lambda leaf: 1.0),  # noqa: ARG005
)(initialise(split, lambda shape: 1.0))  # noqa: ARG005

_spread_by_columns = mistake(
    "You scaled by 1 / √columns instead of 1 / √rows.",
    _how_wide,
    recognized=_spread_is(lambda leaf: leaf.shape[1] ** -0.5),
)(initialise(split, lambda shape: shape[1] ** -0.5))

_spread_not_rooted = mistake(
    "You divided by the number of rows instead of its square root.",
    _how_wide,
    recognized=_spread_is(lambda leaf: 1 / len(leaf)),
)(initialise(split, lambda shape: 1 / shape[0]))

_not_normal = mistake(
    "The mean and the spread are right, but your numbers aren't normally distributed.",
    lambda e: unwrapped(f"""Their kurtosis is {number(_kurtosis(e))}, but normal numbers have 3 (and
    uniform ones 1.8). The largest is {number(_largest(e))} standard deviations away from 0, and of
    {_standardised(e).size} normal ones it would be about 3.9. Draw with `jax.random.normal`."""),
    recognized=lambda e: _spread(e) and not _normal(e),
)(initialise(split, draw=uniform))


TASK = Task(
    "A tree from one key",
    initialise(split),
    KEYS,
    (
        Part(
            "Every leaf has its shape and spread.",
            2,
            lambda e: _spread(e) and _normal(e),
        ),
        Part("No key is used twice.", 2, _disciplined),
        Part("The same key draws the same tree.", 1, _obeys),
    ),
    properties=(_wide, _around),
)
