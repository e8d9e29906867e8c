"""How heavy the interactive figures are, and how long the browser works for one frame of each.

`python -m benchmarks.figures [NAME...]` writes `results/figures.json`, or what it says of the named
figures: for each the bytes of its state, its still picture and its module, and what the browser's
main thread works for a frame, in milliseconds of its own processor time (other programs on the
machine do not count). Each figure is measured alone in a page, and then, if the book is built, in
every page of it: there the browser also lays out and paints what stands around the figure.

A frame is everything that the thread does from the task that asks for it until it is painted:
handlers, script, layout, painting. Left out are the garbage that the browser meanwhile collects in
tasks of its own, and what Playwright asks of the page. A task that belongs to no frame counts as
one. Three series of changes run several times in a fresh page: keys, clicks on every button and
switch, and the mouse dragged over the picture, a change a frame. So a frame that is always long can
be told from one that a passing load made long: `largest_median_of_a_change` leaves the second kind
out. How steady the machine was is measured too, by a computation that is the same each time. The
live model also writes, at its own pace and at full speed. It computes in tasks of a few
milliseconds between two frames: the largest says for how long the page could not answer.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import course_figures as figures
from benchmarks.measuring import RESULTS, write_results
from benchmarks.tracing import MARK, MainThreadTrace, largest_after_marks, traced
from course_figures import pages, sources
from course_lib import data
from setup import chromium

RUNS = 3
KEY_PRESSES = 40
MOST_CLICKS = 16
DRAGS, STEPS = 2, 8
WRITING_MILLISECONDS = 4500  # at its own pace some 80 symbols; the block has 64
QUIET_MILLISECONDS = 600
SAME_TASKS = 600
VIEWPORT = {"width": 1300, "height": 900}

# One change a frame: the keys that move things, pressed on whatever the figure lets you focus.
# Home and End are the largest steps; Delete takes the first symbol out of a text.
KEYS = ("End", "ArrowRight", "Home", "ArrowDown", "Delete", "ArrowRight", "ArrowUp", "ArrowLeft")
TARGETS = (
    ":is([tabindex='0'], input[type=range], input[type=text], textarea, input[type=radio]:checked)"
)

MOUNT = ".course-figure-mount"
PRESSED = ":is(button, input[type=checkbox], input[type=radio])"
PICTURE = ".cf-stage"
BOOK = Path(__file__).parents[1] / "_build" / "html"

_FRAME = """() => new Promise(done => {
  const look = () => {
    if (document.querySelector(".course-figure[data-drawing]")) requestAnimationFrame(look);
    else setTimeout(done);
  };
  requestAnimationFrame(look);
})"""  # a frame, and those over which a drawing spreads
_SAME_WORK = """(times) => new Promise(done => {
  const numbers = new Float64Array(4096).fill(1.5);
  let sum = 0;
  const work = (passes) => {
    for (let pass = 0; pass < passes; pass += 1)
      for (let i = 0; i < numbers.length; i += 1) sum += numbers[i] * 1.000001;
  };
  work(2000); // until the browser has compiled it
  const again = () => {
    work(250);
    times -= 1;
    if (times > 0) setTimeout(again, 12);
    else done(document.body.append(sum));
  };
  setTimeout(again, 100);
})"""
_STILL = """() => new Promise(done => {
  let before = NaN, same = 0;
  const look = () => {
    same = scrollY === before ? same + 1 : 0;
    before = scrollY;
    if (same < 4) requestAnimationFrame(look);
    else setTimeout(done);
  };
  look();
})"""  # what a key scrolls moves on for some frames
_NO_SCROLLING = """addEventListener("keydown", (event) => {
  if (!event.target.matches("textarea, [type=text], [type=range]")
    && ["Home", "End"].includes(event.key)) event.preventDefault();
})"""  # elsewhere these keys scroll the page: nothing of a figure's


def bigram_of_shakespeare() -> Any:
    """The heaviest table that the book shows: 65 symbols."""
    import torch

    corpus = data.load("shakespeare")
    V = len(corpus.vocabulary)
    pairs = corpus.train[:-1] * V + corpus.train[1:]  # (N−1,)
    counts = torch.bincount(pairs, minlength=V * V).view(V, V)
    return figures.BigramTable(counts, corpus.vocabulary.symbols)


def attention_over_64_symbols() -> Any:
    """The largest map that the book shows: 64 symbols, 3 layers of 4 heads."""
    text = "The king and the queen sat in the garden, and spoke of the song."
    return figures.AttentionMap(text=text)


def weights(figure: Any) -> dict[str, int]:
    """Bytes of a figure's parts as a page holds them."""
    own = pages.scripts(figure.module_name())
    return {
        "output": len(figure.html().encode()),
        "still": len(figure.still().encode()),
        "module": sum(len(text.encode()) for name, text in own.items() if name != pages.SHARED),
    }


