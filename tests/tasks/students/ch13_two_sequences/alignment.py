"""Students' answers to 13/alignment."""

import numpy as np
import torch
import torch.nn.functional as F


def by_loop(
    weights, links, real, *, blind=False, first=False, single=False, later=0, empty=None, mean=False
):
    B, H, T, _ = weights.shape
    scores = []
    for h in range(H):
        good = total = 0
        for b in range(B):
            for t in range(T):
                made = links[b, t].nonzero().flatten().tolist()
                if not made:
                    good += empty or 0
                    total += empty is not None
                    continue
                total += 1
                row = (weights[b].mean(0) if mean else weights[b, h])[(t + later) % T].clone()
                if not blind:
                    row[~real[b]] = -1
                if first:
                    made = made[:1]
                if single and len(made) > 1:
                    made = []
                good += int(row.argmax()) in made
        scores.append(good / total)
    return torch.tensor(scores)


def in_numpy(weights, links, real):
    w, a, r = weights.numpy(), links.numpy(), real.numpy()
    best = np.where(r[:, None, None, :], w, -np.inf).argmax(-1)
    right = np.take_along_axis(a[:, None], best[..., None], -1)[..., 0]
    return right.sum((0, 2)) / a.any(-1).sum()


def with_one_hot(weights, links, real):
    best = (weights * real[:, None, None]).argmax(-1)
    hot = torch.nn.functional.one_hot(best, weights.shape[-1]).bool()
    right = torch.einsum("bhts,bts->h", hot.double(), links.double())
    return right / links.any(2).sum()


RIGHT = {"loop": by_loop, "numpy": in_numpy, "one-hot": with_one_hot}


def best_word_of_each_source_word(weights, links, real):
    best = weights.argmax(dim=2)  # (B, H, S)
    hits = links[:, None].expand(weights.shape).gather(2, best[:, :, None])[:, :, 0]
    counted = (links.any(dim=1) & real)[:, None]
    return (hits & counted).sum(dim=(0, 2)) / counted.sum()


# "Words without any link don't count", and all others do: also where a head looks at padding.
def words_that_look_at_padding_do_not_count(weights, links, real):
    best = weights.argmax(dim=-1)
    chosen = F.one_hot(best, weights.shape[-1]).bool()
    counts = (chosen & real[:, None, None]).any(dim=-1) & links.any(dim=-1)[:, None]
    right = (chosen & links[:, None]).any(dim=-1) & counts
    return right.sum(dim=(0, 2)) / counts.sum(dim=(0, 2)).clamp(min=1)


def row_predicts_the_next_word(weights, links, real):
    """Compares row t of the weights with the links of word t + 1, as if row t had predicted it."""
    weights, links = weights[:, :, :-1], links[:, 1:]
    best = weights.masked_fill(~real[:, None, None], -1.0).argmax(dim=-1)
    chosen = F.one_hot(best, weights.shape[-1]).bool()
    right = (chosen & links[:, None]).any(dim=-1)
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


WRONG = {
    "other-choice": row_predicts_the_next_word,
    "source-words-asked": best_word_of_each_source_word,
    "padding-lookers-left-out": words_that_look_at_padding_do_not_count,
}


ODD = [
    (lambda w, a, r: 3.7 * in_numpy(w, a, r), "constant-ratio"),
    (
        lambda w, a, r: by_loop(w[:, :, :-1], a[:, :-1], r) * a[:, :-1].any(-1).sum(),
        "other-choices",
    ),
    (lambda w, a, r: by_loop(w, a, r).sin() ** 2, "other-shares"),
    (lambda w, a, r: by_loop(w, a, r).squeeze(), "axis-of-one"),
]


# --- Answers that no list names ---


# "right if … the one with the largest weight is linked to it"
def more_than_half_of_the_weight(weights, links, real):
    weights = weights.masked_fill(~real[:, None, None], 0.0)
    right = (weights * links[:, None]).sum(dim=-1) > 0.5
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


# "among the real source words, the one with the largest weight": one of weight 0, where all the
# weight is on padding
def padding_times_zero(weights, links, real):
    best = (weights * real[:, None, None]).argmax(dim=-1)
    B, H, T, S = weights.shape
    right = links[:, None].expand(B, H, T, S).gather(-1, best[..., None]).squeeze(-1)
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


UNLISTED = {
    4: [(more_than_half_of_the_weight, "other-choice")],
}
ACCEPTED = {
    6: [(padding_times_zero, "It differs where all of a head's weight is on padding.")],
}
