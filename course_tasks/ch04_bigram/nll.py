"""What 04/nll asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, parts_of, tensor, whole
from course_tasks.probing import Inputs, Probe

# A probability beside which what some add "against log 0" is large, such as 1e-9.
RARE = 1e-12


def _nll_inputs(rng: Rng) -> Inputs:
    V = int(rng.integers(4, 8))
    table = rng.dirichlet(np.full(V, 0.8), size=V)
    table = (table + 0.02) / (1 + 0.02 * V)
    # The shortest text is the most surprising, so that a mean over texts is not one over symbols.
    first, second, third = (int(n) for n in rng.permutation([4, 9, 14]) + rng.integers(0, 3, 3))
    texts: list[Array] = []
    for n in (first, second, third):
        # Texts begin with what would be least likely after the one before: no such step is asked.
        start = int(np.argmin(table[texts[-1][-1]])) if texts else int(rng.integers(V))
        texts.append(_walk(rng, table, start, n, surprising=n == min(first, second, third)))
    # What never happens may have a probability of 0, and a text may have a single step: here it is
    # one that hardly ever happens.
    possible = table * (table > table.min(axis=1, keepdims=True))
    possible /= possible.sum(axis=1, keepdims=True)
    step = rng.permutation(V)[:2]
    possible[tuple(step)] = RARE
    possible[step[0]] /= possible[step[0]].sum()
    # The long text ends where some symbol is least likely to follow, and that is the single one: a
    # step between them, which is none, shows among thousands.
    least = np.unravel_index(int(table.argmin()), table.shape)
    long = _walk(rng, table, int(rng.integers(V)), 2500, surprising=False)
    long[-1] = least[0]
    return {
        "possible": possible.astype(np.float32),
        "step": step.astype(np.int64),
        "steps": _walk(rng, possible, int(rng.integers(V)), 8, surprising=False),
        "table": table.astype(np.float32),
        "first": texts[0],
        "second": texts[1],
        "third": texts[2],
        # The same symbol again and again: the one for which that is least likely.
        "equal": np.full(5, np.diag(table).argmin()),
        "long": long,
        "single": np.array(least[1:], dtype=np.int64),
        "V": whole(V),
    }


def _walk(rng: Rng, table: Array, start: int, length: int, *, surprising: bool) -> Array:
    """A text that follows the table, or one that always takes the least likely step."""
    V = len(table)
    tokens = [start]
    while len(tokens) < length:
        row = table[tokens[-1]]
        tokens.append(int(np.argmin(row)) if surprising else int(rng.choice(V, p=row)))
    return np.array(tokens, dtype=np.int64)


def _score_short_texts(answer: Any, given: Inputs) -> Any:
    texts = [tensor(given[name]) for name in ("first", "second", "third")]
    return parts_of(answer(tensor(given["table"]), texts), "nll", "perplexity")


def _score_long_text(answer: Any, given: Inputs) -> Any:
    # A text of one symbol has no step; in the second draw the long text is the only one.
    texts = [tensor(given[name]) for name in ("long", "single") if given[name].size]
    return parts_of(answer(tensor(given["table"]), texts), "nll", "perplexity")


def _score_possible_texts(answer: Any, given: Inputs) -> Any:
    texts = [tensor(given[name]) for name in ("step", "steps")]
    return parts_of(answer(tensor(given["possible"]), texts), "nll", "perplexity")


def _score_equal_steps(answer: Any, given: Inputs) -> Any:
    """A text of equal steps, which shows what becomes of one probability."""
    return parts_of(answer(tensor(given["table"]), [tensor(given["equal"])]), "nll", "perplexity")


PROBE = Probe(
    _nll_inputs,
    {
        "short": _score_short_texts,
        "long": _score_long_text,
        "possible": _score_possible_texts,
        "equal": _score_equal_steps,
    },
    second=lambda rng: {**_nll_inputs(rng), "single": np.zeros(0, dtype=np.int64)},
)
