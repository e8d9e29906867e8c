"""Judges 13/positions: sinusoidal positions of texts that are padded on the left."""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from course_judges.ch13_two_sequences.sections import BATCH, POSITIONS
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

# Places farther than this from 0 are not tried: rows are shorter.
_FAR = 40
# The rounding error that the sine of an angle of about 1,000 may have in single precision.
_LARGE_ANGLE = 5e-3
# Equal angles differ by less than this.
_APART = 1e-3


@dataclass(frozen=True)
class Coder:
    """An answer that makes one of its choices differently."""

    skip: bool = True
    first: int = 0
    interleaved: bool = True
    sine_first: bool = True
    exponent: Callable[[torch.Tensor, int], torch.Tensor] = lambda pair, C: 2 * pair / C
    inverted: bool = False
    base: float | None = None
    blank: bool = True

    def __call__(self, tokens, n_embd, base):
        """(B, T) → (B, T, C)."""
        real = tokens != 0
        places = real.long().cumsum(dim=1) - 1 if self.skip else torch.arange(tokens.shape[1])
        places = (places + self.first).expand(tokens.shape).double()  # (B, T)
        pair = torch.arange(n_embd // 2).double()
        power = self.exponent(pair, n_embd)
        speeds = (self.base or base) ** (power if self.inverted else -power)
        angles = places[:, :, None] * speeds  # (B, T, C/2)
        waves = [angles.sin(), angles.cos()]
        if not self.sine_first:
            waves.reverse()
        if self.interleaved:
            out = torch.stack(waves, dim=-1).flatten(2)
        else:
            out = torch.cat(waves, dim=-1)
        return out * real[:, :, None] if self.blank else out


left_padded_positions = Coder()


@dataclass(frozen=True)
class _EveryChannel:
    """Each channel has its own speed, so that a sine and its cosine have different angles."""

    def __call__(self, tokens, n_embd, base):
        real = tokens != 0
        places = (real.long().cumsum(dim=1) - 1).double()
        channel = torch.arange(n_embd)
        angles = places[:, :, None] * base ** (-channel.double() / n_embd)
        waves = torch.where(channel % 2 == 0, angles.sin(), angles.cos())
        return waves * real[:, :, None]


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


_counts_padding = mistake(
    "You counted padding, so a first word after padding isn't at place 0.", _padding, BATCH
)(Coder(skip=False))

_starts_at_one = mistake("You put the first word at place 1, but places count from 0.", _off)(
    Coder(first=1)
)


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


@dataclass(frozen=True)
class _FromTheEnd:
    """The last word of each row is at place 0, and those before it at 1, 2, … or −1, −2, …"""

    negative: bool = False

    def __call__(self, tokens: torch.Tensor, n_embd: int, base: float) -> torch.Tensor:
        waves = left_padded_positions(torch.ones_like(tokens), n_embd, base).flip(1)
        if self.negative:
            waves[..., 0::2] *= -1  # the sine of −t
        return waves * (tokens != 0)[:, :, None]


_counted_from_the_end = mistake(
    "You counted places from the end of the row, but the first word is at place 0.",
    lambda e: f"So the last word of each of your rows is at place 0. {_off(e)}",
    also=(_FromTheEnd(negative=True),),
)(_FromTheEnd())


def _sums_of_tokens(evidence: Evidence) -> str:
    tokens = evidence.inputs["tokens"][0].astype(int)
    return unwrapped(f"""A word counts once, whatever its token is: `tokens != 0` is True for words.
    The tokens of row 0 are {listed(tokens)}, so its words are at places that grow by as much, and
    not by 1. {_off(evidence)}""")


def _summed(less: int) -> Callable[[torch.Tensor, int, float], torch.Tensor]:
    def answer(tokens: torch.Tensor, n_embd: int, base: float) -> torch.Tensor:
        places = tokens.cumsum(dim=1) - less
        speeds = base ** (-torch.arange(0, n_embd, 2).double() / n_embd)
        angles = places[:, :, None] * speeds
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
        return waves * (tokens != 0)[:, :, None]

    return answer


_tokens_summed = mistake(
    "You added up the tokens themselves instead of counting words.",
    _sums_of_tokens,
    also=(_summed(less=0),),
)(_summed(less=1))

_slowest_first = mistake(
    "Your first pair turns slowest and your last one fastest, but it should be the other way "
    "round.",
    lambda e: f"Pair 0 should have the speed base⁰ = 1. {_off(e)}",
)(Coder(exponent=lambda pair, C: (2 * pair / C).flip(0)))

_halves = mistake(
    "You put all sines first and all cosines after them, but a pair should be side by side.", _off
)(Coder(interleaved=False))

_cosine_first = mistake("In your pairs, the cosine comes before the sine.", _off)(
    Coder(sine_first=False)
)

_halves_cosine_first = mistake(
    "You put all cosines first and all sines after them instead of each sine with its cosine.",
    _off,
)(Coder(interleaved=False, sine_first=False))

_every_channel = mistake(
    "The sine and cosine of your pairs have different speeds.",
    lambda e: f"A shift is a rotation only if both have the same angle. {_off(e)}",
)(_EveryChannel())

_half_the_exponent = mistake(
    "The speed of your pair i is base^(−i / C) instead of base^(−2i / C).",
    lambda e: f"So each pair turns at the square root of the speed it should have. {_off(e)}",
)(Coder(exponent=lambda pair, C: pair / C))

_twice_the_exponent = mistake(
    "The speed of your pair i is base^(−4i / C) instead of base^(−2i / C).",
    lambda e: unwrapped(f"""Do you double i twice? The numbers of `arange(0, C, 2)` are 2i already.
    {_off(e)}"""),
)(Coder(exponent=lambda pair, C: 4 * pair / C))

_whole_exponents = mistake(
    "Your exponents are whole numbers, as if you had used `//` instead of `/`.",
    lambda e: f"So all pairs after the first turn at the same speed. {_off(e)}",
    also=(Coder(exponent=lambda pair, C: torch.zeros_like(pair)),),  # noqa: ARG005
)(Coder(exponent=lambda pair, C: (pair > 0).double()))  # noqa: ARG005

_exponent_to_the_end = mistake(
    "Your last pair has the speed 1 / base, but base^(−2i / C) stays above that.", _off
)(Coder(exponent=lambda pair, C: pair / (C // 2 - 1)))


_faster_coder = Coder(inverted=True)


def _grows(evidence: Evidence) -> bool:
    """Whether speeds grow, with more tolerance than usual: single precision rounds large angles."""

    def off(mine: Array, wanted: Array) -> bool:
        return mine.shape != wanted.shape or not np.allclose(mine, wanted, atol=_LARGE_ANGLE)

    n_embd, base = evidence.number("C"), float(evidence.inputs["base"])
    return not any(
        off(
            evidence.yours(case),
            _faster_coder(torch.from_numpy(evidence.inputs[tokens]), n_embd, base).numpy(),
        )
        for case, tokens in (("whole", "tokens"), ("padded", "padded"))
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
)(_faster_coder)

_fixed_base = mistake(
    "You always used 10,000 as the base instead of the one that is given.",
    lambda e: f"Here base = {number(float(e.inputs['base']))}. {_off(e)}",
)(Coder(base=10_000.0))


def _only_padding_is_wrong(evidence: Evidence) -> bool:
    mine, right = evidence.yours("padded"), evidence.right("padded")
    off = np.asarray(~close(mine, right).all(axis=-1))
    return evidence.same("whole") and not off[evidence.inputs["padded"] != 0].any()


_padding_placed = mistake(
    "Your padding has numbers other than 0, but it should get zeros in all channels.",
    lambda e: f"All words are right. {_padding(e)}",
    BATCH,
    recognized=_only_padding_is_wrong,
)(Coder(blank=False))


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


_times_tokens = mistake(
    "You multiplied by the tokens themselves instead of by whether they are words.",
    lambda e: f"`tokens != 0` is True for words and False for padding. {_off(e)}",
)(lambda tokens, n_embd, base: left_padded_positions(tokens, n_embd, base) * tokens[:, :, None])


@mistake(
    "You counted down the batch instead of along each row.",
    lambda e: f"With `cumsum`, a row of (B, T) is counted along `dim=1`. {_off(e)}",
)
def _counted_down_the_batch(tokens: torch.Tensor, n_embd: int, base: float) -> torch.Tensor:
    real = tokens != 0
    places = real.long().cumsum(dim=0) - 1
    # Each place is one of a text that is long enough.
    waves = left_padded_positions(torch.ones(1, len(tokens) + 1).long(), n_embd, base)[0]
    return waves[places.clamp(min=0)] * real[:, :, None]


_sines_twice = mistake(
    "Both channels of your pairs hold the sine, but the second one should hold the cosine.",
    _off,
)(
    lambda tokens, n_embd, base: left_padded_positions(tokens, n_embd, base)[
        ..., 0::2
    ].repeat_interleave(2, dim=-1)
)

_cosines_twice = mistake(
    "Both channels of your pairs hold the cosine, but the first one should hold the sine.",
    _off,
)(
    lambda tokens, n_embd, base: left_padded_positions(tokens, n_embd, base)[
        ..., 1::2
    ].repeat_interleave(2, dim=-1)
)


@mistake(
    "You moved the words of each row to its beginning, but they should stay behind their padding.",
    lambda e: f"The zeros belong where the padding is, on the left. {_padding(e)}",
)
def _words_moved_to_the_left(tokens: torch.Tensor, n_embd: int, base: float) -> torch.Tensor:
    return left_padded_positions((tokens != 0).long().flip(1), n_embd, base)


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
)
