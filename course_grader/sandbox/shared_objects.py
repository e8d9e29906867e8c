"""Which shared objects of the system programs and packages load, read from their files' headers.

Nothing is loaded or started for it: files of the ELF format name the objects that they need, and
where to look for them before the system's own places.
"""

from __future__ import annotations

import functools
import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

# Of the file's and the program headers, and of the table for the dynamic loader (elf(5)). Only
# files of 64 bits, lower byte first, are read: torch runs on no other processor.
_MAGIC = b"\x7fELF\x02\x01"
_HEADER_BYTES, _NAME_BYTES = 64, 4096
_LOADED, _DYNAMIC, _LOADER = 1, 2, 3
_NEEDED, _STRINGS, _RPATH, _RUNPATH = 1, 5, 15, 29

# Where the loader looks at last.
_PLACES_AT_LAST = ("/lib", "/usr/lib", "/lib64", "/usr/lib64")


@dataclass(frozen=True)
class Needs:
    """What the dynamic loader finds in a file.

    Attributes
    ----------
    machine : int
        The processor that it is for.
    loader : str
        The path of the loader; only a program has one.
    names : tuple of str
        Objects that it loads.
    places : tuple of str
        Folders to look for them first.
    """

    machine: int
    loader: str
    names: tuple[str, ...]
    places: tuple[str, ...]


def needs(path: str) -> Needs | None:
    """What a file needs; None if it is none for the dynamic loader, or cannot be read."""
    try:
        with open(path, "rb", buffering=0) as file:
            return _needs(os.path.dirname(path), functools.partial(os.pread, file.fileno()))
    except (OSError, struct.error, StopIteration, ValueError):
        return None


def _needs(folder: str, read: Callable[[int, int], bytes]) -> Needs | None:
    head = read(_HEADER_BYTES, 0)
    if not head.startswith(_MAGIC):
        return None
    (machine,) = struct.unpack_from("<H", head, 18)
    (where,) = struct.unpack_from("<Q", head, 32)
    each, count = struct.unpack_from("<HH", head, 54)
    table, loader, dynamic = read(each * count, where), "", b""
    loaded = []
    for at in range(0, each * count, each):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", table, at)
        if kind == _LOADED:
            loaded.append((address, address + length, offset - address))
        elif kind == _DYNAMIC:
            dynamic = read(length, offset)
        elif kind == _LOADER:
            loader = read(length, offset).rstrip(b"\0").decode()
    entries = list(struct.iter_unpack("<qQ", dynamic[: len(dynamic) // 16 * 16]))
    if not entries:
        return None
    strings = next(value for tag, value in entries if tag == _STRINGS)
    strings += next(shift for start, end, shift in loaded if start <= strings < end)

    def words(*tags: int) -> Iterator[str]:
        for tag, value in entries:
            if tag in tags:
                text = read(_NAME_BYTES, strings + value)
                yield text[: text.index(0)].decode()

    places = [
        one.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", folder)
        for line in words(_RPATH, _RUNPATH)
        for one in line.split(":")
        if one
    ]
    return Needs(machine, loader, tuple(words(_NEEDED)), tuple(places))


def loaded_by(
    programs: Iterable[str], objects: Iterable[str], inside: Callable[[str], bool]
) -> set[str]:
    """Every shared object that programs, and the objects that they load by name, need.

    Parameters
    ----------
    programs, objects : iterable of str
        Paths. What programs say about where to look holds for all objects.
    inside : callable (str)
        Whether a path is known already, with all that lies beside it.

    Returns
    -------
    set of str
        Paths as the loader knows them, of what is not inside, the loader itself among them.
    """
    found: set[str] = set()
    by_name, machine = _known_to_the_loader(), 0
    everywhere: tuple[str, ...] = ()
    waiting: list[str] = []
    for program in programs:
        if said := needs(program):
            machine = machine or said.machine
            everywhere += said.places
            found.add(said.loader)
            waiting.append(program)
    waiting += objects
    seen = set(waiting)
    known: set[tuple[str, tuple[str, ...]]] = set()
    while waiting:
        said = needs(waiting.pop())
        if said is None or said.machine != machine:
            continue
        for name in said.names:
            if (name, said.places) in known:
                continue
            known.add((name, said.places))
            for path in _paths(name, (*said.places, *everywhere), by_name):
                if path not in seen:
                    seen.add(path)
                    one = needs(path)
                    if one is not None and one.machine == machine:
                        waiting.append(path)
                        found.add(path)
    return {path for path in found if path and not inside(path)}


def _paths(name: str, places: tuple[str, ...], by_name: dict[str, list[str]]) -> list[str]:
    """Where the loader finds an object: the first place has it, or else the system."""
    if "/" in name:
        return [name]
    for place in places:
        path = os.path.normpath(f"{place}/{name}")
        if os.path.isfile(path):
            return [path]
    if name in by_name:
        return by_name[name]  # for several processors, or kinds of one
    return [f"{place}/{name}" for place in _PLACES_AT_LAST if os.path.isfile(f"{place}/{name}")]


def _known_to_the_loader() -> dict[str, list[str]]:
    """The loader's own list of the system's objects; empty where the system has none."""
    program = shutil.which("ldconfig", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
    if program is None:
        return {}
    done = subprocess.run(
        [program, "-p"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    known: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        name, arrow, path = line.strip().partition(" => ")
        if arrow:
            known.setdefault(name.split(" ", 1)[0], []).append(path)
    return known
