"""Judging 02/cosine: the angles between two sets of vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torch import Tensor
from torch.nn.functional import cosine_similarity

from course_judges.ch02_affinities.sections import ANGLE, LETTERS, PAIRS
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Step, Task, matches, mistake
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


def _second_only(x: Tensor, y: Tensor) -> Tensor:
    return x @ _direction(y).transpose(1, 2)


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


_not_normalised = mistake(
    "You returned dot products, which still contain the lengths.",
    lambda e: f"{_entry_and_lengths(e)}, so divide by both.",
)(_products)


@mistake(
    "You divided by the lengths of only one side.",
    lambda e: f"{_entry_and_lengths(e)}, and both are part of the dot product.",
    cases=("cosines",),
    also=(_second_only,),
)
def _normalised_one_side(x: Tensor, y: Tensor) -> Tensor:
    return _direction(x) @ y.transpose(1, 2)


@mistake(
    "You divided by the squared lengths.",
    lambda e: unwrapped(f"""{_entry(e)} `(x * x).sum(-1)` is a squared length:
    {number(_lengths(e)[0] ** 2)} for the first vector, whose length is {number(_lengths(e)[0])}.
    Take the root."""),
    cases=("cosines",),
)
def _squared_lengths(x: Tensor, y: Tensor) -> Tensor:
    squares = x.square().sum(-1)[:, :, None] * y.square().sum(-1)[:, None, :]
    return _products(x, y) / squares


@mistake(
    "You took the lengths along the positions instead of along the channels.",
    lambda e: unwrapped(f"""{_entry(e)} A vector is one position with its {e.number("C")} channels,
    which are the last dimension: `norm(dim=-1, keepdim=True)`."""),
    PAIRS,
    cases=("cosines",),
)
def _normalised_over_positions(x: Tensor, y: Tensor) -> Tensor:
    return _direction(x, 1) @ _direction(y, 1).transpose(1, 2)


@mistake(
    "You divided everything by the length of the whole tensor.",
    lambda e: unwrapped(f"""{_entry(e)} Without `dim`, `norm()` gives one number for all
    {e.number("B") * e.number("T")} vectors together, but each needs its own."""),
    LETTERS,
    cases=("cosines",),
)
def _one_length_for_all(x: Tensor, y: Tensor) -> Tensor:
    return _products(x, y) / (x.norm() * y.norm())


@mistake(
    "You divided by √C, but a cosine is divided by the two lengths.",
    lambda e: unwrapped(f"""{_entry_and_lengths(e)}, so divide by both. √{e.number("C")} is one
    number for all, which keeps scores small in a softmax."""),
    cases=("cosines",),
)
def _scaled_products(x: Tensor, y: Tensor) -> Tensor:
    return _products(x, y) / x.shape[-1] ** 0.5


@mistake(
    "You returned 1 minus the cosine, which is a distance.",
    lambda e: unwrapped(f"""{_entry(e)} The task asks for the cosine itself, which is large for
    vectors that are alike."""),
    cases=("cosines",),
)
def _distance(x: Tensor, y: Tensor) -> Tensor:
    return 1 - cosine_affinities(x, y)


@mistake(
    "You divided by sums of absolute values, but a length is the root of a sum of squares.",
    lambda e: unwrapped(f"""{_entry(e)} A vector has the cosine 1 with itself, but divided your way,
    its product with itself is smaller than 1."""),
    cases=("cosines",),
)
def _taxicab_length(x: Tensor, y: Tensor) -> Tensor:
    x = x / x.abs().sum(-1, keepdim=True)
    y = y / y.abs().sum(-1, keepdim=True)
    return _products(x, y)


@mistake(
    "You exchanged rows and columns, so your rows belong to `y`.",
    lambda e: unwrapped(f"""Your answer has shape {e.yours("cosines").shape}, but
    {e.right("cosines").shape} is expected. Row t belongs to the vector that looks, `x[t]`, so `x`
    is on the left and `y` is transposed."""),
    PAIRS,
    cases=("cosines",),
)
def _swapped_query_key(x: Tensor, y: Tensor) -> Tensor:
    return cosine_affinities(y, x)


@mistake(
    "You returned the angles, but the task asks for their cosines.",
    lambda e: f"{_entry(e)} The last step, `acos`, is one too many.",
    cases=("cosines",),
)
def _angle_not_cosine(x: Tensor, y: Tensor) -> Tensor:
    return cosine_affinities(x, y).clamp(-1, 1).acos()


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


def _says_nan_of_zeros(evidence: Evidence) -> str:
    bad = np.isnan(evidence.yours("zeros"))
    x, y = _with_zeros(evidence)
    side = "in `x` and in `y`"
    for name, zeros in (("x", x & ~y), ("y", y & ~x)):
        # With one vector on each side, both may be zeros.
        if not (bad & zeros).any() and (bad.shape[1] > 1 or name == "y"):
            other = "y" if name == "x" else "x"
            side = f"in `{other}` as well, since those with zeros in `{name}` are right"
    return unwrapped(f"""{int(bad.sum())} of {bad.size} entries are NaN, because the length of such
    a vector is 0, and 0 / 0 is not a number. Keep the length away from 0 (`clamp(min=1e-8)`)
    {side}, so that 0 divided by it stays 0.""")


@mistake("You return NaN for a vector of zeros.", _says_nan_of_zeros, recognized=_nan_of_zeros)
def _zero_vector_nan(x: Tensor, y: Tensor) -> Tensor:
    return _products(
        x / x.norm(dim=-1, keepdim=True),
        y / y.norm(dim=-1, keepdim=True),
    )


@mistake(
    "You give two vectors of zeros the cosine 1 with each other.",
    unwrapped("""They are equal, but neither has a direction. The task defines the cosine of a
    vector of zeros with every other vector as 0, and the other may be zeros, too."""),
)
def _two_zeros_alike(x: Tensor, y: Tensor) -> Tensor:
    neither = (x == 0).all(-1)[:, :, None] & (y == 0).all(-1)[:, None]
    return cosine_affinities(x, y).masked_fill(neither, 1.0)


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
    "You divided by the length of a whole sample instead of that of each vector.",
    lambda e: unwrapped(f"""{_entry(e)} A sample of `x` has {e.number("T")} vectors, and one of `y`
    has {e.number("S")}. Each has its own length, the root of the sum of squares along the last
    dimension."""),
    cases=("cosines",),
)
def _one_length_a_sample(x: Tensor, y: Tensor) -> Tensor:
    lengths = x.norm(dim=(1, 2), keepdim=True) * y.norm(dim=(1, 2), keepdim=True)
    return _products(x, y) / lengths


_ITSELF = (
    lambda x, y: cosine_affinities(x, x),  # noqa: ARG005
    lambda x, y: cosine_affinities(y, y),  # noqa: ARG005
)

_with_itself = mistake(
    "You compared the vectors of one sequence with each other.",
    lambda e: unwrapped(f"""Your answer has shape {e.yours("cosines").shape}, but
    {e.right("cosines").shape} is expected. The chapter compared a sequence with itself, but here
    you compare `x` with `y`."""),
    PAIRS,
    cases=("cosines",),
    also=(_ITSELF[1],),
)(_ITSELF[0])


@mistake(
    "You took a softmax of the cosines, but the task asks for the cosines themselves.",
    lambda e: f"{_entry(e)} Each of your rows sums to 1, as weights do.",
    cases=("cosines",),
)
def _weights_not_cosines(x: Tensor, y: Tensor) -> Tensor:
    return cosine_affinities(x, y).softmax(dim=-1)


@mistake(
    "You divided by another combination of the two lengths than their product.",
    lambda e: unwrapped(f"""{_entry_and_lengths(e)}, so divide by
    {number(float(_lengths(e).prod()))}, not by the root of that or by a sum."""),
    cases=("cosines",),
    also=(
        lambda x, y: _products(x, y) / (x.norm(dim=-1)[:, :, None] + y.norm(dim=-1)[:, None, :]),
    ),
)
def _another_product_of_lengths(x: Tensor, y: Tensor) -> Tensor:
    product = x.norm(dim=-1)[:, :, None] * y.norm(dim=-1)[:, None, :]
    return _products(x, y) / product.sqrt()


@mistake(
    "You reshaped `y` to (B, C, S), which doesn't exchange its vectors and channels.",
    lambda e: unwrapped(f"""{_entry(e)} `reshape` and `view` keep the numbers in their order and
    only cut them into rows of another length. To exchange the last two dimensions, use
    `transpose(1, 2)` or `mT`."""),
    PAIRS,
    cases=("cosines",),
)
def _reshaped_for_transposed(x: Tensor, y: Tensor) -> Tensor:
    x, y = _direction(x), _direction(y)
    return x @ y.reshape(y.shape[0], y.shape[2], y.shape[1])


@mistake(
    "You took the lengths along the samples instead of along the channels.",
    lambda e: unwrapped(f"""{_entry(e)} A vector is one position of one sample, with its
    {e.number("C")} channels, which are the last dimension: `norm(dim=-1, keepdim=True)`."""),
    cases=("cosines",),
)
def _lengths_over_samples(x: Tensor, y: Tensor) -> Tensor:
    return _direction(x, 0) @ _direction(y, 0).transpose(1, 2)


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


@mistake(
    "`cosine_similarity` compares along dimension 1 unless you tell it otherwise.",
    lambda e: unwrapped(f"""Your answer has shape {e.yours("cosines").shape}, but
    {e.right("cosines").shape} is expected. The channels are the last dimension, so pass
    `dim=-1`."""),
    PAIRS,
    cases=("cosines",),
)
def _another_dimension_compared(x: Tensor, y: Tensor) -> Tensor:
    return cosine_similarity(x[:, :, None], y[:, None])


_SIZES: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("its largest absolute value", lambda v: np.abs(v).max(-1)),
    ("its standard deviation", lambda v: v.std(-1, ddof=1)),
    ("its standard deviation", lambda v: v.std(-1)),
    ("its variance", lambda v: v.var(-1, ddof=1)),
    ("the root of the mean of its squares", lambda v: np.sqrt(np.square(v).mean(-1))),
    ("the mean of its absolute values", lambda v: np.abs(v).mean(-1)),
    ("the mean of its squares", lambda v: np.square(v).mean(-1)),
    ("its third-power norm (p = 3)", lambda v: (np.abs(v) ** 3).sum(-1) ** (1 / 3)),
    ("its rounded length", lambda v: np.linalg.norm(v, axis=-1).round().clip(1)),
    ("the sum of its entries", lambda v: v.sum(-1)),
    ("the mean of its entries", lambda v: v.mean(-1)),
    ("the square root of its length", lambda v: np.sqrt(np.linalg.norm(v, axis=-1))),
)


def _dots_and_lengths(evidence: Evidence) -> tuple[Array, Array, Array]:
    """Dot products (B, T, S), and lengths of x, (B, T, 1), and of y, (B, 1, S)."""
    x, y = (evidence.inputs[name].astype(np.float64) for name in ("x", "y"))
    lengths = (np.linalg.norm(v, axis=-1) for v in (x, y))
    a, b = lengths
    return x @ y.transpose(0, 2, 1), a[:, :, None], b[:, None]


def _divided_by_something_else(evidence: Evidence) -> Finding | None:
    """Dot products that were divided by something else than both lengths."""
    mine = np.asarray(evidence.yours("cosines"), dtype=np.float64)
    dots, a, b = _dots_and_lengths(evidence)
    if mine.shape != dots.shape or evidence.same("cosines") or not np.isfinite(mine).all():
        return None
    divided = ""
    for words, size in _SIZES:
        x, y = (size(evidence.inputs[name].astype(np.float64)) for name in ("x", "y"))
        if _quotients(mine, dots, x[:, :, None] * y[:, None]):
            divided = f"each vector by {words}"
    for words, divisors in (
        ("dot products by the squared length of the vector of `x`", a * a + 0 * b),
        ("dot products by the squared length of the vector of `y`", b * b + 0 * a),
        ("dot products by the squared length of the shorter vector", np.minimum(a, b) ** 2),
        ("dot products by the squared length of the longer vector", np.maximum(a, b) ** 2),
        ("dot products by the sum of the squared lengths", a * a + b * b),
        ("dot products by half the sum of the squared lengths", (a * a + b * b) / 2),
        ("dot products by the root of the sum of the squared lengths", np.sqrt(a * a + b * b)),
        (
            "dot products by the squared lengths minus the dot product",
            a * a + b * b - dots,
        ),
    ):
        if _quotients(mine, dots, divisors):
            divided = words
    told = (np.abs(dots) > 0.05 * a * b) & (np.abs(mine) > 1e-9)
    if told.sum() > 2 and not divided:
        by, both = dots[told] / mine[told], (a * b)[told]
        added = by - both
        half = np.broadcast_to(a + b, told.shape)[told]
        with np.errstate(invalid="ignore"):
            each = (np.sqrt(half**2 - 4 * (both - by)) - half) / 2
        if np.ptp(by) < 1e-3 * np.abs(by).max():
            divided = f"all dot products by the same number, {number(float(by.mean()))}"
        elif np.ptp(added) < 0.02 * np.abs(added).max():
            divided = f"by {number(float(added.mean()))} more than the product of the lengths"
        elif np.ptp(each) < 0.02 * np.abs(each).max():
            divided = f"by lengths to which {number(float(each.mean()))} was added"
    if not divided:
        return None
    return Finding(
        "divided-by-something-else",
        f"You divided {divided}.",
        f"{_entry_and_lengths(evidence)}, whose product is what the dot product has to be divided "
        "by. A length is the root of the sum of squares."
        + " Nothing has to be added to keep it away from 0: `clamp(min=1e-8)` changes only vectors "
        "of zeros." * ("added" in divided or "more" in divided),
        ANGLE,
    )


def _quotients(mine: Array, dots: Array, divisors: Array) -> bool:
    with np.errstate(divide="ignore", invalid="ignore"):
        made = dots / divisors
    return bool(np.isfinite(made).all()) and np.allclose(mine, made, rtol=1e-3, atol=1e-4)


_MADE_OF_COSINES: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("(1 + cosine) / 2", lambda c: (1 + c) / 2),
    ("1 − angle / π", lambda c: 1 - np.arccos(c) / np.pi),
    ("the distance of the vectors after each was divided by its length", lambda c: _distances(c)),
    ("1 minus the distance of the normalized vectors", lambda c: 1 - _distances(c)),
    ("1 minus half the distance of the normalized vectors", lambda c: 1 - _distances(c) / 2),
    ("minus the distance of the normalized vectors", lambda c: -_distances(c)),
    ("1 / (1 + the distance of the normalized vectors)", lambda c: 1 / (1 + _distances(c))),
    ("1 minus the squared distance of the normalized vectors", lambda c: 1 - _distances(c) ** 2),
    ("cosines that were rounded to one digit", lambda c: c.round(1)),
    ("cosines that were rounded to two digits", lambda c: c.round(2)),
    ("the signs of the cosines", np.sign),
    ("the angles in degrees", lambda c: np.degrees(np.arccos(c))),
    ("the angles as parts of π", lambda c: np.arccos(c) / np.pi),
    ("the sines of the angles", lambda c: np.sqrt(1 - c**2)),
    ("the exponentials of the cosines", np.exp),
)


def _distances(cosines: Array) -> Array:
    """Distances between two vectors of length 1."""
    return np.sqrt(2 - 2 * cosines)


def _made_of_cosines(evidence: Evidence) -> Finding | None:
    mine, right = evidence.yours("cosines"), evidence.right("cosines")
    cosines = right.astype(np.float64).clip(-1, 1)
    for words, made in _MADE_OF_COSINES:
        if mine.shape == right.shape and np.allclose(mine, made(cosines), atol=2e-3):
            if evidence.same("cosines"):
                return None
            return Finding(
                "made-of-cosines",
                f"You return {words}, but the task asks for the cosines themselves.",
                f"{_entry(evidence)} A cosine is the dot product of two vectors of length 1.",
                ANGLE,
            )
    return None


_OTHER_VECTORS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("from which you subtracted the mean over the positions", lambda v: v - v.mean(1)[:, None]),
    ("from which you subtracted the mean of all numbers", lambda v: v - v.mean()),
    ("whose negative entries you made positive", np.abs),
    ("whose negative entries you set to 0", lambda v: v.clip(0)),
    ("whose entries you squared", np.square),
    ("of which you kept only the signs", np.sign),
    ("of which you took a softmax", lambda v: np.exp(v) / np.exp(v).sum(-1)[..., None]),
    ("whose entries you rounded", np.round),
    ("whose last entry you left out", lambda v: v[..., :-1]),
    ("whose first entry you left out", lambda v: v[..., 1:]),
    ("whose entries you sorted", lambda v: np.sort(v, axis=-1)),
    ("to whose entries you added 1e-3", lambda v: v + 1e-3),
    ("to whose entries you added 1e-2", lambda v: v + 1e-2),
)
_OF_DOTS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("cut off at −1 and 1", lambda dots: dots.clip(-1, 1)),
    ("squeezed between −1 and 1 by a hyperbolic tangent", np.tanh),
    ("squeezed between 0 and 1 by a sigmoid", lambda dots: 1 / (1 + np.exp(-dots))),
    ("divided by the largest of all", lambda dots: dots / np.abs(dots).max()),
    ("divided by the largest of their row", lambda dots: dots / np.abs(dots).max(-1)[..., None]),
)


def _of_other_vectors(evidence: Evidence) -> Finding | None:
    """Cosines of vectors that were changed, or dot products that were brought between −1 and 1."""
    mine = np.asarray(evidence.yours("cosines"), dtype=np.float64)
    x, y = (evidence.inputs[name].astype(np.float64) for name in ("x", "y"))
    dots = x @ y.transpose(0, 2, 1)
    if mine.shape != dots.shape or evidence.same("cosines"):
        return None
    for words, made in _OF_DOTS:
        if np.allclose(mine, made(dots), atol=1e-4):
            return Finding(
                "dots-squeezed",
                f"You return dot products that were {words}.",
                f"{_entry_and_lengths(evidence)}. A cosine lies between −1 and 1 by itself if the "
                "dot product is divided by both.",
                ANGLE,
            )
    for words, changed in _OTHER_VECTORS:
        a, b = changed(x), changed(y)
        lengths = np.linalg.norm(a, axis=-1)[:, :, None] * np.linalg.norm(b, axis=-1)[:, None]
        made_of = a @ b.transpose(0, 2, 1) / np.maximum(lengths, 1e-12)
        if np.allclose(mine, made_of, atol=1e-4):
            return Finding(
                "cosines-of-other-vectors",
                f"You compare vectors {words}.",
                f"{_entry(evidence)} The task compares the vectors as they are.",
                ANGLE,
            )
    return None


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
    "that begins with a 0": lambda vectors: vectors[..., 0] == 0,
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
        _divided_by_something_else,
        _made_of_cosines,
        _of_other_vectors,
        _outside,
        _zeros_have_a_direction,
    ),
    examples=(_worked_out,),
    cases=("cosines", "zeros"),
    steps={
        "the lengths of x": Step("A vector's length is the root of the sum of its squares."),
        "the lengths of y": Step("A vector's length is the root of the sum of its squares."),
        "the directions of x": Step(
            "A cosine compares directions, so both sides are divided by their lengths."
        ),
        "the directions of y": Step(
            "A cosine compares directions, so both sides are divided by their lengths."
        ),
        "your cosines": Step("Entry (t, s) is about `x[t]` and `y[s]`."),
    },
)
