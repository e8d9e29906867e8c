"""What the shown input did to a student's own code and to its variants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from course_judges.defending.asking import Found, Run, returns_of
from course_judges.defending.changes import Edit
from course_judges.defending.contract import MOST_NUMBERS, Given
from course_judges.defending.program import RETURNED
from course_judges.defending.values import Value, presentable, written, written_shape

# Whoever draws nothing with it, or what makes no difference, needs to know no more of it.
GENERATOR = "Generator"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


@dataclass(frozen=True)
class Variant:
    """An edit, and what it did.

    Attributes
    ----------
    edit : Edit
    run : Run
    returned : mapping of str to Value
        What the asked function returned for the shown input, part by part.
    same : bool
        Whether the task's case gave the same in every draw.
    differs : bool
        Whether it gave something else in every draw.
    """

    edit: Edit
    run: Run
    returned: Mapping[str, Value]
    same: bool
    differs: bool

    @property
    def stopped(self) -> bool:
        """Whether it stopped with an error on the shown input."""
        return bool(self.run.error or self.run.stopped(0))


class Shown:
    """What questions are made of.

    Parameters
    ----------
    found : Found
    """

    def __init__(self, found: Found) -> None:
        self.found = found
        self.program, self.own = found.program, found.own
        self._unlike: dict[frozenset[int], bool] = {}

    @cached_property
    def function(self) -> str:
        """The function that is asked: "scores", or of a class "Head.forward"."""
        name, given = self.program.name, self.own.given
        preferred = (name, f"{name}.forward", f"{name}.__call__")
        methods = [one for one in given if one.startswith(f"{name}.") and "__" not in one]
        for one in (*preferred, *methods, *given):
            if one in given and self._returned(self.own, self.program.source, one):
                return one
        return ""

    @cached_property
    def returned(self) -> Mapping[str, Value]:
        """What it returned, part by part; `RETURNED` is all of it."""
        return self._returned(self.own, self.program.source, self.function)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """All variants that ran."""
        return tuple(
            self._variant(edit, run)
            for edit, run in zip(self.found.plan.edits, self.found.variants, strict=True)
            if run.error != "not run" and not run.odd
        )

    def _variant(self, edit: Edit, run: Run) -> Variant:
        returned = self._returned(run, edit.source, self.function) if not run.error else {}
        if run.stopped(0) or run.random:
            returned = {}
        if run.mixed:
            return Variant(edit, run, returned, same=False, differs=False)
        alike = run.alike(self.own, self.found.plan.roles["drawn"])
        draws = run.alike(self.own, self.found.draws)
        same = not run.error and bool(alike.size) and bool(alike.all())
        return Variant(edit, run, returned, same, bool(run.error) or not draws.any())

    def unlike(self, one: Variant, other: Variant) -> bool:
        """True if two variants never gave the same in any draw."""
        if one.run.error or other.run.error:
            return not (one.run.error and other.run.error)
        pair = frozenset({id(one), id(other)})
        if pair not in self._unlike:
            self._unlike[pair] = not one.run.alike(other.run, self.found.draws).any()
        return self._unlike[pair]

    @staticmethod
    def _returned(run: Run, source: str, function: str) -> Mapping[str, Value]:
        for line in returns_of(source, function):
            parts = {
                name: value
                for (at, name), (_, value) in run.saw.items()
                if at == line and (name == RETURNED or name.startswith("["))
            }
            if parts:
                return parts
        return {}

    @cached_property
    def arguments(self) -> Mapping[str, Value]:
        """What the asked function and, of a class, its construction were given."""
        given = dict(self.own.given.get(self.function, {}))
        owner = self.function.rpartition(".")[0]
        made = self.own.given.get(f"{owner}.__init__", {}) if owner else {}
        return {**{f"{owner}({name}=…)": value for name, value in made.items()}, **given}

    @cached_property
    def given(self) -> tuple[Given, ...]:
        """The same for paper; what is large only with its shape."""
        return tuple(
            Given(name, value.shape, self._text(value)) for name, value in self.arguments.items()
        )

    def _text(self, value: Value) -> str:
        if value.kind == "other":
            return f"a {value.text}"
        if value.array is None and value.kind == "array":
            return f"of shape {written_shape(value.shape)}"
        if self.numbers > MOST_NUMBERS and value.array is not None and value.array.size > 12:
            return f"of shape {written_shape(value.shape)}"
        return written(value)

    @property
    def numbers(self) -> int:
        """How many numbers are given."""
        return sum(v.array.size for v in self.arguments.values() if v.array is not None)

    @cached_property
    def on_paper(self) -> bool:
        """Whether the shown input is complete and small, so that numbers can be asked for."""
        known = all(
            value.kind == "text" or value.array is not None or value.text == GENERATOR
            for value in self.arguments.values()
        )
        return (
            self.found.plan.small
            and bool(self.arguments)
            and known
            and not self.own.random
            and self.numbers <= MOST_NUMBERS
            and self.found.right
        )

    @cached_property
    def names_of_inputs(self) -> Mapping[str, str]:
        """Of each drawn input, what the student's code calls it, where that is certain."""
        found: dict[str, str] = {}
        for name, array in self.found.plan.sets[0].items():
            if array.ndim == 0:
                continue
            equal = [
                own
                for own, value in self.arguments.items()
                if value.array is not None
                and value.shape == array.shape
                and bool((value.array == array).all())
            ]
            if len(equal) == 1:
                found[name] = equal[0]
        return found

    def seen(self) -> Iterator[tuple[int, str, int, Value]]:
        """Each (line, name, how often the line ran, first value) of the student's own code."""
        for (line, name), (count, value) in sorted(self.own.saw.items()):
            yield line, name, count, value

    def of_variant(self, one: Variant, line: int, name: str) -> Value | None:
        """What a name held after the same line in a variant."""
        grown = len(one.edit.source.splitlines()) - len(self.program.lines)
        at = line + grown if line > one.edit.last else line
        seen = one.run.saw.get((at, name))
        return seen[1] if seen else None

    @property
    def called(self) -> str:
        """The asked function, as a question names it."""
        return f"`{self.function.rpartition('.')[2]}`"

    def where(self, part: str) -> str:
        """ "what `scores` returns", or which part of it."""
        return part_said(part, self.called)


def part_said(part: str, who: str) -> str:
    """What a function or a line returns, or one of several values.

    Parameters
    ----------
    part : str
        `RETURNED`, "[0]", or "['loss']".
    who : str
        "line 4" or "`scores`".
    """
    if part == RETURNED:
        return f"what {who} returns"
    if part[1:-1].isdigit():
        return f"the {_ORDINALS[int(part[1:-1])]} value that {who} returns"
    return f"`{part}` of what {who} returns"


def short(value: Value) -> str:
    """A value in a reason: its numbers where they are few, else its shape."""
    if presentable(value):
        return f"`{written(value)}`"
    if value.kind != "array":
        return "something else"
    return f"something of shape `{written_shape(value.shape)}`"
