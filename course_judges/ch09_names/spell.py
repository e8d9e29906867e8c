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
    """A model in one of its modes. Two are equal if they say the same after the same letters, and
    most answers that a check tries ask them alike.
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
    """(T, V) float64: nobody may write into them."""
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
    return f"`{' '.join(map(str, letters))}`"


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
            return unwrapped(f"""With {told} one of your names is {_shown(mine, index)}; expected
            {_shown(right, index)}.""")
    return ""


def _lengths(evidence: Evidence) -> str:
    lengths = (evidence.yours("shortest")[:, :15] >= 0).sum(axis=1)
    short = int((lengths < evidence.number("shortest")).sum())
    return unwrapped(f"""{short} of your {len(lengths)} names are shorter than
    {evidence.number("shortest")} letters. {_first_off(evidence)}""")


def _sharpness(evidence: Evidence) -> str:
    temperature = float(evidence.inputs["temperature"])
    return unwrapped(f"""The temperature is {number(temperature)}: logits should be multiplied by
    {number(1 / temperature)}. {_first_off(evidence)}""")


def _too_long(evidence: Evidence) -> bool:
    """True if the model complained of its context."""
    errors = evidence.answers.errors.values()
    return any("more than block_size" in error.message for error in errors)


def _letters(case: str):
    """True if the names of a case are right, whatever mode the model was left in."""
    return lambda e: (
        e.comparable(case)
        and bool((e.right(case)[:, 0] >= 0).any())
        and bool((e.yours(case)[:, :15] == e.right(case)[:, :15]).all())
    )


_boundary_kept = mistake("The boundary that ends a name is in your letters.", _first_off)(
    Speller(end_kept=True)
)

_writes_on = mistake(
    "You write on after the boundary was drawn.",
    lambda e: f"{_first_off(e)} What follows a 0 is the next name.",
)(Speller(stops=False))

_no_start_boundary = mistake(
    "As soon as a name has letters, the boundary is missing before them in what the model reads.",
    lambda e: unwrapped(f"""{_first_off(e)} The model reads the last {e.number("block_size")} of the
    boundary and the letters so far. Without the boundary, a first letter might be any letter of a
    name."""),
)(Speller(start=False))

_no_crop = mistake(
    "You gave the model more tokens than it can read.",
    lambda e: unwrapped(f"""It reads the last {e.number("block_size")}, boundary included; names may
    have up to {e.number("longest")} letters."""),
    recognized=_too_long,
)(Speller(cropped=False))

_boundary_pinned = mistake(
    "Your context keeps the boundary in front of it, however long the name has become.",
    lambda e: unwrapped(f"""The model reads the last {e.number("block_size")} tokens of the boundary
    and the letters. Once there are that many letters, the boundary is none of them. A 0 in front of
    later letters says that a name begins there. {_first_off(e)}"""),
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
    "The model is shown one token less than it can read.",
    lambda e: f"It reads the last {e.number('block_size')} tokens. {_first_off(e)}",
)(Speller(context=lambda letters, size: [0, *letters][-(size - 1) :]))

_boundary_behind = mistake(
    "The boundary stands behind the letters in what you show the model; it stands before them.",
    lambda e: f"A 0 at the end says that the name is over. {_first_off(e)}",
)(Speller(context=lambda letters, size: [*letters, 0][-size:]))

_padded_with_boundaries = mistake(
    "You fill what you show the model up with boundaries; there is one, before the first letter.",
    lambda e: f"A shorter text needs no filling. {_first_off(e)}",
)(Speller(context=lambda letters, size: ([0] * size + letters)[-size:]))

_order_of_chances = mistake(
    "You add the probabilities up from the largest down; they are added in the tokens' order.",
    lambda e: f"Token 0 comes first, then token 1. {_first_off(e)}",
)(Speller(in_order=False))

_token_before = mistake(
    "You take the token before the one that u draws.",
    lambda e: unwrapped(f"""As many cumulative probabilities as are not larger than u come before
    the right token, which has this number for its index. {_first_off(e)}"""),
)(Speller(off=-1))

_token_behind = mistake(
    "You take the token behind the one that u draws.",
    lambda e: unwrapped(f"""The first token whose cumulative probability is larger than u is the
    one. {_first_off(e)}"""),
)(Speller(off=1))

_one_number_for_all = mistake(
    "Every letter of a name is drawn with the first number of `uniform`.",
    lambda e: f"Each draw takes the next one. {_first_off(e)}",
)(Speller(same_number=True))

_never_ends = mistake(
    "Your names never end with the boundary: they have `longest` letters in any case.",
    lambda e: f"It is forbidden only while a name has fewer than `shortest`. {_first_off(e)}",
)(Speller(forbidden="always"))

_drawn_letters_up_to_longest = mistake(
    "You draw up to `longest` letters; those of the prefix count as well.",
    _first_off,
    cases=("empty", "prefix", "shortest"),
)(Speller(limit=lambda longest, given: longest + given))

_one_letter_too_few = mistake(
    "Your names end one letter before they have `longest`.",
    _first_off,
    cases=("empty", "prefix", "shortest"),
)(Speller(limit=lambda longest, _: longest - 1))

_one_letter_too_many = mistake(
    "Your names may have one letter more than `longest`.",
    _first_off,
    cases=("empty", "prefix", "shortest"),
)(Speller(limit=lambda longest, _: longest + 1))

_one_more_than_shortest = mistake(
    "You forbid the boundary for one letter too long.",
    lambda e: unwrapped(f"""A name of exactly `shortest` letters may end, and where `shortest` is 0
    an empty one. {_first_off(e)}"""),
)(Speller(counted=lambda _: -1))

_boundary_in_front = mistake(
    "The boundary stands in front of the letters that you return.",
    lambda e: f"The model reads it; the name has letters only. {_first_off(e)}",
)(Speller(boundary_returned=True))

_most_likely = mistake(
    "You took the most likely letter and drew nothing.",
    lambda e: unwrapped(f"""Your {len(e.yours("empty"))} names without a prefix are
    {len(np.unique(e.yours("empty")[:, :15], axis=0))} different ones. {_first_off(e)}"""),
)(Speller(greedy=True))

_as_large_is_enough = mistake(
    "You draw the first token whose cumulative probability is u; it has to be larger than u.",
    lambda e: unwrapped(f"""One of the numbers u is 0, and 0 is the sum before any token that has a
    chance. `torch.searchsorted` looks for what is as large, unless `right=True`.
    {_first_off(e)}"""),
)(Speller(larger=False))

_numbers_by_place = mistake(
    "You take number n of `uniform` for letter n of the name, so a prefix skips the first ones.",
    lambda e: f"The first letter that is drawn gets the first number. {_first_off(e)}",
)(Speller(by_place=True))

_ends_too_soon = mistake("The boundary was drawn before the name was long enough.", _lengths)(
    Speller(forbidden="no")
)

_zero_mask = mistake(
    "You set the boundary's logit to 0 where −inf belongs.",
    lambda e: f"{_lengths(e)} A logit of 0 is a weight of e⁰ = 1.",
)(Speller(forbidden="0"))

_not_renormalised = mistake(
    "You took the boundary's probability away after the softmax; the rest no longer sums to 1.",
    _first_off,
)(Speller(forbidden="after"))

_drawn_again = mistake(
    "Where the boundary comes too early you draw again; it is to have no chance at all.",
    lambda e: unwrapped(f"""Each letter takes one number of `uniform`, and the others' probabilities
    sum to 1. {_first_off(e)}"""),
)(Speller(forbidden="no", again=True))

_numbers_by_remaining = mistake(
    "Without the boundary's logit every other one stands one place lower, and so do your tokens.",
    lambda e: f"Token v has the logit at place v: let the boundary's be −inf. {_first_off(e)}",
)(Speller(without_boundary=True))

_asked_only_at_first = mistake(
    "You ask once whether the name is too short; it has to be asked before each letter.",
    _first_off,
)(Speller(asked_once=True))

_numbers_from_the_end = mistake(
    "You take the numbers of `uniform` from the end; the first one draws the first letter.",
    lambda e: f"`pop()` takes the last item. {_first_off(e)}",
)(Speller(from_the_end=True))

_both_boundaries = mistake(
    "Boundaries stand around the letters that you return; return letters only.",
    _first_off,
    also=(lambda *given: [0, *spell(*given), 0],),
)(Speller(boundary_returned=True, end_kept=True))

_prefix_not_counted = mistake(
    "You count drawn letters only; the prefix belongs to the name.", _first_off
)(Speller(counted=lambda prefix: -prefix))

_boundary_counted = mistake(
    "Your count of letters is one too high where the boundary is forbidden.",
    lambda e: f"The boundary at the beginning is no letter; is it counted? {_lengths(e)}",
)(Speller(counted=lambda _: 1))

_prefix_forgotten = mistake(
    "You return drawn letters only; the name begins with its prefix.", _first_off
)(Speller(prefix_kept=False))

_training_mode = mistake("The model was in training mode while it wrote.", _first_off)(
    Speller(mode="training")
)

_left_in_evaluation = mistake(
    "You left the model in evaluation mode.",
    lambda e: unwrapped(f"""All {3 * len(e.yours("empty"))} names are right; a training that goes on
    would go on without dropout."""),
)(Speller(mode="evaluation"))


_prefix_changed = mistake(
    "You wrote your letters into the list that you were given as prefix.",
    lambda e: unwrapped(f"""All {3 * len(e.yours("empty"))} names are right, but whoever calls you
    with one prefix twice gets another name the second time. Begin with `list(prefix)`."""),
)(Speller(own_list=False))


def _other_mode(evidence: Evidence) -> Finding | None:
    if not all(_letters(case)(evidence) for case in ("empty", "prefix", "shortest")):
        return None
    cases = ("empty", "prefix", "complete")
    if not any((evidence.yours(c)[:, 15] == OTHER_MODE).any() for c in cases):
        return None
    return Finding(
        "mode-not-restored",
        "You left the model in another mode than you found it in.",
        "It came in training mode for one name and in evaluation mode for the next, and should go "
        "back into its own each time.",
        BOUNDARY,
    )


def _writes_beyond(evidence: Evidence) -> Finding | None:
    """A prefix that is as long as a name may be, and grew."""
    if not all(_letters(case)(evidence) for case in ("empty", "prefix", "shortest")):
        return None
    mine = evidence.yours("complete")
    if (mine[:, :15] == evidence.right("complete")[:, :15]).all():
        return None
    length = int((evidence.right("complete")[0, :15] >= 0).sum())
    return Finding(
        "complete-prefix-goes-on",
        "A prefix that has `longest` letters already is not returned as it is.",
        f"With longest = {length} and a prefix of {length} letters you return {_shown(mine, 0)}. "
        "Ask whether the name may have another letter before you draw it.",
        BOUNDARY,
    )


def _other_names(evidence: Evidence) -> Finding | None:
    told = _first_off(evidence)
    if not told:
        return None
    if _letters("empty")(evidence) and _letters("prefix")(evidence):
        return Finding(
            "others-where-forbidden",
            "Your names are right where they may end at any letter, and wrong where they may not.",
            f"{told} While a name is too short, its boundary has a probability of 0, the others "
            "sum to 1 and keep their numbers, and each letter takes one number u.",
            BOUNDARY,
        )
    at = f"At temperature {number(float(evidence.inputs['temperature']))}: "
    return Finding("other-names", "Your names are not the ones asked for.", at + told, BOUNDARY)


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
