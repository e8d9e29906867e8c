"""Judges 06/concat: heads of different sizes, side by side."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges import families
from course_judges.attention_weights import (
    Weights,
    causal_divisor,
    divided_by,
    no_mixture,
    of_another_sample,
    rows_beside,
    softmax,
    weights_behind,
)
from course_judges.ch06_heads import wording
from course_judges.ch06_heads.sections import AVERAGE, LIST, SUBSPACES
from course_judges.ch06_heads.wording import largest_gap, shape
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import first_upper, listed, number, row, rows_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

Heads = Sequence[Sequence[Tensor]]


def concatenate(x: Tensor, heads: Heads) -> Tensor:
    """The outputs of causal heads of any sizes, side by side: (B, T, C) → (B, T, ΣD)."""
    T = x.shape[1]
    seen = torch.ones(T, T, dtype=torch.bool).tril()  # the triangle (T, T)
    found = []
    for query, key, value in heads:
        D = query.shape[1]  # D
        q = x @ query  # the queries (B, T, D)
        k = x @ key  # the keys (B, T, D)
        v = x @ value  # the values (B, T, D)
        scores = q @ k.mT / math.sqrt(D)  # the scores (B, T, T)
        masked = scores.masked_fill(~seen, -torch.inf)  # the masked scores (B, T, T)
        weights = masked.softmax(dim=-1)  # the weights (B, T, T)
        found.append(weights @ v)  # what a head finds (B, T, D)
    return torch.cat(found, dim=-1)  # your output (B, T, ΣD)


def _found(x: Tensor, heads: Heads, scale: float | None = None) -> list[Tensor]:
    """What each head finds, with a scale of its own or one for all."""
    found = []
    for query, key, value in heads:
        factor = 1.0 if scale is None else math.sqrt(query.shape[1]) / scale
        found.append(concatenate(x, [(query * factor, key, value)]))
    return found


def _scaled_alike(size: Callable[[list[int]], float]) -> Callable[[Tensor, Heads], Tensor]:
    """All heads with one scale, computed from their sizes."""

    def answer(x: Tensor, heads: Heads) -> Tensor:
        scale = math.sqrt(size([query.shape[1] for query, _, _ in heads]))
        return torch.cat(_found(x, heads, scale), dim=-1)

    return answer


def _weighing(weigh: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Heads], Tensor]:
    """Other weights, made from the scores (B, T, T) and what may be seen (T, T)."""

    def answer(x: Tensor, heads: Heads) -> Tensor:
        seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        found = []
        for query, key, value in heads:
            scores = x @ query @ (x @ key).mT / math.sqrt(query.shape[1])
            found.append(weigh(scores, seen) @ (x @ value))
        return torch.cat(found, dim=-1)

    return answer


def _cut_at_equal_distances(x: Tensor, heads: Heads) -> Tensor:
    pieces = (
        torch.cat(matrices, dim=1).tensor_split(len(heads), dim=1)
        for matrices in zip(*heads, strict=True)
    )
    return concatenate(x, list(zip(*pieces, strict=True)))


def _is_stacked(evidence: Evidence) -> bool:
    mine = evidence.yours("equal")
    return mine.ndim == 4 and mine.size == evidence.right("equal").size


def _scales(evidence: Evidence, yours: str) -> str:
    sizes = evidence.inputs["unequal_sizes"]
    return unwrapped(f"""Heads of size {listed(sizes)} need scales of
    {", ".join(number(s**0.5) for s in sizes)}, but {yours}. {largest_gap(evidence, "unequal")}""")


_scale_by_channels = families.scale_by_channels(
    lambda e: _scales(e, f"√C is {number(e.number('C') ** 0.5)}"), SUBSPACES
)(Like("used-the-length-of-axis-0-of-query-for-D"))

_scale_by_all_heads = mistake(
    "You divided the scores by the root of the sum of all head sizes.",
    lambda e: _scales(e, f"yours is {number(float(e.inputs['unequal_sizes'].sum()) ** 0.5)}"),
    SUBSPACES,
)(_scaled_alike(sum))

_weighs_all_alike = mistake(
    "Your heads give all visible positions the same weight, so queries and keys have no effect.",
    lambda e: unwrapped(f"""The weights should come from the scores, `x @ query` times `x @ key`.
    {largest_gap(e, "equal")}"""),
    AVERAGE,
)(_weighing(lambda _, seen: seen / seen.sum(dim=-1, keepdim=True)))


@mistake(
    "You divided what each head finds by the root of its size, instead of its scores.",
    lambda e: unwrapped(f"""{largest_gap(e, "equal")} This makes every head's output √D times too
    small, and its scores stay too large."""),
    SUBSPACES,
)
def _scale_after_softmax(x: Tensor, heads: Heads) -> Tensor:
    found = zip(_found(x, heads, 1.0), heads, strict=True)
    return torch.cat([one / math.sqrt(query.shape[1]) for one, (query, _, _) in found], dim=-1)


_one_scale_for_all = mistake(
    "You divided the scores of all heads by the same number.",
    lambda e: _scales(e, "a single number can be right only for one of them"),
    SUBSPACES,
    cases=("equal", "unequal"),
    also=(
        _scaled_alike(lambda sizes: sum(sizes) / len(sizes)),
        _scaled_alike(max),
        _scaled_alike(min),
        _scaled_alike(lambda sizes: sizes[-1]),
        _scaled_alike(len),
    ),
)(_scaled_alike(lambda sizes: sizes[0]))

_mask_added_to_scores = mistake(
    wording.MASK_ADDED, lambda e: f"{wording.MASK_OF_ONES} {largest_gap(e, 'equal')}", AVERAGE
)(_weighing(lambda scores, seen: (scores + seen).softmax(dim=-1)))

_equal_cuts = mistake(
    "You cut the channels of all heads into pieces of equal size.",
    lambda e: unwrapped(f"""With heads of size {listed(e.inputs["unequal_sizes"])}, each begins
    where the one before it ends. {largest_gap(e, "unequal")}"""),
    SUBSPACES,
    cases=("equal", "unequal"),
)(_cut_at_equal_distances)


def _taking(order: tuple[int, int, int]) -> Callable[[Tensor, Heads], Tensor]:
    """All heads with the matrices of these numbers for query, key and value."""
    q, k, v = order
    return lambda x, heads: concatenate(x, [(head[q], head[k], head[v]) for head in heads])


_matrices_mixed_up = mistake(
    "You mixed up the three matrices of a head.",
    lambda e: unwrapped(f"""A head is (query, key, value), in this order: queries and keys make the
    scores, and values are averaged. {largest_gap(e, "equal")}"""),
    SUBSPACES,
    also=tuple(
        _taking(order)
        for order in itertools.product(range(3), range(3), range(3))
        if order not in ((0, 1, 2), (1, 0, 2), (2, 1, 0))
    ),
)(_taking((2, 1, 0)))

_shared_head = mistake(
    "You used one head for all, so the same output appears several times, side by side.",
    lambda e: unwrapped(f"""Channels 0 … {e.number("D") - 1} of your answer appear {e.number("H")}
    times in all. {largest_gap(e, "equal")}"""),
    AVERAGE,
    cases=("equal",),
)(lambda x, heads: concatenate(x, [heads[0]] * len(heads)))


@mistake(
    "You returned only what the first head found.",
    lambda e: f"{shape(e, 'equal')} Is there a `return` inside the loop?",
)
def _first_head_only(x: Tensor, heads: Heads) -> Tensor:
    return concatenate(x, heads[:1])


@mistake(
    "You returned only what the last head found.",
    lambda e: f"{shape(e, 'equal')} Does each pass of the loop overwrite the one before?",
)
def _last_head_only(x: Tensor, heads: Heads) -> Tensor:
    return concatenate(x, heads[-1:])


_sums_not_concatenates = mistake(
    "You added up what the heads found instead of putting it side by side.",
    lambda e: f"{shape(e, 'equal')} In a sum, you can't tell which head found what.",
    cases=("equal",),
)(lambda x, heads: torch.stack(_found(x, heads)).sum(dim=0))

_interleaved = mistake(
    wording.INTERLEAVED,
    lambda e: unwrapped(f"""Your channel 1 belongs to head 1, but channels 0 … {e.number("D") - 1}
    should all belong to head 0. {largest_gap(e, "equal")}"""),
    cases=("equal",),
)(lambda x, heads: torch.stack(_found(x, heads), dim=-1).flatten(2))

_stacked = mistake(
    "You stacked what the heads found, which adds a new dimension.",
    lambda e: f"{shape(e, 'equal')} `torch.cat` joins tensors along a dimension that they have.",
    recognized=_is_stacked,
)(lambda x, heads: torch.stack(_found(x, heads)))


def _hiding(
    hidden: Callable[[Tensor], Tensor], fill: float = -math.inf, *, nan: float = math.nan
) -> Callable[[Tensor, Heads], Tensor]:
    """Other positions hidden, made from what may be seen; rows that see nothing hold `nan`."""
    return _weighing(
        lambda scores, seen: scores.masked_fill(hidden(seen), fill).softmax(dim=-1).nan_to_num(nan)
    )


_itself_hidden = mistake(
    "In your heads, positions don't see themselves.",
    lambda e: unwrapped(f"""So position 0 sees nothing at all. What is hidden begins to the right of
    the diagonal: `triu(1)`, or what `tril()` leaves out. {largest_gap(e, "equal")}"""),
    AVERAGE,
    also=(_hiding(lambda seen: ~seen.tril(-1), nan=0.0),),
)(Like("used-tril-with-diagonal-minus-1-instead-of-0-in-the-triangle"))

_upper_triangle = families.upper_triangle(
    lambda e: f"{wording.MASKS_DIFFER} Is your mask inverted? {largest_gap(e, 'equal')}",
    AVERAGE,
    also=(
        _hiding(lambda seen: seen),
        _hiding(lambda seen: seen, -1e9),
        # A row in which nothing is seen gives 0 if it isn't NaN.
        _hiding(lambda seen: seen, nan=0.0),
    ),
)(Like("used-triu-instead-of-tril-in-the-triangle"))

_masked_after_softmax = families.masked_after_softmax(lambda e: largest_gap(e, "equal"), AVERAGE)(
    _weighing(lambda scores, seen: scores.softmax(dim=-1) * seen)
)

_no_softmax = mistake(
    "You used the scores themselves as weights, without a softmax.",
    lambda e: unwrapped(f"""Scores can be negative and sum to anything, so only a softmax makes an
    average of them. {largest_gap(e, "equal")}"""),
    AVERAGE,
)(_weighing(lambda scores, seen: scores * seen))


def _piled_up(x: Tensor, heads: Heads, *, scaled_last: bool = False) -> Tensor:
    """Each head has the scores of all heads up to it, scaled before or after they are added up."""
    scores, found = torch.zeros(()), []
    hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    for query, key, value in heads:
        scale = math.sqrt(query.shape[1])
        scores = scores + x @ query @ (x @ key).mT / (1 if scaled_last else scale)
        seen = (scores / scale if scaled_last else scores).masked_fill(hidden, -math.inf)
        found.append(seen.softmax(dim=-1) @ x @ value)
    return torch.cat(found, dim=-1)


_scores_pile_up = mistake(
    "You add the scores of earlier heads to those of each later one.",
    lambda e: unwrapped(f"""So head 0 is right and the others aren't. Does each head change a tensor
    that all of them share, for example with `mask += …`? `scores + mask` makes a new one.
    {largest_gap(e, "equal")}"""),
    AVERAGE,
    cases=("equal", "unequal"),
    also=(partial(_piled_up, scaled_last=True),),
)(_piled_up)


def _missing(evidence: Evidence) -> str:
    mine, right = evidence.yours("equal"), evidence.right("equal")
    return "last" if close(mine, right[..., : mine.shape[-1]]).all() else "first"


_last_head_missing = mistake(
    lambda e: f"What the {_missing(e)} head found is missing.",
    lambda e: shape(e, "equal"),
    also=(lambda x, heads: concatenate(x, heads[1:]),),
)(lambda x, heads: concatenate(x, heads[:-1] or heads))

_one_table_for_all = mistake(
    "You put queries and keys of all heads side by side and took one softmax for all of them.",
    lambda e: unwrapped(f"""So all heads have the same weights, but each head needs scores of its
    own queries and keys. {largest_gap(e, "equal")}"""),
    SUBSPACES,
    cases=("equal", "unequal"),
)(
    lambda x, heads: concatenate(
        x, [[torch.cat(matrices, dim=1) for matrices in zip(*heads, strict=True)]]
    )
)


def _right_but_for_a_fill(evidence: Evidence) -> bool:
    """True if answers are right or nearly so, except where the only visible score is very low."""
    gaps = {case: np.abs(evidence.yours(case) - evidence.right(case)) for case in _CASES}
    alone = max(float(gaps[case][0, 0].max()) for case in ("low_equal", "low_unequal"))
    for case in ("low_equal", "low_unequal"):
        gaps[case][0] = 0.0  # the sample with the low score
    return float(max(np.quantile(gap, 0.9) for gap in gaps.values())) < 0.05 < alone


def _beside_a_low_score(evidence: Evidence) -> str:
    mine, right = (of("low_unequal")[0, 0, :2] for of in (evidence.yours, evidence.right))
    return unwrapped(f"""Position 0 of sample 0 may see only itself, and its score in head 0 is −60.
    The output begins with {row(mine)}, but it should begin with {row(right)}. −inf is below every
    score, and e to the power of −inf is exactly 0.""")


_moderate_fill = mistake(
    "You give what you hide a low score, but it isn't lower than every score.",
    _beside_a_low_score,
    AVERAGE,
    recognized=_right_but_for_a_fill,
)(_hiding(lambda seen: ~seen, -20.0))


@mistake(
    "You padded all heads to the size of the largest, but each should keep its own size.",
    lambda e: unwrapped(f"""{shape(e, "unequal")} Heads of size
    {listed(e.inputs["unequal_sizes"])} make {e.inputs["unequal_sizes"].sum()} channels, and
    `torch.cat` can join tensors of different lengths."""),
    cases=("equal", "unequal"),
)
def _filled_up(x: Tensor, heads: Heads) -> Tensor:
    largest = max(value.shape[1] for _, _, value in heads)
    found = [F.pad(one, (0, largest - one.shape[-1])) for one in _found(x, heads)]
    return torch.cat(found, dim=-1)


_sorted_by_size = mistake(
    "You sorted the heads by size, but they should keep the order of the list.",
    lambda e: unwrapped(f"""In the list, the sizes are {listed(e.inputs["unequal_sizes"])}.
    {largest_gap(e, "unequal")}"""),
    cases=("equal", "unequal"),
    also=(lambda x, heads: concatenate(x, sorted(heads, key=lambda h: -h[0].shape[1])),),
)(lambda x, heads: concatenate(x, sorted(heads, key=lambda h: h[0].shape[1])))


_CASES = ("equal", "unequal", "low_equal", "low_unequal")


def _first_wrong(evidence: Evidence) -> str:
    return next(case for case in _CASES if not evidence.same(case))


def _sizes(case: str) -> str:
    """Which heads a case has."""
    return case.removeprefix("low_")


def _parts(evidence: Evidence, case: str, h: int) -> tuple[Array, Array]:
    """(B, T, T) Products of queries and keys of a head, and its values (B, T, D)."""
    sizes = _sizes(case)
    x = evidence.inputs[f"{case}_x"].astype(float)
    query, key, value = (
        x @ evidence.inputs[f"{sizes}_{part}_{h}"] for part in ("query", "key", "value")
    )
    return query @ np.swapaxes(key, 1, 2), value


def _by_head(evidence: Evidence, case: str) -> list[tuple[int, Array, Array]]:
    """Each head's size, and (B, T, D) what it found in your answer and in the right one."""
    sizes = evidence.inputs[f"{_sizes(case)}_sizes"].tolist()
    ends = np.cumsum(sizes)[:-1]
    mine, right = (np.split(of(case), ends, axis=-1) for of in (evidence.yours, evidence.right))
    return list(zip(sizes, mine, right, strict=True))


