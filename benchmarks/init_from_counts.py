"""Head starts: weights that are set by counting, so that training begins where counting ends.

Three of the course's models can hold what a table of bigrams knows from the first step on. The
`Bigram` is that table. `OneHead` and `ManyHeads` get as much of it as fits through their channels,
with attention that looks at fixed places; training then has to learn where else to look.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor

from course_lib.errors import ConfigError
from course_lib.model import Bigram, Head, ManyHeads, OneHead


def log_probabilities_after(
    tokens: Tensor, vocab_size: int, distance: int = 1, extra: float = 0.1
) -> Tensor:
    """How likely each symbol stands some steps after each, from counts.

    Parameters
    ----------
    tokens : (N,) int64
        The text.
    vocab_size : int
        V.
    distance : int
        How many steps later; 1 counts bigrams.
    extra : float
        Added to each count, so that what never happened is unlikely, not impossible.

    Returns
    -------
    (V, V) float
        Row: the earlier symbol; the exponentials of a row sum to 1.
    """
    V = vocab_size
    pairs = tokens[:-distance] * V + tokens[distance:]
    counts = torch.bincount(pairs, minlength=V * V).view(V, V) + extra
    return (counts / counts.sum(dim=1, keepdim=True)).log()


def count_bigram(model: Bigram, tokens: Tensor) -> Bigram:
    """Set the table to the counted log-probabilities: the optimum that gradient steps approach.

    Parameters
    ----------
    model : Bigram
        Changed in place.
    tokens : (N,) int64
        The text that is counted.

    Returns
    -------
    Bigram
        `model`.
    """
    with torch.no_grad():
        model.table.weight.copy_(log_probabilities_after(tokens, len(model.table.weight)))
    return model


def count_head(model: OneHead, tokens: Tensor, focus: float = 3.0) -> OneHead:
    """Let the head begin as the best bigram model that D channels can carry.

    The table of log-probabilities is split into (V, D) times (D, V) by singular values: the left
    part becomes token embeddings, which the value passes on, the right part the output layer. T
    further channels hold the position, one each, and give equal positions a high score.

    Parameters
    ----------
    model : OneHead
        Changed in place; needs C ≥ D + block_size.
    tokens : (N,) int64
        The text that is counted.
    focus : float
        How strongly each position first looks at itself.

    Returns
    -------
    OneHead
        `model`.

    Raises
    ------
    ConfigError
        If C < D + block_size: positions would not get a channel each.

    Source: Eckart and Young (1936), for the best table of rank D.
    """
    T, D = model.block_size, model.head.value.out_features
    V, C = model.embedding.tokens.weight.shape
    if D + T > C or D < T:
        raise ConfigError(
            f"n_embd = {C}, head_size = {D}, block_size = {T}: a head start needs "
            "n_embd ≥ head_size + block_size and head_size ≥ block_size"
        )
    weight, mean = _weight_and_mean(tokens, V)
    left, right = _factors(log_probabilities_after(tokens, V) - mean, weight, D)
    with torch.no_grad():
        for part in (model.embedding.tokens, model.embedding.positions, model.head.value):
            part.weight.zero_()
        model.embedding.tokens.weight[:, :D] = left
        model.embedding.positions.weight[:, D : D + T] = torch.eye(T)
        model.head.value.weight[:, :D] = torch.eye(D)
        model.output.weight.copy_(right)
        model.output.bias.copy_(mean)
        _look_back(model.head, 0, D, T, focus)
    return model


def count_heads(
    model: ManyHeads,
    tokens: Tensor,
    back: Sequence[int] = (0, 0, 1, 2),
    trust: Sequence[float] = (1.0, 0.5, 0.35),
    focus: float = 3.0,
) -> ManyHeads:
    """The same for heads side by side, of which each begins with a symbol some steps back.

    Heads that look k steps back add what the symbol there says about the next one, times
    `trust[k]`: what several symbols say is not independent, so the sum would be too sure.

    Parameters
    ----------
    model : ManyHeads
        Changed in place; needs head_size ≥ block_size and C > block_size. Not a fused one: fuse it
        afterwards.
    tokens : (N,) int64
        The text that is counted.
    back : sequence of int
        For each head, how many steps back it first looks.
    trust : sequence of float
        For each number of steps back, the weight of what is found there.
    focus : float
        How strongly each position first looks there.

    Returns
    -------
    ManyHeads
        `model`.

    Raises
    ------
    ConfigError
        If positions would not get a channel each, or `back` does not fit the heads.
    """
    heads = [cast(Head, head) for head in model.attention.heads]
    T, D = model.block_size, heads[0].value.out_features
    V, C = model.embedding.tokens.weight.shape
    R = C - T  # channels that are left for symbols
    if R < D or D < T:
        raise ConfigError(
            f"n_embd = {C}, n_head = {len(heads)}, block_size = {T}: a head start needs "
            "n_embd ≥ head_size + block_size and head_size ≥ block_size"
        )
    if len(back) != len(heads) or not set(back) <= set(range(len(trust))):
        raise ConfigError(
            f"back = {tuple(back)}: one entry for each of {len(heads)} heads, each with a trust"
        )
    weight, mean = _weight_and_mean(tokens, V)
    distances = sorted(set(back))
    tables = {
        k: trust[k] * (logs - (weight.square().T @ logs))
        for k, logs in ((k, log_probabilities_after(tokens, V, k + 1)) for k in distances)
    }
    symbols, _ = _factors(torch.cat([tables[k] for k in distances], dim=1), weight, R)  # (V, R)
    with torch.no_grad():
        model.embedding.tokens.weight.zero_()
        model.embedding.positions.weight.zero_()
        model.embedding.tokens.weight[:, :R] = symbols
        model.embedding.positions.weight[:, R:] = torch.eye(T)
        model.attention.projection.weight.copy_(torch.eye(C))
        model.attention.projection.bias.zero_()
        model.output.bias.copy_(mean)
        for k in distances:
            chosen = [h for h, steps in enumerate(back) if steps == k]
            # What R channels can say of this table, through the D channels of each chosen head.
            reachable = symbols @ _solved(symbols, tables[k], weight)  # (V, V)
            left, right = _factors(reachable, weight, D * len(chosen))
            value = _solved(symbols, left, weight)  # (R, D·chosen)
            for place, h in enumerate(chosen):
                mine = slice(place * D, (place + 1) * D)
                heads[h].value.weight.zero_()
                heads[h].value.weight[:, :R] = value[:, mine].T
                model.output.weight[:, h * D : (h + 1) * D] = right[:, mine]
                _look_back(heads[h], k, R, T, focus)
    return model


def _weight_and_mean(tokens: Tensor, vocab_size: int) -> tuple[Tensor, Tensor]:
    """(V, 1) and (V,): root of each symbol's share, and the mean log-probability of the next."""
    shares = torch.bincount(tokens, minlength=vocab_size) / len(tokens)  # (V,)
    mean = shares @ log_probabilities_after(tokens, vocab_size)
    return shares.clamp(min=1e-6).sqrt().unsqueeze(1), mean


