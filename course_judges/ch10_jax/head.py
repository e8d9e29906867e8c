"""Judges 10/head: a head as a pure function, with a sink that takes weight away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch10_jax.sections import HEAD, PURE
from course_judges.ch10_jax.wording import (
    changed_what_was_given,
    gap,
    says,
    traced_error,
)
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, unwrapped
from course_tasks.ch10_jax.sides import InTorch


def past(T: int) -> Tensor:
    """(T, T) True where a position may look."""
    return torch.ones(T, T, dtype=torch.bool).tril()


def with_sink(scores: Tensor, sink: Tensor, scale: Tensor, dim: int = -1) -> Tensor:
    """Softmax over a row's scores and the sink; the sink's share is dropped."""
    T = len(scores)
    column = sink.reshape(1, 1).expand(T, 1)
    return torch.cat([scores / scale, column], dim=1).softmax(dim)[:, :T]


def _divided(scores: Tensor, sink: Tensor, scale: Tensor, extra: Callable[..., Tensor]) -> Tensor:
    e = (scores / scale).exp()
    return e / (e.sum(-1, keepdim=True) + extra(sink))


@dataclass(frozen=True)
class Variant:
    """The head, right unless told otherwise."""

    scale: Callable[[int, int, int], float] = lambda C, D, E: D**0.5  # noqa: ARG005
    visible: Callable[[int], Tensor] = past
    fill: float = -torch.inf
    weights: Callable[[Tensor, Tensor, Tensor], Tensor] = with_sink
    swapped: bool = False

    def __call__(self, parameters: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """(T, C) → (T, E)."""
        query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
        scores = key @ query.T if self.swapped else query @ key.T  # (T, T)
        scores = scores.masked_fill(~self.visible(len(x)), self.fill)
        scale = torch.tensor(self.scale(x.shape[1], query.shape[1], value.shape[1]))
        return self.weights(scores, parameters["sink"], scale) @ value


class Remembering:
    """Keeps the parameters of its first call, for each size."""

    def __init__(self) -> None:
        self.first: dict[Any, Any] = {}

    def __call__(self, parameters: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """(T, C) → (T, E)."""
        sizes = (x.shape, parameters["query"].shape, parameters["value"].shape)
        return Variant()(self.first.setdefault(sizes, parameters), x)


def _takes_apart(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
    sink = parameters.pop("sink")
    return Variant()({**parameters, "sink": sink}, x)


def _values(evidence: Evidence) -> str:
    return gap(evidence, "values")


def _scaled(evidence: Evidence, yours: float) -> str:
    D = evidence.number("D")
    return unwrapped(f"""D = {D}, so the scores are divided by {number(D**0.5)}; you divide by
    {number(yours)}. {_values(evidence)}""")


def _sink(evidence: Evidence) -> str:
    return f"With a sink of {number(float(evidence.inputs['first_sink']))}: {_values(evidence)}"


def _same_for_all_parameters(evidence: Evidence) -> bool:
    one, two = evidence.yours("values"), evidence.yours("other")
    return np.allclose(one, two, atol=1e-5) and bool(np.abs(one).max() > 0)


_CASES = ("values", "other")


_no_scale = families.no_scale(lambda e: _scaled(e, 1.0))(
    InTorch(Variant(scale=lambda C, D, E: 1.0))  # noqa: ARG005
)

_scale_by_channels = families.scale_by_channels(lambda e: _scaled(e, e.number("C") ** 0.5))(
    InTorch(Variant(scale=lambda C, D, E: C**0.5))  # noqa: ARG005
)

_scale_by_values = families.scale_by_values(lambda e: _scaled(e, e.number("E") ** 0.5))(
    InTorch(Variant(scale=lambda C, D, E: E**0.5))  # noqa: ARG005
)

_no_causal_mask = families.no_causal_mask(
    lambda e: f"Position 0 averages {e.number('T')} positions. {_values(e)}"
)(InTorch(Variant(visible=lambda T: torch.ones(T, T, dtype=torch.bool))))

_diagonal_excluded = mistake(
    "No position sees itself.", lambda e: f"Row 0 looks at the sink alone, so it is 0. {_values(e)}"
)(InTorch(Variant(visible=lambda T: past(T).tril(-1))))

_zero_mask = families.zero_mask(_values)(InTorch(Variant(fill=0.0)))

_softmax_over_queries = families.softmax_over_queries(_values)(
    InTorch(Variant(weights=lambda s, sink, scale: with_sink(s, sink, scale, dim=0)))
)

_swapped_query_key = families.swapped_query_key(_values)(InTorch(Variant(swapped=True)))

_sink_ignored = mistake(
    "Your rows sum to 1, so the sink takes nothing away.",
    lambda e: unwrapped(f"""{_sink(e)} Adding the sink to every score changes nothing either: it
    needs a column of its own in the softmax."""),
)(InTorch(Variant(weights=lambda s, sink, scale: (s / scale).softmax(-1))))  # noqa: ARG005

_sink_always_zero = mistake("Your sink has score 0, whatever the parameter says.", _sink)(
    InTorch(Variant(weights=lambda s, sink, scale: with_sink(s, 0 * sink, scale)))
)

_sink_not_exponentiated = mistake(
    "You added the sink itself to the sum of a row; what joins the sum is exp(sink).", _sink
)(InTorch(Variant(weights=lambda s, sink, scale: _divided(s, sink, scale, lambda z: z))))

_sink_scaled = mistake("You divide the sink by √D as well; it is a score as it stands.", _sink)(
    InTorch(Variant(weights=lambda s, sink, scale: with_sink(s, sink / scale, scale)))
)


@mistake(
    "Your function asks arrays for their numbers, which they do not have while being traced.",
    lambda e: f"{says(e, 'compiled')} Use `jnp` throughout: no `np`, no `float`, no `if`.",
    PURE,
    recognized=lambda e: e.same(*_CASES) and traced_error(e, "compiled"),
)
def _leaves_jax(parameters: Mapping[str, Any], x: Any) -> Any:
    tree = {name: torch.from_numpy(np.array(leaf)) for name, leaf in parameters.items()}
    return Variant()(tree, torch.from_numpy(np.array(x))).numpy()


_parameters_from_outside = mistake(
    "Your result does not depend on the parameters that are passed.",
    lambda e: unwrapped(f"""Two trees, with sinks {number(float(e.inputs["first_sink"]))} and
    {number(float(e.inputs["second_sink"]))}, gave the same output. Something was kept from an
    earlier call, or comes from a global."""),
    PURE,
    recognized=_same_for_all_parameters,
)(InTorch(Remembering()))

_takes_the_tree_apart = mistake(
    "Your function changes the tree that it is given.",
    lambda e: (
        "After the call the tree holds "
        + (", ".join(sorted(n[5:] for n in e.answers.values if n[:5] == "kept.")) or "nothing")
        + "; it came with key, query, sink, value. Whoever calls again gets another model."
    ),
    PURE,
    recognized=lambda e: e.same("values") and changed_what_was_given(e),
)(InTorch(_takes_apart))


TASK = Task(
    "A head that may look away",
    InTorch(Variant()),
    HEAD,
    (
        Part("The values are right, whatever parameters are passed.", 3, matches(*_CASES)),
        Part(
            "It is pure: it compiles, and leaves what it is given alone.",
            1,
            matches("compiled", "kept"),
        ),
    ),
    cases=_CASES,
)