def _dims(evidence: Evidence, case: str, size: int) -> dict[str, int]:
    B, T, C = evidence.inputs[f"{case}_x"].shape
    H = len(evidence.inputs[f"{_sizes(case)}_sizes"])
    return {"D": size, "C": C, "H": H, "T": T, "B": B}


def _origins(mine: Array, right: Array) -> list[int | None] | None:
    """For each channel of yours, which one of the right answer it holds, or None if it holds only
    zeros. No list at all if some channel holds anything else.
    """
    origins: list[int | None] = []
    for c in range(mine.shape[-1]):
        same = np.flatnonzero(close(mine[..., c : c + 1], right).all(axis=(0, 1)))
        if not len(same) and mine[..., c].any():
            return None
        origins.append((c if c in same else int(same[0])) if len(same) else None)
    return origins


def _begins_at(origins: Sequence[int | None], start: int, size: int) -> int | None:
    """At which channel of yours a head begins; None if it has no beginning, or several."""
    own = range(start, start + size)
    met = {c - (o - start) for c, o in enumerate(origins) if o in own and o is not None}
    return met.pop() if len(met) == 1 else None


def _heads_held(
    origins: Sequence[int | None], starts: Sequence[int], sizes: Sequence[int]
) -> list[int] | None:
    """Which head's findings are in the place of each head; None if they aren't whole heads."""
    held: list[int] = []
    for start, size in zip(starts, sizes, strict=True):
        first = origins[start] if start < len(origins) else None
        whole = first is not None and [*origins[start : start + size]] == [
            *range(first, first + size)
        ]
        if first not in starts or not whole or sizes[starts.index(first)] != size:
            return None
        held.append(starts.index(first))
    return held


