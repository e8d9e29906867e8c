"""Wrong answers that no list of a judge was written for: `chNN.py`, one a chapter.

Each module holds `WRITTEN`: task -> list of answers, as students write them who have seen neither
the judges nor the lists of `students/`. Every third of a task (`held_aside`) was put aside before
the judges were tuned on the others, so that they say how judges speak of what they have not met.
What a judge then learned to call by its name, the lists of `students/` take over from here.
`second_set/` was written when the judges had been tuned on the first one, and has a third aside
of its own. `later.py` has answers that were written when the judges were finished.
`third_set/` was written from the tasks' statements, when the judges had been mended after the
second one. All of it was aside until the judges had spoken.
`fourth_set/` was written in the same way after the third one; a third of it, drawn by lot, was
aside until the judges had been mended after the rest.
`fifth_set_a/` was written likewise for chapters 01 to 06, and `fifth_set_b/` for 07 to 13.
`sixth_set/` was written likewise when inputs had been drawn at more edges of what tasks allow.
`seventh_set/` has slips of students alone, without edges; all of it was aside until the judges had
spoken, and none of them was changed for it before.
`eighth_set/` has slips of students, too; a third, drawn by lot, was aside until the judges had been
mended after the rest.
`ninth_set/` was written and drawn likewise.
`tenth_set/` and `eleventh_set/` have slips of students as well, all of them aside until the judges
had spoken; the eleventh one was written when the judges had been mended after the tenth.
"""

import importlib
import random
from functools import cache
from pathlib import Path

FIRST_SET, SECOND_SET = "unlisted", "unlisted.second_set"
THIRD_SET, FOURTH_SET = "unlisted.third_set", "unlisted.fourth_set"
FIFTH_SET_A, FIFTH_SET_B = "unlisted.fifth_set_a", "unlisted.fifth_set_b"
SIXTH_SET, SEVENTH_SET = "unlisted.sixth_set", "unlisted.seventh_set"
EIGHTH_SET, NINTH_SET = "unlisted.eighth_set", "unlisted.ninth_set"
TENTH_SET, ELEVENTH_SET = "unlisted.tenth_set", "unlisted.eleventh_set"
DRAWN_BY_LOT = (FOURTH_SET, FIFTH_SET_A, FIFTH_SET_B, SIXTH_SET, EIGHTH_SET, NINTH_SET)
ALL_ASIDE = (THIRD_SET, SEVENTH_SET, TENTH_SET, ELEVENTH_SET)
ALL_SETS = (FIRST_SET, SECOND_SET, *ALL_ASIDE, *DRAWN_BY_LOT)


def chapters(collection=FIRST_SET):
    """The chapters that have unlisted answers: "01", "02", …"""
    folder = Path(__file__).parent.parent / collection.replace(".", "/")
    return sorted(path.stem[2:] for path in folder.glob("ch[0-9][0-9].py"))


def written(chapter, collection=FIRST_SET):
    """task -> list of (answer, whether it was held aside)."""
    module = importlib.import_module(f"{collection}.ch{chapter}")
    if collection in DRAWN_BY_LOT:
        right = importlib.import_module(collection).BREAKS_NO_CONTRACT
        return {
            task: [
                (answer, (task, answer.__name__) in drawn_aside(collection))
                for answer in answers
                if (task, answer.__name__) not in right
            ]
            for task, answers in module.WRITTEN.items()
        }
    found, before = {}, 0
    for task, answers in module.WRITTEN.items():
        found[task] = [
            (answer, collection in ALL_ASIDE or held_aside(before + number))
            for number, answer in enumerate(answers)
        ]
        # The second set counts through its chapter, because it has few answers a task.
        before += len(answers) if collection == SECOND_SET else 0
    return found


def held_aside(number):
    return number % 3 == 2


@cache
def drawn_aside(collection=FOURTH_SET):
    """A third of a set, drawn by lot from all of its chapters together."""
    modules = [
        importlib.import_module(f"{collection}.ch{chapter}") for chapter in chapters(collection)
    ]
    every = [
        (task, answer.__name__)
        for module in modules
        for task, answers in module.WRITTEN.items()
        for answer in answers
    ]
    seed = importlib.import_module(collection).ASIDE_SEED
    return frozenset(random.Random(seed).sample(every, len(every) // 3))