def _factors(table: Tensor, weight: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """(V, rank) and (W, rank): left @ right.T is nearly the table (V, W), by weighted squares.

    A table of lower rank leaves the last columns 0.
    """
    left, size, right = torch.linalg.svd(table * weight, full_matrices=False)
    root = size[:rank].sqrt()
    missing = (0, rank - len(root))
    return F.pad(left[:, :rank] * root / weight, missing), F.pad(right[:rank].T * root, missing)


def _solved(symbols: Tensor, wanted: Tensor, weight: Tensor) -> Tensor:
    """(R, W): symbols (V, R) times it is nearly what is wanted (V, W), by weighted squares.

    Directions that symbols hardly span are left out: rounding would blow them up.
    """
    return torch.linalg.pinv(symbols * weight, rtol=1e-3) @ (wanted * weight)


def _look_back(head: Head, steps: int, first: int, T: int, focus: float) -> None:
    """Give the position so many steps back a high score; channels from `first` on hold positions.

    The first positions have nothing so far back and look at position 0.
    """
    sought = (torch.arange(T) - steps).clamp(min=0)
    head.query.weight.mul_(0.3)
    head.key.weight.mul_(0.3)
    head.key.weight[:T, first : first + T] += focus * torch.eye(T)
    head.query.weight[:T, first : first + T] += focus * torch.eye(T)[sought].T
