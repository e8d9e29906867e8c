"""Students' answers to 05/weights."""

import numpy as np
import torch
import torch.nn.functional as F

from students.ch05_head.shared import INF


def weights_by_loop(scores, past, start):
    B, T, _ = scores.shape
    out = torch.zeros(B, T, T)
    for b in range(B):
        first = int(start[b])
        for t in range(first, T):
            out[b, t, first : t + 1] = F.softmax(scores[b, t, first : t + 1], dim=0)
    return out


def weights_by_exponentials(scores, past, start):
    T = scores.shape[1]
    visible = past[:T, :T] * (torch.arange(T) >= start.unsqueeze(1)).unsqueeze(1)
    e = scores.exp() * visible
    return e / e.sum(-1, keepdim=True).clamp(min=1e-30)


def weights_in_numpy(scores, past, start):
    scores, past, start = scores.numpy().copy(), past.numpy(), start.numpy()
    T = scores.shape[-1]
    s = np.arange(T)
    hidden = ~past[:T, :T][None] | (s[None, None] < start[:, None, None])
    scores[hidden] = -1e30
    e = np.exp(scores - scores.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    w[hidden] = 0
    return w


def weights_with_bias(scores, past, start):
    T = scores.size(-1)
    pad = torch.arange(T)[None] < start[:, None]
    bias = torch.where(past[:T, :T] & ~pad[:, None], 0.0, -INF)
    return torch.where(pad[..., None], 0.0, (scores + bias).softmax(-1))


def masked(visible, fill=-INF, dim=-1):
    """Weights in the textbook way, with `visible(past, pad, T)`; empty rows become 0."""

    def answer(scores, past, start):
        T = scores.shape[1]
        pad = torch.arange(T).repeat(len(start), 1) < start.view(-1, 1)
        seen = visible(past, pad, T)
        weights = F.softmax(torch.where(seen, scores, fill), dim=dim)
        return torch.where(weights.isnan(), 0.0, weights)

    return answer


def zeros_for_the_mask(scores, past, start):
    """As in a well-known snippet, but the scores are asked what is 0, not the triangle."""
    T = scores.shape[1]
    kept = torch.tril(scores).clone()
    for b, first in enumerate(start.tolist()):
        kept[b, :, :first] = 0.0
    kept[kept == 0] = -INF
    return torch.softmax(kept[:, :T, :T], -1).nan_to_num(0.0)


def whole_triangle(scores, past, start):
    weights = torch.softmax(scores + torch.where(past, 0.0, -INF), -1)
    return weights


def nothing_masked(scores, past, start):
    scores.masked_fill(~past[: scores.shape[1], : scores.shape[1]], -INF)
    return scores.softmax(-1)


def hidden_past(scores, past, start):
    T = scores.shape[1]
    return scores.masked_fill(past[:T, :T], -INF).softmax(-1)


def strictly_past(scores, past, start):
    T = scores.shape[1]
    seen = torch.tril(past[:T, :T], diagonal=-1)
    return scores.masked_fill(~seen, -INF).softmax(-1)


def mask_times_scores(scores, past, start):
    T = scores.shape[1]
    return (scores * past[:T, :T]).softmax(-1)


def cut_weights(scores, past, start):
    T = scores.shape[1]
    weights = scores.softmax(-1)
    return torch.tril(weights) * (torch.arange(T) >= start[:, None])[:, None, :]


def columns_softmax(scores, past, start):
    T = scores.shape[1]
    return scores.masked_fill(~past[:T, :T], -INF).softmax(1)


def padding_forgotten(scores, past, start):
    T = scores.shape[1]
    return F.softmax(scores.masked_fill(past[:T, :T].logical_not(), -INF), dim=2)


def rows_emptied(scores, past, start):
    weights = padding_forgotten(scores, past, start)
    for b, first in enumerate(start.tolist()):
        weights[b, :first] = 0
    return weights


def text_hidden(scores, past, start):
    T = scores.shape[1]
    out = scores.masked_fill(~past[:T, :T], -INF)
    for b, first in enumerate(start.tolist()):
        out[b, :, first:] = -INF
    return out.softmax(-1)


def shifted_start(by):
    def answer(scores, past, start):
        return weights_by_loop(scores, past, (start + by).clamp(min=0))

    return answer


def not_a_number_left(scores, past, start):
    weights = weights_by_loop(scores, past, start)
    for b, first in enumerate(start.tolist()):
        weights[b, :first] = float("nan")
    return weights


def padding_sees_itself(scores, past, start):
    weights = weights_by_loop(scores, past, start)
    for b, first in enumerate(start.tolist()):
        weights[b, :first, :first] = torch.eye(first)
    return weights


def one_mask_for_the_batch(scores, past, start):
    T = scores.shape[-1]
    hidden = ~past[:T, :T]
    rows = []
    for text, first in zip(scores, start.tolist(), strict=True):
        hidden[:, :first] = True
        rows.append(text.masked_fill(hidden, float("-inf")).softmax(-1).nan_to_num(0.0))
    return torch.stack(rows)


def last_columns_of_the_block(scores, past, start):
    T, size = scores.shape[-1], len(past)
    real = torch.arange(size).expand(len(start), size) >= start.unsqueeze(1)
    hidden = ~(past[:T, :T] & real[:, size - T :].unsqueeze(1))
    return scores.masked_fill(hidden, float("-inf")).softmax(-1).nan_to_num(0.0)


def as_many_as_start(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T - 1, -1, -1) < start[:, None]
    seen = past[:T, :T] & real[:, None]
    return scores.masked_fill(~seen, float("-inf")).softmax(-1).nan_to_num(0.0)


def times_infinity(scores, past, start):
    T = scores.shape[-1]
    hidden = ~past[:T, :T] | (torch.arange(T) < start[:, None])[:, None]
    return (scores - hidden.float() * torch.inf).softmax(-1).nan_to_num(0.0)


def window_of_two(scores, past, start):
    T = scores.shape[-1]
    seen = (past[:T, :T] & (torch.arange(T) >= start[:, None])[:, None]).triu(-1)
    return scores.masked_fill(~seen, float("-inf")).softmax(-1).nan_to_num(0.0)


RIGHT = {
    "loop": weights_by_loop,
    "exponentials": weights_by_exponentials,
    "numpy": weights_in_numpy,
    "added mask": weights_with_bias,
}


def low_but_not_lowest(scores, past, start):
    T = scores.shape[2]
    hidden = (torch.arange(T) < start[:, None])[:, None] | ~past[:T, :T]
    weights = torch.where(hidden, -30.0, scores).softmax(-1)
    return torch.where(hidden.all(-1, keepdim=True), 0.0, weights)


def one_beginning(scores, past, start):
    T = scores.shape[1]
    hidden = ~past[:T, :T] | (torch.arange(T) < start[0])
    return torch.softmax(torch.where(hidden, -torch.inf, scores), -1).nan_to_num()


# "Only differences between scores count"
def kept_from_zero(scores, past, start):
    T = scores.shape[1]
    seen = past[:T, :T] & (torch.arange(T) >= start[:, None])[:, None]
    powers = scores.exp() * seen
    return powers / powers.sum(-1, keepdim=True).clamp(min=1e-8)


# a single position of padding, a text of a single symbol, a single text
def one_padding_forgotten(scores, past, start):
    return weights_by_loop(scores, past, torch.where(start == 1, 0, start))


def single_symbol_forgotten(scores, past, start):
    T = scores.shape[1]
    return weights_by_loop(scores, past, torch.where(start == T - 1, T, start))


def squeezed(scores, past, start):
    return weights_by_loop(scores, past, start).squeeze()


def start_as_it_is(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T) >= start
    return torch.where(real & past[:T, :T], scores, -INF).softmax(-1).nan_to_num(0.0)


def padding_behind(scores, past, start):
    T = scores.shape[-1]
    seen = past[:T, :T].repeat(len(scores), 1, 1)
    for b, n in enumerate(start.tolist()):
        seen[b, :, T - n :] = False
    return torch.where(seen, scores, -INF).softmax(-1).nan_to_num(0.0)


def square_from_the_front(scores, past, start):
    """As another answer, but the scores of a text of n symbols are taken as [:n, :n]."""
    moved = torch.zeros_like(scores)
    for b, first in enumerate(start.tolist()):
        n = scores.shape[1] - first
        moved[b, first:, first:] = scores[b, :n, :n]
    return weights_by_loop(moved, past, start)


def triangle_cut_at_the_text(scores, past, start):
    """Cuts the triangle as the scores, so that the first symbol may see later ones."""
    T = scores.shape[1]
    weights = torch.zeros_like(scores)
    for b, s in enumerate(start.tolist()):
        own = torch.where(past[s:T, : T - s], scores[b, s:, s:], -INF)
        weights[b, s:, s:] = own.softmax(1)
    return weights


def aligned_to_the_left(scores, past, start):
    weights = weights_by_loop(scores, past, start)
    for b, first in enumerate(start.tolist()):
        weights[b] = weights[b].roll((-first, -first), (0, 1))
    return weights


def from_the_earliest(scores, past, start):
    T, first = scores.shape[-1], min(start.tolist())
    seen = past[:T, :T] & (torch.arange(T) >= first)
    return scores.masked_fill(~seen, float("-inf")).softmax(-1).nan_to_num(0.0)


WRONG = {
    "earliest-start-for-all": from_the_earliest,
    "padding-adds-up": one_mask_for_the_batch,
    "starts-in-the-longest-text": last_columns_of_the_block,
    "start-counted-from-the-end": as_many_as_start,
    "all-weights-zero": times_infinity,
    "scores-of-other-positions": square_from_the_front,
    "texts-moved-to-the-front": aligned_to_the_left,
    "zeros-hidden": zeros_for_the_mask,
    "padding-at-the-end": padding_behind,
    "start-along-the-positions": start_as_it_is,
    "turned-over": lambda scores, past, start: weights_by_loop(scores, past, start).mT,
    "start-of-the-first": one_beginning,
    "mask-not-cut": whole_triangle,
    "moderate-fill": low_but_not_lowest,
    "wrong-corner": masked(lambda past, pad, T: past[-T:, :T].expand(len(pad), T, T)),
    "no-causal-mask": nothing_masked,
    "inverted-mask": hidden_past,
    "diagonal-excluded": strictly_past,
    "zero-mask": mask_times_scores,
    "masked-after-softmax": cut_weights,
    "softmax-over-queries": columns_softmax,
    "padding-seen": padding_forgotten,
    "rows-hidden-not-columns": rows_emptied,
    "start-taken-for-length": text_hidden,
    "last-padding-seen": shifted_start(-1),
    "nan-rows": not_a_number_left,
    "padding-rows-look": padding_sees_itself,
    "limited-sum": kept_from_zero,
    "padding-cut-after-softmax": lambda scores, past, start: (
        weights_by_loop(scores, past, torch.zeros_like(start))
        * (torch.arange(scores.shape[1]) >= start[:, None])[:, None]
    ),
    "or-for-and": masked(lambda past, pad, T: past[:T, :T] | ~pad[:, None]),
    "scores-not-weights": lambda scores, past, start: torch.where(
        weights_by_loop(scores, past, start) > 0, scores, 0.0
    ),
}


ODD = [
    (window_of_two, "other-weights"),
    (lambda s, past, start: weights_by_loop(s, past, start)[0], "shape"),
    (lambda s, past, start: torch.full(s.shape, 1 / s.shape[1]), "other-weights"),
    (lambda s, past, start: torch.eye(s.shape[1]).expand(s.shape), "other-weights"),
    (triangle_cut_at_the_text, "other-weights"),
    (one_padding_forgotten, "other-weights"),
    (single_symbol_forgotten, "other-weights"),
    (squeezed, "axis-of-one"),
]


# --- Answers that no list names ---


# "your functions leave what they are given as it was"
def scores_of_padding_overwritten(scores, past, start):
    T = scores.shape[-1]
    for b, first in enumerate(start.tolist()):
        scores[b, :, :first] = -torch.inf
    return scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-1).nan_to_num(0.0)


UNLISTED = {
    6: [(scores_of_padding_overwritten, "changes-its-input")],
}
