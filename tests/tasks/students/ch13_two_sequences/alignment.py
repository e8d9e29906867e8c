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


def _chosen(weights, links, real):
    best = weights.masked_fill(~real[:, None, None], -1.0).argmax(dim=-1)
    return (F.one_hot(best, weights.shape[-1]).bool() & links[:, None]).any(dim=-1)


def mean_of_the_samples_shares(weights, links, real):
    right = _chosen(weights, links, real).float()
    counted = links.any(dim=-1)[:, None]
    share = (right * counted).sum(dim=2) / counted.sum(dim=2).clamp(min=1)
    return share[links.any(dim=(1, 2))].mean(dim=0)


def over_half_of_the_weight(weights, links, real):
    inside = (weights * links[:, None]).sum(dim=-1) > 0.5
    return inside.sum(dim=(0, 2)) / links.any(dim=-1).sum()


def _hidden(weights, real):
    return weights.masked_fill(~real[:, None, None], -1.0)


def alignment_with_the_first_link(weights, links, real):
    best = _hidden(weights, real).argmax(dim=-1)
    right = (best == links.float().argmax(dim=-1)[:, None]) & links.any(dim=-1)[:, None]
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


def _right(weights, links):
    best = weights.argmax(dim=-1)
    return links[:, None].expand_as(weights).gather(-1, best[..., None]).squeeze(-1)


def alignment_of_all_rows(weights, links, real):
    return _right(_hidden(weights, real), links).float().mean(dim=(0, 2))


def alignment_by_weight(weights, links, real):
    """The mean weight on the linked words, not how often the largest is on one."""
    on_links = (weights * links[:, None]).sum(dim=(0, 2, 3))
    return on_links / links.any(dim=-1).sum()


def more_than_half_on_the_links(weights, links, real):
    words = weights * real[:, None, None]
    words = words / words.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    right = (words * links[:, None]).sum(dim=-1) > 0.5
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


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


# "the one with the largest weight is linked to it": not "most of its weight is on words that are"
def most_of_the_weight(weights, links, real):
    weights = weights * real[:, None, None]
    weights = weights / weights.sum(dim=-1, keepdim=True)
    right = (weights * links[:, None]).sum(dim=-1) > 0.5
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


# "A row may have one link, several or none": here the first link is the only one that counts
def first_link_only(weights, links, real):
    best = weights.masked_fill(~real[:, None, None], -torch.inf).argmax(dim=-1)
    origin = links.int().argmax(dim=-1)
    counted = links.any(dim=-1)
    right = (best == origin[:, None]) & counted[:, None]
    return right.sum(dim=(0, 2)) / counted.sum()


# "among the real source words, the one with the largest weight": one of weight 0, where all the
# weight is on padding
def padding_times_zero(weights, links, real):
    best = (weights * real[:, None, None]).argmax(dim=-1)
    B, H, T, S = weights.shape
    right = links[:, None].expand(B, H, T, S).gather(-1, best[..., None]).squeeze(-1)
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


# Averages the samples, each with its own share.
# "over all words of all samples that count": all words weigh the same
def mean_of_the_samples(weights, links, real):
    B, H, T = weights.shape[:3]
    scores = []
    for b in range(B):
        w = weights[b][:, :, real[b]]
        link = links[b][:, real[b]]
        counted = links[b].any(dim=-1)
        if not counted.any():
            continue
        best = w.argmax(dim=-1)
        right = torch.stack([link[torch.arange(T), best[h]] for h in range(H)])
        scores.append(right[:, counted].float().mean(dim=1))
    return torch.stack(scores).mean(dim=0)


# Takes the mean over words and samples, with False where nothing is linked.
# "Words without any link don't count."
def unlinked_words_as_wrong(weights, links, real):
    weights = weights.masked_fill(~real[:, None, None, :], 0.0)
    best = weights.argmax(dim=-1)
    expanded = links[:, None].expand(-1, weights.shape[1], -1, -1)
    right = expanded.gather(-1, best.unsqueeze(-1)).squeeze(-1)
    return right.float().mean(dim=(0, 2))


# Computes a share for each sample, as one does for a table of results.
# "over all words of all samples that count"
def mean_of_the_samples_of_set_8(weights, links, real):
    shares = []
    for w, link, r in zip(weights, links, real, strict=True):
        best = w.masked_fill(~r, -torch.inf).argmax(dim=-1)  # (H, T)
        right = torch.stack([link.gather(1, b[:, None])[:, 0] for b in best])  # (H, T)
        counts = link.any(dim=-1)
        if counts.any():
            shares.append(right[:, counts].float().mean(dim=1))
    return torch.stack(shares).mean(dim=0)


# Turned the links into the origins of the chapter, of which there was one for each word.
# "A row may have one link, several or none."
def first_link_alone(weights, links, real):
    origin = links.int().argmax(dim=-1)  # (B, T)
    linked = links.any(dim=-1)
    best = weights.masked_fill(~real[:, None, None, :], 0.0).argmax(dim=-1)  # (B, H, T)
    right = (best == origin[:, None]) & linked[:, None]
    return right.sum(dim=(0, 2)) / linked.sum()


# A statistician, who adds up the weight on all the origins and asks for a majority.
# "the one with the largest weight is linked to it"
def majority_on_the_links(weights, links, real):
    weights = weights * real[:, None, None, :]
    weights = weights / weights.sum(dim=-1, keepdim=True)
    linked = (weights * links[:, None]).sum(dim=-1)  # (B, H, T)
    counts = links.any(dim=-1)  # (B, T)
    right = (linked > 0.5) & counts[:, None]
    return right.sum(dim=(0, 2)) / counts.sum()