def _in_other_channels(evidence: Evidence) -> Finding | None:
    """What heads find is right, but stands in other channels."""
    case = _first_wrong(evidence)
    mine, right = evidence.yours(case), evidence.right(case)
    if mine.ndim != 3 or mine.shape[:2] != right.shape[:2]:
        return None
    origins = _origins(mine, right)
    if origins is None or all(origin is None for origin in origins):
        return None
    sizes = evidence.inputs[f"{_sizes(case)}_sizes"].tolist()
    starts = [0, *np.cumsum(sizes)[:-1].tolist()]
    held = _heads_held(origins, starts, sizes)
    if held is not None:
        return Finding(
            "other-channels",
            "Some of your channels hold what another head finds.",
            f"This is about heads of size {listed(sizes)}. Where heads {listed(range(len(sizes)))} "
            f"belong, yours holds what heads {listed(held)} find. Each head of the list has one "
            "place, and the first head comes first.",
            LIST,
        )
    begins = [_begins_at(origins, *one) for one in zip(starts, sizes, strict=True)]
    off = [
        f"head {h} should begin at channel {start}, but yours begins at {mine_at}"
        for h, (start, mine_at) in enumerate(zip(starts, begins, strict=True))
        if mine_at is not None and mine_at != start
    ]
    empty = [c for c, origin in enumerate(origins) if origin is None]
    width = right.shape[-1]
    missing = len({*range(width)} - {*origins})
    told = f"{first_upper('; '.join(off))}. " if off else ""
    told += f"Your channels {listed(empty)} hold only zeros. " if empty else ""
    told += f"{missing} of the {width} right channels appear nowhere in yours. " if missing else ""
    advice = "Each head begins where the one before it ends, so add up the sizes of all heads "
    advice += "before it, or use `torch.cat`."
    if not off and not empty:
        first = [origin for origin in origins[:8] if origin is not None]
        told += f"Your first channels hold channels {listed(first)} of the right answer. "
        advice = "Channels of one head belong together, in their own order."
    return Finding(
        "other-channels",
        "What your heads find is right, but it isn't side by side in the order of the list.",
        f"This is about heads of size {listed(sizes)}. {told}{advice}",
        LIST,
    )


