"""Answers to 02/evenness as students write them, right and wrong: (B, T, T) → (B, T)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


def entropy(weights: Tensor) -> Tensor:
    """Each row's entropy in nats, asked for as a share."""
    return -torch.special.xlogy(weights, weights).sum(dim=-1)


def visible(weights: Tensor) -> Tensor:
    """How many positions each row may see: (T,)."""
    return torch.arange(1, weights.shape[-1] + 1)


def evenness(weights: Tensor) -> Tensor:
    """A right answer to 02/evenness: (B, T, T) → (B, T)."""
    most = visible(weights).log()
    most[0] = 1  # row 0 has entropy 0, and 0 / 1 is 0
    return entropy(weights) / most


def log_of_zero(weights: Tensor) -> Tensor:
    """0 · log 0 is NaN."""
    return -(weights * weights.log()).sum(dim=-1) / visible(weights).log()


def first_row_nan(weights: Tensor) -> Tensor:
    """0 / log 1 in row 0."""
    return entropy(weights) / visible(weights).log()


def first_row_one(weights: Tensor) -> Tensor:
    """Row 0 counted as even."""
    share = evenness(weights)
    share[:, 0] = 1
    return share


def of_all(weights: Tensor) -> Tensor:
    """Every row divided by log T."""
    return entropy(weights) / float(np.log(weights.shape[-1]))


def log_of_t(weights: Tensor) -> Tensor:
    """Row t divided by log t."""
    return entropy(weights) / torch.arange(weights.shape[-1]).log()


def log_of_t_cleaned(weights: Tensor) -> Tensor:
    """The same with numbers instead of what 0 / 0 and 1 / 0 make."""
    return log_of_t(weights).nan_to_num()


def bits_over_nats(weights: Tensor) -> Tensor:
    """The entropy in bits, its largest value in nats."""
    return evenness(weights) / float(np.log(2))


def nats_over_bits(weights: Tensor) -> Tensor:
    """The entropy in nats, its largest value in bits."""
    return evenness(weights) * float(np.log(2))


def entropy_in_bits(weights: Tensor) -> Tensor:
    """The entropy itself, in bits."""
    return entropy(weights) / float(np.log(2))


def negative(weights: Tensor) -> Tensor:
    """Without the minus."""
    return -evenness(weights)


def cleared_sample(weights: Tensor) -> Tensor:
    """Sample 0 set to 0 instead of row 0."""
    share = first_row_nan(weights)
    share[0] = 0
    return share


def cleared_sample_too(weights: Tensor) -> Tensor:
    """The same, but row 0 is right."""
    share = evenness(weights)
    share[0] = 0
    return share


def column_kept(weights: Tensor) -> Tensor:
    """The entropies kept in a column, so that each meets all the divisors."""
    most = visible(weights).log()
    most[0] = 1
    return entropy(weights)[..., None] / most


def largest_weight(weights: Tensor) -> Tensor:
    """The largest weight of each row."""
    return weights.amax(dim=-1)


def difference_to_the_most(weights: Tensor) -> Tensor:
    """By how much an entropy falls short."""
    return visible(weights).log() - entropy(weights)


def number_of_positions(weights: Tensor) -> Tensor:
    """e to the entropy."""
    return entropy(weights).exp()


def columns(weights: Tensor) -> Tensor:
    """Summed along the columns."""
    return evenness(weights.transpose(1, 2))


def width_share(weights: Tensor) -> Tensor:
    """e to the entropy, as a share of t + 1."""
    return entropy(weights).exp() / visible(weights)


def divided_by_count(weights: Tensor) -> Tensor:
    """Divided by t + 1 instead of its logarithm."""
    return entropy(weights) / visible(weights)


def mean_of_terms(weights: Tensor) -> Tensor:
    """The mean of the terms instead of their sum."""
    return evenness(weights) / weights.shape[-1]


def of_what_is_seen(weights: Tensor) -> Tensor:
    """Divided by the logarithm of how many weights are above 0."""
    return entropy(weights) / (weights > 0).sum(dim=-1).log()


