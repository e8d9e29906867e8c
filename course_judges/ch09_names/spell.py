"""Judges 09/spell: one name, letter by letter, until the boundary."""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import torch

from course_judges import families
from course_judges.ch09_names.sections import BOUNDARY
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, unwrapped
from course_tasks.answers import Array
from course_tasks.ch09_names.models import Echoes
from course_tasks.ch09_names.spell import OTHER_MODE
from course_tasks.verdict import Finding


@dataclass(frozen=True)
class _Model:
    """A model in one of its modes. Two are equal if they give the same logits for the same letters,
    so that the many answers that a check tries share what was computed.
    """

    weights: tuple[bytes, float, int]
    training: bool
    ask: Echoes = field(compare=False)

    @classmethod
    def of(cls, model: Echoes, training: bool) -> _Model:
        weights = (model.table.numpy().tobytes(), model.fading, model.block_size)
        return cls(weights, training, model)


@lru_cache(maxsize=4096)
def _logits(model: _Model, context: tuple[int, ...]) -> Array:
    """(T, V) float64; cached, so don't write into them."""
    before = model.ask.training
    logits = model.ask.train(model.training)(torch.tensor([context]))[0]
    model.ask.train(before)
    return logits[0].numpy().astype(np.float64)


@dataclass(frozen=True)
class Speller:
    """An answer with one of its choices replaced."""

    mode: str = "restored"
    start: bool = True
    cropped: bool = True
    pinned: bool = False
    place: int = -1
    multiplied: bool = False
    forbidden: str = "-inf"
    counted: Callable[[int], int] = lambda prefix: 0  # noqa: ARG005
    greedy: bool = False
    stops: bool = True
    end_kept: bool = False
    prefix_kept: bool = True
    own_list: bool = True
    larger: bool = True
    by_place: bool = False
    same_number: bool = False
    tempered: bool = True
    in_order: bool = True
    off: int = 0
    boundary_returned: bool = False
    context: Callable[[list[int], int], list[int]] | None = None
    limit: Callable[[int, int], int] = lambda longest, given: longest  # noqa: ARG005
    from_the_end: bool = False
    again: bool = False
    asked_once: bool = False
    without_boundary: bool = False

    @torch.no_grad()
    def __call__(self, model, prefix, shortest, longest, temperature, uniform):
        """The letters of a name."""
        before = model.training
        letters = list(prefix) if self.own_list else prefix
        asked = _Model.of(model, before and self.mode == "training")
        given = len(prefix)
        too_short = given < shortest
        for point in reversed(uniform) if self.from_the_end else (*uniform, *uniform):
            if len(letters) >= self.limit(longest, given):
                break
            if self.by_place:
                point = uniform[len(letters) % len(uniform)]
            if self.same_number:
                point = uniform[0]
            least = shortest
            if self.asked_once:
                least = len(letters) + 1 if too_short else 0
            token = self._next(asked, letters, given, least, temperature, point)
            if token == 0 and self.again and len(letters) < shortest:
                continue
            if token == 0 and self.stops:
                letters += [0] * self.end_kept
                break
            letters.append(token)
        if before and self.mode == "evaluation":
            model.eval()
        letters = letters if self.prefix_kept else letters[given:]
        return [0, *letters] if self.boundary_returned else letters

    def _next(self, model, letters, given, shortest, temperature, point):
        context = [0, *letters] if self.start or not letters else letters
        block_size = model.ask.block_size
        if self.pinned and len(context) > block_size:
            context = [0, *context[1 - block_size :]]
        if self.cropped:
            context = context[-block_size:]
        if self.context is not None:
            context = self.context(letters, block_size)
        logits = _logits(model, tuple(context))[self.place]
        if not self.tempered:
            temperature = 1.0
        logits = logits * temperature if self.multiplied else logits / temperature
        early = len(letters) + self.counted(given) < shortest
        if (early and self.forbidden in ("-inf", "0")) or self.forbidden == "always":
            logits[0] = float("-inf" if self.forbidden == "always" else self.forbidden)
        if early and self.without_boundary:
            logits = logits[1:]
        weights = np.exp(logits - logits.max())
        weights /= weights.sum()
        if early and self.forbidden == "after":
            weights[0] = 0
        if self.greedy:
            return int(weights.argmax())
        order = None if self.in_order else (-weights).argsort(kind="stable")
        cumulative = (weights if order is None else weights[order]).cumsum()
        passed = int(cumulative.searchsorted(point, side="right" if self.larger else "left"))
        chosen = min(max(passed + self.off, 0), len(weights) - 1)
        return chosen if order is None else int(order[chosen])


