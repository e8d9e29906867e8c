"""A run that proves nothing is repeated alone, and is a person's or the machine's then."""

import contextlib
import threading
from dataclasses import replace

import nbformat
import pytest
from graded_class import NAME, full, points
from nbformat.v4 import new_code_cell

from course_grader import batch
from course_grader.assignment import read
from course_grader.batch import grade
from course_grader.errors import MachineError
from course_grader.outcome import Status

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


class Doubtful:
    """A sandbox whose first runs prove nothing, or fail; what it runs at once is counted."""

    def __init__(self, sandbox, student, *ways):
        self.sandbox, self.ways, self.student = sandbox, list(ways), student
        self.form, self.slots = sandbox.form, 2
        self.at_once, self.most_beside, self.lock = 0, [], threading.Lock()

    def run(self, work, inputs, limits, *, alone=False):
        mine = any(self.student in step.source for step in work.steps)
        with self.lock:
            self.at_once += 1
            beside = self.at_once - 1
        try:
            ran = self.sandbox.run(work, inputs, limits, alone=alone)
        finally:
            with self.lock:
                self.at_once -= 1
        if not mine and (inputs or "canary" not in self.ways):
            return ran
        if mine:
            self.most_beside.append(beside)
        way = self.ways.pop(0) if mine and self.ways else ""
        if way == "repeat":
            return replace(ran, repeat="SIGKILL ended it, which the sandbox did not send")
        if way == "fails" or not mine:
            raise MachineError("its supervisor is gone")
        return ran


class TestRunsThatProveNothing:
    def hand_in(self, class_of, running, monkeypatch, *ways):
        course = class_of("ada", "ben", "cem")
        path = course.submitted / "ada" / NAME / f"{NAME}.ipynb"
        notebook = read(path)
        notebook.cells.insert(0, new_code_cell("'this is ada'"))
        nbformat.write(notebook, path)
        judges, sandbox = running
        runner = Doubtful(sandbox, "this is ada", *ways)
        start = batch.Start(lambda: judges, lambda: runner)
        monkeypatch.setattr(batch, "starting", lambda *_: contextlib.nullcontext(start))
        told = []
        summary = grade(
            course, NAME, jobs=2, progress=lambda one, *_: told.append((one.student, one.reason))
        )
        return course, {one.student: one for one in summary.outcomes}, told, runner

    @pytest.mark.parametrize("way", ["repeat", "fails"])
    def test_are_repeated_alone_and_count_then(self, class_of, running, monkeypatch, way):
        course, found, told, runner = self.hand_in(class_of, running, monkeypatch, way)
        assert {one.status for one in found.values()} == {Status.GRADED}
        assert found["ada"].points == full(course)
        assert [words for name, words in told if "will be run again, alone" in words]
        assert told[-1] == ("ada", "")
        assert (len(runner.most_beside), runner.most_beside[-1]) == (2, 0)

    @pytest.mark.parametrize("way", ["repeat", "fails"])
    def test_twice_are_a_persons_and_cost_no_later_command_its_time(
        self, class_of, running, monkeypatch, way
    ):
        course, found, *_ = self.hand_in(class_of, running, monkeypatch, way, way)
        assert found["ada"].status is Status.SET_ASIDE
        assert "twice, the second time with nothing beside it" in found["ada"].reason
        assert {found[name].status for name in ("ben", "cem")} == {Status.GRADED}
        again = grade(course, NAME)
        assert (again.outcomes, again.unchanged) == ([], ["ada", "ben", "cem"])

    def test_where_honest_runs_fail_too_are_the_machines_failure(
        self, class_of, running, monkeypatch
    ):
        ways = ("fails", "fails", "canary")
        course, found, *_ = self.hand_in(class_of, running, monkeypatch, *ways)
        assert found["ada"].status is Status.FAILED
        assert "ada" not in points(course)