def seen_and_cleaned(weights: Tensor) -> Tensor:
    """The same with 0 where only one weight is above 0."""
    return of_what_is_seen(weights).nan_to_num(0.0)


def of_the_largest_found(weights: Tensor) -> Tensor:
    """Divided by the largest entropy of all rows of all samples."""
    return entropy(weights) / entropy(weights).max()


def of_the_largest_in_its_sample(weights: Tensor) -> Tensor:
    """Divided by the largest entropy of the rows of the same sample."""
    return entropy(weights) / entropy(weights).amax(dim=-1, keepdim=True)


def softmax_again(weights: Tensor) -> Tensor:
    """A softmax of the weights."""
    return evenness(weights.softmax(dim=-1))


def softmax_over_log_of_all(weights: Tensor) -> Tensor:
    """A softmax of the weights, and log T for every row."""
    return of_all(weights.softmax(dim=-1))


def whole_matrix(weights: Tensor) -> Tensor:
    """One number for each sample."""
    return evenness(weights).mean(dim=-1)


def without_weights(weights: Tensor) -> Tensor:
    """The logarithms added up, each counted once."""
    seen = weights > 0
    return -torch.where(seen, weights.clamp(min=1e-30).log(), 0).sum(dim=-1) / divisors(weights)


def divisors(weights: Tensor) -> Tensor:
    """The largest entropies, with 1 for row 0: (T,)."""
    most = visible(weights).log()
    most[0] = 1
    return most


def without_itself(weights: Tensor) -> Tensor:
    """The term of the position itself left out."""
    return entropy(weights.tril(-1)) / divisors(weights)


def without_the_first(weights: Tensor) -> Tensor:
    """The term of position 0 left out."""
    return entropy(weights[..., 1:]) / divisors(weights)


def without_the_last(weights: Tensor) -> Tensor:
    """The last column left out."""
    return entropy(weights[..., :-1]) / divisors(weights)


def one_minus(weights: Tensor) -> Tensor:
    """How uneven a row is."""
    return 1 - evenness(weights)


def gini(weights: Tensor) -> Tensor:
    """1 − Σ w², as a share of its largest value."""
    most = 1 - 1 / visible(weights)
    most[0] = 1
    return (1 - weights.square().sum(dim=-1)) / most


def positions_as_share(weights: Tensor) -> Tensor:
    """e to the entropy, from 1 to t + 1, as a share of that way."""
    return (entropy(weights).exp() - 1) / (visible(weights) - 1).clamp(min=1)


def seen_and_one(weights: Tensor) -> Tensor:
    """Divided by what is seen, with 1 where only one weight is above 0."""
    return of_what_is_seen(weights).nan_to_num(1.0)


def added_in_the_logarithm(weights: Tensor, much: float) -> Tensor:
    """log (w + much)."""
    return -(weights * (weights + much).log()).sum(dim=-1) / divisors(weights)


def added_to_the_weights(weights: Tensor, much: float) -> Tensor:
    """(w + much) log (w + much)."""
    return entropy(weights + much) / divisors(weights)


def limited_in_the_logarithm(weights: Tensor, much: float) -> Tensor:
    """log of weights that are at least so large."""
    return entropy(weights.clamp(min=much)) / divisors(weights)


def limited_logarithm(weights: Tensor, much: float) -> Tensor:
    """Weights times the logarithm of weights that are at least so large."""
    return -(weights * weights.clamp(min=much).log()).sum(dim=-1) / divisors(weights)


def of_squares(weights: Tensor) -> Tensor:
    """−log Σ w² instead of the entropy."""
    return -weights.square().sum(dim=-1).log() / divisors(weights)


def of_the_largest_weight(weights: Tensor) -> Tensor:
    """−log of the largest weight instead of the entropy."""
    return -weights.amax(dim=-1).log() / divisors(weights)


def of_the_largest_so_far(weights: Tensor) -> Tensor:
    """Divided by the largest entropy of the rows up to this one."""
    return entropy(weights) / entropy(weights).cummax(dim=-1).values.clamp(min=1e-9)


def averaged_so_far(weights: Tensor) -> Tensor:
    """The mean over the rows up to this one."""
    return evenness(weights).cumsum(dim=-1) / visible(weights)
