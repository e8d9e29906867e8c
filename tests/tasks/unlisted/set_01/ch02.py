"""Unlisted wrong answers to chapter 02."""

import math
import random

import torch
import torch.nn.functional as F


def cosine_of_absolutes(x, y):
    return F.cosine_similarity(x[:, :, None], y[:, None], dim=-1).abs()


def cosine_of_the_first_sample(x, y):
    a, b = F.normalize(x, dim=-1), F.normalize(y, dim=-1)
    return a @ b[0].T


def cosine_centred(x, y):
    x, y = x - x.mean(-1, keepdim=True), y - y.mean(-1, keepdim=True)
    return F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).transpose(1, 2)


def cosine_with_itself(x, y):
    a = F.normalize(x, dim=-1)
    return a @ a.transpose(1, 2)


def cosine_of_pairs(x, y):
    n = min(x.shape[1], y.shape[1])
    return F.cosine_similarity(x[:, :n], y[:, :n], dim=-1)


def softmax_to_base_two(scores):
    top = scores.amax(-1, keepdim=True).nan_to_num(neginf=0.0)
    p = torch.exp2(scores - top)
    return p / p.sum(-1, keepdim=True).clamp(min=1e-30)


def softmax_padded(scores):
    top = scores.amax(-1, keepdim=True).nan_to_num(neginf=0.0)
    p = (scores - top).exp()
    return p / (p.sum(-1, keepdim=True) + 1)


def softmax_in_logarithms(scores):
    return scores.log_softmax(-1)


def softmax_scaled_down(scores):
    p = (scores / 100).softmax(-1)
    return p.nan_to_num()


def softmax_of_finite(scores):
    s = scores.nan_to_num(neginf=-1e4)
    p = s.softmax(-1)
    return torch.where(torch.isinf(scores).all(-1, keepdim=True), torch.zeros_like(p), p)


def variance_of_neighbours(queries, keys):
    products = queries * keys
    d = torch.arange(1, products.shape[1] + 1)
    return products.var(0), products.var(0) / d


def variance_exchanged(queries, keys):
    sums = (queries * keys).cumsum(1)
    d = torch.arange(1, sums.shape[1] + 1)
    return (sums / d.sqrt()).var(0), sums.var(0)


def variance_last_only(queries, keys):
    dots = (queries * keys).sum(1)
    D = queries.shape[1]
    return dots.var().expand(D), (dots / D**0.5).var().expand(D)


def variance_about_zero_by_n(queries, keys):
    sums = (queries * keys).cumsum(1)
    d = torch.arange(1, sums.shape[1] + 1)
    return sums.var(0)[1:], (sums / d.sqrt()).var(0)[1:]


def evenness_squared(weights):
    e = -torch.special.xlogy(weights, weights).sum(-1)
    top = torch.arange(1, weights.shape[-1] + 1).log()
    top[0] = 1
    return (e / top) ** 2


def evenness_of_the_largest(weights):
    e = -torch.special.xlogy(weights, weights).sum(-1)
    return e / e.max()


def evenness_complement(weights):
    e = -torch.special.xlogy(weights, weights).sum(-1)
    top = torch.arange(1, weights.shape[-1] + 1).log()
    top[0] = 1
    return 1 - e / top


def evenness_of_sample_zero(weights):
    e = -torch.special.xlogy(weights[0], weights[0]).sum(-1)
    top = torch.arange(1, weights.shape[-1] + 1).log()
    top[0] = 1
    return (e / top).expand(weights.shape[0], -1)


def evenness_by_gini(weights):
    t = torch.arange(1, weights.shape[-1] + 1)
    g = 1 - weights.square().sum(-1)
    top = 1 - 1 / t
    top[0] = 1
    return g / top


def map_one_coordinate(at, known, values, width):
    d = (at[:, None, 0] - known[:, 0]) ** 2
    return (-d / (2 * width**2)).softmax(-1) @ values


def map_inverse_distance(at, known, values, width):
    w = 1 / (torch.cdist(at, known) ** 2 + width)
    return (w / w.sum(1, keepdim=True)) @ values


def map_of_the_first_quantity(at, known, values, width):
    w = (-(torch.cdist(at, known) ** 2) / (2 * width**2)).softmax(-1)
    return w @ values[:, :1]


def map_mean_added(at, known, values, width):
    w = (-(torch.cdist(at, known) ** 2) / (2 * width**2)).softmax(-1)
    return w @ (values - values.mean(0))


def map_laplace(at, known, values, width):
    d = (at[:, None] - known).abs().sum(-1)
    return (-(d**2) / (2 * width**2)).softmax(-1) @ values


