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
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
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
    forbidden: str = "-inf"
    greedy: bool = False
    prefix_kept: bool = True
    own_list: bool = True
    larger: bool = True
    by_place: bool = False
    same_number: bool = False
    context: Callable[[list[int], int], list[int]] | None = None
    limit: Callable[[int, int], int] = lambda longest, given: longest  # noqa: ARG005
    again: bool = False

    @torch.no_grad()
    def __call__(self, model, prefix, shortest, longest, temperature, uniform):
        """The letters of a name."""
        before = model.training
        letters = list(prefix) if self.own_list else prefix
        asked = _Model.of(model, before and self.mode == "training")
        given = len(prefix)
        for point in (*uniform, *uniform):
            if len(letters) >= self.limit(longest, given):
                break
            if self.by_place:
                point = uniform[len(letters) % len(uniform)]
            if self.same_number:
                point = uniform[0]
            token = self._next(asked, letters, len(letters) < shortest, temperature, point)
            if token == 0 and self.again and len(letters) < shortest:
                continue
            if token == 0:
                break
            letters.append(token)
        if before and self.mode == "evaluation":
            model.eval()
        return letters if self.prefix_kept else letters[given:]

    def _next(self, model, letters, early, temperature, point):
        context = [0, *letters] if self.start or not letters else letters
        block_size = model.ask.block_size
        if self.pinned and len(context) > block_size:
            context = [0, *context[1 - block_size :]]
        if self.cropped:
            context = context[-block_size:]
        if self.context is not None:
            context = self.context(letters, block_size)
        logits = _logits(model, tuple(context))[-1] / temperature
        if early and self.forbidden == "-inf":
            logits[0] = -np.inf
        weights = np.exp(logits - logits.max())
        weights /= weights.sum()
        if early and self.forbidden == "after":
            weights[0] = 0
        if self.greedy:
            return int(weights.argmax())
        passed = int(weights.cumsum().searchsorted(point, side="right" if self.larger else "left"))
        return min(passed, len(weights) - 1)


@torch.no_grad()
def spell(model, prefix, shortest, longest, temperature, uniform):
    """A right answer."""
    was_training = model.training
    model.eval()
    letters = list(prefix)
    for u in uniform:
        if len(letters) >= longest:  # whether the name is complete
            break
        whole = [0, *letters]  # the boundary and the letters so far
        context = whole[-model.block_size :]  # your context
        logits = model(torch.tensor([context]))[0][0].double()
        last = logits[-1]  # the logits at the last position (V,)
        tempered = last / temperature  # the logits over the temperature (V,)
        if len(letters) < shortest:  # whether the boundary is forbidden
            tempered[0] = -torch.inf  # the logit of a forbidden boundary

        weights = tempered.softmax(dim=-1)  # the probabilities (V,)
        cumulative = weights.cumsum(dim=-1)  # the cumulative probabilities (V,)
        passed = cumulative <= u  # what u has passed (V,)
        token = int(passed.sum())
        if token == 0:  # whether the name ends
            break
        letters.append(token)
    model.train(was_training)
    return letters


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


_reads_first_logits = families.reads_first_logits(_first_off)(
    Like("used-0-instead-of-minus-1-in-the-logits-at-the-last-position")
)

_temperature_multiplied = families.temperature_multiplied(_sharpness)(
    Like("multiplied-instead-of-dividing-by-temperature-in-the-logits-over-the-temperature")
)

_one_more_than_shortest = mistake(
    "You forbid the boundary for one letter too many.",
    lambda e: unwrapped(f"""A name may end once it has exactly `shortest` letters, so if `shortest`
    is 0 it may even be empty. {_first_off(e)}"""),
)(Like("compared-with-less-or-equal-instead-of-less-in-whether-the-boundary-is-forbidden"))

_boundary_counted = mistake(
    "Where you forbid the boundary, your count of letters is one too high.",
    lambda e: f"Do you count the boundary at the beginning? It isn't a letter. {_lengths(e)}",
)(
    Like(
        "used-the-boundary-and-the-letters-so-far-instead-of-letters-in-whether-the-boundary-is-"
        "forbidden"
    )
)

_zero_mask = mistake(
    "You forbid the boundary by setting its logit to 0, but it has to be −inf.",
    lambda e: f"{_lengths(e)} A logit of 0 still gives the boundary a weight of e⁰ = 1.",
)(Like("filled-with-0-instead-of-minus-infinity-in-the-logit-of-a-forbidden-boundary"))

_crops_the_end = families.crops_the_end(_first_off)(
    Speller(context=lambda letters, size: [0, *letters][:size])
)

_last_token_only = families.last_token_only(_first_off)(
    Speller(context=lambda letters, _: [0, *letters][-1:])
)


_one_number_for_all = mistake(
    "You draw every letter of a name with the first number of `uniform`.",
    lambda e: f"Each letter should take the next number. {_first_off(e)}",
)(Speller(same_number=True))


_drawn_letters_up_to_longest = mistake(
    "You draw up to `longest` letters, but the letters of the prefix count as well.",
    _first_off,
    cases=("empty", "prefix", "shortest"),
)(Speller(limit=lambda longest, given: longest + given))


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


_not_renormalised = mistake(
    "You set the boundary's probability to 0 after the softmax, so the rest don't sum to 1.",
    _first_off,
)(Speller(forbidden="after"))

_drawn_again = mistake(
    "When the boundary comes too early you draw again, but it should have no chance at all.",
    lambda e: unwrapped(f"""Each letter takes exactly one number of `uniform`, and while the
    boundary is forbidden, the probabilities of the other tokens sum to 1. {_first_off(e)}"""),
)(Speller(forbidden="no", again=True))


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


def _goes_on(evidence: Evidence) -> str:
    mine, right = evidence.yours("complete"), evidence.right("complete")
    length = int((right[0, :15] >= 0).sum())
    return unwrapped(f"""With longest = {length} and a prefix of {length} letters, you return
    {_shown(mine, 0)}. Check whether the name may have another letter before you draw one.""")


@mistake(
    "You don't return a prefix unchanged if it already has `longest` letters.",
    _goes_on,
)
def _complete_prefix_goes_on(model, prefix, shortest, longest, temperature, uniform):
    longest = max(longest, len(prefix) + 1)
    return spell(model, prefix, shortest, longest, temperature, uniform)


_CASES = (("empty", 0), ("prefix", 3), ("shortest", 2))


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
        return unwrapped(f"""After {shown}, `uniform[{n - given}]` = {u:.3f} should draw token
        {token}{ends}, since the probabilities {below}up to token {token} are
        {cumulative[token]:.3f}. You have {yours}.""")
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
        _boundary_still_drawn,
        _other_names,
    ),
    steps={
        "whether the name is complete": Step("A name has at most `longest` letters."),
        "the boundary and the letters so far": Step(
            "The boundary comes once, in front of the first letter."
        ),
        "your context": Step("The model reads the last `block_size` tokens."),
        "the logits at the last position": Step("The last position predicts the next letter."),
        "the logits over the temperature": Step("The logits are divided by the temperature."),
        "whether the boundary is forbidden": Step(
            "A name may end once it has `shortest` letters, those of the prefix included."
        ),
        "the logit of a forbidden boundary": Step(
            "Where the boundary is forbidden, the other probabilities sum to 1."
        ),
        "the probabilities": Step("They sum to 1 over the tokens that are allowed."),
        "the cumulative probabilities": Step(
            "The probabilities are added up in the order of the tokens."
        ),
        "what u has passed": Step(
            "The right token is the first one whose cumulative probability is larger than u."
        ),
        "whether the name ends": Step("The boundary ends the name."),
    },
)
