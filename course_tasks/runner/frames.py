"""Messages between processes that don't trust each other: a JSON header, then plain bytes."""

from __future__ import annotations

import io
import json
import socket
import struct
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any

from course_tasks.errors import FrameError, FrameTimeoutError, MessageTooLargeError

_LENGTHS = struct.Struct("!II")

# A header names a cell and its outputs; a picture inside it is some 100 kB.
MOST_HEADER_BYTES = 16 * 2**20
MOST_PAYLOAD_BYTES = 64 * 2**20

# What is taken from a socket at once.
_PART = 2**20


def send(out: socket.socket, header: dict[str, Any], payload: bytes = b"") -> None:
    """Send one message: `header` must be plain JSON."""
    out.sendall(pack(header, payload))


def pack(header: dict[str, Any], payload: bytes = b"") -> bytes:
    """One message as bytes, if there is no socket."""
    return pack_bytes(json.dumps(header).encode(), payload)


def pack_bytes(header: bytes, payload: bytes = b"") -> bytes:
    """One message as bytes, with a header that is bytes already."""
    return _LENGTHS.pack(len(header), len(payload)) + header + payload


def receive_into(
    file: IO[bytes], source: socket.socket, deadline: float, *, most_header: int, most: int
) -> tuple[int, int] | None:
    """Write the next message to a file without its lengths, and look only at these.

    Parameters
    ----------
    file : binary file
    source : socket
        The other end may send anything.
    deadline : float
        By `time.monotonic()`.
    most_header, most : int
        Bytes that the header may have, and the whole message.

    Returns
    -------
    (int, int) or None
        Lengths of header and payload; None when the other end is closed and no message is left.

    Raises
    ------
    FrameTimeoutError
        If the message is not whole by the deadline.
    MessageTooLargeError
        If it is longer than `most`.
    FrameError
        If its header is longer than `most_header`, or it is cut off.
    """
    start = _read(source, _LENGTHS.size, deadline)
    if start is None:
        return None
    length, rest = _lengths(start, most_header, most)
    left = length + rest
    while left:
        part = _part(source, min(left, _PART), deadline)
        if not part:
            raise FrameError("a message was cut off")
        file.write(part)
        left -= len(part)
    return length, rest


def unpack_bytes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The messages in these bytes, one after the other, unparsed.

    Raises
    ------
    FrameError
        If the last one is cut off.
    """
    source = io.BytesIO(data)

    def read(count: int) -> bytes | None:
        part = source.read(count)
        return part if len(part) == count else None

    while source.tell() < len(data):
        message = _message_bytes(read, len(data), len(data))
        if message is None:
            raise FrameError("a message was cut off")
        yield message


def _message_bytes(
    read: Callable[[int], bytes | None], most_header: int, most: int
) -> tuple[bytes, bytes] | None:
    start = read(_LENGTHS.size)
    if start is None:
        return None
    length, rest = _lengths(start, most_header, most)
    words, payload = read(length), read(rest)
    if words is None or payload is None:
        raise FrameError("a message was cut off")
    return words, payload


def _lengths(start: bytes, most_header: int, most: int) -> tuple[int, int]:
    length, rest = _LENGTHS.unpack(start)
    if length > most_header:
        raise FrameError(f"a message with a header of {length} bytes is longer than any may be")
    if length + rest > most:
        raise MessageTooLargeError(
            f"a message of {length} + {rest} bytes is longer than any may be"
        )
    return length, rest


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
    FrameTimeoutError
        If the message is not whole by the deadline.
    FrameError
        If it is longer than a message may be, no JSON object, or cut off.
    """
    return _message(partial(_read, source, deadline=deadline))


def read(source: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Read one message from a file or a pipe, whose other end is trusted to write whole ones.

    Returns
    -------
    (dict, bytes) or None
        None when there is no more.

    Raises
    ------
    FrameError
        See `receive`.
    """

    def some(count: int) -> bytes | None:
        part = source.read(count)
        return part if len(part) == count else None

    return _message(some)


def object_of(words: bytes) -> dict[str, Any]:
    """The header that these bytes are.

    Raises
    ------
    FrameError
        If they are no JSON object.
    """
    try:
        header = json.loads(words)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a message's header is no JSON: {error}") from error
    if not isinstance(header, dict):
        raise FrameError(f"a message's header is a {type(header).__name__}, not an object")
    return header


def _message(read: Callable[[int], bytes | None]) -> tuple[dict[str, Any], bytes] | None:
    message = _message_bytes(read, MOST_HEADER_BYTES, MOST_HEADER_BYTES + MOST_PAYLOAD_BYTES)
    if message is None:
        return None
    words, payload = message
    return object_of(words), payload


def _read(source: socket.socket, count: int, deadline: float | None) -> bytes | None:
    """So many bytes, or None if the other end closes before the first or in between."""
    parts = bytearray()
    while len(parts) < count:
        part = _part(source, min(count - len(parts), _PART), deadline)
        if not part:
            return None
        parts += part
    return bytes(parts)


def _part(source: socket.socket, most: int, deadline: float | None) -> bytes:
    """What comes next; nothing if the other end is closed."""
    if deadline is not None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise FrameTimeoutError("no whole message came in time")
        source.settimeout(left)
    try:
        return source.recv(most)
    except TimeoutError as error:
        raise FrameTimeoutError("no whole message came in time") from error
    except ConnectionResetError:
        return b""
