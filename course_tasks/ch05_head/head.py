"""What 05/head asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from course_tasks.ch05_head.shared import different, maps
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe, load_weights


def _head_inputs(rng: Rng) -> Inputs:
    B = int(rng.integers(2, 4))
    T, D, E = different(rng, range(4, 8), 3)
    C = int(rng.integers(11, 15))
    t = int(rng.integers(2, T))
    x = rng.normal(size=(B, T, C)).astype(np.float32)
    later = x.copy()
    later[:, t:] = rng.normal(size=(B, T - t, C))
    w_query, w_key, w_value = maps(rng, (C, D), (C, D), (C, E))
    return {
        "x": x,
        "later": later,
        "full": rng.normal(size=(B, T + 3, C)).astype(np.float32),
        # As linear layers keep them: outputs first.
        "query.weight": w_query.T.astype(np.float32),
        "key.weight": w_key.T.astype(np.float32),
        "value.weight": w_value.T.astype(np.float32),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "D": whole(D),
        "E": whole(E),
        "t": whole(t),
    }


def _head(answer: Any, given: Inputs, *, causal: bool) -> nn.Module:
    """The student's head with the given weights; a bias, where there is one, is 0."""
    C, D, E, T = (int(given[name]) for name in ("C", "D", "E", "T"))
    head = answer(C, D, E, T + 3, causal)
    if not isinstance(head, nn.Module):
        raise TypeError(f"`Head(…)` should make an nn.Module; it made a {type(head).__name__}")
    names = ("query.weight", "key.weight", "value.weight")
    load_weights(head, {name: given[name] for name in names})
    with torch.no_grad():
        for name, parameter in head.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
    return head.eval()


def _attend(answer: Any, given: Inputs, x: str, *, causal: bool) -> Any:
    return _head(answer, given, causal=causal)(tensor(given[x]))


def _attend_again(answer: Any, given: Inputs) -> Any:
    """What a head finds that has read texts of other lengths before."""
    head = _head(answer, given, causal=True)
    head(tensor(given["x"])[:, :2])
    head(tensor(given["full"]))
    return head(tensor(given["x"]))


def _attend_beside_another(answer: Any, given: Inputs) -> Any:
    """What a causal head finds after another one was made that looks both ways."""
    head = _head(answer, given, causal=True)
    C, D, E, T = (int(given[name]) for name in ("C", "D", "E", "T"))
    answer(C, D, E, T + 3, False)
    return head(tensor(given["x"]))


PROBE = Probe(
    _head_inputs,
    {
        "causal": lambda answer, given: _attend(answer, given, "x", causal=True),
        "later": lambda answer, given: _attend(answer, given, "later", causal=True),
        "full": lambda answer, given: _attend(answer, given, "full", causal=True),
        "both_ways": lambda answer, given: _attend(answer, given, "x", causal=False),
        "again": _attend_again,
        "beside": _attend_beside_another,
    },
)
