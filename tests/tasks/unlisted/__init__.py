"""Wrong answers that no list of a judge was written for: `set_NN/chNN.py`, a module a chapter.

Each set was written from the tasks' statements by people who had seen neither the judges nor the
lists of `students/`. Each module holds `WRITTEN`, task -> list of answers, and `ASIDE`, the names
of those that were put aside until the judges had been tuned on the others: they say how judges
speak of what they have not met. A module without `ASIDE` was put aside as a whole. The docstring of
a set says how it came about, and `STILL_ACCEPTED` beside it which answers no check tells from right
ones. What a judge then learned to call by its name, the lists of `students/` take over from here.
"""

import importlib
from pathlib import Path

FOLDER = Path(__file__).parent
SETS = tuple(sorted(path.name for path in FOLDER.glob("set_[0-9][0-9]")))


def chapters(name):
    """The chapters of a set: "01", "02", …"""
    return sorted(path.stem[2:] for path in (FOLDER / name).glob("ch[0-9][0-9].py"))


def written(chapter, name):
    """Of a set: task -> list of (answer, whether it was put aside)."""
    module = importlib.import_module(f"unlisted.{name}.ch{chapter}")
    aside = getattr(module, "ASIDE", None)
    return {
        task: [(answer, aside is None or answer.__name__ in aside) for answer in answers]
        for task, answers in module.WRITTEN.items()
    }


def still_accepted(name):
    """The names of a set's answers that no check tells from right ones."""
    return getattr(importlib.import_module(f"unlisted.{name}"), "STILL_ACCEPTED", set())
