"""Submissions run on the workers of a cluster, and on others when one dies."""

import contextlib
import json
import os
import signal
import time
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from course_grader import grade_command
from course_grader.batch import Summary, grade
from course_grader.cli import app
from course_grader.errors import MachineError, NoVerdictError, SandboxUnavailableError
from course_grader.gradebook.standing import Waiting
from course_grader.release import release
from course_grader.sandbox import cluster, cluster_worker
from course_grader.sandbox.protocol import RawStep, RunResult, read_steps
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_tasks.errors import FrameError
from course_tasks.runner.limits import Limits

distributed = pytest.importorskip("distributed")

NAME = "01-averages"
pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


@pytest.fixture
def workers(tmp_path):
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=tmp_path,
        ) as made,
        distributed.Client(made) as client,
    ):
        yield made.scheduler_address, client


def test_worker_killed_in_the_middle_costs_nobody_anything(course, editable, workers):
    address, client = workers
    release(course, NAME, gradebook=True)
    students = [f"s{number}" for number in range(8)]
    for student in students:
        book = editable(course.solutions / NAME / f"{NAME}.ipynb")
        book.cells[-1].source += "\n"
        book.cells.append(slow())
        book.save(course.submitted / student / NAME / f"{NAME}.ipynb")
    numbers = list(client.run(os.getpid).values())
    killed = []

    def kill_one(outcome, done, count):
        if not killed:
            killed.append(numbers[0])
            os.kill(numbers[0], signal.SIGKILL)

    summary = grade(course, NAME, scheduler=address, progress=kill_one)
    assert killed
    assert summary.complete, [one.reason for one in summary.outcomes]
    assert sorted(one.student for one in summary.outcomes) == students
    assert {one.points for one in summary.outcomes} == {summary.outcomes[0].out_of}
    assert grade(course, NAME, scheduler=address).unchanged == students


def slow():
    from nbformat.v4 import new_code_cell

    return new_code_cell("import time\ntime.sleep(1)\nimport os; print(dict(os.environ))")


def test_worker_has_nothing_of_the_cluster_within_reach_of_a_submission(workers):
    address, _ = workers
    port = address.rpartition(":")[2]
    source = (
        "import glob, os, socket\nfound = [v for v in os.environ if 'DASK' in v]\n"
        "for path in glob.glob('/proc/[0-9]*/cmdline'):\n"
        "  try: found += ['process'] * ('distributed' in open(path).read())\n"
        "  except OSError: pass\n"
        f"try: socket.create_connection(('127.0.0.1', {port}), 1); found.append('scheduler')\n"
        "except OSError: pass\nprint(found)"
    )
    with cluster.Cluster(address) as many:
        assert many.slots == 2
        work, limits = SanitizedSubmission((Step("code", source),)), Limits(cell_seconds=10)
        (step,), odd = read_steps(many.run(work, {}, limits), work, limits)
    assert (odd, step.outputs[0]["text"]) == ("", "[]\n")


RAN = RunResult(
    (
        RawStep(b"no JSON \xff {{{", b"", 0.5),
        RawStep(b"", b"\0bytes", 0.25),
    ),
    "ended early",
    1.5,
    "killed",
)
WORK = SanitizedSubmission((Step("code", "1"),))


def test_run_comes_back_from_its_bytes_as_it_was():
    data = cluster_worker.to_bytes(RAN, "cold")
    assert isinstance(data, bytes)
    assert cluster_worker.from_bytes(data) == (RAN, "cold")


@pytest.mark.parametrize("cut", [0, 5, 40, -1])
def test_bytes_that_are_no_run_are_refused(cut):
    whole = cluster_worker.to_bytes(RAN, "warm")
    with pytest.raises(FrameError):
        cluster_worker.from_bytes(whole[:cut])


class Walls:
    """A sandbox that others prove: it says what it ran in, and whether it has ended."""

    def __init__(self, form="warm"):
        self.form, self.ended = form, False

    def run(self, work, inputs, limits, *, alone=False):
        if self.ended:
            raise MachineError("ended")
        if work.notes:
            raise NoVerdictError("its sandbox ended twice")
        return RAN


