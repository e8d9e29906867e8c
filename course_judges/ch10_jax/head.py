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


def _everything(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool)


def with_sink(scores: Tensor, sink: Tensor, scale: Tensor, dim: int = -1) -> Tensor:
    """Softmax over a row's scores and the sink, without the sink's own weight."""
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
    """Keeps the parameters of its first call with each combination of shapes."""

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
    """Hides the sink if it is exactly 0."""
    return with_sink(scores, torch.where(sink == 0, -torch.inf, sink), scale)


def _shifted_alone(shift: Callable[..., Tensor]) -> InTorch:
    """A head that subtracts `shift(scores, sink)` from the scores before `exp`, but not from the
    sink. It hides the future after `exp`, so a shift can come from there, too.
    """

    def weights(scores: Tensor, sink: Tensor, scale: Tensor) -> Tensor:
        z = scores / scale
        e = (z - shift(z, sink)).exp().tril()
        return e / (e.sum(-1, keepdim=True) + sink.exp())

    return InTorch(Variant(visible=_everything, weights=weights))


def _largest_of_the_past(scores: Tensor, _: Tensor) -> Tensor:
    """(T, 1) each row's largest score that isn't hidden."""
    return scores.masked_fill(~past(len(scores)), -torch.inf).amax(1, keepdim=True)


# What a student may subtract from the scores for safety.
_SHIFTS: tuple[Callable[[Tensor, Tensor], Tensor], ...] = (
    _largest_of_the_past,
    lambda scores, _: scores.amax(1, keepdim=True),
    lambda scores, _: scores.max(),
    lambda scores, sink: _largest_of_the_past(scores, sink).max(),
    lambda scores, sink: torch.maximum(_largest_of_the_past(scores, sink), sink),
)


def _sink_in_front(scores: Tensor, sink: Tensor, scale: Tensor) -> Tensor:
    """The sink is the first column, but the last one is cut off."""
    column = sink.reshape(1, 1).expand(len(scores), 1)
    return torch.cat([column, scores / scale], dim=1).softmax(-1)[:, :-1]


def _first_cut_off(scores: Tensor, sink: Tensor, scale: Tensor) -> Tensor:
    """The sink is the last column, but the first one is cut off."""
    column = sink.reshape(1, 1).expand(len(scores), 1)
    return torch.cat([scores / scale, column], dim=1).softmax(-1)[:, 1:]


def _values(evidence: Evidence) -> str:
    return gap(evidence, "values")


def _scaled(evidence: Evidence, yours: float) -> str:
    D = evidence.number("D")
    return unwrapped(f"""With D = {D}, scores are divided by {number(D**0.5)}, but you divided by
    {number(yours)}. {_values(evidence)}""")


def _sink(evidence: Evidence) -> str:
    return f"The sink is {number(float(evidence.inputs['first_sink']))}. {_values(evidence)}"


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
    "You divided the scores by √T, but a score is a sum of D products, so the scale is √D.",
    lambda e: _scaled(e, e.number("T") ** 0.5),
)(
    InTorch(
        Variant(weights=lambda s, sink, scale: with_sink(s, sink, torch.tensor(len(s) ** 0.5)))  # noqa: ARG005
    )
)

_scale_not_rooted = mistake(
    "You divided the scores by D instead of √D.", lambda e: _scaled(e, e.number("D"))
)(InTorch(Variant(scale=lambda C, D, E: D)))  # noqa: ARG005

_scale_multiplied = mistake(
    "You multiplied the scores by √D instead of dividing by it.",
    lambda e: f"Your scores are too large by a factor of D = {e.number('D')}. {_values(e)}",
)(InTorch(Variant(scale=lambda C, D, E: D**-0.5)))  # noqa: ARG005

_no_causal_mask = mistake(
    "You didn't hide the future, so every position sees the whole text.",
    lambda e: unwrapped(f"""Even position 0 averages {e.number("T")} positions. {_values(e)} If you
    did call `jnp.where` or `scores.at[…].set(…)`, keep what it returns."""),
)(InTorch(Variant(visible=_everything)))

_diagonal_excluded = mistake(
    "You hid each position from itself.",
    lambda e: f"Then row 0 can look only at the sink, so it is 0. {_values(e)}",
)(InTorch(Variant(visible=lambda T: past(T).tril(-1))))

_zero_mask = families.zero_mask(_values)(InTorch(Variant(fill=0.0)))

_softmax_over_queries = mistake(
    "You took the softmax down the columns instead of along the rows.",
    lambda e: f"{_values(e)} Each row is an average of its own, so use `axis=-1`.",
)(InTorch(Variant(weights=lambda s, sink, scale: with_sink(s, sink, scale, dim=0))))

