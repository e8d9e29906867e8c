"""Students' answers to 01/find-fault."""

import math

import numpy as np
import torch


def fault_loop(weights):
    T = len(weights)
    faulty = []
    for t in range(T):
        row = weights[t].tolist()
        sound = (
            all(w >= 0 for w in row[: t + 1])
            and all(w == 0 for w in row[t + 1 :])
            and math.isclose(sum(row), 1, abs_tol=1e-5)
        )
        faulty.append(not sound)
    return faulty


def fault_numpy(weights):
    w = weights.numpy()
    sound = np.isclose(w.sum(1), 1) & (w >= 0).all(1) & np.isclose(np.triu(w, 1), 0).all(1)
    return (~sound).astype(int)


def fault_where(weights):
    T = weights.size(0)
    future = torch.ones(T, T).triu(1).bool()
    ok = torch.allclose
    return torch.tensor(
        [
            not (
                ok(weights[t].sum(), torch.tensor(1.0))
                and bool((weights[t] >= 0).all())
                and not bool(weights[t][future[t]].any())
            )
            for t in range(T)
        ]
    )


def _ask(weights, *, ahead=True, sums=True, signs=True, nan=True, axis=1, start=1):
    w = weights.double().numpy()
    faulty = np.zeros(len(w), dtype=bool)
    if ahead:
        faulty |= (np.nan_to_num(np.triu(w, start)) != 0).any(axis=1)
    if sums:
        faulty |= np.abs(np.nan_to_num(w.sum(axis=axis), nan=1) - 1) > 1e-5
    if signs:
        faulty |= (w < 0).any(axis=1)
    if nan:
        faulty |= np.isnan(w).any(axis=1)
    return faulty


def fault_exact(weights):
    return torch.tensor([sum(row.tolist()) != 1.0 for row in weights])


def fault_too_small(weights):
    return (weights.sum(1) < 1 - 1e-5) | (weights < 0).any(1) | (weights.triu(1) > 0).any(1)


def fault_suspicious(weights):
    """Finds what there is to find, and accuses every row that looks back further than one."""
    seen = torch.nan_to_num(weights).abs() > 0
    return torch.from_numpy(_ask(weights)) | (seen.sum(dim=1) > 2)


def _conditions(weights):
    return (
        (weights.triu(1) != 0).any(1),
        (weights < 0).any(1),
        ~((weights.sum(1) - 1).abs() < 1e-5),
    )


def fault_with_all_at_once(weights):
    ahead, negative, off = _conditions(weights)
    return ahead & negative & off


def fault_either_or(weights):
    ahead, negative, off = _conditions(weights)
    return ahead ^ negative ^ off


RIGHT = {
    "loop, list of bool": fault_loop,
    "numpy, 0 and 1": fault_numpy,
    "row by row": fault_where,
    "one question after the other": _ask,
}


def fault_of_absolute_sums(weights):
    ahead = [bool(weights[t, t + 1 :].any()) for t in range(len(weights))]
    sound = torch.isclose(weights.abs().sum(1), torch.ones(len(weights)), rtol=0, atol=1e-5)
    return torch.tensor(ahead) | ~sound


def fault_of_the_past(weights):
    sound = [abs(float(row[: t + 1].sum()) - 1) < 1e-5 for t, row in enumerate(weights)]
    return ~torch.tensor(sound) | ~(weights >= 0).all(dim=1)


def _faults_by_row(weights, future):
    faults = []
    for t, row in enumerate(weights):
        sound = bool((row >= 0).all()) and abs(float(row.sum()) - 1) < 1e-5
        faults.append(not sound or bool((row[future(t)] != 0).any()))
    return torch.tensor(faults)


def fault_negative_before_itself(weights):
    """Stops looking for negative weights before it gets to the row's own position."""
    return [
        bool((weights[t, :t] < 0).any() or weights[t, t + 1 :].any())
        or not bool((weights[t].sum() - 1).abs() < 1e-5)
        for t in range(len(weights))
    ]


