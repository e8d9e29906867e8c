"""Students' answers to the tasks of chapter 01."""

import math

import numpy as np
import torch
from torch.nn import functional as F

# running-sum: (B, C, T), time last


def sum_turned_triangle(x):
    T = x.size(2)
    return x @ torch.tril(torch.ones(T, T)).T


def sum_einsum(x):
    T = x.shape[-1]
    sees = (torch.arange(T)[:, None] >= torch.arange(T)).float()
    return torch.einsum("ts,bcs->bct", sees, x)


def sum_transposed(x):
    T = x.shape[-1]
    return (torch.tril(torch.ones(T, T)) @ x.transpose(1, 2)).transpose(1, 2)


def sum_loop(x):
    y = torch.empty_like(x)
    for t in range(x.shape[-1]):
        y[:, :, t] = x[:, :, : t + 1].sum(dim=-1)
    return y


def sum_numpy(x):
    return np.cumsum(x.numpy(), axis=-1)


def sum_wrong_turn(x):
    T = x.shape[-1]
    return torch.einsum("ts,bct->bcs", torch.tril(torch.ones(T, T)), x)


def sum_channels(x):
    return x.cumsum(dim=1)


def sum_chapter_cell(x):
    T = x.shape[-1]
    return torch.tril(torch.ones(T, T)) @ x


def sum_stays_turned(x):
    return x.permute(0, 2, 1).cumsum(dim=1)


def sum_of_means(x):
    T = x.shape[-1]
    w = torch.tril(torch.ones(T, T))
    w = w / w.sum(1, keepdim=True)
    return x @ w.T


def sum_without_itself(x):
    return x.cumsum(dim=-1) - x


def sum_total(x):
    return x.sum(dim=-1, keepdim=True).expand_as(x)


# past-mean


def past_roll(x):
    T = x.shape[1]
    mean = x.cumsum(dim=1) / torch.arange(1, T + 1).view(1, T, 1)
    y = torch.zeros_like(x)
    y[:, 1:] = mean[:, :-1]
    return y


def past_softmax(x):
    T = x.shape[1]
    scores = torch.zeros(T, T)
    scores[torch.triu(torch.ones(T, T)) == 1] = float("-inf")
    return torch.nan_to_num(torch.softmax(scores, dim=1)) @ x


def past_loop(x):
    B, T, C = x.shape
    y = torch.zeros(B, T, C)
    for b in range(B):
        for t in range(1, T):
            y[b, t] = x[b, :t].mean(dim=0)
    return y


def past_numpy(x):
    x = x.double().numpy()
    T = x.shape[1]
    w = np.tril(np.ones((T, T)), -1) / np.maximum(np.arange(T), 1)[:, None]
    return np.einsum("ts,bsc->btc", w, x)


def past_nan(x):
    T = x.shape[1]
    hidden = torch.ones(T, T, dtype=torch.bool).triu(0)
    return torch.zeros(T, T).masked_fill(hidden, -math.inf).softmax(1) @ x


def past_rolled_round(x):
    T = x.shape[1]
    mean = x.cumsum(dim=1) / torch.arange(1, T + 1)[:, None]
    return torch.roll(mean, 1, dims=1)


def past_keeps_first(x):
    y = x.clone()
    for t in range(1, x.shape[1]):
        y[:, t] = x[:, :t].mean(dim=1)
    return y


def past_inclusive(x):
    return x.cumsum(1) / (torch.arange(x.shape[1]) + 1)[:, None]


def past_divides_by_t_plus_one(x):
    return (x.cumsum(1) - x) / (torch.arange(x.shape[1]) + 1)[:, None]


def past_sums(x):
    return x.cumsum(1) - x


def past_everything(x):
    return x.mean(dim=1, keepdim=True).expand(x.shape)


def past_softmax_of_ones(x):
    T = x.shape[1]
    mask = (torch.arange(T)[:, None] > torch.arange(T)).float()
    return F.softmax(mask, dim=1) @ x


def past_looks_one_ahead(x):
    T = x.shape[1]
    return torch.stack([x[:, : t + 2].mean(dim=1) for t in range(T)], dim=1)


def past_is_future(x):
    T = x.shape[1]
    y = torch.zeros_like(x)
    for t in range(T - 1):
        y[:, t] = x[:, t + 1 :].mean(dim=1)
    return y


