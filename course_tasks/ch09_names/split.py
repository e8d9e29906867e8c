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
    short = _names(rng, 6)
    distinct = [*short, *_names(rng, int(rng.integers(16, 21)))]
    distinct = list(dict.fromkeys((*distinct, *(f"{name}na" for name in short))))
    # All names but three appear in two spellings or more, so that no part is without such a one.
    entries = [*distinct, *distinct[:15], *(name.capitalize() for name in distinct[3:])]
    entries += [name.upper() for name in distinct[9:14]]
    entries += [name[0] + name[1:].upper() for name in distinct[6:18]]
    while True:
        drawn = _drawn(rng, entries, len(distinct), int(rng.integers(4, 7)))
        if _one_within_another(drawn):
            return drawn


def _few_names(rng: Rng) -> Inputs:
    """A list that is too short to leave a name for training."""
    distinct = _names(rng, 4)
    entries = [*distinct, *distinct, *(name.capitalize() for name in distinct)]
    return _drawn(rng, entries, len(distinct), held_out=2)


def _one_within_another(drawn: Inputs) -> bool:
    """True if a name for training is a part of one that is held out."""
    listed = input_text(drawn["names"]).lower().split("\n")
    distinct, held_out = list(dict.fromkeys(listed)), 2 * int(drawn["held_out"])
    shuffled = [distinct[number] for number in drawn["order"]]
    return any(rest in name for rest in shuffled[held_out:] for name in shuffled[:held_out])


def _drawn(rng: Rng, entries: list[str], K: int, held_out: int) -> Inputs:
    listed = [entries[i] for i in rng.permutation(len(entries))]
    return {
        "names": text_input("\n".join(listed)),
        "order": rng.permutation(K).astype(np.int64),
        "held_out": whole(held_out),
        "K": whole(K),
    }


def _split(answer: Any, given: Inputs) -> Any:
    names = input_text(given["names"]).split("\n")
    result = answer(names, given["order"].tolist(), int(given["held_out"]))
    parts = parts_of(result, "train", "validation", "test")
    return {name: "\n".join(part) for name, part in parts.items()}


PROBE = Probe(_split_inputs, {"split": _split}, second=_few_names)
