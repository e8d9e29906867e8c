"""Parameters of tests that go through the tasks."""

import pytest
from families import TASKS_THAT_TAKE_LONG


def rows(pairs):
    """Parameters, each a tuple that begins with a task; what takes seconds is marked slow."""
    return [
        pytest.param(*pair, marks=[pytest.mark.slow] if takes_long(pair[0]) else [])
        for pair in pairs
    ]


def takes_long(task):
    """Whether an answer trains a model or is compiled again."""
    return task.startswith(TASKS_THAT_TAKE_LONG)
