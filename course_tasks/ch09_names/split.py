"""What 09/split asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import input_text, text_input
from course_tasks.inputs import Rng, parts_of, whole
from course_tasks.probing import Inputs, Probe

_SYLLABLES = ("an", "el", "io", "ra", "mi", "tu", "os", "ke", "ya", "du")


def _names(rng: Rng, count: int) -> list[str]:
    names: dict[str, None] = {}
    while len(names) < count:
        names["".join(rng.choice(_SYLLABLES, int(rng.integers(2, 4))))] = None
    return list(names)


def _split_inputs(rng: Rng) -> Inputs:
    distinct = _names(rng, int(rng.integers(22, 27)))
    # All names but three appear in two spellings or more, so that no part is without such a one.
    entries = [*distinct, *distinct[:15], *(name.capitalize() for name in distinct[3:])]
    entries += [name.upper() for name in distinct[9:14]]
    listed = [entries[i] for i in rng.permutation(len(entries))]
    K = len(distinct)
    return {
        "names": text_input("\n".join(listed)),
        "order": rng.permutation(K).astype(np.int64),
        "held_out": whole(int(rng.integers(4, 7))),
        "K": whole(K),
    }


def _split(answer: Any, given: Inputs) -> Any:
    names = input_text(given["names"]).split("\n")
    result = answer(names, given["order"].tolist(), int(given["held_out"]))
    parts = parts_of(result, "train", "validation", "test")
    return {name: "\n".join(part) for name, part in parts.items()}


PROBE = Probe(_split_inputs, {"split": _split})
