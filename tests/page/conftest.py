"""What tests of Python in the page share: the archive unpacked, and processes that run in it."""

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from course_page import archive

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory):
    """A folder that holds what a page unpacks."""
    folder = tmp_path_factory.mktemp("page")
    with zipfile.ZipFile(io.BytesIO(archive.build())) as packed:
        packed.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def in_page(unpacked, tmp_path_factory):
    """Run Python as a page does: nothing of the course but what the archive holds, and no texts."""
    cache = tmp_path_factory.mktemp("cache")

    def run(*arguments, paths=(), typed=None, timeout=300):
        path = os.pathsep.join([str(unpacked), *map(str, paths)])
        kept = {name: value for name, value in os.environ.items() if name != "COURSE_DATA"}
        return subprocess.run(
            [sys.executable, "-P", *map(str, arguments)],
            cwd=unpacked,
            env=kept | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "COURSE_CACHE": str(cache)},
            input=typed,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run
