"""The rules of the house: format, lint, types, and nothing of one machine in the project."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]

# All packages but the one that holds as many lines as they do together; of that, what they import.
PACKAGES = ("course_lib", "course_tasks", "course_figures", "course_page", "course_grader")
TYPED = [word for name in PACKAGES for word in ("-p", name)]


def project_files(*patterns):
    """Files that git tracks, or would track; without git, all that is not hidden or made."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = listing.stdout.splitlines()
    if listing.returncode != 0:
        paths = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
        names = [path for path in paths if not made(path) and fits(path, patterns)]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def made(path):
    """Whether git would ignore a file, as far as a name tells."""
    by_hand = ("_build", "node_modules", "__pycache__")
    return any(part in by_hand or part.startswith(".") or "egg-info" in part for part in path.parts)


def fits(path, patterns):
    return not patterns or any(path.match(pattern) for pattern in patterns)


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "format", "--check"],
        ["ruff", "check"],
        pytest.param(["mypy", *TYPED], marks=pytest.mark.slow),
        pytest.param(["mypy"], marks=pytest.mark.slow),
    ],
    ids=["format", "lint", "types", "types of the judges"],
)
def test_code_passes(command):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_no_path_of_one_machine_is_in_the_project():
    private = re.compile(
        r"(?<![\w.])(/home/(?!student\b)\w|/root/|/Users/\w|/work/|/tmp/[a-z]+-\d)"
    )
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in project_files()
        if path.suffix not in {".png", ".woff2", ".ico", ".safetensors"} and path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if private.search(line)
    ]
    assert not found, "\n".join(found)


def test_no_module_is_named_after_nothing():
    empty_names = {"utils", "util", "helpers", "helper", "misc", "common", "manager", "tools"}
    named = [path for path in project_files("*.py") if path.stem in empty_names]
    assert not named


def test_no_data_set_is_in_the_project():
    too_large = [path for path in project_files() if path.stat().st_size > 1_500_000]
    assert not too_large
    assert not [path for path in project_files() if path.name in {"shakespeare.txt", "names.txt"}]


def test_what_ci_and_the_image_take_from_others_is_named_by_its_content():
    workflows = [path.read_text(encoding="utf-8") for path in ROOT.glob(".github/workflows/*.yml")]
    used = [line for text in workflows for line in re.findall(r"uses: (.+)", text)]
    assert len(used) > 10
    pinned = r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+"
    assert not [line for line in used if not re.fullmatch(pinned, line)]
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    bases = re.findall(r"^FROM (.+)$", image, re.MULTILINE)
    assert bases
    assert not [one for one in bases if not re.fullmatch(r"\S+:\S+@sha256:[0-9a-f]{64}", one)]


def section(text, title):
    """What requirements.txt lists below a heading."""
    lines = text.split(f"## {title}", 1)[1].split("\n## ")[0].splitlines()[1:]
    return {line.split("#")[0].strip() for line in lines if line and not line.startswith("#")}


def test_every_dependency_says_why():
    for path in (ROOT / "requirements.txt", ROOT / "requirements-test.txt"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                assert re.fullmatch(r"\S+\s+# \S.{10,}", line), f"{path.name}: {line}"


def test_what_pip_installs_for_each_person_is_what_requirements_say():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: set(items) for name, items in project["optional-dependencies"].items()}
    whole = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    shared = {one for one in section(whole, "To read") if one.startswith("filelock")}
    assert set(project["dependencies"]) == section(whole, "To learn") | shared
    assert extras["book"] == section(whole, "To read")
    assert extras["jax"] == section(whole, "Chapter 10")
    assert extras["grading"] == section(whole, "To teach")
    tests = (ROOT / "requirements-test.txt").read_text(encoding="utf-8")
    listed = {line.split("#")[0].strip() for line in tests.splitlines() if line[:1] not in "#"}
    assert extras["test"] == listed - {""}


def test_stored_outputs_come_from_locked_versions():
    lock = (ROOT / "requirements-lock.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)", lock.lower(), re.M))
    whole = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    for line in whole.splitlines():
        if line and not line.startswith("#"):
            name, ranges = re.match(r"([\w.-]+)(?:\[\w+\])?(\S*)", line).groups()
            assert pinned[name] in SpecifierSet(ranges), line


def test_every_locked_file_has_a_hash_where_one_can_be_known():
    lock = (ROOT / "requirements-lock.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[^ ])", lock[lock.index("\nabsl-py==") + 1 :].strip("\n"))
    assert len(entries) > 100
    hashed = r"[\w.-]+==\S+( \\\n    --hash=sha256:[0-9a-f]{64})+"
    without = [one for one in entries if not re.fullmatch(hashed, one)]
    assert [one.partition("==")[0] for one in without] == ["torch"]


def test_every_locked_package_installs_on_the_oldest_python_that_the_course_takes():
    oldest = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())[1]
    names = re.findall(r"^([\w.-]+)==", (ROOT / "requirements-lock.txt").read_text(), re.M)
    assert len(names) > 100
    for name in names:
        takes = importlib.metadata.metadata(name).get("Requires-Python") or ""
        assert SpecifierSet(takes).contains(f"{oldest}.0"), f"{name} takes Python {takes} only"
