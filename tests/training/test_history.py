"""A history shows what a training did: as a drawing, a line and a bar."""

import functools
import math

import pytest
from small_trainings import QUIET

from course_lib import training
from course_lib.errors import ConfigError
from course_lib.history import Evaluation, History
from course_lib.mime import PAGE_HTML
from course_lib.training import fit


@pytest.mark.slow
def test_history_draws_itself_and_reads_as_a_line(corpus, build):
    history = fit(build(), corpus, steps=10, **QUIET)
    bundle, _ = history._repr_mimebundle_()
    assert "<svg" in bundle[PAGE_HTML]
    assert f"{history.validation:.3f}" in bundle[PAGE_HTML]
    assert bundle["text/plain"].startswith("History: 10 steps")
    assert "ended by steps" in str(history)
    assert "seconds" in history.plot(against="seconds").markup
    with pytest.raises(ConfigError, match="against = 'minutes'"):
        history.plot(against="minutes")


def test_an_empty_history_can_be_shown():
    history = History()
    assert math.isnan(history.validation)
    assert "0 steps" in str(history)
    assert "<svg" in history._repr_mimebundle_()[0][PAGE_HTML]


def test_seconds_to_a_loss_is_when_it_was_first_reached():
    evaluations = [Evaluation(1, 1.0, 3.0), Evaluation(2, 2.0, 2.0), Evaluation(3, 3.0, 1.0)]
    assert History(evaluations=evaluations).seconds_to(2.5) == 2.0


def test_a_progress_bar_shows_loss_and_tokens_per_second(corpus, build, capsys, monkeypatch):
    # a bar redraws itself every tenth of a second: these steps may take less
    monkeypatch.setattr(training, "tqdm", functools.partial(training.tqdm, mininterval=0))
    fit(build(), corpus, steps=20, batch_size=8)
    shown = capsys.readouterr().err
    assert "loss=" in shown
    assert "tokens/s=" in shown
    fit(build(), corpus, steps=20, **QUIET)
    assert capsys.readouterr().err == ""
