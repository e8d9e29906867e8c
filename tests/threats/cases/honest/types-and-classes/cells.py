# %% top
from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Kind(enum.Enum):
    SMALL = enum.auto()


@dataclass(frozen=True, slots=True)
class Model(Generic[T]):
    size: int
    kind: Kind = Kind.SMALL
    parts: list[T] = field(default_factory=list)


class Speaks(Protocol):
    def speak(self) -> str: ...


match Model(3):
    case Model(size=3):
        print("matched")
