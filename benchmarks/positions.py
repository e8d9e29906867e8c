"""Loss by position: how a model fares with so much past, and with no more."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.contexts import evaluation_mode
from course_lib.data import evaluation_windows
from course_lib.errors import ConfigError, CorpusTooShortError
from course_lib.training import EVALUATION_TOKENS


@torch.no_grad()
def loss_by_position(model: nn.Module, tokens: Tensor, block_size: int) -> Tensor:
    """The mean loss at each position of windows that lie side by side.

    Parameters
    ----------
    model : nn.Module
        Called as `logits, _ = model(tokens)`, with dropout off; starts each window without a past.
    tokens : (N,) int64
        The split; every target is counted once, as in `training.evaluate`.
    block_size : int
        T, the windows' length.

    Returns
    -------
    (T,) float
        Entry t: targets predicted from t + 1 tokens.

    Raises
    ------
    CorpusTooShortError
        If the split does not fill one window.
    """
    if len(tokens) <= block_size:
        raise CorpusTooShortError(
            f"block_size = {block_size}: N = {len(tokens)} tokens leave positions without a target"
        )
    total, counted = torch.zeros(block_size), torch.zeros(block_size)
    x, y = evaluation_windows(tokens, block_size)  # (M, T) each
    rows = max(1, EVALUATION_TOKENS // block_size)
    with evaluation_mode(model):
        for inputs, targets in zip(x.split(rows), y.split(rows), strict=True):
            logits = model(inputs)[0]  # (M, T, V)
            losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")  # (M, T)
            total += losses.sum(dim=0)
            counted += (targets >= 0).sum(dim=0)
    return total / counted


@torch.no_grad()
def loss_at_last(model: nn.Module, tokens: Tensor, block_size: int, stride: int = 1) -> float:
    """The mean loss of targets that all have the same past: T tokens, no more and no less.

    Parameters
    ----------
    model : nn.Module
        Called as `logits, _ = model(tokens)`, with dropout off.
    tokens : (N,) int64
        The split.
    block_size : int
        T, the tokens that each target is predicted from.
    stride : int
        Every stride-th target; 1 takes all but the first T tokens.

    Returns
    -------
    float
        Nats for each target.

    Raises
    ------
    ConfigError
        If the stride is below 1.
    CorpusTooShortError
        If the split holds no window with a target.
    """
    if stride < 1:
        raise ConfigError(f"stride = {stride}: at least 1")
    if len(tokens) <= block_size:
        raise CorpusTooShortError(
            f"block_size = {block_size}: needs more than N = {len(tokens)} tokens"
        )
    windows = tokens.unfold(0, block_size + 1, stride)  # (M, T+1): the last token is the target
    total = 0.0
    with evaluation_mode(model):
        for part in windows.split(max(1, EVALUATION_TOKENS // block_size)):
            logits = model(part[:, :-1])[0][:, -1]  # (M, V)
            total += F.cross_entropy(logits, part[:, -1], reduction="sum").item()
    return total / len(windows)
