"""The self-test finds every wall that is missing, and nothing is graded before all hold."""

import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

import course_lib
from course_grader.cli import app
from course_grader.errors import SandboxUnavailableError
from course_grader.sandbox import escape_attempts, selftest, starting
from course_grader.sandbox import sandbox as sandboxes
from course_grader.sandbox.sandbox import Sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

WALLS = [
    "honest work",
    "network",
    "gradebook and home",
    "environment",
    "judges",
    "leftovers",
    "other processes",
    "kernel settings",
    "devices",
    "priorities",
    "uncounted memory",
    "user",
    "users",
    "memory",
    "processes",
    "time",
]


def broken(root, form="warm"):
    with Sandbox(form) as sandbox:
        found = selftest.prove(sandbox, root)
    assert [wall.name for wall in found] == WALLS
    return {wall.name: wall for wall in found if not wall.holds}


@pytest.fixture
def sabotage(monkeypatch):
    """Change the copy of the code that goes into the sandbox."""

    def change(file, pattern, replacement):
        real = sandboxes.copy_library

        def copy(target):
            real(target)
            path = target / "course_tasks" / "runner" / file
            text, count = re.subn(pattern, replacement, path.read_text(encoding="utf-8"))
            assert count == 1, f"{pattern} is {count} times in {file}"
            path.write_text(text, encoding="utf-8")

        monkeypatch.setattr(sandboxes, "copy_library", copy)

    return change


@pytest.fixture
def arguments(monkeypatch):
    """Change bubblewrap's command line."""

    def change(edit):
        real = starting.bubblewrap
        monkeypatch.setattr(
            starting, "bubblewrap", lambda *given, **more: edit(real(*given, **more))
        )

    return change


@pytest.mark.parametrize("form", ["warm", "cold"])
def test_every_wall_holds(tmp_path, form):
    assert broken(tmp_path, form) == {}


def test_course_folder_inside_is_found(arguments):
    # Not below /tmp, which every submission has anew, whatever is bound there.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as root:
        Path(root).chmod(0o755)

        def show(words):
            last = words.index("--remount-ro")
            return [*words[:last], "--bind", root, root, *words[last:]]

        arguments(show)
        found = broken(Path(root))
    assert "gradebook and home" in found
    # Root's file is not for the user that root has become; that it is there can be seen.
    seen = "(to see)" if os.geteuid() == 0 else "(to write)"
    assert seen in found["gradebook and home"].found


def test_missing_walls_are_found_each_by_its_own_attempt(
    tmp_path, sabotage, arguments, monkeypatch
):
    """One sandbox with four holes, to start it once."""
    arguments(lambda words: [word for word in words if word != "--unshare-net"])
    packages = Path(course_lib.__file__).parents[1]

    def copy(target):
        for one in packages.glob("course_*"):
            shutil.copytree(one, target / one.name)
        target.chmod(0o755)

    monkeypatch.setattr(sandboxes, "copy_library", copy)
    sabotage("isolation.py", r"_CLONE_NEWUTS \| _CLONE_NEWNET", "_CLONE_NEWUTS")
    sabotage("supervisor.py", r"            install_seccomp_filter\(\)\n", "")
    real = starting.environment
    monkeypatch.setattr(
        starting, "environment", lambda *given: real(*given) | {"GRADER_TOKEN": "x"}
    )
    found = broken(tmp_path)
    filtered = {"user", "other processes", "priorities", "uncounted memory"}
    assert set(found) == {"network", "judges", "environment"} | filtered
    assert "connected to" in found["network"].found
    assert "course_judges" in found["judges"].found
    assert "a user namespace of its own" in found["other processes"].found
    assert "GRADER_TOKEN" in found["environment"].found
    assert "has no filter" in found["user"].found
    for what in ("limits of process 1", "its cores", "its session"):
        assert what in found["priorities"].found
    for what in ("without a file", "semaphores", "sockets", "pipes"):
        assert what in found["uncounted memory"].found


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has no root to give up")
def test_root_that_was_not_given_up_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(
        starting,
        "start_command",
        lambda library, form, program, users: [
            *starting.bubblewrap(library, form),
            *("--", *program),
        ],
    )
    found = broken(tmp_path)
    assert "is user 0" in found["user"].found
    assert "is in group 0" in found["user"].found


def test_runs_that_are_one_user_are_found_where_they_should_not_be(tmp_path, sabotage):
    sabotage("users.py", r"number = next\(self._numbers\)", "number = 1")
    with Sandbox("warm") as sandbox:
        promised = sandbox.own_users
    if not promised:
        pytest.skip("no user for each run here")
    assert "2 runs, users: " in broken(tmp_path)["users"].found


def test_devices_that_hold_memory_or_words_are_found(tmp_path, arguments):
    def more(words):
        last = words.index("--remount-ro")
        zero = ["--dev-bind", "/dev/zero", "/dev/zero"]
        return [*words[:last], *zero, "--dir", "/dev/pts", *words[last:]]

    arguments(more)
    found = broken(tmp_path)
    assert set(found) == {"devices", "uncounted memory"}
    assert "'pts', 'zero'" in found["devices"].found
    assert "/dev/zero" in found["uncounted memory"].found


