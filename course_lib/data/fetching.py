"""Fetching: where the bytes of a corpus come from, and how they are known to be the right ones.

Every place is asked in turn, and nothing is taken unseen: whatever a place has must have the
digest that the course knows. The cache is written by one rename, so that it never holds half a
file, whoever else reads or writes it.
"""

import contextlib
import hashlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from course_lib.atomic import write_atomically
from course_lib.errors import CacheNotWritableError

FOLDER_VARIABLE = "COURSE_DATA"
CACHE_VARIABLE = "COURSE_CACHE"

# Without a network, a lesson should begin on the built-in play after a few seconds. A server that
# has not sent its first byte by then counts as absent, and is not asked again.
ANSWER_SECONDS = 5.0
# The larger corpus is 1.1 MB: a minute and a half is enough at 13 kB a second, a bad mobile link.
TRANSFER_SECONDS = 90.0
# A file can be damaged on its way, so a wrong one is fetched once more. If it is wrong again, the
# source itself has changed.
TRANSFERS = 2
# Processes that start together wait for the first one to fetch. After this long a process fetches
# the file itself: that is safe, because the lock only saves transfers, and renaming a finished
# file is what keeps the cache whole.
LOCK_SECONDS = 10.0


@dataclass(frozen=True)
class Source:
    """A file of public text: where it is, and what it must be."""

    title: str  # what people call the text
    file: str  # its name in `COURSE_DATA` and in the cache
    url: str
    sha256: str  # 64 hexadecimal digits
    size: int  # bytes


@dataclass(frozen=True)
class Attempt:
    """One place that was asked for a file, and what it answered."""

    place: str  # a file or an address
    answer: str  # in words
    content: bytes | None = None  # the file, if it is the right one
    refused: bool = False  # whether something was there, but not the right file

    def __str__(self) -> str:
        """Place and answer, in one line."""
        return f"{self.place}: {self.answer}"


def cache_folder() -> Path:
    """Where fetched corpora are kept.

    Returns
    -------
    Path
        ``$COURSE_CACHE`` if it is set; otherwise the folder ``averages-to-transformers`` where
        this platform keeps caches. It need not exist.

    Raises
    ------
    CacheNotWritableError
        If it would be in the home folder of a user who has none.
    """
    folder = os.environ.get(CACHE_VARIABLE)
    if not folder:
        import pooch

        folder = str(pooch.os_cache("averages-to-transformers"))
    try:
        return Path(folder).expanduser().absolute()
    except RuntimeError as error:
        raise _cache_error(Path(folder), "this user has no home folder") from error


def stored_attempts(source: Source) -> list[Attempt]:
    """Ask the places on this machine, `COURSE_DATA` and then the cache; use no network.

    The attempts come in the order in which places were asked; only the last can have the content.
    """
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        attempt = Attempt(f"${FOLDER_VARIABLE}", "not set")
    elif not Path(folder).expanduser().is_dir():
        attempt = Attempt(f"${FOLDER_VARIABLE} = {folder}", "is not a folder", refused=True)
    else:
        attempt = _read(source, Path(folder).expanduser() / source.file)
    if attempt.content is not None:
        return [attempt]
    return [attempt, _read(source, cache_folder() / source.file)]


def all_attempts(source: Source) -> list[Attempt]:
    """Ask the places on this machine, then the public address; keep what it sends in the cache.

    The attempts come in the order in which places were asked; only the last can have the content.

    Raises
    ------
    CacheNotWritableError
        If the file has to be fetched and the cache cannot keep it.
    """
    attempts = stored_attempts(source)
    if attempts[-1].content is not None:
        return attempts
    if sys.platform == "emscripten":
        return [*attempts, Attempt(source.url, "not asked: a page of the book asks no machine")]
    folder = cache_folder()
    _prepare(folder)
    with _turn(folder / f"{source.file}.lock"):
        elsewhere = _read(source, folder / source.file)
        if elsewhere.content is not None:  # another process fetched it while this one waited
            return [*attempts, elsewhere]
        for _ in range(TRANSFERS):
            attempts.append(_transfer(source))
            content = attempts[-1].content
            if content is not None:
                _store(folder / source.file, content)
            if content is not None or not attempts[-1].refused:
                break
    return attempts


def _read(source: Source, path: Path) -> Attempt:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Attempt(str(path), "no such file")
    except OSError as error:
        return Attempt(str(path), f"cannot be read ({error.strerror})", refused=True)
    return _judged(source, str(path), content)


def _judged(source: Source, place: str, content: bytes) -> Attempt:
    if hashlib.sha256(content).hexdigest() == source.sha256:
        return Attempt(place, "the right file", content)
    return Attempt(place, f"refused, {_difference(source, content)}", refused=True)


