"""What several tasks ask of a matrix of weights, and how they word what they find."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_judges.ch01_averages.sections import FUTURE, MEANS
from course_judges.judging import Evidence, Property
from course_judges.properties import NEGLIGIBLE
from course_judges.wording import listed, number, row, word
from course_tasks.answers import Array
from course_tasks.verdict import Finding, Section


def positions(weights: Array) -> str:
    """Where a row of weights looks, in words."""
    seen = np.flatnonzero(np.abs(weights) > NEGLIGIBLE)
    if not len(seen):
        return "no position"
    if len(seen) > 4 and seen[-1] - seen[0] + 1 == len(seen):
        return f"positions {seen[0]} … {seen[-1]}"
    return f"position{'s' if len(seen) > 1 else ''} {listed(seen)}"


def matrix(evidence: Evidence) -> Array:
    """(T, T) weights of the student's answer."""
    mine = evidence.yours("weights")
    return np.asarray(mine[0] if mine.ndim == 3 else mine, dtype=np.float64)


def same_places(case: str, first_row: int = 0) -> Callable[[Evidence], bool]:
    """True of weights that are 0 where the reference's are, and nowhere else."""

    def holds(evidence: Evidence) -> bool:
        mine, right = evidence.yours(case), evidence.right(case)
        if mine.shape != right.shape:
            return False
        mine, right = mine[..., first_row:, :], right[..., first_row:, :]
        finite = bool(np.isfinite(mine).all())
        return finite and np.array_equal(np.abs(mine) > NEGLIGIBLE, np.abs(right) > NEGLIGIBLE)

    return holds


def sees_the_right_positions(evidence: Evidence) -> Finding | None:
    """A property of weights that have to look at some positions, all of them, and no others."""
    mine, right = matrix(evidence), evidence.right("weights").reshape(matrix(evidence).shape)
    seen, expected = np.abs(mine) > NEGLIGIBLE, np.abs(right) > NEGLIGIBLE
    wrong = np.flatnonzero((seen != expected).any(axis=1))
    if not len(wrong):
        return None
    t = int(wrong[0])
    sizes = f" (with {evidence.sizes()})" if evidence.sizes() else ""
    return Finding(
        "wrong-positions",
        "The weights lie on other positions than asked for.",
        f"Row {t} of yours gives weight to {positions(mine[t])}; it should be "
        f"{positions(right[t])}{sizes}. {_in_common(seen, expected)}".strip(),
        FUTURE,
    )


def _in_common(seen: Array, expected: Array) -> str:
    """What the rows have in common that look at other positions than they should."""
    wrong = (seen != expected).any(axis=1)
    rows = np.flatnonzero(wrong)
    if len(rows) == 1:
        t, last = int(rows[0]), len(seen) - 1
        asks = "" if seen[t].any() or t not in (0, 1, last) else " If you loop: does it reach it?"
        return f"That is the only such row.{asks}"
    which = (
        "All rows"
        if wrong.all()
        else f"All rows from {rows[0]} on"
        if wrong[rows[0] :].all()
        else "These rows"
    )
    if not seen[wrong].any():
        return f"{which if which != 'These rows' else f'Rows {listed(rows)}'} of yours are empty."
    back = np.arange(len(seen))[:, None] - np.arange(len(seen))
    for off, verb in ((seen & ~expected, "see"), (expected & ~seen, "do not see")):
        if (seen != expected)[~off].any() or len(np.unique(back[off])) > 1:
            continue
        step = int(back[off][0])
        place = (
            "themselves"
            if step == 0
            else f"the position {word(abs(step))} step{'s' if abs(step) > 1 else ''} "
            f"{'back' if step > 0 else 'ahead'}"
        )
        too = ", which they should not" if verb == "see" else ""
        if which == "These rows":
            which = f"Rows {listed(rows)}"
        return f"{which} {verb} {place}{too}; otherwise they look where they should."
    return ""


