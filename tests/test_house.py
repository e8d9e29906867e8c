"""The rules of the house: format, lint, types, and nothing of one machine in the project."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def project_files(*patterns):
    """Files that git tracks, or would track."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / line for line in listing.stdout.splitlines() if (ROOT / line).is_file()]


@pytest.mark.parametrize(
    "command",
    [["ruff", "format", "--check"], ["ruff", "check"], ["mypy"]],
    ids=["format", "lint", "types"],
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


def test_every_dependency_says_why():
    lists = sorted(ROOT.glob("requirements*.txt"))
    assert len(lists) == 4
    for path in lists:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                assert re.fullmatch(r"\S+\s+# \S.{10,}", line), f"{path.name}: {line}"
