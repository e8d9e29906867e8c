"""Judging 02/cosine: the angles between two sets of vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torch import Tensor

from course_judges.ch02_affinities.sections import ANGLE, LETTERS, PAIRS
from course_judges.equality import close, same_value
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import NEGLIGIBLE
from course_judges.wording import number, numbers_apart, row, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def cosine_affinities(x: Tensor, y: Tensor) -> Tensor:
    """A right answer to 02/cosine: (B, T, C), (B, S, C) → (B, T, S)."""
    of_x = x.norm(dim=-1, keepdim=True)  # the lengths of x (B, T, 1)
    of_y = y.norm(dim=-1, keepdim=True)  # the lengths of y (B, S, 1)
    from_x = x / of_x.clamp(min=1e-8)  # the directions of x (B, T, C)
    from_y = y / of_y.clamp(min=1e-8)  # the directions of y (B, S, C)
    return from_x @ from_y.transpose(1, 2)  # your cosines (B, T, S)


def _direction(x: Tensor, dim: int = -1) -> Tensor:
    return x / x.norm(dim=dim, keepdim=True).clamp(min=1e-8)


def _products(x: Tensor, y: Tensor) -> Tensor:
    return x @ y.transpose(1, 2)


def _lengths_do_not_broadcast(evidence: Evidence) -> bool:
    """True if shapes don't fit along the last axis, where lengths without `keepdim=True` meet the
    channels or the products. Vectors that are paired one by one don't fit along axis 1 instead.
    """
    raised = evidence.answers.errors["cosines"]
    return (
        raised.kind == "RuntimeError"
        and "must match the size of tensor" in raised.message
        and raised.message.endswith("dimension 2")
    )


def _entry(evidence: Evidence) -> str:
    """The first entry: what it is, and what it should be."""
    mine, right = (float(of("cosines")[0, 0, 0]) for of in (evidence.yours, evidence.right))
    yours, wanted = numbers_apart(mine, right)
    return f"Entry (0, 0) of sample 0 is {yours}, but the cosine is {wanted}."


def _lengths(evidence: Evidence) -> Array:
    """Lengths of the first vector of each side."""
    return np.array([np.linalg.norm(evidence.inputs[name][0, 0]) for name in ("x", "y")])


def _entry_and_lengths(evidence: Evidence) -> str:
    """The first entry and the lengths of its two vectors, as a sentence without its end."""
    x, y = _lengths(evidence)
    return f"{_entry(evidence)} The two vectors have the lengths {number(x)} and {number(y)}"


def _right_of_short_ones(evidence: Evidence) -> bool:
    """True if cosines of short vectors are right, up to what a 1e-8 added to lengths does."""
    mine, right = evidence.yours("short"), evidence.right("short")
    return mine.shape == right.shape and np.allclose(mine, right, rtol=0.03, atol=0.01)


def _short_ones(evidence: Evidence) -> Finding | None:
    if not evidence.same("cosines", "zeros") or _right_of_short_ones(evidence):
        return None
    mine, right = evidence.yours("short"), evidence.right("short")
    place = tuple(int(i) for i in np.unravel_index(int(np.abs(mine - right).argmax()), right.shape))
    return Finding(
        "short-vectors",
        "Your cosines are wrong where vectors are short, but not zero.",
        unwrapped(f"""All vectors have the length 0.001 there. Two of them have the cosine
        {number(right[place])}, but yours is {number(mine[place])}. What keeps the divisor away from
        0 has to be smaller than any length that occurs, for example 1e-8."""),
        ANGLE,
    )


def _outside(evidence: Evidence) -> Finding | None:
    largest = float(np.abs(evidence.yours("cosines")).max())
    if largest <= 1 + 1e-4:
        return None
    return Finding(
        "not-a-cosine",
        "Some of your entries lie outside −1 … 1.",
        unwrapped(f"""One of them has the absolute value {number(largest)}, but a cosine lies
    between −1 and 1."""),
        ANGLE,
    )


@mistake(
    "Two shapes don't fit, most likely because a `keepdim=True` is missing.",
    lambda e: unwrapped(f"""`norm(dim=-1)` of a tensor of shape {e.inputs["x"].shape} has shape
    {e.inputs["x"].shape[:2]}, and broadcasting lays it along the channels. With `keepdim=True` it
    has shape {(*e.inputs["x"].shape[:2], 1)}, one length per vector."""),
    LETTERS,
    recognized=_lengths_do_not_broadcast,
)
def _keepdim_forgotten(x: Tensor, y: Tensor) -> Tensor:
    return _products(x / x.norm(dim=-1), y / y.norm(dim=-1))


def _with_zeros(evidence: Evidence) -> tuple[Array, Array]:
    """Which vectors of x0 are zeros, (B, T, 1), and which of y0, (B, 1, S)."""
    x, y = ((evidence.inputs[name] == 0).all(axis=-1) for name in ("x0", "y0"))
    return x[:, :, None], y[:, None]


def _nan_of_zeros(evidence: Evidence) -> bool:
    """True if all that is wrong is NaN, and only with vectors of zeros."""
    mine, right = evidence.yours("zeros"), evidence.right("zeros")
    if not evidence.same("cosines") or mine.shape != right.shape:
        return False
    bad = np.isnan(mine)
    x, y = _with_zeros(evidence)
    return bool(bad.any() and not (bad & ~(x | y)).any() and close(mine, right)[~bad].all())


@mistake(
    "You return NaN for a vector of zeros.",
    lambda e: unwrapped(f"""{int(np.isnan(e.yours("zeros")).sum())} of {e.yours("zeros").size}
    entries are NaN, because the length of such a vector is 0, and 0 / 0 is not a number. Keep the
    lengths away from 0 (`clamp(min=1e-8)`) on both sides, so that 0 divided by it stays 0."""),
    recognized=_nan_of_zeros,
)
def _zero_vector_nan(x: Tensor, y: Tensor) -> Tensor:
    return (x / x.norm(dim=-1, keepdim=True)) @ (y / y.norm(dim=-1, keepdim=True)).mT


def _centred(x: Tensor) -> Tensor:
    return x - x.mean(dim=-1, keepdim=True)


@mistake(
    "You subtracted each vector's mean before you compared, so these are correlations.",
    lambda e: unwrapped(f"""{_entry(e)} A cosine takes the entries of the vectors as they are, while
    a correlation is the cosine of what is left without the means."""),
    cases=("cosines",),
)
def _correlation(x: Tensor, y: Tensor) -> Tensor:
    return cosine_affinities(_centred(x), _centred(y))


@mistake(
    "You pair vectors one by one, but every vector of `x` meets every vector of `y`.",
    lambda e: unwrapped(f"""`x` has {e.number("T")} vectors for each sample and `y` has
    {e.number("S")}, so they don't fit position by position. A matrix product compares all pairs.
    `cosine_similarity` does so if you give it `x[:, :, None]`, `y[:, None]` and `dim=-1`."""),
    PAIRS,
    cases=("cosines",),
)
def _one_by_one(x: Tensor, y: Tensor) -> Tensor:
    return (_direction(x) * _direction(y)).sum(dim=-1)


_normalised_over_positions = mistake(
    "You took the lengths along the positions instead of along the channels.",
    lambda e: unwrapped(f"""{_entry(e)} A vector is one position with its {e.number("C")} channels,
    which are the last dimension: `norm(dim=-1, keepdim=True)`."""),
    PAIRS,
    cases=("cosines",),
)(
    Like(
        "used-axis-minus-2-instead-of-axis-minus-1-for-the-length-in-the-lengths-of-x-and-the-lengths-of-y"
    )
)


# What somebody may divide the dot products of x (B, T, C) and y (B, S, C) by: something of each
# vector, or of two of them.
_SIZES: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("nothing, so they still hold both lengths", lambda v: np.ones(v.shape[:2])),
    ("the squared lengths, without a root", lambda v: np.square(v).sum(-1)),
    ("the roots of both lengths", lambda v: np.sqrt(np.linalg.norm(v, axis=-1))),
    ("the sums of absolute values", lambda v: np.abs(v).sum(-1)),
    ("the standard deviations of both", lambda v: v.std(-1, ddof=1)),
    ("the lengths of both tensors as a whole", lambda v: np.full(v.shape[:2], np.linalg.norm(v))),
    (
        "the lengths of both samples as a whole",
        lambda v: np.linalg.norm(v, axis=(1, 2))[:, None] * v[..., 0] ** 0,
    ),
    ("√C", lambda v: np.full(v.shape[:2], v.shape[-1] ** 0.25)),
    ("C", lambda v: np.full(v.shape[:2], v.shape[-1] ** 0.5)),
)
_OF_LENGTHS: tuple[tuple[str, Callable[[Array, Array], Array]], ...] = (
    ("the length of `x[t]` alone", lambda x, y: x + 0 * y),
    ("the length of `y[s]` alone", lambda x, y: y + 0 * x),
    ("the squared length of `x[t]`", lambda x, y: x * x + 0 * y),
    ("the squared length of `y[s]`", lambda x, y: y * y + 0 * x),
    ("the sum of the lengths", lambda x, y: x + y),
)


def _divisor(evidence: Evidence) -> str:
    """What the dot products were divided by; empty if by nothing of these lists."""
    x, y = (evidence.inputs[name].astype(np.float64) for name in ("x", "y"))
    dots = x @ y.transpose(0, 2, 1)
    for words, size in _SIZES:
        if same_value(evidence.yours("cosines"), dots / (size(x)[:, :, None] * size(y)[:, None])):
            return words
    of_x, of_y = (np.linalg.norm(v, axis=-1) for v in (x, y))
    for words, both in _OF_LENGTHS:
        if same_value(evidence.yours("cosines"), dots / both(of_x[:, :, None], of_y[:, None])):
            return words
    return ""


@mistake(
    lambda e: f"You divided the dot products by {_divisor(e)}.",
    lambda e: unwrapped(f"""{_entry_and_lengths(e)}, whose product is what the dot product has to be
    divided by. A length is the root of the sum of squares along the channels, and each vector has
    its own."""),
    recognized=lambda e: bool(_divisor(e)),
)
def _divided_by_something_else(x: Tensor, y: Tensor) -> Tensor:
    return x @ y.transpose(1, 2) / x.shape[-1] ** 0.5


_MADE_OF_COSINES: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("1 minus the cosines, which are distances", lambda c: 1 - c),
    ("the angles", np.arccos),
    ("the angles in degrees", lambda c: np.degrees(np.arccos(c))),
    ("(1 + cosine) / 2", lambda c: (1 + c) / 2),
    (
        "1 minus the distance of the normalized vectors",
        lambda c: 1 - np.sqrt(2 - 2 * c),
    ),
    ("rounded cosines", lambda c: c.round(1)),
)


def _made_of_cosines_as(evidence: Evidence) -> str:
    mine, cosines = evidence.yours("cosines"), evidence.right("cosines").clip(-1, 1)
    fits = (
        words for words, made in _MADE_OF_COSINES if np.allclose(mine, made(cosines), atol=2e-3)
    )
    return next(fits, "") if mine.shape == cosines.shape else ""


@mistake(
    lambda e: f"You return {_made_of_cosines_as(e)}, but the task asks for the cosines themselves.",
    lambda e: f"{_entry(e)} A cosine is the dot product of two vectors of length 1.",
    recognized=lambda e: bool(_made_of_cosines_as(e)),
)
def _made_of_cosines(x: Tensor, y: Tensor) -> Tensor:
    return 1 - cosine_affinities(x, y)


def _wrong_where_short(evidence: Evidence) -> Finding | None:
    """Wrong for pairs with a short vector, and only for these."""
    mine, right = evidence.yours("cosines"), evidence.right("cosines")
    if mine.shape != right.shape:
        return None
    x, y = (np.linalg.norm(evidence.inputs[name], axis=-1) for name in ("x", "y"))
    x, y = np.broadcast_arrays(x[:, :, None], y[:, None])
    # A cosine near 0 stays near 0, whatever it is divided by.
    told = np.abs(right) > 0.02
    wrong, good = told & ~close(mine, right), told & close(mine, right)
    too_near_0 = (mine * right >= 0) & (np.abs(mine) < np.abs(right))
    if not wrong.any() or not too_near_0[wrong].all():
        return None
    sides = {
        "the shorter of the two lengths": np.minimum(x, y),
        "the length of the vector of `x`": x,
        "the length of the vector of `y`": y,
        "the product of the two lengths": x * y,
    }
    # Where the only vector of `x` is the short one, all pairs are wrong.
    fits = (
        side
        for side, lengths in sides.items()
        if (lengths[wrong].max() < lengths[good].min() if good.any() else x.shape[1] == 1)
    )
    side = next(fits, "")
    if not side:
        return None
    lengths = sides[side]
    from_1 = lengths[wrong].max() < 1 and (lengths[good] >= 1).all()
    b, t, s = (int(i) for i in np.argwhere(wrong)[0])
    return Finding(
        "wrong-where-short",
        unwrapped(f"""Your cosines are too near 0 where {side} is
        {"below 1" if from_1 else "small"}, but right elsewhere."""),
        unwrapped(f"""In sample {b}, `x[{t}]` and `y[{s}]` have the lengths
        {number(float(x[b, t, s]))} and {number(float(y[b, t, s]))} and the cosine
        {number(right[b, t, s])}, but yours is {number(mine[b, t, s])}. If something like `clamp`
        keeps lengths away from 0, its limit is too large. 1e-8 is small enough."""),
        ANGLE,
    )


# What vectors that have a direction may have in common with a vector of zeros.
_LIKE_ZEROS: dict[str, Callable[[Array], Array]] = {
    "whose entries add up to 0": lambda vectors: np.abs(vectors.sum(axis=-1)) < 1e-6,
    "that has a 0 among its entries": lambda vectors: (vectors == 0).any(axis=-1),
}


def _like_zeros(evidence: Evidence) -> tuple[str, str]:
    """Which vectors have the cosine 0 or NaN with all others, in words, and one of them; empty if
    these are not all that is wrong.
    """
    mine, right = evidence.yours("cosines"), evidence.right("cosines")
    if mine.shape != right.shape or evidence.same("cosines"):
        return "", ""
    told = np.abs(right) > 1e-3  # a cosine of 0 doesn't tell
    wrong = ~close(mine, right) & told
    if not wrong.any() or np.nan_to_num(mine[wrong]).any():
        return "", ""
    for words, is_such in _LIKE_ZEROS.items():
        x, y = (is_such(evidence.inputs[name]) for name in ("x", "y"))
        for of_x, of_y in ((x, y), (x, y & False), (x & False, y)):
            if not np.array_equal(wrong, (of_x[:, :, None] | of_y[:, None]) & told):
                continue
            b, t, s = (int(i) for i in np.argwhere(wrong)[0])
            name, i = ("x", t) if of_x[b, t] else ("y", s)
            vector = row(evidence.inputs[name][b, i])
            return words, f"In sample {b}, `{name}[{i}]` is {vector}, which has a direction"
    return "", ""


@mistake(
    "You take a vector whose entries add up to 0 for a vector of zeros.",
    lambda e: unwrapped(f"""{_like_zeros(e)[1]} although its sum is 0. A vector of zeros is one
    whose entries are all 0, or whose length is 0."""),
    recognized=lambda e: "add up" in _like_zeros(e)[0],
)
def _taken_for_zeros(x: Tensor, y: Tensor) -> Tensor:
    x, y = (v.masked_fill(v.sum(dim=-1, keepdim=True) == 0, 0) for v in (x, y))
    return cosine_affinities(x, y)


@mistake(
    lambda e: f"You take a vector {_like_zeros(e)[0]} for a vector of zeros.",
    lambda e: unwrapped(f"""{_like_zeros(e)[1]} because other entries are not 0. In a vector of
    zeros all entries are 0, so neither `any` nor a single entry tells."""),
    recognized=lambda e: "a 0" in _like_zeros(e)[0],
)
def _one_zero_is_enough(x: Tensor, y: Tensor) -> Tensor:
    x, y = (v.masked_fill((v == 0).any(dim=-1, keepdim=True), 0) for v in (x, y))
    return cosine_affinities(x, y)


def _zeros_have_a_direction(evidence: Evidence) -> Finding | None:
    """Cosines with a vector of zeros that are not 0, where all others are right."""
    mine, right = evidence.yours("zeros"), evidence.right("zeros")
    if not evidence.same("cosines") or mine.shape != right.shape or not np.isfinite(mine).all():
        return None
    x, y = _with_zeros(evidence)
    wrong = np.argwhere((x | y) & (np.abs(mine) > NEGLIGIBLE))
    if not len(wrong):
        return None
    b, t, s = (int(i) for i in wrong[0])
    name = f"x[{t}]" if x[b, t, 0] else f"y[{s}]"
    return Finding(
        "zeros-have-a-direction",
        "You give a vector of zeros other cosines than 0.",
        unwrapped(f"""In sample {b}, `{name}` is all zeros, but for `x[{t}]` and `y[{s}]` you return
        {number(mine[b, t, s])}. The task defines it as 0, whichever of the two is zeros."""),
        ANGLE,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    mine, right = evidence.yours("cosines"), evidence.right("cosines")
    if mine.shape != right.shape or evidence.same("cosines"):
        return None
    b, t, s = (int(i) for i in np.unravel_index(int(np.abs(mine - right).argmax()), right.shape))
    x, y = evidence.inputs["x"][b, t], evidence.inputs["y"][b, s]
    return Finding(
        "another-cosine",
        "Your numbers aren't the cosines of the vectors that you are given.",
        unwrapped(f"""In sample {b}, the vectors `x[{t}]` and `y[{s}]` have the dot product
        {number(float(x @ y))} and the lengths {number(float(np.linalg.norm(x)))} and
        {number(float(np.linalg.norm(y)))}, so their cosine is {number(right[b, t, s])}, but yours
        is {number(mine[b, t, s])}."""),
        ANGLE,
    )


TASK = Task(
    "Cosine affinities",
    cosine_affinities,
    ANGLE,
    (
        Part(
            "Entry (t, s) is the cosine of `x[t]` and `y[s]`.",
            2,
            lambda e: e.same("cosines") and _right_of_short_ones(e),
        ),
        Part(
            "A vector of zeros has cosine 0.",
            1,
            matches("cosines", "zeros"),
        ),
    ),
    properties=(
        _short_ones,
        _wrong_where_short,
        _outside,
        _zeros_have_a_direction,
    ),
    examples=(_worked_out,),
    cases=("cosines", "zeros"),
    steps={
        "the lengths of x": Step(
            "A vector is one position with its channels, and its length is the root of the sum of "
            "their squares."
        ),
        "the lengths of y": Step(
            "A vector is one position with its channels, and its length is the root of the sum of "
            "their squares."
        ),
        "the directions of x": Step(
            "A cosine compares directions, so both sides are divided by their lengths."
        ),
        "the directions of y": Step(
            "A cosine compares directions, so both sides are divided by their lengths."
        ),
        "your cosines": Step("Entry (t, s) is about `x[t]` and `y[s]`."),
    },
)
