"""The sandbox runs cells as a kernel would, bounds what they take, and keeps runs apart."""

import os
import resource
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from course_grader.errors import MachineError
from course_grader.outcome import Results
from course_grader.sandbox import bubblewrap
from course_grader.sandbox.protocol import read_steps
from course_grader.sandbox.sandbox import Sandbox
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_tasks.errors import FrameError, FrameTimeoutError
from course_tasks.runner import frames, huge_pages, isolation
from course_tasks.runner.limits import MEGABYTE, Limits
from course_tasks.runner.outputs import PICTURE, Outputs

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

SOON = Limits(
    cell_seconds=2, total_seconds=8, memory_megabytes=400, processes=48, file_megabytes=64
)


@pytest.fixture(scope="module", params=["warm", "cold", "bare"])
def any_form(request, started):
    return started(request.param)


def run(sandbox, *cells, limits=SOON):
    """What a notebook of these cells leaves, read as the grader reads it, and run as often."""
    work = SanitizedSubmission(tuple(Step("code", cell) for cell in cells))
    for number in range(4):  # other programs may keep the machine busy
        ran = sandbox.run(work, {}, limits, alone=number > 0)
        if "held the processor" not in ran.repeat:
            break
    steps, odd = read_steps(ran, work, limits)
    return Results(steps, odd or ran.ended or ran.repeat, ran.seconds)


def printed(step):
    return "".join(one["text"] for one in step.outputs if one["output_type"] == "stream")


def _in_large_pages():
    rollup = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    return int(rollup.partition("AnonHugePages:")[2].split()[0]) * 1024


class TestCells:
    def test_values_prints_errors_and_pictures_are_outputs(self, any_form):
        ran = run(
            any_form,
            "6 * 7",
            "print('hello'); import sys; print('oh', file=sys.stderr)",
            "1 / 0",
            "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()",
        )
        value, words, error, picture = ran.steps
        assert (ran.ended, value.problem) == ("", "")
        assert value.outputs[0]["data"]["text/plain"] == "42"
        assert [(one["name"], one["text"]) for one in words.outputs] == [
            ("stdout", "hello\n"),
            ("stderr", "oh\n"),
        ]
        assert error.problem == "ZeroDivisionError"
        assert error.outputs[0]["ename"] == "ZeroDivisionError"
        assert "image/png" in picture.outputs[0]["data"]

    def test_names_live_from_cell_to_cell_and_an_error_stops_only_its_own(self, warm):
        ran = run(warm, "x = 5", "raise ValueError", "x + 1")
        assert [step.problem for step in ran.steps] == ["", "ValueError", ""]
        assert ran.steps[2].outputs[0]["data"]["text/plain"] == "6"

    def test_own_call_of_check_is_only_noted(self, warm):
        ran = run(warm, "from course_tasks import check\nprint(check('04/nll', None))\ny = 1", "y")
        assert printed(ran.steps[0]) == "04/nll: recorded\n"
        assert ran.steps[1].outputs[0]["data"]["text/plain"] == "1"

    def test_output_beyond_the_limit_is_cut_and_said_to_be(self, warm):
        (step,) = run(warm, "print('x' * 10**7)").steps
        assert len(printed(step)) < SOON.output_kilobytes * 1024 + 100
        assert "more output was cut" in printed(step)


