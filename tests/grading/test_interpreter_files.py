"""Inside a sandbox are the files of the interpreter, wherever that is installed, and no others."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest
from walled_runs import ask

import course_lib
from course_grader.sandbox import canaries, interpreter_files, selftest, shared_objects
from course_grader.sandbox.bubblewrap import MADE_INSIDE
from course_grader.sandbox.sandbox import Sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

FILES = """
import os
def found():
    files = []
    for folder, folders, names in os.walk("/"):
        folders[:] = [one for one in folders if os.path.join(folder, one) not in passed_over]
        files += [os.path.join(folder, name) for name in names]
    return files
"""

EXISTING = """
import os
def found():
    return [path for path in paths if os.path.lexists(path)]
"""

COURSE = Path(course_lib.__file__).parents[1]
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


def test_every_file_inside_is_one_that_the_interpreter_needs(warm):
    passed_over = [*MADE_INSIDE, *(one for one in interpreter_files.view().shown)]
    (files,) = ask(warm, f"passed_over = {passed_over!r}\n{FILES}")
    view = interpreter_files.view()
    strangers = [one for one in files if one not in view.shown and one not in view.links]
    assert strangers == []
    assert len(files) > 20


def test_what_lies_below_usr_is_not_there(warm):
    """An exchange, a gradebook, judges: as root in the very folder of the exchange."""
    place = Path("/usr/local/share") if os.geteuid() == 0 else None
    paths = ["/usr/local/share", "/usr/share/doc", "/usr/lib/python3/dist-packages", "/usr/include"]
    if place is not None:
        folder = Path(tempfile.mkdtemp(dir=place, prefix="exchange-"))
        try:
            folder.chmod(0o755)
            inbound = folder / "inbound" / "ada+01-averages" / "01-averages.ipynb"
            inbound.parent.mkdir(parents=True)
            inbound.write_text("an honest student's work", encoding="utf-8")
            (found,) = ask(warm, f"paths = {[*paths, str(folder), str(inbound)]!r}\n{EXISTING}")
        finally:
            shutil.rmtree(folder)
    else:
        (found,) = ask(warm, f"paths = {paths!r}\n{EXISTING}")
    assert found == []


def test_honest_programs_libraries_zones_and_letters_are_there(warm):
    honest = """
import ctypes, decimal, hashlib, locale, lzma, sqlite3, ssl, subprocess, sys, uuid, zoneinfo
import matplotlib.font_manager, numpy, torch
def found():
    said = subprocess.run("echo a b | tr ' ' '\\\\n' | wc -l; ls / | head -1; exit 3", shell=True,
                          capture_output=True, text=True)
    python = subprocess.run(["python", "-c", "import sys; print(sys.prefix)"], capture_output=True,
                            text=True).stdout.strip()
    locale.setlocale(locale.LC_ALL, "")
    return [said.stdout.split(), said.returncode, said.stderr, python == sys.prefix,
            zoneinfo.ZoneInfo("Asia/Tokyo").key, sqlite3.connect(":memory:").execute(
            "select 1").fetchone()[0], len(hashlib.sha256(b"").hexdigest())]
"""
    (said,) = ask(warm, honest)
    assert said == [["2", "bin"], 3, "", True, "Asia/Tokyo", 1, 64]


def test_shared_objects_are_those_that_the_dynamic_loader_names():
    """`ldd` asks the loader itself, for each of Python's own extension modules."""
    ldd = shutil.which("ldd")
    if ldd is None:
        pytest.skip("no ldd: sudo apt-get install libc-bin")
    view = interpreter_files.view()
    modules = [
        path
        for path in Path(sysconfig.get_path("platstdlib")).parent.glob(f"{VERSION}/lib-dynload/*")
        if ".so" in path.name and "_tkinter" not in path.name
    ] or [Path(sys.executable).resolve()]
    done = subprocess.run(
        [ldd, *map(str, modules)], capture_output=True, text=True, check=False, env={}
    )
    named = {line.split()[2] for line in done.stdout.splitlines() if " => /" in line}
    assert named
    assert not [path for path in named if not view.shows(path)]


def test_file_that_is_none_for_the_loader_needs_nothing(tmp_path):
    for content in (b"", b"#!/bin/sh\n", b"\x7fELF\x02\x01" + b"\0" * 10, b"\x7fELF\x02\x01" * 99):
        path = tmp_path / "file"
        path.write_bytes(content)
        assert shared_objects.needs(str(path)) is None
    assert shared_objects.needs(str(tmp_path / "none")) is None


