"""Students' answers to 11/prefix-matching."""

import numpy as np
import torch


def counted(
    weights, tokens, behind=1, which=slice(None), every=False, combine=sum, by_text=False,
    begin=0, blank=None, later=False,
):  # fmt: skip
    """Position by position; what differs between answers are the settings."""
    B, H, T, _ = weights.shape
    scores = []
    for head in range(H):
        texts = []
        for b in range(B):
            found = []
            for t in range(T):
                places = [
                    s
                    for s in range(begin, t)
                    if tokens[b, s] == tokens[b, t] and tokens[b, s] != blank
                ]
                if not places and not every and not (later and tokens[b, t] in tokens[b, t + 1 :]):
                    continue
                seen = [s + behind for s in places if 0 <= s + behind < T][which]
                found.append(combine([float(weights[b, head, t, s]) for s in seen] or [0.0]))
            texts.append(found)
        if by_text:
            scores.append(float(np.mean([np.mean(found) if found else 0.0 for found in texts])))
        else:
            together = [value for found in texts for value in found]
            scores.append(float(np.mean(together)) if together else 0.0)
    return torch.tensor(scores)


def in_numpy(weights, tokens):
    w, x = weights.numpy(), tokens.numpy()
    T = x.shape[1]
    same = (x[:, :, None] == x[:, None]) & np.tri(T, k=-1, dtype=bool)
    behind = np.pad(same[:, :, :-1], ((0, 0), (0, 0), (1, 0)))
    rows = same.any(-1)
    if not rows.any():
        return np.zeros(w.shape[1])
    return np.einsum("bhts,bts->h", w, behind) / rows.sum()


def shifted_weights(weights, tokens):
    """The weights move instead of the symbols."""
    left = torch.cat([weights[..., 1:], torch.zeros_like(weights[..., :1])], dim=-1)
    same = torch.tril(tokens.unsqueeze(-1) == tokens.unsqueeze(-2), -1)
    asked = same.any(-1)
    per_row = (left * same.unsqueeze(1)).sum(-1)
    return torch.stack(
        [row[asked].mean() if asked.any() else row.sum() * 0 for row in per_row.transpose(0, 1)]
    )


def favourite(weights, tokens):
    hits, asked = torch.zeros(weights.shape[1]), 0
    for b, row in enumerate(tokens.tolist()):
        for t in range(len(row)):
            places = {s + 1 for s in range(t) if row[s] == row[t]}
            if places:
                asked += 1
                hits += torch.tensor([int(k) in places for k in weights[b, :, t].argmax(-1)])
    return hits / max(asked, 1)


def no_guard(weights, tokens):
    same = torch.tril(tokens.unsqueeze(-1) == tokens.unsqueeze(-2), -1)
    found = torch.einsum("bhts,bts->h", weights[..., 1:], same[..., :-1].float())
    return found / same.any(-1).sum()


def masks_in_turn(weights, tokens):
    """One row after the other of all heads of all texts, with the texts going round."""
    B, H, T, _ = weights.shape
    totals, count = [0.0] * H, 0
    for b in range(B):
        count += sum(int(tokens[b, t] in tokens[b, :t]) for t in range(T))
    for row in range(B * H):
        b, h = divmod(row, H)
        other = tokens[row % B]
        for t in range(1, T):
            hits = (other[:t] == other[t]).nonzero().flatten() + 1
            totals[h] += float(weights[b, h, t, hits].sum())
    return torch.tensor(totals) / max(count, 1)


def rolled_first(w, x):
    """The matches roll while they still hold the future."""
    moved = torch.roll(x[:, :, None] == x[:, None, :], 1, dims=2)
    moved = moved * torch.ones(x.shape[1], x.shape[1]).tril()
    came = torch.tensor([[int(v) in row[:t] for t, v in enumerate(row)] for row in x.tolist()])
    return torch.einsum("bhts,bts->h", w, moved) / came.sum().clamp(min=1)


def where_found(w, x):
    """The mean of what is above 0."""
    same = torch.tril(x.unsqueeze(-1) == x.unsqueeze(-2), -1)
    found = (w[..., 1:] * same[:, None, :, :-1]).sum(-1)
    return torch.stack([(f[f > 0].mean() if (f > 0).any() else f.sum()) for f in found.unbind(1)])


RIGHT = {"loops": counted, "numpy": in_numpy, "shifted weights": shifted_weights}


