"""What several tasks of chapter 11 share: a small model whose heads can be replaced."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor

from course_tasks.answers import Array
from course_tasks.inputs import Rng, tensor
from course_tasks.probing import Inputs

LAYERS, HEADS = 2, 3

WEIGHTS = ("tokens", "positions", "query", "key", "value", "output", "unembedding")
"""Names of the inputs that a model is made of, each with the prefix "model."."""


class Pass(NamedTuple):
    """What one pass of the model leaves behind.

    Attributes
    ----------
    logits : (B, T, V) float
    found : (L, B, H, T, D) float
        What each head found: its weights times its values, before the output matrix.
    weights : (L, B, H, T, T) float
        How much position t looks at position s.
    """

    logits: Tensor
    found: Tensor
    weights: Tensor


Replaced: TypeAlias = Mapping[tuple[int, int], Tensor]


class Runner:
    """The model of these inputs as a function of tokens, and of what replaces heads."""

    def __init__(self, given: Inputs, prefix: str = "model"):
        self._weights = tuple(given[f"{prefix}.{name}"] for name in WEIGHTS)
        self._tensors = tuple(tensor(array) for array in self._weights)
        _, _, query, key, value, output, _ = self._tensors
        self._D = query.shape[2]
        read = torch.stack([query, key, value], dim=1).flatten(1, 3).mT  # (L, C, 3 · H · D)
        written = output.transpose(2, 3).flatten(1, 2)  # (L, H, C, D) → (L, H · D, C)
        self._layers = tuple(zip(read, written, strict=True))

    def digest(self) -> bytes:
        """The same for two models with the same weights."""
        made = hashlib.sha256()
        for array in self._weights:
            made.update(f"{array.shape}".encode() + array.tobytes())
        return made.digest()

    def __call__(self, texts: Tensor, replaced: Replaced | None = None) -> Pass:
        """(B, T) int64 → a pass; `replaced` maps (layer, head) to what the head is to find."""
        tokens, positions, *_, unembedding = self._tensors
        B, T = texts.shape
        x = tokens[texts] + positions[:T]  # (B, T, C)
        future = torch.ones(T, T, dtype=torch.bool).triu(1)
        found, weights = [], []
        for layer, (read, written) in enumerate(self._layers):
            q, k, v = (x @ read).view(B, T, 3, -1, self._D).permute(2, 0, 3, 1, 4)  # (B, H, T, D)
            scores = q @ k.mT / math.sqrt(self._D)  # (B, H, T, T)
            weights.append(scores.masked_fill(future, -torch.inf).softmax(dim=-1))
            heads = weights[-1] @ v  # (B, H, T, D)
            for (at, head), other in (replaced or {}).items():
                if at == layer:
                    heads = heads.clone()
                    heads[:, head] = torch.as_tensor(other, dtype=heads.dtype)
            found.append(heads)
            x = x + heads.transpose(1, 2).reshape(B, T, -1) @ written
        return Pass(x @ unembedding.T, torch.stack(found), torch.stack(weights))


class Watched(Runner):
    """The same, and it remembers by what its heads were replaced."""

    def __init__(self, given: Inputs, prefix: str = "model"):
        super().__init__(given, prefix)
        self._calls: list[tuple[Tensor, dict[tuple[int, int], Tensor]]] = []

    def __call__(self, texts: Tensor, replaced: Replaced | None = None) -> Pass:
        """(B, T) int64 → a pass."""
        made = super().__call__(texts, replaced)
        put = {
            (int(layer), int(head)): torch.as_tensor(other).detach().clone()
            for (layer, head), other in (replaced or {}).items()
        }
        self._calls.append((texts.clone(), put))
        return made

    def handed(self, texts: Tensor) -> Tensor:
        """(L, H, B, T, D): what each head found instead on these texts, in the last call that
        replaced no other head; NaN if there was none.
        """
        L, H, D, _ = self._tensors[2].shape
        given = torch.full((L, H, *texts.shape, D), torch.nan)
        for asked, put in self._calls:
            if len(put) == 1 and torch.equal(asked, texts):
                ((layer, head), other), *_ = put.items()
                if layer in range(L) and head in range(H):
                    given[layer, head] = other
        return given

    def together(self) -> int:
        """How many heads were replaced in one call, at most."""
        return max((len(put) for _, put in self._calls), default=0)

    def unknown(self) -> Tensor:
        """(n, 2): layer and head of what was to be replaced, but isn't there."""
        L, H = self._tensors[2].shape[:2]
        asked = [place for _, put in self._calls for place in put]
        outside = [(k, h) for k, h in asked if k not in range(L) or h not in range(H)]
        return torch.tensor(outside, dtype=torch.int64).reshape(-1, 2)

    def seen(self, texts: Tensor) -> dict[str, Tensor | int]:
        """All of this by name, for a judge; `CALLS` has the names."""
        return dict(zip(CALLS, (self.handed(texts), self.together(), self.unknown()), strict=True))


CALLS = ("handed", "together", "unknown")
"""What a judge gets to see of the calls of a model, beside what an answer returns."""


def random_model(
    rng: Rng, V: int, T: int, C: int, D: int, *, heads: tuple[int, int] = (LAYERS, HEADS)
) -> dict[str, Array]:
    """Weights of a model whose heads, (layers, heads a layer), all do something of their own."""

    def drawn(*shape: int, scale: float = 1.0) -> Array:
        return (rng.normal(size=shape) * scale / np.sqrt(shape[-1])).astype(np.float32)

    return {
        "model.tokens": drawn(V, C, scale=np.sqrt(C)),
        "model.positions": drawn(T, C, scale=np.sqrt(C)),
        "model.query": drawn(*heads, D, C, scale=1.5),
        "model.key": drawn(*heads, D, C, scale=1.5),
        "model.value": drawn(*heads, D, C),
        # Heads write more than the tokens bring, so that each of them is missed.
        "model.output": drawn(*heads, C, D, scale=2.0),
        "model.unembedding": drawn(V, C, scale=0.4),
    }