def fault_numpy_of_two_sums(weights):
    w = weights.numpy()
    past = np.tril(w)
    sound = np.isclose(w.sum(1), 1) & (w >= 0).all(1) & np.isclose(past.sum(1), 1)
    return (~sound).astype(int)


WRONG = {
    "zero-accused": lambda weights: [
        bool(fault) or bool((weights[t, : t + 1] == 0).any())
        for t, fault in enumerate(_ask(weights))
    ],
    "rounds-too-much": lambda weights: [
        not (round(float(row.sum()), 3) == 1 and float(row.min()) > -5e-4)
        or bool((row[t + 1 :] > 5e-4).any())
        for t, row in enumerate(weights)
    ],
    "sums-inverted": lambda weights: (
        torch.from_numpy(_ask(weights, sums=False)) | torch.isclose(weights.sum(1), torch.ones(()))
    ),
    "past-sums-alone": fault_of_the_past,
    "absolute-values": fault_of_absolute_sums,
    "next-position-allowed": lambda weights: _faults_by_row(weights, lambda t: slice(t + 2, None)),
    "next-position-alone": lambda weights: _faults_by_row(weights, lambda t: slice(t + 1, t + 2)),
    "numbers-of-rows": lambda weights: torch.where(
        _faults_by_row(weights, lambda t: slice(t + 1, None))
    )[0],
    "inverted-answer": lambda weights: ~_ask(weights),
    "exact-comparison": fault_exact,
    "diagonal-excluded": lambda weights: _ask(weights, start=0),
    "divides-columns": lambda weights: _ask(weights, axis=0),
    "one-sided-sum": fault_too_small,
    "signs-unasked": lambda weights: _ask(weights, signs=False),
    "stricter-than-asked": lambda weights: (
        _ask(weights) | (weights.sum(dim=1).round(decimals=5) != 1).numpy()
    ),
    "past-for-future": lambda weights: (
        _ask(weights, ahead=False) | np.any(np.tril(weights.numpy(), -1) > 0, axis=1)
    ),
    "future-of-columns": lambda weights: (
        _ask(weights, ahead=False) | np.any(np.triu(weights.numpy(), 1), axis=0)
    ),
    "signs-of-columns": lambda weights: (
        _ask(weights, signs=False) | (weights.numpy() < 0).any(axis=0)
    ),
    "diagonal-signs-unasked": fault_negative_before_itself,
    "nan-slips-through": lambda weights: _ask(weights, nan=False),
    "never-faulty": fault_with_all_at_once,
    "two-faults-cancel": fault_either_or,
    "small-leaks-forgiven": fault_numpy_of_two_sums,
}


def fault_loop_too_short(weights):
    faulty = fault_loop(weights[:-1])
    return [*faulty, False]


def fault_forgiving(least=0.0, ahead=0.0, off=1e-5):
    """An inspector who lets faults pass that are small."""

    def answer(weights):
        lost = (weights.sum(1) - 1).abs() < off
        return ~lost | (weights < -least).any(1) | (weights.triu(1).abs() > ahead).any(1)

    return answer


def fault_one_row_is_sound(weights):
    return _ask(weights) if len(weights) > 1 else np.array([False])


# "for each row whether the row is faulty"
def fault_of_all_sums(weights):
    ones = torch.ones(len(weights))
    sums_are_right = torch.allclose(weights.sum(1), ones, atol=1e-5)
    return _ask(weights, sums=False) | (not sums_are_right)