class TestLinks:
    """A place is inside under every name by which it is looked up."""

    def collected(self, *paths):
        found = interpreter_files._Collected()
        for path in paths:
            found.add(str(path))
        return found.view([])

    @pytest.fixture
    def place(self, tmp_path):
        real = tmp_path.resolve()
        (real / "usr" / "lib").mkdir(parents=True)
        (real / "usr" / "lib" / "libx.so.1.2").write_text("x", encoding="utf-8")
        (real / "usr" / "lib" / "libx.so.1").symlink_to("libx.so.1.2")
        (real / "lib").symlink_to("usr/lib")
        (real / "other").symlink_to(real / "lib")
        return real

    def test_relative_and_absolute_ones_are_made_again(self, place):
        view = self.collected(place / "other" / "libx.so.1")
        assert view.shown == {str(place / "usr/lib/libx.so.1.2")}
        assert view.links == {
            str(place / "lib"): "usr/lib",
            str(place / "other"): str(place / "lib"),
            str(place / "usr/lib/libx.so.1"): "libx.so.1.2",
        }
        assert view.shows(place / "lib" / "libx.so.1")
        assert view.shows(place / "usr")
        assert not view.shows(place / "usr" / "lib" / "liby.so")

    def test_what_lies_in_a_folder_that_is_inside_is_not_named_again(self, place):
        view = self.collected(place / "usr", place / "lib" / "libx.so.1")
        assert view.shown == {str(place / "usr")}
        assert view.links == {str(place / "lib"): "usr/lib"}

    def test_circle_and_missing_target_are_left_out(self, place):
        (place / "circle").symlink_to("circle")
        (place / "gone").symlink_to("nowhere")
        view = self.collected(place / "circle", place / "gone", place / "none")
        assert view.shown == set()
        assert view.links == {}


PROVE = """
import json, sys
from pathlib import Path
from course_grader.sandbox import interpreter_files, selftest
from course_grader.sandbox.sandbox import Sandbox
root = Path(sys.argv[1])
with Sandbox("warm", own_users=sys.argv[2] == "own users") as one:
    walls = selftest.prove(one, root, [root / "gradebook", Path(sys.prefix)])
broken = [f"{wall.name}: {wall.found}" for wall in walls if not wall.holds]
print(json.dumps([sys.prefix, sys.base_prefix, broken]))
"""


def environment_of(python, folder, *options, packages=None):
    """An environment in a folder of this environment's packages, with another interpreter."""
    subprocess.run([python, "-m", "venv", "--without-pip", *options, folder], check=True)
    place = folder / "lib" / VERSION / "site-packages"
    place.rmdir()
    place.symlink_to(packages or sysconfig.get_path("purelib"))
    return folder / "bin" / "python"


