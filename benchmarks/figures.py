"""How heavy the interactive figures are, and how long the browser works for one frame of each.

`python -m benchmarks.figures [NAME...]` writes `results/figures.json`, or what it says of the named
figures: for each the bytes of its state, its still picture and its module, and what the browser's
main thread works for a frame, in milliseconds of its own processor time (other programs on the
machine do not count).

A frame is everything that the thread does since the frame before: handlers, script, layout,
painting. What Playwright asks of the page is left out. Three series of changes run several times in
a fresh page: keys, clicks on every button and switch, and the mouse dragged over the picture, a
change a frame. So a frame that is always long can be told from one that a passing load made long:
`largest_median_of_a_change` leaves the second kind out. The live model also writes, at its own pace
and at full speed. At full speed it draws every 70 ms and computes in between, in many tasks of a
few milliseconds that all count to the next frame: there the largest task says for how long the page
could not answer.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks.measuring import RESULTS, write_results
from benchmarks.tracing import MARK, Work, largest_after_marks, traced
from course_lib import data, figures
from course_lib.figures import sources
from course_lib.publishing import figure_pages

sys.path.append(str(Path(__file__).parents[1] / "tests" / "book"))

RUNS = 3
KEY_PRESSES = 40
MOST_CLICKS = 16
DRAGS, STEPS = 2, 8
WRITING_MILLISECONDS = 1500
VIEWPORT = {"width": 1300, "height": 900}

# One change a frame: the keys that move things, pressed on whatever the figure lets you focus.
# Home and End are the largest steps; Delete takes the first symbol out of a text.
KEYS = ("End", "ArrowRight", "Home", "ArrowDown", "Delete", "ArrowRight", "ArrowUp", "ArrowLeft")
TARGETS = (
    ".course-figure :is([tabindex='0'], input[type=range], input[type=text], textarea,"
    " input[type=radio]:checked)"
)

PRESSED = ".course-figure :is(button, input[type=checkbox], input[type=radio])"
PICTURE = ".course-figure .cf-stage"

_FRAME = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"


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
    module = figure.module_name()
    return {
        "output": len(figure.html().encode()),
        "still": len(figure.still().encode()),
        "module": len(figure_pages.script(module).encode()),
    }


def mark(page: Any, name: object) -> None:
    """Let the frame end, and begin a change."""
    page.evaluate(_FRAME)
    page.evaluate(f"performance.mark('{MARK} {name}')")


def press_keys(page: Any) -> None:
    """Keys on everything that takes the focus."""
    targets = page.locator(TARGETS)
    for n in range(KEY_PRESSES):
        targets.nth(n * targets.count() // KEY_PRESSES).focus()
        mark(page, n)
        page.keyboard.press(KEYS[n % len(KEYS)])
        page.evaluate(_FRAME)


def click_everything(page: Any) -> None:
    """Every button and switch, once."""
    pressed = page.locator(PRESSED)
    for n in range(min(pressed.count(), MOST_CLICKS)):
        place = pressed.nth(n)
        if not place.is_visible() or place.is_disabled():
            continue
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        mark(page, n)
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.evaluate(_FRAME)


def drag_over_the_picture(page: Any) -> None:
    """The mouse held down, from left to right at several heights."""
    picture = page.locator(PICTURE)
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


def write_on(page: Any, *, full_speed: bool) -> Work:
    """What a live model does that writes."""
    page.get_by_label("full speed").set_checked(full_speed)
    page.get_by_role("button", name="Write").click()
    work = traced(page, lambda: page.wait_for_timeout(WRITING_MILLISECONDS))
    page.get_by_role("button", name="Pause").click()
    return work


class Run(NamedTuple):
    """Milliseconds of a fresh page.

    Attributes
    ----------
    opening : float
        The largest task until the figure is drawn.
    changes : dict of str to list of float
        For each series of changes, the largest frame of each change.
    writing : dict of str to Work
        What a live model does that writes; empty for other figures.
    """

    opening: float
    changes: dict[str, list[float]]
    writing: dict[str, Work]


def one_run(browser: Any, address: str) -> Run:
    """A fresh page for opening, another for each series."""
    page = browser.new_context(viewport=VIEWPORT).new_page()
    page.goto(address.rpartition("/")[0])  # the folder: the same process then opens the figure

    def open_page() -> None:
        page.goto(address)
        page.locator(".course-figure-mount[data-mounted]").wait_for()
        for _ in range(10):
            page.evaluate(_FRAME)

    opened = traced(page, open_page)
    changes, writing = {}, {}
    for name, series in SERIES.items():
        open_page()
        changes[name] = largest_after_marks(traced(page, partial(series, page)))
    if page.get_by_label("full speed").count():
        for name, fast in (("at_its_own_pace", False), ("at_full_speed", True)):
            open_page()
            writing[name] = write_on(page, full_speed=fast)
    page.context.close()
    return Run(max(opened.tasks), changes, writing)


def measure(figure: Any, browser: Any, folder: Path, runs: int) -> dict[str, Any]:
    """Weights and frame times of one figure."""
    path = folder / f"{figure.module_name()}.html"
    path.write_text(figure_pages.standalone(figure), encoding="utf-8")
    found = [one_run(browser, path.as_uri()) for _ in range(runs)]
    return {
        "bytes": weights(figure),
        "opening_milliseconds": {"largest_task_of_each_run": [round(r.opening, 2) for r in found]},
        "frame_milliseconds": {
            name: of_changes([run.changes[name] for run in found]) for name in SERIES
        },
        **{
            f"writing_{name}_milliseconds": of_writing([run.writing[name] for run in found])
            for name in found[0].writing
        },
    }


def of_frames(frames: list[float]) -> dict[str, float]:
    """What is said of some frames."""
    return {
        "count": len(frames),
        "median": round(statistics.median(frames), 2),
        "largest": round(max(frames), 2),
    }


def of_writing(runs: list[Work]) -> dict[str, float]:
    """The same of a model that writes, with its largest task."""
    frames = of_frames([ms for work in runs for _, ms in work.frames])
    return {**frames, "largest_task": round(max(ms for work in runs for ms in work.tasks), 2)}


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
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.FLAGS)
        )
        for name, figure in all_figures.items():
            results[name] = measure(figure, browser, Path(folder), options.runs)
            print(f"{name}: {results[name]}", flush=True)
        browser.close()
    if options.names:
        stored = json.loads((RESULTS / "figures.json").read_text(encoding="utf-8"))["results"]
        results = stored | results
    print(write_results("figures", results))


if __name__ == "__main__":
    main()
