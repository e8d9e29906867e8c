"""Students' answers to 02/variance."""

import math

import numpy as np
import torch


def var_slices(queries, keys):
    plain, scaled = [], []
    for d in range(1, queries.shape[1] + 1):
        products = torch.einsum("nd,nd->n", queries[:, :d], keys[:, :d])
        plain.append(products.var())
        scaled.append((products / math.sqrt(d)).var())
    return torch.stack(plain), torch.stack(scaled)


def var_divides_by_n(queries, keys):
    products = torch.cumsum(queries * keys, 1)
    plain = ((products - products.mean(0)) ** 2).mean(0)
    return plain, plain / torch.arange(1, queries.shape[1] + 1)


def var_numpy(queries, keys):
    products = np.cumsum(queries.numpy().astype(float) * keys.numpy(), axis=1)
    roots = np.sqrt(np.arange(1, products.shape[1] + 1))
    return products.var(axis=0), (products / roots).var(axis=0)


def var_lists(queries, keys):
    D = queries.shape[1]
    products = [(queries[:, :d] * keys[:, :d]).sum(1).double() for d in range(1, D + 1)]
    plain = [float(p.var()) for p in products]
    return plain, [v / (d + 1) for d, v in enumerate(plain)]


def var_one_tensor(queries, keys):
    return torch.stack(var_slices(queries, keys))


def var_every_pair(queries, keys):
    plain = [
        (queries[:, : d + 1] @ keys[:, : d + 1].T).var(correction=0) for d in range(keys.shape[1])
    ]
    plain = torch.stack(plain)
    return plain, plain / torch.arange(1, len(plain) + 1)


def var_of_each(queries, keys):
    products = queries * keys
    return products.var(0), (products / products.shape[1] ** 0.5).var(0)


def var_of_means(queries, keys):
    D = queries.shape[1]
    products = [(queries[:, :d] * keys[:, :d]).mean(1) for d in range(1, D + 1)]
    plain = torch.stack([p.var() for p in products])
    return plain, plain / torch.arange(1, D + 1)


def var_summed(queries, keys):
    plain = torch.cumsum(torch.var(queries * keys, dim=0, correction=0), 0)
    return plain, plain / torch.arange(1, len(plain) + 1)


def var_theory(queries, keys):
    D = keys.shape[1]
    return [float(d) for d in range(1, D + 1)], [1.0] * D


def var_std(queries, keys):
    plain, scaled = var_numpy(queries, keys)
    return np.sqrt(plain), np.sqrt(scaled)


def var_squares(queries, keys):
    products = torch.cumsum(queries * keys, 1)
    roots = torch.arange(1, queries.shape[1] + 1).sqrt()
    return (products**2).mean(0), ((products / roots) ** 2).mean(0)


def var_from_zero(queries, keys):
    plain = torch.stack(
        [(queries[:, :d] * keys[:, :d]).sum(1).var() for d in range(queries.shape[1])]
    )
    return plain, plain / torch.arange(len(plain)).clamp(min=1)


def var_forgets_scale(queries, keys):
    plain, _ = var_numpy(queries, keys)
    return plain, plain.copy()


def var_one_scale(queries, keys):
    products = torch.cumsum(queries * keys, 1)
    return products.var(0), (products / math.sqrt(products.shape[1])).var(0)


def var_by_d(queries, keys):
    products = torch.cumsum(queries * keys, 1)
    return products.var(0), (products / torch.arange(1, products.shape[1] + 1)).var(0)


def var_late_scale(queries, keys):
    plain, _ = var_slices(queries, keys)
    return plain, plain / torch.arange(1, len(plain) + 1) ** 0.5


def var_twice(queries, keys):
    plain, scaled = var_slices(queries, keys)
    return plain, 2 * scaled


RIGHT = {
    "slices": var_slices,
    "divides by N": var_divides_by_n,
    "numpy": var_numpy,
    "lists": var_lists,
    "one tensor": var_one_tensor,
}


def var_terms_scaled(queries, keys):
    terms = queries * keys / torch.sqrt(torch.arange(1, queries.shape[1] + 1))
    return var_numpy(queries, keys)[0], np.var(np.cumsum(terms.numpy(), axis=1), axis=0)


def var_of_a_product_of_sums(queries, keys):
    plain = [(queries[:, :d].sum(1) * keys[:, :d].sum(1)).var() for d in range(1, len(keys.T) + 1)]
    return torch.stack(plain), torch.stack(plain) / torch.arange(1, len(plain) + 1)


