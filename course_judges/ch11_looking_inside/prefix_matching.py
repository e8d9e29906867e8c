"""Judges 11/prefix-matching: how much a head looks right after earlier places of its symbol."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch11_looking_inside.sections import FIND
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, row, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def _earlier(tokens: Tensor, diagonal: int = -1) -> Tensor:
    """(B, T, T) bool: position s holds the symbol of position t and comes before it."""
    return (tokens[:, :, None] == tokens[:, None, :]).tril(diagonal)


def _behind(earlier: Tensor) -> Tensor:
    """The same, one column further on: position s − 1 holds the symbol."""
    return earlier.roll(1, dims=-1)


def _score(weights: Tensor, look: Tensor, asked: Tensor) -> Tensor:
    """(H,) the mean over the `asked` positions (B, T) of the weight on `look` (B, T, T)."""
    found = (weights * look[:, None]).sum(-1) * asked[:, None]  # (B, H, T)
    return found.sum(dim=(0, 2)) / asked.sum().clamp(min=1)


def prefix_matching(weights: Tensor, tokens: Tensor) -> Tensor:
    """A right answer to 11/prefix-matching: (B, H, T, T), (B, T) → (H,)."""
    same = tokens[:, :, None] == tokens[:, None, :]
    earlier = same.tril(diagonal=-1)  # the earlier occurrences (B, T, T)
    behind = earlier.roll(1, dims=-1)  # the positions right after them (B, T, T)
    inside = weights * behind[:, None]  # the weights there (B, H, T, T)
    found = inside.sum(dim=-1)  # the weight of each position there (B, H, T)
    asked = earlier.any(dim=-1)  # the positions whose symbol came before (B, T)
    total = found.sum(dim=(0, 2))  # the sum of each head (H,)
    count = asked.sum()  # what you divide by
    return total / count.clamp(min=1)  # your scores (H,)


def _numbers(evidence: Evidence) -> str:
    mine, right = evidence.yours("scores"), evidence.right("scores")
    return f"Your scores of the heads are {row(mine)}, but should be {row(right)}."


_USUAL = ("scores",)


def _sums(evidence: Evidence) -> str:
    """The sum and the count that the score of head 0 is made of."""
    earlier = _earlier(torch.as_tensor(evidence.inputs["tokens"]))
    asked, right = int(earlier.any(-1).sum()), evidence.right("scores")
    mine = evidence.shaped("scores", right.shape)
    return (
        f"In these texts, {asked} positions have a symbol that came before. In head 0, their "
        "weights on all positions after earlier occurrences add up to "
        f"{number(float(right[0]) * asked, 4)}. Divided by {asked}, that is "
        f"{number(float(right[0]), 4)}, but your score is {number(float(mine[0]), 4)}."
    )


@mistake(
    "You averaged within each text first, but all positions should count equally.",
    lambda e: unwrapped(f"""{_numbers(e)} Your way, a text with one repeated symbol counts as much
    as a text with many."""),
)
def _mean_of_texts(weights: Tensor, tokens: Tensor) -> Tensor:
    each = [prefix_matching(w[None], row[None]) for w, row in zip(weights, tokens, strict=True)]
    return torch.stack(each).mean(0)


@mistake(
    "You used only the last earlier occurrence, but the weights after all of them add up.",
    _numbers,
)
def _last_place_only(weights: Tensor, tokens: Tensor) -> Tensor:
    earlier = _earlier(tokens)
    last = earlier & (earlier.flip(-1).cumsum(-1).flip(-1) == 1)
    return _score(weights, _behind(last), earlier.any(-1))


@mistake(
    "You swapped rows and columns of the weights.",
    lambda e: unwrapped(f"""{_numbers(e)} Row t says where position t looks, but you read how much
    position t is looked at."""),
)
def _rows_for_columns(weights: Tensor, tokens: Tensor) -> Tensor:
    return prefix_matching(weights.mT, tokens)


@mistake(
    "If no symbol is repeated, there is nothing to average and you divide by zero.",
    "For a text in which no symbol is repeated, the scores should be 0, but yours are NaN.",
    cases=("scores", "fresh"),
)
def _nothing_divided(weights: Tensor, tokens: Tensor) -> Tensor:
    earlier = _earlier(tokens)
    found = (weights * _behind(earlier)[:, None]).sum(-1) * earlier.any(-1)[:, None]
    return found.sum(dim=(0, 2)) / earlier.any(-1).sum()


def _one_number_for_none(evidence: Evidence) -> bool:
    mine, right = evidence.yours("fresh.none"), evidence.right("fresh.none")
    return evidence.same("scores", "fresh.once") and mine.size == 1 and mine.shape != right.shape


@mistake(
    "If no symbol is repeated, you return a single number instead of a 0 for each head.",
    lambda e: f"There are {e.number('H')} heads, so the shape should be ({e.number('H')},).",
    recognized=_one_number_for_none,
)
def _one_zero_for_all(weights: Tensor, tokens: Tensor) -> Tensor:
    scores = prefix_matching(weights, tokens)
    return scores if _earlier(tokens).any() else torch.zeros(())


_each_place_counted = mistake(
    "You divided by the number of earlier occurrences instead of the number of positions.",
    lambda e: unwrapped(f"""A position counts once, no matter how often its symbol came before.
    {_numbers(e)}"""),
)(Like("left-out-any-in-the-positions-whose-symbol-came-before"))

_divided_by_the_heads = mistake(
    "You divide by the number of heads, too, but each head has its own score.",
    lambda e: unwrapped(f"""A position counts once, but a mask that has the axis of the heads counts
    it {e.number("H")} times. {_numbers(e)}"""),
)(lambda weights, tokens: prefix_matching(weights, tokens) / weights.shape[1])


def _not_itself(weights: Tensor, tokens: Tensor) -> Tensor:
    """Leaves out the weight on the position itself, but not the position from the mean."""
    return _score(weights, _behind(_earlier(tokens, -2)), _earlier(tokens).any(-1))


_itself_left_out = mistake(
    "You left out the weight on position t itself, but it counts if its symbol is also at t − 1.",
    lambda e: f"s < t includes s = t − 1, and then s + 1 is t. {_numbers(e)}",
    also=(_not_itself,),
)(Like("used-tril-with-diagonal-minus-2-instead-of-minus-1-in-the-earlier-occurrences"))


def _best_text(weights: Tensor, tokens: Tensor) -> Tensor:
    each = [prefix_matching(w[None], row[None]) for w, row in zip(weights, tokens, strict=True)]
    return torch.stack(each).amax(0)


_one_text_alone = mistake(
    "Each of your scores comes from a single text instead of from the positions of all texts.",
    _numbers,
    also=(lambda weights, tokens: prefix_matching(weights[:1], tokens[:1]), _best_text),
)(lambda weights, tokens: prefix_matching(weights[-1:], tokens[-1:]))


def _rolled(weights: Tensor, tokens: Tensor) -> Tensor:
    same = tokens[:, :, None] == tokens[:, None, :]
    found = (weights * same.roll(1, dims=-1).tril()[:, None]).sum(dim=(0, 2, 3))
    return found / _earlier(tokens).any(-1).sum().clamp(min=1)


def _rolled_where_asked(weights: Tensor, tokens: Tensor) -> Tensor:
    same = tokens[:, :, None] == tokens[:, None, :]
    return _score(weights, same.roll(1, dims=-1).tril(), _earlier(tokens).any(-1))


_rolled_round = mistake(
    "You rolled the matches by a column before you left out the future.",
    lambda e: unwrapped(f"""`roll` brings the last column round to column 0, so the weight on
    position 0 counts for each position that holds the last symbol of the text. Leave out s ≥ t
    first. {_numbers(e)}"""),
    also=(_rolled_where_asked,),
)(_rolled)


@mistake("You averaged over the heads, but each head has its own score.", _numbers)
def _heads_averaged(weights: Tensor, tokens: Tensor) -> Tensor:
    scores = prefix_matching(weights, tokens)
    return scores.mean().expand(len(scores))


def _of_other_texts(heads_first: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """Flattens texts and heads into one axis, the masks in another order than the weights."""

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
    "You used the masks of other texts, so you add up weights in the wrong places.",
    lambda e: unwrapped(f"""You divide by the right number. But if {e.number("B")} texts and
    {e.number("H")} heads share one axis, each mask has to line up with the heads of its own text:
    use `repeat_interleave` if a text's heads are next to each other, or `repeat` if a head's texts
    are. {_numbers(e)}"""),
    also=(_of_other_texts(heads_first=True),),
)(_of_other_texts(heads_first=False))


def _follows(tokens: Array, t: int, s: int) -> str:
    """Why the weight of position t on position s counts, or why it doesn't."""
    if s == 0:
        return "nothing comes before position 0"
    if tokens[s - 1] == tokens[t]:
        return f"position {s - 1} holds the same symbol as position {t}, and {s} is right after it"
    return f"position {s - 1} holds {tokens[s - 1]}, and position {t} holds {tokens[t]}"


