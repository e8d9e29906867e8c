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
from course_tasks.ch09_names.shared import echoing_model
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
    shown: Callable[[list[int], int], list[int]] = lambda letters, given: letters  # noqa: ARG005
    passes_over: bool = False
    times_divided: int = 1
    replaced: int = 0

    @torch.no_grad()
    def __call__(self, model, prefix, shortest, longest, temperature, uniform):
        """The letters of a name."""
        before = model.training
        letters = list(prefix) if self.own_list else prefix
        asked = _Model.of(model, before and self.mode == "training")
        given = len(prefix)
        too_short = given < shortest
        numbers = uniform if self.passes_over else (*uniform, *uniform)
        for point in reversed(uniform) if self.from_the_end else numbers:
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
            if token == 0 and (self.passes_over or (self.again and len(letters) < shortest)):
                continue
            if token == 0 and len(letters) < shortest:
                token = self.replaced
            if token == 0 and self.stops:
                letters += [0] * self.end_kept
                break
            letters.append(token)
        if before and self.mode == "evaluation":
            model.eval()
        letters = letters if self.prefix_kept else letters[given:]
        return [0, *letters] if self.boundary_returned else letters

    def _next(self, model, letters, given, shortest, temperature, point):
        shown = self.shown(letters, given)
        context = [0, *shown] if self.start or not shown else shown
        block_size = model.ask.block_size
        if self.pinned and len(context) > block_size:
            context = [0, *context[1 - block_size :]]
        if self.cropped:
            context = context[-block_size:]
        if self.context is not None:
            context = self.context(shown, block_size)
        logits = _logits(model, tuple(context))[self.place]
        if not self.tempered:
            temperature = 1.0
        temperature **= self.times_divided
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
    "If a name is too short at first, you forbid the boundary for all of its letters.",
    lambda e: unwrapped(f"""A name may end once it has `shortest` letters, so ask before each letter
    how many there are. Count the letters of the name: a context has at most
    {e.number("block_size")} tokens, so its length says nothing. {_first_off(e)}"""),
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


_boundary_passed_over = mistake(
    "When the boundary is drawn, you go on with the next number instead of ending the name.",
    lambda e: f"`continue` passes over the boundary, but `break` ends the name. {_first_off(e)}",
)(Speller(passes_over=True))

_prefix_alone_shown = mistake(
    "You show the model only the prefix, not the letters that you have drawn since.",
    _first_off,
    cases=("empty", "prefix", "shortest"),
)(Speller(shown=lambda letters, given: letters[:given]))

_prefix_not_shown = mistake(
    "You don't show the model the prefix, only the letters that you have drawn since.", _first_off
)(Speller(shown=lambda letters, given: letters[given:]))

_two_boundaries_shown = mistake(
    "You show the model two boundaries in front of the first letter instead of one.", _first_off
)(Speller(context=lambda letters, size: [0, 0, *letters][-size:]))

_letters_in_reverse = mistake(
    "You show the model the letters in reverse order.",
    lambda e: f"The latest letter should be read last. {_first_off(e)}",
    also=(Speller(context=lambda letters, size: [0, *letters][-size:][::-1]),),
)(Speller(context=lambda letters, size: [0, *letters[::-1]][-size:]))

_tempered_twice = mistake("You divided the logits by the temperature twice.", _sharpness)(
    Speller(times_divided=2)
)

_first_letter_instead = mistake(
    "When the boundary comes too early, you take token 1 instead.",
    lambda e: unwrapped(f"""The boundary should have no chance at all, and the other probabilities
    sum to 1, before you draw. Otherwise token 1 gets the boundary's share as well.
    {_first_off(e)}"""),
)(Speller(forbidden="no", replaced=1))


def _beyond_the_last(evidence: Evidence) -> list[str]:
    """In which cases the model was shown the token V, which it doesn't have."""
    said = f"index {evidence.number('V')} is out of"
    return [case for case, one in evidence.answers.errors.items() if said in one.message]


