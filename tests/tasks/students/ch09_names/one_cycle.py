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


def cycle_falls(step, steps, rise, peak, start_factor, final_factor, low, high):
    share = (1 + math.cos(math.pi * step / (steps - 1))) / 2
    last = peak / start_factor / final_factor
    return last + (peak - last) * share, high - (high - low) * share


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


def cycle_with_lowest_momentum_halfway(step, steps, low, high, **others):
    rate, _ = cycle_by_hand(step, steps, low=low, high=high, **others)
    middle = (steps - 1) / 2
    return rate, low + (high - low) / 2 * (1 + math.cos(math.pi * step / middle))


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


WRONG = {
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
    "ends-where-it-began": cycle(end=lambda peak, start, _: peak / start),
    "starts-at-zero": cycle(start=0.0),
    "counts-from-one": cycle(shift=1),
    "turns-one-step-late": cycle(late=1),
    "never-rises": cycle_falls,
    "momentum-along": cycle(momentum="along"),
    "momentum-constant": cycle(momentum="constant"),
}


def cycle_that_ends_at_low(step, steps, rise, peak, start_factor, final_factor, low, high):
    settings = (peak, start_factor, final_factor, low, high)
    rate, momentum = cycle_by_hand(step, steps, rise, *settings)
    return rate, momentum if step <= round(rise * steps) - 1 else high + low - momentum


def cycle_with_an_early_peak(step, steps, rise, *, low, high, **rest):
    """Two steps at least to rise."""
    turn = max(2, round(rise * steps) - 1)
    return cycle_by_hand(step, steps, (turn + 1) / steps, low=low, high=high, **rest)


def cycle_with_a_late_peak(step, steps, rise, peak, start_factor, final_factor, low, high):
    if step == steps - 1 == round(rise * steps):
        return peak, low
    return cycle_by_hand(step, steps, rise, peak, start_factor, final_factor, low, high)


def cycle_straight_up(step, steps, rise, peak, start_factor, final_factor, low, high):
    settings = (peak, start_factor, final_factor, low, high)
    turn = round(rise * steps) - 1
    if step > turn:
        return cycle_by_hand(step, steps, rise, *settings)
    ends = [0, turn]
    return np.interp(step, ends, [peak / start_factor, peak]), np.interp(step, ends, [high, low])


