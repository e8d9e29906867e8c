"""The filter refuses system calls that reach others or hide memory, and leaves honest ones."""

import errno
import fcntl
import itertools
import os
import re
import socket
import threading
from pathlib import Path

import pytest
from walled_runs import ask

from course_grader.sandbox import selftest
from course_tasks.runner import seccomp

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


def call(name, *arguments, then=""):
    """A cell that makes a system call by its number; 0 or the name of the error."""
    numbers = (
        seccomp.REFUSED.get(name)
        or seccomp.ANSWERED.get(name)
        or next(each for one, each, *_ in seccomp.REFUSED_FOR if one == name)
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
    "rules of Landlock": ("landlock_create_ruleset", "id((1).to_bytes(8, 'little')) + 32", 8, 0),
    "a rule more": ("landlock_add_rule", 0, 1, 0, 0),
    "a rule for itself": ("landlock_restrict_self", 0, 0),
    "a filter of its own": ("seccomp", 1, 0, 0),
    "a filter of its own, by the older call": ("prctl", 22, 2, 0),
    "a table of locks in memory": ("prctl", 78, 1, 4, 0),
}


def test_filter_refuses_what_reaches_others_or_is_in_nobodys_count(warm):
    cells = [call(name, *given) for name, *given in REFUSED_CALLS.values()]
    assert dict(zip(REFUSED_CALLS, ask(warm, *cells), strict=True)) == dict.fromkeys(
        REFUSED_CALLS, "EPERM"
    )


LOCKED = """
import fcntl, os, sqlite3
def found():
    shared = open(os.__file__)
    fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB)
    own = open("own", "w+")
    fcntl.lockf(own, fcntl.LOCK_EX)
    child = os.fork()
    if child == 0:
        with open("own", "r+") as same:
            fcntl.lockf(same, fcntl.LOCK_EX | fcntl.LOCK_NB)  # no lock of the parent is there
        os._exit(0)
    with sqlite3.connect("data.db") as known:
        known.execute("create table one (two)")
        known.execute("insert into one values (3)")
    return [os.waitpid(child, 0)[1], known.execute("select two from one").fetchone()]
"""


def test_lock_is_answered_and_reaches_nobody(warm):
    """Not a process outside that holds the same file, nor the kernel's memory."""
    with open(os.__file__, encoding="utf-8") as outside:
        fcntl.flock(outside, fcntl.LOCK_EX)
        assert ask(warm, LOCKED) == [[0, [3]]]
        fcntl.flock(outside, fcntl.LOCK_UN)
    held = """
import fcntl, os
locked = open(os.__file__)
fcntl.flock(locked, fcntl.LOCK_EX)
def found():
    import subprocess
    return subprocess.run(["sleep", "WAIT"]).returncode
"""
    mark = f"21.{int.from_bytes(os.urandom(5), 'big')}"
    run = threading.Thread(target=ask, args=(warm, held.replace("WAIT", mark)))
    run.start()
    try:
        number = sleeping_outside(mark, run)
        with open(os.__file__, encoding="utf-8") as outside:
            fcntl.flock(outside, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.kill(number, 9)
        run.join()


def sleeping_outside(mark, run):
    """The number of the process that sleeps so long in a run."""
    while run.is_alive():
        for number in selftest.sleeping(mark):
            return number
    raise AssertionError("nothing slept")


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


ALLOW, KILL, SUCCESS = 0x7FFF0000, 0x80000000, 0x00050000

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
        kinds = {
            each[column]: error
            for calls, error in (
                (seccomp.REFUSED, 0x00050000 | errno.EPERM),
                (seccomp.MISSING, 0x00050000 | errno.ENOSYS),
                (seccomp.ANSWERED, 0x00050000),
            )
            for each in calls.values()
        }
        some = {each[column] for _, each, *_ in seccomp.REFUSED_FOR}
        for number in range(seccomp.FIRST_UNKNOWN):
            if number in some:
                continue
            found = verdict(column, architecture, number)
            assert found == kinds.get(number, ALLOW), number

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
            ("fcntl", (3, 5), ALLOW),
            *[
                ("fcntl", (3, lock | high), SUCCESS)
                for lock in (6, 7, 37, 38)
                for high in (0, _HIGH)
            ],
            ("prctl", (15,), ALLOW),
            ("prctl", (22 | _HIGH,), error("EPERM")),
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
        every = [*seccomp.REFUSED.items(), *seccomp.MISSING.items(), *seccomp.ANSWERED.items()]
        every += [(one, each) for one, each, *_ in seccomp.REFUSED_FOR]
        for name, numbers in every:
            found = re.search(rf"#define (?:{'|'.join(prefixes)}){name}\s+(\d+)\n", text)
            if found:
                assert int(found[1]) == numbers[column], name
            else:
                assert numbers[column] == -1, name
