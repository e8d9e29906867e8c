"""Students' answers to 09/one-cycle."""

import math

import numpy as np
import torch
from torch import nn


def cycle_of_torch(step, steps, rise, peak, start_factor, final_factor, low, high):
    optimizer = torch.optim.AdamW([nn.Parameter(torch.zeros(1))], betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, peak, total_steps=steps, pct_start=rise, div_factor=start_factor,
        final_div_factor=final_factor, base_momentum=low, max_momentum=high,
    )  # fmt: skip
    for _ in range(step):
        optimizer.step()
        schedule.step()
    group = optimizer.param_groups[0]
    return group["lr"], group["betas"][0]


def cycle_by_hand(step, steps, rise, peak, start_factor, final_factor, low, high):
    first, turn = peak / start_factor, round(rise * steps) - 1
    if step <= turn:
        up = (1 - math.cos(math.pi * step / turn)) / 2  # 0 → 1
        return first + (peak - first) * up, high - (high - low) * up
    last = first / final_factor
    down = (1 - math.cos(math.pi * (step - turn) / (steps - 1 - turn))) / 2
    return peak - (peak - last) * down, low + (high - low) * down


def cycle_interpolated(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn = rise * steps - 1
    angle = np.interp(step, [0, turn, steps - 1], [0, np.pi, 2 * np.pi])
    height = (1 - np.cos(angle)) / 2
    floor = peak / start_factor if step <= turn else peak / start_factor / final_factor
    return torch.tensor(floor + (peak - floor) * height), high + (low - high) * height


def cycle(shape="cosine", start=None, end=None, shift=0, late=0, momentum="against"):
    def at(step, steps, rise, peak, start_factor, final_factor, low, high):
        turn = rise * steps - 1 + late
        points = [0.0, turn, steps - 1]
        first = peak / start_factor if start is None else start
        last = end(peak, start_factor, final_factor) if end else first / final_factor
        if end is None and start is not None:
            last = peak / start_factor / final_factor
        t = step + shift
        if shape == "line":
            rate = np.interp(t, points, [first, peak, last])
            height = np.interp(t, points, [0, 1, 0])
        else:
            angle = (
                math.pi * t / turn if t <= turn else math.pi * (1 + (t - turn) / (steps - 1 - turn))
            )
            height = (1 - math.cos(angle)) / 2
            floor = first if t <= turn else last
            rate = floor + (peak - floor) * height
        moment = {"against": high - (high - low) * height, "along": low + (high - low) * height}
        return rate, moment.get(momentum, high)

    return at


def cycle_twice_as_fast(step, steps, rise, peak, start_factor, final_factor, low, high):
    rate, moment = cycle_by_hand(step, steps, rise, peak, start_factor, final_factor, low, high)
    return 2 * rate, moment


RIGHT = {
    "torch's own": cycle_of_torch,
    "by hand": cycle_by_hand,
    "one angle": cycle_interpolated,
}


def cycle_truncated(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn = int(steps * rise) - 1
    return cycle_by_hand(
        step, steps, (turn + 1) / steps, peak, start_factor, final_factor, low, high
    )


def cycle_of_two_peaks(step, steps, rise, peak, start_factor, final_factor, low, high):
    top = round(rise * steps) - 1
    settings = (peak, start_factor, final_factor, low, high)
    if step <= top:
        return cycle_by_hand(step, steps, rise, *settings)
    # What is left of the fall takes one step fewer.
    return cycle_by_hand(step - 1, steps - 1, (top + 1) / (steps - 1), *settings)


def cycle_with_the_rate_turned_round(
    step, steps, rise, peak, start_factor, final_factor, low, high
):
    rate, _ = cycle_by_hand(step, steps, rise, peak, start_factor, final_factor, low, high)
    height = (start_factor * rate / peak - 1) / (start_factor - 1)  # 0 at the first rate, 1 at peak
    return rate, high + (low - high) * height


def cycle_with_a_straight_momentum(step, steps, rise, peak, start_factor, final_factor, low, high):
    settings = (peak, start_factor, final_factor, low, high)
    rate, _ = cycle_by_hand(step, steps, rise, *settings)
    turn = round(rise * steps) - 1
    return rate, float(np.interp(step, [0, turn, steps - 1], [high, low, high]))


def cycle_along_a_quarter(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn = round(rise * steps) - 1
    first, last = peak / start_factor, peak / start_factor / final_factor
    rising = step <= turn
    share = step / turn if rising else (step - turn) / (steps - 1 - turn)
    left = math.cos(math.pi / 2 * share)
    if rising:
        return peak + (first - peak) * left, low + (high - low) * left
    return last + (peak - last) * left, high + (low - high) * left


def half_cosine(a, b, share):
    return b + (a - b) / 2 * (1 + math.cos(math.pi * share))


# "The momentum begins at `high` ... Both go along half a cosine": it follows the rate instead.
def momentum_follows_the_rate(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn, first = round(rise * steps) - 1, peak / start_factor
    if step <= turn:
        rate = half_cosine(first, peak, step / turn)
    else:
        share = (step - turn) / (steps - 1 - turn)
        rate = half_cosine(peak, first / final_factor, share)
    return rate, high - (high - low) * rate / peak


# "Steps are numbered from 0": the rate does not begin at its first value.
def share_counts_from_one(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn, first = round(rise * steps) - 1, peak / start_factor
    if step <= turn:
        share = (step + 1) / (turn + 1)
        return half_cosine(first, peak, share), half_cosine(high, low, share)
    share = (step - turn) / (steps - 1 - turn)
    return half_cosine(peak, first / final_factor, share), half_cosine(low, high, share)


# "the end at step steps − 1"
def end_is_one_step_beyond(step, steps, rise, peak, start_factor, final_factor, low, high):
    def between(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    turn = round(rise * steps) - 1
    first = peak / start_factor
    if step <= turn:
        share = step / turn
        return between(first, peak, share), between(high, low, share)
    share = (step - turn) / (steps - turn)
    return between(peak, first / final_factor, share), between(low, high, share)


# "In floating point the product may miss that number by a little", upwards as well.
def peak_is_rounded_up(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn, first = math.ceil(rise * steps) - 1, peak / start_factor
    if step <= turn:
        share = step / turn
        return half_cosine(first, peak, share), half_cosine(high, low, share)
    share = (step - turn) / (steps - 1 - turn)
    return half_cosine(peak, first / final_factor, share), half_cosine(low, high, share)


def _cycle(step, steps, rise, peak, start_factor, final_factor, low, high, turn=None, last=None):
    turn = round(rise * steps) - 1 if turn is None else turn
    first = peak / start_factor
    last = first / final_factor if last is None else last

    def half(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    if step <= turn:
        return half(first, peak, step / turn), half(high, low, step / turn)
    s = (step - turn) / (steps - 1 - turn)
    return half(peak, last, s), half(low, high, s)


def ends_at_zero(step, steps, rise, **rest):
    return _cycle(step, steps, rise, **rest, last=0.0)


WRONG = {
    "results-exchanged": lambda *asked, **named: cycle_by_hand(*asked, **named)[::-1],
    "ends-at-zero": ends_at_zero,
    "falls-one-step-late": cycle_of_two_peaks,
    "momentum-straight": cycle_with_a_straight_momentum,
    "momentum-mirrored": cycle_with_the_rate_turned_round,
    "momentum-of-the-rate": momentum_follows_the_rate,
    "rise-from-one": share_counts_from_one,
    "ends-one-step-late": end_is_one_step_beyond,
    "rounded-up": peak_is_rounded_up,
    "rounded-down": cycle_truncated,
    "straight-lines": cycle(shape="line"),
    "final-from-the-peak": cycle(end=lambda peak, _, final: peak / final),
    "turns-one-step-late": cycle(late=1),
    "momentum-along": cycle(momentum="along"),
}


def cycle_that_ends_at_low(step, steps, rise, peak, start_factor, final_factor, low, high):
    settings = (peak, start_factor, final_factor, low, high)
    rate, momentum = cycle_by_hand(step, steps, rise, *settings)
    return rate, momentum if step <= round(rise * steps) - 1 else high + low - momentum


def cycle_with_an_early_peak(step, steps, rise, *, low, high, **rest):
    """Two steps at least to rise."""
    turn = max(2, round(rise * steps) - 1)
    return cycle_by_hand(step, steps, (turn + 1) / steps, low=low, high=high, **rest)


def cycle_straight_up(step, steps, rise, peak, start_factor, final_factor, low, high):
    settings = (peak, start_factor, final_factor, low, high)
    turn = round(rise * steps) - 1
    if step > turn:
        return cycle_by_hand(step, steps, rise, *settings)
    ends = [0, turn]
    return np.interp(step, ends, [peak / start_factor, peak]), np.interp(step, ends, [high, low])


ODD = [
    (cycle_straight_up, "other-course"),
    (cycle_along_a_quarter, "other-course"),
    (cycle_twice_as_fast, "as-if-peak-double"),
    (
        cycle_that_ends_at_low,
        "exchanged-low-and-high-in-your-momentum-on-the-way-down",
    ),
    (cycle_with_an_early_peak, "some-positions"),
]


# --- Answers that no list names ---


def whole_cosine(step, steps, rise, peak, start_factor, final_factor, low, high):
    rate, momentum = _cycle(step, steps, rise, peak, start_factor, final_factor, low, high)
    turn = round(rise * steps) - 1
    if step > turn:
        rate = peak * (1 + math.cos(2 * math.pi * (step - turn) / (steps - 1 - turn))) / 2
    return rate, momentum


UNLISTED = {
    1: [(whole_cosine, "rate-at-the-ends")],
}
