"""Writing the play: a seeded walk through its automaton, which keeps what every choice cost."""

import functools
import operator
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import numpy as np

from course_lib.data.play import automaton as steps
from course_lib.data.play import grammar, structure
from course_lib.data.play.automaton import POSITIONS, Automaton
from course_lib.data.play.dependencies import (
    Dependency,
    Derivation,
    find_links,
    measure_dependencies,
)

DEFAULT_CHARACTERS = 1_000_000
DEFAULT_SEED = 1


class PositionFloor(NamedTuple):
    """What one position in the structure holds."""

    share: float  # of all characters
    floor: float  # their mean cost in nats


@dataclass(frozen=True)
class Play:
    """A text whose every character's probability is known.

    Attributes
    ----------
    text : str
        N characters of Tiny Shakespeare's 65 symbols.
    seed : int
        The seed it was written from.
    nll : (N,) float64
        −ln P(character | all characters before it), in nats. No model can expect to do better.
    positions : (N,) int8
        Index into `POSITIONS`: where in the structure of the play each character stands.
    derivation : Derivation
        The choices that were made.
    """

    text: str
    seed: int
    nll: np.ndarray = field(repr=False)
    positions: np.ndarray = field(repr=False)
    derivation: Derivation = field(repr=False)

    def __repr__(self) -> str:
        return f"Play(characters={len(self.text)}, seed={self.seed}, floor={self.floor():.4f})"

    def floor(self, where: slice = slice(None)) -> float:
        """Mean cost of a character: the loss that no model can beat.

        Parameters
        ----------
        where : slice
            The characters to look at, for example those of the validation split.

        Returns
        -------
        float
            Nats per character.

        Raises
        ------
        ValueError
            If the slice holds no character.
        """
        return float(self._cut(where)[0].mean())

    def floor_by_position(self, where: slice = slice(None)) -> Mapping[str, PositionFloor]:
        """Mean cost of a character at each position in the structure.

        Parameters
        ----------
        where : slice
            The characters to look at.

        Returns
        -------
        mapping of str to PositionFloor
            The positions that occur, in the order of `POSITIONS`. The shares sum to 1, and the
            floors weighted by the shares to `floor(where)`.

        Raises
        ------
        ValueError
            If the slice holds no character.
        """
        nll, positions = self._cut(where)
        counts = np.bincount(positions, minlength=len(POSITIONS))
        sums = np.bincount(positions, weights=nll, minlength=len(POSITIONS))
        return {
            name: PositionFloor(float(count / len(nll)), float(total / count))
            for name, count, total in zip(POSITIONS, counts, sums, strict=True)
            if count
        }

    def dependencies(self) -> tuple[Dependency, ...]:
        """What the next character depends on, from the nearest to the farthest."""
        return self._dependencies

    def links(self, name: str) -> np.ndarray:
        """Where to look: the pairs of characters that a dependency ties together.

        Parameters
        ----------
        name : str
            Of a dependency longer than one character, for example ``"epithet"``.

        Returns
        -------
        (n, 2) int64
            In each row the position of a character, and the earlier position that makes it likely.
            A model that predicts the first is at the position before it.

        Raises
        ------
        ValueError
            If no dependency has this name.
        """
        return find_links(self.derivation, name)

    @functools.cached_property
    def _dependencies(self) -> tuple[Dependency, ...]:
        return measure_dependencies(self.derivation)

    def _cut(self, where: slice) -> tuple[np.ndarray, np.ndarray]:
        nll = self.nll[where]
        if not len(nll):
            raise ValueError(
                f"{where} holds none of the {len(self.text)} characters: choose a slice that does"
            )
        return nll, self.positions[where]


