"""A reader of the built book, for the tests: what they open, and what they notice going wrong."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]

GIVEN_UP = ("net::ERR_ABORTED", "NS_BINDING_ABORTED")
"""What Chromium and Firefox say of a request that nobody waits for: its page was left meanwhile."""


class Visit:
    """One reader: a page, and what a console, a network tab and a wall around the machine noticed.

    Parameters
    ----------
    browser : playwright Browser
    allowed : str
        Beginning of every address that may be asked for; all others are refused and noted.
    settings : dict
        Of the reader: `viewport`, `color_scheme`, `java_script_enabled`, …
    """

    def __init__(self, browser, allowed, settings):
        self.faults = []
        self.allowed = allowed
        self.context = browser.new_context(**settings)
        self.context.route("**/*", self._wall)
        self.context.on("console", self._console)
        self.context.on("weberror", lambda one: self.faults.append(f"script error: {one.error}"))
        self.context.on("requestfailed", self._failed)
        self.context.on("response", self._response)
        self.page = self.context.new_page()

    def open(self, address):
        """Load a page and wait until it stands in its own fonts."""
        self.page.goto(address, wait_until="load")
        self.page.evaluate("() => document.fonts.ready.then(() => null)")
        return self.page

    def _wall(self, route):
        if route.request.url.startswith((self.allowed, "data:", "blob:")):
            route.continue_()
        else:
            self.faults.append(f"leaves the machine: {route.request.url}")
            route.abort()

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"console {message.type}: {message.text}")

    def _failed(self, asked):
        if asked.failure not in GIVEN_UP:
            self.faults.append(f"failed: {asked.url}")

    def _response(self, response):
        if response.status >= 400:
            self.faults.append(f"status {response.status}: {response.url}")


def pages(contents=None):
    """Every page that the table of contents names, in its order, without a suffix."""
    if contents is None:
        contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
        yield contents["root"]
        for part in contents["parts"]:
            yield from pages(part["chapters"])
        return
    for entry in contents:
        yield entry["file"]
        yield from pages(entry.get("sections", []))
