"""Right values of another kind, such as 280.0 for 280, cost at most the part they belong to."""

import pytest
import torch

from course_judges import catalogue as judges
from course_tasks import catalogue, check

FUNCTIONS = [
    task
    for task in catalogue.names()
    if not isinstance(judges.task(task).answer, type)
    and not task.startswith("10/")
    and not catalogue.probe(task).one_draw
]


def as_floats(value):
    if isinstance(value, torch.Tensor):
        return value if value.is_floating_point() else value.double()
    return float(value) if isinstance(value, bool | int) else value


def as_tensors(value):
    return torch.tensor(value) if isinstance(value, bool | int | float) else value


def each(change, value):
    if isinstance(value, tuple | list):
        return type(value)(each(change, one) for one in value)
    if isinstance(value, dict):
        return {name: each(change, one) for name, one in value.items()}
    return change(value)


@pytest.mark.parametrize("change", [as_floats, as_tensors])
@pytest.mark.parametrize("task", FUNCTIONS)
def test_right_values_of_another_kind_cost_one_part_at_most(task, change):
    answer = judges.task(task).answer
    verdict = check(task, lambda *given, **named: each(change, answer(*given, **named)), seed=0)
    lost = [part for part in verdict.parts if not part.earned]
    assert len(lost) <= 1, str(verdict)
