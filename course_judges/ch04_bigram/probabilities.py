"""Judges 04/probabilities: a table of what follows what, counted and smoothed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families, wording
from course_judges.ch04_bigram.outcomes import words
from course_judges.ch04_bigram.sections import COUNTING, SHARES, UNSEEN
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import number, numbers_apart, unwrapped
from course_judges.wrong_arrays.comparisons import compared
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def bigram_probabilities(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    """Add-k estimate of P(next | current), (V, V)."""
    counts = _counts_of(tokens, vocab_size)  # the counts (V, V)
    smoothed = counts + k  # the counts with k (V, V)
    sums = smoothed.sum(dim=1, keepdim=True)  # the sums of the rows (V, 1)
    return smoothed / sums  # your table (V, V)


def _pair_counts(current: Tensor, following: Tensor, V: int) -> Tensor:
    pairs = current.flatten() * V + following.flatten()  # (B·(T−1),)
    return torch.bincount(pairs, minlength=V * V).view(V, V).double()


def _shares(counts: Tensor) -> Tensor:
    return counts / counts.sum(dim=1, keepdim=True)


def _counts_of(tokens: Tensor, V: int) -> Tensor:
    return _pair_counts(tokens[:, :-1], tokens[:, 1:], V)


def _seen_rows_are(smoothed: Callable[[Array, float], Array]) -> Callable[[Evidence], bool]:
    """Compares only the rows of symbols that are followed by something, because answers handle
    the 0 / 0 of the others in different ways.
    """

    def recognized(evidence: Evidence) -> bool:
        counts = _counts_of(torch.from_numpy(evidence.inputs["sparse"]), evidence.number("V"))
        seen = counts.numpy().sum(axis=1) > 0
        return evidence.same("counted") and all(
            np.allclose(
                evidence.yours(case)[seen],
                smoothed(counts.numpy()[seen], float(evidence.inputs[k])),
                atol=1e-5,
            )
            for case, k in (("smoothed", "k"), ("little", "small_k"))
        )

    return recognized


def _row_sum(evidence: Evidence, case: str = "counted") -> str:
    sums = evidence.yours(case).sum(axis=1)
    row = int(np.argmax(np.nan_to_num(np.abs(sums - 1), nan=np.inf)))
    total, _ = numbers_apart(float(sums[row]), 1)
    return unwrapped(f"""Row {row} of your table sums to {total}, but the probabilities of all
    symbols that may follow must sum to 1.""")


def _busiest(evidence: Evidence) -> tuple[int, int, int]:
    """The pair that occurs most often in the complete text, and how often."""
    counts = _counts_of(torch.from_numpy(evidence.inputs["complete"]), evidence.number("V")).numpy()
    i, j = (int(n) for n in np.unravel_index(int(counts.argmax()), counts.shape))
    return i, j, int(counts[i, j])


def _farthest_off(mine: Array, right: Array) -> tuple[int, int]:
    """The place of the largest finite difference between two tables."""
    off = np.abs(mine - right)
    i, j = np.unravel_index(int(np.where(np.isfinite(off), off, -1).argmax()), off.shape)
    return int(i), int(j)


def _farthest_entry(evidence: Evidence) -> str:
    mine, right = evidence.yours("counted"), evidence.right("counted")
    i, j = _farthest_off(mine, right)
    return unwrapped(f"""For symbol {j} after symbol {i} you have {number(mine[i, j])} instead of
    {number(right[i, j])}.""")


def _k_effect(evidence: Evidence) -> str:
    k, V = float(evidence.inputs["k"]), evidence.number("V")
    sums = evidence.yours("smoothed").sum(axis=1)
    row = int(np.argmax(np.where(np.isfinite(sums), np.abs(sums - 1), 0.0)))
    return unwrapped(f"""With k = {k:g} and V = {V}, row {row} of your table sums to
    {sums[row]:.3g}. Together the numerators of a row gain V · k = {V * k:g}, so its denominator
    must gain as much.""")


def _unseen_row(evidence: Evidence) -> str:
    unseen = int(evidence.inputs["sparse"][0, -1])
    V = evidence.number("V")
    values = evidence.yours("smoothed")[unseen]
    k = float(evidence.inputs["k"])
    return unwrapped(f"""In the texts with k = {k:g} nothing ever follows symbol {unseen}. Your row
    for it holds {number(values[0])}, but every entry should be k / (V · k) = 1 / {V}.""")


def _row_at_k(evidence: Evidence) -> str:
    return _share_worked_out(evidence, "smoothed", "sparse", float(evidence.inputs["k"]))


def _share_worked_out(evidence: Evidence, case: str, tokens: str, k: float) -> str:
    """From the counts to the entry that is farthest off in a table, beside yours."""
    mine, right, V = evidence.yours(case), evidence.right(case), evidence.number("V")
    i, j = _farthest_off(mine, right)
    counts = _counts_of(torch.from_numpy(evidence.inputs[tokens]), V).numpy()
    pair, all_of_them = int(counts[i, j]), int(counts[i].sum())
    share = f"({pair} + {k:g}) / ({all_of_them} + {V} · {k:g})" if k else f"{pair} / {all_of_them}"
    return unwrapped(f"""Symbol {j} follows symbol {i} in {pair} of {all_of_them} cases. With k =
    {k:g} that makes {share} = {number(right[i, j])}, but you have {number(mine[i, j])}.""")


# The cases, each with the input that holds its texts and the one that holds its k.
_ASKED = {
    "counted": ("complete", ""),
    "smoothed": ("sparse", "k"),
    "little": ("sparse", "small_k"),
    "larger": ("few", "k"),
}


def _counted(evidence: Evidence, case: str) -> tuple[Array, float]:
    """(V, V) the counts of a case, and its k."""
    texts, k = _ASKED[case]
    V = evidence.right(case).shape[0]
    counts = _counts_of(torch.from_numpy(evidence.inputs[texts]), V).numpy()
    return counts, float(evidence.inputs[k]) if k else 0.0


def _first_wrong(evidence: Evidence) -> str:
    """The first case with a wrong table of the right shape; empty if there is none."""
    wrong = (case for case in _ASKED if not evidence.same(case) and evidence.comparable(case))
    return next(wrong, "")


def _divided_by(evidence: Evidence) -> Finding | None:
    """Each row is the right row of counts, divided by something else than its sum."""
    case = _first_wrong(evidence)
    counts, k = _counted(evidence, case)
    rows, mine = counts + k, evidence.yours(case).astype(np.float64)
    sums = mine.sum(axis=1)
    kept = (rows.sum(axis=1) > 0) & (sums > 0)
    # What each row is divided by, if it is divided at all.
    by = np.divide(rows.sum(axis=1), sums, where=kept, out=np.ones_like(sums))
    if not np.allclose(mine[kept], rows[kept] / by[kept, None], rtol=1e-4, atol=1e-6):
        return None
    off = kept & ~np.isclose(by, rows.sum(axis=1), rtol=1e-4)
    if not off.any():
        return None
    i = int(np.flatnonzero(off)[0])
    said = next(
        (
            f", {what}"
            for what, values in (
                ("the largest of them", rows.max(axis=1)),
                ("the number of all pairs", np.full(len(rows), counts.sum())),
            )
            if np.allclose(by[kept], values[kept], rtol=1e-4)
        ),
        "",
    )
    return Finding(
        "another-denominator",
        "You don't divide each row of counts by its sum.",
        f"With k = {k:g}, row {i} of the counts is {wording.row(rows[i], 3)}, which sums to "
        f"{number(rows[i].sum())}. Yours is this row divided by {number(by[i])}{said}.",
        SHARES if not k else UNSEEN,
    )


def _rows_are_no_distributions(evidence: Evidence) -> Finding | None:
    for case, section in (
        ("counted", SHARES),
        ("smoothed", UNSEEN),
        ("little", UNSEEN),
        ("larger", UNSEEN),
    ):
        if not np.allclose(evidence.yours(case).sum(axis=1), 1, atol=1e-4):
            return Finding(
                "rows-do-not-sum-to-one",
                "Your rows aren't probability distributions.",
                _row_sum(evidence, case),
                section,
            )
    return None


# Said of mistakes that only show with k > 0.
_UNNOTICED = "With k = 0 you wouldn't notice."


def _pairs_there_are(evidence: Evidence) -> str:
    B, T = evidence.number("B"), evidence.number("T")
    return f"{B} texts of {T} symbols have {B} · {T - 1} = {B * (T - 1)} pairs"


_transposed_counts = mistake(
    "Your table is transposed, with the next symbols in its rows instead of its columns.",
    _farthest_entry,
    COUNTING,
)(Like("transposed-the-counts"))

_divides_columns = families.divides_columns(
    lambda e: unwrapped(f"""Your columns sum to 1, so they say how often each symbol comes before a
    given one. {_row_sum(e)}""")
)(Like("used-axis-minus-2-instead-of-axis-1-for-the-sum-in-the-sums-of-the-rows"))

_keepdim_forgotten = families.keepdim_forgotten(
    lambda e: unwrapped(f"""`counts.sum(1)` has shape ({e.number("V")},), and broadcasting takes
    that for a row. {_row_sum(e)}""")
)(Like("left-out-keepdim-for-the-sum-in-the-sums-of-the-rows"))


@mistake(
    "You also counted the pairs of the last symbol of one text and the first of the next.",
    lambda e: f"{_pairs_there_are(e)}, but one long row has {e.number('B') * e.number('T') - 1}.",
    COUNTING,
)
def _pairs_across_rows(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    line = tokens.flatten()  # (B·T,)
    return _shares(_pair_counts(line[:-1], line[1:], vocab_size) + k)


def _pairs_in_a_row(evidence: Evidence) -> str:
    T = evidence.number("T")
    return f"A row of T = {T} symbols holds T − 1 = {T - 1} pairs, but you counted {T - 2} of them."


_last_pair_left_out = mistake(
    "You didn't count the last pair of each row.",
    _pairs_in_a_row,
    COUNTING,
)(lambda tokens, vocab_size, k: bigram_probabilities(tokens[:, :-1], vocab_size, k))

_first_pair_left_out = mistake(
    "You didn't count the first pair of each row.",
    _pairs_in_a_row,
    COUNTING,
)(lambda tokens, vocab_size, k: bigram_probabilities(tokens[:, 1:], vocab_size, k))


_pairs_down_the_columns = mistake(
    "You paired each symbol with the one below it, which belongs to the next text.",
    lambda e: unwrapped(f"""`tokens[:-1]` and `tokens[1:]` leave out a row, which is a whole text,
    while `tokens[:, :-1]` and `tokens[:, 1:]` leave out one position of each text.
    {_farthest_entry(e)}"""),
    COUNTING,
)(lambda tokens, V, k: _shares(_pair_counts(tokens[:-1], tokens[1:], V) + k))


_one_text_only = mistake(
    "You counted pairs in only one of the texts, but all rows of `tokens` count.",
    lambda e: unwrapped(f"""{_pairs_there_are(e)}, but one text has only {e.number("T") - 1}.
    {_farthest_entry(e)}"""),
    COUNTING,
)(lambda tokens, vocab_size, k: bigram_probabilities(tokens[:1], vocab_size, k))

_last_text_left_out = mistake(
    "You didn't count the pairs of the last text.",
    lambda e: f"{_pairs_there_are(e)}. {_farthest_entry(e)}",
    COUNTING,
    also=(lambda tokens, V, k: bigram_probabilities(tokens[:-1], V, k).nan_to_num(0.0),),
)(lambda tokens, vocab_size, k: bigram_probabilities(tokens[:-1], vocab_size, k))

_both_directions = mistake(
    "You counted each pair in both directions, but only the later symbol follows the other.",
    _farthest_entry,
    COUNTING,
)(
    lambda tokens, vocab_size, k: _shares(
        _counts_of(tokens, vocab_size) + _counts_of(tokens, vocab_size).T + k
    )
)


def _tables(tokens: Tensor, V: int, k: float) -> Tensor:
    """(B, V, V) a table for each text."""
    return torch.stack([bigram_probabilities(text[None], V, k) for text in tokens])


_mean_over_texts = mistake(
    "You took the mean of one table for each text instead of counting in all texts together.",
    lambda e: unwrapped(f"""That way, a text in which a symbol occurs once counts as much for its
    row as a text in which it occurs often. A text without the symbol counts too, with 1 / V in each
    column, or with 0 / 0 if k = 0. {_farthest_entry(e)}"""),
    COUNTING,
    cases=("counted", "smoothed"),
    also=(lambda tokens, V, k: _tables(tokens, V, k).nan_to_num().mean(dim=0),),
)(lambda tokens, V, k: _tables(tokens, V, k).mean(dim=0))


def _round_and_round(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _shares(_pair_counts(tokens, tokens.roll(-1, dims=1), vocab_size) + k)


_end_before_beginning = mistake(
    "You also counted a pair of the last symbol of each text and its own first one.",
    lambda e: unwrapped(f"""{_pairs_there_are(e)}, but you counted {e.number("B")} more. The first
    text ends with symbol {e.inputs["complete"][0, -1]} and begins with symbol
    {e.inputs["complete"][0, 0]}, which doesn't follow it. `roll` makes such a pair, and so does an
    index of −1, which is the last position."""),
    COUNTING,
)(_round_and_round)


@mistake(
    "Your counts don't fill a table of V rows and V columns.",
    lambda e: unwrapped(f"""The error says: “{words(e, "larger")}”. If you use `bincount`, it stops
    at the largest number that occurs, so pass `minlength=vocab_size**2` to get a count for each
    pair."""),
    COUNTING,
    recognized=lambda e: "invalid for input of size" in e.answers.errors["larger"].message,
)
def _without_minlength(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    pairs = tokens[:, :-1] * vocab_size + tokens[:, 1:]
    return _shares(torch.bincount(pairs.flatten()).view(vocab_size, vocab_size) + k)


_pairs_two_apart = mistake(
    "You counted pairs that are two steps apart instead of one.",
    _farthest_entry,
    COUNTING,
)(lambda tokens, V, k: _shares(_pair_counts(tokens[:, :-2], tokens[:, 2:], V) + k))

_another_k = mistake(
    "You added 1 to every count, whatever `k` says.",
    lambda e: f"With k = 0, nothing should be added. {_farthest_entry(e)}",
    UNSEEN,
)(lambda tokens, vocab_size, k: bigram_probabilities(tokens, vocab_size, 1.0))  # noqa: ARG005

_softmax_of_counts = mistake(
    "You took the softmax of the counts instead of dividing each count by the sum of its row.",
    lambda e: unwrapped(f"""Raising e to the power of a count makes frequent pairs far too likely,
    and a pair that never occurs still gets e⁰ = 1. {_farthest_entry(e)}"""),
)(Like("applied-a-softmax-to-the-counts-with-k"))


@mistake(
    "Your table says how often each symbol occurs, whatever symbol comes before it.",
    lambda e: f"All its rows are the same. {_farthest_entry(e)}",
    SHARES,
    cases=("counted",),
)
def _current_ignored(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = torch.bincount(tokens.flatten(), minlength=vocab_size) + k
    return (counts / counts.sum()).expand(vocab_size, -1)


@mistake(
    "You paired every symbol with itself instead of the one after it.",
    lambda e: unwrapped(f"""Without smoothing your table has
    {np.diag(e.yours("counted")).mean():.2g} on the diagonal and 0 elsewhere."""),
    COUNTING,
)
def _unshifted_targets(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _shares(_pair_counts(tokens, tokens, vocab_size) + k)


@mistake(
    "You counted each pair only once, however often it occurs.",
    lambda e: unwrapped(f"""{"The pair ({}, {}) occurs {} times here.".format(*_busiest(e))} If you
    use `counts[i, j] += 1` with index tensors, it adds 1 to each distinct place, however often the
    place is indexed."""),
    COUNTING,
)
def _lost_repeats(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = torch.zeros(vocab_size, vocab_size, dtype=torch.float64)
    counts[tokens[:, :-1], tokens[:, 1:]] += 1
    return _shares(counts + k)


@mistake(
    "You divided by how often each symbol occurs, even at the end of a row.",
    lambda e: unwrapped(f"""{_row_sum(e)} Nothing follows the last symbol of a row, so divide by how
    often a symbol is followed by another, which is the sum of its row of counts."""),
    cases=("counted",),
)
def _divides_by_occurrences(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    occurrences = torch.bincount(tokens.flatten(), minlength=vocab_size)[:, None]
    return (_counts_of(tokens, vocab_size) + k) / (occurrences + vocab_size * k)


@mistake(
    "You added V to the denominator, as for k = 1, instead of V · k.",
    _k_effect,
    UNSEEN,
    cases=("smoothed", "little"),
)
def _denominator_of_one(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size)
    return (counts + k) / (counts.sum(dim=1, keepdim=True) + vocab_size)


_k_for_each_text = mistake(
    "You added `k` once for each text, but it belongs to each count only once.",
    lambda e: (
        f"With {e.number('B')} texts, every count grows by {e.number('B')} · k. {_row_at_k(e)}"
    ),
    UNSEEN,
)(lambda tokens, vocab_size, k: bigram_probabilities(tokens, vocab_size, k * len(tokens)))


@mistake("You added `k` to the denominator once, but to V counts in the row.", _k_effect, UNSEEN)
def _denominator_without_V(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size)
    return (counts + k) / (counts.sum(dim=1, keepdim=True) + k)


@mistake(
    "You added `k` to every count, but divided by the sums without it.",
    _k_effect,
    UNSEEN,
    recognized=_seen_rows_are(lambda n, k: (n + k) / n.sum(1, keepdims=True)),
)
def _denominator_not_smoothed(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size)
    return (counts + k) / counts.sum(dim=1, keepdim=True)


@mistake(
    "You don't use `k`.",
    _unseen_row,
    UNSEEN,
    recognized=_seen_rows_are(lambda n, _: n / n.sum(1, keepdims=True)),
)
def _no_smoothing(tokens: Tensor, vocab_size: int, k: float) -> Tensor:  # noqa: ARG001
    return _shares(_counts_of(tokens, vocab_size))


@mistake(
    "You replaced zeros by `k` instead of adding `k` to every count.",
    lambda e: f"{_row_at_k(e)} {_UNNOTICED}",
    UNSEEN,
    cases=("counted", "smoothed", "little"),
)
def _k_for_zeros_only(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size)
    return _shares(torch.where(counts == 0, k, counts))


@mistake(
    "You added `k` only to counts above 0, but it belongs to every count.",
    lambda e: f"{_row_at_k(e)} {_UNNOTICED}",
    UNSEEN,
    recognized=_seen_rows_are(
        lambda n, k: (n + k * (n > 0)) / (n + k * (n > 0)).sum(1, keepdims=True)
    ),
)
def _k_where_counted(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size)
    return _shares(torch.where(counts > 0, counts + k, counts))


@mistake(
    "You used `k` as a lower limit for the counts instead of adding it to every count.",
    lambda e: f"{_row_at_k(e)} {_UNNOTICED}",
    UNSEEN,
)
def _k_as_least_count(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _shares(_counts_of(tokens, vocab_size).clamp(min=k))


_k_shared_out = mistake(
    "You added k / V to every count, but each count should grow by `k` itself.",
    lambda e: f"{_row_at_k(e)} {_UNNOTICED}",
    UNSEEN,
)(lambda tokens, vocab_size, k: bigram_probabilities(tokens, vocab_size, k / vocab_size))


@mistake(
    "You cut `k` to a whole number.",
    lambda e: unwrapped(f"""With k = {float(e.inputs["k"]):g} your shares are those of k =
    {int(e.inputs["k"])}, and with k = {float(e.inputs["small_k"]):g} nothing is added. Because `k`
    may be a fraction, the counts have to be floats before you add it."""),
    UNSEEN,
    recognized=_seen_rows_are(lambda n, k: (n + int(k)) / (n + int(k)).sum(1, keepdims=True)),
)
def _whole_part_of_k(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size) + int(k)
    return counts / counts.sum(dim=1, keepdim=True).clamp(min=1)


@mistake(
    "When a row with `k` sums to less than 1, you don't divide it by its sum.",
    lambda e: unwrapped(f"""With k = {float(e.inputs["small_k"]):g} and V = {e.number("V")}, the row
    of a symbol that nothing follows sums to V · k = {e.number("V") * float(e.inputs["small_k"]):g}.
    Divided by that, each entry is 1 / {e.number("V")}, but yours sum to
    {e.yours("little")[int(e.inputs["sparse"][0, -1])].sum():.3g}. A limit like `clamp(min=1)` only
    makes sense for counts without `k`."""),
    UNSEEN,
)
def _sums_of_at_least_one(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size) + k
    return counts / counts.sum(dim=1, keepdim=True).clamp(min=1)


def _clamped_shares(tokens: Tensor, V: int) -> Tensor:
    """Shares that are 0 where nothing was counted."""
    counts = _counts_of(tokens, V)
    return counts / counts.sum(dim=1, keepdim=True).clamp(min=1)


@mistake(
    "You added `k` to the probabilities after the division instead of to the counts.",
    lambda e: f"{_row_at_k(e)} {_UNNOTICED}",
    UNSEEN,
    also=(
        lambda tokens, vocab_size, k: _shares(_clamped_shares(tokens, vocab_size) + k),
        lambda tokens, vocab_size, k: _clamped_shares(tokens, vocab_size) + k,
    ),
)
def _smooths_probabilities(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _shares(_shares(_counts_of(tokens, vocab_size)) + k)


@mistake(
    "You took the size of your table from the tokens instead of `vocab_size`.",
    lambda e: unwrapped(f"""The largest token of the text is {e.inputs["complete"].max()}, but the
    vocabulary has {e.number("larger")} symbols and your table has shape {e.yours("larger").shape}.
    Symbols that don't occur have a row and a column too."""),
    COUNTING,
    cases=("counted", "larger"),
    also=(
        lambda tokens, vocab_size, k: bigram_probabilities(tokens, len(tokens.unique()), k),  # noqa: ARG005
    ),
)
def _size_from_the_tokens(tokens: Tensor, vocab_size: int, k: float) -> Tensor:  # noqa: ARG001
    return bigram_probabilities(tokens, int(tokens.max()) + 1, k)


