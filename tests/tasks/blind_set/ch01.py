"""Wrong answers to chapter 01 that no list names: the seventeenth set.

Each docstring says what the student did wrong.
"""

import torch

# 01/running-sum


def triangle_from_the_left_after_a_view(x: torch.Tensor) -> torch.Tensor:
    """Views (B, C, T) as (B, T, C), so that the chapter's product fits, and views back."""
    B, C, T = x.shape
    weights = torch.tril(torch.ones(T, T, dtype=x.dtype))
    return (weights @ x.reshape(B, T, C)).reshape(B, C, T)


def sum_runs_on_into_the_next_channel(x: torch.Tensor) -> torch.Tensor:
    """Flattens channels and time before it adds up: a channel begins with the sum of the last."""
    flat = x.flatten(start_dim=1)
    n = flat.shape[1]
    weights = torch.triu(torch.ones(n, n, dtype=x.dtype))
    return (flat @ weights).view(x.shape)


# 01/past-mean


def first_position_sees_itself(x: torch.Tensor) -> torch.Tensor:
    """Gives row 0 a one of its own against the division by zero: position 0 holds x[:, 0]."""
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=-1)
    weights[0, 0] = 1.0
    weights = weights / weights.sum(dim=1, keepdim=True)
    return weights @ x


def zeros_the_first_sample_for_the_first_position(x: torch.Tensor) -> torch.Tensor:
    """Clears out[0], which is the first sample, and leaves the NaN at position 0 of the others."""
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=-1)
    out = (weights / weights.sum(dim=1, keepdim=True)) @ x
    out[0] = 0.0
    return out


# 01/window


def one_diagonal_too_many(T: int, width: int) -> torch.Tensor:
    """Keeps the diagonals 0 … -width: rows average width + 1 positions."""
    band = torch.triu(torch.tril(torch.ones(T, T)), diagonal=-width)
    return band / band.sum(dim=1, keepdim=True)


def window_stays_full_at_the_beginning(T: int, width: int) -> torch.Tensor:
    """Early rows begin at 0 and still take `width` positions, so they see the future."""
    weights = torch.zeros(T, T)
    for t in range(T):
        begin = max(0, t - width + 1)
        weights[t, begin : begin + width] = 1.0
    return weights / weights.sum(dim=1, keepdim=True)


# 01/decay


def sums_rows_before_the_future_goes(T: int, decay: float) -> torch.Tensor:
    """Divides by row sums that contain the large powers of the future, and cuts afterwards."""
    t = torch.arange(T)
    powers = decay ** (t[:, None] - t).float()
    powers = powers / powers.sum(dim=1, keepdim=True)
    return torch.tril(powers)


def softmax_of_the_powers(T: int, decay: float) -> torch.Tensor:
    """Takes the powers for scores: proportional to e^(decay^distance), not to decay^distance."""
    steps = torch.arange(T)
    distance = (steps[:, None] - steps).float()
    scores = decay ** distance.clamp(min=0)
    scores = scores.masked_fill(distance < 0, float("-inf"))
    return torch.softmax(scores, dim=1)


# 01/masked-softmax


def minus_hundred_is_low_enough(scores: torch.Tensor, visible: torch.Tensor) -> torch.Tensor:
    """Hides with a score of -100: a row whose visible scores are near -500 sees only the hidden."""
    return scores.masked_fill(~visible, -100.0).softmax(dim=-1)


def largest_of_the_hidden_subtracted(scores: torch.Tensor, visible: torch.Tensor) -> torch.Tensor:
    """Subtracts the maximum of hidden scores too: far below it, visible ones become 0."""
    shifted = scores - scores.max(dim=-1, keepdim=True).values
    e = shifted.exp() * visible
    total = e.sum(dim=-1, keepdim=True)
    return e / total.clamp(min=1e-12)


# 01/find-fault


def little_future_is_rounding(weights: torch.Tensor) -> torch.Tensor:
    """Allows 1e-5 for the future and for negative weights, too, not only for sums."""
    eps = 1e-5
    future = (torch.triu(weights, diagonal=1).abs() > eps).any(dim=1)
    negative = (weights < -eps).any(dim=1)
    good_sum = (weights.sum(dim=1) - 1).abs() < eps
    return future | negative | ~good_sum


def only_sums_above_one(weights: torch.Tensor) -> torch.Tensor:
    """Forgets the absolute value: a row that sums to much less than 1 is sound."""
    T = weights.shape[0]
    ok = weights.sum(dim=1) - 1 < 1e-5
    result = []
    for t in range(T):
        future = bool((weights[t, t + 1 :] != 0).any())
        negative = bool((weights[t] < 0).any())
        result.append(future or negative or not bool(ok[t]))
    return torch.tensor(result)


WRITTEN = {
    "01/running-sum": [triangle_from_the_left_after_a_view, sum_runs_on_into_the_next_channel],
    "01/past-mean": [first_position_sees_itself, zeros_the_first_sample_for_the_first_position],
    "01/window": [one_diagonal_too_many, window_stays_full_at_the_beginning],
    "01/decay": [sums_rows_before_the_future_goes, softmax_of_the_powers],
    "01/masked-softmax": [minus_hundred_is_low_enough, largest_of_the_hidden_subtracted],
    "01/find-fault": [little_future_is_rounding, only_sums_above_one],
}
