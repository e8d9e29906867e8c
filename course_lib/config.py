"""The sizes of a GPT, refused where no model can have them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from course_lib.errors import ConfigError


@dataclass(frozen=True)
class Config:
    """The sizes of a GPT, checked when they are written down.

    Attributes
    ----------
    vocab_size : int
        V, how many symbols there are.
    block_size : int
        The longest context, in tokens.
    n_layer : int
        Blocks on top of each other.
    n_head : int
        H, heads in each block; divides `n_embd`.
    n_embd : int
        C, channels of the residual stream.
    dropout : float
        Share of attention weights, and of each branch's output, dropped in training; below 1.
    tied : bool
        Whether the output layer reuses the token embedding's weights.

    Raises
    ------
    ConfigError
        On a setting that no model can have: names the setting, the value and the rule.
    """

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0
    tied: bool = False

    def __post_init__(self) -> None:
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name} = {value!r}: must be a whole number of at least 1")
        if self.n_embd % self.n_head != 0:
            raise ConfigError(
                f"n_embd = {self.n_embd}, n_head = {self.n_head}: every head gets n_embd / n_head "
                "channels, so n_head must divide n_embd; "
                f"n_embd = {self.n_head * math.ceil(self.n_embd / self.n_head)} would do"
            )
        if isinstance(self.dropout, bool) or not isinstance(self.dropout, int | float):
            raise ConfigError(f"dropout = {self.dropout!r}: must be a number")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout = {self.dropout!r}: must be at least 0 and below 1")

    @property
    def head_size(self) -> int:
        """D, the channels of one head."""
        return self.n_embd // self.n_head


def longest_context(model: object) -> int | None:
    """A model's `block_size`, its own or its config's as most public GPTs have it, if any."""
    return getattr(model, "block_size", None) or getattr(
        getattr(model, "config", None), "block_size", None
    )
