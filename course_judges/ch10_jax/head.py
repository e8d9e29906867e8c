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
    instead,
    others_than_given,
    says,
    traced_error,
)
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, unwrapped
from course_tasks.answers import Array
from course_tasks.ch10_jax.sides import InTorch
from course_tasks.verdict import Finding


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


def _unless_zero(scores: Tensor, sink: Tensor, scale: Tensor) -> Tensor:
    """With a sink of exactly 0 taken for hidden."""
    return with_sink(scores, torch.where(sink == 0, -torch.inf, sink), scale)


def _sink_in_front(scores: Tensor, sink: Tensor, scale: Tensor) -> Tensor:
    """The sink stands first, and the last column is cut off."""
    column = sink.reshape(1, 1).expand(len(scores), 1)
    return torch.cat([column, scores / scale], dim=1).softmax(-1)[:, :-1]


def _first_cut_off(scores: Tensor, sink: Tensor, scale: Tensor) -> Tensor:
    """The sink stands last, and the first column is cut off."""
    column = sink.reshape(1, 1).expand(len(scores), 1)
    return torch.cat([scores / scale, column], dim=1).softmax(-1)[:, 1:]


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

_scale_by_time = mistake(
    "You divided the scores by √T; a score is a sum of D products, so the scale is √D.",
    lambda e: _scaled(e, e.number("T") ** 0.5),
)(
    InTorch(
        Variant(weights=lambda s, sink, scale: with_sink(s, sink, torch.tensor(len(s) ** 0.5)))  # noqa: ARG005
    )
)

_scale_not_rooted = mistake(
    "You divided the scores by D; the root is missing.", lambda e: _scaled(e, e.number("D"))
)(InTorch(Variant(scale=lambda C, D, E: D)))  # noqa: ARG005

_scale_multiplied = mistake(
    "You multiplied the scores by √D; they are divided by it.",
    lambda e: f"Your scores are D = {e.number('D')} times the right ones. {_values(e)}",
)(InTorch(Variant(scale=lambda C, D, E: D**-0.5)))  # noqa: ARG005

_no_causal_mask = mistake(
    "Nothing is hidden: every position sees the whole text, future included.",
    lambda e: unwrapped(f"""Position 0 averages {e.number("T")} positions. {_values(e)} If you did
    call `jnp.where` or `scores.at[…].set(…)`, keep what it returns."""),
)(InTorch(Variant(visible=lambda T: torch.ones(T, T, dtype=torch.bool))))

_diagonal_excluded = mistake(
    "No position sees itself.", lambda e: f"Row 0 looks at the sink alone, so it is 0. {_values(e)}"
)(InTorch(Variant(visible=lambda T: past(T).tril(-1))))

_zero_mask = families.zero_mask(_values)(InTorch(Variant(fill=0.0)))

_softmax_over_queries = mistake(
    "Your softmax runs down the columns, over the positions that ask.",
    lambda e: f"{_values(e)} Each row is an average of its own: `axis=-1`.",
)(InTorch(Variant(weights=lambda s, sink, scale: with_sink(s, sink, scale, dim=0))))

_swapped_query_key = families.swapped_query_key(_values)(InTorch(Variant(swapped=True)))

