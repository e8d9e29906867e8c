"""Writing with a model, rightly or with one step replaced, as tasks on generation share it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


def drawn(logits: Tensor, generator: torch.Generator) -> Tensor:
    """(B,) one symbol for each row of logits (B, V)."""
    return torch.multinomial(logits.float().softmax(dim=-1), 1, generator=generator).squeeze(1)


def likeliest(logits: Tensor, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    """(B,) the symbol with the largest logit."""
    return logits.argmax(dim=-1)


def drawn_by_global_chance(logits: Tensor, generator: torch.Generator) -> Tensor:  # noqa: ARG001
    """(B,) one symbol for each row, drawn without the generator that is given."""
    return drawn(logits, torch.default_generator)


@dataclass(frozen=True)
class Writer:
    """Returns the tokens (B, T) and at most `count` more.

    Attributes
    ----------
    context : callable (tokens, block_size) -> tokens
        What the model is shown.
    read : callable (logits (B, T, V)) -> (B, V)
        The logits of the next symbol.
    draw : callable (logits, generator) -> (B,)
    quiet, restore : bool
        Whether the model is put into evaluation mode, and back into its own mode.
    fill : bool
        Whether a row that wrote the stop symbol is filled with it.
    from_prompt : bool
        Whether a stop symbol in the prompt ends the text.
    enough : callable (done (B,)) -> bool
        Whether writing ends; it is told which rows are done.
    """

    context: Callable[[Tensor, int], Tensor] = lambda tokens, size: tokens[:, -size:]
    read: Callable[[Tensor], Tensor] = lambda logits: logits[:, -1]
    draw: Callable[[Tensor, torch.Generator], Tensor] = drawn
    quiet: bool = True
    restore: bool = True
    fill: bool = True
    from_prompt: bool = False
    enough: Callable[[Tensor], bool] = lambda done: bool(done.all())

    def __call__(self, model: Any, tokens: Tensor, count: int, *stop_and_generator: Any) -> Tensor:
        """(B, T) → (B, T + count) or shorter; a generator alone means that no symbol stops."""
        *stops, generator = stop_and_generator
        stop = stops[0] if stops else -1
        was_training = model.training
        if self.quiet:
            model.eval()
        done = (tokens == stop).any(dim=1) & self.from_prompt
        for _ in range(count):
            if self.enough(done):
                break
            logits, _loss = model(self.context(tokens, model.block_size))
            new = self.draw(self.read(logits), generator).masked_fill(done & self.fill, stop)
            done = done | (new == stop)
            tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
        if self.quiet and self.restore:
            model.train(was_training)
        return tokens
