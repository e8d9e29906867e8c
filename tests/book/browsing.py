"""The browser that tests drive, and a reader's visit with it: fixtures for a conftest to import."""

import os

import chromium
import pytest
from reader import Visit


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium. Its absence fails CI and skips elsewhere, with the remedy.

    It goes with its module: while Playwright runs, its event loop does, and no notebook can be run
    in the same process.
    """
    from playwright.sync_api import sync_playwright

    path = chromium.find()
    if path is None:
        reason = "no Chromium on this machine: sudo apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(chromium.FLAGS))
        yield running
        running.close()


@pytest.fixture
def visit(browser):
    """Opens pages in a fresh profile, and keeps a list of everything that goes wrong there."""
    visits = []

    def start(allowed, **settings):
        visits.append(Visit(browser, allowed, settings))
        return visits[-1]

    yield start
    for visited in visits:
        visited.context.close()
