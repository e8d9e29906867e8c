"""Inside the sandbox: all processes of one submission, and what they use together.

A limit of the kernel holds for each process by itself; only a control group limits several, and few
machines provide one. So the supervisor counts, and includes what no process is charged for: files
in memory, data that waits in sockets, page tables, and the kernel's own notes on pieces of memory.
"""

from __future__ import annotations

import functools
import os
import socket
import time
from dataclasses import dataclass

from course_tasks.runner.isolation import WRITABLE
from course_tasks.runner.kernel_files import read_from_kernel
from course_tasks.runner.limits import MEGABYTE, Limits
from course_tasks.runner.processes import Process, descendants
from course_tasks.runner.processor_time import Moment, ProcessorTime, moment

_PROC = "/proc"
_KILOBYTE = 1024

# How often the processes of a submission are counted; memory may grow by some 100 MB in between.
SECONDS_BETWEEN_COUNTS = 0.1

# Open files of all processes together: each may be a pipe, whose 64 kB no process is charged for.
# Ten processes that libraries start have some hundreds.
MOST_OPEN_FILES_TOGETHER = 2048

# How much the kernel notes for each piece of memory that a process has mapped, as measured; and how
# many pieces a process may have.
_BYTES_OF_A_MAPPING = 512
_MOST_MAPPINGS = 65530

# Reading all mappings takes milliseconds a process, so it is done less often.
SECONDS_BETWEEN_MAPPINGS = 1.0
_PART_FOR_MAPPINGS = 0.2


def too_much_memory(limits: Limits) -> str:
    """How a run ended, in words, whether the supervisor or the grader noticed it."""
    return f"its processes together took more than {limits.memory_megabytes} MB of memory"


@dataclass
class ProcessMonitor:
    """Watches over the processes of a run by counting again and again what they use together.

    Parameters
    ----------
    ancestor : int
        The number of this process, by `own_number`. The run's first process is forked from it.
    limits : Limits
    own_folders : bool
        Whether writable folders, sockets and numbers of processes are this submission's alone.

    Attributes
    ----------
    time : ProcessorTime
        For how long they used their processor, and waited for it.
    held_at_start : int
        Bytes of memory that this process has, shared ones, too.
    """

    ancestor: int
    limits: Limits
    own_folders: bool

    def __post_init__(self) -> None:
        self._room_of_a_socket = default_buffer() if self.own_folders else 0
        self._files_at_start, self._sockets_at_start = 0, 0
        self._files_at_start, self._sockets_at_start = self._files(), self._sockets()
        self._mappings, self._next_mappings = 0, time.monotonic() + SECONDS_BETWEEN_MAPPINGS
        self.held_at_start = at_most(self.ancestor)
        self.time = ProcessorTime(self._moment([]), SECONDS_BETWEEN_COUNTS)

    def excess(self) -> str:
        """Count now, and say which limit is broken; empty if none is."""
        processes = descendants(self.ancestor)
        self.time.count(self._moment(processes))
        threads = sum(one.threads for one in processes)
        if threads > self.limits.processes:
            return f"it started more than {self.limits.processes} processes and threads"
        if sum(open_files(one.number) for one in processes) > MOST_OPEN_FILES_TOGETHER:
            return f"its processes together opened more than {MOST_OPEN_FILES_TOGETHER} files"
        if self._too_much(processes):
            return too_much_memory(self.limits)
        return ""

    def _moment(self, processes: list[Process]) -> Moment:
        return moment(processes, own_numbers=self.own_folders)

    def _too_much(self, processes: list[Process]) -> bool:
        self._count_mappings(processes)
        beside = self._sockets() * self._room_of_a_socket + self._mappings * _BYTES_OF_A_MAPPING
        files = self._files()
        most = self.limits.memory_megabytes * MEGABYTE - beside
        if sum(at_most(one.number) for one in processes) + files <= most + self.held_at_start:
            return False
        own, shared = 0, 0
        for one in processes:
            alone, with_others = parts(one.number)
            own, shared = own + alone, shared + with_others
        # Each began as a copy of this process, or of a copy, and none of them has touched more.
        untouched, _ = parts(self.ancestor)
        own -= min(len(processes) * untouched, self.held_at_start)
        # What is mapped of the files in memory is the same memory.
        return own + max(shared, files) > most

    def _count_mappings(self, processes: list[Process]) -> None:
        if time.monotonic() < self._next_mappings:
            return
        began, found = time.thread_time(), 0
        most = self.limits.memory_megabytes * MEGABYTE // _BYTES_OF_A_MAPPING
        at_start = mappings(self.ancestor)
        for one in processes:
            found += max(0, mappings(one.number) - at_start)
            if found > most:
                break
        self._mappings = found
        took = time.thread_time() - began
        pause = max(SECONDS_BETWEEN_MAPPINGS, took / _PART_FOR_MAPPINGS)
        self._next_mappings = time.monotonic() + pause

    def _files(self) -> int:
        """Bytes that have come into the writable folders, which are memory."""
        if not self.own_folders:
            return 0
        used: dict[int, int] = {}
        for place in WRITABLE:
            try:
                found = os.statvfs(place)
                used[os.stat(place).st_dev] = (found.f_blocks - found.f_bfree) * found.f_frsize
            except OSError:
                continue
        return max(0, sum(used.values()) - self._files_at_start)

    def _sockets(self) -> int:
        """Sockets that have been opened, wherever they are kept, even inside another one."""
        if not self.own_folders:
            return 0
        try:
            words = read_from_kernel(f"{_PROC}/net/sockstat").split()
            return max(0, int(words[words.index("used") + 1]) - self._sockets_at_start)
        except (OSError, ValueError, IndexError):
            return 0


