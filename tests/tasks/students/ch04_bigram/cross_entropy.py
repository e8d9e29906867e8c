"""Students' answers to 04/cross-entropy."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def cross_entropy_by_loop(logits, targets):
    losses = []
    for row, aims in zip(logits.tolist(), targets.tolist(), strict=True):
        for scores, aim in zip(row, aims, strict=True):
            if aim < 0:
                continue
            top = max(scores)
            losses.append(top + math.log(sum(math.exp(s - top) for s in scores)) - scores[aim])
    return sum(losses) / len(losses)


def cross_entropy_by_where(logits, targets):
    counted = (targets >= 0).to(logits.dtype)
    safe = targets.clamp(min=0).unsqueeze(-1)
    losses = logits.logsumexp(-1) - logits.gather(-1, safe).squeeze(-1)
    return (losses * counted).sum() / counted.sum()


def cross_entropy_by_library(logits, targets):
    keep = targets.reshape(-1) >= 0
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1])[keep], targets.reshape(-1)[keep])


def cross_entropy_in_numpy(logits, targets):
    logits, targets = logits.numpy(), targets.numpy()
    z = logits - logits.max(-1, keepdims=True)
    b, t = np.nonzero(targets >= 0)
    logs = z - np.log(np.exp(z).sum(-1, keepdims=True))
    return np.float32(-logs[b, t, targets[b, t]].mean())


# A product of the floats that are given with floats of one's own
def cross_entropy_by_matrices(logits, targets):
    z, y = logits.flatten(0, 1), targets.flatten()
    chosen = torch.zeros(len(y), z.shape[1])
    chosen[torch.arange(len(y)), y.clamp(min=0)] = (y >= 0).float()
    losses = (torch.logsumexp(z, 1, keepdim=True) - z) * chosen
    return torch.ones(len(y)) @ losses.sum(1) / (y >= 0).sum()


def by_hand(log_p, targets):
    keep = targets >= 0
    return -(log_p[keep] * F.one_hot(targets[keep], log_p.shape[-1])).sum(-1)


def probabilities_as_logits(logits, targets):
    return cross_entropy_by_library(F.softmax(logits, -1), targets)


def raw_into_library(logits, targets):
    return nn.CrossEntropyLoss()(logits, targets)


def plus_in_front(logits, targets):
    return F.log_softmax(logits, -1)[targets >= 0].gather(1, targets[targets >= 0, None]).mean()


def sum_of_losses(logits, targets):
    return F.cross_entropy(
        logits.flatten(0, 1), targets.clamp(min=-1).flatten(), reduction="sum", ignore_index=-1
    )


def in_bits(logits, targets):
    keep = targets >= 0
    z = logits - logits.max(-1, keepdim=True).values
    p = z.exp() / z.exp().sum(-1, keepdim=True)
    return -p[keep, targets[keep]].log2().mean()


def over_positions(logits, targets):
    z = logits - logits.max(1, keepdim=True).values
    log_p = z - z.exp().sum(1, keepdim=True).log()
    keep = targets >= 0
    return -log_p[keep, targets[keep]].mean()


def chapters_line(logits, targets):
    B, T, V = logits.shape
    return F.cross_entropy(logits.view(B * T, V), targets.view(B * T))


def divided_by_all(logits, targets):
    losses = (
        torch.logsumexp(logits, -1) - logits.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    )
    return (losses * (targets >= 0)).mean()


def ignored_set_to_zero(logits, targets):
    targets = torch.where(targets < 0, 0, targets)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def rows_first(logits, targets):
    return sum(
        cross_entropy_by_library(logits[b : b + 1], targets[b : b + 1]) for b in range(len(logits))
    ) / len(logits)


def plain_exponentials(logits, targets):
    e = torch.exp(logits)
    p = e / e.sum(-1, keepdim=True)
    return by_hand(torch.log(p), targets).mean()


def log_after_softmax(logits, targets):
    p = torch.softmax(logits, dim=-1)
    keep = targets >= 0
    return -torch.log(p[keep].gather(1, targets[keep].unsqueeze(1)) + 1e-12).mean()


RIGHT = {
    "loop": cross_entropy_by_loop,
    "where": cross_entropy_by_where,
    "library": cross_entropy_by_library,
    "numpy": cross_entropy_in_numpy,
    "double precision": lambda z, y: cross_entropy_by_where(z.double(), y),
    "matrices of targets": cross_entropy_by_matrices,
}


def last_position(logits, targets):
    return F.cross_entropy(logits[:, -1], targets[:, -1].clamp(min=-1), ignore_index=-1)


def one_shift_for_all(logits, targets):
    keep = targets >= 0
    z, y = logits[keep] - logits.max(), targets[keep]
    return (z.exp().sum(1).log() - z[torch.arange(len(y)), y]).mean()


def limited(logits, targets):
    z = torch.where(logits > 30, torch.full_like(logits, 30), logits)
    return cross_entropy_by_loop(z, targets)


# "the mean over all targets that count", whichever sample they are in
def rows_by_their_share(logits, targets):
    count = (targets >= 0).sum(1)
    means = [
        F.cross_entropy(z, y.clamp(min=-1), ignore_index=-1)
        for z, y in zip(logits, targets, strict=True)
    ]
    return (torch.stack(means) * count).sum() / count.sum()


# "Logits may be in the hundreds": below 0, too
def largest_so_far(logits, targets):
    largest = torch.zeros(logits.shape[:-1], dtype=logits.dtype)
    for j in range(logits.shape[-1]):
        largest = torch.maximum(largest, logits[..., j])
    z = logits - largest[..., None]
    return by_hand(z - z.exp().sum(-1, keepdim=True).log(), targets).mean()


# "all of them or a single one"
def smallest_subtracted(logits, targets):
    z = logits - logits.amin(-1, keepdim=True)
    return by_hand(z - z.exp().sum(-1, keepdim=True).log(), targets).mean()


def limited_below(logits, targets):
    return cross_entropy_by_library(logits.clamp(min=-60), targets)


def up_to_the_first_negative(logits, targets):
    losses = []
    for row, aims in zip(logits, targets.tolist(), strict=True):
        for scores, aim in zip(row, aims, strict=True):
            if aim < 0:
                break
            losses.append(torch.logsumexp(scores, 0) - scores[aim])
    return torch.stack(losses).mean() if losses else torch.zeros(())


def chosen_before_the_shape(logits, targets):
    z = logits[targets >= 0].view(*logits.shape)
    return cross_entropy_by_where(z, targets)


# (B, T, V): `dim=1` is that of the symbols in (N, V) only
def largest_over_positions(logits, targets):
    z = logits - logits.max(1, keepdim=True).values
    log_p = z - z.exp().sum(-1, keepdim=True).log()
    return by_hand(log_p, targets).mean()


def loss_only_minus_one(logits, targets):
    z = logits - logits.max(-1, keepdim=True).values
    lp = z - z.exp().sum(-1, keepdim=True).log()
    keep = targets != -1
    return -lp[keep].gather(1, targets[keep].clamp(min=0)[:, None]).mean()


# −log(1 − p) of the symbols that don't come, too
def every_symbol_by_itself(logits, targets):
    p, counted = logits.softmax(-1), targets >= 0
    hit = F.one_hot(targets.clamp(min=0), logits.shape[-1]).bool()
    return -torch.where(hit, p, 1 - p).log().sum(-1)[counted].mean()


def never_below(logits, targets):
    total, n = 0.0, 0
    for row, aims in zip(torch.softmax(logits, -1), targets, strict=True):
        for shares, aim in zip(row, aims.tolist(), strict=True):
            if aim >= 0:
                total, n = total - torch.log(torch.maximum(shares[aim], torch.tensor(1e-6))), n + 1
    return total / n


WRONG = {
    "probabilities-limited": never_below,
    "one-number-ignored": loss_only_minus_one,
    "binary-loss": every_symbol_by_itself,
    "maximum-over-time": largest_over_positions,
    "mean-of-no-targets": rows_by_their_share,
    "maximum-from-zero": largest_so_far,
    "not-the-maximum": smallest_subtracted,
    "large-logits-alike": limited,
    "one-position-only": last_position,
    "global-maximum": one_shift_for_all,
    "softmax-before-cross-entropy": probabilities_as_logits,
    "loss-not-flattened": raw_into_library,
    "sign-forgotten": plus_in_front,
    "bits-not-nats": in_bits,
    "softmax-over-time": over_positions,
    "ignored-indexed": chapters_line,
    "ignored-counted": divided_by_all,
    "ignored-as-zero": ignored_set_to_zero,
    "mean-of-row-means": rows_first,
    "overflow": plain_exponentials,
    "log-of-softmax": log_after_softmax,
    "symbol-0-ignored": lambda logits, targets: cross_entropy_by_loop(
        logits, targets - (targets == 0).long()
    ),
}


def loss_squared(logits, targets):
    keep = targets >= 0
    p = logits[keep].softmax(-1)
    return (1 - p[torch.arange(len(p)), targets[keep]]).square().mean()


ODD = [
    (lambda z, y: z.logsumexp(-1), "shape"),
    (
        lambda z, y: cross_entropy_by_loop(z, y) + 1,
        "subtracted-1-from-the-log-probabilities",
    ),
    (loss_squared, "another-surprise"),
    (sum_of_losses, "used-sum-instead-of-mean-in-your-loss"),
    (limited_below, "large-logits-alike"),
    (up_to_the_first_negative, "negative-targets"),
    (chosen_before_the_shape, "error"),
]


# --- Answers that no list names ---


def loss_of_the_median(logits, targets):
    keep = targets >= 0
    s = -logits[keep].log_softmax(-1).gather(1, targets[keep][:, None])
    return s.median()


# "Unless a task says otherwise, your functions leave what they are given as it was."
def negative_targets_become_zero(logits, targets):
    counted = (targets >= 0).float()
    targets[targets < 0] = 0
    z = logits - logits.amax(dim=-1, keepdim=True)
    log_probabilities = z - z.exp().sum(dim=-1, keepdim=True).log()
    given = log_probabilities.gather(2, targets[:, :, None]).squeeze(2)
    return -(given * counted).sum() / counted.sum()


# Knows `ignore_index` of PyTorch and its default: "*Negative* targets don't count, whether they
# are −1, −100 or another number."
def only_minus_hundred_is_ignored(logits, targets):
    counted = targets != -100
    z, y = logits[counted], targets[counted]
    z = z - z.max(dim=1, keepdim=True).values
    log_probabilities = z - z.exp().sum(dim=1, keepdim=True).log()
    return -log_probabilities[torch.arange(len(y)), y].mean()


UNLISTED = {
    1: [(loss_of_the_median, "another-loss")],
    5: [(negative_targets_become_zero, "changes-its-input")],
    9: [(only_minus_hundred_is_ignored, "ignored-indexed")],
}
