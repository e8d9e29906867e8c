"""Judges 05/cross: one sequence attends to another, which may be padded at its end."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.attention_weights import (
    Weights,
    no_mixture,
    of_another_sample,
    rows_beside,
    softmax,
    weights_behind,
)
from course_judges.ch05_head import wording
from course_judges.ch05_head.sections import FUTURE, PASSED, SCALE, TWO
from course_judges.ch05_head.shapes_that_meet import do_not_fit
from course_judges.ch05_head.wording import OUTPUTS_SHOW
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, rows_apart, unwrapped
from course_judges.wrong_arrays.comparisons import compared
from course_judges.wrong_arrays.relations import related
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def cross_attention(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    """A right answer to 05/cross: (B, T, C), (B, S, C), three maps, (B,) → (B, T, E)."""
    D, S = w_key.shape[1], memory.shape[1]
    query = x @ w_query  # the queries (B, T, D)
    key = memory @ w_key  # the keys (B, S, D)
    value = memory @ w_value  # the values (B, S, E)
    products = query @ key.transpose(1, 2)  # the products of queries and keys (B, T, S)
    scores = products / math.sqrt(D)  # the scores (B, T, S)
    padding = torch.arange(S) >= lengths[:, None]  # the mask of padding (B, S)
    masked = scores.masked_fill(padding[:, None], -torch.inf)  # the masked scores (B, T, S)
    weights = masked.softmax(dim=-1)  # the weights (B, T, S)
    return weights @ value  # your outputs (B, T, E)


_Answer = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
_Weigh = Callable[[Tensor, Tensor], Tensor]


def _weighed(weigh: _Weigh, scale: Callable[[int, int, int], float] | None = None) -> _Answer:
    """An answer with other weights, from scores (B, T, S) and padding (B, 1, S)."""

    def answer(
        x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
    ) -> Tensor:
        C, D, E = len(w_key), w_key.shape[1], w_value.shape[1]
        over = math.sqrt(D) if scale is None else scale(C, D, E)
        scores = (x @ w_query) @ (memory @ w_key).transpose(1, 2) / over
        padding = (torch.arange(memory.shape[1]) >= lengths[:, None])[:, None]
        return weigh(scores, padding) @ (memory @ w_value)

    return answer


def _usual(scores: Tensor, padding: Tensor) -> Tensor:
    return scores.masked_fill(padding, -torch.inf).softmax(dim=-1)


def _other_lengths(by: int) -> _Answer:
    """An answer that treats each memory as so many symbols longer than it is."""

    def answer(
        x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
    ) -> Tensor:
        return cross_attention(x, memory, w_query, w_key, w_value, lengths + by)

    return answer


def _asks_itself(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    everything = torch.full_like(lengths, x.shape[1] + 0 * memory.shape[1])
    return cross_attention(x, x, w_query, w_key, w_value, everything)


def _is_half_of_each(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("full")
    if raised is None or "batch2" not in raised.message:
        return False
    # Weights over T positions with values at S, or the reverse; other products fail as well.
    B, T, S = (evidence.number(name) for name in "BTS")
    said = raised.message
    return any(f"[{B}, {one}] but got: [{B}, {other}]" in said for one, other in ((T, S), (S, T)))


def _is_self_attention(evidence: Evidence) -> bool:
    names = ("x", "memory", "w_query", "w_key", "w_value", "full")
    wrong = _asks_itself(*(torch.from_numpy(evidence.inputs[name]) for name in names)).numpy()
    mine = evidence.yours("full")
    return mine.shape == wrong.shape and bool(np.allclose(mine, wrong, rtol=1e-4, atol=1e-5))


def _has_memorys_length(evidence: Evidence) -> bool:
    B, S, E = (evidence.number(name) for name in "BSE")
    return evidence.yours("full").shape == (B, S, E)


def _first(evidence: Evidence, case: str = "full", b: int = 0) -> str:
    mine, right = evidence.yours(case)[b, :, :3], evidence.right(case)[b, :, :3]
    t = int(np.nan_to_num(np.abs(mine - right).max(axis=-1), nan=np.inf).argmax())
    one, other = rows_beside(mine[t], right[t])
    return unwrapped(f"""In sample {b}, the output at position {t} begins with {one}, but it should
    begin with {other}.""")


def _dimensions(evidence: Evidence, others: str = "") -> str:
    named = (f"{name} = {evidence.number(name)}" for name in (*others, "C", "D", "E"))
    return f"Here {', '.join(named)}. {_first(evidence)}"


def _padded(evidence: Evidence) -> str:
    gap = np.abs(evidence.yours("padded") - evidence.right("padded")).max(axis=(1, 2))
    b = int(gap.argmax())  # the memory whose outputs are most off
    length = int(evidence.inputs["lengths"][b])
    return unwrapped(f"""Memory {b} has length {length}, so its padding begins at position {length}.
    {_first(evidence, "padded", b)}""")


def _shape(evidence: Evidence) -> str:
    mine, right = evidence.yours("full").shape, evidence.right("full").shape
    return f"Your result has shape {mine} instead of {right}."


def _lowest_score(evidence: Evidence) -> float:
    """The score of position 0 of `x` with the first symbol of its memory."""
    e = evidence.inputs
    query, key = e["x"][0, 0] @ e["w_query"], e["memory"][0, 0] @ e["w_key"]
    return float(query @ key) / math.sqrt(len(query))


def _shows_padding_beside_a_low_score(evidence: Evidence) -> bool:
    """Nearly right, or a plain mean of the padding if the only symbol has a low score."""
    mine, right = evidence.yours("padded"), evidence.right("padded")
    if mine.shape != right.shape or not evidence.same("full"):
        return False
    if len(mine) > 1:
        return bool(np.abs(mine - right).max() < 0.1)
    padding = evidence.inputs["memory"][0, 1:] @ evidence.inputs["w_value"]
    return bool(np.allclose(mine[0, 0], padding.mean(axis=0), atol=1e-2))


def _low(evidence: Evidence) -> str:
    if evidence.number("B") > 1:
        return f"{_padded(evidence)} {wording.MINUS_INFINITY}"
    return unwrapped(f"""{_padded(evidence)} The only symbol there has a score of
    {number(_lowest_score(evidence))}, so your output is a mean of the padding.
    {wording.MINUS_INFINITY}""")


def _padding_counts(evidence: Evidence) -> Finding | None:
    if not evidence.same("full") or evidence.same("padded"):
        return None
    gap = np.abs(evidence.yours("padded") - evidence.right("padded")).max()
    return Finding(
        "padding-wrong",
        "Your answer is right without padding, but not with it.",
        f"Your outputs are off by up to {number(gap)}. {_padded(evidence)}",
        TWO,
    )


@mistake(
    "Your weights and values don't belong to the same sequence.",
    lambda e: unwrapped(f"""Of your weights and values, one has T = {e.number("T")} positions and
    the other S = {e.number("S")}, so they can't be multiplied. Keys and values should both come
    from `memory`; if they do, is something transposed?"""),
    recognized=_is_half_of_each,
)
def _self_cross(
    x: Tensor,
    memory: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    lengths: Tensor,  # noqa: ARG001
) -> Tensor:
    scores = (x @ w_query) @ (x @ w_key).transpose(1, 2) / math.sqrt(w_key.shape[1])
    return scores.softmax(dim=-1) @ (memory @ w_value)


_self_attention = mistake(
    "You let `x` attend to itself, without using the memory.",
    lambda e: f"{_first(e)} Keys and values should come from `memory`.",
    recognized=_is_self_attention,
)(_asks_itself)


@mistake(
    "Your result has a row for each symbol of the memory instead of each symbol of `x`.",
    lambda e: unwrapped(f"""{_shape(e)} Each query gets a row, so queries should come from `x`, and
    keys and values from the memory."""),
    recognized=_has_memorys_length,
)
def _roles_exchanged(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    return cross_attention(memory, x, w_query, w_key, w_value, torch.full_like(lengths, x.shape[1]))


@mistake("You applied `w_query` to the memory and `w_key` to `x`.", _first)
def _maps_exchanged(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    return cross_attention(x, memory, w_key, w_query, w_value, lengths)


_scale_by_channels = families.scale_by_channels(_dimensions, SCALE)(
    _weighed(_usual, lambda C, D, E: math.sqrt(C))  # noqa: ARG005
)

_scale_by_values = families.scale_by_values(_dimensions, SCALE)(
    _weighed(_usual, lambda C, D, E: math.sqrt(E))  # noqa: ARG005
)


def _by_a_length(of: Callable[[Tensor, Tensor], int]) -> _Answer:
    """An answer that divides its scores by the root of a number of positions."""

    def answer(
        x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
    ) -> Tensor:
        factor = math.sqrt(w_key.shape[1] / of(x, memory))
        return cross_attention(x, memory, w_query * factor, w_key, w_value, lengths)

    return answer


_scale_by_length = mistake(
    wording.LENGTH_UNDER_THE_ROOT,
    lambda e: _dimensions(e, "TS"),
    SCALE,
    also=(_by_a_length(lambda x, memory: memory.shape[1]),),  # noqa: ARG005
)(_by_a_length(lambda x, memory: x.shape[1]))  # noqa: ARG005


def _mask_does_not_fit(evidence: Evidence) -> bool:
    return any(do_not_fit(evidence, "full", "B", other) for other in "ST")


@mistake(
    "`lengths`, or a mask made from it, has a shape that doesn't fit.",
    lambda e: unwrapped(f"""The scores have shape (B, T, S) = ({e.number("B")}, {e.number("T")},
    {e.number("S")}). The error says: “{e.answers.errors["full"].message.rstrip(".")}”. To compare
    it with `torch.arange(S)`, make `lengths` a column, `lengths[:, None]`. The result (B, S) then
    needs an axis for the positions of `x`, `[:, None, :]`."""),
    FUTURE,
    recognized=_mask_does_not_fit,
)
def _mask_without_an_axis(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(w_key.shape[1])
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]
    return scores.masked_fill(padding, -torch.inf).softmax(dim=-1) @ value


@mistake(
    "You divided by √D after the softmax instead of before it.",
    lambda e: unwrapped(f"""The weights of each output then sum to 1/√D =
    {number(e.number("D") ** -0.5)} instead of 1, and the scores stay too large. {_first(e)}"""),
    SCALE,
)
def _scale_after_softmax(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    D = w_key.shape[1]
    return cross_attention(x, memory, w_query * D**0.5, w_key, w_value / D**0.5, lengths)


_no_softmax = mistake(
    wording.NO_SOFTMAX,
    lambda e: f"{wording.NO_AVERAGE} {_first(e)}",
)(_weighed(lambda s, p: s.masked_fill(p, 0.0)))


def _asking_rows_cut(*, hides: bool) -> _Answer:
    """An answer that sets outputs to 0 by the lengths, and may also hide the padding."""

    def answer(
        x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
    ) -> Tensor:
        seen = lengths if hides else torch.full_like(lengths, memory.shape[1])
        found = cross_attention(x, memory, w_query, w_key, w_value, seen)
        return found * (torch.arange(x.shape[1]) < lengths[:, None])[:, :, None]

    return answer


_lengths_of_x = mistake(
    "You set outputs to 0 from position `lengths[b]` on, but these are lengths of the memories.",
    lambda e: unwrapped(f"""All T = {e.number("T")} positions of `x` need an output, however short
    their memory is. {_padded(e)}"""),
    cases=("full", "padded"),
    also=(_asking_rows_cut(hides=False),),
)(_asking_rows_cut(hides=True))

_causal_mask_kept = mistake(
    "You kept the causal mask, so position t sees only the first t + 1 symbols of the memory.",
    lambda e: f"{_first(e)} The whole memory is known, so none of it lies in the future.",
)(Like("masked-the-future-in-the-products-of-queries-and-keys"))

_softmax_over_queries = families.softmax_over_queries(_first)(
    _weighed(lambda s, p: s.masked_fill(p, -torch.inf).softmax(dim=1).nan_to_num(0.0))
)


_last_symbol_hidden = mistake(
    "You hid the last symbol of each memory.",
    _padded,
    FUTURE,
    cases=("padded",),
)(_other_lengths(-1))


_inverted_mask = mistake(
    "You hid the symbols and kept the padding.", _padded, FUTURE, cases=("padded",)
)(Like("masked-exactly-what-should-be-seen-in-the-masked-scores"))


def _one_length(of: Callable[[Tensor], Tensor]) -> _Answer:
    """An answer that uses one length for all memories."""

    def answer(
        x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
    ) -> Tensor:
        one = of(lengths).expand_as(lengths)
        return cross_attention(x, memory, w_query, w_key, w_value, one)

    return answer


_one_length_for_all = mistake(
    "You use one length for all memories, but each memory has its own.",
    lambda e: f"`lengths` is [{listed(e.inputs['lengths'])}]. {_padded(e)}",
    FUTURE,
    cases=("padded",),
    also=tuple(
        _one_length(of)
        for of in (lambda lengths: lengths.min(), lambda lengths: lengths[0], lambda n: n[-1])
    ),
)(_one_length(lambda lengths: lengths.max()))


_padding_in_front = mistake(
    "You hid the first positions of each memory, but its padding is at the end.",
    _padded,
    FUTURE,
    cases=("padded",),
)(Like("reversed-the-mask-of-padding-along-the-last-axis"))


@mistake(
    "Every text of `x` looks at the first memory, but each should look at its own.",
    lambda e: _first(e, "full", 1),
    also=(
        lambda x, memory, w_query, w_key, w_value, lengths: cross_attention(
            x, memory[:1].expand_as(memory), w_query, w_key, w_value, lengths
        ),
    ),
)
def _first_memory_for_all(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    first, length = memory[:1].expand_as(memory), lengths[:1].expand_as(lengths)
    return cross_attention(x, first, w_query, w_key, w_value, length)


@mistake(
    "You set the padding of the memory to 0, but it still takes part in the softmax.",
    lambda e: unwrapped(f"""A key of zeros has a score of 0 with every query, and e⁰ = 1, so the
    padding takes a share of the weights although its values add nothing. {_padded(e)}"""),
    FUTURE,
    cases=("padded",),
)
def _padding_as_zeros(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    real = torch.arange(memory.shape[1]) < lengths[:, None]  # (B, S)
    everything = torch.full_like(lengths, memory.shape[1])
    return cross_attention(x, memory * real[:, :, None], w_query, w_key, w_value, everything)


_masked_after_softmax = mistake(
    "You cut out the padding only after it has taken its share of the softmax.",
    lambda e: unwrapped(f"""{_padded(e)} Whether you set its weights or its values to 0, the weights
    that are left sum to less than 1. Hide padding in the scores instead."""),
    FUTURE,
    cases=("padded",),
)(_weighed(lambda s, p: s.softmax(dim=-1) * ~p))


def _has_a_low_fill(evidence: Evidence) -> bool:
    """True if a fill that people think of as low gives the same result."""
    names = ("x", "memory", "w_query", "w_key", "w_value", "lengths")
    given = [torch.from_numpy(evidence.inputs[name]) for name in names]
    return any(
        np.allclose(evidence.yours("padded"), _filled(fill)(*given).numpy(), rtol=1e-4, atol=1e-5)
        for fill in range(-1, -31, -1)
    )


def _filled(fill: float) -> _Answer:
    return _weighed(lambda s, p: s.masked_fill(p, fill).softmax(dim=-1))


_moderate_fill = mistake(
    wording.LOW_FILL,
    _low,
    FUTURE,
    recognized=lambda e: _shows_padding_beside_a_low_score(e) or _has_a_low_fill(e),
)(_weighed(lambda s, p: s.masked_fill(p, -20.0).softmax(dim=-1)))


def _dims(evidence: Evidence) -> dict[str, int]:
    return {name: evidence.number(name) for name in "CDETSB"}


def _attention(evidence: Evidence, case: str) -> tuple[Array, Array, Array]:
    """(B, T, S) Scores and what may be seen, and (B, S, E) values."""
    names = ("x", "memory", "w_query", "w_key", "w_value")
    x, memory, w_query, w_key, w_value = (evidence.inputs[name].astype(float) for name in names)
    scores = (x @ w_query) @ np.swapaxes(memory @ w_key, 1, 2) / math.sqrt(evidence.number("D"))
    lengths = evidence.inputs["full" if case == "full" else "lengths"]
    real = np.arange(memory.shape[1]) < lengths[:, None]
    return scores, np.broadcast_to(real[:, None], scores.shape), memory @ w_value


def _shown(evidence: Evidence) -> tuple[str, Weights] | None:
    """Words for the first wrong case, and the weights that its outputs show."""
    case = "full" if not evidence.same("full") else "padded"
    if not evidence.comparable(case) or evidence.same(case):
        return None
    scores, seen, values = _attention(evidence, case)
    weights = weights_behind(evidence.yours(case), values)
    lengths = f"With `lengths` = [{listed(evidence.inputs['lengths'])}]"
    when = "Without padding" if case == "full" else lengths
    if weights is None:
        return None
    return when, Weights(weights, scores, seen, _dims(evidence), solved=True)


def _other_memory(evidence: Evidence, case: str) -> tuple[int, int] | None:
    """A sample that looks at another memory, and at which."""
    names = ("x", "memory", "w_query", "w_key")
    x, memory, w_query, w_key = (evidence.inputs[name].astype(float) for name in names)
    _, seen, values = _attention(evidence, case)
    products = np.einsum("btd,msd->bmts", x @ w_query, memory @ w_key)
    weights = softmax(products / math.sqrt(evidence.number("D")), seen[None])
    return of_another_sample(evidence.yours(case), weights, values)


def _nothing_else_known(evidence: Evidence, *more: str) -> bool:
    """True if the shared judge would say no more than where outputs are wrong."""
    case = "full" if not evidence.same("full") else "padded"
    mine, right = evidence.yours(case), evidence.right(case)
    if mine.shape != right.shape or evidence.same(case):
        return False
    found = compared(mine, right) or related(mine, right, evidence.inputs)
    return evidence.number("T") == 1 or found is None or found.name in ("some-positions", *more)


def _shown_by_the_outputs(evidence: Evidence) -> Finding | None:
    """What the weights that the outputs show are a softmax of, and over which positions."""
    shown = _shown(evidence)
    if shown is None:
        more = () if evidence.same("full") else ("some-samples",)
        return _worked_out(evidence) if _nothing_else_known(evidence, *more) else None
    when, weights = shown
    told = weights.told()
    without_padding = evidence.number("T") == 1 or not evidence.same("full")
    if told is None and without_padding and _nothing_else_known(evidence):
        told = weights.described()
    return told and Finding("other-weights", told[0], f"{when}, {OUTPUTS_SHOW} {told[1]}", TWO)


def _worked_out(evidence: Evidence) -> Finding | None:
    """One row of the weights that the outputs show, or that no weights make them."""
    shown = _shown(evidence)
    if shown is not None:
        when, weights = shown
        what, effect = weights.described()
        return Finding("other-weights", what, f"{when}, {OUTPUTS_SHOW} {effect}", TWO)
    case = "full" if not evidence.same("full") else "padded"
    mine, right = evidence.yours(case), evidence.right(case)
    if mine.shape != right.shape or evidence.same(case):
        return None
    met = _other_memory(evidence, case)
    if met is not None:
        return Finding(
            "other-weights",
            "You let a text look at the memory of another one.",
            f"In sample {met[0]}, your outputs are what `x` finds in memory {met[1]}, but it has a "
            "memory of its own.",
            TWO,
        )
    b, t = (int(i) for i in np.argwhere(~close(mine, right))[0][:2])
    one, other = rows_apart(mine[b, t, :3], right[b, t, :3])
    return Finding(
        "other-weights",
        "Your outputs aren't made of the values of their own memory alone.",
        f"The output of position {t} in sample {b} begins with {one} instead of {other}, and no "
        f"weights make it from the {evidence.number('S')} values of its memory. Does each text "
        f"look at its own memory and at nothing else? {no_mixture(mine, right)}",
        PASSED,
    )


@mistake(
    "You added something of `x` itself to what it finds in the memory.",
    lambda e: unwrapped(f"""{_first(e)} Your output is the right one plus `x @ w_value`. The output
    should be made of the values of the memory alone."""),
    PASSED,
)
def _own_values_added(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    return cross_attention(x, memory, w_query, w_key, w_value, lengths) + x @ w_value


def _both_sequences(*, x_first: bool) -> _Answer:
    """An answer that lets `x` look at the memory and at itself, in one softmax."""

    def answer(
        x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
    ) -> Tensor:
        both = torch.cat([x, memory] if x_first else [memory, x], dim=1)
        padding = torch.arange(memory.shape[1]) >= lengths[:, None]  # (B, S)
        own = torch.zeros(x.shape[:2], dtype=torch.bool)
        hidden = torch.cat([own, padding] if x_first else [padding, own], dim=1)
        scores = (x @ w_query) @ (both @ w_key).transpose(1, 2) / math.sqrt(w_key.shape[1])
        return _usual(scores, hidden[:, None]) @ (both @ w_value)

    return answer


_x_behind_the_memory = mistake(
    "You let `x` look at itself as well as at the memory.",
    lambda e: unwrapped(f"""{_first(e)} Keys and values should come from the memory alone, so the
    scores have shape (B, T, S) = ({e.number("B")}, {e.number("T")}, {e.number("S")}). Together with
    `x` there would be {e.number("T") + e.number("S")} columns."""),
)(_both_sequences(x_first=False))


@mistake(
    "You let each text look at the memories of all texts.",
    lambda e: unwrapped(f"""{_first(e)} With B = {e.number("B")} memories of S = {e.number("S")}
    positions, you average over {e.number("B") * e.number("S")} values instead of {e.number("S")}.
    Keep the batch as an axis of its own."""),
)
def _all_memories_for_all(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    padding = (torch.arange(memory.shape[1]) >= lengths[:, None]).flatten()
    scores = (x @ w_query) @ (memory @ w_key).flatten(0, 1).T / math.sqrt(w_key.shape[1])
    return _usual(scores, padding) @ (memory @ w_value).flatten(0, 1)


TASK = Task(
    "Cross-attention",
    cross_attention,
    TWO,
    (
        Part(
            "Without padding, each position gets the right average.",
            3,
            matches("full"),
        ),
        Part("Padding of the memory gets no weight.", 3, matches("padded")),
    ),
    properties=(_shown_by_the_outputs, _padding_counts),
    cases=("full",),
    examples=(_worked_out,),
    steps={
        "the queries": Step("What asks is `x`, so the queries come from it."),
        "the keys": Step("What is looked at is the memory, so the keys come from it."),
        "the values": Step("What is passed on comes from the memory.", PASSED),
        "the products of queries and keys": Step(
            "Row t holds the products of query t with all keys of its own memory."
        ),
        "the scores": Step("A product is a sum of D terms, so D sets its scale.", SCALE),
        "the mask of padding": Step(
            "Memory b has `lengths[b]` symbols, and padding after them.", FUTURE
        ),
        "the masked scores": Step(wording.MINUS_INFINITY, FUTURE),
        "the weights": Step("Each position of `x` averages over the memory, so a row sums to 1."),
        "your outputs": Step("What a position gets is the weighted average of values.", PASSED),
    },
)
