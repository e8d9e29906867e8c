"""What 01/find-fault asks."""

from __future__ import annotations

from functools import partial

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import on
from course_tasks.probing import Inputs, Probe


def _sound_rows(rng: np.random.Generator, T: int, sound: int, *, second: bool) -> Array:
    """(T, T) weights of the past whose rows sum to 1, up to the noise that float32 leaves. One row
    is to stay sound: it sees three positions or more, and not itself.
    """
    weights = np.tril(rng.uniform(0.2, 1.0, size=(T, T)))
    # A weight of 0 on the past is no fault. Column 0 stays, so that no row becomes empty.
    seen = rng.random((T, T - 1)) > 0.15
    seen[sound] = True
    weights[:, 1:] *= seen
    np.fill_diagonal(weights, rng.uniform(0.2, 1.0, size=T))
    # Three rows that do not see themselves, and a last one that sees nothing else: in them an
    # answer that forbids the diagonal, or adds up columns, differs from one that accuses all.
    unaware = [sound, *rng.choice(_rows_but(sound, 1, T - 1), 2, replace=False)]
    weights[unaware, unaware] = 0
    weights[-1, :-1] = 0
    weights /= weights.sum(1, keepdims=True)
    signs = rng.choice([-1, 1], size=(T, 1))
    # In the first and last row all is one weight. In the first draw it is a little more than 1, for
    # an answer that takes such a weight for a fault; in the second a little less.
    signs[[0, -1]] = _up(second=second)
    return np.asarray(weights * (1 + rng.uniform(4e-7, 6e-7, size=(T, 1)) * signs))


def _up(*, second: bool) -> int:
    """Which way numbers go whose sign some answer looks at: up in the first draw, then down."""
    return -1 if second else 1


def _rows_but(sound: int, start: int, stop: int) -> list[int]:
    return [t for t in range(start, stop) if t != sound]


def _ahead(rng: np.random.Generator, weights: Array, sound: int, *, second: bool) -> Array:
    """One row looks far ahead, another a little, at the very next position; so does the last row
    that has anything ahead of it. In row 0, what lies ahead cancels. Of many rows there is one
    whose past sums to 1 without what lies ahead.
    """
    T = len(weights)
    # Not to the last position, for an answer that looks at nothing else of the future.
    far = int(rng.choice(_rows_but(sound, 1, T - 3)))
    others = [t for t in _rows_but(sound, 1, T - 2) if t != far]
    near, *whole = (int(t) for t in rng.choice(others, 2 if T > 7 else 1, replace=False))
    for t, s, leak in (
        (far, int(rng.integers(far + 2, T - 1)), rng.uniform(0.1, 0.4)),
        (near, near + 1, _little(rng)),
        # Little in the first draw, for an answer that asks where the largest weight is.
        (T - 2, T - 1, rng.uniform(0.1, 0.4) if second else _little(rng)),
    ):
        weights[t] *= 1 - leak
        weights[t, s] += leak
    weights[whole, -1] = rng.uniform(0.1, 0.4)
    # In the first draw the negative one is in the last column, whose own row is sound: an answer
    # that looks for signs in columns accuses it.
    weights[0, -2:] += rng.uniform(0.1, 0.4) * np.array([1, -1]) * _up(second=second)
    return weights


def _little(rng: np.random.Generator) -> float:
    """More than the 1e-5 of rounding, and too little for an inspector that looks roughly."""
    return float(rng.uniform(4e-5, 9e-5))


def _off_sum(rng: np.random.Generator, weights: Array, sound: int, *, second: bool) -> Array:
    # Row 0, too: an answer may begin after it.
    others = _rows_but(sound, 1, len(weights) - 1)
    low, high, near = rng.permutation([0, *rng.choice(others, 2, replace=False)])
    weights[low] *= rng.uniform(0.4, 0.8)
    weights[high] *= rng.uniform(1.25, 2.0)
    # In the second draw so little that four decimals don't show it.
    weights[near] *= 1 + (rng.uniform(2e-5, 4e-5) if second else _little(rng)) * rng.choice([-1, 1])
    # More than float32 leaves, and less than the 1e-5 that the task allows.
    weights[-1] *= 1 + rng.uniform(6e-6, 8.5e-6) * _up(second=second)
    return weights


