"""How long a visitor waits for Python in a page, and what it costs them: headless Chromium.

python -m benchmarks.page [--only ready]   # of an idle machine; about three minutes

Writes `results/page.json`. Builds the book if it is not built, serves it as a web server would,
compressed, and visits it as a reader does:

- **ready**: seconds from the first press of Check to the moment when Python can judge, in a new
  browser, at the next visit, and where the line has 10 Mbit/s;
- **checks**: seconds of a check of the solution's answer to each task that a page checks, without
  the training ones, the first check of each page apart;
- **loop**: seconds from a press of Stop to a page that says so, and the longest time between two of
  its frames while the loop ran;
- **memory**: of Python in the page, and of the browser's process around it;
- **transfer**: bytes, compressed, before the first press and on it, and requests that would have
  left this machine.

Ratios of the two ways of starting are worth more than seconds: they are measured in one run.
"""

from __future__ import annotations

import argparse
import gzip
import http.server
import itertools
import json
import os
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import psutil

from benchmarks.measuring import write_results
from course_page import assignments
from course_page.left_out import LEFT_OUT, SLOW
from setup import book_site, chromium

ROOT = Path(__file__).parents[1]

LINE = 10_000_000 / 8
"""Bytes a second of the slow line."""

PAGE, TASK = "05-head", "05/scores"
ENDLESS = "def attention_scores(x, w_query, w_key):\n    while True:\n        print('on and on')\n"
HEAP = (
    "import pyodide_js\nprint(pyodide_js._module.HEAPU8.length)\n"
    "def attention_scores(x, w_query, w_key):\n    return x\n"
)

# Keeps when the worker is ready, and when each job began and ended.
WATCH = """
window.seen = {ready: [], jobs: [], frames: []};
const Real = window.Worker;
window.Worker = class extends Real {
  constructor(...a) {
    super(...a);
    this.addEventListener("message", ({data}) => {
      const now = performance.now();
      if (data.ready) seen.ready.push(now);
      if (data.begun) seen.jobs.push([now, null]);
      if (data.done || data.failed) seen.jobs.at(-1)[1] = now;
    });
  }
};
"""
FRAMES = """
() => {
  seen.frames = [];
  const look = (now) => { seen.frames.push(now); requestAnimationFrame(look); };
  requestAnimationFrame(look);
}
"""


class Server(http.server.SimpleHTTPRequestHandler):
    """Sends files compressed, and no faster than the line allows; counts what it sends."""

    line: float | None = None
    sent = 0
    lock = threading.Lock()

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        stamp = f'"{path.stat().st_mtime_ns}"'
        if self.headers.get("If-None-Match") == stamp:
            self.send_response(304)
            self.end_headers()
            return
        body = compressed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.send_header("ETag", stamp)
        self.end_headers()
        for at in range(0, len(body), 16384):
            part = body[at : at + 16384]
            with Server.lock:  # one line, however many ask
                if Server.line:
                    time.sleep(len(part) / Server.line)
                Server.sent += len(part)
            self.wfile.write(part)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@cache
def compressed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes())


