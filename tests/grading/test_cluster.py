"""Submissions run on the workers of a cluster, and on others when one dies."""

import os
import signal

import pytest

from course_lib.grading.batch import grade
from course_lib.grading.release import release
from course_lib.grading.sandbox import cluster

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
    from course_lib.grading.sandbox.inside.limits import Limits
    from course_lib.grading.sandbox.sanitise import Step, Work

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
        ran = many.run(Work((Step("code", source),)), {}, Limits(cell_seconds=10))
    assert ran.steps[0].outputs[0]["text"] == "[]\n"
