"""Judging 02/variance: how far dot products spread as vectors grow longer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from course_judges.ch02_affinities.sections import GROWTH, PAIRS, ROOT
from course_judges.equality import close, same_value
from course_judges.judging import Evidence, Mistake, Part, Step, Task, mistake
from course_judges.wording import number, row, rows_apart, unwrapped
from course_tasks.verdict import Finding, Section

Two: TypeAlias = tuple[Tensor, Tensor]


def dot_variances(queries: Tensor, keys: Tensor) -> Two:
    """A right answer to 02/variance: (N, D), (N, D) → (D,), (D,)."""
    products = queries * keys  # the products of the entries (N, D)
    dots = products.cumsum(dim=1)  # the dot products (N, D)
    counts = torch.arange(1, queries.shape[1] + 1)  # how many entries count (D,)
    divided = dots / counts.sqrt()  # the divided dot products (N, D)
    return dots.var(dim=0), divided.var(dim=0)  # your variances (D,), (D,)


def _dots(queries: Tensor, keys: Tensor) -> Tensor:
    """(N, D): column d − 1 holds the dot products of the first d entries."""
    return (queries * keys).cumsum(dim=1)


def _counts(queries: Tensor) -> Tensor:
    return torch.arange(1, queries.shape[1] + 1)


def _agrees(*results: str) -> Callable[[Evidence], bool]:
    """True of right results, all of them divided by N, or all by N − 1."""

    def fits(evidence: Evidence) -> bool:
        return any(
            all(
                same_value(evidence.yours(f"growth.{one}"), by * evidence.right(f"growth.{one}"))
                for one in results
            )
            for by in (1, 1 - 1 / evidence.number("N"))
        )

    return fits


def _rows(evidence: Evidence, value: str) -> str:
    mine, right = evidence.yours(f"growth.{value}"), evidence.right(f"growth.{value}")
    if mine.shape != right.shape:
        return f"Yours are {row(mine)}, but they should be {row(right)}."
    # Dividing by N is as right as dividing by N − 1: whoever does it is compared with that.
    by_count = right * (1 - 1 / evidence.number("N"))
    if close(mine, by_count).sum() > close(mine, right).sum():
        right = by_count
    yours, wanted = rows_apart(mine, right)
    return f"Yours are {yours}, but they should be {wanted}."


def _first(
    what: str,
    advice: str,
    measured: Callable[[Tensor, Tensor, int], Tensor],
    section: Section | None = None,
) -> Mistake:
    """A wrong first result, (D,), which is `measured` of queries and keys; the int is what is
    subtracted from N in the divisor, 1 or 0.
    """

    def answer(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
        plain = measured(queries, keys, correction)
        return plain, plain / _counts(queries)

    return mistake(
        what,
        lambda e: f"{_rows(e, '0')} {advice}".strip(),
        section,
        cases=("growth.0",),
        also=(partial(answer, correction=0),),
    )(answer)


def _second(what: str, advice: str, divided: Callable[[Tensor, Tensor], Tensor]) -> Mistake:
    """A right first result beside a wrong second one, which is the variances of what was `divided`
    of queries and keys, (N, D).
    """

    def answer(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
        plain = _dots(queries, keys).var(0, correction=correction)
        return plain, divided(queries, keys).var(0, correction=correction)

    return mistake(
        what,
        lambda e: f"{_rows(e, '1')} {advice}".strip(),
        ROOT,
        cases=("growth.0", "growth.1"),
        also=(partial(answer, correction=0),),
    )(answer)


_no_scale = _second(
    "Your second result equals the first, so nothing was divided.",
    "The dot products of d entries are divided by √d before they are measured again.",
    _dots,
)

_scale_by_channels = _second(
    "You divided every dot product by the same √D, however many entries went into it.",
    "The scale counts the terms that were added up: √1, √2, √3, …",
    lambda q, k: _dots(q, k) / q.shape[1] ** 0.5,
)

_scale_by_d = _second(
    "You divided by d instead of √d.",
    "Dividing by d divides the variance by d², so the spread shrinks to nothing as d grows.",
    lambda q, k: _dots(q, k) / _counts(q),
)

_scaled_the_variance = _second(
    "You divided the variance by √d, but it's the dot products that are divided.",
    "A factor counts squared in a variance, so numbers divided by √d have a variance divided by d.",
    lambda q, k: _dots(q, k) / _counts(q) ** 0.25,
)

_each_term_scaled = _second(
    "You divided each product by its own root before adding, but it's the sum that is divided.",
    "The dot product of d entries is divided by √d as a whole, its first term included, so add up "
    "first, then divide.",
    lambda q, k: _dots(q / _counts(q).sqrt(), k),
)

_roots_from_0 = _second(
    "Your divisors are too short by one term: √1, √1, √2, √3, …",
    "Entry d − 1 adds up d products, so count from 1: `torch.arange(1, D + 1)`.",
    lambda q, k: _dots(q, k) / (_counts(q) - 1).clamp(min=1).sqrt(),
)

_states_the_law = mistake(
    "You returned what theory says, 1, 2, 3, …, without looking at these draws.",
    lambda e: unwrapped(f"""The law holds on average. For these {e.number("N")} pairs, the measured
    variances are {row(e.right("growth.0"))}."""),
    cases=("growth.0", "growth.1"),
)(lambda queries, keys: (_counts(queries).float(), torch.ones(keys.shape[1])))

_adds_variances = _first(
    "You added up the variances of the single products, which is right only on average.",
    "In a few draws, even independent products vary together a little. Add up the products first, "
    "then measure.",
    lambda q, k, c: (q * k).var(0, correction=c).cumsum(0),
)

_single_products = _first(
    "You measured single products, but a dot product adds up the first d of them.",
    "`cumsum` adds up along the entries.",
    lambda q, k, c: (q * k).var(0, correction=c),
)

_mean_not_sum = _first(
    "You took the mean of the products, but a dot product is their sum.",
    "The mean of d products is divided by d, but their sum isn't.",
    lambda q, k, c: (_dots(q, k) / _counts(q)).var(0, correction=c),
)

_all_pairs = _first(
    "You compared every query with every key, but here query n belongs only to key n.",
    "Of the dot products in `queries @ keys.T`, the task asks only for those on the diagonal.",
    lambda q, k, c: torch.stack(
        [(q[:, :d] @ k[:, :d].T).var(correction=c) for d in _counts(q).tolist()]
    ),
    PAIRS,
)

_standard_deviation = _first(
    "You returned standard deviations, but a variance is their square.",
    "",
    lambda q, k, c: _dots(q, k).std(0, correction=c),
)


def _square_of_the_mean(evidence: Evidence) -> str:
    """What was not subtracted, for the d where it is largest."""
    products = (evidence.inputs["queries"] * evidence.inputs["keys"]).cumsum(axis=1)
    means, N = products.mean(axis=0), len(products)
    d = int(np.abs(means).argmax()) + 1
    mine, square = float(evidence.yours("growth.0")[d - 1]), float(means[d - 1]) ** 2
    return unwrapped(f"""The mean of the dot products would be 0 for endless draws, but for these
    {N} it isn't. With d = {d} it is {number(float(means[d - 1]))}, and your number, {number(mine)},
    still holds its square, {number(square)}. Without it, the variance is {number(mine - square)} if
    divided by N, as yours is, and {number((mine - square) * N / (N - 1))} if by N − 1.""")


_mean_square = mistake(
    "You took the mean of the squares without subtracting the mean.",
    _square_of_the_mean,
    cases=("growth.0",),
)(lambda queries, keys: [_dots(queries, keys).square().mean(0)] * 2)

_starts_at_nothing = _first(
    "Your first entry is a dot product of nothing, so every entry has one term too few.",
    "Entry d − 1 belongs to d terms: `[:, :d]` for d from 1 to D, both included.",
    lambda q, k, c: (_dots(q, k) - q * k).var(0, correction=c),
)

_last_entries_first = _first(
    "You began with the last entries, but the task begins with the first ones.",
    "Both give the same only where all D entries count.",
    lambda q, k, c: _dots(q.flip(1), k.flip(1)).var(0, correction=c),
)

_product_of_sums = _first(
    "You multiplied sums of entries, but a dot product is the sum of the products.",
    "Multiply entry by entry first, then add up: with two entries, q₀ · k₀ + q₁ · k₁ instead of "
    "(q₀ + q₁) · (k₀ + k₁).",
    lambda q, k, c: (q.cumsum(1) * k.cumsum(1)).var(0, correction=c),
)

_first_scaled_too = _first(
    "Your first result is already divided, but it should be the variance before dividing by √d.",
    "What you return is right for the second result. Measure the dot products as they are first, "
    "and divide after that.",
    lambda q, k, c: _dots(q, k).var(0, correction=c) / _counts(q),
    ROOT,
)

_adds_up_pairs = _first(
    "You added up over the pairs instead of over the entries.",
    "In (N, D), the pairs are dimension 0 and the entries dimension 1, so `cumsum(dim=1)` adds up "
    "entries, and `var(dim=0)` measures over pairs.",
    lambda q, k, c: (q * k).cumsum(0).var(0, correction=c),
)

_all_entries_always = _first(
    "You took all entries every time, but entry d − 1 belongs to the first d of them.",
    "Only the last number is the variance of dot products of all entries. `cumsum(dim=1)` adds up "
    "as far as each one.",
    lambda q, k, c: (q * k).sum(1).var(0, correction=c).expand(q.shape[1]),
)


def _first_is_missing(evidence: Evidence) -> bool:
    """True of everything but d = 1."""
    mine, right = evidence.yours("growth.0"), evidence.right("growth.0")[1:]
    return any(same_value(mine, right * by) for by in (1, 1 - 1 / evidence.number("N")))


@mistake(
    "Your results begin one entry too late.",
    lambda e: unwrapped(f"""With D = {e.number("D")} you return {len(e.yours("growth.0"))} numbers,
    and the one for d = 1, dot products of a single entry, is missing."""),
    recognized=_first_is_missing,
)
def _first_missing(queries: Tensor, keys: Tensor) -> Two:
    plain, scaled = dot_variances(queries, keys)
    return plain[1:], scaled[1:]


@mistake(
    "Your results have one number per pair, but the task asks for one for each d.",
    lambda e: unwrapped(f"""There are {e.number("N")} pairs with {e.number("D")} entries each, and
    you return {len(e.yours("growth.0"))} numbers. The pairs are dimension 0 and the entries
    dimension 1, so `cumsum(dim=1)` adds up entries, and `var(dim=0)` measures over the pairs."""),
    recognized=lambda e: e.yours("growth.0").shape == (e.number("N"),),
)
def _one_for_each_pair(queries: Tensor, keys: Tensor) -> Two:
    plain = (queries @ keys.T).var(0)
    return plain, plain / len(plain)


def _constant_factor(evidence: Evidence) -> Finding | None:
    """Variances that are all too large or too small by one factor."""
    mine, right = evidence.yours("growth.0"), evidence.right("growth.0")
    if mine.shape != right.shape or _agrees("0")(evidence):
        return None
    N = evidence.number("N")
    factors = mine / right
    if np.ptp(factors) > 1e-3 * np.abs(factors).max():
        return None
    by = (N - 1) / float(factors.mean())
    return Finding(
        "another-divisor",
        "Your variances are all too large or too small by the same factor.",
        unwrapped(f"""{_rows(evidence, "0")} They are what comes out if the sum of the squared
        deviations is divided by {number(by)}. There are {N} pairs, so divide by {N} or by
        {N - 1}."""),
        GROWTH,
    )


def _second_off(evidence: Evidence) -> Finding | None:
    if not _agrees("0")(evidence):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        divided = evidence.yours("growth.0") / evidence.yours("growth.1")
    return Finding(
        "wrong-scale",
        "Your variances are right, but those of the divided dot products aren't.",
        unwrapped(f"""{_rows(evidence, "1")} Your first result is {row(divided)} times your second
        one, entry by entry, but it should be {row(np.arange(1, len(divided) + 1))} times, because
        dividing the dot products of d entries by √d divides their variance by d."""),
        ROOT,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    mine, right = evidence.yours("growth.0"), evidence.right("growth.0")
    if mine.shape != right.shape:
        return None
    d = int(np.abs(mine - right).argmax()) + 1
    products = (evidence.inputs["queries"] * evidence.inputs["keys"])[:, :d].sum(axis=1)
    return Finding(
        "another-variance",
        "Your numbers aren't the variances of the dot products.",
        unwrapped(f"""For d = {d}, the {len(products)} dot products are {row(products)}, and their
        variance is {number(right[d - 1])}, but yours is {number(mine[d - 1])}."""),
        GROWTH,
    )


TASK = Task(
    "The spread of dot products",
    dot_variances,
    GROWTH,
    (
        Part("The variances of the dot products are right.", 2, _agrees("0")),
        Part("So are those after dividing by √d.", 2, _agrees("0", "1")),
    ),
    properties=(_constant_factor, _second_off),
    examples=(_worked_out,),
    cases=("growth.0",),
    steps={
        "the products of the entries": Step(
            "A dot product multiplies entry by entry, and query n belongs to key n.", PAIRS
        ),
        "the dot products": Step("A dot product of d entries adds up the first d products."),
        "how many entries count": Step("Entry d − 1 adds up d products: 1, 2, 3, …, D.", ROOT),
        "the divided dot products": Step(
            "Divided by √d, dot products have variances divided by d, so they stay near 1.", ROOT
        ),
        "your variances": Step(
            "A variance is measured over the N pairs, which are the first dimension."
        ),
    },
)
