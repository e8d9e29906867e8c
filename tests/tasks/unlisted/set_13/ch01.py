"""Wrong answers to chapter 01 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import torch

# 01/running-sum


def sum_written_into_the_input(x):
    """Adds up in a loop in `x` itself (`total = x` is no copy), so the input is overwritten."""
    total = x
    for t in range(1, x.shape[-1]):
        total[..., t] += total[..., t - 1]
    return total


def reshaped_for_the_product(x):
    """Swaps channels and time by reshape instead of transpose, so channels get mixed up."""
    B, C, T = x.shape
    weights = torch.tril(torch.ones(T, T))
    rows = x.reshape(B, T, C)
    return (weights @ rows).reshape(B, C, T)


def adds_the_neighbour_only(x):
    """Adds the previous input, not the previous sum: each position holds two inputs at most."""
    total = x.clone()
    for t in range(1, x.shape[-1]):
        total[..., t] = x[..., t] + x[..., t - 1]
    return total


# 01/past-mean


def softmax_of_a_large_negative(x):
    """Masks with -1e9 and takes the softmax: row 0 is the mean of all positions, not 0."""
    T = x.shape[1]
    hidden = torch.ones(T, T, dtype=torch.bool).triu()
    scores = torch.zeros(T, T).masked_fill(hidden, -1e9)
    return scores.softmax(dim=-1) @ x


def first_sample_zeroed(x):
    """Shifts the running mean and sets `[0]` to 0: sample 0 is zeroed, not position 0 of each."""
    T = x.shape[1]
    mean = x.cumsum(dim=1) / torch.arange(1, T + 1)[:, None]
    shifted = torch.roll(mean, 1, dims=1)
    shifted[0] = 0
    return shifted


def halves_at_every_step(x):
    """Updates the mean as (mean + new) / 2, so the latest input counts half instead of 1 / t."""
    result = torch.zeros_like(x)
    mean = x[:, 0]
    for t in range(1, x.shape[1]):
        if t > 1:
            mean = (mean + x[:, t - 1]) / 2
        result[:, t] = mean
    return result


# 01/window


def width_capped_one_too_low(T, width):
    """Caps width at T - 1 instead of T, so a wide window drops position 0 from the last row."""
    width = min(width, T - 1)
    past = torch.tril(torch.ones(T, T))
    window = torch.triu(past, diagonal=1 - width)
    return window / window.sum(dim=1, keepdim=True)


def blocks_instead_of_a_window(T, width):
    """Averages the own block of width positions up to t: blocks instead of a sliding window."""
    block = torch.arange(T) // width
    same = (block[:, None] == block).float()
    window = torch.tril(same)
    return window / window.sum(dim=1, keepdim=True)


def early_rows_filled_from_the_future(T, width):
    """Gives every row `width` positions from its start, so early rows reach into the future."""
    window = torch.zeros(T, T)
    for t in range(T):
        start = max(0, t - width + 1)
        window[t, start : start + width] = 1
    return window / window.sum(dim=1, keepdim=True)


# 01/decay


def recursive_average(T, decay):
    """Uses decay * old + (1 - decay) * new from row 0 on, so position 0 weighs too much."""
    weights = torch.zeros(T, T)
    weights[0, 0] = 1
    for t in range(1, T):
        weights[t] = decay * weights[t - 1]
        weights[t, t] = 1 - decay
    return weights


def decay_as_a_rate(T, decay):
    """Takes decay for the rate of an exponential: exp(-decay * distance), not decay ** distance."""
    t = torch.arange(T)
    distance = t[:, None] - t
    weights = torch.tril(torch.exp(-decay * distance))
    return weights / weights.sum(dim=1, keepdim=True)


def future_removed_by_a_product(T, decay):
    """Multiplies by a mask of 0 and 1: far in the future the power is inf, and inf * 0 is NaN."""
    t = torch.arange(T)
    distance = t[:, None] - t
    weights = decay**distance * torch.tril(torch.ones(T, T))
    return weights / weights.sum(dim=1, keepdim=True)


# 01/masked-softmax


def causal_mask_added(scores, visible):
    """Hides the future in addition to what the given mask hides, although the mask may allow it."""
    T = scores.shape[-1]
    past = torch.tril(torch.ones(T, T, dtype=torch.bool))
    visible = visible & past
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)


def softmax_twice(scores, visible):
    """Masks the softmax with -inf and takes a second softmax to make the rows sum to 1."""
    weights = scores.softmax(dim=-1)
    return weights.masked_fill(~visible, -torch.inf).softmax(dim=-1)


def hidden_filled_with_the_smallest_score(scores, visible):
    """Fills hidden scores with the smallest score of all, so they keep some weight."""
    return scores.masked_fill(~visible, scores.min()).softmax(dim=-1)


# 01/find-fault


def nan_replaced_by_zero(weights):
    """Replaces NaN by 0 first, so a NaN goes unnoticed where the other weights add up to 1."""
    weights = weights.nan_to_num(0.0)
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    negative = (weights < 0).any(dim=1)
    adds_up = (weights.sum(dim=1) - 1).abs() < 1e-5
    return ahead | negative | ~adds_up


def past_that_adds_up_is_enough(weights):
    """Checks only that the past adds up to 1 and misses weight on the future on top of it."""
    past = torch.tril(weights)
    adds_up = (past.sum(dim=1) - 1).abs() < 1e-5
    negative = (weights < 0).any(dim=1)
    return negative | ~adds_up


def small_leaks_forgiven(weights):
    """Allows 1e-5 for weights of the future, too, so a small leak passes as sound."""
    ahead = (torch.triu(weights, diagonal=1).abs() > 1e-5).any(dim=1)
    negative = (weights < 0).any(dim=1)
    adds_up = (weights.sum(dim=1) - 1).abs() < 1e-5
    return ahead | negative | ~adds_up


# 01/vowels


def capitals_no_vowels():
    """Counts only small a, e, i, o and u as vowels: capital vowels are written as 0."""
    return {"text": "shakespeare", "last_1": 0.6194, "last_4": 0.2994, "all": 0.2328}


def always_divided_by_the_width():
    """Divides by width (4,000 for all) even where fewer letters exist: early guesses are low."""
    return {"text": "shakespeare", "last_1": 0.6449, "last_4": 0.306, "all": 0.286}


def two_letters_ahead():
    """Compares each guess with the letter after the next one instead of the next."""
    return {"text": "shakespeare", "last_1": 0.4822, "last_4": 0.2654, "all": 0.2365}


WRITTEN = {
    "01/running-sum": [
        sum_written_into_the_input,
        reshaped_for_the_product,
        adds_the_neighbour_only,
    ],
    "01/past-mean": [softmax_of_a_large_negative, first_sample_zeroed, halves_at_every_step],
    "01/window": [
        width_capped_one_too_low,
        blocks_instead_of_a_window,
        early_rows_filled_from_the_future,
    ],
    "01/decay": [recursive_average, decay_as_a_rate, future_removed_by_a_product],
    "01/masked-softmax": [causal_mask_added, softmax_twice, hidden_filled_with_the_smallest_score],
    "01/find-fault": [nan_replaced_by_zero, past_that_adds_up_is_enough, small_leaks_forgiven],
    "01/vowels": [
        capitals_no_vowels,
        always_divided_by_the_width,
        two_letters_ahead,
    ],
}

ASIDE = {
    "capitals_no_vowels",
    "causal_mask_added",
    "early_rows_filled_from_the_future",
    "first_sample_zeroed",
    "future_removed_by_a_product",
    "reshaped_for_the_product",
    "small_leaks_forgiven",
}
