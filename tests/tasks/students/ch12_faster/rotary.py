"""Students' answers to 12/rotary."""

import math

import torch


def by_complex_numbers(x, positions, rotated, base, *, sign=1, size=None, step=2, where=None):
    R = rotated
    positions = positions if where is None else where(positions)
    i = torch.arange(R // 2)
    theta = base ** (-step * i / (size or R))
    turn = torch.polar(torch.ones(1), sign * positions[:, None, :, None] * theta)
    pairs = torch.view_as_complex(x[..., :R].unflatten(-1, (-1, 2)).contiguous())
    return torch.cat([torch.view_as_real(pairs * turn).flatten(-2), x[..., R:]], dim=-1)


def by_loop(x, positions, rotated, base):
    out = x.clone()
    for b in range(x.shape[0]):
        for t in range(x.shape[2]):
            for i in range(0, rotated, 2):
                angle = float(positions[b, t]) * base ** (-i / rotated)
                c, s = math.cos(angle), math.sin(angle)
                out[b, :, t, i] = c * x[b, :, t, i] - s * x[b, :, t, i + 1]
                out[b, :, t, i + 1] = s * x[b, :, t, i] + c * x[b, :, t, i + 1]
    return out


def by_matrices(x, positions, rotated, base):
    angle = positions.double()[..., None] / base ** (torch.arange(0, rotated, 2) / rotated)
    c, s = angle.cos(), angle.sin()
    R = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2).float()
    pairs = x[..., :rotated].unflatten(-1, (-1, 2))
    turned = torch.einsum("btpij,bhtpj->bhtpi", R, pairs).flatten(-2)
    return torch.cat([turned, x[..., rotated:]], dim=-1)


def in_halves(x, positions, rotated, base):
    half = rotated // 2
    angle = positions[:, None, :, None] * base ** (-2 * torch.arange(half) / rotated)
    a, b, rest = x.split([half, half, x.shape[-1] - rotated], dim=-1)
    c, s = angle.cos(), angle.sin()
    return torch.cat([a * c - b * s, b * c + a * s, rest], dim=-1)


RIGHT = {"complex": by_complex_numbers, "loop": by_loop, "matrices": by_matrices}


def as_libraries_do(turned, *, angles=lambda angle: angle.repeat_interleave(2, dim=-1)):
    """x · cos + turned(x) · sin, with an angle for each number."""

    def answer(x, positions, rotated, base):
        speeds = 1 / base ** (torch.arange(0, rotated, 2) / rotated)
        angle = angles(torch.einsum("bt,i->bti", positions.float(), speeds))[:, None]
        front = x[..., :rotated]
        front = front * angle.cos() + turned(front) * angle.sin()
        return torch.cat([front, x[..., rotated:]], dim=-1)

    return answer


def neighbors_exchanged(x):
    pairs = x.unflatten(-1, (-1, 2)).flip(-1)
    return (pairs * torch.tensor([-1.0, 1.0])).flatten(-2)


