"""Imports that leave out what nobody here needs and that takes long."""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import sys
import threading
from collections.abc import Iterator
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

# jsonschema imports these where they are installed, to check addresses, durations and colors, of
# which a notebook's format has none. Building the grammar of the first one takes a second, half of
# what importing nbgrader takes; the others together, a tenth of one.
UNUSED_FORMATS = (
    "rfc3987_syntax",
    "rfc3986_validator",
    "isoduration",
    "fqdn",
    "uri_template",
    "webcolors",
)

# What nbgrader imports for its server, its commands and its downloads: a gradebook needs nothing of
# it, and it takes two thirds of the time that importing one takes. `nbgrader.utils`, for example,
# brings setuptools to unpack archives.
NOT_FOR_A_GRADEBOOK = ("nbgrader", "nbgrader.utils", "requests")


class _Without(MetaPathFinder):
    def __init__(self, packages: tuple[str, ...]):
        self._packages, self._thread = packages, threading.get_ident()

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if fullname in self._packages and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{fullname} is left out here", name=fullname)


@contextlib.contextmanager
def without(*packages: str) -> Iterator[None]:
    """Inside the block optional packages are not there for what this thread imports.

    Other threads, which may import at the same time, notice nothing.
    """
    finder = _Without(packages)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Later(ModuleType):
    """A package or module whose own code runs when somebody asks for something that only it has."""

    def __getattr__(self, name: str) -> Any:
        spec = self.__spec__
        assert spec is not None
        assert spec.loader is not None
        inner = f"{self.__name__}.{name}"
        package = spec.submodule_search_locations is not None
        if package and not name.startswith("_") and importlib.util.find_spec(inner) is not None:
            return importlib.import_module(inner)
        self.__class__ = ModuleType  # type: ignore[assignment]
        try:
            spec.loader.exec_module(self)
        except BaseException:
            self.__class__ = _Later
            raise
        return getattr(self, name)


def put_off(package: str) -> None:
    """Let a package's modules be imported without all that the package itself imports first, and a
    module without what it imports.

    Whoever asks for what only the package's own code has, has it run then.
    """
    if package in sys.modules:
        return
    spec = importlib.util.find_spec(package)
    if spec is None or spec.loader is None:
        return  # who imports it is told
    module = importlib.util.module_from_spec(spec)
    module.__class__ = _Later
    sys.modules[package] = module


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Inside the block no garbage is collected; what was imported there is left out of it for good.

    Collections take a quarter of the time of an import: each goes through all that libraries hold.
    """
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collected:
            gc.enable()


# The interpreter's own is ten times as long: whoever tries the walls and moves bytes would wait so
# long, at each of hundreds of steps, for the thread that imports.
_SECONDS_OF_A_TURN = 0.0005


@contextlib.contextmanager
def quick_turns() -> Iterator[None]:
    """Inside the block threads take turns more often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SECONDS_OF_A_TURN))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
