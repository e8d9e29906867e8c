"""What the play's characters depend on: how far back it stands, and what forgetting it costs.

The worth of a dependency is the loss, in nats per character of the text, of a reader who knows
everything but this one thing: who at each choice that reads the register in question draws from the
mixture of its variants, weighted by how often the text reads each of them (the other registers
being known), in place of the variant that the register names. It is the sum over those choices of
ln P(piece) − ln P_mixture(piece), divided by the number of characters; so it is a mean over this
text, like every loss. The worths do not add up: what two things tell together is counted in both.

Spelling, the dependency at length 1, is measured in the same way within the draws: at each
character after the first of a drawn string the reader has forgotten the character directly before
it, and expects the mean over all strings that agree up to there and go on after it.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from course_lib.data.play import structure
from course_lib.data.play.automaton import Automaton, Piece

SPELLING = "spelling"

# Two characters count as linked if knowing the earlier one makes the later one 1.25 times as
# likely.
TELLING = float(np.log(1.25))


class Dependency(NamedTuple):
    """One thing that the next character depends on."""

    name: str
    length: float  # median distance in characters between what is read and where it was set
    description: str
    worth: float  # nats per character of the text lost by forgetting it alone
    readings: int  # how many times the text reads it


@dataclass(frozen=True)
class Derivation:
    """The choices that made a text.

    Each reading of a register wrote one piece, and looks back to the piece that set the register;
    both are given as numbers in the order of the text.
    """

    automaton: Automaton = field(repr=False)  # holds the pieces
    characters: int  # length of the text
    pieces: np.ndarray = field(repr=False)  # (M,) int64: indices of the pieces written, in order
    starts: np.ndarray = field(repr=False)  # (M,) int64: position of each piece's first character
    read_at: np.ndarray = field(repr=False)  # (R,) int64: the piece that each reading wrote
    read_from: np.ndarray = field(repr=False)  # (R,) int64: the piece that had set the register


def measure_dependencies(derivation: Derivation) -> tuple[Dependency, ...]:
    """Every dependency that the text of a derivation reads, from the nearest to the farthest."""
    found = [_measure_spelling(derivation)]
    for number, (name, description, _, _) in enumerate(structure.DEPENDENCIES):
        targets, sources, drawn = _readings(derivation, number)
        if not len(targets):
            continue
        gains = _gains(derivation.automaton, drawn)
        total = sum(gains[index] for index in drawn.tolist())
        telling = np.array([gains[index] for index in drawn.tolist()]) >= TELLING
        distances = (targets - sources)[telling] if telling.any() else targets - sources
        found.append(
            Dependency(
                name,
                float(np.median(distances)),
                description,
                total / derivation.characters,
                len(targets),
            )
        )
    return tuple(sorted(found, key=lambda dependency: dependency.length))


def find_links(derivation: Derivation, name: str) -> np.ndarray:
    """Pairs of characters that a dependency ties together.

    Parameters
    ----------
    derivation : Derivation
    name : str
        Of a dependency.

    Returns
    -------
    (n, 2) int64
        Position of the first character that the choice wrote, position of the first character of
        what it read. Only choices are listed whose outcome the thing read makes at least 1.25
        times as likely as it is to a reader who has forgotten it.

    Raises
    ------
    ValueError
        If no dependency with links has this name.
    """
    names = [dependency.name for dependency in structure.DEPENDENCIES]
    if name not in names:
        raise ValueError(f"no dependency with links is called {name!r}: choose from {names}")
    targets, sources, drawn = _readings(derivation, names.index(name))
    gains = _gains(derivation.automaton, drawn)
    telling = np.array([gains[index] >= TELLING for index in drawn.tolist()], dtype=bool)
    return np.stack([targets[telling], sources[telling]], axis=1)  # (n, 2)


def _readings(derivation: Derivation, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First character written, first character read and piece, of each reading of a dependency."""
    dependency = np.array([piece.dependency for piece in derivation.automaton.pieces])
    drawn = derivation.pieces[derivation.read_at]
    targets = derivation.starts[derivation.read_at]
    chosen = dependency[drawn] == number
    sources = derivation.starts[derivation.read_from]
    return targets[chosen], sources[chosen], drawn[chosen]


def _gains(automaton: Automaton, drawn: np.ndarray) -> dict[int, float]:
    """For each piece drawn, how many nats cheaper it is for knowing the register."""
    counts = Counter(drawn.tolist())
    variants: dict[tuple[str, ...], Counter[int]] = defaultdict(Counter)
    for index, count in counts.items():
        variants[_known_besides(automaton.pieces[index])][index] += count
    gains = {}
    for group in variants.values():
        readings: Counter[tuple[str, ...]] = Counter()
        for index, count in group.items():
            readings[automaton.pieces[index].values] += count
        for index in group:
            piece = automaton.pieces[index]
            mixture = sum(
                count * _probability(automaton, piece, values) for values, count in readings.items()
            ) / sum(readings.values())
            gains[index] = float(np.log(_probability(automaton, piece, piece.values) / mixture))
    return gains


def _known_besides(piece: Piece) -> tuple[str, ...]:
    """What a reader who forgets the register of a dependency still knows of a choice."""
    forgotten = structure.DEPENDENCIES[piece.dependency].reads.get(piece.rule)
    if forgotten is None:
        return ("echo", *piece.registers)
    others = zip(piece.registers, piece.values, strict=True)
    return (piece.rule, *(value for register, value in others if register != forgotten))


def _probability(automaton: Automaton, piece: Piece, values: tuple[str, ...]) -> float:
    """How likely the text of a piece is where the registers hold these values."""
    if not piece.rule:
        return float(values == piece.values)
    variant = automaton.reading(piece.rule, piece.registers, values)
    return variant.probability.get(piece.text, 0.0)


def _measure_spelling(derivation: Derivation) -> Dependency:
    pieces = derivation.automaton.pieces
    whole = derivation.starts + np.array([len(pieces[index].text) for index in derivation.pieces])
    counts = Counter(derivation.pieces[whole <= derivation.characters].tolist())
    drawn = {index: count for index, count in counts.items() if pieces[index].spelled_blind}
    lost = sum(
        count * (pieces[index].spelled_blind - float(pieces[index].nll.sum()))
        for index, count in drawn.items()
    )
    return Dependency(
        SPELLING,
        1.0,
        "Within a word the next letter follows from those before it, first of all the last one.",
        lost / derivation.characters,
        sum(count * (len(pieces[index].text) - 1) for index, count in drawn.items()),
    )
