"""A filter of system calls: doors of the kernel that no notebook of a course has to open.

Namespaces, keys, other processes' memory and memory that belongs to no process are what ways out
of a sandbox are built from. The filter is a program for the kernel's own classic BPF machine
(seccomp(2)); it holds for a process and all that it starts, and cannot be taken off.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from collections.abc import Iterator

from course_lib.errors import IsolationFailed

# Numbers of the calls, as the kernel's tables for the two processors have them: (x86-64, arm64).
REFUSED: dict[str, tuple[int, int]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
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
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # Pages and notes that a pipe or a queue keeps, and no process is charged for.
    "vmsplice": (278, 75),
    "inotify_init": (253, 26),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "acct": (163, 89),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
}
_CLONE, _CLONE3 = (56, 220), (435, 435)
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
# clone(2) with any of CLONE_NEWNS, …CGROUP, …UTS, …IPC, …USER, …PID, …NET.
_NEW_NAMESPACE = 0x7E020000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # places in struct seccomp_data
_X32 = 0x40000000  # the other way to call an x86-64 kernel, with numbers of its own

_PR_SET_SECCOMP, _FILTER_MODE = 22, 2

Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def refuse_doors() -> None:
    """Install the filter in this process.

    Raises
    ------
    IsolationFailed
        On a processor whose numbers are not known here, or if the kernel refuses.
    """
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        known = ", ".join(_ARCHITECTURES)
        raise IsolationFailed(
            errno.ENOSYS, f"no filter of system calls for processor {machine}; there are {known}"
        )
    code = b"".join(
        operation.to_bytes(2, "little") + bytes((yes, no)) + value.to_bytes(4, "little")
        for operation, yes, no, value in _instructions(*_ARCHITECTURES[machine])
    )
    room = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(room, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0) != 0:
        number = ctypes.get_errno()
        raise IsolationFailed(number, f"prctl(PR_SET_SECCOMP): {os.strerror(number)}")


def _instructions(column: int, architecture: int) -> Iterator[Instruction]:
    """The program: (operation, jump if true, jump if false, value) each."""
    refuse: Instruction = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUAL, 1, 0, architecture
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    yield _AT_LEAST, 0, 1, _X32
    yield refuse
    for numbers in REFUSED.values():
        yield _EQUAL, 0, 1, numbers[column]
        yield refuse
    # The flags of clone3 lie in memory, where a filter cannot look: the C library then uses clone.
    yield _EQUAL, 0, 1, _CLONE3[column]
    yield _RETURN, 0, 0, _ERRNO | errno.ENOSYS
    yield _EQUAL, 0, 3, _CLONE[column]
    yield _LOAD, 0, 0, _FIRST_ARGUMENT
    yield _ANY_BIT, 0, 1, _NEW_NAMESPACE
    yield refuse
    yield _RETURN, 0, 0, _ALLOW
