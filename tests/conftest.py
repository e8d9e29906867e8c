"""Settings that hold for every test."""

import os
from pathlib import Path

import hypothesis

# Tests run in as many processes as there are cores. With threads of their own on top, torch's would
# wait for each other most of the time. Set before torch is imported; kernels and commands inherit.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine is not a broken promise: no example has to be done within a time.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")

TESTS = Path(__file__).parent

# In which order modules run. Two workers begin with a half of the list each, and whoever is done
# takes tests from the end of the other's: so what takes minutes comes first, and what is over in
# hundredths of a second comes last. A whole class that a module grades once would be graded again
# by a worker that takes some of the module's tests, so it, too, stands where nobody takes from.
FIRST = (
    "threats/test_threats.py",
    "notebooks/test_outputs.py",
    "grading/test_term.py",
    "tasks/test_library_holds_no_answer.py",
)
LAST = ("tasks/test_empty_answers.py", "tasks/test_judgement.py")


def pytest_collection_modifyitems(items):
    """Sort modules; within one, tests stay in their order."""
    items.sort(key=lambda item: place(item.path.relative_to(TESTS).as_posix()))


def place(module):
    """Where a module stands: among the first, in the middle, or among the last."""
    if module in FIRST:
        return FIRST.index(module) - len(FIRST)
    return LAST.index(module) + 1 if module in LAST else 0