def past_is_future_nan(x):
    T = x.shape[1]
    w = torch.ones(T, T).triu(1)
    return w / w.sum(-1, keepdim=True) @ x


def past_columns(x):
    T = x.shape[1]
    w = torch.ones(T, T).tril(-1)
    n = w.sum(0)
    n[n == 0] = 1
    return (w / n) @ x


def past_columns_nan(x):
    T = x.shape[1]
    w = torch.ones(T, T).tril(-1)
    return torch.einsum("ts,bsc->btc", w / w.sum(0, keepdim=True), x)


def past_keepdim(x):
    T = x.shape[1]
    w = torch.ones(T, T).tril(-1)
    return w.div(torch.clamp(w.sum(-1), min=1)) @ x


def past_other_half(x):
    """Averages the positions before t, but only the second half of them."""
    y = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        y[:, t] = x[:, t // 2 : t].mean(dim=1)
    return y


def past_doubled(x):
    return 2 * past_loop(x)


# window


def window_loop(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        first = max(0, t - width + 1)
        weights[t, first : t + 1] = 1 / (t + 1 - first)
    return weights


def window_softmax(T, width):
    t = torch.arange(T)
    distance = t.unsqueeze(1) - t.unsqueeze(0)
    hidden = (distance < 0) | (distance >= width)
    return torch.zeros(T, T).masked_fill(hidden, float("-inf")).softmax(dim=-1)


def window_difference(T, width):
    ones = torch.ones(T, T, dtype=torch.float64)
    band = ones.tril() - ones.tril(-width)
    return (band / band.sum(1)[:, None]).numpy()


def window_lists(T, width):
    rows = []
    for t in range(T):
        seen = [max(0, t - width + 1) <= s <= t for s in range(T)]
        rows.append([float(s) / sum(seen) for s in seen])
    return rows


def _reach(T, first, last):
    """(T, T) 0/1: row t sees distances first … last, counted back from t."""
    t = torch.arange(T)
    back = t[:, None] - t[None, :]
    return ((back >= first) & (back <= last)).float()


def _mean(seen):
    return seen / seen.sum(-1).unsqueeze(-1)


def window_before_without_nan(T, width):
    return torch.nan_to_num(_mean(_reach(T, 1, width)))


def window_wraps_around(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        weights[t][t + 1 - width : t + 1] = 1
    return weights / weights.sum(1, keepdim=True).clamp(min=1)


# decay


def decay_loop(T, decay):
    weights = torch.zeros(T, T)
    for t in range(T):
        for s in range(t + 1):
            weights[t, s] = decay ** (t - s)
        weights[t] /= weights[t].sum()
    return weights


def decay_softmax(T, decay):
    t = torch.arange(T)
    scores = (t[:, None] - t[None, :]) * math.log(decay)
    return scores.masked_fill(t[:, None] < t, -torch.inf).softmax(dim=-1)


def decay_numpy(T, decay):
    back = np.subtract.outer(np.arange(T), np.arange(T))
    weights = np.where(back >= 0, decay ** back.astype(float), 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


def decay_closed_form(T, decay):
    t = torch.arange(T, dtype=torch.float64)
    weights = torch.tril(decay ** (t[:, None] - t))
    return weights * (1 - decay) / (1 - decay ** (t + 1))[:, None]


def _shrinking(T, decay):
    back = np.subtract.outer(np.arange(T), np.arange(T)).astype(float)
    return torch.from_numpy(np.where(back >= 0, decay**back, 0.0))


def decay_recursion(T, decay):
    rows = [torch.eye(T)[0]]
    for t in range(1, T):
        rows.append(decay * rows[-1] + (1 - decay) * torch.eye(T)[t])
    return torch.stack(rows)


def decay_recursion_from_zero(T, decay):
    rows, state = [], torch.zeros(T)
    for t in range(T):
        state = decay * state + (1 - decay) * torch.eye(T)[t]
        rows.append(state)
    return torch.stack(rows)


def decay_growing(T, decay):
    t = torch.arange(T)
    scores = (t[None, :] - t[:, None]) * math.log(decay)
    return scores.masked_fill(t[:, None] < t, -torch.inf).softmax(dim=-1)


def decay_both_sides(T, decay):
    back = np.abs(np.subtract.outer(np.arange(T), np.arange(T)))
    weights = decay ** back.astype(float)
    return weights / weights.sum(1, keepdims=True)


def decay_upper(T, decay):
    weights = torch.zeros(T, T)
    for t in range(T):
        for s in range(t, T):
            weights[t, s] = decay ** (s - t)
    return _mean(weights)


def decay_zero_scores(T, decay):
    t = torch.arange(T)
    scores = (t[:, None] - t[None, :]) * math.log(decay)
    return scores.masked_fill(t[:, None] < t, 0.0).softmax(dim=-1)


def decay_twice_exponential(T, decay):
    seen = torch.ones(T, T).tril()
    powers = torch.exp(_shrinking(T, decay)) * seen
    return _mean(powers)


def decay_linear(T, decay):
    """Shrinks by a constant step, not by a constant factor."""
    t = torch.arange(T)
    return _mean((T - (t[:, None] - t) * decay).tril())


# masked-softmax


def masked_where(scores, visible):
    return torch.where(visible, scores, torch.tensor(-torch.inf)).softmax(-1)


def masked_by_hand(scores, visible):
    e = torch.exp(scores) * visible
    return e / e.sum(dim=-1, keepdim=True)


def masked_large_number(scores, visible):
    return F.softmax(scores.masked_fill(visible.logical_not(), -1e9), dim=2)


def masked_added(scores, visible):
    bias = torch.zeros(visible.shape)
    bias[~visible] = float("-inf")
    return torch.softmax(scores + bias, dim=-1)


def masked_loop(scores, visible):
    weights = torch.zeros(scores.shape)
    B, T, _ = scores.shape
    for b in range(B):
        for t in range(T):
            seen = [s for s in range(T) if visible[b, t, s]]
            parts = [math.exp(scores[b, t, s]) for s in seen]
            for s, part in zip(seen, parts, strict=True):
                weights[b, t, s] = part / sum(parts)
    return weights


def masked_renormalised(scores, visible):
    weights = scores.softmax(-1) * visible
    return weights / weights.sum(-1, keepdim=True)


def masked_in_place_of_a_copy(scores, visible):
    scores.clone().masked_fill_(~visible, -torch.inf)
    return F.softmax(scores, dim=-1)


def masked_by_product(scores, visible):
    return (scores * visible).softmax(dim=-1)


def masked_minus_ten(scores, visible):
    return torch.where(visible, scores, torch.tensor(-5.0, dtype=scores.dtype)).softmax(-1)


def masked_one_over_a_billion(scores, visible):
    return torch.where(visible, scores, torch.full_like(scores, -1e-9)).softmax(-1)


def masked_late(scores, visible):
    return F.softmax(scores, dim=-1).masked_fill(~visible, 0)


def masked_hint_of_a_mask(scores, visible):
    """Takes 1 from hidden scores: they count less, but they count."""
    return (scores - (~visible).float()).softmax(dim=-1)


def masked_exponentials(scores, visible):
    return torch.exp(scores) * visible


# find-fault


def fault_loop(weights):
    T = len(weights)
    faulty = []
    for t in range(T):
        row = weights[t].tolist()
        sound = (
            all(w >= 0 for w in row[: t + 1])
            and all(abs(w) < 1e-4 for w in row[t + 1 :])
            and math.isclose(sum(row), 1, abs_tol=1e-3)
        )
        faulty.append(not sound)
    return faulty


def fault_numpy(weights):
    w = weights.numpy()
    past = np.tril(w)
    sound = np.isclose(w.sum(1), 1) & (w >= 0).all(1) & np.isclose(past.sum(1), 1)
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
        faulty |= np.abs(np.nan_to_num(w.sum(axis=axis), nan=1) - 1) > 1e-4
    if signs:
        faulty |= (w < 0).any(axis=1)
    if nan:
        faulty |= np.isnan(w).any(axis=1)
    return faulty


def fault_exact(weights):
    return torch.tensor([sum(row.tolist()) != 1.0 for row in weights])


def fault_too_small(weights):
    return (weights.sum(1) < 0.999) | (weights < 0).any(1) | (weights.triu(1) > 0).any(1)


def fault_suspicious(weights):
    """Finds what there is to find, and accuses every row that looks back further than one."""
    seen = torch.nan_to_num(weights).abs() > 0
    return torch.from_numpy(_ask(weights)) | (seen.sum(dim=1) > 2)


def unfilled(*args, **kwargs):
    raise NotImplementedError


RIGHT = {
    "running-sum": {
        "turned triangle": sum_turned_triangle,
        "einsum": sum_einsum,
        "there and back": sum_transposed,
        "loop": sum_loop,
        "numpy": sum_numpy,
    },
    "past-mean": {
        "shifted running mean": past_roll,
        "softmax": past_softmax,
        "loop": past_loop,
        "numpy, float64": past_numpy,
    },
    "window": {
        "loop": window_loop,
        "softmax": window_softmax,
        "difference of triangles, numpy": window_difference,
        "lists": window_lists,
    },
    "decay": {
        "loop": decay_loop,
        "softmax of distances": decay_softmax,
        "numpy": decay_numpy,
        "closed form": decay_closed_form,
    },
    "masked-softmax": {
        "where": masked_where,
        "by hand": masked_by_hand,
        "−1e9": masked_large_number,
        "added bias": masked_added,
        "loop": masked_loop,
        "cut and divided again": masked_renormalised,
    },
    "find-fault": {
        "loop, list of bool": fault_loop,
        "numpy, 0 and 1": fault_numpy,
        "row by row": fault_where,
        "one question after the other": _ask,
    },
}

WRONG = {
    "running-sum": {
        "triangle-not-turned": sum_wrong_turn,
        "sums-channels": sum_channels,
        "time-not-put-back": sum_stays_turned,
        "means-not-sums": sum_of_means,
        "diagonal-excluded": sum_without_itself,
        "no-triangle": sum_total,
    },
    "past-mean": {
        "first-row-nan": past_nan,
        "first-row-uniform": past_rolled_round,
        "first-row-itself": past_keeps_first,
        "diagonal-included": past_inclusive,
        "divides-by-one-too-many": past_divides_by_t_plus_one,
        "sums-not-means": past_sums,
        "zero-mask": past_everything,
        "multiplied-mask": past_softmax_of_ones,
        "next-included": past_looks_one_ahead,
        "upper-triangle": past_is_future,
        "divides-columns": past_columns,
        "keepdim-forgotten": past_keepdim,
    },
    "window": {
        "divides-by-width": lambda T, width: _reach(T, 0, width - 1) / width,
        "negative-slice": window_wraps_around,
        "window-one-too-wide": lambda T, width: _mean(_reach(T, 0, width)),
        "window-one-too-narrow": lambda T, width: _mean(_reach(T, 0, width - 2)),
        "no-window": lambda T, width: _mean(_reach(T, 0, T)),
        "sums-not-means": lambda T, width: _reach(T, 0, width - 1),
        "divides-columns": lambda T, width: (
            _reach(T, 0, width - 1) / _reach(T, 0, width - 1).sum(0, keepdim=True)
        ),
        "keepdim-forgotten": lambda T, width: (
            _reach(T, 0, width - 1) / torch.arange(1, T + 1).clamp(max=width)
        ),
        "upper-triangle": lambda T, width: _mean(_reach(T, 1 - width, 0)),
        "centred-window": lambda T, width: _mean(_reach(T, -(width // 2), width // 2)),
        "diagonal-excluded": lambda T, width: _mean(_reach(T, 1, width)),
        "multiplied-mask": lambda T, width: F.softmax(
            torch.ones(T, T) * _reach(T, 0, width - 1), dim=1
        ),
    },
    "decay": {
        "unnormalised-decay": _shrinking,
        "uncorrected-start": decay_recursion_from_zero,
        "started-at-the-first": decay_recursion,
        "reversed-decay": decay_growing,
        "complement": lambda T, decay: decay_numpy(T, 1 - decay),
        "no-causal-mask": decay_both_sides,
        "upper-triangle": decay_upper,
        "divides-columns": lambda T, decay: (
            _shrinking(T, decay) / _shrinking(T, decay).sum(0, keepdim=True)
        ),
        "keepdim-forgotten": lambda T, decay: (
            _shrinking(T, decay).numpy() / _shrinking(T, decay).numpy().sum(axis=1)
        ),
        "softmax-of-weights": decay_twice_exponential,
        "zero-mask": decay_zero_scores,
        "diagonal-excluded": lambda T, decay: _mean(_shrinking(T, decay).tril(-1)),
    },
    "masked-softmax": {
        "inverted-mask": lambda scores, visible: masked_where(scores, ~visible),
        "dropped-result": masked_in_place_of_a_copy,
        "tiny-fill": masked_one_over_a_billion,
        "zero-mask": masked_by_product,
        "plus-infinity": lambda scores, visible: F.softmax(
            torch.where(visible, scores, torch.tensor(math.inf)), dim=-1
        ),
        "masked-after-softmax": masked_late,
        "scores-ignored": lambda scores, visible: visible / visible.sum(-1, keepdim=True),
        "softmax-over-queries": lambda scores, visible: F.softmax(
            scores.masked_fill(visible == 0, -1e30), dim=1
        ),
        "softmax-over-batch": lambda scores, visible: torch.where(
            visible, scores, torch.tensor(-torch.inf)
        ).softmax(0),
    },
    "find-fault": {
        "inverted-answer": lambda weights: ~_ask(weights),
        "exact-comparison": fault_exact,
        "diagonal-excluded": lambda weights: _ask(weights, start=0),
        "divides-columns": lambda weights: _ask(weights, axis=0),
        "one-sided-sum": fault_too_small,
        "future-unasked": lambda weights: _ask(weights, ahead=False),
        "sums-unasked": lambda weights: _ask(weights, sums=False),
        "signs-unasked": lambda weights: _ask(weights, signs=False),
        "nan-slips-through": lambda weights: _ask(weights, nan=False),
    },
}

ODD = {
    "running-sum": [
        (sum_chapter_cell, "sums-channels"),
        (lambda x: 2 * sum_numpy(x), "difference"),
        (lambda x: x.sum(dim=-1), "shape"),
        (lambda x: torch.nn.functional.pad(sum_loop(x), (0, 1))[..., 1:], "sees-the-future"),
    ],
    "past-mean": [
        (past_doubled, "rows-do-not-sum-to-one"),
        (past_other_half, "wrong-positions"),
        (past_is_future_nan, "upper-triangle"),
        (past_columns_nan, "divides-columns"),
        (lambda x: x.mean(dim=1), "shape"),
        (lambda x: torch.roll(x, 1, dims=1), "sees-the-future"),
        (lambda x: torch.tril(torch.ones(3, 3)) @ x, "error"),
    ],
    "window": [
        (lambda T, width: torch.eye(T).flip(0), "sees-the-future"),
        (window_before_without_nan, "diagonal-excluded"),
        (lambda T, width: window_loop(T, width)[:-1], "shape"),
        (lambda T, width: 2 * window_loop(T, width), "rows-do-not-sum-to-one"),
        (lambda T, width: decay_loop(T, 0.5), "wrong-positions"),
    ],
    "decay": [
        (decay_linear, "wrong-ratio"),
        (lambda T, decay: decay_loop(T, decay).T, "sees-the-future"),
        (lambda T, decay: decay_loop(T, decay) / 2, "rows-do-not-sum-to-one"),
        (
            lambda T, decay: torch.nan_to_num(_mean(_shrinking(T, decay).tril(-1))),
            "diagonal-excluded",
        ),
        (lambda T, decay: torch.full((T, T), math.nan), "not-finite"),
    ],
    "masked-softmax": [
        (masked_minus_ten, "tiny-fill"),
        (masked_hint_of_a_mask, "sees-what-is-hidden"),
        (masked_exponentials, "rows-do-not-sum-to-one"),
        (lambda scores, visible: masked_by_hand(2 * scores, visible), "difference"),
        (lambda scores, visible: masked_by_hand(scores, visible).sum(-1), "shape"),
    ],
    "find-fault": [
        (fault_suspicious, "sound-row-accused"),
        (lambda weights: torch.nonzero(torch.tensor(fault_loop(weights)))[:, 0], "shape"),
        (lambda weights: np.zeros(len(weights), dtype=bool), "future-unasked"),
        (lambda weights: np.ones(len(weights), dtype=bool), "exact-comparison"),
    ],
}

SCAFFOLD = dict.fromkeys(RIGHT, unfilled)
