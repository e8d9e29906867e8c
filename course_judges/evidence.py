"""What a judge knows of one answer: the inputs, the right results, and those of the answer. All of
it is plain data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np

from course_judges.equality import same_value
from course_judges.variants import Variants
from course_tasks.answers import Answers, Array, Raised
from course_tasks.probing import Inputs, Run

# What may be raised if a judge looks for a number in data that is missing, empty or misshapen.
ODD_DATA = (
    KeyError,
    IndexError,
    ValueError,
    TypeError,
    ZeroDivisionError,
    OverflowError,
    StopIteration,
)

# What a probe calls the arguments as they are after the call, if a part is about them.
GIVEN = "given"

# Judges do arithmetic with a student's array and their own, which NumPy broadcasts to each other's
# shapes: (100000, 1) with (100,) would turn some kilobytes into ten million numbers. Arrays of at
# most so many elements stay small with anything that judges hold.
_FEW_ELEMENTS = 1024
# Together with the right one, an array may be this large, or a few times as large as the right one.
_MOST_ELEMENTS_TOGETHER = 100_000
_TIMES_THE_RIGHT_ONE = 4


@dataclass(frozen=True)
class Evidence:
    """All that a judge knows of one answer.

    Attributes
    ----------
    inputs : mapping of str to ndarray
        What the answer was run on, and what its probe kept back for the judge.
    reference : callable (watched=False) -> Run
        Computes the right results when they are first needed, since a reference may train for
        seconds and some judges don't need one. If it is watched, its arguments and the changes to
        them are known, too, which only words about a wrong answer need.
    answers : Answers
        The results of the student's answer.
    again : Answers, optional
        Its results for the same inputs at another time.
    after_others : bool
        Whether it was given these inputs before, and others in between.
    variants : Variants
        The results of our own wrong answers.
    """

    inputs: Inputs
    reference: Callable[..., Run]
    answers: Answers
    again: Answers | None = None
    after_others: bool = False
    variants: Variants = field(default_factory=Variants, compare=False)

    @cached_property
    def expected(self) -> Answers:
        """The results of the reference."""
        return self.reference().answers

    @cached_property
    def _watched(self) -> Run:
        return self.reference(watched=True)

    @cached_property
    def wrong_values(self) -> tuple[str, ...]:
        """The names of the values that are wrong or missing in the answer."""
        mine = self.answers.values
        return tuple(
            name
            for name, right in self.expected.values.items()
            if name not in mine or not same_value(mine[name], right)
        )

    def called_with(self, value: str) -> str:
        """A sentence on the call that returned this value: "It was called with x of shape (2, 3)."

        If the answer is a class, it names the whole-number inputs; it is empty if there are none.
        """
        called = self._watched.called.get(value.split(".")[0], "") or self.sizes()
        return f"It was called with {called}." if called else ""

    def given(self, value: str) -> Mapping[str, Any]:
        """What the function was given when it returned this value; nothing if it was called more
        than once.
        """
        return self._watched.arguments.get(value.split(".")[0], {})

    def arguments(self, value: str) -> dict[str, Array]:
        """The arrays that the function was given when it returned this value; none if it was called
        more than once.
        """
        given = self.given(value)
        arrays = {name: np.asarray(one) for name, one in given.items() if hasattr(one, "__array__")}
        return {name: one for name, one in arrays.items() if one.ndim}

    def results(self, case: str) -> tuple[list[str], list[str]]:
        """The names of what the function returned in a case, right ones and wrong ones; none if it
        returns only one thing, or if the probe looks at something else than all of it.
        """
        held: tuple[list[str], list[str]] = [], []
        for name in self.expected.values:
            of, _, result = name.partition(".")
            if of == case and result and result.split(".")[0] != GIVEN:
                held[name in self.wrong_values].append(result)
        if len({name.split(".")[0] for name in (*held[0], *held[1])}) == 1:
            # This is the probe's name for one dict or tuple, whose entries were returned.
            held = _bare(held[0]), _bare(held[1])
        named = {name.split(".")[0] for name in (*held[0], *held[1])}
        returned = self._watched.results.get(case, 0)
        return held if len(named) == returned > 1 else ([], [])

    @property
    def repeatable(self) -> bool:
        """True unless the answer gave other values for the same inputs at another time."""
        again = self.again
        return again is None or all(
            name in again.values and same_value(value, again.values[name])
            for name, value in self.answers.values.items()
            if name in self.expected.values
        )

    @property
    def changed(self) -> Mapping[str, str]:
        """The arguments that the answer changed and the reference did not, by their case."""
        changed = self.answers.changed
        if not changed:
            return {}
        allowed = self._watched.answers.changed
        return {case: names for case, names in changed.items() if case not in allowed}

    def number(self, name: str) -> int:
        """An input that is one whole number, such as T."""
        return int(self.inputs[name])

    def yours(self, name: str) -> Array:
        """The student's array of this name, which may have another shape than the right one.

        Raises
        ------
        KeyError
            If there is none.
        ValueError
            If it is so much larger than the right one that a judge should not calculate with it.
        """
        array = self.answers.array(name)
        if array is None:
            raise KeyError(f"the answer has no array {name!r}")
        if array.size > _FEW_ELEMENTS:
            right = self.right(name)
            together = _stretched(array.shape, right.shape)
            if together > max(_MOST_ELEMENTS_TOGETHER, _TIMES_THE_RIGHT_ONE * right.size):
                raise ValueError(
                    f"the array {name!r} has shape {array.shape}, the right one {right.shape}"
                )
        return array

    def shaped(self, name: str, shape: tuple[int, ...]) -> Array:
        """The student's array of this name and shape, for judges that need no reference.

        Raises
        ------
        KeyError
            If there is none.
        ValueError
            If it has another shape.
        """
        array = self.answers.array(name)
        if array is None:
            raise KeyError(f"the answer has no array {name!r}")
        if array.shape != shape:
            raise ValueError(f"the array {name!r} has shape {array.shape}, expected {shape}")
        return array

    def right(self, name: str) -> Array:
        """The reference's array of this name."""
        array = self.expected.array(name)
        if array is None:
            raise KeyError(f"the reference has no array {name!r}")
        return array

    def comparable(self, name: str) -> bool:
        """True if both sides hold an array of this name and of the same shape."""
        mine, right = self.answers.array(name), self.expected.array(name)
        return mine is not None and right is not None and mine.shape == right.shape

    def same(self, *cases: str) -> bool:
        """True if the answer equals the reference in every one of these cases."""
        return all(same_case(self.answers, self.expected, case) for case in cases)

    def sizes(self, kinds: str = "iu") -> str:
        """The whole-number inputs, as in "T = 7, width = 3"; with `kinds` "iuf" all numbers."""
        return ", ".join(
            f"{name} = {value.item():.4g}" if value.dtype.kind == "f" else f"{name} = {int(value)}"
            for name, value in self.inputs.items()
            if value.ndim == 0 and value.dtype.kind in kinds and name != "seed"
        )


def _bare(names: list[str]) -> list[str]:
    return [name.partition(".")[2] or name for name in names]


def _stretched(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many elements two shapes have at most if NumPy broadcasts them to each other."""
    return math.prod(max(a, b) for a, b in zip_longest(reversed(one), reversed(other), fillvalue=1))


def same_case(a: Answers, b: Answers, case: str) -> bool:
    """True if a case ended in the same way: with the same values, or the same kind of error."""
    if case in a.errors or case in b.errors:
        left, right = a.errors.get(case), b.errors.get(case)
        return left is not None and right is not None and _same_error(left, right)
    names = {n for n in (*a.values, *b.values) if n == case or n.startswith(case + ".")}
    return bool(names) and all(
        n in a.values and n in b.values and same_value(a.values[n], b.values[n]) for n in names
    )


def _same_error(a: Raised, b: Raised) -> bool:
    return a.kind == b.kind
