"""What 13/beam asks."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from course_tasks.answers import Array
from course_tasks.inputs import Rng, integer, number, parts_of, whole
from course_tasks.probing import Inputs, Probe

_TABLES, _TABLES_OF_FEW = 16, 4
"""How many drawn models a beam searches, since one alone is easily solved by luck."""

_ENDS = 0.8
"""Makes the end likelier at any time, in models whose end doesn't get likelier with length."""


def _inputs(rng: Rng) -> Inputs:
    width, longest = (int(rng.integers(n, n + 2)) for n in (3, 6))
    V = int(rng.integers(width + 3, 8))
    given = _of(rng, (_TABLES, V), (width, longest, 2), float(rng.uniform(1.2, 1.5)))
    start, end = int(given["start"]), int(given["end"])
    # Not every drawn model shows every mistake, but each of these, which come after the drawn ones,
    # always shows one.
    by_hand = [
        _hiding(rng, V, start, end, width),  # after the first token that has no place in the beam
        _hiding(rng, V, start, end, width - 1),  # after the token that has the last place
        _hiding(rng, V, start, end, width - 1, ended=True),  # after one displaced by an ended text
        _hiding_later(rng, V, start, end, width),  # after the first without a place, in step 2
        _second_best(rng, V, start, end),
        _going_on(rng, V, start, end),
    ]
    return {**given, "tables": np.concatenate([given["tables"], np.stack(by_hand)])}


def _hiding(rng: Rng, V: int, start: int, end: int, place: int, *, ended: bool = False) -> Array:
    """(V, V) a model whose texts hardly end. Its best text repeats the token at this place among
    the likely first ones. After all others, nearly all tokens are equally likely. With `ended`, a
    text may also end at once, which is likelier than that token.
    """
    logits, ranked = _nearly_flat(rng, V, start, end)
    logits[start, ranked] = -0.15 * np.arange(len(ranked)) - _first_waves(start, V)[ranked]
    if ended:
        logits[start, end] = 0.1 - _ENDS - _first_waves(start, V)[end]
    logits[ranked[place], ranked[place]] = 20
    return logits


def _hiding_later(rng: Rng, V: int, start: int, end: int, width: int) -> Array:
    """(V, V) a model whose likeliest first token, `a`, has all likely continuations. After the one
    that has no place in the beam, a text repeats it. A text may also end at once, which is second
    among the first tokens, so that one text is finished in step 2.
    """
    logits, ranked = _nearly_flat(rng, V, start, end)
    a, best = ranked[0], ranked[width]
    spaced = -0.15 * np.arange(len(ranked))
    logits[start, ranked] = spaced - 6 - _first_waves(start, V)[ranked]
    logits[start, a] += 6
    logits[start, end] = -3 - _ENDS - _first_waves(start, V)[end]
    logits[a, ranked] = spaced - _waves(np.array([[start, a]]), V)[0, ranked]
    logits[best, best] = 20
    return logits


def _second_best(rng: Rng, V: int, start: int, end: int) -> Array:
    """(V, V) a model whose best text goes on with the second best token after its first one."""
    logits, (first, best, second, *_) = _nearly_flat(rng, V, start, end)
    logits[start, first] = 6
    logits[first, [best, second]] = 6.5, 5
    logits[second, second] = 20
    return logits


def _going_on(rng: Rng, V: int, start: int, end: int) -> Array:
    """(V, V) a model that repeats `start`, a token like any other, and may end after each."""
    logits, _ = _nearly_flat(rng, V, start, end)
    logits[:, start], logits[:, end] = 8, 4
    return logits


def _nearly_flat(rng: Rng, V: int, start: int, end: int) -> tuple[Array, Array]:
    """(V, V) a model whose texts hardly end, and all tokens that may come, in any order."""
    logits = 0.07 * rng.normal(size=(V, V))
    logits[:, start], logits[:, end] = -3, -8
    return logits, rng.permutation([v for v in range(V) if v not in (start, end)])


def _wide(rng: Rng) -> Inputs:
    """A beam that is wider than the vocabulary, and texts of one token."""
    return _of(rng, (_TABLES_OF_FEW, 3), (5, 3, 1), float(rng.uniform(0.4, 0.8)))


def _of(rng: Rng, shape: tuple[int, int], most: tuple[int, int, int], power: float) -> Inputs:
    tables, V = shape
    width, longest, short = most
    logits = 0.7 * rng.normal(size=(tables, V, V))
    # Neither symbol equals the width, so that an answer can't mix them up by luck.
    start, end = (int(n) for n in rng.choice([v for v in range(V) if v != width], 2, replace=False))
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


def _first_waves(start: int, V: int) -> Array:
    """(V,) what is added to the logits of the first token."""
    return np.asarray(_waves(np.full((1, 1), start), V)[0])


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
    logits[:, end] += growth * (x.shape[1] - 3) if growth else _ENDS
    logits -= logits.max(axis=1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))


def model(given: Inputs, k: int) -> Callable[[Any], torch.Tensor]:
    """The k-th model of a draw: texts (W, t) → log P of the next token (W, V)."""
    table = given["tables"][k].tobytes()
    end = int(given["end"])
    # In half of the drawn models, texts may end at any time. In the others, the end gets likelier
    # with length.
    growth = 1.5 * (k % 2) if k < _TABLES else 0.0

    def log_probabilities(x: Any) -> torch.Tensor:
        rows = torch.as_tensor(x).numpy(force=True)  # (W, t)
        found = _next(table, growth, end, rows.tobytes(), rows.dtype.str, rows.shape)
        return torch.from_numpy(found.copy())

    return log_probabilities


def _search(answer: Any, given: Inputs, width: int, power: float, longest: int) -> Any:
    found: dict[str, Any] = {}
    for k in range(len(given["tables"])):
        result = answer(
            model(given, k), int(given["start"]), int(given["end"]), width, longest, power
        )
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
