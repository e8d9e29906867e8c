"""Counted n-grams: modified Kneser–Ney probabilities, as a table that a network can build on.

How often each symbol followed each short context is all that counting can know. Kneser–Ney takes a
discount from each count and hands it to the next shorter context, whose own counts are not how
often, but after how many different symbols. Building it takes one sort for each order.

A network that is trained on top of the counts must not meet counts that contain its own answers: it
would trust them more than a new text bears out. `held_out` counts a text in parts for that.

Source: Kneser and Ney (1995); Chen and Goodman (1999), section 3, for the three discounts.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from course_lib.errors import ConfigError, CorpusTooShortError

LARGEST_ORDER = 8  # beyond it, rows of a text of a million symbols are nearly all seen once


class KneserNey(nn.Module):
    """log p(next symbol | the last order − 1 symbols), from counts.

    Parameters
    ----------
    tokens : (N,) int64
        The text that is counted.
    vocab_size : int
        V.
    order : int
        Length of the longest n-gram, from 1 (no context) to 8.

    Raises
    ------
    ConfigError
        If the order is outside its range.
    CorpusTooShortError
        If the text holds no n-gram of that order.
    """

    def __init__(self, tokens: Tensor, vocab_size: int, order: int):
        super().__init__()
        if not 1 <= order <= LARGEST_ORDER:
            raise ConfigError(f"order = {order}: from 1 to {LARGEST_ORDER}")
        if len(tokens) < order:
            raise CorpusTooShortError(
                f"N = {len(tokens)} tokens hold no n-gram of order {order}; choose a lower order"
            )
        self.vocab_size, self.order, self.block_size = vocab_size, order, None
        text = tokens.cpu().numpy()
        grams = np.zeros(len(text) - order + 1, dtype=np.int64)
        for place in range(order):  # an n-gram as one number in base V
            grams = grams * vocab_size + text[place : place + len(grams)]
        grams, counts = np.unique(grams, return_counts=True)
        for n in range(order, 0, -1):
            self._keep(n, grams, counts)
            # Without its first symbol, each distinct n-gram is one continuation of a shorter one.
            if n > 1:
                grams, counts = np.unique(grams % vocab_size ** (n - 1), return_counts=True)

    def _keep(self, n: int, grams: np.ndarray, counts: np.ndarray) -> None:
        V = self.vocab_size
        once, twice, thrice, more = (int((counts == k).sum()) for k in (1, 2, 3, 4))
        share = once / max(1, once + 2 * twice)
        after = ((once, twice), (twice, thrice), (thrice, more))
        discounts = [0.0] + [
            min(k, max(0.0, k - (k + 1) * share * b / a)) if a else 0.0
            for k, (a, b) in enumerate(after, start=1)
        ]
        taken = np.asarray(discounts)[np.minimum(counts, 3)]
        contexts, row = np.unique(grams // V, return_inverse=True)
        kept = np.zeros((len(contexts), V), dtype=np.float32)
        kept[row, grams % V] = counts - taken
        tables = {
            "contexts": contexts,
            "kept": kept,
            "total": np.bincount(row, counts).astype(np.float32),
            "taken": np.bincount(row, taken).astype(np.float32),
        }
        for name, table in tables.items():
            # The text determines them: a checkpoint need not hold them.
            self.register_buffer(f"{name}{n}", torch.from_numpy(table), persistent=False)

    def forward(
        self, tokens: Tensor, targets: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Log-probabilities (B, T, V) and the mean loss if targets are given."""
        logits = self.log_probabilities(tokens)
        if targets is None:
            return logits, None
        return logits, nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @torch.no_grad()
    def log_probabilities(self, tokens: Tensor) -> Tensor:
        """What counting expects next.

        Parameters
        ----------
        tokens : (B, T) int64
            Windows; at their start, shorter contexts are used.

        Returns
        -------
        (B, T, V) float32
            Rows sum to 1 after `exp`.
        """
        V = self.vocab_size
        probabilities = torch.full((tokens.numel(), V), 1 / V, device=tokens.device)
        for n, key in enumerate(self._keys(tokens), start=1):
            contexts = self.get_buffer(f"contexts{n}")
            row = torch.searchsorted(contexts, key).clamp_(max=len(contexts) - 1)
            seen = contexts[row] == key
            kept = self.get_buffer(f"kept{n}")[row]  # (B·T, V)
            total, taken = self.get_buffer(f"total{n}")[row], self.get_buffer(f"taken{n}")[row]
            # A context that was never seen says nothing: the shorter one's answer stands.
            share = torch.where(seen, taken / total, 1.0).unsqueeze(1)  # (B·T, 1)
            own = torch.where(seen, 1 / total, 0.0).unsqueeze(1)
            probabilities.mul_(share).addcmul_(kept, own)
        return probabilities.clamp_(min=1e-9).log_().view(*tokens.shape, V)  # (B·T, V) → (B, T, V)

    def _keys(self, tokens: Tensor) -> list[Tensor]:
        """For each order, the context of each position as one number; −1 where it is cut off."""
        found, key, factor = [], torch.zeros_like(tokens), 1
        for n in range(1, self.order + 1):
            if n > 1:  # one more symbol to the left
                back = n - 2
                earlier = nn.functional.pad(tokens, (back, 0))[:, : tokens.shape[1]]
                key = key + earlier * factor
                factor *= self.vocab_size
            cut = key.clone()
            cut[:, : n - 2 if n > 2 else 0] = -1
            found.append(cut.flatten())
        return found


def held_out(
    tokens: Tensor, vocab_size: int, order: int, parts: int
) -> list[tuple[Tensor, KneserNey]]:
    """Each part of a text, with what counting the other parts says about it.

    Parameters
    ----------
    tokens : (N,) int64
        The text.
    vocab_size, order : int
        As for `KneserNey`.
    parts : int
        How many stretches of equal length, at least 2.

    Returns
    -------
    list of ((N // parts,) tokens, KneserNey)
        In the order of the text.

    Raises
    ------
    ConfigError
        If parts < 2: nothing would be left to count.
    """
    if parts < 2:
        raise ConfigError(f"parts = {parts}: at least 2, so that others are left to count")
    size = len(tokens) // parts
    found = []
    for start in range(0, size * parts, size):
        others = torch.cat([tokens[:start], tokens[start + size :]])
        found.append((tokens[start : start + size], KneserNey(others, vocab_size, order)))
    return found