def write(characters: int = DEFAULT_CHARACTERS, seed: int = DEFAULT_SEED) -> Play:
    """Write the play, and keep the exact probability of every character.

    The text is cut after exactly `characters` characters, wherever that is; as the cost of each is
    given everything before it, the costs are exact for the cut text too. A longer play with the
    same seed begins with the shorter one. The text depends on nothing but the two arguments.

    Parameters
    ----------
    characters : int
        Length of the text, at least 1.
    seed : int
        At least 0.

    Returns
    -------
    Play

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If `characters` is below 1 or `seed` below 0.
    """
    characters = _integer("characters", characters, smallest=1)
    seed = _integer("seed", seed, smallest=0)
    automaton = Automaton(grammar.rules())
    drawn, read_at, read_from = _walk(automaton, characters, Random(seed))
    pieces = automaton.pieces
    indices = np.array(drawn, dtype=np.int64)
    lengths = np.array([len(piece.text) for piece in pieces])
    starts = np.concatenate([[0], np.cumsum(lengths[indices])])
    places = _places(lengths, indices, starts)[:characters]
    return Play(
        text="".join([pieces[index].text for index in drawn])[:characters],
        seed=seed,
        nll=np.concatenate([piece.nll for piece in pieces])[places],
        positions=np.concatenate([piece.positions for piece in pieces])[places],
        derivation=Derivation(
            automaton=automaton,
            characters=characters,
            pieces=indices,
            starts=starts[:-1],
            read_at=np.array(read_at, dtype=np.int64),
            read_from=np.array(read_from, dtype=np.int64),
        ),
    )


def _integer(name: str, value: int, smallest: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    number = operator.index(value)
    if number < smallest:
        raise ValueError(f"{name} must be at least {smallest}, got {number}")
    return number


def _places(lengths: np.ndarray, drawn: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """For each character written, where it stands in all pieces laid end to end."""
    offsets = np.cumsum(lengths) - lengths
    shift = np.repeat(offsets[drawn] - starts[:-1], lengths[drawn])
    return np.arange(starts[-1]) + shift


def _walk(
    automaton: Automaton, characters: int, random: Random
) -> tuple[list[int], list[int], list[int]]:
    """Write pieces until there are enough characters.

    Only whole numbers decide: a draw is the integer part of a random double times the sum of the
    weights, which is the same on every machine.

    Returns
    -------
    pieces : list of int
        Indices of the pieces, in the order of the text.
    read_at, read_from : list of int
        For each reading of a register the number, in that order, of the piece that was written by
        it and of the piece that had set the register.
    """
    draw = random.random
    expansion, reading, pieces = automaton.expansion, automaton.reading, automaton.pieces
    forgotten = {
        rule: register
        for dependency in structure.DEPENDENCIES
        for rule, register in dependency.reads.items()
    }
    values: dict[str, str] = {}
    sources: dict[str, int] = {}
    drawn: list[int] = []
    read_at: list[int] = []
    read_from: list[int] = []
    stack: list[steps.Step] = [(steps.EXPAND, grammar.START, None)]
    length = 0
    while length < characters:
        code, first, second = stack.pop()
        if code <= steps.READ:
            if code == steps.WRITE:
                drawn.append(first)
                length += len(pieces[first].text)
                continue
            if code == steps.EXPAND:
                choice = expansion(first)
                if not isinstance(choice, steps.Choice):
                    stack.extend(choice)
                    continue
            else:
                choice = reading(first, second, tuple([values[register] for register in second]))
                if first in forgotten:
                    read_at.append(len(drawn))
                    read_from.append(sources[forgotten[first]])
            cumulative = choice.cumulative
            option = bisect_right(cumulative, int(draw() * cumulative[-1]))
            index = choice.pieces[option]
            drawn.append(index)
            length += len(pieces[index].text)
            stack.extend(choice.steps[option])
        elif code == steps.REMEMBER:
            values[first] = pieces[drawn[-1]].text
            sources[first] = len(drawn) - 1
        elif code == steps.SET:
            values[first] = second
            sources[first] = len(drawn) - 1
        elif code == steps.COPY:
            values[first] = values[second]
            sources[first] = sources[second]
        else:
            read_at.append(len(drawn))
            read_from.append(sources[first])
            index = automaton.echo(first, values[first])
            # The next echo of this register looks back to here, which is nearer than where it was
            # set.
            sources[first] = len(drawn)
            drawn.append(index)
            length += len(pieces[index].text)
    return drawn, read_at, read_from
