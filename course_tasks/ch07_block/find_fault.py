"""What 07/find-fault asks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course_tasks.ch07_block.shared import each
from course_tasks.ch07_block.suspects import BlockBehavior, InputRecorder, suspect
from course_tasks.inputs import entries_of, tensor
from course_tasks.probing import Inputs, Probe, drawn_by_the_judge

FAULTS = ("future", "batch", "stream")
"""What an inspector says of a block, by name."""


BLOCKS = 8
"""How many blocks an inspector is given."""


def _inspect(place: int, answer: Any, given: Inputs) -> Any:
    form = BlockBehavior(*(given[part][place] for part in BlockBehavior._fields))
    weights, gains, runs = tensor(given["weights"]), tensor(given["gains"]), InputRecorder()
    # `torch.manual_seed` also writes down, for each kind of device that is not here, who asked.
    torch.default_generator.manual_seed(int(given["seed"]) + place)

    def block(x: Any) -> Tensor:
        x = torch.as_tensor(x)
        y = suspect(form, weights, gains, x.double()).to(x.dtype)  # an inspector may work in single
        runs.keep(x, y)
        return y

    result = entries_of(answer(block, int(given["B"]), int(given["T"]), int(given["C"])), FAULTS)
    said = {name: bool(result[name]) for name in FAULTS}
    return said | {"runs": runs.pairs | {"derivatives": runs.derivatives}}


PROBE = Probe(
    drawn_by_the_judge,
    each(_inspect, tuple(range(BLOCKS)), "block_"),
    kept_back=frozenset({"order"}),
    one_draw="one check hands over eight blocks, each drawn anew",
)
