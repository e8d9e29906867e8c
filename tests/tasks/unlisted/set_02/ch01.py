"""Wrong answers to chapter 01, second set."""

import torch


def sum_runs_on_over_channels_and_samples(x):
    return x.flatten().cumsum(0).view_as(x)


def sum_of_two_neighbors(x):
    out = x.clone()
    out[..., 1:] = x[..., 1:] + x[..., :-1]
    return out


def mean_rolled_without_clearing_the_first(x):
    counts = torch.arange(1, x.shape[1] + 1)[:, None]
    return torch.roll(x.cumsum(1) / counts, 1, dims=1)


def mean_with_a_large_epsilon(x):
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=-1)
    return (weights / (weights.sum(dim=1, keepdim=True) + 0.01)) @ x


def window_centered(T, width):
    w = torch.zeros(T, T)
    for t in range(T):
        w[t, max(0, t - width // 2) : t + width // 2 + 1] = 1
    return w / w.sum(dim=1, keepdim=True)


def window_divided_along_columns(T, width):
    window = torch.triu(torch.tril(torch.ones(T, T)), diagonal=1 - width)
    return window / torch.arange(1, T + 1).clamp(max=width)


def decay_in_both_directions(T, decay):
    t = torch.arange(T)
    weights = decay ** (t[:, None] - t).abs()
    return weights / weights.sum(dim=1, keepdim=True)


def decay_by_recursion_from_the_first(T, decay):
    """y_t = decay · y_(t−1) + (1 − decay) · x_t, with y_0 = x_0."""
    weights = torch.zeros(T, T)
    weights[0, 0] = 1
    for t in range(1, T):
        weights[t] = decay * weights[t - 1]
        weights[t, t] = 1 - decay
    return weights


def softmax_with_the_mask_of_the_first_sample(scores, visible):
    return scores.masked_fill(~visible[0], -torch.inf).softmax(dim=-1)


def softmax_after_dropping_low_scores(scores, visible):
    """Sets what is hidden to the smallest score of all."""
    return scores.masked_fill(~visible, scores.min().item()).softmax(dim=-1)


def fault_only_if_the_sum_is_too_large(weights):
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    negative = (weights < 0).any(dim=1)
    return ahead | negative | (weights.sum(dim=1) > 1 + 1e-5) | weights.isnan().any(dim=1)


def fault_if_the_whole_future_is_seen(weights):
    T = len(weights)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    ahead = ((weights != 0) | ~future).all(dim=1) & future.any(dim=1)
    adds_up = (weights.sum(dim=1) - 1).abs() < 1e-5
    return ahead | (weights < 0).any(dim=1) | ~adds_up


def vowels_as_roots():
    return {"text": "shakespeare", "last_1": 0.8031, "last_4": 0.5532, "all": 0.4868}


WRITTEN = {
    "01/running-sum": [sum_runs_on_over_channels_and_samples, sum_of_two_neighbors],
    "01/past-mean": [mean_rolled_without_clearing_the_first, mean_with_a_large_epsilon],
    "01/window": [window_centered, window_divided_along_columns],
    "01/decay": [decay_in_both_directions, decay_by_recursion_from_the_first],
    "01/masked-softmax": [
        softmax_with_the_mask_of_the_first_sample,
        softmax_after_dropping_low_scores,
    ],
    "01/find-fault": [fault_only_if_the_sum_is_too_large, fault_if_the_whole_future_is_seen],
    "01/vowels": [vowels_as_roots],
}

ASIDE = {
    "mean_rolled_without_clearing_the_first",
    "window_divided_along_columns",
    "softmax_with_the_mask_of_the_first_sample",
    "fault_if_the_whole_future_is_seen",
}
