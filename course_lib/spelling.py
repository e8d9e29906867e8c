"""Names as a language model reads and writes them: shuffled, in rows of their own, to their end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from course_lib.contexts import evaluation_mode
from course_lib.errors import ConfigError, CorpusTooShortError, ShapeError
from course_lib.sampling import next_probabilities

if TYPE_CHECKING:
    from course_lib.data import Vocabulary

BOUNDARY = "."


def reshuffled(
    tokens: Tensor, boundary: int = 0, generator: torch.Generator | None = None
) -> Tensor:
    """The same names in another order, with the boundary before, between and after them.

    Parameters
    ----------
    tokens : (N,) int64
        Begins and ends with the boundary.
    boundary : int
        The token between names.
    generator : torch.Generator, optional
        Source of the order.

    Returns
    -------
    (N,) int64
        Each name as often as before.

    Raises
    ------
    CorpusTooShortError
        If no name stands between two boundaries.
    """
    places = (tokens == boundary).nonzero().squeeze(1)  # (K+1,): where names begin and end
    if len(places) < 2:
        raise CorpusTooShortError(f"{len(places)} boundary symbols hold no name between them")
    order = torch.randperm(len(places) - 1, generator=generator)  # (K,)
    starts, lengths = places[:-1][order], places.diff()[order]
    goes_to = lengths.cumsum(0) - lengths  # (K,): where each name begins in the new order
    back = torch.repeat_interleave(starts - goes_to, lengths)  # (N−1,)
    shuffled = tokens[torch.arange(len(back)) + back]
    return torch.cat([shuffled, tokens[-1:]])


def name_rows(tokens: Tensor, block_size: int, boundary: int = 0) -> tuple[Tensor, Tensor]:
    """One name a row, padded: the boundary and the letters in, the letters and the boundary out.

    Parameters
    ----------
    tokens : (N,) int64
        Names between boundary symbols.
    block_size : int
        T, at least the longest name's letters and 1.
    boundary : int
        The token between names; inputs are padded with it.

    Returns
    -------
    x : (K, T) int64
        Boundary, letters, padding.
    y : (K, T) int64
        Letters, boundary, then −100, which counts for nothing.

    Raises
    ------
    ShapeError
        If a name does not fit into a row.
    """
    places = (tokens == boundary).nonzero().squeeze(1)  # (K+1,)
    starts, lengths = places[:-1], places.diff()  # (K,): boundary and letters of a name
    if len(lengths) and lengths.max() > block_size:
        raise ShapeError(
            f"block_size = {block_size}: the longest name has {int(lengths.max()) - 1} letters "
            f"and an end; choose at least {int(lengths.max())}"
        )
    column = torch.arange(block_size)
    inside = column < lengths[:, None]  # (K, T)
    at = torch.where(inside, starts[:, None] + column, 0)
    return torch.where(inside, tokens[at], boundary), torch.where(inside, tokens[at + 1], -100)


@dataclass(frozen=True)
class Written:
    """Names that a model wrote, and what became of the draws.

    Attributes
    ----------
    names : tuple of str
        Kept: in none of the lists they were compared with, each once.
    drawn : int
        Draws that it took.
    copied : int
        Draws that were in the list given as `known`.
    repeated : int
        Draws that had been drawn before and are not copies.
    """

    names: tuple[str, ...]
    drawn: int
    copied: int
    repeated: int

    @property
    def novelty(self) -> float:
        """The share of all draws that are not in `known`."""
        return 1 - self.copied / self.drawn


@torch.no_grad()
def spell_names(
    model: nn.Module,
    vocabulary: Vocabulary,
    count: int,
    *,
    prefix: str = "",
    temperature: float = 1.0,
    length: int | None = None,
    longest: int = 20,
    generator: torch.Generator | None = None,
) -> list[str]:
    """Draw names letter by letter until the boundary.

    Parameters
    ----------
    model : nn.Module
        Called as `logits, _ = model(tokens)`; dropout is off while it writes.
    vocabulary : Vocabulary
        Holds the boundary symbol ".".
    count : int
        Names to draw, all at once.
    prefix : str
        How every name begins.
    temperature : float
        Logits are divided by it; 0 takes the most likely letter.
    length : int, optional
        Exactly so many letters: until then the boundary cannot be drawn, and then the name ends.
        Left out: names end where the model ends them.
    longest : int
        A name that has not ended by then is cut.
    generator : torch.Generator, optional
        Source of the draws.

    Returns
    -------
    list of str
        `count` names without boundaries; the same one may occur twice.

    Raises
    ------
    ConfigError
        If the prefix is longer than the names may be, or a number is out of range.
    UnknownSymbolError
        If the prefix holds a symbol that the vocabulary does not.
    """
    end = length if length is not None else longest
    if count < 1 or end < max(1, len(prefix)):
        raise ConfigError(
            f"count = {count}, length = {length}, longest = {longest}, prefix = {prefix!r}: "
            "at least one name, and no shorter than its prefix and 1"
        )
    boundary = int(vocabulary.encode(BOUNDARY))
    tokens = vocabulary.encode(BOUNDARY + prefix).repeat(count, 1)  # (count, 1 + prefix)
    ended = torch.zeros(count, dtype=torch.bool)
    reach = getattr(model, "block_size", None) or tokens.shape[1] + end
    with evaluation_mode(model):
        while tokens.shape[1] <= end and not ended.all():
            # (count, V): after the last letter
            logits = model(tokens[:, -reach:])[0][:, -1].clone()
            if length is not None:
                logits[:, boundary] = -torch.inf
            weights = next_probabilities(logits, temperature)
            drawn = torch.multinomial(weights, 1, generator=generator)  # (count, 1)
            drawn[ended] = boundary
            tokens = torch.cat([tokens, drawn], dim=1)
            ended |= drawn.squeeze(1) == boundary
    texts = (vocabulary.decode(row) for row in tokens[:, 1:])
    return [text.split(BOUNDARY, 1)[0] for text in texts]


def write_new(
    model: nn.Module,
    vocabulary: Vocabulary,
    count: int,
    known: Collection[str],
    *,
    prefix: str = "",
    temperature: float = 1.0,
    length: int | None = None,
    generator: torch.Generator | None = None,
    most: int = 20_000,
) -> Written:
    """Draw names until there are `count` different ones, none of them known.

    Parameters
    ----------
    model, vocabulary, prefix, temperature, length, generator
        As for `spell_names`.
    count : int
        How many new names are wanted.
    known : collection of str
        The names that were trained on.
    most : int
        Draws after which it stops with what it has: a cold model writes one name for ever.

    Returns
    -------
    Written
        At most `count` names, and how many draws were copies.
    """
    known, kept = frozenset(known), dict[str, None]()
    drawn = copied = repeated = 0
    while len(kept) < count and drawn < most:
        draws = spell_names(
            model,
            vocabulary,
            min(count, most - drawn),
            prefix=prefix,
            temperature=temperature,
            length=length,
            generator=generator,
        )
        for name in draws:
            if len(kept) == count:
                break
            drawn += 1
            if name in known:
                copied += 1
            elif name in kept:
                repeated += 1
            elif name:
                kept[name] = None
    return Written(tuple(kept), drawn, copied, repeated)
