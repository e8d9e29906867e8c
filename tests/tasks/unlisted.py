"""Wrong answers that were written from the tasks' statements alone, in numbered sets.

Judges were tuned on the sets 1 to 16, which are closed: of each behavior one answer is left, in
`UNLISTED` of the task's module in `students/`. The last set is in `blind_set/chNN.py`, whole. No
judge is to be improved with it, so that it says what judges tell of what nobody tuned them on.
"""

import importlib
from pathlib import Path

import blind_set
from students import students_of

BLIND = 17
SETS = range(1, BLIND + 1)


def written(task, number):
    """A set's answers to a task."""
    if number == BLIND:
        return _blind(task)
    lists = (getattr(students_of(task), name, {}) for name in ("UNLISTED", "ACCEPTED"))
    return [answer for of_sets in lists for answer, _ in of_sets.get(number, [])]


def rejected(task):
    """(answer, name of what it is told) of those that a check tells from right ones; of the blind
    set, no name.
    """
    for told in getattr(students_of(task), "UNLISTED", {}).values():
        yield from told
    for answer in _blind(task):
        if answer.__name__ not in blind_set.ACCEPTED:
            yield answer, None


def _blind(task):
    chapter = f"ch{task.partition('/')[0]}"
    if not Path(blind_set.__file__).with_name(f"{chapter}.py").exists():
        return []
    return importlib.import_module(f"blind_set.{chapter}").WRITTEN.get(task, [])