def _difference(source: Source, content: bytes) -> str:
    """In which way a file is not the right one, as precisely as can be said."""
    if hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest() == source.sha256:
        return "its line ends were changed to CRLF; copy it as binary"
    if len(content) < source.size:
        found = f"it is cut short or altered: {len(content):,} of {source.size:,} bytes"
    elif len(content) > source.size:
        found = f"it is another or an altered file: it goes on beyond {source.size:,} bytes"
    else:
        found = "it is altered: the size is right and the SHA-256 digest is not"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        found += f"; it is not UTF-8 text (byte 0x{content[error.start]:02x} at {error.start:,})"
    return found


def _cache_error(folder: Path, reason: str) -> CacheNotWritableError:
    return CacheNotWritableError(
        f"the cache folder {folder} cannot be written: {reason}. "
        f"Set the environment variable {CACHE_VARIABLE} to a folder that can be, "
        f"or {FOLDER_VARIABLE} to one that holds the corpora already; "
        'load("play") needs neither.'
    )


def _prepare(folder: Path) -> None:
    """Make the cache folder and try to write there, before anything is fetched for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _cache_error(folder, error.strerror or str(error)) from error


@contextlib.contextmanager
def _turn(path: Path) -> Iterator[None]:
    """Wait until no other process is fetching the same file, but not for ever."""
    import filelock

    with contextlib.ExitStack() as held:
        # Some network file systems have no locks and raise NotImplementedError.
        with contextlib.suppress(filelock.Timeout, NotImplementedError):
            held.enter_context(filelock.FileLock(path).acquire(timeout=LOCK_SECONDS))
        yield


def _store(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees a part of it."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise _cache_error(path.parent, error.strerror or str(error)) from error


class _Arriving:
    """What has come of a file so far; handed to pooch as the file that it writes to."""

    def __init__(self, limit: int) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self.abandoned = False
        self.error: Exception | None = None
        self._limit = limit

    def write(self, part: bytes) -> None:
        self.parts.append(part)
        self.size += len(part)
        # What is longer than the file is another page, such as a login form: stop reading it.
        if self.abandoned or self.size > self._limit:
            raise ConnectionAbortedError

    def flush(self) -> None:
        """Do nothing: all is in memory. Pooch calls this after every part."""


def _transfer(source: Source) -> Attempt:
    """Fetch a file from its public address, with a progress bar, within the limits on time.

    The transfer has a thread of its own, because the limits that a socket knows do not cover
    looking up the server's name, or a server that sends one byte now and then.
    """
    import tqdm

    arriving = _Arriving(limit=source.size)
    worker = threading.Thread(target=_receive, args=(source.url, arriving), daemon=True)
    # On stdout, because a graded notebook loses the points of a cell that writes on stderr.
    bar = tqdm.tqdm(
        desc=f"{source.title} from {urlsplit(source.url).hostname}",
        total=source.size,
        unit="B",
        unit_scale=True,
        leave=False,
        file=sys.stdout,
    )
    start = time.monotonic()
    try:
        with bar:
            worker.start()
            while worker.is_alive():
                worker.join(0.05)
                bar.update(arriving.size - bar.n)
                limit = TRANSFER_SECONDS if arriving.size else ANSWER_SECONDS
                if worker.is_alive() and time.monotonic() - start > limit:
                    came = f"only {arriving.size:,} of {source.size:,} bytes" * bool(arriving.size)
                    return Attempt(source.url, f"{came or 'no answer'} within {limit:g} seconds")
    finally:
        arriving.abandoned = True  # ends the thread, also after Ctrl-C
    return _answer(source, arriving)


def _receive(url: str, arriving: _Arriving) -> None:
    """The work of the thread: pooch's downloader, with its error left where it can be read."""
    import pooch

    try:
        pooch.HTTPDownloader(timeout=ANSWER_SECONDS)(url, arriving, None)
    except Exception as error:  # raised in a thread, it would only be printed
        arriving.error = error


def _answer(source: Source, arriving: _Arriving) -> Attempt:
    """Put what came of a transfer into words."""
    import requests

    error = arriving.error
    content = b"".join(arriving.parts)
    if error is None or isinstance(error, ConnectionAbortedError):
        return _judged(source, source.url, content)
    if isinstance(error, requests.HTTPError) and error.response is not None:
        status = f"{error.response.status_code} {error.response.reason}".strip()
        return Attempt(source.url, f"answered {status}")
    if isinstance(error, requests.Timeout):
        return Attempt(source.url, f"no answer within {ANSWER_SECONDS:g} seconds")
    broken = (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError)
    if content or isinstance(error, broken):
        answer = f"refused, it broke off before all {source.size:,} bytes had come"
        return Attempt(source.url, answer, refused=True)
    if isinstance(error, OSError | ValueError):  # what requests and urllib3 raise derives from them
        return Attempt(source.url, f"no connection ({_innermost(error)})")
    raise error


def _innermost(error: BaseException) -> str:
    """The first cause of a chain of errors: the one that names what failed."""
    while error.__context__ is not None:
        error = error.__context__
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
