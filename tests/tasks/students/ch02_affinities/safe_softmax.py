"""Students' answers to 02/safe-softmax."""

import math

import numpy as np
import torch
from torch.nn import functional as F


def soft_library(scores):
    return torch.nan_to_num(F.softmax(scores, dim=1), nan=0.0)


def soft_where(scores):
    largest = scores.max(dim=1, keepdim=True).values
    powers = torch.where(scores == -torch.inf, torch.tensor(0.0), torch.exp(scores - largest))
    total = powers.sum(dim=1, keepdim=True)
    return powers / torch.where(total == 0, torch.ones_like(total), total)


def soft_rows(scores):
    weights = torch.zeros(scores.shape)
    for t, line in enumerate(scores.tolist()):
        top = max(line)
        if top == -math.inf:
            continue
        powers = [math.exp(value - top) for value in line]
        weights[t] = torch.tensor([power / sum(powers) for power in powers])
    return weights


def soft_numpy(scores):
    s = scores.double().numpy()
    top = s.max(axis=1, keepdims=True)
    powers = np.exp(s - np.where(np.isinf(top), 0, top))
    return powers / np.maximum(powers.sum(axis=1, keepdims=True), 1e-300)


def soft_logsumexp(scores):
    total = scores.logsumexp(dim=-1, keepdim=True)
    return torch.exp(scores - total.nan_to_num(neginf=0.0))


def soft_clip(scores):
    powers = torch.exp(torch.clip(scores, -50, 50))
    return powers / powers.sum(-1, keepdim=True)


def soft_float64(scores):
    powers = torch.exp(scores.double())
    return powers / powers.sum(1, keepdim=True)


def soft_shifted_by_one(scores):
    powers = torch.exp(scores - torch.max(scores))
    return torch.nan_to_num(powers / powers.sum(1, keepdim=True))


def soft_max_laid_flat(scores):
    powers = torch.exp(scores - torch.max(scores, dim=1).values)
    return powers / powers.sum(1, keepdim=True)


def soft_max_of_columns(scores):
    powers = torch.exp(scores - torch.max(scores, dim=0, keepdim=True).values)
    return powers / powers.sum(1, keepdim=True)


def soft_powers(scores):
    return torch.exp(scores - scores.max(dim=1, keepdim=True).values)


def soft_zeroed(scores):
    return F.softmax(torch.where(scores.isinf(), torch.zeros_like(scores), scores), dim=1)


def soft_large_negative(scores):
    return F.softmax(scores.clamp(min=-1e30), dim=1)


def soft_halved(scores):
    return soft_library(scores / 2)


def soft_half_rows(scores):
    return soft_rows(scores) / 2


def soft_with_a_high_limit(scores):
    powers = torch.exp(scores - scores.amax(1, keepdim=True).nan_to_num(neginf=0.0))
    return powers / powers.sum(1, keepdim=True).clamp(min=3)


RIGHT = {
    "library, cleaned": soft_library,
    "where": soft_where,
    "loop": soft_rows,
    "numpy": soft_numpy,
    "logsumexp": soft_logsumexp,
}


def safe_numerator(scores):
    shifted = torch.exp(scores - torch.max(scores, 1, keepdim=True).values)
    return shifted / torch.exp(scores).sum(1, keepdim=True)


def safe_in_the_first_row(scores):
    weights = torch.softmax(scores, 1)
    if torch.isinf(scores[0]).all():
        weights[0] = 0
    return weights


def safe_by_the_row_before(scores):
    shift = scores.max(dim=1, keepdim=True).values.nan_to_num(neginf=0.0).roll(1, 0)
    return torch.softmax(scores, 1) if len(scores) == 1 else _shares(torch.exp(scores - shift))


def _shares(powers):
    return powers / powers.sum(1, keepdim=True)


def hidden_becomes_minus_ten_thousand(scores):
    empty = torch.isinf(scores).all(dim=-1, keepdim=True)
    scores = scores.nan_to_num(neginf=-10_000.0)
    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return (powers / powers.sum(dim=-1, keepdim=True)).masked_fill(empty, 0.0)


def safe_causal(scores):
    seen = torch.ones_like(scores).tril().bool()
    return torch.where(seen, scores, -math.inf).softmax(1)


