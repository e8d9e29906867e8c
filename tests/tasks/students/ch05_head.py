"""Answers to the tasks of chapter 05, as students write them."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

INF = float("inf")


def unfilled(*args):
    raise NotImplementedError


# --- scores ---------------------------------------------------------------------------------------


def scores_by_einsum(x, w_query, w_key):
    q = torch.einsum("...tc,cd->...td", x, w_query)
    k = torch.einsum("...sc,cd->...sd", x, w_key)
    return torch.einsum("...td,...sd->...ts", q, k) / w_query.shape[-1] ** 0.5


def scores_in_numpy(x, w_query, w_key):
    x, w_query, w_key = x.numpy(), w_query.numpy(), w_key.numpy()
    return (x @ w_query) @ np.swapaxes(x @ w_key, -1, -2) / np.sqrt(w_key.shape[1])


def scores_by_loop(x, w_query, w_key):
    flat = x.reshape(-1, *x.shape[-2:])
    tables = []
    for text in flat:
        q, k = text @ w_query, text @ w_key
        tables.append([[torch.dot(a, b) / math.sqrt(len(a)) for b in k] for a in q])
    return torch.tensor(tables).reshape(*x.shape[:-1], x.shape[-2])


def scores_scaled_early(x, w_query, w_key):
    q = F.linear(x.float(), w_query.T.float()) * w_key.size(1) ** -0.5
    return q @ F.linear(x.float(), w_key.T.float()).mT


def products(x, left, right):
    return torch.matmul(x @ left, (x @ right).mT)


def scores_softmaxed(x, w_query, w_key):
    return torch.softmax(scores_by_einsum(x, w_query, w_key), -1)


def scores_of_batches(x, w_query, w_key):
    return torch.bmm(x @ w_query, (x @ w_key).permute(0, 2, 1)) / math.sqrt(w_query.shape[1])


# --- weights --------------------------------------------------------------------------------------


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
    return torch.where(pad[..., None], 0.0, (scores.float() + bias).softmax(-1))


def masked(visible, fill=-INF, dim=-1):
    """Weights in the textbook way, with `visible(past, pad, T)`; empty rows become 0."""

    def answer(scores, past, start):
        T = scores.shape[1]
        pad = torch.arange(T).repeat(len(start), 1) < start.view(-1, 1)
        seen = visible(past, pad, T)
        weights = F.softmax(torch.where(seen, scores, fill), dim=dim)
        return torch.where(weights.isnan(), 0.0, weights)

    return answer


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


# --- head -----------------------------------------------------------------------------------------


class PlainHead(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.value = nn.Linear(n_embd, value_size)
        self.query = nn.Linear(n_embd, head_size)
        self.key = nn.Linear(n_embd, head_size)
        self.causal = causal
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def scores(self, x):
        q, k = self.query(x), self.key(x)
        return q @ k.mT * k.shape[-1] ** -0.5

    def mask(self, scores):
        if self.causal:
            T = scores.shape[-1]
            scores = scores.masked_fill(self.tril[:T, :T] == 0, -INF)
        return scores

    def forward(self, x):
        return F.softmax(self.mask(self.scores(x)), dim=-1) @ self.value(x)


class LibraryHead(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.is_causal = causal

    def forward(self, x):
        return F.scaled_dot_product_attention(
            self.query(x), self.key(x), self.value(x), is_causal=self.is_causal
        )


class LoopedHead(LibraryHead):
    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        T, D = q.shape[1:]
        rows = []
        for t in range(T):
            end = t + 1 if self.is_causal else T
            w = torch.einsum("bd,bsd->bs", q[:, t], k[:, :end]) / math.sqrt(D)
            rows.append(torch.einsum("bs,bse->be", w.softmax(1), v[:, :end]))
        return torch.stack(rows, dim=1)


class HeadScaledByChannels(PlainHead):
    def scores(self, x):
        return self.query(x) @ self.key(x).mT * x.shape[-1] ** -0.5


class HeadScaledByValues(PlainHead):
    def scores(self, x):
        return self.query(x) @ self.key(x).mT / self.value(x).size(-1) ** 0.5


class HeadUnscaled(PlainHead):
    def scores(self, x):
        return torch.bmm(self.query(x), self.key(x).permute(0, 2, 1))


class HeadScaledLate(HeadUnscaled):
    def forward(self, x):
        return super().forward(x) * self.query.out_features**-0.5


class HeadSwapped(PlainHead):
    def scores(self, x):
        return PlainHead.scores(self, x).mT


class HeadOverQueries(PlainHead):
    def forward(self, x):
        return F.softmax(self.mask(self.scores(x)), dim=-2) @ self.value(x)


class HeadTurned(PlainHead):
    def forward(self, x):
        w = F.softmax(self.mask(self.scores(x)), dim=-1)
        return torch.einsum("bst,bse->bte", w, self.value(x))


class HeadOfInputs(PlainHead):
    def forward(self, x):
        return F.softmax(self.mask(self.scores(x)), dim=-1) @ x


class HeadOfValues(PlainHead):
    def forward(self, x):
        return self.value(x).clone()


class HeadAcrossBatch(LibraryHead):
    def forward(self, x):
        q, k, v = (f(x).transpose(0, 1) for f in (self.query, self.key, self.value))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal)
        return out.transpose(0, 1)


class HeadFlagTurned(PlainHead):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.causal = not self.causal


class HeadUnmasked(PlainHead):
    def mask(self, scores):
        T = scores.shape[-1]
        scores.masked_fill(self.tril[:T, :T] == 0, -INF)
        return scores


class HeadAlwaysCausal(LibraryHead):
    def forward(self, x):
        self.is_causal = True
        return super().forward(x)


class HeadUpper(PlainHead):
    def mask(self, scores):
        if not self.causal:
            return scores
        return scores.masked_fill(torch.ones_like(scores).triu() == 0, -INF)


class HeadZero(PlainHead):
    def mask(self, scores):
        T = scores.shape[-1]
        return scores * self.tril[:T, :T] if self.causal else scores


class HeadUncut(PlainHead):
    def mask(self, scores):
        return scores.masked_fill(self.tril == 0, -INF) if self.causal else scores


class HeadWithoutNames(PlainHead):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.keys = self.key
        del self.key


class HeadShifted(LibraryHead):
    def forward(self, x):
        return super().forward(x) + 1


# --- positions ------------------------------------------------------------------------------------


def embed_by_loop(tokens, token_table, position_table, start):
    B, T = tokens.shape
    out = [[[0.0] * token_table.shape[1] for _ in range(T)] for _ in range(B)]
    for b in range(B):
        for t in range(int(start[b]), T):
            total = token_table[tokens[b, t]] + position_table[t - int(start[b])]
            out[b][t] = total.tolist()
    return out


def embed_by_layers(tokens, token_table, position_table, start):
    symbols = nn.Embedding.from_pretrained(token_table)
    places = nn.Embedding.from_pretrained(position_table)
    where = torch.arange(tokens.size(1)).expand_as(tokens) - start.unsqueeze(-1)
    real = (where >= 0).unsqueeze(-1)
    return (symbols(tokens) + places(where * (where > 0))) * real


def embed_in_numpy(tokens, token_table, position_table, start):
    where = np.arange(tokens.shape[1])[None] - start.numpy()[:, None]
    x = token_table.numpy()[tokens.numpy()] + position_table.numpy()[np.maximum(where, 0)]
    x[where < 0] = 0
    return x


def embed_row_by_row(tokens, token_table, position_table, start):
    out = torch.zeros(*tokens.shape, token_table.shape[1])
    for row, text, first in zip(out, tokens, start, strict=True):
        n = len(text) - first
        if n > len(position_table):
            raise ValueError(f"{n} symbols, {len(position_table)} positions")
        row[first:] = token_table[text[first:]] + position_table[:n]
    return out


def blank(x, start):
    x = x.clone()
    for b, first in enumerate(start.tolist()):
        x[b, :first] = 0
    return x


def embedded(place):
    """Symbols plus the row `place(t, first, T, size)` of the table."""

    def answer(tokens, token_table, position_table, start):
        T, size = tokens.shape[1], len(position_table)
        rows = [[place(t, first, T, size) for t in range(T)] for first in start.tolist()]
        return blank(token_table[tokens] + position_table[torch.tensor(rows)], start)

    return answer


def table_whole(tokens, token_table, position_table, start):
    return F.embedding(tokens, token_table) + position_table[None]


def no_places(tokens, token_table, position_table, start):
    return F.embedding(tokens, token_table)


def places_alone(tokens, token_table, position_table, start):
    T = tokens.shape[1]
    return position_table[:T].repeat(len(tokens), 1, 1)


def times(tokens, token_table, position_table, start):
    return token_table[tokens] * position_table[: tokens.shape[1]]


def side_by_side(tokens, token_table, position_table, start):
    places = position_table[: tokens.shape[1]].expand(len(tokens), -1, -1)
    return torch.cat((token_table[tokens], places), 2)


def looked_up_by_symbol(tokens, token_table, position_table, start):
    return F.embedding(tokens, token_table) + F.embedding(tokens, position_table)


def along_the_batch(tokens, token_table, position_table, start):
    return token_table[tokens] + position_table[torch.arange(len(tokens))].unsqueeze(1)


def wrapped(tokens, token_table, position_table, start):
    rows = torch.stack([torch.arange(tokens.shape[1]) - first for first in start])
    return token_table[tokens] + position_table[rows]


def padding_not_blank(tokens, token_table, position_table, start):
    rows = torch.relu(torch.arange(tokens.shape[1]) - start[:, None])
    return token_table[tokens] + F.embedding(rows, position_table)


def clamped(tokens, token_table, position_table, start):
    T = tokens.shape[1]
    where = (torch.arange(T) - start[:, None]).clip(0, len(position_table) - 1)
    return blank(token_table[tokens] + position_table[where], start)


# --- distance -------------------------------------------------------------------------------------


def distance_by_loop(scores, slope):
    B, T, _ = scores.shape
    out = torch.zeros(B, T, T)
    for t in range(T):
        penalty = slope * torch.arange(t, -1, -1)
        out[:, t, : t + 1] = (scores[:, t, : t + 1] - penalty).softmax(-1)
    return out


def distance_by_columns(scores, slope):
    """Rows may move by a constant: −slope · (t − s) and +slope · s are the same weights."""
    T = scores.shape[1]
    tilted = scores + slope * torch.arange(T)
    return tilted.masked_fill(torch.ones(T, T).triu(1).bool(), -INF).softmax(-1)


def distance_in_numpy(scores, slope):
    s = scores.numpy().astype(np.float32)
    t = np.arange(s.shape[1])
    e = np.exp(s - slope * (t[:, None] - t)) * (t[:, None] >= t)
    return e / e.sum(-1, keepdims=True)


def distance_with_sdpa_bias(scores, slope):
    T = scores.size(1)
    bias = torch.full((T, T), -INF, dtype=scores.dtype)
    for t in range(T):
        for s in range(t + 1):
            bias[t, s] = -slope * (t - s)
    return torch.softmax(scores + bias, 2)


def tilted(cost):
    """Causal weights with `cost(score, distance, slope, T)` subtracted, entry by entry."""

    def answer(scores, slope):
        B, T, _ = scores.shape
        out = torch.zeros(B, T, T, dtype=scores.dtype)
        for t in range(T):
            back = torch.arange(t, -1, -1)
            row = scores[:, t, : t + 1]
            out[:, t, : t + 1] = (row - cost(row, back, slope, T)).softmax(-1)
        return out

    return answer


def causal_only(scores):
    return distance_by_loop(scores, 0.0).double()


def subtracted_late(scores, slope):
    T = scores.shape[1]
    back = (torch.arange(T)[:, None] - torch.arange(T)).tril()
    return causal_only(scores) - slope * back


def decayed(scores, slope):
    T = scores.shape[1]
    back = (torch.arange(T)[:, None] - torch.arange(T)).tril()
    return causal_only(scores) * torch.exp(-slope * back)


def open_future(scores, slope):
    T = scores.shape[1]
    return (scores + slope * torch.arange(T)).softmax(-1)


def open_both(scores, slope):
    T = scores.shape[1]
    gap = torch.cdist(torch.arange(T)[:, None].float(), torch.arange(T)[:, None].float(), p=1)
    return (scores - slope * gap).softmax(-1)


def zero_future(scores, slope):
    T = scores.shape[1]
    back = torch.arange(T)[:, None] - torch.arange(T)
    return torch.tril(scores - slope * back).softmax(-1)


def down_the_columns(scores, slope):
    T = scores.shape[1]
    back = torch.arange(T)[:, None] - torch.arange(T)
    return torch.where(back >= 0, scores - slope * back, -INF).softmax(-2)


# --- cross ----------------------------------------------------------------------------------------


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


def cross_in_float(x, memory, w_query, w_key, w_value, lengths):
    return cross_by_library(
        x.float(), memory.float(), w_query.float(), w_key.float(), w_value.float(), lengths
    )


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


def memory_itself(x, memory, w_query, w_key, w_value, lengths):
    seen = (torch.arange(memory.shape[1]) < lengths[:, None])[:, None, :]
    return F.scaled_dot_product_attention(x @ w_query, memory @ w_key, memory, attn_mask=seen)


def blanked_memory(x, memory, w_query, w_key, w_value, lengths):
    memory = memory.clone()
    for b, n in enumerate(lengths):
        memory[b, n:] = 0
    return F.scaled_dot_product_attention(x @ w_query, memory @ w_key, memory @ w_value)


def still_causal(scores, seen):
    return torch.where(seen.tril(), scores, -INF).softmax(-1)


RIGHT = {
    "scores": {
        "einsum": scores_by_einsum,
        "numpy": scores_in_numpy,
        "loop": scores_by_loop,
        "scaled queries, single precision": scores_scaled_early,
    },
    "weights": {
        "loop": weights_by_loop,
        "exponentials": weights_by_exponentials,
        "numpy": weights_in_numpy,
        "added mask, single precision": weights_with_bias,
    },
    "head": {
        "with biases, layers in another order": PlainHead,
        "the library's attention": LibraryHead,
        "loop": LoopedHead,
    },
    "positions": {
        "loop, lists": embed_by_loop,
        "embedding layers": embed_by_layers,
        "numpy": embed_in_numpy,
        "row by row": embed_row_by_row,
    },
    "distance": {
        "loop": distance_by_loop,
        "by columns": distance_by_columns,
        "numpy": distance_in_numpy,
        "added bias": distance_with_sdpa_bias,
    },
    "cross": {
        "loop": cross_by_loop,
        "the library's attention": cross_by_library,
        "numpy": cross_in_numpy,
        "single precision": cross_in_float,
    },
}

WRONG = {
    "scores": {
        "scale-by-channels": lambda x, q, k: products(x, q, k) / math.sqrt(x.size(-1)),
        "no-scale": lambda x, q, k: torch.einsum("...td,...sd->...ts", x @ q, x @ k),
        "scale-without-root": lambda x, q, k: products(x, q, k) / q.shape[1],
        "scale-multiplied": lambda x, q, k: products(x, q, k) * math.sqrt(q.shape[1]),
        "scale-by-length": lambda x, q, k: products(x, q, k) / math.sqrt(x.shape[-2]),
        "swapped-query-key": lambda x, q, k: scores_by_einsum(x, q, k).mT,
        "queries-only": lambda x, q, k: products(x, q, q) / math.sqrt(q.shape[1]),
        "keys-only": lambda x, q, k: products(x, k, k) / math.sqrt(k.shape[1]),
        "raw-inputs": lambda x, q, k: torch.einsum("...tc,...sc->...ts", x, x) / x.shape[-1] ** 0.5,
        "softmax-taken": scores_softmaxed,
        "axes-counted-from-the-front": scores_of_batches,
    },
    "weights": {
        "mask-not-cut": whole_triangle,
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
        "first-symbol-hidden": shifted_start(1),
        "last-padding-seen": shifted_start(-1),
        "nan-rows": not_a_number_left,
        "padding-rows-look": padding_sees_itself,
    },
    "head": {
        "mask-not-cut": HeadUncut,
        "scale-by-channels": HeadScaledByChannels,
        "scale-by-values": HeadScaledByValues,
        "no-scale": HeadUnscaled,
        "scale-after-softmax": HeadScaledLate,
        "swapped-query-key": HeadSwapped,
        "softmax-over-queries": HeadOverQueries,
        "weights-transposed": HeadTurned,
        "raw-values": HeadOfInputs,
        "values-not-averaged": HeadOfValues,
        "attends-across-batch": HeadAcrossBatch,
        "flag-turned": HeadFlagTurned,
        "no-causal-mask": HeadUnmasked,
        "always-causal": HeadAlwaysCausal,
        "upper-triangle": HeadUpper,
        "zero-mask": HeadZero,
    },
    "positions": {
        "table-not-cut": table_whole,
        "no-positions": no_places,
        "positions-only": places_alone,
        "multiplied": times,
        "concatenated": side_by_side,
        "positions-by-token": looked_up_by_symbol,
        "positions-along-the-batch": along_the_batch,
        "last-rows": embedded(lambda t, first, T, size: size - T + t - first),
        "counted-from-one": embedded(lambda t, first, T, size: max(t - first, 0) + 1),
        "counted-from-the-end": embedded(lambda t, first, T, size: T - t - 1),
        "start-ignored": embedded(lambda t, first, T, size: t),
        "start-added": embedded(lambda t, first, T, size: min(t + first, size - 1)),
        "padding-wraps": wrapped,
        "padding-filled": padding_not_blank,
        "too-long-accepted": clamped,
    },
    "distance": {
        "bonus-for-distance": tilted(lambda row, d, m, T: -m * d),
        "no-penalty": tilted(lambda row, d, m, T: m * len(d)),
        "same-for-all-distances": tilted(lambda row, d, m, T: m * d.clamp(max=1)),
        "distance-squared": tilted(lambda row, d, m, T: m * d * d),
        "logarithm-of-distance": tilted(lambda row, d, m, T: m * torch.log1p(d)),
        "share-of-the-length": tilted(lambda row, d, m, T: m * d / T),
        "penalty-multiplied": tilted(lambda row, d, m, T: row * m * d),
        "scores-ignored": tilted(lambda row, d, m, T: row + m * d),
        "scaled-again": tilted(lambda row, d, m, T: row - row / T**0.5 + m * d),
        "penalty-after-softmax": subtracted_late,
        "decay-not-normalised": decayed,
        "no-causal-mask": open_future,
        "both-ways": open_both,
        "zero-mask": zero_future,
        "softmax-over-queries": down_the_columns,
    },
    "cross": {
        "self-cross": values_from_x,
        "self-attention": talks_to_itself,
        "roles-exchanged": memory_asks,
        "maps-exchanged": maps_mixed_up,
        "raw-values": memory_itself,
        "scale-by-channels": crossing(lambda q, v: len(q) ** 0.5),
        "scale-by-values": crossing(lambda q, v: v.shape[1] ** 0.5),
        "no-scale": crossing(lambda q, v: 1),
        "causal-mask-kept": crossing(weigh=still_causal),
        "softmax-over-queries": crossing(weigh=lambda s, seen: s.softmax(1)),
        "padding-seen": crossing(weigh=lambda s, seen: s.softmax(2)),
        "one-padding-seen": crossing(by=1),
        "last-symbol-hidden": crossing(by=-1),
        "inverted-mask": crossing(weigh=lambda s, seen: torch.where(seen, -INF, s).softmax(-1)),
        "zero-mask": crossing(weigh=lambda s, seen: (s * seen).softmax(-1)),
        "padding-as-zeros": blanked_memory,
        "masked-after-softmax": crossing(weigh=lambda s, seen: seen * s.softmax(-1)),
    },
}

ODD = {
    "scores": [
        (lambda x, q, k: products(x, q, k) / 3, "wrong-scale"),
        (lambda x, q, k: x @ q, "shape"),
        (lambda x, q, k: scores_by_einsum(x, q, k) + torch.arange(x.shape[-2]), "difference"),
    ],
    "weights": [
        (lambda s, past, start: weights_by_loop(s, past, start)[0], "shape"),
        (lambda s, past, start: torch.full(s.shape, 1 / s.shape[1]), "sees-the-future"),
        (lambda s, past, start: torch.eye(s.shape[1]).expand(s.shape), "sees-padding"),
    ],
    "head": [
        (HeadWithoutNames, "error"),
        (HeadShifted, "difference"),
        (lambda *sizes: lambda x: x, "error"),
    ],
    "positions": [
        (lambda tokens, e, p, start: e[tokens] + p[0], "difference"),
        (lambda tokens, e, p, start: tokens, "shape"),
    ],
    "distance": [
        (tilted(lambda row, d, m, T: 2 * m * d), "difference"),
        (lambda s, m: torch.full(s.shape, 1 / s.shape[1]), "sees-the-future"),
        (lambda s, m: distance_by_loop(s, m) / 2, "rows-do-not-sum-to-one"),
    ],
    "cross": [
        (
            crossing(weigh=lambda s, seen: torch.where(seen, s, s - 1).softmax(-1)),
            "padding-wrong",
        ),
        (lambda x, m, q, k, v, n: cross_by_loop(x, m, q, k, v, n) * 2, "difference"),
        (lambda x, m, q, k, v, n: m @ v, "roles-exchanged"),
    ],
}

SCAFFOLD = dict.fromkeys(RIGHT, unfilled)
