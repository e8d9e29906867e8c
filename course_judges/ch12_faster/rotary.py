"""Judges 12/rotary: neighbors turned by the angles of given positions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch12_faster.numbers import farthest
from course_judges.ch12_faster.sections import SLIDE
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

# Positions are no farther from 0 than this, and so near are angles that are equal.
_FAR, _APART = 100, 5e-3

Turn = Callable[[Tensor, Tensor, int, float], Tensor]


def _turned(a: Tensor, b: Tensor, angle: Tensor) -> tuple[Tensor, Tensor]:
    cos, sin = angle.cos(), angle.sin()
    return a * cos - b * sin, a * sin + b * cos


def _side_by_side(pair: tuple[Tensor, Tensor]) -> Tensor:
    return torch.stack(pair, dim=-1).flatten(-2)


def _variant(
    *,
    exponents: Callable[[int, int], Tensor] = lambda R, _: torch.arange(0, R, 2) / R,
    where: Callable[[Tensor], Tensor] = lambda positions: positions,
    halves: bool = False,
    laid_out: Callable[[tuple[Tensor, Tensor]], Tensor] = _side_by_side,
    turned: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]] = _turned,
    all_of_it: bool = False,
    rest: bool | None = True,
) -> Turn:
    def answer(x: Tensor, positions: Tensor, rotated: int, base: float) -> Tensor:
        D = x.shape[-1]
        R = D if all_of_it else rotated
        theta = base ** -exponents(R, D)[: R // 2]
        angle = where(positions)[:, None, :, None] * theta  # (B, 1, T, R/2)
        first, other = x[..., :R], x[..., R:]
        if halves:
            a, b = first.chunk(2, dim=-1)
            pair = turned(a, b, angle)
            out = torch.cat(pair, dim=-1)
        else:
            pair = turned(first[..., 0::2], first[..., 1::2], angle)
            out = laid_out(pair)
        if rest is None:
            return torch.cat([out, torch.zeros_like(other)], dim=-1)
        return torch.cat([out, other], dim=-1) if rest else out

    return answer


def _part(evidence: Evidence) -> str:
    return farthest(evidence, "part")


def _places(evidence: Evidence) -> str:
    rows = " and ".join(listed(row) for row in evidence.inputs["positions"])
    return f"The positions of the two rows were {rows}. {_part(evidence)}"


_halves_paired = mistake(
    "You paired number i with number i + R / 2, as the chapter does; here neighbors are pairs.",
    _part,
    also=(_variant(halves=True, turned=lambda a, b, angle: _turned(a, b, -angle)),),
)(_variant(halves=True))

_laid_out_in_halves = mistake(
    "Neighbors are turned, and then all first numbers of pairs come before all second ones.",
    lambda e: f"A pair stays where it was, at 2i and 2i + 1. {_part(e)}",
)(_variant(laid_out=lambda pair: torch.cat(pair, dim=-1)))

_all_rotated = mistake(
    "All D numbers were turned; only the first `rotated` were asked for.",
    _part,
    cases=("part", "whole"),
)(_variant(all_of_it=True))

_last_numbers_turned = mistake(
    "You turned the last numbers of each vector; the first `rotated` were asked for.",
    _part,
)(
    lambda x, positions, rotated, base: _variant()(
        x.roll(rotated, dims=-1), positions, rotated, base
    ).roll(-rotated, dims=-1)
)

_angles_from_all = mistake(
    "Your θ_i is base^(−2i / D); it should be base^(−2i / R), with R the numbers that are turned.",
    _part,
    cases=("part", "whole"),
)(_variant(exponents=lambda _, D: torch.arange(0, D, 2) / D))

_counted_anew = mistake(
    "You counted positions from 0; they were given, since a text may continue a cache.", _places
)(_variant(where=lambda positions: torch.arange(positions.shape[1]).expand_as(positions)))

_first_row_for_all = mistake("All rows were turned by the positions of row 0.", _places)(
    _variant(where=lambda positions: positions[:1].expand_as(positions))
)

_without_gaps = mistake("You continued from each row's first position without its gaps.", _places)(
    _variant(where=lambda positions: positions[:, :1] + torch.arange(positions.shape[1]))
)

_moved_to_zero = mistake(
    "You moved each row's positions so that they begin at 0; they are meant as they are.",
    lambda e: f"The gaps are right. {_places(e)}",
)(_variant(where=lambda positions: positions - positions[:, :1]))

_one_ahead = mistake("Your positions are one too large: the first token has position 0.", _places)(
    _variant(where=lambda positions: positions + 1)
)

_turned_backwards = mistake(
    "You turned the other way: by −t θ instead of t θ.",
    lambda e: f"Scores would still depend on distances, with the other sign. {_part(e)}",
)(_variant(turned=lambda a, b, angle: _turned(a, b, -angle)))

_not_a_rotation = mistake(
    "Both halves of a pair have the same sign before the sine, so lengths change.",
    _part,
)(
    _variant(
        turned=lambda a, b, angle: (
            a * angle.cos() + b * angle.sin(),
            a * angle.sin() + b * angle.cos(),
        )
    )
)

_sine_and_cosine_exchanged = mistake("Sine and cosine changed places.", _part)(
    _variant(turned=lambda a, b, angle: _turned(a, b, torch.pi / 2 - angle))
)

_exponents_too_small = mistake("Your θ_i is base^(−i / R); it should be base^(−2i / R).", _part)(
    _variant(exponents=lambda R, _: torch.arange(R // 2) / R)
)

_rest_dropped = mistake(
    "The numbers that are not turned are missing from your result.",
    lambda e: f"It has {e.yours('part').shape[-1]} numbers a head instead of {e.number('D')}.",
    cases=("part", "whole"),
)(_variant(rest=False))

_rest_is_0 = mistake(
    "The numbers that are not turned are 0 in yours; they stay as they are.",
    _part,
    cases=("part", "whole"),
)(_variant(rest=None))


def _one_after_the_other(a: Tensor, b: Tensor, angle: Tensor) -> tuple[Tensor, Tensor]:
    a = a * angle.cos() - b * angle.sin()
    return a, a * angle.sin() + b * angle.cos()


_second_from_the_turned_first = mistake(
    "The second number of a pair is made from the first after its turn; both need the old one.",
    lambda e: f"Keep both before you write. The first number of each pair is right. {_part(e)}",
)(_variant(turned=_one_after_the_other))

_speeds_reversed = mistake(
    "Your first pair turns slowest and your last one fastest; it is the other way round.",
    lambda e: f"θ₀ is base⁰ = 1, and later pairs turn more slowly. {_part(e)}",
)(_variant(exponents=lambda R, _: torch.arange(0, R, 2).flip(0) / R))

_in_degrees = mistake(
    "You took t · θ for degrees; `cos` and `sin` want radians, and t · θ is in radians.", _places
)(_variant(where=lambda positions: positions * (torch.pi / 180)))


def _repeated(halves: bool, partner: Callable[[Tensor], Tensor]) -> Turn:
    """As libraries turn: x · cos + partner · sin, with an angle for each of R numbers."""

    def answer(x: Tensor, positions: Tensor, rotated: int, base: float) -> Tensor:
        theta = base ** (-torch.arange(0, rotated, 2) / rotated)
        angle = positions[:, None, :, None] * theta
        angle = angle.repeat(1, 1, 1, 2) if halves else angle.repeat_interleave(2, dim=-1)
        first, rest = x[..., :rotated], x[..., rotated:]
        return torch.cat([first * angle.cos() + partner(first) * angle.sin(), rest], dim=-1)

    return answer


def _neighbor(first: Tensor) -> Tensor:
    """(−b, a) for each pair (a, b) of neighbors."""
    return _side_by_side((-first[..., 1::2], first[..., 0::2]))


def _half_away(first: Tensor) -> Tensor:
    """What libraries that pair i with i + R / 2 call `rotate_half`."""
    a, b = first.chunk(2, dim=-1)
    return torch.cat([-b, a], dim=-1)


_angles_in_halves = mistake(
    "Neighbors are paired, and angles are laid out for halves; both of a pair need the same one.",
    lambda e: unwrapped(f"""For neighbors each angle has to stand twice in a row, as
    `repeat_interleave(2, dim=-1)` lays them out. All angles and then all of them again, as `repeat`
    or `cat` give them, are for pairs of i and i + R / 2. {_part(e)}"""),
)(_repeated(True, _neighbor))

_partners_in_halves = mistake(
    "Angles belong to neighbors, but the sine is multiplied with the number R / 2 away.",
    lambda e: unwrapped(f"""Each angle stands twice in a row, so number 2i and number 2i + 1 are a
    pair: in it, (a, b) needs (−b, a) beside the sine. Two halves, (−second, first), belong to
    angles that are laid out in halves. {_part(e)}"""),
    also=(_repeated(False, lambda first: -_half_away(first)),),
)(_repeated(False, _half_away))


def _waves_added(cosine_first: bool) -> Turn:
    def answer(x: Tensor, positions: Tensor, rotated: int, base: float) -> Tensor:
        angle = positions[:, None, :, None] * base ** (-torch.arange(0, rotated, 2) / rotated)
        waves = (angle.cos(), angle.sin()) if cosine_first else (angle.sin(), angle.cos())
        first, rest = x[..., :rotated], x[..., rotated:]
        return torch.cat([first + _side_by_side(waves), rest], dim=-1)

    return answer


_added_not_turned = mistake(
    "You add sines and cosines of t · θ to the numbers; a turn multiplies the numbers by them.",
    lambda e: unwrapped(f"""A pair (a, b) becomes (a cos − b sin, a sin + b cos), which is as long
    as it was. {_part(e)}"""),
    also=(_waves_added(True),),
)(_waves_added(False))

_partner_without_its_sign = mistake(
    "The sine is multiplied with the number before, by `roll`; a pair (a, b) takes (−b, a).",
    _part,
    also=(_repeated(False, lambda first: -first.roll(-1, dims=-1)),),
)(_repeated(False, lambda first: first.roll(1, dims=-1)))


@mistake(
    "Each number is turned by a speed of its own; both numbers of a pair have that of the pair.",
    lambda e: f"Number 2i + 1 should turn with base^(−2i / R), as number 2i does. {_part(e)}",
)
def _speeds_of_numbers(x: Tensor, positions: Tensor, rotated: int, base: float) -> Tensor:
    angle = positions[:, None, :, None] * base ** (-torch.arange(rotated) / rotated)
    first, rest = x[..., :rotated], x[..., rotated:]
    return torch.cat([first * angle.cos() + _neighbor(first) * angle.sin(), rest], dim=-1)


_steps_for_positions = mistake(
    "You turned by the step from one position to the next; the position itself was asked for.",
    _places,
    also=(_variant(where=lambda positions: positions.diff(dim=1, prepend=positions[:, :1] * 0)),),
)(_variant(where=lambda positions: positions.diff(dim=1, prepend=positions[:, :1])))


_TIMES = {
    "half of t · θ": 0.5,
    "twice t · θ": 2.0,
    "2π times t · θ": 2 * np.pi,
    "π times t · θ": np.pi,
}


def _what_turns(evidence: Evidence, asked: Array, turned: Array) -> tuple[str, str]:
    """What all pairs are turned by, and a sentence on it; both empty if nothing is known. Angles
    are (B, T, R/2), and `turned` has them for each head.
    """

    def fits(angles: Array) -> bool:
        return bool((abs(np.exp(1j * angles)[:, None] - turned) < _APART).all())

    for said, times in _TIMES.items():
        if fits(times * asked):
            return f"Neighbors are turned by {said}; the angle is t · θ itself.", ""
    positions, base = evidence.inputs["positions"], float(evidence.inputs["base"])
    R = evidence.number("R")
    thetas = base ** (-np.arange(0, R, 2) / R)
    if fits(positions[..., None] / thetas):
        return (
            "Your θ_i is base^(2i / R), so later pairs turn faster; it should be base^(−2i / R).",
            f"The last pair should turn by t · {number(float(thetas[-1]))}; yours turns by t · "
            f"{number(float(1 / thetas[-1]))}.",
        )
    found = _positions_read_off(turned, thetas)
    if found is not None:
        rows = " and ".join(f"[{listed(one)}]" for one in found)
        given = " and ".join(f"[{listed(one)}]" for one in positions)
        return (
            "Neighbors are turned by the right speeds, at other positions than those given.",
            f"Yours are the angles of {rows}; given were {given}.",
        )
    own = [(b, int(t)) for b, t in np.argwhere(positions == 1)]
    if own:
        b, t = own[0]
        speeds = np.angle(turned[b, 0, t])
        if fits(positions[..., None] * speeds) and (speeds > 0).all():
            mine = -np.log(speeds) / np.log(base)
            right = np.arange(0, R, 2) / R
            return (
                "Neighbors are turned by t times a speed, and the speeds are others than "
                "base^(−2i / R).",
                f"Yours are {_powers(mine)}; they should be {_powers(right)}.",
            )
    return "", ""


def _powers(exponents: Array) -> str:
    return ", ".join(f"base^{number(-round(float(one), 5))}" for one in exponents)


def _positions_read_off(turned: Array, thetas: Array) -> Array | None:
    """(B, T) the whole positions of which all heads have the angles; None if there are none."""
    near = np.arange(-_FAR, _FAR + 1)
    gaps = abs(np.exp(1j * near[:, None] * thetas) - turned[..., None, :]).max(axis=-1)
    found = near[gaps.argmin(axis=-1)]  # (B, H, T)
    if gaps.min(axis=-1).max() > _APART or (found != found[:, :1]).any():
        return None
    return np.asarray(found[:, 0])


def _other_angles(evidence: Evidence) -> Finding | None:
    """Neighbors that are turned, by other angles: what they have in common, and the first."""
    mine, given = evidence.yours("part").astype(float), evidence.inputs["x"].astype(float)
    R = evidence.number("R")
    x, y = (side[..., 0:R:2] + 1j * side[..., 1:R:2] for side in (given, mine))
    if (
        not close(mine[..., R:], given[..., R:]).all()
        or not np.allclose(abs(x), abs(y), rtol=1e-3, atol=1e-4)
        or close(mine, given).all()
    ):
        return None
    wrong = ~close(mine, evidence.right("part"))
    b, h, t, d = (int(i) for i in np.argwhere(wrong)[0])
    i, place = d // 2, int(evidence.inputs["positions"][b, t])
    thetas = float(evidence.inputs["base"]) ** (-np.arange(0, R, 2) / R)
    turned = y / np.where(x == 0, 1, x)
    by = float(np.angle(turned[b, h, t, i]))
    asked = float(np.angle(np.exp(1j * place * thetas[i])))
    what, more = _what_turns(evidence, evidence.inputs["positions"][..., None] * thetas, turned)
    return Finding(
        "other-angles",
        what or "Neighbors are turned, but not by t · θ.",
        f"{more} At position {place} of row {b}, pair {i} is turned by {number(by)} in yours, "
        f"whole turns left aside. It should be {number(asked)}: t · θ is {place} · "
        f"{number(float(thetas[i]))}.".strip(),
        SLIDE,
    )


def _some_numbers(evidence: Evidence) -> Finding | None:
    """Which numbers of a vector are wrong, unless those are all that are turned."""
    wrong = ~close(evidence.yours("part"), evidence.right("part"))
    at = wrong.any(axis=(0, 1, 2))
    turned = np.arange(evidence.number("D")) < evidence.number("R")
    given = close(evidence.yours("part"), evidence.inputs["x"]).all()
    if at.all() or not at.any() or (at == turned).all() or given:
        return None
    return Finding(
        "some-numbers",
        "Some numbers of each vector are right, others are not.",
        f"Of {evidence.number('D')} numbers, of which {evidence.number('R')} are turned, these are "
        f"wrong: {listed(np.flatnonzero(at))}. {_part(evidence)}",
        SLIDE,
    )


def _other_lengths(evidence: Evidence) -> Finding | None:
    """The rest is right, and what was turned has pairs of other lengths."""
    mine, given = evidence.yours("part").astype(float), evidence.inputs["x"].astype(float)
    R = evidence.number("R")
    before, after = (np.hypot(side[..., 0:R:2], side[..., 1:R:2]) for side in (given, mine))
    if not close(mine[..., R:], given[..., R:]).all() or np.allclose(before, after, rtol=1e-3):
        return None
    place = np.unravel_index(int(abs(after - before).argmax()), before.shape)
    b, h, t, i = (int(k) for k in place)
    return Finding(
        "other-lengths",
        "What stays is right; what is turned has other lengths than before.",
        f"Of row {b}, head {h}, token {t}, the numbers {2 * i} and {2 * i + 1} are a pair of "
        f"length {number(float(before[place]))}, and of length {number(float(after[place]))} in "
        f"yours. (a cos − b sin, a sin + b cos) is as long as (a, b). {_part(evidence)}",
        SLIDE,
    )


TASK = Task(
    "Neighbors turn",
    _variant(),
    SLIDE,
    (
        Part("All numbers are turned in neighboring pairs.", 2, matches("whole")),
        Part("Of longer vectors the rest stays as it is.", 2, matches("part", "odd")),
    ),
    cases=("part",),
    properties=(_other_angles, _some_numbers, _other_lengths),
)
