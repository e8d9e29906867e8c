"""How far the program of the book's first page comes on Tiny Shakespeare, with three seeds.

    python -m benchmarks.whole_program

Steps are fixed, so the losses do not depend on how busy the machine is; seconds are those of the
processor, one thread. Writes `results/whole_program.json`.
"""

import importlib.util
import time
from pathlib import Path
from types import ModuleType

import torch

from benchmarks.measuring import write_results
from course_lib import data

NAME = "whole_program"
PROGRAM = Path(__file__).parents[1] / "examples" / "whole_program.py"
STEPS, SEEDS = 2500, (1, 2, 3)


def program() -> ModuleType:
    """The script as a module: what it defines, without what it does when it is run."""
    spec = importlib.util.spec_from_file_location(NAME, PROGRAM)
    assert spec is not None  # the file is part of the course
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(seed: int, steps: int = STEPS) -> dict[str, float]:
    """Train the model of the script; its loss over the validation split, and the seconds."""
    whole, corpus = program(), data.load("shakespeare", fallback=False)
    torch.manual_seed(seed)
    gpt = whole.GPT(len(corpus.vocabulary), block_size=8, n_embd=32, n_head=4, n_layer=4)
    began = time.process_time()
    whole.train(gpt, corpus.train, corpus.validation, steps=steps)
    seconds = time.process_time() - began
    tokens = corpus.validation[: (len(corpus.validation) - 1) // 8 * 8 + 1]
    with torch.no_grad():
        loss = whole.loss_of(gpt, tokens[:-1].view(-1, 8), tokens[1:].view(-1, 8)).item()
    return {"seed": seed, "loss": loss, "cpu_seconds": round(seconds, 1)}


def main() -> None:
    """Measure and write."""
    torch.set_num_threads(1)
    runs = [run(seed) for seed in SEEDS]
    write_results(NAME, {"steps": STEPS, "runs": runs})
    print(runs)


if __name__ == "__main__":
    main()
