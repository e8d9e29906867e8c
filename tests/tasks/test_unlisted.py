"""Wrong answers that no list names are rejected in every draw, and nearly all are told something
specific.
"""

import pytest
from unlisted import SETS, chapters, still_accepted, written

from course_tasks import Tells, check

SEEDS = range(1)  # each check has two draws
LEAST_SHARE_WITH_WORDS = 0.9


def asked(name):
    """Of a set all, if the judges were tuned on all of it; otherwise what was put aside, and a
    third of that where all was. What takes seconds to compile is asked of the first three sets.
    """
    every = [
        (task, answer, aside)
        for chapter in chapters(name)
        if chapter != "10" or name in SETS[:3]
        for task, answers in written(chapter, name).items()
        for answer, aside in answers
        if answer.__name__ not in still_accepted(name)
    ]
    put_aside = [one for one in every if one[2]]
    chosen = every[::3] if len(put_aside) == len(every) else put_aside or every
    return [(task, answer) for task, answer, _ in chosen]


ANSWERS = [one for name in SETS for one in asked(name)]
PARTS = 24  # of which `make test` judges one

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning"),
]


@pytest.fixture(scope="module", params=range(PARTS))
def verdicts(request, kept_runs):
    return {
        (task, answer): [check(task, answer, seed=seed) for seed in SEEDS]
        for task, answer in ANSWERS[request.param :: PARTS]
    }


def test_unlisted_wrong_answer_is_rejected_in_every_draw(verdicts):
    accepted = [
        f"{task}: {answer.__name__}"
        for (task, answer), given in verdicts.items()
        if any(verdict.points == verdict.out_of for verdict in given)
    ]
    assert not accepted


def test_nearly_all_unlisted_answers_are_told_more_than_that_they_differ(verdicts):
    first = [given[0].findings[0].tells for given in verdicts.values()]
    told = sum(tells is not Tells.NOTHING for tells in first)
    assert told >= LEAST_SHARE_WITH_WORDS * len(first)