def _divisors(evidence: Evidence) -> Finding | None:
    """Heads that are right but for what their scores are divided by."""
    case = _first_wrong(evidence)
    if not evidence.comparable(case):
        return None
    heads = _by_head(evidence, case)
    divisors = [
        causal_divisor(mine, *_parts(evidence, case, h)) for h, (_, mine, _) in enumerate(heads)
    ]
    if any(divisor is None or divisor <= 0 for divisor in divisors) or case not in (
        "equal",
        "unequal",
    ):
        return None
    off = next((h for h, (_, one, right) in enumerate(heads) if not close(one, right).all()), None)
    if off is None:
        return None
    size, divisor = heads[off][0], float(divisors[off] or 0.0)
    dims = _dims(evidence, case, size)
    share = {
        "C / H": dims["C"] / dims["H"],
        "⌊C / H⌋": dims["C"] // dims["H"] if dims["C"] % dims["H"] else 0,
        **{f"the size of head {h}": other for h, (other, _, _) in enumerate(heads) if h != off},
    }
    fits = [name for name, one in share.items() if math.isclose(divisor**2, one, rel_tol=4e-4)]
    known = " or ".join(fits)
    told = f"For head {off}, that is the root of {known}." if fits else divided_by(divisor, dims)
    each = ", ".join(number(float(one or 0.0)) for one in divisors)
    return Finding(
        "other-weights",
        "Your heads are right, but for what you divide their scores by.",
        f"For heads of size {listed(one for one, _, _ in heads)}, you divide by {each}. Each should"
        f" divide by the root of its own size: {', '.join(number(s**0.5) for s, _, _ in heads)}. "
        f"{told}",
        SUBSPACES,
    )


