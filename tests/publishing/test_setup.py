"""`setup/environment.sh` makes .venv once, notices what no longer holds, and says what to do."""

import hashlib
import http.server
import importlib.util
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from setup import pip_settings

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

# Stands for Python, for itself in .venv, and for uv: writes down what it was asked to install.
# Files in the course's folder say what does not work.
PYTHON = """#!/bin/sh
bring_pip() { echo "#!$(pwd)/.venv/bin/python" >.venv/bin/pip; }
bring_uv() { cp "$0" .venv/bin/uv; }
case "$*" in
    "-m venv --without-pip .venv")
        mkdir -p .venv/bin
        cp "$0" .venv/bin/python
        echo created >>log ;;
    "-m pip --python .venv/bin/python install"*" pip uv")
        [ ! -e no-pip-outside ] && bring_pip && bring_uv ;;
    "-I -m ensurepip"*) bring_pip; echo ensurepip >>log ;;
    "-m pip install"*" uv") [ ! -e no-uv ] && bring_uv ;;
    "-m pip install"*)
        echo installed >>log
        echo "$*" >>words
        [ ! -e pip-fails ] ;;
    "pip install --dry-run"*)
        case "$*" in
            *--torch-backend=cpu*) [ -e cpu-index ] && echo "Would install + torch==2.9.1" ;;
            *) cat would-take 2>/dev/null || echo "Would install + torch==2.9.1" ;;
        esac ;;
    "pip install"*)
        echo "uv $*" >>words
        if [ -e uv-fails ]; then echo "uv: no such version" >&2; exit 1; fi
        echo "index: ${UV_DEFAULT_INDEX:-}" >>words
        echo installed >>log ;;
    "setup/pip_settings.py") [ ! -e pip-settings ] || cat pip-settings ;;
    "-m pip --version" | "-m compileall"*) ;;
    "-c import ensurepip, venv") [ ! -e no-venv-module ] ;;
    *) exec REAL "$@" ;;
esac
"""

