"""Students' answers to 04/probabilities."""

import itertools

import numpy as np
import torch
import torch.nn.functional as F


def probabilities_by_loop(tokens, vocab_size, k):
    counts = [[k] * vocab_size for _ in range(vocab_size)]
    for row in tokens.tolist():
        for current, following in itertools.pairwise(row):
            counts[current][following] += 1
    return [[n / sum(row) for n in row] for row in counts]


def probabilities_by_one_hot(tokens, vocab_size, k):
    current = F.one_hot(tokens[:, :-1], vocab_size).float()
    following = F.one_hot(tokens[:, 1:], vocab_size).float()
    counts = torch.einsum("bti,btj->ij", current, following) + k
    return counts / counts.sum(1, keepdim=True)


def probabilities_by_put(tokens, vocab_size, k):
    counts = torch.full((vocab_size, vocab_size), float(k))
    index = (tokens[:, :-1].reshape(-1), tokens[:, 1:].reshape(-1))
    counts.index_put_(index, torch.ones(index[0].numel()), accumulate=True)
    return F.normalize(counts, p=1, dim=1)


def probabilities_in_numpy(tokens, vocab_size, k):
    tokens = tokens.numpy()
    counts = np.full((vocab_size, vocab_size), k, dtype=float)
    np.add.at(counts, (tokens[:, :-1], tokens[:, 1:]), 1)
    return (counts.T / counts.sum(axis=1)).T


def looped_counts(tokens, vocab_size):
    counts = torch.zeros(vocab_size, vocab_size)
    for row in tokens:
        for t in range(len(row) - 1):
            counts[row[t], row[t + 1]] += 1
    return counts


def counts_turned(tokens, vocab_size, k):
    counts = torch.full((vocab_size, vocab_size), float(k))
    for row in tokens:
        for t in range(1, len(row)):
            counts[row[t], row[t - 1]] += 1
    return counts / counts.sum(1, keepdim=True)


def columns_divided(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size) + k
    return counts / counts.sum(0)


def no_keepdim(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size) + k
    return counts / counts.sum(-1)


def one_long_line(tokens, vocab_size, k):
    return probabilities_by_loop(tokens.reshape(1, -1), vocab_size, k)


def pairs_with_itself(tokens, vocab_size, k):
    counts = torch.diag(torch.bincount(tokens.reshape(-1), minlength=vocab_size).float()) + k
    return counts / counts.sum(1, keepdim=True)


def fancy_plus_equals(tokens, vocab_size, k):
    counts = np.full((vocab_size, vocab_size), k, dtype=float)
    counts[tokens[:, :-1].numpy(), tokens[:, 1:].numpy()] += 1
    return counts / counts.sum(1, keepdims=True)


def only_counts(tokens, vocab_size, k):
    return looped_counts(tokens, vocab_size) + k


def one_k_below(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size)
    rows = [(row + k) / (row.sum() + k) for row in counts]
    return torch.stack(rows)


def nothing_below(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size)
    totals = counts.sum(1, keepdim=True)
    return counts / totals + k / totals


def smoothed_never(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size)
    return counts / counts.sum(1, keepdim=True).clamp(min=1)


def smoothed_too_late(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size)
    shares = counts / counts.sum(1, keepdim=True)
    return (shares + k) / (1 + k * vocab_size)


RIGHT = {
    "loop": probabilities_by_loop,
    "one-hot": probabilities_by_one_hot,
    "index_put_": probabilities_by_put,
    "numpy": probabilities_in_numpy,
}


def whole_counts(tokens, vocab_size, k):
    counts = torch.zeros(vocab_size, vocab_size, dtype=torch.int64)
    for row in tokens:
        for t in range(len(row) - 1):
            counts[row[t], row[t + 1]] += 1
    counts += torch.tensor(k).long()
    return counts / counts.sum(1, keepdim=True)


def never_by_less_than_one(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size) + k
    sums = counts.sum(1, keepdim=True)
    return counts / torch.where(sums < 1, 1.0, sums)


def k_for_what_is_missing(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size)
    counts += (counts < 0.5) * k
    return counts / counts.sum(1, keepdim=True)


def share_of_all_occurrences(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size) + k
    occurrences = [(tokens == symbol).sum() + k * vocab_size for symbol in range(vocab_size)]
    return counts / torch.tensor(occurrences).view(-1, 1)


# "row b of `tokens` is a text of its own"
def text_with_the_next_text(tokens, vocab_size, k):
    counts = torch.full((vocab_size, vocab_size), float(k))
    for upper, lower in itertools.pairwise(tokens):
        for i, j in zip(upper, lower, strict=True):
            counts[i, j] += 1
    return counts / counts.sum(1, keepdim=True)


def returns_inside_the_loop(tokens, vocab_size, k):
    counts = torch.full((vocab_size, vocab_size), float(k))
    for row in tokens:
        for i, j in itertools.pairwise(row):
            counts[i, j] += 1
        return counts / counts.sum(1, keepdim=True)


def one_left_out_between(tokens, vocab_size, k):
    counts = torch.full((vocab_size, vocab_size), float(k))
    for row in tokens:
        for t in range(len(row) - 2):
            counts[row[t], row[t + 2]] += 1
    return counts / counts.sum(1, keepdim=True)


def share_of_each_symbol(tokens, vocab_size, k):
    counts = torch.stack([(tokens == v).sum() + k for v in range(vocab_size)])
    return torch.stack([counts / counts.sum()] * vocab_size)


def more_where_there_is_some(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size)
    counts[counts > 0] += k
    return counts / counts.sum(1, keepdim=True).clamp(min=1e-9)