def _shown_by(evidence: Evidence, *, surely: bool) -> Finding | None:
    """What the weights of the first wrong head are a softmax of, as far as its output shows it."""
    case = _first_wrong(evidence)
    if not evidence.comparable(case):
        return None
    for h, (size, mine, right) in enumerate(_by_head(evidence, case)):
        if close(mine, right).all():
            continue
        products, values = _parts(evidence, case, h)
        own = softmax(products / size**0.5, np.tril(np.ones(products.shape, dtype=bool)))
        met = of_another_sample(mine, np.stack([own] * len(own), axis=1), values)
        if met is not None:
            return Finding(
                "other-weights",
                "Your heads average the values of another text.",
                f"In sample {met[0]}, the weights of head {h} are right, but the values are those "
                f"of sample {met[1]}.",
                AVERAGE,
            )
        weights = weights_behind(mine, values)
        if weights is None and surely:
            return None
        past_seen = np.tril(np.ones(products.shape, dtype=bool))
        begins = f"This is about head {h} of size {size}, judging by what it found."
        other = _whose_values(evidence, case, h)
        if other is not None:
            return Finding(
                "other-weights",
                f"Head {h} averages the values of head {other}.",
                f"This is about heads of size {size}. The weights of head {h} are right, but it "
                "needs values of its own, `x @ value` with its own matrix.",
                SUBSPACES,
            )
        if weights is None:
            return _head_worked_out(evidence, case, h)
        scores, dims = products / size**0.5, _dims(evidence, case, size)
        shown = Weights(weights, scores, past_seen, dims, solved=True)
        what, effect = _like_another_head(evidence, case, h, weights) or shown.described()
        return Finding("other-weights", what, f"{begins} {effect}", AVERAGE)
    return None


