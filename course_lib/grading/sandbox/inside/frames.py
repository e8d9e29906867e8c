"""Messages between processes that do not trust each other: a JSON header, then plain bytes."""

from __future__ import annotations

import io
import json
import socket
import struct
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from course_lib.errors import BrokenFrame, TooLate

_LENGTHS = struct.Struct("!II")

# A header names a cell and its outputs; a picture inside it is some 100 kB.
MOST_HEADER_BYTES = 16 * 2**20
MOST_PAYLOAD_BYTES = 64 * 2**20


def send(out: socket.socket, header: dict[str, Any], payload: bytes = b"") -> None:
    """Send one message: `header` must be plain JSON."""
    out.sendall(pack(header, payload))


def pack(header: dict[str, Any], payload: bytes = b"") -> bytes:
    """One message as bytes, for where there is no socket."""
    words = json.dumps(header).encode()
    return _LENGTHS.pack(len(words), len(payload)) + words + payload


def unpack(data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
    """The messages that stand one after the other.

    Raises
    ------
    BrokenFrame
        As `receive`.
    """
    source = io.BytesIO(data)

    def read(count: int) -> bytes | None:
        part = source.read(count)
        return part if len(part) == count else None

    while (message := _message(read)) is not None:
        yield message


def receive(
    source: socket.socket, deadline: float | None = None
) -> tuple[dict[str, Any], bytes] | None:
    """Receive one message.

    Parameters
    ----------
    source : socket
        The other end may send anything.
    deadline : float, optional
        By `time.monotonic()`; without one, wait for as long as it takes.

    Returns
    -------
    (dict, bytes) or None
        None when the other end is closed and no message is left.

    Raises
    ------
    TooLate
        If the message is not whole by the deadline.
    BrokenFrame
        If it is longer than a message may be, no JSON object, or cut off.
    """
    return _message(partial(_read, source, deadline=deadline))


def _message(read: Callable[[int], bytes | None]) -> tuple[dict[str, Any], bytes] | None:
    start = read(_LENGTHS.size)
    if start is None:
        return None
    length, rest = _LENGTHS.unpack(start)
    if length > MOST_HEADER_BYTES or rest > MOST_PAYLOAD_BYTES:
        raise BrokenFrame(f"a message of {length} + {rest} bytes is longer than any may be")
    words, payload = read(length), read(rest)
    if words is None or payload is None:
        raise BrokenFrame("a message was cut off")
    try:
        header = json.loads(words)
    except (ValueError, RecursionError) as error:
        raise BrokenFrame(f"a message's header is no JSON: {error}") from error
    if not isinstance(header, dict):
        raise BrokenFrame(f"a message's header is a {type(header).__name__}, not an object")
    return header, payload


def _read(source: socket.socket, count: int, deadline: float | None) -> bytes | None:
    """So many bytes, or None if the other end closes before the first or in between."""
    parts = bytearray()
    while len(parts) < count:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TooLate("no whole message came in time")
            source.settimeout(left)
        try:
            part = source.recv(min(count - len(parts), 2**20))
        except TimeoutError as error:
            raise TooLate("no whole message came in time") from error
        except ConnectionResetError:
            part = b""
        if not part:
            return None
        parts += part
    return bytes(parts)