def _worked_out(evidence: Evidence) -> Finding | None:
    """The counts behind the entry that is farthest off."""
    asked = (
        ("counted", "complete", 0.0),
        ("smoothed", "sparse", float(evidence.inputs["k"])),
        ("little", "sparse", float(evidence.inputs["small_k"])),
    )
    wrong = [one for one in asked if not evidence.same(one[0])]
    if not wrong:
        return None
    case, tokens, k = wrong[0]
    mine, right = evidence.yours(case), evidence.right(case)
    if mine.shape != right.shape:
        return None
    if evidence.number("B") > 1 and compared(mine, right):
        return None  # that finding says more
    return Finding(
        "another-share",
        "Your probabilities aren't the shares of the symbols that follow.",
        _share_worked_out(evidence, case, tokens, k),
        SHARES if not k else UNSEEN,
    )


TASK = Task(
    "Bigram probabilities",
    bigram_probabilities,
    SHARES,
    (
        Part(
            "Without smoothing, each row holds the shares of what follows.",
            2,
            matches("counted"),
        ),
        Part(
            "With `k > 0` every pair gets its share.",
            2,
            matches("smoothed", "little", "larger"),
        ),
    ),
    properties=(
        _divided_by,
        _rows_are_no_distributions,
        _worked_out,
    ),
    steps={
        "the counts": Step(
            "Row i counts what follows symbol i, and column j how often that is symbol j.", COUNTING
        ),
        "the counts with k": Step(
            "`k` belongs to every count, so that no pair is impossible.", UNSEEN
        ),
        "the sums of the rows": Step(
            "Each row is divided by its own sum, so that it sums to 1: these are the probabilities "
            "of what follows one symbol."
        ),
        "your table": Step("Each row holds the probabilities of what follows one symbol."),
    },
)
