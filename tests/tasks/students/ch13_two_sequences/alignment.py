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


def hits_of(weights, links, real):
    best = weights.masked_fill(~real[:, None, None], -1).argmax(-1)
    return torch.stack(
        [links.gather(2, best[:, h].unsqueeze(2)).squeeze(2) for h in range(weights.shape[1])], 1
    )


def any_head(weights, links, real):
    right = hits_of(weights, links, real).any(1)
    return (right.sum() / links.any(-1).sum()).repeat(weights.shape[1])


def of_samples(weights, links, real):
    one = [by_loop(weights[b : b + 1], links[b : b + 1], real[b : b + 1]) for b in range(len(real))]
    return torch.stack(one).mean(0)


def by_mass(weights, links, real):
    seen = torch.where(real[:, None, None], weights, 0)
    seen = seen / seen.sum(-1, keepdim=True)
    enough = torch.where(links[:, None], seen, 0).sum(-1) > 0.5
    return enough.sum((0, 2)) / links.any(-1).sum()


def down_columns(weights, links, real):
    B, H, T, S = weights.shape
    looks = torch.zeros(B, H, T, S, dtype=torch.bool)
    for b in range(B):
        for s in range(S):
            if real[b, s]:
                for h in range(H):
                    looks[b, h, weights[b, h, :, s].argmax(), s] = True
    right = (looks & links[:, None]).any(-1)
    return right.sum((0, 2)) / links.any(-1).sum()


def padding_behind(weights, links, real):
    first = torch.zeros_like(real)
    for b, count in enumerate(real.sum(1).tolist()):
        first[b, :count] = True
    return by_loop(weights, links, first)


def divided_by_links(weights, links, real):
    return hits_of(weights, links, real).sum((0, 2)) / links.float().sum()


def but(**how):
    return lambda *given: by_loop(*given, **how)


RIGHT = {"loop": by_loop, "numpy": in_numpy, "one-hot": with_one_hot}


def right_words(weights, links, real, linked, made=None):
    """(H,): how often what `linked` says of the places is so, of the words with a link."""
    made = links.any(-1) if made is None else made
    right = linked(weights * real[:, None, None], links[:, None]) & made[:, None]
    return right.sum((0, 2)) / made.sum()


def of_the_last_link(weights, links):
    last = links.long().cumsum(-1).argmax(-1)
    return weights.argmax(-1) == last


def of_one_row_before(weights, links, real):
    earlier = torch.cat([weights[:, :, -1:], weights[:, :, :-1]], dim=2)
    return in_numpy(earlier, links, real)


def place_by_place(weights, links, real):
    right = hits_of(weights, links, real)
    made = links.any(-1)
    each = right.sum(0) / made.sum(0).clamp(min=1)
    return each.mean(-1)


def more_than_any_other(weights, links):
    return (weights * links).sum(-1) > (weights * ~links - 1.0 * links).amax(-1)


def one_score_a_sample(weights, links, real):
    one = [by_loop(weights[b : b + 1], links[b : b + 1], real[b : b + 1]) for b in range(len(real))]
    return torch.stack(one)


def place_0_for_padding(weights, links, real):
    """Takes `argmax` first, and then multiplies the places by whether they are real."""
    best = weights.argmax(-1)  # (B, H, T)
    best = torch.stack([best[b] * real[b][best[b]] for b in range(len(best))])
    at_best = torch.nn.functional.one_hot(best, weights.shape[-1]).bool()
    return (at_best & links[:, None]).any(-1).sum((0, 2)) / links.any(-1).sum()


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


def one_of_the_two_best(weights, links, real):
    masked = weights.masked_fill(~real[:, None, None], -1.0)
    best = masked.topk(min(2, masked.shape[-1]), dim=-1).indices
    hits = links[:, None].expand(weights.shape).gather(-1, best).any(dim=-1)
    return hits.sum(dim=(0, 2)) / links.any(dim=-1).sum()


def weight_on_the_links(weights, links, real):
    inside = (weights * links[:, None] * real[:, None, None]).sum(dim=(0, 2, 3))
    return inside / links.any(dim=-1).sum()


