"""The grammar made ready to run: every rule as one draw from prefix-free strings.

A *piece* is a string that is written at once, with what each of its characters costs given
everything before it. Where a rule has several options, their beginnings are the pieces to draw
from: options that begin with another rule are spelled out until each begins with text.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from course_lib.data.play import grammar, structure
from course_lib.data.play.grammar import Call, Copy, Echo, Item, Literal, Set
from course_lib.errors import GrammarError

# The kinds of place where a character can stand in the structure of the play.
POSITIONS = (
    "settled",
    "opening",
    "first letter",
    "inside a word",
    *(dependency.name for dependency in structure.DEPENDENCIES),
)
SETTLED, OPENING, FIRST_LETTER, INSIDE, POSITION_OF_DEPENDENCY = range(5)

READ_BY = {
    rule: number
    for number, dependency in enumerate(structure.DEPENDENCIES)
    for rule in dependency.reads
}
ECHOED = {
    register: number
    for number, dependency in enumerate(structure.DEPENDENCIES)
    for register in dependency.echoes
}

# A step of the automaton is one of these codes, with its operands.
WRITE, EXPAND, READ, ECHO, REMEMBER, SET, COPY = range(7)
Step = tuple[int, Any, Any]

# A draw is a float times the sum of the weights; its 53 bits must be able to hit every weight.
LARGEST_TOTAL = 2**53


class Piece(NamedTuple):
    """A string written at once."""

    text: str
    nll: np.ndarray  # (len(text),) float64: nats of each character, given everything before it
    positions: np.ndarray  # (len(text),) int8: index into `POSITIONS` of each character
    spelled_blind: float = 0.0  # nats for a reader who always forgets the character before
    rule: str = ""  # that it was drawn from, without the variant; empty where nothing was drawn
    registers: tuple[str, ...] = ()  # those that told the variant
    values: tuple[str, ...] = ()  # what the registers held
    dependency: int = -1  # index into `structure.DEPENDENCIES` where a register was read


class Choice(NamedTuple):
    """A draw: which piece is written, and what is to be done after it."""

    cumulative: tuple[int, ...]  # running sums of the weights
    pieces: tuple[int, ...]  # index of each option's piece in `Automaton.pieces`
    steps: tuple[tuple[Step, ...], ...]  # what follows each piece, last step first
    probability: dict[str, float]  # of each piece's text


class Opening(NamedTuple):
    """An option spelled out until it begins with text."""

    weight: Fraction  # its probability in the rule
    text: str  # what it begins with
    rest: tuple["Part", ...]  # what follows
    is_word: bool  # whether the text is an entry of a list of words


class Remember(NamedTuple):
    """Keep the piece written last in a register."""

    register: str


Part = Item | Remember


class Automaton:
    """The rules of a grammar, made into draws when they are first needed.

    Parameters
    ----------
    rules : mapping of str to tuple of (int, str)
        See `course_lib.data.play.grammar`.

    Attributes
    ----------
    pieces : list of Piece
        All pieces met so far.

    Raises
    ------
    GrammarError
        From any method that meets a rule which is missing, or whose options the text alone cannot
        tell apart.
    """

    def __init__(self, rules: grammar.Rules) -> None:
        self.rules = rules
        self.pieces: list[Piece] = []
        self._literals: dict[str, int] = {}
        self._echoes: dict[tuple[str, str], int] = {}
        self._openings: dict[str, tuple[Opening, ...]] = {}
        self._expansions: dict[str, Choice | tuple[Step, ...]] = {}
        self._readings: dict[tuple[str, tuple[str, ...]], Choice] = {}

    def expansion(self, rule: str) -> Choice | tuple[Step, ...]:
        """Return the draw of a rule; of a rule with one option, its steps, last step first."""
        if rule not in self._expansions:
            options = self._options(rule)
            self._expansions[rule] = (
                self._steps(_parts(options[0][1]))
                if len(options) == 1
                else self._choice(rule, rule, (), ())
            )
        return self._expansions[rule]

    def reading(self, rule: str, registers: tuple[str, ...], values: tuple[str, ...]) -> Choice:
        """Return the draw of the variant of a rule that the values of its registers name."""
        if (rule, values) not in self._readings:
            variant = f"{rule}.{','.join(values)}"
            self._readings[rule, values] = self._choice(variant, rule, registers, values)
        return self._readings[rule, values]

    def literal(self, text: str) -> int:
        """Return the index of the piece for text that was settled before."""
        if text not in self._literals:
            self._literals[text] = self._settle(text, SETTLED)
        return self._literals[text]

    def echo(self, register: str, text: str) -> int:
        """Return the index of the piece that repeats what a register remembers."""
        if (register, text) not in self._echoes:
            number = ECHOED[register]
            self._echoes[register, text] = self._settle(
                text, POSITION_OF_DEPENDENCY + number, number, register
            )
        return self._echoes[register, text]

    def openings(self, rule: str) -> tuple[Opening, ...]:
        """Return the options of a rule, each spelled out until it begins with text."""
        if rule not in self._openings:
            options = self._options(rule)
            total = sum(weight for weight, _ in options)
            parsed = [_parts(template) for _, template in options]
            is_list = all(len(parts) == 1 and isinstance(parts[0], Literal) for parts in parsed)
            self._openings[rule] = tuple(
                opening
                for (weight, _), parts in zip(options, parsed, strict=True)
                for opening in self._spelled_out(rule, Fraction(weight, total), parts, is_list)
            )
        return self._openings[rule]

    def _options(self, rule: str) -> tuple[tuple[int, str], ...]:
        if rule not in self.rules:
            raise GrammarError(
                f"a template calls the rule {rule!r}, which the grammar lacks: add it"
            )
        return self.rules[rule]

    def _spelled_out(
        self, rule: str, weight: Fraction, parts: tuple[Part, ...], is_list: bool
    ) -> Iterator[Opening]:
        silent = tuple(itertools.takewhile(lambda part: isinstance(part, Set | Copy), parts))
        first, rest = parts[len(silent)], parts[len(silent) + 1 :]
        if isinstance(first, Literal):
            yield Opening(weight, first.text, silent + rest, is_list)
        elif isinstance(first, Call) and not first.registers:
            for opening in self.openings(first.rule):
                yield Opening(
                    weight * opening.weight,
                    opening.text,
                    silent + opening.rest + rest,
                    opening.is_word,
                )
        else:
            raise GrammarError(
                f"an option of {rule!r} begins with {first!r}: begin it with text or a plain rule"
            )

    def _choice(
        self, variant: str, rule: str, registers: tuple[str, ...], values: tuple[str, ...]
    ) -> Choice:
        openings = self.openings(variant)
        scale = math.lcm(*(opening.weight.denominator for opening in openings))
        weights = [int(opening.weight * scale) for opening in openings]
        common = math.gcd(*weights)
        weights = [weight // common for weight in weights]
        total = sum(weights)
        if total >= LARGEST_TOTAL:
            raise GrammarError(f"the weights of {variant!r} add up to {total}: use smaller ones")
        texts = [opening.text for opening in openings]
        spelling = spell(variant, texts, weights)
        dependency = READ_BY.get(rule, -1) if values else -1
        first = len(self.pieces)
        for opening, (nll, blind) in zip(openings, spelling, strict=True):
            positions = np.full(len(opening.text), OPENING, dtype=np.int8)
            if dependency >= 0 and rule not in structure.WAYS_TO_GO_ON:
                positions[:] = POSITION_OF_DEPENDENCY + dependency
            elif opening.is_word:
                positions[0], positions[1:] = FIRST_LETTER, INSIDE
            self.pieces.append(
                Piece(opening.text, nll, positions, blind, rule, registers, values, dependency)
            )
        return Choice(
            tuple(itertools.accumulate(weights)),
            tuple(range(first, first + len(texts))),
            tuple(self._steps(opening.rest) for opening in openings),
            {text: weight / total for text, weight in zip(texts, weights, strict=True)},
        )

    def _steps(self, parts: tuple[Part, ...]) -> tuple[Step, ...]:
        steps: list[Step] = []
        for part in parts:
            match part:
                case Literal(text):
                    steps.append((WRITE, self.literal(text), None))
                case Call(rule, ()):
                    steps.append((EXPAND, rule, None))
                case Call(rule, registers):
                    steps.append((READ, rule, registers))
                case Echo(register):
                    steps.append((ECHO, register, None))
                case Remember(register):
                    steps.append((REMEMBER, register, None))
                case Set(register, value):
                    steps.append((SET, register, value))
                case Copy(register, source):
                    steps.append((COPY, register, source))
        return tuple(reversed(steps))

    def _settle(self, text: str, position: int, dependency: int = -1, register: str = "") -> int:
        registers, values = ((register,), (text,)) if register else ((), ())
        positions = np.full(len(text), position, dtype=np.int8)
        self.pieces.append(
            Piece(text, np.zeros(len(text)), positions, 0.0, "", registers, values, dependency)
        )
        return len(self.pieces) - 1


def spell(
    rule: str, texts: Sequence[str], weights: Sequence[int]
) -> list[tuple[np.ndarray, float]]:
    """Spread the cost of drawing a string over its characters.

    Parameters
    ----------
    rule : str
        Named in errors.
    texts : sequence of str
        The strings, none a prefix of another one.
    weights : sequence of int
        Their weights.

    Returns
    -------
    list of (nll, blind)
        For each string the nats of each character given those before it, and the nats of the whole
        string for a reader who has forgotten, at each character, the one before it: the mean over
        all strings that agree up to that one, and go on after it.

    Raises
    ------
    GrammarError
        If a string is empty, or begins another one.
    """
    mass: dict[str, int] = defaultdict(int)
    ends: set[str] = set()
    # The weight of strings that begin with a prefix and have two more characters at least; and the
    # same by the second of those two, whatever the first one is.
    agreeing: dict[str, int] = defaultdict(int)
    with_next: dict[tuple[str, str], int] = defaultdict(int)
    for text, weight in zip(texts, weights, strict=True):
        if not text or text in mass or any(text[:stop] in ends for stop in range(1, len(text))):
            raise GrammarError(
                f"{text!r} in {rule!r} is empty, or one of its options begins another"
            )
        ends.add(text)
        for stop in range(len(text) + 1):
            mass[text[:stop]] += weight
        for stop in range(1, len(text)):
            agreeing[text[: stop - 1]] += weight
            with_next[text[: stop - 1], text[stop]] += weight
    costs = []
    for text in texts:
        nll = np.array(
            [math.log(mass[text[:stop]] / mass[text[: stop + 1]]) for stop in range(len(text))]
        )
        blind = float(nll[0]) + sum(
            math.log(agreeing[text[: stop - 1]] / with_next[text[: stop - 1], text[stop]])
            for stop in range(1, len(text))
        )
        costs.append((nll, blind))
    return costs


def _parts(template: str) -> tuple[Part, ...]:
    """The items of a template, with what is to be remembered as a part of its own."""
    parts: list[Part] = []
    for item in grammar.parse(template):
        if isinstance(item, Call) and item.remember:
            parts += [Call(item.rule, item.registers), Remember(item.remember)]
        else:
            parts.append(item)
    return tuple(parts)
