"""Unlisted wrong answers to chapter 01."""

import torch
import torch.nn.functional as F


def sum_twice(x):
    """Adds the present a second time."""
    return x.cumsum(-1) + x


def sum_from_the_end(x):
    return x.flip(-1).cumsum(-1).flip(-1)


def sum_of_the_first_channel(x):
    return x[:, :1].cumsum(-1).expand_as(x)


def sum_of_absolutes(x):
    return x.abs().cumsum(dim=-1)


def sum_loses_a_step(x):
    total = torch.zeros(x.shape[0], x.shape[1])
    out = []
    for t in range(x.shape[2] - 1):
        total = total + x[:, :, t]
        out.append(total)
    return torch.stack(out, dim=-1)


def sum_in_one_tensor(x):
    """Keeps the same tensor in every place of the list."""
    total, out = torch.zeros(x.shape[:2]), []
    for t in range(x.shape[-1]):
        total += x[..., t]
        out.append(total)
    return torch.stack(out, -1)


def mean_of_two(x):
    out = torch.zeros_like(x)
    out[:, 1] = x[:, 0]
    out[:, 2:] = (x[:, 1:-1] + x[:, :-2]) / 2
    return out


def mean_of_all_others(x):
    T = x.shape[1]
    w = 1 - torch.eye(T)
    return (w / w.sum(1, keepdim=True)) @ x


def mean_with_a_counter(x):
    out = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[:, t] = x[:, :t].sum(1) / (t - 1 if t > 1 else 1)
    return out


def mean_of_means(x):
    out = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[:, t] = (out[:, t - 1] + x[:, t - 1]) / 2
    return out


def median_of_the_past(x):
    out = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[:, t] = x[:, :t].median(dim=1).values
    return out


def mean_rounded(x):
    out = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[:, t] = (x[:, :t].mean(1) * 10).round() / 10
    return out


def window_first_rows_zero(T, width):
    w = torch.zeros(T, T)
    for t in range(width - 1, T):
        w[t, t - width + 1 : t + 1] = 1 / width
    return w


def window_ahead_and_back(T, width):
    w = torch.zeros(T, T)
    for t in range(T):
        w[t, t : t + width] = 1
    return w / w.sum(1, keepdim=True)


def window_of_the_first(T, width):
    w = torch.tril(torch.ones(T, T))
    w[:, width:] = 0
    return w / w.sum(1, keepdim=True)


def window_triangular(T, width):
    w = torch.zeros(T, T)
    for t in range(T):
        for k in range(min(width, t + 1)):
            w[t, t - k] = width - k
    return w / w.sum(1, keepdim=True)


def window_limited(T, width):
    width = min(width, T - 2)
    w = torch.tril(torch.ones(T, T)).triu(1 - width)
    return w / w.sum(1, keepdim=True)


def window_whole_numbers(T, width):
    w = torch.tril(torch.ones(T, T)).triu(1 - width)
    return (w / w.sum(1, keepdim=True)).round()


def decay_squared(T, decay):
    t = torch.arange(T)
    w = torch.tril(decay ** ((t[:, None] - t) * 2))
    return w / w.sum(1, keepdim=True)


def decay_from_one(T, decay):
    """The present counts decay to the power 1, and the last step is lost to the integer."""
    w = torch.zeros(T, T)
    for t in range(T):
        for s in range(t + 1):
            w[t, s] = decay ** (t - s) if s else decay**t / (1 - decay)
    return w / w.sum(1, keepdim=True)


def decay_exponential(T, decay):
    t = torch.arange(T)
    w = torch.tril(torch.exp(-decay * (t[:, None] - t)))
    return w / w.sum(1, keepdim=True)


def decay_linear(T, decay):
    t = torch.arange(T)
    w = torch.tril((1 - (1 - decay) * (t[:, None] - t)).clamp(min=0))
    return w / w.sum(1, keepdim=True)


def decay_by_the_last_row(T, decay):
    t = torch.arange(T)
    w = torch.tril(decay ** (t[:, None] - t).float())
    return w / w[-1].sum()


def softmax_of_cleaned(scores, visible):
    s = scores.masked_fill(~visible, -torch.inf)
    s = s - s.mean(-1, keepdim=True)
    return s.softmax(-1).nan_to_num()


def softmax_of_half(scores, visible):
    return (scores / 2).masked_fill(~visible, -torch.inf).softmax(-1)


def softmax_causal(scores, visible):
    T = scores.shape[-1]
    keep = visible & torch.ones(T, T, dtype=torch.bool).tril()
    return scores.masked_fill(~keep, -torch.inf).softmax(-1).nan_to_num()


def softmax_of_one_mask(scores, visible):
    return scores.masked_fill(~visible[0], -torch.inf).softmax(-1)


