"""What 05/head asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from course_tasks.answers import Array
from course_tasks.ch05_head.shared import different, maps
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe, load_weights

# A score of −60 is lower than fills that some use to hide, such as −20; e⁻⁶⁰ is still positive.
_FAR_BELOW = 60.0


def _head_inputs(rng: Rng) -> Inputs:
    T = int(rng.choice([4, 5]))
    # More entries in a value than positions, so that outputs show the weights. D is not 4, whose
    # root is its half as well.
    D, E = (int(n) for n in rng.choice([(6, 7), (6, 10), (7, 10), (9, 7)]))
    block_size = int(rng.choice([8, 11]))  # no other dimension has this length
    return _drawn(rng, int(rng.integers(2, 4)), T, block_size, D, E)


def _inputs_at_the_edge(rng: Rng) -> Inputs:
    """A single text of one symbol, and block_size = 1."""
    D, E = different(rng, (6, 7), 2)
    return _drawn(rng, 1, 1, 1, D, E)


def _drawn(rng: Rng, B: int, T: int, block_size: int, D: int, E: int) -> Inputs:
    C = int(rng.integers(12, 15))
    t = int(rng.integers(min(2, T), max(2, T)))
    w_query, w_key, w_value = maps(rng, (C, D), (C, D), (C, E))
    x = rng.normal(size=(B, T, C)).astype(np.float32)
    x[0, 0] = _dislikes_itself(w_query, w_key)
    later = x.copy()
    later[:, t:] = rng.normal(size=(B, T - t, C))
    return {
        "x": x,
        "later": later,
        "full": rng.normal(size=(B, block_size, C)).astype(np.float32),
        # As linear layers keep them: outputs first.
        "query.weight": w_query.T,
        "key.weight": w_key.T,
        "value.weight": w_value.T,
        "B": whole(B),
        "T": whole(T),
        "block_size": whole(block_size),
        "C": whole(C),
        "D": whole(D),
        "E": whole(E),
        "t": whole(t),
    }


def _dislikes_itself(w_query: Array, w_key: Array) -> Array:
    """(C,) A symbol whose query has the lowest score of all with its own key."""
    D = w_query.shape[1]
    product = w_query @ w_key.T / np.sqrt(D)  # (C, C)
    ways, directions = np.linalg.eigh((product + product.T) / 2)
    return np.asarray(directions[:, 0] * np.sqrt(_FAR_BELOW / -ways[0]))


def _head(answer: Any, given: Inputs, *, causal: bool) -> nn.Module:
    """The student's head with the given weights; any bias is set to 0."""
    head = _made(answer, given, causal=causal)
    if not isinstance(head, nn.Module):
        raise TypeError(f"`Head(…)` should make an nn.Module, but it made a {type(head).__name__}")
    names = ("query.weight", "key.weight", "value.weight")
    parameters = load_weights(head, {name: given[name] for name in names})
    with torch.no_grad():
        for name, parameter in parameters.items():
            if name.endswith("bias"):
                parameter.zero_()
    return head.eval()


def _made(answer: Any, given: Inputs, *, causal: bool) -> Any:
    return answer(*(int(given[name]) for name in ("C", "D", "E", "block_size")), causal)


def _attend(answer: Any, given: Inputs, x: str, *, causal: bool) -> Any:
    return _head(answer, given, causal=causal)(tensor(given[x]))


def _attend_again(answer: Any, given: Inputs) -> Any:
    """The output of a head in training mode that has read texts of other lengths before; nothing in
    it should be random.
    """
    head = _head(answer, given, causal=True).train()
    # Copies, in case a head writes into its input.
    head(tensor(given["x"])[:, :2].clone())
    head(tensor(given["full"]).clone())
    return head(tensor(given["x"]))


def _attend_beside_another(answer: Any, given: Inputs) -> Any:
    """The output of a causal head after another one was made that looks both ways."""
    head = _head(answer, given, causal=True)
    _made(answer, given, causal=False)
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
    second=_inputs_at_the_edge,
)
