"""The browser that tests drive, and a reader's visit with it: fixtures for a conftest to import."""

import contextlib
import os

import pytest
from reader import Visit

from setup import chromium

# The browser that runs, and what ends it.
_RUNNING = []
_END = contextlib.ExitStack()

# Modules in these folders of tests share one browser.
SHARING = ("book", "figures", "page")


@pytest.fixture
def browser():
    """A headless Chromium. Its absence fails CI and skips elsewhere, with the remedy.

    Tests share it until `close_unless_shared` ends it.
    """
    if not _RUNNING:
        _RUNNING.append(_start())
    return _RUNNING[0]


def close_unless_shared(item, following):
    """End the browser after a test if the next one is of a module that does not share it.

    While Playwright runs, its event loop does, and no notebook can be run in the same process.
    """
    folder = item.path.parent
    shared = folder.name in SHARING and following and following.path.parent == folder
    if not shared and (following is None or following.path != item.path):
        _RUNNING.clear()
        _END.close()


def _start():
    from playwright.sync_api import sync_playwright

    if chromium.find() is None:
        reason = "no Chromium on this machine: sudo apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    running = chromium.launch(_END.enter_context(sync_playwright()))
    _END.callback(running.close)
    return running


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


def figures_mounted(page):
    """Wait until every interactive figure of a page is mounted; how many there are."""
    places = "[...document.querySelectorAll('.course-figure-mount')]"
    page.wait_for_function(f"() => {places}.every(place => 'mounted' in place.dataset)")
    return page.locator(".course-figure").count()


# Code that is laid out only when it comes into sight would come into sight while axe looks.
IN_SIGHT = "article pre { content-visibility: visible !important; }"
REACHED = """
() => [...document.querySelectorAll('article pre, article .pst-scrollable-table-container')]
  .every(one => one.tabIndex === 0 ||
    one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight)
"""


def violations(page, context=None, rules=None):
    """What axe-core finds wrong with a page, or a part of it: "rule: place element", one line each.

    All its rules, or those named.
    """
    from axe_playwright_python.sync_playwright import Axe

    page.add_style_tag(content=IN_SIGHT)
    page.evaluate("() => { dispatchEvent(new Event('resize')); }")
    page.wait_for_function(REACHED)  # tab stops are set a moment after a resize
    # Styles are not fetched anew: axe looks for what they import at the wrong address.
    options = {"resultTypes": ["violations"], "preload": False}
    options |= {"runOnly": rules} if rules else {}
    found = Axe().run(page, context=context, options=options)
    return [
        f"{rule['id']}: {' '.join(map(str, node['target']))} {node['html'][:200]}"
        for rule in found.response["violations"]
        for node in rule["nodes"]
    ]
