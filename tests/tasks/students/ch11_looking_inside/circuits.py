"""Students' answers to 11/circuits."""

import math

import numpy as np
import torch
import torch.nn.functional as F


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


def cosines(e, q, k, *_):
    asks, holds = e @ q.T, e @ k.T
    lengths = asks.norm(dim=1)[:, None] * holds.norm(dim=1)
    return asks @ holds.T / lengths


def after_a_norm(e, *others):
    centered = e - e.mean(dim=1, keepdim=True)
    return pair_by_pair(centered / (e.var(dim=1, correction=0)[:, None] + 1e-5).sqrt(), *others)


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


# "by how much the logit of token j rises": not compared with what the other logits do
def logits_centered(embedding, query, key, value, output, unembedding):
    qk = embedding @ query.T @ key @ embedding.T / math.sqrt(query.shape[0])
    ov = embedding @ value.T @ output.T @ unembedding.T
    return qk, ov - ov.mean(dim=1, keepdim=True)


WRONG = {
    "causal-mask-in-ov": but(None, lambda *given: OV(*given) * torch.ones_like(OV(*given)).tril()),
    "scores-centered": but(lambda *given: QK(*given) - QK(*given).mean(1, keepdim=True)),
    "mean-token-subtracted": but(None, lambda *given: OV(*given) - OV(*given).mean(0)),
    "written-normed": but(
        None, lambda e, q, k, v, o, u: F.layer_norm(e @ v.T @ o.T, e.shape[1:]) @ u.T
    ),
    "cosines-in-ov": but(
        None, lambda e, q, k, v, o, u: F.cosine_similarity((e @ v.T @ o.T)[:, None], u, dim=-1)
    ),
    "scores-reshaped": but(
        lambda e, q, k, v, o, u: (e @ q.T) @ (e @ k.T).view(len(q), len(e)) / len(q) ** 0.5
    ),
    "copies-reshaped": but(
        None, lambda e, q, k, v, o, u: e @ v.T @ o.T @ u.reshape(u.shape[1], len(u))
    ),
    "qk-in-ov": but(None, lambda *given: QK(*given).softmax(1) @ OV(*given)),
    "ov-softmaxed": but(None, lambda *given: torch.log_softmax(OV(*given), dim=1)),
    "value-twice": but(None, lambda e, q, k, v, o, u: e @ v.T @ v @ u.T),
    "output-twice": but(None, lambda e, q, k, v, o, u: (u @ o @ o.T @ e.T).T),
    "direct-path-taken-away": but(
        None, lambda e, q, k, v, o, u: (u @ (o @ v - torch.eye(len(o))) @ e.T).T
    ),
    "unembedded-queries": but(lambda e, q, k, v, o, u: u @ q.T @ k @ e.T / len(q) ** 0.5),
    "scale-without-the-root": but(lambda e, q, k, v, o, u: e @ q.T @ k @ e.T / len(q)),
    "scale-by-tokens": but(lambda e, q, k, v, o, u: e @ q.T @ k @ e.T / len(e) ** 0.5),
    "made-symmetric": but(lambda *given: (QK(*given) + QK(*given).T) * 0.5),
    "cosines": but(cosines),
    "normed-embedding": after_a_norm,
    "output-before-value": output_before_value,
    "causal-mask": no_score_for_later_tokens,
    "logits-centered": logits_centered,
    "exchanged": lambda *given: tuple(reversed(pair_by_pair(*given))),
    "queries-down-the-columns": but(lambda e, q, k, v, o, u: e @ k.T @ q @ e.T / math.sqrt(len(q))),
    "no-scale": but(lambda e, q, k, v, o, u: e @ q.T @ k @ e.T),
    "scale-by-channels": but(lambda e, q, k, v, o, u: e @ q.T @ k @ e.T / e.shape[1] ** 0.5),
    "softmaxed": but(lambda *given: torch.softmax(pair_by_pair(*given)[0], dim=1)),
    "unembedded-keys": but(lambda e, q, k, v, o, u: e @ q.T @ k @ u.T / len(q) ** 0.5),
    "copies-down-the-columns": but(None, lambda e, q, k, v, o, u: u @ o @ v @ e.T),
    "embedding-for-unembedding": but(None, lambda e, q, k, v, o, u: (e @ o @ v @ e.T).T),
    "unembedding-for-embedding": but(None, lambda e, q, k, v, o, u: (u @ o @ v @ u.T).T),
    "direct-path": but(None, lambda e, q, k, v, o, u: (u @ (o @ v + torch.eye(len(o))) @ e.T).T),
    "key-for-value": but(None, lambda e, q, k, v, o, u: (u @ o @ k @ e.T).T),
    "scaled-values": but(None, lambda e, q, k, v, o, u: (u @ o @ v @ e.T).T / len(q) ** 0.5),
}

