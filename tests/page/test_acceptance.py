"""In a page, every answer of the collections gets the verdict that it gets with PyTorch.

What PyTorch gives is known from `tests/tasks/test_judgement.py`: all points to a right answer in
every style, and to a wrong one its own mistake. Here the same answers are judged by what a page
unpacks, in processes in which `torch` is the twin.
"""

import json
from pathlib import Path

import pytest
from students import students_of

from course_page.left_out import LEFT_OUT, SLOW
from course_tasks import catalogue

ROOT = Path(__file__).parents[2]

CHAPTERS = sorted({task.partition("/")[0] for task in catalogue.names() if task not in LEFT_OUT})
DRAWS = (0, 1, 2)

# Of the mistakes, so many are called by the name that they have with PyTorch. The others lie where
# two computations differ in their last digits, such as the arc cosine of nearly 1.
SAME_NAMES = 0.99
# Tasks whose right answers get all points in every style.
LEAST_TASKS = 88


def judged(in_page, *arguments):
    """The verdicts on a chapter's answers."""
    script = Path(__file__).with_name("verdicts.py")
    done = in_page(script, *arguments, paths=[ROOT / "tests" / "tasks"], timeout=580)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def draws_of(task):
    """In which draws answers to a task are judged, where it is not in all."""
    return getattr(students_of(task), "SEEDS", DRAWS)


def is_full(row):
    return "failed" not in row and row["points"] == row["out_of"]


def is_named(row):
    return "failed" not in row and row["finding"] == row["name"] and row["points"] < row["out_of"]


def complaints(rows):
    return "\n".join(
        f"{row['task']} {row['name']} in draw {row['seed']}: "
        + row.get("failed", row.get("text", ""))[:300]
        for row in rows
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", DRAWS)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_answer_gets_the_verdict_that_pytorch_gives(in_page, chapter, seed):
    if not any(
        seed in draws_of(task) for task in catalogue.names() if task.startswith(f"{chapter}/")
    ):
        pytest.skip("answers to these tasks are judged in fewer draws")
    rows = judged(in_page, chapter, seed)
    right = [row for row in rows if row["kind"] == "right"]
    wrong = [row for row in rows if row["kind"] == "wrong"]
    assert right
    refused = [row for row in right if not is_full(row)]
    assert not refused, complaints(refused)
    other = [row for row in wrong if not is_named(row)]
    assert len(other) <= max(1, (1 - SAME_NAMES) * len(wrong)), complaints(other)


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_one_right_answer_and_one_mistake_of_each_task(in_page, chapter):
    """The part of the above that runs every time."""
    names = [
        t.partition("/")[2]
        for t in catalogue.names()
        if t.partition("/")[0] == chapter and t not in SLOW
    ]
    rows = judged(in_page, chapter, 0, ",".join(names), 1)
    assert {row["task"] for row in rows} == {f"{chapter}/{name}" for name in names}
    wrong = [row for row in rows if not (is_full(row) if row["kind"] == "right" else is_named(row))]
    assert not wrong, complaints(wrong)


def test_most_tasks_are_checked_in_a_page():
    assert len(catalogue.names()) - len(LEFT_OUT) >= LEAST_TASKS
