"""How heavy the interactive figures are, and how long the browser works for one frame of each.

`python -m benchmarks.figures` writes `results/figures.json`: for each figure the bytes of its
state, its still picture and its module, and the milliseconds that the browser's main thread works
(script, layout and painting together) from a change to the end of the frame that shows it.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measuring import write_results
from course_lib import data, figures
from course_lib.figures import sources
from course_lib.publishing import figure_pages

sys.path.append(str(Path(__file__).parents[1] / "tests" / "book"))

FRAMES = 60
VIEWPORT = {"width": 1300, "height": 900}

# One change a frame: the keys that move things, pressed on whatever the figure lets you focus.
KEYS = ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft")

_FRAME = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"


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


def frame_times(page: Any, address: str) -> list[float]:
    """Milliseconds of main-thread work for each of a series of changes."""
    page.goto(address)
    page.locator(".course-figure-mount[data-mounted]").wait_for()
    session = page.context.new_cdp_session(page)
    # Time of the thread, not of the clock: other programs on the machine do not count.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")

    targets = page.locator('.course-figure [tabindex="0"], .course-figure input[type=range]')
    times = []
    for n in range(FRAMES):
        targets.nth(n * targets.count() // FRAMES).focus()
        page.evaluate(_FRAME)
        before = worked()
        page.keyboard.press(KEYS[n % len(KEYS)])
        page.evaluate(_FRAME)
        times.append(worked() - before)
    return times


def measure(figure: Any, page: Any, folder: Path) -> dict[str, Any]:
    """Weights and frame times of one figure."""
    path = folder / f"{figure.module_name()}.html"
    path.write_text(figure_pages.standalone(figure), encoding="utf-8")
    times = frame_times(page, path.as_uri())
    drawing = float(page.locator(".course-figure").first.get_attribute("data-milliseconds"))
    return {
        "bytes": weights(figure),
        "frame_milliseconds": {
            "median": round(statistics.median(times), 2),
            "largest": round(max(times), 2),
            "drawing_last": drawing,
        },
    }


def main() -> None:
    """Measure every figure, and write the results."""
    import chromium
    from playwright.sync_api import sync_playwright

    all_figures = {
        name: getattr(figures, name)()
        for name, module in figures.MODULES.items()
        if module in sources.names()
    }
    all_figures["BigramTable, 65 symbols"] = bigram_of_shakespeare()
    shared = sum(
        len(text.encode())
        for text in (
            figure_pages.script(sources.SHARED),
            sources.stylesheet(),
            figure_pages.MOUNTING.read_text(encoding="utf-8"),
        )
    )
    results: dict[str, Any] = {"bytes_shared_by_all": shared}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.FLAGS)
        )
        page = browser.new_page(viewport=VIEWPORT)
        for name, figure in all_figures.items():
            results[name] = measure(figure, page, Path(folder))
            print(f"{name}: {results[name]}", flush=True)
        browser.close()
    print(write_results("figures", results))


if __name__ == "__main__":
    main()
