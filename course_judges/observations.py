"""How the numbers of an experiment are judged: by the range of what runs with several seeds gave.

The ranges of each experiment stand beside its judge, as JSON. `python -m benchmarks.experiments`
writes them: it runs the experiment of each solution with several seeds on each text, and again with
each slip. A test compares them with its stored results.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from typing import NamedTuple, TypeAlias

from course_judges.judging import Evidence, Mistake, Part, Property, Task, mistake
from course_judges.wording import first_upper, number, results_by_name
from course_tasks.verdict import Finding, Section

Ranges: TypeAlias = Mapping[str, Mapping[str, tuple[float, float]]]
"""Text to name to the lowest and highest value that counts as observed."""

Slips: TypeAlias = Mapping[str, Ranges]
"""What a student may have done to the ranges of runs that do the same, by text."""

Numbers: TypeAlias = dict[str, float | str]


class Measured(NamedTuple):
    """What runs of an experiment gave.

    Attributes
    ----------
    right : Ranges
        As the solution has it.
    slips : Slips
        With each slip.
    """

    right: Ranges
    slips: Slips


def measured(module: str) -> Measured:
    """What stands beside the judge of an experiment, in `<task>.json`.

    Parameters
    ----------
    module : str
        The path of the judge's module, its `__file__`.
    """
    held = json.loads(Path(module).with_suffix(".json").read_text(encoding="utf-8"))

    def ranges(of_texts: Mapping[str, Mapping[str, Sequence[float]]]) -> Ranges:
        return {
            text: {name: (low, high) for name, (low, high) in numbers.items()}
            for text, numbers in of_texts.items()
        }

    return Measured(
        ranges(held["right"]), {slip: ranges(texts) for slip, texts in held["slips"].items()}
    )


# A range of at most this width, relative to its middle, is quoted as one number.
_NARROW = 0.03

# No share is larger, and ranges go a little beyond what runs give.
_LARGEST_SHARE = 1.01

# What the exercises ask for.
_LEAST_DIGITS = 3


def experiment(title: str, ranges: Ranges, section: Section, points: Mapping[str, float]) -> Task:
    """The judge of an experiment.

    Parameters
    ----------
    title : str
        As in the notebook.
    ranges : mapping of str to mapping of str to (float, float)
    section : Section
        On the idea that the experiment tries.
    points : mapping of str to float
        For each number that was observed.
    """
    return Task(
        title,
        lambda: middle(ranges),
        section,
        tuple(
            Part(f"`{name}` as in our runs", worth, _inside(ranges, name))
            for name, worth in points.items()
        ),
        # Before any cause in the run, what may have happened to right numbers on the way.
        mistakes=tuple(
            replace(made, name=name, section=section)
            for name, made in (
                ("other-text", _of_another_text(ranges)),
                ("percent", _in_percent(ranges)),
                ("exchanged", _exchanged(ranges)),
                ("rounded", _rounded(ranges)),
            )
            if made is not None
        ),
        properties=(
            _unknown_text(ranges, section),
            _made_of_others(ranges, section),
            _outside(ranges, section),
        ),
    )


def middle(ranges: Ranges, text: str = "", **other: float) -> Numbers:
    """What a student who ran it on this text may note: the middle of each range, or another number.

    Parameters
    ----------
    ranges : mapping of str to mapping of str to (float, float)
    text : str
        The first one of the ranges if left out.
    **other : float
        Numbers to note instead of the middle.
    """
    text = text or next(iter(ranges))
    return {
        "text": text,
        **{name: (low + high) / 2 for name, (low, high) in ranges[text].items()},
        **other,
    }


def noted(evidence: Evidence, name: str) -> float:
    """A number that the student noted.

    Raises
    ------
    KeyError
        If there is none.
    """
    return float(evidence.shaped(f"observed.{name}", ()))


def _of_another_text(ranges: Ranges) -> Mistake | None:
    """All numbers of another text than the one that is named."""
    if len(ranges) < 2:
        return None

    def other(evidence: Evidence) -> str | None:
        text = _text(evidence)
        values = {name: noted(evidence, name) for name in ranges[text]}
        return next(
            (
                one
                for one in ranges
                if one != text
                and all(_within(ranges[one][name], value) for name, value in values.items())
            ),
            None,
        )

    named, measured = next(
        (one, of)
        for one, of in permutations(ranges, 2)
        if any(not lo <= sum(ranges[of][name]) / 2 <= hi for name, (lo, hi) in ranges[one].items())
    )
    return mistake(
        lambda e: f"Your numbers are those of another text, {_called(other(e) or measured)}.",
        lambda e: (
            f"You noted {_text(e)!r} as `text`, but there runs give other numbers. Without the "
            "corpora, `data.load` takes the play and says so. Copy `text` from the same table as "
            "the numbers, or run the experiment on the text that you noted."
        ),
        recognized=lambda evidence: other(evidence) is not None,
    )(lambda: {**middle(ranges, measured), "text": named})


def _called(text: str) -> str:
    return {"shakespeare": "Shakespeare", "play": "the built-in play"}.get(text, repr(text))


def _in_percent(ranges: Ranges) -> Mistake | None:
    """Shares written in percent."""
    names = [
        name
        for name in next(iter(ranges.values()))
        if all(of_text[name][1] <= _LARGEST_SHARE for of_text in ranges.values())
    ]
    if not names:
        return None
    return _unit(
        ranges,
        tuple(names),
        lambda share: 100 * share,
        lambda noted: noted / 100,
        "You wrote a share in percent.",
        lambda noted: f"As a share, that is {number(noted / 100)}.",
    )


def _exchanged(ranges: Ranges) -> Mistake:
    """Numbers that are all right, but under each other's names."""

    def places(evidence: Evidence) -> dict[str, str]:
        """Under which name each number that stands elsewhere belongs; empty if that isn't all."""
        values = _all_noted(ranges, evidence)
        of_text = ranges[_text(evidence)]
        if _fit(of_text, values):
            return {}
        orders = (dict(zip(values, order, strict=True)) for order in permutations(values))
        fitting = (
            {at: name for at, name in order.items() if at != name}
            for order in orders
            if _fit(of_text, {name: values[at] for at, name in order.items()})
        )
        return min(fitting, key=len, default={})

    def says(evidence: Evidence) -> str:
        told = " and ".join(
            f"{number(noted(evidence, at), 4)} for `{at}`, which is what runs give for `{name}`"
            for at, name in list(places(evidence).items())[:2]
        )
        return f"You noted {told}."

    numbers = middle(ranges)
    one, other = next(
        (one, other)
        for (one, of_one), (other, of_other) in combinations(next(iter(ranges.values())).items(), 2)
        if not _overlap(of_one, of_other)
    )
    return mistake(
        lambda e: f"You exchanged {results_by_name(places(e))}.",
        says,
        recognized=lambda evidence: bool(places(evidence)),
    )(lambda: {**numbers, one: numbers[other], other: numbers[one]})


