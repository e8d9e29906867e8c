"""Judges 07/feed-forward: a feed-forward network with a gate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
from torch import Tensor, nn

from course_judges.ch07_block.generally import more_is_known
from course_judges.ch07_block.sections import FEED_FORWARD, STREAM
from course_judges.chance import softmax
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import right_when_called_again
from course_judges.quoting import farthest, farthest_index
from course_judges.wording import row, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding, Tells

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
        openings = self.gate(x)  # the openings of the gates (B, T, hidden)
        gates = openings.relu()  # the gates (B, T, hidden)
        values = self.up(x)  # the values (B, T, hidden)
        passed = gates * values  # what goes through the gates (B, T, hidden)
        return self.down(passed)  # your output (B, T, C)


def _going(forward: Forward) -> type[GatedFeedForward]:
    """The same layers with another forward pass."""

    class Answer(GatedFeedForward):
        def forward(self, x: Tensor) -> Tensor:
            return forward(self, x)

    return Answer


def _bent(bend: Callable[[Tensor], Tensor]) -> type[GatedFeedForward]:
    """Another function instead of the ReLU."""
    return _going(lambda m, x: m.down(bend(m.gate(x)) * m.up(x)))


def _closed(evidence: Evidence) -> str:
    """How many gates a ReLU closes in this run."""
    gates = evidence.inputs["x"] @ evidence.inputs["gate"].T  # (B, T, hidden)
    return f"{int((gates < 0).sum())} of {gates.size} gates are below 0 in this run"


_linear_twice = mistake(
    "You don't use the gate, so your two layers compute no more than a single linear layer could.",
    lambda e: unwrapped(f"""Without a nonlinearity `down(up(x))` is linear: it doubles when x
    doubles. {farthest(e, "mixed")}"""),
)(Like("left-out-the-multiplication-by-the-gates-in-what-goes-through-the-gates"))

_smooth_gate = mistake(
    "Your gate bends smoothly, like SiLU, GELU or softplus, but this task asks for a ReLU.",
    lambda e: f"{_closed(e)}, but you let a little through each. {farthest(e, 'mixed')}",
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

_leaky_gate = mistake(
    "Your gate lets a little through below 0, but a ReLU closes it completely.",
    lambda e: unwrapped(f"""Your numbers are right as long as every gate is open. {_closed(e)},
    where a leaky ReLU or an ELU isn't 0. {farthest(e, "mixed")}"""),
    also=(
        _going(lambda m, x: m.down(nn.functional.elu(m.gate(x)) * m.up(x))),
        _going(lambda m, x: m.down(nn.functional.leaky_relu(m.gate(x), 0.1) * m.up(x))),
        _going(lambda m, x: m.down(nn.functional.leaky_relu(m.gate(x), 0.2) * m.up(x))),
    ),
)(_going(lambda m, x: m.down(nn.functional.leaky_relu(m.gate(x)) * m.up(x))))

_limited_gate = mistake(
    "Your gate never exceeds a certain value, but a ReLU has no upper limit.",
    lambda e: unwrapped(f"""A ReLU leaves positive numbers as they are, however large. A clamp, a
    hard sigmoid or a ReLU6 stops growing. {farthest(e, "open")}"""),
    also=(
        _going(lambda m, x: m.down(nn.functional.hardsigmoid(m.gate(x)) * m.up(x))),
        _going(lambda m, x: m.down(nn.functional.relu6(m.gate(x)) * m.up(x))),
        _going(lambda m, x: m.down(nn.functional.hardtanh(m.gate(x)) * m.up(x))),
    ),
)(_going(lambda m, x: m.down(m.gate(x).clamp(0, 1) * m.up(x))))

_closed_as_it_is = mistake(
    "Where a gate is below 0, you let `up(x)` through unchanged, but nothing should go through.",
    lambda e: unwrapped(f"""Your numbers are right as long as every gate is open. {_closed(e)}.
    {farthest(e, "mixed")}"""),
)(_going(lambda m, x: m.down(m.gate(x).where(m.gate(x) > 0, m.gate(x).new_ones(())) * m.up(x))))