_swapped_query_key = families.swapped_query_key(_values)(InTorch(Variant(swapped=True)))

_sink_ignored = mistake(
    "Your sink takes no weight away, so your rows sum to 1.",
    lambda e: unwrapped(f"""{_sink(e)} Does the sink have its own column in the softmax, which the
    mask doesn't hide, and do you leave the weights as the softmax returns them? If you add the sink
    to every score instead, it changes nothing."""),
)(InTorch(Variant(weights=lambda s, sink, scale: (s / scale).softmax(-1))))  # noqa: ARG005

_sink_always_zero = mistake("You always use a sink of 0 instead of the parameter.", _sink)(
    InTorch(Variant(weights=lambda s, sink, scale: with_sink(s, 0 * sink, scale)))
)

_sink_not_exponentiated = mistake(
    "You added the sink itself to the sum of each row instead of exp(sink).", _sink
)(InTorch(Variant(weights=lambda s, sink, scale: _divided(s, sink, scale, lambda z: z))))

_sink_scaled = mistake("You divided the sink by √D, but only the other scores need that.", _sink)(
    InTorch(Variant(weights=lambda s, sink, scale: with_sink(s, sink / scale, scale)))
)


def _most_taken(evidence: Evidence) -> str:
    """What the sink takes of the row in which that is furthest off."""
    found, total = _softmax_rows(evidence, "first")
    sums = (evidence.yours("values") * found).sum(axis=1) / (found * found).sum(axis=1)  # (T,)
    e = np.exp(float(evidence.inputs["first_sink"]))
    right = total / (total + e)
    row = int(np.abs(sums - right).argmax())
    return unwrapped(f"""With a sink of {number(float(evidence.inputs["first_sink"]))}, it takes
    {100 * (1 - sums[row]):.0f} % of the weight in row {row} instead of
    {100 * (1 - right[row]):.0f} %.""")


_sink_not_shifted = mistake(
    "You subtracted a number from the scores before `exp`, but not from the sink.",
    lambda e: unwrapped(f"""{_most_taken(e)} A shift leaves a softmax as it is only if the same
    number is subtracted from everything that is exponentiated, and the sink is one of the
    scores."""),
    also=tuple(_shifted_alone(shift) for shift in _SHIFTS[1:]),
)(_shifted_alone(_SHIFTS[0]))


_another_column_cut_off = mistake(
    "You cut off a column of the weights that isn't the sink's.",
    lambda e: unwrapped(f"""The sink's weight is in the same column as its score. If you cut off the
    column at the other end, the sink's weight is multiplied by a value. {_values(e)}"""),
    also=(InTorch(Variant(weights=_first_cut_off)),),
)(InTorch(Variant(weights=_sink_in_front)))


_sink_of_zero_hidden = mistake(
    "You ignore a sink of exactly 0, but 0 is a score like any other.",
    lambda e: unwrapped(f"""With a sink of {number(float(e.inputs["second_sink"]))}, your values are
    wrong. {gap(e, "other")} Do you treat scores of 0 as hidden?"""),
)(InTorch(Variant(weights=_unless_zero)))


@mistake(
    "Your function needs the numbers in its arrays, but during tracing they aren't known.",
    lambda e: f"{says(e, 'compiled')} {instead(e, 'compiled')}",
    PURE,
    recognized=lambda e: e.same(*_CASES) and traced_error(e, "compiled"),
)
def _leaves_jax(parameters: Mapping[str, Any], x: Any) -> Any:
    tree = {name: torch.from_numpy(np.array(leaf)) for name, leaf in parameters.items()}
    return Variant()(tree, torch.from_numpy(np.array(x))).numpy()


_parameters_from_outside = mistake(
    "Your result doesn't depend on the parameters that you are given.",
    lambda e: unwrapped(f"""Two trees, with sinks of {number(float(e.inputs["first_sink"]))} and
    {number(float(e.inputs["second_sink"]))}, gave the same output. Do you use the parameters at
    all, or do you keep something from an earlier call or take it from outside the function?"""),
    PURE,
    recognized=_same_for_all_parameters,
)(InTorch(Remembering()))

_takes_the_tree_apart = mistake(
    "Your function changes the tree that it is given.",
    lambda e: f"{others_than_given(e)} The next call would get a different tree.",
    PURE,
    recognized=lambda e: e.same("values") and changed_what_was_given(e),
)(InTorch(_takes_apart))


