"""Judges 07/feed-forward: a feed-forward network with a gate."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from torch import Tensor, nn

from course_judges.ch07_block.generally import more_is_known
from course_judges.ch07_block.sections import FEED_FORWARD, STREAM
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import right_when_called_again
from course_judges.quoting import farthest, farthest_index, ratio
from course_judges.wording import row, unwrapped
from course_tasks.verdict import Finding

Forward = Callable[[Any, Tensor], Tensor]


class GatedFeedForward(nn.Module):
    """down(relu(gate(x)) · up(x)), each position by itself."""

    def __init__(self, n_embd: int, hidden: int):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        return self.down(self.gate(x).relu() * self.up(x))


def _going(forward: Forward) -> type[GatedFeedForward]:
    """The same layers, gone through in another way."""

    class Answer(GatedFeedForward):
        def forward(self, x: Tensor) -> Tensor:
            return forward(self, x)

    return Answer


def _bent(bend: Callable[[Tensor], Tensor]) -> type[GatedFeedForward]:
    """With another function in the place of the ReLU."""
    return _going(lambda m, x: m.down(bend(m.gate(x)) * m.up(x)))


def _closed(evidence: Evidence) -> str:
    """How many gates a ReLU closes in this run."""
    gates = evidence.inputs["x"] @ evidence.inputs["gate"].T  # (B, T, hidden)
    return f"{int((gates < 0).sum())} of {gates.size} gates are below 0 in this run"


def _below_zero(evidence: Evidence) -> str:
    values = evidence.inputs["open_x"] @ evidence.inputs["up"].T  # (B, T, hidden)
    return f"{int((values < 0).sum())} of {values.size} values from `up` are below 0"


def _sizes(evidence: Evidence) -> str:
    return f"Your numbers are {ratio(evidence, 'mixed'):.2f} times as large as they should be."


def _never_negative(evidence: Evidence) -> str:
    right = evidence.right("mixed")
    return unwrapped(f"""Of {right.size} outputs {int((right < 0).sum())} should be negative here;
    yours are all at least {evidence.yours("mixed").min():.3g}. A branch must be able to lower the
    stream.""")


_linear_twice = mistake(
    "Two layers in a row without a non-linearity: that is one layer.",
    lambda e: unwrapped(f"""The gate is not used, and `down(up(x))` doubles when x doubles; there is
    nothing it can decide. {farthest(e, "mixed")}"""),
)(_going(lambda m, x: m.down(m.up(x))))

_gate_without_relu = mistake(
    "The gate has no ReLU, so it never closes.",
    lambda e: f"{_closed(e)}, and a value goes through them all. {_sizes(e)}",
)(_going(lambda m, x: m.down(m.gate(x) * m.up(x))))

_gate_unused = mistake(
    "That is the feed-forward network of the chapter: the gate plays no part.",
    lambda e: f"ReLU acts on `up(x)`, and `gate` is never asked. {farthest(e, 'open')}",
)(_going(lambda m, x: m.down(m.up(x).relu())))

_values_unused = mistake(
    "Only the gate goes on; what it should let through, `up(x)`, is not there.",
    lambda e: farthest(e, "open"),
)(_going(lambda m, x: m.down(m.gate(x).relu())))

_gate_twice = mistake(
    "The gate multiplies itself: `up` is never asked.",
    lambda e: f"What a gate lets through is what `up` makes of x. {farthest(e, 'open')}",
    also=(_going(lambda m, x: m.down(m.gate(x).square())),),
)(_going(lambda m, x: m.down(m.gate(x).relu() * m.gate(x))))

_values_twice = mistake(
    "The values multiply themselves: `gate` is never asked.",
    lambda e: f"What opens and closes is what `gate` makes of x. {farthest(e, 'open')}",
    also=(_going(lambda m, x: m.down(m.up(x).square())),),
)(_going(lambda m, x: m.down(m.up(x).relu() * m.up(x))))

_relu_on_the_values = mistake(
    "The ReLU stands on `up(x)`; it belongs on the gate.",
    lambda e: f"{_below_zero(e)} with open gates, and are lost. {farthest(e, 'open')}",
)(_going(lambda m, x: m.down(m.gate(x) * m.up(x).relu())))

_relu_on_both = mistake(
    "Both factors went through a ReLU; only the gate should.",
    lambda e: f"{_below_zero(e)} with open gates, and are lost. {farthest(e, 'open')}",
)(_going(lambda m, x: m.down(m.gate(x).relu() * m.up(x).relu())))

_relu_after_the_product = mistake(
    "The ReLU stands on the product; it belongs on the gate, before it multiplies.",
    lambda e: unwrapped(f"""{_below_zero(e)} with open gates, and are lost; and two negative factors
    make a positive product that passes. {farthest(e, "open")}"""),
)(_going(lambda m, x: m.down((m.gate(x) * m.up(x)).relu())))

_relu_at_the_end = mistake("There is a ReLU on what leaves the network.", _never_negative)(
    _going(lambda m, x: m.down(m.gate(x).relu() * m.up(x)).relu())
)

_relu_at_the_end_alone = mistake(
    "The ReLU stands on what leaves the network; it belongs on the gate.",
    lambda e: f"{_closed(e)}, and a value goes through them all. {_never_negative(e)}",
)(_going(lambda m, x: m.down(m.gate(x) * m.up(x)).relu()))

_added_not_multiplied = mistake(
    "Gate and values were added; the gate multiplies.",
    lambda e: f"A closed gate then adds 0 and stops nothing. {farthest(e, 'mixed')}",
)(_going(lambda m, x: m.down(m.gate(x).relu() + m.up(x))))

_sigmoid_gate = mistake(
    "Your gate is a sigmoid; this task asks for a ReLU.",
    lambda e: f"A sigmoid lies between 0 and 1 and never closes wholly. {_sizes(e)}",
)(_going(lambda m, x: m.down(m.gate(x).sigmoid() * m.up(x))))

_smooth_gate = mistake(
    "Your gate bends smoothly, as SiLU, GELU or softplus does; this task asks for a ReLU.",
    lambda e: f"{_closed(e)}, and a little goes through each. {farthest(e, 'mixed')}",
    also=tuple(
        _bent(bend)
        for bend in (
            nn.functional.gelu,
            lambda gate: nn.functional.gelu(gate, approximate="tanh"),
            nn.functional.softplus,
            nn.functional.mish,
        )
    ),
)(_bent(nn.functional.silu))

_tanh_gate = mistake(
    "Your gate is a tanh; this task asks for a ReLU.",
    lambda e: unwrapped(f"""A tanh lies between −1 and 1, and is below 0 where the gate is.
    {farthest(e, "mixed")}"""),
)(_going(lambda m, x: m.down(m.gate(x).tanh() * m.up(x))))

_softmax_gate = mistake(
    "Your gates went through a softmax; this task asks for a ReLU.",
    lambda e: unwrapped(f"""With a softmax the gates share what is one in all, and none is closed.
    {farthest(e, "mixed")}"""),
)(_going(lambda m, x: m.down(m.gate(x).softmax(-1) * m.up(x))))

_reversed_gate = mistake(
    "Your gate opens below 0 and is closed above; it should be the other way round.",
    lambda e: f"{_closed(e)}: those should let nothing through. {farthest(e, 'mixed')}",
)(_going(lambda m, x: m.down((-m.gate(x)).relu() * m.up(x))))

_normed_inside = mistake(
    "You normed `x` inside the network; a norm before a branch is the block's work.",
    lambda e: f"The formula has no norm. {farthest(e, 'mixed')}",
)(_going(lambda m, x: GatedFeedForward.forward(m, nn.functional.layer_norm(x, x.shape[-1:]))))

_absolute_gate = mistake(
    "Your gate takes the number without its sign; what is below 0 should be closed.",
    lambda e: f"{_closed(e)}, and they are as open as those above 0. {farthest(e, 'mixed')}",
)(_going(lambda m, x: m.down(m.gate(x).abs() * m.up(x))))

_squared_gate = mistake(
    "Your gate is squared; an open gate scales by what it is.",
    lambda e: f"`max(0, …)` grows like its number, not like its square. {farthest(e, 'open')}",
)(_going(lambda m, x: m.down(m.gate(x).relu().square() * m.up(x))))

_relu_at_the_start = mistake(
    "There is a ReLU on what enters the network.",
    lambda e: unwrapped(f"""{int((e.inputs["x"] < 0).sum())} of {e.inputs["x"].size} numbers that
    enter are below 0, and are lost. {farthest(e, "mixed")}"""),
)(_going(lambda m, x: m.down(m.gate(x.relu()).relu() * m.up(x.relu()))))

_leaky_gate = mistake(
    "A gate below 0 lets a little through; it should be closed, as ReLU closes it.",
    lambda e: unwrapped(f"""Where every gate is open your numbers are right. {_closed(e)}, and a
    leaky ReLU or an ELU is not 0 there. {farthest(e, "mixed")}"""),
    also=(
        _going(lambda m, x: m.down(nn.functional.elu(m.gate(x)) * m.up(x))),
        _going(lambda m, x: m.down(nn.functional.leaky_relu(m.gate(x), 0.1) * m.up(x))),
        _going(lambda m, x: m.down(nn.functional.leaky_relu(m.gate(x), 0.2) * m.up(x))),
    ),
)(_going(lambda m, x: m.down(nn.functional.leaky_relu(m.gate(x)) * m.up(x))))

_limited_gate = mistake(
    "Your gate ends at a largest value; ReLU has no upper end.",
    lambda e: unwrapped(f"""`max(0, …)` scales by any number above 0. A clamp, a hard sigmoid or a
    ReLU6 stops growing. {farthest(e, "open")}"""),
    also=(
        _going(lambda m, x: m.down(nn.functional.hardsigmoid(m.gate(x)) * m.up(x))),
        _going(lambda m, x: m.down(nn.functional.relu6(m.gate(x)) * m.up(x))),
        _going(lambda m, x: m.down(nn.functional.hardtanh(m.gate(x)) * m.up(x))),
    ),
)(_going(lambda m, x: m.down(m.gate(x).clamp(0, 1) * m.up(x))))

_closed_as_it_is = mistake(
    "A gate below 0 lets its value through as it is; it should let nothing through.",
    lambda e: unwrapped(f"""Where every gate is open your numbers are right. {_closed(e)}.
    {farthest(e, "mixed")}"""),
)(_going(lambda m, x: m.down(m.gate(x).where(m.gate(x) > 0, m.gate(x).new_ones(())) * m.up(x))))

_subtracted_not_multiplied = mistake(
    "Gate and values were subtracted from each other; the gate multiplies.",
    lambda e: f"A closed gate then stops nothing. {farthest(e, 'mixed')}",
    also=(_going(lambda m, x: m.down(m.gate(x).relu() - m.up(x))),),
)(_going(lambda m, x: m.down(m.up(x) - m.gate(x).relu())))

_gate_as_a_switch = mistake(
    "Your gates are switches: an open one lets its value through as it is, and does not scale it.",
    lambda e: unwrapped(f"""ReLU is more than a comparison with 0: what is above 0 stays a number,
    and multiplies. {farthest(e, "open")}"""),
)(_going(lambda m, x: m.down((m.gate(x) > 0) * m.up(x))))

_residual_inside = mistake(
    "You added `x` inside the network; the addition is the block's work.",
    lambda e: unwrapped(f"""Take x off your output, and it is right; in a block the stream would be
    added twice. {farthest(e, "mixed")}"""),
    STREAM,
)(_going(lambda m, x: x + m.down(m.gate(x).relu() * m.up(x))))


_MISSHAPEN = re.compile(r"parameter '(gate|up|down)\.weight' has shape \((\d+), (\d+)\)")


def _misshapen(evidence: Evidence) -> tuple[str, int, int]:
    """The first layer that was refused, and what it leads from and to.

    Raises
    ------
    KeyError
        If none was.
    """
    found = _MISSHAPEN.search(evidence.answers.errors["open"].message)
    if found is None:
        raise KeyError("it stopped for another reason")
    return found[1], int(found[3]), int(found[2])


def _widths(evidence: Evidence) -> str:
    name, came, left = _misshapen(evidence)
    C, hidden = evidence.number("C"), evidence.number("hidden")
    wanted = (hidden, C) if name == "down" else (C, hidden)
    turned = (
        " `nn.Linear` takes what comes in first." if (came, left) == (wanted[1], wanted[0]) else ""
    )
    return unwrapped(f"""With n_embd = {C} and hidden = {hidden}, your `{name}` leads from {came} to
    {left} channels, and should lead from {wanted[0]} to {wanted[1]}.{turned}""")


@mistake(
    lambda e: f"Your layer `{_misshapen(e)[0]}` leads from or to another number of channels.",
    _widths,
    recognized=lambda e: bool(_misshapen(e)),
)
class _OtherWidths(GatedFeedForward):
    def __init__(self, n_embd: int, hidden: int):
        super().__init__(n_embd, 4 * hidden)


@mistake(
    "You have biases beside the three matrices; the task asks for layers without.",
    lambda e: unwrapped(f"""{int(e.yours("biases.vectors"))} of your parameters stand in vectors.
    `nn.Linear` has a bias unless it is told `bias=False`, each of the three by itself."""),
    recognized=lambda e: (
        e.same("open", "mixed", "biases.matrices") and bool(e.yours("biases.vectors") > 0)
    ),
)
class _WithBiases(GatedFeedForward):
    def __init__(self, n_embd: int, hidden: int):
        super().__init__(n_embd, hidden)
        self.gate = nn.Linear(n_embd, hidden)
        self.up = nn.Linear(n_embd, hidden)
        self.down = nn.Linear(hidden, n_embd)


@mistake(
    "Your module has parameters beside the three layers and their biases.",
    lambda e: unwrapped(f"""Without vectors it counts {int(e.yours("biases.matrices"))} of them, and
    the matrices of `gate`, `up` and `down` hold {int(e.right("biases.matrices"))}."""),
    recognized=lambda e: bool(e.yours("biases.matrices") > e.right("biases.matrices")),
)
class _MoreLayers(GatedFeedForward):
    def __init__(self, n_embd: int, hidden: int):
        super().__init__(n_embd, hidden)
        self.out = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(super().forward(x))


def _worked_out(evidence: Evidence) -> Finding | None:
    """One position of the first call that is wrong: its gates, its values, and what they make."""
    case = "open" if not evidence.same("open") else "mixed"
    mine, right = evidence.yours(case), evidence.right(case)
    if mine.shape != right.shape or evidence.same(case) or more_is_known(evidence, case):
        return None
    b, t, _ = farthest_index(mine, right)
    x, gate = (
        evidence.inputs[n] for n in (("open_x", "open_gate") if case == "open" else ("x", "gate"))
    )
    gates, values = gate @ x[b, t], evidence.inputs["up"] @ x[b, t]
    made = np.maximum(gates, 0) * values
    when = "Even where every gate is open" if case == "open" else "Where some gates are closed"
    return Finding(
        "wrong-when-open" if case == "open" else "wrong-when-closed",
        f"{when}, what leaves your network is not what the formula gives.",
        f"At position {t} of sample {b}, `gate(x)` begins with {row(gates[:3])} and `up(x)` with "
        f"{row(values[:3])}; so the product that goes into `down` begins with {row(made[:3])}, and "
        f"what leaves with {row(right[b, t, :3])}. Yours begins with {row(mine[b, t, :3])}.",
        FEED_FORWARD,
    )


TASK = Task(
    "A gate in the feed-forward network",
    GatedFeedForward,
    FEED_FORWARD,
    (
        Part("Where every gate is open, the gated values come out.", 2, matches("open")),
        Part("A gate below 0 lets nothing through.", 1, matches("mixed", "biases.again")),
        Part("And no layer has a bias.", 1, matches("mixed", "biases.vectors", "biases.matrices")),
    ),
    properties=(right_when_called_again(("open", "mixed"), ("biases.again",), FEED_FORWARD),),
    cases=("open", "mixed"),
    examples=(_worked_out,),
)
