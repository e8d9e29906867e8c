"""A control group for each run, where the system lets this process make any.

The kernel then bounds a run's memory and processes at once, between two counts of its supervisor,
too. A place is lent if this process may write to its own group, as in a scope of systemd's, in a
container, or as root. Nothing here may fail a run: without a group, counting is what bounds it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from course_tasks.runner.kernel_files import write_to_kernel
from course_tasks.runner.limits import MEGABYTE, Limits

# Of every group that a grader makes; its own `grader_name` follows.
PREFIX = "course-"
_WANTED = ("memory", "pids", "cpu")
_UNIFIED = ""  # what /proc/self/cgroup has in place of controllers for version 2

# The group allows one process more than the limit, so that the supervisor, which counts from
# outside of the group, can see that the limit was passed.
_BESIDE_PROCESSES = 1

# What the kernel gives a process of niceness 5: what the grader does itself goes first.
_SHARES, _WEIGHT = "335", "33"

# Version 1 does not say whether a limit was met (its counts of failures stay 0 in newer kernels).
# It says the most that was held: if one more huge page would not have fitted, the limit was met.
_LIMIT = "memory.limit_in_bytes"
_PEAKS = ("memory.memsw.max_usage_in_bytes", "memory.max_usage_in_bytes")
_HUGE_PAGE = 2 * MEGABYTE

_WHERE_SWAP_IS_COUNTED = ("memory.memsw.limit_in_bytes", "memory.swap.max")

# Processes of a run that is over end within moments; a group that still holds one is swept later.
SECONDS_TO_EMPTY = 5.0
_BETWEEN_TRIES = 0.05
_MOST_MOVES = 100

_count = itertools.count()


def memory_bytes(limits: Limits, held: int) -> int:
    """What a group may hold: never less than what counting allows.

    Parameters
    ----------
    limits : Limits
    held : int
        Bytes of the process that a runner begins as a copy of. Until it writes to them they are
        charged to the original; then to the runner.
    """
    return (limits.memory_megabytes + limits.file_megabytes) * MEGABYTE + held


@dataclass(frozen=True)
class Place:
    """Where groups may be made.

    Attributes
    ----------
    folders : dict
        From a controller's name to the folder in which to make groups for it; in version 2 of
        control groups, this is the same one for all of them.
    version : int
    """

    folders: dict[str, Path]
    version: int


class ControlGroups:
    """The groups of one grader's runs; None of its methods raises `OSError`.

    Parameters
    ----------
    place : Place, optional
        Without one there are no groups.
    give_back : callable, optional
        Called at the end.

    Attributes
    ----------
    place : Place or None
    problem : str
        Why the newest run has no group; empty if it has one.
    """

    def __init__(self, place: Place | None, give_back: Callable[[], None] = lambda: None):
        self.place, self._give_back = place, give_back
        self._left: list[Path] = []
        self._leaving = threading.Lock()
        self.problem = "" if place else "the system lends none"

    @classmethod
    def find(cls, root: Path = Path("/")) -> Self:
        """Look for a place once, and put this process where it makes room for groups.

        Parameters
        ----------
        root : Path
            Where `proc` and what it names lie.
        """
        with contextlib.suppress(OSError, ValueError):
            own = _own_folders(root)
            if place := _version_1(own):
                _sweep(place)
                return cls(place)
            if _UNIFIED in own and _lent(own[_UNIFIED]):
                place, give_back = _version_2(own[_UNIFIED])
                _sweep(place)
                return cls(place, give_back)
        return cls(None)

    @contextlib.contextmanager
    def group(self) -> Iterator[Group]:
        """A group for one run, and its end."""
        group = Group(self.place)
        try:
            yield group
        finally:
            if self.place:
                self.problem = group.problem
            self._leave(group.folders)

    def close(self) -> None:
        """Remove what is left, and put this process back where it was."""
        deadline = time.monotonic() + SECONDS_TO_EMPTY
        self._leave(())
        while self._left and time.monotonic() < deadline:
            time.sleep(_BETWEEN_TRIES)
            self._leave(())
        if self.place:
            with contextlib.suppress(OSError):
                self._give_back()
        self.place = None

    def _leave(self, folders: tuple[Path, ...]) -> None:
        """Remove groups; those whose processes have not ended yet wait for the next call."""
        with self._leaving:
            self._left = [one for one in (*self._left, *folders) if not _removed(one)]


class Group:
    """One run's group, which exists as soon as somebody is let in.

    Attributes
    ----------
    place : Place or None
    folders : tuple of Path
    memory : Path or None
        The one of these that bounds memory.
    problem : str
        Why there is none.
    """

    def __init__(self, place: Place | None):
        self.place = place
        self.memory: Path | None = None
        self.folders: tuple[Path, ...] = ()
        self.problem = "its runner did not ask for one"

    @property
    def lent(self) -> bool:
        """Whether there can be one."""
        return self.place is not None

    def let_in(self, process: int, limits: Limits, held: int, *, polite: bool = True) -> None:
        """Make the group with its limits, and put a process and all that it will start there.

        Parameters
        ----------
        process : int
        limits : Limits
        held : int
            See `memory_bytes`.
        polite : bool
            Whether others go first on a busy machine.
        """
        if self.place is None:
            return
        name = f"{PREFIX}{grader_name()}-{next(_count)}"
        try:
            for controller, folder in self.place.folders.items():
                group = folder / name
                if group not in self.folders:
                    group.mkdir()
                    self.folders += (group,)
                for file, value in self._settings(controller, limits, held, polite).items():
                    if file not in _WHERE_SWAP_IS_COUNTED or (group / file).exists():
                        write_to_kernel(group / file, value)
                if controller == "memory":
                    self.memory = group
            for group in self.folders:
                write_to_kernel(group / "cgroup.procs", str(process))
            self.problem = ""
        except OSError as error:
            self.problem = str(error)

    def _settings(self, controller: str, limits: Limits, held: int, polite: bool) -> dict[str, str]:
        assert self.place is not None
        first, most = self.place.version == 1, str(memory_bytes(limits, held))
        if controller == "pids":
            return {"pids.max": str(limits.processes + _BESIDE_PROCESSES)}
        if controller == "cpu":
            if not polite:
                return {}
            return {"cpu.shares": _SHARES} if first else {"cpu.weight": _WEIGHT}
        if first:
            return {_LIMIT: most, "memory.memsw.limit_in_bytes": most}
        # All of a run ends at once: half of one may wait for the other for ever.
        return {"memory.max": most, "memory.swap.max": "0", "memory.oom.group": "1"}

    def out_of_memory(self) -> bool:
        """Whether the kernel ended a process here because this group, not the machine, was full."""
        if self.memory is None:
            return False
        full = _counters(self.memory / "memory.events")
        if not full:  # version 1
            full = _counters(self.memory / "memory.oom_control")
            peak = max(_number(self.memory / file) for file in _PEAKS)
            full["oom"] = int(peak + _HUGE_PAGE >= _number(self.memory / _LIMIT))
        # A machine without memory ends processes of any group, whose own limit has not been met.
        return full.get("oom", 0) > 0 and full.get("oom_kill", 0) > 0


def _number(file: Path) -> int:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def _counters(file: Path) -> dict[str, int]:
    try:
        lines = [line.split() for line in file.read_text(encoding="ascii").splitlines()]
        return {name: int(number) for name, number in lines}
    except (OSError, ValueError):
        return {}


def _own_folders(root: Path) -> dict[str, Path]:
    """This process's own groups, by controller; that of version 2 has no name."""
    groups = {}
    for line in (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        groups.update(dict.fromkeys(controllers.split(","), Path(path)))
    found: dict[str, Path] = {}
    for line in (root / "proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        words, _, rest = line.partition(" - ")
        kind, _, options = rest.split(" ", 2)
        top, point = words.split()[3:5]
        for name in {"cgroup": options.split(","), "cgroup2": [_UNIFIED]}.get(kind, []):
            group = groups.get(name, Path(".."))
            if group.is_relative_to(top) and ".." not in group.parts:
                found[name] = root / point.lstrip("/") / group.relative_to(top)
    return found


def _version_1(own: dict[str, Path]) -> Place | None:
    """A hierarchy for each controller; one without a memory controller is of little use."""
    folders = {name: own[name] for name in _WANTED if name in own and _lent(own[name])}
    return Place(folders, 1) if "memory" in folders else None


def _lent(folder: Path) -> bool:
    return all(os.access(one, os.W_OK) for one in (folder, folder / "cgroup.procs"))


def _version_2(own: Path) -> tuple[Place, Callable[[], None]]:
    """One hierarchy, in which a group has processes or groups with limits, but not both.

    So what is in this process's group has to move into a group of its own first; that is done only
    if nobody but this process and its children is there.
    """
    offered = (own / "cgroup.controllers").read_text(encoding="ascii").split()
    wanted = [name for name in _WANTED if name in offered]
    if "memory" not in wanted:
        raise ValueError("the memory controller is not lent")
    if any(not _below(process, os.getpid()) for process in processes_in(own)):
        raise ValueError("others are in this group, too")
    aside = own / f"{PREFIX}{grader_name()}-grader"
    switch = own / "cgroup.subtree_control"

    def give_back() -> None:
        write_to_kernel(switch, " ".join(f"-{name}" for name in wanted))
        _move_all(aside, own)
        aside.rmdir()

    aside.mkdir()
    try:
        _move_all(own, aside)
        write_to_kernel(switch, " ".join(f"+{name}" for name in wanted))
    except OSError:
        _move_all(aside, own)
        aside.rmdir()
        raise
    return Place(dict.fromkeys(wanted, own), 2), give_back


def processes_in(group: Path) -> list[int]:
    """Numbers of the processes that are in a group itself, not in those below it."""
    return [int(word) for word in (group / "cgroup.procs").read_text(encoding="ascii").split()]


def _move_all(source: Path, target: Path) -> None:
    """Move processes, and those that they start meanwhile."""
    for _ in range(_MOST_MOVES):
        members = processes_in(source)
        if not members:
            return
        for process in members:
            with contextlib.suppress(ProcessLookupError):
                write_to_kernel(target / "cgroup.procs", str(process))
    raise OSError(f"{source} does not become empty")


def _below(process: int, ancestor: int) -> bool:
    while process not in (ancestor, 0):
        words = _stat(process)
        process = int(words[1]) if words else 0
    return process == ancestor


def _sweep(place: Place) -> None:
    """Remove what killed graders left; the kernel lets nobody remove a group that is in use."""
    for folder in {*place.folders.values()}:
        for group in folder.glob(f"{PREFIX}*"):
            owner = "-".join(group.name.removeprefix(PREFIX).split("-")[:2])
            if not _alive(owner):
                _removed(group)


def _removed(group: Path) -> bool:
    try:
        group.rmdir()
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def grader_name() -> str:
    """What this process calls its groups; no other process, and no later one, has this name."""
    return f"{os.getpid()}-{_started(os.getpid())}"


def _alive(owner: str) -> bool:
    process, _, started = owner.partition("-")
    return process.isdigit() and _started(int(process)) == started


def _started(process: int) -> str:
    """When it started: with its number, a name that no later process gets."""
    words = _stat(process)
    return words[19] if words else ""


def _stat(process: int) -> list[str]:
    """What the kernel says of a process, from its state on; nothing of one that has ended."""
    try:
        line = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return []
    return line.rpartition(")")[2].split()
