"""Judges 13/positions: sinusoidal positions of texts that are padded on the left."""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from course_judges.ch13_two_sequences.sections import BATCH, POSITIONS
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

Answer = Callable[[torch.Tensor, int, float], torch.Tensor]

# Places farther than this from 0 are not tried: rows are shorter.
_FAR = 40
# The rounding error that the sine of an angle of about 1,000 may have in single precision.
_LARGE_ANGLE = 5e-3
# Equal angles differ by less than this.
_APART = 1e-3


def left_padded_positions(tokens: torch.Tensor, n_embd: int, base: float) -> torch.Tensor:
    """A right answer to 13/positions: (B, T) → (B, T, C)."""
    real = tokens != 0  # the words (B, T)
    counts = real.long().cumsum(dim=1)  # the counts of words (B, T)
    places = counts - 1  # the places (B, T)
    exponents = 2 * torch.arange(n_embd // 2).double() / n_embd  # the exponents (C/2,)
    speeds = base**-exponents  # the speeds (C/2,)
    angles = places[:, :, None] * speeds  # the angles (B, T, C/2)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # the pairs (B, T, C/2, 2)
    waves = pairs.flatten(2)
    return waves.masked_fill(~real[:, :, None], 0.0)  # your positions (B, T, C)


def _waves(places: torch.Tensor, exponents: torch.Tensor, base: float) -> torch.Tensor:
    """(B, T), (C/2,) → (B, T, C): sines and cosines without regard to padding."""
    angles = places.double()[:, :, None] * base**-exponents
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)


def _placed(tokens: torch.Tensor, n_embd: int, base: float, places: torch.Tensor) -> torch.Tensor:
    """Words at other places, (B, T) or (T,)."""
    waves = _waves(places.expand(tokens.shape), torch.arange(0, n_embd, 2) / n_embd, base)
    return waves * (tokens != 0)[:, :, None]


