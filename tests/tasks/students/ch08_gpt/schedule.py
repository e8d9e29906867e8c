"""Students' answers to 08/schedule."""

import math

import numpy as np
import torch


def share_by_interpolation(step, steps, warm_up, decay, final):
    points = [(warm_up - 1, 1.0), (steps - 1 - decay, 1.0)]
    if warm_up:
        points.insert(0, (-1, 0.0))
    if decay:
        points.append((steps - 1, final))
    x, y = zip(*points, strict=True)
    return np.interp(step, x, y)


def share_by_list(step, steps, warm_up, decay, final):
    up = [(k + 1) / warm_up for k in range(warm_up)]
    down = [1 + (final - 1) * (k + 1) / decay for k in range(decay)]
    return (up + [1.0] * (steps - warm_up - decay) + down)[step]


def share_in_torch(step, steps, warm_up, decay, final):
    up = torch.linspace(0, 1, warm_up + 1)[1:]
    down = torch.linspace(1, final, decay + 1)[1:]
    return torch.cat([up, torch.ones(steps - warm_up - decay), down])[step]


def share_by_smallest(step, steps, warm_up, decay, final):
    up = (step + 1) / warm_up if warm_up else 1
    down = final + (1 - final) * (steps - 1 - step) / decay if decay else 1
    return min(up, 1.0, down)


def rising(up):
    def answer(step, steps, warm_up, decay, final):
        if step in range(warm_up):
            return up(step, warm_up)
        return share_by_list(step, steps, warm_up, decay, final)

    return answer


def falling(down):
    """`down(k, decay, final)`, k = 1 … decay."""

    def answer(step, steps, warm_up, decay, final):
        k = step - (steps - decay) + 1
        return down(k, decay, final) if k > 0 else share_by_list(step, steps, warm_up, decay, final)

    return answer


def straight_down(step, steps, warm_up, decay, final):
    if step < warm_up or decay == 0:
        return share_by_list(step, steps, warm_up, decay, final)
    done = (step - warm_up + 1) / (steps - warm_up)
    return 1 - done * (1 - final)


def down_then_flat(step, steps, warm_up, decay, final):
    if step < warm_up or decay == 0:
        return share_by_list(step, steps, warm_up, decay, final)
    k = min(step - warm_up + 1, decay)
    return 1 + (final - 1) * k / decay


def a_bit_too_high(step, steps, warm_up, decay, final):
    return 1.5 * share_by_list(step, steps, warm_up, decay, final)


def progress(step, steps, warm_up, decay, final):
    """Divides by what is 0 in a training of one step."""
    done = step / (steps - 1) * (steps - 1)
    return share_by_list(round(done), steps, warm_up, decay, final)


def full_if_nothing_but_decay(step, steps, warm_up, decay, final):
    if decay == steps:
        return 1 - (1 - final) * step / max(1, steps - 1)
    return share_by_list(step, steps, warm_up, decay, final)


def decay_in_shares_of_the_way(step, steps, warm_up, decay, final):
    share = share_by_list(step, steps, warm_up, decay, final)
    if step < steps - decay:
        return share
    return final + (1 - final) * ((share - final) / (1 - final))


def last_slice_filled(step, steps, warm_up, decay, final):
    shares = torch.ones(steps)
    shares[:warm_up] = torch.arange(1, warm_up + 1) / warm_up
    shares[-decay:] = 1 - (1 - final) * torch.arange(1, decay + 1) / decay
    return shares[step]


RIGHT = {
    "list": share_by_list,
    "interpolation": share_by_interpolation,
    "torch": share_in_torch,
    "smallest": share_by_smallest,
}


WRONG = {
    "rounded": lambda *asked: float(f"{share_by_list(*asked):.2f}"),
    "starts-at-zero": rising(lambda step, n: step / n),
    "full-one-step-late": rising(lambda step, n: (1 + step) / (1 + n)),
    "no-warm-up": rising(lambda step, n: 1),
    "whole-division": rising(lambda step, n: float(step + 1 == n)),
    "never-falls": falling(lambda k, n, final: 1),
    "no-level": straight_down,
    "decay-comes-first": down_then_flat,
    "falls-to-zero": falling(lambda k, n, final: 1 - k / n),
    "cut-at-final": falling(lambda k, n, final: max(1 - k / n, final)),
    "stops-above-final": falling(lambda k, n, final: 1 - (1 - final) * (k - 1) / n),
    "decay-takes-longer-strides": falling(
        lambda k, n, final: float(np.linspace(1, final, n)[k - 1])
    ),
    "decay-one-step-short": falling(lambda k, n, final: 1 - (1 - final) * (k > 1) * k / n),
    "equal-factors": falling(lambda k, n, final: math.exp(math.log(final or 1e-30) * k / n)),
    "cosine-for-line": falling(
        lambda k, n, final: final + (1 - final) * (1 + math.cos(math.pi * k / n)) / 2
    ),
    "stops-in-some": last_slice_filled,
}


ODD = [
    (a_bit_too_high, "above-full"),
    (lambda s, *_: 0.5 * (s % 2), "other-warm-up"),
    (progress, "stops-in-some"),
    (full_if_nothing_but_decay, "unusual-training"),
    (decay_in_shares_of_the_way, "stops-in-some"),
]


# --- Answers that no list names ---


def final_is_a_difference(step, steps, warm_up, decay, final):
    return falling(lambda k, n, final: 1 - final * k / n)(step, steps, warm_up, decay, final)


def warm_up_squared(step, steps, warm_up, decay, final):
    return rising(lambda step, n: ((step + 1) / n) ** 2)(step, steps, warm_up, decay, final)


def level_is_final(step, steps, warm_up, decay, final):
    level = warm_up <= step < steps - decay
    return final if level else share_by_list(step, steps, warm_up, decay, final)


UNLISTED = {
    1: [
        (final_is_a_difference, "other-decay"),
        (warm_up_squared, "squared-your-warm-up"),
        (level_is_final, "used-final-instead-of-the-full-rate-in-your-level"),
    ],
}
