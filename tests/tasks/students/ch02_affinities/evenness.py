"""Students' answers to 02/evenness."""

import math

import numpy as np
import torch


def even_where(weights):
    T = weights.shape[-1]
    terms = torch.where(weights > 0, weights * torch.log(weights.clamp(min=1e-30)), 0.0)
    H = -terms.sum(2)
    H[:, 1:] /= torch.log(torch.arange(2, T + 1).float())
    return H


def even_entr(weights):
    most = torch.arange(1, weights.shape[1] + 1).log().clamp(min=1e-9)
    return torch.special.entr(weights).sum(-1) / most


def even_bits(weights):
    w = weights.double().numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        H = -np.nansum(w * np.log2(w), axis=-1)
        return np.nan_to_num(H / np.log2(np.arange(1, w.shape[-1] + 1)))


def even_loop(weights):
    B, T, _ = weights.shape
    result = torch.zeros(B, T)
    for b in range(B):
        for t in range(1, T):
            seen = [p for p in weights[b, t].tolist() if p > 0]
            result[b, t] = -sum(p * math.log(p) for p in seen) / math.log(t + 1)
    return result


def even_nan(weights):
    H = -(weights * torch.log(weights)).sum(-1)
    most = torch.arange(1, weights.shape[-1] + 1).log()
    most[0] = 1
    return H / most


def even_raw(weights):
    return torch.special.entr(weights).sum(-1)


def even_log_T(weights):
    return torch.special.entr(weights).sum(-1) / math.log(weights.shape[1])


def even_log_t(weights):
    most = torch.tensor([0.0, *(math.log(t) for t in range(1, weights.shape[1]))])
    return torch.special.entr(weights).sum(-1) / most


def even_log2_below(weights):
    return even_loop(weights) * math.log(2)


def even_no_minus(weights):
    w = weights.clamp(min=1e-30)
    return (weights * w.log()).sum(-1) / torch.arange(1, weights.shape[1] + 1).log().clamp(min=1e-9)


def even_down(weights):
    H = torch.special.entr(weights).sum(1)
    return H / torch.arange(1, weights.shape[1] + 1).log().clamp(min=1e-9)


def even_perplexity(weights):
    width = torch.special.entr(weights).sum(-1).exp() / torch.arange(1, weights.shape[1] + 1)
    width[:, 0] = 0
    return width


def even_by_count(weights):
    return torch.special.entr(weights).sum(-1) / torch.arange(1, weights.shape[1] + 1)


def even_mean(weights):
    most = torch.arange(1, weights.shape[1] + 1).log().clamp(min=1e-9)
    return torch.special.entr(weights).mean(-1) / most


def even_seen(weights):
    seen = (weights != 0).sum(-1)
    return torch.special.entr(weights).sum(-1) / torch.log(seen.float())


def even_row_0_nan(weights):
    return torch.special.entr(weights).sum(-1) / torch.log(torch.arange(weights.shape[1]) + 1)


def even_row_0_one(weights):
    return torch.cat([torch.ones(len(weights), 1), even_loop(weights)[:, 1:]], dim=1)


def even_gini_share(weights):
    share = 1 - (weights**2).sum(-1)
    n = torch.arange(1, weights.shape[1] + 1)
    return torch.where(n > 1, share * n / (n - 1).clamp(min=1), 0.0)


def even_first_sample_alone(weights):
    result = torch.zeros(weights.shape[:2])
    result[0] = even_where(weights)[0]
    return result


RIGHT = {
    "where": even_where,
    "entr": even_entr,
    "bits over bits": even_bits,
    "loop": even_loop,
}


def even_slices_too_short(weights):
    result = torch.zeros(weights.shape[:2])
    for t in range(1, weights.shape[1]):
        result[:, t] = torch.special.entr(weights[:, t, :t]).sum(-1) / math.log(t + 1)
    return result


def even_at_least_1(weights):
    most = torch.arange(1, weights.shape[1] + 1).log()
    return torch.special.entr(weights).sum(-1) / torch.where(most < 1, 1, most)


WRONG = {
    "without-itself": even_slices_too_short,
    "limit-of-1": even_at_least_1,
    "zero-log-nan": even_nan,
    "log-of-T": even_log_T,
    "log-of-t": even_log_t,
    "mixed-units": even_log2_below,
    "width-not-entropy": even_perplexity,
    "counts-what-is-seen": even_seen,
    "first-row-nan": even_row_0_nan,
    "first-row-one": even_row_0_one,
    "largest-found": lambda w: even_raw(w) / even_raw(w).max(dim=1, keepdim=True).values,
    "one-minus": lambda weights: 1 - even_where(weights),
    "gini": even_gini_share,
}


def even_if_nothing_stands_out(weights):
    """A row whose weights are all the same has no preference, and so no evenness, it is thought."""
    same = weights.amax(-1) - 1 / torch.arange(1, weights.shape[-1] + 1) < 1e-6
    return torch.where(same, 0.0, even_loop(weights))


ODD = [
    (even_raw, "left-out-the-division-by-your-divisors-in-your-shares"),
    (even_no_minus, "left-out-the-sign-in-your-entropies"),
    (even_down, "used-axis-minus-2-instead-of-axis-minus-1-for-the-sum-in-your-entropies"),
    (even_by_count, "left-out-the-logarithm-in-the-largest-entropies"),
    (even_mean, "used-mean-instead-of-sum-in-your-entropies"),
    (even_first_sample_alone, "first-sample-alone"),
    (lambda w: 2.5 * even_loop(w) + 0.1, "factor-and-offset"),
    (lambda weights: 1 - weights.std(dim=-1), "another-share"),
    (lambda w: w, "shape"),
    (lambda w: even_loop(w).squeeze(0), "axis-of-one"),
    (lambda w: torch.ones(w.shape[:2]) if w.shape[-1] == 1 else even_loop(w), "first-row-one"),
    (even_if_nothing_stands_out, "some-positions"),
]


# --- Answers that no list names ---


def evenness_squared(weights):
    e = -torch.special.xlogy(weights, weights).sum(-1)
    top = torch.arange(1, weights.shape[-1] + 1).log()
    top[0] = 1
    return (e / top) ** 2


def evenness_of_sample_zero(weights):
    e = -torch.special.xlogy(weights[0], weights[0]).sum(-1)
    top = torch.arange(1, weights.shape[-1] + 1).log()
    top[0] = 1
    return (e / top).expand(weights.shape[0], -1)


# "its entropy as a share of the largest entropy that a row with t + 1 visible positions can have":
# log 2 is smaller than 1
def divisors_clamped_at_one(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    return entropy / torch.arange(1, weights.shape[-1] + 1).log().clamp(min=1)


# "0 for row 0", also where there is no row 1
def divisor_of_row_one_for_row_zero(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    largest = torch.arange(1, weights.shape[-1] + 1).log()
    largest[0] = largest[1]
    return entropy / largest


# "your functions leave what they are given as it was": 1 · log 1 is 0, too
def ones_written_over_zeros(weights):
    weights[weights == 0] = 1
    entropy = -(weights * weights.log()).sum(dim=-1)
    largest = torch.arange(1, weights.shape[-1] + 1).log().clamp(min=0.1)
    return entropy / largest


UNLISTED = {
    1: [
        (evenness_squared, "squared-your-shares"),
        (evenness_of_sample_zero, "used-the-first-item-of-your-entropies-for-all-items"),
    ],
    5: [(divisors_clamped_at_one, "limit-of-1")],
    6: [(divisor_of_row_one_for_row_zero, "error"), (ones_written_over_zeros, "changes-its-input")],
}
