"""Where the system lends control groups, each run has one; where it lends none, nothing changes."""

import errno
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from course_grader import doctor
from course_grader.sandbox import control_groups
from course_grader.sandbox import sandbox as sandboxes
from course_grader.sandbox.control_groups import ControlGroups, Group, Place, memory_bytes
from course_grader.sandbox.sandbox import Sandbox
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_grader.sandbox.selftest import prove
from course_tasks.runner.limits import MEGABYTE, Limits

LIMITS = Limits(
    cell_seconds=20, total_seconds=60, memory_megabytes=256, processes=48, file_megabytes=64
)

FORKED = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        held = [b"x" * 2**20 for _ in range(20)]
        time.sleep(60)
"""
BOMBS = {
    "several processes": f"{FORKED}\nos.wait()\nos._exit(0)",
    "shared memory": """
from multiprocessing import shared_memory
held = [shared_memory.SharedMemory(create=True, size=12 * 2**20) for _ in range(4)]
for one in held:
    one.buf[:] = b"x" * len(one.buf)
""",
    "one process": "held = [b'x' * 2**20 for _ in range(150)]",
}


def run(sandbox, *cells, limits=LIMITS):
    return sandbox.run(SanitizedSubmission(tuple(Step("code", cell) for cell in cells)), {}, limits)


def lent():
    """Where this process may make groups for real."""
    groups = ControlGroups.find()
    place = groups.place
    groups.close()
    return place


def groups_of_this_process(place):
    mark = f"{control_groups.PREFIX}{control_groups.grader_name()}-*"
    return [path for folder in set(place.folders.values()) for path in folder.glob(mark)]


@pytest.fixture(scope="module")
def place():
    found = lent()
    if found is None:
        pytest.skip("the system lends this process no control groups")
    return found


@pytest.fixture(scope="module", params=["warm", "cold", "bare"])
def sandbox(request, place, started):
    return started(request.param)


@pytest.fixture(scope="module")
def warm(place, warm):
    return warm


@pytest.fixture
def small(monkeypatch):
    """A group's bound far below the counted one, so that it is the group that is met."""
    monkeypatch.setattr(control_groups, "memory_bytes", lambda limits, held: 40 * MEGABYTE)


