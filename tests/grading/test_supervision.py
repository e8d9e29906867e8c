"""Whatever a run does to the processes that watch over it, the grader learns how it ended."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from sandboxed_runs import SOON, printed, read, run

from course_grader.errors import MachineError
from course_grader.sandbox import scratch
from course_grader.sandbox.sandbox import Sandbox


@pytest.mark.sandbox
@pytest.mark.slow
class TestSupervisor:
    def test_no_signal_and_no_closed_file_disturbs_it(self, warm):
        disturb = """
        import os, signal
        for number in sorted(signal.valid_signals()):
            for _ in range(3):
                try:
                    os.kill(os.getppid(), number)
                except OSError:
                    pass
        """
        ran = run(warm, textwrap.dedent(disturb), "'went on'")
        assert (ran.ended, ran.repeat) == ("", "")
        assert read(ran)[1].outputs[0]["data"]["text/plain"] == "'went on'"

    def test_run_that_closes_everything_is_ended_for_it(self, warm):
        close = "import os, time\nos.closerange(3, 256)\ntime.sleep(60)"
        ran = run(warm, "1", close)
        assert (ran.ended, ran.repeat) == ("it closed its connection to the grader", "")
        assert len(ran.raw) == 1

    def test_run_that_takes_every_process_is_watched_on(self, warm):
        bomb = """
        import os, signal, time
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # no interruption can end the cell in time
        while True:
            try:
                if os.fork() == 0:
                    time.sleep(60)
            except OSError:
                pass
        """
        ran = run(warm, textwrap.dedent(bomb), limits=replace(SOON, cell_seconds=1))
        assert "step 1 took more than 1 s" in ran.ended or "processes" in ran.ended
        assert "supervisor" not in ran.repeat

    def test_kill_that_the_sandbox_did_not_send_is_to_be_repeated(self, warm):
        ran = run(warm, "1", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        assert "SIGKILL, which the sandbox did not send" in ran.repeat
        assert run(warm, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)").repeat == ""

    @pytest.mark.parametrize("victim", ["zygote", "supervisor"])
    def test_loss_of_what_watches_over_a_run_is_to_be_repeated(self, victim):
        with Sandbox("warm") as sandbox, ThreadPoolExecutor(1) as thread:
            first = sandbox.started.number
            long = replace(SOON, cell_seconds=300, total_seconds=400)
            under_way = thread.submit(run, sandbox, "import time; time.sleep(300)", limits=long)
            chain = wait_for_chain(first)
            os.kill(chain[victim], signal.SIGKILL)
            ran = under_way.result(timeout=120)
            assert ran.repeat
            assert not ran.raw
            again = run(sandbox, "6 * 7")
            assert read(again)[0].outputs[0]["data"]["text/plain"] == "42"

    def test_machine_without_memory_ends_a_run_before_the_grader(self, warm):
        ran = run(warm, "print(open('/proc/self/oom_score_adj').read())")
        assert int(printed(ran)) > int(Path("/proc/self/oom_score_adj").read_text())

    def test_wall_that_cannot_be_put_up_is_the_machines_failure(self, monkeypatch):
        """A limit that the kernel refuses, in the runner itself, after all others were set."""
        with Sandbox("warm") as sandbox:
            code = sandbox.library / "course_tasks/runner/seccomp.py"
            text = code.read_text()
            code.write_text(text.replace("def install_seccomp_filter() -> None:", BROKEN_DOORS))
            sandbox.started.stop()
            with pytest.raises(MachineError, match=r"isolation failed: .*no filter today"):
                run(sandbox, "1")


BROKEN_DOORS = """def install_seccomp_filter() -> None:
    raise IsolationError(1, "no filter today")


def _install_seccomp_filter() -> None:"""


def wait_for_chain(started):
    """Process numbers of zygote, supervisor and runner below a started sandbox."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        chain, number = [started], started
        while children := children_of(number):
            number = children[0]
            chain.append(number)
        if len(chain) >= 3 and asleep_in_cells(chain[-1]):
            return dict(zip(("runner", "supervisor", "zygote"), chain[::-1], strict=False))
        time.sleep(0.05)
    raise AssertionError(f"no run came to its cells: {chain}")


def children_of(number):
    try:
        words = Path(f"/proc/{number}/task/{number}/children").read_text()
    except OSError:
        return []
    return [int(one) for one in words.split()]


def asleep_in_cells(number):
    """Whether a runner stands behind its filter of system calls."""
    try:
        return "Seccomp:\t2" in Path(f"/proc/{number}/status").read_text()
    except OSError:
        return False


@pytest.mark.sandbox
@pytest.mark.slow
class TestLeftOver:
    def test_folders_of_a_killed_grader_are_swept_by_the_next_and_those_of_a_living_one_are_not(
        self, tmp_path, monkeypatch
    ):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        code = """
        import time
        from course_grader.sandbox.sandbox import Sandbox
        with Sandbox("bare") as sandbox:
            print(sandbox.library, flush=True)
            time.sleep(600)
        """
        killed = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        with scratch.ScratchFolder("course-library-") as living:
            left = {Path(killed.stdout.readline().strip()), *tmp_path.iterdir()} - {living.path}
            assert len(left) == 2
            killed.kill()
            killed.wait()
            assert all(one.is_dir() for one in left)
            end = time.monotonic() + 30  # its forking process may still write there, as it ends
            while any(one.exists() for one in left) and time.monotonic() < end:
                for prefix in ("course-library-", "course-sandbox-"):
                    with scratch.ScratchFolder(prefix):
                        pass
            assert not any(one.exists() for one in left)
            assert living.path.is_dir()
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("room", [0, 2**40])
    def test_small_folder_stands_in_memory_where_that_has_room(self, room, monkeypatch):
        said = os.statvfs("/")
        free = SimpleNamespace(f_bavail=room // said.f_frsize, f_frsize=said.f_frsize)
        monkeypatch.setattr("os.statvfs", lambda _: free)
        with scratch.ScratchFolder("course-test-", small=True) as folder:
            in_memory = folder.path.parent == Path("/dev/shm")
            assert in_memory is (room > 0 and os.access("/dev/shm", os.W_OK))
        assert not folder.path.exists()
