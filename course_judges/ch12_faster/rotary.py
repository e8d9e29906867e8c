"""Judges 12/rotary: neighbors turned by the angles of given positions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from course_judges.ch12_faster.numbers import farthest
from course_judges.ch12_faster.sections import SLIDE
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

# Positions are no farther from 0 than this, and equal angles no farther apart.
_FAR, _APART = 400, 5e-3

Turn = Callable[[Tensor, Tensor, int, float], Tensor]


def rotate_neighbors(x: Tensor, positions: Tensor, rotated: int, base: float) -> Tensor:
    """A right answer to 12/rotary: (B, H, T, D), (B, T) → (B, H, T, D)."""
    rest = x[..., rotated:]
    a = x[..., 0:rotated:2]
    b = x[..., 1:rotated:2]
    exponents = 2 * torch.arange(rotated // 2) / rotated  # the exponents (R/2,)
    theta = base**-exponents  # the speeds (R/2,)
    where = positions[:, None, :, None]  # the positions (B, 1, T, 1)
    angle = where * theta  # the angles (B, 1, T, R/2)
    cos, sin = angle.cos(), angle.sin()
    new_a = a * cos - b * sin  # the new first numbers (B, H, T, R/2)
    new_b = a * sin + b * cos  # the new second numbers (B, H, T, R/2)
    pairs = torch.stack([new_a, new_b], dim=-1)  # the new pairs (B, H, T, R/2, 2)
    turned = pairs.flatten(-2)
    return torch.cat([turned, rest], dim=-1)


def _part(evidence: Evidence) -> str:
    return farthest(evidence, "part")


def _places(evidence: Evidence) -> str:
    rows = " and ".join(listed(row) for row in evidence.inputs["positions"])
    return f"The two rows have the positions {rows}. {_part(evidence)}"


@mistake(
    "You paired number i with number i + R / 2, as the chapter does, but here neighbors are pairs.",
    _part,
)
def _halves_paired(x: Tensor, positions: Tensor, rotated: int, base: float) -> Tensor:
    pairs = x[..., :rotated].unflatten(-1, (2, -1)).mT  # (B, H, T, R/2, 2)
    turned = rotate_neighbors(pairs.flatten(-2), positions, rotated, base).unflatten(-1, (-1, 2)).mT
    return torch.cat([turned.flatten(-2), x[..., rotated:]], dim=-1)


_last_numbers_turned = mistake(
    "You turned the last `rotated` numbers of each vector instead of the first.",
    _part,
)(
    lambda x, positions, rotated, base: rotate_neighbors(
        x.roll(rotated, dims=-1), positions, rotated, base
    ).roll(-rotated, dims=-1)
)

_angles_from_all = mistake(
    "Your θ_i is base^(−2i / D) instead of base^(−2i / R), where R is how many numbers turn.",
    _part,
    cases=("part", "whole"),
)(
    lambda x, positions, rotated, base: rotate_neighbors(
        x, positions, rotated, base ** (rotated / x.shape[-1])
    )
)


def _placed(where: Callable[[Tensor], Tensor]) -> Turn:
    """Turns by other positions, made of those that are given."""
    return lambda x, positions, rotated, base: rotate_neighbors(x, where(positions), rotated, base)


_counted_anew = mistake(
    "You counted positions from 0 instead of using those that were given.", _places
)(_placed(lambda positions: torch.arange(positions.shape[1]).expand_as(positions)))

_without_gaps = mistake(
    "You counted on from each row's first position, but given positions may have gaps.", _places
)(_placed(lambda positions: positions[:, :1] + torch.arange(positions.shape[1])))

_moved_to_zero = mistake(
    "You moved each row's positions to begin at 0 instead of using them as they are.",
    lambda e: f"The gaps between them are right. {_places(e)}",
)(_placed(lambda positions: positions - positions[:, :1]))

_turned_backwards = mistake(
    "You turned in the wrong direction, by −t θ instead of t θ.",
    lambda e: (
        f"Scores would still depend only on distances, but on those with the other sign. {_part(e)}"
    ),
)(_placed(lambda positions: -positions))

_rest_is_0 = mistake(
    "You set the numbers that aren't turned to 0 instead of leaving them as they are.",
    _part,
    cases=("part", "whole"),
)(
    lambda x, positions, rotated, base: (
        rotate_neighbors(x, positions, rotated, base) * (torch.arange(x.shape[-1]) < rotated)
    )
)


_in_degrees = mistake(
    "You treated t · θ as degrees, but it is in radians, as `cos` and `sin` need it.", _places
)(_placed(lambda positions: positions * (torch.pi / 180)))


def _repeated(halves: bool, partner: Callable[[Tensor], Tensor]) -> Turn:
    """Turns as libraries do it: x · cos + partner · sin, with an angle for each of R numbers."""

    def answer(x: Tensor, positions: Tensor, rotated: int, base: float) -> Tensor:
        theta = base ** (-torch.arange(0, rotated, 2) / rotated)
        angle = positions[:, None, :, None] * theta
        angle = angle.repeat(1, 1, 1, 2) if halves else angle.repeat_interleave(2, dim=-1)
        first, rest = x[..., :rotated], x[..., rotated:]
        return torch.cat([first * angle.cos() + partner(first) * angle.sin(), rest], dim=-1)

    return answer


def _neighbor(first: Tensor) -> Tensor:
    """(−b, a) for each pair (a, b) of neighbors."""
    return torch.stack([-first[..., 1::2], first[..., 0::2]], dim=-1).flatten(-2)


def _half_away(first: Tensor) -> Tensor:
    """The `rotate_half` of libraries that pair i with i + R / 2."""
    a, b = first.chunk(2, dim=-1)
    return torch.cat([-b, a], dim=-1)


_angles_in_halves = mistake(
    "You paired neighbors, but your angles are laid out for pairs of i and i + R / 2.",
    lambda e: (
        unwrapped(f"""Both numbers of a pair need the same angle. So for neighbors each angle has to
    come twice in a row, as from `repeat_interleave(2, dim=-1)`, and not all angles and then all of
    them again, as from `repeat` or `cat`. {_part(e)}""")
    ),
)(_repeated(True, _neighbor))

_partners_in_halves = mistake(
    "Your angles are laid out for neighbors, but you multiply the sine by the number R / 2 away.",
    lambda e: (
        unwrapped(f"""Each angle comes twice in a row, so numbers 2i and 2i + 1 are a pair (a, b),
    and the sine needs (−b, a). The halves (−second, first) belong to angles that are laid out in
    halves, too. {_part(e)}""")
    ),
    also=(_repeated(False, lambda first: -_half_away(first)),),
)(_repeated(False, _half_away))


def _side_by_side(pair: tuple[Tensor, Tensor]) -> Tensor:
    return torch.stack(pair, dim=-1).flatten(-2)


def _waves_added(cosine_first: bool) -> Turn:
    def answer(x: Tensor, positions: Tensor, rotated: int, base: float) -> Tensor:
        angle = positions[:, None, :, None] * base ** (-torch.arange(0, rotated, 2) / rotated)
        waves = (angle.cos(), angle.sin()) if cosine_first else (angle.sin(), angle.cos())
        first, rest = x[..., :rotated], x[..., rotated:]
        return torch.cat([first + _side_by_side(waves), rest], dim=-1)

    return answer


_added_not_turned = mistake(
    "You added sines and cosines of t · θ to the numbers instead of multiplying.",
    lambda e: (
        unwrapped(f"""A pair (a, b) should become (a cos − b sin, a sin + b cos), which is as long
    as before. {_part(e)}""")
    ),
    also=(_waves_added(True),),
)(_waves_added(False))


_steps_for_positions = mistake(
    "You turned by the step from one position to the next instead of the position itself.",
    _places,
    also=(_placed(lambda positions: positions.diff(dim=1, prepend=positions[:, :1] * 0)),),
)(_placed(lambda positions: positions.diff(dim=1, prepend=positions[:, :1])))


def _what_turns(evidence: Evidence, turned: Array) -> tuple[str, str]:
    """A sentence on the angles of all pairs, and one with numbers; both empty if nothing explains
    them. `turned` is (B, H, T, R/2).
    """

    def fits(angles: Array) -> bool:
        return bool((abs(np.exp(1j * angles)[:, None] - turned) < _APART).all())

    positions, base = evidence.inputs["positions"], float(evidence.inputs["base"])
    R = evidence.number("R")
    thetas = base ** (-np.arange(0, R, 2) / R)
    found = _positions_read_off(turned, thetas)
    if found is not None:
        rows = " and ".join(f"[{_signed(one)}]" for one in found)
        given = " and ".join(f"[{_signed(one)}]" for one in positions)
        return (
            "You turned neighbors at the right speeds, but by other positions than those given.",
            f"Your angles belong to the positions {rows}, but those given are {given}.",
        )
    own = [(b, int(t)) for b, t in np.argwhere(positions == 1)]
    if own:
        b, t = own[0]
        speeds = np.angle(turned[b, 0, t])
        if fits(positions[..., None] * speeds) and (speeds > 0).all():
            mine = -np.log(speeds) / np.log(base)
            return (
                "You turned neighbors by t times a speed, but the speeds aren't base^(−2i / R).",
                _of_exponents(mine, np.arange(0, R, 2) / R),
            )
    return "", ""


def _of_exponents(mine: Array, right: Array) -> str:
    """A sentence on the exponents of all speeds, with their signs turned."""
    said = f"Yours are {_powers(mine)} instead of {_powers(right)}."
    times = mine[-1] / right[-1]
    if np.allclose(mine, times * right, atol=_APART):
        return f"{said} So each exponent is {number(float(times))} times as large as it should be."
    return said


def _signed(positions: Array) -> str:
    return ", ".join(number(int(one), 6) for one in positions)


def _powers(exponents: Array) -> str:
    return ", ".join(f"base^{number(-round(float(one), 5))}" for one in exponents)


def _positions_read_off(turned: Array, thetas: Array) -> Array | None:
    """(B, T): the whole positions that the angles of all heads belong to, if there are any."""
    near = np.arange(-_FAR, _FAR + 1)
    gaps = abs(np.exp(1j * near[:, None] * thetas) - turned[..., None, :]).max(axis=-1)
    found = near[gaps.argmin(axis=-1)]  # (B, H, T)
    if gaps.min(axis=-1).max() > _APART or (found != found[:, :1]).any():
        return None
    return np.asarray(found[:, 0])


def _formulas() -> Iterator[tuple[str, tuple[int, ...]]]:
    """What somebody may make of a pair, and its factors of a cos, a sin, b cos and b sin."""
    terms = ("a cos", "a sin", "b cos", "b sin")
    for of_a, of_b in itertools.product((0, 1), (2, 3)):
        for signs in itertools.product((1, -1, 0), repeat=2):
            factors = [0, 0, 0, 0]
            factors[of_a], factors[of_b] = signs
            said = "".join(
                f" {'−' if sign < 0 else '+'} {terms[i]}"
                for i, sign in zip((of_a, of_b), signs, strict=True)
                if sign
            )
            if said:
                yield said.removeprefix(" + ").replace(" − ", "−", said[1] == "−"), tuple(factors)


def _other_formula(evidence: Evidence) -> Finding | None:
    """Which sums of sines and cosines pairs become, if they are turned at the right angles."""
    mine, x = evidence.yours("part").astype(float), evidence.inputs["x"].astype(float)
    R = evidence.number("R")
    if close(mine, evidence.right("part")).all():
        return None
    theta = float(evidence.inputs["base"]) ** (-np.arange(0, R, 2) / R)
    angle = evidence.inputs["positions"][:, None, :, None] * theta
    a, b = x[..., 0:R:2], x[..., 1:R:2]
    made = [a * np.cos(angle), a * np.sin(angle), b * np.cos(angle), b * np.sin(angle)]
    found = []
    for own in (mine[..., 0:R:2], mine[..., 1:R:2]):
        for said, factors in _formulas():
            total = sum(f * one for f, one in zip(factors, made, strict=True))
            if np.allclose(own, total, rtol=1e-3, atol=1e-3):
                found.append(said)
                break
    right = ["a cos − b sin", "a sin + b cos"]
    if len(found) < 2 or found == right:
        return None
    return Finding(
        "other-formula",
        "You turn at the right angles, but pairs don't become what they should.",
        f"A pair (a, b) becomes ({found[0]}, {found[1]}) instead of ({right[0]}, {right[1]}). "
        f"{_part(evidence)}",
        SLIDE,
    )


def _other_angles(evidence: Evidence) -> Finding | None:
    """If neighbors are turned by wrong angles: what these have in common, and the first of them."""
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
    what, more = _what_turns(evidence, turned)
    return Finding(
        "other-angles",
        what or "You turned neighbors, but not by t · θ.",
        f"{more} At position {place} of row {b}, you turned pair {i} by {number(by)}, not counting "
        f"full turns. It should be {number(asked)}, since t · θ is {place} · "
        f"{number(float(thetas[i]))}.".strip(),
        SLIDE,
    )


def _some_numbers(evidence: Evidence) -> Finding | None:
    """Which numbers of a vector are wrong, unless all that are turned are."""
    mine, right, x = evidence.yours("part"), evidence.right("part"), evidence.inputs["x"]
    wrong = ~close(mine, right)
    at = wrong.any(axis=(0, 1, 2))
    D, R = evidence.number("D"), evidence.number("R")
    turned = np.arange(D) < R
    if at.all() or not at.any() or (at == turned).all() or close(mine, x).all():
        return None
    said = (
        f"Of {D} numbers, the first {R} are turned. These are wrong: {listed(np.flatnonzero(at))}."
    )
    if not (at & turned).any():
        said += f" The numbers from {R} on should stay as they are."
    for first, which in ((0, "first"), (1, "second")):
        own = slice(first, R, 2)
        if np.array_equal(np.flatnonzero(at), np.arange(D)[own]):
            said += f" So the {which} number of each pair is wrong, and the other one is right."
    return Finding(
        "some-numbers",
        "Some numbers of each vector are right, but others aren't.",
        f"{said} {_part(evidence)}",
        SLIDE,
    )


def _other_lengths(evidence: Evidence) -> Finding | None:
    """If the rest is right, but pairs that were turned have other lengths."""
    mine, given = evidence.yours("part").astype(float), evidence.inputs["x"].astype(float)
    R = evidence.number("R")
    before, after = (np.hypot(side[..., 0:R:2], side[..., 1:R:2]) for side in (given, mine))
    if not close(mine[..., R:], given[..., R:]).all() or np.allclose(before, after, rtol=1e-3):
        return None
    place = np.unravel_index(int(abs(after - before).argmax()), before.shape)
    b, h, t, i = (int(k) for k in place)
    return Finding(
        "other-lengths",
        "Your turn changes the lengths of pairs, but a rotation keeps them.",
        f"In row {b}, head {h}, token {t}, numbers {2 * i} and {2 * i + 1} are a pair of "
        f"length {number(float(before[place]))}, and after your turn its length is "
        f"{number(float(after[place]))}. (a cos − b sin, a sin + b cos) is as long as (a, b). "
        f"{_part(evidence)}",
        SLIDE,
    )


TASK = Task(
    "Neighbors turn",
    rotate_neighbors,
    SLIDE,
    (
        Part("All numbers are turned in neighboring pairs.", 2, matches("whole")),
        Part("Of longer vectors the rest stays as it is.", 2, matches("part", "odd")),
    ),
    cases=("part",),
    properties=(_other_formula, _other_angles, _some_numbers, _other_lengths),
    steps={
        "the exponents": Step(
            "Pair i turns by θ_i = base^(−2i / R) from one position to the next."
        ),
        "the speeds": Step("The first pair turns by 1, and later pairs turn more slowly."),
        "the positions": Step("Each row has positions of its own, which all its heads share."),
        "the angles": Step("At position t, pair i is turned by t · θ_i, in radians."),
        "the new first numbers": Step(
            "(a cos − b sin, a sin + b cos) is as long as (a, b), as a rotation has it."
        ),
        "the new second numbers": Step(
            "(a cos − b sin, a sin + b cos) is made of the old a and b, and is as long as (a, b)."
        ),
        "the new pairs": Step("Both numbers of a pair stay where they were, at 2i and 2i + 1."),
    },
)
