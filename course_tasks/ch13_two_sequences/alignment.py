"""What 13/alignment asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe

_MOST_PADDING = 3

# Words at multiples of this have several links.
_SEVERAL = 3

# Some words come from words near the end of the source, and all heads see that: so it shows whose
# padding is left out, and from which end it is counted.
_LATE = {2: 3, 4: 1, 5: 2}


def _inputs(rng: Rng) -> Inputs:
    T = int(rng.choice([10, 13]))
    S = T + int(rng.integers(2, 4))
    # Even the longest text ends before the last place, so that no head looks there.
    sizes = list(
        zip(rng.permutation([T, T - 1, T - 3]).tolist(), (1, 2, _MOST_PADDING), strict=True)
    )
    return _of(rng, sizes, int(rng.choice([3, 4])), T, S)


def _one_head(rng: Rng) -> Inputs:
    """One head and one sample, whose target is longer than its source."""
    return _of(rng, [(9, 1)], 1, 9, 5)


def _of(rng: Rng, sizes: list[tuple[int, int]], H: int, T: int, S: int) -> Inputs:
    B = len(sizes)
    links = np.zeros((B, T, S), dtype=bool)
    real = np.ones((B, S), dtype=bool)
    # Weights that often, but not always, are largest where a word comes from: more so in later
    # heads, and a good part of them on padding.
    logits = rng.normal(size=(B, H, T, S))
    for b, (words, filled) in enumerate(sizes):
        # Where there is most padding it is in front.
        padding = slice(0, filled) if filled == _MOST_PADDING else slice(S - filled, S)
        real[b, padding] = False
        for t in range(words):
            if t == 1:
                continue  # a word without a link
            # One more in the first sample, so that there are more of them than a target has places.
            several = t % _SEVERAL == 0 or (b == 0 and t == _SEVERAL + 1)
            made = rng.choice(np.flatnonzero(real[b]), size=1 + several, replace=False)
            late = S - _LATE.get(t, S)
            if late and real[b, late] and not several:
                made = np.array([late])
                logits[b, :, t, late] += 4
            links[b, t, made] = True
            for h in range(H):
                logits[b, h, t, rng.choice(made)] += 1.2 + 0.4 * h
                logits[b, h, t, padding] += 1.5
            if b == 0 and t == _SEVERAL:
                # The largest weight isn't on a link, but all links together have more weight.
                other = rng.choice(np.flatnonzero(real[b] & ~links[b, t]))
                largest = logits[b, :, t].max(axis=-1)  # (H,)
                logits[b, :, t, other] = largest + 0.1
                logits[b, :, t, made] = largest - 0.2
    if B > 1 and not _counts_differ(links, real):
        return _of(rng, sizes, H, T, S)
    weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    return {
        "weights": weights,
        "links": links,
        "real": real,
        "unpadded": np.ones((B, S), dtype=bool),
        "B": whole(B),
        "H": whole(H),
        "T": whole(T),
        "S": whole(S),
    }


def _counts_differ(links: Array, real: Array) -> bool:
    """Whether all that a student may divide by differs in number, so that scores tell it apart."""
    each = links.sum(axis=2)  # (B, T)
    counts = [
        (each > 0).sum(),
        (each > 1).sum(),
        (each == 1).sum(),
        (each[0] > 0).sum(),
        (each[-1] > 0).sum(),
        links.sum(),
        links.any(axis=1).sum(),
        real.sum(),
        each.shape[1],
    ]
    return len(set(map(int, counts))) == len(counts)


def _on(answer: Any, given: Inputs, real: str) -> Any:
    return answer(tensor(given["weights"]), tensor(given["links"]), tensor(given[real]))


PROBE = Probe(
    _inputs,
    {
        "whole": lambda answer, given: _on(answer, given, "unpadded"),
        "padded": lambda answer, given: _on(answer, given, "real"),
    },
    second=_one_head,
)