def _whose_values(evidence: Evidence, case: str, h: int) -> int | None:
    """Another head whose values this one averages with its own, right weights, if there is one."""
    size, mine, _ = _by_head(evidence, case)[h]
    products, _ = _parts(evidence, case, h)
    if products.shape[-1] == 1:
        return None
    own = softmax(products / size**0.5, np.tril(np.ones(products.shape, dtype=bool)))
    for other, (width, _, _) in enumerate(_by_head(evidence, case)):
        if other == h or width != size:
            continue
        if np.allclose(own @ _parts(evidence, case, other)[1], mine, rtol=1e-4, atol=1e-4):
            return other
    return None


def _like_another_head(
    evidence: Evidence, case: str, h: int, mine: Array
) -> tuple[str, str] | None:
    """Two sentences on weights that are those of another head, or the mean of all heads'."""
    right = []
    for other, (size, _, _) in enumerate(_by_head(evidence, case)):
        products, _ = _parts(evidence, case, other)
        past_seen = np.tril(np.ones(products.shape, dtype=bool))
        right.append(softmax(products / size**0.5, past_seen))
    same = next((o for o, one in enumerate(right) if np.allclose(one, mine, atol=1e-3)), h)
    one, wanted = rows_beside(mine[0, -1], right[h][0, -1])
    row_of = f"{one} instead of {wanted}."
    if same != h:
        return (
            f"Head {h} has the weights of head {same}.",
            f"Its last row of sample 0 is {row_of} Each head needs queries and keys of its own.",
        )
    if len(right) > 1 and np.allclose(np.mean(right, axis=0), mine, atol=1e-3):
        return (
            "Your weights are the mean of the weights of all heads.",
            f"The last row of sample 0 is {row_of} Each head should use its own weights.",
        )
    return None


