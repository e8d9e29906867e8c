"""Settings that hold for every test."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import browsing
import hypothesis
import pytest
import selecting

# Tests run in as many processes as there are cores. With threads of their own on top, torch's would
# wait for each other most of the time. Set before torch is imported; kernels and commands inherit.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Many answers to a task of chapter 10 compile to the same programs, so JAX keeps them for the time
# of a run: in a folder for each process, since one could read what another is still writing. Set
# before JAX is imported; commands inherit it.
COMPILED = tempfile.mkdtemp(prefix="course-jax-")
atexit.register(shutil.rmtree, COMPILED, ignore_errors=True)
os.environ |= {
    "JAX_COMPILATION_CACHE_DIR": COMPILED,
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}

# A busy machine is not a broken promise: no example has to be done within a time.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")

TESTS = Path(__file__).parent

# In which order modules run. Two workers begin with a half of the list each, and whoever is done
# takes tests from the end of the other's: so what takes minutes comes first, and what is over in
# hundredths of a second comes last. A whole class that a module grades once would be graded again
# by a worker that takes some of the module's tests, so it, too, stands where nobody takes from.
FIRST = (
    "tasks/test_library_holds_no_answer.py",
    "threats/test_threats.py",
    "notebooks/test_outputs.py",
    "grading/test_term.py",
    "grading/test_class.py",
    "figures/test_jupyterlab.py",
    "book/test_jupyterlab.py",
    "grading/test_formgrader.py",
    "grading/test_nbgrader_steps.py",
)
LAST = ("tasks/test_empty_answers.py", "tasks/test_judgement.py")


def pytest_addoption(parser):
    selecting.add_options(parser)


def pytest_configure(config):
    """Choose what runs (`selection/families.py`)."""
    config.pluginmanager.register(selecting.Selection(config), "selection")


@pytest.hookimpl(trylast=True)  # after the fixtures, which close their pages
def pytest_runtest_teardown(item, nextitem):
    browsing.close_unless_shared(item, nextitem)


def pytest_collection_modifyitems(items):
    """Sort modules; within one, tests stay in their order."""
    items.sort(key=lambda item: place(item.path.relative_to(TESTS).as_posix()))


def place(module):
    """Where a module stands: among the first, in the middle, or among the last."""
    if module in FIRST:
        return FIRST.index(module) - len(FIRST)
    return LAST.index(module) + 1 if module in LAST else 0