def _weights_counted(evidence: Evidence) -> Finding | None:
    """Which weights of a single text go into the score, and by what they are divided."""
    right = evidence.right("single")
    mine = evidence.shaped("single", right.shape)
    if evidence.same("single") or evidence.same("scores") or not mine.any():
        return None
    tokens = evidence.inputs["single"][0]
    places = np.argwhere(np.tri(len(tokens)))  # (t, s) of each head
    asked = round(1 / float(right.max()))
    counts, should = abs(mine) > 1e-6, right > 0
    extra, missing = places[counts & ~should], places[should & ~counts]
    shares = mine[counts]
    divided = 1 / float(shares[0]) if len(shares) and np.allclose(shares, shares[0]) else 0.0
    said = [
        f"We gave your function the text {tokens.tolist()}, and heads that each have only one "
        "weight, which is 1."
    ]
    for some, what in ((extra, "You count {}that you shouldn't"), (missing, "You leave out {}")):
        if len(some):
            t, s = (int(i) for i in some[0])
            many = "a weight " if len(some) == 1 else f"{len(some)} weights "
            such = "that" if len(some) == 1 else "such as that"
            said.append(
                f"{what.format(many).strip()}, {such} of position {t} on position {s}: "
                f"{_follows(tokens, t, s)}."
            )
    none = " or not at all" if divided == 1 else ""
    known = [int(t) for t in range(len(tokens)) if tokens[t] in tokens[:t]]
    if divided and abs(divided - asked) > 1e-3:
        said.append(
            f"You divide the sum by {number(divided)}{none}, but {asked} positions have a symbol "
            f"that came before: {listed(known)}."
        )
    elif not divided and len(shares):
        low, high = float(shares.min()), float(shares.max())
        said.append(
            f"And you don't count all weights alike: a weight of 1 adds between {number(low)} and "
            f"{number(high)} to your score. Each should add 1 / {asked}, because {asked} positions "
            "have a symbol that came before."
        )
    what = (
        "Your score counts weights in the wrong places."
        if len(extra)
        else "Your score leaves out weights that count."
        if len(missing)
        else "Your score counts the right weights, but doesn't divide by the number of positions "
        "whose symbol came before."
    )
    return Finding("weights-counted", what, " ".join(said), FIND)


