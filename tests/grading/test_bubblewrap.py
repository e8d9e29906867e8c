"""What a submission finds of the machine, the kernel and its neighbours: nothing to use."""

import errno
import os
import shutil
from pathlib import Path

import pytest
from walled_runs import LIMITS, ask, run

from course_grader.errors import SandboxUnavailableError
from course_grader.sandbox import starting
from course_grader.sandbox.sandbox import Sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

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


@pytest.mark.parametrize("signal", [2, 9, 15])
def test_signal_to_its_group_ends_only_the_run(sandbox, signal):
    ran, steps = run(sandbox, f"import os, time\nos.kill(0, {signal})\ntime.sleep(5)")
    if signal == 2:
        assert steps[0].problem == "interrupted"
    else:
        assert "by SIG" in ran.ended, ran


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


def test_missing_bubblewrap_leaves_nothing_open_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(SandboxUnavailableError, match="apt-get install bubblewrap"):
        starting.StartedSandbox(tmp_path, "warm")
    assert len(os.listdir("/proc/self/fd")) == before
    assert not list(tmp_path.iterdir())


def test_command_of_an_ordinary_user_is_bubblewraps_own(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    command = starting.start_command(tmp_path, "warm", ["python"])
    assert Path(command[0]).name == "bwrap"
    assert shutil.which("bwrap") == command[0]
    assert command[-2:] == ["--", "python"]