def _signs(rng: np.random.Generator, weights: Array, sound: int, *, second: bool) -> Array:
    last = len(weights) - 1  # the last one, too, and before the diagonal
    middle = int(rng.choice(_rows_but(sound, 3, last)))
    # Between small weights, so that none of the row gets larger than 1.
    small = rng.permutation(np.argsort(weights[middle, : middle + 1])[:2])
    for t, (down, up), below in (
        (middle, small, rng.uniform(0.15, 0.4)),
        (last, rng.choice(last, 2, replace=False), _little(rng)),
    ):
        step = weights[t, down] + below
        weights[t, down] -= step
        weights[t, up] += step
    # Two faults in one row make no sound one, even where its sizes sum to 1, and the present can
    # be negative, too.
    most = rng.uniform(0.6, 0.9)
    weights[1, :2] = [most, most - 1]
    weights[2, :3] = [1.5, 0, -0.5]
    if second:  # and one row that would be an average without its negative weight
        # It sees more than position 0, so that something is left.
        more = [t for t in _rows_but(sound, 3, last) if t != middle and weights[t, 1:].any()]
        t = int(rng.choice(more))
        weights[t, 0] = 0
        weights[t] /= weights[t].sum()
        weights[t, 0] = -rng.uniform(0.15, 0.4)
    return weights


def _not_numbers(rng: np.random.Generator, weights: Array, sound: int, *, second: bool) -> Array:
    T = len(weights)
    if second:  # row 0, too: an answer may begin after it
        in_past, in_future = (int(t) for t in rng.permutation([0, int(rng.integers(1, sound))]))
        ahead = int(rng.integers(in_future + 1, T))
    else:  # in the column of a sound row, for an answer that looks for the future in columns
        in_future, ahead = int(rng.integers(1, sound)), sound
        in_past = int(rng.choice([t for t in _rows_but(sound, 1, T - 1) if t != in_future]))
    for t, s in (
        (in_past, rng.integers(in_past + 1)),
        (in_future, ahead),
        (T - 1, rng.integers(T)),  # the last one, too
    ):
        weights[t, s] = np.nan
    return weights


def _leak(rng: np.random.Generator, weights: Array, sound: int, *, second: bool) -> Array:
    """One row looks ahead by less than sums may be off."""
    t = int(rng.choice(_rows_but(sound, 1, len(weights) - 1)))
    leak = _minute(rng, second=second)
    weights[t] *= 1 - leak
    weights[t, rng.integers(t + 1, len(weights))] = leak
    return weights


def _below(rng: np.random.Generator, weights: Array, sound: int, *, second: bool) -> Array:
    """One row has a weight that is less below 0 than sums may be off."""
    t = int(rng.choice(_rows_but(sound, 2, len(weights) - 1)))
    s, below = int(rng.integers(1, t)), _minute(rng, second=second)
    weights[t, s] = 0
    weights[t] *= (1 + below) / weights[t].sum()
    weights[t, s] = -below
    return weights


def _minute(rng: np.random.Generator, *, second: bool) -> float:
    """Less than the 1e-5 of sums; in the second draw also less than 1e-6, which some allow."""
    return float(rng.uniform(2e-6, 4e-6)) / (10 if second else 1)


_FAULTS = {
    "ahead": _ahead,
    "sums": _off_sum,
    "signs": _signs,
    "nan": _not_numbers,
    "leak": _leak,
    "below": _below,
}


def _find_fault_inputs(rng: np.random.Generator, *, second: bool = False) -> Inputs:
    T = int(rng.integers(6, 8)) + 2 * second
    inputs: dict[str, Array] = {"T": np.array(T)}
    for name, put_in in _FAULTS.items():
        sound = int(rng.integers(3, T - 2))
        inputs[name] = put_in(
            rng, _sound_rows(rng, T, sound, second=second), sound, second=second
        ).astype(np.float32)
    inputs["single"] = np.full((1, 1), 0.75 if second else 1.0, dtype=np.float32)
    return inputs


PROBE = Probe(
    _find_fault_inputs,
    # A single row that is sound to the last bit, and in the second draw one that is not.
    {name: on(name) for name in (*_FAULTS, "single")},
    second=partial(_find_fault_inputs, second=True),
)