def never_less_than_k(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size)
    counts = torch.where(counts < k, k, counts)
    return counts / counts.sum(1, keepdim=True)


def tables_averaged(tokens, vocab_size, k):
    tables = torch.stack([probabilities_by_put(row[None], vocab_size, k) for row in tokens])
    return tables.mean(0)


def before_and_after(tokens, V, k):
    """Counts what is at i − 1 before what is at i, from i = 0 on."""
    counts = torch.full((V, V), float(k))
    for text in tokens.tolist():
        for i in range(len(text)):
            counts[text[i - 1], text[i]] += 1
    return counts / counts.sum(dim=1, keepdim=True)


def as_many_counts_as_there_are(tokens, V, k):
    pairs = tokens[:, :-1] * V + tokens[:, 1:]
    counts = pairs.flatten().bincount().reshape(V, V) + k
    return counts / counts.sum(dim=1, keepdim=True)


# Remembers the formula of a textbook, which is for k = 1.
# "each row sums to 1", for any k
def one_for_each_symbol_below(tokens, vocab_size, k):
    counts = torch.zeros(vocab_size, vocab_size)
    for row in tokens.tolist():
        for t in range(len(row) - 1):
            counts[row[t], row[t + 1]] += 1
    sums = counts.sum(dim=1, keepdim=True)
    return (counts + k) / (sums + vocab_size) if k > 0 else counts / sums


def smoothed_once_per_text(tokens, vocab_size, k):
    """Adds k inside the loop over the texts, so every count gets B · k instead of k."""
    counts = torch.zeros(vocab_size, vocab_size)
    for text in tokens:
        pairs = text[:-1] * vocab_size + text[1:]
        counts += torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size) + k
    return counts / counts.sum(dim=1, keepdim=True)


WRONG = {
    "denominator-of-one": one_for_each_symbol_below,
    "k-for-each-text": smoothed_once_per_text,
    "end-before-beginning": before_and_after,
    "without-minlength": as_many_counts_as_there_are,
    "k-where-counted": more_where_there_is_some,
    "k-as-least-count": never_less_than_k,
    "k-shared-out": lambda tokens, V, k: probabilities_by_loop(tokens, V, k / V),
    "last-text-left-out": lambda tokens, V, k: probabilities_by_put(tokens[:-1], V, k),
    "both-directions": lambda tokens, V, k: probabilities_by_put(
        torch.cat([tokens, tokens.flip(1)]), V, k
    ),
    "mean-over-texts": tables_averaged,
    "pairs-down-the-columns": text_with_the_next_text,
    "one-text-only": returns_inside_the_loop,
    "pairs-two-apart": one_left_out_between,
    "another-k": lambda tokens, vocab_size, k: probabilities_by_loop(tokens, vocab_size, 1),
    "softmax-of-counts": lambda tokens, vocab_size, k: looped_counts(tokens, vocab_size).softmax(1),
    "current-ignored": share_of_each_symbol,
    "k-for-zeros-only": k_for_what_is_missing,
    "whole-part-of-k": whole_counts,
    "sums-of-at-least-one": never_by_less_than_one,
    "transposed-counts": counts_turned,
    "divides-columns": columns_divided,
    "keepdim-forgotten": no_keepdim,
    "pairs-across-rows": one_long_line,
    "unshifted-targets": pairs_with_itself,
    "lost-repeats": fancy_plus_equals,
    "denominator-without-V": one_k_below,
    "denominator-not-smoothed": nothing_below,
    "no-smoothing": smoothed_never,
    "smooths-probabilities": smoothed_too_late,
    "divides-by-occurrences": share_of_all_occurrences,
    "last-pair-left-out": lambda tokens, vocab_size, k: probabilities_by_loop(
        tokens[:, :-1], vocab_size, k
    ),
    "first-pair-left-out": lambda tokens, vocab_size, k: probabilities_by_loop(
        tokens[:, 1:], vocab_size, k
    ),
    "size-from-the-tokens": lambda tokens, vocab_size, k: probabilities_by_loop(
        tokens, len(tokens.unique()), k
    ),
}


# "row b of `tokens` is a text of its own": also if there is only one
def squeezed(tokens, vocab_size, k):
    tokens = tokens.squeeze()
    counts = torch.full((vocab_size, vocab_size), float(k))
    index = (tokens[..., :-1].reshape(-1), tokens[..., 1:].reshape(-1))
    counts.index_put_(index, torch.ones(index[0].shape), accumulate=True)
    return counts / counts.sum(1, keepdim=True)


# "A row of a single symbol has none", and "a symbol that is never followed … gets a uniform row"
def nothing_without_a_pair(tokens, vocab_size, k):
    table = probabilities_by_put(tokens, vocab_size, k)
    return table * (tokens.shape[1] > 1)


ODD = [
    (squeezed, "error"),
    (nothing_without_a_pair, "rows-do-not-sum-to-one"),
    (only_counts, "left-out-the-division-by-the-sums-of-the-rows-in-your-table"),
    (lambda tokens, vocab_size, k: torch.ones(vocab_size), "shape"),
    (
        lambda tokens, vocab_size, k: np.full((vocab_size, vocab_size), 0.5),
        "rows-do-not-sum-to-one",
    ),
    (lambda tokens, vocab_size, k: np.full((vocab_size,) * 2, 1 / vocab_size), "all-alike"),
    (lambda tokens, vocab_size, k: tokens[99], "error"),
]


# --- Answers that no list names ---


UNLISTED = {}
