"""A tree drawn from NumPy's seeds, which spawn as JAX's keys split: right, and with mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.ch10_jax.sides import InTorch

Seed = np.random.SeedSequence
Spread = Callable[[tuple[int, ...]], float]


def draw_normal(seed: Seed, shape: tuple[int, ...], spread: Spread) -> Array:
    """Normal numbers of a seed."""
    return np.random.Generator(np.random.PCG64(seed)).normal(size=shape) * spread(shape)


def rooted(shape: tuple[int, ...]) -> float:
    """The right spread, 1 / √rows."""
    return float(shape[0] ** -0.5)


def initialise(
    seeds: Callable[[Seed], list[Seed]], spread: Spread = rooted, draw: Any = draw_normal
) -> InTorch:
    """A function that draws the five leaves and returns a key, from six seeds in that order."""

    def drawn(key: Seed, shapes: Any) -> Any:
        tokens, query, wanted, value, output, after = seeds(key)
        head = shapes["head"]
        return {
            "tokens": draw(tokens, shapes["tokens"], spread),
            "head": {
                "query": draw(query, head["query"], spread),
                "key": draw(wanted, head["key"], spread),
                "value": draw(value, head["value"], spread),
            },
            "output": draw(output, shapes["output"], spread),
        }, after

    return InTorch(drawn)


def split(key: Seed) -> list[Seed]:
    """Six seeds, all new."""
    return key.spawn(6)


def one_seed_twice(key: Seed) -> list[Seed]:
    """Six seeds, two of which are the same."""
    tokens, query, value, output, after = key.spawn(5)
    return [tokens, query, query, value, output, after]


def uniform(seed: Seed, shape: tuple[int, ...], spread: Spread) -> Array:
    """Uniform numbers of the spread."""
    bound = spread(shape) * 3**0.5
    return np.random.Generator(np.random.PCG64(seed)).uniform(-bound, bound, size=shape)


def splits_a_used_key(key: Any, shapes: Any) -> Any:
    """As a student might do it in JAX: all numbers differ, but one key both draws and is split."""
    import jax

    tree = {"tokens": jax.random.normal(key, shapes["tokens"]) / shapes["tokens"][0] ** 0.5}
    key, *keys = jax.random.split(key, 5)
    draw = lambda one, shape: jax.random.normal(one, shape) / shape[0] ** 0.5  # noqa: E731
    names = ("query", "key", "value")
    head = zip(names, keys, strict=False)
    tree["head"] = {name: draw(one, shapes["head"][name]) for name, one in head}
    tree["output"] = draw(keys[3], shapes["output"])
    return tree, key
