"""Students' answers to 02/cosine."""

import numpy as np
import torch
from torch.nn import functional as F


def cos_by_pairs(x, y):
    return F.cosine_similarity(x[:, :, None], y[:, None], dim=-1)


def cos_normalize(x, y):
    return torch.einsum("btc,bsc->bts", F.normalize(x, dim=2), F.normalize(y, dim=2))


def cos_divided_afterwards(x, y):
    lengths = x.norm(dim=-1)[:, :, None] * y.norm(dim=-1)[:, None, :]
    return torch.nan_to_num(torch.bmm(x, y.mT) / lengths)


def cos_numpy(x, y):
    x, y = x.double().numpy(), y.double().numpy()
    products = np.einsum("btc,bsc->bts", x, y)
    lengths = np.sqrt((x**2).sum(-1))[:, :, None] * np.sqrt((y**2).sum(-1))[:, None]
    return np.where(lengths > 0, products / np.where(lengths > 0, lengths, 1), 0)


def cos_loop(x, y):
    B, T, _ = x.shape
    result = [[[0.0] * y.shape[1] for _ in range(T)] for _ in range(B)]
    for b in range(B):
        for t in range(T):
            for s in range(y.shape[1]):
                lengths = float(x[b, t].norm() * y[b, s].norm())
                result[b][t][s] = float(x[b, t] @ y[b, s]) / lengths if lengths else 0.0
    return result


def cos_dim_1(x, y):
    return F.normalize(x, dim=1) @ F.normalize(y, dim=1).mT


def cos_whole_norm(x, y):
    return (x / torch.linalg.norm(x)) @ (y / torch.linalg.norm(y)).mT


def cos_turned(x, y):
    return cos_by_pairs(x, y).mT


def cos_acos(x, y):
    return torch.acos(cos_by_pairs(x, y).clamp(-1, 1))


def cos_flat_norm(x, y):
    x = x / torch.sqrt((x**2).sum(dim=2))
    y = y / torch.sqrt((y**2).sum(dim=2))
    return x @ y.mT


def cos_divides_by_nothing(x, y):
    x = x / x.norm(dim=2, keepdim=True)
    return torch.einsum("btc,bsc->bts", x, y / y.norm(dim=2, keepdim=True))


RIGHT = {
    "library": cos_by_pairs,
    "normalize, einsum": cos_normalize,
    "divided afterwards": cos_divided_afterwards,
    "numpy": cos_numpy,
    "loop, lists": cos_loop,
}


def cosine_over_both_lengths(x, y):
    lengths = x.norm(dim=2).unsqueeze(2) + y.norm(dim=2).unsqueeze(1)
    return torch.einsum("btc,bsc->bts", x, y) / lengths


def cos_zeros_known_by_their_sum(x, y):
    zeros = (x.sum(-1) == 0)[:, :, None] | (y.sum(-1) == 0)[:, None]
    return cos_by_pairs(x, y).masked_fill(zeros, 0.0)


def cos_zeros_known_by_one_of_them(x, y):
    with_zero = [(torch.min(v.abs(), dim=-1).values == 0).float() for v in (x, y)]
    return cos_by_pairs(x, y) * (1 - with_zero[0])[:, :, None] * (1 - with_zero[1])[:, None]


WRONG = {
    "taken-for-zeros": cos_zeros_known_by_their_sum,
    "one-zero-is-enough": cos_zeros_known_by_one_of_them,
    "divided-by-something-else": cosine_over_both_lengths,
    "made-of-cosines": cos_acos,
    "normalised-over-positions": cos_dim_1,
    "keepdim-forgotten": cos_flat_norm,
    "zero-vector-nan": cos_divides_by_nothing,
    "correlation": lambda x, y: cos_by_pairs(x - x.mean(2)[..., None], y - y.mean(2)[..., None]),
    "one-by-one": lambda x, y: torch.cosine_similarity(x, y, dim=-1),
}


def cos_of_long_vectors(x, y):
    x, y = (v / v.norm(dim=-1, keepdim=True).clamp(min=0.05) for v in (x, y))
    return x @ y.transpose(1, 2)