def _rounded(ranges: Ranges) -> Mistake:
    """Numbers with so few digits that they may be anything around what runs give."""

    def first(evidence: Evidence) -> str | None:
        """The first such number, if there is no other reason for what is wrong."""
        of_text, values = ranges[_text(evidence)], _all_noted(ranges, evidence)
        wrong = [name for name, value in values.items() if not _within(of_text[name], value)]
        if not wrong:
            return next(iter(values)) if _all_coarse(of_text, values) else None
        fits = all(
            _digits(values[name]) < _LEAST_DIGITS
            and _may_be(values[name], of_text[name])
            and not _counts(of_text[name])
            for name in wrong
        )
        return wrong[0] if fits else None

    def says(evidence: Evidence) -> str:
        name = first(evidence) or ""
        value = noted(evidence, name)
        half = 0.5 * 10.0 ** -_decimals(value)
        return (
            f"Rounded to {number(value)}, `{name}` may be any number from "
            f"{number(value - half, 4)} to {number(value + half, 4)}. Write down at least three "
            "digits, as the table shows them."
        )

    numbers = middle(ranges)
    coarse = {
        name: value if isinstance(value, str) else round(value, 1)
        for name, value in numbers.items()
    }
    return mistake(
        "Your numbers have too few digits.", says, recognized=lambda e: first(e) is not None
    )(lambda: coarse)


def _decimals(value: float) -> int:
    """How many digits after the point a number was written with, one at least."""
    _, _, after = f"{value:.12f}".rstrip("0").partition(".")
    return max(len(after), 1)


def _digits(value: float) -> int:
    """How many digits a number was written with, without zeros in front."""
    return len(f"{value:.12g}".replace(".", "").lstrip("-0")) if abs(value) > 1e-4 else 0


def _counts(expected: tuple[float, float]) -> bool:
    """True if runs give a whole number, of which no digit is missing."""
    center = sum(expected) / 2
    return abs(center - round(center)) < 1e-9 and center >= 1


def _may_be(value: float, expected: tuple[float, float]) -> bool:
    """True if a number that runs give becomes this one when it is rounded or cut off."""
    step = 10.0 ** -_decimals(value)
    return value - step / 2 <= expected[1] and value + step >= expected[0]