spell = Speller()


def _shown(names, index: int) -> str:
    letters = [int(token) for token in names[index][:15] if token >= 0]
    return f"`{' '.join(map(str, letters))}`" if letters else "an empty name"


def _first_off(evidence: Evidence) -> str:
    for case, told in (
        ("prefix", "a prefix"),
        ("empty", "no prefix"),
        ("shortest", f"shortest = {evidence.number('shortest')}"),
    ):
        if not evidence.comparable(case):
            continue
        mine, right = evidence.yours(case), evidence.right(case)
        off = np.argwhere((mine[:, :15] != right[:, :15]).any(axis=1))
        if len(off):
            index = int(off[0, 0])
            return unwrapped(f"""With {told}, one of your names is {_shown(mine, index)} instead of
            {_shown(right, index)}.""")
    return ""


def _lengths(evidence: Evidence) -> str:
    lengths = (evidence.yours("shortest")[:, :15] >= 0).sum(axis=1)
    short = int((lengths < evidence.number("shortest")).sum())
    return unwrapped(f"""{short} of your {len(lengths)} names have fewer than
    {evidence.number("shortest")} letters. {_first_off(evidence)}""")


def _sharpness(evidence: Evidence) -> str:
    temperature = float(evidence.inputs["temperature"])
    return unwrapped(f"""The temperature is {number(temperature)}, so the logits should be
    multiplied by {number(1 / temperature)}. {_first_off(evidence)}""")


def _too_long(evidence: Evidence) -> bool:
    """True if the model complained that its context was too long."""
    errors = evidence.answers.errors.values()
    return any("more than block_size" in error.message for error in errors)


def _letters(case: str):
    """True if the names of a case are right, whatever mode the model was left in."""
    return lambda e: (
        e.comparable(case)
        and bool((e.right(case)[:, 0] >= 0).any())
        and bool((e.yours(case)[:, :15] == e.right(case)[:, :15]).all())
    )


_boundary_kept = mistake("You return the boundary that ends a name as a letter.", _first_off)(
    Speller(end_kept=True)
)

_writes_on = mistake(
    "You go on writing after the boundary was drawn.",
    lambda e: f"{_first_off(e)} Letters after a 0 belong to the next name.",
)(Speller(stops=False))

_no_start_boundary = mistake(
    "Once a name has letters, you no longer show the model the boundary in front of them.",
    lambda e: unwrapped(f"""{_first_off(e)} The model should read the last {e.number("block_size")}
    tokens of the boundary and the letters so far. Without the boundary, the first letter could be
    from anywhere in a name."""),
)(Speller(start=False))

_no_crop = mistake(
    "You gave the model more tokens than it can read.",
    lambda e: unwrapped(f"""It can read {e.number("block_size")} tokens, including the boundary, but
    names may have up to {e.number("longest")} letters. Show it only the last ones."""),
    recognized=_too_long,
)(Speller(cropped=False))

_boundary_pinned = mistake(
    "You keep the boundary at the front of your context, however long the name has become.",
    lambda e: unwrapped(f"""The model should read the last {e.number("block_size")} tokens of the
    boundary and the letters, so the boundary drops out once there are that many letters. A 0 in
    front of later letters would say that a name begins there. {_first_off(e)}"""),
)(Speller(pinned=True))

_reads_first_logits = families.reads_first_logits(_first_off)(Speller(place=0))

_temperature_multiplied = families.temperature_multiplied(_sharpness)(Speller(multiplied=True))

_temperature_ignored = mistake("The temperature has no effect on your letters.", _sharpness)(
    Speller(tempered=False)
)

_crops_the_end = families.crops_the_end(_first_off)(
    Speller(context=lambda letters, size: [0, *letters][:size])
)

_last_token_only = families.last_token_only(_first_off)(
    Speller(context=lambda letters, _: [0, *letters][-1:])
)

_context_too_short = mistake(
    "You show the model one token fewer than it can read.",
    lambda e: f"It should read the last {e.number('block_size')} tokens. {_first_off(e)}",
)(Speller(context=lambda letters, size: [0, *letters][-(size - 1) :]))

_boundary_behind = mistake(
    "You show the model the boundary after the letters, but it belongs in front of them.",
    lambda e: f"A 0 at the end says that the name is over. {_first_off(e)}",
)(Speller(context=lambda letters, size: [*letters, 0][-size:]))

