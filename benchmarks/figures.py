"""How heavy the interactive figures are, and how long the browser works for one frame of each.

`python -m benchmarks.figures [NAME...]` writes `results/figures.json`: for each figure the bytes of
its state, its still picture and its module, and what the browser's main thread works for a frame,
in milliseconds of its own processor time (other programs on the machine do not count).

A frame is everything that the thread does since the frame before: handlers, script, layout,
painting. What Playwright asks of the page is left out. Each series of changes runs several times
in a fresh page, so that a frame that is always long can be told from one that a passing load made
long: `largest_median_of_a_change` leaves the second kind out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measuring import write_results
from course_lib import data, figures
from course_lib.figures import sources
from course_lib.publishing import figure_pages

sys.path.append(str(Path(__file__).parents[1] / "tests" / "book"))

RUNS = 3
CHANGES = 80
MARK = "changed"
VIEWPORT = {"width": 1300, "height": 900}
TRACED = ["toplevel", "devtools.timeline", "blink.user_timing"]

# One change a frame: the keys that move things, pressed on whatever the figure lets you focus.
# Home and End are the largest steps; Delete takes the first symbol out of a text.
KEYS = ("End", "ArrowRight", "Home", "ArrowDown", "Delete", "ArrowRight", "ArrowUp", "ArrowLeft")
TARGETS = (
    ".course-figure :is([tabindex='0'], input[type=range], input[type=text], textarea,"
    " input[type=radio]:checked)"
)

_FRAME = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"


class Work(NamedTuple):
    """Milliseconds of processor time of the main thread.

    Attributes
    ----------
    frames : list of (int, float)
        When the last task of each frame began, in microseconds, and the work for the frame.
    tasks : list of float
        Each task by itself: for so long the page could not answer.
    marks : list of int
        When the page was told to mark a moment, in microseconds.
    """

    frames: list[tuple[int, float]]
    tasks: list[float]
    marks: list[int]


def bigram_of_shakespeare() -> Any:
    """The heaviest table that the book shows: 65 symbols."""
    import torch

    corpus = data.load("shakespeare")
    V = len(corpus.vocabulary)
    pairs = corpus.train[:-1] * V + corpus.train[1:]  # (N−1,)
    counts = torch.bincount(pairs, minlength=V * V).view(V, V)
    return figures.BigramTable(counts, corpus.vocabulary.symbols)


def weights(figure: Any) -> dict[str, int]:
    """Bytes of a figure's parts as a page holds them."""
    module = figure.module_name()
    return {
        "output": len(figure.html().encode()),
        "still": len(figure.still().encode()),
        "module": len(figure_pages.script(module).encode()),
    }


def traced(page: Any, action: Callable[[], None]) -> Work:
    """What the main thread of a page does during an action.

    Parameters
    ----------
    page : playwright page
        Alone in its browser.
    action : callable
        What is done to it; returns when all is drawn.

    Returns
    -------
    Work
        Frames and tasks after the page's DOMContentLoaded, if that lies in the action.
    """
    browser = page.context.browser
    browser.start_tracing(page=page, categories=TRACED)
    try:
        action()
    finally:
        trace = browser.stop_tracing()
    return _work(json.loads(trace)["traceEvents"])


def _work(events: list[dict[str, Any]]) -> Work:
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    events = [event for event in events if (event["pid"], event["tid"]) in threads]
    loaded = [e["ts"] for e in events if e["name"] == "domContentLoadedEventStart"]
    start = max(loaded, default=0)
    ours = _outermost(e for e in events if "tdur" in e and e["ts"] > start)
    asked = [e["ts"] for e in events if "DevToolsSession" in json.dumps(e.get("args", {}))]
    painted = [e["ts"] for e in events if e["name"] == "PrePaint"]
    frames, tasks, sum_ = [], [], 0.0
    for task in ours:
        inside = range(task["ts"], task["ts"] + task["dur"] + 1)
        if any(moment in inside for moment in asked):
            continue
        if task["name"].endswith("MicrotaskCheckpoint") and tasks:
            tasks[-1] += task["tdur"] / 1000  # the end of the task before
        else:
            tasks.append(task["tdur"] / 1000)
        sum_ += task["tdur"] / 1000
        if any(moment in inside for moment in painted):
            frames.append((task["ts"], sum_))
            sum_ = 0.0
    marks = sorted(event["ts"] for event in events if event["name"].startswith(MARK))
    return Work(frames, tasks, marks)


