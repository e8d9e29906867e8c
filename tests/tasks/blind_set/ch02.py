"""Wrong answers to chapter 02 that no list names: the seventeenth set.

Each docstring says what the student did wrong.
"""

import math

import torch

# 02/cosine


def lengths_without_the_root(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Divides each vector by the sum of its squares, and forgets the root of a length."""
    length_x = (x * x).sum(dim=-1, keepdim=True).clamp(min=1e-12)
    length_y = (y * y).sum(dim=-1, keepdim=True).clamp(min=1e-12)
    return (x / length_x) @ (y / length_y).transpose(1, 2)


def correlation_for_cosine(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Subtracts each vector's mean first: that is a correlation, not a cosine."""

    def unit(v):
        v = v - v.mean(dim=-1, keepdim=True)
        return v / v.norm(dim=-1, keepdim=True).clamp(min=1e-8)

    return unit(x) @ unit(y).mT


# 02/safe-softmax


def one_maximum_for_the_whole_matrix(scores: torch.Tensor) -> torch.Tensor:
    """Subtracts the largest score of all rows: rows far below it come out as 0."""
    top = scores.max()
    if torch.isinf(top):
        top = torch.zeros(())
    e = torch.exp(scores - top)
    total = e.sum(dim=1, keepdim=True)
    return e / torch.where(total == 0, 1.0, total)


def scores_clamped_against_overflow(scores: torch.Tensor) -> torch.Tensor:
    """Clamps scores to ±80 before exp, so all scores beyond 80 count the same."""
    hidden = torch.isinf(scores)
    e = torch.exp(scores.clamp(-80, 80)).masked_fill(hidden, 0.0)
    total = e.sum(dim=-1, keepdim=True)
    total[total == 0] = 1.0
    return e / total


# 02/variance


def root_under_the_variance(
    queries: torch.Tensor, keys: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Divides the variance by the root of d: dot products over √d have a variance over d."""
    dots = (queries * keys).cumsum(dim=1)
    plain = dots.var(dim=0)
    d = torch.arange(1, queries.shape[1] + 1)
    return plain, plain / d.sqrt()


def adds_up_the_variances_of_the_entries(
    queries: torch.Tensor, keys: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sums variances of single products, as if entries were never correlated in the sample."""
    products = queries * keys
    first = torch.cumsum(products.var(dim=0, unbiased=False), dim=0)
    second = first / torch.arange(1, products.shape[1] + 1)
    return first, second


# 02/evenness


def divisor_one_row_late(weights: torch.Tensor) -> torch.Tensor:
    """Divides row t by log t, not log(t + 1), with a clamp for the first rows."""
    T = weights.shape[-1]
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    return entropy / torch.arange(T).clamp(min=2).log()


def effective_number_as_a_share(weights: torch.Tensor) -> torch.Tensor:
    """Compares e^entropy with t + 1, not the entropy with its largest value."""
    T = weights.shape[-1]
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    share = entropy.exp() / torch.arange(1, T + 1)
    share[:, 0] = 0.0
    return share


# 02/smoother


def small_number_in_the_sum_of_weights(
    at: torch.Tensor, known: torch.Tensor, values: torch.Tensor, width: float
) -> torch.Tensor:
    """Exponentials without a maximum, and 1e-9 in the divisor: far away everything is 0."""
    squared = ((at[:, None] - known) ** 2).sum(dim=-1)
    kernel = torch.exp(-squared / (2 * width**2))
    weights = kernel / (kernel.sum(dim=1, keepdim=True) + 1e-9)
    return weights @ values


def two_inside_the_square(
    at: torch.Tensor, known: torch.Tensor, values: torch.Tensor, width: float
) -> torch.Tensor:
    """Squares distance / (2 · width) as a whole, so the divisor is 4 · width²."""
    distance = torch.cdist(at, known)
    scores = -((distance / (2 * width)) ** 2)
    return scores.softmax(dim=1) @ values


# 02/find-fault


def last_row_decides(x: torch.Tensor, weights: torch.Tensor) -> str:
    """Compares the longest row only, where no mask hides anything."""
    T, C = x.shape
    raw = x @ x.T
    future = torch.ones(T, T).triu(1).bool()
    hidden = raw.masked_fill(future, -math.inf)
    root = math.sqrt(C)
    candidates = {
        "sound": (hidden / root).softmax(1),
        "no scale": hidden.softmax(1),
        "divided by C": (hidden / C).softmax(1),
        "scaled too late": hidden.softmax(1) / root,
        "no mask": (raw / root).softmax(1),
        "zero mask": (raw / root).masked_fill(future, 0.0).softmax(1),
        "columns": (hidden / root).softmax(0),
    }
    for name, candidate in candidates.items():
        if torch.allclose(candidate[-1], weights[-1], atol=1e-5):
            return name
    return "columns"


def number_of_vectors_for_their_length(x: torch.Tensor, weights: torch.Tensor) -> str:
    """Takes C = len(x), which is T, in all of the scales."""
    C = len(x)
    scores = x @ x.T
    seen = torch.ones_like(scores).tril() == 1

    def causal(s):
        return torch.where(seen, s, float("-inf"))

    names = {}
    names["sound"] = torch.softmax(causal(scores / C**0.5), dim=-1)
    names["no scale"] = torch.softmax(causal(scores), dim=-1)
    names["divided by C"] = torch.softmax(causal(scores / C), dim=-1)
    names["scaled too late"] = names["no scale"] / C**0.5
    names["no mask"] = torch.softmax(scores / C**0.5, dim=-1)
    names["zero mask"] = torch.softmax(torch.where(seen, scores / C**0.5, 0.0), dim=-1)
    names["columns"] = torch.softmax(causal(scores / C**0.5), dim=0)
    for name in names:
        if torch.allclose(names[name], weights, rtol=1e-4, atol=1e-6):
            return name
    return "sound"


WRITTEN = {
    "02/cosine": [lengths_without_the_root, correlation_for_cosine],
    "02/safe-softmax": [one_maximum_for_the_whole_matrix, scores_clamped_against_overflow],
    "02/variance": [root_under_the_variance, adds_up_the_variances_of_the_entries],
    "02/evenness": [divisor_one_row_late, effective_number_as_a_share],
    "02/smoother": [small_number_in_the_sum_of_weights, two_inside_the_square],
    "02/find-fault": [last_row_decides, number_of_vectors_for_their_length],
}