def at_most(process: int) -> int:
    """Bytes of memory, including pages that it shares with others; this is quick to find out."""
    return sum(_fields(process, "status", "RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:").values())


def parts(process: int) -> tuple[int, int]:
    """Bytes of its own memory and of what it maps of files in memory, its share of each."""
    found = _fields(process, "smaps_rollup", "Pss_Anon:", "Pss_Shmem:", "SwapPss:")
    if "Pss_Anon:" not in found:  # It has ended or hides, so everything that it can see counts.
        seen = _fields(process, "status", "RssAnon:", "RssShmem:", "VmSwap:")
        found = dict(zip(("Pss_Anon:", "Pss_Shmem:", "SwapPss:"), seen.values(), strict=False))
    tables = sum(_fields(process, "status", "VmPTE:").values())
    own = found.get("Pss_Anon:", 0) + found.get("SwapPss:", 0) + tables
    return own, found.get("Pss_Shmem:", 0)


def mappings(process: int) -> int:
    """How many pieces of memory a process has mapped; as many as can be, if it hides them."""
    try:
        with open(f"{_PROC}/{process}/maps", "rb") as maps:
            return maps.read().count(b"\n")
    except PermissionError:
        return _MOST_MAPPINGS
    except OSError:
        return 0


def open_files(process: int) -> int:
    """How many files a process has open; with a kernel before 6.2 it takes longer."""
    folder = f"{_PROC}/{process}/fd"
    try:
        return os.stat(folder).st_size or len(os.listdir(folder))
    except OSError:
        return 0


def _fields(process: int, file: str, *names: str) -> dict[str, int]:
    """Numbers of kilobytes by their names, in bytes, in the order of the names."""
    found: dict[str, int] = {}
    try:
        text = read_from_kernel(f"{_PROC}/{process}/{file}")
    except OSError:  # It has ended, or may not be read.
        return found
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        if f"{name}:" in names:
            found[f"{name}:"] = int(rest.split()[0]) * _KILOBYTE
    return {name: found[name] for name in names if name in found}


@functools.cache
def default_buffer() -> int:
    """Bytes that may wait in a new socket, which the kernel has one number for; asked before a
    process is forked.
    """
    with socket.socket(socket.AF_UNIX) as new:
        return new.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
