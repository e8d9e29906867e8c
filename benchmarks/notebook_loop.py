"""The plain training loop of notebooks: a list of slices stacked for each batch, AdamW, and now and
then an estimate of the loss from random batches of both splits.

`Published` says how such a loop runs as it was published; the search of `time_to_loss` gives the
same loop other settings.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from course_lib.data import Corpus


@dataclass(frozen=True)
class Published:
    """A loop with the settings that it was published with.

    Attributes
    ----------
    build : function
        Makes the model.
    batch_size, steps, lr, betas, weight_decay
        Windows a batch, steps after which it gives up, and AdamW's settings.
    every, batches : int
        Steps between two estimates, and the batches of each split that one is made of.
    decay_matrices_only : bool
        Whether biases and norms are left out of weight decay.
    clip : float, optional
        Largest norm of all gradients together.
    warm_up, final : int, float, optional
        A cosine schedule, if given.
    """

    build: Callable[[], nn.Module]
    batch_size: int = 32
    steps: int = 10_000
    every: int = 100
    batches: int = 200
    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.01
    decay_matrices_only: bool = False
    clip: float | None = None
    warm_up: int | None = None
    final: float = 0.1


class NotebookLoop:
    """Batches, steps and estimates as notebooks write them.

    Parameters
    ----------
    model : nn.Module
        Called as `logits, loss = model(x, y)`; trained in place.
    corpus : Corpus
        Both splits.
    batch_size, block_size : int
        B windows of T tokens.
    lr, betas, weight_decay, decay_matrices_only, clip
        As in `Published`.
    """

    def __init__(
        self,
        model: nn.Module,
        corpus: Corpus,
        *,
        batch_size: int,
        block_size: int,
        lr: float,
        betas: tuple[float, float],
        weight_decay: float = 0.0,
        decay_matrices_only: bool = False,
        clip: float | None = None,
    ):
        self.model, self.batch_size, self.block_size = model, batch_size, block_size
        self.splits = {"train": corpus.train, "validation": corpus.validation}
        self.lr, self.clip = lr, clip
        parameters = list(model.parameters())
        groups = [{"params": parameters, "weight_decay": weight_decay}]
        if decay_matrices_only:
            groups[0]["params"] = [p for p in parameters if p.ndim >= 2]
            groups.append({"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0})
        self.optimizer = torch.optim.AdamW(groups, lr=lr, betas=betas)

    def batch(self, split: str) -> tuple[Tensor, Tensor]:
        """Windows (B, T) from random places of a split, and their targets (B, T)."""
        tokens, T = self.splits[split], self.block_size
        starts = torch.randint(len(tokens) - T, (self.batch_size,))
        x = torch.stack([tokens[start : start + T] for start in starts])
        y = torch.stack([tokens[start + 1 : start + T + 1] for start in starts])
        return x, y

    def step(self, share: float = 1.0) -> float:
        """One step at a share of the learning rate; the loss of its batch."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.lr * share
        x, y = self.batch("train")
        _, loss = self.model(x, y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if self.clip is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def estimate(self, batches: int) -> dict[str, float]:
        """The mean loss of so many random batches of each split."""
        self.model.eval()
        means = {}
        for split in self.splits:
            losses = torch.zeros(batches)
            for k in range(batches):
                losses[k] = self.model(*self.batch(split))[1].item()
            means[split] = losses.mean().item()
        self.model.train()
        return means