def right_but_alone(seen: str, section: Section) -> Property:
    """A property: what is right of several positions has to be right of a single one.

    `seen` says what a single position sees, and what follows from that.
    """

    def ask(evidence: Evidence) -> Finding | None:
        if evidence.wrong_values != ("alone",) or not evidence.comparable("alone"):
            return None
        mine, right = evidence.yours("alone"), evidence.right("alone")
        if np.isnan(mine).any():
            return None
        wrong = tuple(np.argwhere(np.abs(mine - right) > NEGLIGIBLE)[0])
        return Finding(
            "wrong-for-one-position",
            "Your answer is wrong for a sequence of one position.",
            f"{evidence.called_with('alone')} {seen} You return {number(mine[wrong])}, expected "
            f"{number(right[wrong])}.",
            section,
        )

    return ask


def column_sums(evidence: Evidence) -> str:
    """What dividing by the sums of the columns does to the rows."""
    mine = matrix(evidence)
    return (
        f"The columns of your matrix sum to 1; row 0 sums to {number(mine[0].sum())}, "
        f"row {len(mine) - 1} to {number(mine[-1].sum())}. Row t says what position t sees, "
        "so it is the rows that have to sum to 1: `sum(dim=1, keepdim=True)`."
    )


def laid_along_a_row(evidence: Evidence) -> str:
    """What divisors of rows do to the rows where they are not in a column."""
    mine = matrix(evidence)
    T, sums = len(mine), mine.sum(1)
    t = int(np.argmax(np.nan_to_num(np.abs(sums - 1), nan=np.inf)))
    return (
        f"Row sums or counts of shape ({T},) are laid along a row by broadcasting, so each column "
        f"gets one of them. No error, but row {t} of your matrix sums to {number(sums[t])}."
    )


def divides_by_another_count(*cases: str) -> Property:
    """A property of weights that are to be means of what they see: the divisor of a row, read off
    it where all that it sees counts the same.
    """

    def ask(evidence: Evidence) -> Finding | None:
        for case in cases:
            right = evidence.right(case)
            mine = evidence.yours(case).reshape(right.shape)
            T = right.shape[-1]
            divided = []
            for t, (weights, expected) in enumerate(
                zip(mine.reshape(-1, T), right.reshape(-1, T), strict=True)
            ):
                seen = expected > NEGLIGIBLE
                k = int(seen.sum())
                if not k:
                    continue
                first = float(weights[seen][0])
                even = np.allclose(weights, np.where(seen, first, 0), atol=1e-5)
                if abs(first) < NEGLIGIBLE or not even:
                    return None
                divided.append((t, k, 1 / first))
            off = [one for one in divided if abs(one[1] / one[2] - 1) > 1e-4]
            if off:
                return _of_another_count(off, len(divided))
        return None

    return ask


def _of_another_count(off: list[tuple[int, int, float]], rows: int) -> Finding:
    """Rows with how many positions they see and what they are divided by."""
    t, k, divisor = off[0]
    others = ""
    if len(off) > 1:
        listed_rows, seen, by = zip(*off, strict=True)
        others = (
            f" Rows {listed(listed_rows)} see {listed(seen)} positions, and are divided by "
            f"{', '.join(number(one) for one in by)}."
        )
    if len(off) < rows:
        others += " The others are right."
    return Finding(
        "divides-by-another-count",
        "A row is not divided by how many positions it sees.",
        f"Row {t} sees what it should, {word(k)} position{'s' if k > 1 else ''}, and gives "
        f"{'each' if k > 1 else 'it'} the weight {number(1 / divisor)}, as if divided by "
        f"{number(divisor)}; divided by {k}, the row sums to 1.{others}",
        MEANS,
    )


def uneven(*cases: str) -> Property:
    """A property of weights in whose rows all that is seen is to count the same."""

    def ask(evidence: Evidence) -> Finding | None:
        for case in cases:
            weights = evidence.yours(case)
            for t, weighed in enumerate(weights.reshape(weights.shape[-2:])):
                seen = weighed[np.abs(weighed) > NEGLIGIBLE]
                if len(seen) and np.ptp(seen) > 1e-4:
                    return Finding(
                        "uneven-weights",
                        "What a row sees does not all count the same.",
                        f"Row {t} is {row(weighed)}. In an average of k positions each counts 1/k.",
                        MEANS,
                    )
        return None

    return ask