def softmax_turned_mask(scores, visible):
    return scores.masked_fill(~visible.transpose(1, 2), -torch.inf).softmax(-1)


def fault_with_rough_sums(weights):
    s = weights.sum(1)
    ok = ((s - 1).abs() < 0.05) & (weights >= 0).all(1)
    return ~(ok & (weights.triu(1) == 0).all(1))


def fault_of_zeros(weights):
    bad = (weights <= 0).any(1) | ~torch.isclose(weights.sum(1), torch.ones(len(weights)))
    return bad | (weights.triu(1) != 0).any(1)


def fault_as_positions(weights):
    ok = torch.isclose(weights.sum(1), torch.ones(len(weights)))
    ok &= (weights >= 0).all(1) & (weights.triu(1) == 0).all(1)
    return torch.nonzero(~ok).flatten()


def fault_of_the_matrix(weights):
    ok = torch.isclose(weights.sum(1), torch.ones(len(weights))).all()
    ok = ok and bool((weights >= 0).all()) and bool((weights.triu(1) == 0).all())
    return torch.full((len(weights),), not ok)


def fault_needs_all(weights):
    ahead = (weights.triu(1) != 0).any(1)
    negative = (weights < 0).any(1)
    return ahead & negative & ~torch.isclose(weights.sum(1), torch.ones(len(weights)))


def fault_in_the_past_only(weights):
    past = weights.tril()
    return ~torch.isclose(past.sum(1), torch.ones(len(weights))) | (past[:, 0] < 0)


# Written later, when the judges had been tuned on the others.


def sum_restarts(x):
    """Begins anew in the middle, as if a batch ended there."""
    half = x.shape[-1] // 2
    return torch.cat([x[..., :half].cumsum(-1), x[..., half:].cumsum(-1)], -1)


def sum_over_the_batch(x):
    return x.sum(0, keepdim=True).cumsum(-1).expand_as(x)


def mean_divided_by_all(x):
    T = x.shape[1]
    return torch.tril(torch.ones(T, T), -1) @ x / T


def mean_without_the_oldest(x):
    out = torch.zeros_like(x)
    for t in range(2, x.shape[1]):
        out[:, t] = x[:, 1:t].mean(1)
    return out


def window_in_steps_of_two(T, width):
    w = torch.zeros(T, T)
    for t in range(T):
        w[t, list(range(t, max(-1, t - 2 * width), -2))] = 1
    return w / w.sum(1, keepdim=True)


def window_transposed(T, width):
    w = torch.tril(torch.ones(T, T)).triu(1 - width)
    return (w / w.sum(1, keepdim=True)).T


def decay_whole_steps(T, decay):
    w = torch.zeros(T, T)
    for t in range(T):
        for s in range(t + 1):
            w[t, s] = decay ** ((t - s) // 2)
    return w / w.sum(1, keepdim=True)


def masked_by_minus_ten(scores, visible):
    return (scores - 10.0 * ~visible).softmax(-1)


def masked_by_argmax(scores, visible):
    best = scores.masked_fill(~visible, -torch.inf).argmax(-1)
    return F.one_hot(best, scores.shape[-1]).float()


def fault_sums_of_absolutes(weights):
    s = weights.abs().sum(1)
    ok = torch.isclose(s, torch.ones(len(weights))) & (weights.triu(1) == 0).all(1)
    return ~(ok | weights.isnan().any(1))


WRITTEN = {
    "01/running-sum": [
        sum_twice,
        sum_from_the_end,
        sum_of_the_first_channel,
        sum_of_absolutes,
        sum_loses_a_step,
        sum_in_one_tensor,
        sum_restarts,
        sum_over_the_batch,
    ],
    "01/past-mean": [
        mean_of_two,
        mean_of_all_others,
        mean_with_a_counter,
        mean_of_means,
        median_of_the_past,
        mean_rounded,
        mean_divided_by_all,
        mean_without_the_oldest,
    ],
    "01/window": [
        window_first_rows_zero,
        window_ahead_and_back,
        window_of_the_first,
        window_triangular,
        window_limited,
        window_whole_numbers,
        window_in_steps_of_two,
        window_transposed,
    ],
    "01/decay": [
        decay_squared,
        decay_from_one,
        decay_exponential,
        decay_linear,
        decay_by_the_last_row,
        decay_whole_steps,
    ],
    "01/masked-softmax": [
        softmax_of_cleaned,
        softmax_of_half,
        softmax_causal,
        softmax_of_one_mask,
        softmax_turned_mask,
        masked_by_minus_ten,
        masked_by_argmax,
    ],
    "01/find-fault": [
        fault_with_rough_sums,
        fault_of_zeros,
        fault_as_positions,
        fault_of_the_matrix,
        fault_needs_all,
        fault_in_the_past_only,
        fault_sums_of_absolutes,
    ],
}

ASIDE = ()
