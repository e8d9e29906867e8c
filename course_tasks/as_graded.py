"""Call a function that notes numbers as a graded run does: no text, no network, no file and no
experiment is there.

At the desk all of them are, so a function that computes its numbers would pass there and fail in
grading. Both call it through `asked_as_graded`, and find the same.
"""

from __future__ import annotations

import builtins
import contextlib
import dis
import errno
import inspect
import io
import os
import socket
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, Never

from course_tasks.errors import ComputedNumbersError
from course_tasks.experiments import NotRun, Observed, Outcome

_REMEDY = (
    "When your notebook is graded, no text, no network, no other file and no experiment is there. "
    "Write the numbers that you saw into the dictionary, and the name of the text."
)


def leave_the_desk() -> None:
    """From now on, this process is like a graded run: no experiment is run, and nobody is reached.

    The network is closed to Python code only; it is no wall.
    """
    import course_tasks
    from course_tasks import experiments

    elsewhere = experiments.experiment_elsewhere
    course_tasks.experiment = experiments.experiment = elsewhere
    socket.getaddrinfo = _nobody
    socket.socket.connect = _nobody  # type: ignore[method-assign]


def _nobody(*_: Any, **__: Any) -> Never:
    raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))


def asked_as_graded(answer: Callable[[], Any]) -> Any:
    """What a student's `observed` returns where nothing is in reach that no graded run has.

    Parameters
    ----------
    answer : callable ()

    Raises
    ------
    ComputedNumbersError
        If it uses any of that, whatever it would return.
    """
    function = inspect.unwrap(answer)
    used = _results_read(function)
    if used:
        raise _computed(used[0])
    try:
        with _without_texts(used), _without_files(getattr(function, "__globals__", {}), used):
            returned = answer()
    except Exception as error:
        if used:
            raise _computed(used[0]) from error
        raise
    if used:
        raise _computed(used[0])
    return returned


def _computed(how: str) -> ComputedNumbersError:
    return ComputedNumbersError(
        f"Your function computes instead of noting numbers: it {how}.\n{_REMEDY}"
    )


def _results_read(function: Any) -> list[str]:
    """Which names of the notebook a function reads that hold texts or results of experiments."""
    if not isinstance(function, FunctionType):
        return []
    from course_lib.data import SOURCES, Corpus

    found = []
    for name in sorted(_names_read(function)):
        value = function.__globals__.get(name)
        if isinstance(value, Outcome | Observed | NotRun):
            found.append(f"uses `{name}`, the result of an experiment")
        elif isinstance(value, Corpus) and value.name in SOURCES:
            found.append(f"uses `{name}`, a text")
    return found


def _names_read(function: FunctionType) -> set[str]:
    """Global names that a function may read, or the notebook's functions that it calls."""
    found: set[str] = set()
    left: list[CodeType] = [function.__code__]
    seen: set[CodeType] = set()
    while left:
        code = left.pop()
        if code in seen:
            continue
        seen.add(code)
        left += [each for each in code.co_consts if isinstance(each, CodeType)]
        for each in dis.get_instructions(code):
            if each.opname not in ("LOAD_GLOBAL", "LOAD_NAME") or each.argval in found:
                continue
            found.add(each.argval)
            value = function.__globals__.get(each.argval)
            if isinstance(value, FunctionType) and value.__globals__ is function.__globals__:
                left.append(value.__code__)
    return found


@contextlib.contextmanager
def _without_texts(used: list[str]) -> Iterator[None]:
    from course_lib.data import out_of_reach

    with out_of_reach() as asked:
        try:
            yield
        finally:
            used += ["loads a text" for _ in asked]


@contextlib.contextmanager
def _without_files(names: dict[str, Any], used: list[str]) -> Iterator[None]:
    """Inside the block, no file can be opened, and nobody be reached."""

    def no_file(file: Any, *_: Any, **__: Any) -> Never:
        used.append("opens a file")
        shown = os.fspath(file) if isinstance(file, str | os.PathLike) else str(file)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), shown)

    def nobody(*_: Any, **__: Any) -> Never:
        used.append("uses the network")
        _nobody()

    changed = [(builtins, "open", no_file), (io, "open", no_file), (socket, "getaddrinfo", nobody)]
    with contextlib.ExitStack() as stack:
        for place, name, instead in changed:
            stack.callback(setattr, place, name, getattr(place, name))
            setattr(place, name, instead)
        if "open" in names:  # IPython gives each notebook one of its own
            stack.callback(names.__setitem__, "open", names["open"])
            names["open"] = no_file
        yield
