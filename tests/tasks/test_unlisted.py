"""Wrong answers that no list names are rejected in every draw, and told what is true of them."""

import pytest
from unlisted import rejected

from course_tasks import Tells, catalogue, check

SEEDS = range(1)  # each check has two draws

ANSWERS = {task: list(rejected(task)) for task in catalogue.names()}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning"),
]


@pytest.fixture(scope="module", params=[task for task, answers in ANSWERS.items() if answers])
def task(request):
    return request.param


@pytest.fixture(scope="module")
def verdicts(task):
    """Of each answer, its own name, that of what it is to be told, and a verdict of each draw."""
    return [
        (answer.__name__, expected, [check(task, answer, seed=seed) for seed in SEEDS])
        for answer, expected in ANSWERS[task]
    ]


def test_wrong_answer_is_rejected_in_every_draw(verdicts):
    accepted = [
        name
        for name, _, given in verdicts
        if any(verdict.points == verdict.out_of for verdict in given)
    ]
    assert not accepted


def test_wrong_answer_is_told_what_is_true_of_it(verdicts):
    """By the name that stands beside it; of one that has none there, more than that it differs."""
    first = [
        (name, expected, finding)
        for name, expected, given in verdicts
        for verdict in given
        for finding in verdict.findings[:1]
    ]
    otherwise = [
        (name, finding.name)
        for name, expected, finding in first
        if (finding.name != expected if expected else finding.tells is Tells.NOTHING)
    ]
    assert not otherwise
