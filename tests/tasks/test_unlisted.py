"""Wrong answers that no list names are rejected in every draw, and told something specific."""

import pytest
from students import students_of
from unlisted import SETS, is_accepted, written

from course_tasks import Tells, catalogue, check

SEEDS = range(1)  # each check has two draws

ANSWERS = {
    task: [
        answer
        for number in SETS
        for answer in written(task, number)
        if not is_accepted(task, answer)
    ]
    for task in catalogue.names()
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning"),
]


@pytest.fixture(scope="module", params=[task for task, answers in ANSWERS.items() if answers])
def task(request):
    return request.param


@pytest.fixture(scope="module")
def verdicts(task, kept_runs):
    """Of each answer its name and what it is told in each draw."""
    return [
        (answer.__name__, [check(task, answer, seed=seed) for seed in SEEDS])
        for answer in ANSWERS[task]
    ]


def test_wrong_answer_is_rejected_in_every_draw(verdicts):
    accepted = [
        name
        for name, given in verdicts
        if any(verdict.points == verdict.out_of for verdict in given)
    ]
    assert not accepted


def test_wrong_answer_is_told_more_than_that_it_differs(task, verdicts):
    untold = {
        name
        for name, given in verdicts
        if any(finding.tells is Tells.NOTHING for one in given for finding in one.findings[:1])
    }
    assert untold == getattr(students_of(task), "UNTOLD", set())
