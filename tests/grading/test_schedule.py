"""Slow submissions give way to those that wait, and doubtful ones are run again with nothing
beside them.
"""

import threading
from pathlib import Path

import pytest

from course_grader.outcome import Outcome, Status
from course_grader.schedule import SECONDS_OF_A_QUICK_RUN, TIMES_THE_LONGEST, Schedule
from course_grader.submissions import Submission


def submission(name):
    return Submission(name, "01-averages", Path(name))


def graded(one, seconds=1.0, reason=""):
    return Outcome(
        one.student, one.assignment, Status.GRADED, reason=reason, seconds={"run": seconds}
    )


def postponed(one, *, alone=False):
    return Outcome(one.student, one.assignment, Status.POSTPONED, alone=alone)


class Runner:
    """Runs nothing, and remembers with how many seconds and beside whom each was started."""

    def __init__(self, **takes):
        self.takes = takes
        self.started = []
        self.beside = set()
        self.under_way = 0
        self.lock = threading.Lock()

    def __call__(self, one, hurry, alone):
        with self.lock:
            self.started.append((one.student, hurry, alone))
            self.under_way += 1
            if alone and self.under_way > 1:
                self.beside.add(one.student)
        seconds = self.takes.get(one.student, 1.0)
        with self.lock:
            self.under_way -= 1
        if seconds == "doubtful" and not alone:
            return postponed(one, alone=True)
        if seconds == "doubtful":
            return graded(one)
        if hurry is not None and seconds > hurry:
            return postponed(one)
        return graded(one, seconds)


def outcomes(names, count, run):
    return list(Schedule([submission(name) for name in names], count, run).outcomes())


def test_slow_one_is_run_again_with_all_its_time_after_all_others():
    runner = Runner(ada=1000.0)
    came = outcomes(["ada", "ben", "cem"], 1, runner)
    assert [(one.student, outcome.status) for one, outcome in came] == [
        ("ada", Status.POSTPONED),
        ("ben", Status.GRADED),
        ("cem", Status.GRADED),
        ("ada", Status.GRADED),
    ]
    assert runner.started[0] == ("ada", SECONDS_OF_A_QUICK_RUN, False)
    assert runner.started[-1] == ("ada", None, False)


def test_while_others_wait_half_of_the_lanes_take_nobody_slow():
    """Two endless ones hold no more than one of two lanes; the rest goes through the other."""
    held, both = threading.Event(), threading.Barrier(2, timeout=60)
    order = []

    def run(one, hurry, alone):
        if one.student.startswith("endless"):
            if not order:
                both.wait()
            if hurry is not None:
                return postponed(one)
            assert held.wait(60)
        order.append(one.student)
        if one.student == "last":
            held.set()
        return graded(one)

    names = ["endless1", "endless2", "ada", "ben", "cem", "last"]
    came = outcomes(names, 2, run)
    assert [o.status for _, o in came].count(Status.POSTPONED) == 1
    assert set(order[:4]) == {"ada", "ben", "cem", "last"}
    assert set(order[4:]) == {"endless1", "endless2"}


def test_nobody_is_hurried_where_nobody_waits():
    runner = Runner(ada=1000.0)
    outcomes(["ada"], 1, runner)
    assert runner.started == [("ada", None, False)]


def test_class_that_takes_long_teaches_what_is_quick():
    runner = Runner(ada=SECONDS_OF_A_QUICK_RUN, ben=1.5 * SECONDS_OF_A_QUICK_RUN)
    came = outcomes(["ada", "ben", "cem"], 1, runner)
    assert {outcome.status for _, outcome in came} == {Status.GRADED}
    assert runner.started[1] == ("ben", TIMES_THE_LONGEST * SECONDS_OF_A_QUICK_RUN, False)


def test_run_that_was_ended_teaches_nothing():
    run = Runner()
    hurried = []

    def ended(one, hurry, alone):
        hurried.append(hurry)
        return graded(one, 1000.0, reason="the notebook took more than 300 s")

    outcomes(["ada", "ben", "cem"], 1, ended)
    assert hurried == [SECONDS_OF_A_QUICK_RUN, SECONDS_OF_A_QUICK_RUN, None]
    assert run.started == []


def test_doubtful_ones_are_run_again_last_and_with_nothing_beside_them():
    names = [f"s{number}" for number in range(20)]
    runner = Runner(s0="doubtful", s1=1000.0, s7="doubtful")
    came = outcomes(names, 4, runner)
    assert [one for one, *_ in runner.started[-2:]] == ["s0", "s7"] or [
        one for one, *_ in runner.started[-2:]
    ] == ["s7", "s0"]
    assert all(alone for *_, alone in runner.started[-2:])
    assert runner.beside == set()
    final = [one.student for one, outcome in came if outcome.status is not Status.POSTPONED]
    assert sorted(final) == sorted(names)


def test_machine_that_fails_an_honest_run_is_not_asked_again_and_again():
    tried = []

    def run(one, hurry, alone):
        if not alone:
            return postponed(one, alone=True)
        tried.append(one.student)
        return Outcome(one.student, one.assignment, Status.FAILED, reason="no worker")

    came = outcomes(["ada", "ben", "cem"], 2, run)
    failed = [(o.student, o.reason) for _, o in came if o.status is Status.FAILED]
    assert sorted(failed) == [(name, "no worker") for name in ("ada", "ben", "cem")]
    assert len(tried) == 1


def test_error_of_a_lane_is_raised_where_outcomes_are_taken():
    def run(one, hurry, alone):
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        outcomes(["ada", "ben", "cem"], 2, run)