WRONG = {
    "a-score-for-each-sample": one_score_a_sample,
    "one-score-for-all-heads": lambda *given: in_numpy(*given).mean(),
    "last-link-only": lambda *given: right_words(*given, of_the_last_link),
    "words-with-one-link": lambda weights, links, real: in_numpy(
        weights, links & (links.sum(-1, keepdim=True) == 1), real
    ),
    "first-sample-alone": lambda *given: in_numpy(*(part[:1] for part in given)),
    "row-before": of_one_row_before,
    "positions-averaged-first": place_by_place,
    "links-added-up": lambda *given: right_words(*given, more_than_any_other),
    "by-threshold": lambda *given: right_words(
        *given, lambda weights, links: ((weights > 0.3) & links).any(-1)
    ),
    "source-words-asked": best_word_of_each_source_word,
    "padding-behind": padding_behind,
    "divided-by-links": divided_by_links,
    "padding-lookers-left-out": words_that_look_at_padding_do_not_count,
    "mean-of-heads": but(mean=True),
    "best-of-heads": any_head,
    "unlinked-count": but(empty=0),
    "unlinked-right": but(empty=1),
    "samples-averaged-first": of_samples,
    "padding-looked-at": but(blind=True),
    "first-link-only": but(first=True),
    "several-links-wrong": but(single=True),
    "by-weight": by_mass,
    "columns": down_columns,
    "row-after": but(later=1),
    "counts": lambda w, a, r: by_loop(w, a, r) * a.any(-1).sum(),
    "two-chances": one_of_the_two_best,
    "weight-added": weight_on_the_links,
}


def row_predicts_the_next_word(weights, links, real):
    """Compares row t of the weights with the links of word t + 1, as if row t had predicted it."""
    weights, links = weights[:, :, :-1], links[:, 1:]
    best = weights.masked_fill(~real[:, None, None], -1.0).argmax(dim=-1)
    chosen = F.one_hot(best, weights.shape[-1]).bool()
    right = (chosen & links[:, None]).any(dim=-1)
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


ODD = [
    (row_predicts_the_next_word, "other-choices"),
    (place_0_for_padding, "other-choices"),
    (lambda w, a, r: 3.7 * in_numpy(w, a, r), "constant-ratio"),
    (lambda w, a, r: in_numpy(w[-1:], a[-1:], r[-1:]), "other-choices"),
    (
        lambda w, a, r: by_loop(w[:, :, :-1], a[:, :-1], r) * a[:, :-1].any(-1).sum(),
        "other-choices",
    ),
    (lambda w, a, r: by_loop(w, a, r).sin() ** 2, "other-shares"),
    (lambda w, a, r: 100 * by_loop(w, a, r), "other-choices"),
    (lambda w, a, r: by_loop(w, a, r).squeeze(), "axis-of-one"),
]


# --- Answers that no list names ---


# "right if … the one with the largest weight is linked to it"
def more_than_half_of_the_weight(weights, links, real):
    weights = weights.masked_fill(~real[:, None, None], 0.0)
    right = (weights * links[:, None]).sum(dim=-1) > 0.5
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


# "the one with the largest weight", however large it is.
def more_than_half_of_the_weight_of_set_5(weights, links, real):
    large = (weights * real[:, None, None]) > 0.5
    right = (large & links[:, None]).any(dim=-1)
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


# "among the real source words, the one with the largest weight": one of weight 0, where all the
# weight is on padding
def padding_times_zero(weights, links, real):
    best = (weights * real[:, None, None]).argmax(dim=-1)
    B, H, T, S = weights.shape
    right = links[:, None].expand(B, H, T, S).gather(-1, best[..., None]).squeeze(-1)
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


UNLISTED = {
    4: [(more_than_half_of_the_weight, "by-weight")],
    5: [(more_than_half_of_the_weight_of_set_5, "by-weight")],
}
ACCEPTED = {
    6: [(padding_times_zero, "It differs where all of a head's weight is on padding.")],
}