@pytest.fixture
def workers_here(monkeypatch):
    """A cluster in this process, whose workers start the sandboxes that a test wants."""
    wanted = []

    @contextlib.contextmanager
    def proven(form, root):
        walls = Walls(*wanted)
        yield walls
        walls.ended = True

    monkeypatch.setattr(cluster_worker, "proven", proven)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as made:
        yield made, wanted


def test_two_graders_on_one_cluster_do_not_end_each_others_sandboxes(workers_here):
    made, _ = workers_here
    with cluster.Cluster(made.scheduler_address) as first:
        with cluster.Cluster(made.scheduler_address) as second:
            assert second.run(WORK, {}, Limits()) == RAN
        assert first.run(WORK, {}, Limits()) == RAN
        with pytest.raises(NoVerdictError, match="ended twice"):
            first.run(SanitizedSubmission(WORK.steps, notes=("odd",)), {}, Limits())
    (worker,) = made.workers.values()
    assert not [name for name in worker.plugins if name.startswith("course-sandbox")]


def test_cold_start_on_a_worker_is_said(workers_here):
    made, wanted = workers_here
    wanted.append("cold")
    with cluster.Cluster(made.scheduler_address) as many:
        many.run(WORK, {}, Limits())
        assert many.form == "cold"


def test_no_worker_that_could_grade_is_refused_with_what_each_has(workers_here, monkeypatch):
    made, _ = workers_here
    for where, torch in ((cluster, "2.13.0"), (cluster_worker, "2.9.1")):
        known = {"torch": torch, "jax": "0.10.2"}
        monkeypatch.setattr(where, "sandbox_key", lambda key=torch: key)
        monkeypatch.setattr(where, "versions", lambda known=known: known)
    said = r"can grade:\n  - worker .*: it has torch 2\.9\.1 \(the grader: 2\.13\.0\): install what"
    with (
        pytest.raises(SandboxUnavailableError, match=said),
        cluster.Cluster(made.scheduler_address),
    ):
        pass
    (worker,) = made.workers.values()
    assert not [name for name in worker.plugins if name.startswith("course-sandbox")]


def test_worker_of_another_version_that_comes_later_runs_nothing(workers_here, monkeypatch):
    made, _ = workers_here
    with cluster.Cluster(made.scheduler_address) as many:
        monkeypatch.setattr(cluster_worker, "sandbox_key", lambda: "another")
        made.scale(2)
        made.wait_for_workers(2, timeout=20)
        assert [many.run(WORK, {}, Limits()) for _ in range(4)] == [RAN] * 4
        assert many.slots == 2  # of the first worker
        (left,) = many.left_out
        assert "other files of course_lib" in left


def test_command_names_who_was_left_out(course, monkeypatch):
    left = "worker tcp://10.0.0.7:4321: it has torch 2.9.1 (the grader: 2.13.0)"
    monkeypatch.setattr(grade_command, "grade", lambda *_, **__: Summary(left_out=[left]))
    nobody = SimpleNamespace(waiting=Waiting(0, 0))
    monkeypatch.setattr(grade_command, "standing", lambda *_: nobody)
    command = ["grade", "01", "--course", str(course.root)]
    assert f"Left out: {left}" in CliRunner().invoke(app, command).stdout
    assert json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)["left_out"] == [left]


def test_without_workers_each_submission_fails_after_a_time_and_then_at_once(
    workers_here, monkeypatch
):
    made, _ = workers_here
    monkeypatch.setattr(cluster, "SECONDS_WITHOUT_WORKERS", 0.5)
    monkeypatch.setattr(cluster, "SECONDS_BETWEEN_LOOKS", 0.1)
    with cluster.Cluster(made.scheduler_address) as many:
        made.scale(0)
        while made.scheduler.workers:
            time.sleep(0.05)
        with pytest.raises(MachineError, match=r"no worker that can grade for 0\.5 s: start some"):
            many.run(WORK, {}, Limits())
        with monkeypatch.context() as patched:
            patched.setattr(distributed.Client, "submit", None)
            with pytest.raises(MachineError, match="start some"):
                many.run(WORK, {}, Limits())
        made.scale(1)
        made.wait_for_workers(1, timeout=20)
        assert many.run(WORK, {}, Limits()) == RAN