def _all_coarse(of_text: Mapping[str, tuple[float, float]], values: Mapping[str, float]) -> bool:
    """True if all numbers have one digit after the point, which isn't chance if there are two."""
    told = [value for name, value in values.items() if not _counts(of_text[name])]
    return len(told) > 1 and all(
        _decimals(value) == 1 and _digits(value) < _LEAST_DIGITS for value in told
    )


def in_bits(ranges: Ranges, *names: str) -> Mistake:
    """A loss in bits."""
    return _unit(
        ranges,
        names,
        lambda nats: nats / math.log(2),
        lambda bits: bits * math.log(2),
        "You wrote a loss in bits.",
        lambda noted: (
            f"In nats, that is {number(noted * math.log(2))}. The course's losses are in nats "
            "because they use the natural logarithm."
        ),
    )


def as_perplexity(ranges: Ranges, *names: str) -> Mistake:
    """The exponential of a loss."""
    return _unit(
        ranges,
        names,
        math.exp,
        lambda noted: math.log(noted) if noted > 0 else math.nan,
        "You wrote a perplexity instead of a loss.",
        lambda noted: f"It is the exponential of the loss, {number(math.log(noted))} nats.",
    )


def measured_otherwise(ranges: Ranges, what: str, effect: str, *slips: Ranges) -> Mistake:
    """Numbers of a run that did something else than the experiment asks for.

    It is recognized if all numbers lie where runs with this slip have theirs, and at least one of
    them lies outside of what right runs give, as such runs usually do.

    Parameters
    ----------
    ranges : mapping of str to mapping of str to (float, float)
    what : str
        What was probably done. That the numbers agree is no proof.
    effect : str
        Why that is something else, and what to do instead. It follows a sentence that compares
        one of the student's numbers with those of the slip.
    *slips : mapping of str to mapping of str to (float, float)
        What runs with the slip give, in each variant of it that has numbers of its own.
    """

    def match(evidence: Evidence) -> tuple[str, tuple[float, float]] | None:
        """The first number that speaks for a slip, and the range of the slip."""
        right = ranges[_text(evidence)]
        values = {name: noted(evidence, name) for name in right}
        for slip in slips:
            if not all(lies(slip, name, value, evidence) for name, value in values.items()):
                continue
            for name, value in values.items():
                low, high = slip[_text(evidence)][name]
                if not lies(ranges, name, value, evidence) and not lies(
                    ranges, name, (low + high) / 2, evidence
                ):
                    return name, (low, high)
        return None

    def says(evidence: Evidence) -> str:
        matched = match(evidence)
        if matched is None:
            return effect
        name, slip = matched
        value = noted(evidence, name)
        side = "small" if value < ranges[_text(evidence)][name][0] else "large"
        return f"That makes `{name}` too {side}. {_compared(value, *slip)} {effect}"

    made = mistake(what, says, recognized=lambda evidence: match(evidence) is not None)
    return replace(made(lambda: middle(slips[0])), inferred=True)


def _compared(value: float, low: float, high: float) -> str:
    """A sentence on a student's number and the range of a slip."""
    yours, center = number(value), (low + high) / 2
    if high - low > _NARROW * abs(center):
        ours = f"and on this text we get between {number(low)} and {number(high)}"
    elif number(center) == yours:
        ours = "which is what we get on this text"
    else:
        ours = f"and on this text we get about {number(center)}"
    return f"You noted {yours}, {ours} when we do the same."


def _unit(
    ranges: Ranges,
    names: tuple[str, ...],
    to_wrong: Callable[[float], float],
    to_right: Callable[[float], float],
    what: str,
    effect: Callable[[float], str],
) -> Mistake:
    """Numbers that would be right in another unit; the first of them is quoted."""

    def first(evidence: Evidence) -> str | None:
        for name in names:
            value = noted(evidence, name)
            if not lies(ranges, name, value, evidence) and lies(
                ranges, name, to_right(value), evidence
            ):
                return name
        return None

    def says(evidence: Evidence) -> str:
        name = first(evidence) or names[0]
        value = noted(evidence, name)
        return f"You noted {number(value)} for `{name}`. {effect(value)}"

    numbers = middle(ranges)
    wrong = {name: to_wrong(float(numbers[name])) for name in names}
    return mistake(what, says, recognized=lambda evidence: first(evidence) is not None)(
        lambda: {**numbers, **wrong}
    )


def lies(ranges: Ranges, name: str, value: float, evidence: Evidence) -> bool:
    """True if a number lies in the range of this name on the text of an answer."""
    return _within(ranges[_text(evidence)][name], value)


def _within(expected: tuple[float, float], value: float) -> bool:
    return expected[0] <= value <= expected[1]


def _text(evidence: Evidence) -> str:
    text = evidence.answers.values["observed.text"]
    if not isinstance(text, str):
        raise KeyError("the answer doesn't name a text")
    return text.strip().lower()