@pytest.mark.slow
class TestRuns:
    def test_honest_run_is_in_groups_of_its_own_and_leaves_none(self, place):
        before = groups_of_this_process(place)  # other tests' runs may still be ending
        with Sandbox("warm") as started:
            first = run(started, "print(open('/proc/self/cgroup').read())")
            second = run(started, "print(open('/proc/self/cgroup').read())")
            for number, ran in enumerate((first, second)):
                assert (ran.ended, ran.repeat) == ("", "")
                said = ran.raw[0].header.decode()
                mark = f"{control_groups.PREFIX}{control_groups.grader_name()}-"
                assert said.count(mark) == len(set(place.folders.values())), number
            assert first.raw[0].header != second.raw[0].header
            assert started.groups.problem == ""
        assert set(groups_of_this_process(place)) <= set(before)

    def test_every_form_of_run_has_one(self, sandbox):
        ran = run(sandbox, "print(open('/proc/self/cgroup').read())")
        assert (ran.ended, ran.repeat) == ("", "")
        assert control_groups.grader_name() in ran.raw[0].header.decode()

    @pytest.mark.parametrize("bomb", BOMBS)
    def test_run_that_the_group_ends_is_the_submissions_doing(self, warm, small, bomb):
        ran = run(warm, BOMBS[bomb], "6 * 7")
        assert ran.ended == "its processes together took more than 256 MB of memory"
        assert ran.repeat == ""

    def test_supervisor_is_never_ended_for_a_group_full_of_small_processes(self, warm, small):
        code = """
        import subprocess
        held = "x=$(head -c 14000000 /dev/urandom | tr -c x x)"
        for _ in range(30):
            subprocess.Popen(["sh", "-c", f"{held}; sleep 9"])
        import os; os.execvp("sleep", ["sleep", "20"])
        """
        ran = run(warm, textwrap.dedent(code), "1")
        assert (ran.ended, ran.repeat) == (
            "its processes together took more than 256 MB of memory",
            "",
        )

    def test_kill_that_the_group_did_not_send_proves_nothing_as_before(self, warm):
        ran = run(warm, "import os; os.kill(os.getpid(), 9)")
        assert "the sandbox did not send" in ran.repeat

    def test_each_run_has_the_bound_on_processes_and_the_weight_of_every_other(
        self, warm, place, monkeypatch
    ):
        """One process more than counting allows, which is what counting ends a run for."""
        seen = []
        real = Group.let_in

        def noting(self, *given, **said):
            real(self, *given, **said)
            names = ("pids.max", "cpu.shares", "cpu.weight")
            files = (folder / name for folder in self.folders for name in names)
            seen.append({file.name: int(file.read_text()) for file in files if file.exists()})

        monkeypatch.setattr(Group, "let_in", noting)
        for _ in range(2):
            assert run(warm, "1").ended == ""
        assert seen[0] == seen[1]
        alone = SanitizedSubmission((Step("code", "1"),))
        assert warm.run(alone, {}, LIMITS, alone=True).ended == ""
        usual = {"cpu.shares": 1024, "cpu.weight": 100}  # what the kernel gives to everybody
        assert seen[2] == seen[0] | {name: usual[name] for name in usual if name in seen[0]}
        assert seen[0].get("pids.max") == (
            LIMITS.processes + 1 if "pids" in place.folders else None
        )
        assert ("cpu" in place.folders) == any(name.startswith("cpu.") for name in seen[0])

    def test_files_and_memory_that_counting_allows_pass(self, warm):
        code = """
        held = b"x" * (150 * 2**20)
        with open("/tmp/large", "wb") as file:
            for _ in range(60): file.write(held[:2**20])
        len(held)
        """
        ran = run(warm, textwrap.dedent(code))
        assert (ran.ended, ran.repeat, len(ran.raw)) == ("", "", 1)

    def test_doctor_says_which_bound_holds(self, place, tmp_path):
        works, found, _ = doctor.walls(tmp_path)
        assert works, found
        assert "memory is bounded by a control group, and by counting" in found

    def test_self_test_says_which_bound_holds(self, warm, tmp_path, monkeypatch):
        def memory(sandbox):
            return next(wall for wall in prove(sandbox, tmp_path) if wall.name == "memory")

        wall = memory(warm)
        assert wall.holds, wall
        assert (
            wall.found == "bounded by a control group, and by counting, over several processes, too"
        )
        monkeypatch.setattr(ControlGroups, "find", lambda: ControlGroups(None))
        with Sandbox("warm") as without:
            wall = memory(without)
        assert wall.holds, wall
        assert wall.found == "bounded by counting, over several processes, too"


