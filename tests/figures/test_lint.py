"""The linter of the JavaScript, for contributors and CI: nobody else needs Node."""

import json
import shutil
import subprocess

import pytest
from reader import ROOT

BIOME = ROOT / "node_modules" / ".bin" / "biome"


def test_linter_finds_nothing_in_the_javascript_and_the_stylesheet():
    if shutil.which("node") is None:
        pytest.skip("Node is not installed; only contributors to the figures and CI need it")
    if not BIOME.exists():
        pytest.skip("the linter is not installed: npm ci")
    ran = subprocess.run(
        [BIOME, "ci", "--error-on-warnings", "--colors=off", "course_figures"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_lock_file_names_no_registry():
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    assert all("resolved" not in package for package in lock["packages"].values())
