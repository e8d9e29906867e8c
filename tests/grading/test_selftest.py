"""The self-test finds every wall that is missing, and nothing is graded before all hold."""

import re
import shutil
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

import course_lib
from course_lib.cli import app
from course_lib.errors import NoSandbox
from course_lib.grading.sandbox import runs as sandboxes
from course_lib.grading.sandbox import selftest
from course_lib.grading.sandbox.runs import Sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

WALLS = [
    "honest work",
    "network",
    "gradebook and home",
    "environment",
    "judges",
    "leftovers",
    "other processes",
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
            path = target / "course_lib" / "grading" / "sandbox" / "inside" / file
            text, count = re.subn(pattern, replacement, path.read_text(encoding="utf-8"))
            assert count == 1, f"{pattern} is {count} times in {file}"
            path.write_text(text, encoding="utf-8")

        monkeypatch.setattr(sandboxes, "copy_library", copy)

    return change


@pytest.fixture
def arguments(monkeypatch):
    """Change bubblewrap's command line."""

    def change(edit):
        real = sandboxes.bubblewrap
        monkeypatch.setattr(sandboxes, "bubblewrap", lambda library: edit(real(library)))

    return change


@pytest.mark.parametrize("form", ["warm", "cold"])
def test_every_wall_holds(tmp_path, form):
    assert broken(tmp_path, form) == {}


def test_open_network_is_found(tmp_path, sabotage, arguments):
    own = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    arguments(
        lambda words: [
            word for each in words for word in (own if each == "--unshare-all" else [each])
        ]
    )
    sabotage("isolation.py", r"flags \| _CLONE_NEWNET", "flags")
    found = broken(tmp_path)
    assert set(found) == {"network"}
    assert "connected to" in found["network"].found


def test_course_folder_inside_is_found(arguments):
    # Not below /tmp, which every submission has anew, whatever is bound there.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as root:

        def show(words):
            last = words.index("--remount-ro")
            return [*words[:last], "--bind", root, root, *words[last:]]

        arguments(show)
        found = broken(Path(root))
    assert "gradebook and home" in found
    assert "(to write)" in found["gradebook and home"].found


def test_secret_in_the_environment_is_found(tmp_path, monkeypatch):
    real = sandboxes.environment
    monkeypatch.setattr(
        sandboxes, "environment", lambda *given: real(*given) | {"GRADER_TOKEN": "x"}
    )
    found = broken(tmp_path)
    assert set(found) == {"environment"}
    assert "GRADER_TOKEN" in found["environment"].found


def test_judges_inside_are_found(tmp_path, monkeypatch):
    everything = Path(course_lib.__file__).parent
    monkeypatch.setattr(
        sandboxes, "copy_library", lambda target: shutil.copytree(everything, target / "course_lib")
    )
    found = broken(tmp_path)
    assert set(found) == {"judges"}
    assert "tasks.judging" in found["judges"].found


def test_files_that_stay_are_found(tmp_path, sabotage):
    sabotage("zygote.py", r"fresh_folders\(limits.file_megabytes\)", "pass")
    found = broken(tmp_path)
    assert "planted-" in found["leftovers"].found


def test_missing_filter_of_system_calls_is_found(tmp_path, sabotage):
    sabotage("zygote.py", r"        refuse_doors\(\)\n", "")
    found = broken(tmp_path)
    assert set(found) == {"other processes"}
    assert "a user namespace of its own" in found["other processes"].found


def test_memory_without_a_bound_over_processes_is_found(tmp_path, sabotage):
    sabotage("census.py", r"if held > most:", "if False:")
    assert set(broken(tmp_path)) == {"memory"}


def test_processes_without_a_bound_are_found(tmp_path, sabotage):
    sabotage("census.py", r"if threads > limits.processes:", "if False:")
    sabotage("isolation.py", r"\(resource.RLIMIT_NPROC, limits.processes\),", "")
    assert "processes" in broken(tmp_path)


class TestRefusal:
    def test_names_each_wall_and_its_remedy(self, tmp_path, monkeypatch):
        down = selftest.Wall("network", False, "reaches eth0", "pull the plug")
        monkeypatch.setattr(selftest, "prove", lambda sandbox, root: [down])
        said = r"(?s)network: reaches eth0.*pull the plug.*--no-sandbox"
        with pytest.raises(NoSandbox, match=said), selftest.proven("warm", tmp_path):
            pytest.fail("nothing may run")

    def test_falls_back_to_a_cold_start_where_only_that_holds(self, tmp_path, monkeypatch):
        down = selftest.Wall("leftovers", False, "planted", "none")

        def prove(sandbox, root):
            return [down] if sandbox.form == "warm" else []

        monkeypatch.setattr(selftest, "prove", prove)
        with selftest.proven("warm", tmp_path) as sandbox:
            assert sandbox.form == "cold"

    def test_missing_bubblewrap_is_named_with_the_command_that_installs_it(
        self, tmp_path, monkeypatch
    ):
        monkeypatch.setenv("PATH", str(tmp_path))
        said = "apt-get install bubblewrap"
        with pytest.raises(NoSandbox, match=said), selftest.proven("warm", tmp_path):
            pytest.fail("nothing may run")

    def test_without_a_sandbox_nothing_is_tried(self, tmp_path, monkeypatch):
        monkeypatch.setattr(selftest, "prove", lambda *given: pytest.fail("tried"))
        with selftest.proven("bare", tmp_path) as sandbox:
            assert sandbox.form == "bare"

    def test_command_grades_nothing_and_says_so(self, course, exercise, monkeypatch):
        from course_lib.grading.release import release

        release(course, "01-averages", gradebook=True)
        exercise.save(course.root / "submitted" / "ada" / "01-averages" / "01-averages.ipynb")
        down = selftest.Wall("network", False, "reaches eth0", "pull the plug")
        monkeypatch.setattr(selftest, "prove", lambda sandbox, root: [down])
        result = CliRunner().invoke(app, ["grade", "01", "--course", str(course.root)])
        assert result.exit_code == 2
        assert "pull the plug" in result.output
        assert not (course.root / "autograded").exists()
