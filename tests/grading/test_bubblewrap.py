"""What a submission finds of the machine, the kernel and its neighbours: nothing to use."""

import contextlib
import ctypes
import errno
import itertools
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

import course_lib
from course_grader.errors import SandboxUnavailableError
from course_grader.sandbox import bubblewrap, starting, unprivileged
from course_grader.sandbox.protocol import read_steps
from course_grader.sandbox.sandbox import Sandbox
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_tasks.runner import seccomp
from course_tasks.runner.limits import Limits

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has something to give up")

LIMITS = Limits(
    cell_seconds=20, total_seconds=40, memory_megabytes=256, processes=32, file_megabytes=32
)

# Prints, as JSON, whatever the cell's function `found` returns, or the error that stopped it.
REPORT = """
import json
def report(ask):
    try:
        return ask()
    except OSError as error:
        return error.strerror
print(json.dumps(report(found)))
"""


@pytest.fixture(scope="module", params=["warm", "cold"])
def sandbox(request, started):
    return started(request.param)


def run(sandbox, *cells, limits=LIMITS):
    """A run of these cells, and what each of them left."""
    work = SanitizedSubmission(tuple(Step("code", cell) for cell in cells))
    ran = sandbox.run(work, {}, limits)
    steps, odd = read_steps(ran, work, limits)
    assert not odd
    return ran, steps


def ask(sandbox, *cells, limits=LIMITS):
    """What the function `found` of each cell returned; all of them run in one run."""
    ran, steps = run(sandbox, *(cell + REPORT for cell in cells), limits=limits)
    said = ["".join(one.get("text", str(one)) for one in step.outputs) for step in steps]
    assert len(said) == len(cells), ran.ended or ran.repeat
    return [json.loads(words) for words in said]


PROCESSES = """
import os
def found():
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit()), os.getpid()
"""

WRITABLE = """
import os
def found():
    writable = []
    for folder, folders, files in os.walk("/proc"):
        folders[:] = [one for one in folders if one not in ("task", "fd", "fdinfo", "map_files")]
        for name in files:
            try:
                os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK))
                writable.append(os.path.join(folder, name))
            except OSError:
                pass
    return writable
"""

READABLE = """
import os
def found():
    readable = []
    for one in os.scandir("/proc"):
        if one.name.isdigit() or one.is_symlink():
            continue
        if one.is_dir():
            readable += [f"{one.name}/{name}" for name in os.listdir(one)]
            continue
        try:
            with open(one.path, "rb") as file:
                file.read(1)
            readable.append(one.name)
        except OSError:
            pass
    return sorted(readable)
"""

DEVICES = """
import os
def found():
    return sorted(os.listdir("/dev")), sorted(os.listdir("/sys")) if os.path.exists("/sys") else []
"""

TERMINAL = """
import os
def found():
    return os.openpty()
"""

SHARED_FOLDER = """
import multiprocessing, os
def found():
    with multiprocessing.Lock():
        return multiprocessing.Value("i", 42).value, os.stat("/dev/shm").st_mode & 0o777
"""

FULL = """
import os
def found():
    written = 0
    try:
        for place in ("/tmp", "/dev/shm", os.environ["HOME"]) * 3:
            with open(f"{place}/{written}", "wb") as file:
                for _ in range(16):
                    file.write(b"x" * 2**20)
                    file.flush()
                    written += 1
    except OSError:
        pass
    return written
"""

HONEST_READS = """
import os, platform, torch
def found():
    memory = [line for line in open("/proc/meminfo") if line.startswith("MemTotal")]
    return [len(memory), os.cpu_count() > 0, "processor" in open("/proc/cpuinfo").read(),
            bool(platform.platform()), os.getloadavg()[0] >= 0, os.path.exists("/proc/self/maps"),
            torch.get_num_threads(), open("/proc/net/sockstat").read().startswith("sockets:")]
"""


def test_run_finds_no_kernel_setting_no_neighbour_and_no_terminal(sandbox):
    processes, writable, readable, devices, terminal, shared, full, honest = ask(
        sandbox,
        *(PROCESSES, WRITABLE, READABLE, DEVICES, TERMINAL, SHARED_FOLDER, FULL, HONEST_READS),
    )
    assert processes == [[1, 2], 2]
    assert writable == []
    assert set(readable) <= {
        *("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version", "vmstat")
    }
    assert devices == [
        ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom"],
        [],
    ]
    assert terminal == os.strerror(errno.ENOENT)
    assert shared == [42, 0o700]
    assert LIMITS.file_megabytes - 4 <= full <= LIMITS.file_megabytes
    assert honest == [1, True, True, True, True, True, 1, True]


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


