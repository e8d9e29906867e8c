"""Memory of a run counts wherever it hides, and the grader's own stays small."""

import errno
import json
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sandboxed_runs import FORGE, SOON, header, printed, ran_of, read, run

from course_grader.sandbox import sandbox
from course_tasks.runner.limits import MEGABYTE


@pytest.mark.sandbox
@pytest.mark.slow
class TestMemory:
    @pytest.mark.parametrize(
        "attack",
        [
            # What waits in sockets, of which each process may have its part: seven of them may not
            # have more files together than all may have.
            """
            import os, socket, time
            held = []
            for _ in range(7):
                if os.fork() == 0:
                    while True:
                        try:
                            held += socket.socketpair()
                        except OSError:
                            time.sleep(60)
                        for one in held[-2:]:
                            one.setblocking(False)
                            try:
                                while True: one.send(b"x" * 2**16)
                            except OSError: pass
            time.sleep(60)
            """,
            # Pieces of memory, each of which the kernel notes.
            """
            import ctypes, mmap, os, time
            protect = ctypes.CDLL(None).mprotect
            for _ in range(15):
                if os.fork() == 0:
                    room = mmap.mmap(-1, 2**28, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
                    at = ctypes.addressof(ctypes.c_char.from_buffer(room))
                    for n in range(32000):
                        protect(ctypes.c_void_p(at + n * 8192), 4096, 1)
                    time.sleep(60)
            time.sleep(60)
            """,
            # Files in memory and memory, each below the limit.
            """
            import time
            held = b"x" * (170 * 2**20)
            with open("/tmp/x", "wb") as file:
                for _ in range(170): file.write(held[:2**20])
            time.sleep(60)
            """,
        ],
        ids=["sockets", "mappings", "files"],
    )
    def test_memory_that_no_process_owns_counts(self, warm, attack):
        limits = replace(SOON, cell_seconds=40, total_seconds=60, file_megabytes=200)
        ran = run(warm, textwrap.dedent(attack), limits=limits)
        # Or the kernel's own bound was met first: on mappings, or of the run's control group.
        refused = b'"problem": "OSError"' in b"".join(step.header for step in ran.raw)
        assert "together took more than 256 MB of memory" in ran.ended or refused

    @pytest.mark.parametrize("call", ["vmsplice", "inotify_init1", "inotify_init", "fanotify_init"])
    def test_calls_that_hide_memory_are_refused(self, warm, call):
        source = f"""
        import ctypes
        print(ctypes.CDLL(None, use_errno=True).{call}(0, 0, 0, 0), ctypes.get_errno())
        """
        assert printed(run(warm, textwrap.dedent(source))) == f"-1 {errno.EPERM}\n"

    def test_open_files_of_all_processes_together_are_bounded(self, warm):
        many = """
        import os, time
        for _ in range(12):
            if os.fork() == 0:
                held = []
                try:
                    while True: held.append(os.pipe())
                except OSError:
                    time.sleep(60)
        time.sleep(60)
        """
        ran = run(warm, textwrap.dedent(many), limits=replace(SOON, memory_megabytes=1024))
        assert "opened more than" in ran.ended

    def test_honest_files_and_processes_are_within_the_bounds(self, warm):
        honest = """
        import asyncio, multiprocessing, subprocess, sys
        import matplotlib.pyplot as plt
        import torch
        asyncio.run(asyncio.sleep(0))
        with multiprocessing.get_context("fork").Pool(4) as pool:
            print(sum(pool.map(abs, range(-10, 10))))
        torch.save(torch.ones(1000, 1000), "/tmp/model.pt")
        plt.plot([1, 2]); plt.savefig("/tmp/figure.png")
        print(subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout)
        """
        ran = run(
            warm, textwrap.dedent(honest), limits=replace(SOON, cell_seconds=60, total_seconds=90)
        )
        assert (ran.ended, read(ran)[0].problem) == ("", "")

    def test_eight_runs_that_send_all_they_may_leave_the_graders_memory_small(self, tmp_path):
        """In a process of its own, whose largest size the kernel remembers."""
        code = f"""
        import json, re
        from pathlib import Path
        from concurrent.futures import ThreadPoolExecutor
        from course_tasks.runner.limits import Limits
        from course_grader.sandbox.sandbox import Sandbox
        from course_grader.sandbox.sanitize import SanitizedSubmission, Step
        source = {FORGE!r} + "\\nfor n in range(3): send(b'x' * 100, b'x' * (20 * 2**20))"
        steps = (Step("code", source), Step("code", "1"), Step("code", "2"))
        work = SanitizedSubmission(steps)
        def one(_):
            return sum(len(step.payload) for step in sandbox.run(work, {{}}, Limits()).raw)
        with Sandbox("warm") as sandbox, ThreadPoolExecutor(8) as threads:
            sizes = list(threads.map(one, range(8)))
        peak = int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
        print(json.dumps([sizes, peak // 1024]))
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
        sizes, peak = json.loads(done.stdout)
        assert sizes == [60 * MEGABYTE] * 8
        assert peak < 350


class TestRoomInMemory:
    def test_third_large_run_waits_for_one_of_the_two_before_it(self):
        size = sandbox.MOST_BYTES_IN_MEMORY + 1

        def made():
            with sandbox.in_memory(size) as held:
                ran = ran_of(header())
                held(ran)
                return ran

        kept = [made() for _ in range(sandbox.MOST_LARGE_RUNS)]
        with ThreadPoolExecutor(1) as thread:
            third = thread.submit(made)
            assert not third.done()
            kept.pop()
            assert third.result(timeout=20)