_padded_with_boundaries = mistake(
    "You pad the context with boundaries, but there is only one, in front of the first letter.",
    lambda e: f"A shorter context needs no padding. {_first_off(e)}",
)(Speller(context=lambda letters, size: ([0] * size + letters)[-size:]))

_order_of_chances = mistake(
    "You add up the probabilities from the largest down instead of in the order of the tokens.",
    lambda e: f"Token 0 comes first, then token 1, and so on. {_first_off(e)}",
)(Speller(in_order=False))

_token_before = mistake(
    "You take the token before the one that u draws.",
    lambda e: unwrapped(f"""The index of the right token is the number of cumulative probabilities
    that are not larger than u. {_first_off(e)}"""),
)(Speller(off=-1))

_token_behind = mistake(
    "You take the token after the one that u draws.",
    lambda e: unwrapped(f"""The right token is the first one whose cumulative probability is larger
    than u. {_first_off(e)}"""),
)(Speller(off=1))

_one_number_for_all = mistake(
    "You draw every letter of a name with the first number of `uniform`.",
    lambda e: f"Each letter should take the next number. {_first_off(e)}",
)(Speller(same_number=True))

_never_ends = mistake(
    "You never let the boundary end a name, so all your names have `longest` letters.",
    lambda e: unwrapped(f"""The boundary is forbidden only while a name has fewer than `shortest`
    letters. {_first_off(e)}"""),
)(Speller(forbidden="always"))

_drawn_letters_up_to_longest = mistake(
    "You draw up to `longest` letters, but the letters of the prefix count as well.",
    _first_off,
    cases=("empty", "prefix", "shortest"),
)(Speller(limit=lambda longest, given: longest + given))

_one_letter_too_few = mistake(
    "Your names stop one letter short of `longest`.",
    _first_off,
    cases=("empty", "prefix", "shortest"),
)(Speller(limit=lambda longest, _: longest - 1))

_one_letter_too_many = mistake(
    "Your names may have one letter more than `longest`.",
    _first_off,
    cases=("empty", "prefix", "shortest"),
)(Speller(limit=lambda longest, _: longest + 1))

_one_more_than_shortest = mistake(
    "You forbid the boundary for one letter too many.",
    lambda e: unwrapped(f"""A name may end once it has exactly `shortest` letters, so if `shortest`
    is 0 it may even be empty. {_first_off(e)}"""),
)(Speller(counted=lambda _: -1))

_boundary_in_front = mistake(
    "You return the boundary in front of the letters.",
    lambda e: f"The model needs to read it, but the name has letters only. {_first_off(e)}",
)(Speller(boundary_returned=True))

_most_likely = mistake(
    "You always took the most likely letter instead of drawing one.",
    lambda e: unwrapped(f"""All {len(e.yours("empty"))} of your names without a prefix are the same.
    {_first_off(e)}"""),
)(Speller(greedy=True))

_as_large_is_enough = mistake(
    "You draw a token whose cumulative probability equals u, but it has to be larger than u.",
    lambda e: unwrapped(f"""One of the numbers u is 0, and where the boundary is forbidden, its
    cumulative probability is 0 as well. Then you draw the boundary. `torch.searchsorted` also finds
    equal values unless you pass `right=True`. {_first_off(e)}"""),
)(Speller(larger=False))

_numbers_by_place = mistake(
    "You use number n of `uniform` for letter n of the name, so a prefix skips the first numbers.",
    lambda e: f"The first letter that you draw should take the first number. {_first_off(e)}",
)(Speller(by_place=True))

_ends_too_soon = mistake("You let names end before they are long enough.", _lengths)(
    Speller(forbidden="no")
)

_zero_mask = mistake(
    "You forbid the boundary by setting its logit to 0, but it has to be −inf.",
    lambda e: f"{_lengths(e)} A logit of 0 still gives the boundary a weight of e⁰ = 1.",
)(Speller(forbidden="0"))

_not_renormalised = mistake(
    "You set the boundary's probability to 0 after the softmax, so the rest don't sum to 1.",
    _first_off,
)(Speller(forbidden="after"))

_drawn_again = mistake(
    "When the boundary comes too early you draw again, but it should have no chance at all.",
    lambda e: unwrapped(f"""Each letter takes exactly one number of `uniform`, and while the
    boundary is forbidden, the probabilities of the other tokens sum to 1. {_first_off(e)}"""),
)(Speller(forbidden="no", again=True))

_numbers_by_remaining = mistake(
    "You removed the boundary's logit, which moves every other token down by one.",
    lambda e: unwrapped(f"""The logit of token v has to stay at index v. Set the boundary's logit to
    −inf instead of removing it. {_first_off(e)}"""),
)(Speller(without_boundary=True))

