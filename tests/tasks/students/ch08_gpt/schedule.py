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


def one_line_min(step, steps, warm_up, decay, final):
    return min((step + 1) / warm_up, 1, 1 + (final - 1) * (step + 1 + decay - steps) / decay)


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


def last_is_final(step, steps, warm_up, decay, final):
    if step == steps - 1:
        return final
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
    "divides-by-zero": one_line_min,
    "stops-in-some": last_slice_filled,
}


ODD = [
    (a_bit_too_high, "above-full"),
    (lambda s, *_: 0.5 * (s % 2), "other-warm-up"),
    (progress, "stops-in-some"),
    (full_if_nothing_but_decay, "unusual-training"),
    (last_is_final, "unusual-training"),
    (decay_in_shares_of_the_way, "stops-in-some"),
]


# --- Answers that no list names ---


def final_is_a_difference(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    return 1 - final + final * left / decay if left < decay else 1.0


def warm_up_within_the_decay(step, steps, warm_up, decay, final):
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * (left + 1) / (decay + 1)
    return min(1.0, (step + 1) / warm_up) if warm_up else 1.0


def _share(step, steps, warm_up, decay, final, late=0, down=None):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * left / decay
    return 1.0


def warm_up_squared(step, steps, warm_up, decay, final):
    share = _share(step, steps, warm_up, decay, final)
    return share**2 if step < warm_up else share


def one_beyond_the_end(step, steps, warm_up, decay, final):
    return _share(step, steps + 1, warm_up, decay, final)


def geometric(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    return final ** (1 - left / decay) if left < decay else 1.0


def level_is_final(step, steps, warm_up, decay, final):
    share = _share(step, steps, warm_up, decay, final)
    return final if share == 1.0 and step >= warm_up else share


def share_that_ends_above_final(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - step
    if left <= decay:
        return final + (1 - final) * left / decay
    return 1.0


def share_along_a_cosine(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * (1 - math.cos(math.pi * left / decay)) / 2
    return 1.0


def share_that_decays_at_once(step, steps, warm_up, decay, final):
    """Falls right behind the warm-up, then stays at the bottom."""
    if step < warm_up:
        return (step + 1) / warm_up
    done = step - warm_up + 1
    if done <= decay:
        return 1 - (1 - final) * done / decay
    return final if decay else 1.0


def falls_along_a_cosine(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * (1 - math.cos(math.pi * left / decay)) / 2
    return 1.0


# "the last decay steps fall by equal amounts; the last step of all has final"
def final_is_a_floor(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return max(final, left / decay)
    return 1.0


# "all steps between have 1", and with a decay of 0 the last step is one of them.
def last_step_is_final_in_any_case(step, steps, warm_up, decay, final):
    if step == steps - 1:
        return final
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * left / decay
    return 1.0


# "the last decay steps fall by equal amounts": here the first of them has not fallen at all
def falls_from_full_height(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * left / max(decay - 1, 1)
    return 1.0


# "fall by equal amounts": here by equal factors
def falls_by_equal_factors(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final ** ((decay - left) / decay)
    return 1.0


# "the first step has 1 / warm_up": also where that is less than `final`
def never_below_final(step, steps, warm_up, decay, final):
    share = 1.0
    if step < warm_up:
        share = (step + 1) / warm_up
    elif steps - 1 - step < decay:
        share = final + (1 - final) * (steps - 1 - step) / decay
    return max(share, final)


# Took the warm-up of a well-known training script.
# "the first step has `1 / warm_up`, the last one of them 1"
def warm_up_from_zero(step, steps, warm_up, decay, final):
    if step < warm_up:
        return step / warm_up
    if step >= steps - decay:
        left = steps - 1 - step
        return final + (1 - final) * left / decay
    return 1.0


# Lets the rate fall to 0 and holds it at the floor.
# "the last `decay` steps fall by equal amounts; the last step of all has `final`"
def floor_instead_of_slope(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    if step >= steps - decay:
        return max(final, (steps - 1 - step) / decay)
    return 1.0


# Comes from NumPy and puts three stretches together with linspace.
# "the last `decay` steps fall by equal amounts": the first of them does not fall
def shares_from_linspace(step, steps, warm_up, decay, final):
    up = torch.linspace(0, 1, warm_up + 1)[1:]
    level = torch.ones(steps - warm_up - decay)
    down = torch.linspace(1, final, decay)
    return torch.cat([up, level, down])[step].item()


# Kept the chapter's half cosine and changed where it begins.
# "fall by equal amounts"
def cosine_at_the_end(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    if step < steps - decay:
        return 1.0
    done = (step - (steps - decay) + 1) / decay
    return final + (1 - final) * 0.5 * (1 + math.cos(math.pi * done))


# comes from NumPy and draws the curve with `linspace`: "the last `decay` steps fall", the first of
# them too
def first_of_the_last_is_full(step, steps, warm_up, decay, final):
    up = torch.linspace(1 / max(warm_up, 1), 1, warm_up)
    down = torch.linspace(1, final, decay)
    level = torch.ones(steps - warm_up - decay)
    return torch.cat([up, level, down])[step].item()


# takes the rise from the course's library: "the first step has `1 / warm_up`, the last one of them
# 1"
def rise_of_the_library(step, steps, warm_up, decay, final):
    if step < warm_up:
        return min(1.0, (step + 1) / (warm_up + 1))
    if step >= steps - decay:
        done = (step + 1 - (steps - decay)) / decay
        return 1 - (1 - final) * done
    return 1.0


# Takes `final` for a floor under a fall to 0: "the last `decay` steps fall by equal amounts"
def final_as_a_floor(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    if step >= steps - decay:
        return max(final, (steps - 1 - step) / decay)
    return 1.0


def falls_towards_zero_and_stops(step, steps, warm_up, decay, final):
    """Falls as if the end were 0 and stops at final, so the steps of the fall aren't equal."""
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return max(final, left / decay)
    return 1.0


def falls_towards_zero_with_a_floor(step, steps, warm_up, decay, final):
    """Falls towards 0 and stops at `final`, so steps are larger and the last ones are level."""
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return max(final, left / decay)
    return 1.0


def cosine_at_the_end_of_set_13(step, steps, warm_up, decay, final):
    """Falls along half a cosine as the chapter's schedule does, so not by equal amounts."""
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * (1 - math.cos(math.pi * left / decay)) / 2
    return 1.0


def fills_a_list_by_slices(step, steps, warm_up, decay, final):
    """Fills shares[-decay:] of a list, which for a decay of 0 empties the whole list."""
    shares = [1.0] * steps
    shares[:warm_up] = [(i + 1) / warm_up for i in range(warm_up)]
    shares[-decay:] = [1 - (1 - final) * (i + 1) / decay for i in range(decay)]
    return shares[step]


def falls_to_zero_with_floor(step, steps, warm_up, decay, final):
    """Falls by 1 / decay a step, towards 0, and is held at `final` from below by max()."""
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return max(final, left / decay)
    return 1.0


def last_step_falls_without_decay(step, steps, warm_up, decay, final):
    """Divides by max(decay, 1): without a decay, the last step has `final` and not 1."""
    rise = (step + 1) / max(warm_up, 1)
    fall = final + (1 - final) * (steps - 1 - step) / max(decay, 1)
    return min(rise, 1.0, fall)


def falls_to_zero_but_not_below_final(step, steps, warm_up, decay, final):
    """Falls towards 0 and takes `final` as a lower bound, so the last steps do not fall evenly."""
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return max(final, left / decay)
    return 1.0


UNLISTED = {
    1: [
        (final_is_a_difference, None),
        (warm_up_within_the_decay, None),
        (warm_up_squared, None),
        (one_beyond_the_end, None),
        (geometric, None),
        (level_is_final, None),
    ],
    2: [
        (share_that_ends_above_final, None),
        (share_along_a_cosine, None),
        (share_that_decays_at_once, None),
    ],
    3: [(falls_along_a_cosine, None)],
    4: [(final_is_a_floor, None)],
    5: [(last_step_is_final_in_any_case, None), (falls_along_a_cosine, None)],
    6: [(falls_from_full_height, None), (falls_by_equal_factors, None), (never_below_final, None)],
    7: [(warm_up_from_zero, None), (floor_instead_of_slope, None)],
    8: [(shares_from_linspace, None), (cosine_at_the_end, None)],
    9: [(first_of_the_last_is_full, None), (rise_of_the_library, None)],
    10: [(final_as_a_floor, None)],
    12: [(falls_towards_zero_and_stops, None)],
    13: [
        (falls_towards_zero_with_a_floor, None),
        (cosine_at_the_end_of_set_13, None),
        (fills_a_list_by_slices, None),
    ],
    14: [(falls_to_zero_with_floor, None)],
    15: [(last_step_falls_without_decay, None)],
    16: [(falls_to_zero_but_not_below_final, None)],
}
