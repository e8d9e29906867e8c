"""What an answer put in place of heads, as the calls of its model show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from course_judges.equality import close
from course_judges.judging import Evidence
from course_judges.quoting import farthest_index
from course_judges.wording import listed, number, row
from course_judges.wrong_arrays.comparisons import compared
from course_tasks.answers import Array
from course_tasks.verdict import Finding, Section

# What is put in place of a head may differ from text to text and from position to position.
_EVERYWHERE = ("layer", "head", "text", "position", "channel")


def put(
    evidence: Evidence,
    case: str,
    right: Array,
    what: str,
    section: Section,
    texts: str,
) -> Finding | None:
    """What is wrong with what an answer put in place of heads; None if nothing is, or if the calls
    don't show it.

    Parameters
    ----------
    evidence : Evidence
    case : str
        Under which the values of `Watched.seen` are.
    right : (L, H, …, D) ndarray
        What each head should find instead.
    what : str
        What should be put there, in words: "its mean over the reference".
    section : Section
    texts : str
        The argument with the texts that are read while a head is replaced.
    """
    unknown = evidence.yours(f"{case}.unknown")
    mine = evidence.yours(f"{case}.handed").astype(float)
    L, H = right.shape[:2]
    if len(unknown):
        layer, head = (int(n) for n in unknown[0])
        swapped = all(k < H and h < L for k, h in unknown)
        return Finding(
            "no-such-head",
            f"You replace head {head} of layer {layer}, which the model doesn't have.",
            f"It has {L} layers with {H} heads each, both counted from 0, and the key is "
            "(layer, head). So this call replaces nothing."
            + (" Did you exchange the two?" if swapped else ""),
            section,
        )
    known = ~np.isnan(mine).reshape(L, H, -1).any(-1)
    if not known.any():
        many = int(evidence.yours(f"{case}.together"))
        return _together(many, section) if many > 1 else _elsewhere(many, texts, section)
    if not known.all():
        layer, head = (int(n) for n in np.argwhere(~known)[0])
        return Finding(
            "head-left-out",
            f"You never replace head {head} of layer {layer} by itself.",
            f"There are {L} layers with {H} heads each, and each head is replaced in a call of "
            "its own. Do your loops go through all of them?",
            section,
        )
    right = np.broadcast_to(right, mine.shape)
    if close(mine, right).all():
        return None
    if mine.ndim == right.ndim == len(_EVERYWHERE):
        fine = close(mine, right).all(-1).reshape(L * H, *mine.shape[2:4])
        if fine.any(axis=(1, 2)).all() and not fine.all(axis=(1, 2)).any():
            said = f"You replace a head by {what} {_only_where(fine)}."
            return _other(said, mine, right, what, section)
    return _other(f"You don't replace each head by {what}.", mine, right, what, section)


def _together(many: int, section: Section) -> Finding:
    return Finding(
        "several-replaced",
        f"You replace {many} heads in one call, but one head is replaced at a time.",
        "Make a new dict for each call, with a single key (layer, head).",
        section,
    )


def _elsewhere(many: int, texts: str, section: Section) -> Finding:
    if not many:
        return Finding(
            "nothing-replaced",
            "You never call `run` with a head to be replaced.",
            "`run(texts, {(layer, head): other})` lets this head find `other` instead.",
            section,
        )
    return Finding(
        "other-texts",
        f"No call in which you replace a head reads `{texts}` as it is given.",
        f"A replaced head is tried on `{texts}`. Which texts does `run` get there?",
        section,
    )


def _other(said: str, mine: Array, right: Array, what: str, section: Section) -> Finding:
    off = abs(mine - right).reshape(*mine.shape[:2], -1).max(-1)
    layer, head = (int(n) for n in np.unravel_index(int(off.argmax()), off.shape))
    rows = (side[layer, head].reshape(-1, side.shape[-1]) for side in (mine, right))
    yours, wanted = rows
    place = int(abs(yours - wanted).max(-1).argmax())
    steady = close(yours, yours[:1]).all() and close(wanted, wanted[:1]).all()
    where = "" if steady else _place(place, mine.shape)
    return Finding(
        "other-replacement",
        said,
        f"For head {head} of layer {layer}, you put {row(yours[place])}{where}, but {what} is "
        f"{row(wanted[place])}.",
        section,
    )


def _only_where(fine: Array) -> str:
    """Where heads (N, B, T) are replaced as they should be, if that is not everywhere."""
    texts, positions = (np.asarray(fine.all(axis=axes)) for axes in ((0, 2), (0, 1)))
    if (fine == texts[:, None]).all():
        return f"in text {listed(np.flatnonzero(texts))} only, but it has to be in all of them"
    if (fine == positions).all():
        some = np.flatnonzero(positions)
        s = "s" if len(some) > 1 else ""
        return f"at position{s} {listed(some)} only, but it has to be at all of them"
    return "at only some positions, but it has to be at all of them"


def _place(place: int, shape: Sequence[int]) -> str:
    """Where one of the vectors (B · T, D) of a head is."""
    text, position = np.unravel_index(place, shape[2:4])
    return f" at position {position} of text {text}"


def heads_right(mine: Array, right: Array) -> str:
    """A sentence on how many of the numbers (L, H) are right; empty if none is."""
    good = close(mine, right)
    if not good.any():
        return ""
    if good.sum() == 1:
        layer, head = (int(n) for n in np.argwhere(good)[0])
        return f"Only head {head} of layer {layer} is right. "
    return f"{good.sum()} of {good.size} heads are right. "


def worked_out(numbers: Mapping[str, float]) -> str:
    """Numbers in words, in the order given: "a is 1, and b is 2"."""
    said = [f"{name} is {number(value, 4)}" for name, value in numbers.items()]
    return f"{', '.join(said[:-1])} and {said[-1]}"


def measured(
    evidence: Evidence,
    value: str,
    whole: float,
    broken: Callable[[int, int], float],
    section: Section,
) -> Finding | None:
    """What is said of a table of damages (L, H) if each head was replaced as it should be.

    Parameters
    ----------
    evidence : Evidence
    value : str
        Of the table.
    whole : float
        The loss of the whole model.
    broken : callable (layer, head) -> float
        The loss without a head.
    section : Section
    """
    mine = evidence.shaped(value, evidence.right(value).shape).astype(float)
    right = evidence.right(value).astype(float)
    if compared(mine, right) is not None:
        return None  # which says more
    layer, head = farthest_index(mine, right)
    after = broken(layer, head)
    return Finding(
        "other-difference",
        "You replace each head as you should, so the loss or the difference is wrong.",
        f"{heads_right(mine, right)}Without head {head} of layer {layer}, "
        f"{worked_out({'the loss': after, 'that of the whole model': whole})}. The difference "
        f"is {number(after - whole, 4)}, but you return {number(float(mine[layer, head]), 4)}.",
        section,
    )
