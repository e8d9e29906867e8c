"""What 08/config asks."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from course_tasks.inputs import Rng, number, whole
from course_tasks.probing import Inputs, Probe

SETTINGS = ("vocab_size", "block_size", "n_layer", "n_head", "n_embd", "dropout")

MOST_DROPOUT = 0.99

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)")


def _config_inputs(rng: Rng) -> Inputs:
    heads = int(rng.integers(3, 7))
    size = int(rng.choice([d for d in range(5, 10) if d != heads]))
    # An answer that checks division by a negative size must not find that it divides.
    apart = [n for n in range(2, 9) if n % heads and heads * size % n]
    return {
        "vocab_size": whole(int(rng.integers(80, 99))),
        "block_size": whole(int(rng.integers(100, 130))),
        "n_layer": whole(int(rng.integers(61, 71))),
        "n_head": whole(heads),
        "n_embd": whole(heads * size),
        "dropout": number(int(rng.integers(11, 40)) / 100),
        "rest": number(int(rng.integers(1, heads))),
        "negative": number(-int(rng.choice(apart))),
        "too_much": number(int(rng.integers(11, 20)) / 10),
    }


def _settings(given: Inputs) -> dict[str, Any]:
    sizes: dict[str, Any] = {name: int(given[name]) for name in SETTINGS[:-1]}
    return sizes | {"dropout": float(given["dropout"])}


def _sizes_of(config: Any) -> list[float]:
    return [float(getattr(config, name)) for name in (*SETTINGS, "head_size")]


def _possible(answer: Any, given: Inputs) -> Any:
    return _sizes_of(answer(**_settings(given)))


def _plain(answer: Any, given: Inputs) -> Any:
    """As chapters write it: the first two by their place, and no word of dropout."""
    vocab_size, block_size, n_layer, n_head, n_embd, _ = _settings(given).values()
    return _sizes_of(answer(vocab_size, block_size, n_layer=n_layer, n_head=n_head, n_embd=n_embd))


def _edges(answer: Any, given: Inputs) -> Any:
    smallest = _settings(given) | {"n_layer": 1, "n_head": 1, "dropout": 0.0}
    return _sizes_of(answer(**smallest))


def _ones(answer: Any, given: Inputs) -> Any:
    return _sizes_of(answer(**_settings(given) | dict.fromkeys(SETTINGS[:-1], 1)))


def _thin_heads(answer: Any, given: Inputs) -> Any:
    """Heads of one channel, and a dropout that is nearly 1."""
    return _sizes_of(
        answer(**_settings(given) | {"n_embd": int(given["n_head"]), "dropout": MOST_DROPOUT})
    )


def _refusals(answer: Any, given: Inputs, changes: list[dict[str, Any]]) -> dict[str, Any]:
    """For each change, whether and how it was refused, and what the message speaks of.

    `outcome`: 0 accepted, 1 a ValueError, 2 an AssertionError, 3 any other error. `named` and
    `shown` (changes, settings): whether the message holds a setting's name, and its value.
    """
    outcomes, named, shown = [], [], []
    for change in changes:
        settings = _settings(given) | change
        outcome, message = 0, ""
        try:
            answer(**settings)
        except NotImplementedError:
            raise
        except Exception as error:
            kinds = (ValueError, AssertionError)
            outcome = next((n for n, kind in enumerate(kinds, 1) if isinstance(error, kind)), 3)
            message = str(error)
        outcomes.append(outcome)
        named.append([bool(re.search(rf"(?<!\w){name}(?!\w)", message)) for name in SETTINGS])
        told = {float(value) for value in _NUMBER.findall(message)}  # 1, 1.0 and 1.00 alike
        shown.append([settings[name] in told for name in SETTINGS])
    return {"outcome": np.array(outcomes), "named": np.array(named), "shown": np.array(shown)}


def _bad_sizes(answer: Any, given: Inputs) -> Any:
    values = (0, int(given["negative"]))
    changes = [{name: value} for value in values for name in SETTINGS[:-1]]
    return _refusals(answer, given, changes)


def _bad_heads(answer: Any, given: Inputs) -> Any:
    # One channel cannot be shared by several heads, either.
    sizes = (int(given["n_embd"] + given["rest"]), 1)
    return _refusals(answer, given, [{"n_embd": size} for size in sizes])


def _bad_dropout(answer: Any, given: Inputs) -> Any:
    values = (-float(given["dropout"]), 1.0, float(given["too_much"]))
    return _refusals(answer, given, [{"dropout": value} for value in values])


def _several(answer: Any, given: Inputs) -> Any:
    dropout, off = float(given["too_much"]), int(given["n_embd"] + given["rest"])
    negative = int(given["negative"])
    return _refusals(
        answer,
        given,
        [
            {"vocab_size": 0, "n_layer": negative, "dropout": dropout},
            {"block_size": negative, "n_embd": off, "dropout": -dropout},
            dict.fromkeys(SETTINGS[:-1], 0) | {"n_embd": negative, "dropout": 1.0},
        ],
    )


PROBE = Probe(
    _config_inputs,
    {
        "possible": _possible,
        "plain": _plain,
        "edges": _edges,
        "thin": _thin_heads,
        "ones": _ones,
        "sizes": _bad_sizes,
        "heads": _bad_heads,
        "dropout": _bad_dropout,
        "several": _several,
    },
)
