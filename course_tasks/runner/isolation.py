"""Isolation that a forked process puts around itself, with Linux namespaces and limits.

It is used inside the sandbox, between the process that has imported torch and a submission's own.
All of it is the kernel's own interface, which Python 3.11 has no names for, so it is called through
the C library.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import platform
import random
import resource
import signal
import site
import sys
import sysconfig
from pathlib import Path

from course_tasks.errors import IsolationError
from course_tasks.runner.c_library import c_library, must
from course_tasks.runner.kernel_files import read_from_kernel
from course_tasks.runner.limits import MEGABYTE, Limits

_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
_CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT = 1, 2, 4, 8, 32
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
_PR_SET_CHILD_SUBREAPER = 36
# Numbers of the call, as the kernel's tables have them; its four other arguments are not used here.
_CLONE_CALLS = {"x86_64": 56, "aarch64": 220}
_LAST_CAPABILITY = 40
_CAPABILITY_VERSION_3 = 0x20080522
_Header, _Nothing = ctypes.c_uint32 * 2, ctypes.c_uint32 * 6  # each such type is a class of its own

# The only places that a submission may write to; each is new for each submission.
WRITABLE = ("/home/student", "/tmp", "/dev/shm")

# All that a program finds in /proc besides the processes of its own namespace: what libraries read
# to learn the number of processors and the memory. Everything else there is about the machine or
# about other submissions, so it is covered, and so is whatever a later kernel adds. (Other names
# that stay visible are links into a process's own folder.)
SHOWN_IN_PROC = frozenset(
    ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version", "vmstat")
)

STUDENT = 1000
"""The user, and the group, that every run is as far as it can see."""

# Data that waits in a pipe or socket is memory that no process is charged for, so there may be only
# a few of them. A notebook has some dozens of files open while its libraries are imported.
MOST_OPEN_FILES = 256

# Signals that wait in a queue and timers that run: the kernel counts them for a user, who may be
# the same for all submissions.
MOST_SIGNALS = 256

# Numerical libraries start a thread for each core that they see, and JAX starts several, so on a
# machine with 64 cores an import alone would break the limit on processes and threads.
MOST_CORES = 4


def set_dumpable(yes: bool) -> None:
    """Whether processes of the same user may look into this one's memory."""
    must(c_library().prctl(_PR_SET_DUMPABLE, int(yes), 0, 0, 0), "prctl(PR_SET_DUMPABLE)")


def fork_into_namespaces(*, own_users: bool = True) -> int:
    """Fork as `os.fork` does; the child is process 1 of new namespaces, with mounts, networks,
    messages and names of its own.

    A process that holds torch is copied only once for it. With `unshare`, another copy would be
    needed in between, because only a process's next child gets number 1. The process must have only
    one thread, since the C library is not told, and so can't take care of its own locks.

    Parameters
    ----------
    own_users : bool
        Whether to use a user namespace, which gives the right to the other namespaces. Without one,
        the process must have that right already.

    Returns
    -------
    int
        The child's number; 0 in the child, which needs a user next if it has its own; see `users`.

    Raises
    ------
    IsolationError
        In the parent, if the kernel refuses.
    """
    flags = _CLONE_NEWNS | _CLONE_NEWPID | _CLONE_NEWIPC | _CLONE_NEWUTS | _CLONE_NEWNET
    if own_users:
        flags |= _CLONE_NEWUSER
    machine = platform.machine()
    if machine not in _CLONE_CALLS:
        raise IsolationError(errno.ENOSYS, f"the call `clone` has no known number on {machine}")
    # What `os.fork` does around the call, for other threads' locks and for libraries that act in a
    # child, is left out, since it makes the child copy 200 pages. The interpreter's lock is held
    # meanwhile, and the child goes on from here. Processes that run student code are forked
    # from the child by `os.fork`.
    libc = c_library(ctypes.PyDLL)
    libc.syscall.restype = ctypes.c_long
    number = libc.syscall(
        ctypes.c_long(_CLONE_CALLS[machine]),
        ctypes.c_ulong(flags | signal.SIGCHLD),
        *(ctypes.c_void_p(),) * 4,
    )
    failed = ctypes.get_errno()
    if number < 0:
        raise IsolationError(failed, f"clone: {os.strerror(failed)}")
    return int(number)


@functools.cache
def prefixes_to_keep() -> frozenset[str]:
    """Folders of Python that lie in a writable place, or have a name there; found before a process
    is forked. None lies in another one.
    """
    # A link may lead from an environment to packages elsewhere, so those count for themselves.
    libraries = (sysconfig.get_path(one) for one in ("stdlib", "platstdlib", "purelib", "platlib"))
    folders = (sys.prefix, sys.base_prefix, *libraries, *site.getsitepackages())
    named = {
        name(folder)
        for folder in folders
        if os.path.isdir(folder)
        for name in (os.path.abspath, os.path.realpath)
    }
    kept = {one for one in named if any(Path(one).is_relative_to(place) for place in WRITABLE)}
    return frozenset(one for one in kept if not kept.intersection(map(str, Path(one).parents)))