def inspector_of_sums(x, weights):
    rows, columns = weights.sum(1), weights.sum(0)
    one = torch.ones(len(weights), dtype=weights.dtype)
    future = weights.triu(1)
    if torch.allclose(columns, one):
        return "columns"
    if not torch.allclose(rows, one):
        return "scaled too late"
    if future.abs().max() > 0:
        return "no mask"
    return "sound"


def inspector_rough(x, weights):
    T, C = x.shape
    s = x @ x.T
    hide = torch.ones(T, T).triu(1).bool()
    ways = {
        "sound": (s / math.sqrt(C)).masked_fill(hide, -torch.inf).softmax(1),
        "no scale": s.masked_fill(hide, -torch.inf).softmax(1),
        "divided by C": (s / C).masked_fill(hide, -torch.inf).softmax(1),
        "scaled too late": s.masked_fill(hide, -torch.inf).softmax(1) / math.sqrt(C),
        "no mask": (s / math.sqrt(C)).softmax(1),
        "zero mask": (s / math.sqrt(C)).masked_fill(hide, 0).softmax(1),
        "columns": (s / math.sqrt(C)).masked_fill(hide, -torch.inf).softmax(0),
    }
    for name, w in ways.items():
        if (w - weights).abs().max() < 0.05:
            return name
    return "sound"


def inspector_of_the_last_row(x, weights):
    T, C = x.shape
    s = x @ x.T
    hide = torch.ones(T, T).triu(1).bool()
    ways = {
        "sound": (s / math.sqrt(C)).masked_fill(hide, -torch.inf).softmax(1),
        "no scale": s.masked_fill(hide, -torch.inf).softmax(1),
        "divided by C": (s / C).masked_fill(hide, -torch.inf).softmax(1),
        "scaled too late": s.masked_fill(hide, -torch.inf).softmax(1) / math.sqrt(C),
        "columns": (s / math.sqrt(C)).masked_fill(hide, -torch.inf).softmax(0),
        "no mask": (s / math.sqrt(C)).softmax(1),
        "zero mask": (s / math.sqrt(C)).masked_fill(hide, 0).softmax(1),
    }
    return min(ways, key=lambda name: (ways[name][-1] - weights[-1]).abs().sum().item())


def inspector_with_underscores(x, weights):
    return inspector_rough(x, weights).replace(" ", "_")


# Written later, when the judges had been tuned on the others.


def cosine_of_unit_sums(x, y):
    x = x / x.sum(-1, keepdim=True).clamp(min=1e-8)
    y = y / y.sum(-1, keepdim=True).clamp(min=1e-8)
    return x @ y.transpose(1, 2)


def softmax_dropping_small(scores):
    p = scores.softmax(-1).nan_to_num()
    return torch.where(p < 0.05, torch.zeros_like(p), p)


def variance_of_means(queries, keys):
    sums = (queries * keys).cumsum(1)
    return sums.var(0), sums.var(0).sqrt()


def evenness_against_seen_after(weights):
    e = -torch.special.xlogy(weights, weights).sum(-1)
    return e / math.log(weights.shape[-1] + 1)


def map_flat(at, known, values, width):
    w = (-(torch.cdist(at, known) ** 2) / (2 * width**2)).softmax(-1)
    return w @ values.sort(0).values


def inspector_that_says_sum(x, weights):
    names = ["sound", "no scale", "divided by C", "no mask", "zero mask", "columns"]
    if not torch.allclose(weights.sum(1), torch.ones(len(weights), dtype=weights.dtype)):
        return "scaled too late"
    return random.Random(int(weights.sum() * 1e6)).choice(names)


WRITTEN = {
    "02/cosine": [
        cosine_of_absolutes,
        cosine_of_the_first_sample,
        cosine_centred,
        cosine_with_itself,
        cosine_of_pairs,
        cosine_of_unit_sums,
    ],
    "02/safe-softmax": [
        softmax_to_base_two,
        softmax_padded,
        softmax_in_logarithms,
        softmax_scaled_down,
        softmax_of_finite,
        softmax_dropping_small,
    ],
    "02/variance": [
        variance_of_neighbours,
        variance_exchanged,
        variance_last_only,
        variance_about_zero_by_n,
        variance_of_means,
    ],
    "02/evenness": [
        evenness_squared,
        evenness_of_the_largest,
        evenness_complement,
        evenness_of_sample_zero,
        evenness_by_gini,
        evenness_against_seen_after,
    ],
    "02/smoother": [
        map_one_coordinate,
        map_inverse_distance,
        map_of_the_first_quantity,
        map_mean_added,
        map_laplace,
        map_flat,
    ],
    "02/find-fault": [
        inspector_of_sums,
        inspector_rough,
        inspector_of_the_last_row,
        inspector_with_underscores,
        inspector_that_says_sum,
    ],
}

ASIDE = ()
