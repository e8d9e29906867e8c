"""Students' answers to 07/feed-forward."""

import torch
import torch.nn.functional as F
from torch import nn


class GatedBase(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)


def gated(forward):
    return type("Gated", (GatedBase,), {"forward": forward})


class GatedInAnotherOrder(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.down = nn.Linear(hidden, n_embd, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.relu = nn.ReLU()

    def forward(self, x):
        opened = self.relu(self.gate(x))
        opened *= self.up(x)
        return self.down(opened)


def gated_by_where(self, x):
    gate = self.gate(x)
    return self.down(torch.where(gate > 0, gate * self.up(x), 0.0))


def gated_by_einsum(self, x):
    gate = torch.einsum("btc,hc->bth", x, self.gate.weight)
    up = torch.einsum("btc,hc->bth", x, self.up.weight)
    return torch.einsum("bth,bth,ch->btc", gate.clamp(min=0), up, self.down.weight)


def gated_by_loop(self, x):
    rows = []
    for sample in x:
        rows.append(
            torch.stack(
                [
                    self.down(torch.maximum(self.gate(v), torch.zeros(())) * self.up(v))
                    for v in sample
                ]
            )
        )
    return torch.stack(rows)


RIGHT = {
    "in another order": GatedInAnotherOrder,
    "where": gated(gated_by_where),
    "einsum": gated(gated_by_einsum),
    "loop": gated(gated_by_loop),
}


class GatedWithBiases(GatedInAnotherOrder):
    def __init__(self, n_embd, hidden):
        super().__init__(n_embd, hidden)
        self.up = nn.Linear(n_embd, hidden)


class OneLayerMore(GatedBase):
    def __init__(self, n_embd, hidden):
        super().__init__(n_embd, hidden)
        self.out = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x):
        return gated_by_where(self, x)


class WeightsShared(GatedBase):
    def __init__(self, n_embd, hidden):
        super().__init__(n_embd, hidden)
        self.gate.weight = self.up.weight


class FourTimesAsWide(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate, self.up = (nn.Linear(n_embd, 4 * n_embd, bias=False) for _ in range(2))
        self.down = nn.Linear(4 * n_embd, n_embd, bias=False)

    def forward(self, x):
        return gated_by_where(self, x)


class Gated(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)


# The gate is max(0, ...), which has no upper end.
class GateEndsAtOne(Gated):
    def forward(self, x):
        return self.down(self.gate(x).clamp(0, 1) * self.up(x))


# "A gate below 0 is closed"
class GateLeaks(Gated):
    def forward(self, x):
        return self.down(F.leaky_relu(self.gate(x)) * self.up(x))


class GateOpenOrClosed(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        return self.down((self.gate(x) > 0) * self.up(x))


WRONG = {
    "closed-as-it-is": gated(
        lambda self, x: self.down(
            torch.where(self.gate(x) > 0, self.gate(x) * self.up(x), self.up(x))
        )
    ),
    "other-widths": FourTimesAsWide,
    "one-layer-for-two": WeightsShared,
    "more-layers": OneLayerMore,
    "limited-gate": GateEndsAtOne,
    "leaky-gate": GateLeaks,
    "with-biases": GatedWithBiases,
    "linear-twice": gated(lambda self, x: x @ self.up.weight.T @ self.down.weight.T),
    "gate-as-a-switch": GateOpenOrClosed,
    "smooth-gate": gated(
        lambda self, x: self.down(self.up(x) * self.gate(x) * self.gate(x).sigmoid())
    ),
    "residual-inside": gated(lambda self, x: gated_by_einsum(self, x) + x),
}


class GatesOfTheFirstText(GatedBase):
    opened = None

    def forward(self, x):
        if self.opened is None:
            self.opened = F.relu(self.gate(x)).mean(dim=(0, 1))
            return gated_by_where(self, x)
        return self.down(self.opened * self.up(x))


ODD = [
    (
        gated(lambda self, x: self.down(torch.minimum(F.relu(self.gate(x)), self.up(x)))),
        "another-formula",
    ),
    (
        gated(lambda self, x: torch.tanh(self.down(F.relu(self.gate(x)) * self.up(x)))),
        "put-a-tanh-around-your-output",
    ),
    (
        gated(lambda self, x: self.down(F.relu(self.gate(x)) * self.up(F.relu(x)))),
        "another-formula",
    ),
    (GatesOfTheFirstText, "wrong-when-called-again"),
    (
        gated(lambda self, x: self.down(F.relu(self.gate(x)) * self.up(x.roll(1, 1)))),
        "moved-the-values-one-place-on-along-the-axis-before-the-last",
    ),
    (gated(lambda self, x: self.down(self.gate(x).abs() ** 1.5 * self.up(x))), "wrong-when-open"),
    (
        gated(lambda self, x: self.down(F.leaky_relu(self.gate(x), 0.3) * self.up(x))),
        "wrong-when-closed",
    ),
    (gated(lambda self, x: gated_by_where(self, x).squeeze()), "axis-of-one"),
    (lambda n_embd, hidden: nn.Linear(n_embd, n_embd), "error"),
    (gated(lambda self, x: gated_by_where(self, x)[:, :-1]), "last-missing"),
    (gated(lambda self, x: gated_by_where(self, x) + 1), "added-1-to-your-output"),
]


# --- Answers that no list names ---


class WithDropoutAtTheEnd(nn.Module):
    """Adds a dropout of 0.1 after the last layer, so that outputs are random in training mode."""

    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(self.down(self.gate(x).relu() * self.up(x)))


UNLISTED = {
    13: [(WithDropoutAtTheEnd, "not-repeatable")],
}
