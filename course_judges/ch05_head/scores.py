"""Judges 05/scores: queries times keys, divided by the root of the head size."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges.attention_weights import divided_by
from course_judges.ch05_head.sections import ASKS, SCALE, SCORES
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, numbers_apart, row, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def attention_scores(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    """A right answer to 05/scores: (…, T, C), (C, D), (C, D) → (…, T, T)."""
    D = w_key.shape[1]  # D
    query = x @ w_query  # your queries (…, T, D)
    key = x @ w_key  # your keys (…, T, D)
    products = query @ key.mT  # the products of queries and keys (…, T, T)
    return products / math.sqrt(D)  # your scores (…, T, T)


# A divisor that follows from all scores together is known but for this share of it.
_EXACT = 2e-5

_Factor = Callable[[Tensor, Tensor], float]


def _scaled(factor: _Factor) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """An answer with another factor, which may depend on x and the weights of the keys."""

    def answer(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
        return (x @ w_query) @ (x @ w_key).transpose(-2, -1) * factor(x, w_key)

    return answer


def _factor(mine: Array, right: Array) -> float | None:
    """The factor by which `right` becomes `mine`; None if there is none, or it is 0."""
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


def _entry(evidence: Evidence, t: int = 1, s: int = 0) -> str:
    mine, right = float(evidence.yours("batch")[0, t, s]), float(evidence.right("batch")[0, t, s])
    one, other = number(mine), number(right)
    if one == other and mine != right:
        one, other = numbers_apart(mine, right)
    return unwrapped(f"""In sample 0, your score of query {t} with key {s} is {one}, but it should
    be {other}.""")


def _by_factor(evidence: Evidence) -> str:
    factor = _factor(evidence.yours("batch"), evidence.right("batch")) or 0.0
    return f"All your scores are {number(factor)} times the right ones. {_entry(evidence)}"


def _mirror(evidence: Evidence) -> str:
    mine = evidence.yours("batch")[0]
    return unwrapped(f"""In sample 0, position 1 has a score of {number(mine[1, 0])} with position
    0, and position 0 has the same score of {number(mine[0, 1])} with position 1.""")


_OTHER_SHAPES = (("a single text", "one"), ("a stack", "stack"))


def _fixed_dimensions(evidence: Evidence) -> str:
    wrong = [
        f"for {what} of shape {evidence.inputs[name].shape}"
        for what, name in _OTHER_SHAPES
        if not evidence.same(name)
    ]
    raised = next(iter(evidence.answers.errors.values()), None)
    said = f" The error says: “{' '.join(raised.message.split()).rstrip('.')}”." if raised else ""
    scaled = _other_shapes(evidence)
    if " you divide by " in scaled:
        return unwrapped(f"""Your scores are right for a batch of shape
        {evidence.inputs["x"].shape}. {scaled} The head size is the last dimension of queries and
        keys, so the scale is the same for any number of dimensions.""")
    if moved := _moved(evidence):
        return f"Your scores are right for a batch. {moved}"
    return unwrapped(f"""Your scores are right for a batch of shape {evidence.inputs["x"].shape},
    but not {" or ".join(wrong)}.{said} If you count from the end, positions and channels are always
    axes −2 and −1, however many dimensions come before them. An axis counted from the front, or a
    number of dimensions that is fixed, as in `B, T, C = x.shape`, fits batches only.""")


def _moved(evidence: Evidence) -> str:
    """A sentence on scores that are right but for the order of the leading dimensions."""
    if "stack" in evidence.answers.errors:
        return ""
    mine, right = evidence.yours("stack"), evidence.right("stack")
    for order in permutations(range(right.ndim - 2)):
        moved = right.transpose(*order, -2, -1)
        if mine.shape == moved.shape and close(mine, moved).all():
            return unwrapped(f"""For a stack of shape {evidence.inputs["stack"].shape} they are
            right, too, but their leading dimensions are in another order: your axes
            {listed(range(len(order)))} are the right axes {listed(order)}.""")
    return ""


def _in_another_shape(evidence: Evidence) -> list[tuple[str, str]]:
    """The other shapes for which all scores are right and in the right order, but have dimensions
    of their own; empty if some scores are wrong.
    """
    off = [(what, name) for what, name in _OTHER_SHAPES if not evidence.same(name)]
    for _, name in off:
        mine, right = evidence.answers.values.get(name), evidence.right(name)
        if isinstance(mine, str) or mine is None or mine.size != right.size:
            return []
        if mine.shape == right.shape or mine.shape[-2:] != right.shape[-2:]:
            return []
        if not close(mine.reshape(right.shape), right).all():
            return []
    return off


def _dimensions_left(evidence: Evidence) -> str:
    told = [
        f"for {what} of shape {evidence.inputs[name].shape}, your scores have the shape "
        f"{evidence.yours(name).shape} instead of {evidence.right(name).shape}"
        for what, name in _in_another_shape(evidence)
    ]
    said = ", and ".join(told)
    return unwrapped(f"""{said[:1].upper()}{said[1:]}. If you join, add or drop leading dimensions
    on the way, undo it at the end. `@` and `transpose(-2, -1)` work with any number of them, so
    there is no need to.""")


@mistake(
    "Your numbers are right, but the leading dimensions of your scores aren't those of x.",
    _dimensions_left,
    recognized=lambda e: e.same("batch") and bool(_in_another_shape(e)),
)
def _leading_dimensions_flat(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    return attention_scores(x.reshape(-1, *x.shape[-2:]), w_query, w_key)


def _other_shapes(evidence: Evidence) -> str:
    """What a single text and a stack are divided by, which a batch doesn't tell."""
    told = []
    for what, name in _OTHER_SHAPES:
        of_shape = f"for {what} of shape {evidence.inputs[name].shape},"
        if evidence.same(name):
            told.append(f"{of_shape} your scores are right")
        elif name in evidence.answers.errors:
            told.append(f"{of_shape} your answer stops with {evidence.answers.errors[name].kind}")
        elif evidence.comparable(name):
            factor = _factor(evidence.yours(name), evidence.right(name))
            by = factor and number(math.sqrt(evidence.number("D")) / factor)
            done = f"you divide by {by} instead of √D" if by else "your scores are wrong, too"
            told.append(f"{of_shape} {done}")
    said = ", and ".join(told)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def _dims(evidence: Evidence) -> dict[str, int]:
    return {name: evidence.number(name) for name in ("C", "D", "T", "B")}


