"""What 12/drafts asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.answers import Array
from course_tasks.inputs import Rng, parts_of, seeded, tensor, whole
from course_tasks.probing import Inputs, Probe

ROWS = 4_000
"""Rows of each kind, enough to tell distributions apart."""

VOCABULARY, PLACES = 5, 3

FEW = 200
"""Enough rows that two seeds do not give the same symbols by chance."""

SINGLE_ROWS = 1_000
"""Rows asked with room for one draft: enough to tell distributions apart, few enough that an answer
which stretches them to a square of rows fits in memory."""


def _shares(rng: Rng) -> Array:
    """(PLACES + 1, V): distributions, no two alike."""
    return rng.dirichlet(np.full(VOCABULARY, 1.5), PLACES + 1) * 0.95 + 0.05 / VOCABULARY


def _apart(p: Array, q: Array) -> bool:
    """True if draft and model differ clearly at each place, and places from each other."""
    gaps = [np.abs(p[:PLACES] - q), np.abs(np.diff(p, axis=0)), np.abs(np.diff(q, axis=0))]
    alike = np.minimum(p[:PLACES], q).sum(axis=-1)
    # Keeping a draft that equals a symbol of p, and drawing a new one if not, is off by p · factor.
    factor = q[0] - (p[0] * q[0]).sum()
    shows = 2 * ROWS * (p[0] * factor**2 / (2 * (1 - p[0]))).max() > 75
    clear = min(0.5 * gap.sum(-1).min() for gap in gaps) > 0.25
    return bool(clear and alike.min() > 0.35 and shows)


def _inputs(rng: Rng) -> Inputs:
    p, q = _shares(rng), _shares(rng)[:PLACES]
    while not _apart(p, q):
        p, q = _shares(rng), _shares(rng)[:PLACES]
    draft = np.stack([rng.choice(VOCABULARY, 3 * ROWS, p=share) for share in q], axis=1)
    # Three kinds of rows: as many drafts as there are places, fewer, and none.
    drafted = np.repeat([PLACES, PLACES - 1, 0], ROWS)
    order = rng.permutation(3 * ROWS)
    return {
        "p": p.astype(np.float32),
        "q": q.astype(np.float32),
        "draft": draft[order].astype(np.int64),
        "drafted": drafted[order].astype(np.int64),
        "seed": whole(int(rng.integers(2**31))),
        "B": whole(3 * ROWS),
        "K": whole(PLACES),
        "V": whole(VOCABULARY),
    }


def _kept(
    answer: Any,
    given: Inputs,
    seed: int,
    everywhere: int,
    rows: int | None = None,
    places: int = PLACES,
) -> Any:
    """An answer on the first rows and places; `everywhere` seeds what does not use the given
    generator.
    """
    draft = given["draft"][:rows, :places]
    B = len(draft)
    torch.manual_seed(everywhere)
    result = answer(
        tensor(given["p"][: places + 1]).expand(B, -1, -1).clone(),
        tensor(given["q"][:places]).expand(B, -1, -1).clone(),
        tensor(draft),
        tensor(np.minimum(given["drafted"][:rows], places)),
        seeded(seed),
    )
    return parts_of(result, "count", "symbol")


def own_symbols() -> Array:
    """(SINGLE_ROWS, V): by which symbol each row means symbol 0, 1, …, so that no two neighbors
    have the same distributions.
    """
    return (np.arange(SINGLE_ROWS)[:, None] + np.arange(VOCABULARY)) % VOCABULARY


def _chance(answer: Any, given: Inputs) -> Any:
    return _kept(answer, given, int(given["seed"]), int(given["seed"]))


def _seeded(answer: Any, given: Inputs) -> Any:
    seed = int(given["seed"])
    return {
        "first": _kept(answer, given, seed, 1, FEW)["symbol"],
        "again": _kept(answer, given, seed, 2, FEW)["symbol"],
        "other": _kept(answer, given, seed + 1, 1, FEW)["symbol"],
        "alone": _kept(answer, given, seed, 1, 1)["symbol"],  # a batch of one row
    }


def _single(answer: Any, given: Inputs) -> Any:
    """K = 1, an axis of length 1, easily dropped; and each row has distributions of its own."""
    rows, symbols = np.arange(SINGLE_ROWS), own_symbols()
    p, q = (np.empty((SINGLE_ROWS, places, VOCABULARY), dtype=np.float32) for places in (2, 1))
    for own, shared in ((p, given["p"]), (q, given["q"])):
        np.put_along_axis(
            own, np.broadcast_to(symbols[:, None], own.shape), shared[: own.shape[1]], -1
        )
    result = answer(
        tensor(p),
        tensor(q),
        tensor(symbols[rows, given["draft"][:SINGLE_ROWS, 0]][:, None]),
        tensor(np.minimum(given["drafted"][:SINGLE_ROWS], 1)),
        seeded(int(given["seed"])),
    )
    return parts_of(result, "count", "symbol")


PROBE = Probe(_inputs, {"chance": _chance, "seeded": _seeded, "single": _single})
