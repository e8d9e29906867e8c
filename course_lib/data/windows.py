"""Windows: the pieces of a long sequence of tokens that a model is trained and evaluated on."""

from collections.abc import Iterator
from numbers import Integral

import torch
import torch.nn.functional as F
from torch import Tensor

from course_lib.errors import CorpusTooShortError, ShapeError


def random_windows(
    tokens: Tensor, batch_size: int, block_size: int, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor]:
    """Draw windows that begin anywhere, each place equally likely, and their targets.

    Parameters
    ----------
    tokens : (N,) int64
        The sequence, N ≥ T + 1.
    batch_size : int
        B, the number of windows; two of them may be the same.
    block_size : int
        T, the length of each.
    generator : torch.Generator, optional
        Source of the randomness, on the CPU whatever the device of the tokens: the same seed
        gives the same windows everywhere. Without one, torch's global generator is used.

    Returns
    -------
    x : (B, T) int64
        The windows: copies, contiguous, on the device of the tokens.
    y : (B, T) int64
        The targets: ``y[b, t]`` is the token that follows ``x[b, t]``.

    Raises
    ------
    CorpusTooShortError
        If not a single window and its last target fit into the tokens.
    ShapeError
        If the tokens are not one-dimensional, or a size is below 1.
    TypeError
        If the tokens are not an int64 tensor, or a size is not a whole number.
    """
    check_sizes(tokens, block_size + 1, batch_size=batch_size, block_size=block_size)
    windows = tokens.unfold(0, block_size + 1, 1)  # (N−T, T+1): a view of every window, no copy
    starts = torch.randint(len(windows), (batch_size,), generator=generator)  # (B,)
    return inputs_and_targets(windows[starts])  # (B, T+1): one gather


def consecutive_windows(
    tokens: Tensor, batch_size: int, block_size: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Cut the sequence into B stretches and read all of them from left to right, T at a time.

    Row b of step n + 1 continues row b of step n: a model that carries a state from window to
    window can keep one for each row. There are ``(N - 1) // (B · T)`` steps. All stretches have
    the same length, a whole number of windows; the tokens left over at the end of the sequence,
    fewer than B · T + 1, are not used.

    Parameters
    ----------
    tokens : (N,) int64
        The sequence, N ≥ B · T + 1.
    batch_size : int
        B, the number of stretches.
    block_size : int
        T, the length of each window.

    Returns
    -------
    iterator of (x, y), each (B, T) int64
        Windows and targets, as `random_windows` returns them; no target occurs twice.

    Raises
    ------
    CorpusTooShortError, ShapeError, TypeError
        As `random_windows`, if the tokens do not fill a single step.
    """
    check_sizes(tokens, batch_size * block_size + 1, batch_size=batch_size, block_size=block_size)
    windows = tokens.unfold(0, block_size + 1, 1)  # (N−T, T+1): a view of every window, no copy
    steps = (len(tokens) - 1) // (batch_size * block_size)
    starts = torch.arange(batch_size) * steps * block_size  # (B,): where each stretch begins
    return (inputs_and_targets(windows[starts + step * block_size]) for step in range(steps))


def evaluation_windows(tokens: Tensor, block_size: int) -> tuple[Tensor, Tensor]:
    """Cut the whole sequence into windows, so that every token but the first is a target once.

    The last window is filled up: with token 0 in x and with −100 in y, which
    `torch.nn.functional.cross_entropy` leaves out of the mean.

    Parameters
    ----------
    tokens : (N,) int64
        The sequence, N ≥ 2; it may be shorter than a window.
    block_size : int
        T, the length of each window.

    Returns
    -------
    x : (M, T) int64
        All windows in order, M = ⌈(N − 1) / T⌉: copies, contiguous.
    y : (M, T) int64
        The targets: N − 1 tokens, then −100 to the end of the last row.

    Raises
    ------
    CorpusTooShortError, ShapeError, TypeError
        As `random_windows`, if there are fewer than two tokens: no token has a successor.
    """
    check_sizes(tokens, 2, block_size=block_size)
    missing = -(len(tokens) - 1) % block_size  # tokens that the last window lacks
    x = F.pad(tokens[:-1], (0, missing), value=0).view(-1, block_size)  # (M, T)
    y = F.pad(tokens[1:], (0, missing), value=-100).view(-1, block_size)  # (M, T)
    return x, y


def inputs_and_targets(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Split rows that are one token longer than a window into inputs and targets.

    Parameters
    ----------
    rows : (B, T+1) int64
        T + 1 tokens in a row, for each of the B windows.

    Returns
    -------
    x, y : (B, T) int64
        All but the last and all but the first; copies, so that changing one leaves the other.
    """
    return rows[:, :-1].clone(), rows[:, 1:].clone()


def check_sizes(tokens: Tensor, needed: int, **sizes: int) -> None:
    """Refuse tokens and sizes from which no window can be cut, and say why.

    Parameters
    ----------
    tokens : Tensor
        What is to be cut.
    needed : int
        The fewest tokens that will do: every position of the windows, and one more for the target
        of the last.
    **sizes : int
        The sizes that the caller was given, under their names.

    Raises
    ------
    CorpusTooShortError, ShapeError, TypeError
        As `random_windows` says.
    """
    for name, size in sizes.items():
        if not isinstance(size, Integral) or isinstance(size, bool):
            raise TypeError(f"{name} must be a whole number, got {size!r}")
        if size < 1:
            raise ShapeError(f"{name} must be at least 1, got {size}")
    whole = torch.int64, torch.int32, torch.int16  # the smaller two are those of `data.of_text`
    if not isinstance(tokens, Tensor) or tokens.dtype not in whole:
        found = f"a {tokens.dtype} tensor" if isinstance(tokens, Tensor) else type(tokens).__name__
        raise TypeError(
            f"tokens must be an int64 tensor, got {found}; Vocabulary.encode makes one of a str, "
            "and data.of_text(name, text) a corpus with two splits"
        )
    if tokens.ndim != 1:
        raise ShapeError(
            f"tokens must be one long row with a single dimension, got {tuple(tokens.shape)}"
        )
    if len(tokens) < needed:
        given = " and ".join(f"{name} = {size}" for name, size in sizes.items())
        raise CorpusTooShortError(
            f"{given} need at least {needed:,} tokens (the last input needs a target too), "
            f"got N = {len(tokens):,}; choose a smaller size or a longer text"
        )
