"""Batches of random windows: one gather against stacking slices.

Run as ``python -m benchmarks.batches``; writes ``benchmarks/results/batches.json``.

Three ways to the same batch (B windows of T tokens, and their targets) from the same starts:

- *gather*: `course_lib.data.random_windows`, one gather from a view of all windows;
- *stacked*: the textbook's two lists, ``torch.stack([tokens[i : i + T] for i in starts])``
  for the inputs and again, one to the right, for the targets;
- *stacked, plain starts*: the same with the starts as Python numbers, which spares the list its
  slowest part, the use of a tensor as the end of a slice.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from benchmarks.measuring import describe_machine, median_seconds, write_results
from course_lib.data import random_windows

N, V = 1_003_854, 65  # the training split of Tiny Shakespeare; which tokens they are costs nothing
BATCH_SIZES, BLOCK_SIZES = (32, 64, 128, 256), (8, 32, 64, 256)
ROUNDS = 51


def stacked(starts: Iterable[Any], tokens: Tensor, T: int) -> tuple[Tensor, Tensor]:
    """Cut every window by itself, twice."""
    x = torch.stack([tokens[i : i + T] for i in starts])  # (B, T)
    y = torch.stack([tokens[i + 1 : i + T + 1] for i in starts])  # (B, T)
    return x, y


def alternatives(tokens: Tensor, B: int, T: int) -> dict[str, Callable[[], tuple[Tensor, Tensor]]]:
    """Three functions that draw batches, each with a generator of its own and the same seed."""
    one, two, three = (torch.Generator().manual_seed(0) for _ in range(3))

    def starts(generator: torch.Generator) -> Tensor:
        return torch.randint(len(tokens) - T, (B,), generator=generator)

    return {
        "gather": lambda: random_windows(tokens, B, T, one),
        "stacked": lambda: stacked(starts(two), tokens, T),
        "stacked, plain starts": lambda: stacked(starts(three).tolist(), tokens, T),
    }


def check_agreement(tokens: Tensor, B: int, T: int) -> None:
    """A comparison means something only if all ways lead to the same batch."""
    batches = [draw() for draw in alternatives(tokens, B, T).values()]
    for x, y in batches[1:]:
        if not (torch.equal(x, batches[0][0]) and torch.equal(y, batches[0][1])):
            raise RuntimeError(f"the batches differ at B = {B}, T = {T}: nothing to compare")


def measure() -> list[dict[str, Any]]:
    """One row for each (B, T): medians in microseconds, and ratios to the gather."""
    tokens = torch.randint(V, (N,), generator=torch.Generator().manual_seed(1))
    rows = []
    for B in BATCH_SIZES:
        for T in BLOCK_SIZES:
            check_agreement(tokens, B, T)
            seconds = median_seconds(alternatives(tokens, B, T), rounds=ROUNDS)
            rows.append(
                {
                    "batch_size": B,
                    "block_size": T,
                    "microseconds": {name: round(s * 1e6, 1) for name, s in seconds.items()},
                    "ratio": {
                        name: round(s / seconds["gather"], 1)
                        for name, s in seconds.items()
                        if name != "gather"
                    },
                }
            )
    return rows


def table(rows: list[dict[str, Any]]) -> Table:
    """The rows as people read them."""
    shown = Table(title="One batch: medians in µs, and how many times as long as one gather")
    for heading in ("B", "T", "gather", "stacked", "×", "stacked, plain starts", "×"):
        shown.add_column(heading, justify="right")
    for row in rows:
        time, ratio = row["microseconds"], row["ratio"]
        shown.add_row(
            str(row["batch_size"]),
            str(row["block_size"]),
            f"{time['gather']:.0f}",
            f"{time['stacked']:.0f}",
            f"{ratio['stacked']:.1f}",
            f"{time['stacked, plain starts']:.0f}",
            f"{ratio['stacked, plain starts']:.1f}",
        )
    return shown


def main() -> None:
    """Measure, show and keep."""
    rows = measure()
    console = Console()
    console.print(describe_machine())
    console.print(table(rows))
    path = write_results("batches", {"tokens": N, "rounds": ROUNDS, "rows": rows})
    console.print(f"Written: {path.parent.name}/{path.name}")


if __name__ == "__main__":
    main()
