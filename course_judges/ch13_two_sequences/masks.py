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
    """An answer with one of its two masks replaced."""

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
            may = "should" if right[b, t, s] else "should not"
            return unwrapped(f"""In sample {b}, position {t} of the target ({kind}) {may} see
            position {s}.""")
    return ""


def _off_own(evidence: Evidence) -> str:
    return f"Of the decoder's own mask: {_differs(evidence, 'own')}"


def _off_cross(evidence: Evidence) -> str:
    return f"Of the mask for the source: {_differs(evidence, 'cross')}"


_OWN = ("whole.own", "padded.own")
_CROSS = ("whole.cross", "padded.cross")


def _of_own(what, own, effect=_off_own):
    return mistake(what, effect, cases=_OWN)(Masker(own=own))


def _of_cross(what, cross, effect=_off_cross):
    return mistake(what, effect, cases=_CROSS)(Masker(cross=cross))


def _lengths(real: torch.Tensor) -> torch.Tensor:
    """(B, T) bool: as many places as there are words, from the first one on."""
    return torch.arange(real.shape[1]) < real.sum(dim=1, keepdim=True)


_cross_by_length = _of_cross(
    "You take the first places of a source for its words, as many as there are words.",
    lambda source, target: _cross(_lengths(source), target),
    lambda e: f"{_off_cross(e)} Padding may be anywhere.",
)

_own_by_length = _of_own(
    "You take the first places of a target for its words, as many as there are words.",
    lambda real, past, itself: _own(_lengths(real), past, itself),
    lambda e: f"{_off_own(e)} Padding may be anywhere.",
)

_inverted = mistake(
    "Your masks are True where nobody may look.",
    lambda e: f"{_off_own(e)} True means that a position may be seen.",
)(
    Masker(
        own=lambda real, past, itself: ~_own(real, past, itself),
        cross=lambda source, target: ~_cross(source, target),
    )
)

_causal_only = _of_own(
    "The decoder's own mask knows the past, but not the padding.",
    lambda real, past, itself: past.expand(len(real), -1, -1),
)

_padding_only = _of_own(
    "The decoder's own mask hides the padding, but not the future.",
    lambda real, past, itself: real[:, None] & real[:, :, None] | itself & ~real[:, :, None],
)

_keys_only = _of_own(
    "Rows of padding see the words before them; each should see itself and nothing else.",
    lambda real, past, itself: past & real[:, None],
)

_keys_and_itself = _of_own(
    "Rows of padding see themselves and the words before them; they should see themselves only.",
    lambda real, past, itself: past & real[:, None] | itself,
)

_padding_rows_open = _of_own(
    "Rows of padding see everything; each should see itself and nothing else.",
    lambda real, past, itself: _own(real, past, itself) | ~real[:, :, None],
)

_empty_rows = _of_own(
    "Rows of padding see nothing at all.",
    lambda real, past, itself: past & real[:, None] & real[:, :, None],
    lambda e: f"{_off_own(e)} A softmax over a row without any entry is NaN.",
)

_queries_hidden = _of_own(
    "You hid the rows of padding; its columns can still be seen.",
    lambda real, past, itself: past & real[:, :, None] | itself & ~real[:, :, None],
)

_future = _of_own(
    "Each position of the target sees what comes after it.",
    lambda real, past, itself: _own(real, past.mT, itself),
)

_not_itself = _of_own(
    "A word of the target doesn't see itself.",
    lambda real, past, itself: _own(real, past & ~itself, itself),
)

_either = _of_own(
    "You joined past and padding with “or”; both have to hold.",
    lambda real, past, itself: past | real[:, None],
)

_first_sample = _of_own(
    "All samples have the mask of the first one.",
    lambda real, past, itself: _own(real[:1].expand(len(real), -1), past, itself),
)

_cross_causal = _of_cross(
    "The mask for the source is causal too.",
    lambda source, target: (
        _cross(source, target)
        & torch.ones(target.shape[1], source.shape[1], dtype=torch.bool).tril()
    ),
    lambda e: f"{_off_cross(e)} The source is complete before the first word is written.",
)

_cross_open = _of_cross(
    "The padding of the source can be seen.",
    lambda source, target: torch.ones_like(_cross(source, target)),
)

_cross_open_where_empty = _of_cross(
    "A source of nothing but padding can be seen; none of its padding should be.",
    lambda source, target: _cross(source | ~source.any(dim=1, keepdim=True), target),
)

_cross_rows_hidden = _of_cross(
    "Rows of padding see nothing of the source; they may see its words like all others.",
    lambda source, target: _cross(source, target) & target[:, :, None],
    lambda e: f"{_off_cross(e)} A softmax over a row without any entry is NaN.",
)

_cross_by_target = _of_cross(
    "You hid the rows of the target's padding in the mask for the source, not the source's own.",
    lambda source, target: target[:, :, None].expand(-1, -1, source.shape[1]),
)


def _other_padding(evidence: Evidence) -> Finding | None:
    """Where the rows of words are right, what a row of padding sees."""
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
        "Of the decoder's own mask, only rows of padding are wrong.",
        f"In sample {b}, position {t} is padding. It sees {sees}, and should see {t}: itself and "
        "nothing else.",
        ATTENTION,
    )


def _other_mask(evidence: Evidence) -> Finding | None:
    """How many entries of a mask are wrong, and which way; the first of them is said."""
    name, says, which = (
        ("own", _off_own, "the decoder's own mask")
        if not evidence.same(*_OWN)
        else ("cross", _off_cross, "the mask for the source")
    )
    mine, right = (side(f"padded.{name}").astype(bool) for side in (evidence.yours, evidence.right))
    if mine.shape != right.shape or mine.all() or not mine.any() or (mine == right).all():
        return None
    return Finding(
        "other-mask",
        f"Of {which}, {int((mine & ~right).sum())} entries are True that should be False, and "
        f"{int((right & ~mine).sum())} the other way round.",
        says(evidence),
        ATTENTION,
    )


TASK = Task(
    "Padding and causal mask together",
    masks,
    ATTENTION,
    (
        Part("A word of the target sees itself and what is before it.", 1, matches("whole.own")),
        Part("Padding of the target is seen by nobody but itself.", 2, matches("padded.own")),
        Part("Words of the source are seen, its padding is not.", 1, matches("padded.cross")),
    ),
    properties=(_other_padding, _other_mask),
)
