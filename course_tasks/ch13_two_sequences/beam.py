"""What 13/beam asks."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from course_tasks.answers import Array
from course_tasks.inputs import Rng, integer, number, parts_of, whole
from course_tasks.probing import Inputs, Probe

_TABLES, _TABLES_OF_FEW = 16, 4
"""How many models a beam searches: one alone is easily solved by luck."""


def _inputs(rng: Rng) -> Inputs:
    width, longest = (int(rng.integers(n, n + 2)) for n in (3, 6))
    V = int(rng.integers(width + 3, 8))
    given = _of(rng, (_TABLES, V), (width, longest, 2), float(rng.uniform(1.2, 1.5)))
    start, end = int(given["start"]), int(given["end"])
    # Whether a beam is too wide or too narrow, and where a text is cut, does not show with every
    # model; with these two it always does. The best text begins with the first token that has no
    # place any more, and with the one that has the last place.
    for k, place in ((0, width), (2, width - 1)):
        given["tables"][k] = _hiding(rng, given["tables"][k], start, end, place)
    return given


def _hiding(rng: Rng, logits: Array, start: int, end: int, place: int) -> Array:
    """(V, V) a model whose texts do not end. Its best one repeats the token that is at this place
    among the likely first ones; after all others nearly everything is as likely.
    """
    V = len(logits)
    ranked = rng.permutation([v for v in range(V) if v not in (start, end)])
    logits = 0.1 * logits
    logits[start, ranked] = (
        -0.15 * np.arange(len(ranked)) - _waves(np.full((1, 1), start), V)[0, ranked]
    )
    logits[ranked[place], ranked[place]] = 20
    logits[:, start] = -3
    logits[:, end] = -8
    return logits


def _wide(rng: Rng) -> Inputs:
    """A beam that is wider than the vocabulary, and texts of one token."""
    return _of(rng, (_TABLES_OF_FEW, 3), (5, 3, 1), float(rng.uniform(0.4, 0.8)))


def _of(rng: Rng, shape: tuple[int, int], most: tuple[int, int, int], power: float) -> Inputs:
    tables, V = shape
    width, longest, short = most
    logits = 0.7 * rng.normal(size=(tables, V, V))
    start, end = (int(n) for n in rng.choice(V, 2, replace=False))
    logits[:, :, start] -= 3
    return {
        "tables": logits,
        "start": whole(start),
        "end": whole(end),
        "width": whole(width),
        "longest": whole(longest),
        "short": whole(short),
        "power": number(power),
        "V": whole(V),
    }


def _waves(x: Array, V: int) -> Array:
    """(W, V) what is added to the logits after each row: what is likely depends on the last token
    and a little on all before it, so that no two texts have the same score.
    """
    history = (x * np.sqrt(np.arange(x.shape[1]) + 0.7)).sum(axis=1, keepdims=True)
    return np.asarray(0.6 * np.sin(history + np.arange(V)))


@lru_cache(maxsize=4096)
def _next(
    table: bytes, growth: float, end: int, rows: bytes, kind: str, shape: tuple[int, ...]
) -> Array:
    """(W, V) the log-probabilities after each row: all from bytes, since in one check many answers
    ask for the same.
    """
    x = np.frombuffer(rows, dtype=kind).reshape(shape)  # (W, T)
    told = np.frombuffer(table)  # (V·V,)
    V = math.isqrt(len(told))
    logits = told.reshape(V, V)[x[:, -1]] + _waves(x, V)
    logits[:, end] += growth * (x.shape[1] - 3) if growth else 0.8
    logits -= logits.max(axis=1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))


def _search(answer: Any, given: Inputs, width: int, power: float, longest: int) -> Any:
    found: dict[str, Any] = {}
    end = int(given["end"])
    for k, logits in enumerate(given["tables"]):
        table = logits.tobytes()

        # Half of the models may end at any time; with the others, the longer a text, the likelier
        # its end.
        growth = 1.5 * (k % 2)

        def log_probabilities(x: Any, table: bytes = table, growth: float = growth) -> torch.Tensor:
            rows = torch.as_tensor(x).numpy(force=True)  # (W, T)
            found = _next(table, growth, end, rows.tobytes(), rows.dtype.str, rows.shape)
            return torch.from_numpy(found.copy())

        result = answer(log_probabilities, int(given["start"]), end, width, longest, power)
        tokens, score = parts_of(result, "tokens", "score").values()
        row = np.full(longest + 2, -1)
        tokens = np.asarray(
            [integer(token, "tokens") for token in tokens][: longest + 2], dtype=np.int64
        )
        row[: len(tokens)] = tokens
        found[f"tokens{k}"], found[f"score{k}"] = row, float(torch.as_tensor(score))
    return found


PROBE = Probe(
    _inputs,
    {
        "greedy": lambda answer, given: _search(answer, given, 1, 0.0, int(given["longest"])),
        "beam": lambda answer, given: _search(
            answer, given, int(given["width"]), 0.0, int(given["longest"])
        ),
        "length": lambda answer, given: _search(
            answer, given, int(given["width"]), float(given["power"]), int(given["longest"])
        ),
        "short": lambda answer, given: _search(
            answer, given, int(given["width"]), 0.0, int(given["short"])
        ),
    },
    second=_wide,
)
