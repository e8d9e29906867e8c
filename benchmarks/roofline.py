"""Operations against bytes: how fast one layer is for 1 to 512 positions at once (chapter 12).

    python -m benchmarks.roofline

A layer of C × C weights in float32 reads n positions, x (n, C) → x Wᵀ (n, C), on one thread. It
moves 4 · (C² + 2 n C) bytes and does 2 n C² operations, so n decides how many operations there are
for each byte. The weights are larger than any cache of the processor. All n take turns, and the
least seconds of each count: of the processor, which other work on the machine disturbs least.
Beside them, the two limits: a copy of a large array (bytes), and a large product of matrices that
fit into the cache (operations).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.measuring import write_results

NAME = "roofline"
C = 4096
POSITIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
ROUNDS = 7
BLOCK = 768  # a matrix of so many rows and columns fits into the processor's cache


def least_seconds(calls: dict[str, Callable[[], Tensor]]) -> dict[str, float]:
    """Processor seconds of one call of each, the least of all rounds; the calls take turns."""
    least = dict.fromkeys(calls, math.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            began = time.process_time()
            call()
            least[name] = min(least[name], time.process_time() - began)
    return least


def main() -> None:
    torch.set_num_threads(1)
    weight = torch.randn(C, C)
    inputs = {n: torch.randn(n, C) for n in POSITIONS}
    source, target = torch.randn(2 * C, C), torch.empty(2 * C, C)
    a, b = torch.randn(2, BLOCK, BLOCK).unbind()
    calls: dict[str, Callable[[], Tensor]] = {
        str(n): (lambda x=x: F.linear(x, weight)) for n, x in inputs.items()
    }
    calls["copy"] = lambda: target.copy_(source)
    calls["product"] = lambda: a @ b
    with torch.inference_mode():
        least = least_seconds(calls)
    lines = [
        {
            "positions": n,
            "operations": 2 * n * C**2,
            "bytes": 4 * (C**2 + 2 * n * C),
            "seconds": least[str(n)],
        }
        for n in POSITIONS
    ]
    limits = {
        "bytes_per_second": 2 * 4 * source.numel() / least["copy"],
        "operations_per_second": 2 * BLOCK**3 / least["product"],
    }
    write_results(NAME, {"channels": C, "lines": lines, "limits": limits})
    for line in lines:
        print(
            f"{line['positions']:4} {line['operations'] / line['bytes']:7.1f} operations a byte"
            f" {line['operations'] / line['seconds'] / 1e9:8.1f} GFLOP/s"
            f" {line['bytes'] / line['seconds'] / 1e9:6.1f} GB/s"
        )
    print({name: f"{value / 1e9:.1f} G" for name, value in limits.items()})


if __name__ == "__main__":
    main()