def _shown_by_the_outputs(evidence: Evidence) -> Finding | None:
    return _shown_by(evidence, surely=len(evidence.inputs["equal_x"]) > 1)


def _head_worked_out(evidence: Evidence, case: str, h: int) -> Finding:
    """One row of weights of a wrong head, from its scores to its output."""
    size, mine, right = _by_head(evidence, case)[h]
    b, t = (int(i) for i in np.argwhere(~close(mine, right))[0][:2])
    products, values = _parts(evidence, case, h)
    scores = products[b, t, : t + 1] / math.sqrt(size)
    powers = np.exp(scores - scores.max())
    one, other = rows_apart(mine[b, t], right[b, t])
    if values.shape[1] < size:
        none = f" No weights make this from the values of its text. {no_mixture(mine, right)}"
    else:
        none = ""
    before = " Heads before it are right." if h else ""
    return Finding(
        "other-weights",
        "What your heads find isn't the right average of the values.",
        f"Head {h} has size {size}.{before} Position {t} of sample {b} has the scores "
        f"{row(scores)} with what it may see, so its weights are {row(powers / powers.sum())}. "
        f"Its output should be {other}, but yours is {one}.{none}",
        SUBSPACES,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    return _shown_by(evidence, surely=False)


TASK = Task(
    "Heads of different sizes",
    concatenate,
    LIST,
    (
        Part("Heads of equal size are right, side by side.", 2, matches("equal", "low_equal")),
        Part("Heads of different sizes are right, too.", 2, matches("unequal", "low_unequal")),
    ),
    properties=(_in_other_channels, _divisors, _shown_by_the_outputs),
    examples=(_worked_out,),
    steps={
        "the triangle": Step("Row t sees positions 0 to t.", AVERAGE),
        "D": Step("A score is a sum of D products, so a head's own D sets its scale.", SUBSPACES),
        "the queries": Step("A query says what a position looks for.", SUBSPACES),
        "the keys": Step("A key says what a position has to offer.", SUBSPACES),
        "the values": Step("What a position passes on is its value.", SUBSPACES),
        "the scores": Step(
            "Row t holds the scores of query t with all keys. A sum of D products spreads with √D, "
            "so each head needs a scale of its own.",
            SUBSPACES,
        ),
        "the masked scores": Step(
            "−inf is below every score, and e to the power of −inf is exactly 0.", AVERAGE
        ),
        "the weights": Step("Each row is an average of its own, so it sums to 1.", AVERAGE),
        "what a head finds": Step("Row t of the weights mixes the values for output t.", AVERAGE),
        "your output": Step(
            "The channels of all heads are side by side, so the text gets wider and not longer."
        ),
    },
)
