"""Students' answers to 01/masked-softmax."""

import math

import torch
from torch.nn import functional as F


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


def masked_by_logarithms(scores, visible):
    seen = scores.where(visible, scores.new_tensor(-torch.inf))
    return (seen - seen.logsumexp(dim=2, keepdim=True)).exp()


def masked_minus_a_hundred(scores, visible):
    """Far enough below for scores of a few units, and not for those below −100."""
    return scores.masked_fill(~visible, -100.0).softmax(dim=-1)


def masked_in_place_of_a_copy(scores, visible):
    scores.clone().masked_fill_(~visible, -torch.inf)
    return F.softmax(scores, dim=-1)


def masked_by_product(scores, visible):
    return (scores * visible).softmax(dim=-1)


def masked_one_over_a_billion(scores, visible):
    return torch.where(visible, scores, torch.full_like(scores, -1e-9)).softmax(-1)


def masked_late(scores, visible):
    return F.softmax(scores, dim=-1).masked_fill(~visible, 0)


def masked_hint_of_a_mask(scores, visible):
    """Takes 1 from hidden scores: they count less, but they count."""
    return (scores - (~visible).float()).softmax(dim=-1)


def masked_all_at_once(scores, visible):
    weights = torch.zeros(scores.shape, dtype=scores.dtype)
    weights[visible] = F.softmax(scores[visible], dim=-1)
    return weights


RIGHT = {
    "where": masked_where,
    "by hand": masked_by_hand,
    "−1e9": masked_large_number,
    "added bias": masked_added,
    "loop": masked_loop,
    "logarithms": masked_by_logarithms,
}


def masked_share_handed_back(scores, visible):
    """Spreads what the hidden positions had, row by row, over the visible ones."""
    weights = scores.softmax(-1)
    for row, seen in zip(weights.flatten(0, 1), visible.flatten(0, 1), strict=True):
        share = row[~seen].sum() / seen.sum()
        row[seen] += share
        row[~seen] = 0
    return weights


WRONG = {
    "scores-ignored": lambda scores, visible: visible / visible.sum(-1, keepdim=True),
    "softmax-over-batch": lambda scores, visible: torch.where(
        visible, scores, torch.tensor(-torch.inf)
    ).softmax(0),
    "hidden-score-sets-the-scale": masked_renormalised,
    "hidden-share-dealt-out": masked_share_handed_back,
    "softmax-twice": lambda scores, visible: torch.softmax(
        torch.where(visible, F.softmax(scores, -1), -math.inf), -1
    ),
    "inverted-mask": lambda scores, visible: masked_where(scores, ~visible),
    "dropped-result": masked_in_place_of_a_copy,
    "tiny-fill": masked_one_over_a_billion,
    "zero-mask": masked_by_product,
    "plus-infinity": lambda scores, visible: F.softmax(
        torch.where(visible, scores, torch.tensor(math.inf)), dim=-1
    ),
    "masked-after-softmax": masked_late,
    "softmax-over-queries": lambda scores, visible: F.softmax(
        scores.masked_fill(visible == 0, -1e30), dim=1
    ),
    "one-softmax-for-all": masked_all_at_once,
    "scores-returned": lambda scores, visible: torch.where(visible, scores, -torch.inf),
    "mask-turned": lambda scores, visible: masked_where(scores, visible.mT),
    "causal-too": lambda scores, visible: torch.nan_to_num(masked_where(scores, visible.tril())),
    "mask-of-the-first-sample": lambda scores, visible: masked_where(scores, visible[0]),
    "largest-alone": lambda scores, visible: F.one_hot(
        scores.masked_fill(~visible, -math.inf).argmax(-1), scores.shape[-1]
    ),
    "lowered": masked_hint_of_a_mask,
}


def masked_nothing_of_one(scores, visible):
    """A softmax over one score is taken for no choice at all."""
    return masked_by_hand(scores, visible) if scores.shape[-1] > 1 else torch.zeros_like(scores)


def masked_by_what_is_hidden(scores, visible):
    """Divides by how much is hidden, which may be nothing."""
    hidden = (~visible).sum(-1, keepdim=True)
    return masked_by_hand(scores, visible) * hidden / hidden if scores.shape[-1] > 1 else visible


def masked_not_for_one_sample(scores, visible):
    return masked_by_hand(scores, visible) if len(scores) > 1 else scores.softmax(-1)


ODD = [
    (
        lambda scores, visible: scores.masked_fill(~visible, -math.inf).exp(),
        "rows-do-not-sum-to-one",
    ),
    (
        lambda scores, visible: masked_where(scores, visible).log(),
        "used-log-softmax-instead-of-softmax-in-your-weights",
    ),
    (lambda scores, visible: masked_where(-scores, visible), "scores-times-a-factor"),
    (
        lambda scores, visible: masked_where(scores, torch.ones(scores.shape).tril() == 1),
        "sees-what-is-hidden",
    ),
    (lambda scores, visible: masked_where(scores, visible).mT, "transposed-your-weights"),
    (
        lambda scores, visible: masked_where(scores, visible[-1]),
        "used-the-last-item-of-what-you-hide-for-all-items",
    ),
    (masked_minus_a_hundred, "tiny-fill"),
    (lambda scores, visible: masked_by_hand(scores, visible).sum(-1), "shape"),
    (lambda scores, visible: masked_by_hand(scores, visible).squeeze(0), "axis-of-one"),
    (masked_nothing_of_one, "wrong-for-one-position"),
    (masked_by_what_is_hidden, "not-finite"),
    (masked_not_for_one_sample, "sees-what-is-hidden"),
]


# --- Answers that no list names ---


def softmax_of_cleaned(scores, visible):
    s = scores.masked_fill(~visible, -torch.inf)
    s = s - s.mean(-1, keepdim=True)
    return s.softmax(-1).nan_to_num()


def softmax_of_half(scores, visible):
    return (scores / 2).masked_fill(~visible, -torch.inf).softmax(-1)


# "Unless a task says otherwise, your functions leave what they are given as it was."
def hides_in_the_argument(scores, visible):
    scores[~visible] = -torch.inf
    return torch.softmax(scores, dim=-1)


# Renormalizes with a function found by its name, whose default is the Euclidean length.
# "every row sums to 1": here the squares do
def normalized_by_length(scores, visible):
    weights = torch.softmax(scores, dim=-1)
    weights = weights * visible
    return F.normalize(weights, dim=-1)


UNLISTED = {
    1: [(softmax_of_cleaned, "emptied"), (softmax_of_half, "scores-times-a-factor")],
    5: [(hides_in_the_argument, "changes-its-input")],
    11: [(normalized_by_length, "rows-do-not-sum-to-one")],
}
