"""Judges 13/masks: padding and causal mask together."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG005

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from course_judges.ch13_two_sequences.sections import ATTENTION
from course_judges.judging import Evidence, Part, Step, Task, matches, mistake
from course_judges.wording import unwrapped
from course_tasks.verdict import Finding


def _own(real, past, itself):
    both = real[:, None, :] & real[:, :, None]  # (B, T, T)
    return past & both | itself & ~real[:, :, None]


def _cross(source, target):
    return source[:, None, :].expand(-1, target.shape[1], -1)


@dataclass(frozen=True)
class Masker:
    """An answer that makes one of its two masks differently."""

    own: Callable[..., Any] = _own
    cross: Callable[..., Any] = _cross

    def __call__(self, source, target):
        """(B, S) and (B, T) → (B, T, T) and (B, T, S)."""
        T = target.shape[1]
        past = torch.ones(T, T, dtype=torch.bool).tril()
        itself = torch.eye(T, dtype=torch.bool)
        own = self.own(target, past, itself)
        return own.expand(len(target), T, T), self.cross(source, target)


def masks(source: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A right answer to 13/masks: (B, S), (B, T) → (B, T, T), (B, T, S)."""
    T = target.shape[1]
    past = torch.ones(T, T, dtype=torch.bool).tril()  # the past (T, T)
    rows = target[:, :, None]  # the rows of words (B, T, 1)
    columns = target[:, None, :]  # the columns of words (B, 1, T)
    words = past & rows & columns  # what words see (B, T, T)
    itself = torch.eye(T, dtype=torch.bool)
    padding = itself & ~rows  # what padding sees (B, T, T)
    own = words | padding  # your mask for the decoder (B, T, T)
    mask = source[:, None, :].expand(-1, T, -1)  # your mask for the source (B, T, S)
    return own, mask


def _differs(evidence: Evidence, name: str) -> str:
    for case, real in (("padded", "target"), ("whole", "all_target")):
        if not evidence.comparable(f"{case}.{name}"):
            continue
        mine = evidence.yours(f"{case}.{name}").astype(bool)
        right = evidence.right(f"{case}.{name}").astype(bool)
        if (mine != right).any():
            b, t, s = (int(i) for i in np.argwhere(mine != right)[0])
            kind = "a word" if evidence.inputs[real][b, t] else "padding"
            may = "should" if right[b, t, s] else "shouldn't"
            return unwrapped(f"""In sample {b}, position {t} of the target ({kind}) {may} see
            position {s}{" of the source" if name == "source" else ""}.""")
    return ""


def _off_own(evidence: Evidence) -> str:
    return _differs(evidence, "own")


def _off_cross(evidence: Evidence) -> str:
    return _differs(evidence, "source")


_OWN = ("whole.own", "padded.own")
_CROSS = ("whole.source", "padded.source")


def _of_own(what, own, effect=_off_own, also=()):
    others = tuple(Masker(own=one) for one in also)
    return mistake(what, effect, cases=_OWN, also=others)(Masker(own=own))


def _of_cross(what, cross, effect=_off_cross):
    return mistake(what, effect, cases=_CROSS)(Masker(cross=cross))


def _lengths(real: torch.Tensor) -> torch.Tensor:
    """(B, T) bool: True for as many places as there are words, from the first one on."""
    return torch.arange(real.shape[1]) < real.sum(dim=1, keepdim=True)


_cross_by_length = _of_cross(
    "You assume that a source has all its words in front and its padding behind.",
    lambda source, target: _cross(_lengths(source), target),
    lambda e: f"Here padding may be anywhere. {_off_cross(e)}",
)

_cross_words_of_all = _of_cross(
    "You hide a place of the source in all samples if it is padding in one of them.",
    lambda source, target: _cross(source.all(dim=0).expand_as(source), target),
)

_inverted = mistake(
    "Your masks are True where a row must not look, but they should be True where it may.",
    _off_own,
)(
    Masker(
        own=lambda real, past, itself: ~_own(real, past, itself),
        cross=lambda source, target: ~_cross(source, target),
    )
)

_gap_separates = _of_own(
    "Your words of the target don't see the words before a gap of padding.",
    lambda real, past, itself: (
        _own(real, past, itself)
        & ((~real).cumsum(dim=1)[:, :, None] == (~real).cumsum(dim=1)[:, None, :])
    ),
    lambda e: (
        unwrapped(f"""{_off_own(e)} There is padding between the two, but it only hides itself, and
    the words on both sides of it belong to one text.""")
    ),
)

_cross_causal = _of_cross(
    "Your mask for the source is causal, too.",
    lambda source, target: (
        _cross(source, target)
        & torch.ones(target.shape[1], source.shape[1], dtype=torch.bool).tril()
    ),
    lambda e: f"{_off_cross(e)} The whole source is known before the first word is written.",
)

_cross_open_where_empty = _of_cross(
    "Your mask shows the padding of a source without words, but all padding should be hidden.",
    lambda source, target: _cross(source | ~source.any(dim=1, keepdim=True), target),
)

_cross_rows_hidden = _of_cross(
    "Your rows of padding see nothing of the source, but they should see its words like all "
    "others.",
    lambda source, target: _cross(source, target) & target[:, :, None],
    lambda e: f"{_off_cross(e)} The softmax of a row without any True is NaN.",
)

_same_kind = _of_own(
    "Your rows of padding see other padding, too, but each should see only itself.",
    lambda real, past, itself: past & (real[:, :, None] == real[:, None, :]),
    also=(
        lambda real, past, itself: _own(real, past, itself) | ~real[:, :, None] & ~real[:, None, :],
    ),
)

