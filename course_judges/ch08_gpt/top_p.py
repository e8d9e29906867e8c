"""Judges 08/top-p: the smallest set whose probabilities reach p."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from course_judges.ch08_gpt.rows import (
    other_symbols,
    probabilities,
    row_that_differs,
    sets_agree,
)
from course_judges.ch08_gpt.sections import CHOICE
from course_judges.judging import Evidence, Mistake, Part, Task, matches


def top_p(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    """Probabilities (B, V) of the smallest set of likeliest symbols that reaches p."""
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
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


def _leaving(keep: Callable[[Tensor, float], Tensor], *, descending: bool = True) -> _Answer:
    """An answer that keeps other ranks: `keep(ranked, p)` is a mask (B, V)."""

    def answer(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
        ranked, order = _ranked(logits / temperature, descending=descending)
        kept = keep(ranked, p) | (torch.arange(logits.shape[-1]) < least)
        return _back(ranked, order, kept)

    return answer


def _before(ranked: Tensor) -> Tensor:
    return ranked.cumsum(dim=-1) - ranked


def _least_forgotten(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:  # noqa: ARG001
    return top_p(logits, temperature, p, 1)


def _temperature_afterwards(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    kept = top_p(logits, 1.0, p, least) > 0
    return (logits / temperature).masked_fill(~kept, -torch.inf).softmax(dim=-1)


def _temperature_ignored(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:  # noqa: ARG001
    return top_p(logits, 1.0, p, least)


def _temperature_multiplied(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    return top_p(logits, 1 / temperature, p, least)


def _not_renormalised(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    kept = top_p(logits, temperature, p, least) > 0
    return (logits / temperature).softmax(dim=-1) * kept


def _unsorted(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    shares = (logits / temperature).softmax(dim=-1)
    kept = (_before(shares) < p) | (torch.arange(logits.shape[-1]) < least)
    shares = shares * kept
    return shares / shares.sum(dim=-1, keepdim=True)


def _mask_not_taken_back(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    ranked, _ = _ranked(logits / temperature)
    kept = (_before(ranked) < p) | (torch.arange(logits.shape[-1]) < least)
    return (logits / temperature).masked_fill(~kept, -torch.inf).softmax(dim=-1)


def _left_sorted(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
    return top_p(logits, temperature, p, least).sort(dim=-1, descending=True).values


def _plain(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:  # noqa: ARG001
    return (logits / temperature).softmax(dim=-1)


def _share_kept(evidence: Evidence) -> str:
    p, t = float(evidence.inputs["p"]), float(evidence.inputs["temperature"])
    return f"With p = {p:g} at temperature {t:g}: {row_that_differs('nucleus')(evidence)}"


def _missing_share(evidence: Evidence) -> str:
    """How far below p the symbols stay that are left when the crossing one is cut."""
    mine, right = evidence.yours("nucleus"), evidence.right("nucleus")
    row = int(((mine > 1e-9) != (right > 0)).any(axis=-1).argmax())
    logits = evidence.inputs["logits"][row] / float(evidence.inputs["temperature"])
    shares = torch.tensor(logits).softmax(dim=-1).numpy()
    held = float(shares[mine[row] > 1e-9].sum())
    return (
        f"In row {row} what you keep holds {held:.3f} of the probability; the set has to reach"
        f" p = {float(evidence.inputs['p']):g}, so the symbol that crosses p belongs to it."
    )


def _mistake(
    name: str, answer: _Answer, what: str, why: str, cases: tuple[str, ...] = ("nucleus",)
) -> Mistake:
    return Mistake(
        name, answer, what, lambda e: f"{_share_kept(e)} {why}".strip(), CHOICE, cases=cases
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
            "What is kept has its probability, renormalised; p = 1 keeps all.",
            1,
            matches("nucleus", "everything"),
        ),
        Part("At least `least` symbols are kept, however small p is.", 1, matches("least")),
    ),
    (
        Mistake(
            "top-p-drops-crossing",
            _leaving(lambda ranked, p: ranked.cumsum(dim=-1) <= p),
            "You cut the symbol with which the sum crosses p; it belongs to the set.",
            _missing_share,
            CHOICE,
            cases=("nucleus",),
        ),
        _mistake(
            "keeps-everything",
            _plain,
            "Every symbol kept its chance: nothing was cut.",
            "",
            ("nucleus", "least"),
        ),
        _mistake(
            "keeps-one-too-many",
            _leaving(
                lambda ranked, p: (
                    _before(ranked) - ranked.roll(1, dims=-1) * (torch.arange(ranked.shape[-1]) > 0)
                    < p
                )
            ),
            "One symbol beyond the one that crosses p is kept.",
            "",
        ),
        _mistake(
            "sorted-upwards",
            _leaving(lambda ranked, p: _before(ranked) < p, descending=False),
            "You summed from the least likely symbol upwards.",
            "`sort` goes upwards unless told otherwise.",
            ("nucleus", "least"),
        ),
        _mistake(
            "sorted-not-at-all",
            _unsorted,
            "You summed in the order of the alphabet; likely symbols come first.",
            "",
        ),
        _mistake(
            "mask-not-taken-back",
            _mask_not_taken_back,
            "Your mask is in sorted order, and you laid it on logits that are not.",
            "`scatter` takes it back to the columns of its symbols.",
        ),
        _mistake(
            "left-sorted",
            _left_sorted,
            "Your rows are sorted: column j no longer belongs to symbol j.",
            "`scatter` takes sorted values back to their columns.",
        ),
        _mistake(
            "threshold-for-sum",
            _leaving(lambda ranked, p: ranked >= 1 - p),
            "You compared single probabilities with 1 − p; it is their sum that has to reach p.",
            "",
        ),
        _mistake(
            "not-renormalised",
            _not_renormalised,
            "You set probabilities to 0 and left the others as they were; they no longer sum to 1.",
            "Divide by the sum.",
        ),
        _mistake(
            "temperature-afterwards",
            _temperature_afterwards,
            "You cut first and took the temperature afterwards; temperature comes first.",
            "It changes how many symbols p takes.",
        ),
        _mistake("temperature-ignored", _temperature_ignored, "The temperature has no effect.", ""),
        _mistake(
            "temperature-multiplied",
            _temperature_multiplied,
            "You multiplied the logits by the temperature; they are divided by it.",
            "",
        ),
        Mistake(
            "least-forgotten",
            _least_forgotten,
            "`least` has no effect.",
            lambda e: (
                f"With p = {float(e.inputs['tiny']):g} and least ="
                f" {e.number('least')}: {row_that_differs('least')(e)}"
            ),
            CHOICE,
            cases=("nucleus", "least"),
        ),
    ),
    (probabilities("nucleus"), other_symbols("nucleus")),
)
