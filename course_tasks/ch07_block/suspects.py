"""Blocks that an inspector is given, and what its runs of them can show.

A block is given as numbers, and no name says what they mean: only the judge knows which blocks are
sound. An inspector might still find the numbers, so its answer counts only if its runs of the block
could show the fault.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from course_tasks.answers import Array

# Beside inputs this large the branches hardly matter: the output is the stream alone.
_LARGE = 100.0
# An inspector may use a batch of any size, but more samples than this would show nothing new.
_MOST_SAMPLES = 16


class BlockBehavior(NamedTuple):
    """What a block does, in numbers.

    Attributes
    ----------
    hears : (4, 3) float
        The weight with which a position reads another one (0 for not at all), by the sign of the
        difference of their places, −1 to 1, and of their samples. The last row is for the first
        position, to which all others are later.
    over : (2, 3) bool
        The dimensions over which each of the two norms averages.
    carries : (2,) float
        By how much the stream is multiplied before each branch is added.
    before : () bool
        Whether the norms come before the branches or after them.
    """

    hears: Array
    over: Array
    carries: Array
    before: Array


def suspect(form: BlockBehavior, weights: Tensor, gains: Tensor, x: Tensor) -> Tensor:
    """Run a block of two branches, one like attention and one like a feed-forward network.

    Parameters
    ----------
    form : BlockBehavior
    weights : (2, C, C) float64
        Of the branches.
    gains : (2, C) float64
        Of the norms.
    x : (B, T, C) float64

    Returns
    -------
    (B, T, C) float64
    """
    for k, branch in enumerate((_gather, _think)):
        over = tuple(int(dim) for dim in np.flatnonzero(form.over[k]))
        read = _norm(x, gains[k], over) if form.before else x
        x = float(form.carries[k]) * x + branch(read, weights[k], form.hears)
        if not form.before:
            x = _norm(x, gains[k], over)
    return x


def _norm(x: Tensor, gain: Tensor, over: tuple[int, ...]) -> Tensor:
    centred = x - x.mean(dim=over, keepdim=True)
    return gain * centred / (centred.square().mean(dim=over, keepdim=True) + 1e-5).sqrt()


def _gather(x: Tensor, weight: Tensor, hears: Array) -> Tensor:
    """Attention without learned queries, over all positions of all samples at once."""
    B, T, C = x.shape
    later, below = _relations(B, T)
    flat = x.flatten(0, 1)  # (B, T, C) → (B·T, C)
    mask = torch.from_numpy(hears).log()[later, below]  # (B·T, B·T): −∞ where nothing is read
    scores = flat @ weight @ flat.T / C + mask  # (B·T, B·T)
    return (scores.softmax(dim=-1) @ flat).unflatten(0, (B, T))  # (B·T, C) → (B, T, C)


@cache
def _relations(B: int, T: int) -> tuple[Tensor, Tensor]:
    """(B·T, B·T) each: whether a position is later (2), at the same place (1) or earlier (0) than
    another, or the first and earlier (3); and whether its sample comes later, is the same, or comes
    earlier.
    """
    places, samples = torch.arange(T).repeat(B), torch.arange(B).repeat_interleave(T)  # (B·T,)
    later = (places[:, None] - places).sign() + 1
    later[(places[:, None] == 0) & (later == 0)] = 3
    return later, (samples[:, None] - samples).sign() + 1


def _think(x: Tensor, weight: Tensor, hears: Array) -> Tensor:  # noqa: ARG001
    return (x @ weight).relu()


def begin_alike(a: Array, b: Array) -> bool:
    """True if a sample of a begins like one of b and continues differently; (B, T, C) each."""
    return any(np.array_equal(p[0], q[0]) and not np.array_equal(p, q) for p in a for q in b)


def share_a_sample(a: Array, b: Array) -> bool:
    """True if both inputs contain the same sample with different others; (B, T, C) each."""
    return not np.array_equal(a, b) and any(np.array_equal(p, q) for p in a for q in b)


def tell_the_stream(a: Array, b: Array) -> bool:
    """True if two positions differ only by what a norm subtracts, if a position contains nothing
    else, or if the numbers are so large that the branches hardly matter.
    """
    return _norms_tell(a, b, _normed(a), _normed(b))


def _norms_tell(a: Array, b: Array, normed: Array, other_normed: Array) -> bool:
    """The result of `tell_the_stream`, from both inputs and their normalized versions."""
    if np.abs(normed).max(-1).min() < 0.1 or np.abs(a).max() > _LARGE:
        return True
    # This runs for every run of a block, so what takes long is done only if it can matter.
    rows = [x.reshape(-1, x.shape[-1]) for x in (normed, other_normed, a, b)]
    one, other = np.nonzero((rows[0][:, None] == rows[1]).all(-1))  # positions that norm alike
    return bool((rows[2][one] != rows[3][other]).any())


def _normed(x: Array) -> Array:
    """Normalized and rounded so coarsely that single precision doesn't change most positions."""
    spread = np.maximum(x.std(-1, keepdims=True), 1e-5 * max(1.0, np.abs(x).max()))
    return np.asarray(((x - x.mean(-1, keepdims=True)) / spread).round(1) + 0.0)


SHOWS: dict[str, Callable[[Array, Array], bool]] = {
    "future": begin_alike,
    "batch": share_a_sample,
    "stream": tell_the_stream,
}
"""What must be true of two inputs of a block so that its outputs show whether it has a fault."""

# Two inputs can only show a fault together if they share a key (for the stream, once normalized).
_KEYS: dict[str, Callable[[Array], Array]] = {
    "future": lambda x: x[:, 0],  # (B, T, C) → (B, C)
    "batch": lambda x: x.reshape(len(x), -1),  # (B, T, C) → (B, T·C)
    "stream": lambda normed: normed.reshape(-1, normed.shape[-1]),  # (B, T, C) → (B·T, C)
}


class InputRecorder:
    """Keeps two of a block's inputs for each fault that they can show.

    Attributes
    ----------
    pairs : dict of str to tuple of ndarray
        The first two inputs for which `SHOWS` is True, by the fault's name.
    derivatives : int
        How often a derivative was taken through the block; one is enough for all faults.
    """

    def __init__(self) -> None:
        self.pairs: dict[str, tuple[Array, Array]] = {}
        self.derivatives = 0
        self._seen: dict[str, dict[bytes, Array]] = {name: {} for name in SHOWS}
        self._normed: dict[int, Array] = {}  # by the `id` of a kept input

    def keep(self, x: Tensor, y: Tensor) -> None:
        """Note one run: what went in, (B, T, C), and what came out."""
        if y.requires_grad:
            y.register_hook(lambda _: self._derive())
        try:
            array = x.detach().numpy().astype(np.float64)
        except RuntimeError:  # no plain numbers, because this is inside `vmap` or `jvp`
            self._derive()
            return
        array = array[:_MOST_SAMPLES]
        for name in SHOWS.keys() - self.pairs.keys():
            seen, asked = self._seen[name], array
            if name == "stream":
                asked = self._normed[id(array)] = _normed(array)
            near = [seen.setdefault(key.tobytes(), array) for key in _KEYS[name](asked)]
            for other in {id(one): one for one in near}.values():
                if self._show(name, other, array):
                    self.pairs[name] = (other, array)
                    break

    def _show(self, fault: str, one: Array, other: Array) -> bool:
        """The result of `SHOWS` for two inputs, without normalizing an input twice."""
        if fault != "stream":
            return SHOWS[fault](one, other)
        return _norms_tell(one, other, self._normed[id(one)], self._normed[id(other)])

    def _derive(self) -> None:
        self.derivatives += 1