def _turning(exponents: Callable[[torch.Tensor, int], torch.Tensor]) -> Answer:
    """Pairs that turn at other speeds."""

    def answer(tokens: torch.Tensor, n_embd: int, base: float) -> torch.Tensor:
        real = tokens != 0
        pairs = torch.arange(n_embd // 2).double()
        return _waves(real.cumsum(dim=1) - 1, exponents(pairs, n_embd), base) * real[:, :, None]

    return answer


def _off(evidence: Evidence) -> str:
    for case in ("whole", "padded"):
        mine, right = evidence.yours(case), evidence.right(case)
        gap = np.abs(mine - right)
        if gap.max() > 1e-4:
            b, t, c = (int(i) for i in np.argwhere(gap > 1e-4)[0])
            return unwrapped(f"""In row {b}, token {t}, channel {c} you have
            {number(float(mine[b, t, c]))} instead of {number(float(right[b, t, c]))}.""")
    return ""


def _padding(evidence: Evidence) -> str:
    b = int((evidence.inputs["padded"] == 0).sum(axis=1).argmax())
    count = int((evidence.inputs["padded"][b] == 0).sum())
    return f"Row {b} begins with {count} tokens of padding. {_off(evidence)}"


_starts_at_one = mistake("You put the first word at place 1, but places count from 0.", _off)(
    Like("left-out-the-subtraction-of-1-in-the-places")
)

_counts_padding = mistake(
    "You counted padding, so a first word after padding isn't at place 0.", _padding, BATCH
)(lambda x, C, base: _placed(x, C, base, torch.arange(x.shape[1])))


@mistake(
    "You gave positions to a row without words, but its padding should get zeros, too.",
    lambda e: f"A row with only padding has no first word to count from. {_off(e)}",
)
def _no_word_placed(tokens: torch.Tensor, n_embd: int, base: float) -> torch.Tensor:
    first = (tokens != 0).int().argmax(dim=1, keepdim=True)
    word = torch.arange(tokens.shape[1]) >= first
    return left_padded_positions(word.long(), n_embd, base)


@mistake(
    "You counted from the first word of the longest row, but each row has its own first word.",
    _padding,
)
def _places_of_the_longest_row(tokens: torch.Tensor, n_embd: int, base: float) -> torch.Tensor:
    real = tokens != 0
    some = real.any(dim=0).expand_as(real)  # whether any row has a word at this place
    return left_padded_positions(some.long(), n_embd, base) * real[:, :, None]


_counted_from_the_end = mistake(
    "You counted places from the end of the row, but the first word is at place 0.",
    lambda e: f"So the last word of each of your rows is at place 0. {_off(e)}",
    also=(lambda x, C, base: _placed(x, C, base, torch.arange(x.shape[1]) - x.shape[1] + 1),),
)(lambda x, C, base: _placed(x, C, base, torch.arange(x.shape[1]).flip(0)))


def _sums_of_tokens(evidence: Evidence) -> str:
    tokens = evidence.inputs["tokens"][0].astype(int)
    return unwrapped(f"""A word counts once, whatever its token is: `tokens != 0` is True for words.
    The tokens of row 0 are {listed(tokens)}, so its words are at places that grow by as much, and
    not by 1. {_off(evidence)}""")


_tokens_summed = mistake(
    "You added up the tokens themselves instead of counting words.",
    _sums_of_tokens,
    also=(lambda x, C, base: _placed(x, C, base, x.cumsum(dim=1)),),
)(lambda x, C, base: _placed(x, C, base, x.cumsum(dim=1) - 1))


@mistake(
    "The sine and cosine of your pairs have different speeds.",
    lambda e: f"A shift is a rotation only if both have the same angle. {_off(e)}",
)
def _every_channel(tokens: torch.Tensor, n_embd: int, base: float) -> torch.Tensor:
    real = tokens != 0
    exponents = torch.arange(n_embd).double() / n_embd
    waves = _waves(real.cumsum(dim=1) - 1, exponents, base)  # both of each channel
    return waves.unflatten(2, (-1, 4))[..., [0, 3]].flatten(2) * real[:, :, None]


_whole_exponents = mistake(
    "Your exponents are whole numbers, as if you had used `//` instead of `/`.",
    lambda e: f"So all pairs after the first turn at the same speed. {_off(e)}",
    also=(_turning(lambda pair, C: torch.zeros_like(pair)),),  # noqa: ARG005
)(_turning(lambda pair, C: (pair > 0).double()))  # noqa: ARG005

_exponent_to_the_end = mistake(
    "Your last pair has the speed 1 / base, but base^(−2i / C) stays above that.", _off
)(_turning(lambda pair, C: pair / (C // 2 - 1)))


def _grows(evidence: Evidence) -> bool:
    """Whether speeds grow, with more tolerance than usual: single precision rounds large angles."""

    def off(mine: Array, wanted: Array) -> bool:
        return mine.shape != wanted.shape or not np.allclose(mine, wanted, atol=_LARGE_ANGLE)

    n_embd, base = evidence.number("C"), float(evidence.inputs["base"])
    return not any(
        off(evidence.yours(case), left_padded_positions(given, n_embd, 1 / base).numpy())
        for case, given in (
            (case, torch.from_numpy(evidence.inputs[tokens]))
            for case, tokens in (("whole", "tokens"), ("padded", "padded"))
        )
    ) and off(evidence.yours("whole"), evidence.right("whole"))


def _speeds(evidence: Evidence) -> str:
    C, base = evidence.number("C"), float(evidence.inputs["base"])
    right = base ** (-np.arange(0, C, 2) / C)
    mine, wanted = (", ".join(number(float(s)) for s in one) for one in (1 / right, right))
    return f"Your speeds are {mine}, but they should be {wanted}. {_off(evidence)}"


_faster = mistake(
    "Your speeds are base^(2i / C) instead of base^(−2i / C), so later pairs turn faster.",
    _speeds,
    recognized=_grows,
)(Like("left-out-the-sign-in-the-speeds"))


def _only_padding_is_wrong(evidence: Evidence) -> bool:
    mine, right = evidence.yours("padded"), evidence.right("padded")
    off = np.asarray(~close(mine, right).all(axis=-1))
    return evidence.same("whole") and not off[evidence.inputs["padded"] != 0].any()


_padding_placed = mistake(
    "Your padding has numbers other than 0, but it should get zeros in all channels.",
    lambda e: f"All words are right. {_padding(e)}",
    BATCH,
    recognized=_only_padding_is_wrong,
)(Like("left-out-the-mask-in-your-positions"))


@mistake(
    "You gave the first word of each row zeros, too, but only padding should get them.",
    lambda e: (
        unwrapped(f"""Place 0 has the sines 0 and the cosines 1. A word may be at place 0, so tell
    padding by its token and not by its place. {_off(e)}""")
    ),
)
def _first_word_blank(tokens: torch.Tensor, n_embd: int, base: float) -> torch.Tensor:
    waves = left_padded_positions(tokens, n_embd, base)
    return waves * ((tokens != 0).cumsum(dim=1) > 1)[:, :, None]


def _place(mine: Array, base: float) -> float | None:
    """The place that sines and cosines, (C,), belong to: a whole number, or the angle of pair 0."""
    C = len(mine)
    speeds = base ** (-np.arange(0, C, 2) / C)
    near = np.arange(-_FAR, _FAR + 1)[:, None] * speeds
    gap = np.abs(mine[0::2] - np.sin(near)) + np.abs(mine[1::2] - np.cos(near))
    best = int(gap.sum(axis=1).argmin())
    if gap[best].max() < 1e-3:
        return float(best - _FAR)
    angle = float(np.arctan2(mine[0], mine[1]))
    waves = np.stack([np.sin(angle * speeds), np.cos(angle * speeds)], -1).ravel()
    return angle if np.abs(mine - waves).max() < 1e-3 else None


def _other_speeds(evidence: Evidence) -> Finding | None:
    """If there are sines and cosines of wrong angles: those of the second word of a row."""
    mine, right = evidence.yours("whole").astype(float), evidence.right("whole").astype(float)
    if mine.shape != right.shape or mine.shape[1] < 2 or close(mine[0, 1], right[0, 1]).all():
        return None
    sines, cosines = mine[0, 1, 0::2], mine[0, 1, 1::2]
    if not np.allclose(np.hypot(sines, cosines), 1, atol=1e-3):
        return None
    angles = np.arctan2(sines, cosines)
    speeds = float(evidence.inputs["base"]) ** (-np.arange(0, mine.shape[-1], 2) / mine.shape[-1])
    known = abs(angles[0] - 1) < _APART
    advice = _of_angles(evidence, sines, cosines, speeds) or (
        "Pair 0 is right there, so check the speeds of the others."
        if known
        else "Check both the places and the speeds."
    )
    return Finding(
        "other-angles",
        "Your pairs are sines and cosines, but their angles aren't place · speed.",
        f"At place 1, an angle is the speed itself. There your pairs have the angles "
        f"{', '.join(number(float(a)) for a in angles)}, not counting full turns, but they should "
        f"have {', '.join(number(float(s)) for s in speeds)}. {advice}",
        POSITIONS,
    )


def _of_angles(evidence: Evidence, sines: Array, cosines: Array, speeds: Array) -> str:
    """How the angles at place 1 come from the right ones, or from which exponents; else empty."""
    T = evidence.inputs["tokens"].shape[1]
    factors = {
        "2π": 2 * np.pi,
        "π": np.pi,
        "π / 2": np.pi / 2,
        "π / 180": np.pi / 180,
        "1 / T": 1 / T,
        "1 / (T − 1)": 1 / max(1, T - 1),
        "2": 2.0,
        "a half": 0.5,
    }
    for said, factor in factors.items():
        made = np.sin(factor * speeds), np.cos(factor * speeds)
        if np.allclose(sines, made[0], atol=_APART) and np.allclose(cosines, made[1], atol=_APART):
            return f"All of yours are the right ones times {said}."
    angles = np.arctan2(sines, cosines)
    if (angles < 1e-6).any() or angles.max() > 1 + _APART:
        return ""
    exponents = -np.log(angles) / np.log(float(evidence.inputs["base"])) * 2 * len(speeds)
    if np.abs(exponents - exponents.round(2)).max() > 0.02:
        return ""
    said, wanted = (
        ", ".join(number(float(one)) for one in numbers)
        for numbers in (exponents.round(2), 2 * np.arange(len(speeds)))
    )
    return f"Written as base^(−e / C), yours have e = {said} instead of {wanted}."


def _other_places(evidence: Evidence) -> Finding | None:
    """If there are the sines and cosines of wrong places: the places of one row."""
    case, tokens = ("whole", "tokens") if not evidence.same("whole") else ("padded", "padded")
    mine, real = evidence.yours(case), evidence.inputs[tokens] != 0
    wrong = np.asarray(~close(mine, evidence.right(case)).all(axis=-1) & real)
    if not wrong.any():
        return None
    b = int(wrong.sum(axis=1).argmax())
    places = [_place(one, float(evidence.inputs["base"])) for one in mine[b, real[b]]]
    known = [place for place in places if place is not None]
    if len(known) < len(places):
        return None
    if any(place % 1 for place in known):
        return _other_speeds(evidence)
    return Finding(
        "other-places",
        "Your words have sines and cosines of the wrong places.",
        f"Row {b} has {len(real[b])} tokens, {int((~real[b]).sum())} of them padding. "
        f"Your words are at the places {', '.join(number(p) for p in known)}, but they should be "
        f"at {listed(range(len(known)))}.",
        BATCH,
    )


TASK = Task(
    "Positions for texts that end together",
    left_padded_positions,
    POSITIONS,
    (
        Part("Without padding, each place has its sines and cosines.", 2, matches("whole")),
        Part("Places count from the first word, and padding has zeros.", 2, matches("padded")),
    ),
    properties=(_other_places, _other_speeds),
    steps={
        "the words": Step("A token of 0 is padding, and every other one is a word.", BATCH),
        "the counts of words": Step("Each row counts its own words, along the row.", BATCH),
        "the places": Step(
            "The first word of a row is at place 0, however much padding it has.", BATCH
        ),
        "the exponents": Step("The speed of pair i is base^(−2i / C)."),
        "the speeds": Step("Pair 0 turns by 1 from place to place, and later pairs more slowly."),
        "the angles": Step("The angle of a pair is its speed times the place."),
        "the pairs": Step("The sine and the cosine of an angle are side by side."),
        "your positions": Step("Padding has no place, so all its channels are 0.", BATCH),
    },
)
