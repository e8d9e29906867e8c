"""What 03/split asks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from course_tasks.answers import input_text, text_input
from course_tasks.ch03_text.shared import (
    random_names,
    two_values,
)
from course_tasks.probing import Inputs, Probe

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class _OfAnotherRun(str):
    """A text whose hash is that of another run of Python, in which sets have another order."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash((str(self), "of another run"))


def _split_inputs(rng: np.random.Generator, *, edge: bool = False) -> Inputs:
    fraction = float(rng.choice([0.2, 0.3, 0.35]))
    # Of one list the share is rounded up, of the other down.
    up, down = (_count(rng, fraction, *rest) for rest in ((0.6, 0.9), (0.1, 0.4)))
    # A seed of 0 is one like any other, and two seeds differ although they end alike.
    first = 0 if edge else int(rng.integers(1, 1000))
    other = first + 32_000 * int(rng.integers(1, 10))
    return {
        "names": text_input("\n".join(_list_of_names(rng, up))),
        "others": text_input("\n".join(_list_of_names(rng, down))),
        # So few distinct names that none of them is held out; in the second draw, all of them are,
        # and there are two.
        "few": text_input("\n".join(_few_names(rng, 2 if edge else round(0.4 / fraction)))),
        "of_few": np.array([1.0 if edge else fraction]),
        "fraction": np.array(fraction),
        "seed": np.array(first),
        "other": np.array([other]),
    }


def _count(rng: np.random.Generator, fraction: float, low: float, high: float) -> int:
    """A number of names whose share has such a rest."""
    return int(
        rng.choice([n for n in range(33, 48) if low - 1e-9 <= fraction * n % 1 <= high + 1e-9])
    )


def _list_of_names(rng: np.random.Generator, count: int) -> list[str]:
    """Of so many distinct names half are there several times, as the popular ones are."""
    distinct = random_names(rng, count, _LETTERS)
    return sorted(distinct + distinct[: count // 2] + distinct[: count // 8])


def _few_names(rng: np.random.Generator, count: int) -> list[str]:
    """So many distinct names, the first of them twice."""
    distinct = random_names(rng, count, _LETTERS)
    return sorted(distinct + distinct[:1])


def _split(seed: str, listed: str = "names", fraction: str = "fraction") -> Any:
    def case(answer: Any, given: Inputs) -> Any:
        return _both(answer, input_text(given[listed]).split("\n"), given, seed, fraction)

    return case


def _split_in_another_run(answer: Any, given: Inputs) -> Any:
    """What comes of the same call where sets have another order; nothing if that cannot be tried,
    since an answer may mix these texts with others.
    """
    names = [_OfAnotherRun(name) for name in input_text(given["names"]).split("\n")]
    try:
        return _both(answer, names, given, "seed")
    except NotImplementedError:
        raise
    except Exception:  # whatever an answer does with texts of another kind
        return {"training": "", "validation": ""}


def _both(
    answer: Any, names: list[Any], given: Inputs, seed: str, fraction: str = "fraction"
) -> dict[str, str]:
    result = answer(names, float(given[fraction].flat[0]), int(given[seed].flat[0]))
    train, validation = two_values(result, "training and validation")
    return {"training": "\n".join(train), "validation": "\n".join(validation)}


PROBE = Probe(
    _split_inputs,
    {
        "split": _split("seed"),
        "again": _split("seed"),
        "other": _split("other"),
        "others": _split("seed", "others"),
        "few": _split("seed", "few", "of_few"),
        "another_run": _split_in_another_run,
    },
    second=partial(_split_inputs, edge=True),
)
