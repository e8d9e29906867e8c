"""Judges 07/parameter-count: how many parameters a stack of blocks has, by formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from course_judges.ch07_block.sections import COUNT, TWO
from course_judges.judging import Evidence, Mistake, Part, Task, mistake
from course_judges.properties import integers
from course_judges.wording import results_by_name, unwrapped
from course_tasks.ch07_block.parameter_count import CONFIGURATIONS, COUNTED, SIZES, flags
from course_tasks.verdict import Finding, Section, Tells


@dataclass(frozen=True)
class Shape:
    """The sizes of one model, under one-letter names: N blocks, F hidden channels."""

    V: int
    T: int
    N: int
    H: int
    C: int
    F: int
    bias: bool
    tied: bool


def count_parameters(
    vocab_size: int,
    block_size: int,
    n_layer: int,
    n_head: int,
    n_embd: int,
    hidden: int,
    bias: bool,
    tied: bool,
) -> dict[str, int]:
    """Parameters of a language model of blocks, part by part."""
    return _parts(Shape(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied))


def _parts(s: Shape) -> dict[str, int]:
    counts = {
        "embeddings": (s.V + s.T) * s.C,
        "attention": s.N * (4 * s.C**2 + s.bias * s.C),
        "feed_forward": s.N * (2 * s.C * s.F + s.bias * (s.F + s.C)),
        "norms": (2 * s.N + 1) * (1 + s.bias) * s.C,
        "output": 0 if s.tied else s.V * s.C,
    }
    return {**counts, "total": sum(counts.values())}


def _but(**formulas: Callable[[Shape], int]) -> Callable[..., dict[str, int]]:
    """The right counts except for some parts, and the total that follows."""

    def answer(
        vocab_size: int,
        block_size: int,
        n_layer: int,
        n_head: int,
        n_embd: int,
        hidden: int,
        bias: bool,
        tied: bool,
    ) -> dict[str, int]:
        s = Shape(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied)
        counts = {**_parts(s), **{part: formula(s) for part, formula in formulas.items()}}
        del counts["total"]
        return {**counts, "total": sum(counts.values())}

    return answer


def _of(*parts: str) -> tuple[str, ...]:
    """The cases that hold these parts, in every configuration."""
    return tuple(f"{name}.{part}" for name in CONFIGURATIONS for part in parts)


def _exact(*cases: str) -> Callable[[Evidence], bool]:
    """True if all these counts are right to the last parameter; 280.0 is the number 280."""
    return lambda e: all(e.comparable(c) and bool(e.yours(c) == e.right(c)) for c in cases)


def _told(evidence: Evidence, part: str) -> str:
    """The first configuration in which a part is wrong: its settings, your count, the right one."""
    for name in CONFIGURATIONS:
        mine = evidence.yours(f"{name}.{part}").item()
        right = int(evidence.right(f"{name}.{part}"))
        if mine != right:
            sizes = {k: int(n) for k, n in zip(SIZES, evidence.inputs[name], strict=True)}
            told = ", ".join(f"{k} = {n}" for k, n in sizes.items())
            told += "".join(f", {k} = {v}" for k, v in flags(name, evidence.inputs).items())
            return f"With {told}, `{part}` is {right:,}, but you return {mine:,}."
    return ""


def _total_beside(evidence: Evidence) -> str:
    """Says that the totals are right although parts aren't; empty if they are wrong, too."""
    return "Your total is right. " if evidence.same(*_of("total")) else ""


def _counted_wrong(
    part: str,
    formula: Callable[[Shape], int],
    what: str,
    why: str = "",
    section: Section | None = None,
    also: tuple[Callable[[Shape], int], ...] = (),
) -> Mistake:
    def effect(evidence: Evidence) -> str:
        return f"{why} {_told(evidence, part)}".strip()

    others = tuple(_but(**{part: other}) for other in also)
    return mistake(what, effect, section, cases=_of(part), also=others)(_but(**{part: formula}))


def _no_whole_numbers(evidence: Evidence) -> Finding | None:
    """Counts that are right but aren't integers."""
    for name in CONFIGURATIONS:
        for part in COUNTED:
            count = f"{name}.{part}"
            mine, right = evidence.yours(count), evidence.right(count)
            if mine == right and not integers(evidence, count):
                return Finding(
                    "kind-of-number",
                    f"Your count of `{part}` isn't an integer.",
                    f"It is {float(mine):,.1f}. `/` returns a float even if there is no remainder, "
                    "but `//` returns an integer.",
                    COUNT,
                )
    return None