def cycle_with_one_share(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Goes down by the share of all steps."""
    settings = (peak, start_factor, final_factor, low, high)
    if step <= round(rise * steps) - 1:
        return cycle_by_hand(step, steps, rise, *settings)
    down = (1 + math.cos(math.pi * step / (steps - 1))) / 2
    last = peak / start_factor / final_factor
    return last + (peak - last) * down, high + (low - high) * down


def cycle_of_whole_shares(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Stays where it begins until the peak."""
    if step < round(rise * steps) - 1:
        return peak / start_factor, high
    return cycle_by_hand(step, steps, rise, peak, start_factor, final_factor, low, high)


ODD = [
    (cycle_straight_up, "other-course"),
    (cycle_with_one_share, "other-course"),
    (cycle_of_whole_shares, "other-course"),
    (cycle_along_a_quarter, "other-course"),
    (cycle_with_lowest_momentum_halfway, "momentum-turns-elsewhere"),
    (cycle_twice_as_fast, "as-if-peak-double"),
    (lambda *asked, **named: cycle_by_hand(*asked, **named)[::-1], "exchanged"),
    (cycle_that_ends_at_low, "other-course"),
    (cycle_with_an_early_peak, "short-cycle"),
    (cycle_with_a_late_peak, "short-cycle"),
]


# --- Answers that no list names ---


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


def turn_truncated(step, steps, rise, **rest):
    return _cycle(step, steps, rise, **rest, turn=int(rise * steps) - 1)


def ends_one_step_beyond(step, steps, rise, **rest):
    return _cycle(step, steps + 1, rise * steps / (steps + 1), **rest)


def whole_cosine(step, steps, rise, peak, start_factor, final_factor, low, high):
    rate, momentum = _cycle(step, steps, rise, peak, start_factor, final_factor, low, high)
    turn = round(rise * steps) - 1
    if step > turn:
        rate = peak * (1 + math.cos(2 * math.pi * (step - turn) / (steps - 1 - turn))) / 2
    return rate, momentum


def results_exchanged(*given, **named):
    return _cycle(*given, **named)[::-1]


def ends_at_zero(step, steps, rise, **rest):
    return _cycle(step, steps, rise, **rest, last=0.0)


def low_and_high_exchanged(step, steps, rise, peak, start_factor, final_factor, low, high):
    return _cycle(step, steps, rise, peak, start_factor, final_factor, high, low)


def _cycle_of_set_2(step, steps, turn, first, peak, last, low, high):
    def between(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    if step <= turn:
        return between(first, peak, step / turn), between(high, low, step / turn)
    share = (step - turn) / max(steps - 1 - turn, 1)
    return between(peak, last, share), between(low, high, share)


def cycle_that_ends_by_the_peak(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn, first = round(rise * steps) - 1, peak / start_factor
    return _cycle_of_set_2(step, steps, turn, first, peak, peak / final_factor, low, high)


def cycle_that_turns_a_step_late(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn, first = round(rise * steps), peak / start_factor
    return _cycle_of_set_2(step, steps, turn, first, peak, first / final_factor, low, high)


def cycle_with_momentum_along_the_rate(
    step, steps, rise, peak, start_factor, final_factor, low, high
):
    turn, first = round(rise * steps) - 1, peak / start_factor
    return _cycle_of_set_2(step, steps, turn, first, peak, first / final_factor, high, low)


def fall_that_never_quite_ends(step, steps, rise, peak, start_factor, final_factor, low, high):
    def between(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    turn = round(rise * steps) - 1
    first = peak / start_factor
    if step <= turn:
        return between(first, peak, step / turn), between(high, low, step / turn)
    share = (step - turn) / (steps - turn)
    return between(peak, first / final_factor, share), between(low, high, share)


# "Both go along half a cosine": here the momentum goes straight
def straight_momentum(step, steps, rise, peak, start_factor, final_factor, low, high):
    top = round(rise * steps) - 1
    first = peak / start_factor
    if step <= top:
        s, a, b, c, d = step / top, first, peak, high, low
    else:
        s = (step - top) / (steps - 1 - top)
        a, b, c, d = peak, first / final_factor, low, high
    return b + (a - b) / 2 * (1 + math.cos(math.pi * s)), c + (d - c) * s


# "In the second half s [...] 0 at the peak": here one step later, so that the peak lasts two steps
def peak_held_for_two_steps(step, steps, rise, peak, start_factor, final_factor, low, high):
    def half(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    up = round(rise * steps)
    first = peak / start_factor
    if step < up:
        s = step / (up - 1)
        return half(first, peak, s), half(high, low, s)
    s = (step - up) / max(steps - 1 - up, 1)
    return half(peak, first / final_factor, s), half(low, high, s)


# "In floating point the product may miss that number by a little", upwards as well:
# 0.07 * 100 is 7.000000000000001
def peak_rounded_up(step, steps, rise, peak, start_factor, final_factor, low, high):
    def half(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    top = math.ceil(rise * steps) - 1
    first = peak / start_factor
    if step <= top:
        return half(first, peak, step / top), half(high, low, step / top)
    s = (step - top) / (steps - 1 - top)
    return half(peak, first / final_factor, s), half(low, high, s)


# Remembers that one-cycle ends far below the peak, and divides the peak.
# "ends at its *first* value divided by `final_factor`"
def peak_by_final_factor(step, steps, rise, peak, start_factor, final_factor, low, high):
    def cosine(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    top = round(rise * steps) - 1
    if step <= top:
        s = step / top
        return cosine(peak / start_factor, peak, s), cosine(high, low, s)
    s = (step - top) / (steps - 1 - top)
    return cosine(peak, peak / final_factor, s), cosine(low, high, s)


# Cuts off decimals, as a cast to int does in Java.
# "In floating point the product may miss that number by a little"
def turn_cut_off(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn = int(rise * steps) - 1
    first = peak / start_factor
    last = first / final_factor
    if step <= turn:
        s = step / turn
        a, b, c, d = first, peak, high, low
    else:
        s = (step - turn) / (steps - 1 - turn)
        a, b, c, d = peak, last, low, high
    wave = (1 + math.cos(math.pi * s)) / 2
    return b + (a - b) * wave, d + (c - d) * wave


# Used the cosine for the rate, and a straight line for the momentum, as in the chapter.
# "Both go along half a cosine, up and down"
def momentum_on_straight_lines(step, steps, rise, peak, start_factor, final_factor, low, high):
    turn = round(rise * steps) - 1
    first = peak / start_factor
    final = first / final_factor
    if step <= turn:
        s = step / turn
        rate = peak + (first - peak) / 2 * (1 + math.cos(math.pi * s))
        momentum = high + (low - high) * s
    else:
        s = (step - turn) / (steps - 1 - turn)
        rate = final + (peak - final) / 2 * (1 + math.cos(math.pi * s))
        momentum = low + (high - low) * s
    return rate, momentum


# computes the momentum from the rate, as its mirror image: "and ends at `high`", whereas the rate
# ends below where it began
def momentum_mirrors_the_rate(step, steps, rise, peak, start_factor, final_factor, low, high):
    first = peak / start_factor
    last = first / final_factor
    top = round(rise * steps) - 1
    if step <= top:
        s = step / top
        rate = peak + (first - peak) / 2 * (1 + math.cos(math.pi * s))
    else:
        s = (step - top) / (steps - 1 - top)
        rate = last + (peak - last) / 2 * (1 + math.cos(math.pi * s))
    momentum = high - (high - low) * (rate - first) / (peak - first)
    return rate, momentum


# copies the line of the first half and forgets to turn the momentum round: "is at `low` where the
# rate is at its peak, and ends at `high`"
def momentum_falls_twice(step, steps, rise, peak, start_factor, final_factor, low, high):
    def half_cosine(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    initial = peak / start_factor
    top = round(rise * steps) - 1
    if step <= top:
        s = step / top
        return half_cosine(initial, peak, s), half_cosine(high, low, s)
    s = (step - top) / (steps - 1 - top)
    return half_cosine(peak, initial / final_factor, s), half_cosine(high, low, s)


# Copied the straight lines of the chapter for the momentum: "Both go along half a cosine, up and
# down"
def momentum_along_straight_lines(step, steps, rise, peak, start_factor, final_factor, low, high):
    first = peak / start_factor
    last = first / final_factor
    top = round(rise * steps) - 1
    if step <= top:
        s = step / top
        rate = peak + (first - peak) / 2 * (1 + math.cos(math.pi * s))
        return rate, high + (low - high) * s
    s = (step - top) / (steps - 1 - top)
    rate = last + (peak - last) / 2 * (1 + math.cos(math.pi * s))
    return rate, low + (high - low) * s


def momentum_mirrors_the_rate_of_set_12(
    step, steps, rise, peak, start_factor, final_factor, low, high
):
    """Computes the momentum from the rate's share of its rise, which falls below 0 at the end."""

    def half_cosine(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    top = round(rise * steps) - 1
    first = peak / start_factor
    if step <= top:
        rate = half_cosine(first, peak, step / top)
    else:
        rate = half_cosine(peak, first / final_factor, (step - top) / (steps - 1 - top))
    height = (rate - first) / (peak - first)
    return rate, high - (high - low) * height


def momentum_computed_from_the_rate(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Derives momentum from the rate's share of the rise, so it ends above high."""

    def between(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    turn = round(rise * steps) - 1
    first = peak / start_factor
    if step <= turn:
        rate = between(first, peak, step / turn)
    else:
        rate = between(peak, first / final_factor, (step - turn) / (steps - 1 - turn))
    return rate, high - (high - low) * (rate - first) / (peak - first)


def straight_warm_up(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Goes up to the peak along a straight line, with a cosine only on the way down."""
    turn = round(rise * steps) - 1
    first = peak / start_factor
    if step <= turn:
        share = step / turn
        return first + (peak - first) * share, high + (low - high) * share
    share = (step - turn) / (steps - 1 - turn)
    down = (1 + math.cos(math.pi * share)) / 2
    last = first / final_factor
    return last + (peak - last) * down, high + (low - high) * down


def momentum_lowest_in_the_middle(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Moves the momentum along one whole cosine, lowest half-way and not at the rate's peak."""

    def between(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    turn = round(rise * steps) - 1
    first = peak / start_factor
    momentum = between(high, low, 2 * step / (steps - 1))
    if step <= turn:
        return between(first, peak, step / turn), momentum
    share = (step - turn) / (steps - 1 - turn)
    return between(peak, first / final_factor, share), momentum


def momentum_follows_the_rate_of_set_14(
    step, steps, rise, peak, start_factor, final_factor, low, high
):
    """Computes momentum from the rate's height above the first rate, so it ends above `high`."""
    first = peak / start_factor
    last = first / final_factor
    top = round(rise * steps) - 1
    if step <= top:
        a, b, s = first, peak, step / top
    else:
        a, b, s = peak, last, (step - top) / (steps - 1 - top)
    rate = b + (a - b) / 2 * (1 + math.cos(math.pi * s))
    momentum = high - (high - low) * (rate - first) / (peak - first)
    return rate, momentum


def peak_rounded_up_of_set_15(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Rounds rise * steps up by ceil: where it is a little too large, the peak is a step late."""
    top = math.ceil(rise * steps) - 1
    first = peak / start_factor

    def cosine(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    if step <= top:
        s = step / top
        return cosine(first, peak, s), cosine(high, low, s)
    s = (step - top) / (steps - 1 - top)
    return cosine(peak, first / final_factor, s), cosine(low, high, s)


def rise_counted_from_one(step, steps, rise, peak, start_factor, final_factor, low, high):
    """Counts the steps of the rise from 1, so step 0 is already above the first rate."""

    def half_cosine(a, b, s):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * s))

    first = peak / start_factor
    up = round(rise * steps)
    if step < up:
        s = (step + 1) / up
        return half_cosine(first, peak, s), half_cosine(high, low, s)
    s = (step + 1 - up) / (steps - up)
    return half_cosine(peak, first / final_factor, s), half_cosine(low, high, s)


UNLISTED = {
    1: [
        turn_truncated,
        ends_one_step_beyond,
        whole_cosine,
        results_exchanged,
        ends_at_zero,
        low_and_high_exchanged,
    ],
    2: [
        cycle_that_ends_by_the_peak,
        cycle_that_turns_a_step_late,
        cycle_with_momentum_along_the_rate,
    ],
    3: [fall_that_never_quite_ends],
    4: [end_is_one_step_beyond],
    5: [peak_is_rounded_up, momentum_follows_the_rate, share_counts_from_one],
    6: [straight_momentum, peak_held_for_two_steps, peak_rounded_up],
    7: [peak_by_final_factor],
    8: [turn_cut_off, momentum_on_straight_lines],
    9: [momentum_mirrors_the_rate, momentum_falls_twice],
    10: [momentum_along_straight_lines],
    12: [momentum_mirrors_the_rate_of_set_12],
    13: [momentum_computed_from_the_rate, straight_warm_up, momentum_lowest_in_the_middle],
    14: [momentum_follows_the_rate_of_set_14],
    15: [peak_rounded_up_of_set_15],
    16: [rise_counted_from_one],
}