def halves_exchanged(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def by_formula(make):
    def answer(x, positions, rotated, base):
        angle = positions[:, None, :, None] * base ** (-2 * torch.arange(rotated // 2) / rotated)
        out = x.clone()
        pair = make(x[..., 0:rotated:2], x[..., 1:rotated:2], angle.cos(), angle.sin())
        out[..., 0:rotated:2], out[..., 1:rotated:2] = pair
        return out

    return answer


def half_of_the_pairs(x, positions, rotated, base):
    kept = rotated // 4 * 2
    return torch.cat([by_loop(x, positions, rotated, base)[..., :kept], x[..., kept:]], dim=-1)


def _turned(x, angle, rotated):
    first, rest = x[..., :rotated], x[..., rotated:]
    cos, sin = angle.cos(), angle.sin()
    a, b = first[..., 0::2], first[..., 1::2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    return torch.cat([turned, rest], dim=-1)


def _theta(rotated, base):
    return base ** (-torch.arange(0, rotated, 2) / rotated)


def rest_is_left_out(x, positions, rotated, base):
    angle = positions[:, None, :, None] * _theta(rotated, base)
    return torch.cat(
        [_turned(x, angle, rotated)[..., :rotated], torch.zeros_like(x[..., rotated:])], dim=-1
    )


def degrees(x, positions, rotated, base):
    angle = positions[:, None, :, None] * _theta(rotated, base)
    return _turned(x, torch.deg2rad(angle), rotated)


def steps_for_positions(x, positions, rotated, base):
    gaps = positions.diff(dim=1, prepend=positions[:, :1])
    return _turned(x, gaps[:, None, :, None] * _theta(rotated, base), rotated)


def turn(first, angle):
    cos, sin = angle.cos(), angle.sin()
    a, b = first[..., 0::2], first[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


# "Positions are given ... They need not begin at 0": here they are moved there.
def positions_are_moved_to_zero(x, positions, rotated, base):
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = (positions - positions[:, :1])[:, None, :, None] * theta
    return torch.cat([turn(x[..., :rotated], angle), x[..., rotated:]], dim=-1)


def last_numbers_turn(x, positions, rotated, base):
    angle = positions[:, None, :, None] * _theta(rotated, base)
    turned = _turned(x.roll(rotated, dims=-1), angle, rotated)
    return turned.roll(-rotated, dims=-1)


def with_waves_added(x, positions, rotated, base):
    """As the positions of chapter 13 come in."""
    out = x.clone()
    for i in range(rotated // 2):
        angle = (positions * base ** (-2 * i / rotated))[:, None]
        out[..., 2 * i] += torch.sin(angle)
        out[..., 2 * i + 1] += torch.cos(angle)
    return out


WRONG = {
    "added-not-turned": with_waves_added,
    "angles-in-halves": as_libraries_do(
        neighbors_exchanged, angles=lambda angle: torch.cat([angle, angle], dim=-1)
    ),
    "partners-in-halves": as_libraries_do(halves_exchanged),
    "turned-backwards": lambda *given: by_complex_numbers(*given, sign=-1),
    "rest-is-0": rest_is_left_out,
    "in-degrees": degrees,
    "steps-for-positions": steps_for_positions,
    "moved-to-zero": positions_are_moved_to_zero,
    "halves-paired": in_halves,
    "angles-from-all": lambda x, *given: by_complex_numbers(x, *given, size=x.shape[-1]),
    "counted-anew": lambda *given: by_complex_numbers(
        *given, where=lambda p: torch.arange(p.shape[1])[None]
    ),
    "without-gaps": lambda *given: by_complex_numbers(
        *given, where=lambda p: p[:, [0]] + torch.arange(p.shape[1])
    ),
    "last-numbers-turned": last_numbers_turn,
}


def doubled(x, where, R, base):
    out = by_loop(x, where, R, base)
    return torch.cat([2 * out[..., :R], out[..., R:]], dim=-1)


ODD = [
    (by_formula(lambda a, b, c, s: (a * s, b * c)), "other-formula"),
    (
        by_formula(lambda a, b, c, s: (a * c - b * s, b)),
        "used-b-instead-of-the-new-second-numbers-in-the-new-pairs",
    ),
    (half_of_the_pairs, "other-angles"),
    (lambda x, where, R, base: by_loop(x, where.cumsum(1), R, base), "other-angles"),
    (doubled, "other-lengths"),
    (lambda x, *_: x, "input-returned"),
    (lambda x, *_: x.mean(-1), "shape"),
    (lambda x, *_: x / 0, "not-finite"),
]


# --- Answers that no list names ---


# "the first R numbers of each vector are turned", also where there is no rest that stays.
def without_a_rest_nothing_is_turned(x, positions, rotated, base):
    if x.shape[-1] == rotated:
        return x.clone()
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = positions[:, None, :, None] * theta
    return torch.cat([turn(x[..., :rotated], angle), x[..., rotated:]], dim=-1)


def exponent_doubled(x, positions, rotated, base):
    """Counts i in steps of 2 and multiplies it by 2 once more: the exponent is -4i/R."""
    i = torch.arange(0, rotated, 2)
    theta = base ** (-2 * i / rotated)
    angle = positions[:, None, :, None] * theta
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., 0:rotated:2], x[..., 1:rotated:2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    return torch.cat([turned, x[..., rotated:]], dim=-1)


UNLISTED = {
    5: [(without_a_rest_nothing_is_turned, "some-calls")],
    13: [(exponent_doubled, "used-4-instead-of-2-in-the-exponents")],
}
