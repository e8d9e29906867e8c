"""Softmax and scale: what temperature and head size do to attention weights, and why √D helps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_figures import still
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.traits import Array, Flag, Number

PAIRS = 256
"""Queries and keys that are drawn; the variance of so many is off by 9 % (one sigma)."""

LARGEST = 128
"""The largest head size D that the figure draws vectors for."""

FEWEST, MOST = 2, 8
"""How many scores a row may have."""

REACH = 10.0
"""The largest score, either sign; with it, e^score still has a width that a bar can show."""


@dataclass(frozen=True)
class Row:
    """One row of attention weights and what can be said about it.

    Attributes
    ----------
    logits : (T,) float
        What the softmax is given.
    weights : (T,) float
        Positive, adding up to 1.
    entropy : float
        −Σ w log w, in nats: 0 if one position takes all, log T if all share alike.
    gradient : float
        Frobenius norm of the Jacobian ∂weights/∂logits = diag(w) − w wᵀ: how far a step of length
        one in the logits moves the weights, over all directions. At most 1/2, and 0 where the
        softmax is saturated.
    """

    logits: np.ndarray
    weights: np.ndarray
    entropy: float
    gradient: float


def softmax_row(scores: np.ndarray, temperature: float, head_size: int, scaled: bool) -> Row:
    """Softmax of one row of scores, as a head of size D would compute it.

    Parameters
    ----------
    scores : (T,) float
        Dot products as they are after the division by √D: of variance 1 for random vectors.
    temperature : float
        τ > 0; the logits are divided by it.
    head_size : int
        D. The dot products q·k themselves are √D times the scores.
    scaled : bool
        Whether q·k is divided by √D; then D has no effect on the weights.

    Returns
    -------
    Row
        With logits = scores · √D / τ, or scores / τ if scaled.

    Source: Vaswani et al. (2017), section 3.2.1.
    """
    scale = 1.0 if scaled else float(np.sqrt(head_size))
    logits = np.asarray(scores, np.float64) * scale / temperature
    raised = np.exp(logits - logits.max())
    weights = raised / raised.sum()
    positive = weights[weights > 0]  # w log w is 0 at w = 0
    entropy = max(0.0, -float(positive @ np.log(positive)))
    jacobian = np.diag(weights) - np.outer(weights, weights)  # (T, T)
    return Row(logits, weights, entropy, float(np.linalg.norm(jacobian)))


def normal_pairs(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal numbers that the figure's module draws in the same way.

    Parameters
    ----------
    seed : int
        From 0 to 2³² − 1.
    count : int
        How many pairs.

    Returns
    -------
    (count,) float, (count,) float
        Independent of each other.

    Source: a Weyl sequence through the finaliser of MurmurHash3 (Appleby, 2011), then Box and
    Muller (1958).
    """
    low = np.uint64(0xFFFFFFFF)
    bits = (np.uint64(seed) + np.arange(1, 2 * count + 1, dtype=np.uint64) * 0x9E3779B9) & low
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        bits ^= bits >> np.uint64(shift)
        bits = (bits * np.uint64(factor)) & low
    bits ^= bits >> np.uint64(16)
    uniform = (bits + 0.5) / 2.0**32  # inside (0, 1), so that its logarithm is finite
    radius = np.sqrt(-2 * np.log(uniform[:count]))
    angle = 2 * np.pi * uniform[count:]
    return radius * np.cos(angle), radius * np.sin(angle)


def dot_products(seed: int) -> np.ndarray:
    """Dot products q·k of random vectors, for every head size at once.

    Parameters
    ----------
    seed : int
        From 0 to 2³² − 1.

    Returns
    -------
    (PAIRS, LARGEST) float
        Entry (n, D − 1): pair n, over its first D channels.
    """
    query, key = normal_pairs(seed, PAIRS * LARGEST)
    return (query * key).reshape(PAIRS, LARGEST).cumsum(axis=1)


def variances(seed: int) -> np.ndarray:
    """Variance of the dot products over the pairs, for D = 1 … LARGEST; divide by D for q·k/√D.

    Parameters
    ----------
    seed : int
        From 0 to 2³² − 1.

    Returns
    -------
    (LARGEST,) float
        As `numpy.var` has it; D itself is what an endless sample has.
    """
    return dot_products(seed).var(axis=0)


