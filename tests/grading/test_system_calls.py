"""The filter refuses system calls that reach others or hide memory, and leaves honest ones."""

import errno
import itertools
import re
import socket
from pathlib import Path

import pytest
from walled_runs import ask

from course_tasks.runner import seccomp

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


def call(name, *arguments, then=""):
    """A cell that makes a system call by its number; 0 or the name of the error."""
    numbers = seccomp.REFUSED.get(name) or next(
        each for one, each, *_ in seccomp.REFUSED_FOR if one == name
    )
    return f"""
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def found():
    number = {numbers}[os.uname().machine == "aarch64"]
    given = [ctypes.c_long(one) for one in [{", ".join(map(str, (*arguments, 0)))}]]
    done = libc.syscall(ctypes.c_long(number), *given)
    return "done" if done >= 0 else errno.errorcode[ctypes.get_errno()]
"""


_HIGH = 1 << 32  # what a filter that compares 64 bits would take for something else

REFUSED_CALLS = {
    "a key in a keyring": ("keyctl", 0, -3, 1),
    "semaphores of System V": ("semget", 0, 32000, 0o1600),
    "messages of System V": ("msgget", 0, 0o1600),
    "limits of the supervisor": ("prlimit64", 1, 7, 0, 0),
    "limits of itself by number": ("prlimit64", "os.getpid()", 7, 0, 0),
    "a signal to the supervisor": ("kill", 1, 2),
    "a signal to the supervisor's thread": ("tgkill", 1, 1, 2),
    "a handle of the supervisor": ("pidfd_open", 1, 0),
    "all its cores": ("sched_setaffinity", 0, 0, 0),
    "another scheduling": ("sched_setscheduler", 0, 0, 0),
    "another priority": ("setpriority", 0, 0, 19),
    "another priority on disks": ("ioprio_set", 1, 0, 0),
    "a session, which has its own part of the processors": ("setsid",),
    "shared memory without a file": ("mmap", 0, 4096, 3, 0x21, -1, 0),
    "the same, by its newer name": ("mmap", 0, 4096, 3, 0x23, -1, 0),
    "the same, with bits above": ("mmap", 0, 4096, 3, 0x21 | _HIGH, -1, 0),
    "memory of huge pages": ("mmap", 0, 2**21, 3, 0x40022, -1, 0),
    "a large pipe": ("fcntl", "os.pipe()[1]", 1031, 2**20),
    "a large pipe, with bits above": ("fcntl", "os.pipe()[1]", 1031 | _HIGH, 2**20),
    "a lease on a file": ("fcntl", "os.open('/usr', 0)", 1024, 0),
    "large buffers": ("setsockopt", "socket.socket(1).fileno()", 1, 7, "id(bytes(8))", 4),
    "large buffers, by force": ("setsockopt", "socket.socket(1).fileno()", 1, 33, "id(b'')", 4),
    "pages in a pipe": ("vmsplice", "os.pipe()[1]", 0, 0, 0),
    "what others read": ("inotify_init1", 0),
    "all files written to disk": ("syncfs", "os.open('/usr', 0)"),
    "contexts of asynchronous input": ("io_setup", 8, "id(bytes(64)) + 32"),
}


def test_filter_refuses_what_reaches_others_or_is_in_nobodys_count(warm):
    cells = [call(name, *given) for name, *given in REFUSED_CALLS.values()]
    assert dict(zip(REFUSED_CALLS, ask(warm, *cells), strict=True)) == dict.fromkeys(
        REFUSED_CALLS, "EPERM"
    )


FAMILIES = """
import socket
def found():
    found = []
    for family in range(64):
        for kind in (1, 2, 3, 5):
            for make in (socket.socket, lambda *given: socket.socketpair(*given)[0]):
                try:
                    make(family, kind).close()
                    found.append(family)
                except OSError:
                    pass
    return sorted(set(found))
"""

HONEST_CALLS = """
import mmap, os, resource, socket, subprocess, threading
def found():
    one, other = socket.socketpair()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 256))
    private = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with open("shared", "wb+") as file:
        file.truncate(4096)
        by_file = mmap.mmap(file.fileno(), 4096)
    by_file[0] = private[0] = 7
    done = subprocess.run(["sh", "-c", "sleep 9 & kill $!; wait $!; echo $?"], capture_output=True)
    thread = threading.Thread(target=one.send, args=(b"x",))
    thread.start(); thread.join()
    return [other.recv(1).decode(), by_file[0], resource.getrlimit(resource.RLIMIT_NOFILE)[0],
            done.stdout.decode().strip()]
"""


def test_filter_leaves_what_honest_code_does(warm):
    families, honest = ask(warm, FAMILIES, HONEST_CALLS)
    assert families == [socket.AF_UNIX]
    assert honest == ["x", 7, 128, "143"]


