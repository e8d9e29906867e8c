"""What short trainings of small models share: settings, weights to compare, a model that fails."""

import torch
from torch import nn

QUIET = {"progress": False, "batch_size": 8}


def weights(model: nn.Module) -> dict[str, torch.Tensor]:
    """A copy of what a model holds now."""
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def assert_same_weights(one: dict, other: dict) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert torch.equal(one[name], other[name]), name


class Failing(nn.Module):
    """Does as another model does, until its n-th training step, where it fails as told."""

    def __init__(self, model: nn.Module, step: int, how):
        super().__init__()
        self.model, self.how, self.block_size = model, how, 8
        self.left = step

    def forward(self, tokens, targets=None):
        logits, loss = self.model(tokens, targets)
        if self.training and targets is not None:
            self.left -= 1
            if self.left == 0:
                return logits, self.how(loss)
        return logits, loss
