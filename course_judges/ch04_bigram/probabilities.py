"""Judges 04/probabilities: a table of what follows what, counted and smoothed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch04_bigram.sections import COUNTING, SHARES, UNSEEN
from course_judges.comparisons import compared
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def bigram_probabilities(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    """Add-k estimate of P(next | current), (V, V)."""
    return _shares(_pair_counts(tokens[:, :-1], tokens[:, 1:], vocab_size) + k)


def _pair_counts(current: Tensor, following: Tensor, V: int) -> Tensor:
    pairs = current.flatten() * V + following.flatten()  # (B·(T−1),)
    return torch.bincount(pairs, minlength=V * V).view(V, V).double()


def _shares(counts: Tensor) -> Tensor:
    return counts / counts.sum(dim=1, keepdim=True)


def _counts_of(tokens: Tensor, V: int) -> Tensor:
    return _pair_counts(tokens[:, :-1], tokens[:, 1:], V)


def _seen_rows_are(smoothed: Callable[[Array, float], Array]) -> Callable[[Evidence], bool]:
    """Compares the rows of symbols that were seen; 0 / 0 in the others can end in several ways."""

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
    return unwrapped(f"""Row {row} of your table sums to {sums[row]:.3g}; the probabilities of what
    may follow a symbol sum to 1.""")


def _busiest(evidence: Evidence) -> tuple[int, int, int]:
    """The pair that occurs most often in the complete text, and how often."""
    counts = _counts_of(torch.from_numpy(evidence.inputs["complete"]), evidence.number("V")).numpy()
    i, j = (int(n) for n in np.unravel_index(int(counts.argmax()), counts.shape))
    return i, j, int(counts[i, j])


def _entry_at_busiest(evidence: Evidence) -> str:
    i, j, _ = _busiest(evidence)
    mine, right = evidence.yours("counted")[i, j], evidence.right("counted")[i, j]
    return unwrapped(f"""For symbol {j} after symbol {i} you have {mine:.3f}; counted in the rows it
    is {right:.3f}.""")


def _k_effect(evidence: Evidence) -> str:
    k, V = float(evidence.inputs["k"]), evidence.number("V")
    sums = evidence.yours("smoothed").sum(axis=1)
    row = int(np.argmax(np.where(np.isfinite(sums), np.abs(sums - 1), 0.0)))
    return unwrapped(f"""With k = {k:g} and V = {V}, row {row} of your table sums to
    {sums[row]:.3g}. The numerators of a row gain V · k = {V * k:g} together, so its denominator
    must gain as much.""")


def _unseen_row_right(evidence: Evidence) -> bool:
    unseen = int(evidence.inputs["sparse"][0, -1])
    mine, right = evidence.yours("smoothed")[unseen], evidence.right("smoothed")[unseen]
    return bool(np.allclose(mine, right, atol=1e-5))


def _unseen_row(evidence: Evidence) -> str:
    if _unseen_row_right(evidence):
        return f"The row of a symbol that nothing follows is uniform. {_row_at_k(evidence)}"
    unseen = int(evidence.inputs["sparse"][0, -1])
    V = evidence.number("V")
    values = evidence.yours("smoothed")[unseen]
    k = float(evidence.inputs["k"])
    return unwrapped(f"""In the texts with k = {k:g} nothing ever follows symbol {unseen}. Your row
    for it holds {values[0]:.3g}; every entry should be k / (V · k) = 1 / {V}.""")


def _row_at_k(evidence: Evidence) -> str:
    """A pair that occurs, in the smoothed table: its counts, its share and yours."""
    V, k = evidence.number("V"), float(evidence.inputs["k"])
    counts = _counts_of(torch.from_numpy(evidence.inputs["sparse"]), V).numpy()
    i, j = (int(n) for n in np.unravel_index(int(counts.argmax()), counts.shape))
    return unwrapped(f"""With k = {k:g}, symbol {j} after symbol {i}, which comes
    {int(counts[i, j])} times of {int(counts[i].sum())}, has ({int(counts[i, j])} + {k:g}) /
    ({int(counts[i].sum())} + {V} · {k:g}) = {evidence.right("smoothed")[i, j]:.3g}; yours is
    {evidence.yours("smoothed")[i, j]:.3g}.""")


def _rows_are_no_distributions(evidence: Evidence) -> Finding | None:
    for case, section in (
        ("counted", SHARES),
        ("smoothed", UNSEEN),
        ("little", UNSEEN),
        ("larger", UNSEEN),
    ):
        if not np.allclose(evidence.yours(case).sum(axis=1), 1, atol=1e-4):
            added = ""
            if case == "smoothed" and evidence.same("counted"):
                added = unwrapped(f""" With k = 0 your rows sum to 1, here k is
                {float(evidence.inputs["k"]):g}. It is added to every count, so divide by what the
                row sums to afterwards: V · k more than its counts.""")
            return Finding(
                "rows-do-not-sum-to-one",
                "Your rows are no probability distributions.",
                _row_sum(evidence, case) + added,
                section,
            )
    return None


@mistake(
    "Your table is turned: rows stand for the next symbol and columns for the current one.",
    _entry_at_busiest,
    COUNTING,
)
def _transposed_counts(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _shares(_counts_of(tokens, vocab_size).T + k)


@families.divides_columns(
    lambda e: unwrapped(f"""Your columns sum to 1: that is how often each symbol stood
    before a given one. {_row_sum(e)}""")
)
def _divides_columns(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size) + k
    return counts / counts.sum(dim=0, keepdim=True)


@families.keepdim_forgotten(
    lambda e: unwrapped(f"""`counts.sum(1)` has shape ({e.number("V")},), and broadcasting lays it
    along a row. {_row_sum(e)}""")
)
def _keepdim_forgotten(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size) + k
    return counts / counts.sum(dim=1)


@mistake(
    unwrapped("""You counted pairs across the end of a row: the last symbol of one text with the
    first of the next."""),
    lambda e: unwrapped(f"""{e.number("B")} texts of {e.number("T")} symbols have {e.number("B")} ·
    {e.number("T") - 1} = {e.number("B") * (e.number("T") - 1)} pairs; one long row of them has
    {e.number("B") * e.number("T") - 1}."""),
    COUNTING,
)
def _pairs_across_rows(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    line = tokens.flatten()  # (B·T,)
    return _shares(_pair_counts(line[:-1], line[1:], vocab_size) + k)


def _without_a_pair(first: int, last: int | None) -> Callable[[Tensor, int, float], Tensor]:
    """Answers that read some positions of the rows only; rows without a count are 0 or NaN."""

    def answer(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
        return bigram_probabilities(tokens[:, first:last], vocab_size, k)

    return answer


def _zeros_for_nothing(answer: Callable[[Tensor, int, float], Tensor]) -> Callable[..., Tensor]:
    return lambda tokens, vocab_size, k: answer(tokens, vocab_size, k).nan_to_num(0.0)


def _pairs_in_a_row(evidence: Evidence) -> str:
    T = evidence.number("T")
    return f"A row of T = {T} symbols holds T − 1 = {T - 1} pairs; you counted {T - 2} of them."


_last_pair_left_out = mistake(
    "The last pair of each row is missing from your counts.",
    _pairs_in_a_row,
    COUNTING,
    also=(_zeros_for_nothing(_without_a_pair(0, -1)),),
)(_without_a_pair(0, -1))

_first_pair_left_out = mistake(
    "The first pair of each row is missing from your counts.",
    _pairs_in_a_row,
    COUNTING,
    also=(_zeros_for_nothing(_without_a_pair(1, None)),),
)(_without_a_pair(1, None))


def _down_the_columns(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _shares(_pair_counts(tokens[:-1], tokens[1:], vocab_size) + k)


_pairs_down_the_columns = mistake(
    "You paired each symbol with the one below it, which belongs to the next text.",
    lambda e: unwrapped(f"""`tokens[:-1]` and `tokens[1:]` leave out a row, which is a whole text;
    `tokens[:, :-1]` and `tokens[:, 1:]` leave out a position of each. {_entry_at_busiest(e)}"""),
    COUNTING,
    also=(_zeros_for_nothing(_down_the_columns),),
)(_down_the_columns)


def _from_rows(which: slice) -> Callable[[Tensor, int, float], Tensor]:
    """Answers that count in some of the texts only."""
    return lambda tokens, vocab_size, k: bigram_probabilities(tokens[which], vocab_size, k)


_one_text_only = mistake(
    "Your counts come from one text only; all rows of `tokens` count.",
    lambda e: unwrapped(f"""{e.number("B")} texts of {e.number("T")} symbols have {e.number("B")} ·
    {e.number("T") - 1} = {e.number("B") * (e.number("T") - 1)} pairs; one of them has
    {e.number("T") - 1}. {_entry_at_busiest(e)}"""),
    COUNTING,
    also=(
        _from_rows(slice(-1, None)),
        _zeros_for_nothing(_from_rows(slice(1))),
        _zeros_for_nothing(_from_rows(slice(-1, None))),
    ),
)(_from_rows(slice(1)))

_last_text_left_out = mistake(
    "The last text is missing from your counts.",
    lambda e: unwrapped(f"""{e.number("B")} texts of {e.number("T")} symbols have {e.number("B")} ·
    {e.number("T") - 1} = {e.number("B") * (e.number("T") - 1)} pairs. {_entry_at_busiest(e)}"""),
    COUNTING,
    also=(_zeros_for_nothing(_from_rows(slice(-1))),),
)(_from_rows(slice(-1)))

_both_directions = mistake(
    "You counted each pair in both directions; only what comes later follows.",
    _entry_at_busiest,
    COUNTING,
)(
    lambda tokens, vocab_size, k: _shares(
        _counts_of(tokens, vocab_size) + _counts_of(tokens, vocab_size).T + k
    )
)


def _mean_of_tables(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    tables = [bigram_probabilities(text[None], vocab_size, k) for text in tokens]
    return torch.stack(tables).mean(dim=0)


def _mean_of_full_tables(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    tables = [bigram_probabilities(text[None], vocab_size, k).nan_to_num() for text in tokens]
    return torch.stack(tables).mean(dim=0)


_mean_over_texts = mistake(
    "You made a table of each text and took their mean; the counts of all texts belong together.",
    lambda e: unwrapped(f"""A text in which a symbol comes once counts for its row as much as one in
    which it comes often, and a text without it has 0 / 0 there. {_entry_at_busiest(e)}"""),
    COUNTING,
    cases=("counted", "smoothed"),
    also=(_mean_of_full_tables,),
)(_mean_of_tables)

_pairs_two_apart = mistake(
    "You counted pairs that are two steps apart; what follows is one step away.",
    _entry_at_busiest,
    COUNTING,
    also=(
        _zeros_for_nothing(
            lambda tokens, V, k: _shares(_pair_counts(tokens[:, :-2], tokens[:, 2:], V) + k)
        ),
    ),
)(lambda tokens, V, k: _shares(_pair_counts(tokens[:, :-2], tokens[:, 2:], V) + k))

_logarithms_returned = mistake(
    "You return the logarithms of the probabilities.",
    lambda e: unwrapped(f"""Every number of yours is 0 or less, and a pair that never comes has −∞.
    {_entry_at_busiest(e)}"""),
)(lambda tokens, vocab_size, k: bigram_probabilities(tokens, vocab_size, k).log())

_another_k = mistake(
    "You added 1 to every count, whatever `k` says.",
    lambda e: f"With k = 0 nothing is added. {_entry_at_busiest(e)}",
    UNSEEN,
)(lambda tokens, vocab_size, k: bigram_probabilities(tokens, vocab_size, 1.0))  # noqa: ARG005

_softmax_of_counts = mistake(
    "You took the softmax of the counts; a share is a count divided by the sum of its row.",
    lambda e: unwrapped(f"""e to the power of a count makes frequent pairs far too likely, and a
    pair that never comes gets e⁰ = 1. {_entry_at_busiest(e)}"""),
)(lambda tokens, vocab_size, k: (_counts_of(tokens, vocab_size) + k).softmax(dim=1))


def _same_in_all_rows(read: slice) -> Callable[[Tensor, int, float], Tensor]:
    """Answers in which the current symbol makes no difference."""

    def answer(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
        counts = torch.bincount(tokens[:, read].flatten(), minlength=vocab_size) + k
        return (counts / counts.sum()).expand(vocab_size, -1)

    return answer


_current_ignored = mistake(
    "Your table says how often each symbol comes, whatever stands before it.",
    lambda e: f"All its rows are the same. {_entry_at_busiest(e)}",
    SHARES,
    cases=("counted",),
    also=(_same_in_all_rows(slice(1, None)), _same_in_all_rows(slice(-1))),
)(_same_in_all_rows(slice(None)))


@mistake(
    "You paired every symbol with itself, not with the one after it.",
    lambda e: unwrapped(f"""Without smoothing your table has
    {np.diag(e.yours("counted")).mean():.2g} on the diagonal and 0 elsewhere."""),
    COUNTING,
)
def _unshifted_targets(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _shares(_pair_counts(tokens, tokens, vocab_size) + k)


@mistake(
    "Pairs that occur more than once were counted once.",
    lambda e: unwrapped(f"""`counts[i, j] += 1` with index tensors adds 1 to each distinct place,
    however often it is named. {"The pair ({}, {}) occurs {} times here.".format(*_busiest(e))}"""),
    COUNTING,
)
def _lost_repeats(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = torch.zeros(vocab_size, vocab_size, dtype=torch.float64)
    counts[tokens[:, :-1], tokens[:, 1:]] += 1
    return _shares(counts + k)


@mistake(
    unwrapped("""You divided by the sum of the whole table: that is the probability of the pair, not
    of the next symbol."""),
    lambda e: f"Your whole table sums to {e.yours('counted').sum():.3g}. {_row_sum(e)}",
)
def _joint_probabilities(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size) + k
    return counts / counts.sum()


@mistake("You returned the counts themselves; no row was divided by its sum.", _row_sum)
def _counts_not_probabilities(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _counts_of(tokens, vocab_size) + k


@mistake(
    "You divided by how often each symbol occurs, at the end of a row as well.",
    lambda e: unwrapped(f"""{_row_sum(e)} What stands at the end of a row is followed by nothing:
    divide by how often a symbol is followed, which is the sum of its row of counts."""),
    also=(
        lambda tokens, vocab_size, k: (
            (_counts_of(tokens, vocab_size) + k)
            / torch.bincount(tokens.flatten(), minlength=vocab_size)[:, None]
        ),
    ),
    cases=("counted",),
)
def _divides_by_occurrences(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    occurrences = torch.bincount(tokens.flatten(), minlength=vocab_size)[:, None]
    return (_counts_of(tokens, vocab_size) + k) / (occurrences + vocab_size * k)


@mistake(
    "Your denominator grew by `k` once; `k` was added to V counts in the row.", _k_effect, UNSEEN
)
def _denominator_without_V(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size)
    return (counts + k) / (counts.sum(dim=1, keepdim=True) + k)


@mistake(
    "You added `k` to every count and divided by the sums from before.",
    _k_effect,
    UNSEEN,
    recognized=_seen_rows_are(lambda n, k: (n + k) / n.sum(1, keepdims=True)),
)
def _denominator_not_smoothed(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size)
    return (counts + k) / counts.sum(dim=1, keepdim=True)


@mistake(
    lambda e: (
        "Where a symbol is followed by anything, `k` is not added to the counts."
        if _unseen_row_right(e)
        else "`k` is not used."
    ),
    _unseen_row,
    UNSEEN,
    recognized=_seen_rows_are(lambda n, _: n / n.sum(1, keepdims=True)),
)
def _no_smoothing(tokens: Tensor, vocab_size: int, k: float) -> Tensor:  # noqa: ARG001
    return _shares(_counts_of(tokens, vocab_size))


@mistake(
    "You put `k` only where nothing was counted; it is added to every count.",
    lambda e: unwrapped(f"""{_row_at_k(e)} With k = 0 nothing of this shows."""),
    UNSEEN,
    cases=("counted", "smoothed", "little"),
)
def _k_for_zeros_only(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size)
    return _shares(torch.where(counts == 0, k, counts))


@mistake(
    "You added `k` only where something was counted; it is added to every count.",
    lambda e: unwrapped(f"""{_row_at_k(e)} With k = 0 nothing of this shows."""),
    UNSEEN,
    recognized=_seen_rows_are(
        lambda n, k: (n + k * (n > 0)) / (n + k * (n > 0)).sum(1, keepdims=True)
    ),
)
def _k_where_counted(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size)
    return _shares(torch.where(counts > 0, counts + k, counts))


@mistake(
    "You took `k` for the least that a count can be; it is added to every count.",
    lambda e: unwrapped(f"""{_row_at_k(e)} With k = 0 nothing of this shows."""),
    UNSEEN,
)
def _k_as_least_count(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _shares(_counts_of(tokens, vocab_size).clamp(min=k))


_k_shared_out = mistake(
    "You added k / V to every count, so that a row gains `k` together; each count gains `k`.",
    lambda e: unwrapped(f"""{_row_at_k(e)} With k = 0 nothing of this shows."""),
    UNSEEN,
)(lambda tokens, vocab_size, k: bigram_probabilities(tokens, vocab_size, k / vocab_size))


@mistake(
    "You cut `k` to a whole number.",
    lambda e: unwrapped(f"""With k = {float(e.inputs["k"]):g} your shares are those of
    k = {int(e.inputs["k"])}, and with k = {float(e.inputs["small_k"]):g} nothing is added. A count
    may get any part of 1: the counts have to be floats before `k` is added."""),
    UNSEEN,
    recognized=_seen_rows_are(lambda n, k: (n + int(k)) / (n + int(k)).sum(1, keepdims=True)),
)
def _whole_part_of_k(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    counts = _counts_of(tokens, vocab_size) + int(k)
    return counts / counts.sum(dim=1, keepdim=True).clamp(min=1)


@mistake(
    "Where the counts of a row sum to less than 1 together with `k`, you divide by another number.",
    lambda e: unwrapped(f"""With k = {float(e.inputs["small_k"]):g} and V = {e.number("V")}, a
    symbol that nothing follows has a row of V · k = {e.number("V") * float(e.inputs["small_k"]):g}.
    Divided by that, its entries are 1 / {e.number("V")}; yours sum to
    {e.yours("little")[int(e.inputs["sparse"][0, -1])].sum():.3g}. A limit like `clamp(min=1)` is
    for counts without `k`."""),
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
    "You added `k` to the probabilities, after the division; it belongs to the counts.",
    lambda e: f"{_row_at_k(e)} With k = 0 nothing of this shows.",
    UNSEEN,
    also=(
        lambda tokens, vocab_size, k: _shares(_clamped_shares(tokens, vocab_size) + k),
        lambda tokens, vocab_size, k: _clamped_shares(tokens, vocab_size) + k,
        lambda tokens, vocab_size, k: _shares(_counts_of(tokens, vocab_size)) + k,
    ),
)
def _smooths_probabilities(tokens: Tensor, vocab_size: int, k: float) -> Tensor:
    return _shares(_shares(_counts_of(tokens, vocab_size)) + k)


@mistake(
    "The size of your table comes from the tokens; it should be `vocab_size`.",
    lambda e: unwrapped(f"""The largest token of the text is {e.inputs["complete"].max()}, the
    vocabulary has {e.number("larger")} symbols, and your table has shape
    {e.yours("larger").shape}. A symbol that does not occur has a row and a column, too."""),
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
        return None  # which says more
    V = evidence.number("V")
    counts = _counts_of(torch.from_numpy(evidence.inputs[tokens]), V).numpy()
    i, j = (int(n) for n in np.unravel_index(int(np.abs(mine - right).argmax()), right.shape))
    pair, all_of_them = int(counts[i, j]), int(counts[i].sum())
    share = f"{pair} / {all_of_them}"
    if k:
        share = f"({pair} + {k:g}) / ({all_of_them} + {V} · {k:g})"
    return Finding(
        "another-share",
        "Your probabilities are not the shares of what follows.",
        f"Symbol {i} is followed {all_of_them} times, by symbol {j} {pair} times: with k = {k:g} "
        f"that is {share} = {right[i, j]:.3g}. Yours is {mine[i, j]:.3g}.",
        SHARES if not k else UNSEEN,
    )


TASK = Task(
    "Bigram probabilities",
    bigram_probabilities,
    SHARES,
    (
        Part(
            "Without smoothing (`k = 0`), each row holds the shares of what follows in the same"
            " text.",
            2,
            matches("counted"),
        ),
        Part(
            "With `k > 0` every pair gets its share, and a row without a single count is uniform.",
            2,
            matches("smoothed", "little", "larger"),
        ),
    ),
    properties=(_rows_are_no_distributions, _worked_out),
)