def fresh_folders(limits: Limits) -> None:
    """Cover every writable place with an empty folder in memory, and /proc with a new one.

    All writable places share one limit. An installed Python in one of them, such as `/tmp`, stays
    visible, but read-only. Afterwards /proc only shows the processes of this process's namespace,
    and cannot be written to.
    """
    libc = c_library()
    kept = {prefix: os.open(prefix, os.O_PATH | os.O_DIRECTORY) for prefix in prefixes_to_keep()}
    must(libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None), "mount / private")
    options = f"size={limits.file_megabytes}m,mode=700,nr_inodes={limits.files}".encode()
    base = WRITABLE[-1]
    flags = _MS_NOSUID | _MS_NODEV
    must(libc.mount(b"tmpfs", base.encode(), b"tmpfs", flags, options), f"mount {base}")
    for place in WRITABLE:  # the base comes last: its own part of the space then covers the rest
        part = f"{base}/{os.path.basename(place)}"
        os.mkdir(part, 0o700)
        bound = libc.mount(part.encode(), place.encode(), None, _MS_BIND, None)
        must(bound, f"mount {place}")
    for prefix, number in kept.items():
        os.makedirs(prefix, exist_ok=True)
        source = f"/proc/self/fd/{number}".encode()
        again = libc.mount(source, prefix.encode(), None, _MS_BIND | _MS_REC, None)
        must(again, f"mount {prefix}")
        os.close(number)
    _fresh_proc(libc)


def _fresh_proc(libc: ctypes.CDLL) -> None:
    flags = _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    must(libc.mount(b"proc", b"/proc", b"proc", flags, None), "mount /proc")
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() or entry.name in SHOWN_IN_PROC or entry.is_symlink():
            continue
        path = entry.path.encode()
        if entry.is_dir(follow_symlinks=False):
            covered = libc.mount(b"tmpfs", path, b"tmpfs", flags, b"size=4k,nr_inodes=1,mode=555")
        else:  # a device on a mount without devices, which cannot be opened
            covered = libc.mount(b"/dev/null", path, None, _MS_BIND, None)
            must(covered, f"cover {entry.path}")
            covered = libc.mount(None, path, None, _MS_REMOUNT | _MS_BIND | flags, None)
        must(covered, f"cover {entry.path}")


def drop_rights() -> None:
    """Give up all capabilities, so that no program can give one back.

    Afterwards, a signal to this process's group only reaches itself and what it starts.
    """
    os.setsid()
    libc = c_library()
    for capability in range(_LAST_CAPABILITY + 1):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    must(libc.capset(_Header(_CAPABILITY_VERSION_3, 0), _Nothing()), "capset")
    must(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")


def die_with_parent() -> None:
    """End when the process that started this one ends."""
    must(c_library().prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")


def adopt_orphans() -> None:
    """Become the parent of whatever this process's descendants leave running."""
    must(c_library().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl(PR_SET_CHILD_SUBREAPER)")


def stay_on_few_cores() -> None:
    """Limit the cores that this thread, and everything that it starts, sees and uses."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > MOST_CORES:  # drawn by the system, as forked processes share other generators
        os.sched_setaffinity(0, random.SystemRandom().sample(cores, MOST_CORES))


def set_limits(limits: Limits, *, own_users: bool) -> None:
    """Memory, processes, file size and processor seconds, none of which can be raised again.

    Parameters
    ----------
    limits : Limits
    own_users : bool
        Whether a user namespace is around this process. Without one the kernel counts everything
        that its user runs on the machine, and only the supervisor counts processes.
    """
    seconds = int(limits.total_seconds * (os.cpu_count() or 1)) + 1
    bounds = {
        resource.RLIMIT_AS: _virtual_bytes() + limits.memory_megabytes * MEGABYTE,
        resource.RLIMIT_FSIZE: limits.file_megabytes * MEGABYTE,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: MOST_OPEN_FILES,
        # What the kernel would hold for a user, or what would give a process priority.
        resource.RLIMIT_SIGPENDING: MOST_SIGNALS,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_NICE: 0,
    }
    if own_users:
        bounds[resource.RLIMIT_NPROC] = limits.processes
    for what, value in bounds.items():
        _, most = resource.getrlimit(what)
        bound = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(what, (bound, bound))


def close_all_but(*kept: int) -> None:
    """Close every file descriptor that is not named; the standard ones lead nowhere afterwards."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            with contextlib.suppress(OSError):  # the one that listed them is closed already
                os.close(int(name))


def _virtual_bytes() -> int:
    pages = read_from_kernel("/proc/self/statm").split()[0]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