@mistake(
    lambda e: f"You drew token {e.number('V')}, but the last token is {e.number('V') - 1}.",
    lambda e: (
        "Either your cumulative probabilities don't reach 1, so that none is larger than u, or "
        "your index is one too high. "
        + (
            "This happens only while the boundary is forbidden. If you set its probability to 0 "
            "after the softmax, the others don't sum to 1."
            if _beyond_the_last(e) == ["shortest"]
            else "The right index is the number of cumulative probabilities that aren't larger "
            "than u."
        )
    ),
    recognized=lambda e: bool(_beyond_the_last(e)),
)
def _token_beyond_the_last(model, *_):
    return model(torch.tensor([[len(model.table)]]))


_CASES = (("empty", 0), ("prefix", 3), ("shortest", 2))


def _too_long_names(evidence: Evidence) -> Finding | None:
    longest = evidence.number("longest")
    for case, given in _CASES[:2]:
        if not evidence.comparable(case):
            return None
        mine = (evidence.yours(case)[:, :15] >= 0).sum(axis=1)
        if (mine > longest).any():
            index = int((mine > longest).argmax())
            return Finding(
                "too-long-names",
                "Some of your names have more than `longest` letters.",
                f"With longest = {longest} and {given} letters of prefix, your longest name has"
                f" {int(mine.max())} letters, such as {_shown(evidence.yours(case), index)}. The"
                " name ends when it has `longest` letters, prefix included.",
                BOUNDARY,
            )
    return None


def _one_length_alone(evidence: Evidence) -> Finding | None:
    """Wrong only for names whose shortest length is their longest."""
    if not all(_letters(case)(evidence) for case in ("empty", "prefix")):
        return None
    mine, right = evidence.yours("shortest"), evidence.right("shortest")
    wrong = np.flatnonzero((mine[:, :15] != right[:, :15]).any(axis=1))
    if len(wrong) < 2 or (wrong % 3).any():
        return None
    return Finding(
        "shortest-is-longest",
        "Your names are right unless `shortest` equals `longest`.",
        f"{len(wrong)} names are wrong, and for each of them both are"
        f" {evidence.number('shortest')}. The boundary is then forbidden for every letter."
        f" {_first_off(evidence)}",
        BOUNDARY,
    )


def _boundary_still_drawn(evidence: Evidence) -> Finding | None:
    """Names that end too early although something is done about it."""
    if not all(_letters(case)(evidence) for case in ("empty", "prefix")):
        return None
    lengths = (evidence.yours("shortest")[:, :15] >= 0).sum(axis=1)
    if not (lengths < evidence.number("shortest")).any():
        return None
    return Finding(
        "boundary-still-drawn",
        "Your names may still end before they have `shortest` letters.",
        f"{_lengths(evidence)} So the boundary was drawn where it is forbidden. Is its logit −inf"
        " each time? Any other number leaves it a probability above 0.",
        BOUNDARY,
    )


def _first_wrong(evidence: Evidence) -> tuple[list[int], list[int], list[int]]:
    """How many letters a name has before its first wrong one, for each wrong name, how many of them
    were drawn, and how many letters there are before each right one.
    """
    wrong: list[int] = []
    drawn: list[int] = []
    right: list[int] = []
    for case, given in _CASES[:2]:
        mine, wanted = evidence.yours(case)[:, :15], evidence.right(case)[:, :15]
        for one, other in zip(mine, wanted, strict=True):
            length = int((other >= 0).sum())
            off = np.flatnonzero(one != other)
            right += range(given, int(off[0]) if len(off) else length)
            if len(off):
                wrong.append(int(off[0]))
                drawn.append(int(off[0]) - given)
    return wrong, drawn, right


