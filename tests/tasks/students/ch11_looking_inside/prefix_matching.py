"""Students' answers to 11/prefix-matching."""

import numpy as np
import torch


def counted(weights, tokens, which=slice(None), by_text=False):
    """Position by position; what differs between answers are the settings."""
    B, H, T, _ = weights.shape
    scores = []
    for head in range(H):
        texts = []
        for b in range(B):
            found = []
            for t in range(T):
                places = [s for s in range(t) if tokens[b, s] == tokens[b, t]]
                if places:
                    found.append(sum(float(weights[b, head, t, s + 1]) for s in places[which]))
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
    "one-zero-for-all": one_zero_for_all_heads,
    "itself-left-out": itself_is_left_out,
    "one-text-alone": only_the_last_text,
    "mean-of-texts": lambda w, x: counted(w, x, by_text=True),
    "last-place-only": lambda w, x: counted(w, x, which=slice(-1, None)),
    "rows-for-columns": lambda w, x: counted(w.transpose(2, 3), x),
    "nothing-divided": no_guard,
    "each-place-counted": mean_over_places,
    "places-of-other-texts": masks_in_turn,
    "heads-averaged": one_score_for_all_heads,
}


def counted_over_all_texts(w, x):
    """The right sums, divided by the number of tokens that came before in any text."""
    right = counted(w, x)
    asked = sum(len(row) - len(set(row)) for row in x.tolist())
    return right * asked / max(1, x.numel() - len(set(x.flatten().tolist())))


ODD = [
    (counted_over_all_texts, "right-for-one-text"),
    (lambda w, x: counted(w, x) + 0.1, "weights-counted"),
    (lambda w, x: w.sum(-1), "shape"),
    (lambda w, x: counted(w, x).mean(), "shape"),
    (
        lambda w, x: counted(w, x[:1].expand_as(x)),
        "used-the-first-item-of-the-earlier-occurrences-for-all-items",
    ),
    (lambda w, x: counted(w, x) * len(set(x[0].tolist())) / 9, "weights-counted"),
    (lambda w, x: x[99], "error"),
    (lambda w, x: counted(w, x).squeeze(), "axis-of-one"),
]


# --- Answers that no list names ---


UNLISTED = {}