def verdict(column, architecture, number, arguments=(), said_architecture=None):
    """What the filter returns for a call."""
    words = [number, said_architecture or architecture, 0, 0]
    for argument in itertools.islice(itertools.chain(arguments, itertools.repeat(0)), 6):
        words += [argument & 0xFFFFFFFF, argument >> 32 & 0xFFFFFFFF]
    program = list(seccomp.instructions(column, architecture))
    held, at = 0, 0
    while True:
        operation, yes, no, value = program[at]
        at += 1
        if operation == 0x20:
            held = words[value // 4]
        elif operation == 0x54:
            held &= value
        elif operation == 0x06:
            return value
        else:
            true = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[operation]
            at += yes if true else no


ALLOW, KILL = 0x7FFF0000, 0x80000000

PROCESSORS = pytest.mark.parametrize(
    ("column", "architecture"), [(0, 0xC000003E), (1, 0xC00000B7)], ids=["x86-64", "arm64"]
)


def error(name):
    return 0x00050000 | getattr(errno, name)


@PROCESSORS
class TestFilter:
    def number(self, name, column):
        return next(each for one, each, *_ in seccomp.REFUSED_FOR if one == name)[column]

    def test_refuses_each_call_and_allows_its_neighbours(self, column, architecture):
        numbers = {each[column]: one for one, each in seccomp.REFUSED.items()} | {
            each[column]: one for one, each in seccomp.MISSING.items()
        }
        some = {each[column] for _, each, *_ in seccomp.REFUSED_FOR}
        for number in range(seccomp.FIRST_UNKNOWN):
            if number in some:
                continue
            found = verdict(column, architecture, number)
            if number not in numbers:
                assert found == ALLOW, number
            else:
                missing = numbers[number] in seccomp.MISSING
                assert found == error("ENOSYS" if missing else "EPERM"), numbers[number]

    def test_what_it_does_not_know_is_missing_and_other_tables_are_closed(
        self, column, architecture
    ):
        assert verdict(column, architecture, seccomp.FIRST_UNKNOWN) == error("ENOSYS")
        assert verdict(column, architecture, 0x40000000 | 9) in (error("EPERM"), error("ENOSYS"))
        assert verdict(column, architecture, 9, said_architecture=0x40000003) == KILL

    @pytest.mark.parametrize(
        ("name", "arguments", "expected"),
        [
            ("socket", (1, 1), ALLOW),
            ("socket", (2, 1), error("EAFNOSUPPORT")),
            ("socket", (1 | _HIGH << 4, 1), ALLOW),  # the kernel, too, looks at 32 bits of it
            ("socketpair", (1, 1), ALLOW),
            ("socketpair", (16, 1), error("EAFNOSUPPORT")),
            ("setsockopt", (3, 1, 7), error("EPERM")),
            ("setsockopt", (3, 1, 8 | _HIGH), error("EPERM")),
            ("setsockopt", (3, 1 | _HIGH, 32), error("EPERM")),
            ("setsockopt", (3, 1, 16), ALLOW),
            ("setsockopt", (3, 6, 7), ALLOW),
            ("mmap", (0, 4096, 3, 0x22), ALLOW),
            ("mmap", (0, 4096, 3, 0x01), ALLOW),
            ("mmap", (0, 4096, 3, 0x21), error("EPERM")),
            ("mmap", (0, 4096, 3, 0x23 | _HIGH), error("EPERM")),
            ("mmap", (0, 4096, 3, 0x40022), error("EPERM")),
            ("fcntl", (3, 2, 1), ALLOW),
            ("fcntl", (3, 1031, 1), error("EPERM")),
            ("fcntl", (3, 1024 | _HIGH, 1), error("EPERM")),
            ("prlimit64", (0, 7), ALLOW),
            ("prlimit64", (2, 7), error("EPERM")),
            ("prlimit64", (0xFFFFFFFF, 7), error("EPERM")),
            ("kill", (2, 9), ALLOW),
            ("kill", (1, 9), error("EPERM")),
            ("kill", (1 | _HIGH, 9), error("EPERM")),
            ("clone", (0x003D0F00,), ALLOW),
            ("clone", (0x10000011,), error("EPERM")),
            ("clone", (0x40000011 | _HIGH,), error("EPERM")),
        ],
    )
    def test_looks_at_arguments_as_the_kernel_does(
        self, column, architecture, name, arguments, expected
    ):
        number = self.number(name, column)
        assert verdict(column, architecture, number, arguments) == expected

    def test_numbers_are_those_of_the_kernels_tables(self, column, architecture):
        place, prefixes = (
            ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", ("__NR_",)),
            ("/usr/include/asm-generic/unistd.h", ("__NR_", "__NR3264_")),
        )[column]
        if not Path(place).is_file():
            pytest.skip(f"no {place}: sudo apt-get install linux-libc-dev")
        text = Path(place).read_text(encoding="utf-8")
        every = [*seccomp.REFUSED.items(), *seccomp.MISSING.items()]
        every += [(one, each) for one, each, *_ in seccomp.REFUSED_FOR]
        for name, numbers in every:
            found = re.search(rf"#define (?:{'|'.join(prefixes)}){name}\s+(\d+)\n", text)
            if found:
                assert int(found[1]) == numbers[column], name
            else:
                assert numbers[column] == -1, name
