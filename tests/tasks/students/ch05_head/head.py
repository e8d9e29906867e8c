"""Students' answers to 05/head."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from students.ch05_head.shared import INF


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


class HeadWithAMemory(PlainHead):
    seen = None

    def mask(self, scores):
        if self.causal:
            if self.seen is None:
                self.seen = torch.ones_like(scores[0]).tril() == 1
            scores = scores.masked_fill(~self.seen, -INF)
        return scores


class HeadScaledByChannels(PlainHead):
    def scores(self, x):
        return self.query(x) @ self.key(x).mT * x.shape[-1] ** -0.5


class HeadUnscaled(PlainHead):
    def scores(self, x):
        return torch.bmm(self.query(x), self.key(x).permute(0, 2, 1))


class HeadScaledLate(HeadUnscaled):
    def forward(self, x):
        return super().forward(x) * self.query.out_features**-0.5


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


class HeadUpper(PlainHead):
    def mask(self, scores):
        if not self.causal:
            return scores
        return scores.masked_fill(torch.ones_like(scores).triu() == 0, -INF)


class HeadUncut(PlainHead):
    def mask(self, scores):
        return scores.masked_fill(self.tril == 0, -INF) if self.causal else scores


class HeadShifted(LibraryHead):
    def forward(self, x):
        return super().forward(x) + 1


# "with causal=False it sees the whole text": in one softmax
class MeanOfTwoDirections(LibraryHead):
    def forward(self, x):
        query, key, value = self.query(x), self.key(x), self.value(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
        T = x.shape[1]
        future = torch.ones(T, T, dtype=torch.bool).triu(1)
        found = scores.masked_fill(future, -INF).softmax(dim=-1) @ value
        if self.is_causal:
            return found
        back = scores.masked_fill(future.T, -INF).softmax(dim=-1) @ value
        return (found + back) / 2


# "causal: whether the future is hidden": whatever the scores
class HeadNearlyMasked(PlainHead):
    fill = -20.0

    def mask(self, scores):
        T = scores.shape[-1]
        return scores.masked_fill(self.tril[:T, :T] == 0, self.fill) if self.causal else scores


# (B, T, C) → (B, T, value_size): for one text, and for one symbol
class HeadSqueezed(PlainHead):
    def forward(self, x):
        return super().forward(x).squeeze()


class HeadSqueezedInFront(PlainHead):
    def forward(self, x):
        return super().forward(x).squeeze(0)


# "A text may have any length up to block_size": 1, too, and block_size itself
class HeadOfTwoSymbols(PlainHead):
    def forward(self, x):
        if x.shape[1] < 2:
            raise ValueError("the text is too short")
        return super().forward(x)


class HeadOfShorterTexts(PlainHead):
    def forward(self, x):
        if x.shape[1] >= len(self.tril):
            raise ValueError("the text is too long")
        return super().forward(x)


class HeadDeafToItself(PlainHead):
    def forward(self, x):
        return super().forward(x) * (x.shape[1] > 1)


# "your functions leave what they are given as it was"
class HeadThatCentersInPlace(PlainHead):
    def forward(self, x):
        found = super().forward(x)
        x -= x.mean(-1, keepdim=True)
        return found


class HeadOfCenteredSymbols(PlainHead):
    def forward(self, x):
        return super().forward(x - x.mean(-1, keepdim=True))


class HeadOverQueries(PlainHead):
    def forward(self, x):
        return F.softmax(self.mask(self.scores(x)), dim=-2) @ self.value(x)


RIGHT = {
    "with biases, layers in another order": PlainHead,
    "the library's attention": LibraryHead,
    "loop": LoopedHead,
}


class HeadWithAMaskOfTheClass(PlainHead):
    both_ways = set()  # noqa: RUF012

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.both_ways.discard("all")
        if not self.causal:
            self.both_ways.add("all")
        self.causal = True

    def mask(self, scores):
        return scores if self.both_ways else super().mask(scores)


class HeadWithoutThePast(PlainHead):
    def mask(self, scores):
        T = scores.shape[-1]
        seen = self.tril[:T, :T] if self.causal else self.tril[:T, :T].T
        return scores.masked_fill(seen == 0, -INF)


class HeadWithoutItself(PlainHead):
    def mask(self, scores):
        if self.causal:
            hidden = torch.ones_like(scores[0]).triu()
            hidden[0, 0] = 0
            scores = scores.masked_fill(hidden.bool(), -INF)
        return scores


class HeadCutLate(PlainHead):
    def forward(self, x):
        T = x.shape[1]
        weights = self.scores(x).softmax(-1)
        return (weights * self.tril[:T, :T] if self.causal else weights) @ self.value(x)


class HeadScaledByTime(PlainHead):
    def scores(self, x):
        return self.query(x) @ self.key(x).transpose(1, 2) / math.sqrt(x.shape[1])


class HeadOfScores(PlainHead):
    def forward(self, x):
        scores = self.scores(x)
        if self.causal:
            scores = torch.tril(scores)
        return scores @ self.value(x)


class HeadCutBelow(PlainHead):
    def mask(self, scores):
        T = scores.shape[-1]
        return scores.masked_fill(self.tril[-T:, :T] == 0, -INF) if self.causal else scores


class HeadOfOneSize(PlainHead):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__(n_embd, head_size, value_size, block_size, causal)
        self.value = nn.Linear(n_embd, head_size)


class HeadWhoseKeysAsk(PlainHead):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.query = self.key


class HeadOfLetters(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.q, self.k = nn.Linear(n_embd, head_size), nn.Linear(n_embd, head_size)
        self.v = nn.Linear(n_embd, value_size)

    def forward(self, x):
        return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x))


class HeadThatCountsTexts(PlainHead):
    def mask(self, scores):
        T = scores.shape[0]
        return scores.masked_fill(self.tril[:T, :T] == 0, -INF) if self.causal else scores


class HeadOfAddedMasks(PlainHead):
    def mask(self, scores):
        T = scores.shape[-1]
        return scores + self.tril[:T, :T] if self.causal else scores


class HeadOfThreeSymbols(PlainHead):
    def mask(self, scores):
        T = scores.shape[-1]
        near = self.tril[:T, :T].triu(-2)
        return scores.masked_fill(near == 0, -INF) if self.causal else scores


class HeadOfScaledOutputs(PlainHead):
    def forward(self, x):
        return super().forward(x) * 0.9


WRONG = {
    "softmax-over-queries": HeadOverQueries,
    "layer-of-other-dimensions": HeadOfOneSize,
    "one-layer-for-two": HeadWhoseKeysAsk,
    "other-names": HeadOfLetters,
    "mask-cut-to-the-batch": HeadThatCountsTexts,
    "mask-added-to-scores": HeadOfAddedMasks,
    "no-softmax": HeadOfScores,
    "wrong-corner": HeadCutBelow,
    "scale-by-length": HeadScaledByTime,
    "masked-after-softmax": HeadCutLate,
    "shared-by-all-heads": HeadWithAMaskOfTheClass,
    "mean-of-two-directions": MeanOfTwoDirections,
    "mask-not-cut": HeadUncut,
    "state-kept": HeadWithAMemory,
    "scale-by-channels": HeadScaledByChannels,
    "scale-after-softmax": HeadScaledLate,
    "values-not-averaged": HeadOfValues,
    "attends-across-batch": HeadAcrossBatch,
    "flag-turned": HeadFlagTurned,
    "no-causal-mask": HeadUnmasked,
    "upper-triangle": HeadUpper,
    "moderate-fill": HeadNearlyMasked,
    "future-if-not-causal": HeadWithoutThePast,
    "diagonal-hidden": HeadWithoutItself,
}


ODD = [
    (HeadOfThreeSymbols, "other-weights"),
    (HeadOfScaledOutputs, "other-weights"),
    (HeadShifted, "added-1-to-the-values"),
    (HeadThatCentersInPlace, "changes-its-input"),
    (HeadOfCenteredSymbols, "other-weights"),
    (HeadSqueezed, "axis-of-one"),
    (HeadSqueezedInFront, "axis-of-one"),
    (HeadOfTwoSymbols, "error"),
    (HeadOfShorterTexts, "error"),
    (HeadDeafToItself, "other-weights"),
    (lambda *sizes: lambda x: x, "error"),
]


# --- Answers that no list names ---


class _Head(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.causal = causal
        self.register_buffer("tril", torch.ones(block_size, block_size).tril())

    def scores(self, x):
        return self.query(x) @ self.key(x).transpose(1, 2) * self.key.out_features**-0.5

    def masked(self, scores):
        T = scores.shape[-1]
        if self.causal:
            scores = scores.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return scores

    def forward(self, x):
        return self.masked(self.scores(x)).softmax(dim=-1) @ self.value(x)


class DropoutLeftIn(_Head):
    def forward(self, x):
        weights = self.masked(self.scores(x)).softmax(dim=-1)
        return torch.dropout(weights, 0.2, True) @ self.value(x)


class ResidualAround(_Head):
    def forward(self, x):
        found = super().forward(x)
        return found + self.value(x)


class NormedOutput(_Head):
    def forward(self, x):
        found = super().forward(x)
        return nn.functional.layer_norm(found, found.shape[-1:])


class FirstSampleForAll(_Head):
    def forward(self, x):
        weights = self.masked(self.scores(x)).softmax(dim=-1)
        return weights[:1] @ self.value(x)


class _BareHead(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.causal = causal
        past = torch.ones(block_size, block_size, dtype=torch.bool).tril()
        self.register_buffer("past", past, persistent=False)

    def weights(self, x):
        T = x.shape[1]
        query, key = self.query(x), self.key(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
        if self.causal:
            scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        return scores.softmax(dim=-1)


class HeadThatNormalizesQueries(_BareHead):
    def forward(self, x):
        T = x.shape[1]
        query, key = self.query(x), self.key(x)
        query = query / query.norm(dim=-1, keepdim=True)
        scores = query @ key.transpose(1, 2)
        if self.causal:
            scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        return scores.softmax(dim=-1) @ self.value(x)


class LayersOfAHead(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.causal = causal

    def scores(self, x):
        query, key = self.query(x), self.key(x)
        return query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])

    def future(self, T):
        return torch.ones(T, T, dtype=torch.bool).triu(1)


# "with causal=False it sees the whole text": each position averages what it sees
class ColumnsWhenItSeesAll(LayersOfAHead):
    def forward(self, x):
        scores = self.scores(x)
        if self.causal:
            scores = scores.masked_fill(self.future(x.shape[1]), -torch.inf)
            return scores.softmax(dim=-1) @ self.value(x)
        return scores.softmax(dim=1) @ self.value(x)


# "with two features that the chapter's head doesn't have": dropout would be a third
class WithDropoutOfChapterSix(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.dropout = nn.Dropout(0.1)
        self.scale = head_size**-0.5
        self.causal = causal
        self.register_buffer("past", torch.ones(block_size, block_size).tril().bool())

    def forward(self, x):
        T = x.shape[1]
        scores = self.scale * self.query(x) @ self.key(x).transpose(1, 2)
        if self.causal:
            scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        return self.dropout(scores.softmax(dim=-1)) @ self.value(x)


UNLISTED = {
    1: [
        (DropoutLeftIn, "not-repeatable"),
        (ResidualAround, "other-weights"),
        (NormedOutput, "brought-each-row-of-your-outputs-to-mean-0-and-variance-1"),
        (
            FirstSampleForAll,
            "used-the-first-item-of-the-products-of-queries-and-keys-for-all-items",
        ),
    ],
    2: [(HeadThatNormalizesQueries, "other-weights")],
    4: [(ColumnsWhenItSeesAll, "softmax-over-queries")],
    6: [(WithDropoutOfChapterSix, "not-repeatable")],
}