def _softmax_rows(evidence: Evidence, which: str) -> tuple[Array, Array]:
    """The output (T, E) of a head without a sink, and (T,) the sum of each row's exponentials."""
    names = ("query", "key", "value")
    given = {n: evidence.inputs[f"{which}_{n}"].astype(float) for n in names}
    query, key, value = (evidence.inputs["x"].astype(float) @ given[name] for name in names)
    e = np.tril(np.exp(query @ key.T / query.shape[1] ** 0.5))
    return e / e.sum(axis=1, keepdims=True) @ value, e.sum(axis=1)


def _another_share(evidence: Evidence) -> Finding | None:
    """Rows like those of a head without a sink, but with the wrong sum of weights."""
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
        return None  # right, or times one factor, which the judge says of any answer
    said = "Your scores and values are right, but the weights of your rows have the wrong sums."
    if np.allclose(joins, joins.mean(), rtol=1e-2):
        joined = float(joins.mean())
        known = {
            "exp(−sink)": np.exp(-sink),
            "exp(sink · √D)": np.exp(sink * evidence.number("D") ** 0.5),
        }
        which = next(
            (f" = {said}" for said, one in known.items() if np.isclose(joined, one, 5e-3)), ""
        )
        why = unwrapped(f"""In every row, {number(joined)}{which} is added to the sum of the
        exponentials. With a sink of {number(sink)}, it should be exp(sink) =
        {number(float(np.exp(sink)))}.""")
    elif np.allclose(sums, sums[0], rtol=1e-4):
        why = unwrapped(f"""All your rows sum to {number(float(sums[0]))}, but the right sums go
        from {number(float(right.min()))} to {number(float(right.max()))}. The sink is one more
        score in each row, so how much it takes depends on the others.""")
    else:
        row = int(np.abs(sums - right).argmax())
        why = unwrapped(f"""With a sink of {number(sink)}, your row {row} sums to
        {number(float(sums[row]))} instead of {number(float(right[row]))}.""")
    return Finding("another-share", said, why, HEAD)


def _value_for_the_sink(evidence: Evidence) -> Finding | None:
    """The right rows plus the sink's weight times some value."""
    _, total = _softmax_rows(evidence, "first")
    mine, right = evidence.yours("values").astype(float), evidence.right("values").astype(float)
    if mine.shape != right.shape or evidence.same("values"):
        return None
    weight = 1 - total / (total + np.exp(float(evidence.inputs["first_sink"])))  # (T,)
    value = weight @ (mine - right) / (weight @ weight)  # (E,)
    if not np.allclose(mine - right, weight[:, None] * value, atol=1e-4):
        return None
    return Finding(
        "value-for-the-sink",
        "You multiply the sink's weight by a value, but the sink has none to add.",
        unwrapped(f"""Each of your rows is the right one plus the sink's weight times a value that
        begins with {number(float(value[0]))}. Leave out the last column of the weights, and don't
        add a row to the values. {_values(evidence)}"""),
        HEAD,
    )


def _first_row(evidence: Evidence) -> Finding | None:
    """Position 0 sees only itself and the sink, so its row is a multiple of its value."""
    mine = evidence.yours("values").astype(float)
    value = evidence.inputs["x"][0].astype(float) @ evidence.inputs["first_value"].astype(float)
    if mine.shape != evidence.right("values").shape:
        return None
    share = float(mine[0] @ value / (value @ value))
    if np.allclose(mine[0], share * value, atol=1e-4):
        return None
    return Finding(
        "first-row-mixed",
        "Your position 0 uses more than its own value.",
        unwrapped(f"""It may look only at itself and at the sink, so row 0 has to be a multiple of
        value 0, but yours isn't. Does it see later positions, or does the sink add a value?
        {_values(evidence)}"""),
        HEAD,
    )


_one_step_ahead = mistake(
    "You let each position look one step into the future.",
    lambda e: f"Position t sees positions 0 to t, so the diagonal is the last one. {_values(e)}",
)(InTorch(Variant(visible=lambda T: torch.ones(T, T).tril(1).bool())))

_upper_triangle = families.upper_triangle(_values)(InTorch(Variant(visible=lambda T: past(T).T)))


TASK = Task(
    "A head that may look away",
    InTorch(Variant()),
    HEAD,
    (
        Part("The values are right, whatever parameters are passed.", 3, matches(*_CASES)),
        Part(
            "It is pure, and compiles.",
            1,
            matches("compiled", "kept"),
        ),
    ),
    properties=(_another_share, _value_for_the_sink, _first_row),
    cases=_CASES,
)
