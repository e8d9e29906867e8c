"""What 07/find-fault asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from course_tasks.ch07_block.shared import each
from course_tasks.ch07_block.suspects import BlockBehavior, InputRecorder, suspect
from course_tasks.inputs import entries_of, tensor
from course_tasks.probing import Inputs, Probe, drawn_by_the_judge

FAULTS = ("future", "batch", "stream")
"""What an inspector says about a block, by name."""


BLOCKS = 8
"""How many blocks an inspector is given."""


@contextmanager
def _double_precision() -> Iterator[None]:
    """Lets `torch.randn(B, T, C)` draw in double precision.

    Near 0 the tolerance of `torch.allclose` is only 1e-8 unless told otherwise. In single precision
    `block(x + 3)` and `block(x) + 3` may differ by more than that there, so the inspector would
    accuse a sound block in some draws and not in others.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _inspect(place: int, answer: Any, given: Inputs) -> Any:
    form = BlockBehavior(*(given[part][place] for part in BlockBehavior._fields))
    weights, gains, runs = tensor(given["weights"]), tensor(given["gains"]), InputRecorder()
    # `torch.manual_seed` would also store a stack trace for each kind of device that is missing.
    torch.default_generator.manual_seed(int(given["seed"]) + place)

    def block(x: Any) -> Tensor:
        x = torch.as_tensor(x)
        y = suspect(form, weights, gains, x.double()).to(x.dtype)  # an inspector may work in single
        runs.keep(x, y)
        return y

    with _double_precision():
        result = answer(block, int(given["B"]), int(given["T"]), int(given["C"]))
    result = entries_of(result, FAULTS)
    said = {name: bool(result[name]) for name in FAULTS}
    return said | {"runs": runs.pairs | {"derivatives": runs.derivatives}}


PROBE = Probe(
    drawn_by_the_judge,
    each(_inspect, tuple(range(BLOCKS)), "block_"),
    kept_back=frozenset({"order"}),
    one_draw="one check hands over eight newly drawn blocks",
)
