"""Pages as PDF, printed by a Chromium without a window."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from course_grader.doctor import BROWSERS
from course_grader.errors import BrowserMissingError, NotWrittenError

_SHELL = "chromium-headless-shell"
# Some hundred sheets take a few seconds.
_SECONDS = 300.0


def browser() -> str:
    """The path of a Chromium: $CHROMIUM, or the system's.

    Raises
    ------
    BrowserMissingError
    """
    named = [os.environ.get("CHROMIUM", ""), *map(shutil.which, (_SHELL, *BROWSERS))]
    found = next((path for path in named if path and Path(path).exists()), None)
    if found is None:
        raise BrowserMissingError(
            "a PDF is printed by Chromium, and none is installed: sudo apt-get install chromium, "
            "or set CHROMIUM to its path. The same sheets are there as HTML, which any browser "
            "prints"
        )
    return found


def print_pdf(page: Path, to: Path) -> None:
    """Print a page of HTML.

    Parameters
    ----------
    page : Path
        It needs no script and no network, and may use neither.
    to : Path

    Raises
    ------
    BrowserMissingError, NotWrittenError
    """
    program = browser()
    with tempfile.TemporaryDirectory(prefix="course-pdf-") as scratch:
        made = Path(scratch) / "made.pdf"
        command = [
            program,
            "--headless",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            # Nobody may be the owner of a sandbox of Chromium's in a container or as root. The page
            # holds no script, and its policy allows none.
            "--no-sandbox",
            f"--user-data-dir={scratch}/profile",
            "--no-pdf-header-footer",
            f"--print-to-pdf={made}",
            page.resolve().as_uri(),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotWrittenError(f"{program} could not print {page}: {error}") from error
        if not made.is_file():
            said = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            raise NotWrittenError(f"{program} printed no PDF of {page}: {said[0]}")
        shutil.copyfile(made, to)
