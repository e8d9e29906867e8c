"""Students' answers to 12/quantize."""

import numpy as np
import torch


def by_loop(
    weight,
    bits,
    group,
    *,
    top=None,
    size=lambda part, whole, b, j: part.abs().max(),
    to_whole=torch.round,
    guard=True,
):
    most = (top or (lambda bits: 2 ** (bits - 1) - 1))(bits)
    rows, columns = weight.shape
    codes = torch.zeros(rows, columns, dtype=torch.int8)
    scales = torch.zeros(rows, columns // group)
    for b in range(rows):
        for j in range(columns // group):
            here = slice(j * group, (j + 1) * group)
            scale = size(weight[b, here], weight, b, here) / most
            if guard and scale == 0:
                scale = torch.tensor(1.0)
            scales[b, j] = scale
            codes[b, here] = to_whole(weight[b, here] / scale).to(torch.int8)
    return codes, scales


def by_unflatten(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    scales = parts.abs().max(-1).values / (2 ** (bits - 1) - 1)
    scales[scales == 0] = 1
    return (parts / scales[..., None]).round().flatten(1).char(), scales


def in_numpy(weight, bits, group):
    w = weight.numpy().astype(np.float64)
    scales = np.abs(w.reshape(len(w), -1, group)).max(-1) / (2 ** (bits - 1) - 1)
    scales = np.where(scales > 0, scales, 1.0)
    codes = np.rint(w / np.repeat(scales, group, axis=1)).astype(np.int8)
    return torch.from_numpy(codes), torch.from_numpy(scales).float()


def every_nth(weight, bits, group):
    n = weight.shape[1] // group
    order = torch.cat([torch.arange(j, weight.shape[1], n) for j in range(n)])
    codes, scales = by_unflatten(weight[:, order], bits, group)
    back = torch.empty_like(codes)
    back[:, order] = codes
    return back, scales


def inverted(weight, bits, group):
    codes, scales = by_unflatten(weight, bits, group)
    return codes, scales.reciprocal()


def as_floats(weight, bits, group):
    codes, scales = by_unflatten(weight, bits, group)
    return codes.float(), scales


def half_of_the_range(weight, bits, group):
    parts, most = weight.unflatten(1, (-1, group)), 2 ** (bits - 1) - 1
    half = 0.5 * (parts.max(-1).values - parts.min(-1).values)
    scales = torch.where(half > 0, half / most, 1.0)
    codes = torch.round(parts / scales[..., None]).clip(-most, most)
    return codes.flatten(1).char(), scales


RIGHT = {"loop": by_loop, "unflatten": by_unflatten, "numpy": in_numpy}


# A Java programmer, who rounds by adding a half and casting.
# "rounded to the nearest whole number, as `torch.int8`"
def half_added_and_cast(weight, bits, group):
    rows, columns = weight.shape
    parts = weight.reshape(rows, columns // group, group)
    scale = parts.abs().max(dim=2).values / (2 ** (bits - 1) - 1)
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    codes = (parts / scale[:, :, None] + 0.5).to(torch.int8)
    return codes.reshape(rows, columns), scale


def smallest_scale_for_zeros(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = scale.clamp(min=1e-8)
    codes = (parts / scale).round().to(torch.int8)
    return codes.flatten(1), scale.squeeze(-1)


# "A group of zeros": all of its weights are, not one of them.
def a_zero_makes_a_group_of_zeros(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = torch.where((parts == 0).any(dim=-1, keepdim=True), 1.0, scale)
    return (parts / scale).round().to(torch.int8).flatten(1), scale.squeeze(-1)


def _codes(weight, group, scale):
    parts = weight.unflatten(1, (-1, group))
    scale = scale(parts)
    scale = torch.where(scale == 0, 1.0, scale)
    return (parts / scale).round().to(torch.int8).flatten(1), scale.squeeze(-1)


def half_of_what_lies_between(weight, bits, group):
    def scale(parts):
        reach = parts.amax(dim=-1, keepdim=True) - parts.amin(dim=-1, keepdim=True)
        return reach / (2**bits - 1)

    return _codes(weight, group, scale)


def of_rounded_weights(weight, bits, group):
    scales = by_loop(weight, bits, group)[1]
    spread = scales.repeat_interleave(group, dim=1)
    return torch.round(torch.round(weight) / spread).to(torch.int8), scales


def spread(weight, bits, group):
    codes, scales = by_unflatten(weight, bits, group)
    return codes, scales[..., None].expand(-1, -1, group).flatten(1)


WRONG = {
    "rounded-before": of_rounded_weights,
    "mean-for-largest": lambda *given: by_loop(
        *given, size=lambda p, *_: p.abs().sum() / p.numel()
    ),
    "largest-not-absolute": lambda *given: by_loop(*given, size=lambda p, *_: p.max()),
    "rounded-down": lambda *given: by_loop(*given, to_whole=torch.floor),
    "one-scale-for-all": lambda *given: by_loop(*given, size=lambda p, w, b, j: w.abs().max()),
    "largest-of-zeros-is-1": lambda *given: by_loop(
        *given, size=lambda part, *_: part.abs().max() if part.any() else torch.tensor(1.0)
    ),
    "scales-of-another-shape": lambda *given: (
        by_unflatten(*given)[0],
        by_unflatten(*given)[1].flatten(),
    ),
    "scale-with-a-sign": lambda *given: by_loop(
        *given, size=lambda part, *_: max(part.tolist(), key=abs) * torch.ones(())
    ),
    "half-of-the-range": half_of_the_range,
    "small-weights-for-zeros": lambda *given: by_loop(
        *given,
        size=lambda part, *_: part.abs().max() * (part.abs().max() > 1e-8),
        to_whole=lambda x: x.round() * (x.abs() > 1e-7),
    ),
    "along-the-columns": lambda *given: by_loop(
        *given,
        size=lambda p, w, b, j: w[:, j].abs().max(),
    ),
    "every-nth-column": every_nth,
    "one-code-too-many": lambda *given: by_loop(*given, top=lambda bits: 2**bits / 2),
    "always-eight-bits": lambda *given: by_loop(*given, top=lambda bits: 127),
    "half-added-and-cut": half_added_and_cast,
    "another-scale-for-zeros": smallest_scale_for_zeros,
    "one-zero-for-all": a_zero_makes_a_group_of_zeros,
    "scale-inverted": inverted,
    "codes-not-int8": as_floats,
    "empty-group-divides": lambda *given: by_loop(*given, guard=False),
    "range-over-all-codes": half_of_what_lies_between,
}


ODD = [
    (
        lambda weight, bits, group: (
            (by_loop(weight, bits, group)[0].short() + 5).clamp(max=127).char(),
            by_loop(weight, bits, group)[1],
        ),
        "other-codes",
    ),
    (lambda *given: by_loop(*given, size=lambda p, *_: p.norm()), "other-scales"),
    (
        lambda *given: (by_loop(*given)[0], by_loop(*given)[1].half().float()),
        "scales-of-few-digits",
    ),
    (lambda *given: by_loop(*given, top=lambda bits: 100), "other-divisor"),
    (lambda weight, bits, group: weight, "type"),
    (lambda weight, bits, group: (weight.char(), weight), "shape"),
]


# --- Answers that no list names ---


def scale_of_mean_and_spread(weight, bits, group):
    return _codes(
        weight,
        group,
        lambda parts: 3 * parts.std(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1),
    )


# "The scale of a group is the largest absolute value in it, divided by the largest code", however
# small it is.
def scales_have_a_least(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    zeros = scale == 0
    scale = torch.where(zeros, 1.0, scale.clamp(min=1e-3))
    return (parts / scale).round().to(torch.int8).flatten(1), scale.squeeze(-1)


# "scales (rows, columns / group)": both axes also where there is one row, or one group in each
def every_one_squeezed(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = torch.where(scale == 0, 1.0, scale)
    return (parts / scale).round().to(torch.int8).flatten(1), scale.squeeze()


def scales_not_transposed(weight, bits, group):
    """Stacks the scales as (groups, rows) and reshapes them instead of transposing them."""
    codes, scales = [], []
    for part in weight.split(group, dim=1):  # (rows, group)
        scale = part.abs().amax(dim=1) / (2 ** (bits - 1) - 1)
        scale = torch.where(scale == 0, 1.0, scale)
        codes.append((part / scale[:, None]).round().to(torch.int8))
        scales.append(scale)
    return torch.cat(codes, dim=1), torch.stack(scales).reshape(len(weight), -1)


UNLISTED = {
    1: [(scale_of_mean_and_spread, "other-scales")],
    5: [(scales_have_a_least, "least-scale")],
    6: [(every_one_squeezed, "axis-of-one")],
    15: [(scales_not_transposed, "other-scales")],
}