def _plain_products(evidence: Evidence) -> Array:
    """(B, T, T) The scores before they are scaled."""
    return evidence.right("batch").astype(float) * math.sqrt(evidence.number("D"))


def _of_the_scores(evidence: Evidence, divisor: float) -> str:
    """What a divisor is if it was taken from the scores themselves; empty if it wasn't."""
    products = _plain_products(evidence)
    measured = (
        ("the standard deviation of the scores themselves", (products.std(), products.std(ddof=1))),
        ("the largest of all scores", (products.max(), np.abs(products).max())),
        ("the length of the whole table as a vector", (float(np.linalg.norm(products)),)),
    )
    for what, values in measured:
        if any(abs(divisor / value - 1) < _EXACT for value in values):
            return unwrapped(f""" That is {what}, so the scale of each text depends on the others
            in its batch.""")
    return ""


def _twice_the_root(evidence: Evidence, divisor: float) -> str:
    if abs(divisor / evidence.number("D") - 1) > _EXACT:
        return ""
    return " It is D, too, if queries and keys are each divided by √D."


def _wrong_factor(evidence: Evidence) -> Finding | None:
    factor = _factor(evidence.yours("batch"), evidence.right("batch"))
    if factor is None or evidence.same("batch"):
        return None
    divisor = math.sqrt(evidence.number("D")) / factor
    return Finding(
        "wrong-scale",
        "Your scores are right except for their scale.",
        f"Here C = {evidence.number('C')} and D = {evidence.number('D')}. "
        f"{divided_by(divisor, _dims(evidence), _EXACT)}{_of_the_scores(evidence, divisor)}"
        f"{_twice_the_root(evidence, divisor)} {_by_factor(evidence)}",
        SCALE,
    )


def _rows_by_their_own(evidence: Evidence) -> Finding | None:
    """Each row is divided by a number of its own, which has to do with the row or its query."""
    mine, products = evidence.yours("batch").astype(float), _plain_products(evidence)
    x, w_query = (evidence.inputs[name].astype(float) for name in ("x", "w_query"))
    lengths = np.linalg.norm(x @ w_query, axis=-1)
    root = math.sqrt(evidence.number("D"))
    of_rows: tuple[tuple[str, tuple[Array, ...]], ...] = (
        ("the length of its query", (lengths, lengths * root)),
        (
            "its own standard deviation",
            tuple(products.std(axis=-1, ddof=ddof) * more for ddof in (0, 1) for more in (1, root)),
        ),
        ("its own sum", (products.sum(axis=-1),)),
        ("its own largest entry", (products.max(axis=-1), np.abs(products).max(axis=-1))),
        ("its own length", (np.linalg.norm(products, axis=-1),)),
    )
    for what, divisors in of_rows:
        if any(
            np.allclose(mine * by[..., None], products, rtol=1e-3, atol=1e-4) for by in divisors
        ):
            return Finding(
                "rows-by-their-own",
                f"You divided each row of the scores by {what}.",
                unwrapped(f"""All rows should be divided by the same number, √D = {number(root)}, so
                that a query with larger entries has larger scores. {_entry(evidence)}"""),
                SCALE,
            )
    return None