class TestOutputs:
    def test_value_beyond_the_limit_is_cut_to_it_and_all_that_follows_is_left_out(self):
        outputs = Outputs(100, 0)
        outputs.display("display_data", {"text/plain": "x" * 10**6, "text/html": "y" * 10**6})
        outputs.display("display_data", {"text/plain": "z" * 10**6})
        outputs.write("stdout", "w" * 10**6)
        first, second, cut = outputs.finished()
        assert (first["data"], second["data"]) == (
            {"text/plain": "x" * 100},
            {"text/plain": ""},
        )
        assert "more output was cut" in cut["text"]

    def test_pictures_have_a_room_of_their_own(self):
        outputs = Outputs(100, 300)
        for _ in range(4):  # base64: 100 bytes each
            outputs.display("display_data", {PICTURE: "A" * 132, "text/plain": "a figure"})
        outputs.write("stdout", "x" * 68)
        *shown, words, cut = outputs.finished()
        assert [PICTURE in one["data"] for one in shown] == [True, True, True, False]
        assert words["text"] == "x" * 68
        assert "more output was cut" in cut["text"]

    def test_what_a_cell_takes_back_makes_room_again(self):
        outputs = Outputs(100, 100)
        for _ in range(50):  # a curve that is drawn anew after each step
            outputs.clear()
            outputs.display("display_data", {PICTURE: "A" * 132, "text/plain": "a figure"})
        (shown,) = outputs.finished()
        assert PICTURE in shown["data"]

    def test_course_shows_forty_pictures_of_its_size_in_a_cell(self):
        limits = Limits()
        outputs = Outputs(limits.output_kilobytes * 1024, limits.picture_kilobytes * 1024)
        for _ in range(40):
            picture = {PICTURE: "A" * (50_000 * 4 // 3), "text/plain": "<Figure size 640x480>"}
            outputs.display("display_data", picture)
        assert not outputs.cut


class TestBounds:
    def test_cell_that_takes_too_long_is_interrupted_and_the_next_one_runs(self, any_form):
        soon = replace(SOON, cell_seconds=0.5)
        ran = run(any_form, "while True: pass", "'went on'", limits=soon)
        assert ran.steps[0].problem == "interrupted"
        assert ran.steps[1].outputs[0]["data"]["text/plain"] == "'went on'"

    def test_cell_that_is_not_to_be_interrupted_ends_the_run(self, warm):
        stubborn = (
            "import time\nwhile True:\n  try:\n    time.sleep(1)\n  except BaseException: pass"
        )
        ran = run(warm, "1", stubborn, "2", limits=replace(SOON, cell_seconds=0.5))
        assert len(ran.steps) == 1
        assert "step 2 took more than 0.5 s" in ran.ended

    def test_notebook_of_many_slow_cells_is_ended(self, warm):
        ran = run(
            warm,
            *["import time; time.sleep(0.5)"] * 40,
            limits=Limits(cell_seconds=2, total_seconds=1.3),
        )
        assert len(ran.steps) < 40
        assert "the notebook took more than 1.3 s" in ran.ended

    def test_memory_of_one_process_is_an_error_in_its_cell(self, any_form):
        ran = run(any_form, "held = bytearray(10**9)", "'went on'")
        assert ran.steps[0].problem == "MemoryError"
        assert not ran.steps[1].problem

    def test_memory_of_several_processes_counts_together(self, any_form):
        ran = run(
            any_form,
            "import os, time\nfor _ in range(4):\n  if os.fork() == 0:\n"
            "    held = b'x' * (200 * 2**20)\n    time.sleep(60)\ntime.sleep(60)",
            limits=Limits(cell_seconds=30, total_seconds=40, memory_megabytes=400),
        )
        assert "together took more than 400 MB" in ran.ended

    def test_processes_beyond_the_limit_are_refused_or_end_the_run(self, any_form):
        ran = run(
            any_form,
            "import resource; print(resource.getrlimit(resource.RLIMIT_NPROC)[0])",
            "import os, time\nfor _ in range(100):\n  if os.fork() == 0:\n    time.sleep(60)\n"
            "time.sleep(60)",
            limits=Limits(cell_seconds=30, total_seconds=40, processes=48),
        )
        refused = len(ran.steps) > 1 and ran.steps[1].problem == "BlockingIOError"
        assert refused or "more than 48 processes" in ran.ended
        # Without a namespace of its users' the kernel would count all that the grader's user runs.
        outside = resource.getrlimit(resource.RLIMIT_NPROC)[0]
        assert int(printed(ran.steps[0])) == (outside if any_form.form == "bare" else 48)

    def test_signal_without_a_name_is_the_notebooks_end_and_not_the_machines(self, warm):
        assert run(warm, "import os; os.kill(os.getpid(), 35)").ended.endswith("by signal 35")

    def test_cores_that_a_run_sees_are_few(self, monkeypatch):
        """Libraries start threads for each core, which count against the limit of processes."""
        monkeypatch.setattr(isolation, "MOST_CORES", 1)
        with ThreadPoolExecutor(1) as thread:  # only the thread that asks is bound
            thread.submit(isolation.stay_on_few_cores).result()
            assert thread.submit(lambda: len(os.sched_getaffinity(0))).result() == 1

    def test_number_of_files_is_bounded(self, warm):
        many = "for n in range(200): open(f'/tmp/{n}', 'w').close()"
        (step,) = run(warm, many, limits=Limits(files=100)).steps
        assert step.problem == "OSError"

    def test_files_share_one_bound(self, warm):
        fill = "f = open({!r}, 'wb')\nfor _ in range(50): f.write(b'x' * 2**20)\nf.close()"
        ran = run(warm, *(fill.format(f"{place}/x") for place in ("/tmp", "/dev/shm")))
        assert [step.problem for step in ran.steps] == ["", "OSError"]

    def test_more_than_may_be_sent_ends_the_run(self, warm):
        shout = (
            "import os, stat, struct, threading\nwords = b'{\"step\":0,' + b' ' * 2**20 + b'}'\n"
            "for n in range(3, 64):\n  try:\n    if stat.S_ISSOCK(os.fstat(n).st_mode):\n"
            "      while True: os.write(n, struct.pack('!II', 2**31, 0))\n  except OSError: pass"
        )
        ran = run(warm, shout)
        assert "not a result" in ran.ended
        assert ran.steps == ()


class TestApart:
    def test_nothing_of_a_run_is_there_in_the_next(self, any_form):
        run(
            any_form,
            "import builtins, subprocess\nopen('left', 'w').write('x')\nbuiltins.left = 1",
            "subprocess.Popen(['sleep', '77.25'], process_group=0)",
        )
        ran = run(
            any_form,
            "import builtins, glob, os\nprint(hasattr(builtins, 'left'))",
            "print(os.path.exists('left'))",
            "def words(p):\n  try: return open(p).read()\n  except OSError: return ''\n"
            "print(any('77.25' in words(p) for p in glob.glob('/proc/[0-9]*/cmdline')))",
        )
        left = [printed(step).strip() for step in ran.steps]
        # Without a sandbox files stay; the report says that there was none.
        assert left == ["False", str(any_form.form == "bare"), "False"]

    def test_runs_at_once_do_not_mix(self, any_form):
        def one(number):
            ran = run(any_form, f"n = {number}", "import time; time.sleep(0.1)", "n")
            return ran.steps[2].outputs[0]["data"]["text/plain"]

        with ThreadPoolExecutor(3) as threads:
            assert list(threads.map(one, range(4))) == [str(n) for n in range(4)]

    def test_environment_is_the_short_list(self, any_form, monkeypatch):
        monkeypatch.setenv("COURSE_SECRET", "hidden")
        (step,) = run(any_form, "import os; print(*sorted(os.environ))").steps
        known = {*bubblewrap.environment(Path(), "warm", Path()), "PWD", "LC_CTYPE"}
        assert set(printed(step).split()) <= known

    def test_only_packages_that_may_stand_beside_student_code_are_inside(self, tmp_path):
        bubblewrap.copy_library(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {"course_lib", "course_tasks"}

    def test_a_new_package_of_the_course_is_not_inside(self, tmp_path, monkeypatch):
        """Nor a new file of any other: there is no list of names to forget it in."""
        for name in ("course_lib", "course_tasks", "course_secrets"):
            (tmp_path / "installed" / name).mkdir(parents=True)
            (tmp_path / "installed" / name / "__init__.py").write_text("")
        monkeypatch.setattr("course_lib.__file__", f"{tmp_path}/installed/course_lib/__init__.py")
        monkeypatch.setattr("sys.prefix", str(tmp_path))  # installed among other packages
        (tmp_path / "copy").mkdir()
        bubblewrap.copy_library(tmp_path / "copy")
        assert not (tmp_path / "copy" / "course_secrets").exists()
        words = bubblewrap.bubblewrap(tmp_path / "copy")
        secret = tmp_path / "installed" / "course_secrets"
        bound = [words[n + 1] for n, word in enumerate(words) if "bind" in word]
        assert len(bound) > 10
        if any(secret.is_relative_to(one) for one in bound):  # then something lies over it
            assert words[words.index(str(secret)) - 1] == "--tmpfs"

    def test_nested_namespaces_are_refused(self, warm):
        source = (
            "import ctypes, os\nlibc = ctypes.CDLL(None)\n"
            "clone = 56 if os.uname().machine == 'x86_64' else 220\n"
            "print(libc.unshare(0x10000000), libc.unshare(0x40000000))\n"
            "print(libc.memfd_create(b'x', 0), libc.syscall(clone, 0x10000011, 0, 0, 0))"
        )
        (step,) = run(warm, source).steps
        assert printed(step).split() == ["-1", "-1", "-1", "-1"]


class TestMachine:
    def test_large_pages_hold_what_small_ones_held(self):
        data = bytearray(os.urandom(16 * MEGABYTE))
        before, began = bytes(data), _in_large_pages()
        made = list(huge_pages.collapse())
        assert data == before
        assert len(made) >= 7  # of two megabytes each, wherever the sixteen begin
        if any(made):  # not before Linux 6.1, and not within every container
            assert _in_large_pages() >= began + 2 * MEGABYTE

    def test_dead_sandbox_is_started_again(self):
        with Sandbox("warm") as sandbox:
            run(sandbox, "1")
            os.kill(sandbox.started.number, signal.SIGKILL)
            while sandbox.started.alive:
                time.sleep(0.01)
            assert not run(sandbox, "2").steps[0].problem

    def test_sandbox_that_was_never_started_is_the_machines_fault(self):
        with pytest.raises(MachineError, match="not started"):
            run(Sandbox("warm"), "1")

    def test_nothing_stays_when_it_ends(self, tmp_path, monkeypatch):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        with Sandbox("warm") as sandbox:
            number = sandbox.started.number
            assert list(tmp_path.iterdir())
        assert not list(tmp_path.iterdir())
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


class TestFrames:
    @pytest.fixture
    def ends(self):
        left, right = socket.socketpair()
        with left, right:
            yield left, right

    def test_what_is_sent_arrives(self, ends):
        frames.send(ends[0], {"step": 1}, b"bytes")
        ends[0].close()
        assert frames.receive(ends[1]) == ({"step": 1}, b"bytes")
        assert frames.receive(ends[1]) is None

    @pytest.mark.parametrize(
        ("sent", "said"),
        [
            (b"\xff\xff\xff\xff\x00\x00\x00\x00", "longer than any may be"),
            (b"\x00\x00\x00\x02\xff\xff\xff\xff{}", "longer than any may be"),
            (b"\x00\x00\x00\x02\x00\x00\x00\x00[]", "is a list, not an object"),
            (b"\x00\x00\x00\x02\x00\x00\x00\x00{,", "is no JSON"),
            (b"\x00\x00\x00\x09\x00\x00\x00\x00{}", "was cut off"),
            (b"\x00\x00\x10\x00\x00\x00\x00\x00" + b"[" * 4096, "is no JSON"),
        ],
        ids=["long header", "long payload", "no object", "no JSON", "cut off", "nested"],
    )
    def test_what_is_no_message_is_refused(self, ends, sent, said):
        ends[0].sendall(sent)
        ends[0].close()
        with pytest.raises(FrameError, match=said):
            frames.receive(ends[1])

    def test_nobody_waits_beyond_the_deadline(self, ends):
        ends[0].sendall(b"\x00\x00")
        with pytest.raises(FrameTimeoutError):
            frames.receive(ends[1], time.monotonic() + 0.05)