@pytest.mark.slow
class TestFailures:
    @pytest.mark.parametrize("fails", ["mkdir", "rmdir", "write"])
    def test_no_run_fails_for_want_of_a_group(self, place, monkeypatch, fails):
        def refuse(*given, **more):
            raise OSError(errno.EPERM, "not today")

        others = set(groups_of_this_process(place))
        with Sandbox("warm") as started, monkeypatch.context() as patch:
            if fails == "write":
                patch.setattr(control_groups, "write_to_kernel", refuse)
            else:
                patch.setattr(Path, fails, refuse)
            ran = run(started, "6 * 7")
            assert (ran.ended, ran.repeat, len(ran.raw)) == ("", "", 1)
            assert bool(started.groups.problem) == (fails != "rmdir")
        assert set(groups_of_this_process(place)) <= others

    def test_supervisor_that_fails_before_it_asks_is_the_machines_failure(self, place):
        from course_grader.errors import MachineError

        with Sandbox("warm") as started:
            code = started.library / "course_tasks/runner/isolation.py"
            text = code.read_text()
            broken = "def fresh_folders(limits: Limits) -> None:"
            assert broken in text
            code.write_text(
                text.replace(broken, f"{broken}\n    raise OSError(1, 'no folders today')\n")
            )
            started.started.stop()
            with pytest.raises(MachineError, match="no folders today"):
                run(started, "1")

    def test_runner_that_never_asks_proves_nothing(self, place, monkeypatch):
        """What it says too late must not be taken for a result of the submission's."""
        monkeypatch.setattr(sandboxes, "SECONDS_OF_GRACE", 0.5)
        monkeypatch.setattr(sandboxes, "stretched", lambda limit, *, alone: 0.0)
        with Sandbox("warm") as started:
            code = started.library / "course_tasks/runner/supervisor.py"
            text, asks = code.read_text(), "os.write(wire, ASKS_FOR_GROUP"
            assert text.count(asks) == 1
            code.write_text(text.replace(asks, f"time.sleep(600); {asks}"))
            started.started.stop()
            ran = run(started, "1")
        assert (ran.raw, ran.ended) == ((), "")
        assert ran.repeat

    def test_groups_of_a_killed_grader_are_swept_and_a_living_ones_are_not(self, place):
        script = textwrap.dedent("""
            import sys, time
            from course_grader.sandbox.control_groups import Group
            from course_tasks.runner.limits import Limits
            from tests.grading.test_control_groups import lent
            import subprocess
            idle = subprocess.Popen(["true"])
            group = Group(lent())
            group.let_in(idle.pid, Limits(), 0)
            idle.wait()
            print(group.folders[0], flush=True)
            time.sleep(600)
        """)
        owner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        try:
            left = Path(owner.stdout.readline().strip())
            assert left.is_dir()
            ControlGroups.find().close()
            assert left.is_dir()
        finally:
            owner.kill()
            owner.wait()
            owner.stdout.close()
        ControlGroups.find().close()
        assert not left.exists()

    def test_group_that_is_still_in_use_is_removed_later(self, place):
        groups = ControlGroups(place)
        with subprocess.Popen(["sleep", "60"]) as held:
            with groups.group() as group:
                group.let_in(held.pid, LIMITS, 0)
            assert group.problem == ""
            assert all(path.is_dir() for path in group.folders)
            held.kill()
        groups.close()
        assert not any(path.exists() for path in group.folders)


def version_one(*, kills, peak):
    return {
        "memory.oom_control": f"oom_kill_disable 0\nunder_oom 0\noom_kill {kills}\n",
        "memory.limit_in_bytes": f"{40 * MEGABYTE}\n",
        "memory.max_usage_in_bytes": f"{peak * MEGABYTE}\n",
        "memory.failcnt": "0\n",
    }


class TestCounters:
    """How a run ended is read, not guessed."""

    @pytest.mark.parametrize(
        ("files", "expected"),
        [
            (
                {"memory.events": "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\noom_group_kill 1\n"},
                True,
            ),
            ({"memory.events": "low 0\nhigh 0\nmax 9\noom 0\noom_kill 1\n"}, False),
            ({"memory.events": "low 0\nhigh 0\nmax 9\noom 3\noom_kill 0\n"}, False),
            (version_one(kills=1, peak=39), True),
            (version_one(kills=1, peak=20), False),
            (version_one(kills=0, peak=40), False),
            (version_one(kills=1, peak=20) | {"memory.memsw.max_usage_in_bytes": "41943040"}, True),
            ({}, False),
        ],
    )
    def test_only_a_process_ended_at_the_groups_own_limit_counts(self, tmp_path, files, expected):
        group = Group(Place({"memory": tmp_path}, 2))
        group.memory = tmp_path
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        assert group.out_of_memory() is expected