def mark(page: Any, name: object) -> None:
    """Let the frame end, and the page come to rest, and begin a change."""
    page.evaluate(_STILL)
    page.evaluate(f"performance.mark('{MARK} {name}')")


def press_keys(figure: Any) -> None:
    """Keys on everything that takes the focus."""
    page, targets = figure.page, figure.locator(TARGETS)
    for n in range(KEY_PRESSES):
        target = targets.nth(n * targets.count() // KEY_PRESSES)
        target.evaluate("(one) => one.scrollIntoView({ block: 'nearest' })")
        target.focus()
        mark(page, n)
        page.keyboard.press(KEYS[n % len(KEYS)])
        page.evaluate(_FRAME)


def click_everything(figure: Any) -> None:
    """Every button and switch, once."""
    page, pressed = figure.page, figure.locator(PRESSED)
    for n in range(min(pressed.count(), MOST_CLICKS)):
        place = pressed.nth(n)
        if not place.is_visible() or place.is_disabled():
            continue
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        mark(page, n)
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.evaluate(_FRAME)


def drag_over_the_picture(figure: Any) -> None:
    """The mouse held down, from left to right at several heights."""
    page, picture = figure.page, figure.locator(PICTURE)
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    for line in range(DRAGS):
        y = box["y"] + min(box["height"], 600) * (line + 0.5) / DRAGS
        page.mouse.move(box["x"] + 20, y)
        page.mouse.down()
        for step in range(1, STEPS + 1):
            mark(page, f"{line} {step}")
            page.mouse.move(box["x"] + 20 + (box["width"] - 40) * step / STEPS, y)
            page.evaluate(_FRAME)
        page.mouse.up()


SERIES = MappingProxyType(
    {"keys": press_keys, "clicks": click_everything, "drag": drag_over_the_picture}
)


def write_on(figure: Any, *, full_speed: bool) -> MainThreadTrace:
    """What a live model does that writes, until its text is longer than its block."""
    figure.get_by_label("full speed").set_checked(full_speed)
    figure.get_by_role("button", name="Write", exact=True).click()
    work = traced(figure.page, lambda: figure.page.wait_for_timeout(WRITING_MILLISECONDS))
    figure.get_by_role("button", name="Pause").click()
    return work


class Run(NamedTuple):
    """Milliseconds of a fresh page.

    Attributes
    ----------
    opening : float
        The largest task until the figure is drawn.
    changes : dict of str to list of float
        For each series of changes, the largest frame of each change.
    writing : dict of str to MainThreadTrace
        What a live model does that writes; empty for other figures.
    """

    opening: float
    changes: dict[str, list[float]]
    writing: dict[str, MainThreadTrace]


def open_page(page: Any, address: str) -> None:
    """Open a page, until all its figures are drawn."""
    page.goto(address)
    page.wait_for_function(f"!document.querySelector('{MOUNT}:not([data-mounted])')")
    for _ in range(10):
        page.evaluate(_FRAME)


@contextmanager
def fresh(browser: Any, address: str) -> Iterator[Any]:
    """A page that has no past, in the process that then opens the address."""
    page = browser.new_context(viewport=VIEWPORT).new_page()
    page.add_init_script(_NO_SCROLLING)
    page.goto(address.rpartition("/")[0])
    try:
        yield page
    finally:
        page.context.close()


@contextmanager
def figure_in_view(browser: Any, address: str, n: int) -> Iterator[Any]:
    """Figure n of a fresh page, when all is quiet."""
    with fresh(browser, address) as page:
        open_page(page, address)
        figure = page.locator(MOUNT).nth(n)
        figure.scroll_into_view_if_needed()
        writing = figure.get_by_role("button", name="Pause", exact=True)
        if writing.count():  # the first page's model, which writes on arrival
            writing.click()
        page.wait_for_timeout(QUIET_MILLISECONDS)
        yield figure


def one_run(browser: Any, address: str, n: int = 0) -> Run:
    """Figure n of a page: a fresh page for opening, another for each series."""
    with fresh(browser, address) as page:
        opening = traced(page, partial(open_page, page, address))
        writes = page.locator(MOUNT).nth(n).get_by_label("full speed").count() > 0
    changes, writing = {}, {}
    for name, series in SERIES.items():
        with figure_in_view(browser, address, n) as figure:
            changes[name] = largest_after_marks(traced(figure.page, partial(series, figure)))
    for name, fast in (("at_its_own_pace", False), ("at_full_speed", True)) if writes else ():
        with figure_in_view(browser, address, n) as figure:
            writing[name] = write_on(figure, full_speed=fast)
    return Run(max(ms for _, ms in opening.tasks), changes, writing)


def frames(browser: Any, address: str, runs: int, n: int = 0) -> dict[str, Any]:
    """Frame times of figure n of a page."""
    found = [one_run(browser, address, n) for _ in range(runs)]
    return {
        "opening_milliseconds": {"largest_task_of_each_run": [round(r.opening, 2) for r in found]},
        "frame_milliseconds": {
            name: of_changes([run.changes[name] for run in found]) for name in SERIES
        },
        **{
            f"writing_{name}_milliseconds": of_writing([run.writing[name] for run in found])
            for name in found[0].writing
        },
    }


def steadiness(browser: Any) -> dict[str, float]:
    """How much the same computation, of some milliseconds and without garbage, takes each time.

    A frame that stands out from its like by no more than these do may well be the machine's.
    """
    page = browser.new_context().new_page()
    page.set_content("<p></p>")

    def compute() -> None:
        page.evaluate(_SAME_WORK, SAME_TASKS)
        page.evaluate(_FRAME)

    found = [ms for _, ms in traced(page, compute).tasks]
    page.context.close()
    return of_frames(sorted(found)[-SAME_TASKS:])


def alone(figure: Any, browser: Any, folder: Path, runs: int) -> dict[str, Any]:
    """Weights and frame times of a figure that has a page for itself."""
    path = folder / f"{figure.module_name()}.html"
    path.write_text(pages.standalone(figure), encoding="utf-8")
    return {"bytes": weights(figure), **frames(browser, path.as_uri(), runs)}


def in_the_book(browser: Any, runs: int, modules: Collection[str]) -> dict[str, dict[str, Any]]:
    """Frame times of every figure of these modules in every page of the book that is built."""
    found = {}
    for path in sorted(BOOK.rglob("*.html")):
        shown = re.findall(r'course-figure-mount" data-course-figure="(\w+)"', path.read_text())
        for n, module in enumerate(shown):
            if module in modules:
                name = f"{path.stem}, {n + 1}: {module}"
                found[name] = frames(browser, path.as_uri(), runs, n)
                print(f"{name}: {found[name]}", flush=True)
    return found


def of_frames(milliseconds: list[float]) -> dict[str, float]:
    """What is said of some frames."""
    return {
        "count": len(milliseconds),
        "median": round(statistics.median(milliseconds), 2),
        "largest": round(max(milliseconds), 2),
    }


def of_writing(runs: list[MainThreadTrace]) -> dict[str, float]:
    """The same of a model that writes, with its largest tasks."""
    every = of_frames([ms for work in runs for _, ms in work.frames])
    return {**every, "largest_task_of_each_run": _largest_tasks(runs)}


def _largest_tasks(runs: list[MainThreadTrace]) -> list[float]:
    return [round(max(ms for _, ms in work.tasks), 2) for work in runs]


def of_changes(runs: list[list[float]]) -> dict[str, Any]:
    """The same of the frames of equal changes in several runs."""
    medians = [statistics.median(same) for same in zip(*runs, strict=True)]
    return {
        **of_frames([ms for run in runs for ms in run]),
        "largest_median_of_a_change": round(max(medians), 2),
        "largest_of_each_run": [round(max(run), 2) for run in runs],
    }


def bytes_shared() -> int:
    """Bytes that every page with figures loads once."""
    texts = (pages.scripts()[pages.SHARED], sources.stylesheet())
    return sum(len(text.encode()) for text in texts)


def main() -> None:
    """Measure every figure, and write the results."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="figures; all of them if left out")
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    all_figures = {
        name: getattr(figures, name)() for name in figures.MODULES if name in options.names
    } or {name: getattr(figures, name)() for name in figures.MODULES}
    if not options.names:
        all_figures["BigramTable, 65 symbols"] = bigram_of_shakespeare()
        all_figures["AttentionMap, 64 symbols"] = attention_over_64_symbols()
    results: dict[str, Any] = {"bytes_shared_by_all": bytes_shared()}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        for name, figure in all_figures.items():
            results[name] = alone(figure, browser, Path(folder), options.runs)
            print(f"{name}: {results[name]}", flush=True)
        results["same_work_milliseconds"] = steadiness(browser)
        print(f"the same work: {results['same_work_milliseconds']}", flush=True)
        modules = {figure.module_name() for figure in all_figures.values()}
        book = in_the_book(browser, options.runs, modules)
        browser.close()
    if options.names:
        stored = json.loads((RESULTS / "figures.json").read_text(encoding="utf-8"))["results"]
        book = stored.get("in_the_book", {}) | book
        results = stored | results
    results["in_the_book"] = book
    print(write_results("figures", results))


if __name__ == "__main__":
    main()
