"""Students' answers to 05/cross."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from students.ch05_head.shared import INF


def cross_by_loop(x, memory, w_query, w_key, w_value, lengths):
    out = []
    for b in range(len(x)):
        real = memory[b, : lengths[b]]
        scores = (x[b] @ w_query) @ (real @ w_key).T / w_key.shape[1] ** 0.5
        out.append(scores.softmax(1) @ (real @ w_value))
    return torch.stack(out)


def cross_by_library(x, memory, w_query, w_key, w_value, lengths):
    seen = (torch.arange(memory.shape[1]) < lengths[:, None])[:, None, :]
    return F.scaled_dot_product_attention(
        x @ w_query, memory @ w_key, memory @ w_value, attn_mask=seen
    )


def cross_in_numpy(x, memory, w_query, w_key, w_value, lengths):
    x, m, q, k, v = (a.numpy() for a in (x, memory, w_query, w_key, w_value))
    scores = np.einsum("btd,bsd->bts", x @ q, m @ k) / np.sqrt(q.shape[1])
    e = np.exp(scores) * (np.arange(m.shape[1]) < lengths.numpy()[:, None])[:, None]
    return (e / e.sum(-1, keepdims=True)) @ (m @ v)


# A product of the floats that are given with floats of one's own
def cross_row_by_row(x, memory, w_query, w_key, w_value, lengths):
    weights = torch.zeros(len(x), x.shape[1], memory.shape[1])
    for b, n in enumerate(lengths.tolist()):
        for t in range(x.shape[1]):
            scores = memory[b, :n] @ w_key @ (x[b, t] @ w_query) / math.sqrt(w_key.shape[1])
            weights[b, t, :n] = scores.softmax(0)
    return weights @ (memory @ w_value)


def crossing(scale=None, weigh=None, by=0):
    """Cross-attention in the textbook way, with one thing changed."""

    def answer(x, memory, w_query, w_key, w_value, lengths):
        over = math.sqrt(w_query.shape[1]) if scale is None else scale(w_query, w_value)
        scores = torch.einsum("btd,bsd->bts", x @ w_query, memory @ w_key) / over
        seen = torch.zeros(scores.shape, dtype=torch.bool)
        for b, n in enumerate(lengths.tolist()):
            seen[b, :, : n + by] = True
        if weigh is None:
            weights = torch.where(seen, scores, -INF).softmax(-1)
        else:
            weights = weigh(scores, seen)
        return torch.einsum("bts,bse->bte", weights, memory @ w_value)

    return answer


def values_from_x(x, memory, w_query, w_key, w_value, lengths):
    scores = (x @ w_query) @ (memory @ w_key).mT / w_key.shape[1] ** 0.5
    seen = torch.arange(memory.shape[1]) < lengths[:, None]
    return scores.masked_fill(~seen[:, None], -INF).softmax(-1) @ (x @ w_value)


def talks_to_itself(x, memory, w_query, w_key, w_value, lengths):
    return F.scaled_dot_product_attention(x @ w_query, x @ w_key, x @ w_value)


def memory_asks(x, memory, w_query, w_key, w_value, lengths):
    return F.scaled_dot_product_attention(memory @ w_query, x @ w_key, x @ w_value)


def maps_mixed_up(x, memory, w_query, w_key, w_value, lengths):
    return cross_by_loop(x, memory, w_key, w_query, w_value, lengths)


def blanked_memory(x, memory, w_query, w_key, w_value, lengths):
    memory = memory.clone()
    for b, n in enumerate(lengths):
        memory[b, n:] = 0
    return F.scaled_dot_product_attention(x @ w_query, memory @ w_key, memory @ w_value)


def still_causal(scores, seen):
    return torch.where(seen.tril(), scores, -INF).softmax(-1)


def nearly_hidden(fill):
    """ "must not be looked at": also where the only symbol has a low score"""
    return crossing(weigh=lambda s, seen: torch.where(seen, s, fill).softmax(-1))


# "lengths: at least 1"
def two_symbols_at_least(x, memory, w_query, w_key, w_value, lengths):
    return cross_by_loop(x, memory, w_query, w_key, w_value, lengths.clamp(min=2))


# (B, T, E): of one text, and of one position
def squeezed(x, memory, w_query, w_key, w_value, lengths):
    return cross_by_loop(x, memory, w_query, w_key, w_value, lengths).squeeze()


def position_squeezed(x, memory, w_query, w_key, w_value, lengths):
    return cross_by_loop(x, memory, w_query, w_key, w_value, lengths).squeeze(1)


RIGHT = {
    "loop": cross_by_loop,
    "the library's attention": cross_by_library,
    "numpy": cross_in_numpy,
    "row by row": cross_row_by_row,
}


def cut_where_the_longest_ends(x, memory, w_query, w_key, w_value, lengths):
    memory = memory[:, : lengths.max()]
    everything = torch.full_like(lengths, memory.shape[1])
    return cross_by_library(x, memory, w_query, w_key, w_value, everything)


def padding_expected_in_front(x, memory, w_query, w_key, w_value, lengths):
    out = []
    for b, n in enumerate(lengths.tolist()):
        scores = (x[b] @ w_query) @ (memory[b, -n:] @ w_key).T / w_key.shape[1] ** 0.5
        out.append(scores.softmax(1) @ memory[b, -n:] @ w_value)
    return torch.stack(out)


def lengths_as_they_are(x, memory, w_query, w_key, w_value, lengths):
    scores = (x @ w_query) @ (memory @ w_key).mT / w_key.shape[1] ** 0.5
    seen = torch.arange(memory.shape[1]) < lengths
    return torch.where(seen, scores, -INF).softmax(-1) @ (memory @ w_value)


def under_the_positions(x, memory, w_query, w_key, w_value, lengths):
    S = memory.shape[1]
    return crossing(lambda q, v: math.sqrt(S))(x, memory, w_query, w_key, w_value, lengths)


def cut_where_the_memory_ends(x, memory, w_query, w_key, w_value, lengths):
    found = cross_by_loop(x, memory, w_query, w_key, w_value, lengths)
    for b, n in enumerate(lengths.tolist()):
        found[b, n:] = 0
    return found


def looks_at_both(x, memory, w_query, w_key, w_value, lengths):
    B, S = memory.shape[:2]
    both = torch.cat((x, memory), dim=1)
    T = x.shape[1]
    scores = x @ w_query @ (both @ w_key).mT / w_key.shape[1] ** 0.5
    for b in range(B):
        scores[b, :, T + int(lengths[b]) : T + S] = -torch.inf
    return scores.softmax(-1) @ (both @ w_value)


def looks_at_all(x, memory, w_query, w_key, w_value, lengths):
    symbols = torch.cat([one[:n] for one, n in zip(memory, lengths.tolist(), strict=True)])
    scores = x @ w_query @ (symbols @ w_key).T / w_key.shape[1] ** 0.5
    return scores.softmax(-1) @ (symbols @ w_value)


def only_the_best(x, memory, w_query, w_key, w_value, lengths):
    scores = x @ w_query @ (memory @ w_key).mT
    hidden = torch.arange(memory.shape[1]) >= lengths.unsqueeze(1)
    best = scores.masked_fill(hidden.unsqueeze(1), -torch.inf).argmax(-1)
    return torch.stack([one[places] for one, places in zip(memory @ w_value, best, strict=True)])


WRONG = {
    "inverted-mask": crossing(weigh=lambda s, seen: torch.where(seen, -INF, s).softmax(-1)),
    "own-values-added": lambda x, m, q, k, v, n: crossing()(x, m, q, k, v, n) + x @ v,
    "x-behind-the-memory": looks_at_both,
    "all-memories-for-all": looks_at_all,
    "lengths-of-x": cut_where_the_memory_ends,
    "no-softmax": crossing(weigh=lambda s, seen: s * seen),
    "mask-without-an-axis": lengths_as_they_are,
    "scale-by-length": under_the_positions,
    "self-cross": values_from_x,
    "self-attention": talks_to_itself,
    "roles-exchanged": memory_asks,
    "maps-exchanged": maps_mixed_up,
    "scale-by-channels": crossing(lambda q, v: len(q) ** 0.5),
    "scale-by-values": crossing(lambda q, v: v.shape[1] ** 0.5),
    "scale-after-softmax": lambda x, m, q, k, v, n: (
        crossing(lambda q, v: 1)(x, m, q, k, v, n) / q.shape[1] ** 0.5
    ),
    "causal-mask-kept": crossing(weigh=still_causal),
    "softmax-over-queries": crossing(weigh=lambda s, seen: s.softmax(1)),
    "last-symbol-hidden": crossing(by=-1),
    "padding-as-zeros": blanked_memory,
    "moderate-fill": nearly_hidden(-30.0),
    "masked-after-softmax": crossing(weigh=lambda s, seen: seen * s.softmax(-1)),
    "one-length-for-all": cut_where_the_longest_ends,
    "padding-in-front": padding_expected_in_front,
    "first-memory-for-all": lambda x, m, q, k, v, n: cross_by_loop(
        x, m[[0] * len(m)], q, k, v, n[[0] * len(n)]
    ),
}


ODD = [
    (only_the_best, "other-weights"),
    (nearly_hidden(-5.0), "moderate-fill"),
    (crossing(weigh=lambda s, seen: s.sigmoid() * seen), "other-weights"),
    (
        crossing(weigh=lambda s, seen: torch.where(seen, s, s - 1).softmax(-1)),
        "padding-wrong",
    ),
    (lambda x, m, q, k, v, n: cross_by_loop(x, m, q, k, v, n) * 2, "doubled-your-outputs"),
    (two_symbols_at_least, "other-weights"),
    (squeezed, "axis-of-one"),
    (position_squeezed, "axis-of-one"),
]


# --- Answers that no list names ---


# "what comes after them is padding and must not be looked at": after a softmax in which large
# scores of padding have left nothing to others
def padding_taken_out_of_the_weights(x, memory, w_query, w_key, w_value, lengths):
    scores = (x @ w_query) @ (memory @ w_key).transpose(1, 2) / math.sqrt(w_key.shape[1])
    symbols = (torch.arange(memory.shape[1]) < lengths[:, None])[:, None]
    weights = scores.softmax(dim=-1) * symbols
    return weights / weights.sum(dim=-1, keepdim=True) @ (memory @ w_value)


def padding_gets_the_lowest_score(x, memory, w_query, w_key, w_value, lengths):
    """Gives padding the lowest of all scores instead of -inf, so it still gets some weight."""
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]
    weights = scores.masked_fill(padding[:, None, :], scores.min()).softmax(dim=-1)
    return weights @ value


UNLISTED = {
    13: [(padding_gets_the_lowest_score, "other-weights")],
}
ACCEPTED = {
    6: [
        (
            padding_taken_out_of_the_weights,
            "It differs where scores of padding are higher by several hundred than all others.",
        )
    ],
}
