"""All of this machine that is inside a sandbox: the files of the interpreter, and no others.

What lies beside them, below `/usr` or in Python's own folder, may be anything: an exchange, a
gradebook, judges, settings. So nothing is inside because of the folder that it is in. Python names
its own folders, headers of files name the shared objects that they load, and the lists here hold
the rest.
"""

from __future__ import annotations

import functools
import os
import shutil
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_grader.sandbox.shared_objects import loaded_by

# What cells call by an exclamation mark, and what libraries call: a shell, and what prints, waits
# and looks into files. Whatever else a machine has is not missed by a notebook of a course.
PROGRAMS = (
    *("sh", "bash", "env", "echo", "cat", "ls", "pwd", "sleep", "uname", "nproc"),
    *("head", "tail", "wc", "tr", "sort", "grep", "mkdir", "rm", "cp", "mv", "true", "false"),
)

# Folders and files of the system that hold one thing each, which libraries look up: objects by
# their names, letters, time zones, languages.
SYSTEM = (
    *("/bin/sh", "/usr/bin/env", "/etc/ld.so.cache"),
    *("/etc/fonts", "/usr/share/fontconfig", "/usr/share/fonts"),
    *("/etc/localtime", "/usr/share/zoneinfo"),
    "/usr/lib/locale",
)

# Where packages are searched for shared objects, these folders are passed over: they hold none, or
# what nobody imports in a notebook, and half of all files.
_WITHOUT_OBJECTS = frozenset(
    (
        *("__pycache__", "include", "share", "static", "templates", "labextension"),
        *("locale", "locales", "typeshed", "django-stubs", "test", "tests", "testing"),
    )
)
_NO_SCREEN = "_tkinter"  # nor have its fifteen libraries a use here

_MOST_LINKS = 40  # as many as the kernel follows


@dataclass(frozen=True)
class View:
    """What is inside, under the names that it has outside.

    Attributes
    ----------
    links : dict of str to str
        Links that have to be made, with what they say.
    shown : frozenset of str
        Folders and files to be bound; none lies in another one.
    covered : tuple of str
        Folders inside those that are left empty.
    """

    links: dict[str, str]
    shown: frozenset[str]
    covered: tuple[str, ...]

    def shows(self, path: str | os.PathLike[str]) -> bool:
        """Whether anything of this path, or below it, is inside."""
        real = os.path.realpath(path)
        if real in self._above or os.path.abspath(path) in self._above:
            return True
        return any(one in self.shown for one in _upwards(real))

    @functools.cached_property
    def _above(self) -> frozenset[str]:
        """Names of what is inside, and folders around it."""
        return frozenset(up for one in (*self.shown, *self.links) for up in _upwards(one))


def _upwards(path: str) -> Iterator[str]:
    """An absolute path, and the folders that it lies in."""
    while path != "/":
        yield path
        path = os.path.dirname(path)
    yield path


@functools.cache
def view() -> View:
    """What this interpreter needs; found once, in a tenth of a second."""
    found = _Collected()
    folders = [*_packages(), *_libraries()]
    for path in (*folders, *_own_files(), *SYSTEM):
        found.add(path)
    known = (shutil.which(name, path=PROGRAM_FOLDERS) for name in PROGRAMS)
    programs = [one for one in known if one]
    programs.append(sys.executable)
    for path in programs:
        found.add(path)
    real = sorted({os.path.realpath(one) for one in folders})
    covered = sorted({*_covered(real)})
    apart = frozenset((*real, *covered))
    objects = (path for folder in real for path in _objects(folder, apart))
    for path in sorted(loaded_by(map(os.path.realpath, programs), objects, found.holds)):
        found.add(path)
    return found.view(covered)


PROGRAM_FOLDERS = "/usr/bin:/bin"
"""Where programs of the system are looked for."""


def search_path() -> str:
    """Where programs are found inside."""
    return f"{Path(sys.executable).parent}:{PROGRAM_FOLDERS}"


def _packages() -> Iterator[str]:
    """Folders of packages; those of a user are not inside, since home is another one there."""
    known = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    yield from dict.fromkeys(one for one in known if os.path.isdir(one))


def _libraries() -> Iterator[str]:
    """Folders of the standard library, and what conda keeps beside it."""
    base = sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")
    for path in dict.fromkeys(base):
        if os.path.isdir(path) and os.path.isfile(f"{path}/os.py"):
            yield path
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix)):
        if os.path.isdir(f"{prefix}/conda-meta"):
            yield f"{prefix}/lib"  # objects that packages load by name, without saying so


def _own_files() -> Iterator[str]:
    """The interpreter's other names, and the file by which it finds its packages."""
    major, minor = sys.version_info[:2]
    for name in ("python", f"python{major}", f"python{major}.{minor}"):
        path = f"{Path(sys.executable).parent}/{name}"
        if os.path.exists(path) and os.path.samefile(path, sys.executable):
            yield path
    yield f"{sys.prefix}/pyvenv.cfg"


def _covered(folders: list[str]) -> Iterator[str]:
    """Of the course, all packages, since those that may be inside come from a copy; and packages of
    the base interpreter, which an environment of its own does not import.
    """
    for folder in folders:
        for name in ("site-packages", "dist-packages"):
            inner = f"{folder}/{name}"
            apart = os.path.isdir(inner) and not os.path.islink(inner)
            if apart and not any(inner in _upwards(one) for one in folders):
                yield inner
        ours = (one for one in sorted(Path(folder).glob("course_*")) if one.is_dir())
        yield from (str(one) for one in ours if not one.is_symlink())


def _objects(folder: str, others: frozenset[str]) -> Iterator[str]:
    """Shared objects below a folder, but for those below one of the others; in any order."""
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    name = entry.name
                    if name in _WITHOUT_OBJECTS or name.endswith(".dist-info"):
                        continue
                    if entry.path not in others:
                        waiting.append(entry.path)
                elif ".so" in entry.name and not entry.name.startswith(_NO_SCREEN):
                    yield entry.path


class _Collected:
    """Places that are to be inside, with every link on the way to them."""

    def __init__(self) -> None:
        self._links: dict[str, str] = {}
        self._shown: set[str] = set()

    def add(self, path: str) -> None:
        """Put a place inside; one that is not there outside is left out."""
        links: dict[str, str] = {}
        at, left, followed = "", path.split("/"), 0
        while left:
            name, *left = left
            if name in ("", "."):
                continue
            if name == "..":
                at = os.path.dirname(at)
                continue
            at = f"{at.rstrip('/')}/{name}"
            if os.path.islink(at):
                followed += 1
                if followed > _MOST_LINKS:
                    return
                links[at] = target = os.readlink(at)
                at = "" if target.startswith("/") else os.path.dirname(at)
                left = [*target.split("/"), *left]
        if os.path.exists(at):
            self._links |= links
            self._shown.add(at)

    def holds(self, path: str) -> bool:
        """Whether a path is inside, because a folder around it is."""
        return not self._shown.isdisjoint(_upwards(os.path.realpath(path)))

    def view(self, covered: Sequence[str]) -> View:
        """What was collected, without what lies in folders that are inside anyway."""

        def within(path: str) -> bool:
            return not self._shown.isdisjoint(_upwards(os.path.dirname(path)))

        return View(
            {path: self._links[path] for path in sorted(self._links) if not within(path)},
            frozenset(path for path in self._shown if not within(path)),
            tuple(covered),
        )