ODD = [
    (lambda *given: tuple(x + 1 for x in pair_by_pair(*given)), "constant-difference"),
    (lambda *given: pair_by_pair(*given)[0], "type"),
    (lambda e, q, k, v, o, u: (q.T @ k, o @ v), "shape"),
    (but(lambda e, q, k, v, o, u: e @ q.T @ v @ e.T / len(q) ** 0.5), "another-product"),
    (but(None, lambda e, q, k, v, o, u: e @ v.T @ o.reshape(v.shape) @ u.T), "copies-reshaped"),
]


# --- Answers that no list names ---


def one_embedding_for_both(embedding, query, key, value, output, unembedding):
    qk = (embedding @ query.T) @ (embedding @ key.T).T / math.sqrt(len(query))
    return qk, embedding @ value.T @ output.T @ embedding.T


def scaled_by_channels(embedding, query, key, value, output, unembedding):
    qk = (embedding @ query.T) @ (embedding @ key.T).T / math.sqrt(query.shape[1])
    return qk, embedding @ value.T @ output.T @ unembedding.T


def keys_ask(embedding, query, key, value, output, unembedding):
    qk = (embedding @ key.T) @ (embedding @ query.T).T / math.sqrt(len(query))
    return qk, embedding @ value.T @ output.T @ unembedding.T


def ov_scaled_too(embedding, query, key, value, output, unembedding):
    root = math.sqrt(len(query))
    qk = (embedding @ query.T) @ (embedding @ key.T).T / root
    return qk, embedding @ value.T @ output.T @ unembedding.T / root


def weights_for_scores(embedding, query, key, value, output, unembedding):
    qk = (embedding @ query.T) @ (embedding @ key.T).T / math.sqrt(len(query))
    return qk.softmax(dim=-1), embedding @ value.T @ output.T @ unembedding.T


def circuits_both_scaled(embedding, query, key, value, output, unembedding):
    root = math.sqrt(len(query))
    qk = (embedding @ query.T) @ (embedding @ key.T).T / root
    return qk, embedding @ value.T @ output.T @ unembedding.T / root


def circuits_with_unembedded_keys(embedding, query, key, value, output, unembedding):
    qk = (embedding @ query.T) @ (unembedding @ key.T).T / math.sqrt(len(query))
    return qk, embedding @ value.T @ output.T @ unembedding.T


def circuits_of_key_and_value(embedding, query, key, value, output, unembedding):
    """The scores are those of keys with keys."""
    keys = embedding @ key.T
    return keys @ keys.T / math.sqrt(len(key)), embedding @ value.T @ output.T @ unembedding.T


def both_circuits_scaled(embedding, query, key, value, output, unembedding):
    root = math.sqrt(len(query))
    qk = (embedding @ query.T) @ (embedding @ key.T).T / root
    ov = embedding @ value.T @ output.T @ unembedding.T / root
    return qk, ov


# "the logit of token j rises when the head looks at token i": out by the unembedding
def embeddings_exchanged_in_ov(embedding, query, key, value, output, unembedding):
    qk = (embedding @ query.T) @ (embedding @ key.T).T / math.sqrt(len(query))
    return qk, unembedding @ value.T @ output.T @ embedding.T


# "for a head that reads the embedding directly": the keys read the unembedding.
def keys_of_the_unembedding(embedding, query, key, value, output, unembedding):
    queries, keys = embedding @ query.T, unembedding @ key.T
    qk = queries @ keys.T / math.sqrt(len(query))
    return qk, embedding @ value.T @ output.T @ unembedding.T


# "by how much the logit of token j rises when the head looks at token i": the scores alone are
# divided
def both_circuits_scaled_of_set_6(embedding, query, key, value, output, unembedding):
    root = math.sqrt(len(query))
    qk = embedding @ query.T @ key @ embedding.T / root
    ov = embedding @ value.T @ output.T @ unembedding.T / root
    return qk, ov


# Knows the chapter's model, which has one table for both.
# "Embedding and unembedding are two different matrices here."
def one_table_for_both(embedding, query, key, value, output, unembedding):
    D = query.shape[0]
    q = embedding @ query.T
    k = embedding @ key.T
    qk = q @ k.T / math.sqrt(D)
    ov = embedding @ (output @ value).T @ embedding.T
    return qk, ov


# Writes OV in the order of the paper, W_U W_O W_V W_E, where columns are sources.
# "`ov[i, j]` is by how much the logit of token j rises when the head looks at token i"
def ov_in_the_order_of_the_paper(embedding, query, key, value, output, unembedding):
    D = query.shape[0]
    qk = embedding @ query.T @ key @ embedding.T / math.sqrt(D)
    ov = unembedding @ output @ value @ embedding.T
    return qk, ov


# Takes the shape of a weight the other way round.
# "scaled as in the model": by √D, not by √C
def divided_by_the_root_of_c(embedding, query, key, value, output, unembedding):
    q = F.linear(embedding, query)
    k = F.linear(embedding, key)
    qk = q @ k.T / query.shape[-1] ** 0.5
    ov = F.linear(F.linear(F.linear(embedding, value), output), unembedding)
    return qk, ov