@pytest.mark.parametrize("signal", [2, 9, 15])
def test_signal_to_its_group_ends_only_the_run(sandbox, signal):
    ran, steps = run(sandbox, f"import os, time\nos.kill(0, {signal})\ntime.sleep(5)")
    assert "by SIG" in ran.ended if signal != 2 else steps[0].problem == "interrupted"


@pytest.mark.parametrize("form", ["warm", "cold"])
def test_processes_are_bounded_by_the_kernel_itself(form):
    """For root the kernel bounds nothing: here root has been given up."""
    forks = """
import os, time
def found():
    started = []
    try:
        for _ in range(200):
            number = os.fork()
            if number == 0:
                time.sleep(30)
            started.append(number)
    except BlockingIOError:
        pass
    for number in started:
        os.kill(number, 9)
        os.waitpid(number, 0)
    return len(started)
"""
    with Sandbox(form) as sandbox:
        (started,) = ask(sandbox, forks)
    assert started < LIMITS.processes


# The user that a sandbox runs as, seen from outside


@contextlib.contextmanager
def sleeping(sandbox):
    """The status of a process of a submission, from the kernel, while it runs."""
    mark = f"19.{int.from_bytes(os.urandom(5), 'big')}"
    work = SanitizedSubmission(
        (Step("code", f"import subprocess; subprocess.run(['sleep', '{mark}'])"),)
    )
    run = threading.Thread(target=sandbox.run, args=(work, {}, LIMITS))
    run.start()
    number = 0
    try:
        while run.is_alive() and not number:
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    if path.read_bytes() == f"sleep\0{mark}\0".encode():
                        number = int(path.parent.name)
            time.sleep(0.01)
        assert number, "no process of the submission was seen"
        yield number
    finally:
        if number:
            os.kill(number, 9)
        run.join()


def status(number):
    lines = Path(f"/proc/{number}/status").read_text(encoding="utf-8").splitlines()
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}


def test_submission_is_no_root_outside_and_cannot_become_it(sandbox):
    with sleeping(sandbox) as number:
        seen = status(number)
        starter = status(_ancestor(number, "bwrap"))
    assert "0" not in seen["Uid"] + seen["Gid"] + seen["Groups"]
    assert (seen["NoNewPrivs"], seen["Seccomp"]) == (["1"], ["2"])
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(seen[kind][0], 16) == 0, kind
    assert starter["Uid"] == seen["Uid"]
    if os.geteuid() == 0:
        assert int(seen["Uid"][0]) in range(61184, 65520)
        assert starter["Groups"] == []
        assert int(starter["CapBnd"][0], 16) == 0


def _ancestor(number, name):
    """The outermost process of that name above one."""
    found = 0
    while number > 1:
        lines = status(number)
        if lines["Name"] == [name]:
            found = number
        number = int(lines["PPid"][0])
    assert found, f"nothing named {name} is above"
    return found


@as_root
def test_two_sandboxes_of_root_are_two_users():
    numbers = {unprivileged.free_number("uid_map", unprivileged.users_here()) for _ in range(20)}
    assert len(numbers) > 10
    assert numbers <= set(range(61184, 65520))


@pytest.mark.parametrize(
    ("mapped", "taken", "expected"),
    [
        ([range(0, 2**32 - 1)], set(range(61184, 65519)), 65519),
        ([range(0, 1), range(1, 65536)], set(range(61184, 65536)), 61183),
        ([range(0, 1), range(100, 102)], {101}, 100),
        ([range(0, 5)], {1, 2, 4}, 3),
    ],
    ids=["one is left", "the range is taken", "rootless", "few"],
)
def test_user_belongs_to_nobody_and_exists_in_the_namespace(mapped, taken, expected):
    assert unprivileged.choose(mapped, taken) == expected


@pytest.mark.parametrize("mapped", [[range(0, 1)], [range(0, 3)]], ids=["only root", "all taken"])
def test_root_that_is_alone_is_told_what_to_do(mapped):
    with pytest.raises(unprivileged.StillRootError, match=r"subuid.*ordinary user"):
        unprivileged.choose(mapped, {1, 2})


