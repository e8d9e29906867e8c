"""Whatever a run does to its clock, its supervisor, its neighbours or the machine's memory."""

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from course_grader.assignment import Check
from course_grader.errors import MachineError
from course_grader.sandbox import sandbox, scratch
from course_grader.sandbox.cores import Cores
from course_grader.sandbox.protocol import (
    MOST_OUTPUTS_OF_A_RUN,
    RawStep,
    RunResult,
    most_header_bytes,
    read_steps,
)
from course_grader.sandbox.sandbox import Sandbox
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_tasks.runner.limits import MEGABYTE, Limits
from course_tasks.runner.outputs import MOST_OUTPUTS_OF_A_CELL, PICTURE
from course_tasks.runner.processor_time import Moment, ProcessorTime, ThreadTimes, Timer

SOON = Limits(
    cell_seconds=10, total_seconds=30, memory_megabytes=256, processes=48, file_megabytes=64
)

# What student code needs to write to the grader as the runner does.
FORGE = """
import json, os, stat, struct
def is_socket(n):
    try:
        return stat.S_ISSOCK(os.fstat(n).st_mode)
    except OSError:
        return False
wire = next(n for n in range(3, 256) if is_socket(n))
def send(header, payload=b""):
    words = header if isinstance(header, bytes) else json.dumps(header).encode()
    left = memoryview(struct.pack("!II", len(words), len(payload)) + words + payload)
    while left:
        left = left[os.write(wire, left):]
"""


def work(*cells):
    return SanitizedSubmission(tuple(Step("code", cell) for cell in cells))


def run(sandbox, *cells, limits=SOON, times=4):
    """Run cells, and again, as if alone, where other programs kept this machine busy."""
    for number in range(times):
        ran = sandbox.run(work(*cells), {}, limits, alone=number > 0)
        if "held the processor" not in ran.repeat:
            break
    return ran


def read(ran, *cells, limits=SOON):
    steps, odd = read_steps(ran, work(*cells or ("",) * len(ran.raw)), limits)
    assert not odd, odd
    return steps


def printed(ran, number=0):
    outputs = read(ran)[number].outputs
    return "".join(one["text"] for one in outputs if one["output_type"] == "stream")


def header(number=0, outputs=(), problem="", **more):
    return json.dumps(
        {"step": number, "outputs": list(outputs), "problem": problem, **more}
    ).encode()


def ran_of(*headers, payload=b""):
    return RunResult(tuple(RawStep(one, payload, 0.5) for one in headers), "", 1.0)