def _count(evidence: Evidence) -> int | None:
    """By which whole number the right sums are divided, if there is one for all heads."""
    right = evidence.right("scores").astype(float)
    mine = evidence.shaped("scores", right.shape).astype(float)
    asked = int(_earlier(torch.as_tensor(evidence.inputs["tokens"])).any(-1).sum())
    if not mine.all():
        return None
    counts = right * asked / mine
    count = round(float(counts.mean()))
    return count if np.allclose(counts, count, rtol=1e-4, atol=0) else None


def _other_count(evidence: Evidence, count: int) -> Finding:
    """The right sums over several texts, divided by the wrong number."""
    tokens = torch.as_tensor(evidence.inputs["tokens"])
    everywhere = tokens.numel() - tokens.unique().numel()
    why = (
        "You also count positions whose symbol came before only in an earlier text. "
        if count == everywhere
        else ""
    )
    return Finding(
        "right-for-one-text",
        f"The sum of your weights is right, but with several texts you divide it by {count}.",
        f"{why}Count the positions, in all texts, whose symbol came before in the same text. "
        f"{_sums(evidence)}",
        FIND,
    )


def _right_for_one_text(evidence: Evidence) -> Finding | None:
    """Right for a single text, but not for several."""
    if not evidence.same("single") or evidence.same("scores") or evidence.number("B") < 2:
        return None
    if (count := _count(evidence)) is not None:
        return _other_count(evidence, count)
    return Finding(
        "right-for-one-text",
        "Your scores are right for a single text, but not for several.",
        "Add up the weights of all texts, and divide the sum once by the number of positions, in "
        f"all texts, whose symbol came before. {_sums(evidence)}",
        FIND,
    )


TASK = Task(
    "The prefix-matching score",
    prefix_matching,
    FIND,
    (
        Part("The weight behind earlier places of the symbol, averaged.", 3, matches("scores")),
        Part("And where one token comes back, or none.", 1, matches("scores", "fresh")),
    ),
    cases=_USUAL,
    properties=(_weights_counted, _right_for_one_text),
    steps={
        "the earlier occurrences": Step("A position matches those before it, and not itself."),
        "the positions right after them": Step(
            "What came next after an earlier occurrence is one position further on."
        ),
        "the weights there": Step("Row t of the weights says where position t looks."),
        "the weight of each position there": Step("The weights after all occurrences add up."),
        "the positions whose symbol came before": Step(
            "A new symbol has nothing to match, so its position doesn't count."
        ),
        "the sum of each head": Step(
            "Positions of all texts count equally, and each head has one."
        ),
        "what you divide by": Step(
            "A position counts once, no matter how often its symbol came before."
        ),
        "your scores": Step("Each head has a score of its own."),
    },
)
