"""A filter of system calls that no notebook of a course needs.

It refuses three kinds. The first are calls from which ways out of a sandbox are built: namespaces,
keys and other processes' memory. The second are calls for memory that is charged to no process:
shared memory without a file, that of System V, data that waits in pipes and sockets, rules and
filters that the kernel keeps for a process. The third are calls that reach other submissions or
take a larger part of the machine: networks, priorities, cores, sessions (the kernel shares
processor time between them), limits and signals of the supervisor, file watches, and caches of
files.

Locks on files are of the second kind and of the third: the kernel keeps as many as somebody asks
for, and submissions see the same files of Python. Honest programs lock files of their own, which
nobody else can open, so a lock is answered as if it was there.

The filter is a program for the kernel's own classic BPF machine (seccomp(2)). It holds for a
process and all that it starts, and cannot be removed. It is written out here, because it has to be
available at once for each submission, in a sandbox that only holds Python and the course. A library
that compiles filters would have to be found and loaded in every one of them.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import platform
import socket
from collections.abc import Iterator
from typing import NamedTuple

from course_tasks.errors import IsolationError
from course_tasks.runner.c_library import c_library, must

# Numbers of the calls, as the kernel's tables for the two processors have them: (x86-64, arm64).
# A call that arm64 does not have is -1 there.
REFUSED: dict[str, tuple[int, int]] = {
    # Other processes, and ways out.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "modify_ldt": (154, -1),
    "ioperm": (173, -1),
    "iopl": (172, -1),
    # Memory that belongs to no process.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "remap_file_pages": (216, 234),
    "vmsplice": (278, 75),
    "io_setup": (206, 0),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "seccomp": (317, 277),
    # A larger part of the machine, or what others do there.
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "setsid": (112, 157),
    "inotify_init": (253, -1),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "sync": (162, 81),
    "syncfs": (306, 267),
    # The machine itself.
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "acct": (163, 89),
    "vhangup": (153, 58),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
}

# These are refused as if the kernel did not have them, because their callers then do without. The
# flags of clone3 are in memory, where a filter cannot look, so the C library uses clone instead.
# A membarrier interrupts other cores, and the libraries that use it can do without it.
MISSING: dict[str, tuple[int, int]] = {"clone3": (435, 435), "membarrier": (324, 283)}

# These are answered with success, and nothing is done.
ANSWERED: dict[str, tuple[int, int]] = {"flock": (73, 32)}

# Calls of later kernels are refused like that, too, since nothing is known of them here.
FIRST_UNKNOWN = 463


class Test(NamedTuple):
    """When a call is refused because of one of its arguments.

    Attributes
    ----------
    argument : int
        Its place, from 0.
    kind : str
        "is" any of the values, is "not" any of them, or has "all" or "any" of the bits.
    values : tuple of int
    """

    argument: int
    kind: str
    values: tuple[int, ...]


# Calls that are refused for some arguments: the numbers, the error (0: answered with success), and
# tests that must all hold.
# The kernel takes each of these arguments for a number of 32 bits, or for flags of which the
# upper half means nothing, so only the lower half decides, whatever the upper one holds.
_SUPERVISOR = (Test(0, "is", (1,)),)
_MAP_SHARED, _MAP_ANONYMOUS, _MAP_HUGETLB = 0x01, 0x20, 0x40000
_F_SETLEASE, _F_NOTIFY, _F_SETPIPE_SZ = 1024, 1026, 1031
_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW = 6, 7, 37, 38
_PR_SET_SECCOMP, _PR_FUTEX_HASH = 22, 78
_SO_ATTACH_FILTER, _SO_SNDBUFFORCE, _SO_RCVBUFFORCE, _SO_ATTACH_BPF = 26, 32, 33, 50
# CLONE_NEWNS, …CGROUP, …UTS, …IPC, …USER, …PID, …NET.
_NEW_NAMESPACE = 0x7E020000
REFUSED_FOR: tuple[tuple[str, tuple[int, int], int, tuple[Test, ...]], ...] = (
    ("clone", (56, 220), errno.EPERM, (Test(0, "any", (_NEW_NAMESPACE,)),)),
    ("socket", (41, 198), errno.EAFNOSUPPORT, (Test(0, "not", (socket.AF_UNIX,)),)),
    ("socketpair", (53, 199), errno.EAFNOSUPPORT, (Test(0, "not", (socket.AF_UNIX,)),)),
    (
        "setsockopt",
        (54, 208),
        errno.EPERM,
        (
            Test(1, "is", (socket.SOL_SOCKET,)),
            Test(
                2,
                "is",
                (
                    *(socket.SO_SNDBUF, socket.SO_RCVBUF, _SO_SNDBUFFORCE, _SO_RCVBUFFORCE),
                    *(_SO_ATTACH_FILTER, _SO_ATTACH_BPF),
                ),
            ),
        ),
    ),
    # Memory that forked processes share, and that no process is charged for once it is unmapped.
    ("mmap", (9, 222), errno.EPERM, (Test(3, "all", (_MAP_SHARED | _MAP_ANONYMOUS,)),)),
    ("mmap", (9, 222), errno.EPERM, (Test(3, "any", (_MAP_HUGETLB,)),)),
    ("fcntl", (72, 25), errno.EPERM, (Test(1, "is", (_F_SETLEASE, _F_NOTIFY, _F_SETPIPE_SZ)),)),
    ("fcntl", (72, 25), 0, (Test(1, "is", (_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW)),)),
    ("prctl", (157, 167), errno.EPERM, (Test(0, "is", (_PR_SET_SECCOMP, _PR_FUTEX_HASH)),)),
    ("prlimit64", (302, 261), errno.EPERM, (Test(0, "not", (0,)),)),
    # The supervisor is process 1 of its namespace.
    ("kill", (62, 129), errno.EPERM, _SUPERVISOR),
    ("tkill", (200, 130), errno.EPERM, _SUPERVISOR),
    ("tgkill", (234, 131), errno.EPERM, _SUPERVISOR),
    ("rt_sigqueueinfo", (129, 138), errno.EPERM, _SUPERVISOR),
    ("rt_tgsigqueueinfo", (297, 240), errno.EPERM, _SUPERVISOR),
    ("pidfd_open", (434, 434), errno.EPERM, _SUPERVISOR),
)

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

# Operations of the machine: load a word, jump by comparing it, mask it, return.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _MASK, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # places in struct seccomp_data
_X32 = 0x40000000  # the other way to call an x86-64 kernel, with numbers of its own

_FILTER_MODE = 2

Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


@functools.cache
def filter_code() -> bytes:
    """The filter as the kernel takes it; worked out once, before the processes that install it are
    forked.

    Raises
    ------
    IsolationError
        On a processor whose call numbers are not known here.
    """
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        known = ", ".join(_ARCHITECTURES)
        raise IsolationError(
            errno.ENOSYS, f"no filter of system calls for processor {machine}; there are {known}"
        )
    return b"".join(
        operation.to_bytes(2, "little") + bytes((yes, no)) + value.to_bytes(4, "little")
        for operation, yes, no, value in instructions(*_ARCHITECTURES[machine])
    )


def install_seccomp_filter() -> None:
    """Install the filter in this process.

    Raises
    ------
    IsolationError
        On a processor whose numbers are not known here, or if the kernel refuses.
    """
    code = filter_code()
    program = _Program(len(code) // 8, code)
    installed = c_library().prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0)
    must(installed, "prctl(PR_SET_SECCOMP)")


def instructions(column: int, architecture: int) -> Iterator[Instruction]:
    """The program: (operation, jump if true, jump if false, value) each.

    Parameters
    ----------
    column : int
        Which of the numbers of a call are this processor's.
    architecture : int
        The kernel's name for the processor.
    """
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUAL, 1, 0, architecture
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    yield _AT_LEAST, 0, 1, _X32
    yield _refuse(errno.EPERM)
    yield _AT_LEAST, 0, 1, FIRST_UNKNOWN
    yield _refuse(errno.ENOSYS)
    for calls, number in ((REFUSED, errno.EPERM), (MISSING, errno.ENOSYS), (ANSWERED, 0)):
        for numbers in calls.values():
            if numbers[column] >= 0:
                yield _EQUAL, 0, 1, numbers[column]
                yield _refuse(number)
    for _, numbers, number, tests in REFUSED_FOR:
        body = [*_tested(tests, _refuse(number)), (_LOAD, 0, 0, _NUMBER)]
        yield _EQUAL, 0, len(body), numbers[column]
        yield from body
    yield _RETURN, 0, 0, _ALLOW


def _refuse(number: int) -> Instruction:
    return _RETURN, 0, 0, _ERRNO | number


def _tested(tests: tuple[Test, ...], then: Instruction) -> list[Instruction]:
    """`then`, if all tests hold; otherwise the program goes on behind it."""
    if not tests:
        return [then]
    (argument, kind, values), rest = tests[0], _tested(tests[1:], then)
    over = len(rest)
    load = (_LOAD, 0, 0, _ARGUMENTS + 8 * argument)  # the lower half comes first
    if kind == "any":
        return [load, (_ANY_BIT, 0, over, values[0]), *rest]
    if kind == "all":
        return [load, (_MASK, 0, 0, values[0]), (_EQUAL, 0, over, values[0]), *rest]
    last = len(values) - 1
    compared = [(_EQUAL, last - at, 0, value) for at, value in enumerate(values)]
    if kind == "is":
        compared[last] = (_EQUAL, 0, over, values[last])
    else:
        compared = [(_EQUAL, last - at + over, 0, value) for at, value in enumerate(values)]
    return [load, *compared, *rest]
