"""What dropout did to heads: which were dropped, how many, and how the others were scaled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from course_tasks.answers import Array

# In standard deviations: a right answer is farther off than this once in 10⁸ checks.
SURELY = 6.0


@dataclass(frozen=True)
class Draws:
    """Heads after dropout, compared with what they were.

    Attributes
    ----------
    ratio : (B, H, T, D) float
        After, divided by before.
    """

    ratio: Array

    @classmethod
    def of(cls, after: Array, before: Array) -> Draws:
        """Compare (B, H, T, D) with (B, H, T, D), in which no entry is 0."""
        if after.shape != before.shape:
            raise ValueError(f"shape {after.shape}, expected {before.shape}")
        return cls(np.asarray(after, dtype=float) / before)

    @property
    def heads(self) -> int:
        """How many heads a sample has."""
        return int(self.ratio.shape[1])

    @cached_property
    def _alive(self) -> Array:
        """(B, H, T·D) True for entries that are not 0."""
        B, H = self.ratio.shape[:2]
        return np.asarray(self.ratio.reshape(B, H, -1) != 0)

    @cached_property
    def kept(self) -> Array:
        """(B, H) True where something of the head is left."""
        return np.asarray(self._alive.any(axis=2))

    @cached_property
    def broken(self) -> int:
        """How many heads are 0 in some entries and not in others."""
        return int((self.kept != self._alive.all(axis=2)).sum())

    @property
    def whole(self) -> bool:
        """True if every head is kept or dropped as a whole."""
        return self.broken == 0

    @property
    def dropped(self) -> float:
        """Share of the heads that are 0."""
        return float(1 - self.kept.mean())

    @property
    def some_gone(self) -> bool:
        """True if some entries are 0 and some are not, of whole heads or of parts."""
        return 0 < self.factors.size < self.ratio.size

    def dropped_about(self, p: float) -> bool:
        """True if this many can have been dropped with probability p, each independently."""
        spread = np.sqrt(p * (1 - p) / self.kept.size)
        return bool(abs(self.dropped - p) < SURELY * spread)

    @property
    def same_in_all_samples(self) -> bool:
        """True if every sample lost the same heads."""
        return bool((self.kept == self.kept[0]).all())

    @property
    def all_or_none(self) -> bool:
        """True if each sample keeps all of its heads or none of them."""
        return bool((self.kept == self.kept[:, :1]).all())

    @property
    def as_many_in_all_samples(self) -> bool:
        """True if every sample lost the same number of heads."""
        count = self.kept.sum(axis=1)
        return bool((count == count[0]).all())

    @property
    def independent(self) -> bool:
        """True if heads aren't correlated within a sample, between neighboring samples, or between
        the first and the second half of the batch.
        """
        B, H = self.kept.shape
        pairs = [(self.kept[lag:], self.kept[:-lag]) for lag in (1, B // 2)]
        pairs += [(self.kept[:, lag:], self.kept[:, :-lag]) for lag in range(1, H)]
        return all(abs(_correlation(a, b)) < SURELY / np.sqrt(a.size) for a, b in pairs)

    @cached_property
    def factors(self) -> Array:
        """What the entries that are left were multiplied by."""
        return self.ratio[self.ratio != 0]

    def scaled_by(self, factor: float) -> bool:
        """True if everything that is left was multiplied by this number."""
        return bool(self.factors.size) and bool(np.allclose(self.factors, factor, rtol=1e-3))

    @property
    def scaled_by_count(self) -> bool:
        """True if each sample was multiplied by H and divided by the number of heads it kept."""
        count = self.kept.sum(axis=1)  # (B,)
        some = count > 0
        wanted = self.kept.shape[1] / count[some]
        largest = np.abs(self.ratio[some]).max(axis=(1, 2, 3))
        return bool(len(np.unique(count[some])) > 1 and np.allclose(largest, wanted, rtol=1e-3))


def _correlation(a: Array, b: Array) -> float:
    a, b = a.ravel().astype(float), b.ravel().astype(float)
    if a.std() == 0 or b.std() == 0:
        return 1.0  # nothing varies, which is as dependent as can be
    return float(np.corrcoef(a, b)[0, 1])
