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

from benchmarks.measuring import write_results
from benchmarks.tracing import traced
from course_figures import sources
from course_figures.live_model import LiveModel
from course_figures.live_weights import live_model
from course_figures.pages import SHARED, scripts, standalone
from setup import chromium

PROMPT = "ROMEO:\n"
COUNT = (
    1000  # of these, 57 fit into the block and the rest reads the last 64 symbols anew each time
)

SPEED = """([prompt, count]) => {
  const { engine, nextProbabilities, drawSymbol, random } = room;
  const next = random(1);
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
    engine_weights = _module(tests / "figures" / "engine_weights.py")
    model, vocabulary, facts = live_model()
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        running = chromium.launch(playwright)
        page = running.new_page(viewport={"width": 1300, "height": 900})
        file = Path(folder) / "live.html"
        file.write_text(standalone(LiveModel(PROMPT)), encoding="utf-8")
        page.goto(file.as_uri())
        page.locator("[data-mounted]").wait_for()
        engine_weights.open_engine(page)
        tokens = vocabulary.encode(PROMPT).tolist()
        speed = page.evaluate(SPEED, [tokens, options.count])
        differences = _differences(page, model, engine_weights.attention_of)
        figure = _in_the_figure(page)
        running.close()
    results = {
        "symbols_per_second_within_block": round(speed["within"]),
        "symbols_per_second_beyond_block": round(speed["beyond"]),
        "symbols_per_second_in_the_figure": figure["speed"],
        "largest_task_milliseconds_at_full_speed": figure["tasks"][0],
        **{f"largest difference of {name}": value for name, value in differences.items()},
        "validation_loss": facts["validation_loss"],
        "weights_bytes": sources.LIVE_WEIGHTS.stat().st_size,
        "script_bytes": sum(
            len(text.encode()) for name, text in scripts("live_model").items() if name != SHARED
        ),
    }
    for name, value in results.items():
        print(f"{name:52s} {value:>12,.6g}")
    results["ten_largest_tasks_milliseconds_at_full_speed"] = figure["tasks"]
    write_results("live_model", results)


def _differences(page, model: torch.nn.Module, attention_of) -> dict[str, float]:
    """Largest differences of logits and attention over 50 texts of drawn tokens, page and torch."""
    config = model.config
    generator = torch.Generator().manual_seed(0)
    exact = copy.deepcopy(model).double()
    worst: dict[str, float] = {}
    for _ in range(50):
        T = int(torch.randint(1, 65, (), generator=generator))
        tokens = torch.randint(65, (1, T), generator=generator)
        found = page.evaluate(
            "(tokens) => { room.engine.clear(); room.engine.follow(tokens, false);"
            " return [Array.from(room.engine.logits), Array.from(room.engine.weights)]; }",
            tokens[0].tolist(),
        )
        logits, weights = (torch.tensor(one, dtype=torch.float64) for one in found)
        weights = weights.view(config.n_layer, config.n_head, config.block_size, -1)  # (L, H, B, B)
        mine = logits.view(config.block_size, -1)[:T], weights[..., :T, :T]
        with torch.inference_mode():
            double, single = ((m(tokens)[0][0], attention_of(m, tokens)) for m in (exact, model))
        for part, ours, theirs, rounded in zip(
            ("logits", "attention"), mine, double, single, strict=True
        ):
            pairs = {
                "page to float64": (ours, theirs),
                "page to float32": (ours, rounded),
                "float32 to float64": (rounded, theirs),
            }
            for pair, (a, b) in pairs.items():
                name = f"{part}, {pair}"
                worst[name] = max(worst.get(name, 0.0), float((a - b).abs().max()))
    return worst


def _in_the_figure(page) -> dict:
    """The whole figure at full speed: its tasks from the first on, then symbols a second."""
    page.get_by_label("full speed").check()

    def write() -> None:
        page.get_by_role("button", name="Write").click()
        page.wait_for_timeout(3000)

    work = traced(page, write)
    length = "document.querySelector('.course-figure-mount').figureModel.get('text').length"
    start = page.evaluate(f"[performance.now(), {length}]")
    page.wait_for_timeout(5000)
    end = page.evaluate(f"[performance.now(), {length}]")
    page.get_by_role("button", name="Pause").click()
    return {
        "speed": round((end[1] - start[1]) / (end[0] - start[0]) * 1000),
        "tasks": sorted((round(ms, 2) for _, ms in work.tasks), reverse=True)[:10],
    }


def _module(path: Path):
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
