"""Whatever a process can make the kernel keep for it is refused, counted, or stays small."""

import textwrap
from dataclasses import replace

import pytest
from sandboxed_runs import SOON, printed, run

from course_tasks.runner.limits import MEGABYTE, Limits

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

# Of each kind of object: how one more is made, how often that is tried, and about how many bytes
# the kernel takes for one. A new kind belongs here.
KINDS = {
    "record locks": ("fcntl.lockf(held, fcntl.LOCK_SH, 1, 2 * number)", 20_000, 200),
    "locks of open files": ("fcntl.fcntl(held, 37, lock(2 * number, 1))", 20_000, 200),
    "rules of Landlock": ("must(libc.syscall(444, ctypes.byref(word), 8, 0))", 200, 10**6),
    "filters of system calls": ("must(libc.prctl(22, 2, ctypes.byref(program), 0, 0))", 50, 10**6),
    "timers": ("must(libc.timer_create(1, None, ctypes.byref(word)))", 20_000, 500),
    "signals that wait": ("os.kill(os.getpid(), signal.SIGRTMIN + 1)", 20_000, 100),
    "files to watch": ("watching[number // 90].register(number % 90 + 100)", 9_000, 300),
    "attributes of files": ("os.setxattr('held', f'user.{number}', bytes(30_000))", 5_000, 30_000),
    "names in folders": ("os.link('held', f'{number}-' + 'x' * 200)", 40_000, 800),
    "open files": ("kept.append(os.open('/dev/null', 0))", 20_000, 500),
    "processes that have ended": ("os.fork() or os._exit(0)", 2_000, 10_000),
    "futexes of a process": ("must(libc.prctl(78, 1, 2 ** 20, 0, 0))", 5, 64 * 2**20),
}

GROW = """
import ctypes, fcntl, os, select, signal, struct
libc = ctypes.CDLL(None, use_errno=True)
word = ctypes.c_uint64(1)
code = (ctypes.c_uint64 * 4000)(*[0x7FFF000000000006] * 4000)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
program = Program(4000, ctypes.addressof(code))
held, kept = open("held", "w+"), []
watching = [select.epoll() for _ in range(100)]
for number in range(100, 190):
    os.dup2(os.pipe()[0] if number == 100 else 100, number)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN + 1])
def must(answer):
    if answer < 0:
        raise OSError(ctypes.get_errno(), "refused")
def lock(start, length, kind=fcntl.F_RDLCK):
    return struct.pack("hhqqi4x", kind, 0, start, length, 0)
taken = 0
try:
    for number in range(TIMES):
        ONE_MORE
        taken += 1
except OSError:
    pass
def met():
    # If no other process meets a lock, it was answered and is not kept.
    reader, writer = os.pipe()
    if os.fork() == 0:
        with open("held", "r+") as same:
            found = fcntl.fcntl(same, fcntl.F_GETLK, lock(0, 0, fcntl.F_WRLCK))
        os.write(writer, b"no" if found == lock(0, 0, fcntl.F_UNLCK) else b"yes")
        os._exit(0)
    return os.read(reader, 3) == b"yes"
print(0 if "lock" in KIND and not met() else taken)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_kernel_keeps_for_a_process_stays_small(warm, kind):
    one_more, times, size = KINDS[kind]
    cell = GROW.replace("ONE_MORE", one_more).replace("TIMES", str(times))
    cell = cell.replace("KIND", repr(kind))
    ran = run(warm, cell, limits=replace(SOON, cell_seconds=60, total_seconds=90))
    assert "more than" in ran.ended or int(printed(ran)) * size < 40 * MEGABYTE


def test_dozens_of_large_pictures_leave_room_for_what_comes_after_them(warm):
    picture = r"""
    import os, zlib
    from IPython.display import Image, display
    def part(kind, data):
        check = zlib.crc32(kind + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + kind + data + check
    drawn = os.urandom(1_900_000)
    head = bytes.fromhex("000003e8 000003e8 08 02 000000")
    display(Image(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", drawn)))
    """
    ran = run(warm, *[textwrap.dedent(picture)] * 40, "print('after them')", limits=Limits())
    assert ran.ended == ""
    assert b"after them" in ran.raw[-1].header
    shown = [b"image/png" in step.header for step in ran.raw]
    assert 8 <= sum(shown) < 40
    assert shown == sorted(shown, reverse=True)
