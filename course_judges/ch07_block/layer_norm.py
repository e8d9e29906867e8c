"""Judges 07/layer-norm: normalizing each position in groups of channels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch07_block.generally import more_is_known
from course_judges.ch07_block.sections import AXIS, NORM
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.quoting import farthest, farthest_index
from course_judges.wording import number, unwrapped
from course_tasks.verdict import Finding

Norm = Callable[[Tensor, Tensor, Tensor, int, float], Tensor]


def group_norm(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
    """Each group of neighboring channels of each position, brought to mean 0 and variance 1."""
    parts = x.unflatten(-1, (groups, -1))  # (B, T, C) → (B, T, G, C / G)
    centred = parts - parts.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)  # (B, T, G, 1)
    normed = (centred / (variance + eps).sqrt()).flatten(-2)  # (B, T, C)
    return gain * normed + shift


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

_variance_squared = mistake("You divided by the variance instead of its root.", _spread)(
    _divided(lambda biased, _, eps: biased + eps)
)


@mistake(
    "You divided by the mean distance from the mean instead of the root of the variance.", _spread
)
def _mean_distance(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
    parts = x.unflatten(-1, (groups, -1))  # (B, T, C) → (B, T, G, C / G)
    centred = parts - parts.mean(dim=-1, keepdim=True)
    return gain * (centred / (centred.abs().mean(dim=-1, keepdim=True) + eps)).flatten(-2) + shift


_eps_as_a_floor = mistake(
    "You used `eps` as a lower limit, but it should be added to every variance.",
    _spread,
    cases=("whole", "constant"),
    also=(_divided(lambda biased, _, eps: biased.sqrt().clamp(min=eps)),),
)(_divided(lambda biased, _, eps: biased.clamp(min=eps).sqrt()))

_eps_ignored = mistake(
    "Your function doesn't use the `eps` that it is given.",
    lambda e: _flat_position(e) if _is_without_eps(e) else _spread(e),
    also=(_divided(lambda biased, _, eps: (biased + 1e-5).sqrt()),),  # noqa: ARG005
)(_divided(lambda biased, _, eps: biased.sqrt()))  # noqa: ARG005

_deviation_and_eps = mistake(
    "Your variance divides by n − 1, and you added `eps` after the root.",
    lambda e: unwrapped(f"""A layer norm takes the variance that divides by n (`correction=0`), adds
    `eps` to it, and takes the root of the sum. {_spread(e)}"""),
)(_divided(lambda _, unbiased, eps: unbiased.sqrt() + eps))

_not_divided = mistake(
    "You subtracted the mean, but you didn't divide by the root of the variance.", _spread
)(_divided(lambda biased, *_: torch.ones_like(biased)))


@mistake(
    "You didn't subtract the mean.",
    lambda e: f"You divided `x` itself by its root mean square. {_spread(e)}",
)
def _no_mean(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
    parts = x.unflatten(-1, (groups, -1))  # (B, T, C) → (B, T, G, C / G)
    size = (parts.square().mean(dim=-1, keepdim=True) + eps).sqrt()
    return gain * (parts / size).flatten(-2) + shift


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
)(_made_of(lambda parts, _: _mean(parts), lambda parts, _: _mean(parts.square())))

_squares_added_up = mistake(
    "You added up the squared distances from the mean, but you didn't take their mean.",
    lambda e: unwrapped(f"""So you divide by √n times the standard deviation, with n the number of
    channels in a group. {_spread(e)}"""),
    also=(
        lambda x, gain, shift, groups, eps: _divided(
            lambda biased, _, eps: (biased * (x.shape[-1] // groups)).sqrt() + eps
        )(x, gain, shift, groups, eps),
    ),
)(
    _made_of(
        lambda parts, _: _mean(parts),
        lambda parts, _: (parts - _mean(parts)).square().sum(dim=-1, keepdim=True),
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

_over_samples_only = mistake(
    "You normalized over the samples of the batch, dimension 0.",
    lambda e: f"The samples of a batch now depend on each other. {_moves(e)}",
    AXIS,
)(_over(0))

_positions_together = mistake(
    "You took mean and variance over all positions of a sample together.",
    lambda e: f"Each position now depends on later ones, so the future leaks. {_moves(e)}",
    AXIS,
)(_over(1, 2, 3))

_gain_and_shift_forgotten = mistake(
    "You left out the gain and the shift.",
    lambda e: f"You return the normalized values without scaling them. {farthest(e, 'whole')}",
)(lambda x, gain, shift, groups, eps: _plain(x, groups, eps))  # noqa: ARG005

_shift_scaled = mistake(
    "You added the shift before you multiplied by the gain, so the gain scaled the shift, too.",
    lambda e: farthest(e, "whole"),
)(lambda x, gain, shift, groups, eps: gain * (_plain(x, groups, eps) + shift))

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

_one_more_than_gain = mistake(
    "You multiplied by 1 + gain instead of the gain itself.",
    lambda e: farthest(e, "whole"),
)(lambda x, gain, shift, groups, eps: group_norm(x, 1 + gain, shift, groups, eps))

_groups_ignored = mistake(
    "You ignored `groups` and normalized all channels of a position together.",
    _in_groups,
    cases=("whole", "groups"),
)(_over(2, 3))


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


def _worked_out(evidence: Evidence) -> Finding | None:
    """One number, followed from the mean and variance of its group to gain and shift."""
    case = "groups" if evidence.same("whole") else "whole"
    mine, right = evidence.yours(case), evidence.right(case)
    if mine.shape != right.shape or evidence.same(case) or more_is_known(evidence, case):
        return None
    b, t, c = farthest_index(mine, right)
    size = evidence.number("C") // (1 if case == "whole" else evidence.number("groups"))
    first = c // size * size
    group = evidence.inputs["x"][b, t, first : first + size].astype(float)
    eps = float(evidence.inputs["eps"])
    normed = (evidence.inputs["x"][b, t, c] - group.mean()) / np.sqrt(group.var() + eps)
    gain, shift = (number(float(evidence.inputs[name][c])) for name in ("gain", "shift"))
    return Finding(
        "another-norm",
        "Your output isn't the normalized `x` with gain and shift.",
        f"At position {t} of sample {b}, channels {first} to {first + size - 1} are normalized "
        f"together. Their mean is {number(group.mean())} and their variance {number(group.var())}, "
        f"so with eps = {eps:g} channel {c} becomes {number(float(normed))}. Times its gain, "
        f"{gain}, plus its shift, {shift}, this makes {number(float(right[b, t, c]))}, but yours "
        f"is {number(float(mine[b, t, c]))}.",
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
    properties=(_single_channels,),
    examples=(_worked_out,),
    cases=("whole",),
)