# "If no token comes back at all, every score is 0": there is one for each head
def one_zero_for_all_heads(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    if not same.any():
        return torch.tensor(0.0)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    return found / same.any(dim=-1).sum()


# "all positions s + 1 where s < t holds the same token": t itself is one where its token has just
# been.
def itself_is_left_out(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-2)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    earlier = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    return found / earlier.any(dim=-1).sum().clamp(min=1)


# "over all such positions of all texts": each text overwrites the one before.
def only_the_last_text(weights, tokens):
    for w, row in zip(weights, tokens, strict=True):
        same = (row[:, None] == row[None, :]).tril(-1)
        found = (w[..., 1:] * same[:, :-1]).sum(dim=(1, 2))
        score = found / same.any(dim=-1).sum().clamp(min=1)
    return score


def mean_over_places(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    return found / same.sum().clamp(min=1)


def one_score_for_all_heads(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    score = found / same.any(dim=-1).sum().clamp(min=1)
    return score.mean().expand(len(score))


WRONG = {
    "divided-by-the-heads": lambda w, x: counted(w, x) / len(w[0]),
    "rolled-round": rolled_first,
    "only-where-found": where_found,
    "one-zero-for-all": one_zero_for_all_heads,
    "itself-left-out": itself_is_left_out,
    "one-text-alone": only_the_last_text,
    "duplicate-token": lambda w, x: counted(w, x, behind=0),
    "one-before": lambda w, x: counted(w, x, behind=-1),
    "two-behind": lambda w, x: counted(w, x, behind=2),
    "new-symbols-counted": lambda w, x: counted(w, x, every=True),
    "mean-of-texts": lambda w, x: counted(w, x, by_text=True),
    "last-place-only": lambda w, x: counted(w, x, which=slice(-1, None)),
    "first-place-only": lambda w, x: counted(w, x, which=slice(1)),
    "largest-weight": lambda w, x: counted(w, x, combine=max),
    "rows-for-columns": lambda w, x: counted(w.transpose(2, 3), x),
    "argmax-counted": favourite,
    "nothing-divided": no_guard,
    "each-place-counted": mean_over_places,
    "mean-of-places": lambda w, x: counted(w, x, combine=lambda seen: sum(seen) / len(seen)),
    "position-0-left-out": lambda w, x: counted(w, x, begin=1),
    "token-0-left-out": lambda w, x: counted(w, x, blank=0),
    "last-position-left-out": lambda w, x: counted(w[:, :, :-1, :-1], x[:, :-1]),
    "later-places-counted": lambda w, x: counted(w, x, later=True),
    "another-score-for-none": lambda w, x: torch.where(
        torch.tensor(all(len(set(row)) == len(row) for row in x.tolist())), 1.0, counted(w, x)
    ),
    "places-of-other-texts": masks_in_turn,
    "heads-averaged": one_score_for_all_heads,
}


def counted_over_all_texts(w, x):
    """The right sums, divided by the number of tokens that came before in any text."""
    right = counted(w, x)
    asked = sum(len(row) - len(set(row)) for row in x.tolist())
    return right * asked / max(1, x.numel() - len(set(x.flatten().tolist())))


def best_text(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(2, 3))
    return (found / same.any(dim=-1).sum(dim=1).clamp(min=1)[:, None]).amax(dim=0)


ODD = [
    (counted_over_all_texts, "right-for-one-text"),
    (best_text, "one-text-alone"),
    (
        lambda weights, tokens: only_the_last_text(weights.flip(0), tokens.flip(0)),
        "one-text-alone",
    ),
    (lambda w, x: counted(w, x) + 0.1, "weights-counted"),
    (lambda w, x: w.sum(-1), "shape"),
    (lambda w, x: counted(w, x).mean(), "shape"),
    (lambda w, x: counted(w, x[:1].expand_as(x)), "right-for-one-text"),
    (lambda w, x: counted(w, x) * len(set(x[0].tolist())) / 9, "weights-counted"),
    (lambda w, x: x[99], "error"),
    (lambda w, x: counted(w, x).squeeze(), "axis-of-one"),
]


# --- Answers that no list names ---


def last_place_only(weights, tokens):
    B, H, T, _ = weights.shape
    total, count = torch.zeros(H), 0
    for b in range(B):
        for t in range(T):
            before = [s for s in range(t) if tokens[b, s] == tokens[b, t]]
            if before:
                count += 1
                total += weights[b, :, t, before[-1] + 1]
    return total / max(count, 1)


def matching_of_the_latest_place(weights, tokens):
    """Only the latest earlier place of the token counts."""
    B, H, T, _ = weights.shape
    total, count = torch.zeros(H), 0
    for b in range(B):
        for t in range(T):
            earlier = (tokens[b, :t] == tokens[b, t]).nonzero()
            if len(earlier):
                total += weights[b, :, t, int(earlier[-1]) + 1]
                count += 1
    return total / max(count, 1)


def matching_for_each_pair(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    return found / same.sum().clamp(min=1)


def matching_of_columns(weights, tokens):
    """Adds up how much is looked at a position, and not how much it looks."""
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights.transpose(2, 3)[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    return found / same.any(dim=-1).sum().clamp(min=1)


def latest_earlier_place_only(weights, tokens):
    B, H, T, _ = weights.shape
    total, count = torch.zeros(H), 0
    for b in range(B):
        latest = {}
        for t in range(T):
            token = int(tokens[b, t])
            if token in latest:
                total += weights[b, :, t, latest[token] + 1]
                count += 1
            latest[token] = t
    return total / max(count, 1)


# "the mean of this over all such positions of all texts, each position counting the same"
def mean_of_the_texts(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(2, 3))
    return (found / same.any(dim=-1).sum(dim=1).clamp(min=1)[:, None]).mean(dim=0)


# "add up the weights on all positions s + 1 where s < t holds the same token"
def last_earlier_place_alone(weights, tokens):
    B, H = weights.shape[:2]
    total, count = torch.zeros(H), 0
    for b in range(B):
        seen = {}
        for t, token in enumerate(tokens[b].tolist()):
            if token in seen:
                total += weights[b, :, t, seen[token] + 1]
                count += 1
            seen[token] = t
    return total / max(count, 1)


# "add up the weights on all positions s + 1": here on the one behind the last earlier place
def behind_the_last_place(weights, tokens):
    B, H = weights.shape[:2]
    found, n = torch.zeros(H), 0
    for b in range(B):
        last = {}
        for t, token in enumerate(tokens[b].tolist()):
            if token in last:
                found += weights[b, :, t, last[token] + 1]
                n += 1
            last[token] = t
    return found / max(n, 1)


# "where s < t holds the same token": also t − 1, behind which t itself comes
def not_behind_the_neighbor(weights, tokens):
    earlier = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    behind = earlier.roll(1, dims=-1).tril(-1)
    found = (weights * behind[:, None]).sum(dim=(0, 2, 3))
    return found / earlier.any(dim=-1).sum().clamp(min=1)


# Divides by the number of trues in the mask.
# "The score of a head is the mean of this over all such positions", not over all earlier places
def mean_over_the_pairs(weights, tokens):
    T = tokens.shape[1]
    mask = tokens.unsqueeze(2) == tokens.unsqueeze(1)
    mask = mask & torch.ones(T, T).tril(-1).bool()
    shifted = torch.zeros_like(mask)
    shifted[:, :, 1:] = mask[:, :, :-1]
    found = (weights * shifted[:, None]).sum(dim=(0, 2, 3))
    return found / max(int(mask.sum()), 1)


# Takes the mean of a text first and that of the texts afterwards.
# "the mean of this over all such positions of all texts, each position counting the same"
def mean_of_the_texts_of_set_8(weights, tokens):
    scores = []
    for w, row in zip(weights, tokens, strict=True):
        same = (row[:, None] == row[None, :]).tril(-1)
        if same.any():
            found = (w[:, :, 1:] * same[:, :-1]).sum(dim=-1)  # (H, T)
            scores.append(found[:, same.any(dim=-1)].mean(dim=-1))
    if not scores:
        return torch.zeros(weights.shape[1])
    return torch.stack(scores).mean(dim=0)


# Remembers the induction head of the chapter, which finds the last place.
# "add up the weights on all positions s + 1 where s < t holds the same token"
def last_place_alone(weights, tokens):
    B, H, T, _ = weights.shape
    total, count = torch.zeros(H), 0
    for b in range(B):
        last = {}
        for t in range(T):
            token = int(tokens[b, t])
            if token in last:
                total += weights[b, :, t, last[token] + 1]
                count += 1
            last[token] = t
    return total / count if count else total


# A Keras user, for whom a metric is first one of each sample.
# "The score of a head is the mean of this over all such positions of all texts, each position
# counting the same."
def mean_of_the_means_of_texts(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights[:, :, :, 1:] * same[:, None, :, :-1]).sum(dim=(2, 3))  # (B, H)
    again = same.any(dim=-1).sum(dim=-1).clamp(min=1)  # (B,)
    return (found / again[:, None]).mean(dim=0)


# A statistician, who divides by as many as were added.
# "add up the weights on all positions s + 1"
def mean_over_pairs(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    behind = torch.zeros_like(same)
    behind[:, :, 1:] = same[:, :, :-1]
    total = (weights * behind[:, None]).sum(dim=(0, 2, 3))
    return total / behind.sum().clamp(min=1)


# Puts texts and heads into one axis as a library does, and repeats the mask in the other order.
# "add up the weights on all positions s + 1 where s < t holds the same token": of the same text
def mask_repeated_in_the_other_order(weights, tokens):
    B, H, T, _ = weights.shape
    same = (tokens.unsqueeze(2) == tokens.unsqueeze(1)).tril(diagonal=-1)
    positions = same.any(dim=2).sum()
    if positions == 0:
        return torch.zeros(H)
    flat = weights.reshape(B * H, T, T)
    mask = same.repeat(H, 1, 1)
    found = (flat[:, :, 1:] * mask[:, :, :-1]).sum(dim=(1, 2))
    return found.view(B, H).sum(dim=0) / positions


# Comes from statistics and divides by as many as were added up, which are pairs: "the mean of this
# over all such positions of all texts"
def mean_over_pairs_of_places(weights, tokens):
    H, T = weights.shape[1:3]
    same = tokens[:, :, None] == tokens[:, None, :]
    before = torch.ones(T, T, dtype=torch.bool).tril(diagonal=-1)
    same = same & before
    if not same.any():
        return torch.zeros(H)
    shifted = torch.zeros_like(same)
    shifted[:, :, 1:] = same[:, :, :-1]
    return torch.stack([weights[:, h][shifted].mean() for h in range(H)])


def itself_left_out(weights, tokens):
    """Leaves out s = t − 1, because what followed it is position t itself."""
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-2)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    return found / same.any(dim=-1).sum().clamp(min=1)


def own_place_never_counts(weights, tokens):
    """Leaves out the token directly before (s = t - 1), because s + 1 would be t itself."""
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-2)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    return found / same.any(dim=-1).sum().clamp(min=1)


def rolled_before_it_is_cut(weights, tokens):
    """Rolls the matches by a column before it cuts the future: the last token lands in column 0."""
    same = tokens[:, :, None] == tokens[:, None, :]  # (B, T, T)
    behind = same.roll(1, dims=-1).tril()  # what is at s moves to s + 1, which is t at most
    found = (weights * behind[:, None]).sum(dim=(0, 2, 3))
    return found / same.tril(-1).any(dim=-1).sum().clamp(min=1)


def counts_places_once_per_head(weights, tokens):
    """Counts the positions in a mask that already has the head axis, so it divides by H as well."""
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    mask = same[:, None].expand(weights.shape)  # (B, H, T, T)
    found = (weights[..., 1:] * mask[..., :-1]).sum(dim=(0, 2, 3))
    return found / mask.any(dim=-1).sum().clamp(min=1)


def rolled_before_triangle(weights, tokens):
    """Rolls the mask before cutting the triangle, so repeats of the last token mark place 0."""
    same = tokens[:, :, None] == tokens[:, None, :]  # (B, T, T)
    behind = same.roll(1, dims=-1).tril()  # s + 1 ≤ t
    total = (weights * behind[:, None]).sum(dim=(0, 2, 3))
    return total / same.tril(-1).any(dim=-1).sum().clamp(min=1)


def seen_not_emptied(weights, tokens):
    """Counts with a set of seen tokens that isn't emptied between texts, so divides by too many."""
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)  # (B, T, T)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))  # (H,)
    seen, count = set(), 0
    for text in tokens.tolist():
        for token in text:
            if token in seen:
                count += 1
            seen.add(token)
    return found / max(count, 1)


UNLISTED = {
    1: [last_place_only, mean_over_places, best_text, one_score_for_all_heads],
    2: [matching_of_the_latest_place, matching_for_each_pair, matching_of_columns],
    3: [latest_earlier_place_only],
    4: [mean_of_the_texts, last_earlier_place_alone],
    5: [itself_is_left_out, only_the_last_text],
    6: [behind_the_last_place, not_behind_the_neighbor, one_zero_for_all_heads],
    7: [mean_over_the_pairs],
    8: [mean_of_the_texts_of_set_8, last_place_alone],
    9: [mean_of_the_means_of_texts, mean_over_pairs],
    10: [mask_repeated_in_the_other_order],
    11: [mean_over_pairs_of_places],
    12: [itself_left_out],
    13: [own_place_never_counts, rolled_before_it_is_cut, counts_places_once_per_head],
    14: [rolled_before_triangle],
    15: [seen_not_emptied],
}
