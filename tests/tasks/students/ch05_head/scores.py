"""Students' answers to 05/scores."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def scores_by_einsum(x, w_query, w_key):
    q = torch.einsum("...tc,cd->...td", x, w_query)
    k = torch.einsum("...sc,cd->...sd", x, w_key)
    return torch.einsum("...td,...sd->...ts", q, k) / w_query.shape[-1] ** 0.5


def scores_in_numpy(x, w_query, w_key):
    x, w_query, w_key = x.numpy(), w_query.numpy(), w_key.numpy()
    return (x @ w_query) @ np.swapaxes(x @ w_key, -1, -2) / np.sqrt(w_key.shape[1])


def scores_by_loop(x, w_query, w_key):
    flat = x.reshape(-1, *x.shape[-2:])
    tables = []
    for text in flat:
        q, k = text @ w_query, text @ w_key
        tables.append([[torch.dot(a, b) / math.sqrt(len(a)) for b in k] for a in q])
    return torch.tensor(tables).reshape(*x.shape[:-1], x.shape[-2])


def scores_scaled_early(x, w_query, w_key):
    q = F.linear(x, w_query.T) @ torch.diag(torch.ones(w_key.size(1)) * w_key.size(1) ** -0.5)
    return q @ F.linear(x, w_key.T).mT


def products(x, left, right):
    return torch.matmul(x @ left, (x @ right).mT)


def scores_of_batches(x, w_query, w_key):
    return torch.bmm(x @ w_query, (x @ w_key).permute(0, 2, 1)) / math.sqrt(w_query.shape[1])


# "any number of leading dimensions": three of them, too
def scores_of_two_kinds(x, w_query, w_key):
    letters = "bh"[: x.ndim - 2]
    q, k = x @ w_query, x @ w_key
    formula = f"{letters}td,{letters}sd->{letters}ts"
    return torch.einsum(formula, q, k) / math.sqrt(w_query.shape[1])


# (B, T, C) for a batch: of one text, too
def squeezed(x, w_query, w_key):
    return scores_by_einsum(x, w_query, w_key).squeeze()


# (T, C) for a single text: of one symbol, too
def symbol_squeezed(x, w_query, w_key):
    scores = scores_by_einsum(x, w_query, w_key)
    return scores.squeeze(-1) if x.ndim == 2 else scores


def batches_in_order(x, w_query, w_key):
    if x.ndim > 4:
        raise ValueError("too many dimensions")
    return scores_by_einsum(x, w_query, w_key)


def texts_in_one(x, w_query, w_key):
    flat = x.flatten(0, -2)
    return products(flat, w_query, w_key) / math.sqrt(w_query.shape[1])


# In a batch, all queries meet the keys of the last text.
def keys_of_the_last(x, w_query, w_key):
    keys = x @ w_key
    if x.ndim > 2:
        keys = keys[-1:]
    return x @ w_query @ keys.transpose(-2, -1) / math.sqrt(w_query.shape[1])


def scores_by_distance(x, w_query, w_key):
    apart = (x @ w_query)[..., :, None, :] - (x @ w_key)[..., None, :, :]
    return -apart.square().sum(-1) / math.sqrt(w_query.shape[1])


def queries_of_length_one(x, w_query, w_key):
    return F.normalize(x @ w_query, dim=-1) @ (x @ w_key).mT


def flattened(x, w_query, w_key):
    T, C = x.shape[-2:]
    return scores_by_einsum(x.reshape(-1, T, C), w_query, w_key)


def shifted_for_softmax(x, w_query, w_key):
    scores = scores_by_einsum(x, w_query, w_key)
    return scores - scores.max(-1, keepdim=True).values


def stack_with_heads_first(x, w_query, w_key):
    scores = scores_by_einsum(x, w_query, w_key)
    return scores.transpose(0, 1) if x.ndim > 3 else scores


RIGHT = {
    "einsum": scores_by_einsum,
    "numpy": scores_in_numpy,
    "loop": scores_by_loop,
    "scaled queries": scores_scaled_early,
}


WRONG = {
    "swapped-query-key": lambda x, q, k: scores_by_einsum(x, k, q),
    "sign-turned": lambda x, q, k: scores_by_einsum(x, -q, k),
    "texts-joined": texts_in_one,
    "keys-of-another-text": keys_of_the_last,
    "scale-by-length": lambda x, q, k: products(x, q, k) / math.sqrt(x.shape[-2]),
    "second-dimension-under-the-root": lambda x, q, k: products(x, q, k) / (x @ k).shape[1] ** 0.5,
    "raw-inputs": lambda x, q, k: torch.einsum("...tc,...sc->...ts", x, x) / x.shape[-1] ** 0.5,
    "axes-counted-from-the-front": scores_of_batches,
    "leading-dimensions-flat": flattened,
    "something-subtracted": shifted_for_softmax,
    "itself-hidden": lambda x, q, k: scores_by_einsum(x, q, k) * (1 - torch.eye(x.size(-2))),
    "future-hidden": lambda x, q, k: scores_by_einsum(x, q, k).tril(),
    "cosines": lambda x, q, k: F.cosine_similarity(
        (x @ q)[..., :, None, :], (x @ k)[..., None, :, :], dim=-1
    ),
}


ODD = [
    (stack_with_heads_first, "axes-counted-from-the-front"),
    (lambda x, q, k: products(x, q, k) / 3, "wrong-scale"),
    (lambda x, q, k: products(x, q, k) / products(x, q, k).std(), "wrong-scale"),
    (queries_of_length_one, "rows-by-their-own"),
    (scores_by_distance, "another-score"),
    (lambda x, q, k: x @ q, "shape"),
    (lambda x, q, k: scores_by_einsum(x, q, k) + torch.arange(x.shape[-2]), "columns-shifted"),
    (squeezed, "axis-of-one"),
    (symbol_squeezed, "axis-of-one"),
    (scores_of_two_kinds, "axes-counted-from-the-front"),
    (batches_in_order, "axes-counted-from-the-front"),
]


# --- Answers that no list names ---


# "Unless a task says otherwise, your functions leave what they are given as it was."
def scale_inside_the_argument(x, w_query, w_key):
    w_query /= math.sqrt(w_query.shape[1])
    return (x @ w_query) @ (x @ w_key).transpose(-2, -1)


# "Scaled dot products": the root of 8 is not 2
def whole_root(x, w_query, w_key):
    query, key = x @ w_query, x @ w_key
    return query @ key.transpose(-2, -1) / math.isqrt(w_key.shape[1])


# Copied the chapter's line with the mask in it.
# "No mask and no softmax yet."
def future_hidden_already(x, w_query, w_key):
    query, key = x @ w_query, x @ w_key
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    T = x.shape[-2]
    return scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -torch.inf)


UNLISTED = {
    5: [(scale_inside_the_argument, "changes-its-input")],
    6: [(whole_root, "wrong-scale")],
    8: [(future_hidden_already, "future-hidden")],
}
