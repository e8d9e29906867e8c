"""What 08/top-p asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.ch08_gpt.shared import extreme, spread_logits
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe

# In about a third of such rows, rounding leaves the sum of all probabilities a little below 1.
MANY = 40


def _sorted_shares(logits: Array) -> Array:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return -np.sort(-weights / weights.sum(axis=-1, keepdims=True), axis=-1)


def _tells_apart(tempered: Array, plain: Array, p: float) -> bool:
    """True if sorted shares (B, V) show how an answer chose the size of the set.

    The size must be another one for an answer that applies the temperature afterwards, looks at
    single shares, compares them with the largest, adds them up to 1 − p, or takes the largest set
    or that of row 0 for all rows. No sum may be so close to p that rounding decides.
    """
    size = (tempered.cumsum(axis=-1) < p).sum(axis=-1) + 1  # (B,)
    untempered = (plain.cumsum(axis=-1) < p).sum(axis=-1) + 1
    alone = np.maximum(1, (tempered >= 1 - p).sum(axis=-1))
    clear = np.abs(np.stack([tempered, plain]).cumsum(axis=-1) - p).min() > 0.005
    rest = (tempered.cumsum(axis=-1) < 1 - p).sum(axis=-1) + 1
    beside = (tempered >= p * tempered[:, :1]).sum(axis=-1)
    return bool(
        (np.abs(untempered - size) >= 2).any()
        and (np.abs(alone - size) >= 2).any()
        and clear
        and size.max() > max(2, size[0])
        and beside.max() > 1
        and (beside != size).any()
        and (beside != rest).any()
        and (alone != rest).any()
        and np.abs(tempered - (1 - p)).min() > 0.005
        and tempered[:, 0].max() < p - 0.01
    )


def _with_a_sure_row(logits: Array, temperature: float, p: float) -> Array:
    """The same rows (B, V), but in the one with the smallest set the likeliest symbol is enough.

    The others keep two symbols or more, and one of them three, so all rows together keep twice as
    many as there are rows.
    """
    rows, share = logits.copy(), (1 + p) / 2
    sure = int((_sorted_shares(logits / temperature).cumsum(axis=-1) < p).sum(axis=-1).argmin())
    first = int(rows[sure].argmax())
    others = np.exp(np.delete(rows[sure], first) / temperature).sum()
    rows[sure, first] = temperature * np.log(share / (1 - share) * others)
    return rows


def _top_p_inputs(rng: Rng) -> Inputs:
    while True:
        V, B = int(rng.integers(8, 12)), int(rng.integers(4, 6))
        logits = spread_logits(rng, B, V)
        temperature = float(rng.choice([0.5, 0.6, 1.7, 2.0]))
        p = float(rng.integers(60, 90)) / 100
        # Row 0 has the smallest set, so that its size is not that of all.
        tempered = _sorted_shares(logits / temperature)
        sizes = (tempered.cumsum(axis=-1) < p).sum(axis=-1)
        if sizes.min() == sizes.max() or sizes.max() < 2 or tempered[:, 0].max() > p - 0.01:
            continue  # before what takes longer to see
        logits = np.roll(logits, -int(sizes.argmin()), axis=0)
        wild = extreme(logits, possible=3)
        edges = _sorted_shares(wild / temperature).cumsum(axis=-1)
        if (
            _tells_apart(_sorted_shares(logits / temperature), _sorted_shares(logits), p)
            and np.abs(edges - p).min() > 0.005
        ):
            break
    return {
        "logits": logits,
        "extreme": wild,
        "lopsided": _with_a_sure_row(logits, temperature, p),
        "many": spread_logits(rng, MANY, V),
        "temperature": number(temperature),
        "p": number(p),
        "tiny": number(0.01),
        "least": whole(int(rng.integers(2, 5))),
        "quarters": rng.permutation(V)[:4],
        "B": whole(B),
        "V": whole(V),
    }


def _nucleus(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["logits"]), float(given["temperature"]), float(given["p"]), 1)


def _at_least(answer: Any, given: Inputs) -> Any:
    least = int(given["least"])
    return answer(tensor(given["logits"]), float(given["temperature"]), float(given["tiny"]), least)


def _both(answer: Any, given: Inputs) -> Any:
    """Sets that p makes larger than `least`, in some rows at least."""
    return answer(tensor(given["logits"]), float(given["temperature"]), float(given["p"]), 2)


def _least_in_one_row(answer: Any, given: Inputs) -> Any:
    """One row that p leaves a single symbol, beside others that have enough for both."""
    return answer(tensor(given["lopsided"]), float(given["temperature"]), float(given["p"]), 2)


def _more_than_there_are(answer: Any, given: Inputs) -> Any:
    """Also in a row in which only some symbols have a chance."""
    least = int(given["V"]) + int(given["least"])
    tiny = float(given["tiny"])
    return answer(tensor(given["extreme"]), float(given["temperature"]), tiny, least)


def _nothing_to_reach(answer: Any, given: Inputs) -> Any:
    """`least` alone decides, of several rows and of a single one."""
    temperature = float(given["temperature"])
    return {
        "rows": answer(tensor(given["logits"]), temperature, 0.0, 1),
        "row": answer(tensor(given["logits"][:1]), temperature, 0.0, 3),
    }


def _extremes(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["extreme"]), float(given["temperature"]), float(given["p"]), 1)


def _everything(answer: Any, given: Inputs) -> Any:
    """All symbols of a single row, some of which are unlikely."""
    return answer(tensor(given["logits"][:1]), 0.5, 1.0, 1)


def _everything_of_many(answer: Any, given: Inputs) -> Any:
    """All symbols of many rows, none of them so unlikely that rounding hides it."""
    return answer(tensor(given["many"]), 2.0, 1.0, 1)


def _exactly(answer: Any, given: Inputs) -> Any:
    """Four symbols have a quarter each, so that two of them make a half without any rounding."""
    logits = np.full((2, int(given["V"])), -np.inf, dtype=np.float32)
    logits[:, given["quarters"]] = 1.0
    return answer(tensor(logits), float(given["temperature"]), 0.5, 1)


def _one_symbol(answer: Any, given: Inputs) -> Any:
    """At a temperature so low that the exponential of a logit of 40 would be infinite."""
    logits = np.full((int(given["B"]), 1), 40.0, dtype=np.float32)
    return answer(tensor(logits), 0.02, float(given["p"]), 1)


PROBE = Probe(
    _top_p_inputs,
    {
        "nucleus": _nucleus,
        "least": _at_least,
        "everything": _everything,
        "many": _everything_of_many,
        "both": _both,
        "one_row": _least_in_one_row,
        "more": _more_than_there_are,
        "zero": _nothing_to_reach,
        "extreme": _extremes,
        "exact": _exactly,
        "symbol": _one_symbol,
    },
)
