"""Inside the sandbox: large pages of memory, so that a process with torch is copied in a third of
the time.

A fork copies an entry for each page that the process has filled, and frees it again at the end.
After the import of torch there are some 40,000 pages of 4 kB, which cost as much as everything that
a short submission does, but only 75 pages of 2 MB. A run that writes to one gets a small page of
its own, as before.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from course_tasks.runner.c_library import c_library

# Linux 6.1 and newer; an older kernel refuses, and everything works as before.
_MADV_COLLAPSE = 25
_BYTES_OF_A_HUGE_PAGE = 2**21


def collapse() -> Iterator[bool]:
    """Make large pages of small ones, one at each step, which takes milliseconds. Each step says
    whether it succeeded.
    """
    advise = c_library().madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for begin, end in _filled():
        for address in range(begin, end, _BYTES_OF_A_HUGE_PAGE):
            yield advise(address, _BYTES_OF_A_HUGE_PAGE, _MADV_COLLAPSE) == 0


def _filled() -> list[tuple[int, int]]:
    """Where whole large pages fit into this process's own memory that belongs to no file."""
    found = []
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        for line in maps:
            places, rights, _, _, file, *name = line.split()
            # Most of the stack is not filled.
            if rights != "rw-p" or file != "0" or name == ["[stack]"]:
                continue
            begin, end = (int(place, 16) for place in places.split("-"))
            begin = -(-begin // _BYTES_OF_A_HUGE_PAGE) * _BYTES_OF_A_HUGE_PAGE
            end = end // _BYTES_OF_A_HUGE_PAGE * _BYTES_OF_A_HUGE_PAGE
            if begin < end:
                found.append((begin, end))
    return found
