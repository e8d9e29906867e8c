"""What is said of a wrong answer that no mistake of its task explains: what is true of its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from course_judges import comparisons, kinds, places, relations
from course_judges.wording import index, number, results_by_name, sentence
from course_tasks.answers import Array, Value
from course_tasks.verdict import Finding, Section

if TYPE_CHECKING:
    from course_judges.evidence import Evidence

# What asking for a number raises when a student's data is missing, empty or of another shape.
ODD_DATA = (KeyError, IndexError, ValueError, TypeError, ZeroDivisionError, OverflowError)

# So many characters of a text before and after the place where two texts part.
_AROUND = 24

# So many entries of a list are quoted.
_QUOTED = 4

# A relation between fewer single numbers is hardly one.
_FEW_NUMBERS = 3

Asks: TypeAlias = "Callable[[Evidence], Finding | None]"


def describe(
    section: Section,
    properties: Sequence[Asks],
    examples: Sequence[Asks],
    failing: Sequence[Evidence],
    right: Evidence | None,
) -> Finding:
    """What is true of the data, when no known mistake fits.

    Parameters
    ----------
    section : Section
        Where to look again.
    properties : sequence of callable (Evidence) -> Finding or None
        Of the task, asked in this order.
    examples : sequence of callable (Evidence) -> Finding or None
        Of the task, asked when nothing general can be said.
    failing : sequence of Evidence
        The draws in which the answer is wrong; one at least.
    right : Evidence, optional
        A draw in which it is right.
    """
    first = failing[0]
    for say in (kinds.error, kinds.kind):
        finding = say(first, section)
        if finding is not None:
            return finding
    asked: list[Asks] = [
        lambda e: _not_a_number(e, section),
        *properties,
        lambda e: _exchanged(e, section),
        lambda e: _text(e, section),
        lambda e: _compared(e, section),
        lambda e: _related(e, section),
        lambda e: _numbers_together(e, comparisons.of_numbers, section),
        lambda e: kinds.shape(e, section),
        *examples,
        # Where no example is worked out, what is true of one of several results.
        lambda e: _compared(e, section, only_one=True),
        lambda e: _related(e, section, only_one=True),
        lambda e: _numbers_together(e, relations.of_numbers, section),
        lambda e: _numbers_together(e, places.of_questions, section, kind="b"),
    ]
    if kinds.has_another_shape(first):
        # Numbers of another shape are compared by what differs in the shape before all else.
        asked = [lambda e: _compared(e, section), lambda e: kinds.shape(e, section), *asked]
    found = _first_of_all(asked, failing) or _difference(first, section)
    return found if right is None else _only_some(found, first, right)


def _first_of_all(asked: Sequence[Asks], failing: Sequence[Evidence]) -> Finding | None:
    """The first that says the same of every draw; else the first that says anything of the first.

    What is said of one draw alone may be a coincidence, but it is true of that draw.
    """
    heard: Finding | None = None
    for ask in asked:
        found = [_asked(ask, evidence) for evidence in failing]
        if found[0] is None:
            continue
        if all(one is not None and one.name == found[0].name for one in found):
            return found[0]
        heard = heard or found[0]
    return heard


def _asked(ask: Asks, evidence: Evidence) -> Finding | None:
    try:
        return ask(evidence)
    except ODD_DATA:
        return None  # it cannot be asked of data like this; the next one may


def _only_some(found: Finding, wrong: Evidence, right: Evidence) -> Finding:
    """The same of an answer that is right in another draw: which sizes make the difference."""
    sizes = wrong.sizes(), right.sizes()
    where = f" It is right with {sizes[1]} and wrong with {sizes[0]}." if all(sizes) else ""
    if where and sizes[0] == sizes[1]:
        where = " With other numbers of the same sizes it is right."
    if where and not _equal(right):
        # Judged by how often something happens: what was not seen there may still be wrong.
        where = f" With {sizes[1]} it did not show."
    if found.name != "difference":
        return Finding(found.name, found.what, found.effect + where, found.section)
    return Finding(
        "some-inputs",
        "Your answer is right for some inputs and wrong for others.",
        found.effect + where,
        found.section,
    )


def _equal(evidence: Evidence) -> bool:
    """True if all that was returned equals what is right, so that nothing was left to chance."""
    values = evidence.answers.values
    return all(
        name in values and same_value(values[name], wanted)
        for name, wanted in evidence.expected.values.items()
    )


def _not_a_number(evidence: Evidence, section: Section) -> Finding | None:
    for name in evidence.expected.values:
        if not evidence.comparable(name):
            continue
        mine, right = evidence.yours(name), evidence.right(name)
        if mine.dtype.kind == "f" and np.isfinite(right).all() and not np.isfinite(mine).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(mine))[0])
            at = f" at index {index(place)}" if place else ""
            held = float(mine[place])
            why = (
                "A division by zero, 0 · ∞, or a softmax over a row that is all −inf makes NaN; "
                "every later sum keeps it."
                if np.isnan(held)
                else "An infinity comes from a division by zero, the logarithm of zero, or a fill "
                "that was never taken away."
            )
            return Finding("not-finite", f"Your answer holds {number(held)}{at}.", why, section)
        if not same_value(mine, right):
            return None  # what is wrong first is described first
    return None


def _exchanged(evidence: Evidence, section: Section) -> Finding | None:
    """Two results of one case that changed places."""
    right = evidence.expected.values
    for one in right:
        for other in right:
            if one >= other or one.split(".")[0] != other.split(".")[0]:
                continue
            mine = evidence.answers.values.get(one), evidence.answers.values.get(other)
            if mine[0] is None or mine[1] is None or same_value(right[one], right[other]):
                continue
            if same_value(mine[0], right[other]) and same_value(mine[1], right[one]):
                names = [name.partition(".")[2] for name in (one, other)]
                said = " and ".join(
                    f"`{n}`" if not n.isdigit() else f"result {int(n) + 1}" for n in names
                )
                return Finding(
                    "exchanged",
                    "Two of your results changed places.",
                    f"They are {said}: each has what belongs to the other.",
                    section,
                )
    return None


def _text(evidence: Evidence, section: Section) -> Finding | None:
    """How a text differs, where it is the first thing that does and more can be said than that."""
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.values.get(name)
        if mine is None or same_value(mine, right):
            continue
        if not isinstance(right, str) or not isinstance(mine, str):
            return None
        label, what = _text_differs(mine, right)
        effect = f"{_texts(mine, right)} {evidence.called_with(name)}".strip()
        return None if label == "difference" else Finding(label, what, effect, section)
    return None


def _compared(evidence: Evidence, section: Section, *, only_one: bool = False) -> Finding | None:
    """How the first array that differs does; where others differ in another way, that is said.

    With `only_one`, how the first does of which something can be said.
    """
    first: tuple[str, comparisons.Difference] | None = None
    otherwise = False
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.values.get(name)
        if mine is None:
            otherwise = True
        elif not same_value(mine, right):
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
    effect = f"{found.effect} {evidence.called_with(name)}".strip()
    what = found.what
    if otherwise:
        what = f"{what[:-1]} ({_which(name)}; of another result that cannot be said)."
    return Finding(found.name, what, effect, section)


def _which(name: str) -> str:
    part = name.partition(".")[2]
    if part.isdigit():
        return f"this is result {int(part) + 1}"
    return f"this is `{part}`" if part else "this is one result"


def _related(evidence: Evidence, section: Section, *, only_one: bool = False) -> Finding | None:
    """How the first wrong array comes from the right one, or from what was given.

    With `only_one`, how the first does of which that can be said.
    """
    without = False
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.values.get(name)
        if mine is None or isinstance(mine, str) or isinstance(right, str):
            continue
        if same_value(mine, right):
            continue
        found = relations.related(evidence.yours(name), right, evidence.inputs)
        if found is None:
            if not only_one:
                return None
            without = True
            continue
        what = found.what
        if without:
            what = f"{what[:-1]} ({_which(name)}; of another result that cannot be said)."
        effect = f"{found.effect} {evidence.called_with(name)}".strip()
        return Finding(found.name, what, effect, section)
    return None


def _numbers_together(
    evidence: Evidence,
    compare: Callable[[Array, Array], comparisons.Difference | None],
    section: Section,
    kind: str = "f",
) -> Finding | None:
    """A relation between all single numbers that were returned, one a case or several."""
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
    found = compare(np.array(mine), np.array(right))
    if found is None:
        return None
    effect = f"That holds for {len(right)} numbers." if kind == "f" else found.effect
    return Finding(found.name, found.what, effect, section)


def _difference(evidence: Evidence, section: Section) -> Finding:
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.values.get(name)
        if mine is None or same_value(mine, right):
            continue
        with_what = evidence.called_with(name)
        if isinstance(right, str) or isinstance(mine, str):
            name, what = _text_differs(str(mine), str(right))
            return Finding(
                name, what, f"{_texts(str(mine), str(right))} {with_what}".strip(), section
            )
        wrong = int((~comparisons.close(mine, right)).sum())
        if right.ndim == 0:
            yours, wanted = comparisons.numbers_apart(float(mine), float(right))
            effect = f"Yours is {yours}, expected {wanted}."
        else:
            effect = f"{wrong} of {right.size} numbers differ. {comparisons.largest(mine, right)}"
        right_ones, wrong_ones = evidence.results(name.split(".")[0])
        if right_ones and wrong_ones:
            verb = "is" if len(wrong_ones) == 1 else "are"
            return Finding(
                "some-results",
                f"Of what you return, {results_by_name(wrong_ones)} {verb} wrong.",
                f"{_first_upper(results_by_name(right_ones))} "
                f"{'is' if len(right_ones) == 1 else 'are'} right. "
                f"In {results_by_name(wrong_ones[:1])}: "
                f"{effect[:1].lower()}{effect[1:]} {with_what}".strip(),
                section,
            )
        return Finding(
            "difference",
            "The values differ from the right ones.",
            f"{effect} {with_what}".strip(),
            section,
        )
    missing = next(
        (case for case in evidence.expected.errors if case not in evidence.answers.errors), None
    )
    if missing is not None:
        expected = evidence.expected.errors[missing]
        return Finding(
            "no-error",
            f"Your answer accepts what it should refuse with a {expected.kind}.",
            f"A right answer says: {sentence(expected.message)} "
            f"{evidence.called_with(missing)}".strip(),
            section,
        )
    return Finding("difference", "Your answer does not do what the task asks.", "", section)


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _text_differs(mine: str, right: str) -> tuple[str, str]:
    """How one text differs from another: a name and a sentence."""
    if not mine:
        return "empty-text", "Your answer returns an empty text."
    if "\n" in right:
        name, what = _lines_differ(mine.split("\n"), right.split("\n"))
        if name:
            return name, what
    if sorted(mine) == sorted(right):
        return "another-order", "Your text has the right symbols in another order."
    if mine == right[:-1] or mine == right[1:]:
        which = "last" if mine == right[:-1] else "first"
        return f"{which}-missing", f"Your text is right, but its {which} symbol is missing."
    if right in mine:
        return "too-many", "Your text holds the right one, and more."
    if mine.lower() == right.lower():
        return "another-case", "Your text differs in capital and small letters alone."
    return "difference", "Your answer returns another text."


def _lines_differ(mine: list[str], right: list[str]) -> tuple[str, str]:
    """The same of lists, whose entries are the lines of a text."""
    if sorted(mine) == sorted(right):
        return "another-order", "You have the right entries in another order."
    if sorted(one.lower() for one in mine) == sorted(one.lower() for one in right):
        return "another-case", "Your entries differ from the right ones in capital letters."
    missing, extra = Counter(right) - Counter(mine), Counter(mine) - Counter(right)
    if extra and missing:
        return "", ""
    some = missing or extra
    quoted = ", ".join(f"`{one}`" for one in list(some)[:_QUOTED])
    name, said = ("entries-missing", "missing") if missing else ("entries-too-many", "too many")
    return (
        name,
        f"{some.total()} of your entries are {said}: {quoted}{'…' * (len(some) > _QUOTED)}.",
    )


def _texts(mine: str, right: str) -> str:
    """Two texts around the place where they part; of lists, whose entries are lines, the entries
    from there on.
    """
    if "\n" in right:
        lists = mine.split("\n"), right.split("\n")
        pairs = zip(*lists, strict=False)
        first = next((n for n, (a, b) in enumerate(pairs) if a != b), min(map(len, lists)))
        told = [", ".join(one[first : first + _QUOTED]) or "nothing" for one in lists]
        return f"From entry {first} on yours are {told[0]}; expected {told[1]}."
    part = next(
        (n for n, (a, b) in enumerate(zip(mine, right, strict=False)) if a != b),
        min(len(mine), len(right)),
    )
    begin = max(part - _AROUND, 0)
    shown = [
        ("…" if begin else "") + text[begin : part + _AROUND] + ("…" * (part + _AROUND < len(text)))
        for text in (mine, right)
    ]
    where = f"They part at character {part}. " if part else ""
    return f"{where}Yours: {shown[0]!r}; expected: {shown[1]!r}."


def same_value(one: Value, other: Value) -> bool:
    """True if two values are the same text, or arrays of one shape with the same numbers."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    return one.shape == other.shape and bool(comparisons.close(one, other).all())
