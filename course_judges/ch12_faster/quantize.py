"""Judges 12/quantize: whole numbers and a scale for each group of neighbors in a row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch12_faster.numbers import farthest
from course_judges.ch12_faster.sections import BITS
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Step, Task, matches, mistake
from course_judges.quoting import farthest_index
from course_judges.wording import number, numbers_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

# A limit that somebody may use who doesn't trust a comparison with 0.
_SMALL = 1e-6


# Weights below round to 0.
_HALF = 0.5


Size = Callable[[Tensor], Tensor]


def quantize(weight: Tensor, bits: int, group: int) -> tuple[Tensor, Tensor]:
    """A right answer to 12/quantize: (out, in) → (out, in) int8, (out, in / group)."""
    parts = weight.unflatten(1, (-1, group))  # the groups (out, in / group, group)
    largest = parts.abs().amax(dim=-1, keepdim=True)  # the largest of each group
    most = 2 ** (bits - 1) - 1  # the largest code
    found = largest / most  # the scales (out, in / group, 1)
    scales = found.masked_fill(found == 0, 1.0)  # the scales without a 0
    codes = (parts / scales).round()  # the codes (out, in / group, group)
    return codes.flatten(1).to(torch.int8), scales.squeeze(-1)


def _of_each_group(parts: Tensor) -> Tensor:
    """(out, in / group, group) → (out, in / group, 1)."""
    return parts.abs().amax(dim=-1, keepdim=True)


def _variant(
    *,
    size: Size = _of_each_group,
    most: Callable[[int], int] = lambda bits: 2 ** (bits - 1) - 1,
    rounded: Callable[[Tensor], Tensor] = torch.round,
    zeros: float | None = 1.0,
    inverse: bool = False,
    kind: torch.dtype = torch.int8,
    neighbors: bool = True,
    any_zero: bool = False,
    limited: Callable[[int], tuple[int, int]] | None = None,
    before: Callable[[Tensor], Tensor] = lambda parts: parts,
) -> Callable[[Tensor, int, int], tuple[Tensor, Tensor]]:
    def answer(weight: Tensor, bits: int, group: int) -> tuple[Tensor, Tensor]:
        rows, columns = weight.shape
        parts = weight.view(rows, -1, group)  # (out, in / group, group)
        if not neighbors:
            parts = weight.view(rows, group, -1).transpose(1, 2)
        scale = (size(parts) / most(bits)).expand(*parts.shape[:2], 1)
        if zeros is not None:
            scale = torch.where(scale == 0, zeros, scale)
        if any_zero:
            scale = torch.where((parts == 0).any(dim=-1, keepdim=True), 1.0, scale)
        codes = rounded(before(parts) / scale)
        if limited is not None:
            codes = codes.clamp(*limited(bits))
        if not neighbors:
            codes = codes.transpose(1, 2)
        codes = codes.reshape(rows, columns).to(kind)
        return codes, (1 / scale if inverse else scale).squeeze(-1)

    return answer


def _with(
    change: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
) -> Callable[[Tensor, int, int], tuple[Tensor, Tensor]]:
    """The right answer with its two results changed."""
    return lambda weight, bits, group: change(*quantize(weight, bits, group))


def _between_the_largest(bits: int) -> tuple[int, int]:
    return 1 - 2 ** (bits - 1), 2 ** (bits - 1) - 1


def _between_all(bits: int) -> tuple[int, int]:
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def _eight(evidence: Evidence) -> str:
    return farthest(evidence, "eight.scales", "scales")


def _groups(evidence: Evidence) -> str:
    group, columns = evidence.number("group"), evidence.number("columns")
    return unwrapped(f"""With {columns} columns and group = {group}, columns 0 to {group - 1} of a
    row share a scale, then columns {group} to {2 * group - 1}. {_eight(evidence)}""")


def _codes(evidence: Evidence) -> str:
    return farthest(evidence, "eight.codes", "codes")


def _scale_of_zeros(evidence: Evidence) -> float:
    return float(evidence.shaped("hollow.scales", evidence.right("hollow.scales").shape)[-1, 0])


_one_scale_for_all = mistake(
    "You used one scale for the whole matrix, but each group should have its own.", _groups
)(_variant(size=lambda parts: parts.abs().amax()))


_along_the_columns = mistake(
    "You took the scale of a group over all rows, but each row should have its own scales.", _groups
)(_variant(size=lambda parts: parts.abs().amax(dim=(0, 2), keepdim=True)))


@mistake(
    "Your groups are made of every n-th column, but a group is a run of neighboring columns.",
    _groups,
)
def _every_nth_column(weight: Tensor, bits: int, group: int) -> tuple[Tensor, Tensor]:
    codes, scales = quantize(weight.unflatten(1, (group, -1)).mT.flatten(1), bits, group)
    return codes.unflatten(1, (-1, group)).mT.flatten(1), scales


_largest_not_absolute = mistake(
    "You took the largest weight of each group instead of the largest absolute value.",
    lambda e: (
        unwrapped(f"""The two differ when the weight that is farthest from 0 is negative, and then
    the scale is too small for it. {_eight(e)}""")
    ),
    also=tuple(
        _variant(size=lambda parts: parts.amax(dim=-1, keepdim=True), limited=limited, zeros=zeros)
        for limited in (_between_all, _between_the_largest)
        for zeros in (1.0, None)
    ),
)(_variant(size=lambda parts: parts.amax(dim=-1, keepdim=True)))


def _as_scales(
    of: Callable[[Array, float], Array],
) -> Callable[[Evidence], bool]:
    """Whether the wrong scales are what `of` makes of each group's weights, (rows, groups, size),
    and the largest code. The codes don't matter.
    """

    def recognized(evidence: Evidence) -> bool:
        wrong = False
        bits, columns = evidence.number("bits"), evidence.number("columns")
        for case, held, group in (
            ("eight", 8, evidence.number("group")),
            ("few", bits, evidence.number("group")),
            ("undivided", 5, columns),
        ):
            mine, right = (side(f"{case}.scales") for side in (evidence.yours, evidence.right))
            parts = evidence.inputs[case].astype(float).reshape(*right.shape, group)
            if mine.shape != right.shape:
                return False
            if not close(mine, of(parts, float(2 ** (held - 1) - 1))).all():
                return False
            wrong = wrong or not close(mine, right).all()
        return wrong

    return recognized


_mean_for_largest = mistake(
    "You made each scale from the mean absolute value of its group instead of the largest one.",
    lambda e: f"Then the largest weight of a group needs a code that doesn't fit. {_eight(e)}",
    recognized=_as_scales(lambda parts, most: np.abs(parts).mean(axis=-1) / most),
)(_variant(size=lambda parts: parts.abs().mean(dim=-1, keepdim=True), limited=_between_the_largest))


_scale_with_a_sign = mistake(
    "Your scales have the sign of the weight that is farthest from 0, but they come from absolute "
    "values.",
    lambda e: f"Then that weight always gets a positive code. {_eight(e)}",
)(_variant(size=lambda parts: parts.gather(-1, parts.abs().argmax(dim=-1, keepdim=True))))

_range_over_all_codes = mistake(
    "You divided the distance between the smallest and the largest weight by 2^bits − 1.",
    lambda e: unwrapped(f"""That is the scale for codes that begin at 0 and need a zero point. Here
    codes of 8 bits go from −127 to 127, with 0 in the middle, so the scale is the largest absolute
    value / 127. {_eight(e)}"""),
    also=tuple(
        _variant(
            size=lambda parts: parts.amax(dim=-1, keepdim=True) - parts.amin(dim=-1, keepdim=True),
            most=lambda bits: 2**bits - 1,
            limited=limited,
            zeros=zeros,
        )
        for limited in (_between_all, _between_the_largest)
        for zeros in (1.0, None)
    ),
)(
    _variant(
        size=lambda parts: parts.amax(dim=-1, keepdim=True) - parts.amin(dim=-1, keepdim=True),
        most=lambda bits: 2**bits - 1,
    )
)

_half_of_the_range = mistake(
    "You took half the distance between the smallest and the largest weight of each group.",
    lambda e: (
        f"That is the largest absolute value only if both are equally far from 0. {_eight(e)}"
    ),
)(
    _variant(
        size=lambda parts: (parts.amax(-1, keepdim=True) - parts.amin(-1, keepdim=True)) / 2,
        limited=_between_the_largest,
    )
)

_one_code_too_many = mistake(
    "You used 2^(bits − 1) as the largest code, which is one more than fits.",
    lambda e: f"8 bits hold −128 to 127, so the largest code is 127. {_eight(e)}",
    also=(
        _variant(most=lambda bits: 2 ** (bits - 1), limited=_between_all),
        _variant(most=lambda bits: 2 ** (bits - 1), limited=_between_the_largest),
    ),
)(_variant(most=lambda bits: 2 ** (bits - 1)))

_always_eight_bits = mistake(
    "You ignored `bits`: your largest code is always 127.",
    lambda e: unwrapped(f"""With bits = {e.number("bits")} it should be
    {2 ** (e.number("bits") - 1) - 1}. {farthest(e, "few.scales", "scales")}"""),
)(_variant(most=lambda _: 127))


def _rounded_with_a_half(evidence: Evidence) -> str:
    right = evidence.right("eight.codes")
    return unwrapped(f"""Of {right.size} codes of 8 bits, {int((right < 0).sum())} should be
    negative, and the others are right. Since `.to(torch.int8)` cuts towards 0, adding a half first
    rounds only positive numbers. Use `torch.round`. {_codes(evidence)}""")


def _lost_by_rounding(evidence: Evidence) -> str:
    weights = evidence.inputs["eight"]
    small = np.abs(weights) < _HALF
    lost = int((small & (weights != 0)).sum())
    return unwrapped(f"""Of the {weights.size} weights for 8 bits, {lost} are between −0.5 and 0.5
    without being 0, so they round to 0. Divide first, and round weight / scale.
    {_codes(evidence)}""")


_rounded_before = mistake(
    "You rounded the weights before you divided them by their scales.",
    _lost_by_rounding,
    also=tuple(
        _variant(before=torch.round, rounded=rounded, limited=limited)
        for rounded in (torch.round, torch.trunc)
        for limited in (None, _between_all, _between_the_largest)
    ),
)(_variant(before=torch.round))


_half_added_and_cut = mistake(
    "Your negative codes are one too large, as if you had added 0.5 and cut off the decimals.",
    _rounded_with_a_half,
)(_variant(rounded=lambda x: (x + 0.5).trunc()))

_rounded_down = mistake(
    "You rounded down instead of rounding to the nearest whole number.", _codes
)(_variant(rounded=torch.floor))


_scale_inverted = mistake(
    "You returned 1 / scale instead of the scale, but a weight is its code times the scale.", _eight
)(_with(lambda codes, scales: (codes, 1 / scales)))


def _scales_in_another_shape(evidence: Evidence) -> bool:
    mine, right = evidence.yours("eight.scales"), evidence.right("eight.scales")
    return (
        evidence.same("eight.codes")
        and mine.shape != right.shape
        and bool(close(mine.reshape(right.shape), right).all())
    )


_scales_of_another_shape = mistake(
    "Your scales are right, but their shape isn't (rows, columns / group).",
    lambda e: unwrapped(f"""Yours have shape {e.yours("eight.scales").shape} instead of
    {e.right("eight.scales").shape}, which is a row of scales for each row of weights."""),
    recognized=_scales_in_another_shape,
    cases=("eight",),
)(_with(lambda codes, scales: (codes, scales.reshape(-1, 1))))


_codes_not_int8 = mistake(
    "Your codes don't have the type `torch.int8`.",
    lambda e: unwrapped(f"""Their type is {e.answers.values.get("eight.type", "another one")}. The
    matrix gets small because an int8 takes only one byte."""),
    recognized=lambda e: (
        e.same("few", "undivided", "hollow") and e.answers.values.get("eight.type") != "torch.int8"
    ),
)(_with(lambda codes, scales: (codes.float(), scales)))

_empty_group_divides = mistake(
    "A group of zeros has no usable scale in your result, but its scale should be 1.",
    lambda e: unwrapped(f"""The last row of one matrix begins with a group of zeros, whose largest
    absolute value is 0. Your scale there is {number(_scale_of_zeros(e))}. With a scale of 1 the
    codes are 0, but 0 / 0 is NaN, and NaN as an integer can be any number."""),
    cases=("eight", "few"),
    recognized=lambda e: (
        e.same("eight", "few") and not e.same("hollow") and not _scale_of_zeros(e) > 0
    ),
)(_variant(zeros=None))


def _ones_beside_a_zero(weight: Tensor, bits: int, group: int) -> tuple[Tensor, Tensor]:
    codes, scales = quantize(weight, bits, group)
    some = (weight.unflatten(1, (-1, group)) == 0).any(dim=-1)
    whole = weight.round().to(torch.int8)
    codes = torch.where(some.repeat_interleave(group, dim=1), whole, codes)
    return codes, scales.masked_fill(some, 1.0)


_one_zero_for_all = mistake(
    "You treat a group as a group of zeros as soon as one of its weights is 0.",
    lambda e: (
        "Such a group gets a scale of 1, but that is only for groups in which all are 0. "
        f"{_eight(e)}"
    ),
)(_ones_beside_a_zero)

_largest_of_zeros_is_1 = mistake(
    "For a group of zeros you set the largest absolute value to 1 instead of the scale.",
    lambda e: (
        unwrapped(f"""The last row of one matrix begins with a group of zeros, and its scale is
    {number(_scale_of_zeros(e))} in your result, which is 1 / 127. Divide first, and then set a
    scale of 0 to 1.""")
    ),
    recognized=lambda e: e.same("eight", "few") and abs(127 * _scale_of_zeros(e) - 1) < _SMALL,
)(
    _variant(
        size=lambda parts: torch.where(
            (parts == 0).all(dim=-1, keepdim=True), 1.0, parts.abs().amax(dim=-1, keepdim=True)
        )
    )
)


_another_scale_for_zeros = mistake(
    "Your scale for a group of zeros isn't 1.",
    lambda e: unwrapped(f"""The last row of one matrix begins with a group of zeros, and its scale
    is {number(_scale_of_zeros(e), 2)} in your result. If you keep scales above a lower bound, or
    add an eps, that also changes the scales of small weights. Check whether a group's largest
    absolute value is 0, and set the scale to 1 only there."""),
    recognized=lambda e: e.same("eight", "few") and 0 < _scale_of_zeros(e) != 1,
)(_variant(zeros=1e-8))


def _small_for_zeros(weight: Tensor, bits: int, group: int) -> tuple[Tensor, Tensor]:
    parts = weight.unflatten(1, (-1, group))
    small = parts.abs().amax(dim=-1) < _SMALL
    codes, scales = quantize(weight, bits, group)
    return (
        codes.unflatten(1, (-1, group)).masked_fill(small.unsqueeze(-1), 0).flatten(1),
        scales.masked_fill(small, 1.0),
    )


def _small_group_alone(evidence: Evidence) -> bool:
    """Whether only the scale of the group of small weights is wrong."""
    mine, right = evidence.yours("hollow.scales"), evidence.right("hollow.scales")
    small = np.zeros(right.shape, dtype=bool)
    small[0, -1] = True
    return evidence.same("eight", "few") and bool((close(mine, right) == ~small).all())


def _at_most(evidence: Evidence) -> str:
    """How far from 0 the small weights are."""
    small = abs(evidence.inputs["hollow"][0, -evidence.number("group") :])
    return f"no farther from 0 than {number(small.max(), 2)}"


_small_weights_for_zeros = mistake(
    "You give a group of small weights a scale as if they were zeros.",
    lambda e: unwrapped(f"""The first row of one matrix ends with weights that are {_at_most(e)}.
    They aren't zeros, so their scale should be as small as they are.
    {farthest(e, "hollow.scales", "scales")}"""),
    recognized=_small_group_alone,
)(_small_for_zeros)


def _least_scale(mine: Array, right: Array) -> float | None:
    """The smallest scale, if nothing is wrong but that smaller ones were raised to it."""
    wrong = ~close(mine, right)
    least = float(mine.min())
    return (
        least
        if close(mine[wrong], np.array(least)).all() and (right[wrong] < least).all()
        else None
    )


# What scales may be made of, from the weights of groups, (rows, groups, size), in words.
_MADE_OF: dict[str, Callable[[Array], Array]] = {
    "the mean absolute value of each group": lambda w: np.abs(w).mean(axis=-1),
    "the absolute value of the largest weight of each group": lambda w: np.abs(w.max(axis=-1)),
    "the length of each group as a vector": lambda w: np.sqrt((w**2).sum(axis=-1)),
    "the distance between the smallest and the largest weight of each group": (
        lambda w: w.max(axis=-1) - w.min(axis=-1)
    ),
}


def _made_of(weights: Array, mine: Array, largest: int) -> str:
    """A sentence on what all scales that aren't 1 are made of; empty if nothing is known."""
    known = mine != 1
    if weights.shape[-1] == 1 or not known.any():
        return ""
    for said, of in _MADE_OF.items():
        made = of(weights.astype(float))
        for divisor in (largest, 1, 2 * largest + 1, 2 * largest):
            how = f", divided by {divisor}" if divisor > 1 else ""
            if close(mine[known], made[known] / divisor).all():
                return f"Your scales are {said}{how}."
    return ""


