"""Students' answers to 07/layer-norm."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from students.ch07_block.shared import norm_by_loop


def norm_by_library(x, gain, shift, groups, eps):
    B, T, C = x.shape
    y = F.layer_norm(x.reshape(B, T, groups, C // groups), (C // groups,), eps=eps)
    return y.reshape(B, T, C) * gain + shift


def norm_by_group_norm(x, gain, shift, groups, eps):
    B, T, C = x.shape
    return F.group_norm(x.reshape(B * T, C), groups, gain, shift, eps).view(B, T, C)


def norm_in_numpy(x, gain, shift, groups, eps):
    parts = np.stack(np.split(x.numpy(), groups, axis=-1))
    normed = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + eps)
    return np.concatenate(list(normed), axis=-1) * gain.numpy() + shift.numpy()


def norm_of_lists(x, gain, shift, groups, eps):
    size = x.shape[-1] // groups
    out = []
    for sample in x.tolist():
        rows = []
        for row in sample:
            new = []
            for c, value in enumerate(row):
                part = row[c // size * size : c // size * size + size]
                mean = sum(part) / size
                variance = sum((v - mean) ** 2 for v in part) / size
                new.append((value - mean) / math.sqrt(variance + eps) * gain[c] + shift[c])
            rows.append([float(v) for v in new])
        out.append(rows)
    return out


def norming(statistics, dims=-1, divide=None):
    """A norm by groups with other statistics."""
    divide = divide or (lambda part, eps: torch.sqrt(part.var(dims, False, keepdim=True) + eps))

    def answer(x, gain, shift, groups, eps):
        B, T, C = x.shape
        part = x.view(B, T, groups, C // groups)
        return ((part - statistics(part)) / divide(part, eps)).reshape(B, T, C) * gain + shift

    return answer


def own_mean(part):
    return part.mean(-1, keepdim=True)


def along(*dims):
    return norming(lambda part: part.mean(dims, keepdim=True), dims)


def every_other_channel(x, gain, shift, groups, eps):
    y = torch.empty_like(x)
    for g in range(groups):
        part = x[..., g::groups]
        y[..., g::groups] = F.layer_norm(part, (part.shape[-1],), eps=eps)
    return y * gain + shift


RIGHT = {
    "layer_norm": norm_by_library,
    "group_norm": norm_by_group_norm,
    "loop": norm_by_loop,
    "numpy": norm_in_numpy,
    "lists": norm_of_lists,
    "single precision": lambda x, gain, shift, groups, eps: norm_by_library(
        x.float(), gain.float(), shift.float(), groups, eps
    ),
}


def twice_normed(x, gain, shift, groups, eps):
    y = F.group_norm(x.flatten(0, 1), groups, None, None, eps).view_as(x)
    return F.layer_norm(y, x.shape[-1:], gain, shift, eps)


def all_but_the_first(x, gain, shift, groups, eps):
    first, *others = x.chunk(groups, dim=-1)
    normed = [F.layer_norm(one, one.shape[-1:], None, None, eps) for one in others]
    return torch.cat([first, *normed], dim=-1) * gain + shift


def gain_for_a_group(x, gain, shift, groups, eps):
    y = F.group_norm(x.flatten(0, 1), groups, None, None, eps).unflatten(-1, (groups, -1))
    return (y * gain[:groups, None] + shift[:groups, None]).view_as(x)


def of_the_whole(mean, variance):
    """Group statistics, of which some are those of the whole position."""

    def answer(x, gain, shift, groups, eps):
        def spread(values):
            return values.repeat_interleave(x.shape[-1] // groups, dim=-1)

        parts = x.unflatten(-1, (groups, -1))
        means = x.mean(-1, keepdim=True) if mean else spread(parts.mean(-1))
        biased = x if variance else parts
        square = biased.var(-1, keepdim=variance, correction=0)
        square = square if variance else spread(square)
        return (x - means) / (square + eps).sqrt() * gain + shift

    return answer


def beginning_one_later(x, gain, shift, groups, eps):
    y, size = x.clone(), x.shape[-1] // groups
    for g in range(groups):
        end = g + size
        y[..., g:end] = F.layer_norm(x[..., g:end], (size,), None, None, eps)
    return y * gain + shift


def down_the_positions(mean, variance):
    """Group statistics, of which some are those of each channel over the positions."""

    def answer(x, gain, shift, groups, eps):
        parts = x.unflatten(-1, (groups, -1))
        means = parts.mean(1 if mean else -1, keepdim=True)
        square = parts.var(1 if variance else -1, keepdim=True, correction=0)
        return ((parts - means) / torch.sqrt(square + eps)).view_as(x) * gain + shift

    return answer


def joined_across(x, gain, shift, groups, eps):
    y = F.group_norm(x.flatten(0, 1), groups, None, None, eps).view_as(x)
    y = y.unflatten(-1, (groups, -1)).transpose(-1, -2).flatten(-2)
    return y * gain + shift


def last_channel_left_out(x, gain, shift, groups, eps):
    parts = x.unflatten(-1, (groups, -1))
    some = parts[..., :-1] if parts.shape[-1] > 1 else parts
    centred = parts - some.mean(-1, keepdim=True)
    deviation = (some.var(-1, keepdim=True, correction=0) + eps).sqrt()
    return (centred / deviation).view_as(x) * gain + shift


def zero_for_constants(x, gain, shift, groups, eps):
    parts = x.unflatten(-1, (groups, -1))
    flat = (parts.amax(-1, keepdim=True) == parts.amin(-1, keepdim=True)).expand_as(parts)
    y = F.group_norm(x.flatten(0, 1), groups, gain, shift, eps).view_as(x)
    return y.masked_fill(flat.reshape(x.shape), 0.0) if parts.shape[-1] > 1 else y


def as_in_the_first_group(x, gain, shift, groups, eps):
    parts = x.unflatten(-1, (groups, -1))
    first = parts[:, :, 0, :]
    mean, square = first.mean(-1)[:, :, None], first.var(-1, correction=0)[:, :, None]
    return (x - mean) / (square + eps).sqrt() * gain + shift


def one_variance_for_all_groups(x, gain, shift, groups, eps):
    parts = x.view(*x.shape[:2], groups, -1)
    centered = (parts - own_mean(parts)).view(x.shape)
    variance = (centered**2).mean(dim=-1, keepdim=True)
    return gain * centered / torch.sqrt(variance + eps) + shift


def one_mean_deviation(x, gain, shift, groups, eps):
    parts = x.view(*x.shape[:2], groups, -1)
    deviation = torch.sqrt(parts.var(-1, correction=0) + eps).mean(-1)
    centered = (parts - own_mean(parts)).view(x.shape)
    return centered / deviation[..., None] * gain + shift


def _norm(x, gain, shift, groups, eps, dim=-1, power=0.5):
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    mean = parts.mean(dim, keepdim=True)
    variance = ((parts - mean) ** 2).mean(dim, keepdim=True)
    return ((parts - mean) / (variance + eps) ** power).view(B, T, C) * gain + shift


# "Gain and shift have one entry for each channel": here each group uses those of the first
def gain_of_the_first_group(x, gain, shift, groups, eps):
    B, T, C = x.shape
    width = C // groups
    parts = x.view(B, T, groups, width)
    mean = parts.mean(dim=-1, keepdim=True)
    variance = parts.var(dim=-1, keepdim=True, correction=0)
    normed = (parts - mean) / (variance + eps).sqrt()
    return (gain[:width] * normed + shift[:width]).view(B, T, C)


def size_for_number(x, gain, shift, groups, eps):
    C = x.shape[-1]
    return _norm(x, gain, shift, C // groups if groups > 1 else 1, eps)


# "bring each group to mean 0 and variance 1": the loop ends one group too early.
def last_group_is_forgotten(x, gain, shift, groups, eps):
    size = x.shape[-1] // groups
    result = x.clone()
    for start in range(0, x.shape[-1] - size, size):
        part = x[..., start : start + size]
        centered = part - part.mean(dim=-1, keepdim=True)
        variance = centered.square().mean(dim=-1, keepdim=True)
        result[..., start : start + size] = centered / (variance + eps).sqrt()
    return gain * result + shift


# "eps is added under the root"
def eps_as_the_smallest_variance(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    centered = parts - parts.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return gain * (centered / variance.clamp(min=eps).sqrt()).view(B, T, C) + shift


# "Gain and shift ... act last."
def gain_goes_in_first(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = (x * gain).view(B, T, groups, C // groups)
    centered = parts - parts.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return (centered / (variance + eps).sqrt()).view(B, T, C) + shift


WRONG = {
    "first-group-for-all": as_in_the_first_group,
    "groups-overlap": beginning_one_later,
    "mean-over-the-positions": down_the_positions(mean=True, variance=False),
    "variance-over-the-positions": down_the_positions(mean=False, variance=True),
    "squares-of-x": norming(
        own_mean, divide=lambda p, eps: (p.pow(2).mean(-1, keepdim=True) + eps).sqrt()
    ),
    "mean-of-the-position": of_the_whole(mean=True, variance=False),
    "variance-of-the-position": of_the_whole(mean=False, variance=True),
    "eps-elsewhere": lambda x, gain, shift, groups, eps: (
        norm_by_loop(x, gain, shift, groups, 0) + eps
    ),
    "normed-twice": twice_normed,
    "first-group-forgotten": all_but_the_first,
    "one-gain-a-group": gain_for_a_group,
    "gain-of-the-first-group": gain_of_the_first_group,
    "groups-for-their-width": size_for_number,
    "last-group-forgotten": last_group_is_forgotten,
    "eps-as-a-floor": eps_as_the_smallest_variance,
    "gain-goes-first": gain_goes_in_first,
    "shift-goes-first": lambda x, gain, shift, groups, eps: (
        gain_goes_in_first(x + shift, torch.ones_like(gain), torch.zeros_like(shift), groups, eps)
        * gain
    ),
    "unbiased-variance": norming(
        own_mean, divide=lambda p, eps: (p.std(-1, keepdim=True) ** 2 + eps) ** 0.5
    ),
    "eps-outside": norming(
        own_mean, divide=lambda p, eps: p.std(-1, correction=0, keepdim=True) + eps
    ),
    "eps-ignored": lambda x, gain, shift, groups, eps: norm_by_loop(x, gain, shift, groups, 0),
    "over-the-sequence": along(1),
    "over-the-batch": lambda x, gain, shift, groups, eps: (
        F.batch_norm(x.transpose(1, 2), None, None, gain, shift, True, eps=eps)
    ).transpose(1, 2),
    "positions-together": lambda x, gain, shift, groups, eps: (
        F.layer_norm(x, x.shape[1:], eps=eps) * gain + shift
    ),
    "gain-before-the-norm": lambda x, gain, shift, groups, eps: norm_by_library(
        x * gain + shift, 1, 0, groups, eps
    ),
    "groups-interleaved": every_other_channel,
    "across-the-groups": along(2),
    "last-group-for-all": norming(lambda p: own_mean(p)[:, :, -1:]),
    "one-variance": one_variance_for_all_groups,
    "mean-of-the-deviations": one_mean_deviation,
}


def largest_deviation_of_all_groups(x, gain, shift, groups, eps):
    parts = x.view(*x.shape[:2], groups, -1)
    centered = parts - own_mean(parts)
    deviation = parts.std(-1, correction=0, keepdim=True).amax(2, keepdim=True)
    return (centered / (deviation**2 + eps).sqrt()).flatten(2) * gain + shift


def single_channels_left_alone(x, gain, shift, groups, eps):
    if groups == x.shape[-1]:
        return x * gain + shift
    return norm_by_library(x, gain, shift, groups, eps)


ODD = [
    (joined_across, "channels-moved"),
    (last_channel_left_out, "channel-left-out"),
    (zero_for_constants, "constant-group"),
    (
        lambda x, gain, shift, groups, eps: norm_by_library(x, 1 / gain, shift, groups, eps),
        "other-gain",
    ),
    (
        norming(
            own_mean, divide=lambda p, eps: (p.var(-1, keepdim=True, correction=0) + eps) ** -0.5
        ),
        "multiplied-instead-of-dividing-by-the-standard-deviations-in-the-normalized-numbers",
    ),
    (
        norming(own_mean, divide=lambda p, eps: (p - own_mean(p)).abs().amax(-1, True)),
        "other-statistics",
    ),
    (largest_deviation_of_all_groups, "other-statistics"),
    (single_channels_left_alone, "single-channel-groups"),
    (
        lambda x, gain, shift, groups, eps: norm_by_library(x, gain, shift, groups, eps).squeeze(),
        "axis-of-one",
    ),
    (lambda x, gain, shift, groups, eps: x.mean(-1), "shape"),
    (
        lambda x, gain, shift, groups, eps: norm_by_loop(x, gain, shift, groups, eps) + 1,
        "added-1-to-your-output",
    ),
    (lambda x, gain, shift, groups, eps: x / 0, "not-finite"),
    (lambda x, gain, shift, groups, eps: x[99], "error"),
]


# --- Answers that no list names ---


def shift_subtracted(x, gain, shift, groups, eps):
    return _norm(x, gain, -shift, groups, eps)


def eps_squared(x, gain, shift, groups, eps):
    return _norm(x, gain, shift, groups, eps**2)


# "your functions leave what they are given as it was": a view of x is x.
def centers_in_place(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    parts -= parts.mean(dim=-1, keepdim=True)
    variance = parts.square().mean(dim=-1, keepdim=True)
    return gain * (parts / (variance + eps).sqrt()).view(B, T, C) + shift


UNLISTED = {
    1: [
        (shift_subtracted, "subtracted-instead-of-adding-shift-in-your-output"),
        (eps_squared, "other-statistics"),
    ],
    5: [(centers_in_place, "changes-its-input")],
}