ODD = [
    (
        lambda weights: (
            _ask(weights, ahead=False)
            | (weights[:, -1] != 0).numpy() & (np.arange(len(weights)) < len(weights) - 1)
        ),
        "last-position-alone",
    ),
    (lambda weights: _ask(weights, ahead=False), "future-missed"),
    (
        lambda weights: (
            (weights.triu(1) > 0).any(1)
            | (weights < 0).any(1)
            | ~torch.isclose(weights.tril().sum(1), torch.ones(()), atol=9e-6)
        ),
        "nan-ahead-missed",
    ),
    (fault_of_all_sums, "all-for-one"),
    (fault_forgiving(least=1e-4), "rounds-too-much"),
    (fault_forgiving(ahead=1e-5), "small-leaks-forgiven"),
    (fault_loop_too_short, "last-row-never-faulty"),
    (fault_suspicious, "sound-row-accused"),
    (lambda weights: _ask(weights.clamp(min=0)), "sign-missed"),
    (lambda weights: torch.from_numpy(_ask(weights)).squeeze(), "axis-of-one"),
    (fault_one_row_is_sound, "sum-missed"),
    (lambda weights: np.ones(len(weights), dtype=bool), "exact-comparison"),
    (
        lambda weights: _ask(weights, signs=False) | (weights.numpy() < 0).any(),
        "all-for-one",
    ),
    (lambda weights: weights.lt(0) | weights.isnan(), "shape"),
    (lambda weights: 2 * np.asarray(_ask(weights)), "counts-faults"),
]


# --- Answers that no list names ---


def fault_in_the_past_only(weights):
    past = weights.tril()
    return ~torch.isclose(past.sum(1), torch.ones(len(weights))) | (past[:, 0] < 0)


def fault_sums_of_absolutes(weights):
    s = weights.abs().sum(1)
    ok = torch.isclose(s, torch.ones(len(weights))) & (weights.triu(1) == 0).all(1)
    return ~(ok | weights.isnan().any(1))


# "Rounding is no fault": but three thirds, rounded here, are not 1
def weights_rounded_first(weights):
    weights = weights.round(decimals=3)
    future = (weights.triu(1) != 0).any(dim=1)
    sums = (weights.sum(dim=1) - 1).abs() < 1e-5
    return future | (weights < 0).any(dim=1) | ~sums


# "your functions leave what they are given as it was": NaN becomes a negative weight
def nan_made_negative(weights):
    weights[weights.isnan()] = -1
    future = (weights.triu(1) != 0).any(dim=1)
    sums = (weights.sum(dim=1) - 1).abs() < 1e-5
    return future | (weights < 0).any(dim=1) | ~sums


# Got NaN and cleaned the matrix before anything else.
# "Every other row is faulty, and so is a row that holds NaN."
def nan_cleaned_away(weights):
    weights = weights.nan_to_num(0.0)
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    negative = (weights < 0).any(dim=1)
    return ahead | negative | ((weights.sum(dim=1) - 1).abs() >= 1e-5)


# Thinks of rounding as of `round`.
# "allow sums that differ from 1 by less than 1e-5"
def sums_rounded_to_whole_numbers(weights):
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    negative = (weights < 0).any(dim=1)
    return ahead | negative | (weights.sum(dim=1).round() != 1)


# Thought of weights that count too much, never of those that are missing.
# "its weights add up to 1"
def only_sums_that_are_too_large(weights):
    future = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    negative = (weights < 0).any(dim=1)
    too_much = weights.sum(dim=1) - 1 > 1e-5
    nan = weights.isnan().any(dim=1)
    return future | negative | too_much | nan


def past_that_adds_up_is_enough(weights):
    """Checks only that the past adds up to 1 and misses weight on the future on top of it."""
    past = torch.tril(weights)
    adds_up = (past.sum(dim=1) - 1).abs() < 1e-5
    negative = (weights < 0).any(dim=1)
    return negative | ~adds_up


UNLISTED = {
    1: [(fault_in_the_past_only, "signs-unasked"), (fault_sums_of_absolutes, "nan-slips-through")],
    6: [(weights_rounded_first, "sum-missed"), (nan_made_negative, "changes-its-input")],
    8: [(nan_cleaned_away, "nan-missed"), (sums_rounded_to_whole_numbers, "sum-missed")],
    9: [(only_sums_that_are_too_large, "one-sided-sum")],
    13: [(past_that_adds_up_is_enough, "past-sums-alone")],
}
