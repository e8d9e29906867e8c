"""Judges 07/layer-norm: normalizing each position in groups of channels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch07_block.sections import AXIS, NORM
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.quoting import farthest, farthest_index
from course_judges.wording import first_upper, number, numbers_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding, Tells

Norm = Callable[[Tensor, Tensor, Tensor, int, float], Tensor]


def group_norm(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
    """Each group of neighboring channels of each position, brought to mean 0 and variance 1."""
    parts = x.unflatten(-1, (groups, -1))  # the groups (B, T, G, C / G)
    mean = parts.mean(dim=-1, keepdim=True)  # the means (B, T, G, 1)
    centred = parts - mean  # the centered groups (B, T, G, C / G)
    variance = centred.square().mean(dim=-1, keepdim=True)  # the variances (B, T, G, 1)
    deviation = (variance + eps).sqrt()  # the standard deviations (B, T, G, 1)
    normed = (centred / deviation).flatten(-2)  # the normalized numbers (B, T, C)
    return gain * normed + shift  # your output (B, T, C)


def _over(*dims: int) -> Norm:
    """Statistics along these dimensions of (B, T, G, C / G)."""

    def answer(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
        parts = x.unflatten(-1, (groups, -1))  # (B, T, C) → (B, T, G, C / G)
        centred = parts - parts.mean(dim=dims, keepdim=True)
        variance = centred.square().mean(dim=dims, keepdim=True)
        return gain * (centred / (variance + eps).sqrt()).flatten(-2) + shift

    return answer


def _divided(divisor: Callable[[Tensor, Tensor, float], Tensor]) -> Norm:
    """Divided by something else, made from biased variance, unbiased variance and eps."""

    def answer(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
        parts = x.unflatten(-1, (groups, -1))  # (B, T, C) → (B, T, G, C / G)
        centred = parts - parts.mean(dim=-1, keepdim=True)
        biased = parts.var(dim=-1, keepdim=True, correction=0)
        unbiased = parts.var(dim=-1, keepdim=True)
        return gain * (centred / divisor(biased, unbiased, eps)).flatten(-2) + shift

    return answer


def _plain(x: Tensor, groups: int, eps: float) -> Tensor:
    C = x.shape[-1]
    one, zero = torch.ones(C, dtype=x.dtype), torch.zeros(C, dtype=x.dtype)
    return group_norm(x, one, zero, groups, eps)


def _spread(evidence: Evidence) -> str:
    """The standard deviation of your first position before gain and shift, and the right one."""
    gain, shift = evidence.inputs["gain"], evidence.inputs["shift"]
    mine, right = (
        ((v[0, 0] - shift) / gain).std() for v in (evidence.yours("whole"), evidence.right("whole"))
    )
    return unwrapped(f"""With C = {evidence.number("C")} and eps =
    {float(evidence.inputs["eps"]):g}, your first position has a standard deviation of {mine:.3f}
    before gain and shift instead of {right:.3f}.""")


def _moves(evidence: Evidence) -> str:
    return unwrapped(f"""With (B, T, C) = ({evidence.number("B")}, {evidence.number("T")},
    {evidence.number("C")}), take mean and variance over the last dimension only.
    {farthest(evidence, "whole")}""")


def _in_groups(evidence: Evidence) -> str:
    C, groups = evidence.number("C"), evidence.number("groups")
    size = C // groups
    return unwrapped(f"""With C = {C} and groups = {groups}, group 0 is channels 0 to {size - 1} and
    group 1 is channels {size} to {2 * size - 1}. {farthest(evidence, "groups")}""")


def _flat_position(evidence: Evidence) -> str:
    mine, shift = evidence.yours("constant")[-1, -1], evidence.inputs["shift"]
    return unwrapped(f"""If all channels of a group are equal, their variance is 0, and eps keeps
    you from dividing by 0. So the result should be the shift, {number(float(shift[0]))} in channel
    0, but yours is {number(float(mine[0]))}.""")


def _single_channels(evidence: Evidence) -> Finding | None:
    """Wrong only where every group is one channel."""
    groups = evidence.number("groups")
    if groups != evidence.number("C") or not evidence.same("whole", "constant"):
        return None
    return Finding(
        "single-channel-groups",
        "Your answer is wrong when each group is a single channel.",
        unwrapped(f"""With C = {groups} and groups = {groups}, each channel is its own mean and has
        variance 0, so the result should be the shift. {farthest(evidence, "groups")}"""),
        NORM,
    )


def _is_without_eps(evidence: Evidence) -> bool:
    return not np.isfinite(evidence.yours("constant")[-1, -1]).all()


def _centred_and(more: float, x: Tensor, groups: int) -> Tensor:
    """Divided by the root of the variance alone, with a number added to the numerator."""
    parts = x.unflatten(-1, (groups, -1))
    centred = parts - parts.mean(dim=-1, keepdim=True)
    deviation = centred.square().mean(dim=-1, keepdim=True).sqrt()
    return ((centred + more) / deviation).flatten(-2)


_unbiased_variance = mistake(
    "Your variance divides by n − 1, but a layer norm divides by n.",
    lambda e: unwrapped(f"""`x.var()` and `x.std()` divide by n − 1 unless you pass `correction=0`.
    {_spread(e)}"""),
)(_divided(lambda _, unbiased, eps: (unbiased + eps).sqrt()))

_eps_outside = mistake("You added `eps` after the root, but it belongs under the root.", _spread)(
    _divided(lambda biased, _, eps: biased.sqrt() + eps)
)

_eps_as_a_floor = mistake(
    unwrapped("""Where the variance is above `eps`, your `eps` has no effect, but it should be added
    to every variance."""),
    lambda e: (
        unwrapped(f"""Do you use it as a lower limit, as `clamp(min=eps)` and `F.normalize` do?
    {_spread(e)}""")
    ),
    cases=("whole", "constant"),
    also=(
        _divided(lambda biased, _, eps: biased.sqrt().clamp(min=eps)),
        lambda x, gain, shift, groups, eps: _divided(
            lambda biased, _, eps: biased.sqrt().clamp(min=eps / (x.shape[-1] // groups) ** 0.5)
        )(x, gain, shift, groups, eps),
    ),
)(_divided(lambda biased, _, eps: biased.clamp(min=eps).sqrt()))

_eps_ignored = mistake(
    "Your function doesn't use the `eps` that it is given.",
    lambda e: _flat_position(e) if _is_without_eps(e) else _spread(e),
    also=(_divided(lambda biased, _, eps: (biased + 1e-5).sqrt()),),  # noqa: ARG005
)(Like("left-out-eps-in-the-standard-deviations"))


def _made_of(
    mean: Callable[[Tensor, Tensor], Tensor], square: Callable[[Tensor, Tensor], Tensor]
) -> Norm:
    """Statistics of other numbers: what is subtracted, and what the divisor is the root of, each
    from the groups (B, T, G, C / G) and the whole position (B, T, 1, C).
    """

    def answer(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
        parts, whole = x.unflatten(-1, (groups, -1)), x.unsqueeze(-2)
        divisor = (square(parts, whole) + eps).sqrt()
        return gain * ((parts - mean(parts, whole)) / divisor).flatten(-2) + shift

    return answer


def _mean(values: Tensor) -> Tensor:
    return values.mean(dim=-1, keepdim=True)


def _biased(values: Tensor) -> Tensor:
    return values.var(dim=-1, keepdim=True, correction=0)


_squares_of_x = mistake(
    "For the variance you squared `x` itself instead of its distance from the mean.",
    lambda e: unwrapped(f"""The variance is the mean of the squared distances from the mean.
    {_spread(e)}"""),
)(Like("used-the-groups-instead-of-the-centered-groups-in-the-variances"))

_mean_over_the_positions = mistake(
    "You took the mean over the positions, but the variance over the channels.",
    lambda e: f"Both should be those of the channels of a group. {_moves(e)}",
    AXIS,
)(_made_of(lambda parts, _: parts.mean(dim=1, keepdim=True), lambda parts, _: _biased(parts)))

_variance_over_the_positions = mistake(
    "You took the variance over the positions, but the mean over the channels.",
    lambda e: f"Both should be those of the channels of a group. {_moves(e)}",
    AXIS,
)(
    _made_of(
        lambda parts, _: _mean(parts),
        lambda parts, _: parts.var(dim=1, keepdim=True, correction=0),
    )
)

_mean_of_the_position = mistake(
    "You subtracted the mean of the whole position, but each group has its own mean.",
    _in_groups,
    cases=("whole", "groups"),
)(_made_of(lambda _, whole: _mean(whole), lambda parts, _: _biased(parts)))

_variance_of_the_position = mistake(
    "You divided by the standard deviation of the whole position, but each group has its own.",
    _in_groups,
    cases=("whole", "groups"),
)(_made_of(lambda parts, _: _mean(parts), lambda _, whole: _biased(whole)))

_last_group_for_all = mistake(
    "You used the mean or the variance of the last group for every group, but each has its own.",
    _in_groups,
    cases=("whole", "groups"),
    also=(
        _made_of(lambda parts, _: _mean(parts[..., -1:, :]), lambda parts, _: _biased(parts)),
        _made_of(lambda parts, _: _mean(parts), lambda parts, _: _biased(parts[..., -1:, :])),
    ),
)(
    _made_of(
        lambda parts, _: _mean(parts[..., -1:, :]), lambda parts, _: _biased(parts[..., -1:, :])
    )
)

_one_variance = mistake(
    "You subtracted each group's own mean, but you divided all groups by the root of one variance.",
    lambda e: unwrapped(f"""Your variance is the mean of the squared distances of all C channels of
    a position, but each group has a variance of its own. {_in_groups(e)}"""),
    cases=("whole", "groups"),
)(_made_of(lambda parts, _: _mean(parts), lambda parts, _: _biased(parts).mean(-2, keepdim=True)))

_mean_of_the_deviations = mistake(
    "You divided all groups by the mean of their standard deviations, but each has its own.",
    _in_groups,
    cases=("whole", "groups"),
)(_divided(lambda biased, _, eps: (biased + eps).sqrt().mean(-2, keepdim=True).expand_as(biased)))

_first_group_for_all = mistake(
    "You used the mean or the variance of the first group for every group, but each has its own.",
    _in_groups,
    cases=("whole", "groups"),
    also=(
        _made_of(lambda parts, _: _mean(parts[..., :1, :]), lambda parts, _: _biased(parts)),
        _made_of(lambda parts, _: _mean(parts), lambda parts, _: _biased(parts[..., :1, :])),
    ),
)(_made_of(lambda parts, _: _mean(parts[..., :1, :]), lambda parts, _: _biased(parts[..., :1, :])))

_eps_elsewhere = mistake(
    "You added `eps` in the wrong place. It belongs under the root, next to the variance.",
    _spread,
    also=(
        _divided(lambda biased, _, eps: (biased.sqrt() + eps).sqrt()),
        lambda x, gain, shift, groups, eps: gain * (_plain(x, groups, 0.0) + eps) + shift,
        lambda x, gain, shift, groups, eps: gain * _plain(x, groups, 0.0) + shift + eps,
    ),
)(lambda x, gain, shift, groups, eps: _centred_and(eps, x, groups) * gain + shift)


def _twice(first: Callable[[int], int], second: Callable[[int], int]) -> Norm:
    """Normalized twice, each time in so many groups."""

    def answer(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
        once = _plain(x, first(groups), eps)
        return group_norm(once, gain, shift, second(groups), eps)

    return answer


_normed_twice = mistake(
    "You normalized twice, but once is enough.",
    lambda e: f"The second time, you normalized the result of the first. {_spread(e)}",
    cases=("whole", "groups"),
    also=(_twice(lambda _: 1, lambda n: n), _twice(lambda n: n, lambda n: n)),
)(_twice(lambda n: n, lambda _: 1))

_over_the_sequence = mistake(
    "You normalized over the sequence instead of the channels of each position.",
    lambda e: f"Each position now depends on later ones, so the future leaks. {_moves(e)}",
    AXIS,
)(_over(1))

_over_the_batch = mistake(
    "You normalized over the batch and the sequence, which is BatchNorm.",
    lambda e: f"The samples of a batch now depend on each other. {_moves(e)}",
    AXIS,
)(_over(0, 1))

_positions_together = mistake(
    "You took mean and variance over all positions of a sample together.",
    lambda e: f"Each position now depends on later ones, so the future leaks. {_moves(e)}",
    AXIS,
)(_over(1, 2, 3))

_gain_before_the_norm = mistake(
    "You applied the gain and the shift to `x` before normalizing.",
    lambda e: f"They come last, after the division. {farthest(e, 'whole')}",
)(lambda x, gain, shift, groups, eps: _plain(gain * x + shift, groups, eps))

_gain_goes_first = mistake(
    "You multiplied `x` by the gain before normalizing, but the gain comes last, like the shift.",
    lambda e: f"Normalizing afterwards undoes part of the gain. {farthest(e, 'whole')}",
)(lambda x, gain, shift, groups, eps: _plain(gain * x, groups, eps) + shift)

_shift_goes_first = mistake(
    "You added the shift to `x` before normalizing, but the shift comes last, like the gain.",
    lambda e: farthest(e, "whole"),
)(lambda x, gain, shift, groups, eps: gain * _plain(x + shift, groups, eps))


@mistake(
    "Your groups take every n-th channel, but a group should be channels next to each other.",
    _in_groups,
    cases=("whole", "groups"),
)
def _groups_interleaved(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
    parts = x.unflatten(-1, (-1, groups))  # (B, T, C) → (B, T, C / G, G)
    centred = parts - parts.mean(dim=-2, keepdim=True)
    variance = centred.square().mean(dim=-2, keepdim=True)
    return gain * (centred / (variance + eps).sqrt()).flatten(-2) + shift


def _of_the_first(values: Tensor, groups: int) -> Tensor:
    """The entries of the first group, repeated for each of the others."""
    return values[: len(values) // groups].repeat(groups)


@mistake(
    "You used the first group's gain or shift for every group, but each channel has its own.",
    _in_groups,
    cases=("whole", "groups"),
    also=(
        lambda x, gain, shift, groups, eps: group_norm(
            x, _of_the_first(gain, groups), shift, groups, eps
        ),
        lambda x, gain, shift, groups, eps: group_norm(
            x, gain, _of_the_first(shift, groups), groups, eps
        ),
    ),
)
def _gain_of_the_first_group(
    x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float
) -> Tensor:
    gain, shift = _of_the_first(gain, groups), _of_the_first(shift, groups)
    return group_norm(x, gain, shift, groups, eps)


def _of_that_width(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
    return group_norm(x, gain, shift, x.shape[-1] // groups, eps)


@mistake(
    "You took `groups` for the number of channels in a group, but it's the number of groups.",
    _in_groups,
    cases=("whole", "groups"),
    also=(_of_that_width,),
)
def _groups_for_their_width(
    x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float
) -> Tensor:
    if groups == 1:  # all channels are one group after all
        return group_norm(x, gain, shift, groups, eps)
    return _of_that_width(x, gain, shift, groups, eps)


def _but_the_last_group(left: Callable[[Tensor], Tensor]) -> Norm:
    """The last group is made from `x` in another way."""

    def answer(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
        start = x.shape[-1] - x.shape[-1] // groups
        normed = _plain(x, groups, eps)[..., :start]
        return gain * torch.cat([normed, left(x[..., start:])], dim=-1) + shift

    return answer


_last_group_forgotten = mistake(
    "You didn't normalize the last group.",
    lambda e: unwrapped(f"""With C = {e.number("C")} and groups = {e.number("groups")} it is
    channels {e.number("C") - e.number("C") // e.number("groups")} to {e.number("C") - 1}. If you
    loop over the groups, where does the loop end? {farthest(e, "groups")}"""),
    cases=("whole", "groups"),
    also=(_but_the_last_group(torch.zeros_like),),
)(_but_the_last_group(lambda part: part))


@mistake(
    "You didn't normalize the first group.",
    lambda e: unwrapped(f"""With C = {e.number("C")} and groups = {e.number("groups")} it is
    channels 0 to {e.number("C") // e.number("groups") - 1}. If you loop over the groups, where does
    the loop begin? {farthest(e, "groups")}"""),
    cases=("whole", "groups"),
)
def _first_group_forgotten(
    x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float
) -> Tensor:
    size = x.shape[-1] // groups
    rest = _plain(x, groups, eps)[..., size:]
    return gain * torch.cat([x[..., :size], rest], dim=-1) + shift


@mistake(
    "You used one gain or one shift for all channels of a group, but each channel has its own.",
    lambda e: f"They have C = {e.number('C')} entries, one per channel. {farthest(e, 'whole')}",
    cases=("whole", "groups"),
)
def _one_gain_a_group(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
    size = x.shape[-1] // groups
    gain, shift = (one[:groups].repeat_interleave(size) for one in (gain, shift))
    return group_norm(x, gain, shift, groups, eps)


_across_the_groups = mistake(
    "You normalized across the groups instead of within each group.", _in_groups, cases=("groups",)
)(_over(2))


def _overlapping(left: Callable[[Tensor], Tensor]) -> Norm:
    """Group g begins at channel g; `left` says what is left in the others."""

    def answer(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
        size = x.shape[-1] // groups
        out = left(x).clone()
        for g in range(groups):
            out[..., g : g + size] = _plain(x[..., g : g + size], 1, eps)
        return gain * out + shift

    return answer


_groups_overlap = mistake(
    "Your groups overlap: group g begins at channel g.",
    lambda e: f"Group g should begin at channel g · C / groups. {_in_groups(e)}",
    cases=("whole", "groups"),
    also=(_overlapping(torch.zeros_like),),
)(_overlapping(lambda x: x))


def _first_wrong_case(evidence: Evidence) -> tuple[str, int]:
    """The first of the two ordinary calls that is wrong, and its number of groups.

    Raises
    ------
    KeyError
        If both are right, or the first one that isn't has another shape.
    """
    for case, groups in (("whole", 1), ("groups", evidence.number("groups"))):
        if not evidence.same(case) and evidence.comparable(case):
            return case, groups
    raise KeyError("nothing is wrong that could be looked at")


def _parts(evidence: Evidence, groups: int) -> Array:
    """(B, T, G, C / G) the groups of `x`."""
    x = evidence.inputs["x"].astype(float)
    return x.reshape(*x.shape[:2], groups, -1)


def _without_gain(evidence: Evidence, case: str, groups: int) -> Array:
    """(B, T, G, C / G) the answer before gain and shift, if it used these rightly."""
    gain, shift = evidence.inputs["gain"], evidence.inputs["shift"]
    mine = (evidence.yours(case).astype(float) - shift) / gain
    return mine.reshape(*mine.shape[:2], groups, -1)


def _deviation(parts: Array, eps: float) -> Array:
    return np.asarray(np.sqrt(parts.var(axis=-1, keepdims=True) + eps))


def _channel_left_out(evidence: Evidence) -> Finding | None:
    """The statistics are those of all channels of a group but the first or the last."""
    case, groups = _first_wrong_case(evidence)
    parts, mine = _parts(evidence, groups), _without_gain(evidence, case, groups)
    eps = float(evidence.inputs["eps"])
    if parts.shape[-1] < _FEW:
        return None
    for which, of in (("last", slice(None, -1)), ("first", slice(1, None))):
        some = parts[..., of]
        wanted = (some - some.mean(axis=-1, keepdims=True)) / _deviation(some, eps)
        if np.allclose(mine[..., of], wanted, atol=1e-3):
            return Finding(
                "channel-left-out",
                f"You left the {which} channel of each group out.",
                f"Your mean and variance are those of {parts.shape[-1] - 1} channels, but a group "
                f"has {parts.shape[-1]} here. {farthest(evidence, case)}",
                NORM,
            )
    return None


# Through fewer points there is a straight line by chance.
_FEW = 3


def _other_statistics(evidence: Evidence) -> Finding | None:
    """Each group is shifted and scaled as a whole, but by other numbers."""
    case, groups = _first_wrong_case(evidence)
    parts, mine = _parts(evidence, groups), _without_gain(evidence, case, groups)
    eps = float(evidence.inputs["eps"])
    if parts.shape[-1] < _FEW:
        return None
    mean = parts.mean(axis=-1, keepdims=True)
    centred, level = parts - mean, mine.mean(axis=-1, keepdims=True)
    slope = (centred * mine).sum(axis=-1, keepdims=True) / (centred**2).sum(axis=-1, keepdims=True)
    if not np.allclose(slope * centred + level, mine, atol=1e-3) or (np.abs(slope) < 1e-3).any():
        return None
    divisor, right = 1 / slope, _deviation(parts, eps)
    subtracted = mean - level / slope
    of_mean = not np.allclose(subtracted, mean, atol=1e-3)
    of_divisor = not np.allclose(divisor, right, rtol=1e-3)
    if not (of_mean or of_divisor):
        return None
    off = np.abs(subtracted - mean) / right + np.abs(np.log(np.abs(divisor) / right))
    place = farthest_index(off, np.zeros_like(off))
    told, named = [], []
    if of_mean:
        named.append(_by_name(_MEANS, parts, eps, subtracted))
        shown = numbers_apart(round(float(subtracted[place]), 6) + 0.0, float(mean[place]))
        told.append(f"you subtract {shown[0]}{named[-1]} instead of the mean, {shown[1]}")
    if of_divisor:
        named.append(_by_name(_DIVISORS, parts, eps, divisor))
        shown = numbers_apart(float(divisor[place]), float(right[place]))
        told.append(
            f"you divide by {shown[0]}{named[-1]} instead of √(variance + eps), which is {shown[1]}"
        )
    what = {
        (True, False): "You divide by the right number, but you don't subtract the group's mean.",
        (
            False,
            True,
        ): "You subtract the mean, but you don't divide by the group's √(variance + eps).",
        (True, True): "You neither subtract the group's mean nor divide by its √(variance + eps).",
    }[of_mean, of_divisor]
    shared = [
        name
        for name, off, values in (
            ("subtract the same number from", of_mean, subtracted),
            ("divide by the same number in", of_divisor, divisor),
        )
        if off and groups > 1 and np.allclose(values, values[:, :, :1], rtol=1e-4, atol=1e-4)
    ]
    in_all = (
        f" You {' and '.join(shared)} all {groups} groups of a position, but each group has"
        " its own mean and variance."
        if shared
        else ""
    )
    return Finding(
        "other-statistics",
        what,
        f"In group {place[2]} of position {place[1]} of sample {place[0]}, {', and '.join(told)}."
        f"{in_all}",
        NORM,
        tells=Tells.CAUSE if all(named) else Tells.PLACE,
    )


_Statistic = Callable[[Array, float], Array]


def _by_name(known: dict[str, _Statistic], parts: Array, eps: float, mine: Array) -> str:
    """What these numbers are, if they have a name."""
    for name, of in known.items():
        if np.allclose(of(parts, eps), mine, rtol=1e-3, atol=1e-3):
            return f", {name},"
    return ""


def _var(parts: Array, correction: int = 0) -> Array:
    return np.asarray(parts.var(axis=-1, keepdims=True, ddof=correction))


_MEANS: dict[str, _Statistic] = {
    "the median": lambda p, _: np.sort(p, axis=-1)[..., [(p.shape[-1] - 1) // 2]],
    "the smallest of the numbers": lambda p, _: p.min(axis=-1, keepdims=True),
    "the largest of the numbers": lambda p, _: p.max(axis=-1, keepdims=True),
    "the mean over the positions and channels": lambda p, _: np.broadcast_to(
        p.mean(axis=(1, 3), keepdims=True), (*p.shape[:3], 1)
    ),
    "their sum": lambda p, _: p.sum(axis=-1, keepdims=True),
}

_DIVISORS: dict[str, _Statistic] = {
    "√(variance + eps) with n = C instead of C / groups in the variance": lambda p, eps: np.sqrt(
        _var(p) / p.shape[2] + eps
    ),
    "that of the group with the largest variance": lambda p, eps: np.sqrt(
        _var(p).max(axis=2, keepdims=True) + eps + 0 * _var(p)
    ),
    "the root of the variance that divides by n − 1, plus eps": lambda p, eps: (
        np.sqrt(_var(p, 1)) + eps
    ),
    "the mean distance from the mean": lambda p, _: np.abs(p - p.mean(axis=-1, keepdims=True)).mean(
        axis=-1, keepdims=True
    ),
    "the mean distance from the mean plus eps": lambda p, eps: (
        np.abs(p - p.mean(axis=-1, keepdims=True)).mean(axis=-1, keepdims=True) + eps
    ),
    "the root of the sum of squared distances, not of their mean": lambda p, eps: np.sqrt(
        _var(p) * p.shape[-1] + eps
    ),
    "the root of the sum of squared distances, not of their mean, plus eps": lambda p, eps: (
        np.sqrt(_var(p) * p.shape[-1]) + eps
    ),
    "√(variance + eps · groups)": lambda p, eps: np.sqrt(_var(p) + eps * p.shape[2]),
    "√(variance + eps / n), with n the channels of a group": lambda p, eps: np.sqrt(
        _var(p) + eps / p.shape[-1]
    ),
    "√(variance + eps · n), with n the channels of a group": lambda p, eps: np.sqrt(
        _var(p) + eps * p.shape[-1]
    ),
    "1 / √(variance + eps)": lambda p, eps: 1 / np.sqrt(_var(p) + eps),
    "√(variance + eps) + eps": lambda p, eps: np.sqrt(_var(p) + eps) + eps,
    "√(variance + eps²)": lambda p, eps: np.sqrt(_var(p) + eps**2),
    "√(variance + √eps)": lambda p, eps: np.sqrt(_var(p) + eps**0.5),
    "√variance · eps": lambda p, eps: np.sqrt(_var(p)) * eps,
    "the variance": lambda p, _: _var(p),
    "the variance squared, plus eps": lambda p, eps: _var(p) ** 2 + eps,
    "√√(variance + eps)": lambda p, eps: (_var(p) + eps) ** 0.25,
    "√(√variance + eps)": lambda p, eps: np.sqrt(np.sqrt(_var(p)) + eps),
    "the largest minus the smallest number": lambda p, _: np.ptp(p, axis=-1, keepdims=True),
    "the largest minus the smallest number, plus eps": lambda p, eps: (
        np.ptp(p, axis=-1, keepdims=True) + eps
    ),
    "the root of the mean distance plus eps": lambda p, eps: np.sqrt(
        np.abs(p - p.mean(axis=-1, keepdims=True)).mean(axis=-1, keepdims=True) + eps
    ),
    "with n − 1 in the variance squared": lambda p, eps: _var(p, 1) + eps,
}


def _other_gain(evidence: Evidence) -> Finding | None:
    """The normalized numbers are right, but gain and shift are used otherwise."""
    case, groups = _first_wrong_case(evidence)
    parts, mine = _parts(evidence, groups), evidence.yours(case).astype(float)
    normed = (parts - parts.mean(axis=-1, keepdims=True)) / _deviation(
        parts, float(evidence.inputs["eps"])
    )
    rows, wanted = mine.reshape(-1, mine.shape[-1]), normed.reshape(-1, mine.shape[-1])
    x, y = wanted - wanted.mean(axis=0), rows - rows.mean(axis=0)
    if not x.any(axis=0).all():
        return None
    factor = (x * y).sum(axis=0) / (x * x).sum(axis=0)
    added = rows.mean(axis=0) - factor * wanted.mean(axis=0)
    if not np.allclose(factor * wanted + added, rows, atol=1e-3):
        return None
    gain, shift = (evidence.inputs[name].astype(float) for name in ("gain", "shift"))
    told, known_all = [], True
    for verb, name, mine_by_channel, right in (
        ("multiply by", "gain", factor, gain),
        ("add", "shift", added, shift),
    ):
        if np.allclose(mine_by_channel, right, atol=1e-3):
            continue
        known = {"1 / gain": 1 / gain, "gain²": gain**2, "the shift": shift, "−shift": -shift}
        known |= {"the shift times the gain, as if it were added first": gain * shift}
        known |= {"|gain|": abs(gain), "−gain": -gain, "1 + gain": 1 + gain}
        known |= {"the gain": gain, "": np.ones_like(gain), " ": np.zeros_like(gain)}
        named = [n for n, v in known.items() if np.allclose(mine_by_channel, v, atol=1e-3)]
        known_all = known_all and bool(named)
        if len(rows) < _FEW and not named:
            return None  # two points are always on a straight line
        which = f", {named[0]}," if named and named[0].strip() else ""
        c = int((np.abs(mine_by_channel - right) > 1e-3).argmax())
        told.append(
            f"in channel {c} you {verb} {number(round(float(mine_by_channel[c]), 4) + 0.0)}{which}"
            f" instead of the {name}, {number(float(right[c]))}"
        )
    if not told:
        return None
    return Finding(
        "other-gain",
        "You normalize correctly, but you don't use gain and shift as the task asks.",
        first_upper(f"{', and '.join(told)}."),
        NORM,
        tells=Tells.CAUSE if known_all else Tells.PLACE,
    )


def _channels_moved(evidence: Evidence) -> Finding | None:
    """The normalized numbers of each position are right, but in another order."""
    case, groups = _first_wrong_case(evidence)
    parts = _parts(evidence, groups)
    right = (parts - parts.mean(axis=-1, keepdims=True)) / _deviation(
        parts, float(evidence.inputs["eps"])
    )
    mine = _without_gain(evidence, case, groups).reshape(*parts.shape[:2], -1)
    right = right.reshape(mine.shape)
    if not np.allclose(np.sort(mine), np.sort(right), atol=1e-3):
        return None
    c = int((np.abs(mine - right)[0, 0] > 1e-3).argmax())
    holds = int(np.abs(right[0, 0] - mine[0, 0, c]).argmin())
    return Finding(
        "channels-moved",
        "Your normalized numbers are right, but they end up in other channels.",
        f"At position 0 of sample 0, channel {c} has the number that belongs to channel {holds}. "
        "If `view` has split the channels, `view(B, T, C)` or `flatten(-2)` joins them again, "
        "without a `transpose` in between.",
        NORM,
    )


def _constant_group_off(evidence: Evidence) -> Finding | None:
    """Wrong only where all channels of a group are equal."""
    if not evidence.same("whole", "groups") or not evidence.comparable("constant"):
        return None
    mine, right = evidence.yours("constant"), evidence.right("constant")
    groups = int(evidence.inputs["constant_groups"][0])
    x = evidence.inputs["constant"]
    constant = np.ptp(x.reshape(*x.shape[:2], groups, -1), axis=-1) == 0
    off = ~np.isclose(mine, right, atol=1e-4)
    if (off & ~np.repeat(constant, x.shape[-1] // groups, axis=-1)).any():
        return None
    b, t, c = (int(i) for i in np.argwhere(off)[0])
    return Finding(
        "constant-group",
        "Your answer is wrong where all channels of a group are equal.",
        f"Such a group has variance 0, so the result should be the shift. In channel {c} you have "
        f"{number(float(mine[b, t, c]))} instead of {number(float(right[b, t, c]))}. This needs no "
        "case of its own, because eps keeps you from dividing by 0.",
        NORM,
    )


TASK = Task(
    "A norm in groups",
    group_norm,
    NORM,
    (
        Part("With one group it is LayerNorm, with `eps` under the root.", 2, matches("whole")),
        Part("Several groups are normalized separately.", 1, matches("groups")),
        Part("A group of equal numbers gives the shift, not NaN.", 1, matches("constant")),
    ),
    properties=(
        _single_channels,
        _constant_group_off,
        _channel_left_out,
        _other_statistics,
        _other_gain,
        _channels_moved,
    ),
    cases=("whole",),
    steps={
        "the groups": Step("A group is C / groups channels next to each other."),
        "the means": Step("Each group of each position is centered around its own mean.", AXIS),
        "the centered groups": Step("What is left has mean 0 in each group."),
        "the variances": Step(
            "The variance of a group is the mean of its squared distances from its mean.", AXIS
        ),
        "the standard deviations": Step(
            "The root of the variance is the size of a typical distance, and `eps` under the root "
            "keeps it from being 0."
        ),
        "the normalized numbers": Step("Divided by their typical size, they have variance 1."),
        "your output": Step("Gain and shift come last, so that they are what is left to learn."),
    },
)
