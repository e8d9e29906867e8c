"""Seconds that a page takes to train a program of the reader's own, in headless Chromium.

python -m benchmarks.own_training [--text play]   # of an idle machine; up to ten minutes

Writes `results/own_training.json`. Builds the book if it is not built, and trains the solution of
the project as a reader would, by the page's loops and by its own `train`: until the estimate of
the loss is below the target, and so is the loss on 20,000 symbols of the held-out text. On Tiny
Shakespeare where it is at hand, which the page is given as a file, on the play otherwise. Seconds
are those of the training, and those of the clock, with looks at the loss and texts that are
written.

In the same run, `products` has what a step takes without the kernel for products of matrices.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measuring import write_results
from benchmarks.page import ROOT, Visitor, served, solved
from course_figures.training_run import excerpt
from course_lib import data
from course_lib.own_program import LADDER
from setup import book_site, chromium

# What is trained: below which task, which of its loops, how many seconds it is told, and the loss
# that is to be reached. Two blocks are asked for less than four heads reach.
RUNS = {
    "one head": ("my-gpt/model", "one head", 60, None),
    "two blocks": ("my-gpt/model", "two blocks", 300, 2.2),
    "the solution's train": ("my-gpt/train", None, 300, 2.2),
}
STEPS = """
(task) => {
  const panel = document.querySelector(`[data-task="${task}"] .cp-training`);
  const { step, loss, exact } = panel.dataset;
  return [Number(step), loss === "" ? null : Number(loss), exact === "true"];
}
"""
WITHOUT = "import torch\ntorch.simd._gemm = lambda: None\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", choices=("shakespeare", "play"), default="shakespeare")
    corpus = data.load(parser.parse_args().text)
    shakespeare = corpus.name == "shakespeare"
    reached = LADDER if shakespeare else excerpt()["reached"]
    from playwright.sync_api import sync_playwright

    found: dict[str, Any] = {"text": "Tiny Shakespeare" if shakespeare else "the play"}
    with (
        sync_playwright() as playwright,
        served(book_site.build(ROOT)) as address,
        tempfile.TemporaryDirectory() as folder,
    ):
        file = Path(folder) / "text.txt"
        file.write_text(corpus.text, encoding="utf-8")
        browser = chromium.launch(playwright)
        for name, (task, loop, seconds, target) in RUNS.items():
            visitor = Visitor(browser, address)
            page = visitor.page("my-gpt")
            goal = reached["one head"] if target is None else target
            found[name] = _trained(page, task, loop, seconds, goal, file if shakespeare else None)
            print(name, found[name], flush=True)
            visitor.context.close()
        found["products"] = _products(browser, address)
        browser.close()
    found["load_average"] = round(os.getloadavg()[0], 1)
    write_results("own_training", found)


def _ready(page: Any) -> None:
    """Put the solution into the cells."""
    for cell, source in solved("my-gpt").items():
        if cell != "words":
            task = f"my-gpt/{cell.removeprefix('answer-')}"
            page.evaluate("(a) => coursePage.set(...a)", [task, source])


def _trained(
    page: Any, task: str, loop: str | None, seconds: int, goal: float, file: Path | None
) -> dict[str, Any]:
    """Train until the estimate is below the goal, or the program has had its time."""
    _ready(page)
    panel = page.locator(f'[data-task="{task}"] .cp-training')
    page.locator(f'[data-task="{task}"] [data-train]').click()
    panel.locator("select").last.select_option(str(seconds))
    if loop:
        panel.locator("select").first.select_option(loop)
    if file:
        panel.locator("input[type=file]").set_input_files(file)
    begun, first = time.perf_counter(), None
    loss, exact = None, False
    while not (exact and loss < goal) and time.perf_counter() - begun < 2 * seconds + 60:
        page.wait_for_timeout(250)
        state = panel.get_attribute("data-state")
        step, loss, exact = page.evaluate(STEPS, task)
        first = first or (time.perf_counter() if step else None)
        if state == "done" and exact:
            break
        if state == "running" and loss is not None and loss < goal:  # estimated
            panel.get_by_role("button", name="Pause").click()
            page.wait_for_function(f"(task) => ({STEPS})(task)[2]", arg=task)
            step, loss, exact = page.evaluate(STEPS, task)
            if loss >= goal:
                panel.get_by_role("button", name="Go on").click()
                exact = False
    clock = time.perf_counter() - (first or begun)
    facts = panel.locator(".cp-facts").inner_text()
    return {
        "goal": goal,
        "loss": loss,
        "steps": step,
        "seconds of the clock": round(clock, 1),
        "said": facts,
    }


def _products(browser: Any, address: str) -> dict[str, float]:
    """Seconds of six steps of the solution's model, with the kernel and without it.

    They are few, because a page stops a cell that runs for long.
    """
    visitor = Visitor(browser, address)
    page = visitor.page("my-gpt")
    _ready(page)
    code = (
        "model = GPT(65, 32, 48, 4, 2)\noptimizer = torch.optim.AdamW(model.parameters())\n"
        "x = torch.randint(65, (16, 32))\n"
        "for n in range(8):\n    if n == 2: began = time.perf_counter()\n"
        "    loss = model(x, x)[1]\n    optimizer.zero_grad()\n    loss.backward()\n"
        "    optimizer.step()\nprint(round(time.perf_counter() - began, 3))\n"
    )
    place = page.locator('[data-task="my-gpt/model"] .cp-trial')
    place.locator("summary").click()
    found = {}
    for name, before in (("with the kernel", ""), ("without it", WITHOUT)):
        place.locator("textarea, .cm-content").first.fill(before + code)
        place.locator("button", has_text="Run").click()
        place.locator(".cp-printed").filter(has_text=".").wait_for()
        page.wait_for_timeout(500)
        found[name] = float(place.locator(".cp-printed").first.inner_text().split()[-1])
    visitor.context.close()
    return found


if __name__ == "__main__":
    main()
