"""What 13/beam asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.inputs import Rng, number, parts_of, tensor, whole
from course_tasks.probing import Inputs, Probe

TABLES = 16
"""How many models a beam searches: one alone is easily solved by luck."""


def _inputs(rng: Rng) -> Inputs:
    V = int(rng.integers(6, 8))
    logits = 0.7 * rng.normal(size=(TABLES, V, V))
    start, end = (int(n) for n in rng.choice(V, 2, replace=False))
    logits[:, :, start] -= 3
    return {
        "tables": logits,
        "start": whole(start),
        "end": whole(end),
        "width": whole(int(rng.integers(3, 5))),
        "longest": whole(int(rng.integers(6, 8))),
        "power": number(float(rng.uniform(1.2, 1.5))),
        "V": whole(V),
    }


def _search(answer: Any, given: Inputs, width: int, power: float, longest: int) -> Any:
    found: dict[str, Any] = {}
    end = int(given["end"])
    for k, logits in enumerate(given["tables"]):
        table = tensor(logits)

        # Half of the models may end at any time; with the others, the longer a text, the likelier
        # its end.
        growth = 1.5 * (k % 2)

        def log_probabilities(
            x: Any, table: torch.Tensor = table, growth: float = growth
        ) -> torch.Tensor:
            x = torch.as_tensor(x)
            # What is likely depends on the last token and a little on all before it, so that no
            # two texts have the same score.
            history = (x * (torch.arange(x.shape[1]) + 0.7).sqrt()).sum(dim=1, keepdim=True)
            swing = 0.6 * torch.sin(history + torch.arange(table.shape[-1]))  # (W, V)
            swing[:, end] += growth * (x.shape[1] - 3) if growth else 0.8
            return (table[x[:, -1]] + swing).log_softmax(dim=-1)

        result = answer(log_probabilities, int(given["start"]), end, width, longest, power)
        tokens, score = parts_of(result, "tokens", "score").values()
        row = np.full(longest + 2, -1)
        tokens = np.asarray([int(token) for token in tokens][: longest + 2], dtype=np.int64)
        row[: len(tokens)] = tokens
        found[f"tokens{k}"], found[f"score{k}"] = row, float(score)
    return found


PROBE = Probe(
    _inputs,
    {
        "greedy": lambda answer, given: _search(answer, given, 1, 0.0, int(given["longest"])),
        "beam": lambda answer, given: _search(
            answer, given, int(given["width"]), 0.0, int(given["longest"])
        ),
        "length": lambda answer, given: _search(
            answer, given, int(given["width"]), float(given["power"]), int(given["longest"])
        ),
        "short": lambda answer, given: _search(answer, given, int(given["width"]), 0.0, 2),
    },
)
