"""What 06/fused asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.ch06_heads.shared import dislikes_itself, matrix
from course_tasks.inputs import Rng, tensor, values, whole
from course_tasks.probing import Case, Inputs, Probe


def _fused_inputs(rng: Rng) -> Inputs:
    H = int(rng.choice([2, 4]))  # not 3, the number of queries, keys and values
    B = int(rng.choice([n for n in (2, 3, 4) if n != H]))
    T = int(rng.choice([6, 7, 8]))
    while True:
        # Different for each head, none wide enough to see everything, and not in ascending order.
        widths = np.arange(2, max(T - 1, 2 + H))
        reach = rng.choice(widths, size=H, replace=False)
        if (np.diff(reach) < 0).any():
            # More channels in a head than positions, so that outputs show the weights.
            return _layer(rng, B, T, int(rng.choice([10, 11])), reach)


def _least(rng: Rng) -> Inputs:
    """One sample, one head, one channel; the ends of a reach are tried on one position."""
    T = int(rng.choice([6, 7, 8]))
    return _layer(rng, 1, T, 1, rng.integers(2, 4, size=1), shortest=True)


def _layer(rng: Rng, B: int, T: int, D: int, reach: Array, *, shortest: bool = False) -> Inputs:
    H = len(reach)
    C = H * D
    t = int(rng.integers(2, T - 1))
    x = values(rng, B, T, C)
    later, others = x.copy(), x.copy()
    later[:, t:] += 1
    others[1:] += 1
    qkv = matrix(rng, 3 * C, C, C, gain=1.5)
    if C == 1:
        qkv[1] = -np.sign(qkv[0]) * np.abs(qkv[1])  # so that a symbol can dislike itself
    # Position 0 sees only itself, here with a score lower than any fill but −inf.
    low = x.copy()
    low[0, 0] = dislikes_itself(qkv[:D].T, qkv[C : C + D].T)
    return {
        "x": x,
        "later": later,
        "others": others,
        "ends": x[:, :1] if shortest else x,
        "low": low,
        "qkv": qkv,
        # Its inverse loses no digits.
        "projection": np.linalg.qr(matrix(rng, C, C, C))[0] * (1.5 if C > 1 else 0.5),
        "reach": reach.astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "H": whole(H),
        "D": whole(D),
        "t": whole(t),
    }


def _shortest_and_whole(answer: Any, given: Inputs) -> Any:
    """Heads that see one position and exactly T positions, in turn."""
    reach = ([1, given["ends"].shape[1]] * int(given["H"]))[: int(given["H"])]
    arguments = (tensor(given[name]) for name in ("ends", "qkv", "projection"))
    return answer(*arguments, reach)


def _fused(x: str, *, wide: bool) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        T, H = int(given["T"]), int(given["H"])
        reach = [T + 1 + h for h in range(H)] if wide else given["reach"].tolist()
        return answer(tensor(given[x]), tensor(given["qkv"]), tensor(given["projection"]), reach)

    return ask


PROBE = Probe(
    _fused_inputs,
    {
        "plain": _fused("x", wide=True),
        "reach": _fused("x", wide=False),
        "ends": _shortest_and_whole,
        "low": _fused("low", wide=True),
        "low_reach": _fused("low", wide=False),
        "future": _fused("later", wide=True),
        "samples": _fused("others", wide=True),
    },
    second=_least,
)
