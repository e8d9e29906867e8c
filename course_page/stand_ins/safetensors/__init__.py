"""The safetensors format, read and written in Python: a length, a header of JSON, and bytes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

DTYPES = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "I16": "<i2",
    "I32": "<i4",
    "I64": "<i8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
}
"""The format's names of types, and NumPy's."""

_LENGTH = 8  # bytes of the header's length


class SafetensorError(Exception):
    """Bytes are not a whole file of this format."""


def header_of(data: bytes) -> tuple[dict[str, Any], int]:
    """The header of a file, and where its numbers begin.

    Raises
    ------
    SafetensorError
        If the header is cut off or no JSON of tensors.
    """
    length = int.from_bytes(data[:_LENGTH], "little")
    if len(data) < _LENGTH or length > len(data) - _LENGTH:
        raise SafetensorError("Error while deserializing header: header too large or cut off")
    try:
        header = json.loads(data[_LENGTH : _LENGTH + length].decode("utf-8"))
    except ValueError as error:
        raise SafetensorError(f"Error while deserializing header: {error}") from error
    if not isinstance(header, dict):
        raise SafetensorError("Error while deserializing header: not an object")
    return header, _LENGTH + length


def deserialize(data: bytes) -> list[tuple[str, dict[str, Any]]]:
    """Names, and for each the type, the shape and the bytes of its tensor.

    Raises
    ------
    SafetensorError
        If the tensors don't cover the numbers of the file exactly.
    """
    header, begin = header_of(data)
    header.pop("__metadata__", None)
    found, ends = [], [0]
    try:
        entries = sorted(header.items(), key=lambda item: item[1]["data_offsets"])
        for name, entry in entries:
            start, stop = entry["data_offsets"]
            shape, kind = entry["shape"], entry["dtype"]
            size = math.prod(shape) * np.dtype(DTYPES[kind]).itemsize if kind in DTYPES else None
            if start != ends[-1] or stop < start or size not in (None, stop - start):
                raise SafetensorError(
                    f"Error while deserializing header: invalid offset for {name}"
                )
            ends.append(stop)
            part = data[begin + start : begin + stop]
            found.append((name, {"dtype": kind, "shape": shape, "data": bytearray(part)}))
    except (KeyError, TypeError, ValueError) as error:
        raise SafetensorError(f"Error while deserializing header: {error!r}") from error
    if ends[-1] != len(data) - begin:
        raise SafetensorError("Error while deserializing header: incomplete metadata")
    return found


def written(
    arrays: dict[str, np.ndarray[Any, Any]], metadata: dict[str, str] | None = None
) -> bytes:
    """Arrays as a file of this format."""
    names = {np.dtype(code): name for name, code in DTYPES.items()}
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    parts: list[bytes] = []
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        header[name] = {
            "dtype": names[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
        parts.append(array.tobytes())
    words = json.dumps(header).encode()
    words += b" " * (-len(words) % 8)
    return b"".join((len(words).to_bytes(_LENGTH, "little"), words, *parts))


class safe_open:
    """A file of tensors, read when they are asked for."""

    def __init__(self, filename: str | Path, framework: str, device: str = "cpu") -> None:
        del framework, device
        data = Path(filename).read_bytes()
        self._metadata = header_of(data)[0].get("__metadata__")
        self._entries = dict(deserialize(data))

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def metadata(self) -> dict[str, str] | None:
        """What the header says beside the tensors."""
        return self._metadata

    def keys(self) -> list[str]:
        """The names of the tensors."""
        return list(self._entries)

    def get_tensor(self, name: str) -> Any:
        """One tensor of torch."""
        from safetensors.torch import tensor_of

        return tensor_of(self._entries[name])