# Somebody who takes the second axis of a Linear's weight for the width of the head.
# "the score that a position with token i gives to a position with token j, scaled as in the model"
def scaled_by_the_stream(embedding, query, key, value, output, unembedding):
    D = query.shape[1]
    qk = (embedding @ query.T) @ (embedding @ key.T).T / D**0.5
    ov = embedding @ (output @ value).T @ unembedding.T
    return qk, ov


# A hurried one, whose GPT had tied weights.
# "Embedding and unembedding are two different matrices here."
def tied_circuits(embedding, query, key, value, output, unembedding):
    D = query.shape[0]
    qk = embedding @ query.T @ key @ embedding.T / math.sqrt(D)
    ov = embedding @ value.T @ output.T @ embedding.T
    return qk, ov


# One who thinks of columns as those who look.
# "`qk[i, j]` is the score that a position with token i gives to a position with token j"
def keys_ask_queries(embedding, query, key, value, output, unembedding):
    queries = embedding @ query.T
    keys = embedding @ key.T
    qk = keys @ queries.T / math.sqrt(queries.shape[-1])
    ov = embedding @ value.T @ output.T @ unembedding.T
    return qk, ov


# A statistician who knows that only differences of logits count, and centers each row.
# "`ov[i, j]` is by how much the logit of token j rises"
def rows_of_ov_centered(embedding, query, key, value, output, unembedding):
    D = query.shape[0]
    qk = embedding @ query.T @ key @ embedding.T / math.sqrt(D)
    ov = embedding @ value.T @ output.T @ unembedding.T
    return qk, ov - ov.mean(dim=1, keepdim=True)


def both_circuits_scaled_of_set_12(embedding, query, key, value, output, unembedding):
    """Divides the OV circuit by the root of D as well, which belongs to scores alone."""
    root = math.sqrt(query.shape[0])
    qk = embedding @ query.T @ key @ embedding.T / root
    ov = embedding @ value.T @ output.T @ unembedding.T / root
    return qk, ov


def ov_as_if_it_took_columns(embedding, query, key, value, output, unembedding):
    """Multiplies rows of the embedding by output @ value without transposing that product."""
    queries, keys = embedding @ query.T, embedding @ key.T
    qk = queries @ keys.T / math.sqrt(len(query))
    ov = embedding @ (output @ value) @ unembedding.T
    return qk, ov


def ov_with_skip_connection(embedding, query, key, value, output, unembedding):
    """Adds the token's own embedding to what the head writes, so ov holds the direct path too."""
    queries, keys = embedding @ query.T, embedding @ key.T
    qk = queries @ keys.T / math.sqrt(len(query))
    written = embedding + embedding @ value.T @ output.T
    return qk, written @ unembedding.T


def both_tables_scaled(embedding, query, key, value, output, unembedding):
    """Divides the OV table by the root of D as well, not only the scores."""
    scale = math.sqrt(len(query))
    qk = embedding @ query.T @ key @ embedding.T / scale
    ov = embedding @ value.T @ output.T @ unembedding.T / scale
    return qk, ov


def scaled_by_tokens(embedding, query, key, value, output, unembedding):
    """Divides the scores by the root of len(queries), the number of tokens V, instead of √D."""
    queries, keys = embedding @ query.T, embedding @ key.T
    qk = queries @ keys.T / math.sqrt(len(queries))
    ov = embedding @ value.T @ output.T @ unembedding.T
    return qk, ov


def output_reshaped(embedding, query, key, value, output, unembedding):
    """Brings the output matrix to (D, C) with reshape instead of transposing it, so OV is wrong."""
    D, C = value.shape
    qk = (embedding @ query.T) @ (embedding @ key.T).T / math.sqrt(D)
    ov = embedding @ value.T @ output.reshape(D, C) @ unembedding.T
    return qk, ov


UNLISTED = {
    1: [one_embedding_for_both, scaled_by_channels, keys_ask, ov_scaled_too, weights_for_scores],
    2: [circuits_both_scaled, circuits_with_unembedded_keys, circuits_of_key_and_value],
    3: [both_circuits_scaled],
    4: [embeddings_exchanged_in_ov],
    5: [output_before_value, keys_of_the_unembedding],
    6: [no_score_for_later_tokens, both_circuits_scaled_of_set_6, logits_centered],
    7: [one_table_for_both],
    8: [ov_in_the_order_of_the_paper, divided_by_the_root_of_c],
    9: [scaled_by_the_stream, tied_circuits, keys_ask_queries],
    10: [rows_of_ov_centered],
    12: [both_circuits_scaled_of_set_12],
    13: [ov_as_if_it_took_columns, ov_with_skip_connection, both_tables_scaled],
    14: [scaled_by_tokens],
    15: [output_reshaped],
}
