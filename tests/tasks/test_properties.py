"""What is said of weights is true if their rows are no averages, or if they have other scores."""

import numpy as np
import pytest

from course_judges.evidence import Evidence
from course_judges.properties import rows_sum_to_one, scores_times_a_factor
from course_tasks.answers import Answers
from course_tasks.probing import Run
from course_tasks.verdict import Section

SECTION = Section("01-averages", "where")
SCORES = np.random.default_rng(0).normal(size=(2, 4, 5))


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def asked(ask, mine):
    right = Run(Answers({"weights": softmax(SCORES)}, {}, {}))
    return ask(Evidence({}, lambda **_: right, Answers({"weights": mine}, {}, {})))


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (-1.0, "The factor is −1, so the largest score gets the smallest weight."),
        (2.0, "The factor is 2, so your rows are sharper than they should be."),
        (0.5, "The factor is 0.5, so your rows are flatter than they should be."),
        (np.log(2), "should be. That is log 2, so you have powers of 2 instead of e."),
    ],
)
def test_factor_of_scores_is_said_with_what_it_does(factor, words):
    ask = scores_times_a_factor("weights", lambda _: SCORES, SECTION)
    found = asked(ask, softmax(factor * SCORES))
    assert found is not None
    assert words in found.effect
    assert asked(ask, softmax(SCORES)) is None


def test_sum_of_a_row_is_that_of_the_row_that_is_off_most_and_differs_as_shown():
    mine = softmax(SCORES)
    mine[0, 1] *= 1.0002
    mine[1, 3] *= 1.0004
    found = asked(rows_sum_to_one("weights", SECTION), mine)
    assert found is not None
    assert found.effect.startswith("Row 3 sums to 1.0004, but")