_asked_only_at_first = mistake(
    "You check only once whether the name is too short, but you have to before each letter.",
    _first_off,
)(Speller(asked_once=True))

_numbers_from_the_end = mistake(
    "You take the numbers of `uniform` from the end, but the first one draws the first letter.",
    lambda e: f"`pop()` takes the last item. {_first_off(e)}",
)(Speller(from_the_end=True))

_both_boundaries = mistake(
    "You return the letters with a boundary on each side, but the name has letters only.",
    _first_off,
    also=(lambda *given: [0, *spell(*given), 0],),
)(Speller(boundary_returned=True, end_kept=True))

_prefix_not_counted = mistake(
    "You count only the letters that you draw, but the prefix belongs to the name, too.", _first_off
)(Speller(counted=lambda prefix: -prefix))

_boundary_counted = mistake(
    "Where you forbid the boundary, your count of letters is one too high.",
    lambda e: f"Do you count the boundary at the beginning? It isn't a letter. {_lengths(e)}",
)(Speller(counted=lambda _: 1))

_prefix_forgotten = mistake(
    "You return only the letters that you drew, but the name begins with its prefix.", _first_off
)(Speller(prefix_kept=False))

_training_mode = mistake("You left the model in training mode while it wrote.", _first_off)(
    Speller(mode="training")
)

_left_in_evaluation = mistake(
    "You left the model in evaluation mode.",
    lambda e: unwrapped(f"""All {3 * len(e.yours("empty"))} names are right, but if training goes on
    after your call, it goes on without dropout."""),
)(Speller(mode="evaluation"))


_prefix_changed = mistake(
    "You added your letters to the list that you were given as prefix.",
    lambda e: unwrapped(f"""All {3 * len(e.yours("empty"))} names are right, but anyone who calls
    your function twice with the same list gets a different name the second time. Start with
    `list(prefix)`."""),
)(Speller(own_list=False))


def _other_mode(evidence: Evidence) -> Finding | None:
    if not all(_letters(case)(evidence) for case in ("empty", "prefix", "shortest")):
        return None
    cases = ("empty", "prefix", "complete")
    if not any((evidence.yours(c)[:, 15] == OTHER_MODE).any() for c in cases):
        return None
    return Finding(
        "mode-not-restored",
        "You left the model in a different mode from the one you found it in.",
        "It came in training mode for one name and in evaluation mode for the next, and should be "
        "back in that mode each time.",
        BOUNDARY,
    )


def _writes_beyond(evidence: Evidence) -> Finding | None:
    """A prefix that already has `longest` letters but isn't returned unchanged."""
    if not all(_letters(case)(evidence) for case in ("empty", "prefix", "shortest")):
        return None
    mine = evidence.yours("complete")
    if (mine[:, :15] == evidence.right("complete")[:, :15]).all():
        return None
    length = int((evidence.right("complete")[0, :15] >= 0).sum())
    return Finding(
        "complete-prefix-goes-on",
        "You don't return a prefix unchanged if it already has `longest` letters.",
        f"With longest = {length} and a prefix of {length} letters, you return {_shown(mine, 0)}. "
        "Check whether the name may have another letter before you draw one.",
        BOUNDARY,
    )


def _other_names(evidence: Evidence) -> Finding | None:
    told = _first_off(evidence)
    if not told:
        return None
    if _letters("empty")(evidence) and _letters("prefix")(evidence):
        return Finding(
            "others-where-forbidden",
            "Your names are right if they may end at any letter, but wrong if they have to reach "
            "`shortest`.",
            f"{told} While a name is too short, the boundary has a probability of 0 and the other "
            "probabilities sum to 1. Tokens keep their numbers, and each letter takes one u.",
            BOUNDARY,
        )
    at = f"At temperature {number(float(evidence.inputs['temperature']))}, "
    told = at + told[0].lower() + told[1:]
    return Finding("other-names", "Some of your names are wrong.", told, BOUNDARY)


TASK = Task(
    "Letters until the boundary",
    spell,
    BOUNDARY,
    (
        Part("Names without a prefix are right.", 2, _letters("empty")),
        Part("Names with a prefix are right.", 1, _letters("prefix")),
        Part("Names that may not end too soon are right.", 2, _letters("shortest")),
        Part(
            "All are right, and the model is in its mode again, the prefix as it was.",
            1,
            matches("empty", "prefix", "shortest", "complete"),
        ),
    ),
    properties=(_other_mode, _writes_beyond, _other_names),
)