def test_missing_bounds_are_found_each_by_its_own_attempt(tmp_path, sabotage, monkeypatch):
    sabotage("supervisor.py", r"fresh_folders\(limits\)", "pass")
    sabotage("process_monitor.py", r"return own \+ max\(shared, files\) > most", "return False")
    sabotage("process_monitor.py", r"if threads > self.limits.processes:", "if False:")
    sabotage("isolation.py", r"bounds\[resource.RLIMIT_NPROC\] = limits.processes", "pass")
    # What nothing ends would go on until its time is over.
    monkeypatch.setattr(
        escape_attempts,
        "SHARED_MEMORY",
        escape_attempts.SHARED_MEMORY.replace("sleep(60)", "sleep(2)"),
    )
    monkeypatch.setattr(
        escape_attempts, "PROCESSES", escape_attempts.PROCESSES.replace("sleep(5)", "sleep(1)")
    )
    # Where the system lends a control group, that would still bound the processes.
    monkeypatch.setattr(sandboxes.ControlGroups, "find", lambda: sandboxes.ControlGroups(None))
    found = broken(tmp_path)
    shared = {"honest work", "other processes", "kernel settings"}  # no /dev/shm, the outer /proc
    assert set(found) == {"leftovers", "memory", "processes"} | shared
    # The folders of the sandbox itself belong to none of its runs, where these are other users.
    assert re.search("planted-|folder cannot be written", found["leftovers"].found)
    assert "by its name" in found["other processes"].found
    assert "/proc/" in found["kernel settings"].found
    assert "started 32 processes" in found["processes"].found


def test_process_that_outlives_its_run_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(selftest, "SECONDS_TO_VANISH", 0)
    monkeypatch.setattr(selftest, "sleeping", lambda mark: iter([os.getpid()]))
    monkeypatch.setattr(selftest, "status_outside", lambda mark, stop: {})
    monkeypatch.setattr(escape_attempts, "SEEN", "print('no way')")
    found = broken(tmp_path)
    assert {"leftovers", "user"} <= set(found) <= {"leftovers", "user", "users"}
    assert "still runs" in found["leftovers"].found
    assert "was seen" in found["user"].found


@pytest.fixture
def unstarted(monkeypatch):
    """Sandboxes that start nothing, for where no attempt is made."""

    class Unstarted(Sandbox):
        def __enter__(self):
            return self

    monkeypatch.setattr(selftest, "Sandbox", Unstarted)


@pytest.mark.usefixtures("unstarted")
class TestRefusal:
    def test_names_each_wall_and_its_remedy(self, tmp_path, monkeypatch):
        down = selftest.Wall("network", False, "reaches eth0", "pull the plug")
        monkeypatch.setattr(selftest, "prove", lambda *given: [down])
        said = r"(?s)network: reaches eth0.*pull the plug.*--no-sandbox"
        with pytest.raises(SandboxUnavailableError, match=said), selftest.proven("warm", tmp_path):
            pytest.fail("nothing may run")

    def test_says_once_what_all_walls_came_to(self, tmp_path, monkeypatch):
        """As where nothing starts at all."""
        walls = [selftest.Wall(name, False, "no room", "tidy up") for name in ("network", "time")]
        monkeypatch.setattr(selftest, "prove", lambda *given: walls)
        with pytest.raises(SandboxUnavailableError) as told, selftest.proven("cold", tmp_path):
            pytest.fail("nothing may run")
        assert "network, time: no room" in str(told.value)
        assert str(told.value).count("no room") == str(told.value).count("tidy up") == 1

    def test_falls_back_to_a_cold_start_where_only_that_holds_and_says_why(
        self, tmp_path, monkeypatch, caplog
    ):
        down = selftest.Wall("leftovers", False, "planted", "none")

        def prove(sandbox, root, places):
            return [down] if sandbox.form == "warm" else []

        monkeypatch.setattr(selftest, "prove", prove)
        with selftest.proven("warm", tmp_path) as sandbox:
            assert sandbox.form == "cold"
        assert "leftovers: planted" in caplog.text

    def test_falls_back_to_one_user_where_only_that_holds_and_says_why(
        self, tmp_path, monkeypatch, caplog
    ):
        down = selftest.Wall("honest work", False, "cannot be read", "none")

        class WithUsers(selftest.Sandbox):
            @property
            def own_users(self):
                return self._wants_users

        monkeypatch.setattr(selftest, "Sandbox", WithUsers)
        monkeypatch.setattr(
            selftest, "prove", lambda sandbox, *given: [down] if sandbox.own_users else []
        )
        with selftest.proven("warm", tmp_path) as sandbox:
            assert (sandbox.form, sandbox.own_users) == ("warm", False)
        assert "no users of their own here: honest work: cannot be read" in caplog.text

    def test_nothing_is_said_where_a_warm_start_holds(self, tmp_path, monkeypatch, caplog):
        monkeypatch.setattr(selftest, "prove", lambda *given: [])
        with selftest.proven("warm", tmp_path) as sandbox:
            assert sandbox.form == "warm"
        assert not caplog.text

    def test_missing_bubblewrap_is_named_with_the_command_that_installs_it(
        self, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(selftest, "Sandbox", Sandbox)
        monkeypatch.setenv("PATH", str(tmp_path))
        said = "apt-get install bubblewrap"
        with pytest.raises(SandboxUnavailableError, match=said), selftest.proven("warm", tmp_path):
            pytest.fail("nothing may run")

    def test_without_a_sandbox_nothing_is_tried(self, tmp_path, monkeypatch):
        monkeypatch.setattr(selftest, "prove", lambda *given: pytest.fail("tried"))
        with selftest.proven("bare", tmp_path) as sandbox:
            assert sandbox.form == "bare"

    def test_command_grades_nothing_and_says_so(self, entered, monkeypatch):
        folder = entered.submitted / "ada" / "01-averages"
        shutil.copytree(entered.exercises / "01-averages", folder)
        down = selftest.Wall("network", False, "reaches eth0", "pull the plug")
        monkeypatch.setattr(selftest, "prove", lambda *given: [down])
        result = CliRunner().invoke(app, ["grade", "01", "--course", str(entered.root)])
        assert result.exit_code == 2
        assert "pull the plug" in result.output
        assert not (entered.root / "autograded").exists()