_gate_as_a_switch = mistake(
    "Your gate only switches on and off, but an open gate should also multiply by `gate(x)`.",
    lambda e: unwrapped(f"""A ReLU is more than a comparison with 0, because it keeps numbers above
    0 as they are. {farthest(e, "open")}"""),
)(_going(lambda m, x: m.down((m.gate(x) > 0) * m.up(x))))

_residual_inside = mistake(
    "You added `x` inside the network, but that is the block's job.",
    lambda e: unwrapped(f"""Without `x` your output would be right. In a block, the stream would be
    added twice. {farthest(e, "mixed")}"""),
    STREAM,
)(Like("added-x-to-your-output"))


_MISSHAPEN = re.compile(r"parameter '(gate|up|down)\.weight' has shape \((\d+), (\d+)\)")


def _misshapen(evidence: Evidence) -> tuple[str, int, int]:
    """The first layer with the wrong shape, its inputs and its outputs.

    Raises
    ------
    KeyError
        If there is none.
    """
    found = _MISSHAPEN.search(evidence.answers.errors["open"].message)
    if found is None:
        raise KeyError("no layer has the wrong shape")
    return found[1], int(found[3]), int(found[2])


def _widths(evidence: Evidence) -> str:
    name, came, left = _misshapen(evidence)
    C, hidden = evidence.number("C"), evidence.number("hidden")
    wanted = (hidden, C) if name == "down" else (C, hidden)
    turned = (
        " In `nn.Linear`, the number of inputs comes first."
        if (came, left) == (wanted[1], wanted[0])
        else ""
    )
    return unwrapped(f"""With n_embd = {C} and hidden = {hidden}, your `{name}` goes from {came} to
    {left} channels, but it should go from {wanted[0]} to {wanted[1]}.{turned}""")


@mistake(
    lambda e: f"Your layer `{_misshapen(e)[0]}` has the wrong number of inputs or outputs.",
    _widths,
    recognized=lambda e: bool(_misshapen(e)),
)
class _OtherWidths(GatedFeedForward):
    def __init__(self, n_embd: int, hidden: int):
        super().__init__(n_embd, 4 * hidden)


_MISSING = re.compile(r"no parameter named '(gate|up)\.weight'; it has (.*)")


def _missing(evidence: Evidence) -> tuple[str, str]:
    """The layer without weights of its own, gate or up, and the other of the two.

    Raises
    ------
    KeyError
        If there is none, or if the module has other layers.
    """
    found = _MISSING.search(evidence.answers.errors["open"].message)
    weights = set(re.findall(r"([\w.]+)\.weight \(", found[2])) if found else set()
    if found is None or weights != {"gate", "up", "down"} - {found[1]}:
        raise KeyError("each layer has its own weights, or other names")
    return found[1], "gate" if found[1] == "up" else "up"


@mistake(
    lambda e: f"Your `{_missing(e)[0]}` has no weights of its own.",
    lambda e: (
        unwrapped(f"""Its only weights are those of `{_missing(e)[1]}` and `down`. Did you give
    one layer two names, as in `self.gate = self.up = …`? Then both always have the same weights.
    Make a layer of its own for each.""")
    ),
    recognized=lambda e: bool(_missing(e)),
)
class _OneLayerForTwo(GatedFeedForward):
    def __init__(self, n_embd: int, hidden: int):
        super().__init__(n_embd, hidden)
        self.up = self.gate


@mistake(
    "Your layers have biases, but the task asks for layers without them.",
    lambda e: unwrapped(f"""{int(e.yours("biases.vectors"))} of your parameters are in vectors.
    An `nn.Linear` has a bias unless you pass `bias=False`, so pass it to all three."""),
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
    "Your module has more parameters than the three layers need.",
    lambda e: unwrapped(f"""Without counting vectors it has {int(e.yours("biases.matrices"))}, but
    the matrices of `gate`, `up` and `down` have {int(e.right("biases.matrices"))}."""),
    recognized=lambda e: bool(e.yours("biases.matrices") > e.right("biases.matrices")),
)
class _MoreLayers(GatedFeedForward):
    def __init__(self, n_embd: int, hidden: int):
        super().__init__(n_embd, hidden)
        self.out = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(super().forward(x))


