"""What 11/ablation asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.ch11_looking_inside.shared import HEADS, LAYERS, Runner, Watched, random_model
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe


def _inputs(rng: Rng) -> Inputs:
    return _of(rng, 3, int(rng.integers(7, 9)), int(rng.integers(4, 6)), (LAYERS, HEADS))


def _smallest(rng: Rng) -> Inputs:
    """A model with a single head, and one text to test."""
    return _of(rng, 1, 5, 2, (1, 1))


def _of(rng: Rng, B: int, T: int, N: int, heads: tuple[int, int]) -> Inputs:
    V = int(rng.integers(6, 9))
    return {
        **random_model(rng, V, T, C=10, D=4, heads=heads),
        "texts": rng.integers(V, size=(B, T)).astype(np.int64),
        "targets": rng.integers(V, size=(B, T)).astype(np.int64),
        "one_text": rng.integers(V, size=(1, T - 1)).astype(np.int64),
        "one_target": rng.integers(V, size=(1, T - 1)).astype(np.int64),
        "reference": rng.integers(V, size=(N, T)).astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "N": whole(N),
        "V": whole(V),
    }


def _ablated(answer: Any, given: Inputs, texts: str, targets: str) -> Any:
    reference = tensor(given["reference"])
    return answer(Runner(given), tensor(given[texts]), tensor(given[targets]), reference)


def _texts(answer: Any, given: Inputs) -> Any:
    return _ablated(answer, given, "texts", "targets")


def _one_shorter_text(answer: Any, given: Inputs) -> Any:
    return _ablated(answer, given, "one_text", "one_target")


def _calls(answer: Any, given: Inputs) -> Any:
    run = Watched(given)
    texts, targets, reference = (tensor(given[name]) for name in ("texts", "targets", "reference"))
    answer(run, texts, targets, reference)
    return run.seen(texts)


PROBE = Probe(
    _inputs,
    {"texts": _texts, "one": _one_shorter_text, "calls": _calls},
    second=_smallest,
)