def _outermost(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of nested pieces of work only those that no other one holds, in order."""
    kept: list[dict[str, Any]] = []
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        if not kept or event["ts"] >= kept[-1]["ts"] + kept[-1]["dur"]:
            kept.append(event)
    return kept


def largest_after_marks(work: Work) -> list[float]:
    """For each mark, the largest frame between it and the next."""
    edges = [*work.marks, sys.maxsize]
    return [
        max((ms for at, ms in work.frames if start <= at < end), default=0.0)
        for start, end in pairwise(edges)
    ]


def one_run(browser: Any, address: str) -> tuple[float, list[float]]:
    """A fresh page: the largest task until the figure is drawn, and a frame for each change."""
    page = browser.new_context(viewport=VIEWPORT).new_page()
    page.goto(address.rpartition("/")[0])  # the folder: the same process then opens the figure

    def open_page() -> None:
        page.goto(address)
        page.locator(".course-figure-mount[data-mounted]").wait_for()
        for _ in range(10):
            page.evaluate(_FRAME)

    def change() -> None:
        targets = page.locator(TARGETS)
        for n in range(CHANGES):
            targets.nth(n * targets.count() // CHANGES).focus()
            page.evaluate(_FRAME)
            page.evaluate(f"performance.mark('{MARK} {n}')")
            page.keyboard.press(KEYS[n % len(KEYS)])
            page.evaluate(_FRAME)

    opened = traced(page, open_page)
    changed = traced(page, change)
    page.context.close()
    return max(opened.tasks), largest_after_marks(changed)


def measure(figure: Any, browser: Any, folder: Path, runs: int) -> dict[str, Any]:
    """Weights and frame times of one figure."""
    path = folder / f"{figure.module_name()}.html"
    path.write_text(figure_pages.standalone(figure), encoding="utf-8")
    found = [one_run(browser, path.as_uri()) for _ in range(runs)]
    frames = [ms for run in found for ms in run[1]]
    medians = [statistics.median(same) for same in zip(*(run[1] for run in found), strict=True)]
    return {
        "bytes": weights(figure),
        "opening_milliseconds": {"largest_task_of_each_run": [round(run[0], 2) for run in found]},
        "frame_milliseconds": {
            "count": len(frames),
            "median": round(statistics.median(frames), 2),
            "largest_median_of_a_change": round(max(medians), 2),
            "largest": round(max(frames), 2),
            "largest_of_each_run": [round(max(run[1]), 2) for run in found],
        },
    }


def bytes_shared() -> int:
    """Bytes that every page with figures loads once."""
    texts = (
        figure_pages.script(sources.SHARED),
        sources.stylesheet(),
        figure_pages.MOUNTING.read_text(encoding="utf-8"),
    )
    return sum(len(text.encode()) for text in texts)


def main() -> None:
    """Measure every figure, and write the results."""
    import chromium
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="figures; all of them, and a file, if left out")
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    all_figures = {
        name: getattr(figures, name)() for name in figures.MODULES if name in options.names
    } or {name: getattr(figures, name)() for name in figures.MODULES}
    if not options.names:
        all_figures["BigramTable, 65 symbols"] = bigram_of_shakespeare()
    results: dict[str, Any] = {"bytes_shared_by_all": bytes_shared()}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.FLAGS)
        )
        for name, figure in all_figures.items():
            results[name] = measure(figure, browser, Path(folder), options.runs)
            print(f"{name}: {results[name]}", flush=True)
        browser.close()
    if not options.names:
        print(write_results("figures", results))


if __name__ == "__main__":
    main()
