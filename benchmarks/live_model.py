"""Symbols per second, longest tasks and largest difference to torch of the model in the page.

python -m benchmarks.live_model

Writes `results/live_model.json`. Needs Chromium and the packages of requirements-test.txt.
"""

import argparse
import copy
import importlib.util
import tempfile
from pathlib import Path

import torch

from benchmarks.figures import traced
from benchmarks.measuring import write_results
from course_lib.figures import sources
from course_lib.figures.live_model import LiveModel
from course_lib.figures.live_weights import live_model
from course_lib.publishing.figure_pages import standalone

PROMPT = "ROMEO:\n"
COUNT = (
    1000  # of these, 57 fit into the block and the rest reads the last 64 symbols anew each time
)

SPEED = """([prompt, count]) => {
  const { engine, nextProbabilities, drawSymbol, course } = room;
  const next = course.random(1);
  const write = (tokens, many) => {
    const start = performance.now();
    for (let i = 0; i < many; i += 1) {
      const logits = engine.follow(tokens);
      const { probabilities } = nextProbabilities(logits, { temperature: 0.8 });
      tokens.push(drawSymbol(probabilities, next()));
    }
    return many / ((performance.now() - start) / 1000);
  };
  write([...prompt], 200); // until the browser has compiled it
  engine.clear();
  const tokens = [...prompt];
  const within = write(tokens, engine.B - prompt.length);
  return { within, beyond: write(tokens, count - (engine.B - prompt.length)) };
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=COUNT)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    tests = Path(__file__).parents[1] / "tests"
    chromium = _module(tests / "book" / "chromium.py")
    engine_room = _module(tests / "figures" / "engine_room.py")
    model, vocabulary, facts = live_model()
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        running = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.FLAGS)
        )
        page = running.new_page(viewport={"width": 1300, "height": 900})
        file = Path(folder) / "live.html"
        file.write_text(standalone(LiveModel(PROMPT)), encoding="utf-8")
        page.goto(file.as_uri())
        page.locator("[data-mounted]").wait_for()
        engine_room.open_engine(page)
        tokens = vocabulary.encode(PROMPT).tolist()
        speed = page.evaluate(SPEED, [tokens, options.count])
        differences = _differences(page, model)
        figure = _in_the_figure(page)
        running.close()
    results = {
        "symbols_per_second_within_block": round(speed["within"]),
        "symbols_per_second_beyond_block": round(speed["beyond"]),
        "symbols_per_second_in_the_figure": figure["speed"],
        "largest_task_milliseconds_at_full_speed": figure["tasks"][0],
        **{f"largest difference of logits, {name}": value for name, value in differences.items()},
        "validation_loss": facts["validation_loss"],
        "weights_bytes": sources.LIVE_WEIGHTS.stat().st_size,
        "script_bytes": len(sources.text("live_model").encode()),
    }
    for name, value in results.items():
        print(f"{name:52s} {value:>12,.6g}")
    results["ten_largest_tasks_milliseconds_at_full_speed"] = figure["tasks"]
    write_results("live_model", results)


def _differences(page, model: torch.nn.Module) -> dict[str, float]:
    """Largest differences of all logits over 50 texts of drawn tokens, page and torch."""
    generator = torch.Generator().manual_seed(0)
    exact = copy.deepcopy(model).double()
    worst = {"page to float64": 0.0, "page to float32": 0.0, "float32 to float64": 0.0}
    for _ in range(50):
        T = int(torch.randint(1, 65, (), generator=generator))
        tokens = torch.randint(65, (1, T), generator=generator)
        found = page.evaluate(
            "(tokens) => { room.engine.clear(); room.engine.follow(tokens, false);"
            " return Array.from(room.engine.logits.subarray(0, tokens.length * room.engine.V)); }",
            tokens[0].tolist(),
        )
        mine = torch.tensor(found, dtype=torch.float64)
        with torch.inference_mode():
            double, single = exact(tokens)[0].flatten(), model(tokens)[0].flatten()
        pairs = ((mine, double), (mine, single), (single, double))
        for name, (a, b) in zip(worst, pairs, strict=True):
            worst[name] = max(worst[name], float((a - b).abs().max()))
    return worst


def _in_the_figure(page) -> dict:
    """The whole figure at full speed: symbols a second, then what its tasks cost."""
    page.get_by_label("full speed").check()
    page.get_by_role("button", name="Write").click()
    page.wait_for_timeout(1000)
    length = "document.querySelector('.course-figure-mount').figureModel.get('text').length"
    start = page.evaluate(f"[performance.now(), {length}]")
    page.wait_for_timeout(5000)
    end = page.evaluate(f"[performance.now(), {length}]")
    work = traced(page, lambda: page.wait_for_timeout(3000))
    page.get_by_role("button", name="Pause").click()
    return {
        "speed": round((end[1] - start[1]) / (end[0] - start[0]) * 1000),
        "tasks": [round(ms, 2) for ms in sorted(work.tasks, reverse=True)[:10]],
    }


def _module(path: Path):
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
