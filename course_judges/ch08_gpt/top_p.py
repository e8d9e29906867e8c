"""Judges 08/top-p: the smallest set whose probabilities reach p."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch08_gpt.rows import (
    alone,
    exactly_zero,
    nearly_zero,
    other_symbols,
    probabilities,
    replaced,
    row_that_differs,
    sets_agree,
)
from course_judges.ch08_gpt.sections import CHOICE
from course_judges.chance import softmax
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def top_p(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    """Probabilities (B, V) of the smallest set of likeliest symbols that reaches p."""
    tempered = logits / temperature  # your tempered logits (B, V)
    # In float64, so that no probability underflows to 0.
    shares = tempered.double().softmax(dim=-1)  # your probabilities (B, V)
    ranked, order = shares.sort(dim=-1, descending=True)  # your sorted probabilities (B, V)
    before = ranked.cumsum(dim=-1) - ranked  # the sums before each symbol (B, V)
    first = torch.arange(logits.shape[-1]) < least  # the first `least` (V,)
    kept = (before < p) | first  # your set (B, V)
    left = torch.where(kept, ranked, 0.0)  # your kept probabilities (B, V)
    shared = left / left.sum(dim=-1, keepdim=True)  # your renormalized probabilities (B, V)
    return torch.zeros_like(shared).scatter(-1, order, shared)  # your answer (B, V)


_Answer = Callable[[Tensor, float, float, int], Tensor]


def _ranked(logits: Tensor, *, descending: bool = True) -> tuple[Tensor, Tensor]:
    return logits.softmax(dim=-1).sort(dim=-1, descending=descending)


def _back(ranked: Tensor, order: Tensor, kept: Tensor) -> Tensor:
    ranked = torch.where(kept, ranked, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True).clamp(min=1e-12)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


def _leaving(
    keep: Callable[[Tensor, float], Tensor], *, descending: bool = True, at_least: bool = True
) -> _Answer:
    """An answer that keeps other ranks: `keep(ranked, p)` is a mask (B, V)."""

    def answer(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
        ranked, order = _ranked(logits / temperature, descending=descending)
        kept = keep(ranked, p) | (torch.arange(logits.shape[-1]) < least * at_least)
        return _back(ranked, order, kept)

    return answer


def _before(ranked: Tensor) -> Tensor:
    return ranked.cumsum(dim=-1) - ranked


def _share_kept(evidence: Evidence) -> str:
    p, t = float(evidence.inputs["p"]), float(evidence.inputs["temperature"])
    return f"With p = {p:g} and temperature {t:g}, {row_that_differs('nucleus')(evidence)}"


def _first(ranked: Tensor, least: Tensor | int) -> Tensor:
    """Whether a rank is among the first `least`."""
    return torch.arange(ranked.shape[-1]).expand_as(ranked) < least


def _missing_share(evidence: Evidence) -> str:
    """How far below p the kept symbols stay if the crossing one is cut."""
    mine, right = evidence.yours("nucleus"), evidence.right("nucleus")
    row = int(((mine > 1e-9) != (right > 0)).any(axis=-1).argmax())
    logits = evidence.inputs["logits"][row] / float(evidence.inputs["temperature"])
    shares = torch.tensor(logits).softmax(dim=-1).numpy()
    held = float(shares[mine[row] > 1e-9].sum())
    return unwrapped(f"""In row {row} the probabilities that you keep sum to {held:.3f}, but the set
    has to reach p = {float(evidence.inputs["p"]):g}, so it needs the symbol that crosses p.""")


_top_p_drops_crossing = mistake(
    "You cut the symbol with which the sum crosses p, but it belongs to the set.", _missing_share
)(_leaving(lambda ranked, p: ranked.cumsum(dim=-1) <= p))


@mistake(
    "You didn't cut anything: every symbol keeps its probability.",
    _share_kept,
    cases=("nucleus", "least"),
)
def _keeps_everything(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:  # noqa: ARG001
    return (logits / temperature).softmax(dim=-1)


def _with_both(evidence: Evidence) -> str:
    """What is kept when both p and `least` matter."""
    return unwrapped(f"""With p = {float(evidence.inputs["p"]):g} and least = 2,
    {row_that_differs("both")(evidence)}""")


_keeps_one_too_many = mistake(
    "You keep one symbol too many, after the one that crosses p.", lambda e: _share_kept(e)
)(
    _leaving(
        lambda ranked, p: (
            _before(ranked) - ranked.roll(1, dims=-1) * (torch.arange(ranked.shape[-1]) > 0) < p
        )
    )
)


def _upwards_beside_the_likeliest(
    logits: Tensor, temperature: float, p: float, least: int
) -> Tensor:
    ranked, order = _ranked(logits / temperature, descending=False)
    return _back(ranked, order, (_before(ranked) < p) | _first(ranked, least).flip(-1))


@mistake(
    "You started the sum at the least likely symbol and also kept the likeliest.",
    lambda e: unwrapped(f"""{_share_kept(e)} Sort in descending order and start the sum at the
    likeliest symbol, so that it is always among those that reach p."""),
    cases=("nucleus", "least", "extreme"),
    also=(_upwards_beside_the_likeliest,),
)
def _upwards_and_the_likeliest(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    summed = _upwards_beside_the_likeliest(logits, temperature, p, 1)
    enough = top_p(logits, temperature, 0.0, least)  # used alone if one of them is missing
    lacking = ((enough > 0) & (summed == 0)).any(dim=-1, keepdim=True)
    return torch.where(lacking, enough, summed)


@mistake(
    "You summed the symbols in the order of their columns instead of starting with the likeliest.",
    lambda e: _share_kept(e),
)
def _sorted_not_at_all(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    shares = (logits / temperature).softmax(dim=-1)
    kept = (_before(shares) < p) | (torch.arange(logits.shape[-1]) < least)
    shares = shares * kept
    return shares / shares.sum(dim=-1, keepdim=True)


@mistake(
    "Your mask is in sorted order, but you applied it to logits that aren't sorted.",
    lambda e: f"{_share_kept(e)} `scatter` brings it back to the columns of the symbols.",
)
def _mask_not_taken_back(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, _ = _ranked(logits / temperature)
    kept = (_before(ranked) < p) | (torch.arange(logits.shape[-1]) < least)
    return (logits / temperature).masked_fill(~kept, -torch.inf).softmax(dim=-1)


@mistake(
    "Your rows are still sorted, so column j no longer belongs to symbol j.",
    lambda e: f"{_share_kept(e)} `scatter` brings sorted values back to their columns.",
)
def _left_sorted(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    return top_p(logits, temperature, p, least).sort(dim=-1, descending=True).values


_threshold_for_sum = mistake(
    "You compared each probability with 1 − p, but their sum has to reach p.",
    _share_kept,
    cases=("nucleus", "everything"),
)(_leaving(lambda ranked, p: ranked >= 1 - p))

_p_for_each_alone = mistake(
    "You compared each probability with p, but their sum has to reach p.",
    _share_kept,
    cases=("nucleus", "everything", "least"),
)(_leaving(lambda ranked, p: ranked >= p))


@mistake(
    "You keep a symbol only if both `p` and `least` ask for it, but either is enough.",
    lambda e: f"{_share_kept(e)} `least` is the smallest number of symbols, not the largest.",
    cases=("nucleus", "least", "everything"),
)
def _least_as_the_most(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    kept = (_before(ranked) < p) & (torch.arange(logits.shape[-1]) < least)
    return _back(ranked, order, kept)


@mistake(
    "You keep `least` symbols in every row and ignore p.",
    lambda e: f"{_share_kept(e)} Do you compare a sum of probabilities with p?",
    cases=("nucleus", "least", "everything"),
)
def _p_ignored(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:  # noqa: ARG001
    return top_p(logits, temperature, 0.0, least)


_reaches_the_rest = mistake(
    "You keep symbols until their sum reaches 1 − p instead of p.",
    _share_kept,
    cases=("nucleus", "least"),
)(_leaving(lambda ranked, p: _before(ranked) < 1 - p))


@mistake(
    "You gave all kept symbols the same probability.",
    lambda e: f"{_share_kept(e)} Their ratios shouldn't change, so divide each by their sum.",
    cases=("nucleus", "least"),
)
def _all_alike(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    kept = (top_p(logits, temperature, p, least) > 0).to(logits.dtype)
    return kept / kept.sum(dim=-1, keepdim=True)


_share_of_the_likeliest = mistake(
    "You keep symbols with at least p times the largest probability, but their sum has to reach p.",
    _share_kept,
    cases=("nucleus", "least", "extreme"),
)(_leaving(lambda ranked, p: ranked >= p * ranked[:, :1]))


@mistake(
    "You keep the same number of symbols in every row, as many as the row that needs the most.",
    lambda e: f"{_share_kept(e)} Each row has its own set.",
)
def _largest_set_for_all(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    size = max(least, int((_before(ranked) < p).sum(dim=-1).max()))
    return _back(ranked, order, (torch.arange(logits.shape[-1]) < size).expand_as(ranked))


def _mask_gathered_back(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    kept = (_before(ranked) < p) | _first(ranked, least)
    shares = (logits / temperature).softmax(dim=-1) * kept.gather(-1, order)
    return shares / shares.sum(dim=-1, keepdim=True).clamp(min=1e-12)


def _mask_gathered_onto_logits(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    kept = ((_before(ranked) < p) | _first(ranked, least)).gather(-1, order)
    return (logits / temperature).masked_fill(~kept, -torch.inf).softmax(dim=-1)


@mistake(
    "You used `gather` to undo the sorting, but you need `scatter`.",
    lambda e: unwrapped(f"""`order[b, r]` is the column of rank r. `scatter` writes value r to that
    column, but `gather` reads a value from there. {_share_kept(e)}"""),
    also=(_mask_gathered_back, _mask_gathered_onto_logits),
)
def _gathered_back(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    kept = (_before(ranked) < p) | (torch.arange(logits.shape[-1]) < least)
    ranked = torch.where(kept, ranked, 0.0)
    return (ranked / ranked.sum(dim=-1, keepdim=True)).gather(-1, order)


@mistake(
    "For `least` you keep the first columns instead of the likeliest symbols.",
    lambda e: f"{_share_kept(e)} The likeliest symbols come first in the sorted row.",
    cases=("nucleus", "least"),
)
def _least_by_number(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    return _back(ranked, order, (_before(ranked) < p) | (order < least))


@mistake(
    "If `least` is above 1, you keep exactly that many and ignore p.",
    lambda e: f"{_with_both(e)} Keep the larger of the two sets.",
    cases=("nucleus", "least", "both"),
)
def _least_in_place_of_p(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    return top_p(logits, temperature, 0.0 if least > 1 else p, least)


@mistake(
    "You cut first and applied the temperature afterwards, but the temperature comes first.",
    lambda e: f"{_share_kept(e)} The temperature changes how many symbols it takes to reach p.",
)
def _temperature_afterwards(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    kept = top_p(logits, 1.0, p, least) > 0
    return (logits / temperature).masked_fill(~kept, -torch.inf).softmax(dim=-1)


@mistake(
    "You used the temperature to choose the set, but not for the probabilities.",
    lambda e: f"{_share_kept(e)} Renormalize the same probabilities that you chose from.",
)
def _temperature_for_the_set_alone(
    logits: Tensor, temperature: float, p: float, least: int
) -> Tensor:
    kept = top_p(logits, temperature, p, least) > 0
    return logits.masked_fill(~kept, -torch.inf).softmax(dim=-1)


def _twice_without_division(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    shares = (logits / temperature).softmax(dim=-1)
    kept = top_p(logits, temperature, p, least) > 0
    return shares.masked_fill(~kept, -torch.inf).softmax(dim=-1)


@mistake(
    "You took the softmax twice: the second time, of probabilities.",
    lambda e: f"{_share_kept(e)} To renormalize, divide by the sum.",
    also=(_twice_without_division,),
)
def _softmax_twice(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    kept = top_p(logits, temperature, p, least)
    return kept.masked_fill(kept == 0, -torch.inf).softmax(dim=-1)


@mistake(
    "You applied the temperature twice, for the set and again for the probabilities.",
    lambda e: f"{_share_kept(e)} The probabilities should also come from softmax(logits / T).",
)
def _temperature_twice(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    kept = top_p(logits, temperature, p, least) > 0
    return (logits / temperature**2).masked_fill(~kept, -torch.inf).softmax(dim=-1)


@mistake(
    "You divided the probabilities by the temperature instead of the logits.",
    lambda e: f"{_share_kept(e)} Dividing all probabilities by one number keeps their ratios.",
    cases=("nucleus", "least", "both"),
)
def _probabilities_divided(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    return top_p(logits, 1.0, p * temperature, least)


@mistake(
    "You set the other symbols' logits to 0, but a logit of 0 still has the weight e⁰ = 1.",
    lambda e: f"{_share_kept(e)} Set them to −inf.",
)
def _zero_mask(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    kept = top_p(logits, temperature, p, least) > 0
    return (logits / temperature * kept).softmax(dim=-1)


@mistake(
    "You keep the symbols before p is reached and `least` more, instead of the larger set.",
    _with_both,
    cases=("nucleus", "least", "both"),
)
def _least_added(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    enough = (ranked.cumsum(dim=-1) < p).sum(dim=-1, keepdim=True)
    return _back(ranked, order, _first(ranked, enough + least))


_kept_and_cut_exchanged = mistake(
    "You keep the symbols that should be cut, and cut those that reach p.",
    lambda e: f"{_share_kept(e)} Is your comparison or your mask the wrong way round?",
    also=(
        _leaving(lambda ranked, p: ranked.cumsum(dim=-1) >= p),
        _leaving(lambda ranked, p: ranked.cumsum(dim=-1) >= p, at_least=False),
        _leaving(lambda ranked, p: _before(ranked) >= p, at_least=False),
    ),
)(_leaving(lambda ranked, p: _before(ranked) >= p))

_summed_over_rows = mistake(
    "Your cumulative sum runs along the wrong dimension, over the rows instead of the symbols.",
    lambda e: f"{_share_kept(e)} In a (B, V) tensor, the symbols are along the last dimension.",
    # If such a sum keeps everything, so do others; with a small p it keeps row 0 alone.
    cases=("nucleus", "least"),
    also=(_leaving(lambda ranked, p: ranked.cumsum(dim=0) - ranked < p, at_least=False),),
)(_leaving(lambda ranked, p: ranked.cumsum(dim=0) - ranked < p))


def _one_row_down(reached: Tensor) -> Tensor:
    moved = torch.zeros_like(reached)
    moved[1:] = reached[:-1]
    return moved


_mask_moved_down = mistake(
    "You shifted your mask by one row instead of one rank.",
    lambda e: f"{_share_kept(e)} `mask[..., 1:]` selects ranks, but `mask[1:]` selects rows.",
    also=(_leaving(lambda ranked, p: ~_one_row_down(ranked.cumsum(dim=-1) > p), at_least=False),),
)(_leaving(lambda ranked, p: ~_one_row_down(ranked.cumsum(dim=-1) > p)))


_temperature_multiplied = families.temperature_multiplied(_share_kept)(
    Like("multiplied-instead-of-dividing-by-temperature-in-your-tempered-logits")
)


@mistake(
    "Your answer doesn't use `least`.",
    lambda e: unwrapped(f"""With p = {float(e.inputs["tiny"]):g} and least = {e.number("least")},
    {row_that_differs("least")(e)}"""),
    cases=("nucleus", "least", "zero"),
)
def _least_forgotten(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:  # noqa: ARG001
    return top_p(logits, temperature, p, 1)


def _least_in_all(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    """All rows together need to keep only `least` symbols."""
    enough = int((top_p(logits, temperature, p, 1) > 0).sum()) >= least
    return top_p(logits, temperature, p, 1 if enough else least)


@mistake(
    "You keep fewer than `least` symbols in a row whose likeliest symbol reaches p alone.",
    lambda e: unwrapped(f"""With least = 2 and one such row, {row_that_differs("one_row")(e)} Each
    row has to keep at least `least`, whatever p is and whatever the others keep. If you count kept
    symbols, count them row by row."""),
    cases=("nucleus", "least", "one_row", "zero"),
    also=(_least_in_all,),
)
def _least_of_the_batch(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    enough = int((top_p(logits, temperature, p, 1) > 0).sum()) >= least * len(logits)
    return top_p(logits, temperature, p, 1 if enough else least)


def _logits(evidence: Evidence) -> Array:
    """(B, V) the logits divided by the temperature."""
    return np.asarray(evidence.inputs["logits"] / float(evidence.inputs["temperature"]))


def _tempered(evidence: Evidence) -> Array:
    """(B, V) the probabilities of all symbols at the temperature."""
    return softmax(_logits(evidence))


def _enough_for_a_half(evidence: Evidence) -> bool:
    """True if two of four equally likely symbols are kept, whichever two they are."""
    mine = evidence.shaped("exact", (2, evidence.number("V")))
    of_the_four = mine[:, evidence.inputs["quarters"]]
    return bool(
        np.allclose(np.sort(of_the_four), [0, 0, 0.5, 0.5], atol=1e-6)
        and np.count_nonzero(mine) == 2 * len(mine)
    )


def _more_than_a_half(evidence: Evidence) -> Finding | None:
    """Right except when the sum is exactly p."""
    if not sets_agree("nucleus")(evidence) or _enough_for_a_half(evidence):
        return None
    kept = int((evidence.yours("exact")[0] > 1e-9).sum())
    why = (
        "Do you compare each probability with the smallest kept one? That keeps all equal ones."
        if kept == 4
        else "Keep a symbol if the ones before it sum to less than p."
    )
    return Finding(
        "beyond-reaching",
        "When a sum is exactly p, you don't keep the smallest set.",
        f"If four symbols have a probability of 0.25 each, any two of them reach p = 0.5, but you "
        f"keep {kept}. {why}",
        CHOICE,
    )


def _never_reached(evidence: Evidence) -> Finding | None:
    """Rows that are cut although p is 1."""
    if not evidence.same("nucleus", "extreme") or evidence.same("many"):
        return None
    mine, logits = evidence.yours("many"), torch.from_numpy(evidence.inputs["many"])
    cut = np.flatnonzero((mine == 0).any(axis=-1))
    if not evidence.comparable("many") or not len(cut):
        return None
    row = int(cut[0])
    total = float((logits[row] / 2.0).softmax(dim=-1).sort(descending=True).values.cumsum(-1)[-1])
    below = f" In float32, their sum is {total:.8f} here." if total < 1 else ""
    return Finding(
        "never-reached",
        "With p = 1 you cut symbols in some rows.",
        f"It happens in {len(cut)} of {len(mine)} rows. For example, row {row} keeps "
        f"{int((mine[row] > 0).sum())} of {mine.shape[1]} symbols.{below} Rounding may leave the "
        "sum of all probabilities a little below 1, so no place reaches p. If you look for the "
        "first place that does, as with `argmax`, you get 0 when there is none.",
        CHOICE,
    )


def _other_temperature(evidence: Evidence) -> Finding | None:
    """The ratios of what is kept are those of another temperature."""
    mine, logits = evidence.yours("nucleus").astype(float), evidence.inputs["logits"]
    if mine.shape != logits.shape or not np.isfinite(mine).all():
        return None
    kept = mine > 1e-9
    x, y = (
        np.concatenate(
            [row[of] - row[of].mean() for row, of in zip(values, kept, strict=True) if of.sum() > 1]
            or [np.zeros(0)]
        )
        for values in (logits.astype(float), np.log(np.where(kept, mine, 1.0)))
    )
    if len(x) < _FEW:
        return None
    slope = float((x * y).sum() / (x * x).sum())
    given = float(evidence.inputs["temperature"])
    if slope < 1e-3 or not np.allclose(y, slope * x, atol=1e-3) or abs(slope * given - 1) < 1e-3:
        return None
    used = 1 / slope
    squared = np.isclose(used, given**2, rtol=1e-3)
    how = f" {number(used)} is the square of {given:g}." if squared else ""
    return Finding(
        "other-temperature",
        f"Your probabilities are those of temperature {number(used)} instead of {given:g}.",
        f"The ratios of the symbols that you keep tell us.{how} {_share_kept(evidence)} The logits "
        "should be divided by the temperature once, before the softmax.",
        CHOICE,
    )


# From fewer numbers a temperature could be right by chance.
_FEW = 6

TASK = Task(
    "The smallest set that reaches p",
    top_p,
    CHOICE,
    (
        Part(
            "The set is the smallest one that reaches p.",
            2,
            sets_agree("nucleus"),
        ),
        Part(
            "The kept symbols have their renormalized probabilities.",
            1,
            lambda e: (
                _enough_for_a_half(e)
                and e.same("nucleus", "everything", "many", "extreme", "symbol")
                and exactly_zero("nucleus", "extreme", "more")(e)
            ),
        ),
        Part(
            "At least `least` symbols are kept, however small p is.",
            1,
            matches("least", "both", "one_row", "more", "zero"),
        ),
    ),
    properties=(
        probabilities("nucleus"),
        replaced("nucleus", _logits),
        _other_temperature,
        other_symbols("nucleus", _tempered),
        nearly_zero("nucleus", "extreme", "more"),
        _more_than_a_half,
        _never_reached,
        alone("everything", "symbol"),
    ),
    uncompared=("exact",),
    cases=("nucleus",),
    steps={
        "your tempered logits": Step(
            "The logits are divided by the temperature first, and everything else follows from"
            " that."
        ),
        "your probabilities": Step("The softmax of each row is taken over its symbols."),
        "your sorted probabilities": Step(
            "The smallest set that reaches p is found by starting with the likeliest symbol."
        ),
        "the sums before each symbol": Step(
            "Whether a symbol is needed depends on what the likelier ones sum to without it."
        ),
        "the first `least`": Step(
            "Ranks are counted from 0, so the likeliest `least` symbols have ranks below `least`."
        ),
        "your set": Step(
            "A symbol belongs to the set while the likelier ones sum to less than p, and if it is"
            " one of the first `least`."
        ),
        "your kept probabilities": Step("Whatever isn't kept gets a probability of exactly 0."),
        "your renormalized probabilities": Step(
            "Dividing by their sum keeps the ratios of the kept ones, and they sum to 1 again."
        ),
        "your answer": Step(
            "Value r of a sorted row belongs to the symbol in `order[b, r]`, and `scatter` brings"
            " it back to that column."
        ),
    },
)
