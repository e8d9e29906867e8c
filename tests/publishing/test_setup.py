"""`setup/environment.sh` makes .venv once, notices what no longer holds, and says what to do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAMS = (
    "sh",
    "cksum",
    "head",
    "grep",
    "dirname",
    "uname",
    "cat",
    "mv",
    "rm",
    "mkdir",
    "cp",
    "env",
    "awk",
)

# Stands for Python and, in .venv, for itself with pip: writes down what it was asked to install.
PYTHON = """#!/bin/sh
case "$*" in
    "-m venv .venv")
        mkdir -p .venv/bin
        cp "$0" .venv/bin/python
        echo "#!$(pwd)/.venv/bin/python" >.venv/bin/pip
        echo created >>log ;;
    "-m pip install"*)
        echo installed >>log
        echo "$*" >>words
        case "$*" in *" uv") cp "$0" .venv/bin/uv ;; esac
        [ ! -e pip-fails ] ;;
    "pip install"*) echo "uv $*" >>words ;;
    "-m pip --version" | "-m compileall"*) ;;
    "-c import ensurepip, venv") [ ! -e no-venv-module ] ;;
    *) exec REAL "$@" ;;
esac
"""

OLD_PYTHON = """#!/bin/sh
case "$1" in
    --version) echo "Python 3.9.2" ;;
    -c) exec REAL -c "import sys; sys.version_info = (3, 9, 2); exec(sys.argv[1])" "$2" ;;
    *) exit 1 ;;
