"""A copy of a gradebook says what the gradebook says, whatever database that is in."""

from datetime import datetime, timedelta

import pytest
from classes import NAME, outcome

from course_grader.errors import GradebookError
from course_grader.gradebook.copies import copy
from course_grader.gradebook.record import Recorder
from course_grader.gradebook.standing import standing
from course_grader.release import release


@pytest.mark.slow
def test_copy_of_a_postgresql_gradebook_says_the_same(entered, postgres, tmp_path):
    release(entered, NAME, gradebook=True, url=postgres)
    due = datetime(2026, 3, 1, 9)
    with Recorder(entered, postgres) as recorder:
        for student in ("ada", "ben"):
            recorder.record(outcome(entered, student, 0.5, mistake="bias"), "key")
        times = dict.fromkeys(("ada", "ben"), due + timedelta(hours=30))
        until = {"ben": due + timedelta(days=3)}
        recorder.settle_lateness(NAME, times, due, until)
    url = copy(entered, tmp_path / "copy.db", postgres)
    assert standing(entered, NAME, url) == standing(entered, NAME, postgres)
    with Recorder(entered, url) as recorder:
        recorder.record(outcome(entered, "ada"), "new key")
    assert standing(entered, NAME, url) != standing(entered, NAME, postgres)


@pytest.mark.slow
def test_gradebook_that_is_not_there_is_not_copied(entered, tmp_path):
    (entered.root / "gradebook.db").unlink()
    with pytest.raises(GradebookError, match="there is no gradebook"):
        copy(entered, tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
