"""What 02/smoother asks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course_tasks.probing import Case, Inputs, Probe


def _smoother_inputs(rng: np.random.Generator) -> Inputs:
    """With a kernel that is as wide as the map."""
    N, M, C = int(rng.integers(4, 7)), int(rng.integers(7, 10)), int(rng.integers(4, 6))
    return _map(rng, N, M, C, rng.uniform(2.6, 3.2))


def _one_place(rng: np.random.Generator) -> Inputs:
    """One quantity is asked for at one place, of several stations and of the first one alone."""
    # Between the widths at which two wrong uses of it come to the same: √½, 1, √2 and others.
    low, high = [(0.73, 0.77), (1.3, 1.38), (1.46, 1.6)][int(rng.integers(3))]
    drawn = _map(rng, 1, int(rng.integers(7, 10)), 1, rng.uniform(low, high))
    return {**drawn, "stations": np.array([1])}


def _map(rng: np.random.Generator, N: int, M: int, C: int, width: float) -> Inputs:
    known = rng.uniform(-2.5, 1.5, size=(M, 2))
    # Two stations in the east, beside each other: from far away in the east, both count.
    known[:2] = [[2.5, 0.4], [2.5, -0.4]]
    near = rng.uniform(-2.5, 1.5, size=(N, 2))
    if N > 1:
        near[-1] = known[0]  # just where a station is
    angle = rng.uniform(0, 2 * math.pi, size=N)
    # So far that e^score is 0 in every floating-point number there is.
    # Float64, as float32 keeps too few digits of the squares of such distances to tell them apart.
    # Some are so much farther than others that no one shift serves them all.
    distance = 6 + rng.uniform(48, 56, size=N) * width * np.where(np.arange(N) % 2, 2, 1)
    far = near + distance[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    far[0] = [2.5 + distance[0], rng.uniform(0.1, 0.3) * width]
    return {
        "N": np.array(N),
        "M": np.array(M),
        "C": np.array(C),
        "near": near,
        "far": far,
        "known": known,
        "values": rng.normal(3, 2, size=(M, C)),
        # So many of the stations answer to a place far away.
        "stations": np.array([M]),
        "width": np.array(round(float(width), 3)),
    }


def _smoother(at: str) -> Case:
    def case(answer: Callable[..., Any], given: Inputs) -> Any:
        places, known, values = (torch.from_numpy(given[n]) for n in (at, "known", "values"))
        count = int(given["stations"][0]) if at == "far" else len(known)
        return answer(places, known[:count], values[:count], float(given["width"]))

    return case


def _weights(answer: Callable[..., Any], given: Inputs) -> Any:
    """One quantity for each station, which is 1 there and 0 elsewhere: its averages are weights."""
    near, known = torch.from_numpy(given["near"]), torch.from_numpy(given["known"])
    return answer(near, known, torch.eye(len(known), dtype=known.dtype), float(given["width"]))


PROBE = Probe(
    _smoother_inputs,
    {"near": _smoother("near"), "far": _smoother("far"), "weights": _weights},
    second=_one_place,
)
