"""What leaves a student's code: plain values with a name, as objects here and as bytes on the wire.

A value is an array of a few plain types or a text, and a case that raised leaves the error's words
instead. Nothing else crosses, neither objects nor pickles. The receiving side doesn't trust what
the bytes claim.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import safetensors

from course_tasks.errors import InvalidAnswerError

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Value: TypeAlias = Array | str

# How far apart two numbers may be and still count as equal. Rounding in float32 through a few
# matrix products and a softmax, in any order, stays far below this; no mistake of the course does.
RELATIVE_TOLERANCE = 1e-4
ABSOLUTE_TOLERANCE = 1e-5

# Ample for any task (the largest right answers of the course have 2 MB, the largest wrong ones that
# a judge has words for 12), too little to fill a grader's memory.
MOST_BYTES = 16 * 2**20
# A header names up to a hundred and fifty values three times, since a check asks about two draws
# and then about the first again. One of megabytes is an attempt to keep the reader busy.
MOST_VALUES = 512
MOST_HEADER_BYTES = 2**17
MOST_DIMENSIONS = 8
# The texts of the course are lists of some dozens of names; a judge splits them and counts.
MOST_BYTES_OF_A_TEXT = 2**17
# Long enough for any real message, short enough for a page of feedback.
MOST_CHARACTERS_OF_AN_ERROR = 600

_DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_TEXT = "text:"
_ERROR = "error:"
_CHANGED = "changed:"


@dataclass(frozen=True)
class Raised:
    """A case that ended in an error.

    Attributes
    ----------
    kind : str
        Name of the exception's class, for example "IndexError".
    message : str
        Its words, cut to fit a page.
    line : str
        The line of the student's own code where it happened; empty when it is not known.
    """

    kind: str
    message: str
    line: str = ""

    @classmethod
    def of(cls, error: BaseException, line: str = "") -> Raised:
        """The words of an exception, but never the exception itself."""
        try:
            message = str(error)
        except Exception:  # a student's exception class may itself be broken
            message = ""
        cut = MOST_CHARACTERS_OF_AN_ERROR
        return cls(type(error).__name__[:cut], message[:cut], line[:cut])

    @property
    def not_attempted(self) -> bool:
        """True for the error that an unfilled scaffold raises."""
        return self.kind == "NotImplementedError"


@dataclass(frozen=True)
class Answers:
    """What an answer returned, case by case.

    Attributes
    ----------
    values : mapping of str to ndarray or str
        One entry a value; a case that returns several has entries "case.0" or "case.name".
    errors : mapping of str to Raised
        One entry for each case that raised.
    changed : mapping of str to str
        One entry for each case that changed what it was given, with the names of the arguments if
        they are known.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    errors: Mapping[str, Raised] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)

    @property
    def attempted(self) -> bool:
        """False if every case met an unfilled scaffold."""
        return bool(self.values) or not all(e.not_attempted for e in self.errors.values())

    def array(self, name: str) -> Array | None:
        """The array of this name, or None where there is none."""
        value = self.values.get(name)
        return value if isinstance(value, np.ndarray) else None

    def to_bytes(self) -> bytes:
        """Write these answers as safetensors.

        Returns
        -------
        bytes
            At most `MOST_BYTES`.

        Raises
        ------
        InvalidAnswerError
            If there are more values or more bytes than a task can ask for.
        """
        arrays: dict[str, Array] = {}
        for name, value in self.values.items():
            if isinstance(value, str):
                arrays[_TEXT + name] = _text_to_array(value)
            else:
                arrays[name] = np.asarray(value, order="C")
        for name, raised in self.errors.items():
            words = json.dumps(
                {"kind": raised.kind, "message": raised.message, "line": raised.line}
            )
            arrays[_ERROR + name] = _text_to_array(words)
        for name, arguments in self.changed.items():
            arrays[_CHANGED + name] = _text_to_array(arguments)
        size = sum(a.nbytes for a in arrays.values())
        if len(arrays) > MOST_VALUES or size > MOST_BYTES - 2**16:
            raise InvalidAnswerError(
                f"the answer holds {len(arrays)} values with {size} bytes; "
                f"at most {MOST_VALUES} values and {MOST_BYTES - 2**16} bytes are read"
            )
        for name, array in arrays.items():
            _check_shape(name, array.shape)
            if name.startswith(_TEXT):
                _check_text(name, array.nbytes)
        return _saved(arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> Answers:
        """Read answers that may come from anyone.

        Parameters
        ----------
        data : bytes
            What `to_bytes` wrote, or anything else.

        Returns
        -------
        Answers
            Fresh arrays, rebuilt from the bytes; nothing is executed.

        Raises
        ------
        InvalidAnswerError
            If the bytes are too many, are not safetensors, or hold a type or shape that no probe
            writes.
        """
        values: dict[str, Value] = {}
        errors: dict[str, Raised] = {}
        changed: dict[str, str] = {}
        for name, array in arrays_from_bytes(data).items():
            if name.startswith(_TEXT):
                _check_text(name, array.nbytes)
                values[name.removeprefix(_TEXT)] = _array_to_text(array)
            elif name.startswith(_ERROR):
                _check_text(name, array.nbytes)
                errors[name.removeprefix(_ERROR)] = _read_error(array)
            elif name.startswith(_CHANGED):
                _check_text(name, array.nbytes)
                changed[name.removeprefix(_CHANGED)] = _array_to_text(array)
            else:
                values[name] = array
        return cls(values, errors, changed)


def arrays_from_bytes(data: bytes) -> dict[str, Array]:
    """Rebuild named arrays from bytes that can't be trusted.

    Parameters
    ----------
    data : bytes
        A safetensors file's content.

    Returns
    -------
    dict of str to ndarray
        Own memory, little-endian, of the types in the whitelist.

    Raises
    ------
    InvalidAnswerError
        Says which limit was broken.
    """
    if len(data) > MOST_BYTES:
        raise InvalidAnswerError(f"the answer has {len(data)} bytes; at most {MOST_BYTES} are read")
    header = int.from_bytes(data[:8], "little")  # how safetensors files begin
    if MOST_HEADER_BYTES < header < len(data):
        raise InvalidAnswerError(
            f"the answer's header has {header} bytes; at most {MOST_HEADER_BYTES} are read"
        )
    try:
        entries = safetensors.deserialize(data)
    except Exception as error:
        raise InvalidAnswerError(f"the answer is not a safetensors file: {error}") from error
    if len(entries) > MOST_VALUES:
        raise InvalidAnswerError(
            f"the answer holds {len(entries)} values; at most {MOST_VALUES} are read"
        )
    arrays: dict[str, Array] = {}
    for name, entry in entries:
        dtype = _DTYPES.get(entry["dtype"])
        shape = tuple(entry["shape"])
        if dtype is None:
            raise InvalidAnswerError(
                f"{name!r} has type {entry['dtype']}; allowed are {', '.join(_DTYPES)}"
            )
        _check_shape(name, shape)
        if math.prod(shape) * dtype.itemsize != len(entry["data"]):
            raise InvalidAnswerError(
                f"{name!r} has {len(entry['data'])} bytes, which is not what shape {shape} takes"
            )
        raw = entry["data"]
        if dtype == _DTYPES["BOOL"] and bytes(raw).strip(b"\x00\x01"):
            raise InvalidAnswerError(
                f"{name!r} should hold True and False, but has bytes other than 0 and 1"
            )
        arrays[name] = np.frombuffer(raw, dtype=dtype).reshape(shape).copy()
    return arrays


def _check_shape(name: str, shape: tuple[int, ...]) -> None:
    """Refuse a shape that no answer has, even if it has few elements.

    An array of shape (0, N) has no elements and no bytes, but a sum over its first axis has N.
    """
    if len(shape) > MOST_DIMENSIONS:
        raise InvalidAnswerError(
            f"{name!r:.200} has {len(shape)} dimensions; at most {MOST_DIMENSIONS} are read"
        )
    if math.prod(size for size in shape if size) > MOST_BYTES:
        raise InvalidAnswerError(
            f"{name!r:.200} has shape {shape}; no answer to a task is as large as "
            f"{MOST_BYTES} elements, even if one of its dimensions is 0"
        )


def _check_text(name: str, size: int) -> None:
    if size > MOST_BYTES_OF_A_TEXT:
        raise InvalidAnswerError(
            f"{name.removeprefix(_TEXT)!r:.200} is a text of {size} bytes; "
            f"at most {MOST_BYTES_OF_A_TEXT} are read"
        )


def arrays_to_bytes(arrays: Mapping[str, Array]) -> bytes:
    """Write named arrays (a task's inputs) as safetensors."""
    return _saved({name: np.asarray(array, order="C") for name, array in arrays.items()})


def _saved(arrays: Mapping[str, Array]) -> bytes:
    """Arrays of the types in the whitelist as a safetensors file.

    The checks that safetensors itself makes for each array take three times as long as all of this.

    Raises
    ------
    InvalidAnswerError
        If one is of another type.
    """
    header: dict[str, Any] = {}
    parts: list[bytes] = []
    end = 0
    for name, array in arrays.items():
        kind = _NAMES.get(array.dtype)
        if kind is None:
            raise InvalidAnswerError(
                f"{name!r:.200} has type {array.dtype}; allowed are {', '.join(_DTYPES)}"
            )
        parts.append(array.tobytes())
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": (begin, end)}
    words = json.dumps(header, ensure_ascii=False).encode()
    words += b" " * (-len(words) % 8)
    return b"".join((len(words).to_bytes(8, "little"), words, *parts))


def _text_to_array(text: str) -> Array:
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)


def _array_to_text(array: Array) -> str:
    if array.dtype != np.uint8 or array.ndim != 1:
        raise InvalidAnswerError(
            f"a text must be bytes in one dimension, got {array.dtype} of shape {array.shape}"
        )
    return array.tobytes().decode("utf-8", "replace")


def _read_error(array: Array) -> Raised:
    try:
        words = json.loads(_array_to_text(array))
        kind, message, line = (str(words[key]) for key in ("kind", "message", "line"))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidAnswerError(f"an error's words cannot be read: {error!r}") from error
    cut = MOST_CHARACTERS_OF_AN_ERROR
    return Raised(kind[:cut], message[:cut], line[:cut])


def text_input(text: str) -> Array:
    """A text as an input array, (bytes,) uint8; `input_text` reads it back."""
    return _text_to_array(text).copy()


def input_text(array: Array) -> str:
    """The text in an input array that `text_input` made."""
    return _array_to_text(array)