class TestVersionTwo:
    """On a tree of files, with the two rules of the kernel that matter here."""

    @pytest.fixture
    def tree(self, tmp_path, monkeypatch):
        (tmp_path / "proc/self").mkdir(parents=True)
        (tmp_path / "proc/self/cgroup").write_text("0::/user/lent.scope\n")
        (tmp_path / "proc/self/mountinfo").write_text(
            "20 1 0:18 / /proc rw - proc proc rw\n"
            "30 24 0:26 /user /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
        )
        own = tmp_path / "sys/fs/cgroup/lent.scope"
        own.mkdir(parents=True)
        (own / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
        (own / "cgroup.subtree_control").write_text("")
        (own / "cgroup.procs").write_text(f"{os.getpid()}\n")

        def members(group):
            procs = group / "cgroup.procs"
            return [int(word) for word in procs.read_text().split()] if procs.exists() else []

        def write(file, value):
            if file.name == "cgroup.subtree_control" and "+" in value and members(file.parent):
                raise OSError(errno.EBUSY, "it has processes")
            if file.name != "cgroup.procs":
                file.write_text(value)
                return
            for group in (own, *(one for one in own.iterdir() if one.is_dir())):
                kept = [str(one) for one in members(group) if one != int(value)]
                if kept or (group / "cgroup.procs").exists():
                    (group / "cgroup.procs").write_text("\n".join(kept))
            controls = file.parent / "cgroup.subtree_control"
            if controls.exists() and "+" in controls.read_text():
                raise OSError(errno.EBUSY, "it has groups with limits")
            with file.open("a") as procs:
                procs.write(f"\n{value}\n")

        def rmdir(group):
            if members(group):
                raise OSError(errno.EBUSY, "it has processes")
            for file in group.iterdir():
                file.unlink()
            os.rmdir(group)

        monkeypatch.setattr(control_groups, "write_to_kernel", write)
        monkeypatch.setattr(control_groups, "processes_in", members)
        monkeypatch.setattr(Path, "rmdir", rmdir)
        return own

    def found(self, tree):
        return ControlGroups.find(tree.parents[3])

    def test_grader_moves_aside_makes_groups_and_moves_back(self, tree):
        groups = self.found(tree)
        (aside,) = (one for one in tree.iterdir() if one.is_dir())
        assert control_groups.processes_in(aside) == [os.getpid()]
        assert control_groups.processes_in(tree) == []
        assert (tree / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"
        with subprocess.Popen(["sleep", "60"]) as other:
            with groups.group() as group:
                group.let_in(other.pid, LIMITS, 5 * MEGABYTE)
                (made,) = group.folders
                assert group.problem == ""
                assert control_groups.processes_in(made) == [other.pid]
                said = {path.name: path.read_text() for path in made.iterdir()}
                assert said["memory.max"] == str(memory_bytes(LIMITS, 5 * MEGABYTE))
                assert said["memory.oom.group"] == "1"
                assert said["pids.max"] == "49"
                assert said["cpu.weight"] == "33"
                (made / "cgroup.procs").write_text("")
            other.kill()
        groups.close()
        assert control_groups.processes_in(tree) == [os.getpid()]
        assert [one for one in tree.iterdir() if one.is_dir()] == []
        assert (tree / "cgroup.subtree_control").read_text() == "-memory -pids -cpu"

    def test_where_others_are_nobody_is_moved(self, tree):
        (tree / "cgroup.procs").write_text(f"{os.getpid()}\n1\n")
        assert self.found(tree).place is None
        assert control_groups.processes_in(tree) == [os.getpid(), 1]
        assert [one for one in tree.iterdir() if one.is_dir()] == []

    def test_where_limits_cannot_be_had_all_is_left_as_it_was(self, tree, monkeypatch):
        write = control_groups.write_to_kernel

        def refusing(file, value):
            if file.name == "cgroup.subtree_control":
                raise OSError(errno.EACCES, "not delegated")
            write(file, value)

        monkeypatch.setattr(control_groups, "write_to_kernel", refusing)
        assert self.found(tree).place is None
        assert control_groups.processes_in(tree) == [os.getpid()]
        assert [one for one in tree.iterdir() if one.is_dir()] == []

    def test_without_memory_there_is_no_place(self, tree):
        (tree / "cgroup.controllers").write_text("cpuset cpu io\n")
        assert self.found(tree).place is None
        assert control_groups.processes_in(tree) == [os.getpid()]

    def test_group_outside_of_what_is_mounted_is_not_this_processes_to_use(self, tree):
        root = tree.parents[3]
        for group in ("/", "/other/lent.scope", "/../lent.scope"):
            (root / "proc/self/cgroup").write_text(f"0::{group}\n")
            assert self.found(tree).place is None


def test_bound_of_a_group_is_never_below_the_counted_one():
    held = 123 * MEGABYTE
    assert memory_bytes(LIMITS, held) >= LIMITS.memory_megabytes * MEGABYTE + held
