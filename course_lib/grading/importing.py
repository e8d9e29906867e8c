"""Imports that leave out what nobody here needs and that takes long."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from importlib.abc import MetaPathFinder

# jsonschema imports it to check international addresses, which no notebook's format has; building
# its grammar takes a second, half of what importing nbgrader takes.
SLOW_GRAMMAR = "rfc3987_syntax"


class _Without(MetaPathFinder):
    def __init__(self, package: str):
        self._package, self._thread = package, threading.get_ident()

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if fullname == self._package and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{fullname} is left out here", name=fullname)


@contextlib.contextmanager
def without(package: str) -> Iterator[None]:
    """Inside the block an optional package is not there for what this thread imports.

    Other threads, which may import at the same time, notice nothing.
    """
    finder = _Without(package)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
