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
    extremes,
    nearly_zero,
    other_symbols,
    probabilities,
    row_that_differs,
    sets_agree,
)
from course_judges.ch08_gpt.sections import CHOICE
from course_judges.chance import softmax
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def top_p(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    """Probabilities (B, V) of the smallest set of likeliest symbols that reaches p."""
    shares = (logits.double() / temperature).softmax(dim=-1)  # so that none becomes 0
    ranked, order = shares.sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked  # what the likelier ones already hold
    kept = (before < p) | (torch.arange(logits.shape[-1]) < least)  # (B, V), by rank
    ranked = torch.where(kept, ranked, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


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
    return f"With p = {p:g} at temperature {t:g}: {row_that_differs('nucleus')(evidence)}"


def _first(ranked: Tensor, least: Tensor | int) -> Tensor:
    """Whether a rank is among the first `least`."""
    return torch.arange(ranked.shape[-1]).expand_as(ranked) < least


def _missing_share(evidence: Evidence) -> str:
    """How far below p the symbols stay that are left when the crossing one is cut."""
    mine, right = evidence.yours("nucleus"), evidence.right("nucleus")
    row = int(((mine > 1e-9) != (right > 0)).any(axis=-1).argmax())
    logits = evidence.inputs["logits"][row] / float(evidence.inputs["temperature"])
    shares = torch.tensor(logits).softmax(dim=-1).numpy()
    held = float(shares[mine[row] > 1e-9].sum())
    return unwrapped(f"""In row {row} what you keep holds {held:.3f} of the probability; the set has
    to reach p = {float(evidence.inputs["p"]):g}, so the symbol that crosses p belongs to it.""")


_top_p_drops_crossing = mistake(
    "You cut the symbol with which the sum crosses p; it belongs to the set.", _missing_share
)(_leaving(lambda ranked, p: ranked.cumsum(dim=-1) <= p))


@mistake(
    "Every symbol kept its chance: nothing was cut.",
    _share_kept,
    cases=("nucleus", "least"),
)
def _keeps_everything(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:  # noqa: ARG001
    return (logits / temperature).softmax(dim=-1)


def _with_both(evidence: Evidence) -> str:
    """What is kept where p and `least` both have a say."""
    return unwrapped(f"""With p = {float(evidence.inputs["p"]):g} and least = 2:
    {row_that_differs("both")(evidence)}""")


# With least = 1 it keeps one symbol too many, so it is asked for before that mistake.
@mistake(
    "You add `least` symbols to those that p takes; the larger of the two sets is kept.",
    lambda e: f"{_with_both(e)} With least = 1 your set holds one symbol more than p takes.",
    cases=("nucleus", "least", "both"),
)
def _least_added_in_full(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    taken = (_before(ranked) < p).sum(dim=-1, keepdim=True)
    return _back(ranked, order, _first(ranked, taken + least))


_keeps_one_too_many = mistake(
    "One symbol beyond the one that crosses p is kept.", lambda e: _share_kept(e)
)(
    _leaving(
        lambda ranked, p: (
            _before(ranked) - ranked.roll(1, dims=-1) * (torch.arange(ranked.shape[-1]) > 0) < p
        )
    )
)

_sorted_upwards = mistake(
    "You summed from the least likely symbol upwards.",
    lambda e: f"{_share_kept(e)} `sort` goes upwards unless told otherwise.",
    cases=("nucleus", "least"),
)(_leaving(lambda ranked, p: _before(ranked) < p, descending=False))


def _upwards_beside_the_likeliest(
    logits: Tensor, temperature: float, p: float, least: int
) -> Tensor:
    ranked, order = _ranked(logits / temperature, descending=False)
    return _back(ranked, order, (_before(ranked) < p) | _first(ranked, least).flip(-1))


@mistake(
    "You summed from the least likely symbol upwards, and kept the likeliest besides.",
    lambda e: unwrapped(f"""{_share_kept(e)} Sort downwards, and sum from the likeliest symbol:
    then it is among those that reach p."""),
    cases=("nucleus", "least", "extreme"),
    also=(_upwards_beside_the_likeliest,),
)
def _upwards_and_the_likeliest(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    summed = _upwards_beside_the_likeliest(logits, temperature, p, 1)
    enough = top_p(logits, temperature, 0.0, least)  # alone, where one of them is missing
    lacking = ((enough > 0) & (summed == 0)).any(dim=-1, keepdim=True)
    return torch.where(lacking, enough, summed)


@mistake(
    "You summed in the order of the alphabet; likely symbols come first.", lambda e: _share_kept(e)
)
def _sorted_not_at_all(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    shares = (logits / temperature).softmax(dim=-1)
    kept = (_before(shares) < p) | (torch.arange(logits.shape[-1]) < least)
    shares = shares * kept
    return shares / shares.sum(dim=-1, keepdim=True)


@mistake(
    "Your mask is in sorted order, and you laid it on logits that are not.",
    lambda e: f"{_share_kept(e)} `scatter` takes it back to the columns of its symbols.",
)
def _mask_not_taken_back(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, _ = _ranked(logits / temperature)
    kept = (_before(ranked) < p) | (torch.arange(logits.shape[-1]) < least)
    return (logits / temperature).masked_fill(~kept, -torch.inf).softmax(dim=-1)


@mistake(
    "Your rows are sorted: column j no longer belongs to symbol j.",
    lambda e: f"{_share_kept(e)} `scatter` takes sorted values back to their columns.",
)
def _left_sorted(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    return top_p(logits, temperature, p, least).sort(dim=-1, descending=True).values


_threshold_for_sum = mistake(
    "You compared single probabilities with 1 − p; it is their sum that has to reach p.",
    _share_kept,
    cases=("nucleus", "everything"),
)(_leaving(lambda ranked, p: ranked >= 1 - p))

_p_for_each_alone = mistake(
    "You compared single probabilities with p; it is their sum that has to reach p.",
    _share_kept,
    cases=("nucleus", "everything", "least"),
)(_leaving(lambda ranked, p: ranked >= p))


@mistake(
    "You keep a symbol only where both `p` and `least` let it in; either is enough.",
    lambda e: f"{_share_kept(e)} `least` is the smallest number of symbols, not the largest.",
    cases=("nucleus", "least", "everything"),
)
def _least_as_the_most(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    kept = (_before(ranked) < p) & (torch.arange(logits.shape[-1]) < least)
    return _back(ranked, order, kept)


@mistake(
    "You keep `least` symbols in every row, whatever p is.",
    lambda e: f"{_share_kept(e)} Is it a sum of probabilities that is compared with p?",
    cases=("nucleus", "least", "everything"),
)
def _p_ignored(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:  # noqa: ARG001
    return top_p(logits, temperature, 0.0, least)


_share_of_the_likeliest = mistake(
    "You keep the symbols with at least p times the largest probability; it is the sum of what is "
    "kept that has to reach p.",
    _share_kept,
    cases=("nucleus", "least", "extreme"),
)(_leaving(lambda ranked, p: ranked >= p * ranked[:, :1]))


@mistake(
    "Every row keeps as many symbols as the row that needs the most.",
    lambda e: f"{_share_kept(e)} Each row has a set of its own.",
)
def _largest_set_for_all(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    size = max(least, int((_before(ranked) < p).sum(dim=-1).max()))
    return _back(ranked, order, (torch.arange(logits.shape[-1]) < size).expand_as(ranked))


@mistake(
    "Every row keeps as many symbols as row 0 needs.",
    lambda e: f"{_share_kept(e)} Each row has a set of its own.",
)
def _first_set_for_all(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    size = max(least, int((_before(ranked[0]) < p).sum()))
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
    "You took what was sorted back with `gather`; that reads where `scatter` writes.",
    lambda e: unwrapped(f"""`order[b, r]` is the column of rank r. `scatter` writes value r there;
    `gather` takes the value of rank `order[b, v]` for column v. {_share_kept(e)}"""),
    also=(_mask_gathered_back, _mask_gathered_onto_logits),
)
def _gathered_back(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    kept = (_before(ranked) < p) | (torch.arange(logits.shape[-1]) < least)
    ranked = torch.where(kept, ranked, 0.0)
    return (ranked / ranked.sum(dim=-1, keepdim=True)).gather(-1, order)


@mistake(
    "You keep the symbols with the smallest numbers for `least`; the likeliest ones are meant.",
    lambda e: f"{_share_kept(e)} By rank, these are the first places of the sorted row.",
    cases=("nucleus", "least"),
)
def _least_by_number(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    return _back(ranked, order, (_before(ranked) < p) | (order < least))


@mistake(
    "Your softmax runs over the rows; it runs over the symbols of each row.",
    lambda e: f"In a (B, V) tensor symbols stand along the last dimension. {_share_kept(e)}",
)
def _softmax_over_rows(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = (logits / temperature).softmax(dim=0).sort(dim=-1, descending=True)
    kept = (_before(ranked) < p) | (torch.arange(logits.shape[-1]) < least)
    return _back(ranked, order, kept)


@mistake(
    "With `least` above 1 you keep that many, and do not ask what reaches p.",
    lambda e: f"{_with_both(e)} The larger of the two sets is kept.",
    cases=("nucleus", "least", "both"),
)
def _least_in_place_of_p(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    return top_p(logits, temperature, 0.0 if least > 1 else p, least)


@mistake(
    "You set probabilities to 0 and left the others as they were; they no longer sum to 1.",
    lambda e: f"{_share_kept(e)} Divide by the sum.",
)
def _not_renormalised(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    kept = top_p(logits, temperature, p, least) > 0
    return (logits / temperature).softmax(dim=-1) * kept


@mistake(
    "You cut first and took the temperature afterwards; temperature comes first.",
    lambda e: f"{_share_kept(e)} It changes how many symbols p takes.",
)
def _temperature_afterwards(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    kept = top_p(logits, 1.0, p, least) > 0
    return (logits / temperature).masked_fill(~kept, -torch.inf).softmax(dim=-1)


@mistake(
    "The temperature chose the set, and the probabilities are those without it.",
    lambda e: f"{_share_kept(e)} Renormalize what you chose from.",
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
    "The softmax was taken twice: probabilities were treated as logits.",
    lambda e: f"{_share_kept(e)} To renormalize, divide by the sum.",
    also=(_twice_without_division,),
)
def _softmax_twice(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    kept = top_p(logits, temperature, p, least)
    return kept.masked_fill(kept == 0, -torch.inf).softmax(dim=-1)


@mistake(
    "The temperature was taken twice: once for the set, and again for what is kept.",
    lambda e: f"{_share_kept(e)} The probabilities of the set come from softmax(logits / T), too.",
)
def _temperature_twice(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    kept = top_p(logits, temperature, p, least) > 0
    return (logits / temperature**2).masked_fill(~kept, -torch.inf).softmax(dim=-1)


@mistake(
    "You divided probabilities by the temperature; logits are divided, before the softmax.",
    lambda e: f"{_share_kept(e)} Divided by one number, probabilities keep their ratios.",
    cases=("nucleus", "least", "both"),
)
def _probabilities_divided(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    return top_p(logits, 1.0, p * temperature, least)


@mistake(
    "You set the logits of the others to 0; a logit of 0 still has the weight e⁰ = 1.",
    lambda e: f"{_share_kept(e)} Set them to −inf.",
)
def _zero_mask(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    kept = top_p(logits, temperature, p, least) > 0
    return (logits / temperature * kept).softmax(dim=-1)


@mistake(
    "Your set holds `least` − 1 symbols more than p takes; the larger of the two sets is kept.",
    lambda e: unwrapped(f"""You keep those that come before p is reached, and `least` more.
    {_with_both(e)}"""),
    cases=("nucleus", "least", "both"),
)
def _least_added(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, order = _ranked(logits / temperature)
    enough = (ranked.cumsum(dim=-1) < p).sum(dim=-1, keepdim=True)
    return _back(ranked, order, _first(ranked, enough + least))


_kept_and_cut_exchanged = mistake(
    "You keep the symbols that come when p is reached, and cut those that reach it.",
    lambda e: f"{_share_kept(e)} Is the comparison, or the mask, the other way round?",
    also=(
        _leaving(lambda ranked, p: ranked.cumsum(dim=-1) >= p),
        _leaving(lambda ranked, p: ranked.cumsum(dim=-1) >= p, at_least=False),
        _leaving(lambda ranked, p: _before(ranked) >= p, at_least=False),
    ),
)(_leaving(lambda ranked, p: _before(ranked) >= p))

_summed_over_rows = mistake(
    "Your cumulated sum runs down the rows; it runs along the symbols of each row.",
    lambda e: f"{_share_kept(e)} In a (B, V) tensor symbols stand along the last dimension.",
    # Where such a sum keeps everything, so do others; with a small p it keeps row 0 alone.
    cases=("nucleus", "least"),
    also=(_leaving(lambda ranked, p: ranked.cumsum(dim=0) - ranked < p, at_least=False),),
)(_leaving(lambda ranked, p: ranked.cumsum(dim=0) - ranked < p))


def _one_row_down(reached: Tensor) -> Tensor:
    moved = torch.zeros_like(reached)
    moved[1:] = reached[:-1]
    return moved


_mask_moved_down = mistake(
    "You moved what is to be cut on by one row; it moves on by one rank, along the last dimension.",
    lambda e: f"{_share_kept(e)} `mask[..., 1:]` are ranks, `mask[1:]` are rows.",
    also=(_leaving(lambda ranked, p: ~_one_row_down(ranked.cumsum(dim=-1) > p), at_least=False),),
)(_leaving(lambda ranked, p: ~_one_row_down(ranked.cumsum(dim=-1) > p)))


@mistake("The temperature has no effect.", lambda e: _share_kept(e))
def _temperature_ignored(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:  # noqa: ARG001
    return top_p(logits, 1.0, p, least)


@families.temperature_multiplied(_share_kept)
def _temperature_multiplied(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    return top_p(logits, 1 / temperature, p, least)


@mistake(
    "`least` has no effect.",
    lambda e: unwrapped(f"""With p = {float(e.inputs["tiny"]):g} and least = {e.number("least")}:
    {row_that_differs("least")(e)}"""),
    cases=("nucleus", "least", "zero"),
)
def _least_forgotten(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:  # noqa: ARG001
    return top_p(logits, temperature, p, 1)


def _least_in_all(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    """As many symbols as one row has to keep are enough in all rows."""
    enough = int((top_p(logits, temperature, p, 1) > 0).sum()) >= least
    return top_p(logits, temperature, p, 1 if enough else least)


@mistake(
    "You asked for `least` in all rows together; each row has to keep as many.",
    lambda e: unwrapped(f"""With least = 2 and one row in which a single symbol reaches p:
    {row_that_differs("one_row")(e)}"""),
    cases=("nucleus", "least", "one_row", "zero"),
    also=(_least_in_all,),
)
def _least_of_the_batch(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    enough = int((top_p(logits, temperature, p, 1) > 0).sum()) >= least * len(logits)
    return top_p(logits, temperature, p, 1 if enough else least)


def _tempered(evidence: Evidence) -> Array:
    """(B, V) the probabilities of all symbols at the temperature."""
    return softmax(evidence.inputs["logits"] / float(evidence.inputs["temperature"]))


def _enough_for_a_half(evidence: Evidence) -> bool:
    """True if of four symbols with a quarter each two are kept; any two, since none is likelier."""
    mine = evidence.shaped("exact", (2, evidence.number("V")))
    of_the_four = mine[:, evidence.inputs["quarters"]]
    return bool(
        np.allclose(np.sort(of_the_four), [0, 0, 0.5, 0.5], atol=1e-6)
        and np.count_nonzero(mine) == 2 * len(mine)
    )


def _more_than_a_half(evidence: Evidence) -> Finding | None:
    """Right but where the sum is p exactly."""
    if not sets_agree("nucleus")(evidence) or _enough_for_a_half(evidence):
        return None
    kept = int((evidence.yours("exact")[0] > 1e-9).sum())
    why = (
        "Comparing each probability with the smallest one that is kept keeps all that are as large."
        if kept == 4
        else "A symbol stays if those before it hold less than p."
    )
    return Finding(
        "beyond-reaching",
        "Where the sum is exactly p, the set is another one than the smallest.",
        f"Four symbols have a probability of 0.25 each, and any two of them reach p = 0.5; you "
        f"keep {kept}. {why}",
        CHOICE,
    )


TASK = Task(
    "The smallest set that reaches p",
    top_p,
    CHOICE,
    (
        Part(
            "The set is the smallest one that reaches p, after the temperature.",
            2,
            sets_agree("nucleus"),
        ),
        Part(
            "What is kept has its probability, renormalized; p = 1 keeps all, and p is reached "
            "where the sum is p exactly.",
            1,
            lambda e: (
                _enough_for_a_half(e)
                and e.same("nucleus", "everything", "extreme", "symbol")
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
        other_symbols("nucleus", _tempered),
        nearly_zero("nucleus", "extreme", "more"),
        extremes("extreme", "nucleus", "least", "everything"),
        _more_than_a_half,
        alone("everything", "symbol"),
    ),
    uncompared=("exact",),
    cases=("nucleus",),
)