def stream(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


class TestReading:
    def test_what_a_runner_sends_is_read_with_the_seconds_that_the_grader_measured(self):
        picture = {PICTURE: "AAAA", "text/plain": "<Figure>"}
        outputs = [
            stream("hello\n"),
            {"output_type": "display_data", "data": picture, "metadata": {}},
            {
                "output_type": "execute_result",
                "data": {"text/plain": "42"},
                "metadata": {},
                "execution_count": 3,
            },
            {"output_type": "error", "ename": "E", "evalue": "why", "traceback": ["a", "b"]},
        ]
        check = Step("check", "", "c", Check(0, "c", "", 2.0, "01/mean", "mean"))
        ran = RunResult(
            (RawStep(header(0, outputs, "E"), b"", 0.5), RawStep(header(1), b"data", 0.25)), "", 1
        )
        steps, odd = read_steps(
            ran, SanitizedSubmission((Step("code", "x"), Step("text", "y"), check)), SOON
        )
        assert odd == ""
        assert (steps[0].outputs, steps[0].problem, steps[0].seconds) == (outputs, "E", 0.5)
        assert (steps[1].answers, steps[1].seconds) == (b"data", 0.25)

    @pytest.mark.parametrize(
        "sent",
        [
            b"",
            b"\xff\xfe",
            b"null",
            b"[]",
            b"{",
            b"[" * 10**5,
            b'{"a":' * 10**5,
            b'{"step":0,"outputs":[' + b"{}," * 10**6 + b'{}],"problem":""}',
            b'{"step":0,"outputs":[' + b"[]," * 10**6 + b'[]],"problem":""}',
            b'{"step":0,"outputs":[' + b"0," * 10**6 + b'0],"problem":""}',
            b'{"step":' + b"9" * 400 + b',"outputs":[],"problem":""}',
            b'{"step":' + b"9" * 100_000 + b',"outputs":[],"problem":""}',
            b'{"step":1e400,"outputs":[],"problem":""}',
            b'{"step":0.0,"outputs":[],"problem":""}',
            b'{"step":NaN,"outputs":[],"problem":""}',
            b'{"step":-Infinity,"outputs":[],"problem":""}',
            b'{"step":false,"outputs":[],"problem":""}',
            b'{"step":0,"step":0,"outputs":[],"problem":""}',
            b'{"step":0,"outputs":[],"problem":"","seconds":1}',
            b'{"step":0,"outputs":[],"problem":null}',
            b'{"step":0,"outputs":{},"problem":""}',
            header(1),
            header(problem="x" * 1001),
            header(outputs=[stream("x")] * (MOST_OUTPUTS_OF_A_CELL + 2)),
            header(outputs=[stream("x" * (SOON.output_kilobytes * 1024 + 10**6))]),
            header(outputs=[stream(["x"])]),
            header(outputs=[{**stream("x"), "name": "log"}]),
            header(outputs=[{**stream("x"), "more": 1}]),
            header(outputs=[{"output_type": "update"}]),
            header(outputs=[{"output_type": ["stream"]}]),
            header(
                outputs=[{"output_type": "error", "ename": "E", "evalue": "", "traceback": "x"}]
            ),
            header(outputs=[{"output_type": "error", "ename": 1, "evalue": "", "traceback": []}]),
            header(
                outputs=[
                    {"output_type": "display_data", "data": {"text/javascript": ""}, "metadata": {}}
                ]
            ),
            header(
                outputs=[{"output_type": "display_data", "data": {"text/plain": 1}, "metadata": {}}]
            ),
            header(outputs=[{"output_type": "display_data", "data": {}, "metadata": {"a": 1}}]),
            header(
                outputs=[
                    {
                        "output_type": "display_data",
                        "data": {PICTURE: "A" * (SOON.picture_kilobytes * 1024 * 4 // 3 + 8)},
                        "metadata": {},
                    }
                ]
            ),
            header(
                outputs=[
                    {
                        "output_type": "execute_result",
                        "data": {},
                        "metadata": {},
                        "execution_count": "1",
                    }
                ]
            ),
            b" " * (most_header_bytes(SOON) + 1),
        ],
    )
    def test_anything_else_is_said_in_words_after_what_came_before(self, sent):
        good = header(0, [stream("first")])
        assert read_steps(ran_of(sent), work("1"), SOON)[0] == ()
        renumbered = sent.replace(b'"step":0', b'"step":1').replace(b'"step": 0', b'"step": 1')
        steps, odd = read_steps(ran_of(good, renumbered), work("1", "2"), SOON)
        if sent == header(1):
            assert (len(steps), odd) == (2, "")
        else:
            assert [one.outputs for one in steps] == [[stream("first")]]
            assert odd.startswith("result 2 of the run")

    def test_halves_of_characters_and_zeros_become_what_files_can_hold(self):
        (step,) = read(ran_of(header(outputs=[stream("a\ud800b\0c")], problem="\udfff\0")))
        step.outputs[0]["text"].encode()
        assert step.outputs == [stream("a?b\ufffdc")]
        assert step.problem == "?\ufffd"

    def test_cell_has_no_answers_and_no_more_results_come_than_steps(self):
        steps, odd = read_steps(ran_of(header(), payload=b"x"), work("1"), SOON)
        assert (steps, odd) == ((), "result 1 of the run is none: a cell has answers")
        steps, odd = read_steps(ran_of(header(), header(1)), work("1"), SOON)
        assert "more results than steps" in odd

    def test_outputs_of_all_cells_together_are_bounded(self):
        many = MOST_OUTPUTS_OF_A_RUN // MOST_OUTPUTS_OF_A_CELL
        each = [stream("")] * MOST_OUTPUTS_OF_A_CELL
        ran = ran_of(*[header(number, each) for number in range(many + 1)])
        steps, odd = read_steps(ran, work(*["1"] * (many + 1)), SOON)
        assert len(steps) == many
        assert f"more than {MOST_OUTPUTS_OF_A_RUN} outputs" in odd

    def test_header_of_many_empty_parts_takes_little_memory(self):
        sent = b'{"step":0,"problem":"","outputs":[' + b"{}," * (most_header_bytes(SOON) // 3 - 30)
        tracemalloc.start()
        try:
            read_steps(ran_of(sent + b"{}]}"), work("1"), SOON)
            assert tracemalloc.get_traced_memory()[1] < 20 * MEGABYTE
        finally:
            tracemalloc.stop()


@pytest.mark.sandbox
@pytest.mark.slow
class TestClock:
    def test_cell_cannot_reset_its_own_clock(self, warm):
        """It writes to whatever pipe and socket it finds, as if another step had started."""
        again = """
        import os, threading, time
        def tell():
            while True:
                time.sleep(0.05)
                for n in range(3, 64):
                    if not is_socket(n):
                        try:
                            os.write(n, (0).to_bytes(4, "big"))
                        except OSError:
                            pass
        threading.Thread(target=tell, daemon=True).start()
        while True: pass
        """
        source = FORGE + textwrap.dedent(again)
        ran = run(warm, source, "1", limits=replace(SOON, cell_seconds=1, total_seconds=20))
        interrupted = [step.problem for step in read(ran, source, "1")] == ["interrupted", ""]
        # Its two threads share one core; on a busy machine it may not stop in time.
        assert interrupted or "step 1 took more than 1 s" in ran.ended, ran

    def test_results_sent_early_use_up_the_steps_that_they_are_sent_for(self, warm):
        early = FORGE + textwrap.dedent(
            """
            import time
            for number in range(3):
                send({"step": number, "outputs": [], "problem": ""})
            while True: pass
            """
        )
        ran = run(warm, early, "1", "2", limits=replace(SOON, cell_seconds=1))
        assert (len(ran.raw), ran.ended, ran.repeat) == (3, "", "")

    def test_seconds_of_a_step_are_the_graders(self, warm):
        """Whatever the runner's own clock says."""
        ran = run(warm, "import time; time.time = time.monotonic = lambda: 0.0", "time.sleep(0.5)")
        assert [step.seconds for step in ran.raw] == [step.seconds for step in read(ran)]
        assert 0.5 <= ran.raw[1].seconds < ran.seconds

    def test_time_spent_waiting_for_others_is_told_from_sleep_and_from_own_loops(self):
        def waited(used, threads, unseen=0):
            """Of two seconds, by what the threads of a run used and waited in them."""
            times = {number: ThreadTimes(*one, 9, ready=False) for number, one in threads.items()}
            counted = ProcessorTime(Moment(0.0, 0.0, 0, {}, 1), 0.1)
            counted.count(Moment(2.0, used, 1, times, 1 + len(times) + unseen))
            return pytest.approx(counted.waited)

        assert waited(0.5, {1: (0.5, 1.5)}) == 1.5  # others had the processor
        assert waited(0.5, {1: (0.5, 0.0)}) == 0.0  # it slept
        assert waited(2.0, dict.fromkeys(range(20), (0.1, 1.9))) == 0.0  # it waited for itself
        assert waited(1.0, dict.fromkeys(range(20), (0.05, 1.95))) == 1.0  # half of each
        # What waited had short-lived children of its own run before it, which somebody counted,
        assert waited(1.9, {1: (0.1, 1.9)}) == pytest.approx(0.1, abs=0.03)
        # or, if their parent takes no leave of them, nobody.
        assert waited(0.1, {1: (0.1, 1.9)}, unseen=20) == 0.0

    def test_waiting_counts_before_the_kernel_adds_it_up(self):
        """Which it does only when a thread has its next turn."""

        def moment(at, waited=0.0, turns=1, *, ready=True):
            threads = {1: ThreadTimes(0.1, waited, turns, ready=ready)}
            return Moment(at, 0.1, 1, threads, 1)

        counted = ProcessorTime(moment(0.0), 0.1)
        for tenth in range(1, 51):
            counted.count(moment(tenth / 10))
        assert (counted.waited, counted.ready) == (pytest.approx(5), pytest.approx(5))
        counted.count(moment(5.1, 5.1, 2, ready=False))  # it had its turn, and sleeps
        assert counted.waited == pytest.approx(5.1)
        counted.count(moment(7.1, 5.1, 2, ready=False))
        assert counted.waited == pytest.approx(5.1)

    def test_run_that_crowds_its_own_core_is_not_kept_from_it_by_others(self):
        """Of ten seconds, threads that were ready got one; the limit is two."""

        def timer(count, *, alone=False):
            threads = {
                number: ThreadTimes(1 / count, 9.5, 5, ready=True) for number in range(count)
            }
            before = dict.fromkeys(threads, ThreadTimes(0.0, 0.0, 1, ready=True))
            counted = ProcessorTime(Moment(0.0, 0.0, count, before, count), 0.1)
            made = Timer(2.0, counted, 0.0, alone=alone)
            counted.count(Moment(10.0, 1.0, count, threads, count))
            return counted, made

        for few in (1, 4, 8):
            counted, alone = timer(few, alone=True)
            assert not alone.over()
            assert alone.starved()
            counted.count(replace(counted.last, at=19.0))
            assert not alone.over()
            counted.count(replace(counted.last, at=31.0))
            assert alone.over()
            counted, beside = timer(few)
            counted.count(replace(counted.last, at=19.0))
            assert beside.over()
            assert beside.starved()
        _, many = timer(20)
        assert many.over()
        assert not many.starved()

    def test_run_alone_does_not_stand_back(self, warm):
        """Nobody else of the grader's wants the processor then."""
        nice = "print(open('/proc/self/stat').read().rpartition(')')[2].split()[16])"
        ours = os.nice(0)
        assert int(printed(warm.run(work(nice), {}, SOON))) > ours
        assert int(printed(warm.run(work(nice), {}, SOON, alone=True))) == ours

    def test_run_beside_a_hog_on_its_core_loses_nothing_and_the_hog_is_interrupted(self, warm):
        """Forty loops on one core."""
        core = min(os.sched_getaffinity(0))
        hogs = """
        import os
        for _ in range(40):
            if os.fork() == 0: break
        while True:
            try:
                while True: pass
            except BaseException: pass
        """
        honest = "import time\nwhile time.process_time() < 1.5: pass\nprint('done')"
        few = replace(SOON, cell_seconds=2, total_seconds=60, processes=64, memory_megabytes=1024)
        more = replace(few, cell_seconds=10)

        class OneCore(Cores):
            def choose(self):
                return core, None

        before, warm.cores = warm.cores, OneCore()
        try:
            with ThreadPoolExecutor(2) as threads:
                hog = threads.submit(run, warm, textwrap.dedent(hogs), limits=more)
                wait_for_children(warm, 20)
                starved = threads.submit(run, warm, honest, limits=few).result()
                looped = hog.result()
            alone = run(warm, honest, limits=few)
        finally:
            warm.cores = before
        # By the wall's clock alone it would have been interrupted.
        assert (starved.repeat, printed(starved)) == ("", "done\n")
        assert starved.raw[0].seconds > few.cell_seconds
        assert looped.repeat == ""
        assert (
            "step 1 took more than 10 s" in looped.ended or b"interrupted" in looped.raw[0].header
        )
        assert (alone.repeat, printed(alone)) == ("", "done\n")

    def test_runs_have_a_core_each_until_there_are_no_more(self, monkeypatch):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 7})
        monkeypatch.setattr("course_grader.sandbox.cores.SIGN", f"course-test-{os.getpid()}-")
        mine, others = Cores(), Cores()
        with mine.one() as first, mine.one() as second:
            assert {first, second} == {3, 7}
            with mine.one() as third:
                assert third in {3, 7}
        with mine.one() as first, others.one() as second:  # another grader of this machine
            assert {first, second} == {3, 7}

    def test_runner_stays_on_its_core(self, warm):
        ran = run(warm, "import os; print(len(os.sched_getaffinity(0)))")
        assert printed(ran) == "1\n"


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
        import os, time
        while True:
            try:
                while True:  # inside of `try`: an interruption comes at the end of a round, too
                    if os.fork() == 0:
                        time.sleep(60)
            except BaseException:
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


def wait_for_children(sandbox, count):
    """Until the runs of a sandbox have so many processes."""
    process, end = psutil.Process(sandbox.started.number), time.monotonic() + 120
    while len(process.children(recursive=True)) < count and time.monotonic() < end:
        time.sleep(0.05)


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
class TestMemory:
    @pytest.mark.parametrize(
        "attack",
        [
            # What waits in sockets, of which each process may have its part.
            """
            import os, socket, time
            held = []
            for _ in range(25):
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


@pytest.mark.sandbox
@pytest.mark.slow
class TestLeftOver:
    def test_folders_of_a_killed_grader_are_swept_by_the_next_and_those_of_a_living_one_are_not(
        self, tmp_path, monkeypatch
    ):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        code = """
        import sys, time
        from course_grader.sandbox.sandbox import Sandbox
        with Sandbox("bare"):
            print("started", flush=True)
            time.sleep(600)
        """
        killed = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)],
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdout=subprocess.PIPE,
        )
        with scratch.ScratchFolder("course-library-") as living:
            assert killed.stdout.readline() == b"started\n"
            left = set(tmp_path.iterdir()) - {living.path}
            assert len(left) == 2
            killed.kill()
            killed.wait()
            assert set(tmp_path.iterdir()) >= left
            end = time.monotonic() + 30  # its forking process may still write there, as it ends
            while set(tmp_path.iterdir()) != {living.path} and time.monotonic() < end:
                for prefix in ("course-library-", "course-sandbox-"):
                    with scratch.ScratchFolder(prefix):
                        pass
            assert set(tmp_path.iterdir()) == {living.path}
        assert not list(tmp_path.iterdir())
