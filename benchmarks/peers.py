"""The same right and wrong answers through our checks and through those of `torch-judge`.

    python -m pip install torch-judge==0.1.1
    python -m benchmarks.peers --to benchmarks/results/peers.json    # a few minutes

`torch-judge` (PyPI, MIT) holds 40 problems of this kind. For those that both have
(`benchmarks/peer_problems/`), each answer is written once, on plain tensors, and an adapter brings
it into the form that either asks for. A wrong answer is one that breaks both statements; answers
are written from the statements, not chosen by what either side says of them. What `torch-judge`
says of an answer is what its tests print; which of its sentences say what is wrong, rather than
that something is, stands in `SAYS_WHAT`, by hand. If a test fails whose sentence stands there, the
answer counts as told, whatever the slip. Of ours, only a cause counts: a wrong answer that was run
and gave the same.

Where one side asks for more, the adapter does the rest, rightly, and only the common part is
compared: padding, norm and skip connection around our cross-attention; attention and network inside
their block; the pooled weights of our groups; the sink; groups of zeros; the symbol after the last
draft; whether finished texts keep their places in a beam. The gate is bent by ReLU here and by SiLU
there.

Left out are problems that only seem alike. `cosine_lr` falls along a cosine and starts at 0, while
08/schedule falls in equal steps and starts at 1 / `warm_up`. `weight_init` takes its deviation from
the number of inputs; 08/initialise is given one, and is about which parameters get it.
`sliding_window` sees to both sides of a position; 12/ring is a cache, and 01/window a mean.
`rmsnorm` subtracts no mean, `linear` and `embedding` have no counterpart of their own here, and
`gradient_accumulation`, `gradient_clipping`, `adam` and the rest are not asked in this course.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.peer_problems import PROBLEMS, Answer, Problem
from course_tasks import Tells, check

RUNS = 5

# Sentences of torch-judge that say what is wrong with an answer: parts of its messages.
SAYS_WHAT = (
    "not numerically stable",
    "Rows must sum to 1",
    "NaN with large logits",
    "Inf with large logits",
    "Loss must be a scalar",
    "Changing future K/V affected past outputs",
    "Position 0 should output V[0]",
    "eval mode should return input unchanged",
    "No zeros found during training",
    "should be scaled by 1/(1-p)",
    "zeros, got",
    "top_k=1 should return argmax",
    "Low temp should pick argmax",
    "grad is None",
    "Missing gradients",
    "params got gradients",
    "Changing last KV should affect all Q positions",
    "RoPE should preserve norms",
    "Dot product should depend on relative position only",
    "Cache must be a (K, V) tuple",
    "K cache shape",
    "V cache shape",
    "Cache should grow",
    "Incremental decode must match full forward",
    "Quantization error too large",
    "Beam finds better path than greedy",
    "Greedy path",
    "Should be [0,3]",
    "Future tokens affected past",
    "Output != down(silu(gate(x)) * up(x))",
    "Perfect draft should accept all",
    "out of range",
    "Mismatch with non-aligned block size",
    "Different block sizes should give same result",
)


@dataclass(frozen=True)
class Said:
    """What one side made of one answer.

    Attributes
    ----------
    rejected : int
        In how many of `RUNS` runs.
    says : str
        What it said the first time that it rejected the answer.
    what : bool
        Whether that says what is wrong.
    """

    rejected: int
    says: str
    what: bool


def ours(problem: Problem, answer: Answer) -> Said:
    """Ask our check in several draws."""
    adapted, rejected, first = problem.for_us(answer), 0, None
    for seed in range(RUNS):
        verdict = check(problem.ours, adapted, seed=seed)
        if verdict.points < verdict.out_of:
            rejected += 1
            first = first or verdict.findings[0]
    if first is None:
        return Said(0, "", what=False)
    return Said(rejected, f"{first.name}: {first.what}", what=first.tells is Tells.CAUSE)


def theirs(problem: Problem, answer: Answer) -> Said:
    """Ask the tests of torch-judge, as its own engine runs them."""
    get_task = importlib.import_module("torch_judge.tasks").get_task

    task = get_task(problem.theirs)
    name = task["function_name"]
    adapted, rejected, first = problem.for_them(answer), 0, ""
    for seed in range(RUNS):
        torch.manual_seed(seed)  # some of its tests draw without a seed of their own
        failed = [message for test in task["tests"] if (message := _failure(test, name, adapted))]
        rejected += bool(failed)
        first = first or "; ".join(failed)
    return Said(rejected, first, what=any(part in first for part in SAYS_WHAT))


def _failure(test: dict[str, str], name: str, answer: Any) -> str:
    """What a test says of an answer that it does not pass; nothing of one that it does."""
    code = compile(test["code"].replace("{fn}", name), test["name"], "exec")
    try:
        exec(code, {name: answer})
    except Exception as error:  # its engine shows every error to the student
        return f"{test['name']}: {error or 'Assertion failed'}"
    return ""


def measure(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Both sides on every answer."""
    found = []
    for problem in problems:
        for kind, answers in (("right", problem.right), ("wrong", problem.wrong)):
            for name, answer in answers.items():
                sides = {"ours": ours(problem, answer), "theirs": theirs(problem, answer)}
                row = {
                    "task": problem.ours,
                    "problem": problem.theirs,
                    "kind": kind,
                    "answer": name,
                }
                found.append(row | {side: vars(said) for side, said in sides.items()})
    return found


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The result as Markdown: for each problem, and each side, the counts."""
    lines = [
        "| task here | problem there | wrong answers | rejected always: here | there "
        "| told what is wrong: here | there | right ones | refused: here | there |",
        "| :-- | :-- " + "| --: " * 8 + "|",
    ]
    names = list(dict.fromkeys((row["task"], row["problem"]) for row in rows))
    for task, problem in [*names, ("all", "")]:
        chosen = [r for r in rows if task == "all" or (r["task"], r["problem"]) == (task, problem)]
        wrong = [r for r in chosen if r["kind"] == "wrong"]
        right = [r for r in chosen if r["kind"] == "right"]
        counts = [len(wrong)]
        counts += [sum(r[s]["rejected"] == RUNS for r in wrong) for s in ("ours", "theirs")]
        counts += [sum(r[s]["what"] for r in wrong) for s in ("ours", "theirs")]
        counts += [len(right)]
        counts += [sum(r[s]["rejected"] > 0 for r in right) for s in ("ours", "theirs")]
        lines.append(f"| {task} | {problem} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, store every row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, help="a JSON file for the result")
    chosen = parser.parse_args(arguments)
    try:
        version = importlib.metadata.version("torch-judge")
    except importlib.metadata.PackageNotFoundError:
        parser.error("torch-judge is not installed: python -m pip install torch-judge==0.1.1")
    warnings.simplefilter("ignore")
    rows = measure(PROBLEMS)
    print(table(rows))
    if chosen.to:
        about = {"torch-judge": version, "torch": torch.__version__, "runs": RUNS}
        text = json.dumps({**about, "answers": rows}, indent=1, ensure_ascii=False)
        chosen.to.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