_itself_only_if_nothing_else = _of_own(
    "Your rows of padding see the words before them, and themselves only if there are none.",
    lambda real, past, itself: (
        past & real[:, None] | itself & ~(past & real[:, None]).any(dim=-1, keepdim=True)
    ),
    lambda e: f"{_off_own(e)} A row of padding sees itself and nothing else.",
)

_itself_only_if_first = _of_own(
    "Your words of the target see themselves only if there is no word before them.",
    lambda real, past, itself: (
        _own(real, past & ~itself, itself)
        | itself & ~_own(real, past & ~itself, itself).any(dim=-1, keepdim=True)
    ),
)

_added_to_scores = mistake(
    "Your masks hold 0 and −∞, to be added to scores, but they should be True and False.",
    lambda e: (
        f"{_sees_nothing(e)} `masked_fill` and attention in this chapter take True and False."
    ),
)(
    lambda source, target: tuple(
        torch.zeros(mask.shape).masked_fill(~mask, -torch.inf) for mask in masks(source, target)
    )
)


def _sees_nothing(evidence: Evidence) -> str:
    hidden = int(np.isneginf(evidence.yours("padded.own")).sum())
    return f"{hidden} entries of your first mask are −∞."


# What row and column are, and how the column lies to the row.
_KINDS = (
    ("a word", "words", True, True),
    ("a word", "padding", True, False),
    ("padding", "words", False, True),
    ("padding", "padding", False, False),
)
_SIDES = (("before it", -1), ("at its own place", 0), ("after it", 1))


def _by_kind(evidence: Evidence) -> Finding | None:
    """If the decoder's mask depends only on kinds and order: what is seen that shouldn't be."""
    mine = evidence.shaped("padded.own", evidence.right("padded.own").shape).astype(bool)
    right, real = evidence.right("padded.own").astype(bool), evidence.inputs["target"]
    T = real.shape[1]
    side = np.sign(np.arange(T)[None, :] - np.arange(T)[:, None])  # (T, T)
    told = []
    for row, column, row_real, column_real in _KINDS:
        for where, sign in _SIDES:
            pairs = (real[:, :, None] == row_real) & (real[:, None, :] == column_real)
            pairs &= side == sign
            held = mine[pairs]
            if not len(held):
                continue
            if held.any() != held.all():
                return None
            if held[0] != right[pairs][0]:
                what = "itself" if not sign else f"{column} {where}"
                sees, should = ("sees", "shouldn't") if held[0] else ("doesn't see", "should")
                told.append(f"{row} {sees} {what}, but it {should}")
    if not told:
        return None
    count = int((mine != right).sum())
    others = "".join(f"And {one}. " for one in told[1:])
    return Finding(
        "other-kinds",
        f"In your mask for the decoder, {told[0]}.",
        f"{others}{count} entries are wrong. {_off_own(evidence)}",
        ATTENTION,
    )


def _other_padding(evidence: Evidence) -> Finding | None:
    """If the rows of words are right: what a row of padding sees."""
    mine, right = evidence.yours("padded.own"), evidence.right("padded.own")
    rows = np.argwhere((mine != right).any(axis=-1))
    if (
        not evidence.same("whole.own")
        or not len(rows)
        or any(evidence.inputs["target"][b, t] for b, t in rows)
    ):
        return None
    b, t = (int(i) for i in rows[0])
    sees = ", ".join(str(int(s)) for s in np.flatnonzero(mine[b, t])) or "nothing"
    return Finding(
        "other-rows-of-padding",
        "In your mask for the decoder, only rows of padding are wrong.",
        f"In sample {b}, position {t} is padding. It sees {sees}, but should see only itself, {t}.",
        ATTENTION,
    )


def _other_mask(evidence: Evidence) -> Finding | None:
    """How many entries of a mask are wrong, and in which way, and the first of them."""
    name, says, which = (
        ("own", _off_own, "the decoder")
        if not evidence.same(*_OWN)
        else ("source", _off_cross, "the source")
    )
    mine, right = (side(f"padded.{name}").astype(bool) for side in (evidence.yours, evidence.right))
    if mine.shape != right.shape or mine.all() or not mine.any() or (mine == right).all():
        return None
    return Finding(
        "other-mask",
        f"In your mask for {which}, {int((mine & ~right).sum())} entries are True that should be "
        f"False, and {int((right & ~mine).sum())} are False that should be True.",
        says(evidence),
        ATTENTION,
    )


def _true_or_false(evidence: Evidence) -> bool:
    """True if the masks hold True and False, as `masked_fill` needs them."""
    return all(evidence.yours(f"whole.{name}").dtype == bool for name in ("own", "source"))


TASK = Task(
    "Padding and causal mask together",
    masks,
    ATTENTION,
    (
        Part(
            "A word sees itself and the words before it.",
            1,
            lambda e: e.same("whole.own") and _true_or_false(e),
        ),
        Part("Padding of the target is seen only by itself.", 2, matches("padded.own")),
        Part(
            "Words of the source are seen, but not its padding.",
            1,
            matches("padded.source"),
        ),
    ),
    properties=(_by_kind, _other_padding, _other_mask),
    steps={
        "the past": Step("Row t sees positions 0 to t, itself included."),
        "the rows of words": Step("The rows of a mask are the positions that look."),
        "the columns of words": Step("The columns of a mask are the positions that are seen."),
        "what words see": Step(
            "A word sees itself and the words before it, so row and column are words."
        ),
        "what padding sees": Step("A row without any True makes NaN, so padding sees itself."),
        "your mask for the decoder": Step(
            "A row sees what its own kind, word or padding, may see."
        ),
        "your mask for the source": Step("Every row of the target sees the words of the source."),
    },
)
