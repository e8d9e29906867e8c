"""Judges 05/scores: queries times keys, over the root of the head size."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges import families
from course_judges.ch05_head.sections import ASKS, SCALE, SCORES
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def attention_scores(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    """A right answer to 05/scores: (…, T, C), (C, D), (C, D) → (…, T, T)."""
    query, key = x @ w_query, x @ w_key  # (…, T, D) each
    return query @ key.transpose(-2, -1) / math.sqrt(w_key.shape[1])


_Factor = Callable[[Tensor, Tensor], float]


def _scaled(factor: _Factor) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """An answer with another factor; it is given x and the weights of the keys."""

    def answer(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
        return (x @ w_query) @ (x @ w_key).transpose(-2, -1) * factor(x, w_key)

    return answer


def _factor(mine: Array, right: Array) -> float | None:
    """By how much `mine` is a multiple of `right`; None if it is none, or is 0."""
    factor = float((mine * right).sum() / (right * right).sum())
    close = np.allclose(mine, factor * right, rtol=1e-4, atol=1e-5)
    return factor if close and abs(factor) > 1e-6 else None


def _right_up_to_scale(evidence: Evidence) -> bool:
    if not evidence.comparable("batch"):
        return False
    factor = _factor(evidence.yours("batch"), evidence.right("batch"))
    return factor is not None and factor > 0


def _is_unprojected(evidence: Evidence) -> bool:
    x = evidence.inputs["x"]
    return _factor(evidence.yours("batch"), x @ np.swapaxes(x, 1, 2)) is not None


def _is_softmaxed(evidence: Evidence) -> bool:
    mine = evidence.yours("batch")
    return bool(np.allclose(mine.sum(-1), 1, atol=1e-4) and (mine >= 0).all())


def _is_softmaxed_down(evidence: Evidence) -> bool:
    mine = evidence.yours("batch")
    return bool(np.allclose(mine.sum(-2), 1, atol=1e-4) and (mine >= 0).all())


def _softmaxed(evidence: Evidence) -> str:
    mine, right = evidence.yours("batch")[0, 0], evidence.right("batch")[0, 0]
    hidden = "" if mine[1:].any() else " The future is hidden as well: no mask yet, either."
    return unwrapped(f"""Row 0 of sample 0 sums to {number(mine.sum())} and has no negative entry;
    the right row sums to {number(right.sum())}.{hidden}""")


def _entry(evidence: Evidence) -> str:
    mine, right = evidence.yours("batch")[0, 1, 0], evidence.right("batch")[0, 1, 0]
    return unwrapped(f"""In sample 0 the score of query 1 with key 0 is {number(mine)} in your table
    and {number(right)} in the right one.""")


def _by_factor(evidence: Evidence) -> str:
    factor = _factor(evidence.yours("batch"), evidence.right("batch")) or 0.0
    return f"All your scores are {number(factor)} times the right ones. {_entry(evidence)}"


def _roots(evidence: Evidence) -> str:
    return f"C = {evidence.number('C')} and D = {evidence.number('D')}. {_by_factor(evidence)}"


def _mirror(evidence: Evidence) -> str:
    mine = evidence.yours("batch")[0]
    return unwrapped(f"""In sample 0 your score of position 1 with position 0 is
    {number(mine[1, 0])}, and that of position 0 with position 1 is {number(mine[0, 1])} too.""")


def _elsewhere(evidence: Evidence) -> str:
    wrong = [
        f"{case} of shape {evidence.inputs[name].shape}"
        for case, name in (("a single text", "one"), ("a stack", "stack"))
        if not evidence.same({"one": "one", "stack": "stack"}[name])
    ]
    raised = next(iter(evidence.answers.errors.values()), None)
    said = f" It says: “{' '.join(raised.message.split()).rstrip('.')}”." if raised else ""
    return unwrapped(f"""A batch of shape {evidence.inputs["x"].shape} comes out right, but not
    {" and not ".join(wrong)}.{said} Is an axis counted from the front, or is the number of
    dimensions fixed, as in `B, T, C = x.shape`? Counted from the end, positions and channels are
    axes −2 and −1, however many stand before them.""")


def _other_shapes(evidence: Evidence) -> str:
    """By what a single text and a stack are divided, which a batch does not tell."""
    told = []
    for what, name in (("a single text", "one"), ("a stack", "stack")):
        of_shape = f"{what} of shape {evidence.inputs[name].shape}"
        if evidence.same(name):
            told.append(f"{of_shape} comes out right")
        elif name in evidence.answers.errors:
            told.append(f"{of_shape} stops with {evidence.answers.errors[name].kind}")
        elif evidence.comparable(name):
            factor = _factor(evidence.yours(name), evidence.right(name))
            by = factor and number(math.sqrt(evidence.number("D")) / factor)
            what_of_it = f"is divided by {by} in place of √D" if by else "is wrong, too"
            told.append(f"{of_shape} {what_of_it}")
    said = ", and ".join(told)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def _wrong_factor(evidence: Evidence) -> Finding | None:
    if _factor(evidence.yours("batch"), evidence.right("batch")) is None:
        return None
    root = math.sqrt(evidence.number("D"))
    factor = _factor(evidence.yours("batch"), evidence.right("batch"))
    by = ""
    if factor:
        square = (root / factor) ** 2
        whole = factor > 0 and round(square) > 1 and abs(square - round(square)) < 1e-3 * square
        of = f" = √{round(square)}" if whole else ""
        by = f" That is dividing by {number(root / factor)}{of}; √D is {number(root)}."
    return Finding(
        "wrong-scale",
        "Your scores are right but for their scale.",
        f"{_roots(evidence)}{by}",
        SCALE,
    )


_scale_by_channels = families.scale_by_channels(_roots, SCALE)(
    _scaled(lambda x, w: x.shape[-1] ** -0.5)  # noqa: ARG005
)

_no_scale = mistake(
    "The scale is missing: these are plain dot products.",
    lambda e: unwrapped(f"""Your scores have a standard deviation of
    {number(e.yours("batch").std())}, the right ones of {number(e.right("batch").std())}.
    {_by_factor(e)}"""),
    SCALE,
)(_scaled(lambda x, w: 1.0))  # noqa: ARG005

_scale_without_root = mistake(
    "Your scores are divided by D, not by its root.",
    lambda e: unwrapped(f"""That is so where the root is missing, and where queries and keys are
    both divided by √D. The standard deviation of a sum of D terms grows with √D, its variance with
    D. {_roots(e)}"""),
    SCALE,
)(_scaled(lambda x, w: 1 / w.shape[1]))  # noqa: ARG005

_scale_multiplied = mistake("You multiplied by √D; scores are divided by it.", _roots, SCALE)(
    _scaled(lambda x, w: w.shape[1] ** 0.5)  # noqa: ARG005
)

_scale_by_length = mistake(
    "You divided by √T, the number of positions.",
    lambda e: unwrapped(f"""T = {e.number("T")} and D = {e.number("D")}. {_by_factor(e)} A score
    must not depend on how long the text is."""),
    SCALE,
    cases=("batch", "one", "stack"),
)(_scaled(lambda x, w: x.shape[-2] ** -0.5))  # noqa: ARG005


@mistake(
    "Of a batch (B, T, C), you divided the scores by √T, the number of positions.",
    lambda e: unwrapped(f"""T = {e.number("T")} and D = {e.number("D")}. {_entry(e)}
    {_other_shapes(e)} If the root takes `shape[1]`, or a T from unpacking the shape: count from the
    end, since the head size is the last dimension of queries and keys, however many stand before
    it."""),
    SCALE,
    # It is true of every answer that does so to a batch, whatever it does to other shapes.
    cases=("batch",),
)
def _second_dimension_under_the_root(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    query, key = x @ w_query, x @ w_key
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[1])


@mistake(
    "Your table is turned over: rows are keys and columns are queries.",
    lambda e: unwrapped(f"""{_entry(e)} What you have at row 1, column 0 belongs to row 0, column 1:
    row t holds what position t finds when it asks."""),
)
def _swapped_query_key(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    return attention_scores(x, w_key, w_query)


@mistake(
    "You compared queries with queries; the keys are not used.",
    lambda e: f"The table became symmetric. {_mirror(e)}",
    ASKS,
)
def _queries_only(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:  # noqa: ARG001
    return attention_scores(x, w_query, w_query)


@mistake(
    "You compared keys with keys; the queries are not used.",
    lambda e: f"The table became symmetric. {_mirror(e)}",
    ASKS,
)
def _keys_only(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:  # noqa: ARG001
    return attention_scores(x, w_key, w_key)


@mistake(
    "You compared the inputs themselves; neither map is applied.",
    lambda e: f"Those are the affinities of chapter 02. {_mirror(e)}",
    ASKS,
    recognized=_is_unprojected,
)
def _raw_inputs(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:  # noqa: ARG001
    return x @ x.transpose(-2, -1) / math.sqrt(w_key.shape[1])


def _hidden(fill: float) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """An answer in which the future has another score."""

    def answer(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
        scores = attention_scores(x, w_query, w_key)
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        return scores.masked_fill(future, fill)

    return answer


_future_hidden = mistake(
    "You hid the future; these are the scores before any mask.",
    lambda e: unwrapped(f"""In sample 0 the score of query 0 with key 1 is
    {number(e.yours("batch")[0, 0, 1])} in your table and {number(e.right("batch")[0, 0, 1])} in the
    right one."""),
    also=(_hidden(-math.inf), _hidden(-1e9)),
)(_hidden(0.0))


@mistake(
    "You compared directions: queries and keys are divided by their lengths.",
    lambda e: unwrapped(f"""All your scores lie between −1 and 1; a dot product grows with both
    vectors. {_entry(e)}"""),
    also=(
        lambda x, w_query, w_key: (
            F.normalize(x @ w_query, dim=-1)
            @ F.normalize(x @ w_key, dim=-1).transpose(-2, -1)
            / math.sqrt(w_key.shape[1])
        ),
    ),
)
def _cosines(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    query, key = (F.normalize(x @ w, dim=-1) for w in (w_query, w_key))
    return query @ key.transpose(-2, -1)


@mistake(
    "You went one step too far: these are weights, not scores.",
    _softmaxed,
    recognized=_is_softmaxed,
)
def _softmax_taken(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    return attention_scores(x, w_query, w_key).softmax(dim=-1)


@mistake(
    "You took a softmax of the scores, down the columns; scores are asked for.",
    lambda e: unwrapped(f"""Column 0 of sample 0 sums to
    {number(e.yours("batch")[0, :, 0].sum())}; that of the right scores to
    {number(e.right("batch")[0, :, 0].sum())}."""),
    recognized=_is_softmaxed_down,
)
def _softmax_down_the_columns(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    return attention_scores(x, w_query, w_key).softmax(dim=-2)


_sign_turned = mistake(
    "Your scores have the other sign: the key that fits best has the lowest score.",
    _entry,
)(_scaled(lambda x, w: -(w.shape[1] ** -0.5)))  # noqa: ARG005


@mistake(
    "Your answer is right for a batch, and not for other numbers of leading dimensions.",
    _elsewhere,
    # A single text may also go wrong because it has one symbol.
    recognized=lambda e: (
        e.same("batch") and not e.same("one" if len(e.inputs["one"]) > 1 else "stack", "stack")
    ),
)
def _axes_counted_from_the_front(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    return (x @ w_query) @ (x @ w_key).transpose(1, 2) / math.sqrt(w_key.shape[1])


TASK = Task(
    "Scores",
    attention_scores,
    SCORES,
    (
        Part(
            "Queries are compared with keys, and rows are the ones that ask.", 1, _right_up_to_scale
        ),
        Part("The scale is that of the head size.", 2, matches("batch")),
        Part("It works for any number of leading sizes.", 1, matches("batch", "one", "stack")),
    ),
    properties=(_wrong_factor,),
    cases=("batch",),
)