def _in_another_order(mine: Array, right: Array) -> str:
    """A sentence on right scales in wrong places, (rows, groups)."""
    if not close(np.sort(mine, axis=None), np.sort(right, axis=None)).all():
        return ""
    if close(mine, right.T.reshape(right.shape)).all():
        return "First come those of the first group in all rows."
    return "Each row should have its own, in the order of its groups."


def _other_scales(evidence: Evidence) -> Finding | None:
    """Wrong scales. They are looked at before the codes, which follow from them and may be right
    somewhere by chance.
    """
    case, bits = ("eight", 8) if not evidence.same("eight") else ("few", evidence.number("bits"))
    name = f"{case}.scales"
    mine, right = evidence.yours(name), evidence.right(name)
    if mine.shape != right.shape or close(mine, right).all() or not (mine > 0).all():
        return None
    made = np.where((mine != 1) & ~close(mine, right), mine, right)  # 1 stands for a scale of 0
    shown = mine if close(made, right).all() else made
    largest, b, g = 2 ** (bits - 1) - 1, *(int(i) for i in farthest_index(shown, right))
    weights = evidence.inputs[case].reshape(*right.shape, -1)
    low, high = float(weights[b, g].min()), float(weights[b, g].max())
    yours, wanted = numbers_apart(float(mine[b, g]), float(right[b, g]))
    group = unwrapped(f"""In group {g} of row {b} the weights go from {number(low, 4)} to
    {number(high, 4)}, so with {bits} bits its scale is {wanted}, but yours is {yours}.""")
    divisors = largest * right / mine
    if (least := _least_scale(mine, right)) is not None:
        return Finding(
            "least-scale",
            f"None of your scales is below {number(least)}, but some should be. The others are "
            "right.",
            "The smaller the weights of a group, the smaller its scale, without a lower bound. "
            f"{group}",
            BITS,
        )
    if close(divisors, divisors.mean()).all():
        return Finding(
            "other-divisor",
            "You divided the largest absolute values by another number than the largest code.",
            f"With {bits} bits you divide by {number(float(divisors.mean()), 4)}, but the largest "
            "code "
            f"is {largest}. {group}",
            BITS,
        )
    if close(mine, right.astype(np.float16)).all():
        return Finding(
            "scales-of-few-digits",
            "Your scales have only three digits, like numbers of float16.",
            f"Keep them in the type of the weights. {group}",
            BITS,
        )
    made_of, order = _made_of(weights, mine, largest), _in_another_order(mine, right)
    return Finding(
        "other-scales",
        "Your scales are the right ones, but in another order."
        if order and not made_of
        else "Your scales aren't the largest absolute values divided by the largest code.",
        f"{made_of or order} The largest code is {largest}. {group}".strip(),
        BITS,
    )


