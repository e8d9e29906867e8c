"""What is said of a wrong answer that no named mistake explains: something true of its data."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from course_judges.equality import close, same_value
from course_judges.evidence import ODD_DATA, Evidence
from course_judges.ignored_arguments import ignored
from course_judges.locating import SAYS_WHERE
from course_judges.wording import (
    first_upper,
    index,
    number,
    numbers_apart,
    results_by_name,
    sentence,
)
from course_judges.wrong_arrays import comparisons, kinds, places, relations, texts
from course_judges.wrong_arrays.differences import Comparison, Difference, largest
from course_tasks.verdict import Finding, Section, Tells

# A relation between fewer single numbers may be a coincidence.
_FEW_NUMBERS = 3

# Relations that lead to no cause, so an example that is worked out comes before them.
SAYS_LITTLE = frozenset({"bounded", "all-larger", "all-smaller"})

# What may be behind an answer that goes wrong where a dimension is 1.
_OF_ONES = (
    "Is it that? `squeeze()` removes every dimension of length 1, and broadcasting stretches it to "
    "any other length without an error."
)

# PyTorch's words if a tensor that the backward pass needs was changed in place. By then the forward
# pass has ended, so the error may come from no line of the student's own code.
WRITTEN_OVER = "needed for gradient computation has been modified by an inplace operation"

Asks: TypeAlias = Callable[[Evidence], Finding | None]


def describe(
    section: Section,
    properties: Sequence[Asks],
    examples: Sequence[Asks],
    failing: Sequence[Evidence],
    right: Evidence | None,
) -> Finding:
    """What is true of the data, if no known mistake fits.

    Parameters
    ----------
    section : Section
        Where to look again.
    properties : sequence of callable (Evidence) -> Finding or None
        Of the task, asked in this order.
    examples : sequence of callable (Evidence) -> Finding or None
        Of the task, asked if nothing general can be said.
    failing : sequence of Evidence
        The draws in which the answer is wrong; one at least.
    right : Evidence, optional
        A draw in which it is right.
    """
    first = failing[0]
    for say in (_going_backward, kinds.error, kinds.kind):
        finding = say(first, section)
        if finding is not None:
            return finding
    every: list[Asks] = [
        lambda e: _not_a_number(e, section),
        *properties,
        lambda e: _exchanged(e, section),
        lambda e: ignored(e, section),
        lambda e: _text(e, section),
        lambda e: _compared(e, section),
        lambda e: _telling(_related(e, section)),
        lambda e: _numbers_together(e, comparisons.of_numbers, section),
        lambda e: kinds.shape(e, section),
        *examples,
        lambda e: _related(e, section),
        # If no example is worked out, what is true of one of several results.
        lambda e: _compared(e, section, only_one=True),
        lambda e: _related(e, section, only_one=True),
        lambda e: _numbers_together(e, relations.of_numbers, section),
        lambda e: _numbers_together(e, places.of_questions, section, kind="b"),
    ]
    if kinds.has_another_shape(first):
        # If the shape is wrong, what differs in the shape comes before everything else.
        every = [lambda e: _compared(e, section), lambda e: kinds.shape(e, section), *every]
    found = _first_of_all(every, failing) or _difference(first, section)
    return found if right is None else _only_some(found, first, right)


def of_the_task(
    section: Section, properties: Sequence[Asks], failing: Sequence[Evidence]
) -> Finding | None:
    """What the task's own properties say of the data of every draw, if anything; parameters as for
    `describe`. They aren't asked about errors, other types and shapes, NaN and infinity.
    """
    first = failing[0]
    before: tuple[Callable[[Evidence, Section], Finding | None], ...]
    before = (_going_backward, kinds.error, kinds.kind, _not_a_number)
    if kinds.has_another_shape(first) or any(say(first, section) for say in before):
        return None
    return _first_of_all(properties, failing, or_in_one=False)


def _going_backward(evidence: Evidence, section: Section) -> Finding | None:
    """The first error, if it is one of the backward pass, so that the forward pass has ended."""
    case, raised = next(
        (one for one in evidence.answers.errors.items() if one[0] not in evidence.expected.errors),
        ("", None),
    )
    if raised is None or WRITTEN_OVER not in raised.message:
        return None
    where = f" at `{raised.line}`" if raised.line else ""
    said = raised.message.partition("Hint:")[0]
    return Finding(
        "error",
        "Your forward pass ran to its end, but the backward pass stopped with "
        f"{raised.kind}{where}.",
        f"{first_upper(sentence(said))} In-place operations such as `a += b`, `a[…] = b` and "
        "`mul_` overwrite numbers that the gradient needs, but `a = a + b` makes a new tensor. "
        f"{evidence.called_with(case)}".strip(),
        section,
    )


def _first_of_all(
    every: Sequence[Asks], failing: Sequence[Evidence], *, or_in_one: bool = True
) -> Finding | None:
    """The first finding that holds in every draw, or else the first that holds in the first draw.

    What holds in one draw alone may be a coincidence, but it is true of that draw; without
    `or_in_one` it is not heard.
    """
    heard: Finding | None = None
    for ask in every:
        found = [asked(ask, evidence) for evidence in failing]
        if found[0] is None:
            continue
        if all(one is not None and one.name == found[0].name for one in found):
            return found[0]
        heard = heard or found[0]
    return heard if or_in_one else None


def asked(ask: Asks, evidence: Evidence) -> Finding | None:
    """What a property says of the data; None if that is so odd that it cannot be asked."""
    try:
        return ask(evidence)
    except ODD_DATA:
        return None


def _only_some(found: Finding, wrong: Evidence, right: Evidence) -> Finding:
    """The same finding, with how this draw differs from another, in which the answer is right,
    unless it already says more: the draws may differ in numbers that don't matter.
    """
    sizes = wrong.sizes("iuf"), right.sizes("iuf")
    where = f" It is right with {sizes[1]}, but wrong with {sizes[0]}." if all(sizes) else ""
    if where and sizes[0] == sizes[1]:
        where = " It is right for other inputs of the same dimensions."
    if where and right.wrong_values:
        # If a task judges how often something happens, it may be wrong there as well.
        where = f" With {sizes[1]}, the mistake didn't show."
    ones = _dimensions_of_one(wrong, right)
    if ones and (found.name in ("difference", "error") or kinds.has_another_shape(wrong)):
        ones = f"{ones} {_OF_ONES}"
    if found.name != "difference":
        more = ones or (where if found.name in {*SAYS_WHERE, "error"} else "")
        return replace(found, effect=found.effect + more)
    if ones:
        return Finding(
            "dimension-of-one",
            "Your answer is wrong where a dimension has length 1, and right elsewhere.",
            f"{found.effect}{ones}",
            found.section,
        )
    return Finding(
        "some-inputs",
        "Your answer is right for some inputs and wrong for others.",
        found.effect + where,
        found.section,
        tells=Tells.NOTHING,
    )


def _dimensions_of_one(wrong: Evidence, right: Evidence) -> str:
    """A sentence on the arguments that have a dimension of 1, but only in the draw in which the
    answer is wrong; empty if there are none.
    """
    if right.wrong_values:
        return ""
    for name in (*wrong.wrong_values, *wrong.answers.errors):
        case = name.split(".")[0]
        mine, theirs = (_arguments(draw.called_with(case)) for draw in (wrong, right))
        ones = [one for one in mine if _has_a_one(one, mine[one]) and one in theirs]
        if ones and not any(_has_a_one(one, held) for one, held in theirs.items()):
            return f" {_right_and_wrong(ones, theirs, mine)}"
    return ""


def _has_a_one(name: str, said: str) -> bool:
    """True if a shape holds a 1, or a number that is named as dimensions are: T, n_head."""
    dimension = said.startswith("of shape") or len(name) == 1 or name.startswith("n_")
    return dimension and "1" in re.findall(r"\d+", said) and "." not in said


def _not_a_number(evidence: Evidence, section: Section) -> Finding | None:
    for name in evidence.wrong_values:
        if not evidence.comparable(name):
            continue
        mine, right = evidence.yours(name), evidence.right(name)
        if mine.dtype.kind == "f" and np.isfinite(right).all() and not np.isfinite(mine).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(mine))[0])
            at = f" at index {index(place)}" if place else ""
            held = float(mine[place])
            why = (
                "NaN usually comes from 0 / 0, from 0 · ∞, or from a softmax over a row that is "
                "all −inf, and every later sum keeps it."
                if np.isnan(held)
                else "An infinity usually comes from a division by zero, from the logarithm of "
                "zero, from an overflow, or from a fill of ±inf that stayed in place."
            )
            return Finding("not-finite", f"Your answer contains {number(held)}{at}.", why, section)
        return None  # what is wrong first is described first
    return None


def _exchanged(evidence: Evidence, section: Section) -> Finding | None:
    """Two results of one case that are exchanged."""
    right = evidence.expected.values
    for one in right:
        for other in right:
            if one >= other or one.split(".")[0] != other.split(".")[0]:
                continue
            mine = evidence.answers.values.get(one), evidence.answers.values.get(other)
            if mine[0] is None or mine[1] is None or same_value(right[one], right[other]):
                continue
            if same_value(mine[0], right[other]) and same_value(mine[1], right[one]):
                said = results_by_name(name.partition(".")[2] for name in (one, other))
                return Finding(
                    "exchanged",
                    "You exchanged two of your results.",
                    f"{first_upper(said)} each hold what belongs in the other.",
                    section,
                    tells=Tells.CAUSE,
                )
    return None


def _text(evidence: Evidence, section: Section) -> Finding | None:
    """How a text differs, if it is the first wrong value and there is more to say than that."""
    for name in evidence.wrong_values:
        mine, right = evidence.answers.values.get(name), evidence.expected.values[name]
        if mine is None:
            continue
        if not isinstance(right, str) or not isinstance(mine, str):
            return None
        label, what = texts.differs(mine, right)
        effect = f"{texts.around_the_difference(mine, right)} {evidence.called_with(name)}".strip()
        return None if label == "difference" else Finding(label, what, effect, section)
    return None


def _compared(evidence: Evidence, section: Section, *, only_one: bool = False) -> Finding | None:
    """How the first wrong array differs, and whether others differ in another way.

    With `only_one`, arrays of which nothing can be said are passed over.
    """
    first: tuple[str, Difference] | None = None
    otherwise = False
    for name in evidence.wrong_values:
        mine, right = evidence.answers.values.get(name), evidence.expected.values[name]
        if mine is None:
            otherwise = True
            continue
        found = None
        if not isinstance(mine, str) and not isinstance(right, str):
            found = comparisons.compared(evidence.yours(name), right)
        if first is None and found is not None:
            first = name, found
        elif first is None and not only_one:
            return None
        else:
            otherwise |= found is None or first is None or found.name != first[1].name
    if first is None:
        return None
    name, found = first
    of_which = _of_which(evidence, name, otherwise=otherwise, alike=not otherwise)
    effect = " ".join(filter(None, (found.effect, of_which, evidence.called_with(name))))
    return Finding(found.name, found.what, effect, section)


def _of_which(evidence: Evidence, name: str, *, otherwise: bool, alike: bool = False) -> str:
    """Which of several results a finding is about.

    Parameters
    ----------
    evidence : Evidence
    name : str
        Of the value that was compared.
    otherwise : bool
        Whether the finding does not hold for another wrong value.
    alike : bool
        Whether it holds for every other wrong value.
    """
    right, wrong = evidence.results(name.split(".")[0])
    words = []
    if wrong and (right or not alike):
        this = [one for one in wrong if name.endswith(f".{one}")]
        words.append(f"This is about {results_by_name(wrong if alike else this)}.")
        if right:
            words.append(f"{first_upper(_are(right))} right.")
        if otherwise and len(wrong) > 1:
            words.append("Another result is wrong, too.")
    if otherwise and len(wrong) < 2:
        words.append("Your answer is wrong in another call, too.")
    return " ".join(words)


def _related(evidence: Evidence, section: Section, *, only_one: bool = False) -> Finding | None:
    """How the first wrong array comes from the right one, or from what was given.

    With `only_one`, arrays of which nothing can be said are passed over.
    """
    without = False
    for name in evidence.wrong_values:
        mine, right = evidence.answers.values.get(name), evidence.expected.values[name]
        if mine is None or isinstance(mine, str) or isinstance(right, str):
            continue
        found = relations.related(evidence.yours(name), right, evidence.inputs)
        if found is None:
            if not only_one:
                return None
            without = True
            continue
        of_which = _of_which(evidence, name, otherwise=without)
        effect = " ".join(filter(None, (found.effect, of_which, evidence.called_with(name))))
        return Finding(found.name, found.what, effect, section)
    return None


def _telling(finding: Finding | None) -> Finding | None:
    """The finding if it says more than on which side of something the numbers are."""
    return None if finding is None or finding.name in SAYS_LITTLE else finding


def _numbers_together(
    evidence: Evidence,
    compare: Comparison,
    section: Section,
    kind: str = "f",
) -> Finding | None:
    """A relation between all single numbers that were returned, one or several in each case."""
    mine, right = [], []
    for name, wanted in evidence.expected.values.items():
        given = evidence.answers.values.get(name)
        if isinstance(wanted, str) or isinstance(given, str) or given is None:
            continue
        if wanted.ndim == given.ndim == 0 and wanted.dtype.kind == kind == given.dtype.kind:
            mine.append(given.item())
            right.append(wanted.item())
    if len(right) < _FEW_NUMBERS or not np.isfinite(mine).all() or not np.isfinite(right).all():
        return None
    if close(np.array(mine, dtype=float), np.array(right, dtype=float)).all():
        return None  # what is wrong is not a number of this kind
    found = compare(np.array(mine), np.array(right))
    if found is None:
        return None
    effect = f"This holds for all {len(right)} of them." if kind == "f" else found.effect
    return Finding(found.name, found.what, effect, section)


def _difference(evidence: Evidence, section: Section) -> Finding:
    for name in evidence.wrong_values:
        mine, right = evidence.answers.values.get(name), evidence.expected.values[name]
        if mine is None:
            continue
        with_what = evidence.called_with(name)
        if isinstance(right, str) or isinstance(mine, str):
            label, what = texts.differs(str(mine), str(right))
            quoted = texts.around_the_difference(str(mine), str(right))
            tells = Tells.NOTHING if label == "difference" else Tells.PLACE
            return Finding(label, what, f"{quoted} {with_what}".strip(), section, tells=tells)
        wrong = int((~close(mine, right)).sum())
        if right.ndim == 0:
            yours, wanted = numbers_apart(float(mine), float(right))
            effect = f"You have {yours} instead of {wanted}."
        else:
            effect = f"{wrong} of {right.size} numbers differ. {largest(mine, right)}"
        right_ones, wrong_ones = evidence.results(name.split(".")[0])
        if right_ones and wrong_ones:
            return Finding(
                "some-results",
                f"{first_upper(_are(wrong_ones))} wrong, but {_are(right_ones)} right.",
                f"In {results_by_name(wrong_ones[:1])}, "
                f"{effect[:1].lower()}{effect[1:]} {with_what}".strip(),
                section,
            )
        beside = _where_right(evidence, name)
        return Finding(
            "some-calls" if beside else "difference",
            "Your answer is right in one call, but wrong in another."
            if beside
            else "Your values differ from the right ones.",
            f"{beside} {effect} {with_what}".strip(),
            section,
            tells=Tells.PLACE if beside else Tells.NOTHING,
        )
    missing = next(
        (case for case in evidence.expected.errors if case not in evidence.answers.errors), None
    )
    if missing is not None:
        expected = evidence.expected.errors[missing]
        return Finding(
            "no-error",
            f"Your answer should raise {expected.kind} in one of the calls, but it didn't.",
            f"The message of a right answer is: {sentence(expected.message)} "
            f"{evidence.called_with(missing)}".strip(),
            section,
        )
    return kinds.of_number(evidence, section) or Finding(
        "difference",
        "Your answer doesn't do what the task asks.",
        "",
        section,
        tells=Tells.NOTHING,
    )


def _where_right(evidence: Evidence, wrong: str) -> str:
    """A sentence on other arguments with which the answer is right; empty if it never is, or if
    shapes and single numbers don't tell the two calls apart.
    """
    case = wrong.split(".")[0]
    off = {name.split(".")[0] for name in evidence.wrong_values} | set(evidence.answers.errors)
    mine = _arguments(evidence.called_with(case))
    for name in evidence.expected.values:
        other = name.split(".")[0]
        theirs = _arguments(evidence.called_with(other))
        if other in off or theirs.keys() != mine.keys():
            continue
        apart = [one for one in mine if mine[one] != theirs[one]]
        if apart and len(apart) < len(mine):
            return _right_and_wrong(apart, theirs, mine)
    return ""


def _right_and_wrong(names: Sequence[str], theirs: dict[str, str], mine: dict[str, str]) -> str:
    """A sentence on the arguments of a call that is right, and of one that is wrong."""
    right, wrong = (" and ".join(f"{one} {held[one]}" for one in names) for held in (theirs, mine))
    return f"It is right with {right}, but wrong with {wrong}."


def _are(results: Sequence[str]) -> str:
    """ "`keys` is" or "`keys` and `values` are"."""
    return f"{results_by_name(results)} {'is' if len(results) == 1 else 'are'}"


def _arguments(called: str) -> dict[str, str]:
    """ "It was called with x of shape (2, 3), k = 4." as {"x": "of shape (2, 3)", "k": "= 4"}."""
    found = re.findall(r"(\w+) (of shape \([^)]*\)|= [^,]+?)(?=, \w+ (?:of|=)|\.$)", called)
    return dict(found)