UV = """#!/bin/sh
case "$*" in
    "pip install --dry-run"*) echo "Would make no changes" ;;
    *) echo "uv $*" >>words ;;
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

    def has(self, *names):
        """Put files there that `PYTHON` asks for."""
        for name in names:
            (self.course / name).touch()

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
    machine.has("uv-fails", "pip-fails")
    broken_off = machine.set_up()
    assert broken_off.returncode == 1
    assert "stopped before all was there" in broken_off.stderr
    (machine.course / "uv-fails").unlink()
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
    machine.has("no-venv-module")
    machine.program("apt-get", "#!/bin/sh\necho apt $* >>log\n")
    outcome = machine.set_up()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert outcome.returncode == 1
    assert f"sudo apt-get install -y python{version}-venv" in outcome.stderr
    assert machine.done() == []


def test_without_the_venv_module_root_on_debian_gets_it_from_apt(machine):
    machine.program("python3", PYTHON)
    machine.program("id", "#!/bin/sh\necho 0\n")
    machine.has("no-venv-module")
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
    machine.program("uv", UV)
    assert machine.set_up("lab").returncode == 0
    assert machine.done() == ["created"]
    assert machine.words().splitlines() == [
        "uv pip install --quiet --python .venv/bin/python pip",
        "uv pip install --python .venv/bin/python --quiet -e .",
    ]


def test_pip_brings_uv_where_there_is_none_and_tells_it_of_the_index(machine):
    machine.program("python3", PYTHON)
    (machine.course / "pip-settings").write_text("export UV_DEFAULT_INDEX='https://mirror/a b'\n")
    outcome = machine.set_up("lab")
    assert outcome.returncode == 0
    assert machine.done() == ["created", "installed"]
    assert machine.words().splitlines() == [
        "uv pip install --python .venv/bin/python --quiet -e .",
        "index: https://mirror/a b",
    ]
    assert "quick way" not in outcome.stderr


def test_where_no_pip_outside_can_do_it_pythons_own_brings_uv(machine):
    machine.program("python3", PYTHON)
    machine.has("no-pip-outside")
    outcome = machine.set_up()
    assert outcome.returncode == 0
    assert machine.done() == ["created", "ensurepip", "installed"]
    assert machine.words().startswith("uv pip install")
    assert outcome.stderr.count("the one that comes with Python goes in first") == 1


@pytest.mark.parametrize("broken", ["uv-fails", "no-uv"])
def test_where_uv_fails_pip_installs_the_newest_that_the_book_can_be_built_with(machine, broken):
    machine.program("python3", PYTHON)
    machine.has("no-pip-outside", broken)
    outcome = machine.set_up()
    assert outcome.returncode == 0, outcome.stderr
    assert machine.done() == ["created", "ensurepip", "installed"]
    words = machine.words().splitlines()
    assert "requirements-lock.txt" not in words[-1]
    assert words[-1].startswith("-m pip install")
    assert words[-1].endswith("-r .venv/reading.txt")
    assert outcome.stderr.count("Trying pip alone and the newest versions") == 1
    assert ("uv: no such version" in outcome.stderr) == (broken == "uv-fails")


def test_a_set_up_that_pip_finished_is_finished(machine):
    machine.program("python3", PYTHON)
    machine.has("uv-fails")
    assert machine.set_up().returncode == 0
    assert machine.done() == ["created", "installed"]
    assert machine.set_up().returncode == 0
    assert machine.done() == []


def test_the_book_is_built_with_locked_finished_packages_unless_told_not_to(machine):
    machine.program("python3", PYTHON)
    assert machine.set_up().returncode == 0
    assert "-c requirements-lock.txt --only-binary :all: -r .venv/reading.txt" in machine.words()
    assert machine.set_up(LOCK="0").returncode == 0
    assert "requirements-lock.txt" not in machine.words()


def test_torch_without_gpu_libraries_is_asked_of_uv_and_of_nobody_else(machine):
    machine.program("python3", PYTHON)
    outcome = machine.set_up("lab", TORCH="cpu")
    assert outcome.returncode == 0, outcome.stderr
    assert "--torch-backend=cpu -e ." in machine.words()
    machine.has("uv-fails")
    assert machine.set_up("tests", TORCH="cpu").returncode == 1
    assert "-m pip install" not in machine.words()


without_gpu = pytest.mark.skipif(
    sys.platform != "linux"
    or any(map(os.path.exists, ("/proc/driver/nvidia", "/dev/kfd")))
    or bool(shutil.which("nvidia-smi")),
    reason="a GPU's driver is here, or no Linux",
)


@without_gpu
def test_without_a_gpu_torch_comes_without_its_libraries_and_that_is_said_first(machine):
    machine.program("python3", PYTHON)
    machine.has("cpu-index")
    outcome = machine.set_up("lab")
    assert outcome.returncode == 0, outcome.stderr
    assert "--torch-backend=cpu -e ." in machine.words()
    first, second = outcome.stderr.splitlines()[-2:]
    assert "no driver of a GPU here, so PyTorch comes without its GPU libraries" in first
    assert "about 1.2 GB;" in second


@without_gpu
def test_where_torch_without_gpu_libraries_is_out_of_reach_the_full_build_comes(machine):
    machine.program("python3", PYTHON)
    outcome = machine.set_up("lab")
    assert outcome.returncode == 0, outcome.stderr
    assert "--torch-backend" not in machine.words()
    assert "https://download.pytorch.org/whl/cpu, does not answer" in outcome.stderr
    assert "about 5.9 GB, because PyTorch brings its GPU libraries" in outcome.stderr


@without_gpu
@pytest.mark.parametrize("says", ["+ torch==2.9.1+cpu", "Would make no changes"])
def test_what_the_settings_find_without_gpu_libraries_is_left_as_it_is(machine, says):
    machine.program("python3", PYTHON)
    machine.has("cpu-index")
    (machine.course / "would-take").write_text(says)
    outcome = machine.set_up("lab")
    assert outcome.returncode == 0, outcome.stderr
    assert "--torch-backend" not in machine.words()
    assert "about 1.2 GB;" in outcome.stderr
    assert "driver" not in outcome.stderr


def test_with_a_gpu_or_on_demand_torch_brings_its_libraries(machine):
    machine.program("python3", PYTHON)
    machine.has("cpu-index")
    machine.program("nvidia-smi", "#!/bin/sh\n")
    outcome = machine.set_up("lab")
    assert "--torch-backend" not in machine.words()
    (machine.bin / "nvidia-smi").unlink()
    machine.set_up("lab", TORCH="gpu")
    assert "--torch-backend" not in machine.words()
    if sys.platform == "linux":
        assert "about 5.9 GB" in outcome.stderr


def test_settings_of_pip_that_cannot_be_read_leave_the_work_to_pip(machine):
    machine.program("python3", PYTHON)
    (machine.course / "pip-settings").mkdir()  # so that reading it fails
    outcome = machine.set_up("lab")
    assert outcome.returncode == 0
    assert machine.words().startswith("-m pip install")
    assert outcome.stderr.count("Trying pip alone, which takes longer") == 1


def test_tests_install_locked_versions_unless_told_not_to(machine):
    machine.program("python3", PYTHON)
    assert machine.set_up("tests").returncode == 0
    assert "-c requirements-lock.txt" in machine.words()
    assert machine.set_up("tests", LOCK="0").returncode == 0
    assert "requirements-lock.txt" not in machine.words()


def test_tests_keep_the_locked_versions_where_pip_installs(machine):
    machine.program("python3", PYTHON)
    machine.has("uv-fails")
    outcome = machine.set_up("tests")
    assert outcome.returncode == 0
    first, last = machine.words().splitlines()[-2:]
    assert "--require-hashes --no-deps -r .venv/hashed.txt" in first
    assert "-c .venv/versions.txt -r requirements.txt" in last
    assert "newest" not in outcome.stderr


def test_an_unknown_suite_is_named(machine):
    outcome = machine.set_up("everything")
    assert outcome.returncode == 2
    assert "book, lab or tests, not everything" in outcome.stderr


# What follows installs real packages, tiny ones, with the real pip and the real uv.


def package(folder, name, version):
    """A wheel of one module, which says its version."""
    folder.mkdir(exist_ok=True)
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", f"version = {version!r}\n")
        wheel.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")


class RealMachine(Machine):
    """A .venv that pip and uv are in, and a course that needs one package."""

    def __init__(self, folder, uv):
        super().__init__(folder)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.venv], check=True)
        (site,) = self.venv.glob("lib/python*/site-packages")
        pip = Path(importlib.util.find_spec("pip").origin).parent
        shutil.copytree(pip, site / "pip", ignore=shutil.ignore_patterns("__pycache__"))
        (self.venv / "bin" / "pip").write_text(f"#!{self.venv}/bin/python\n")
        (self.venv / "bin" / "uv").symlink_to(uv)

    @property
    def venv(self):
        return self.course / ".venv"

    def needs(self, requirement, locked):
        (self.course / "requirements.txt").write_text(f"## To read\n{requirement}\n")
        (self.course / "requirements-lock.txt").write_text(f"{locked}\n")

    def version(self, name):
        program = f"import {name}; print({name}.version)"
        return subprocess.check_output(
            [self.venv / "bin" / "python", "-c", program], text=True
        ).strip()

    def set_up(self, *words, **environment):
        home = self.course.parent
        nobodys = {"HOME": str(home), "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}
        local = {"UV_CACHE_DIR": str(home / "cache"), "UV_HTTP_RETRIES": "0"}
        return super().set_up(*words, **nobodys, **local, **environment)


@pytest.fixture
def real_machine(tmp_path):
    uv = shutil.which(
        "uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    if uv is None:
        pytest.skip("no uv here; it comes where `make test` set up with it")
    return RealMachine(tmp_path, uv)


@pytest.mark.slow
@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_a_locked_file_that_was_exchanged_is_not_installed(real_machine, tmp_path, installer):
    wheels = tmp_path / "wheels"
    package(wheels, "exchanged", "1.0")
    package(wheels, "unhashed", "1.0")
    (wheel,) = wheels.glob("exchanged*")
    right = hashlib.sha256(wheel.read_bytes()).hexdigest()
    wrong = hashlib.sha256(b"something else").hexdigest()
    for name in ("requirements-test.txt", "pyproject.toml"):
        (real_machine.course / name).write_text("")
    (real_machine.course / "pyproject.toml").write_text(
        '[project]\nname = "nothing"\nversion = "1.0"\n[tool.setuptools]\npackages = []\n'
    )
    if installer == "pip":
        (real_machine.venv / "bin" / "uv").unlink()
        (real_machine.venv / "bin" / "uv").symlink_to("/bin/false")
    outside = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    for digest in (wrong, right):
        locked = f"exchanged==1.0 \\\n    --hash=sha256:{digest}\nunhashed==1.0"
        real_machine.needs("exchanged\nunhashed", locked)
        outcome = real_machine.set_up("tests", **outside)
        site = next(real_machine.venv.glob("lib/python*/site-packages"))
        assert (site / "exchanged.py").exists() == (digest == right), outcome.stderr
        if digest == wrong:
            assert outcome.returncode == 1
            assert wrong in outcome.stderr


@pytest.mark.slow
def test_a_locked_version_that_cannot_be_had_gives_way_to_one_that_can(real_machine, tmp_path):
    """What pip was told of packages, uv knows: both find them in a folder alone."""
    package(tmp_path / "packages", "tiny", "1.2")
    package(tmp_path / "packages", "tiny", "1.3")
    nowhere_else = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "packages")}

    real_machine.needs("tiny>=1,<2", locked="tiny==1.2")
    quick = real_machine.set_up(**nowhere_else)
    assert quick.returncode == 0, quick.stderr
    assert "quick way" not in quick.stderr
    assert real_machine.version("tiny") == "1.2"

    real_machine.needs("tiny>=1.3,<2", locked="tiny==1.5")
    plain = real_machine.set_up(**nowhere_else)
    assert plain.returncode == 0, plain.stderr
    assert "tiny==1.5" in plain.stderr  # uv's words
    assert plain.stderr.count("Trying pip alone and the newest versions") == 1
    assert real_machine.version("tiny") == "1.3"


class Index(http.server.SimpleHTTPRequestHandler):
    """An index of packages, and the proxy to all others: it says no to each, and writes it down."""

    def do_CONNECT(self):
        self.server.asked.append(self.path)
        self.send_error(502)

    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, *words):
        """Nothing is written: a test's output is for its failures."""


