"""Students' answers to 11/circuits."""

import math

import numpy as np
import torch


def pair_by_pair(embedding, query, key, value, output, unembedding):
    V, D = len(embedding), len(query)
    qk, ov = torch.zeros(V, V), torch.zeros(V, V)
    for i in range(V):
        for j in range(V):
            qk[i, j] = torch.dot(query @ embedding[i], key @ embedding[j]) / math.sqrt(D)
            ov[i, j] = unembedding[j] @ (output @ (value @ embedding[i]))
    return qk, ov


def by_einsum(e, q, k, v, o, u):
    qk = torch.einsum("ic,dc,de,je->ij", e, q, k, e) / q.shape[0] ** 0.5
    return [qk, torch.einsum("ic,dc,ed,je->ij", e, v, o, u)]


def whole_matrices(e, q, k, v, o, u):
    """(C, C) matrices first, as the papers write them."""
    e, q, k, v, o, u = (x.numpy().astype(np.float64) for x in (e, q, k, v, o, u))
    return e @ (q.T @ k) @ e.T / np.sqrt(len(q)), (u @ (o @ v) @ e.T).T


def but(qk=None, ov=None):
    """The pair of the loops, one of the two made otherwise."""

    def answer(*given):
        right = pair_by_pair(*given)
        return (qk(*given) if qk else right[0], ov(*given) if ov else right[1])

    return answer


RIGHT = {"pair by pair": pair_by_pair, "einsum": by_einsum, "matrices": whole_matrices}


def right(which):
    return lambda *given: pair_by_pair(*given)[which]


QK, OV = right(0), right(1)


# "ov[i, j] is by how much the logit of token j rises when the head looks at token i": through the
# value first, and then the output; the shapes fit the other way round, too.
def output_before_value(embedding, query, key, value, output, unembedding):
    queries, keys = embedding @ query.T, embedding @ key.T
    qk = queries @ keys.T / math.sqrt(len(query))
    return qk, embedding @ output @ value @ unembedding.T


# "qk[i, j] is the score that a position with token i gives": tokens are not places, so none of
# them is in another's future
def no_score_for_later_tokens(embedding, query, key, value, output, unembedding):
    qk = (embedding @ query.T) @ (embedding @ key.T).T / math.sqrt(len(query))
    ov = embedding @ value.T @ output.T @ unembedding.T
    return qk.tril(), ov


WRONG = {
    "output-before-value": output_before_value,
    "causal-mask": no_score_for_later_tokens,
    "queries-down-the-columns": but(lambda e, q, k, v, o, u: e @ k.T @ q @ e.T / math.sqrt(len(q))),
    "no-scale": but(lambda e, q, k, v, o, u: e @ q.T @ k @ e.T),
    "scale-by-channels": but(lambda e, q, k, v, o, u: e @ q.T @ k @ e.T / e.shape[1] ** 0.5),
    "softmaxed": but(lambda *given: torch.softmax(pair_by_pair(*given)[0], dim=1)),
    "direct-path": but(None, lambda e, q, k, v, o, u: (u @ (o @ v + torch.eye(len(o))) @ e.T).T),
    "scaled-values": but(None, lambda e, q, k, v, o, u: (u @ o @ v @ e.T).T / len(q) ** 0.5),
}

ODD = [
    (lambda *given: tuple(x + 1 for x in pair_by_pair(*given)), "constant-difference"),
    (lambda *given: pair_by_pair(*given)[0], "type"),
    (lambda e, q, k, v, o, u: (q.T @ k, o @ v), "shape"),
    (
        but(lambda e, q, k, v, o, u: e @ q.T @ v @ e.T / len(q) ** 0.5),
        "used-value-instead-of-key-in-your-keys",
    ),
    (but(None, lambda e, q, k, v, o, u: e @ v.T @ v @ u.T), "some-results"),
]


# --- Answers that no list names ---


def circuits_of_key_and_value(embedding, query, key, value, output, unembedding):
    """The scores are those of keys with keys."""
    keys = embedding @ key.T
    return keys @ keys.T / math.sqrt(len(key)), embedding @ value.T @ output.T @ unembedding.T


UNLISTED = {
    2: [(circuits_of_key_and_value, "used-key-instead-of-query-in-your-queries")],
}