def _spread_by_d(queries, keys, numbers, divided):
    """Both results, from the numbers that are measured for d, and those that are measured next."""
    D = queries.shape[1]
    plain = [numbers(queries[:, :d] * keys[:, :d]) for d in range(1, D + 1)]
    second = [divided(one, d) for d, one in enumerate(plain, start=1)]
    return torch.stack([one.var() for one in plain]), torch.stack(second)


def _over_root(one, d):
    return (one / math.sqrt(d)).var()


def _total(products):
    return products.sum(1)


def spread_of_rows(queries, keys):
    D = queries.shape[1]
    plain = [(queries[:d] * keys[:d]).sum(1).var() for d in range(1, D + 1)]
    return torch.stack(plain), torch.stack([one / d for d, one in enumerate(plain, start=1)])


def sizes_counted_from_zero(queries, keys):
    products = (queries * keys).cumsum(dim=1)
    d = torch.arange(products.shape[1]).clamp(min=1)
    return products.var(dim=0), (products / d.sqrt()).var(dim=0)


WRONG = {
    "no-scale": var_forgets_scale,
    "scale-by-channels": var_one_scale,
    "scale-by-d": var_by_d,
    "scaled-the-variance": var_late_scale,
    "states-the-law": var_theory,
    "adds-variances": var_summed,
    "single-products": var_of_each,
    "mean-not-sum": var_of_means,
    "all-pairs": var_every_pair,
    "standard-deviation": var_std,
    "mean-square": var_squares,
    "starts-at-nothing": var_from_zero,
    "each-term-scaled": var_terms_scaled,
    "last-entries-first": lambda queries, keys: var_slices(queries.flip(-1), keys.flip(-1)),
    "product-of-sums": var_of_a_product_of_sums,
    "first-scaled-too": lambda queries, keys: [var_numpy(queries, keys)[1]] * 2,
    "adds-up-pairs": lambda queries, keys: [
        (queries * keys).cumsum(0).var(0) / torch.arange(1, keys.shape[1] + 1) ** power
        for power in (0, 1)
    ],
    "all-entries-always": lambda queries, keys: [
        torch.einsum("nd,nd->n", queries, keys).var().expand(keys.shape[1])
        / torch.arange(1, keys.shape[1] + 1) ** power
        for power in (0, 1)
    ],
    "first-missing": lambda q, k: [one[1:] for one in var_slices(q, k)],
    "one-for-each-pair": lambda q, k: [(q @ k.T / len(q) ** power).var(1) for power in (0, 0.5)],
    "roots-from-0": sizes_counted_from_zero,
}


def var_along_the_shorter(queries, keys):
    """Takes the larger size for the number of pairs."""
    if queries.shape[0] < queries.shape[1]:
        queries, keys = queries.T, keys.T
    return var_slices(queries, keys)


def var_of_one_entry_is_nothing(queries, keys):
    if queries.shape[1] > 1:
        return var_slices(queries, keys)
    return torch.zeros(1), torch.zeros(1)


ODD = [
    (spread_of_rows, "not-finite"),
    (
        lambda q, k: _spread_by_d(q, k, lambda products: products.prod(1), _over_root),
        "used-cumprod-instead-of-cumsum-in-the-dot-products",
    ),
    (
        lambda q, k: _spread_by_d(q, k, _total, lambda one, d: (one * math.sqrt(d)).var()),
        "multiplied-instead-of-dividing-by-the-root-of-how-many-entries-count-in-the-divided-"
        "dot-products",
    ),
    (lambda q, k: var_slices(q, torch.cat([k[1:], k[:1]])), "as-if-queries-of-the-one-before"),
    (lambda q, k: [one[:-1] for one in var_slices(q, k)], "shape"),
    (lambda q, k: [one * 0.8 for one in var_slices(q, k)], "another-divisor"),
    (var_twice, "wrong-scale"),
    (lambda q, k: (q * k).sum(1).var(), "type"),
    (lambda q, k: var_twice(k, k), "another-variance"),
    (lambda q, k: tuple(one.squeeze() for one in var_slices(q, k)), "axis-of-one"),
    (var_along_the_shorter, "one-for-each-pair"),
    (var_of_one_entry_is_nothing, "another-variance"),
]


# --- Answers that no list names ---


def variance_exchanged(queries, keys):
    sums = (queries * keys).cumsum(1)
    d = torch.arange(1, sums.shape[1] + 1)
    return (sums / d.sqrt()).var(0), sums.var(0)


UNLISTED = {1: [(variance_exchanged, "first-scaled-too")]}
