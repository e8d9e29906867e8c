import os
import threading

import chromium
import pytest
from reader import ROOT, Visit, pages

from course_lib.publishing import site


@pytest.fixture(scope="session")
def book():
    """The built book; a state of the sources is built once, whoever asks first."""
    return site.build(ROOT)


@pytest.fixture(scope="session")
def self_study():
    """The built edition with solutions."""
    return site.build(ROOT, solutions=True)


@pytest.fixture(scope="session")
def served(book):
    """Address of the book on this machine, without a slash at the end."""
    with site.server(book) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


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


@pytest.fixture(scope="session")
def contents_pages():
    """Every page that the table of contents names."""
    return list(pages())
