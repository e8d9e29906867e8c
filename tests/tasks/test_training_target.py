"""How far above its target 08/train still gives the points: as far as the mean over its contexts
may be from the model's true loss.
"""

import numpy as np
import pytest

from course_judges import catalogue as judges
from course_judges.ch08_gpt.train import DOUBT, TARGET
from course_judges.judging import judge
from course_tasks import catalogue
from course_tasks.answers import Answers
from course_tasks.ch08_gpt.train import ASKED_AGAIN

TASK = "08/train"
A_LITTLE = 0.002


@pytest.fixture(scope="module")
def drawn():
    return judges.inputs(TASK, np.random.default_rng(2))


def points(drawn, loss):
    """Of a model that gives each true symbol the same chance, and the others the rest."""
    targets, V = drawn["targets"], int(drawn["V"])
    chance = np.exp(-loss)
    predicted = np.full((len(targets), V), (1 - chance) / (V - 1))
    predicted[np.arange(len(targets)), targets] = chance
    few = predicted[:ASKED_AGAIN]
    answers = Answers(
        {
            "model.probabilities": predicted,
            **{f"model.{name}": few for name in ("again", "other_last", "other_past")},
            "model.batches_taken": drawn["steps"],
        }
    )
    return judge(TASK, judges.task(TASK), catalogue.probe(TASK), drawn, answers).points


def test_loss_little_above_the_target_gets_every_point(drawn):
    assert points(drawn, TARGET + DOUBT - A_LITTLE) == judges.task(TASK).points


@pytest.mark.slow
def test_loss_farther_above_the_target_gets_no_points_for_it(drawn):
    assert points(drawn, TARGET + DOUBT + A_LITTLE) == judges.task(TASK).points - 4
