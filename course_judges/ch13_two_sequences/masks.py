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
from course_judges.judging import Evidence, Part, Task, matches, mistake
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


masks = Masker()


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
            position {s}{" of the source" if name == "cross" else ""}.""")
    return ""


def _off_own(evidence: Evidence) -> str:
    return _differs(evidence, "own")


def _off_cross(evidence: Evidence) -> str:
    return _differs(evidence, "cross")


_OWN = ("whole.own", "padded.own")
_CROSS = ("whole.cross", "padded.cross")


def _of_own(what, own, effect=_off_own):
    return mistake(what, effect, cases=_OWN)(Masker(own=own))


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

_own_by_length = _of_own(
    "You assume that a target has all its words in front and its padding behind.",
    lambda real, past, itself: _own(_lengths(real), past, itself),
    lambda e: f"Here padding may be anywhere. {_off_own(e)}",
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

_causal_only = _of_own(
    "Your mask for the decoder hides the future, but not the padding.",
    lambda real, past, itself: past.expand(len(real), -1, -1),
)

_padding_only = _of_own(
    "Your mask for the decoder hides the padding, but not the future.",
    lambda real, past, itself: real[:, None] & real[:, :, None] | itself & ~real[:, :, None],
)

_keys_only = _of_own(
    "Your rows of padding see the words before them, but each should see only itself.",
    lambda real, past, itself: past & real[:, None],
)

_keys_and_itself = _of_own(
    "Your rows of padding see themselves and the words before them, but should see only "
    "themselves.",
    lambda real, past, itself: past & real[:, None] | itself,
)

_padding_rows_open = _of_own(
    "Your rows of padding see everything, but each should see only itself.",
    lambda real, past, itself: _own(real, past, itself) | ~real[:, :, None],
)

_empty_rows = _of_own(
    "Your rows of padding see nothing at all, but each should see itself.",
    lambda real, past, itself: past & real[:, None] & real[:, :, None],
    lambda e: f"{_off_own(e)} The softmax of a row without any True is NaN.",
)

_queries_hidden = _of_own(
    "You hid the rows of padding, but its columns can still be seen.",
    lambda real, past, itself: past & real[:, :, None] | itself & ~real[:, :, None],
)

_future = _of_own(
    "Your target positions see what comes after them instead of what comes before.",
    lambda real, past, itself: _own(real, past.mT, itself),
)

_not_itself = _of_own(
    "Your words of the target don't see themselves.",
    lambda real, past, itself: _own(real, past & ~itself, itself),
)

_either = _of_own(
    "You joined the conditions on past and padding with “or”, but both have to hold.",
    lambda real, past, itself: past | real[:, None],
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

_first_sample = _of_own(
    "You gave all samples the mask of the first one.",
    lambda real, past, itself: _own(real[:1].expand(len(real), -1), past, itself),
)

_cross_causal = _of_cross(
    "Your mask for the source is causal, too.",
    lambda source, target: (
        _cross(source, target)
        & torch.ones(target.shape[1], source.shape[1], dtype=torch.bool).tril()
    ),
    lambda e: f"{_off_cross(e)} The whole source is known before the first word is written.",
)

_cross_open = _of_cross(
    "Your mask for the source doesn't hide its padding.",
    lambda source, target: torch.ones_like(_cross(source, target)),
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

_cross_by_target = _of_cross(
    "Your mask for the source hides rows of the target's padding instead of the source's padding.",
    lambda source, target: target[:, :, None].expand(-1, -1, source.shape[1]),
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
        else ("cross", _off_cross, "the source")
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


TASK = Task(
    "Padding and causal mask together",
    masks,
    ATTENTION,
    (
        Part("A word of the target sees itself and the words before it.", 1, matches("whole.own")),
        Part("Padding of the target is seen only by itself.", 2, matches("padded.own")),
        Part("Words of the source are seen, but not its padding.", 1, matches("padded.cross")),
    ),
    properties=(_other_padding, _other_mask),
)