def cos_of_products_that_are_not_small(x, y):
    lengths = x.norm(dim=-1)[:, :, None] * y.norm(dim=-1)[:, None]
    return x @ y.transpose(1, 2) / lengths.clamp(min=1e-5)


def cos_nothing_known_of_x_with_a_zero(x, y):
    """Has no number for vectors on one side, if one of their entries is 0 and some other isn't."""
    partly = (x == 0).any(-1) & (x != 0).any(-1)
    return cos_by_pairs(x, y).masked_fill(partly[:, :, None], torch.nan)


ODD = [
    (
        lambda x, y: cos_by_pairs(x.abs(), y.abs()),
        "used-the-absolute-value-of-the-directions-of-x-and-the-directions-of-y",
    ),
    (
        lambda x, y: F.cosine_similarity(x[:, :, None], x[:, None], dim=-1),
        "used-the-directions-of-x-instead-of-the-directions-of-y-in-your-cosines",
    ),
    (cos_turned, "transposed-your-cosines"),
    (
        lambda x, y: (
            F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).reshape(len(y), y.shape[2], y.shape[1])
        ),
        "used-view-or-reshape-instead-of-a-transpose-in-your-cosines",
    ),
    (cos_whole_norm, "divided-by-something-else"),
    (lambda x, y: (x @ y.mT).tanh(), "another-cosine"),
    (lambda x, y: 3 * cos_by_pairs(x, y), "not-a-cosine"),
    (lambda x, y: cos_by_pairs(x, y) ** 2, "squared-your-cosines"),
    (lambda x, y: cos_by_pairs(x, y)[0], "shape"),
    (lambda x, y: x @ y, "error"),
    (lambda x, y: cos_by_pairs(x, y).squeeze(), "axis-of-one"),
    (cos_of_long_vectors, "wrong-where-short"),
    (cos_of_products_that_are_not_small, "short-vectors"),
    (cos_nothing_known_of_x_with_a_zero, "one-zero-is-enough"),
    (
        lambda x, y: F.normalize(x, dim=-1, eps=0.25) @ F.normalize(y, dim=-1).mT,
        "wrong-where-short",
    ),
    (
        lambda x, y: cos_by_pairs(x, torch.where((y == 0).all(-1, keepdim=True), 1.0, y)),
        "zeros-have-a-direction",
    ),
]


# --- Answers that no list names ---


def cosine_of_absolutes(x, y):
    return F.cosine_similarity(x[:, :, None], y[:, None], dim=-1).abs()


def cosine_of_the_first_sample(x, y):
    a, b = F.normalize(x, dim=-1), F.normalize(y, dim=-1)
    return a @ b[0].T


def cosine_of_unit_sums(x, y):
    x = x / x.sum(-1, keepdim=True).clamp(min=1e-8)
    y = y / y.sum(-1, keepdim=True).clamp(min=1e-8)
    return x @ y.transpose(1, 2)


def divided_twice_by_the_length_of_x(x, y):
    lengths = x.norm(dim=-1, keepdim=True)
    return (x @ y.transpose(1, 2) / lengths / lengths).nan_to_num(0.0, 0.0, 0.0)


# "Return the cosine of every vector": a vector shorter than 1 is not brought to length 1
def lengths_clamped_at_one(x, y):
    x = x / x.norm(dim=-1, keepdim=True).clamp(min=1)
    y = y / y.norm(dim=-1, keepdim=True).clamp(min=1)
    return x @ y.transpose(1, 2)


# "Unless a task says otherwise, your functions leave what they are given as it was."
def second_sequence_divided_in_place(x, y):
    x = x / x.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    y /= y.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    return x @ y.transpose(1, 2)


UNLISTED = {
    1: [
        (cosine_of_absolutes, "used-the-absolute-value-of-your-cosines"),
        (cosine_of_the_first_sample, "used-the-first-item-of-the-directions-of-y-for-all-items"),
        (cosine_of_unit_sums, "not-a-cosine"),
    ],
    3: [(divided_twice_by_the_length_of_x, "divided-by-something-else")],
    5: [
        (
            lengths_clamped_at_one,
            "used-1-instead-of-1eminus-8-in-the-directions-of-x-and-the-directions-of-y",
        ),
        (second_sequence_divided_in_place, "changes-its-input"),
    ],
}
