"""Students' answers to 13/cross-block."""

# ruff: noqa: B905

import math

import torch
import torch.nn.functional as F
from torch import nn

INF = float("inf")


class Parts(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)
        self.H = n_head


class ByLoop(Parts):
    def forward(self, x, memory, real):
        rows = []
        for sample, texts, words in zip(x, memory, real):
            texts = texts[words]
            if len(texts) == 0:
                rows.append(sample)
                continue
            q, k, v = self.query(self.norm(sample)), self.key(texts), self.value(texts)
            found = []
            for qh, kh, vh in zip(*(part.chunk(self.H, dim=1) for part in (q, k, v))):
                found.append((qh @ kh.T / math.sqrt(kh.shape[1])).softmax(1) @ vh)
            rows.append(sample + self.projection(torch.cat(found, 1)))
        return torch.stack(rows)


class ByLibrary(Parts):
    def forward(self, x, memory, real):
        B, T, C = x.shape
        q, k, v = (
            part.view(B, -1, self.H, C // self.H).transpose(1, 2)
            for part in (self.query(self.norm(x)), self.key(memory), self.value(memory))
        )
        anybody = real.any(dim=1)
        mask = torch.where(anybody[:, None], real, True)[:, None, None, :]
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        found = self.projection(found.transpose(1, 2).reshape(B, T, C))
        return x + found * anybody[:, None, None]


class ByEinsum(Parts):
    """With the choices that people get wrong."""

    norms, adds, divides = "before", "once", "D"
    mask, heads, projects = "inf", "chunks", True

    def heads_of(self, x):
        B, T, C = x.shape
        if self.heads == "one":
            return x.view(B, T, 1, C)
        if self.heads == "view":
            return x.contiguous().view(B, self.H, T, -1).transpose(1, 2)
        return torch.stack(x.chunk(self.H, dim=-1), dim=2)  # (B, T, H, D)

    def forward(self, x, memory, real):
        B, T, C = x.shape
        read = x if self.norms in ("never", "after") else self.norm(x)
        q, k, v = map(self.heads_of, (self.query(read), self.key(memory), self.value(memory)))
        over = {"D": k.shape[-1], "C": C, "1": 1, "M": memory.shape[-1], "H": self.H}
        scores = torch.einsum("bthd,bshd->bths", q, k) / over[self.divides] ** 0.5
        found = torch.einsum("bths,bshd->bthd", self.weights(scores, real), v)
        if self.heads == "merge":
            found = found.transpose(1, 2).reshape(B, T, C)
        else:
            found = found.reshape(B, T, C)
        found = self.projection(found) if self.projects else found
        if self.adds == "never":
            return found
        out = (self.norm(x) if self.norms == "stream" else x) + found
        if self.adds == "twice":
            out = out + x
        return self.norm(out) if self.norms == "after" else out

    def weights(self, scores, real):
        seen = real[:, None, None, :].expand_as(scores)
        if self.mask == "causal":
            T, S = scores.shape[1], scores.shape[3]
            seen = seen & (torch.arange(S) <= torch.arange(T)[:, None])[None, :, None]
        if self.mask == "none":
            return scores.softmax(-1)
        if self.mask == "inverted":
            seen = ~seen
        if self.mask == "zero":
            return torch.where(seen, scores, 0.0).softmax(-1)
        if self.mask == "late":
            return scores.softmax(-1) * seen
        if self.mask == "queries":
            return scores.softmax(1) * seen
        if self.mask == "large":
            return torch.where(seen, scores, -1e9).softmax(-1)
        out = torch.where(seen, scores, -INF).softmax(-1)
        return out if self.mask == "nan" else torch.nan_to_num(out)


def but(**choices):
    return type("Answer", (ByEinsum,), choices)


class BiasedProjection(ByLoop):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__(n_embd, n_memory, n_head)
        self.projection = nn.Linear(n_embd, n_embd)


class ZerosForNobody(ByLoop):
    def forward(self, x, memory, real):
        return super().forward(x, memory, real) * real.any(1)[:, None, None]


class NanBesideOthers(but(mask="nan")):
    """Saw NaN with a single sample, and asks the mask as a whole."""

    def forward(self, x, memory, real):
        nothing = int(real.sum()) == 0
        return x.clone() if nothing else super().forward(x, memory, real)


class PaddingZeroed(but(mask="none")):
    def forward(self, x, memory, real):
        return super().forward(x, memory.masked_fill(~real[..., None], 0), real)


RIGHT = {
    "a loop over samples": ByLoop,
    "the library's attention": ByLibrary,
    "einsum": ByEinsum,
}


class OneHeadForAll(ByEinsum):
    """All heads share the weights of the first."""

    def heads_of(self, x):
        heads = super().heads_of(x)
        if getattr(self, "asks", 0) < 2:  # queries and keys, but not values
            heads = heads[:, :, :1].repeat(1, 1, self.H, 1)
        self.asks = getattr(self, "asks", 0) + 1
        return heads

    def forward(self, x, memory, real):
        self.asks = 0
        return super().forward(x, memory, real)


class OtherScores(Parts):
    """With another scale, or with a score that hides too little."""

    hidden, by_places = -INF, False

    def forward(self, x, memory, real):
        q, k, v = (
            part.unflatten(2, (self.H, -1)).transpose(1, 2)
            for part in (self.query(self.norm(x)), self.key(memory), self.value(memory))
        )
        scale = math.sqrt(k.shape[2 if self.by_places else 3])
        scores = (q @ k.mT / scale).masked_fill(~real[:, None, None], self.hidden)
        found = (scores.softmax(-1).nan_to_num() @ v).transpose(1, 2).flatten(2)
        return x + self.projection(found) * real.any(1)[:, None, None]


class LowScores(OtherScores):
    hidden = -2.0


class Chosen(Parts):
    """In small steps, each of which may be another one."""

    eps = 1e-5

    def asks(self, x):
        return F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias, self.eps)

    def looks(self, scores, real):
        return torch.nan_to_num(scores.masked_fill(~real, -INF).softmax(-1))

    def root(self, D):
        return D**0.5

    def leaves(self, x, found):
        return x + self.projection(found)

    def forward(self, x, memory, real):
        q = self.query(self.asks(x)).unflatten(2, (self.H, -1))
        k, v = (layer(memory).unflatten(2, (self.H, -1)) for layer in (self.key, self.value))
        scores = torch.einsum("bthd,bshd->bhts", q, k) / self.root(q.shape[-1])
        weights = self.looks(scores, real[:, None, None])
        return self.leaves(x, torch.einsum("bhts,bshd->bthd", weights, v).flatten(2))