esac
"""


class Machine:
    """A folder with the set-up scripts, and a PATH that holds only what is put there."""

    def __init__(self, folder):
        self.course, self.bin = folder / "course", folder / "bin"
        self.course.mkdir()
        self.bin.mkdir()
        shutil.copytree(ROOT / "setup", self.course / "setup")
        for path in (*ROOT.glob("requirements*.txt"), ROOT / "pyproject.toml"):
            shutil.copy(path, self.course)
        for name in PROGRAMS:
            (self.bin / name).symlink_to(shutil.which(name))
        self.program("id", "#!/bin/sh\necho 1000\n")

    def program(self, name, text):
        path = self.bin / name
        path.write_text(text.replace("REAL", sys.executable))
        path.chmod(0o755)

    def words(self):
        """What installers were told since the last question."""
        path = self.course / "words"
        said = path.read_text() if path.exists() else ""
        path.unlink(missing_ok=True)
        return said

    def set_up(self, *words, **environment):
        return subprocess.run(
            [self.bin / "sh", "setup/environment.sh", *words],
            cwd=self.course,
            env={"PATH": str(self.bin), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def done(self):
        """What was done since the last question."""
        log = self.course / "log"
        lines = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.fixture
def ready(machine):
    machine.program("python3", PYTHON)
    assert machine.set_up().returncode == 0
    assert machine.done() == ["created", "installed"]
    return machine


def test_a_second_run_has_nothing_to_do(ready):
    assert ready.set_up().returncode == 0
    assert ready.done() == []


def test_tests_need_more_and_the_book_then_needs_nothing(ready):
    assert ready.set_up("tests").returncode == 0
    assert ready.done() == ["installed"]
    assert ready.set_up().returncode == 0
    assert ready.set_up("lab").returncode == 0
    assert ready.set_up("tests").returncode == 0
    assert ready.done() == []


def test_an_interrupted_installation_is_taken_up_again(machine):
    machine.program("python3", PYTHON)
    (machine.course / "pip-fails").touch()
    broken_off = machine.set_up()
    assert broken_off.returncode == 1
    assert "stopped before all was there" in broken_off.stderr
    (machine.course / "pip-fails").unlink()
    machine.done()
    assert machine.set_up().returncode == 0
    assert machine.done() == ["installed"]


def test_a_changed_list_is_installed(ready):
    list_of_all = ready.course / "requirements.txt"
    lines = list_of_all.read_text().replace("pyyaml>=6", "another-package\npyyaml>=6")
    list_of_all.write_text(lines)
    assert ready.set_up().returncode == 0
    assert ready.done() == ["installed"]


def test_a_folder_that_was_moved_gets_a_new_environment(ready, tmp_path):
    ready.course.rename(tmp_path / "moved")
    ready.course = tmp_path / "moved"
    outcome = ready.set_up()
    assert outcome.returncode == 0
    assert "made in another folder" in outcome.stderr
    assert ready.done() == ["created", "installed"]


@pytest.mark.parametrize("lost", ["bin/python", "bin/pip", "bin"])
def test_a_half_made_environment_is_made_anew(ready, lost):
    (ready.course / ".venv" / ".installed-book").unlink()
    path = ready.course / ".venv" / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert ready.set_up().returncode == 0
    assert ready.done() == ["created", "installed"]


def test_without_a_recent_python_the_remedy_is_named(machine):
    machine.program("python3", OLD_PYTHON)
    outcome = machine.set_up()
    assert outcome.returncode == 1
    assert "needs Python 3.11 or newer; python3 here is Python 3.9.2" in outcome.stderr
    assert "PYTHON=" in outcome.stderr
    assert not (machine.course / ".venv").exists()


def test_without_any_python_the_remedy_is_named(machine):
    outcome = machine.set_up()
    assert outcome.returncode == 1
    assert "there is no python3 here" in outcome.stderr


def test_a_later_python_is_found_behind_an_old_one(machine):
    machine.program("python3", OLD_PYTHON)
    machine.program("python3.12", PYTHON)
    assert machine.set_up().returncode == 0
    assert machine.done() == ["created", "installed"]


def test_without_the_venv_module_and_without_rights_the_exact_command_is_printed(machine):
    machine.program("python3", PYTHON)
    (machine.course / "no-venv-module").touch()
    machine.program("apt-get", "#!/bin/sh\necho apt $* >>log\n")
    outcome = machine.set_up()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert outcome.returncode == 1
    assert f"sudo apt-get install -y python{version}-venv" in outcome.stderr
    assert machine.done() == []


def test_without_the_venv_module_root_on_debian_gets_it_from_apt(machine):
    machine.program("python3", PYTHON)
    machine.program("id", "#!/bin/sh\necho 0\n")
    (machine.course / "no-venv-module").touch()
    machine.program("apt-get", "#!/bin/sh\necho $* | grep -o 'python[0-9.]*-venv' >>log\n")
    assert machine.set_up().returncode == 0
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert machine.done() == [f"python{version}-venv", "created", "installed"]


def test_the_environment_is_made_by_the_python_that_was_named(machine):
    machine.program("python3", OLD_PYTHON)
    machine.program("my-python", PYTHON)
    assert (
        subprocess.run(
            [machine.bin / "sh", "setup/environment.sh"],
            cwd=machine.course,
            env={"PATH": str(machine.bin), "PYTHON": "my-python"},
            capture_output=True,
            check=False,
        ).returncode
        == 0
    )
    assert os.access(machine.course / ".venv" / "bin" / "python", os.X_OK)


def test_the_book_needs_neither_torch_nor_nbgrader(ready):
    reading = (ready.course / ".venv" / "reading.txt").read_text()
    assert "jupyter-book" in reading
    assert not {"torch", "nbgrader", "jax"} & {line.split(">")[0] for line in reading.splitlines()}


def test_a_change_of_what_others_need_does_not_concern_the_book(ready):
    with (ready.course / "requirements.txt").open("a") as file:
        file.write("another-package\n")
    assert ready.set_up("book").returncode == 0
    assert ready.done() == []


def test_uv_installs_where_it_is_there(machine):
    machine.program("python3", PYTHON)
    machine.program("uv", '#!/bin/sh\necho "uv $*" >>words\n')
    assert machine.set_up("lab").returncode == 0
    assert machine.done() == ["created"]
    assert "uv pip install --python .venv/bin/python -e ." in machine.words()


def test_torch_without_gpu_libraries_is_asked_of_uv_which_pip_brings(machine):
    machine.program("python3", PYTHON)
    outcome = machine.set_up("lab", TORCH="cpu")
    assert outcome.returncode == 0, outcome.stderr
    assert "--torch-backend=cpu -e ." in machine.words()


def test_tests_install_locked_versions_unless_told_not_to(machine):
    machine.program("python3", PYTHON)
    assert machine.set_up("tests").returncode == 0
    assert "-c requirements-lock.txt" in machine.words()
    assert machine.set_up("tests", LOCK="0").returncode == 0
    assert "-c requirements-lock.txt" not in machine.words()


def test_an_unknown_suite_is_named(machine):
    outcome = machine.set_up("everything")
    assert outcome.returncode == 2
    assert "book, lab or tests, not everything" in outcome.stderr
