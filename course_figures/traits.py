"""The kinds of state that a figure has; each refuses a wrong value in words, and travels as JSON.

Arrays travel as ``{"dtype", "shape", "base64"}`` (little-endian, row by row), which holds NaN and
±∞ exactly; `runtime/arrays.js` reads and writes the same form. Single numbers have to be finite.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import traitlets

from course_figures.errors import FigureError
from course_lib.errors import ShapeError

_STORED = {"float": "float32", "int": "int32", "bool": "uint8"}


class _State(traitlets.TraitType):
    """A trait that is sent to the page and, where the reader changes it, comes back."""

    def __init__(self, default: Any, **settings: Any) -> None:
        super().__init__(default_value=default, **settings)
        self.tag(sync=True, to_json=self._leave, from_json=self._enter)

    def _leave(self, value: Any, _owner: Any) -> Any:
        return value

    def _enter(self, value: Any, _owner: Any) -> Any:
        return value

    def _refuse(self, owner: Any, value: Any, wanted: str) -> FigureError:
        shown = repr(value)
        shown = shown if len(shown) < 80 else shown[:77] + "…"
        return FigureError(f"{type(owner).__name__}.{self.name} is {shown}: give {wanted}")


class Array(_State):
    """An array of fixed kind and number of sizes; torch tensors and nested lists are taken too.

    What the trait holds is read-only: assign a new array to change the figure.

    Parameters
    ----------
    *sizes : str or int
        Name of each size for messages ("T"), or the number it must be. Two sizes with the same
        name must be equal. None at all: any shape.
    kind : "float" | "int" | "bool"
        What it holds: kept as float32, int32 or uint8.
    finite : bool
        Refuse NaN and ±∞. Leave it off where the page should show them, with a message.
    default : array-like
        What it holds if nothing is given.

    Raises
    ------
    ShapeError
        On assignment of an array with other sizes.
    FigureError
        On assignment of something that is no array of numbers, or is not finite and should be.
    """

    def __init__(
        self, *sizes: str | int, kind: str = "float", finite: bool = False, default: Any
    ) -> None:
        self.sizes, self.finite = sizes, finite
        self.dtype = np.dtype(_STORED[kind])
        super().__init__(self._fixed(np.asarray(default)))

    def validate(self, obj: Any, value: Any) -> np.ndarray:
        """The value as an array of this kind, refused if it is none."""
        if hasattr(value, "detach"):
            value = value.detach().cpu().numpy()
        try:
            array = np.asarray(value)
            numbers = array.dtype.kind in "biuf"
        except ValueError:  # rows of different lengths
            numbers = False
        if not numbers:
            raise self._refuse(obj, value, f"an array of numbers of shape {self._wanted()}")
        self._check_shape(obj, array.shape)
        kept = self._fixed(array)
        if self.finite and not np.isfinite(kept).all():
            wanted = "finite numbers of at most 3.4e38 in size; NaN or ∞ is among them"
            raise self._refuse(obj, value, wanted)
        return kept

    def _fixed(self, array: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes ∞
            kept = np.array(array, dtype=self.dtype, order="C")
        kept.setflags(write=False)
        return kept

    def _check_shape(self, obj: Any, shape: tuple[int, ...]) -> None:
        if not self.sizes:
            return
        known: dict[str | int, int] = {}
        fits = len(shape) == len(self.sizes) and all(
            (size if isinstance(size, int) else known.setdefault(size, found)) == found
            for size, found in zip(self.sizes, shape, strict=True)
        )
        if not fits or 0 in shape:
            raise ShapeError(
                f"{type(obj).__name__}.{self.name} has shape {tuple(shape)}: "
                f"give an array of shape {self._wanted()}, no size 0"
            )

    def _wanted(self) -> str:
        return f"({', '.join(map(str, self.sizes))})" if self.sizes else "(…)"

    def _leave(self, value: np.ndarray, _owner: Any) -> dict[str, Any]:
        data = value.astype(value.dtype.newbyteorder("<")).tobytes()
        return {
            "dtype": str(value.dtype),
            "shape": list(value.shape),
            "base64": base64.b64encode(data).decode("ascii"),
        }

    def _enter(self, value: Any, _owner: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        data = base64.b64decode(value["base64"])
        return np.frombuffer(data, np.dtype(value["dtype"]).newbyteorder("<")).reshape(
            value["shape"]
        )

    def set(self, obj: Any, value: Any) -> None:
        """Assign, and tell nobody where nothing changed."""
        new: np.ndarray = self._validate(obj, value)  # type: ignore[assignment]
        old = obj._trait_values.get(self.name)
        if old is not None and old.shape == new.shape and old.tobytes() == new.tobytes():
            return
        super().set(obj, new)


class Number(_State):
    """A finite number between two bounds; `whole` for integers."""

    def __init__(
        self,
        default: float,
        least: float = -math.inf,
        most: float = math.inf,
        *,
        whole: bool = False,
    ) -> None:
        self.least, self.most, self.whole = least, most, whole
        super().__init__(default)

    def validate(self, obj: Any, value: Any) -> float | int:
        """The value as a float, or as an int where whole numbers are meant."""
        kind = int if self.whole else float
        try:
            number = kind(value)
            fits = self.least <= number <= self.most and math.isfinite(number)
            fits = fits and number == value and not isinstance(value, str)
        except (TypeError, ValueError, OverflowError):
            fits = False
        if not fits:
            noun = "a whole number" if self.whole else "a number"
            raise self._refuse(obj, value, f"{noun} from {self.least:g} to {self.most:g}")
        return number


class Flag(_State):
    """True or False."""

    def validate(self, obj: Any, value: Any) -> bool:
        """The value, if it is one of the two."""
        if not isinstance(value, bool | np.bool_):
            raise self._refuse(obj, value, "True or False")
        return bool(value)


class Choice(_State):
    """One of a few names; the first is taken if nothing is given."""

    def __init__(self, *options: str, default: str | None = None) -> None:
        self.options = options
        super().__init__(options[0] if default is None else default)

    def validate(self, obj: Any, value: Any) -> str:
        """The value, if it is one of the names."""
        if value not in self.options:
            raise self._refuse(obj, value, f"one of {', '.join(map(repr, self.options))}")
        return str(value)


class Text(_State):
    """A text of at most `most` symbols; empty only if `empty` says so."""

    def __init__(self, default: str, *, most: int = 100_000, empty: bool = True) -> None:
        self.most, self.empty = most, empty
        super().__init__(default)

    def validate(self, obj: Any, value: Any) -> str:
        """The value, if it is a text of an allowed length."""
        if not isinstance(value, str) or len(value) > self.most or not (value or self.empty):
            least = 0 if self.empty else 1
            raise self._refuse(obj, value, f"a text of {least} to {self.most:,} symbols")
        return value


class Texts(_State):
    """A list of texts, as labels of rows or symbols; `single` if each is one character."""

    def __init__(self, default: Sequence[str] = (), *, single: bool = False) -> None:
        self.single = single
        super().__init__(list(default))

    def validate(self, obj: Any, value: Any) -> list[str]:
        """The value as a list of texts."""
        texts = list(value) if isinstance(value, Sequence) else None
        if texts is None or not all(isinstance(one, str) and self._fits(one) for one in texts):
            wanted = (
                "a list of symbols of one character each"
                if self.single
                else "a list of texts, none of them empty"
            )
            raise self._refuse(obj, value, wanted)
        return texts

    def _fits(self, text: str) -> bool:
        return len(text) == 1 if self.single else bool(text)
