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


def same_signs(x, positions, rotated, base):
    angle = positions[:, None, :, None] * base ** (-2 * torch.arange(rotated // 2) / rotated)
    out = x.clone()
    a, b = x[..., 0:rotated:2], x[..., 1:rotated:2]
    out[..., 0:rotated:2] = a * angle.cos() + b * angle.sin()
    out[..., 1:rotated:2] = a * angle.sin() + b * angle.cos()
    return out


def exchanged(x, positions, rotated, base):
    angle = positions[:, None, :, None] * base ** (-2 * torch.arange(rotated // 2) / rotated)
    out = x.clone()
    a, b = x[..., 0:rotated:2], x[..., 1:rotated:2]
    out[..., 0:rotated:2] = a * angle.sin() - b * angle.cos()
    out[..., 1:rotated:2] = a * angle.cos() + b * angle.sin()
    return out


def laid_out_in_halves(x, R):
    return torch.cat([x[..., 0:R:2], x[..., 1:R:2], x[..., R:]], dim=-1)


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


def a_speed_for_each_number(x, positions, rotated, base):
    def angles(angle):
        speeds = base ** (-torch.arange(rotated) / rotated)
        return positions[:, :, None] * speeds

    return as_libraries_do(neighbors_exchanged, angles=angles)(x, positions, rotated, base)


def with_waves_added(x, positions, rotated, base):
    """As the positions of chapter 13 come in."""
    out = x.clone()
    for i in range(rotated // 2):
        angle = (positions * base ** (-2 * i / rotated))[:, None]
        out[..., 2 * i] += torch.sin(angle)
        out[..., 2 * i + 1] += torch.cos(angle)
    return out


def by_formula(make):
    def answer(x, positions, rotated, base):
        angle = positions[:, None, :, None] * base ** (-2 * torch.arange(rotated // 2) / rotated)
        out = x.clone()
        pair = make(x[..., 0:rotated:2], x[..., 1:rotated:2], angle.cos(), angle.sin())
        out[..., 0:rotated:2], out[..., 1:rotated:2] = pair
        return out

    return answer


def heads_differ(x, positions, rotated, base):
    heads = [by_matrices(x[:, [h]], positions * (h + 1), rotated, base) for h in range(x.shape[1])]
    return torch.cat(heads, dim=1)


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


def turned_in_place(x, positions, rotated, base):
    """Computes the second number of a pair from the first one after its turn."""
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = positions[:, None, :, None] * theta
    out = x.clone()
    a, b = out[..., 0:rotated:2], out[..., 1:rotated:2]
    a.copy_(a * angle.cos() - b * angle.sin())
    b.copy_(a * angle.sin() + b * angle.cos())
    return out


def speeds_the_other_way_round(x, positions, rotated, base):
    theta = _theta(rotated, base).flip(0)
    return _turned(x, positions[:, None, :, None] * theta, rotated)


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


WRONG = {
    "rest-in-front": lambda x, where, R, base: torch.cat(
        [x[..., R:], by_loop(x, where, R, base)[..., :R]], dim=-1
    ),
    "pair-exchanged": by_formula(lambda a, b, c, s: (a * s + b * c, a * c - b * s)),
    "not-mixed": by_formula(lambda a, b, c, s: (a * c, b * s)),
    "added-not-turned": with_waves_added,
    "angles-in-halves": as_libraries_do(
        neighbors_exchanged, angles=lambda angle: torch.cat([angle, angle], dim=-1)
    ),
    "partners-in-halves": as_libraries_do(halves_exchanged),
    "partner-without-its-sign": as_libraries_do(lambda x: torch.roll(x, 1, -1)),
    "speeds-of-numbers": a_speed_for_each_number,
    "laid-out-in-halves": lambda x, where, R, base: laid_out_in_halves(
        by_loop(x, where, R, base), R
    ),
    "rest-is-0": rest_is_left_out,
    "second-from-the-turned-first": turned_in_place,
    "speeds-reversed": speeds_the_other_way_round,
    "in-degrees": degrees,
    "steps-for-positions": steps_for_positions,
    "moved-to-zero": positions_are_moved_to_zero,
    "halves-paired": in_halves,
    "all-rotated": lambda x, where, R, base: by_loop(x, where, x.shape[-1], base),
    "angles-from-all": lambda x, *given: by_complex_numbers(x, *given, size=x.shape[-1]),
    "counted-anew": lambda *given: by_complex_numbers(
        *given, where=lambda p: torch.arange(p.shape[1])[None]
    ),
    "first-row-for-all": lambda x, where, R, base: by_loop(x, where[0].repeat(len(x), 1), R, base),
    "without-gaps": lambda *given: by_complex_numbers(
        *given, where=lambda p: p[:, [0]] + torch.arange(p.shape[1])
    ),
    "one-ahead": lambda x, where, *given: by_matrices(x, where + 1, *given),
    "turned-backwards": lambda *given: by_complex_numbers(*given, sign=-1),
    "not-a-rotation": same_signs,
    "sine-and-cosine-exchanged": exchanged,
    "exponents-too-small": lambda *given: by_complex_numbers(*given, step=1),
    "rest-dropped": lambda x, where, R, base: by_loop(x, where, R, base)[..., :R],
    "last-numbers-turned": last_numbers_turn,
}


def doubled(x, where, R, base):
    out = by_loop(x, where, R, base)
    return torch.cat([2 * out[..., :R], out[..., R:]], dim=-1)


ODD = [
    (by_formula(lambda a, b, c, s: (a * c - b * s, a * s - b * c)), "other-formula"),
    (by_formula(lambda a, b, c, s: (a * c - b * s, b)), "some-numbers"),
    (heads_differ, "other-angles"),
    (half_of_the_pairs, "other-angles"),
    (lambda x, where, R, base: by_loop(x, where.cumsum(1), R, base), "other-angles"),
    (doubled, "other-lengths"),
    (lambda x, where, R, base: by_loop(x, where, R, 2 * base), "other-angles"),
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
    13: [(exponent_doubled, "other-angles")],
}