def _inside(ranges: Ranges, name: str) -> Callable[[Evidence], bool]:
    """A number counts as observed if it lies where runs have theirs, with enough digits, and on the
    same side of each other number as in all runs, where the ranges of the two overlap.
    """

    def holds(evidence: Evidence) -> bool:
        of_text, value = ranges[_text(evidence)], noted(evidence, name)
        values = _all_noted(ranges, evidence)
        return (
            _within(of_text[name], value)
            and _in_order(of_text, values, name)
            and not _all_coarse(of_text, values)
        )

    return holds


def _all_noted(ranges: Ranges, evidence: Evidence) -> dict[str, float]:
    """All numbers that the student noted.

    Raises
    ------
    KeyError
        If one is missing.
    """
    values = evidence.answers.values
    return {name: float(values[f"observed.{name}"]) for name in ranges[_text(evidence)]}


def _fit(of_text: Mapping[str, tuple[float, float]], values: Mapping[str, float]) -> bool:
    """True if all numbers lie where runs have theirs, in the order that they have there."""
    return all(
        _within(of_text[name], value) and _in_order(of_text, values, name)
        for name, value in values.items()
    )


def _in_order(
    of_text: Mapping[str, tuple[float, float]], values: Mapping[str, float], name: str
) -> bool:
    """True unless a number lies on the other side of one whose range overlaps with its own than in
    runs.
    """
    return not any(
        _overlap(of_text[name], of_text[other])
        and _within(of_text[other], held)
        and (values[name] - held) * (sum(of_text[name]) - sum(of_text[other])) < 0
        for other, held in values.items()
    )


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _unknown_text(ranges: Ranges, section: Section) -> Property:
    def says(evidence: Evidence) -> Finding | None:
        if _text(evidence) in ranges:
            return None
        return Finding(
            "unknown-text",
            f"You noted {evidence.answers.values['observed.text']!r:.40} as `text`, but the "
            "experiment has no such text.",
            "Write the name of the corpus that you ran it on: "
            f"{' or '.join(repr(text) for text in ranges)}.",
            section,
        )

    return says


def _made_of_others(ranges: Ranges, section: Section) -> Property:
    """One minus what runs give, or the difference to another of the numbers."""

    def says(evidence: Evidence) -> Finding | None:
        names = tuple(ranges[_text(evidence)])
        values = {name: noted(evidence, name) for name in names}
        wrong = [name for name in names if not lies(ranges, name, values[name], evidence)]
        for name in wrong:
            value = values[name]
            if 0 <= value <= 1 and lies(ranges, name, 1 - value, evidence):
                return Finding(
                    "one-minus",
                    f"You noted one minus what runs give for `{name}`.",
                    f"You noted {number(value)}, but runs give numbers like 1 − {number(value)} = "
                    f"{number(1 - value)}. Check again which share is meant.",
                    section,
                )
        for first in names:
            if first in wrong or not wrong:
                continue
            for sign in (1, -1):
                if all(
                    lies(ranges, name, values[first] + sign * values[name], evidence)
                    for name in wrong
                ):
                    name = wrong[0]
                    more = sign * values[name]
                    return Finding(
                        "differences-noted",
                        f"Your `{name}` is about as large as the difference between what runs "
                        f"give for `{name}` and for `{first}`.",
                        f"Runs give numbers like {number(values[first])} "
                        f"{'+' if more > 0 else '−'} {number(abs(more))} = "
                        f"{number(values[first] + more)} for `{name}`. If you noted how far apart "
                        f"the two are, write down `{name}` itself. If you did not, compare what "
                        "you did with each setting of the exercise.",
                        section,
                    )
        return None

    return says


def _outside(ranges: Ranges, section: Section) -> Property:
    def says(evidence: Evidence) -> Finding | None:
        of_text = ranges[_text(evidence)]
        right = [name for name in of_text if lies(ranges, name, noted(evidence, name), evidence)]
        for name, (low, _) in of_text.items():
            if name in right:
                continue
            value = noted(evidence, name)
            side = "smaller" if value < low else "larger"
            beside = ""
            if right:
                are, them = ("is", "it") if len(right) == 1 else ("are", "them")
                beside = (
                    f" {first_upper(results_by_name(right))} {are} what runs give, so look for a "
                    f"difference that hardly affects {them}."
                )
            return Finding(
                "not-what-runs-give",
                f"`{name}` is {number(value)}, which is {side} than in any run on this text.",
                "Run the experiment again as the exercise describes it, and write down what it "
                "returns, to at least three digits. If it returns the same number again, "
                f"compare each of its settings with those in the exercise.{beside}",
                section,
            )
        return None

    return says
