"""What several tasks ask of a matrix of weights, and how they word what they find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from course_judges.ch01_averages.sections import FUTURE, MEANS
from course_judges.judging import Evidence, Property
from course_judges.properties import NEGLIGIBLE, no_weight_on_the_future
from course_judges.wording import listed, number, numbers_apart, row, unwrapped, word
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
    """A property: each row looks at exactly the positions at which the right one looks."""
    mine, right = matrix(evidence), evidence.right("weights").reshape(matrix(evidence).shape)
    seen, expected = np.abs(mine) > NEGLIGIBLE, np.abs(right) > NEGLIGIBLE
    wrong = np.flatnonzero((seen != expected).any(axis=1))
    if not len(wrong):
        return None
    t = int(wrong[0])
    sizes = f" (with {evidence.sizes()})" if evidence.sizes() else ""
    return Finding(
        "wrong-positions",
        "Your weights are on other positions than the task asks for.",
        unwrapped(f"""Row {t} of yours gives weight to {positions(mine[t])}, but it should see
        {positions(right[t])}{sizes}. {all_look(seen)}""").strip(),
        FUTURE,
    )


def all_look(seen: Array, who: str = "row", sees: str = "see") -> str:
    """One sentence on where all rows of (T, T) look; empty if there is none. It calls a row `who`,
    and what it does `sees`.
    """
    T = len(seen)
    t, s = np.arange(T)[:, None], np.arange(T)
    back = t - s
    every, none, rows = f"Every {who} of yours {sees}s", f"No {who} of yours {sees}s", f"{who}s"
    for where, words in (
        (back == back, f"{every} all positions."),
        (back == 0, f"{every} only its own position."),
        (back == 1, f"{every} only the position before it."),
        (back == -1, f"{every} only the position after it."),
        (back != 0, f"{every} all positions except its own."),
        (back < 0, f"{every} what comes after it, and nothing else."),
        (back <= 0, f"{every} its own position and what comes after it."),
        (back >= 0, f"{every} its own position and all before it."),
        (back >= -1, f"{every} the next position besides its own and what comes before it."),
    ):
        if np.array_equal(seen, where):
            return words
    for k in range(1, T):
        it = f"{word(k)} positions" if k > 1 else "position"
        for where, words in (
            ((back >= 0) & (back < k), f"{none} more than the last {it}, its own included."),
            ((back > 0) & (back <= k), f"{none} more than the {it} before its own."),
            (back < k, f"{every} all that comes after it, and no more than the last {it}."),
            ((back <= 0) & (back > -k), f"{none} more than the next {it}, its own included."),
            ((back >= 0) & (s < k), f"{none} more than the first {it} of the sequence."),
            ((back > 0) & (s < k), f"{none} more than the first {it} of the sequence."),
            ((back >= 0) & (s >= k), f"{none} the first {it} of the sequence."),
            ((back > 0) & (s >= k), f"{none} the first {it} of the sequence."),
            (back >= k + 1, f"{none} its own position or the {it} before it."),
            (np.abs(back) <= k, f"Your {rows} {sees} {word(k)} ahead as well as {word(k)} back."),
        ):
            if np.array_equal(seen, where):
                return words
    same = (seen == seen[0]).all()
    return f"All your {rows} {sees} the same: {positions(seen[0])}." if same else ""


def sees_the_future(case: str) -> Property:
    """A property: no row gives weight to what comes after it; with where all rows look."""

    def ask(evidence: Evidence) -> Finding | None:
        finding = no_weight_on_the_future(case, FUTURE)(evidence)
        if finding is None:
            return None
        mine = evidence.yours(case)
        seen = np.abs(mine.reshape(mine.shape[-2:])) > NEGLIGIBLE
        return replace(finding, effect=f"{finding.effect} {all_look(seen)}".strip())

    return ask


def right_but_alone(seen: str, section: Section) -> Property:
    """A property: what is right for several positions has to be right for a single one.

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
            unwrapped(f"""{evidence.called_with("alone")} {seen} You return {number(mine[wrong])},
            but {number(right[wrong])} is expected.""").strip(),
            section,
        )

    return ask