@as_root
class TestRoot:
    """In namespaces of their own, where root is as poor as it can be."""

    def start(self, *wrapped):
        """What a sandbox says that is started in such surroundings, or nothing."""
        program = (
            "from course_grader.sandbox.sandbox import Sandbox\n"
            "with Sandbox('warm'): print('started')"
        )
        done = subprocess.run(
            [*wrapped, sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(course_lib.__file__).parents[1])},
        )
        return done.stdout + done.stderr

    def test_alone_in_its_user_namespace_is_refused_with_the_remedy(self):
        said = self.start("unshare", "--user", "--map-root-user")
        assert "has no user but root" in said
        assert "subuid" in said

    def test_that_may_not_change_its_user_is_refused_with_the_remedy(self):
        said = self.start("setpriv", "--bounding-set", "-setuid,-setgid")
        assert "SETUID and SETGID" in said

    def test_that_may_not_mount_starts_what_everybody_can_read_and_names_what_not(self):
        said = self.start("setpriv", "--bounding-set", "-sys_admin")
        readable = all(
            path.stat().st_mode & 0o5 == 0o5
            for prefix in (sys.prefix, sys.base_prefix)
            for path in (Path(prefix).resolve(), *Path(prefix).resolve().parents)
        )
        assert "started" in said if readable else "is out of reach for anybody but root" in said

    def test_that_is_forbidden_to_mount_by_its_container_leaves_sources_where_they_are(self):
        class Forbidding:
            def unshare(self, flags):
                return 0

            def mount(self, *given):
                ctypes.set_errno(errno.EACCES)
                return -1

        given = ["--ro-bind", "/usr", "/usr", "--", "python"]
        assert unprivileged.stage(Forbidding(), given) == given

    @pytest.mark.parametrize("mask", ["022", "077"])
    def test_starts_whatever_rights_root_gives_to_new_files(self, mask):
        assert self.start("sh", "-c", f'umask {mask}; exec "$@"', "sh") == "started\n"

    def test_nothing_of_the_stage_is_seen_outside(self):
        with Sandbox("warm") as sandbox:
            outside = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
            inside = Path(f"/proc/{sandbox.started.number}/ns/mnt").readlink()
            assert inside != Path("/proc/self/ns/mnt").readlink()
        assert not re.search(r" /tmp/\d+ ", outside)


def test_copied_code_can_be_read_by_whoever_the_sandbox_runs_as(tmp_path):
    target = tmp_path / "copy"
    target.mkdir(mode=0o700)
    kept = os.umask(0o077)
    try:
        bubblewrap.copy_library(target)
    finally:
        os.umask(kept)
    for path in (target, *target.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644), path


def test_missing_bubblewrap_leaves_nothing_open_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(SandboxUnavailableError, match="apt-get install bubblewrap"):
        starting.StartedSandbox(tmp_path, "warm")
    assert len(os.listdir("/proc/self/fd")) == before
    assert not list(tmp_path.iterdir())


# Shows an environment that only root may read to another user, in mounts of this process alone.
SHOW = """
set -e
stage=$(mktemp -d)
mount -t tmpfs tmpfs "$stage"
number=0
for place in $PLACES; do
    mkdir "$stage/$number"; mount --rbind "$place" "$stage/$number"; number=$((number + 1))
done
for folder in $HIDDEN; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
number=0
for place in $PLACES; do
    mkdir -p "$place"; mount --rbind "$stage/$number" "$place"; number=$((number + 1))
done
umount -l "$stage"; rmdir "$stage"
exec setpriv --reuid 61000 --regid 61000 --clear-groups --inh-caps=-all "$@"
"""


@as_root
@pytest.mark.parametrize("form", ["warm", "cold"])
def test_ordinary_user_has_every_wall_too(form):
    course = Path(course_lib.__file__).parents[1]
    places = {Path(each).resolve() for each in (sys.prefix, sys.base_prefix, course)}
    hidden = {
        above for place in places for above in place.parents if above.stat().st_mode & 0o5 != 0o5
    }
    covered = {place for place in places if any(place.is_relative_to(each) for each in hidden)}
    program = (
        "import os; from pathlib import Path\n"
        "from course_grader.sandbox import selftest\n"
        "from course_grader.sandbox.sandbox import Sandbox\n"
        f"with Sandbox('{form}') as one: walls = selftest.prove(one, Path.home())\n"
        "print(os.getuid(), [wall for wall in walls if not wall.holds])\n"
    )
    with tempfile.TemporaryDirectory(dir="/var/tmp") as home:
        os.chown(home, 61000, 61000)
        done = subprocess.run(
            [
                *("unshare", "--mount", "sh", "-c", SHOW, "sh"),
                *("env", f"HOME={home}", f"TMPDIR={home}", f"PYTHONPATH={course}"),
                *(sys.executable, "-c", program),
            ],
            cwd="/",
            env=os.environ
            | {
                "PLACES": " ".join(map(str, sorted(covered))),
                "HIDDEN": " ".join(map(str, sorted(hidden))),
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout.strip() == "61000 []", done.stderr


# The filter itself, by a machine like the kernel's


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


def test_command_of_an_ordinary_user_is_bubblewraps_own(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    command = starting.start_command(tmp_path, "warm", ["python"])
    assert Path(command[0]).name == "bwrap"
    assert shutil.which("bwrap") == command[0]
    assert command[-2:] == ["--", "python"]