class GivesUpOnPadding(Chosen):
    def forward(self, x, memory, real):
        return torch.where(real.all(1)[:, None, None], super().forward(x, memory, real), x)


class SumAndOne(Chosen):
    def looks(self, scores, real):
        e = torch.exp(scores).masked_fill(~real, 0.0)
        return e / (1 + e.sum(-1, keepdim=True))


class UnchangedIfOneMemoryIsEmpty(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, memory, real):
        if not real.any(dim=1).all():
            return x
        parts = self.query(self.norm(x)), self.key(memory), self.value(memory)
        query, key, value = (p.unflatten(2, (self.n_head, -1)).transpose(1, 2) for p in parts)
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])
        weights = scores.masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
        return x + self.projection((weights @ value).transpose(1, 2).flatten(2))


class _Cross(nn.Module):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def heads(self, part):
        return part.unflatten(2, (self.n_head, -1)).transpose(1, 2)

    def found(self, asks, memory, real, hidden=-torch.inf):
        query, key, value = (
            self.heads(part) for part in (self.query(asks), self.key(memory), self.value(memory))
        )
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[-1])
        weights = scores.masked_fill(~real[:, None, None], hidden).softmax(dim=-1)
        return self.projection((weights.nan_to_num(0.0) @ value).transpose(1, 2).flatten(2))


class CrossWithHeadsInterleaved(_Cross):
    def heads(self, part):
        return part.unflatten(2, (-1, self.n_head)).permute(0, 3, 1, 2)

    def forward(self, x, memory, real):
        return x + self.found(self.norm(x), memory, real)


class Cross(nn.Module):
    """What the wrong answers share: the right one, with places to go wrong."""

    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def split(self, part):
        return part.unflatten(2, (self.n_head, -1)).transpose(1, 2)

    def scale(self, key):
        return math.sqrt(key.shape[-1])

    def ask(self, x):
        return self.query(self.norm(x))

    def weigh(self, scores, real):
        weights = scores.masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
        return weights.nan_to_num(0.0)

    def close(self, x, found):
        return x + self.projection(found)

    def forward(self, x, memory, real):
        query, key, value = map(self.split, (self.ask(x), self.key(memory), self.value(memory)))
        weights = self.weigh(query @ key.mT / self.scale(key), real)
        return self.close(x, (weights @ value).transpose(1, 2).flatten(2))


class SigmoidForSoftmax(Cross):
    def weigh(self, scores, real):
        return scores.sigmoid() * real[:, None, None]


class MemoryNormed(ByLibrary):
    def forward(self, x, memory, real):
        centered = memory - memory.mean(-1, keepdim=True)
        scale = (centered.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return super().forward(x, centered / scale, real)


class TalksToItself(Parts):
    def forward(self, x, memory, real):
        rows = []
        for sample, words in zip(x, real):
            if not words.any():
                rows.append(sample)
                continue
            q, k, v = self.query(self.norm(sample)), self.key(sample), self.value(sample)
            parts = zip(*(part.chunk(self.H, dim=1) for part in (q, k, v)))
            found = [(qh @ kh.T / math.sqrt(kh.shape[1])).softmax(1) @ vh for qh, kh, vh in parts]
            rows.append(sample + self.projection(torch.cat(found, 1)))
        return torch.stack(rows)


WRONG = {
    "looks-at-itself": TalksToItself,
    "one-head": but(heads="one"),
    "scrambled-split": but(heads="view"),
    "causal-mask-kept": but(mask="causal"),
    "padding-zeroed": PaddingZeroed,
    "padding-for-no-word": GivesUpOnPadding,
    "more-in-the-sum": SumAndOne,
    "one-nobody-for-all": UnchangedIfOneMemoryIsEmpty,
    "post-norm": but(norms="after"),
    "normed-stream": but(norms="stream"),
    "memory-normed": MemoryNormed,
    "no-scale": but(divides="1"),
    "heads-interleaved": CrossWithHeadsInterleaved,
    "zero-mask": but(mask="zero"),
    "nan-for-nobody": but(mask="nan"),
    "whole-batch-asked": NanBesideOthers,
    "padding-for-nobody": but(mask="large"),
    "with-biases": BiasedProjection,
    "zeros-for-nobody": ZerosForNobody,
    "sigmoid-for-softmax": SigmoidForSoftmax,
}


# One biased layer is told as all four are, and a mistake beside it is still called by its name.
ODD = [
    (OneHeadForAll, "other-weights"),
    (LowScores, "other-weights"),
]


# --- Answers that no list names ---


UNLISTED = {}
