"""Judging 02/variance: how far dot products spread as vectors grow longer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from course_judges.ch02_affinities.sections import GROWTH, PAIRS, ROOT
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, any_of, mistake
from course_judges.wording import number, row, rows_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.ch02_affinities.variance import PROBE as VARIANCE
from course_tasks.verdict import Finding

Two: TypeAlias = tuple[Tensor, Tensor]


def _products(queries: Tensor, keys: Tensor) -> Tensor:
    """(N, D): column d − 1 holds the dot products of the first d entries."""
    return (queries * keys).cumsum(dim=1)


def _count(queries: Tensor) -> Tensor:
    return torch.arange(1, queries.shape[1] + 1)


def dot_variances(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    """A right answer to 02/variance: (N, D), (N, D) → (D,), (D,)."""
    products = _products(queries, keys)
    scaled = products / _count(queries).sqrt()
    return products.var(0, correction=correction), scaled.var(0, correction=correction)


def _all_pairs_answer(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain = torch.stack(
        [
            (queries[:, :d] @ keys[:, :d].T).var(correction=correction)
            for d in range(1, queries.shape[1] + 1)
        ]
    )
    return plain, plain / _count(queries)


def _single_products_answer(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain = (queries * keys).var(0, correction=correction)
    return plain, plain / _count(queries)


def _means(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain, scaled = dot_variances(queries, keys, correction)
    return plain / _count(queries) ** 2, scaled / _count(queries) ** 2


def _added_variances(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain = (queries * keys).var(0, correction=correction).cumsum(0)
    return plain, plain / _count(queries)


def _the_law(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:  # noqa: ARG001
    return _count(queries).float(), torch.ones(queries.shape[1])


def _deviations(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain, scaled = dot_variances(queries, keys, correction)
    return plain.sqrt(), scaled.sqrt()


def _mean_squares(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:  # noqa: ARG001
    plain = _products(queries, keys).square().mean(0)
    return plain, plain / _count(queries)


def _one_short(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain = (_products(queries, keys) - queries * keys).var(0, correction=correction)
    return plain, plain / _count(queries)


def _along_channels(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    products = _products(queries, keys)
    scaled = products / _count(queries).sqrt()
    return products.var(1, correction=correction), scaled.var(1, correction=correction)


def _unscaled(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain, _ = dot_variances(queries, keys, correction)
    return plain, plain


def _scaled_by_all(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain, _ = dot_variances(queries, keys, correction)
    return plain, plain / queries.shape[1]


def _scaled_by_count(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain, _ = dot_variances(queries, keys, correction)
    return plain, plain / _count(queries) ** 2


def _variance_scaled(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain, _ = dot_variances(queries, keys, correction)
    return plain, plain / _count(queries).sqrt()


def _agrees(answer: Any, *values: str) -> Callable[[Evidence], bool]:
    """True of an answer that equals this one, whether it divides by N or by N − 1."""
    both = (partial(answer, correction=c) for c in (0, 1))
    return any_of(VARIANCE, values, *both)


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


def _second_off(evidence: Evidence) -> Finding | None:
    if not _agrees(dot_variances, "growth.0")(evidence):
        return None
    divided = evidence.yours("growth.0") / evidence.yours("growth.1")
    return Finding(
        "wrong-scale",
        "Your variances are right, but those of the divided dot products aren't.",
        unwrapped(f"""{_rows(evidence, "1")} Your first result is {row(divided)} times your second
        one, entry by entry, but it should be {row(np.arange(1, len(divided) + 1))} times, because
        dividing the dot products of d entries by √d divides their variance by d.
        {_of_the_quotients(divided)}""").strip(),
        ROOT,
    )


def _of_the_quotients(divided: Array) -> str:
    """What the quotients of both results have in common, in a sentence."""
    d = np.arange(1, len(divided) + 1)
    if len(divided) < 3 or not (divided > 0).all():
        return ""
    by = float(divided[0])
    if np.allclose(divided, by, rtol=1e-3):
        return (
            f"Yours is {number(by)} for all d, but the divisor counts the entries, 1 to {len(d)}."
        )
    if np.allclose(divided, by * d, rtol=1e-3):
        return f"All are {number(by)} times what they should be."
    power = np.log(divided[1:]) / np.log(d[1:])
    if np.ptp(power) < 1e-2:
        return unwrapped(f"""They are d to the power {number(float(power.mean()))}, so each dot
        product seems to be divided by d to the power {number(float(power.mean()) / 2)} instead of
        0.5.""")
    if np.allclose(divided, d[::-1], rtol=1e-3):
        return "The divisors are in reverse order."
    return ""


_no_scale = mistake(
    "Your second result equals the first, so nothing was divided.",
    lambda e: unwrapped(f"""Your last entry is {number(e.yours("growth.1")[-1])} in both, but dot
    products of {e.number("D")} entries divided by √{e.number("D")} have the variance
    {number(e.right("growth.1")[-1])}."""),
    ROOT,
    cases=("growth.0", "growth.1"),
    also=(partial(_unscaled, correction=0),),
)(_unscaled)

_scale_by_channels = mistake(
    "You divided every dot product by the same √D, however many entries went into it.",
    lambda e: unwrapped(f"""Entry 0 adds up one product but was divided by √{e.number("D")}, so its
    variance is {number(e.yours("growth.1")[0])} instead of {number(e.right("growth.1")[0])}. The
    scale counts the terms that were added up: √1, √2, √3, …"""),
    ROOT,
    cases=("growth.0", "growth.1"),
    also=(partial(_scaled_by_all, correction=0),),
)(_scaled_by_all)

_scale_by_d = mistake(
    "You divided by d instead of √d.",
    lambda e: unwrapped(f"""{_rows(e, "1")} Dividing by d divides the variance by d², so the spread
    shrinks to nothing as d grows."""),
    ROOT,
    cases=("growth.0", "growth.1"),
    also=(partial(_scaled_by_count, correction=0),),
)(_scaled_by_count)

_scaled_the_variance = mistake(
    "You divided the variance by √d, but it's the dot products that are divided.",
    lambda e: unwrapped(f"""{_rows(e, "1")} A factor counts squared in a variance, so numbers
    divided by √d have a variance divided by d."""),
    cases=("growth.0", "growth.1"),
    also=(partial(_variance_scaled, correction=0),),
)(_variance_scaled)

_states_the_law = mistake(
    "You returned what theory says, 1, 2, 3, …, without looking at these draws.",
    lambda e: unwrapped(f"""The law holds on average. For these {e.number("N")} pairs, the measured
    variances are {row(e.right("growth.0"))}."""),
    cases=("growth.0", "growth.1"),
    also=(partial(_the_law, correction=0),),
)(_the_law)

_adds_variances = mistake(
    "You added up the variances of the single products, which is right only on average.",
    lambda e: unwrapped(f"""{_rows(e, "0")} In {e.number("N")} draws, even independent products vary
    together a little. Add up the products first, then measure."""),
    cases=("growth.0",),
    also=(partial(_added_variances, correction=0),),
)(_added_variances)

_single_products = mistake(
    "You measured single products, but a dot product adds up the first d of them.",
    lambda e: f"{_rows(e, '0')} `cumsum` adds up along the entries.",
    cases=("growth.0",),
    also=(partial(_single_products_answer, correction=0),),
)(_single_products_answer)

_mean_not_sum = mistake(
    "You took the mean of the products, but a dot product is their sum.",
    lambda e: f"{_rows(e, '0')} The mean of d products is divided by d, but their sum isn't.",
    cases=("growth.0",),
    also=(partial(_means, correction=0),),
)(_means)

_all_pairs = mistake(
    "You compared every query with every key, but here query n belongs only to key n.",
    lambda e: unwrapped(f"""`queries @ keys.T` holds {e.number("N") ** 2} dot products, but the task
    asks only for the {e.number("N")} on its diagonal. {_rows(e, "0")}"""),
    PAIRS,
    cases=("growth.0",),
    also=(partial(_all_pairs_answer, correction=0),),
)(_all_pairs_answer)

_standard_deviation = mistake(
    "You returned standard deviations, but a variance is their square.",
    lambda e: _rows(e, "0"),
    cases=("growth.0",),
    also=(partial(_deviations, correction=0),),
)(_deviations)


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
    also=(partial(_mean_squares, correction=0),),
)(_mean_squares)

_starts_at_nothing = mistake(
    "Your first entry is a dot product of nothing, so every entry has one term too few.",
    lambda e: unwrapped(f"""{_rows(e, "0")} Entry d − 1 belongs to d terms: `[:, :d]` for d from 1
    to {e.number("D")}, both included."""),
    cases=("growth.0",),
    also=(partial(_one_short, correction=0),),
)(_one_short)

_variance_over_channels = mistake(
    "You measured along the entries instead of over the pairs.",
    lambda e: unwrapped(f"""Your first result has {len(e.yours("growth.0"))} numbers, one per pair,
    but the task asks for {e.number("D")}, one for each d. The pairs are the first dimension:
    `var(dim=0)`."""),
    cases=("growth.0",),
    also=(partial(_along_channels, correction=0),),
)(_along_channels)


def _terms_divided(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain, _ = dot_variances(queries, keys, correction)
    terms = queries * keys / _count(queries).sqrt()
    return plain, terms.cumsum(dim=1).var(0, correction=correction)


def _counted_from_the_end(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    return dot_variances(queries.flip(1), keys.flip(1), correction)


def _sums_multiplied(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain = (queries.cumsum(dim=1) * keys.cumsum(dim=1)).var(0, correction=correction)
    return plain, plain / _count(queries)


def _of_all_entries(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain = (queries * keys).sum(dim=1).var(0, correction=correction).expand(queries.shape[1])
    return plain, plain / _count(queries)


_each_term_scaled = mistake(
    "You divided each product by its own root before adding, but it's the sum that is divided.",
    lambda e: unwrapped(f"""{_rows(e, "1")} The dot product of d entries is divided by √d as a
    whole, its first term included, so add up first, then divide."""),
    ROOT,
    cases=("growth.0", "growth.1"),
    also=(partial(_terms_divided, correction=0),),
)(_terms_divided)

_last_entries_first = mistake(
    "You began with the last entries, but the task begins with the first ones.",
    lambda e: f"{_rows(e, '0')} Both give the same only where all {e.number('D')} entries count.",
    cases=("growth.0",),
    also=(partial(_counted_from_the_end, correction=0),),
)(_counted_from_the_end)

_product_of_sums = mistake(
    "You multiplied sums of entries, but a dot product is the sum of the products.",
    lambda e: unwrapped(f"""{_rows(e, "0")} Multiply entry by entry first, then add up: with two
    entries, q₀ · k₀ + q₁ · k₁ instead of (q₀ + q₁) · (k₀ + k₁)."""),
    cases=("growth.0",),
    also=(partial(_sums_multiplied, correction=0),),
)(_sums_multiplied)


def _scaled_twice(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    _, scaled = dot_variances(queries, keys, correction)
    return scaled, scaled


def _mean_products(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:  # noqa: ARG001
    products = _products(queries, keys)
    return products.mean(0), (products / _count(queries).sqrt()).mean(0)


def _added_over_pairs(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    products = (queries * keys).cumsum(dim=0)
    scaled = products / _count(queries).sqrt()
    return products.var(0, correction=correction), scaled.var(0, correction=correction)


_first_scaled_too = mistake(
    "Your first result is already divided, but it should be the variance before dividing by √d.",
    lambda e: unwrapped(f"""{_rows(e, "0")} What you return is right for the second result. Measure
    the dot products as they are first, and divide after that."""),
    ROOT,
    cases=("growth.0",),
    also=(partial(_scaled_twice, correction=0),),
)(_scaled_twice)

_means_for_variances = mistake(
    "You returned the means of the dot products instead of their variances.",
    lambda e: unwrapped(f"""{_rows(e, "0")} A variance is the mean of squared distances from the
    mean, so it is never negative."""),
    cases=("growth.0",),
    also=(partial(_mean_products, correction=0),),
)(_mean_products)

_adds_up_pairs = mistake(
    "You added up over the pairs instead of over the entries.",
    lambda e: unwrapped(f"""{_rows(e, "0")} In (N, D), the pairs are dimension 0 and the entries
    dimension 1, so `cumsum(dim=1)` adds up entries, and `var(dim=0)` measures over pairs."""),
    cases=("growth.0",),
    also=(partial(_added_over_pairs, correction=0),),
)(_added_over_pairs)

_all_entries_always = mistake(
    "You took all entries every time, but entry d − 1 belongs to the first d of them.",
    lambda e: unwrapped(f"""{_rows(e, "0")} Only the last number is the variance of dot products of
    all {e.number("D")} entries. `cumsum(dim=1)` adds up as far as each one."""),
    cases=("growth.0",),
    also=(partial(_of_all_entries, correction=0),),
)(_of_all_entries)


def _all_products(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain = torch.stack(
        [
            (queries[:, :d] * keys[:, :d]).var(correction=correction)
            for d in range(1, queries.shape[1] + 1)
        ]
    )
    return plain, plain / _count(queries)


def _multiplied_up(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain = (queries * keys).cumprod(dim=1).var(0, correction=correction)
    return plain, plain / _count(queries)


def _sizes_added(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain = (queries * keys).abs().cumsum(dim=1).var(0, correction=correction)
    return plain, plain / _count(queries)


def _scaled_by_pairs(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain, _ = dot_variances(queries, keys, correction)
    return plain, plain / len(queries)


def _multiplied(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain, _ = dot_variances(queries, keys, correction)
    return plain, plain * _count(queries)


def _second_deviations(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain, scaled = dot_variances(queries, keys, correction)
    return plain, scaled.sqrt()


def _first_pairs(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    dots = (queries * keys).sum(dim=1)
    plain = torch.stack([dots[:d].var(correction=correction) for d in _count(queries).tolist()])
    return plain, plain / _count(queries)


_pairs_for_entries = mistake(
    "You took the first d pairs, but it's the first d entries of every pair that count.",
    lambda e: unwrapped(f"""{_rows(e, "0")} In (N, D), the first index is the pair, so `x[:d]` holds
    d pairs, while `x[:, :d]` holds the first d entries of all {e.number("N")}."""),
    cases=("growth.0",),
    also=(partial(_first_pairs, correction=0),),
)(_first_pairs)

_never_added_up = mistake(
    "You measured all single products together, but those of a pair are added up first.",
    lambda e: unwrapped(f"""{_rows(e, "0")} A pair has one dot product for each d, the sum of its
    first d products, and the variance runs over the {e.number("N")} pairs."""),
    cases=("growth.0",),
    also=(partial(_all_products, correction=0),),
)(_all_products)

_products_multiplied = mistake(
    "You multiplied the products with each other, but a dot product adds them up.",
    lambda e: f"{_rows(e, '0')} `cumsum` adds up along the entries, while `cumprod` multiplies.",
    cases=("growth.0",),
    also=(partial(_multiplied_up, correction=0),),
)(_multiplied_up)

_sizes_not_products = mistake(
    "You added up absolute values, but in a dot product, products of both signs cancel.",
    lambda e: _rows(e, "0"),
    cases=("growth.0",),
    also=(partial(_sizes_added, correction=0),),
)(_sizes_added)

_scale_by_pairs = mistake(
    "You divided by √N, where N is the number of pairs, but the scale counts entries.",
    lambda e: unwrapped(f"""{_rows(e, "1")} The dot product of d entries is divided by √d, which is
    √1, √2, √3, …, whatever N is."""),
    ROOT,
    cases=("growth.0", "growth.1"),
    also=(partial(_scaled_by_pairs, correction=0),),
)(_scaled_by_pairs)

_multiplied_by_root = mistake(
    "You multiplied by √d where the task divides.",
    lambda e: _rows(e, "1"),
    ROOT,
    cases=("growth.0", "growth.1"),
    also=(partial(_multiplied, correction=0),),
)(_multiplied)

_second_is_deviation = mistake(
    "Your second result holds standard deviations, but a variance is their square.",
    lambda e: f"{_rows(e, '1')} Your first result is right.",
    cases=("growth.0", "growth.1"),
    also=(partial(_second_deviations, correction=0),),
)(_second_deviations)


@mistake(
    "You took the variance of one number, which is NaN.",
    lambda e: unwrapped(f"""With N − 1 in the divisor it is 0 / 0. The {e.number("N")} pairs have
    one dot product each for every d, so add up along the entries (`dim=1`) and measure over the
    pairs."""),
    recognized=lambda e: (
        bool(np.isnan(e.yours("growth.0")).all()) and bool(np.isfinite(e.inputs["queries"]).all())
    ),
)
def _variance_of_one_number(queries: Tensor, keys: Tensor) -> Two:
    total = (queries * keys).sum(dim=0).cumsum(dim=0)
    plain = torch.stack([one.var() for one in total])
    return plain, plain / _count(queries)


def _counted_from_0(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    products = _products(queries, keys)
    scaled = products / torch.arange(queries.shape[1]).sqrt()
    return products.var(0, correction=correction), scaled.var(0, correction=correction)


def _cosines(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    products = _products(queries, keys)
    lengths = (queries.square().cumsum(dim=1) * keys.square().cumsum(dim=1)).sqrt()
    scaled = products / lengths
    return products.var(0, correction=correction), scaled.var(0, correction=correction)


def _added_twice(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    products = _products(queries, keys).cumsum(dim=1)
    scaled = products / _count(queries).sqrt()
    return products.var(0, correction=correction), scaled.var(0, correction=correction)


def _absolute_deviations(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:  # noqa: ARG001
    products = _products(queries, keys)
    scaled = products / _count(queries).sqrt()
    plain, divided = ((one - one.mean(0)).abs().mean(0) for one in (products, scaled))
    return plain, divided


def _squares_added(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:  # noqa: ARG001
    products = _products(queries, keys)
    plain = (products - products.mean(0)).square().sum(0)
    return plain, plain / _count(queries)


def _keys_of_the_neighbor(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    return dot_variances(queries, keys.roll(1, 0), correction)


def _mean_of_what_was_seen(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain, _ = dot_variances(queries, keys, correction)
    plain = plain.cumsum(0) / _count(queries)
    return plain, plain / _count(queries)


_root_counted_from_0 = mistake(
    "You divided by √0, √1, √2, …, but the first dot product has one term.",
    lambda e: unwrapped(f"""{_rows(e, "1")} `torch.arange(D)` begins with 0, and a number divided by
    √0 is infinite or NaN. Entry d − 1 adds up d products, so count from 1:
    `torch.arange(1, D + 1)`."""),
    ROOT,
    cases=("growth.0", "growth.1"),
    also=(partial(_counted_from_0, correction=0),),
)(_counted_from_0)

_divided_by_lengths = mistake(
    "You divided the dot products by the lengths of their vectors instead of by √d.",
    lambda e: unwrapped(f"""{_rows(e, "1")} A dot product divided by both lengths is a cosine. The
    task divides by √d, which is the same for all {e.number("N")} pairs."""),
    ROOT,
    cases=("growth.0", "growth.1"),
    also=(partial(_cosines, correction=0),),
)(_cosines)

_sums_added_again = mistake(
    "You added up along the entries twice.",
    lambda e: unwrapped(f"""{_rows(e, "0")} Column d − 1 of one `cumsum` already adds up the first d
    products."""),
    cases=("growth.0",),
    also=(partial(_added_twice, correction=0),),
)(_added_twice)

_deviations_not_squared = mistake(
    "You took the mean of absolute deviations, but a variance is the mean of their squares.",
    lambda e: _rows(e, "0"),
    cases=("growth.0",),
)(_absolute_deviations)

_squares_not_divided = mistake(
    "You added up the squared deviations, but you haven't divided the sum yet.",
    lambda e: unwrapped(f"""{_rows(e, "0")} A variance is their mean, so divide by N or by N − 1,
    with N = {e.number("N")}."""),
    cases=("growth.0",),
)(_squares_added)

_key_of_another_query = mistake(
    "You compared each query with the key of another pair.",
    lambda e: f"{_rows(e, '0')} Query n belongs to key n, the row with the same number.",
    cases=("growth.0",),
    also=(
        partial(_keys_of_the_neighbor, correction=0),
        lambda queries, keys: _keys_of_the_neighbor(keys, queries),
        lambda queries, keys: dot_variances(queries, keys.flip(0)),
    ),
)(_keys_of_the_neighbor)

_averaged_over_d = mistake(
    "You averaged the variances over all d so far, but each d has its own.",
    lambda e: _rows(e, "0"),
    cases=("growth.0",),
    also=(partial(_mean_of_what_was_seen, correction=0),),
)(_mean_of_what_was_seen)


def _ends_too_early(evidence: Evidence) -> bool:
    """True of everything but the last d."""
    mine, right = evidence.yours("growth.0"), evidence.right("growth.0")
    N = evidence.number("N")
    return mine.shape == (len(right) - 1,) and any(
        np.allclose(mine, right[:-1] * by, rtol=1e-4) for by in (1, (N - 1) / N)
    )


@mistake(
    "Your results end one entry too early.",
    lambda e: unwrapped(f"""With D = {e.number("D")} you return {len(e.yours("growth.0"))} numbers,
    and the one for d = {e.number("D")} is missing. `range(1, D)` ends with D − 1, so take
    `range(1, D + 1)`."""),
    recognized=_ends_too_early,
)
def _last_missing(queries: Tensor, keys: Tensor) -> Two:
    plain, scaled = dot_variances(queries, keys)
    return plain[:-1], scaled[:-1]


def _first_is_missing(evidence: Evidence) -> bool:
    """True of everything but d = 1."""
    mine, right = evidence.yours("growth.0"), evidence.right("growth.0")
    N = evidence.number("N")
    return mine.shape == (len(right) - 1,) and any(
        np.allclose(mine, right[1:] * by, rtol=1e-4) for by in (1, (N - 1) / N)
    )


@mistake(
    "Your results begin one entry too late.",
    lambda e: unwrapped(f"""With D = {e.number("D")} you return {len(e.yours("growth.0"))} numbers,
    and the one for d = 1, dot products of a single entry, is missing."""),
    recognized=_first_is_missing,
)
def _first_missing(queries: Tensor, keys: Tensor) -> Two:
    plain, scaled = dot_variances(queries, keys)
    return plain[1:], scaled[1:]


def _sums_of_both(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    sums = (queries + keys).cumsum(dim=1)
    plain = sums.var(0, correction=correction)
    return plain, plain / _count(queries)


def _absolute_dots(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    plain = _products(queries, keys).abs().var(0, correction=correction)
    return plain, plain / _count(queries)


def _standardised(queries: Tensor, keys: Tensor, correction: int = 1) -> Two:
    queries, keys = ((v - v.mean(0)) / v.std(0) for v in (queries, keys))
    return dot_variances(queries, keys, correction)


_sums_for_products = mistake(
    "You added queries and keys, but a dot product multiplies them.",
    lambda e: f"{_rows(e, '0')} Multiply entry by entry, and then add up the products.",
    cases=("growth.0",),
    also=(partial(_sums_of_both, correction=0),),
)(_sums_of_both)

_dots_made_positive = mistake(
    "You took the absolute values of the dot products before you measured.",
    lambda e: f"{_rows(e, '0')} A variance measures the numbers with their signs.",
    cases=("growth.0",),
    also=(partial(_absolute_dots, correction=0),),
)(_absolute_dots)

_vectors_standardised = mistake(
    "You changed the vectors to mean 0 and variance 1 before you multiplied them.",
    lambda e: f"{_rows(e, '0')} Take `queries` and `keys` as they are given.",
    cases=("growth.0",),
    also=(partial(_standardised, correction=0),),
)(_standardised)


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
    if mine.shape != right.shape or _agrees(dot_variances, "growth.0")(evidence):
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
        Part(
            "The variances of the dot products are right.",
            2,
            _agrees(dot_variances, "growth.0"),
        ),
        Part(
            "So are those after dividing by √d.",
            2,
            _agrees(dot_variances, "growth.0", "growth.1"),
        ),
    ),
    properties=(_constant_factor, _second_off),
    examples=(_worked_out,),
    cases=("growth.0",),
)
