"""A run cannot reset its clock, and is not charged for what its neighbours take."""

import os
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sandboxed_runs import FORGE, SOON, printed, read, run, wait_for_children, work

from course_grader.sandbox.cores import Cores
from course_tasks.runner.processor_time import Moment, ProcessorTime, ThreadTimes, Timer


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
        ran = run(warm, "import time; time.time = time.monotonic = lambda: 0.0", "time.sleep(2)")
        assert [step.seconds for step in ran.raw] == [step.seconds for step in read(ran)]
        # A busy grader hears of the first step late, and the second seems shorter for it.
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
        if ours == 19:
            pytest.skip("these tests have the lowest priority themselves")
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