def proved(python, root, users="own users"):
    (root / "gradebook").mkdir(exist_ok=True)
    done = subprocess.run(
        [python, "-c", PROVE, root, users],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={"PATH": os.defpath, "HOME": str(root), "PYTHONPATH": str(COURSE)},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(params=["/var/tmp", "/tmp"], ids=["elsewhere", "where each run writes"])
def folder(request):
    with tempfile.TemporaryDirectory(dir=request.param) as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_every_wall_holds_with_the_distributions_interpreter(folder):
    python = Path("/usr/bin") / VERSION
    if not python.is_file():
        pytest.skip(f"no {python}: sudo apt-get install python3-venv")
    prefix, base, broken = proved(environment_of(python, folder / "venv"), folder)
    assert (prefix, base, broken) == (str(folder / "venv"), "/usr", [])


def test_every_wall_holds_with_a_copied_interpreter_in_the_course_itself(folder):
    prefix, _, broken = proved(environment_of(sys.executable, folder, "--copies"), folder)
    assert (prefix, broken) == (str(folder), [])


def test_every_wall_holds_with_a_relocated_interpreter_as_conda_installs_one(folder):
    """All in one prefix, no environment around it, and the gradebook in the middle of it."""
    base = Path(sys.base_prefix)
    (folder / "bin").mkdir()
    (folder / "conda-meta").mkdir()
    (folder / "lib" / VERSION).mkdir(parents=True)
    shutil.copy2(Path(sys.executable).resolve(), folder / "bin" / VERSION)
    (folder / "bin" / "python").symlink_to(VERSION)
    for library in (base / "lib").glob("libpython*.so*"):
        shutil.copy2(library, folder / "lib" / library.name, follow_symlinks=False)
    for entry in (base / "lib" / VERSION).iterdir():
        if entry.name not in ("site-packages", "test", "__pycache__"):
            copy = shutil.copytree if entry.is_dir() else shutil.copy2
            copy(entry, folder / "lib" / VERSION / entry.name)
    python = folder / "bin" / "python"
    # A distribution's interpreter has another place for packages when no environment is around it.
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(subprocess.check_output([python, "-I", "-S", "-c", asked], text=True).strip())
    assert packages.is_relative_to(folder)
    packages.parent.mkdir(parents=True, exist_ok=True)
    packages.symlink_to(sysconfig.get_path("purelib"))
    for users in ("own users", "one user"):
        assert proved(python, folder, users) == [str(folder), str(folder), []]


def test_every_wall_holds_with_packages_that_a_link_finds_where_each_run_writes():
    """As in an environment whose packages were put on a larger or faster disk."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        packages = Path(name) / "packages"
        try:
            shutil.copytree(sysconfig.get_path("purelib"), packages, copy_function=os.link)
        except shutil.Error:
            pytest.skip("packages cannot be in /tmp as hard links: it is on another disk")
        with tempfile.TemporaryDirectory(dir="/var/tmp") as root:
            python = environment_of(sys.executable, Path(root) / "venv", packages=packages)
            prefix, _, broken = proved(python, Path(root))
            assert (prefix, broken) == (f"{root}/venv", [])


def test_environment_that_is_reached_by_a_link_where_each_run_writes_stays_whole(tmp_path):
    """Also what is imported first in a run, when it has a temporary folder of its own."""
    (tmp_path / "venv").symlink_to(sys.prefix)
    program = (
        "from course_grader.sandbox import selftest\n"
        "from course_grader.sandbox.sandbox import Sandbox\n"
        "with Sandbox('warm') as one:\n"
        "    print(selftest._try(one, 'import stack_data, wave; print(stack_data.__file__)'))\n"
    )
    done = subprocess.run(
        [tmp_path / "venv" / "bin" / "python", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONPATH": str(COURSE)},
    )
    assert done.stdout.startswith(f"['{tmp_path}/venv/lib/")


@pytest.mark.parametrize("where", ["packages", "standard library"])
def test_self_test_finds_what_was_put_among_pythons_own_files(tmp_path, where):
    """There the allow-list does not help: a gradebook among packages is inside."""
    place = Path(sysconfig.get_path("purelib" if where == "packages" else "stdlib"))
    if not os.access(place, os.W_OK):
        pytest.skip(f"{place} is not to be written to")
    with Sandbox("warm") as sandbox:
        walls = selftest.prove(sandbox, tmp_path, [place])
    (found,) = [wall for wall in walls if not wall.holds]
    assert found.name == "gradebook and home"
    assert str(place) in found.found
    assert "outside of the folders of Python" in found.remedy


def test_canaries_are_put_into_every_place_of_a_class(course):
    assert canaries.EXCHANGE in canaries.of_course(type(course)(course.root))
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write(
            'c.CourseDirectory.db_url = "sqlite:////data/grades.db"\n'
            'c.CourseDirectory.submitted_directory = "handed-in"\n'
            'c.Exchange.root = "/shared/exchange"\n'
        )
    again = type(course)(course.root)
    named = set(map(str, canaries.of_course(again)))
    root = course.root
    assert named >= {
        *(str(root), str(root / "handed-in"), str(root / "autograded"), str(root / "feedback")),
        *(str(root / "solutions"), "/data", "/shared/exchange"),
    }
    assert Path("/other") in canaries.of_course(again, "sqlite:////other/grades.db")
    assert Path.home() in canaries.of_machine()


def test_canary_lies_in_its_place_only_while_it_is_looked_for(tmp_path):
    with canaries.planted([tmp_path, tmp_path / "none"]) as paths:
        (planted,) = tmp_path.iterdir()
        assert {str(planted), str(tmp_path / "none")} <= set(paths)
        assert any(path.startswith("/usr/") for path in paths)
        assert not [path for path in paths if not os.path.lexists(path) and "none" not in path]
    assert not list(tmp_path.iterdir())
