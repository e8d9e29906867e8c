"""How heavy eight pages are, how soon they stand, and how much moves in them: headless Chromium.

python -m benchmarks.page_loads [--beside SITE] [--rounds 5]   # a minute or two

Writes `results/page_loads.json`. Each page is opened with an empty cache, from a server that
compresses, in a window of 1400 by 900 pixels:

- **bytes**: what the server sends until all figures are drawn, compressed;
- **painted**, **loaded**, **drawn**: milliseconds until there is something to see, until the load
  event, and until all figures are drawn; medians of the rounds;
- **shift**: how far things moved that had been in sight, as browsers count it, until all is loaded.
  Browsers call 0.1 good, and the book's tests allow 0.02 where a figure arrives.

With `--beside`, the folder of another built site, such as that of an earlier release, the two take
turns page by page, and the results hold the ratio of the medians: it says more than milliseconds,
which are those of one machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.measuring import write_results
from benchmarks.page import ROOT, Server, served
from setup import book_site, chromium

PAGES = (
    "book/index",
    "book/ten-minutes",
    "book/01-averages",
    "book/05-head",
    "book/08-gpt",
    "book/gallery-models",
    "book/field-guide",
    "exercises/05-head/05-head",
)
VIEWPORT = {"width": 1400, "height": 900}
ROUNDS = 5

_WATCH = """
window.moved = 0;
new PerformanceObserver((list) => {
  for (const { value } of list.getEntries()) window.moved += value;
}).observe({ type: "layout-shift", buffered: true });
"""
_DRAWN = """() => document.readyState === "complete" &&
  !document.querySelector(".course-figure-mount:not([data-mounted])") && performance.now()"""
_SEEN = """() => ({
  painted: performance.getEntriesByName("first-contentful-paint")[0].startTime,
  loaded: performance.getEntriesByType("navigation")[0].loadEventEnd,
  shift: window.moved,
})"""


def one_visit(browser: Any, address: str) -> dict[str, float]:
    """Open a page in a profile that has seen nothing, and say what it took."""
    context = browser.new_context(viewport=VIEWPORT)
    context.add_init_script(_WATCH)
    page = context.new_page()
    before = Server.sent
    page.goto(address)
    drawn = page.wait_for_function(_DRAWN).json_value()
    page.wait_for_load_state("networkidle")  # what scripts put into the page late moves things, too
    seen = page.evaluate(_SEEN)
    context.close()
    return {**seen, "drawn": drawn, "bytes": Server.sent - before}


def summed_up(visits: list[dict[str, float]]) -> dict[str, float]:
    """Medians of the times, the most that moved, and the bytes."""
    times = {
        name: round(statistics.median(visit[name] for visit in visits), 1)
        for name in ("painted", "loaded", "drawn")
    }
    most = max(visit["shift"] for visit in visits)
    return {"bytes": round(visits[0]["bytes"]), **times, "shift": round(most, 4)}


def ratios(now: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """How much of the other site's bytes and times a page takes."""
    shared = ("bytes", "painted", "loaded", "drawn")
    return {name: round(now[name] / other[name], 3) for name in shared}


def measure(browser: Any, addresses: dict[str, str], rounds: int) -> dict[str, Any]:
    """Every page of each site, the sites in turns."""
    found: dict[str, Any] = {}
    for name in PAGES:
        visits: dict[str, list[dict[str, float]]] = {site: [] for site in addresses}
        for _ in range(rounds):
            for site, address in addresses.items():
                visits[site].append(one_visit(browser, f"{address}/{name}.html"))
        found[name] = {site: summed_up(seen) for site, seen in visits.items()}
        if "beside" in addresses:
            found[name]["ratio"] = ratios(found[name]["now"], found[name]["beside"])
        print(f"{name}: {found[name]}", flush=True)
    return found


def main() -> None:
    """Measure, and write the results."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beside", type=Path, help="folder of another built site to compare with")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    sites = {"now": book_site.build(ROOT)}
    if options.beside:
        sites["beside"] = options.beside
    with sync_playwright() as playwright, ExitStack() as servers:
        browser = chromium.launch(playwright)
        addresses = {name: servers.enter_context(served(site)) for name, site in sites.items()}
        found = measure(browser, addresses, options.rounds)
        browser.close()
    found["load_average"] = round(os.getloadavg()[0], 1)
    print(json.dumps(found, indent=2))
    print(write_results("page_loads", found))


if __name__ == "__main__":
    main()
