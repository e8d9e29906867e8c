"""Models that probes give to an answer instead of trained ones."""

from __future__ import annotations

from torch import Tensor, nn

# The logit of the only possible next symbol. All others have 0, and e⁻⁶⁰ is never drawn.
CERTAIN = 60.0


def in_mode(model: nn.Module, *, training: bool) -> bool:
    """True if the model and all modules inside it are in training mode, or in evaluation mode."""
    return all(module.training == training for module in model.modules())


class Dice(nn.Module):
    """A language model that rolls the same loaded dice whatever it is shown.

    Parameters
    ----------
    logits : (V,) float
        Those of the next symbol, which are always the same.
    """

    def __init__(self, logits: Tensor):
        super().__init__()
        self.logits = logits
        self.block_size = 4

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, None]:  # noqa: ARG002
        """Logits (B, T, V) of the next symbol, and no loss."""
        B, T = tokens.shape
        return self.logits.expand(B, T, -1), None