@pytest.fixture
def index(tmp_path):
    """Serves tmp_path on 127.0.0.1; `asked` are the paths and the other machines asked for."""

    def handler(*words):
        return Index(*words, directory=tmp_path)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.slow
def test_torch_without_gpu_libraries_comes_from_its_own_index_and_nowhere_else(
    real_machine, index, tmp_path
):
    (tmp_path / "simple").mkdir()
    package(tmp_path / "simple" / "torch", "torch", "2.13.0")
    here = f"http://127.0.0.1:{index.server_port}"
    network = {"PIP_INDEX_URL": f"{here}/simple", "HTTPS_PROXY": here}
    real_machine.needs("torch>=2.9,<3", locked="torch==2.13.0")

    outcome = real_machine.set_up(TORCH="cpu", **network)
    assert outcome.returncode == 1
    assert "https://download.pytorch.org/whl/cpu/torch/" in outcome.stderr
    assert set(index.asked) == {"download.pytorch.org:443"}

    index.asked.clear()
    outcome = real_machine.set_up(**network)
    assert outcome.returncode == 0, outcome.stderr
    assert real_machine.version("torch") == "2.13.0"
    assert {path.split("/")[1] for path in index.asked} == {"simple"}


def test_uv_is_told_what_pip_is_told_for_installing():
    listed = """\
:env:.timeout='60'
global.cert='/etc/certificates.pem'
global.extra-index-url='\\nhttps://one/simple\\nhttps://two/simple'
global.find-links='/wheels https://more/wheels'
global.index-url='https://everybody/simple'
global.require-virtualenv='true'
install.index-url='https://installing/simple'
download.index-url='https://nobody/simple'
"""
    told = pip_settings.settings(listed)
    assert pip_settings.variables(told, present={"SSL_CERT_FILE"}) == {
        "UV_DEFAULT_INDEX": "https://installing/simple",
        "UV_INDEX": "https://one/simple https://two/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/wheels,https://more/wheels",
        "UV_HTTP_TIMEOUT": "60",
    }
    assert pip_settings.variables(pip_settings.settings("")) == {}


def test_settings_reach_a_shell_unharmed():
    environment = {
        **os.environ,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "https://u:'$(x)@h/s",
    }
    environment.pop("UV_DEFAULT_INDEX", None)
    script = 'eval "$("$0" setup/pip_settings.py)"; printf %s "$UV_DEFAULT_INDEX"'
    said = subprocess.check_output(
        ["sh", "-c", script, sys.executable], cwd=ROOT, env=environment, text=True
    )
    assert said == "https://u:'$(x)@h/s"