_sink_ignored = mistake(
    "Your rows sum to 1, so the sink takes nothing away.",
    lambda e: unwrapped(f"""{_sink(e)} Does it have a column of its own in the softmax, which the
    mask leaves open, and do the weights stay as they come out of it? Added to every score, it
    changes nothing."""),
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


_another_column_cut_off = mistake(
    "You cut off a column of weights that is not the sink's.",
    lambda e: unwrapped(f"""The sink's weight stands where the sink stands among the scores; with
    the column at the other end cut off, that weight meets a value. {_values(e)}"""),
    also=(InTorch(Variant(weights=_first_cut_off)),),
)(InTorch(Variant(weights=_sink_in_front)))


_sink_of_zero_hidden = mistake(
    "A sink of 0 takes nothing away in your head; 0 is a score like any other.",
    lambda e: unwrapped(f"""With a sink of {number(float(e.inputs["second_sink"]))}:
    {gap(e, "other")} Do you ask which scores are 0, to find those that are hidden?"""),
)(InTorch(Variant(weights=_unless_zero)))


@mistake(
    "Your function asks arrays for their numbers, which they do not have while being traced.",
    lambda e: f"{says(e, 'compiled')} {instead(e, 'compiled')}",
    PURE,
    recognized=lambda e: e.same(*_CASES) and traced_error(e, "compiled"),
)
def _leaves_jax(parameters: Mapping[str, Any], x: Any) -> Any:
    tree = {name: torch.from_numpy(np.array(leaf)) for name, leaf in parameters.items()}
    return Variant()(tree, torch.from_numpy(np.array(x))).numpy()


_parameters_from_outside = mistake(
    "Your result does not depend on the parameters that are passed.",
    lambda e: unwrapped(f"""Two trees, with sinks {number(float(e.inputs["first_sink"]))} and
    {number(float(e.inputs["second_sink"]))}, gave the same output. Are the parameters used at
    all, or is something kept from an earlier call, or taken from outside the function?"""),
    PURE,
    recognized=_same_for_all_parameters,
)(InTorch(Remembering()))

_takes_the_tree_apart = mistake(
    "Your function changes the tree that it is given.",
    lambda e: f"{others_than_given(e)} Whoever calls again gets another model.",
    PURE,
    recognized=lambda e: e.same("values") and changed_what_was_given(e),
)(InTorch(_takes_apart))


def _softmax_rows(evidence: Evidence, which: str) -> tuple[Array, Array]:
    """What a head without a sink finds, and (T,) the sum of each row's exponentials."""
    names = ("query", "key", "value")
    given = {n: evidence.inputs[f"{which}_{n}"].astype(float) for n in names}
    query, key, value = (evidence.inputs["x"].astype(float) @ given[name] for name in names)
    e = np.tril(np.exp(query @ key.T / query.shape[1] ** 0.5))
    return e / e.sum(axis=1, keepdims=True) @ value, e.sum(axis=1)


def _another_share(evidence: Evidence) -> Finding | None:
    """Rows that are the head's without a sink, and sum to something else than they should."""
    found, total = _softmax_rows(evidence, "first")
    mine = evidence.yours("values").astype(float)
    if mine.shape != found.shape:
        return None
    sums = (mine * found).sum(axis=1) / (found * found).sum(axis=1)  # (T,)
    if not np.allclose(mine, sums[:, None] * found, atol=1e-4) or not (0 < sums).all():
        return None
    sink = float(evidence.inputs["first_sink"])
    right = total / (total + np.exp(sink))
    joins = total * (1 / sums - 1)
    times = sums / right
    if np.allclose(times, times[0], rtol=1e-4):
        return None  # right, or times one factor, which is said of every answer
    said = "Scores and values are right, and the weights of your rows sum to something else."
    if np.allclose(joins, joins.mean(), rtol=1e-2):
        why = unwrapped(f"""In every row, {number(float(joins.mean()))} joins the sum of the
        exponentials; with a sink of {number(sink)} it is e to the sink,
        {number(float(np.exp(sink)))}.""")
    elif np.allclose(sums, sums[0], rtol=1e-4):
        why = unwrapped(f"""All of yours sum to {number(float(sums[0]))}. The sink is one score
        among those of a row: how much it takes depends on them. The right sums go from
        {number(float(right.min()))} to {number(float(right.max()))}.""")
    else:
        row = int(np.abs(sums - right).argmax())
        why = unwrapped(f"""With a sink of {number(sink)}, row {row} of yours sums to
        {number(float(sums[row]))}, the right one to {number(float(right[row]))}.""")
    return Finding("another-share", said, why, HEAD)


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
    properties=(_another_share,),
    cases=_CASES,
)
