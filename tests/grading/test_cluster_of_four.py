"""Four workers: one has another version, one dies, one is slow, and nobody loses anything."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from course_grader.sandbox import cluster, cluster_worker
from course_grader.sandbox.protocol import RawStep, RunResult
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_tasks.runner.limits import Limits

distributed = pytest.importorskip("distributed")

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

WORK = SanitizedSubmission((Step("code", "1"),))
RAN = RunResult((RawStep(b"{}", b"", 0.1),), "", 0.1, "")


class Walls:
    """A sandbox whose runs wait while its worker is held up."""

    form = "warm"

    def __init__(self):
        self.held, self.begun, self.runs = threading.Event(), threading.Event(), 0
        self.held.set()

    def run(self, work, inputs, limits, *, alone=False):
        self.begun.set()
        assert self.held.wait(60)
        self.runs += 1
        return RAN


def test_one_of_another_version_one_dead_and_one_slow_cost_nobody_a_submission(monkeypatch):
    walls, keys = [], []

    @contextlib.contextmanager
    def proven(form, root):
        walls.append(Walls())
        yield walls[-1]

    def key():
        """Each of the four workers asks, and the last one is not like the grader."""
        keys.append(len(keys))
        return "another" if keys[-1] == 3 else "the same"

    monkeypatch.setattr(cluster_worker, "proven", proven)
    monkeypatch.setattr(cluster, "sandbox_key", lambda: "the same")
    monkeypatch.setattr(cluster_worker, "sandbox_key", key)
    monkeypatch.setattr(cluster, "versions", lambda: {"release": "1.0.0"})
    monkeypatch.setattr(cluster_worker, "versions", lambda: {"release": "0.9.0"})
    with (
        distributed.LocalCluster(
            n_workers=4, threads_per_worker=1, processes=False, dashboard_address=None
        ) as made,
        cluster.Cluster(made.scheduler_address) as many,
    ):
        assert many.slots == len(walls) == 3
        (left,) = many.left_out
        assert "it has release 0.9.0 (the grader: 1.0.0): install what the grader has" in left
        assert left.split()[1] in map(str, made.workers)  # the worker's name
        slow, dying, _ = walls
        slow.held.clear()
        dying.held.clear()
        with ThreadPoolExecutor(9) as threads:
            waiting = [threads.submit(many.run, WORK, {}, Limits()) for _ in range(9)]
            assert dying.begun.wait(60)
            plugins = {
                number: worker
                for number, worker in made.workers.items()
                for plugin in worker.plugins.values()
                if getattr(plugin, "sandbox", None) is dying
            }
            (victim,) = plugins.values()
            made.sync(victim.close, executor_wait=False)
            dying.held.set()
            slow.held.set()
            done = [each.result(timeout=120) for each in waiting]
    assert done == [RAN] * 9
    assert slow.runs >= 1