@contextmanager
def served(site: Path) -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=site)) as one:
        threading.Thread(target=one.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{one.server_address[1]}"
        one.shutdown()


class Visitor:
    """A browser's profile, with what it asks of other machines counted."""

    def __init__(self, browser: Any, address: str):
        self.address, self.elsewhere = address, 0
        self.context = browser.new_context()
        self.context.set_default_timeout(300_000)
        self.context.add_init_script(WATCH)
        self.context.on("request", self._asked)

    def _asked(self, request: Any) -> None:
        self.elsewhere += not request.url.startswith((self.address, "blob:", "data:"))

    def page(self, assignment: str) -> Any:
        page = self.context.new_page()
        page.goto(f"{self.address}/exercises/{assignment}/{assignment}.html")
        page.evaluate("() => coursePage.ready")
        return page


def solved(assignment: str) -> dict[str, str]:
    """What the solution says in each cell that a student writes."""
    path = ROOT / "solutions" / assignment / f"{assignment}.ipynb"
    return {
        cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"])
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }


def ready(page: Any) -> float:
    """Seconds from a press of Check to Python that is ready."""
    begun = page.evaluate(
        "(task) => { const now = performance.now(); coursePage.check(task).catch(() => {});"
        " return now; }",
        TASK,
    )
    page.wait_for_function("() => seen.jobs.at(-1)?.[1]")
    return round((page.evaluate("() => seen.ready.at(-1)") - begun) / 1000, 2)


def checked(visitor: Visitor, assignment: str) -> list[tuple[str, float]]:
    """Each task of an assignment, and the seconds of a check of the solution's answer."""
    released = ROOT / "exercises" / assignment / f"{assignment}.ipynb"
    tasks = assignments.read(json.loads(released.read_text(encoding="utf-8"))).tasks
    if all(task.task in LEFT_OUT for task in tasks):
        return []
    page, answers, found = visitor.page(assignment), solved(assignment), []
    for task in tasks:
        for cell in task.cells:
            page.evaluate("(a) => coursePage.set(...a)", [task.task, answers[cell], cell])
    for task in tasks:
        if task.task in LEFT_OUT or task.task in SLOW:
            continue
        verdict = page.evaluate("(task) => coursePage.check(task)", task.task)
        if verdict["points"] < verdict["outOf"]:
            print(f"{task.task}: {verdict['points']} of {verdict['outOf']} points")
        began, ended = page.evaluate("() => seen.jobs.at(-1)")
        found.append((task.task, round((ended - began) / 1000, 3)))
    page.close()
    return found


def stopped(page: Any) -> dict[str, float]:
    """Seconds until a loop is stopped, and the longest time between two frames before that."""
    page.evaluate("(a) => coursePage.set(...a)", [TASK, ENDLESS])
    place = page.locator(f'[data-task="{TASK}"]')
    page.evaluate(FRAMES)
    place.locator("[data-check]").click()
    place.locator(".cp-printed", has_text="on and on").wait_for()
    page.wait_for_timeout(2000)
    took = page.evaluate(
        """async (task) => {
          const place = document.querySelector(`[data-task="${task}"]`);
          const begun = performance.now();
          place.querySelector(".cp-progress button").click();
          while (!place.querySelector("[data-verdict]").textContent.includes("Stopped"))
            await new Promise(requestAnimationFrame);
          return performance.now() - begun;
        }""",
        TASK,
    )
    frames = page.evaluate("() => seen.frames")
    longest = max(b - a for a, b in itertools.pairwise(frames))
    return {"stopped": round(took / 1000, 3), "longest_frame": round(longest / 1000, 3)}


def renderer_megabytes() -> float:
    """Of the largest process of the browser that shows pages."""
    found = [
        process.memory_info().rss
        for process in psutil.Process().children(recursive=True)
        if "--type=renderer" in " ".join(process.cmdline())
    ]
    return round(max(found) / 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("ready", "checks", "loop"), help="one part of it")
    only = parser.parse_args().only
    site = book_site.build(ROOT)
    for path in site.rglob("*"):
        if path.is_file() and path.stat().st_size < 3e7:
            compressed(path)
    from playwright.sync_api import sync_playwright

    found: dict[str, Any] = {}
    with sync_playwright() as playwright, served(site) as address:
        browser = chromium.launch(playwright)
        if only in (None, "ready"):
            found |= starting(browser, address)
        if only in (None, "loop"):
            visitor = Visitor(browser, address)
            page = visitor.page(PAGE)
            ready(page)
            found["loop"] = stopped(page)
            visitor.context.close()
        if only in (None, "checks"):
            visitor = Visitor(browser, address)
            times: dict[str, float] = {}
            first: list[float] = []
            for folder in sorted((ROOT / "exercises").glob("[01]*/")):
                of_page = checked(visitor, folder.name)
                first += [seconds for _, seconds in of_page[:1]]
                times |= dict(of_page[1:])
            ordered = sorted(times.values())
            found["checks"] = {
                "first_of_a_page": {"median": statistics.median(first), "longest": max(first)},
                "median": statistics.median(ordered),
                "95 %": ordered[int(0.95 * len(ordered))],
                "longest": dict(sorted(times.items(), key=lambda pair: -pair[1])[:6]),
                "tasks": len(times) + len(first),
            }
            found["requests_elsewhere"] = visitor.elsewhere
        browser.close()
    found["load_average"] = round(os.getloadavg()[0], 1)
    print(json.dumps(found, indent=2))
    if only is None:
        write_results("page", found)


def starting(browser: Any, address: str) -> dict[str, Any]:
    """Seconds to ready in three ways, and what is sent before the first press and on it."""
    seconds, first = {}, Visitor(browser, address)
    page = first.page(PAGE)
    page.wait_for_load_state("networkidle")
    ours = page.evaluate(
        "() => performance.getEntriesByType('resource').filter(one =>"
        " one.name.includes('/_static/page/')).reduce((sum, one) => sum + one.encodedBodySize, 0)"
    )
    before = Server.sent
    memory = renderer_megabytes()
    seconds["new browser"] = ready(page)
    page.wait_for_load_state("networkidle")
    on_press = Server.sent - before
    page.evaluate("(a) => coursePage.set(...a)", [TASK, HEAP])
    page.evaluate("(task) => coursePage.check(task)", TASK)
    printed = page.locator(f'[data-task="{TASK}"] .cp-printed').inner_text()
    more = renderer_megabytes() - memory
    page.close()
    page = first.page(PAGE)
    seconds["next visit"] = ready(page)
    first.context.close()
    slow = Visitor(browser, address)
    page = slow.page(PAGE)
    Server.line = LINE
    seconds["10 Mbit/s"] = ready(page)
    Server.line = None
    slow.context.close()
    return {
        "ready": seconds,
        "transfer": {"before_first_press": ours, "on_first_press": on_press},
        "megabytes": {"python": round(int(printed.split()[0]) / 1e6), "renderer_more": more},
    }


if __name__ == "__main__":
    main()
