"""Wrong answers that no list of a judge was written for: `chNN.py`, one a chapter.

Each module holds `WRITTEN`: task -> list of answers, as students write them who have seen neither
the judges nor the lists of `students/`. Every third of a task (`held_aside`) was put aside before
the judges were tuned on the others, so that they say how judges speak of what they have not met.
What a judge then learned to call by its name, the lists of `students/` take over from here.
`later.py` has answers that were written when the judges were finished.
"""

import importlib
from pathlib import Path


def chapters():
    """The chapters that have unlisted answers: "01", "02", …"""
    return sorted(path.stem[2:] for path in Path(__file__).parent.glob("ch[0-9][0-9].py"))


def written(chapter):
    """task -> list of (answer, whether it was held aside)."""
    module = importlib.import_module(f"unlisted.ch{chapter}")
    return {
        task: [(answer, held_aside(number)) for number, answer in enumerate(answers)]
        for task, answers in module.WRITTEN.items()
    }


def held_aside(number):
    return number % 3 == 2
