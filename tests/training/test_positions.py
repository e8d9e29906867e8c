"""Loss by position and at the last position: every target once, with the past that is promised."""

import pytest
import torch
from torch import nn

from benchmarks.positions import loss_at_last, loss_by_position
from course_lib.errors import ConfigError, CorpusTooShortError
from course_lib.training import evaluate


class Counting(nn.Module):
    """Logits that depend on how many tokens were read: worse at first, and worst in training."""

    def __init__(self, V):
        super().__init__()
        self.table = nn.Parameter(torch.randn(V, V, generator=torch.Generator().manual_seed(0)))

    def forward(self, tokens, targets=None):
        read = torch.arange(1, tokens.shape[1] + 1)[:, None]
        logits = self.table[tokens] * read * (-1 if self.training else 1)
        loss = None
        if targets is not None:
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss


@pytest.fixture
def tokens():
    return torch.randint(5, (43,), generator=torch.Generator().manual_seed(1))


def test_position_means_weighted_by_their_targets_are_the_whole_loss(tokens):
    model, T = Counting(5).train(), 8
    losses = loss_by_position(model, tokens, T)
    counts = torch.tensor([(len(tokens) - 1 - t + T - 1) // T for t in range(T)])
    whole = (losses * counts).sum() / counts.sum()
    assert whole.item() == pytest.approx(evaluate(model, tokens, T), abs=1e-5)
    assert model.training


def test_last_position_asks_about_every_target_with_exactly_so_much_past(tokens):
    model, T = Counting(5), 4
    wanted = []
    for place in range(T, len(tokens)):
        logits = T * model.table[tokens[place - 1]]
        wanted.append(-logits.log_softmax(0)[tokens[place]].item())
    assert loss_at_last(model, tokens, T) == pytest.approx(sum(wanted) / len(wanted), abs=1e-5)
    some = wanted[::3]
    assert loss_at_last(model, tokens, T, 3) == pytest.approx(sum(some) / len(some), abs=1e-5)


def test_text_without_a_target_is_refused(tokens):
    for ask in (loss_by_position, loss_at_last):
        with pytest.raises(CorpusTooShortError):
            ask(Counting(5), tokens[:4], 4)
    with pytest.raises(ConfigError):
        loss_at_last(Counting(5), tokens, 4, stride=0)