def laid_along_a_row(evidence: Evidence) -> str:
    """What happens to rows whose divisors are not in a column."""
    mine = matrix(evidence)
    T, sums = len(mine), mine.sum(1)
    t = int(np.argmax(np.nan_to_num(np.abs(sums - 1), nan=np.inf)))
    return (
        f"Broadcasting lays row sums or counts of shape ({T},) along a row, so each column is "
        f"divided by one of them. This raises no error, but row {t} of your matrix sums to "
        f"{number(sums[t])}."
    )


def divides_by_another_count(*cases: str) -> Property:
    """A property: each row of weights is divided by how many positions it sees. The divisor is read
    off a row in which all visible positions count the same.
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
    """`off` holds the wrong rows, each with how many positions it sees and its divisor."""
    t, k, divisor = off[0]
    by = [numbers_apart(divided, seen)[0] for _, seen, divided in off]
    others = ""
    if len(off) > 1:
        listed_rows, seen, _ = zip(*off, strict=True)
        others = (
            f" Rows {listed(listed_rows)} see {listed(seen)} positions and are divided by "
            f"{', '.join(by)}."
        )
    if len(off) < rows:
        others += " All other rows are right."
    return Finding(
        "divides-by-another-count",
        "You don't divide every row by the number of positions that it sees.",
        unwrapped(f"""Row {t} sees the {word(k)} position{"s" if k > 1 else ""} that it should and
        gives {"each" if k > 1 else "it"} the weight {numbers_apart(1 / divisor, 1 / k)[0]}, as if
        you had divided by {by[0]}. Divided by {k}, the row would sum to 1.{others}
        {_of_all_divisors(off, rows)}""").strip(),
        MEANS,
    )


def _of_all_divisors(off: list[tuple[int, int, float]], rows: int) -> str:
    """What the divisors of the wrong rows have in common, in a sentence."""
    seen, by = (np.array([one[i] for one in off], dtype=float) for i in (1, 2))
    if len(off) < 2:
        return ""
    if np.ptp(by) < 1e-3 * by.max() and len(off) >= rows - 1:
        return "You divide all of them by the same number, but each row has a count of its own."
    more = by - seen
    if np.ptp(more) < 1e-3 * np.abs(more).max():
        side = "more" if more[0] > 0 else "less"
        return f"Each of these divisors is {number(abs(float(more.mean())))} {side} than the count."
    return ""


def uneven(*cases: str) -> Property:
    """A property: in each row of weights, all visible positions count the same."""

    def ask(evidence: Evidence) -> Finding | None:
        for case in cases:
            weights = evidence.yours(case)
            for t, weighed in enumerate(weights.reshape(weights.shape[-2:])):
                seen = weighed[np.abs(weighed) > NEGLIGIBLE]
                if len(seen) and np.ptp(seen) > 1e-4:
                    return Finding(
                        "uneven-weights",
                        "The positions that a row of yours sees don't all count the same.",
                        unwrapped(f"""Row {t} is {row(weighed)}, but in an average of k positions
                        each of them counts 1/k. {_how_uneven(weights)}""").strip(),
                        MEANS,
                    )
        return None

    return ask


def _how_uneven(weights: Array) -> str:
    """How the weights of the last row grow from the oldest to the newest position."""
    last = np.asarray(weights.reshape(weights.shape[-2:])[-1], dtype=np.float64)
    seen = last[np.abs(last) > NEGLIGIBLE]
    if len(seen) < 4 or (seen <= 0).any():
        return ""
    steps = np.diff(seen)
    if np.ptp(steps) > 1e-3 * np.abs(steps).max():
        return ""
    way = "grow" if steps[0] > 0 else "fall"
    return unwrapped(f"""In the last row, your weights {way} by the same amount,
    {number(abs(float(steps[0])))}, from each position to the next.""")
