"""How often drafts are kept, and what is written after them: what 12/drafts is judged by.

Answers draw at random, so they are judged by how often things happen. At each place a row either
keeps its draft or rejects it and writes another symbol. A rule says how probable each of these
outcomes is for each symbol. What has to be written follows from the model's own distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_judges.chance import IMPLAUSIBLE, follows, whole
from course_judges.evidence import Evidence
from course_tasks.answers import Array
from course_tasks.ch12_faster.drafts import SINGLE_ROWS, VOCABULARY, own_symbols

Outcome = Callable[[Array, Array], Array]


def normed(values: Array) -> Array:
    """(V,) divided by their sum."""
    return np.asarray(values / values.sum())


@dataclass(frozen=True)
class Rule:
    """How probable it is that a draft is kept, and what is written if it isn't.

    Attributes
    ----------
    keep : callable (p, q) -> (V,)
        How probable it is that a symbol is kept once it is drafted.
    instead : callable (p, q) -> (V,)
        What is written after a rejection.
    after : callable (p, k) -> (V,)
        What is written after k drafts that were all kept; p is (K + 1, V).
    """

    keep: Outcome = lambda p, q: np.minimum(1, p / q)
    instead: Outcome = lambda p, q: normed(np.maximum(0, p - q))
    after: Callable[[Array, int], Array] = lambda p, k: p[k]


def counts(evidence: Evidence) -> tuple[Array, Array]:
    """(B,) each: how many drafts each row keeps, and its symbol after them."""
    B = evidence.number("B")
    count, symbol = (whole(evidence.shaped(f"chance.{name}", (B,))) for name in ("count", "symbol"))
    if count.dtype.kind not in "iu" or symbol.dtype.kind not in "iu":
        raise ValueError("counts and symbols are whole numbers")
    return count, symbol


def reaching(evidence: Evidence, place: int) -> tuple[Array, Array, Array]:
    """For rows that have a draft at a place and kept all before it: kept, drafted, written."""
    count, symbol = counts(evidence)
    rows = (evidence.inputs["drafted"] > place) & (count >= place)
    return count[rows] > place, evidence.inputs["draft"][rows, place], symbol[rows]


def fits(evidence: Evidence, rule: Rule) -> bool:
    """Whether the answers may come from a rule."""
    p, q = evidence.inputs["p"].astype(float), evidence.inputs["q"].astype(float)
    V = p.shape[1]
    for place in range(len(q)):
        kept, drafted, written = reaching(evidence, place)
        own = p[place]
        keep = np.clip(rule.keep(own, q[place]), 0, 1)
        rejected = 1 - (q[place] * keep).sum()
        instead = rule.instead(own, q[place]) if rejected > 1e-9 else np.zeros(V)
        outcomes = np.concatenate([q[place] * keep, rejected * instead])
        if len(kept) and not follows(np.where(kept, drafted, V + written), outcomes):
            return False
    return fits_after(evidence, rule)


def fits_after(evidence: Evidence, rule: Rule) -> bool:
    """The same for what is written after all drafts of a row were kept."""
    p = evidence.inputs["p"].astype(float)
    count, symbol = counts(evidence)
    for k in (len(p) - 1, len(p) - 2, 0):
        done = (evidence.inputs["drafted"] == k) & (count == k)
        if done.any() and not follows(symbol[done], rule.after(p, k)):
            return False
    return True


def exact(evidence: Evidence) -> bool:
    """Whether symbols at each place follow the model's distribution, by whatever rule."""
    count, _ = counts(evidence)
    drafted = evidence.inputs["drafted"]
    return bool((count >= 0).all() and (count <= drafted).all()) and off_at(evidence) is None


def off_at(evidence: Evidence) -> tuple[int, int, Array] | None:
    """The first place where symbols don't follow the model's distribution, starting with the rows
    that have most drafts: their number of drafts, the place, and what is written there.
    """
    p = evidence.inputs["p"].astype(float)
    count, symbol = counts(evidence)
    drafted, draft = evidence.inputs["drafted"], evidence.inputs["draft"]
    for most in np.unique(drafted)[::-1]:
        for place in range(most + 1):
            rows = (drafted == most) & (count >= place)
            column = min(place, draft.shape[1] - 1)
            written = np.where(count[rows] > place, draft[rows, column], symbol[rows])
            if rows.any() and not follows(written, p[place]):
                return int(most), place, written
    # At the first place, all rows with drafts together tell more than rows of each kind.
    first = np.where(count > 0, draft[:, 0], symbol)[drafted > 0]
    return None if follows(first, p[0]) else (int(drafted.max()), 0, first)


def exact_for_one(evidence: Evidence) -> bool:
    """The same for the few rows that have room for one draft, K = 1, and for what follows a draft
    that is kept.
    """
    count, first, second = of_one(evidence)
    drafted = np.minimum(evidence.inputs["drafted"][:SINGLE_ROWS], 1)
    p = evidence.inputs["p"].astype(float)
    return (
        bool((count >= 0).all() and (count <= drafted).all())
        and follows(first, p[0])
        and (not len(second) or follows(second, p[1]))
    )


def of_one(evidence: Evidence) -> tuple[Array, Array, Array]:
    """With room for one draft: how many each row keeps, what it writes at the first place, and what
    those that keep one write at the second. Symbols are numbered as in all other rows.
    """
    rows = np.arange(SINGLE_ROWS)
    count, symbol = (
        whole(evidence.shaped(f"single.{name}", (SINGLE_ROWS,))) for name in ("count", "symbol")
    )
    # Each row has its symbols shifted by a number of its own, which is undone here.
    meant = (symbol - own_symbols()[:, 0]) % VOCABULARY
    first = np.where(count > 0, evidence.inputs["draft"][rows, 0], meant)
    return count, first, meant[count > 0]


def kept_often(evidence: Evidence) -> bool:
    """Whether no fewer drafts are kept than if those that equal a symbol drawn from p are."""
    p, q = evidence.inputs["p"].astype(float), evidence.inputs["q"].astype(float)
    for place in range(len(q)):
        kept, _, _ = reaching(evidence, place)
        least = float((p[place] * q[place]).sum())
        share = float(kept.mean()) if len(kept) else 0.0
        gap = share * np.log(max(share, 1e-12) / least) + (1 - share) * np.log(
            max(1 - share, 1e-12) / (1 - least)
        )
        if share < least and len(kept) * gap > IMPLAUSIBLE:
            return False
    return True


def obeys_the_generator(evidence: Evidence) -> bool:
    """Whether the same seed gives the same symbols, whatever else is seeded, and another others."""
    first, again, other = (evidence.yours(f"seeded.{name}") for name in ("first", "again", "other"))
    evidence.shaped("seeded.alone", (1,))
    return bool(np.array_equal(first, again)) and not np.array_equal(first, other)
