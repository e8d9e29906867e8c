"""The Chromium that tests and benchmarks drive.

`python -m setup.chromium` prints its path, or exits with 1.
"""

import os
import shutil
import sys
from pathlib import Path

from course_grader.doctor import BROWSERS

MAC_APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)

# Headless, alone, and silent: a browser that calls nobody of its own accord.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find():
    """The path of a Chromium, or None: $CHROMIUM, the system's, or the one Playwright fetched."""
    if known := _of_the_system():
        return known
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        fetched = playwright.chromium.executable_path
    return fetched if Path(fetched).exists() else None


def launch(playwright):
    """A headless Chromium of a Playwright that runs; whoever asks for it closes it."""
    path = _of_the_system() or playwright.chromium.executable_path
    return playwright.chromium.launch(executable_path=path, args=list(FLAGS))


def _of_the_system():
    named = [os.environ.get("CHROMIUM", ""), *map(shutil.which, BROWSERS), *MAC_APPLICATIONS]
    return next((path for path in filter(None, named) if Path(path).exists()), None)


if __name__ == "__main__":
    found = find()
    print(found or "no Chromium")
    sys.exit(0 if found else 1)
