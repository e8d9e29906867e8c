"""What a judge of whole programs rests on: chance, time, and sentences that belong together."""

import numpy as np
import pytest
from students.project_my_gpt import model, train, write

from course_judges import catalogue as judges
from course_judges.judging import judge
from course_judges.project_my_gpt import write as writing
from course_tasks import catalogue
from course_tasks.answers import Answers
from course_tasks.project_my_gpt.write import LENGTH

RIGHT_PROGRAMS = 4000


def test_places_of_what_is_drawn_from_a_distribution_pass_in_a_class_of_any_size():
    """Chance alone exceeds the limit once in ten million checks: of some thousand, none."""
    rng = np.random.default_rng(3)
    largest = max(writing._chi_square(rng.random(LENGTH)) for _ in range(RIGHT_PROGRAMS))
    assert 40 < largest < writing._MOST


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_another_temperature_is_seen(temperature):
    rng = np.random.default_rng(4)
    logits = rng.normal(size=(LENGTH, 13)) * 2
    shares, others = (np.exp(one) for one in (logits, logits / temperature))
    shares /= shares.sum(-1, keepdims=True)
    others /= others.sum(-1, keepdims=True)
    places = []
    for own, taken in zip(shares, others, strict=True):
        one = rng.choice(13, p=taken)
        places.append(own[own > own[one]].sum() + rng.random() * own[one])
    assert writing._chi_square(np.array(places)) > writing._MOST


def judged(**changed):
    """The verdict on a model of counted words, as if a training had returned it."""
    known, probe = judges.task("my-gpt/train"), catalogue.probe("my-gpt/train")
    inputs = judges.inputs("my-gpt/train", np.random.default_rng(0))
    V, targets = int(inputs["V"]), inputs["targets"]
    shares = np.full((len(targets), V), 0.1 / (V - 1))
    shares[np.arange(len(targets)), targets] = 0.9
    values = {
        "model.probabilities": shares,
        "model.again": shares[:200],
        "model.other_last": shares[200:400],
        "model.other_past": shares[400:600],
        "model.late": np.array(0.1),
        "model.allowed": np.array(6.0),
        "both.before": np.arange(20 * 12 * V, dtype=float).reshape(20, 12, V),
        "both.after": np.arange(20 * 12 * V, dtype=float).reshape(20, 12, V),
    }
    return judge("my-gpt/train", known, probe, inputs, Answers(values | changed))


def test_a_training_that_comes_back_late_is_told_how_late():
    assert judged().points == 8
    verdict = judged(**{"model.late": np.array(40.0)})
    assert (verdict.points, verdict.findings[0].name) == (7, "too-late")
    assert "40 seconds later" in verdict.findings[0].effect


@pytest.mark.parametrize("answers", [model, train, write], ids=["model", "train", "write"])
def test_rows_of_slips_have_names_of_their_own(answers):
    names = [name for name, *_ in answers.SLIPS]
    assert len(set(names)) == len(names)


def test_there_are_as_many_styles_and_slips_as_the_guide_says():
    assert len(model.RIGHT) >= 24
    assert sum(len(one.SLIPS) for one in (model, train, write)) >= 115