# A count may be too large or too small by one of these, taken once to four times.
_TERMS: dict[str, Callable[[Shape], int]] = {
    "n_layer · n_embd": lambda s: s.N * s.C,
    "n_embd": lambda s: s.C,
    "n_layer · (1 + bias) · n_embd": lambda s: s.N * (1 + s.bias) * s.C,
    "(1 + bias) · n_embd": lambda s: (1 + s.bias) * s.C,
    "(n_layer − 1) · n_embd": lambda s: (s.N - 1) * s.C,
    "n_layer · hidden": lambda s: s.N * s.F,
    "n_layer · (1 + bias) · hidden": lambda s: s.N * (1 + s.bias) * s.F,
    "block_size · n_embd / n_head": lambda s: s.T * s.C // s.H,
    "vocab_size · n_embd / n_head": lambda s: s.V * s.C // s.H,
    "hidden": lambda s: s.F,
    "n_layer · n_embd²": lambda s: s.N * s.C**2,
    "n_embd²": lambda s: s.C**2,
    "n_layer · n_embd · hidden": lambda s: s.N * s.C * s.F,
    "n_embd · hidden": lambda s: s.C * s.F,
    "n_layer": lambda s: s.N,
    "vocab_size": lambda s: s.V,
    "block_size": lambda s: s.T,
    "vocab_size · n_embd": lambda s: s.V * s.C,
    "block_size · n_embd": lambda s: s.T * s.C,
    "n_layer · block_size · n_embd": lambda s: s.N * s.T * s.C,
    "block_size²": lambda s: s.T**2,
    "n_layer · block_size²": lambda s: s.N * s.T**2,
    "block_size · vocab_size": lambda s: s.T * s.V,
    "block_size · vocab_size · n_embd": lambda s: s.T * s.V * s.C,
    "n_layer · vocab_size · n_embd": lambda s: s.N * s.V * s.C,
    "n_layer · hidden²": lambda s: s.N * s.F**2,
    "n_layer · n_head · n_embd²": lambda s: s.N * s.H * s.C**2,
    "n_layer · block_size": lambda s: s.N * s.T,
    "(n_layer − 1) · hidden": lambda s: (s.N - 1) * s.F,
    "n_layer · n_head · n_embd": lambda s: s.N * s.H * s.C,
    "n_layer · (n_head − 1) · n_embd": lambda s: s.N * (s.H - 1) * s.C,
    "(2 · n_layer + 1) · n_embd": lambda s: (2 * s.N + 1) * s.C,
    "(2 · n_layer + 1)": lambda s: 2 * s.N + 1,
    "n_layer · (hidden + n_embd)": lambda s: s.N * (s.F + s.C),
    "n_layer · n_embd² / n_head": lambda s: s.N * s.C * (s.C // s.H),
    "bias · n_layer · n_embd": lambda s: s.bias * s.N * s.C,
    "bias · n_layer · hidden": lambda s: s.bias * s.N * s.F,
    "bias · n_embd": lambda s: s.bias * s.C,
    "(1 + bias)": lambda s: 1 + s.bias,
    "bias": lambda s: int(s.bias),
    "1": lambda _: 1,
}

# What a part may have been computed with instead of what was given.
_INSTEAD: dict[str, Callable[[Shape], Shape]] = {
    "n_head = 1": lambda s: replace(s, H=1),
    "`hidden` = 4 · n_embd": lambda s: replace(s, F=4 * s.C),
    "4 · hidden instead of `hidden`": lambda s: replace(s, F=4 * s.F),
    "n_embd instead of `hidden`": lambda s: replace(s, F=s.C),
    "`hidden` instead of `n_embd`": lambda s: replace(s, C=s.F),
    "`n_embd` and `hidden` exchanged": lambda s: replace(s, C=s.F, F=s.C),
    "n_layer = 1": lambda s: replace(s, N=1),
    "n_layer + 1 instead of `n_layer`": lambda s: replace(s, N=s.N + 1),
    "n_layer − 1 instead of `n_layer`": lambda s: replace(s, N=s.N - 1),
    "2 · n_layer instead of `n_layer`": lambda s: replace(s, N=2 * s.N),
    "`vocab_size` instead of `block_size`": lambda s: replace(s, T=s.V),
    "`block_size` instead of `vocab_size`": lambda s: replace(s, V=s.T),
    "block_size + 1 instead of `block_size`": lambda s: replace(s, T=s.T + 1),
    "block_size − 1 instead of `block_size`": lambda s: replace(s, T=s.T - 1),
    "vocab_size + 1 instead of `vocab_size`": lambda s: replace(s, V=s.V + 1),
    "vocab_size − 1 instead of `vocab_size`": lambda s: replace(s, V=s.V - 1),
    "n_embd / n_head instead of `n_embd`": lambda s: replace(s, C=s.C // s.H),
    "`bias` always True": lambda s: replace(s, bias=True),
    "`bias` always False": lambda s: replace(s, bias=False),
    "`bias` the wrong way round": lambda s: replace(s, bias=not s.bias),
    "`tied` always True": lambda s: replace(s, tied=True),
    "`tied` always False": lambda s: replace(s, tied=False),
    "`tied` the wrong way round": lambda s: replace(s, tied=not s.tied),
    "`tied` instead of `bias`": lambda s: replace(s, bias=s.tied),
    "`bias` instead of `tied`": lambda s: replace(s, tied=s.bias),
}

_WHERE: tuple[tuple[str, Callable[[Shape], bool]], ...] = (
    ("", lambda _: True),
    (" when `bias` is True", lambda s: s.bias),
    (" when `bias` is False", lambda s: not s.bias),
    (" when `tied` is True", lambda s: s.tied),
    (" when `tied` is False", lambda s: not s.tied),
)


# A count may be the right one times one of these factors.
_FACTORS: dict[str, Callable[[Shape], float]] = {
    "n_layer": lambda s: s.N,
    "1 / n_layer": lambda s: 1 / s.N,
    "n_head": lambda s: s.H,
    "1 / n_head": lambda s: 1 / s.H,
    "n_embd": lambda s: s.C,
    "1 / n_embd": lambda s: 1 / s.C,
    "block_size": lambda s: s.T,
    "hidden": lambda s: s.F,
    "n_layer · n_head": lambda s: s.N * s.H,
    "2": lambda _: 2,
    "3": lambda _: 3,
    "4": lambda _: 4,
    "1 / 2": lambda _: 1 / 2,
}


# Fewer than this, the same number everywhere, is no product of sizes.
_FEW = 5


def _shapes(evidence: Evidence) -> list[Shape]:
    """The sizes of all configurations."""
    shapes = []
    for name in CONFIGURATIONS:
        V, T, N, H, C, F = (int(n) for n in evidence.inputs[name])
        shapes.append(Shape(V, T, N, H, C, F, **flags(name, evidence.inputs)))
    return shapes


def _computed_with(evidence: Evidence, part: str) -> str:
    """With what other sizes or flags the count of a part would be the student's."""
    mine = [evidence.yours(f"{name}.{part}").item() for name in CONFIGURATIONS]
    shapes = _shapes(evidence)
    return next(
        (
            words
            for words, change in _INSTEAD.items()
            if [_parts(change(shape))[part] for shape in shapes] == mine
        ),
        "",
    )


def _as_it_is(shapes: Sequence[Shape], mine: Sequence[float]) -> str:
    """A product, or the sum of two, that gives these counts in all configurations."""
    amounts = [
        (f"{times} · {term}" if times > 1 else term, [times * of(shape) for shape in shapes])
        for term, of in _TERMS.items()
        for times in range(1, 9)
    ]
    one = next((words for words, amount in amounts if amount == list(mine)), "")
    two = _two_terms(amounts, list(mine))
    return one or (f"{two[0]} {two[1]} {two[2]}" if two and two[1] != "−+" else "")


def _by_how_much(evidence: Evidence, mine: Sequence[float], right: Sequence[int]) -> str:
    """By how much a count is off, and in which configurations; empty if neither a term, nor two of
    them, nor a factor explains it.
    """
    shapes = _shapes(evidence)
    gaps = [one - other for one, other in zip(mine, right, strict=True)]
    wrong = [(shape, gap) for shape, gap in zip(shapes, gaps, strict=True) if gap]
    biases = {shape.bias for shape, _ in wrong}
    amounts = [
        (f"{times} · {term}" if times > 1 else term, [times * of(shape) for shape, _ in wrong])
        for term, of in _TERMS.items()
        for times in range(1, 5)
        if term != "1" and ("bias" not in term or len(biases) > 1)
    ]
    off = [gap for _, gap in wrong]
    said = [words for words, amount in amounts if amount == [abs(gap) for gap in off]]
    where = next(
        (
            words
            for words, holds in _WHERE
            if [holds(shape) for shape in shapes] == [gap != 0 for gap in gaps]
        ),
        "",
    )
    signs = {gap > 0 for gap in off}
    more = "large" if signs == {True} else "small"
    if len(wrong) == 1:  # many terms may equal a single number by chance
        simple = [words for words in said if not words[0].isdigit()] or said
        besides = " and ".join(simple[:2])
        equal = f", which equals {besides} there" if said else ""
        return f"too {more}{where} by {abs(off[0]):,}{equal}" if where else ""
    if len(set(off)) == 1 and abs(off[0]) < _FEW:
        return f"too {more} by {abs(off[0]):g}{where}"
    if len(signs) == 1 and said:
        besides = f", which here also equals {said[1]}" if len(said) > 1 else ""
        return f"too {more} by {said[0]}{where}{besides}"
    if len(wrong) > 2:
        factor = next(
            (
                words
                for words, of in _FACTORS.items()
                if all(
                    one == of(shape) * other
                    for one, other, shape in zip(mine, right, shapes, strict=True)
                    if one != other
                )
            ),
            "",
        )
        if factor:
            return f"{factor} times what it should be{where}"
        two = _two_terms(amounts, off)
        if two:
            one, between, other = two
            if between == "−":
                return f"too large by {one}, but too small by {other}{where}"
            return f"too {'large' if between == '+' else 'small'} by {one} + {other}{where}"
        given = _as_it_is(shapes, mine)
        if given:
            return f"{given} instead of the right formula"
    if len(signs) > 1:
        return ""
    return f"too {more}{where or ' in every configuration'}" if where or len(wrong) == 4 else ""


def _two_terms(
    amounts: list[tuple[str, list[int]]], wanted: list[float]
) -> tuple[str, str, str] | None:
    """The simplest two terms that make these numbers, and between them "+" for their sum, "−" for
    their difference or "−+" for the negative of their sum; None if there are none, or more than one
    pair that is equally simple.
    """
    found: dict[tuple[str, str, str], int] = {}
    known: dict[tuple[float, ...], list[str]] = {}
    for words, amount in amounts:
        known.setdefault(tuple(amount), []).append(words)
    for words, amount in amounts:
        for sign in (1, -1):
            left = tuple(gap - sign * one for gap, one in zip(wanted, amount, strict=True))
            for other in known.get(left, []) if sign > 0 else []:
                one, two = sorted((words, other))
                found[one, "+", two] = _multiples(one, two)
            for other in known.get(tuple(-one for one in left), []):
                if sign > 0:
                    found[words, "−", other] = _multiples(words, other)
                else:
                    one, two = sorted((words, other))
                    found[one, "−+", two] = _multiples(one, two)
    simplest = [terms for terms, times in found.items() if times == min(found.values())]
    return simplest[0] if len(simplest) == 1 else None


def _multiples(*terms: str) -> int:
    """How many times the terms are taken in total."""
    return sum(int(term[0]) if term[0].isdigit() else 1 for term in terms)


def _weighted_total(evidence: Evidence) -> str:
    """A sentence on how often each part is counted in the total; empty if no such sum is known, or
    if only one part is counted otherwise.
    """
    shapes, names = _shapes(evidence), COUNTED[:-1]
    held = [[evidence.yours(f"{c}.{part}").item() for part in names] for c in CONFIGURATIONS]
    totals = [evidence.yours(f"{c}.total").item() for c in CONFIGURATIONS]
    for often in product((1, 0, 2, -1, "n_layer"), repeat=len(names)):
        sums = [
            sum((s.N if n == "n_layer" else n) * one for n, one in zip(often, row, strict=True))
            for s, row in zip(shapes, held, strict=True)
        ]
        if sums != totals:
            continue
        told = {n: [p for p, m in zip(names, often, strict=True) if m == n] for n in set(often)}
        told.pop(1, None)
        if sum(map(len, told.values())) < 2:
            return ""
        words = {0: "leaves out", 2: "counts twice", -1: "subtracts", "n_layer": "multiplies"}
        said = [
            f"{words[n]} {results_by_name(parts)}" + (" by `n_layer`" if n == "n_layer" else "")
            for n, parts in told.items()
        ]
        return f"Your total {', and '.join(said)}."
    return ""


def _total_is_not_the_sum(evidence: Evidence) -> Finding | None:
    off: list[dict[str, float]] = []  # total and parts, where the total isn't the sum
    for name in CONFIGURATIONS:
        held = {part: evidence.yours(f"{name}.{part}").item() for part in COUNTED}
        if 2 * held["total"] != sum(held.values()):
            off.append(held)
    if not off:
        return None
    sums = [
        sum(evidence.yours(f"{name}.{part}").item() for part in COUNTED[:-1])
        for name in CONFIGURATIONS
    ]
    totals = [evidence.yours(f"{name}.total").item() for name in CONFIGURATIONS]
    how = _by_how_much(evidence, totals, sums)
    what = "Your total is not the sum of your parts" + (f": it is {how}." if how else ".")
    for part in COUNTED[:-1]:
        gaps = [2 * held["total"] - sum(held.values()) for held in off]
        for factor, word in ((-1, "leaves out"), (1, "counts twice"), (-2, "subtracts")):
            if all(gap == factor * held[part] for gap, held in zip(gaps, off, strict=True)):
                what = f"Your total {word} `{part}`."
    what = _weighted_total(evidence) or what
    parts = sum(off[0].values()) - off[0]["total"]
    return Finding(
        "total-is-not-the-sum",
        what,
        f"Your parts add up to {parts:,}, but your total is {off[0]['total']:,}.",
        COUNT,
    )


def _of_a_part(evidence: Evidence, part: str) -> str:
    """By how much the count of a part is off."""
    counts = [
        [held(f"{name}.{part}").item() for name in CONFIGURATIONS]
        for held in (evidence.yours, evidence.right)
    ]
    return _by_how_much(evidence, *counts)


def _one_part_is_off(evidence: Evidence) -> Finding | None:
    for part in COUNTED[:-1]:
        if _exact(*_of(part))(evidence):
            continue
        other = _computed_with(evidence, part)
        how = f"what it would be with {other}" if other else _of_a_part(evidence, part) or "wrong"
        return Finding(
            f"miscounted-{part.replace('_', '-')}",
            f"Your count of `{part}` is {how}.",
            _told(evidence, part),
            COUNT,
            tells=Tells.CAUSE if other else Tells.PLACE,
        )
    return None


_heads_multiply = _counted_wrong(
    "attention",
    lambda s: s.N * ((3 * s.H + 1) * s.C**2 + s.bias * s.C),
    "You gave every head C channels, but a head has C / H.",
    "H heads with C · C / H weights each have C² together, so the number of heads cancels.",
    also=(
        lambda s: s.N * (4 * s.H * s.C**2 + s.bias * s.C),
        lambda s: s.N * s.H * (4 * s.C**2 + s.bias * s.C),
        lambda s: s.N * (4 * s.H * s.C**2 + s.bias * s.H * s.C),
    ),
)

_no_output_projection = _counted_wrong(
    "attention",
    lambda s: s.N * 3 * s.C**2,
    "You left out the projection after the heads.",
    "It has C² weights, and a bias with C entries if `bias` is True.",
)

_bias_on_every_layer = _counted_wrong(
    "attention",
    lambda s: s.N * (4 * s.C**2 + 4 * s.bias * s.C),
    "You gave queries, keys and values a bias, but only the projection has one.",
)

_one_head_only = _counted_wrong(
    "attention",
    lambda s: s.N * (3 * s.C * (s.C // s.H) + s.C**2 + s.bias * s.C),
    "You counted the queries, keys and values of one head only, but there are `n_head` heads.",
)

_mask_counted = _counted_wrong(
    "attention",
    lambda s: s.N * (4 * s.C**2 + s.bias * s.C + s.H * s.T**2),
    "You counted the causal masks, but they are fixed and not learned.",
    "No parameter of attention depends on the length of the context.",
)

_projection_bias_of_one_block = _counted_wrong(
    "attention",
    lambda s: s.N * 4 * s.C**2 + s.bias * s.C,
    "You counted the projection's bias of one block only, but each of the `n_layer` has its own.",
)

_projection_bias_of_every_head = _counted_wrong(
    "attention",
    lambda s: s.N * (4 * s.C**2 + s.bias * s.H * s.C),
    "You counted the projection's bias once per head, but all heads share one with C entries.",
)

_both_biases_hidden = _counted_wrong(
    "feed_forward",
    lambda s: s.N * (2 * s.C * s.F + s.bias * 2 * s.F),
    "You gave both biases `hidden` entries, but a bias is as long as its layer's output.",
)

_width_as_a_multiple = _counted_wrong(
    "feed_forward",
    lambda s: s.N * (2 * (s.F // s.C) * s.C**2 + s.bias * (s.F // s.C + 1) * s.C),
    "You assumed that `hidden` is a multiple of C, but it can be any number.",
)

_one_layer_of_two = _counted_wrong(
    "feed_forward",
    lambda s: s.N * (s.C * s.F + s.bias * s.F),
    "You left out the layer from `hidden` back to C.",
)

_biases_of_one_block = _counted_wrong(
    "feed_forward",
    lambda s: s.N * 2 * s.C * s.F + s.bias * (s.F + s.C),
    "You counted the biases of one block only, but each of the `n_layer` has its own.",
)

_same_bias_twice = _counted_wrong(
    "feed_forward",
    lambda s: s.N * (2 * s.C * s.F + s.bias * 2 * s.C),
    "You gave both biases C entries, but a bias is as long as its layer's output.",
)

_one_norm_for_two = _counted_wrong(
    "norms",
    lambda s: (s.N + 1) * (1 + s.bias) * s.C,
    "You counted one norm per block, but each of the two branches has its own.",
    section=TWO,
)

_no_final_norm = _counted_wrong(
    "norms", lambda s: 2 * s.N * (1 + s.bias) * s.C, "You left out the norm after the last block."
)

_final_norm_without_shift = _counted_wrong(
    "norms",
    lambda s: 2 * s.N * (1 + s.bias) * s.C + s.C,
    "You left out the shift of the norm after the last block, which has one like the others.",
)

_no_gains_without_bias = _counted_wrong(
    "norms",
    lambda s: (2 * s.N + 1) * 2 * s.C * s.bias,
    "You didn't count the norms when `bias` is False, but a norm always has a gain.",
)

_final_shift_alone = _counted_wrong(
    "norms",
    lambda s: 2 * s.N * s.C + (1 + s.bias) * s.C,
    "You counted a shift only for the norm after the last block, but the others have one, too.",
)

_norm_per_position = _counted_wrong(
    "norms",
    lambda s: (2 * s.N + 1) * (1 + s.bias) * s.T * s.C,
    "You gave each norm a separate gain for every position, but all positions share one.",
)

_positions_forgotten = _counted_wrong(
    "embeddings",
    lambda s: s.V * s.C,
    "You left out the table of positions.",
    "It has `block_size` rows with C entries each.",
)

_shared_table_in_the_output = mistake(
    "With tied weights you count the shared table in `output` instead of `embeddings`.",
    lambda e: unwrapped(f"""The output layer then has no table of its own. The table of tokens
    counts as `embeddings`, and `output` is 0. {_total_beside(e)}{_told(e, "embeddings")}"""),
    cases=_of("embeddings", "output"),
)(
    _but(
        embeddings=lambda s: (s.T + (not s.tied) * s.V) * s.C,
        output=lambda s: s.V * s.C,
    )
)

_tied_counted_twice = mistake(
    "With tied weights you count the table of tokens in `output` as well as in `embeddings`.",
    lambda e: f"The output layer has no table of its own then. {_told(e, 'output')}",
    cases=_of("embeddings", "output"),
)(_but(output=lambda s: s.V * s.C))

_output_with_bias = _counted_wrong(
    "output",
    lambda s: 0 if s.tied else s.V * s.C + s.bias * s.V,
    "You gave the output layer a bias, but it has none here.",
)


TASK = Task(
    "Parameters by formula",
    count_parameters,
    COUNT,
    (
        Part("Attention is right for any number of heads.", 1, _exact(*_of("attention"))),
        Part("So is a feed-forward network of any width.", 1, _exact(*_of("feed_forward"))),
        Part("So are the norms, with and without a shift.", 1, _exact(*_of("norms"))),
        Part(
            "So are embeddings, output and total, tied or not.",
            1,
            lambda e: (
                _exact(*_of("embeddings", "output", "total"))(e)
                and integers(e, *(f"{name}.{part}" for name in CONFIGURATIONS for part in COUNTED))
            ),
        ),
    ),
    properties=(_no_whole_numbers, _one_part_is_off, _total_is_not_the_sum),
)