def _what_codes_are(mine: Array, right: Array) -> str:
    """A sentence on codes that are one step off; empty if they aren't, or in no one direction."""
    steps = (mine - right + 128) % 256 - 128  # an int8 that gets too large becomes negative
    wrong = steps != 0
    toward = (np.sign(right) * steps)[wrong]
    if not set(np.unique(steps)) <= {-1, 0, 1} or not right[wrong].all():
        return ""
    for said, holds in (
        ("one step too far from 0", (toward > 0).all()),
        ("one step too close to 0", (toward < 0).all()),
    ):
        if holds:
            return f"Where your codes are wrong, they are {said}, so look at how you round."
    return ""


def _other_codes(evidence: Evidence) -> Finding | None:
    """If the scales are right and the codes are wrong, one code is worked out."""
    mine, right = evidence.yours("eight.codes"), evidence.right("eight.codes")
    if mine.shape != right.shape or not evidence.same("eight.scales") or close(mine, right).all():
        return None
    mine, right = mine.astype(float), right.astype(float)
    r, c = (int(i) for i in farthest_index(mine, right))
    weights = evidence.inputs["eight"].astype(float)
    scales = evidence.right("eight.scales").astype(float).repeat(evidence.number("group"), axis=1)
    weight, scale = float(weights[r, c]), float(scales[r, c])
    said = _what_codes_are(mine, right)
    return Finding(
        "other-codes",
        "Your scales are right, but your codes aren't the weights divided by them and rounded.",
        f"{said} In row {r}, column {c}, {number(weight, 4)} / {number(scale, 4)} is "
        f"{number(weight / scale, 4)}, so the code is {number(right[r, c])}, but yours is "
        f"{number(mine[r, c], 4)}. {int((~close(mine, right)).sum())} of {right.size} codes "
        "are wrong.".strip(),
        BITS,
    )


TASK = Task(
    "Groups of weights",
    quantize,
    BITS,
    (
        Part("With 8 bits, each group has its scale.", 2, matches("eight")),
        Part("It also works with other numbers of bits.", 1, matches("few", "undivided")),
        Part("A group of zeros gives codes of 0.", 1, matches("hollow")),
    ),
    cases=("eight", "few", "undivided"),
    properties=(_other_scales, _other_codes),
    steps={
        "the groups": Step("A group is a run of `group` neighbors in a row."),
        "the largest of each group": Step("The weight farthest from 0 gets the largest code."),
        "the largest code": Step("Codes of 8 bits go from −127 to 127, with 0 in the middle."),
        "the scales": Step("A scale is the step from one code to the next."),
        "the scales without a 0": Step("0 / 0 is NaN, so a group of zeros gets a scale of 1."),
        "the codes": Step("A code is weight / scale, rounded to the nearest whole number."),
    },
)
