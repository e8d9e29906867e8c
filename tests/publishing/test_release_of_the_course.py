"""A release is one number everywhere, and a wheel that works where nothing else of it is."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import course_lib

ROOT = Path(__file__).parents[2]
PACKAGES = ("course_lib", "course_tasks", "course_judges", "course_figures", "course_grader")


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_number_of_the_release_is_the_same_everywhere():
    number = course_lib.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", number)
    assert project()["dynamic"] == ["version"]  # the wheel takes the library's
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited[1] == number
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    latest = re.search(r"^## \[(\d[^\]]*)\]", changes, re.MULTILINE)
    assert "## [Unreleased]" in changes
    assert latest is None or latest[1] == number


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy of what git tracks, so that no file of this machine gets in."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in files():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--quiet", "--wheel-dir", str(target)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    (made,) = target.glob("*.whl")
    assert f"-{course_lib.__version__}-" in made.name
    return made


def files():
    """What a wheel is made of."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "--", *PACKAGES]
    command += ["pyproject.toml", "README.md", "LICENSE"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.splitlines() if (ROOT / name).is_file()]


@pytest.mark.slow
def test_wheel_holds_every_file_of_the_packages_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert inside == {name for name in files() if name.startswith(PACKAGES)}


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel in a folder that stands for an empty environment, and what it depends on; grading
    with it, as `course` in that folder."""
    site = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--quiet", "--no-compile"]
    command += ["--disable-pip-version-check", "--target", str(site), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    return site


def run(installed, *command):
    done = subprocess.run(
        [sys.executable, "-P", *command],
        cwd=installed.parent,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_wheel_works_where_nothing_else_of_the_course_is(installed):
    """In an environment that has what it depends on, as pip would have installed it."""
    program = (
        "import course_grader, sys\n"
        "from course_grader.reports.rendering import compile_templates\n"
        "from course_lib import data\n"
        "compile_templates()\n"
        "assert len(data.load('play').text) > 10_000\n"
        "print({module.__file__.startswith(sys.argv[1]) for name, module in sys.modules.items()\n"
        "       if name.startswith('course_') and module.__file__})\n"
        "from course_grader.cli import app\n"
        "app(['--version'])\n"
    )
    origin, version = run(installed, "-c", program, str(installed)).splitlines()
    assert origin == "{True}"
    assert version == f"course {course_lib.__version__}"


@pytest.mark.slow
@pytest.mark.sandbox
def test_wheel_grades_and_the_patch_release_after_it_regrades_nobody(installed, tmp_path):
    course = tmp_path / "course"
    said = run(installed, str(ROOT / "setup" / "try_release.py"), str(course))
    assert f"release {course_lib.__version__} grades" in said
    module = installed / "course_lib" / "__init__.py"
    number = f'__version__ = "{course_lib.__version__}"'
    assert number in module.read_text(encoding="utf-8")
    module.write_text(module.read_text(encoding="utf-8").replace(number, '__version__ = "77.0.1"'))
    command = "from course_grader.cli import app; app()"
    assert run(installed, "-c", command, "--version") == "course 77.0.1\n"
    again = json.loads(
        run(installed, "-c", command, "grade", "01", "--json", "--course", str(course))
    )
    assert (again["unchanged"], again["submissions"]) == (["ada", "ben"], [])


def test_what_pip_would_install_with_it_can_be_read():
    from packaging.requirements import Requirement

    assert {Requirement(one).name for one in project()["dependencies"]} >= {"torch", "numpy"}
