"""The built-in play: a comedy among QUERY, KEY, VALUE and others, and the exact cost of its text.

>>> from course_lib.data import play
>>> comedy = play.write()
>>> comedy.floor(slice(900_000, None))  # the loss that no model can beat on the validation split
>>> comedy.floor_by_position()
>>> comedy.dependencies()
>>> comedy.links("epithet")  # where a head has to look
"""

from course_lib.data.play.automaton import POSITIONS
from course_lib.data.play.dependencies import Dependency
from course_lib.data.play.writing import (
    DEFAULT_CHARACTERS,
    DEFAULT_SEED,
    Play,
    PositionFloor,
    write,
)

__all__ = [
    "DEFAULT_CHARACTERS",
    "DEFAULT_SEED",
    "POSITIONS",
    "Dependency",
    "Play",
    "PositionFloor",
    "write",
]
