"""Judges 12/quantize: whole numbers and a scale for each group of neighbors in a row."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from course_judges.ch12_faster.numbers import farthest
from course_judges.ch12_faster.sections import BITS
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import unwrapped

# As somebody may set it who does not trust a comparison with 0.
_SMALL = 1e-6

Size = Callable[[Tensor], Tensor]


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
    limited: bool = False,
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
        codes = rounded(parts / scale)
        if limited:
            codes = codes.clamp(-most(bits), most(bits))
        if not neighbors:
            codes = codes.transpose(1, 2)
        codes = codes.reshape(rows, columns).to(kind)
        return codes, (1 / scale if inverse else scale).squeeze(-1)

    return answer


def _eight(evidence: Evidence) -> str:
    return farthest(evidence, "eight.scales")


def _groups(evidence: Evidence) -> str:
    group, columns = evidence.number("group"), evidence.number("columns")
    return unwrapped(f"""With {columns} columns and group = {group}, columns 0 to {group - 1} of a
    row share a scale, then columns {group} to {2 * group - 1}. {_eight(evidence)}""")


def _codes(evidence: Evidence) -> str:
    return farthest(evidence, "eight.codes")


def _scale_of_zeros(evidence: Evidence) -> float:
    return float(evidence.shaped("hollow.scales", evidence.right("hollow.scales").shape)[-1, 0])


_one_scale_for_all = mistake("The whole matrix shares one scale.", _groups)(
    _variant(size=lambda parts: parts.abs().amax())
)

_a_scale_a_row = mistake("Each row has one scale for all its groups.", _groups)(
    _variant(size=lambda parts: parts.abs().amax(dim=(1, 2), keepdim=True))
)

_along_the_columns = mistake(
    "The scale of a group was taken over all rows; each row is an output of its own.", _groups
)(_variant(size=lambda parts: parts.abs().amax(dim=(0, 2), keepdim=True)))

_every_nth_column = mistake(
    "Your groups take every n-th column; a group is columns side by side.", _groups
)(_variant(neighbors=False))

_largest_not_absolute = mistake(
    "You took the largest weight, not the largest absolute value.",
    lambda e: f"A group whose largest weight is negative then overflows. {_eight(e)}",
)(_variant(size=lambda parts: parts.amax(dim=-1, keepdim=True)))

_range_of_the_group = mistake(
    "You divided the distance from smallest to largest by the largest code.", _eight
)(_variant(size=lambda parts: parts.amax(dim=-1, keepdim=True) - parts.amin(dim=-1, keepdim=True)))

_range_over_all_codes = mistake(
    "You divided the distance from smallest to largest by the number of steps between all codes.",
    lambda e: f"Codes begin at 0 then, and need a zero point, which is not returned. {_eight(e)}",
)(
    _variant(
        size=lambda parts: parts.amax(dim=-1, keepdim=True) - parts.amin(dim=-1, keepdim=True),
        most=lambda bits: 2**bits - 1,
    )
)

_half_of_the_range = mistake(
    "You took half of the distance from smallest to largest, not the largest absolute value.",
    lambda e: f"The two agree only where smallest and largest are equally far from 0. {_eight(e)}",
)(
    _variant(
        size=lambda parts: (parts.amax(-1, keepdim=True) - parts.amin(-1, keepdim=True)) / 2,
        limited=True,
    )
)

_one_code_too_many = mistake(
    "Your largest code is 2^(bits − 1), which is one more than fits.",
    lambda e: f"8 bits hold −128 to 127. {_eight(e)}",
)(_variant(most=lambda bits: 2 ** (bits - 1)))

_half_the_codes = mistake("Your largest code is 2^bits − 1, as without a sign.", _eight)(
    _variant(most=lambda bits: 2**bits - 1)
)

_always_eight_bits = mistake(
    "`bits` changes nothing: the largest code is always 127.",
    lambda e: farthest(e, "few.scales"),
)(_variant(most=lambda _: 127))

_cut_not_rounded = mistake(
    "You cut off the decimals; the nearest whole number was asked for.",
    lambda e: f"`.to(torch.int8)` cuts towards 0: round first. {_codes(e)}",
)(_variant(rounded=torch.trunc))

_rounded_down = mistake("You rounded down; the nearest whole number was asked for.", _codes)(
    _variant(rounded=torch.floor)
)

_scale_inverted = mistake("You returned 1 / scale: weights are codes · scale.", _eight)(
    _variant(inverse=True)
)

_codes_not_int8 = mistake(
    "Your codes are no int8, so they take as much memory as the weights did.",
    lambda e: f"Their type is {e.answers.values.get('eight.type', 'another one')}.",
    recognized=lambda e: (
        e.same("few", "undivided", "hollow") and e.answers.values.get("eight.type") != "torch.int8"
    ),
)(_variant(kind=torch.float32))

_empty_group_divides = mistake(
    "A group of zeros has the largest absolute value 0, and you divide by it.",
    "0 / 0 is NaN, and NaN as a whole number can be anything: use a scale of 1 there.",
    cases=("eight", "few"),
    recognized=lambda e: (
        e.same("eight", "few") and not e.same("hollow") and not _scale_of_zeros(e) > 0
    ),
)(_variant(zeros=None))

_one_zero_for_all = mistake(
    "A group with one weight of 0 is no group of zeros: that is one in which all are.",
    lambda e: f"You give every group with a 0 in it the scale 1. {_eight(e)}",
)(_variant(any_zero=True))

_another_scale_for_zeros = mistake(
    "A group of zeros has a scale of 1; yours has another one.",
    lambda e: unwrapped(f"""The last row of one matrix begins with a group of zeros. Its scale
    is {_scale_of_zeros(e):.2g} in yours. Whatever keeps you from dividing by 0 there, the scale
    that you return is 1."""),
    recognized=lambda e: e.same("eight", "few") and 0 < _scale_of_zeros(e) != 1,
)(_variant(zeros=1e-8))


def _small_for_zeros(weight: Tensor, bits: int, group: int) -> tuple[Tensor, Tensor]:
    parts = weight.unflatten(1, (-1, group))
    small = parts.abs().amax(dim=-1) < _SMALL
    codes, scales = _variant()(weight, bits, group)
    return (
        codes.unflatten(1, (-1, group)).masked_fill(small.unsqueeze(-1), 0).flatten(1),
        scales.masked_fill(small, 1.0),
    )


_small_weights_for_zeros = mistake(
    "A group of small weights is no group of zeros: it has a scale of its own, a small one.",
    lambda e: unwrapped(f"""The first row of one matrix ends with weights of at most
    {abs(e.inputs["hollow"][0, -e.number("group") :]).max():.1g}.
    {farthest(e, "hollow.scales")}"""),
    recognized=lambda e: (
        e.same("eight", "few") and not e.same("hollow") and _scale_of_zeros(e) == 1
    ),
)(_small_for_zeros)

TASK = Task(
    "Groups of weights",
    _variant(),
    BITS,
    (
        Part("8 bits: a scale for each group of neighbors in a row.", 2, matches("eight")),
        Part("Any number of bits.", 1, matches("few", "undivided")),
        Part("A group of zeros gives codes of 0.", 1, matches("hollow")),
    ),
    cases=("eight", "few", "undivided"),
)