WRONG = {
    "causal-too": safe_causal,
    "shifted-by-another-number": safe_by_the_row_before,
    "clamped-scores": soft_clip,
    "overflow": soft_float64,
    "global-maximum": soft_shifted_by_one,
    "keepdim-forgotten": soft_max_laid_flat,
    "softmax-over-queries": lambda scores: F.softmax(scores, 0),
    "zero-mask": soft_zeroed,
    "empty-row-uniform": soft_large_negative,
    "not-normalised": soft_powers,
    "empty-row-nan": lambda scores: F.softmax(scores, 1),
    "logarithms": lambda scores: F.log_softmax(scores, 1),
    "emptied": lambda scores: soft_rows(scores) * ~scores.isinf().any(1, keepdim=True),
    "low-fill": hidden_becomes_minus_ten_thousand,
}


def soft_cut_and_hidden(scores):
    """Cuts what is visible, and hides the rest again."""
    powers = torch.exp(scores.clamp(-60, 60)).masked_fill(scores.isneginf(), 0.0)
    total = powers.sum(1, keepdim=True)
    return powers / torch.where(total == 0, 1.0, total)


def soft_with_something_added(scores):
    top = scores.amax(1, keepdim=True).nan_to_num(neginf=0.0)
    powers = (scores - top).exp()
    return powers / (powers.sum(1, keepdim=True) + 0.5)


ODD = [
    (soft_max_of_columns, "some-rows"),
    (safe_numerator, "zero-rows"),
    (lambda scores: soft_library(soft_library(scores)), "applied-a-softmax-to-your-weights"),
    (lambda scores: soft_library(scores.clamp(min=-6)), "hidden-places-weigh"),
    (soft_with_a_high_limit, "rows-do-not-sum-to-one"),
    (safe_in_the_first_row, "empty-row-nan"),
    (soft_half_rows, "halved-your-weights"),
    (soft_halved, "scores-times-a-factor"),
    (soft_cut_and_hidden, "clamped-scores"),
    (soft_with_something_added, "something-added"),
    (lambda scores: soft_library(scores) * (not scores.isinf().all(1).any()), "all-alike"),
    (
        lambda scores: soft_library(
            scores.sub(scores.amax(1, keepdim=True).clamp(min=0)).exp().log()
        ),
        "set-the-negative-numbers-of-the-largest-scores-to-0",
    ),
    (lambda scores: soft_rows(scores).sum(1), "shape"),
    (lambda scores: soft_rows(scores).squeeze(), "axis-of-one"),
    (
        lambda scores: soft_rows(scores) if len(scores) > 1 else scores.isneginf().float(),
        "nothing-to-see-weighs",
    ),
]


# --- Answers that no list names ---


def softmax_to_base_two(scores):
    top = scores.amax(-1, keepdim=True).nan_to_num(neginf=0.0)
    p = torch.exp2(scores - top)
    return p / p.sum(-1, keepdim=True).clamp(min=1e-30)


def softmax_dropping_small(scores):
    p = scores.softmax(-1).nan_to_num()
    return torch.where(p < 0.05, torch.zeros_like(p), p)


def minus_infinity_replaced_where_it_stands(scores):
    hidden = scores == -torch.inf
    scores[hidden] = -1e30
    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp().masked_fill(hidden, 0.0)
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)


# "rows in which every score is −∞. Such a row may see nothing": and no other row
def empty_if_the_first_is_hidden(scores):
    empty = scores[:, :1] == -torch.inf
    largest = scores.amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0)
    powers = (scores - largest).exp()
    weights = powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)
    return weights.masked_fill(empty, 0.0)


# Fixed the division by zero in the way one learns first.
# "every row sums to 1"
def one_added_to_every_sum(scores):
    largest = scores.amax(dim=-1, keepdim=True)
    largest[largest == -torch.inf] = 0
    powers = torch.exp(scores - largest)
    return powers / (1 + powers.sum(dim=-1, keepdim=True))


UNLISTED = {
    1: [
        (softmax_to_base_two, "used-exp2-instead-of-exp-in-the-powers"),
        (softmax_dropping_small, "rows-do-not-sum-to-one"),
    ],
    3: [(minus_infinity_replaced_where_it_stands, "changes-its-input")],
    5: [(empty_if_the_first_is_hidden, "emptied")],
    9: [(one_added_to_every_sum, "added-1-to-the-sums")],
}
