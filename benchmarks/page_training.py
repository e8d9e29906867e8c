"""Seconds that the page takes to train a model to a published loss, in headless Chromium.

python -m benchmarks.page_training [--text play]

Writes `results/page_training.json`. Needs Chromium and the packages of requirements-test.txt; on
Tiny Shakespeare where it is at hand, on the play otherwise. The figure is used as a reader would:
it is started, and the learning rate is turned down while it runs. The seconds are those of the
clock from the first step on, with validation, samples and maps; when the estimate of the validation
loss is low enough, the training is paused and the loss on the whole split decides.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.measuring import write_results
from course_figures import TrainingRun
from course_figures.pages import standalone
from course_lib import data
from setup import chromium

BATCH = 128
MARGIN = 0.01  # the estimate reads a part of the split, and is off by about as much
MOST_SECONDS = 300

# Model to the presses of "left" on the slider of the rate, by the step at which they come.
TURNS = {"one head": {}, "four heads": {500: 2, 1000: 2}}

SHOWN = "document.querySelector('.course-figure').shown"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", choices=("shakespeare", "play"), default="shakespeare")
    options = parser.parse_args()
    corpus = data.load(options.text)
    text = corpus.text if corpus.name == "shakespeare" else ""
    from playwright.sync_api import sync_playwright

    found: dict[str, Any] = {"text": "Tiny Shakespeare" if text else "the play"}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        running = chromium.launch(playwright)
        for model, turns in TURNS.items():
            target = TrainingRun(model=model, text=text).lines["reached"]
            page = running.new_page(viewport={"width": 1300, "height": 900})
            file = Path(folder) / "training.html"
            figure = TrainingRun(model=model, text=text, batch=BATCH, rate=0.01)
            file.write_text(standalone(figure), encoding="utf-8")
            page.goto(file.as_uri())
            page.locator("[data-mounted]").wait_for()
            page.wait_for_function(f"{SHOWN}?.step[0] === 0", timeout=60_000)
            found[model] = {"target": target, "batch": BATCH, **_train(page, target, turns)}
            page.close()
            print(model, found[model])
        running.close()
    found["load_average"] = round(os.getloadavg()[0], 1)
    write_results("page_training", found)


def _train(page: Any, target: float, turns: dict[int, int]) -> dict[str, Any]:
    """Train until the whole validation split has the loss, or the time is over."""
    waiting = dict(turns)
    begun, worked = time.perf_counter(), _processor_seconds()
    loss = float("inf")
    page.get_by_role("button", name="Train").click()
    while time.perf_counter() - begun < MOST_SECONDS:
        page.wait_for_timeout(250)
        step, estimate = page.evaluate(f"[{SHOWN}.step[0], {SHOWN}.validation.at(-1)]")
        for at in [at for at in waiting if step >= at]:
            for _ in range(waiting.pop(at)):
                page.get_by_label("learning rate").press("ArrowLeft")
        if estimate > target + MARGIN:
            continue
        page.get_by_role("button", name="Pause").click()
        page.wait_for_function(f"{SHOWN}.exact[0] === 1")
        step, loss = page.evaluate(f"[{SHOWN}.step[0], {SHOWN}.validation.at(-1)]")
        if loss <= target:
            break
        page.get_by_role("button", name="Train").click()
        page.wait_for_function(f"{SHOWN}.exact[0] === 0")
    seconds = time.perf_counter() - begun
    return {
        "reached": loss <= target,
        "loss": loss,
        "steps": step,
        "seconds": round(seconds, 1),
        "processor_seconds": round(_processor_seconds() - worked, 1),
    }


def _processor_seconds() -> float:
    """Of all processes of the browser that this program has started."""
    times = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    return sum(each.user + each.system for each in times)


if __name__ == "__main__":
    main()