class SoftmaxAndScale(Figure):
    """Scores, temperature and head size on one side, what they do to the softmax on the other.

    Beside it stand the variances of sampled dot products, with and without the division by √D.

    Parameters
    ----------
    scores : (T,) float
        From 2 to 8 scores between −10 and 10, in units of √D: see `softmax_row`.
    temperature : float
        τ, from 0.1 to 10.
    head_size : int
        D, channels of query and key, from 1 to 128.
    scaled : bool
        Whether q·k is divided by √D.
    seed : int
        Which random vectors are drawn.

    Raises
    ------
    FigureError
        If a value is outside these bounds or not finite.
    ShapeError
        If scores is not one row.
    """

    title = "Softmax and scale"

    scores = Array("T", finite=True, default=(2.0, 1.0, 0.5, 0.0, -1.0))
    temperature = Number(1.0, 0.1, 10)
    head_size = Number(16, 1, LARGEST, whole=True)
    scaled = Flag(True)
    seed = Number(1, 0, 2**32 - 1, whole=True)

    def check(self) -> None:
        """Refuse rows that are too short, too long or too wide to be drawn."""
        if not FEWEST <= len(self.scores) <= MOST:
            raise FigureError(
                f"SoftmaxAndScale.scores has {len(self.scores)} scores: "
                f"give one row of {FEWEST} to {MOST}, such as scores[0, t, :{MOST}]"
            )
        if np.abs(self.scores).max() > REACH:
            raise FigureError(
                f"SoftmaxAndScale.scores reaches {np.abs(self.scores).max():g} in size: "
                f"give scores from −{REACH:g} to {REACH:g}, or divide them by √D first"
            )

    @computed
    def row(self) -> Row:
        """The weights of the present state, their entropy and their gradient."""
        return softmax_row(self.scores, self.temperature, self.head_size, self.scaled)

    @computed
    def variances(self) -> tuple[float, float]:
        """Variance of the sampled q·k at the present D, and of q·k/√D."""
        raw = float(variances(self.seed)[self.head_size - 1])
        return raw, raw / self.head_size

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        row, (raw, scaled) = self.row, self.variances
        n, top, T = still.number, int(row.weights.argmax()), len(self.scores)
        scores = ", ".join(n(float(score)) for score in self.scores)
        divided = "divided" if self.scaled else "not divided"
        return (
            f"Scores {scores} at temperature {n(self.temperature)}, D = {self.head_size}, "
            f"{divided} by √D: the largest weight is {n(float(row.weights[top]))}, on position "
            f"{top}. Entropy {n(row.entropy)} of at most {n(float(np.log(T)))} nats, gradient "
            f"{n(row.gradient, 3)}. The sampled variance of q·k is {n(raw, 1)}, that of q·k/√D "
            f"{n(scaled)}."
        )

    def still(self) -> str:
        """Bars of the weights over the scores, and the two variances along D."""
        parts = [still.text(20, 20, "weights", "start", 14)]
        width = 300 / len(self.scores)
        for i, (score, weight) in enumerate(zip(self.scores, self.row.weights, strict=True)):
            x, height = 20 + i * width, 150 * float(weight)
            parts += [
                f'<rect x="{x + 4:g}" y="{200 - height:.1f}" width="{width - 8:g}" '
                f'height="{height:.1f}" rx="2" fill-opacity="0.45"/>',
                still.text(x + width / 2, 190 - height, still.number(float(weight)), size=12),
                still.text(x + width / 2, 216, still.number(float(score)), size=12),
            ]
        parts += [
            '<path d="M20 200h300" stroke="currentColor"/>',
            still.text(20, 238, "score of each position", "start", 12),
            *_variance_chart(self.seed),
        ]
        return still.picture(680, 260, self.alt, parts)


def _variance_chart(seed: int) -> list[str]:
    """The two variances along D, both axes doubling from line to line."""
    raw, sizes = variances(seed), 2 ** np.arange(8)
    parts = [still.text(390, 20, "variance over D", "start", 14)]

    def place(size: float, variance: float) -> tuple[float, float]:
        return 390 + 34 * float(np.log2(size)), 170 - 18 * float(np.log2(variance))

    for size in (1, 4, 16, 64):
        x, y = place(size, size)
        parts += [
            f'<path d="M390 {y:g}h240" stroke="currentColor" stroke-opacity="0.2"/>',
            still.text(382, y, str(size), "end", 12),
            still.text(x, 216, str(size), size=12),
        ]
    for variance, name, dash in ((raw, "q·k", ""), (raw / np.arange(1, 129), "q·k/√D", "5 4")):
        points = [place(float(size), float(variance[size - 1])) for size in sizes]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts += [
            f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>',
            still.text(points[-1][0] + 6, points[-1][1], name, "start", 12),
        ]
    return [*parts, still.text(509, 238, "head size D", size=12)]
