"""Judges 11/prefix-matching: how much a head looks behind earlier places of the same symbol."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch11_looking_inside.sections import FIND
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, row, unwrapped
from course_tasks.verdict import Finding


def _earlier(tokens: Tensor, diagonal: int = -1) -> Tensor:
    """(B, T, T) bool: position s holds the symbol of position t, and comes before it."""
    return (tokens[:, :, None] == tokens[:, None, :]).tril(diagonal)


def _behind(earlier: Tensor, by: int = 1) -> Tensor:
    """The same, shifted: position s − by holds the symbol."""
    shifted = torch.zeros_like(earlier)
    T = earlier.shape[-1]
    if by > 0:
        shifted[..., by:] = earlier[..., : T - by]
    elif by < 0:
        shifted[..., :by] = earlier[..., -by:]
    else:
        shifted = earlier
    return shifted


def _score(weights: Tensor, look: Tensor, asked: Tensor) -> Tensor:
    """Mean over the asked positions (B, T) of the weight on what is looked for (B, T, T)."""
    found = (weights * look[:, None]).sum(-1) * asked[:, None]  # (B, H, T)
    return found.sum(dim=(0, 2)) / asked.sum().clamp(min=1)


def prefix_matching(weights: Tensor, tokens: Tensor) -> Tensor:
    """A right answer to 11/prefix-matching: (B, H, T, T), (B, T) → (H,)."""
    earlier = _earlier(tokens)
    return _score(weights, _behind(earlier), earlier.any(-1))


def _numbers(evidence: Evidence) -> str:
    mine, right = evidence.yours("scores"), evidence.right("scores")
    return f"Your scores of the heads are {row(mine)}, expected {row(right)}."


_USUAL = ("scores",)


@mistake(
    "You added up the weight on the earlier symbol itself, not on the position behind it.",
    lambda e: f"{_numbers(e)} A head that does that finds duplicates; it cannot say what follows.",
)
def _duplicate_token(weights: Tensor, tokens: Tensor) -> Tensor:
    earlier = _earlier(tokens)
    return _score(weights, earlier, earlier.any(-1))


@mistake(
    "You look one position before the earlier symbol; the one behind it is asked for.",
    _numbers,
    also=(
        lambda weights, tokens: _score(
            weights.roll(1, dims=-1), _earlier(tokens), _earlier(tokens).any(-1)
        ),
    ),
)
def _one_before(weights: Tensor, tokens: Tensor) -> Tensor:
    earlier = _earlier(tokens)
    return _score(weights, _behind(earlier, -1), earlier.any(-1))


def _worked_out(evidence: Evidence) -> Finding | None:
    """The sum and the count that the score of head 0 is made of."""
    if evidence.same("scores"):
        return None
    earlier = _earlier(torch.as_tensor(evidence.inputs["tokens"]))
    asked, right = int(earlier.any(-1).sum()), evidence.right("scores")
    mine = evidence.shaped("scores", right.shape)
    return Finding(
        "another-score",
        "Your scores are not the weight behind earlier places, averaged over the positions that "
        "have some.",
        f"In these texts {asked} positions have a symbol that came before. For head 0 their "
        "weights on all places behind the earlier ones add up to "
        f"{number(float(right[0]) * asked, 4)}, which divided by {asked} is "
        f"{number(float(right[0]), 4)}; yours is {number(float(mine[0]), 4)}.",
        FIND,
    )


@mistake("You look two positions behind the earlier symbol.", _numbers)
def _two_behind(weights: Tensor, tokens: Tensor) -> Tensor:
    earlier = _earlier(tokens)
    return _score(weights, _behind(earlier, 2), earlier.any(-1))


@mistake(
    "You divided by all positions; those whose symbol is new have nothing to match.",
    lambda e: unwrapped(f"""{_numbers(e)} In {e.number("B")} texts of {e.number("T")} symbols,
    only some symbols have come before."""),
)
def _new_symbols_counted(weights: Tensor, tokens: Tensor) -> Tensor:
    look = _behind(_earlier(tokens))
    return _score(weights, look, torch.ones_like(tokens, dtype=torch.bool))


@mistake(
    "Each text counts the same in your mean; each position should.",
    lambda e: f"{_numbers(e)} A text with one repeated symbol weighs as much as one with many.",
)
def _mean_of_texts(weights: Tensor, tokens: Tensor) -> Tensor:
    each = [prefix_matching(w[None], row[None]) for w, row in zip(weights, tokens, strict=True)]
    return torch.stack(each).mean(0)


@mistake(
    "You count the weight behind the last earlier place only; those behind all of them add up.",
    _numbers,
)
def _last_place_only(weights: Tensor, tokens: Tensor) -> Tensor:
    earlier = _earlier(tokens)
    last = earlier & (earlier.flip(-1).cumsum(-1).flip(-1) == 1)
    return _score(weights, _behind(last), earlier.any(-1))


@mistake(
    "You count the weight behind the first earlier place only; those behind all of them add up.",
    _numbers,
)
def _first_place_only(weights: Tensor, tokens: Tensor) -> Tensor:
    earlier = _earlier(tokens)
    first = earlier & (earlier.cumsum(-1) == 1)
    return _score(weights, _behind(first), earlier.any(-1))


@mistake("You take the largest of a row's weights behind earlier places; they add up.", _numbers)
def _largest_weight(weights: Tensor, tokens: Tensor) -> Tensor:
    earlier = _earlier(tokens)
    best = (weights * _behind(earlier)[:, None]).amax(-1) * earlier.any(-1)[:, None]
    return best.sum(dim=(0, 2)) / earlier.any(-1).sum().clamp(min=1)


@mistake(
    "Rows and columns are exchanged: row t holds where position t looks.",
    lambda e: f"{_numbers(e)} Yours counts how much the position is looked at.",
)
def _rows_for_columns(weights: Tensor, tokens: Tensor) -> Tensor:
    return prefix_matching(weights.mT, tokens)


@mistake(
    "You count how often the largest weight is in the right place, not how large the weight is.",
    _numbers,
)
def _argmax_counted(weights: Tensor, tokens: Tensor) -> Tensor:
    earlier = _earlier(tokens)
    hit = _behind(earlier)[:, None].expand_as(weights).gather(-1, weights.argmax(-1)[..., None])
    asked = earlier.any(-1)
    return (hit[..., 0] & asked[:, None]).sum(dim=(0, 2)) / asked.sum().clamp(min=1)


@mistake(
    "With no repeated symbol there is nothing to average, and you divide by zero.",
    "For a text in which no symbol comes back the score is 0; yours is no number.",
    cases=("scores", "fresh"),
)
def _nothing_divided(weights: Tensor, tokens: Tensor) -> Tensor:
    earlier = _earlier(tokens)
    found = (weights * _behind(earlier)[:, None]).sum(-1) * earlier.any(-1)[:, None]
    return found.sum(dim=(0, 2)) / earlier.any(-1).sum()


@mistake(
    "Where no symbol comes back every score is 0; yours is another number.",
    lambda e: f"Your scores of such a text are {row(e.yours('fresh.none'))}.",
    cases=("scores", "fresh"),
    recognized=lambda e: (
        e.same("scores", "fresh.once")
        and bool(np.isfinite(e.shaped("fresh.none", e.right("fresh.none").shape)).all())
        and not e.same("fresh.none")
    ),
)
def _another_score_for_none(weights: Tensor, tokens: Tensor) -> Tensor:
    scores = prefix_matching(weights, tokens)
    return scores if _earlier(tokens).any() else torch.ones_like(scores)


def _one_number_for_none(evidence: Evidence) -> bool:
    mine, right = evidence.yours("fresh.none"), evidence.right("fresh.none")
    return evidence.same("scores", "fresh.once") and mine.size == 1 and mine.shape != right.shape


@mistake(
    "Where no symbol comes back you return one number; every head has a score of its own, 0.",
    lambda e: f"There are {e.number('H')} heads, so the shape is ({e.number('H')},).",
    recognized=_one_number_for_none,
)
def _one_zero_for_all(weights: Tensor, tokens: Tensor) -> Tensor:
    scores = prefix_matching(weights, tokens)
    return scores if _earlier(tokens).any() else torch.zeros(())


@mistake(
    "You divided by the number of earlier places; each position counts once, with all of its own.",
    _numbers,
)
def _each_place_counted(weights: Tensor, tokens: Tensor) -> Tensor:
    earlier = _earlier(tokens)
    found = (weights * _behind(earlier)[:, None]).sum(dim=(0, 2, 3))
    return found / earlier.sum().clamp(min=1)


def _not_itself(weights: Tensor, tokens: Tensor) -> Tensor:
    """Without the weight on the position itself; over all positions whose symbol came before."""
    return _score(weights, _behind(_earlier(tokens, -2)), _earlier(tokens).any(-1))


_itself_left_out = mistake(
    "You leave out the position itself: where its symbol has just been, it is what followed.",
    lambda e: f"s < t includes s = t − 1, and s + 1 is t then. {_numbers(e)}",
    also=(
        lambda weights, tokens: _score(
            weights, _behind(_earlier(tokens, -2)), _earlier(tokens, -2).any(-1)
        ),
    ),
)(_not_itself)


def _best_text(weights: Tensor, tokens: Tensor) -> Tensor:
    each = [prefix_matching(w[None], row[None]) for w, row in zip(weights, tokens, strict=True)]
    return torch.stack(each).amax(0)


_one_text_alone = mistake(
    "You return the score of a single text; the mean is over the positions of all.",
    _numbers,
    also=(lambda weights, tokens: prefix_matching(weights[:1], tokens[:1]), _best_text),
)(lambda weights, tokens: prefix_matching(weights[-1:], tokens[-1:]))


def _where(kept: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """An answer that knows of some earlier places only: those that `kept` leaves of (B, T, T)."""

    def answer(weights: Tensor, tokens: Tensor) -> Tensor:
        earlier = _earlier(tokens) & kept(tokens)
        return _score(weights, _behind(earlier), earlier.any(-1))

    return answer


@mistake("You average the weights on the places behind earlier ones; they add up.", _numbers)
def _mean_of_places(weights: Tensor, tokens: Tensor) -> Tensor:
    earlier = _earlier(tokens)
    look = _behind(earlier)
    each = (weights * look[:, None]).sum(-1) / look.sum(-1)[:, None].clamp(min=1)  # (B, H, T)
    return each.sum(dim=(0, 2)) / earlier.any(-1).sum().clamp(min=1)


_position_0_left_out = mistake(
    "You leave out position 0: a symbol that stands there comes back, too.",
    _numbers,
    also=(
        lambda weights, tokens: _score(
            weights,
            _behind(_earlier(tokens) & (torch.arange(tokens.shape[1]) > 0)),
            _earlier(tokens).any(-1),
        ),
    ),
)(_where(lambda tokens: torch.arange(tokens.shape[1]) > 0))

_token_0_left_out = mistake(
    "You leave out token 0, as if it were padding; it is a symbol like all others.", _numbers
)(_where(lambda tokens: (tokens != 0)[:, None]))

_last_position_left_out = mistake(
    "You leave out the last position; its symbol may have come before as well.", _numbers
)(lambda weights, tokens: prefix_matching(weights[..., :-1, :-1], tokens[:, :-1]))


@mistake("You count positions whose symbol comes back later; it has to have come before.", _numbers)
def _later_places_counted(weights: Tensor, tokens: Tensor) -> Tensor:
    same = tokens[:, :, None] == tokens[:, None, :]
    return _score(weights, _behind(_earlier(tokens)), same.sum(-1) > 1)


@mistake("You averaged the heads; each has a score of its own.", _numbers)
def _heads_averaged(weights: Tensor, tokens: Tensor) -> Tensor:
    scores = prefix_matching(weights, tokens)
    return scores.mean().expand(len(scores))


def _of_other_texts(heads_first: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """Texts and heads in one axis, and what is looked for in another order than the weights."""

    def answer(weights: Tensor, tokens: Tensor) -> Tensor:
        B, H, T = weights.shape[:3]
        earlier = _earlier(tokens)
        masks = _behind(earlier)
        if heads_first:
            flat = weights.transpose(0, 1).reshape(B * H, T, T)
            found = (flat * masks.repeat_interleave(H, 0)).sum((1, 2)).view(H, B).sum(1)
        else:
            flat = weights.reshape(B * H, T, T)
            found = (flat * masks.repeat(H, 1, 1)).sum((1, 2)).view(B, H).sum(0)
        return found / earlier.any(-1).sum().clamp(min=1)

    return answer


_places_of_other_texts = mistake(
    "You add up the weights of a text at the places behind another text's earlier symbols.",
    lambda e: unwrapped(f"""You divide by the right number. But with {e.number("B")} texts and
    {e.number("H")} heads in one axis, each text's mask has to stand in the rows of its own heads:
    `repeat_interleave` where a text's heads are neighbors, `repeat` where a head's texts are.
    {_numbers(e)}"""),
    also=(_of_other_texts(heads_first=True),),
)(_of_other_texts(heads_first=False))


TASK = Task(
    "The prefix-matching score",
    prefix_matching,
    FIND,
    (
        Part("The weight behind earlier places of the symbol, averaged.", 3, matches("scores")),
        Part("And where one token comes back, or none.", 1, matches("scores", "fresh")),
    ),
    cases=_USUAL,
    examples=(_worked_out,),
)