# One who adapted the chapter's line, which knew a single origin.
# "A row may have one link, several or none."
def first_link_only_of_set_9(weights, links, real):
    origin = links.int().argmax(dim=-1)  # (B, T)
    counts = links.any(dim=-1)
    best = weights.masked_fill(~real[:, None, None, :], 0.0).argmax(dim=-1)
    right = (best == origin[:, None]) & counts[:, None]
    return right.float().sum(dim=(0, 2)) / counts.sum()


# One who takes the mean of the samples' shares.
# "over all words of all samples that count"
def shares_of_samples(weights, links, real):
    best = weights.masked_fill(~real[:, None, None, :], -torch.inf).argmax(dim=-1)
    chosen = F.one_hot(best, weights.shape[-1]).bool()
    right = (chosen & links[:, None]).any(dim=-1)  # (B, H, T)
    counts = links.any(dim=-1).sum(dim=-1).clamp(min=1)  # (B,)
    return (right.sum(dim=-1) / counts[:, None]).mean(dim=0)


# Knows from the chapter that each word has one link, and counts links where words are meant.
# "Return the share of right words for each head, over all words of all samples that count."
def share_of_the_links(weights, links, real):
    weights = weights.masked_fill(~real[:, None, None, :], float("-inf"))
    best = weights.argmax(dim=-1, keepdim=True)  # (B, H, T, 1)
    every_head = links[:, None].expand(weights.shape)
    right = every_head.gather(3, best).squeeze(3)
    return right.float().sum(dim=(0, 2)) / links.sum()


# Counts what is True in `links`, although a word may have several: "the share of right words",
# over all words that count
def share_of_the_links_of_set_11(weights, links, real):
    masked = weights.masked_fill(~real[:, None, None, :], float("-inf"))
    best = masked.argmax(dim=-1, keepdim=True)
    B, H, T, S = weights.shape
    right = links[:, None].expand(B, H, T, S).gather(-1, best).squeeze(-1)
    return right.float().sum(dim=(0, 2)) / links.sum()


def more_on_links_than_elsewhere(weights, links, real):
    """Calls a word right if all linked words together have more weight than all the others."""
    weights = weights * real[:, None, None]
    linked = (weights * links[:, None]).sum(dim=-1)
    right = linked > weights.sum(dim=-1) - linked
    counts = links.any(dim=-1)
    return (right & counts[:, None]).sum(dim=(0, 2)) / counts.sum()


def only_the_first_link(weights, links, real):
    """Takes the first link of a word for its only one, so its other origins count as wrong."""
    best = weights.masked_fill(~real[:, None, None], -1.0).argmax(dim=-1)  # (B, H, T)
    counts = links.any(dim=-1)  # (B, T)
    origin = links.int().argmax(dim=-1)  # (B, T)
    right = (best == origin[:, None]) & counts[:, None]
    return right.sum(dim=(0, 2)) / counts.sum()


def looks_at_padding_not_counted(weights, links, real):
    """Leaves a word out for a head that looks most at padding, and doesn't take its best word."""
    best = weights.argmax(dim=-1)  # (B, H, T)
    B, H, T, S = weights.shape
    right = links[:, None].expand(B, H, T, S).gather(3, best[..., None])[..., 0]
    at_word = real[:, None, None].expand(B, H, T, S).gather(3, best[..., None])[..., 0]
    counts = links.any(dim=-1)[:, None] & at_word  # (B, H, T)
    return (right & counts).sum(dim=(0, 2)) / counts.sum(dim=(0, 2)).clamp(min=1)


def links_add_up(weights, links, real):
    """Adds up the weights of all linked words and compares the sum with the largest other word."""
    weights = weights * real[:, None, None]  # padding gets 0
    links = links[:, None]  # (B, 1, T, S)
    linked = (weights * links).sum(dim=-1)  # (B, H, T)
    others = weights.masked_fill(links, 0.0).amax(dim=-1)  # (B, H, T)
    counts = links.any(dim=-1)  # (B, 1, T)
    right = (linked > others) & counts
    return right.sum(dim=(0, 2)) / counts.sum()


def row_before_the_word(weights, links, real):
    """Takes row t − 1 for word t, as if row t were the attention after word t has been read."""
    weights, links = weights[:, :, :-1], links[:, 1:]
    best = weights.masked_fill(~real[:, None, None], -1.0).argmax(dim=-1)  # (B, H, T − 1)
    chosen = F.one_hot(best, weights.shape[-1]).bool()
    right = (chosen & links[:, None]).any(dim=-1)  # (B, H, T − 1)
    return right.sum(dim=(0, 2)) / links.any(dim=-1).sum()


UNLISTED = {
    1: [
        mean_of_the_samples_shares,
        weight_on_the_links,
        over_half_of_the_weight,
        one_of_the_two_best,
        best_word_of_each_source_word,
    ],
    2: [alignment_with_the_first_link, alignment_of_all_rows, alignment_by_weight],
    3: [more_than_half_on_the_links],
    4: [more_than_half_of_the_weight],
    5: [more_than_half_of_the_weight_of_set_5, words_that_look_at_padding_do_not_count],
    6: [most_of_the_weight, first_link_only, padding_times_zero],
    7: [mean_of_the_samples, unlinked_words_as_wrong],
    8: [mean_of_the_samples_of_set_8, first_link_alone],
    9: [majority_on_the_links, first_link_only_of_set_9, shares_of_samples],
    10: [share_of_the_links],
    11: [share_of_the_links_of_set_11],
    12: [more_on_links_than_elsewhere],
    13: [only_the_first_link, looks_at_padding_not_counted, row_predicts_the_next_word],
    14: [links_add_up],
    15: [row_before_the_word],
}
ACCEPTED = {
    "padding_times_zero": ("It differs where all of a head's weight is on padding."),
}
