"""What 08/top-k asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.ch08_gpt.shared import extreme, spread_logits
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe


def _top_k_inputs(rng: Rng) -> Inputs:
    V, B = int(rng.integers(8, 12)), int(rng.integers(4, 6))
    k = rng.permutation(np.arange(2, V - 1))[:B]
    if k[0] == k.max():  # the first k and the largest one are two different mistakes
        k = k[::-1]
    logits = spread_logits(rng, B, V)
    return {
        "logits": logits,
        "tied": _with_a_tie(rng, logits, k),
        # One symbol fewer is possible than may be kept.
        "extreme": extreme(logits, int(k[2]) - 1),
        "k": k.astype(np.int64),
        "large": np.array([V, V + 3, V, 1, V + 1][:B], dtype=np.int64),
        "B": whole(B),
        "V": whole(V),
    }


def _with_a_tie(rng: Rng, logits: Array, k: Array) -> Array:
    """The same rows, with the next likely symbol as likely as the k-th; in row 1, nearly. In row 2
    one more is as likely, and so are the two likeliest to each other.
    """
    tied, rows = logits.copy(), np.arange(len(k))
    order = logits.argsort(axis=1)[:, ::-1]
    tied[2, order[2, 0]] = tied[2, order[2, 1]]
    tied[rows, order[rows, k]] = tied[rows, order[rows, k - 1]]
    tied[2, order[2, k[2] + 1]] = tied[2, order[2, k[2]]]
    tied[1, order[1, k[1]]] -= rng.uniform(4e-4, 8e-4)
    return tied


def _keep_k(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"]), tensor(given["k"]))


def _keep_ties(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["tied"]), tensor(given["k"]))


def _keep_extremes(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["extreme"]), tensor(given["k"]))


def _keep_all_or_one(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"]), tensor(given["large"]))


def _keep_in_one_row(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"][:1]), tensor(given["k"][:1]))


def _keep_one_symbol(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"][:, :1]), tensor(given["k"]))


PROBE = Probe(
    _top_k_inputs,
    {
        "kept": _keep_k,
        "edges": _keep_all_or_one,
        "ties": _keep_ties,
        "extreme": _keep_extremes,
        "row": _keep_in_one_row,
        "symbol": _keep_one_symbol,
    },
)
