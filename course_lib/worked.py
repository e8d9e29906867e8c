"""One sentence of four words with small numbers, which chapters 01, 02, 05, 06 and 07 take one step
further each.

T = 4 words of C = 4 channels. What a channel means is written down here, so that each result can be
said in words; in a trained model nobody chooses the channels. All chapters follow one number: how
much *noun* the word `itself` holds, 1 in the embedding.

====  ==================================================================  ===================
in    step                                                                noun, at `itself`
====  ==================================================================  ===================
01    mean of the past: `tril` of ones, rows divided by their sums         0.75
02    weights from dot products: softmax of x xᵀ / √C over the past        1.10
05    one head of D = 2, the first of `two_heads`, scaled by √D            1.65, in its channel 0
06    two heads side by side, then `projection`                            1.65, back in *noun*
07    added to the stream, then normalized, then `feed_forward` added      2.65, 1.35, 2.65
====  ==================================================================  ===================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

WORDS = ("the", "cat", "saw", "itself")
CHANNELS = ("article", "noun", "verb", "pronoun")


class HeadMatrices(NamedTuple):
    """What one head of the worked sentence multiplies by, (C, D) = (4, 2) each."""

    query: Tensor
    key: Tensor
    value: Tensor


class NetworkMatrices(NamedTuple):
    """A feed-forward network with one hidden unit: (C, 1), its bias (1,), and (1, C)."""

    widen: Tensor
    bias: Tensor
    narrow: Tensor


def embeddings() -> Tensor:
    """(T, C): *itself* is a pronoun, and a little of a noun."""
    return torch.tensor(
        [
            [1.0, 0.0, 0.0, 0.0],  # the
            [0.0, 2.0, 0.0, 0.0],  # cat
            [0.0, 0.0, 2.0, 0.0],  # saw
            [0.0, 1.0, 0.0, 1.0],  # itself
        ]
    )


def two_heads() -> tuple[HeadMatrices, HeadMatrices]:
    """Two heads that offer the same keys and values and ask for different things.

    Key and value have two channels, *is a noun* and *is a verb*. In the first head verbs and
    pronouns ask for a noun; in the second, pronouns ask for a verb.
    """
    offered = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])  # (C, D)
    for_nouns = torch.tensor([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    for_verbs = torch.tensor([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 2.0]])
    return (
        HeadMatrices(for_nouns, offered, offered),
        HeadMatrices(for_verbs, offered, offered),
    )


def projection() -> Tensor:
    """(H · D, C): the noun that the first head found and the verb that the second found.

    It drops what the heads found besides, which no sum of the heads could do.
    """
    return torch.tensor(
        [
            [0.0, 1.0, 0.0, 0.0],  # first head, noun → noun
            [0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],  # second head, verb → verb
        ]
    )


def feed_forward() -> NetworkMatrices:
    """It answers to a noun *and* a verb, and writes to *pronoun* that both were found."""
    return NetworkMatrices(
        widen=torch.tensor([[0.0], [1.0], [1.0], [0.0]]),
        bias=torch.tensor([-1.5]),
        narrow=torch.tensor([[0.0, 0.0, 0.0, 2.0]]),
    )


def table(numbers: Tensor, columns: Sequence[str] = CHANNELS) -> str:
    """A table as text: a row for each word, two decimals.

    Parameters
    ----------
    numbers : (T, n) float
        One row for each word of the sentence.
    columns : sequence of str
        The headings, n of them.

    Raises
    ------
    ValueError
        If `numbers` has other rows or columns.
    """
    if tuple(numbers.shape) != (len(WORDS), len(columns)):
        raise ValueError(
            f"numbers has the shape {tuple(numbers.shape)}: a row for each of the {len(WORDS)} "
            f"words and a column for each of the {len(columns)} headings are needed"
        )
    head = " " * 6 + "".join(f"{name:>9}" for name in columns)
    rows = [
        f"{word:6}" + "".join(f"{number:9.2f}" for number in row)
        for word, row in zip(WORDS, numbers.tolist(), strict=True)
    ]
    return "\n".join([head, *rows])
