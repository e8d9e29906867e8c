"""A release is one number everywhere, and a wheel that works where nothing else of it is."""

import importlib.metadata
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
    number = project()["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", number)
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert course_lib.__version__ == cited[1] == number
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


@pytest.mark.slow
def test_wheel_works_where_nothing_else_of_the_course_is(wheel, tmp_path):
    """In an environment that has what it depends on, as pip would have installed it."""
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--quiet", "--no-compile"]
    command += ["--disable-pip-version-check", "--target", str(tmp_path / "site"), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    program = (
        "import course_grader, course_lib, sys\n"
        "from course_grader.reports.rendering import compile_templates\n"
        "from course_grader.staleness import judging_key\n"
        "from course_lib import data\n"
        "compile_templates()\n"
        "assert len(data.load('play').text) > 10_000\n"
        "from course_tasks import check\n"
        "from course_judges import catalogue\n"
        "task = '01/running-sum'\n"
        "print(check(task, catalogue.task(task).answer).points, len(judging_key([task])))\n"
        "print({module.__file__.startswith(sys.argv[1]) for name, module in sys.modules.items()\n"
        "       if name.startswith('course_') and module.__file__})\n"
        "from course_grader.cli import app\n"
        "app(['--version'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, str(tmp_path / "site")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    points, origin, version = done.stdout.splitlines()
    assert re.fullmatch(r"[1-9]\d*\.0 64", points)
    assert origin == "{True}"
    assert version == f"course {project()['version']}"


def test_what_pip_would_install_with_it_can_be_read():
    """Each requirement parses; where the course is installed, the metadata are the project's."""
    from packaging.requirements import Requirement

    assert {Requirement(one).name for one in project()["dependencies"]} >= {"torch", "numpy"}
    try:
        known = importlib.metadata.version(project()["name"])
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the course is not installed here: pip install -e .")
    assert known == project()["version"]