_scale_by_length = mistake(
    "You divided the scores by √T, the root of the number of positions, instead of √D.",
    lambda e: unwrapped(f"""Here T = {e.number("T")} and D = {e.number("D")}. {_by_factor(e)} A
    score shouldn't depend on how long the text is."""),
    SCALE,
    cases=("batch", "one", "stack"),
)(_scaled(lambda x, w: x.shape[-2] ** -0.5))  # noqa: ARG005


@mistake(
    "For a batch (B, T, C), you divided the scores by √T instead of √D.",
    lambda e: unwrapped(f"""Here T = {e.number("T")} and D = {e.number("D")}. {_entry(e)}
    {_other_shapes(e)} If you take the root of `shape[1]`, or of a T that you unpacked from the
    shape, count from the end instead: the head size is the last dimension of queries and keys,
    however many dimensions come before it."""),
    SCALE,
    # True of every answer that treats a batch like this, whatever it does with other shapes.
    cases=("batch",),
)
def _second_dimension_under_the_root(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    query, key = x @ w_query, x @ w_key
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[1])


@mistake(
    "You compared the inputs themselves, without applying either map.",
    lambda e: f"These are affinities as in chapter 02, and they are symmetric. {_mirror(e)}",
    ASKS,
    recognized=_is_unprojected,
)
def _raw_inputs(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:  # noqa: ARG001
    return x @ x.transpose(-2, -1) / math.sqrt(w_key.shape[1])


def _hidden(fill: float) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """An answer that gives the future this score."""

    def answer(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
        scores = attention_scores(x, w_query, w_key)
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        return scores.masked_fill(future, fill)

    return answer


_swapped_query_key = mistake(
    "Your table is transposed: its rows are keys and its columns are queries.",
    lambda e: unwrapped(f"""{_entry(e)} The number in row 1, column 0 of your table belongs in row
    0, column 1, because row t holds the scores of query t."""),
)(Like("exchanged-w-query-and-w-key-in-your-queries-and-your-keys"))


_future_hidden = mistake(
    "You hid the future, but the task asks for the scores before any mask.",
    lambda e: _entry(e, 0, 1),
    also=(_hidden(-math.inf), _hidden(-1e9)),
)(Like("set-what-lies-above-the-diagonal-of-the-products-of-queries-and-keys-to-0"))


@mistake(
    "You compared only directions, because you divided queries and keys by their lengths.",
    lambda e: unwrapped(f"""All your scores lie between −1 and 1, but a dot product also grows with
    the lengths of both vectors. {_entry(e)}"""),
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


_sign_turned = mistake(
    "Your scores have the wrong sign, so the key that fits best gets the lowest score.",
    _entry,
)(Like("turned-the-sign-of-your-queries"))


@mistake(
    "Your answer is right for a batch, but not for every number of leading dimensions.",
    _fixed_dimensions,
    # A text of one symbol may also go wrong for another reason.
    recognized=lambda e: (
        e.same("batch") and not e.same("one" if len(e.inputs["one"]) > 1 else "stack", "stack")
    ),
)
def _axes_counted_from_the_front(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    return (x @ w_query) @ (x @ w_key).transpose(1, 2) / math.sqrt(w_key.shape[1])


def _texts_in_one(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    return attention_scores(x.reshape(-1, x.shape[-1]), w_query, w_key)


_texts_joined = mistake(
    "You turned the batch into one long text, so its texts meet each other.",
    lambda e: unwrapped(f"""With B = {e.number("B")} texts of T = {e.number("T")} positions, your
    table has shape {e.yours("batch").shape}, but each text should have a table of its own:
    {e.right("batch").shape}."""),
    also=(lambda x, w_query, w_key: _texts_in_one(x, w_query, w_key)[None],),
)(_texts_in_one)


_something_subtracted = mistake(
    "You subtracted something from each row of the scores, as a softmax does to stay stable.",
    lambda e: unwrapped(f"""That changes no weights, but the task asks for the scores themselves.
    The largest score of row 0 in sample 0 is {number(e.yours("batch")[0, 0].max())} instead of
    {number(e.right("batch")[0, 0].max())}, and the mean of that row is
    {number(e.yours("batch")[0, 0].mean())} instead of {number(e.right("batch")[0, 0].mean())}."""),
    also=(
        lambda x, w_query, w_key: (
            (scores := attention_scores(x, w_query, w_key)) - scores.mean(dim=-1, keepdim=True)
        ),
        lambda x, w_query, w_key: attention_scores(x, w_query, w_key).log_softmax(dim=-1),
    ),
)(Like("subtracted-its-largest-number-from-each-row-of-the-products-of-queries-and-keys"))


def _without_itself(fill: float) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """An answer that gives each position this score with itself."""

    def answer(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
        scores = attention_scores(x, w_query, w_key)
        return scores.masked_fill(torch.eye(scores.shape[-1], dtype=torch.bool), fill)

    return answer


_itself_hidden = mistake(
    "You hid the score of each position with itself, but every pair should have its score.",
    lambda e: _entry(e, 1, 1),
    also=(_without_itself(-math.inf), _without_itself(-1e9)),
)(Like("set-the-diagonal-of-the-products-of-queries-and-keys-to-0"))


def _keys_met(evidence: Evidence) -> list[int] | None:
    """For each text, from which text its queries meet the keys; None if it isn't like that."""
    case, given = ("batch", "x") if not evidence.same("batch") else ("stack", "stack")
    x, w_query, w_key = (
        evidence.inputs[name].astype(float) for name in (given, "w_query", "w_key")
    )
    if evidence.same(case) or not evidence.comparable(case):
        return None
    texts = x.reshape(-1, *x.shape[-2:])
    tables = evidence.yours(case).reshape(len(texts), x.shape[-2], x.shape[-2])
    met = []
    for queries, table in zip(texts @ w_query, tables, strict=True):
        right = queries @ np.swapaxes(texts @ w_key, -1, -2) / math.sqrt(evidence.number("D"))
        fits = [b for b, one in enumerate(right) if np.allclose(one, table, rtol=1e-3, atol=1e-4)]
        if not fits:
            return None
        met.append(fits[0])
    return met


def _of_another_text(evidence: Evidence) -> str:
    met = _keys_met(evidence) or []
    b = next(b for b, other in enumerate(met) if other != b)
    return unwrapped(f"""The table of text {b} should hold its queries with its own keys, but yours
    holds them with the keys of text {met[b]}.""")


@mistake(
    "You compared queries of one text with keys of another.",
    _of_another_text,
    recognized=lambda e: _keys_met(e) is not None,
)
def _keys_of_another_text(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    keys = (x @ w_key)[:1] if x.ndim > 2 else x @ w_key
    return x @ w_query @ keys.mT / math.sqrt(w_key.shape[1])


def _worked_out(evidence: Evidence) -> Finding | None:
    """One score, product by product."""
    mine, right = evidence.yours("batch"), evidence.right("batch")
    if mine.shape != right.shape or close(mine, right).all():
        return None
    b, t, s = (int(i) for i in np.argwhere(~close(mine, right))[0])
    x, w_query, w_key = (evidence.inputs[name] for name in ("x", "w_query", "w_key"))
    query, key = x[b, t] @ w_query, x[b, s] @ w_key
    one, other = numbers_apart(float(mine[b, t, s]), float(right[b, t, s]))
    symmetric = close(mine, np.swapaxes(mine, -1, -2)).all() and mine.shape[-1] > 1
    mirrored = " Your table is symmetric, but who asks and who answers isn't the same."
    if np.abs(mine - right).max() < 1e-2 * np.abs(right).max():
        return Finding(
            "another-score",
            "Your scores are right to about two digits, but no better.",
            f"{_entry(evidence, t, s) if not b else ''} Do you round, or compute in `half` or "
            "`bfloat16`? float32 is good for six digits.".strip(),
            SCORES,
        )
    return Finding(
        "another-score",
        "Your scores aren't the dot products of queries and keys, divided by √D.",
        f"In sample {b}, the query of position {t} is {row(query)} and the key of position {s} is "
        f"{row(key)}. Their dot product is {number(float(query @ key))}, and divided by √D = "
        f"{number(math.sqrt(len(query)))} it is {other}. Yours is {one}."
        f"{mirrored if symmetric else ''}",
        SCORES,
    )


TASK = Task(
    "Scores",
    attention_scores,
    SCORES,
    (
        Part(
            "Each row compares a query with the keys.",
            1,
            _right_up_to_scale,
        ),
        Part("The scores are scaled by the head size.", 2, matches("batch")),
        Part("It works for any number of leading dimensions.", 1, matches("batch", "one", "stack")),
    ),
    properties=(_wrong_factor, _rows_by_their_own),
    examples=(_worked_out,),
    cases=("batch",),
    steps={
        "D": Step("A score is a sum of D products, so only D sets its scale.", SCALE),
        "your queries": Step("A query says what a position looks for.", ASKS),
        "your keys": Step("A key says what a position has to offer.", ASKS),
        "the products of queries and keys": Step(
            "Row t holds the products of query t with all keys.", SCORES
        ),
        "your scores": Step(
            "Scores are the products divided by √D, with which a sum of D products spreads, and "
            "nothing else is done to them yet.",
            SCALE,
        ),
    },
)