_Numbers = Callable[[Array], Array]
_Pair = Callable[[Array, Array], Array]


def _relu(x: Array) -> Array:
    return np.maximum(x, 0)


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


# What may be done at each step, in the words of a formula. What is right comes first.
_READ: dict[str, _Numbers] = {
    "x": lambda x: x,
    "relu(x)": _relu,
    "norm(x)": lambda x: (
        (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    ),
}
_GATES: dict[str, _Numbers] = {
    "relu({})": _relu,
    "{}": lambda g: g,
    "abs({})": np.abs,
    "sigmoid({})": _sigmoid,
    "silu({})": lambda g: g * _sigmoid(g),
    "relu(silu({}))": lambda g: _relu(g) * _sigmoid(g),
    "relu(tanh({}))": lambda g: _relu(np.tanh(g)),
    "relu(sigmoid({}))": lambda g: _sigmoid(g),
    "tanh({})": np.tanh,
    "{}²": np.square,
    "relu({})²": lambda g: _relu(g) ** 2,
    "({} > 0)": lambda g: (g > 0) * 1.0,
    "(1 − relu({}))": lambda g: 1 - _relu(g),
    "(1 + relu({}))": lambda g: 1 + _relu(g),
    "(1 − sigmoid({}))": lambda g: 1 - _sigmoid(g),
    "relu(1 − {})": lambda g: _relu(1 - g),
    "minimum({}, 0)": lambda g: np.minimum(g, 0),
    "(0 if {0} < 0.5 else {0})": lambda g: np.where(g < 0.5, 0, g),
    "relu(−{})": lambda g: _relu(-g),
    "−relu({})": lambda g: -_relu(g),
    "softmax({})": softmax,
    "softmax(relu({}))": lambda g: softmax(_relu(g)),
    "exp({})": lambda g: np.exp(np.minimum(g, 50)),
}
_VALUES: dict[str, _Numbers] = {
    "{}": lambda u: u,
    "relu({})": _relu,
    "abs({})": np.abs,
    "tanh({})": np.tanh,
    "sigmoid({})": _sigmoid,
    "silu({})": lambda u: u * _sigmoid(u),
    "{}²": np.square,
    "softmax({})": softmax,
    "−{}": lambda u: -u,
}
_TOGETHER: dict[str, _Pair] = {
    "{} * {}": lambda g, u: g * u,
    "{} + {}": lambda g, u: g + u,
    "{} − {}": lambda g, u: g - u,
    "{0}": lambda g, _: g,
    "{1}": lambda _, u: u,
    "relu({} + {})": lambda g, u: _relu(g + u),
    "maximum({}, {})": np.maximum,
    "minimum({}, {})": np.minimum,
    "g * u + u with g = {} and u = {}": lambda g, u: g * u + u,
    "g * u + g with g = {} and u = {}": lambda g, u: g * u + g,
    "g + u where g > 0, with g = {} and u = {}": lambda g, u: np.where(g > 0, g + u, 0),
    "u where g > 0, else g, with g = {} and u = {}": lambda g, u: np.where(g > 0, u, g),
    "g where g > u, else 0, with g = {} and u = {}": lambda g, u: np.where(g > u, g, 0),
}
_WRAPPED: dict[str, _Numbers] = {
    "{}": lambda y: y,
    "relu({})": _relu,
    "tanh({})": np.tanh,
    "sigmoid({})": _sigmoid,
    "softmax({})": softmax,
    "abs({})": np.abs,
}
_CHOICES: tuple[dict[str, Any], ...] = (
    _READ, _READ, _GATES, _VALUES, _TOGETHER, _WRAPPED, _WRAPPED,
)  # fmt: skip


def _formulas() -> Iterator[tuple[str, ...]]:
    """The right formula with one step or two of its steps replaced, in this order."""
    right = tuple(next(iter(names)) for names in _CHOICES)
    for many in (1, 2):
        for steps in combinations(range(len(right)), many):
            for others in product(*(list(_CHOICES[step])[1:] for step in steps)):
                yield tuple(
                    others[steps.index(n)] if n in steps else name for n, name in enumerate(right)
                )


def _computed(names: tuple[str, ...], x: Array, gate: Array, up: Array, down: Array) -> Array:
    read_g, read_u, gates, values, together, inside, outside = names
    g = _GATES[gates](_READ[read_g](x) @ gate.T)
    u = _VALUES[values](_READ[read_u](x) @ up.T)
    return _WRAPPED[outside](_WRAPPED[inside](_TOGETHER[together](g, u)) @ down.T)


def _another_formula(evidence: Evidence) -> Finding | None:
    """The output is that of a formula in which one or two steps are others."""
    if not evidence.comparable("open") or not evidence.comparable("mixed"):
        return None
    if evidence.same("open", "mixed"):
        return None
    up, down = (evidence.inputs[name].astype(float) for name in ("up", "down"))
    asked = [
        (
            evidence.inputs[x].astype(float),
            evidence.inputs[gate].astype(float),
            evidence.yours(case),
        )
        for x, gate, case in (("x", "gate", "mixed"), ("open_x", "open_gate", "open"))
    ]
    for names in _formulas():
        if all(
            np.allclose(_computed(names, x, gate, up, down), mine, rtol=1e-3, atol=1e-4)
            for x, gate, mine in asked
        ):
            break
    else:
        return None
    read_g, read_u, gates, values, together, inside, outside = names
    product_ = together.format(gates.format(f"gate({read_g})"), values.format(f"up({read_u})"))
    return Finding(
        "another-formula",
        f"Your output is what `{outside.format(f'down({inside.format(product_)})')}` gives.",
        "It should be what `down(relu(gate(x)) * up(x))` gives: a gate below 0 is closed, and an "
        f"open gate lets `up(x)` through as it is, times `gate(x)`. "
        f"{farthest(evidence, 'mixed' if evidence.same('open') else 'open')}",
        FEED_FORWARD,
        tells=Tells.CAUSE,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    """One wrong position of the first wrong call: its gates, its values, and their product."""
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
    when = "even when every gate is open" if case == "open" else "when some gates are closed"
    return Finding(
        "wrong-when-open" if case == "open" else "wrong-when-closed",
        f"Your output differs from what the formula gives, {when}.",
        f"At position {t} of sample {b}, `gate(x)` begins with {row(gates[:3])} and `up(x)` with "
        f"{row(values[:3])}. The product that goes into `down` should begin with {row(made[:3])} "
        f"and the output with {row(right[b, t, :3])}, but yours begins with {row(mine[b, t, :3])}.",
        FEED_FORWARD,
    )


TASK = Task(
    "A gate in the feed-forward network",
    GatedFeedForward,
    FEED_FORWARD,
    (
        Part("When every gate is open, the output is right.", 2, matches("open")),
        Part("A gate below 0 lets nothing through.", 1, matches("mixed", "biases.again")),
        Part("No layer has a bias.", 1, matches("mixed", "biases.vectors", "biases.matrices")),
    ),
    properties=(
        _another_formula,
        right_when_called_again(("open", "mixed"), ("biases.again",), FEED_FORWARD),
    ),
    cases=("open", "mixed"),
    examples=(_worked_out,),
    steps={
        "the openings of the gates": Step("`gate(x)` decides how far each gate is open."),
        "the gates": Step("A ReLU closes every gate below 0 and leaves the others as they are."),
        "the values": Step("`up(x)` is what the gates let through, and it may be negative."),
        "what goes through the gates": Step(
            "A closed gate is 0, and only a product with 0 lets nothing through."
        ),
        "your output": Step(
            "`down` comes last, so that the network can raise and lower the stream."
        ),
    },
)