def _where_wrong(evidence: Evidence) -> Finding | None:
    """What the first wrong letters of names have in common."""
    if not all(evidence.comparable(case) for case, _ in _CASES[:2]):
        return None
    wrong, drawn, right = _first_wrong(evidence)
    size = evidence.number("block_size")
    if len(wrong) < 3 or not right:
        return None
    if min(wrong) >= size > min(right):
        return Finding(
            "wrong-beyond-the-window",
            f"Your letters are right as long as the context has at most {size} tokens.",
            f"The first wrong letter of each name comes after {size} letters or more. With the"
            f" boundary, the model should read the last {size} tokens of more than that."
            f" {_first_off(evidence)}",
            BOUNDARY,
        )
    if _letters("empty")(evidence):
        return Finding(
            "wrong-with-a-prefix",
            "Your names without a prefix are right, but those with a prefix aren't.",
            f"{_first_off(evidence)} Letters of the prefix count as letters, and the model reads"
            " them, too. The first number of `uniform` draws the first letter after it.",
            BOUNDARY,
        )
    if min(drawn) > 0:
        return Finding(
            "wrong-after-the-first-letter",
            "The first letter that you draw is right in every name, but later ones aren't.",
            f"{_first_off(evidence)} Does each letter take the next number of `uniform`, and does"
            " the context include the letters drawn so far? And when does a name end?",
            BOUNDARY,
        )
    return None


def _which_mode(evidence: Evidence) -> str:
    """Whether the mode is wrong after those names alone that a boundary ends, or the others."""
    flags, ended = [], []
    for case, _ in _CASES[:2]:
        names = evidence.yours(case)
        off = names[:, 15] == OTHER_MODE
        kind = int(off.argmax()) % 2  # names are asked for in either mode in turn
        flags += off[kind::2].tolist()
        length = (names[:, :15] >= 0).sum(axis=1)
        ended += (length < evidence.number("longest"))[kind::2].tolist()
    if not any(flags) or all(ended) or not any(ended):
        return ""
    if flags == ended:
        which = "the boundary ends, but not after those with `longest` letters"
    elif flags == [not one for one in ended]:
        which = "have `longest` letters, but not after those that the boundary ends"
    else:
        return ""
    return f" This is so after names that {which}. Do you return from inside the loop?"


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
        f"back in that mode each time.{_which_mode(evidence)}",
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


def _first_letter_off(evidence: Evidence) -> str:
    """What the number u of the first wrong letter should draw, worked out."""
    temperature, size = float(evidence.inputs["temperature"]), evidence.number("block_size")
    asked = _Model.of(echoing_model(evidence.inputs), training=False)
    for case, given in _CASES:
        if not evidence.comparable(case):
            continue
        mine, right = evidence.yours(case)[:, :15], evidence.right(case)[:, :15]
        off = np.argwhere(mine != right)
        if not len(off):
            continue
        index, n = (int(i) for i in off[0])
        letters = right[index, :n].tolist()
        if n - given >= evidence.inputs["uniform"].shape[1] or n == evidence.number("longest"):
            return ""
        logits = _logits(asked, tuple([0, *letters][-size:]))[-1] / temperature
        if case == "shortest" and n < evidence.number("shortest"):
            logits[0] = -np.inf
        weights = np.exp(logits - logits.max())
        cumulative = (weights / weights.sum()).cumsum()
        u, token = float(evidence.inputs["uniform"][index, n - given]), max(int(right[index, n]), 0)
        below = f"up to token {token - 1} are {cumulative[token - 1]:.3f} and " if token else ""
        yours = f"token {int(mine[index, n])}" if mine[index, n] >= 0 else "no further letter"
        ends = "" if token else ", which ends the name"
        shown = f"the boundary and {_shown(right[:, :n], index)}" if n else "the boundary"
        return unwrapped(f"""After {shown}, u = {u:.3f} should draw token {token}{ends}, since the
        probabilities {below}up to token {token} are {cumulative[token]:.3f}. You have
        {yours}.""")
    return ""


def _other_names(evidence: Evidence) -> Finding | None:
    told = f"{_first_off(evidence)} {_first_letter_off(evidence)}".strip()
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
            "So are all others, and mode and prefix stay.",
            1,
            matches("empty", "prefix", "shortest", "complete"),
        ),
    ),
    properties=(
        _other_mode,
        _writes_beyond,
        _too_long_names,
        _one_length_alone,
        _boundary_still_drawn,
        _where_wrong,
        _other_names,
    ),
)
